//! A comparison as JSON: each story once, with references to its clusters and findings.

use super::upgrade::UpgradeView;
use super::{live_check, shown_pair};
use crate::changes::Changes;
use crate::json::placed;
use crate::prelude::*;
use crate::words::word;
use hcoplan_analysis::review::{Checklist, Entry, FieldLine, FindingLine, InputDifference, ObjectLine, Story};
use hcoplan_analysis::shown_path;

/// Raised when a key is removed or changes its meaning.
const SCHEMA_VERSION: &str = "2";

pub(super) fn write(changes: &Changes<'_>, steps: Option<&Steps>, out: &mut dyn Write) -> io::Result<()> {
    let mut document = document(changes, steps);
    secret::mask_object(&mut document);
    out.write_all(crate::visible_json::text(&document).as_bytes())
}

/// The document described by `schemas/diff.schema.json`.
pub fn document(changes: &Changes<'_>, steps: Option<&Steps>) -> Value {
    let review = changes.review();
    let counts = review.counts;
    let mut findings = Findings { changes, entries: Vec::new() };
    changes.findings.iter().for_each(|finding| {
        findings.add(finding, &finding.clusters().collect::<Vec<_>>());
    });
    let stories: Vec<Value> = review.stories.iter().map(|story| one_story(changes, story, &mut findings)).collect();
    let clusters: Vec<Value> = changes.clusters.iter().map(|c| cluster(&review, c)).collect();
    let upgrade = steps.map(|steps| upgrade(changes, steps, &mut findings));
    let mut out = json!({
        "schemaVersion": SCHEMA_VERSION,
        "before": changes.before,
        "after": changes.after,
        "review": verdict(&review),
        "clusters": clusters,
        "stories": stories,
        "findings": findings.entries.into_iter().map(|(_, entry)| entry).collect::<Vec<_>>(),
        "summary": {
            "clusters": changes.compared,
            "differing": counts.differing,
            "add": counts.add,
            "change": counts.change,
            "remove": counts.remove,
            "noise": counts.noise,
            "findingsAdded": counts.findings_added.iter().sum::<usize>(),
            "findingsRemoved": counts.findings_removed,
        },
    });
    if let Some(upgrade) = upgrade {
        out["upgrade"] = upgrade;
    }
    out
}

fn verdict(review: &Review<'_>) -> Value {
    json!({"level": word("outputs", review.level.as_str()), "verdict": review.word(), "message": review.verdict()})
}

/// What a finding says: rule, severity, message, and whether it was there before.
type Said = (&'static str, &'static str, String, bool);

/// The findings by what they say; equal ones of several clusters and files are one entry with several places.
struct Findings<'a> {
    changes: &'a Changes<'a>,
    entries: Vec<(Said, Value)>,
}

impl Findings<'_> {
    /// The index of a finding's entry.
    fn add(&mut self, finding: &Finding, clusters: &[&str]) -> usize {
        let key = (finding.rule.name, finding.severity.as_str(), finding.message.clone(), finding.is_existing);
        let at = self.entries.iter().position(|(known, _)| *known == key).unwrap_or_else(|| {
            // Another finding of the rule may say what to do already.
            let is_said = |entry: &Value| finding.help.as_deref().is_some_and(|help| entry["help"] == *help);
            let help = finding.help.as_deref().filter(|_| !self.entries.iter().any(|(_, entry)| is_said(entry)));
            let entry = json!({
                "rule": finding.rule.name,
                "severity": finding.severity.as_str(),
                "message": finding.message,
                "help": help,
                "existing": finding.is_existing,
                "alert": finding.alert().map(|(name, _)| name),
                "places": [],
            });
            self.entries.push((key, entry));
            self.entries.len() - 1
        });
        let mut one = place(self.changes.root, finding.location.as_ref());
        if one.is_null() {
            one = json!({});
        }
        one["clusters"] = json!(clusters);
        if let Some(places) = self.entries[at].1["places"].as_array_mut()
            && !places.contains(&one)
        {
            places.push(one);
        }
        at
    }

    fn indexes(&mut self, lines: &[FindingLine<'_>]) -> Vec<usize> {
        lines.iter().map(|line| self.add(line.finding, &line.clusters)).collect()
    }
}

fn one_story(changes: &Changes<'_>, story: &Story<'_>, findings: &mut Findings<'_>) -> Value {
    let causes = story.causes.iter().map(|one| cause(changes, one));
    let mut effects = Vec::new();
    for entry in &story.effects {
        let rules: Vec<usize> = entry.rules.iter().map(|f| findings.add(f, &entry.clusters)).collect();
        effects.push(in_some(effect(changes, entry, &rules), &entry.clusters, story));
    }
    json!({
        "causes": causes.collect::<Vec<_>>(),
        "clusters": story.clusters,
        "change": story.whole.map(Kind::as_str),
        "level": word("outputs", story.worst().as_str()),
        "effects": effects,
        "findings": findings.indexes(&story.findings),
        "findingsRemoved": findings.indexes(&story.removed),
        "objects": story.objects.iter().map(|line| in_some(object(line), &line.clusters, story)).collect::<Vec<_>>(),
    })
}

/// A part of a story with its clusters, unless these are the story's.
fn in_some(mut part: Value, clusters: &[&str], story: &Story<'_>) -> Value {
    if clusters.len() < story.clusters.len() {
        part["clusters"] = json!(clusters);
    }
    part
}

fn effect(changes: &Changes<'_>, entry: &Entry<'_>, rules: &[usize]) -> Value {
    let effect = &entry.effect;
    json!({
        "impact": effect.impact,
        "level": word("outputs", entry.level().as_str()),
        "certain": effect.certain,
        "message": entry.sentence(usize::MAX - 1),
        "subjects": effect.subjects,
        "machines": effect.machines,
        "when": effect.when,
        "action": effect.action,
        "location": place(changes.root, effect.place.as_ref()),
        "findings": rules,
    })
}

fn cause(changes: &Changes<'_>, cause: &InputDifference<'_>) -> Value {
    let root = changes.root_of(cause.gone);
    let places = cause.places.iter().map(|p| place(root, Some(p)));
    let (before, after) = shown_pair(cause.what, cause.before, cause.after);
    json!({
        "input": cause.what,
        "removed": cause.gone,
        "before": before,
        "after": after,
        "locations": places.collect::<Vec<_>>(),
    })
}

fn object(object: &ObjectLine<'_>) -> Value {
    let field = |field: &FieldLine<'_>| {
        let (before, after) = shown_pair(field.path, field.before, field.after);
        json!({"path": field.label, "before": before, "after": after, "varies": field.varies})
    };
    json!({
        "change": object.kind.as_str(),
        "apiVersion": object.api_version,
        "kind": object.object_kind,
        "namespace": object.namespace,
        "names": object.names,
        "replaces": object.instead_of,
        "fields": object.fields.iter().map(field).collect::<Vec<_>>(),
    })
}

/// A cluster refers to its stories, which say what happens in it.
fn cluster(review: &Review<'_>, cluster: &ClusterDiff) -> Value {
    let stories = review.stories.iter().enumerate().filter(|(_, s)| s.clusters.contains(&&*cluster.cluster));
    let mut out = json!({
        "cluster": cluster.cluster,
        "nameBefore": cluster.moved_from,
        "change": cluster.whole.map(Kind::as_str),
        "verdict": cluster.verdict.kind().as_str(),
        "unchanged": cluster.is_unchanged,
        "knownBefore": cluster.unknown_before.is_none() && cluster.rejected_before.is_none(),
        "alerts": {"added": cluster.comparison.alerts_added, "removed": cluster.comparison.alerts_removed},
        "stories": stories.map(|(index, _)| index).collect::<Vec<_>>(),
    });
    if let Some((method, by)) = &cluster.update {
        out["update"] = json!({"method": method.as_str(), "by": by});
    }
    if let Some(check) = &cluster.live_check {
        out["liveCheck"] = live_check::document(check);
    }
    out
}

/// The checklist of an upgrade; each effect with the releases that bring it, and the clusters.
fn upgrade(changes: &Changes<'_>, steps: &Steps, findings: &mut Findings<'_>) -> Value {
    let review = steps.review();
    let list = Checklist::of(&review);
    let changes = UpgradeView(steps).changes(changes);
    let entries = |entries: &[&Entry<'_>]| -> Vec<Value> {
        let one = |entry: &&Entry<'_>| {
            let mut out = effect(&changes, entry, &[]);
            out["releases"] = json!(entry.releases);
            out["clusters"] = json!(entry.clusters);
            out
        };
        entries.iter().map(one).collect()
    };
    let values = list.values.iter().map(|row| {
        json!({
            "field": row.value.field,
            "before": row.value.before,
            "after": row.value.after,
            "keep": row.value.keep.as_ref().map(ToString::to_string),
            "releases": row.entry.releases,
            "clusters": row.entry.clusters,
        })
    });
    json!({
        "to": steps.steps.iter().map(|(name, _)| name).collect::<Vec<_>>(),
        "alreadyThere": steps.already_there,
        "review": verdict(&review),
        "before": entries(&list.before),
        "values": values.collect::<Vec<_>>(),
        "during": entries(&list.during),
        "after": entries(&list.after),
        "others": entries(&list.quiet),
        "findings": findings.indexes(&review.added),
    })
}

fn place(root: &Utf8Path, place: Option<&Location>) -> Value {
    place.map_or(Value::Null, |place| placed(json!({}), shown_path(root, &place.file), place))
}
