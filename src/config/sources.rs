//! Where the values of settings come from: the file, the environment, credentials (systemd's or the folder beside the
//! configuration), files named by `*_file` keys, defaults.

use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use crate::config::file;
use crate::config::settings::{Kind, SETTINGS, Setting, credential_name, environment_name, find};
use crate::config::suggest;
use crate::config::values::{ConfigError, Mistake};

/// Beside the configuration file: `credentials/SECTION/KEY`, as used by the units.
const CREDENTIALS: &str = "credentials";

/// What the parser says of a whole number that TOML cannot hold.
const TOO_LARGE: [&str; 3] = ["invalid type: integer", "too large", "overflowed"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::config) enum Text {
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

/// The value of a setting in the first source that has one, with its origin.
pub(in crate::config) fn look_up(
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

/// The configuration file as it was read.
pub(in crate::config) struct Source {
    path: PathBuf,
    text: String,
    table: Table,
}

impl Source {
    pub(in crate::config) fn read(path: &Path) -> Result<Source, ConfigError> {
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
            if TOO_LARGE.iter().any(|words| message.contains(words)) {
                let key = file::key_at(&text, line).filter(|key| !key.is_empty());
                message = format!(
                    "{}: the number is too large",
                    key.as_deref().unwrap_or("a value")
                );
            }
            if message == "duplicate key"
                && let Some(key) = text.get(span)
            {
                let key = key.trim().trim_matches(['[', ']']);
                message.push_str(&format!(" {key}"));
                if suggest::is_section(key) {
                    message.push_str(&format!(
                        ": write all settings of a section below one [{key}], or all as {key}.KEY"
                    ));
                }
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
    pub(in crate::config) fn line(&self, key: &str) -> Option<String> {
        if key.is_empty() {
            return None;
        }
        let line = file::line_of(&self.text, key)?;
        Some(format!("{}, line {line}", self.path.display()))
    }

    /// Unknown keys are typing mistakes; ignoring them would use the default.
    pub(in crate::config) fn unknown(&self) -> Vec<Mistake> {
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
        None if suggest::is_section(key) => Some(format!(
            "{key} is a section and takes no value: write its settings below [{key}], or as {key}.KEY"
        )),
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
pub(in crate::config) fn unknown_variables(variables: &[String]) -> (Vec<Mistake>, Vec<String>) {
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
    let file_key = format!("{}_file", setting.key);
    let file_variable = environment_name(&file_key);
    let in_file = || in_table(&source?.table, &file_key);
    let named = match ((around.environment)(&file_variable), in_file()) {
        // Told even where another source has the secret.
        (_, Some(other)) if !other.is_str() => {
            let text = format!("{file_key}: expected the path of a file in quotes, found {other}");
            return Err(ConfigError::of(file_key, text));
        }
        // It is not one setting's: that would be looked for in the file.
        (Some(path), _) => Some((path, String::new(), format!("environment {file_variable}"))),
        (None, path) => path
            .and_then(Value::as_str)
            .map(|path| (path.to_owned(), file_key.clone(), file_key.clone())),
    };
    let file = source.map(|source| &*source.path);
    if let Some(found) = credential(setting, file, around)? {
        return Ok(Some(found));
    }
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

/// Files among the credentials that belong to no setting, as warnings: a secret under a wrong name has no effect. Hidden
/// files, such as an editor's, are left out, and so are credentials that the unit hands over for something else.
pub(in crate::config) fn unknown_credentials(
    file: Option<&Path>,
    around: &Surroundings<'_>,
) -> Vec<String> {
    let secrets = || SETTINGS.iter().filter(|row| row.kind == Kind::Secret);
    let known = |name: &str| secrets().any(|row| credential_name(row.key) == name);
    // By the section, `.` and the file's name.
    let mut found: Vec<(String, String)> = match (&around.credentials, file) {
        (Some(handed), _) => (names_in(handed).into_iter())
            .filter(|name| !known(name))
            .filter_map(|name| {
                let (section, rest) = name.split_once('_')?;
                let is_hidden = rest.starts_with('.');
                (!is_hidden).then(|| {
                    (
                        format!("{section}.{rest}"),
                        format!("the credential {name}"),
                    )
                })
            })
            .filter(|(key, _)| suggest::has_secrets(key))
            .collect(),
        (None, Some(file)) => {
            let folder = file.with_file_name(CREDENTIALS);
            let sections = names_in(&folder).into_iter();
            let files = sections.flat_map(|section| {
                let names = names_in(&folder.join(&section)).into_iter();
                names.map(move |name| format!("{section}.{name}"))
            });
            let shown = |key: &str| folder.join(key.replacen('.', "/", 1)).display().to_string();
            files
                .filter(|key| !known(&credential_name(key)))
                .map(|key| (key.clone(), shown(&key)))
                .collect()
        }
        (None, None) => Vec::new(),
    };
    found.sort_unstable();
    let told = |(key, what): (String, String)| {
        let what = format!("{what} does not belong to a setting and has no effect");
        match suggest::nearest_secret(&key) {
            Some(key) => {
                let file = key.replace('.', "/");
                format!("{what}: {key} is read from {CREDENTIALS}/{file}")
            }
            None => what,
        }
    };
    found.into_iter().map(told).collect()
}

/// The names in a folder; none where it cannot be read.
fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| !name.starts_with('.'))
        .collect()
}

/// The secret in a file, or why it cannot be used.
fn read_secret(path: &Path, check_mode: bool) -> Result<String, String> {
    let shown = path.display();
    let failed = |error: std::io::Error| match error.kind() {
        ErrorKind::PermissionDenied => format!("{shown}: {error}. Run this command as root"),
        ErrorKind::IsADirectory => format!("{shown} is a folder: give the file in it"),
        _ => format!("{shown}: {error}"),
    };
    let metadata = std::fs::metadata(path).map_err(failed)?;
    if metadata.is_dir() {
        return Err(failed(ErrorKind::IsADirectory.into()));
    }
    #[cfg(unix)]
    if check_mode {
        use std::os::unix::fs::PermissionsExt as _;
        if metadata.permissions().mode() & 0o007 != 0 {
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
