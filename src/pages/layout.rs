//! The frame of every page: head, header with navigation, main, footer and Content-Security-Policy.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::pages::assets::{COPY_SCRIPT, FAVICON_PATH, SOCIAL_PATH, STYLE_PATH};
use crate::pages::site::{FacilitatorMode, NAME, Site};

/// The browser runs only scripts whose hashes are listed here, so hostile text that slipped through escaping would still
/// not run.
macro_rules! policy {
    ($($more:literal),*) => {
        concat!(
            "default-src 'none'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; \
             base-uri 'none'; frame-ancestors 'none'; ",
            $($more),*
        )
    };
}

/// The Content-Security-Policy of every page: it allows [`COPY_SCRIPT`].
pub const CSP: &str = policy!("script-src 'sha256-MCvtzbVBCkT0Tc0XkiixQvSewmVPOOtb/YFdAIl088I='");

/// The same for reports; it also allows [`super::assets::VERIFY_SCRIPT`].
pub const REPORT_CSP: &str = policy!(
    "script-src 'sha256-MCvtzbVBCkT0Tc0XkiixQvSewmVPOOtb/YFdAIl088I=' ",
    "'sha256-W3g5IkKKU96gZ1zwTo1d10IFpuUc4uhZzv459Enh+Dw='"
);

/// The same for the page that sells to a browser's wallet; it also allows [`super::assets::WALLET_SCRIPT`].
pub const WALLET_CSP: &str = policy!(
    "script-src 'sha256-MCvtzbVBCkT0Tc0XkiixQvSewmVPOOtb/YFdAIl088I=' ",
    "'sha256-+KmyE0xgXRGzlprAtcojI4DJYaeSrLDv9FWmDHDpGww='"
);

/// For the API explorer, whose scripts and styles are files.
pub const EXPLORER_CSP: &str =
    policy!("script-src 'self' 'sha256-MCvtzbVBCkT0Tc0XkiixQvSewmVPOOtb/YFdAIl088I='");

/// The frame's facts about one page.
#[derive(Clone, Copy, Debug)]
pub struct Layout<'a> {
    pub site: Site<'a>,
    /// Without the product name; empty on the home page.
    pub title: &'a str,
    /// One sentence for search results and link previews.
    pub description: &'a str,
    /// The canonical path, beginning with a slash, encoded.
    pub path: &'a str,
    /// Asks search engines to leave the page out.
    pub noindex: bool,
}

impl Layout<'_> {
    /// The path of the page as markdown.
    fn markdown_path(&self) -> String {
        let mark = if self.path.contains('?') { '&' } else { '?' };
        format!("{}{mark}format=markdown", self.path)
    }
}

/// The navigation: label and path.
const NAVIGATION: [(&str, &str); 6] = [
    ("Convert", "/"),
    ("Prices", "/pricing"),
    ("Proof Packs", "/proof-pack"),
    ("Bundles", "/proof-pack/bundle"),
    ("Quickstart", "/quickstart"),
    ("Docs", "/docs"),
];

/// The footer's columns: heading, and label and path of each link.
const FOOTER: [(&str, &[(&str, &str)]); 3] = [
    (
        "Product",
        &[
            ("Prices", "/pricing"),
            ("Price a page", "/quote"),
            ("Buy with a wallet", "/buy"),
            ("Proof Packs", "/proof-pack"),
            ("Evidence Bundles", "/proof-pack/bundle"),
            ("Check of a text", "/docs#example-check"),
            ("Sample report", "/proof-pack/sample"),
            ("Public reports", "/proof-pack/library"),
            ("Demo", "/demo"),
        ],
    ),
    (
        "Developers",
        &[
            ("Quickstart", "/quickstart"),
            ("Reference", "/docs"),
            ("API explorer", "/swagger"),
            ("Test purchase", "/paid-test"),
            ("llms.txt", "/llms.txt"),
            ("Health", "/health"),
        ],
    ),
    (
        "Service",
        &[
            ("About", "/about"),
            ("FAQ", "/faq"),
            ("Contact", "/contact"),
            ("Terms", "/terms"),
            ("Privacy", "/privacy"),
            ("Refunds", "/refunds"),
        ],
    ),
];

/// The whole document around `content`, which must contain the page's one `h1`.
#[expect(
    clippy::needless_pass_by_value,
    reason = "markup is made for this one use"
)]
pub fn layout(page: Layout<'_>, content: Markup) -> String {
    frame(&page, &[], &html! { main #main { .wrap { (content) } } })
}

/// The same around content with a `#main` of its own, and with further stylesheets.
pub(super) fn frame(page: &Layout<'_>, styles: &[&str], content: &Markup) -> String {
    let body = html! {
        @if page.site.facilitator == FacilitatorMode::Sandbox { (sandbox_notice()) }
        @if page.site.is_paused { (pause_notice()) }
        (header(page))
        (content)
        (footer(page))
    };
    document(page, styles, &body)
}

/// A document without the header and the footer of the shop.
pub(super) fn document(page: &Layout<'_>, styles: &[&str], body: &Markup) -> String {
    html! {
        (DOCTYPE)
        html lang="en" {
            (head(page, styles))
            body {
                a.skip href="#main" { "Skip to content" }
                (body)
                script { (PreEscaped(COPY_SCRIPT)) }
            }
        }
    }
    .into_string()
}

fn head(page: &Layout<'_>, styles: &[&str]) -> Markup {
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
            meta property="og:image" content=(page.site.url(SOCIAL_PATH));
            meta property="og:image:width" content="1200";
            meta property="og:image:height" content="630";
            meta name="twitter:card" content="summary_large_image";
            meta name="theme-color" media="(prefers-color-scheme: light)" content="#ffffff";
            meta name="theme-color" media="(prefers-color-scheme: dark)" content="#171b1d";
            link rel="icon" type="image/svg+xml" href=(FAVICON_PATH);
            @for path in [STYLE_PATH].iter().chain(styles) { link rel="stylesheet" href=(path); }
            link rel="service-desc" type="application/vnd.oai.openapi+json;version=3.1" href="/openapi.json";
            link rel="alternate" type="text/markdown" href=(page.site.url(&page.markdown_path()));
        }
    }
}

fn sandbox_notice() -> Markup {
    html! {
        aside.sandbox aria-label="Sandbox" { .wrap {
            p {
                strong { "Sandbox." }
                " Payments are verified as usual but use test funds; nothing reaches a chain."
            }
        } }
    }
}

fn pause_notice() -> Markup {
    html! {
        aside.sandbox aria-label="Sales" { .wrap {
            p {
                strong { "Sales are paused." }
                " Prices are shown for information; nothing can be bought at the moment. What is paid for is still delivered."
            }
        } }
    }
}

fn header(page: &Layout<'_>) -> Markup {
    // Errors and alternates bear the address of another page.
    let current = (!page.noindex).then_some(page.path);
    html! {
        header.site-head { .wrap {
            (brand())
            nav.site-nav aria-label="Main" { ul {
                @for (label, path) in NAVIGATION {
                    li { a href=(path) aria-current=[(Some(path) == current).then_some("page")] { (label) } }
                }
            } }
        } }
    }
}

pub(super) fn brand() -> Markup {
    html! {
        a.brand href="/" {
            img src=(FAVICON_PATH) alt="" width="27" height="27";
            span { "context" b { "402" } }
        }
    }
}

fn footer(page: &Layout<'_>) -> Markup {
    html! {
        footer.site-foot { .wrap {
            div {
                (brand())
                p { "Clean markdown and verifiable evidence from public web pages, paid per call in USDC on "
                (page.site.network_name()) " over x402." }
                p {
                    "Version " (page.site.version)
                    @if !page.noindex { " · " a href=(page.markdown_path()) { "View as Markdown" } }
                }
            }
            nav.columns aria-label="More" {
                @for (head, lines) in FOOTER {
                    div {
                        h2 { (head) }
                        ul { @for (label, path) in lines { li { a href=(path) { (label) } } } }
                    }
                }
            }
        } }
    }
}
