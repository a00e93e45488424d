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
