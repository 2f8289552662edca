//! A comparison as JSON.

use std::io::{self, Write};

use camino::Utf8Path;
use serde_json::{Value, json};

use super::outputs::{SUMMARY, level};
use super::{Changes, consequence, live_check, sentence, shown_values};
use hcoplan_analysis::review::{Entry, FindingLine, InputDifference, Review};
use hcoplan_analysis::shown_path;
use hcoplan_diagnostics::finding::Finding;
use hcoplan_diagnostics::secret;
use hcoplan_diagnostics::source::Location;
use hcoplan_explain::diff::semantic::{Consequence, NoiseKind, ObjectChange, Step, of_object};
use hcoplan_explain::diff::{Cause, ClusterDiff, VerdictChange};

pub(super) fn write(changes: &Changes<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut document = document(changes);
    secret::mask_object(&mut document);
    out.write_all(crate::visible_json::text(&document).as_bytes())
}

/// The document described by `schemas/diff.schema.json`.
pub fn document(changes: &Changes<'_>) -> Value {
    let clusters: Vec<Value> = changes.clusters.iter().map(|c| cluster(changes, c)).collect();
    let review = changes.review();
    let counts = review.counts;
    json!({
        "schemaVersion": "1",
        "before": changes.before,
        "after": changes.after,
        "review": reviewed(changes, &review),
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

/// The review: the verdict, the consequences, and the groups of clusters with the same change.
pub(super) fn reviewed(changes: &Changes<'_>, review: &Review<'_>) -> Value {
    let because = |because: &InputDifference<'_>| {
        let root = changes.root_of(because.gone);
        let places = because.places.iter().map(|p| place(root, Some(p)));
        json!({
            "input": because.what,
            "removed": because.gone,
            "locations": places.collect::<Vec<_>>(),
        })
    };
    let entry = |entry: &Entry<'_>| {
        let effect = &entry.effect;
        json!({
            "impact": effect.impact.as_str(),
            "certain": effect.certain,
            "message": entry.sentence(usize::MAX - 1),
            "subjects": effect.subjects,
            "machines": effect.machines,
            "when": effect.when.as_str(),
            "releases": entry.releases,
            "action": effect.action,
            "clusters": entry.clusters,
            "causes": entry.because.iter().map(because).collect::<Vec<_>>(),
            "location": place(changes.root, effect.place.as_ref()),
        })
    };
    let lines = |lines: &[FindingLine<'_>]| {
        let one = |line: &FindingLine<'_>| {
            let mut document = finding(changes, line.finding);
            document["clusters"] = json!(line.clusters);
            document
        };
        lines.iter().map(one).collect::<Vec<_>>()
    };
    let groups = review.groups.iter().map(|group| {
        let names = group.clusters.iter().map(|c| &c.cluster).collect::<Vec<_>>();
        let objects: usize = group.lines.iter().map(|l| l.names.len()).sum();
        json!({"clusters": names, "objects": objects})
    });
    json!({
        "level": level(review.level),
        "verdict": review.word(),
        "message": review.verdict(),
        "summary": review.summary(SUMMARY),
        "entries": review.entries.iter().map(entry).collect::<Vec<_>>(),
        "groups": groups.collect::<Vec<_>>(),
        "findings": {"added": lines(&review.added), "removed": lines(&review.removed)},
    })
}

fn cluster(changes: &Changes<'_>, cluster: &ClusterDiff) -> Value {
    let comparison = &cluster.comparison;
    let objects: Vec<Value> = comparison.objects.iter().map(object).collect();
    let causes: Vec<Value> = comparison.causes.iter().map(|c| cause(changes, c)).collect();
    let notes = cluster.notes.iter().map(|note| {
        json!({
            "kind": note.kind.as_str(),
            "impact": note.impact.as_str(),
            "message": note.text,
            "help": note.help,
            "location": place(changes.root, note.place.as_ref()),
        })
    });
    let consequences = comparison.consequences().into_iter().map(|(c, object, field)| {
        let change = comparison.objects.get(object);
        let step = field.and_then(|i| change?.fields.get(i)).map(|f| &f.step);
        json!({
            "impact": c.impact.as_str(),
            "message": change.map_or_else(String::new, |change| sentence(&c, change, step)),
            "object": object,
            "field": field,
        })
    });
    let mut out = json!({
        "cluster": cluster.cluster,
        "nameBefore": cluster.moved_from,
        "change": cluster.whole.map(hcoplan_explain::diff::Kind::as_str),
        "verdict": cluster.verdict.kind().as_str(),
        "reasons": cluster.verdict.reasons(),
        "unchanged": cluster.is_unchanged,
        "unknownBefore": cluster.unknown_before.as_ref().map(ToString::to_string),
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
    });
    if let Some((method, by)) = &cluster.update {
        out["update"] = json!({"method": method.as_str(), "by": by});
    }
    if let Some(check) = &cluster.live_check {
        out["liveCheck"] = live_check::document(check);
    }
    out
}

fn verdict(change: Option<&VerdictChange>) -> Value {
    // `null` for a side means that it accepts.
    change.map_or(Value::Null, |c| json!({"before": c.before, "after": c.after}))
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
                    NoiseKind::Order => "order",
                    NoiseKind::Writing => "notation",
                    NoiseKind::Server => "server",
                    NoiseKind::Release => "release",
                    NoiseKind::Assumed => "assumed",
                    NoiseKind::Architecture => "architecture",
                }),
                "causes": field.causes,
                "consequence": consequence_of(
                    consequence(change, index).filter(|_| step.noise.is_none()),
                    change,
                    Some(step),
                ),
            })
        })
        .collect();
    json!({
        "change": change.kind.as_str(),
        "apiVersion": change.id.api_version,
        "kind": change.id.kind,
        "namespace": change.id.namespace,
        "name": change.id.name,
        "replaces": change.instead_of.as_ref().map(|id| &id.name),
        "consequence": consequence_of(of_object(change), change, None),
        "causes": change.causes,
        "fields": fields,
        "object": match change.kind {
            hcoplan_explain::diff::Kind::Change => None,
            _ => change.after.as_deref().or(change.before.as_deref()).map(|o| secret::masked_value("", o)),
        },
    })
}

fn consequence_of(consequence: Option<Consequence>, change: &ObjectChange, step: Option<&Step>) -> Value {
    consequence.map_or(Value::Null, |c| json!({"impact": c.impact.as_str(), "message": sentence(&c, change, step)}))
}

fn cause(changes: &Changes<'_>, cause: &Cause) -> Value {
    json!({
        "input": cause.what,
        "removed": cause.is_removed,
        "location": place(changes.root_of(cause.is_removed), cause.location.as_ref()),
    })
}

fn place(root: &Utf8Path, place: Option<&Location>) -> Value {
    place.map_or(Value::Null, |place| {
        let (start, end) = (place.start(), place.end());
        json!({
            "file": shown_path(root, &place.file),
            "line": start.line,
            "column": start.column,
            "endLine": end.line,
            "endColumn": end.column,
        })
    })
}

fn findings(changes: &Changes<'_>, findings: &[Finding]) -> Vec<Value> {
    findings.iter().map(|f| finding(changes, f)).collect()
}

fn finding(changes: &Changes<'_>, finding: &Finding) -> Value {
    json!({
        "rule": finding.rule.name,
        "severity": finding.severity.as_str(),
        "message": finding.message,
        "help": finding.help,
        "location": place(changes.root, finding.location.as_ref()),
    })
}
