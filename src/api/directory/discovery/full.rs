//! `/llms-full.txt`: the complete reference as markdown, from the same tables as `/docs` and `/openapi.json`.

use std::fmt::Write as _;

use serde_json::Value;

use crate::api::challenge;
use crate::api::directory::discovery::llms;
use crate::api::directory::documents::{document_of, operations};
use crate::api::directory::openapi;
use crate::api::frame::made_once;
use crate::api::{failure, frame};
use crate::app::{App, Row, Shared};
use crate::domain::code::Code;
use crate::domain::level::Level;
use crate::domain::schema::Object;
use crate::domain::shapes;
use crate::domain::tier::Tier;
use crate::http::{Call, Reply};
use crate::pages::commands::{self, Item};

/// GET /llms-full.txt.
pub async fn full(app: Shared, call: Call) -> Reply {
    made_once(&app, &call, |app| {
        document_of("text/plain; charset=utf-8", text(app))
    })
}

fn text(app: &App) -> String {
    let mut text = llms::introduction(app);
    text.push_str("\n## Buying in code\n\n");
    text.push_str(&programs(app));
    text.push_str("## A challenge\n\nThe body of the 402; PAYMENT-REQUIRED is its base64.\n\n");
    let unpaid = challenge::unpaid(app, Level::Tier(Tier::default()).into()).body;
    text.push_str(&code("json", &pretty(&unpaid)));
    text.push_str("## A report\n\nThe complete sample report.\n\n");
    text.push_str(&code("json", &pretty(&app.sample.report.body)));
    text.push_str("## Endpoints\n\n");
    text.extend(operations(app).map(endpoint));
    text.push_str("## Request bodies\n\n");
    text.extend(shapes::ALL.iter().map(|object| body(object)));
    text.push_str("## Errors\n\n");
    text.extend(Code::ALL.iter().map(|code| error(*code)));
    text
}

fn programs(app: &App) -> String {
    let texts = frame::Texts::of(app);
    let view = frame::site(app, &texts);
    let item = Item::page("https://example.com/", Tier::default());
    [
        ("bash", commands::challenge_curl(&view, item)),
        ("typescript", commands::typescript(&view, item)),
        ("python", commands::python(&view, item)),
    ]
    .map(|(language, program)| code(language, &program))
    .concat()
}

fn code(language: &str, text: &str) -> String {
    format!("```{language}\n{}\n```\n\n", text.trim_end())
}

fn pretty(json: &[u8]) -> String {
    let value: Value = serde_json::from_slice(json).unwrap_or_default();
    serde_json::to_string_pretty(&value).unwrap_or_default()
}

fn endpoint(row: &Row) -> String {
    let about = &row.about;
    let mut text = format!(
        "### {} {}\n\n{}.",
        row.method.name(),
        row.path,
        about.summary
    );
    if let Some(price) = about.price.text() {
        let _ = write!(text, " Price: {price}.");
    }
    if let Some(tool) = about.tool {
        let _ = write!(text, " MCP tool: `{tool}`.");
    }
    text.push_str("\n\n");
    for parameter in about.query {
        let _ = write!(text, "- query `{}`: {}", parameter.name, parameter.doc);
        if !parameter.one_of.is_empty() {
            let _ = write!(text, " One of {}.", parameter.one_of.join(", "));
        }
        text.push('\n');
    }
    for (name, doc) in openapi::parameters::headers(row) {
        let _ = writeln!(text, "- header `{name}`: {doc}");
    }
    for object in about.takes.iter().chain(about.or_takes) {
        let _ = writeln!(text, "- body: {}", object.name);
    }
    let statuses = row.about.all_statuses();
    let statuses: Vec<String> = statuses.iter().map(u16::to_string).collect();
    let _ = write!(text, "- responses: {}\n\n", statuses.join(", "));
    text
}

fn body(object: &Object) -> String {
    let mut text = format!("### {}\n\n{}", object.name, object.doc);
    if object.closed {
        text.push_str(" Other members are rejected.");
    }
    text.push_str("\n\n");
    for field in object.fields {
        let need = if field.required {
            "required"
        } else {
            "optional"
        };
        let _ = write!(text, "- `{}` ({need}; {}", field.name, field.rules());
        if let Some(default) = field.default {
            let _ = write!(text, "; default {default}");
        }
        let _ = writeln!(text, "): {}", field.doc);
    }
    text.push('\n');
    text + &code("json", &openapi::request_example(object).to_string())
}

fn error(code: Code) -> String {
    format!(
        "- `{}` ({}): {} {}\n",
        code.text(),
        failure::status(code),
        code.meaning(),
        code.next_step()
    )
}
