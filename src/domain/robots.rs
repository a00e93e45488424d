//! robots.txt by RFC 9309: our group, else the default one, and the longest matching rule, with the group's Content-Signal
//! and Content-Usage lines. The rules are reported, not enforced, because pages are fetched only on request.

use crate::domain::signals::Signals;

/// The product token that a site addresses us by.
pub const AGENT: &str = env!("CARGO_PKG_NAME");

/// Bytes that are read; RFC 9309 section 2.5 asks for as many.
pub const BYTES_MAX: usize = 500 * 1024;
/// Rules kept of a file; more are no policy but a list of pages.
const RULES_MAX: usize = 10_000;
const PATTERN_BYTES_MAX: usize = 2_048;
/// Stars in one pattern: each may be tried at every place of a path.
const STARS_MAX: usize = 8;

/// What a site's robots.txt comes to for one URL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Permission {
    Allowed,
    Disallowed,
    /// It could not be read, or not in time.
    #[default]
    Unknown,
}

impl Permission {
    pub fn name(self) -> &'static str {
        match self {
            Permission::Allowed => "allowed",
            Permission::Disallowed => "disallowed",
            Permission::Unknown => "unknown",
        }
    }

    /// Of two URLs that were both fetched for one page.
    pub fn and(self, other: Permission) -> Permission {
        match (self, other) {
            (Permission::Disallowed, _) | (_, Permission::Disallowed) => Permission::Disallowed,
            (Permission::Allowed, Permission::Allowed) => Permission::Allowed,
            _ => Permission::Unknown,
        }
    }
}

/// The part of a robots.txt that is addressed to us.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Robots {
    rules: Vec<Rule>,
    signals: Vec<(String, Signals)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule {
    pattern: String,
    allows: bool,
}

/// Which crawlers the group being read is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Addressed {
    us: bool,
    everybody: bool,
    /// Rules have come: the next user-agent line begins another group.
    is_closed: bool,
}

impl Robots {
    /// Reads as much as is text. Nothing in a file is a mistake that ends the reading.
    pub fn parse(bytes: &[u8]) -> Robots {
        let text = String::from_utf8_lossy(&bytes[..bytes.len().min(BYTES_MAX)]);
        let text = text.trim_start_matches('\u{feff}');
        let (mut ours, mut general) = (Robots::default(), Robots::default());
        let mut names_us = false;
        let mut addressed = Addressed::default();
        for line in text.split(['\n', '\r']) {
            let line = line.split('#').next().unwrap_or_default();
            let Some((field, value)) = line.split_once(':') else {
                continue;
            };
            let (field, value) = (field.trim().to_ascii_lowercase(), value.trim());
            if field == "user-agent" {
                addressed = addressed.with(value);
                names_us |= addressed.us;
                continue;
            }
            let groups = [
                (addressed.us, &mut ours),
                (addressed.everybody, &mut general),
            ];
            for (is_addressed, group) in groups {
                if is_addressed {
                    group.take(&field, value);
                }
            }
            addressed.is_closed |= is_rule(&field);
        }
        if names_us { ours } else { general }
    }

    /// What it says of a URL's path with its query, as they stand in the canonical URL.
    pub fn permission(&self, path: &str) -> Permission {
        // It may always be read itself.
        if path == "/robots.txt" {
            return Permission::Allowed;
        }
        let path = normalised(path);
        let matching = self
            .rules
            .iter()
            .filter(|rule| matches(&rule.pattern, &path));
        match matching.max_by_key(|rule| (rule.pattern.len(), rule.allows)) {
            Some(rule) if !rule.allows => Permission::Disallowed,
            _ => Permission::Allowed,
        }
    }

    /// The statements about use that hold for a path, the more particular before the general.
    pub fn signals(&self, path: &str) -> Signals {
        let path = normalised(path);
        let mut matching: Vec<_> = self
            .signals
            .iter()
            .filter(|(pattern, _)| matches(pattern, &path))
            .collect();
        matching.sort_by_key(|(pattern, _)| std::cmp::Reverse(pattern.len()));
        matching
            .into_iter()
            .fold(Signals::default(), |signals, (_, more)| signals.or(*more))
    }

    /// Memory that it takes, roughly.
    pub fn bytes(&self) -> usize {
        let rules = self
            .rules
            .iter()
            .map(|rule| rule.pattern.len() + size_of::<Rule>());
        let signals = self.signals.iter().map(|(pattern, _)| pattern.len() + 64);
        rules.sum::<usize>() + signals.sum::<usize>() + size_of::<Robots>()
    }

    fn take(&mut self, field: &str, value: &str) {
        if self.rules.len() + self.signals.len() >= RULES_MAX {
            return;
        }
        match field {
            // An empty rule rules nothing.
            "allow" | "disallow" if is_pattern(value) => {
                let pattern = normalised(value);
                let allows = field == "allow";
                self.rules.push(Rule { pattern, allows });
            }
            "content-signal" | "content-usage" => {
                let (pattern, value) = match value.split_once(char::is_whitespace) {
                    Some((path, rest)) if is_pattern(path) => (normalised(path), rest),
                    _ => ("/".to_owned(), value),
                };
                self.signals.push((pattern, Signals::parse(value)));
            }
            _ => {}
        }
    }
}

impl Addressed {
    /// User-agent lines in a row are for one group.
    fn with(self, agent: &str) -> Addressed {
        let before = if self.is_closed {
            Addressed::default()
        } else {
            self
        };
        // A site may write our version behind the name.
        let token: String = agent
            .chars()
            .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
            .collect();
        Addressed {
            us: before.us || token.eq_ignore_ascii_case(AGENT),
            everybody: before.everybody || agent == "*",
            is_closed: false,
        }
    }
}

/// Fields that end a list of user-agents; others, as `Sitemap`, belong to no group.
fn is_rule(field: &str) -> bool {
    matches!(
        field,
        "allow" | "disallow" | "content-signal" | "content-usage" | "crawl-delay"
    )
}

fn is_pattern(text: &str) -> bool {
    text.starts_with(['/', '*'])
        && text.len() <= PATTERN_BYTES_MAX
        && text.matches('*').count() <= STARS_MAX
}

/// One spelling for one path: everything beyond ASCII percent-encoded, unreserved characters not, digits upper case.
fn normalised(path: &str) -> String {
    let bytes = path.as_bytes();
    let mut out = String::with_capacity(path.len());
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        let encoded = (byte == b'%').then(|| path.get(at + 1..at + 3)).flatten();
        match encoded.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(value) if value.is_ascii_alphanumeric() || b"-._~".contains(&value) => {
                out.push(char::from(value));
                at += 3;
            }
            Some(value) => {
                out.push_str(&format!("%{value:02X}"));
                at += 3;
            }
            None if byte.is_ascii_graphic() => {
                out.push(char::from(byte));
                at += 1;
            }
            None => {
                out.push_str(&format!("%{byte:02X}"));
                at += 1;
            }
        }
    }
    out
}

/// `*` stands for any characters, `$` at the end for the end.
fn matches(pattern: &str, path: &str) -> bool {
    let (pattern, is_anchored) = match pattern.strip_suffix('$') {
        Some(pattern) => (pattern, true),
        None => (pattern, false),
    };
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| path.strip_prefix(first)) else {
        return false;
    };
    let mut parts = parts.peekable();
    let mut ends_in_star = false;
    while let Some(part) = parts.next() {
        let is_last = parts.peek().is_none();
        if is_last && is_anchored {
            return part.is_empty() || rest.ends_with(part);
        }
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
        ends_in_star = is_last && part.is_empty();
    }
    !is_anchored || rest.is_empty() || ends_in_star
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::signals::Signal;

    fn check(text: &str, path: &str, expected: Permission) {
        assert_eq!(
            Robots::parse(text.as_bytes()).permission(path),
            expected,
            "{path} in {text:?}"
        );
    }

    #[test]
    fn our_group_goes_before_that_of_everybody() {
        let text = "User-agent: *\nDisallow: /\n\nUser-agent: Other\nUser-agent: Context402/1.0\nDisallow: /private\n";
        check(text, "/page", Permission::Allowed);
        check(text, "/private/x", Permission::Disallowed);
        let twice = "user-agent: context402\ndisallow: /a\nUser-Agent: x\nDisallow: /\nUser-agent: context402\ndisallow: /b";
        check(twice, "/a", Permission::Disallowed);
        check(twice, "/b", Permission::Disallowed);
        check(twice, "/c", Permission::Allowed);
        check(
            "User-agent: *\nDisallow: /\nUser-agent: context402",
            "/",
            Permission::Allowed,
        );
        check(
            "User-agent: context402bot\nDisallow: /",
            "/",
            Permission::Allowed,
        );
        check(
            "User-agent: a\nSitemap: /s\nUser-agent: *\nDisallow: /",
            "/",
            Permission::Disallowed,
        );
    }

    #[test]
    fn the_longest_rule_decides_and_of_two_alike_the_friendly_one() {
        let text = "User-agent: *\nDisallow: /a\nAllow: /a/b\nDisallow: /a/b/*.pdf$\nAllow: /c\nDisallow: /c\nDisallow:\n";
        check(text, "/a", Permission::Disallowed);
        check(text, "/a/b/x", Permission::Allowed);
        check(text, "/a/b/x.pdf", Permission::Disallowed);
        check(text, "/a/b/x.pdf?y", Permission::Allowed);
        check(text, "/c", Permission::Allowed);
        check(text, "/", Permission::Allowed);
    }

    #[test]
    fn patterns() {
        let disallows = |pattern: &str, path: &str| {
            let text = format!("User-agent: *\nDisallow: {pattern}");
            Robots::parse(text.as_bytes()).permission(path) == Permission::Disallowed
        };
        assert!(disallows("/fish", "/fish/salmon") && disallows("/fish", "/fishheads"));
        assert!(!disallows("/fish", "/Fish") && !disallows("/fish", "/?id=fish"));
        assert!(disallows("/fish*", "/fish") && disallows("/*.php$", "/a/b.php"));
        assert!(!disallows("/*.php$", "/a.php?x") && disallows("*.php", "/a.php?x"));
        assert!(disallows("/$", "/") && !disallows("/$", "/a"));
        assert!(disallows("/a*b*c$", "/axbxc") && !disallows("/a*b*c$", "/axbxcx"));
        assert!(disallows("/a*$", "/abc") && disallows("*", "/"));
        assert!(disallows("/ö", "/%c3%b6") && disallows("/%c3%B6", "/ö"));
        assert!(disallows("/%7Ejoe", "/~joe") && !disallows("/a%2fb", "/a/b"));
        assert!(!disallows("fish", "/fish"));
        assert!(!disallows("/", "/robots.txt"));
    }

    #[test]
    fn signals_belong_to_their_group_and_path() {
        let text = "User-agent: x\nContent-Signal: ai-input=no\nUser-agent: *\nContent-Signal: search=yes, ai-train=no\n\
                    Content-Signal: /open/ ai-train=yes\nContent-Usage: train-ai=n\nAllow: /\n";
        let robots = Robots::parse(text.as_bytes());
        let expected = Signals {
            search: Signal::Yes,
            ai_train: Signal::No,
            ..Signals::default()
        };
        assert_eq!(robots.signals("/page"), expected);
        assert_eq!(robots.signals("/open/page").ai_train, Signal::Yes);
    }

    #[test]
    fn odd_files_are_read_as_far_as_they_go() {
        check("", "/", Permission::Allowed);
        check(
            "<html><body>Not found</body></html>",
            "/",
            Permission::Allowed,
        );
        check(
            "\u{feff}User-agent:*\rDisallow:/x#comment\r",
            "/x",
            Permission::Disallowed,
        );
        check("Disallow: /", "/", Permission::Allowed);
        let stars = format!("User-agent: *\nDisallow: /{}x", "*a".repeat(500));
        check(&stars, &"/a".repeat(1000), Permission::Allowed);
        let mut many = "User-agent: *\n".to_owned();
        (0..RULES_MAX + 5).for_each(|n| many.push_str(&format!("Disallow: /{n}/\n")));
        assert_eq!(Robots::parse(many.as_bytes()).rules.len(), RULES_MAX);
        let mut late = vec![b'#'; BYTES_MAX];
        late.extend_from_slice(b"\nUser-agent: *\nDisallow: /");
        assert_eq!(Robots::parse(&late).permission("/"), Permission::Allowed);
    }

    #[test]
    fn a_page_of_two_addresses_is_as_allowed_as_the_stricter() {
        use Permission::*;
        assert_eq!(Allowed.and(Allowed), Allowed);
        assert_eq!(Allowed.and(Unknown), Unknown);
        assert_eq!(Unknown.and(Disallowed), Disallowed);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..400), path in "/[ -~ä]{0,40}") {
            let mut text = b"User-agent: *\nDisallow: ".to_vec();
            text.extend(bytes);
            let robots = Robots::parse(&text);
            prop_assert!(robots.permission(&path) != Permission::Unknown);
            robots.signals(&path);
        }
    }
}
