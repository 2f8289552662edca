//! Fields that a GitOps controller reports as different on every sync: git's value differs from the cluster's after all
//! operators have reconciled.
//!
//! Argo CD's client-side diff merges the manifest into the live object, like a JSON merge patch, and compares. Fields
//! that the server adds aren't a difference, but a list is one value, and a field that the server drops or the operator
//! overwrites differs. Server-side diff (Argo CD with `ServerSideDiff=true`, and Flux) asks the API server for the
//! result of applying again.

use crate::prelude::*;
use hcoplan_kubernetes::tree::without_nulls;
use hcoplan_planner::boot::sentence;
use hcoplan_planner::hyperconverged::in_version;
use serde::Serialize;
use serde_json::Map;

/// A field that differs on every sync.
#[derive(Debug, Clone, PartialEq)]
pub struct Drift {
    /// Its path.
    pub path: Path,
    /// Git's value; `null` if git has `null`.
    pub git: Value,
    /// The cluster's value; `None` if it has none.
    pub live: Option<Value>,
    /// The reason.
    pub reason: DriftReason,
    /// The sibling field that has its value in the cluster, if it was renamed.
    pub renamed: Option<String>,
    /// Whether a server-side diff also shows it.
    pub server_side: bool,
}

/// Why git and the cluster differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DriftReason {
    /// The API server drops a field that the CRD doesn't have.
    Dropped,
    /// `null` isn't a value: the server fills in its default.
    Null,
    /// The API server fills in defaults inside a list, which is compared as one value.
    DefaultsInList,
    /// The webhook or the operator writes another value.
    Written,
    /// The value is lost in the conversion to the stored version.
    Converted,
}

static REASONS: Table<Value> = Table::of(include_str!("drift_reasons.json"));

impl DriftReason {
    /// A sentence for output.
    pub fn description(self) -> String {
        sentence(&REASONS, &self)
    }
}

impl Drift {
    /// The path as a JSON pointer.
    pub fn pointer(&self) -> String {
        self.path.to_pointer()
    }
}

/// Maximum number of syncs until nothing changes. The operator writes the whole object once, when it first sees it, and
/// the next sync overwrites that.
const MAX_SYNCS: usize = 4;

/// The fields of a manifest that differ from the cluster's after every apply; `None` if it is rejected. `state` is the
/// cluster before applying.
pub fn drift(state: &State, manifest: &Value) -> Option<Vec<Drift>> {
    let apply = |state: &State| state.update(manifest);
    let mut step = apply(state);
    for _ in 0..MAX_SYNCS {
        if !step.plan.admission.accepted {
            return None;
        }
        let next = apply(&step.after);
        if next.after.stored == step.after.stored {
            break;
        }
        step = next;
    }
    let release = &step.after.release;
    let version = version_of(manifest);
    let printed = |state: &State| {
        let stored = state.stored.as_ref()?;
        // Go prints null for unset fields; the API server drops them.
        Some(without_nulls(in_version(release, stored, version)))
    };
    let live = printed(&step.after)?;
    let next = printed(&apply(&step.after).after)?;
    let mut out = Vec::new();
    for part in ["metadata", "spec"] {
        if let Some(git) = manifest.get(part) {
            compare(git, live.get(part), &Path::root().key(part), &mut out);
        }
    }
    out.retain(|drift| !is_servers_own(&drift.path));
    let admitted = step.plan.admission.stored.as_ref();
    let is_converted = version != release.tables().hyperconverged.storage_version;
    for drift in &mut out {
        let pointer = drift.pointer();
        drift.server_side = next.pointer(&pointer) != live.pointer(&pointer);
        let admitted = admitted.and_then(|a| a.pointer(&pointer));
        drift.reason = reason(drift, admitted, is_converted);
        drift.renamed = renamed(drift, manifest, &live);
    }
    Some(out)
}

/// Finds differences between the live object and the manifest merged into it.
fn compare(git: &Value, live: Option<&Value>, path: &Path, out: &mut Vec<Drift>) {
    match (git, live) {
        (Value::Object(git), Some(Value::Object(live))) => {
            for (key, value) in git {
                compare(value, live.get(key), &path.key(key), out);
            }
        }
        // It would remove an absent field.
        (Value::Null, None | Some(Value::Null)) => {}
        (git, live) if Some(git) != live => out.push(Drift {
            path: path.clone(),
            git: git.clone(),
            live: live.cloned(),
            renamed: None,
            reason: DriftReason::Written,
            server_side: false,
        }),
        _ => {}
    }
}

/// The cluster's sibling field with the same list or map as a missing one.
fn renamed(drift: &Drift, manifest: &Value, live: &Value) -> Option<String> {
    let is_comparable = drift.live.is_none() && (drift.git.is_array() || drift.git.is_object());
    let parent = drift.path.parent();
    let (git, live) = (parent.get(manifest)?.as_object()?, parent.get(live)?.as_object()?);
    let mut others = live.iter().filter(|(name, _)| is_comparable && !git.contains_key(*name));
    let (name, _) = others.find(|(_, value)| **value == drift.git)?;
    Some(name.clone())
}

/// Whether a field is metadata that no controller compares.
fn is_servers_own(path: &Path) -> bool {
    match path.0.as_slice() {
        [Segment::Key(metadata), Segment::Key(key), ..] => {
            metadata == "metadata" && NAMES["metadataOfLiveObjects"].contains(&key.as_str())
        }
        _ => false,
    }
}

/// Why a field differs. `admitted` is the admitted value, in the manifest's version.
fn reason(drift: &Drift, admitted: Option<&Value>, is_converted: bool) -> DriftReason {
    let git = &drift.git;
    match admitted {
        _ if git.is_null() => DriftReason::Null,
        None => DriftReason::Dropped,
        Some(admitted) if admitted == git && is_converted => DriftReason::Converted,
        Some(admitted) if admitted != git && git.is_array() && is_within(git, admitted) => DriftReason::DefaultsInList,
        Some(admitted) if admitted != git && git.is_array() && is_within(admitted, git) => DriftReason::Dropped,
        _ => DriftReason::Written,
    }
}

/// Whether `more` contains everything of `less`.
fn is_within(less: &Value, more: &Value) -> bool {
    match (less, more) {
        (Value::Object(less), Value::Object(more)) => {
            less.iter().all(|(key, value)| more.get(key).is_some_and(|m| is_within(value, m)))
        }
        (Value::Array(less), Value::Array(more)) => {
            less.len() == more.len() && less.iter().zip(more).all(|(l, m)| is_within(l, m))
        }
        _ => less == more,
    }
}

/// The values of all differences as one object to commit, without fields to remove.
pub fn to_commit(all: &[Drift]) -> Value {
    let mut out = Value::Object(Map::new());
    for drift in all {
        let (path, value) = match (&drift.live, &drift.renamed) {
            (Some(live), _) => (drift.path.clone(), live),
            (None, Some(name)) => (drift.path.parent().key(name), &drift.git),
            (None, None) => continue,
        };
        // Every section is a map.
        let _ = Change::Set(path, value.clone()).apply(&mut out);
    }
    out
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use hcoplan_diagnostics::source::SourceFile;
    use hcoplan_planner::inventory::Inventory;
    use hcoplan_planner::release::Release;
    use serde_json::json;

    use super::DriftReason::{Converted, Dropped, Null};
    use super::*;

    fn state(release: &str) -> State {
        let release = Release::known(release).expect("modelled");
        State::new(release, Arc::new(Inventory::default()))
    }

    fn reasons(release: &str, spec: &Value) -> Vec<(String, DriftReason)> {
        let manifest = json!({
            "apiVersion": "hco.kubevirt.io/v1beta1",
            "kind": "HyperConverged",
            "metadata": {
                "name": "kubevirt-hyperconverged",
                "namespace": "kubevirt-hyperconverged",
                "creationTimestamp": null,
            },
            "spec": spec,
        });
        let all = drift(&state(release), &manifest).expect("accepted");
        all.iter().map(|d| (d.pointer(), d.reason)).collect()
    }

    #[test]
    fn each_reason_is_named() {
        let spec = json!({
            "evictionStrategi": "None",
            "evictionStrategy": null,
            "certConfig": {"ca": {"duration": "48h", "renewBefore": "24h"}},
        });
        let own = |path: &str, reason| (format!("/spec/{path}"), reason);
        // 1.18 stores v1beta1; the webhook that converts to 1.19's v1 reformats durations.
        let both = [own("evictionStrategi", Dropped), own("evictionStrategy", Null)];
        assert_eq!(reasons("1.18", &spec), both);
        let mut converted = vec![own("certConfig/ca/duration", Converted), own("certConfig/ca/renewBefore", Converted)];
        converted.extend(both);
        assert_eq!(reasons("1.19", &spec), converted);
    }

    /// Sets the cluster's value in a manifest.
    fn commit(drift: &Drift, manifest: &mut Value) {
        let change = match &drift.live {
            Some(live) => Change::Set(drift.path.clone(), live.clone()),
            None => Change::Remove(drift.path.clone()),
        };
        change.apply(manifest).expect("applied");
        if let Some(name) = &drift.renamed {
            Change::Set(drift.path.parent().key(name), drift.git.clone()).apply(manifest).expect("applied");
        }
    }

    /// Once the printed values are committed, nothing differs.
    #[test]
    fn committed_values_no_longer_differ() {
        let cases = hcoplan_testing::root().join("testdata/golden/cases");
        let mut cases: Vec<_> = std::fs::read_dir(cases)
            .expect("cases")
            .map(|e| e.expect("an entry").path().join("hyperconverged.yaml"))
            .collect();
        cases.sort();
        let (mut accepted, mut differing) = (0, 0);
        for (n, path) in cases.iter().enumerate() {
            let text = std::fs::read_to_string(path).expect("readable");
            let file = SourceFile::new("hyperconverged.yaml", text);
            let manifest = hcoplan_yaml::parse(&file).documents[0].root.to_json();
            for release in ["1.16", "1.17", "1.18", "1.19"].into_iter().skip(n % 2).step_by(2) {
                let state = state(release);
                let Some(all) = drift(&state, &manifest) else {
                    continue;
                };
                accepted += 1;
                differing += usize::from(!all.is_empty());
                let mut committed = manifest.clone();
                all.iter().for_each(|d| commit(d, &mut committed));
                let remaining = drift(&state, &committed);
                assert_eq!(remaining, Some(Vec::new()), "{release} {}", path.display());
            }
        }
        assert!(accepted > 100 && differing > 20, "{accepted}, {differing}");
    }
}
