//! How near to one another a unit carries what stands together in the question, and in which order.

use super::look::Look;
use super::{Features, count, flag};

impl Look<'_> {
    pub(crate) fn order(&self, f: &mut Features) {
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

    /// What belongs together in the question and stands apart here.
    pub(crate) fn torn(&self, f: &mut Features) {
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
}
