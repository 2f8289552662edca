//! `--baseline FILE`: findings recorded earlier.

use super::atomic_file;
use crate::failure::Failure;
use crate::notices::Notices;
use crate::prelude::*;
use hcoplan_diagnostics::source::Unreadable;
use hcoplan_diagnostics::words::lines;
use hcoplan_lint::{Baseline, Date, Update};

/// A file of recorded findings.
#[derive(Debug)]
pub struct BaselineFile {
    /// The path, relative to the current directory.
    pub path: Utf8PathBuf,
    /// The directory that contains the file if a file of the repository names it, relative to the current directory.
    pub root: Utf8PathBuf,
    /// Whether to record the run's findings in it.
    pub update: bool,
    /// Whether the command line selects rules, so that findings of other rules are missing.
    pub some_rules: bool,
    /// For a baseline outside of the examined directory: the examined clusters. It may have entries of others.
    pub looked_at: Option<BTreeSet<String>>,
}

impl BaselineFile {
    /// Reads the baseline, from the trusted revision if there is one.
    pub fn known(&self, settings: &Settings, notices: &dyn Notices) -> Result<Baseline, Failure> {
        let path = &*self.path;
        let bytes = match self.read(&settings.trust) {
            Ok(bytes) => bytes,
            Err(repo::Error::File(path, Unreadable::Missing)) => {
                return Err(Failure::usage(
                    format!("there is no baseline {path}"),
                    "write today's findings into it with --update-baseline",
                ));
            }
            Err(error @ repo::Error::NotTrusted(..)) => {
                return Err(Failure::usage(error.to_string(), "merge the baseline on its own first"));
            }
            Err(error) => return Err(error.into()),
        };
        if let Some(base) = settings.trust.base()
            && self.read(&Trust::Files).is_ok_and(|own| own != bytes)
        {
            let name = base.name();
            notices.note(format_args!("{path} is taken from {name}: its changes have no effect"));
        }
        parsed(path, &bytes)
    }

    /// Writes the run's findings. Known findings keep their date; entries without a finding are removed.
    pub fn write(
        &self,
        findings: &[Finding],
        unjudged: &BTreeSet<String>,
        today: Date,
        settings: &Settings,
        notices: &dyn Notices,
    ) -> Result<Baseline, Failure> {
        let path = &*self.path;
        if settings.partial || self.some_rules {
            return Err(Failure::usage(
                "a part of the clusters or rules has not all that belongs into a baseline",
                "update it from the root, without --cluster, --exclude, --select and --ignore",
            ));
        }
        let before = match self.read(&Trust::Files) {
            Ok(bytes) => Some(parsed(path, &bytes)?),
            Err(repo::Error::File(_, Unreadable::Missing)) => None,
            Err(error) => return Err(error.into()),
        };
        if let (Some(looked_at), Some(before)) = (&self.looked_at, &before) {
            let is_other = |cluster: &&str| !looked_at.contains(*cluster);
            let others: Vec<&str> = before.clusters().into_iter().filter(is_other).collect();
            if !others.is_empty() {
                return Err(Failure::usage(
                    format!("{path} has findings of {}, which this run doesn't check", others.join(", ")),
                    "update it from the directory that it was written for, or delete it to start over",
                ));
            }
        }
        let baseline = Baseline::record(findings, before.as_ref(), unjudged, today);
        atomic_file::replace(path, baseline.to_text().as_bytes())
            .map_err(|error| Failure::Read(path.to_string(), error))?;
        let Update { added, pruned, kept } = baseline.since(before.as_ref());
        notices.note(format_args!("{path}: {added} added, {pruned} pruned, {kept} kept"));
        Ok(baseline)
    }

    fn read(&self, trust: &Trust) -> Result<Vec<u8>, repo::Error> {
        repo::read_named(&self.root, &self.path, trust)
    }

    /// Reports entries without a finding, if the run could have found them.
    pub fn say_stale(&self, stale: &[String], settings: &Settings, notices: &dyn Notices) {
        if stale.is_empty() || settings.partial || self.some_rules || self.looked_at.is_some() {
            return;
        }
        let (path, shown) = (&self.path, lines(stale, 5));
        notices.note(format_args!("{path} has findings that are fixed; --update-baseline removes them:{shown}"));
    }
}

fn parsed(path: &Utf8Path, bytes: &[u8]) -> Result<Baseline, Failure> {
    Baseline::parse(&String::from_utf8_lossy(bytes)).map_err(|error| {
        Failure::usage(
            format!("{path} isn't a baseline: {error}"),
            "delete it, and write today's findings with --update-baseline",
        )
    })
}
