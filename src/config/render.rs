//! The settings `render.…`: the browser for pages whose text is made by scripts.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::config::{ConfigError, Resolved};

/// The highest `render.at_once_max`.
const AT_ONCE_MAX: usize = 16;

#[derive(Clone, Debug)]
pub struct Render {
    /// `auto`, or an absolute path.
    pub browser: String,
    /// The worker that runs as a unit; otherwise each page has a child process.
    pub unit: Option<RenderUnit>,
    pub time_max: Duration,
    pub at_once_max: usize,
    /// Compile scripts to machine code.
    pub jit: bool,
}

/// Where the service and its render worker meet.
#[derive(Clone, Debug)]
pub struct RenderUnit {
    pub socket: PathBuf,
    pub egress_socket: PathBuf,
}

pub(in crate::config) fn render(resolved: &Resolved) -> Result<Option<Render>, ConfigError> {
    if resolved.optional("render.browser").is_none() {
        return Ok(None);
    }
    let expected = "\"auto\", or the absolute path of a browser such as /usr/bin/chromium";
    let browser = resolved.checked("render.browser", expected, |text| {
        (text == "auto" || Path::new(text).is_absolute()).then(|| text.to_owned())
    })?;
    let path = |key| {
        resolved.checked(key, "the absolute path of a socket", |text| {
            Path::new(text).is_absolute().then(|| PathBuf::from(text))
        })
    };
    let unit = match resolved.optional("render.socket") {
        None => None,
        Some(_) => Some(RenderUnit {
            socket: path("render.socket")?,
            egress_socket: path("render.egress_socket")?,
        }),
    };
    Ok(Some(Render {
        browser,
        unit,
        time_max: resolved.seconds_to("render.seconds_max", 30)?,
        at_once_max: resolved.checked(
            "render.at_once_max",
            "a whole number from 1 to 16",
            |text| {
                text.parse()
                    .ok()
                    .filter(|count| (1..=AT_ONCE_MAX).contains(count))
            },
        )?,
        jit: resolved.parse("render.jit", "true or false")?,
    }))
}
