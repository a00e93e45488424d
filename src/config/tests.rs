mod money;
mod secrets;

use std::path::PathBuf;
use std::time::Duration;

use super::sources::Surroundings;
use super::*;

const PAY_TO: &str = "0x90F79bf6EB2c4f870365E785982E1f101E93b906";

fn folder(name: &str) -> PathBuf {
    let folder =
        std::env::temp_dir().join(format!("context402-config-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    folder
}

fn load(name: &str, text: &str, environment: &[(&str, &str)]) -> Result<Config, String> {
    let path = folder(name).join("config.toml");
    std::fs::write(&path, text).expect("a temporary file");
    let look_up = |wanted: &str| {
        environment
            .iter()
            .find(|(key, _)| *key == wanted)
            .map(|(_, value)| (*value).to_owned())
    };
    let around = Surroundings {
        environment: &look_up,
        variables: environment
            .iter()
            .map(|(key, _)| (*key).to_owned())
            .collect(),
        credentials: None,
    };
    let loaded =
        Resolved::read(Some(&path), &around).and_then(|resolved| Config::from_resolved(&resolved));
    std::fs::remove_dir_all(folder(name)).expect("removes the temporary folder");
    loaded.map_err(|error| error.to_string())
}

fn refused(name: &str, text: &str, because: &str) {
    let error = load(name, text, &[]).expect_err("a refusal");
    assert!(
        error.contains(because),
        "{error:?} does not say {because:?}"
    );
}

const PUBLIC: &str = "base_url = \"https://context.example.com\"\n[payment]\nfacilitator_url = \"https://f.example.com/\"\n\
                      pay_to = \"0x90F79bf6EB2c4f870365E785982E1f101E93b906\"\n";
const LOOPBACK: &str = "base_url = \"http://127.0.0.1:4020/\"\n[payment]\npay_to = \"0x90F79bf6EB2c4f870365E785982E1f101E93b906\"\n";

#[test]
fn a_short_file_gives_a_whole_configuration() {
    let config = load("short", PUBLIC, &[]).expect("loads");
    assert_eq!(config.base_url, "https://context.example.com");
    assert_eq!(config.payment.pay_to.to_string(), PAY_TO);
    assert_eq!(config.payment.network.to_string(), "eip155:8453");
    assert_eq!(
        config.socket,
        PathBuf::from("/var/lib/context402/context402.sock")
    );
    assert!(!config.is_loopback());
}

#[test]
fn sizes_are_given_in_mebibytes_that_fit() {
    let config = load("sizes", PUBLIC, &[]).expect("loads");
    assert_eq!(config.limits.free_disk_bytes_min, 64 * 1024 * 1024);
    for key in ["page_cache_mib", "report_store_mib", "free_disk_mib_min"] {
        let text = format!("{PUBLIC}[limits]\n{key} = 9223372036854775807\n");
        refused(key, &text, key);
    }
}

#[test]
fn the_environment_overrides_the_file() {
    let config = load(
        "environment",
        PUBLIC,
        &[
            ("CONTEXT402_LISTEN", "127.0.0.1:9"),
            ("CONTEXT402_PAYMENT_SETTLE_WAIT_SECONDS_MAX", "2.5"),
            ("CONTEXT402_FETCH_BLOCKLIST", "a.example, B.example"),
        ],
    )
    .expect("loads");
    assert_eq!(config.listen.port(), 9);
    assert_eq!(config.payment.settle_wait_max, Duration::from_millis(2500));
    assert_eq!(config.fetch.blocklist, ["a.example", "b.example"]);
}

#[test]
fn test_seams_are_refused_in_public() {
    refused(
        "sandbox",
        &PUBLIC.replace("https://f.example.com/", "sandbox"),
        "config.toml, line 3: payment.facilitator_url: \"sandbox\" (the default) moves only test funds on loopback, and \
         base_url is public: set payment.facilitator_url to your facilitator's https address",
    );
    refused(
        "http",
        &PUBLIC.replace("https://f", "http://f"),
        "it must be https, and base_url is public: set payment.facilitator_url to",
    );
    for (name, lab) in [
        (
            "hosts",
            "hosts = { \"a.example\" = \"93.184.216.34@127.0.0.1:8081\" }",
        ),
        ("name server", "name_server = \"127.0.0.1:5353\""),
        ("ca", "ca_file = \"x\""),
        ("crash", "crash_at = \"kept\""),
    ] {
        refused(
            name,
            &format!("{PUBLIC}[lab]\n{lab}\n"),
            "only for tests on loopback",
        );
        assert!(
            load(name, &format!("{LOOPBACK}[lab]\n{lab}\n"), &[]).is_ok(),
            "{lab}"
        );
    }
    // A public name that merely starts like loopback is public.
    refused(
        "fake",
        &LOOPBACK.replace("127.0.0.1:4020", "127.0.0.1.example.com"),
        "moves only test funds on loopback",
    );
}

#[test]
fn mistakes_name_the_setting_and_what_to_do() {
    refused(
        "unknown",
        &format!("{PUBLIC}pay_two = 1\n"),
        "unknown setting payment.pay_two; did you mean payment.pay_to? `context402 config init` lists all settings",
    );
    refused(
        "twice",
        &format!("{PUBLIC}network = \"eip155:8453\"\nnetwork = \"eip155:1\"\n"),
        "config.toml, line 6: duplicate key network",
    );
    refused(
        "section",
        &format!("{PUBLIC}[paymint]\nx = 1\n"),
        "unknown setting paymint",
    );
    refused(
        "pay_to",
        "base_url = \"https://a.example\"\n",
        "payment.pay_to is not set",
    );
    let mistyped = [("CONTEXT402_LIMITS_QUOTES_PER_MINUT", "1")];
    let error = load("variable", PUBLIC, &mistyped).expect_err("a refusal");
    assert!(
        error.contains("did you mean CONTEXT402_LIMITS_QUOTES_PER_MINUTE?"),
        "{error}"
    );
    let mistyped = [("CONTEXT402_LISTENN", "127.0.0.1:9")];
    let error = load("variable", PUBLIC, &mistyped).expect_err("a refusal");
    assert!(error.contains("did you mean CONTEXT402_LISTEN?"), "{error}");
    // What may be somebody else's is left alone; Kubernetes sets some of these for a service of our name.
    let others = [
        ("CONTEXT402_BIN", "x"),
        ("CONTEXT402_CONFIG", ""),
        ("CONTEXT402_LOG", "info"),
        ("CONTEXT402_PORT", "tcp://10.0.0.1:80"),
        ("CONTEXT402_PORT_80_TCP_ADDR", "10.0.0.1"),
        ("CONTEXT402_SERVICE_HOST", "10.0.0.1"),
        ("CONTEXT402_SERVICE_PORT_HTTP", "80"),
    ];
    let config = load("other", PUBLIC, &others).expect("loads");
    assert_eq!(config.warnings, [] as [String; 0]);
    refused("checksum", &PUBLIC.replace("90F79", "90f79"), "checksum");
    refused(
        "path",
        &PUBLIC.replace("example.com\"\n[", "example.com/x\"\n["),
        "without path",
    );
    refused(
        "secret",
        &format!("{PUBLIC}facilitator_token = \"x\"\n"),
        "is a secret and must not be in this file",
    );
    refused(
        "bearer",
        &format!("{PUBLIC}facilitator_auth = \"bearer\"\n"),
        "CONTEXT402_PAYMENT_FACILITATOR_TOKEN",
    );
    refused(
        "seconds",
        &format!("{PUBLIC}[fetch]\nseconds_max = 0\n"),
        "above 0",
    );
}

/// What is set and has no effect was ignored without a word.
#[test]
fn settings_without_effect_are_warned_of() {
    let text = format!(
        "{PUBLIC}[llm]\nmodel = \"small\"\n[chain]\nconfirmations = 9\nseconds_max = 10\n\
         [guard]\nminimum_profit_usdc = \"5\"\n"
    );
    let foreign = [("CONTEXT402_FOO", "1")];
    let warnings = load("warned", &text, &foreign).expect("loads").warnings;
    let expected = [
        "the environment variable CONTEXT402_FOO matches no setting and has no effect",
        "config.toml, line 8: chain.confirmations has no effect without chain.rpc_url",
        "config.toml, line 6: llm.model has no effect without llm.base_url",
        "These cost less, and one of them alone is never sold: tier starter, tier cached,",
    ];
    assert_eq!(warnings.len(), expected.len(), "{warnings:#?}");
    for (warning, expected) in warnings.iter().zip(expected) {
        assert!(warning.contains(expected), "{expected}: {warnings:#?}");
    }
    assert!(warnings[3].contains("ask for 5.001 USDC of each sale"));
    assert!(!warnings[3].contains("bundle builder"), "{warnings:#?}");
    let plain = load("plain", PUBLIC, &[]).expect("loads");
    assert_eq!(plain.warnings, [] as [String; 0]);
}

#[test]
fn a_configuration_that_is_no_file_is_told_as_what_it_is() {
    let around = Surroundings {
        environment: &|_| None,
        variables: Vec::new(),
        credentials: None,
    };
    let place = folder("a-folder");
    let told = Resolved::read(Some(&place), &around).expect_err("a folder");
    let told = told.to_string();
    assert!(
        told.ends_with("is a folder: give the configuration file in it"),
        "{told}"
    );
    std::fs::remove_dir_all(place).expect("removes the temporary folder");
}

/// An empty file was told that its base_url is public.
#[test]
fn nothing_is_said_of_a_base_url_that_is_not_set() {
    let error = load("empty", "", &[]).expect_err("a refusal");
    assert!(!error.contains("base_url is public"), "{error}");
    assert!(
        error.contains("unless base_url will be on loopback"),
        "{error}"
    );
}

/// A mistyped filter was ignored without a word.
#[test]
fn a_log_filter_that_cannot_be_read_is_refused_by_its_directive() {
    use super::supervisor::parse_filter;
    for filter in [
        "",
        "warn",
        "DEBUG",
        "info,context402::outside=debug",
        "warn,context402::flows",
        "off,",
    ] {
        assert!(parse_filter(filter).is_ok(), "{filter:?}");
    }
    for (filter, bad) in [
        (
            "info,context402::outside=debugg",
            "context402::outside=debugg",
        ),
        ("info,hyper=warn=off", "hyper=warn=off"),
        ("\u{FFFD}=", "\u{FFFD}="),
        ("debugg", "debugg"),
        ("info, debug", " debug"),
    ] {
        let error = parse_filter(filter).expect_err("a refusal").to_string();
        let begin = format!("environment CONTEXT402_LOG: \"{bad}\" is not a log directive");
        assert!(error.starts_with(&begin), "{error}");
    }
}

/// Three edits took three runs.
#[test]
fn all_mistakes_are_told_at_once_each_with_its_place() {
    let text = "listen = \"nowhere\"\nprices = 1\n[payment]\npay_to = \"0x12\"\nnetwork = \"base\"\n\
                facilitator_auth = \"bearer\"\n[lab]\ncrash_at = \"kept\"\n[limits]\nclients_max = true\n";
    let environment = [("CONTEXT402_FETCH_SECONDS_MAX", "0")];
    let error = load("all", text, &environment).expect_err("a refusal");
    let lines: Vec<&str> = error.lines().collect();
    assert_eq!(lines[0], "10 mistakes in the configuration:", "{error}");
    for told in [
        "config.toml, line 1: listen = \"nowhere\" is invalid",
        "config.toml, line 2: unknown setting prices",
        "config.toml, line 4: payment.pay_to = \"0x12\" is invalid",
        "config.toml, line 5: payment.network = \"base\" is invalid",
        "config.toml: payment.facilitator_token is required",
        "config.toml, line 8: lab.crash_at is only for tests",
        "config.toml, line 10: limits.clients_max: expected",
        "environment CONTEXT402_FETCH_SECONDS_MAX: fetch.seconds_max = \"0\" is invalid",
        "config.toml: base_url is not set",
        "config.toml: payment.facilitator_url: \"sandbox\"",
    ] {
        let found = lines.iter().filter(|line| line.contains(told));
        assert_eq!(found.count(), 1, "{told:?} in {error}");
    }
}

/// The file as it is written says what is still to be set, and nothing else.
#[test]
fn the_example_file_asks_for_three_settings() {
    let text = settings::example_file();
    let error = load("fresh", &text, &[]).expect_err("a refusal");
    assert!(error.starts_with("3 mistakes"), "{error}");
    for key in ["base_url", "payment.pay_to", "payment.facilitator_url"] {
        assert!(error.contains(&format!(": {key} ")), "{key}: {error}");
    }
    let stop = text.find("You can stop reading here").expect("a line");
    let last = text.find("payment.facilitator_url = ").expect("a setting");
    assert!(
        last < stop && text[..stop].lines().count() < 60,
        "{}",
        &text[..stop]
    );
}

#[test]
fn trusted_proxies_are_addresses_and_blocks() {
    let text =
        format!("trusted_proxies = [\"127.0.0.1\", \"10.0.0.0/8\", \"2001:db8::/32\"]\n{PUBLIC}");
    let config = load("proxies", &text, &[]).expect("a configuration");
    let block = |text: &str, bits| (text.parse().expect("an address"), bits);
    assert_eq!(
        config.trusted_proxies,
        [
            block("127.0.0.1", 32),
            block("10.0.0.0", 8),
            block("2001:db8::", 32)
        ]
    );
    for bad in [
        "10.0.0.1/8",
        "10.0.0.0/33",
        "2001:db8::1/64",
        "proxy.example.com",
        "10.0.0.0/",
    ] {
        let text = format!("trusted_proxies = [\"{bad}\"]\n{PUBLIC}");
        refused("proxies-bad", &text, "trusted_proxies");
    }
}

#[test]
fn the_example_file_is_a_configuration_once_it_is_filled_in() {
    let text = settings::example_file()
        .replace("0x0000000000000000000000000000000000000000", PAY_TO)
        .replace(settings::FACILITATOR_EXAMPLE, "https://f.example.com")
        .replace(settings::BASE_URL_EXAMPLE, "https://context.example.com");
    assert!(load("example", &text, &[]).is_ok(), "{text}");
    // And so it is with every commented line in force, but for the test seams and what needs a secret. E-mails go to the
    // folder.
    let all: String = text
        .lines()
        .filter(|line| !line.contains("_file = \"/etc") && !line.contains("smtp_host = "))
        .map(|line| {
            line.strip_prefix('#')
                .filter(|rest| !rest.starts_with(' '))
                .unwrap_or(line)
                .to_owned()
                + "\n"
        })
        .collect();
    let all = all.replace("https://context.example.com", "https://localhost:4020");
    let loaded = load("example-all", &all, &[]);
    assert!(loaded.is_ok(), "{loaded:?}\n{all}");
}

/// The folder won without a word, and nothing was sent.
#[test]
fn e_mails_go_to_a_server_or_to_a_folder() {
    refused(
        "two-ways",
        &format!(
            "{PUBLIC}[mail]\nsmtp_host = \"smtp.example.com\"\nfolder = \"/tmp\"\nfrom = \"a@b.example\"\n"
        ),
        "config.toml, line 7: mail.folder and mail.smtp_host are both set",
    );
}

/// A point that there is not would end nothing, and its test would prove nothing.
#[test]
fn a_crash_has_a_point() {
    let doc = settings::doc("lab.crash_at");
    for point in web::CRASH_POINTS {
        let more = format!("[lab]\ncrash_at = \"{point}\"\n");
        load("point", &format!("{LOOPBACK}{more}"), &[]).expect(point);
        assert!(doc.contains(point), "{point}");
    }
    let more = "[lab]\ncrash_at = \"nowhere\"\n";
    let wrong = load("nowhere", &format!("{LOOPBACK}{more}"), &[]).expect_err("no such point");
    assert!(wrong.contains("recorded, event_taken"), "{wrong}");
}

/// Anyone who answers a mail reaches the operator.
#[test]
fn answers_to_mails_go_to_the_contact() {
    let reply_to = |top: &str, mail: &str| {
        let mail = format!("[mail]\nfolder = \"/tmp\"\nfrom = \"shop@example.com\"\n{mail}");
        let config = load("reply", &format!("{top}{LOOPBACK}{mail}"), &[]).expect("loads");
        config.reply_to().map(|sender| sender.domain().to_owned())
    };
    assert_eq!(reply_to("", ""), None);
    assert_eq!(reply_to("contact = \"https://example.org/me\"\n", ""), None);
    let contact = "contact = \"me@example.org\"\n";
    assert_eq!(reply_to(contact, "").as_deref(), Some("example.org"));
    let own = "reply_to = \"help@example.net\"\n";
    assert_eq!(reply_to(contact, own).as_deref(), Some("example.net"));
}

#[test]
fn what_is_blocked_is_a_host() {
    let with = |hosts: &str| {
        let more = format!("[fetch]\nblocklist = [\"{hosts}\"]\n");
        load("blocked", &format!("{LOOPBACK}{more}"), &[]).map(|config| config.fetch.blocklist)
    };
    for host in [
        "Example.NET",
        "*.example.net",
        "example.net.",
        "b\u{fc}cher.example",
        "93.184.216.34",
        "2606:2800::1",
        "[2606:2800::1]",
        "my_host",
        "localhost",
    ] {
        assert_eq!(with(host), Ok(vec![host.to_lowercase()]));
    }
    for other in [
        "",
        "http://example.net/",
        "a.*.net",
        ".example.net",
        "a b",
        "host!",
        "a..net",
        "0x7f.1",
    ] {
        let wrong = with(other).expect_err("no host");
        assert!(wrong.contains("fetch.blocklist"), "{other}: {wrong}");
    }
}

#[test]
fn https_of_our_own_has_one_source_and_a_public_name() {
    let with = |lines: &str| format!("{PUBLIC}[tls]\n{lines}\n");
    let config = load("tls", &with("acme = true"), &[]).expect("loads");
    assert_eq!(config.listen.to_string(), "[::]:443");
    let tls = config.tls.expect("it is on");
    assert_eq!(tls.name, "context.example.com");
    assert_eq!(tls.folder, PathBuf::from("/var/lib/context402/tls"));
    assert_eq!(
        tls.http_listen.map(|at| at.to_string()),
        Some("[::]:80".to_owned())
    );
    let files = "certificate = \"/c.pem\"\nkey = \"/k.pem\"\nhttp_listen = \"off\"";
    let environment = [("CONTEXT402_LISTEN", "0.0.0.0:8443")];
    let config = load("tls-files", &with(files), &environment).expect("loads");
    assert_eq!(config.listen.to_string(), "0.0.0.0:8443");
    assert_eq!(config.tls.and_then(|tls| tls.http_listen), None);
    assert!(load("no-tls", PUBLIC, &[]).expect("loads").tls.is_none());
    refused(
        "tls-two",
        &with(&format!("acme = true\n{files}")),
        "exclude",
    );
    refused("tls-half", &with("key = \"/k.pem\""), "belong together");
    refused(
        "tls-mail",
        &with("acme = true\nacme_email = \"me\""),
        "acme_email",
    );
    refused(
        "tls-port",
        &with("acme = true\nhttp_listen = \"80\""),
        "http_listen",
    );
    let elsewhere =
        |base_url: &str| with("acme = true").replace("https://context.example.com", base_url);
    refused(
        "tls-clear",
        &elsewhere("http://context.example.com"),
        "https",
    );
    refused(
        "tls-odd",
        &elsewhere("https://context.example.com:8443"),
        "no port",
    );
    refused(
        "tls-address",
        &elsewhere("https://198.51.100.7"),
        "host name",
    );
    let lab = "[lab]\nacme_directory = \"https://127.0.0.1:14000/dir\"\n";
    refused(
        "tls-lab",
        &format!("{}{lab}", with("acme = true")),
        "only for tests",
    );
    let far = lab.replace("127.0.0.1", "ca.example.com");
    refused(
        "tls-far",
        &format!("{}{far}", with("acme = true")),
        "on loopback",
    );
}

#[test]
fn the_manual_names_every_setting_that_needs_no_restart() {
    let manual = include_str!("../../systemd/OPERATING.md");
    let (_, changes) = manual.split_once("**Changes.**").expect("there");
    let (changes, _) = changes.split_once("The console").expect("there");
    let named: Vec<_> = changes.split('`').skip(1).step_by(2).collect();
    let live = live::LIVE.iter().map(|live| live.key);
    assert!(live.eq(named.into_iter().skip(2)), "{changes}");
}

/// Each of these was told without what to do, or with something wrong.
#[test]
fn a_mistake_in_the_form_of_the_file_names_its_cure() {
    refused(
        "section-as-setting",
        "limits = 3\n",
        "config.toml, line 1: limits is a section and takes no value: write its settings below [limits], or as limits.KEY",
    );
    refused(
        "dotted-and-table",
        "payment.pay_to = \"0x12\"\n[payment]\nnetwork = \"eip155:8453\"\n",
        "config.toml, line 2: duplicate key payment: write all settings of a section below one [payment], or all as payment.KEY",
    );
    refused(
        "integer",
        &format!("{PUBLIC}[limits]\nclients_max = 99999999999999999999\n"),
        "config.toml, line 6: limits.clients_max: the number is too large",
    );
}

#[test]
fn links_whose_payments_nobody_records_are_warned_of() {
    let link = "[bundles]\nscout_link = \"https://buy.example.com/scout\"\n";
    let warnings = load("links", &format!("{PUBLIC}{link}"), &[])
        .expect("loads")
        .warnings;
    assert!(
        warnings
            .iter()
            .any(|warning| warning.contains("not recorded")),
        "{warnings:#?}"
    );
}

/// A time to work that is longer than an authorization lives sold nothing.
#[test]
fn work_ends_before_an_authorization_does() {
    for setting in [
        "[fetch]\nseconds_max = 61\n",
        "verify_seconds_max = 31\n",
        "[guard]\ngas_age_seconds_max = 0.5\n",
    ] {
        refused("work", &format!("{PUBLIC}{setting}"), "a number of seconds");
    }
}
