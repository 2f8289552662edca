//! The mutating webhook. It runs on the pruned and defaulted object, before schema validation, and answers with a JSON
//! patch that the API server applies.

use super::gates_to_fields;
use super::shape::{GATES, Shape, at, list, parse_path, text};
use super::webhook_edit::{WebhookEdit, WebhookEditKind};
use super::{Operation, OperatorBug, OperatorBugKind, Reason, Rejection};
use crate::admission::Admission;
use crate::cause::{Cause, CauseKind, Stage};
use crate::prelude::*;
use crate::release::Release;
use crate::release::{Mutation, VersionRules};
use hcoplan_kubernetes::go::DecodeError;

/// Makes CDI import at once, without waiting for a first consumer.
const BIND: &str = "cdi.kubevirt.io/storage.bind.immediate.requested";

/// The webhook and its input.
pub(super) struct Webhook<'a> {
    pub(super) rules: &'a VersionRules,
    pub(super) shape: Shape<'a>,
    pub(super) operation: Operation<'a>,
}

impl Webhook<'_> {
    /// Decodes and changes the object; returns whether anything changed. Adds warnings to the admission. After a
    /// rejection some changes may have been made.
    pub(super) fn run(&self, object: &mut Value, admission: &mut Admission) -> Result<bool, Rejection> {
        let changes = self.changes(object, admission)?;
        for change in &changes {
            if let Err(problem) = apply(object, change) {
                let message = format!("Internal error occurred: {problem}");
                let rejection = Rejection::new(Reason::MutationFails, message.as_str());
                let parent = nearest(object, &change.path);
                admission.holes.push(OperatorBug {
                    kind: OperatorBugKind::BrokenMutation,
                    path: parent.clone(),
                    message,
                    hidden: None,
                    unchecked: Vec::new(),
                });
                return Err(rejection.at(parent));
            }
        }
        Ok(!changes.is_empty())
    }

    fn decode(&self, object: &Value, message: &str) -> Result<(), Rejection> {
        decode(self.shape.release, self.shape.version, object)
            .map_err(|rejection| Rejection { message: message.to_owned(), ..rejection })
    }

    /// The webhook's patch.
    fn changes(&self, object: &Value, admission: &mut Admission) -> Result<Vec<WebhookEdit>, Rejection> {
        self.decode(object, "failed to parse the HyperConverged")?;
        let steps = match self.operation {
            Operation::Create => &self.rules.mutate.create,
            Operation::Update { .. } => &self.rules.mutate.update,
        };
        let mut changes = Vec::new();
        for step in steps {
            match step {
                Mutation::BindAnnotation => self.bind_annotation(object, &mut changes),
                Mutation::RetentionPolicy => {
                    self.template_default(object, "retentionPolicy", &json!("None"), &mut changes);
                }
                Mutation::ImportsToKeep => {
                    self.template_default(object, "importsToKeep", &json!(1), &mut changes);
                }
                Mutation::EvictionStrategy => changes.extend(self.eviction_strategy(object)),
                Mutation::DropHighBurst => {
                    if text(object, self.shape.path("tuningPolicy")) == "highBurst" {
                        changes.push(WebhookEdit::remove(Path::dotted(self.shape.path("tuningPolicy"))));
                    }
                }
                Mutation::MediatedDeviceTypes => self.mediated_device_types(object, &mut changes),
                Mutation::KsmConfiguration => {
                    if at(object, self.shape.path("ksm")).is_none() {
                        changes.push(WebhookEdit::add(Path::dotted(self.shape.path("ksm")), json!({})));
                    }
                }
                Mutation::GatesToFields => {
                    let (gate_changes, warnings) = self.gates_to_fields(object)?;
                    changes.extend(gate_changes);
                    admission.warnings.extend(warnings);
                }
            }
        }
        Ok(changes)
    }

    /// Without annotations the webhook adds the map, without checking that the parent `metadata` exists.
    fn bind_annotation(&self, object: &Value, changes: &mut Vec<WebhookEdit>) {
        for (i, template) in list(object, self.shape.path("templates")).iter().enumerate() {
            let path = Path::dotted(self.shape.path("templates")).index(i);
            let path = path.key("metadata").key("annotations");
            match at(template, "metadata.annotations") {
                None => changes.push(WebhookEdit::add(path, json!({BIND: "true"}))),
                Some(annotations) if annotations.get(BIND).is_none() => {
                    changes.push(WebhookEdit::add(path.key(BIND), json!("true")));
                }
                Some(_) => {}
            }
        }
    }

    fn template_default(&self, object: &Value, field: &str, value: &Value, changes: &mut Vec<WebhookEdit>) {
        for (i, template) in list(object, self.shape.path("templates")).iter().enumerate() {
            let spec = template.get("spec").filter(|s| !s.is_null());
            if spec.is_some_and(|s| s.get(field).is_none_or(Value::is_null)) {
                let path = Path::dotted(self.shape.path("templates")).index(i);
                changes.push(WebhookEdit::add(path.key("spec").key(field), value.clone()));
            }
        }
    }

    fn eviction_strategy(&self, object: &Value) -> Option<WebhookEdit> {
        let highly_available = at(object, "status.infrastructureHighlyAvailable")?.as_bool()?;
        if at(object, self.shape.path("evictionStrategy")).is_some() {
            return None;
        }
        let strategy = if highly_available { "LiveMigrate" } else { "None" };
        let path = Path::dotted(self.shape.path("evictionStrategy"));
        Some(WebhookEdit::replace(path, json!(strategy)))
    }

    fn mediated_device_types(&self, object: &Value, changes: &mut Vec<WebhookEdit>) {
        let Some(devices) = at(object, self.shape.path("mediatedDevices")) else {
            return;
        };
        let path = Path::dotted(self.shape.path("mediatedDevices"));
        let mut copy_types = |of: &Value, path: Path| {
            let old = list(of, "mediatedDevicesTypes");
            if !old.is_empty() && list(of, "mediatedDeviceTypes").is_empty() {
                changes.push(WebhookEdit::add(path.key("mediatedDeviceTypes"), json!(old)));
            }
        };
        copy_types(devices, path.clone());
        for (i, node) in list(devices, "nodeMediatedDeviceTypes").iter().enumerate() {
            copy_types(node, path.key("nodeMediatedDeviceTypes").index(i));
        }
    }

    fn gates_to_fields(&self, object: &Value) -> Result<(Vec<WebhookEdit>, Vec<String>), Rejection> {
        let mut changes = Vec::new();
        let mut warnings = Vec::new();
        let mut dropped = Vec::new();
        if let Operation::Update { old, .. } = self.operation {
            changes.extend(self.old_gates(object, old)?);
        }
        for pair in &self.rules.gates_to_fields {
            let target = gates_to_fields::step(object, self.operation, pair)?;
            changes.extend(target.set);
            dropped.extend(target.drop);
            warnings.extend(target.warning.map(|(_, message)| message));
        }
        if dropped.len() == list(object, GATES).len() && !dropped.is_empty() {
            changes.push(WebhookEdit::remove(Path::dotted(GATES)));
        } else {
            dropped.sort_unstable_by(|a, b| b.cmp(a));
            let gates = Path::dotted(GATES);
            changes.extend(dropped.iter().map(|i| WebhookEdit::remove(gates.index(*i))));
        }
        Ok((changes, warnings))
    }

    /// The gates of an old object may be `{}` after an upgrade from 1.18. The webhook then removes the new object's
    /// list of gates if it is empty, which fails if the list is missing. Any other old object that doesn't decode is
    /// rejected here; the validating webhook rejects all of them.
    fn old_gates(&self, object: &Value, old: &Value) -> Result<Option<WebhookEdit>, Rejection> {
        if !at(old, GATES).is_some_and(|gates| gates.as_object().is_some_and(Map::is_empty)) {
            self.decode(old, "failed to parse the old HyperConverged")?;
            return Ok(None);
        }
        Ok(list(object, GATES).is_empty().then(|| WebhookEdit::remove(Path::dotted(GATES))))
    }
}

/// Decodes an object into the operator's Go types.
///
/// # Errors
/// Go's message for the first value that it can't decode; the causes hold the further ones.
pub(super) fn decode(release: &Release, version: &str, object: &Value) -> Result<(), Rejection> {
    let ty = release.hyperconverged_type(version).expect("every served version has its Go types");
    let errors = release.go_types().decode_errors(object, ty);
    let Some(first) = errors.first() else {
        return Ok(());
    };
    let mut rejection = Rejection::new(Reason::GoDecode, first.message.as_str());
    let cause = |e: DecodeError| {
        Cause::new(Stage::Mutating, parse_path(object, &e.path), CauseKind::Decode(e.wants), e.message)
    };
    rejection.causes.extend(errors.into_iter().map(cause));
    Err(rejection)
}

/// The path itself or its deepest ancestor that exists.
fn nearest(object: &Value, path: &Path) -> Path {
    let mut path = path.clone();
    while !path.0.is_empty() && path.get(object).is_none() {
        path = path.parent();
    }
    path
}

/// Applies one operation as the API server's JSON patch library does; `Err` has its message.
fn apply(object: &mut Value, change: &WebhookEdit) -> Result<(), String> {
    let (kind, path) = (change.kind, &change.path);
    let verb = match kind {
        WebhookEditKind::Add => "add",
        WebhookEditKind::Replace => "replace",
        WebhookEditKind::Remove => "remove",
    };
    let pointer = path.to_pointer();
    let missing = || format!("{verb} operation does not apply: doc is missing path: \"{pointer}\": missing value");
    let parents = path.parent().0;
    let parent = parents.iter().try_fold(object, |value, step| match step {
        Segment::Key(key) => value.get_mut(key),
        Segment::Index(index) => value.get_mut(*index),
    });
    match (parent, path.0.last()) {
        (Some(Value::Object(map)), Some(Segment::Key(key))) => {
            match kind {
                WebhookEditKind::Remove if map.remove(key).is_none() => {
                    let reason = format!("Unable to remove nonexistent key: {key}: missing value");
                    return Err(format!("error in remove for path: '{pointer}': {reason}"));
                }
                WebhookEditKind::Remove => {}
                _ => drop(map.insert(key.clone(), change.value.clone())),
            }
            Ok(())
        }
        (Some(Value::Array(items)), Some(Segment::Index(index)))
            if kind == WebhookEditKind::Remove && *index < items.len() =>
        {
            items.remove(*index);
            Ok(())
        }
        _ => Err(missing()),
    }
}
