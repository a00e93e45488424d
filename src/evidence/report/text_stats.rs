//! What can be counted in a source's text without knowing what is asked: length, links, tone.

use crate::domain::words::is_unspaced;
use crate::evidence::reading::text::words;

/// As much of a text is measured; what follows rarely differs.
const BYTES_MAX: usize = 512 * 1024;

/// Counts over the text, or over its first half mebibyte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextStats {
    /// Two characters of a script without spaces count as one word.
    pub words: u64,
    /// Words that stand in links.
    pub link_words: u64,
    /// Words of praise and promise.
    pub praise: u64,
    pub headings: u64,
    /// A heading announces references or sources.
    pub has_references: bool,
}

const PRAISE: &[&str] = &[
    "amazing",
    "award-winning",
    "awesome",
    "best",
    "best-in-class",
    "breakthrough",
    "cutting-edge",
    "effortless",
    "effortlessly",
    "fastest",
    "game-changing",
    "greatest",
    "guaranteed",
    "incredible",
    "industry-leading",
    "innovative",
    "leading",
    "market-leading",
    "next-generation",
    "number-one",
    "perfect",
    "premier",
    "revolutionary",
    "seamless",
    "seamlessly",
    "smartest",
    "state-of-the-art",
    "stunning",
    "supercharge",
    "superior",
    "transform",
    "trusted",
    "ultimate",
    "unbeatable",
    "unleash",
    "unlock",
    "unmatched",
    "unparalleled",
    "unrivaled",
    "unrivalled",
    "world-class",
    "world's",
];

/// How a publisher speaks of itself.
pub(crate) const FIRST_PERSON: &[&str] = &[
    "we", "our", "ours", "us", "we're", "we've", "we'll", "wir", "unser", "unsere", "nous",
    "notre", "nuestro", "nuestra",
];

const REFERENCES: &[&str] = &[
    "references",
    "sources",
    "bibliography",
    "citations",
    "works cited",
    "further reading",
    "footnotes",
    "literatur",
    "quellen",
    "références",
    "referencias",
    "riferimenti",
    "参考文献",
    "参考资料",
    "脚注",
];

impl TextStats {
    pub fn of(text: &str) -> TextStats {
        let text = crate::evidence::reading::text::head(text, BYTES_MAX);
        let mut text_stats = TextStats::default();
        let mut unspaced = 0;
        for line in text.lines() {
            text_stats.line(line, &mut unspaced);
        }
        text_stats.words += unspaced / 2;
        text_stats
    }

    fn line(&mut self, line: &str, unspaced: &mut u64) {
        let line = line.trim();
        if let Some(heading) = line.strip_prefix('#') {
            self.headings += 1;
            let heading = heading.trim_matches(['#', ' ', '*', ':']).to_lowercase();
            self.has_references |= REFERENCES.contains(&heading.as_str());
        }
        for word in line.split_whitespace() {
            let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
            let wide = bare.chars().filter(|c| is_unspaced(*c)).count() as u64;
            *unspaced += wide;
            if wide > 0 || bare.is_empty() {
                continue;
            }
            self.words += 1;
            let lower = bare.to_lowercase().replace('’', "'");
            self.praise += u64::from(PRAISE.contains(&lower.as_str()));
        }
        self.link_words += link_words(line);
    }

    /// Words of praise per 1,000.
    pub fn praise_per_thousand(&self) -> f64 {
        per_thousand(self.praise, self.words)
    }

    /// Share of the words that stand in links.
    pub fn link_share(&self) -> f64 {
        (per_thousand(self.link_words, self.words) / 1_000.0).min(1.0)
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of words in half a mebibyte"
)]
pub(crate) fn per_thousand(count: u64, words: u64) -> f64 {
    count as f64 * 1_000.0 / words.max(1) as f64
}

/// Words between `[` and `](`.
fn link_words(line: &str) -> u64 {
    let mut count = 0;
    let mut rest = line;
    while let Some(end) = rest.find("](") {
        let start = rest[..end].rfind('[').map_or(end, |at| at + 1);
        count += words(&rest[start..end]).len() as u64;
        rest = &rest[end + 2..];
    }
    count
}

#[cfg(test)]
mod tests {
    use crate::evidence::report::text_stats::*;

    #[test]
    fn tone_links_and_references_are_counted() {
        let text_stats = TextStats::of(
            "# Best\n\nWe make the world's [best kettle](https://x.test/). Our words.\n\n## References\n",
        );
        assert_eq!(text_stats.praise, 3);
        assert_eq!(text_stats.link_words, 2);
        assert_eq!(text_stats.headings, 2);
        assert!(text_stats.has_references);
        assert!(!TextStats::of("References are given.").has_references);
    }

    #[test]
    fn characters_of_scripts_without_spaces_are_half_a_word() {
        assert_eq!(TextStats::of("退款政策 ok").words, 3);
    }
}
