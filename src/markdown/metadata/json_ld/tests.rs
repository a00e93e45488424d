use super::*;

fn read(script: &str) -> JsonLd {
    JsonLd::read(script, &["https://www.example.org/a/?from=b"])
}

#[test]
fn the_subject_is_found_in_a_graph() {
    let found = read(
        r##"{"@context":"https://schema.org","@graph":[
        {"@type":"WebSite","name":"The Harbour Post","@id":"#site"},
        {"@type":["WebPage","FAQPage"],"name":"Boats - The Harbour Post","datePublished":"2024-01-01","inLanguage":"en-GB"},
        {"@type":"BreadcrumbList","name":"Home"},
        {"@id":"#ann","@type":"Person","name":"Ann &amp; Lee"},
        {"@type":"http://schema.org/NewsArticle","headline":"Boats","author":[{"@id":"#ann"},{"name":"Bo"},"Cy"],
         "publisher":{"@type":"Organization","name":"Harbour Ltd"},"image":{"@type":"ImageObject","url":"/boat.jpg"},
         "dateModified":"2024-03-04","keywords":["sea","ships"],"articleBody":"All about boats.","isAccessibleForFree":"False"}]}"##
            .replace('\n', " ")
            .as_str(),
    );
    assert_eq!(
        found.types,
        [
            "WebSite",
            "WebPage",
            "FAQPage",
            "BreadcrumbList",
            "Person",
            "NewsArticle"
        ]
    );
    assert_eq!(found.subject.as_deref(), Some("NewsArticle"));
    assert_eq!(found.headline.as_deref(), Some("Boats"));
    assert_eq!(found.name.as_deref(), Some("Boats - The Harbour Post"));
    assert_eq!(found.authors, ["Ann & Lee", "Bo", "Cy"]);
    assert_eq!(found.publisher.as_deref(), Some("Harbour Ltd"));
    assert_eq!(found.site.as_deref(), Some("The Harbour Post"));
    assert_eq!(found.image.as_deref(), Some("/boat.jpg"));
    assert_eq!(found.published_at.as_deref(), Some("2024-01-01"));
    assert_eq!(found.modified_at.as_deref(), Some("2024-03-04"));
    assert_eq!(found.language.as_deref(), Some("en-GB"));
    assert_eq!(found.keywords, ["sea", "ships"]);
    assert_eq!(found.article_body.as_deref(), Some("All about boats."));
    assert_eq!(found.is_free, Some(false));
}

/// The title, the author and the date were those of a related article.
#[test]
fn an_article_about_another_page_is_not_the_subject() {
    let other =
        r#"{"@type":"Article","headline":"Other","url":"https://example.org/b","author":"Zed"}"#;
    for own in [
        r#"{"@type":"Article","headline":"It's A","url":"http://example.org/a#top"}"#,
        r#"{"@type":"Article","headline":"It's A","mainEntityOfPage":{"@id":"https://example.org/a"}}"#,
        r#"{"@type":"Report","headline":"It's A","@id":"https://example.org/a#report"}"#,
    ] {
        let found = read(&format!("[{other},{own}]"));
        assert_eq!(found.headline.as_deref(), Some("It's A"), "{own}");
        assert!(found.authors.is_empty());
    }
    // Alone it may have the address that the page had before.
    assert_eq!(read(other).headline.as_deref(), Some("Other"));
}

fn check_headline(script: &str) {
    assert_eq!(read(script).headline.as_deref(), Some("It's A"), "{script}");
}

#[test]
fn broken_scripts_are_read() {
    check_headline(r#"[{"@type":"Article","headline":"It's A",},]"#);
    check_headline(r#"<!-- {"@type":"Article","headline":"It's A"} -->"#);
    check_headline(r#"//<![CDATA[ {"@type":"Article","headline":"It's A"} //]]>"#);
    check_headline(r#"/* <![CDATA[ */ {"@type":"Article","headline":"It's A"}; /* ]]> */"#);
    check_headline(r#"{"@type":"Article","headline":"It\'s A"}"#);
    check_headline(r#"{"@type":"Article","headline":"It's A"}{"@type":"#);
    check_headline("nonsense\n{\"@type\":\"Article\",\"headline\":\"It&#39;s A\"}");
}

#[test]
fn nothing_is_made_up_and_nothing_runs_away() {
    assert_eq!(read(""), JsonLd::default());
    assert_eq!(read("null\n3\n\"x\"\n[[]]"), JsonLd::default());
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    assert_eq!(read(&deep), JsonLd::default());
    let deep = "{\"mainEntity\":".repeat(100_000);
    assert_eq!(read(&deep), JsonLd::default());
    let wide = format!("[{}]", vec!["{\"@type\":\"Article\"}"; 10_000].join(","));
    assert_eq!(read(&wide).types, ["Article"]);
    let types = (0..500)
        .map(|n| format!("{{\"@type\":\"T{n}\"}}"))
        .collect::<Vec<_>>();
    assert_eq!(read(&types.join("\n")).types.len(), TYPES_MAX);
}

#[test]
fn a_free_page_with_a_part_that_is_not_is_not_free() {
    let found = read(
        r#"{"@type":"NewsArticle","isAccessibleForFree":true,"hasPart":{"isAccessibleForFree":"false","cssSelector":".paywall"}}"#,
    );
    assert_eq!(found.is_free, Some(false));
    assert_eq!(
        read(r#"{"@type":"NewsArticle","isAccessibleForFree":true}"#).is_free,
        Some(true)
    );
}
