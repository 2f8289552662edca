//! An upgrade of HCO: the new release's operator starts with the previous one's objects.
//!
//! The API server reads the HyperConverged in the new release's storage version, with defaults for new fields. If the
//! release's upgrade patches change it, the operator first stores that, in an update that passes all of admission.
//! While that is rejected, the operator does nothing else, and the operands stay those of the previous release. Then it
//! deletes what the release removes, and reconciles. Nothing applies the manifest again.
//!
//! Source: HCO `controllers/hyperconverged` (`migrateBeforeUpgrade`), `pkg/upgradepatch`,
//! `controllers/handlers/networkAddons.go` (`setDeployOvsAnnotation`).

use super::objects::Orphans;
use super::operator::{self, Additions, OperatorUpdate, Purpose};
use super::{Objects, State, Step};
use crate::admission::{self, Operation};
use crate::hyperconverged;
use crate::hyperconverged::version_of;
use crate::operands;
use crate::plan::{self, AdmissionMode, plan_with};
use crate::prelude::*;
use crate::release::Release;
use crate::release::{RemovedObject, RemovedPatchOperation, Upgrade};
use hcoplan_kubernetes::ObjectId;
use hcoplan_kubernetes::tree::get;

/// Upgrades a state with the objects of release `from` and the new release.
pub(super) fn upgrade(from: &Release, mut state: State, stored: &Value) -> Step {
    let release = Arc::clone(&state.release);
    let upgrade = release.upgrade();
    let before = state.objects.clone();
    state.objects.retain(|id| !is_removed(upgrade, from.version(), id));
    let stored = stored_again(&state, stored);
    let (read, operator_updates, is_rendered) =
        match migrated(from, &mut state, hyperconverged::read_by(&release, &stored)) {
            Ok(done) => done,
            // It only writes the status of the object that it read first.
            Err(rejected) => {
                let version = release.storage_version();
                return stuck(&before, state, hyperconverged::read_in(&release, &stored, version), *rejected);
            }
        };
    let annotations = annotations(upgrade, &state, &read);
    let additions = Additions { annotations, is_rendered };
    let mut step = state.reconciled(read, &additions, Orphans::Kept);
    if step.plan.status.conditions.is_empty() {
        // The operator writes nothing, so that the previous report stays.
        let status = &stored["status"];
        step.plan.status.node_info = status["nodeInfo"].as_object().cloned();
        step.plan.status.data_import_cron_templates = reported_templates(status);
        step.after.stored = Some(stored);
    } else if step.plan.ignored && !state.inventory.has_monitoring() {
        // Without monitoring objects to list, the operator reports nothing new, and so writes nothing.
        step.after.stored = Some(stored);
    }
    step.objects = before.changes(&step.after.objects, &step.plan);
    step.operator_updates.splice(0..0, operator_updates);
    step
}

/// The golden images that the last report in a status has.
fn reported_templates(status: &Value) -> Option<Arc<[Value]>> {
    status["dataImportCronTemplates"].as_array().map(|templates| templates.clone().into())
}

/// When it starts, the new webhook's pod rewrites an object of another version in the current storage version. If this
/// update is rejected, the object stays unchanged.
///
/// Source: HCO 1.19 `cmd/hyperconverged-cluster-webhook` (`ensureAPIv1`).
fn stored_again(state: &State, stored: &Value) -> Value {
    let release = &state.release;
    let version = release.storage_version();
    if version_of(stored) == version {
        return stored.clone();
    }
    let read = hyperconverged::read_in(release, stored, version);
    let missing = operator::missing(&state.objects, None);
    let operation = Operation::Update { old: stored, missing: &missing };
    match admission::admit(release, &state.inventory, &read, operation).stored {
        Some(mut again) => {
            again["status"] = stored["status"].clone();
            // In the form that the conversion prints.
            let info = again["status"]["nodeInfo"].take();
            again["status"]["nodeInfo"] = if info.is_null() { json!({}) } else { info };
            again
        }
        None => stored.clone(),
    }
}

/// Whether the upgrade from a version deletes an object.
fn is_removed(upgrade: &Upgrade, from: &str, id: &ObjectId) -> bool {
    let is_it = |removed: &RemovedObject| {
        removed.from.includes(from)
            && removed.group == id.group()
            && removed.kind == id.kind
            && removed.name == id.name
            && removed.namespace == id.namespace.as_deref().unwrap_or_default()
    };
    upgrade.removed_objects.iter().any(is_it)
}

/// The object in etcd after the release's own changes, with the update that stored them, and whether the operands were
/// rendered in that round; else the rejected update.
type Migrated = Result<(Value, Vec<OperatorUpdate>, bool), Box<OperatorUpdate>>;

fn migrated(from: &Release, state: &mut State, stored: Value) -> Migrated {
    let release = &Arc::clone(&state.release);
    // The operator renders its operands once when it starts, before it examines the versions.
    let admit = AdmissionMode::Stored { operator_updates: true };
    let plan = plan_with(release, &state.inventory, &stored, admit);
    if plan.ignored || plan.reconcile_error.as_ref().is_some_and(operands::Error::is_panic) {
        return Ok((stored, Vec::new(), false));
    }
    let status = operator::with_status(release, stored.clone(), &plan);
    let mut rendered = stored.clone();
    plan::write(release, &mut rendered, &plan.written);
    let mut rejected = None;
    // A rejected update is tried again on the object read again, without what rendering wrote.
    for (attempt, is_rendered) in [(&rendered, true), (&stored, false)] {
        let mut updated = patched(from, release, attempt);
        if updated == *attempt {
            break;
        }
        let blocks = updated["spec"] != attempt["spec"];
        updated["status"] = status["status"].clone();
        let missing = operator::missing(&state.objects, None);
        let sent = admission::operator_update(release, updated);
        let operation = Operation::Update { old: &status, missing: &missing };
        let admission = admission::admit(release, &state.inventory, &sent, operation);
        let update = OperatorUpdate { purpose: Purpose::UpgradePatches, admission };
        if let Some(migrated) = &update.admission.stored {
            state.managed.update(release, &status, &sent);
            let mut migrated = hyperconverged::in_storage_version(release, migrated);
            migrated["status"] = status["status"].clone();
            return Ok((migrated, vec![update], is_rendered));
        }
        rejected = Some((update, blocks));
    }
    match rejected {
        Some((update, true)) => Err(Box::new(update)),
        Some((update, false)) => Ok((status, vec![update], true)),
        None => Ok((stored, Vec::new(), false)),
    }
}

/// The object without the jsonpatch operations that the release removes, and with its upgrade patches.
fn patched(from: &Release, release: &Release, object: &Value) -> Value {
    let mut updated = object.clone();
    for removed in &release.upgrade().removed_patch_operations {
        remove_operation(&mut updated, removed);
    }
    for patch in release.upgrade().patches.iter().filter(|patch| patch.from.includes(from.version())) {
        let mut attempt = updated.clone();
        // A failed test skips the patch; the operator does so silently.
        if json_patch::patch(&mut attempt, &patch.operations).is_ok() {
            updated = attempt;
        }
    }
    updated
}

/// Removes the first matching operation from an annotation. The operator rewrites the others with the members that it
/// knows: `from` and null values are lost.
fn remove_operation(object: &mut Value, removed: &RemovedPatchOperation) {
    let Some(annotations) = object["metadata"]["annotations"].as_object_mut() else {
        return;
    };
    let text = annotations.get(&removed.annotation).and_then(Value::as_str);
    let Some(Ok(Value::Array(mut operations))) = text.map(serde_json::from_str) else {
        return;
    };
    let Some(found) = operations.iter().position(|o| *o == removed.operation) else {
        return;
    };
    operations.remove(found);
    if operations.is_empty() {
        annotations.remove(&removed.annotation);
        return;
    }
    for operation in operations.iter_mut().filter_map(Value::as_object_mut) {
        let known = |key: &String| ["op", "path", "value"].contains(&key.as_str());
        operation.retain(|key, value| known(key) && !(key == "value" && value.is_null()));
    }
    let text = Value::Array(operations).to_string();
    annotations.insert(removed.annotation.clone(), text.into());
}

/// The operator is stuck at its upgrade patches: the objects stay unchanged.
fn stuck(before: &Objects, state: State, stored: Value, rejected: OperatorUpdate) -> Step {
    let admit = AdmissionMode::Stored { operator_updates: false };
    let mut plan = plan_with(&state.release, &state.inventory, &stored, admit);
    // What the older release reported of the templates stays.
    plan.status.data_import_cron_templates = reported_templates(&stored["status"]);
    let stored = operator::with_status(&state.release, stored, &plan);
    plan.operands.clear();
    (plan.ssp, plan.reconcile_error) = (None, None);
    Step {
        objects: before.removals(&state.objects),
        after: State { stored: Some(stored), ..state },
        plan,
        operator_updates: vec![rejected],
    }
}

/// Annotations that the operator writes because of existing objects.
fn annotations(upgrade: &Upgrade, state: &State, stored: &Value) -> Map<String, Value> {
    let mut out = Map::new();
    for kept in &upgrade.kept_in_annotations {
        let has = |annotation: &str| {
            let all = get(stored, "metadata.annotations");
            all.is_some_and(|all| all.get(annotation).is_some())
        };
        if let Some(operand) = state.objects.of_kind(&kept.operand)
            && !has(&kept.annotation)
        {
            let is_there = get(operand, &kept.field).is_some();
            out.insert(kept.annotation.clone(), is_there.to_string().into());
        }
    }
    out
}
