//! Static files built into the program, and the paths they are served under. Cache headers are set elsewhere.

use std::sync::LazyLock;

/// The stylesheet, `text/css; charset=utf-8`.
pub static STYLE: LazyLock<String> =
    LazyLock::new(|| compact(include_str!("../../assets/style.css")));
/// Path of [`STYLE`].
pub const STYLE_PATH: &str = "/assets/style.css";

/// What the operator's console needs beside it, so that buyers do not load it.
pub static CONSOLE_STYLE: LazyLock<String> =
    LazyLock::new(|| compact(include_str!("../../assets/console.css")));
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
/// Adds a copy button to every code block and remembers the chosen language; inlined in each page.
pub const COPY_SCRIPT: &str = include_str!("../../assets/copy.js");
/// Verifies a report in the browser; inlined in the report page.
pub const VERIFY_SCRIPT: &str = include_str!("../../assets/verify.js");

/// Pays with a browser's wallet; inlined in the page that sells to one.
pub const WALLET_SCRIPT: &str = include_str!("../../assets/wallet.js");

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

/// A stylesheet without comments and without the white space that only people need.
fn compact(style: &str) -> String {
    let mut compacted = String::with_capacity(style.len());
    let mut rest = style;
    while let Some(next) = rest.chars().next() {
        if let Some(comment) = rest.strip_prefix("/*") {
            rest = comment.split_once("*/").map_or("", |(_, after)| after);
        } else if next == '"' {
            let end = rest[1..].find('"').map_or(rest.len(), |end| end + 2);
            compacted.push_str(&rest[..end]);
            rest = &rest[end..];
        } else if next.is_whitespace() {
            rest = rest.trim_start();
            let is_between = !compacted.ends_with(['{', '}', ';', ',', ':', ' '])
                && !rest.starts_with(['{', '}']);
            if is_between && !compacted.is_empty() && !rest.is_empty() {
                compacted.push(' ');
            }
        } else {
            if next == '}' {
                let declared = compacted.trim_end_matches(';').len();
                compacted.truncate(declared);
            }
            compacted.push(next);
            rest = &rest[next.len_utf8()..];
        }
    }
    compacted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stylesheet_means_the_same_without_its_white_space() {
        for (written, expected) in [
            ("a { b: c; }\n", "a{b:c}"),
            (
                "/* why */\na,\nb :is(c) { d: e(1px + 2px); }",
                "a,b :is(c){d:e(1px + 2px)}",
            ),
            (
                ".a::before { content: \"{ /* */ ;  }\" / \"\"; }",
                ".a::before{content:\"{ /* */ ;  }\" / \"\"}",
            ),
            (
                "@media (min-width: 1rem) and (x) {\n  a { b: 0 }\n}",
                "@media (min-width:1rem) and (x){a{b:0}}",
            ),
            ("a { b: c } /* one */ /* two */ d { e: f }", "a{b:c}d{e:f}"),
        ] {
            assert_eq!(compact(written), expected);
        }
    }
}
