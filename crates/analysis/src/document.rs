//! The JSON document of `render --format json` for a cluster.

use crate::prelude::*;
use hcoplan_kubernetes::{ObjectId, tree};
use hcoplan_planner::cause::Stage;
use serde_json::Map;

/// Borrows the plan, since objects can be large and many.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    cluster: &'a str,
    release: &'a str,
    admission: Admission<'a>,
    hyperconverged: Option<&'a Value>,
    status: Status<'a>,
    metrics: &'a Map<String, Value>,
    reconcile_errors: Vec<ReconcileError<'a>>,
    ssp: Option<Ssp<'a>>,
    objects: Vec<&'a Value>,
}

#[derive(Debug, Serialize)]
struct Admission<'a> {
    accepted: bool,
    stage: Option<&'static str>,
    message: &'a str,
    warnings: &'a [String],
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Status<'a> {
    node_info: Option<&'a Map<String, Value>>,
    data_import_schedule: Option<&'a str>,
    data_import_cron_templates: Option<&'a [Value]>,
    conditions: BTreeMap<&'static str, Condition<'a>>,
}

#[derive(Debug, Serialize)]
struct Condition<'a> {
    status: &'static str,
    reason: &'static str,
    message: &'a str,
}

#[derive(Debug, Serialize)]
struct ReconcileError<'a> {
    operand: &'a str,
    message: &'a str,
}

#[derive(Debug, Serialize)]
struct Ssp<'a> {
    admission: SspAdmission<'a>,
}

#[derive(Debug, Serialize)]
struct SspAdmission<'a> {
    accepted: bool,
    message: &'a str,
}

/// The JSON line for a cluster: admission, the stored HyperConverged, status, metrics, reconcile error, SSP's verdict,
/// and the selected objects. `upgraded` is the state after an upgrade: then the HyperConverged and the objects are
/// those in etcd.
pub fn plan_document(
    cluster: &str,
    release: &str,
    plan: &Plan,
    upgraded: Option<&State>,
    wanted: impl Fn(&ObjectId) -> bool,
) -> String {
    let admission = &plan.admission;
    let mut stored = upgraded.and_then(|state| state.stored.clone());
    if let Some(stored) = &mut stored {
        tree::remove(stored, "status");
    }
    let objects: Vec<&Object> = match upgraded {
        Some(state) => state.objects.iter().collect(),
        None => plan.objects().collect(),
    };
    let document = Document {
        cluster,
        release,
        admission: Admission {
            accepted: admission.accepted,
            stage: admission.stage().map(Stage::as_str),
            message: &admission.message,
            warnings: &admission.warnings,
        },
        hyperconverged: match &stored {
            Some(stored) => Some(stored),
            None => admission.stored.as_ref().filter(|_| admission.accepted),
        },
        status: status(plan),
        metrics: &plan.metrics,
        reconcile_errors: plan
            .reconcile_error
            .iter()
            .map(|e| ReconcileError {
                // A panic belongs to the reconcile, not to an operand.
                operand: if e.is_panic() { "" } else { e.operand },
                message: &e.message,
            })
            .collect(),
        ssp: plan.ssp.as_ref().map(|ssp| Ssp {
            admission: SspAdmission { accepted: ssp.admission.accepted, message: &ssp.admission.message },
        }),
        objects: objects.into_iter().filter(|o| wanted(&o.id)).map(|o| &*o.body).collect(),
    };
    let mut line = serde_json::to_string(&document).expect("every key is a string");
    line.push('\n');
    line
}

fn status(plan: &Plan) -> Status<'_> {
    let status = &plan.status;
    let conditions = status.conditions.iter().map(|(name, c)| {
        let body = Condition { status: c.status, reason: c.reason, message: &c.message };
        (*name, body)
    });
    Status {
        node_info: status.node_info.as_ref(),
        data_import_schedule: status.data_import_schedule.as_deref(),
        data_import_cron_templates: status.data_import_cron_templates.as_deref(),
        conditions: conditions.collect(),
    }
}
