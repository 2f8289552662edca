//! `hcoplan argocd`: fields of a HyperConverged that a GitOps controller reports as different on every sync.

use std::collections::{BTreeMap, BTreeSet};

use clap::Args;
use hcoplan_report::document::{Block, Document, Entry, Layout, Level, Text};
use hcoplan_report::terminal;
use serde_json::{Value, json};

use super::arguments::Sources;
use super::clusters;
use super::exit::Verdict;
use super::failure::Failure;
use super::format::{self, Target};
use super::output::Output;
use crate::diff::{Drift, DriftReason, to_commit};
use crate::repo::{Controller, IgnoredField};
use crate::secret::{InputText, masked_value};
use crate::yaml::{Path, Segment, emit};
use hcoplan_analysis::review::clusters as cluster_names;
use hcoplan_analysis::{ClusterDrift, cluster_drift};
use hcoplan_report::Format;

/// Report fields of a HyperConverged that Argo CD and Flux show as different on every sync
///
/// Compares git with the cluster's HyperConverged once API server, webhook and operator have handled it. Argo CD's
/// client-side diff lays git over the live object. These stay different: a field that the API server drops, a `null`, a
/// default inside a list, and a value that another controller writes. Server-side diff (Argo CD with
/// ServerSideDiff=true, and Flux) asks the API server what it would store.
///
/// Prints the values to commit, after which nothing differs. Prints also the smallest ignoreDifferences (and
/// spec.ignore of Flux) as an alternative. Lists entries of the repository's Applications, ApplicationSets and
/// Kustomizations that ignore nothing.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Arguments {
    #[command(flatten)]
    sources: Sources,

    /// Exit with 1 when a field differs, or an entry ignores nothing
    #[arg(long, help_heading = "Output")]
    check: bool,

    /// Print the health check of HyperConvergeds for Argo CD, in Lua, and nothing else
    #[arg(long, help_heading = "Output")]
    health: bool,

    /// How to print the result, as often as needed: `human` or `json`, alone or with `=FILE`
    #[arg(long, value_name = "FORMAT[=FILE]", help_heading = "Output")]
    format: Vec<Target>,
}

const EXAMPLES: &str = "\
Examples:
  hcoplan argocd                         fields that differ on every sync; what to commit or ignore
  hcoplan argocd clusters/prod --check   for CI: exits with 1 when a field differs
  hcoplan argocd --health                for argocd-cm, see docs/argocd.md";

/// Kept as a file of its own, so that it can be run.
const HEALTH: &str = include_str!("../../examples/argocd/health.lua");

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Verdict, Failure> {
    if arguments.health {
        output.print(HEALTH)?;
        return Ok(Verdict::default());
    }
    let targets = format::resolve(&arguments.format, "argocd", &[Format::Human, Format::Json])?;
    let found = clusters::find(&arguments.sources, Vec::new(), output)?;
    let mut verdict = found.verdict;
    if verdict.nothing_found {
        return Ok(verdict);
    }
    let mut clusters = Vec::new();
    for cluster in found.chosen() {
        match cluster_drift(&found.repo, cluster) {
            Ok(drift) => clusters.push(drift),
            Err(why) => {
                let name = InputText::new(cluster.name()).line().into_owned();
                output.error(format_args!("{name}: {}", InputText::new(&why).message()));
                verdict.failed = true;
            }
        }
    }
    let all: Vec<&Drift> = clusters.iter().flat_map(|c| &c.fields).collect();
    // An entry may be for a cluster that nothing is known of.
    let whole = found.everything && clusters.len() == found.repo.clusters().len();
    let ignored = if whole {
        found.repo.ignored_fields()
    } else {
        output.note("entries that ignore nothing are reported only when all clusters are checked");
        Vec::new()
    };
    let idle: Vec<&IgnoredField> = ignored.iter().filter(|f| is_idle(f, &all)).collect();
    for target in &targets {
        let text = match target.format {
            Format::Json => document(&clusters, &idle),
            _ => terminal::print(&screen(&clusters, &idle), target.terminal(output)),
        };
        target.write(text.as_bytes(), output)?;
    }
    verdict.failed |= arguments.check && !(all.is_empty() && idle.is_empty());
    Ok(verdict)
}

/// Whether an entry leaves out nothing that differs. Which fields an expression without keys selects is
/// not known.
fn is_idle(ignored: &IgnoredField, all: &[&Drift]) -> bool {
    let Some(pointer) = &ignored.pointer else {
        return false;
    };
    let covers = |outer: &str, inner: &str| {
        let rest = inner.strip_prefix(outer);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    !all.iter().any(|drift| {
        let own = drift.pointer();
        let is_seen = ignored.controller == Controller::ArgoCd || drift.server_side;
        is_seen && (covers(pointer, &own) || covers(&own, pointer))
    })
}

/// A value as it may be shown.
fn shown(drift: &Drift, value: &Value) -> Value {
    masked_value(&drift.path.join("."), value)
}

/// Clusters with the same differences are one part.
fn screen(clusters: &[ClusterDrift], idle: &[&IgnoredField]) -> Document {
    let mut groups: Vec<Vec<&ClusterDrift>> = Vec::new();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for cluster in clusters {
        let fields = cluster.fields.iter().map(|d| (d.pointer(), &d.git, &d.live, d.server_side, d.reason.words()));
        let key = format!("{} {:?}", cluster.release, fields.collect::<Vec<_>>());
        let index = *known.entry(key).or_insert(groups.len());
        match groups.get_mut(index) {
            Some(alike) => alike.push(cluster),
            None => groups.push(vec![cluster]),
        }
    }
    let mut blocks = Vec::new();
    for alike in &groups {
        let Some(first) = alike.first() else {
            continue;
        };
        let names: Vec<&str> = alike.iter().map(|c| &*c.cluster).collect();
        let count = match first.fields.len() {
            0 => "nothing differs".to_owned(),
            n => format!("{} on every sync", plural_differ(n)),
        };
        let title = Text::from(cluster_names(&names)).soft(format!(" ({})", first.release)).plain(format!(": {count}"));
        blocks.push(Block::Heading(2, title));
        blocks.push(Block::Entries(Layout::Brief, first.fields.iter().map(|drift| one(first, drift)).collect()));
        blocks.extend(remedy(first));
    }
    let all: Vec<&Drift> = clusters.iter().flat_map(|c| &c.fields).collect();
    blocks.extend(to_ignore(&all));
    let idle = idle.iter().map(|ignored| {
        let at = ignored.place.start();
        let place = format!("{}:{}:{}", ignored.place.file.path(), at.line, at.column);
        Text::new().code(place).plain(format!(": {} ignores nothing", ignored.text))
    });
    let idle: Vec<Text> = idle.collect();
    if !idle.is_empty() {
        blocks.push(Block::Heading(2, "Entries without effect".into()));
        blocks.push(Block::List(idle));
    }
    Document { blocks, ..Document::default() }
}

/// `1 field differs`, `3 fields differ`.
fn plural_differ(n: usize) -> String {
    if n == 1 { "1 field differs".to_owned() } else { format!("{n} fields differ") }
}

fn one(cluster: &ClusterDrift, drift: &Drift) -> Entry {
    let segments = drift.path.iter().map(|key| Segment::Key(key.clone()));
    let place = cluster.document.locate_key(&Path(segments.collect()));
    let at = place.start();
    let value = |value: Option<&Value>| match value {
        None => Text::from("nothing"),
        Some(value) => Text::new().code(shown(drift, value).to_string()),
    };
    let seen = match (drift.server_side, drift.reason) {
        (true, _) => "every diff shows it",
        (_, DriftReason::Dropped) => {
            "Argo CD's client-side diff shows it; server-side apply, so Flux, rejects the field"
        }
        _ => "Argo CD's client-side diff shows it, server-side diff and Flux don't",
    };
    let text = Text::from("git has ")
        .then(value(Some(&drift.git)))
        .plain(", the cluster has ")
        .then(value(drift.live.as_ref()));
    let mut entry = Entry::new(Level::Warn, Text::new().code(drift.pointer()), text);
    entry.place = Text::new().code(format!("{}:{}:{}", place.file.path(), at.line, at.column));
    entry.note("why", drift.reason.words());
    entry.note("seen by", seen);
    entry
}

/// What to commit of a cluster.
fn remedy(cluster: &ClusterDrift) -> Vec<Block> {
    let mut out = Vec::new();
    let gone: Vec<String> = cluster.fields.iter().filter(|d| d.live.is_none()).map(Drift::pointer).collect();
    if !gone.is_empty() {
        out.push(Block::Paragraph(Text::new().strong("Remove from git: ").code(gone.join(", "))));
    }
    let shown_fields = cluster
        .fields
        .iter()
        .map(|drift| Drift { live: drift.live.as_ref().map(|live| shown(drift, live)), ..drift.clone() });
    let values = to_commit(&shown_fields.collect::<Vec<_>>());
    if values.as_object().is_some_and(|v| !v.is_empty()) {
        out.push(Block::Paragraph(Text::new().strong("Commit:")));
        out.push(Block::Code(emit(&values)));
    }
    out
}

/// What to ignore instead.
fn to_ignore(all: &[&Drift]) -> Vec<Block> {
    let pointers = |server_side: bool| -> Vec<String> {
        let chosen = all.iter().filter(|d| d.server_side || !server_side);
        let pointers: BTreeSet<String> = chosen.map(|d| d.pointer()).collect();
        pointers.into_iter().collect()
    };
    let (client, server) = (pointers(false), pointers(true));
    let mut out = Vec::new();
    let mut add = |title: &str, values: Value| {
        out.push(Block::Heading(2, title.into()));
        out.push(Block::Code(emit(&values)));
    };
    if !client.is_empty() {
        let ignored = json!({"group": "hco.kubevirt.io", "kind": "HyperConverged", "jsonPointers": client});
        add("Or, in the Application", json!({"ignoreDifferences": [ignored]}));
    }
    if !server.is_empty() {
        let ignored = json!({"paths": server, "target": {"kind": "HyperConverged"}});
        add("Or, in the Kustomization of Flux", json!({"ignore": [ignored]}));
    }
    out
}

fn document(clusters: &[ClusterDrift], idle: &[&IgnoredField]) -> String {
    let field = |cluster: &ClusterDrift, drift: &Drift| {
        let segments = drift.path.iter().map(|key| Segment::Key(key.clone()));
        let place = cluster.document.locate_key(&Path(segments.collect()));
        let at = place.start();
        let mut out = json!({
            "pointer": drift.pointer(),
            "git": shown(drift, &drift.git),
            "reason": drift.reason.as_str(),
            "serverSide": drift.server_side,
            "file": place.file.path().as_str(),
            "line": at.line,
            "column": at.column,
        });
        if let Some(live) = &drift.live {
            out["live"] = shown(drift, live);
        }
        out
    };
    let clusters = clusters.iter().map(|c| {
        let fields: Vec<Value> = c.fields.iter().map(|d| field(c, d)).collect();
        json!({"cluster": c.cluster, "release": c.release, "fields": fields})
    });
    let idle = idle.iter().map(|f| {
        let at = f.place.start();
        json!({
            "text": f.text,
            "controller": f.controller.to_string(),
            "file": f.place.file.path().as_str(),
            "line": at.line,
            "column": at.column,
        })
    });
    let document = json!({
        "schemaVersion": "1",
        "clusters": clusters.collect::<Vec<_>>(),
        "ignoresNothing": idle.collect::<Vec<_>>(),
    });
    format!("{document:#}\n")
}
