//! The store's own threads: one writer with group commit, a few readers.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use redb::{Database, ReadableDatabase, WriteTransaction};
use tokio::sync::{mpsc, oneshot, watch};

use crate::store::disk_space::{Allowed, DiskSpace};
use crate::store::handle::Handle;
use crate::store::tables::{Snapshot, Tables};
use crate::store::{Settings, StoreError};
use crate::sync::lock;

/// Jobs that may wait; one more is `Busy`.
pub(in crate::store) const QUEUE_MAX: usize = 1024;
/// Most jobs in one commit. Large enough that a commit's two syncs are shared, small enough that nobody waits long.
const BATCH_MAX: usize = 256;
const READERS: usize = 2;
const READ_PANICKED: &str = "a read of the store panicked";

/// A job runs inside the transaction and gives back what answers its caller once the commit's outcome is known.
type Answer = Box<dyn FnOnce(Result<(), StoreError>) + Send>;
type WriteJob = Box<dyn FnOnce(&mut Tables<'_>) -> Result<Answer, StoreError> + Send>;
type ReadJob = Box<dyn FnOnce(Result<Snapshot, StoreError>) + Send>;

pub(in crate::store) struct Threads {
    database: Handle,
    writer: Mutex<Option<mpsc::Sender<WriteJob>>>,
    readers: Mutex<Option<mpsc::Sender<ReadJob>>>,
    failed: watch::Receiver<bool>,
    handles: Mutex<Vec<JoinHandle<()>>>,
}

impl Threads {
    pub(in crate::store) fn start(
        database: &Handle,
        settings: Settings,
        room: &Arc<DiskSpace>,
    ) -> std::io::Result<Self> {
        let (writer, write_jobs) = mpsc::channel(QUEUE_MAX);
        let (readers, read_jobs) = mpsc::channel(QUEUE_MAX);
        let (report_failure, failed) = watch::channel(false);
        let mut handles = Vec::with_capacity(READERS + 1);
        let (for_writer, room) = (database.clone(), room.clone());
        let spawn = |name: &str| std::thread::Builder::new().name(name.to_owned());
        handles.push(spawn("store-writer").spawn(move || {
            let allowed = || room.allowed(&settings);
            write_loop(&for_writer, allowed, write_jobs, &report_failure);
        })?);
        let read_jobs = Arc::new(Mutex::new(read_jobs));
        for _ in 0..READERS {
            let (database, jobs) = (database.clone(), read_jobs.clone());
            handles.push(spawn("store-reader").spawn(move || read_loop(&database, &jobs))?);
        }
        Ok(Threads {
            database: database.clone(),
            writer: Mutex::new(Some(writer)),
            readers: Mutex::new(Some(readers)),
            failed,
            handles: Mutex::new(handles),
        })
    }

    pub(in crate::store) async fn write<T, W>(&self, work: W) -> Result<T, StoreError>
    where
        T: Send + 'static,
        W: FnOnce(&mut Tables<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        let (answer, answered) = oneshot::channel();
        let job: WriteJob = Box::new(move |tables| {
            let value = work(tables)?;
            Ok(Box::new(move |committed| {
                let _ = answer.send(committed.map(|()| value));
            }))
        });
        queue(&self.writer, job)?;
        answered.await.unwrap_or(Err(StoreError::Closed))
    }

    pub(in crate::store) async fn read<T, R>(&self, work: R) -> Result<T, StoreError>
    where
        T: Send + 'static,
        R: FnOnce(&Snapshot) -> Result<T, StoreError> + Send + 'static,
    {
        let (answer, answered) = oneshot::channel();
        let job: ReadJob = Box::new(move |snapshot| {
            let _ = answer.send(snapshot.and_then(|snapshot| work(&snapshot)));
        });
        queue(&self.readers, job)?;
        match answered.await {
            Ok(outcome) => outcome,
            Err(_) if lock(&self.readers).is_none() => Err(StoreError::Closed),
            Err(_) => Err(broken()),
        }
    }

    pub(in crate::store) fn look_up<T>(
        &self,
        work: impl FnOnce(&Snapshot) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if lock(&self.readers).is_none() {
            return Err(StoreError::Closed);
        }
        let read = || work(&Snapshot::of(self.database.begin_read()?));
        std::panic::catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| {
            log_damage(READ_PANICKED);
            Err(broken())
        })
    }

    pub(in crate::store) async fn failed(&self) {
        let mut failed = self.failed.clone();
        // An error means that the writer has ended in good order: then nothing has failed, and nothing will.
        if failed.wait_for(|failed| *failed).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Lets the threads finish what is queued and waits for them.
    pub(in crate::store) async fn stop(&self) {
        drop(lock(&self.writer).take());
        drop(lock(&self.readers).take());
        let handles = std::mem::take(&mut *lock(&self.handles));
        let joined = tokio::task::spawn_blocking(move || {
            handles.into_iter().for_each(|handle| drop(handle.join()))
        });
        let _ = joined.await;
    }
}

fn queue<T>(sender: &Mutex<Option<mpsc::Sender<T>>>, job: T) -> Result<(), StoreError> {
    let sender = lock(sender);
    let Some(sender) = sender.as_ref() else {
        return Err(StoreError::Closed);
    };
    sender.try_send(job).map_err(|error| match error {
        mpsc::error::TrySendError::Full(_) => StoreError::Busy,
        mpsc::error::TrySendError::Closed(_) => StoreError::Closed,
    })
}

fn write_loop(
    database: &Database,
    allowed: impl Fn() -> Allowed,
    mut jobs: mpsc::Receiver<WriteJob>,
    report_failure: &watch::Sender<bool>,
) {
    let mut batch = Vec::with_capacity(BATCH_MAX);
    while jobs.blocking_recv_many(&mut batch, BATCH_MAX) > 0 {
        // A panic in here leaves a half-made transaction of money behind: the process must not go on as if it knew.
        let committed =
            std::panic::catch_unwind(AssertUnwindSafe(|| commit(database, allowed(), &mut batch)));
        match committed {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                tracing::error!(error = %error, "the data file failed; no more writes are taken");
                let _ = report_failure.send(true);
                // A job that is being queued at this moment would otherwise stay unanswered for ever.
                jobs.close();
                while jobs.blocking_recv().is_some() {}
                return;
            }
            Err(_) => {
                log_damage(
                    "a write of the store panicked; the process ends, and nothing of the write is kept",
                );
                std::process::abort()
            }
        }
    }
}

/// Runs a batch of jobs in one durable transaction, then answers them all. An error answers them all too: jobs whose
/// answer was not made yet see their channel close.
fn commit(
    database: &Database,
    allowed: Allowed,
    batch: &mut Vec<WriteJob>,
) -> Result<(), StoreError> {
    let mut answers: Vec<Answer> = Vec::with_capacity(batch.len());
    let outcome = transact(database, |transaction| {
        let mut tables = Tables::new(transaction, allowed);
        for job in batch.drain(..) {
            answers.push(job(&mut tables)?);
        }
        Ok(())
    });
    for answer in answers {
        answer(outcome.clone());
    }
    outcome
}

/// Two-phase commit with quick repair: hostile input is stored, so a torn page must not be able to forge its
/// checksum, and a killed process must be back at once.
pub(in crate::store) fn transact<T>(
    database: &Database,
    work: impl FnOnce(&WriteTransaction) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let mut transaction = database.begin_write()?;
    transaction.set_two_phase_commit(true);
    transaction.set_quick_repair(true);
    let value = work(&transaction)?;
    transaction.commit()?;
    Ok(value)
}

/// What a read that panicked has found.
fn broken() -> StoreError {
    StoreError::File("its structure is broken; restore a backup".to_owned())
}

/// redb asserts on pages that cannot be.
fn log_damage(what: &str) {
    tracing::error!(
        "{what}. The data file may be damaged: look at all of it with `serve --check`, and restore a backup if that finds damage"
    );
}

fn read_loop(database: &Database, jobs: &Mutex<mpsc::Receiver<ReadJob>>) {
    loop {
        let job = lock(jobs).blocking_recv();
        let Some(job) = job else { return };
        let snapshot = database
            .begin_read()
            .map(Snapshot::of)
            .map_err(StoreError::from);
        // A panic here concerns one read: its caller learns of the damage, the thread goes on.
        if std::panic::catch_unwind(AssertUnwindSafe(|| job(snapshot))).is_err() {
            log_damage(READ_PANICKED);
        }
    }
}
