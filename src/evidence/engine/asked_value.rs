//! Which date, amount or name of a passage answers a question for one: of the kind that is asked for, in the clause with the
//! question's names and words. Where more than one could be it, none is. Knows no page.

use std::ops::Range;

use super::account::addresses::without_addresses;
use super::account::nearest::{Choice, Passage, Word};
use super::account::quantities::{Kind, Quantity, quantities};
use super::account::units::{Dimension, unit};
use super::question::{Asked, Question};
use crate::evidence::engine::measure::Measure;
use crate::evidence::reading::words::{does, known};

struct Asks<'a> {
    question: &'a Question,
    /// A time of day is asked for, and no date.
    of_day: bool,
    /// The words of the noun that is asked for, and their stems.
    head: Vec<(String, String)>,
    passage: Passage<'a>,
}

/// The bytes of the passage with the date, amount or name that answers the question.
pub(crate) fn asked_value(question: &Question, text: &str, passage: &str) -> Option<Range<usize>> {
    let passage = without_addresses(passage);
    let term = |at: &usize| {
        let form = question.form(*at);
        let is_name = form.is(does::CAPITAL) && *at > 0 || form.number.is_some();
        (question.stem(*at).to_owned(), 1 + usize::from(is_name))
    };
    let of_stem = |stem: &u32| {
        let form = question.forms().find(|form| form.stem == *stem)?;
        let stem = question.lexicon.stems[*stem as usize].to_string();
        Some((form.low.to_string(), stem))
    };
    let asks = Asks {
        question,
        of_day: asks_time_of_day(text),
        head: question.head.iter().filter_map(of_stem).collect(),
        passage: Passage::new(&passage, question.terms.iter().map(term).collect()),
    };
    let asked = quantities(text);
    let is_new = |one: &Quantity| {
        !asked
            .iter()
            .any(|asked| asked.kind == one.kind && asked.written == one.written)
    };
    let found = quantities(&passage);
    let choices = match question.asked {
        Asked::When => asks.times(&found, is_new),
        Asked::Number => asks.amounts(&found, is_new),
        // "Who is Ada King?" asks for no name.
        Asked::Who if asks.passage.terms.iter().any(|(_, weight)| *weight == 1) => asks.names(),
        _ => return None,
    };
    let found = asks.passage.choose(choices)?;
    (question.asked != Asked::Who || asks.is_surely_a_name(&found)).then_some(found)
}

/// "What time", but not "What time of year".
fn asks_time_of_day(question: &str) -> bool {
    let low = question.to_lowercase();
    low.split_once("what time")
        .is_some_and(|(_, rest)| !rest.starts_with(" of "))
}

impl Asks<'_> {
    /// Dates, times of day and weekdays; what stands together is one.
    fn times(&self, found: &[Quantity], is_new: impl Fn(&Quantity) -> bool) -> Vec<Choice> {
        // "What time does it start?" asks for no day.
        let of_day = self.of_day;
        let found = || {
            let is_asked = move |one: &&Quantity| !of_day || matches!(one.kind, Kind::Clock(_));
            found.iter().filter(is_asked)
        };
        let is_time =
            |one: &Quantity| matches!(one.kind, Kind::Date(_) | Kind::Clock(_) | Kind::Weekday(_));
        let mut choices: Vec<Choice> = Vec::new();
        let mut has_clock = false;
        for one in found().filter(|one| is_time(one) && is_new(one)) {
            // "9 am to 6 pm, Saturday 10 am to 4 pm" are two days.
            let begins = has_clock && matches!(one.kind, Kind::Weekday(_));
            if matches!(one.kind, Kind::Weekday(_)) && self.is_of_saying(&one.range) {
                continue;
            }
            has_clock = has_clock && !begins || matches!(one.kind, Kind::Clock(_));
            if let Some(last) = choices.last_mut().filter(|_| !begins)
                && self.are_joined(&last.range, &one.range)
            {
                last.range.end = one.range.end;
                continue;
            }
            let range = one.range.clone();
            choices.push(Choice { range, fit: 1 });
        }
        choices
    }

    /// "March to May", "10–16", "Thursday, 10 January", "Mondays and Thursdays".
    fn are_joined(&self, one: &Range<usize>, other: &Range<usize>) -> bool {
        let between = self.passage.text[one.end..other.start]
            .trim()
            .to_lowercase();
        matches!(
            &*between,
            "" | "-"
                | "–"
                | "—"
                | "to"
                | "until"
                | "till"
                | "through"
                | ","
                | "and"
                | ", and"
                | "or"
                | "&"
                | "on"
                | ", on"
                | "at"
                | ", at"
                | "of"
        )
    }

    /// "The manager said Thursday": when it was said, not when it was.
    fn is_of_saying(&self, range: &Range<usize>) -> bool {
        const SAYING: &[&str] = &[
            "said",
            "says",
            "told",
            "announced",
            "reported",
            "wrote",
            "added",
            "stated",
            "confirmed",
            "tweeted",
        ];
        let first = self
            .passage
            .words
            .partition_point(|word| word.range.end <= range.start);
        let next = self
            .passage
            .words
            .partition_point(|word| word.range.start < range.end);
        let before = &self.passage.words[first.saturating_sub(2)..first];
        let after = &self.passage.words[next..(next + 2).min(self.passage.words.len())];
        let says = |word: &Word| SAYING.contains(&&*word.low) && !self.passage.has_term(&word.stem);
        before.iter().chain(after).any(says)
    }

    /// Words with capitals that stand together, without those of the question and without dates.
    fn names(&self) -> Vec<Choice> {
        let mut choices: Vec<Choice> = Vec::new();
        let mut last: Option<usize> = None;
        for (at, word) in self.passage.words.iter().enumerate() {
            let flags = known().flags(&word.low);
            let is_name = self.passage.text[word.range.clone()].starts_with(char::is_uppercase)
                && flags & (does::STOP | does::DATE) == 0
                && self.passage.text[word.range.clone()]
                    .chars()
                    .any(char::is_alphabetic);
            if !is_name {
                continue;
            }
            match (choices.last_mut(), last) {
                (Some(choice), Some(last)) if self.is_one_name(last, at) => {
                    choice.range.end = word.range.end;
                }
                _ => choices.push(Choice {
                    range: word.range.clone(),
                    fit: 1,
                }),
            }
            last = Some(at);
        }
        let mut choices = self.joined(choices);
        let is_asked = |choice: &Choice| {
            let of = self.passage.words.iter().filter(|word| {
                word.range.start >= choice.range.start && word.range.end <= choice.range.end
            });
            of.into_iter().any(|word| self.passage.has_term(&word.stem))
        };
        choices.retain(|choice| !is_asked(choice));
        // "Founded in Rotterdam by Ada King".
        let before = |choice: &Choice| {
            let before = self.passage.text[..choice.range.start].trim_end();
            let word = before.rsplit(|c: char| !c.is_alphanumeric()).next();
            word.unwrap_or_default().to_lowercase()
        };
        choices.retain(|choice| !matches!(&*before(choice), "in" | "at" | "near"));
        if choices.iter().any(|choice| before(choice) == "by") {
            choices.retain(|choice| before(choice) == "by");
        }
        choices
    }

    /// "Ada, Bob and Carl" are one answer.
    fn joined(&self, names: Vec<Choice>) -> Vec<Choice> {
        let mut joined: Vec<Choice> = Vec::with_capacity(names.len());
        let mut listed: Vec<Choice> = Vec::new();
        for name in names {
            let gap = |last: &Choice| &self.passage.text[last.range.end..name.range.start];
            match listed.last_mut().map(|last| (gap(last), last)) {
                Some((" and " | ", and ", last)) => last.range.end = name.range.end,
                Some((", ", _)) => {
                    listed.push(name);
                    continue;
                }
                _ => {
                    joined.append(&mut listed);
                    listed.push(name);
                    continue;
                }
            }
            // It ends a list that commas have begun.
            let start = listed.first().map_or(0, |first| first.range.start);
            listed.drain(..listed.len() - 1);
            listed[0].range.start = start;
        }
        joined.append(&mut listed);
        joined
    }

    /// "J. R. Ewing", "Anne-Marie O'Neill", "Vincent van Gogh", "University of Leeds".
    fn is_one_name(&self, one: usize, other: usize) -> bool {
        const INSIDE: &[&str] = &[
            "of", "the", "de", "la", "du", "da", "van", "von", "der", "den", "di", "bin", "al",
            "el", "y",
        ];
        let between = &self.passage.text
            [self.passage.words[one].range.end..self.passage.words[other].range.start];
        let initial = self.passage.words[one].range.len() == 1;
        let is_near =
            matches!(between, " " | "-" | "'" | "’" | " & ") || initial && between == ". ";
        let mut inside = self.passage.words[one + 1..other].iter();
        is_near
            || !between.contains(|c: char| !c.is_alphanumeric() && c != ' ')
                && other > one + 1
                && inside.all(|word| INSIDE.contains(&&*word.low))
    }

    /// The first word of a sentence has a capital, whatever it is.
    fn is_surely_a_name(&self, found: &Range<usize>) -> bool {
        let before = self.passage.text[..found.start].trim_end();
        let begins =
            before.is_empty() || before.ends_with(['.', '!', '?', ':', '|', '*', '"', '“']);
        !begins || self.passage.text[found.clone()].contains([' ', '-'])
    }

    fn amounts(&self, found: &[Quantity], is_new: impl Fn(&Quantity) -> bool) -> Vec<Choice> {
        let mut choices: Vec<Choice> = Vec::new();
        for one in found.iter().filter(|one| is_new(one)) {
            let fit = match &one.kind {
                Kind::Measured(dimension) => {
                    let written = &self.passage.text[one.range.clone()];
                    let fit = self.measures(*dimension, written);
                    // "16 GB RAM", "5 litres of water".
                    let is_named = self.head.last().is_some_and(|(_, noun)| {
                        let mut next =
                            self.passage.words.iter().filter(|word| {
                                word.range.start >= one.range.end && word.low != "of"
                            });
                        next.next().is_some_and(|next| next.stem == *noun)
                    });
                    fit * (2 + usize::from(is_named))
                }
                // "200 labels, France 150".
                Kind::Count(things) if things.is_empty() => {
                    choices.iter().map(|choice| choice.fit).max().unwrap_or(0)
                        * usize::from(self.counts())
                }
                Kind::Count(things) => self.counted(things, one.range.end),
                _ => 0,
            };
            if fit > 0 {
                let range = one.range.clone();
                choices.push(Choice { range, fit });
            }
        }
        let best = choices.iter().map(|choice| choice.fit).max();
        choices.retain(|choice| Some(choice.fit) == best);
        // Where neither a noun nor a word for it says what is asked for, one of several kinds would be a guess.
        let says = !self.head.is_empty() || Measure::asked_for(self.question).is_some();
        let dimension = |choice: &Choice| {
            let one = found.iter().find(|one| one.range == choice.range);
            one.and_then(|one| match one.kind {
                Kind::Measured(dimension) => Some(dimension),
                _ => None,
            })
        };
        let first = choices.first().map(dimension);
        if !says
            && choices
                .iter()
                .any(|choice| Some(dimension(choice)) != first)
        {
            choices.clear();
        }
        choices
    }

    fn asks_with(&self, words: &[&str]) -> bool {
        self.question
            .forms()
            .any(|form| words.contains(&&*form.low))
    }

    /// "How many seats": what is counted is named.
    fn counts(&self) -> bool {
        self.asks_with(&["many"]) && !self.head.is_empty() && self.unit_asked().is_none()
    }

    /// "How many minutes".
    fn unit_asked(&self) -> Option<Dimension> {
        let (word, _) = self.head.last()?;
        unit(word).map(|(dimension, _)| dimension)
    }

    /// Whether an amount of this dimension can be the answer.
    fn measures(&self, dimension: Dimension, written: &str) -> usize {
        const OF_WORDS: &[(&[&str], &[Dimension])] = &[
            (&["ram", "memory", "storage", "disk"], &[Dimension::Data]),
            (
                &["weigh", "weighs", "weight", "weighed", "heavy"],
                &[Dimension::Mass],
            ),
            (&["temperature", "hot", "cold"], &[Dimension::Temperature]),
            (&["time"], &[Dimension::Duration]),
            (
                &["height", "length", "width", "depth", "distance"],
                &[Dimension::Length],
            ),
        ];
        if self.asks_with(&["many"]) {
            let asked = self.unit_asked();
            return usize::from(asked == Some(dimension));
        }
        let fits = match Measure::asked_for(self.question) {
            Some(Measure::Money) => matches!(dimension, Dimension::Money(_)),
            Some(Measure::Share) => dimension == Dimension::Share,
            Some(Measure::Length) => dimension == Dimension::Length,
            // A bridge is long too.
            Some(Measure::Time) => match dimension {
                Dimension::Duration => return 2,
                dimension => dimension == Dimension::Length && self.asks_with(&["long"]),
            },
            None => OF_WORDS
                .iter()
                .find(|(words, _)| self.asks_with(words))
                .is_none_or(|(_, dimensions)| {
                    // Pounds weigh too.
                    dimensions.contains(&dimension)
                        || dimensions.contains(&Dimension::Mass) && written.contains("pound")
                }),
        };
        usize::from(fits)
    }

    /// How well counted things, whose number ends here, are those that are asked for.
    fn counted(&self, things: &[String], end: usize) -> usize {
        let has_term = things.iter().any(|thing| self.passage.has_term(thing));
        let Some(((_, noun), kinds)) = self.head.split_last() else {
            return usize::from(has_term);
        };
        let Some(at) = things.iter().position(|thing| thing == noun) else {
            return usize::from(has_term);
        };
        let is_kind = |thing: &String| kinds.iter().any(|(_, kind)| kind == thing);
        let next = self
            .passage
            .words
            .iter()
            .find(|word| word.range.start >= end);
        if kinds.is_empty() || things[..at].iter().any(is_kind) {
            3
        } else if next.is_some_and(|next| next.stem == *noun) {
            2
        } else {
            // Crop models are no climate models.
            0
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::evidence::engine::asked_value::*;
    use crate::evidence::reading::language::Language;

    fn check(text: &str, passage: &str, expected: Option<&str>) {
        let question = Question::new(text, false, Language::English);
        let found = asked_value(&question, text, passage);
        assert_eq!(found.map(|range| &passage[range]), expected, "{text}");
    }

    #[test]
    fn the_amount_is_of_what_is_asked_about() {
        let visit = "Las visitas guiadas duran 75 minutos y cuestan 60 €.";
        check("¿Cuánto dura una visita guiada?", visit, None);
        let labels = "Italy has 200 labels, France 150 and Spain 120.";
        check("How many labels does Spain have?", labels, Some("120"));
        check("How many labels does Italy have?", labels, Some("200"));
        let models = "They used climate models for 12 global crop models, in total 240 climate-crop model runs.";
        check("How many climate models were used?", models, None);
        check("How many crop models were used?", models, Some("12"));
        let laptop = "Laptop i5 2GHz 16GB RAM 512GB SSD for $429.99, or $1,799 new";
        check("How much RAM does the laptop have?", laptop, Some("16GB"));
        check(
            "How much does the laptop cost?",
            "Get a [Laptop](https://a.test/x%20y?d=2021) for $429.99 now.",
            Some("$429.99"),
        );
        check(
            "How many members voted?",
            "Of the members, 40 percent voted.",
            None,
        );
        let prices = "Tickets cost $5 for children and $9 for adults.";
        check("How much is a ticket for adults?", prices, Some("$9"));
        check("How much is a ticket?", prices, None);
        let kettle = "It costs 9 euros and weighs 3.1 pounds.";
        check("How much does it weigh?", kettle, Some("3.1 pounds"));
        let plant = "The plant was built in 1950 for $3m and enlarged for $8m.";
        check("How much was the plant built for?", plant, Some("$3m"));
        check("How much was the plant enlarged for?", plant, Some("$8m"));
        check(
            "How many minutes does the walk take?",
            "The walk of 3 km takes 40 minutes.",
            Some("40 minutes"),
        );
    }

    #[test]
    fn the_name_is_of_the_one_who_is_asked_for() {
        let tindal =
            "Tindal Robotics was founded in Rotterdam in 2014 by Mara Veldhuis and Jonas Okafor.";
        check(
            "Who founded Tindal Robotics?",
            tindal,
            Some("Mara Veldhuis and Jonas Okafor"),
        );
        let pool =
            "Deputy mayor Tom Hale proposed the closure after a report by the engineers Barr & Co.";
        check("Who proposed the closure?", pool, Some("Tom Hale"));
        check(
            "Who painted the Sunflowers?",
            "The Sunflowers were painted by Vincent van Gogh in Arles.",
            Some("Vincent van Gogh"),
        );
        check(
            "Who is the director of ACRO?",
            "\"It fell,\" said Ronan Hubert, ACRO's director, on Monday.",
            Some("Ronan Hubert"),
        );
        check("Who is Tom Hale?", pool, None);
        // No name, or one word that may be none.
        check("Who opened the fair?", "The mayor opened the fair.", None);
        check("Who opened the fair?", "Students opened the fair.", None);
        check(
            "Who won the race?",
            "Anna Berg and Tom Hale won the race.",
            Some("Anna Berg and Tom Hale"),
        );
        check(
            "Who won the race?",
            "The race was won by Ada King, Anna Berg and Tom Hale.",
            Some("Ada King, Anna Berg and Tom Hale"),
        );
        check("Who won the race in May?", "It was won in May 1998.", None);
    }

    #[test]
    fn the_date_is_of_what_is_asked_about() {
        let gala = "The gala is on 22 May; doors open at 7 pm.";
        check(
            "What time does the gala start?",
            "The gala is on 22 May.",
            None,
        );
        check("What time do the doors open?", gala, Some("7 pm"));
        let crashes = "Others were the crash of a Kenya Airways plane in May, with 114 fatalities, and the January crash of an Adamair flight.";
        check(
            "When did the Adamair flight crash?",
            crashes,
            Some("January"),
        );
        check("When did the Kenya plane crash?", crashes, Some("May"));
        let status = "Status: suspended with pay in 1992; fired in 1993";
        check("When was he fired?", status, Some("1993"));
        check(
            "When will Atlantis launch?",
            "Atlantis will launch later, a manager said Thursday.",
            None,
        );
        check(
            "When will Atlantis launch?",
            "NASA had been aiming for a Jan. 10 launch of Atlantis.",
            Some("Jan. 10"),
        );
        check(
            "When did the shop close?",
            "It closed on Sept. 4, 2021.",
            Some("Sept. 4, 2021"),
        );
    }

    #[test]
    fn dates_that_stand_together_are_one_answer() {
        let hours = "Open Monday to Friday 9 am to 6 pm, Saturday 10 am to 4 pm.";
        check("When is it open on Saturday?", hours, Some("10 am to 4 pm"));
        check(
            "When was the survey made?",
            "The survey was made between July 10-16.",
            Some("July 10-16"),
        );
        check(
            "When are rides arranged?",
            "Rides are arranged from March to May and October to December.",
            Some("March to May and October to December"),
        );
        check(
            "When was the fair held?",
            "The fair was held between 9 and 12 May 2021.",
            Some("9 and 12 May 2021"),
        );
        check(
            "When did he lead it?",
            "He led it 2007–2010.",
            Some("2007–2010"),
        );
        check(
            "When does it open?",
            "It opens on Thursday, Jan. 10, 2019 at 5 pm.",
            Some("Thursday, Jan. 10, 2019 at 5 pm"),
        );
    }
}
