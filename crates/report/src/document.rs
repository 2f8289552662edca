//! What a screen says, without colours and markup.
//!
//! A view builds a [`Document`]; a printer makes a terminal's text, markdown or a page of it. Texts may hold what users
//! wrote: printers escape them, and mask what looks like a credential.

pub use hcoplan_analysis::review::Level;

use hcoplan_diagnostics::source::Location;

/// A screen, a comment or a page.
#[derive(Debug, Clone, Default)]
pub struct Document {
    /// What it is called: a page's title.
    pub title: String,
    /// What everything comes to, in one line at the top.
    pub verdict: Option<(Level, Text)>,
    /// What it says, in this order.
    pub blocks: Vec<Block>,
    /// What a terminal shows as the last line, when all the rest has scrolled away.
    pub last: Option<(Level, Text)>,
}

/// A part of a document.
#[derive(Debug, Clone)]
pub enum Block {
    /// What a part of it comes to, in one line.
    Verdict(Level, Text),
    /// A heading: 1 begins a section of a page, 2 and 3 are inside of one.
    Heading(u8, Text),
    /// A paragraph.
    Paragraph(Text),
    /// Short lines, one below the other.
    List(Vec<Text>),
    /// Findings or consequences, each with what belongs to it.
    Entries(Layout, Vec<Entry>),
    /// Rows of the same shape.
    Table(Table),
    /// Lines that come, go or change.
    Diff(Vec<DiffLine>),
    /// Locations in files, each with its labels.
    Excerpts(Vec<Mark>),
    /// Text in its own form: YAML, a command.
    Code(String),
    /// What is only shown to who asks for it, below a line that says what it is.
    Folded(Text, Vec<Self>),
}

/// How entries are laid out on a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// With excerpts, and a line for each note.
    Full,
    /// A sentence, and a line with all notes.
    Brief,
}

/// A finding or a consequence.
#[derive(Debug, Clone)]
pub struct Entry {
    /// How bad it is.
    pub level: Level,
    /// A word or two before the sentence: a severity and a rule.
    pub label: Text,
    /// What is the case.
    pub text: Text,
    /// Where: a line, or the clusters.
    pub place: Text,
    /// The lines that it is about.
    pub marks: Vec<Mark>,
    /// What else belongs to it, each with a name.
    pub notes: Vec<(&'static str, Text)>,
    /// By what a page's links find it.
    pub anchor: Option<String>,
}

impl Entry {
    /// A sentence of a level.
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

    /// Adds a note, where there is something to say.
    pub fn note(&mut self, name: &'static str, text: impl Into<Text>) {
        let text = text.into();
        if !text.is_empty() {
            self.notes.push((name, text));
        }
    }
}

/// A place in a file, with what is to be said about it.
#[derive(Debug, Clone)]
pub struct Mark {
    /// The file's path as it is shown.
    pub path: String,
    /// The place.
    pub place: Location,
    /// The text below it.
    pub label: String,
    /// Whether it is the place that everything is about.
    pub primary: bool,
}

/// Rows of the same shape, below names of the columns.
#[derive(Debug, Clone, Default)]
pub struct Table {
    /// What the rows are: `golden images by architecture`.
    pub caption: String,
    /// The columns' names.
    pub header: Vec<Text>,
    /// The rows, each with as many cells as there are columns.
    pub rows: Vec<Vec<Cell>>,
    /// Whether a page may sort and filter it.
    pub sortable: bool,
}

/// A cell of a table.
#[derive(Debug, Clone, Default)]
pub struct Cell {
    /// What it says.
    pub text: Text,
    /// How bad that is, where it is a judgement.
    pub level: Option<Level>,
    /// Why it is so; pages show it.
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
    /// What happens to it.
    pub sign: Sign,
    /// How deep it is: an object is 0, its fields are 1.
    pub depth: usize,
    /// The line.
    pub text: Text,
}

/// What happens to a line of a diff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// It comes.
    Add,
    /// It goes.
    Remove,
    /// It changes.
    Change,
    /// It explains the lines above it.
    Note,
}

impl Sign {
    /// As `diff` and `terraform plan` write it.
    pub const fn as_char(self) -> char {
        match self {
            Self::Add => '+',
            Self::Remove => '-',
            Self::Change => '~',
            Self::Note => ' ',
        }
    }
}

/// A line of text in pieces.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text(pub Vec<Span>);

/// A piece of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// The characters, as written.
    pub text: String,
    /// Its emphasis.
    pub style: Style,
}

/// The emphasis of a piece of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Style {
    /// None.
    Plain,
    /// It is important.
    Strong,
    /// It matters less.
    Soft,
    /// It is a name, a path or a value.
    Code,
    /// It is a judgement.
    Level(Level),
    /// It leads to an address, or with `#` to a part of the page.
    Link(String),
    /// The same, and who can't follow it has to read it.
    Address(String),
}

impl Text {
    /// Nothing, to add to.
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

    /// Adds words.
    #[must_use]
    pub fn plain(self, text: impl Into<String>) -> Self {
        self.with(text, Style::Plain)
    }

    /// Adds important words.
    #[must_use]
    pub fn strong(self, text: impl Into<String>) -> Self {
        self.with(text, Style::Strong)
    }

    /// Adds words that matter less.
    #[must_use]
    pub fn soft(self, text: impl Into<String>) -> Self {
        self.with(text, Style::Soft)
    }

    /// Adds a name, a path or a value.
    #[must_use]
    pub fn code(self, text: impl Into<String>) -> Self {
        self.with(text, Style::Code)
    }

    /// Adds a judgement.
    #[must_use]
    pub fn level(self, level: Level, text: impl Into<String>) -> Self {
        self.with(text, Style::Level(level))
    }

    /// Adds a link.
    #[must_use]
    pub fn link(self, text: impl Into<String>, address: impl Into<String>) -> Self {
        self.with(text, Style::Link(address.into()))
    }

    /// Adds a link whose address is shown where links aren't.
    #[must_use]
    pub fn address(self, text: impl Into<String>, address: impl Into<String>) -> Self {
        self.with(text, Style::Address(address.into()))
    }

    /// Adds another text.
    #[must_use]
    pub fn then(mut self, other: impl Into<Self>) -> Self {
        self.0.extend(other.into().0);
        self
    }

    /// Several texts with something between them.
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

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The characters alone.
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
