//! The validating webhook's trial rendering of the operands. It runs in a separate pod, without the operator's
//! environment, and examines no nodes.

use super::shape::{Shape, at, list, text};
use super::{Operation, Reason, Rejection};
use crate::boot_images::{GoldenImages, HcoStage};
use crate::hyperconverged::{HyperConverged, version_of};
use crate::hyperconverged::{Submitted, path_in};
use crate::inventory::Inventory;
use crate::jsonpatch;
use crate::operands::{self, Context, Cr, ROWS};
use crate::prelude::*;
use crate::release::{Platform, Release};
use crate::topology::Topology;
use std::cell::OnceCell;

/// Read by the tuning policy `annotation`.
const TUNING_ANNOTATION: &str = "hco.kubevirt.io/tuningPolicy";

/// Inputs of the rendering other than the object.
pub(super) struct DryRun<'a> {
    pub(super) release: &'a Release,
    pub(super) inventory: &'a Inventory,
    /// The object as the webhook reads it.
    pub(super) read: OnceCell<Submitted>,
}

/// The operand CRs of the trial: those that an annotation can patch.
fn tried() -> impl Iterator<Item = &'static Cr> {
    ROWS.crs.iter().filter(|cr| jsonpatch::annotation_of(cr.kind).is_some())
}

/// Kinds of the operand CRs that the webhook reads when a HyperConverged is updated.
pub fn tried_on_update() -> impl Iterator<Item = &'static str> {
    tried().map(|cr| cr.kind)
}

/// Renders KubeVirt, CDI, NetworkAddonsConfig and SSP in this order from one object: what a patch writes into the
/// HyperConverged is visible to later ones. An update needs the existing operand CRs, and skips SSP on plain
/// Kubernetes. One rejection per operand that can't be rendered, or the first.
pub(super) fn rejections(
    object: &Value,
    shape: Shape<'_>,
    operation: Operation<'_>,
    dry_run: &DryRun<'_>,
    stop_at_first: bool,
) -> Vec<Rejection> {
    let mut out = Vec::new();
    let (release, inventory) = (dry_run.release, dry_run.inventory);
    let read = || HyperConverged::from_submitted(release, object);
    let mut hc = Cow::Borrowed(&dry_run.read.get_or_init(read).read);
    let known = Known::of(release, inventory, operation);
    for cr in tried() {
        let kind = cr.kind;
        let is_update = matches!(operation, Operation::Update { .. });
        if is_update && kind == "SSP" && inventory.platform == Platform::Kubernetes {
            continue;
        }
        if let Operation::Update { missing, .. } = operation
            && missing.contains(&kind)
        {
            let message = format!("{} not found", cr.resource());
            out.push(Rejection::new(Reason::OperandMissing, message).at(Path::root()));
            return out;
        }
        let images = match kind {
            "SSP" if reads_golden_images(&hc) => {
                GoldenImages::of(release, &hc, &known.by_nodes, known.schedule).render().map(Arc::new)
            }
            _ => Ok(Arc::default()),
        };
        let templates = HcoStage::for_ssp(&images);
        let renderer = operands::Renderer::Webhook;
        let topology = match kind {
            "SSP" => &known.by_status,
            _ => &known.by_nodes,
        };
        let cx = Context::new(release, inventory, topology, &hc, templates, renderer);
        let patched = match operands::render_one(&cx, cr.operand) {
            Ok((_, patched)) => patched,
            Err(error) => {
                out.push(rejection(object, shape, &error));
                if stop_at_first {
                    return out;
                }
                continue;
            }
        };
        for (path, value) in jsonpatch::write_through(release, &hc, patched.as_slice()) {
            hc.to_mut().set(&path, value);
        }
    }
    out
}

/// What the webhook's pod knows of the cluster: only the status that the operator wrote earlier.
#[derive(Default)]
struct Known<'a> {
    /// Used as the nodes' architectures.
    by_nodes: Topology,
    /// The architectures passed to SSP.
    by_status: Topology,
    /// `status.dataImportSchedule`.
    schedule: Option<&'a str>,
}

impl<'a> Known<'a> {
    fn of(release: &Release, inventory: &Inventory, operation: Operation<'a>) -> Self {
        let Operation::Update { old, .. } = operation else {
            return Self::default();
        };
        let by_status = from_status(old);
        let status_replaces_nodes =
            inventory.platform == Platform::OpenShift && release.has("webhook-takes-nodes-from-status");
        let schedule = text(old, "status.dataImportSchedule");
        Self {
            by_nodes: if status_replaces_nodes { by_status.clone() } else { Topology::default() },
            by_status,
            schedule: Some(schedule).filter(|s| !s.is_empty()),
        }
    }
}

/// Whether golden images can fail the trial: the HyperConverged has some, or a patch of SSP.
fn reads_golden_images(hc: &HyperConverged) -> bool {
    let patch = jsonpatch::annotation_of("SSP");
    patch.is_some_and(|a| hc.annotations.contains_key(a)) || !hc.golden_images().is_empty()
}

/// The architectures in the operator's last status.
fn from_status(old: &Value) -> Topology {
    let architectures = |path: &str| {
        let names = list(old, path).iter().filter_map(Value::as_str);
        names.map(str::to_owned).collect()
    };
    Topology {
        control_plane_architectures: architectures("status.nodeInfo.controlPlaneArchitectures"),
        workload_architectures: architectures("status.nodeInfo.workloadsArchitectures"),
        ..Topology::default()
    }
}

fn rejection(object: &Value, shape: Shape<'_>, error: &operands::Error) -> Rejection {
    if error.is_panic() && error.operand == "KubeVirt" {
        let rejection = Rejection { panics: true, ..Rejection::new(Reason::TlsProfileUnknown, error.message.as_str()) };
        let profile = Path::dotted(shape.path("tls"));
        return match at(object, shape.path("tls")) {
            None => rejection.at(Path::root()),
            Some(own) if own.get("type").is_some() => rejection.at(profile.key("type")),
            Some(_) => rejection.at(profile),
        };
    }
    let rejection = Rejection { panics: error.is_panic(), ..Rejection::new(Reason::Render, error.message.as_str()) };
    let annotations = Path::dotted("metadata.annotations");
    if let Some(patch) = &error.patch {
        let mut rejection = rejection.at(annotations.key(patch.0));
        rejection.patch = Some(patch.clone());
        return rejection;
    }
    if let operands::ErrorKind::DuplicateTemplate(twice) = &error.kind {
        let templates = list(object, shape.path("templates"));
        if let Some(last) = templates.iter().rposition(|t| t["metadata"]["name"] == *twice.as_str()) {
            let path = Path::dotted(shape.path("templates")).index(last);
            return rejection.at(path.key("metadata").key("name"));
        }
    }
    let Some(field) = error.field else {
        return rejection;
    };
    let path = Path::dotted(&format!("spec.{}", path_in(version_of(object), field)));
    // The policy that reads an annotation is given in the same words where the annotation is wrong.
    let annotation = annotations.key(TUNING_ANNOTATION);
    let is_tuning = path == Path::dotted(shape.path("tuningPolicy"));
    rejection.at(if is_tuning && annotation.get(object).is_some() { annotation } else { path })
}
