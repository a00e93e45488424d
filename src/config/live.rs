//! The settings that change while the service runs: when the configuration is reloaded, and from the console.

use crate::config::{Config, ConfigError, web};

/// The settings that change without a restart.
pub const LIVE: [&str; 4] = [
    "fetch.blocklist",
    "bundles.scout_link",
    "bundles.builder_link",
    "bundles.audit_link",
];

/// Where a value of the console comes from, as the list of settings says it.
pub const CONSOLE: &str = "the console";

impl Config {
    /// The same configuration with another value of a live setting: hosts with white space or commas between them, or one
    /// address, or nothing.
    ///
    /// # Errors
    /// What is wrong with the value, or that the setting needs a restart.
    pub fn with_live(mut self, key: &str, text: &str) -> Result<Config, ConfigError> {
        let shown = match key {
            "fetch.blocklist" => {
                let hosts = text.split(|c: char| c.is_whitespace() || c == ',');
                let hosts: Vec<_> = hosts.filter(|host| !host.is_empty()).collect();
                self.fetch.blocklist = web::blocklist(hosts)?;
                self.fetch.blocklist.join(", ")
            }
            _ if LIVE.contains(&key) => self.bundles.links.set(key, text.trim())?,
            _ => {
                return Err(ConfigError::new(format!("{key} needs a restart")));
            }
        };
        let line = self.lines.iter_mut().find(|(known, ..)| *known == key);
        if let Some((_, value, origin)) = line {
            *value = if shown.is_empty() {
                "(not set)".to_owned()
            } else {
                shown
            };
            CONSOLE.clone_into(origin);
        }
        Ok(self)
    }

    /// How a setting is shown: value and origin.
    pub fn line(&self, key: &str) -> Option<(&str, &str)> {
        let mut lines = self.lines.iter();
        let line = lines.find(|(known, ..)| *known == key);
        line.map(|(_, value, origin)| (value.as_str(), origin.as_str()))
    }
}
