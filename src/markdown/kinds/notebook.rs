//! Jupyter notebooks (nbformat 4): texts as they are, code with what it printed below it.

use serde::Deserialize;
use serde_json::value::RawValue;
use url::Url;

use super::super::links::Links;
use super::super::plain;
use super::super::work::Work;
use super::super::{Metadata, Page, Warning};
use super::values::{Text, pieces};
use super::{fence, json};

/// Cells that are read, outputs of each, and bytes of one output.
const CELLS_MAX: usize = 5_000;
const OUTPUTS_MAX: usize = 1_000;
const OUTPUT_BYTES_MAX: usize = 16 * 1024;
const MARKDOWN_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Of each member only where it stands, so that a notebook takes no more memory than its text.
#[derive(Deserialize)]
struct Notebook<'a> {
    #[serde(borrow)]
    cells: Option<&'a RawValue>,
    /// In which the cells stood before version 4.
    #[serde(borrow)]
    worksheets: Option<&'a RawValue>,
    #[serde(borrow)]
    metadata: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct About {
    language_info: Language,
    kernelspec: Language,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Language {
    name: Text,
    language: Text,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Cell<'a> {
    cell_type: Text,
    source: Text,
    /// Its name before version 4.
    input: Text,
    #[serde(borrow)]
    outputs: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Output {
    text: Text,
    data: Data,
    ename: Text,
    evalue: Text,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Data {
    #[serde(rename = "text/markdown")]
    markdown: Text,
    #[serde(rename = "text/plain")]
    plain: Text,
}

/// JSON that is no notebook is shown as it is.
pub(super) fn page(text: &str, url: &Url, work: &Work) -> Page {
    notebook_page(text, url, work).unwrap_or_else(|| json::page(text, url, work))
}

fn notebook_page(text: &str, url: &Url, work: &Work) -> Option<Page> {
    let mut notebook: Notebook<'_> = serde_json::from_str(text).ok()?;
    if let (None, Some(worksheets)) = (notebook.cells, notebook.worksheets) {
        let (sheets, _) = pieces(worksheets, 1)?;
        let sheet: Notebook<'_> = serde_json::from_str(sheets.first()?.get()).ok()?;
        notebook.cells = sheet.cells;
    }
    let (cells, count) = pieces(notebook.cells?, CELLS_MAX)?;
    let about = notebook.metadata.map(RawValue::get);
    let about: About = about
        .and_then(|about| serde_json::from_str(about).ok())
        .unwrap_or_default();
    let languages = [about.language_info.name, about.kernelspec.language];
    let is_language = |name: &Text| {
        name.0
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"+#-".contains(&b))
    };
    let language = languages.into_iter().find(|name| !name.0.is_empty());
    let mut writer = Writer {
        language: language.filter(is_language).unwrap_or_default().0,
        links: Links::new(url.clone()),
        work: work.clone(),
        markdown: String::new(),
        is_cut: count > cells.len(),
    };
    for cell in cells {
        work.look();
        if writer.markdown.len() > MARKDOWN_BYTES_MAX {
            writer.is_cut = true;
            break;
        }
        match serde_json::from_str(cell.get()) {
            Ok(cell) => writer.cell(&cell),
            Err(_) => writer.is_cut = true,
        }
    }
    let (headings, links) = plain::headings_and_links(&writer.markdown, url, work);
    let mut page = Page {
        metadata: Metadata {
            title: headings.first().map(|heading| heading.text.clone()),
            ..Metadata::default()
        },
        markdown: writer.markdown,
        headings,
        links,
        ..Page::default()
    };
    if writer.is_cut {
        page.warnings.push(Warning::Truncated);
    }
    Some(page)
}

struct Writer {
    language: String,
    links: Links,
    work: Work,
    markdown: String,
    is_cut: bool,
}

impl Writer {
    fn cell(&mut self, cell: &Cell<'_>) {
        match cell.cell_type.0.as_str() {
            "markdown" | "heading" => self.prose(&cell.source.0),
            "code" => {
                let sources = [&cell.source.0, &cell.input.0];
                let source = sources.into_iter().find(|source| !source.is_empty());
                let language = std::mem::take(&mut self.language);
                self.code(&language, source.map_or("", String::as_str));
                self.language = language;
                let outputs = cell.outputs.and_then(|it| pieces(it, OUTPUTS_MAX));
                let (outputs, count) = outputs.unwrap_or_default();
                self.is_cut |= count > outputs.len();
                for output in outputs {
                    match serde_json::from_str(output.get()) {
                        Ok(output) => self.output(&output),
                        Err(_) => self.is_cut = true,
                    }
                }
            }
            "raw" => self.code("", &cell.source.0),
            _ => {}
        }
    }

    /// What a cell printed, gave or failed with; pictures are left out.
    fn output(&mut self, output: &Output) {
        let texts = [&output.data.markdown, &output.text, &output.data.plain];
        let is_prose = !output.data.markdown.0.trim().is_empty();
        let error = || match output.ename.0.is_empty() {
            true => String::new(),
            false => format!("{}: {}", output.ename.0, output.evalue.0),
        };
        let shown = texts.into_iter().find(|text| !text.0.trim().is_empty());
        let shown = without_colours(&shown.map_or_else(error, |text| text.0.clone()));
        let end = shown.floor_char_boundary(OUTPUT_BYTES_MAX);
        self.is_cut |= end < shown.len();
        match is_prose {
            true => self.prose(&shown[..end]),
            false => self.code("", &shown[..end]),
        }
    }

    /// Markdown of others, which is cleaned by itself: what it leaves open ends with it.
    fn prose(&mut self, text: &str) {
        let mut clean = plain::clean(plain::normalised(text).trim(), &mut self.links, &self.work);
        plain::close_fence(&mut clean);
        self.push(clean.trim());
    }

    fn code(&mut self, language: &str, text: &str) {
        if !text.trim().is_empty() {
            let text = plain::normalised(text);
            self.push(fence(language, &text).trim_end());
        }
    }

    fn push(&mut self, block: &str) {
        if !block.is_empty() {
            self.markdown.push_str(block);
            self.markdown.push_str("\n\n");
        }
    }
}

/// Text without what a terminal takes as colours and movements: ESC, `[`, parameters and a letter (ECMA-48 5.4).
fn without_colours(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        out.push_str(before);
        let after = after.trim_start_matches(|c: char| matches!(c, ' '..='?'));
        rest = after
            .strip_prefix(|c: char| matches!(c, '@'..='~'))
            .unwrap_or(after);
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url() -> Url {
        Url::parse("https://example.org/a/b.ipynb").expect("a valid URL")
    }

    fn read(cells: &serde_json::Value) -> Page {
        let notebook = serde_json::json!({
            "metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "cells": cells,
        });
        notebook_page(&notebook.to_string(), &url(), &Work::default()).expect("a notebook")
    }

    #[test]
    fn cells_become_text_code_and_outputs() {
        let page = read(&serde_json::json!([
            {"cell_type": "markdown", "source": ["# Gates\n", "See [this](/x) and <script>no()</script>."]},
            {"cell_type": "code", "source": "print(1)", "outputs": [
                {"output_type": "stream", "text": ["1\n"]},
                {"output_type": "display_data", "data": {"image/png": "AAAA"}},
                {"output_type": "error", "ename": "KeyError", "evalue": "'a'"},
            ]},
            {"cell_type": "code", "source": "", "outputs": []},
        ]));
        assert_eq!(
            page.markdown.trim_end(),
            "# Gates\nSee [this](https://example.org/x) and .\n\n```python\nprint(1)\n```\n\n```\n1\n```\n\n```\nKeyError: 'a'\n```"
        );
        assert_eq!(page.metadata.title.as_deref(), Some("Gates"));
    }

    #[test]
    fn notebooks_of_version_3_are_read() {
        let notebook =
            r#"{"worksheets": [{"cells": [{"cell_type": "code", "input": "a", "outputs": []}]}]}"#;
        let page = notebook_page(notebook, &url(), &Work::default()).expect("a notebook");
        assert_eq!(page.markdown, "```\na\n```\n\n");
    }

    /// Each cell is cleaned alone: a fence in code must not end at another cell's fence, nor an open comment continue
    /// in the next cell.
    #[test]
    fn no_cell_changes_another() {
        let page = read(&serde_json::json!([
            {"cell_type": "markdown", "source": "a\n\n````\nopen\n```\n"},
            {"cell_type": "code", "source": "s = (\n```\n<b>kept</b> [x](/x)\n```\n)"},
            {"cell_type": "markdown", "source": "# B\n\nb <!-- open"},
            {"cell_type": "code", "source": "c", "outputs": [
                {"data": {"text/markdown": "~~~\nd", "text/plain": "x"}},
                {"text": "\u{1b}[1;31mred\u{1b}[0m \u{1b}[38;5;12mblue\u{1b}[K \u{1b}x \u{1b}["},
            ]},
            {"cell_type": "markdown", "source": "# E [e](/e)"},
        ]));
        assert_eq!(
            page.markdown.trim_end(),
            "a\n\n````\nopen\n```\n````\n\n````python\ns = (\n```\n<b>kept</b> [x](/x)\n```\n)\n````\n\n# B\n\nb\n\n\
             ```python\nc\n```\n\n~~~\nd\n~~~\n\n```\nred blue x\n```\n\n# E [e](https://example.org/e)"
        );
        let headings: Vec<&str> = page.headings.iter().map(|it| it.text.as_str()).collect();
        assert_eq!(headings.len(), 2, "{headings:?}");
        assert_eq!(page.links.len(), 1);
    }

    #[test]
    fn other_json_is_none_and_outputs_are_bounded() {
        assert!(notebook_page("{\"a\": 1}", &url(), &Work::default()).is_none());
        assert!(notebook_page("[", &url(), &Work::default()).is_none());
        assert!(notebook_page("{\"cells\": 1}", &url(), &Work::default()).is_none());
        let long = "x".repeat(2 * OUTPUT_BYTES_MAX);
        let page = read(
            &serde_json::json!([{"cell_type": "code", "source": "a", "outputs": [{"text": long}]}]),
        );
        assert!(page.markdown.len() < OUTPUT_BYTES_MAX + 100);
        assert_eq!(page.warnings, [Warning::Truncated]);
    }

    /// Small values took eighty times their text when all of them were read.
    #[test]
    fn what_is_not_shown_is_not_read() {
        let maps = format!("[{}{{}}]", "{\"a\":0},".repeat(100_000));
        let odd = format!(r#"{{"cells": {maps}, "metadata": {maps}, "x": {maps}}}"#);
        let read = notebook_page(&odd, &url(), &Work::default()).expect("a notebook");
        assert_eq!(
            (read.markdown.as_str(), &read.warnings[..]),
            ("", &[Warning::Truncated][..])
        );
        // What has another type than it should is empty, and does not take the rest along.
        let cell = format!(
            r#"{{"cell_type": "code", "source": {maps}, "input": "a", "outputs": [{{"data": {maps}}}, {{"text": ["b", 1, null]}}], "metadata": {maps}}}"#
        );
        let read = notebook_page(
            &format!(r#"{{"cells": [{cell}]}}"#),
            &url(),
            &Work::default(),
        )
        .expect("a notebook");
        assert_eq!(read.markdown, "```\na\n```\n\n```\nb\n```\n\n");
        assert_eq!(read.warnings, [Warning::Truncated]);
    }
}
