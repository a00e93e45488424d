//! The layout of the operator's console: views of facts and tables, and a posted form for every change. The API supplies
//! the contents. Treat all text in them as hostile.

pub mod figures;

use maud::{Markup, html};

use crate::domain::time::UnixSeconds;
use crate::pages::assets::CONSOLE_STYLE_PATH;
use crate::pages::layout::{Layout, brand, document};
use crate::pages::parts;
use crate::pages::site::{FacilitatorMode, Site};
use figures::{Chart, Funnel, Number};

/// The console's home.
pub const HOME_PATH: &str = "/operator";
/// The prefix of the views and of the form actions.
pub const VIEWS_PATH: &str = "/operator/console/";
/// The form field with the CSRF token.
pub const TOKEN_FIELD: &str = "form_token";
/// The form field with the path to return to.
pub const BACK_FIELD: &str = "back";

/// The views by group: name in the address and label.
const GROUPS: [(&str, &[(&str, &str)]); 5] = [
    ("Overview", &[("today", "Today")]),
    (
        "Sales",
        &[
            ("payments", "Payments"),
            ("orders", "Orders"),
            ("leads", "Leads"),
            ("reports", "Reports"),
        ],
    ),
    ("Money", &[("ledger", "Ledger")]),
    (
        "Messages",
        &[("outbox", "Outbox"), ("events", "Webhook log")],
    ),
    (
        "System",
        &[
            ("health", "Health"),
            ("limits", "Limits"),
            ("config", "Configuration"),
            ("changes", "Changes"),
            ("data", "Data"),
        ],
    ),
];

/// Whether there is such a view.
pub fn is_view(name: &str) -> bool {
    let mut views = GROUPS.iter().flat_map(|(_, views)| *views);
    views.any(|(known, _)| *known == name)
}

/// One view of the console, for a signed-in operator.
#[derive(Clone, Debug)]
pub struct ConsoleView<'a> {
    pub site: Site<'a>,
    /// One that [`is_view`] knows.
    pub view: &'a str,
    /// The path and query of this page, for its forms to return to.
    pub path: &'a str,
    pub title: &'a str,
    /// The result of a form.
    pub done: Option<&'a str>,
    /// Why a form was refused.
    pub trouble: Option<&'a str>,
    /// Since when sales are paused.
    pub paused_since: Option<UnixSeconds>,
    pub form_token: &'a str,
    pub blocks: Vec<Block>,
}

#[derive(Clone, Debug)]
pub enum Block {
    Heading(String),
    Text(String),
    Note {
        text: String,
        tone: Tone,
    },
    /// What needs the operator's attention: the text, and the label and path of the link that leads there.
    Alerts(Vec<Alert>),
    Numbers(Vec<Number>),
    Charts(Vec<Chart>),
    Funnels(Vec<Funnel>),
    /// A search within a view.
    Search {
        view: &'static str,
        label: &'static str,
        typed: String,
        state: Option<String>,
    },
    /// Which part of a list is shown, and the paths of the parts beside it.
    Pager {
        range: String,
        newer: Option<String>,
        older: Option<String>,
    },
    Facts(Vec<(&'static str, Cell)>),
    Table {
        caption: &'static str,
        head: Vec<&'static str>,
        rows: Vec<Vec<Cell>>,
        /// The text in place of an empty table.
        empty: &'static str,
    },
    /// Links side by side: label, path, and whether it is the current one.
    Choices {
        label: &'static str,
        choices: Vec<(String, String, bool)>,
    },
    Forms(Vec<Form>),
    Code {
        caption: String,
        text: String,
    },
    /// The same, folded until it is asked for.
    Folded {
        caption: String,
        text: String,
    },
}

#[derive(Clone, Debug)]
pub struct Alert {
    pub text: String,
    pub tone: Tone,
    pub label: &'static str,
    pub path: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Good,
    Plain,
    Warn,
    Bad,
}

#[derive(Clone, Debug)]
pub enum Cell {
    Text(String),
    Number(String),
    Time(UnixSeconds),
    /// A time that leads to its record.
    Opens {
        at: UnixSeconds,
        path: String,
    },
    /// A day such as 2026-11-21, which never breaks.
    Day(String),
    /// A page of this service.
    Link {
        text: String,
        path: String,
    },
    /// An address of another site.
    ExternalAddress(String),
    /// The same behind a short text.
    ExternalLink {
        text: String,
        address: String,
    },
    Tag {
        text: String,
        tone: Tone,
    },
    /// A figure with a bar of so many percent.
    Bar {
        text: String,
        percent: u64,
        tone: Tone,
    },
    Code(String),
    Forms(Vec<Form>),
    Nothing,
}

/// One change: its action, fields and button.
#[derive(Clone, Debug)]
pub struct Form {
    /// The last segment of the form's action.
    pub act: &'static str,
    pub fields: Vec<Field>,
    pub button: String,
    /// Several buttons in place of the one: the name of what they choose, and the value and text of each.
    pub choices: Option<(&'static str, Vec<(&'static str, String)>)>,
    /// A checkbox to confirm what cannot be undone.
    pub confirm: Option<String>,
}

#[derive(Clone, Debug)]
pub enum Field {
    Hidden {
        name: &'static str,
        value: String,
    },
    Text {
        name: &'static str,
        label: &'static str,
        kind: &'static str,
        value: String,
        characters_max: usize,
        required: bool,
    },
    /// A whole number to change.
    Number {
        name: &'static str,
        label: &'static str,
        value: String,
        /// Why the value was refused.
        trouble: Option<String>,
    },
    /// Several lines, with a value to change.
    Area {
        name: &'static str,
        label: &'static str,
        text: String,
        characters_max: usize,
        /// Why the text was refused.
        trouble: Option<String>,
    },
}

impl Form {
    /// A button that acts on one thing.
    pub fn button(act: &'static str, name: &'static str, value: &str, button: &str) -> Form {
        Form::plain(act, button).with(Field::Hidden {
            name,
            value: value.to_owned(),
        })
    }

    /// A button that needs to know nothing.
    pub fn plain(act: &'static str, button: &str) -> Form {
        Form {
            act,
            fields: Vec::new(),
            button: button.to_owned(),
            choices: None,
            confirm: None,
        }
    }

    pub fn confirmed(mut self, what: impl Into<String>) -> Form {
        self.confirm = Some(what.into());
        self
    }

    /// Several buttons in place of the one.
    pub fn choosing(mut self, name: &'static str, choices: Vec<(&'static str, String)>) -> Form {
        self.choices = Some((name, choices));
        self
    }

    pub fn with(mut self, field: Field) -> Form {
        self.fields.push(field);
        self
    }
}

/// The path of a view.
pub fn path(view: &str) -> String {
    match view {
        "today" => HOME_PATH.to_owned(),
        view => format!("{VIEWS_PATH}{view}"),
    }
}

/// A view.
pub fn page(view: &ConsoleView<'_>) -> String {
    frame(
        view.site,
        view.title,
        &side(view),
        &html! {
            h1 { (view.title) }
            @if let Some(done) = view.done { .note role="status" { p { (parts::with_code(done)) } } }
            @if let Some(trouble) = view.trouble { .note.bad role="alert" { p { (parts::with_code(trouble)) } } }
            @if let Some(since) = view.paused_since {
                .note.warn role="status" { p {
                    strong { "Sales are paused" } " since " (parts::time(since))
                    ": paid endpoints return 503, and nothing is charged."
                } }
            }
            @for block in &view.blocks { (block_markup(view, block)) }
            p.small.muted { "Times are in UTC." }
        },
    )
}

/// The sign-in form. `trouble` says why the last attempt failed, `back` which view was asked for.
pub fn login_page(site: Site<'_>, trouble: Option<&str>, back: &str) -> String {
    frame(
        site,
        "Sign in",
        &html! {},
        &html! { .sign-in {
            h1 { "Sign in to the console" }
            @if let Some(trouble) = trouble { .note.bad role="alert" { p { (parts::with_code(trouble)) } } }
            form.ask action="/operator/login" method="post" {
                @if back != HOME_PATH { input type="hidden" name=(BACK_FIELD) value=(back); }
                label for="token" { "Operator token" }
                .row {
                    input #token name="token" type="password" required maxlength="512" autocomplete="current-password"
                        autofocus;
                    button type="submit" { "Sign in" }
                }
                p.hint {
                    "The value of the setting " code { "operator.token" } ". If you do not have it at hand: "
                    code { "context402 console" } " on the server prints a link that signs you in."
                }
            }
        } },
    )
}

/// The page of a one-time sign-in link, whose code it posts.
pub fn link_page(site: Site<'_>, code: &str) -> String {
    frame(
        site,
        "Sign in",
        &html! {},
        &html! { .sign-in {
            h1 { "Sign in to the console" }
            form action="/operator/login" method="post" {
                input type="hidden" name="link" value=(code);
                button type="submit" autofocus { "Sign in" }
            }
            p.hint { "This link works once." }
        } },
    )
}

/// Why the console is disabled, and how to enable it.
pub const DISABLED: &str = "operator.token is not set, so the console is disabled. To enable it, create a token with \
    `openssl rand -hex 32`, supply it as the credential `operator_token`, in the file that `operator.token_file` names, or in \
    the environment variable `CONTEXT402_OPERATOR_TOKEN`, and restart the service.";

/// The page shown while no token is configured.
pub fn closed_page(site: Site<'_>) -> String {
    frame(
        site,
        "The console is disabled",
        &html! {},
        &html! { .sign-in {
            h1 { "The console is disabled" }
            p.lead { (parts::with_code(DISABLED)) }
            p { "The " code { "context402" } " commands on the server do the same without a token." }
        } },
    )
}

/// The console's own frame: a sidebar, and nothing of the shop.
fn frame(site: Site<'_>, title: &str, side: &Markup, content: &Markup) -> String {
    let page = Layout {
        site,
        title,
        description: "The operator's console.",
        path: HOME_PATH,
        noindex: true,
    };
    let body = html! { .desk { (side) main #main { .console { (content) } } } };
    document(&page, &[CONSOLE_STYLE_PATH], &body)
}

/// The sidebar; on a phone a checkbox opens it, so that it needs no script.
fn side(view: &ConsoleView<'_>) -> Markup {
    html! {
        header.side {
            input.away #menu type="checkbox";
            .top {
                (brand())
                @if view.site.facilitator == FacilitatorMode::Sandbox { span.tag.warn { "test funds" } }
                label.menu for="menu" { "Menu" }
            }
            nav.console-nav aria-label="Console" {
                @for (group, views) in GROUPS {
                    p.group { (group) }
                    ul { @for (name, label) in views {
                        li { a href=(path(name)) aria-current=[(*name == view.view).then_some("page")] { (label) } }
                    } }
                }
                form action="/operator/logout" method="post" {
                    input type="hidden" name=(TOKEN_FIELD) value=(view.form_token);
                    button.quiet type="submit" { "Sign out" }
                }
            }
        }
    }
}

fn block_markup(view: &ConsoleView<'_>, block: &Block) -> Markup {
    html! {
        @match block {
            Block::Heading(text) => { h2 { (text) } }
            Block::Text(text) => { p { (parts::with_code(text)) } }
            Block::Note { text, tone } => { div class={ "note " (class(*tone)) } { p { (parts::with_code(text)) } } }
            Block::Alerts(alerts) if alerts.is_empty() => {}
            Block::Alerts(alerts) => { ul.alerts { @for alert in alerts {
                li class=(class(alert.tone)) { span { (alert.text) } a href=(alert.path) { (alert.label) } }
            } } }
            Block::Numbers(numbers) => { (figures::numbers(numbers)) }
            Block::Charts(charts) => { (figures::charts(charts)) }
            Block::Funnels(funnels) => { (figures::funnels(funnels)) }
            Block::Search { view, label, typed, state } => { (search(view, label, typed, state.as_deref())) }
            Block::Pager { range, newer, older } => { p.pager {
                span { (range) }
                @if let Some(path) = newer { a href=(path) rel="prev" { "Newer" } }
                @if let Some(path) = older { a href=(path) rel="next" { "Older" } }
            } }
            Block::Facts(facts) => { dl.facts {
                @for (label, value) in facts.iter().filter(|(_, value)| !matches!(value, Cell::Nothing)) {
                    dt { (label) } dd { (cell(view, value)) }
                }
            } }
            Block::Table { empty, rows, .. } if rows.is_empty() => { p.muted { (empty) } }
            Block::Table { caption, head, rows, .. } => {
                (parts::scrolling(caption, &table(view, head, rows)))
            }
            Block::Choices { label, choices } => { (choice_list(label, choices)) }
            Block::Forms(forms) => { .forms { @for form in forms { (form_markup(view, form)) } } }
            Block::Code { caption, text } => { (parts::folded_code(caption, text)) }
            Block::Folded { caption, text } => { details { summary { (caption) } (parts::folded_code(caption, text)) } }
        }
    }
}

fn table(view: &ConsoleView<'_>, head: &[&str], rows: &[Vec<Cell>]) -> Markup {
    let is_number = |column: usize| {
        let cell = rows.first().and_then(|row| row.get(column));
        matches!(cell, Some(Cell::Number(_) | Cell::Bar { .. }))
    };
    html! {
        table.labelled[head.len() > 1] {
            thead { tr { @for (column, label) in head.iter().enumerate() {
                th.num[is_number(column)] scope="col" { (label) }
            } } }
            tbody { @for row in rows { tr { @for (value, label) in row.iter().zip(head) {
                td.num[matches!(value, Cell::Number(_) | Cell::Bar { .. })].none[matches!(value, Cell::Nothing)] data-label=(label) {
                    (cell(view, value))
                }
            } } } }
        }
    }
}

fn choice_list(label: &str, choices: &[(String, String, bool)]) -> Markup {
    html! {
        nav.choices aria-label=(label) { ul { @for (text, path, is_here) in choices {
            li { a href=(path) aria-current=[is_here.then_some("true")] { (text) } }
        } } }
    }
}

fn search(view: &str, label: &str, typed: &str, state: Option<&str>) -> Markup {
    html! {
        form.find role="search" action=(path(view)) method="get" {
            input type="search" name="q" value=(typed) maxlength="200" aria-label=(label) placeholder=(label) autocomplete="off"
                spellcheck="false";
            @if let Some(state) = state { input type="hidden" name="state" value=(state); }
            button.quiet type="submit" { "Search" }
        }
    }
}

fn cell(view: &ConsoleView<'_>, value: &Cell) -> Markup {
    html! {
        @match value {
            Cell::Text(text) if is_long(text) => { span title=(text) { (text) } }
            Cell::Text(text) => { (text) }
            Cell::Number(text) => { (text) }
            Cell::Time(at) => { (parts::short_time(*at)) }
            Cell::Opens { at, path } => { a href=(path) { (parts::short_time(*at)) } }
            Cell::Day(day) => { time datetime=(day) { (day) } }
            Cell::Link { text, path } => { a class=[(text.chars().count() <= 16).then_some("nowrap")] href=(path) { (text) } }
            Cell::ExternalAddress(address) => { (parts::foreign_link(address)) }
            Cell::ExternalLink { text, address } => { a href=[parts::safe_href(address)] rel="nofollow noopener noreferrer" { code { (text) } } }
            Cell::Tag { text, tone } => { span class={ "tag " (class(*tone)) } { (text) } }
            Cell::Bar { text, percent, tone } => {
                span.bar { (text) (figures::bar(*percent, class(*tone))) }
            }
            Cell::Code(text) => { code { (text) } }
            Cell::Forms(forms) => { .forms { @for form in forms { (form_markup(view, form)) } } }
            Cell::Nothing => { span.muted { "–" } }
        }
    }
}

/// Whether a list may cut a text, so that it says the rest on its title.
fn is_long(text: &str) -> bool {
    text.chars().count() > 24
}

fn class(tone: Tone) -> &'static str {
    match tone {
        Tone::Good => "good",
        Tone::Plain => "",
        Tone::Warn => "warn",
        Tone::Bad => "bad",
    }
}

fn form_markup(view: &ConsoleView<'_>, form: &Form) -> Markup {
    html! {
        form action={ (VIEWS_PATH) (form.act) } method="post" {
            input type="hidden" name=(TOKEN_FIELD) value=(view.form_token);
            input type="hidden" name=(BACK_FIELD) value=(view.path);
            @for field in &form.fields { (shown_field(field)) }
            @if let Some(what) = &form.confirm {
                label.confirm { input type="checkbox" name="confirm" value="yes" required; " " (what) }
            }
            @match &form.choices {
                Some((name, choices)) => @for (value, text) in choices {
                    button.quiet type="submit" name=(name) value=(value) { (text) }
                },
                None => button.quiet.grave[form.confirm.is_some()] type="submit" { (form.button) },
            }
        }
    }
}

/// Why the value of a field was refused, below the field.
fn refused_value(trouble: Option<&str>) -> Markup {
    html! { @if let Some(trouble) = trouble { strong.trouble { (trouble) } } }
}

fn shown_field(field: &Field) -> Markup {
    html! {
        @match field {
            Field::Hidden { name, value } => { input type="hidden" name=(name) value=(value); }
            Field::Area { name, label, text, characters_max, trouble } => {
                label.wide { span { (label) } " "
                    textarea name=(name) rows=(text.lines().count().clamp(1, 12)) maxlength=(characters_max) spellcheck="false"
                        aria-invalid=[trouble.is_some().then_some("true")] { (text) }
                    (refused_value(trouble.as_deref()))
                }
            }
            Field::Number { name, label, value, trouble } => {
                label.wide { span { (label) } " "
                    input name=(name) value=(value) inputmode="numeric" maxlength="7" required autocomplete="off"
                        aria-invalid=[trouble.is_some().then_some("true")];
                    (refused_value(trouble.as_deref()))
                }
            }
            Field::Text { name, label, kind, value, characters_max, required } => {
                label { span { (label) } " "
                    input name=(name) type=(kind) value=[(!value.is_empty()).then_some(value)] maxlength=(characters_max) required[*required] autocomplete="off"; }
            }
        }
    }
}
