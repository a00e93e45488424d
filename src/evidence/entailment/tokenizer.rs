//! Text to WordPiece ids, as BERT's uncased tokenizer has it (Devlin et al., arXiv:1810.04805; `BertNormalizer`,
//! `BertPreTokenizer` and `WordPiece` of HuggingFace's `tokenizers`): drop control characters, space out CJK
//! ideographs, NFD without nonspacing marks, lower case, split at white space and punctuation, then the longest piece
//! that matches, again and again. Two differences: `[SEP]` and the like in a text are no special pieces but ordinary
//! characters, and Unicode tables are newer, which shows in characters assigned since Unicode 9.

use icu_normalizer::DecomposingNormalizerBorrowed;
use icu_properties::{CodePointMapData, CodePointMapDataBorrowed, props::GeneralCategory};

/// Characters of a text that are read; the rest is ignored.
pub(crate) const TEXT_CHARS_MAX: usize = 16_384;
/// A longer word becomes `[UNK]`.
const WORD_CHARS_MAX: usize = 100;
/// Begins a piece that continues a word.
const CONTINUES: &[u8] = b"##";

const CATEGORIES: CodePointMapDataBorrowed<'static, GeneralCategory> =
    CodePointMapData::<GeneralCategory>::new();

/// Pieces in byte order; the id of a piece is its place in that order.
#[derive(Clone, Debug)]
pub(crate) struct Vocabulary<'w> {
    /// Little-endian u32 where each piece begins in `text`, and the end.
    offsets: &'w [[u8; 4]],
    text: &'w [u8],
    /// Ids from and up to which pieces begin with `##`.
    continuing: (usize, usize),
    longest: usize,
    pub(crate) unknown: u32,
    pub(crate) cls: u32,
    pub(crate) sep: u32,
}

impl<'w> Vocabulary<'w> {
    /// `None` where the offsets do not ascend within the text or the pieces are not in order.
    pub(crate) fn new(offsets: &'w [[u8; 4]], text: &'w [u8], special: [u32; 3]) -> Option<Self> {
        let [unknown, cls, sep] = special;
        let mut vocabulary = Vocabulary {
            offsets,
            text,
            continuing: (0, 0),
            longest: 0,
            unknown,
            cls,
            sep,
        };
        let mut before: &[u8] = b"";
        for id in 0..vocabulary.len() {
            let piece = text.get(vocabulary.offset(id)..vocabulary.offset(id + 1))?;
            (before < piece).then_some(())?;
            vocabulary.longest = vocabulary.longest.max(piece.len());
            before = piece;
        }
        let first = vocabulary.partition(0, vocabulary.len(), |piece| piece < CONTINUES);
        let end = vocabulary.partition(first, vocabulary.len(), |piece| {
            piece.starts_with(CONTINUES)
        });
        vocabulary.continuing = (first, end);
        Some(vocabulary)
    }

    pub(crate) fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    fn offset(&self, id: usize) -> usize {
        usize::try_from(u32::from_le_bytes(self.offsets[id])).unwrap_or(usize::MAX)
    }

    fn piece(&self, id: usize) -> &'w [u8] {
        &self.text[self.offset(id)..self.offset(id + 1)]
    }

    /// First id in `low..high` whose piece does not satisfy `is_before`; `high` where all do.
    fn partition(
        &self,
        mut low: usize,
        mut high: usize,
        is_before: impl Fn(&[u8]) -> bool,
    ) -> usize {
        while low < high {
            let middle = usize::midpoint(low, high);
            if is_before(self.piece(middle)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Id of a piece at the start of a word, or, with `##` before it, of one that continues a word.
    fn find(&self, key: &[u8], is_continuing: bool) -> Option<u32> {
        let ((low, high), skip) = if is_continuing {
            (self.continuing, CONTINUES.len())
        } else {
            ((0, self.len()), 0)
        };
        let id = self.partition(low, high, |piece| &piece[skip..] < key);
        (id < high && &self.piece(id)[skip..] == key)
            .then(|| u32::try_from(id).ok())
            .flatten()
    }

    /// The first `limit` pieces of a text.
    pub(crate) fn pieces(&self, text: &str, limit: usize) -> Vec<u32> {
        let mut pieces = Vec::new();
        let mut word = Word::default();
        for c in normalised(text) {
            if c.is_whitespace() {
                self.split_word(&mut word, &mut pieces);
            } else if is_punctuation(c) {
                self.split_word(&mut word, &mut pieces);
                word.push(c);
                self.split_word(&mut word, &mut pieces);
            } else {
                word.push(c);
            }
            if pieces.len() >= limit {
                break;
            }
        }
        self.split_word(&mut word, &mut pieces);
        pieces.truncate(limit);
        pieces
    }

    /// Appends the pieces of a word, or `[UNK]` where some part of it matches no piece, and empties it.
    fn split_word(&self, word: &mut Word, pieces: &mut Vec<u32>) {
        let before = pieces.len();
        let text = word.text.as_str();
        let mut start = 0;
        while start < text.len() {
            let longest = self.longest.min(text.len() - start);
            let found = (start + 1..=start + longest)
                .rev()
                .filter(|end| text.is_char_boundary(*end))
                .find_map(|end| Some((self.find(&text.as_bytes()[start..end], start > 0)?, end)));
            let Some((id, end)) = found.filter(|_| word.chars <= WORD_CHARS_MAX) else {
                pieces.truncate(before);
                pieces.push(self.unknown);
                break;
            };
            pieces.push(id);
            start = end;
        }
        word.text.clear();
        word.chars = 0;
    }
}

#[derive(Default)]
struct Word {
    /// The first `WORD_CHARS_MAX` characters.
    text: String,
    chars: usize,
}

impl Word {
    fn push(&mut self, c: char) {
        if self.chars < WORD_CHARS_MAX {
            self.text.push(c);
        }
        self.chars += 1;
    }
}

fn normalised(text: &str) -> impl Iterator<Item = char> {
    let clean = text
        .chars()
        .take(TEXT_CHARS_MAX)
        .filter(|c| !is_control(*c))
        .flat_map(|c| {
            let space = is_ideograph(c).then_some(' ');
            space.into_iter().chain([c]).chain(space)
        });
    DecomposingNormalizerBorrowed::new_nfd()
        .normalize_iter(clean)
        .filter(|c| CATEGORIES.get(*c) != GeneralCategory::NonspacingMark)
        .flat_map(char::to_lowercase)
}

fn is_control(c: char) -> bool {
    !matches!(c, '\t' | '\n' | '\r')
        && (c == char::REPLACEMENT_CHARACTER
            || matches!(
                CATEGORIES.get(c),
                GeneralCategory::Control | GeneralCategory::Format | GeneralCategory::PrivateUse
            ))
}

/// The ranges that BERT's tokenizer takes for CJK ideographs.
fn is_ideograph(c: char) -> bool {
    matches!(c,
        '\u{4E00}'..='\u{9FFF}' | '\u{3400}'..='\u{4DBF}' | '\u{20000}'..='\u{2A6DF}' | '\u{2A700}'..='\u{2B73F}'
        | '\u{2B740}'..='\u{2B81F}' | '\u{2B920}'..='\u{2CEAF}' | '\u{F900}'..='\u{FAFF}' | '\u{2F800}'..='\u{2FA1F}')
}

fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation()
        || matches!(
            CATEGORIES.get(c),
            GeneralCategory::ConnectorPunctuation
                | GeneralCategory::DashPunctuation
                | GeneralCategory::OpenPunctuation
                | GeneralCategory::ClosePunctuation
                | GeneralCategory::InitialPunctuation
                | GeneralCategory::FinalPunctuation
                | GeneralCategory::OtherPunctuation
        )
}

#[cfg(test)]
pub(crate) mod tests {
    use crate::weights::Weights;

    const TINY: &[u8] = include_bytes!("../../../tests/evidence/entailment/tiny.bin");

    /// Replaces `\u{HEX}` by the character.
    pub(crate) fn unescape(text: &str) -> String {
        let mut parts = text.split("\\u{");
        let mut plain = parts.next().unwrap_or_default().to_string();
        for part in parts {
            let (code, rest) = part.split_once('}').expect("an escape is closed");
            let code = u32::from_str_radix(code, 16).expect("an escape is hexadecimal");
            plain.push(char::from_u32(code).expect("an escape is a character"));
            plain.push_str(rest);
        }
        plain
    }

    #[test]
    fn pieces_are_those_of_the_tokenizers_library() {
        let vocabulary = Weights::read(TINY).expect("the file is whole").vocabulary;
        for line in include_str!("../../../tests/evidence/entailment/pieces.tsv").lines() {
            let (text, ids) = line.split_once('\t').expect("a line has two fields");
            let expected: Vec<u32> = ids
                .split_whitespace()
                .map(|id| id.parse().expect("an id is a number"))
                .collect();
            assert_eq!(
                vocabulary.pieces(&unescape(text), 10_000),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn a_limit_cuts_the_pieces() {
        let vocabulary = Weights::read(TINY).expect("the file is whole").vocabulary;
        let text = "the unaffable tower, built in 1889. ".repeat(20);
        let all = vocabulary.pieces(&text, 10_000);
        for limit in [0, 1, 2, 3, 17, 50] {
            assert_eq!(vocabulary.pieces(&text, limit), all[..limit]);
        }
    }

    #[test]
    fn long_texts_are_read_in_part() {
        let vocabulary = Weights::read(TINY).expect("the file is whole").vocabulary;
        assert_eq!(
            vocabulary.pieces(&"a".repeat(100_000), 10),
            [vocabulary.unknown]
        );
        assert_eq!(vocabulary.pieces(&" ".repeat(100_000), 10), []);
        assert_eq!(
            vocabulary.pieces(&"a ".repeat(100_000), 1_000_000).len(),
            super::TEXT_CHARS_MAX / 2
        );
    }
}
