//! Suggestions for misspelt settings.

use strsim::levenshtein;

use crate::config::settings::{Kind, SETTINGS, environment_name};

/// Maximum edit distance for a suggestion.
const DISTANCE_MAX: usize = 3;

/// The nearest setting or section: the same name in another section, else by edit distance.
pub(in crate::config) fn nearest(key: &str) -> Option<String> {
    let name = |key: &str| key.rsplit('.').next().unwrap_or_default().to_owned();
    let namesake = known().find(|known| name(known) == name(key));
    namesake.or_else(|| {
        let distances = known().map(|known| (levenshtein(key, &known), known));
        let (least, known) = distances.min()?;
        (least <= DISTANCE_MAX && least < key.chars().count()).then_some(known)
    })
}

/// The same among variables of the environment.
pub(in crate::config) fn nearest_variable(variable: &str) -> Option<String> {
    let variables = known().map(|key| environment_name(&key));
    let distances = variables.map(|known| (levenshtein(variable, &known), known));
    let (least, known) = distances.min()?;
    (least <= DISTANCE_MAX).then_some(known)
}

/// Whether a variable matches a setting or a secret's file.
pub(in crate::config) fn is_variable(variable: &str) -> bool {
    known().any(|key| environment_name(&key) == variable)
}

/// Whether a variable belongs to one of our sections.
pub(in crate::config) fn is_in_section(variable: &str) -> bool {
    sections().any(|section| variable.starts_with(&format!("{}_", environment_name(section))))
}

/// Every key, the keys of secrets' files, and the sections.
fn known() -> impl Iterator<Item = String> {
    let keys = SETTINGS.iter().map(|setting| setting.key.to_owned());
    let secrets = SETTINGS
        .iter()
        .filter(|setting| setting.kind == Kind::Secret);
    let files = secrets.map(|setting| format!("{}_file", setting.key));
    keys.chain(files).chain(sections().map(str::to_owned))
}

fn sections() -> impl Iterator<Item = &'static str> {
    SETTINGS
        .iter()
        .filter_map(|setting| Some(setting.key.split_once('.')?.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_recognised_and_nonsense_is_not() {
        for (key, expected) in [
            ("bas_url", Some("base_url")),
            ("payment.facilitator_ur", Some("payment.facilitator_url")),
            ("payment.rpc_url", Some("chain.rpc_url")),
            ("pay_to", Some("payment.pay_to")),
            ("limitz", Some("limits")),
            ("operator.token_fil", Some("operator.token_file")),
            ("prices.fresh", None),
            ("x", None),
        ] {
            assert_eq!(nearest(key).as_deref(), expected, "{key}");
        }
    }
}
