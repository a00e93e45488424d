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
