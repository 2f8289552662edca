//! A cluster from one moment to the next: a HyperConverged is created or updated, HCO is upgraded, nodes come and go.
//!
//! A [`State`] is the object in etcd, the objects that operators created, and the nodes. Each step is a pure function
//! of the previous state. It reports what admission answered, what the operator wrote into the HyperConverged and
//! whether that was stored, and which objects were created, changed, recreated, removed or left behind.

mod apply;
mod follow;
mod live;
mod managed;
mod objects;
mod operator;
mod order;
mod upgrade;

use crate::operands;
use std::sync::Arc;

use serde_json::Value;

pub use apply::{LAST_APPLIED, merge_patch};
pub use follow::is_upgrade;
pub use managed::Managed;
use objects::Orphans;
pub use objects::{ObjectOutcome, Objects};
use operator::Additions;
pub use operator::{OperatorUpdate, Purpose};
pub use order::{UpdateOrder, UpdateOrders, orders};

use hcoplan_kubernetes::ObjectId;
use hcoplan_kubernetes::tree::get;

use crate::admission::{self, Admission, Operation};
use crate::hyperconverged;
use crate::inventory::Inventory;
pub use crate::inventory::UpdateMethod;
use crate::plan::{AdmissionMode, Plan, plan_with};
use crate::release::Release;

/// A cluster at a moment.
#[derive(Debug, Clone)]
pub struct State {
    /// The release that HCO runs.
    pub release: Arc<Release>,
    /// The nodes, and what else is declared of the cluster.
    pub inventory: Arc<Inventory>,
    /// The HyperConverged as it is in etcd, in the release's storage version, with the parts of
    /// `status` that the webhooks read; `None` where there is none.
    pub stored: Option<Value>,
    /// What HCO and SSP made, with what older releases left behind.
    pub objects: Objects,
    /// Who owns which fields of the HyperConverged, where the server applies its manifest.
    pub managed: Managed,
}

/// What a step led to.
#[derive(Debug, Clone)]
pub struct Step {
    /// The state after the step.
    pub after: State,
    /// What was asked and rendered; its admission is that of the manifest, where one was submitted.
    pub plan: Plan,
    /// What the operator tried to write into the HyperConverged.
    pub operator_updates: Vec<OperatorUpdate>,
    /// What became of the objects, sorted.
    pub objects: Vec<(ObjectId, ObjectOutcome)>,
}

impl Step {
    /// Whether the operator doesn't get beyond its upgrade patches, because storing them is rejected.
    pub fn is_stuck(&self) -> bool {
        let mut updates = self.operator_updates.iter();
        updates.any(|u| u.purpose == Purpose::UpgradePatches && !u.admission.accepted)
    }
}

/// The releases that an upgrade goes through, the last one included: one minor release after the
/// other, as HCO supports it, of the distribution that the last one is of. An older or an equal release
/// is reached at once.
pub fn path(from: &Release, to: &Arc<Release>) -> Vec<Arc<Release>> {
    let known: Vec<&str> = Release::known_names().collect();
    let between = match (Release::place(from.name()), Release::place(to.name())) {
        (Some(from), Some(place)) if from < place => {
            // What comes after its line is reached from there.
            let is_ahead = to.patched().is_some_and(|patch| patch.moving);
            &known[from + 1..place + usize::from(is_ahead)]
        }
        _ => &[],
    };
    let siblings = to.releases_of_distribution();
    let between = between.iter().filter_map(|name| {
        let of_distribution = siblings.iter().find(|r| r.name() == *name);
        of_distribution.cloned().or_else(|| Release::known(name))
    });
    between.chain([Arc::clone(to)]).collect()
}

impl State {
    /// A cluster on which HCO runs, without a HyperConverged.
    pub fn new(release: Arc<Release>, inventory: Arc<Inventory>) -> Self {
        Self { release, inventory, stored: None, objects: Objects::default(), managed: Managed::default() }
    }

    /// The cluster as far as its HyperConverged tells of it: `live` is what `kubectl get -o json`
    /// prints, in any version that the release serves. The operators' objects are those that the
    /// operator makes of it; where its status lists what exists, no others.
    ///
    /// What is in etcd may be of another version than what is printed, which may not have a place
    /// for all of it; `manifest` is what is about to be submitted, see [`live::in_etcd`].
    #[must_use]
    pub fn with_live(self, live: &Value, manifest: &Value) -> Self {
        let (release, inventory) = (self.release, self.inventory);
        let mut stored = live::in_etcd(&release, &inventory, live, manifest);
        stored["status"] = live["status"].clone();
        let admit = AdmissionMode::Stored { operator_updates: false };
        let plan = plan_with(&release, &inventory, &stored, admit);
        let mut objects = Objects::of(&plan);
        if let Some(related) = get(live, "status.relatedObjects").and_then(Value::as_array) {
            objects.retain(|id| {
                let mut related = related.iter();
                related.any(|r| r["kind"] == *id.kind && r["name"] == *id.name)
            });
            for kind in related.iter().filter_map(|r| r["kind"].as_str()) {
                objects.add_unseen(kind);
            }
        }
        Self { release, inventory, stored: Some(stored), objects, managed: Managed::read(live) }
    }

    /// The manifest is created.
    #[must_use]
    pub fn create(&self, manifest: &Value) -> Step {
        let (release, inventory) = (&self.release, &self.inventory);
        let admission = admission::admit(release, inventory, manifest, Operation::Create);
        self.submitted(admission)
    }

    /// The manifest is submitted as the cluster's inventory says: as an update, or as a new object where there is none.
    #[must_use]
    pub fn update(&self, manifest: &Value) -> Step {
        let (release, inventory) = (&self.release, &self.inventory);
        let namespace = &inventory.namespace;
        let Some(old) = &self.stored else {
            return match inventory.update {
                UpdateMethod::Apply => self.create(&apply::annotated_as_new(manifest, namespace)),
                UpdateMethod::ServerSide => self.apply_on_server(manifest),
                UpdateMethod::Replace => self.create(manifest),
            };
        };
        let mut sends_nothing = false;
        let submitted = match inventory.update {
            UpdateMethod::ServerSide => return self.apply_on_server(manifest),
            UpdateMethod::Replace => manifest.clone(),
            UpdateMethod::Apply => {
                let version = hyperconverged::version_of(manifest);
                let live = hyperconverged::in_version(release, old, version);
                let submitted = apply::applied(&live, manifest, namespace);
                sends_nothing = submitted == live;
                submitted
            }
        };
        let missing = operator::missing(&self.objects, None);
        let operation = Operation::Update { old, missing: &missing };
        let admission = admission::admit(release, inventory, &submitted, operation);
        if sends_nothing && !admission.accepted { self.nothing_sent(old, submitted) } else { self.submitted(admission) }
    }

    /// The cluster that has held a manifest for a while, even if today's webhook would reject it. Where the server applies
    /// it, a controller has done so again: what HCO wrote in its first update is the controller's then.
    #[must_use]
    pub fn holding(&self, manifest: &Value) -> Self {
        let held = self.forced(self.update(manifest)).after;
        match self.inventory.update {
            UpdateMethod::ServerSide if held.stored.is_some() => held.forced(held.update(manifest)).after,
            _ => held,
        }
    }

    /// The API server merges the manifest into what is stored. Admission follows, even where nothing changes.
    fn apply_on_server(&self, manifest: &Value) -> Step {
        let (release, inventory) = (&self.release, &self.inventory);
        let (submitted, managed) = match self.managed.apply(release, self.stored.as_ref(), manifest) {
            Ok(merged) => merged,
            Err(mistake) => {
                let schema = managed::schema_of(release, hyperconverged::version_of(manifest));
                let pruned = schema.map(|schema| schema.prune(&mut manifest.clone())).unwrap_or_default();
                return self.submitted(Admission { pruned, ..Admission::unmergeable(mistake) });
            }
        };
        let missing = operator::missing(&self.objects, None);
        let operation = match &self.stored {
            Some(old) => Operation::Update { old, missing: &missing },
            None => Operation::Create,
        };
        let admission = admission::admit(release, inventory, &submitted, operation);
        let after = if admission.accepted || admission.forced.is_some() { managed } else { self.managed.clone() };
        Self { managed: after, ..self.clone() }.submitted(admission)
    }

    /// Applying a manifest that changes nothing sends nothing, so that nobody rejects it.
    fn nothing_sent(&self, stored: &Value, mut live: Value) -> Step {
        let mut step = self.reconciled(stored.clone(), &Additions::default(), Orphans::Deleted);
        if let Value::Object(live) = &mut live {
            live.remove("status");
        }
        step.plan.admission = Admission { accepted: true, stored: Some(live), ..Admission::default() };
        step
    }

    /// What follows from the admission of a manifest.
    fn submitted(&self, admission: Admission) -> Step {
        let Some(stored) = &admission.stored else {
            return Step {
                after: self.clone(),
                plan: Plan::rejected(&self.release, &self.inventory, admission),
                operator_updates: Vec::new(),
                objects: Vec::new(),
            };
        };
        let mut stored = hyperconverged::in_storage_version(&self.release, stored);
        if let Some(old) = &self.stored {
            stored["status"] = old["status"].clone();
        }
        let mut step = self.reconciled(stored, &Additions::default(), Orphans::Deleted);
        step.plan.admission = admission;
        step
    }

    /// What would follow if the webhook or policy that rejected a step hadn't; the step itself where
    /// nothing was rejected, or what was could not be stored at all.
    #[must_use]
    pub fn forced(&self, step: Step) -> Step {
        let Some(forced) = step.plan.admission.forced.clone() else {
            return step;
        };
        let stored = hyperconverged::in_storage_version(&self.release, &forced);
        let state = Self { managed: step.after.managed, ..self.clone() };
        let mut forced = state.reconciled(stored, &Additions::default(), Orphans::Deleted);
        forced.plan.admission = step.plan.admission;
        forced
    }

    /// The nodes of the cluster, or what else is declared of it, are others.
    #[must_use]
    pub fn nodes(&self, inventory: Arc<Inventory>) -> Step {
        let state = Self { inventory, ..self.clone() };
        match &self.stored {
            Some(stored) => state.reconciled(stored.clone(), &Additions::default(), Orphans::Deleted),
            None => state.without_hyperconverged(),
        }
    }

    /// HCO is upgraded to another release. One further away than the next is the caller's to
    /// reach, release by release.
    #[must_use]
    pub fn upgrade(&self, release: &Arc<Release>) -> Step {
        let state = Self { release: Arc::clone(release), ..self.clone() };
        match &self.stored {
            Some(stored) => upgrade::upgrade(&self.release, state, stored),
            None => state.without_hyperconverged(),
        }
    }

    /// HCO is upgraded step by step, see [`path`]: what each step led to, the last one at the end.
    #[must_use]
    pub fn upgrade_over(&self, to: &Arc<Release>) -> Vec<Step> {
        let mut out: Vec<Step> = Vec::new();
        for release in path(&self.release, to) {
            let before = out.last().map_or(self, |step| &step.after);
            out.push(before.upgrade(&release));
        }
        out
    }

    fn without_hyperconverged(self) -> Step {
        Step {
            plan: Plan::rejected(&self.release, &self.inventory, Admission::default()),
            after: self,
            operator_updates: Vec::new(),
            objects: Vec::new(),
        }
    }

    /// The operator reconciles what is in etcd now. The state holds the objects before.
    fn reconciled(&self, stored: Value, additions: &Additions, orphans: Orphans) -> Step {
        let (release, inventory) = (&self.release, &self.inventory);
        let result =
            operator::reconcile_until_stable(release, inventory, stored, (&self.objects, &self.managed), additions);
        let error = result.plan.reconcile_error.as_ref();
        let panics_first = error.is_some_and(operands::Error::is_panic) && release.has("renders-all-operands-first");
        let after = if result.plan.ignored || panics_first {
            self.objects.started(&result.plan)
        } else {
            self.objects.after_plan(&result.plan, orphans)
        };
        Step {
            objects: self.objects.changes(&after, &result.plan),
            after: Self { stored: Some(result.stored), objects: after, managed: result.managed, ..self.clone() },
            plan: result.plan,
            operator_updates: result.operator_updates,
        }
    }
}

#[cfg(test)]
mod properties;
