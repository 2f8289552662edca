//! `--upgrade-to`: what upgrades of HCO do to the clusters, release by release.

use std::io::{self, Write as _};
use std::ops::ControlFlow;
use std::sync::Arc;

use anstyle::Style;

use super::arguments::Sources;
use super::clusters::Clusters;
use super::failure::Failure;
use super::output::Output;
use crate::app::{self, Progress, Upgraded, Upgrading};
use crate::diff::ClusterDiff;
use crate::lint::Settings;
use crate::release::Release;
use crate::repo;
use crate::report::Terminal;
use crate::report::changes::{self, Changes};

/// What one step of an upgrade does to the clusters.
pub(super) struct Upgrade {
    /// The release that the step leads to.
    pub(super) to: String,
    clusters: Vec<ClusterDiff>,
}

impl Upgrade {
    /// Upgrades every chosen cluster, release by release; each step by itself.
    pub(super) fn preview(
        found: &Clusters,
        work: &Upgrading<'_>,
        settings: &Settings,
        sources: &Sources,
        output: &Output,
    ) -> Vec<Self> {
        let chosen = found.chosen();
        let progress = Progress::of(chosen.len(), output.quiet());
        let mut steps: Vec<Self> = Vec::new();
        let jobs = sources.jobs;
        app::upgrades(
            &found.repo,
            &chosen,
            work,
            settings,
            jobs,
            &progress,
            |of| {
                for Upgraded { release, compared } in of {
                    if let Some(said) = compared.panicked {
                        let cluster = &compared.diff.cluster;
                        output.error(format_args!("{cluster}: hcoplan has a bug: {said}"));
                    }
                    match steps.iter_mut().find(|step| step.to == release) {
                        Some(step) => step.clusters.push(compared.diff),
                        None => steps.push(Self {
                            to: release,
                            clusters: vec![compared.diff],
                        }),
                    }
                }
                ControlFlow::Continue(())
            },
        );
        let place = |name: &str| Release::known_names().position(|known| known == name);
        steps.sort_by_key(|step| (place(&step.to).unwrap_or(usize::MAX), step.to.clone()));
        steps
    }

    /// What it does, to be printed.
    pub(super) fn changes<'a>(&'a self, found: &'a Clusters, terminal: Terminal) -> Changes<'a> {
        Changes {
            left: "before",
            right: &self.to,
            clusters: &self.clusters,
            compared: self.clusters.len(),
            root: &found.root,
            terminal,
            budget: None,
        }
    }

    /// Prints it for people.
    pub(super) fn human(&self, changes: &Changes<'_>, out: &mut Vec<u8>) -> io::Result<()> {
        const BOLD: Style = Style::new().bold();
        writeln!(out, "\n{BOLD}Upgrade to {}{BOLD:#}\n", self.to)?;
        changes::write(changes::Format::Human, changes, out)
    }
}

/// The release at the end of a path; the others must lead to it.
pub(super) fn last_release(path: &[String]) -> Result<Option<Arc<Release>>, Failure> {
    let releases = path.iter().map(|name| repo::named_release(name));
    let releases = releases.collect::<Result<Vec<_>, _>>()?;
    let place = |name: &str| Release::known_names().position(|known| known == name);
    let places: Vec<_> = releases.iter().filter_map(|r| place(r.name())).collect();
    if !places.is_sorted() {
        return Err(Failure::usage(
            format!("--upgrade-to {} goes back", path.join(",")),
            "name the releases in their order; those in between are gone through by themselves",
        ));
    }
    Ok(releases.into_iter().next_back())
}
