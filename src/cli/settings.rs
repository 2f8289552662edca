//! Which rules run and which findings count: the arguments, and below them `hcoplan.yaml`.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use clap::{Args, ValueEnum};

use super::baseline::BaselineFile;
use super::clusters::{self, Clusters};
use super::failure::Failure;
use crate::finding::{Severity, nearest};
use crate::lint::{self, Selector, Settings};
use crate::repo::Config;

/// Which rules run.
#[derive(Debug, Args)]
pub(super) struct Choice {
    /// Only these rules and groups
    #[arg(long, alias = "rule", value_name = "RULE", value_delimiter = ',', help_heading = "Rules")]
    select: Vec<String>,

    /// Skip these rules and groups
    #[arg(long, value_name = "RULE", value_delimiter = ',', help_heading = "Rules")]
    ignore: Vec<String>,

    /// Also the pedantic rules
    #[arg(long, help_heading = "Rules")]
    pedantic: bool,
}

/// Which rules run, and which findings count.
#[derive(Debug, Args)]
pub(super) struct Rules {
    #[command(flatten)]
    choice: Choice,

    /// Exit with 1 from this severity on [default: error]
    #[arg(long, value_name = "SEVERITY", help_heading = "Rules")]
    fail_on: Option<FailOn>,

    /// Hide the findings that this file lists [default: `lint.baseline`]
    #[arg(long, value_name = "FILE", help_heading = "Rules")]
    baseline: Option<Utf8PathBuf>,

    /// Write today's findings into the baseline, drop fixed ones
    #[arg(long, help_heading = "Rules")]
    update_baseline: bool,
}

/// From which severity on a finding fails the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum FailOn {
    /// Errors only
    Error,
    /// Warnings and errors
    Warning,
    /// Any finding
    Info,
    /// No finding
    Never,
}

impl FailOn {
    /// The severity; `None` = never.
    pub(super) fn severity(self) -> Option<Severity> {
        match self {
            Self::Error => Some(Severity::Error),
            Self::Warning => Some(Severity::Warning),
            Self::Info => Some(Severity::Info),
            Self::Never => None,
        }
    }
}

impl Choice {
    /// Whether the command line says which rules run.
    fn is_some(&self) -> bool {
        !self.select.is_empty() || !self.ignore.is_empty()
    }

    /// The arguments, and below them what the configuration says.
    pub(super) fn settings(&self, found: &Clusters) -> Result<Settings, Failure> {
        let configured = Settings::configured(found.repo.config());
        let mut settings = configured.map_err(|wrong| Failure::Configuration(wrong, found.root.clone()))?;
        if !self.select.is_empty() {
            settings.select = selectors(&self.select)?;
        }
        settings.ignore.extend(selectors(&self.ignore)?);
        settings.pedantic |= self.pedantic;
        settings.partial = !found.everything;
        settings.trust = found.trust().clone();
        Ok(settings)
    }
}

impl Rules {
    /// As [`Choice::settings`].
    pub(super) fn settings(&self, found: &Clusters) -> Result<Settings, Failure> {
        self.choice.settings(found)
    }

    /// From which severity on a finding fails the run; `None` = never.
    pub(super) fn fail_on(&self, config: &Config) -> Option<Severity> {
        match self.fail_on {
            Some(fail_on) => fail_on.severity(),
            None => config.lint.fail_on.unwrap_or(Some(Severity::Error)),
        }
    }

    /// The findings of an earlier day, where they are asked for.
    pub(super) fn baseline(&self, found: &Clusters) -> Result<Option<BaselineFile>, Failure> {
        match self.baseline.clone().or_else(|| configured_baseline(found)) {
            Some(path) => Ok(Some(BaselineFile {
                looked_at: looked_at(&path, found),
                path,
                update: self.update_baseline,
                some_rules: self.choice.is_some(),
            })),
            None if self.update_baseline => Err(Failure::usage(
                "there is no baseline to update",
                "name it with --baseline FILE, or as lint.baseline in hcoplan.yaml",
            )),
            None => Ok(None),
        }
    }
}

/// The baseline that the configuration names.
fn configured_baseline(found: &Clusters) -> Option<Utf8PathBuf> {
    let path = found.repo.config().lint.baseline.as_ref()?;
    Some(match found.root.as_str() {
        "." => path.value.clone().into(),
        root => Utf8Path::new(root).join(&path.value),
    })
}

impl BaselineFile {
    /// The one that the configuration names; it is only read.
    pub(super) fn configured(found: &Clusters) -> Option<Self> {
        let path = configured_baseline(found)?;
        Some(Self { looked_at: looked_at(&path, found), path, update: false, some_rules: false })
    }
}

/// The clusters that are looked at, where a file lies outside of what they are in.
fn looked_at(path: &Utf8Path, found: &Clusters) -> Option<BTreeSet<String>> {
    let here = |path: &Utf8Path| match path.as_str() {
        "" => Utf8Path::new(".").canonicalize(),
        _ => path.canonicalize(),
    };
    let directory = here(path.parent().unwrap_or(path)).ok()?;
    let is_outside = !directory.starts_with(here(&found.root).ok()?);
    is_outside.then(|| clusters::names(&found.repo).map(ToOwned::to_owned).collect())
}

fn selectors(names: &[String]) -> Result<Vec<Selector>, Failure> {
    let one = |name: &String| {
        lint::selector(name).ok_or_else(|| {
            let known = lint::rules().iter().map(|r| r.rule.name);
            let help = match nearest(name, known) {
                Some(meant) => format!("did you mean {meant}?"),
                None => "`hcoplan lint --list` prints them all".to_owned(),
            };
            Failure::usage(format!("there is no rule or group {name:?}"), help)
        })
    };
    names.iter().map(one).collect()
}
