//! The markdown of constant pages, each made once.

use std::collections::HashMap;
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
pub struct Alternates(Mutex<HashMap<&'static str, Arc<OnceCell<Markdown>>>>);

impl Alternates {
    pub fn of(&self, pattern: &'static str) -> Arc<OnceCell<Markdown>> {
        let mut pages = lock(&self.0);
        pages.entry(pattern).or_default().clone()
    }
}
