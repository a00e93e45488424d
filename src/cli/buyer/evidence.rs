//! `context402 evidence`: checks evidence locally, without payment.

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::cli::buyer::{convert, input, jsonl};
use crate::cli::progress::Progress;
use crate::cli::{Failure, put, say};
use crate::domain::figures::label_words;
use crate::domain::purchase::DEFAULT_QUESTION;
use crate::evidence::{
    AnswerType, Check, Depth, Examiner, Finding, Model, NoteKind, QuestionKind, Reading, Source,
    feature_names, plain, signal_names,
};
use crate::markdown::Page;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    /// A page or text file, an http or https address, or - for standard input
    #[arg(default_value = "-")]
    input: String,
    /// The question or claim; by default "What does this source establish?"
    #[arg(long, value_name = "Q", conflicts_with = "jsonl", value_parser = question)]
    question: Option<String>,
    /// How thoroughly to check: quick compares words only, standard adds the entailment model, deep reads more passages
    #[arg(long, value_name = "DEPTH", default_value = Depth::Standard.name(), value_parser = depth)]
    depth: Depth,
    /// Write JSON: label, findings with matched and missing terms, notes
    #[arg(long, conflicts_with = "jsonl")]
    json: bool,
    /// Read {"id","kind","query","title","sentences","document_text"} per line and write {"id","decision",…} per line,
    /// in order
    #[arg(long)]
    jsonl: bool,
    /// Use this model instead of the built-in one
    #[arg(long, value_name = "FILE", requires = "jsonl", hide = true)]
    model: Vec<PathBuf>,
    /// Write training data for data/evidence/train.py instead of the result
    #[arg(long, requires = "jsonl", hide = true)]
    training: bool,
    /// Threads for --jsonl; all cores by default
    #[arg(long, value_name = "N", requires = "jsonl", value_parser = jsonl::threads())]
    threads: Option<u16>,
}

fn question(text: &str) -> Result<String, String> {
    match text.trim().is_empty() {
        true => Err("write a question or a claim".to_owned()),
        false => Ok(text.to_owned()),
    }
}

pub(in crate::cli) fn depth(word: &str) -> Result<Depth, String> {
    let all = || {
        Depth::ALL
            .iter()
            .map(|depth| depth.name())
            .collect::<Vec<_>>()
    };
    Depth::parse(word).ok_or_else(|| format!("one of {}", all().join(", ")))
}

impl Args {
    pub(in crate::cli) fn run(self) -> Result<(), Failure> {
        if self.jsonl {
            let models = self.models()?;
            return jsonl::run(&self.input, self.threads, |line| self.line(line, &models));
        }
        let page = self.page()?;
        let source = Source::of_page(&page);
        let question = self.question.as_deref().unwrap_or(DEFAULT_QUESTION);
        let progress = Progress::start("Reading the page for evidence");
        let check = Examiner::new(&source)
            .at(self.depth)
            .check(question, Reading::Guess);
        drop(progress);
        if self.json {
            say(serde_json::to_string_pretty(&members(source.text, &check))?)?;
        } else {
            put(report(source.text, &check).as_bytes())?;
        }
        Ok(())
    }

    fn page(&self) -> Result<Page, Failure> {
        let name = &self.input;
        if convert::is_address(name) {
            let (converted, _) = convert::fetched(name, false, Default::default())?;
            return Ok(converted.page);
        }
        let (bytes, url) = (input::bytes(name)?, convert::placeholder());
        let converted = convert::convert(&bytes, name, url, convert::Kept::Content);
        Ok(converted
            .map_err(|error| input::unusable(name, &error))?
            .page)
    }

    fn models(&self) -> Result<Vec<Model>, Failure> {
        let read = |path: &PathBuf| {
            let named =
                |error: &dyn fmt::Display| Failure::Failed(format!("{}: {error}", path.display()));
            let text = std::fs::read_to_string(path).map_err(|error| named(&error))?;
            Model::read(&text).map_err(|error| named(&error))
        };
        self.model.iter().map(read).collect()
    }

    /// A failed line reports its error; the others continue.
    fn line(&self, line: &str, models: &[Model]) -> String {
        let job: Line = match serde_json::from_str(line) {
            Ok(job) => job,
            Err(error) => {
                let error = format!("not a line of {{id, kind, query, document_text}}: {error}");
                return json!({"id": null, "error": error}).to_string();
            }
        };
        let text = match (&job.document_text, &job.sentences) {
            (Some(text), _) => text.clone(),
            (None, Some(sentences)) => sentences.join("\n"),
            (None, None) => {
                let error = "neither document_text nor sentences are given";
                return json!({"id": job.id, "error": error}).to_string();
            }
        };
        let source = Source {
            title: job.title.as_deref(),
            language: job.language.as_deref(),
            text: &text,
        };
        let sentences = job
            .sentences
            .as_deref()
            .and_then(|list| places(&text, list));
        let mut examined = match sentences {
            Some(sentences) => Examiner::of_sentences(&source, &sentences),
            None => Examiner::new(&source),
        }
        .at(job.depth.unwrap_or(self.depth));
        if self.training && job.signals {
            let names = signal_names();
            let signals = examined.signals(&job.query, job.reading());
            return json!({"id": job.id, "names": names, "signals": signals}).to_string();
        }
        if self.training && job.names {
            let (names, rank_names) = feature_names();
            return json!({"names": names, "rank_names": rank_names}).to_string();
        }
        if self.training {
            return training(&examined, &job, models).to_string();
        }
        if let Some(model) = models.first() {
            examined.set_model(model);
        }
        let mut answer = members(&text, &examined.check(&job.query, job.reading()));
        answer["id"] = job.id;
        answer.to_string()
    }
}

#[derive(Deserialize)]
struct Line {
    id: Value,
    kind: Option<String>,
    query: String,
    title: Option<String>,
    language: Option<String>,
    sentences: Option<Vec<String>>,
    document_text: Option<String>,
    /// As `--depth` says by default.
    depth: Option<Depth>,
    /// Requests what the labels are fitted to instead.
    #[serde(default)]
    signals: bool,
    /// Requests the names of the features instead.
    #[serde(default)]
    names: bool,
}

impl Line {
    fn reading(&self) -> Reading {
        match self.kind.as_deref() {
            Some("claim") => Reading::Claim,
            Some("question") => Reading::Question,
            _ => Reading::Guess,
        }
    }
}

/// The positions of the sentences in the text, if it has all of them in this order.
fn places(text: &str, sentences: &[String]) -> Option<Vec<Range<usize>>> {
    let mut at = 0;
    let mut found = Vec::with_capacity(sentences.len());
    for sentence in sentences {
        let start = at + text[at..].find(sentence.as_str())?;
        at = start + sentence.len();
        found.push(start..at);
    }
    Some(found)
}

/// The features of a question's candidates; with models, the features of their decisions.
fn training(examined: &Examiner<'_>, job: &Line, models: &[Model]) -> Value {
    let row = examined.training_row(&job.query, job.reading(), models);
    if models.is_empty() {
        return json!({"id": job.id, "units": row.units, "features": packed(&row.features)});
    }
    let decisive: Vec<String> = row.decisive.iter().map(|values| packed(values)).collect();
    json!({"id": job.id, "gate": row.gate, "decisive": decisive})
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "training reads single precision"
)]
fn packed(values: &[f64]) -> String {
    let bytes: Vec<u8> = values
        .iter()
        .flat_map(|value| (*value as f32).to_le_bytes())
        .collect();
    BASE64.encode(bytes)
}

/// Counts the code points before a byte, for positions in any order.
fn code_points(text: &str, byte: usize) -> usize {
    text[..byte].chars().count()
}

fn members(text: &str, check: &Check) -> Value {
    let citation = |finding: &Finding| {
        json!({
            "start": code_points(text, finding.range.start),
            "end": code_points(text, finding.range.end),
            "text": &text[finding.range.clone()],
            "context": finding.context.clone().map(|range| &text[range]),
            "heading_path": finding.heading_path,
            "match": finding.matching.name(),
            "stance": finding.stance.name(),
            "matched": finding.matched,
            "missing": finding.missing,
            "score": finding.score,
        })
    };
    let citations: Vec<Value> = check.findings.iter().map(citation).collect();
    let claims: Vec<Value> = check
        .claims
        .iter()
        .map(|claim| {
            json!({
                "text": claim.text,
                "decision": claim.label.name(),
                "support_score": claim.support_score,
                "citations": claim.findings,
            })
        })
        .collect();
    let notes: Vec<Value> = check
        .notes
        .iter()
        .map(|note| json!({"note": note_name(note.kind), "citation": note.finding}))
        .collect();
    let answer = check.findings.first().map(|best| &text[best.range.clone()]);
    json!({
        "id": null,
        "kind": kind_name(check.kind),
        "decision": check.label.name(),
        "confidence": check.confidence,
        "support_score": check.support_score,
        "answer": answer,
        "citations": citations,
        "claims": claims,
        "missing": check.missing,
        "notes": notes,
    })
}

/// For a terminal.
fn report(text: &str, check: &Check) -> String {
    let mut lines = vec![format!(
        "{} (confidence {:.0} %, support {:.0} %)",
        label_words(check.label.name()),
        100.0 * check.confidence,
        100.0 * check.support_score
    )];
    for finding in &check.findings {
        let (start, end) = (
            code_points(text, finding.range.start),
            code_points(text, finding.range.end),
        );
        let matching = finding.matching.name();
        let stance = finding.stance.name();
        lines.push(format!(
            "\n[{start}..{end}] {stance}, {matching}: {}",
            plain(&text[finding.range.clone()])
        ));
        if !finding.missing.is_empty() {
            lines.push(format!("  missing: {}", finding.missing.join(", ")));
        }
    }
    for note in &check.notes {
        lines.push(format!(
            "\nnote: {}",
            note_name(note.kind).replace('_', " ")
        ));
    }
    lines.join("\n") + "\n"
}

fn note_name(note: NoteKind) -> &'static str {
    match note {
        NoteKind::NumberMismatch => "number_mismatch",
        NoteKind::PossibleContradiction => "possible_contradiction",
        NoteKind::Inconsistent => "inconsistent",
        NoteKind::Hedged => "hedged",
        NoteKind::Conditional => "conditional",
        NoteKind::WeakLanguage => "weak_language",
        NoteKind::Truncated => "truncated",
        NoteKind::AgentInstructions => "agent_instructions",
    }
}

fn kind_name(kind: QuestionKind) -> &'static str {
    match kind {
        QuestionKind::Claim => "claim",
        QuestionKind::YesNo => "yes_no",
        QuestionKind::Open => "open",
        QuestionKind::Wh(asked) => match asked {
            AnswerType::Person => "who",
            AnswerType::Time => "when",
            AnswerType::Number => "number",
            AnswerType::Place => "where",
            AnswerType::Reason => "why",
            AnswerType::Manner => "how",
            AnswerType::Thing => "what",
        },
    }
}
