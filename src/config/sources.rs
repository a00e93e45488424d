//! Sources of values: the file, the environment, credentials (systemd's or the folder beside the configuration), files named
//! by `*_file` keys, defaults.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use crate::config::ConfigError;
use crate::config::settings::{
    Kind, SETTINGS, Setting, credential_name, environment_name, find, masked,
};
use crate::config::suggest;

/// The default configuration file.
const INSTALLED: &str = "/etc/context402/config.toml";

/// Beside the configuration file: `credentials/SECTION/KEY`, as used by the units.
const CREDENTIALS: &str = "credentials";

/// All settings with a value, and their origins.
#[derive(Clone, Default)]
pub struct Resolved {
    values: BTreeMap<&'static str, (Text, Origin)>,
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
    File(PathBuf),
    Environment(String),
    Credential(String),
    /// Given on the command line.
    Argument,
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
        let installed = installed_file(environment("CONTEXT402_CONFIG"));
        Resolved::read(
            file.or(installed.as_deref()),
            &Surroundings {
                environment: &environment,
                variables: names.collect(),
                credentials,
            },
        )
    }

    pub(in crate::config) fn read(
        file: Option<&Path>,
        around: &Surroundings<'_>,
    ) -> Result<Self, ConfigError> {
        let table = file.map(read_file).transpose()?.unwrap_or_default();
        refuse_unknown(&table, file)?;
        refuse_unknown_variables(&around.variables)?;
        let mut resolved = Resolved {
            values: BTreeMap::new(),
        };
        for setting in SETTINGS {
            if let Some(value) = resolved.look_up(setting, &table, file, around)? {
                resolved.values.insert(setting.key, value);
            }
        }
        Ok(resolved)
    }

    fn look_up(
        &self,
        setting: &Setting,
        table: &Table,
        file: Option<&Path>,
        around: &Surroundings<'_>,
    ) -> Result<Option<(Text, Origin)>, ConfigError> {
        if setting.kind == Kind::Secret {
            return secret(setting, table, file, around);
        }
        let name = environment_name(setting.key);
        if let Some(text) = (around.environment)(&name) {
            return Ok(Some((
                from_environment(setting, text)?,
                Origin::Environment(name),
            )));
        }
        if let (Some(value), Some(path)) = (in_table(table, setting.key), file) {
            return Ok(Some((
                from_toml(setting, value)?,
                Origin::File(path.to_owned()),
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
        }
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
fn installed_file(named: Option<String>) -> Option<PathBuf> {
    match named {
        Some(named) => (!named.is_empty()).then(|| PathBuf::from(named)),
        None => Some(PathBuf::from(INSTALLED)).filter(|path| path.exists()),
    }
}

fn read_file(path: &Path) -> Result<Table, ConfigError> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        ConfigError(format!(
            "{}: {error}. Write one with `context402 config init {}`",
            path.display(),
            path.display()
        ))
    })?;
    text.parse().map_err(|error: toml::de::Error| {
        let at = error.span().map_or(0, |span| span.start);
        let line = 1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count();
        // The message may have several lines; our errors have one.
        let message = error.message().replace('\n', ", ");
        ConfigError(format!("{}, line {line}: {message}", path.display()))
    })
}

/// Unknown keys are typing mistakes; ignoring them would use the default.
fn refuse_unknown(table: &Table, file: Option<&Path>) -> Result<(), ConfigError> {
    let place = file.map_or_else(String::new, |path| path.display().to_string());
    for (name, value) in table {
        let section = SETTINGS.iter().any(|setting| {
            setting
                .key
                .split_once('.')
                .is_some_and(|(section, _)| section == name)
        });
        match value {
            Value::Table(members) if section => {
                for key in members.keys() {
                    refuse_unknown_key(&format!("{name}.{key}"), &place)?;
                }
            }
            _ => refuse_unknown_key(name, &place)?,
        }
    }
    Ok(())
}

fn refuse_unknown_key(key: &str, place: &str) -> Result<(), ConfigError> {
    let secret_file = key
        .strip_suffix("_file")
        .and_then(find)
        .is_some_and(|setting| setting.kind == Kind::Secret);
    match find(key) {
        Some(setting) if setting.kind == Kind::Secret => Err(ConfigError(format!(
            "{place}: {key} is a secret and must not be in this file. Put it into a separate file with mode 0600 \
            and set {key}_file"
        ))),
        Some(_) => Ok(()),
        None if secret_file => Ok(()),
        None => Err(ConfigError(format!(
            "{place}: unknown setting {key}{}. `context402 config init` lists all",
            meant(suggest::nearest(key))
        ))),
    }
}

fn meant(suggestion: Option<String>) -> String {
    suggestion.map_or_else(String::new, |known| format!("; did you mean {known}?"))
}

/// The same for environment variables that can only be ours.
fn refuse_unknown_variables(variables: &[String]) -> Result<(), ConfigError> {
    let is_mistake = |name: &&String| suggest::is_in_section(name) && !suggest::is_variable(name);
    match variables.iter().find(is_mistake) {
        None => Ok(()),
        Some(name) => Err(ConfigError(format!(
            "the environment variable {name} matches no setting{}. `context402 config init` lists all",
            meant(suggest::nearest_variable(name))
        ))),
    }
}

fn in_table<'a>(table: &'a Table, key: &str) -> Option<&'a Value> {
    match key.split_once('.') {
        Some((section, name)) => table.get(section)?.get(name),
        None => table.get(key),
    }
}

fn from_toml(setting: &Setting, value: &Value) -> Result<Text, ConfigError> {
    let wrong = |expected: &str| {
        ConfigError(format!(
            "{}: expected {expected}, found {value}",
            setting.key
        ))
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
                ConfigError(format!(
                    "{}: expected name=value,name=value",
                    environment_name(setting.key)
                ))
            }),
        _ => Ok(Text::One(text)),
    }
}

/// systemd credentials first, then the file that `KEY_file` names, then the environment.
fn secret(
    setting: &Setting,
    table: &Table,
    file: Option<&Path>,
    around: &Surroundings<'_>,
) -> Result<Option<(Text, Origin)>, ConfigError> {
    if let Some(found) = credential(setting, file, around)? {
        return Ok(Some(found));
    }
    let file_key = format!("{}_file", setting.key);
    let named = (around.environment)(&environment_name(&file_key)).or_else(|| {
        in_table(table, &file_key)
            .and_then(Value::as_str)
            .map(str::to_owned)
    });
    if let Some(path) = named.map(PathBuf::from) {
        return Ok(Some((
            Text::One(read_secret(&path, true)?),
            Origin::File(path),
        )));
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
            (path.clone(), Origin::File(path))
        }
        (None, None) => return Ok(None),
    };
    if !path.is_file() {
        return Ok(None);
    }
    let check_mode = around.credentials.is_none();
    Ok(Some((Text::One(read_secret(&path, check_mode)?), origin)))
}

fn read_secret(path: &Path, check_mode: bool) -> Result<String, ConfigError> {
    let failed = |error: std::io::Error| ConfigError(format!("{}: {error}", path.display()));
    #[cfg(unix)]
    if check_mode {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(path)
            .map_err(failed)?
            .permissions()
            .mode();
        if mode & 0o007 != 0 {
            let shown = path.display();
            return Err(ConfigError(format!(
                "{shown} contains a secret but is readable by everybody; run `chmod 600 {shown}`"
            )));
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
            Origin::File(path) => write!(f, "{}", path.display()),
            Origin::Environment(name) => write!(f, "environment {name}"),
            Origin::Credential(name) => write!(f, "credential {name}"),
            Origin::Argument => f.write_str("command line"),
        }
    }
}
