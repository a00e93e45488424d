//! Which page an item says that it is about: some sites describe other articles, too, and those may stand first.

use serde_json::{Map, Value};
use url::Url;

use super::several;

/// What an item says of its page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Unsaid,
    Here,
    Elsewhere,
}

impl Place {
    /// `here` holds the addresses of the page, as [`place_of`] gives them.
    pub(super) fn of(item: &Map<String, Value>, here: &[String]) -> Place {
        let addresses = ["url", "mainEntityOfPage"].iter().flat_map(|field| {
            several(item.get(*field)).filter_map(|value| match value {
                Value::Object(page) => page.get("@id").or_else(|| page.get("url"))?.as_str(),
                value => value.as_str(),
            })
        });
        let id = item.get("@id").and_then(Value::as_str);
        let is_here = |address: &str| place_of(address).is_some_and(|place| here.contains(&place));
        let mut place = Place::Unsaid;
        for address in addresses {
            match place_of(address) {
                Some(found) if here.contains(&found) => return Place::Here,
                // The address of the site says nothing of the page.
                Some(found) if found.contains('/') => place = Place::Elsewhere,
                _ => {}
            }
        }
        match id.is_some_and(is_here) {
            true => Place::Here,
            false => place,
        }
    }
}

/// Host and path: what else an address has tells pages apart on few sites.
pub(super) fn place_of(address: &str) -> Option<String> {
    let url = Url::parse(address.trim()).ok()?;
    let host = url.host_str()?;
    let host = host.strip_prefix("www.").unwrap_or(host);
    Some(format!("{host}{}", url.path().trim_end_matches('/')))
}
