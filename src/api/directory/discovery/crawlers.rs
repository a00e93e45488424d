//! Files for crawlers: robots.txt, the sitemap and security.txt.

use std::fmt::Write as _;

use crate::api::directory::documents::{contact, document_of, public_rows};
use crate::app::{App, Row, Shared};
use crate::domain::endpoint::Tag;
use crate::domain::time::{DAY_SECONDS, day};
use crate::http::{Call, Method, Reply};

/// Paths that belong to one buyer or to the operator.
const PRIVATE: [&str; 5] = [
    "/operator",
    "/checkout/",
    "/proof-pack/reports/",
    "/proof-pack/bundle/pay",
    "/proof-pack/bundle/delivery",
];
/// AI crawlers, which read only their own group.
const MODELS: [&str; 6] = [
    "GPTBot",
    "ClaudeBot",
    "Claude-Web",
    "PerplexityBot",
    "Google-Extended",
    "CCBot",
];
/// Pages with the contents of one visitor's request.
const NOT_LISTED: [&str; 3] = [
    "/proof-pack/preview",
    "/proof-pack/bundle/recover",
    "/proof-pack/bundle/checkout",
];
/// Validity of security.txt.
const CONTACT_DAYS: u64 = 180;

/// GET /robots.txt.
pub async fn robots(app: Shared, _: Call) -> Reply {
    document_of("text/plain; charset=utf-8", robots_text(&app))
}

fn robots_text(app: &App) -> String {
    let rules: String = PRIVATE
        .iter()
        .map(|path| format!("Disallow: {path}\n"))
        .collect();
    let models: String = MODELS
        .iter()
        .map(|name| format!("User-agent: {name}\n"))
        .collect();
    // Groups do not inherit, so both list the private paths.
    format!(
        "User-agent: *\nContent-Signal: search=yes, ai-input=yes, ai-train=no\nAllow: /\n{rules}\n\
         {models}Allow: /\n{rules}\n\
         Sitemap: {}\n",
        app.url("/sitemap.xml")
    )
}

/// GET /sitemap.xml.
pub async fn sitemap(app: Shared, _: Call) -> Reply {
    document_of("application/xml; charset=utf-8", sitemap_text(&app))
}

fn sitemap_text(app: &App) -> String {
    let mut text = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n",
    );
    let changed = day(app.sample.made_at);
    let pages = public_rows(app)
        .filter(|row| is_listed(row))
        .map(|row| row.path);
    for path in ["/"].into_iter().chain(pages).chain(["/llms.txt"]) {
        let address = escaped(&app.url(path));
        let _ = writeln!(
            text,
            "<url><loc>{address}</loc><lastmod>{changed}</lastmod></url>"
        );
    }
    text.push_str("</urlset>\n");
    text
}

/// Whether search engines may list the page: it has its own address and is the same for everybody.
fn is_listed(row: &Row) -> bool {
    let about = &row.about;
    row.method == Method::Get
        && about.tag == Tag::Pages
        && about.gives == "text/html"
        && about.gives_status == 200
        && !row.path.contains('{')
        && !PRIVATE.iter().any(|private| row.path.starts_with(private))
        && !NOT_LISTED.contains(&row.path)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

/// GET /.well-known/security.txt (RFC 9116).
pub async fn security(app: Shared, _: Call) -> Reply {
    let end = app.now().plus(CONTACT_DAYS * DAY_SECONDS);
    let text = format!(
        "Contact: {}\nExpires: {}T00:00:00Z\nPreferred-Languages: en\nCanonical: {}\n",
        contact(&app),
        day(end),
        app.url("/.well-known/security.txt"),
    );
    document_of("text/plain; charset=utf-8", text)
}
