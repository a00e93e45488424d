//! The objects of a PDF file, found by reading it from its start to its end. The cross-reference table is not
//! trusted or even read: it may be missing, wrong or circular, and one pass over at most 5 MiB finds every object in
//! any case. Of objects with one number the last one counts, as in a file that was changed by additions.
//!
//! All that is decoded and made of a file is counted against one budget, whatever the file asks for.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use super::super::super::work::Work;
use super::filters;
use super::lexer::{Dict, Lexer, Object, Token, is_space};
use super::memory::{Content, Memory, Reserved};

/// One stream, decoded.
const STREAM_BYTES_MAX: usize = 16 * 1024 * 1024;
/// All streams, coded and decoded, and what else is read byte by byte.
const WORK_BYTES_MAX: usize = 96 * 1024 * 1024;
/// What a packed byte costs before it is decoded.
const PACKED_COST: usize = 4;
/// What reading any stream costs, however short it is.
const CALL_BYTES: usize = 256;
/// What looking at any object costs.
const LOOK_BYTES: usize = 16;
/// Objects of one thing in the file.
const OBJECTS_EACH_MAX: usize = 300_000;
/// Memory of an object with its place in an array or a dictionary, of a thing that is kept, and of a known place.
const OBJECT_BYTES: usize = 96;
const THING_BYTES: usize = 144;
const PLACE_BYTES: usize = 48;
/// Objects that the file says it has.
const PLACES_MAX: usize = 500_000;
/// References to references.
const CHAIN_MAX: usize = 16;

#[derive(Debug)]
pub(super) struct File<'a> {
    bytes: &'a [u8],
    places: HashMap<u32, ObjectLocation>,
    /// Decoded object streams.
    containers: Vec<Content>,
    /// By place, because many numbers may have the same.
    kept: RefCell<HashMap<ObjectLocation, Rc<Thing>>>,
    pub(super) root: Option<Object>,
    pub(super) info: Option<Object>,
    pub(super) is_encrypted: bool,
    work_left: Cell<usize>,
    memory: Memory,
    is_cut: Cell<bool>,
    is_bomb: Cell<bool>,
    work: Work,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum ObjectLocation {
    File(u32),
    Container(u32, u32),
}

/// An object, and its stream if it has one.
#[derive(Debug)]
pub(super) struct Thing {
    pub(super) object: Object,
    stream: Option<(usize, usize)>,
}

/// An object that is looked at once.
#[derive(Debug)]
pub(super) struct Look {
    thing: Rc<Thing>,
    _held: Option<Reserved>,
}

impl Look {
    fn of(object: Object) -> Look {
        let stream = None;
        Look {
            thing: Rc::new(Thing { object, stream }),
            _held: None,
        }
    }

    pub(super) fn dict(&self) -> Option<&Rc<Dict>> {
        match &self.thing.object {
            Object::Dict(dict) => Some(dict),
            _ => None,
        }
    }

    pub(super) fn array(&self) -> Option<&[Object]> {
        match &self.thing.object {
            Object::Array(elements) => Some(elements),
            _ => None,
        }
    }
}

impl<'a> File<'a> {
    pub(super) fn open(bytes: &'a [u8], work: &Work) -> File<'a> {
        let mut file = File {
            bytes,
            places: HashMap::new(),
            containers: Vec::new(),
            kept: RefCell::default(),
            root: None,
            info: None,
            is_encrypted: false,
            work_left: Cell::new(WORK_BYTES_MAX),
            memory: Memory::new(bytes.len()),
            is_cut: Cell::new(false),
            is_bomb: Cell::new(false),
            work: work.clone(),
        };
        file.scan();
        file
    }

    /// Notes that a bound was met.
    pub(super) fn cut(&self) {
        self.is_cut.set(true);
    }

    /// Whether a bound was met.
    pub(super) fn is_cut(&self) -> bool {
        self.is_cut.get()
    }

    /// Whether a stream was made to cost time and gives nothing.
    pub(super) fn is_bomb(&self) -> bool {
        self.is_bomb.get()
    }

    fn scan(&mut self) {
        let mut at = 0;
        let mut catalog = None;
        while let Some(found) = find_either(self.bytes, at, b"obj", b"trailer") {
            if self.is_spent() {
                break;
            }
            let (start, is_trailer) = found;
            at = start + if is_trailer { 7 } else { 3 };
            let number = if is_trailer {
                None
            } else {
                match number_before(self.bytes, start) {
                    Some(number) => Some(number),
                    None => continue,
                }
            };
            let (thing, end, _) = self.read_at(at, OBJECTS_EACH_MAX);
            at = end.max(at);
            let Some(number) = number else {
                if let Object::Dict(dict) = &thing.object {
                    self.take_trailer(dict);
                }
                continue;
            };
            if let Ok(start) = u32::try_from(start + 3) {
                self.place(number, ObjectLocation::File(start));
            }
            let Object::Dict(dict) = &thing.object else {
                continue;
            };
            match dict.get(b"Type".as_slice()).and_then(Object::name) {
                Some(b"XRef") => self.take_trailer(dict),
                Some(b"ObjStm") => self.take_container(dict, thing.stream),
                Some(b"Catalog") => catalog = Some(number),
                _ => {}
            }
        }
        if self.root.is_none() {
            self.root = catalog.map(Object::Reference);
        }
    }

    fn place(&mut self, number: u32, place: ObjectLocation) {
        let is_known = self.places.contains_key(&number);
        if is_known || (self.places.len() < PLACES_MAX && self.keep(PLACE_BYTES).is_some()) {
            self.places.insert(number, place);
        } else {
            self.is_cut.set(true);
        }
    }

    fn take_trailer(&mut self, dict: &Dict) {
        if let Some(root @ Object::Reference(_)) = dict.get(b"Root".as_slice()) {
            self.root = Some(root.clone());
        }
        if let Some(info) = dict.get(b"Info".as_slice()) {
            self.info = Some(info.clone());
        }
        let encrypt = dict.get(b"Encrypt".as_slice());
        self.is_encrypted |= encrypt.is_some_and(|value| *value != Object::Null);
    }

    /// Decodes an object stream and notes what it holds.
    fn take_container(&mut self, dict: &Dict, stream: Option<(usize, usize)>) {
        let Some((from, to)) = stream else { return };
        let Some(content) = self.decoded(dict, &self.bytes[from..to]) else {
            return;
        };
        let first = dict.get(b"First".as_slice()).and_then(Object::whole);
        let first = first.unwrap_or(0).min(content.len());
        let mut lexer = Lexer::new(&content[..first], 0, OBJECTS_EACH_MAX);
        let Ok(index) = u32::try_from(self.containers.len()) else {
            return;
        };
        while let (Some(number), Some(offset)) = (lexer.object(), lexer.object()) {
            let number = number.whole().and_then(|number| u32::try_from(number).ok());
            let offset = offset.whole().map(|offset| u32::try_from(first + offset));
            if let (Some(number), Some(Ok(offset))) = (number, offset) {
                self.place(number, ObjectLocation::Container(index, offset));
            }
        }
        self.containers.push(content);
    }

    /// The object at this place of the file, where it ends and how much of the budget is left.
    fn read_at(&self, at: usize, objects_max: usize) -> (Thing, usize, usize) {
        let mut lexer = Lexer::new(self.bytes, at, objects_max);
        let object = lexer.object();
        let _ = self.spend(lexer.at().saturating_sub(at));
        let Some(object) = object else {
            let object = Object::Null;
            let thing = Thing {
                object,
                stream: None,
            };
            return (thing, at, lexer.objects_left());
        };
        let mut end = lexer.at();
        let mut stream = None;
        if let Object::Dict(dict) = &object
            && matches!(lexer.token(), Some(Token::Word(b"stream")))
        {
            let from = self.stream_start(lexer.at());
            let length = dict.get(b"Length".as_slice()).and_then(Object::whole);
            let to = length
                .map(|length| from + length)
                .filter(|to| self.is_stream_end(*to))
                .or_else(|| find(self.bytes, from, b"endstream"))
                .unwrap_or(self.bytes.len());
            let _ = self.spend(to.saturating_sub(from));
            stream = Some((from, to));
            end = to;
        }
        (Thing { object, stream }, end, lexer.objects_left())
    }

    fn stream_start(&self, at: usize) -> usize {
        match self.bytes.get(at..) {
            Some([b'\r', b'\n', ..]) => at + 2,
            Some([b'\n' | b'\r', ..]) => at + 1,
            _ => at,
        }
    }

    fn is_stream_end(&self, at: usize) -> bool {
        let after = self.bytes.get(at..).unwrap_or_default();
        let spaces = after.iter().take(4).take_while(|b| is_space(**b)).count();
        after[spaces..].starts_with(b"endstream")
    }

    /// The object that has this number.
    pub(super) fn thing(&self, number: u32) -> Option<Rc<Thing>> {
        let place = *self.places.get(&number)?;
        if let Some(kept) = self.kept.borrow().get(&place) {
            return Some(kept.clone());
        }
        let (thing, bytes) = self.read_place(place)?;
        // What does not fit ends the next step; this one has its object.
        let _ = self.keep(bytes);
        let thing = Rc::new(thing);
        self.kept.borrow_mut().insert(place, thing.clone());
        Some(thing)
    }

    /// The object here, or what it refers to, for one look: it takes memory as long as the answer lives, and is read again
    /// for the next look. A manual has a hundred thousand pages, links and places to go to, each of them looked at once.
    pub(super) fn look(&self, object: &Object) -> Option<Look> {
        self.spend(LOOK_BYTES)?;
        let Object::Reference(number) = object else {
            return Some(Look::of(object.clone()));
        };
        let place = *self.places.get(number)?;
        if let Some(kept) = self.kept.borrow().get(&place) {
            return Some(Look {
                thing: kept.clone(),
                _held: None,
            });
        }
        let (thing, bytes) = self.read_place(place)?;
        if let Object::Reference(_) = thing.object {
            return Some(Look::of(self.resolve(&thing.object)));
        }
        Some(Look {
            thing: Rc::new(thing),
            _held: Some(self.hold(bytes)?),
        })
    }

    /// The object at a place, and the memory that it takes.
    fn read_place(&self, place: ObjectLocation) -> Option<(Thing, usize)> {
        let budget = OBJECTS_EACH_MAX.min(self.memory.left() / OBJECT_BYTES);
        if budget == 0 || self.is_spent() {
            self.is_cut.set(true);
            return None;
        }
        let (thing, left) = match place {
            ObjectLocation::File(at) => {
                let (thing, _, left) = self.read_at(at as usize, budget);
                (thing, left)
            }
            ObjectLocation::Container(index, at) => {
                let container = &self.containers[index as usize];
                let mut lexer = Lexer::new(container, at as usize, budget);
                let object = lexer.object().unwrap_or(Object::Null);
                let _ = self.spend(lexer.at().saturating_sub(at as usize));
                (
                    Thing {
                        object,
                        stream: None,
                    },
                    lexer.objects_left(),
                )
            }
        };
        Some((thing, (budget - left) * OBJECT_BYTES + THING_BYTES))
    }

    /// The object itself, where a reference stands for it.
    pub(super) fn resolve(&self, object: &Object) -> Object {
        let mut object = self.copy(object);
        for _ in 0..CHAIN_MAX {
            let Object::Reference(number) = object else {
                return object;
            };
            object = match self.thing(number) {
                Some(thing) => self.copy(&thing.object),
                None => Object::Null,
            };
        }
        Object::Null
    }

    /// Nothing when all work is spent.
    fn copy(&self, object: &Object) -> Object {
        let bytes = match object {
            Object::Name(text) | Object::Text(text) => text.len(),
            _ => 0,
        };
        match self.spend(LOOK_BYTES + bytes) {
            Some(()) => object.clone(),
            None => Object::Null,
        }
    }

    pub(super) fn dict(&self, object: Option<&Object>) -> Option<Rc<Dict>> {
        match self.resolve(object?) {
            Object::Dict(dict) => Some(dict),
            _ => None,
        }
    }

    pub(super) fn array(&self, object: Option<&Object>) -> Option<Rc<Vec<Object>>> {
        match self.resolve(object?) {
            Object::Array(elements) => Some(elements),
            _ => None,
        }
    }

    pub(super) fn number(&self, object: Option<&Object>) -> Option<f64> {
        self.resolve(object?).number()
    }

    /// A member of a dictionary, with references followed.
    pub(super) fn member(&self, dict: &Dict, name: &str) -> Option<Object> {
        let object = self.resolve(dict.get(name.as_bytes())?);
        (object != Object::Null).then_some(object)
    }

    /// The dictionary and decoded content of a stream.
    pub(super) fn stream(&self, object: &Object) -> Option<(Rc<Dict>, Content)> {
        let Object::Reference(number) = object else {
            return None;
        };
        let thing = self.thing(*number)?;
        let (Object::Dict(dict), Some((from, to))) = (&thing.object, thing.stream) else {
            return None;
        };
        let content = self.decoded(dict, self.bytes.get(from..to)?)?;
        Some((dict.clone(), content))
    }

    /// The same for one look.
    pub(super) fn stream_once(&self, object: &Object) -> Option<Content> {
        let look = self.look(object)?;
        let (from, to) = look.thing.stream?;
        self.decoded(look.dict()?, self.bytes.get(from..to)?)
    }

    fn decoded(&self, dict: &Dict, raw: &[u8]) -> Option<Content> {
        self.spend(raw.len() * PACKED_COST + CALL_BYTES)?;
        let limit = self.work_left.get().min(STREAM_BYTES_MAX);
        let limit = limit.min(self.memory.left());
        let content = filters::decode(dict, raw, limit, &|object| self.resolve(object))?;
        if content.is_bomb {
            self.is_bomb.set(true);
            self.work_left.set(0);
        }
        if content.bytes.len() >= limit {
            self.is_cut.set(true);
        }
        // A bound that is met here ends the next step; this one has its content.
        let _ = self.spend(content.decoded);
        self.content(content.bytes)
    }

    /// Bytes that count as long as they live; `None` when there is no space for them.
    pub(super) fn content(&self, bytes: Vec<u8>) -> Option<Content> {
        let content = Content::new(bytes, &self.memory);
        self.is_cut.set(self.is_cut.get() || content.is_none());
        content
    }

    /// Takes so much memory for as long as the answer lives; `None` when there is not so much left.
    pub(super) fn hold(&self, bytes: usize) -> Option<Reserved> {
        let held = self.memory.hold(bytes);
        self.is_cut.set(self.is_cut.get() || held.is_none());
        held
    }

    /// Takes so much memory for as long as the file is read. `None` when all is taken.
    pub(super) fn keep(&self, bytes: usize) -> Option<()> {
        let kept = self.memory.keep(bytes);
        self.is_cut.set(self.is_cut.get() || kept.is_none());
        kept
    }

    /// Whether no more work is done for this file.
    pub(super) fn is_spent(&self) -> bool {
        self.work_left.get() == 0
    }

    /// Counts work, in bytes. `None` when all is spent.
    pub(super) fn spend(&self, bytes: usize) -> Option<()> {
        self.work.step();
        let left = self.work_left.get().saturating_sub(bytes);
        self.work_left.set(left);
        if left == 0 {
            self.is_cut.set(true);
            return None;
        }
        Some(())
    }
}

/// The object number in front of `obj`, which must be followed by a generation.
fn number_before(bytes: &[u8], at: usize) -> Option<u32> {
    let before = &bytes[at.saturating_sub(40)..at];
    let before = before.trim_ascii_end();
    let generation = before
        .iter()
        .rev()
        .take_while(|b| b.is_ascii_digit())
        .count();
    let before = &before[..before.len() - generation];
    let trimmed = before.trim_ascii_end();
    let digits = trimmed
        .iter()
        .rev()
        .take_while(|b| b.is_ascii_digit())
        .count();
    if generation == 0 || trimmed.len() == before.len() || digits == 0 {
        return None;
    }
    let digits = &trimmed[trimmed.len() - digits..];
    std::str::from_utf8(digits).ok()?.parse().ok()
}

fn find(bytes: &[u8], from: usize, needle: &[u8]) -> Option<usize> {
    let rest = bytes.get(from..)?;
    let first = *needle.first()?;
    let mut at = 0;
    loop {
        at += rest[at..].iter().position(|b| *b == first)?;
        if rest[at..].starts_with(needle) {
            return Some(from + at);
        }
        at += 1;
    }
}

/// The next place where one of the two stands, and whether it is the second.
fn find_either(bytes: &[u8], from: usize, one: &[u8], other: &[u8]) -> Option<(usize, bool)> {
    let rest = bytes.get(from..)?;
    let (first, second) = (*one.first()?, *other.first()?);
    let mut at = 0;
    loop {
        at += rest[at..]
            .iter()
            .position(|b| *b == first || *b == second)?;
        if rest[at..].starts_with(one) {
            return Some((from + at, false));
        }
        if rest[at..].starts_with(other) {
            return Some((from + at, true));
        }
        at += 1;
    }
}
