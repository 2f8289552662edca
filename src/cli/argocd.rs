//! `hcoplan argocd`: which fields of a HyperConverged a GitOps controller reports as different for ever.

use clap::Args;
use serde_json::{Value, json};

use super::arguments::Sources;
use super::clusters;
use super::exit::Verdict;
use super::failure::Failure;
use super::format::{self, Target};
use super::output::Output;
use crate::app::{ClusterDrift, cluster_drift};
use crate::diff::{Drift, DriftReason, to_commit};
use crate::repo::{Controller, IgnoredField};
use crate::report::Format;
use crate::secret::{InputText, masked_value};
use crate::yaml::{Path, Segment, emit};

/// Say which fields of a HyperConverged Argo CD and Flux report as different for ever
///
/// What git has is held against what the cluster has once API server, webhook and operator have seen to
/// it. Argo CD's client-side diff lays git over what is live: a field that the API server drops, a `null`,
/// a default inside a list and a value that somebody else writes stay different. Server-side diff (Argo CD
/// with ServerSideDiff=true, and Flux) asks the API server, which answers with what it would store.
///
/// Printed are the values to commit, after which nothing differs, and the smallest ignoreDifferences (and
/// spec.ignore of Flux) for who doesn't want to commit them. Entries of the repository's Applications,
/// ApplicationSets and Kustomizations that ignore nothing are named.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Arguments {
    #[command(flatten)]
    sources: Sources,

    /// Fail where a field differs, or an entry ignores nothing
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
  hcoplan argocd                         what differs for ever, and what to commit or to ignore
  hcoplan argocd clusters/prod --check   for CI: fails where something differs
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
                verdict.unusable = true;
            }
        }
    }
    let all: Vec<&Drift> = clusters.iter().flat_map(|c| &c.fields).collect();
    // An entry may be for a cluster that nothing is known of.
    let whole = found.everything && clusters.len() == found.repo.clusters().len();
    let ignored = if whole {
        found.repo.ignored_fields()
    } else {
        output.note("entries that ignore nothing are told where every cluster is looked at");
        Vec::new()
    };
    let idle: Vec<&IgnoredField> = ignored.iter().filter(|f| is_idle(f, &all)).collect();
    for target in &targets {
        let text = match target.format {
            Format::Json => document(&clusters, &idle),
            _ => human(&clusters, &idle),
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

fn human(clusters: &[ClusterDrift], idle: &[&IgnoredField]) -> String {
    let mut out = String::new();
    for cluster in clusters {
        let name = InputText::new(&cluster.cluster).line();
        let count = match cluster.fields.len() {
            0 => "nothing differs".to_owned(),
            1 => "1 field differs for ever".to_owned(),
            n => format!("{n} fields differ for ever"),
        };
        out.push_str(&format!("{name} ({}): {count}\n", cluster.release));
        for drift in &cluster.fields {
            one(cluster, drift, &mut out);
        }
        remedy(cluster, &mut out);
    }
    let all: Vec<&Drift> = clusters.iter().flat_map(|c| &c.fields).collect();
    out.push_str(&to_ignore(&all));
    for ignored in idle {
        let at = ignored.place.start();
        let path = InputText::new(ignored.place.file.path().as_str()).line().into_owned();
        let text = InputText::new(&ignored.text).line();
        out.push_str(&format!("{path}:{}:{}: {text} ignores nothing\n", at.line, at.column));
    }
    out
}

fn one(cluster: &ClusterDrift, drift: &Drift, out: &mut String) {
    let segments = drift.path.iter().map(|key| Segment::Key(key.clone()));
    let place = cluster.document.locate_key(&Path(segments.collect()));
    let at = place.start();
    let path = InputText::new(place.file.path().as_str()).line().into_owned();
    let pointer = drift.pointer();
    let pointer = InputText::new(&pointer).line();
    let value = |value: Option<&Value>| match value {
        None => "nothing".to_owned(),
        Some(value) => InputText::new(&shown(drift, value).to_string()).line().into_owned(),
    };
    let seen = match (drift.server_side, drift.reason) {
        (true, _) => "every diff shows it",
        (_, DriftReason::Dropped) => {
            "Argo CD's client-side diff shows it; server-side apply, so Flux, refuses the field"
        }
        _ => "Argo CD's client-side diff shows it, server-side diff and Flux don't",
    };
    out.push_str(&format!(
        "  {path}:{}:{} {pointer}\n    git has      {}\n    cluster has  {}\n    why: {}; {seen}\n",
        at.line,
        at.column,
        value(Some(&drift.git)),
        value(drift.live.as_ref()),
        drift.reason.words(),
    ));
}

/// What to commit of a cluster.
fn remedy(cluster: &ClusterDrift, out: &mut String) {
    let gone = cluster.fields.iter().filter(|d| d.live.is_none());
    let gone: Vec<String> = gone.map(Drift::pointer).collect();
    if !gone.is_empty() {
        let gone = gone.join(", ");
        out.push_str(&format!("  remove from git: {}\n", InputText::new(&gone).line()));
    }
    let shown_fields = cluster
        .fields
        .iter()
        .map(|drift| Drift { live: drift.live.as_ref().map(|live| shown(drift, live)), ..drift.clone() });
    let values = to_commit(&shown_fields.collect::<Vec<_>>());
    if values.as_object().is_some_and(|v| !v.is_empty()) {
        out.push_str("  commit:\n");
        let text = emit(&values);
        for line in InputText::new(&text).lines().lines() {
            out.push_str(&format!("    {line}\n"));
        }
    }
}

/// What to ignore instead.
fn to_ignore(all: &[&Drift]) -> String {
    let pointers = |server_side: bool| {
        let chosen = all.iter().filter(|d| d.server_side || !server_side);
        let pointers: std::collections::BTreeSet<String> = chosen.map(|d| d.pointer()).collect();
        pointers
    };
    let list = |pointers: &std::collections::BTreeSet<String>, indent: &str| {
        let lines = pointers.iter().map(|p| {
            let text = emit(&Value::from(p.as_str()));
            format!("{indent}- {}\n", InputText::new(text.trim_end()).line())
        });
        lines.collect::<String>()
    };
    let (client, server) = (pointers(false), pointers(true));
    let mut out = String::new();
    if !client.is_empty() {
        out.push_str(
            "or, in the Application:\n  ignoreDifferences:\n    - group: hco.kubevirt.io\n      kind: \
             HyperConverged\n      jsonPointers:\n",
        );
        out.push_str(&list(&client, "        "));
    }
    if !server.is_empty() {
        out.push_str("or, in the Kustomization of Flux:\n  ignore:\n    - paths:\n");
        out.push_str(&list(&server, "        "));
        out.push_str("      target:\n        kind: HyperConverged\n");
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
