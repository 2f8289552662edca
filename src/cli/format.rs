//! `--format FORMAT[=FILE]`, which may be repeated.

use crate::prelude::*;
use std::borrow::Cow;
use std::str::FromStr;

use anstream::adapter::StripBytes;

use super::output::Output;
use crate::secret::mask_credentials;
use hcoplan_analysis::atomic_file::{self, PartialFile};
use hcoplan_report::named::{self, names};
use hcoplan_report::{Named, Terminal};

/// The formats of a result that only goes to standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Form {
    /// For people
    Human,
    /// For programs
    Json,
}

/// A format and its destination.
#[derive(Debug, Clone)]
pub(super) struct Target<F = Format> {
    /// The format.
    pub(super) format: F,
    /// The file; `None` means standard output.
    pub(super) file: Option<Utf8PathBuf>,
}

impl<F: Named> FromStr for Target<F> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, file) = match text.split_once('=') {
            Some((_, "")) => return Err("there is no file after `=`".to_owned()),
            Some((name, file)) => (name, Some(file).filter(|file| *file != "-").map(Into::into)),
            None => (text, None),
        };
        let format = F::named(name).ok_or_else(|| format!("formats are {}", names(named::all::<F>()).join(", ")))?;
        Ok(Self { format, file })
    }
}

/// The targets of all formats; the default is the first format on standard output.
pub(super) fn all<F: Named>(targets: &[Target<F>], command: &str) -> Result<Vec<Target<F>>, Failure> {
    among(targets, command, &named::all().collect::<Vec<_>>())
}

/// The targets for a subcommand that supports some of the formats.
pub(super) fn among<F: Named>(targets: &[Target<F>], command: &str, formats: &[F]) -> Result<Vec<Target<F>>, Failure> {
    if let Some(target) = targets.iter().find(|t| !formats.contains(&t.format)) {
        return Err(Failure::usage(
            format!("{command} has no format {}", target.format.name()),
            format!("there is {}", names(formats.iter().copied()).join(", ")),
        ));
    }
    let mut streams = targets.iter().filter(|t| t.file.is_none());
    if let (Some(_), Some(_)) = (streams.next(), streams.next()) {
        return Err(Failure::usage(
            "two formats can't share standard output",
            "give all but one a file, as in --format json=plan.json",
        ));
    }
    if targets.is_empty() {
        return Ok(formats.iter().take(1).map(|format| Target { format: *format, file: None }).collect());
    }
    Ok(targets.to_vec())
}

impl<F> Target<F> {
    /// The terminal settings for its destination.
    pub(super) fn terminal(&self, output: &Output) -> Terminal {
        match self.file {
            None => output.terminal(),
            Some(_) => Terminal { verbose: output.terminal().verbose, ..Terminal::default() },
        }
    }

    /// Writes a finished report, with credentials masked.
    pub(super) fn write(&self, text: &[u8], output: &Output) -> Result<(), Failure> {
        match std::str::from_utf8(text).map(mask_credentials) {
            Ok(Cow::Owned(text)) => self.write_text(text.as_bytes(), output),
            _ => self.write_text(text, output),
        }
    }

    /// Opens its file for writing in parts; `None` for standard output.
    pub(super) fn begin(&self) -> Option<Result<PartialFile, Failure>> {
        let path = self.file.as_ref()?;
        Some(PartialFile::begin(path).map_err(|error| Failure::Write(path.to_string(), error)))
    }

    /// Writes a finished text. A file appears completely or not at all; devices and pipes are written directly.
    fn write_text(&self, text: &[u8], output: &Output) -> Result<(), Failure> {
        let Some(path) = &self.file else {
            return Ok(output.print(text)?);
        };
        // A file gets no colours.
        let plain: Cow<'_, [u8]> = match memchr::memchr(b'\x1b', text) {
            Some(_) => StripBytes::new().strip_next(text).flatten().copied().collect(),
            None => text.into(),
        };
        atomic_file::replace(path, &plain).map_err(|error| Failure::Write(path.to_string(), error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_can_have_a_file() {
        let target = |text: &str| text.parse::<Target>();
        let json = target("json=out/plan=1.json").expect("a target");
        assert_eq!(json.format, Format::Json);
        assert_eq!(json.file.as_deref(), Some("out/plan=1.json".into()));
        assert_eq!(target("human").expect("a target").file, None);
        let error = target("yaml").expect_err("no format");
        assert!(error.starts_with("formats are human, concise, json,"), "{error}");
        assert!(target("json=").is_err());
    }

    #[test]
    fn one_format_goes_to_standard_output() {
        let target = |text: &str| text.parse::<Target>().expect("a target");
        let both = [Format::Human, Format::Json];
        let twice = [target("json"), target("human")];
        assert!(among(&twice, "plan", &both).is_err());
        assert!(among(&twice[..1], "plan", &both).is_ok());
        assert!(among(&twice[..1], "plan", &[Format::Human]).is_err());
        let default = among(&[], "plan", &both).expect("the first");
        assert_eq!(default[0].format, Format::Human);
    }
}
