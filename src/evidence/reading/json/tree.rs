//! The values of a JSON document, each with where it stands.

use std::ops::Range;

use super::STRING_BYTES_MAX;
use crate::markdown::{JsonToken, json_tokens};

/// Values and containers of a document. What has more is read as code.
const NODES_MAX: usize = 500_000;
/// Containers in each other in a document that is read as JSON.
const OPEN_MAX: usize = 128;

#[derive(Debug)]
pub(super) struct Node {
    pub(super) range: Range<usize>,
    pub(super) value: Value,
}

#[derive(Debug)]
pub(super) enum Value {
    Plain,
    List(Vec<Node>),
    Object(Vec<(Range<usize>, Node)>),
}

impl Node {
    /// The document that stands at `offset`.
    pub(super) fn of(text: &str, offset: usize) -> Option<Node> {
        let mut open: Vec<(Node, Range<usize>)> = Vec::new();
        let (mut name, mut last, mut root) = (0..0, None::<Node>, None);
        let mut count = 0;
        json_tokens(text, |token, _| {
            let mut ended = None;
            match token {
                JsonToken::Open(at) => {
                    let value = match text.as_bytes()[at] {
                        b'{' => Value::Object(Vec::new()),
                        _ => Value::List(Vec::new()),
                    };
                    let range = offset + at..offset + at;
                    // A deep tree would overflow the stack when it is dropped.
                    count += if open.len() < OPEN_MAX { 1 } else { NODES_MAX };
                    open.push((Node { range, value }, std::mem::take(&mut name)));
                }
                JsonToken::Value(from, to) => {
                    count += 1;
                    last = Some(Node {
                        range: offset + from..offset + to,
                        value: Value::Plain,
                    });
                }
                // What stood before it was a name.
                JsonToken::Colon => name = last.take().map(|node| node.range).unwrap_or_default(),
                JsonToken::Comma => {}
                JsonToken::Close(at) => {
                    ended = open.pop().map(|(mut node, own)| {
                        node.range.end = offset + at + 1;
                        (node, own)
                    });
                }
            }
            let is_name = matches!(
                open.last(),
                Some((
                    Node {
                        value: Value::Object(_),
                        ..
                    },
                    _
                ))
            ) && name.is_empty();
            if ended.is_none() && !is_name {
                ended = last.take().map(|node| (node, std::mem::take(&mut name)));
            }
            let Some((node, name)) = ended.filter(|_| count <= NODES_MAX) else {
                return;
            };
            match open.last_mut().map(|(node, _)| &mut node.value) {
                Some(Value::List(nodes)) => nodes.push(node),
                Some(Value::Object(fields)) => fields.push((name, node)),
                Some(Value::Plain) => {}
                None => root = Some(node),
            }
        })?;
        root.filter(|_| count <= NODES_MAX)
    }

    pub(super) fn is_plain(&self) -> bool {
        matches!(self.value, Value::Plain) && self.range.len() <= STRING_BYTES_MAX
    }

    /// Or a list or object of plain values.
    pub(super) fn is_plain_enough(&self) -> bool {
        match &self.value {
            Value::Plain => self.is_plain(),
            Value::List(nodes) => nodes.iter().all(Node::is_plain),
            Value::Object(fields) => fields.iter().all(|(_, node)| node.is_plain()),
        }
    }
}

pub(super) fn lines(text: &str, offset: usize) -> Option<Vec<Node>> {
    let mut start = offset;
    let lines = text.split_inclusive('\n').map(|line| {
        let at = start;
        start += line.len();
        (line, at)
    });
    let lines = lines.filter(|(line, _)| !line.trim().is_empty());
    let nodes = lines.map(|(line, at)| Node::of(line, at));
    nodes.take(NODES_MAX).collect()
}
