//! Whole pages beside their expected markdown.

use std::fmt::Write as _;
use std::path::PathBuf;

use super::*;

/// Every folder in tests/pages holds a page and what it must give: `expected.md` is its main content, `full.md` all of
/// it, `expected.json` what else is known of it. `UPDATE_GOLDEN=1` writes those of the three that are there, so a new
/// page needs its `source.html` and an empty file.
#[test]
fn pages_convert_as_expected() {
    let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/pages"));
    let mut count = 0;
    let mut differences = String::new();
    for folder in std::fs::read_dir(&root).expect("the folder is there") {
        let folder = folder.expect("the folder can be read").path();
        let source = std::fs::read(folder.join("source.html")).expect("every folder has a page");
        let mut is_checked = false;
        for (name, full) in [
            ("expected.md", false),
            ("full.md", true),
            ("expected.json", false),
        ] {
            let golden = folder.join(name);
            let Ok(expected) = std::fs::read_to_string(&golden) else {
                continue;
            };
            let settings = Settings {
                full,
                ..settings(ContentKind::Html)
            };
            let page = convert(settings, &source).expect("the page converts");
            round_trip::check_again(&page.markdown);
            let found = match name {
                "expected.json" => beside_the_markdown(&page),
                _ => page.markdown,
            };
            if std::env::var_os("UPDATE_GOLDEN").is_some() {
                std::fs::write(&golden, found).expect("the golden file can be written");
            } else if found != expected {
                let path = golden.display();
                let _ = writeln!(differences, "{path} should be\n{expected}\nand is\n{found}");
            }
            is_checked = true;
        }
        assert!(is_checked, "{} expects nothing", folder.display());
        count += 1;
    }
    assert!(differences.is_empty(), "{differences}");
    assert!(count >= 13, "{count} pages");
}

/// Where a page's markdown comes from, what to doubt, and what the page says of itself, as JSON.
fn beside_the_markdown(page: &Page) -> String {
    let about = &page.metadata;
    let codes = page.warnings.iter().map(|warning| warning.code());
    let mut value = serde_json::json!({
        "source": format!("{:?}", page.source),
        "warnings": codes.collect::<Vec<_>>(),
        "title": about.title,
        "description": about.description,
        "author": about.author,
        "site_name": about.site_name,
        "published_at": about.published_at,
        "modified_at": about.modified_at,
        "language": about.language,
        "canonical_url": about.canonical_url,
        "image": about.image,
        "favicon": about.favicon,
        "kind": about.kind,
        "keywords": about.keywords,
        "next": about.next,
        "previous": about.previous,
        "markdown_alternate": about.markdown_alternate,
        "json_ld_types": about.json_ld_types,
    });
    if let Some(fields) = value.as_object_mut() {
        let is_said =
            |value: &serde_json::Value| !value.is_null() && value != &serde_json::json!([]);
        fields.retain(|name, value| name == "warnings" || is_said(value));
    }
    format!("{value:#}\n")
}
