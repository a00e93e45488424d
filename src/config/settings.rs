//! The table of settings, one row each, for reading the file and the environment, for `config init` and for `config print`.

use url::Url;

/// One setting.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// `key` at top level, else `section.key`.
    pub key: &'static str,
    pub kind: Kind,
    pub default: Option<&'static str>,
    /// What it sets or limits, and what happens at the limit.
    pub doc: &'static str,
    /// The example in `config init` for a setting without default.
    pub example: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Text,
    /// A number.
    Number,
    /// An array of strings; comma-separated in the environment.
    List,
    /// A table of strings; `a=b,c=d` in the environment.
    Map,
    /// A URL that may contain a key: printed only with scheme and host.
    Address,
    /// true or false.
    Flag,
    /// Never printed; from a credential, a separate file or the environment, never from the configuration file.
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

const fn with_example(
    key: &'static str,
    kind: Kind,
    example: &'static str,
    doc: &'static str,
) -> Setting {
    Setting {
        key,
        kind,
        default: None,
        doc,
        example,
    }
}

use Kind::{Address, Flag, List, Map, Number, Secret, Text};

/// What stands in the file until it is set.
pub(in crate::config) const BASE_URL_EXAMPLE: &str = "https://your-domain.example";
pub(in crate::config) const FACILITATOR_EXAMPLE: &str = "https://your-facilitator.example";

#[rustfmt::skip]
pub static SETTINGS: &[Setting] = &[
    with_example("base_url", Text, BASE_URL_EXAMPLE,
        "The public address of this service; all links in responses use it."),
    row("listen", Text, Some("127.0.0.1:4020"),
        "Where to accept connections. Keep it on loopback behind a reverse proxy with TLS. With a certificate in [tls] it accepts HTTPS, by default on [::]:443."),
    with_example("trusted_proxies", List, "127.0.0.1",
        "Addresses or blocks (10.0.0.0/8) of your reverse proxies. Only their X-Forwarded-For or Forwarded is trusted; without it all clients behind a proxy share one rate limit."),
    row("data_file", Text, Some("/var/lib/context402/context402.redb"),
        "The file with all data. Created by `context402 init`; back it up."),
    with_example("socket", Text, "/run/context402/operator.sock",
        "The operator's Unix socket, mode 0600. Beside the data file by default."),
    row("service_name", Text, Some("context402"),
        "The name in payment challenges and documents, 1 to 32 ASCII characters. A change needs a restart, because every prepared challenge carries it."),
    with_example("contact", Text, "operator@example.com",
        "Contact for site owners and buyers, shown on pages."),
    with_example("download_url", Text, "https://releases.example.com/context402/",
        "Where buyers can download this program for `context402 buy`, an https address. The quickstart and the pages with commands link to it; without it only a sandbox shows that command."),

    with_example("legal.name", Text, "Example Data Ltd", "Your legal name, for the terms, privacy and refund pages, which say so if it is missing."),
    with_example("legal.address", Text, "1 Example Street, Example Town", "Your postal address, on the same pages."),
    with_example("legal.email", Text, "legal@example.com", "For questions about data and payments, on the same pages. Default: `contact`."),
    with_example("legal.law", Text, "Norway", "The governing law, on the same pages."),

    row("payment.facilitator_url", Text, Some("sandbox"),
        "The x402 facilitator that verifies and settles payments."),
    row("payment.facilitator_auth", Text, Some("none"),
        "Authentication at the facilitator: none, bearer (needs facilitator_token) or cdp (needs cdp_key_id and cdp_key_secret)."),
    row("payment.facilitator_payload", Text, Some("whole"),
        "How much of a payment is sent to the facilitator: whole, so that directories can list you, or bare, without resource and extensions, if the facilitator rejects them."),
    row("payment.facilitator_token", Secret, None, "Bearer token for the facilitator."),
    with_example("payment.cdp_key_id", Text, "organizations/…/apiKeys/…", "CDP API key id."),
    row("payment.cdp_key_secret", Secret, None, "CDP API key secret: base64 Ed25519 or PEM EC."),
    row("payment.network", Text, Some("eip155:8453"), "CAIP-2 id of the EVM network; eip155:8453 is Base."),
    row("payment.asset", Text, Some("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"), "Token contract; the default is USDC on Base."),
    row("payment.asset_name", Text, Some("USD Coin"), "The token's EIP-712 domain name; with a wrong one every payment fails."),
    row("payment.asset_version", Text, Some("2"), "The token's EIP-712 domain version."),
    with_example("payment.pay_to", Text, "0x0000000000000000000000000000000000000000", "Your receiving address. Required."),
    row("payment.verify_seconds_max", Number, Some("10"), "Timeout for verification, up to 30; then the buyer gets 503 and is not charged."),
    row("payment.settle_seconds_max", Number, Some("90"), "Timeout for a settle call; then the outcome is unknown and is reconciled."),
    row("payment.settle_wait_seconds_max", Number, Some("45"), "How long the buyer waits for a settlement; then 503 with a retry credit, while the call goes on."),
    with_example("payment.verify_settlement", Text, "background",
        "Whether reported settlements are verified on chain: off, background (within a minute after delivery; contradictions show in /health, metrics, ledger and log), or before_delivery (the buyer waits up to settle_wait_seconds_max for the chain, then gets 503 with a retry credit). Default: background if chain.rpc_url is set, else off."),
    row("payment.calls_max", Number, Some("64"), "Concurrent facilitator calls; further sales wait, then get 503."),

    with_example("chain.rpc_url", Address, "https://mainnet.base.org",
        "JSON-RPC endpoint of the network: https, or http on loopback. It resolves unknown settlements and provides the gas price."),
    row("chain.seconds_max", Number, Some("10"), "Timeout for one lookup with all its calls; then the settlement stays unknown until the next lookup."),
    row("chain.confirmations", Number, Some("5"), "Confirmations, including the block itself, before an on-chain event decides the outcome of a settlement or counts as a payment."),
    row("chain.transfer_age_seconds_max", Number, Some("3600"), "Maximum age of a transfer when its hash is first sent to the legacy endpoint; older ones are refused. Transaction hashes are public, so keep it short."),

    row("legacy.access", Flag, Some("false"),
        "Enables the endpoints from before x402 version 2: /v1/access (pages paid by direct transfer) and /v1/broker/compute; needs chain.rpc_url. If false, both return 503 without payment instructions."),
    row("legacy.payment_proof", Flag, Some("true"),
        "Whether only the sender can use a transfer, with a signature in X-Service-Payment-Proof. If false, the first client to send the hash gets the page; hashes are public, and your own transfers to your address count too."),

    row("guard.gas_usdc", Text, Some("0"),
        "Your gas cost per settlement in USDC; 0 if the facilitator pays it; \"live\" to get it from chain.rpc_url, which stops sales while it is unavailable."),
    row("guard.settlement_gas", Number, Some("100000"), "Gas of one settlement, for \"live\"."),
    with_example("guard.coin_usdc", Text, "3000",
        "Price of the network's native coin (ETH on Base) in USDC, for \"live\": a number (too high is safer than too low), or \"chainlink:0x…\", the address of a coin/USD feed on that network."),
    row("guard.coin_age_seconds_max", Number, Some("7200"), "Maximum age of a feed's price; an older one is ignored."),
    row("guard.gas_age_seconds_max", Number, Some("120"), "Maximum age of a gas price; an older one is ignored."),
    row("guard.facilitator_fee_usdc", Text, Some("0.001"), "The facilitator's fee per settlement, in USDC."),
    row("guard.fetch_cost_usdc", Text, Some("0.0005"), "Your cost to fetch and convert a page, in USDC."),
    row("guard.render_usdc", Text, Some("0.0005"), "Your cost to render a page, in USDC; counted where render.browser is set and the request allows rendering."),
    row("guard.minimum_profit_usdc", Text, Some("0.005"), "Minimum profit per sale, in USDC; a sale below it is refused before any work."),

    row("signing.key", Secret, None,
        "Key to sign offers, receipts and reports: 64 hex digits, from `openssl rand -hex 32`. The public key is at /.well-known/did.json; without a key nothing is signed."),
    with_example("signing.former_keys", List, "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
        "Former public keys, each the member x of its entry in /.well-known/jwks.json, so that old signatures stay verifiable. Leave out compromised keys."),

    row("fetch.seconds_max", Number, Some("15"), "Timeout for a page with all redirects, up to 60; then the buyer gets 503 with a retry credit."),
    row("fetch.idle_seconds_max", Number, Some("8"), "Longest pause while a page arrives."),
    row("fetch.at_once_max", Number, Some("16"), "Pages fetched and converted concurrently. Large ones wait for memory (limits.work_memory_mib)."),
    row("fetch.redirects_max", Number, Some("5"), "Maximum number of redirects. Each is checked like the first address."),
    with_example("fetch.blocklist", List, "example.net", "Hosts that are never fetched, including subdomains."),

    with_example("render.browser", Text, "auto",
        "Browser for pages whose text is made by scripts: a path, or \"auto\" for an installed chromium-headless-shell or chromium. Without it, page scripts are never run. The browser runs in its own sandbox, without a network; everything it loads is subject to the same checks as any other fetch."),
    with_example("render.socket", Text, "/run/context402-browser.sock",
        "Socket of the render worker, context402-browser.service. Without it each page is rendered by a child process in namespaces of its own."),
    row("render.egress_socket", Text, Some("/run/context402-egress.sock"),
        "With render.socket: the socket on which the service accepts the worker's traffic, unless systemd passes one."),
    row("render.seconds_max", Number, Some("10"), "Seconds until a page that is still loading or changing is read as it is, up to 30. The browser is stopped two seconds later."),
    row("render.at_once_max", Number, Some("2"), "Pages rendered concurrently, up to 16; further ones wait 5 seconds, then are read without the browser."),
    row("render.jit", Flag, Some("false"), "Whether the browser compiles scripts to machine code: faster on heavy pages, and a larger target for attacks. Not with the unit's MemoryDenyWriteExecute."),

    row("evidence.model", Flag, Some("true"),
        "Whether standard and deep Proof Packs check passages with the built-in entailment model, and whether these packs and excerpts rank passages by meaning. If false, they compare only words, as quick packs always do; the price list and the reports say so."),

    with_example("llm.base_url", Text, "https://llm.example.com/v1",
        "Base URL of an OpenAI-compatible chat completions API. Standard and deep Proof Packs use it to find claims that the evidence supports. Without it, reports are made without a model."),
    with_example("llm.model", Text, "small-model", "The model's name; required with llm.base_url."),
    with_example("llm.key", Secret, "", "The API key, sent as bearer token. Optional."),
    row("llm.parameters", Text, Some("classic"), "\"classic\" sends max_tokens and a temperature of 0, \"reasoning\" max_completion_tokens and no temperature."),
    row("llm.seconds_max", Number, Some("20"), "Timeout for a response, up to 60; then the report is made without the model."),
    row("llm.at_once_max", Number, Some("4"), "Concurrent model calls; a further one waits 2 seconds, then its report is made without the model."),
    row("llm.input_tokens_max", Number, Some("16000"), "Maximum tokens of a prompt; the weakest evidence is omitted beyond it. A byte counts as a token, which makes the cost an upper bound."),
    row("llm.output_tokens_max", Number, Some("1200"), "Maximum tokens of a response; a truncated one is not used."),
    with_example("llm.input_usdc_per_million", Text, "0.15", "Price per million prompt tokens in USDC, 0 for your own model; required with llm.base_url, because each sale must cover its maximum model cost."),
    with_example("llm.output_usdc_per_million", Text, "0.6", "Price per million response tokens in USDC; required with llm.base_url."),

    with_example("bundles.scout_link", Text, "https://buy.example.com/scout",
        "Payment link for the bundle scout (2.00 USD), an https address. Make it redirect to {base_url}/proof-pack/bundle/delivery?session_id={CHECKOUT_SESSION_ID} after payment. Without a link buyers get the request form."),
    with_example("bundles.builder_link", Text, "https://buy.example.com/builder", "The same for builder (7.00 USD)."),
    with_example("bundles.audit_link", Text, "https://buy.example.com/audit", "The same for audit (20.00 USD)."),
    with_example("bundles.notify_url", Address, "https://hooks.example.com/leads",
        "Webhook for new leads (POST), https or http on loopback; three attempts within six minutes. Optional."),
    row("bundles.notify_secret", Secret, None,
        "Secret to sign webhook notices in X-Service-Signature; unsigned without it."),
    row("bundles.leads_max", Number, Some("100000"),
        "Maximum number of leads and messages, at most 64 KiB each; beyond it new ones are refused until you delete some."),
    with_example("bundles.font_dir", Text, "/usr/local/share/fonts/context402",
        "Folder with additional fonts (ttf, otf, ttc; at most 16 files of 32 MiB) for PDFs in writing systems that the built-in fonts do not cover. An installed Noto CJK package is found automatically."),
    row("bundles.webhook_secrets", Secret, None,
        "Signing secrets of the payment provider's webhook at /v1/webhooks/stripe (whsec_…), several during a rotation. Without one no event is accepted, and the provider retries later."),
    row("bundles.livemode", Flag, Some("true"),
        "Whether live payments count. If false, test payments count, and live ones need your review."),
    row("bundles.source_pause_seconds", Number, Some("30"),
        "Pause before a bundle source that does not respond is retried. There are three attempts; the second pause is four times as long. After the third, the report says that the source could not be fetched."),
    with_example("mail.smtp_host", Text, "smtp.example.com",
        "The mail server. Without it and without mail.folder, e-mails wait in the outbox."),
    with_example("mail.smtp_port", Number, "587", "Its port. Default: 587 with starttls, 465 with implicit, 25 with none."),
    row("mail.tls", Text, Some("starttls"), "starttls (required, not opportunistic), implicit (TLS from the first byte), or none, for a server on this machine."),
    with_example("mail.username", Text, "reports@example.com", "The account at the mail server. Optional."),
    row("mail.password", Secret, None, "The account's password; required with mail.username."),
    with_example("mail.from", Text, "Example Reports <reports@example.com>", "The sender; required with mail.smtp_host and mail.folder."),
    with_example("mail.reply_to", Text, "help@example.com", "The Reply-To address. Default: `contact` if it is an e-mail address, else mail.from."),
    with_example("mail.ca_file", Text, "/etc/context402/mail-ca.pem", "An additional root certificate for the mail server, in PEM."),
    row("mail.seconds_max", Number, Some("30"), "Timeout for each step of the SMTP session; then the e-mail is retried later."),
    with_example("mail.folder", Text, "/tmp/mail", "For tests, in place of mail.smtp_host: writes each e-mail to this folder as NAME.eml and sends none."),

    row("operator.token", Secret, None,
        "Token for the operator's console at /operator and for the operator's API with `Authorization: Bearer`: at least 32 characters, from `openssl rand -hex 32`. Without it only the Unix socket gives access."),

    row("tls.acme", Flag, Some("false"),
        "Serve HTTPS without a reverse proxy, with a certificate from Let's Encrypt for the host of base_url. Needs ports 443 and 80 and accepts the authority's terms of service. See systemd/TLS.md."),
    with_example("tls.acme_email", Text, "admin@example.com", "Contact for the certificate authority. Optional."),
    with_example("tls.certificate", Text, "/var/lib/context402/tls/fullchain.pem",
        "Serve HTTPS with this certificate and its chain, in PEM, instead of tls.acme. A changed file is loaded within a minute; an unusable certificate is reported, and the previous one stays in use."),
    with_example("tls.key", Text, "/var/lib/context402/tls/privkey.pem", "The private key of tls.certificate, in PEM; not readable by everybody."),
    row("tls.http_listen", Text, Some("[::]:80"),
        "With HTTPS: the plain port that redirects GET and HEAD to HTTPS and refuses everything else. \"off\" disables it."),

    row("limits.connections_max", Number, Some("4096"), "Concurrent client connections. Beyond it, the connection that has been idle longest is closed; if all have a request in progress, new ones wait in the backlog."),
    row("limits.connections_of_client_max", Number, Some("256"), "Concurrent connections per client; one more gets 429 and is closed. Behind a trusted proxy, concurrent requests per client; one more gets 429."),
    row("limits.header_seconds_max", Number, Some("10"), "Timeout for a request's headers, and for an idle connection."),
    row("limits.body_seconds_max", Number, Some("10"), "Timeout for a request's body; then 408."),
    row("limits.request_bodies_mib", Number, Some("16"), "Total memory for request bodies in progress, in MiB; the first 4 KiB of each are not counted. When it is used up, incomplete bodies older than a second get 408, and a further body gets 503. At most 4 concurrent bodies above 64 KiB."),
    row("limits.write_stall_seconds_max", Number, Some("20"), "How long a client may stop reading, or read less than 4 KiB a second; then its connection is closed."),
    row("limits.stop_grace_seconds", Number, Some("40"), "Time for paid work to finish during a stop."),
    row("limits.store_cache_mib", Number, Some("32"), "Memory for the data file's pages, in MiB."),
    row("limits.work_memory_mib", Number, Some("16"), "Total memory for large pages, reports and responses in progress, in MiB; small ones are not counted. One purchase at a time may take more, as much as its largest page needs. Others wait, and get 503 if that takes too long."),
    row("limits.page_cache_mib", Number, Some("512"), "Cached pages in the data file, in MiB; the oldest are deleted first."),
    row("limits.report_store_mib", Number, Some("4096"), "Stored reports with their sources in the data file, in MiB; beyond it no reports are sold until some expire."),
    row("limits.unpaid_records_mib", Number, Some("64"), "Size of each kind of free record in the data file, in MiB: quotes, bundle quotes, requests without a contact, payment provider events, unpaid orders. Beyond it the oldest are deleted. Requests with a contact are refused instead until you delete some."),
    row("limits.unsettled_mib", Number, Some("512"), "Responses in the data file with an unsettled payment, in MiB; beyond it a sale gets 503 and is not charged."),
    row("limits.free_disk_mib_min", Number, Some("64"), "Free disk space below which sales stop, in MiB. Below twice that, cached pages and unpaid records are deleted so that sales can go on. Below 4 MiB nothing is written, and the service does not start."),

    row("limits.free_per_minute", Number, Some("6000"), "Requests for pages and documents per client and minute; then 429. A client is an IPv4 address or an IPv6 /64. 0 means no limit, here and in every limit per minute below."),
    row("limits.probes_per_minute", Number, Some("6000"), "Price probes (GET on a paid endpoint) per client and minute."),
    row("limits.unpaid_per_minute", Number, Some("60000"), "Unpaid requests per client and minute. Keep it high: directories that get a 429 may delist the service."),
    row("limits.quotes_per_minute", Number, Some("300"), "Quotes per client and minute."),
    row("limits.leads_per_minute", Number, Some("60"), "Leads, messages and payment link redirects per client and minute."),
    row("limits.sales_per_minute", Number, Some("3000"), "New payments per client and minute. Payments already on record are not limited."),
    row("limits.credits_per_minute", Number, Some("300"), "Retry credits and transaction hashes per client and minute. Credits of charged payments are not limited."),
    row("limits.recoveries_per_minute", Number, Some("10"), "Requests for lost deliveries per client and minute."),
    row("limits.logins_per_minute", Number, Some("10"), "Console sign-in attempts per client and minute."),
    row("limits.quotes_of_domain_per_minute", Number, Some("600"), "Quotes per registrable domain and minute, for all clients together."),
    row("limits.free_fetches_per_day", Number, Some("200"), "Pages fetched for free previews per day, for all clients together. 0 fetches none and shows cached pages only."),
    row("limits.free_fetches_of_client_per_day", Number, Some("10"), "The same for one client."),
    row("limits.clients_max", Number, Some("20000"), "Clients tracked by each of these limits, in about 4 MiB of memory; further ones share a limit until others have been idle for a minute."),

    with_example("lab.hosts", Map, "\"news.sample-site.org\" = \"93.184.216.34@127.0.0.1:8081\"",
        "For tests on loopback: name = resolved address @ loopback address and port to connect to."),
    with_example("lab.name_server", Text, "127.0.0.1:5353",
        "For tests on loopback: a name server on loopback for all targets' names; lab.hosts then only sets the connection. Its answers are checked as usual."),
    with_example("lab.acme_directory", Text, "https://127.0.0.1:14000/dir", "For tests on loopback: the directory of another ACME authority, on loopback."),
    with_example("lab.acme_root", Text, "/tmp/pebble.pem", "For tests on loopback: the root certificates of that directory's own HTTPS and, for doctor and setup, of what it issues."),
    with_example("lab.ca_file", Text, "/tmp/ca.pem", "For tests on loopback: an additional root certificate for https targets."),
    with_example("lab.render_worker", Text, "/usr/bin/context402", "For tests on loopback: the program that is started to render a page, instead of this one."),
    with_example("lab.crash_at", Text, "kept", "For tests on loopback: abort the process at this point of a sale (verified, fetched, held, redeeming, kept, settled, recorded), or of an order (event_taken, order_taken, source_kept, sources_done, order_written, order_delivered, mailed), or of a certificate order (acme_begun, acme_account, acme_order, acme_proven, acme_finalized, acme_written, acme_renamed)."),
];

pub(in crate::config) fn find(key: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.key == key)
}

pub(in crate::config) fn doc(key: &str) -> &'static str {
    find(key).map_or("", |setting| setting.doc)
}

/// A value for display, without secrets.
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

/// Whether a value is the one that `config init` writes.
pub fn is_example(key: &str, value: &str) -> bool {
    match key {
        "payment.facilitator_url" => value == FACILITATOR_EXAMPLE,
        _ => find(key).is_some_and(|setting| setting.example == value),
    }
}

/// A facilitator for Base and other networks.
pub const COMMON_FACILITATOR: &str = "https://api.cdp.coinbase.com/platform/v2/x402";

/// The settings at the top of the file: what must be set, then what most installations set.
const NEEDED: [&str; 3] = ["base_url", "payment.pay_to", "payment.facilitator_url"];
const USUAL: [&str; 8] = [
    "payment.facilitator_auth",
    "payment.facilitator_token",
    "payment.cdp_key_id",
    "payment.cdp_key_secret",
    "trusted_proxies",
    "chain.rpc_url",
    "operator.token",
    "signing.key",
];
const FACILITATORS: &str = "\
# Common facilitators:
#   https://api.cdp.coinbase.com/platform/v2/x402   Base and more; needs a CDP key: payment.facilitator_auth = \"cdp\"
#   https://x402.org/facilitator                    test networks only, no account; needs payment.network =
#                                                   \"eip155:84532\" and that network's payment.asset and payment.asset_name
#   sandbox                                         test funds, while base_url is on loopback
";

/// The commented file that `config init` writes. Keys are dotted, as every message names them, so that the few settings
/// that must be set can stand first.
pub fn example_file() -> String {
    let mut text = String::from(
        "# context402 configuration. Lines that start with # are inactive and show an example or the default.\n\
        # Check it with `context402 config check`. Environment variables override it: CONTEXT402_SECTION_KEY.\n\n\
        # ---- Set these three. ----\n",
    );
    let entry = |setting: &Setting| {
        let more = match setting.key {
            "payment.facilitator_url" => FACILITATORS,
            _ => "",
        };
        format!("\n# {}\n{more}{}", setting.doc, line(setting))
    };
    let of = |keys: &[&str]| -> String {
        let settings = keys.iter().filter_map(|key| find(key));
        settings.map(entry).collect()
    };
    text.push_str(&of(&NEEDED));
    text.push_str("\n# ---- Set these where they apply: facilitator credentials, reverse proxy, recommended settings. ----\n");
    text.push_str(&of(&USUAL));
    text.push_str(
        "\n# ---- You can stop reading here. Everything below has a default that works. ----\n",
    );
    let mut section = "";
    let is_rare =
        |setting: &&Setting| !NEEDED.contains(&setting.key) && !USUAL.contains(&setting.key);
    for setting in SETTINGS.iter().filter(is_rare) {
        let in_section = setting
            .key
            .split_once('.')
            .map_or("", |(section, _)| section);
        if in_section != section {
            section = in_section;
            text.push_str(&format!("\n# ---- {section} ----\n"));
        }
        text.push_str(&entry(setting));
    }
    text
}

fn line(setting: &Setting) -> String {
    let key = setting.key;
    let mark = if NEEDED.contains(&key) { "" } else { "#" };
    match (setting.kind, setting.default) {
        (Secret, _) => format!(
            "#{key}_file = \"/etc/context402/credentials/{}\"\n",
            key.replace('.', "/")
        ),
        _ if key == "payment.facilitator_url" => format!("{key} = \"{FACILITATOR_EXAMPLE}\"\n"),
        (Number | Flag, Some(default)) => format!("#{key} = {default}\n"),
        (_, Some(default)) => format!("#{key} = \"{default}\"\n"),
        (List, None) => format!("#{key} = [\"{}\"]\n", setting.example),
        (Map, None) => format!("#{key} = {{ {} }}\n", setting.example),
        (_, None) => format!("{mark}{key} = \"{}\"\n", setting.example),
    }
}
