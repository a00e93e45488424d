//! A JSON document as passages: a member with a plain value is one, and so is a short object in a list. It is read as a table is:
//! by the names of what they hold.

mod tree;
mod words;

use std::borrow::Cow;
use std::ops::Range;

use super::sentences::sentences;
use tree::{Node, Value, lines};
use words::{cell, fields_in_words, in_words, unquoted, words};

pub(crate) use words::passage_in_words;

/// Containers in each other; what is deeper is read as one passage.
const DEPTH_MAX: usize = 32;
/// Bytes of an object, or of a list of plain values, that is one passage.
const RECORD_BYTES_MAX: usize = 400;
/// A longer string is read by its sentences.
const STRING_BYTES_MAX: usize = 160;
/// A longer value names nothing.
const SUBJECT_BYTES_MAX: usize = 80;
/// Members that tell what an object is about; the first of these that it has.
const SUBJECTS: [&str; 12] = [
    "name",
    "title",
    "label",
    "displayName",
    "display_name",
    "full_name",
    "plan",
    "id",
    "slug",
    "key",
    "code",
    "symbol",
];

/// Member of an object: its name and value as they are written. An element of a list has an empty name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    name: Range<usize>,
    value: Range<usize>,
}

#[derive(Debug)]
struct Passage {
    range: Range<usize>,
    container: usize,
    /// Those of an object, or a single one.
    fields: Vec<Field>,
}

/// What passages stand in.
#[derive(Debug)]
struct Container {
    name: Range<usize>,
    subject: Option<Range<usize>>,
    parent: Option<usize>,
}

#[derive(Debug, Default)]
pub(crate) struct Json {
    passages: Vec<Passage>,
    containers: Vec<Container>,
}

impl Json {
    /// Of a text that is one fence of JSON, or of lines of JSON, as the converter writes a document of this kind.
    pub(crate) fn of(text: &str) -> Option<Json> {
        let start = text.len() - text.trim_start().len();
        let body = text.trim();
        let marks = body.bytes().take_while(|&byte| byte == b'`').count();
        let fence = body.get(..marks).filter(|fence| fence.len() >= 3)?;
        let (info, _) = body[marks..].split_once('\n')?;
        let from = marks + info.len() + 1;
        let inside = body.get(from..)?.strip_suffix(fence)?;
        let nodes = match info {
            "json" => vec![Node::of(inside, start + from)?],
            "jsonl" => lines(inside, start + from)?,
            _ => return None,
        };
        let mut json = Json::default();
        json.containers.push(Container {
            name: 0..0,
            subject: match &nodes[..] {
                [
                    Node {
                        value: Value::Object(fields),
                        ..
                    },
                ] => subject(text, fields),
                _ => None,
            },
            parent: None,
        });
        for node in &nodes {
            match &node.value {
                Value::Object(fields) if nodes.len() == 1 => json.members(text, fields, 0, 0),
                _ => json.node(text, &(0..0), node, (0, 0)),
            }
        }
        Some(json)
    }

    pub(crate) fn ranges(&self) -> impl Iterator<Item = Range<usize>> {
        self.passages.iter().map(|passage| passage.range.clone())
    }

    /// What of a passage can be cited: all of it, or the sentences of a long string.
    pub(crate) fn units(&self, text: &str, passage: usize) -> Vec<Range<usize>> {
        let passage = &self.passages[passage];
        let [field] = &passage.fields[..] else {
            return vec![passage.range.clone()];
        };
        let is_string = text[field.value.clone()].starts_with('"');
        if !is_string || field.value.len() <= STRING_BYTES_MAX {
            return vec![passage.range.clone()];
        }
        let inside = field.value.start + 1..field.value.end - 1;
        let mut start = inside.start;
        let lines = text[inside.clone()].split("\\n").map(|line| {
            let range = start..start + line.len();
            start = range.end + "\\n".len();
            range
        });
        let is_text = |unit: &Range<usize>| text[unit.clone()].contains(char::is_alphanumeric);
        let units = lines.flat_map(|line| sentences(text, line));
        units.filter(is_text).collect()
    }

    /// The names of what a passage stands in, outermost first; of its own string too, where a unit is a sentence of it.
    pub(crate) fn path(&self, text: &str, passage: usize, unit: &Range<usize>) -> Vec<String> {
        let own = &self.passages[passage];
        let mut path = Vec::new();
        let mut add = |name: String| {
            if !name.is_empty() && path.last() != Some(&name) {
                path.push(name);
            }
        };
        if *unit != own.range
            && let [field] = &own.fields[..]
        {
            add(words(text, &field.name));
        }
        let mut at = Some(own.container);
        while let Some(number) = at {
            let container = &self.containers[number];
            if let Some(subject) = &container.subject {
                add(in_words(&text[subject.clone()]).into_owned());
            }
            add(words(text, &container.name));
            at = container.parent;
        }
        path.reverse();
        path
    }

    /// What the object of a list is about that a passage stands in, and what the others of the list are about.
    pub(crate) fn subjects<'a>(
        &'a self,
        text: &'a str,
        passage: usize,
    ) -> Option<(Cow<'a, str>, impl Iterator<Item = Cow<'a, str>>)> {
        let mut at = Some(self.passages[passage].container);
        loop {
            let number = at?;
            let own = &self.containers[number];
            at = own.parent;
            let Some(subject) = own
                .subject
                .clone()
                .filter(|_| own.name.is_empty() && at.is_some())
            else {
                continue;
            };
            let beside = self
                .containers
                .iter()
                .enumerate()
                .filter(move |(other, beside)| {
                    *other != number && beside.parent == own.parent && beside.name.is_empty()
                });
            let others = beside.filter_map(|(_, beside)| beside.subject.clone());
            return Some((
                in_words(&text[subject]),
                others.map(|other| in_words(&text[other])),
            ));
        }
    }

    /// A unit in words: "plan: Team; seats: 20; sso: yes".
    pub(crate) fn statement(&self, text: &str, passage: usize, unit: &Range<usize>) -> String {
        let own = &self.passages[passage];
        if *unit != own.range {
            return in_words(&text[unit.clone()]).into_owned();
        }
        fields_in_words(text, &own.fields)
    }

    /// Name and value of a member, or the names and values of an object in a list, what it is about first.
    pub(crate) fn row<'a>(&self, text: &'a str, passage: usize) -> Row<'a> {
        let fields = &self.passages[passage].fields;
        if let [field] = &fields[..] {
            return Row {
                header: vec![Cow::Borrowed(""); 2],
                cells: vec![Cow::Owned(words(text, &field.name)), cell(text, field)],
            };
        }
        let about = subject_field(text, fields).unwrap_or_else(|| {
            let is_text = |field: &Field| text[field.value.clone()].starts_with('"');
            fields.iter().position(is_text).unwrap_or_default()
        });
        let mut ordered: Vec<&Field> = fields.iter().collect();
        let first = ordered.remove(about);
        ordered.insert(0, first);
        Row {
            header: ordered
                .iter()
                .map(|field| Cow::Owned(words(text, &field.name)))
                .collect(),
            cells: ordered.iter().map(|field| cell(text, field)).collect(),
        }
    }

    /// The passages that stand beside one in the same object or list.
    pub(crate) fn beside(&self, passage: usize) -> impl Iterator<Item = usize> {
        let (container, is_member) = self.kind(passage);
        let start = self.passages[..passage]
            .iter()
            .rposition(|other| other.container < container);
        let all = start.map_or(0, |start| start + 1)..self.passages.len();
        all.take_while(move |other| self.passages[*other].container >= container)
            .filter(move |other| self.kind(*other) == (container, is_member))
    }

    fn kind(&self, passage: usize) -> (usize, bool) {
        let passage = &self.passages[passage];
        (passage.container, passage.fields.len() == 1)
    }

    fn node(
        &mut self,
        text: &str,
        name: &Range<usize>,
        node: &Node,
        (within, depth): (usize, usize),
    ) {
        let is_short = node.range.len() <= RECORD_BYTES_MAX;
        let is_whole = match &node.value {
            Value::Plain => true,
            Value::List(nodes) => is_short && nodes.iter().all(|node| node.is_plain()),
            Value::Object(fields) => {
                let is_one = name.is_empty() || subject(text, fields).is_some();
                is_one && is_short && fields.iter().all(|(_, node)| node.is_plain_enough())
            }
        };
        if is_whole || depth >= DEPTH_MAX {
            let of_object = || match &node.value {
                Value::Object(fields) if is_whole && !fields.is_empty() => Some(fields),
                _ => None,
            };
            let field = |(name, node): &(Range<usize>, Node)| Field {
                name: name.clone(),
                value: node.range.clone(),
            };
            let fields = match of_object() {
                Some(fields) => fields.iter().map(field).collect(),
                None => vec![Field {
                    name: name.clone(),
                    value: node.range.clone(),
                }],
            };
            let start = if name.is_empty() {
                node.range.start
            } else {
                name.start
            };
            let is_named = !name.is_empty() && of_object().is_some();
            let container = match is_named {
                true => self.contain(name, None, within),
                false => within,
            };
            self.passages.push(Passage {
                range: start..node.range.end,
                container,
                fields,
            });
            return;
        }
        let fields = match &node.value {
            Value::Object(fields) => &fields[..],
            _ => &[],
        };
        let own = self.contain(name, subject(text, fields), within);
        match &node.value {
            Value::Object(fields) => self.members(text, fields, own, depth),
            Value::List(nodes) => {
                for node in nodes {
                    self.node(text, &(0..0), node, (own, depth + 1));
                }
            }
            Value::Plain => {}
        }
    }

    fn contain(
        &mut self,
        name: &Range<usize>,
        subject: Option<Range<usize>>,
        parent: usize,
    ) -> usize {
        self.containers.push(Container {
            name: name.clone(),
            subject,
            parent: Some(parent),
        });
        self.containers.len() - 1
    }

    fn members(&mut self, text: &str, fields: &[(Range<usize>, Node)], own: usize, depth: usize) {
        for (name, node) in fields {
            self.node(text, name, node, (own, depth + 1));
        }
    }
}

/// A passage as a row of a table.
#[derive(Debug)]
pub(crate) struct Row<'a> {
    pub(crate) header: Vec<Cow<'a, str>>,
    pub(crate) cells: Vec<Cow<'a, str>>,
}

fn subject_field(text: &str, fields: &[Field]) -> Option<usize> {
    let is_named = |field: &Field, name: &str| {
        let value = &text[field.value.clone()];
        unquoted(&text[field.name.clone()]) == name
            && value.len() <= SUBJECT_BYTES_MAX
            && !value.starts_with(['{', '[', 't', 'f', 'n'])
    };
    let mut found = SUBJECTS.iter();
    found.find_map(|name| fields.iter().position(|field| is_named(field, name)))
}

fn subject(text: &str, fields: &[(Range<usize>, Node)]) -> Option<Range<usize>> {
    let fields: Vec<Field> = fields
        .iter()
        .map(|(name, node)| Field {
            name: name.clone(),
            value: node.range.clone(),
        })
        .collect();
    let at = subject_field(text, &fields)?;
    Some(fields[at].value.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statements(document: &str) -> Vec<String> {
        let text = format!("```json\n{document}\n```\n");
        let json = Json::of(&text).expect("JSON");
        let ranges: Vec<Range<usize>> = json.ranges().collect();
        let all = ranges.iter().enumerate().flat_map(|(passage, _)| {
            let units = json.units(&text, passage).into_iter();
            units.map(move |unit| (passage, unit)).collect::<Vec<_>>()
        });
        all.map(|(passage, unit)| {
            let mut said = json.path(&text, passage, &unit);
            said.push(json.statement(&text, passage, &unit));
            said.join(" / ")
        })
        .collect()
    }

    #[test]
    fn members_and_short_objects_are_passages() {
        let document = r#"{"name": "left-pad", "isPrivate": false, "dist": {"unpackedSize": 9716, "tags": ["a", "b"]},
            "plans": [{"plan": "Free", "seats": 3, "sso": false, "price": {"eur": 0}}, {"plan": "Team", "seats": 20, "sso": true}],
            "author": {"name": "Ann", "since": 2016}, "mixed": [1, {"a": null}], "empty": {}}"#;
        assert_eq!(
            statements(document),
            [
                "left-pad / name: left-pad",
                "left-pad / is private: no",
                "left-pad / dist / unpacked size: 9716",
                "left-pad / dist / tags: a, b",
                "left-pad / plans / plan: Free; seats: 3; sso: no; price: eur: 0",
                "left-pad / plans / plan: Team; seats: 20; sso: yes",
                "left-pad / author / name: Ann; since: 2016",
                "left-pad / mixed / 1",
                "left-pad / mixed / a: none",
            ]
        );
        assert_eq!(statements("[1, 2, 3]"), ["1, 2, 3"]);
        assert_eq!(statements("\"a \\\"b\\\"\""), ["a \"b\""]);
    }

    #[test]
    fn a_long_object_tells_what_its_members_are_about_and_a_long_string_has_sentences() {
        let long = "It is long. ".repeat(20);
        let document = format!(
            r#"{{"items": [{{"title": "One", "body": "First it rains.\n\n\u00c9 is said. {long}"}}]}}"#
        );
        let said = statements(&document);
        assert_eq!(said[0], "items / One / title: One");
        assert_eq!(said[1], "items / One / body / First it rains.");
        assert_eq!(said[2], "items / One / body / É is said.");
    }

    #[test]
    fn what_is_no_document_of_json_is_none() {
        let deep = format!(
            "```json\n{}{}\n```",
            "[".repeat(200_000),
            "]".repeat(200_000)
        );
        for text in [
            "{}",
            "```json\n{}\n```\ntext",
            "```json\n{,}\n```",
            "```\n{}\n```",
            "# A\n\n```json\n{}\n```",
            "```json",
            "",
            &deep,
        ] {
            assert!(Json::of(text).is_none(), "{text}");
        }
        let lines = "```jsonl\n{\"a\": 1}\n\n{\"a\": 2}\n```";
        let json = Json::of(lines).expect("lines");
        let said: Vec<&str> = json.ranges().map(|range| &lines[range]).collect();
        assert_eq!(said, ["{\"a\": 1}", "{\"a\": 2}"]);
    }

    #[test]
    fn a_passage_is_spoken_by_its_names() {
        let check = |passage: &str, expected: Option<&str>| {
            assert_eq!(passage_in_words(passage).as_deref(), expected, "{passage}");
        };
        check("\"unpackedSize\": 9716", Some("unpacked size: 9716"));
        check(
            "{\"plan\": \"Team\", \"sso\": true}",
            Some("plan: Team; sso: yes"),
        );
        let dates = r#""at": ["2024-03-05T10:00:59.5Z", "2024-12-01", "2024-03-05 10:00+02:00", "2024-13-01", "2024-03-05-a"]"#;
        let said = "at: 5 March 2024, 10:00 UTC, 1 December 2024, 5 March 2024, 10:00+02:00, 2024-13-01, 2024-03-05-a";
        check(dates, Some(said));
        check("let x = 1;", None);
        check("{}", None);
    }
}
