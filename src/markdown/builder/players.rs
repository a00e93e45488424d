//! What a page plays or shows in a frame: a video, a recording, a PDF. Markdown has no players: a link leads to what
//! this one plays.

use url::Url;

use super::Builder;
use crate::markdown::attributes::{self, Attributes};
use crate::markdown::tag::{Name, Tag};

const IFRAME: Name = Name::new("iframe");
const OBJECT: Name = Name::new("object");
const EMBED: Name = Name::new("embed");
const VIDEO: Name = Name::new("video");
const AUDIO: Name = Name::new("audio");

/// The hosts of players, what their paths begin with, and where a visitor finds what they play.
const PLAYERS: [(&str, &str, &str); 5] = [
    ("youtube.com", "/embed/", "https://www.youtube.com/watch?v="),
    (
        "youtube-nocookie.com",
        "/embed/",
        "https://www.youtube.com/watch?v=",
    ),
    ("player.vimeo.com", "/video/", "https://vimeo.com/"),
    (
        "dailymotion.com",
        "/embed/video/",
        "https://www.dailymotion.com/video/",
    ),
    ("open.spotify.com", "/embed/", "https://open.spotify.com/"),
];

/// Titles that name the player and not what it plays.
const TITLES_OF_PLAYERS: [&str; 6] = [
    "youtube",
    "video",
    "video player",
    "vimeo",
    "player",
    "spotify embed",
];
const TITLE_BYTES_MAX: usize = 200;

/// An open `<video>` or `<audio>` whose address is still to come, in a `<source>`: what its link will say.
#[derive(Debug, Default)]
pub(super) struct Player(Option<String>);

impl Builder {
    /// An element that may play or show something begins.
    pub(super) fn begin_player(&mut self, name: Name, attributes: &Attributes<'_>) {
        if ![IFRAME, OBJECT, EMBED, VIDEO, AUDIO].contains(&name)
            || self.preformatted.is_some()
            || self.is_inside(|tag| tag == Tag::Anchor)
            || (!self.full && attributes::is_hidden(attributes))
        {
            return;
        }
        let title = title(attributes);
        let label = |word: &str| title.clone().unwrap_or_else(|| word.to_owned());
        // Loaders keep the address until the element is seen.
        let source = if name == OBJECT { "data" } else { "src" };
        let href = attributes
            .get("data-src")
            .or_else(|| attributes.get(source));
        if name == VIDEO || name == AUDIO {
            let label = label(if name == VIDEO { "Video" } else { "Audio" });
            let has = |name| attributes.raw(name).is_some();
            match href {
                // What plays by itself and cannot be stopped is decoration.
                _ if has("autoplay") && !has("controls") => {}
                Some(href) => self.write_player(&href, &label),
                None => self.player.0 = Some(label),
            }
        } else if let Some(url) = href.and_then(|href| self.links.metadata(&href)) {
            if let Some(page) = page_of_player(&url).filter(|_| name == IFRAME) {
                self.write_player(&page, &label("Video"));
            } else if is_pdf(&url) || attributes.raw("type") == Some("application/pdf") {
                self.write_player(&url, &label("PDF"));
            }
        }
    }

    /// A `<source>` in what is left out.
    pub(super) fn source_of_player(&mut self, attributes: &Attributes<'_>) {
        if let Some(href) = attributes.get("src")
            && let Some(label) = self.player.0.take()
        {
            self.write_player(&href, &label);
        }
    }

    pub(super) fn end_player(&mut self) {
        self.player.0 = None;
    }

    fn write_player(&mut self, href: &str, label: &str) {
        let Some(url) = self.links.page(href).filter(|url| url.starts_with("http")) else {
            return;
        };
        self.outline.players.push(self.outline.blocks.len());
        self.writer.gap();
        self.writer.begin_link(url, String::new(), String::new());
        self.writer.text(label);
        self.writer.end_link();
        self.writer.gap();
    }
}

fn title(attributes: &Attributes<'_>) -> Option<String> {
    let titles = ["title", "aria-label"].into_iter();
    let mut titles = titles.filter_map(|name| attributes.get(name));
    titles.find_map(|title| {
        let title = title.trim();
        let is_own = !TITLES_OF_PLAYERS.contains(&&*title.to_lowercase())
            && !title.to_lowercase().starts_with("youtube video");
        (!title.is_empty() && title.len() <= TITLE_BYTES_MAX && is_own).then(|| title.to_owned())
    })
}

/// The page of what a known player plays.
fn page_of_player(url: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    let host = url.host_str()?;
    let host = host.strip_prefix("www.").unwrap_or(host);
    let (_, path, page) = PLAYERS
        .iter()
        .find(|(known, path, _)| *known == host && url.path().starts_with(path))?;
    let id = url.path()[path.len()..].trim_end_matches('/');
    let is_id = !id.is_empty()
        && id != "videoseries"
        && id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_/".contains(&byte));
    is_id.then(|| format!("{page}{id}"))
}

fn is_pdf(url: &str) -> bool {
    Url::parse(url).is_ok_and(|url| url.path().to_ascii_lowercase().ends_with(".pdf"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn players_lead_to_the_page_of_what_they_play() {
        for (player, page) in [
            (
                "https://www.youtube.com/embed/dQw4w9WgXcQ?rel=0",
                Some("https://www.youtube.com/watch?v=dQw4w9WgXcQ"),
            ),
            (
                "https://www.youtube-nocookie.com/embed/a-b_c/",
                Some("https://www.youtube.com/watch?v=a-b_c"),
            ),
            (
                "https://player.vimeo.com/video/123?h=9",
                Some("https://vimeo.com/123"),
            ),
            (
                "https://open.spotify.com/embed/track/4uLU",
                Some("https://open.spotify.com/track/4uLU"),
            ),
            ("https://www.youtube.com/embed/videoseries?list=PL1", None),
            ("https://www.youtube.com/embed/", None),
            ("https://www.youtube.com/embed/%0a", None),
            ("https://evil.example/embed/a", None),
            ("https://www.google.com/maps/embed?pb=1", None),
        ] {
            assert_eq!(page_of_player(player).as_deref(), page, "{player}");
        }
    }
}
