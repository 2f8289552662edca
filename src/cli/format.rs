//! `--format FORMAT[=FILE]`, as often as one likes.

use std::borrow::Cow;
use std::str::FromStr;

use anstream::adapter::StripBytes;
use camino::Utf8PathBuf;

use super::output::Output;
use crate::secret::mask_credentials;
use hcoplan_analysis::{
    Failure,
    atomic_file::{self, PartialFile},
};
use hcoplan_report::{Format, Terminal, changes, matrix};

/// Formats that have names.
pub(super) trait Named: Copy + PartialEq + 'static {
    /// Every format.
    const ALL: &'static [Self];

    /// The name as it is typed.
    fn name(self) -> &'static str;
}

impl Named for Format {
    const ALL: &'static [Self] = &Self::ALL;

    fn name(self) -> &'static str {
        self.as_str()
    }
}

impl Named for changes::Format {
    const ALL: &'static [Self] = &Self::ALL;

    fn name(self) -> &'static str {
        self.as_str()
    }
}

impl Named for matrix::Format {
    const ALL: &'static [Self] = &Self::ALL;

    fn name(self) -> &'static str {
        self.as_str()
    }
}

/// A format and where it goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target<F = Format> {
    /// The format.
    pub(super) format: F,
    /// The file; standard output when `None`.
    pub(super) file: Option<Utf8PathBuf>,
}

impl<F: Named> FromStr for Target<F> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, file) = match text.split_once('=') {
            Some((_, "")) => return Err("there is no file behind `=`".to_owned()),
            Some((name, file)) => (name, Some(file.into())),
            None => (text, None),
        };
        let format = F::ALL.iter().find(|f| f.name() == name);
        let format = *format.ok_or_else(|| format!("formats are {}", names(F::ALL)))?;
        Ok(Self { format, file })
    }
}

fn names<F: Named>(formats: &[F]) -> String {
    let names: Vec<_> = formats.iter().map(|f| f.name()).collect();
    names.join(", ")
}

/// Checks the targets of a run against the formats that the subcommand has; without any, the
/// first of these goes to standard output.
pub(super) fn resolve<F: Named>(
    targets: &[Target<F>],
    command: &str,
    formats: &[F],
) -> Result<Vec<Target<F>>, Failure> {
    if let Some(target) = targets.iter().find(|t| !formats.contains(&t.format)) {
        return Err(Failure::usage(
            format!("{command} has no format {}", target.format.name()),
            format!("there is {}", names(formats)),
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
        let first = formats.first().or_else(|| F::ALL.first());
        let first = first.map(|format| Target { format: *format, file: None });
        return Ok(first.into_iter().collect());
    }
    Ok(targets.to_vec())
}

impl<F> Target<F> {
    /// What the format may use there.
    pub(super) fn terminal(&self, output: &Output) -> Terminal {
        match self.file {
            None => output.terminal(),
            Some(_) => Terminal { verbose: output.terminal().verbose, ..Terminal::default() },
        }
    }

    /// Writes a finished report where it belongs, without credentials.
    pub(super) fn write(&self, text: &[u8], output: &mut Output) -> Result<(), Failure> {
        match std::str::from_utf8(text).map(mask_credentials) {
            Ok(Cow::Owned(text)) => self.write_text(text.as_bytes(), output),
            _ => self.write_text(text, output),
        }
    }

    /// Its file, to be written piece by piece; `None` where it goes to standard output.
    pub(super) fn begin(&self) -> Option<Result<PartialFile, Failure>> {
        let path = self.file.as_ref()?;
        let failed = |error| Failure::Write(path.to_string(), error);
        Some(PartialFile::begin(path).map_err(failed))
    }

    /// Writes a finished text where it belongs. A file is there as a whole or not at all; a
    /// device or a pipe is written to as it is.
    fn write_text(&self, text: &[u8], output: &mut Output) -> Result<(), Failure> {
        let Some(path) = &self.file else {
            return Ok(output.print(text)?);
        };
        // Colours are for terminals.
        let plain: Cow<'_, [u8]> = match memchr::memchr(b'\x1b', text) {
            Some(_) => StripBytes::new().strip_next(text).flatten().copied().collect(),
            None => text.into(),
        };
        let failed = |error| Failure::Write(path.to_string(), error);
        atomic_file::replace(path, &plain).map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_may_have_a_file() {
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
        assert!(resolve(&twice, "plan", &both).is_err());
        assert!(resolve(&twice[..1], "plan", &both).is_ok());
        assert!(resolve(&twice[..1], "plan", &[Format::Human]).is_err());
        let default = resolve(&[], "plan", &both).expect("the first");
        assert_eq!(default[0].format, Format::Human);
    }
}
