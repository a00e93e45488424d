//! `context402 browser`: the render worker, which has no network of its own. Run by context402-browser.service, and by the
//! service itself for one page.

use std::path::PathBuf;
use std::sync::Arc;

use tokio::io::{stdin, stdout};
use tokio::net::UnixListener;
use tokio::signal::unix::{SignalKind, signal};

use crate::cli::{Failure, config_failure, failed, run_async};
use crate::config::{Supervisor, journal_listens, log_filter};
use crate::log;
use crate::outside::clock::Clock;
use crate::outside::render::worker::Worker;
use crate::outside::render::{raise_loopback, ways_out};
use crate::outside::supervisor::{self, Notifier};

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    /// Render one page: read the job from standard input and write the answer to standard output
    #[arg(long, conflicts_with_all = ["listen", "at_once"])]
    once: bool,
    /// Listen on this socket; by default the one that systemd passes
    #[arg(long, value_name = "SOCKET")]
    listen: Option<PathBuf>,
    /// The service's socket for everything that the browser loads
    #[arg(
        long,
        value_name = "SOCKET",
        default_value = "/run/context402-egress.sock"
    )]
    egress: PathBuf,
    /// A folder of this worker's own for the browsers' profiles
    #[arg(long, value_name = "FOLDER", default_value = "/run/context402-browser")]
    scratch: PathBuf,
    /// Pages rendered concurrently; further ones wait
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=16))]
    at_once: u16,
}

/// The profile's folders are removed on a blocking thread at worst; standard input is read on another.
const BLOCKING_THREADS: usize = 4;

impl Args {
    pub(in crate::cli) fn run(self) -> Result<(), Failure> {
        let inherited = supervisor::inherited_unix()
            .map_err(|error| failed(format_args!("the socket passed by systemd: {error}")))?;
        confine()?;
        match self.once {
            true => run_async(BLOCKING_THREADS, self.render_once()),
            false => {
                let filter = log_filter("info").map_err(|error| config_failure(&error))?;
                let _log = log::start(filter, journal_listens(), Clock::System);
                run_async(BLOCKING_THREADS, self.serve(inherited))
            }
        }
    }

    async fn render_once(self) -> Result<(), Failure> {
        let worker = Worker::new(self.egress, self.scratch, false);
        worker.serve(stdin(), stdout()).await.map_err(failed)
    }

    async fn serve(self, inherited: Vec<std::os::unix::net::UnixListener>) -> Result<(), Failure> {
        let mut stop = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let listener = match (inherited.into_iter().next(), &self.listen) {
            (Some(listener), _) => {
                listener.set_nonblocking(true)?;
                UnixListener::from_std(listener)?
            }
            (None, Some(path)) => {
                let explain = |error| failed(format_args!("{}: {error}", path.display()));
                UnixListener::bind(path).map_err(explain)?
            }
            (None, None) => {
                let text = "no socket: start context402-browser.socket, or name one with --listen";
                return Err(Failure::Usage(text.to_owned()));
            }
        };
        let worker = Arc::new(Worker::new(self.egress, self.scratch, true));
        worker.clear_scratch().map_err(failed)?;
        let supervisor = Supervisor::from_environment();
        let teller = Notifier::new(supervisor.notify_socket.as_deref())?;
        teller.tell("READY=1");
        tracing::info!("ready to render");
        tokio::select! {
            () = worker.listen(listener, usize::from(self.at_once)) => {}
            _ = stop.recv() => {}
            _ = interrupt.recv() => {}
        }
        teller.tell("STOPPING=1");
        Ok(())
    }
}

/// SECURITY: pages of strangers are opened only where there is no network but a loopback.
fn confine() -> Result<(), Failure> {
    let others = ways_out()?;
    if !others.is_empty() {
        return Err(failed(format_args!(
            "this process has a network ({}), and the browser must have none: start context402-browser.service, or run \
             it under `unshare --user --map-root-user --net`",
            others.join(", ")
        )));
    }
    // In a unit with PrivateNetwork= it is on already, and we may not.
    let _ = raise_loopback();
    Ok(())
}
