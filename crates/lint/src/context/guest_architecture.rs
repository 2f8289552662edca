//! Determines the architecture of a virtual machine, and why.
//!
//! Source: KubeVirt's webhook for virtual machines (`pkg/virt-api/webhooks/mutating-webhook/mutators`,
//! `vm-mutator.go`), read at v1.6.6, v1.7.4, v1.8.4 and v1.9.0. A written architecture stays; otherwise the first of
//! these sets it:
//!
//! 1. the preference, from v1.7 on (`pkg/instancetype/webhooks/vm`: `mutateArch`): its `preferredArchitecture`. Until
//!    v1.6 a preference has no such field. A matcher that infers the preference from a volume is resolved before that.
//! 2. the first DataSource among the templates of its disks, through one reference, that has the label (`pkg/defaults`:
//!    `setDefaultArchitectureFromDataSource`). KubeVirt skips a missing one, and one for an architecture that it doesn't
//!    know.
//! 3. the default (`setDefaultArchitecture`): `status.defaultArchitecture` of the KubeVirt object. That is its spec's
//!    value, else the architecture that virt-operator was built for when it first looked (`pkg/virt-operator/util`:
//!    `runtime.GOARCH`).
//!
//! An instance without VirtualMachine and the instances of a replica set have neither preference nor templates: they
//! always get the default (`SetDefaultVirtualMachineInstanceSpec`).

use super::prelude::*;
use super::{Context, VirtualMachine};
use hcoplan_planner::boot::{Architectures, variant};
use hcoplan_planner::machines::{TypeKind, has_defect};
use hcoplan_planner::release::Phase;
use serde::Serialize;

/// The architectures supported by KubeVirt; its webhook rejects others.
pub const GUEST_ARCHITECTURES: [&str; 3] = ["amd64", "arm64", "s390x"];

/// The defect of versions that ignore DataSources.
const DATA_SOURCE_IGNORED: &str = "kubevirt-16432";

/// Since this capability virt-operator runs only on control-plane nodes.
const ON_CONTROL_PLANE: &str = "virt-operator-on-control-plane";

/// The words for reasons, by their names.
static REASONS: Rows<(&str, &str)> = Rows::of("architectureReasons");

/// Why a virtual machine has its architecture.
#[derive(Debug, Serialize)]
pub enum ArchitectureReason {
    /// The virtual machine sets it.
    Written,
    /// The preference with this name sets it.
    Preference(String),
    /// The label of the DataSource with this name sets it.
    DataSource(String),
    /// The KubeVirt object's default.
    Default,
    /// The default is virt-operator's own architecture.
    Operator,
}

/// The architecture of a virtual machine.
#[derive(Debug)]
pub struct GuestArchitecture {
    /// `None` if it depends on the node that runs virt-operator, or on undeclared facts.
    pub name: Option<String>,
    /// All possible architectures.
    pub possible: Architectures,
    /// The reason.
    pub because: ArchitectureReason,
}

impl GuestArchitecture {
    /// Whether it was chosen for this virtual machine.
    pub fn is_chosen(&self) -> bool {
        !matches!(self.because, ArchitectureReason::Default | ArchitectureReason::Operator)
    }

    /// The reason in words: `KubeVirt's default`.
    pub fn reason(&self) -> String {
        let (name, about) = variant(&self.because);
        REASONS.iter().find(|row| row.0 == name).map_or_else(String::new, |row| row.1.replace("{}", &about))
    }
}

/// A known DataSource.
#[derive(Debug, Clone, Default)]
pub struct KnownSource {
    /// The architecture of its label, which KubeVirt uses.
    pub label: Option<String>,
    /// The architecture of its disk; none if nothing provides one.
    pub image: Architectures,
    /// The address of the imported image.
    pub url: Option<String>,
    /// The referenced DataSource: namespace and name.
    pub leads_to: Option<(String, String)>,
    /// Whether it is a common golden image's that isn't imported, and that no declared claim replaces.
    pub is_not_imported: bool,
    /// Whether an import or a known volume fills it.
    pub is_filled: bool,
}

impl<'a> Context<'a> {
    /// The architecture that KubeVirt sets for a virtual machine.
    pub fn guest_architecture(&self, vm: &VirtualMachine<'_>) -> GuestArchitecture {
        let guest = |name: &str, because| GuestArchitecture {
            name: Some(name.to_owned()),
            possible: Architectures::one(Architecture::name(name).unwrap_or(name)),
            because,
        };
        if let Some(written) = vm.architecture().and_then(Node::as_str) {
            return guest(written, ArchitectureReason::Written);
        }
        if let Some((preference, architecture)) = self.preferred(vm) {
            return guest(&architecture, ArchitectureReason::Preference(preference));
        }
        let is_ignored = has_defect(self.release(), DATA_SOURCE_IGNORED);
        for reference in vm.template_sources().into_iter().filter(|_| !is_ignored) {
            let (namespace, name) = (reference.namespace, reference.name);
            let label = self.followed_data_source(namespace, name).and_then(|s| s.label);
            let known = label.filter(|l| GUEST_ARCHITECTURES.contains(&l.as_str()));
            if let Some(label) = known {
                return guest(&label, ArchitectureReason::DataSource(name.to_owned()));
            }
        }
        match self.default_architecture() {
            Some(default) => guest(default, ArchitectureReason::Default),
            None => {
                let possible = self.operator_architectures();
                let name = possible.only().map(str::to_owned);
                GuestArchitecture { name, possible, because: ArchitectureReason::Operator }
            }
        }
    }

    /// The control plane's architectures, if KubeVirt may reject a guest of another architecture: while the feature
    /// gate is alpha and disabled. If they are mixed, the virt-api pod's architecture decides.
    pub fn rejects_foreign(&self, guest: &GuestArchitecture) -> Option<&'a [String]> {
        const GATE: &str = "MultiArchitecture";
        let is_alpha = self.release().kubevirt_gate(GATE).is_some_and(|known| known.phase == Phase::Alpha);
        let is_off = is_alpha && !self.machine_cluster()?.has_gate(GATE);
        let control_plane = self.plan().topology.control_plane_architectures.as_slice();
        let name = guest.name.as_ref().filter(|_| guest.is_chosen() && is_off)?;
        (!control_plane.is_empty() && *control_plane != [name.as_str()]).then_some(control_plane)
    }

    /// A DataSource after following the one reference that KubeVirt and CDI follow; `None` if it or its target is
    /// unknown. CDI follows it in its own namespace, and only to a claim or snapshot.
    ///
    /// Source: CDI `ResolveDataSourceChain`.
    pub fn followed_data_source(&self, namespace: &str, name: &str) -> Option<KnownSource> {
        let known = self.known_source(namespace, name)?;
        let Some((to, target)) = &known.leads_to else {
            return Some(known);
        };
        let target = self.known_source(to, target)?;
        let is_followed = to == namespace && target.leads_to.is_none();
        Some(if is_followed { target } else { KnownSource { image: Architectures::none(), ..target } })
    }

    /// A DataSource created by SSP, created by CDI for one of SSP's DataImportCrons, or declared, also by a declared
    /// DataImportCron.
    pub fn known_source(&self, namespace: &str, name: &str) -> Option<KnownSource> {
        let key = (namespace.to_owned(), name.to_owned());
        let known = self.known.sources.borrow().get(&key).cloned();
        known.unwrap_or_else(|| {
            let known = self.find_source(namespace, name);
            self.known.sources.borrow_mut().insert(key, known.clone());
            known
        })
    }

    fn find_source(&self, namespace: &str, name: &str) -> Option<KnownSource> {
        let stage = self.plan().ssp.as_deref();
        let of_cron = stage.and_then(|stage| stage.cron_of(namespace, name));
        let url = of_cron.and_then(|cron| url_of(&cron.object.body["spec"]["template"]["spec"]["source"]));
        let cron = of_cron.map(|cron| self.cron_disk(cron));
        if let Some(rendered) = stage.and_then(|stage| stage.source(namespace, name)) {
            let mut known = KnownSource { url, ..of_json(&rendered.object.body) };
            let claim = rendered.object.body.pointer("/spec/source/pvc/name").and_then(Value::as_str);
            let is_declared = claim.is_some_and(|claim| self.has_claim(namespace, claim));
            known.is_filled = cron.is_some() || is_declared;
            if let Some(image) = cron {
                known.image = image;
            } else if claim.is_some() && !is_declared && self.is_imported(rendered) {
                // The image is imported under another name, so that nothing fills this claim.
                known.image = Architectures::none();
            } else {
                known.image = self.volume_behind(&rendered.object.body, namespace);
                known.is_not_imported = claim.is_some() && !is_declared && self.is_common(rendered);
            }
            return Some(known);
        }
        let declared = || {
            let source = json_of(self.cron_of(namespace, name)?.root.below("spec.template.spec.source"));
            Some((self.import_of(&source, namespace, &Architectures::Unknown), url_of(&source)))
        };
        if let Some((image, url)) = cron.map(|image| (image, url)).or_else(declared) {
            return Some(KnownSource { image, url, is_filled: true, ..KnownSource::default() });
        }
        let declared = self.named("DataSource", Some(namespace), name)?.root.to_json();
        let mut known = of_json(&declared);
        known.is_filled = ["pvc", "snapshot"].iter().any(|volume| declared["spec"]["source"][volume].is_object());
        known.image = match (self.volume_behind(&declared, namespace), &known.label) {
            (Architectures::Unknown, Some(label)) => Architectures::one(label),
            (image, _) => image,
        };
        Some(known)
    }

    /// Whether one of SSP's DataImportCrons imports the image of a template bundle's DataSource.
    fn is_imported(&self, source: &Rendered) -> bool {
        let Some(bundle) = &source.origin.bundle else {
            return false;
        };
        self.import_crons().any(|cron| {
            let managed = text(&cron.object.body["spec"]["managedDataSource"]);
            let suffix = managed.strip_prefix(bundle.as_str()).map(|suffix| suffix.trim_start_matches('-'));
            suffix.is_some_and(|suffix| suffix.is_empty() || GUEST_ARCHITECTURES.contains(&suffix))
        })
    }

    /// Whether the release has a common golden image for a template bundle's DataSource.
    fn is_common(&self, source: &Rendered) -> bool {
        let bundle = source.origin.bundle.as_deref();
        let mut common = self.release().golden_images().iter();
        bundle.is_some() && common.any(|image| image["spec"]["managedDataSource"].as_str() == bundle)
    }

    /// Whether a claim is known: the cluster has it, or the repository creates it, itself or by a DataVolume or a
    /// machine's disk template.
    pub fn has_claim(&self, namespace: &str, name: &str) -> bool {
        let mut kinds = ["PersistentVolumeClaim", "DataVolume"].iter();
        let key = (namespace.to_owned(), name.to_owned());
        self.inventory().claims.contains(&key)
            || self.disk_templates().contains_key(&key)
            || kinds.any(|kind| self.named(kind, Some(namespace), name).is_some())
    }

    /// The architectures of the nodes that can run virt-operator.
    pub fn operator_architectures(&self) -> Architectures {
        let topology = self.topology();
        let places: Vec<&str> = if self.release().has(ON_CONTROL_PLANE) {
            topology.control_plane_architectures.iter().map(String::as_str).collect()
        } else {
            self.node_architectures()
        };
        Architectures::one_of(places.into_iter().map(str::to_owned).collect())
    }

    /// The preference of a virtual machine with its preferred architecture: a declared one, or one deployed by
    /// KubeVirt.
    fn preferred(&self, vm: &VirtualMachine<'_>) -> Option<(String, String)> {
        let common = self.kubevirt().preferred_architectures.as_ref()?;
        let preference = self.machine_type(vm, TypeKind::Preference)?;
        let architecture = match preference.declared {
            Some(d) => d.text("spec.preferredArchitecture"),
            None if preference.is_namespaced || !self.deploys_types() => return None,
            None => common.get(preference.name)?,
        };
        (!architecture.is_empty()).then(|| (preference.name.to_owned(), architecture.to_owned()))
    }
}

fn of_json(body: &Value) -> KnownSource {
    let text = |pointer: &str| body.pointer(pointer).and_then(Value::as_str);
    let label = text("/metadata/labels/template.kubevirt.io~1architecture");
    let own = text("/metadata/namespace").unwrap_or_default();
    let leads_to = text("/spec/source/dataSource/name").map(|name| {
        let namespace = text("/spec/source/dataSource/namespace").unwrap_or(own);
        (namespace.to_owned(), name.to_owned())
    });
    KnownSource { label: label.map(str::to_owned), leads_to, ..KnownSource::default() }
}

/// The image's address in a `source`.
fn url_of(source: &Value) -> Option<String> {
    source.pointer("/registry/url").and_then(Value::as_str).map(str::to_owned)
}
