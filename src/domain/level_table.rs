//! What the tables of tiers, packs, bundles and depths have in common.

/// Reads a level from the `TABLE` beside it, which has a row for each in the order of the enum: rows with `level`, `name`,
/// `units` and `policy`.
macro_rules! level_table {
    ($level:ident) => {
        impl $level {
            pub const ALL: [$level; TABLE.len()] = {
                let mut all = [TABLE[0].level; TABLE.len()];
                let mut at = 0;
                while at < all.len() {
                    all[at] = TABLE[at].level;
                    at += 1;
                }
                all
            };
            /// The closed set of names, in the table's order.
            pub const NAMES: [&'static str; TABLE.len()] = {
                let mut names = [""; TABLE.len()];
                let mut at = 0;
                while at < names.len() {
                    names[at] = TABLE[at].name;
                    at += 1;
                }
                names
            };

            fn row(self) -> &'static Row {
                &TABLE[self as usize]
            }

            pub fn parse(name: &str) -> Option<$level> {
                let row = TABLE.iter().find(|row| row.name == name);
                row.map(|row| row.level)
            }

            pub fn name(self) -> &'static str {
                self.row().name
            }

            pub fn price(self) -> crate::domain::amount::Amount {
                crate::domain::amount::Amount::from_units(self.row().units)
            }

            /// What it reads, in words for buyers.
            pub fn policy(self) -> &'static str {
                self.row().policy
            }
        }

        crate::domain::closed_set::written_by_name!($level, $level::NAMES);

        impl std::str::FromStr for $level {
            type Err = String;

            fn from_str(name: &str) -> Result<$level, String> {
                $level::parse(name)
                    .ok_or_else(|| format!("use one of {}", $level::NAMES.join(", ")))
            }
        }
    };
}

pub(crate) use level_table;
