//! `--baseline FILE`: the findings of an earlier day.

use camino::Utf8Path;

use super::failure::Failure;
use super::output::Output;
use super::written;
use crate::finding::Finding;
use crate::lint::{Baseline, Date, Settings};
use crate::repo;
use crate::source::{Unreadable, open_file, read_limited};

/// The file of findings of an earlier day.
#[derive(Debug, Clone, Copy)]
pub(super) struct BaselineFile<'a> {
    /// Where it is, as it was typed.
    pub(super) path: &'a Utf8Path,
    /// Whether today's findings are written into it.
    pub(super) record: bool,
}

impl BaselineFile<'_> {
    /// The baseline in a file, of the revision that is trusted where there is one.
    pub(super) fn known(self, settings: &Settings, output: &Output) -> Result<Baseline, Failure> {
        let path = self.path;
        let own = on_disk(path)?;
        let bytes = match settings.trust.base() {
            None => own,
            Some(base) => {
                let bytes = base.file(path).map_err(|error| match error {
                    repo::Error::File(path, Unreadable::Missing) => {
                        let name = base.name();
                        Failure::usage(
                            format!("{name}, which is trusted, has no {path}"),
                            "merge the baseline on its own first",
                        )
                    }
                    other => other.into(),
                })?;
                if own.as_ref().is_some_and(|own| *own != bytes) {
                    let name = base.name();
                    output.note(format_args!(
                        "{path} is taken from {name}: its changes have no effect"
                    ));
                }
                Some(bytes)
            }
        };
        let bytes = bytes.ok_or_else(|| {
            Failure::usage(
                format!("there is no baseline {path}"),
                "record today's findings in it with --record-baseline",
            )
        })?;
        parsed(path, &bytes)
    }

    /// Writes today's findings into a file. What it knows keeps its day.
    pub(super) fn record(
        self,
        findings: &[Finding],
        today: Date,
        whole: bool,
        output: &Output,
    ) -> Result<Baseline, Failure> {
        let path = self.path;
        if !whole {
            return Err(Failure::usage(
                "a shard has not all that belongs into a baseline",
                "record it without --shard",
            ));
        }
        let before = on_disk(path)?.map(|bytes| parsed(path, &bytes));
        let baseline = Baseline::record(findings, before.transpose()?.as_ref(), today);
        written::replace(path, baseline.to_text().as_bytes())
            .map_err(|error| Failure::Read(path.to_string(), error))?;
        output.note(format_args!("today's findings are recorded in {path}"));
        Ok(baseline)
    }
}

/// A file's bytes; `None` where there is none.
fn on_disk(path: &Utf8Path) -> Result<Option<Vec<u8>>, Failure> {
    let failed = |why| Failure::Repo(repo::Error::File(path.to_owned(), why));
    match open_file(path) {
        Ok((mut file, _)) => {
            let bytes = read_limited(&mut file).map_err(|e| failed(e.into()))?;
            Ok(Some(bytes))
        }
        Err(Unreadable::Missing) => Ok(None),
        Err(why) => Err(failed(why)),
    }
}

fn parsed(path: &Utf8Path, bytes: &[u8]) -> Result<Baseline, Failure> {
    Baseline::parse(&String::from_utf8_lossy(bytes)).map_err(|error| {
        Failure::usage(
            format!("{path} is no baseline: {error}"),
            "delete it, and record today's findings with --record-baseline",
        )
    })
}
