//! Words of a unit that could be what is asked for, and how near to the terms they stand.

use super::look::Look;
use super::{Features, count, flag};
use crate::evidence::engine::measure::Measure;
use crate::evidence::engine::question::Asked;
use crate::evidence::reading::words::does;

impl Look<'_> {
    pub(crate) fn answers(&self, f: &mut Features) {
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
}

fn is_amount(word: &str) -> bool {
    matches!(
        word,
        "one" | "hundreds" | "thousands" | "millions" | "half" | "third" | "quarter" | "dozens"
    )
}
