//! Starts a browser that is thrown away after one page, and ends it with everything that it started.

use std::fmt;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::AsyncReadExt as _;
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::sync::lock;

/// What `auto` tries, in this order: Debian's names, then those of others.
const KNOWN: [&str; 5] = [
    "/usr/bin/chromium-headless-shell",
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome-stable",
    "/usr/lib/chromium/chromium-headless-shell",
];
/// What of the browser's own messages is kept.
const SAID_BYTES_MAX: usize = 8 * 1024;
/// The user of the browser in a user namespace where we are root: Chromium's sandbox refuses root.
const INNER_USER: &str = "1000";

/// `auto`, or a path, to a browser that is there.
pub fn find(browser: &str) -> Option<PathBuf> {
    let is_program = |path: &&Path| {
        path.metadata()
            .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    match browser {
        "auto" => KNOWN
            .iter()
            .map(Path::new)
            .find(is_program)
            .map(Path::to_owned),
        path => Some(Path::new(path)).filter(is_program).map(Path::to_owned),
    }
}

/// What a start of the browser needs.
#[derive(Debug)]
pub(super) struct Options<'a> {
    pub(super) program: &'a Path,
    /// An empty folder of its own.
    pub(super) profile: &'a Path,
    pub(super) proxy_port: u16,
    pub(super) user_agent: &'a str,
    pub(super) jit: bool,
    /// Load images and fonts: for a picture of the page.
    pub(super) pictures: bool,
    /// Make a process group of its own. Else it is in ours, which who started us ends.
    pub(super) own_group: bool,
    /// Start it as another user of a user namespace of its own: Chromium's sandbox refuses root.
    pub(super) nests: bool,
}

/// A running browser. Its processes end when this is dropped.
#[derive(Debug)]
pub(super) struct Launched {
    child: Child,
    group: Option<Pid>,
    said: Arc<Mutex<Vec<u8>>>,
}

/// Switches that hold for every start. Never among them: `--no-sandbox`.
const SWITCHES: &[&str] = &[
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-startup-window",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-component-extensions-with-background-pages",
    "--disable-default-apps",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-sync",
    "--disable-breakpad",
    "--disable-crash-reporter",
    "--disable-client-side-phishing-detection",
    "--disable-hang-monitor",
    "--disable-popup-blocking",
    "--disable-prompt-on-repost",
    "--disable-renderer-backgrounding",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--metrics-recording-only",
    "--no-pings",
    "--mute-audio",
    "--hide-scrollbars",
    "--password-store=basic",
    "--use-mock-keychain",
    "--force-color-profile=srgb",
    "--disable-notifications",
    "--disable-speech-api",
    "--disable-file-system",
    "--disable-databases",
    "--disable-features=PreconnectToSearch,SpareRendererForSitePerProcess,Translate,OptimizationHints,MediaRouter,\
     DialMediaRouteProvider,InterestFeedContentSuggestions,AutofillServerCommunication,\
     CertificateTransparencyComponentUpdater,PaintHolding,BackForwardCache,HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,\
     AsyncDns,DnsOverHttps,PrivacySandboxSettings4,WebUSB,WebBluetooth",
    // A second wall behind the namespace: everything goes to the relay, nothing is looked up, no datagrams.
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--disable-quic",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--dns-prefetch-disable",
];

/// More, where nobody looks at the page: its text is all that is read.
const UNSEEN: &[&str] = &[
    "--blink-settings=imagesEnabled=false",
    "--disable-remote-fonts",
];

fn switches(options: &Options<'_>) -> Vec<String> {
    let unseen = if options.pictures { &[] } else { UNSEEN };
    let all = SWITCHES.iter().chain(unseen);
    let mut switches: Vec<String> = all.map(|text| (*text).to_owned()).collect();
    let jit = if options.jit { "" } else { "--jitless " };
    switches.extend([
        format!("--js-flags={jit}--max-old-space-size=256"),
        format!("--proxy-server=http://127.0.0.1:{}", options.proxy_port),
        format!("--user-agent={}", options.user_agent),
        format!("--user-data-dir={}", options.profile.display()),
    ]);
    switches
}

/// The command before the browser: the shell moves our two pipes to descriptors 3 and 4, where the browser looks for them.
fn command(options: &Options<'_>) -> Command {
    const MOVED: &str = r#"exec "$0" "$@" 3<&0 4>&1 </dev/null >&2"#;
    let mut command = match options.nests {
        true => {
            let mut command = Command::new("unshare");
            command.args([
                "--user",
                "--map-user",
                INNER_USER,
                "--map-group",
                INNER_USER,
                "--",
                "/bin/sh",
            ]);
            command
        }
        false => Command::new("/bin/sh"),
    };
    command
        .args(["-c", MOVED])
        .arg(options.program)
        .args(switches(options));
    command
}

impl Launched {
    pub(super) fn start(options: &Options<'_>) -> io::Result<(Launched, ChildStdin, ChildStdout)> {
        std::fs::DirBuilder::new()
            .mode(0o700)
            .create(options.profile)?;
        let mut command = command(options);
        command
            .env_clear()
            .envs([
                ("PATH", "/usr/bin:/bin:/usr/sbin:/sbin"),
                ("LANG", "C.UTF-8"),
                ("DBUS_SESSION_BUS_ADDRESS", "disabled:"),
                ("DBUS_SYSTEM_BUS_ADDRESS", "disabled:"),
            ])
            .env("HOME", options.profile)
            .env("TMPDIR", options.profile)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        if options.own_group {
            command.process_group(0);
        }
        let mut child = command.spawn()?;
        let group = child.id().filter(|_| options.own_group);
        let group = group.and_then(|id| Pid::from_raw(id.cast_signed()));
        let missing = || io::Error::other("the browser has no pipe");
        let to = child.stdin.take().ok_or_else(missing)?;
        let from = child.stdout.take().ok_or_else(missing)?;
        let mut errors = child.stderr.take().ok_or_else(missing)?;
        let said = Arc::new(Mutex::new(Vec::new()));
        let kept = said.clone();
        tokio::spawn(async move {
            let mut chunk = [0; 1024];
            while let Ok(bytes @ 1..) = errors.read(&mut chunk).await {
                let mut kept = lock(&kept);
                let room = SAID_BYTES_MAX.saturating_sub(kept.len()).min(bytes);
                kept.extend_from_slice(&chunk[..room]);
            }
        });
        Ok((Launched { child, group, said }, to, from))
    }

    /// Why the browser did not start, as far as it has said so.
    pub(super) fn complaint(&self) -> NoStart {
        let said = lock(&self.said);
        let said = String::from_utf8_lossy(&said);
        if said.contains("No usable sandbox")
            || said.contains("unshare failed")
            || said.contains("unshare:")
        {
            return NoStart::Sandbox;
        }
        NoStart::Said(reason(&said).chars().take(200).collect())
    }

    /// Resolves when the browser has ended by itself; what it started is ended then.
    pub(super) async fn exited(&mut self) {
        let _ = self.child.wait().await;
        self.kill();
        self.group = None;
    }

    /// Ends the browser and everything that it started.
    pub(super) async fn end(mut self) {
        self.kill();
        let _ = self.child.wait().await;
    }

    fn kill(&mut self) {
        match self.group {
            Some(group) => {
                let _ = kill_process_group(group, Signal::KILL);
            }
            None => {
                let _ = self.child.start_kill();
            }
        }
    }

    /// The process that was started: the browser, once the shell has become it.
    pub(super) fn id(&self) -> Option<u32> {
        self.child.id()
    }
}

impl Drop for Launched {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The line that says why a browser ended: the one before it gave up, since its other processes complain of that later; or else
/// its last one.
fn reason(said: &str) -> &str {
    let lines = || said.lines().filter(|line| !line.trim().is_empty());
    let fatal = lines().find(|line| line.contains(":FATAL:"));
    fatal.or(lines().next_back()).unwrap_or("it said nothing")
}

/// Why a browser does not start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NoStart {
    /// User namespaces are not allowed here, and it is never run without its sandbox.
    Sandbox,
    Said(String),
}

impl fmt::Display for NoStart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoStart::Sandbox => f.write_str(NO_SANDBOX),
            NoStart::Said(line) => write!(f, "the browser did not start: {line}"),
        }
    }
}

pub(super) const NO_SANDBOX: &str = "the browser's sandbox needs user namespaces, which are not allowed here: run \
    `sysctl -w kernel.unprivileged_userns_clone=1` (Debian) or `sysctl -w kernel.apparmor_restrict_unprivileged_userns=0` \
    (Ubuntu); in a container allow unshare and clone";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_browser_s_own_sandbox_is_never_switched_off() {
        let options = Options {
            program: Path::new("/bin/true"),
            profile: Path::new("/tmp/p"),
            proxy_port: 1,
            user_agent: "x",
            jit: false,
            pictures: false,
            own_group: true,
            nests: false,
        };
        let switches = switches(&options);
        for word in [
            "no-sandbox",
            "disable-setuid-sandbox",
            "disable-seccomp",
            "disable-web-security",
        ] {
            assert!(
                !switches.iter().any(|switch| switch.contains(word)),
                "{word}"
            );
        }
        assert!(switches.contains(&UNSEEN[0].to_owned()));
        assert!(switches.contains(&"--js-flags=--jitless --max-old-space-size=256".to_owned()));
        assert!(switches.contains(&"--proxy-server=http://127.0.0.1:1".to_owned()));
    }

    #[test]
    fn the_reason_is_the_line_before_the_browser_gave_up() {
        let said = "[1:2:ERROR:bus.cc] no bus\n[1:1:FATAL:process_singleton_posix.cc:315] Socket path too long: /tmp/a\n\
                    [2:2:ERROR:zygote_linux.cc:662] write: Broken pipe (32)\n\n";
        assert!(reason(said).ends_with("Socket path too long: /tmp/a"));
        assert_eq!(reason("a\nb\n \n"), "b");
        assert_eq!(reason(""), "it said nothing");
    }

    #[test]
    fn a_browser_is_a_program_that_is_there() {
        assert_eq!(find("/bin/sh"), Some("/bin/sh".into()));
        assert_eq!(find("/etc/passwd"), None, "not a program");
        assert_eq!(find("/nowhere/chromium"), None);
    }
}
