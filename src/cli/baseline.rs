//! `--baseline FILE`: the findings of an earlier day.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};

use super::atomic_file;
use super::failure::Failure;
use super::output::Output;
use crate::finding::Finding;
use crate::lint::{Baseline, Date, Settings, Update};
use crate::repo;
use crate::source::{Unreadable, open_file, read_limited};

/// The file of findings of an earlier day.
#[derive(Debug, Clone)]
pub(super) struct BaselineFile {
    /// Where it is, relative to the current directory.
    pub(super) path: Utf8PathBuf,
    /// Whether today's findings are written into it.
    pub(super) update: bool,
    /// Whether the command line says which rules run, so that others' findings aren't there.
    pub(super) some_rules: bool,
    /// Where it lies outside of what is looked at: the clusters that are. It may know others'.
    pub(super) looked_at: Option<BTreeSet<String>>,
}

impl BaselineFile {
    /// The baseline in a file, of the revision that is trusted where there is one.
    pub(super) fn known(&self, settings: &Settings, output: &Output) -> Result<Baseline, Failure> {
        let path = &*self.path;
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
                    output.note(format_args!("{path} is taken from {name}: its changes have no effect"));
                }
                Some(bytes)
            }
        };
        let bytes = bytes.ok_or_else(|| {
            Failure::usage(
                format!("there is no baseline {path}"),
                "write today's findings into it with --update-baseline",
            )
        })?;
        parsed(path, &bytes)
    }

    /// Writes today's findings into a file. What it knows keeps its day; what matches nothing goes.
    pub(super) fn write(
        &self,
        findings: &[Finding],
        today: Date,
        settings: &Settings,
        output: &Output,
    ) -> Result<Baseline, Failure> {
        let path = &*self.path;
        if settings.partial || self.some_rules {
            return Err(Failure::usage(
                "a part of the clusters or rules has not all that belongs into a baseline",
                "update it from the root, without --cluster, --exclude, --shard, --select and --ignore",
            ));
        }
        let before = on_disk(path)?.map(|bytes| parsed(path, &bytes)).transpose()?;
        if let (Some(looked_at), Some(before)) = (&self.looked_at, &before) {
            let is_other = |cluster: &&str| !looked_at.contains(*cluster);
            let others: Vec<&str> = before.clusters().into_iter().filter(is_other).collect();
            if !others.is_empty() {
                return Err(Failure::usage(
                    format!("{path} knows findings of {}, which isn't looked at here", others.join(", ")),
                    "update it from the directory that it was written for, or delete it to begin anew",
                ));
            }
        }
        let baseline = Baseline::record(findings, before.as_ref(), today);
        atomic_file::replace(path, baseline.to_text().as_bytes())
            .map_err(|error| Failure::Read(path.to_string(), error))?;
        let Update { added, pruned, kept } = baseline.since(before.as_ref());
        output.note(format_args!("{path}: {added} added, {pruned} pruned, {kept} kept"));
        Ok(baseline)
    }

    /// Says which entries match nothing any more, where all that could match was looked at.
    pub(super) fn say_stale(&self, stale: &[String], settings: &Settings, output: &Output) {
        const SHOWN: usize = 5;
        if stale.is_empty() || settings.partial || self.some_rules || self.looked_at.is_some() {
            return;
        }
        let shown = stale.iter().take(SHOWN).map(|s| format!("\n  {s}"));
        let shown: String = shown.collect();
        let more = match stale.len().saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!("\n  and {more} more"),
        };
        let path = &self.path;
        output.note(format_args!("{path} has findings that are mended; --update-baseline prunes them:{shown}{more}"));
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
            "delete it, and write today's findings with --update-baseline",
        )
    })
}
