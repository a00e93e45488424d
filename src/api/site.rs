//! HTML pages, filled from the route, field and price tables.

pub mod markdown_alternate;

use std::collections::BTreeMap;

use crate::api::frame::{Texts, made_once, site, with_page_headers};
use crate::api::{challenge, failure, query};
use crate::app::{App, Shared, user_agent};
use crate::domain::attribution::Attribution;
use crate::domain::code::Code;
use crate::domain::level::Level;
use crate::domain::refusal::Refusal;
use crate::domain::schema::Object;
use crate::domain::shapes;
use crate::domain::tier::Tier;
use crate::flows::content::demo;
use crate::http::{Call, Guard, Method, Reply};
use crate::pages;
use crate::pages::assets;
use crate::pages::buyer::samples::SAMPLES;
use crate::pages::docs::legal::{Document, LegalView, Operator};
use crate::pages::docs::{Body, DocsView, Endpoint, ErrorCode, Field, Parameter};
use crate::pages::site::Site;

fn page(app: &App, make: impl FnOnce(Site<'_>) -> String) -> Reply {
    let texts = Texts::of(app);
    with_page_headers(Reply::html(200, make(site(app, &texts)))).public("public, max-age=300")
}

/// A constant page: made once and shared by all responses.
fn constant(app: &App, call: &Call, make: impl FnOnce(&App, Site<'_>) -> String) -> Reply {
    made_once(app, call, |app| page(app, |site| make(app, site)))
}

pub fn home_page(app: &App, call: &Call) -> Reply {
    constant(app, call, |app, site| {
        pages::buyer::home::page(&pages::buyer::home::HomeView {
            site,
            sample_markdown: &app.sample.markdown,
            outcomes: &app.sample.outcomes,
            previews_per_day: app.reloaded().limits.free_fetches.client,
        })
    })
}

pub async fn docs(app: Shared, call: Call) -> Reply {
    constant(&app, &call, |app, site| {
        pages::docs::page(&docs_view(app, site))
    })
}

pub async fn quickstart(app: Shared, call: Call) -> Reply {
    constant(&app, &call, |_, site| {
        pages::docs::quickstart::page(&pages::docs::quickstart::QuickstartView { site })
    })
}

pub async fn paid_test(app: Shared, call: Call) -> Reply {
    constant(&app, &call, |app, site| {
        // The cheapest one that delivers the sample page.
        let tier = Tier::Starter;
        let body = challenge::unpaid(app, Level::Tier(tier).into()).body;
        let challenge_json = String::from_utf8_lossy(&body);
        pages::buyer::paid_test::page(&pages::buyer::paid_test::PaidTestView {
            site,
            tier,
            challenge_json: &challenge_json,
        })
    })
}

pub async fn proof_pack(app: Shared, call: Call) -> Reply {
    constant(&app, &call, |_, site| {
        pages::buyer::proof_pack::page(&pages::buyer::proof_pack::ProofPackView { site })
    })
}

pub async fn faq(app: Shared, call: Call) -> Reply {
    constant(&app, &call, |_, site| {
        pages::docs::faq::page(&pages::docs::faq::FaqView { site })
    })
}

pub async fn terms(app: Shared, call: Call) -> Reply {
    legal(&app, &call, Document::Terms)
}

pub async fn privacy(app: Shared, call: Call) -> Reply {
    legal(&app, &call, Document::Privacy)
}

pub async fn refunds(app: Shared, call: Call) -> Reply {
    legal(&app, &call, Document::Refunds)
}

fn legal(app: &App, call: &Call, document: Document) -> Reply {
    constant(app, call, |app, site| {
        let config = app.reloaded();
        let legal = &config.legal;
        let operator = Operator {
            name: legal.name.as_deref(),
            address: legal.address.as_deref(),
            email: legal.email.as_deref().or(config.contact.as_deref()),
            law: legal.law.as_deref(),
        };
        pages::docs::legal::page(&LegalView {
            site,
            document,
            operator,
        })
    })
}

/// GET /demo: `?page=` selects a sample page, `?question=` is the question.
pub async fn demo(app: Shared, call: Call) -> Reply {
    let text = |name: &str| call.query.get(name).unwrap_or_default().trim().to_owned();
    let (named, question) = (text("page"), text("question"));
    let sample = match named.as_str() {
        "" => SAMPLES.first(),
        name => SAMPLES.iter().find(|sample| sample.name() == name),
    };
    let Some(sample) = sample else {
        return failure::page(&app, &Refusal::of(Code::NotFound), &call);
    };
    if let Err(refusal) = query::check_length(&question) {
        return failure::page(&app, &refusal, &call);
    }
    let question = match question.is_empty() {
        true => sample.questions[0].to_owned(),
        false => question,
    };
    match demo::try_out(&app, sample, question).await {
        Ok(tried) => page(&app, |site| {
            pages::buyer::demo::page(&pages::buyer::demo::DemoView {
                site,
                sample,
                markdown: &tried.markdown,
                report: &tried.report,
            })
        }),
        Err(refusal) => failure::page(&app, &refusal, &call),
    }
}

/// GET /swagger: the API explorer.
pub async fn explorer(app: Shared, call: Call) -> Reply {
    let reply = constant(&app, &call, |_, site| {
        pages::docs::explorer::page(&pages::docs::explorer::ExplorerView { site })
    });
    reply.fixed("content-security-policy", pages::layout::EXPLORER_CSP)
}

pub async fn explorer_script(_: Shared, _: Call) -> Reply {
    asset("text/javascript; charset=utf-8", assets::EXPLORER_SCRIPT)
        .fixed("content-encoding", "gzip")
}

pub async fn explorer_style(_: Shared, _: Call) -> Reply {
    asset("text/css; charset=utf-8", assets::EXPLORER_STYLE).fixed("content-encoding", "gzip")
}

pub async fn explorer_start(_: Shared, _: Call) -> Reply {
    asset(
        "text/javascript; charset=utf-8",
        assets::EXPLORER_START.as_bytes(),
    )
}

pub async fn about(app: Shared, call: Call) -> Reply {
    constant(&app, &call, |app, site| {
        let user_agent = user_agent(&app.config);
        pages::docs::about::page(&pages::docs::about::AboutView {
            site,
            user_agent: &user_agent,
        })
    })
}

pub async fn notices(app: Shared, call: Call) -> Reply {
    constant(&app, &call, |_, site| {
        pages::docs::notices::page(&pages::docs::notices::NoticesView { site })
    })
}

/// GET /from/{source}.
pub async fn from(app: Shared, call: Call) -> Reply {
    let source = call.param("source").and_then(Attribution::parse);
    page(&app, |site| {
        pages::buyer::from::page(&pages::buyer::from::FromView {
            site,
            source: source.as_ref().map(Attribution::as_str),
        })
    })
}

/// GET /sample: the page that the starter tier sells.
pub async fn sample(app: Shared, call: Call) -> Reply {
    made_once(&app, &call, |app| {
        let page = with_page_headers(Reply::html(200, app.sample.html.clone()));
        page.public("public, max-age=300")
    })
}

pub async fn style(_: Shared, _: Call) -> Reply {
    asset("text/css; charset=utf-8", assets::STYLE.as_bytes())
}

pub async fn console_style(_: Shared, _: Call) -> Reply {
    asset("text/css; charset=utf-8", assets::CONSOLE_STYLE.as_bytes())
}

pub async fn favicon(_: Shared, _: Call) -> Reply {
    asset("image/svg+xml", assets::FAVICON.as_bytes())
}

pub async fn icon(_: Shared, _: Call) -> Reply {
    asset("image/png", assets::ICON)
}

pub async fn favicon_ico(_: Shared, _: Call) -> Reply {
    asset("image/x-icon", assets::FAVICON_ICO)
}

pub async fn social(_: Shared, _: Call) -> Reply {
    asset("image/png", assets::SOCIAL)
}

fn asset(content_type: &'static str, bytes: &'static [u8]) -> Reply {
    Reply::new(200, content_type, bytes).public("public, max-age=3600")
}

fn docs_view<'a>(app: &App, site: Site<'a>) -> DocsView<'a> {
    let public = || app.rows.iter().filter(|row| row.guard == Guard::Everyone);
    let endpoints = public()
        .map(|row| Endpoint {
            group: row.about.tag.name(),
            method: row.method.name(),
            path: row.path,
            summary: row.about.summary,
            price: match row.method {
                // A probe states the price and charges nothing.
                Method::Get => None,
                _ => row.about.price.text(),
            },
            query: row.about.query.iter().map(parameter).collect(),
            headers: row.about.needs.iter().map(parameter).collect(),
            bodies: (row.about.takes.iter().chain(row.about.or_takes))
                .map(|object| object.name)
                .collect(),
            gives: row.about.gives,
            statuses: row.about.all_statuses(),
        })
        .collect();
    let used_by = |object: &'static Object| -> Vec<&'static str> {
        let takes = |row: &&crate::app::Row| {
            (row.about.takes.iter().chain(row.about.or_takes))
                .any(|taken| taken.name == object.name)
        };
        public().filter(takes).map(|row| row.path).collect()
    };
    let bodies = shapes::ALL
        .iter()
        .map(|object| Body {
            name: object.name,
            doc: object.doc,
            used_by: used_by(object),
            fields: object.fields.iter().map(field).collect(),
            closed: object.closed,
        })
        .collect();
    let errors: BTreeMap<(u16, &str), ErrorCode<'_>> = Code::ALL
        .iter()
        .map(|code| {
            let status = failure::status(*code);
            let (meaning, next_step) = (code.meaning(), code.next_step());
            (
                (status, code.text()),
                ErrorCode {
                    code: code.text(),
                    status,
                    meaning,
                    next_step,
                },
            )
        })
        .collect();
    DocsView {
        site,
        endpoints,
        bodies,
        errors: errors.into_values().collect(),
    }
}

fn parameter(parameter: &'static crate::domain::endpoint::Parameter) -> Parameter<'static> {
    Parameter {
        name: parameter.name,
        doc: parameter.doc,
        one_of: parameter.one_of,
    }
}

fn field(field: &crate::domain::schema::Field) -> Field<'static> {
    let rules = field.rules();
    let rules = field.default.map_or(rules.clone(), |default| {
        format!("{rules}; default {default}")
    });
    Field {
        name: field.name,
        kind: field.kind.json_type().to_owned(),
        required: field.required,
        rules,
        doc: field.doc,
    }
}

#[cfg(test)]
mod tests {
    use crate::domain::endpoint::Price;
    use crate::http::Guard;
    use crate::pages::docs::snippets::{self, SNIPPETS};
    use crate::routes::ROUTES;

    #[test]
    fn every_example_belongs_to_a_public_endpoint() {
        for snippet in &SNIPPETS {
            let is_there = ROUTES.iter().any(|row| {
                (row.method.name(), row.path) == (snippet.method, snippet.path)
                    && row.guard == Guard::Everyone
            });
            assert!(is_there, "{}", snippet.name);
        }
    }

    #[test]
    fn every_paid_operation_has_an_example() {
        let sold = ROUTES.iter().filter(|row| {
            row.method.name() == "POST" && matches!(row.about.price, Price::Of(_) | Price::Credit)
        });
        for row in sold {
            let has_example = snippets::of("POST", row.path).next().is_some();
            assert!(has_example, "{}", row.path);
        }
    }
}
