//! The error page for browsers. The caller chooses status and text.

use maud::html;

use crate::pages::layout::{Layout, layout};
use crate::pages::parts;
use crate::pages::site::Site;

#[derive(Clone, Copy, Debug)]
pub struct ErrorView<'a> {
    pub site: Site<'a>,
    /// The requested path, unchanged.
    pub path: &'a str,
    pub status: u16,
    /// An error code of `/docs`; `None` for a plain 404 and the like.
    pub code: Option<&'a str>,
    /// What went wrong, as a sentence.
    pub message: &'a str,
    /// What to do now, as a sentence.
    pub next_step: &'a str,
    pub request_id: Option<&'a str>,
}

/// The page for one failed request.
pub fn page(view: &ErrorView<'_>) -> String {
    let title = format!("{}: {}", view.status, reason(view.status));
    layout(
        Layout {
            site: view.site,
            title: &title,
            description: view.message,
            path: view.path,
            noindex: true,
        },
        html! {
            p.kicker { "Error " (view.status) }
            h1 { (reason(view.status)) }
            p.lead { (view.message) }
            p { (parts::with_links(view.next_step)) }
            @if view.code.is_some() || view.request_id.is_some() {
                dl.facts {
                    @if let Some(code) = view.code {
                        dt { "Code" } dd { a href={ "/docs#" (code) } { code { (code) } } }
                    }
                    @if let Some(id) = view.request_id { dt { "Request" } dd { code { (id) } } }
                }
            }
            .actions {
                a.button href="/" { "Home" }
                a.button.quiet href="/docs#errors" { "All errors" }
            }
        },
    )
}

/// The status in plain words.
fn reason(status: u16) -> &'static str {
    match status {
        400 | 422 => "This request can’t be served",
        402 => "Payment required",
        403 => "Not allowed",
        404 => "Page not found",
        405 => "Method not allowed",
        409 => "Not possible now",
        410 => "No longer available",
        413 | 414 => "Too large",
        415 => "Unsupported content type",
        429 => "Too many requests",
        503 => "Not available right now",
        _ => "Something went wrong",
    }
}
