//! The values of a submitted form, to show the form again. Nothing is validated.

use std::collections::BTreeMap;

use crate::api::query::attribution;
use crate::domain::attribution::Attribution;
use crate::domain::bundle::Bundle;
use crate::http::Call;
use crate::pages::orders::request::Form;

/// The values of a form, from the body or the query.
#[derive(Clone, Debug, Default)]
pub struct Typed {
    pub contact: String,
    pub name: String,
    pub target_urls: String,
    pub question: String,
    pub level: String,
    pub use_case: String,
    pub budget_usdc: String,
    pub notes: String,
    pub source: String,
    pub quote_id: String,
}

impl Typed {
    /// From the body, else from the query.
    pub fn of(call: &Call) -> Typed {
        let body = (!call.body.is_empty()).then_some(&*call.body);
        let pairs = url::form_urlencoded::parse(body.unwrap_or(call.query.0.as_bytes()));
        let mut fields: BTreeMap<String, String> = BTreeMap::new();
        for (name, text) in pairs {
            let field = fields.entry(name.into_owned()).or_default();
            if !field.is_empty() {
                field.push('\n');
            }
            field.push_str(&text);
        }
        let mut take = |names: &[&str]| {
            let mut found = names.iter().filter_map(|name| fields.remove(*name));
            found.next().unwrap_or_default()
        };
        Typed {
            contact: take(&["contact", "email"]),
            name: take(&["name"]),
            target_urls: take(&["target_urls", "target_url"]),
            question: take(&["question"]),
            level: take(&["bundle", "pack"]),
            use_case: take(&["use_case"]),
            budget_usdc: take(&["budget_usdc"]),
            notes: take(&["notes", "message"]),
            source: take(&["source"]),
            quote_id: take(&["quote_id"]),
        }
    }

    /// The referral source.
    pub fn attribution(&self, call: &Call) -> Option<String> {
        let label = Attribution::parse(&self.source).or_else(|| attribution(call));
        label.map(|label| label.as_str().to_owned())
    }

    pub fn fill_quote(&mut self, target_urls: &[String], question: Option<&str>, bundle: Bundle) {
        if self.target_urls.is_empty() {
            self.target_urls = target_urls.join("\n");
        }
        if self.question.is_empty() {
            self.question = question.unwrap_or_default().to_owned();
        }
        if self.level.is_empty() {
            self.level = bundle.name().to_owned();
        }
    }

    pub fn form(&self) -> Form<'_> {
        Form {
            contact: &self.contact,
            name: &self.name,
            target_urls: &self.target_urls,
            question: &self.question,
            level: &self.level,
            use_case: &self.use_case,
            budget_usdc: &self.budget_usdc,
            notes: &self.notes,
            source: &self.source,
            quote_id: &self.quote_id,
        }
    }
}
