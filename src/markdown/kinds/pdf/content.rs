//! Runs a page's content as far as it shows text (ISO 32000-2, 8.4 and 9.4): where each character stands, how large
//! and in which direction. Colours, paths and images are passed over; text that is not painted counts as text, because
//! that is how scans carry what was recognised in them.

use std::collections::HashMap;
use std::rc::Rc;

use super::file::File;
use super::font::{Font, Step};
use super::lexer::{Dict, Lexer, Object, Token, is_space};
use super::lines::{Glyph, Lines};

/// Forms in forms.
const FORMS_DEPTH_MAX: usize = 8;
/// Saved graphics states.
const STATES_MAX: usize = 64;
/// Marked content in marked content.
const MARKS_MAX: usize = 64;
/// Objects in front of one operator.
const OPERANDS_MAX: usize = 100_000;

/// `x' = ax + cy + e`, `y' = bx + dy + f`.
#[derive(Clone, Copy, Debug)]
struct Matrix([f64; 6]);

impl Matrix {
    const IDENTITY: Matrix = Matrix([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);

    fn of(operands: &[Object]) -> Option<Matrix> {
        let mut numbers = [0.0; 6];
        let operands = operands.last_chunk::<6>()?;
        for (place, operand) in numbers.iter_mut().zip(operands) {
            *place = operand.number()?;
        }
        Some(Matrix(numbers))
    }

    /// First this, then the other.
    fn then(self, other: Matrix) -> Matrix {
        let ([a, b, c, d, e, f], [g, h, i, j, k, l]) = (self.0, other.0);
        Matrix([
            a * g + b * i,
            a * h + b * j,
            c * g + d * i,
            c * h + d * j,
            e * g + f * i + k,
            e * h + f * j + l,
        ])
    }

    fn moved(self, x: f64, y: f64) -> Matrix {
        Matrix([1.0, 0.0, 0.0, 1.0, x, y]).then(self)
    }
}

#[derive(Clone, Debug)]
struct State {
    matrix: Matrix,
    font: Rc<Font>,
    size: f64,
    character_space: f64,
    word_space: f64,
    scale: f64,
    leading: f64,
    rise: f64,
}

/// What stands in the place of marked text.
#[derive(Debug)]
enum Mark {
    Nothing,
    /// A running head or a page number.
    Left,
    /// Said once for all glyphs of the mark.
    Said(Option<String>),
}

/// Fonts are read once for all pages.
#[derive(Debug, Default)]
pub(super) struct Fonts(HashMap<u32, Rc<Font>>);

#[derive(Debug)]
pub(super) struct Page<'a, 'f> {
    file: &'a File<'f>,
    fonts: &'a mut Fonts,
    sheet: Option<Sheet>,
    state: State,
    saved: Vec<State>,
    text: Matrix,
    line: Matrix,
    marks: Vec<Mark>,
    lines: Lines,
    /// Characters whose meaning the font does not tell.
    unknown: usize,
}

/// The paper that a page is printed on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sheet {
    left: f64,
    bottom: f64,
    right: f64,
    top: f64,
}

impl Sheet {
    /// From two opposite corners. None if it is smaller than any letter.
    pub(super) fn of(corners: &[Object]) -> Option<Sheet> {
        let corners: Vec<f64> = corners.iter().map_while(Object::number).collect();
        let [x, y, other_x, other_y] = corners[..] else {
            return None;
        };
        let sheet = Sheet {
            left: x.min(other_x),
            bottom: y.min(other_y),
            right: x.max(other_x),
            top: y.max(other_y),
        };
        (sheet.right - sheet.left > 1.0 && sheet.top - sheet.bottom > 1.0).then_some(sheet)
    }

    /// Whether a character of this size may be seen on it.
    fn shows(&self, x: f64, y: f64, size: f64) -> bool {
        (self.left - size..=self.right + size).contains(&x)
            && (self.bottom - size..=self.top + size).contains(&y)
    }
}

/// What a page shows.
#[derive(Debug)]
pub(super) struct PageContent {
    pub(super) lines: Lines,
    pub(super) unknown: usize,
}

pub(super) fn read(
    file: &File<'_>,
    fonts: &mut Fonts,
    resources: &Dict,
    content: &[u8],
    sheet: Option<Sheet>,
) -> PageContent {
    let mut page = Page {
        file,
        fonts,
        sheet,
        state: State {
            matrix: Matrix::IDENTITY,
            font: Rc::new(Font::unknown()),
            size: 1.0,
            character_space: 0.0,
            word_space: 0.0,
            scale: 1.0,
            leading: 0.0,
            rise: 0.0,
        },
        saved: Vec::new(),
        text: Matrix::IDENTITY,
        line: Matrix::IDENTITY,
        marks: Vec::new(),
        lines: Lines::default(),
        unknown: 0,
    };
    page.run(content, resources, 0);
    PageContent {
        lines: page.lines,
        unknown: page.unknown,
    }
}

impl Page<'_, '_> {
    fn run(&mut self, content: &[u8], resources: &Dict, depth: usize) {
        let mut lexer = Lexer::new(content, 0, OPERANDS_MAX);
        let mut operands: Vec<Object> = Vec::new();
        while let Some(token) = lexer.token() {
            match token {
                Token::Object(object) => operands.push(object),
                Token::Word(b"ID") => {
                    let end = image_end(lexer.rest());
                    lexer.skip_to(lexer.at() + end);
                    operands.clear();
                    lexer.grant(OPERANDS_MAX);
                }
                Token::Word(word) => {
                    if self.lines.is_full() || self.file.is_spent() {
                        return;
                    }
                    self.operate(word, &operands, resources, depth);
                    operands.clear();
                    lexer.grant(OPERANDS_MAX);
                }
                Token::ArrayEnd | Token::DictEnd => {}
            }
        }
    }

    fn operate(&mut self, word: &[u8], operands: &[Object], resources: &Dict, depth: usize) {
        let number = |at: usize| operands.get(at).and_then(Object::number).unwrap_or(0.0);
        match word {
            b"q" if self.saved.len() < STATES_MAX => self.saved.push(self.state.clone()),
            b"Q" => {
                if let Some(state) = self.saved.pop() {
                    self.state = state;
                }
            }
            b"cm" => {
                if let Some(matrix) = Matrix::of(operands) {
                    self.state.matrix = matrix.then(self.state.matrix);
                }
            }
            b"BT" => self.place(Matrix::IDENTITY),
            b"Tf" => self.set_font(operands, resources),
            b"Tc" => self.state.character_space = number(0),
            b"Tw" => self.state.word_space = number(0),
            b"Tz" => self.state.scale = number(0) / 100.0,
            b"TL" => self.state.leading = number(0),
            b"Ts" => self.state.rise = number(0),
            b"Td" => self.place(self.line.moved(number(0), number(1))),
            b"TD" => {
                self.state.leading = -number(1);
                self.place(self.line.moved(number(0), number(1)));
            }
            b"Tm" => {
                if let Some(matrix) = Matrix::of(operands) {
                    self.place(matrix);
                }
            }
            b"T*" => self.next_line(),
            b"Tj" => self.show(operands.last()),
            b"'" => {
                self.next_line();
                self.show(operands.last());
            }
            b"\"" => {
                self.state.word_space = number(0);
                self.state.character_space = number(1);
                self.next_line();
                self.show(operands.last());
            }
            b"TJ" => self.show_all(operands.last()),
            b"BMC" => self.mark(Mark::Nothing),
            b"BDC" => {
                let mark = self.properties_mark(operands, resources);
                self.mark(mark);
            }
            b"EMC" => {
                self.marks.pop();
            }
            b"Do" if depth < FORMS_DEPTH_MAX => self.form(operands, resources, depth),
            _ => {}
        }
    }

    fn place(&mut self, matrix: Matrix) {
        self.text = matrix;
        self.line = matrix;
    }

    fn next_line(&mut self) {
        self.place(self.line.moved(0.0, -self.state.leading));
    }

    fn set_font(&mut self, operands: &[Object], resources: &Dict) {
        let [.., Object::Name(name), Object::Number(size)] = operands else {
            return;
        };
        self.state.size = *size;
        let fonts = self.file.dict(resources.get(b"Font".as_slice()));
        let Some(font) = fonts.as_ref().and_then(|fonts| fonts.get(name)) else {
            return;
        };
        let number = match font {
            Object::Reference(number) => Some(*number),
            _ => None,
        };
        if let Some(known) = number.and_then(|number| self.fonts.0.get(&number)) {
            self.state.font = known.clone();
            return;
        }
        let Some(dict) = self.file.dict(Some(font)) else {
            return;
        };
        let font = Rc::new(Font::read(self.file, &dict));
        if let Some(number) = number {
            self.fonts.0.insert(number, font.clone());
        }
        self.state.font = font;
    }

    fn show_all(&mut self, operand: Option<&Object>) {
        let Some(Object::Array(elements)) = operand else {
            return;
        };
        for element in elements.iter() {
            match element {
                Object::Number(back) => {
                    let x = -back / 1000.0 * self.state.size * self.state.scale;
                    self.text = self.text.moved(x, 0.0);
                }
                text => self.show(Some(text)),
            }
        }
    }

    fn show(&mut self, operand: Option<&Object>) {
        let Some(Object::Text(text)) = operand else {
            return;
        };
        let font = self.state.font.clone();
        font.each(text, |shown, step| self.glyph(shown, step));
    }

    fn glyph(&mut self, shown: &str, step: Step) {
        let state = &self.state;
        let words = if step.is_space { state.word_space } else { 0.0 };
        let width = step.width / 1000.0 * state.size * state.scale;
        let advance = width + (state.character_space + words) * state.scale;
        let matrix = self.text.then(state.matrix);
        let (size, rise) = (state.size, state.rise);
        self.text = self.text.moved(advance, 0.0);
        if !step.is_known {
            self.unknown += 1;
        }
        let said;
        let shown = match self.marks.last_mut() {
            Some(Mark::Left) => return,
            Some(Mark::Said(text)) => {
                said = text.take().unwrap_or_default();
                said.as_str()
            }
            _ => shown,
        };
        let [a, b, c, d, _, _] = matrix.0;
        let Matrix([_, _, _, _, x, y]) = matrix.moved(0.0, rise);
        let size = size.abs() * c.hypot(d);
        if self.sheet.is_some_and(|sheet| !sheet.shows(x, y, size)) {
            return;
        }
        self.lines.push(&Glyph {
            text: shown,
            x,
            y,
            direction: (a, b),
            width: width * a.hypot(b),
            size,
            is_fixed: self.state.font.is_fixed,
        });
    }

    fn mark(&mut self, mark: Mark) {
        // What stands in marked text that is left or said otherwise shares its fate.
        let inherits = matches!(self.marks.last(), Some(Mark::Left | Mark::Said(_)));
        if self.marks.len() < MARKS_MAX {
            self.marks.push(match self.marks.last() {
                Some(Mark::Left) => Mark::Left,
                _ if inherits => Mark::Said(None),
                _ => mark,
            });
        }
    }

    fn properties_mark(&self, operands: &[Object], resources: &Dict) -> Mark {
        let properties = match operands.last() {
            Some(Object::Name(name)) => {
                let listed = self.file.dict(resources.get(b"Properties".as_slice()));
                listed.and_then(|listed| self.file.dict(listed.get(name)))
            }
            other => self.file.dict(other),
        };
        let Some(properties) = properties else {
            return Mark::Nothing;
        };
        let is_artifact = operands.first().and_then(Object::name) == Some(b"Artifact");
        match self.file.member(&properties, "Type") {
            Some(Object::Name(kind)) if is_artifact && kind == b"Pagination" => Mark::Left,
            _ => match self.file.member(&properties, "ActualText") {
                Some(Object::Text(text)) => Mark::Said(Some(super::info::text(&text))),
                _ => Mark::Nothing,
            },
        }
    }

    fn form(&mut self, operands: &[Object], resources: &Dict, depth: usize) {
        let Some(Object::Name(name)) = operands.last() else {
            return;
        };
        let forms = self.file.dict(resources.get(b"XObject".as_slice()));
        let Some(reference) = forms.as_ref().and_then(|forms| forms.get(name)) else {
            return;
        };
        let Some(dict) = self.file.dict(Some(reference)) else {
            return;
        };
        let kind = self.file.member(&dict, "Subtype");
        if !matches!(kind, Some(Object::Name(kind)) if kind == b"Form") {
            return;
        }
        let Some((_, content)) = self.file.stream(reference) else {
            return;
        };
        let own = self.file.dict(dict.get(b"Resources".as_slice()));
        let matrix = self.file.array(dict.get(b"Matrix".as_slice()));
        let before = (self.state.clone(), self.text, self.line);
        let saved = std::mem::take(&mut self.saved);
        let marks = self.marks.len();
        if let Some(matrix) = matrix.and_then(|numbers| Matrix::of(&numbers)) {
            self.state.matrix = matrix.then(self.state.matrix);
        }
        self.run(&content, own.as_deref().unwrap_or(resources), depth + 1);
        self.saved = saved;
        self.marks.truncate(marks);
        (self.state, self.text, self.line) = before;
    }
}

/// How long the data of an inline image is, with the `EI` behind it.
fn image_end(data: &[u8]) -> usize {
    let is_end = |window: &[u8]| {
        is_space(window[0]) && &window[1..3] == b"EI" && window.get(3).is_none_or(|b| is_space(*b))
    };
    let inside = data.windows(4).position(is_end);
    inside.map_or(data.len(), |at| at + 3)
}
