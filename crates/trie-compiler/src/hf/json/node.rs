//! A value that knows its path in the file.
//!
//! Invariant: every refusal names the path; the path is put together only then.

use std::fmt;

use serde_json::{Map, Value};

use crate::CompileError;
use crate::error::PieceName;

/// A text for a message: in quotation marks, escaped, one line, cut when long.
pub(super) fn quoted(text: &str) -> PieceName {
    PieceName::new(text.as_bytes())
}

/// The way to a value, last step first.
#[derive(Clone, Copy)]
enum Place<'a> {
    Root(&'a str),
    Field(&'a Self, &'a str),
    Item(&'a Self, usize),
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Place::Root(name) => f.write_str(name),
            Place::Field(above, name) => write!(f, "{above}.{}", name.escape_debug()),
            Place::Item(above, index) => write!(f, "{above}[{index}]"),
        }
    }
}

#[derive(Clone, Copy)]
pub(super) struct Node<'a> {
    value: &'a Value,
    place: Place<'a>,
}

impl<'a> Node<'a> {
    pub(super) fn root(name: &'a str, value: &'a Value) -> Self {
        let place = Place::Root(name);
        Self { value, place }
    }

    /// A refusal: `reason` is the rest of a sentence that begins with the path.
    pub(super) fn error(&self, reason: impl Into<String>) -> CompileError {
        CompileError::Json {
            path: self.place.to_string(),
            reason: reason.into(),
        }
    }

    pub(super) fn fail<T>(&self, reason: impl Into<String>) -> Result<T, CompileError> {
        Err(self.error(reason))
    }

    fn not_a<T>(&self, wanted: &str) -> Result<T, CompileError> {
        let found = match self.value {
            Value::Null => "null".to_owned(),
            Value::Bool(value) => value.to_string(),
            Value::Number(number) => number.to_string(),
            Value::String(text) => quoted(text).to_string(),
            Value::Array(_) => "a list".to_owned(),
            Value::Object(_) => "an object".to_owned(),
        };
        self.fail(format!("is {found}, but must be {wanted}"))
    }

    pub(super) fn is_null(&self) -> bool {
        self.value.is_null()
    }

    fn fields(&self) -> Result<&'a Map<String, Value>, CompileError> {
        match self.value {
            Value::Object(fields) => Ok(fields),
            _ => self.not_a("an object"),
        }
    }

    pub(super) fn is_text(&self) -> bool {
        self.value.is_string()
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.value.get(name).is_some()
    }

    /// A field, `null` or not, if it is there.
    pub(super) fn given<'b>(&'b self, name: &'b str) -> Result<Option<Node<'b>>, CompileError> {
        Ok(self.fields()?.get(name).map(|value| Node {
            value,
            place: Place::Field(&self.place, name),
        }))
    }

    /// A field that may be missing or `null`.
    pub(super) fn optional<'b>(&'b self, name: &'b str) -> Result<Option<Node<'b>>, CompileError> {
        Ok(self.given(name)?.filter(|node| !node.is_null()))
    }

    pub(super) fn field<'b>(&'b self, name: &'b str) -> Result<Node<'b>, CompileError> {
        self.given(name)?
            .ok_or_else(|| self.error(format!("has no field {}", quoted(name))))
    }

    pub(super) fn items(&self) -> Result<impl ExactSizeIterator<Item = Node<'_>>, CompileError> {
        let Value::Array(items) = self.value else {
            return self.not_a("a list");
        };
        Ok(items.iter().enumerate().map(|(index, value)| Node {
            value,
            place: Place::Item(&self.place, index),
        }))
    }

    pub(super) fn text(&self) -> Result<&'a str, CompileError> {
        match self.value {
            Value::String(text) => Ok(text),
            _ => self.not_a("a text"),
        }
    }

    pub(super) fn character(&self) -> Result<char, CompileError> {
        let mut characters = self.text()?.chars();
        match (characters.next(), characters.next()) {
            (Some(character), None) => Ok(character),
            _ => self.not_a("one character"),
        }
    }

    pub(super) fn flag(&self) -> Result<bool, CompileError> {
        match self.value {
            Value::Bool(flag) => Ok(*flag),
            _ => self.not_a("true or false"),
        }
    }

    pub(super) fn whole(&self) -> Result<u64, CompileError> {
        match self.value.as_u64() {
            Some(number) => Ok(number),
            None => self.not_a("a whole number, not negative"),
        }
    }

    pub(super) fn number(&self) -> Result<u32, CompileError> {
        match u32::try_from(self.whole()?) {
            Ok(number) => Ok(number),
            Err(_) => self.not_a("less than 4,294,967,296"),
        }
    }

    /// One of these words.
    pub(super) fn word<T: Copy>(&self, words: &[(&str, T)]) -> Result<T, CompileError> {
        let text = self.text()?;
        match words.iter().find(|(word, _)| *word == text) {
            Some(&(_, meaning)) => Ok(meaning),
            None => {
                let words: Vec<&str> = words.iter().map(|&(word, _)| word).collect();
                self.not_a(&format!("one of {}", words.join(", ")))
            }
        }
    }
}
