//! Jupyter notebooks (nbformat 4): texts as they are, code with what it printed below it.

use serde_json::Value;
use url::Url;

use super::super::plain;
use super::super::{Metadata, Page, Warning};
use super::fence;

/// Cells that are read, and bytes of one output.
const CELLS_MAX: usize = 5_000;
const OUTPUT_BYTES_MAX: usize = 16 * 1024;
const MARKDOWN_BYTES_MAX: usize = 8 * 1024 * 1024;

/// `None` when the text is no notebook.
pub(super) fn page(text: &str, url: &Url) -> Option<Page> {
    let notebook: Value = serde_json::from_str(text).ok()?;
    // Before version 4 the cells stood in worksheets.
    let cells = notebook
        .get("cells")
        .or_else(|| notebook.pointer("/worksheets/0/cells"))?;
    let cells = cells.as_array()?;
    let language = [
        "/metadata/language_info/name",
        "/metadata/kernelspec/language",
    ]
    .iter()
    .find_map(|path| notebook.pointer(path)?.as_str())
    .filter(|name| {
        name.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+#-".contains(&byte))
    })
    .unwrap_or("");
    let mut markdown = String::new();
    let mut is_cut = cells.len() > CELLS_MAX;
    for cell in cells.iter().take(CELLS_MAX) {
        if markdown.len() > MARKDOWN_BYTES_MAX {
            is_cut = true;
            break;
        }
        write(cell, language, &mut markdown, &mut is_cut);
    }
    let markdown = plain::clean(plain::normalised(&markdown).trim(), url);
    let (headings, links) = plain::headings_and_links(&markdown, url);
    let mut page = Page {
        metadata: Metadata {
            title: headings.first().map(|heading| heading.text.clone()),
            ..Metadata::default()
        },
        markdown,
        headings,
        links,
        ..Page::default()
    };
    if is_cut {
        page.warnings.push(Warning::Truncated);
    }
    Some(page)
}

fn write(cell: &Value, language: &str, markdown: &mut String, is_cut: &mut bool) {
    let member = |name: &str| cell.get(name).map(text).unwrap_or_default();
    match cell.get("cell_type").and_then(Value::as_str) {
        Some("markdown" | "heading") => push(markdown, member("source").trim()),
        Some("code") => {
            let source = match member("source") {
                source if source.is_empty() => member("input"),
                source => source,
            };
            if !source.trim().is_empty() {
                push(markdown, fence(language, &source).trim_end());
            }
            let outputs = cell.get("outputs").and_then(Value::as_array);
            for output in outputs.into_iter().flatten() {
                if let Some(shown) = shown(output, is_cut) {
                    push(markdown, &shown);
                }
            }
        }
        Some("raw") => push(markdown, fence("", &member("source")).trim_end()),
        _ => {}
    }
}

/// A text, or the lines of one.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect(),
        _ => String::new(),
    }
}

/// What a cell printed, gave or failed with; pictures are left out.
fn shown(output: &Value, is_cut: &mut bool) -> Option<String> {
    let at = |path: &str| {
        output
            .pointer(path)
            .map(text)
            .filter(|text| !text.trim().is_empty())
    };
    if let Some(markdown) = at("/data/text~1markdown") {
        return Some(markdown.trim().to_owned());
    }
    let error = || {
        Some(format!(
            "{}: {}",
            at("/ename")?,
            at("/evalue").unwrap_or_default()
        ))
    };
    let mut shown = at("/text")
        .or_else(|| at("/data/text~1plain"))
        .or_else(error)?;
    // Colours of terminals are no text.
    shown.retain(|c| c != '\u{1b}');
    if shown.len() > OUTPUT_BYTES_MAX {
        *is_cut = true;
        shown.truncate(shown.floor_char_boundary(OUTPUT_BYTES_MAX));
    }
    Some(fence("", &shown).trim_end().to_owned())
}

fn push(markdown: &mut String, block: &str) {
    if !block.is_empty() {
        markdown.push_str(block);
        markdown.push_str("\n\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url() -> Url {
        Url::parse("https://example.org/a/b.ipynb").expect("a valid URL")
    }

    #[test]
    fn cells_become_text_code_and_outputs() {
        let notebook = serde_json::json!({
            "metadata": {"language_info": {"name": "python"}}, "nbformat": 4,
            "cells": [
                {"cell_type": "markdown", "source": ["# Gates\n", "See [this](/x) and <script>no()</script>."]},
                {"cell_type": "code", "source": "print(1)", "outputs": [
                    {"output_type": "stream", "text": ["1\n"]},
                    {"output_type": "display_data", "data": {"image/png": "AAAA"}},
                    {"output_type": "error", "ename": "KeyError", "evalue": "'a'"},
                ]},
                {"cell_type": "code", "source": "", "outputs": []},
            ],
        });
        let page = page(&notebook.to_string(), &url()).expect("a notebook");
        assert_eq!(
            page.markdown.trim_end(),
            "# Gates\nSee [this](https://example.org/x) and .\n\n```python\nprint(1)\n```\n\n```\n1\n```\n\n```\nKeyError: 'a'\n```"
        );
        assert_eq!(page.metadata.title.as_deref(), Some("Gates"));
    }

    #[test]
    fn other_json_is_none_and_outputs_are_bounded() {
        assert!(page("{\"a\": 1}", &url()).is_none());
        assert!(page("[", &url()).is_none());
        let long = "x".repeat(2 * OUTPUT_BYTES_MAX);
        let notebook = serde_json::json!({"cells": [{"cell_type": "code", "source": "a", "outputs": [{"text": long}]}]});
        let page = page(&notebook.to_string(), &url()).expect("a notebook");
        assert!(page.markdown.len() < OUTPUT_BYTES_MAX + 100);
        assert_eq!(page.warnings, [Warning::Truncated]);
    }
}
