//! `context402 healthcheck`: one question to the running service, and an exit code for whoever watches it.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::cli::{ConfigFile, Failure, config_failure, failed, say, socket};
use crate::config::Config;

const PAUSE: Duration = Duration::from_millis(200);

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    #[command(flatten)]
    file: ConfigFile,
    /// Seconds in which a service that is starting may begin to answer
    #[arg(long, value_name = "SECONDS", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=86_400))]
    wait: u64,
    /// Fail also when it answers and something around it is wrong
    #[arg(long)]
    strict: bool,
}

impl Args {
    pub(in crate::cli) fn run(self) -> Result<(), Failure> {
        let config =
            Config::load(self.file.config.as_deref()).map_err(|error| config_failure(&error))?;
        let end = Instant::now() + Duration::from_secs(self.wait);
        let health = loop {
            match ask(&config) {
                Ok(health) => break health,
                Err(failure) if Instant::now() >= end => return Err(failure),
                Err(_) => std::thread::sleep(PAUSE),
            }
        };
        let is_down = !matches!(health["status"].as_str(), Some("ok" | "degraded"));
        match line(&health) {
            Ok(line) => Ok(say(line)?),
            Err(line) if is_down || self.strict => Err(Failure::Failed(line)),
            Err(line) => Ok(say(line)?),
        }
    }
}

/// By the port that the public reaches; where it is not known beforehand, by the operator's socket.
fn ask(config: &Config) -> Result<Value, Failure> {
    if config.listen.port() != 0 {
        return socket::health_at(config.listen);
    }
    match socket::connect(&config.socket) {
        Some(stream) => socket::get(stream, "/health"),
        None => Err(failed(format_args!(
            "no service answers at {}",
            config.socket.display()
        ))),
    }
}

/// What /health says, in a line; an error when something is wrong.
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
    let sells = match health["paid_enabled"].as_bool() {
        Some(true) => "it sells",
        _ => "it does not sell",
    };
    match health["status"].as_str() {
        Some("ok") => Ok(format!("it runs, {sells}")),
        word => {
            let mut line = format!("it is {}, {sells}", word.unwrap_or("silent"));
            if !troubles.is_empty() {
                line = format!("{line}: {}", troubles.join("; "));
            }
            Err(line)
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_service_in_trouble_names_it() {
        let health = |status: &str, facilitator: &str| {
            json!({"status": status, "paid_enabled": true, "checks": {
                "facilitator": {"status": facilitator, "trouble": "it sleeps"},
                "gas_oracle": {"status": "not_configured"},
            }})
        };
        assert_eq!(
            line(&health("ok", "ok")),
            Ok("it runs, it sells".to_owned())
        );
        assert_eq!(
            line(&health("degraded", "down")),
            Err("it is degraded, it sells: facilitator down: it sleeps".to_owned())
        );
        assert_eq!(
            line(&Value::Null),
            Err("it is silent, it does not sell".to_owned())
        );
    }
}
