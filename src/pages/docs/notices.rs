//! `/notices`: third-party work in the program and its licenses. `assets/notices/make.py` makes the text, and
//! `context402 version --licenses` prints it.

use maud::html;

use crate::pages::layout::{Layout, layout};
use crate::pages::parts;
use crate::pages::site::Site;

/// The notices, plain text.
pub const TEXT: &str = include_str!("../../../assets/notices/notices.txt");
/// The line above and below each title in [`TEXT`].
const RULE: &str =
    "\n================================================================================\n";

#[derive(Clone, Copy, Debug)]
pub struct NoticesView<'a> {
    pub site: Site<'a>,
}

/// A license with everything under it.
struct Notice<'a> {
    title: &'a str,
    text: &'a str,
}

pub fn page(view: &NoticesView<'_>) -> String {
    layout(
        Layout {
            site: view.site,
            title: "Third-party notices",
            description: "Third-party software, fonts and data in context402, with their licenses.",
            path: "/notices",
            noindex: false,
        },
        html! {
            h1 { "Third-party notices" }
            p.lead { "Third-party software, fonts and data in this program, with their licenses." }
            p { (introduction()) }
            h2 #licenses { "By license" }
            .questions {
                @for notice in notices() {
                    details {
                        summary { h3 { (notice.title) } }
                        (parts::folded_code("Notice", notice.text))
                    }
                }
            }
        },
    )
}

/// The text above the first title, below the heading.
fn introduction() -> &'static str {
    let before = TEXT.split(RULE).next().unwrap_or_default();
    before.split_once("\n\n").unwrap_or_default().1.trim()
}

fn notices() -> impl Iterator<Item = Notice<'static>> {
    let mut pieces = TEXT.split(RULE).skip(1);
    std::iter::from_fn(move || {
        let (title, text) = (pieces.next()?, pieces.next()?);
        Some(Notice {
            title,
            text: text.trim(),
        })
    })
}

#[cfg(test)]
mod tests {
    use crate::pages::docs::notices::*;

    #[test]
    fn every_notice_has_a_title_and_a_text() {
        assert!(introduction().starts_with("context402 contains"));
        let notices: Vec<_> = notices().collect();
        assert!(notices.len() > 20, "only {} were found", notices.len());
        for notice in &notices {
            let whole = !notice.title.contains('\n') && notice.text.len() > 500;
            assert!(
                whole && !notice.text.contains(RULE.trim()),
                "{}",
                notice.title
            );
        }
        let pieces = TEXT.split(RULE).count();
        assert_eq!(pieces, 2 * notices.len() + 1);
    }
}
