//! What each kind of purchase states: its target or sources, its level and the choices about reading.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::domain::bundle::Bundle;
use crate::domain::check::CheckDepth;
use crate::domain::excerpt::Excerpt;
use crate::domain::level::Level;
use crate::domain::pack::Pack;
use crate::domain::render::Render;
use crate::domain::tier::Tier;

/// One page as markdown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextPurchase {
    /// The canonical target.
    pub target_url: String,
    pub tier: Tier,
    pub choices: Choices,
    /// The part of the page that is sold, where it is not the whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excerpt: Option<Box<Excerpt>>,
}

/// A report on one page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProofPackPurchase {
    /// The canonical target.
    pub target_url: String,
    pub question: String,
    pub pack: Pack,
    pub choices: Choices,
    /// Whether a picture of the page is part of the report.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub screenshot: bool,
}

impl ProofPackPurchase {
    /// What a request asks for, with everything that it leaves out filled in.
    pub fn new(
        target_url: String,
        pack: Pack,
        question: Option<&str>,
        force_refresh: Option<bool>,
        render: Option<Render>,
    ) -> Self {
        ProofPackPurchase {
            target_url,
            question: question_or_default(question).to_owned(),
            pack,
            choices: Choices::new(
                Level::Pack(pack),
                force_refresh.unwrap_or(pack.refreshes_by_default()),
                render,
            ),
            screenshot: false,
        }
    }

    /// The same with a picture of the page, if one is asked for.
    pub fn with_screenshot(self, screenshot: bool) -> Self {
        ProofPackPurchase { screenshot, ..self }
    }
}

/// Several pages as markdown, in one answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PagesPurchase {
    /// The canonical targets, all different.
    pub target_urls: Vec<String>,
    pub tier: Tier,
    #[serde(flatten)]
    pub choices: Choices,
    /// With fewer pages than this the sale is refused.
    pub min_pages: usize,
    /// The part of each page that is sold, where it is not the whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excerpt: Option<Box<Excerpt>>,
}

/// A report on what several sources say together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProofBundlePurchase {
    pub sources: Vec<SourceInput>,
    pub question: String,
    pub bundle: Bundle,
    #[serde(flatten)]
    pub choices: Choices,
}

impl ProofBundlePurchase {
    /// What a request asks for, with everything that it leaves out filled in.
    pub fn new(
        sources: Vec<SourceInput>,
        bundle: Bundle,
        question: Option<&str>,
        force_refresh: Option<bool>,
        render: Option<Render>,
    ) -> Self {
        let refreshes = bundle.pack().refreshes_by_default();
        let refresh = force_refresh.unwrap_or(refreshes);
        ProofBundlePurchase {
            sources,
            question: question_or_default(question).to_owned(),
            bundle,
            choices: Choices::new(Level::Bundle(bundle), refresh, render),
        }
    }
}

/// A text, to be checked claim by claim against sources.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckPurchase {
    pub text: String,
    pub sources: Vec<SourceInput>,
    pub depth: CheckDepth,
    #[serde(flatten)]
    pub choices: Choices,
}

/// A source as a buyer names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceInput {
    /// A page: its canonical address.
    Page(String),
    /// A text that came with the request.
    Text { title: Option<String>, text: String },
    /// The source of a retained report: its identifier.
    Report(String),
}

impl SourceInput {
    /// The page's address; nothing for other sources.
    pub fn target_url(&self) -> Option<&str> {
        match self {
            SourceInput::Page(target_url) => Some(target_url),
            SourceInput::Text { .. } | SourceInput::Report(_) => None,
        }
    }

    /// What answers call it: a page's address, `urn:sha256:…` of a text, `urn:context402:report:…` of a report's source.
    pub fn name(&self) -> String {
        match self {
            SourceInput::Page(target_url) => target_url.clone(),
            SourceInput::Text { text, .. } => {
                format!("urn:sha256:{}", hex::encode(Sha256::digest(text)))
            }
            SourceInput::Report(id) => format!("urn:context402:report:{id}"),
        }
    }

    pub(super) fn forget_text(&mut self) {
        if let SourceInput::Text { title, text } = self {
            *title = None;
            *text = String::new();
        }
    }
}

/// How the page is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choices {
    /// Skip reading the cache, be it stated or the level's default.
    pub force_refresh: bool,
    /// `None`: what the level does by itself. So never that, in words.
    #[serde(default)]
    pub(super) render: Option<Render>,
    /// The comments under an article are read too. Such a page neither enters the cache nor comes from it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) include_comments: bool,
}

impl Choices {
    /// Rendered as the level does by itself, without comments.
    pub(super) fn refresh(force_refresh: bool) -> Self {
        Choices {
            force_refresh,
            ..Choices::default()
        }
    }

    pub fn new(level: Level, force_refresh: bool, render: Option<Render>) -> Self {
        Choices {
            render: render.filter(|render| *render != level.render()),
            ..Choices::refresh(force_refresh)
        }
    }

    /// The same with the comments under an article, or without.
    #[must_use]
    pub fn with_comments(self, include_comments: bool) -> Self {
        Choices {
            include_comments,
            ..self
        }
    }
}

/// What is asked where the buyer asks nothing.
pub const DEFAULT_QUESTION: &str = "What does this source establish?";

/// The question, or the default one in place of none.
fn question_or_default(question: Option<&str>) -> &str {
    let question = question.map(str::trim).filter(|text| !text.is_empty());
    question.unwrap_or(DEFAULT_QUESTION)
}
