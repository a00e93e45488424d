//! The frame of every page: head, header with navigation, main, footer. It knows no page's content.

use maud::{DOCTYPE, Markup, html};

use crate::pages::assets::{FAVICON_PATH, ICON_PATH, STYLE_PATH};
use crate::pages::site::{FacilitatorMode, NAME, Site};

/// The Content-Security-Policy that is sent with every page. It leaves no place for script, so hostile text
/// that slipped through escaping would still not run.
pub const CSP: &str = "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; \
                       base-uri 'none'; frame-ancestors 'none'";

/// What the frame says about one page.
#[derive(Clone, Copy, Debug)]
pub struct Layout<'a> {
    pub site: Site<'a>,
    /// Without the product's name; empty on the home page.
    pub title: &'a str,
    /// One sentence for search results and link previews.
    pub description: &'a str,
    /// The canonical path, beginning with a slash, encoded.
    pub path: &'a str,
    /// Asks search engines to leave the page out.
    pub noindex: bool,
    /// Path of the page's markdown twin, where there is one.
    pub markdown: Option<&'a str>,
}

/// The navigation: label and path.
const NAVIGATION: [(&str, &str); 5] = [
    ("Docs", "/docs"),
    ("Quickstart", "/quickstart"),
    ("Quote", "/quote"),
    ("Proof Packs", "/proof-pack"),
    ("API", "/openapi.json"),
];

const FOOTER: [(&str, &str); 8] = [
    ("About", "/about"),
    ("Contact", "/contact"),
    ("Evidence Bundles", "/proof-pack/bundle"),
    ("Paid test", "/paid-test"),
    ("Sample page", "/sample"),
    ("llms.txt", "/llms.txt"),
    ("OpenAPI", "/openapi.json"),
    ("Health", "/health"),
];

/// The whole document around `content`, which must hold the page's one `h1`.
#[expect(
    clippy::needless_pass_by_value,
    reason = "markup is made for this one use"
)]
pub fn layout(page: Layout<'_>, content: Markup) -> String {
    html! {
        (DOCTYPE)
        html lang="en" {
            (head(&page))
            body {
                a.skip href="#main" { "Skip to content" }
                @if page.site.facilitator == FacilitatorMode::Sandbox { (sandbox_notice()) }
                (header(page.path))
                main #main { .wrap { (content) } }
                (footer(&page.site))
            }
        }
    }
    .into_string()
}

fn head(page: &Layout<'_>) -> Markup {
    let title = if page.title.is_empty() {
        format!("{NAME}: clean markdown of any public web page, paid per call")
    } else {
        format!("{} · {NAME}", page.title)
    };
    let canonical = page.site.url(page.path);
    html! {
        head {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width, initial-scale=1";
            title { (title) }
            meta name="description" content=(page.description);
            @if page.noindex { meta name="robots" content="noindex"; }
            link rel="canonical" href=(canonical);
            meta property="og:type" content="website";
            meta property="og:site_name" content=(NAME);
            meta property="og:title" content=(title);
            meta property="og:description" content=(page.description);
            meta property="og:url" content=(canonical);
            meta property="og:image" content=(page.site.url(ICON_PATH));
            meta name="theme-color" media="(prefers-color-scheme: light)" content="#ffffff";
            meta name="theme-color" media="(prefers-color-scheme: dark)" content="#181c1e";
            link rel="icon" type="image/svg+xml" href=(FAVICON_PATH);
            link rel="stylesheet" href=(STYLE_PATH);
            link rel="service-desc" type="application/vnd.oai.openapi+json;version=3.1" href="/openapi.json";
            @if let Some(path) = page.markdown {
                link rel="alternate" type="text/markdown" href=(page.site.url(path));
            }
        }
    }
}

fn sandbox_notice() -> Markup {
    html! {
        .sandbox role="note" { .wrap {
            p {
                strong { "Sandbox." }
                " Payments here are checked for real but paid with play money; nothing reaches a chain."
            }
        } }
    }
}

fn header(current: &str) -> Markup {
    html! {
        header.site-head { .wrap {
            a.brand href="/" {
                img src=(FAVICON_PATH) alt="" width="26" height="26";
                span { "context" b { "402" } }
            }
            nav.site-nav aria-label="Main" { ul {
                @for (label, path) in NAVIGATION {
                    li { a href=(path) aria-current=[(path == current).then_some("page")] { (label) } }
                }
            } }
        } }
    }
}

fn footer(site: &Site<'_>) -> Markup {
    html! {
        footer.site-foot { .wrap {
            p { (NAME) " " (site.version) ". Paid in USDC on " (site.network_name()) " through x402." }
            nav aria-label="More" { ul {
                @for (label, path) in FOOTER { li { a href=(path) { (label) } } }
            } }
        } }
    }
}
