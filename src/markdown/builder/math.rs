//! Formulas as TeX, from what the usual renderers leave in a page: annotations and alternative texts of MathML, data
//! attributes, scripts. MathML that names no TeX is written as TeX (`mathml`), or as text where it has no more structure than
//! that. What the renderers draw is left out.

use super::mathml::Element;
use super::{Builder, Effect};
use crate::markdown::attributes::{Attributes, Names};
use crate::markdown::tag::Tag;

/// MathML with more text and elements than this becomes plain text.
const SIZE_MAX: usize = 8_192;
/// What an element counts.
const ELEMENT_SIZE: usize = 8;

#[derive(Debug, Default)]
pub(super) struct Math {
    /// The open `<math>`.
    open: Option<Formula>,
    /// The next `<math>` of this block stands on a line of its own.
    displays_next: bool,
    /// The text of an open script that holds TeX.
    script: Option<Formula>,
    /// Where the last formula ended.
    end: Option<usize>,
}

#[derive(Debug, Default)]
struct Formula {
    is_display: bool,
    /// What stands for the formula where it can't be shown.
    alternative: String,
    tex: String,
    /// The formula as a line of text.
    line: String,
    /// Of its text and elements.
    size: usize,
    whole: Element,
    parts: Vec<Part>,
}

/// An open element of a formula.
#[derive(Debug)]
enum Part {
    Annotation,
    Element(Element),
}

impl Formula {
    fn innermost(&mut self) -> &mut Element {
        let parts = self.parts.iter_mut().rev();
        let mut elements = parts.filter_map(|part| match part {
            Part::Element(element) => Some(element),
            Part::Annotation => None,
        });
        elements.next().unwrap_or(&mut self.whole)
    }

    fn end_part(&mut self) {
        if let Some(Part::Element(element)) = self.parts.pop()
            && self.size <= SIZE_MAX
        {
            self.innermost().push(element.end());
        }
    }
}

static IMAGES: Names = Names::new(&[
    "mwe-math-fallback-image",
    "mwe-math-fallback-image-display",
    "mwe-math-fallback-image-inline",
]);

static DISPLAYED_IMAGES: Names = Names::new(&["mwe-math-fallback-image-display"]);

impl Builder {
    /// What an inline element has to do with a formula, if anything.
    pub(super) fn begin_math(&mut self, tag: Tag, attributes: &Attributes<'_>) -> Option<Effect> {
        if self.math.open.is_some() {
            return Some(self.begin_part(tag, attributes));
        }
        match tag {
            Tag::Math => {
                let display = attributes.get("display").unwrap_or_default();
                let given = ["data-latex", "alttext"]
                    .iter()
                    .find_map(|name| attributes.get(name));
                let displays = std::mem::take(&mut self.math.displays_next);
                self.math.open = Some(Formula {
                    is_display: displays || matches!(&*display, "block" | "true"),
                    alternative: given.unwrap_or_default().into_owned(),
                    ..Formula::default()
                });
                Some(Effect::Math)
            }
            Tag::MathContainer => {
                let display = attributes.get("display").unwrap_or_default();
                if let Some(tex) = attributes.get("data-latex") {
                    self.formula(&tex, display == "true");
                    return Some(Effect::Skip);
                }
                Some(Effect::None)
            }
            Tag::MathDrawing => Some(Effect::Skip),
            Tag::Inline => {
                let class = attributes.get("class")?;
                let is_drawn = class.split_ascii_whitespace().any(|token| match token {
                    "katex-display" => {
                        self.math.displays_next = true;
                        false
                    }
                    _ => is_drawing(token),
                });
                is_drawn.then_some(Effect::Skip)
            }
            _ => None,
        }
    }

    pub(super) fn is_in_formula(&self) -> bool {
        self.math.open.is_some()
    }

    /// A block ends the formula around it, whose own end tag is missing.
    pub(super) fn end_formula(&mut self) {
        self.math.displays_next = false;
        if self.is_in_formula()
            && let Some(at) = self.innermost(|open| open.effect == Effect::Math, |_| false)
        {
            self.close_down_to(at);
        }
    }

    fn begin_part(&mut self, tag: Tag, attributes: &Attributes<'_>) -> Effect {
        let Some(formula) = &mut self.math.open else {
            return Effect::None;
        };
        if tag == Tag::MathAnnotation {
            let encoding = attributes.get("encoding").unwrap_or_default();
            if !encoding.to_ascii_lowercase().contains("tex") {
                return Effect::Skip;
            }
        }
        formula.size += ELEMENT_SIZE;
        let part = match tag {
            Tag::MathAnnotation => Part::Annotation,
            Tag::MathPart(kind) => Part::Element(Element::new(Some(kind), attributes)),
            _ => Part::Element(Element::default()),
        };
        formula.parts.push(part);
        Effect::MathPart
    }

    pub(super) fn end_part(&mut self) {
        if let Some(formula) = &mut self.math.open {
            formula.end_part();
        }
    }

    /// Whether the text belongs to a formula.
    pub(super) fn math_text(&mut self, text: &str) -> bool {
        let Some(formula) = &mut self.math.open else {
            return false;
        };
        if matches!(formula.parts.last(), Some(Part::Annotation)) {
            formula.tex.push_str(text);
            return true;
        }
        let visible = |c: &char| !matches!(c, '\u{2061}'..='\u{2064}');
        formula.line.extend(text.trim().chars().filter(visible));
        formula.size += text.trim().len();
        if formula.size <= SIZE_MAX {
            formula.innermost().text(text);
        }
        true
    }

    pub(super) fn end_math(&mut self) {
        let Some(mut formula) = self.math.open.take() else {
            return;
        };
        let is_display = formula.is_display;
        if !formula.tex.trim().is_empty() {
            self.formula(&formula.tex, is_display);
            return;
        }
        if formula.alternative.contains(['\\', '^', '_', '{']) || formula.line.is_empty() {
            self.formula(&formula.alternative, is_display);
            return;
        }
        while !formula.parts.is_empty() {
            formula.end_part();
        }
        let tex = match formula.size <= SIZE_MAX {
            true => formula.whole.end().tex(),
            false => String::new(),
        };
        match tex.contains(['^', '_', '{']) {
            true => self.formula(&tex, is_display),
            false => self.writer.text(&formula.line),
        }
    }

    /// An image of a formula, unless its MathML was just read.
    pub(super) fn image_of_math(&mut self, attributes: &Attributes<'_>) -> bool {
        if !attributes.has_class(&IMAGES) {
            return false;
        }
        let Some(tex) = attributes.get("alt").filter(|alt| !alt.trim().is_empty()) else {
            return false;
        };
        if self.math.end != Some(self.writer.position().0) {
            let is_display = attributes.has_class(&DISPLAYED_IMAGES);
            self.formula(&tex, is_display);
        }
        true
    }

    pub(super) fn begin_math_script(&mut self, attributes: &Attributes<'_>) {
        let kind = attributes.get("type").unwrap_or_default();
        self.math.script = kind.starts_with("math/tex").then(|| Formula {
            is_display: kind.contains("mode=display"),
            ..Formula::default()
        });
    }

    pub(super) fn math_script_text(&mut self, text: &str) {
        if let Some(formula) = &mut self.math.script {
            formula.tex.push_str(text);
        }
    }

    pub(super) fn end_math_script(&mut self) {
        if let Some(formula) = self.math.script.take() {
            let tex = formula.tex.trim();
            let tex = tex
                .trim_start_matches("% <![CDATA[")
                .trim_end_matches("%]]>");
            self.formula(tex, formula.is_display);
        }
    }

    fn formula(&mut self, tex: &str, is_display: bool) {
        let stands_alone = is_display && self.tables.is_empty() && !tex.trim().is_empty();
        if stands_alone && self.preformatted.is_none() {
            self.cut(false);
        }
        self.formula_in_text(tex, is_display);
        if stands_alone && self.preformatted.is_none() {
            self.cut(false);
        }
    }

    /// A formula within its paragraph.
    pub(super) fn formula_in_text(&mut self, tex: &str, is_display: bool) {
        let mut tex = in_one_line(tex);
        if !self.tables.is_empty() && tex.contains('|') {
            // A pipe would part the row, and a backslash before it can't be escaped.
            tex = tex.replace("\\|", "\\Vert ").replace('|', "\\vert ");
        }
        if tex.is_empty() || self.preformatted.is_some() {
            return;
        }
        let fence = if is_display { "$$" } else { "$" };
        self.writer.verbatim(&format!("{fence}{tex}{fence}"));
        self.math.end = Some(self.writer.position().0);
    }
}

/// Whether an element of this class draws a formula that is given in another way beside it.
fn is_drawing(class: &str) -> bool {
    matches!(
        class,
        "katex-html" | "MathJax" | "MathJax_CHTML" | "MathJax_Preview" | "MathJax_SVG"
    )
}

/// TeX on one line, in which `<` can't begin a tag and `](` no link's address.
fn in_one_line(tex: &str) -> String {
    let tex = tex.trim();
    let inside = tex
        .strip_prefix("{\\displaystyle")
        .and_then(|rest| rest.strip_suffix('}'));
    let mut out = String::with_capacity(tex.len());
    for word in inside.unwrap_or(tex).split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        for c in word.chars() {
            let begins_markup = c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?');
            if (begins_markup && out.ends_with('<')) || (c == '(' && out.ends_with(']')) {
                out.push(' ');
            }
            out.push(c);
        }
    }
    out
}
