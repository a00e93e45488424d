//! Opens a page in a browser, for text that only scripts make.
//!
//! - [`Renderer`] is what the service holds. It gives a job to a worker ([`worker`]): the unit `context402-browser.service`,
//!   or a child process in namespaces of its own (`namespace`). Either has a network with nothing but a loopback.
//! - The worker starts a fresh browser for each job (`launch`), drives it through an inherited pipe (`cdp`, `page`) and waits
//!   until the page is finished (`settling`).
//! - Everything that the browser asks for comes back to the service's own process, where the guard ([`guard`]) clears and
//!   dials it as every fetch is, within the bounds of one render ([`budget`]).
//!
//! The browser's own sandbox is never switched off: where it cannot be used there is no rendering.

pub mod budget;
mod cdp;
pub mod guard;
mod head;
pub mod job;
mod launch;
mod namespace;
mod page;
pub mod picture;
mod settling;
#[cfg(test)]
mod tests;
pub mod worker;

use std::fmt;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, FileTypeExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite};
use tokio::net::{UnixListener, UnixStream};
use tokio::process::Child;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::domain::limit_reached::LimitReached;
use crate::outside::call::{ConcurrencyLimit, KeyedLimit};
use crate::outside::chance;
use crate::outside::render::budget::BudgetLimits;
use crate::outside::render::guard::{Guard, Pass};
use crate::outside::render::job::{
    Answered, Facts, FailureKind, Job, Outcome, Pictured, ScreenshotJob, VERSION,
};
use crate::outside::web::{ClearedTarget, Web};

pub use launch::find;
pub use namespace::{raise_loopback, ways_out};

/// How long a render waits for its place and for its payer's.
const QUEUE_TIME_MAX: Duration = Duration::from_secs(5);
/// Renders at a time for one payer.
const OF_PAYER_MAX: usize = 1;
/// Behind the deadline of a page: to read it, and to end the browser.
pub const HARD_END: Duration = Duration::from_secs(2);
/// What of a worker's own messages is kept.
const SAID_BYTES_MAX: u64 = 4 * 1024;
/// What the service's own check renders: its text is made by a script.
const BUILT_IN: &str = "<!doctype html><meta charset=\"utf-8\"><title>context402</title><main id=\"page\"></main>\
    <script>document.getElementById(\"page\").textContent = [\"Made\", \"by\", \"a\", \"script\"].join(\" \").repeat(40)</script>";
const BUILT_IN_URL: &str = "http://built-in.context402.invalid/";
/// What is in it once the script has run.
const BUILT_IN_TEXT: &str = "Made by a script";

/// How pages are rendered.
#[derive(Clone, Debug)]
pub struct RendererSettings {
    /// `auto`, or the path of a browser.
    pub browser: String,
    /// Compile the page's scripts to machine code: faster, and a larger target.
    pub jit: bool,
    pub user_agent: String,
    /// A page is taken as it is after so long.
    pub time_max: Duration,
    pub at_once_max: usize,
    pub workers: Workers,
}

/// Who renders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Workers {
    /// The worker that listens at this socket.
    Unit { socket: PathBuf },
    /// A child process for each page: this program, in namespaces of its own.
    Children { program: PathBuf },
}

/// A page as a browser shows it.
#[derive(Clone, Debug)]
pub struct Rendered {
    pub html: Vec<u8>,
    /// A whole PNG, where a picture was asked for and could be taken.
    pub png: Option<Vec<u8>>,
    pub facts: Facts,
    /// From the beginning of the job to the page, in milliseconds.
    pub render_ms: u64,
    /// Requests that the guard did not let through.
    pub refused: u32,
}

/// Why a page was not rendered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RenderError {
    /// Every place stayed taken.
    Busy,
    /// There is no browser that works; says what to do.
    Unavailable(String),
    /// The browser could not give this page.
    Failed { kind: FailureKind, detail: String },
}

impl RenderError {
    /// For the metrics.
    pub fn outcome(&self) -> &'static str {
        match self {
            RenderError::Busy => "busy",
            RenderError::Unavailable(_) => "unavailable",
            RenderError::Failed { kind, .. } => match kind {
                FailureKind::NoBrowser | FailureKind::Version => "unavailable",
                FailureKind::BrowserLost | FailureKind::Crashed => "crashed",
                FailureKind::NotOpened => "not_opened",
                FailureKind::Refused => "refused",
                FailureKind::TimedOut => "timed_out",
            },
        }
    }

    /// Whether it says something about the browser and nothing about the page.
    pub fn is_ours(&self) -> bool {
        matches!(self.outcome(), "busy" | "unavailable")
    }
}

impl fmt::Display for RenderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RenderError::Busy => f.write_str("every place to render is taken"),
            RenderError::Unavailable(text) => f.write_str(text),
            RenderError::Failed { detail, .. } => f.write_str(detail),
        }
    }
}

impl std::error::Error for RenderError {}

/// Renders pages. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Renderer {
    inner: Arc<Inner>,
}

/// In unit tests: what comes of an address in a browser's place; the flag tells whether a picture is asked for.
#[cfg(test)]
pub(crate) type Fake = Arc<dyn Fn(&str, bool) -> Result<Rendered, RenderError> + Send + Sync>;

struct Inner {
    settings: RendererSettings,
    guard: Guard,
    places: ConcurrencyLimit,
    of_payer: KeyedLimit,
    /// With children: a folder for the guard's socket and the browsers' profiles.
    scratch: Option<Scratch>,
    next: AtomicU64,
    waiting: AtomicUsize,
    #[cfg(test)]
    fake: Option<Fake>,
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inner")
            .field("settings", &self.settings)
            .field("waiting", &self.waiting)
            .finish_non_exhaustive()
    }
}

impl Renderer {
    /// Makes the folder that children need, and nothing else; see [`Renderer::start`].
    pub fn new(settings: RendererSettings, web: Web) -> io::Result<Renderer> {
        let scratch = match settings.workers {
            Workers::Unit { .. } => None,
            Workers::Children { .. } => Some(Scratch::new()?),
        };
        Ok(Renderer {
            inner: Arc::new(Inner {
                places: ConcurrencyLimit::new(settings.at_once_max, QUEUE_TIME_MAX),
                of_payer: KeyedLimit::new(OF_PAYER_MAX, QUEUE_TIME_MAX),
                guard: Guard::new(web, BudgetLimits::default()),
                settings,
                scratch,
                next: AtomicU64::new(0),
                waiting: AtomicUsize::new(0),
                #[cfg(test)]
                fake: None,
            }),
        })
    }

    /// The same, but nobody is asked to render.
    #[cfg(test)]
    pub(crate) fn replaced(settings: RendererSettings, web: Web, fake: Fake) -> Renderer {
        let mut renderer = Renderer::new(settings, web).expect("a unit needs no folder");
        let inner = Arc::get_mut(&mut renderer.inner).expect("not shared yet");
        inner.fake = Some(fake);
        renderer
    }

    /// Opens the way for the browsers' traffic: at a listener that was passed, at the socket of a unit's worker, or for
    /// children at a socket of our own.
    pub fn start(
        &self,
        passed: Option<std::os::unix::net::UnixListener>,
        egress_socket: Option<&Path>,
    ) -> io::Result<JoinHandle<()>> {
        let guard = &self.inner.guard;
        if let Some(scratch) = &self.inner.scratch {
            return guard.listen_at(&scratch.egress());
        }
        match (passed, egress_socket) {
            (Some(listener), _) => {
                listener.set_nonblocking(true)?;
                Ok(guard.listen(UnixListener::from_std(listener)?))
            }
            (None, Some(path)) => {
                // What an ended service has left.
                if std::fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket())
                {
                    std::fs::remove_file(path)?;
                }
                let named = |error: io::Error| {
                    let text = format!(
                        "render.egress_socket = {} cannot be opened: {error}",
                        path.display()
                    );
                    io::Error::new(error.kind(), text)
                };
                guard.listen_at(path).map_err(named)
            }
            (None, None) => Err(io::Error::other(
                "there is no socket for what the browser loads",
            )),
        }
    }

    /// Removes the folder of the browsers' profiles; nothing can be rendered afterwards. Else it goes with the last copy.
    pub fn remove_scratch(&self) {
        if let Some(scratch) = &self.inner.scratch {
            remove_folder(&scratch.0);
        }
    }

    pub fn settings(&self) -> &RendererSettings {
        &self.inner.settings
    }

    /// How long a render may take, with the wait for its payer's place and for one of all.
    pub fn time_max(&self) -> Duration {
        2 * QUEUE_TIME_MAX + self.inner.settings.time_max + HARD_END
    }

    /// Renders that wait for a place or are under way.
    pub fn waiting(&self) -> usize {
        self.inner.waiting.load(Ordering::Relaxed)
    }

    /// Renders a cleared page for a payer, with its picture if one is asked for. Without a picture the page is given all the
    /// same, and its facts say why there is none.
    pub async fn render(
        &self,
        target: &ClearedTarget,
        payer: &str,
        screenshot: Option<ScreenshotJob>,
    ) -> Result<Rendered, RenderError> {
        let _waiting = Waiting::new(&self.inner.waiting);
        let busy = |LimitReached| RenderError::Busy;
        let _of_payer = self.inner.of_payer.place(payer).await.map_err(busy)?;
        let _place = self.inner.places.enter().await.map_err(busy)?;
        let pass = self.inner.guard.admit(None);
        let how = (false, screenshot);
        self.run(target.target().as_str(), how, &pass).await
    }

    /// Renders a page of our own, which never leaves the machine. Gives the browser's facts.
    pub async fn check(&self) -> Result<Facts, RenderError> {
        let _place = self
            .inner
            .places
            .enter()
            .await
            .map_err(|LimitReached| RenderError::Busy)?;
        let pass = self.inner.guard.admit(Some(BUILT_IN));
        let rendered = self.run(BUILT_IN_URL, (true, None), &pass).await?;
        match memchr::memmem::find(&rendered.html, BUILT_IN_TEXT.as_bytes()) {
            Some(_) => Ok(rendered.facts),
            None => Err(RenderError::Unavailable(
                "the browser does not run scripts".to_owned(),
            )),
        }
    }

    async fn run(
        &self,
        url: &str,
        (inspects, screenshot): (bool, Option<ScreenshotJob>),
        pass: &Pass,
    ) -> Result<Rendered, RenderError> {
        #[cfg(test)]
        if let Some(fake) = &self.inner.fake {
            return fake(url, screenshot.is_some());
        }
        let settings = &self.inner.settings;
        let began = Instant::now();
        let job = Job {
            version: VERSION,
            token: pass.token.clone(),
            url: url.to_owned(),
            browser: settings.browser.clone(),
            user_agent: settings.user_agent.clone(),
            jit: settings.jit,
            deadline_ms: u64::try_from(settings.time_max.as_millis()).unwrap_or(u64::MAX),
            inspects,
            screenshot,
        };
        let time_max = settings.time_max + HARD_END;
        let Answered { answer, html, png } = match &settings.workers {
            Workers::Unit { socket } => {
                let asked = timeout(time_max, ask_unit(socket, &job)).await;
                let unreachable = |error: io::Error| {
                    RenderError::Unavailable(format!(
                        "the render worker at {} does not answer ({error}): see `systemctl status context402-browser`",
                        socket.display()
                    ))
                };
                asked.map_err(|_| timed_out())?.map_err(unreachable)?
            }
            Workers::Children { program } => {
                let scratch = self.inner.scratch.as_ref();
                let scratch =
                    scratch.ok_or_else(|| RenderError::Unavailable("no folder".to_owned()))?;
                let number = self.inner.next.fetch_add(1, Ordering::Relaxed);
                ask_child(program, scratch, number, &job, time_max).await?
            }
        };
        match answer.outcome {
            Outcome::Failed {
                kind: FailureKind::NoBrowser,
                detail,
            } => Err(RenderError::Unavailable(detail)),
            Outcome::Failed { kind, detail } => Err(RenderError::Failed { kind, detail }),
            Outcome::Rendered(_) if answer.version != VERSION => Err(RenderError::Unavailable(
                "the render worker is of another version: restart context402-browser".to_owned(),
            )),
            Outcome::Rendered(mut facts) => Ok(Rendered {
                html,
                png: checked_picture(png, &mut facts),
                facts,
                render_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
                refused: pass.refused(),
            }),
        }
    }
}

/// The picture, if it is one. The worker has opened what strangers made, so that it is not believed.
fn checked_picture(png: Vec<u8>, facts: &mut Facts) -> Option<Vec<u8>> {
    if !matches!(facts.screenshot, Some(Pictured::Taken { .. })) {
        return None;
    }
    if picture::size(&png).is_none() {
        facts.screenshot = Some(Pictured::Failed("the browser gave no picture".to_owned()));
        return None;
    }
    Some(png)
}

fn timed_out() -> RenderError {
    RenderError::Failed {
        kind: FailureKind::TimedOut,
        detail: "the render worker did not answer in time".to_owned(),
    }
}

/// Counts a render for as long as it lasts.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Waiting(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

async fn ask_unit(socket: &Path, job: &Job) -> io::Result<Answered> {
    let mut stream = UnixStream::connect(socket).await?;
    let (mut from, mut to) = stream.split();
    ask(&mut to, &mut from, job).await
}

async fn ask(
    to: &mut (impl AsyncWrite + Unpin),
    from: &mut (impl AsyncRead + Unpin),
    job: &Job,
) -> io::Result<Answered> {
    job::write_job(to, job).await?;
    job::read_answer(from).await
}

async fn ask_child(
    program: &Path,
    scratch: &Scratch,
    number: u64,
    job: &Job,
    time_max: Duration,
) -> Result<Answered, RenderError> {
    let failed = |error: io::Error| {
        RenderError::Unavailable(format!("no render worker can be started: {error}"))
    };
    let folder = scratch.job(number).map_err(failed)?;
    let child = namespace::spawn_worker(program, &scratch.egress(), &folder.0).map_err(failed)?;
    let mut child = ChildWorker { child };
    let pipes = (
        child.child.stdin.take(),
        child.child.stdout.take(),
        child.child.stderr.take(),
    );
    let (Some(mut to), Some(mut from), Some(errors)) = pipes else {
        return Err(failed(io::Error::other("no pipe")));
    };
    // Standard input stays open: its end tells the worker that we are gone.
    let asked = timeout(time_max, ask(&mut to, &mut from, job)).await;
    let answer = match asked {
        Err(_) => Err(timed_out()),
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) => Err(complaint(errors, &error).await),
    };
    child.end().await;
    drop(to);
    answer
}

/// Why a worker ended without an answer.
async fn complaint(errors: impl AsyncRead + Unpin, error: &io::Error) -> RenderError {
    let mut said = Vec::new();
    let mut errors = errors.take(SAID_BYTES_MAX);
    let _ = timeout(Duration::from_millis(500), errors.read_to_end(&mut said)).await;
    let said = String::from_utf8_lossy(&said);
    if said.contains("unshare:") {
        return RenderError::Unavailable(launch::NO_SANDBOX.to_owned());
    }
    let line = said.lines().rev().find(|line| !line.trim().is_empty());
    RenderError::Failed {
        kind: FailureKind::BrowserLost,
        detail: match line {
            Some(line) => format!(
                "the render worker ended: {}",
                line.chars().take(200).collect::<String>()
            ),
            None => format!("the render worker ended: {error}"),
        },
    }
}

/// A worker process. It ends with everything that it started when this is dropped.
struct ChildWorker {
    child: Child,
}

impl ChildWorker {
    fn kill(&mut self) {
        let id = self
            .child
            .id()
            .and_then(|id| Pid::from_raw(id.cast_signed()));
        if let Some(group) = id {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }

    async fn end(&mut self) {
        self.kill();
        let _ = self.child.wait().await;
    }
}

impl Drop for ChildWorker {
    fn drop(&mut self) {
        self.kill();
    }
}

const SCRATCH_PREFIX: &str = "context402-render-";

/// A folder that only this user can enter. Those that a killed process has left are removed first.
#[derive(Debug)]
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> io::Result<Scratch> {
        let parent = std::env::temp_dir();
        for entry in std::fs::read_dir(&parent)?.flatten() {
            let name = entry.file_name();
            let id = name
                .to_str()
                .and_then(|name| name.strip_prefix(SCRATCH_PREFIX));
            let id = id.and_then(|rest| rest.split('-').next()?.parse::<u32>().ok());
            if id.is_some_and(|id| !Path::new("/proc").join(id.to_string()).exists()) {
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
        let random = hex::encode(chance::bytes::<4>());
        let path = parent.join(format!("{SCRATCH_PREFIX}{}-{random}", std::process::id()));
        std::fs::DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Scratch(path))
    }

    fn egress(&self) -> PathBuf {
        self.0.join("egress.sock")
    }

    /// A folder for one job, which goes with it.
    fn job(&self, number: u64) -> io::Result<Scratch> {
        let path = self.0.join(number.to_string());
        std::fs::DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Scratch(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        remove_folder(&self.0);
    }
}

/// Tries again for a moment: a process that was just killed may still be writing its last.
fn remove_folder(path: &Path) {
    for _ in 0..50 {
        // Also where a file went while it was looked at.
        if std::fs::remove_dir_all(path).is_ok() || !path.exists() {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
