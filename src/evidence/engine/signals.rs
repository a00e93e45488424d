//! What decides whether a page states a claim or answers a question, in numbers: what the words say, what the account of
//! quantities, roles and qualifiers says, and what the entailment model says. Two fitted decisions know them by name.

use std::borrow::Cow;

use entailment::Verdict;

use super::account::change::is_turned;
use super::account::conjuncts::is_of_another_verb;
use super::account::duties::is_other_duty;
use super::account::nearly::is_only_nearly;
use super::account::other_unit::is_in_another_unit;
use super::account::owners::is_of_another_owner;
use super::account::permissions::is_other_permission;
use super::account::places::counts_a_place;
use super::account::qualifiers::{self, CLASSES_COUNT, classes};
use super::account::roles::{are_exchanged, are_swapped};
use super::account::{Compared, compare};
use super::cell_value::stated_in_a_cell;
use super::claims::is_question;
use super::compared_rows::settled_by_rows;
use super::elsewhere::is_elsewhere;
use super::entail::{Verdicts, relevance};
use super::features::Features;
use super::features::features;
use super::passage::{denying_heading, statement, without_number};
use super::plain_answer::{is_answered_otherwise, plain_answer};
use super::ranked::Ranked;
use super::reservations::{is_conditional, is_withdrawn};
use crate::evidence::Relation;
use crate::evidence::reading::page::Page;
use crate::evidence::reading::text::{is_negation, lower_words, unstruck};
use crate::evidence::reading::words::{does, known};
use crate::markdown::{MONTHS, PassageKind, WEEKDAYS};

features! {
    /// Of a question and what was found for it.
    Signals {
        /// P(settled) by the words alone.
        likely,
        /// Of the best unit: shares of terms carried, runs, terms missing, names and numbers missing.
        cov_r, cov_t, cov_w, lcs_r, nun_r, unname, un_name, un_num, unabs, entconf, antadj, negd, numconf, ordconf, dr,
        qlen, hasans, unmeasured, apart, bm_rel, modsub, supmis,
        /// The claim, or one of its sides, stands word for word on the page.
        verbatim,
        /// Quantities of the question: all, the same, within, differing, not found.
        q_all, q_same, q_within, q_differs, q_missing,
        /// Roles turned round in the best unit; names or numbers in each other's places.
        swapped, exchanged,
        /// The best unit stands under the name of something else, or tells of what is no more, or excepts it; or the page says
        /// the claim's value of another owner, or as a place in an order.
        elsewhere,
        /// The page itself says yes (1) or no (-1) to it in so many words.
        plainly,
        /// A rule above the fit keeps it from being plainly supported; no decision is fitted to it.
        never_plain,
        /// It is a question.
        asks,
        /// Words of each side that the other lacks, as shares.
        new_words,
        /// The best unit is a heading, a row, a question.
        is_heading, is_row, is_question,
        /// The entailment model's P(supported) and P(contradicted): of the best unit, of the best three together, of the
        /// best with the sentence before it; the most of all passages; of the most relevant one; the means of the first
        /// three.
        e_sup1, e_con1, e_sup3, e_con3, e_sup2, e_con2, e_sup, e_con, e_sup_rel, e_con_rel, e_sup_mean, e_con_mean,
    }
}

/// The signals of one question, with the qualifiers of each side behind them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Account {
    pub(crate) signals: Signals,
    /// Classes that the question has and the passage lacks, and the other way round.
    pub(crate) claimed: [bool; CLASSES_COUNT],
    pub(crate) stated: [bool; CLASSES_COUNT],
    pub(crate) compared: Vec<Compared>,
    /// The rank of the unit that says yes or no in so many words, and which.
    pub(crate) plain_answer: Option<(usize, bool)>,
    /// The rank of a row whose table settles what the claim compares, and whether it is so.
    pub(crate) settled: Option<(usize, bool)>,
    /// The unit of each passage that [`Compared::found`] names.
    pub(crate) units: Vec<usize>,
}

/// The names of all signals.
pub(crate) fn names() -> Vec<String> {
    let sides = ["claimed", "stated"];
    let of_classes = sides
        .iter()
        .flat_map(|side| qualifiers::names().map(move |class| format!("{side}_{class}")));
    Signals::NAMES
        .iter()
        .map(|name| (*name).to_owned())
        .chain(of_classes)
        .collect()
}

impl Account {
    /// Of what was found for a question, best first.
    pub(crate) fn of(
        page: &Page<'_>,
        question: &str,
        likely: f64,
        ranked: &[Ranked],
        (verdicts, as_claim): (Option<&Verdicts>, bool),
    ) -> Account {
        let Some(best) = ranked.first() else {
            return Account::default();
        };
        let unit = best.candidate.unit;
        let block = page.block(unit);
        let mut units = vec![unit];
        units.extend(page.context_unit(block));
        // The item before is another one.
        let is_item = block.kind == PassageKind::Item;
        let is_beside = |other: &usize| {
            page.unit_before(unit).is_some()
                && !(is_item && page.units[*other].block != page.units[unit].block)
        };
        units.extend(unit.checked_sub(1).filter(is_beside));
        units.extend(page.heading_units(block));
        units.extend(
            ranked
                .iter()
                .skip(1)
                .take(2)
                .map(|ranked| ranked.candidate.unit),
        );
        // What was withdrawn beside it is no evidence for either side.
        units.retain(|other| *other == unit || !is_withdrawn(page.unit_text(*other)));
        let texts = units.iter().map(|unit| unstruck(page.unit_text(*unit)));
        let texts: Vec<Cow<'_, str>> = texts.collect();
        let texts: Vec<&str> = texts.iter().map(|text| &**text).collect();
        let compared = compare(question, &texts);
        let own = statement(page, unit);
        let mut account = Account {
            compared,
            units,
            plain_answer: plain_answer(page, question, ranked).or_else(|| {
                let stated = stated_in_a_cell(page, question, ranked)?;
                Some((stated, true))
            }),
            settled: settled_by_rows(page, question, ranked).filter(|_| as_claim),
            ..Account::default()
        };
        account.signals = Signals {
            likely,
            ..words(&best.candidate.features)
        };
        let signals = &mut account.signals;
        let count = |relation| {
            account
                .compared
                .iter()
                .filter(|one| one.relation == relation)
                .count() as f64
        };
        signals.q_all = account.compared.len() as f64;
        signals.q_same = count(Relation::Same);
        signals.q_within = count(Relation::Within);
        signals.q_differs = count(Relation::Differs);
        signals.q_missing = count(Relation::NotFound);
        signals.swapped = f64::from(u8::from(are_swapped(question, &own)));
        let is_exchanged = are_exchanged(question, &own)
            || is_turned(question, &own)
            || differs_by_sign(question, &own);
        signals.exchanged = f64::from(u8::from(is_exchanged));
        signals.plainly = match account.plain_answer {
            Some((_, true)) => 1.0,
            Some((_, false)) => -1.0,
            None => 0.0,
        };
        signals.asks = f64::from(u8::from(is_question(question)));
        // The entailment model reads the heading that denies what stands under it.
        let is_denied_above = verdicts.is_none()
            && as_claim
            && denying_heading(page, unit).is_some()
            && !denies(question);
        let is_anothers = as_claim
            && (is_other_duty(question, &own)
                || is_other_permission(question, &own)
                || is_answered_otherwise(page, question, unit)
                || is_only_nearly(question, &own)
                || is_of_another_verb(question, &own)
                || is_in_another_unit(&account.compared, &own)
                || counts_a_place(question, &texts.join("\n"))
                || page.blocks.json.is_none() && is_of_another_owner(question, &texts));
        let is_elsewhere =
            is_denied_above || is_anothers || is_elsewhere(page, question, (unit, &own), as_claim);
        signals.elsewhere = f64::from(u8::from(is_elsewhere));
        // "Takes 2 hours and 30 minutes" begins with "takes 2 hours".
        signals.verbatim = match verbatim(question, page, ranked) {
            said if said < WHOLLY && signals.q_differs > 0.0 => 0.0,
            said => said,
        };
        signals.is_question = f64::from(u8::from(own.ends_with(['?', '？'])));
        signals.is_heading = f64::from(u8::from(block.kind == PassageKind::Heading));
        signals.is_row = f64::from(u8::from(
            block.kind == PassageKind::Row || page.blocks.json.is_some(),
        ));
        if let Some(verdicts) = verdicts {
            signals.add(verdicts);
        }
        let (asked, stated) = (classes(question), classes(&own));
        account.claimed = std::array::from_fn(|at| asked[at] && !stated[at]);
        account.stated = std::array::from_fn(|at| stated[at] && !asked[at]);
        account
    }

    /// A bound of the passage leaves what is asked open: three beside "up to four", ten days after it beside "within 14 days".
    /// No other quantity differs.
    pub(crate) fn leaves_open(&self) -> bool {
        let is_open = |one: &Compared| {
            let found = one.found.as_ref().filter(|(at, _)| *at == 0);
            one.is_case
                || one.relation == Relation::NotFound
                    && found.is_some_and(|(_, found)| found.low < found.high)
        };
        self.signals.q_differs == 0.0 && self.compared.iter().any(is_open)
    }

    /// In the order of [`names`].
    pub(crate) fn values(&self) -> Vec<f64> {
        let flags = self.claimed.iter().chain(&self.stated);
        let flags = flags.map(|is_so| f64::from(u8::from(*is_so)));
        self.signals.values().into_iter().chain(flags).collect()
    }
}

impl Signals {
    fn add(&mut self, verdicts: &Verdicts) {
        let sides = |verdict: &Verdict| {
            (
                f64::from(verdict.supported),
                f64::from(verdict.contradicted),
            )
        };
        let best = verdicts.alone.first().map(sides).unwrap_or_default();
        (self.e_sup1, self.e_con1) = best;
        (self.e_sup3, self.e_con3) = verdicts.together.as_ref().map_or(best, sides);
        (self.e_sup2, self.e_con2) = verdicts.before.first().map_or(best, sides);
        let all = || {
            verdicts
                .alone
                .iter()
                .chain(&verdicts.together)
                .chain(&verdicts.before)
        };
        self.e_sup = all().map(|verdict| sides(verdict).0).fold(0.0, f64::max);
        self.e_con = all().map(|verdict| sides(verdict).1).fold(0.0, f64::max);
        let most = all().max_by(|one, other| relevance(one).total_cmp(&relevance(other)));
        (self.e_sup_rel, self.e_con_rel) = most.map(sides).unwrap_or_default();
        let first = verdicts.alone.iter().take(3).map(sides);
        let count = verdicts.alone.len().clamp(1, 3) as f64;
        let sums = first.fold((0.0, 0.0), |sum, (supported, contradicted)| {
            (sum.0 + supported, sum.1 + contradicted)
        });
        (self.e_sup_mean, self.e_con_mean) = (sums.0 / count, sums.1 / count);
    }
}

fn words(f: &Features) -> Signals {
    Signals {
        cov_r: f.cov_r,
        cov_t: f.cov_t,
        cov_w: f.cov_w,
        lcs_r: f.lcs_r,
        nun_r: f.nun_r,
        unname: f.unname,
        un_name: f.un_name,
        un_num: f.un_num,
        unabs: f.unabs,
        entconf: f.entconf,
        antadj: f.antadj,
        negd: f.negd,
        numconf: f.numconf,
        ordconf: f.ordconf,
        dr: f.dr,
        qlen: f.qlen,
        hasans: f.hasans,
        unmeasured: f.unmeasured,
        apart: f.apart,
        bm_rel: f.bm_rel,
        modsub: f.modsub,
        supmis: f.supmis,
        new_words: f.newtok,
        ..Signals::default()
    }
}

/// Whether a claim denies, or forbids.
fn denies(claim: &str) -> bool {
    const FORBIDS: [&str; 4] = ["avoid", "forbidden", "prohibited", "excluded"];
    let words = lower_words(claim);
    let mut words = words.iter();
    words.any(|word| is_negation(word) || FORBIDS.contains(&word.as_str()))
}

/// Letters, digits and the signs that tell, in lower case: "£5" is not "$5", "−5 %" not "5 %", "C++" not "C#".
fn bare(text: &str) -> String {
    let text = crate::evidence::reading::text::plain(text);
    let mut bare = String::with_capacity(text.len());
    let mut before = ' ';
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        let next = rest.clone().next().unwrap_or(' ');
        let is_sign = match c {
            '€' | '$' | '£' | '¥' | '₹' | '₽' | '%' | '<' | '>' | '≤' | '≥' | '+' | '#' => {
                true
            }
            '-' | '−' => {
                !before.is_alphanumeric() && next.is_ascii_digit()
                    || before.is_alphabetic() && !next.is_alphanumeric()
            }
            '.' => next.is_ascii_digit() && !before.is_alphabetic(),
            '/' | ':' => before.is_ascii_digit() && next.is_ascii_digit(),
            _ => false,
        };
        before = c;
        if c.is_alphanumeric() {
            bare.extend(c.to_lowercase());
        } else {
            if !bare.ends_with(' ') {
                bare.push(' ');
            }
            if is_sign {
                let sign = match c {
                    '−' => '-',
                    // 10:30 is 10.30 elsewhere.
                    ':' => '.',
                    _ => c,
                };
                bare.extend([sign, ' ']);
            }
        }
    }
    bare.trim().to_owned()
}

/// Whether a statement begins with all words of a claim, but with other signs: "£5" for "$5".
fn differs_by_sign(claim: &str, statement: &str) -> bool {
    let letters = |signed: &str| {
        let words = signed.split(' ');
        let words = words.filter(|word| word.contains(char::is_alphanumeric));
        words.map(str::to_owned).collect::<Vec<_>>().join(" ")
    };
    let (claim, statement) = (bare(claim), bare(statement));
    letters(&statement).starts_with(&letters(&claim)) && !statement.starts_with(&claim)
}

/// Whether one of the units is the claim, or begins with it.
pub(crate) fn stands_verbatim(claim: &str, page: &Page<'_>, ranked: &[Ranked]) -> bool {
    verbatim(claim, page, ranked) > 0.0
}

/// The whole of a unit is the claim, or the beginning of one.
pub(crate) const WHOLLY: f64 = 1.0;
const AT_ITS_BEGINNING: f64 = 0.5;

/// [`WHOLLY`], or less, or nothing. A question that stands on the page, as those of an FAQ do, answers none.
fn verbatim(claim: &str, page: &Page<'_>, ranked: &[Ranked]) -> f64 {
    let is_question = is_question(claim);
    let claim = bare(claim);
    if claim.len() < 20 {
        return 0.0;
    }
    let said = ranked.iter().take(5).map(|ranked| {
        let unit = ranked.candidate.unit;
        let text = page.unit_text(unit);
        let asks = text.trim_end().ends_with(['?', '？'])
            || is_question && page.block(unit).kind == PassageKind::Heading;
        if asks {
            return 0.0;
        }
        // "if you have severe liver disease", under "Do not take it", is said with it.
        if denying_heading(page, unit).is_some() {
            let is_said = bare(&statement(page, unit)) == claim;
            return if is_said { WHOLLY } else { 0.0 };
        }
        let text = without_number(text);
        let text_bare = bare(text);
        if text_bare == claim || is_question && is_answered_by(&claim, &text_bare) {
            WHOLLY
        } else if !is_question
            && (begins_with(text, &claim) || begins_with_by_another_name(&claim, page, unit))
        {
            AT_ITS_BEGINNING
        } else {
            0.0
        }
    });
    said.fold(0.0, f64::max)
}

/// Words of a name that a claim has in the place of a pronoun, or more than the page.
const NAME_WORDS_MAX: usize = 5;

/// Whether a unit says a claim but for a name: it has a pronoun for what the sentence before begins with ("They found a fence.",
/// of the swimmers), or a part of a name that the page has in full elsewhere.
fn begins_with_by_another_name(claim: &str, page: &Page<'_>, unit: usize) -> bool {
    let text = page.unit_text(unit);
    let text_bare = bare(text);
    let claimed: Vec<&str> = claim.split(' ').collect();
    let said: Vec<&str> = text_bare.split(' ').take(claimed.len()).collect();
    let same = claimed
        .iter()
        .zip(&said)
        .take_while(|(one, other)| one == other);
    let start = same.count();
    let Some(own) = said.get(start) else {
        return false;
    };
    let is_pronoun = matches!(*own, "it" | "they" | "he" | "she");
    // Where the claim goes on as the unit does.
    let next = match is_pronoun {
        true => said.get(start + 1),
        false => Some(own),
    };
    let behind = claimed[start..].iter().take(NAME_WORDS_MAX + 1);
    let count = behind.into_iter().position(|word| Some(word) == next);
    let Some(count) = count.filter(|count| *count > 0) else {
        return false;
    };
    let (head, name, rest) = (
        &claimed[..start],
        &claimed[start..start + count],
        &claimed[start + count..],
    );
    let own = if is_pronoun {
        &said[start..=start]
    } else {
        &[]
    };
    let is_telling = |word: &&&str| known().flags(word) & does::STOP == 0;
    let telling: Vec<&&str> = name.iter().filter(is_telling).collect();
    let says_more = |word: &&str| is_negation(word) || word.contains(|c: char| c.is_ascii_digit());
    let as_said = [head, own, rest].concat().join(" ");
    if telling.is_empty()
        || name.iter().any(says_more)
        || text_bare != as_said && !begins_with(text, &as_said)
    {
        return false;
    }
    if is_pronoun {
        // What the sentence before begins with is its subject; what stands behind the verb may be somebody else.
        let Some(_) = page.unit_before(unit) else {
            return false;
        };
        let before = page.unit_text(unit - 1);
        let before_bare = bare(before);
        let subject = before_bare.split(' ').filter(|word| is_telling(&word));
        return !names_two(before, &telling)
            && subject
                .take(telling.len())
                .eq(telling.iter().map(|word| **word));
    }
    let first = head.last().filter(|word| is_telling(word));
    first.is_some_and(|first| is_the_only_name(page.text, first, name))
}

/// Whether a sentence that begins with a name goes on to what the name owns, or to another name: then a pronoun behind it may
/// be either.
fn names_two(sentence: &str, name: &[&&str]) -> bool {
    let words =
        sentence.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '.' | '(' | ')'));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let is_own = |word: &&&str| name.iter().any(|own| word.to_lowercase() == **own);
    let is_of_calendar = |word: &str| {
        let low = word.to_lowercase();
        MONTHS.contains(&&*low) || WEEKDAYS.contains(&low.strip_suffix('s').unwrap_or(&low))
    };
    let owns = |word: &&&str| word.ends_with("'s") || word.ends_with("’s");
    let others = words.iter().skip(1).filter(|word| !is_own(word));
    words.iter().take(name.len() + 1).any(|word| owns(&word))
        || others
            .filter(|word| word.starts_with(char::is_uppercase))
            .any(|word| !is_of_calendar(word))
}

/// Whether a name stands in a text in full, and its first word begins no other name there.
fn is_the_only_name(text: &str, first: &str, more: &[&str]) -> bool {
    let mut letters = first.chars();
    let capital = letters
        .next()
        .map(|c| c.to_uppercase().chain(letters).collect());
    let capital: String = capital.unwrap_or_default();
    let mut names = text.match_indices(&capital).filter_map(|(at, _)| {
        let behind = text[at + capital.len()..].strip_prefix(' ')?;
        behind.starts_with(char::is_uppercase).then_some(behind)
    });
    let is_it = |behind: &str| {
        let mut words = behind.split(|c: char| !c.is_alphanumeric());
        more.iter()
            .all(|word| words.next().is_some_and(|own| own.to_lowercase() == *word))
    };
    let known = names.next().is_some_and(is_it);
    known && names.all(is_it)
}

/// Whether a sentence says a claim and then goes on, without taking back or limiting what it has said.
fn begins_with(text: &str, claim: &str) -> bool {
    goes_on(text, claim, |rest| !is_limiting(rest, claim))
}

/// Whether a sentence says a claim and then limits it: "cures the disease (in mice)".
pub(crate) fn is_limited_behind(claim: &str, text: &str) -> bool {
    let claim = bare(claim);
    let is_more = |rest: &str| {
        rest.starts_with(';') || rest.trim_start_matches([',', ' ']).starts_with("and ")
    };
    let limits = |rest: &str| {
        !is_more(rest)
            && (is_conditional(rest) || is_placed(rest) || has_new(rest, &claim, &ASCRIBES))
    };
    !claim.is_empty() && goes_on(text, &claim, limits)
}

/// Whether a text has one of these words, which the claim has not.
fn has_new(text: &str, claim: &str, list: &[&str]) -> bool {
    let mut words = text.split(|c: char| !c.is_alphanumeric());
    words.any(|word| {
        let low = word.to_lowercase();
        list.contains(&&*low) && !claim.split(' ').any(|word| word == low)
    })
}

/// Whether a sentence says a claim and goes on with something of a kind.
fn goes_on(text: &str, claim: &str, is_so: impl Fn(&str) -> bool) -> bool {
    let text = crate::evidence::reading::text::plain(without_number(text));
    let ends = text
        .match_indices([',', ';', '—', '–', '('])
        .map(|(at, _)| at);
    ends.chain(text.match_indices(" and ").map(|(at, _)| at))
        .any(|end| {
            let (said, rest) = text.split_at(end);
            said.len() >= claim.len() && bare(said) == claim && is_so(rest)
        })
}

fn is_limiting(rest: &str, claim: &str) -> bool {
    let denies = || {
        rest.split(|c: char| !c.is_alphanumeric())
            .any(|word| is_negation(&word.to_lowercase()))
    };
    // "Bug fixes until May and security fixes until June": each has a limit of its own.
    let limits = has_new(rest, claim, &LIMITS) || has_new(rest, claim, &ASCRIBES) || denies();
    is_conditional(rest) || is_placed(rest) || limits && !is_of_another_subject(rest)
}

/// Whether what follows a comma or stands in brackets limits a sentence to a place, a time or a group: "cures it (in mice)",
/// "is free, on Sundays".
fn is_placed(rest: &str) -> bool {
    let is_apart = rest.starts_with([',', '(', '—', '–']);
    let mut words = rest
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    let first = words.next().unwrap_or_default().to_lowercase();
    let is_day = WEEKDAYS.contains(&first.strip_suffix('s').unwrap_or(&first));
    let is_least = first == "at" && words.next() == Some("least");
    is_apart && (is_day || is_least || known().flags(&first) & does::PREPOSITION != 0)
}

/// Whether a sentence goes on with another one that has a subject of its own: "Requests with 400 are counted; requests with
/// 401 are not."
fn is_of_another_subject(rest: &str) -> bool {
    let Some(next) = rest.strip_prefix(';') else {
        return false;
    };
    let mut words = next.split(|c: char| !c.is_alphanumeric());
    let first = words.find(|word| !word.is_empty());
    let first = first.unwrap_or_default().to_lowercase();
    let is_back = matches!(
        &*first,
        "it" | "they" | "this" | "that" | "these" | "those" | "he" | "she" | "we" | "you"
    );
    let limits = LIMITS.contains(&&*first) || is_negation(&first);
    let flags = known().flags(&first);
    !is_back && !limits && flags & (does::PREPOSITION | does::AUXILIARY | does::QUESTION) == 0
}

/// Words of what limits, corrects or turns round what stands before it.
const LIMITS: [&str; 18] = [
    "but", "only", "until", "though", "although", "however", "yet", "when", "where", "before",
    "after", "while", "should", "would", "was", "were", "instead", "rather",
];

/// Words of what says whose word it is, or that it is not so.
const ASCRIBES: [&str; 25] = [
    "according",
    "alleged",
    "allegedly",
    "alleges",
    "argues",
    "argued",
    "believes",
    "claimed",
    "claims",
    "debunked",
    "denies",
    "false",
    "falsely",
    "fears",
    "hopes",
    "myth",
    "reportedly",
    "said",
    "says",
    "supposedly",
    "theory",
    "thinks",
    "untrue",
    "wrong",
    "wrongly",
];

/// "May dogs be walked here?" is what "Dogs may be walked here." states: the same words, but for the place of the first, or for
/// the verb's ending that "does" and "did" stand for.
fn is_answered_by(question: &str, statement: &str) -> bool {
    let Some((first, rest)) = question.split_once(' ') else {
        return false;
    };
    let mut stated: Vec<&str> = statement.split(' ').collect();
    let endings: &[&str] = match (stated.iter().position(|word| *word == first), first) {
        (Some(at), _) => {
            stated.remove(at);
            &[]
        }
        (None, "do") => &[],
        (None, "does") => &["s", "es"],
        (None, "did") => &["d", "ed"],
        (None, _) => return false,
    };
    let asked: Vec<&str> = rest.split(' ').collect();
    let is_same = |(asked, stated): (&&str, &&str)| {
        let ending = stated.strip_prefix(asked);
        ending.is_some_and(|ending| ending.is_empty() || endings.contains(&ending))
    };
    known().flags(first) & does::AUXILIARY != 0
        && asked.len() == stated.len()
        && asked.iter().zip(&stated).all(is_same)
}

#[cfg(test)]
mod tests {
    use crate::evidence::engine::signals::*;

    #[test]
    fn a_sentence_may_go_on_after_a_claim() {
        let check = |claim: &str, text: &str, expected: bool| {
            assert_eq!(begins_with(text, &bare(claim)), expected, "{text}");
        };
        let payouts = "You can create up to 60 payouts per minute in live mode.";
        let said = payouts.trim_end_matches('.');
        check(
            payouts,
            &format!("{said} and up to 600 in test mode."),
            true,
        );
        check(payouts, &format!("{said}, unless we say otherwise."), false);
        check(payouts, &format!("{said}, but not on Sundays."), false);
        check(payouts, &format!("{said} of members, and more."), false);
        check(payouts, &format!("{said}; refunds are not counted."), true);
        let until = "Version 9 is fixed until May and patched until June.";
        check("Version 9 is fixed until May.", until, true);
        check(
            "Version 9 is fixed in May.",
            "Version 9 is fixed in May and June until noon.",
            false,
        );
        check(payouts, &format!("{said}; it is not raised."), false);
        check(payouts, &format!("{said}; not on Sundays."), false);
        for rest in [
            ", he hopes",
            " (false)",
            " — this is a myth",
            ", on Sundays",
            " (in test mode)",
        ] {
            check(payouts, &format!("{said}{rest}."), false);
        }
        check(
            "The museum is open.",
            "The museum is open, for members only.",
            false,
        );
    }

    #[test]
    fn signs_tell_words_apart() {
        for (one, other, is_same) in [
            ("It costs £100.", "It costs $100.", false),
            ("Below < 8 °C", "Below > 8 °C", false),
            ("Its rating is A+.", "Its rating is A-.", false),
            ("Written in C++", "Written in C#", false),
            ("It fell by -5%.", "It fell by 5%.", false),
            ("It fell by −5 %", "It fell by -5%.", true),
            ("A well-known gate", "A well known gate", true),
            ("It opens at 10:30.", "It opens at 10.30.", true),
        ] {
            assert_eq!(bare(one) == bare(other), is_same, "{one} / {other}");
            assert_eq!(differs_by_sign(one, other), !is_same, "{one} / {other}");
        }
    }

    #[test]
    fn a_claim_may_name_what_a_sentence_does_not() {
        let check = |page: &str, claim: &str, expected: bool| {
            let page = Page::of(&crate::evidence::Source::of_text(page), &[]);
            let claim = bare(claim);
            let mut units = 0..page.units.len();
            let found = units.any(|unit| begins_with_by_another_name(&claim, &page, unit));
            assert_eq!(found, expected, "{claim}");
        };
        let fence = "The swimmers came in July. They found a wooden fence there, and a sign.";
        check(fence, "The swimmers found a wooden fence there.", true);
        check(fence, "The owners found a wooden fence there.", false);
        check(
            fence,
            "The swimmers never found a wooden fence there.",
            false,
        );
        let round = "Greenfold Capital is an investor. Greenfold led the first round in 2022.";
        check(
            round,
            "Greenfold Capital led the first round in 2022.",
            true,
        );
        check(
            round,
            "Greenfold Ventures led the first round in 2022.",
            false,
        );
        let supplier = "Tesla's supplier went bankrupt. It recalled two million cars.";
        check(supplier, "Tesla recalled two million cars.", false);
        let called = "Ada King called Bob Stone on Monday. She denied all of the charges.";
        check(called, "Ada King denied all of the charges.", false);
        let alone = "Ada King spoke on Monday. She denied all of the charges.";
        check(alone, "Ada King denied all of the charges.", true);
        let two = "Greenfold Capital and Greenfold Ventures met. Greenfold led the first round.";
        check(two, "Greenfold Capital led the first round.", false);
    }

    #[test]
    fn a_statement_answers_its_own_question() {
        let check = |question: &str, statement: &str, expected: bool| {
            let found = is_answered_by(&bare(question), &bare(statement));
            assert_eq!(found, expected, "{question} {statement}");
        };
        let dogs = "May dogs be walked here?";
        check(dogs, "Dogs may be walked here.", true);
        check(dogs, "Dogs may not be walked here.", false);
        check(dogs, "Dogs must be walked here.", false);
        check("Does the plan cost more?", "The plan costs more.", true);
        check("Did Ada beat Bob?", "Bob beat Ada.", false);
        check(
            "Does the pool open on Sundays?",
            "The pool opened on Sundays.",
            false,
        );
        check("Did the pool open in May?", "The pool opened in May.", true);
        check("Which dogs may be walked?", "Dogs may be walked.", false);
    }
}
