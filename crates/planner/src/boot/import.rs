//! The architecture of a disk that CDI imports.
//!
//! Source: CDI `pkg/importer/transport.go` (`buildSourceContext`, `validateImagePlatformMatch`) and
//! `pkg/controller/import-controller.go` (`createImporterPod`, `setRegistryNodeImportNodeSelector`): with
//! `platform.architecture` CDI asks the registry for it, and fails where the image lacks it; without it, the importer's
//! own architecture counts, and an image that isn't a manifest list is taken as it is. Importer pods are placed by CDI's
//! `spec.workload`, which HCO copies from its workload placement. The same at v1.63.1, v1.64.0, v1.65.0 and v1.66.0.

use super::Architectures;
use crate::inventory::Architecture;
use crate::inventory::{Inventory, Node};
use crate::plan::Plan;
use crate::prelude::*;
use crate::topology::{Selection, Tolerations};

/// The architectures of the nodes that CDI's importer pods may run on; that of all nodes where none takes them now;
/// empty where no node's is known.
pub fn importer_architectures(plan: &Plan, inventory: &Inventory) -> BTreeSet<String> {
    let placement = plan.operand("CDI").map_or(&Value::Null, |cdi| &cdi["spec"]["workload"]);
    let selection = Selection::of(placement);
    let tolerations = Tolerations::of(placement);
    let of = |takes: &dyn Fn(&&Node) -> bool| -> BTreeSet<String> {
        let nodes = inventory.nodes.iter().filter(takes);
        nodes.map(|n| n.architecture.clone()).filter(|a| !a.is_empty()).collect()
    };
    let all = of(&|_| true);
    let own = of(&|n| selection.as_ref().is_none_or(|s| s.selects(n)) && tolerations.admit(n));
    if own.is_empty() && all.len() == 1 { all } else { own }
}

/// The architecture of the disk that CDI imports from a `source` of a DataVolume or a DataImportCron. `image` has the
/// architectures of the source's image, one of several where that is undetermined, `importers` those of [`importer_architectures`].
pub fn imported(source: &Value, image: &Architectures, importers: &BTreeSet<String>) -> Architectures {
    let Some(registry) = source.get("registry").filter(|r| r.is_object()) else {
        return Architectures::Unknown;
    };
    // The import works for the image's own architecture only, which isn't known.
    if matches!(image, Architectures::Undetermined(_)) {
        return Architectures::Unknown;
    }
    let pin = registry.pointer("/platform/architecture").and_then(Value::as_str);
    let is_built = matches!(image, Architectures::Built(_));
    let none = || if is_built { Architectures::Built(BTreeSet::new()) } else { Architectures::none() };
    if let Some(pin) = pin.filter(|p| !p.is_empty()) {
        // Images and nodes have Go's names only.
        let exists = Architecture::of(pin) == Architecture::Known && !image.lacks(pin);
        return if exists { Architectures::one(pin) } else { none() };
    }
    match image {
        // An image of one architecture imports as that one on every node, or the import fails.
        Architectures::Known(available) | Architectures::Built(available) if available.len() == 1 => image.clone(),
        _ if importers.is_empty() => Architectures::Unknown,
        Architectures::Known(available) | Architectures::Built(available) => match available & importers {
            common if common.is_empty() => none(),
            common => Architectures::one_of(common),
        },
        _ => Architectures::one_of(importers.clone()),
    }
}
