//! The life of a cluster: a HyperConverged is created or updated, HCO is upgraded, nodes are added and removed.
//!
//! A [`State`] is the object in etcd, the objects that operators created, and the nodes. Each step is a pure function
//! of the previous state. It reports the admission, what the operator wrote into the HyperConverged and whether that
//! was stored, and which objects were created, changed, recreated, removed or left behind.

mod apply;
mod follow;
mod live;
mod managed;
mod objects;
mod operator;
mod upgrade;

use crate::admission::Admission;
use crate::boot_images::cdi_stage::Imports;
use crate::hyperconverged::version_of;
use crate::inventory::Inventory;
use crate::operands;
use crate::plan::Plan;
use crate::prelude::*;
use crate::release::Release;

pub use crate::release::merge_patch;
pub use apply::LAST_APPLIED;
pub use follow::is_upgrade;
pub use follow::{UpdateOrder, UpdateOrders, orders};
pub use managed::Managed;
use objects::Orphans;
pub use objects::{ObjectOutcome, Objects};
use operator::Additions;
pub use operator::{OperatorUpdate, Purpose};

use hcoplan_kubernetes::ObjectId;
use hcoplan_kubernetes::tree::get;

use crate::cause::Stage;
use crate::hyperconverged;
pub use crate::inventory::UpdateMethod;
use crate::plan::{AdmissionMode, plan_with};
use crate::{admission, admission::Operation, admission::Reason};

/// The state of a cluster.
#[derive(Debug, Clone)]
pub struct State {
    /// The release that HCO runs.
    pub release: Arc<Release>,
    /// The nodes and other declared facts of the cluster.
    pub inventory: Arc<Inventory>,
    /// The HyperConverged in etcd, in the release's storage version, with the parts of `status` that the webhooks read;
    /// `None` if there is none.
    pub stored: Option<Value>,
    /// The objects that HCO and SSP created, including those that older releases left behind.
    pub objects: Objects,
    /// The DataSources that CDI filled.
    pub imports: Imports,
    /// The owners of the HyperConverged's fields under server-side apply.
    pub managed: Managed,
}

/// The result of a step.
#[derive(Debug, Clone)]
pub struct Step {
    /// The state after the step.
    pub after: State,
    /// The rendered plan, with the manifest's admission if one was submitted.
    pub plan: Plan,
    /// The operator's attempts to update the HyperConverged.
    pub operator_updates: Vec<OperatorUpdate>,
    /// The outcome per object, sorted.
    pub objects: Vec<(ObjectId, ObjectOutcome)>,
}

impl Step {
    /// Whether the operator is stuck because storing its upgrade patches is rejected.
    pub fn is_stuck(&self) -> bool {
        let mut updates = self.operator_updates.iter();
        updates.any(|u| u.purpose == Purpose::UpgradePatches && !u.admission.accepted)
    }
}

/// The releases of an upgrade up to and including `to`: one minor release after the other, as HCO supports it, of the
/// distribution of `to`. An older or equal release is reached directly.
pub fn path(from: &Release, to: &Arc<Release>) -> Vec<Arc<Release>> {
    let known: Vec<&str> = Release::known_names().collect();
    let between = match (Release::place(from.name()), Release::place(to.name())) {
        (Some(from), Some(place)) if from < place => {
            // A development release is reached from the release of its line.
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
    /// A cluster that runs HCO, without a HyperConverged.
    pub fn new(release: Arc<Release>, inventory: Arc<Inventory>) -> Self {
        let (objects, imports, managed) = Default::default();
        Self { release, inventory, stored: None, objects, imports, managed }
    }

    /// The cluster that a printed HyperConverged implies: `live` is the output of `kubectl get -o json`, in any served
    /// version. The objects are those that the operator creates from it, limited to its status's list of existing ones
    /// if it has one.
    ///
    /// The printed version may lack parts of the object in etcd; `manifest` is about to be submitted, see
    /// [`live::in_etcd`].
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
        let imports = Imports::default().after(&[], &objects.bodies());
        Self { release, inventory, stored: Some(stored), objects, imports, managed: Managed::read(live) }
    }

    /// Creates the manifest's object.
    #[must_use]
    pub fn create(&self, manifest: &Value) -> Step {
        let (release, inventory) = (&self.release, &self.inventory);
        let admission = admission::admit(release, inventory, manifest, Operation::Create);
        self.submitted(admission)
    }

    /// Submits the manifest by the inventory's method: as an update, or as a new object if there is none.
    #[must_use]
    pub fn update(&self, manifest: &Value) -> Step {
        let (release, inventory) = (&self.release, &self.inventory);
        let namespace = &inventory.namespace;
        let Some(old) = &self.stored else {
            return match inventory.update {
                UpdateMethod::Apply => self.create(&apply::annotated(manifest, namespace, None)),
                UpdateMethod::ServerSide => self.apply_on_server(manifest),
                UpdateMethod::Replace => self.create(manifest),
            };
        };
        let mut sends_nothing = false;
        let submitted = match inventory.update {
            UpdateMethod::ServerSide => return self.apply_on_server(manifest),
            UpdateMethod::Replace => manifest.clone(),
            UpdateMethod::Apply => {
                let version = version_of(manifest);
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

    /// The cluster after a manifest was applied some time ago, even if today's webhook would reject it. With
    /// server-side apply a controller has applied it again, and owns what HCO wrote in its first update.
    #[must_use]
    pub fn holding(&self, manifest: &Value) -> Self {
        let applied = self.forced(self.update(manifest)).after;
        match self.inventory.update {
            UpdateMethod::ServerSide if applied.stored.is_some() => applied.forced(applied.update(manifest)).after,
            _ => applied,
        }
    }

    /// Server-side apply merges the manifest into the stored object. Admission follows even if nothing changes.
    fn apply_on_server(&self, manifest: &Value) -> Step {
        let (release, inventory) = (&self.release, &self.inventory);
        let (submitted, managed) = match self.managed.apply(release, self.stored.as_ref(), manifest) {
            Ok(merged) => merged,
            Err(mistake) => {
                return self.submitted(Admission::unmergeable(release, manifest, mistake));
            }
        };
        let missing = operator::missing(&self.objects, None);
        let operation = match &self.stored {
            Some(old) => Operation::Update { old, missing: &missing },
            None => Operation::Create,
        };
        let mut admission = admission::admit(release, inventory, &submitted, operation);
        // The server converts the object for the owners of fields in another version, before it asks a webhook.
        if admission.reason == Some(Reason::GoDecode)
            && let Some(version) = self.managed.other_version(version_of(manifest))
        {
            admission.causes.iter_mut().for_each(|cause| cause.stage = Stage::Schema);
            admission.message = format!(
                "conversion webhook for {}/{version}, Kind={} failed: {}",
                admission::GROUP,
                admission::KIND,
                admission.message
            );
        }
        let after = if admission.accepted || admission.forced.is_some() { managed } else { self.managed.clone() };
        Self { managed: after, ..self.clone() }.submitted(admission)
    }

    /// Applying a manifest that changes nothing sends no request, so nothing can reject it.
    fn nothing_sent(&self, stored: &Value, mut live: Value) -> Step {
        let mut step = self.reconciled(stored.clone(), &Additions::default(), Orphans::Deleted);
        if let Value::Object(live) = &mut live {
            live.remove("status");
        }
        step.plan.admission = Admission { accepted: true, stored: Some(live), ..Admission::default() };
        step
    }

    /// The step that follows from a manifest's admission.
    fn submitted(&self, admission: Admission) -> Step {
        let Some(stored) = &admission.stored else {
            return self.clone().unchanged(admission);
        };
        let mut stored = hyperconverged::in_storage_version(&self.release, stored);
        if let Some(old) = &self.stored {
            stored["status"] = old["status"].clone();
        }
        let mut step = self.reconciled(stored, &Additions::default(), Orphans::Deleted);
        step.plan.admission = admission;
        step
    }

    /// The step as if the webhook or policy hadn't rejected it; the same step if nothing was rejected, or the object
    /// can't be stored at all.
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

    /// Replaces the cluster's nodes and other declared facts.
    #[must_use]
    pub fn nodes(&self, inventory: Arc<Inventory>) -> Step {
        let state = Self { inventory, ..self.clone() };
        match &self.stored {
            Some(stored) => state.reconciled(stored.clone(), &Additions::default(), Orphans::Deleted),
            None => state.unchanged(Admission::default()),
        }
    }

    /// Upgrades HCO to the next release; callers reach later ones release by release.
    #[must_use]
    pub fn upgrade(&self, release: &Arc<Release>) -> Step {
        let state = Self { release: Arc::clone(release), ..self.clone() };
        match &self.stored {
            Some(stored) => upgrade::upgrade(&self.release, state, stored),
            None => state.unchanged(Admission::default()),
        }
    }

    /// Upgrades HCO release by release, see [`path`]; returns all steps.
    #[must_use]
    pub fn upgrade_over(&self, to: &Arc<Release>) -> Vec<Step> {
        let mut out: Vec<Step> = Vec::new();
        for release in path(&self.release, to) {
            let before = out.last().map_or(self, |step| &step.after);
            out.push(before.upgrade(&release));
        }
        out
    }

    /// The step of a cluster in which HCO reconciles nothing.
    fn unchanged(self, admission: Admission) -> Step {
        Step {
            plan: Plan::rejected(&self.release, &self.inventory, admission),
            after: self,
            operator_updates: Vec::new(),
            objects: Vec::new(),
        }
    }

    /// The operator reconciles `stored`. The state has the previous objects.
    fn reconciled(&self, stored: Value, additions: &Additions, orphans: Orphans) -> Step {
        let (release, inventory) = (&self.release, &self.inventory);
        let mut result =
            operator::reconcile_until_stable(release, inventory, stored, (&self.objects, &self.managed), additions);
        result.plan.render_ssp_after(release, inventory, self.objects.iter());
        let error = result.plan.reconcile_error.as_ref();
        let panics_first = error.is_some_and(operands::Error::is_panic) && release.has("renders-all-operands-first");
        let after = if result.plan.ignored || panics_first {
            self.objects.started(&result.plan)
        } else {
            self.objects.after_plan(&result.plan, orphans)
        };
        let imports = self.imports.after(&self.objects.bodies(), &after.bodies());
        Step {
            objects: self.objects.changes(&after, &result.plan),
            after: Self {
                stored: Some(result.stored),
                objects: after,
                imports,
                managed: result.managed,
                ..self.clone()
            },
            plan: result.plan,
            operator_updates: result.operator_updates,
        }
    }
}

#[cfg(test)]
mod golden_images;
#[cfg(test)]
mod properties;
