//! An annotation as written.

use super::Context;
use super::prelude::*;
use std::ops::Range;

use hcoplan_yaml::Style;
use hcoplan_yaml::{ScalarPlaces, edit_part};

/// An annotation as written.
#[derive(Debug, Clone, Copy)]
pub struct Annotation<'a> {
    document: &'a Document,
    entry: &'a Entry,
}

impl<'a> Context<'a> {
    /// An annotation of the HyperConverged.
    pub fn annotation(&self, name: &str) -> Option<Annotation<'a>> {
        Annotation::of(self.document(), name)
    }
}

impl<'a> Annotation<'a> {
    /// An annotation of another document.
    pub fn of(document: &'a Document, name: &str) -> Option<Self> {
        Self::of_object(document, &document.root, name)
    }

    /// An annotation of an object in a document.
    pub(super) fn of_object(document: &'a Document, object: &'a Node, name: &str) -> Option<Self> {
        let annotations = object.below("metadata.annotations")?;
        Some(Self { document, entry: annotations.entry(name)? })
    }

    /// Its key.
    pub fn name(&self) -> &'a str {
        &self.entry.key.text
    }

    /// Its value; `None` unless it is a string (the API server rejects others).
    pub fn text(&self) -> Option<&'a str> {
        self.entry.value.as_str()
    }

    /// The value as written.
    pub fn node(&self) -> &'a Node {
        &self.entry.value
    }

    /// The location of its key.
    pub fn key_place(&self) -> Location {
        self.document.location(self.entry.key.span)
    }

    /// The location of its value.
    pub fn value_place(&self) -> Location {
        self.document.location(self.entry.value.span)
    }

    /// The location of a part of the value; `part` is a range of bytes of [`Annotation::text`].
    pub fn part_location(&self, part: Range<usize>) -> Location {
        self.location(self.places().locate(part))
    }

    /// The locations of its text's bytes, for looking up many parts.
    pub(super) fn places(&self) -> ScalarPlaces {
        ScalarPlaces::of(self.document, &self.entry.value)
    }

    pub(super) fn location(&self, span: Span) -> Location {
        self.document.location(span)
    }

    /// See [`edit_part`].
    pub fn edit_part(&self, part: Range<usize>, text: &str) -> Option<Edit> {
        edit_part(self.document, &self.entry.value, part, text)
    }

    /// An edit that replaces the value, with its kind of quotes (double quotes if it has none); `None` for a block
    /// scalar and an alias.
    pub fn rewrite(&self, text: &str) -> Option<Edit> {
        let quoted = match self.entry.value.style {
            Style::SingleQuoted => format!("'{}'", text.replace('\'', "''")),
            Style::Plain | Style::DoubleQuoted => Value::from(text).to_string(),
            _ => return None,
        };
        Some(Edit { file: Arc::clone(&self.document.file), span: self.entry.value.span, text: quoted })
    }
}
