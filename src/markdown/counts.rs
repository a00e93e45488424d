//! What can be counted in a block's plain text, in one pass while the page is read. Knows characters, not elements.

use std::collections::HashSet;

/// Figures of one block's text. All saturate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::markdown) struct Counts {
    pub(in crate::markdown) chars: u32,
    /// Marks that end a sentence or a clause of one: `. ! ? ; :` and their wide forms.
    pub(in crate::markdown) stops: u16,
    pub(in crate::markdown) commas: u16,
    pub(in crate::markdown) uppercase: u16,
    pub(in crate::markdown) digits: u16,
    /// Words that hold sentences together: `the`, `und`, `que`, `的`.
    pub(in crate::markdown) function_words: u16,
    /// Figures beside a currency sign.
    pub(in crate::markdown) prices: u8,
    pub(in crate::markdown) ends_sentence: bool,
    /// How the text begins: 0 otherwise, 1 with a capital or an ideograph, 2 with a digit.
    pub(in crate::markdown) opening: u8,
    /// Of the whole text; equal texts have equal hashes.
    pub(in crate::markdown) hash: u32,
    /// Of the first four words and of the last four; 0 when there are fewer. They tell whether a text stands in another.
    pub(in crate::markdown) first_gram: u32,
    pub(in crate::markdown) last_gram: u32,
    /// One bit for each word, which tells roughly how many words two short texts share.
    pub(in crate::markdown) sketch: u64,
}

/// The bit of a word in a sketch, and its hash; ASCII case does not matter.
#[derive(Clone, Copy)]
struct WordHash(u32);

const FNV_OFFSET: u32 = 0x811c_9dc5;
const FNV_PRIME: u32 = 0x0100_0193;

impl WordHash {
    fn new() -> WordHash {
        WordHash(FNV_OFFSET)
    }

    fn push(&mut self, byte: u8) {
        self.0 = (self.0 ^ u32::from(byte.to_ascii_lowercase())).wrapping_mul(FNV_PRIME);
    }

    fn is_empty(self) -> bool {
        self.0 == FNV_OFFSET
    }

    fn bit(self) -> u64 {
        1 << ((self.0 ^ (self.0 >> 15)) & 63)
    }

    /// Where it is looked for among [`FUNCTION_WORDS`].
    const fn slot(self) -> usize {
        ((self.0 ^ (self.0 >> 13)) & 1023) as usize
    }
}

const FUNCTION_WORDS: &[&str] = &[
    "the", "of", "and", "a", "to", "in", "is", "was", "for", "that", "on", "with", "as", "it",
    "by", "at", "from", "be", "this", "are", "an", "or", "his", "which", "have", "has", "had",
    "not", "but", "they", "you", "were", "their", "we", "will", "can", "all", "been", "would",
    "there", "when", "who", "what", "if", "more", "about", "its", "into", "than", "other", "some",
    "so", "them", "also", "our", "your", "i", "he", "she", "my", "me", "do", "der", "die", "das",
    "und", "zu", "den", "mit", "von", "ist", "nicht", "des", "im", "auf", "für", "ein", "eine",
    "dem", "sich", "auch", "es", "de", "la", "le", "les", "et", "en", "un", "une", "du", "que",
    "est", "pour", "dans", "qui", "sur", "pas", "au", "par", "el", "los", "las", "una", "por",
    "con", "para", "del", "se", "al", "lo", "como", "il", "di", "che", "per", "non", "della", "da",
    "e", "o", "os", "um", "uma", "em", "não", "het", "een", "van", "op", "te", "dat", "niet",
    "voor",
];

/// Function words that stand alone in scripts without spaces.
const FUNCTION_IDEOGRAPHS: [char; 9] = ['的', '了', '是', '在', '和', '不', '我', '有', '他'];

static FUNCTION_SLOTS: [u32; 1024] = function_slots();

/// An open table of hashes; 0 is a free slot.
const fn function_slots() -> [u32; 1024] {
    let mut slots = [0; 1024];
    let mut word = 0;
    while word < FUNCTION_WORDS.len() {
        let bytes = FUNCTION_WORDS[word].as_bytes();
        let mut hash = FNV_OFFSET;
        let mut at = 0;
        while at < bytes.len() {
            hash = (hash ^ bytes[at] as u32).wrapping_mul(FNV_PRIME);
            at += 1;
        }
        let mut slot = WordHash(hash).slot();
        while slots[slot] != 0 && slots[slot] != hash {
            slot = (slot + 1) & 1023;
        }
        slots[slot] = hash;
        word += 1;
    }
    slots
}

fn is_function_word(word: WordHash) -> bool {
    let mut slot = word.slot();
    while FUNCTION_SLOTS[slot] != 0 {
        if FUNCTION_SLOTS[slot] == word.0 {
            return true;
        }
        slot = (slot + 1) & 1023;
    }
    false
}

/// A hash of the last four words that were pushed.
#[derive(Clone, Copy, Default)]
struct Gram {
    words: [u32; 4],
    count: u32,
}

impl Gram {
    fn push(&mut self, word: WordHash) -> Option<u32> {
        let [_, second, third, fourth] = self.words;
        self.words = [second, third, fourth, word.0];
        self.count = self.count.saturating_add(1);
        (self.count >= 4).then(|| {
            let joined = self.words.iter().fold(FNV_OFFSET, |hash, &word| {
                (hash ^ word).wrapping_mul(FNV_PRIME).rotate_left(5)
            });
            joined.max(1)
        })
    }
}

/// Every run of four words of a text.
#[derive(Clone, Debug, Default)]
pub(in crate::markdown) struct Grams(HashSet<u32>);

impl Grams {
    pub(in crate::markdown) fn of(text: &str) -> Grams {
        let mut grams = HashSet::new();
        Counts::read(text, &mut |gram| {
            grams.insert(gram);
        });
        Grams(grams)
    }

    /// 0 when there is no text, otherwise 1 and one more for each end of the other text that stands in this one.
    pub(in crate::markdown) fn holds(&self, other: &Counts) -> u8 {
        if self.0.is_empty() {
            return 0;
        }
        let holds = |gram: u32| u8::from(gram != 0 && self.0.contains(&gram));
        1 + holds(other.first_gram) + holds(other.last_gram)
    }
}

/// The words of a short text as bits.
pub(in crate::markdown) fn sketch(text: &str) -> u64 {
    Counts::of(text).sketch
}

impl Counts {
    pub(in crate::markdown) fn of(text: &str) -> Counts {
        let (mut first, mut last) = (0, 0);
        let mut counts = Counts::read(text, &mut |gram| {
            if first == 0 {
                first = gram;
            }
            last = gram;
        });
        counts.first_gram = first;
        counts.last_gram = last;
        counts
    }

    /// Of a long text by its beginning: what is counted grows by what it lacks.
    pub(in crate::markdown) fn of_beginning(beginning: &str, bytes: usize) -> Counts {
        let mut counts = Counts::of(beginning);
        if beginning.len() < bytes {
            let scaled = |count: u32| {
                let scaled = u64::from(count) * bytes as u64 / beginning.len().max(1) as u64;
                u32::try_from(scaled).unwrap_or(u32::MAX)
            };
            counts.chars = scaled(counts.chars);
            for count in [
                &mut counts.stops,
                &mut counts.commas,
                &mut counts.uppercase,
                &mut counts.digits,
                &mut counts.function_words,
            ] {
                *count = u16::try_from(scaled(u32::from(*count))).unwrap_or(u16::MAX);
            }
        }
        counts
    }

    fn read(text: &str, found: &mut impl FnMut(u32)) -> Counts {
        let mut counts = Counts::default();
        let mut gram = Gram::default();
        let mut word = WordHash::new();
        let mut hash: u32 = FNV_OFFSET;
        let bytes = text.trim().as_bytes();
        let text = text.trim();
        let mut at = 0;
        let mut previous = b' ';
        while at < bytes.len() {
            let byte = bytes[at];
            if byte >= 0x80 {
                let c = text[at..].chars().next().unwrap_or(' ');
                counts.wide(c, &mut word, &mut gram, found);
                at += c.len_utf8();
                hash = (hash ^ u32::from(c)).wrapping_mul(FNV_PRIME);
                previous = match c {
                    '€' | '£' | '¥' | '₹' => b'$',
                    _ => b'x',
                };
                continue;
            }
            at += 1;
            counts.chars = counts.chars.saturating_add(1);
            hash = (hash ^ u32::from(byte)).wrapping_mul(FNV_PRIME);
            match byte {
                b'a'..=b'z' | b'_' => word.push(byte),
                b'A'..=b'Z' => {
                    counts.uppercase = counts.uppercase.saturating_add(1);
                    word.push(byte);
                }
                b'0'..=b'9' => {
                    counts.digits = counts.digits.saturating_add(1);
                    if previous == b'$' {
                        counts.prices = counts.prices.saturating_add(1);
                    }
                    word.push(byte);
                }
                _ => {
                    counts.end_word(&mut word, &mut gram, found);
                    match byte {
                        b'.' | b'!' | b'?' | b';' | b':' => {
                            counts.stops = counts.stops.saturating_add(1);
                        }
                        b',' => counts.commas = counts.commas.saturating_add(1),
                        _ => {}
                    }
                }
            }
            if byte != b' ' {
                previous = byte;
            }
        }
        counts.end_word(&mut word, &mut gram, found);
        counts.hash = hash;
        counts.ends_sentence = text
            .chars()
            .next_back()
            .is_some_and(|c| matches!(c, '.' | '!' | '?' | ':' | '"' | '”' | '。' | '！' | '？'));
        counts.opening = match text.chars().next() {
            Some(c) if c.is_numeric() => 2,
            Some(c) if c.is_uppercase() || is_ideograph(c) => 1,
            _ => 0,
        };
        counts
    }

    fn wide(&mut self, c: char, word: &mut WordHash, gram: &mut Gram, found: &mut impl FnMut(u32)) {
        self.chars = self.chars.saturating_add(1);
        match c {
            '。' | '！' | '？' | '；' | '：' => self.stops = self.stops.saturating_add(1),
            '，' | '、' => self.commas = self.commas.saturating_add(1),
            _ => {}
        }
        if is_ideograph(c) {
            self.end_word(word, gram, found);
            if FUNCTION_IDEOGRAPHS.contains(&c) {
                self.function_words = self.function_words.saturating_add(1);
            }
            let mut alone = WordHash::new();
            alone.push_char(c);
            self.sketch |= alone.bit();
            if let Some(gram) = gram.push(alone) {
                found(gram);
            }
        } else if c.is_alphanumeric() {
            if c.is_uppercase() {
                self.uppercase = self.uppercase.saturating_add(1);
            }
            word.push_char(c);
        } else {
            self.end_word(word, gram, found);
        }
    }

    fn end_word(&mut self, word: &mut WordHash, gram: &mut Gram, found: &mut impl FnMut(u32)) {
        if word.is_empty() {
            return;
        }
        self.sketch |= word.bit();
        if is_function_word(*word) {
            self.function_words = self.function_words.saturating_add(1);
        }
        if let Some(gram) = gram.push(*word) {
            found(gram);
        }
        *word = WordHash::new();
    }
}

impl WordHash {
    fn push_char(&mut self, c: char) {
        let mut buffer = [0; 4];
        for byte in c.encode_utf8(&mut buffer).bytes() {
            self.push(byte);
        }
    }
}

fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_what_a_reader_would() {
        let counts = Counts::of(" The price of tea, in May, is $4.50. Who knew? ");
        assert_eq!(counts.chars, 45);
        assert_eq!((counts.stops, counts.commas), (3, 2));
        assert_eq!((counts.uppercase, counts.digits), (3, 3));
        assert_eq!(counts.prices, 1);
        assert_eq!(counts.function_words, 5);
        assert_eq!((counts.opening, counts.ends_sentence), (1, true));
    }

    #[test]
    fn of_a_long_text_the_beginning_tells_its_counts() {
        let text = "The price of tea, in May, is 450. ".repeat(100);
        let beginning = Counts::of_beginning(&text[..text.len() / 4], text.len());
        let whole = Counts::of(&text);
        assert_eq!(beginning.function_words, whole.function_words);
        assert_eq!(beginning.digits, whole.digits);
        assert_eq!(beginning.commas, whole.commas);
    }

    #[test]
    fn ideographs_are_words() {
        let counts = Counts::of("我的茶。");
        assert_eq!((counts.chars, counts.stops), (4, 1));
        assert_eq!(counts.function_words, 2);
        assert_eq!(counts.sketch.count_ones(), 3);
    }

    #[test]
    fn equal_words_have_equal_bits() {
        assert_eq!(sketch("Tea, Für two"), sketch("two tea für"));
        assert_ne!(sketch("tea"), sketch("coffee"));
    }
}
