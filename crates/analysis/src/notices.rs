//! Notices beside the result: standard error of the command line.

use std::cell::RefCell;
use std::fmt::Display;

/// What a notice is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoticeKind {
    /// What ended the run, or a part of it.
    Error,
    /// What may surprise.
    Warning,
    /// What is good to know.
    Note,
    /// What was asked for beside the result.
    Shown,
}

/// Who takes notices.
pub trait Notices {
    /// Takes one, of one or more lines.
    fn say(&self, kind: NoticeKind, message: &dyn Display);

    /// Whether there is to be no progress bar.
    fn is_quiet(&self) -> bool;
}

impl dyn Notices + '_ {
    /// Says what ended the run, or a part of it.
    pub fn error(&self, message: impl Display) {
        self.say(NoticeKind::Error, &message);
    }

    /// Says what may surprise.
    pub fn warning(&self, message: impl Display) {
        self.say(NoticeKind::Warning, &message);
    }

    /// Says what is good to know.
    pub fn note(&self, message: impl Display) {
        self.say(NoticeKind::Note, &message);
    }

    /// Shows what was asked for beside the result.
    pub fn show(&self, text: impl Display) {
        self.say(NoticeKind::Shown, &text);
    }
}

/// Keeps notices, for those who show them elsewhere than on standard error.
#[derive(Debug, Default)]
pub struct KeptNotices(RefCell<Vec<(NoticeKind, String)>>);

impl KeptNotices {
    /// The notices so far, in their order.
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
