//! Options for rules and findings, with defaults from `hcoplan.yaml`.

use crate::finding::{Severity, nearest};
use crate::lint::{self, Selector, Settings};
use crate::prelude::*;
use crate::repo::Config;
use hcoplan_analysis::{AnalysisRequest, BaselineFile, CompareBase};

/// Options that select rules.
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

/// Options for rules and findings.
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

/// The least severity that fails the run.
#[derive(Debug, Clone, Copy, ValueEnum)]
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
    /// The severity; `None` means never.
    pub(super) fn severity(self) -> Option<Severity> {
        Severity::named(self.to_possible_value()?.get_name())
    }
}

impl Choice {
    /// Whether the command line selects or ignores rules.
    fn is_some(&self) -> bool {
        self.selects() || !self.ignore.is_empty()
    }

    /// Whether the command line selects rules.
    pub(super) fn selects(&self) -> bool {
        !self.select.is_empty()
    }

    /// The settings of the command line and the configuration.
    pub(super) fn settings(&self, found: &Clusters) -> Result<Settings, Failure> {
        let mut settings = configured(found)?;
        if self.selects() {
            settings.select = selectors(&self.select)?;
        }
        settings.ignore.extend(selectors(&self.ignore)?);
        settings.pedantic |= self.pedantic;
        settings.partial = !found.everything;
        Ok(settings)
    }
}

/// The settings of the configuration.
pub(super) fn configured(found: &Clusters) -> Result<Settings, Failure> {
    let configured = Settings::configured(found.repo.config());
    let settings = configured.map_err(|wrong| Failure::Configuration(wrong, found.root.clone()))?;
    Ok(Settings { trust: found.trust().clone(), ..settings })
}

impl Rules {
    /// See [`Choice::settings`].
    pub(super) fn settings(&self, found: &Clusters) -> Result<Settings, Failure> {
        self.choice.settings(found)
    }

    /// The input of an analysis with these rules.
    pub(super) fn request<'a>(
        &self,
        found: &'a Clusters,
        settings: &'a Settings,
        base: &'a CompareBase,
        work: ClusterTask<'a>,
    ) -> Result<AnalysisRequest<'a>, Failure> {
        let (baseline, fail_on) = (self.baseline(found)?, self.fail_on(found.repo.config()));
        Ok(AnalysisRequest { found, settings, base, baseline, fail_on, work })
    }

    /// The least severity that fails the run; `None` means never.
    fn fail_on(&self, config: &Config) -> Option<Severity> {
        match self.fail_on {
            Some(fail_on) => fail_on.severity(),
            None => config.lint.fail_on.unwrap_or(Some(Severity::Error)),
        }
    }

    /// The baseline, if given.
    fn baseline(&self, found: &Clusters) -> Result<Option<BaselineFile>, Failure> {
        match found.baseline(self.baseline.clone()) {
            Some(file) => {
                Ok(Some(BaselineFile { update: self.update_baseline, some_rules: self.choice.is_some(), ..file }))
            }
            None if self.update_baseline => Err(Failure::usage(
                "there is no baseline to update",
                "name it with --baseline FILE, or as lint.baseline in hcoplan.yaml",
            )),
            None => Ok(None),
        }
    }
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
