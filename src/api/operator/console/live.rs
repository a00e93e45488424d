//! The forms of the settings that change without a restart.

use crate::api::operator::console::RefusedForm;
use crate::app::App;
use crate::flows::operations::overrides::{CONSOLE, LIVE, LiveKind, NOT_SET, TEXT_CHARACTERS_MAX};
use crate::pages::console::{Block, Cell, Field, Form, Tone};

/// The act that gives a setting a value.
const SET: &str = "set-setting";

/// The live settings of some kinds. A value that was refused stands in its field, with the reason.
pub(super) fn settings(
    app: &App,
    refused: Option<&RefusedForm<'_>>,
    caption: &'static str,
    is_of: fn(LiveKind) -> bool,
) -> Block {
    let chosen = LIVE.iter().filter(|live| is_of(live.kind));
    Block::Table {
        caption,
        head: vec!["Current value", "Set in", "Configured value"],
        rows: chosen
            .map(|live| setting(app, refused, live.key, live.kind))
            .collect(),
        empty: "",
    }
}

/// A setting: its value in force, where it comes from, and the form to change it.
fn setting(
    app: &App,
    refused: Option<&RefusedForm<'_>>,
    key: &'static str,
    kind: LiveKind,
) -> Vec<Cell> {
    let (effective, configured) = (app.reloaded(), app.configured());
    let (value, origin) = effective.line(key).unwrap_or_default();
    let (file, file_origin) = configured.line(key).unwrap_or_default();
    let is_ours = origin == CONSOLE;
    let text = match (value, kind) {
        (NOT_SET, _) => String::new(),
        (hosts, LiveKind::Hosts) => hosts.replace(", ", "\n"),
        (value, _) => value.to_owned(),
    };
    let refused = refused.filter(|refused| refused.act == SET && refused.field("key") == key);
    let trouble = refused.map(|refused| refused.message.to_owned());
    let text = refused.map_or(text, |refused| refused.field("value").to_owned());
    let field = match kind {
        LiveKind::Quota(_) => Field::Number {
            name: "value",
            label: key,
            value: text,
            trouble,
        },
        LiveKind::Hosts | LiveKind::Link | LiveKind::Text(_) | LiveKind::Page(_) => Field::Area {
            name: "value",
            label: key,
            text,
            characters_max: TEXT_CHARACTERS_MAX,
            trouble,
        },
    };
    let set = Form::button(SET, "key", key, "Save").with(field);
    let unset = Form::button("unset-setting", "key", key, "Use the configured value");
    vec![
        Cell::Forms(
            std::iter::once(set)
                .chain(is_ours.then_some(unset))
                .collect(),
        ),
        match is_ours {
            true => Cell::Tag {
                text: CONSOLE.to_owned(),
                tone: Tone::Warn,
            },
            false => Cell::Text(match origin {
                "" | "default" => "default".to_owned(),
                _ => "the configuration".to_owned(),
            }),
        },
        Cell::Text(match file_origin {
            "" => file.to_owned(),
            origin => format!("{file} ({origin})"),
        }),
    ]
}
