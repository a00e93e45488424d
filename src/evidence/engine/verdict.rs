//! From features to a label: ranks the candidates of one question or claim, estimates whether the page settles it, and
//! lets what speaks against it lower the label. Knows no findings as a buyer sees them.

use super::features::{Candidate, Features, candidates};
use super::matching::Matching;
use super::model::Model;
use super::question::{Asked, Question};
use super::summary::decisive;
use crate::evidence::reading::page::Page;
use crate::evidence::{Label, TrainingRow};
use crate::markdown::PassageKind;

/// From this probability on, a question is settled, or half so.
const SUPPORTED: f64 = 0.65;
const PARTIALLY_SUPPORTED: f64 = 0.5;
/// From this coverage on, the page is at least about it.
const TOPICAL: f64 = 0.35;
/// What a claim must have in a unit, with what stands above it and by itself.
const CLAIM_ABOVE: f64 = 0.8;
const CLAIM_HERE: f64 = 0.7;
const CLAIM_PARTLY: f64 = 0.6;
/// Nearly word for word: what differs then is what is denied.
const VERBATIM: f64 = 0.85;
const VERBATIM_RUN: f64 = 0.3;
/// A heading names what stands under it, and seldom says it. A question says nothing.
const HEADING_PENALTY: f64 = 1.5;
const QUESTION_PENALTY: f64 = 4.0;
/// The header of a table and the lead-in of a list announce.
const HEADER_PENALTY: f64 = 2.0;
const LEAD_IN_PENALTY: f64 = 0.4;
/// The sets that the model is fitted to ask for few prices.
const MONEY_WORTH: f64 = 0.7;
/// Below this probability not even the right kind of answer beside the right names helps.
const ANSWERED: f64 = 0.35;

pub(crate) struct Judge<'a> {
    pub(crate) page: &'a Page<'a>,
    pub(crate) model: &'a Model,
}

/// What speaks against a candidate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Doubts {
    pub(crate) number: bool,
    pub(crate) antonym: bool,
    pub(crate) ordinal: bool,
    pub(crate) negation: bool,
    pub(crate) direction: bool,
    /// A name or number of the question that it lacks.
    pub(crate) lacks_name: bool,
    pub(crate) lacks_number: bool,
    /// Another name in its place.
    pub(crate) other_name: bool,
}

impl Doubts {
    pub(crate) fn of(features: &Features, is_claim: bool) -> Doubts {
        let negated_from = if is_claim { 0.5 } else { 0.7 };
        Doubts {
            number: features.numconf > 0.0,
            antonym: features.antadj > 0.0,
            ordinal: features.ordconf > 0.0,
            negation: features.negd > 0.0 && features.cov_r >= negated_from,
            direction: is_claim && features.dr > 0.0,
            lacks_name: if is_claim {
                features.unname > 0.0
            } else {
                features.un_name > 0.0
            },
            lacks_number: features.un_num > 0.0,
            other_name: is_claim && features.entconf > 0.0,
        }
    }

    /// It may say the opposite.
    pub(crate) fn is_hard(&self) -> bool {
        self.number || self.antonym || self.ordinal || self.negation || self.direction
    }

    /// It may be about something else.
    pub(crate) fn is_soft(&self) -> bool {
        self.lacks_name || self.lacks_number || self.other_name
    }
}

/// A candidate with its rank.
#[derive(Debug)]
pub(crate) struct Ranked {
    pub(crate) candidate: Candidate,
    pub(crate) score: f64,
    pub(crate) doubts: Doubts,
}

/// What is thought of one question or claim.
#[derive(Debug)]
pub(crate) struct Judgement {
    pub(crate) asked: Asked,
    pub(crate) is_claim: bool,
    pub(crate) label: Label,
    /// P(the page settles it).
    pub(crate) support: f64,
    /// Best first.
    pub(crate) ranked: Vec<Ranked>,
    /// The question's terms as they are written, and whether each is worth naming when it is missing.
    pub(crate) terms: Vec<(String, bool)>,
    pub(crate) touched: usize,
    /// Another unit says something else than the best.
    pub(crate) disputed_by: Option<usize>,
}

impl Judge<'_> {
    pub(crate) fn judge(&self, text: &str, is_claim: bool) -> Judgement {
        let question = Question::new(text, is_claim, self.page.language);
        let matching = Matching::new(self.page, &question);
        let found = candidates(&matching);
        let order = self.order(&found, is_claim);
        let decisive = decisive(&matching, &found, &order);
        let gate = gate(&found);
        let likely = gate * self.model.decide(&decisive);
        // A yes-no question is a claim with its words turned round.
        let as_claim = is_claim || question.asked == Asked::YesNo;
        let mut judgement = Judgement {
            asked: question.asked,
            is_claim,
            label: Label::Unsupported,
            support: likely,
            ranked: self.ranked(found, &order, as_claim),
            terms: terms(&matching),
            touched: matching.touched,
            disputed_by: None,
        };
        let topical = judgement.most_coverage();
        if let Some(best) = judgement.ranked.first() {
            let f = best.candidate.features;
            if is_claim {
                judgement.support = claim_support(likely, &f, best.doubts);
            }
            let label = match as_claim {
                true => claim_label(&f, best.doubts, topical),
                false => question_label(likely, &f, best.doubts, topical),
            };
            judgement.label = self.lowered(label, best);
        }
        judgement.find_dispute();
        judgement
    }

    /// Candidates by their rank, with their scores.
    fn order(&self, found: &[Candidate], is_claim: bool) -> Vec<(usize, f64)> {
        let mut order: Vec<(usize, f64)> = found
            .iter()
            .map(|candidate| {
                let score = self.model.rank(&candidate.features);
                score - self.penalty(candidate)
            })
            .enumerate()
            .collect();
        let by_claim = |(at, score): (usize, f64)| 0.5 * score + 2.0 * found[at].features.bm_rel;
        let key = |entry: (usize, f64)| if is_claim { by_claim(entry) } else { entry.1 };
        order.sort_by(|one, other| key(*other).total_cmp(&key(*one)).then(one.0.cmp(&other.0)));
        order
    }

    fn penalty(&self, candidate: &Candidate) -> f64 {
        let text = self.page.unit_text(candidate.unit);
        let of_kind = match self.page.block(candidate.unit).kind {
            PassageKind::Heading => HEADING_PENALTY,
            PassageKind::Row if self.page.is_header(candidate.unit) => HEADER_PENALTY,
            _ => 0.0,
        };
        let of_end = match text.chars().last() {
            Some('?' | '？') => QUESTION_PENALTY,
            Some(':' | '：') => LEAD_IN_PENALTY,
            _ => 0.0,
        };
        of_kind + of_end - candidate.features.money * MONEY_WORTH
    }

    fn ranked(&self, found: Vec<Candidate>, order: &[(usize, f64)], is_claim: bool) -> Vec<Ranked> {
        let mut found: Vec<Option<Candidate>> = found.into_iter().map(Some).collect();
        let taken = order.iter().filter_map(|(at, score)| {
            let candidate = found[*at].take()?;
            let doubts = Doubts::of(&candidate.features, is_claim);
            Some(Ranked {
                candidate,
                score: *score,
                doubts,
            })
        });
        taken.collect()
    }

    /// What only may be so is not established; a question establishes nothing.
    fn lowered(&self, label: Label, best: &Ranked) -> Label {
        let text = self.page.unit_text(best.candidate.unit);
        let is_question = text.ends_with(['?', '？']);
        let is_heading = self.page.block(best.candidate.unit).kind == PassageKind::Heading;
        match label {
            Label::Supported if is_heading => Label::PartiallySupported,
            Label::PartiallySupported if is_heading && best.candidate.features.hasans == 0.0 => {
                Label::Weak
            }
            Label::Supported | Label::PartiallySupported if is_question => Label::Weak,
            Label::Supported if is_hedged(text) && best.candidate.features.hedgeq == 0.0 => {
                Label::PartiallySupported
            }
            label => label,
        }
    }

    /// What these models would decide by, beside what all are fitted to.
    pub(crate) fn training_row(&self, text: &str, is_claim: bool, models: &[Model]) -> TrainingRow {
        let question = Question::new(text, is_claim, self.page.language);
        let matching = Matching::new(self.page, &question);
        let found = candidates(&matching);
        let decided = models.iter().map(|model| {
            let page = self.page;
            let order = Judge { page, model }.order(&found, is_claim);
            decisive(&matching, &found, &order)
        });
        TrainingRow {
            decisive: decided.collect(),
            units: found.iter().map(|candidate| candidate.unit).collect(),
            features: found
                .iter()
                .flat_map(|candidate| candidate.features.values())
                .collect(),
            gate: gate(&found),
        }
    }
}

impl Judgement {
    fn most_coverage(&self) -> f64 {
        let all = self
            .ranked
            .iter()
            .map(|ranked| ranked.candidate.features.cov_w);
        all.fold(0.0, f64::max)
    }

    /// A page that says both is no support for either.
    fn find_dispute(&mut self) {
        if self.label != Label::Supported || !self.is_claim {
            return;
        }
        let disputes = |ranked: &Ranked| {
            let f = &ranked.candidate.features;
            differs_by_number(f)
                || (ranked.doubts.is_hard() && f.cov_r >= 0.7 && f.lcs_r >= VERBATIM_RUN)
        };
        if let Some(at) = self.ranked.iter().skip(1).position(disputes) {
            self.disputed_by = Some(at + 1);
            self.label = Label::PartiallySupported;
        }
    }
}

/// How much of the question the page must carry for anything to be believed.
fn gate(found: &[Candidate]) -> f64 {
    let most = found
        .iter()
        .map(|candidate| candidate.features.cov_w)
        .fold(0.0, f64::max);
    ((most - 0.05) / 0.25).clamp(0.02, 1.0)
}

/// A third of the terms or more is neither here nor above.
fn lacks_much(f: &Features) -> bool {
    f.nun_r * 3.0 >= f.qlen.max(1.0)
}

/// A short question of which a third stands nowhere on the page.
fn lacks_its_verb(f: &Features) -> bool {
    f.qlen <= 4.0 && f.unabs >= 1.0 && lacks_much(f)
}

fn question_label(likely: f64, f: &Features, doubts: Doubts, topical: f64) -> Label {
    let is_clear = !doubts.is_hard() && !doubts.is_soft();
    if likely >= SUPPORTED && is_clear && !lacks_its_verb(f) && f.unmeasured + f.apart == 0.0 {
        Label::Supported
    } else if likely >= PARTIALLY_SUPPORTED || (likely >= ANSWERED && is_clear && is_answered(f)) {
        Label::PartiallySupported
    } else if topical >= TOPICAL {
        Label::Weak
    } else {
        Label::Unsupported
    }
}

/// What was asked for stands beside nearly all of the terms, or beside the names and numbers that say of what.
fn is_answered(f: &Features) -> bool {
    let is_typed = f.ax_who + f.ax_when + f.ax_num + f.ax_where > 0.0;
    let is_named = (f.nnum > 0.0 || f.ncap > 0.0) && f.numcov >= 1.0 && f.capcov >= 1.0;
    f.hasans > 0.0 && f.unmeasured == 0.0 && (f.cov_t >= 0.75 || (is_typed && is_named))
}

fn claim_label(f: &Features, doubts: Doubts, topical: f64) -> Label {
    let is_verbatim = f.cov_r >= VERBATIM && f.lcs_r >= VERBATIM_RUN;
    if (is_verbatim && doubts.negation) || differs_by_number(f) {
        Label::Contradicted
    } else if doubts.is_hard() && f.cov_r >= 0.5 {
        Label::Unsupported
    } else if f.cov_t >= CLAIM_ABOVE
        && f.cov_r >= CLAIM_HERE
        && !doubts.is_hard()
        && !doubts.is_soft()
    {
        Label::Supported
    } else if f.cov_t >= CLAIM_PARTLY && !lacks_much(f) && !is_of_another(f, doubts) {
        Label::PartiallySupported
    } else if topical >= TOPICAL {
        Label::Weak
    } else {
        Label::Unsupported
    }
}

/// It may say the opposite, or the same of somebody else.
fn is_of_another(f: &Features, doubts: Doubts) -> bool {
    let has_other_name = doubts.other_name && f.lcs_r > VERBATIM_RUN;
    doubts.is_hard() || doubts.lacks_name || has_other_name
}

/// All that it lacks is a number, and it has another one in its place.
fn differs_by_number(f: &Features) -> bool {
    f.numconf > 0.0 && f.cov_r >= 0.4 && f.nun_r >= 1.0 && f.sumun_r <= f.un_num + 1e-9
}

fn claim_support(likely: f64, f: &Features, doubts: Doubts) -> f64 {
    let (hard, soft) = (doubts.is_hard(), doubts.is_soft());
    let as_question = likely * if hard { 0.4 } else { 1.0 };
    let as_covered = f.cov_t * if hard { 0.3 } else { 1.0 } * if soft { 0.8 } else { 1.0 };
    0.5 * as_question + 0.5 * as_covered
}

/// Words that only say that it may be so; "May" is mostly a month.
pub(crate) fn is_hedged(text: &str) -> bool {
    const WORDS: &[&str] = &[
        "may",
        "might",
        "could",
        "possibly",
        "perhaps",
        "reportedly",
        "allegedly",
        "rumoured",
        "rumored",
        "rumours",
        "rumors",
        "unconfirmed",
        "supposedly",
        "apparently",
        "presumably",
    ];
    text.split(|c: char| !c.is_alphanumeric())
        .any(|word| WORDS.contains(&word))
}

/// Words that make a statement depend on something.
pub(crate) fn is_conditional(text: &str) -> bool {
    const WORDS: &[&str] = &[
        "if",
        "unless",
        "except",
        "provided",
        "depending",
        "depends",
        "excluding",
        "otherwise",
    ];
    let lower = text.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric());
    words.any(|word| WORDS.contains(&word))
        || ["subject to", "only when", "as long as", "in case"]
            .iter()
            .any(|words| lower.contains(words))
}

fn terms(matching: &Matching<'_>) -> Vec<(String, bool)> {
    let question = matching.question;
    let term = matching.terms.iter().map(|term| {
        let written = question.lexicon.written(question.tokens[term.at]);
        let tells = term.is_name || term.number.is_some() || term.weight >= 0.5;
        (written.to_owned(), tells)
    });
    term.collect()
}
