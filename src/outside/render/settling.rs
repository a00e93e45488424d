//! When a page is finished: it is loaded, nothing is on its way, and its text stays the same. Pure: times are given as the
//! time since the page was asked for.

use std::collections::HashSet;
use std::time::Duration;

use crate::outside::render::job::Settled;

/// How long a page must be quiet and its text the same.
const QUIET: Duration = Duration::from_millis(500);
/// The same while there is so little text that more is likely.
const QUIET_THIN: Duration = Duration::from_millis(2_500);
/// Text that stays the same for so long is taken although something still loads.
const STABLE: Duration = Duration::from_millis(3_000);
/// Fewer characters are little.
const CHARACTERS_THIN: u64 = 300;
/// A change of less than a twentieth, such as a clock, is none.
const CHANGE_SHARE: u64 = 20;
/// What was measured longer ago says nothing about now: the page's scripts keep it busy.
const PROBE_AGE_MAX: Duration = Duration::from_millis(600);
/// Requests that are remembered as being on their way.
const IN_FLIGHT_MAX: usize = 1_000;

/// What is known of a page while it loads.
#[derive(Debug, Default)]
pub(super) struct Settling {
    is_loaded: bool,
    in_flight: HashSet<String>,
    quiet_since: Duration,
    text: Option<Text>,
}

#[derive(Debug)]
struct Text {
    characters: u64,
    changed_at: Duration,
    probed_at: Duration,
}

impl Settling {
    pub(super) fn loaded(&mut self, now: Duration) {
        self.is_loaded = true;
        self.quiet_since = self.quiet_since.max(now);
    }

    pub(super) fn is_loaded(&self) -> bool {
        self.is_loaded
    }

    /// A request has begun. Those that are open for as long as the page do not count.
    pub(super) fn began(&mut self, id: &str, kind: &str) {
        let is_endless = matches!(
            kind,
            "EventSource" | "WebSocket" | "Ping" | "Prefetch" | "Preflight"
        );
        if !is_endless && self.in_flight.len() < IN_FLIGHT_MAX {
            self.in_flight.insert(id.to_owned());
        }
    }

    pub(super) fn ended(&mut self, id: &str, now: Duration) {
        if self.in_flight.remove(id) && self.in_flight.is_empty() {
            self.quiet_since = now;
        }
    }

    /// The page's text was measured.
    pub(super) fn probed(&mut self, characters: u64, now: Duration) {
        let Some(text) = &mut self.text else {
            self.text = Some(Text {
                characters,
                changed_at: now,
                probed_at: now,
            });
            return;
        };
        let change = text.characters.abs_diff(characters);
        if change > 0 && change * CHANGE_SHARE >= text.characters.max(1) {
            text.changed_at = now;
        }
        text.characters = characters;
        text.probed_at = now;
    }

    /// Whether the page is finished.
    pub(super) fn verdict(&self, now: Duration) -> Option<Settled> {
        let text = self.text.as_ref().filter(|_| self.is_loaded)?;
        if now.saturating_sub(text.probed_at) > PROBE_AGE_MAX {
            return None;
        }
        let is_thin = text.characters < CHARACTERS_THIN;
        let wait = if is_thin { QUIET_THIN } else { QUIET };
        let still = now.saturating_sub(text.changed_at);
        let is_quiet = self.in_flight.is_empty() && now.saturating_sub(self.quiet_since) >= wait;
        if is_quiet && still >= wait {
            return Some(Settled::Quiet);
        }
        (!is_thin && still >= STABLE).then_some(Settled::Stable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    /// The first time at which a page is finished that is measured each 100 ms.
    fn finished(page: &mut Settling, characters: impl Fn(u64) -> u64) -> Option<(u64, Settled)> {
        (0..100).map(|step| step * 100).find_map(|at| {
            page.probed(characters(at), ms(at));
            Some((at, page.verdict(ms(at))?))
        })
    }

    #[test]
    fn a_quiet_page_is_taken_soon_and_a_thin_one_later() {
        let mut page = Settling::default();
        page.loaded(ms(0));
        assert_eq!(finished(&mut page, |_| 4_000), Some((500, Settled::Quiet)));
        let mut page = Settling::default();
        page.loaded(ms(0));
        assert_eq!(finished(&mut page, |_| 20), Some((2_500, Settled::Quiet)));
        // Text that comes after a second and a half is waited for.
        let mut page = Settling::default();
        page.loaded(ms(0));
        let late = finished(&mut page, |at| if at < 1_500 { 40 } else { 5_000 });
        assert_eq!(late, Some((2_000, Settled::Quiet)));
    }

    #[test]
    fn a_page_that_never_stops_loading_is_taken_when_its_text_is_stable() {
        let mut page = Settling::default();
        page.loaded(ms(0));
        page.began("1", "Fetch");
        assert_eq!(
            finished(&mut page, |_| 4_000),
            Some((3_000, Settled::Stable))
        );
        let mut page = Settling::default();
        page.loaded(ms(0));
        page.began("1", "EventSource");
        // A clock is no change.
        assert_eq!(
            finished(&mut page, |at| 4_000 + at % 300 / 100),
            Some((500, Settled::Quiet))
        );
    }

    #[test]
    fn what_is_not_loaded_or_does_not_answer_is_not_finished() {
        let mut page = Settling::default();
        assert_eq!(finished(&mut page, |_| 4_000), None);
        page.loaded(ms(0));
        page.probed(4_000, ms(0));
        assert_eq!(page.verdict(ms(5_000)), None);
        page.began("1", "Fetch");
        page.probed(4_000, ms(5_000));
        page.ended("1", ms(5_000));
        page.ended("2", ms(5_100));
        assert_eq!(page.verdict(ms(5_400)), Some(Settled::Stable));
        page.probed(9_000, ms(5_400));
        assert_eq!(page.verdict(ms(5_400)), None);
    }
}
