//! `context402 setup`, below a prefix and without systemd; tests/install/run starts what it installs.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::harness::process::{Finished, program};
use crate::harness::{Facilitator, Folder, PAY_TO};

/// A machine to set up, with a facilitator that takes our network.
struct Machine {
    folder: Folder,
    facilitator: Facilitator,
}

impl Machine {
    fn new() -> Machine {
        let clock = context402::outside::clock::Clock::System;
        Machine {
            folder: Folder::new(),
            facilitator: Facilitator::start(clock),
        }
    }

    fn setup(&self, arguments: &[&str]) -> Finished {
        let prefix = self.folder.path("root");
        fs::create_dir_all(&prefix).expect("a folder");
        let mut setup = program();
        setup.arg("setup").arg("--prefix").arg(prefix);
        Finished::of(setup.args(arguments))
    }

    /// With everything that is needed, but nothing is started.
    fn whole(&self, more: &[&str]) -> Finished {
        let url = &*self.facilitator.url;
        let base = [
            "--domain",
            "http://127.0.0.1:4999",
            "--listen",
            ":4999",
            "--pay-to",
            PAY_TO,
        ];
        let rest = ["--facilitator", url, "--no-start"];
        self.setup(&[&base[..], &rest[..], more].concat())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path("root").join(name)
    }

    fn config(&self) -> String {
        let path = self.path("etc/context402/config.toml");
        fs::read_to_string(path).expect("a configuration")
    }

    /// Every file below the prefix.
    fn files(&self) -> Vec<String> {
        fn walk(folder: &Path, found: &mut Vec<String>) {
            for entry in fs::read_dir(folder).expect("a folder").flatten() {
                match entry.path() {
                    path if path.is_dir() => walk(&path, found),
                    path => found.push(path.display().to_string()),
                }
            }
        }
        let mut found = Vec::new();
        walk(&self.folder.path("root"), &mut found);
        found
    }
}

/// Without a terminal it never waits for an answer, and a mistake changes nothing.
#[test]
fn setup_says_what_it_needs_and_changes_nothing_before_it_is_right() {
    let machine = Machine::new();
    let line = machine.setup(&["--pay-to", PAY_TO]).failed(2);
    assert!(
        line.contains("--domain, --facilitator are required"),
        "{line}"
    );
    let mistyped = "0x90f79bf6EB2c4f870365E785982E1f101E93b906";
    let url = &*machine.facilitator.url;
    let domain = "http://127.0.0.1:4999";
    for (arguments, why) in [
        (
            [
                "--domain",
                "nowhere",
                "--pay-to",
                PAY_TO,
                "--facilitator",
                url,
            ],
            "must be a domain",
        ),
        (
            [
                "--domain",
                domain,
                "--pay-to",
                mistyped,
                "--facilitator",
                url,
            ],
            "checksum (EIP-55) is wrong",
        ),
        (
            [
                "--domain",
                domain,
                "--pay-to",
                PAY_TO,
                "--facilitator",
                "ftp://x",
            ],
            "https address",
        ),
    ] {
        let line = machine.setup(&arguments).failed(2);
        assert!(line.contains(why), "{line}");
    }
    let base = ["--domain", domain, "--pay-to", PAY_TO, "--facilitator"];
    let gone = machine
        .setup(&[&base[..], &["http://127.0.0.1:9"]].concat())
        .expect(1);
    assert!(gone.err.contains("nothing was changed"), "{gone:#?}");
    assert!(gone.out.contains("BAD   facilitator"), "{gone:#?}");
    // A public address cannot have test funds: the message names the setting to change.
    let public = [
        "--domain",
        "context.example.com",
        "--pay-to",
        PAY_TO,
        "--facilitator",
        "sandbox",
    ];
    let line = machine.setup(&public).failed(78);
    assert!(
        line.contains("set payment.facilitator_url to your facilitator's https"),
        "{line}"
    );
    let dry = machine.whole(&["--dry-run"]).expect(0);
    assert!(dry.out.contains("would write: "), "{dry:#?}");
    assert_eq!(machine.files(), [] as [String; 0]);
}

#[test]
fn setup_configures_and_installs_and_can_be_repeated() {
    let machine = Machine::new();
    let token = machine.folder.path("token");
    fs::write(&token, "a-bearer-token\n").expect("written");
    let token = token.display().to_string();
    let auth = [
        "--facilitator-auth-file",
        &token,
        "--email",
        "me@example.com",
        "--proxy",
        "caddy",
    ];
    machine.whole(&auth).expect(0);
    let config = machine.config();
    for line in [
        "base_url = \"http://127.0.0.1:4999\"",
        "listen = \"127.0.0.1:4999\"",
        "payment.facilitator_auth = \"bearer\"",
        "contact = \"me@example.com\"",
        "trusted_proxies = [\"127.0.0.1\"]",
    ] {
        assert!(config.lines().any(|one| one == line), "{line} in {config}");
    }
    assert!(!config.contains("a-bearer-token"));
    for secret in ["payment/facilitator_token", "operator/token", "signing/key"] {
        let path = machine.path("etc/context402/credentials").join(secret);
        let mode = fs::metadata(&path).expect("a secret").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{secret}");
    }
    let caddy = fs::read_to_string(machine.path("etc/context402/Caddyfile")).expect("written");
    assert!(caddy.contains("reverse_proxy 127.0.0.1:4999"), "{caddy}");
    let socket = fs::read_to_string(machine.path("etc/systemd/system/context402.socket"));
    assert!(
        socket
            .expect("a unit")
            .contains("ListenStream=127.0.0.1:4999")
    );
    assert!(machine.path("bin/context402").exists());
    // Nothing is asked for again, and nothing is made anew.
    let files = machine.files();
    let operator = machine.path("etc/context402/credentials/operator/token");
    let operator = || fs::read(&operator).expect("a token");
    let before = operator();
    machine.setup(&["--no-start"]).expect(0);
    assert_eq!((machine.config(), operator()), (config, before));
    let lasting = |files: Vec<String>| -> Vec<String> {
        let files = files.into_iter();
        let mut files: Vec<_> = files.filter(|file| !file.contains(".previous")).collect();
        files.sort();
        files
    };
    assert_eq!(lasting(machine.files()), lasting(files));
    // Taken back, nothing is left but what it says.
    let undone = machine.setup(&["--undo"]).expect(0);
    assert!(
        undone.out.contains("Still there: ") && undone.out.contains("data and backups"),
        "{undone:#?}"
    );
    assert_eq!(machine.files(), [] as [String; 0]);
    let again = machine.setup(&["--undo"]).failed(1);
    assert!(again.contains("has made nothing here"), "{again}");
}

/// Network, rendering and HTTPS are a flag each: the settings are written, and the units installed.
#[test]
fn setup_takes_networks_a_browser_and_https() {
    let machine = Machine::new();
    let units = |name: &str| machine.path("etc/systemd/system").join(name);
    machine.whole(&["--with-browser"]).expect(0);
    let config = machine.config();
    for line in [
        "render.browser = \"auto\"",
        "render.socket = \"/run/context402-browser.sock\"",
    ] {
        let count = config.lines().filter(|one| *one == line).count();
        assert_eq!(count, 1, "{line} in {config}");
    }
    for unit in [
        "context402-browser.service",
        "context402-browser.socket",
        "context402-egress.socket",
        "context402.service.d/browser.conf",
    ] {
        assert!(units(unit).exists(), "{unit}");
    }
    assert!(!units("context402.socket.d/tls.conf").exists());
    machine.setup(&["--undo"]).expect(0);
    assert_eq!(machine.files(), [] as [String; 0]);

    // The facilitator here knows Base alone, and setup asks it first.
    let other = machine.whole(&["--network", "base-sepolia"]).expect(1);
    assert!(other.out.contains("BAD   facilitator"), "{other:#?}");
    machine.whole(&["--network", "base"]).expect(0);
    let usdc = "payment.asset = \"0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913\"";
    assert!(machine.config().lines().any(|line| line == usdc));
    machine.setup(&["--undo"]).expect(0);

    // An authority of a lab, so that a name of this machine will do; and ports that are free.
    let folder = machine.path("etc/context402");
    fs::create_dir_all(&folder).expect("a folder");
    let lab = "listen = \"127.0.0.1:4997\"\ntls.http_listen = \"127.0.0.1:4996\"\n\
               lab.acme_directory = \"https://127.0.0.1:9/directory\"\n";
    fs::write(folder.join("config.toml"), lab).expect("written");
    let url = &*machine.facilitator.url;
    let needed = ["--pay-to", PAY_TO, "--facilitator", url, "--no-start"];
    let https = ["--tls", "--email", "me@example.com"];
    let plain = machine.setup(&[&["--domain", "http://localhost"], &needed[..], &https].concat());
    let line = plain.failed(78);
    assert!(line.contains("base_url is not an https address"), "{line}");
    let done = machine.setup(&[&["--domain", "https://localhost"], &needed[..], &https].concat());
    let said = done.expect(0);
    assert!(said.out.contains("127.0.0.1:4996 is free"), "{said:#?}");
    let config = machine.config();
    for line in ["tls.acme = true", "tls.acme_email = \"me@example.com\""] {
        assert!(config.lines().any(|one| one == line), "{line} in {config}");
    }
    assert!(units("context402.socket.d/tls.conf").exists());
    let both = machine.setup(&["--tls", "--proxy", "caddy"]).failed(2);
    assert!(both.contains("cannot be used with"), "{both}");
}

/// With the tests' stand-in for systemd it starts what it installs, and buys from itself what it says.
#[test]
fn setup_buys_from_the_service_with_the_operator_s_wallet() {
    let machine = Machine::new();
    let bin = machine.folder.path("bin");
    fs::create_dir_all(&bin).expect("a folder");
    let systemctl = bin.join("systemctl");
    fs::write(&systemctl, include_str!("../install/systemctl")).expect("written");
    fs::set_permissions(&systemctl, fs::Permissions::from_mode(0o755)).expect("ours");
    let state = machine.folder.path("systemd");
    fs::create_dir_all(&state).expect("a folder");
    let key = machine.folder.path("buyer.key");
    fs::write(&key, "17".repeat(32)).expect("written");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).expect("ours");
    let setup = |arguments: &[&str]| {
        let path = std::env::var("PATH").unwrap_or_default();
        let mut setup = program();
        setup
            .env("PATH", format!("{}:{path}", bin.display()))
            .env("INSTALL_TEST_UNITS", machine.path("etc/systemd/system"))
            .env("INSTALL_TEST_STATE", &state);
        let prefix = machine.folder.path("root");
        fs::create_dir_all(&prefix).expect("a folder");
        setup.arg("setup").arg("--prefix").arg(prefix);
        Finished::of(setup.args(arguments))
    };
    let free = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr());
    let listen = free.expect("a port").to_string();
    let (domain, key) = (format!("http://{listen}"), key.display().to_string());
    let url = &*machine.facilitator.url;
    let needed = ["--domain", &domain, "--listen", &listen, "--pay-to", PAY_TO];
    let mut rest = vec!["--facilitator", url, "--buyer-key-file"];
    // A key that cannot be used is found before anything is changed.
    let gone = setup(&[&needed[..], &rest, &["/nonexistent"]].concat()).failed(1);
    assert!(gone.contains("your wallet's private key"), "{gone}");
    assert_eq!(machine.files(), [] as [String; 0]);
    rest.push(&key);
    let done = setup(&[&needed[..], &rest].concat());
    setup(&["--undo"]).expect(0);
    let done = done.expect(0);
    let bought = format!("Bought {domain}/sample for 0.012 USDC from 0x");
    assert!(done.out.contains(&bought), "{done:#?}");
    assert!(done.out.contains(&format!(" to {PAY_TO}, ")), "{done:#?}");
    assert_eq!(machine.facilitator.settlements(), 1);
}

/// An installed Caddy gets one line, however often setup runs, and is as before once that is undone.
#[test]
fn setup_has_an_installed_caddy_import_its_file() {
    let machine = Machine::new();
    let folder = machine.path("etc/caddy");
    fs::create_dir_all(&folder).expect("a folder");
    let caddyfile = folder.join("Caddyfile");
    let mine = ":80 {\n\trespond ok\n}\n";
    fs::write(&caddyfile, mine).expect("written");
    let read = || fs::read_to_string(&caddyfile).expect("a file");
    let dry = machine.whole(&["--caddy", "--dry-run"]).expect(0);
    assert!(dry.out.contains("etc/caddy/Caddyfile"), "{dry:#?}");
    assert_eq!(read(), mine);
    machine.whole(&["--caddy"]).expect(0);
    machine.whole(&["--proxy", "caddy"]).expect(0);
    let ours = machine.path("etc/context402/Caddyfile");
    assert_eq!(read(), format!("{mine}import {}\n", ours.display()));
    machine.setup(&["--undo"]).expect(0);
    assert_eq!(read(), mine);
    let both = machine.setup(&["--caddy", "--tls"]).failed(2);
    assert!(both.contains("cannot be used with"), "{both}");
}

#[test]
fn setup_keeps_what_the_operator_has_written() {
    let machine = Machine::new();
    let folder = machine.path("etc/context402");
    fs::create_dir_all(&folder).expect("a folder");
    let mine = "# Mine.\nbase_url = \"http://127.0.0.1:4998\" # old\n[payment]\n# For tests.\nnetwork = \"eip155:8453\"\n";
    fs::write(folder.join("config.toml"), mine).expect("written");
    let done = machine.whole(&[]).expect(0);
    let config = machine.config();
    for kept in [
        "# Mine.",
        "\"http://127.0.0.1:4999\"  # old",
        "# For tests.",
        "network = \"eip155:8453\"",
    ] {
        assert!(config.contains(kept), "{kept} in {config}");
    }
    assert!(done.out.contains("the one before is "), "{done:#?}");
    let copies = machine.files();
    let copies = copies.iter().filter(|file| file.contains("config.toml.2"));
    let copies: Vec<String> = copies
        .map(|copy| fs::read_to_string(copy).expect("a copy"))
        .collect();
    assert_eq!(copies, [mine]);
    machine.setup(&["--undo"]).expect(0);
    assert_eq!(machine.config(), mine);
    // What was edited afterwards is not thrown away.
    machine.whole(&[]).expect(0);
    let edited = format!("{}# Edited.\n", machine.config());
    fs::write(folder.join("config.toml"), &edited).expect("written");
    let undone = machine.setup(&["--undo"]).expect(0);
    assert!(
        undone.out.contains("because it was changed after setup"),
        "{undone:#?}"
    );
    assert_eq!(machine.config(), edited);
}
