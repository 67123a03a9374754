//! What is kept of a document: its shape and its small values, within a budget.

use serde_json::{Map, Value};

use super::Event;

/// What all kept values together may cost.
const BUDGET: usize = 64 * 1024;
/// What a value costs besides its text.
const NODE: usize = 32;
/// Children kept of one container, so that a long list of numbers does not crowd out what follows it.
const MAX_CHILDREN: usize = 512;
/// Longest kept text; it is read by people, not decoded.
const MAX_TEXT: usize = 2 * 1024;
/// Longest kept key.
const MAX_KEY: usize = 256;

/// One step of the path to the current value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

/// A document under construction. Values beyond the budget are left out; the rest stays right.
pub(crate) struct Skeleton {
    frames: Vec<Frame>,
    root: Option<Value>,
    text: String,
    cut: bool,
    in_key: bool,
    left: usize,
}

struct Frame {
    key: String,
    index: usize,
    kept: usize,
    is_object: bool,
    /// `None` when the budget did not allow the container.
    value: Option<Value>,
}

impl Skeleton {
    pub(crate) fn new() -> Self {
        Self { frames: Vec::new(), root: None, text: String::new(), cut: false, in_key: false, left: BUDGET }
    }

    /// The path to the value that comes next or is being read.
    pub(crate) fn path(&self) -> impl ExactSizeIterator<Item = Step<'_>> {
        self.frames.iter().map(|frame| if frame.is_object { Step::Key(&frame.key) } else { Step::Index(frame.index) })
    }

    /// Takes the next event.
    pub(crate) fn on(&mut self, event: Event<'_>) {
        match event {
            Event::BeginObject => self.open(Value::Object(Map::new()), true),
            Event::BeginArray => self.open(Value::Array(Vec::new()), false),
            Event::End => self.close(),
            Event::BeginKey => self.begin_text(true),
            Event::BeginText => self.begin_text(false),
            Event::Part(part) => self.part(part),
            Event::EndText => self.end_text(),
            Event::Scalar(value) => self.put(value),
        }
    }

    /// Puts a value at the current place.
    pub(crate) fn put(&mut self, value: Value) {
        let cost = NODE + text_length(&value);
        if self.may_keep(cost) {
            self.left -= cost;
            self.attach(value);
        }
        self.advance();
    }

    /// The document, once it is complete.
    pub(crate) fn into_root(self) -> Option<Value> {
        self.root
    }

    /// Bytes kept, about.
    pub(crate) fn retained(&self) -> usize {
        (BUDGET - self.left) + self.text.len() + self.frames.iter().map(|frame| frame.key.len()).sum::<usize>()
    }

    fn begin_text(&mut self, key: bool) {
        self.in_key = key;
        self.cut = false;
        self.text.clear();
    }

    fn part(&mut self, part: &str) {
        if self.cut {
            return;
        }
        let room = if self.in_key { MAX_KEY } else { MAX_TEXT }.saturating_sub(self.text.len());
        if part.len() <= room {
            self.text.push_str(part);
            return;
        }
        // character by character, so that chunk borders do not decide where it is cut
        self.cut = true;
        for character in part.chars() {
            if self.text.len() + character.len_utf8() > if self.in_key { MAX_KEY } else { MAX_TEXT } {
                break;
            }
            self.text.push(character);
        }
        self.text.push('…');
    }

    fn end_text(&mut self) {
        let text = std::mem::take(&mut self.text);
        if !self.in_key {
            self.put(Value::String(text));
        } else if let Some(frame) = self.frames.last_mut() {
            frame.key = text;
        }
    }

    fn open(&mut self, value: Value, is_object: bool) {
        let keep = self.may_keep(NODE);
        if keep {
            self.left -= NODE;
        }
        self.frames.push(Frame { key: String::new(), index: 0, kept: 0, is_object, value: keep.then_some(value) });
    }

    fn close(&mut self) {
        let Some(frame) = self.frames.pop() else { return };
        if let Some(value) = frame.value {
            self.attach(value);
        }
        self.advance();
    }

    fn may_keep(&self, cost: usize) -> bool {
        let (parent, key) = match self.frames.last() {
            Some(frame) => (frame.value.is_some() && frame.kept < MAX_CHILDREN, frame.key.len()),
            None => (true, 0),
        };
        parent && cost + key <= self.left
    }

    fn attach(&mut self, value: Value) {
        let Some(frame) = self.frames.last_mut() else {
            self.root = Some(value);
            return;
        };
        frame.kept += 1;
        match &mut frame.value {
            Some(Value::Object(map)) => {
                self.left = self.left.saturating_sub(frame.key.len());
                map.insert(frame.key.clone(), value);
            }
            Some(Value::Array(list)) => list.push(value),
            Some(_) | None => {}
        }
    }

    fn advance(&mut self) {
        if let Some(frame) = self.frames.last_mut() {
            frame.index += 1;
        }
    }
}

fn text_length(value: &Value) -> usize {
    value.as_str().map_or(0, str::len)
}
