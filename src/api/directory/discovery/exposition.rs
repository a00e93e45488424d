//! The text format of Prometheus.

use std::fmt::Display;

/// Families as Prometheus reads them.
#[derive(Default)]
pub(super) struct Exposition(pub String);

impl Exposition {
    /// A family with its samples: the labels in braces or nothing, and the value.
    pub(super) fn family<V: Display>(
        &mut self,
        name: &str,
        kind: &str,
        help: &str,
        samples: impl IntoIterator<Item = (String, V)>,
    ) {
        self.0.push_str(&format!(
            "# HELP context402_{name} {help}\n# TYPE context402_{name} {kind}\n"
        ));
        for (labels, value) in samples {
            self.sample(name, &labels, &value);
        }
    }

    pub(super) fn gauge(&mut self, name: &str, help: &str, value: u64) {
        self.family(name, "gauge", help, [(String::new(), value)]);
    }

    pub(super) fn sample(&mut self, name: &str, labels: &str, value: &dyn Display) {
        self.0
            .push_str(&format!("context402_{name}{labels} {value}\n"));
    }
}

/// `{name="value",…}`, or nothing.
pub(super) fn labels<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let pairs = pairs.into_iter();
    let pairs = pairs.map(|(name, value)| format!("{name}=\"{value}\""));
    match pairs.collect::<Vec<_>>().join(",") {
        none if none.is_empty() => none,
        pairs => format!("{{{pairs}}}"),
    }
}
