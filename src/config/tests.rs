use std::path::PathBuf;
use std::time::Duration;

use super::sources::Surroundings;
use super::*;
use crate::domain::amount::Amount;

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
        "unknown setting payment.pay_two; did you mean payment.pay_to?",
    );
    refused(
        "twice",
        &format!("{PUBLIC}network = \"eip155:8453\"\nnetwork = \"eip155:1\"\n"),
        "config.toml, line 6: duplicate key",
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
    // What may be somebody else's is left alone.
    assert!(
        load(
            "other",
            PUBLIC,
            &[("CONTEXT402_BIN", "x"), ("CONTEXT402_LOG", "info")]
        )
        .is_ok()
    );
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
fn secrets_come_from_credentials_then_files_and_never_show() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = folder("secret-sources");
    let token_file = place.join("token");
    std::fs::write(&token_file, "from-file\n").expect("writes");
    let text = format!(
        "{PUBLIC}facilitator_auth = \"bearer\"\nfacilitator_token_file = \"{}\"\n",
        token_file.display()
    );
    let path = place.join("config.toml");
    std::fs::write(&path, text).expect("writes");
    let read = |credentials: Option<PathBuf>| {
        let around = Surroundings {
            environment: &|_| None,
            variables: Vec::new(),
            credentials,
        };
        let resolved = Resolved::read(Some(&path), &around).map_err(|error| error.to_string())?;
        let config = Config::from_resolved(&resolved).map_err(|error| error.to_string())?;
        assert!(
            !format!("{resolved:?}{config:?}").contains("Bearer(\"")
                && resolved.lines().iter().any(|line| line.1 == "***")
        );
        match config.payment.auth {
            FacilitatorAuth::Bearer(secret) => Ok::<_, String>(secret.expose().to_owned()),
            _ => Err("not a bearer token".to_owned()),
        }
    };
    std::fs::set_permissions(&token_file, std::fs::Permissions::from_mode(0o644)).expect("chmod");
    assert!(read(None).expect_err("refused").contains("chmod 600"));
    std::fs::set_permissions(&token_file, std::fs::Permissions::from_mode(0o600)).expect("chmod");
    assert_eq!(read(None).as_deref(), Ok("from-file"));
    std::fs::write(place.join("payment_facilitator_token"), "from-credential").expect("writes");
    assert_eq!(read(Some(place.clone())).as_deref(), Ok("from-credential"));
    std::fs::remove_dir_all(place).expect("removes the temporary folder");
}

/// A command that the operator types sees the secrets that systemd hands to the service.
#[test]
fn commands_find_the_secrets_of_the_service() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = folder("secret-folder");
    let path = place.join("config.toml");
    std::fs::write(&path, format!("{PUBLIC}facilitator_auth = \"bearer\"\n")).expect("writes");
    let read = |credentials: Option<PathBuf>| {
        let around = Surroundings {
            environment: &|_| None,
            variables: Vec::new(),
            credentials,
        };
        let resolved = Resolved::read(Some(&path), &around)?;
        match Config::from_resolved(&resolved)?.payment.auth {
            FacilitatorAuth::Bearer(secret) => Ok::<_, ConfigError>(secret.expose().to_owned()),
            other => panic!("{other:?} is no bearer token"),
        }
    };
    let missing = read(None).expect_err("refused").to_string();
    assert!(
        missing.contains("credentials/payment/facilitator_token"),
        "{missing}"
    );
    let secrets = place.join("credentials/payment");
    std::fs::create_dir_all(&secrets).expect("makes");
    let token = secrets.join("facilitator_token");
    std::fs::write(&token, "from-folder\n").expect("writes");
    std::fs::set_permissions(&token, std::fs::Permissions::from_mode(0o644)).expect("chmod");
    assert!(
        read(None)
            .expect_err("refused")
            .to_string()
            .contains("chmod 600")
    );
    std::fs::set_permissions(&token, std::fs::Permissions::from_mode(0o600)).expect("chmod");
    assert_eq!(read(None).expect("reads"), "from-folder");
    // A unit has what it was handed, and the folder is closed to it.
    let handed = place.join("handed");
    std::fs::create_dir(&handed).expect("makes");
    assert!(read(Some(handed)).is_err());
    std::fs::remove_dir_all(place).expect("removes the temporary folder");
}

#[test]
fn the_example_file_is_a_configuration_once_it_is_filled_in() {
    let text = settings::example_file()
        .replace("0x0000000000000000000000000000000000000000", PAY_TO)
        .replace(settings::FACILITATOR_EXAMPLE, "https://f.example.com")
        .replace(settings::BASE_URL_EXAMPLE, "https://context.example.com");
    assert!(load("example", &text, &[]).is_ok(), "{text}");
    // And so it is with every commented line in force, but for the test seams and what needs a secret.
    let all: String = text
        .lines()
        .filter(|line| !line.contains("_file = \"/etc"))
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

const LIVE: &str = "base_url = \"https://context.example.com\"\n[payment]\nfacilitator_url = \"https://f.example.com/\"\n\
                    pay_to = \"0x90F79bf6EB2c4f870365E785982E1f101E93b906\"\n[chain]\nrpc_url = \"https://rpc.example.com/v2/KEY\"\n\
                    [guard]\ngas_usdc = \"live\"\ncoin_usdc = 3000.5\n";

#[test]
fn the_chain_is_asked_where_it_is_configured() {
    assert!(load("nochain", PUBLIC, &[]).expect("loads").chain.is_none());
    let config = load("chain", LIVE, &[]).expect("loads");
    let chain = config.chain.as_ref().expect("configured");
    assert_eq!(chain.rpc_url.expose(), "https://rpc.example.com/v2/KEY");
    assert_eq!(chain.confirmations, 5);
    assert!(!format!("{config:?}").contains("KEY"));
    let live = Gas::Live {
        settlement_gas: 100_000,
        coin: Coin::Fixed(Amount::from_units(3_000_500_000)),
    };
    assert_eq!(config.guard.gas, live);
    // A node of one's own.
    let own = LIVE.replace("https://rpc.example.com/v2/KEY", "http://127.0.0.1:8545");
    assert!(load("own", &own, &[]).is_ok());
}

#[test]
fn reported_settlements_are_looked_up_where_there_is_a_chain() {
    let of = |name: &str, text: &str| {
        let config = load(name, text, &[]).expect("loads");
        config.payment.verify_settlement
    };
    assert_eq!(of("verify-none", PUBLIC), VerifySettlement::Off);
    assert_eq!(of("verify-chain", LIVE), VerifySettlement::Background);
    for (name, expected) in [
        ("off", VerifySettlement::Off),
        ("background", VerifySettlement::Background),
        ("before_delivery", VerifySettlement::BeforeDelivery),
    ] {
        let line = format!("[payment]\nverify_settlement = \"{name}\"");
        assert_eq!(of(name, &LIVE.replace("[payment]", &line)), expected);
    }
    let asks = |value: &str| {
        let line = format!("[payment]\nverify_settlement = \"{value}\"");
        (
            LIVE.replace("[payment]", &line),
            PUBLIC.replace("[payment]", &line),
        )
    };
    refused(
        "verify-word",
        &asks("sometimes").0,
        "payment.verify_settlement",
    );
    refused("verify-alone", &asks("background").1, "needs chain.rpc_url");
    let play = "base_url = \"http://127.0.0.1:4020\"\n[payment]\nverify_settlement = \"background\"\n\
                pay_to = \"0x90F79bf6EB2c4f870365E785982E1f101E93b906\"\n[chain]\nrpc_url = \"http://127.0.0.1:8545\"\n";
    refused("verify-sandbox", play, "the sandbox does not");
    let plain = play.replace("verify_settlement = \"background\"\n", "");
    assert_eq!(of("verify-play", &plain), VerifySettlement::Off);
}

#[test]
fn the_legacy_endpoints_are_off_until_they_are_switched_on() {
    let legacy = |name: &str, text: &str| load(name, text, &[]).expect("loads").legacy;
    let found = legacy("legacy-default", LIVE);
    assert!(!found.access && found.wants_proof);
    let on = format!("{LIVE}[legacy]\naccess = true\npayment_proof = false\n");
    let found = legacy("legacy-on", &on);
    assert!(found.access && !found.wants_proof);
    let alone = format!("{PUBLIC}\n[legacy]\naccess = true\n");
    refused("legacy-alone", &alone, "needs chain.rpc_url");
}

#[test]
fn a_chain_that_cannot_be_trusted_is_refused() {
    for (name, url) in [
        ("http", "http://rpc.example.com/"),
        ("ws", "wss://rpc.example.com/"),
        ("userinfo", "https://me:secret@rpc.example.com/"),
        ("text", "rpc.example.com"),
    ] {
        let text = LIVE.replace("https://rpc.example.com/v2/KEY", url);
        refused(&format!("rpc-{name}"), &text, "chain.rpc_url");
    }
    let text = LIVE.replace("[guard]", "confirmations = 0\n[guard]");
    refused("confirmations", &text, "chain.confirmations");
}

#[test]
fn live_gas_needs_the_chain_and_a_price_of_its_coin() {
    let chain = "[chain]\nrpc_url = \"https://rpc.example.com/v2/KEY\"\n";
    refused(
        "live-chain",
        &LIVE.replace(chain, ""),
        "needs chain.rpc_url",
    );
    let coin = "coin_usdc = 3000.5\n";
    refused("live-coin", &LIVE.replace(coin, ""), "guard.coin_usdc");
    refused(
        "live-zero",
        &LIVE.replace(coin, "coin_usdc = 0\n"),
        "guard.coin_usdc",
    );
    refused(
        "live-feed",
        &LIVE.replace(coin, "coin_usdc = \"chainlink:0x12\"\n"),
        "guard.coin_usdc",
    );
    let feed = "coin_usdc = \"chainlink:0x90F79bf6EB2c4f870365E785982E1f101E93b906\"\n";
    let fed = load("live-fed", &LIVE.replace(coin, feed), &[]).expect("loads");
    assert!(matches!(
        fed.guard.gas,
        Gas::Live {
            coin: Coin::Feed { age_max: 7_200, .. },
            ..
        }
    ));
    refused(
        "live-word",
        &LIVE.replace("\"live\"", "\"alive\""),
        "guard.gas_usdc",
    );
}

const LLM: &str = "[llm]\nbase_url = \"https://llm.example.com/v1/\"\nmodel = \"small\"\n\
                   input_usdc_per_million = \"0.15\"\noutput_usdc_per_million = 0.6\n";

#[test]
fn a_language_model_is_off_until_it_is_whole() {
    assert!(load("llm-off", PUBLIC, &[]).expect("loads").llm.is_none());
    let text = format!("{PUBLIC}{LLM}");
    let key = ("CONTEXT402_LLM_KEY", "k-1");
    let config = load("llm-on", &text, &[key]).expect("loads");
    let llm = config.llm.as_ref().expect("a model");
    assert_eq!(llm.base_url, "https://llm.example.com/v1");
    assert_eq!(
        (llm.input_price.units(), llm.output_price.units()),
        (150_000, 600_000)
    );
    assert_eq!(llm.key.as_ref().map(Secret::expose), Some("k-1"));
    assert!(!format!("{config:?}").contains("k-1"));
    for (name, line) in ["model", "input_usdc_per_million", "output_usdc_per_million"]
        .iter()
        .enumerate()
    {
        let without: Vec<&str> = text
            .lines()
            .filter(|known| !known.starts_with(line))
            .collect();
        refused(
            &format!("llm-{name}"),
            &without.join("\n"),
            &format!("llm.{line}"),
        );
    }
    refused(
        "llm-slow",
        &format!("{text}seconds_max = 61\n"),
        "llm.seconds_max",
    );
    refused(
        "llm-style",
        &format!("{text}parameters = \"odd\"\n"),
        "llm.parameters",
    );
    refused(
        "llm-secret",
        &format!("{text}key = \"k-1\"\n"),
        "is a secret",
    );
    refused(
        "llm-query",
        &text.replace("/v1/", "/v1?a=b"),
        "llm.base_url",
    );
}

#[test]
fn a_key_never_travels_in_the_open() {
    let open = format!("{PUBLIC}{LLM}").replace("https://llm", "http://llm");
    assert!(load("llm-open", &open, &[]).is_ok());
    let key = ("CONTEXT402_LLM_KEY", "k-1");
    let error = load("llm-open-key", &open, &[key]).expect_err("a refusal");
    assert!(error.contains("llm.base_url"), "{error}");
    let own = open.replace("llm.example.com", "127.0.0.1:8080");
    assert!(load("llm-own-key", &own, &[key]).is_ok());
}

/// Providers put their keys into the address: it is shown by scheme and host.
#[test]
fn the_chain_s_address_never_shows_its_key() {
    let shown = |text: &str| settings::masked("chain.rpc_url", text);
    for (text, expected) in [
        (
            "https://rpc.example.com/v2/KEY",
            "https://rpc.example.com/***",
        ),
        (
            "https://rpc.example.com/?token=KEY",
            "https://rpc.example.com/***",
        ),
        (
            "https://KEY@rpc.example.com/",
            "https://rpc.example.com/***",
        ),
        (
            "https://me:KEY@rpc.example.com:8545",
            "https://rpc.example.com:8545/***",
        ),
        ("http://127.0.0.1:8545", "http://127.0.0.1:8545"),
        ("http://127.0.0.1:8545/", "http://127.0.0.1:8545"),
        ("https://mainnet.base.org", "https://mainnet.base.org"),
        ("wss://rpc.example.com/KEY", "wss://rpc.example.com/***"),
        ("rpc.example.com/KEY", "***"),
        ("KEY", "***"),
    ] {
        assert_eq!(shown(text), expected, "{text}");
    }
    let mut resolved = Resolved::defaults();
    resolved.set("base_url", "http://127.0.0.1:4020");
    resolved.set(
        "payment.pay_to",
        "0x90F79bf6EB2c4f870365E785982E1f101E93b906",
    );
    resolved.set("chain.rpc_url", "https://me:KEY@rpc.example.com/v2/KEY");
    let lines = format!("{:?} {resolved:?}", resolved.lines());
    assert!(lines.contains("https://rpc.example.com/***") && !lines.contains("KEY"));
    // Nor in the words for what is wrong with it.
    let wrong = Config::from_resolved(&resolved)
        .expect_err("credentials")
        .to_string();
    assert!(
        wrong.contains("chain.rpc_url") && !wrong.contains("KEY"),
        "{wrong}"
    );
}

#[test]
fn the_signing_key_is_optional_and_shown_nowhere() {
    let key = "0123456789abcdef".repeat(4);
    let with = |text: &str| {
        let mut resolved = Resolved::defaults();
        resolved.set("base_url", "http://127.0.0.1:4020");
        resolved.set(
            "payment.pay_to",
            "0x90F79bf6EB2c4f870365E785982E1f101E93b906",
        );
        resolved.set("signing.key", text);
        resolved
    };
    let config = Config::from_resolved(&with(&key)).expect("a configuration");
    assert!(config.signing.is_some());
    assert!(!format!("{config:?} {:?}", with(&key)).contains("abcdef"));
    let mut rotated = with(&key);
    rotated.set_list("signing.former_keys", vec!["x".to_owned()]);
    let wrong = Config::from_resolved(&rotated)
        .expect_err("no public key")
        .to_string();
    assert!(wrong.contains("signing.former_keys") && wrong.contains("jwks.json"));
    let wrong = Config::from_resolved(&with("my secret"))
        .expect_err("no key")
        .to_string();
    assert!(wrong.contains("openssl rand -hex 32") && !wrong.contains("my secret"));
    assert!(load("nokey", PUBLIC, &[]).expect("loads").signing.is_none());
}

/// What is paid to nobody, or to the token itself, is lost; and without its domain no payment is good.
#[test]
fn money_is_not_sent_where_nobody_has_it() {
    let asset = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
    let nobody = "0x0000000000000000000000000000000000000000";
    for (key, text) in [
        ("payment.pay_to", nobody),
        ("payment.pay_to", asset),
        ("payment.asset", nobody),
        ("payment.asset", PAY_TO),
        ("payment.asset_name", ""),
        ("payment.asset_version", ""),
    ] {
        let mut resolved = Resolved::defaults();
        resolved.set("base_url", "http://127.0.0.1:4020");
        resolved.set("payment.pay_to", PAY_TO);
        resolved.set(key, text);
        let wrong = Config::from_resolved(&resolved).expect_err(key).to_string();
        assert!(wrong.contains("payment."), "{key}: {wrong}");
    }
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
        let reply_to = config.mail.expect("mail").reply_to;
        reply_to.map(|sender| sender.domain().to_owned())
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
    ] {
        assert_eq!(with(host), Ok(vec![host.to_lowercase()]));
    }
    for other in ["", "http://example.net/", "a.*.net", ".example.net", "a b"] {
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
