//! The render worker: a process without a network that opens one page for each job in a browser of its own. It stands in a
//! network namespace in which nothing is but a loopback; what the browser asks for is relayed from there to the guard's
//! Unix socket.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, getpgid, getpgrp, getpid, getuid, kill_process};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{Instant, timeout};

use crate::outside::render::cdp::Cdp;
use crate::outside::render::job::{self, FailureKind, Job, Outcome, VERSION};
use crate::outside::render::launch::{Launched, Options, find};
use crate::outside::render::page::{self, Failure, Snapshot, Wanted};
use crate::outside::render::remove_folder;

/// The longest deadline that is taken from a job.
const DEADLINE_MAX: Duration = Duration::from_secs(60);
/// Behind the deadline: to read the page, and to end the browser.
const READING_MAX: Duration = Duration::from_millis(1_500);
/// How long a job may take to arrive.
const JOB_TIME_MAX: Duration = Duration::from_secs(5);
/// Connections of one browser.
const RELAYED_MAX: usize = 64;
/// How long a browser that did not start may take to say why.
const LAST_WORDS: Duration = Duration::from_millis(50);
/// Processes that are looked through for those of a browser.
const PROCESSES_MAX: usize = 100_000;

/// What the folders of browsers are named by. Short: the browser makes a socket some levels below, whose path may have 107 bytes
/// (unix(7)), and Chromium ends at once where it has more.
const PROFILE_PREFIX: &str = "p-";

/// Where a worker stands.
#[derive(Debug)]
pub struct Worker {
    /// The guard's socket.
    pub egress: PathBuf,
    /// A folder of the worker's own for the browsers' profiles, empty between jobs.
    pub scratch: PathBuf,
    /// End each browser as a process group of its own; else who has started the worker does so with the worker's.
    pub own_groups: bool,
    /// Start each browser in a user namespace of its own, where we are root: its sandbox refuses root.
    pub nests: bool,
    next: AtomicU64,
}

impl Worker {
    pub fn new(egress: PathBuf, scratch: PathBuf, own_groups: bool) -> Self {
        Worker {
            egress,
            scratch,
            own_groups,
            nests: getuid().is_root(),
            next: AtomicU64::new(0),
        }
    }

    /// Removes what an ended worker has left in the folder.
    pub fn clear_scratch(&self) -> io::Result<()> {
        for entry in std::fs::read_dir(&self.scratch)?.flatten() {
            if entry
                .file_name()
                .to_string_lossy()
                .starts_with(PROFILE_PREFIX)
            {
                remove_folder(&entry.path());
            }
        }
        Ok(())
    }

    /// One job from one stream, answered on another. A caller that leaves ends the render.
    pub async fn serve(
        &self,
        mut from: impl AsyncRead + Unpin,
        mut to: impl AsyncWrite + Unpin,
    ) -> io::Result<()> {
        let read = timeout(JOB_TIME_MAX, job::read_job(&mut from)).await;
        let job = read.map_err(|_| io::ErrorKind::TimedOut)??;
        let outcome = tokio::select! {
            outcome = self.render(&job) => outcome,
            // Nothing more is said to us: this is the caller's end, or the end of its process.
            () = closed(&mut from) => {
                if !self.own_groups {
                    // A service that was killed stops no process and leaves this job's folder behind. The browser's child
                    // processes outlive it briefly, and would create their files in the folder again.
                    end_rest_of_group();
                    remove_folder(&self.scratch);
                }
                return Ok(());
            }
        };
        match outcome {
            Ok(Snapshot { html, png, facts }) => {
                job::write_answer(&mut to, Outcome::Rendered(facts), html.as_bytes(), &png).await
            }
            Err(Failure { kind, detail }) => {
                let detail = detail.chars().take(300).collect();
                job::write_answer(&mut to, Outcome::Failed { kind, detail }, b"", b"").await
            }
        }
    }

    /// Accepts jobs until the process ends, so many at a time.
    pub async fn listen(self: Arc<Self>, listener: UnixListener, at_once_max: usize) {
        let places = Arc::new(Semaphore::new(at_once_max));
        loop {
            // Never closed. Who comes too many waits to be accepted.
            let Ok(place) = places.clone().acquire_owned().await else {
                return;
            };
            let Ok((stream, _)) = listener.accept().await else {
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            };
            let worker = self.clone();
            tokio::spawn(async move {
                let _place = place;
                let (from, to) = stream.into_split();
                if let Err(error) = worker.serve(from, to).await {
                    tracing::info!(%error, "a render's caller left");
                }
            });
        }
    }

    async fn render(&self, job: &Job) -> Result<Snapshot, Failure> {
        if job.version != VERSION {
            let text = format!(
                "the worker speaks version {VERSION} and was asked in {}",
                job.version
            );
            return Err(Failure::new(FailureKind::Version, text));
        }
        let program = find(&job.browser).ok_or_else(|| {
            let text = match job.browser.as_str() {
                "auto" => "no browser is installed: run `apt-get install chromium-headless-shell`"
                    .to_owned(),
                path => format!(
                    "{path} is not a program: set render.browser to a browser, or to \"auto\""
                ),
            };
            Failure::new(FailureKind::NoBrowser, text)
        })?;
        let began = Instant::now();
        let deadline = began + Duration::from_millis(job.deadline_ms).min(DEADLINE_MAX);
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let profile = Folder(
            self.scratch
                .join(format!("{PROFILE_PREFIX}{:x}-{number}", std::process::id())),
        );
        let relay = Relay::open(&self.egress, &job.token)
            .await
            .map_err(no_browser)?;
        let (mut launched, to, from) = Launched::start(&Options {
            program: &program,
            profile: &profile.0,
            proxy_port: relay.port,
            user_agent: &job.user_agent,
            jit: job.jit,
            pictures: job.screenshot.is_some(),
            own_group: self.own_groups,
            nests: self.nests,
        })
        .map_err(no_browser)?;
        let (cdp, mut events) = Cdp::new(to, from);
        let wanted = Wanted {
            url: &job.url,
            deadline,
            screenshot: job.screenshot.as_ref(),
        };
        let taking = page::take(&cdp, &mut events, &wanted);
        let taking = tokio::time::timeout_at(deadline + READING_MAX, taking);
        tokio::pin!(taking);
        let taken = tokio::select! {
            taken = &mut taking => taken,
            () = launched.exited() => {
                // What it said last is still read.
                tokio::time::sleep(LAST_WORDS).await;
                cdp.close();
                taking.await
            }
        };
        let mut taken = taken.unwrap_or_else(|_| {
            Err(Failure::new(
                FailureKind::TimedOut,
                "the page could not be read in time",
            ))
        });
        if let (Ok(taken), true) = (&mut taken, job.inspects) {
            taken.facts.sandbox = launched.id().and_then(is_sandboxed);
        }
        if let Err(failure) = &mut taken
            && failure.kind == FailureKind::NoBrowser
        {
            // Its last words may still be on their way.
            tokio::time::sleep(LAST_WORDS).await;
            failure.detail = launched.complaint().to_string();
        }
        launched.end().await;
        taken
    }
}

fn no_browser(error: io::Error) -> Failure {
    Failure::new(
        FailureKind::NoBrowser,
        format!("the browser cannot be started: {error}"),
    )
}

/// Resolves when nothing more comes.
async fn closed(from: &mut (impl AsyncRead + Unpin)) {
    let mut ignored = [0; 64];
    while matches!(from.read(&mut ignored).await, Ok(1..)) {}
}

/// A folder that goes with its job.
#[derive(Debug)]
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        remove_folder(&self.0);
    }
}

/// A port on the namespace's loopback that leads to the guard and nowhere else.
struct Relay {
    port: u16,
    task: JoinHandle<()>,
}

impl Relay {
    async fn open(egress: &Path, token: &str) -> io::Result<Relay> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let port = listener.local_addr()?.port();
        let (egress, token) = (egress.to_owned(), format!("{token}\n"));
        let task = tokio::spawn(async move {
            let places = Arc::new(Semaphore::new(RELAYED_MAX));
            let mut relayed = JoinSet::new();
            while let Ok(place) = places.clone().acquire_owned().await {
                let Ok((mut stream, _)) = listener.accept().await else {
                    continue;
                };
                let (egress, token) = (egress.clone(), token.clone());
                relayed.spawn(async move {
                    let _place = place;
                    let mut guard = UnixStream::connect(&egress).await?;
                    guard.write_all(token.as_bytes()).await?;
                    copy_bidirectional(&mut stream, &mut guard).await
                });
                while relayed.try_join_next().is_some() {}
            }
        });
        Ok(Relay { port, task })
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Ends what else is in the process group that this process leads, and waits for a moment until nothing of it runs.
fn end_rest_of_group() {
    let leader = getpid();
    if getpgrp() != leader {
        return;
    }
    for _ in 0..50 {
        let mut rest = processes()
            .filter(|id| *id != leader && getpgid(Some(*id)) == Ok(leader) && runs(*id))
            .peekable();
        if rest.peek().is_none() {
            return;
        }
        for id in rest {
            let _ = kill_process(id, Signal::KILL);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Whether a process is more than an exit code that nobody has read yet (proc(5): the state follows the name in brackets).
fn runs(id: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(") ").map(|(_, rest)| rest);
    state.is_some_and(|state| !state.starts_with(['Z', 'X']))
}

/// All processes that this one sees.
fn processes() -> impl Iterator<Item = Pid> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .take(PROCESSES_MAX)
        .filter_map(|entry| Pid::from_raw(entry.file_name().to_string_lossy().parse().ok()?))
}

/// Whether every process with a page below this browser is confined by a system call filter, which Chromium's sandbox sets
/// last. `None` if there is no such process.
fn is_sandboxed(browser: u32) -> Option<bool> {
    let mut parents = HashMap::new();
    let mut renderers = Vec::new();
    for id in processes() {
        let read = |name: &str| std::fs::read(format!("/proc/{id}/{name}")).unwrap_or_default();
        let id = id.as_raw_nonzero().get().cast_unsigned();
        let status = read("status");
        let status = String::from_utf8_lossy(&status);
        let field = |name: &str| -> Option<u32> {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.trim().parse().ok()
        };
        parents.insert(id, field("PPid:").unwrap_or(0));
        if memchr::memmem::find(&read("cmdline"), b"--type=renderer").is_some() {
            renderers.push((id, field("Seccomp:") == Some(2)));
        }
    }
    let is_below = |id: u32| {
        let mut above = std::iter::successors(Some(id), |id| parents.get(id).copied());
        above.by_ref().take(32).any(|id| id == browser)
    };
    let mut ours = renderers
        .into_iter()
        .filter(|(id, _)| is_below(*id))
        .peekable();
    ours.peek()?;
    Some(ours.all(|(_, is_confined)| is_confined))
}
