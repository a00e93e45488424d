//! What the attributes of code say: its language, and which elements in it are numbers of lines and buttons.

use super::{Attributes, Names};

const LINE_NUMBERS: [&str; 20] = [
    "blob-num",
    "crayon-nums",
    "gutter",
    "hljs-ln-numbers",
    "js-line-number",
    "line-num",
    "line-number",
    "line-numbers-rows",
    "line-numbers",
    "linenodiv",
    "lineno",
    "linenos",
    "linenr",
    "linenum",
    "linenumber",
    "linenumbers",
    "ln",
    "lnt",
    "react-syntax-highlighter-line-number",
    "rouge-gutter",
];

/// What is put into code blocks to be clicked, or to show under the pointer.
const COPY_BUTTONS: [&str; 13] = [
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
    "ttc",
    "zeroclipboard-container",
];

static NUMBERS: Names = Names::new(&LINE_NUMBERS);
static BUTTONS: Names = Names::new(&COPY_BUTTONS);

/// Whether an element in preformatted text holds the numbers of its lines.
pub(in crate::markdown) fn is_line_number(attributes: &Attributes<'_>) -> bool {
    attributes.has_class(&NUMBERS)
}

/// Whether an element in preformatted text is no part of it.
pub(in crate::markdown) fn is_beside_code(attributes: &Attributes<'_>) -> bool {
    is_line_number(attributes) || attributes.has_class(&BUTTONS)
}

/// Names in which ISO 639 has a language that people speak, of those that are also names of code's.
const SPOKEN_TOO: [&str; 12] = [
    "chi", "deu", "eng", "fra", "fre", "ger", "ita", "jpn", "por", "rus", "spa", "zho",
];

/// Names of code's languages with two letters. Any other two are a language that people speak.
const SHORT_NAMES: [&str; 13] = [
    "f#", "go", "hs", "js", "kt", "md", "py", "rb", "rs", "sh", "tf", "ts", "vb",
];

/// The language of a `<pre>` or `<code>`: what [`language`] says, or else its own `lang`, which may name the language of a
/// text as well.
pub(in crate::markdown) fn own_language(attributes: &Attributes<'_>) -> Option<String> {
    language(attributes).or_else(|| {
        let named = ["language", "lang"]
            .iter()
            .find_map(|name| attributes.get(name))?;
        let named = named.trim().to_ascii_lowercase();
        let is_code = match named.len() {
            2 => SHORT_NAMES.contains(&&*named),
            _ => !named.contains('-') && !SPOKEN_TOO.contains(&&*named),
        };
        (is_code && is_language(&named)).then_some(named)
    })
}

/// Whether an element around a `<pre>` names its language in an attribute of its own.
pub(in crate::markdown) fn has_language(attributes: &Attributes<'_>) -> bool {
    let mut named = attributes.iter();
    named.any(|(name, _)| {
        name.len() >= 9
            && ["data-lang", "data-language"]
                .iter()
                .any(|known| name.eq_ignore_ascii_case(known))
    })
}

/// Whether an element with such classes around a `<pre>` may name its language.
pub(super) fn is_highlighter(class: &str) -> bool {
    const PARTS: [&[u8]; 4] = [b"highlight", b"language-", b"lang-", b"sourceCode"];
    let class = class.as_bytes();
    class.iter().enumerate().any(|(at, byte)| {
        matches!(byte, b'h' | b'l' | b's') && PARTS.iter().any(|part| class[at..].starts_with(part))
    })
}

/// The language that a `<pre>` or its `<code>` names, in the manner of the usual highlighters.
pub(in crate::markdown) fn language(attributes: &Attributes<'_>) -> Option<String> {
    for name in ["data-lang", "data-language", "data-enlighter-language"] {
        if let Some(language) = attributes.get(name).filter(|value| is_language(value)) {
            return Some(language.to_ascii_lowercase());
        }
    }
    if let Some(settings) = attributes.get("data-syntaxhighlighter-params")
        && let Some((_, named)) = settings.split_once("brush:")
    {
        let named = named.split(';').next().unwrap_or_default().trim();
        return is_language(named).then(|| named.to_ascii_lowercase());
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
            "hljs" | "sourceCode" | "syntaxhighlighter" | "highlight" | "rust-example-rendered"
        ) {
            is_hljs = true;
        } else if is_language(token) && !token.contains(['-', '_']) && beside_hljs.is_none() {
            beside_hljs = Some(token);
        }
    }
    beside_hljs.filter(|_| is_hljs).map(str::to_ascii_lowercase)
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
    use super::super::tests::with;
    use super::*;

    fn check_language(pairs: &[(&str, &str)], expected: Option<&str>) {
        assert_eq!(with(pairs, language).as_deref(), expected, "{pairs:?}");
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
        check_language(&[("class", "rust rust-example-rendered")], Some("rust"));
        check_language(
            &[(
                "data-syntaxhighlighter-params",
                "brush: bash; gutter: false",
            )],
            Some("bash"),
        );
    }

    #[test]
    fn languages_of_code_and_of_text_share_an_attribute() {
        for (name, value, expected) in [
            ("lang", "sh", Some("sh")),
            ("language", "YAML", Some("yaml")),
            ("lang", "mermaid", Some("mermaid")),
            ("lang", "c", Some("c")),
            ("lang", "en", None),
            ("lang", "en-US", None),
            ("lang", "deu", None),
            ("lang", "text", None),
        ] {
            let found = with(&[(name, value)], own_language);
            assert_eq!(found.as_deref(), expected, "{value}");
        }
    }
}
