//! The client of an OpenAI-compatible chat completions API. The response is untrusted text of bounded length, or a timeout.

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};
use url::Url;

use crate::domain::amount::Amount;
use crate::outside::agent::{self, Failure};
use crate::outside::call::ConcurrencyLimit;

/// An answer is a few claims; everything around it is small.
const REPLY_BYTES_MAX: usize = 256 * 1024;
const CONNECT_MAX: Duration = Duration::from_secs(5);
/// How long a question waits for a place before it is given up.
const PLACE_WAIT_MAX: Duration = Duration::from_secs(2);
/// What the endpoint may add to a prompt: roles and marks of turns.
const PROMPT_TOKENS_EXTRA: u64 = 64;
const TOKENS_PRICED: u128 = 1_000_000;

/// How to reach a model, and within which bounds.
#[derive(Clone)]
pub struct LlmSettings {
    /// What `/chat/completions` is added to, such as `https://llm.example.com/v1`.
    pub base_url: String,
    pub model: String,
    pub key: Option<String>,
    /// For one question with its answer.
    pub time_max: Duration,
    pub questions_max: usize,
    pub input_tokens_max: u64,
    pub output_tokens_max: u64,
    /// USDC for a million tokens.
    pub input_price: Amount,
    pub output_price: Amount,
    pub style: Style,
}

/// Which parameters a model takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// `max_tokens`, and a temperature of 0.
    Classic,
    /// `max_completion_tokens`, and the temperature that such models insist on.
    Reasoning,
}

/// The client. Cheap to clone; clones share connections and places.
#[derive(Clone)]
pub struct Llm {
    agent: ureq::Agent,
    url: Arc<str>,
    settings: Arc<LlmSettings>,
    questions: ConcurrencyLimit,
}

/// What a model said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    pub text: String,
    /// What was used by the endpoint's own count, if it says.
    pub cost: Option<Amount>,
}

/// Why there is no answer. `Display` is for the operator's log and shows neither key nor prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LlmError {
    /// Our own limit of questions at once; nothing was sent.
    Saturated,
    /// Nothing was sent, because it might have cost more than was reckoned with.
    PromptTooLong,
    Unreachable(String),
    TimedOut,
    /// 401 and 403 are about our key, 429 about how often we ask.
    Status(u16),
    TooLong,
    Garbled(&'static str),
}

/// Why the settings cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingsError {
    BaseUrl,
    Key,
}

impl Llm {
    pub fn new(settings: LlmSettings) -> Result<Llm, SettingsError> {
        let url = Url::parse(&settings.base_url).map_err(|_| SettingsError::BaseUrl)?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() || url.query().is_some() {
            return Err(SettingsError::BaseUrl);
        }
        let is_sendable =
            |key: &String| !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_graphic());
        if !settings.key.as_ref().is_none_or(is_sendable) {
            return Err(SettingsError::Key);
        }
        let base = url.as_str().trim_end_matches('/');
        Ok(Llm {
            agent: agent::agent(
                CONNECT_MAX,
                settings.questions_max,
                ureq::tls::RootCerts::WebPki,
            ),
            url: format!("{base}/chat/completions").into(),
            questions: ConcurrencyLimit::new(settings.questions_max, PLACE_WAIT_MAX),
            settings: Arc::new(settings),
        })
    }

    pub fn model(&self) -> &str {
        &self.settings.model
    }

    /// The most bytes of a prompt. No tokeniser makes more tokens than bytes, so the bound on its cost is certain.
    pub fn prompt_bytes_max(&self) -> usize {
        let tokens = self
            .settings
            .input_tokens_max
            .saturating_sub(PROMPT_TOKENS_EXTRA);
        usize::try_from(tokens).unwrap_or(usize::MAX)
    }

    /// What one question can cost at most.
    pub fn cost_max(&self) -> Amount {
        let settings = &self.settings;
        settings.cost(settings.input_tokens_max, settings.output_tokens_max)
    }

    /// One question and its answer.
    pub async fn ask(&self, system: &str, user: &str) -> Result<Completion, LlmError> {
        if system.len() + user.len() > self.prompt_bytes_max() {
            return Err(LlmError::PromptTooLong);
        }
        let body = self.settings.request(system, user);
        let llm = self.clone();
        let deadline = Instant::now() + self.settings.time_max;
        let asked = self.questions.run(move || llm.exchange(&body, deadline));
        asked.await.unwrap_or(Err(LlmError::Saturated))
    }

    fn exchange(&self, body: &str, deadline: Instant) -> Result<Completion, LlmError> {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(LlmError::TimedOut);
        }
        let mut request = self.agent.post(&*self.url).content_type("application/json");
        if let Some(key) = &self.settings.key {
            request = request.header("Authorization", format!("Bearer {key}"));
        }
        let mut response = request
            .config()
            .timeout_global(Some(left))
            .build()
            .send(body)
            .map_err(|error| failure(&error))?;
        let status = response.status().as_u16();
        if status != 200 {
            return Err(LlmError::Status(status));
        }
        let bytes = agent::body(&mut response, REPLY_BYTES_MAX).map_err(|error| failure(&error))?;
        self.settings.completion(&bytes.ok_or(LlmError::TooLong)?)
    }
}

impl LlmSettings {
    fn request(&self, system: &str, user: &str) -> String {
        let mut request = json!({
            "model": self.model,
            "messages": [
                {"role": "system", "content": system},
                {"role": "user", "content": user},
            ],
            "response_format": {"type": "json_object"},
            "stream": false,
        });
        match self.style {
            Style::Classic => {
                request["max_tokens"] = json!(self.output_tokens_max);
                request["temperature"] = json!(0);
            }
            Style::Reasoning => request["max_completion_tokens"] = json!(self.output_tokens_max),
        }
        request.to_string()
    }

    fn completion(&self, bytes: &[u8]) -> Result<Completion, LlmError> {
        let reply: Reply = serde_json::from_slice(bytes)
            .map_err(|_| LlmError::Garbled("it is not a chat completion"))?;
        let choice = reply.choices.into_iter().next();
        let text = choice
            .and_then(|choice| choice.message.content)
            .unwrap_or_default();
        if text.trim().is_empty() {
            return Err(LlmError::Garbled("it says nothing"));
        }
        let used = |name: &str| reply.usage.as_ref()?[name].as_u64();
        let tokens = used("prompt_tokens").zip(used("completion_tokens"));
        Ok(Completion {
            text,
            cost: tokens.map(|(input, output)| self.cost(input, output)),
        })
    }

    /// Rounded up. What is too much for a number is too much for any sale.
    fn cost(&self, input: u64, output: u64) -> Amount {
        let part =
            |tokens: u64, price: Amount| u128::from(tokens).checked_mul(u128::from(price.units()));
        let sum = part(input, self.input_price)
            .zip(part(output, self.output_price))
            .and_then(|(input, output)| input.checked_add(output));
        let units = sum.and_then(|sum| u64::try_from(sum.div_ceil(TOKENS_PRICED)).ok());
        Amount::from_units(units.unwrap_or(u64::MAX))
    }
}

#[derive(Deserialize)]
struct Reply {
    choices: Vec<Choice>,
    usage: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    message: Message,
}

#[derive(Deserialize)]
struct Message {
    content: Option<String>,
}

fn failure(error: &ureq::Error) -> LlmError {
    match agent::failure(error) {
        Failure::TimedOut => LlmError::TimedOut,
        Failure::Unreachable(why) => LlmError::Unreachable(why),
    }
}

/// Without the key.
impl fmt::Debug for LlmSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LlmSettings")
            .field("base_url", &self.base_url)
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Llm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Llm")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for LlmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LlmError::Saturated => {
                f.write_str("too many questions to the language model are under way already")
            }
            LlmError::PromptTooLong => {
                f.write_str("the prompt is longer than llm.input_tokens_max allows")
            }
            LlmError::Unreachable(detail) => {
                write!(f, "the language model cannot be reached: {detail}")
            }
            LlmError::TimedOut => f.write_str("the language model did not answer in time"),
            LlmError::Status(status) => {
                write!(f, "the language model answered with status {status}")
            }
            LlmError::TooLong => f.write_str("the language model's answer is too long"),
            LlmError::Garbled(what) => {
                write!(f, "the language model's answer cannot be read: {what}")
            }
        }
    }
}

impl std::error::Error for LlmError {}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SettingsError::BaseUrl => {
                "llm.base_url is not an http or https address without a query"
            }
            SettingsError::Key => "llm.key contains a character that a header cannot carry",
        })
    }
}

impl std::error::Error for SettingsError {}
