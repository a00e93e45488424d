//! What the sources say to each statement. A source is read once and put to all statements; the entailment model reads only
//! the passages that the words rank first, so many in all.

use crate::evidence::engine::entail::{Asking, Plan};
use crate::evidence::engine::findings;
use crate::evidence::engine::matching::Matching;
use crate::evidence::engine::question::Question;
use crate::evidence::engine::verdict::{Judge, Look};
use crate::evidence::{Check, Depth, Examiner, Label, cut};

/// Sources that one statement is put to: those whose passages share most with it.
pub(super) const HEARD_MAX: usize = 5;
/// Less than this share of a statement's words in a passage and those around it says nothing about it.
const REACH_MIN: f64 = 0.15;
/// A source whose best passage carries so much less than another's is not heard beside that one.
const REACH_SHARE_MIN: f64 = 0.5;

/// From this probability on, what the entailment model has read contradicts a statement that nothing supports. A report
/// asks for more; who checks a text wants to see what may be wrong beside its passage. On 1,520 of our own near-misses
/// (`data/evidence/nearmiss`, which the labels are fitted to) it makes 152 of 476 false claims contradicted in place of 92,
/// and 6 of 928 true ones in place of 2.
const DENIAL_MIN: f64 = 0.8;

/// What a source says to a statement.
#[derive(Debug)]
pub(super) struct Heard {
    /// An index into the sources.
    pub(super) source: usize,
    pub(super) check: Check,
    /// P(the source says the opposite).
    pub(super) denial: f64,
}

/// How many passages the entailment model reads: for one statement, and for all of them. A report reads eleven for one; of
/// 213 near-misses three passages and eleven called 53 and 51 of 108 true claims supported, and 6 and 4 of 91 false ones.
fn passages(depth: Depth) -> (usize, usize) {
    match depth {
        Depth::Quick => (0, 0),
        Depth::Standard => (3, 240),
        Depth::Deep => (12, 600),
    }
}

/// The sources, as statements are put to them.
pub(super) struct Bench<'a> {
    sources: &'a [Examiner<'a>],
    depth: Depth,
    /// Passages that the model may still read.
    left: usize,
    asking: Option<Asking>,
}

impl<'a> Bench<'a> {
    pub(super) fn new(sources: &'a [Examiner<'a>], depth: Depth) -> Bench<'a> {
        Bench {
            sources,
            depth,
            left: passages(depth).1,
            asking: None,
        }
    }

    /// What the sources say that have words for it, in no order that matters.
    pub(super) fn hear(&mut self, statement: &str) -> Vec<Heard> {
        let statement = cut(statement);
        let sources = self.sources;
        let question = |source: &Examiner<'_>| Question::new(statement, true, source.page.language);
        let questions: Vec<Question> = sources.iter().map(question).collect();
        let matchings = sources.iter().zip(&questions);
        let matchings: Vec<Matching<'_>> = matchings
            .map(|(source, question)| Matching::new(&source.page, question))
            .collect();
        let mut looks: Vec<(usize, Look)> = worth_hearing(&matchings)
            .into_iter()
            .map(|at| (at, self.judge(at).look(statement, true, &matchings[at])))
            .collect();
        looks.sort_by(|(one_at, one), (other_at, other)| {
            other
                .likely
                .total_cmp(&one.likely)
                .then(one_at.cmp(other_at))
        });
        let shares = self.shares(statement, &looks);
        let heard = looks.into_iter().zip(shares);
        let heard = heard.map(|((at, look), share)| self.conclude(statement, at, look, share));
        heard.collect()
    }

    fn judge(&self, at: usize) -> Judge<'a> {
        let source = &self.sources[at];
        Judge {
            page: &source.page,
            model: source.model,
            depth: self.depth,
        }
    }

    /// How many passages of each source the model reads, the most promising first; none for what a source says word for
    /// word.
    fn shares(&mut self, statement: &str, looks: &[(usize, Look)]) -> Vec<usize> {
        let mut shares = vec![0; looks.len()];
        let is_said =
            |(at, look): &(usize, Look)| self.judge(*at).is_said_verbatim(statement, look);
        let open: Vec<bool> = looks.iter().map(|look| !is_said(look)).collect();
        let mut left = passages(self.depth)
            .0
            .max(open.iter().filter(|open| **open).count())
            .min(self.left);
        if self.depth == Depth::Quick {
            left = 0;
        }
        for round in 0.. {
            let before = left;
            for (at, (_, look)) in looks.iter().enumerate() {
                if left > 0 && open[at] && look.ranked.len() > round {
                    shares[at] += 1;
                    left -= 1;
                }
            }
            if left == before {
                break;
            }
        }
        self.left -= shares.iter().sum::<usize>();
        shares
    }

    fn conclude(&mut self, statement: &str, at: usize, mut look: Look, share: usize) -> Heard {
        let judge = self.judge(at);
        let verdicts = plan(share).map(|plan| {
            let asking = self.asking.get_or_insert_with(|| Asking::new(""));
            asking.ask(statement);
            judge.read_by(plan, asking, &mut look.ranked)
        });
        let mut judgement = judge.conclude(statement, look, verdicts.as_ref());
        let denial = judgement.denial;
        let is_open = matches!(judgement.label, Label::Weak | Label::Unsupported);
        if is_open && judgement.depth > Depth::Quick && denial >= DENIAL_MIN {
            judgement.label = Label::Contradicted;
        }
        Heard {
            source: at,
            check: findings::check(judge.page, statement, &judgement, &[]),
            denial,
        }
    }
}

/// The sources that carry enough of a statement, by number.
fn worth_hearing(matchings: &[Matching<'_>]) -> Vec<usize> {
    let mut reaches: Vec<(usize, f64)> =
        matchings.iter().map(Matching::reach).enumerate().collect();
    reaches.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
    let most = reaches.first().map_or(0.0, |(_, reach)| *reach);
    let least = REACH_MIN.max(most * REACH_SHARE_MIN);
    let worth = reaches.into_iter().filter(|(_, reach)| *reach >= least);
    worth.map(|(at, _)| at).take(HEARD_MAX).collect()
}

/// The best passages alone; from two on one of them is spent on the best one with the sentence before it.
fn plan(passages: usize) -> Option<Plan> {
    let before = usize::from(passages > 1);
    (passages > 0).then_some(Plan {
        alone: passages - before,
        together: false,
        before,
    })
}
