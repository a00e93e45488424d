//! Settings of money: the chain, settlement, gas.

use super::*;
use crate::domain::amount::Amount;

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

/// The token of Base stayed with another network, where every payment fails.
#[test]
fn another_network_has_another_token() {
    let with = |lines: &str| format!("{PUBLIC}{lines}");
    let sepolia = "network = \"eip155:84532\"\n";
    refused(
        "sepolia",
        &with(sepolia),
        "config.toml, line 5: payment.network = \"eip155:84532\" needs payment.asset, whose default is USDC on Base: for \
         USDC on eip155:84532, set payment.asset = \"0x036CbD53842c5426634e7929541eC2318f3dCF7e\" and payment.asset_name \
         = \"USDC\"",
    );
    let usdc = "asset = \"0x036CbD53842c5426634e7929541eC2318f3dCF7e\"\n";
    refused(
        "sepolia-name",
        &with(&format!("{sepolia}{usdc}")),
        "needs payment.asset_name = \"USDC\"",
    );
    let whole = with(&format!("{sepolia}{usdc}asset_name = \"USDC\"\n"));
    assert!(load("sepolia-whole", &whole, &[]).is_ok());
    refused(
        "ethereum",
        &with("network = \"eip155:1\"\n"),
        "set payment.asset = \"0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48\" and payment.asset_name = \"USD Coin\"",
    );
    refused(
        "elsewhere",
        &with("network = \"eip155:31337\"\n"),
        "set payment.asset to the token's contract on that network",
    );
    let own =
        "network = \"eip155:31337\"\nasset = \"0x036CbD53842c5426634e7929541eC2318f3dCF7e\"\n";
    assert!(load("own-token", &with(own), &[]).is_ok());
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
