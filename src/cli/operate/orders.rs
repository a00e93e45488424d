//! `context402 orders …`: from the running service over the operator's socket, or from a stopped one's file.

use clap::builder::PossibleValuesParser;
use serde_json::Value;

use crate::api::operator::{Search, leads, orders};
use crate::cli::list::{Cell, Format, List, segment};
use crate::cli::{Failure, failed, refused, say, socket};
use crate::config::Config;
use crate::domain::ids::LeadId;
use crate::domain::order::OrderState;
use crate::flows::orders::OrderAction;
use crate::flows::orders::order_emails::OrderEmails;
use crate::outside::clock::Clock;
use crate::store::Store;

#[derive(Debug, clap::Subcommand)]
pub(in crate::cli) enum Args {
    /// The newest orders
    List {
        /// Only orders in this state
        #[arg(long, value_parser = PossibleValuesParser::new(OrderState::NAMES))]
        state: Option<String>,
        #[command(flatten)]
        format: Format,
    },
    /// One order with its history, its sources and the payment provider's events
    Show {
        /// The order, or the beginning of its id
        order_id: String,
    },
    /// Retry fulfilment of a delivered or failed order: every source is read again, and a new e-mail is sent
    #[command(name = "retry", alias = "refulfil")]
    Refulfil {
        /// The order, or the beginning of its id
        order_id: String,
    },
    /// Send the e-mail of a delivered order again
    Resend {
        /// The order, or the beginning of its id
        order_id: String,
    },
    /// Attach a payment that needs review to a lead
    Attach {
        /// The order, or the beginning of its id
        order_id: String,
        /// The lead, or the beginning of its id
        lead_id: String,
    },
    /// Record a refund; make the refund itself at the payment provider
    Refund {
        /// The order, or the beginning of its id
        order_id: String,
    },
    /// Delete an order, its report and all data about its buyer
    Delete {
        /// The order, or the beginning of its id
        order_id: String,
    },
}

impl Args {
    pub(in crate::cli) fn run(mut self, config: &Config) -> Result<(), Failure> {
        if let Some(id) = self.id() {
            *id = LIST.whole_id(id, || listed(config))?;
        }
        if let Args::Attach { lead_id, .. } = &mut self {
            *lead_id = super::leads::whole_id(config, lead_id)?;
        }
        let (method, path) = self.request();
        let answer = socket::ask_or_open(config, (method, &path), async |store| {
            self.look(store, OrderEmails::new(config)).await
        })?;
        self.tell(&answer)
    }

    /// The id that was typed.
    fn id(&mut self) -> Option<&mut String> {
        match self {
            Args::List { .. } => None,
            Args::Show { order_id }
            | Args::Refulfil { order_id }
            | Args::Resend { order_id }
            | Args::Attach { order_id, .. }
            | Args::Refund { order_id }
            | Args::Delete { order_id } => Some(order_id),
        }
    }

    fn request(&self) -> (&'static str, String) {
        let act = |id: &str, act: &str| ("POST", format!("{}/{act}", LIST.one(id)));
        match self {
            Args::List { state, .. } => ("GET", LIST.of_state(state.as_deref())),
            Args::Show { order_id } => ("GET", LIST.one(order_id)),
            Args::Attach { order_id, lead_id } => {
                act(order_id, &format!("attach?lead_id={}", segment(lead_id)))
            }
            Args::Refulfil { order_id } => act(order_id, "refulfil"),
            Args::Resend { order_id } => act(order_id, "resend"),
            Args::Refund { order_id } => act(order_id, "refund"),
            Args::Delete { order_id } => act(order_id, "delete"),
        }
    }

    async fn look(&self, store: &Store, emails: OrderEmails) -> Result<Value, Failure> {
        let (order_id, action) = match self {
            Args::List { state, .. } => {
                let search = Search::of_state(state.clone());
                return orders::list(store, search).await.map_err(refused);
            }
            Args::Show { order_id } => {
                return orders::show(store, order_id).await.map_err(refused);
            }
            Args::Refulfil { order_id } => (order_id, OrderAction::Refulfil),
            Args::Resend { order_id } => (order_id, OrderAction::Resend),
            Args::Refund { order_id } => (order_id, OrderAction::Refund),
            Args::Delete { order_id } => (order_id, OrderAction::Delete),
            Args::Attach { order_id, lead_id } => {
                let lead = LeadId::parse(lead_id);
                let lead = lead.ok_or_else(|| failed(leads::NO_LEAD))?;
                (order_id, OrderAction::Attach(lead))
            }
        };
        let done = orders::carry_out(store, order_id, action, emails, Clock::System.now());
        done.await.map_err(refused)
    }

    fn tell(&self, answer: &Value) -> Result<(), Failure> {
        match self {
            Args::List { format, .. } => LIST.tell(answer, *format)?,
            Args::Show { .. } => say(serde_json::to_string_pretty(answer)?)?,
            Args::Refulfil { order_id } => {
                say(format_args!("{order_id}: fulfilment will be retried."))?
            }
            Args::Resend { order_id } => {
                say(format_args!("The e-mail of {order_id} will be sent again."))?;
            }
            Args::Attach { order_id, lead_id } => {
                say(format_args!("{order_id} is attached to {lead_id}."))?
            }
            Args::Refund { order_id } => say(format_args!("{order_id} is recorded as refunded."))?,
            Args::Delete { order_id } => {
                say(format_args!("{order_id} deleted, with its report."))?;
            }
        }
        Ok(())
    }
}

fn listed(config: &Config) -> Result<Value, Failure> {
    socket::ask_or_open(config, ("GET", LIST.path), async |store| {
        let listed = orders::list(store, Search::default()).await;
        listed.map_err(refused)
    })
}

const LIST: List = List {
    path: "/operator/orders",
    member: "orders",
    records: "orders",
    id: "order_id",
    columns: &[
        (Cell::Time, "created_at", "CREATED"),
        (Cell::Text, "state", "STATE"),
        (Cell::Text, "bundle", "BUNDLE"),
        (Cell::Right, "paid", "PAID"),
        (Cell::Text, "order_id", "ORDER"),
        (Cell::Text, "reason", "REASON"),
    ],
};
