//! What a candidate has to do with a question, in numbers. The model knows them by name; what each says stands beside
//! it. Knows no weights.

mod answers;
mod around;
mod asking;
mod contrast;
mod coverage;
mod look;
mod order;

use super::matching::Matching;
use asking::Asking;
use look::Look;

macro_rules! features {
    ($(#[$of:meta])* $group:ident { $($(#[doc = $what:literal])* $name:ident,)* }) => {
        $(#[$of])*
        #[derive(Clone, Copy, Debug, Default)]
        pub(crate) struct $group { $($(#[doc = $what])* pub(crate) $name: f64,)* }

        impl $group {
            pub(crate) const NAMES: &'static [&'static str] = &[$(stringify!($name)),*];

            pub(crate) fn values(&self) -> [f64; Self::NAMES.len()] {
                [$(self.$name),*]
            }
        }
    };
}
pub(crate) use features;

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
pub(crate) struct Candidate {
    pub(crate) unit: usize,
    pub(crate) features: Features,
    /// By term.
    pub(crate) carried: Vec<f64>,
    pub(crate) above: Vec<f64>,
}

impl Candidate {
    /// Whether the unit, or what it stands under, has this term of the question.
    pub(crate) fn has(&self, term: usize) -> bool {
        self.carried[term] > 0.0 || self.above[term] >= 0.5
    }
}

pub(crate) fn candidates(matching: &Matching<'_>) -> Vec<Candidate> {
    let asking = Asking::new(matching);
    matching
        .candidates
        .iter()
        .map(|&unit| candidate(&asking, unit))
        .collect()
}

fn candidate(asking: &Asking<'_>, unit: usize) -> Candidate {
    let look = Look::new(asking, unit);
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
    asking.kind(&mut features);
    Candidate {
        unit,
        features,
        carried: look.carried,
        above: look.above,
    }
}

fn flag(is_so: bool) -> f64 {
    if is_so { 1.0 } else { 0.0 }
}

fn count(number: usize) -> f64 {
    number as f64
}
