//! Amounts among the quantities of a text: a number with its unit, currency, scale, bound, and what it counts.

use super::{Kind, Piece, Reader, is_content};
use crate::evidence::engine::account::units::{Dimension, offset, period, unit, unit_by_case};
use crate::evidence::reading::words::{does, known, number_of_word, scale};

impl Reader<'_> {
    /// The longest name of a unit that begins here: its dimension, its factor, the place behind it.
    pub(super) fn unit_at(&self, at: usize) -> Option<(Dimension, f64, usize)> {
        let at = at + usize::from(self.low(at) == "-" && self.touches(at));
        let joined = |count: usize| {
            let mut name = String::new();
            for (number, piece) in self.pieces.get(at..at + count)?.iter().enumerate() {
                if number > 0 && !self.touches(at + number) {
                    name.push(' ');
                }
                name.push_str(if piece.low == "-" { " " } else { &piece.low });
            }
            Some(name)
        };
        (1..=4).rev().find_map(|count| {
            let name = joined(count)?;
            let of_case = || {
                let written = self.pieces.get(at..at + count)?;
                unit_by_case(&written.iter().map(|piece| piece.text).collect::<String>())
            };
            let (dimension, factor) = of_case()
                .or_else(|| unit(&name))
                .or_else(|| unit(&name.replace("hours", "hour")))?;
            let is_letter = name.len() == 1 && name.is_ascii();
            // "Three of five were won" is no price.
            let is_few = self
                .number(at.wrapping_sub(1))
                .is_none_or(|number| number < 1_000.0);
            if name == "won" && is_few {
                return None;
            }
            let is_cased = name != "m" || self.pieces[at].text == "m";
            (is_cased && (!is_letter || self.number(at.wrapping_sub(1)).is_some())).then_some((
                dimension,
                factor,
                at + count,
            ))
        })
    }

    pub(super) fn has_unit(&self, at: usize) -> bool {
        self.unit_at(at).is_some()
    }

    pub(super) fn is_counted(&self, at: usize) -> bool {
        let word = self.low(at);
        word.len() > 3
            && word.ends_with('s')
            && word.chars().all(char::is_alphabetic)
            && is_content(word)
    }

    pub(super) fn amount(&mut self, at: usize) -> usize {
        let currency = self.currency_before(at);
        if let Some((dimension, factor, end)) = self.one_and_a_half(at) {
            let value = 1.5 * factor;
            self.push(at, end, Kind::Measured(dimension), value, value, 1.5);
            if let Some(quantity) = self.found.last_mut() {
                quantity.factor = factor;
            }
            return end;
        }
        if let Some((factor, end)) = self.one_duration(at) {
            self.push(
                at,
                end,
                Kind::Measured(Dimension::Duration),
                factor,
                factor,
                factor,
            );
            if let Some(quantity) = self.found.last_mut() {
                quantity.factor = factor;
            }
            return end;
        }
        let Some((mut number, mut end)) = self.spelled(at) else {
            return at + 1;
        };
        if self.is_negative(at, currency.is_some()) {
            number = -number;
        }
        if self.touches(at)
            && self.back(at, 1) == "-"
            && at > 1
            && self.touches(at - 1)
            && self.number(at - 2).is_none()
            && currency.is_none()
        {
            // A part of a name: COVID-19.
            return end;
        }
        let mut upper = None;
        // 5 to 7, 5–7, 10 or 11.
        let is_between = self.low(end) == "and" && self.back(at, 1) == "between";
        if (is_between || matches!(self.low(end), "to" | "-" | "–" | "or"))
            && !(self.low(end) == "to" && self.is_of_a_change(at))
            && let Some((other, next)) = self.spelled(end + 1)
            && other > number
            && (self.low(end) != "or" || self.has_unit(next))
        {
            (upper, end) = (Some(other), next);
        }
        while let Some(factor) =
            scale(self.low(end)).or_else(|| short_scale(&self.pieces, end, currency.is_some()))
        {
            number *= factor;
            upper = upper.map(|upper| upper * factor);
            end += 1;
        }
        // "Two and a half hours."
        if self.is_and_a_half(end) {
            (number, end) = (number + 0.5, end + 3);
        }
        let (mut kind, mut factor) = (None, 1.0);
        if let Some(dimension) = currency {
            kind = Some(Kind::Measured(dimension));
        } else if let Some((dimension, of, next)) =
            self.unit_at(end).or_else(|| self.unit_behind(end))
        {
            (kind, factor, end) = (Some(Kind::Measured(dimension)), of, next);
            // "2 hours and 30 minutes", "5 feet 6 inches".
            while upper.is_none()
                && let Some((smaller, next)) = self.smaller_part(end, dimension, factor)
            {
                (number, end) = (number + smaller / factor, next);
            }
        }
        let written = number;
        let per = self.per(end);
        end = per.map_or(end, |(_, next)| next);
        let counted = end + usize::from(self.low(end) == "plus" && self.spelled(end + 1).is_none());
        let kind = kind.unwrap_or_else(|| Kind::Count(self.counted(counted)));
        let is_span =
            upper.is_none() && kind == Kind::Measured(Dimension::Duration) && self.is_span(at, end);
        let (low, high) = match is_span {
            true => (number, number),
            false => self.bounds(at, end, number, upper),
        };
        let offset = offset(&kind, factor);
        let (low, high) = (low * factor + offset, high * factor + offset);
        let start = if currency.is_some() { at - 1 } else { at };
        self.push(start, end, kind, low, high, written);
        if let Some(quantity) = self.found.last_mut() {
            quantity.per = per.map(|(period, _)| period);
            quantity.is_span = is_span;
            quantity.factor = factor;
        }
        end
    }

    /// What a smaller unit adds to an amount, in the base unit, and the place behind it.
    fn smaller_part(&self, at: usize, dimension: Dimension, factor: f64) -> Option<(f64, usize)> {
        let at = at + usize::from(matches!(self.low(at), "and" | ","));
        let is_parted = matches!(
            dimension,
            Dimension::Duration | Dimension::Length | Dimension::Mass
        );
        let part = self.number(at).filter(|part| is_parted && *part > 0.0)?;
        let (other, of, end) = self.unit_at(at + 1)?;
        (other == dimension && part * of < factor).then_some((part * of, end))
    }

    /// A ratio, "3:1", or the score of a game, "won 3-1": its place ends behind it.
    pub(super) fn ratio(&mut self, at: usize) -> Option<usize> {
        const SCORES: [&str; 14] = [
            "won", "win", "wins", "lost", "lose", "loses", "beat", "beats", "drew", "draw",
            "score", "scored", "defeated", "result",
        ];
        const WORDS_BEFORE: usize = 6;
        let (one, other) = (self.whole(at, 999)?, self.whole(at + 2, 999)?);
        let is_joined = self.touches(at + 1) && self.touches(at + 2);
        let goes_on = |at: usize| matches!(self.low(at), ":" | "-" | "–") && self.touches(at);
        let is_score = || {
            let mut before = (1..=WORDS_BEFORE).map(|by| self.back(at, by));
            before.any(|word| SCORES.contains(&word)) && !self.has_unit(at + 3)
        };
        let sign = match self.low(at + 1) {
            ":" => ":",
            "-" | "–" if is_score() => "-",
            _ => return None,
        };
        if !is_joined || goes_on(at) || goes_on(at + 3) {
            return None;
        }
        let kind = Kind::Version(format!("{one}{sign}{other}"));
        self.push(at, at + 3, kind, 0.0, 0.0, 0.0);
        Some(at + 3)
    }

    /// "Rose from 60 to 80": two values, and no range between them.
    fn is_of_a_change(&self, at: usize) -> bool {
        /// "Increased by a fifth from".
        const WORDS_BETWEEN: usize = 5;
        let by = 1 + usize::from(self.currency_before(at).is_some());
        let changes = |word: &str| {
            known().flags(word) & (does::UP | does::DOWN) != 0
                || matches!(
                    word,
                    "changed" | "changes" | "went" | "goes" | "moved" | "cut" | "lifted"
                )
        };
        self.back(at, by) == "from"
            && (by + 1..=by + WORDS_BETWEEN)
                .take_while(|by| self.back(at, *by).starts_with(char::is_alphanumeric))
                .any(|by| changes(self.back(at, by)))
    }

    /// "Within a day", "lasts a whole day": the length of one, and the place behind it. "A day" behind an amount is what it is
    /// counted per, and a day ticket no day.
    fn one_duration(&self, at: usize) -> Option<(f64, usize)> {
        let is_one = matches!(self.low(at), "a" | "an" | "one");
        let is_of_length = matches!(
            self.back(at, 1),
            "within" | "for" | "after" | "last" | "lasts" | "lasted" | "lasting" | "takes" | "took"
        );
        let skip = usize::from(matches!(self.low(at + 1), "whole" | "full"));
        let (dimension, factor, end) = self
            .unit_at(at + 1 + skip)
            .filter(|_| is_one && is_of_length)?;
        let is_whole = self.pieces[at + 1 + skip..end]
            .iter()
            .all(|piece| piece.low.len() > 2 && !piece.low.ends_with('s'));
        let ends = self.low(end).is_empty()
            || !self
                .low(end)
                .starts_with(|c: char| c.is_alphanumeric() || c == '-')
            || !is_content(self.low(end));
        (dimension == Dimension::Duration && is_whole && ends).then_some((factor, end))
    }

    fn is_and_a_half(&self, at: usize) -> bool {
        self.low(at) == "and" && self.low(at + 1) == "a" && self.low(at + 2) == "half"
    }

    /// "A year and a half": the unit, and the place behind all.
    fn one_and_a_half(&self, at: usize) -> Option<(Dimension, f64, usize)> {
        let is_one = matches!(self.low(at), "a" | "an" | "one");
        let (dimension, factor, end) = self.unit_at(at + 1).filter(|_| is_one)?;
        self.is_and_a_half(end)
            .then_some((dimension, factor, end + 3))
    }

    /// A unit behind one or two adjectives, written out and in the plural: "six consecutive weeks".
    fn unit_behind(&self, at: usize) -> Option<(Dimension, f64, usize)> {
        let is_adjective = |at: usize| {
            let word = self.low(at);
            let is_word = word.len() > 2 && word.chars().all(char::is_alphabetic);
            let name = self.pieces.get(at).map_or("", |piece| piece.text);
            is_word && !word.ends_with('s') && is_content(word)
                || name.len() == 2 && name.bytes().all(|byte| byte.is_ascii_uppercase())
        };
        (1..=2)
            .take_while(|by| is_adjective(at + by - 1))
            .find_map(|by| {
                let name = self.low(at + by);
                let is_plural = name.len() > 4 && name.ends_with('s') || name == "feet";
                self.unit_at(at + by).filter(|_| is_plural)
            })
    }

    /// "Rose 45 % over three years", beside "took over three years", "for over three years", "over three years ago".
    fn is_span(&self, at: usize, end: usize) -> bool {
        const LEAVES_OPEN: &[&str] = &[
            "for", "of", "after", "in", "at", "by", "from", "than", "to", "just", "well", "some",
            "slightly", "is", "are", "was", "were", "be", "been", "and", "or", "take", "takes",
            "took", "taken", "taking", "last", "lasts", "lasted", "lasting", "spend", "spends",
            "spent", "spending", "wait", "waits", "waited", "waiting", "need", "needs", "needed",
            "require", "requires", "required", "span", "spans", "spanned", "spanning", "has",
            "have", "had", "with", "aged", "age", "stay", "stays", "stayed", "serve", "served",
        ];
        let is_word = |word: &str| word.starts_with(char::is_alphanumeric) || word == "%";
        self.back(at, 1) == "over"
            && is_word(self.back(at, 2))
            && !LEAVES_OPEN.contains(&self.back(at, 2))
            && !matches!(
                self.low(end),
                "ago" | "old" | "earlier" | "later" | "before" | "late" | "long" | "of" | "'"
            )
    }

    pub(super) fn currency_before(&self, at: usize) -> Option<Dimension> {
        let name = self.back(at, 1);
        let is_code = name.len() == 3
            && self.pieces[at - 1]
                .text
                .bytes()
                .all(|byte| byte.is_ascii_uppercase());
        let is_sign = matches!(name, "€" | "$" | "£" | "¥" | "₹" | "₽");
        // "C$100", "HK$100".
        let letters = at
            .checked_sub(2)
            .map_or("", |before| self.pieces[before].text);
        let is_prefix = name == "$"
            && (1..=2).contains(&letters.len())
            && letters.bytes().all(|byte| byte.is_ascii_uppercase())
            && self.touches(at - 1);
        if is_prefix && let Some((dimension, _)) = unit(&format!("{}$", letters.to_lowercase())) {
            return Some(dimension);
        }
        (is_sign || is_code)
            .then(|| unit(name))
            .flatten()
            .map(|(dimension, _)| dimension)
            .filter(|dimension| matches!(dimension, Dimension::Money(_)))
    }

    /// A number in digits or words, more than "one" or "a": its value, and the place behind it.
    pub(super) fn spelled(&self, at: usize) -> Option<(f64, usize)> {
        if let Some(number) = self.number(at) {
            // "1 1/2 cups".
            if number >= 1.0
                && number.fract() == 0.0
                && !self.touches(at + 1)
                && self.low(at + 2) == "/"
                && let Some(part) = self.number(at + 1).zip(self.number(at + 3))
                && (1.0..part.1).contains(&part.0)
                && self.touches(at + 2)
                && self.touches(at + 3)
            {
                return Some((number + part.0 / part.1, at + 4));
            }
            // 2/3 is read as two thirds.
            if self.low(at + 1) == "/"
                && self.touches(at + 1)
                && let Some(other) = self
                    .number(at + 2)
                    .filter(|other| *other > 1.0 && number < *other)
            {
                return Some((number / other, at + 3));
            }
            return Some((number, at + 1));
        }
        let low = self.low(at);
        match low {
            "dozen" => return Some((12.0, at + 1)),
            "twice" => return Some((2.0, at + 1)),
            "once" | "one" => return None,
            "a" if self.low(at + 1) == "dozen" => return Some((12.0, at + 2)),
            "a" | "half"
                if matches!(
                    self.low(at + 1),
                    "hundred" | "thousand" | "million" | "billion"
                ) =>
            {
                let value = number_of_word(self.low(at + 1))?;
                return Some((f64::from(value), at + 2));
            }
            _ => {}
        }
        let mut total = f64::from(number_of_word(low)?);
        let mut end = at + 1;
        loop {
            let skip =
                usize::from(self.low(end) == "-" || (self.low(end) == "and" && total >= 100.0));
            let Some(next) = number_of_word(self.low(end + skip)).map(f64::from) else {
                break;
            };
            match next {
                100.0 if total < 100.0 && skip == 0 => total *= 100.0,
                next if next >= 1000.0 && skip == 0 => total *= next,
                next if total >= 20.0 && next < 10.0 && total < 100.0 && skip > 0 => total += next,
                next if total >= 100.0 && next < 100.0 => total += next,
                _ => break,
            }
            end += skip + 1;
        }
        Some((total, end))
    }

    /// "a week", "per month", "/kWh", "each year".
    pub(super) fn per(&self, at: usize) -> Option<(&'static str, usize)> {
        let names = |reader: &Self, at: usize| {
            let low = reader.low(at);
            period(low)
                .or_else(|| period(low.strip_suffix('s')?))
                .map(|period| (period, at + 1))
        };
        match self.low(at) {
            "a" | "an" | "per" | "/" | "each" | "every" => names(self, at + 1),
            "monthly" | "yearly" | "annually" | "weekly" | "daily" => names(self, at),
            _ => None,
        }
    }

    /// Stems of the words behind a number, up to the next that is no noun or adjective.
    pub(super) fn counted(&self, at: usize) -> Vec<String> {
        let mut at = at;
        if matches!(self.low(at), "of" | "-") {
            at += 1;
        }
        while matches!(
            self.low(at),
            "the" | "its" | "their" | "our" | "her" | "his" | "these" | "those"
        ) {
            at += 1;
        }
        // "12 state-of-the-art models": what is joined by hyphens says which ones.
        let (mut things, mut joined) = (Vec::new(), Vec::new());
        while things.len() < 3 {
            let next = self.compound_end(at);
            let is_word = |piece: &&Piece<'_>| {
                piece.low.len() > 2
                    && piece.low.chars().all(char::is_alphabetic)
                    && is_content(&piece.low)
            };
            let words = self.pieces.get(at..next).unwrap_or_default().iter();
            let mut stems = words.filter(is_word).map(|piece| known().stem(&piece.low));
            match next - at {
                1 => match stems.next_back() {
                    Some(stem) => things.push(stem),
                    None => break,
                },
                _ => joined.extend(stems),
            }
            at = next;
        }
        if things.is_empty() {
            things = joined;
            things.truncate(3);
        }
        things
    }

    /// The place behind a word and those that hyphens join to it.
    fn compound_end(&self, at: usize) -> usize {
        let is_word = |at: usize| self.low(at).starts_with(char::is_alphabetic);
        let mut end = at + 1;
        while self.low(end) == "-"
            && is_word(end - 1)
            && is_word(end + 1)
            && self.touches(end)
            && self.touches(end + 1)
        {
            end += 2;
        }
        end
    }

    /// The values that a number with the words around it leaves open.
    pub(super) fn bounds(
        &self,
        at: usize,
        end: usize,
        number: f64,
        upper: Option<f64>,
    ) -> (f64, f64) {
        let at = at
            - usize::from(
                at > 0 && matches!(self.back(at, 1), "€" | "$" | "£" | "¥" | "a" | "the"),
            );
        let (one, two, three) = (self.back(at, 1), self.back(at, 2), self.back(at, 3));
        let above = number * (1.0 + 1e-9) + 1e-9;
        let below = number * (1.0 - 1e-9) - 1e-9;
        if let Some(upper) = upper {
            return (number, upper);
        }
        match (three, two, one) {
            (
                "no" | "not",
                "less" | "fewer" | "lower" | "shorter" | "younger" | "smaller",
                "than",
            )
            | (_, "minimum", "of") => (number, f64::INFINITY),
            (
                "no" | "not",
                "more" | "greater" | "higher" | "longer" | "older" | "larger" | "later" | "heavier"
                | "bigger",
                "than",
            ) => (f64::NEG_INFINITY, number),
            (
                _,
                "more" | "greater" | "higher" | "longer" | "older" | "larger" | "better",
                "than",
            ) => (above, f64::INFINITY),
            (_, "little" | "slightly" | "just" | "barely", "over" | "above") => {
                (below, number * 1.1)
            }
            (_, "little" | "slightly" | "just", "under" | "below") => (number * 0.9, above),
            (_, _, "over" | "above" | "exceeding" | "exceeds" | "exceed" | "beyond" | ">") => {
                (above, f64::INFINITY)
            }
            (
                _,
                "less" | "fewer" | "lower" | "shorter" | "under" | "younger" | "smaller",
                "than",
            ) => (f64::NEG_INFINITY, below),
            (_, _, "under" | "below" | "<") => (f64::NEG_INFINITY, below),
            (_, "at", "least") | (_, _, "minimum") | (_, "no", "fewer") => (number, f64::INFINITY),
            (_, "at", "most")
            | (_, "up", "to")
            | (_, "maximum", "of")
            | (_, _, "maximum" | "max") => (f64::NEG_INFINITY, number),
            (_, "más" | "mas" | "plus" | "mais", "de")
            | (_, "più", "di")
            | (_, "mehr", "als")
            | (_, "meer", "dan") => (above, f64::INFINITY),
            (_, "menos" | "moins", "de")
            | (_, "meno", "di")
            | (_, "weniger", "als")
            | (_, "minder", "dan") => (f64::NEG_INFINITY, below),
            (_, "al" | "pelo", "menos")
            | (_, "au", "moins")
            | (_, _, "mindestens" | "almeno" | "minstens") => (number, f64::INFINITY),
            (_, "bis", "zu")
            | (_, "fino", "a")
            | (_, _, "hasta" | "höchstens" | "jusqu'à" | "até" | "hooguit") => {
                (f64::NEG_INFINITY, number)
            }
            (_, _, "almost" | "nearly") => (number * 0.9, below),
            (
                _,
                _,
                "about" | "around" | "approximately" | "roughly" | "some" | "circa" | "ca"
                | "approx" | "~" | "≈",
            ) => (number * 0.9, number * 1.1),
            _ if matches!(self.low(end), "+")
                || (self.low(end) == "plus" && self.spelled(end + 1).is_none())
                || (matches!(self.low(end), "or" | "and")
                    && matches!(
                        self.low(end + 1),
                        "more" | "above" | "over" | "older" | "up" | "longer" | "higher"
                    )) =>
            {
                (number, f64::INFINITY)
            }
            _ if self.low(end) == "or"
                && matches!(
                    self.low(end + 1),
                    "less" | "fewer" | "under" | "below" | "younger"
                ) =>
            {
                (f64::NEG_INFINITY, number)
            }
            _ => (number, number),
        }
    }
}

/// 5k, 3m, 2bn behind a currency or right behind the number.
fn short_scale(pieces: &[Piece<'_>], at: usize, is_money: bool) -> Option<f64> {
    let piece = pieces.get(at)?;
    let is_close = at > 0 && pieces[at - 1].range.end == piece.range.start;
    match piece.text {
        "k" | "K" if is_close => Some(1e3),
        "m" | "M" | "mn" if is_close && is_money => Some(1e6),
        "bn" | "B" if is_close && is_money => Some(1e9),
        "m" | "bn" if is_money => Some(if piece.text == "m" { 1e6 } else { 1e9 }),
        _ => None,
    }
}
