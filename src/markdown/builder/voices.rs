//! Who says what in a discussion: the posts of a page with their authors and dates, as far as its names tell. Records
//! what it sees; `select/voices.rs` decides what of it counts.

use super::Builder;
use crate::domain::words::folded;
use crate::markdown::attributes::{Attributes, TalkSigns, author_of_post, date_of, talk_signs};
use crate::markdown::dates::day;
use crate::markdown::outline::{PostId, PostPart, Said};
use crate::markdown::tag::{Name, Tag};

/// Posts of a page that are told apart; further ones are part of what they stand in.
const POSTS_MAX: usize = 4_096;
/// Names and dates outside of posts that are remembered.
const LOOSE_MAX: usize = 4_096;
/// Elements of Reddit's own that are posts.
const ELEMENTS: [Name; 2] = [Name::new("shreddit-comment"), Name::new("shreddit-post")];
/// Before a date they say that it is not the post's first.
const CHANGED: [&str; 4] = ["edited", "modified", "updated", "changed"];
/// No name is longer, and none has more words.
const NAME_CHARS_MAX: usize = 40;
const NAME_WORDS_MAX: usize = 4;
/// A date as it is shown is not longer.
const DATE_CHARS_MAX: usize = 40;
/// More text than this is neither.
const TEXT_BYTES_MAX: usize = 160;

#[derive(Debug, Default)]
pub(super) struct Voices {
    author: Option<Capture>,
    date: Option<Capture>,
}

/// The text of an element that is being read.
#[derive(Debug)]
struct Capture {
    name: Name,
    /// Elements of its name that are open in it, itself included.
    depth: u32,
    text: String,
    post: PostId,
    rank: u8,
}

/// Where an element stands in a discussion.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    pub(super) post: PostId,
    pub(super) part: PostPart,
}

impl Builder {
    /// An element begins: where it stands, with what its attributes say of the discussion.
    pub(super) fn begin_voice(
        &mut self,
        name: Name,
        tag: Tag,
        attributes: &Attributes<'_>,
        class: TalkSigns,
    ) -> Place {
        let mut place = self.open.last().map_or(Place::default(), |open| open.place);
        for capture in [&mut self.voices.author, &mut self.voices.date] {
            if let Some(capture) = capture.as_mut().filter(|capture| capture.name == name) {
                capture.depth += 1;
            }
        }
        let mut signs = talk_signs(tag, attributes, class);
        signs.is_post |= ELEMENTS.contains(&name);
        let is_quoted = place.part != PostPart::Other;
        if tag.is_block() {
            if signs.is_post && self.outline.posts.len() < POSTS_MAX {
                place.post = self.outline.begin_post(place.post);
                place.part = PostPart::Other;
                if let Some(author) = author_of_post(attributes) {
                    self.say_author(place.post, 3, &author);
                }
                if let Some(day) = attributes.raw("created-timestamp").and_then(day) {
                    self.say_date(place.post, 3, day);
                }
                return place;
            }
            if place.post != 0 && place.part == PostPart::Other {
                place.part = match (signs.is_signature, signs.is_body) {
                    (true, _) => PostPart::Signature,
                    (false, true) => PostPart::Body,
                    (false, false) => PostPart::Other,
                };
            }
            if let Some(post) = self.outline.posts.get_mut(place.post as usize)
                && tag.is_cell()
                && let Some(level) = attributes.number("indent")
            {
                post.level = u8::try_from(level).unwrap_or(u8::MAX);
            }
        }
        if is_quoted {
            return place;
        }
        if signs.is_remark
            && let Some(post) = self.outline.posts.get_mut(place.post as usize)
        {
            post.is_remark = true;
        }
        let capture = |rank| Capture {
            name,
            depth: 1,
            text: String::new(),
            post: place.post,
            rank,
        };
        if signs.is_author {
            self.voices.author = Some(capture(1 + u8::from(signs.is_microdata)));
        }
        if signs.is_date {
            let before = self.writer.plain().trim_end().as_bytes();
            let is_change = CHANGED.iter().any(|word| {
                let start = before.len().saturating_sub(word.len());
                before[start..].eq_ignore_ascii_case(word.as_bytes())
            });
            let rank = match is_change {
                true => 0,
                false => 1 + u8::from(signs.is_microdata),
            };
            let known = date_of(attributes).find_map(|value| day(&value));
            match known {
                Some(day) => {
                    self.voices.date = None;
                    self.say_date(place.post, if rank == 0 { 0 } else { rank + 1 }, day);
                }
                None if self.voices.date.is_none() => self.voices.date = Some(capture(rank)),
                None => {}
            }
        }
        place
    }

    /// Whether an element that stands so begins a post.
    pub(super) fn begins_post(&self, place: Place) -> bool {
        let around = self.open.last().map_or(0, |open| open.place.post);
        place.post != around
    }

    /// Whether what is read belongs to the text of a post.
    pub(super) fn is_in_body(&self) -> bool {
        let part = self.open.last().map(|open| open.place.part);
        part == Some(PostPart::Body)
    }

    /// A `<meta>` or `<link>` in the page's body.
    pub(super) fn voice_in_meta(&mut self, attributes: &Attributes<'_>) {
        let Some(property) = attributes.raw("itemprop") else {
            return;
        };
        let place = self.open.last().map_or(Place::default(), |open| open.place);
        let content = attributes.get("content").unwrap_or_default();
        match property {
            "datePublished" | "dateCreated" => {
                if let Some(day) = day(&content) {
                    self.say_date(place.post, 3, day);
                }
            }
            "name" if self.voices.author.is_some() => self.say_author(place.post, 2, &content),
            _ => {}
        }
    }

    pub(super) fn voice_text(&mut self, text: &str) {
        for capture in [&mut self.voices.author, &mut self.voices.date] {
            if let Some(capture) = capture
                && capture.text.len() <= TEXT_BYTES_MAX
            {
                let end = text.floor_char_boundary(TEXT_BYTES_MAX + 1);
                capture.text.push_str(&text[..end]);
            }
        }
    }

    /// An end tag. A name's link or its bold text says it alone, whatever stands beside it.
    pub(super) fn end_voice(&mut self, name: Name, tag: Tag) {
        let ends = |capture: &mut Capture| {
            let is_own = capture.name == name;
            capture.depth -= u32::from(is_own);
            (is_own && capture.depth == 0)
                || (matches!(tag, Tag::Anchor | Tag::Strong | Tag::Heading(_))
                    && capture.text.contains(char::is_alphanumeric))
        };
        if let Some(ended) = self.voices.author.take_if(ends) {
            self.say_author(ended.post, ended.rank, &ended.text);
        }
        let ends = |capture: &mut Capture| {
            let is_own = capture.name == name;
            capture.depth -= u32::from(is_own);
            is_own && capture.depth == 0
        };
        if let Some(ended) = self.voices.date.take_if(ends)
            && let Some(date) = shown_date(&ended.text)
        {
            self.say_date(ended.post, ended.rank, date);
        }
    }

    fn say_author(&mut self, post: PostId, rank: u8, text: &str) {
        if let Some(author) = person(text) {
            self.say(post, |said| &mut said.author, rank, author);
        }
    }

    fn say_date(&mut self, post: PostId, rank: u8, date: String) {
        self.say(post, |said| &mut said.date, rank, date);
    }

    /// The first of the highest rank counts.
    fn say(
        &mut self,
        post: PostId,
        part: fn(&mut Said) -> &mut Option<(u8, String)>,
        rank: u8,
        text: String,
    ) {
        let said = match self.outline.posts.get_mut(post as usize) {
            Some(found) if post != 0 => &mut found.said,
            _ => {
                let block = self.outline.blocks.len();
                let loose = &mut self.outline.loose;
                if loose.last().is_none_or(|(last, _)| *last != block) {
                    if loose.len() >= LOOSE_MAX {
                        return;
                    }
                    loose.push((block, Said::default()));
                }
                match loose.last_mut() {
                    Some((_, said)) => said,
                    None => return,
                }
            }
        };
        let part = part(said);
        if part.as_ref().is_none_or(|(other, _)| *other < rank) {
            *part = Some((rank, text));
        }
    }
}

/// A date as the page shows it.
fn shown_date(text: &str) -> Option<String> {
    let text = folded(text);
    // The time and the number of the post often follow.
    let end = text.find(['@', '(', '#', '|']).unwrap_or(text.len());
    let text = text[..end].trim_matches(|c: char| !c.is_alphanumeric());
    let text = ["Posted on ", "Posted ", "on ", "Date: "]
        .iter()
        .find_map(|prefix| text.strip_prefix(prefix))
        .unwrap_or(text);
    if text.len() < 3
        || text.chars().count() > DATE_CHARS_MAX
        || !text.contains(|c: char| c.is_ascii_digit())
    {
        return None;
    }
    Some(day(text).unwrap_or_else(|| text.to_owned()))
}

/// A name without what introduces it.
fn person(text: &str) -> Option<String> {
    let text = folded(text);
    let mut text = text.trim_matches(|c: char| c.is_whitespace() || ",:;·|•»«—–".contains(c));
    for prefix in ["Posted by ", "by ", "By ", "Author: ", "von ", "par "] {
        text = text.strip_prefix(prefix).unwrap_or(text);
    }
    for suffix in [" says", " wrote", " said"] {
        text = text.strip_suffix(suffix).unwrap_or(text);
    }
    let is_name = text.chars().count() <= NAME_CHARS_MAX
        && text.split(' ').count() <= NAME_WORDS_MAX
        && text.contains(char::is_alphanumeric);
    is_name.then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_given_bare() {
        assert_eq!(person(" Posted by  alice: ").as_deref(), Some("alice"));
        assert_eq!(person("Jo van Dam wrote").as_deref(), Some("Jo van Dam"));
        assert_eq!(person("—"), None);
        assert_eq!(person("a sentence of far too many words"), None);
    }

    #[test]
    fn dates_are_days_where_they_can_be_read() {
        assert_eq!(
            day("2024-05-01T10:00:00+02:00").as_deref(),
            Some("2024-05-01")
        );
        assert_eq!(day("yesterday"), None);
        assert_eq!(
            shown_date("Posted May 3, 2024").as_deref(),
            Some("2024-05-03")
        );
        assert_eq!(shown_date("2 years ago ·").as_deref(), Some("2 years ago"));
        assert_eq!(shown_date("Reply"), None);
    }
}
