//! The markdown of constant pages, each made once.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher as _};
use std::sync::{Arc, Mutex};

use tokio::sync::OnceCell;

use crate::sync::lock;

/// A page as markdown.
#[derive(Clone, Debug)]
pub struct Markdown {
    pub text: Arc<[u8]>,
    pub tokens: u64,
}

/// The markdown of constant pages by the pattern of their row, so that there are never more than rows.
#[derive(Debug, Default)]
pub struct Alternates(Mutex<HashMap<&'static str, Made>>);

/// The hash of a page, and the markdown that is made from it.
#[derive(Debug)]
struct Made {
    html: u64,
    markdown: Arc<OnceCell<Markdown>>,
}

impl Alternates {
    /// The place for a page's markdown; another one once the page has changed.
    pub fn of(&self, pattern: &'static str, html: &[u8]) -> Arc<OnceCell<Markdown>> {
        // The pages are ours, so nobody aims at a hash.
        let mut hasher = DefaultHasher::new();
        hasher.write(html);
        let html = hasher.finish();
        let fresh = || Made {
            html,
            markdown: Arc::default(),
        };
        let mut pages = lock(&self.0);
        let made = pages.entry(pattern).or_insert_with(fresh);
        if made.html != html {
            *made = fresh();
        }
        made.markdown.clone()
    }
}
