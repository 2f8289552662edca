//! Notices in addition to the result, printed on standard error by the command line.

use std::cell::RefCell;
use std::fmt::Display;

/// The kind of a notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoticeKind {
    /// An error that ends the run or part of it.
    Error,
    /// Something unexpected.
    Warning,
    /// Something useful to know.
    Note,
    /// Requested additional output.
    Shown,
}

/// Receives notices.
pub trait Notices {
    /// Reports a notice of one or more lines.
    fn say(&self, kind: NoticeKind, message: &dyn Display);

    /// Whether to hide the progress bar.
    fn is_quiet(&self) -> bool;
}

impl dyn Notices + '_ {
    /// Reports an error.
    pub fn error(&self, message: impl Display) {
        self.say(NoticeKind::Error, &message);
    }

    /// Reports a warning.
    pub fn warning(&self, message: impl Display) {
        self.say(NoticeKind::Warning, &message);
    }

    /// Reports a note.
    pub fn note(&self, message: impl Display) {
        self.say(NoticeKind::Note, &message);
    }

    /// Shows requested additional output.
    pub fn show(&self, text: impl Display) {
        self.say(NoticeKind::Shown, &text);
    }
}

/// Collects notices to show them elsewhere.
#[derive(Debug, Default)]
pub struct KeptNotices(RefCell<Vec<(NoticeKind, String)>>);

impl KeptNotices {
    /// Takes the notices collected so far.
    pub fn take(&self) -> Vec<(NoticeKind, String)> {
        self.0.take()
    }
}

impl Notices for KeptNotices {
    fn say(&self, kind: NoticeKind, message: &dyn Display) {
        self.0.borrow_mut().push((kind, message.to_string()));
    }

    fn is_quiet(&self) -> bool {
        true
    }
}
