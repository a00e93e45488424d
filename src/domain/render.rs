//! Whether a page is opened in a browser, so that text which its scripts make can be read.

use crate::domain::closed_set::closed_set;

closed_set! {
    /// What a request says about it.
    pub enum Render {
        /// No browser is opened for this request. A cached copy may have been rendered for another.
        Never = "never",
        /// Rendered where the plain page gives too little (see [`PlainPage::calls_for_rendering`]).
        Auto = "auto",
        /// Rendered whatever the plain page gives.
        Always = "always",
    }
}

impl Render {
    pub const NAMES: [&'static str; 3] = [
        Render::Never.name(),
        Render::Auto.name(),
        Render::Always.name(),
    ];
}

/// What a buyer should know about the rendering of a page: a warning of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RenderNote {
    /// The browser was to open the page and could not; this is the plain page.
    Failed,
    /// No browser was free or working; this is the plain page.
    Unavailable,
    /// The page was taken before it was finished.
    Incomplete,
}

impl RenderNote {
    pub fn code(self) -> &'static str {
        match self {
            RenderNote::Failed => "render_failed",
            RenderNote::Unavailable => "render_unavailable",
            RenderNote::Incomplete => "render_incomplete",
        }
    }

    pub fn message(self) -> &'static str {
        match self {
            RenderNote::Failed => {
                "The page could not be rendered in a browser; this is its text without scripts."
            }
            RenderNote::Unavailable => {
                "No browser was available to render the page; this is its text without scripts."
            }
            RenderNote::Incomplete => {
                "The page was still changing when it was read, or is very long; some of it may be missing."
            }
        }
    }
}

/// A page that asks for scripts is rendered only if it has fewer words than this: fallback text for readers without
/// scripts is often complete.
pub const WORDS_ENOUGH: u64 = 150;

/// What is known of a page without a browser.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlainPage {
    pub is_html: bool,
    pub words: u64,
    /// Nothing that can be read was left, or it only says that scripts are needed.
    pub is_empty: bool,
    pub is_thin: bool,
    pub asks_for_scripts: bool,
    /// A captcha, login or paywall, which a browser meets as well.
    pub is_barred: bool,
}

impl PlainPage {
    /// The rule of `auto`. Markers of frameworks are no part of it: most pages that have them are complete.
    pub fn calls_for_rendering(&self) -> bool {
        let has_little =
            self.is_empty || self.is_thin || (self.asks_for_scripts && self.words < WORDS_ENOUGH);
        self.is_html && has_little && !self.is_barred
    }

    /// The same for what a request says.
    pub fn is_rendered(&self, render: Render) -> bool {
        match render {
            Render::Never => false,
            Render::Auto => self.calls_for_rendering(),
            Render::Always => self.is_html && !self.is_barred,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auto_renders_what_has_little_text_and_is_no_wall() {
        let html = PlainPage {
            is_html: true,
            words: 600,
            ..PlainPage::default()
        };
        assert!(!html.is_rendered(Render::Auto));
        assert!(html.is_rendered(Render::Always));
        let empty = PlainPage {
            is_empty: true,
            words: 0,
            ..html
        };
        assert!(empty.is_rendered(Render::Auto));
        assert!(!empty.is_rendered(Render::Never));
        let asks = |words| PlainPage {
            asks_for_scripts: true,
            words,
            ..html
        };
        assert!(asks(WORDS_ENOUGH - 1).is_rendered(Render::Auto));
        assert!(!asks(WORDS_ENOUGH).is_rendered(Render::Auto));
        let thin = PlainPage {
            is_thin: true,
            words: 30,
            ..html
        };
        assert!(thin.is_rendered(Render::Auto));
        for page in [empty, thin] {
            let barred = PlainPage {
                is_barred: true,
                ..page
            };
            assert!(!barred.is_rendered(Render::Auto) && !barred.is_rendered(Render::Always));
            let other = PlainPage {
                is_html: false,
                ..page
            };
            assert!(!other.is_rendered(Render::Auto) && !other.is_rendered(Render::Always));
        }
    }
}
