//! A browser without a browser: speaks the DevTools protocol on descriptors 3 and 4, as Chromium does, and fails in the
//! ways that Chromium fails in. It is this test program itself, started by a script that names one test.

use std::fs::File;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

const MANNER: &str = "FAKE_BROWSER";
const PROXY: &str = "FAKE_BROWSER_PROXY";

/// Writes the script that a worker starts in place of a browser. `test` is the full name of a test that calls [`run`].
pub(crate) fn script(folder: &Path, manner: &str, test: &str) -> PathBuf {
    let program = std::env::current_exe().expect("this program");
    let path = folder.join(format!("browser-{manner}"));
    let text = format!(
        "#!/bin/sh\nfor word in \"$@\"; do case $word in --proxy-server=*) {PROXY}=${{word#--proxy-server=http://}};; esac; done\n\
         export {PROXY}\n{MANNER}={manner} exec '{}' --exact '{test}' --nocapture --test-threads 1\n",
        program.display()
    );
    std::fs::write(&path, text).expect("a folder that can be written");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("our own file");
    path
}

/// Behaves as a browser if this process was started as one.
pub(crate) fn run() {
    let Ok(manner) = std::env::var(MANNER) else {
        return;
    };
    match manner.as_str() {
        "exits" => return,
        "no-sandbox" => {
            let words = b"FATAL: No usable sandbox! If you are running on Ubuntu 23.10+\n";
            std::io::stderr().write_all(words).expect("a pipe");
            return;
        }
        _ => {}
    }
    let commands = File::open("/dev/fd/3").expect("descriptor 3");
    let answers = File::options()
        .write(true)
        .open("/dev/fd/4")
        .expect("descriptor 4");
    Fake {
        manner,
        commands,
        answers,
        url: String::new(),
    }
    .serve();
}

struct Fake {
    manner: String,
    commands: File,
    answers: File,
    url: String,
}

impl Fake {
    fn serve(&mut self) {
        while let Some(command) = self.command() {
            let method = command["method"].as_str().unwrap_or_default().to_owned();
            if !self.answer(&command, &method) {
                return;
            }
        }
    }

    fn command(&mut self) -> Option<Value> {
        let mut bytes = Vec::new();
        loop {
            let mut byte = [0];
            if self.commands.read(&mut byte).ok()? == 0 {
                return None;
            }
            match byte[0] {
                0 => return serde_json::from_slice(&bytes).ok(),
                byte => bytes.push(byte),
            }
        }
    }

    fn send(&mut self, message: Value) {
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        // Whoever has left does not read.
        let _ = self.answers.write_all(&bytes);
    }

    fn event(&mut self, method: &str, params: Value) {
        self.send(json!({"method": method, "params": params, "sessionId": "session"}));
    }

    /// Whether it goes on.
    fn answer(&mut self, command: &Value, method: &str) -> bool {
        let manner = self.manner.clone();
        let is = |name: &str| manner == name;
        let result = match method {
            "Browser.getVersion" if is("garbage") => {
                let _ = self.answers.write_all(b"this is not the protocol\0");
                return true;
            }
            "Browser.getVersion" if is("silent") => {
                std::thread::sleep(Duration::from_secs(60));
                return false;
            }
            "Browser.getVersion" => json!({"product": "FakeBrowser/1.0"}),
            "Target.createBrowserContext" => json!({"browserContextId": "context"}),
            "Target.createTarget" => json!({"targetId": "frame"}),
            "Target.attachToTarget" => json!({"sessionId": "session"}),
            "Page.navigate" => {
                self.url = command["params"]["url"]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned();
                if is("lost") {
                    return false;
                }
                if is("leaves-child") {
                    // It has the pipe, too.
                    let mut child = std::process::Command::new("sleep");
                    child.arg("20").spawn().expect("a child");
                    std::process::exit(1);
                }
                if is("unopened") {
                    self.send(json!({"id": command["id"], "result": {"frameId": "frame", "errorText": "net::ERR_CERT_DATE_INVALID"}}));
                    self.event("Page.loadEventFired", json!({}));
                    return true;
                }
                self.send(json!({"id": command["id"], "result": {"frameId": "frame"}}));
                self.open(&manner);
                return true;
            }
            "Runtime.evaluate" if is_of_picture(command) => {
                let found = match manner.as_str() {
                    "not-there" => false,
                    "whole-passage" => command.to_string().contains("so says the harbour master"),
                    _ => true,
                };
                let part = json!({"x": 0, "y": 40, "width": 640, "height": 800, "found": found});
                json!({"result": {"value": part.to_string()}})
            }
            "Page.captureScreenshot" => match self.picture(&manner, command) {
                Some(answer) => answer,
                None => return true,
            },
            "Runtime.evaluate" => {
                let is_probe = command["params"]["contextId"].is_null();
                if is("hangs") || (is("restless") && is_probe) {
                    return true;
                }
                match is_probe {
                    true => json!({"result": {"value": 5_000}}),
                    false => json!({"result": {"value": self.page(&manner)}}),
                }
            }
            "Page.createIsolatedWorld" => json!({"executionContextId": 7}),
            _ => json!({}),
        };
        self.send(json!({"id": command["id"], "result": result}));
        true
    }

    fn open(&mut self, manner: &str) {
        let refused = manner == "refused";
        self.event(
            "Network.requestWillBeSent",
            json!({"requestId": "1", "type": "Document"}),
        );
        let headers = match refused {
            true => json!({"x-context402-guard": "refused"}),
            false => json!({"content-type": "text/html"}),
        };
        let status = if refused { 403 } else { 200 };
        let response = json!({"status": status, "headers": headers});
        self.event(
            "Network.responseReceived",
            json!({"requestId": "1", "type": "Document", "frameId": "frame", "response": response}),
        );
        self.event("Network.loadingFinished", json!({"requestId": "1"}));
        match manner {
            "crashes" => self.event("Inspector.targetCrashed", json!({})),
            "asks" => self.event("Page.javascriptDialogOpening", json!({"type": "alert"})),
            _ => {}
        }
        self.event("Page.loadEventFired", json!({}));
    }

    /// What the browser says of a picture; nothing, if it does not answer.
    fn picture(&mut self, manner: &str, command: &Value) -> Option<Value> {
        let is_smaller = command["params"]["clip"]["scale"].as_f64() < Some(1.0);
        let bytes = match manner {
            "picture-refused" => {
                let error = json!({"message": "Unable to capture screenshot"});
                self.send(json!({"id": command["id"], "error": error}));
                return None;
            }
            "picture-crashes" => {
                self.event("Inspector.targetCrashed", json!({}));
                return None;
            }
            "picture-hangs" => return None,
            "picture-lost" => std::process::exit(1),
            "picture-of-text" => b"<svg onload=alert(1)>".to_vec(),
            "picture-huge" => png(2_000_000),
            "picture-large" if !is_smaller => png(2_000_000),
            _ => png(1_000),
        };
        Some(json!({"data": STANDARD.encode(bytes)}))
    }

    /// What the serialiser gives.
    fn page(&self, manner: &str) -> String {
        let html = match manner {
            "huge" => "x".repeat(6 * 1024 * 1024),
            "proxied" => self.through_proxy(),
            _ => page_of(&self.url),
        };
        let href = match manner {
            "leads-away" => "chrome://version/",
            "ends-private" => "http://127.0.0.1/",
            _ => &self.url,
        };
        json!({"html": html, "cut": manner == "cut", "consents": 0, "href": href}).to_string()
    }

    /// A page that says what the site has answered through the proxy that the worker names.
    fn through_proxy(&self) -> String {
        let proxy = std::env::var(PROXY).expect("a proxy");
        let mut stream = TcpStream::connect(proxy).expect("the relay");
        let host = self.url.split('/').nth(2).unwrap_or_default();
        let request = format!("GET {} HTTP/1.1\r\nHost: {host}\r\n\r\n", self.url);
        stream.write_all(request.as_bytes()).expect("open");
        // Sites may leave the connection open behind the body, as browsers know.
        let mut answer = Vec::new();
        let mut chunk = [0; 4096];
        while !is_whole(&answer) {
            match stream.read(&mut chunk).expect("an answer") {
                0 => break,
                bytes => answer.extend_from_slice(&chunk[..bytes]),
            }
        }
        let answer = String::from_utf8_lossy(&answer);
        let status = answer.lines().next().unwrap_or_default();
        page_of(&self.url).replacen("<p>", &format!("<p>The site answered {status}. "), 1)
    }
}

/// Whether a script makes the page ready for its picture.
fn is_of_picture(command: &Value) -> bool {
    let expression = command["params"]["expression"].as_str();
    expression.is_some_and(|text| text.contains("::highlight"))
}

/// A PNG by its first and last bytes, with so many between them.
fn png(bytes: usize) -> Vec<u8> {
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x02\x80\0\0\x03\x20".to_vec();
    png.resize(png.len() + bytes, 0);
    png.extend(b"\0\0\0\0IEND\xae\x42\x60\x82");
    png
}

/// A page that has text. The service's own check looks for its script's.
fn page_of(url: &str) -> String {
    let sentence = match url.contains("built-in.context402.invalid") {
        true => "Made by a script. ",
        false => {
            "The ferry to the island leaves at nine in the morning and returns at six in the evening. "
        }
    };
    format!(
        "<!doctype html><title>Rendered</title><main><h1>Rendered</h1><p>{}</p><p>{url}</p></main>",
        sentence.repeat(20)
    )
}

/// Whether a response has come as long as it says it is.
fn is_whole(answer: &[u8]) -> bool {
    let text = String::from_utf8_lossy(answer);
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    let head = head.to_ascii_lowercase();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length:"));
    length
        .and_then(|length| length.trim().parse().ok())
        .is_some_and(|length: usize| body.len() >= length)
}
