//! Whether an element that is hidden says that something shows it: a tab, an accordion, "read more". Style sheets and
//! scripts are not read.

use super::{Attributes, conceals, has_no_size};

/// Parts of the classes and ids of what is shown on a click.
const WIDGETS: [&str; 7] = [
    "accordion",
    "collaps",
    "expand",
    "more",
    "panel",
    "tab",
    "toggle",
];

/// Whether an element is hidden, and nothing on it says that it is ever shown.
pub(in crate::markdown) fn is_concealed(attributes: &Attributes<'_>) -> bool {
    let mut is_concealed = false;
    for (name, value) in attributes.iter() {
        let is_shown_by_control = match name.to_ascii_lowercase().as_str() {
            "aria-labelledby" => true,
            "role" => matches!(value.trim(), "tabpanel" | "region" | "dialog"),
            // React sends parts of a page so, and moves them to their places.
            "id" if value.starts_with("S:") => true,
            "id" | "class" => {
                let value = value.to_ascii_lowercase();
                WIDGETS.iter().any(|part| value.contains(part))
            }
            _ => false,
        };
        if is_shown_by_control {
            return false;
        }
        is_concealed |= conceals(name, value) || has_no_size(name, value);
    }
    is_concealed
}

/// The ids of the elements that this one says it controls, or leads to.
pub(in crate::markdown) fn controlled<'a>(
    attributes: &Attributes<'a>,
) -> impl Iterator<Item = &'a str> {
    let values = attributes.iter().filter_map(|(name, value)| {
        let is_control = match name.len() {
            4 => name.eq_ignore_ascii_case("href") && value.starts_with('#'),
            11 => name.eq_ignore_ascii_case("data-target"),
            13 => name.eq_ignore_ascii_case("aria-controls"),
            14 => name.eq_ignore_ascii_case("data-bs-target"),
            _ => false,
        };
        is_control.then_some(value)
    });
    let ids = values.flat_map(str::split_ascii_whitespace);
    ids.map(|id| id.trim_start_matches('#'))
}
