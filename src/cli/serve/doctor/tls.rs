//! The certificate that the service serves, its plain port, and the CAA records of its name.

use serde_json::Value;

use crate::cli::serve::doctor::Finding::{self, Bad, Good, Note};
use crate::cli::serve::doctor::roots;
use crate::cli::{Failure, run_async};
use crate::config::{Config, Tls};
use crate::domain::caa;
use crate::domain::time::{DAY_SECONDS, UnixSeconds};
use crate::flows::operations::certificates;
use crate::outside::network::NameServers;
use crate::outside::probe;

/// The certificate that is served.
pub(super) fn certificate(tls: &Tls, now: UnixSeconds) -> Finding {
    let facts = match certificates::stored(tls) {
        Ok(Some(pair)) => pair.certificate,
        Ok(None) => {
            return Note(
                "none yet: try an order with `context402 tls test`, then start the service"
                    .to_owned(),
            );
        }
        Err(error) => return Bad(error),
    };
    let left = facts.not_after.since(now);
    let text = format!(
        "for {}, by {}, {} days left",
        facts.names.join(", "),
        facts.issuer,
        left / DAY_SECONDS
    );
    match () {
        () if now < facts.not_before => Bad(format!("{text}, not valid yet: check the clock")),
        () if left == 0 => Bad(format!("{text}: it has expired; see `context402 tls show`")),
        () if now >= facts.renew_at() => Note(format!("{text}: its renewal is due")),
        () => Good(text),
    }
}

/// Whether the plain port leads to HTTPS.
pub(super) fn plain_http(tls: &Tls) -> Finding {
    let Some(address) = tls.http_listen else {
        return Note(
            "tls.http_listen is off: http:// addresses do not lead to https://".to_owned(),
        );
    };
    let url = format!("http://{}:{}/", tls.name, address.port());
    match probe::get(&url) {
        Ok(probed) if probed.status == 308 => Good(format!("{url} redirects to https")),
        Ok(probed) => Bad(format!(
            "{url} returns {}, not a redirect: another server has the port",
            probed.status
        )),
        Err(error) => Note(format!("{url} does not respond: {error}")),
    }
}

/// Whether the name's CAA records let the authority issue.
pub(super) fn authority(config: &Config, name: &str) -> Result<Finding, Failure> {
    let servers = match config.lab.name_server {
        Some(server) => NameServers::Only(vec![server]),
        None => NameServers::System,
    };
    let records = match run_async(2, async { Ok(probe::caa(name, servers).await) })? {
        Ok(records) if records.is_empty() => {
            return Ok(Good(format!("{name} has none: any authority may issue")));
        }
        Ok(records) => records,
        Err(error) => return Ok(Note(format!("{name}: {error}"))),
    };
    let directory = certificates::directory(&config.lab);
    let probed = match roots(config) {
        Ok(roots) => probe::get_trusting(directory, roots.as_deref()),
        Err(error) => return Ok(Bad(format!("lab.acme_root cannot be read: {error}"))),
    };
    let document: Value = match probed {
        Ok(probed) => serde_json::from_slice(&probed.body).unwrap_or_default(),
        Err(error) => return Ok(Note(format!("{directory} does not respond: {error}"))),
    };
    let names = document["meta"]["caaIdentities"].as_array();
    let names = names.into_iter().flatten().filter_map(Value::as_str);
    let names: Vec<String> = names.map(str::to_owned).collect();
    let Some(first) = names.first() else {
        return Ok(Note(format!(
            "{name} has CAA records, but {directory} does not say which authority name they must contain"
        )));
    };
    Ok(match caa::check(&records, &names) {
        Ok(()) => Good(format!("{name} allows {}", names.join(", "))),
        Err(reason) => Bad(format!(
            "{name}: {reason}. Certificates come from {first}: add `{name}. CAA 0 issue \"{first}\"` to the DNS zone"
        )),
    })
}
