//! From what was read of an HTML page to the page: which of its blocks are kept, in which order what is judged, written
//! and let go.

use std::collections::HashSet;
use std::sync::Arc;

use super::builder::Builder;
use super::injection::{Unshown, is_suspected};
use super::metadata::without_domain;
use super::outline::{Block, Kind, Outline};
use super::page::{ContentSource, ConvertError, Heading, Link, Page};
use super::panels::name_panels;
use super::properties::add_properties;
use super::render::render;
use super::select::Selected;
use super::select::model::Model;
use super::selector::{Selector, kept_words, unspaced};
use super::tag::Tag;
use super::title::begin_with_title;
use super::walls::{self, Evidence};
use super::warnings::{self, Warning};
use super::{LINKS_MAX, Settings, THIN_WORDS, fallback};

/// Buttons of a page that are looked at; a wall has a few.
const BUTTONS_MAX: usize = 100;

/// Below this expected F1 the buyer is warned: pages so judged are right by less than two thirds.
const CONFIDENCE_LOW: f32 = 0.6;

/// `may_look_elsewhere`: whether text from other places stands in for a page that has hardly any.
pub(super) fn html_page(
    builder: Builder,
    settings: &Settings,
    model: &Arc<Model>,
    include_comments: bool,
    may_look_elsewhere: bool,
) -> Result<Page, ConvertError> {
    let (mut own, collected, links) = builder.finish();
    let work = own.work.clone();
    work.look();
    let selector = Selector {
        full: settings.full,
        hints: &collected.hints(&settings.url),
        model,
        include_comments,
        work: &work,
    };
    let Selected {
        blocks: mut own_kept,
        confidence,
        voices,
    } = selector.select(&own);
    let own_words = kept_words(&own, &own_kept);
    let mut found = match may_look_elsewhere {
        true => fallback::find(&collected, &links, &selector, own_words)?,
        false => None,
    };
    match &mut found {
        Some(found) => name_panels(&mut found.outline, &mut found.kept),
        None => name_panels(&mut own, &mut own_kept),
    }
    if !settings.full && (own_words > 0 || found.is_some()) {
        let (title, site) = (collected.headline(), collected.site_name());
        let title = title
            .as_deref()
            .map(|title| without_domain(title, &settings.url));
        let (outline, kept, voices) = match &mut found {
            Some(found) => (&mut found.outline, &mut found.kept, found.voices.take()),
            None => (&mut own, &mut own_kept, voices),
        };
        begin_with_title(outline, kept, title, site.as_deref());
        if let Some(voices) = voices {
            voices.write(outline, kept);
        }
        add_properties(outline, kept, &collected.json_ld.properties);
    }
    let (source, outline, kept, words) = match &found {
        Some(found) => (found.source, &found.outline, &found.kept, found.words),
        None => (ContentSource::Page, &own, &own_kept, own_words),
    };
    let title = collected.title();
    let buttons = buttons(&own);
    let mut evidence = Evidence {
        title: title.as_deref(),
        markdown: "",
        buttons: &buttons,
        password_fields: collected.password_fields,
        scripts: &collected.scripts.sample,
        is_item: collected.is_item(),
    };
    if words == 0 {
        return Err(walls::found(&evidence).map_or(ConvertError::Empty, ConvertError::Walled));
    }
    work.look();
    let headings = kept_headings(outline, kept);
    let first_heading = headings.first().map(|heading| heading.text.as_str());
    let mut warnings = warnings::of_page(&warnings::Facts {
        words: match words < THIN_WORDS {
            true => words + unspaced(outline, kept) / 2,
            false => words,
        },
        own_words,
        source,
        collected: &collected,
        outline: &own,
        first_heading,
    });
    work.look();
    let unshown = Unshown {
        description: &collected.description().unwrap_or_default(),
        hidden: &collected.hidden,
        comments: &collected.comments,
    };
    let is_injected = |outline: &Outline| is_suspected(outline, &unshown);
    if is_injected(&own) || (found.is_some() && is_injected(outline)) {
        warnings.push(Warning::PromptInjectionSuspected);
    }
    // What stands in another place than the markup is taken as it is there.
    let confidence = (!settings.full && found.is_none()).then_some(confidence);
    // Too little text and walls have warnings of their own.
    let is_plain = warnings
        .iter()
        .all(|warning| *warning == Warning::Truncated);
    if is_plain && confidence.is_some_and(|confidence| confidence < CONFIDENCE_LOW) {
        warnings.push(Warning::LowConfidence);
    }
    work.look();
    let mut page = Page {
        metadata: collected.decide(&links, &own, &settings.url, &headings),
        source,
        confidence,
        meta_robots: collected.robots(),
        links: kept_links(outline, kept),
        headings,
        warnings,
        ..Page::default()
    };
    // The document is written last, without what it does not need: never is more memory held than now.
    let (outline, kept) = match &mut found {
        Some(found) => (&mut found.outline, &found.kept),
        None => (&mut own, &own_kept),
    };
    outline.links = Vec::new();
    work.look();
    let rendered = render(outline, kept).map_err(|_| ConvertError::OutOfMemory)?;
    page.markdown = rendered.markdown;
    page.passages = rendered.passages;
    work.look();
    evidence.markdown = &page.markdown;
    evidence.title = page.metadata.title.as_deref();
    page.wall = walls::found(&evidence);
    Ok(page)
}

/// The texts of the page's buttons.
fn buttons(outline: &Outline) -> Vec<String> {
    let is_button = |block: &&Block| outline.nodes[block.node as usize].tag == Tag::Button;
    let blocks = outline.blocks.iter().filter(is_button).take(BUTTONS_MAX);
    blocks
        .map(|block| outline.markdown(block).to_owned())
        .collect()
}

fn kept_headings(outline: &Outline, kept: &[usize]) -> Vec<Heading> {
    let blocks = kept.iter().map(|&block| &outline.blocks[block]);
    let headings = blocks.filter_map(|block| match block.kind {
        Kind::Heading(level, plain) => Some(Heading {
            level,
            text: outline.label(plain).to_owned(),
        }),
        _ => None,
    });
    headings
        .filter(|heading| !heading.text.is_empty())
        .collect()
}

fn kept_links(outline: &Outline, kept: &[usize]) -> Vec<Link> {
    let mut is_kept = vec![false; outline.blocks.len()];
    for &block in kept {
        is_kept[block] = true;
    }
    let mut seen = HashSet::new();
    let mut links = Vec::new();
    for link in &outline.links {
        let url = &outline.text[link.url.range()];
        if links.len() < LINKS_MAX
            && is_kept[link.block as usize]
            && url.starts_with("http")
            && seen.insert(url)
        {
            links.push(Link {
                text: outline.label(link.text).to_owned(),
                url: url.to_owned(),
                rel: outline.label(link.rel).to_owned(),
            });
        }
    }
    links
}
