//! `/notices`: who else's work is in the program, under which licenses. The text is made by `assets/notices/make.py`;
//! `context402 version --licenses` prints it as it is.

use maud::html;

use crate::pages::layout::{Layout, layout};
use crate::pages::parts;
use crate::pages::site::Site;

/// The notices, plain text.
pub const TEXT: &str = include_str!("../../../assets/notices/notices.txt");
/// Stands above and below each title in [`TEXT`].
const RULE: &str =
    "\n================================================================================\n";

#[derive(Clone, Copy, Debug)]
pub struct NoticesView<'a> {
    pub site: Site<'a>,
}

/// A license with everything that is under it.
struct Notice<'a> {
    title: &'a str,
    text: &'a str,
}

pub fn page(view: &NoticesView<'_>) -> String {
    layout(
        Layout {
            site: view.site,
            title: "Third-party notices",
            description: "Whose software, fonts and data are in context402, and under which licenses.",
            path: "/notices",
            noindex: false,
        },
        html! {
            h1 { "Third-party notices" }
            p.lead { "Whose software, fonts and data are in this program, and under which licenses." }
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

/// What stands above the first title, below the text's own.
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
