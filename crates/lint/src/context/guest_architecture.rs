//! The architecture that a virtual machine would get, and why.
//!
//! Source: KubeVirt's webhook for virtual machines (`pkg/virt-api/webhooks/mutating-webhook/mutators`,
//! `vm-mutator.go`), read at v1.6.6, v1.7.4, v1.8.4 and v1.9.0. What is there already stays; then come
//!
//! 1. the preference, from v1.7 on (`pkg/instancetype/webhooks/vm`: `mutateArch`): its
//!    `preferredArchitecture`. Until v1.6 a preference has no such field. A matcher that infers the
//!    preference from a volume is resolved before that.
//! 2. the first DataSource among the templates of its disks, through one reference, that has the
//!    label (`pkg/defaults`: `setDefaultArchitectureFromDataSource`). One that can't be found, or
//!    that is for an architecture that KubeVirt doesn't know, is passed over.
//! 3. the default (`setDefaultArchitecture`): `status.defaultArchitecture` of the KubeVirt object,
//!    which is what its spec says, else the architecture that virt-operator was built for when it
//!    first looked (`pkg/virt-operator/util`: `runtime.GOARCH`).
//!
//! A bare instance and a replica set's instances have neither preference nor templates: for them
//! there is only the default (`SetDefaultVirtualMachineInstanceSpec`).

use std::collections::HashMap;

use hcoplan_planner::boot_images::ssp_stage::Rendered;
use hcoplan_planner::machines::TypeKind;
use hcoplan_yaml::Node;
use serde_json::Value;

use super::{Context, VirtualMachine};

/// The architectures that KubeVirt knows; its webhook refuses any other.
pub const GUEST_ARCHITECTURES: [&str; 3] = ["amd64", "arm64", "s390x"];

/// From this capability on virt-operator only runs on control-plane nodes.
const ON_CONTROL_PLANE: &str = "virt-operator-on-control-plane";

/// Why a virtual machine has its architecture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArchitectureReason {
    /// It says so.
    Written,
    /// Its preference prefers it: the preference's name.
    Preference(String),
    /// The DataSource of a disk has it as a label: the DataSource's name.
    DataSource(String),
    /// Nothing says anything, and the KubeVirt object names a default.
    Default,
    /// Nothing says anything, and virt-operator's own architecture counts.
    Operator,
}

/// The architecture that a virtual machine would get.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuestArchitecture {
    /// `None` where it depends on the node that virt-operator happens to run on, or where that
    /// isn't declared.
    pub name: Option<String>,
    /// Why.
    pub because: ArchitectureReason,
}

impl GuestArchitecture {
    /// Whether somebody chose it for this virtual machine.
    pub fn is_chosen(&self) -> bool {
        !matches!(self.because, ArchitectureReason::Default | ArchitectureReason::Operator)
    }

    /// Why, in words: `KubeVirt's default`.
    pub fn reason(&self) -> String {
        match &self.because {
            ArchitectureReason::Written => "it says so".to_owned(),
            ArchitectureReason::Preference(name) => format!("the preference {name} prefers it"),
            ArchitectureReason::DataSource(name) => format!("the DataSource {name} is for it"),
            ArchitectureReason::Default => "it is KubeVirt's default".to_owned(),
            ArchitectureReason::Operator => "it is virt-operator's own".to_owned(),
        }
    }
}

/// A DataSource that will exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownSource {
    /// The architecture that its label names, which KubeVirt goes by.
    pub label: Option<String>,
    /// The architecture of the image behind it, as far as it is known.
    pub image: Option<String>,
    /// The DataSource that it leads to: namespace and name.
    pub leads_to: Option<(String, String)>,
}

/// What makes DataSources, by their namespace and name.
#[derive(Default)]
pub(super) struct SourceIndex<'a> {
    rendered: HashMap<(&'a str, &'a str), &'a Rendered>,
    /// Made by CDI for a DataImportCron.
    managed: HashMap<(&'a str, &'a str), &'a Rendered>,
}

impl<'a> Context<'a> {
    /// The architecture that KubeVirt gives a virtual machine.
    pub fn guest_architecture(&self, vm: &VirtualMachine<'_>) -> GuestArchitecture {
        let guest = |name: &str, because| GuestArchitecture { name: Some(name.to_owned()), because };
        if let Some(written) = vm.architecture().and_then(Node::as_str) {
            return guest(written, ArchitectureReason::Written);
        }
        if let Some((preference, architecture)) = self.preferred(vm) {
            return guest(&architecture, ArchitectureReason::Preference(preference));
        }
        for reference in vm.template_sources() {
            let (namespace, name) = (reference.namespace, reference.name);
            let label = self.followed_data_source(namespace, name).and_then(|s| s.label);
            let known = label.filter(|l| GUEST_ARCHITECTURES.contains(&l.as_str()));
            if let Some(label) = known {
                return guest(&label, ArchitectureReason::DataSource(name.to_owned()));
            }
        }
        match self.default_architecture() {
            Some(default) => guest(default, ArchitectureReason::Default),
            None => GuestArchitecture {
                name: self.operator_architecture().map(str::to_owned),
                because: ArchitectureReason::Operator,
            },
        }
    }

    /// A DataSource, after the one reference that KubeVirt and CDI follow; `None` where it, or
    /// what it leads to, isn't known.
    pub fn followed_data_source(&self, namespace: &str, name: &str) -> Option<KnownSource> {
        let known = self.known_source(namespace, name)?;
        match &known.leads_to {
            Some((namespace, name)) => self.known_source(namespace, name),
            None => Some(known),
        }
    }

    /// A DataSource that SSP makes, that CDI makes for one of its DataImportCrons, or that is
    /// declared.
    pub fn known_source(&self, namespace: &str, name: &str) -> Option<KnownSource> {
        if let Some(rendered) = self.source_index().rendered.get(&(namespace, name)) {
            let cron = self.cron_of(namespace, name);
            let mut known = of_json(&rendered.object.body);
            known.image = known.label.clone().or(cron.and_then(|c| c.image));
            return Some(known);
        }
        if let Some(made) = self.cron_of(namespace, name) {
            return Some(made);
        }
        let declared = self.neighbours().named("DataSource", Some(namespace), name);
        Some(of_json(&declared?.root.to_json()))
    }

    fn source_index(&self) -> &SourceIndex<'a> {
        self.sources.get_or_init(|| {
            let mut index = SourceIndex::default();
            for source in self.data_sources() {
                let id = &source.object.id;
                let namespace = id.namespace.as_deref().unwrap_or_default();
                index.rendered.entry((namespace, &id.name)).or_insert(source);
            }
            for cron in self.import_crons() {
                let namespace = cron.object.id.namespace.as_deref().unwrap_or_default();
                let managed = cron.object.body.pointer("/spec/managedDataSource").and_then(Value::as_str);
                if let Some(managed) = managed {
                    index.managed.entry((namespace, managed)).or_insert(cron);
                }
            }
            index
        })
    }

    /// What CDI makes for a DataImportCron: a DataSource that KubeVirt sees no architecture on.
    fn cron_of(&self, namespace: &str, name: &str) -> Option<KnownSource> {
        let cron = self.source_index().managed.get(&(namespace, name))?;
        let platform = "/spec/template/spec/source/registry/platform/architecture";
        let pinned = cron.object.body.pointer(platform).and_then(Value::as_str);
        Some(KnownSource {
            label: None,
            image: cron.origin.architecture.clone().or_else(|| pinned.map(str::to_owned)),
            leads_to: None,
        })
    }

    /// The architecture of every node that virt-operator may run on; `None` where there are
    /// several, or no nodes are declared.
    pub fn operator_architecture(&self) -> Option<&str> {
        let topology = self.topology();
        let places = if self.release().has(ON_CONTROL_PLANE) {
            topology.control_plane_architectures.iter().map(String::as_str).collect()
        } else {
            self.node_architectures()
        };
        match places[..] {
            [only] => Some(only),
            _ => None,
        }
    }

    /// The preference of a virtual machine with the architecture that it prefers: one that is
    /// declared, or one that KubeVirt deploys itself.
    fn preferred(&self, vm: &VirtualMachine<'_>) -> Option<(String, String)> {
        let common = self.release().kubevirt().preferred_architectures.as_ref()?;
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
    KnownSource { label: label.map(str::to_owned), image: label.map(str::to_owned), leads_to }
}
