//! Sources of values: the file, the environment, credentials (systemd's or the folder beside the configuration), files named
//! by `*_file` keys, defaults.

use std::collections::BTreeMap;
use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use crate::config::file;
use crate::config::settings::{
    Kind, SETTINGS, Setting, credential_name, environment_name, find, masked,
};
use crate::config::suggest;
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

/// Beside the configuration file: `credentials/SECTION/KEY`, as used by the units.
const CREDENTIALS: &str = "credentials";

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

#[derive(Clone, Debug, PartialEq, Eq)]
enum Text {
    One(String),
    Many(Vec<String>),
    Pairs(Vec<(String, String)>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    Default,
    /// With the line.
    File(PathBuf, Option<usize>),
    Environment(String),
    Credential(String),
    /// Given on the command line.
    Argument,
    /// In place of a wrong value, only to find further mistakes.
    Placeholder,
}

/// The process environment as a value, for tests.
pub(in crate::config) struct Surroundings<'a> {
    pub(in crate::config) environment: &'a dyn Fn(&str) -> Option<String>,
    /// The names of all variables.
    pub(in crate::config) variables: Vec<String>,
    pub(in crate::config) credentials: Option<PathBuf>,
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
        let (of_variables, warnings) = unknown_variables(&around.variables);
        mistakes.extend(of_variables);
        let mut resolved = Resolved {
            values: BTreeMap::new(),
            sought,
            mistakes,
            warnings,
        };
        for setting in SETTINGS {
            match resolved.look_up(setting, source.as_ref(), around) {
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

    fn look_up(
        &self,
        setting: &Setting,
        source: Option<&Source>,
        around: &Surroundings<'_>,
    ) -> Result<Option<(Text, Origin)>, ConfigError> {
        if setting.kind == Kind::Secret {
            return secret(setting, source, around);
        }
        let name = environment_name(setting.key);
        if let Some(text) = (around.environment)(&name) {
            return Ok(Some((
                from_environment(setting, text)?,
                Origin::Environment(name),
            )));
        }
        if let Some(source) = source
            && let Some(value) = in_table(&source.table, setting.key)
        {
            let line = file::line_of(&source.text, setting.key);
            return Ok(Some((
                from_toml(setting, value)?,
                Origin::File(source.path.clone(), line),
            )));
        }
        Ok(setting
            .default
            .map(|default| (Text::One(default.to_owned()), Origin::Default)))
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

/// The configuration file as it was read.
struct Source {
    path: PathBuf,
    text: String,
    table: Table,
}

impl Source {
    fn read(path: &Path) -> Result<Source, ConfigError> {
        let shown = path.display();
        let text = std::fs::read_to_string(path).map_err(|error| {
            ConfigError::new(match error.kind() {
                ErrorKind::NotFound => {
                    format!("{shown}: {error}. Write one with `context402 config init {shown}`")
                }
                ErrorKind::IsADirectory => {
                    format!("{shown} is a folder: give the configuration file in it")
                }
                ErrorKind::PermissionDenied => {
                    format!("{shown}: {error}. Run this command as root")
                }
                _ => format!("{shown}: {error}"),
            })
        })?;
        let table = text.parse().map_err(|error: toml::de::Error| {
            let span = error.span().unwrap_or(0..0);
            let line = 1 + text
                .bytes()
                .take(span.start)
                .filter(|byte| *byte == b'\n')
                .count();
            // The message may have several lines; a mistake has one.
            let mut message = error.message().replace('\n', ", ");
            if message == "duplicate key"
                && let Some(key) = text.get(span)
            {
                message.push_str(&format!(" {}", key.trim()));
            }
            ConfigError::new(format!("{shown}, line {line}: {message}"))
        })?;
        Ok(Source {
            path: path.to_owned(),
            text,
            table,
        })
    }

    /// Where a setting stands.
    fn line(&self, key: &str) -> Option<String> {
        if key.is_empty() {
            return None;
        }
        let line = file::line_of(&self.text, key)?;
        Some(format!("{}, line {line}", self.path.display()))
    }

    /// Unknown keys are typing mistakes; ignoring them would use the default.
    fn unknown(&self) -> Vec<Mistake> {
        let keys = self.table.iter().flat_map(|(name, value)| {
            let is_section = |setting: &Setting| {
                let section = setting.key.split_once('.');
                section.is_some_and(|(section, _)| section == name)
            };
            match value {
                Value::Table(members) if SETTINGS.iter().any(is_section) => {
                    let members = members.keys();
                    members.map(|key| format!("{name}.{key}")).collect()
                }
                _ => vec![name.clone()],
            }
        });
        keys.filter_map(|key| {
            let text = unknown_key(&key)?;
            let place = self.line(&key);
            let place = place.unwrap_or_else(|| self.path.display().to_string());
            let text = format!("{place}: {text}");
            Some(Mistake { key, text })
        })
        .collect()
    }
}

/// Why a key of the file cannot stand there.
fn unknown_key(key: &str) -> Option<String> {
    let secret_file = key
        .strip_suffix("_file")
        .and_then(find)
        .is_some_and(|setting| setting.kind == Kind::Secret);
    match find(key) {
        Some(setting) if setting.kind == Kind::Secret => Some(format!(
            "{key} is a secret and must not be in this file. Put it into a separate file with mode 0600 \
            and set {key}_file"
        )),
        Some(_) => None,
        None if secret_file => None,
        None => Some(unknown(
            &format!("unknown setting {key}"),
            suggest::nearest(key),
        )),
    }
}

fn unknown(what: &str, suggestion: Option<String>) -> String {
    let end = match suggestion {
        Some(known) => format!("; did you mean {known}?"),
        None => ".".to_owned(),
    };
    format!("{what}{end} `context402 config init` lists all settings")
}

/// The same for environment variables that can only be ours: of one of our sections, or nearly spelled as a setting.
/// Another variable may be somebody else's, and is only told as a warning.
fn unknown_variables(variables: &[String]) -> (Vec<Mistake>, Vec<String>) {
    let (mut mistakes, mut warnings) = (Vec::new(), Vec::new());
    for name in variables.iter().filter(|name| suggest::is_unknown(name)) {
        let suggestion = suggest::nearest_variable(name);
        let is_ours = suggestion.is_some() || suggest::is_in_section(name);
        let what = format!("the environment variable {name} matches no setting");
        match is_ours {
            true => mistakes.push(Mistake {
                key: String::new(),
                text: unknown(&what, suggestion),
            }),
            false => warnings.push(format!("{what} and has no effect")),
        }
    }
    (mistakes, warnings)
}

fn in_table<'a>(table: &'a Table, key: &str) -> Option<&'a Value> {
    match key.split_once('.') {
        Some((section, name)) => table.get(section)?.get(name),
        None => table.get(key),
    }
}

fn from_toml(setting: &Setting, value: &Value) -> Result<Text, ConfigError> {
    let wrong = |expected: &str| {
        let key = setting.key;
        ConfigError::of(key, format!("{key}: expected {expected}, found {value}"))
    };
    let text = |value: &Value| value.as_str().map(str::to_owned);
    match (setting.kind, value) {
        (Kind::List, Value::Array(items)) => items
            .iter()
            .map(text)
            .collect::<Option<Vec<_>>>()
            .map(Text::Many)
            .ok_or_else(|| wrong("a list of strings")),
        (Kind::List, _) => Err(wrong("a list of strings")),
        (Kind::Map, Value::Table(members)) => members
            .iter()
            .map(|(name, value)| Some((name.clone(), text(value)?)))
            .collect::<Option<Vec<_>>>()
            .map(Text::Pairs)
            .ok_or_else(|| wrong("a table of strings")),
        (Kind::Map, _) => Err(wrong("a table of strings")),
        (Kind::Flag, Value::Boolean(flag)) => Ok(Text::One(flag.to_string())),
        (_, Value::String(text)) => Ok(Text::One(text.clone())),
        (_, Value::Integer(number)) => Ok(Text::One(number.to_string())),
        (_, Value::Float(number)) => Ok(Text::One(number.to_string())),
        _ => Err(wrong("a string or a number")),
    }
}

fn from_environment(setting: &Setting, text: String) -> Result<Text, ConfigError> {
    let items = || {
        text.split(',')
            .map(str::trim)
            .filter(|item| !item.is_empty())
    };
    match setting.kind {
        Kind::List => Ok(Text::Many(items().map(str::to_owned).collect())),
        Kind::Map => items()
            .map(|item| {
                item.split_once('=')
                    .map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()))
            })
            .collect::<Option<Vec<_>>>()
            .map(Text::Pairs)
            .ok_or_else(|| {
                // It is not one setting's: that would be looked for in the file.
                let name = environment_name(setting.key);
                ConfigError::new(format!("{name}: expected name=value,name=value"))
            }),
        _ => Ok(Text::One(text)),
    }
}

/// systemd credentials first, then the file that `KEY_file` names, then the environment.
fn secret(
    setting: &Setting,
    source: Option<&Source>,
    around: &Surroundings<'_>,
) -> Result<Option<(Text, Origin)>, ConfigError> {
    let file = source.map(|source| &*source.path);
    if let Some(found) = credential(setting, file, around)? {
        return Ok(Some(found));
    }
    let file_key = format!("{}_file", setting.key);
    let file_variable = environment_name(&file_key);
    let in_file = || in_table(&source?.table, &file_key)?.as_str();
    let named = match ((around.environment)(&file_variable), in_file()) {
        // It is not one setting's: that would be looked for in the file.
        (Some(path), _) => Some((path, String::new(), format!("environment {file_variable}"))),
        (None, Some(path)) => Some((path.to_owned(), file_key.clone(), file_key.clone())),
        (None, None) => None,
    };
    if let Some((path, key, name)) = named {
        let path = PathBuf::from(path);
        let read = read_secret(&path, true)
            .map_err(|text| ConfigError::of(key, format!("{name}: {text}")))?;
        return Ok(Some((Text::One(read), Origin::File(path, None))));
    }
    let variable = environment_name(setting.key);
    Ok((around.environment)(&variable).map(|text| {
        (
            Text::One(text.trim().to_owned()),
            Origin::Environment(variable),
        )
    }))
}

/// systemd's credentials. Commands outside the unit read them from their source folder, so that the operator's commands see
/// the same secrets as the service; users without access to that folder get none.
fn credential(
    setting: &Setting,
    file: Option<&Path>,
    around: &Surroundings<'_>,
) -> Result<Option<(Text, Origin)>, ConfigError> {
    let name = credential_name(setting.key);
    let (path, origin) = match (&around.credentials, file) {
        (Some(handed), _) => (handed.join(&name), Origin::Credential(name)),
        (None, Some(file)) => {
            let path = file
                .with_file_name(CREDENTIALS)
                .join(setting.key.replace('.', "/"));
            (path.clone(), Origin::File(path, None))
        }
        (None, None) => return Ok(None),
    };
    if !path.is_file() {
        return Ok(None);
    }
    let check_mode = around.credentials.is_none();
    let read = read_secret(&path, check_mode)
        .map_err(|text| ConfigError::new(format!("{}: {text}", setting.key)))?;
    Ok(Some((Text::One(read), origin)))
}

/// The secret in a file, or why it cannot be used.
fn read_secret(path: &Path, check_mode: bool) -> Result<String, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    #[cfg(unix)]
    if check_mode {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(path)
            .map_err(failed)?
            .permissions()
            .mode();
        if mode & 0o007 != 0 {
            let shown = path.display();
            return Err(format!(
                "{shown} contains a secret but is readable by everybody; run `chmod 600 {shown}`"
            ));
        }
    }
    Ok(std::fs::read_to_string(path)
        .map_err(failed)?
        .trim()
        .to_owned())
}

/// For display: without secrets.
impl fmt::Debug for Resolved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.lines()).finish()
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Text::One(text) => f.write_str(text),
            Text::Many(texts) => f.write_str(&texts.join(", ")),
            Text::Pairs(pairs) => {
                let shown: Vec<String> = pairs
                    .iter()
                    .map(|(name, value)| format!("{name} = {value}"))
                    .collect();
                f.write_str(&shown.join(", "))
            }
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => f.write_str("default"),
            Origin::File(path, None) => write!(f, "{}", path.display()),
            Origin::File(path, Some(line)) => write!(f, "{}, line {line}", path.display()),
            Origin::Placeholder => f.write_str("to be set"),
            Origin::Environment(name) => write!(f, "environment {name}"),
            Origin::Credential(name) => write!(f, "credential {name}"),
            Origin::Argument => f.write_str("command line"),
        }
    }
}
