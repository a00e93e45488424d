//! Which terms of the question a unit carries, which it lacks, and how large it is.

use super::asking::Class;
use super::look::Look;
use super::{Features, count, flag};

impl Look<'_> {
    pub(crate) fn coverage(&self, f: &mut Features) {
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

    pub(crate) fn missing(&self, f: &mut Features) {
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

    pub(crate) fn shape(&self, f: &mut Features) {
        let new = (0..self.forms.len()).filter(|&at| self.is_new(at)).count();
        f.newtok = count(new.min(12)) / 12.0;
        f.slen = count(self.forms.len().min(60)) / 30.0;
        f.pos1 = flag(self.unit == 0);
        f.posinv = 1.0 / (1.0 + count(self.unit));
        f.qlen = count(self.matching.terms.len().min(15));
    }
}
