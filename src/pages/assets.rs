//! Static files built into the program, and the paths they are served under. Cache headers are set elsewhere.

/// The stylesheet, `text/css; charset=utf-8`.
pub const STYLE: &str = include_str!("../../assets/style.css");
/// Path of [`STYLE`].
pub const STYLE_PATH: &str = "/assets/style.css";

/// What the operator's console needs beside it, so that buyers do not load it.
pub const CONSOLE_STYLE: &str = include_str!("../../assets/console.css");
/// Path of [`CONSOLE_STYLE`].
pub const CONSOLE_STYLE_PATH: &str = "/assets/console.css";

/// The icon, `image/svg+xml`.
pub const FAVICON: &str = include_str!("../../assets/favicon.svg");
/// Path of [`FAVICON`].
pub const FAVICON_PATH: &str = "/favicon.svg";

/// The icon for clients without SVG support, `image/png`, 256 pixels square.
pub const ICON: &[u8] = include_bytes!("../../assets/icon.png");
/// Path of [`ICON`].
pub const ICON_PATH: &str = "/icon.png";

/// The icon that browsers request by default, `image/x-icon`, 32 and 48 pixels square.
pub const FAVICON_ICO: &[u8] = include_bytes!("../../assets/favicon.ico");
/// Path of [`FAVICON_ICO`].
pub const FAVICON_ICO_PATH: &str = "/favicon.ico";

/// The picture for link previews, `image/png`, 1200 by 630 pixels.
pub const SOCIAL: &[u8] = include_bytes!("../../assets/social.png");
/// Path of [`SOCIAL`].
pub const SOCIAL_PATH: &str = "/assets/social.png";
/// Adds a copy button to every code block; inlined in each page.
pub const COPY_SCRIPT: &str = include_str!("../../assets/copy.js");
/// Verifies a report in the browser; inlined in the report page.
pub const VERIFY_SCRIPT: &str = include_str!("../../assets/verify.js");

/// Swagger UI 5.35.0 (Apache-2.0, `assets/swagger/LICENSE`), compressed by gzip.
pub const EXPLORER_SCRIPT: &[u8] = include_bytes!("../../assets/swagger/swagger-ui-bundle.js.gz");
/// Path of [`EXPLORER_SCRIPT`].
pub const EXPLORER_SCRIPT_PATH: &str = "/assets/swagger-ui.js";
/// Its stylesheet, compressed by gzip.
pub const EXPLORER_STYLE: &[u8] = include_bytes!("../../assets/swagger/swagger-ui.css.gz");
/// Path of [`EXPLORER_STYLE`].
pub const EXPLORER_STYLE_PATH: &str = "/assets/swagger-ui.css";
/// Starts Swagger UI with our openapi.json.
pub const EXPLORER_START: &str = include_str!("../../assets/swagger/start.js");
/// Path of [`EXPLORER_START`].
pub const EXPLORER_START_PATH: &str = "/assets/swagger-start.js";
