//! One document, for programs.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::{Changes, consequence, shown_values};
use crate::diff::semantic::{Consequence, Noise, ObjectChange, of_object};
use crate::diff::{Cause, ClusterDiff, VerdictChange};
use crate::finding::Finding;
use crate::secret;
use crate::source::Location;

pub(super) fn write(changes: &Changes<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{:#}", document(changes))
}

/// Differences as one document; its schema is `schemas/diff.schema.json`.
pub fn document(changes: &Changes<'_>) -> Value {
    let clusters: Vec<Value> = changes
        .clusters
        .iter()
        .map(|c| cluster(changes, c))
        .collect();
    let counts = changes.counts();
    json!({
        "schemaVersion": "1",
        "left": changes.left,
        "right": changes.right,
        "clusters": clusters,
        "summary": {
            "clusters": changes.compared,
            "differing": counts.differing,
            "add": counts.add,
            "change": counts.change,
            "remove": counts.remove,
            "noise": counts.noise,
            "findingsAdded": counts.findings_added,
            "findingsRemoved": counts.findings_removed,
        },
    })
}

/// What a step of an upgrade does, as one document: the same, with the release in `to`.
pub fn step_document(changes: &Changes<'_>, to: &str) -> Value {
    let mut document = document(changes);
    document["to"] = to.into();
    document
}

fn cluster(changes: &Changes<'_>, cluster: &ClusterDiff) -> Value {
    let comparison = &cluster.comparison;
    let objects: Vec<Value> = comparison.objects.iter().map(object).collect();
    let causes: Vec<Value> = comparison
        .causes
        .iter()
        .map(|c| cause(changes, c))
        .collect();
    let notes = cluster.notes.iter().map(|note| {
        json!({
            "kind": note.kind.as_str(),
            "impact": note.impact.as_str(),
            "message": note.text,
            "help": note.help,
            "place": place(changes, note.place.as_ref()),
        })
    });
    let consequences = comparison
        .consequences()
        .into_iter()
        .map(|(c, object, field)| {
            json!({
                "impact": c.impact.as_str(),
                "message": c.text,
                "object": object,
                "field": field,
            })
        });
    json!({
        "cluster": cluster.cluster,
        "movedFrom": cluster.moved_from,
        "whole": cluster.whole.map(crate::diff::Kind::as_str),
        "broken": cluster.broken.as_ref().map(|b| json!({
            "side": if b.left { "left" } else { "right" },
            "message": b.why,
        })),
        "admission": verdict(comparison.verdict.as_ref()),
        "reconcile": verdict(comparison.reconcile.as_ref()),
        "ssp": verdict(comparison.ssp.as_ref()),
        "alerts": {"added": comparison.alerts_added, "removed": comparison.alerts_removed},
        "causes": causes,
        "consequences": consequences.collect::<Vec<_>>(),
        "objects": objects,
        "notes": notes.collect::<Vec<_>>(),
        "findings": {
            "added": findings(changes, &cluster.findings_added),
            "removed": findings(changes, &cluster.findings_removed),
        },
    })
}

fn verdict(change: Option<&VerdictChange>) -> Value {
    // `null` on a side: accepted there.
    change.map_or(
        Value::Null,
        |c| json!({"before": c.before, "after": c.after}),
    )
}

fn object(change: &ObjectChange) -> Value {
    let fields: Vec<Value> = change
        .fields
        .iter()
        .enumerate()
        .map(|(index, field)| {
            let step = &field.step;
            let (before, after) = shown_values(step);
            json!({
                "path": step.label,
                "pointer": step.path.to_pointer(),
                "before": before,
                "after": after,
                "noise": step.noise.map(|n| match n {
                    Noise::Order => "order",
                    Noise::Writing => "writing",
                    Noise::Server => "server",
                    Noise::Release => "release",
                    Noise::Assumed => "assumed",
                }),
                "causes": field.causes,
                "consequence": told(consequence(change, index).filter(|_| step.noise.is_none())),
            })
        })
        .collect();
    json!({
        "change": change.kind.as_str(),
        "apiVersion": change.id.api_version,
        "kind": change.id.kind,
        "namespace": change.id.namespace,
        "name": change.id.name,
        "insteadOf": change.instead_of.as_ref().map(|id| &id.name),
        "consequence": told(of_object(change)),
        "causes": change.causes,
        "fields": fields,
        "object": match change.kind {
            crate::diff::Kind::Change => None,
            _ => change.after.as_deref().or(change.before.as_deref()).map(|o| secret::shown_value("", o)),
        },
    })
}

fn told(consequence: Option<Consequence>) -> Value {
    consequence.map_or(
        Value::Null,
        |c| json!({"impact": c.impact.as_str(), "message": c.text}),
    )
}

fn cause(changes: &Changes<'_>, cause: &Cause) -> Value {
    json!({
        "what": cause.what,
        "gone": cause.gone,
        "place": place(changes, cause.place.as_ref()),
    })
}

fn place(changes: &Changes<'_>, place: Option<&Location>) -> Value {
    place.map_or(Value::Null, |place| {
        let (start, end) = (place.start(), place.end());
        json!({
            "file": changes.path(place),
            "line": start.line,
            "column": start.column,
            "endLine": end.line,
            "endColumn": end.column,
        })
    })
}

fn findings(changes: &Changes<'_>, findings: &[Finding]) -> Vec<Value> {
    let one = |finding: &Finding| {
        json!({
            "rule": finding.rule.name,
            "severity": finding.severity.as_str(),
            "message": finding.message,
            "help": finding.help,
            "place": place(changes, finding.location.as_ref()),
        })
    };
    findings.iter().map(one).collect()
}
