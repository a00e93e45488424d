//! The real program as a child process: commands that run to their end, and a service that can be killed.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use context402::config::Resolved;
use context402::config::settings::environment_name;
use serde_json::Value;

use crate::harness::{Ask, order};

const START_TIME_MAX: Duration = Duration::from_secs(30);
/// The installed service's surroundings.
const UNIT: &str = include_str!("../../../systemd/context402.service");
/// What the program says when somebody else has the data file open.
const HELD: &str = "is open in another process";

/// The program with nothing of this process's surroundings that could steer it.
pub(crate) fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_context402"));
    command
        .env_clear()
        // Nor the configuration of one that is installed here.
        .env("CONTEXT402_CONFIG", "")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    for name in ["PATH", "HOME", "TMPDIR"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command
}

/// Runs a command to its end.
pub(crate) fn run(arguments: &[&str]) -> Finished {
    Finished::of(program().args(arguments))
}

/// Runs a command that reads `input`.
pub(crate) fn run_with_input(arguments: &[&str], input: &[u8]) -> Finished {
    let mut child = program()
        .args(arguments)
        .stdin(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("piped");
    let input = input.to_owned();
    let writer = std::thread::spawn(move || {
        // A command that does not read to the end is the test's affair.
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().expect("the program ends");
    writer.join().expect("no panic");
    Finished::read(output)
}

/// What a command says on a terminal.
pub(crate) fn on_a_terminal(arguments: &str) -> String {
    let line = format!("{} {arguments}", env!("CARGO_BIN_EXE_context402"));
    let mut script = Command::new("script");
    script.args(["-qec", &line, "/dev/null"]);
    let shown = script.stdin(Stdio::null()).output();
    let shown = shown.expect("script, of util-linux, runs");
    String::from_utf8_lossy(&shown.stdout).into_owned()
}

/// What a command said, and how it ended.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Finished {
    pub(crate) fn of(command: &mut Command) -> Finished {
        Finished::read(command.output().expect("the program starts"))
    }

    fn read(output: Output) -> Finished {
        Finished {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).expect("UTF-8"),
            err: String::from_utf8(output.stderr).expect("UTF-8"),
        }
    }

    /// Insists on an exit code.
    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }

    /// Insists on a failure that is one clear line.
    #[track_caller]
    pub(crate) fn failed(self, code: i32) -> String {
        let finished = self.expect(code);
        let lines: Vec<&str> = finished.err.lines().collect();
        assert_eq!(lines.len(), 1, "one line: {finished:#?}");
        assert!(lines[0].starts_with("context402: "), "{finished:#?}");
        lines[0].to_owned()
    }
}

/// A running service. It is killed when it is dropped.
#[derive(Debug)]
pub(crate) struct Service {
    pub(crate) address: SocketAddr,
    child: Child,
    /// What it logged before it was ready.
    pub(crate) start_log: Vec<String>,
    /// Its log; read on, so that it never has to wait for us.
    lines: Receiver<String>,
}

/// A command with the settings of a rig, but a port of its own.
pub(crate) fn program_with(resolved: &Resolved, more: &[(&str, &str)]) -> Command {
    let mut command = program();
    for (key, value, origin) in resolved.lines() {
        if !origin.is_empty() {
            command.env(environment_name(key), value);
        }
    }
    command.env("CONTEXT402_LISTEN", "127.0.0.1:0");
    command.envs(UNIT.lines().filter_map(|line| {
        let assignment = line.strip_prefix("Environment=")?;
        assignment.split_once('=')
    }));
    for (key, value) in more {
        command.env(environment_name(key), value);
    }
    command
}

fn serve(resolved: &Resolved, more: &[(&str, &str)]) -> Command {
    let mut command = program_with(resolved, more);
    command.arg("serve");
    command
}

impl Service {
    /// Starts the program with the settings of a rig, but a port of its own.
    pub(crate) fn start(resolved: &Resolved, more: &[(&str, &str)]) -> Service {
        Service::spawn(serve(resolved, more))
    }

    /// The same behind a line of shell, which can take from the program what the system would give it.
    pub(crate) fn start_behind(line: &str, resolved: &Resolved, more: &[(&str, &str)]) -> Service {
        let plain = serve(resolved, more);
        let mut command = Command::new("sh");
        let script = format!("{line}; exec \"$0\" \"$@\"");
        command.args(["-c", &script]).arg(plain.get_program());
        command.args(plain.get_args()).env_clear();
        let set = plain.get_envs();
        command.envs(set.filter_map(|(name, value)| Some((name, value?))));
        command.stdin(Stdio::null()).stderr(Stdio::piped());
        Service::spawn(command)
    }

    /// The same under a supervisor that has told it something.
    pub(crate) fn start_told(resolved: &Resolved, told: &[(&str, &str)]) -> Service {
        let mut command = serve(resolved, &[]);
        command.envs(told.iter().copied());
        Service::spawn(command)
    }

    /// The same on a listener that is handed over as systemd does it, by a shell in systemd's place.
    pub(crate) fn start_on(listener: &TcpListener, resolved: &Resolved) -> Service {
        let program = serve(resolved, &[]);
        let mut shell = Command::new("sh");
        shell
            .args([
                "-c",
                "exec 3<&0 </dev/null; LISTEN_PID=$$ LISTEN_FDS=1 exec \"$0\" serve",
            ])
            .arg(program.get_program())
            .env_clear()
            .envs(
                program
                    .get_envs()
                    .filter_map(|(name, value)| Some((name, value?))),
            )
            .stderr(Stdio::piped());
        let listener = listener.try_clone().expect("a descriptor");
        shell.stdin(Stdio::from(OwnedFd::from(listener)));
        Service::spawn(shell)
    }

    /// The same with a data file that may be damaged: what a program said that did not start. `check` asks for all of
    /// the file to be looked at.
    pub(crate) fn try_start(resolved: &Resolved, check: bool) -> Result<Service, Vec<String>> {
        let mut command = serve(resolved, &[]);
        command.args(check.then_some("--check"));
        Service::spawn_unless_held(command)
    }

    fn spawn(command: Command) -> Service {
        match Service::spawn_unless_held(command) {
            Ok(service) => service,
            Err(seen) => panic!("the service does not say where it is: {seen:#?}"),
        }
    }

    /// Starts it anew while another test's process, between its fork and its own program, still holds the data file that
    /// this test has closed.
    fn spawn_unless_held(mut command: Command) -> Result<Service, Vec<String>> {
        let end = Instant::now() + START_TIME_MAX;
        loop {
            match Service::try_spawn(&mut command, end) {
                Err(seen)
                    if seen.iter().any(|line| line.contains(HELD)) && Instant::now() < end => {}
                started => return started,
            }
        }
    }

    /// What it has said, where it did not come up before `end`.
    fn try_spawn(command: &mut Command, end: Instant) -> Result<Service, Vec<String>> {
        let mut child = command
            .stdout(Stdio::null())
            .spawn()
            .expect("the program starts");
        let (tell, lines) = channel();
        let stderr = BufReader::new(child.stderr.take().expect("piped"));
        std::thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                let _ = tell.send(line);
            }
        });
        match address(&lines, end) {
            Ok((address, start_log)) => Ok(Service {
                address,
                child,
                start_log,
                lines,
            }),
            Err(seen) => {
                let _ = child.kill();
                let _ = child.wait();
                Err(seen)
            }
        }
    }

    /// The same for settings with which it does not start.
    pub(crate) fn refused(resolved: &Resolved, more: &[(&str, &str)]) -> Finished {
        Finished::of(&mut serve(resolved, more))
    }

    pub(crate) fn get(&self, target: &str) -> Ask {
        Ask::new(self.address, "GET", target)
    }

    pub(crate) fn post(&self, target: &str) -> Ask {
        Ask::new(self.address, "POST", target)
    }

    pub(crate) fn order(&self, target_url: &str, tier: &str) -> Ask {
        self.post(crate::harness::ACCESS)
            .json(&order(target_url, tier))
    }

    /// Waits for it to end by itself.
    pub(crate) fn end(&mut self) -> ExitStatus {
        self.end_within(START_TIME_MAX)
    }

    #[track_caller]
    pub(crate) fn end_within(&mut self, time: Duration) -> ExitStatus {
        let end = Instant::now() + time;
        loop {
            match self.child.try_wait().expect("our own child") {
                Some(status) => return status,
                None => assert!(Instant::now() < end, "the service does not end"),
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Ends it as a power cut would.
    pub(crate) fn kill(mut self) {
        self.cut();
        self.end();
    }

    /// The same while others still talk to it.
    pub(crate) fn cut(&self) {
        self.signal("-KILL");
    }

    /// Asks it to stop, as systemd does.
    pub(crate) fn terminate(&self) {
        self.signal("-TERM");
    }

    /// Asks it to read its configuration again.
    pub(crate) fn hang_up(&self) {
        self.signal("-HUP");
    }

    fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args([name, &id]).status();
        assert!(sent.expect("kill runs").success());
    }

    /// Memory in use, in MiB.
    pub(crate) fn memory_mib(&self) -> u64 {
        self.status("VmRSS:") / 1024
    }

    /// The most that ever was.
    pub(crate) fn memory_mib_most(&self) -> u64 {
        self.status("VmHWM:") / 1024
    }

    fn status(&self, name: &str) -> u64 {
        let path = format!("/proc/{}/status", self.child.id());
        let text = std::fs::read_to_string(path).expect("a process that runs");
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        let number = line.and_then(|rest| rest.split_whitespace().next()?.parse().ok());
        number.unwrap_or_else(|| panic!("{name} is not in {text}"))
    }

    /// Files and sockets that it has open.
    pub(crate) fn descriptors(&self) -> usize {
        let path = format!("/proc/{}/fd", self.child.id());
        std::fs::read_dir(path)
            .expect("a process that runs")
            .count()
    }

    /// The log since it was last read.
    pub(crate) fn log(&self) -> Vec<String> {
        self.lines.try_iter().collect()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Where the service says that it is ready, and what it has said before; or all that it has said.
fn address(
    lines: &Receiver<String>,
    end: Instant,
) -> Result<(SocketAddr, Vec<String>), Vec<String>> {
    let mut seen = Vec::new();
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let Ok(line) = lines.recv_timeout(left) else {
            return Err(seen);
        };
        let said: Value = serde_json::from_str(&line).unwrap_or_default();
        if said["message"] == "ready" {
            let address = said["address"].as_str().map(str::parse);
            let address = address.expect("an address").expect("an address and a port");
            return Ok((address, seen));
        }
        seen.push(line);
    }
}
