//! The program's commands, as child processes: what they print, and the code they end with.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use context402::domain::amount::Amount;
use context402::domain::check::CheckDepth;
use context402::domain::figures::cents;
use context402::domain::level::Level;
use context402::outside::clock::Clock;
use context402::x402::eip3009::SecretKey;
use serde_json::Value;

use crate::harness::process::{Finished, program, run, run_with_input};
use crate::harness::{
    ARTICLE, Ask, BASE_URL, FERRY, FERRY_CLAIM, FRESH, Folder, PAY_TO, Page, Rig, Says, Wallet,
    price,
};

fn text(path: &Path) -> String {
    path.display().to_string()
}

/// A configuration that is good for a service on loopback, in a folder of its own.
pub(crate) fn config_file(folder: &Folder, more: &str) -> String {
    let path = folder.path("config.toml");
    let data_file = text(&folder.path("data.redb"));
    let head = format!(
        "base_url = \"{BASE_URL}\"\nlisten = \"127.0.0.1:0\"\ndata_file = \"{data_file}\"\n"
    );
    let payment = format!("[payment]\npay_to = \"{PAY_TO}\"\n");
    std::fs::write(&path, format!("{head}{payment}{more}")).expect("written");
    text(&path)
}

/// The first experience.
#[test]
fn the_demo_buys_a_page_and_ends_well() {
    // In short it fits on a screen.
    let short = run(&["demo", "--once", "--listen", ":0"]).expect(0).out;
    assert!(short.lines().count() <= 20, "{short}");
    for step in ["Asked", "402", "Signed", "Delivered", "Settled", "Checked"] {
        let ticked = format!("✓ {step} ");
        assert!(short.contains(&ticked), "{step}: {short}");
    }
    assert!(short.contains("for 0.25 USDC: supported"), "{short}");
    let finished = run(&["demo", "--once", "--verbose"]).expect(0);
    let mut rest = finished.out.as_str();
    for said in [
        "402 Payment Required",
        "30000 atomic units (0.03 USDC)",
        "PAYMENT-SIGNATURE",
        "settled in transaction 0x",
        "9.97 USDC left",
        "| # ",
        "a standard Proof Pack, 0.25 USDC",
        "settled in transaction 0x",
        "| decision    ",
        "2 April",
        "| report      http://127.0.0.1:",
    ] {
        let (_, after) = rest
            .split_once(said)
            .unwrap_or_else(|| panic!("{said:?} in its turn: {finished:#?}"));
        rest = after;
    }
    assert_eq!(finished.err, "");
}

#[test]
fn the_demo_can_keep_its_data_and_be_run_again() {
    let folder = Folder::new();
    let data = text(&folder.path("demo.redb"));
    for _ in 0..2 {
        run(&["demo", "--once", "--data", &data, "--listen", "127.0.0.1:0"]).expect(0);
    }
    assert!(folder.path("demo.redb").exists());
}

/// The demo's console has a week to show, and its ledger agrees with its payments, day by day.
#[test]
fn the_demo_s_console_has_a_week_to_show() {
    let folder = Folder::new();
    let config = config_file(&folder, "");
    let data = text(&folder.path("data.redb"));
    let mut demo = program();
    demo.args(["demo", "--listen", ":0", "--data", &data]);
    let mut demo = demo.spawn().expect("the demo starts");
    let lines = BufReader::new(demo.stdout.take().expect("piped")).lines();
    let mut lines = lines.map(|line| line.expect("UTF-8"));
    let link = lines.find_map(|line| {
        let link = line.strip_prefix("Console     ")?;
        Some(link.split(' ').next().unwrap_or_default().to_owned())
    });
    let link = link.expect("a link to the console");
    assert!(lines.any(|line| line.contains("Ctrl-C")));
    let listed = |what: &str| -> Vec<Value> {
        let list = run(&[what, "list", "--json", "--config", &config]);
        serde_json::from_str(&list.expect(0).out).expect("JSON")
    };
    let [payments, leads, orders, days] = ["payments", "leads", "orders", "ledger"].map(listed);
    let (base_url, code) = link.split_once("/operator?link=").expect("a code");
    let address = base_url.strip_prefix("http://").expect("an address");
    let address = address.parse().expect("an address");
    let signed_in = Ask::new(address, "POST", "/operator/login")
        .header("Content-Type", "application/x-www-form-urlencoded")
        .header("Origin", base_url)
        .body(format!("link={code}"))
        .send()
        .expect(303);
    let cookie = signed_in.must("set-cookie").split(';').next();
    let home = Ask::new(address, "GET", "/operator")
        .header("Cookie", cookie.expect("a cookie"))
        .send()
        .expect(200)
        .text();
    let stopped = Command::new("kill")
        .args(["-INT", &demo.id().to_string()])
        .status();
    assert!(stopped.expect("kill runs").success());
    assert!(demo.wait().expect("an end").success());

    assert_eq!((payments.len(), leads.len(), orders.len()), (42, 3, 2));
    assert!(orders.iter().any(|order| order["state"] == "needs_review"));
    let units = |value: &Value| {
        value
            .as_str()
            .expect("units")
            .parse::<u64>()
            .expect("units")
    };
    let mut by_day = BTreeMap::<u64, (u64, u64)>::new();
    for payment in &payments {
        assert_eq!(payment["state"], "settled", "{payment}");
        let day = payment["created_at"].as_u64().expect("a time") / 86_400;
        let (sales, sum) = by_day.entry(day).or_default();
        (*sales, *sum) = (*sales + 1, *sum + units(&payment["amount_units"]));
    }
    let today = Clock::System.now().day_number();
    let mut total = 0;
    for day in &days {
        let date = day["day"].as_str().expect("a date");
        let ledger = &day["ledger"];
        let revenue = Amount::parse_usdc(ledger["revenue_usdc"].as_str().expect("USDC"));
        let revenue = revenue.expect("USDC").units();
        total += revenue;
        let date: jiff::civil::Date = date.parse().expect("a date");
        let at = date.to_zoned(jiff::tz::TimeZone::UTC).expect("a time");
        let number = u64::try_from(at.timestamp().as_second()).expect("now") / 86_400;
        // The purchases of the demo itself may be on either side of midnight.
        if number + 1 < today {
            let sales = ledger["sales"].as_u64().expect("a number");
            assert_eq!(by_day.get(&number), Some(&(sales, revenue)), "{day}");
        }
    }
    assert!(days.len() >= 8, "{days:#?}");
    assert_eq!(total, by_day.values().map(|(_, sum)| sum).sum::<u64>());
    let total = format!("{} USDC", cents(Amount::from_units(total)));
    assert!(home.contains(&total), "{total}: {home}");
}

/// Test funds stay on loopback.
#[test]
fn the_demo_listens_on_loopback_only() {
    let line = run(&["demo", "--once", "--listen", "0.0.0.0:0"]).failed(2);
    assert!(line.contains("loopback"), "{line}");
}

#[test]
fn a_demo_that_fails_says_so() {
    let finished = run(&["demo", "--once", "--url", "http://10.0.0.1/"]);
    let line = finished.failed(1);
    assert!(line.contains("the purchase failed"), "{line}");
}

#[test]
fn config_init_writes_a_file_that_names_what_is_needed() {
    let folder = Folder::new();
    let path = folder.path("config.toml");
    let shown = run(&["config", "init"]).expect(0);
    run(&["config", "init", &text(&path)]).expect(0);
    let written = std::fs::read_to_string(&path).expect("written");
    assert_eq!(written.trim_end(), shown.out.trim_end());
    for key in [
        "base_url",
        "listen",
        "data_file",
        "pay_to",
        "facilitator_url",
        "hosts",
        "blocklist",
    ] {
        assert!(written.contains(key), "{key}");
    }
    let mode = std::fs::metadata(&path)
        .expect("there")
        .permissions()
        .mode();
    assert_eq!(mode & 0o007, 0, "others may not read it: {mode:o}");
    // Never over a file that is there.
    let line = run(&["config", "init", &text(&path)]).failed(1);
    assert!(
        line.contains("config.toml") && line.contains("was not changed"),
        "{line}"
    );
    // What is still to be set is told at once, a line each with its place.
    let told = run(&["config", "check", "--config", &text(&path)])
        .expect(78)
        .err;
    assert_eq!(told.lines().count(), 4, "{told}");
    for key in ["base_url", "payment.pay_to", "payment.facilitator_url"] {
        let mut lines = told.lines();
        let line = lines.find(|line| line.contains(&format!(": {key} ")));
        assert!(
            line.is_some_and(|line| line.contains("config.toml, line ")),
            "{told}"
        );
    }
    let mended = written
        .replace("0x0000000000000000000000000000000000000000", PAY_TO)
        .replace("https://your-domain.example", "https://context.example.com")
        .replace(
            "https://your-facilitator.example",
            "https://facilitator.example.com",
        );
    std::fs::write(&path, mended).expect("written");
    let finished = run(&["config", "check", "--config", &text(&path)]).expect(0);
    assert!(
        finished.out.contains("https://context.example.com"),
        "{finished:#?}"
    );
}

/// An installation's configuration need not be named each time.
#[test]
fn a_command_finds_the_configuration_by_itself() {
    let folder = Folder::new();
    let config = config_file(&folder, "");
    let check = |named: &str| {
        let mut command = program();
        Finished::of(
            command
                .args(["config", "check"])
                .env("CONTEXT402_CONFIG", named),
        )
    };
    assert!(check(&config).expect(0).out.contains("is valid"));
    assert!(check("").failed(78).contains("no configuration found"));
    let gone = check("/nowhere/config.toml").failed(78);
    assert!(gone.contains("/nowhere/config.toml"), "{gone}");
}

/// A mistyped filter left the log as it is by default, without a word.
#[test]
fn serve_does_not_start_with_a_log_filter_that_it_cannot_read() {
    let folder = Folder::new();
    let config = config_file(&folder, "");
    let serve = Finished::of(
        program()
            .args(["serve", "--create", "--config", &config])
            .env("CONTEXT402_LOG", "info,context402::outside=debugg"),
    );
    let error = serve.failed(78);
    assert!(
        error.contains("CONTEXT402_LOG: \"context402::outside=debugg\" is not a log directive"),
        "{error}"
    );
    // The check finds what the start would.
    let check = Finished::of(
        program()
            .args(["config", "check", "--config", &config])
            .env("CONTEXT402_LOG", "inof"),
    );
    let error = check.failed(78);
    assert!(
        error.contains("CONTEXT402_LOG: \"inof\" is not a log directive"),
        "{error}"
    );
}

#[test]
fn config_print_shows_every_setting_and_no_secret() {
    let folder = Folder::new();
    let config = config_file(
        &folder,
        "facilitator_url = \"https://f.example.com\"\nfacilitator_auth = \"bearer\"\n",
    );
    let finished = Finished::of(
        program()
            .args(["config", "print", "--config", &config])
            .env("CONTEXT402_PAYMENT_FACILITATOR_TOKEN", "very-secret-token")
            .env("CONTEXT402_LISTEN", "127.0.0.1:9999"),
    )
    .expect(0);
    assert!(!finished.out.contains("very-secret-token"), "{finished:#?}");
    assert!(
        finished.out.contains("payment.facilitator_token = ***"),
        "{finished:#?}"
    );
    let line = |key: &str| {
        let found = finished
            .out
            .lines()
            .find(|line| line.starts_with(&format!("{key} = ")));
        found
            .unwrap_or_else(|| panic!("{key}: {finished:#?}"))
            .to_owned()
    };
    assert!(
        line("listen").contains("127.0.0.1:9999") && line("listen").contains("CONTEXT402_LISTEN")
    );
    assert!(line("base_url").contains("config.toml"));
    assert!(line("limits.connections_max").contains("default"));
    let last = finished.out.lines().last().expect("a line");
    assert!(
        last.starts_with("# ") && last.contains("/operator/console/config"),
        "what the console has changed is not in the file: {last}"
    );
}

/// Exit code 78, one line, which setting and where its value came from.
#[test]
fn a_wrong_configuration_is_told_by_its_setting() {
    let folder = Folder::new();
    for (more, named) in [
        ("nonsense = 1\n", "nonsense"),
        ("network = \"solana:main\"\n", "payment.network"),
        (
            "verify_seconds_max = \"soon\"\n",
            "payment.verify_seconds_max",
        ),
        ("verify_seconds_max = 0\n", "payment.verify_seconds_max"),
        (
            "facilitator_auth = \"bearer\"\n",
            "payment.facilitator_token",
        ),
        ("facilitator_token = \"in the file\"\n", "facilitator_token"),
        (
            "[bundles]\nwebhook_secrets_file = [\"/x\"]\n",
            "bundles.webhook_secrets_file",
        ),
        (
            "[lab]\nhosts = { \"a.sample-site.org\" = \"93.184.216.34@192.0.2.1:80\" }\n",
            "lab.hosts",
        ),
        ("[nosuch]\nkey = 1\n", "nosuch"),
        ("not toml at all", "config.toml"),
    ] {
        let config = config_file(&folder, more);
        for command in ["check", "serve"] {
            let arguments: &[&str] = match command {
                "check" => &["config", "check", "--config", &config],
                _ => &["serve", "--config", &config],
            };
            let finished = run(arguments).expect(78);
            assert!(
                finished.err.starts_with("context402: ") && finished.err.contains(named),
                "{more:?}: {finished:#?}"
            );
        }
    }
    // The file as `config init` takes it.
    let finished = run(&["config", "check", "/nowhere/config.toml"]).expect(78);
    assert!(
        finished.err.contains("/nowhere/config.toml"),
        "{finished:#?}"
    );
    let finished = run(&["serve", "--config", "/nowhere/config.toml"]).expect(78);
    assert!(finished.err.contains("config init"), "{finished:#?}");
    // Without any configuration, every command that needs one says where it looked and how to get one.
    for command in [
        &["serve"] as &[&str],
        &["doctor"],
        &["payments", "list"],
        &["backup", "x.redb"],
        &["config", "check"],
        &["payments", "reconcile"],
    ] {
        let finished = run(command).expect(78);
        for part in [
            "no configuration found",
            "$CONTEXT402_CONFIG",
            "/etc/context402/config.toml",
            "context402 config init",
            "context402 setup",
        ] {
            assert!(finished.err.contains(part), "{part}: {finished:#?}");
        }
    }
}

/// Test seams and test funds are refused for a public address.
#[test]
fn what_is_for_tests_is_refused_in_public() {
    let folder = Folder::new();
    for (more, named) in [
        ("facilitator_url = \"sandbox\"\n", "sandbox"),
        ("facilitator_url = \"http://f.example.com\"\n", "https"),
        (
            "facilitator_url = \"https://f.example.com\"\n[lab]\ncrash_at = \"kept\"\n",
            "lab.crash_at",
        ),
        (
            "facilitator_url = \"https://f.example.com\"\n[lab]\nca_file = \"/tmp/ca.pem\"\n",
            "lab.ca_file",
        ),
        (
            "facilitator_url = \"https://f.example.com\"\n[lab]\nhosts = { \"a.sample-site.org\" = \"93.184.216.34@127.0.0.1:80\" }\n",
            "lab.hosts",
        ),
    ] {
        let config = config_file(&folder, more);
        let finished = Finished::of(
            program()
                .args(["serve", "--config", &config])
                .env("CONTEXT402_BASE_URL", "https://context.example.com"),
        );
        let line = finished.failed(78);
        assert!(
            line.contains(named) && line.contains("base_url is public"),
            "{more:?}: {line}"
        );
    }
}

/// A wiped file must never forget used payments: a missing one is not made by serving.
#[test]
fn serve_refuses_a_missing_data_file_and_names_init() {
    let folder = Folder::new();
    let config = config_file(&folder, "");
    let line = run(&["serve", "--config", &config]).failed(1);
    assert!(
        line.contains("data.redb") && line.contains("init"),
        "{line}"
    );
    assert!(!folder.path("data.redb").exists());
}

#[test]
fn init_makes_the_data_file_once() {
    let folder = Folder::new();
    let config = config_file(&folder, "");
    let finished = run(&["init", "--config", &config]).expect(0);
    assert!(finished.out.contains("serve"), "{finished:#?}");
    let mode = std::fs::metadata(folder.path("data.redb"))
        .expect("there")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600, "{mode:o}");
    let before = std::fs::read(folder.path("data.redb")).expect("readable");
    run(&["init", "--config", &config]).failed(1);
    assert_eq!(
        std::fs::read(folder.path("data.redb")).expect("readable"),
        before
    );
}

/// A damaged, foreign or empty file is refused in one line and left as it is.
#[test]
fn a_file_that_is_not_ours_is_refused_and_left_alone() {
    let folder = Folder::new();
    let config = config_file(&folder, "");
    run(&["init", "--config", &config]).expect(0);
    let good = std::fs::read(folder.path("data.redb")).expect("readable");
    let mut torn = good.clone();
    torn.truncate(good.len() / 2);
    for content in [&b""[..], b"not a database at all", &[0; 8192], &torn] {
        std::fs::write(folder.path("data.redb"), content).expect("written");
        let finished = run(&["serve", "--config", &config]).expect(1);
        let last = finished.err.lines().last().unwrap_or_default();
        assert!(
            last.starts_with("context402: ") && last.contains("data.redb"),
            "{finished:#?}"
        );
        assert!(!finished.err.contains("panicked"), "{finished:#?}");
        assert_eq!(
            std::fs::read(folder.path("data.redb")).expect("readable"),
            content
        );
    }
}

#[test]
fn two_services_cannot_share_a_data_file() {
    let mut rig = Rig::today();
    rig.in_process(&[], |rig, service| {
        let config = config_file(&rig.folder, "");
        let line = run(&["serve", "--config", &config]).failed(1);
        assert!(line.contains("data.redb"), "{line}");
        // The first one does not notice.
        service.get("/health").send().expect(200);
        let socket =
            std::fs::metadata(rig.folder.path("data.sock")).expect("the operator's socket");
        assert_eq!(socket.permissions().mode() & 0o777, 0o600);
    });
}

#[test]
fn wrong_usage_is_2() {
    for arguments in [
        &["nonsense"][..],
        &[],
        &["serve", "--nonsense"],
        &["buy"],
        &["buy", ARTICLE],
        &["convert", "--threads", "2"],
        &["convert", "--jsonl", "--threads", "0"],
        &["convert", "--jsonl", "--threads", "many"],
        &["convert", "--jsonl", "--threads", "18446744073709551615"],
        &["evidence", "--jsonl", "--threads", "1025"],
        &["healthcheck", "--wait", "18446744073709551615"],
        &["convert", "--json", "--jsonl"],
        &["evidence", "--json", "--jsonl"],
        &["evidence", "--jsonl", "--question", "What?"],
        &["evidence", "--training"],
        &["check"],
        &["check", "answer.md"],
        &["check", "-", "--source", "-"],
        &[
            "check",
            "answer.md",
            "--source",
            "page.md",
            "--depth",
            "none",
        ],
        &["config"],
        &["payments"],
        &["demo", "--listen", "nowhere"],
        &[
            "buy",
            "nowhere",
            "--seller",
            "http://127.0.0.1:9",
            "--key-file",
            "k",
        ],
        &[
            "buy",
            ARTICLE,
            "--seller",
            "ftp://127.0.0.1/",
            "--key-file",
            "k",
        ],
        &["payments", "list", "--state", "nonsense"],
        &["reports", "list", "--state", "nonsense"],
        &["orders", "list", "--state", "nonsense"],
        &["mail", "list", "--state", "nonsense"],
        &["leads", "list", "--status", "nonsense"],
        &["leads", "list", "--product", "nonsense"],
        &["leads", "move", "lead_1", "new"],
        &["ledger", "check", "yesterday"],
        &["export", "nonsense"],
    ] {
        let finished = run(arguments);
        assert_eq!(finished.code, Some(2), "{arguments:?}: {finished:#?}");
        assert!(
            finished.out.is_empty() && !finished.err.is_empty(),
            "{finished:#?}"
        );
        // Help stands in the place of a command that is missing.
        if !finished.err.contains("\nUsage: ") {
            finished.failed(2);
        }
    }
    let help = run(&["--help"]).expect(0);
    for command in [
        "demo", "serve", "init", "convert", "evidence", "check", "buy", "config", "payments",
        "routes", "openapi",
    ] {
        assert!(help.out.contains(command), "{command}");
    }
    assert!(run(&["--version"]).expect(0).out.starts_with("context402 "));
}

#[test]
fn routes_prints_the_table() {
    let finished = run(&["routes"]).expect(0);
    assert_eq!(
        finished.out.lines().count(),
        context402::routes::ROUTES.len()
    );
    let paid = finished
        .out
        .lines()
        .find(|line| line.starts_with("POST   /v1/x402/access "));
    assert!(
        paid.is_some_and(|line| line.contains("/from/{source}")),
        "{finished:#?}"
    );
    assert!(
        finished
            .out
            .lines()
            .any(|line| line.contains("/operator/payments") && line.contains("operator's socket"))
    );
}

/// Without a service, without a configuration: the document that the service would serve.
#[test]
fn openapi_prints_the_document() {
    let printed: Value = serde_json::from_str(&run(&["openapi"]).expect(0).out).expect("JSON");
    let rig = Rig::start();
    let served = rig.get("/openapi.json").expect(200).text();
    // The vault is the configuration's.
    let served = served.replace(PAY_TO, "0x000000000000000000000000000000000000dEaD");
    let served: Value = serde_json::from_str(&served).expect("JSON");
    for part in ["paths", "components"] {
        let (printed, served) = (&printed[part], &served[part]);
        assert_eq!(first_difference(printed, served), None, "{part}");
    }
}

/// Where two documents part, with what each says there.
fn first_difference(one: &Value, other: &Value) -> Option<String> {
    match (one, other) {
        (Value::Object(ones), Value::Object(others)) if ones.len() == others.len() => {
            ones.iter().find_map(|(name, value)| {
                let at = |found| format!("{name}/{found}");
                first_difference(value, others.get(name).unwrap_or(&Value::Null)).map(at)
            })
        }
        (Value::Array(ones), Value::Array(others)) if ones.len() == others.len() => ones
            .iter()
            .zip(others)
            .find_map(|(one, other)| first_difference(one, other)),
        _ => (one != other).then(|| format!(": {one:.200} is not {other:.200}")),
    }
}

const HTML: &str = "<html><head><title>T</title></head><body><nav><a href=\"/menu\">Menu</a></nav><main><h1>Title</h1>\
                    <p>Some words and a <a href=\"page\">link</a> to follow, enough of them to count.</p></main></body></html>";

#[test]
fn convert_reads_standard_input() {
    let finished = run_with_input(
        &["convert", "-", "--url", "https://example.com/a/"],
        HTML.as_bytes(),
    )
    .expect(0);
    assert!(finished.out.starts_with("# Title\n"), "{finished:#?}");
    assert!(
        finished.out.contains("[link](https://example.com/a/page)"),
        "{finished:#?}"
    );
    assert!(!finished.out.contains("Menu"), "{finished:#?}");
    let full = run_with_input(&["convert", "--full"], HTML.as_bytes()).expect(0);
    assert!(full.out.contains("Menu"), "{full:#?}");
    let json = run_with_input(&["convert", "--json"], HTML.as_bytes()).expect(0);
    let members: Value = serde_json::from_str(&json.out).expect("JSON");
    assert_eq!(members["metadata"]["title"], "T");
    assert!(
        members["markdown"]
            .as_str()
            .is_some_and(|markdown| markdown.starts_with("# Title"))
    );
}

/// Warnings stand on standard error, so that the page can be piped; a wall is converted, and called one.
#[test]
fn convert_tells_warnings_and_walls() {
    let html =
        "<title>Log in</title><p>Please log in to continue.<form><input type=password></form>";
    let finished = run_with_input(&["convert", "-"], html.as_bytes()).expect(0);
    assert_eq!(finished.out, "# Log in\n\nPlease log in to continue.\n");
    for line in [
        "warning   login_wall: ",
        "warning   page_walled: The page shows a login",
    ] {
        assert!(finished.err.contains(line), "{finished:#?}");
    }
    let json = run_with_input(&["convert", "--json"], html.as_bytes()).expect(0);
    assert_eq!(json.err, "");
    let members: Value = serde_json::from_str(&json.out).expect("JSON");
    assert_eq!(members["wall"], "login");
    let page = run_with_input(&["convert", "--json"], HTML.as_bytes()).expect(0);
    let members: Value = serde_json::from_str(&page.out).expect("JSON");
    assert_eq!(members.get("wall"), None);
}

#[test]
fn convert_reads_files_and_says_which_is_missing() {
    let folder = Folder::new();
    std::fs::write(folder.path("page.html"), HTML).expect("written");
    let finished = run(&["convert", &text(&folder.path("page.html"))]).expect(0);
    assert!(finished.out.starts_with("# Title\n"));
    let line = run(&["convert", &text(&folder.path("none.html"))]).failed(1);
    assert!(
        line.contains("none.html") && line.contains("Give a readable file"),
        "{line}"
    );
    let line = run_with_input(&["convert", "-"], b"").failed(1);
    assert!(!line.is_empty());
    // Addresses are held to the policy of a sale.
    for target in [
        "http://127.0.0.1:1/",
        "http://10.0.0.1/",
        "http://localhost/",
        "HTTP://localhost/",
    ] {
        let line = run(&["convert", target]).failed(1);
        assert!(!line.contains("No such file"), "{line}");
    }
}

#[test]
fn convert_knows_what_a_file_is() {
    let folder = Folder::new();
    let files = [
        (
            "data.json",
            "{\"title\":\"T\",\"list\":[1,2]}",
            "json",
            "```json\n",
        ),
        (
            "feed.xml",
            "<?xml version=\"1.0\"?><rss><channel><title>News</title></channel></rss>",
            "feed",
            "# News",
        ),
        (
            "data.xml",
            "<?xml version=\"1.0\"?><a>b</a>",
            "xml",
            "```xml\n",
        ),
        ("table.tsv", "a\tb\n1\t2\n", "text", "| a | b |"),
        (
            "notes.md",
            "# Notes [a](b)\n",
            "origin_markdown",
            "# Notes [a](https://example.com/b)",
        ),
        ("words.txt", "*words*\n", "text", "\\*words\\*"),
        ("page.bin", HTML, "html", "# Title"),
    ];
    let mut lines = String::new();
    for (name, content, source, start) in files {
        let path = text(&folder.path(name));
        std::fs::write(&path, content).expect("written");
        let json = run(&["convert", "--json", &path]).expect(0);
        let members: Value = serde_json::from_str(&json.out).expect("JSON");
        assert_eq!(members["content_source"], source, "{name}");
        let markdown = members["markdown"].as_str().unwrap_or_default();
        assert!(markdown.starts_with(start), "{name}: {markdown}");
        lines.push_str(&format!(
            "{}\n",
            serde_json::json!({"id": source, "path": path})
        ));
    }
    let finished = run_with_input(&["convert", "--jsonl"], lines.as_bytes()).expect(0);
    for line in finished.out.lines() {
        let line: Value = serde_json::from_str(line).expect("JSON");
        assert_eq!(line["content_source"], line["id"]);
    }
    let picture = text(&folder.path("page.html"));
    std::fs::write(&picture, b"\x89PNG\r\n").expect("written");
    let line = run(&["convert", &picture]).failed(1);
    assert!(line.contains("a PNG image"), "{line}");
}

#[test]
fn evidence_is_found_in_a_page() {
    let page = "<title>Fares</title><main><h1>Fares</h1><p>A day ticket costs 7 euros. Dogs travel free.</p></main>";
    let asked = ["evidence", "--question", "How much does a day ticket cost?"];
    let finished = run_with_input(&asked, page.as_bytes()).expect(0);
    assert!(
        finished.out.contains("A day ticket costs 7 euros."),
        "{finished:#?}"
    );
    let claim = ["evidence", "--json", "--question", "Dogs travel free."];
    let finished = run_with_input(&claim, page.as_bytes()).expect(0);
    let told: Value = serde_json::from_str(&finished.out).expect("JSON");
    assert_eq!(told["decision"], "supported", "{told}");
    assert_eq!(told["citations"][0]["text"], "Dogs travel free.");
    let finished = run_with_input(&["evidence"], page.as_bytes()).expect(0);
    assert!(
        finished.out.starts_with("weak") || finished.out.starts_with("partially"),
        "{finished:#?}"
    );
    run(&["evidence", "/nowhere/page.html"]).failed(1);
}

#[test]
fn a_text_is_checked_against_files() {
    let folder = Folder::new();
    let write = |name: &str, content: &str| {
        let path = folder.path(name);
        std::fs::write(&path, content).expect("written");
        text(&path)
    };
    let fares = write(
        "fares.html",
        "<title>Fares</title><main><h1>Fares</h1><p>A day ticket costs 7 euros. Dogs travel free.</p></main>",
    );
    let rules = write("rules.md", "# Rules\n\nA day ticket costs 7 euros.\n");
    let answer = "Hello! A day ticket costs 9 euros. Dogs travel free.";
    let command = ["check", "-", "--source", &fares, "--source", &rules];
    let told = run_with_input(&command, answer.as_bytes()).expect(0).out;
    assert!(
        told.contains("To correct:") && told.contains("A day ticket costs 9 euros."),
        "{told}"
    );
    assert!(told.contains("supported: Dogs travel free."), "{told}");
    let path = write("answer.md", answer);
    let finished = run(&[
        "check", &path, "--source", &fares, &rules, "--depth", "quick", "--json",
    ]);
    let told: Value = serde_json::from_str(&finished.expect(0).out).expect("JSON");
    assert_eq!(
        told["claims"][0]["no_grounding_reason"], "greeting",
        "{told}"
    );
    assert_eq!(told["corrections"][0]["label"], "contradicted", "{told}");
    assert_eq!(told["corrections"][0]["start"], 7);
    assert_eq!(told["sources"][1]["id"], "S2");
    run(&["check", &path, "--source", "/nowhere/page.html"]).failed(1);
    let long = write("long.md", &"Dogs travel free. ".repeat(500));
    let line = run(&["check", &long, "--source", &fares]).failed(2);
    assert!(line.contains("at most 8000"), "{line}");
}

/// Offsets count code points, and every line is answered under its id.
#[test]
fn evidence_jsonl_counts_code_points() {
    let text = "🎉 Zoë painted it.\nThe façade is blue.";
    let lines = [
        serde_json::json!({"id": 1, "kind": "question", "query": "Which colour is the façade?", "document_text": text}),
        serde_json::json!({"id": "two", "kind": "claim", "query": "The façade is blue.",
            "sentences": ["🎉 Zoë painted it.", "The façade is blue."]}),
        serde_json::json!({"id": 3, "query": "What?"}),
    ];
    let input: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let finished =
        run_with_input(&["evidence", "--jsonl"], (input + "none\n").as_bytes()).expect(0);
    let told: Vec<Value> = finished
        .out
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(told.len(), 4);
    for (number, id) in [(0, serde_json::json!(1)), (1, serde_json::json!("two"))] {
        let citation = &told[number]["citations"][0];
        assert_eq!(told[number]["id"], id);
        assert_eq!(
            (&citation["start"], &citation["end"]),
            (&18.into(), &37.into()),
            "{citation}"
        );
        assert_eq!(citation["text"], "The façade is blue.");
    }
    assert_eq!(told[1]["decision"], "supported");
    assert!(told[2]["id"] == 3 && told[2]["error"].is_string());
    assert!(told[3]["id"].is_null() && told[3]["error"].is_string());
}

/// One line in, one line out, in order, whatever some of them are.
/// A file that is named is read, whichever command reads lines, and bytes that are no UTF-8 spoil no other line.
#[test]
fn lines_are_read_from_a_file_too() {
    let folder = Folder::new();
    let input = text(&folder.path("lines.jsonl"));
    for (command, line, member) in [
        (
            "convert",
            r#"{"id":1,"html":"<p>Some words~</p>"}"#,
            "markdown",
        ),
        (
            "evidence",
            r#"{"id":1,"query":"words?","document_text":"Some words~."}"#,
            "decision",
        ),
    ] {
        let broken: Vec<u8> = line
            .bytes()
            .map(|byte| if byte == b'~' { 0xff } else { byte })
            .collect();
        std::fs::write(&input, [&broken[..], b"\n", &broken[..]].concat()).expect("written");
        let finished = run(&[command, "--jsonl", &input]).expect(0);
        let answers: Vec<Value> = finished
            .out
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect();
        assert_eq!(answers.len(), 2, "{finished:#?}");
        assert!(
            answers.iter().all(|answer| answer[member].is_string()),
            "{finished:#?}"
        );
        run(&[command, "--jsonl", &text(&folder.path("none.jsonl"))]).failed(1);
    }
}

#[test]
fn convert_jsonl_says_what_a_browser_is_for() {
    let sentence = "The ferry to the island leaves at nine in the morning. ";
    let app =
        "<div id=root></div><noscript>You need to enable JavaScript to run this app.</noscript>";
    let pages = [
        (app.to_owned(), true),
        ("<div id=root></div><script>go()</script>".to_owned(), true),
        (
            "<main><h1>Ferry</h1><p>One line.</p></main>".to_owned(),
            true,
        ),
        (
            format!("<main><h1>Ferry</h1><p>{}</p></main>", sentence.repeat(40)),
            false,
        ),
        ("%PDF-1.7 damaged".to_owned(), false),
    ];
    let line = |(page, id)| format!("{}\n", serde_json::json!({"id": id, "html": page}));
    let input: String = pages.clone().map(line).concat();
    let finished = run_with_input(&["convert", "--jsonl"], input.as_bytes()).expect(0);
    assert_eq!(finished.out.lines().count(), pages.len());
    for line in finished.out.lines() {
        let line: Value = serde_json::from_str(line).expect("JSON");
        assert_eq!(line["calls_for_rendering"], line["id"], "{line}");
    }
    // Of a part, being short says nothing.
    let finished = run_with_input(
        &["convert", "--jsonl", "--selector", "p"],
        line(pages[2].clone()).as_bytes(),
    );
    let line: Value = serde_json::from_str(&finished.expect(0).out).expect("JSON");
    assert_eq!(line["calls_for_rendering"], false, "{line}");
}

#[test]
fn convert_jsonl_keeps_the_order() {
    let folder = Folder::new();
    std::fs::write(folder.path("page.html"), HTML).expect("written");
    let mut input = String::new();
    for number in 0..200 {
        // Some are large, so that threads overtake one another.
        let words = "word ".repeat(if number % 7 == 0 { 20_000 } else { 20 });
        let line = match number {
            50 => serde_json::json!({"id": number}),
            51 => serde_json::json!({"id": number, "path": text(&folder.path("page.html"))}),
            52 => {
                serde_json::json!({"id": "a text", "html": HTML, "url": "https://example.com/b/"})
            }
            53 => serde_json::json!({"id": number, "html": HTML, "url": "no address"}),
            _ => {
                serde_json::json!({"id": number, "html": format!("<h1>Page {number}</h1><p>{words}</p>")})
            }
        };
        input.push_str(&format!("{line}\n"));
    }
    input.push_str("not json\n");
    for threads in ["1", "4"] {
        let finished = run_with_input(
            &["convert", "--jsonl", "--threads", threads],
            input.as_bytes(),
        )
        .expect(0);
        let lines: Vec<Value> = finished
            .out
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect();
        assert_eq!(lines.len(), 201);
        for (number, line) in lines.iter().enumerate() {
            match number {
                50 | 53 => assert!(line["error"].is_string() && line["id"] == number, "{line}"),
                51 => assert!(
                    line["markdown"]
                        .as_str()
                        .is_some_and(|text| text.starts_with("# Title"))
                ),
                52 => assert!(
                    line["id"] == "a text"
                        && line["markdown"]
                            .as_str()
                            .is_some_and(|text| text.contains("https://example.com/b/page"))
                ),
                200 => assert!(line["error"].is_string() && line["id"].is_null(), "{line}"),
                _ => {
                    assert_eq!(line["id"], number);
                    assert!(
                        line["markdown"]
                            .as_str()
                            .is_some_and(|text| text.starts_with(&format!("# Page {number}\n"))),
                        "{number}"
                    );
                    assert!(line["metadata"].is_object());
                }
            }
        }
    }
}

#[test]
fn payments_are_listed_over_the_socket() {
    let mut rig = Rig::today();
    let wallet = Wallet::new();
    let mut listed = String::new();
    rig.in_process(&[], |rig, service| {
        let config = config_file(&rig.folder, "");
        assert_eq!(
            run(&["payments", "list", "--config", &config])
                .expect(0)
                .out,
            ""
        );
        let payment = wallet.sign_at(service.address, "fresh", Clock::System.now(), None);
        service
            .order(ARTICLE, "fresh")
            .paid(&payment.header)
            .send()
            .expect(200);
        listed = run(&["payments", "list", "--config", &config])
            .expect(0)
            .out;
        assert_eq!(listed.lines().count(), 2);
        assert!(listed.starts_with("CREATED"), "{listed}");
        for part in [
            "settled",
            " 0.03 ",
            " context ",
            " fresh ",
            &wallet.address().to_string(),
            ARTICLE,
        ] {
            assert!(listed.contains(part), "{part}: {listed}");
        }
        // States are typed as they are shown, or as JSON names them.
        for state in ["authorized", "held", "answered"] {
            let held = run(&["payments", "list", "--config", &config, "--state", state]);
            assert_eq!(held.expect(0).out, "");
        }
        let key = listed.split_whitespace().last().expect("a key").to_owned();
        // Its beginning is enough.
        let shown = run(&["payments", "show", "--config", &config, &key[..6]]).expect(0);
        let shown: Value = serde_json::from_str(&shown.out).expect("JSON");
        assert_eq!(shown["payer"], wallet.address().to_string());
        assert_eq!(
            run(&[
                "payments", "list", "--config", &config, "--state", "unknown"
            ])
            .expect(0)
            .out,
            ""
        );
        let line = run(&["payments", "show", "--config", &config, "00"]).failed(1);
        assert!(line.contains("No such payment"), "{line}");
        service.terminate();
        let mut service = service;
        assert!(service.end().success());
        let finished = run(&["payments", "list", "--config", &config]);
        assert_ne!(finished.code, Some(101), "{finished:#?}");
    });
}

/// Straight to the file when the service is stopped; the user notices no difference.
#[test]
fn payments_are_listed_from_the_file_of_a_stopped_service() {
    let mut rig = Rig::start();
    rig.buy(&Wallet::new(), ARTICLE, "fresh").expect(200);
    assert!(rig.stop());
    let config = config_file(&rig.folder, "");
    let finished = run(&["payments", "list", "--config", &config]).expect(0);
    assert!(finished.out.contains(ARTICLE), "{finished:#?}");
}

/// Reports are listed, shown and forgotten, by the running service and from the file of a stopped one.
#[test]
fn reports_are_listed_shown_and_forgotten() {
    let mut rig = Rig::today();
    let buy = |rig: &Rig| {
        let sold = rig.buy_report(&Wallet::new(), FERRY, "quick", FERRY_CLAIM);
        let report = sold.expect(200).json();
        report["report_id"].as_str().expect("an id").to_owned()
    };
    let config = config_file(&rig.folder, "");
    let reports = |more: &[&str]| run(&[&["reports"], more, &["--config", &config]].concat());
    for runs in [true, false] {
        let (one, other) = (buy(&rig), buy(&rig));
        if !runs {
            assert!(rig.stop());
        }
        let listed = reports(&["list", "--state", "retained"]).expect(0).out;
        assert!(listed.contains(&one) && listed.contains(&other) && listed.contains(FERRY));
        let shown = reports(&["show", &one]).expect(0).out;
        let shown: Value = serde_json::from_str(&shown).expect("JSON");
        assert_eq!(shown["report"]["question"], FERRY_CLAIM);
        reports(&["purge", &one]).expect(0);
        assert!(
            reports(&["show", &one])
                .failed(1)
                .contains("No such report")
        );
        reports(&["purge", &one]).failed(1);
        if !runs {
            rig.run();
        }
        rig.get(&format!("/v1/proof-pack/reports/{one}"))
            .refused(404, "report_not_found");
        // The other was made from the same source, which is still there.
        let receipt = rig.get(&format!("/v1/proof-pack/reports/{other}/verify"));
        assert_eq!(receipt.expect(200).json()["valid"], true);
    }
}

/// A key that holds money, readable by its owner alone.
fn key_file(folder: &Folder, mode: u32) -> String {
    let path = folder.path(&format!("buyer-{mode:o}.key"));
    std::fs::write(&path, format!("0x{}\n", "17".repeat(32))).expect("written");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("ours");
    text(&path)
}

#[test]
fn buy_pays_a_seller_and_prints_the_page() {
    let mut rig = Rig::today();
    rig.in_process(&[], |rig, service| {
        let seller = format!("http://{}", service.address);
        let key = key_file(&rig.folder, 0o600);
        let buy = |more: &[&str]| {
            let arguments = ["buy", ARTICLE, "--seller", &seller, "--key-file", &key];
            run(&[&arguments, more].concat())
        };
        let finished = buy(&[]).expect(0);
        assert!(
            finished.out.starts_with("# The quiet harbour"),
            "{finished:#?}"
        );
        assert!(
            finished.err.contains("0.03 USDC") && finished.err.contains("receipt   0x"),
            "{finished:#?}"
        );
        assert_eq!(rig.facilitator.settlements(), 1);
        // A wallet without funds is named, with what it lacks.
        rig.facilitator.verifies(Says::No("insufficient_funds"));
        let poor = buy(&["--force-refresh"]).expect(1).err;
        let payer = SecretKey::from_bytes([0x17; 32]).expect("a key").address();
        let lacks =
            format!("the wallet {payer} does not have 0.03 USDC on Base; send USDC there. Nothing was charged.");
        assert!(poor.contains(&lacks), "{poor}");
        rig.facilitator.verifies(Says::Honest);
        // Never more than was allowed.
        let line = buy(&["--max-usdc", "0.029999"]).failed(1);
        assert!(
            line.contains("0.03") && line.contains("nothing was paid"),
            "{line}"
        );
        assert_eq!(rig.facilitator.settlements(), 1);
        let finished = buy(&["--tier", "basic", "--json"]).expect(0);
        let answer: Value = serde_json::from_str(&finished.out).expect("JSON");
        assert_eq!(answer["tier"], "basic");
        let finished = buy(&["--pack", "quick", "--question", FERRY_CLAIM]);
        let finished = finished.expect(0);
        assert!(
            finished.err.contains("0.10 USDC") && finished.out.contains("verify      http"),
            "{finished:#?}"
        );
        // What is kept is skipped where the buyer says so.
        for (more, hit) in [
            (&["--force-refresh"][..], false),
            (&["--force-refresh=false"], true),
        ] {
            let words = [&["--tier", "basic", "--json"], more].concat();
            let answer: Value = serde_json::from_str(&buy(&words).expect(0).out).expect("JSON");
            assert_eq!(answer["cache"]["hit"], hit, "{more:?}");
        }
        let both = buy(&["--pack", "quick", "--tier", "fresh"]).expect(2);
        assert!(both.err.contains("cannot be used with"), "{both:#?}");
        let finished = run(&[
            "buy",
            "http://10.0.0.1/",
            "--seller",
            &seller,
            "--key-file",
            &key,
        ])
        .expect(1);
        let lines: Vec<&str> = finished.err.lines().collect();
        assert!(
            lines.len() == 3
                && lines[0].starts_with("wallet    0x")
                && lines[1].starts_with("price     0.03 USDC")
                && lines[2].contains("400 (target_blocked): ")
                && lines[2].contains("Nothing was charged."),
            "{finished:#?}"
        );
        assert_eq!(rig.facilitator.settlements(), 5);
        // What to doubt is said beside the page; a wall is not bought.
        let teaser = "<title>T</title><h1>T</h1><p>The boats leave at dawn and come back with the tide, and what they bring \
                      is sold in the hall before noon, as it has been for a hundred years.<p>Subscribe to continue reading";
        let paths = ["/teaser", "/wall"];
        rig.site.put(paths[0], Page::of("text/html", teaser));
        rig.site.put(
            paths[1],
            Page::of("text/html", "<title>Just a moment...</title><p>Verify you are human."),
        );
        let [teaser, wall] = paths.map(|path| {
            let target = format!("http://news.sample-site.org{path}");
            run(&["buy", &target, "--seller", &seller, "--key-file", &key])
        });
        let teaser = teaser.expect(0);
        assert!(teaser.err.contains("warning   paywall: "), "{teaser:#?}");
        let wall = wall.expect(1);
        assert!(
            wall.err.contains("400 (page_walled): ") && wall.err.contains("Nothing was charged."),
            "{wall:#?}"
        );
        assert_eq!(rig.facilitator.settlements(), 6);
    });
}

/// Several pages in one purchase, and a text checked against them: each for exactly its price.
#[test]
fn buy_pays_for_several_pages_and_for_a_checked_text() {
    let mut rig = Rig::today();
    rig.in_process(&[], |rig, service| {
        let seller = format!("http://{}", service.address);
        let key = key_file(&rig.folder, 0o600);
        let buy = |more: &[&str]| {
            let arguments = ["buy", "--seller", &seller, "--key-file", &key];
            run(&[&arguments, more].concat())
        };
        let payer = SecretKey::from_bytes([0x17; 32]).expect("a key").address();
        let spent = || rig.facilitator.spent(payer);

        let finished = buy(&[ARTICLE, FERRY]).expect(0);
        assert!(
            finished.err.contains("price     0.06 USDC"),
            "{finished:#?}"
        );
        for part in [
            format!("<!-- {ARTICLE} -->\n\n# The quiet harbour"),
            format!("<!-- {FERRY} -->\n\n# "),
        ] {
            assert!(finished.out.contains(&part), "{part}: {finished:#?}");
        }
        assert_eq!(spent(), 2 * price(FRESH));

        let draft = text(&rig.folder.path("draft.txt"));
        std::fs::write(&draft, format!("Good question. {FERRY_CLAIM}")).expect("written");
        let words = [FERRY, ARTICLE, "--check", &draft, "--depth", "quick"];
        let before = spent();
        let finished = buy(&words).expect(0);
        assert!(
            finished.err.contains("price     0.20 USDC"),
            "{finished:#?}"
        );
        assert!(finished.out.starts_with("score 1.00"), "{finished:#?}");
        for part in [
            format!("supported: {FERRY_CLAIM}"),
            format!("S1 {FERRY}: supports 1, contradicts 0"),
            format!("S2 {ARTICLE}: supports 0"),
        ] {
            assert!(finished.out.contains(&part), "{part}: {finished:#?}");
        }
        let quick = price(Level::Check(CheckDepth::Quick));
        assert_eq!(spent() - before, 2 * quick);

        // What cannot be bought together is refused before a price is asked for.
        let many = [ARTICLE; 11];
        let line = buy(&many).failed(2);
        assert!(line.contains("at most 10 pages"), "{line}");
        let line = buy(&[ARTICLE, "--check", "nothing.txt"]).failed(1);
        assert!(line.contains("nothing.txt"), "{line}");
        assert_eq!(spent(), before + 2 * quick);
    });
}

/// On a terminal, what takes more than a second says what it waits for, and leaves no trace of that.
#[test]
fn buy_says_on_a_terminal_what_it_waits_for() {
    let folder = Folder::new();
    let seller = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = seller.local_addr().expect("bound");
    let key = key_file(&folder, 0o600);
    let line = format!(
        "{} buy {ARTICLE} --seller http://{address} --key-file {key}",
        env!("CARGO_BIN_EXE_context402")
    );
    let mut terminal = Command::new("script")
        .args(["-qec", &line, "/dev/null"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("script, of util-linux, starts");
    let (asked, _) = seller.accept().expect("the buyer asks");
    let mut out = terminal.stdout.take().expect("piped");
    let mut seen = Vec::new();
    let mut read = |expected: &str| {
        let mut piece = [0; 256];
        while !String::from_utf8_lossy(&seen).contains(expected) {
            let count = out.read(&mut piece).expect("readable");
            assert!(
                count > 0,
                "{expected:?} in {:?}",
                String::from_utf8_lossy(&seen)
            );
            seen.extend_from_slice(&piece[..count]);
        }
    };
    read("Asking for the price: ");
    drop((asked, seller));
    read("\r\x1b[Kcontext402: ");
    assert_eq!(terminal.wait().expect("an end").code(), Some(1));
}

#[test]
fn buy_refuses_a_key_that_others_may_read() {
    let folder = Folder::new();
    let buy = |key: &str| {
        run(&[
            "buy",
            ARTICLE,
            "--seller",
            "http://127.0.0.1:9",
            "--key-file",
            key,
        ])
    };
    let line = buy(&key_file(&folder, 0o644)).failed(1);
    assert!(line.contains("chmod 600"), "{line}");
    let line = buy(&text(&folder.path("none.key"))).failed(1);
    assert!(line.contains("none.key"), "{line}");
    let line = buy(&key_file(&folder, 0o600)).failed(1);
    assert!(line.contains("nothing was paid"), "{line}");
}

/// Hosts that the operator lists are not fetched, with their subdomains.
#[test]
fn blocked_hosts_are_not_fetched() {
    let mut rig = Rig::today();
    rig.in_process(
        &[("fetch.blocklist", "other.sample-site.org, example.net")],
        |rig, service| {
            let buy = |target: &str| {
                let payment =
                    Wallet::new().sign_at(service.address, "fresh", Clock::System.now(), None);
                service.order(target, "fresh").paid(&payment.header).send()
            };
            buy("http://other.sample-site.org/article").refused(400, "target_blocked");
            buy("http://www.example.net/").refused(400, "target_blocked");
            assert_eq!(rig.facilitator.settle_calls(), 0);
            buy(ARTICLE).expect(200);
        },
    );
}

/// The console's link is asked for where the service is found, whatever this command knows of the token.
#[test]
fn the_console_is_opened_by_the_running_service() {
    let mut rig = Rig::today();
    let config = config_file(&rig.folder, "");
    let console = || run(&["console", "--config", &config]);
    assert!(console().expect(1).err.contains("console is disabled"));
    let token = [("operator.token", "4020402040204020402040204020402040204020")];
    rig.in_process(&token, |_, _| {
        let told = console().expect(0).out;
        assert!(told.contains("/operator?link="), "{told}");
    });
    assert!(rig.stop());
    let told = console().failed(78);
    assert!(told.contains("operator.token is not set"), "{told}");
    rig.run();
}

/// The source of a manual page is not for people.
#[test]
fn the_manual_is_shown_on_a_terminal() {
    let folder = Folder::new();
    let on_a_terminal = |path: &str| {
        let line = format!("{} man", env!("CARGO_BIN_EXE_context402"));
        let shown = Command::new("script")
            .args(["-qec", &line, "/dev/null"])
            .env("PATH", path)
            .env("SHELL", "/bin/sh")
            .stdin(Stdio::null())
            .output();
        let shown = shown.expect("script, of util-linux, runs");
        String::from_utf8_lossy(&shown.stdout).into_owned()
    };
    let known = std::env::var("PATH").expect("a path");
    let reader = folder.path("man");
    std::fs::write(&reader, "#!/bin/sh\necho reader of $*; grep -c '^.SH'\n").expect("written");
    std::fs::set_permissions(&reader, std::fs::Permissions::from_mode(0o755)).expect("ours");
    let shown = on_a_terminal(&format!("{}:{known}", text(&folder.path(""))));
    assert!(shown.starts_with("reader of -l -"), "{shown}");
    std::fs::write(&reader, "#!/bin/sh\nexit 1\n").expect("written");
    let shown = on_a_terminal(&format!("{}:{known}", text(&folder.path(""))));
    assert!(
        shown.contains("context402 man > context402.1") && !shown.contains(".SH"),
        "{shown}"
    );
    assert!(run(&["man"]).expect(0).out.contains(".SH"));
}

/// Nobody has to guess what a word on the command line means, and the commands are found by what they are for.
#[test]
fn every_argument_has_help() {
    let help = run(&["--help"]).expect(0).out;
    for part in ["Try it:", "Set up and run:", "Sales:", "Data:", "Examples:"] {
        assert!(help.contains(part), "{part}: {help}");
    }
    let manual = Folder::new();
    run(&["man", "--folder", &text(&manual.path("man"))]).expect(0);
    for page in std::fs::read_dir(manual.path("man"))
        .expect("pages")
        .flatten()
    {
        let page = std::fs::read_to_string(page.path()).expect("a page");
        let arguments = page.split(".TP\n").skip(1);
        for argument in arguments {
            let mut lines = argument.lines().skip(1);
            let told = lines.next().unwrap_or_default();
            assert!(
                !told.is_empty() && !told.starts_with(".SH"),
                "{argument:?} in {page}"
            );
        }
    }
}

/// The demo's example questions show what the engine can do: one that the page supports, one that it contradicts, one
/// that it does not answer.
#[test]
fn the_demo_s_questions_have_the_answers_that_they_are_for() {
    let folder = Folder::new();
    for sample in context402::pages::buyer::samples::SAMPLES {
        let page = folder.path("page.html");
        std::fs::write(&page, sample.body).expect("written");
        for (question, labels) in
            sample
                .questions
                .iter()
                .zip([&["supported"][..], &["contradicted"], &["not", "weak"]])
        {
            let told = run(&["evidence", "--question", question, &text(&page)])
                .expect(0)
                .out;
            // An unsupported one is "not stated", as on pages.
            let label = told.split(' ').next().unwrap_or_default();
            assert!(labels.contains(&label), "{question}: {told}");
        }
    }
}
