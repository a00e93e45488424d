//! `context402 leads …`: from the running service over the operator's socket, or from a stopped one's file.

use clap::builder::PossibleValuesParser;
use serde_json::Value;

use crate::api::operator::{Search, leads};
use crate::cli::list::{Cell, Format as AsJson, List, segment, time};
use crate::cli::{Failure, refused, say, socket};
use crate::config::Config;
use crate::domain::csv;
use crate::domain::lead::{LeadEvent, LeadProduct, LeadStatus};
use crate::domain::refusal::Refusal;
use crate::outside::clock::Clock;
use crate::store::Store;

#[derive(Debug, clap::Subcommand)]
pub(in crate::cli) enum Args {
    /// The newest leads
    List {
        /// Only leads in this state
        #[arg(long, value_parser = PossibleValuesParser::new(LeadStatus::ALL.map(LeadStatus::name)))]
        status: Option<String>,
        /// Only leads for this product
        #[arg(long, value_parser = PossibleValuesParser::new(LeadProduct::ALL.map(LeadProduct::name)))]
        product: Option<String>,
        #[command(flatten)]
        format: AsJson,
    },
    /// One lead, with its history
    Show {
        /// The lead, or the beginning of its id
        lead_id: String,
    },
    /// Change a lead's status: new → contacted → paid → fulfilled; new or lost → paid; any → lost; lost → contacted
    #[command(visible_alias = "set")]
    Move {
        /// The lead, or the beginning of its id
        lead_id: String,
        /// The new status
        #[arg(value_parser = PossibleValuesParser::new(goals()))]
        to: String,
        /// The reason, recorded in the history
        #[arg(long, default_value = "")]
        note: String,
    },
    /// Add a note to a lead's history
    Note {
        /// The lead, or the beginning of its id
        lead_id: String,
        /// The note
        text: String,
    },
    /// Delete a lead, or all leads of a contact
    Delete {
        /// The lead, or the beginning of its id
        #[arg(required_unless_present = "contact", conflicts_with = "contact")]
        lead_id: Option<String>,
        /// Delete all leads of this contact
        #[arg(long)]
        contact: Option<String>,
    },
    /// Export all leads to standard output
    Export {
        /// The format
        #[arg(long, value_enum, default_value = "csv")]
        format: Format,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(in crate::cli) enum Format {
    /// CSV, for spreadsheets
    Csv,
    /// JSON, one lead per line
    Jsonl,
}

impl Args {
    pub(in crate::cli) fn run(mut self, config: &Config) -> Result<(), Failure> {
        if let Args::Export { format } = self {
            return export(config, format);
        }
        if let Some(id) = self.id() {
            *id = whole_id(config, id)?;
        }
        let (method, path) = self.request();
        let answer = socket::ask_or_open(config, (method, &path), async |store| {
            self.look(store).await.map_err(refused)
        })?;
        self.tell(&answer)
    }

    /// The id that was typed.
    fn id(&mut self) -> Option<&mut String> {
        match self {
            Args::Show { lead_id }
            | Args::Move { lead_id, .. }
            | Args::Note { lead_id, .. }
            | Args::Delete {
                lead_id: Some(lead_id),
                ..
            } => Some(lead_id),
            _ => None,
        }
    }

    fn request(&self) -> (&'static str, String) {
        let address = |path: &str, pairs: &[(&str, &str)]| {
            let mut query = url::form_urlencoded::Serializer::new(String::new());
            query.extend_pairs(pairs);
            format!("{}{path}?{}", LIST.path, query.finish())
        };
        match self {
            Args::List {
                status, product, ..
            } => {
                let pairs = [("status", status), ("product", product)];
                let given = pairs
                    .iter()
                    .filter_map(|(name, text)| Some((*name, text.as_deref()?)));
                ("GET", address("", &given.collect::<Vec<_>>()))
            }
            Args::Show { lead_id } => ("GET", LIST.one(lead_id)),
            Args::Move { lead_id, to, note } => {
                let path = format!("/{}/move", segment(lead_id));
                ("POST", address(&path, &[("to", to), ("note", note)]))
            }
            Args::Note { lead_id, text } => {
                let path = format!("/{}/note", segment(lead_id));
                ("POST", address(&path, &[("text", text)]))
            }
            Args::Delete { lead_id, contact } => match (lead_id, contact) {
                (Some(id), _) => ("POST", address(&format!("/{}/delete", segment(id)), &[])),
                (None, contact) => {
                    let contact = contact.as_deref().unwrap_or_default();
                    ("POST", address("/delete", &[("contact", contact)]))
                }
            },
            Args::Export { .. } => ("GET", address("/export", &[])),
        }
    }

    async fn look(&self, store: &Store) -> Result<Value, Refusal> {
        let now = Clock::System.now();
        match self {
            Args::List {
                status, product, ..
            } => leads::listed(store, Search::of_state(status.clone()), product.clone()).await,
            Args::Show { lead_id } => leads::read_one(store, lead_id).await,
            Args::Move { lead_id, to, note } => {
                leads::moved(store, lead_id, to, note.clone(), now).await
            }
            Args::Note { lead_id, text } => leads::noted(store, lead_id, text.clone(), now).await,
            Args::Delete { lead_id, contact } => match lead_id {
                Some(id) => leads::deleted(store, id).await,
                None => {
                    let contact = contact.clone().unwrap_or_default();
                    leads::deleted_of(store, contact).await
                }
            },
            Args::Export { .. } => leads::part(store, None).await,
        }
    }

    fn tell(&self, answer: &Value) -> Result<(), Failure> {
        match self {
            Args::List { format, .. } => LIST.tell(answer, *format)?,
            Args::Delete { .. } => say(format_args!("Leads deleted: {}.", answer["deleted"]))?,
            Args::Move { .. } | Args::Note { .. } => say(LIST.line(answer))?,
            Args::Show { .. } | Args::Export { .. } => say(serde_json::to_string_pretty(answer)?)?,
        }
        Ok(())
    }
}

/// The possible new statuses.
fn goals() -> impl Iterator<Item = &'static str> {
    let can_be_reached = |status: &LeadStatus| LeadEvent::towards(*status).is_some();
    let reached = LeadStatus::ALL.into_iter().filter(can_be_reached);
    reached.map(LeadStatus::name)
}

/// In parts, so that neither side holds all leads in memory.
fn export(config: &Config, format: Format) -> Result<(), Failure> {
    if format == Format::Csv {
        say(csv::row(COLUMNS).trim_end())?;
    }
    let mut after: Option<String> = None;
    loop {
        let part = part(config, after.as_deref())?;
        for lead in part["leads"].as_array().into_iter().flatten() {
            match format {
                Format::Csv => say(cells(lead).trim_end())?,
                Format::Jsonl => say(lead)?,
            }
        }
        after = part["next"].as_str().map(str::to_owned);
        if after.is_none() {
            return Ok(());
        }
    }
}

fn part(config: &Config, after: Option<&str>) -> Result<Value, Failure> {
    let query = after.map_or(String::new(), |after| format!("?after={after}"));
    let path = format!("{}/export{query}", LIST.path);
    socket::ask_or_open(config, ("GET", &path), async |store| {
        leads::part(store, after).await.map_err(refused)
    })
}

const COLUMNS: [&str; 15] = [
    "lead_id",
    "product",
    "level",
    "status",
    "contact",
    "name",
    "target_urls",
    "question",
    "use_case",
    "budget_usdc",
    "notes",
    "source",
    "quote_id",
    "created_at",
    "changed_at",
];

fn cells(lead: &Value) -> String {
    let texts = COLUMNS.map(|column| match &lead[column] {
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items = items.iter().filter_map(Value::as_str);
            items.collect::<Vec<_>>().join(" ")
        }
        Value::Number(_) => time(&lead[column]),
        _ => String::new(),
    });
    csv::row(texts.iter().map(String::as_str))
}

/// The lead whose id begins as typed.
pub(in crate::cli) fn whole_id(config: &Config, typed: &str) -> Result<String, Failure> {
    LIST.whole_id(typed, || listed(config))
}

fn listed(config: &Config) -> Result<Value, Failure> {
    socket::ask_or_open(config, ("GET", LIST.path), async |store| {
        leads::listed(store, Search::default(), None)
            .await
            .map_err(refused)
    })
}

const LIST: List = List {
    path: "/operator/leads",
    member: "leads",
    records: "leads",
    id: "lead_id",
    columns: &[
        (Cell::Time, "created_at", "CREATED"),
        (Cell::Text, "status", "STATUS"),
        (Cell::Text, "product", "PRODUCT"),
        (Cell::Text, "level", "LEVEL"),
        (Cell::Text, "lead_id", "LEAD"),
        (Cell::Text, "contact", "CONTACT"),
    ],
};
