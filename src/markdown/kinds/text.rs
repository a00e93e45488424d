//! Markdown and plain text, of which nearly all stays as it is.

use url::Url;

use super::super::links::Links;
use super::super::work::Work;
use super::super::{Metadata, Page, plain, wall_of_markdown};

pub(super) fn markdown(text: &str, url: &Url, work: &Work) -> Page {
    let markdown = plain::clean(text, &mut Links::new(url.clone()), work);
    let (headings, links) = plain::headings_and_links(&markdown, url, work);
    let title = headings.first().map(|heading| heading.text.clone());
    Page {
        wall: wall_of_markdown(title.as_deref(), &markdown),
        metadata: Metadata {
            title,
            ..Metadata::default()
        },
        markdown,
        links,
        headings,
        ..Page::default()
    }
}

pub(super) fn plain(text: &str, _: &Url, work: &Work) -> Page {
    let markdown = plain::as_markdown(text, work);
    Page {
        wall: wall_of_markdown(None, &markdown),
        markdown,
        ..Page::default()
    }
}
