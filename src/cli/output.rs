//! Standard output and error: results, closed pipes, notes and errors.

use crate::prelude::*;
use std::cell::Cell;
use std::fmt::Display;
use std::io::{self};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};

use super::color::{Color, terminal};
use super::settings::configured;
use crate::finding::Finding;
use crate::lint::Settings;
use crate::secret::InputText;
use hcoplan_analysis::{FinalFindings, Findings, NoticeKind, Notices};
use hcoplan_report::{Report, Terminal, Typed};

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const NOTE: Style = AnsiColor::Cyan.on_default().bold();

/// The streams of a run.
#[derive(Debug)]
pub(super) struct Output {
    choice: ColorChoice,
    quiet: bool,
    verbose: bool,
    closed: Cell<bool>,
}

impl Output {
    /// `quiet` suppresses notes and warnings.
    pub(super) fn new(color: Color, quiet: bool, verbose: bool) -> Self {
        Self { choice: color.choice(), quiet, verbose, closed: Cell::new(false) }
    }

    pub(super) fn quiet(&self) -> bool {
        self.quiet
    }

    /// Whether the reader of standard output closed it.
    pub(super) fn closed(&self) -> bool {
        self.closed.get()
    }

    /// The abilities of standard output.
    pub(super) fn terminal(&self) -> Terminal {
        Terminal { verbose: self.verbose, ..terminal(&io::stdout(), self.choice) }
    }

    /// The abilities of standard error.
    pub(super) fn terminal_of_errors(&self) -> Terminal {
        Terminal { verbose: self.verbose, ..terminal(&io::stderr(), self.choice) }
    }

    /// Prints a result. A closed pipe discards it; see [`Output::closed`].
    ///
    /// # Errors
    /// Any other I/O error.
    pub(super) fn print(&self, text: impl AsRef<[u8]>) -> io::Result<()> {
        if self.closed.get() {
            return Ok(());
        }
        let mut out = AutoStream::new(io::stdout().lock(), self.choice);
        match out.write_all(text.as_ref()).and_then(|()| out.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.closed.set(true);
                Ok(())
            }
            other => other,
        }
    }

    /// Prints a result for people that may contain names and values of the input.
    ///
    /// # Errors
    /// See [`Self::print`].
    pub(super) fn print_lines(&self, text: &str) -> io::Result<()> {
        self.print(InputText::new(text).lines())
    }

    /// Prints findings on standard error, for subcommands with another result, which run no rules.
    pub(super) fn show_findings(&self, findings: Findings, found: &Clusters) -> Result<(), Failure> {
        let settings = Settings { partial: true, ..configured(found)? };
        let mut findings = findings.finished(found.baseline(None).as_ref(), &settings, &found.root, self)?;
        if self.quiet {
            findings.retain(Finding::is_error);
        }
        if !findings.findings().is_empty() {
            let text = Report::of(&findings, &Typed::default(), self.terminal_of_errors()).text(Format::Human);
            self.show(String::from_utf8_lossy(&text).trim_end());
        }
        Ok(())
    }

    /// Prints findings about the configuration, which end a run.
    pub(super) fn show_configuration(&self, findings: &[Finding], root: &Utf8Path) {
        let findings = FinalFindings::new(findings.to_vec(), root);
        let text = Report::of(&findings, &Typed::default(), self.terminal_of_errors()).text(Format::Human);
        let text = String::from_utf8_lossy(&text).into_owned();
        // The last line counts clusters, but none was examined.
        self.show(text.trim_end().rsplit_once("\n\n").map_or(text.trim_end(), |(t, _)| t));
    }

    /// Reports an error.
    pub(super) fn error(&self, message: impl Display) {
        self.say("error", ERROR, message);
    }

    /// Reports a warning.
    pub(super) fn warning(&self, message: impl Display) {
        if !self.quiet {
            self.say("warning", WARNING, message);
        }
    }

    /// Reports a note.
    pub(super) fn note(&self, message: impl Display) {
        if !self.quiet {
            self.say("note", NOTE, message);
        }
    }

    /// Shows requested additional output.
    pub(super) fn show(&self, text: impl Display) {
        let mut out = AutoStream::new(io::stderr().lock(), self.choice);
        let _ = writeln!(out, "{}", InputText::new(&text.to_string()).lines());
    }

    fn say(&self, word: &str, style: Style, message: impl Display) {
        let mut out = AutoStream::new(io::stderr().lock(), self.choice);
        // Errors of standard error can't be reported.
        let message = message.to_string();
        let _ = writeln!(out, "{style}{word}{style:#}: {}", InputText::new(&message).lines());
    }
}

impl Notices for Output {
    fn say(&self, kind: NoticeKind, message: &dyn Display) {
        match kind {
            NoticeKind::Error => self.error(message),
            NoticeKind::Warning => self.warning(message),
            NoticeKind::Note => self.note(message),
            NoticeKind::Shown => self.show(message),
        }
    }

    fn is_quiet(&self) -> bool {
        self.quiet()
    }
}
