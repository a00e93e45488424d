//! What of a page is its content, where it is looked for, and what is said beside it.

use std::fmt::Write as _;

use super::*;

/// As long as text on a page is, so that it is known as such.
const STORY: [&str; 4] = [
    "The boats leave at dawn, when the tide is high enough to carry them over the bar. Each has a crew of three, and \
     the youngest of them has been at sea since she was twelve.",
    "They fish for herring in spring and for mackerel in summer. In winter the nets hang in the sheds behind the quay, \
     where the old men mend them and argue about the weather of other years.",
    "Nobody in the village owns a boat alone. The harbour society bought the first four in 1921, after a storm had sunk \
     the fleet, and every family holds a share that cannot be sold.",
    "What is caught is auctioned in the hall before noon. Two buyers come from the city, and whatever they leave is \
     smoked over beech wood the same afternoon.",
];

fn story() -> String {
    STORY.map(|text| format!("<p>{text}</p>")).concat()
}

#[test]
fn main_content_is_found() {
    let story = story();
    let page = main_page(&format!(
        "<title>The boats of Orrin - Harbour Notes</title>\
         <header><a href=/>Harbour Notes</a><nav><ul><li><a href=/>Home</a><li><a href=/about>About us</a></ul></nav></header>\
         <div class='cookie-banner'><p>We use cookies to improve your visit.</p><button>Accept</button></div>\
         <main><article><header><h1>The boats of Orrin</h1></header>{story}<div hidden>secret</div>\
         <p>The last boat is home by six <span class=sr-only>only heard</span>, and the bar closes behind it.</p>\
         <button>Click</button></article></main>\
         <aside><h3>See also</h3><ul><li><a href=/a>The net makers</a><li><a href=/b>The smokehouse</a></ul></aside>\
         <form>Sign up</form><footer><p>© Harbour Notes. <a href=/imprint>Imprint</a></p></footer>"
    ));
    let last = "The last boat is home by six , and the bar closes behind it.";
    assert_eq!(
        page.markdown,
        format!("# The boats of Orrin\n\n{}\n\n{last}\n", STORY.join("\n\n"))
    );

    let single = format!(
        "<div>Menu</div><article><header><h2>Head</h2></header>{story}</article><div>Related</div>"
    );
    let expected = format!("## Head\n\n{}\n", STORY.join("\n\n"));
    assert_eq!(main_page(&single).markdown, expected);
}

/// A review found raw shortcodes and share links among the text.
#[test]
fn remains_of_a_site_are_no_content() {
    let story = story();
    let shares = "<a href='https://www.facebook.com/sharer/sharer.php?u=x'>Facebook</a> <a href='https://twitter.com/intent/tweet?text=x'>Tweet</a>";
    let converted = |inside: &str| {
        main_page(&format!(
            "<title>Boats</title><article><h1>The boats of Orrin</h1>{inside}</article>"
        ))
        .markdown
    };
    let clean = converted(&story);
    assert!(clean.contains(STORY[3]), "{clean}");
    assert_eq!(converted(&format!("<p>Share: {shares}</p>{story}")), clean);
    assert_eq!(
        converted(&format!("{story}<h4>Share this</h4><p>{shares}</p>")),
        clean
    );
    assert_eq!(
        converted(&format!("[vc_row css=\"x\"]{story}<p>[/vc_row]</p>")),
        clean
    );
    let code = converted(&format!(
        "{story}<p>Write <code>[vc_row]</code> to begin a row of the page.</p>"
    ));
    assert!(code.contains("`[vc_row]`"), "{code}");
    let in_prose = converted(&format!(
        "{story}<p>Whoever likes the boats may show <a href='https://twitter.com/intent/tweet?text=x'>this page</a> to others in the village.</p>"
    ));
    assert!(
        in_prose.contains("[this page](https://twitter.com/intent/tweet"),
        "{in_prose}"
    );
}

#[test]
fn selection_falls_back_to_the_page() {
    let text = words(80);
    let html = format!("<form><header><p>{text}</p></header></form><footer>end</footer>");
    assert_eq!(main_page(&html).markdown, format!("{}\n", text.trim()));
    assert_eq!(
        main_page("<nav>Only navigation</nav>").markdown,
        "Only navigation\n"
    );
    assert!(
        full_page("<nav>Menu</nav><main>Text</main>")
            .markdown
            .contains("Menu")
    );
}

#[test]
fn threads_served_to_readers_without_scripts_are_read() {
    let html = format!(
        "<div>Loading</div><noscript><h1>Thread</h1><p>{}</p></noscript>",
        words(80)
    );
    assert!(main_page(&html).markdown.starts_with("# Thread\n\nword"));
}

/// Where else a page's text may be, when its markup holds next to none.
#[test]
fn text_is_found_outside_of_the_markup() {
    let check = |rest: &str, source: ContentSource, expected: &str| {
        let html = format!("<title>Boats</title><body><div>Loading</div>{rest}");
        let page = main_page(&html);
        assert_eq!(page.source, source, "{html}");
        assert!(
            page.markdown.starts_with("# Boats\n\n"),
            "{}",
            page.markdown
        );
        assert!(page.markdown.contains(expected), "{}", page.markdown);
    };
    let story = STORY.join(" ");
    let json = |value: serde_json::Value| value.to_string();
    let article = |body: &str| {
        let item = json(serde_json::json!({"@type": "NewsArticle", "articleBody": body}));
        format!("<script type=application/ld+json>{item}</script>")
    };
    let state = |text: &str| json(serde_json::json!({"props": {"title": "x", "body": text}}));
    let from_json_ld = ContentSource::JsonLd;
    check(
        &article(&format!("{story}\n\nThe & end.")),
        from_json_ld,
        "\n\nThe & end.",
    );
    check(
        &article(&format!("<p>{story}</p><h2>The end</h2>")),
        from_json_ld,
        "\n\n## The end",
    );
    let next = format!(
        "<script id=__NEXT_DATA__ type=application/json>{}</script>",
        state(&story)
    );
    check(&next, ContentSource::AppState, "dawn");
    let nuxt = format!(
        "<script>window.__NUXT__={};</script>",
        state(&format!("<p>{story}</p><ul><li>end</ul>"))
    );
    check(&nuxt, ContentSource::AppState, "\n\n- end");
    let noscript = format!("<noscript><h1>Boats</h1><p>{story}</p></noscript>");
    check(&noscript, ContentSource::Noscript, "dawn");
    // The order, when there are several.
    check(
        &format!("{next}{noscript}"),
        ContentSource::Noscript,
        "dawn",
    );
    check(
        &format!("{next}{noscript}{}", article(&story)),
        from_json_ld,
        "dawn",
    );
    let description =
        "<meta name=description content='All the boats that leave the harbour at dawn'>";
    check(description, ContentSource::Description, "All the boats");
}

#[test]
fn the_page_itself_is_kept_unless_much_more_is_found() {
    let article = "<script type=application/ld+json>{\"@type\":\"Article\",\"articleBody\":\"Too short to gain.\"}</script>";
    let page = main_page(&format!("<title>Boats</title><p>{}{article}", words(20)));
    assert_eq!(page.source, ContentSource::Page);
    let same = format!(
        "<p>{}<script type=application/ld+json>{{\"articleBody\":\"{}\"}}</script>",
        words(200),
        words(210)
    );
    assert_eq!(main_page(&same).source, ContentSource::Page);
    let teaser = format!(
        "<p>{}<script type=application/ld+json>{{\"articleBody\":\"{}\"}}</script>",
        words(120),
        words(900)
    );
    assert_eq!(main_page(&teaser).source, ContentSource::JsonLd);
    let shell = "<title>App</title><div></div><script id=__NEXT_DATA__ type=application/json>{\"a\":\"b\"}</script>";
    let settings = Settings {
        full: false,
        ..settings(ContentKind::Html)
    };
    assert_eq!(
        convert(settings, shell.as_bytes()),
        Err(ConvertError::Empty)
    );
}

#[test]
fn metadata_is_collected() {
    let page = full_page(
        "<html lang=en-GB><head><title> A &amp; B </title><meta name=Description content='About it'>\
         <meta property=og:site_name content=Site><meta property=og:type content=article>\
         <meta property=article:published_time content=2024-05-06T07:08:09Z><meta property=og:image content=/i.png>\
         <meta name=keywords content='x, y,,x'><meta name=robots content='NoIndex, noarchive'>\
         <meta name=context402 content='noarchive, noai'><meta name=otherbot content=none>\
         <link rel=canonical href=/docs/page><link rel='shortcut icon' href=/f.ico>\
         <script type=application/ld+json>{\"@graph\":[{\"datePublished\":\"2020-01-01\",\n\"author\":[{\"name\":\"Ann Lee\"}]}]}</script>\
         </head><body><h1>Head</h1>text",
    );
    let some = |text: &str| Some(text.to_owned());
    let expected = Metadata {
        title: some("A & B"),
        description: some("About it"),
        author: some("Ann Lee"),
        site_name: some("Site"),
        published_at: some("2024-05-06T07:08:09Z"),
        modified_at: None,
        language: some("en-GB"),
        canonical_url: some("https://example.org/docs/page"),
        image: some("https://example.org/i.png"),
        favicon: some("https://example.org/f.ico"),
        kind: some("article"),
        keywords: vec!["x".to_owned(), "y".to_owned()],
        ..Metadata::default()
    };
    assert_eq!(page.metadata, expected);
    assert_eq!(page.meta_robots, ["noindex", "noarchive", "noai"]);
    assert_eq!(
        full_page("<h1>Only <b>this</b></h1>").metadata.title,
        some("Only this")
    );
}

#[test]
fn links_and_headings_are_listed() {
    let mut html =
        "<h2>One <code>two</code></h2><a href=/a rel='nofollow ugc'>first</a><a href=/a>again</a>\
                    <a href=mailto:a@example.org>mail</a>"
            .to_owned();
    for number in 0..300 {
        write!(html, "<p><a href=/{number}>{number}</a>").expect("writing to a string");
    }
    let page = full_page(&html);
    assert_eq!(
        page.headings,
        [Heading {
            level: 2,
            text: "One two".to_owned()
        }]
    );
    assert_eq!(page.links.len(), LINKS_MAX);
    let first = Link {
        text: "first".to_owned(),
        url: "https://example.org/a".to_owned(),
        rel: "nofollow ugc".to_owned(),
    };
    assert_eq!(page.links[0], first);
    assert_eq!(page.links[1].url, "https://example.org/0");
}

#[test]
fn warnings_say_what_to_doubt() {
    assert_eq!(full_page("few words").warnings, [Warning::ThinContent]);
    assert_eq!(full_page(&words(60)).warnings, []);
    let app = "<div id=root>App</div><noscript>Please enable JavaScript.</noscript>";
    assert_eq!(
        main_page(app).warnings,
        [Warning::ThinContent, Warning::JsRequired]
    );
    let chinese = "汉字".repeat(60);
    assert_eq!(full_page(&chinese).warnings, []);
}

/// A title without an end tag swallows the page, in browsers too; other readers end it at its first tag.
#[test]
fn a_title_without_its_end_tag_ends_at_its_first_tag() {
    let page = |title: &str| {
        let html =
            format!("<head>{title}</head><body><h1>Boats</h1><p>Sails &amp; oars &lt;b></body>");
        convert(settings(ContentKind::Html), html.as_bytes())
    };
    let found = page("<title>Boats &amp; quays").expect("the page converts");
    assert_eq!(found.metadata.title.as_deref(), Some("Boats & quays"));
    assert_eq!(found.markdown.trim_end(), "# Boats\n\nSails & oars \\<b>");
    assert!(
        found
            .warnings
            .iter()
            .all(|warning| *warning != Warning::Truncated)
    );
    let long = page(&format!(
        "<title>Boats{}",
        "<p>Sails and oars".repeat(200_000)
    ));
    assert!(
        long.expect("the page converts")
            .warnings
            .contains(&Warning::Truncated)
    );
    // Once: a page of such titles would be read again for each.
    assert_eq!(page("<title>Boats<title>").err(), Some(ConvertError::Empty));
}
