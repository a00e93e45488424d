//! Random small documents are converted and rendered again: readers of the markdown must see the text that readers of
//! the page saw, white space aside.

use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd, html};

use super::tests::full_page;
use crate::domain::words::folded;

/// A piece of a page and the text it shows.
#[derive(Clone, Debug)]
struct Piece {
    html: String,
    text: String,
}

impl Piece {
    fn new(html: impl Into<String>, text: impl Into<String>) -> Piece {
        Piece {
            html: html.into(),
            text: text.into(),
        }
    }

    fn within(self, before: &str, after: &str) -> Piece {
        Piece::new(format!("{before}{}{after}", self.html), self.text)
    }
}

fn joined(pieces: Vec<Piece>) -> Piece {
    let mut all = Piece::new("", "");
    for piece in pieces {
        all.html += &piece.html;
        all.text += &piece.text;
    }
    all
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

/// Words and signs, most of which mean something somewhere.
fn text() -> impl Strategy<Value = Piece> {
    const PIECES: [&str; 52] = [
        "word", "a", "b", "c", " ", " ", " ", "  ", "漢字", "。", "「", "é", "1", "2", ".", ",",
        "!", "?", "*", "**", "_", "__", "`", "``", "~", "~~", "[", "]", "(", ")", "<", ">", "&",
        ";", "&amp;", "&lt", "#", "# ", "- ", "+ ", "1. ", "=", "|", "\\", ":", "\"", "'", "$",
        "“", "”", "[x] ", "<b>",
    ];
    proptest::collection::vec(proptest::sample::select(&PIECES[..]), 1..6).prop_map(|pieces| {
        let text = pieces.concat();
        Piece::new(escaped(&text), text)
    })
}

fn inline() -> impl Strategy<Value = Piece> {
    let leaf = prop_oneof![
        6 => text(),
        1 => Just(Piece::new("<br>", " ")),
        1 => Just(Piece::new("<img src=/i.png alt='*x* [y]'>", "")),
        2 => text().prop_map(|piece| piece.within("<code>", "</code>")),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        let several = proptest::collection::vec(inner, 1..5).prop_map(joined);
        prop_oneof![
            several
                .clone()
                .prop_map(|piece| piece.within("<b>", "</b>")),
            several
                .clone()
                .prop_map(|piece| piece.within("<em>", "</em>")),
            several
                .clone()
                .prop_map(|piece| piece.within("<del>", "</del>")),
            several
                .clone()
                .prop_map(|piece| piece.within("<mark>", "</mark>")),
            several.clone().prop_map(|piece| {
                let text = format!("“{}”", piece.text);
                Piece::new(format!("<q>{}</q>", piece.html), text)
            }),
            // A link in a link would end it.
            several.clone().prop_map(|piece| {
                let html = piece
                    .html
                    .replace("<a href=", "<u title=")
                    .replace("</a>", "</u>");
                Piece::new(
                    format!("<a href='/x?a=1&amp;b=(2' title='\"t\"'>{html}</a>"),
                    piece.text,
                )
            }),
            several,
        ]
    })
}

fn line() -> impl Strategy<Value = Piece> {
    proptest::collection::vec(inline(), 1..4).prop_map(joined)
}

fn code_block() -> impl Strategy<Value = Piece> {
    proptest::collection::vec(text(), 1..4).prop_map(|lines| {
        let html: Vec<_> = lines.iter().map(|line| line.html.as_str()).collect();
        let text: Vec<_> = lines.iter().map(|line| line.text.as_str()).collect();
        Piece::new(format!("<pre>\n{}</pre>", html.join("\n")), text.join("\n"))
    })
}

fn table() -> impl Strategy<Value = Piece> {
    let row = || proptest::collection::vec(line(), 3);
    proptest::collection::vec(row(), 2..4).prop_map(|rows| {
        let mut table = Piece::new("<table>", "");
        for row in rows {
            table.html += "<tr>";
            for cell in row {
                table.html += &format!("<td>{}</td>", cell.html);
                table.text += &format!(" {}", cell.text);
            }
            table.html += "</tr>";
        }
        table.html += "</table>";
        table
    })
}

fn block() -> impl Strategy<Value = Piece> {
    let leaf = prop_oneof![
        4 => line().prop_map(|piece| piece.within("<p>", "</p>")),
        2 => line(),
        1 => line().prop_map(|piece| piece.within("<h2>", "</h2>")),
        1 => line().prop_map(|piece| piece.within("<dl><dt>", "</dt></dl>")),
        1 => Just(Piece::new("<hr>", "")),
        1 => code_block(),
        1 => table(),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        let several = proptest::collection::vec(inner, 1..4).prop_map(|pieces| {
            let html = pieces
                .iter()
                .map(|piece| piece.html.as_str())
                .collect::<Vec<_>>();
            let text: Vec<_> = pieces.iter().map(|piece| piece.text.as_str()).collect();
            Piece::new(html.join("<div></div>"), text.join(" "))
        });
        prop_oneof![
            several
                .clone()
                .prop_map(|piece| piece.within("<ul><li>", "</ul>")),
            several
                .clone()
                .prop_map(|piece| piece.within("<ol start=7><li>", "</ol>")),
            several
                .clone()
                .prop_map(|piece| piece.within("<ul><li>i<ul>", "</ul></ul>"))
                .prop_map(|piece| {
                    let text = format!("i {}", piece.text);
                    Piece::new(piece.html, text)
                }),
            several
                .clone()
                .prop_map(|piece| piece.within("<blockquote>", "</blockquote>")),
            several
                .clone()
                .prop_map(|piece| piece.within("<details><summary>", "</summary></details>")),
            several.prop_map(|piece| piece.within("<div>", "</div>")),
        ]
    })
}

fn document() -> impl Strategy<Value = Piece> {
    proptest::collection::vec(block(), 1..4).prop_map(|pieces| {
        let html: Vec<_> = pieces.iter().map(|piece| piece.html.as_str()).collect();
        let text: Vec<_> = pieces.iter().map(|piece| piece.text.as_str()).collect();
        Piece::new(html.join("<div></div>"), text.join(" "))
    })
}

/// What a reader of the markdown sees.
fn visible_text(markdown: &str) -> String {
    let mut out = String::new();
    let mut images = 0;
    for event in Parser::new_ext(markdown, options()) {
        match event {
            Event::Start(Tag::Image { .. }) => images += 1,
            Event::End(TagEnd::Image) => images -= 1,
            Event::Text(text) | Event::Code(text) if images == 0 => out.push_str(&text),
            Event::InlineHtml(html) if &*html == "<br>" => out.push(' '),
            Event::InlineHtml(html) | Event::Html(html) => out.push_str(&format!("RAW {html}")),
            Event::TaskListMarker(_) => out.push_str(" TASK "),
            Event::Start(Tag::Strong | Tag::Emphasis | Tag::Strikethrough | Tag::Link { .. })
            | Event::End(
                TagEnd::Strong | TagEnd::Emphasis | TagEnd::Strikethrough | TagEnd::Link,
            ) => {}
            Event::Text(_) | Event::Code(_) => {}
            _ => out.push(' '),
        }
    }
    folded(&out)
}

/// A page's markdown, rendered and converted once more, still says the same.
pub(super) fn check_again(markdown: &str) {
    let mut rendered = String::new();
    html::push_html(&mut rendered, Parser::new_ext(markdown, options()));
    let again = full_page(&rendered).markdown;
    assert_eq!(visible_text(&again), visible_text(markdown));
}

fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS
}

proptest! {
    #[test]
    fn markdown_shows_what_the_page_says(document in document()) {
        let expected = folded(&format!("{} end", document.text));
        let html = format!("{}<p>end", document.html);
        let markdown = full_page(&html).markdown;
        prop_assert_eq!(visible_text(&markdown), expected, "{}\n{}", html, markdown);
    }
}
