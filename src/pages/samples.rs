//! A small web of our own making: the pages that `context402 demo` serves on loopback under invented public
//! names. Who serves them, and where, is not known here.

/// One page of the built-in web.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The name under which it is served, without port.
    pub host: &'static str,
    pub path: &'static str,
    pub content_type: &'static str,
    pub body: &'static str,
}

const HTML: &str = "text/html; charset=utf-8";

/// Every page of the built-in web. The first is a good one to buy.
pub const SAMPLES: &[Sample] = &[
    Sample {
        host: "news.sample-site.org",
        path: "/2026/03/harbour-heat-network",
        content_type: HTML,
        body: include_str!("../../data/samples/news.html"),
    },
    Sample {
        host: "docs.sample-site.org",
        path: "/guides/rate-limits",
        content_type: HTML,
        body: include_str!("../../data/samples/docs.html"),
    },
    Sample {
        host: "shop.sample-site.org",
        path: "/kettles/bergen-gooseneck",
        content_type: HTML,
        body: include_str!("../../data/samples/shop.html"),
    },
    Sample {
        host: "forum.sample-site.org",
        path: "/t/wal-grows-forever/4127",
        content_type: HTML,
        body: include_str!("../../data/samples/forum.html"),
    },
];

#[cfg(test)]
mod tests {
    use super::*;

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
