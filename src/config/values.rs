//! One setting as a validated value, or an error with the setting, its origin and the expected value.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::config::Resolved;
use crate::config::settings::{doc, environment_name, masked};
use crate::domain::amount::Amount;

/// Why a configuration cannot be used: every mistake, in a line each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError(pub(in crate::config) Vec<Mistake>);

/// One mistake, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::config) struct Mistake {
    /// The setting to change; empty if it is none.
    pub(in crate::config) key: String,
    pub(in crate::config) text: String,
}

impl ConfigError {
    /// A mistake that is not one setting's.
    pub fn new(text: impl Into<String>) -> Self {
        ConfigError::of("", text)
    }

    /// A mistake in one setting.
    pub fn of(key: impl Into<String>, text: impl Into<String>) -> Self {
        ConfigError(vec![Mistake {
            key: key.into(),
            text: text.into(),
        }])
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [one] = &*self.0 {
            return f.write_str(&one.text);
        }
        write!(f, "{} mistakes in the configuration:", self.0.len())?;
        let mut mistakes = self.0.iter();
        mistakes.try_for_each(|mistake| write!(f, "\n  {}", mistake.text))
    }
}

impl std::error::Error for ConfigError {}

/// A value that is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn new(text: impl Into<String>) -> Self {
        Secret(text.into())
    }

    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

pub(in crate::config) const QUOTA_EXPECTED: &str = "a whole number from 0 to 1000000";

pub(in crate::config) fn quota(text: &str) -> Option<u64> {
    text.parse().ok().filter(|count| *count <= 1_000_000)
}

pub(in crate::config) const LINES_EXPECTED: &str =
    "1 to 500 characters, with no control characters but line ends";

pub(in crate::config) fn lines(text: &str) -> Option<String> {
    let text = text.replace("\r\n", "\n");
    let is_plain = |c: char| c == '\n' || !c.is_control();
    let fits = (1..=500).contains(&text.chars().count());
    (fits && text.chars().all(is_plain)).then_some(text)
}

impl Resolved {
    pub(in crate::config) fn expected(&self, key: &str, expected: &str) -> ConfigError {
        let text = match self.get(key) {
            Some((value, _)) => format!(
                "{key} = \"{}\" is invalid: it must be {expected}",
                masked(key, value)
            ),
            None => format!("{key} is not set: it must be {expected}"),
        };
        ConfigError::of(key, text)
    }

    pub(in crate::config) fn text(&self, key: &str) -> Result<&str, ConfigError> {
        self.optional(key)
            .ok_or_else(|| ConfigError::of(key, format!("{key} is not set. {}", doc(key))))
    }

    pub(in crate::config) fn checked<T>(
        &self,
        key: &str,
        expected: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<T, ConfigError> {
        self.optional(key)
            .and_then(parse)
            .ok_or_else(|| self.expected(key, expected))
    }

    pub(in crate::config) fn parse<T: FromStr>(
        &self,
        key: &str,
        expected: &str,
    ) -> Result<T, ConfigError> {
        self.checked(key, expected, |text| text.parse().ok())
    }

    pub(in crate::config) fn count(&self, key: &str) -> Result<usize, ConfigError> {
        self.checked(key, "a whole number from 1 to 1000000", |text| {
            text.parse()
                .ok()
                .filter(|count| (1..=1_000_000).contains(count))
        })
    }

    /// A value in MiB, as bytes.
    pub(in crate::config) fn mebibytes(&self, key: &str) -> Result<u64, ConfigError> {
        self.checked(key, "a whole number of MiB from 0 to 1000000000", |text| {
            let mebibytes = text.parse::<u64>().ok();
            let fits = mebibytes.filter(|count| *count <= 1_000_000_000)?;
            Some(fits * 1024 * 1024)
        })
    }

    pub(in crate::config) fn quota(&self, key: &str) -> Result<u64, ConfigError> {
        self.checked(key, QUOTA_EXPECTED, quota)
    }

    /// An optional text for pages and e-mails.
    pub(in crate::config) fn lines_of(&self, key: &str) -> Result<Option<String>, ConfigError> {
        match self.optional(key) {
            None => Ok(None),
            Some(_) => self.checked(key, LINES_EXPECTED, lines).map(Some),
        }
    }

    pub(in crate::config) fn seconds(&self, key: &str) -> Result<Duration, ConfigError> {
        self.seconds_to(key, 86_400)
    }

    /// A time above 0 and at most so many seconds.
    pub(in crate::config) fn seconds_to(
        &self,
        key: &str,
        most: u32,
    ) -> Result<Duration, ConfigError> {
        let expected = format!("a number of seconds above 0 and up to {most}");
        self.checked(key, &expected, |text| {
            let seconds = text.parse().ok()?;
            (seconds > 0.0 && seconds <= f64::from(most)).then(|| Duration::from_secs_f64(seconds))
        })
    }

    /// An age in whole seconds: one at least, because a part of one is cut off.
    pub(in crate::config) fn age(&self, key: &str) -> Result<u64, ConfigError> {
        self.checked(key, "a number of seconds from 1 to 86400", |text| {
            let seconds: f64 = text.parse().ok()?;
            let is_age = (1.0..=86_400.0).contains(&seconds);
            is_age.then(|| Duration::from_secs_f64(seconds).as_secs())
        })
    }

    pub(in crate::config) fn usdc(&self, key: &str) -> Result<Amount, ConfigError> {
        self.checked(key, "an amount of USDC such as 0.001", Amount::parse_usdc)
    }

    pub(in crate::config) fn secret(&self, key: &str) -> Result<Secret, ConfigError> {
        match self.optional(key) {
            Some(text) if !text.is_empty() => Ok(Secret::new(text)),
            _ => Err(ConfigError::of(
                key,
                format!(
                    "{key} is required and not set: put it into the file credentials/{} beside the configuration \
                     (only root can read it: run this command as root), into the file that {key}_file names, or into the environment \
                     as {}",
                    key.replace('.', "/"),
                    environment_name(key)
                ),
            )),
        }
    }
}
