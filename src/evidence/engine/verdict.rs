//! From features to a label: ranks the candidates of one question or claim, estimates whether the page settles it, and
//! lets what speaks against it lower the label. Knows no findings as a buyer sees them.

use super::account::quantities::Kind;
use super::account::{Compared, compare, is_per_another};
use super::bold::is_asked_in_bold;
use super::claims::as_statement;
use super::elsewhere::{is_in_another_cell, is_of_another_time, says_less};
use super::entail::{Asking, Plan, Reader, Verdicts, relevance};
use super::features::{Candidate, Features, candidates};
use super::labels::{Labels, Section};
use super::matching::Matching;
use super::model::Model;
use super::passage::statement;
use super::plain_answer::labelled_answer;
use super::question::{Asked, Question};
use super::ranked::{Doubts, Ranked};
use super::reservations::{
    hedges, is_hedged, is_left_open, is_of_what_can_be, is_told_as_false, is_withdrawn,
    says_what_is_open, says_what_may_be_done,
};
use super::signals::{Account, WHOLLY, is_limited_behind, stands_verbatim};
use super::similarity::{compared, similarities};
use super::summary::decisive;
use crate::evidence::reading::page::Page;
use crate::evidence::{Depth, Label, Relation, TrainingRow};
use crate::markdown::PassageKind;

/// From this coverage on, the page is at least about it.
const TOPICAL: f64 = 0.35;
/// Nearly word for word: what differs then is what is denied.
const VERBATIM: f64 = 0.85;
const VERBATIM_RUN: f64 = 0.3;
const NEARLY: f64 = 0.7;
/// What a support is below a bound by that it must not reach.
const LESS: f64 = 0.01;
const WHOLE: f64 = 0.95;
/// Words of a quantity: its number and its unit.
const QUANTITY_WORDS: f64 = 2.0;
/// A heading names what stands under it, and seldom says it. A question says nothing.
const HEADING_PENALTY: f64 = 1.5;
const QUESTION_PENALTY: f64 = 4.0;
/// The header of a table and the lead-in of a list announce.
const HEADER_PENALTY: f64 = 2.0;
const LEAD_IN_PENALTY: f64 = 0.4;
/// What the page itself has withdrawn.
const WITHDRAWN_PENALTY: f64 = 6.0;
/// Of a row or column that is another's.
const ELSEWHERE_PENALTY: f64 = 3.0;
/// The sets that the model is fitted to ask for few prices.
const MONEY_WORTH: f64 = 0.7;
/// From this probability on, the entailment model denies a claim that a passage has nearly word for word.
const SURELY_DENIES: f32 = 0.9;
/// ... that a passage has with another number alone.
const DENIES_A_NUMBER: f64 = 0.5;
/// What the entailment model's relevance adds to a rank score, and the similarity to the question.
const RELEVANCE: f64 = 1.5;
const SIMILARITY: f64 = 8.0;

pub(crate) struct Judge<'a> {
    pub(crate) page: &'a Page<'a>,
    pub(crate) model: &'a Model,
    pub(crate) depth: Depth,
}

/// What is thought of one question or claim.
#[derive(Debug)]
pub(crate) struct Judgement {
    pub(crate) asked: Asked,
    pub(crate) is_claim: bool,
    pub(crate) label: Label,
    /// P(the page settles it), and P(it says the opposite).
    pub(crate) support: f64,
    pub(crate) denial: f64,
    /// Best first.
    pub(crate) ranked: Vec<Ranked>,
    /// The question's terms as they are written, and whether each is worth naming when it is missing.
    pub(crate) terms: Vec<(String, bool)>,
    pub(crate) touched: usize,
    /// Another unit says something else than the best.
    pub(crate) disputed_by: Option<usize>,
    pub(crate) account: Account,
    pub(crate) depth: Depth,
}

/// A question or claim beside what the words of a page have for it, before the entailment model is asked.
#[derive(Debug)]
pub(crate) struct Look {
    asked: Asked,
    is_claim: bool,
    /// P(the page settles it) by the words alone.
    pub(crate) likely: f64,
    /// Best first.
    pub(crate) ranked: Vec<Ranked>,
    terms: Vec<(String, bool)>,
    touched: usize,
}

impl Look {
    /// A yes-no question is a claim with its words turned round.
    fn as_claim(&self) -> bool {
        self.is_claim || self.asked == Asked::YesNo
    }
}

impl Judge<'_> {
    pub(crate) fn judge(&self, text: &str, is_claim: bool) -> Judgement {
        let (look, verdicts) = self.read(text, is_claim);
        self.conclude(text, look, verdicts.as_ref())
    }

    /// What the words of the page have for a question, which `matching` is of.
    pub(crate) fn look(&self, text: &str, is_claim: bool, matching: &Matching<'_>) -> Look {
        let question = matching.question;
        let asked = question.asked;
        let found = candidates(matching);
        let order = self.order(&found, text, asked);
        let likely = gate(&found) * self.model.decide(&decisive(matching, &found, &order));
        Look {
            asked,
            is_claim,
            likely,
            ranked: self.ranked(found, &order, matches!(asked, Asked::Claim | Asked::YesNo)),
            terms: terms(matching),
            touched: matching.touched,
        }
    }

    /// Whether the page says a claim word for word, so that no model need read it.
    pub(crate) fn is_said_verbatim(&self, claim: &str, look: &Look) -> bool {
        stands_verbatim(claim, self.page, &look.ranked)
    }

    /// The judgement: with what the entailment model says of the best units, else by the words alone.
    pub(crate) fn conclude(
        &self,
        text: &str,
        look: Look,
        verdicts: Option<&Verdicts>,
    ) -> Judgement {
        let read = (verdicts, look.as_claim());
        let mut account = Account::of(self.page, text, look.likely, &look.ranked, read);
        if !look.as_claim() {
            // What is asked for is no yes.
            let labelled = labelled_answer(self.page, text, look.asked, &look.ranked);
            account.plain_answer = labelled.map(|at| (at, true));
            account.signals.plainly = 0.0;
        }
        let depth = match verdicts {
            Some(_) => self.depth,
            None => Depth::Quick,
        };
        let values = account.values();
        let sections = match depth {
            Depth::Quick => &Labels::shipped().by_words,
            Depth::Standard | Depth::Deep => &Labels::shipped().with_model,
        };
        let is_touched = !look.ranked.is_empty() && look.touched > 0;
        let probability = |section: &Section| {
            if is_touched {
                section.decision.decide(&values)
            } else {
                0.0
            }
        };
        let as_claim = look.as_claim();
        let section = if as_claim {
            &sections.claim
        } else {
            &sections.question
        };
        let mut judgement = Judgement {
            asked: look.asked,
            is_claim: look.is_claim,
            label: Label::Unsupported,
            support: probability(section),
            denial: if as_claim {
                probability(&sections.denial)
            } else {
                0.0
            },
            ranked: look.ranked,
            terms: look.terms,
            touched: look.touched,
            disputed_by: None,
            account,
            depth,
        };
        let is_refuted = matches!(judgement.account.settled, Some((_, false)));
        if judgement.is_about_another() || is_refuted {
            judgement.support = judgement.support.min(section.partly - LESS);
        }
        let label = judgement.label(section, &sections.denial);
        if let Some(best) = judgement.ranked.first() {
            judgement.label = self.lowered(text, label, best, &judgement);
            let is_lowered =
                self.lowered(text, Label::Supported, best, &judgement) != Label::Supported;
            let is_said = judgement.account.signals.verbatim > 0.0;
            let never_plain = is_lowered || (is_refuted || judgement.is_vetoed()) && !is_said;
            judgement.account.signals.never_plain = f64::from(u8::from(never_plain));
        }
        if let Some((at, is_so)) = judgement.account.plain_answer {
            judgement.say_plainly(at, is_so, section, &sections.denial);
        } else if let Some((at, true)) = judgement.account.settled {
            judgement.say_partly(at, section);
        }
        arrange(&mut judgement.ranked);
        judgement.find_dispute();
        judgement
    }

    /// Candidates by their rank, with their scores.
    pub(super) fn order(&self, found: &[Candidate], text: &str, asked: Asked) -> Vec<(usize, f64)> {
        let mut order: Vec<(usize, f64)> = found
            .iter()
            .map(|candidate| {
                let score = self.model.rank(&candidate.features);
                score - self.penalty(candidate) - self.withdrawal(candidate, text, asked)
            })
            .enumerate()
            .collect();
        let key = |(at, score): (usize, f64)| rank_key(asked, score, &found[at]);
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

    /// The penalty of a statement that the page has withdrawn, unless it is the very one that is asked about.
    fn withdrawal(&self, candidate: &Candidate, asked_text: &str, asked: Asked) -> f64 {
        let text = self.page.unit_text(candidate.unit);
        if !is_withdrawn(text) {
            return 0.0;
        }
        let is_statement = matches!(asked, Asked::Claim | Asked::YesNo);
        let compared = compare(asked_text, &[text]);
        let is_asked = compared.iter().all(|one| one.relation == Relation::Same);
        match is_statement && is_asked && !compared.is_empty() {
            true => 0.0,
            false => WITHDRAWN_PENALTY,
        }
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
                similarity: None,
                read: None,
            })
        });
        taken.collect()
    }

    /// What only may be so is not established; a question establishes nothing.
    fn lowered(&self, asked: &str, label: Label, best: &Ranked, judgement: &Judgement) -> Label {
        let text = self.page.unit_text(best.candidate.unit);
        let is_question =
            text.ends_with(['?', '？']) || is_asked_in_bold(self.page, best.candidate.unit);
        let is_heading = self.page.block(best.candidate.unit).kind == PassageKind::Heading;
        match label {
            Label::Supported | Label::PartiallySupported if is_withdrawn(text) => {
                Label::Contradicted
            }
            label if judgement.account.signals.verbatim > 0.0 && !is_question => label,
            Label::Supported | Label::PartiallySupported | Label::Contradicted
                if judgement.as_claim() && is_left_open(text) && !says_what_is_open(asked) =>
            {
                Label::Weak
            }
            Label::Supported | Label::PartiallySupported
                if judgement.as_claim() && is_told_as_false(asked, text) =>
            {
                Label::Weak
            }
            Label::Supported | Label::PartiallySupported
                if !judgement.as_claim() && is_per_another(asked, text) =>
            {
                Label::Weak
            }
            Label::Supported
                if judgement.as_claim()
                    && (is_limited_behind(asked, text)
                        || says_less(asked, &statement(self.page, best.candidate.unit))) =>
            {
                Label::PartiallySupported
            }
            Label::Supported if is_heading => Label::PartiallySupported,
            Label::PartiallySupported if is_heading && best.candidate.features.hasans == 0.0 => {
                Label::Weak
            }
            Label::Supported | Label::PartiallySupported if is_question => Label::Weak,
            Label::Supported
                if is_hedged(text, &judgement.terms)
                    && !hedges(asked)
                    && !(is_of_what_can_be(asked) && says_what_may_be_done(text)) =>
            {
                Label::PartiallySupported
            }
            label => label,
        }
    }

    /// What the decision on a claim or question is fitted to.
    pub(crate) fn signals(&self, text: &str, is_claim: bool) -> Vec<f64> {
        self.judge(text, is_claim).account.values()
    }

    /// What the words have for a question, and what the entailment model says of as many of the best units as the depth asks for.
    fn read(&self, text: &str, is_claim: bool) -> (Look, Option<Verdicts>) {
        let question = Question::new(text, is_claim, self.page.language);
        let mut look = self.look(text, is_claim, &Matching::new(self.page, &question));
        let verdicts = Plan::of(self.depth).map(|plan| {
            // Where the entailment model reads every candidate, it knows better.
            if look.ranked.len() > plan.alone {
                self.compare(text, &mut look);
            }
            let mut asking = match look.asked {
                Asked::YesNo => Asking::new(&as_statement(text)),
                _ => Asking::new(text),
            };
            let as_claim = look.as_claim();
            for ranked in look.ranked.iter_mut().take(plan.alone) {
                let unit = ranked.candidate.unit;
                if is_in_another_cell(self.page, text, unit, as_claim)
                    || is_of_another_time(text, &statement(self.page, unit))
                {
                    ranked.score -= ELSEWHERE_PENALTY;
                }
            }
            self.read_by(plan, &mut asking, &mut look.ranked)
        });
        (look, verdicts)
    }

    /// Compares the best units with the question in meaning too, which puts them in another order.
    fn compare(&self, text: &str, look: &mut Look) {
        let count = look.ranked.len().min(compared(self.depth));
        let best = &mut look.ranked[..count];
        let units: Vec<usize> = best.iter().map(|ranked| ranked.candidate.unit).collect();
        let similarities = similarities(self.page, text, &units);
        let most = similarities.iter().copied().fold(0.0, f64::max);
        let asked = look.asked;
        let mut keyed: Vec<(f64, Ranked)> = Vec::with_capacity(count);
        for (mut ranked, similarity) in look.ranked.drain(..count).zip(similarities) {
            let key = rank_key(asked, ranked.score, &ranked.candidate) + SIMILARITY * similarity;
            ranked.similarity = Some(similarity);
            ranked.score += SIMILARITY * (similarity - most);
            keyed.push((key, ranked));
        }
        keyed.sort_by(|one, other| other.0.total_cmp(&one.0));
        // What was not compared stays behind.
        for ranked in &mut look.ranked {
            ranked.score -= SIMILARITY * most;
        }
        look.ranked
            .splice(..0, keyed.into_iter().map(|(_, ranked)| ranked));
    }

    /// Lets the entailment model read the best units, which puts them in another order.
    pub(crate) fn read_by(
        &self,
        plan: Plan,
        asking: &mut Asking,
        ranked: &mut [Ranked],
    ) -> Verdicts {
        let mut reader = Reader {
            page: self.page,
            asking,
            plan,
        };
        let units = |ranked: &[Ranked]| {
            ranked
                .iter()
                .map(|ranked| ranked.candidate.unit)
                .collect::<Vec<_>>()
        };
        let alone = reader.alone(&units(ranked));
        let mut order: Vec<usize> = (0..alone.len()).collect();
        for (ranked, verdict) in ranked.iter_mut().zip(&alone) {
            ranked.score += RELEVANCE * relevance(verdict);
            ranked.read = Some(*verdict);
        }
        let score = |at: &usize| ranked[*at].score;
        order.sort_by(|one, other| score(other).total_cmp(&score(one)).then(one.cmp(other)));
        let alone = order.iter().map(|at| alone[*at]).collect();
        ranked[..order.len()].sort_by(|one, other| other.score.total_cmp(&one.score));
        let (together, before) = reader.together(&units(ranked));
        Verdicts {
            alone,
            together,
            before,
        }
    }

    /// What these models would decide by, beside what all are fitted to.
    pub(crate) fn training_row(&self, text: &str, is_claim: bool, models: &[Model]) -> TrainingRow {
        let question = Question::new(text, is_claim, self.page.language);
        let matching = Matching::new(self.page, &question);
        let found = candidates(&matching);
        let decided = models.iter().map(|model| {
            let page = self.page;
            let depth = self.depth;
            let order = Judge { page, model, depth }.order(&found, text, question.asked);
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
    fn as_claim(&self) -> bool {
        self.is_claim || self.asked == Asked::YesNo
    }

    fn label(&self, section: &Section, denial: &Section) -> Label {
        let signals = &self.account.signals;
        if signals.verbatim > 0.0 {
            Label::Supported
        } else if !(self.account.leaves_open()
            || self.is_of_another_case()
            || self.agrees_in_value())
            && (self.is_denied()
                || self.denial >= denial.plain(self.asked) && self.denial > self.support)
        {
            Label::Contradicted
        } else if self.support >= section.plain(self.asked) && !self.is_vetoed() {
            Label::Supported
        } else if self.support >= section.partly {
            Label::PartiallySupported
        } else if self.most_coverage() >= TOPICAL {
            Label::Weak
        } else {
            Label::Unsupported
        }
    }

    /// What the account finds contradicted is never plainly supported.
    fn is_vetoed(&self) -> bool {
        let signals = &self.account.signals;
        let is_turned = signals.exchanged > 0.0 || self.is_turned_round();
        let mut compared = self.account.compared.iter();
        let is_computed = compared.any(|one| one.is_computed);
        signals.q_differs > 0.0 || is_computed || is_turned || signals.elsewhere > 0.0
    }

    /// The best unit denies something on another day, at another time or of another version: "closed on Mondays" says nothing
    /// of Tuesdays.
    fn is_of_another_case(&self) -> bool {
        let Some(best) = self.ranked.first() else {
            return false;
        };
        let is_turned = best.doubts.antonym || best.candidate.features.negd > 0.0;
        let is_case = |one: &Compared| {
            let is_point = matches!(
                one.asked.kind,
                Kind::Date(_) | Kind::Weekday(_) | Kind::Clock(_) | Kind::Version(_)
            );
            is_point && one.relation == Relation::Differs
        };
        self.as_claim() && is_turned && self.account.compared.iter().any(is_case)
    }

    /// All that the best unit lacks of a claim are quantities, and those it has in another unit or form: two weeks are 14 days.
    fn agrees_in_value(&self) -> bool {
        let Some(best) = self.ranked.first() else {
            return false;
        };
        let (f, compared) = (&best.candidate.features, &self.account.compared);
        let is_there = |one: &Compared| {
            matches!(one.relation, Relation::Same | Relation::Within)
                && one.found.as_ref().is_some_and(|(at, _)| *at == 0)
        };
        let is_opposite = f.negd > 0.0 || f.dr > 0.0 || best.doubts.antonym;
        // In another form: what stands there as the claim has it says nothing for the claim.
        let is_converted = |one: &&Compared| {
            let found = one.found.as_ref().map(|(_, found)| found);
            let is_point = matches!(one.asked.kind, Kind::Weekday(_) | Kind::Clock(_));
            match one.relation {
                Relation::Within => is_point,
                _ => found.is_some_and(|found| {
                    found.written != one.asked.written || found.factor != one.asked.factor
                }),
            }
        };
        let converted = compared.iter().filter(is_converted).count();
        converted > 0
            && compared.iter().all(is_there)
            && !is_opposite
            && f.unname == 0.0
            && f.nun_r <= QUANTITY_WORDS * converted as f64
    }

    /// With all its words on other sides of its verb, a passage is no paraphrase.
    fn is_turned_round(&self) -> bool {
        let signals = &self.account.signals;
        let is_whole = signals.cov_r >= WHOLE && signals.is_row == 0.0;
        signals.swapped > 0.0 && is_whole && self.as_claim()
    }

    /// The best unit says the claim nearly word for word, and denies it by a negation, another number or an opposite; where
    /// the entailment model has read it, in every word, and the model has to be sure.
    fn is_denied(&self) -> bool {
        let Some(best) = self.ranked.first() else {
            return false;
        };
        let f = &best.candidate.features;
        let is_near = f.cov_r >= VERBATIM && f.lcs_r >= VERBATIM_RUN;
        match (&best.read, self.depth) {
            (Some(verdict), _) => {
                let differs = best.doubts.is_hard() || self.account.signals.q_differs > 0.0;
                let is_sure = f.cov_r >= WHOLE && verdict.contradicted >= SURELY_DENIES;
                let is_denied_by_number =
                    self.has_other_number() && self.account.signals.e_con >= DENIES_A_NUMBER;
                is_near && differs && is_sure || is_denied_by_number && self.denial > self.support
            }
            (None, Depth::Quick) if self.denial > self.support => {
                (is_near && best.doubts.negation) || differs_by_number(f)
            }
            (None, _) => false,
        }
    }

    /// The best unit says nearly all of it, with another number in the place of its own.
    fn has_other_number(&self) -> bool {
        let is_other = |best: &Ranked| {
            let f = &best.candidate.features;
            differs_by_number(f) && f.cov_t >= NEARLY
        };
        self.account.signals.q_differs > 0.0 && self.ranked.first().is_some_and(is_other)
    }

    /// It is said of something else, with another number, or turned round: not even partly so.
    fn is_about_another(&self) -> bool {
        let signals = &self.account.signals;
        signals.verbatim == 0.0
            && (signals.elsewhere > 0.0 || self.has_other_number() || self.is_turned_round())
    }

    /// The page itself says yes or no, in the unit at this rank.
    fn say_plainly(&mut self, at: usize, is_so: bool, section: &Section, denial: &Section) {
        let best = self.ranked.remove(at);
        self.ranked.insert(0, best);
        if is_so {
            self.label = Label::Supported;
            self.support = self.support.max(section.plain(self.asked));
        } else {
            self.label = Label::Contradicted;
            self.denial = self.denial.max(denial.plain(self.asked));
            self.support = self.support.min(1.0 - self.denial);
        }
    }

    /// The table of the unit at this rank says so, though not in words.
    fn say_partly(&mut self, at: usize, section: &Section) {
        if self.label == Label::Supported {
            return;
        }
        let best = self.ranked.remove(at);
        self.ranked.insert(0, best);
        self.label = Label::PartiallySupported;
        self.support = self.support.max(section.partly);
    }

    fn most_coverage(&self) -> f64 {
        let all = self
            .ranked
            .iter()
            .map(|ranked| ranked.candidate.features.cov_w);
        all.fold(0.0, f64::max)
    }

    /// A page that says both is no support for either.
    fn find_dispute(&mut self) {
        if self.label != Label::Supported
            || !self.is_claim
            || self.account.signals.verbatim >= WHOLLY
        {
            return;
        }
        let disputes = |ranked: &Ranked| {
            let f = &ranked.candidate.features;
            differs_by_number(f) || (ranked.denies() && f.cov_r >= 0.7 && f.lcs_r >= VERBATIM_RUN)
        };
        if let Some(at) = self.ranked.iter().skip(1).position(disputes) {
            self.disputed_by = Some(at + 1);
            self.label = Label::PartiallySupported;
        }
    }
}

/// What candidates are ordered by: of a claim also how many of its words they have.
fn rank_key(asked: Asked, score: f64, candidate: &Candidate) -> f64 {
    match asked {
        Asked::Claim => 0.5 * score + 2.0 * candidate.features.bm_rel,
        _ => score,
    }
}

/// Orders those that were compared by their score, behind the best one: the label is about it.
fn arrange(ranked: &mut [Ranked]) {
    let compared = ranked.partition_point(|ranked| ranked.similarity.is_some());
    if let Some((_, rest)) = ranked[..compared].split_first_mut() {
        rest.sort_by(|one, other| other.score.total_cmp(&one.score));
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

/// All that it lacks is a number, and it has another one in its place.
fn differs_by_number(f: &Features) -> bool {
    f.numconf > 0.0 && f.cov_r >= 0.4 && f.nun_r >= 1.0 && f.sumun_r <= f.un_num + 1e-9
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
