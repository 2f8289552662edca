//! Output of `hcoplan argocd`: a document for people, and JSON.

use crate::document::{Block, Document, Entry, Level, Text};
use crate::prelude::*;
use hcoplan_analysis::ClusterDrift;
use hcoplan_analysis::review::clusters as cluster_names;
use hcoplan_diagnostics::secret::masked_value_of;
use hcoplan_explain::diff::{Drift, DriftReason, to_commit};
use hcoplan_repository::repo::IgnoredField;
use hcoplan_yaml::emit;

/// A value with secrets masked.
fn shown(cluster: &ClusterDrift, drift: &Drift, value: &Value) -> Value {
    masked_value_of(&cluster.document.file, &drift.path.to_string(), value)
}

/// Builds the screen. Clusters with the same differences share a part.
pub fn screen(clusters: &[ClusterDrift], idle: &[&IgnoredField]) -> Document {
    let mut groups: Vec<Vec<&ClusterDrift>> = Vec::new();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for cluster in clusters {
        let fields =
            cluster.fields.iter().map(|d| (d.pointer(), &d.git, &d.live, d.server_side, d.reason.description()));
        let key = format!("{}{} {:?}", cluster.release, cluster.basis, fields.collect::<Vec<_>>());
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
            1 => "1 field differs on every sync".to_owned(),
            n => format!("{n} fields differ on every sync"),
        };
        let title = Text::from(cluster_names(&names))
            .soft(format!(" ({}{})", first.release, first.basis))
            .plain(format!(": {count}"));
        blocks.push(Block::Heading(2, title));
        blocks.extend(Block::story(first.fields.iter().map(|drift| one(first, drift)).collect()));
        blocks.extend(remedy(first));
    }
    let all: Vec<&Drift> = clusters.iter().flat_map(|c| &c.fields).collect();
    blocks.extend(to_ignore(&all));
    let idle = idle.iter().map(|ignored| {
        let place = &ignored.place;
        Text::new()
            .code(format!("{}:{}", place.file.path(), place.start()))
            .plain(format!(": {} ignores nothing", ignored.text))
    });
    let idle: Vec<Text> = idle.collect();
    if !idle.is_empty() {
        blocks.push(Block::Heading(2, "Entries without effect".into()));
        blocks.push(Block::List(idle));
    }
    Document { blocks, ..Document::default() }
}

/// The location of a field, in the file that wrote it.
fn place(cluster: &ClusterDrift, drift: &Drift) -> Location {
    let built = cluster.document.locate_key(&drift.path);
    built.origin().unwrap_or(built)
}

fn one(cluster: &ClusterDrift, drift: &Drift) -> Entry {
    let place = place(cluster, drift);
    let value = |value: Option<&Value>| match value {
        None => Text::from("nothing"),
        Some(value) => Text::new().code(shown(cluster, drift, value).to_string()),
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
    entry.place = Text::new().code(format!("{}:{}", place.file.path(), place.start()));
    entry.note("why", drift.reason.description());
    entry.note("seen by", seen);
    entry
}

/// The change to commit for a cluster.
fn remedy(cluster: &ClusterDrift) -> Vec<Block> {
    let mut out = Vec::new();
    let gone: Vec<String> = cluster.fields.iter().filter(|d| d.live.is_none()).map(Drift::pointer).collect();
    if !gone.is_empty() {
        out.push(Block::Paragraph(Text::new().strong("Remove from git: ").code(gone.join(", "))));
    }
    let shown_fields = cluster
        .fields
        .iter()
        .map(|drift| Drift { live: drift.live.as_ref().map(|live| shown(cluster, drift, live)), ..drift.clone() });
    let values = to_commit(&shown_fields.collect::<Vec<_>>());
    if values.as_object().is_some_and(|v| !v.is_empty()) {
        out.push(Block::Paragraph(Text::new().strong("Commit:")));
        out.push(Block::Code(emit(&values)));
    }
    out
}

/// Alternatively, the ignore rules for Argo CD and Flux.
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

/// The document described by `schemas/argocd.schema.json`.
pub fn document(clusters: &[ClusterDrift], idle: &[&IgnoredField]) -> String {
    let field = |cluster: &ClusterDrift, drift: &Drift| {
        let place = place(cluster, drift);
        let at = place.start();
        let mut out = json!({
            "pointer": drift.pointer(),
            "git": shown(cluster, drift, &drift.git),
            "reason": drift.reason,
            "serverSide": drift.server_side,
            "file": place.file.path().as_str(),
            "line": at.line,
            "column": at.column,
        });
        if let Some(live) = &drift.live {
            out["live"] = shown(cluster, drift, live);
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
        "unusedIgnores": idle.collect::<Vec<_>>(),
    });
    super::visible_json::text(&document)
}
