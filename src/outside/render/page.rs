//! One page in a browser: opens it, waits until it is finished, and reads it in an isolated world.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

use crate::outside::render::cdp::{Cdp, CdpError, Event};
use crate::outside::render::guard::REFUSED_HEADER;
use crate::outside::render::job::{Facts, FailureKind, Pictured, ScreenshotJob, Settled};
use crate::outside::render::picture::{self, PICTURE_PIXELS_MAX, Picture};
use crate::outside::render::settling::Settling;

/// Runs before the page's own scripts.
const BEFORE: &str = include_str!("../../../assets/render/before.js");
/// Gives the page as HTML.
const SERIALISE: &str = include_str!("../../../assets/render/serialise.js");
/// Gives the length of the page's text.
const MEASURE: &str = include_str!("../../../assets/render/measure.js");
/// A command that needs nothing of the page.
const COMMAND_TIME_MAX: Duration = Duration::from_secs(3);
/// How long a browser may take to start, which is long on a machine that is busy. The deadline holds besides.
const START_TIME_MAX: Duration = Duration::from_secs(8);
/// How long the page's own scripts may keep the reading from beginning; then they are ended.
const PATIENCE: Duration = Duration::from_millis(600);
const TICK: Duration = Duration::from_millis(100);
/// A page that answers later than this is busy with its own scripts.
const BUSY: Duration = Duration::from_millis(400);
/// Reading takes so long at most, after which it is tried once more.
const READING_TIME_MAX: Duration = Duration::from_millis(2_000);
const READINGS_MAX: usize = 2;
/// How much earlier a page is taken of which there is to be a picture, so that it ends no later than others.
const PICTURE_TIME: Duration = Duration::from_millis(2_500);
/// How long behind the deadline a picture may still come.
const PICTURE_TIME_MORE: Duration = Duration::from_millis(1_000);
/// Tall, because pages fill in the parts that come into view, and nobody scrolls here. In CSS pixels.
const VIEWPORT: (u32, u32) = (1280, 6000);

/// Why there is no page, for the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) kind: FailureKind,
    pub(super) detail: String,
}

impl Failure {
    pub(super) fn new(kind: FailureKind, detail: impl ToString) -> Self {
        Failure {
            kind,
            detail: detail.to_string(),
        }
    }
}

impl From<CdpError> for Failure {
    fn from(error: CdpError) -> Self {
        Failure::new(FailureKind::BrowserLost, error)
    }
}

/// What is to be read.
#[derive(Debug)]
pub(super) struct Wanted<'a> {
    pub(super) url: &'a str,
    /// When the page is taken as it is.
    pub(super) deadline: Instant,
    pub(super) screenshot: Option<&'a ScreenshotJob>,
}

/// The page as it was read.
#[derive(Debug)]
pub(super) struct Snapshot {
    pub(super) html: String,
    /// Its picture; empty where there is none.
    pub(super) png: Vec<u8>,
    pub(super) facts: Facts,
}

/// What [`SERIALISE`] gives.
#[derive(Debug, Deserialize)]
struct Serialised {
    html: String,
    cut: bool,
    consents: u32,
    href: String,
}

/// Opens a page and reads it, at its deadline at the latest.
pub(super) async fn take(
    cdp: &Cdp,
    events: &mut mpsc::Receiver<Event>,
    wanted: &Wanted<'_>,
) -> Result<Snapshot, Failure> {
    let version = cdp.call("", "Browser.getVersion", json!({}), START_TIME_MAX);
    let version = version.await.map_err(|error| match error {
        // It ended before it said anything: it did not start.
        CdpError::Lost => Failure::new(FailureKind::NoBrowser, error),
        error => error.into(),
    })?;
    let browser: String = text(&version, "product").chars().take(100).collect();
    let mut page = Page::open(cdp, wanted.screenshot.is_some()).await?;
    let began = Instant::now();
    let deadline = match wanted.screenshot {
        None => wanted.deadline,
        Some(_) => {
            let time = wanted.deadline.saturating_duration_since(began);
            wanted.deadline - PICTURE_TIME.min(time / 2)
        }
    };
    let navigation = page.navigate(wanted.url);
    let settled = page.settle(events, began, deadline).await?;
    // An address that cannot be opened has a page of the browser's own, which is not read.
    if navigation.is_finished()
        && let Ok(Ok(answer)) = navigation.await
    {
        let error = text(&answer, "errorText");
        if !error.is_empty() {
            return Err(Failure::new(FailureKind::NotOpened, error));
        }
    }
    if page.is_refused {
        return Err(Failure::new(
            FailureKind::Refused,
            "the page leads to an address that is not allowed",
        ));
    }
    // What still runs would be in the way of reading, or use up the memory before.
    if settled == Settled::Deadline || page.is_busy {
        page.interrupt();
    }
    let (serialised, context) = page.read(events).await?;
    if !serialised.href.starts_with("http://") && !serialised.href.starts_with("https://") {
        return Err(Failure::new(
            FailureKind::NotOpened,
            "the page did not lead to an http address",
        ));
    }
    let picture = match wanted.screenshot {
        None => None,
        Some(screenshot) => {
            let end = wanted.deadline + PICTURE_TIME_MORE;
            Some(page.picture(events, &context, screenshot, end).await)
        }
    };
    let (png, screenshot) = match picture {
        None => (Vec::new(), None),
        Some(Ok(Picture { png, shows_passage })) => (png, Some(Pictured::Taken { shows_passage })),
        Some(Err(reason)) => (Vec::new(), Some(Pictured::Failed(reason))),
    };
    Ok(Snapshot {
        html: serialised.html,
        png,
        facts: Facts {
            final_url: serialised.href,
            status: page.status,
            settled,
            is_cut: serialised.cut,
            requests: page.requests,
            dialogs: page.dialogs,
            consent_dialogs: serialised.consents,
            browser,
            sandbox: None,
            screenshot,
        },
    })
}

struct Page {
    cdp: Cdp,
    session: String,
    /// Also the main frame's identifier.
    target: String,
    /// Whether images and fonts are loaded.
    pictures: bool,
    settling: Settling,
    requests: u32,
    dialogs: u32,
    /// Of the main document.
    status: u16,
    is_refused: bool,
    /// Its scripts let the last probe wait.
    is_busy: bool,
}

impl Page {
    async fn open(cdp: &Cdp, pictures: bool) -> Result<Page, Failure> {
        let call = async |session: &str, method: &str, params: Value| {
            cdp.call(session, method, params, COMMAND_TIME_MAX).await
        };
        // Off the record: nothing is written to disk.
        let context = call(
            "",
            "Target.createBrowserContext",
            json!({"disposeOnDetach": true}),
        )
        .await?;
        let context = text(&context, "browserContextId");
        let deny = json!({"behavior": "deny", "browserContextId": context});
        call("", "Browser.setDownloadBehavior", deny).await?;
        let (width, height) = if pictures {
            PICTURE_PIXELS_MAX
        } else {
            VIEWPORT
        };
        let blank = json!({"url": "about:blank", "browserContextId": context, "width": width, "height": height});
        let target = text(&call("", "Target.createTarget", blank).await?, "targetId");
        let attach = json!({"targetId": target, "flatten": true});
        let session = text(
            &call("", "Target.attachToTarget", attach).await?,
            "sessionId",
        );
        if session.is_empty() {
            return Err(Failure::new(
                FailureKind::BrowserLost,
                "the browser opened no page",
            ));
        }
        for (method, params) in set_up(pictures) {
            cdp.post(&session, method, params);
        }
        call(&session, "Page.enable", json!({})).await?;
        Ok(Page {
            cdp: cdp.clone(),
            session,
            target,
            pictures,
            settling: Settling::default(),
            requests: 0,
            dialogs: 0,
            status: 0,
            is_refused: false,
            is_busy: false,
        })
    }

    fn call(
        &self,
        method: &'static str,
        params: Value,
        within: Duration,
    ) -> JoinHandle<Result<Value, CdpError>> {
        let (cdp, session) = (self.cdp.clone(), self.session.clone());
        tokio::spawn(async move { cdp.call(&session, method, params, within).await })
    }

    fn navigate(&self, url: &str) -> JoinHandle<Result<Value, CdpError>> {
        self.call(
            "Page.navigate",
            json!({"url": url}),
            Duration::from_secs(60),
        )
    }

    /// Waits until the page is finished, or the deadline.
    async fn settle(
        &mut self,
        events: &mut mpsc::Receiver<Event>,
        began: Instant,
        deadline: Instant,
    ) -> Result<Settled, Failure> {
        let mut tick = interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut probe: Option<JoinHandle<Result<Value, CdpError>>> = None;
        let mut asked_at = Instant::now();
        loop {
            tokio::select! {
                () = sleep_until(deadline) => return Ok(Settled::Deadline),
                event = events.recv() => self.happen(event, began)?,
                _ = tick.tick() => {
                    if let Some(asked) = probe.take_if(|asked| asked.is_finished())
                        && let Ok(Ok(answer)) = asked.await
                    {
                        let characters = answer["result"]["value"].as_u64().unwrap_or(0);
                        self.settling.probed(characters, began.elapsed());
                        self.is_busy = asked_at.elapsed() >= BUSY;
                    }
                    if self.settling.is_loaded() && probe.is_none() {
                        let params = json!({"expression": MEASURE, "returnByValue": true});
                        asked_at = Instant::now();
                        probe = Some(self.call("Runtime.evaluate", params, Duration::from_secs(30)));
                    }
                }
            }
            if self.is_refused {
                return Ok(Settled::Quiet);
            }
            if let Some(settled) = self.settling.verdict(began.elapsed()) {
                return Ok(settled);
            }
        }
    }

    fn happen(&mut self, event: Option<Event>, began: Instant) -> Result<(), Failure> {
        let Some(Event {
            session,
            method,
            params,
        }) = event
        else {
            return Err(CdpError::Lost.into());
        };
        let now = || began.elapsed();
        let request = || params["requestId"].as_str().unwrap_or_default();
        match method.as_str() {
            "Network.requestWillBeSent" => {
                self.requests = self.requests.saturating_add(1);
                self.settling
                    .began(request(), params["type"].as_str().unwrap_or_default());
            }
            "Network.responseReceived" => self.received(&params),
            "Network.loadingFinished" => self.settling.ended(request(), now()),
            "Network.loadingFailed" => {
                self.settling.ended(request(), now());
                let error = text(&params, "errorText");
                let is_document =
                    params["type"] == "Document" && self.status == 0 && session == self.session;
                if is_document && error == "net::ERR_TUNNEL_CONNECTION_FAILED" {
                    self.is_refused = true;
                } else if is_document && params["canceled"] != true && self.requests == 1 {
                    return Err(Failure::new(FailureKind::NotOpened, error));
                }
            }
            "Page.loadEventFired" if session == self.session => self.settling.loaded(now()),
            "Page.javascriptDialogOpening" => {
                self.dialogs = self.dialogs.saturating_add(1);
                let leaves = json!({"accept": params["type"] == "beforeunload"});
                self.cdp
                    .post(&session, "Page.handleJavaScriptDialog", leaves);
            }
            "Fetch.requestPaused" => {
                let blocked =
                    json!({"requestId": params["requestId"], "errorReason": "BlockedByClient"});
                self.cdp.post(&session, "Fetch.failRequest", blocked);
            }
            // Without a session it is our own page, attached by us.
            "Target.attachedToTarget" if !session.is_empty() => self.attached(&params),
            "Inspector.targetCrashed" if session == self.session => {
                return Err(Failure::new(
                    FailureKind::Crashed,
                    "the page's process ended",
                ));
            }
            _ => {}
        }
        Ok(())
    }

    /// The main document's status; the guard marks its own answers.
    fn received(&mut self, params: &Value) {
        if params["type"] != "Document" || params["frameId"] != self.target.as_str() {
            return;
        }
        let response = &params["response"];
        let status = response["status"].as_u64().unwrap_or(0);
        self.status = u16::try_from(status).unwrap_or(0);
        let names = response["headers"].as_object().into_iter().flatten();
        self.is_refused |= names
            .filter(|(name, _)| name.eq_ignore_ascii_case(REFUSED_HEADER))
            .any(|(_, value)| value == "refused");
    }

    /// Frames and workers get the same rules before their first line runs; popups and service workers are closed.
    fn attached(&self, params: &Value) {
        let child = text(params, "sessionId");
        let target = &params["targetInfo"];
        if matches!(target["type"].as_str(), Some("service_worker" | "page")) {
            self.cdp.post(
                "",
                "Target.closeTarget",
                json!({"targetId": target["targetId"]}),
            );
            return;
        }
        for (method, params) in set_up(self.pictures) {
            self.cdp.post(&child, method, params);
        }
        self.cdp
            .post(&child, "Runtime.runIfWaitingForDebugger", json!({}));
    }

    /// Ends the page's scripts and what it loads.
    fn interrupt(&self) {
        self.cdp.post(&self.session, "Page.stopLoading", json!({}));
        self.cdp
            .post(&self.session, "Runtime.terminateExecution", json!({}));
    }

    /// Reads the page. Its scripts may be in the way, with a loop or a dialog. Also gives the world in which it was read.
    async fn read(
        &mut self,
        events: &mut mpsc::Receiver<Event>,
    ) -> Result<(Serialised, Value), Failure> {
        let began = Instant::now();
        let (cdp, session, target) = (self.cdp.clone(), self.session.clone(), self.target.clone());
        let reading = async {
            let mut failed = Failure::new(FailureKind::TimedOut, "the page could not be read");
            for _ in 0..READINGS_MAX {
                match serialised(&cdp, &session, &target).await {
                    Ok(serialised) => return Ok(serialised),
                    Err(failure) => failed = failure,
                }
            }
            Err(failed)
        };
        tokio::pin!(reading);
        let mut tick = interval(PATIENCE);
        tick.tick().await;
        loop {
            tokio::select! {
                read = &mut reading => return read,
                _ = tick.tick() => self.interrupt(),
                event = events.recv() => self.happen(event, began)?,
            }
        }
    }

    /// Takes the page's picture, until `end` at the latest. The page was read: whatever happens to it now, it stays read.
    async fn picture(
        &mut self,
        events: &mut mpsc::Receiver<Event>,
        context: &Value,
        wanted: &ScreenshotJob,
        end: Instant,
    ) -> Result<Picture, String> {
        let began = Instant::now();
        let (cdp, session) = (self.cdp.clone(), self.session.clone());
        let taking = picture::take(&cdp, &session, context, wanted);
        tokio::pin!(taking);
        loop {
            tokio::select! {
                taken = &mut taking => return taken,
                () = sleep_until(end) => return Err("there was no time for the picture".to_owned()),
                event = events.recv() => {
                    self.happen(event, began).map_err(|failure| failure.detail)?;
                }
            }
        }
    }
}

async fn serialised(cdp: &Cdp, session: &str, frame: &str) -> Result<(Serialised, Value), Failure> {
    let world = json!({"frameId": frame, "worldName": "reader"});
    let world = cdp
        .call(session, "Page.createIsolatedWorld", world, READING_TIME_MAX)
        .await;
    let world = world.map_err(unread)?;
    let context = world["executionContextId"].clone();
    let params = json!({
        "expression": SERIALISE,
        "contextId": context,
        "returnByValue": true,
    });
    let answer = cdp
        .call(session, "Runtime.evaluate", params, READING_TIME_MAX)
        .await;
    let answer = answer.map_err(unread)?;
    let text = answer["result"]["value"].as_str();
    let read = text.and_then(|text| serde_json::from_str(text).ok());
    let read = read.map(|read| (read, context));
    read.ok_or_else(|| Failure::new(FailureKind::TimedOut, "the page's scripts stood in the way"))
}

fn unread(error: CdpError) -> Failure {
    let kind = match error {
        CdpError::Lost => FailureKind::BrowserLost,
        CdpError::Silent | CdpError::Refused(_) => FailureKind::TimedOut,
    };
    Failure::new(kind, error)
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_default().to_owned()
}

/// For the page and each of its frames and workers, before the first line of it runs.
fn set_up(pictures: bool) -> [(&'static str, Value); 6] {
    let unseen: &[&str] = if pictures { &[] } else { &["Image", "Font"] };
    let blocked = ["Media", "WebSocket", "Ping"].iter().chain(unseen);
    let blocked = blocked.map(|kind| json!({"resourceType": kind}));
    let schemes = ["file:*", "ftp:*"].map(|pattern| json!({"urlPattern": pattern}));
    let patterns: Vec<Value> = blocked.chain(schemes).collect();
    [
        (
            "Network.enable",
            json!({"maxTotalBufferSize": 0, "maxResourceBufferSize": 0}),
        ),
        ("Network.setBypassServiceWorker", json!({"bypass": true})),
        ("Fetch.enable", json!({"patterns": patterns})),
        (
            "Target.setAutoAttach",
            json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true}),
        ),
        ("Inspector.enable", json!({})),
        (
            "Page.addScriptToEvaluateOnNewDocument",
            json!({"source": BEFORE}),
        ),
    ]
}
