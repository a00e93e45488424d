//! The settings `llm.…`: the language model and its maximum cost.

use std::time::Duration;

use url::Url;

use crate::config::{ConfigError, Resolved, Secret, is_loopback_url};
use crate::domain::amount::Amount;
use crate::outside::llm::Style;

/// Model output is never trusted, so plain http is allowed.
#[derive(Clone, Debug)]
pub struct Llm {
    pub base_url: String,
    pub model: String,
    pub key: Option<Secret>,
    pub style: Style,
    pub time_max: Duration,
    pub questions_max: usize,
    pub input_tokens_max: u64,
    pub output_tokens_max: u64,
    /// USDC per million tokens.
    pub input_price: Amount,
    pub output_price: Amount,
}

pub(in crate::config) fn llm(resolved: &Resolved) -> Result<Option<Llm>, ConfigError> {
    if resolved.optional("llm.base_url").is_none() {
        return Ok(None);
    }
    let expected = "an http or https address without query and credentials; https is required to send a key to another machine";
    let key = resolved.optional("llm.key").map(Secret::new);
    let base_url = resolved.checked("llm.base_url", expected, |text| {
        let url = Url::parse(text).ok()?;
        let plain = url.username().is_empty() && url.password().is_none() && url.query().is_none();
        let keeps_key = key.is_none() || is_loopback_url(text) || url.scheme() == "https";
        let fits = matches!(url.scheme(), "http" | "https") && url.has_host();
        (plain && keeps_key && fits).then(|| url.as_str().trim_end_matches('/').to_owned())
    })?;
    let tokens = |key| resolved.count(key).map(|count| count as u64);
    Ok(Some(Llm {
        base_url,
        key,
        model: resolved.text("llm.model")?.to_owned(),
        style: match resolved.text("llm.parameters")? {
            "classic" => Style::Classic,
            "reasoning" => Style::Reasoning,
            _ => return Err(resolved.expected("llm.parameters", "classic or reasoning")),
        },
        time_max: resolved.seconds_to("llm.seconds_max", 60)?,
        questions_max: resolved.count("llm.at_once_max")?,
        input_tokens_max: tokens("llm.input_tokens_max")?,
        output_tokens_max: tokens("llm.output_tokens_max")?,
        input_price: resolved.usdc("llm.input_usdc_per_million")?,
        output_price: resolved.usdc("llm.output_usdc_per_million")?,
    }))
}
