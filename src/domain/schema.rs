//! Tables of request bodies. A table gives validation, with errors like FastAPI's HTTPValidationError (`loc`, `msg`, `type`,
//! `input`, `ctx`), and a JSON Schema for OpenAPI and discovery.

mod members;

use std::fmt::Display;

use serde::de::DeserializeOwned;
use serde::de::value::MapDeserializer;
use serde_json::{Map, Value, json};

use members::parse_members;
pub use members::without_mark;

/// Complaints about one body. Thousands of members fit into a body, and each would get an answer of its own.
const COMPLAINTS_MAX: usize = 32;

/// A JSON object's shape.
#[derive(Debug)]
pub struct Object {
    pub name: &'static str,
    pub doc: &'static str,
    pub fields: &'static [Field],
    /// Whether members beyond these are refused.
    pub closed: bool,
}

/// One member of an object.
#[derive(Debug)]
pub struct Field {
    pub name: &'static str,
    pub kind: Kind,
    pub required: bool,
    /// The default as JSON text, shown in documents.
    pub default: Option<&'static str>,
    pub doc: &'static str,
    /// An example as JSON text.
    pub example: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// At most this many characters.
    Text {
        characters_max: usize,
    },
    /// An absolute URL of at most this many characters; whether it may be fetched is decided later.
    Url {
        characters_max: usize,
    },
    /// A closed set.
    OneOf(&'static [&'static str]),
    /// An array of texts; what a text means is decided later. One text that lists them is taken too, as a form sends it.
    Texts {
        /// What schemas state. A text can list any number, so the count is checked where the list is read.
        items_min: usize,
        items_max: usize,
    },
    Flag,
    Number,
    /// A whole number within these bounds.
    Integer {
        min: u64,
        max: u64,
    },
    /// An array of sources: addresses, or objects that hold one of the members of [`SOURCE_MEMBERS`].
    Sources(SourceRules),
    /// Any JSON object.
    Free,
}

/// What an array of sources may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceRules {
    /// What schemas state; the purchase checks it and says what to buy instead.
    pub items_min: usize,
    pub items_max: usize,
    pub url_characters_max: usize,
    pub text_characters_max: usize,
    pub title_characters_max: usize,
    /// Whether a retained report may stand for its source.
    pub reports: bool,
}

/// What a source can be: an address, a text, or the source of a retained report. A text may have a `title`.
pub const SOURCE_MEMBERS: [&str; 3] = ["url", "text", "report_id"];
const TITLE: &str = "title";

impl Kind {
    /// The JSON type, as a schema names it.
    pub fn json_type(self) -> &'static str {
        match self {
            Kind::Text { .. } | Kind::Url { .. } | Kind::OneOf(_) => "string",
            Kind::Texts { .. } | Kind::Sources(_) => "array",
            Kind::Flag => "boolean",
            Kind::Number => "number",
            Kind::Integer { .. } => "integer",
            Kind::Free => "object",
        }
    }
}

/// One complaint, as FastAPI's ValidationError.
#[derive(Clone, Debug, PartialEq)]
pub struct ValidationError {
    pub loc: Vec<Value>,
    pub msg: String,
    pub kind: &'static str,
    pub input: Option<Value>,
    pub ctx: Option<Value>,
}

impl ValidationError {
    pub fn new(
        loc: &[&str],
        kind: &'static str,
        msg: impl Into<String>,
        input: Option<Value>,
    ) -> Self {
        let loc = loc.iter().map(|part| Value::from(*part)).collect();
        ValidationError {
            loc,
            msg: msg.into(),
            kind,
            input,
            ctx: None,
        }
    }

    /// A value that its type allows and this place does not.
    pub fn value(loc: &[&str], why: impl Display, input: Option<Value>) -> Self {
        Self::new(loc, "value_error", format!("Value error, {why}"), input)
    }

    /// The same of what stands in a query instead of a body.
    pub fn in_query(mut self) -> Self {
        if let Some(place) = self.loc.first_mut() {
            *place = "query".into();
        }
        self
    }

    fn ctx(mut self, ctx: Value) -> Self {
        self.ctx = Some(ctx);
        self
    }

    pub fn to_json(&self) -> Value {
        let mut object = Map::new();
        object.insert("type".to_owned(), self.kind.into());
        object.insert("loc".to_owned(), self.loc.clone().into());
        object.insert("msg".to_owned(), self.msg.clone().into());
        for (name, value) in [("input", &self.input), ("ctx", &self.ctx)] {
            if let Some(value) = value {
                object.insert(name.to_owned(), value.clone());
            }
        }
        object.into()
    }
}

/// The members of a body that its table has accepted.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked(Vec<(String, Value)>);

impl Checked {
    /// Reads the members into the struct of the table.
    ///
    /// # Errors
    /// A table and a struct that differ, which a test of `requests` rules out.
    pub fn read<T: DeserializeOwned>(self) -> Result<T, Vec<ValidationError>> {
        let members = MapDeserializer::new(self.0.into_iter());
        T::deserialize(members).map_err(|error: serde_json::Error| {
            vec![ValidationError::value(&["body"], error, None)]
        })
    }
}

impl Object {
    /// Checks a body against the table. The same member twice is refused, and in a closed table any other one.
    pub fn validate(&self, body: &[u8]) -> Result<Checked, Vec<ValidationError>> {
        let mut members = parse_members(body)?;
        let mut errors = Vec::new();
        for field in self.fields {
            if let (Kind::Integer { .. }, Some((_, value))) = (
                field.kind,
                members.iter_mut().find(|(name, _)| name == field.name),
            ) && let Some(whole) = whole(value)
            {
                *value = whole.into();
            }
            match members.iter().find(|(name, _)| name == field.name) {
                Some((_, value)) => errors.extend(field.check(value)),
                None if field.required => {
                    let input = Value::Object(members.iter().cloned().collect());
                    errors.push(ValidationError::new(
                        &["body", field.name],
                        "missing",
                        "Field required",
                        Some(input),
                    ));
                }
                None => {}
            }
        }
        let again = repeated(&members);
        for (index, (name, value)) in members.iter().enumerate() {
            if errors.len() >= COMPLAINTS_MAX {
                break;
            }
            let known = self.fields.iter().any(|field| field.name == name);
            let again = again.contains(&index);
            if (!known && self.closed) || again {
                let msg = if again {
                    "Duplicate member"
                } else {
                    "Extra inputs are not permitted"
                };
                errors.push(ValidationError::new(
                    &["body", name],
                    "extra_forbidden",
                    msg,
                    Some(value.clone()),
                ));
            }
        }
        if errors.is_empty() {
            Ok(Checked(members))
        } else {
            Err(errors)
        }
    }

    /// JSON Schema 2020-12.
    pub fn json_schema(&self) -> Value {
        let properties: Map<String, Value> = self
            .fields
            .iter()
            .map(|field| (field.name.to_owned(), field.json_schema()))
            .collect();
        let required: Vec<&str> = self
            .fields
            .iter()
            .filter(|field| field.required)
            .map(|field| field.name)
            .collect();
        json!({"type": "object", "description": self.doc, "properties": properties, "required": required,
               "additionalProperties": !self.closed})
    }

    /// An object made of the fields' examples; of required ones alone when `all` is false.
    pub fn example(&self, all: bool) -> Value {
        let members = self.fields.iter().filter(|field| all || field.required);
        members
            .map(|field| (field.name.to_owned(), json_text(field.example)))
            .collect::<Map<_, _>>()
            .into()
    }
}

/// The positions of members whose name stood before.
fn repeated(members: &[(String, Value)]) -> Vec<usize> {
    let name = |position: usize| &members[position].0;
    let mut sorted: Vec<usize> = (0..members.len()).collect();
    // A stable sort: the first of a name stays in front.
    sorted.sort_by_key(|position| name(*position));
    let pairs = sorted.windows(2);
    let again = pairs.filter(|pair| name(pair[0]) == name(pair[1]));
    again.map(|pair| pair[1]).collect()
}

impl Field {
    fn check(&self, value: &Value) -> Option<ValidationError> {
        let error = |kind, msg: String| {
            ValidationError::new(&["body", self.name], kind, msg, Some(value.clone()))
        };
        match (self.kind, value) {
            (Kind::Flag, Value::Bool(_)) => None,
            (Kind::Flag, _) => Some(error(
                "bool_type",
                "Input should be a valid boolean".to_owned(),
            )),
            (Kind::Number, Value::Number(_)) | (Kind::Free, Value::Object(_)) => None,
            (Kind::Integer { min, max }, Value::Number(number)) => {
                let is_within = number.as_u64().is_some_and(|n| (min..=max).contains(&n));
                let message = format!("Input should be a whole number from {min} to {max}");
                (!is_within).then(|| error("int_range", message).ctx(json!({"ge": min, "le": max})))
            }
            (Kind::Integer { .. }, _) => Some(error(
                "int_type",
                "Input should be a valid integer".to_owned(),
            )),
            (Kind::Sources(rules), Value::Array(items)) => self.check_sources(items, rules),
            (Kind::Number, _) => Some(error(
                "float_type",
                "Input should be a valid number".to_owned(),
            )),
            (Kind::Free, _) => Some(error(
                "dict_type",
                "Input should be a valid dictionary".to_owned(),
            )),
            (Kind::Text { .. }, Value::String(text)) if self.required && text.trim().is_empty() => {
                let message = "String should have at least 1 character".to_owned();
                Some(error("string_too_short", message).ctx(json!({"min_length": 1})))
            }
            (Kind::Text { characters_max }, Value::String(text)) => {
                (text.chars().count() > characters_max).then(|| too_long(&error, characters_max))
            }
            (Kind::Url { characters_max }, Value::String(text)) => {
                if text.chars().count() > characters_max {
                    return Some(too_long(&error, characters_max));
                }
                if self.required && text.trim().is_empty() {
                    let message = "Input should be a valid URL, input is empty".to_owned();
                    let error = error("url_parsing", message);
                    return Some(error.ctx(json!({"error": "input is empty"})));
                }
                None
            }
            (Kind::Texts { .. }, Value::String(_)) => None,
            (Kind::Texts { items_max, .. }, Value::Array(items)) => {
                self.check_items(items, items_max)
            }
            (Kind::Texts { .. } | Kind::Sources(_), _) => Some(error(
                "list_type",
                "Input should be a valid list".to_owned(),
            )),
            (Kind::OneOf(names), Value::String(text)) if names.contains(&text.as_str()) => None,
            (Kind::OneOf(names), _) => {
                let expected = alternatives(names);
                Some(
                    error("literal_error", format!("Input should be {expected}"))
                        .ctx(json!({"expected": expected})),
                )
            }
            (Kind::Text { .. } | Kind::Url { .. }, _) => Some(error(
                "string_type",
                "Input should be a valid string".to_owned(),
            )),
        }
    }

    fn check_count(&self, count: usize, items_max: usize) -> Option<ValidationError> {
        (count > items_max).then(|| {
            let msg = format!("List should have at most {items_max} items, not {count}");
            let error = ValidationError::new(&["body", self.name], "too_long", msg, None);
            error.ctx(json!({"max_length": items_max, "actual_length": count}))
        })
    }

    fn check_sources(&self, items: &[Value], rules: SourceRules) -> Option<ValidationError> {
        if items.is_empty() {
            let msg = "List should have at least 1 item".to_owned();
            let error = ValidationError::new(&["body", self.name], "too_short", msg, None);
            return Some(error.ctx(json!({"min_length": 1})));
        }
        self.check_count(items.len(), rules.items_max).or_else(|| {
            let mut wrong = items.iter().enumerate().filter_map(|(position, item)| {
                let why = rules.complaint(item)?;
                let mut error = ValidationError::value(&["body", self.name], why, None);
                error.loc.push(position.into());
                Some(error)
            });
            wrong.next()
        })
    }

    fn check_items(&self, items: &[Value], items_max: usize) -> Option<ValidationError> {
        if let Some(error) = self.check_count(items.len(), items_max) {
            return Some(error);
        }
        let (position, item) = items
            .iter()
            .enumerate()
            .find(|(_, item)| !item.is_string())?;
        let mut error = ValidationError::new(
            &["body", self.name],
            "string_type",
            "Input should be a valid string",
            Some(item.clone()),
        );
        error.loc.push(position.into());
        Some(error)
    }

    fn json_schema(&self) -> Value {
        let mut schema = json!({"type": self.kind.json_type()});
        match self.kind {
            Kind::Text { characters_max } => schema["maxLength"] = characters_max.into(),
            Kind::Url { characters_max } => {
                schema["format"] = "uri".into();
                schema["maxLength"] = characters_max.into();
            }
            Kind::Texts {
                items_min,
                items_max,
            } => {
                schema["items"] = json!({"type": "string"});
                schema["minItems"] = items_min.into();
                schema["maxItems"] = items_max.into();
            }
            Kind::OneOf(names) => schema["enum"] = names.into(),
            Kind::Integer { min, max } => {
                schema["minimum"] = min.into();
                schema["maximum"] = max.into();
            }
            Kind::Sources(rules) => {
                schema["items"] = rules.json_schema();
                schema["minItems"] = rules.items_min.into();
                schema["maxItems"] = rules.items_max.into();
            }
            Kind::Flag | Kind::Number | Kind::Free => {}
        }
        // Blank is as good as absent.
        if matches!(self.kind, Kind::Text { .. }) && self.required {
            schema["minLength"] = 1.into();
            schema["pattern"] = r"\S".into();
        }
        schema["description"] = self.doc.into();
        if let Some(default) = self.default {
            schema["default"] = json_text(default);
        }
        schema
    }

    /// The type and its bounds in words, for the documents.
    pub fn rules(&self) -> String {
        match self.kind {
            Kind::Text { characters_max } => format!("string, at most {characters_max} characters"),
            Kind::Url { characters_max } => {
                format!("absolute http or https URL, at most {characters_max} characters")
            }
            Kind::Texts {
                items_min: 0 | 1,
                items_max,
            } => format!("array of strings, at most {items_max}, or one string that lists them"),
            Kind::Texts {
                items_min,
                items_max,
            } => format!(
                "array of {items_min} to {items_max} strings, or one string that lists them"
            ),
            Kind::OneOf(names) => format!("one of {}", names.join(", ")),
            Kind::Flag => "boolean".to_owned(),
            Kind::Number => "number".to_owned(),
            Kind::Integer { min, max } => format!("whole number from {min} to {max}"),
            Kind::Sources(rules) => format!(
                "array of {} to {} sources: addresses, or objects with one of {}; a text has at most {} characters",
                rules.items_min,
                rules.items_max,
                rules.members().join(", "),
                rules.text_characters_max
            ),
            Kind::Free => "object, free-form".to_owned(),
        }
    }
}

/// The whole number that a number with a point stands for: `3.0` is an integer of JSON Schema.
fn whole(value: &Value) -> Option<u64> {
    let number = value.as_f64().filter(|_| !value.is_u64())?;
    let is_whole = number >= 0.0 && number.fract() == 0.0;
    is_whole
        .then(|| format!("{number:.0}").parse().ok())
        .flatten()
}

impl SourceRules {
    /// The members that an object may have, one of them at a time.
    fn members(self) -> &'static [&'static str] {
        match self.reports {
            true => &SOURCE_MEMBERS,
            false => &SOURCE_MEMBERS[..2],
        }
    }

    fn characters_max(self, member: &str) -> usize {
        match member {
            "text" => self.text_characters_max,
            TITLE => self.title_characters_max,
            _ => self.url_characters_max,
        }
    }

    /// What is wrong with a source, if anything is.
    fn complaint(self, item: &Value) -> Option<String> {
        let members = match item {
            Value::String(text) => return self.text_complaint("url", text),
            Value::Object(members) => members,
            _ => return Some("a source is an address or an object".to_owned()),
        };
        let known = self.members();
        let stated = |name: &&&str| members.contains_key(**name);
        if known.iter().filter(stated).count() != 1 {
            return Some(format!("a source has exactly one of {}", known.join(", ")));
        }
        members.iter().find_map(|(name, value)| {
            let is_title = name == TITLE && members.contains_key("text");
            match value {
                _ if !is_title && !known.contains(&name.as_str()) => {
                    Some(format!("a source has no member {name:?} here"))
                }
                Value::String(text) => self.text_complaint(name, text),
                Value::Null if is_title => None,
                _ => Some(format!("{name} should be a valid string")),
            }
        })
    }

    fn text_complaint(self, member: &str, text: &str) -> Option<String> {
        let characters_max = self.characters_max(member);
        match text.chars().count() {
            _ if text.trim().is_empty() => Some(format!("{member} is empty")),
            count if count > characters_max => Some(format!(
                "{member} should have at most {characters_max} characters"
            )),
            _ => None,
        }
    }

    fn json_schema(self) -> Value {
        let text = |name: &str| json!({"type": "string", "minLength": 1, "maxLength": self.characters_max(name)});
        let one = |name: &&'static str| {
            let mut properties = json!({*name: text(name)});
            if *name == "text" {
                properties[TITLE] = text(TITLE);
            }
            json!({"type": "object", "properties": properties, "required": [*name], "additionalProperties": false})
        };
        let objects = self.members().iter().map(one);
        let all: Vec<Value> = [text("url")].into_iter().chain(objects).collect();
        json!({"anyOf": all})
    }
}

fn too_long(
    error: &dyn Fn(&'static str, String) -> ValidationError,
    characters_max: usize,
) -> ValidationError {
    error(
        "string_too_long",
        format!("String should have at most {characters_max} characters"),
    )
    .ctx(json!({"max_length": characters_max}))
}

/// `'a', 'b' or 'c'`, as pydantic words it.
fn alternatives(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}

/// Tables hold JSON text that a test has parsed; anything else would show as text.
fn json_text(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))
}

#[cfg(test)]
mod tests;
