//! The planner's pure function.
//!
//! `plan(release, inventory, hyperconverged) -> Plan` computes the admission verdict, the stored object, the operators'
//! objects and the reported status. It reads no file, clock or environment. Callers use it for both sides of a diff,
//! each step of an upgrade, and once per input leaf to find a line's effect.

mod alerts;
mod operator_update;
mod reconcile;
mod status;

use crate::admission::Admission;
use crate::hyperconverged::{HyperConverged, version_of};
use crate::inventory::Inventory;
use crate::prelude::*;
use crate::release::Release;

pub use alerts::PREDICTED as PREDICTED_ALERTS;
pub use operator_update::{with_status, write};
pub use status::{Condition, Status};

use hcoplan_kubernetes::tree::get;

use crate::boot_images::HcoStage;
use crate::boot_images::ssp_stage::{self, Existing, SspStage};
use crate::jsonpatch::{self, Patched};
use crate::operands::{self, Context, Rendered, Renderer};
use crate::topology::Topology;
use crate::{admission, admission::Operation};

/// The only name of a HyperConverged that the operator reconciles. The schema's pattern isn't anchored, so others are
/// accepted.
const NAME: &str = "kubevirt-hyperconverged";

/// The prediction for a HyperConverged in a cluster.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The admission verdict.
    pub admission: Admission,
    /// The HyperConverged as the operator reads it; `None` if it was rejected before that.
    pub hyperconverged: Option<HyperConverged>,
    /// The facts that HCO derives from the nodes.
    pub topology: Topology,
    /// The status that HCO reports on the HyperConverged.
    pub status: Status,
    /// The gauges that the alerts use: a number, or a list of `{labels, value}`.
    pub metrics: Map<String, Value>,
    /// Whether the operator ignores it because of its name.
    pub ignored: bool,
    /// The error that ended the operator's reconcile.
    pub reconcile_error: Option<operands::Error>,
    /// SSP's objects; `None` if there is no SSP.
    pub ssp: Option<Arc<SspStage>>,
    /// The golden images after HCO's stage; `None` if they couldn't be rendered.
    pub golden_images: Option<Arc<HcoStage>>,
    /// The patched operands, before and after their patch, in the operator's first round: rendered from the
    /// HyperConverged as written. In the second round `before` includes values that a patch wrote into the
    /// HyperConverged.
    pub patched: Vec<Patched>,
    /// What the operator's update writes into the HyperConverged in addition to finalizer, label and eviction strategy:
    /// dotted paths below `spec` in v1's shape. Empty if there is no update, or it is rejected.
    pub written: Vec<(String, Value)>,
    /// The rejection of the operator's update of a new HyperConverged, if it is rejected. Every reconcile tries it
    /// again; finalizer, label and filled-in values are never stored.
    pub rejected_update: Option<Box<Admission>>,
    /// HCO's operands with their name, in the operator's order of work; SSP's objects are in `ssp`.
    pub operands: Vec<(&'static str, Object)>,
}

/// How the HyperConverged is admitted before it is planned.
#[derive(Debug, Clone, Copy, Default)]
pub enum AdmissionMode {
    /// Creates a new object; a rejected one renders nothing.
    #[default]
    Create,
    /// Creates a new object; it is rendered even if a webhook rejects it.
    Force,
    /// Uses the object unchanged: no checks, mutation or defaults.
    AsIs,
    /// Uses an object from etcd, in the release's storage version.
    Stored {
        /// Whether the operator updates the object, because it has no finalizer or label yet.
        operator_updates: bool,
    },
    /// Prunes, defaults and mutates a new object, but never rejects it: to try the object without one of its parts,
    /// which may be required.
    Unchecked,
}

impl AdmissionMode {
    /// Whether the object is new in the cluster.
    fn creates(self) -> bool {
        matches!(self, Self::Create | Self::Force)
    }
}

impl Plan {
    /// The empty plan of a rejected or missing HyperConverged.
    pub fn rejected(release: &Release, inventory: &Inventory, admission: Admission) -> Self {
        Self::new(admission, Topology::new(release, inventory, None))
    }

    /// A plan without objects and status.
    fn new(admission: Admission, topology: Topology) -> Self {
        Self {
            admission,
            hyperconverged: None,
            topology,
            status: Status::default(),
            metrics: Map::new(),
            ignored: false,
            reconcile_error: None,
            ssp: None,
            golden_images: None,
            patched: Vec::new(),
            written: Vec::new(),
            rejected_update: None,
            operands: Vec::new(),
        }
    }

    /// Whether it is accepted and reconciled without an error.
    pub fn succeeds(&self) -> bool {
        self.admission.accepted && !self.ignored && self.reconcile_error.is_none()
    }

    /// All planned objects: HCO's operands, then SSP's.
    pub fn objects(&self) -> impl Iterator<Item = &Object> {
        let ssp = self.ssp.iter().flat_map(|s| s.objects.iter());
        let operands = self.operands.iter().map(|(_, object)| object);
        operands.chain(ssp.map(|rendered| &rendered.object))
    }

    /// Renders SSP's objects again in a cluster that has `objects`.
    pub(crate) fn render_ssp_after<'o>(
        &mut self,
        release: &Release,
        inventory: &Inventory,
        objects: impl Iterator<Item = &'o Object>,
    ) {
        // Without a claim of its own name, a DataSource doesn't depend on the previous one.
        if let Some(ssp) = self.operand("SSP").filter(|_| self.ssp.is_some() && !inventory.claims.is_empty()) {
            self.ssp = Some(render_ssp(ssp, release, inventory, objects));
        }
    }

    /// The alerts of HCO that would fire, sorted by name.
    pub fn alerts(&self) -> Vec<&'static str> {
        alerts::of(&self.metrics)
    }

    /// The operand of a kind that occurs once (`KubeVirt`, `CDI`, `SSP`).
    pub fn operand(&self, kind: &str) -> Option<&Value> {
        let found = self.operands.iter().find(|(_, o)| o.id.kind == kind);
        found.map(|(_, object)| object.body.as_ref())
    }
}

/// Plans the creation of an object in the cluster.
pub fn plan(release: &Release, inventory: &Inventory, hyperconverged: &Value) -> Plan {
    plan_with(release, inventory, hyperconverged, AdmissionMode::Create)
}

/// [`Plan::succeeds`] of the object's [`plan`], without computing SSP's objects, status and metrics.
pub fn succeeds(release: &Release, inventory: &Inventory, hyperconverged: &Value) -> bool {
    reconcile(release, inventory, hyperconverged, AdmissionMode::Create).is_ok_and(|(plan, _)| plan.succeeds())
}

/// [`plan`], with a choice about admission.
pub fn plan_with(release: &Release, inventory: &Inventory, hyperconverged: &Value, mode: AdmissionMode) -> Plan {
    match reconcile(release, inventory, hyperconverged, mode) {
        Ok((plan, reports)) => plan.completed(release, inventory, reports),
        Err(rejected) => Plan::rejected(release, inventory, *rejected),
    }
}

/// Runs admission and reconciles until nothing changes: the plan without SSP's objects, status and metrics, and whether a
/// reconcile reported a status.
///
/// The rejection, if there is nothing to reconcile.
fn reconcile(
    release: &Release,
    inventory: &Inventory,
    hyperconverged: &Value,
    mode: AdmissionMode,
) -> Result<(Plan, bool), Box<Admission>> {
    let mut admission = match mode {
        AdmissionMode::AsIs | AdmissionMode::Stored { .. } => accepted(hyperconverged),
        AdmissionMode::Unchecked => match admission::stored_if_accepted(release, inventory, hyperconverged) {
            Some(stored) => accepted(&stored),
            None => Admission::default(),
        },
        _ => Admission::of_new(release, inventory, hyperconverged)
            .unwrap_or_else(|| admission::admit(release, inventory, hyperconverged, Operation::Create)),
    };
    let stored = match mode {
        AdmissionMode::Force => admission.stored.as_ref().or(admission.forced.as_ref()),
        _ => admission.stored.as_ref(),
    };
    let known = admission.read.take();
    let known = known.map(|read| read.once_stored(release));
    let Some(hc) = known.or_else(|| stored.map(|stored| HyperConverged::from_stored(release, stored))) else {
        return Err(Box::new(admission));
    };
    let topology = Topology::new(release, inventory, hc.workload_placement());
    let is_accepted = admission.accepted && !matches!(mode, AdmissionMode::Unchecked);
    if is_accepted && !hc.name.is_empty() && hc.name != NAME {
        let no_images = Arc::default();
        let cx = Context::new(release, inventory, &topology, &hc, Ok(&no_images), Renderer::Operator);
        let rendered = operands::of_start(&cx);
        let mut plan = Plan { ignored: true, ..Plan::new(admission, topology) };
        plan.set_rendered(hc, rendered);
        return Ok((plan, false));
    }
    let writes = match (mode, stored) {
        (AdmissionMode::Stored { operator_updates: writes }, _) => writes,
        (_, Some(stored)) => !admission::is_complete(stored),
        (_, None) => true,
    };
    let schedule = stored.and_then(|stored| get(stored, "status.dataImportSchedule")).and_then(Value::as_str);
    let schedule = schedule.map(ToOwned::to_owned);
    let mut plan = Plan::new(admission, topology);
    let mut memory = plan.reconcile((release, inventory), hc.clone(), writes, schedule.as_deref());
    let panics = plan.reconcile_error.as_ref().is_some_and(operands::Error::is_panic);
    if writes && !panics && plan.admission.accepted && mode.creates() {
        plan.rejected_update = plan.rejection_of_update(release, &memory.inventory(inventory));
    }
    if writes && (panics || plan.rejected_update.is_some()) {
        memory = plan.reconcile((release, inventory), hc, false, schedule.as_deref());
    }
    Ok((plan, memory.reports))
}

fn render_ssp<'o>(
    ssp: &Value,
    release: &Release,
    inventory: &Inventory,
    objects: impl Iterator<Item = &'o Object>,
) -> Arc<SspStage> {
    let bundle = release.ssp();
    let existing = Existing::new(&inventory.claims, objects, &bundle.golden_images_namespace);
    Arc::new(ssp_stage::render(ssp, bundle, &existing))
}

fn accepted(stored: &Value) -> Admission {
    Admission { accepted: true, stored: Some(stored.clone()), ..Admission::default() }
}

impl Plan {
    fn set_rendered(&mut self, hyperconverged: HyperConverged, rendered: Rendered) {
        self.hyperconverged = Some(hyperconverged);
        self.operands = rendered.objects;
        self.reconcile_error = rendered.error;
        self.patched = rendered.patched;
    }

    /// Adds SSP's objects, the status and the metrics.
    fn completed(mut self, release: &Release, inventory: &Inventory, reports: bool) -> Self {
        let Some(hyperconverged) = &self.hyperconverged else { return self };
        let ssp = self.operand("SSP").map(|ssp| render_ssp(ssp, release, inventory, std::iter::empty()));
        let error = self.reconcile_error.as_ref();
        // The first reconcile doesn't know of a panic in a later one.
        let reconciled = error.is_none_or(|error| error.is_panic() && reports);
        let listed = self.golden_images.as_deref().filter(|_| reconciled && ssp.is_some());
        let patches = jsonpatch::counts(&hyperconverged.annotations);
        let status = if !reports && self.ignored {
            status::ignored(inventory, &patches)
        } else if !reports {
            let stored = self.admission.stored.as_ref();
            status::initial_status(release, stored.map_or("v1", version_of))
        } else {
            status::of(release, inventory, &self.topology, &patches, listed, error)
        };
        let metrics = if reports {
            alerts::gauges(inventory, hyperconverged, &patches, listed)
        } else if self.ignored {
            alerts::gauges_if_ignored(inventory, &patches)
        } else if release.has("renders-all-operands-first") {
            alerts::gauges_before_reconcile(inventory)
        } else {
            alerts::gauges(inventory, hyperconverged, &patches, None)
        };
        (self.ssp, self.status, self.metrics) = (ssp, status, metrics);
        self
    }
}

#[cfg(test)]
pub(crate) mod properties;

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn with_patches(patches: Value) -> Value {
        json!({
            "apiVersion": "hco.kubevirt.io/v1beta1",
            "kind": "HyperConverged",
            "metadata": {
                "name": "kubevirt-hyperconverged",
                "namespace": "kubevirt-hyperconverged",
                "annotations": patches,
            },
            "spec": {},
        })
    }

    #[test]
    fn patch_changes_other_operands() {
        let patch = json!([{"op": "replace", "path": "/spec/certConfig",
            "value": {"ca": {"duration": "99h"}}}]);
        let hc = with_patches(json!({
            "containerizeddataimporter.kubevirt.io/jsonpatch": patch.to_string()}));
        for name in Release::known_names() {
            let release = Release::known(name).expect("known");
            let plan = plan(&release, &Inventory::default(), &hc);
            let kubevirt = plan.operand("KubeVirt").expect("rendered");
            let duration = "/spec/certificateRotateStrategy/selfSigned/ca/duration";
            assert_eq!(kubevirt.pointer(duration), Some(&json!("99h0m0s")), "{name}");
        }
    }

    #[test]
    fn kubevirts_webhook_accepts_rendered_objects() {
        for name in Release::known_names() {
            let release = Release::known(name).expect("known");
            let plan = plan(&release, &Inventory::default(), &with_patches(json!({})));
            let kubevirt = plan.operand("KubeVirt").expect("rendered");
            let empty = json!({});
            let facts = release.kubevirt();
            let found = admission::kubevirt_rejections(facts, &empty, kubevirt);
            assert_eq!(found, [], "{name}");
        }
    }

    #[test]
    fn patch_of_ssp_changes_the_shared_gate() {
        let patch = json!([{"op": "replace", "path": "/spec/enableMultipleArchitectures",
            "value": true}]);
        let hc = with_patches(json!({"ssp.kubevirt.io/jsonpatch": patch.to_string()}));
        for (name, shared) in [("1.16", true), ("1.17", true), ("1.18", true), ("1.19", false)] {
            let release = Release::known(name).expect("known");
            let plan = plan(&release, &Inventory::default(), &hc);
            let ssp = plan.operand("SSP").expect("rendered");
            assert_eq!(ssp["spec"]["enableMultipleArchitectures"], true, "{name}");
            let hc = plan.hyperconverged.as_ref().expect("accepted");
            assert_eq!(hc.multi_arch(), shared, "{name}");
            // Without nodes no image has a matching architecture.
            let images = &ssp["spec"]["commonTemplates"]["dataImportCronTemplates"];
            let offered = images.as_array().is_some_and(|images| !images.is_empty());
            assert_eq!(offered, !shared, "{name}");
        }
    }
}
