//! The facilitator and the chain that payments are settled on.

use crate::app;
use crate::cli::serve::doctor::Finding::{self, Bad, Good, Note};
use crate::config::{Coin, Config, Gas};
use crate::flows::operations::health::NO_CHAIN;
use crate::outside::chain::Chain;
use crate::outside::clock::Clock;
use crate::outside::facilitator::Facilitator;

/// Kinds of payments that are listed in place of the one that is missing.
const KINDS_SHOWN_MAX: usize = 8;

/// Whether the facilitator settles exact payments on the configured network.
pub(in crate::cli::serve) async fn facilitator(config: &Config, url: &str) -> Finding {
    let client = app::facilitator_settings(config, url)
        .map_err(|error| error.to_string())
        .and_then(|settings| Facilitator::new(settings).map_err(|error| error.to_string()));
    let client = match client {
        Ok(client) => client,
        Err(error) => return Bad(error),
    };
    let network = config.payment.network;
    match client.supported(Clock::System.now()).await {
        Err(error) => Bad(error.to_string()),
        Ok(supported) if supported.takes_exact_on(network) => {
            Good(format!("{url} supports exact payments on {network}"))
        }
        Ok(supported) => {
            let kinds = supported.kinds.iter();
            let mut kinds: Vec<String> = kinds
                .map(|kind| format!("{} on {}", kind.scheme, kind.network))
                .take(KINDS_SHOWN_MAX)
                .collect();
            kinds.dedup();
            Bad(format!(
                "{url} does not support exact payments on {network}, but {}: choose another facilitator, or set \
                 payment.network and its payment.asset",
                match kinds.is_empty() {
                    true => "nothing".to_owned(),
                    false => kinds.join(", "),
                }
            ))
        }
    }
}

pub(super) async fn chain(config: &Config) -> Finding {
    let chain = match app::chain(config) {
        Ok(Some(chain)) => chain,
        Ok(None) => {
            return Note(NO_CHAIN.to_owned());
        }
        Err(error) => return Bad(error.to_string()),
    };
    match chain.gas_price().await {
        Err(error) => Bad(error.to_string()),
        Ok(price) => {
            let found = format!("{} at {} gwei", config.payment.network, price.gwei());
            coin(config, &chain, found).await
        }
    }
}

async fn coin(config: &Config, chain: &Chain, found: String) -> Finding {
    let Gas::Live {
        coin: Coin::Feed { address, age_max },
        ..
    } = config.guard.gas
    else {
        return Good(found);
    };
    match chain
        .coin_price(address, age_max, Clock::System.now())
        .await
    {
        Ok(price) => Good(format!("{found}, native coin at {} USDC", price.as_usdc())),
        Err(error) => Bad(format!(
            "{found}; the native coin's price is unknown: {error}"
        )),
    }
}
