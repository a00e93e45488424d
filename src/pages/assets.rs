//! The files that pages and directories ask for, built into the program, and where they are served. How they are cached
//! is not known here.

/// The stylesheet, `text/css; charset=utf-8`.
pub const STYLE: &str = include_str!("../../assets/style.css");
/// Path of [`STYLE`].
pub const STYLE_PATH: &str = "/assets/style.css";

/// The icon, `image/svg+xml`.
pub const FAVICON: &str = include_str!("../../assets/favicon.svg");
/// Path of [`FAVICON`].
pub const FAVICON_PATH: &str = "/favicon.svg";

/// The same icon for those who take no SVG, `image/png`, 256 pixels square.
pub const ICON: &[u8] = include_bytes!("../../assets/icon.png");
/// Path of [`ICON`].
pub const ICON_PATH: &str = "/icon.png";

/// The icon as browsers ask for it unasked, `image/x-icon`, 32 and 48 pixels square.
pub const FAVICON_ICO: &[u8] = include_bytes!("../../assets/favicon.ico");
/// Path of [`FAVICON_ICO`].
pub const FAVICON_ICO_PATH: &str = "/favicon.ico";

/// The picture that links to us are shown with, `image/png`, 1200 by 630 pixels.
pub const SOCIAL: &[u8] = include_bytes!("../../assets/social.png");
/// Path of [`SOCIAL`].
pub const SOCIAL_PATH: &str = "/assets/social.png";
/// Puts a button on every block of code; stands in each page.
pub const COPY_SCRIPT: &str = include_str!("../../assets/copy.js");
/// Checks a report in its reader's browser; stands in its page.
pub const VERIFY_SCRIPT: &str = include_str!("../../assets/verify.js");

/// Swagger UI 5.35.0 (Apache-2.0, `assets/swagger/LICENSE`), compressed by gzip.
pub const EXPLORER_SCRIPT: &[u8] = include_bytes!("../../assets/swagger/swagger-ui-bundle.js.gz");
/// Path of [`EXPLORER_SCRIPT`].
pub const EXPLORER_SCRIPT_PATH: &str = "/assets/swagger-ui.js";
/// Its stylesheet, compressed by gzip.
pub const EXPLORER_STYLE: &[u8] = include_bytes!("../../assets/swagger/swagger-ui.css.gz");
/// Path of [`EXPLORER_STYLE`].
pub const EXPLORER_STYLE_PATH: &str = "/assets/swagger-ui.css";
/// Starts it on our openapi.json.
pub const EXPLORER_START: &str = include_str!("../../assets/swagger/start.js");
/// Path of [`EXPLORER_START`].
pub const EXPLORER_START_PATH: &str = "/assets/swagger-start.js";
