//! How good a source is by what it shows of itself, whatever is asked of it: a weighted mean of components that are
//! all shown. It knows no reputation of sites.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::time::UnixSeconds;
use crate::evidence::report::age;
use crate::evidence::report::citation::rounded;
use crate::evidence::report::facts::Facts;
use crate::evidence::report::risks::{Risk, RiskDetail};
use crate::evidence::report::text_stats::{TextStats, per_thousand};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SourceQuality {
    #[schemars(range(min = 0.0, max = 1.0))]
    pub score: f64,
    pub components: Vec<Component>,
    /// Why the score is held below the mean of its components, if it is.
    pub capped_by: Option<Cow<'static, str>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Component {
    pub id: Cow<'static, str>,
    #[schemars(range(min = 0.0, max = 1.0))]
    pub value: f64,
    pub weight: f64,
    pub detail: String,
}

/// A source that means to mislead machines, or hides its text, is no good source however it looks otherwise.
const CAPS: [(&str, f64); 4] = [
    ("http_error", 0.2),
    ("paywall_or_login", 0.3),
    ("embedded_agent_instructions", 0.4),
    ("script_rendered_shell", 0.5),
];

pub(crate) fn quality(
    facts: &Facts,
    text_stats: &TextStats,
    risks: &[RiskDetail],
    now: UnixSeconds,
) -> SourceQuality {
    let judge = Judge {
        facts,
        text_stats,
        risks,
    };
    let components = vec![
        judge.transport(),
        judge.access(),
        judge.substance(),
        judge.date(now),
        judge.author(),
        judge.publisher(),
        judge.home(),
        judge.references(),
        judge.tone(),
        judge.text_share(),
        judge.integrity(),
        judge.independence(),
    ];
    let weights: f64 = components.iter().map(|component| component.weight).sum();
    let sum: f64 = components
        .iter()
        .map(|component| component.weight * component.value)
        .sum();
    let mean = sum / weights;
    let cap = CAPS
        .into_iter()
        .filter(|(code, _)| risks.iter().any(|risk| risk.code == *code))
        .find(|(_, cap)| *cap < mean);
    SourceQuality {
        score: rounded(cap.map_or(mean, |(_, cap)| cap)),
        components,
        capped_by: cap.map(|(code, _)| code.into()),
    }
}

struct Judge<'a> {
    facts: &'a Facts,
    text_stats: &'a TextStats,
    risks: &'a [RiskDetail],
}

fn component(id: &'static str, weight: f64, value: f64, detail: impl Into<String>) -> Component {
    Component {
        id: id.into(),
        value: rounded(value),
        weight,
        detail: crate::evidence::reading::text::bounded(&detail.into(), 200),
    }
}

/// The value of the first step that `measured` does not reach beyond, else the last.
fn step(measured: f64, steps: &[(f64, f64)], beyond: f64) -> f64 {
    let found = steps.iter().find(|(limit, _)| measured < *limit);
    found.map_or(beyond, |(_, value)| *value)
}

impl Judge<'_> {
    fn has(&self, risk: Risk) -> bool {
        self.risks.iter().any(|detail| detail.is(risk))
    }

    fn transport(&self) -> Component {
        match self.facts.final_url.starts_with("https://") {
            true => component(
                "transport",
                1.0,
                1.0,
                "https with a certificate that was checked",
            ),
            false => component("transport", 1.0, 0.0, "no encryption"),
        }
    }

    fn access(&self) -> Component {
        let bars = [
            Risk::PaywallOrLogin,
            Risk::ScriptRenderedShell,
            Risk::HttpError,
        ];
        match bars.into_iter().find(|risk| self.has(*risk)) {
            Some(risk) => component("access", 2.0, 0.0, risk.code()),
            None => component("access", 2.0, 1.0, "the whole text is open"),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "a count of words")]
    fn substance(&self) -> Component {
        let words = self.text_stats.words;
        let value = step(
            words as f64,
            &[(50.0, 0.1), (150.0, 0.4), (300.0, 0.7)],
            1.0,
        );
        component("substance", 2.0, value, format!("{words} words"))
    }

    #[expect(clippy::cast_precision_loss, reason = "a count of days")]
    fn date(&self, now: UnixSeconds) -> Component {
        let metadata = &self.facts.metadata;
        let stated = [&metadata.modified_at, &metadata.published_at];
        let days = stated
            .into_iter()
            .flatten()
            .filter_map(|date| age::days(date, now))
            .min();
        match days {
            None => component("date", 2.0, 0.3, "no date that could be read"),
            Some(days) if days < -1 => component("date", 2.0, 0.4, "dated in the future"),
            Some(days) => {
                let steps = [(180.0, 1.0), (365.0, 0.9), (730.0, 0.75), (1_825.0, 0.5)];
                let days = days.max(0);
                component(
                    "date",
                    2.0,
                    step(days as f64, &steps, 0.3),
                    format!("{days} days old"),
                )
            }
        }
    }

    fn author(&self) -> Component {
        match &self.facts.metadata.author {
            Some(author) => component("author", 1.0, 1.0, format!("names {author}")),
            None => component("author", 1.0, 0.2, "names no author"),
        }
    }

    fn publisher(&self) -> Component {
        match &self.facts.metadata.site_name {
            Some(name) => component("publisher", 1.0, 1.0, format!("published as {name}")),
            None => component("publisher", 1.0, 0.4, "names no publisher"),
        }
    }

    fn home(&self) -> Component {
        let is_stated = self.facts.metadata.canonical_url.is_some();
        match (self.has(Risk::CanonicalElsewhere), is_stated) {
            (true, _) => component("canonical", 1.0, 0.2, "names another site as its home"),
            (false, true) => component("canonical", 1.0, 1.0, "is at home on this site"),
            (false, false) => component("canonical", 1.0, 0.7, "names no canonical address"),
        }
    }

    fn references(&self) -> Component {
        let home = Facts::domain(&self.facts.final_url);
        let foreign = self.facts.links.iter().filter(|link| {
            let domain = Facts::domain(&link.url);
            domain.is_some() && domain != home && !is_paid(&link.rel)
        });
        let count = foreign.count() as u64;
        let rate = per_thousand(count, self.text_stats.words.max(200));
        let value = match self.text_stats.has_references {
            true => 1.0,
            false => step(rate, &[(0.5, 0.3), (3.0, 0.7)], 1.0),
        };
        component(
            "references",
            1.0,
            value,
            format!("links to other sites: {count}"),
        )
    }

    fn tone(&self) -> Component {
        let rate = self.text_stats.praise_per_thousand();
        let value = step(rate, &[(4.0, 1.0), (8.0, 0.7), (12.0, 0.4)], 0.1);
        // A word or two is nobody's advertising.
        let value = if self.text_stats.praise < 2 {
            1.0
        } else {
            value
        };
        component(
            "tone",
            1.5,
            value,
            format!("words of praise: {}", self.text_stats.praise),
        )
    }

    fn text_share(&self) -> Component {
        let share = self.text_stats.link_share();
        let value = step(share, &[(0.2, 1.0), (0.4, 0.8), (0.6, 0.5)], 0.2);
        component(
            "text_share",
            1.0,
            value,
            format!("{:.0} % of the words stand in links", share * 100.0),
        )
    }

    fn integrity(&self) -> Component {
        let misleads = self.has(Risk::EmbeddedInstructionsHidden)
            || self.has(Risk::EmbeddedInstructionsVisible);
        match misleads {
            true => component("integrity", 2.0, 0.0, "addresses AI systems"),
            false => component(
                "integrity",
                2.0,
                1.0,
                "no instructions to AI systems were found",
            ),
        }
    }

    fn independence(&self) -> Component {
        match self.has(Risk::SelfPublishedClaim) {
            true => component("independence", 1.0, 0.4, "speaks about itself"),
            false => component(
                "independence",
                1.0,
                1.0,
                "no sign that it speaks about itself",
            ),
        }
    }
}

fn is_paid(rel: &str) -> bool {
    rel.split_ascii_whitespace()
        .any(|word| matches!(word, "sponsored" | "ugc"))
}

#[cfg(test)]
mod tests {
    use crate::evidence::report::quality::*;
    use crate::evidence::report::tests::{NOW, PAGE, facts};

    fn judged(facts: &Facts, text: &str, risks: &[Risk]) -> SourceQuality {
        let risks: Vec<RiskDetail> = risks.iter().copied().map(RiskDetail::of).collect();
        quality(facts, &TextStats::of(text), &risks, NOW)
    }

    fn value(quality: &SourceQuality, id: &str) -> f64 {
        let found = quality
            .components
            .iter()
            .find(|component| component.id == id);
        found.expect("the component").value
    }

    #[test]
    fn the_score_is_the_mean_of_what_is_shown() {
        let quality = judged(&facts(), PAGE, &[]);
        let weights: f64 = quality
            .components
            .iter()
            .map(|component| component.weight)
            .sum();
        let sum: f64 = quality
            .components
            .iter()
            .map(|component| component.weight * component.value)
            .sum();
        assert!((quality.score - sum / weights).abs() < 0.0001);
        assert_eq!(quality.capped_by, None);
    }

    #[test]
    fn each_component_has_its_reason() {
        let check = |id: &str, change: &dyn Fn(&mut Facts), risks: &[Risk]| {
            let mut changed = facts();
            change(&mut changed);
            let (before, after) = (judged(&facts(), PAGE, &[]), judged(&changed, PAGE, risks));
            assert!(value(&after, id) < value(&before, id), "{id}");
            assert!(after.score < before.score, "{id}");
        };
        check(
            "transport",
            &|facts| facts.final_url = "http://shop.example.com/".to_owned(),
            &[],
        );
        check("access", &|_| {}, &[Risk::PaywallOrLogin]);
        check("date", &|facts| facts.metadata.modified_at = None, &[]);
        check(
            "date",
            &|facts| facts.metadata.modified_at = Some("2020-01-01".to_owned()),
            &[],
        );
        check("author", &|facts| facts.metadata.author = None, &[]);
        check("publisher", &|facts| facts.metadata.site_name = None, &[]);
        check(
            "canonical",
            &|facts| facts.metadata.canonical_url = None,
            &[],
        );
        check("references", &|facts| facts.links.clear(), &[]);
        check("integrity", &|_| {}, &[Risk::EmbeddedInstructionsVisible]);
        check("independence", &|_| {}, &[Risk::SelfPublishedClaim]);
        let poor = judged(
            &facts(),
            "The best, greatest, ultimate [kettle](https://a.test/).",
            &[],
        );
        assert!(value(&poor, "tone") < 1.0 && value(&poor, "substance") < 1.0);
    }

    #[test]
    fn a_page_that_misleads_or_hides_is_held_low() {
        for (risk, code, cap) in [
            (Risk::HttpError, "http_error", 0.2),
            (Risk::PaywallOrLogin, "paywall_or_login", 0.3),
            (
                Risk::EmbeddedInstructionsHidden,
                "embedded_agent_instructions",
                0.4,
            ),
            (Risk::ScriptRenderedShell, "script_rendered_shell", 0.5),
        ] {
            let quality = judged(&facts(), PAGE, &[risk]);
            assert_eq!(
                (quality.score, quality.capped_by.as_deref()),
                (cap, Some(code))
            );
        }
    }

    #[test]
    fn links_that_are_paid_for_or_lead_home_are_no_references() {
        let with = |rel: &str, url: &str| {
            let mut facts = facts();
            (facts.links[0].rel, facts.links[0].url) = (rel.to_owned(), url.to_owned());
            value(&judged(&facts, PAGE, &[]), "references")
        };
        let independent = with("", "https://law.example.org/");
        assert!(with("sponsored nofollow", "https://law.example.org/") < independent);
        assert!(with("", "https://www.example.com/other") < independent);
    }
}
