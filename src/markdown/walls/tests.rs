use std::path::PathBuf;

use super::*;
use crate::markdown::{ContentKind, ConvertError, Converter, Settings};

/// What becomes of a page: the wall that it is, or `None` when it is sold.
fn wall(kind: ContentKind, page: &[u8]) -> Option<Wall> {
    let mut converter = Converter::new(Settings {
        kind,
        url: url::Url::parse("https://www.sample-site.org/a").expect("a valid URL"),
        charset: None,
        full: false,
    });
    converter.push(page).expect("text");
    match converter.finish() {
        Ok(page) => page.wall,
        Err(ConvertError::Walled(wall)) => Some(wall),
        Err(error) => panic!("{error}"),
    }
}

fn pages(folder: &str) -> Vec<(String, Vec<u8>)> {
    let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/walls")).join(folder);
    let mut pages: Vec<(String, Vec<u8>)> = std::fs::read_dir(root)
        .expect("the folder is there")
        .map(|file| file.expect("the folder can be read").path())
        .map(|path| {
            let name = path.file_stem().expect("a name").to_string_lossy();
            let page = std::fs::read(&path).expect("the page can be read");
            (name.into_owned(), page)
        })
        .collect();
    pages.sort();
    pages
}

#[test]
fn every_form_of_a_wall_is_known() {
    let pages = pages("walled");
    let wrong: Vec<String> = pages
        .iter()
        .filter_map(|(name, page)| {
            let found = wall(ContentKind::Html, page);
            let is_right = found.is_some_and(|wall| name.starts_with(wall.name()));
            (!is_right).then(|| format!("{name}: {found:?}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(pages.len() >= 15, "{} pages", pages.len());
    for kind in Wall::ALL {
        let of_kind = |(name, _): &&(String, Vec<u8>)| name.starts_with(kind.name());
        assert!(pages.iter().any(|page| of_kind(&page)), "{kind:?}");
    }
}

#[test]
fn pages_that_speak_of_walls_are_none() {
    let pages = pages("open");
    let wrong: Vec<String> = pages
        .iter()
        .filter_map(|(name, page)| {
            let found = wall(ContentKind::Html, page);
            found.map(|wall| format!("{name}: {wall:?}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(pages.len() >= 15, "{} pages", pages.len());
}

/// No other page that is kept for tests is a wall.
#[test]
fn pages_of_other_tests_are_none() {
    let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/pages"));
    for folder in std::fs::read_dir(root).expect("the folder is there") {
        let folder = folder.expect("the folder can be read").path();
        let page = std::fs::read(folder.join("source.html")).expect("every folder has a page");
        assert_eq!(wall(ContentKind::Html, &page), None, "{}", folder.display());
    }
}

/// The cache keeps markdown and title only: what is plain from these is a wall there, too.
#[test]
fn a_stored_wall_is_known_by_its_markdown() {
    let mut missed = Vec::new();
    let pages = pages("walled");
    for (name, page) in &pages {
        let mut converter = Converter::new(Settings {
            kind: ContentKind::Html,
            url: url::Url::parse("https://www.sample-site.org/a").expect("a valid URL"),
            charset: None,
            full: false,
        });
        converter.push(page).expect("text");
        let Ok(page) = converter.finish() else {
            continue;
        };
        if of_markdown(page.metadata.title.as_deref(), &page.markdown) != page.wall {
            missed.push(name.as_str());
        }
    }
    // Buttons and scripts are not kept.
    assert!(missed.len() * 4 <= pages.len(), "{missed:?}");
}

#[test]
fn plain_text_and_markdown_can_be_walls() {
    let text = "Access Denied\n\nYou don't have permission to access \"http://a.example/\" on this server.\n";
    for kind in [ContentKind::PlainText, ContentKind::Markdown] {
        assert_eq!(wall(kind, text.as_bytes()), Some(Wall::Block));
        assert_eq!(wall(kind, b"The boats leave at dawn."), None);
    }
}

/// An item says what it is; walls do not.
#[test]
fn a_page_that_says_when_it_was_published_is_no_captcha() {
    let page = |head: &str| {
        let html = format!("<title>Just a moment...</title>{head}<p>A song in three verses.");
        wall(ContentKind::Html, html.as_bytes())
    };
    assert_eq!(page(""), Some(Wall::Captcha));
    let published = "<meta property=article:published_time content=2026-01-02>";
    assert_eq!(page(published), None);
    let json = "<script type=application/ld+json>{\"@type\":\"MusicRecording\"}</script>";
    assert_eq!(page(json), Some(Wall::Captcha));
    let json = "<script type=application/ld+json>{\"@type\":\"Article\"}</script>";
    assert_eq!(page(json), None);
}

/// So many words beside the wall are content.
#[test]
fn words_beside_a_wall_decide() {
    let page = |sign: &str, words: usize| {
        let text = "mooring ".repeat(words);
        let html = format!("<title>Orrin</title><p>{sign}</p><p>{text}</p>");
        wall(ContentKind::Html, html.as_bytes())
    };
    let login = "Please log in to view this page.";
    assert_eq!(page(login, 2), Some(Wall::Login));
    assert_eq!(page(login, REST_SHARED + 1), None);
    let html = |words: usize| {
        let text = "mooring ".repeat(words);
        let html = format!("<title>Just a moment...</title><p>{text}</p>");
        wall(ContentKind::Html, html.as_bytes())
    };
    assert_eq!(html(REST_SURE), Some(Wall::Captcha));
    assert_eq!(html(REST_SURE + 1), None);
}

#[test]
fn phrases_are_in_the_form_they_are_looked_for_in() {
    let tables = [
        CAPTCHA_TITLES,
        CAPTCHA_TITLES_SHARED,
        CAPTCHA_TEXTS,
        CHALLENGE_SCRIPTS,
        BLOCK_TITLES_SHARED,
        BLOCK_TEXTS,
        LOGIN_TITLES,
        LOGIN_TEXTS,
        PAYWALL_TEXTS,
        CONSENT_TITLES,
        CONSENT_TEXTS,
        CONSENT_CHOICES,
        POLICY_TITLES,
        SCRIPT_TEXTS,
        AROUND,
        LABELS,
    ];
    for phrase in tables.into_iter().flatten() {
        assert_eq!(normal(phrase), **phrase);
        assert!(!phrase.is_empty());
    }
    for (at, phrase) in CONSENT_CHOICES.iter().enumerate() {
        assert_eq!(bare(phrase), *phrase);
        assert!(!CONSENT_CHOICES[..at].contains(phrase), "{phrase} twice");
    }
    for label in LABELS
        .iter()
        .chain(CAPTCHA_TITLES_SHARED)
        .chain(BLOCK_TITLES_SHARED)
    {
        assert_eq!(bare(label), *label);
    }
    for script in CHALLENGE_SCRIPTS {
        assert!(!script.contains(char::is_whitespace));
    }
}

#[test]
fn markdown_is_read_as_its_reader_sees_it() {
    let read = |markdown: &str| plain(markdown).expect("short").0;
    assert_eq!(
        read("# A  *Title*\n\n- [Log in](https://a.example/x_(1)) or ![logo](/l.png) go\n> It’s\n"),
        "a title\nlog in or go\nit's\n"
    );
    assert_eq!(read("[open](https://a.example"), "open\n");
    assert_eq!(words("two words 東京都"), 4);
    assert_eq!(words("— … !"), 0);
}

#[test]
fn titles_of_logins_are_told_from_others() {
    for title in [
        "log in",
        "sign in to sample",
        "log in to your account",
        "sample login",
        "anmelden",
        "登录",
    ] {
        assert!(is_login_title(title), "{title}");
    }
    for title in [
        "login lounge opens",
        "sign in sheet for the boat shed",
        "loginov's games",
        "how to fix a broken login",
    ] {
        assert!(!is_login_title(title), "{title}");
    }
}

/// The marks that divide a title into its site and its subject do not multiply its parts.
#[test]
fn a_title_of_nothing_but_marks_has_few_parts() {
    let title = "a | a - a – a — a · a • a :: a » ".repeat(100);
    assert!(titles(Some(&title), "", "").len() < 12 * title.len());
    let parts = titles(Some("Log in | The Harbour - News"), "", "");
    for part in ["log in", "the harbour - news", "the harbour", "news"] {
        assert!(parts.iter().any(|own| own == part), "{part}: {parts:?}");
    }
}

/// Long pages and pages of one endless line take no longer than they should.
#[test]
fn odd_pages_are_judged_in_time() {
    for page in [
        "](".repeat(WALL_BYTES_MAX / 2),
        "![".repeat(WALL_BYTES_MAX / 2),
        "log in ".repeat(WALL_BYTES_MAX / 7),
        "a. ".repeat(WALL_BYTES_MAX / 3),
        "\u{200b}".repeat(WALL_BYTES_MAX / 3),
    ] {
        let began = std::time::Instant::now();
        let _ = of_markdown(Some(&page), &page);
        let took = began.elapsed();
        assert!(took < std::time::Duration::from_secs(2), "{took:?}");
    }
}
