//! `context402 convert`: converts locally, without payment.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use url::Url;

use crate::cli::buyer::part::Part;
use crate::cli::buyer::{input, jsonl, warnings};
use crate::cli::progress::Progress;
use crate::cli::{Failure, failed, put, run_async, say};
use crate::domain::code::Code;
use crate::domain::excerpt::{Excerpt, Extent};
use crate::domain::target::TargetUrl;
use crate::domain::time::UnixSeconds;
use crate::domain::usage::Usage;
use crate::evidence::Depth;
use crate::flows::content::rendering;
use crate::markdown::{
    ContentKind, ConvertError, Converter, Model, Page, RECOGNISED_BYTES, Settings, recognised,
};
use crate::outside::clock::thread_time;
use crate::outside::memory::Memory;
use crate::outside::network::{ForbiddenHosts, NameServers, Network, NetworkSettings, Requester};
use crate::outside::render::{Renderer, RendererSettings, Workers};
use crate::outside::web::{FetchOptions, Fetched, Web, WebSettings};
use crate::state::excerpt::{NoExcerpt, excerpt_goods};
use crate::state::page::{PageFacts, page_goods};

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    /// A file, an http or https address, or - for standard input
    #[arg(default_value = "-")]
    input: String,
    /// The page's URL, against which links are resolved; https://example.com/ by default
    #[arg(long, value_name = "BASE")]
    url: Option<Url>,
    /// Keep the whole page instead of its main content
    #[arg(long)]
    full: bool,
    /// Keep the comments under an article, which are left out otherwise
    #[arg(long, conflicts_with = "full")]
    include_comments: bool,
    /// Open the address in a browser first, for text that only scripts make
    #[arg(long, conflicts_with = "jsonl")]
    render: bool,
    /// The browser for --render: a path, or auto
    #[arg(
        long,
        value_name = "PATH",
        default_value = "auto",
        requires = "render",
        hide_default_value = true
    )]
    browser: String,
    /// Write JSON: markdown with metadata, links, headings and warnings
    #[arg(long, conflicts_with = "jsonl")]
    json: bool,
    /// Read one {"id","url","html"|"path","query"} per line and write one {"id","markdown","metadata",…} per line, in order;
    /// calls_for_rendering says whether a sale would open the page in a browser by default
    #[arg(long)]
    jsonl: bool,
    #[command(flatten)]
    part: Part,
    /// Use this selection table instead of the built-in one
    #[arg(long, value_name = "FILE", requires = "jsonl", hide = true)]
    selection: Option<PathBuf>,
    /// Write training data for data/selection/train.py instead of markdown
    #[arg(long, requires = "jsonl", conflicts_with = "full", hide = true)]
    training: bool,
    /// Threads for --jsonl; all cores by default
    #[arg(long, value_name = "N", requires = "jsonl", value_parser = jsonl::threads())]
    threads: Option<u16>,
}

const FETCH_TIME_MAX: Duration = Duration::from_secs(30);
const RENDER_TIME_MAX: Duration = Duration::from_secs(15);
const RENDER_THREADS: usize = 4;

impl Args {
    pub(in crate::cli) fn run(self) -> Result<(), Failure> {
        if self.jsonl {
            return self.lines();
        }
        let (converted, url) = if self.render {
            self.rendered()?
        } else if is_address(&self.input) {
            let extent = Extent {
                selectors: self.part.selectors(),
                comments: self.include_comments,
            };
            fetched(&self.input, self.full, extent)?
        } else {
            self.local()?
        };
        if self.json {
            let members = self.members(&converted, &url, None).map_err(failed)?;
            say(serde_json::to_string_pretty(&members)?)?;
            return Ok(());
        }
        for warning in &converted.page.warnings {
            warnings::note(warning.code(), warning.message());
        }
        if let Some(wall) = converted.page.wall {
            let message = format!("{wall}. The service refuses to sell it and charges nothing.");
            warnings::note(Code::PageWalled.text(), &message);
        }
        if self.part.excerpt(None).is_whole() {
            put(converted.page.markdown.as_bytes())?;
            return Ok(());
        }
        let members = self.members(&converted, &url, None).map_err(failed)?;
        let markdown = members["markdown"].as_str().unwrap_or_default();
        put(format!("{markdown}\n").as_bytes())?;
        Ok(())
    }

    fn local(&self) -> Result<(Converted, Url), Failure> {
        let url = self.url.clone().unwrap_or_else(placeholder);
        let bytes = input::bytes(&self.input)?;
        let converted = self
            .narrowed(&bytes, url.clone())
            .map_err(|error| input::unusable(&self.input, &error))?;
        Ok((converted, url))
    }

    /// Opens the page in a browser without a network, which loads everything with all checks of a sale.
    fn rendered(&self) -> Result<(Converted, Url), Failure> {
        if !is_address(&self.input) {
            let text = "--render needs an http or https address, not a file";
            return Err(Failure::Usage(text.to_owned()));
        }
        let target = TargetUrl::parse(&self.input).map_err(failed)?;
        let web = web()?;
        let settings = RendererSettings {
            browser: self.browser.clone(),
            jit: false,
            user_agent: user_agent(),
            time_max: RENDER_TIME_MAX,
            at_once_max: 1,
            workers: Workers::Children {
                program: std::env::current_exe()?,
            },
        };
        let progress = Progress::start("Rendering the page");
        let rendered = run_async(RENDER_THREADS, async {
            let renderer = Renderer::new(settings, web.clone())?;
            let guard = renderer.start(None, None)?;
            let deadline = Instant::now() + FETCH_TIME_MAX;
            let cleared = web.clear_for(Requester::Buyer, &target, deadline).await;
            let rendered = renderer.render(&cleared.map_err(failed)?, "", None).await;
            guard.abort();
            rendered.map_err(failed)
        });
        drop(progress);
        let rendered = rendered?;
        let status = rendered.facts.status;
        if !(200..300).contains(&status) {
            return Err(failed(format_args!("the site answered with {status}")));
        }
        let url = TargetUrl::parse(&rendered.facts.final_url).map_err(failed)?;
        let url = url.url().clone();
        let converted = convert(&rendered.html, "", url.clone(), self.extent())
            .map_err(|error| input::unusable(&self.input, &error))?;
        Ok((converted, url))
    }

    fn extent(&self) -> Kept {
        match (self.full, self.include_comments) {
            (true, _) => Kept::Whole,
            (false, true) => Kept::ContentAndComments,
            (false, false) => Kept::Content,
        }
    }

    /// Converts JSON lines in order, on several threads.
    fn lines(&self) -> Result<(), Failure> {
        let model = self.model()?;
        jsonl::run(&self.input, self.threads, |line| self.line(line, &model))
    }

    /// A failed line reports its error under its id; the others continue.
    fn line(&self, line: &str, model: &Arc<Model>) -> String {
        let job: Line = match serde_json::from_str(line) {
            Ok(job) => job,
            Err(error) => return json!({"id": null, "error": format!("not a line of {{id, url, html|path}}: {error}")}).to_string(),
        };
        match self.convert_line(&job, model) {
            Ok(mut members) => {
                members["id"] = job.id;
                members.to_string()
            }
            Err(NoPage { error, calls_for_rendering }) => json!({
                "id": job.id, "error": error, "markdown": "", "calls_for_rendering": calls_for_rendering,
            })
            .to_string(),
        }
    }

    fn model(&self) -> Result<Arc<Model>, Failure> {
        let Some(path) = &self.selection else {
            return Ok(Model::shipped());
        };
        let named =
            |error: &dyn fmt::Display| Failure::Failed(format!("{}: {error}", path.display()));
        let table = std::fs::read(path).map_err(|error| named(&error))?;
        let model = Model::read(&table).map_err(|error| named(&error))?;
        Ok(Arc::new(model))
    }

    fn convert_line(&self, job: &Line, model: &Arc<Model>) -> Result<Value, NoPage> {
        let url = match &job.url {
            Some(url) => Url::parse(url).map_err(|error| format!("url: {error}"))?,
            None => placeholder(),
        };
        let (bytes, name) = match (&job.html, &job.path) {
            (Some(html), _) => (html.as_bytes().to_vec(), String::new()),
            (None, Some(path)) => (
                std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?,
                path.display().to_string(),
            ),
            (None, None) => return Err("neither html nor path is given".to_owned().into()),
        };
        if self.training {
            return training(&bytes, url, model).map_err(|error| error.to_string().into());
        }
        let kind = kind_of(&name, &bytes)?;
        let settings = Settings {
            kind,
            url: url.clone(),
            charset: None,
            full: self.full,
        };
        let mut converter = Converter::with_model(settings, Arc::clone(model)).timed(thread_time);
        if self.include_comments {
            converter.include_comments();
        }
        if let Some(narrowing) = self.part.narrowing()? {
            converter = converter.narrowed(narrowing);
        }
        let is_part = !self.part.selectors().is_nothing();
        let calls = |page: &Page| rendering::plain(page, kind, is_part).calls_for_rendering();
        let converted = converter.push(&bytes).and_then(|()| converter.finish());
        let page = converted.map_err(|error| NoPage {
            calls_for_rendering: matches!(
                error,
                ConvertError::Empty | ConvertError::SelectorUnmatched
            ) && calls(&Page::default()),
            error: error.to_string(),
        })?;
        let calls_for_rendering = calls(&page);
        let mut members = self.members(&Converted { page, kind }, &url, job.query.as_deref())?;
        members["calls_for_rendering"] = calls_for_rendering.into();
        Ok(members)
    }

    fn narrowed(&self, bytes: &[u8], url: Url) -> Result<Converted, String> {
        let kind = kind_of(&self.input, bytes)?;
        let mut converter = Converter::new(Settings {
            kind,
            url,
            charset: None,
            full: self.full,
        });
        if self.include_comments {
            converter.include_comments();
        }
        if let Some(narrowing) = self.part.narrowing()? {
            converter = converter.narrowed(narrowing);
        }
        let page = converted(converter, bytes)?;
        Ok(Converted { page, kind })
    }

    /// The members of a sale's answer, of the part that is asked for.
    fn members(
        &self,
        converted: &Converted,
        url: &Url,
        query: Option<&str>,
    ) -> Result<Value, String> {
        members(converted, url, &self.part.excerpt(query))
    }
}

/// Whether an input is an address rather than a file.
pub(in crate::cli) fn is_address(input: &str) -> bool {
    let scheme = input.split_once("://").map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| {
        ["http", "https"]
            .iter()
            .any(|known| scheme.eq_ignore_ascii_case(known))
    })
}

/// Fetches with all checks of a sale.
pub(in crate::cli) fn fetched(
    address: &str,
    full: bool,
    extent: Extent,
) -> Result<(Converted, Url), Failure> {
    let target = TargetUrl::parse(address).map_err(failed)?;
    let web = web()?;
    let _progress = Progress::start("Fetching and converting the page");
    let options = FetchOptions {
        full,
        keeps_empty: false,
        extent,
        if_none_match: None,
        if_modified_since: None,
        deadline: Instant::now() + FETCH_TIME_MAX,
    };
    let mut permit = Memory::new(0).nothing();
    match web
        .clear(&target)
        .and_then(|cleared| web.fetch(cleared, &options, &mut permit))
        .map_err(failed)?
    {
        Fetched::Page(page) => {
            let url = page.final_url.url().clone();
            let (page, kind) = (page.page, page.kind);
            Ok((Converted { page, kind }, url))
        }
        Fetched::NotModified { .. } => Err(Failure::Failed(
            "unexpected 304 Not Modified from the server".to_owned(),
        )),
    }
}

#[derive(Deserialize)]
struct Line {
    id: Value,
    url: Option<String>,
    html: Option<String>,
    path: Option<PathBuf>,
    /// In place of `--query`.
    query: Option<String>,
}

/// Why a line has no page, and whether `render: auto` would have opened a browser for it.
struct NoPage {
    error: String,
    calls_for_rendering: bool,
}

impl From<String> for NoPage {
    fn from(error: String) -> Self {
        NoPage {
            error,
            calls_for_rendering: false,
        }
    }
}

fn user_agent() -> String {
    format!(
        "Mozilla/5.0 (compatible; context402/{})",
        env!("CARGO_PKG_VERSION")
    )
}

/// The web as a sale sees it.
fn web() -> Result<Web, Failure> {
    let network = Network::new(
        NetworkSettings::default(),
        NameServers::System,
        Default::default(),
        ForbiddenHosts::default(),
    )?;
    Web::new(WebSettings::new(user_agent()), network).map_err(failed)
}

pub(in crate::cli) fn placeholder() -> Url {
    Url::parse("https://example.com/").expect("a constant that is a URL")
}

/// By the first bytes, and by the file extension for similar text formats. The default is HTML, the most common input.
fn kind_of(name: &str, bytes: &[u8]) -> Result<ContentKind, String> {
    let ending = Path::new(name)
        .extension()
        .and_then(|ending| ending.to_str());
    let declared = match ending {
        Some("txt") => Some("text/plain"),
        Some("md" | "markdown") => Some("text/markdown"),
        Some("html" | "htm" | "xhtml") | None => Some("text/html"),
        Some("csv" | "tsv" | "json" | "jsonl" | "ndjson" | "geojson" | "xml") => None,
        Some("rss" | "atom") => Some("application/rss+xml"),
        Some("pdf") => Some("application/pdf"),
        Some(_) => Some("text/html"),
    };
    let first = &bytes[..bytes.len().min(RECOGNISED_BYTES)];
    recognised(declared, name, first)
        .map_err(|found| format!("the input is {found}, which is not supported"))
}

/// A converted input and its type.
pub(in crate::cli) struct Converted {
    pub(in crate::cli) page: Page,
    kind: ContentKind,
}

/// What is kept of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum Kept {
    Content,
    ContentAndComments,
    Whole,
}

pub(in crate::cli) fn convert(
    bytes: &[u8],
    name: &str,
    url: Url,
    kept: Kept,
) -> Result<Converted, String> {
    let kind = kind_of(name, bytes)?;
    let mut converter = Converter::new(Settings {
        kind,
        url,
        charset: None,
        full: kept == Kept::Whole,
    });
    if kept == Kept::ContentAndComments {
        converter.include_comments();
    }
    let page = converted(converter, bytes)?;
    Ok(Converted { page, kind })
}

fn converted(converter: Converter, bytes: &[u8]) -> Result<Page, String> {
    let mut converter = converter.timed(thread_time);
    converter
        .push(bytes)
        .and_then(|()| converter.finish())
        .map_err(|error| error.to_string())
}

/// Training data for `data/selection/train.py`.
fn training(bytes: &[u8], url: Url, model: &Arc<Model>) -> Result<Value, ConvertError> {
    let settings = Settings {
        kind: ContentKind::Html,
        url,
        charset: None,
        full: false,
    };
    let mut converter = Converter::with_model(settings, Arc::clone(model));
    converter.set_training();
    converter.push(bytes)?;
    let page = converter.finish_training()?;
    let blocks: Vec<Value> = page
        .blocks
        .iter()
        .map(|block| json!([block.markdown, block.node, block.words, block.text_name]))
        .collect();
    Ok(json!({
        "features": page.features,
        "rows": BASE64.encode(&page.rows),
        "blocks": blocks,
        "nodes": page.nodes,
    }))
}

/// The members of a sale's answer, and `wall` for a page that a sale would refuse.
fn members(converted: &Converted, url: &Url, part: &Excerpt) -> Result<Value, String> {
    let goods = page_goods(
        &converted.page,
        &PageFacts {
            final_url: url.as_str(),
            status: 200,
            content_type: "",
            kind: converted.kind,
            source_sha256: Sha256::digest(b"").into(),
            bytes_fetched: 0,
            fetch_time: Duration::ZERO,
            extract_time: Duration::ZERO,
            usage: &Usage::default(),
            fetched_at: UnixSeconds(0),
            render: None,
        },
    );
    let mut goods = goods.map_err(|error| error.to_string())?;
    if !part.is_whole() {
        goods = excerpt_goods(&goods, part, Depth::Standard).map_err(|why| match why {
            NoExcerpt::Empty => "nothing readable is left".to_owned(),
            NoExcerpt::TooSmall => "not one passage fits into the budget".to_owned(),
            NoExcerpt::Json(error) => error.to_string(),
        })?;
    }
    let mut members: Value = goods.value().map_err(|error| error.to_string())?;
    if let Some(object) = members.as_object_mut() {
        // Facts of a fetch, which did not happen.
        for name in ["http_status", "content_type", "source_sha256", "fetched_at"] {
            object.shift_remove(name);
        }
        if let Some(wall) = converted.page.wall {
            object.insert("wall".to_owned(), wall.name().into());
        }
    }
    Ok(members)
}
