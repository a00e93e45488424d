//! `/demo`: the converter and the evidence check on sample pages, free. Their output arrives in the view.

use maud::{Markup, html};

use crate::domain::figures::size;
use crate::evidence::report::Report;
use crate::pages::buyer::report;
use crate::pages::buyer::samples::{SAMPLES, Sample};
use crate::pages::layout::{Layout, layout};
use crate::pages::parts;
use crate::pages::site::Site;

#[derive(Clone, Debug)]
pub struct DemoView<'a> {
    pub site: Site<'a>,
    pub sample: &'a Sample,
    pub markdown: &'a str,
    pub report: &'a Report,
}

pub fn page(view: &DemoView<'_>) -> String {
    let sample = view.sample;
    layout(
        Layout {
            site: view.site,
            title: "Demo",
            description: "Try the converter and the evidence check on sample pages, without payment or account.",
            path: "/demo",
            noindex: false,
        },
        html! {
            h1 { "Try it for free" }
            p.lead {
                "Choose one of four built-in pages and ask a question about it. Paid pages use the same converter, and reports of "
                "the default pack the same evidence check."
            }
            (form(view))
            h2 #answer { "What a report says" }
            (report::brief(view.report))
            h2 #markdown { "The page as markdown" }
            p {
                "The page is " (size(sample.body.len() as u64)) " of HTML with navigation, banners and scripts; the markdown is "
                (size(view.markdown.len() as u64)) "."
            }
            .pair {
                (parts::tall_code("In: HTML", sample.body))
                (parts::tall_code("Out: markdown", view.markdown))
            }
            h2 #next { "Use your own page" }
            .actions {
                a.button href="/quote" { "Price a page" }
                a.button.quiet href="/proof-pack/quote" { "Price a Proof Pack" }
                a.button.quiet href="/proof-pack/sample" { "Read the sample report" }
            }
        },
    )
}

fn form(view: &DemoView<'_>) -> Markup {
    html! {
        form.ask.panel.across action={ "/demo#answer" } method="get" {
            .fields {
                div {
                    label for="page" { "Page" }
                    .row {
                        select #page name="page" {
                            @for sample in SAMPLES {
                                option value=(sample.name()) selected[sample.host == view.sample.host] { (sample.label) }
                            }
                        }
                    }
                }
                div {
                    label for="question" { "Question or claim" }
                    .row {
                        input #question name="question" type="text" maxlength="1000" autocomplete="off"
                            value=(view.report.question);
                        button type="submit" { "Ask" }
                    }
                }
            }
            p.hint {
                "For example: "
                @for (index, question) in view.sample.questions.iter().enumerate() {
                    @if index > 0 { " · " }
                    a href=(question_path(view.sample, question)) { (question) }
                }
            }
        }
    }
}

/// The demo's answer to a question about a sample page.
pub(crate) fn question_path(sample: &Sample, question: &str) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.append_pair("page", sample.name());
    query.append_pair("question", question);
    format!("/demo?{}#answer", query.finish())
}
