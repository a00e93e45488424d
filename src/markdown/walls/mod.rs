//! Pages that show a wall in place of their content: a check for robots, a refusal, a login, an offer to subscribe, a
//! request for consent, a notice that scripts are needed. Such a page is not what a buyer asked for and is not sold.
//!
//! A page is a wall only if the wall is nearly all there is. Every word of what would be sold is held against what
//! walls say; a sign of a wall (a title, a sentence, a script) decides only where few words are left over. An article
//! about walls, or one with a wall at its end, leaves many.

mod phrases;
#[cfg(test)]
mod tests;

use std::cell::OnceCell;
use std::fmt;

use memchr::memmem;

use crate::domain::words::folded;

use phrases::{
    AROUND, BLOCK_TEXTS, BLOCK_TITLES, BLOCK_TITLES_SHARED, CAPTCHA_TEXTS, CAPTCHA_TITLES,
    CAPTCHA_TITLES_SHARED, CHALLENGE_SCRIPTS, CONSENT_CHOICES, CONSENT_TEXTS, CONSENT_TITLES,
    CONSENT_WORDS, LABELS, LOGIN_LINKS, LOGIN_TEXTS, LOGIN_TITLES, PAYWALL_TEXTS, POLICY_TITLES,
    SCRIPT_TEXTS,
};

/// What a page shows in place of its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wall {
    Captcha,
    Block,
    Login,
    Paywall,
    Consent,
    Scripts,
}

impl Wall {
    pub const ALL: [Wall; 6] = [
        Wall::Captcha,
        Wall::Block,
        Wall::Login,
        Wall::Paywall,
        Wall::Consent,
        Wall::Scripts,
    ];

    /// The word for it in answers.
    pub fn name(self) -> &'static str {
        match self {
            Wall::Captcha => "captcha",
            Wall::Block => "block",
            Wall::Login => "login",
            Wall::Paywall => "paywall",
            Wall::Consent => "consent",
            Wall::Scripts => "scripts",
        }
    }
}

/// A sentence for the buyer, without its full stop.
impl fmt::Display for Wall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Wall::Captcha => "The page shows a check for robots (captcha) instead of its content",
            Wall::Block => "The page says that access is denied (block) instead of its content",
            Wall::Login => "The page shows a login instead of its content",
            Wall::Paywall => {
                "The page shows an offer to subscribe (paywall) instead of its content"
            }
            Wall::Consent => "The page shows a request for consent instead of its content",
            Wall::Scripts => "The page shows its content only with scripts, which are not run",
        })
    }
}

/// Markdown longer than this is no wall, in bytes. The longest are requests for consent.
pub const WALL_BYTES_MAX: usize = 12 * 1024;

/// Walls say little about themselves.
const WORDS_MAX: usize = 250;
/// Requests for consent say more.
const CONSENT_WORDS_MAX: usize = 600;
/// How many words may be left over where the sign is found on walls only.
const REST_SURE: usize = 40;
/// The same where the sign may stand on other pages.
const REST_SHARED: usize = 20;
/// A notice that scripts are needed, with nothing beside it but the page's title.
const SCRIPT_REST: usize = 8;
const SCRIPT_WORDS_MAX: usize = 60;
/// In percent: so much of a request for consent is in sentences about it.
const CONSENT_SHARE: usize = 70;
/// So many of the choices that such a request offers must be seen.
const CONSENT_CHOICES_MIN: usize = 2;
/// Ideographs that count as one word.
const IDEOGRAPHS_PER_WORD: usize = 2;

/// All that the judgement rests on.
#[derive(Debug, Default)]
pub(super) struct Evidence<'a> {
    pub(super) title: Option<&'a str>,
    /// What would be sold.
    pub(super) markdown: &'a str,
    /// Texts of buttons, wherever they stand on the page.
    pub(super) buttons: &'a [String],
    pub(super) password_fields: u32,
    /// The beginnings and addresses of the page's scripts, lower case.
    pub(super) scripts: &'a str,
    /// The page says when it was published, or which kind of item it shows. Walls do neither.
    pub(super) is_item: bool,
}

/// The wall that a text is, of which nothing is known but its title: pages that are not HTML, and those that were
/// stored before.
pub fn of_markdown(title: Option<&str>, markdown: &str) -> Option<Wall> {
    found(&Evidence {
        title,
        markdown,
        ..Evidence::default()
    })
}

/// The wall that a page is, if nearly all of it is one.
pub(super) fn found(evidence: &Evidence<'_>) -> Option<Wall> {
    if evidence.markdown.len() > WALL_BYTES_MAX {
        return None;
    }
    let (text, size) = plain(evidence.markdown)?;
    let page = Page {
        titles: titles(evidence.title, evidence.markdown, &text),
        rest: OnceCell::new(),
        size,
        text,
    };
    let judges: [(Wall, Judge); 6] = [
        (Wall::Block, Page::is_block),
        (Wall::Captcha, Page::is_captcha),
        (Wall::Consent, Page::is_consent),
        (Wall::Login, Page::is_login),
        (Wall::Paywall, Page::is_paywall),
        (Wall::Scripts, Page::needs_scripts),
    ];
    judges
        .into_iter()
        .find_map(|(wall, judge)| judge(&page, evidence).then_some(wall))
}

/// Whether a page is a wall of one kind.
type Judge = fn(&Page, &Evidence<'_>) -> bool;

/// A page as it is compared with walls.
struct Page {
    /// The title, its parts and the first heading.
    titles: Vec<String>,
    text: String,
    size: usize,
    /// Words that no wall says; counted where a sign was found.
    rest: OnceCell<usize>,
}

impl Page {
    fn rest(&self) -> usize {
        *self.rest.get_or_init(|| rest(&self.text, &self.titles))
    }

    /// Nearly nothing but a wall, where the sign is found on walls only.
    fn is_sure(&self, evidence: &Evidence<'_>) -> bool {
        !evidence.is_item && self.is_short() && self.rest() <= REST_SURE
    }

    /// The same where the sign may stand on other pages.
    fn is_all(&self) -> bool {
        self.rest() <= REST_SHARED && self.rest() * 2 <= self.size
    }

    fn is_short(&self) -> bool {
        self.size <= WORDS_MAX
    }

    fn begins(&self, titles: &[&str]) -> bool {
        let mut own = self.titles.iter();
        own.any(|own| titles.iter().any(|title| own.starts_with(title)))
    }

    fn is_called(&self, titles: &[&str]) -> bool {
        self.titles.iter().any(|own| titles.contains(&own.as_str()))
    }

    fn says(&self, phrases: &[&str]) -> bool {
        phrases.iter().any(|phrase| holds(&self.text, phrase))
    }

    fn is_captcha(&self, evidence: &Evidence<'_>) -> bool {
        let is_challenge = CHALLENGE_SCRIPTS
            .iter()
            .any(|script| evidence.scripts.contains(script));
        if (is_challenge || self.begins(CAPTCHA_TITLES)) && self.is_sure(evidence) {
            return true;
        }
        let is_likely = || self.is_called(CAPTCHA_TITLES_SHARED) || self.says(CAPTCHA_TEXTS);
        !evidence.is_item && self.is_short() && is_likely() && self.is_all()
    }

    fn is_block(&self, evidence: &Evidence<'_>) -> bool {
        if self.begins(BLOCK_TITLES) && self.is_sure(evidence) {
            return true;
        }
        let is_likely = || self.is_called(BLOCK_TITLES_SHARED) || self.says(BLOCK_TEXTS);
        !evidence.is_item
            && self.is_short()
            && is_likely()
            && !self.says(LOGIN_TEXTS)
            && self.is_all()
    }

    fn is_login(&self, evidence: &Evidence<'_>) -> bool {
        let is_called_so = self.titles.iter().any(|title| is_login_title(title));
        if is_called_so && evidence.password_fields > 0 && self.is_sure(evidence) {
            return true;
        }
        self.is_short() && (is_called_so || self.says(LOGIN_TEXTS)) && self.is_all()
    }

    fn is_paywall(&self, _: &Evidence<'_>) -> bool {
        self.is_short() && self.says(PAYWALL_TEXTS) && self.is_all()
    }

    fn is_consent(&self, evidence: &Evidence<'_>) -> bool {
        let is_policy = |title: &String| POLICY_TITLES.iter().any(|word| holds(title, word));
        let asks = || self.begins(CONSENT_TITLES) || self.says(CONSENT_TEXTS);
        if evidence.is_item || self.titles.iter().any(is_policy) || !asks() {
            return false;
        }
        let lines = self.text.lines();
        let mut choices: Vec<String> = lines
            .map(str::to_owned)
            .chain(evidence.buttons.iter().map(|button| normal(button)))
            .map(|label| bare(&label).to_owned())
            .filter(|label| CONSENT_CHOICES.contains(&label.as_str()))
            .collect();
        choices.sort_unstable();
        choices.dedup();
        if choices.len() < CONSENT_CHOICES_MIN {
            return false;
        }
        let about: usize = sentences(&self.text)
            .filter(|sentence| {
                CONSENT_WORDS.iter().any(|word| sentence.contains(word))
                    || CONSENT_CHOICES.contains(&bare(sentence))
                    || LABELS.contains(&bare(sentence))
                    || self.titles.iter().any(|title| title == bare(sentence))
            })
            .map(words)
            .sum();
        about * 100 >= self.size * CONSENT_SHARE
    }

    fn needs_scripts(&self, _: &Evidence<'_>) -> bool {
        self.size <= SCRIPT_WORDS_MAX && self.says(SCRIPT_TEXTS) && self.rest() <= SCRIPT_REST
    }
}

/// `Log in`, `Sign in to Example`, `Example login`.
fn is_login_title(title: &str) -> bool {
    LOGIN_TITLES.iter().any(|known| {
        let before = title.strip_prefix(known);
        let is_named = before.is_some_and(|rest| {
            rest.is_empty() || LOGIN_LINKS.iter().any(|link| rest.starts_with(link))
        });
        let behind = title.strip_suffix(known);
        let ends_so = behind.is_some_and(|name| name.ends_with(' ') && words(name) <= 3);
        (is_named && words(title) <= 7) || ends_so
    })
}

/// The title, its parts between marks, and the heading that the text begins with.
fn titles(title: Option<&str>, markdown: &str, text: &str) -> Vec<String> {
    const MARKS: [&str; 9] = [
        " | ", " - ", " – ", " — ", " · ", " • ", " :: ", " » ", ": ",
    ];
    let title = title.map(normal).unwrap_or_default();
    // Divided at each mark alone, and at all: a title of nothing but marks has few parts then.
    let mut parts = vec![title.clone()];
    let mut smallest = vec![&*title];
    for mark in MARKS.iter().filter(|mark| title.contains(**mark)) {
        parts.extend(title.split(mark).map(|part| part.trim().to_owned()));
        smallest = smallest.iter().flat_map(|part| part.split(mark)).collect();
    }
    parts.extend(smallest.iter().map(|part| part.trim().to_owned()));
    let heading = text.lines().next();
    let heading = heading.filter(|_| markdown.trim_start().starts_with('#'));
    parts.extend(heading.map(str::to_owned));
    let bare: Vec<String> = parts.iter().map(|part| bare(part).to_owned()).collect();
    parts.extend(bare);
    parts.retain(|part| !part.is_empty());
    parts
}

/// How many words are left when all that walls say is taken out. A sentence is a wall's when half of it is: the rest
/// are names.
fn rest(text: &str, titles: &[String]) -> usize {
    let tables: [&[&str]; 9] = [
        CAPTCHA_TEXTS,
        BLOCK_TEXTS,
        LOGIN_TEXTS,
        PAYWALL_TEXTS,
        CONSENT_TEXTS,
        SCRIPT_TEXTS,
        AROUND,
        CAPTCHA_TITLES,
        BLOCK_TITLES,
    ];
    let is_label = |sentence: &str| {
        let sentence = bare(sentence);
        LABELS.contains(&sentence)
            || CONSENT_CHOICES.contains(&sentence)
            || CAPTCHA_TITLES_SHARED.contains(&sentence)
            || BLOCK_TITLES_SHARED.contains(&sentence)
            || titles.iter().any(|title| title == sentence)
            || is_login_title(sentence)
    };
    let mut rest = 0;
    for sentence in sentences(text).filter(|sentence| !is_label(sentence)) {
        let mut is_said = vec![false; sentence.len()];
        for phrase in tables.into_iter().flatten() {
            for (at, _) in sentence.match_indices(phrase) {
                if is_apart(sentence, at, phrase.len()) {
                    is_said[at..at + phrase.len()].fill(true);
                }
            }
        }
        let left: String = sentence
            .char_indices()
            .map(|(at, c)| if is_said[at] { ' ' } else { c })
            .collect();
        let (left, all) = (words(&left), words(sentence));
        if left * 2 > all {
            rest += left;
        }
    }
    rest
}

/// Whether a phrase stands in a text as words of its own.
fn holds(text: &str, phrase: &str) -> bool {
    memmem::find_iter(text.as_bytes(), phrase).any(|at| is_apart(text, at, phrase.len()))
}

fn is_apart(text: &str, at: usize, length: usize) -> bool {
    let is_letter = |c: char| c.is_alphanumeric() && !is_ideograph(c);
    let goes_on = |outer: Option<char>, inner: Option<char>| {
        outer.is_some_and(is_letter) && inner.is_some_and(is_letter)
    };
    let (before, rest) = text.split_at(at);
    let (phrase, behind) = rest.split_at(length);
    !goes_on(before.chars().next_back(), phrase.chars().next())
        && !goes_on(behind.chars().next(), phrase.chars().next_back())
}

/// Lines, and the sentences in them.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .flat_map(|line| line.split_inclusive(['。', '！', '？']))
        .flat_map(|line| line.split_inclusive(". "))
        .flat_map(|line| line.split_inclusive("! "))
        .flat_map(|line| line.split_inclusive("? "))
        .map(str::trim)
        .filter(|sentence| !sentence.is_empty())
}

/// Without marks at its ends.
fn bare(text: &str) -> &str {
    let is_mark = |c: char| !c.is_alphanumeric() && !c.is_whitespace();
    // `just a moment...` and `accept & close` keep theirs inside.
    text.trim()
        .trim_matches(|c: char| is_mark(c) || c.is_whitespace())
}

/// The words of a text; of a writing without spaces, as many as take the same room.
fn words(text: &str) -> usize {
    Size::of(text).words()
}

#[derive(Clone, Copy, Default)]
struct Size {
    ideographs: usize,
    spaced: usize,
}

impl Size {
    fn of(text: &str) -> Size {
        let spaced = text
            .split(|c: char| c.is_whitespace() || is_ideograph(c))
            .filter(|word| word.contains(char::is_alphanumeric));
        Size {
            ideographs: text.chars().filter(|c| is_ideograph(*c)).count(),
            spaced: spaced.count(),
        }
    }

    fn words(self) -> usize {
        self.ideographs.div_ceil(IDEOGRAPHS_PER_WORD) + self.spaced
    }
}

fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

/// Markdown as lines of what a reader sees, in the form of the phrases, and how many words they have. None if these are
/// more than any wall has.
fn plain(markdown: &str) -> Option<(String, usize)> {
    let mut text = String::with_capacity(markdown.len());
    let mut size = Size::default();
    for line in markdown.lines() {
        let line = line.trim_start_matches(['#', '>', '-', '*', '+', '|', ' ', '\t']);
        let mut rest = without_destinations(line).replace(['[', ']', '*', '`', '\\', '|'], "");
        rest = normal(&rest);
        if !rest.is_empty() {
            text.push_str(&rest);
            text.push('\n');
            let more = Size::of(&rest);
            size.ideographs += more.ideographs;
            size.spaced += more.spaced;
            if size.words() > CONSENT_WORDS_MAX {
                return None;
            }
        }
    }
    Some((text, size.words()))
}

/// A line of markdown without the addresses of its links and without its images.
fn without_destinations(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find("](") {
        let (before, behind) = rest.split_at(at);
        // An image says nothing that can be read here.
        let before = match before.rfind("![") {
            Some(image) if !before[image + 2..].contains(']') => &before[..image],
            _ => before,
        };
        out.push_str(before);
        out.push(' ');
        let mut depth = 0usize;
        let end = behind.char_indices().skip(1).find_map(|(at, c)| {
            match c {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            (depth == 0).then_some(at)
        });
        rest = end.map_or("", |end| &behind[end + 1..]);
    }
    out.push_str(rest);
    out
}

/// Lower case, plain apostrophes, single spaces, nothing invisible.
fn normal(text: &str) -> String {
    if text.is_ascii() {
        return folded(&text.to_ascii_lowercase());
    }
    let lower: String = text
        .chars()
        .filter(|c| !matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{feff}'))
        .flat_map(char::to_lowercase)
        .map(|c| {
            if matches!(c, '’' | '‘' | 'ʼ') {
                '\''
            } else {
                c
            }
        })
        .collect();
    folded(&lower)
}
