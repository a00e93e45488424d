//! The table of settings: one row each, from which the file is read, the environment is looked up, `config init`
//! writes its commented example and `config print` shows what holds.

use url::Url;

/// One setting.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// `key` at top level, else `section.key`.
    pub key: &'static str,
    pub kind: Kind,
    pub default: Option<&'static str>,
    /// What it bounds, and what happens at the edge.
    pub doc: &'static str,
    /// What `config init` shows for a setting without default.
    pub example: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Text,
    /// Text that is a number in the file.
    Number,
    /// An array of strings; comma-separated in the environment.
    List,
    /// A table of strings; `a=b,c=d` in the environment.
    Map,
    /// An address that may hold a key: printed by scheme and host alone.
    Address,
    /// true or false.
    Flag,
    /// Never printed; from a credential, a file or the environment, never from the file itself.
    Secret,
}

const fn row(
    key: &'static str,
    kind: Kind,
    default: Option<&'static str>,
    doc: &'static str,
) -> Setting {
    Setting {
        key,
        kind,
        default,
        doc,
        example: "",
    }
}

const fn shown(key: &'static str, kind: Kind, example: &'static str, doc: &'static str) -> Setting {
    Setting {
        key,
        kind,
        default: None,
        doc,
        example,
    }
}

use Kind::{Address, Flag, List, Map, Number, Secret, Text};

#[rustfmt::skip]
pub static SETTINGS: &[Setting] = &[
    shown("base_url", Text, "https://context.example.com",
        "The address under which the public reaches this service: the only source of addresses in answers."),
    row("listen", Text, Some("127.0.0.1:4020"),
        "Where to accept connections. Keep it on loopback behind a reverse proxy that speaks TLS."),
    shown("trusted_proxies", List, "127.0.0.1",
        "Addresses or blocks (10.0.0.0/8) of your reverse proxies. Only their X-Forwarded-For or Forwarded says who a client is; without it all clients behind a proxy share one client's limits."),
    row("data_file", Text, Some("/var/lib/context402/context402.redb"),
        "The one file with all state. Made by `context402 init`; back it up."),
    shown("socket", Text, "/run/context402/operator.sock",
        "The operator's Unix socket, mode 0600. Beside the data file when not set."),
    row("service_name", Text, Some("context402"),
        "The name that payment challenges and pages show, 1 to 32 ASCII characters."),
    shown("contact", Text, "operator@example.com",
        "How site owners and buyers reach you; shown on pages."),

    shown("legal.name", Text, "Example Data Ltd", "Who runs this service: on the pages of terms, privacy and refunds, which say so when it is missing."),
    shown("legal.address", Text, "1 Example Street, Example Town", "Where letters reach you; on the same pages."),
    shown("legal.email", Text, "legal@example.com", "For questions on data and payments; on the same pages. `contact` when not set."),
    shown("legal.law", Text, "Norway", "Whose law applies; on the same pages."),

    row("payment.facilitator_url", Text, Some("sandbox"),
        "The x402 facilitator that verifies and settles, or \"sandbox\" for test funds on loopback."),
    row("payment.facilitator_auth", Text, Some("none"),
        "How the facilitator knows us: none, bearer (needs facilitator_token) or cdp (needs cdp_key_id and cdp_key_secret)."),
    row("payment.facilitator_payload", Text, Some("whole"),
        "How much of a payment the facilitator is given: whole, by which directories list you, or bare, without resource and extensions, for one that refuses them."),
    row("payment.facilitator_token", Secret, None, "Bearer token for the facilitator."),
    shown("payment.cdp_key_id", Text, "organizations/…/apiKeys/…", "CDP API key id."),
    row("payment.cdp_key_secret", Secret, None, "CDP API key secret: base64 Ed25519 or PEM EC."),
    row("payment.network", Text, Some("eip155:8453"), "CAIP-2 id of the EVM network; eip155:8453 is Base."),
    row("payment.asset", Text, Some("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"), "Token contract; the default is USDC on Base."),
    row("payment.asset_name", Text, Some("USD Coin"), "The token's EIP-712 domain name; a wrong one makes every payment fail."),
    row("payment.asset_version", Text, Some("2"), "The token's EIP-712 domain version."),
    shown("payment.pay_to", Text, "0x0000000000000000000000000000000000000000", "Your vault: the address that is paid. Needed."),
    row("payment.verify_seconds_max", Number, Some("10"), "Time for the facilitator to verify; after it the buyer gets 503 and is not charged."),
    row("payment.settle_seconds_max", Number, Some("90"), "Time for a settle call; after it the payment is unknown and is reconciled."),
    row("payment.settle_wait_seconds_max", Number, Some("45"), "How long the buyer waits for a settlement; then 503 with a retry credit, while the call goes on."),
    shown("payment.verify_settlement", Text, "background",
        "Whether settlements that the facilitator reports are looked up on chain: off, background (within a minute after the delivery; a contradiction shows in /health, the metrics, the ledger and the log), or before_delivery (the buyer waits up to settle_wait_seconds_max until the chain shows the payment, then gets 503 with a retry credit). background when chain.rpc_url is set, else off."),
    row("payment.calls_max", Number, Some("64"), "Facilitator calls at once; further sales wait, then get 503."),

    shown("chain.rpc_url", Address, "https://mainnet.base.org",
        "JSON-RPC endpoint of the network, https or http on loopback: it decides settlements whose end the facilitator cannot tell, and knows what gas costs."),
    row("chain.seconds_max", Number, Some("10"), "Time for one inquiry at the endpoint, all its calls together; after it the settlement stays unknown until the next look."),
    row("chain.confirmations", Number, Some("5"), "Blocks that a fact must stand in, its own included, before it decides a settlement or counts as a payment."),
    row("chain.transfer_age_seconds_max", Number, Some("3600"), "How old a transfer may be when its hash is first sent to the legacy endpoint; an older one pays for nothing. Anybody can read hashes on chain, so keep it short."),

    row("legacy.access", Flag, Some("false"),
        "Whether the endpoints from before x402 version 2, /v1/access (pages for a transfer that the buyer has made) and /v1/broker/compute, do their work; needs chain.rpc_url. Off, both answer 503 and nobody is told to transfer anything."),
    row("legacy.payment_proof", Flag, Some("true"),
        "Whether a transfer buys for its sender alone: the request carries the sender's signature in X-Service-Payment-Proof. With false anyone who sends the hash of a transfer first gets the page; hashes are public, and transfers that you make to your own address count too."),

    row("guard.gas_usdc", Text, Some("0"),
        "What a settlement's gas costs you, in USDC; 0 where the facilitator pays it; \"live\" for what chain.rpc_url says, and then nothing is sold while it says nothing."),
    row("guard.settlement_gas", Number, Some("100000"), "Gas of one settlement, for \"live\"."),
    shown("guard.coin_usdc", Text, "3000",
        "Price of the network's coin (ETH on Base) in USDC, for \"live\": a number, better too high than too low, or \"chainlink:0x…\", the address of a feed of the coin and the dollar on that network, which is asked with the gas."),
    row("guard.coin_age_seconds_max", Number, Some("7200"), "How old a feed's price may be, beyond what the feed itself allows; an older one counts as none."),
    row("guard.gas_age_seconds_max", Number, Some("120"), "How old a gas price may be; an older one counts as none."),
    row("guard.facilitator_fee_usdc", Text, Some("0.001"), "The facilitator's fee per settlement, in USDC."),
    row("guard.fetch_cost_usdc", Text, Some("0.0005"), "What fetching and converting a page costs you, in USDC."),
    row("guard.minimum_profit_usdc", Text, Some("0.005"), "Least profit per sale, in USDC; a sale below it is refused before any work."),

    row("signing.key", Secret, None,
        "Key that signs offers, receipts and reports: 64 hex digits, as `openssl rand -hex 32` writes them. Its public half stands at /.well-known/did.json; without a key nothing is signed."),
    shown("signing.former_keys", List, "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
        "Public halves of earlier keys, each the member x of its entry in /.well-known/jwks.json: what they have signed stays provable. Leave out a key that others may have."),

    row("fetch.seconds_max", Number, Some("15"), "Time for a page with all its redirects; after it the buyer gets 503 with a retry credit."),
    row("fetch.idle_seconds_max", Number, Some("8"), "Longest pause while a page arrives."),
    row("fetch.at_once_max", Number, Some("16"), "Pages fetched and converted at once. Large ones wait for memory (limits.work_memory_mib)."),
    row("fetch.redirects_max", Number, Some("5"), "Redirects followed; one more is refused. Each is checked like the first address."),
    shown("fetch.blocklist", List, "example.net", "Hosts that are never fetched, with their subdomains."),

    shown("llm.base_url", Text, "https://llm.example.com/v1",
        "Where a language model answers in the manner of OpenAI's chat completions; standard and deep Proof Packs ask it for claims that the evidence carries. Without it every report is made without a model."),
    shown("llm.model", Text, "small-model", "The model's name; needed with llm.base_url."),
    shown("llm.key", Secret, "", "The model's key, sent as bearer token; none when not set."),
    row("llm.parameters", Text, Some("classic"), "\"classic\" sends max_tokens and a temperature of 0, \"reasoning\" max_completion_tokens and no temperature."),
    row("llm.seconds_max", Number, Some("20"), "Time for an answer, up to 60; after it the report is made without the model."),
    row("llm.at_once_max", Number, Some("4"), "Questions to the model at once; a further one waits 2 seconds, then its report is made without."),
    row("llm.input_tokens_max", Number, Some("16000"), "Most tokens of a prompt; its least good evidence is left out beyond. A byte counts as a token, so that the cost is certain."),
    row("llm.output_tokens_max", Number, Some("1200"), "Most tokens of an answer; one that is cut there is not used."),
    shown("llm.input_usdc_per_million", Text, "0.15", "Price of a million tokens of prompts in USDC, 0 for a model of your own; needed with llm.base_url, because each sale must cover the most that its question can cost."),
    shown("llm.output_usdc_per_million", Text, "0.6", "Price of a million tokens of answers in USDC; needed with llm.base_url."),

    shown("bundles.scout_link", Text, "https://buy.example.com/scout",
        "Payment link for the bundle scout (2.00 USD), an https address. Let it redirect to {base_url}/proof-pack/bundle/delivery?session_id={CHECKOUT_SESSION_ID} after payment. Without a link buyers are led to the request form."),
    shown("bundles.builder_link", Text, "https://buy.example.com/builder", "The same for builder (7.00 USD)."),
    shown("bundles.audit_link", Text, "https://buy.example.com/audit", "The same for audit (20.00 USD)."),
    shown("bundles.notify_url", Address, "https://hooks.example.com/leads",
        "Where new leads are announced by POST, https or http on loopback; three tries within six minutes. Nothing is announced when not set."),
    row("bundles.notify_secret", Secret, None,
        "What announcements are signed with, in X-Service-Signature; unsigned when not set."),
    row("bundles.leads_max", Number, Some("100000"),
        "Leads and messages kept at most, 64 KiB each at most; beyond it new ones are refused until you delete some."),
    shown("bundles.font_dir", Text, "/usr/local/share/fonts/context402",
        "Folder with further fonts (ttf, otf, ttc; 16 files of 32 MiB at most) for PDFs in scripts that the built-in ones lack. Noto CJK is found by itself where its package is installed."),
    row("bundles.webhook_secrets", Secret, None,
        "Signing secrets of the payment provider's webhook at /v1/webhooks/stripe (whsec_…), several while you change them. Without one no event is taken, and the provider tries again later."),
    row("bundles.livemode", Flag, Some("true"),
        "Whether the provider's live payments count. With false its test payments count, and live ones are set aside for you to look at."),
    row("bundles.source_pause_seconds", Number, Some("30"),
        "How long a source of a bundle that does not answer is left alone. It is asked three times, the second pause being four times as long; then the report says that it could not be read."),
    shown("mail.smtp_host", Text, "smtp.example.com",
        "The mail server that deliveries go through. Without it, and without mail.folder, mails wait in the outbox."),
    shown("mail.smtp_port", Number, "587", "Its port; 587 with starttls, 465 with implicit and 25 with none when not set."),
    row("mail.tls", Text, Some("starttls"), "How the server is spoken to: starttls (insisted on), implicit (TLS from the first byte), or none, for a server on this machine."),
    shown("mail.username", Text, "reports@example.com", "The account at the mail server; none when not set."),
    row("mail.password", Secret, None, "The account's password; needed with mail.username."),
    shown("mail.from", Text, "Example Reports <reports@example.com>", "In whose name mail is written; needed with mail.smtp_host and with mail.folder."),
    shown("mail.reply_to", Text, "help@example.com", "Where answers of readers go; to `contact` when not set and that is an e-mail address, else to mail.from."),
    shown("mail.ca_file", Text, "/etc/context402/mail-ca.pem", "A further trust root for the mail server, in PEM."),
    row("mail.seconds_max", Number, Some("30"), "Time for each step of the conversation with the mail server; after it the mail is tried again later."),
    shown("mail.folder", Text, "/tmp/mail", "For trying out: writes each mail into this folder, as NAME.eml, and sends none, whatever else stands here."),

    row("operator.token", Secret, None,
        "Opens the operator's console at /operator, and the operator's addresses to `Authorization: Bearer`: at least 32 characters, as `openssl rand -hex 32` writes them. Without it they answer on the Unix socket alone."),

    row("limits.connections_max", Number, Some("4096"), "Client connections at once. For a further one, the connection that has waited longest for its next request is closed; when all have a request in progress, the further one waits in the backlog."),
    row("limits.connections_of_client_max", Number, Some("256"), "Connections of one client at once; one more gets 429 and is closed. Behind a trusted proxy, requests of one client in progress at once; one more gets 429."),
    row("limits.header_seconds_max", Number, Some("10"), "Time for a request's headers, and for an idle connection."),
    row("limits.body_seconds_max", Number, Some("10"), "Time for a request's body; after it 408."),
    row("limits.request_bodies_mib", Number, Some("16"), "Memory for request bodies, from their first byte until their request is answered, together, in MiB; the first 4 KiB of each are not counted. When it is used up, incomplete bodies older than a second get 408, and a further body gets 503. At most 4 bodies above 64 KiB at once."),
    row("limits.write_stall_seconds_max", Number, Some("20"), "How long a client may not read, or read less than 4 KiB a second; then its connection is closed."),
    row("limits.stop_grace_seconds", Number, Some("40"), "On a stop: time for paid work to finish before the process ends."),
    row("limits.store_cache_mib", Number, Some("32"), "Memory for the data file's pages, in MiB."),
    row("limits.work_memory_mib", Number, Some("16"), "Memory for large pages, reports and answers that are being made, together, in MiB; small ones are not counted. One more may always be made, up to 64 MiB. The others wait, and get 503 where that takes too long."),
    row("limits.page_cache_mib", Number, Some("512"), "Converted pages kept in the data file, in MiB; the oldest leave first."),
    row("limits.report_store_mib", Number, Some("4096"), "Reports kept with their sources in the data file, in MiB; beyond it none is sold until some expire."),
    row("limits.unpaid_records_mib", Number, Some("64"), "What each kind of record that costs its sender nothing may take in the data file, in MiB: quotes, quotes for bundles, requests without a contact, events of the payment provider, unpaid orders. Beyond it the oldest leave. Requests with a contact are refused beyond it until you delete some."),
    row("limits.unsettled_mib", Number, Some("512"), "Answers kept in the data file whose payment is not settled yet, in MiB; beyond it a sale gets 503 and is not charged."),
    row("limits.free_disk_mib_min", Number, Some("64"), "Free disk space below which nothing is sold, in MiB. From twice that on, cached pages and unpaid records leave so that sales go on. Below 4 MiB nothing is written at all, and no start succeeds."),

    row("limits.free_per_minute", Number, Some("6000"), "Pages and documents that one client may ask for in a minute; then 429. A client is an IPv4 address or an IPv6 /64. 0 is no limit, here and below."),
    row("limits.probes_per_minute", Number, Some("6000"), "Probes for a price (GET on a paid address) by one client in a minute."),
    row("limits.unpaid_per_minute", Number, Some("60000"), "Requests without payment by one client in a minute. Keep it generous: directories take a 429 for a service that sells nothing."),
    row("limits.quotes_per_minute", Number, Some("300"), "Quotes for one client in a minute."),
    row("limits.leads_per_minute", Number, Some("60"), "Leads, messages and ways to a payment link of one client in a minute."),
    row("limits.sales_per_minute", Number, Some("3000"), "New payments of one client in a minute. A payment that is known already is answered beyond it."),
    row("limits.credits_per_minute", Number, Some("300"), "Retry credits and transaction hashes that one client may try in a minute. A credit whose payment was taken is redeemed beyond it."),
    row("limits.recoveries_per_minute", Number, Some("10"), "Requests by one client in a minute to have a lost delivery sent again."),
    row("limits.logins_per_minute", Number, Some("10"), "Tries of one client to sign in to the operator's console in a minute."),
    row("limits.quotes_of_domain_per_minute", Number, Some("600"), "Quotes for the pages of one registrable domain in a minute, by all clients together."),
    row("limits.clients_max", Number, Some("20000"), "Clients that each of these limits tells apart, in about 4 MiB of memory; further ones share a limit until others have been idle for a minute."),

    shown("lab.hosts", Map, "\"news.sample-site.org\" = \"93.184.216.34@127.0.0.1:8081\"",
        "For tests on loopback: name = address that the name resolves to @ port that is dialled instead."),
    shown("lab.name_server", Text, "127.0.0.1:5353",
        "For tests on loopback: the name server, on loopback itself, that is asked for every target's name instead of those of the system; then lab.hosts says only what is dialled. What it answers is checked like any other answer."),
    shown("lab.ca_file", Text, "/tmp/ca.pem", "For tests on loopback: a further trust root for https targets."),
    shown("lab.crash_at", Text, "kept", "For tests on loopback: abort the process at this point of a sale (verified, fetched, held, redeeming, kept, settled, recorded), or of an order (event_taken, order_taken, source_kept, sources_done, order_written, order_delivered, mailed)."),
];

pub(in crate::config) fn find(key: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.key == key)
}

pub(in crate::config) fn doc(key: &str) -> &'static str {
    find(key).map_or("", |setting| setting.doc)
}

/// A value as the operator may see it, and anyone who reads over the shoulder.
pub(in crate::config) fn masked(key: &str, text: &str) -> String {
    match find(key).map(|setting| setting.kind) {
        Some(Secret) => "***".to_owned(),
        Some(Address) => masked_address(text),
        _ => text.to_owned(),
    }
}

fn masked_address(text: &str) -> String {
    match Url::parse(text) {
        Ok(url) if url.has_host() => {
            let origin = url.origin().ascii_serialization();
            let rest = text.trim_end_matches('/').strip_prefix(&origin);
            match rest {
                Some("") => origin,
                _ => format!("{origin}/***"),
            }
        }
        _ => "***".to_owned(),
    }
}

/// `payment.pay_to` → `CONTEXT402_PAYMENT_PAY_TO`.
pub fn environment_name(key: &str) -> String {
    format!("CONTEXT402_{}", key.replace('.', "_").to_ascii_uppercase())
}

/// `payment.facilitator_token` → `payment_facilitator_token`: the file's name in `$CREDENTIALS_DIRECTORY`.
pub fn credential_name(key: &str) -> String {
    key.replace('.', "_")
}

/// The commented file that `config init` writes.
pub fn example_file() -> String {
    let mut text = String::from(
        "# context402 configuration. Every setting stands here with its default; lines that start with # are not in\n\
         # force. Each can be overridden by the environment: CONTEXT402_SECTION_KEY.\n",
    );
    let mut section = "";
    for setting in SETTINGS {
        let (in_section, name) = setting.key.split_once('.').unwrap_or(("", setting.key));
        if in_section != section {
            section = in_section;
            text.push_str(&format!("\n[{section}]\n"));
        }
        text.push_str(&format!("\n# {}\n", setting.doc));
        text.push_str(&line(setting, name));
    }
    text
}

fn line(setting: &Setting, name: &str) -> String {
    let needed = matches!(setting.key, "base_url" | "payment.pay_to");
    match (setting.kind, setting.default) {
        (Secret, _) => format!(
            "#{name}_file = \"/etc/context402/credentials/{}\"\n",
            setting.key.replace('.', "/")
        ),
        (Number | Flag, Some(default)) => format!("#{name} = {default}\n"),
        (_, Some(default)) => format!("#{name} = \"{default}\"\n"),
        (List, None) => format!("#{name} = [\"{}\"]\n", setting.example),
        (Map, None) => format!("#{name} = {{ {} }}\n", setting.example),
        (_, None) if needed => format!("{name} = \"{}\"\n", setting.example),
        (_, None) => format!("#{name} = \"{}\"\n", setting.example),
    }
}
