//! Where a page's text is when its markup holds little of it: JSON-LD, `<noscript>`, the state of an application,
//! the description. Tried in this order; the first that says clearly more is taken. What is found is converted like
//! a page, once: nothing in it is looked for again.

use std::sync::Arc;

use super::ContentSource;
use super::ConvertError;
use super::builder::Builder;
use super::links::Links;
use super::metadata::Collected;
use super::outline::Outline;
use super::reader::Reader;
use super::select::model::Model;
use super::select::voices::Voices;
use super::selector::{Selector, kept_words};

/// With fewer kept words than this the other places are looked at.
const WORDS_FEW: u64 = 100;
/// They are taken if they say so much more.
const GAIN_WORDS: u64 = 50;
/// An article's own text is also taken when it is so many times what was kept: the page shows only its beginning.
const ARTICLE_GAIN: u64 = 2;
/// A description is short, and still better than a page that says nothing but its menu.
const DESCRIPTION_WORDS_MIN: u64 = 8;
const WORDS_NONE: u64 = 15;

/// Shorter strings of an application's state are labels.
const PROSE_BYTES_MIN: usize = 80;
/// Strings of a state in a state: some frameworks write JSON into JSON.
const LEVELS_MAX: usize = 2;
const STRINGS_MAX: usize = 2_000;

#[derive(Debug)]
pub(super) struct Found {
    pub(super) source: ContentSource,
    pub(super) outline: Outline,
    pub(super) kept: Vec<usize>,
    pub(super) words: u64,
    pub(super) voices: Option<Voices>,
}

/// `words` is what was kept of the page itself.
pub(super) fn find(
    collected: &Collected,
    links: &Links,
    selector: &Selector<'_>,
    words: u64,
) -> Result<Option<Found>, ConvertError> {
    for source in [
        ContentSource::JsonLd,
        ContentSource::Noscript,
        ContentSource::AppState,
        ContentSource::Description,
    ] {
        let Some(html) = html(source, collected, words) else {
            continue;
        };
        let selector = Selector {
            full: selector.full || source != ContentSource::Noscript,
            ..*selector
        };
        let outline = outline(&html, links, &selector)?;
        let selected = selector.select(&outline);
        let kept = selected.blocks;
        let found = Found {
            source,
            words: kept_words(&outline, &kept),
            outline,
            kept,
            voices: selected.voices,
        };
        if gains(&found, words) {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

fn outline(html: &str, links: &Links, selector: &Selector<'_>) -> Result<Outline, ConvertError> {
    let model = Arc::clone(selector.model);
    let builder = Builder::new(links.clone(), selector.full, model).sharing(selector.work);
    let mut reader = Reader::new(builder);
    reader.read(html)?;
    Ok(reader.finish()?.finish().0)
}

/// For training: what some forums say in `<noscript>` only, if the page itself says almost nothing.
pub(super) fn thread(
    own: &Outline,
    collected: &Collected,
    links: &Links,
    model: &Arc<Model>,
) -> Result<Option<Outline>, ConvertError> {
    let words = own.words();
    if words >= WORDS_FEW || collected.noscript.is_empty() {
        return Ok(None);
    }
    let mut builder = Builder::new(links.clone(), false, Arc::clone(model)).sharing(&own.work);
    builder.is_training = true;
    let mut reader = Reader::new(builder);
    reader.read(&collected.noscript)?;
    let other = reader.finish()?.finish().0;
    Ok((other.words() > words + GAIN_WORDS).then_some(other))
}

fn gains(found: &Found, words: u64) -> bool {
    let gained = found.words.saturating_sub(words);
    match found.source {
        ContentSource::Description => gained >= DESCRIPTION_WORDS_MIN,
        ContentSource::JsonLd if words >= WORDS_FEW => found.words >= words * ARTICLE_GAIN,
        _ => gained > GAIN_WORDS,
    }
}

/// The markup of one place, if there is any and it is worth a look.
fn html(source: ContentSource, collected: &Collected, words: u64) -> Option<String> {
    let is_short = words < WORDS_FEW;
    match source {
        ContentSource::JsonLd => {
            let body = collected.json_ld.article_body.as_deref()?;
            // The cheapest bound on its words first: most pages show what they say here.
            let may_gain = is_short || body.len() as u64 / 3 >= words * ARTICLE_GAIN;
            may_gain.then(|| html_with_title(collected, &[body.to_owned()]))
        }
        ContentSource::Noscript => {
            (is_short && !collected.noscript.is_empty()).then(|| collected.noscript.clone())
        }
        ContentSource::AppState => {
            let texts = (is_short && !collected.scripts.state.is_empty())
                .then(|| prose(&collected.scripts.state))?;
            (!texts.is_empty()).then(|| html_with_title(collected, &texts))
        }
        ContentSource::Description => {
            let description = (words < WORDS_NONE).then(|| collected.description())??;
            Some(html_with_title(collected, &[description]))
        }
        ContentSource::Page => None,
    }
}

/// Texts as a page of their own, under the page's title. Each is HTML if it looks like it.
fn html_with_title(collected: &Collected, texts: &[String]) -> String {
    let mut html = String::new();
    if let Some(headline) = collected.headline() {
        html.push_str("<h1>");
        push_escaped(&mut html, &headline);
        html.push_str("</h1>");
    }
    for text in texts {
        if is_html(text) {
            html.push_str("<div>");
            html.push_str(text);
            html.push_str("</div>");
            continue;
        }
        for paragraph in htmlize::unescape(text.as_str()).lines() {
            html.push_str("<p>");
            push_escaped(&mut html, paragraph);
            html.push_str("</p>");
        }
    }
    html
}

fn is_html(text: &str) -> bool {
    ["</p>", "<br", "</div>", "</h", "</li>", "<p>"]
        .iter()
        .any(|tag| text.contains(tag))
}

fn push_escaped(html: &mut String, text: &str) {
    for character in text.chars() {
        match character {
            '<' => html.push_str("&lt;"),
            '&' => html.push_str("&amp;"),
            character => html.push(character),
        }
    }
}

/// The prose in an application's state: the strings under the one key that holds the most of it, in order. The state
/// is read as a row of strings, whatever stands between them, so that program text around it does no harm.
fn prose(state: &str) -> Vec<String> {
    let mut strings: Vec<(String, String)> = Vec::new();
    collect(state, 1, &mut strings);
    let mut totals: Vec<(&str, usize)> = Vec::new();
    for (key, text) in &strings {
        match totals.iter_mut().find(|(known, _)| known == key) {
            Some((_, total)) => *total += text.len(),
            None => totals.push((key, text.len())),
        }
    }
    let largest = totals.iter().rev().max_by_key(|(_, total)| *total);
    let Some(key) = largest.map(|(key, _)| (*key).to_owned()) else {
        return Vec::new();
    };
    let mut texts: Vec<String> = Vec::new();
    for (_, text) in strings.into_iter().filter(|(found, _)| *found == key) {
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts
}

fn collect(text: &str, level: usize, found: &mut Vec<(String, String)>) {
    let mut key = String::new();
    for (string, is_key) in Strings::new(text) {
        if found.len() >= STRINGS_MAX {
            return;
        }
        if is_key {
            key = string;
        } else if level < LEVELS_MAX && string.contains("\":") {
            collect(&string, level + 1, found);
        } else if is_prose(&string) && !is_beside(&key) {
            found.push((key.clone(), string));
        }
    }
}

/// Keys whose texts are about the site and not the page.
fn is_beside(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    [
        "cookie",
        "consent",
        "privacy",
        "legal",
        "terms",
        "disclaimer",
        "copyright",
        "css",
        "style",
        "svg",
        "query",
    ]
    .iter()
    .any(|part| key.contains(part))
}

/// Sentences, by their letters, spaces and stops; in languages without spaces by their letters.
fn is_prose(text: &str) -> bool {
    if text.len() < PROSE_BYTES_MIN || text.starts_with(['{', '[']) {
        return false;
    }
    let (mut letters, mut spaces, mut stops, mut odd, mut all) = (0, 0, 0, 0, 0);
    let mut in_tag = false;
    for character in text.chars().take(4_000) {
        match character {
            '<' => in_tag = true,
            '>' => in_tag = false,
            _ if in_tag => continue,
            ' ' | '\n' | '\u{a0}' => spaces += 1,
            '.' | '!' | '?' | '。' | '！' | '？' | '،' => stops += 1,
            '{' | '}' | '=' | '_' | '\\' | '|' | '$' | '@' | '%' => odd += 1,
            character if character.is_alphabetic() => letters += 1,
            _ => {}
        }
        all += 1;
    }
    let wide = text
        .chars()
        .take(400)
        .filter(|c| matches!(c, '\u{3040}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}'));
    let has_words = spaces * 12 >= letters || wide.count() > 20;
    stops > 0 && has_words && letters * 10 >= all * 7 && odd * 50 <= all
}

/// The double-quoted strings of a text, decoded, and whether each is a key.
struct Strings<'a> {
    rest: &'a str,
}

impl<'a> Strings<'a> {
    fn new(text: &'a str) -> Strings<'a> {
        Strings { rest: text }
    }
}

impl Iterator for Strings<'_> {
    type Item = (String, bool);

    fn next(&mut self) -> Option<(String, bool)> {
        let start = self.rest.find('"')? + 1;
        let body = &self.rest[start..];
        let mut end = 0;
        loop {
            end += body[end..].find(['"', '\\'])?;
            if body.as_bytes()[end] == b'"' {
                break;
            }
            end += 1 + body[end + 1..].chars().next()?.len_utf8();
        }
        let string = decoded(&body[..end]);
        self.rest = &body[end + 1..];
        Some((string, self.rest.trim_start().starts_with(':')))
    }
}

fn decoded(raw: &str) -> String {
    if !raw.contains('\\') {
        return raw.to_owned();
    }
    serde_json::from_str(&format!("\"{}\"", raw.replace(['\n', '\r', '\t'], " ")))
        .unwrap_or_else(|_| raw.replace("\\n", " ").replace('\\', ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_read_from_any_text_around_them() {
        let found: Vec<_> = Strings::new(r#"window.x={"a":"b\"c", d:"é\u00e9\\",["e"]}"#).collect();
        let expected = [("a", true), ("b\"c", false), ("éé\\", false), ("e", false)];
        assert_eq!(
            found,
            expected.map(|(text, is_key)| (text.to_owned(), is_key))
        );
        assert_eq!(Strings::new("\"open \\").count(), 0);
        assert_eq!(
            Strings::new("\"bad \\q\"").next().map(|(text, _)| text),
            Some("bad q".to_owned())
        );
    }

    #[test]
    fn prose_is_told_from_code_and_keys() {
        let long =
            "The boats leave at dawn, and come back when the tide allows it. Nobody hurries here. ";
        assert!(is_prose(&long.repeat(2)));
        assert!(is_prose(&format!("<p>{long}</p>")));
        assert!(is_prose(
            &"船は夜明けに出て、潮が満ちると戻ってくる。".repeat(4)
        ));
        assert!(!is_prose("short."));
        assert!(!is_prose(&"abcdefghijklmnopqrstuvwxyz".repeat(8)));
        assert!(!is_prose(&".a { color: red; margin: 0 } ".repeat(8)));
        assert!(!is_prose(&"https://example.org/a?b=c&d=e. ".repeat(8)));
    }

    #[test]
    fn the_key_with_most_prose_wins_and_repeats_are_dropped() {
        let one =
            "The boats leave at dawn, and come back when the tide allows it. Nobody hurries here. "
                .repeat(2);
        let two = one.replace("boats", "ships");
        let state = serde_json::json!({
            "seo": {"description": one}, "cookieText": one.repeat(9),
            "body": [{"text": one}, {"text": two}, {"text": one}],
        });
        assert_eq!(prose(&state.to_string()), [one.clone(), two.clone()]);
        let nested = serde_json::json!([1, state.to_string()]);
        assert_eq!(prose(&format!("self.__next_f.push({nested})")), [one, two]);
        assert!(prose("\"\\").is_empty());
    }
}
