//! Shapes of request bodies as tables, and what a table gives: validation with the errors of FastAPI's
//! HTTPValidationError (`loc`, `msg`, `type`, `input`, `ctx`), and a JSON Schema for OpenAPI and discovery.

use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::{Map, Value, json};

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
        items_max: usize,
    },
    Flag,
    Number,
    /// Any JSON object.
    Free,
}

/// One complaint, as the specification's ValidationError.
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

/// A body that its table has accepted.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked(Vec<(String, Value)>);

impl Checked {
    fn get(&self, name: &str) -> Option<&Value> {
        self.0
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value)
    }

    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(Value::as_str)
    }

    /// The texts of an array.
    pub fn texts(&self, name: &str) -> Option<Vec<&str>> {
        let items = self.get(name)?.as_array()?.iter();
        Some(items.filter_map(Value::as_str).collect())
    }

    pub fn number(&self, name: &str) -> Option<f64> {
        self.get(name).and_then(Value::as_f64)
    }

    pub fn flag(&self, name: &str) -> Option<bool> {
        self.get(name).and_then(Value::as_bool)
    }
}

impl Object {
    /// Checks a body against the table. The same member twice is refused, and in a closed table any other one.
    pub fn validate(&self, body: &[u8]) -> Result<Checked, Vec<ValidationError>> {
        let members = parse_members(body)?;
        let mut errors = Vec::new();
        for field in self.fields {
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
        let mut seen = HashSet::new();
        for (name, value) in &members {
            if errors.len() >= COMPLAINTS_MAX {
                break;
            }
            let known = self.fields.iter().any(|field| field.name == name);
            let again = !seen.insert(name.as_str());
            if (!known && self.closed) || again {
                let msg = if again {
                    "The same member is there twice"
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
                None
            }
            (Kind::Texts { .. }, Value::String(_)) => None,
            (Kind::Texts { items_max }, Value::Array(items)) => self.check_items(items, items_max),
            (Kind::Texts { .. }, _) => Some(error(
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

    fn check_items(&self, items: &[Value], items_max: usize) -> Option<ValidationError> {
        if items.len() > items_max {
            let count = items.len();
            let msg = format!("List should have at most {items_max} items, not {count}");
            let error = ValidationError::new(&["body", self.name], "too_long", msg, None);
            return Some(error.ctx(json!({"max_length": items_max, "actual_length": count})));
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
        let mut schema = match self.kind {
            Kind::Text { characters_max } => json!({"type": "string", "maxLength": characters_max}),
            Kind::Url { characters_max } => {
                json!({"type": "string", "format": "uri", "maxLength": characters_max})
            }
            Kind::Texts { items_max } => {
                json!({"type": "array", "items": {"type": "string"}, "maxItems": items_max})
            }
            Kind::OneOf(names) => json!({"type": "string", "enum": names}),
            Kind::Flag => json!({"type": "boolean"}),
            Kind::Number => json!({"type": "number"}),
            Kind::Free => json!({"type": "object"}),
        };
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
            Kind::Texts { items_max } => {
                format!("array of strings, at most {items_max}, or one string that lists them")
            }
            Kind::OneOf(names) => format!("one of {}", names.join(", ")),
            Kind::Flag => "boolean".to_owned(),
            Kind::Number => "number".to_owned(),
            Kind::Free => "object, free-form".to_owned(),
        }
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

fn parse_members(body: &[u8]) -> Result<Vec<(String, Value)>, Vec<ValidationError>> {
    if body.is_empty() {
        return Err(vec![ValidationError::new(
            &["body"],
            "missing",
            "Field required",
            None,
        )]);
    }
    match serde_json::from_slice::<Members>(body) {
        Ok(Members(members)) => Ok(members),
        Err(error) if error.is_data() => Err(vec![ValidationError::new(
            &["body"],
            "model_attributes_type",
            "Input should be a valid dictionary or object to extract fields from",
            None,
        )]),
        Err(error) => {
            let mut invalid = ValidationError::new(
                &["body"],
                "json_invalid",
                "JSON decode error",
                Some(json!({})),
            );
            invalid.loc.push(error.column().into());
            Err(vec![invalid.ctx(json!({"error": error.to_string()}))])
        }
    }
}

/// The members of an object in order, repetitions included.
struct Members(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::shapes::ACCESS_REQUEST;

    fn check(body: &str, expected: &[(&str, &str)]) {
        let errors = ACCESS_REQUEST
            .validate(body.as_bytes())
            .err()
            .unwrap_or_default();
        let found: Vec<(String, &str)> = errors
            .iter()
            .map(|error| {
                let parts = error
                    .loc
                    .iter()
                    .map(|part| part.as_str().map_or(part.to_string(), str::to_owned));
                (parts.collect::<Vec<_>>().join("."), error.kind)
            })
            .collect();
        let found: Vec<(&str, &str)> = found
            .iter()
            .map(|(loc, kind)| (loc.as_str(), *kind))
            .collect();
        assert_eq!(found, expected, "{body}");
    }

    #[test]
    fn a_body_of_thousands_of_members_gets_a_few_complaints() {
        let members: Vec<String> = (0..6_000).map(|n| format!("\"m{n}\":1")).collect();
        let body = format!("{{{}}}", members.join(","));
        let errors = ACCESS_REQUEST.validate(body.as_bytes()).err();
        let count = errors.map_or(0, |errors| errors.len());
        assert!((1..=COMPLAINTS_MAX).contains(&count), "{count}");
    }

    #[test]
    fn each_defect_is_named_where_it_stands() {
        check(
            r#"{"target_url":"https://example.com/","tier":"deep","force_refresh":true}"#,
            &[],
        );
        check("{}", &[("body.target_url", "missing")]);
        check("", &[("body", "missing")]);
        check("[]", &[("body", "model_attributes_type")]);
        check("\"x\"", &[("body", "model_attributes_type")]);
        check("{\"target_url\"", &[("body.13", "json_invalid")]);
        check(
            r#"{"target_url":5,"tier":"Fresh","force_refresh":"yes"}"#,
            &[
                ("body.target_url", "string_type"),
                ("body.tier", "literal_error"),
                ("body.force_refresh", "bool_type"),
            ],
        );
        check(
            r#"{"target_url":"https://a.example/","x":1}"#,
            &[("body.x", "extra_forbidden")],
        );
        check(
            r#"{"target_url":"a","target_url":"b"}"#,
            &[("body.target_url", "extra_forbidden")],
        );
        check(
            r#"{"target_url":null}"#,
            &[("body.target_url", "string_type")],
        );
        check(
            &format!(
                r#"{{"target_url":"https://example.com/{}"}}"#,
                "a".repeat(2048)
            ),
            &[("body.target_url", "string_too_long")],
        );
        check(
            &format!(r#"{{"target_url":{}"#, "[".repeat(200)),
            &[("body.141", "json_invalid")],
        );
    }

    #[test]
    fn a_closed_set_is_spelt_out() {
        let errors = ACCESS_REQUEST
            .validate(br#"{"target_url":"https://a.example/","tier":"x"}"#)
            .expect_err("refused");
        assert_eq!(
            errors[0].msg,
            "Input should be 'starter', 'cached', 'basic', 'fresh' or 'deep'"
        );
        assert_eq!(
            errors[0].to_json()["ctx"]["expected"],
            "'starter', 'cached', 'basic', 'fresh' or 'deep'"
        );
    }

    #[test]
    fn an_open_table_lets_others_by_and_no_member_twice() {
        let kinds = |body: &str| -> Vec<&str> {
            let errors = crate::domain::shapes::COMPUTE_REQUEST.validate(body.as_bytes());
            let errors = errors.err().unwrap_or_default();
            errors.iter().map(|error| error.kind).collect()
        };
        let whole = r#"{"agent_id":"a","task_payload":{},"offered_fee":1,"more":[]}"#;
        assert!(kinds(whole).is_empty());
        assert_eq!(
            kinds(r#"{"agent_id":1,"task_payload":[],"offered_fee":"1"}"#),
            ["string_type", "dict_type", "float_type"]
        );
        assert_eq!(
            kinds(r#"{"agent_id":" ","task_payload":{},"offered_fee":1}"#),
            ["string_too_short"]
        );
        assert_eq!(
            kinds(r#"{"agent_id":"a","task_payload":{},"offered_fee":1,"offered_fee":2}"#),
            ["extra_forbidden"]
        );
    }

    #[test]
    fn a_list_is_an_array_of_texts_or_one_text() {
        let check = |targets: &str, expected: Option<(&str, usize)>| {
            let body = format!(r#"{{"contact":"a","target_urls":{targets}}}"#);
            let errors = crate::domain::shapes::BUNDLE_LEAD_REQUEST.validate(body.as_bytes());
            let errors = errors.err().unwrap_or_default();
            let found = errors.first().map(|error| (error.kind, error.loc.len()));
            assert_eq!(found, expected, "{targets}");
        };
        check(r#"["a","b"]"#, None);
        check(r#""a, b""#, None);
        check("[]", None);
        check(r#"["a",null]"#, Some(("string_type", 3)));
        check("null", Some(("list_type", 2)));
        check(&json!(vec!["a"; 101]).to_string(), Some(("too_long", 2)));
    }

    #[test]
    fn the_tables_hold_valid_json() {
        for object in crate::domain::shapes::ALL {
            for field in object.fields {
                serde_json::from_str::<Value>(field.example).expect("an example is JSON text");
                if let Some(default) = field.default {
                    serde_json::from_str::<Value>(default).expect("a default is JSON text");
                }
            }
            let example = object.example(true).to_string();
            assert!(object.validate(example.as_bytes()).is_ok(), "{example}");
        }
    }
}
