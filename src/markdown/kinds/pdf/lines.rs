//! Characters with places become lines of text. The order is the page's own, which is the order of reading in all but
//! a few files; only what stands side by side is joined.

use std::collections::HashSet;

/// The text of one page; nobody reads more on one sheet.
const PAGE_TEXT_BYTES_MAX: usize = 1024 * 1024;
const PAGE_LINES_MAX: usize = 20_000;

/// In parts of the size: closer characters belong to one word, and baselines this far apart to one line.
const WORD_GAP: f64 = 0.15;
const BASELINE_GAP: f64 = 0.5;
/// A step back that begins a line of its own, even on the same height.
const STEP_BACK: f64 = 0.6;
/// What is smaller than the line by this much, and stands so far above it, is an exponent or a note's number.
const RAISED_SIZE: f64 = 0.85;
const RAISED_UP: f64 = 0.2;
/// A gap between columns of a table, or of the page.
const COLUMN_GAP: f64 = 1.5;

/// One character (or ligature, or unknown one) on the page.
#[derive(Debug)]
pub(super) struct Glyph<'a> {
    pub(super) text: &'a str,
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) direction: (f64, f64),
    pub(super) width: f64,
    pub(super) size: f64,
    /// Of a font whose characters are all of one width.
    pub(super) is_fixed: bool,
}

/// Text on one baseline. Across runs in the direction of reading, up against the lines.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) text: String,
    pub(super) start: f64,
    pub(super) end: f64,
    pub(super) up: f64,
    /// That of most characters.
    pub(super) size: f64,
    /// How many more of them have it than another.
    votes: usize,
    /// Quarter turns of the direction of reading.
    pub(super) turn: u8,
    /// All of it is of one width a character.
    pub(super) is_fixed: bool,
}

#[derive(Debug, Default)]
pub(super) struct Lines {
    pub(super) lines: Vec<Line>,
    bytes: usize,
    ends_in_gap: bool,
    /// The last character stands above the line.
    is_raised: bool,
}

impl Lines {
    /// Whether no more is taken.
    pub(super) fn is_full(&self) -> bool {
        self.bytes >= PAGE_TEXT_BYTES_MAX || self.lines.len() >= PAGE_LINES_MAX
    }

    pub(super) fn push(&mut self, glyph: &Glyph<'_>) {
        let (turn, start, up) = along_reading(glyph);
        let is_somewhere = [start, up, glyph.size, glyph.width]
            .iter()
            .all(|n| n.is_finite() && n.abs() < 1e7);
        if !is_somewhere || self.is_full() {
            return;
        }
        let end = start + glyph.width;
        let is_blank = glyph.text.chars().all(char::is_whitespace);
        let size = glyph.size.max(0.1);
        if let Some(line) = self.lines.last_mut()
            && line.turn == turn
        {
            let larger = size.max(line.size);
            let gap = start - line.end;
            let is_beside = gap > -STEP_BACK * larger;
            if (up - line.up).abs() <= BASELINE_GAP * larger && is_beside {
                if !is_blank {
                    self.bytes += glyph.text.len();
                    let is_apart = self.ends_in_gap || gap > WORD_GAP * size;
                    let is_raised =
                        size < RAISED_SIZE * line.size && up - line.up > RAISED_UP * line.size;
                    // 10⁶ is not 106.
                    if is_raised && !self.is_raised && !is_apart {
                        line.raise(glyph.text);
                    }
                    self.is_raised = is_raised;
                    line.join(glyph.text, is_apart, gap > COLUMN_GAP * larger);
                }
                if !is_blank {
                    line.vote(size, up);
                    line.is_fixed &= glyph.is_fixed;
                }
                line.end = line.end.max(end);
                self.ends_in_gap = is_blank && (self.ends_in_gap || !glyph.text.is_empty());
                return;
            }
        }
        if is_blank {
            return;
        }
        self.bytes += glyph.text.len();
        self.ends_in_gap = false;
        self.is_raised = false;
        self.lines.push(Line {
            text: glyph.text.to_owned(),
            start,
            end,
            up,
            size,
            votes: 1,
            turn,
            is_fixed: glyph.is_fixed,
        });
    }

    /// The lines, those of the main direction first. What is printed twice to look bold is said once.
    pub(super) fn finish(self) -> Vec<Line> {
        let mut seen = HashSet::new();
        let mut letters = [0; 4];
        let mut lines = Vec::new();
        for mut line in self.lines {
            if !line.is_fixed {
                line.text = without_leaders(&line.text);
            }
            line.text.shrink_to_fit();
            #[expect(
                clippy::cast_possible_truncation,
                reason = "bounded when it was pushed"
            )]
            let place = ((line.start / 2.0) as i64, (line.up / 2.0) as i64);
            if seen.insert((place, line.text.clone())) {
                letters[usize::from(line.turn)] += line.text.len();
                lines.push(line);
            }
        }
        let main = (0u8..4).max_by_key(|turn| letters[usize::from(*turn)]);
        lines.sort_by_key(|line| Some(line.turn) != main);
        lines.shrink_to_fit();
        lines
    }
}

impl Line {
    #[cfg(test)]
    pub(super) fn test(text: &str, start: f64, up: f64, size: f64) -> Line {
        Line {
            text: text.to_owned(),
            start,
            end: start + 300.0,
            up,
            size,
            votes: 1,
            turn: 0,
            is_fixed: false,
        }
    }

    /// The size and baseline of most characters win, not those of a bullet or a note's number.
    fn vote(&mut self, size: f64, up: f64) {
        if (size - self.size).abs() < 0.1 {
            self.votes += 1;
        } else if self.votes > 1 {
            self.votes -= 1;
        } else {
            (self.size, self.up) = (size, up);
        }
    }

    /// Marks a number above another one as its exponent.
    fn raise(&mut self, text: &str) {
        let is_number =
            text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '−' | '+'));
        if is_number && self.text.ends_with(|c: char| c.is_ascii_digit()) {
            self.text.push('^');
        }
    }

    fn join(&mut self, text: &str, is_apart: bool, is_column: bool) {
        let is_dense = |c: Option<char>| c.is_some_and(|c| ('\u{2E80}'..='\u{FFEF}').contains(&c));
        let between_ideographs =
            is_dense(self.text.chars().next_back()) && is_dense(text.chars().next());
        if is_column || (is_apart && !between_ideographs && !self.text.ends_with(' ')) {
            self.text.push(' ');
        }
        self.text.push_str(text);
    }
}

/// The dots that lead to a page's number, as one character.
fn without_leaders(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['.', ':', '·', '_']) {
        let mark = rest[at..].chars().next().unwrap_or('.');
        let run = rest[at..].trim_start_matches([mark, ' ']);
        let count = rest[at..rest.len() - run.len()].matches(mark).count();
        out.push_str(&rest[..at]);
        if count >= 5 {
            out.truncate(out.trim_end().len());
            out.push_str(" … ");
        } else {
            out.push_str(&rest[at..rest.len() - run.len()]);
        }
        rest = run;
    }
    out.push_str(rest);
    out
}

/// Quarter turns of the glyph's direction, and its place along and across it.
fn along_reading(glyph: &Glyph<'_>) -> (u8, f64, f64) {
    let (x, y) = (glyph.x, glyph.y);
    let (across, along) = glyph.direction;
    if across.abs() >= along.abs() {
        if across >= 0.0 {
            (0, x, y)
        } else {
            (2, -x, -y)
        }
    } else if along > 0.0 {
        (1, y, -x)
    } else {
        (3, -y, x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn glyph(text: &str, x: f64, y: f64, direction: (f64, f64)) -> Glyph<'_> {
        Glyph {
            text,
            x,
            y,
            direction,
            width: 5.0,
            size: 10.0,
            is_fixed: false,
        }
    }

    #[test]
    fn leaders_are_one_character() {
        assert_eq!(without_leaders("1.1 Aim. . . . . . . 7"), "1.1 Aim … 7");
        assert_eq!(without_leaders("a... b. c: d"), "a... b. c: d");
    }

    fn check(glyphs: &[Glyph<'_>], expected: &[&str]) {
        let mut lines = Lines::default();
        for glyph in glyphs {
            lines.push(glyph);
        }
        let lines = lines.finish();
        let texts: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(texts, expected);
    }

    #[test]
    fn gaps_become_spaces_and_steps_lines() {
        let right = (1.0, 0.0);
        check(
            &[
                glyph("a", 0.0, 100.0, right),
                glyph("b", 5.5, 100.0, right),
                glyph("c", 13.0, 100.0, right),
                glyph("2", 18.0, 104.0, right),
                glyph("d", 0.0, 88.0, right),
                glyph(" ", 5.0, 88.0, right),
                glyph("e", 10.0, 88.0, right),
            ],
            &["ab c2", "d e"],
        );
    }

    /// 10⁻⁶ became 10-6.
    #[test]
    fn exponents_are_marked() {
        let right = (1.0, 0.0);
        let small = |text, x| Glyph {
            size: 6.0,
            width: 3.0,
            ..glyph(text, x, 104.0, right)
        };
        check(
            &[
                glyph("1", 0.0, 100.0, right),
                glyph("0", 5.0, 100.0, right),
                small("-", 10.0),
                small("6", 13.0),
                glyph("m", 18.0, 100.0, right),
                small("2", 23.0),
            ],
            &["10^-6 m2"],
        );
    }

    #[test]
    fn text_on_its_side_comes_last_and_bold_by_overprint_once() {
        let right = (1.0, 0.0);
        check(
            &[
                glyph("s", 3.0, 0.0, (0.0, 1.0)),
                glyph("a", 0.0, 100.0, right),
                glyph("b", 5.0, 100.0, right),
                glyph("c", 0.0, 80.0, right),
                glyph("c", 0.2, 80.0, right),
            ],
            &["ab", "cc", "s"],
        );
        check(
            &[
                glyph("ab", 0.0, 100.0, right),
                glyph("x", 0.0, 50.0, right),
                glyph("ab", 0.3, 100.0, right),
            ],
            &["ab", "x"],
        );
    }

    #[test]
    fn places_beyond_all_paper_are_left_out() {
        let mut far = glyph("x", f64::NAN, 0.0, (1.0, 0.0));
        check(&[far], &[]);
        far = glyph("x", 1e300, f64::INFINITY, (1.0, 0.0));
        check(&[far], &[]);
    }
}
