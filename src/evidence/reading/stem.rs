//! English words without their endings: the Snowball English stemmer (Porter 2), and the rougher root that words of
//! one family share. Lower-case ASCII words in; anything else comes back as it is.

/// The stem of a lower-case word.
pub(crate) fn stem(word: &str) -> String {
    if word.len() <= 2 || !word.bytes().all(|b| b.is_ascii_lowercase() || b == b'\'') {
        return word.to_owned();
    }
    if let Some(known) = exception(word) {
        return known.to_owned();
    }
    let mut stem = Stem::new(word);
    stem.possessive();
    stem.plural();
    if is_finished(stem.text()) {
        return stem.finish();
    }
    stem.past_and_progressive();
    stem.final_y();
    stem.step2();
    stem.step3();
    stem.step4();
    stem.step5();
    stem.finish()
}

fn exception(word: &str) -> Option<&'static str> {
    Some(match word {
        "skis" => "ski",
        "skies" => "sky",
        "dying" => "die",
        "lying" => "lie",
        "tying" => "tie",
        "idly" => "idl",
        "gently" => "gentl",
        "ugly" => "ugli",
        "early" => "earli",
        "only" => "onli",
        "singly" => "singl",
        "sky" => "sky",
        "news" => "news",
        "howe" => "howe",
        "atlas" => "atlas",
        "cosmos" => "cosmos",
        "bias" => "bias",
        "andes" => "andes",
        _ => return None,
    })
}

/// Words that lose no more after the plural.
fn is_finished(word: &[u8]) -> bool {
    const WORDS: &[&str] = &[
        "inning", "outing", "canning", "herring", "earring", "proceed", "exceed", "succeed",
    ];
    WORDS.iter().any(|finished| finished.as_bytes() == word)
}

/// A word on its way; a `y` that stands for a consonant is written `Y`.
struct Stem {
    word: Vec<u8>,
    /// Where the region after the first consonant that follows a vowel begins, and the next one within it.
    r1: usize,
    r2: usize,
}

fn is_vowel(byte: u8) -> bool {
    matches!(byte, b'a' | b'e' | b'i' | b'o' | b'u' | b'y')
}

fn region(word: &[u8], from: usize) -> usize {
    let pair = (from + 1..word.len()).find(|&at| is_vowel(word[at - 1]) && !is_vowel(word[at]));
    pair.map_or(word.len(), |at| at + 1)
}

impl Stem {
    fn new(word: &str) -> Stem {
        let mut word = word.strip_prefix('\'').unwrap_or(word).as_bytes().to_vec();
        for at in 0..word.len() {
            if word[at] == b'y' && (at == 0 || is_vowel(word[at - 1])) {
                word[at] = b'Y';
            }
        }
        let special = [&b"gener"[..], b"commun", b"arsen"];
        let r1 = match special.iter().find(|start| word.starts_with(start)) {
            Some(start) => start.len(),
            None => region(&word, 0),
        };
        let r2 = region(&word, r1);
        Stem { word, r1, r2 }
    }

    fn text(&self) -> &[u8] {
        &self.word
    }

    fn finish(self) -> String {
        self.word
            .iter()
            .map(|byte| char::from(byte.to_ascii_lowercase()))
            .collect()
    }

    fn ends(&self, ending: &str) -> bool {
        self.word.ends_with(ending.as_bytes())
    }

    /// The longest of these endings that the word has.
    fn longest<'a>(&self, endings: &'a [(&'a str, &'a str)]) -> Option<&'a (&'a str, &'a str)> {
        endings
            .iter()
            .filter(|(ending, _)| self.ends(ending))
            .max_by_key(|(ending, _)| ending.len())
    }

    fn cut(&mut self, bytes: usize) {
        self.word.truncate(self.word.len() - bytes);
    }

    fn replace(&mut self, bytes: usize, by: &str) {
        self.cut(bytes);
        self.word.extend_from_slice(by.as_bytes());
    }

    /// Whether an ending of so many bytes stands in a region.
    fn is_in(&self, region: usize, bytes: usize) -> bool {
        self.word.len() >= region + bytes
    }

    fn has_vowel_before(&self, bytes: usize) -> bool {
        self.word[..self.word.len() - bytes]
            .iter()
            .any(|&b| is_vowel(b))
    }

    fn byte_before(&self, bytes: usize) -> Option<u8> {
        let at = self.word.len().checked_sub(bytes + 1)?;
        Some(self.word[at])
    }

    /// Whether the word, without so many bytes, ends in a short syllable.
    fn ends_short(&self, bytes: usize) -> bool {
        let word = &self.word[..self.word.len() - bytes];
        match *word {
            [first, second] => is_vowel(first) && !is_vowel(second),
            [.., before, vowel, last] => {
                !is_vowel(before)
                    && is_vowel(vowel)
                    && !is_vowel(last)
                    && !matches!(last, b'w' | b'x' | b'Y')
            }
            _ => false,
        }
    }

    fn possessive(&mut self) {
        for ending in ["'s'", "'s", "'"] {
            if self.ends(ending) {
                self.cut(ending.len());
                return;
            }
        }
    }

    fn plural(&mut self) {
        if self.ends("sses") {
            self.cut(2);
        } else if self.ends("ied") || self.ends("ies") {
            let by = if self.word.len() > 4 { "i" } else { "ie" };
            self.replace(3, by);
        } else if self.ends("s") && !self.ends("us") && !self.ends("ss") {
            let before = self.word.len().saturating_sub(2);
            if self.word[..before].iter().any(|&b| is_vowel(b)) {
                self.cut(1);
            }
        }
    }

    fn past_and_progressive(&mut self) {
        for ending in ["eedly", "eed"] {
            if self.ends(ending) {
                if self.is_in(self.r1, ending.len()) {
                    self.replace(ending.len(), "ee");
                }
                return;
            }
        }
        let endings = ["ingly", "edly", "ing", "ed"];
        let Some(ending) = endings.into_iter().find(|ending| self.ends(ending)) else {
            return;
        };
        if !self.has_vowel_before(ending.len()) {
            return;
        }
        self.cut(ending.len());
        if self.ends("at") || self.ends("bl") || self.ends("iz") {
            self.word.push(b'e');
        } else if self.ends_double() {
            self.cut(1);
        } else if self.r1 >= self.word.len() && self.ends_short(0) {
            self.word.push(b'e');
        }
    }

    fn ends_double(&self) -> bool {
        match *self.word {
            [.., one, two] => one == two && b"bdfgmnprt".contains(&one),
            _ => false,
        }
    }

    fn final_y(&mut self) {
        if self.word.len() > 2
            && (self.ends("y") || self.ends("Y"))
            && self.byte_before(1).is_some_and(|byte| !is_vowel(byte))
        {
            self.replace(1, "i");
        }
    }

    fn step2(&mut self) {
        const ENDINGS: &[(&str, &str)] = &[
            ("tional", "tion"),
            ("enci", "ence"),
            ("anci", "ance"),
            ("abli", "able"),
            ("entli", "ent"),
            ("izer", "ize"),
            ("ization", "ize"),
            ("ational", "ate"),
            ("ation", "ate"),
            ("ator", "ate"),
            ("alism", "al"),
            ("aliti", "al"),
            ("alli", "al"),
            ("fulness", "ful"),
            ("ousli", "ous"),
            ("ousness", "ous"),
            ("iveness", "ive"),
            ("iviti", "ive"),
            ("biliti", "ble"),
            ("bli", "ble"),
            ("ogi", "og"),
            ("fulli", "ful"),
            ("lessli", "less"),
            ("li", ""),
        ];
        let Some(&(ending, by)) = self.longest(ENDINGS) else {
            return;
        };
        let before = self.byte_before(ending.len());
        let applies = match ending {
            "ogi" => before == Some(b'l'),
            "li" => before.is_some_and(|byte| b"cdeghkmnrt".contains(&byte)),
            _ => true,
        };
        if applies && self.is_in(self.r1, ending.len()) {
            self.replace(ending.len(), by);
        }
    }

    fn step3(&mut self) {
        const ENDINGS: &[(&str, &str)] = &[
            ("tional", "tion"),
            ("ational", "ate"),
            ("alize", "al"),
            ("icate", "ic"),
            ("iciti", "ic"),
            ("ical", "ic"),
            ("ful", ""),
            ("ness", ""),
            ("ative", ""),
        ];
        let Some(&(ending, by)) = self.longest(ENDINGS) else {
            return;
        };
        let region = if ending == "ative" { self.r2 } else { self.r1 };
        if self.is_in(self.r1, ending.len()) && self.is_in(region, ending.len()) {
            self.replace(ending.len(), by);
        }
    }

    fn step4(&mut self) {
        const ENDINGS: &[(&str, &str)] = &[
            ("al", ""),
            ("ance", ""),
            ("ence", ""),
            ("er", ""),
            ("ic", ""),
            ("able", ""),
            ("ible", ""),
            ("ant", ""),
            ("ement", ""),
            ("ment", ""),
            ("ent", ""),
            ("ism", ""),
            ("ate", ""),
            ("iti", ""),
            ("ous", ""),
            ("ive", ""),
            ("ize", ""),
            ("ion", ""),
        ];
        let Some(&(ending, _)) = self.longest(ENDINGS) else {
            return;
        };
        let before = self.byte_before(ending.len());
        if ending == "ion" && !matches!(before, Some(b's' | b't')) {
            return;
        }
        if self.is_in(self.r2, ending.len()) {
            self.cut(ending.len());
        }
    }

    fn step5(&mut self) {
        if self.ends("e") {
            if self.is_in(self.r2, 1) || (self.is_in(self.r1, 1) && !self.ends_short(1)) {
                self.cut(1);
            }
        } else if self.ends("l") && self.is_in(self.r2, 1) && self.byte_before(1) == Some(b'l') {
            self.cut(1);
        }
    }
}

/// Longest first, so that no ending hides another.
const SUFFIXES: &[&str] = &[
    "ational", "ization", "isation", "ations", "ation", "ition", "tions", "ments", "ities", "tion",
    "sion", "ment", "ness", "ical", "ials", "ians", "ious", "ists", "ance", "ence", "ity", "ial",
    "ian", "ics", "ous", "ive", "ful", "ers", "ors", "ist", "ism", "ant", "ent", "ish", "ize",
    "ise", "ate", "ify", "ese", "ing", "ary", "ory", "ure", "age", "al", "ic", "er", "or", "ly",
    "an", "ed", "y", "e", "i", "s",
];

/// What is left of a stem without up to two endings that make other words of it.
pub(crate) fn root(stem: &str) -> &str {
    if stem.len() < 5 || !stem.is_ascii() || stem.starts_with(|c: char| c.is_ascii_digit()) {
        return stem;
    }
    let mut left = stem;
    for _ in 0..2 {
        let cut = SUFFIXES
            .iter()
            .find(|suffix| left.len() >= suffix.len() + 4 && left.ends_with(**suffix));
        match cut {
            Some(suffix) => left = &left[..left.len() - suffix.len()],
            None => break,
        }
    }
    let bytes = left.as_bytes();
    if bytes.len() > 4 && bytes[bytes.len() - 1] == bytes[bytes.len() - 2] {
        left = &left[..left.len() - 1];
    }
    left
}

#[cfg(test)]
mod tests {
    use crate::evidence::reading::stem::*;

    #[test]
    fn words_lose_their_endings() {
        let pairs = [
            ("consistency", "consist"),
            ("generously", "generous"),
            ("knightly", "knight"),
            ("hopping", "hop"),
            ("hoping", "hope"),
            ("national", "nation"),
            ("cities", "citi"),
            ("tied", "tie"),
            ("gas", "gas"),
            ("kiwis", "kiwi"),
            ("proceed", "proceed"),
            ("agreed", "agre"),
            ("relational", "relat"),
            ("by", "by"),
            ("saying", "say"),
            ("controlling", "control"),
            ("rate", "rate"),
            ("don't", "don't"),
            ("straße", "straße"),
        ];
        for (word, expected) in pairs {
            assert_eq!(stem(word), expected, "{word}");
        }
    }

    #[test]
    fn words_of_a_family_share_a_root() {
        let shares = |one: &str, other: &str| {
            assert_eq!(root(&stem(one)), root(&stem(other)), "{one} {other}");
        };
        shares("mathematician", "mathematics");
        shares("governor", "government");
        assert_ne!(root(&stem("general")), root(&stem("genes")));
    }
}
