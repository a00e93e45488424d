//! A site's usage policy for a page, from robots.txt, response headers and meta tags: reported to the buyer, not enforced.

use crate::domain::robots::{AGENT, Permission};
use crate::domain::signals::{Signal, Signals};

/// Directives reported of one page.
const DIRECTIVES_MAX: usize = 50;
const DIRECTIVE_BYTES_MAX: usize = 200;

/// Everything said about one page outside of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    pub robots: Permission,
    pub signals: Signals,
    /// Of `X-Robots-Tag`, as far as they are for us, lower case.
    pub directives: Vec<String>,
}

impl Usage {
    /// From the values of the response's headers: X-Robots-Tag, and Content-Signal and Content-Usage together.
    pub fn of_headers<'a>(
        robots_tags: impl IntoIterator<Item = &'a str>,
        signals: impl IntoIterator<Item = &'a str>,
    ) -> Usage {
        let mut directives = Vec::new();
        for value in robots_tags {
            take_directives(value, &mut directives);
        }
        let signals = signals.into_iter().map(Signals::parse);
        Usage {
            robots: Permission::Unknown,
            signals: signals.fold(Signals::default(), Signals::or),
            directives,
        }
    }

    /// With what the site's robots.txt says; the response itself is nearer to the page.
    #[must_use]
    pub fn with_robots(self, robots: Permission, signals: Signals) -> Usage {
        Usage {
            robots,
            signals: self.signals.or(signals),
            ..self
        }
    }

    /// All directives, those of the page's own meta tags first, each once.
    pub fn directives_with<'a>(&'a self, meta: &'a [String]) -> Vec<&'a str> {
        let mut all: Vec<&str> = Vec::new();
        for directive in meta.iter().chain(&self.directives) {
            if !all.contains(&directive.as_str()) {
                all.push(directive);
            }
        }
        all
    }

    /// Whether the site asks that AI systems do not use the page.
    pub fn refuses_ai(&self, meta: &[String]) -> bool {
        let refuses = |directive: &&str| matches!(*directive, "noai" | "noimageai");
        self.signals.ai_input == Signal::No || self.directives_with(meta).iter().any(refuses)
    }
}

/// One header's value: a crawler's name and a colon before a list make it that crawler's alone.
fn take_directives(value: &str, directives: &mut Vec<String>) {
    const WITH_VALUE: [&str; 4] = [
        "unavailable_after",
        "max-snippet",
        "max-image-preview",
        "max-video-preview",
    ];
    let mut is_for_us = true;
    for part in value.split(',') {
        let mut directive = part.trim().to_ascii_lowercase();
        if let Some((name, rest)) = directive.split_once(':')
            && !WITH_VALUE.contains(&name.trim())
        {
            is_for_us = name.trim() == AGENT;
            directive = rest.trim().to_owned();
        }
        let is_new = !directive.is_empty() && !directives.contains(&directive);
        if is_for_us
            && is_new
            && directives.len() < DIRECTIVES_MAX
            && directive.len() <= DIRECTIVE_BYTES_MAX
        {
            directives.push(directive);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directives(values: &[&str]) -> Vec<String> {
        Usage::of_headers(values.iter().copied(), []).directives
    }

    #[test]
    fn headers_for_other_crawlers_are_not_ours() {
        assert_eq!(directives(&["NoIndex, noai"]), ["noindex", "noai"]);
        assert_eq!(
            directives(&["googlebot: noindex, nofollow", "noarchive"]),
            ["noarchive"]
        );
        assert_eq!(directives(&["Context402: noai", "noai"]), ["noai"]);
        assert_eq!(
            directives(&["a: noai, context402: nosnippet"]),
            ["nosnippet"]
        );
        assert_eq!(
            directives(&["max-snippet: 20, all"]),
            ["max-snippet: 20", "all"]
        );
        let date = "unavailable_after: 25 Jun 2030 15:00:00 PST";
        assert_eq!(directives(&[date]), [date.to_ascii_lowercase()]);
        assert!(directives(&["", " , "]).is_empty());
    }

    #[test]
    fn the_response_is_nearer_to_the_page_than_the_sites_file() {
        let usage = Usage::of_headers([], ["ai-train=no"]).with_robots(
            Permission::Allowed,
            Signals::parse("ai-train=yes, search=yes"),
        );
        assert_eq!(usage.signals, Signals::parse("ai-train=no, search=yes"));
        assert_eq!(usage.robots, Permission::Allowed);
    }

    #[test]
    fn refusals_of_ai_are_noticed_wherever_they_stand() {
        let meta = |text: &str| vec![text.to_owned()];
        assert!(Usage::default().refuses_ai(&meta("noai")));
        assert!(Usage::of_headers(["noimageai"], []).refuses_ai(&[]));
        assert!(Usage::of_headers([], ["ai-input=no"]).refuses_ai(&[]));
        assert!(!Usage::of_headers(["noindex"], ["ai-train=no"]).refuses_ai(&meta("nofollow")));
    }
}
