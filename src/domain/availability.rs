//! Whether buyers can buy: what stands in the way, since when, and what the operator can do about it.

use std::fmt;

use crate::domain::closed_set::closed_set;
use crate::domain::level::{Level, Product};
use crate::domain::time::{UnixSeconds, minute};

closed_set! {
    /// Why something cannot be sold, by its code for programs.
    pub enum Obstacle {
        Stopping = "stopping",
        DatabaseDown = "database_down",
        DiskLow = "disk_low",
        Paused = "paused",
        FacilitatorUnchecked = "facilitator_unchecked",
        FacilitatorDown = "facilitator_down",
        UnsettledFull = "unsettled_full",
        GasUnknown = "gas_unknown",
        Margin = "margin",
        ReportsFull = "reports_full",
    }
}

/// What is available by x402.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Availability {
    /// The unavailable tiers and packs, each with the first reason.
    pub unavailable: Vec<(Level, Obstacle)>,
    /// Since when nothing can be bought; unused while anything can.
    pub since: UnixSeconds,
}

/// Nothing can be bought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotSelling {
    /// Never empty.
    pub obstacles: Vec<Obstacle>,
    pub since: UnixSeconds,
}

impl Obstacle {
    /// The text for people.
    pub fn text(self) -> &'static str {
        match self {
            Obstacle::Stopping => "the service is stopping",
            Obstacle::DatabaseDown => "the data file does not respond",
            Obstacle::DiskLow => "the disk is nearly full",
            Obstacle::Paused => "the operator has paused sales",
            Obstacle::FacilitatorUnchecked => "the facilitator has not responded yet",
            Obstacle::FacilitatorDown => "the facilitator does not verify payments on this network",
            Obstacle::UnsettledFull => "too many settlements have no outcome yet",
            Obstacle::GasUnknown => "the gas price is unknown or outdated",
            Obstacle::Margin => "the price would not cover the costs",
            Obstacle::ReportsFull => "the report storage is full",
        }
    }

    /// What the operator can do.
    pub fn fix(self) -> &'static str {
        match self {
            Obstacle::Stopping => "start it again with `systemctl start context402`",
            Obstacle::DatabaseDown => {
                "see `journalctl -u context402`; if the disk is broken, restore a backup with `context402 restore`"
            }
            Obstacle::DiskLow => {
                "free space on the data file's disk; sales resume above limits.free_disk_mib_min"
            }
            Obstacle::Paused => "resume with `context402 resume`",
            Obstacle::FacilitatorUnchecked => {
                "wait a few seconds; if it stays, run `context402 doctor`"
            }
            Obstacle::FacilitatorDown => {
                "run `context402 doctor`; check payment.facilitator_url, payment.facilitator_auth and payment.network, \
                 or wait until the facilitator is back"
            }
            Obstacle::UnsettledFull => {
                "run `context402 payments reconcile`, or raise limits.unsettled_mib"
            }
            Obstacle::GasUnknown => "run `context402 doctor`; check chain.rpc_url",
            Obstacle::Margin => {
                "lower guard.minimum_profit_usdc, or the costs under [guard] if they are overstated"
            }
            Obstacle::ReportsFull => {
                "raise limits.report_store_mib, or delete reports with `context402 reports delete`"
            }
        }
    }
}

impl Availability {
    /// Why nothing is available; `None` while anything is. What says whether we sell asks this.
    pub fn not_selling(&self) -> Option<NotSelling> {
        (self.unavailable.len() >= Level::ALL.len()).then(|| NotSelling {
            obstacles: self.obstacles(),
            since: self.since,
        })
    }

    /// Whether anything is available.
    pub fn is_open(&self) -> bool {
        self.not_selling().is_none()
    }

    /// Whether everything is available.
    pub fn is_complete(&self) -> bool {
        self.unavailable.is_empty()
    }

    /// The reasons, each once.
    pub fn obstacles(&self) -> Vec<Obstacle> {
        let mut obstacles = Vec::new();
        for (_, obstacle) in &self.unavailable {
            if !obstacles.contains(obstacle) {
                obstacles.push(*obstacle);
            }
        }
        obstacles
    }

    /// The availability in a sentence.
    pub fn sentence(&self) -> String {
        if let Some(reason) = self.not_selling() {
            return reason.to_string();
        }
        if self.is_complete() {
            return "All tiers and packs are available.".to_owned();
        }
        let reasons = self.obstacles().into_iter();
        let reasons =
            reasons.map(|obstacle| format!("{} ({})", obstacle.text(), self.refused_for(obstacle)));
        let reasons: Vec<String> = reasons.collect();
        format!(
            "Some tiers or packs are unavailable: {}.",
            reasons.join("; ")
        )
    }

    /// As in `tiers starter, cached; packs quick`.
    fn refused_for(&self, obstacle: Obstacle) -> String {
        let of = |product: Product| {
            let levels = self.unavailable.iter();
            let names: Vec<&str> = levels
                .filter(|(level, reason)| *reason == obstacle && level.product() == product)
                .map(|(level, _)| level.name())
                .collect();
            let word = product.level_word();
            (!names.is_empty()).then(|| format!("{word}s {}", names.join(", ")))
        };
        let parts: Vec<String> = Product::ALL.into_iter().filter_map(of).collect();
        parts.join("; ")
    }
}

impl NotSelling {
    /// What the operator can do, a sentence.
    pub fn advice(&self) -> String {
        let fixes: Vec<&str> = self.obstacles.iter().map(|one| one.fix()).collect();
        format!("To sell again: {}.", fixes.join("; "))
    }
}

impl fmt::Display for NotSelling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<&str> = self.obstacles.iter().map(|one| one.text()).collect();
        let since = minute(self.since);
        write!(
            f,
            "Not accepting payments since {since}: {}.",
            texts.join("; ")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::pack::Pack;
    use crate::domain::tier::Tier;

    #[test]
    fn what_can_be_bought_is_one_sentence() {
        let said = |unavailable: Vec<(Level, Obstacle)>| {
            let since = UnixSeconds(1_780_000_000);
            Availability { unavailable, since }.sentence()
        };
        assert_eq!(said(vec![]), "All tiers and packs are available.");
        let packs = Pack::ALL.map(|pack| (Level::Pack(pack), Obstacle::ReportsFull));
        let starter = (Level::Tier(Tier::Starter), Obstacle::Margin);
        let some: Vec<_> = [starter].into_iter().chain(packs).collect();
        assert_eq!(
            said(some),
            "Some tiers or packs are unavailable: the price would not cover the costs (tiers starter); the \
             report storage is full (packs quick, standard, deep)."
        );
        let none = Level::ALL.map(|level| (level, Obstacle::DiskLow)).to_vec();
        assert_eq!(
            said(none),
            "Not accepting payments since 2026-05-28 20:26 UTC: the disk is nearly full."
        );
        // Every way not to sell says what to do.
        for obstacle in Obstacle::ALL {
            let reason = NotSelling {
                obstacles: vec![*obstacle],
                since: UnixSeconds(1_780_000_000),
            };
            assert!(reason.advice().len() > 30, "{obstacle}");
        }
    }
}
