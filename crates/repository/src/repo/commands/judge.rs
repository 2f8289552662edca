//! What a command would do to a declared HyperConverged: it is carried out on it, and the planner is asked.

use std::collections::{BTreeMap, BTreeSet};

use hcoplan_kubernetes::ObjectId;
use hcoplan_planner::admission::{self, Operation};
use hcoplan_planner::hyperconverged::{in_storage_version, in_version};
use hcoplan_planner::inventory::Inventory;
use hcoplan_planner::lifecycle::merge_patch;
use hcoplan_planner::plan::{Admit, Plan, plan_with};
use hcoplan_planner::release::Release;
use serde_json::{Value, json};

use super::{Action, Command};

/// What becomes of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The command ends with an error, for this reason.
    Fails(String),
    /// The API server drops what it writes: this version has no such field.
    Dropped {
        /// The version in which the API server takes it.
        version: String,
        /// The field.
        path: String,
    },
    /// The object that it makes is refused, in these words.
    Refused(String),
    /// HCO's operator stops with this error.
    Stops(String),
    /// Everything is as it was.
    Nothing,
    /// These objects change.
    Changes(Vec<String>),
    /// It isn't known, for this reason.
    Untried(&'static str),
    /// The HyperConverged is deleted.
    Deletes,
}

impl Outcome {
    /// Whether the command doesn't do what somebody wrote it for.
    pub const fn is_failure(&self) -> bool {
        matches!(self, Self::Fails(_) | Self::Dropped { .. } | Self::Refused(_) | Self::Stops(_))
    }
}

/// What a command comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// On the cluster's release.
    pub now: Outcome,
    /// The first later release on which it fails, and how, where it works now.
    pub later: Option<(String, Outcome)>,
    /// The same as a merge patch of v1, as JSON; `None` where that is what it is, where nothing changes, and
    /// where v1 has no place for it.
    pub in_v1: Option<String>,
}

impl Command {
    /// What becomes of the command on the HyperConverged of a manifest.
    pub fn judge(&self, release: &Release, inventory: &Inventory, manifest: &Value) -> Judgement {
        let own_name = manifest["metadata"]["name"].as_str();
        if self.name.is_some() && self.name.as_deref() != own_name {
            return Judgement {
                now: Outcome::Untried("it is about a HyperConverged of another name"),
                later: None,
                in_v1: None,
            };
        }
        let now = self.outcome(release, inventory, manifest);
        let is_same = |other: &Release| other.name() == release.name();
        let siblings = release.releases_of_distribution();
        let own = siblings.iter().position(|r| is_same(r));
        let later = own.map_or(&[][..], |own| &siblings[own + 1..]);
        let mut failures = later.iter().filter(|r| !is_same(r)).map(|r| {
            let outcome = self.outcome(r, inventory, manifest);
            (r.label().to_owned(), outcome)
        });
        let later = if now.is_failure() { None } else { failures.find(|(_, outcome)| outcome.is_failure()) };
        Judgement { now, later, in_v1: siblings.last().and_then(|r| self.in_v1(r, inventory, manifest)) }
    }

    fn outcome(&self, release: &Release, inventory: &Inventory, manifest: &Value) -> Outcome {
        self.attempt(release, inventory, manifest).map_or_else(|outcome| outcome, |(_, o)| o)
    }

    /// The stored object after it, and what becomes of it.
    fn attempt(&self, release: &Release, inventory: &Inventory, manifest: &Value) -> Result<(Value, Outcome), Outcome> {
        match self.action {
            Action::Delete => return Err(Outcome::Deletes),
            Action::Unknown(why) => return Err(Outcome::Untried(why)),
            _ => {}
        }
        let served = &release.tables().hyperconverged.served_versions;
        let preferred = served.last().map_or("v1beta1", String::as_str);
        let version = self.version.as_deref().unwrap_or(preferred);
        if !served.iter().any(|v| v == version) {
            let why = format!("{} serves no {version}", release.display_name());
            return Err(Outcome::Fails(why));
        }
        let created = admission::admit(release, inventory, manifest, Operation::Create);
        let Some(stored) = created.stored else {
            return Err(Outcome::Untried("the declared HyperConverged is refused"));
        };
        let before = in_version(release, &stored, version);
        let after = self.carried_out(&before)?;
        let update = Operation::Update { old: &stored, missing: &[] };
        let admission = admission::admit(release, inventory, &after, update);
        let Some(changed) = admission.stored else {
            return Err(Outcome::Refused(admission.message));
        };
        // Only of what isn't refused it can be said that a field is dropped.
        if let Some(path) = missing(release, version, &after) {
            let version = version.to_owned();
            return Err(Outcome::Dropped { version, path });
        }
        let settled = |object: &Value| {
            let object = in_storage_version(release, object);
            let plan = plan_with(release, inventory, &object, Admit::Settled { writes: false });
            (object, plan)
        };
        let ((old, was), (new, is)) = (settled(&stored), settled(&changed));
        let outcome = match (&was.reconcile_error, &is.reconcile_error) {
            (None, Some(error)) => Outcome::Stops(error.message.clone()),
            _ if old == new => Outcome::Nothing,
            _ => Outcome::Changes(changes(&was, &is)),
        };
        Ok((new, outcome))
    }

    /// The object with what the command does to it.
    fn carried_out(&self, before: &Value) -> Result<Value, Outcome> {
        let mut after = before.clone();
        match &self.action {
            Action::Merge(patch) => json_patch::merge(&mut after, patch),
            Action::Apply(manifest) => {
                let mut manifest = manifest.clone();
                if let Value::Object(map) = &mut manifest {
                    map.remove("status");
                }
                if let Some(metadata) = manifest["metadata"].as_object_mut() {
                    metadata.remove("namespace");
                }
                json_patch::merge(&mut after, &manifest);
            }
            Action::Json(patch) => {
                if let Err(error) = json_patch::patch(&mut after, patch) {
                    let why = format!("operation {}: {} at `{}`", error.operation + 1, error.kind, error.path);
                    return Err(Outcome::Fails(why));
                }
            }
            Action::Strategic => {
                let why = "without `--type` it is a strategic merge patch, which the API server takes for no custom \
                           resource";
                return Err(Outcome::Fails(why.to_owned()));
            }
            Action::Metadata { field, set, overwrite } => {
                let own = &mut after["metadata"][*field];
                if own.is_null() {
                    *own = json!({});
                }
                for (name, value) in set {
                    let there = own.get(name).and_then(Value::as_str);
                    match value {
                        Some(value) if there.is_some_and(|t| t != value) && !overwrite => {
                            let why = format!("`{name}` has another value, and `--overwrite` is missing");
                            return Err(Outcome::Fails(why));
                        }
                        Some(value) => own[name] = value.as_str().into(),
                        None => {
                            own.as_object_mut().map(|own| own.remove(name));
                        }
                    }
                }
            }
            Action::Delete | Action::Unknown(_) => {}
        }
        Ok(after)
    }

    /// The merge patch of v1 that leads to the same, tried out.
    fn in_v1(&self, release: &Release, inventory: &Inventory, manifest: &Value) -> Option<String> {
        let tables = &release.tables().hyperconverged;
        if !tables.served_versions.iter().any(|v| v == "v1") || self.version.as_deref() == Some("v1") {
            return None;
        }
        if !matches!(self.action, Action::Merge(_) | Action::Json(_)) {
            return None;
        }
        // What a command writes in a version has its defaults: what any command does is not this one's.
        let change = |version: &str, action: Action| {
            let after = |action: Action| {
                let command = Self { version: Some(version.to_owned()), action, ..self.clone() };
                let (stored, _) = command.attempt(release, inventory, manifest).ok()?;
                Some(in_version(release, &stored, "v1"))
            };
            let unchanged = after(Action::Merge(json!({})))?;
            merge_patch(&unchanged, &after(action)?).get("spec").cloned()
        };
        let spec = change("v1beta1", self.action.clone())?;
        let mut patch = json!({"spec": spec});
        if let Action::Merge(own) = &self.action
            && let Some(metadata) = own.get("metadata")
        {
            patch["metadata"] = metadata.clone();
        }
        (change("v1", Action::Merge(patch.clone()))? == spec).then(|| patch.to_string())
    }
}

/// The first field of an object that this version doesn't have.
fn missing(release: &Release, version: &str, object: &Value) -> Option<String> {
    let schema = release.schema(&format!("hyperconverged.{version}"))?;
    let pruned = schema.prune(&mut object.clone());
    pruned.first().map(|field| field.path.to_string())
}

/// The objects that two plans differ in, as people call them.
fn changes(was: &Plan, is: &Plan) -> Vec<String> {
    let by_id = |plan: &Plan| -> BTreeMap<ObjectId, Value> {
        let objects = plan.objects();
        objects.map(|o| ((*o.id).clone(), (*o.body).clone())).collect()
    };
    let (was, is) = (by_id(was), by_id(is));
    let ids: BTreeSet<&ObjectId> = was.keys().chain(is.keys()).collect();
    let different = ids.into_iter().filter(|id| was.get(id) != is.get(id));
    let mut out: Vec<String> = different.map(ToString::to_string).collect();
    out.sort();
    out
}
