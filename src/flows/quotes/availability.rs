//! Whether buyers can buy now, for /health, the metrics, systemd, the console and `context402 healthcheck`. It uses the
//! results of the background probes and calls nobody.

use crate::app::Shared;
use crate::domain::level::{Level, Product};
use crate::flows::sale::margin_guard::{self, Unsold, Work};

/// Why something is unavailable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    Stopping,
    Paused,
    DatabaseDown,
    DiskLow,
    FacilitatorDown,
    GasUnknown,
    Margin,
    ReportsFull,
}

/// What is available by x402.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Availability {
    /// The unavailable tiers and packs, each with the first reason.
    pub unavailable: Vec<(Level, Obstacle)>,
}

impl Obstacle {
    /// The code for programs.
    pub fn code(self) -> &'static str {
        match self {
            Obstacle::Stopping => "stopping",
            Obstacle::Paused => "paused",
            Obstacle::DatabaseDown => "database_down",
            Obstacle::DiskLow => "disk_low",
            Obstacle::FacilitatorDown => "facilitator_down",
            Obstacle::GasUnknown => "gas_unknown",
            Obstacle::Margin => "margin",
            Obstacle::ReportsFull => "reports_full",
        }
    }

    /// The text for people.
    pub fn text(self) -> &'static str {
        match self {
            Obstacle::Stopping => "the service is stopping",
            Obstacle::Paused => "the operator has paused sales",
            Obstacle::DatabaseDown => "the data file does not respond",
            Obstacle::DiskLow => "the disk is nearly full",
            Obstacle::FacilitatorDown => {
                "the facilitator does not respond, or does not support the network"
            }
            Obstacle::GasUnknown => "the gas price is unknown or outdated",
            Obstacle::Margin => "the price would not cover the costs",
            Obstacle::ReportsFull => "the report storage is full",
        }
    }
}

impl Availability {
    /// Whether anything is available.
    pub fn is_open(&self) -> bool {
        self.unavailable.len() < Level::ALL.len()
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
        if self.is_complete() {
            return "All tiers and packs are available.".to_owned();
        }
        let reasons: Vec<String> = self
            .obstacles()
            .into_iter()
            .map(|obstacle| match self.is_open() {
                true => format!("{} ({})", obstacle.text(), self.refused_for(obstacle)),
                false => obstacle.text().to_owned(),
            })
            .collect();
        let reasons = reasons.join("; ");
        match self.is_open() {
            true => format!("Some tiers or packs are unavailable: {reasons}."),
            false => format!("Not accepting payments: {reasons}."),
        }
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

/// The current availability. A level that covers its costs only for cached pages counts as unavailable; a facilitator that
/// has not been checked yet counts as available.
pub fn now(app: &Shared) -> Availability {
    let all = of_everything(app);
    let unavailable = Level::ALL.into_iter().filter_map(|level| {
        let obstacle = all.or_else(|| of_level(app, level));
        obstacle.map(|obstacle| (level, obstacle))
    });
    Availability {
        unavailable: unavailable.collect(),
    }
}

/// What stops every sale.
fn of_everything(app: &Shared) -> Option<Obstacle> {
    let health = &app.health;
    let facilitator = health.facilitator();
    let stands = [
        (
            Obstacle::Stopping,
            health.is_stopping() || app.tasks.is_closed(),
        ),
        (Obstacle::DatabaseDown, health.store_down()),
        (Obstacle::DiskLow, health.disk_low()),
        (Obstacle::Paused, health.paused_since().is_some()),
        (
            Obstacle::FacilitatorDown,
            facilitator.is_some_and(|found| found.trouble.is_some()),
        ),
    ];
    let mut found = stands.into_iter().filter(|(_, stands)| *stands);
    found.next().map(|(obstacle, _)| obstacle)
}

fn of_level(app: &Shared, level: Level) -> Option<Obstacle> {
    let work = Work {
        fetches: level.cache().may_fetch(),
        asks_model: level.may_synthesize(),
        settles: true,
    };
    match margin_guard::judge(app, level.price(), work) {
        Err(Unsold::GasUnknown) => Some(Obstacle::GasUnknown),
        Err(Unsold::TooThin(_)) => Some(Obstacle::Margin),
        Ok(_) if level.product() == Product::ProofPack && app.health.reports_full() => {
            Some(Obstacle::ReportsFull)
        }
        Ok(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::pack::Pack;
    use crate::domain::tier::Tier;

    #[test]
    fn what_can_be_bought_is_one_sentence() {
        let said = |unavailable: Vec<(Level, Obstacle)>| Availability { unavailable }.sentence();
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
            "Not accepting payments: the disk is nearly full."
        );
    }
}
