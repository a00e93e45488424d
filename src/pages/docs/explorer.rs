//! `/swagger`: openapi.json in the built-in Swagger UI. Without script the page links to the reference. Swagger UI has its
//! own look, so the page does not use the usual frame.

use maud::{DOCTYPE, html};

use crate::pages::assets::{
    EXPLORER_SCRIPT_PATH, EXPLORER_START_PATH, EXPLORER_STYLE_PATH, FAVICON_PATH, STYLE_PATH,
};
use crate::pages::site::{NAME, Site};

#[derive(Clone, Copy, Debug)]
pub struct ExplorerView<'a> {
    pub site: Site<'a>,
}

pub fn page(view: &ExplorerView<'_>) -> String {
    html! {
        (DOCTYPE)
        html.explorer lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "API explorer · " (NAME) }
                meta name="description" content="Read about every endpoint of this service and try it in the browser.";
                link rel="canonical" href=(view.site.url("/swagger"));
                link rel="icon" type="image/svg+xml" href=(FAVICON_PATH);
                link rel="stylesheet" href=(STYLE_PATH);
                link rel="stylesheet" href=(EXPLORER_STYLE_PATH);
            }
            body {
                // The explorer brings its own main element.
                header #main {
                    .wrap {
                        h1 { "API explorer" }
                        p {
                            a href="/" { "Home" } " · " a href="/docs" { "Reference" } " (same endpoints with prices and errors, no script "
                            "needed) · " a href="/openapi.json" { "openapi.json" }
                        }
                        noscript { p { "This explorer needs JavaScript; the reference does not." } }
                    }
                }
                #explorer {}
                script src=(EXPLORER_SCRIPT_PATH) {}
                script src=(EXPLORER_START_PATH) {}
            }
        }
    }
    .into_string()
}
