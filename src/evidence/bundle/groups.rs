//! Which sources speak for themselves. A mirror, a reprint or another address of the same page says nothing that the
//! first one has not said: they count once. The same publisher is noted, and does not make two texts one.

use std::collections::{BTreeSet, HashSet};
use std::hash::Hasher;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::closed_set::closed_set;
use crate::evidence::bundle::read::{Read, Submitted};
use crate::evidence::engine::values::{Value, Wanted, clash, values};
use crate::evidence::reading::text::{Word, is_negation, is_stop, number, plain, stem, words};
use crate::evidence::report::{QuestionForm, Report};

/// Words of a shingle.
const SHINGLE_WORDS: usize = 5;
/// The smallest hashes of a text's shingles, which stand for all of them.
const SKETCH_MAX: usize = 1_024;
/// Words of a text that are looked at.
const WORDS_MAX: usize = 200_000;
/// So much of two texts is the same in mirrors, whatever frames it.
const TEXT_LIKENESS_MIN: f64 = 0.7;
/// So much of what is cited is the same in reprints, and so many shingles it must have.
const PASSAGE_LIKENESS_MIN: f64 = 0.8;
const PASSAGE_SHINGLES_MIN: usize = 12;
/// So much of two sentences is the same where one is the other with a fact changed.
const SENTENCE_LIKENESS_MIN: f64 = 0.5;

/// Sources that count as one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Group {
    /// `G1`, `G2` … in the order of their first sources.
    pub id: String,
    pub source_ids: Vec<String>,
    /// Why they count as one; empty for one source.
    pub because: Vec<Likeness>,
    /// The registrable domains that they were found under.
    pub publishers: Vec<String>,
}

closed_set! {
    /// Why sources count as one.
    pub enum Likeness {
        NearDuplicate = "near_duplicate",
        SameAddress = "same_address",
        SameContent = "same_content",
        SamePassages = "same_passages",
    }
}

/// The groups of the sources that were read, and the group's index of each submitted one.
#[derive(Debug)]
pub(super) struct Groups {
    pub(super) groups: Vec<Group>,
    /// Pairs of sources that have the same text but for the passage that answers the question.
    pub(super) altered: Vec<(usize, usize)>,
    of_source: Vec<Option<usize>>,
}

impl Groups {
    pub(super) fn of(submitted: &[Submitted<'_>]) -> Groups {
        let prints: Vec<Option<Print>> = submitted
            .iter()
            .map(|source| source.read.as_ref().map(Print::of))
            .collect();
        let mut reads = submitted.iter().filter_map(|source| source.read.as_ref());
        let Some(asked) = reads.next().map(|read| QuestionTerms::of(&read.report)) else {
            return Groups::named(submitted, Vec::new(), Vec::new());
        };
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let mut reasons: Vec<BTreeSet<Likeness>> = Vec::new();
        for (at, print) in prints.iter().enumerate() {
            let Some(print) = print else { continue };
            let mut joined: Option<usize> = None;
            let mut group = 0;
            while group < groups.len() {
                let others = groups[group]
                    .iter()
                    .filter_map(|other| prints[*other].as_ref());
                let why = others
                    .filter_map(|other| print.same_as(other, &asked))
                    .next();
                match (why, joined) {
                    (None, _) => group += 1,
                    (Some(why), None) => {
                        groups[group].push(at);
                        reasons[group].insert(why);
                        joined = Some(group);
                        group += 1;
                    }
                    // It is like two groups that were not like each other: one, after all.
                    (Some(why), Some(first)) => {
                        let (others, whys) = (groups.remove(group), reasons.remove(group));
                        groups[first].extend(others);
                        reasons[first].extend(whys);
                        reasons[first].insert(why);
                    }
                }
            }
            if joined.is_none() {
                groups.push(vec![at]);
                reasons.push(BTreeSet::new());
            }
        }
        let mut named = Groups::named(submitted, groups, reasons);
        let read = |at: usize| prints[at].as_ref();
        let sources = 0..prints.len();
        let pairs = sources
            .clone()
            .flat_map(|one| (one + 1..prints.len()).map(move |other| (one, other)));
        named.altered = pairs
            .filter(|(one, other)| named.of_source(*one) != named.of_source(*other))
            .filter(|(one, other)| {
                read(*one)
                    .zip(read(*other))
                    .is_some_and(|(one, other)| one.is_altered(other, &asked))
            })
            .collect();
        named
    }

    fn named(
        submitted: &[Submitted<'_>],
        groups: Vec<Vec<usize>>,
        reasons: Vec<BTreeSet<Likeness>>,
    ) -> Groups {
        let mut of_source = vec![None; submitted.len()];
        let numbered = groups.into_iter().zip(reasons).enumerate();
        let named = numbered.map(|(index, (mut members, because))| {
            members.sort_unstable();
            for member in &members {
                of_source[*member] = Some(index);
            }
            let sources = members.iter().map(|member| &submitted[*member]);
            let publishers = sources.clone().filter_map(|source| source.read.as_ref());
            let publishers: BTreeSet<&str> =
                publishers.map(|read| read.publisher.as_str()).collect();
            Group {
                id: format!("G{}", index + 1),
                source_ids: sources.map(|source| source.id.clone()).collect(),
                because: because.into_iter().collect(),
                publishers: publishers.into_iter().map(str::to_owned).collect(),
            }
        });
        let groups = named.collect();
        Groups {
            groups,
            altered: Vec::new(),
            of_source,
        }
    }

    /// The group's index of a source, by the source's index.
    pub(super) fn of_source(&self, source: usize) -> Option<usize> {
        self.of_source.get(source).copied().flatten()
    }

    /// How many of these sources are independent of each other.
    pub(super) fn count(&self, sources: impl Iterator<Item = usize>) -> usize {
        let groups: HashSet<usize> = sources.filter_map(|at| self.of_source(at)).collect();
        groups.len()
    }

    /// How many publishers stand behind these sources.
    pub(super) fn publishers(&self, sources: impl Iterator<Item = usize>) -> usize {
        let groups = sources.filter_map(|at| self.of_source(at));
        // A group speaks with its first publisher's voice.
        let voices: HashSet<&str> = groups
            .filter_map(|group| self.groups[group].publishers.first())
            .map(String::as_str)
            .collect();
        voices.len()
    }
}

/// What a text is told from another by.
struct Print {
    addresses: Vec<String>,
    content: String,
    text: Vec<u64>,
    passages: Vec<u64>,
    /// The best passage, and all of them.
    best: Option<Facts>,
    cited: Vec<Facts>,
}

/// What a passage says in words that a copy must have as well: its numbers, its names, and whether it denies.
struct Facts {
    stems: BTreeSet<String>,
    numbers: BTreeSet<String>,
    names: BTreeSet<String>,
    values: Vec<Value>,
    denies: bool,
}

impl Facts {
    fn of(passage: &str) -> Facts {
        let passage = plain(passage);
        let words = words(&passage);
        let is_name = |word: &&Word<'_>| !word.begins && word.text.starts_with(char::is_uppercase);
        let content = words
            .iter()
            .filter(|word| !is_stop(&word.text.to_lowercase()));
        let denials = words
            .iter()
            .filter(|word| is_negation(&word.text.to_lowercase()));
        Facts {
            stems: content.map(|word| stem(word.text)).collect(),
            numbers: words.iter().filter_map(|word| number(word.text)).collect(),
            names: words
                .iter()
                .filter(is_name)
                .map(|word| word.text.to_lowercase())
                .collect(),
            values: values(&passage),
            denies: denials.count() % 2 == 1,
        }
    }

    /// The same sentence with something else in the place of what is asked.
    fn is_altered(&self, other: &Facts, asked: &QuestionTerms) -> bool {
        let shared = self.stems.intersection(&other.stems).count();
        let all = self.stems.union(&other.stems).count();
        ratio(shared, all) >= SENTENCE_LIKENESS_MIN && self.differs(other, asked)
    }

    fn differs(&self, other: &Facts, asked: &QuestionTerms) -> bool {
        let names = || self.names.symmetric_difference(&other.names);
        let mut numbers = self.numbers.symmetric_difference(&other.numbers);
        match (asked.form, &asked.wanted) {
            (QuestionForm::Open, _) => false,
            (QuestionForm::Wh, Some(wanted)) => {
                let of = |facts: &Facts| -> Vec<Value> {
                    let taken = facts.values.iter().filter(|value| wanted.takes(value));
                    taken.cloned().collect()
                };
                clash(&of(self), &of(other)).is_some()
            }
            (QuestionForm::Wh, None) => names().next().is_some(),
            (QuestionForm::Claim | QuestionForm::YesNo, _) => {
                self.denies != other.denies
                    || numbers.any(|number| asked.numbers.contains(number))
                    || names().any(|name| asked.words.contains(name))
            }
        }
    }
}

/// What a copy must not have changed to be one.
struct QuestionTerms {
    form: QuestionForm,
    wanted: Option<Wanted>,
    words: BTreeSet<String>,
    numbers: BTreeSet<String>,
}

impl QuestionTerms {
    fn of(report: &Report) -> QuestionTerms {
        let words = words(&report.question);
        QuestionTerms {
            form: report.analysis.question_kind,
            wanted: Wanted::of(&report.question),
            words: words.iter().map(|word| word.text.to_lowercase()).collect(),
            numbers: words.iter().filter_map(|word| number(word.text)).collect(),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "words of a passage")]
pub(super) fn ratio(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}

impl Print {
    fn of(read: &Read<'_>) -> Print {
        let profile = &read.report.source_profile;
        let canonical = profile.canonical_url.iter();
        let addresses = canonical.chain([&profile.final_url]);
        let cited = read.report.citations.iter();
        let cited: Vec<&str> = cited.map(|cited| cited.excerpt.as_str()).collect();
        Print {
            addresses: addresses.map(|url| address(url)).collect(),
            content: profile.content_sha256.clone(),
            text: sketch(read.text),
            passages: sketch(&cited.join("\n")),
            best: cited.first().map(|best| Facts::of(best)),
            cited: cited.iter().map(|passage| Facts::of(passage)).collect(),
        }
    }

    /// It is a copy in which the best passage answers otherwise.
    fn is_altered(&self, other: &Print, asked: &QuestionTerms) -> bool {
        let lacks = |one: &Print, other: &Print| {
            one.best.as_ref().is_some_and(|best| {
                let is_there =
                    |cited: &Facts| cited.stems == best.stems && cited.denies == best.denies;
                !other.cited.iter().any(is_there)
                    && other
                        .cited
                        .iter()
                        .any(|cited| best.is_altered(cited, asked))
            })
        };
        self.likeness(other).is_some() && (lacks(self, other) || lacks(other, self))
    }

    fn same_as(&self, other: &Print, asked: &QuestionTerms) -> Option<Likeness> {
        let shares = |url: &String| !url.is_empty() && other.addresses.contains(url);
        if self.addresses.iter().any(shares) {
            Some(Likeness::SameAddress)
        } else if self.content == other.content && !self.content.is_empty() {
            Some(Likeness::SameContent)
        } else {
            self.likeness(other)
                .filter(|_| !self.is_altered(other, asked))
        }
    }

    fn likeness(&self, other: &Print) -> Option<Likeness> {
        if likeness(&self.text, &other.text) >= TEXT_LIKENESS_MIN {
            Some(Likeness::NearDuplicate)
        } else if self.passages.len().min(other.passages.len()) >= PASSAGE_SHINGLES_MIN
            && likeness(&self.passages, &other.passages) >= PASSAGE_LIKENESS_MIN
        {
            Some(Likeness::SamePassages)
        } else {
            None
        }
    }
}

/// An address as it compares: without scheme, `www.`, fragment and a slash at the end.
fn address(url: &str) -> String {
    let url = url.split('#').next().unwrap_or_default();
    let url = url.split_once("://").map_or(url, |(_, rest)| rest);
    let url = url.strip_prefix("www.").unwrap_or(url);
    url.trim_end_matches('/').to_owned()
}

/// The smallest hashes of a text's shingles, in order and once each.
fn sketch(text: &str) -> Vec<u64> {
    let lower: Vec<String> = words(text)
        .iter()
        .take(WORDS_MAX)
        .map(|word| word.text.to_lowercase())
        .collect();
    let width = SHINGLE_WORDS.min(lower.len()).max(1);
    let mut hashes: Vec<u64> = lower.windows(width).map(hash).collect();
    hashes.sort_unstable();
    hashes.dedup();
    hashes.truncate(SKETCH_MAX);
    hashes
}

/// FNV-1a: the same in every build, for the same text must give the same groups.
fn hash(shingle: &[String]) -> u64 {
    let mut hasher = Fnv(0xcbf2_9ce4_8422_2325);
    for word in shingle {
        hasher.write(word.as_bytes());
        hasher.write(&[0]);
    }
    hasher.finish()
}

struct Fnv(u64);

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// Spread over all bits: the smallest of them must be a fair sample.
    fn finish(&self) -> u64 {
        let mixed = (self.0 ^ (self.0 >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        mixed ^ (mixed >> 33)
    }
}

/// The Jaccard index of two texts, guessed from the smallest hashes of both together.
#[expect(clippy::cast_precision_loss, reason = "at most a thousand")]
fn likeness(one: &[u64], other: &[u64]) -> f64 {
    let both: BTreeSet<u64> = one.iter().chain(other).copied().collect();
    let sample = both.len().min(SKETCH_MAX);
    if one.is_empty() || other.is_empty() {
        return 0.0;
    }
    let shared = both.iter().take(sample);
    let shared =
        shared.filter(|hash| one.binary_search(hash).is_ok() && other.binary_search(hash).is_ok());
    shared.count() as f64 / sample as f64
}
