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

/// The same among variables of the environment. A section is none.
pub(in crate::config) fn nearest_variable(variable: &str) -> Option<String> {
    let distances = variables().map(|known| (levenshtein(variable, &known), known));
    let (least, known) = distances.min()?;
    (least <= DISTANCE_MAX).then_some(known)
}

/// The nearest secret in the section of `key`; of several, one must be near.
pub(in crate::config) fn nearest_secret(key: &str) -> Option<&'static str> {
    let (section, _) = key.split_once('.')?;
    let of_section = secrets().filter(|known| known.starts_with(&format!("{section}.")));
    let known: Vec<&'static str> = of_section.collect();
    match &known[..] {
        [only] => Some(only),
        _ => known
            .into_iter()
            .find(|known| levenshtein(known, key) <= DISTANCE_MAX),
    }
}

/// Whether `key` is in a section that has secrets.
pub(in crate::config) fn has_secrets(key: &str) -> bool {
    let section = key.split('.').next();
    secrets().any(|known| known.split('.').next() == section)
}

fn secrets() -> impl Iterator<Item = &'static str> {
    let secrets = SETTINGS
        .iter()
        .filter(|setting| setting.kind == Kind::Secret);
    secrets.map(|setting| setting.key)
}

/// Whether a variable matches a setting or a secret's file.
pub(in crate::config) fn is_variable(variable: &str) -> bool {
    variables().any(|known| known == variable)
}

/// Variables that begin as settings do and are none: the program reads the first two, its tests and scripts the third.
const OTHER_VARIABLES: [&str; 3] = ["CONTEXT402_CONFIG", "CONTEXT402_LOG", "CONTEXT402_BIN"];

/// What Kubernetes and Docker set for a service of the name context402: the address of that service.
const LINK_PREFIXES: [&str; 3] = [
    "CONTEXT402_PORT",
    "CONTEXT402_SERVICE_HOST",
    "CONTEXT402_SERVICE_PORT",
];

/// Whether a variable looks like one for this program and is known to nobody.
pub(in crate::config) fn is_unknown(variable: &str) -> bool {
    let is_link = LINK_PREFIXES
        .iter()
        .any(|prefix| variable.starts_with(prefix));
    variable.starts_with("CONTEXT402_")
        && !is_variable(variable)
        && !OTHER_VARIABLES.contains(&variable)
        && !is_link
}

/// Whether a variable belongs to one of our sections.
pub(in crate::config) fn is_in_section(variable: &str) -> bool {
    sections().any(|section| variable.starts_with(&format!("{}_", environment_name(section))))
}

/// Whether `key` is the name of a section.
pub(in crate::config) fn is_section(key: &str) -> bool {
    sections().any(|section| section == key)
}

/// Every key, the keys of secrets' files, and the sections.
fn known() -> impl Iterator<Item = String> {
    keys().chain(sections().map(str::to_owned))
}

fn variables() -> impl Iterator<Item = String> {
    keys().map(|key| environment_name(&key))
}

/// Every key, and the keys of secrets' files.
fn keys() -> impl Iterator<Item = String> {
    let keys = SETTINGS.iter().map(|setting| setting.key.to_owned());
    keys.chain(secrets().map(|key| format!("{key}_file")))
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
