//! What the ranked candidates say together about whether the page settles a question, in numbers. The model knows them
//! by name, after those of the best candidate.

use super::features::{Candidate, Features, features};
use super::matching::Matching;

features! {
    /// Of all candidates, best first.
    Summary {
        /// Rank scores: the best, the second, how far the second and the fourth lie behind, how many lie near, how much
        /// lies near, the mean.
        s1, s2, mar, mar3, near, soft, mean,
        /// The heaviest term: carried by the best, by any unit.
        rare_m, rare_any,
        /// Weighted share carried by the first three together, and by the page.
        cov3, cov_any,
        /// Terms that the best does not carry: the heaviest, the next, the sum; carried elsewhere: the heaviest, the
        /// sum; carried nowhere: the heaviest, how many.
        missmax, miss2, misssum, lostmax, lostsum, notany, nany,
        /// Names and numbers that the best, or the page, does not carry.
        namemiss, nummiss, nameany, numany, firstmiss, lastmiss, namelost,
        /// Where the best stands.
        topidx,
        /// The most of a feature over all candidates.
        mcov_r, mcov_w, mbms, mcov_p, mhas, manum, mant, mbig, mlcs, mwin,
        /// Of the second.
        t2cov, t2ant, t2has,
        /// The question is exacting.
        supers,
        /// What lies under a bound, and products.
        h1, h2, h3, full, cov2, negx, antx, hasx, lq, ctot,
    }
}

/// The names of what [`decisive`] gives.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    Features::NAMES.iter().chain(Summary::NAMES).copied()
}

/// The features of the best candidate and of all. `order` holds candidates, best first, with their rank scores.
pub(crate) fn decisive(
    matching: &Matching<'_>,
    candidates: &[Candidate],
    order: &[(usize, f64)],
) -> Vec<f64> {
    let best = order
        .first()
        .map_or_else(Features::default, |(at, _)| candidates[*at].features);
    let mut all = best.values().to_vec();
    all.extend(Summary::of(matching, candidates, order).values());
    all
}

impl Summary {
    pub(crate) fn of(
        matching: &Matching<'_>,
        candidates: &[Candidate],
        order: &[(usize, f64)],
    ) -> Summary {
        let mut summary = Summary::default();
        let Some(&(first, top)) = order.first() else {
            return summary;
        };
        let best = &candidates[first];
        summary.scores(order, top);
        summary.topidx = (1.0 + first as f64).ln();
        summary.terms(matching, candidates, order, best);
        summary.most(candidates);
        if let Some(second) = order.get(1).map(|(at, _)| &candidates[*at].features) {
            (summary.t2cov, summary.t2ant, summary.t2has) =
                (second.cov_r, second.ant, second.hasans);
        }
        let f = &best.features;
        summary.supers = if matching.question.is_exacting {
            1.0
        } else {
            0.0
        };
        summary.h1 = (0.35 - f.cov_r).max(0.0);
        summary.h2 = (0.5 - summary.cov_any).max(0.0);
        summary.h3 = (0.3 - summary.mcov_w).max(0.0);
        summary.full = if f.nun_r == 0.0 { 1.0 } else { 0.0 };
        summary.cov2 = f.cov_r * f.cov_r;
        summary.negx = f.negd * f.cov_r;
        summary.antx = f.antw * f.cov_r;
        summary.hasx = (1.0 - f.hasans) * f.cov_r;
        summary.lq = 1.0 / f.qlen.max(1.0);
        summary.ctot = matching.weight;
        summary
    }

    fn scores(&mut self, order: &[(usize, f64)], top: f64) {
        let score = |at: usize| order.get(at).map(|(_, score)| *score);
        self.s1 = top;
        self.s2 = score(1).unwrap_or(-9.0);
        self.mar = score(1).map_or(3.0, |score| top - score);
        self.mar3 = score(3).map_or(5.0, |score| top - score);
        let behind = || order.iter().map(|(_, score)| (score - top).exp());
        self.near = behind().filter(|share| *share > 0.5).count() as f64;
        self.soft = behind().sum::<f64>().ln();
        self.mean = order.iter().map(|(_, score)| score).sum::<f64>() / order.len() as f64;
    }

    fn terms(
        &mut self,
        matching: &Matching<'_>,
        candidates: &[Candidate],
        order: &[(usize, f64)],
        best: &Candidate,
    ) {
        let mut misses = Vec::new();
        let mut heaviest = 0.0;
        for (number, term) in matching.terms.iter().enumerate() {
            let weight = term.weight;
            let carried = best.carried[number];
            let above = best.above[number];
            let of_first_three = order
                .iter()
                .take(3)
                .map(|(at, _)| candidates[*at].carried[number]);
            let anywhere = if term.is_anywhere { 1.0 } else { 0.0 };
            if weight > heaviest {
                heaviest = weight;
                (self.rare_m, self.rare_any) = (carried, anywhere);
            }
            self.cov3 += weight * of_first_three.fold(0.0, f64::max) / matching.weight;
            self.cov_any += weight * anywhere / matching.weight;
            let here = carried.max(0.8 * above);
            let miss = weight * (1.0 - here);
            misses.push(miss);
            self.misssum += miss;
            let elsewhere = candidates
                .iter()
                .map(|other| other.carried[number])
                .fold(0.0, f64::max);
            let lost = weight * (elsewhere - here).max(0.0);
            self.lostmax = self.lostmax.max(lost);
            self.lostsum += lost;
            self.notany = self.notany.max(weight * (1.0 - anywhere));
            self.nany += 1.0 - anywhere;
            if term.is_name && above < 0.5 {
                self.namemiss += if carried == 0.0 { 1.0 } else { 0.0 };
                self.nameany += 1.0 - anywhere;
                self.namelost += if carried == 0.0 { anywhere } else { 0.0 };
            }
            if term.number.is_some() {
                self.nummiss += if carried == 0.0 { 1.0 } else { 0.0 };
                self.numany += 1.0 - anywhere;
            }
        }
        self.firstmiss = misses.first().copied().unwrap_or_default();
        self.lastmiss = misses.last().copied().unwrap_or_default();
        misses.sort_by(|one, other| other.total_cmp(one));
        self.missmax = misses.first().copied().unwrap_or_default();
        self.miss2 = misses.get(1).copied().unwrap_or_default();
    }

    fn most(&mut self, candidates: &[Candidate]) {
        for candidate in candidates {
            let f = &candidate.features;
            for (most, value) in [
                (&mut self.mcov_r, f.cov_r),
                (&mut self.mcov_w, f.cov_w),
                (&mut self.mbms, f.bms),
                (&mut self.mcov_p, f.cov_p),
                (&mut self.mhas, f.hasans),
                (&mut self.manum, f.anumhead),
                (&mut self.mant, f.ant),
                (&mut self.mbig, f.bigr),
                (&mut self.mlcs, f.lcs),
                (&mut self.mwin, f.win),
            ] {
                *most = most.max(value);
            }
        }
    }
}
