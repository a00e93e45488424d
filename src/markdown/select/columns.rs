//! The names of the features that come in rows of the same figures. The trained model knows them by name.

use super::facts::NEAR;

/// Ancestors whose figures are told, the block's own element among them.
pub(super) const ANCESTORS: usize = 6;

pub(super) const NEAR_NAMES: [&str; NEAR] = [
    "near_hidden",
    "near_consent",
    "near_navigation",
    "near_main",
    "near_article",
    "near_header",
    "near_footer",
    "near_aside",
    "near_form",
    "near_item",
    "near_cell",
    "near_table",
    "near_section",
    "near_quote",
    "near_figcaption",
    "near_definitions",
];

macro_rules! ancestor_names {
    ($($number:literal),*) => {
        [$([
            concat!("a", $number, "_tag"), concat!("a", $number, "_words"), concat!("a", $number, "_links"),
            concat!("a", $number, "_paragraphs"), concat!("a", $number, "_blocks"), concat!("a", $number, "_same"),
            concat!("a", $number, "_marks"), concat!("a", $number, "_words_a_block"),
            concat!("a", $number, "_good_words"), concat!("a", $number, "_names"),
        ]),*]
    };
}

pub(super) const ANCESTOR_NAMES: [[&str; 10]; ANCESTORS] =
    ancestor_names!("0", "1", "2", "3", "4", "5");

macro_rules! repeat_names {
    ($($which:literal),*) => {
        [$([
            concat!($which, "_hops"), concat!($which, "_size"), concat!($which, "_words"),
            concat!($which, "_variation"), concat!($which, "_links"), concat!($which, "_share"),
            concat!($which, "_index"), concat!($which, "_own_words"),
        ]),*]
    };
}

pub(super) const REPEAT_NAMES: [[&str; 8]; 2] = repeat_names!("inner", "outer");

macro_rules! neighbour_names {
    ($($which:literal),*) => {
        [$([
            concat!($which, "_words"), concat!($which, "_links"), concat!($which, "_tag"), concat!($which, "_text"),
        ]),*]
    };
}

pub(super) const NEIGHBOUR_NAMES: [[&str; 4]; 6] = neighbour_names!(
    "third_before",
    "second_before",
    "first_before",
    "first_after",
    "second_after",
    "third_after"
);
