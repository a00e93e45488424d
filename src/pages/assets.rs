//! The two files every page asks for, built into the program, and where they are served. How they are cached
//! is not known here.

/// The stylesheet, `text/css; charset=utf-8`.
pub const STYLE: &str = include_str!("../../assets/style.css");
/// Path of [`STYLE`].
pub const STYLE_PATH: &str = "/assets/style.css";

/// The icon, `image/svg+xml`.
pub const FAVICON: &str = include_str!("../../assets/favicon.svg");
/// Path of [`FAVICON`].
pub const FAVICON_PATH: &str = "/favicon.svg";
