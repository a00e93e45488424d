//! Content signals: what a site says about the use of its pages, as on contentsignals.org and in the IETF's AI preferences.

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Signal {
    Yes,
    No,
    #[default]
    Unset,
}

impl Signal {
    pub fn name(self) -> &'static str {
        match self {
            Signal::Yes => "yes",
            Signal::No => "no",
            Signal::Unset => "unset",
        }
    }

    fn or(self, other: Signal) -> Signal {
        if self == Signal::Unset { other } else { self }
    }
}

/// Whether a page may be used for search, as input of a model, for training one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Signals {
    pub search: Signal,
    pub ai_input: Signal,
    pub ai_train: Signal,
}

impl Signals {
    /// `search=yes, ai-train=no`; of one name the first counts.
    pub fn parse(text: &str) -> Signals {
        let mut signals = Signals::default();
        for part in text.split([',', ';']) {
            let Some((name, value)) = part.split_once('=') else {
                continue;
            };
            let value = match value.trim().trim_matches('"').to_ascii_lowercase().as_str() {
                "yes" | "y" | "?1" => Signal::Yes,
                "no" | "n" | "?0" => Signal::No,
                _ => continue,
            };
            let place = match name.trim().to_ascii_lowercase().as_str() {
                "search" => &mut signals.search,
                "ai-input" | "ai_input" => &mut signals.ai_input,
                "ai-train" | "ai_train" | "train-ai" => &mut signals.ai_train,
                _ => continue,
            };
            *place = place.or(value);
        }
        signals
    }

    /// Where this says nothing, the other.
    pub fn or(self, other: Signals) -> Signals {
        Signals {
            search: self.search.or(other.search),
            ai_input: self.ai_input.or(other.ai_input),
            ai_train: self.ai_train.or(other.ai_train),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_are_read_in_both_notations() {
        let read =
            Signals::parse("Search=YES, ai-input=no;train-ai=n, ai-input=yes, else=no, ai-train");
        let expected = Signals {
            search: Signal::Yes,
            ai_input: Signal::No,
            ai_train: Signal::No,
        };
        assert_eq!(read, expected);
        assert_eq!(Signals::parse("search=maybe"), Signals::default());
    }
}
