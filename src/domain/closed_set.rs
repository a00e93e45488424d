//! Closed sets of words that programs branch on: a row for each, with the word that stands in JSON.

/// Reads and writes an enum as its name, with `name` and `parse`: in JSON and in records alike.
macro_rules! written_by_name {
    ($name:ident, $words:expr) => {
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(
                deserializer: D,
            ) -> Result<$name, D::Error> {
                let word = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                let unknown = || serde::de::Error::unknown_variant(&word, &$words);
                $name::parse(&word).ok_or_else(unknown)
            }
        }
    };
}

/// Makes an enum of the rows `Variant = "word"`, in their order. It reads and writes as its word, in JSON and on pages,
/// and its JSON Schema names all of them.
macro_rules! closed_set {
    ($(#[$of_set:meta])* $visibility:vis enum $name:ident {
        $($(#[$of_variant:meta])* $variant:ident = $word:literal,)+
    }) => {
        $(#[$of_set])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $visibility enum $name {
            $($(#[$of_variant])* $variant,)+
        }

        impl $name {
            pub const ALL: &[$name] = &[$($name::$variant),+];

            /// As it stands in answers.
            pub const fn name(self) -> &'static str {
                match self {
                    $($name::$variant => $word,)+
                }
            }

            pub fn parse(word: &str) -> Option<$name> {
                Self::ALL.iter().copied().find(|one| one.name() == word)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }

        crate::domain::closed_set::written_by_name!($name, [$($word),+]);

        impl schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({"enum": [$($word),+]})
            }
        }
    };
}

pub(crate) use {closed_set, written_by_name};
