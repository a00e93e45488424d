//! Secrets, and what takes one.

use super::*;

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

/// The error about a missing file names the setting, and the line that gives it.
#[test]
fn a_missing_secret_is_told_by_its_setting() {
    let text = format!("{PUBLIC}[operator]\ntoken_file = \"/nonexistent/token\"\n");
    refused(
        "token-file",
        &text,
        "config.toml, line 6: operator.token_file: /nonexistent/token: No such file",
    );
    let variable = [("CONTEXT402_OPERATOR_TOKEN_FILE", "/nonexistent/token")];
    let error = load("token-variable", &text, &variable).expect_err("a refusal");
    assert!(
        error.starts_with("environment CONTEXT402_OPERATOR_TOKEN_FILE: /nonexistent/token: "),
        "{error}"
    );
}

/// A folder was told to be readable by everybody.
#[test]
fn a_folder_is_no_secret_s_file() {
    let place = folder("secret-is-a-folder");
    let text = format!("{PUBLIC}[operator]\ntoken_file = \"{}\"\n", place.display());
    let expected = format!(
        "config.toml, line 6: operator.token_file: {} is a folder: give the file in it",
        place.display()
    );
    refused("folder", &text, &expected);
    std::fs::remove_dir_all(place).expect("removes the temporary folder");
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

/// `webhook_secrets_file = ["…"]` was ignored without a word, and the service sold without its secret.
#[test]
fn a_secret_s_file_that_is_no_text_is_refused() {
    for (name, line, key) in [
        (
            "list",
            "[bundles]\nwebhook_secrets_file = [\"/x\"]\n",
            "bundles.webhook_secrets_file",
        ),
        ("flag", "[signing]\nkey_file = true\n", "signing.key_file"),
        (
            "number",
            "[operator]\ntoken_file = 1\n",
            "operator.token_file",
        ),
    ] {
        let expected =
            format!("config.toml, line 6: {key}: expected the path of a file in quotes, found ");
        refused(name, &format!("{PUBLIC}{line}"), &expected);
    }
}

/// A file that is named wrong was ignored without a word: no console, no signature.
#[test]
fn credentials_that_are_no_secret_are_warned_of() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = folder("misnamed");
    let path = place.join("config.toml");
    std::fs::write(&path, PUBLIC).expect("writes");
    let warnings = |credentials: Option<PathBuf>| {
        let around = Surroundings {
            environment: &|_| None,
            variables: Vec::new(),
            credentials,
        };
        let resolved = Resolved::read(Some(&path), &around).expect("reads");
        Config::from_resolved(&resolved).expect("checks").warnings
    };
    let write = |path: PathBuf| {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("makes");
        std::fs::write(&path, "4020".repeat(16)).expect("writes");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).expect("chmod");
    };
    let handed = place.join("handed");
    for name in [
        "operator_operator_token",
        "signing_signing.key",
        "operator_token",
        "other",
        "operator_.old",
    ] {
        write(handed.join(name));
    }
    let found = warnings(Some(handed));
    assert_eq!(found.len(), 2, "{found:#?}");
    for (found, expected) in found.iter().zip([
        "the credential operator_operator_token does not belong to a setting and has no effect: operator.token is read from credentials/operator/token",
        "the credential signing_signing.key does not belong to a setting and has no effect: signing.key is read from credentials/signing/key",
    ]) {
        assert!(found.contains(expected), "{found}");
    }
    // The same by the folder beside the configuration.
    for name in [
        "operator/operator_token",
        "payment/facilitator_token",
        "operater/token",
        "signing/.key.swp",
    ] {
        write(place.join("credentials").join(name));
    }
    let found = warnings(None);
    assert_eq!(found.len(), 2, "{found:#?}");
    assert!(
        found[0].contains("credentials/operater/token does not belong to a setting"),
        "{found:#?}"
    );
    assert!(
        found[1].contains("credentials/operator/operator_token does not belong to a setting"),
        "{found:#?}"
    );
    assert!(
        found[1].ends_with("operator.token is read from credentials/operator/token"),
        "{found:#?}"
    );
    std::fs::remove_dir_all(place).expect("removes the temporary folder");
}
