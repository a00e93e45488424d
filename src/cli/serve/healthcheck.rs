//! `context402 healthcheck`: the running service's health as a line and an exit code.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::cli::list::Format;
use crate::cli::{ConfigFile, Failure, failed, say, socket};
use crate::config::Config;
use crate::domain::availability::{NotSelling, Obstacle};
use crate::domain::time::UnixSeconds;

const PAUSE: Duration = Duration::from_millis(200);

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    #[command(flatten)]
    file: ConfigFile,
    /// Seconds to wait for a starting service
    #[arg(long, value_name = "SECONDS", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=86_400))]
    wait: u64,
    /// Also fail if sales work but anything else is wrong
    #[arg(long)]
    strict: bool,
    /// Succeed if the service responds, even if it accepts no payments
    #[arg(long, conflicts_with = "strict")]
    running: bool,
    #[command(flatten)]
    format: Format,
}

impl Args {
    pub(in crate::cli) fn run(self) -> Result<(), Failure> {
        let config = self.file.load()?;
        let end = Instant::now() + Duration::from_secs(self.wait);
        let health = loop {
            let is_last = Instant::now() >= end;
            match ask(&config) {
                Ok(health) if is_last || self.running || !is_starting(&health) => break health,
                Err(failure) if is_last => return Err(failure),
                _ => std::thread::sleep(PAUSE),
            }
        };
        let is_down = !matches!(health["status"].as_str(), Some("ok" | "degraded"));
        let fails = is_down || self.strict || (!self.running && !is_open(&health));
        // The public answer leaves out details; the operator's socket gives them.
        let detailed = socket::connect(&config.socket)
            .filter(|_| !is_open(&health))
            .and_then(|stream| socket::get(stream, "/health").ok());
        let health = detailed.unwrap_or(health);
        if self.format.json {
            say(serde_json::to_string_pretty(&health)?)?;
        }
        match line(&health) {
            Ok(_) if self.format.json => Ok(()),
            Ok(line) => Ok(say(line)?),
            Err(line) if fails => Err(Failure::Failed(line)),
            Err(line) => Ok(say(line)?),
        }
    }
}

/// Over the public port; if that is not known or speaks HTTPS, over the operator's socket.
fn ask(config: &Config) -> Result<Value, Failure> {
    if config.listen.port() != 0 && config.tls.is_none() {
        return socket::health_at(config.listen);
    }
    match socket::connect(&config.socket) {
        Some(stream) => socket::get(stream, "/health"),
        None => Err(failed(format_args!(
            "no service responds at {}",
            config.socket.display()
        ))),
    }
}

/// Whether the service accepts payments.
fn is_open(health: &Value) -> bool {
    health["paid_enabled"].as_bool() == Some(true)
}

/// Whether it is not known yet if the service can sell.
fn is_starting(health: &Value) -> bool {
    obstacles(health).contains(&Obstacle::FacilitatorUnchecked)
}

fn obstacles(health: &Value) -> Vec<Obstacle> {
    let obstacles = health["sales"]["obstacles"].as_array();
    let codes = obstacles.into_iter().flatten();
    codes
        .filter_map(|one| Obstacle::parse(one["code"].as_str()?))
        .collect()
}

/// Why nothing can be bought. Older services do not say since when.
fn not_selling(health: &Value) -> Option<NotSelling> {
    let obstacles = obstacles(health);
    let since = UnixSeconds(health["sales"]["since"].as_u64()?);
    (!is_open(health) && !obstacles.is_empty()).then_some(NotSelling { obstacles, since })
}

/// The result of /health in a line; an error if something is wrong.
pub(in crate::cli) fn line(health: &Value) -> Result<String, String> {
    let checks = health["checks"].as_object();
    let troubles = checks.into_iter().flatten().filter_map(|(name, check)| {
        let status = check["status"].as_str()?;
        let is_fine = matches!(status, "ok" | "not_configured" | "unknown");
        (!is_fine).then(|| match check["trouble"].as_str() {
            Some(trouble) => format!("{name} {status}: {trouble}"),
            None => format!("{name} {status}"),
        })
    });
    let troubles: Vec<String> = troubles.collect();
    // Older services report only whether they sell.
    let sales = health["sales"]["summary"].as_str();
    let sales = sales.unwrap_or(match is_open(health) {
        true => "It accepts payments.",
        false => "It accepts no payments.",
    });
    match health["status"].as_str() {
        Some("ok") => Ok(format!("running, accepting payments. {sales}")),
        word => {
            let mut line = format!("{}. {sales}", word.unwrap_or("an unreadable response"));
            if !troubles.is_empty() {
                line = format!("{line} Checks: {}.", troubles.join("; "));
            }
            if let Some(reason) = not_selling(health) {
                line = format!("{line} {}", reason.advice());
            }
            Err(line)
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::cli::serve::healthcheck::*;

    #[test]
    fn a_service_in_trouble_names_it() {
        let health = |status: &str, facilitator: &str| {
            json!({"status": status, "paid_enabled": true, "sales": {"summary": "Nothing is amiss."}, "checks": {
                "facilitator": {"status": facilitator, "trouble": "it sleeps"},
                "gas_oracle": {"status": "not_configured"},
            }})
        };
        assert_eq!(
            line(&health("ok", "ok")),
            Ok("running, accepting payments. Nothing is amiss.".to_owned())
        );
        assert_eq!(
            line(&health("degraded", "down")),
            Err("degraded. Nothing is amiss. Checks: facilitator down: it sleeps.".to_owned())
        );
        let mut closed = health("degraded", "down");
        closed["paid_enabled"] = false.into();
        closed["sales"] = json!({"summary": "Not accepting payments.", "since": 1, "obstacles": [{"code": "paused"}]});
        let Err(told) = line(&closed) else {
            panic!("it does not sell")
        };
        assert!(
            told.ends_with("To sell again: resume with `context402 resume`."),
            "{told}"
        );
        assert_eq!(
            line(&Value::Null),
            Err("an unreadable response. It accepts no payments.".to_owned())
        );
    }
}
