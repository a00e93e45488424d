//! What of a page's scripts is worth keeping: JSON-LD, the state that an application starts from, and the beginnings
//! that betray a challenge page. Nothing is run, and nothing is read before the page is known to need it.

use super::attributes::Attributes;

const JSON_LD_BYTES_MAX: usize = 256 * 1024;
const STATE_BYTES_MAX: usize = 1024 * 1024;
const SAMPLE_BYTES_MAX: usize = 4 * 1024;
/// A little of every script says more than all of one.
const SAMPLE_OF_ONE_BYTES_MAX: usize = 512;
/// As much of a script as tells whether it sets an application's state.
const HEAD_BYTES: usize = 64;

/// Names under which frameworks put the data of a page.
const STATES: [&str; 12] = [
    "__NEXT_DATA__",
    "__next_f.push",
    "__NUXT__",
    "__INITIAL_STATE__",
    "__INITIAL_DATA__",
    "__PRELOADED_STATE__",
    "__APOLLO_STATE__",
    "__REDUX_STATE__",
    "__remixContext",
    "__APP_STATE__",
    "__APP_DATA__",
    "__PAGE_DATA__",
];

#[derive(Debug, Default)]
pub(super) struct Scripts {
    pub(super) count: u32,
    /// One script a line.
    pub(super) json_ld: String,
    /// JSON, or program text that holds JSON.
    pub(super) state: String,
    /// The sources of scripts and the beginnings of those in the page, lower case, as far as they fit.
    pub(super) sample: String,
    kind: Kind,
    head: String,
    /// How much more of the script belongs into the sample.
    unsampled: usize,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Kind {
    JsonLd,
    State,
    /// Its beginning will tell.
    Unknown,
    #[default]
    Other,
}

impl Scripts {
    pub(super) fn begin(&mut self, attributes: &Attributes<'_>) {
        self.count += 1;
        self.head.clear();
        self.unsampled = 0;
        let kind = attributes.get("type").unwrap_or_default();
        let kind = kind.trim().to_ascii_lowercase();
        self.kind = if kind.starts_with("application/ld+json") {
            self.json_ld.push('\n');
            Kind::JsonLd
        } else if kind.starts_with("application/json") {
            self.state.push('\n');
            Kind::State
        } else if let Some(source) = attributes.get("src") {
            self.begin_sample();
            self.sample(&source);
            self.unsampled = 0;
            Kind::Other
        } else {
            self.begin_sample();
            Kind::Unknown
        };
    }

    /// The text of the script that began last, in pieces. Where it is cut does not matter.
    pub(super) fn text(&mut self, text: &str) {
        self.sample(text);
        match self.kind {
            Kind::JsonLd => {
                // Raw line ends and tabs are not allowed in JSON's strings, and mean nothing outside of them.
                let spaced = within(&self.json_ld, text, JSON_LD_BYTES_MAX).chars();
                let spaced = spaced.map(|c| if c.is_control() { ' ' } else { c });
                self.json_ld.extend(spaced);
            }
            Kind::State => self.state_text(text),
            Kind::Unknown => self.unknown_text(text),
            Kind::Other => {}
        }
    }

    fn state_text(&mut self, text: &str) {
        self.state
            .push_str(within(&self.state, text, STATE_BYTES_MAX));
    }

    fn unknown_text(&mut self, text: &str) {
        let (head, rest) = text.split_at(within(&self.head, text, HEAD_BYTES).len());
        self.head.push_str(head);
        if STATES.iter().any(|name| self.head.contains(name)) {
            self.kind = Kind::State;
            self.state.push('\n');
            let head = std::mem::take(&mut self.head);
            self.state_text(&head);
            self.state_text(rest);
        } else if !rest.is_empty() {
            self.kind = Kind::Other;
        }
    }

    fn begin_sample(&mut self) {
        if self.sample.len() < SAMPLE_BYTES_MAX {
            self.sample.push(' ');
            self.unsampled = SAMPLE_OF_ONE_BYTES_MAX;
        }
    }

    fn sample(&mut self, text: &str) {
        let text = within("", text, self.unsampled);
        self.unsampled -= text.len();
        let text = within(&self.sample, text, SAMPLE_BYTES_MAX);
        self.sample.push_str(&text.to_ascii_lowercase());
    }
}

/// As much of a text as still fits behind another, to the last whole character.
pub(super) fn within<'a>(behind: &str, text: &'a str, bytes_max: usize) -> &'a str {
    let room = bytes_max.saturating_sub(behind.len());
    let mut end = room.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pieces: &[&str]) -> Scripts {
        let mut scripts = Scripts::default();
        scripts.begin(&Attributes::new("<script>", &[]));
        for piece in pieces {
            scripts.text(piece);
        }
        scripts
    }

    /// A state's name was lost when the tokenizer cut the script inside of it.
    #[test]
    fn scripts_read_the_same_however_they_are_cut() {
        let script = format!("window.__NUXT__ = {{\"é\": \"{}\"}};", "Sea ".repeat(300));
        let whole = read(&[&script]);
        assert!(whole.state.starts_with("\nwindow.__NUXT__ = {"));
        assert!(whole.sample.len() > SAMPLE_OF_ONE_BYTES_MAX);
        for cut in (0..80).filter(|&cut| script.is_char_boundary(cut)) {
            let (first, second) = script.split_at(cut);
            let cut = read(&[first, second]);
            assert_eq!(cut.state, whole.state);
            assert_eq!(cut.sample, whole.sample);
        }
    }
}
