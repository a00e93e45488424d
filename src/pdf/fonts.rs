//! The fonts that documents are set in: those that are compiled in, and further ones as files.

use std::fmt;
use std::sync::Arc;

/// A font file's bytes.
pub type FontFile = Arc<[u8]>;

/// What documents are set in. Cheap to clone.
#[derive(Clone, Default)]
pub struct Fonts {
    further: Vec<FontFile>,
}

impl Fonts {
    /// Those that are compiled in: Latin, Greek, Cyrillic, Arabic, Hebrew, Devanagari and Thai.
    pub fn embedded() -> Fonts {
        Fonts::default()
    }

    /// These too, where the embedded ones lack a character.
    pub fn with(further: Vec<FontFile>) -> Fonts {
        Fonts { further }
    }
}

impl fmt::Debug for Fonts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fonts")
            .field("further", &self.further.len())
            .finish()
    }
}
