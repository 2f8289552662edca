//! Standard output and error: colour, pipes that close, notes and errors.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};

use anstream::stream::RawStream;
use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};

use crate::finding::Finding;
use crate::secret::InputText;
use camino::Utf8Path;
use hcoplan_analysis::{FinalFindings, Findings, NoticeKind, Notices};
use hcoplan_report::{Format, Report, Terminal};

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const NOTE: Style = AnsiColor::Cyan.on_default().bold();

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(super) enum Color {
    /// On a terminal, as NO_COLOR, CLICOLOR_FORCE and FORCE_COLOR say
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl Color {
    fn choice(self) -> ColorChoice {
        let set = |name| std::env::var_os(name).is_some_and(|v| !v.is_empty() && v != "0");
        match self {
            Self::Always => ColorChoice::Always,
            Self::Never => ColorChoice::Never,
            // The others are known to anstream.
            Self::Auto if set("FORCE_COLOR") && !set("NO_COLOR") => ColorChoice::Always,
            Self::Auto => ColorChoice::Auto,
        }
    }
}

impl Color {
    /// Prints help or a mistake of the command line.
    pub(super) fn print(self, text: &clap::builder::StyledStr, on_error: bool) -> io::Result<()> {
        if on_error {
            write!(AutoStream::new(io::stderr(), self.choice()), "{}", text.ansi())
        } else {
            write!(AutoStream::new(io::stdout(), self.choice()), "{}", text.ansi())
        }
    }
}

fn terminal(stream: &(impl RawStream + IsTerminal), choice: ColorChoice) -> Terminal {
    let choice = match choice {
        ColorChoice::Auto => AutoStream::choice(stream),
        chosen => chosen,
    };
    let color = choice != ColorChoice::Never;
    Terminal {
        color,
        // A locale that is set and can't is believed; without one a log that can is likelier.
        unicode: !locale().is_some_and(|l| !l.contains("UTF-8") && !l.contains("UTF8")),
        links: color && IsTerminal::is_terminal(stream),
        width: width(stream),
        wraps: IsTerminal::is_terminal(stream),
        verbose: false,
    }
}

fn locale() -> Option<String> {
    let set = |name| std::env::var(name).ok().filter(|v| !v.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set);
    locale.map(|l| l.to_uppercase())
}

/// Columns for excerpts and tables, where there is room for more.
const MOST_COLUMNS: usize = 140;

/// Columns of a terminal: what the user prefers (POSIX: `COLUMNS`), else what it has.
fn width(stream: &impl IsTerminal) -> usize {
    if !IsTerminal::is_terminal(stream) {
        return MOST_COLUMNS;
    }
    let preferred = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    preferred.filter(|n| *n > 0).or_else(size).unwrap_or(100).clamp(40, MOST_COLUMNS)
}

#[cfg(unix)]
fn size() -> Option<usize> {
    // Standard output and error of a terminal are nearly always the same one.
    use rustix::termios::tcgetwinsize;
    let size = tcgetwinsize(io::stdout()).or_else(|_| tcgetwinsize(io::stderr())).ok()?;
    Some(usize::from(size.ws_col)).filter(|n| *n > 0)
}

#[cfg(not(unix))]
fn size() -> Option<usize> {
    None
}

/// The streams of a run.
#[derive(Debug)]
pub(super) struct Output {
    choice: ColorChoice,
    quiet: bool,
    verbose: bool,
    closed: bool,
}

impl Output {
    /// Quiet: no notes and no warnings on standard error.
    pub(super) fn new(color: Color, quiet: bool, verbose: bool) -> Self {
        Self { choice: color.choice(), quiet, verbose, closed: false }
    }

    pub(super) fn quiet(&self) -> bool {
        self.quiet
    }

    /// Whether nobody reads standard output any more.
    pub(super) fn closed(&self) -> bool {
        self.closed
    }

    /// What standard output can show.
    pub(super) fn terminal(&self) -> Terminal {
        Terminal { verbose: self.verbose, ..terminal(&io::stdout(), self.choice) }
    }

    /// What standard error can show.
    pub(super) fn terminal_of_errors(&self) -> Terminal {
        Terminal { verbose: self.verbose, ..terminal(&io::stderr(), self.choice) }
    }

    /// Prints a result. A closed pipe discards it; see [`Output::closed`].
    ///
    /// # Errors
    /// Any other error of the system.
    pub(super) fn print(&mut self, text: impl AsRef<[u8]>) -> io::Result<()> {
        if self.closed {
            return Ok(());
        }
        let mut out = AutoStream::new(io::stdout().lock(), self.choice);
        match out.write_all(text.as_ref()).and_then(|()| out.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(())
            }
            other => other,
        }
    }

    /// Prints a result for people, in which names and values of the input may be: lines of it.
    ///
    /// # Errors
    /// As [`Self::print`].
    pub(super) fn print_lines(&mut self, text: &str) -> io::Result<()> {
        self.print(InputText::new(text).lines())
    }

    /// Says findings on standard error, for subcommands whose result they are not.
    pub(super) fn show_findings(&self, findings: &Findings, root: &Utf8Path) {
        let findings = findings.unfinished(root);
        if !findings.findings().is_empty() {
            let text = Report::of(&findings, self.terminal_of_errors()).text(Format::Human);
            self.show(String::from_utf8_lossy(&text).trim_end());
        }
    }

    /// Says findings about the configuration, which end a run.
    pub(super) fn show_configuration(&self, findings: &[Finding], root: &Utf8Path) {
        let findings = FinalFindings::new(findings.to_vec(), root);
        let text = Report::of(&findings, self.terminal_of_errors()).text(Format::Human);
        let text = String::from_utf8_lossy(&text).into_owned();
        // The last line counts clusters, of which none was examined.
        self.show(text.trim_end().rsplit_once("\n\n").map_or(text.trim_end(), |(t, _)| t));
    }

    /// Says what ended the run, or a part of it.
    pub(super) fn error(&self, message: impl Display) {
        self.say("error", ERROR, message);
    }

    /// Says what may surprise.
    pub(super) fn warning(&self, message: impl Display) {
        if !self.quiet {
            self.say("warning", WARNING, message);
        }
    }

    /// Says what is good to know.
    pub(super) fn note(&self, message: impl Display) {
        if !self.quiet {
            self.say("note", NOTE, message);
        }
    }

    /// Shows what was asked for beside the result.
    pub(super) fn show(&self, text: impl Display) {
        let mut out = AutoStream::new(io::stderr().lock(), self.choice);
        let _ = writeln!(out, "{}", InputText::new(&text.to_string()).lines());
    }

    fn say(&self, word: &str, style: Style, message: impl Display) {
        let mut out = AutoStream::new(io::stderr().lock(), self.choice);
        // Without standard error, nothing can be reported.
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
