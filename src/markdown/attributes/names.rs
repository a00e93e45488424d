//! A few names that are looked for among the very many tokens of a page's classes and ids.

use super::decoded;

/// A few names to be found among very many tokens: most are none of them, which two looks tell.
pub(in crate::markdown) struct Names {
    names: &'static [&'static str],
    /// For each length, the first letters of the names that are so long, as bits.
    letters: [u32; 40],
}

impl Names {
    pub(in crate::markdown) const fn new(names: &'static [&'static str]) -> Names {
        let mut letters = [0; 40];
        let mut at = 0;
        while at < names.len() {
            let name = names[at].as_bytes();
            letters[name.len()] |= letter(name[0]);
            at += 1;
        }
        Names { names, letters }
    }

    pub(super) fn contain(&self, token: &str) -> bool {
        let may_be = match (self.letters.get(token.len()), token.as_bytes().first()) {
            (Some(letters), Some(first)) => letters & letter(*first) != 0,
            _ => false,
        };
        may_be
            && self
                .names
                .iter()
                .any(|name| name.eq_ignore_ascii_case(token))
    }

    pub(super) fn contain_one_of(&self, tokens: &str) -> bool {
        decoded(tokens)
            .split_ascii_whitespace()
            .any(|token| self.contain(token))
    }
}

/// Several lists of names, of which one look tells in which a token is.
pub(super) struct Lists<const LISTS: usize> {
    lists: [&'static [&'static str]; LISTS],
    /// An open table by hash.
    slots: [Slot; SLOTS],
}

const SLOTS: usize = 1024;

/// A name, by the list that it is found in first and its number there. None if it is in no list.
#[derive(Clone, Copy)]
struct Slot {
    found: Found,
    first: (u8, u8),
}

/// The lists that a token is in, as bits.
#[derive(Clone, Copy)]
pub(super) struct Found(u16);

impl Found {
    pub(super) const fn is_in(self, list: usize) -> bool {
        self.0 >> list & 1 == 1
    }
}

impl<const LISTS: usize> Lists<LISTS> {
    pub(super) const fn new(lists: [&'static [&'static str]; LISTS]) -> Self {
        let free = Slot {
            found: Found(0),
            first: (0, 0),
        };
        let mut table = Lists {
            lists,
            slots: [free; SLOTS],
        };
        let mut list = 0_u8;
        while (list as usize) < LISTS {
            let mut at = 0_u8;
            while (at as usize) < lists[list as usize].len() {
                let slot = table.slot(lists[list as usize][at as usize]);
                if table.slots[slot].found.0 == 0 {
                    table.slots[slot].first = (list, at);
                }
                table.slots[slot].found.0 |= 1 << list;
                at += 1;
            }
            list += 1;
        }
        table
    }

    pub(super) fn of(&self, token: &str) -> Found {
        self.slots[self.slot(token)].found
    }

    /// Where the name is, or a free place.
    const fn slot(&self, name: &str) -> usize {
        let bytes = name.as_bytes();
        let (mut hash, mut at) = (0x811c_9dc5_u32, 0);
        while at < bytes.len() {
            // The same for both cases of a letter.
            hash = (hash ^ (bytes[at] | 0x20) as u32).wrapping_mul(0x0100_0193);
            at += 1;
        }
        let mut slot = (hash ^ (hash >> 15)) as usize % SLOTS;
        while self.slots[slot].found.0 != 0 {
            let (list, at) = self.slots[slot].first;
            if self.lists[list as usize][at as usize].eq_ignore_ascii_case(name) {
                break;
            }
            slot = (slot + 1) % SLOTS;
        }
        slot
    }
}

/// The same bit for both cases.
const fn letter(byte: u8) -> u32 {
    1 << (byte & 31)
}
