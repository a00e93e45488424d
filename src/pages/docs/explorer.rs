//! `/swagger`: openapi.json in the built-in Swagger UI, in the frame of the other pages. Without script the page links to
//! the reference.

use maud::html;

use crate::pages::assets::{EXPLORER_SCRIPT_PATH, EXPLORER_START_PATH, EXPLORER_STYLE_PATH};
use crate::pages::layout::{Layout, frame};
use crate::pages::site::Site;

#[derive(Clone, Copy, Debug)]
pub struct ExplorerView<'a> {
    pub site: Site<'a>,
}

pub fn page(view: &ExplorerView<'_>) -> String {
    let page = Layout {
        site: view.site,
        title: "API explorer",
        description: "Read about every endpoint of this service and try it in the browser.",
        path: "/swagger",
        noindex: false,
    };
    frame(
        &page,
        &[EXPLORER_STYLE_PATH],
        &html! {
            // Swagger UI brings a main element of its own.
            #main.explorer {
                section.wrap aria-labelledby="explorer-title" {
                    h1 #explorer-title { "API explorer" }
                    p.lead {
                        "Every endpoint of context402 " (view.site.version) ", with a form to try it. The "
                        a href="/docs" { "reference" } " lists the same endpoints with prices and errors; machines read "
                        a href="/openapi.json" { "openapi.json" } "."
                    }
                    noscript { p { "This explorer needs JavaScript; the reference does not." } }
                }
                .wrap { #explorer {} }
                script src=(EXPLORER_SCRIPT_PATH) {}
                script src=(EXPLORER_START_PATH) {}
            }
        },
    )
}
