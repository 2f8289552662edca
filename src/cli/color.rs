//! Detects what a stream can show: colours, characters, columns.

use crate::prelude::*;
use std::io::{self, IsTerminal};

use anstream::stream::RawStream;
use anstream::{AutoStream, ColorChoice};

use hcoplan_report::Terminal;

/// When to use colour.
#[derive(Debug, Clone, Copy, Default, clap::ValueEnum)]
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
    /// The setting for the streams.
    pub(super) fn choice(self) -> ColorChoice {
        let set = |name| std::env::var_os(name).is_some_and(|v| !v.is_empty() && v != "0");
        match self {
            Self::Always => ColorChoice::Always,
            Self::Never => ColorChoice::Never,
            // anstream handles the other variables.
            Self::Auto if set("FORCE_COLOR") && !set("NO_COLOR") => ColorChoice::Always,
            Self::Auto => ColorChoice::Auto,
        }
    }

    /// Prints help or a usage error.
    pub(super) fn print(self, text: &clap::builder::StyledStr, on_error: bool) -> io::Result<()> {
        if on_error {
            write!(AutoStream::new(io::stderr(), self.choice()), "{}", text.ansi())
        } else {
            write!(AutoStream::new(io::stdout(), self.choice()), "{}", text.ansi())
        }
    }
}

/// The abilities of a stream.
pub(super) fn terminal(stream: &(impl RawStream + IsTerminal), choice: ColorChoice) -> Terminal {
    let choice = match choice {
        ColorChoice::Auto => AutoStream::choice(stream),
        chosen => chosen,
    };
    let color = choice != ColorChoice::Never;
    Terminal {
        color,
        // Without a locale, Unicode is assumed: most logs show it.
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

/// Columns of excerpts and tables outside of a terminal.
const COLUMNS: usize = 140;

/// The columns of a terminal: `COLUMNS` (POSIX), else its size.
fn width(stream: &impl IsTerminal) -> usize {
    if !IsTerminal::is_terminal(stream) {
        return COLUMNS;
    }
    let preferred = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    preferred.filter(|n| *n > 0).or_else(size).unwrap_or(100).max(40)
}

#[cfg(unix)]
fn size() -> Option<usize> {
    // Standard output and error are usually the same terminal.
    use rustix::termios::tcgetwinsize;
    let size = tcgetwinsize(io::stdout()).or_else(|_| tcgetwinsize(io::stderr())).ok()?;
    Some(usize::from(size.ws_col)).filter(|n| *n > 0)
}

#[cfg(not(unix))]
fn size() -> Option<usize> {
    None
}
