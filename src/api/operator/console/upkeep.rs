//! The views Reports, Outbox, Data, Health, Configuration and Changes.

use serde_json::Value;

use crate::api::directory::documents::DESCRIPTION_VERSION;
use crate::api::operator::console::show::{Asked, List};
use crate::api::operator::console::{RefusedForm, View, live, show, today};
use crate::api::operator::{self, FoundReport, data, export, mails};
use crate::app::{App, Shared};
use crate::domain::figures::size;
use crate::domain::ids::ShareSlug;
use crate::domain::mail::{ADDRESS_CHARACTERS_MAX, MailState};
use crate::domain::refusal::Refusal;
use crate::domain::time::{UnixSeconds, span};
use crate::flows::operations::certificates::{self, CertificateStatus};
use crate::flows::operations::overrides::LiveKind;
use crate::flows::quotes::availability;
use crate::http::Call;
use crate::pages::console::{Block, Cell, Field, Form, Tone, VIEWS_PATH};
use crate::store::{Listing, Snapshot};

/// Changes that are shown at once.
const CHANGES_SHOWN_MAX: usize = 200;

pub(super) async fn reports(app: &Shared, call: &Call) -> Result<View, Refusal> {
    if let Some(id) = call.query.get("id") {
        return report(app, &id).await;
    }
    let asked = Asked::of(call);
    let now = app.now();
    let found = operator::newest_reports(&app.store, asked.search.clone(), now).await?;
    let list = List {
        view: "reports",
        searched: "Source, title, question, payment or report",
        states: &operator::REPORT_STATES,
        caption: "Reports, newest first",
        records: &found,
        columns: &[
            ("Created", &|FoundReport { id, record, .. }| {
                show::opens(record.created_at, id, "reports")
            }),
            ("State", &|report| show::text(report.record.state(now))),
            ("Pack", &|report| show::words(report.record.pack.as_str())),
            ("Decision", &|report| show::label(&report.record.label)),
            ("Source", &|report| {
                show::external_address(&report.record.target_url)
            }),
            ("Question", &|report| {
                show::text(report.record.question.as_str())
            }),
        ],
        empty: "No such reports.",
    };
    Ok(View::new("Reports", list.blocks(&asked)))
}

async fn report(app: &Shared, id: &str) -> Result<View, Refusal> {
    let (found, document) = operator::one_report(&app.store, id).await?;
    let (record, listing) = (&found.record, found.listing);
    let purge = Form::button("purge-report", "report_id", id, "Delete this report")
        .confirmed("Yes, permanently");
    let forms = match listing {
        Listing::AwaitingApproval => vec![
            Form::button("approve-report", "report_id", id, "Add to public reports"),
            purge,
        ],
        Listing::Listed => vec![
            Form::button(
                "unlist-report",
                "report_id",
                id,
                "Remove from public reports",
            ),
            purge,
        ],
        Listing::Unlisted => vec![purge],
    };
    let shared = record.shared.map(|link| ShareSlug(link.slug).to_string());
    Ok(View::new(
        show::title("Report", id),
        vec![
            Block::Facts(vec![
                ("State", show::text(record.state(app.now()))),
                (
                    "Report",
                    Cell::Link {
                        text: "Open as the buyer sees it".to_owned(),
                        path: format!("/proof-pack/reports/{id}"),
                    },
                ),
                ("Identifier", show::whole_id(id)),
                ("Source", show::external_address(&record.target_url)),
                ("Question", show::text(record.question.as_str())),
                ("Decision", show::label(&record.label)),
                ("Payment", show::link(Some(record.payment), "payments")),
                ("Shared as", show::text(shared.as_deref())),
                ("Public listing", show::text(listing.name())),
                ("Created", show::time(record.created_at)),
                ("Stored until", show::time(record.expires_at)),
            ]),
            Block::Forms(forms),
            show::folded("Report JSON", &document),
        ],
    ))
}

pub(super) async fn outbox(app: &Shared, call: &Call) -> Result<View, Refusal> {
    if let Some(key) = call.query.get("id") {
        return mail(app, &key).await;
    }
    let asked = Asked::of(call);
    let found = mails::newest(&app.store, asked.search.clone()).await?;
    let mut blocks = Vec::new();
    if !app.outside.mailer.is_on() {
        blocks.push(Block::Note {
            text: "No mail server is configured, so no e-mails are sent. Those that were queued before wait until \
                   `mail.smtp_host` is set."
                .to_owned(),
            tone: Tone::Warn,
        });
    }
    let list = List {
        view: "outbox",
        searched: "To, subject, order, problem or key",
        states: &MailState::NAMES,
        caption: "E-mails, newest first",
        records: &found,
        columns: &[
            ("Created", &|(key, record)| {
                show::opens(record.created_at, key, "outbox")
            }),
            ("State", &|(_, record)| show::tag(record.state.name(), tone)),
            ("Kind", &|(_, record)| show::text(record.mail.kind.name())),
            ("To", &|(_, record)| show::text(record.mail.to.as_str())),
            ("Subject", &|(_, record)| {
                show::text(record.mail.subject.as_str())
            }),
            ("Attempts", &|(_, record)| show::number(record.tries)),
            ("Error", &|(_, record)| {
                show::text(record.problem.as_deref())
            }),
        ],
        empty: "No such e-mails.",
    };
    blocks.extend(list.blocks(&asked));
    Ok(View::new("Outbox", blocks))
}

async fn mail(app: &Shared, text: &str) -> Result<View, Refusal> {
    let (_, record) = mails::one(&app.store, text).await?;
    let mail = &record.mail;
    let attachment = mail.attachment.as_ref().map(|file| file.name.as_str());
    let mut forms = Vec::new();
    if record.state != MailState::Sent {
        forms.push(Form::button("retry-mail", "key", text, "Retry now"));
    }
    forms.push(
        Form::button("delete-mail", "key", text, "Delete").confirmed("Yes, delete without sending"),
    );
    Ok(View::new(
        show::title("E-mail", text),
        vec![
            Block::Facts(vec![
                ("State", show::tag(record.state.name(), tone)),
                ("To", show::text(mail.to.as_str())),
                ("Subject", show::text(mail.subject.as_str())),
                ("About", show::text(mail.about.as_str())),
                ("Attachment", show::text(attachment)),
                ("Attempts", Cell::Text(record.tries.to_string())),
                ("Next attempt", show::time(record.state.next_try())),
                ("Error", show::text(record.problem.as_deref())),
                ("Created", show::time(record.created_at)),
                ("Changed", show::time(record.changed_at)),
            ]),
            Block::Code {
                caption: "Text".to_owned(),
                text: mail.text.clone(),
            },
            Block::Forms(forms),
        ],
    ))
}

fn tone(state: &str) -> Tone {
    match state {
        "sent" => Tone::Good,
        "failed" => Tone::Bad,
        _ => Tone::Warn,
    }
}

/// Exports, and the data about one person.
pub(super) async fn data(app: &Shared, call: &Call) -> Result<View, Refusal> {
    let mut blocks = vec![
        Block::Heading("Export".to_owned()),
        Block::Text("Export all records as CSV or JSON.".to_owned()),
        Block::Table {
            caption: "Exports",
            head: vec!["Records", "CSV", "JSON"],
            rows: export::KINDS
                .iter()
                .map(|kind| export_row(kind.name))
                .collect(),
            empty: "",
        },
        Block::Heading("Personal data".to_owned()),
        Block::Text(
            "Look up what is stored about an e-mail address (leads, orders and e-mails, which can be deleted) or about a \
             wallet address (payments and reports, which are accounting records)."
                .to_owned(),
        ),
        Block::Forms(vec![Form::plain("look-up", "Look up").with(Field::Text {
            name: "email",
            label: "E-mail or wallet address",
            kind: "text",
            value: String::new(),
            characters_max: ADDRESS_CHARACTERS_MAX,
            required: true,
        })]),
    ];
    if let Some(email) = call.query.get("email") {
        let person = data::person(&app.store, &email).await?;
        blocks.push(Block::Heading(format!("Data about {email}")));
        if !is_any(
            &person,
            &["leads", "orders", "mails", "payments", "reports"],
        ) {
            blocks.push(Block::Text(format!("Nothing is stored about {email}.")));
        } else {
            blocks.push(show::whole("Stored records", &person));
        }
        if is_any(&person, &["leads", "orders", "mails"]) {
            let form = Form::button("forget", "email", &email, "Delete all of this data");
            blocks.push(Block::Forms(vec![
                form.confirmed("Yes, permanently, including orders in progress"),
            ]));
        }
    }
    Ok(View::new("Data", blocks))
}

/// Whether one of these lists has a record.
fn is_any(person: &Value, lists: &[&str]) -> bool {
    let mut lists = lists.iter().filter_map(|list| person[*list].as_array());
    lists.any(|list| !list.is_empty())
}

fn export_row(name: &str) -> Vec<Cell> {
    let link = |format: &str| Cell::Link {
        text: format!("{name}.{format}"),
        path: format!("{VIEWS_PATH}export?what={name}&format={format}"),
    };
    let records = match name {
        "mails" => "e-mails",
        "events" => "webhook events",
        name => name,
    };
    vec![Cell::Text(records.to_owned()), link("csv"), link("json")]
}

pub(super) async fn health(app: &Shared) -> Result<View, Refusal> {
    let health = &app.health;
    let facilitator = match health.facilitator() {
        None => tag("not checked yet", Tone::Plain),
        Some(found) => match found.trouble {
            Some(trouble) => tag(&trouble, Tone::Bad),
            None => tag(
                &format!("responds in {} ms", found.latency.as_millis()),
                Tone::Good,
            ),
        },
    };
    let gas = health.gas();
    let chain = match (&app.outside.chain, gas.trouble) {
        (None, _) => tag("not configured", Tone::Warn),
        (Some(_), Some(trouble)) => tag(&trouble, Tone::Bad),
        (Some(_), None) => tag("responds", Tone::Good),
    };
    let availability = availability::now(app);
    let sales = match (availability.is_complete(), availability.is_open()) {
        (true, _) => tag("open", Tone::Good),
        (false, true) => tag("partly available", Tone::Warn),
        (false, false) => tag("closed", Tone::Bad),
    };
    let disk = match health.disk_low() {
        true => tag("low: sales stopped", Tone::Bad),
        false => tag("enough", Tone::Good),
    };
    let mail = match app.outside.mailer.is_on() {
        true => tag("configured", Tone::Good),
        false => tag("not configured: no e-mails are sent", Tone::Warn),
    };
    let renderer = health.renderer();
    let browser = match (&app.outside.renderer, renderer.trouble, renderer.browser) {
        (None, ..) => tag("not configured: scripts of pages are not run", Tone::Plain),
        (Some(_), Some(trouble), _) => tag(&trouble, Tone::Bad),
        (Some(_), None, Some(browser)) => tag(&browser, Tone::Good),
        (Some(_), None, None) => tag("not tried yet", Tone::Plain),
    };
    let tls = match (certificates::expires_in(app), certificates::status(app)) {
        (None, _) => tag("by the reverse proxy", Tone::Plain),
        (Some(seconds), CertificateStatus::Good) => {
            tag(&format!("{} left", span(seconds)), Tone::Good)
        }
        (Some(_), status) => match health.tls().trouble {
            Some(trouble) => tag(&format!("{status}: {trouble}"), Tone::Bad),
            None => tag(status.name(), Tone::Bad),
        },
    };
    let bytes = |count: u64| Cell::Text(size(count));
    let stored = app.store.stored_bytes().await?;
    let limited = app.metrics.limited.counts().into_iter();
    let limited = limited.filter_map(|(values, count)| Some((*values.first()?, count)));
    let log = Block::Table {
        caption: "Log, newest first",
        head: vec!["Time", "Level", "Message"],
        rows: app
            .troubles
            .list()
            .iter()
            .rev()
            .map(|line| logged(line))
            .collect(),
        empty: "None since start.",
    };
    // Details for the table's short states.
    let mut blocks = today::warnings(app);
    if availability.is_complete() {
        blocks.insert(0, Block::Text(availability.sentence()));
    }
    blocks.extend([
        Block::Facts(vec![
            ("Sales", sales),
            (
                "Version",
                Cell::Text(format!(
                    "{} (API {DESCRIPTION_VERSION})",
                    env!("CARGO_PKG_VERSION")
                )),
            ),
            ("Uptime", Cell::Text(span(app.started.elapsed().as_secs()))),
            ("Facilitator", facilitator),
            ("Chain", chain),
            ("Browser", browser),
            ("Disk", disk),
            ("Free disk space", bytes(health.free_bytes())),
            (
                "Data file",
                stored.map_or(Cell::Text("not counted yet".to_owned()), bytes),
            ),
            ("Stored reports and responses", bytes(health.kept_bytes())),
            ("Mail", mail),
            ("TLS certificate", tls),
            (
                "Pages read since start",
                Cell::Text(format!(
                    "{} from the cache, {} fetched",
                    app.metrics.cache.get(["hit"]),
                    app.metrics.cache.get(["miss"])
                )),
            ),
            ("Rate-limited since start", show::counts(&limited.collect())),
        ]),
        Block::Heading("Tests".to_owned()),
        Block::Forms(self_tests(app)),
        Block::Heading("Latest warnings and errors".to_owned()),
        log,
    ]);
    Ok(View::new("Health", blocks))
}

/// A line of the log: time, level, and the message with its fields.
fn logged(line: &str) -> Vec<Cell> {
    // A line that was cut is no JSON any more.
    let Ok(Value::Object(line)) = serde_json::from_str(line) else {
        return vec![Cell::Nothing, Cell::Nothing, Cell::Text(line.to_owned())];
    };
    let text = |name: &str| line.get(name).and_then(Value::as_str).unwrap_or_default();
    let at = text("time").parse::<jiff::Timestamp>().ok();
    let at = at.and_then(|at| u64::try_from(at.as_second()).ok());
    let tone = if text("level") == "ERROR" {
        Tone::Bad
    } else {
        Tone::Warn
    };
    let fields = line
        .iter()
        .filter(|(name, _)| !["time", "level", "target", "message"].contains(&name.as_str()));
    let fields = fields.map(|(name, value)| match value {
        Value::String(value) => format!(" · {name}: {value}"),
        value => format!(" · {name}: {value}"),
    });
    vec![
        at.map_or(Cell::Nothing, |at| Cell::Time(UnixSeconds(at))),
        tag(&text("level").to_lowercase(), tone),
        Cell::Text(text("message").to_owned() + &fields.collect::<String>()),
    ]
}

/// Self-tests: the facilitator always, mail and webhook if configured.
fn self_tests(app: &App) -> Vec<Form> {
    let mut forms = vec![Form::plain("try-facilitator", "Test the facilitator")];
    if app.outside.hook.is_some() {
        forms.push(Form::plain("try-notice", "Send a test notice"));
    }
    if app.outside.mailer.is_on() {
        forms.push(
            Form::plain("try-mail", "Send a test e-mail").with(Field::Text {
                name: "email",
                label: "Test e-mail to",
                kind: "email",
                value: String::new(),
                characters_max: ADDRESS_CHARACTERS_MAX,
                required: true,
            }),
        );
    }
    forms
}

fn tag(text: &str, tone: Tone) -> Cell {
    Cell::Tag {
        text: text.to_owned(),
        tone,
    }
}

/// The effective settings; secrets are masked. Those that differ from their defaults, or all.
pub(super) fn config(app: &App, call: &Call, refused: Option<&RefusedForm<'_>>) -> View {
    let is_all = call.query.get("show").as_deref() == Some("all");
    let effective = app.reloaded();
    let is_set = |origin: &str| !origin.is_empty() && origin != "default";
    let rows = effective.lines.iter();
    let rows = rows.filter(|(.., origin)| is_all || is_set(origin));
    let rows = rows.map(|(key, value, origin)| {
        vec![
            Cell::Code((*key).to_owned()),
            Cell::Text(value.clone()),
            Cell::Text(origin.clone()),
        ]
    });
    let path = |query: &str| format!("{VIEWS_PATH}config{query}");
    let choices = Block::Choices {
        label: "Show",
        choices: vec![
            ("set".to_owned(), path(""), !is_all),
            ("all".to_owned(), path("?show=all"), is_all),
        ],
    };
    let table = Block::Table {
        caption: "Effective settings",
        head: vec!["Setting", "Value", "From"],
        rows: rows.collect(),
        empty: "Every setting has its default.",
    };
    View::new(
        "Configuration",
        vec![
            Block::Heading("Contact and legal details".to_owned()),
            Block::Text(
                "Shown on pages and in e-mails. Browsers cache pages for up to five minutes."
                    .to_owned(),
            ),
            live::settings(app, refused, "Contact and legal details", |kind| {
                matches!(kind, LiveKind::Text(_) | LiveKind::Page(_))
            }),
            Block::Heading("Effective settings".to_owned()),
            choices,
            table,
        ],
    )
}

/// What the operator has changed while the service ran.
pub(super) async fn changes(app: &Shared) -> Result<View, Refusal> {
    let changes = app.store.read(Snapshot::changes).await?;
    let rows = changes.into_iter().take(CHANGES_SHOWN_MAX).map(|change| {
        vec![
            Cell::Time(UnixSeconds(change.at)),
            Cell::Text(change.act),
            Cell::Code(change.setting),
            Cell::Text(change.old),
            Cell::Text(change.new),
        ]
    });
    Ok(View::new(
        "Changes",
        vec![
            Block::Text(
                "Settings that were changed while the service was running: in the console, or by reloading the configuration."
                    .to_owned(),
            ),
            Block::Table {
                caption: "Changes, newest first",
                head: vec!["Time", "Change", "Setting", "Old value", "New value"],
                rows: rows.collect(),
                empty: "No setting has been changed.",
            },
        ],
    ))
}
