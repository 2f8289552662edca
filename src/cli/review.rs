//! What `plan` and `diff` show: everything that a run over the clusters found.

use std::io::{self, Write};
use std::num::NonZeroUsize;

use serde_json::{Value, json};

use super::clusters::Clusters;
use super::exit::Verdict;
use super::findings::Findings;
use super::output::Output;
use super::tree::{self, OutputTree};
use crate::app::{State, Work};
use crate::diff::{self, Before, Change, ClusterChanges, Totals};

/// Everything that a run over the clusters found.
#[derive(Debug, Default)]
pub(super) struct Review {
    /// Clusters in which something changes.
    pub(super) changes: Vec<ClusterChanges>,
    /// The numbers, those of clusters without changes included.
    pub(super) totals: Totals,
    /// Clusters that could not be rendered and keep what they had.
    pub(super) kept: Vec<String>,
    /// Files of the tree on disk that are not as they would be written.
    pub(super) stale: Vec<String>,
    /// What was found.
    pub(super) findings: Findings,
}

/// The left side of the diff; says why when git could not be asked for it.
pub(super) fn before(tree: &OutputTree, output: &Output) -> Before {
    let (before, note) = Before::find(tree.path(), tree.disk.as_ref());
    if let Some(note) = note {
        output.note(format_args!("the diff is against the tree on disk: {note}"));
    }
    before
}

impl Review {
    /// Runs the clusters through the pipeline. What goes wrong is said and noted in the verdict.
    pub(super) fn run(
        found: &Clusters,
        work: &Work<'_>,
        jobs: Option<NonZeroUsize>,
        tree: &OutputTree,
        verdict: &mut Verdict,
        output: &Output,
    ) -> Self {
        let mut review = Self::default();
        let findings = found.each(work, jobs, output, |outcome, progress| {
            progress.aside(|| tree::say(outcome, verdict, output));
            let files = outcome.stale.iter().map(|file| tree.reported(file));
            review.stale.extend(files);
            if !matches!(outcome.state, State::Done) {
                review.kept.push(outcome.cluster.clone());
                review.totals.clusters += 1;
            } else if let Some(changes) = outcome.changes.take() {
                review.count(changes);
            }
        });
        review.findings = findings;
        review
    }

    /// Takes a cluster's changes in.
    pub(super) fn count(&mut self, changes: ClusterChanges) {
        self.totals.count(&changes);
        if !changes.changes.is_empty() {
            self.changes.push(changes);
        }
    }

    /// For people; the last line sums it up.
    ///
    /// # Errors
    /// What the writer says.
    pub(super) fn human(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.totals.clusters == 0 {
            return Ok(());
        }
        for cluster in &self.changes {
            diff::write_cluster(out, cluster)?;
        }
        diff::write_totals(out, &self.totals)?;
        if let [first, rest @ ..] = self.kept.as_slice() {
            let more = match rest.len() {
                0 => String::new(),
                n => format!(" and {n} more"),
            };
            write!(out, "; not rendered: {first}{more}")?;
        }
        writeln!(out)
    }

    /// For programs: one entry an object.
    pub(super) fn changes_json(&self) -> Value {
        let all = self.changes.iter();
        let all = all.flat_map(|c| c.changes.iter().map(|change| entry(&c.cluster, change)));
        all.collect()
    }
}

fn entry(cluster: &str, change: &Change) -> Value {
    let (before, after) = (change.before.as_deref(), change.after.as_deref());
    let null = "/dev/null";
    let diff = diff::unified(
        before.unwrap_or_default(),
        after.unwrap_or_default(),
        before.map_or(null, |_| &change.file),
        after.map_or(null, |_| &change.file),
    );
    json!({
        "cluster": cluster,
        "change": change.kind.as_str(),
        "apiVersion": change.id.api_version,
        "kind": change.id.kind,
        "namespace": change.id.namespace,
        "name": change.id.name,
        "file": change.file,
        "diff": diff,
    })
}
