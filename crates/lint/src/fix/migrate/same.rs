//! Whether a release makes the same of a document in both versions.

use crate::prelude::*;
use hcoplan_planner::hyperconverged::{Gates, convert, in_storage_version, version_of};
use hcoplan_planner::inventory::Inventory;
use hcoplan_planner::plan::plan;
use hcoplan_planner::release::Phase;
use hcoplan_yaml::edit::difference;
use serde_json::{Value as Json, json};

use super::NotMigrated;

/// Compares the stored and rendered objects of two documents.
pub(super) fn check(release: &Release, inventory: &Inventory, before: &Json, after: &Json) -> Result<(), NotMigrated> {
    let (before, after) = [before, after].map(|o| plan(release, inventory, o)).into();
    if !before.admission.accepted {
        return Err(NotMigrated::Rejected(before.admission.message));
    }
    if !after.admission.accepted {
        return Err(NotMigrated::RejectedAfter(after.admission.message));
    }
    let (old, new) = (stored(release, &before), stored(release, &after));
    // What v1 has no place for is only lost where v1beta1 is what is kept.
    let lost = match version_of(&old) {
        "v1beta1" => missing(&old, &new, ""),
        _ => None,
    };
    let differs = || {
        let (old, new) = (spelled_out(release, &old), spelled_out(release, &new));
        difference(&old, &new, "")
    };
    if let Some(path) = lost.or_else(differs) {
        return Err(NotMigrated::StoresOther(path.trim_start_matches('.').to_owned()));
    }
    let objects = |plan: &Plan| {
        let all = plan.objects().map(|o| (o.id.to_string(), o.body.clone()));
        all.collect::<BTreeMap<_, _>>()
    };
    let (old, new) = (objects(&before), objects(&after));
    let mut names = old.keys().chain(new.keys());
    match names.find(|name| old.get(*name) != new.get(*name)) {
        Some(name) => Err(NotMigrated::RendersOther(name.clone())),
        None => Ok(()),
    }
}

/// What etcd would hold.
fn stored(release: &Release, plan: &Plan) -> Json {
    let stored = plan.admission.stored.as_ref();
    stored.map_or(Json::Null, |s| in_storage_version(release, s))
}

/// The same in v1 with the defaults of both versions: each fills in some that the other leaves out, and
/// the operator reads the same. A feature gate counts by what it is.
fn spelled_out(release: &Release, stored: &Json) -> Json {
    let mut out = stored.clone();
    for version in ["v1", "v1beta1", "v1"] {
        if version_of(&out) != version {
            out = convert(release, &out, version);
        }
        if let Some(schema) = release.hyperconverged_schema(version) {
            schema.fill_defaults(&mut out);
        }
    }
    let Some(spec) = out.get_mut("spec").and_then(Json::as_object_mut) else {
        return out;
    };
    let written = spec.remove("featureGates");
    let gates = Gates::read(release, written.as_ref());
    let known = release.tables().feature_gates.iter();
    let on = known.filter(|gate| match gate.phase {
        Phase::Beta => gates.is_enabled(&gate.name, true),
        Phase::Alpha | Phase::Deprecated => gates.is_enabled(&gate.name, false),
        Phase::Ga | Phase::Discontinued => false,
    });
    let on: Vec<&str> = on.map(|gate| gate.name.as_str()).collect();
    spec.insert("featureGates".to_owned(), json!(on));
    out
}

/// The first path of a tree that another one does not have, or not so; gates aside.
fn missing(of: &Json, other: &Json, path: &str) -> Option<String> {
    match (of, other) {
        (Json::Object(a), Json::Object(b)) => a.iter().find_map(|(key, value)| {
            let path = format!("{path}.{key}");
            match b.get(key) {
                _ if path == ".spec.featureGates" => None,
                Some(other) => missing(value, other, &path),
                None => Some(path),
            }
        }),
        (a, b) => (a != b).then(|| path.to_owned()),
    }
}
