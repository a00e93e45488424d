//! The challenge: what a 402, a probe and the discovery documents say about a price. One builder, so that they agree.
//! The bytes are the same for the same inputs; it knows no clock and signs nothing.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value, json};

use crate::x402::encoding;
use crate::x402::offer_receipt::OFFER_RECEIPT;
use crate::x402::wire::{
    PaymentRequired, PaymentRequirements, ResourceInfo, SCHEMA_DIALECT, Version2,
};

/// Longest challenge in bytes of JSON. Facilitators have refused payments that echo more than about 3,000 of them.
const JSON_BYTES_MAX: usize = 2_900;
/// Longest description in characters; a large facilitator refuses payments that echo about 500.
const DESCRIPTION_CHARS_MAX: usize = 300;
/// Longest service name, and longest tag, in printable ASCII characters.
const NAME_CHARS_MAX: usize = 32;
const TAGS_MAX: usize = 5;
const ICON_URL_CHARS_MAX: usize = 2_048;

/// The key of the idempotency extension.
pub const PAYMENT_IDENTIFIER: &str = "payment-identifier";
/// The key of the discovery extension.
const BAZAAR: &str = "bazaar";

/// What a challenge says.
#[derive(Clone, Debug)]
pub struct ChallengeInputs<'a> {
    /// The public absolute address of the paid endpoint, from `base_url`.
    pub resource_url: &'a str,
    pub description: &'a str,
    pub service_name: &'a str,
    pub tags: &'a [&'a str],
    pub icon_url: Option<&'a str>,
    /// The ways to pay; one entry is best, because many clients take the first without reading on.
    pub requirements: &'a [PaymentRequirements],
    pub bazaar: Bazaar,
    /// Extensions beside bazaar and payment-identifier, each `{info, schema}`; the first thing to go for length.
    pub further_extensions: Map<String, Value>,
    /// Why the client reads this: a sentence, or a machine reason such as the facilitator's.
    pub error: &'a str,
}

/// How the endpoint is called, for directories (extension bazaar, POST form).
#[derive(Clone, Debug)]
pub struct Bazaar {
    /// A request body that works.
    pub body_example: Value,
    /// The JSON schema of the request body.
    pub body_schema: Value,
    /// A short answer.
    pub output_example: Value,
}

/// A finished challenge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Challenge {
    /// The body of the 402.
    pub json: Vec<u8>,
    /// Standard base64 of exactly that body: PAYMENT-REQUIRED and X-Payment-Required.
    pub header: String,
    /// Its extensions, which a buyer may echo and add to, and may not alter.
    pub advertised: BTreeMap<String, Advertised>,
}

/// An extension as a challenge carries it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advertised {
    /// All of it, as most clients echo it byte for byte.
    pub text: String,
    pub info: Value,
}

/// Why no challenge can be made of the inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChallengeError {
    NoRequirements,
    Description,
    ServiceName,
    Tags,
    IconUrl,
    /// Still too long with every optional part left out.
    TooLong {
        bytes: usize,
    },
}

impl fmt::Display for ChallengeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ChallengeError::NoRequirements => f.write_str("A challenge needs a way to pay"),
            ChallengeError::Description => write!(
                f,
                "The description has more than {DESCRIPTION_CHARS_MAX} characters"
            ),
            ChallengeError::ServiceName => write!(
                f,
                "The service name is not 1 to {NAME_CHARS_MAX} printable ASCII characters"
            ),
            ChallengeError::Tags => write!(
                f,
                "The tags are not up to {TAGS_MAX} of 1 to {NAME_CHARS_MAX} printable ASCII characters"
            ),
            ChallengeError::IconUrl => f.write_str("The icon's address is not http or https"),
            ChallengeError::TooLong { bytes } => write!(
                f,
                "The challenge has {bytes} bytes, more than {JSON_BYTES_MAX}"
            ),
        }
    }
}

impl std::error::Error for ChallengeError {}

impl Challenge {
    /// Builds the challenge. When it is longer than [`JSON_BYTES_MAX`], optional parts are left out in this order
    /// until it fits: what the body's schema says in prose, further extensions, icon, tags, service name, description.
    /// Never `accepts`, the resource's address, bazaar or payment-identifier.
    pub fn new(inputs: &ChallengeInputs<'_>) -> Result<Challenge, ChallengeError> {
        refuse_unfit(inputs)?;
        let mut document = document(inputs);
        let mut json = encoded(&document);
        for leave_out in LEFT_OUT_IN_ORDER {
            if json.len() <= JSON_BYTES_MAX {
                break;
            }
            leave_out(&mut document);
            json = encoded(&document);
        }
        if json.len() > JSON_BYTES_MAX {
            return Err(ChallengeError::TooLong { bytes: json.len() });
        }
        let header = encoding::encode(&json);
        let advertised = advertised(document.extensions.unwrap_or_default());
        Ok(Challenge {
            json,
            header,
            advertised,
        })
    }
}

const LEFT_OUT_IN_ORDER: [fn(&mut PaymentRequired); 8] = [
    |document| of_body(document, leave_out_prose),
    |document| of_body(document, leave_only_types),
    |document| of_body(document, leave_only_required),
    |document| {
        if let Some(extensions) = &mut document.extensions {
            extensions.retain(|key, _| key == BAZAAR || key == PAYMENT_IDENTIFIER);
        }
    },
    |document| document.resource.icon_url = None,
    |document| document.resource.tags = None,
    |document| document.resource.service_name = None,
    |document| document.resource.description = None,
];

/// Where the schema of the request body stands in the extension bazaar.
const BODY_SCHEMA: &str = "/schema/properties/input/properties/body";

/// Changes what a challenge says of the request body.
fn of_body(document: &mut PaymentRequired, change: fn(&mut Value)) {
    let extensions = document.extensions.as_mut();
    let bazaar = extensions.and_then(|all| all.get_mut(BAZAAR));
    if let Some(body) = bazaar.and_then(|bazaar| bazaar.pointer_mut(BODY_SCHEMA)) {
        change(body);
    }
}

fn leave_out_prose(schema: &mut Value) {
    let leave_out = |value: &mut Value| {
        if let Some(members) = value.as_object_mut() {
            members.shift_remove("description");
        }
    };
    leave_out(schema);
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    properties
        .into_iter()
        .flat_map(|all| all.values_mut())
        .for_each(leave_out);
}

/// Of each member of a body, its type and the names that it may have.
fn leave_only_types(schema: &mut Value) {
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for property in properties.into_iter().flat_map(|all| all.values_mut()) {
        if let Some(members) = property.as_object_mut() {
            members.retain(|name, _| matches!(name.as_str(), "type" | "enum"));
        }
    }
}

/// The members that a body must have. The others stand in openapi.json, and are no longer said to be all.
fn leave_only_required(schema: &mut Value) {
    let required = schema.get("required").cloned().unwrap_or_default();
    let is_required = |name: &str| {
        let mut names = required.as_array().into_iter().flatten();
        names.any(|required| required == name)
    };
    if let Some(members) = schema.as_object_mut() {
        members.shift_remove("additionalProperties");
    }
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    if let Some(properties) = properties {
        properties.retain(|name, _| is_required(name));
    }
}

fn refuse_unfit(inputs: &ChallengeInputs<'_>) -> Result<(), ChallengeError> {
    let is_name = |text: &str| {
        (1..=NAME_CHARS_MAX).contains(&text.len())
            && text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
    };
    let is_icon = |url: &str| {
        url.len() <= ICON_URL_CHARS_MAX
            && (url.starts_with("https://") || url.starts_with("http://"))
    };
    if inputs.requirements.is_empty() {
        Err(ChallengeError::NoRequirements)
    } else if inputs.description.chars().count() > DESCRIPTION_CHARS_MAX {
        Err(ChallengeError::Description)
    } else if !is_name(inputs.service_name) {
        Err(ChallengeError::ServiceName)
    } else if inputs.tags.len() > TAGS_MAX || !inputs.tags.iter().all(|tag| is_name(tag)) {
        Err(ChallengeError::Tags)
    } else if !inputs.icon_url.is_none_or(is_icon) {
        Err(ChallengeError::IconUrl)
    } else {
        Ok(())
    }
}

fn document(inputs: &ChallengeInputs<'_>) -> PaymentRequired {
    let mut extensions = Map::new();
    extensions.insert(BAZAAR.to_owned(), bazaar(&inputs.bazaar));
    extensions.insert(PAYMENT_IDENTIFIER.to_owned(), payment_identifier());
    extensions.extend(inputs.further_extensions.clone());
    PaymentRequired {
        x402_version: Version2,
        error: Some(inputs.error.to_owned()),
        resource: ResourceInfo {
            url: inputs.resource_url.to_owned(),
            description: Some(inputs.description.to_owned()),
            mime_type: Some("application/json".to_owned()),
            service_name: Some(inputs.service_name.to_owned()),
            tags: Some(inputs.tags.iter().map(ToString::to_string).collect()),
            icon_url: inputs.icon_url.map(ToOwned::to_owned),
        },
        accepts: inputs.requirements.to_vec(),
        extensions: Some(extensions),
    }
}

fn advertised(extensions: Map<String, Value>) -> BTreeMap<String, Advertised> {
    let extensions = extensions.into_iter().map(|(key, mut extension)| {
        let text = extension.to_string();
        let info = extension.get_mut("info").map(Value::take);
        let mut info = info.unwrap_or_default();
        // Each challenge may have signatures of its own, and they prove themselves.
        if let Some(members) = info.as_object_mut().filter(|_| key == OFFER_RECEIPT) {
            members.shift_remove("offers");
        }
        (key, Advertised { text, info })
    });
    extensions.collect()
}

fn encoded(document: &PaymentRequired) -> Vec<u8> {
    serde_json::to_vec(document).expect("strings, numbers and string keys always serialize")
}

/// The extension bazaar for a POST endpoint that takes and gives JSON. `info` is valid under `schema`; directories
/// check that.
pub fn bazaar(inputs: &Bazaar) -> Value {
    let input =
        json!({"type": "http", "method": "POST", "bodyType": "json", "body": inputs.body_example});
    let input_schema = json!({
        "type": "object",
        "properties": {
            "type": {"type": "string", "const": "http"},
            "method": {"type": "string", "enum": ["POST"]},
            "bodyType": {"type": "string", "enum": ["json", "form-data", "text"]},
            "body": inputs.body_schema,
        },
        "required": ["type", "method", "bodyType", "body"],
        "additionalProperties": false,
    });
    extension(&input, &input_schema, &inputs.output_example)
}

/// The same for a GET endpoint: an example of its query, and the schema of that.
pub fn bazaar_of_query(example: &Value, schema: &Value, output_example: &Value) -> Value {
    let input = json!({"type": "http", "method": "GET", "queryParams": example});
    let input_schema = json!({
        "type": "object",
        "properties": {
            "type": {"type": "string", "const": "http"},
            "method": {"type": "string", "enum": ["GET"]},
            "queryParams": schema,
        },
        "required": ["type", "method"],
        "additionalProperties": false,
    });
    extension(&input, &input_schema, output_example)
}

fn extension(input: &Value, input_schema: &Value, output_example: &Value) -> Value {
    json!({
        "info": {"input": input, "output": {"type": "json", "example": output_example}},
        "schema": {
            "$schema": SCHEMA_DIALECT,
            "type": "object",
            "properties": {
                "input": input_schema,
                "output": {
                    "type": "object",
                    "properties": {"type": {"type": "string"}, "example": {"type": "object"}},
                    "required": ["type"],
                },
            },
            "required": ["input"],
        },
    })
}

/// The extension payment-identifier: clients may send an id of their own, so that a repeated request is one purchase.
pub fn payment_identifier() -> Value {
    json!({
        "info": {"required": false},
        "schema": {
            "$schema": SCHEMA_DIALECT,
            "type": "object",
            "properties": {
                "required": {"type": "boolean"},
                "id": {"type": "string", "minLength": 16, "maxLength": 128, "pattern": "^[a-zA-Z0-9_-]+$"},
            },
            "required": ["required"],
        },
    })
}

#[cfg(test)]
mod tests;
