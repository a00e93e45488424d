//! The fonts that documents are set in: those that are compiled in, and further ones as files.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use parley::fontique::{Blob, Collection, CollectionOptions, SourceCache};
use parley::style::FontFamilyName;
use parley::{FontContext, FontFamily};

/// A font file's bytes.
pub type FontFile = Arc<Vec<u8>>;

/// Made by `assets/fonts/make.sh`. What an earlier one can show, it shows.
const EMBEDDED: [&[u8]; 14] = [
    include_bytes!("../../assets/fonts/NotoSans-Regular.ttf"),
    include_bytes!("../../assets/fonts/NotoSans-Bold.ttf"),
    include_bytes!("../../assets/fonts/NotoSans-Italic.ttf"),
    include_bytes!("../../assets/fonts/NotoSansArabic-Regular.ttf"),
    include_bytes!("../../assets/fonts/NotoSansArabic-Bold.ttf"),
    include_bytes!("../../assets/fonts/NotoSansHebrew-Regular.ttf"),
    include_bytes!("../../assets/fonts/NotoSansHebrew-Bold.ttf"),
    include_bytes!("../../assets/fonts/NotoSansDevanagari-Regular.ttf"),
    include_bytes!("../../assets/fonts/NotoSansDevanagari-Bold.ttf"),
    include_bytes!("../../assets/fonts/NotoSansThai-Regular.ttf"),
    include_bytes!("../../assets/fonts/NotoSansThai-Bold.ttf"),
    include_bytes!("../../assets/fonts/NotoSansMono-Regular.ttf"),
    include_bytes!("../../assets/fonts/NotoSansMath-Regular.ttf"),
    include_bytes!("../../assets/fonts/NotoSansSymbols2-Regular.ttf"),
];

const MONO: &str = "Noto Sans Mono";

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

    /// For one document.
    pub(super) fn shelf(&self) -> Shelf {
        let mut collection = Collection::new(CollectionOptions {
            shared: false,
            system_fonts: false,
        });
        let mut names: Vec<String> = Vec::new();
        let mut add = |collection: &mut Collection, file: Blob<u8>| {
            for (family, _) in collection.register_fonts(file, None) {
                let name = collection
                    .family_name(family)
                    .unwrap_or_default()
                    .to_owned();
                if !name.is_empty() && !names.contains(&name) {
                    names.push(name);
                }
            }
        };
        for file in EMBEDDED {
            add(&mut collection, Blob::new(Arc::new(file)));
        }
        for file in &self.further {
            add(&mut collection, Blob::new(file.clone()));
        }
        let text = names.iter().map(|name| name.as_str());
        let mono = [MONO].into_iter().chain(text.clone());
        Shelf {
            text: stack(text),
            mono: stack(mono),
            context: FontContext {
                collection,
                source_cache: SourceCache::default(),
            },
        }
    }
}

impl fmt::Debug for Fonts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fonts")
            .field("further", &self.further.len())
            .finish()
    }
}

/// The fonts of one document, and the order in which they are asked for a character.
pub(super) struct Shelf {
    pub(super) context: FontContext,
    pub(super) text: FontFamily<'static>,
    pub(super) mono: FontFamily<'static>,
}

fn stack<'a>(names: impl Iterator<Item = &'a str>) -> FontFamily<'static> {
    let names = names.map(|name| FontFamilyName::Named(Cow::Owned(name.to_owned())));
    FontFamily::List(Cow::Owned(names.collect()))
}
