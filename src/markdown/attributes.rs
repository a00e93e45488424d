//! What an element's attributes say about its content: its role, whether it is hidden, the language of its code.
//! Class and id names count as whole tokens only, never as parts of words: `tool` in `code-toolbar` means nothing.

use super::outline::Role;
use super::tag::Tag;

/// A start tag's attributes, entities decoded.
pub(super) struct Attributes<'a> {
    raw: &'a dyn Fn(&str) -> Option<String>,
}

impl<'a> Attributes<'a> {
    /// `raw` gives an attribute's value as it is written.
    pub(super) fn new(raw: &'a dyn Fn(&str) -> Option<String>) -> Attributes<'a> {
        Attributes { raw }
    }

    pub(super) fn get(&self, name: &str) -> Option<String> {
        let value = (self.raw)(name)?;
        if value.contains('&') {
            return Some(htmlize::unescape_attribute(value).into_owned());
        }
        Some(value)
    }

    pub(super) fn number(&self, name: &str) -> Option<u32> {
        self.get(name)?.trim().parse().ok()
    }

    pub(super) fn has_token(&self, name: &str, wanted: &[&str]) -> bool {
        self.get(name).is_some_and(|value| {
            value
                .split_ascii_whitespace()
                .any(|token| wanted.iter().any(|w| token.eq_ignore_ascii_case(w)))
        })
    }
}

/// Names that consent managers and cookie notices give to their outermost element.
const CONSENT: [&str; 34] = [
    "cc-banner",
    "cc-window",
    "cky-consent-container",
    "cmplz-cookiebanner",
    "cookie-alert",
    "cookie-banner",
    "cookie-bar",
    "cookie-consent",
    "cookie-consent-banner",
    "cookie-disclaimer",
    "cookie-law-info-bar",
    "cookie-message",
    "cookie-notice",
    "cookie-notification",
    "cookie-policy-banner",
    "cookie-popup",
    "cookieBanner",
    "cookieConsent",
    "cookieNotice",
    "CybotCookiebotDialog",
    "didomi-host",
    "eu-cookie-law",
    "fc-consent-root",
    "gdpr-banner",
    "gdpr-cookie-notice",
    "iubenda-cs-banner",
    "moove_gdpr_cookie_info_bar",
    "onetrust-banner-sdk",
    "onetrust-consent-sdk",
    "osano-cm-window",
    "qc-cmp2-container",
    "truste_overlay",
    "usercentrics-root",
    "wt-cli-cookie-bar",
];

const VISUALLY_HIDDEN: [&str; 4] = [
    "screen-reader-text",
    "sr-only",
    "visually-hidden",
    "visuallyhidden",
];

const LINE_NUMBERS: [&str; 16] = [
    "blob-num",
    "crayon-nums",
    "gutter",
    "hljs-ln-numbers",
    "js-line-number",
    "line-number",
    "line-numbers-rows",
    "line-numbers",
    "linenodiv",
    "lineno",
    "linenos",
    "linenumber",
    "linenumbers",
    "lnt",
    "react-syntax-highlighter-line-number",
    "rouge-gutter",
];

/// What is put into code blocks to be clicked.
const COPY_BUTTONS: [&str; 12] = [
    "btn-clipboard",
    "btn-copy",
    "clipboard",
    "code-copy",
    "copy",
    "copy-btn",
    "copy-button",
    "copy-code",
    "copy-code-button",
    "copybtn",
    "copy-to-clipboard-button",
    "zeroclipboard-container",
];

/// What a block element is for.
pub(super) fn role(tag: Tag, attributes: &Attributes<'_>) -> Role {
    if is_hidden(attributes) || (tag == Tag::Dialog && attributes.get("open").is_none()) {
        return Role::Hidden;
    }
    if attributes.has_token("id", &CONSENT) || attributes.has_token("class", &CONSENT) {
        return Role::Consent;
    }
    let named = attributes.get("role").unwrap_or_default();
    match (named.trim(), tag) {
        ("main", _) | ("", Tag::Main) => Role::Main,
        ("article", _) | ("", Tag::Article) => Role::Article,
        ("navigation" | "menubar", _) | (_, Tag::Navigation) => Role::Navigation,
        ("banner", _) | ("", Tag::Header) => Role::Header,
        ("contentinfo", _) | ("", Tag::Footer) => Role::Footer,
        ("complementary", _) | ("", Tag::Aside) => Role::Aside,
        ("search", _) | (_, Tag::Form) => Role::Form,
        _ => Role::None,
    }
}

/// Whether readers of the page do not see the element.
pub(super) fn is_hidden(attributes: &Attributes<'_>) -> bool {
    attributes.get("hidden").is_some()
        || attributes.get("aria-hidden").is_some_and(|v| v == "true")
        || attributes.has_token("class", &VISUALLY_HIDDEN)
        || attributes.get("style").is_some_and(|style| {
            style.split(';').any(|declaration| {
                let (name, value) = declaration.split_once(':').unwrap_or_default();
                let (name, value) = (name.trim(), value.trim());
                (name.eq_ignore_ascii_case("display") && value.starts_with("none"))
                    || (name.eq_ignore_ascii_case("visibility") && value.starts_with("hidden"))
            })
        })
}

/// Whether an element in preformatted text holds the numbers of its lines.
pub(super) fn is_line_number(attributes: &Attributes<'_>) -> bool {
    attributes.has_token("class", &LINE_NUMBERS)
}

/// Whether an element in preformatted text is no part of it.
pub(super) fn is_beside_code(attributes: &Attributes<'_>) -> bool {
    is_line_number(attributes) || attributes.has_token("class", &COPY_BUTTONS)
}

/// The code language that an element around a `<pre>` names.
pub(super) fn language_around(attributes: &Attributes<'_>) -> Option<String> {
    let class = attributes.get("class")?;
    if [
        "highlight",
        "language-",
        "lang-",
        "syntaxhighlighter",
        "sourceCode",
    ]
    .iter()
    .any(|part| class.contains(part))
    {
        return language(attributes);
    }
    None
}

/// The language that a `<pre>` or its `<code>` names, in the manner of the usual highlighters.
pub(super) fn language(attributes: &Attributes<'_>) -> Option<String> {
    for name in ["data-lang", "data-language", "data-enlighter-language"] {
        if let Some(language) = attributes.get(name).filter(|value| is_language(value)) {
            return Some(language.to_ascii_lowercase());
        }
    }
    let class = attributes.get("class")?;
    let mut tokens = class.split_ascii_whitespace();
    let mut beside_hljs = None;
    let mut is_hljs = false;
    while let Some(token) = tokens.next() {
        let named = [
            "language-",
            "lang-",
            "highlight-source-",
            "highlight-text-",
            "highlight-",
            "brush:",
            "lang:",
        ]
        .iter()
        .find_map(|prefix| token.strip_prefix(prefix));
        if let Some(language) = named {
            let language = match language.trim_end_matches(';') {
                "" => tokens.next().unwrap_or("").trim_end_matches(';'),
                language => language,
            };
            return is_language(language).then(|| language.to_ascii_lowercase());
        }
        if matches!(
            token,
            "hljs" | "sourceCode" | "syntaxhighlighter" | "highlight"
        ) {
            is_hljs = true;
        } else if is_language(token) && !token.contains(['-', '_']) && beside_hljs.is_none() {
            beside_hljs = Some(token);
        }
    }
    beside_hljs.filter(|_| is_hljs).map(str::to_ascii_lowercase)
}

/// A picture of a pixel's size counts visits.
pub(super) fn is_tracking_pixel(attributes: &Attributes<'_>) -> bool {
    let is_tiny = |name| {
        attributes
            .get(name)
            .is_some_and(|value| matches!(value.trim().trim_end_matches("px"), "0" | "1"))
    };
    let is_said = |name| attributes.get(name).is_some();
    match (is_tiny("width"), is_tiny("height")) {
        (true, true) => true,
        (true, false) => !is_said("height"),
        (false, true) => !is_said("width"),
        (false, false) => false,
    }
}

/// Beside the language, or in its place, many highlighters put these.
const NO_LANGUAGES: [&str; 17] = [
    "code",
    "default",
    "line-numbers",
    "linenos",
    "nohighlight",
    "nogutter",
    "none",
    "nohljs",
    "notranslate",
    "numberLines",
    "numberSource",
    "plain",
    "plaintext",
    "prettyprint",
    "text",
    "wp-block-code",
    "wrap",
];

/// A name that can stand behind a code fence.
fn is_language(name: &str) -> bool {
    (1..=24).contains(&name.len())
        && !NO_LANGUAGES.contains(&name)
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"+#-._".contains(&b))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with<'a>(pairs: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<String> + 'a {
        move |name| {
            pairs
                .iter()
                .find(|(key, _)| *key == name)
                .map(|(_, value)| (*value).to_owned())
        }
    }

    fn check_language(pairs: &[(&str, &str)], expected: Option<&str>) {
        let raw = with(pairs);
        assert_eq!(
            language(&Attributes::new(&raw)).as_deref(),
            expected,
            "{pairs:?}"
        );
    }

    #[test]
    fn languages_of_code() {
        check_language(&[("class", "language-Rust")], Some("rust"));
        check_language(&[("class", "x lang-c++")], Some("c++"));
        check_language(&[("class", "hljs python")], Some("python"));
        check_language(&[("class", "brush: js; gutter: false")], Some("js"));
        check_language(&[("class", "highlight")], None);
        check_language(&[("class", "highlight js")], Some("js"));
        check_language(&[("class", "highlight-python notranslate")], Some("python"));
        check_language(
            &[("class", "language-ruby highlighter-rouge")],
            Some("ruby"),
        );
        check_language(
            &[("class", "highlight highlight-source-rust")],
            Some("rust"),
        );
        check_language(&[("class", "language-none")], None);
        check_language(&[("data-lang", "toml")], Some("toml"));
        check_language(&[("data-lang", "`injected`")], None);
    }

    fn check_role(tag: Tag, pairs: &[(&str, &str)], expected: Role) {
        let raw = with(pairs);
        assert_eq!(role(tag, &Attributes::new(&raw)), expected, "{pairs:?}");
    }

    #[test]
    fn roles_come_from_whole_tokens() {
        check_role(Tag::Division, &[("class", "cookie-banner")], Role::Consent);
        check_role(
            Tag::Division,
            &[("class", "cookie-banner-recipes")],
            Role::None,
        );
        check_role(Tag::Division, &[("role", "contentinfo")], Role::Footer);
        check_role(Tag::Header, &[], Role::Header);
        check_role(Tag::Header, &[("role", "presentation")], Role::None);
        check_role(Tag::Division, &[("style", "DISPLAY: none")], Role::Hidden);
        check_role(Tag::Division, &[("aria-hidden", "false")], Role::None);
        check_role(Tag::Dialog, &[("open", "")], Role::None);
    }
}
