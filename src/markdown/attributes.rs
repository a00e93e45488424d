//! What an element's attributes say about its content: its role, whether it is hidden, the language of its code.
//! Class and id names count as whole tokens only, never as parts of words: `tool` in `code-toolbar` means nothing.

use std::borrow::Cow;

use super::markup::Place;
use super::outline::Role;
use super::tag::Tag;

/// A start tag's attributes.
#[derive(Clone, Copy, Default)]
pub(super) struct Attributes<'a> {
    /// What `places` count from.
    source: &'a str,
    places: &'a [Place],
}

impl<'a> Attributes<'a> {
    pub(super) fn new(source: &'a str, places: &'a [Place]) -> Attributes<'a> {
        Attributes { source, places }
    }

    /// Names and values as they are written: names in any case, entities not decoded. No name comes twice.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let source = self.source;
        let places = self.places.iter();
        places.map(move |place| (place.name(source), place.value(source)))
    }

    /// The value with its entities decoded. `name` is in lower case.
    pub(super) fn get(&self, name: &str) -> Option<Cow<'a, str>> {
        self.raw(name).map(decoded)
    }

    /// The value as it is written. `name` is in lower case.
    pub(super) fn raw(&self, name: &str) -> Option<&'a str> {
        let is_it = |place: &&Place| place.is_named(self.source, name);
        let place = self.places.iter().find(is_it)?;
        Some(place.value(self.source))
    }

    pub(super) fn number(&self, name: &str) -> Option<u32> {
        self.get(name)?.trim().parse().ok()
    }

    /// Whether one of the element's classes is among these.
    pub(super) fn has_class(&self, names: &Names) -> bool {
        self.raw("class")
            .is_some_and(|value| names.contain_one_of(value))
    }
}

fn decoded(value: &str) -> Cow<'_, str> {
    if value.contains('&') {
        htmlize::unescape_attribute(value)
    } else {
        Cow::Borrowed(value)
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

/// Names that generators of reference pages give to declarations and to what explains them.
const DECLARATIONS: [&str; 48] = [
    "alignedsummary",
    "api-signature",
    "api_metadata",
    "code-header",
    "ctor",
    "declaration",
    "deftypefn",
    "descname",
    "doc-function",
    "doc-heading",
    "doc-object",
    "docblock",
    "docstring",
    "Documentation-declaration",
    "Documentation-function",
    "func-head",
    "item-decl",
    "member-signature",
    "memberdecls",
    "memdoc",
    "memitem",
    "memItemLeft",
    "memproto",
    "memtitle",
    "method-description",
    "method-detail",
    "method-heading",
    "method-signature",
    "method_details",
    "methodsynopsis",
    "phpdocumentor-element",
    "phpdocumentor-signature",
    "pubdef",
    "RBoxed",
    "REFBODY",
    "refentry",
    "refnamediv",
    "refsect1",
    "refsect2",
    "RktBlk",
    "SCodeFlow",
    "sig",
    "subs",
    "summary_signature",
    "task-group",
    "tsd-panel",
    "tsd-signature",
    "type-signature",
];

/// The same of ids.
const REFERENCE_IDS: [&str; 3] = ["apicontent", "doc-content", "module-header"];

/// A few names to be found among very many tokens: most are none of them, which two looks tell.
pub(super) struct Names {
    names: &'static [&'static str],
    /// For each length, the first letters of the names that are so long, as bits.
    letters: [u32; 40],
}

impl Names {
    pub(super) const fn new(names: &'static [&'static str]) -> Names {
        let mut letters = [0; 40];
        let mut at = 0;
        while at < names.len() {
            let name = names[at].as_bytes();
            letters[name.len()] |= letter(name[0]);
            at += 1;
        }
        Names { names, letters }
    }

    fn contain(&self, token: &str) -> bool {
        let may_be = match (self.letters.get(token.len()), token.as_bytes().first()) {
            (Some(letters), Some(first)) => letters & letter(*first) != 0,
            _ => false,
        };
        may_be
            && self
                .names
                .iter()
                .any(|name| name.eq_ignore_ascii_case(token))
    }

    fn contain_one_of(&self, tokens: &str) -> bool {
        decoded(tokens)
            .split_ascii_whitespace()
            .any(|token| self.contain(token))
    }
}

/// The same bit for both cases.
const fn letter(byte: u8) -> u32 {
    1 << (byte & 31)
}

static CONSENTS: Names = Names::new(&CONSENT);
static HIDDEN: Names = Names::new(&VISUALLY_HIDDEN);
static NUMBERS: Names = Names::new(&LINE_NUMBERS);
static DECLARED: Names = Names::new(&DECLARATIONS);
static REFERENCES: Names = Names::new(&REFERENCE_IDS);
static BUTTONS: Names = Names::new(&COPY_BUTTONS);

/// What a block element is for.
pub(super) fn role(tag: Tag, attributes: &Attributes<'_>, class: ClassSigns) -> Role {
    let (mut is_consent, mut is_open, mut named) = (class.is_consent, false, "");
    if class.hides {
        return Role::Hidden;
    }
    for (name, value) in attributes.iter() {
        if hides(name, value) {
            return Role::Hidden;
        }
        match name.len() {
            2 if name.eq_ignore_ascii_case("id") => is_consent |= CONSENTS.contain_one_of(value),
            4 if name.eq_ignore_ascii_case("open") => is_open = true,
            4 if name.eq_ignore_ascii_case("role") => named = value.trim(),
            _ => {}
        }
    }
    if tag == Tag::Dialog && !is_open {
        return Role::Hidden;
    }
    if is_consent {
        return Role::Consent;
    }
    match (named, tag) {
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

/// Names of those who wrote a post and of when they did.
const AUTHORS_AND_DATES: [&str; 40] = [
    "age",
    "author",
    "author-name",
    "bbp-author-name",
    "bbp-reply-post-date",
    "byline",
    "comhead",
    "comment-author",
    "comment-date",
    "comment-user",
    "comment_author",
    "comment_date",
    "commentauthor",
    "creator",
    "date",
    "hnuser",
    "ipsComment_author",
    "lia-user-name-link",
    "local-friendly-time",
    "message-attribution",
    "message-author",
    "message-name",
    "nickname",
    "post-author",
    "post-date",
    "post-time",
    "post_author",
    "post_date",
    "postauthor",
    "postdate",
    "postdetails",
    "poster",
    "poster-name",
    "relative-time",
    "relativetime",
    "timestamp",
    "topic-author",
    "user-details",
    "user-name",
    "username",
];

static BYLINES: Names = Names::new(&AUTHORS_AND_DATES);

/// Names of comments that do not say so.
const COMMENTS: [&str; 16] = [
    "commentlist",
    "disqus_thread",
    "dsq-content",
    "echo-item",
    "fb-comments",
    "idc-container",
    "js-kit-comments",
    "livefyre",
    "pingback",
    "pingbacks",
    "responses",
    "trackback",
    "trackbacks",
    "wpdcom",
    "wpd-thread-list",
    "wp-discuz",
];

static COMMENTED: Names = Names::new(&COMMENTS);

/// Whether a class or id is one of comments, or of one of them: `comments`, `comment-body`, `post-comments`.
fn names_comments(token: &str) -> bool {
    let bytes = token.as_bytes();
    let last = bytes.len().saturating_sub(6);
    let is_here = |at: &usize| {
        bytes[*at] | 0x20 == b'c' && bytes[at + 1..at + 7].eq_ignore_ascii_case(b"omment")
    };
    let Some(at) = (0..last).find(is_here) else {
        return COMMENTED.contain(token);
    };
    let (before, after) = (&token[..at], &token[at + 7..]);
    let rest = after.strip_prefix(['s', 'S']).unwrap_or(after);
    let is_part = before.is_empty() || before.ends_with(['-', '_']) || bytes[at] == b'C';
    let before = before.trim_matches(['-', '_']);
    let rest = rest.trim_start_matches(['-', '_']);
    let begins = |word: &&str| {
        let head = rest.get(..word.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(word))
    };
    is_part
        && !NO_COMMENTS
            .iter()
            .any(|word| before.eq_ignore_ascii_case(word))
        && (rest.is_empty()
            || rest.starts_with(|c: char| c.is_ascii_digit())
            || PARTS_OF_COMMENTS.iter().any(begins))
}

/// What stands before `comment` in names of other things.
const NO_COMMENTS: [&str; 13] = [
    "allow", "fa", "has", "hide", "hl", "hljs", "icon", "no", "open", "show", "token", "with",
    "without",
];

/// What follows on `comment` or `comments` in the names of comments.
const PARTS_OF_COMMENTS: [&str; 36] = [
    "area",
    "author",
    "avatar",
    "block",
    "body",
    "box",
    "by",
    "container",
    "content",
    "copy",
    "data",
    "date",
    "div",
    "entry",
    "form",
    "frame",
    "header",
    "holder",
    "info",
    "inner",
    "item",
    "list",
    "main",
    "meta",
    "name",
    "post",
    "repl",
    "resp",
    "row",
    "section",
    "tab",
    "text",
    "thread",
    "time",
    "tree",
    "wrap",
];

/// Whether the element's id is one of comments.
pub(super) fn is_comment(attributes: &Attributes<'_>) -> bool {
    attributes.raw("id").is_some_and(names_comments)
}

/// Whether the element's id is one of a reference page's.
pub(super) fn declares(attributes: &Attributes<'_>) -> bool {
    attributes
        .raw("id")
        .is_some_and(|id| REFERENCES.contain(id))
}

/// Whether readers of the page do not see the element.
pub(super) fn is_hidden(attributes: &Attributes<'_>) -> bool {
    attributes.has_class(&HIDDEN) || is_hidden_beside_class(attributes)
}

/// The same for an element whose classes are known not to hide it.
pub(super) fn is_hidden_beside_class(attributes: &Attributes<'_>) -> bool {
    attributes.iter().any(|(name, value)| hides(name, value))
}

/// What the value of a class attribute says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ClassSigns {
    is_consent: bool,
    pub(super) hides: bool,
    /// It may name the language of the code inside.
    pub(super) is_highlighter: bool,
    /// It is a declaration on a reference page.
    pub(super) declares: bool,
    /// It holds comments on something else, or is one.
    pub(super) is_comment: bool,
    /// It names an author or a date.
    pub(super) is_byline: bool,
}

impl ClassSigns {
    pub(super) fn of(class: &str) -> ClassSigns {
        let class = decoded(class);
        let mut signs = ClassSigns {
            is_highlighter: is_highlighter(&class),
            ..ClassSigns::default()
        };
        for token in class.split_ascii_whitespace() {
            signs.is_consent |= CONSENTS.contain(token);
            signs.hides |= HIDDEN.contain(token);
            signs.declares |= DECLARED.contain(token);
            signs.is_comment |= names_comments(token);
            signs.is_byline |= BYLINES.contain(token);
        }
        signs
    }
}

fn hides(name: &str, value: &str) -> bool {
    match name.len() {
        5 if name.eq_ignore_ascii_case("style") => value.split(';').any(|declaration| {
            let (name, value) = declaration.split_once(':').unwrap_or_default();
            let (name, value) = (name.trim(), value.trim());
            (name.eq_ignore_ascii_case("display") && value.starts_with("none"))
                || (name.eq_ignore_ascii_case("visibility") && value.starts_with("hidden"))
        }),
        6 => name.eq_ignore_ascii_case("hidden"),
        11 => name.eq_ignore_ascii_case("aria-hidden") && value == "true",
        _ => false,
    }
}

/// Whether an element in preformatted text holds the numbers of its lines.
pub(super) fn is_line_number(attributes: &Attributes<'_>) -> bool {
    attributes.has_class(&NUMBERS)
}

/// Whether an element in preformatted text is no part of it.
pub(super) fn is_beside_code(attributes: &Attributes<'_>) -> bool {
    is_line_number(attributes) || attributes.has_class(&BUTTONS)
}

/// Whether an element with such classes around a `<pre>` may name its language.
fn is_highlighter(class: &str) -> bool {
    const PARTS: [&[u8]; 4] = [b"highlight", b"language-", b"lang-", b"sourceCode"];
    let class = class.as_bytes();
    class.iter().enumerate().any(|(at, byte)| {
        matches!(byte, b'h' | b'l' | b's') && PARTS.iter().any(|part| class[at..].starts_with(part))
    })
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
pub(in crate::markdown) mod tests {
    use super::super::markup;
    use super::*;

    pub(in crate::markdown) fn with<T>(
        pairs: &[(&str, &str)],
        asked: impl Fn(&Attributes<'_>) -> T,
    ) -> T {
        let written = pairs
            .iter()
            .map(|(name, value)| format!(" {name}='{value}'"));
        let source = format!("<x{}>", written.collect::<String>());
        let mut places = Vec::new();
        markup::next(&source, &mut places).expect("a whole tag");
        asked(&Attributes::new(&source, &places))
    }

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
    }

    fn check_role(tag: Tag, pairs: &[(&str, &str)], expected: Role) {
        let found = with(pairs, |attributes| {
            let class = ClassSigns::of(attributes.raw("class").unwrap_or_default());
            role(tag, attributes, class)
        });
        assert_eq!(found, expected, "{pairs:?}");
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
        check_role(Tag::Dialog, &[], Role::Hidden);
        check_role(Tag::Division, &[("ID", "cookie&#x6E;otice")], Role::Consent);
        check_role(
            Tag::Division,
            &[("id", "x"), ("id", "cookieNotice")],
            Role::None,
        );
        for name in CONSENT {
            check_role(Tag::Division, &[("class", name)], Role::Consent);
        }
    }
}
