//! Building blocks shared by several pages.

use maud::{Markup, PreEscaped, html};
use serde_json::Value;

use crate::domain::amount::Amount;
pub(super) use crate::domain::figures::{capitalized, cents, label_words};
use crate::domain::time::UnixSeconds;
use crate::pages::commands::{self, Item};
use crate::pages::site::Site;

/// A code block with a caption. It scrolls, so it can be focused by keyboard.
pub(super) fn code(caption: &str, text: &str) -> Markup {
    code_block("code", caption, text)
}

/// The same with wrapped lines, for text to read rather than to copy.
pub(super) fn folded_code(caption: &str, text: &str) -> Markup {
    code_block("code fold", caption, text)
}

/// The same for long examples, which scroll within a fixed height.
pub(super) fn tall_code(caption: &str, text: &str) -> Markup {
    code_block("code fold tall", caption, text)
}

fn code_block(class: &str, caption: &str, text: &str) -> Markup {
    html! {
        figure class=(class) {
            figcaption { (caption) }
            pre tabindex="0" { code { (text) } }
        }
    }
}

/// Up to four code blocks as tabs. The tabs are radio buttons, so they need no script. `name` is unique on the page.
pub(super) fn tabs(name: &str, legend: &str, blocks: &[(&str, Markup)]) -> Markup {
    let id = |index: usize| format!("{name}-{}", index + 1);
    html! {
        fieldset.tabs {
            legend { (legend) }
            @for (index, (label, _)) in blocks.iter().enumerate() {
                input type="radio" name=(name) id=(id(index)) checked[index == 0];
                // The space keeps the labels apart where the page is read as text.
                label for=(id(index)) { (label) } " "
            }
            // Where the tabs are read as text, each block says which it is.
            @for (label, block) in blocks { div { p.away { (label) ":" } (block) } }
        }
    }
}

/// How to buy something: with the CLI where there is one to be had, and in two languages.
pub(super) fn ways_to_buy(site: &Site<'_>, item: Item<'_>) -> Markup {
    let cli = ("CLI", code("Shell", &commands::buy(site, item)));
    let others = [
        (
            "TypeScript",
            code("buy.mts", &commands::typescript(site, item)),
        ),
        ("Python", code("buy.py", &commands::python(site, item))),
        (
            "curl",
            code(
                "Shell: the response is 402 with the price",
                &commands::challenge_curl(site, item),
            ),
        ),
    ];
    let ways: Vec<_> = (site.has_program().then_some(cli).into_iter())
        .chain(others)
        .collect();
    tabs("buy", "Buy it with", &ways)
}

/// What the commands need.
pub(super) fn what_to_install(site: &Site<'_>) -> Markup {
    html! {
        p.small.muted {
            @if let Some(download) = site.download.and_then(safe_href) {
                a href=(download) { "Download " code { "context402" } } ". "
            } @else if site.has_program() {
                (program_here()) " "
            }
            a href="/quickstart#buyer" { "The quickstart" } " lists what to install and where the key goes."
        }
    }
}

/// Where to find the program, for people who run a sandbox.
pub(super) fn program_here() -> Markup {
    html! {
        "If " code { "context402" } " is not in your " code { "PATH" } ", call it as you built it: "
        code { "target/release/context402" } "."
    }
}

/// What a verification came to: each check by its name, and whether it passes.
pub(super) fn passed_checks(checks: &[(&str, bool)]) -> Markup {
    html! {
        ul.checks {
            @for (id, passes) in checks {
                li class=(if *passes { "pass" } else { "fail" }) {
                    (check_words(id, *passes)) " " code { (id) }
                }
            }
        }
    }
}

/// What a check has found, as a sentence.
fn check_words(id: &str, passes: bool) -> &'static str {
    match (id, passes) {
        ("readable", true) => "The report can be read.",
        ("readable", false) => "The report cannot be read.",
        ("result_hash", true) => "The result hash is that of the report.",
        ("result_hash", false) => "The result hash is not that of the report.",
        ("source_hash", true) => "The source hash is that of the stored text.",
        ("source_hash", false) => "The source hash is not that of the stored text.",
        ("source_hashes", true) => "Each source hash is that of its stored text.",
        ("source_hashes", false) => "A source hash is not that of its stored text.",
        ("source_profile", true) => "The source’s description names the same text.",
        ("source_profile", false) => "The source’s description names another text.",
        ("citations", true) => "Each excerpt is in the source, word for word.",
        ("citations", false) => "Some excerpts are not in the source.",
        ("retention", true) => "The report is within its storage period.",
        ("retention", false) => "The report’s storage period has ended.",
        ("stored_bytes", true) => "The stored bytes are unchanged.",
        ("stored_bytes", false) => "The stored bytes have changed.",
        (_, true) => "Passes:",
        (_, false) => "Fails:",
    }
}

/// A decision's label, in its colour and with its sign, which the stylesheet draws.
pub(super) fn label(name: &str) -> Markup {
    html! { span class={ "tag sign " (tone(name)) " " (name.replace('_', "-")) } { (label_words(name)) } }
}

/// The colour of a decision's label, a class of the stylesheet.
pub(super) fn tone(label: &str) -> &'static str {
    match label {
        "supported" => "good",
        "partially_supported" => "part",
        "contested" => "split",
        "contradicted" => "bad",
        "weak" => "warn",
        _ => "none",
    }
}

/// A probability as a small bar with its percentage.
pub(super) fn share(what: &str, value: f64) -> Markup {
    let value = format!("{:.2}", value.clamp(0.0, 1.0));
    let shown = percent(&value);
    html! { meter min="0" max="1" value=(value) aria-label=(what) { (shown) } (shown) }
}

/// The same for what speaks against something.
pub(super) fn share_against(what: &str, value: f64) -> Markup {
    html! { span.against { (share(what, value)) } }
}

/// `66 %` of `0.66`.
fn percent(value: &str) -> String {
    let hundredths = value.parse::<f64>().unwrap_or_default() * 100.0;
    format!("{hundredths:.0} %")
}

/// A table that scrolls sideways where it is too wide for the screen.
pub(super) fn scrolling(label: &str, table: &Markup) -> Markup {
    html! { .scroll role="region" aria-label=(label) tabindex="0" { (table) } }
}

/// Text with names in backticks.
pub(super) fn with_code(text: &str) -> Markup {
    html! {
        @for (index, piece) in text.split('`').enumerate() {
            @if index % 2 == 1 { code { (piece) } } @else { (piece) }
        }
    }
}

/// A page of sections with their contents beside it: the anchors and titles of its `h2`.
pub(super) fn with_toc(content: &Markup) -> Markup {
    let sections = content.0.split("<h2 id=\"").skip(1).filter_map(|section| {
        let (anchor, rest) = section.split_once("\">")?;
        Some((anchor, rest.split_once("</h2>")?.0))
    });
    html! {
        .with-toc {
            nav.toc aria-label="On this page" {
                p { "On this page" }
                ul { @for (anchor, title) in sections { li { a href={ "#" (PreEscaped(anchor)) } { (PreEscaped(title)) } } } }
            }
            div { (content) }
        }
    }
}

/// A sentence of ours with names in backticks, in which the pages of this service that it names become links.
pub(super) fn with_links(text: &str) -> Markup {
    let is_page = |path: &str| {
        path.len() > 1
            && path.starts_with('/')
            && !path.starts_with("/v1/")
            && safe_href(path).is_some()
    };
    html! {
        @for (index, piece) in text.split('`').enumerate() {
            @if index % 2 == 1 { code { (piece) } } @else {
                @for word in piece.split_inclusive(' ') {
                    @let path = word.trim_end_matches([' ', '.', ',', ';', ':']);
                    @if is_page(path) { a href=(path) { (path) } (&word[path.len()..]) } @else { (word) }
                }
            }
        }
    }
}

pub(super) fn usdc(price: Amount) -> Markup {
    html! { (cents(price)) " USDC" }
}

/// `href` only for safe links: http, https, or a path of this service. The caller shows anything else (`javascript:`,
/// `data:`, `//host`) as text.
pub(super) fn safe_href(address: &str) -> Option<&str> {
    let own_path = address.starts_with('/')
        && !address.starts_with("//")
        && !address.contains(['\\', '\n', '\t', '\r']);
    let web = url::Url::parse(address)
        .is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    (own_path || web).then_some(address)
}

/// A foreign address: a link if it is safe, otherwise text.
pub(super) fn foreign_link(address: &str) -> Markup {
    html! {
        @if let Some(href) = safe_href(address) {
            a.address href=(href) rel="nofollow noopener noreferrer" { (address) }
        } @else {
            (address)
        }
    }
}

/// The operator's contact: a mail link, a web link, or plain text.
pub(super) fn contact(text: &str) -> Markup {
    let is_mail = |text: &str| {
        text.split_once('@').is_some_and(|(user, host)| {
            let plain = |c: char| c.is_ascii_alphanumeric() || "._+-".contains(c);
            !user.is_empty() && host.contains('.') && (user.chars().chain(host.chars())).all(plain)
        })
    };
    html! {
        @if is_mail(text) { a href={ "mailto:" (text) } { (text) } } @else { (foreign_link(text)) }
    }
}

/// What stands in place of a button while sales are paused.
pub(super) fn paused_note() -> Markup {
    html! {
        .note.warn { p { strong { "Sales are paused." } " Come back later; nothing is charged until then." } }
    }
}

/// The button that pays with a browser's wallet, unless sales are paused.
pub(super) fn wallet_button(site: &Site<'_>, path: &str) -> Markup {
    html! {
        @if site.is_paused { (paused_note()) } @else { .actions { a.button href=(path) { "Pay with a browser wallet" } } }
    }
}

/// A question as a heading. What is too long for one is set in the size of text.
pub(super) fn question(text: &str) -> Markup {
    const HEADING_CHARACTERS_MAX: usize = 140;
    html! { h1.question.long[text.chars().count() > HEADING_CHARACTERS_MAX] dir="auto" { (text) } }
}

/// Why there is no quote: an error code of `/docs`, and a sentence.
pub(super) fn refusal_note(code: &str, message: &str) -> Markup {
    html! {
        .note.bad role="alert" {
            p { strong { (message) } }
            p {
                "Nothing was charged, and no quote was saved. See "
                a href={ "/docs#" (code) } { code { (code) } } " for what to do."
            }
        }
    }
}

/// The quote form for a page.
pub(super) fn quote_form(site: &Site<'_>, typed: &str) -> Markup {
    html! {
        form.ask action="/quote" method="get" {
            label for="target_url" { "Page URL" }
            .row {
                input #target_url name="target_url" type="url" inputmode="url" required maxlength="2048"
                    autocomplete="off" spellcheck="false" value=(typed) placeholder="https://example.com/article";
                button type="submit" { "Show the price" }
            }
            p.hint {
                "Free; nothing is fetched. No page at hand? Try "
                a href=(quote_path(&site.sample_url())) { "our sample page" } ", or " a href="/demo" { "the demo" } "."
            }
        }
    }
}

/// The quote form for a Proof Pack.
pub(super) fn report_form(site: &Site<'_>, typed: &str, question: &str) -> Markup {
    html! {
        form.ask action="/proof-pack/quote" method="get" {
            label for="target_url" { "Source URL" }
            .row {
                input #target_url name="target_url" type="url" inputmode="url" required maxlength="2048"
                    autocomplete="off" spellcheck="false" value=(typed) placeholder="https://example.com/pricing";
            }
            label for="question" { "Question or claim" }
            .row {
                input #question name="question" type="text" maxlength="1000" autocomplete="off" value=(question)
                    placeholder="Is the free plan limited to three users?";
                button type="submit" { "Show the price" }
            }
            p.hint {
                "Free; nothing is fetched. No source at hand? Try "
                a href=(report_quote_path(&site.sample_url(), "")) { "our sample page" } "."
            }
        }
    }
}

/// The Proof Pack quote page for a source.
pub(super) fn report_quote_path(target_url: &str, question: &str) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.append_pair("target_url", target_url);
    if !question.is_empty() {
        query.append_pair("question", question);
    }
    format!("/proof-pack/quote?{}", query.finish())
}

/// The quote page for a target.
pub(super) fn quote_path(target_url: &str) -> String {
    let query: String = url::form_urlencoded::byte_serialize(target_url.as_bytes()).collect();
    format!("/quote?target_url={query}")
}

/// Text as one encoded path segment.
pub(super) fn path_segment(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes())
        .collect::<String>()
        .replace('+', "%20")
}

/// The day of an ISO 8601 time, as a source states it: `11 March 2026`. Anything else is left as it is.
pub(super) fn day(text: &str) -> Markup {
    let day = text
        .get(..10)
        .and_then(|day| day.parse::<jiff::civil::Date>().ok());
    html! {
        @match day {
            Some(day) => time datetime=(day) { (day.strftime("%-d %B %Y")) },
            None => (text),
        }
    }
}

/// A time in UTC; programs read the `datetime` attribute.
pub(super) fn time(at: UnixSeconds) -> Markup {
    moment(at, "%-d %B %Y, %H:%M UTC")
}

/// The day alone, without its year: `21 Nov`.
pub(super) fn date(at: UnixSeconds) -> String {
    let day = at.timestamp();
    day.map_or_else(|| at.to_string(), |day| day.strftime("%-d %b").to_string())
}

/// The same for tables: `2026-11-21 22:20`, in UTC.
pub(super) fn short_time(at: UnixSeconds) -> Markup {
    moment(at, "%Y-%m-%d %H:%M")
}

fn moment(at: UnixSeconds, format: &str) -> Markup {
    html! {
        @match at.timestamp() {
            Some(moment) => time datetime=(moment) { (moment.strftime(format)) },
            None => (at),
        }
    }
}

/// Indented JSON; text that is not JSON is unchanged.
pub(super) fn pretty_json(text: &str) -> String {
    serde_json::from_str::<Value>(text)
        .ok()
        .and_then(|value| serde_json::to_string_pretty(&value).ok())
        .unwrap_or_else(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_question_is_no_heading_in_size_and_every_question_has_its_own_direction() {
        assert_eq!(
            question("Is it?").into_string(),
            r#"<h1 class="question" dir="auto">Is it?</h1>"#
        );
        let long = question(&"word ".repeat(40)).into_string();
        assert!(
            long.starts_with(r#"<h1 class="question long" dir="auto">"#),
            "{long}"
        );
    }

    #[test]
    fn every_check_is_a_sentence_beside_its_name() {
        let shown = passed_checks(&[("stored_bytes", true), ("citations", false)]).into_string();
        assert!(shown.contains("The stored bytes are unchanged. <code>stored_bytes</code>"));
        assert!(shown.contains("Some excerpts are not in the source. <code>citations</code>"));
    }

    #[test]
    fn the_contents_are_the_sections() {
        let page =
            with_toc(&html! { h1 { "A" } h2 #one { "One & two" } p { "x" } h2 { "No anchor" } });
        assert!(
            page.into_string()
                .contains(r##"<ul><li><a href="#one">One &amp; two</a></li></ul>"##)
        );
    }

    #[test]
    fn the_pages_that_a_sentence_names_are_links() {
        for (text, expected) in [
            (
                "See /docs for the endpoints.",
                r#"See <a href="/docs">/docs</a> for the endpoints."#,
            ),
            (
                "Contact the operator at /contact.",
                r#"Contact the operator at <a href="/contact">/contact</a>."#,
            ),
            (
                "POST it to /v1/agent/diagnose.",
                "POST it to /v1/agent/diagnose.",
            ),
            (
                "See //elsewhere.org/ and/or wait",
                "See //elsewhere.org/ and/or wait",
            ),
            ("Read `readable`.", "Read <code>readable</code>."),
        ] {
            assert_eq!(with_links(text).into_string(), expected);
        }
    }

    #[test]
    fn only_web_addresses_and_own_paths_become_links() {
        for safe in ["https://example.com/a?b=c", "http://example.com", "/docs#x"] {
            assert_eq!(safe_href(safe), Some(safe), "{safe}");
        }
        for refused in [
            "javascript:alert(1)",
            "JaVaScRiPt:alert(1)",
            " javascript:alert(1)",
            "java\nscript:alert(1)",
            "data:text/html,x",
            "vbscript:x",
            "//elsewhere.org/",
            "/\\elsewhere.org/",
            "/\t/elsewhere.org/",
            "example.com",
            "",
        ] {
            assert_eq!(safe_href(refused), None, "{refused:?}");
        }
    }

    #[test]
    fn a_contact_is_a_mail_link_a_web_link_or_text() {
        for (text, expected) in [
            (
                "ops@sample-site.org",
                r#"<a href="mailto:ops@sample-site.org">ops@sample-site.org</a>"#,
            ),
            ("javascript:alert(1)@a.b", "javascript:alert(1)@a.b"),
            ("a@b.c?subject=x", "a@b.c?subject=x"),
            ("the front desk", "the front desk"),
        ] {
            assert_eq!(contact(text).into_string(), expected, "{text}");
        }
    }

    #[test]
    fn prices_have_cents() {
        for (units, expected) in [(100_000, "0.10"), (1_000_000, "1.00"), (12_000, "0.012")] {
            assert_eq!(cents(Amount::from_units(units)), expected);
        }
    }

    #[test]
    fn days_are_readable_and_never_fail() {
        for (text, expected) in [
            (
                "2026-03-11T14:40:00+01:00",
                "<time datetime=\"2026-03-11\">11 March 2026</time>",
            ),
            ("2026-03", "2026-03"),
            ("2026-13-40 and more", "2026-13-40 and more"),
            ("yesterdäy <b>", "yesterdäy &lt;b&gt;"),
        ] {
            assert_eq!(day(text).into_string(), expected);
        }
    }

    #[test]
    fn times_are_readable_and_never_fail() {
        let shown = time(UnixSeconds(1_795_247_439)).into_string();
        assert!(shown.contains(">21 November 2026, 07:50 UTC<"), "{shown}");
        assert_eq!(
            time(UnixSeconds(u64::MAX)).into_string(),
            u64::MAX.to_string()
        );
    }

    #[test]
    fn json_is_indented_and_other_text_is_kept() {
        assert_eq!(
            pretty_json(r#"{"b":1,"a":[]}"#),
            "{\n  \"b\": 1,\n  \"a\": []\n}"
        );
        assert_eq!(pretty_json("not json"), "not json");
    }
}
