//! A screen's content, without colours and markup.
//!
//! A view builds a [`Document`]; a printer turns it into terminal text, markdown or HTML. Texts may contain user input:
//! printers escape it and mask credentials.

pub use hcoplan_analysis::review::Level;

use crate::prelude::*;

/// A screen, a comment or a page.
#[derive(Debug, Clone, Default)]
pub struct Document {
    /// A page's title.
    pub title: String,
    /// The overall result, in one line at the top.
    pub verdict: Option<(Level, Text)>,
    /// The content, in order.
    pub blocks: Vec<Block>,
    /// A terminal's last line, visible after everything else has scrolled away.
    pub last: Option<(Level, Text)>,
}

/// A part of a document.
#[derive(Debug, Clone)]
pub enum Block {
    /// The result of a part, in one line.
    Verdict(Level, Text),
    /// A heading: 1 begins a section of a page, 2 and 3 are below it.
    Heading(u8, Text),
    /// A paragraph.
    Paragraph(Text),
    /// Short lines.
    List(Vec<Text>),
    /// Findings or consequences with their notes.
    Entries(Layout, Vec<Entry>),
    /// A table.
    Table(Table),
    /// Added, removed or changed lines.
    Diff(Vec<DiffLine>),
    /// Locations in files, each with its labels.
    Excerpts(Vec<Mark>),
    /// Preformatted text: YAML, a command.
    Code(String),
    /// Content that is collapsed on a page below a summary, and shown elsewhere with `--verbose`.
    Folded(Text, Vec<Self>),
}

impl Block {
    /// A paragraph of less important words.
    pub fn soft(text: impl Into<String>) -> Self {
        Self::Paragraph(Text::new().soft(text))
    }

    /// Entries with a sentence each; `None` without entries.
    pub fn story(entries: Vec<Entry>) -> Option<Self> {
        (!entries.is_empty()).then_some(Self::Entries(Layout::Story, entries))
    }
}

/// The layout of entries on a terminal.
#[derive(Debug, Clone, Copy)]
pub enum Layout {
    /// With excerpts, one line per note.
    Full,
    /// A sentence with the sign of its severity, and a line per note.
    Story,
}

/// A finding or a consequence.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Its severity.
    pub level: Level,
    /// A short prefix: severity and rule.
    pub label: Text,
    /// The message.
    pub text: Text,
    /// A location, or the clusters.
    pub place: Text,
    /// Marked lines of files.
    pub marks: Vec<Mark>,
    /// Named details.
    pub notes: Vec<(&'static str, Text)>,
    /// The target of a page's links.
    pub anchor: Option<String>,
}

impl Entry {
    /// An entry without details.
    pub fn new(level: Level, label: impl Into<Text>, text: impl Into<Text>) -> Self {
        Self {
            level,
            label: label.into(),
            text: text.into(),
            place: Text::default(),
            marks: Vec::new(),
            notes: Vec::new(),
            anchor: None,
        }
    }

    /// Adds a note unless the text is empty.
    pub fn note(&mut self, name: &'static str, text: impl Into<Text>) {
        let text = text.into();
        if !text.is_empty() {
            self.notes.push((name, text));
        }
    }
}

/// A location in a file with a label.
#[derive(Debug, Clone)]
pub struct Mark {
    /// The file's path as shown.
    pub path: String,
    /// The place.
    pub place: Location,
    /// The label below the marked text.
    pub label: String,
    /// Whether it is the finding's own location.
    pub primary: bool,
}

/// A table with column headings.
#[derive(Debug, Clone, Default)]
pub struct Table {
    /// The caption: `golden images by architecture`.
    pub caption: String,
    /// The column headings.
    pub header: Vec<Text>,
    /// The rows, each with one cell per column.
    pub rows: Vec<Vec<Cell>>,
    /// Whether a page can sort and filter it.
    pub sortable: bool,
}

/// A cell of a table.
#[derive(Debug, Clone, Default)]
pub struct Cell {
    /// The content.
    pub text: Text,
    /// Its severity, if it is a judgement.
    pub level: Option<Level>,
    /// The reason, shown by pages.
    pub reason: Option<String>,
}

impl<T: Into<Text>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self { text: text.into(), level: None, reason: None }
    }
}

/// A line of a diff.
#[derive(Debug, Clone)]
pub struct DiffLine {
    /// How the line changes.
    pub sign: Sign,
    /// Indentation: an object is 0, its fields are 1.
    pub depth: usize,
    /// The line.
    pub text: Text,
}

impl DiffLine {
    /// A line.
    pub fn new(sign: Sign, depth: usize, text: impl Into<Text>) -> Self {
        Self { sign, depth, text: text.into() }
    }
}

/// How a line of a diff changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// Added.
    Add,
    /// Removed.
    Remove,
    /// Changed.
    Change,
    /// An explanation of the lines above.
    Note,
}

// The classes of a page's style.
hcoplan_kubernetes::names!(Sign { Add = "add", Remove = "del", Change = "change", Note = "at" });

/// A line of text in styled pieces.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Text(pub Vec<Span>);

/// A piece of text.
#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    /// The characters, as written.
    pub text: String,
    /// Its emphasis.
    pub style: Style,
}

/// The emphasis of a piece of text.
#[derive(Debug, Clone, PartialEq)]
pub enum Style {
    /// No emphasis.
    Plain,
    /// Important.
    Strong,
    /// Less important.
    Soft,
    /// A name, path or value.
    Code,
    /// A severity.
    Level(Level),
    /// A link to an address, or with `#` to an anchor of the page.
    Link(String),
    /// A link whose address is printed where links don't work.
    Address(String),
}

impl Text {
    /// An empty text.
    pub fn new() -> Self {
        Self::default()
    }

    fn with(mut self, text: impl Into<String>, style: Style) -> Self {
        let text = text.into();
        if !text.is_empty() {
            self.0.push(Span { text, style });
        }
        self
    }

    /// Appends plain words.
    #[must_use]
    pub fn plain(self, text: impl Into<String>) -> Self {
        self.with(text, Style::Plain)
    }

    /// Appends important words.
    #[must_use]
    pub fn strong(self, text: impl Into<String>) -> Self {
        self.with(text, Style::Strong)
    }

    /// Appends less important words.
    #[must_use]
    pub fn soft(self, text: impl Into<String>) -> Self {
        self.with(text, Style::Soft)
    }

    /// Appends a name, path or value.
    #[must_use]
    pub fn code(self, text: impl Into<String>) -> Self {
        self.with(text, Style::Code)
    }

    /// Appends words with a severity.
    #[must_use]
    pub fn level(self, level: Level, text: impl Into<String>) -> Self {
        self.with(text, Style::Level(level))
    }

    /// Appends a link.
    #[must_use]
    pub fn link(self, text: impl Into<String>, address: impl Into<String>) -> Self {
        self.with(text, Style::Link(address.into()))
    }

    /// Appends a link whose address is printed where links don't work.
    #[must_use]
    pub fn address(self, text: impl Into<String>, address: impl Into<String>) -> Self {
        self.with(text, Style::Address(address.into()))
    }

    /// Appends another text.
    #[must_use]
    pub fn then(mut self, other: impl Into<Self>) -> Self {
        self.0.extend(other.into().0);
        self
    }

    /// Joins texts with a separator.
    pub fn join(all: impl IntoIterator<Item = Self>, between: &str) -> Self {
        let mut out = Self::default();
        for text in all.into_iter().filter(|t| !t.is_empty()) {
            if !out.is_empty() {
                out = out.plain(between);
            }
            out.0.extend(text.0);
        }
        out
    }

    /// Whether it has no characters.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The text without styles.
    pub fn characters(&self) -> String {
        self.0.iter().map(|span| &*span.text).collect()
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self::default().plain(text)
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self::default().plain(text)
    }
}
