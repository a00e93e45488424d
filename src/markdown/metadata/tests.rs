use url::Url;

use crate::markdown::{ContentKind, Converter, Metadata, Settings};

fn metadata(html: &str) -> Metadata {
    let mut converter = Converter::new(Settings {
        kind: ContentKind::Html,
        url: Url::parse("https://example.org/docs/page").expect("a valid URL"),
        charset: None,
        full: false,
    });
    let html = format!("{html}<body><p>Text of the page.");
    converter.push(html.as_bytes()).expect("HTML");
    converter.finish().expect("a page").metadata
}

fn check_published(html: &str, expected: &str) {
    assert_eq!(
        metadata(html).published_at.as_deref(),
        Some(expected),
        "{html}"
    );
}

#[test]
fn dates_are_found_under_many_names() {
    check_published(
        "<meta property=article:published_time content='2024-05-06T07:08:09+0200'>",
        "2024-05-06T07:08:09+02:00",
    );
    check_published(
        "<meta itemprop=datePublished content='May 6, 2024'>",
        "2024-05-06",
    );
    check_published("<meta name=DC.date content=20240506>", "2024-05-06");
    check_published(
        "<meta name=parsely-pub-date content=2024-05-06>",
        "2024-05-06",
    );
    check_published(
        "<meta name=sailthru.date content='Mon, 06 May 2024 10:00:00 GMT'>",
        "2024-05-06T10:00:00Z",
    );
    check_published(
        "<body><time datetime=2024-05-06 pubdate>yesterday</time>",
        "2024-05-06",
    );
    check_published(
        "<body><time itemprop='a datePublished' datetime=2024-05-06>",
        "2024-05-06",
    );
    check_published("<meta name=date content=05/06/2024>", "05/06/2024");
    assert_eq!(
        metadata("<body><time datetime=2024-05-06>").published_at,
        None
    );
    let modified = metadata("<body><time itemprop=dateModified datetime=2024-05-07>").modified_at;
    assert_eq!(modified.as_deref(), Some("2024-05-07"));
}

#[test]
fn the_better_source_wins_wherever_it_stands() {
    let html = "<meta name=date content=2020-01-01><script type=application/ld+json>{\"@type\":\"Article\",\
        \"datePublished\":\"2021-01-01\",\"headline\":\"H\",\"author\":{\"name\":\"Ann\"},\"description\":\"D\",\
        \"image\":\"/j.png\",\"publisher\":{\"name\":\"P\"},\"keywords\":\"a, b\",\"inLanguage\":\"de\"}</script>";
    let found = metadata(html);
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(found.published_at, some("2021-01-01"));
    assert_eq!(found.title, some("H"));
    assert_eq!(found.author, some("Ann"));
    assert_eq!(found.description, some("D"));
    assert_eq!(found.image, some("https://example.org/j.png"));
    assert_eq!(found.site_name, some("P"));
    assert_eq!(found.keywords, ["a", "b"]);
    assert_eq!(found.language, some("de"));
    assert_eq!(found.kind, some("Article"));
    assert_eq!(found.json_ld_types, ["Article"]);
    let html = format!(
        "{html}<meta name=author content=Bo><meta property=article:published_time content=2022-01-01>"
    );
    let found = metadata(&html);
    assert_eq!(
        (found.author, found.published_at),
        (some("Bo"), some("2022-01-01"))
    );
}

#[test]
fn authors_are_names() {
    let author = |html: &str| metadata(html).author;
    assert_eq!(author("<meta name=author content=admin>"), None);
    assert_eq!(author("<meta name=author content=ann@example.org>"), None);
    let byline = author("<meta name=author content='By Ann'>");
    assert_eq!(byline.as_deref(), Some("Ann"));
    assert_eq!(
        author("<meta property=article:author content=https://example.com/ann>"),
        None
    );
    let handle = "<meta name=twitter:creator content=@ann>";
    assert_eq!(author(handle).as_deref(), Some("@ann"));
    let own = format!("{handle}<meta name=twitter:site content=@Ann>");
    assert_eq!(author(&own), None, "the site's own");
    let marked = r#"<script type=application/ld+json>{"@type":"Article","author":{"name":"<a href=\"/u\">Ann Lee</a>"}}</script>"#;
    assert_eq!(author(marked).as_deref(), Some("Ann Lee"));
    let two =
        "<meta name=citation_author content='Lee, Ann'><meta name=citation_author content=Bo>";
    assert_eq!(author(two).as_deref(), Some("Lee, Ann; Bo"));
    let two = two.replace("Lee, Ann", "Ann Lee");
    assert_eq!(author(&two).as_deref(), Some("Ann Lee, Bo"));
}

/// The title of many pages ended in the name of their site, though they give it without, too.
#[test]
fn the_name_of_the_site_is_no_part_of_the_title() {
    let check = |html: &str, expected: &str| {
        let found = metadata(html);
        assert_eq!(found.title.as_deref(), Some(expected), "{html}");
    };
    let title = "<title>How to prune tomatoes &#8211; The Patient Gardener</title>";
    let own = "How to prune tomatoes";
    check(
        &format!("{title}<meta property=og:title content='{own}'>"),
        own,
    );
    let ld = format!("{{\"@type\":\"Article\",\"headline\":\"{own}\"}}");
    check(
        &format!("{title}<script type=application/ld+json>{ld}</script>"),
        own,
    );
    check(&format!("{title}<body><h1>{own}</h1>"), own);
    check(
        &format!("{title}<meta property=og:site_name content='The Patient Gardener'>"),
        own,
    );
    check(
        "<title>Harbour: Boats</title><meta property=og:title content=Boats>",
        "Boats",
    );
    check(
        "<title>旧船_海岸网</title><meta property=og:title content=旧船>",
        "旧船",
    );
    // The document's own heading shows it; another source says something else.
    check(title, own);
    let other = format!("{title}<meta property=og:title content='How to prune'>");
    check(&other, "How to prune tomatoes – The Patient Gardener");
    // The page's domain is example.org.
    let long = "Pruning";
    check(&format!("<title>{long} - Example.org</title>"), long);
    check(&format!("<title>{long} | EXAMPLE</title>"), long);
    check(&format!("<title>Example | {long}</title>"), long);
    check("<title>How to prune | Example News</title>", "How to prune");
    check(
        "<title>Prune | Example for all</title>",
        "Prune | Example for all",
    );
    // A manual's name is the first heading of each of its pages, the page's own one the second.
    let manual = "<title>Path | Manual of tools</title><body><h1>Manual of tools</h1>";
    check(&format!("{manual}<h2>Path</h2>"), "Path");
    check(
        "<title>COVID-19</title><meta property=og:title content=COVID>",
        "COVID-19",
    );
}

#[test]
fn the_first_page_of_a_site_keeps_the_name_of_the_site() {
    let url = Url::parse("https://example.org/").expect("a valid URL");
    let mut converter = Converter::new(Settings {
        kind: ContentKind::Html,
        url,
        charset: None,
        full: false,
    });
    let html = b"<title>Example - tools for gardens</title><p>Text of the page.";
    converter.push(html).expect("HTML");
    let found = converter.finish().expect("a page").metadata;
    assert_eq!(found.title.as_deref(), Some("Example - tools for gardens"));
}

#[test]
fn languages_are_tags() {
    let language = |html: &str| metadata(html).language;
    assert_eq!(
        language("<html lang='{{ lang }}'><meta property=og:locale content=pt_BR>").as_deref(),
        Some("pt-BR")
    );
    assert_eq!(
        language("<meta http-equiv=Content-Language content='de, en'>").as_deref(),
        Some("de")
    );
    assert_eq!(language("<html lang=english>"), None);
}

#[test]
fn related_addresses_are_absolute_and_of_the_web() {
    let found = metadata(
        "<link rel=next href=?page=3><link rel=prev href=?page=1><link rel=canonical href=javascript:x>\
         <meta property=og:url content=//example.org/c><link rel=alternate type='text/markdown; charset=utf-8' href=page.md>\
         <link rel=alternate type=application/rss+xml href=/feed><link rel=apple-touch-icon href=/t.png>",
    );
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(found.next, some("https://example.org/docs/page?page=3"));
    assert_eq!(found.previous, some("https://example.org/docs/page?page=1"));
    assert_eq!(found.canonical_url, some("https://example.org/c"));
    assert_eq!(
        found.markdown_alternate,
        some("https://example.org/docs/page.md")
    );
    assert_eq!(found.favicon, some("https://example.org/t.png"));
    let found = metadata("<body><a rel='nofollow next' href=/2>Next</a>");
    assert_eq!(found.next, some("https://example.org/2"));
    assert_eq!((found.previous, found.favicon), (None, None));
}

/// A title with a mark that turns the direction of reading reached reports, e-mails and pages as it was: `abc` and `fdp`
/// behind the mark read `abcpdf`.
#[test]
fn what_nobody_sees_is_in_no_field() {
    let page = crate::markdown::tests::full_page(
        "<title>abc\u{202e}fdp</title><meta name=author content='A\u{2066}nn\u{2069}'>\
         <meta name=description content='Some\u{200b}thing \u{202b}else'><meta name=keywords content='a\u{feff}b'>\
         <h2>Head\u{202e}ing</h2><p><a href=/x>lin\u{202d}k</a>",
    );
    assert_eq!(page.metadata.title.as_deref(), Some("abcfdp"));
    assert_eq!(page.metadata.author.as_deref(), Some("Ann"));
    assert_eq!(page.metadata.description.as_deref(), Some("Something else"));
    assert_eq!(page.metadata.keywords, ["ab"]);
    assert_eq!(page.headings[0].text, "Heading");
    assert_eq!(page.links[0].text, "link");
}

#[test]
fn documents_of_other_kinds_say_nothing_unseen_either() {
    let read = |kind, text: &str| {
        let mut converter = Converter::new(Settings {
            kind,
            url: Url::parse("https://example.org/").expect("a valid URL"),
            charset: None,
            full: false,
        });
        converter.push(text.as_bytes()).expect("a page");
        converter.finish().expect("a page").metadata.title
    };
    for (kind, text) in [
        (ContentKind::Json, "{\"title\":\"abc\u{202e}fdp\"}"),
        (ContentKind::Markdown, "# abc\u{202e}fdp\n\ntext"),
        (
            ContentKind::Feed,
            "<rss><channel><title>abc\u{202e}fdp</title></channel></rss>",
        ),
    ] {
        assert_eq!(read(kind, text).as_deref(), Some("abcfdp"), "{kind:?}");
    }
}
