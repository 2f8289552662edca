//! The operator's reconciles of a HyperConverged, until nothing changes.

use super::Plan;
use crate::admission;
use crate::boot_images::{self, GoldenImages, HcoStage};
use crate::hyperconverged::HyperConverged;
use crate::inventory::Inventory;
use crate::jsonpatch;
use crate::operands::{self, Context, Rendered, Renderer, TlsProfile};
use crate::prelude::*;
use crate::release::Release;
use crate::topology::Topology;
use std::slice;

/// A patch may change the HyperConverged. The operator only stores that in the round that adds its finalizer, so the
/// second round is the last with new input.
const MAX_RECONCILES: usize = 2;

/// The operator's inputs other than the HyperConverged.
#[derive(Clone, Copy)]
struct Cluster<'a> {
    release: &'a Release,
    inventory: &'a Inventory,
    topology: &'a Topology,
}

/// HCO's stage of the golden images, or its error.
type Images = Result<Arc<HcoStage>, boot_images::TemplateError>;

/// What the operator's rounds leave behind that no object shows.
pub(super) struct Memory {
    /// Whether a reconcile reported a status; a panic in the first one prevents that.
    pub(super) reports: bool,
    /// The APIServer's profile in the operator's memory, changed by patches.
    cluster_profile: Option<Value>,
}

impl Memory {
    /// The cluster as the webhook sees it after rendering the same operands.
    pub(super) fn inventory<'a>(&self, declared: &'a Inventory) -> Cow<'a, Inventory> {
        match &self.cluster_profile {
            None => Cow::Borrowed(declared),
            Some(profile) => Cow::Owned(Inventory { tls_security_profile: Some(profile.clone()), ..declared.clone() }),
        }
    }
}

impl Plan {
    /// Reconciles a HyperConverged until nothing changes. `writes`: whether the operator stores what it fills in;
    /// `schedule_before`: the previous `status.dataImportSchedule`.
    pub(super) fn reconcile(
        &mut self,
        (release, inventory): (&Release, &Inventory),
        mut hc: HyperConverged,
        writes: bool,
        schedule_before: Option<&str>,
    ) -> Memory {
        let topology = &self.topology;
        let cluster = Cluster { release, inventory, topology };
        let mut written = Vec::new();
        if writes {
            admission::fill_eviction_strategy(&mut hc, topology);
            if let Some((path, custom)) = TlsProfile::completed(release, &hc) {
                hc.set(&path, custom.clone());
                written.push((path, custom));
            }
            written.extend(boot_images::write_schedules(release, inventory, &mut hc, schedule_before));
        }
        let schedule = inventory.data_import_schedule.as_deref();
        let golden_images = |hc: &_| {
            let images = GoldenImages::of(release, hc, topology, schedule).render();
            images.map(Arc::new)
        };
        let mut images = golden_images(&hc);
        let shared = cluster.shared_profile(&hc);
        if let Some(profile) = &shared {
            hc.set(HyperConverged::TLS_PROFILE, profile.clone());
        }

        let mut rendered = Rendered::default();
        let mut patched = None;
        let mut reports = true;
        for round in 0..MAX_RECONCILES {
            let next = cluster.render_in_one_reconcile(&hc, &images);
            let panics = next.error.as_ref().is_some_and(operands::Error::is_panic);
            if round > 0 && panics {
                // Objects of earlier rounds stay.
                rendered.error = next.error;
                break;
            }
            rendered = next;
            reports = !panics;
            let changes = jsonpatch::write_through(release, &hc, &rendered.patched);
            patched.get_or_insert_with(|| std::mem::take(&mut rendered.patched));
            if changes.is_empty() {
                break;
            }
            let is_of_cluster = |path: &str| shared.is_some() && path.starts_with(HyperConverged::TLS_PROFILE);
            let before = hc.spec.clone();
            for (path, value) in changes {
                let of_cluster = is_of_cluster(&path);
                if of_cluster || writes {
                    hc.set(&path, value.clone());
                }
                if writes && !of_cluster && round == 0 {
                    written.push((path, value));
                }
            }
            if hc.spec == before {
                break;
            }
            // SSP's patch may have changed the gate for multiple architectures.
            images = golden_images(&hc);
        }
        rendered.patched = patched.unwrap_or_default();
        let cluster_profile = shared.and_then(|_| hc.remove(HyperConverged::TLS_PROFILE));
        self.golden_images = images.ok();
        self.written = written;
        self.set_rendered(hc, rendered);
        Memory { reports, cluster_profile }
    }
}

impl Cluster<'_> {
    /// The APIServer's profile, in releases whose operands share the operator's copy: a patch then changes it for all
    /// later operands, until the operator restarts.
    fn shared_profile(&self, hc: &HyperConverged) -> Option<Value> {
        let has_patch = || hc.annotations.keys().any(|a| jsonpatch::is_annotation(a));
        let is_shared = self.release.has("shares-cluster-tls-profile")
            && hc.get(HyperConverged::TLS_PROFILE).is_none()
            && has_patch();
        is_shared.then(|| TlsProfile::of_cluster(self.release, self.inventory)).flatten()
    }

    /// Renders one reconcile: an operand sees the changes that patches of earlier operands made.
    fn render_in_one_reconcile(&self, hc: &HyperConverged, images: &Images) -> Rendered {
        let (release, inventory, topology) = (self.release, self.inventory, self.topology);
        let templates = || HcoStage::for_ssp(images);
        let renderer = Renderer::Operator;
        let cx = Context::new(release, inventory, topology, hc, templates(), renderer);
        let mut rendered = operands::render_all(&cx);
        if rendered.patched.is_empty() {
            return rendered;
        }
        let mut hc = hc.clone();
        let mut handled = 0;
        while let Some(patched) = rendered.patched.get(handled) {
            handled += 1;
            let before = hc.spec.clone();
            let kind = patched.kind;
            for (path, value) in jsonpatch::write_through(release, &hc, slice::from_ref(patched)) {
                hc.set(&path, value);
            }
            let patched = rendered.objects.iter().find(|(_, o)| o.id.kind == kind);
            let Some(name) = patched.map(|(name, _)| *name).filter(|_| hc.spec != before) else {
                continue;
            };
            let cx = Context::new(release, inventory, topology, &hc, templates(), renderer);
            let later = operands::render_after(&cx, name);
            let panics = later.error.as_ref().is_some_and(operands::Error::is_panic);
            if panics && release.has("renders-all-operands-first") {
                return later;
            }
            let last = rendered.objects.iter().rposition(|(operand, _)| *operand == name);
            rendered.objects.truncate(last.map_or(0, |last| last + 1));
            rendered.objects.extend(later.objects);
            rendered.patched.truncate(handled);
            rendered.patched.extend(later.patched);
            rendered.error = later.error;
        }
        rendered
    }
}
