//! What an element's attributes say about its content: its role, whether it is hidden, the language of its code.
//! Class and id names count as whole tokens only, never as parts of words: `tool` in `code-toolbar` means nothing.

mod code;
mod comments;
mod concealed;
mod names;
mod reference;
mod talk;

use std::borrow::Cow;

use super::markup::Place;
use super::outline::Role;
use super::tag::{Name, Tag};

pub(super) use code::{has_language, is_beside_code, is_line_number, language, own_language};
pub(super) use comments::is_comment;
pub(super) use concealed::{controlled, is_concealed};
use names::Lists;
pub(super) use names::Names;
pub(super) use reference::declares;
pub(super) use talk::{TalkSigns, author_of_post, date_of, talk_signs};

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

/// Names of what changes the page or passes it on, and of what shows only under the pointer.
const UNREAD: [&str; 8] = [
    "a2a_kit",
    "addthis_toolbox",
    "addtoany_share_save_container",
    "method-click-advice",
    "mw-editsection",
    "sharedaddy",
    "sharethis-inline-share-buttons",
    "ttc",
];

/// Names of what a wiki or a manual puts around and into its text: notices to its editors, boxes of links to other pages,
/// the way back from a reference, where the page was taken from, the way to the next chapter.
const OF_THE_SITE: [&str; 14] = [
    "ambox",
    "backrefs",
    "catlinks",
    "docnav",
    "fn-bracket",
    "mw-cite-backlink",
    "mw-empty-elt",
    "mw-jump-link",
    "nav-panel",
    "navbox",
    "navfooter",
    "navheader",
    "printfooter",
    "vector-toc",
];

/// Names of a table of contents.
const CONTENTS: [&str; 12] = [
    "ez-toc-container",
    "lwptoc",
    "markdown-toc",
    "page-toc",
    "table-of-contents",
    "tableOfContents",
    "toc",
    "toc-container",
    "toc_container",
    "toccolours",
    "wp-block-table-of-contents",
    "wp-block-yoast-seo-table-of-contents",
];

/// Names of the title of a note beside the text.
const NOTE_TITLES: [&str; 6] = [
    "admonition-title",
    "callout-title",
    "custom-block-title",
    "hint-container-title",
    "markdown-alert-title",
    "note-title",
];

/// Names of text for screen readers alone.
const SPOKEN: [&str; 4] = [
    "screen-reader-text",
    "sr-only",
    "visually-hidden",
    "visuallyhidden",
];

static CONSENTS: Names = Names::new(&CONSENT);
static HIDDEN: Names = Names::new(&UNREAD);
static FOR_SCREEN_READERS: Names = Names::new(&SPOKEN);
static LISTED: Names = Names::new(&CONTENTS);

/// The names that classes are asked for.
static NAMED: Lists<14> = Lists::new([
    &CONSENT,
    &UNREAD,
    &reference::DECLARATIONS,
    &comments::AUTHORS_AND_DATES,
    &talk::POSTS,
    &talk::BODIES,
    &talk::SIGNATURES,
    &talk::REMARKS,
    &talk::AUTHORS,
    &talk::DATES,
    &SPOKEN,
    &OF_THE_SITE,
    &CONTENTS,
    &NOTE_TITLES,
]);

/// What schema.org calls the parts of a recipe; `ingredients` until version 2.1.
const OF_RECIPES: [&str; 3] = ["recipeIngredient", "recipeInstructions", "ingredients"];

/// What a block element is for.
pub(super) fn role(tag: Tag, attributes: &Attributes<'_>, class: ClassSigns) -> Role {
    let (mut is_consent, mut is_open, mut named) = (class.is_consent, false, "");
    let mut is_of_recipe = class.is_of_recipe;
    if class.hides {
        return Role::Hidden;
    }
    for (name, value) in attributes.iter() {
        if hides(name, value) || (tag == Tag::Paragraph && has_no_size(name, value)) {
            return Role::Hidden;
        }
        match name.len() {
            2 if name.eq_ignore_ascii_case("id") => is_consent |= CONSENTS.contain_one_of(value),
            4 if name.eq_ignore_ascii_case("open") => is_open = true,
            4 if name.eq_ignore_ascii_case("role") => named = value.trim(),
            8 if name.eq_ignore_ascii_case("itemprop") => {
                is_of_recipe |= value
                    .split_ascii_whitespace()
                    .any(|property| OF_RECIPES.contains(&property));
            }
            _ => {}
        }
    }
    if tag == Tag::Dialog && !is_open {
        return Role::Hidden;
    }
    if is_consent {
        return Role::Consent;
    }
    let by_tag = match tag {
        Tag::Navigation => Role::Navigation,
        Tag::Form => Role::Form,
        // A role in its place takes the meaning of the others.
        _ if !named.is_empty() => Role::None,
        Tag::Main => Role::Main,
        Tag::Article => Role::Article,
        Tag::Header => Role::Header,
        Tag::Footer => Role::Footer,
        Tag::Aside => Role::Aside,
        _ => Role::None,
    };
    match named {
        "" if is_of_recipe && matches!(by_tag, Role::None | Role::Aside) => Role::Recipe,
        "" => by_tag,
        "main" => Role::Main,
        "article" => Role::Article,
        _ if by_tag == Role::Navigation => by_tag,
        "navigation" | "menubar" => Role::Navigation,
        "banner" => Role::Header,
        "contentinfo" => Role::Footer,
        "complementary" => Role::Aside,
        "search" => Role::Form,
        _ => by_tag,
    }
}

/// Whether readers of the page do not see the element.
pub(super) fn is_hidden(attributes: &Attributes<'_>) -> bool {
    attributes.has_class(&HIDDEN)
        || attributes.has_class(&FOR_SCREEN_READERS)
        || is_hidden_beside_class(attributes)
}

/// The same for an element whose classes are known not to hide it.
pub(super) fn is_hidden_beside_class(attributes: &Attributes<'_>) -> bool {
    let mut attributes = attributes.iter();
    attributes.any(|(name, value)| hides(name, value) || has_no_size(name, value))
}

/// What the value of a class attribute says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ClassSigns {
    is_consent: bool,
    pub(super) hides: bool,
    /// It is text for screen readers; such an element is hidden too.
    pub(super) is_spoken: bool,
    /// It is the site's own, beside the text.
    pub(super) is_of_site: bool,
    pub(super) is_contents: bool,
    pub(super) is_note_title: bool,
    /// It may name the language of the code inside.
    pub(super) is_highlighter: bool,
    /// It is a declaration on a reference page.
    pub(super) declares: bool,
    /// It holds comments on something else, or is one.
    pub(super) is_comment: bool,
    /// It names an author or a date.
    pub(super) is_byline: bool,
    /// It holds the ingredients of a recipe.
    is_of_recipe: bool,
    pub(super) talk: TalkSigns,
}

impl ClassSigns {
    pub(super) fn of(class: &str) -> ClassSigns {
        let class = decoded(class);
        let mut signs = ClassSigns {
            is_highlighter: code::is_highlighter(&class),
            ..ClassSigns::default()
        };
        for token in class.split_ascii_whitespace() {
            signs.is_comment |= comments::names_comments(token);
            signs.is_of_recipe |= names_ingredients(token);
            let found = NAMED.of(token);
            signs.is_consent |= found.is_in(0);
            signs.hides |= found.is_in(1) || found.is_in(10);
            signs.declares |= found.is_in(2);
            signs.is_byline |= found.is_in(3);
            signs.talk.add_class(found, 4);
            signs.is_spoken |= found.is_in(10);
            signs.is_of_site |= found.is_in(11);
            signs.is_contents |= found.is_in(12);
            signs.is_note_title |= found.is_in(13);
        }
        signs
    }
}

fn names_ingredients(token: &str) -> bool {
    const NAME: &[u8] = b"ingredient";
    let mut parts = token.as_bytes().windows(NAME.len());
    parts.any(|part| part.eq_ignore_ascii_case(NAME))
}

fn hides(name: &str, value: &str) -> bool {
    conceals(name, value) || (name.eq_ignore_ascii_case("aria-hidden") && value == "true")
}

/// Whether the attribute keeps the element from the eyes of readers.
fn conceals(name: &str, value: &str) -> bool {
    match name.len() {
        5 if name.eq_ignore_ascii_case("style") => value.split(';').any(|declaration| {
            let (name, value) = declaration.split_once(':').unwrap_or_default();
            let (name, value) = (name.trim(), value.trim());
            let begins = |word: &str| {
                let start = value.get(..word.len());
                start.is_some_and(|start| start.eq_ignore_ascii_case(word))
            };
            match name.len() {
                7 => name.eq_ignore_ascii_case("display") && begins("none"),
                10 => name.eq_ignore_ascii_case("visibility") && begins("hidden"),
                3 | 4 if value.starts_with('-') => {
                    let is_place = ["left", "top"]
                        .iter()
                        .any(|it| name.eq_ignore_ascii_case(it));
                    is_place && number(value).is_some_and(|place| place <= OFF_SCREEN)
                }
                _ => false,
            }
        }),
        6 => name.eq_ignore_ascii_case("hidden") && !value.eq_ignore_ascii_case("until-found"),
        _ => false,
    }
}

/// In whatever unit: no screen reaches so far.
const OFF_SCREEN: f32 = -999.0;

/// Whether the letters in an element have no size. Around blocks that closes gaps, and they have sizes of their own.
fn has_no_size(name: &str, value: &str) -> bool {
    let is_none = |declaration: &str| {
        let (name, value) = declaration.split_once(':').unwrap_or_default();
        name.trim().eq_ignore_ascii_case("font-size") && number(value.trim()) == Some(0.0)
    };
    name.eq_ignore_ascii_case("style") && value.split(';').any(is_none)
}

/// The number that a value begins with.
fn number(value: &str) -> Option<f32> {
    let is_part = |c: char| c.is_ascii_digit() || matches!(c, '-' | '.');
    let end = value.find(|c| !is_part(c)).unwrap_or(value.len());
    value[..end].parse().ok()
}

/// A part of tabs, each of which shows a panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PartOfTabs {
    List,
    Tab,
    Panel,
}

/// By its role (WAI-ARIA 1.2, 5.4), or as MkDocs makes them.
pub(super) fn part_of_tabs(name: Name, attributes: &Attributes<'_>) -> Option<PartOfTabs> {
    const LABEL: Name = Name::new("label");
    const DIVISION: Name = Name::new("div");
    static LISTS: Names = Names::new(&["tabbed-labels"]);
    static PANELS: Names = Names::new(&["tabbed-block"]);
    match attributes.raw("role").map(str::trim) {
        Some("tablist") => Some(PartOfTabs::List),
        Some("tab") => Some(PartOfTabs::Tab),
        Some("tabpanel") => Some(PartOfTabs::Panel),
        _ if name == LABEL => {
            let is_tab = attributes.raw("for")?.starts_with("__tabbed_");
            is_tab.then_some(PartOfTabs::Tab)
        }
        _ if name != DIVISION => None,
        _ if attributes.has_class(&LISTS) => Some(PartOfTabs::List),
        _ if attributes.has_class(&PANELS) => Some(PartOfTabs::Panel),
        _ => None,
    }
}

/// What the style of an element says of its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// It does not hold any more: the price before the present one.
    Struck,
    Bold,
    /// Not bold, whatever the element is: documents that were pasted stand in `<b style="font-weight:normal">`.
    Plain,
}

pub(super) fn look(attributes: &Attributes<'_>) -> Option<Look> {
    let mut found = None;
    for declaration in attributes.raw("style")?.split(';') {
        let (name, value) = declaration.split_once(':').unwrap_or_default();
        let (name, value) = (name.trim(), value.trim().to_ascii_lowercase());
        match name.to_ascii_lowercase().as_str() {
            "text-decoration" | "text-decoration-line" if value.contains("line-through") => {
                return Some(Look::Struck);
            }
            "font-weight" => {
                let word = value.split([' ', '!']).next().unwrap_or_default();
                found = match (word, word.parse()) {
                    ("bold" | "bolder", _) | (_, Ok(600..=1000u16)) => Some(Look::Bold),
                    ("normal" | "lighter", _) | (_, Ok(_)) => Some(Look::Plain),
                    _ => found,
                };
            }
            _ => {}
        }
    }
    found
}

/// Whether its style gives an element a line of its own, whatever the element is.
pub(super) fn is_line(attributes: &Attributes<'_>) -> bool {
    let has_line = |declaration: &str| {
        let (name, value) = declaration.split_once(':').unwrap_or_default();
        let value = value.split('!').next().unwrap_or_default().trim();
        name.trim().eq_ignore_ascii_case("display")
            && ["block", "flex", "grid"]
                .iter()
                .any(|it| value.eq_ignore_ascii_case(it))
    };
    let style = attributes.raw("style");
    style.is_some_and(|style| style.split(';').any(has_line))
}

/// Whether a link in a heading is one to edit or to link to it.
pub(super) fn is_of_heading(attributes: &Attributes<'_>) -> bool {
    static LINKS: Names = Names::new(&[
        "anchor",
        "anchor-link",
        "anchorjs-link",
        "back-to-top",
        "edit",
        "edit-link",
        "edit-section",
        "editsection",
        "header-anchor",
        "headerlink",
        "heading-anchor",
        "heading-link",
        "permalink",
        "top-link",
    ]);
    attributes.has_class(&LINKS)
}

/// Whether the element's id is that of a table of contents.
pub(super) fn is_contents(attributes: &Attributes<'_>) -> bool {
    attributes.raw("id").is_some_and(|id| LISTED.contain(id))
}

/// The element that a table made of other elements says it is (WAI-ARIA 1.2, 5.3.3); `in_table` is whether it stands in one.
pub(super) fn part_of_grid(attributes: &Attributes<'_>, in_table: bool) -> Option<Tag> {
    let Some(role) = attributes.raw("role") else {
        return cells_of_row(attributes).map(|_| Tag::Table);
    };
    match role.trim() {
        "table" | "grid" | "treegrid" => Some(Tag::Table),
        "row" if in_table => Some(Tag::Row),
        "cell" | "gridcell" if in_table => Some(Tag::Cell),
        "columnheader" | "rowheader" if in_table => Some(Tag::HeaderCell),
        _ => None,
    }
}

/// Whether a list is none: Javadoc puts the parts of a page into such.
pub(super) fn only_arranges(attributes: &Attributes<'_>) -> bool {
    matches!(attributes.raw("class"), Some("blockList" | "blockListLast"))
}

/// How many cells a row of a grid has that consists of cells alone, as Javadoc makes its summaries.
pub(super) fn cells_of_row(attributes: &Attributes<'_>) -> Option<u16> {
    let class = attributes.raw("class")?.strip_prefix("summary-table ")?;
    match class.split(' ').next()? {
        "two-column-summary" => Some(2),
        "three-column-summary" => Some(3),
        "four-column-summary" => Some(4),
        _ => None,
    }
}

/// What a cell of such a grid is.
pub(super) fn cell(attributes: &Attributes<'_>) -> Tag {
    let class = attributes.raw("class").unwrap_or_default();
    match class.split(' ').any(|token| token == "table-header") {
        true => Tag::HeaderCell,
        false => Tag::Cell,
    }
}

/// Whether a table is a declaration: Doxygen puts each word of a function's into a cell.
pub(super) fn is_declaration(attributes: &Attributes<'_>) -> bool {
    attributes.raw("class") == Some("memname")
}

/// Whether a cell is a half of a declaration in Doxygen's lists of members: the type, or the name with its parameters.
pub(super) fn is_in_declaration(attributes: &Attributes<'_>) -> bool {
    matches!(
        attributes.raw("class"),
        Some("memItemLeft" | "memItemRight" | "memTemplItemLeft" | "memTemplItemRight")
    )
}

/// Whether an element is for eyes alone: a screen reader passes over it.
pub(super) fn is_unspoken(attributes: &Attributes<'_>) -> bool {
    attributes.raw("aria-hidden") == Some("true")
}

/// What an element without text is called by those who do not see it. The title of a link says where it leads.
pub(super) fn spoken_name<'a>(tag: Tag, attributes: &Attributes<'a>) -> Option<Cow<'a, str>> {
    let is_icon = match tag {
        Tag::Skipped | Tag::Emphasis => true,
        Tag::Inline => attributes.raw("class").is_some(),
        _ => false,
    };
    let names: &[&str] = match is_icon {
        true => &["aria-label", "title"],
        false => &["aria-label"],
    };
    let mut named = names.iter().filter_map(|name| attributes.get(name));
    named.find(|name| !name.trim().is_empty())
}

/// A picture of a pixel's size counts visits; one that is a pixel high or wide and says nothing takes room.
pub(super) fn is_tracking_pixel(attributes: &Attributes<'_>) -> bool {
    let is_tiny = |name| {
        attributes
            .get(name)
            .is_some_and(|value| matches!(value.trim().trim_end_matches("px"), "0" | "1"))
    };
    let says_nothing = || {
        let alt = attributes.raw("alt");
        alt.is_none_or(|alt| alt.trim().is_empty())
    };
    match (is_tiny("width"), is_tiny("height")) {
        (true, true) => true,
        (false, false) => false,
        (true, false) => attributes.raw("height").is_none() || says_nothing(),
        (false, true) => attributes.raw("width").is_none() || says_nothing(),
    }
}

/// The character that an image stands for, if it is one of those that pages draw for systems without them.
pub(super) fn emoji<'a>(attributes: &Attributes<'a>) -> Option<Cow<'a, str>> {
    const CHARS_MAX: usize = 10;
    static EMOJI: Names = Names::new(&[
        "emoji",
        "emojione",
        "emoticon",
        "joypixels",
        "smiley",
        "twemoji",
        "wp-smiley",
    ]);
    let says = attributes
        .get("alt")
        .filter(|_| attributes.has_class(&EMOJI))?;
    let is_sign = |c: char| !c.is_ascii_punctuation() && !c.is_alphabetic() && !c.is_whitespace();
    let is_emoji = says.chars().count() <= CHARS_MAX
        && says.contains(|c: char| !c.is_ascii())
        && says.chars().all(is_sign);
    is_emoji.then_some(says)
}

/// An icon, a face or the like: named for it, or small and without a text that stands for it.
pub(super) fn is_decoration(attributes: &Attributes<'_>) -> bool {
    const ICON_PIXELS: u32 = 32;
    static DECORATIONS: Names = Names::new(&[
        "avatar",
        "emoji",
        "gravatar",
        "icon",
        "smiley",
        "smilie",
        "spacer",
        "userpic",
        "wp-smiley",
    ]);
    let pixels = |name| {
        let value = attributes.get(name)?;
        value.trim().trim_end_matches("px").parse::<u32>().ok()
    };
    let is_small = |name| pixels(name).is_some_and(|pixels| pixels <= ICON_PIXELS);
    let says = attributes.get("alt").unwrap_or_default();
    attributes.has_class(&DECORATIONS)
        || (is_small("width") && is_small("height") && says.trim().is_empty())
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
