//! What would put something where nothing is.

use hcoplan_kubernetes::tree::{get, set};
use hcoplan_planner::hyperconverged::version_of;
use hcoplan_planner::release::{HyperConvergedField, Phase};
use hcoplan_yaml::{Path, Segment};
use serde_json::{Value, json};

use super::feed::Feed;
use super::node_counts::{self, node_count_variants};
use super::plan_input::PlanInput;
use super::target::{FoundValue, Target};

/// The architectures that golden images are made for.
const ARCHITECTURES: [&str; 3] = ["amd64", "arm64", "s390x"];

/// What would change what is there: the fields of the HyperConverged that the release's table names
/// for the place, the switches and gates that do when they are tried, one more node.
pub(super) fn feeds(plan_input: &PlanInput<'_>, target: &Target, base: &FoundValue) -> Vec<Feed> {
    let version = version_of(plan_input.object);
    let fields = plan_input.release.fields().iter();
    let fields: Vec<&HyperConvergedField> = fields
        .filter(|f| f.api_version == version && !f.ignored && !f.path.contains("[]"))
        .filter(|f| f.path.starts_with("spec."))
        .collect();
    let missing = matches!(base, FoundValue::Absent | FoundValue::NoObject);
    let mut out = Vec::new();
    for field in &fields {
        let how = field.operands.iter().find(|o| feeds_it(&o.kind, &o.path, target));
        let tried = match field.ty.as_str() {
            "boolean" if missing => tried(plan_input, target, base, &field.path),
            _ => None,
        };
        // A switch that does nothing when it is tried is no answer, whatever the table says; nor is a field
        // that feeds an object which isn't there.
        let nowhere = *base == FoundValue::NoObject && !target.is_object();
        let told = how.filter(|_| (field.ty != "boolean" || !missing) && !nowhere);
        if told.is_some() || tried.is_some() {
            out.push(Feed {
                path: field.path.clone(),
                how: how.map_or_else(String::new, |how| how.in_words().to_owned()),
                tried,
            });
        }
    }
    if version != "v1beta1" && missing {
        out.extend(gates(plan_input, target, base));
    }
    if missing {
        out.extend(by_nodes(plan_input, target, base));
    }
    // A whole section is no answer where one of its fields is.
    let paths: Vec<String> = out.iter().map(|f| f.path.clone()).collect();
    out.retain(|f| !paths.iter().any(|p| p.starts_with(&format!("{}.", f.path))));
    out
}

/// Whether a row of the table speaks of the target: of the place itself or something around it.
pub(super) fn feeds_it(kind: &str, path: &str, target: &Target) -> bool {
    let (kind, name) = match kind.split_once('/') {
        Some((kind, name)) => (kind, Some(name)),
        None => (kind, None),
    };
    if kind != target.kind {
        return false;
    }
    if name.is_some_and(|n| n != "*" && target.name.as_deref().is_some_and(|t| t != n)) {
        return false;
    }
    if target.is_object() {
        return path.is_empty();
    }
    let asked = generic(&target.path);
    asked == path || below(&asked, path) || below(path, &asked)
}

fn below(path: &str, parent: &str) -> bool {
    let rest = path.strip_prefix(parent);
    rest.is_some_and(|r| r.starts_with(['.', '[']))
}

/// A path as the table writes it: `spec.list[].name`.
fn generic(path: &Path) -> String {
    let mut out = String::new();
    for segment in &path.0 {
        match segment {
            Segment::Key(key) if key.contains('/') => out.push_str(&format!("[{key}]")),
            Segment::Key(key) if out.is_empty() => out.push_str(key),
            Segment::Key(key) => out.push_str(&format!(".{key}")),
            Segment::Index(_) => out.push_str("[]"),
        }
    }
    out
}

/// What comes of switching a field to what it is not.
fn tried(plan_input: &PlanInput<'_>, target: &Target, base: &FoundValue, path: &str) -> Option<(Value, FoundValue)> {
    for on in [true, false] {
        if get(plan_input.object, path) == Some(&on.into()) {
            continue;
        }
        let mut object = plan_input.object.clone();
        set(&mut object, path, on.into());
        let reading = target.read(&plan_input.with_object(&object));
        if reading != *base {
            return Some((on.into(), reading));
        }
    }
    None
}

/// Other numbers of nodes that would change it: of each architecture the fewest, of the roles that show it
/// first.
fn by_nodes(plan_input: &PlanInput<'_>, target: &Target, base: &FoundValue) -> Vec<Feed> {
    let counts = node_count_variants(plan_input.inventory(), &ARCHITECTURES);
    let mut out: Vec<Feed> = Vec::new();
    for count in &counts {
        let is_known = out.iter().any(|f| f.tried.as_ref().is_some_and(|(v, _)| v == count.architecture()));
        if !is_known {
            out.extend(node_counts::with_node_count(plan_input, target, base, count));
        }
    }
    out
}

/// The gates of a list that would change what is there.
fn gates(plan_input: &PlanInput<'_>, target: &Target, base: &FoundValue) -> Vec<Feed> {
    let gates = plan_input.release.tables().feature_gates.iter();
    let alive = gates.filter(|g| matches!(g.phase, Phase::Alpha | Phase::Beta));
    let feed = |name: &str| {
        for state in ["Enabled", "Disabled"] {
            let gate = json!({"name": name, "state": state});
            let mut object = plan_input.object.clone();
            let list = get(&object, "spec.featureGates").and_then(Value::as_array);
            let mut list = list.cloned().unwrap_or_default();
            list.retain(|g| g["name"] != *name);
            list.push(gate.clone());
            set(&mut object, "spec.featureGates", list.into());
            let reading = target.read(&plan_input.with_object(&object));
            if reading != *base {
                return Some(Feed {
                    path: format!("spec.featureGates[{name}]"),
                    how: String::new(),
                    tried: Some((gate, reading)),
                });
            }
        }
        None
    };
    alive.filter_map(|g| feed(&g.name)).collect()
}
