//! Stored reports as JSON and HTML: read, verify, follow up, refresh, share. All free.

use serde_json::{Value, json};

use crate::api::body::read_body;
use crate::api::buyer::{quotes, report_page};
use crate::api::query::check_length;
use crate::api::{failure, frame, query};
use crate::app::{App, Shared};
use crate::domain::code::Code;
use crate::domain::ids::{ReportId, ShareSlug};
use crate::domain::level::{Level, Product};
use crate::domain::pack::Pack;
use crate::domain::purchase::Purchase;
use crate::domain::refusal::Refusal;
use crate::domain::requests::{FollowUpRequest, RefreshRequest, ShareRequest};
use crate::domain::time::UnixSeconds;
use crate::flows::content::pdf;
use crate::flows::content::report::FIGURES;
use crate::flows::content::reports::{self, Retained};
use crate::flows::quotes::quote::{self, LevelRequest};
use crate::http::{Call, Reply};
use crate::pages;
use crate::pages::buyer::check::CheckView;
use crate::pages::buyer::library::{self, LibraryView, Listed};
use crate::pages::orders::delivery::{DeliveryView, Stage};
use crate::store::{self, Listing};

/// GET /v1/proof-pack/reports/{report_id}: the bytes that were sold.
pub async fn read(app: Shared, call: Call) -> Reply {
    let outcome = async {
        let retained = find(&app, &call).await?;
        reports::body(&app, &retained).await
    };
    match outcome.await {
        Ok(body) => private(Reply::json(200, body)),
        Err(refusal) => failure::reply(&app, &refusal, &call),
    }
}

/// GET /v1/proof-pack/reports/{report_id}/pdf: the same as PDF, with the JSON attached.
pub async fn pdf(app: Shared, call: Call) -> Reply {
    let outcome = async {
        let retained = find(&app, &call).await?;
        pdf::of_report(&app, &retained).await
    };
    let id = call.param("report_id").unwrap_or_default().to_owned();
    let disposition = format!("inline; filename=\"context402-{id}.pdf\"");
    match outcome.await {
        Ok(rendered) => private(Reply::new(200, "application/pdf", rendered.bytes))
            .header("content-disposition", &disposition),
        Err(refusal) => failure::reply(&app, &refusal, &call),
    }
}

/// GET /v1/proof-pack/reports/{report_id}/source: the markdown that the citations are slices of, byte for byte.
pub async fn source_text(app: Shared, call: Call) -> Reply {
    let outcome = async {
        let retained = find(&app, &call).await?;
        let media_type = match retained.product() {
            Product::ProofPack => "text/markdown; charset=utf-8",
            _ => "application/json",
        };
        Ok((reports::source_text(&app, &retained).await?, media_type))
    };
    match outcome.await {
        Ok((text, media_type)) => private(Reply::new(200, media_type, text)),
        Err(refusal) => failure::reply(&app, &refusal, &call),
    }
}

/// GET /v1/proof-pack/reports/{report_id}/screenshot: the picture of the page, if the report was bought with one.
pub async fn screenshot(app: Shared, call: Call) -> Reply {
    let outcome = async {
        let retained = find(&app, &call).await?;
        reports::screenshot(&app, &retained).await
    };
    match outcome.await {
        Ok(png) => private(Reply::new(200, "image/png", png)),
        Err(refusal) => failure::reply(&app, &refusal, &call),
    }
}

/// GET /v1/proof-pack/sample: a complete free report.
pub async fn sample(app: Shared, _: Call) -> Reply {
    Reply::json(200, app.sample.report.body.clone()).public("public, max-age=300")
}

/// GET /v1/proof-pack/benchmarks: the results of the engine's evaluation.
pub async fn benchmarks(app: Shared, call: Call) -> Reply {
    match serde_json::from_str::<Value>(FIGURES) {
        Ok(figures) => {
            let body = benchmarks_json(&figures);
            Reply::json(200, body.to_string()).public("public, max-age=300")
        }
        Err(_) => failure::reply(&app, &Refusal::of(Code::Internal), &call),
    }
}

/// The set behind `metrics`: questions to a paragraph, half of which have no answer there.
const CORPUS: &str = "squad2_para";

/// What tells most comes first: statements and questions in nearly the words of the page, true and false.
fn benchmarks_json(figures: &Value) -> Value {
    let corpus = &figures["sets"][CORPUS];
    let measured_on = figures["measured_on"].as_str().unwrap_or_default();
    let day = measured_on.parse::<jiff::civil::Date>().ok();
    let generated_at = day.and_then(UnixSeconds::of_date).map(|start| start.0);
    let unsupported_recall = corpus["false_support"]
        .as_f64()
        .map(|share| ((1.0 - share) * 10_000.0).round() / 10_000.0);
    json!({
        "status": "success",
        "near_misses": figures["near_misses"],
        "generated_at": generated_at,
        "measured_on": measured_on,
        "corpus": CORPUS,
        "method": figures["method"],
        "metrics": {
            "supported_precision": corpus["support_precision"],
            "unsupported_recall": unsupported_recall,
            "citation_exactness": share_of(&figures["citations"]["exact"], &figures["citations"]["count"]),
            "p50_ms": figures["latency"]["p50_ms"],
            "p95_ms": figures["latency"]["p95_ms"],
        },
        "latency": figures["latency"],
        "sets": figures["sets"],
    })
}

fn share_of(part: &Value, whole: &Value) -> Option<f64> {
    Some(part.as_f64()? / whole.as_f64().filter(|whole| *whole > 0.0)?)
}

/// GET /v1/proof-pack/reports/{report_id}/verify.
pub async fn verify(app: Shared, call: Call) -> Reply {
    let outcome = async {
        let retained = find(&app, &call).await?;
        reports::check(&app, &retained).await
    };
    answered(&app, &call, outcome.await)
}

/// POST /v1/proof-pack/reports/{report_id}/follow-up.
pub async fn follow_up(app: Shared, call: Call) -> Reply {
    let outcome = async {
        let body: FollowUpRequest = read_body(&app, &call)?;
        let retained = find(&app, &call).await?;
        reports::only_one_source(&retained)?;
        reports::ask(&app, &retained, body.question.trim()).await
    };
    answered(&app, &call, outcome.await)
}

/// POST /v1/proof-pack/reports/{report_id}/refresh: a quote for a new report, with the facts of the old one.
pub async fn refresh(app: Shared, call: Call) -> Reply {
    let outcome = async {
        let body: RefreshRequest = read_body(&app, &call)?;
        let retained = find(&app, &call).await?;
        reports::only_one_source(&retained)?;
        refreshed(&app, &call, body, &retained).await
    };
    answered(&app, &call, outcome.await)
}

/// POST /v1/proof-pack/reports/{report_id}/share.
pub async fn share(app: Shared, call: Call) -> Reply {
    let outcome = async {
        let body: ShareRequest = read_body(&app, &call)?;
        let id = stored(find(&app, &call).await?)?;
        let is_listed = body.listed.unwrap_or(false);
        let shared = reports::share(&app, id, is_listed).await?;
        Ok(share_json(&app, id, Some(shared)))
    };
    answered(&app, &call, outcome.await)
}

/// DELETE /v1/proof-pack/reports/{report_id}/share.
pub async fn unshare(app: Shared, call: Call) -> Reply {
    let outcome = async {
        let id = stored(find(&app, &call).await?)?;
        reports::unshare(&app, id).await?;
        Ok(share_json(&app, id, None))
    };
    answered(&app, &call, outcome.await)
}

/// GET /proof-pack/reports/{report_id}. `?question=` asks a follow-up question without script.
pub async fn page(app: Shared, call: Call) -> Reply {
    let outcome = async {
        let retained = find(&app, &call).await?;
        match retained.product() {
            Product::ProofBundle => bundle_page(&app, &call, &retained).await,
            Product::Check => check_page(&app, &call, &retained).await,
            _ => report_page(&app, &call, &retained).await,
        }
    };
    match outcome.await {
        Ok(page) => page,
        Err(refusal) => failure::page(&app, &refusal, &call),
    }
}

/// The page of a checked text.
async fn check_page(app: &Shared, call: &Call, retained: &Retained) -> Result<Reply, Refusal> {
    let checks = requested_checks(app, call, retained).await?;
    let report = reports::read_check(app, retained).await?;
    let texts = frame::Texts::of(app);
    let id = retained.id();
    let json = format!("/v1/proof-pack/reports/{id}");
    let view = CheckView {
        site: frame::site(app, &texts),
        path: &format!("/proof-pack/reports/{id}"),
        report: &report,
        json: Some(&json),
        checks: checks.as_deref(),
    };
    let html = pages::buyer::check::page(&view);
    let page = frame::with_page_headers(Reply::html(200, html));
    Ok(private(page).fixed("referrer-policy", "no-referrer"))
}

/// The page of a bundle's report.
async fn bundle_page(app: &Shared, call: &Call, retained: &Retained) -> Result<Reply, Refusal> {
    let checks = requested_checks(app, call, retained).await?;
    let report = reports::read_bundle(app, retained).await?;
    let texts = frame::Texts::of(app);
    let links = report.links.as_ref();
    let view = DeliveryView {
        site: frame::site(app, &texts),
        stage: Stage::Delivered,
        message: "The report is ready.",
        order_id: None,
        ordered: None,
        pay_again: None,
        next: "",
        progress: None,
        email: None,
        is_mailed: false,
        report: Some(&report),
        report_path: Some(&format!("/proof-pack/reports/{}", retained.id())),
        checks: checks.as_deref(),
        json_url: links.map(|links| links.report_url.as_str()),
        pdf_url: links.and_then(|links| links.pdf_url.as_deref()),
        way_back: links.map(|links| (links.report_page.clone(), UnixSeconds(links.expires_at))),
    };
    let html = pages::orders::delivery::page(&view);
    let page = frame::with_page_headers(Reply::html(200, html));
    Ok(private(page).fixed("referrer-policy", "no-referrer"))
}

/// GET /proof-pack/sample.
pub async fn sample_page(app: Shared, call: Call) -> Reply {
    match report_page(&app, &call, &Retained::Sample).await {
        Ok(page) => page,
        Err(refusal) => failure::page(&app, &refusal, &call),
    }
}

const SEE_OTHERS: &str =
    "Ask who gave you the link for a new one, or see the public reports at /proof-pack/library.";
const NOT_SHARED: &str =
    "No report is shared under this name. Its owner may have stopped sharing it.";

/// GET /proof-pack/share/{slug}: a shared report, without its identifier.
pub async fn shared_page(app: Shared, call: Call) -> Reply {
    let slug = call.param("slug").unwrap_or_default();
    let outcome = async {
        let retained = reports::by_slug(&app, slug).await?;
        let report = reports::read(&app, &retained).await?;
        let shown = report_page::PageOptions {
            path: format!("/proof-pack/share/{slug}"),
            ..report_page::PageOptions::default()
        };
        Ok::<_, Refusal>(private(report_page::page(&app, &report, &shown)))
    };
    match outcome.await {
        Ok(page) => page,
        // Readers have a name, not a report's identifier.
        Err(refusal) if refusal.code == Code::ReportNotFound => {
            let refusal = Refusal::new(Code::NotFound, NOT_SHARED);
            failure::page_advising(&app, &refusal, SEE_OTHERS, &call)
        }
        Err(refusal) => failure::page(&app, &refusal, &call),
    }
}

/// GET /proof-pack/library: the sample and the reports that buyers published.
pub async fn library_page(app: Shared, call: Call) -> Reply {
    let listed = match reports::library(&app).await {
        Ok(listed) => listed,
        Err(refusal) => return failure::page(&app, &refusal, &call),
    };
    let texts = frame::Texts::of(&app);
    let view = LibraryView {
        site: frame::site(&app, &texts),
        sample: report_page::listed(&app.sample.report.report, "/proof-pack/sample"),
        outcomes: &app.sample.outcomes,
        listed: listed.iter().filter_map(named).collect(),
    };
    frame::with_page_headers(Reply::html(200, library::page(&view))).no_store()
}

/// A report's entry in the library, by its slug.
fn named(record: &store::ReportRecord) -> Option<Listed<'_>> {
    let slug = record.shared.map(|shared| ShareSlug(shared.slug))?;
    Some(Listed {
        path: format!("/proof-pack/share/{slug}"),
        question: &record.question,
        target_url: &record.target_url,
        label: &record.label,
        created_at: UnixSeconds(record.created_at),
    })
}

async fn find(app: &Shared, call: &Call) -> Result<Retained, Refusal> {
    reports::find(app, call.param("report_id").unwrap_or_default()).await
}

/// Refuses the sample where a stored report is needed.
fn stored(retained: Retained) -> Result<ReportId, Refusal> {
    reports::only_one_source(&retained)?;
    match retained {
        Retained::Stored { id, .. } => Ok(id),
        Retained::Sample => {
            let message = "The sample report is already public and cannot be shared.";
            Err(Refusal::new(Code::NotOfferedForReport, message))
        }
    }
}

fn answered(app: &App, call: &Call, outcome: Result<impl serde::Serialize, Refusal>) -> Reply {
    let written = outcome.map(|answer| serde_json::to_vec(&answer));
    match written {
        Ok(Ok(body)) => private(Reply::json(200, body)),
        Ok(Err(_)) => failure::reply(app, &Refusal::of(Code::Internal), call),
        Err(refusal) => failure::reply(app, &refusal, call),
    }
}

/// Anyone who knows the address can read the report, so no cache may store it.
fn private(reply: Reply) -> Reply {
    reply
        .fixed("cache-control", "private, no-store")
        .fixed("x-robots-tag", "noindex")
}

async fn refreshed(
    app: &Shared,
    call: &Call,
    body: RefreshRequest,
    retained: &Retained,
) -> Result<Value, Refusal> {
    let report = reports::read(app, retained).await?;
    let pack = body
        .pack
        .or_else(|| Pack::parse(&report.pack))
        .unwrap_or_default();
    let asked = LevelRequest {
        target_url: report.target_url,
        level: Level::Pack(pack),
        question: Some(body.question.unwrap_or(report.question)),
        force_refresh: Some(body.force_refresh.unwrap_or(true)),
        attribution: query::attribution(call).map(|label| label.as_str().to_owned()),
        client: call.peer.client(),
    };
    let quote = quote::quote(app, asked).await?;
    let mut answer = quotes::quote_json(app, &quote);
    answer["report_id"] = retained.id().into();
    answer["previous"] = json!({
        "created_at": report.created_at, "source_hash": report.source_hash,
        "result_hash": report.result_hash, "decision": report.decision.label,
    });
    let mut request = quotes::request_json(&quote.record.purchase);
    if let Purchase::ProofPack(pack) = &quote.record.purchase {
        // Stated even if it is the pack's default, because a client may copy the body and change the pack.
        request["force_refresh"] = pack.choices.force_refresh.into();
    }
    answer["body"] = request;
    Ok(answer)
}

fn share_json(app: &App, id: ReportId, sharing: Option<(store::PublicLink, Listing)>) -> Value {
    let slug = sharing.map(|(shared, _)| ShareSlug(shared.slug).to_string());
    let listing = sharing.map_or(Listing::Unlisted, |(_, listing)| listing);
    let page = slug
        .as_ref()
        .map(|slug| app.url(&format!("/proof-pack/share/{slug}")));
    json!({
        "status": "success",
        "report_id": id.to_string(),
        "shared": sharing.is_some(),
        "slug": slug,
        "share_page": page,
        "listed": listing == Listing::Listed,
        "listing": listing.name(),
        "library": app.url("/proof-pack/library"),
    })
}

/// The outcome of `?check=`: each check by its name, and whether it passes.
async fn requested_checks(
    app: &Shared,
    call: &Call,
    retained: &Retained,
) -> Result<Option<Vec<(&'static str, bool)>>, Refusal> {
    if call.query.get("check").is_none() {
        return Ok(None);
    }
    let found = reports::check(app, retained).await?.checks;
    let found = found.iter().map(|check| (check.id, check.matches));
    Ok(Some(found.collect()))
}

/// The page of a report, with the answer to `?question=` and the outcome of `?check=`.
async fn report_page(app: &Shared, call: &Call, retained: &Retained) -> Result<Reply, Refusal> {
    let question = call
        .query
        .get("question")
        .map(|text| text.trim().to_owned());
    let question = question.filter(|text| !text.is_empty());
    check_length(question.as_deref().unwrap_or_default())?;
    let answer = match question {
        Some(question) => Some(reports::ask(app, retained, &question).await?),
        None => None,
    };
    let checks = requested_checks(app, call, retained).await?;
    // Read last, so that a waiting request holds no report in memory.
    let report = reports::read(app, retained).await?;
    // Reports from before the text was stored are shown without it.
    let source = reports::source_text(app, retained).await.ok();
    let (id, is_sample) = (retained.id(), matches!(retained, Retained::Sample));
    let shown = report_page::PageOptions {
        path: format!("/proof-pack/reports/{id}"),
        api: Some(format!("/v1/proof-pack/reports/{id}")),
        is_sample,
        source: source.and_then(|bytes| String::from_utf8(bytes).ok()),
        answer: answer.as_ref(),
        checks,
    };
    let page = report_page::page(app, &report, &shown);
    Ok(match is_sample {
        true => page.no_store(),
        false => private(page),
    })
}
