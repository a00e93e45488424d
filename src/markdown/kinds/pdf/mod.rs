//! PDF as markdown. The text is found by running each page's content; paragraphs, headings and lists are rebuilt from
//! where it stands. Pages after the first begin with a rule and `**Page 2**`, so that a reader can cite them.
//!
//! A file costs what it is worth and no more: pages, depth, objects, decoded bytes and the text itself are bounded,
//! and a file that meets a bound gives what came before with a warning. Nothing here reads a clock, follows a link,
//! runs a script or asks for a password.
//!
//! # Why not a library
//! hayro-syntax and hayro-interpret 0.9 were tried on the files of our tests and on seven manuals and papers (600 pages,
//! by TeX, DocBook and others), in November 2026. They would replace the lexer, the file, its filters and fonts (2,300
//! of these 4,000 lines); lines, layout and metadata would stay, because they give glyphs with positions: no spaces, no
//! links.
//!
//! * They give the same letters but for one thing: an embedded Type 1 font that has an encoding of its own, as TeX's
//!   symbols and mathematics, is read right, where ours shows other letters or none (500 of 35,000 in a paper, © twice
//!   in a manual).
//! * They cost 14 crates and about 5 MB of program (images and colours come along), and have no bounds: a device cannot
//!   stop a page. The 16 kB file of `bombs_are_bounded` was not read after 100 seconds; our bounds end it.
//!
//! So ours stays, until a page can be stopped there. What it lacks is the encoding inside of a Type 1 font.

mod cmap;
mod content;
mod file;
mod filters;
mod font;
mod info;
mod layout;
mod lexer;
mod lines;
mod memory;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use url::Url;

use crate::domain::words;

use super::super::inline::Writer;
use super::super::render::push_escaped_line;
use super::super::work::{Work, within_time};
use super::super::{ConvertError, Heading, LINKS_MAX, Link, Page, Settings, THIN_WORDS, Warning};
use super::fence;
use content::{Fonts, Sheet};
use file::File;
use layout::Paragraph;
use lexer::{Dict, Object};
use lines::Line;
use memory::Content;

/// Pages that are read. Long before it memory or the markdown may be full.
const PAGES_MAX: usize = 10_000;
/// Content of one page; what is behind it is left out.
const PAGE_CONTENT_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Nodes of the page tree that are looked at.
const NODES_MAX: usize = 20_000;
/// Parents that a page may have its resources from.
const PARENTS_MAX: usize = 32;
/// Memory of a line, and later of its paragraph, beside its text.
const LINE_BYTES: usize = 128;
/// The markdown, which is no larger for any other kind.
const MARKDOWN_BYTES_MAX: usize = 10 * 1024 * 1024;
/// Fewer letters than this are no text of a page, but a stamp on a scan.
const LETTERS_MIN: usize = 8;
/// Longer addresses are no links.
const ADDRESS_BYTES_MAX: usize = 2048;

pub(super) fn page(bytes: &[u8], settings: &Settings, work: &Work) -> Result<Page, ConvertError> {
    // The formats inside are many and hostile files are common: should a bound be missing somewhere, then one file
    // fails and not the request that asked for it.
    let reading = || within_time(|| read(bytes, settings, work))?;
    catch_unwind(AssertUnwindSafe(reading)).unwrap_or(Err(ConvertError::DamagedPdf))
}

fn read(bytes: &[u8], settings: &Settings, work: &Work) -> Result<Page, ConvertError> {
    let file = File::open(bytes, work);
    if file.is_encrypted {
        return Err(ConvertError::EncryptedPdf);
    }
    if file.is_bomb() {
        return Err(ConvertError::TooComplex);
    }
    let catalog = file.dict(file.root.as_ref());
    let catalog = catalog.ok_or(ConvertError::DamagedPdf)?;
    let (leaves, mut is_cut) = leaves(&file, &catalog);
    if leaves.is_empty() {
        return Err(ConvertError::DamagedPdf);
    }
    // First, because it costs little and what follows may spend all.
    let metadata = info::metadata(&file, &catalog);
    let mut fonts = Fonts::default();
    let mut addresses = HashSet::new();
    let (mut pages, mut links) = (Vec::new(), Vec::new());
    let (mut unknown, mut letters, mut bytes) = (0, 0, 0);
    for leaf in &leaves {
        work.look();
        let Some(look) = file.look(leaf) else { break };
        let Some(leaf) = look.dict() else { break };
        let content = content::read(
            &file,
            &mut fonts,
            &resources(&file, leaf),
            text_of(&file, leaf).as_deref().unwrap_or_default(),
            sheet(&file, leaf),
        );
        is_cut |= content.lines.is_full();
        let lines = content.lines.finish();
        let size = |line: &Line| LINE_BYTES + line.text.len();
        if file.keep(lines.iter().map(size).sum()).is_none() {
            break;
        }
        unknown += content.unknown;
        for line in &lines {
            bytes += line.text.len();
            letters += line.text.chars().filter(|c| !c.is_whitespace()).count();
        }
        pages.push(lines);
        collect_links(&file, leaf, &settings.url, &mut addresses, &mut links);
        if bytes > MARKDOWN_BYTES_MAX / 2 {
            break;
        }
    }
    is_cut |= file.is_cut() || pages.len() < leaves.len();
    if file.is_bomb() {
        return Err(ConvertError::TooComplex);
    }
    if unknown > letters {
        return Err(ConvertError::UnmappedPdf);
    }
    if letters < LETTERS_MIN {
        return Err(ConvertError::ScannedPdf);
    }
    work.look();
    let paragraphs = layout::paragraphs(pages);
    work.look();
    let mut page = write_page(paragraphs);
    work.look();
    page.metadata = metadata;
    if page.metadata.title.is_none() {
        page.metadata.title = page.headings.first().map(|heading| heading.text.clone());
    }
    page.links = links;
    if page.markdown.len() > MARKDOWN_BYTES_MAX {
        return Err(ConvertError::OutOfMemory);
    }
    if is_cut {
        page.warnings.push(Warning::Truncated);
    }
    Ok(page)
}

/// The pages in order, and whether there are more than are read. A node that is its own descendant is
/// visited once.
fn leaves(file: &File<'_>, catalog: &Dict) -> (Vec<Object>, bool) {
    let mut waiting: Vec<Object> = catalog
        .get(b"Pages".as_slice())
        .cloned()
        .into_iter()
        .collect();
    let mut seen = HashSet::new();
    let mut leaves = Vec::new();
    let mut nodes = 0;
    while let Some(node) = waiting.pop() {
        nodes += 1;
        if nodes > NODES_MAX || leaves.len() >= PAGES_MAX {
            return (leaves, true);
        }
        if let Object::Reference(number) = node
            && !seen.insert(number)
        {
            continue;
        }
        let Some(look) = file.look(&node) else {
            continue;
        };
        let Some(dict) = look.dict() else {
            continue;
        };
        match dict
            .get(b"Kids".as_slice())
            .and_then(|kids| file.look(kids))
        {
            Some(kids) if kids.array().is_some() => {
                // Its kids may stand in it, and pages have their resources from it.
                drop(look);
                let dict = file.dict(Some(&node)).unwrap_or_default();
                let kids = file.array(dict.get(b"Kids".as_slice())).unwrap_or_default();
                let _ = file.spend(kids.len() * 16);
                waiting.extend(kids.iter().take(NODES_MAX).rev().cloned());
                // No more of them will be looked at.
                let excess = waiting.len().saturating_sub(NODES_MAX);
                waiting.drain(..excess);
            }
            _ => leaves.push(node),
        }
    }
    (leaves, false)
}

/// The page's own resources or those of a node above it.
fn resources(file: &File<'_>, leaf: &Rc<Dict>) -> Rc<Dict> {
    inherited(file, leaf, |node| {
        file.dict(node.get(b"Resources".as_slice()))
    })
    .unwrap_or_default()
}

fn sheet(file: &File<'_>, leaf: &Rc<Dict>) -> Option<Sheet> {
    let corners = inherited(file, leaf, |node| {
        file.array(node.get(b"MediaBox".as_slice()))
    })?;
    // A corner may stand elsewhere in the file.
    let corners: Vec<Object> = corners.iter().take(4).map(|it| file.resolve(it)).collect();
    Sheet::of(&corners)
}

/// What a page or the nearest node above it has.
fn inherited<T>(file: &File<'_>, leaf: &Rc<Dict>, asked: impl Fn(&Dict) -> Option<T>) -> Option<T> {
    let mut node = leaf.clone();
    for _ in 0..PARENTS_MAX {
        if let Some(found) = asked(&node) {
            return Some(found);
        }
        node = file.dict(node.get(b"Parent".as_slice()))?;
    }
    None
}

/// The page's content; several streams are one (ISO 32000-2, 7.7.3.3).
fn text_of(file: &File<'_>, leaf: &Dict) -> Option<Content> {
    let contents = leaf.get(b"Contents".as_slice())?;
    if let Some(content) = file.stream_once(contents) {
        return Some(content);
    }
    let mut whole = file.content(Vec::new())?;
    let parts = file.look(contents);
    for part in parts.iter().flat_map(|parts| parts.array()).flatten() {
        if file.spend(1).is_none() || whole.len() > PAGE_CONTENT_BYTES_MAX {
            file.cut();
            break;
        }
        if let Some(content) = file.stream_once(part) {
            // They may be cut anywhere between two words.
            let is_added = whole.extend(&content).and_then(|()| whole.extend(b"\n"));
            if is_added.is_none() {
                file.cut();
                break;
            }
        }
    }
    Some(whole)
}

/// Where the page's annotations lead.
fn collect_links(
    file: &File<'_>,
    leaf: &Dict,
    base: &Url,
    addresses: &mut HashSet<String>,
    links: &mut Vec<Link>,
) {
    let annotations = leaf.get(b"Annots".as_slice());
    let annotations = annotations.and_then(|list| file.look(list));
    for annotation in annotations.iter().flat_map(|list| list.array()).flatten() {
        if links.len() >= LINKS_MAX || file.spend(64).is_none() {
            return;
        }
        let annotation = file.look(annotation);
        let action = annotation.as_ref().and_then(|annotation| {
            let action = annotation.dict()?.get(b"A".as_slice())?;
            file.look(action)
        });
        let address = action
            .as_ref()
            .and_then(|action| file.member(action.dict()?, "URI"));
        let Some(Object::Text(address)) = address else {
            continue;
        };
        // It is decoded, joined and compared.
        if address.len() > ADDRESS_BYTES_MAX || file.spend(4 * address.len()).is_none() {
            continue;
        }
        let Ok(url) = base.join(info::text(&address).trim()) else {
            continue;
        };
        let url = String::from(url);
        if url.starts_with("http")
            && url.len() <= ADDRESS_BYTES_MAX
            && addresses.insert(url.clone())
        {
            links.push(Link {
                text: url.clone(),
                url,
                rel: String::new(),
            });
        }
    }
}

fn write_page(pages: Vec<Vec<Paragraph>>) -> Page {
    let mut page = Page::default();
    let mut words = 0;
    let mut was_item = false;
    for (at, paragraphs) in pages.into_iter().enumerate() {
        if at > 0 && !paragraphs.is_empty() {
            if !page.markdown.is_empty() {
                page.markdown.push_str("\n---\n\n");
            }
            page.markdown.push_str(&format!("**Page {}**\n", at + 1));
            was_item = false;
        }
        for paragraph in paragraphs {
            let is_tight = was_item && paragraph.is_item;
            if !(page.markdown.is_empty() || is_tight) {
                page.markdown.push('\n');
            }
            was_item = paragraph.is_item;
            words += words::count(&paragraph.text) as u64;
            push_paragraph(&mut page, &paragraph);
        }
    }
    if words < THIN_WORDS {
        page.warnings.push(Warning::ThinContent);
    }
    page
}

fn push_paragraph(page: &mut Page, paragraph: &Paragraph) {
    if paragraph.is_code {
        page.markdown.push_str(&fence("", &paragraph.text));
        return;
    }
    let mut writer = Writer::default();
    writer.text(&paragraph.text);
    if paragraph.level > 0 {
        for _ in 0..paragraph.level {
            page.markdown.push('#');
        }
        page.markdown.push(' ');
        page.markdown.push_str(&writer.text);
        page.headings.push(Heading {
            level: paragraph.level,
            text: paragraph.text.clone(),
        });
    } else if paragraph.is_item {
        page.markdown.push_str("- ");
        page.markdown.push_str(&writer.text);
    } else {
        push_escaped_line(&mut page.markdown, &writer.text);
    }
    page.markdown.push('\n');
}
