//! Compares HyperConvergeds that are written in different API versions.

use super::semantic::{Difference, Lists, differences, innermost, mix};
use crate::diff::side::Side;
use crate::prelude::*;
use hcoplan_kubernetes::tree::{get, remove};
use hcoplan_planner::hyperconverged::{Gates, MOVES, convert, path_in};
use hcoplan_planner::plan::plan;
use std::borrow::Cow;
use std::cell::LazyCell;

/// The old HyperConverged in the API version of the new one if both render the same objects, apart from fields that the
/// conversion loses; else as written.
pub(super) fn old_in_new_version<'a>(before: &Side<'a>, after: &Side<'_>) -> Cow<'a, Value> {
    let written = Cow::Borrowed(before.object);
    let (was, is) = (version_of(before.object), version_of(after.object));
    let served = &before.release.tables().hyperconverged.served_versions;
    let is_served = |version: &str| served.iter().any(|served| served == version);
    if was == is || !is_served(was) || !is_served(is) {
        return written;
    }
    let converted = as_written(before.release, before.object, after.object);
    let lost = lost(before, &converted);
    let of = |object: &Value| plan(before.release, &before.inventory.inventory, object);
    let with_lost = with_lost(before, &converted, &lost.iter().map(|field| &*field.label).collect());
    let same = of(before.object).objects().eq(of(&with_lost).objects());
    if same { Cow::Owned(converted) } else { written }
}

/// The fields of the old HyperConverged that do something, and that the conversion to another version, `converted`, loses.
pub(super) fn lost(before: &Side<'_>, converted: &Value) -> Vec<Difference> {
    if version_of(converted) == version_of(before.object) {
        return Vec::new();
    }
    let back = convert(before.release, converted, version_of(before.object));
    let mut lost = differences(&back, before.object, &Lists::default());
    let objects = |kept: &[&str]| {
        let object = with_lost(before, converted, &kept.iter().copied().collect());
        plan(before.release, &before.inventory.inventory, &object).objects().cloned().collect::<Vec<_>>()
    };
    let without = LazyCell::new(|| objects(&[]));
    lost.retain(|field| !field.in_before && objects(&[&field.label]) != *without);
    lost
}

/// A HyperConverged in the old one's version, with fields that the conversion loses, by label.
pub(super) fn with_lost(before: &Side<'_>, object: &Value, lost: &BTreeSet<&str>) -> Value {
    let back = convert(before.release, object, version_of(before.object));
    mix(&back, before.object, &Lists::default(), &mut |field| lost.contains(&*field.label))
}

/// A HyperConverged in the API version of another one, without what only the conversion adds: gates with their
/// defaults, and fields that appear a second time below a moved parent.
fn as_written(release: &Release, object: &Value, like: &Value) -> Value {
    let to = version_of(like);
    let mut out = convert(release, object, to);
    let Some(spec) = out.get_mut("spec") else {
        return out;
    };
    let moves = || MOVES.iter().map(|(beta, v1)| if to == "v1" { (v1, beta) } else { (beta, v1) });
    for (own, other) in moves() {
        let parents = moves().filter_map(|(to, from)| {
            let rest = other.strip_prefix(from)?.strip_prefix('.')?;
            Some((to, format!("{to}.{rest}")))
        });
        for (parent, child) in parents.filter(|(_, child)| child != own) {
            remove(spec, &child);
            let empty = get(spec, parent).and_then(Value::as_object);
            if empty.is_some_and(serde_json::Map::is_empty) {
                remove(spec, parent);
            }
        }
    }
    // A gate without a state is enabled.
    let short: Vec<&Value> = elements(like.pointer("/spec/featureGates")).filter(|g| g["state"].is_null()).collect();
    if let Some(Value::Array(gates)) = spec.get_mut("featureGates") {
        for gate in gates.iter_mut().filter(|gate| gate["state"] == "Enabled") {
            if let Some(same) = short.iter().find(|short| short["name"] == gate["name"]) {
                *gate = (*same).clone();
            }
        }
    }
    if let Some(Value::Object(gates)) = spec.get_mut("featureGates") {
        let written = Gates::read(release, object.pointer("/spec/featureGates"));
        let known = &release.tables().feature_gates;
        gates.retain(|name, on| {
            let gate = known.iter().find(|gate| gate.name == *name);
            let default = gate.is_some_and(|gate| matches!(gate.phase, Phase::Beta | Phase::Ga));
            written.explicit(name).is_some() || *on != default
        });
        if gates.is_empty() {
            remove(spec, "featureGates");
        }
    }
    out
}

/// The label, path and value that a removed field has in the old document; `old` is that HyperConverged in the API
/// version of the new one.
pub(super) fn written_as<'o>(
    removed: &Difference,
    old: &'o Value,
    before: &Side<'_>,
    after: &Side<'_>,
) -> (String, Path, Option<&'o Value>) {
    const GATES: &str = "spec.featureGates";
    let to = version_of(before.object);
    let whole = removed.before.get(old);
    let unchanged = (removed.label.clone(), removed.before.clone(), whole);
    if let Some(value) = whole.filter(|_| to == version_of(after.object)) {
        let (label, path, value) = innermost(&removed.label, &removed.before, value);
        return (label, path, Some(value));
    }
    let label = &removed.label;
    if let Some(gate) = label.strip_prefix(GATES) {
        let name = gate.trim_start_matches(['[', '.']);
        let name = name.split([']', '.']).next().unwrap_or_default();
        // An entry without a key is labelled by its content.
        let entry = removed.before.get(old).and_then(|entry| entry.get("name"));
        let name = entry.and_then(Value::as_str).unwrap_or(name);
        let gates = Path::dotted(GATES);
        let index = elements(before.object.pointer("/spec/featureGates")).position(|gate| gate["name"] == name);
        return match (name, index) {
            ("", _) => unchanged,
            (name, Some(index)) => (format!("{GATES}[{name}]"), gates.index(index), whole),
            (name, None) => (format!("{GATES}.{name}"), gates.key(name), whole),
        };
    }
    let Some(below) = label.strip_prefix("spec.") else {
        return unchanged;
    };
    let (mut below, mut value) = (below.to_owned(), whole);
    loop {
        let label = format!("spec.{}", path_in(to, &below));
        // The label names a list's entry by a key, not by its index.
        let path = match label.split_once('[') {
            Some((list, _)) => Path::dotted(list),
            None => Path::dotted(&label),
        };
        // An object of one version may be several fields of the other: take the first.
        let first = value.and_then(Value::as_object).and_then(|o| o.iter().next());
        match first {
            Some((key, inner)) if path.get(before.object).is_none() => {
                below = format!("{below}.{key}");
                value = Some(inner);
            }
            _ => return (label, path, value),
        }
    }
}

#[cfg(test)]
mod tests {
    use hcoplan_yaml as yaml;

    use super::super::{Comparison, compare_plans};
    use super::*;
    use crate::diff::declared;
    use hcoplan_diagnostics::source::SourceFile;

    const META: &str = "kind: HyperConverged\nmetadata: {name: kubevirt-hyperconverged, namespace: \
                        kubevirt-hyperconverged}\n";
    const OLD: &str = "apiVersion: hco.kubevirt.io/v1beta1\nspec:\n  defaultRuntimeClass: x\n  \
                       evictionStrategy: None\n  featureGates: {alignCPUs: true, objectGraph: true}\n  \
                       liveMigrationConfig: {parallelMigrationsPerCluster: 7}\n";
    const NEW: &str = "apiVersion: hco.kubevirt.io/v1\nspec:\n  featureGates:\n  - {name: objectGraph}\n  - {name: \
                       alignCPUs, state: Enabled}\n  virtualization:\n    evictionStrategy: None\n    \
                       liveMigrationConfig: {parallelMigrationsPerCluster: 7}\n    virtualMachineOptions: \
                       {defaultRuntimeClass: x}\n";

    /// The causes of what differs, each with `-` where it is removed, and its line.
    fn causes(before: &str, after: &str) -> Vec<String> {
        let found = compared(before, after).causes.into_iter();
        let lines = found.map(|cause| {
            let line = cause.location.map_or(0, |p| p.start().line);
            format!("{}{} {line}", if cause.is_removed { "-" } else { "" }, cause.what)
        });
        lines.collect()
    }

    fn compared(before: &str, after: &str) -> Comparison {
        let nodes = "nodes: [{name: a, architecture: amd64, roles: [worker, control-plane]}]";
        let inventory = declared(nodes);
        let release = Release::known("1.18").expect("known");
        let documents = [before, after].map(|text| {
            let text = format!("{text}{META}");
            yaml::parse(&SourceFile::new("hyperconverged.yaml", &text)).documents.remove(0)
        });
        let objects = [0, 1].map(|i| documents[i].root.to_json());
        let plans = [0, 1].map(|i| plan(&release, &inventory.inventory, &objects[i]));
        let side = |i: usize| Side {
            stated: None,
            release: &release,
            inventory: &inventory,
            document: Some(&documents[i]),
            object: &objects[i],
            plan: &plans[i],
        };
        assert!(plans.iter().all(|p| p.admission.accepted));
        let (before, after) = (side(0), side(1));
        compare_plans(&before, &after)
    }

    #[test]
    fn another_version_of_the_same_object_is_no_cause() {
        assert_eq!(causes(OLD, NEW), Vec::<String>::new());
        assert_eq!(causes(NEW, OLD), Vec::<String>::new());
    }

    #[test]
    fn finds_the_cause_in_both_directions() {
        let path = "spec.virtualization.liveMigrationConfig.parallelMigrationsPerCluster";
        assert_eq!(causes(OLD, &NEW.replace('7', "9")), [format!("{path} 8")]);
        let path = "spec.liveMigrationConfig.parallelMigrationsPerCluster";
        assert_eq!(causes(&NEW.replace('7', "9"), OLD), [format!("{path} 6")]);
    }

    #[test]
    fn names_removed_values_as_written() {
        let without = NEW.replace("    virtualMachineOptions: {defaultRuntimeClass: x}\n", "");
        assert_eq!(causes(OLD, &without), ["-spec.defaultRuntimeClass 3"]);
        let without = OLD.replace("  defaultRuntimeClass: x\n", "");
        let path = "-spec.virtualization.virtualMachineOptions.defaultRuntimeClass";
        assert_eq!(causes(NEW, &without), [format!("{path} 9")]);
        let without = NEW.replace("  - {name: alignCPUs, state: Enabled}\n", "");
        assert_eq!(causes(OLD, &without), ["-spec.featureGates.alignCPUs 5"]);
        let without = OLD.replace("alignCPUs: true, ", "");
        assert_eq!(causes(NEW, &without), ["-spec.featureGates[alignCPUs] 5"]);
    }

    /// `old` without the type that names it is rejected, which isn't what the change does.
    #[test]
    fn half_of_a_profile_is_no_cause_of_a_rejection() {
        let old = "apiVersion: hco.kubevirt.io/v1beta1\nspec: {}\n";
        let new = "apiVersion: hco.kubevirt.io/v1beta1\nspec:\n  tlsSecurityProfile:\n    type: Old\n    old: {}\n";
        let found = compared(old, new);
        let profile = found.objects.iter().filter(|change| change.id.kind == "CDI");
        let causes: Vec<&Vec<usize>> = profile.map(|change| &change.causes).collect();
        let named = causes.iter().flat_map(|all| all.iter()).map(|i| &*found.causes[*i].what);
        assert_eq!(named.collect::<Vec<_>>(), ["spec.tlsSecurityProfile"]);
        let removed = found.objects.iter().filter(|change| change.after.is_none());
        assert_eq!(removed.count(), 0);
    }
}
