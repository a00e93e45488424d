//! Where two inline elements touch, one ended and the next begun without white space between, and a style sheet shows
//! them apart: a label and its value, a name and a date, euros and cents. The letters of one word may be split alike, so
//! text is parted only where no word goes on. An element whose style gives it a line of its own is parted by line breaks.

use super::Builder;
use crate::markdown::attributes::{self, Attributes};
use crate::markdown::tag::{Name, Tag};

const LABEL: Name = Name::new("label");

/// Of the open inline elements and of those that ended last.
#[derive(Debug, Default)]
pub(super) struct Seams {
    /// A bit for each open element, the innermost lowest: whether it has a class. Deeper ones than it holds count as
    /// without.
    open: u64,
    /// The same for whether it is the label of a control, which is always shown apart from another one.
    labels: u64,
    /// The same for whether its style gives it a line of its own.
    lines: u64,
    /// Such an element has begun or ended behind the last text.
    is_line_over: bool,
    /// The innermost element begins with the next text, and has a class.
    begins_classed: bool,
    /// It is named for the part of a price behind the point.
    is_fraction: bool,
    /// The element that ended behind the last text,
    ended: Option<bool>,
    /// and the one that began behind that.
    begun: Option<bool>,
    /// Both are labels.
    are_labels: bool,
}

impl Seams {
    /// An inline element begins. A class says that it is a thing of its own.
    fn begin(&mut self, class: Option<&str>, is_label: bool, is_line: bool) {
        let has_class = class.is_some();
        self.lines = self.lines << 1 | u64::from(is_line);
        self.is_line_over |= is_line;
        self.begins_classed = has_class;
        self.is_fraction = class.is_some_and(names_fraction);
        self.open = self.open << 1 | u64::from(has_class);
        self.labels = self.labels << 1 | u64::from(is_label);
        if self.ended.is_some() && self.begun.is_none() {
            self.begun = Some(has_class);
            self.are_labels &= is_label;
        }
    }

    pub(super) fn end(&mut self) {
        self.ended = Some(self.open & 1 == 1);
        self.begun = None;
        self.are_labels = self.labels & 1 == 1;
        self.is_line_over |= self.lines & 1 == 1;
        self.begins_classed = false;
        self.is_fraction = false;
        self.lines >>= 1;
        self.open >>= 1;
        self.labels >>= 1;
    }

    /// Whether the innermost open element has a class.
    fn is_in_classed(&self) -> bool {
        self.open & 1 == 1
    }

    /// What follows is not apart from what stands before.
    pub(super) fn join(&mut self) {
        self.ended = None;
        self.begun = None;
        self.begins_classed = false;
        self.is_fraction = false;
    }

    /// A block begins or ends.
    pub(super) fn clear(&mut self) {
        *self = Seams::default();
    }

    /// Whether an element with a line of its own has begun or ended before this place.
    pub(super) fn take_line(&mut self) -> bool {
        std::mem::take(&mut self.is_line_over)
    }

    /// Whether the next text stands behind such a seam, and whether one element ended and one began there.
    fn take(&mut self) -> (bool, bool) {
        let sides = self.ended.take().zip(self.begun.take());
        let is_seam = sides.is_some_and(|(ended, begun)| ended || begun);
        (is_seam, sides.is_some())
    }
}

impl Builder {
    pub(super) fn begin_seam(&mut self, name: Name, tag: Tag, attributes: &Attributes<'_>) {
        let leads_to_note = || {
            let href = attributes.raw("href");
            tag == Tag::Anchor && href.is_some_and(|href| href.starts_with('#'))
        };
        let is_line = attributes::is_line(attributes);
        self.seams
            .begin(attributes.raw("class"), name == LABEL, is_line);
        if matches!(tag, Tag::Superscript | Tag::Subscript | Tag::RubyText) || leads_to_note() {
            self.seams.join();
        }
    }

    /// Parts the text from what it touches, if that is another thing.
    pub(super) fn part_from_before(&mut self, text: &str) {
        if !text.trim().is_empty()
            && self.seams.take_line()
            && !self.writer.is_empty()
            && !self.writer.is_after_line_break()
        {
            self.line_break();
        }
        if self.seams.is_in_classed()
            && is_price(text)
            && !self.writer.is_in_code()
            && self.writer.word_before().ends_with(char::is_lowercase)
        {
            self.writer.gap();
        }
        let are_labels = self.seams.are_labels;
        let is_fraction = std::mem::take(&mut self.seams.is_fraction);
        let begins_classed = std::mem::take(&mut self.seams.begins_classed);
        let (is_seam, begins) = self.seams.take();
        let before = self.writer.word_before();
        if is_fraction_of_price(text) && !self.writer.is_in_code() {
            let is_digit = |c: char| c.is_ascii_digit();
            if is_fraction && before.ends_with(is_digit) {
                self.writer.text(".");
            } else if (is_seam || begins_classed) && is_whole_price(before) {
                self.writer.gap();
            }
        }
        if begins
            && (is_seam || are_labels)
            && !self.writer.is_in_code()
            && (are_labels || is_word_end(self.writer.plain(), text))
        {
            self.writer.gap();
        }
    }
}

/// Whether a class names the part of a price behind the point.
fn names_fraction(class: &str) -> bool {
    const NAMES: [&str; 4] = ["cents", "decimal", "decimals", "fraction"];
    let mut tokens = class.split_ascii_whitespace();
    tokens.any(|token| {
        let token = token.to_ascii_lowercase();
        NAMES.iter().any(|name| token.ends_with(name))
    })
}

/// Whether a text can be that part: `50`.
pub(super) fn is_fraction_of_price(text: &str) -> bool {
    let digits = text.trim_end();
    digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a text ends with a price that has no such part: `€12`.
pub(super) fn is_whole_price(before: &str) -> bool {
    let number = |c: char| c.is_ascii_digit() || matches!(c, ',' | '.');
    let rest = before.trim_end_matches(number);
    let number = &before[rest.len()..];
    let last = number.rsplit([',', '.']).next().unwrap_or_default();
    let is_grouped = number.len() == last.len() || last.len() == 3;
    !last.is_empty() && is_grouped && rest.trim_end().ends_with(['$', '€', '£', '¥'])
}

/// Whether a text begins with a price. No word ends with its sign.
fn is_price(text: &str) -> bool {
    let rest = text.strip_prefix(['$', '€', '£', '¥']);
    rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// What a path stands behind on pages about an API.
const METHODS: [&str; 7] = ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"];

/// Whether no word goes on between these two: it would be `Price12`, `12Add` or `AuthorJane`, but also `Chapter` and
/// `1st` may be split.
fn is_word_end(before: &str, after: &str) -> bool {
    let (mut ends, mut begins) = (before.chars().rev(), after.chars());
    let (Some(last), Some(first)) = (ends.next(), begins.next()) else {
        return false;
    };
    let is_word = first.is_uppercase() && begins.next().is_some_and(char::is_lowercase);
    match last {
        '0'..='9' if first == '(' => {
            let number = ends.find(|c| !c.is_ascii_digit());
            !number.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '/'))
        }
        '0'..='9' => first.is_uppercase(),
        ')' | ']' | '.' => is_word,
        'A'..='Z' if first == '/' => {
            let word = before.rsplit(|c: char| !c.is_ascii_alphanumeric()).next();
            word.is_some_and(|word| METHODS.contains(&word))
        }
        'A'..='Z' => is_word && ends.next().is_some_and(|c| c.is_ascii_uppercase()),
        _ => last.is_lowercase() && (first.is_uppercase() || first.is_ascii_digit()),
    }
}
