//! The sample pages that `context402 demo` serves on loopback under invented public names.

/// One sample page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The kind of page, in a word or two.
    pub label: &'static str,
    /// Example questions: one that the page supports, one that it contradicts, one that it does not answer.
    pub questions: [&'static str; 3],
    /// The host name, without port.
    pub host: &'static str,
    pub path: &'static str,
    pub content_type: &'static str,
    pub body: &'static str,
}

impl Sample {
    /// Its value in a form.
    pub fn name(&self) -> &'static str {
        self.host.split('.').next().unwrap_or_default()
    }
}

const HTML: &str = "text/html; charset=utf-8";

/// All sample pages; the first is the default purchase.
pub const SAMPLES: &[Sample] = &[
    Sample {
        label: "News article",
        questions: [
            "Does the city council vote on the second phase on 2 April?",
            "Does the contract fix the price for five years?",
            "Does the plant cool flats in summer?",
        ],
        host: "news.sample-site.org",
        path: "/2026/03/harbour-heat-network",
        content_type: HTML,
        body: include_str!("../../../data/samples/news.html"),
    },
    Sample {
        label: "Documentation",
        questions: [
            "How many read calls may a live key make in a minute?",
            "Do limits count per address?",
            "Are there limits on file uploads?",
        ],
        host: "docs.sample-site.org",
        path: "/guides/rate-limits",
        content_type: HTML,
        body: include_str!("../../../data/samples/docs.html"),
    },
    Sample {
        label: "Product page",
        questions: [
            "Does it boil 0.9 litres in four minutes and ten seconds?",
            "Does delivery within the EU cost 9.90 €?",
            "Is the kettle safe in a dishwasher?",
        ],
        host: "shop.sample-site.org",
        path: "/kettles/bergen-gooseneck",
        content_type: HTML,
        body: include_str!("../../../data/samples/shop.html"),
    },
    Sample {
        label: "Forum thread",
        questions: [
            "Did the file go from 14 GB to nothing in 40 seconds?",
            "Does a PASSIVE checkpoint shrink the file?",
            "Is the service written in Python?",
        ],
        host: "forum.sample-site.org",
        path: "/t/wal-grows-forever/4127",
        content_type: HTML,
        body: include_str!("../../../data/samples/forum.html"),
    },
];

#[cfg(test)]
mod tests {
    use crate::pages::buyer::samples::*;

    #[test]
    fn every_sample_is_a_whole_page_at_its_own_address() {
        for sample in SAMPLES {
            let address = format!("https://{}{}", sample.host, sample.path);
            let canonical = format!(r#"<link rel="canonical" href="{address}">"#);
            assert!(sample.body.starts_with("<!DOCTYPE html>"), "{address}");
            assert!(sample.body.contains(&canonical), "{address}");
            assert!(sample.body.trim_end().ends_with("</html>"), "{address}");
            assert_eq!(sample.body.matches("<h1").count(), 1, "{address}");
        }
    }

    #[test]
    fn samples_load_nothing_from_elsewhere() {
        for sample in SAMPLES {
            for attribute in [
                "src=\"http",
                "src=\"//",
                "rel=\"stylesheet\" href=\"http",
                "@import",
            ] {
                assert!(
                    !sample.body.contains(attribute),
                    "{} {attribute}",
                    sample.host
                );
            }
        }
    }

    #[test]
    fn addresses_differ() {
        for (index, sample) in SAMPLES.iter().enumerate() {
            let same = |other: &&Sample| (other.host, other.path) == (sample.host, sample.path);
            assert_eq!(SAMPLES[index..].iter().filter(same).count(), 1);
        }
    }
}
