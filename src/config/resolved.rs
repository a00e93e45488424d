//! The settings with their values and where each value came from. [`sources`] reads them.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::config::settings::{Kind, SETTINGS, find, masked};
use crate::config::sources::{self, Origin, Source, Surroundings, Text};
use crate::config::values::{ConfigError, Mistake};

/// The default configuration file.
const INSTALLED: &str = "/etc/context402/config.toml";

/// The settings that begin so have no effect unless one of these is set.
const NEEDED: [(&str, &[&str]); 5] = [
    ("chain.", &["chain.rpc_url"]),
    ("llm.", &["llm.base_url"]),
    ("mail.", &["mail.smtp_host", "mail.folder"]),
    ("render.", &["render.browser"]),
    ("signing.former_keys", &["signing.key"]),
];

/// All settings with a value, and their origins.
#[derive(Clone, Default)]
pub struct Resolved {
    values: BTreeMap<&'static str, (Text, Origin)>,
    /// The configuration file, or where it was looked for.
    sought: Sought,
    /// What is wrong already without looking at the values' meaning.
    mistakes: Vec<Mistake>,
    /// What was found beside the settings and has no effect.
    warnings: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Sought {
    /// For commands that bring their own settings.
    #[default]
    Nowhere,
    At(PathBuf),
    /// Why there is none.
    Missing(&'static str),
}

impl Resolved {
    pub fn from_surroundings(file: Option<&Path>) -> Result<Self, ConfigError> {
        let environment = |name: &str| std::env::var(name).ok();
        let credentials = std::env::var_os("CREDENTIALS_DIRECTORY").map(PathBuf::from);
        let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
        let sought = match file {
            Some(file) => Sought::At(file.to_owned()),
            None => installed_file(environment("CONTEXT402_CONFIG")),
        };
        Resolved::read_from(
            sought,
            &Surroundings {
                environment: &environment,
                variables: names.collect(),
                credentials,
            },
        )
    }

    #[cfg(test)]
    pub(in crate::config) fn read(
        file: Option<&Path>,
        around: &Surroundings<'_>,
    ) -> Result<Self, ConfigError> {
        let sought = file.map_or(Sought::Nowhere, |file| Sought::At(file.to_owned()));
        Resolved::read_from(sought, around)
    }

    /// Mistakes in single settings are kept, so that all of them are told at once.
    fn read_from(sought: Sought, around: &Surroundings<'_>) -> Result<Self, ConfigError> {
        let source = match &sought {
            Sought::At(path) => Some(Source::read(path)?),
            Sought::Nowhere | Sought::Missing(_) => None,
        };
        let mut mistakes = source.as_ref().map_or_else(Vec::new, Source::unknown);
        let (of_variables, mut warnings) = sources::unknown_variables(&around.variables);
        mistakes.extend(of_variables);
        let file = match &sought {
            Sought::At(path) => Some(&**path),
            Sought::Nowhere | Sought::Missing(_) => None,
        };
        warnings.extend(sources::unknown_credentials(file, around));
        let mut resolved = Resolved {
            values: BTreeMap::new(),
            sought,
            mistakes,
            warnings,
        };
        for setting in SETTINGS {
            match sources::look_up(setting, source.as_ref(), around) {
                Ok(None) => {}
                Ok(Some(value)) => drop(resolved.values.insert(setting.key, value)),
                Err(error) => {
                    let mistakes = error.0.into_iter();
                    let line = |key: &str| source.as_ref()?.line(key);
                    resolved.mistakes.extend(mistakes.map(|mistake| Mistake {
                        text: match line(&mistake.key) {
                            Some(place) => format!("{place}: {}", mistake.text),
                            None => mistake.text,
                        },
                        key: setting.key.to_owned(),
                    }));
                    // What it would have been must not be missed as well.
                    resolved.put_placeholder(setting.key);
                }
            }
        }
        Ok(resolved)
    }

    /// Only the defaults, for commands that bring their own settings.
    pub fn defaults() -> Self {
        let values = SETTINGS.iter().filter_map(|setting| {
            let default = setting.default?;
            Some((
                setting.key,
                (Text::One(default.to_owned()), Origin::Default),
            ))
        });
        Resolved {
            values: values.collect(),
            ..Resolved::default()
        }
    }

    /// What an operator should know about a configuration that can be used.
    pub(in crate::config) fn warnings(&self) -> Vec<String> {
        let mut warnings = self.warnings.clone();
        for (prefix, needed) in NEEDED {
            if needed.iter().any(|key| self.values.contains_key(key)) {
                continue;
            }
            let without = needed.join(" or ");
            let idle = self
                .values
                .iter()
                .filter(|(key, _)| key.starts_with(prefix));
            let idle = idle.filter(|(key, (text, origin))| {
                let default = find(key).and_then(|setting| setting.default);
                *origin != Origin::Default && default != Some(&*text.to_string())
            });
            warnings.extend(idle.map(|(key, (_, origin))| {
                format!("{origin}: {key} has no effect without {without}")
            }));
        }
        warnings
    }

    /// What was wrong when it was read.
    pub(in crate::config) fn mistakes(&self) -> &[Mistake] {
        &self.mistakes
    }

    /// A mistake with where its setting stands.
    pub(in crate::config) fn placed(&self, mistake: &Mistake) -> Mistake {
        let origin = self.values.get(&*mistake.key).map(|(_, origin)| origin);
        let place = match (origin, &self.sought) {
            (Some(Origin::Default) | None, Sought::At(path)) => path.display().to_string(),
            (Some(Origin::Default) | None, _) => return mistake.clone(),
            (Some(origin), _) => origin.to_string(),
        };
        Mistake {
            key: mistake.key.clone(),
            text: format!("{place}: {}", mistake.text),
        }
    }

    /// Puts a good value in place of a wrong one, so that further mistakes are found. False if it was done before.
    pub(in crate::config) fn put_placeholder(&mut self, key: &str) -> bool {
        let Some(setting) = find(key) else {
            return false;
        };
        if matches!(self.values.get(key), Some((_, Origin::Placeholder))) {
            return false;
        }
        let is_local = |text: &str| text.contains("127.0.0.1") || text.contains("localhost");
        let text = match (setting.kind, placeholder(key)) {
            (_, Some(_)) if key == "base_url" && self.optional(key).is_some_and(is_local) => {
                Text::One("http://127.0.0.1:4020".to_owned())
            }
            (_, Some(text)) => Text::One(text.to_owned()),
            (Kind::List, None) => Text::Many(Vec::new()),
            (Kind::Map, None) => Text::Pairs(Vec::new()),
            (_, None) => match setting.default {
                Some(default) => Text::One(default.to_owned()),
                None => Text::One(setting.example.to_owned()),
            },
        };
        self.values.insert(setting.key, (text, Origin::Placeholder));
        true
    }

    /// Forgets a value.
    pub(in crate::config) fn forget(&mut self, key: &str) -> bool {
        self.values.remove(key).is_some()
    }

    /// What to tell where there is no configuration at all; `None` where there is some of it.
    pub(in crate::config) fn no_configuration(&self) -> Option<ConfigError> {
        let Sought::Missing(why) = self.sought else {
            return None;
        };
        let is_own = |(_, origin): &(Text, Origin)| *origin != Origin::Default;
        let message = format!(
            "no configuration found: no --config was given, {why}. To sell, run `sudo context402 setup`; to write a file with every setting, run `context402 config init context402.toml`"
        );
        (!self.values.values().any(is_own)).then(|| ConfigError::new(message))
    }

    /// Sets a value if no source has one.
    pub fn set_default(&mut self, key: &'static str, value: &str) {
        self.values
            .entry(key)
            .or_insert_with(|| (Text::One(value.to_owned()), Origin::Default));
    }

    /// Overrides a value, for commands that bring their own settings.
    pub fn set(&mut self, key: &'static str, value: impl Into<String>) {
        self.values
            .insert(key, (Text::One(value.into()), Origin::Argument));
    }

    pub fn set_list(&mut self, key: &'static str, texts: Vec<String>) {
        self.values
            .insert(key, (Text::Many(texts), Origin::Argument));
    }

    pub fn set_map(&mut self, key: &'static str, pairs: Vec<(String, String)>) {
        self.values
            .insert(key, (Text::Pairs(pairs), Origin::Argument));
    }

    pub(in crate::config) fn get(&self, key: &str) -> Option<(&str, &Origin)> {
        match self.values.get(key) {
            Some((Text::One(text), origin)) => Some((text, origin)),
            _ => None,
        }
    }

    pub(in crate::config) fn optional(&self, key: &str) -> Option<&str> {
        self.get(key).map(|(text, _)| text)
    }

    pub(in crate::config) fn list(&self, key: &str) -> Vec<String> {
        match self.values.get(key) {
            Some((Text::Many(texts), _)) => texts.clone(),
            _ => Vec::new(),
        }
    }

    pub(in crate::config) fn map(&self, key: &str) -> Vec<(String, String)> {
        match self.values.get(key) {
            Some((Text::Pairs(pairs), _)) => pairs.clone(),
            _ => Vec::new(),
        }
    }

    /// All settings in the table's order: key, value for display, origin. Secrets show as `***`.
    pub fn lines(&self) -> Vec<(&'static str, String, String)> {
        SETTINGS
            .iter()
            .map(|setting| match self.values.get(setting.key) {
                None => (setting.key, "(not set)".to_owned(), String::new()),
                Some((text, origin)) => (
                    setting.key,
                    masked(setting.key, &text.to_string()),
                    origin.to_string(),
                ),
            })
            .collect()
    }
}

/// The default configuration file. An empty variable means none.
fn installed_file(named: Option<String>) -> Sought {
    match named {
        Some(named) if named.is_empty() => Sought::Missing(
            "$CONTEXT402_CONFIG is empty, so that /etc/context402/config.toml is not read",
        ),
        Some(named) => Sought::At(PathBuf::from(named)),
        None if Path::new(INSTALLED).exists() => Sought::At(PathBuf::from(INSTALLED)),
        None => Sought::Missing(
            "$CONTEXT402_CONFIG is not set, and /etc/context402/config.toml does not exist",
        ),
    }
}

/// A good value for a setting that has neither a default nor a good example.
fn placeholder(key: &str) -> Option<&'static str> {
    Some(match key {
        "base_url" => "https://placeholder.example.com",
        "payment.pay_to" => "0x4020402040204020402040204020402040204020",
        "payment.facilitator_url" => "https://placeholder.example.com",
        "signing.key" | "operator.token" => {
            "4020402040204020402040204020402040204020402040204020402040204020"
        }
        "bundles.webhook_secrets" => "whsec_4020402040204020402040204020402040204020",
        _ if find(key)?.kind == Kind::Secret => "placeholder",
        _ => return None,
    })
}

/// For display: without secrets.
impl fmt::Debug for Resolved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.lines()).finish()
    }
}
