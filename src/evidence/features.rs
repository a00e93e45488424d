//! What a candidate has to do with a question, in numbers. The model knows them by name; what each says stands beside
//! it. Knows no weights.

use std::collections::HashSet;

use super::matching::Matching;
use super::measure::Measure;
use super::page::Page;
use super::question::{ASKED, Asked};
use super::tokens::Form;
use super::words::{does, known};

macro_rules! features {
    ($(#[$of:meta])* $group:ident { $($(#[doc = $what:literal])* $name:ident,)* }) => {
        $(#[$of])*
        #[derive(Clone, Copy, Debug, Default)]
        pub(super) struct $group { $($(#[doc = $what])* pub(super) $name: f64,)* }

        impl $group {
            pub(super) const NAMES: &'static [&'static str] = &[$(stringify!($name)),*];

            pub(super) fn values(&self) -> [f64; Self::NAMES.len()] {
                [$(self.$name),*]
            }
        }
    };
}
pub(super) use features;

features! {
    /// Of one candidate. A term is *carried* when its stem or a word that is credited for it stands in the unit, and
    /// *here* or *above* when it stands in the title, the headings over the unit or what leads it in.
    Features {
        /// BM25 of exact stems, and its share of the page's best.
        bm, bm_rel,
        /// BM25 of credited words, and its share of the page's best.
        bms, bms_rel,
        /// Weighted share of the terms carried exactly, with credit, and exactly by rarity alone.
        cov, cov_r, cov_d,
        /// ... with what stands above; also in the unit before; also in the one after; before, for units with pronouns.
        cov_t, cov_p, cov_n, cov_pr,
        /// Pairs of neighbouring terms that stand side by side, or near.
        bigr, skip,
        /// Longest run of terms in the question's order: share of terms, share of weight.
        lcs, lcs_r,
        /// How dense the carried terms stand; most weight within ten words; share in the question's order.
        prox, win, ord,
        /// Names of the question: how many, weighted share carried.
        ncap, capcov,
        /// Numbers of the question: how many, share found, one that is another beside the same words, none found
        /// though there are others.
        nnum, numcov, numconf, numfar,
        /// Terms not carried exactly, or not at all: the heaviest, the sum, how many; names; elsewhere on the page or
        /// nowhere.
        maxun, maxun_r, sumun_r, nun, nun_r, unname, unin_doc, unabs,
        /// Negation in the question, in the unit, in one of them alone.
        negq, negs, negd,
        /// Antonyms of missing terms; opposite directions; hedges here and in the question.
        ant, dr, hedge, hedgeq,
        /// Words that could be the answer: whether, how near to carried terms, how many, a number before its noun.
        hasans, ansdist, nans, anumhead,
        /// The noun asked for: exactly, with credit. The last and the first term.
        headm, head_r, lastm, firstm,
        /// New words, length, place on the page.
        newtok, slen, pos1, posinv,
        /// A question of what something is, and a unit that says so.
        def, isdef,
        /// A pronoun early on; shares carried by the neighbours; the question's length.
        pron, prevcov, nextcov, qlen,
        /// Another word between the same neighbours; of a name. Share of the unit that is carried terms.
        sub, entconf, dens,
        /// Terms carried by synonyms, by words of the family.
        nsyn, nroot,
        q_who, q_when, q_num, q_where, q_why, q_how, q_what, q_whatx, q_yn, q_claim,
        ax_who, ax_when, ax_num, ax_where, ax_why, ax_how,
        /// A definition early on; the number of units.
        defpos, lnn,
        /// Terms carried here, above or around, each at its rate: the main feature.
        cov_w,
        /// BM25 around; share carried here or by a direct neighbour.
        nb3, cov_u3,
        /// Antonyms by all tables; beside carried terms.
        antw, antadj,
        /// A missing modifier of a carried noun that has another one; none; a missing noun after a carried word.
        modsub, modnone, rsub,
        /// Superlatives: in the question, missing here, here alone. Another ordinal. A word for all that is missing.
        supq, supmis, sups, ordconf, allmis,
        /// Weight of terms not carried, by what kind of word they are.
        un_adj, un_verb, un_adv, un_noun, un_name, un_num,
        /// Neighbours in the question that are both carried, but far from one another: any, names.
        apart, apart_name,
        /// Most weight within five words, and within six of a word that could be the answer.
        win5, ans_near,
        /// How far the carried terms are spread; the noun asked for is missing; missing terms that a neighbour carries.
        spread, headmis, lent,
        /// The question leaves something out: "other than", "along with".
        excl,
        /// The question asks for an amount of something that is measured (money, time, a share, a length): it is here,
        /// or only other numbers are.
        measured, unmeasured,
        /// The same, of money alone.
        money,
    }
}

/// A candidate with what was found about it.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) unit: usize,
    pub(super) features: Features,
    /// By term.
    pub(super) carried: Vec<f64>,
    pub(super) above: Vec<f64>,
}

impl Candidate {
    /// Whether the unit, or what it stands under, has this term of the question.
    pub(super) fn has(&self, term: usize) -> bool {
        self.carried[term] > 0.0 || self.above[term] >= 0.5
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Adjective,
    Verb,
    Adverb,
    Noun,
    Name,
    Number,
}

/// What is the same for all candidates of a question.
struct Asking<'a> {
    matching: &'a Matching<'a>,
    /// Stems of the terms on the page.
    term_stems: HashSet<u32>,
    classes: Vec<Class>,
    plain_antonyms: Vec<Vec<u32>>,
    antonyms: Vec<Vec<u32>>,
    /// Terms and stems of the noun that is asked for.
    head: Vec<(Option<usize>, Option<u32>)>,
    numbers: Vec<(usize, f64)>,
    measure: Option<Measure>,
    goes_up: bool,
    goes_down: bool,
}

pub(super) fn candidates(matching: &Matching<'_>) -> Vec<Candidate> {
    let asking = Asking::new(matching);
    matching
        .candidates
        .iter()
        .map(|&unit| asking.candidate(unit))
        .collect()
}

fn flag(is_so: bool) -> f64 {
    if is_so { 1.0 } else { 0.0 }
}

fn count(number: usize) -> f64 {
    number as f64
}

impl<'a> Asking<'a> {
    fn new(matching: &'a Matching<'a>) -> Asking<'a> {
        let question = matching.question;
        let on_page = |words: &mut dyn Iterator<Item = String>| -> Vec<u32> {
            words
                .filter_map(|word| matching.page.lexicon.stem_of(&word))
                .collect()
        };
        let stems = || matching.terms.iter().map(|term| question.stem(term.at));
        let head = question.head.iter().map(|&stem| {
            let is_it = |at: &usize| question.form(*at).stem == stem;
            let term = question.terms.iter().position(is_it);
            let text = &question.lexicon.stems[stem as usize];
            (term, matching.page.lexicon.stem_of(text))
        });
        let numbers = (0..question.tokens.len()).filter_map(|at| Some((at, question.number(at)?)));
        let mut asking = Asking {
            matching,
            term_stems: matching
                .terms
                .iter()
                .filter_map(|term| matching.stems[term.at])
                .collect(),
            classes: Vec::new(),
            plain_antonyms: stems()
                .map(|stem| on_page(&mut known().plain_antonyms(stem).iter().cloned()))
                .collect(),
            antonyms: stems()
                .map(|stem| {
                    let mut all = known().antonyms(stem);
                    all.extend(known().plain_antonyms(stem).iter().cloned());
                    on_page(&mut all.into_iter())
                })
                .collect(),
            head: head.collect(),
            numbers: numbers.take(16).collect(),
            measure: Measure::asked_for(question),
            goes_up: question.has(does::UP),
            goes_down: question.has(does::DOWN),
        };
        asking.classes = (0..matching.terms.len())
            .map(|term| asking.class(term))
            .collect();
        asking
    }

    fn page(&self) -> &'a Page<'a> {
        self.matching.page
    }

    fn class(&self, term: usize) -> Class {
        const ADJECTIVES: &[&str] = &[
            "al", "ic", "ous", "ive", "ful", "less", "able", "ible", "ary", "est", "ish", "ant",
            "ent",
        ];
        const BEFORE_VERBS: &[&str] = &["to", "did", "does", "do", "can", "could", "would", "will"];
        let question = self.matching.question;
        let term = &self.matching.terms[term];
        let low = &*question.form(term.at).low;
        let before = match term.at {
            0 => "",
            at => &question.form(at - 1).low,
        };
        let is_last = term.at + 1 == question.tokens.len();
        let ends = |endings: &[&str]| endings.iter().any(|ending| low.ends_with(ending));
        if term.number.is_some() {
            Class::Number
        } else if term.is_name {
            Class::Name
        } else if low.ends_with("ly") {
            Class::Adverb
        } else if ends(&["ed", "ing"])
            || BEFORE_VERBS.contains(&before)
            || (is_last && question.forms().any(|form| &*form.low == "did"))
        {
            Class::Verb
        } else if ends(ADJECTIVES) {
            Class::Adjective
        } else {
            Class::Noun
        }
    }

    fn candidate(&self, unit: usize) -> Candidate {
        let look = Look::new(self, unit);
        let mut features = Features::default();
        look.coverage(&mut features);
        look.order(&mut features);
        look.missing(&mut features);
        look.numbers(&mut features);
        look.polarity(&mut features);
        look.answers(&mut features);
        look.neighbours(&mut features);
        look.substitutions(&mut features);
        look.shape(&mut features);
        look.torn(&mut features);
        self.kind(&mut features);
        Candidate {
            unit,
            features,
            carried: look.carried,
            above: look.above,
        }
    }

    fn kind(&self, features: &mut Features) {
        let question = self.matching.question;
        let is = |asked: Asked| flag(question.asked == asked);
        let with_answer = |asked: Asked| is(asked) * features.hasans;
        let [who, when, num, place, why, how, what, whatx, yn, claim] = ASKED.map(is);
        features.ax_who = with_answer(Asked::Who);
        features.ax_when = with_answer(Asked::When);
        features.ax_num = with_answer(Asked::Number);
        features.ax_where = with_answer(Asked::Where);
        features.ax_why = with_answer(Asked::Why);
        features.ax_how = with_answer(Asked::How);
        (features.q_who, features.q_when, features.q_num) = (who, when, num);
        (features.q_where, features.q_why, features.q_how) = (place, why, how);
        (features.q_what, features.q_whatx) = (what, whatx);
        (features.q_yn, features.q_claim) = (yn, claim);
        features.lnn = (1.0 + count(self.page().units.len())).ln();
    }
}

/// One unit looked at closely.
struct Look<'a> {
    asking: &'a Asking<'a>,
    matching: &'a Matching<'a>,
    unit: usize,
    tokens: &'a [u32],
    forms: Vec<&'a Form>,
    /// Stems of content words, in order.
    content: Vec<u32>,
    stems: HashSet<u32>,
    carried: Vec<f64>,
    above: Vec<f64>,
    /// Positions in `content` of each term.
    places: Vec<Vec<usize>>,
    /// Positions in `content` that carry a term.
    hits: Vec<usize>,
}

impl<'a> Look<'a> {
    fn new(asking: &'a Asking<'a>, unit: usize) -> Look<'a> {
        let matching = asking.matching;
        let tokens = matching.page.unit_tokens(unit);
        let forms: Vec<&Form> = tokens
            .iter()
            .map(|token| matching.page.lexicon.form(*token))
            .collect();
        let content: Vec<u32> = forms
            .iter()
            .filter(|form| !form.is_stop())
            .map(|form| form.stem)
            .collect();
        let mut places = vec![Vec::new(); matching.terms.len()];
        let mut hits = Vec::new();
        for (place, &stem) in content.iter().enumerate() {
            let carried = matching.carried_by(stem);
            carried
                .iter()
                .for_each(|(term, _)| places[*term].push(place));
            if !carried.is_empty() {
                hits.push(place);
            }
        }
        Look {
            asking,
            matching,
            unit,
            tokens,
            forms,
            stems: content.iter().copied().collect(),
            content,
            carried: matching.carried_in(Some(unit)),
            above: matching.carried_above(unit),
            places,
            hits,
        }
    }

    fn weight(&self, term: usize) -> f64 {
        self.matching.terms[term].weight
    }

    fn terms(&self) -> std::ops::Range<usize> {
        0..self.matching.terms.len()
    }

    /// Weighted share of the terms, each by what is given for it.
    fn share(&self, value: impl Fn(usize) -> f64) -> f64 {
        self.terms()
            .map(|term| self.weight(term) * value(term))
            .sum::<f64>()
            / self.matching.weight
    }

    fn is_exact(&self, term: usize) -> bool {
        self.carried[term] >= 1.0
    }

    /// Neither here nor above.
    fn is_missing(&self, term: usize) -> bool {
        self.carried[term] == 0.0 && self.above[term] < 0.8
    }

    fn is_term(&self, stem: u32) -> bool {
        self.asking.term_stems.contains(&stem)
    }

    /// A content word that is not of the question.
    fn is_new(&self, at: usize) -> bool {
        !self.forms[at].is_stop() && !self.is_term(self.forms[at].stem)
    }

    fn is_hit(&self, at: usize) -> bool {
        let stem = self.forms[at].stem;
        self.stems.contains(&stem) && !self.matching.carried_by(stem).is_empty()
    }

    fn coverage(&self, f: &mut Features) {
        let matching = self.matching;
        let unit = self.unit;
        f.bm = matching.exact_score[unit];
        f.bm_rel = f.bm / matching.exact_score_max;
        f.bms = matching.score[unit];
        f.bms_rel = f.bms / matching.score_max;
        f.cov = self.share(|term| flag(self.is_exact(term)));
        f.cov_r = self.share(|term| self.carried[term]);
        f.cov_t = self.share(|term| self.carried[term].max(self.above[term]));
        let exact = self.terms().filter(|&term| self.is_exact(term));
        f.cov_d = exact.map(|term| matching.terms[term].idf).sum::<f64>() / matching.idf;
        f.dens = count(self.carried.iter().filter(|credit| **credit > 0.0).count())
            / count(self.content.len().max(4));
        f.nsyn = count(
            self.carried
                .iter()
                .filter(|&&c| c > 0.0 && c <= 0.5)
                .count(),
        );
        f.nroot = count(self.carried.iter().filter(|&&c| c > 0.5 && c < 1.0).count());
        f.lastm = self.carried.last().copied().unwrap_or_default();
        f.firstm = self.carried.first().copied().unwrap_or_default();
    }

    fn order(&self, f: &mut Features) {
        let total = self.places.len();
        let pairs = self.places.iter().zip(self.places.iter().skip(1));
        let (mut beside, mut near) = (0, 0);
        for (one, other) in pairs {
            let steps = || one.iter().flat_map(|a| other.iter().map(move |b| (*a, *b)));
            beside += usize::from(steps().any(|(a, b)| b == a + 1));
            near += usize::from(steps().any(|(a, b)| a.abs_diff(b) <= 3));
        }
        let possible = count(total.saturating_sub(1).max(1));
        f.bigr = count(beside) / possible;
        f.skip = count(near) / possible;
        let (run, run_weight) = self.longest_run();
        f.lcs = count(run) / count(total.max(1));
        f.lcs_r = run_weight / self.matching.weight;
        let distinct = self
            .places
            .iter()
            .filter(|places| !places.is_empty())
            .count();
        if let (Some(first), Some(last)) = (self.hits.first(), self.hits.last()) {
            f.prox = count(distinct) / count(last - first + 1);
            f.spread = count(last - first) / count(self.content.len());
        }
        f.win = self.window(9) / self.matching.weight;
        f.win5 = self.window(4) / self.matching.weight;
        let mut firsts: Vec<(usize, usize)> = self
            .terms()
            .filter_map(|term| Some((*self.places[term].first()?, term)))
            .collect();
        firsts.sort_unstable();
        f.ord = 0.5;
        if firsts.len() > 1 {
            let ascending = firsts
                .windows(2)
                .filter(|pair| pair[1].1 > pair[0].1)
                .count();
            f.ord = count(ascending) / count(firsts.len() - 1);
        }
    }

    /// Terms in the question's order side by side: how many at most, and their weight.
    fn longest_run(&self) -> (usize, f64) {
        let (mut longest, mut heaviest) = (0, 0.0_f64);
        let mut before: Vec<(usize, usize, f64)> = Vec::new();
        for term in self.terms() {
            let mut now = Vec::with_capacity(self.places[term].len());
            for &place in &self.places[term] {
                let run = before.iter().find(|(other, ..)| other + 1 == place);
                let (length, weight) =
                    run.map_or((0, 0.0), |(_, length, weight)| (*length, *weight));
                let (length, weight) = (length + 1, weight + self.weight(term));
                longest = longest.max(length);
                heaviest = heaviest.max(weight);
                now.push((place, length, weight));
            }
            before = now;
        }
        (longest, heaviest)
    }

    /// The most weight that stands within so many steps.
    fn window(&self, steps: usize) -> f64 {
        let mut best = 0.0_f64;
        let mut seen = vec![usize::MAX; self.places.len()];
        for (number, &from) in self.hits.iter().enumerate() {
            let mut weight = 0.0;
            for &place in self.hits[number..]
                .iter()
                .take_while(|place| **place - from <= steps)
            {
                for &(term, _) in self.matching.carried_by(self.content[place]) {
                    if seen[term] != number {
                        seen[term] = number;
                        weight += self.weight(term) * self.carried[term];
                    }
                }
            }
            best = best.max(weight);
        }
        best
    }

    fn missing(&self, f: &mut Features) {
        let terms = &self.matching.terms;
        for term in self.terms() {
            let weight = self.weight(term);
            if !self.is_exact(term) {
                f.maxun = f.maxun.max(weight);
                f.nun += 1.0;
            }
            if !self.is_missing(term) {
                continue;
            }
            f.maxun_r = f.maxun_r.max(weight);
            f.sumun_r += weight;
            f.nun_r += 1.0;
            f.unname += flag(terms[term].is_name);
            f.unin_doc += flag(terms[term].is_anywhere);
            f.unabs += flag(!terms[term].is_anywhere);
            *match self.asking.classes[term] {
                Class::Adjective => &mut f.un_adj,
                Class::Verb => &mut f.un_verb,
                Class::Adverb => &mut f.un_adv,
                Class::Noun => &mut f.un_noun,
                Class::Name => &mut f.un_name,
                Class::Number => &mut f.un_num,
            } += weight;
        }
        let names = || self.terms().filter(|&term| terms[term].is_name);
        f.ncap = count(names().count());
        let all: f64 = names().map(|term| self.weight(term)).sum();
        let found = names().filter(|&term| self.carried[term] > 0.0 || self.above[term] > 0.0);
        let found: f64 = found.map(|term| self.weight(term)).sum();
        f.capcov = if all > 0.0 { found / all } else { 1.0 };
    }

    fn number(&self, at: usize) -> Option<f64> {
        self.matching.page.lexicon.number(self.tokens, at)
    }

    fn numbers(&self, f: &mut Features) {
        let here: Vec<(usize, f64)> = (0..self.tokens.len())
            .filter_map(|at| Some((at, self.number(at)?)))
            .collect();
        let is_here = |number: f64| here.iter().any(|(_, other)| *other == number);
        let wanted = self.matching.terms.iter().filter_map(|term| term.number);
        let (found, total) = wanted.fold((0, 0), |(found, total), number| {
            (found + usize::from(is_here(number)), total + 1)
        });
        f.nnum = count(total);
        f.numcov = if total > 0 {
            count(found) / count(total)
        } else {
            1.0
        };
        f.numfar = flag(total > 0 && found == 0 && !here.is_empty());
        if found < total {
            let others = self
                .asking
                .numbers
                .iter()
                .filter(|(_, number)| !is_here(*number));
            let conflicts = |at: usize| {
                here.iter()
                    .take(64)
                    .any(|(other, _)| self.conflicts(at, *other))
            };
            f.numconf = flag(others.into_iter().any(|(at, _)| conflicts(*at)));
        }
    }

    /// Whether a number of the question and one of the unit stand beside the same words.
    fn conflicts(&self, at: usize, other: usize) -> bool {
        let question = self.matching.question;
        if question.form(at).is(does::YEAR) != self.forms[other].is(does::YEAR) {
            return false;
        }
        let beside = |at: usize, total: usize| at.saturating_sub(2)..(at + 3).min(total);
        let same = beside(at, question.tokens.len()).any(|near| {
            let form = question.form(near);
            let is_word = !form.is_stop() && form.number.is_none();
            is_word
                && beside(other, self.forms.len()).any(|place| {
                    let form = self.forms[place];
                    !form.is_stop()
                        && form.number.is_none()
                        && self.matching.stems[near] == Some(form.stem)
                })
        });
        same || (question.form(at).is(does::YEAR)
            && at > 0
            && other > 0
            && question.form(at - 1).low == self.forms[other - 1].low)
    }

    fn has(&self, flags: u32) -> bool {
        self.forms.iter().any(|form| form.is(flags))
    }

    fn polarity(&self, f: &mut Features) {
        let question = self.matching.question;
        let (asked, said) = (question.has(does::NEGATION), self.has(does::NEGATION));
        f.negq = flag(asked);
        f.negs = flag(said);
        f.negd = flag(asked != said);
        let (up, down) = (self.has(does::UP), self.has(does::DOWN));
        let (goes_up, goes_down) = (self.asking.goes_up, self.asking.goes_down);
        f.dr =
            flag((goes_up && down && !up && !goes_down) || (goes_down && up && !down && !goes_up));
        f.hedge = flag(self.has(does::HEDGE));
        f.hedgeq = flag(question.has(does::HEDGE));
        let here = |stems: &[u32]| stems.iter().any(|stem| self.stems.contains(stem));
        for term in self.terms().filter(|&term| !self.is_exact(term)) {
            f.ant += flag(here(&self.asking.plain_antonyms[term]));
            let antonyms = &self.asking.antonyms[term];
            if here(antonyms) {
                f.antw += 1.0;
                let stands_beside = |at: usize| {
                    let near = at.saturating_sub(2)..(at + 3).min(self.forms.len());
                    near.into_iter()
                        .any(|other| other != at && self.is_hit(other))
                };
                let places =
                    (0..self.forms.len()).filter(|&at| antonyms.contains(&self.forms[at].stem));
                f.antadj = f.antadj.max(flag(places.into_iter().any(stands_beside)));
            }
        }
        let asked_ordinals: Vec<u8> = question
            .forms()
            .map(|form| form.ordinal)
            .filter(|o| *o > 0)
            .collect();
        let ordinals: Vec<u8> = self
            .forms
            .iter()
            .map(|form| form.ordinal)
            .filter(|o| *o > 0)
            .collect();
        let is_same = asked_ordinals
            .iter()
            .any(|ordinal| ordinals.contains(ordinal));
        f.ordconf = flag(!asked_ordinals.is_empty() && !ordinals.is_empty() && !is_same);
        let superlative = question.has_superlative();
        f.supq = flag(superlative);
        f.supmis = flag(superlative && !self.has(does::SUPERLATIVE));
        f.sups = flag(!superlative && self.has(does::SUPERLATIVE));
        let mut all = question.forms().filter(|form| form.is(does::ALL));
        f.allmis = flag(all.any(|form| !self.forms.iter().any(|other| other.low == form.low)));
    }

    /// Positions of words that could be what is asked for.
    fn possible_answers(&self) -> Vec<usize> {
        let all = 0..self.forms.len();
        let form = |at: usize| self.forms[at];
        let is_named = |at: usize| {
            self.is_new(at)
                && form(at).is(does::CAPITAL)
                && form(at).number.is_none()
                && !form(at).is(does::DATE)
        };
        match self.matching.question.asked {
            Asked::When => all
                .filter(|&at| form(at).is(does::DATE) && !self.is_term(form(at).stem))
                .collect(),
            Asked::Number => all
                .filter(|&at| {
                    (form(at).number.is_some() || is_amount(&form(at).low))
                        && !self.is_term(form(at).stem)
                })
                .collect(),
            Asked::Who => all
                .filter(|&at| {
                    let next_is_capital =
                        self.forms.get(1).is_some_and(|next| next.is(does::CAPITAL));
                    let is_inside =
                        at > 0 || next_is_capital || self.matching.page.is_name(form(at).stem);
                    is_named(at) && is_inside
                })
                .collect(),
            Asked::Where => all
                .filter(|&at| {
                    at > 0
                        && is_named(at)
                        && (form(at - 1).is(does::PREPOSITION | does::CAPITAL)
                            || (at > 1 && form(at - 2).is(does::PREPOSITION)))
                })
                .collect(),
            Asked::Why => (0..usize::from(self.gives_reason())).collect(),
            Asked::How => (0..usize::from(self.gives_manner())).collect(),
            _ => all.filter(|&at| self.is_new(at)).collect(),
        }
    }

    fn low(&self, at: usize) -> &str {
        self.forms.get(at).map_or("", |form| &form.low)
    }

    fn gives_reason(&self) -> bool {
        (0..self.forms.len()).any(|at| match self.low(at) {
            "because" | "since" | "owing" | "reason" | "reasons" | "therefore" | "thus" => true,
            "due" => self.low(at + 1) == "to",
            "led" => self.low(at + 1) == "to",
            "so" => self.low(at + 1) == "that",
            "cause" | "caused" => self.low(at + 1) == "by",
            "result" | "results" | "resulted" => matches!(self.low(at + 1), "in" | "from"),
            "as" => (self.low(at + 1), self.low(at + 2)) == ("a", "result"),
            "in" => (self.low(at + 1), self.low(at + 2)) == ("order", "to"),
            "for" => (self.low(at + 1), self.low(at + 2)) == ("the", "purpose"),
            "to" => matches!(
                self.low(at + 1),
                "avoid"
                    | "prevent"
                    | "make"
                    | "allow"
                    | "ensure"
                    | "protect"
                    | "increase"
                    | "reduce"
                    | "help"
                    | "create"
            ),
            _ => false,
        })
    }

    fn gives_manner(&self) -> bool {
        (0..self.forms.len()).any(|at| match self.low(at) {
            "by" | "through" | "using" | "via" | "method" => true,
            "means" => self.low(at + 1) == "of",
            "with" => (self.low(at + 1), self.low(at + 2)) == ("the", "use"),
            _ => false,
        })
    }

    fn answers(&self, f: &mut Features) {
        let asked = self.matching.question.asked;
        let answers = self.possible_answers();
        let hits: Vec<usize> = (0..self.forms.len())
            .filter(|&at| self.is_hit(at))
            .collect();
        f.hasans = flag(!answers.is_empty());
        f.nans = count(answers.len().min(8)) / 8.0;
        if !matches!(asked, Asked::Why | Asked::How) {
            let nearest = answers
                .iter()
                .filter_map(|at| {
                    let next = hits.partition_point(|hit| hit < at);
                    let near = hits[next.saturating_sub(1)..].iter().take(2);
                    near.map(|hit| hit.abs_diff(*at)).min()
                })
                .min();
            f.ansdist = nearest.map_or(0.0, |distance| 1.0 / (1.0 + count(distance)));
        }
        f.ans_near = match asked {
            Asked::Why | Asked::How => f.win,
            _ => self.weight_near(&answers),
        };
        if let Some(measure) = self.asking.measure {
            let is_here = measure.is_in(self.matching.page.unit_text(self.unit));
            f.measured = flag(is_here);
            f.unmeasured = flag(!is_here);
            f.money = flag(is_here && measure == Measure::Money);
        }
        let head = &self.asking.head;
        if let Some((_, last)) = head.last() {
            f.headm = flag(last.is_some_and(|stem| self.stems.contains(&stem)));
            let credits = head
                .iter()
                .filter_map(|(term, _)| Some(self.carried[(*term)?]));
            f.head_r = credits.fold(0.0, f64::max);
            let is_above = |term: &Option<usize>| term.is_some_and(|term| self.above[term] >= 0.5);
            f.headmis = flag(f.head_r == 0.0 && !head.iter().any(|(term, _)| is_above(term)));
            let is_head = |at: usize| {
                let stem = self.forms[at].stem;
                head.iter().any(|(term, own)| {
                    *own == Some(stem) || term.is_some_and(|term| self.matching.carries(stem, term))
                })
            };
            if asked == Asked::Number {
                let followed = |at: &usize| (at + 1..(at + 4).min(self.forms.len())).any(is_head);
                f.anumhead = flag(answers.iter().any(followed));
            }
        }
        let defines = self.matching.question.is_definition;
        f.def = flag(defines);
        f.defpos = flag(defines) / (1.0 + count(self.unit));
        if let Some(&first) = hits.first()
            && defines
            && first <= 1
        {
            let after = (first + 1..first + 14).map(|at| self.low(at));
            let says =
                |word: &str| matches!(word, "is" | "are" | "was" | "were" | "refers" | "means");
            f.isdef = flag(after.into_iter().any(says));
        }
    }

    fn neighbours(&self, f: &mut Features) {
        let matching = self.matching;
        let unit = self.unit;
        let before = matching.carried_in(unit.checked_sub(1));
        let second = matching.carried_in(unit.checked_sub(2));
        let after = matching.carried_in(Some(unit + 1));
        f.prevcov = self.share(|term| before[term]);
        f.nextcov = self.share(|term| after[term]);
        let here = |term: usize, above: f64| self.carried[term].max(above * self.above[term]);
        f.cov_p = self.share(|term| here(term, 0.7).max(0.7 * before[term]));
        f.cov_n = self.share(|term| here(term, 0.7).max(0.7 * after[term]));
        f.lent = self.share(|term| match self.is_missing(term) {
            true => before[term].max(after[term]),
            false => 0.0,
        });
        f.cov_u3 = self.share(|term| self.carried[term].max(before[term]).max(after[term]));
        f.cov_w = self.share(|term| {
            here(term, 0.8)
                .max(0.7 * before[term])
                .max(0.5 * second[term])
                .max(0.5 * after[term])
        });
        let form = |at: usize| self.forms.get(at);
        let is_pronoun = self.forms.iter().take(6).any(|form| form.is(does::PRONOUN));
        let is_definite =
            self.low(0) == "the" && form(1).is_some_and(|next| !next.is(does::CAPITAL));
        f.pron = flag(is_pronoun || is_definite);
        f.cov_pr = if f.pron > 0.0 { f.cov_p } else { f.cov_r };
        let around = unit.saturating_sub(3)..(unit + 4).min(matching.score.len());
        let others: Vec<f64> = around
            .filter(|other| *other != unit)
            .map(|other| matching.score[other])
            .collect();
        if !others.is_empty() {
            f.nb3 = others.iter().sum::<f64>() / count(others.len()) / matching.score_max;
        }
    }

    fn substitutions(&self, f: &mut Features) {
        if !self.terms().any(|term| self.is_missing(term)) {
            return;
        }
        let question = self.matching.question;
        let stems = &self.matching.stems;
        for at in 1..question.tokens.len().saturating_sub(1) {
            let form = question.form(at);
            let is_carried = question.term_of[at].is_some_and(|term| self.carried[term] > 0.0);
            let (Some(left), Some(right)) = (stems[at - 1], stems[at + 1]) else {
                continue;
            };
            if form.is_stop() || is_carried {
                continue;
            }
            let other = (1..self.forms.len().saturating_sub(1)).find(|&place| {
                self.forms[place - 1].stem == left
                    && self.forms[place + 1].stem == right
                    && Some(self.forms[place].stem) != stems[at]
                    && !self.forms[place].is_stop()
            });
            if let Some(other) = other {
                f.sub += 1.0;
                f.entconf += flag(self.forms[other].is(does::CAPITAL) || form.is(does::CAPITAL));
            }
        }
        for pair in question.term_of.windows(2) {
            if let [Some(first), Some(second)] = *pair {
                self.modifiers(first, second, f);
            }
        }
    }

    /// Two terms side by side in the question, of which the unit carries one.
    fn modifiers(&self, first: usize, second: usize, f: &mut Features) {
        let places = |term: usize| {
            (0..self.forms.len())
                .filter(move |&at| self.matching.carries(self.forms[at].stem, term))
        };
        let has = |term: usize| !self.places[term].is_empty();
        if self.is_missing(first) && has(second) {
            if places(second).any(|at| at > 0 && self.is_new(at - 1)) {
                f.modsub += self.weight(first);
            } else {
                f.modnone += self.weight(first);
            }
        }
        if self.is_missing(second)
            && has(first)
            && places(first).any(|at| at + 1 < self.forms.len() && self.is_new(at + 1))
        {
            f.rsub += self.weight(second);
        }
    }

    /// What belongs together in the question and stands apart here.
    fn torn(&self, f: &mut Features) {
        let terms = &self.matching.terms;
        for pair in self.matching.question.term_of.windows(2) {
            let [Some(first), Some(second)] = *pair else {
                continue;
            };
            let carried = self.carried[first].min(self.carried[second]);
            let (one, other) = (&self.places[first], &self.places[second]);
            let mut steps = one
                .iter()
                .flat_map(|a| other.iter().map(move |b| a.abs_diff(*b)));
            if first != second && carried >= 0.7 && !steps.any(|step| step <= 2) {
                let weight = self.weight(first).min(self.weight(second));
                f.apart += weight;
                f.apart_name += weight * flag(terms[first].is_name && terms[second].is_name);
            }
        }
        let question = self.matching.question;
        let word = |at: usize| {
            question
                .tokens
                .get(at)
                .map_or("", |_| &*question.form(at).low)
        };
        f.excl = flag((0..question.tokens.len()).any(|at| {
            matches!(
                (word(at), word(at + 1)),
                ("other", "than")
                    | ("along", "with")
                    | ("aside" | "apart", "from")
                    | ("in", "addition")
                    | ("besides" | "except" | "excluding" | "without", _)
            )
        }));
    }

    /// The most weight within six words of one that could be the answer.
    fn weight_near(&self, answers: &[usize]) -> f64 {
        let mut best = 0.0_f64;
        let mut seen = vec![usize::MAX; self.places.len()];
        for (number, &at) in answers.iter().take(40).enumerate() {
            let near = at.saturating_sub(6)..(at + 7).min(self.forms.len());
            let mut weight = 0.0;
            for place in near.filter(|place| *place != at && self.is_hit(*place)) {
                for &(term, _) in self.matching.carried_by(self.forms[place].stem) {
                    if seen[term] != number {
                        seen[term] = number;
                        weight += self.weight(term) * self.carried[term];
                    }
                }
            }
            best = best.max(weight);
        }
        best / self.matching.weight
    }

    fn shape(&self, f: &mut Features) {
        let new = (0..self.forms.len()).filter(|&at| self.is_new(at)).count();
        f.newtok = count(new.min(12)) / 12.0;
        f.slen = count(self.forms.len().min(60)) / 30.0;
        f.pos1 = flag(self.unit == 0);
        f.posinv = 1.0 / (1.0 + count(self.unit));
        f.qlen = count(self.matching.terms.len().min(15));
    }
}

fn is_amount(word: &str) -> bool {
    matches!(
        word,
        "one" | "hundreds" | "thousands" | "millions" | "half" | "third" | "quarter" | "dozens"
    )
}
