//! The browser that renders pages: one that the service starts, or one of a unit of its own.

use crate::app;
use crate::cli::serve::doctor::Finding::{self, Bad, Good, Note};
use crate::cli::socket;
use crate::config::{Config, RenderUnit};
use crate::outside::network::{ForbiddenHosts, NameServers, Network, NetworkSettings};
use crate::outside::web::{Web, WebSettings};

/// Renders a built-in page in a child process.
pub(super) async fn browser(config: &Config, has_jit: bool) -> Finding {
    let jit = if has_jit { "with" } else { "without" };
    let checked = async {
        let web = Web::new(
            WebSettings::new(app::user_agent(config)),
            Network::new(
                NetworkSettings::default(),
                NameServers::System,
                Default::default(),
                ForbiddenHosts::default(),
            )?,
        )?;
        let renderer = app::renderer(config, &web)?.ok_or("no browser")?;
        let guard = renderer.start(None, None)?;
        let checked = renderer.check().await;
        guard.abort();
        Ok::<_, Box<dyn std::error::Error + Send + Sync>>(checked?)
    };
    match checked.await {
        Ok(facts) => {
            let text = format!(
                "{} rendered a page, {jit} JIT, without a network",
                facts.browser
            );
            match facts.sandbox {
                Some(true) => Good(format!("{text}, in its own sandbox")),
                Some(false) => Bad(format!(
                    "{text}, but without its sandbox: do not use this browser"
                )),
                None => Note(format!("{text}; its sandbox could not be looked at")),
            }
        }
        Err(error) => Bad(error.to_string()),
    }
}

/// What the running service knows of a worker that is a unit: it has the other end, and does the check.
pub(super) fn unit_browser(config: &Config, unit: &RenderUnit) -> Finding {
    if !unit.socket.exists() {
        return Bad(format!(
            "{} does not exist: run `systemctl enable --now context402-browser.socket`, or install.sh --with-browser",
            unit.socket.display()
        ));
    }
    let Some(stream) = socket::connect(&config.socket) else {
        return Note(
            "the service is not running; the render worker loads pages through it".to_owned(),
        );
    };
    match socket::get(stream, "/health") {
        Ok(health) => {
            let check = &health["checks"]["renderer"];
            let text = |name: &str| check[name].as_str().map(str::to_owned);
            match text("status").as_deref() {
                Some("ok") => Good(format!(
                    "{} answers from context402-browser.service, without a network",
                    text("browser").unwrap_or_else(|| "a browser".to_owned())
                )),
                Some("unknown") => Note("the browser was not tried yet".to_owned()),
                _ => Bad(text("trouble").unwrap_or_else(|| {
                    "the running service has no browser: restart it to apply the changed configuration".to_owned()
                })),
            }
        }
        Err(failure) => Bad(format!("no health report: {failure}")),
    }
}
