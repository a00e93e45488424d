//! `/swagger`: openapi.json in Swagger UI, which is built into the program. It needs script; without it the page leads
//! to the reference, which does not. Swagger UI brings its own look, so the page stands outside of the usual frame.

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
                meta name="description" content="Every endpoint of this service, to be read and tried in the browser.";
                link rel="canonical" href=(view.site.url("/swagger"));
                link rel="icon" type="image/svg+xml" href=(FAVICON_PATH);
                link rel="stylesheet" href=(STYLE_PATH);
                link rel="stylesheet" href=(EXPLORER_STYLE_PATH);
            }
            body {
                // The explorer has a main part of its own.
                header #main {
                    .wrap {
                        h1 { "API explorer" }
                        p {
                            a href="/" { "Home" } " · " a href="/docs" { "The reference" } " has the same endpoints with prices and "
                            "errors, and needs no script · " a href="/openapi.json" { "openapi.json" } " is what programs read."
                        }
                        noscript { p { "This explorer needs script; the reference does not." } }
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
