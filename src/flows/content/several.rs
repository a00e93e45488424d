//! Reads several sources for one purchase, a few at a time and within a deadline.

use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::app::Shared;
use crate::domain::cache::Reading;
use crate::domain::code::Code;
use crate::domain::excerpt::Extent;
use crate::domain::level::LineItem;
use crate::domain::limit_reached::LimitReached;
use crate::domain::purchase::SourceInput;
use crate::domain::refusal::{Refusal, SourcesUnread, UnreadSource, With};
use crate::domain::time::UnixSeconds;
use crate::flows::content::MEMORY_WAIT_MAX;
use crate::flows::content::reports::{self, Retained};
use crate::flows::content::source::{self, Reader, STORING_FACTOR, SourcePage, Trouble};
use crate::flows::internal;
use crate::state::page::text_page;

/// The work on several sources ends after this long. Offers are valid for 300 seconds, so the payment still is when it
/// is settled.
pub const WORK_MAX: Duration = Duration::from_secs(90);

/// Sources of one purchase that are read at once.
const AT_ONCE: usize = 4;

/// Reasons that a message names; all of them are in its list.
const REASONS_MAX: usize = 3;

/// A source, and what was made of it.
#[derive(Debug)]
pub struct ReadSource<T> {
    /// As answers name it.
    pub name: String,
    pub source: SourceInput,
    pub read_at: UnixSeconds,
    pub outcome: Result<(SourcePage, T), Trouble>,
}

impl<T> ReadSource<T> {
    /// Why it could not be read.
    pub fn unread(&self) -> Option<UnreadSource> {
        let refusal = self.outcome.as_ref().err()?.refusal();
        Some(UnreadSource {
            source: self.name.clone(),
            code: refusal.code,
            message: refusal.message.clone(),
        })
    }
}

/// What the sources of one purchase may take together, as JSON: they stay in memory until its answer is stored.
const SOURCES_BYTES_MAX: usize = 4 * 1024 * 1024;

/// How much of that is taken.
#[derive(Clone, Debug)]
pub struct Room {
    taken: Arc<AtomicUsize>,
    /// What a buyer can do whose source does not fit.
    advice: &'static str,
}

impl Room {
    pub fn of_pages() -> Room {
        Room::new("Buy it by itself, or a part of each page, with max_tokens.")
    }

    pub fn of_check() -> Room {
        Room::new("Leave it out, or send the passage of it that matters as a text of your own.")
    }

    fn new(advice: &'static str) -> Room {
        Room {
            taken: Arc::default(),
            advice,
        }
    }

    /// Takes what is held of a source. Where only the part of it that is sold fits, the page itself is let go.
    ///
    /// # Errors
    /// There is no room left for it. Others may still fit.
    pub fn take(&self, source: &mut SourcePage) -> Result<(), Trouble> {
        if self.fits(source.held_bytes()) {
            return Ok(());
        }
        source.keep_only_part();
        match self.fits(source.held_bytes()) {
            true => Ok(()),
            false => Err(Trouble::Refused(Refusal::new(
                Code::ContentTooLarge,
                format!(
                    "With this source, all of them together would be longer than 4 MiB. {}",
                    self.advice
                ),
            ))),
        }
    }

    fn fits(&self, bytes: usize) -> bool {
        let add = |taken: usize| Some(taken + bytes).filter(|taken| *taken <= SOURCES_BYTES_MAX);
        let added = (self.taken).fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
        added.is_ok()
    }
}

/// Reads every source and makes something of each, in the order of the purchase.
pub async fn read_all<T, F, Made>(
    app: &Shared,
    sources: &[SourceInput],
    (reading, extent): (Reading, &Extent),
    reader: &Reader,
    make: F,
) -> Vec<ReadSource<T>>
where
    T: Send + 'static,
    F: Fn(Shared, String, SourcePage) -> Made + Clone + Send + Sync + 'static,
    Made: Future<Output = Result<(SourcePage, T), Trouble>> + Send,
{
    let (end, places) = (Instant::now() + WORK_MAX, Arc::new(Semaphore::new(AT_ONCE)));
    let mut reads = JoinSet::new();
    let mut positions = HashMap::with_capacity(sources.len());
    for (position, source) in sources.iter().cloned().enumerate() {
        let (app, reader, make) = (app.clone(), reader.clone(), make.clone());
        let (places, extent) = (places.clone(), extent.clone());
        let task = reads.spawn(async move {
            let name = source.name();
            let work = async {
                // The semaphore is never closed.
                let _place = places.acquire_owned().await;
                let page = one(&app, &source, (reading, &extent), &reader).await?;
                let (mut page, made) = make(app.clone(), name.clone(), page).await?;
                page.permit.pause();
                Ok((page, made))
            };
            let outcome = tokio::time::timeout_at(end, work).await;
            let outcome = outcome.unwrap_or_else(|_| Err(Trouble::Outage(too_late())));
            let read_at = app.now();
            ReadSource {
                name,
                source,
                read_at,
                outcome,
            }
        });
        positions.insert(task.id(), position);
    }
    let mut read: Vec<(usize, ReadSource<T>)> = Vec::with_capacity(sources.len());
    while let Some(done) = reads.join_next_with_id().await {
        let (task, done) = match done {
            Ok((task, done)) => (task, Ok(done)),
            Err(error) => (error.id(), Err(error)),
        };
        // Every task was noted when it was spawned.
        let position = positions.get(&task).copied().unwrap_or_default();
        let done = done.unwrap_or_else(|error| {
            let source = sources[position].clone();
            ReadSource {
                name: source.name(),
                source,
                read_at: app.now(),
                outcome: Err(Trouble::Refused(internal(
                    "reading a source panicked",
                    &error,
                ))),
            }
        });
        read.push((position, done));
    }
    read.sort_by_key(|(position, _)| *position);
    read.into_iter().map(|(_, source)| source).collect()
}

fn too_late() -> Refusal {
    let seconds = WORK_MAX.as_secs();
    let message = format!("The source was not read within the {seconds} seconds for all of them.");
    Refusal::new(Code::UpstreamUnavailable, message)
}

async fn one(
    app: &Shared,
    source: &SourceInput,
    how: (Reading, &Extent),
    reader: &Reader,
) -> Result<SourcePage, Trouble> {
    match source {
        SourceInput::Page(target_url) => source::read_extent(app, target_url, how, reader).await,
        SourceInput::Text { title, text } => {
            of_text(app, &source.name(), title.as_deref(), text, reader).await
        }
        SourceInput::Report(id) => {
            let found = reports::find(app, id).await.map_err(Trouble::Refused)?;
            reports::only_one_source(&found).map_err(Trouble::Refused)?;
            let (name, title) = match &found {
                Retained::Sample => (app.sample.url.clone(), None),
                Retained::Stored { record, .. } => {
                    (record.target_url.clone(), record.title.clone())
                }
            };
            let bytes = reports::source_text(app, &found)
                .await
                .map_err(Trouble::Refused)?;
            let text = String::from_utf8(bytes).map_err(|error| {
                Trouble::Refused(internal("a retained source is not text", &error))
            })?;
            of_text(app, &name, title.as_deref(), &text, reader).await
        }
    }
}

/// A text as a page that was not fetched. It does not enter the cache.
async fn of_text(
    app: &Shared,
    name: &str,
    title: Option<&str>,
    text: &str,
    reader: &Reader,
) -> Result<SourcePage, Trouble> {
    let mut permit = reader.memory.nothing();
    let permitted = permit
        .resized(text.len().saturating_mul(STORING_FACTOR), MEMORY_WAIT_MAX)
        .await;
    permitted.map_err(|LimitReached| {
        let message = "Too many sources are being read. Try again in a few seconds.";
        Trouble::Outage(Refusal::new(Code::Overloaded, message))
    })?;
    let page = text_page(name, title, text, app.now())
        .map_err(|error| Trouble::Refused(internal("a text could not be read", &error)))?;
    if page.tokens == 0 {
        let refusal = Refusal::new(Code::NothingReadable, "The text has nothing to read.");
        return Err(Trouble::Refused(refusal));
    }
    Ok(SourcePage::unfetched(page, permit, app.now()))
}

/// Refuses a purchase of which too little could be read. It is uncharged; where an outage is to blame, the payment earns
/// a retry credit. `instead` says what would buy the readable sources alone.
pub fn enough<T>(
    read: &[ReadSource<T>],
    needed: usize,
    instead: impl Fn(usize) -> Option<LineItem>,
) -> Result<(), Trouble> {
    let readable = read.iter().filter(|source| source.outcome.is_ok());
    let readable: Vec<String> = readable.map(|source| source.name.clone()).collect();
    if readable.len() >= needed {
        return Ok(());
    }
    // One source alone is refused in its own words.
    if let [
        ReadSource {
            outcome: Err(trouble),
            ..
        },
    ] = read
    {
        return Err(trouble.clone());
    }
    let is_out = |source: &&ReadSource<T>| matches!(source.outcome, Err(Trouble::Outage(_)));
    let may_come_back = readable.len() + read.iter().filter(is_out).count() >= needed;
    let unread: Vec<UnreadSource> = read.iter().filter_map(ReadSource::unread).collect();
    let reasons = unread.iter().take(REASONS_MAX);
    let reasons: Vec<String> = reasons
        .map(|unread| format!("{}: {}", unread.source, unread.message))
        .collect();
    let message = format!(
        "{} of {} sources could be read, and {needed} are needed; nothing was charged. {}",
        readable.len(),
        read.len(),
        reasons.join(" ")
    );
    let with = With::Sources(Box::new(SourcesUnread {
        instead: instead(readable.len()),
        unread,
        readable,
    }));
    Err(match may_come_back {
        true => Trouble::Outage(Refusal::new(Code::UpstreamUnavailable, message).with(with)),
        false => Trouble::Refused(Refusal::new(Code::SourcesUnread, message).with(with)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outside::memory::Memory;
    use crate::state::page::PageGoods;

    fn source(bytes: usize) -> SourcePage {
        let page = PageGoods {
            blob: [0; 32],
            members: Arc::new(vec![b'a'; bytes]),
            content_sha256: String::new(),
            tokens: 1,
        };
        SourcePage::unfetched(page, Memory::new(0).nothing(), UnixSeconds(0))
    }

    #[test]
    fn a_source_that_does_not_fit_takes_no_room() {
        let room = Room::of_pages();
        let mut half = source(SOURCES_BYTES_MAX / 2);
        assert_eq!(room.take(&mut half), Ok(()));
        assert!(room.take(&mut source(SOURCES_BYTES_MAX)).is_err());
        assert_eq!(room.take(&mut source(1_000)), Ok(()));
        assert!(room.take(&mut half).is_err());
        assert_eq!(room.take(&mut source(1_000)), Ok(()));
    }

    #[test]
    fn a_page_is_let_go_where_only_its_part_fits() {
        let room = Room::of_pages();
        for _ in 0..3 {
            let mut large = source(SOURCES_BYTES_MAX);
            large.sold = Some(source(1_000).page);
            assert_eq!(room.take(&mut large), Ok(()));
            assert!(large.held_bytes() < 10_000);
        }
        let mut small = source(2_000);
        small.sold = Some(source(1_000).page);
        assert_eq!(room.take(&mut small), Ok(()));
        assert!(small.sold.is_some(), "it fits, and can be cached");
    }
}
