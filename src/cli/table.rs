//! `context402 routes` and `context402 openapi`: the route table as text and as an OpenAPI document.

use crate::api::directory::openapi;
use crate::app::App;
use crate::cli::{ConfigFile, Failure, config_failure, failed, run_async, say};
use crate::config::{Config, Resolved};
use crate::flows::content::sample::sample_page;
use crate::http::Guard;
use crate::outside::clock::Clock;
use crate::routes::ROUTES;
use crate::store::Settings;

pub(in crate::cli) fn routes() -> Result<(), Failure> {
    for row in ROUTES {
        let guard = if row.guard == Guard::Operator {
            " (operator's socket or token)"
        } else {
            ""
        };
        let alias = if row.from_alias {
            " (also under /from/{source})"
        } else {
            ""
        };
        say(format_args!(
            "{:<6} {:<32} {}{guard}{alias}",
            row.method.name(),
            row.path,
            row.about.summary
        ))?;
    }
    Ok(())
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct OpenapiArgs {
    #[command(flatten)]
    file: ConfigFile,
}

impl OpenapiArgs {
    pub(in crate::cli) fn run(self) -> Result<(), Failure> {
        let mut resolved = Resolved::from_surroundings(self.file.config.as_deref())
            .map_err(|error| config_failure(&error))?;
        if self.file.config.is_none() {
            // The document does not depend on the operator.
            resolved.set_default("base_url", "http://127.0.0.1:4020");
            resolved.set_default(
                "payment.pay_to",
                "0x000000000000000000000000000000000000dEaD",
            );
        }
        let config = Config::from_resolved(&resolved).map_err(|error| config_failure(&error))?;
        let folder =
            std::env::temp_dir().join(format!("context402-openapi-{}", std::process::id()));
        let document = document(config, &folder);
        let _ = std::fs::remove_dir_all(&folder);
        say(serde_json::to_string_pretty(&document?)?)?;
        Ok(())
    }
}

/// A service needs a data file: a temporary, empty one.
fn document(config: Config, folder: &std::path::Path) -> Result<serde_json::Value, Failure> {
    std::fs::create_dir_all(folder)?;
    let settings = Settings {
        cache_bytes: 1024 * 1024,
        pages_bytes_max: 0,
        unpaid_bytes_max: u64::MAX,
        unsettled_bytes_max: u64::MAX,
        sales_free_bytes_min: 0,
        free_bytes_min: 0,
    };
    let opened = settings.create(&folder.join("data.redb")).map_err(failed)?;
    run_async(1, async {
        let app = App::new(
            config,
            ROUTES,
            opened.store,
            Clock::System,
            "http://127.0.0.1:1",
            Vec::new(),
            sample_page,
        )
        .map_err(failed)?;
        Ok(openapi::document(&app))
    })
}
