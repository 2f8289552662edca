//! A file's path and text, the places inside it, and changes to it.
//!
//! A [`SourceFile`] is shared by reference count, so that a message can show its excerpt after
//! everything else about the file was dropped.

mod decode;
mod limits;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use aho_corasick::AhoCorasick;
use camino::{Utf8Path, Utf8PathBuf};
use memchr::memmem;

use crate::Path;
pub use decode::{Decoded, Encoding, decode, encode};
pub use limits::{Bytes, Limits, above_limit};

/// Locks what a thread that panicked leaves usable.
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A half-open range of bytes in one file's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The range `start..end` in bytes.
    pub fn new(start: usize, end: usize) -> Self {
        Self { start: u32::try_from(start).unwrap_or(u32::MAX), end: u32::try_from(end).unwrap_or(u32::MAX) }
    }

    /// Whether a byte is in the range.
    pub fn has(self, at: u32) -> bool {
        self.start <= at && at < self.end
    }

    /// Whether another range is within this one.
    pub fn holds(self, other: Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// The range as `usize`, for slicing.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A place as editors count it: both 1-based, columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// 1-based line.
    pub line: usize,
    /// 1-based column, in Unicode scalar values.
    pub column: usize,
}

/// As compilers print it: `3:1`.
impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// One file's path and decoded text.
#[derive(Debug)]
pub struct SourceFile {
    path: Utf8PathBuf,
    text: String,
    encoding: Encoding,
    replaced: Vec<Span>,
    line_starts: OnceLock<Vec<u32>>,
    is_ascii: OnceLock<bool>,
    secret_parts: OnceLock<SecretParts>,
    mentions: Mutex<Vec<(&'static str, bool)>>,
    origins: OnceLock<Arc<Origins>>,
}

/// Where the text of a generated file comes from, such as a kustomize build.
#[derive(Debug, Default, Clone)]
pub struct Origins {
    /// Ranges of the text, each with the place that it is from.
    pub places: Vec<(Span, Location)>,
}

impl Origins {
    /// Each range of the text with the place that it is from. Ranges may be in one another.
    pub fn new(places: Vec<(Span, Location)>) -> Self {
        Self { places }
    }

    /// Whether any of the text is from a part of a file.
    pub fn has(&self, path: &Utf8Path, part: Span) -> bool {
        self.places.iter().any(|(_, place)| place.file.path() == path && part.holds(place.span))
    }

    /// The smallest part of a file around one of its parts that any of the text is from.
    pub fn part_around(&self, path: &Utf8Path, part: Span) -> Option<Span> {
        let places = self.places.iter().map(|(_, place)| place);
        let around = places.filter(|place| place.file.path() == path && place.span.holds(part));
        around.map(|p| p.span).min_by_key(|s| s.end - s.start)
    }

    /// The smallest range around a place, and where that is from.
    fn around(&self, span: Span) -> Option<&(Span, Location)> {
        let around = self.places.iter().filter(|(s, _)| s.holds(span));
        around.min_by_key(|(s, _)| s.end - s.start)
    }
}

/// The parts of a file that must not be shown.
#[derive(Debug, Default)]
pub struct SecretParts {
    /// Its bytes, in order, without overlaps.
    pub spans: Vec<Span>,
    /// Finds the words among it that nothing may quote; `None` where there is none.
    pub words: Option<AhoCorasick>,
}

impl SourceFile {
    /// A file with its path as it is reported (relative to the root) and its text.
    pub fn new(path: impl Into<Utf8PathBuf>, text: impl Into<String>) -> Arc<Self> {
        let (text, encoding) = (text.into(), Encoding::Utf8);
        Self::of(path.into(), Decoded { text, encoding, replaced: Vec::new() })
    }

    /// A file with its path as it is reported and its bytes, decoded as kubectl decodes them.
    pub fn from_bytes(path: impl Into<Utf8PathBuf>, bytes: Vec<u8>) -> Arc<Self> {
        Self::of(path.into(), decode(bytes))
    }

    fn of(path: Utf8PathBuf, decoded: Decoded) -> Arc<Self> {
        Arc::new(Self {
            path,
            text: decoded.text,
            encoding: decoded.encoding,
            replaced: decoded.replaced,
            line_starts: OnceLock::new(),
            is_ascii: OnceLock::new(),
            secret_parts: OnceLock::new(),
            mentions: Mutex::default(),
            origins: OnceLock::new(),
        })
    }

    /// The path, relative to the root (`-` for standard input).
    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// The whole text, UTF-8, without a byte order mark.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// How the text was stored, for whoever writes it back (see [`encode`]).
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// Where the text has U+FFFD because the file's bytes weren't text.
    pub fn replaced(&self) -> &[Span] {
        &self.replaced
    }

    /// Whether a word is in the text, which is searched once, however many clusters ask.
    pub fn mentions(&self, word: &'static str) -> bool {
        let mut known = locked(&self.mentions);
        if let Some((_, found)) = known.iter().find(|(other, _)| *other == word) {
            return *found;
        }
        let found = memmem::find(self.text.as_bytes(), word.as_bytes()).is_some();
        known.push((word, found));
        found
    }

    /// The parts that must not be shown; `find` is called once.
    pub fn secret_parts(&self, find: impl FnOnce() -> SecretParts) -> &SecretParts {
        self.secret_parts.get_or_init(find)
    }

    /// Sets where a generated text comes from. Only the first call counts.
    pub fn set_origins(&self, origins: Arc<Origins>) {
        let _ = self.origins.set(origins);
    }

    /// Where a generated text comes from.
    pub fn origins(&self) -> Option<&Origins> {
        self.origins.get().map(Arc::as_ref)
    }

    /// Whether a program produced the text, and its sources are known.
    pub fn is_generated(&self) -> bool {
        self.origins().is_some()
    }

    /// Whether every character is one byte, so that columns needn't be counted.
    fn is_ascii(&self) -> bool {
        *self.is_ascii.get_or_init(|| self.text.is_ascii())
    }

    fn line_starts(&self) -> &[u32] {
        self.line_starts.get_or_init(|| {
            let breaks = memchr::memchr_iter(b'\n', self.text.as_bytes());
            std::iter::once(0).chain(breaks.map(|i| u32::try_from(i + 1).unwrap_or(u32::MAX))).collect()
        })
    }

    /// A line by its 0-based number, without its break, and its first byte.
    pub fn line(&self, number: usize) -> Option<(usize, &str)> {
        let start = *self.line_starts().get(number)? as usize;
        let line = self.text.get(start..)?.lines().next();
        Some((start, line.unwrap_or_default()))
    }

    /// Line and column of a byte offset; an offset past the end is the end.
    pub fn position(&self, offset: u32) -> Position {
        let starts = self.line_starts();
        let line = starts.partition_point(|s| *s <= offset).saturating_sub(1);
        let start = starts.get(line).copied().unwrap_or(0) as usize;
        let end = (offset as usize).min(self.text.len());
        let column = if self.is_ascii() {
            end.saturating_sub(start)
        } else {
            self.text.get(start..end).map_or(0, |s| s.chars().count())
        };
        Position { line: line + 1, column: column + 1 }
    }
}

/// A range of bytes in a file.
#[derive(Debug, Clone)]
pub struct Location {
    /// The file.
    pub file: Arc<SourceFile>,
    /// The bytes of it that are meant.
    pub span: Span,
    /// The field that is meant, where the file doesn't have it and this is the place of something above it.
    pub lacks: Option<Arc<Path>>,
}

impl Location {
    /// The bytes `span` of `file`.
    pub fn new(file: &Arc<SourceFile>, span: Span) -> Self {
        Self { file: Arc::clone(file), span, lacks: None }
    }

    /// The same, meaning a field below it that isn't written.
    #[must_use]
    pub fn lacking(self, field: Path) -> Self {
        Self { lacks: Some(Arc::new(field)), ..self }
    }

    /// Line and column of the first byte.
    pub fn start(&self) -> Position {
        self.file.position(self.span.start)
    }

    /// Line and column one past the last byte.
    pub fn end(&self) -> Position {
        self.file.position(self.span.end)
    }

    /// Whether it has the same bytes of the same file.
    pub fn is_same(&self, other: &Self) -> bool {
        self.file.path() == other.file.path() && self.span == other.span
    }

    /// The text that is meant.
    pub fn text(&self) -> &str {
        self.file.text().get(self.span.range()).unwrap_or("")
    }

    /// The place in a file of the user's that this one in a program's text is from: the same
    /// characters where they are there, else the value that they are in. `None` in a file that is the
    /// user's own, and where it is unknown.
    pub fn origin(&self) -> Option<Self> {
        let origin = self.origin_in_input()?;
        // What was built of builds.
        Some(origin.origin().unwrap_or(origin))
    }

    fn origin_in_input(&self) -> Option<Self> {
        let (span, origin) = self.file.origins()?.around(self.span)?;
        let mut meant = origin.span;
        if *span != self.span && self.span.start < self.span.end {
            let mut same = origin.text().match_indices(self.text());
            if let (Some((at, _)), None) = (same.next(), same.next()) {
                let start = origin.span.start as usize + at;
                meant = Span::new(start, start + self.text().len());
            }
        }
        Some(Self { file: Arc::clone(&origin.file), span: meant, lacks: self.lacks.clone() })
    }
}

/// Replaces the bytes `span` of `file` by `text`.
#[derive(Debug, Clone)]
pub struct Edit {
    /// The file.
    pub file: Arc<SourceFile>,
    /// What is replaced; empty for an insertion.
    pub span: Span,
    /// The new text.
    pub text: String,
}

impl Edit {
    /// Moves the edit from generated text to the user's text that it comes from: `false`, and nothing
    /// happens, unless it is another value on one line for one that the user wrote like this.
    pub fn move_to_origin(&mut self) -> bool {
        let Some(origins) = self.file.origins() else {
            return true;
        };
        let place = Location::new(&self.file, self.span);
        let Some((_, origin)) = origins.around(self.span).filter(|(span, _)| *span == self.span).cloned() else {
            return false;
        };
        let bare = |place: &Location| place.text().trim_matches(['"', '\'']).to_owned();
        if bare(&origin) != bare(&place) || self.text.contains('\n') || self.text.is_empty() {
            return false;
        }
        (self.file, self.span) = (origin.file, origin.span);
        true
    }
}

/// The lines of a text with their offsets, each with its line break.
pub fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        (start, line)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters_from_one() {
        let file = SourceFile::new("a.yaml", "é: 1\nb: 2\n");
        assert_eq!(file.position(3), Position { line: 1, column: 3 });
        assert_eq!(file.position(6), Position { line: 2, column: 1 });
        assert_eq!(file.position(900), Position { line: 3, column: 1 });
    }
}
