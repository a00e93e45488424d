//! MathML as TeX: fractions, binomials, roots, scripts, sums, accents, matrices and cases. Knows the elements of a
//! formula and their text; nothing of how they are read or of TeX that a page gives itself.

use crate::markdown::attributes::Attributes;
use crate::markdown::tag::MathKind;

/// A part of a formula.
#[derive(Debug, Default)]
pub(super) struct Piece {
    tex: String,
    form: Form,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Form {
    #[default]
    Plain,
    /// A sign whose scripts are its limits.
    Operator,
    /// Two arguments, one above the other without a line between them.
    Stack,
    /// The rows of a table. The signs around it say what it is.
    Rows,
}

/// An open element of a formula, or the formula itself.
#[derive(Debug, Default)]
pub(super) struct Element {
    /// `None` of one that only groups.
    kind: Option<MathKind>,
    /// Of a fraction: it is written without a line.
    is_stack: bool,
    /// Of parentheses: the signs before, behind and between the parts.
    fences: [String; 3],
    pieces: Vec<Piece>,
}

impl Element {
    pub(super) fn new(kind: Option<MathKind>, attributes: &Attributes<'_>) -> Element {
        let is_zero =
            |value: &str| value.starts_with('0') && !value.contains(|c| ('1'..='9').contains(&c));
        let mut element = Element {
            kind,
            ..Element::default()
        };
        match kind {
            Some(MathKind::Fraction) => {
                let thickness = attributes.get("linethickness");
                element.is_stack = thickness.is_some_and(|value| is_zero(value.trim()));
            }
            Some(MathKind::Fenced) => {
                let said = [("open", "("), ("close", ")"), ("separators", ",")];
                element.fences = said.map(|(name, usual)| {
                    let sign = attributes.get(name).unwrap_or(usual.into());
                    sign.trim().chars().take(4).collect()
                });
            }
            _ => {}
        }
        element
    }

    /// Text directly in the element.
    pub(super) fn text(&mut self, text: &str) {
        let trimmed = text.trim_matches(|c: char| c.is_ascii_whitespace());
        let text = match self.kind {
            Some(MathKind::Text) => text,
            _ => trimmed,
        };
        if !trimmed.is_empty() {
            self.pieces.push(token(self.kind, text));
        }
    }

    /// An element in it has ended.
    pub(super) fn push(&mut self, piece: Piece) {
        self.pieces.push(piece);
    }

    pub(super) fn end(self) -> Piece {
        let Element {
            kind,
            is_stack,
            fences,
            pieces,
        } = self;
        let Some(kind) = kind else {
            return row(pieces);
        };
        match (kind, pieces.len()) {
            (MathKind::Unseen, _) => Piece::default(),
            (MathKind::Fraction, 2) => fraction(pieces, is_stack),
            (MathKind::SquareRoot, _) => plain(format!("\\sqrt{{{}}}", row(pieces).tex())),
            (MathKind::Root, 2) => {
                let [base, index] = texts(pieces);
                plain(format!("\\sqrt[{index}]{{{base}}}"))
            }
            (MathKind::Superscript | MathKind::Subscript | MathKind::Scripts, 2 | 3) => {
                let marks = match kind {
                    MathKind::Superscript => "^",
                    MathKind::Subscript => "_",
                    _ => "_^",
                };
                scripts(pieces, marks)
            }
            (MathKind::Over, 2) => beside(pieces, true),
            (MathKind::Under, 2) => beside(pieces, false),
            (MathKind::UnderOver, 3) if pieces[0].form == Form::Operator => scripts(pieces, "_^"),
            (MathKind::UnderOver, 3) => {
                let [base, under, over] = texts(pieces);
                plain(format!(
                    "\\underset{{{under}}}{{\\overset{{{over}}}{{{base}}}}}"
                ))
            }
            (MathKind::Fenced, _) => fenced(pieces, fences),
            (MathKind::Row, _) => plain(joined(pieces, " & ")),
            (MathKind::Table, _) => {
                let is_table = pieces.len() > 1 || pieces.iter().any(|row| row.tex.contains(" & "));
                Piece {
                    tex: joined(pieces, " \\\\ "),
                    form: match is_table {
                        true => Form::Rows,
                        false => Form::Plain,
                    },
                }
            }
            _ => row(pieces),
        }
    }
}

impl Piece {
    /// As it is written where nothing around it changes its meaning.
    pub(super) fn tex(self) -> String {
        match self.form {
            Form::Plain | Form::Operator => self.tex,
            Form::Stack => format!("\\genfrac{{}}{{}}{{0pt}}{{}}{}", self.tex),
            Form::Rows => environment("matrix", &self.tex),
        }
    }
}

fn plain(tex: String) -> Piece {
    Piece {
        tex,
        form: Form::Plain,
    }
}

fn environment(name: &str, rows: &str) -> String {
    format!("\\begin{{{name}}} {rows} \\end{{{name}}}")
}

fn texts<const N: usize>(pieces: Vec<Piece>) -> [String; N] {
    let mut pieces = pieces.into_iter();
    std::array::from_fn(|_| pieces.next().unwrap_or_default().tex())
}

fn joined(pieces: Vec<Piece>, between: &str) -> String {
    let texts: Vec<String> = pieces.into_iter().map(Piece::tex).collect();
    texts.join(between)
}

fn fraction(pieces: Vec<Piece>, is_stack: bool) -> Piece {
    let [upper, lower] = texts(pieces);
    let arguments = format!("{{{upper}}}{{{lower}}}");
    match is_stack {
        true => Piece {
            tex: arguments,
            form: Form::Stack,
        },
        false => plain(format!("\\frac{arguments}")),
    }
}

/// The first piece with the others above or below, as the marks say.
fn scripts(pieces: Vec<Piece>, marks: &str) -> Piece {
    if pieces.len() != marks.len() + 1 {
        return row(pieces);
    }
    let mut pieces = pieces.into_iter();
    let base = pieces.next().unwrap_or_default().tex();
    let mut tex = match is_unit(&base) {
        true => base,
        false => format!("{{{base}}}"),
    };
    for (mark, script) in marks.chars().zip(pieces) {
        let script = script.tex();
        if script.is_empty() {
            continue;
        }
        tex.push(mark);
        match script.len() {
            1 => tex.push_str(&script),
            _ => tex.push_str(&format!("{{{script}}}")),
        }
    }
    plain(tex)
}

/// Whether a script binds to all of it: one character or one command.
fn is_unit(tex: &str) -> bool {
    let mut chars = tex.chars();
    match chars.next() {
        Some('\\') => chars.all(|c| c.is_ascii_alphabetic()),
        Some(_) => chars.next().is_none(),
        None => false,
    }
}

/// What stands above or below something: a limit, an accent or anything else.
fn beside(pieces: Vec<Piece>, is_over: bool) -> Piece {
    if pieces[0].form == Form::Operator {
        return scripts(pieces, if is_over { "^" } else { "_" });
    }
    let [base, sign] = texts(pieces);
    let accent = match (is_over, sign.as_str()) {
        (true, "\\wedge" | "ˆ") => "hat",
        (true, "\\sim" | "˜") => "tilde",
        (true, "\\to" | "⃗") => "vec",
        (true, "¯" | "‾" | "―" | "-" | "\\_") => "overline",
        (true, "˙" | ".") => "dot",
        (true, "¨" | "..") => "ddot",
        (true, "ˇ") => "check",
        (true, "⏞") => "overbrace",
        (false, "\\_" | "‾" | "―" | "-" | "\u{332}") => "underline",
        (false, "⏟") => "underbrace",
        _ => {
            let set = if is_over { "overset" } else { "underset" };
            return plain(format!("\\{set}{{{sign}}}{{{base}}}"));
        }
    };
    plain(format!("\\{accent}{{{base}}}"))
}

fn fenced(pieces: Vec<Piece>, fences: [String; 3]) -> Piece {
    let [open, close, separators] = fences;
    let sign = |sign: &str| token(Some(MathKind::Operator), sign);
    let mut inside = vec![sign(&open)];
    let mut separators = separators.chars().filter(|c| !c.is_whitespace());
    let mut separator = None;
    for (at, piece) in pieces.into_iter().enumerate() {
        if at > 0 {
            separator = separators.next().or(separator);
            inside.extend(separator.map(|separator| sign(&separator.to_string())));
        }
        inside.push(piece);
    }
    inside.push(sign(&close));
    row(inside)
}

/// Pieces one after the other. What stands in parentheses of its own is named by them.
fn row(mut pieces: Vec<Piece>) -> Piece {
    pieces.retain(|piece| !piece.tex.is_empty());
    if pieces.len() == 1 {
        return pieces.remove(0);
    }
    let mut pieces = pieces.into_iter().peekable();
    let mut tex = String::new();
    while let Some(piece) = pieces.next() {
        let is_fence = piece.form == Form::Plain;
        let inside = pieces.next_if(|next| is_fence && is_named_by(next.form, &piece.tex));
        let Some(inside) = inside else {
            append(&mut tex, piece.tex());
            continue;
        };
        let close = pieces.peek().map_or("", |next| next.tex.as_str());
        let name = match (inside.form, piece.tex.as_str(), close) {
            (Form::Stack, "(", ")") => "binom",
            (Form::Rows, "(", ")") => "pmatrix",
            (Form::Rows, "[", "]") => "bmatrix",
            (Form::Rows, "\\{", "\\}") => "Bmatrix",
            (Form::Rows, "|", "|") => "vmatrix",
            (Form::Rows, "\\Vert", "\\Vert") => "Vmatrix",
            (Form::Rows, "\\{", _) => {
                append(&mut tex, environment("cases", &inside.tex));
                continue;
            }
            _ => {
                append(&mut tex, piece.tex);
                append(&mut tex, inside.tex());
                continue;
            }
        };
        pieces.next();
        let whole = match inside.form {
            Form::Stack => format!("\\binom{}", inside.tex),
            _ => environment(name, &inside.tex),
        };
        append(&mut tex, whole);
    }
    plain(tex)
}

fn is_named_by(form: Form, fence: &str) -> bool {
    match form {
        Form::Stack => fence == "(",
        Form::Rows => matches!(fence, "(" | "[" | "\\{" | "|" | "\\Vert"),
        Form::Plain | Form::Operator => false,
    }
}

/// A letter behind a command's name would become a part of it.
fn append(tex: &mut String, next: String) {
    if tex.is_empty() {
        *tex = next;
        return;
    }
    let name = tex.bytes().rev().take(24);
    let letters = name.take_while(u8::is_ascii_alphabetic).count();
    let ends_in_command = letters > 0 && tex[..tex.len() - letters].ends_with('\\');
    if ends_in_command && next.starts_with(|c: char| c.is_ascii_alphabetic()) {
        tex.push(' ');
    }
    tex.push_str(&next);
}

fn token(kind: Option<MathKind>, text: &str) -> Piece {
    let is_name = text.len() > 1 && text.bytes().all(|byte| byte.is_ascii_alphabetic());
    let mut tex = String::with_capacity(text.len());
    match kind {
        Some(MathKind::Text) => {
            tex.push_str("\\text{");
            tex.extend(
                text.chars()
                    .filter(|c| !matches!(c, '\\' | '{' | '}' | '$')),
            );
            tex.push('}');
        }
        _ if FUNCTIONS.contains(&text) => tex = format!("\\{text}"),
        Some(MathKind::Identifier) if is_name => tex = format!("\\mathrm{{{text}}}"),
        _ => {
            for c in text.chars() {
                let mut buffer = [0; 4];
                append(&mut tex, symbol(c, &mut buffer).to_owned());
            }
        }
    }
    let form = match LIMITS.contains(&tex.as_str()) {
        true => Form::Operator,
        false => Form::Plain,
    };
    Piece { tex, form }
}

/// Names that are commands.
const FUNCTIONS: [&str; 28] = [
    "arccos", "arcsin", "arctan", "arg", "cos", "cosh", "cot", "csc", "deg", "det", "dim", "exp",
    "gcd", "hom", "inf", "ker", "lim", "ln", "log", "max", "min", "sec", "sin", "sinh", "sup",
    "tan", "tanh", "Pr",
];

/// Signs and names whose scripts are limits.
const LIMITS: [&str; 21] = [
    "\\sum",
    "\\prod",
    "\\coprod",
    "\\int",
    "\\iint",
    "\\iiint",
    "\\oint",
    "\\bigcup",
    "\\bigcap",
    "\\bigvee",
    "\\bigwedge",
    "\\bigoplus",
    "\\bigotimes",
    "\\lim",
    "\\max",
    "\\min",
    "\\sup",
    "\\inf",
    "\\det",
    "\\gcd",
    "\\Pr",
];

/// A character as TeX writes it. What is not in here stays: renderers of today know most of Unicode.
fn symbol(c: char, buffer: &mut [u8; 4]) -> &str {
    match c {
        '\u{2061}'..='\u{2064}' => "",
        '\\' => "\\backslash",
        '{' => "\\{",
        '}' => "\\}",
        '%' => "\\%",
        '#' => "\\#",
        '&' => "\\&",
        '_' => "\\_",
        '$' => "\\$",
        '^' => "\\wedge",
        '~' | '∼' => "\\sim",
        '\u{a0}' | ' ' => "\\;",
        '\u{2212}' => "-",
        '\u{2032}' => "\\prime",
        '×' => "\\times",
        '·' | '⋅' => "\\cdot",
        '÷' => "\\div",
        '±' => "\\pm",
        '∓' => "\\mp",
        '≤' => "\\le",
        '≥' => "\\ge",
        '≠' => "\\ne",
        '≈' => "\\approx",
        '≡' => "\\equiv",
        '∝' => "\\propto",
        '∞' => "\\infty",
        '∂' => "\\partial",
        '∇' => "\\nabla",
        '∑' => "\\sum",
        '∏' => "\\prod",
        '∐' => "\\coprod",
        '∫' => "\\int",
        '∬' => "\\iint",
        '∭' => "\\iiint",
        '∮' => "\\oint",
        '⋃' => "\\bigcup",
        '⋂' => "\\bigcap",
        '⋁' => "\\bigvee",
        '⋀' => "\\bigwedge",
        '⨁' => "\\bigoplus",
        '⨂' => "\\bigotimes",
        '∪' => "\\cup",
        '∩' => "\\cap",
        '∈' => "\\in",
        '∉' => "\\notin",
        '⊂' => "\\subset",
        '⊆' => "\\subseteq",
        '∅' => "\\emptyset",
        '∀' => "\\forall",
        '∃' => "\\exists",
        '¬' => "\\neg",
        '∧' => "\\wedge",
        '∨' => "\\vee",
        '→' => "\\to",
        '⇒' => "\\Rightarrow",
        '⇔' => "\\Leftrightarrow",
        '↦' => "\\mapsto",
        '⊕' => "\\oplus",
        '⊗' => "\\otimes",
        '‖' | '∥' => "\\Vert",
        '⟨' | '〈' => "\\langle",
        '⟩' | '〉' => "\\rangle",
        '…' => "\\ldots",
        '⋯' => "\\cdots",
        '⋮' => "\\vdots",
        '⋱' => "\\ddots",
        'ℏ' => "\\hbar",
        'α' => "\\alpha",
        'β' => "\\beta",
        'γ' => "\\gamma",
        'δ' => "\\delta",
        'ε' | 'ϵ' => "\\epsilon",
        'ζ' => "\\zeta",
        'η' => "\\eta",
        'θ' => "\\theta",
        'ι' => "\\iota",
        'κ' => "\\kappa",
        'λ' => "\\lambda",
        'μ' | 'µ' => "\\mu",
        'ν' => "\\nu",
        'ξ' => "\\xi",
        'π' => "\\pi",
        'ρ' => "\\rho",
        'σ' => "\\sigma",
        'τ' => "\\tau",
        'υ' => "\\upsilon",
        'φ' | 'ϕ' => "\\phi",
        'χ' => "\\chi",
        'ψ' => "\\psi",
        'ω' => "\\omega",
        'Γ' => "\\Gamma",
        'Δ' => "\\Delta",
        'Θ' => "\\Theta",
        'Λ' => "\\Lambda",
        'Ξ' => "\\Xi",
        'Π' => "\\Pi",
        'Σ' => "\\Sigma",
        'Φ' => "\\Phi",
        'Ψ' => "\\Psi",
        'Ω' => "\\Omega",
        c => c.encode_utf8(buffer),
    }
}
