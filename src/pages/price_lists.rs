//! The price lists of tiers, packs and depths, from their tables: what each costs, what it gives and when to choose it.

use maud::{Markup, html};

use crate::domain::cache::CachePolicy;
use crate::domain::check::CheckDepth;
use crate::domain::level::Level;
use crate::domain::pack::Pack;
use crate::domain::tier::Tier;
use crate::domain::time::PAGE_SECONDS;
use crate::pages::parts::{scrolling, usdc};

/// The price list of the tiers, in the order of their prices as everywhere else.
pub(super) fn tier_table() -> Markup {
    let table = html! {
        table.stack {
            thead { tr { th { "Tier" } th.num { "Price per page" } th { "How fresh" } th { "Best for" } } }
            tbody { @for tier in Tier::ALL { (tier_row(tier)) } }
        }
    };
    scrolling("Tiers and prices", &table)
}

fn tier_row(tier: Tier) -> Markup {
    let default = tier == Tier::default();
    html! {
        tr.chosen[default] {
            th scope="row" { (tier.name()) @if default { " " span.tag.good { "default" } } }
            td.num { (usdc(tier.price())) }
            td.long { (how_fresh(tier)) }
            td.long.muted { (choose_it(tier)) }
        }
    }
}

/// The price list of the packs.
pub(super) fn pack_table(has_model: bool) -> Markup {
    let table = html! {
        table.stack {
            thead { tr { th { "Pack" } th.num { "Price per report" } th { "What it reads" } } }
            tbody { @for pack in Pack::ALL { (pack_row(pack, has_model)) } }
        }
    };
    scrolling("Packs and prices", &table)
}

fn pack_row(pack: Pack, has_model: bool) -> Markup {
    let default = pack == Pack::default();
    html! {
        tr.chosen[default] {
            th scope="row" { (pack.name()) @if default { " " span.tag.good { "default" } } }
            td.num { (usdc(pack.price())) }
            td.long { (pack.reads(has_model)) }
        }
    }
}

/// The price list of the depths of a check.
pub(super) fn depth_table(has_model: bool) -> Markup {
    let table = html! {
        table.stack {
            thead { tr { th { "Depth" } th.num { "Price per source" } th { "What it does" } } }
            tbody { @for depth in CheckDepth::ALL { (depth_row(depth, has_model)) } }
        }
    };
    scrolling("Depths and prices", &table)
}

fn depth_row(depth: CheckDepth, has_model: bool) -> Markup {
    let default = depth == CheckDepth::default();
    html! {
        tr.chosen[default] {
            th scope="row" { (depth.name()) @if default { " " span.tag.good { "default" } } }
            td.num { (usdc(depth.price())) }
            td.long { "It " (depth.reading(has_model).reads()) "." }
        }
    }
}

/// What a level gives, in a buyer's words.
pub fn in_words(level: Level, has_model: bool) -> String {
    match level {
        Level::Tier(tier) => how_fresh(tier),
        other => other.reads(has_model).unwrap_or_default(),
    }
}

/// The oldest copy that a tier delivers, in seconds.
fn age_seconds_max(tier: Tier) -> u64 {
    match tier.cache() {
        CachePolicy::CacheOnly { .. } => PAGE_SECONDS,
        CachePolicy::UpTo { age_seconds } => age_seconds,
        CachePolicy::Bypass => 0,
    }
}

/// How old the copy is that a tier delivers.
fn how_fresh(tier: Tier) -> String {
    let (hours, minutes) = (age_seconds_max(tier) / 3600, age_seconds_max(tier) / 60);
    match tier.cache() {
        CachePolicy::CacheOnly { sample: true } => {
            format!("Our sample page, or a cached copy up to {hours} hours old; never fetches")
        }
        CachePolicy::CacheOnly { sample: false } => {
            format!("A cached copy up to {hours} hours old; never fetches")
        }
        CachePolicy::UpTo { .. } => {
            format!("A copy up to {minutes} minutes old, otherwise fetched")
        }
        CachePolicy::Bypass => "Current page; always fetched, except our sample page".to_owned(),
    }
}

/// The reason to choose a tier.
fn choose_it(tier: Tier) -> String {
    let cheaper = Tier::ALL.into_iter().find(|other| {
        age_seconds_max(*other) <= age_seconds_max(tier) && other.price() < tier.price()
    });
    match (tier.cache(), cheaper) {
        (CachePolicy::CacheOnly { sample: true }, _) => {
            "Trying the service, and pages that rarely change; without a copy, nothing is charged"
                .to_owned()
        }
        (CachePolicy::CacheOnly { sample: false }, Some(cheaper)) => {
            format!(
                "Clients that are configured to use it; {} delivers the same copies for less",
                cheaper.name()
            )
        }
        (CachePolicy::CacheOnly { sample: false }, None) => "Pages that rarely change".to_owned(),
        (CachePolicy::UpTo { age_seconds }, Some(cheaper)) => format!(
            "Getting the same text again within {} minutes; for the current page, {} costs less",
            age_seconds / 60,
            cheaper.name()
        ),
        (CachePolicy::UpTo { .. }, None) => "Pages that change daily".to_owned(),
        (CachePolicy::Bypass, _) => "Prices, news, status pages, and citations".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_price_list_says_where_a_cheaper_tier_gives_as_much() {
        assert!(choose_it(Tier::Deep).contains("fresh costs less"));
        assert!(choose_it(Tier::Cached).contains("starter delivers the same"));
        assert_eq!(choose_it(Tier::Basic), "Pages that change daily");
        assert_eq!(
            how_fresh(Tier::Basic),
            "A copy up to 60 minutes old, otherwise fetched"
        );
    }

    #[test]
    fn tiers_stand_in_the_order_of_their_prices() {
        let table = tier_table().into_string();
        let places = ["starter", "cached", "basic", "fresh", "deep"]
            .map(|name| table.find(&format!(">{name}")).expect(name));
        assert!(places.is_sorted(), "{places:?}");
    }
}
