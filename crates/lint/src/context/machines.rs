//! KubeVirt's verdicts on the virtual machines of the cluster's directory.

use super::prelude::*;
use crate::lists::labels_of;
use hcoplan_kubernetes::label_selector::Labels;

use super::virtual_machines::{claim_name, claim_ref_of};
use super::{Context, VirtualMachine};
use hcoplan_planner::machines::{self, Cluster, Machine, Namespace, TypeKind, common_type, obstacles};

use super::Extent;

/// An instance type or preference of a virtual machine.
#[derive(Debug, Clone, Copy)]
pub struct MachineType<'c> {
    /// Its name.
    pub name: &'c str,
    /// Whether it is namespaced rather than cluster-wide.
    pub is_namespaced: bool,
    /// The document that declares it.
    pub declared: Option<&'c Document>,
    /// The spec of one deployed by KubeVirt.
    pub common: Option<&'static Value>,
}

impl<'a> Context<'a> {
    /// The cluster that validates virtual machines; `None` if HCO renders no KubeVirt.
    pub fn machine_cluster(&self) -> Option<Cluster<'a>> {
        Some(Cluster { release: self.release(), kubevirt: self.plan().operand("KubeVirt")? })
    }

    /// The virtual machines with KubeVirt's verdicts.
    pub fn judged_machines(&self) -> Vec<(VirtualMachine<'_>, &Verdict)> {
        let Some(cluster) = self.machine_cluster() else {
            return Vec::new();
        };
        let machines = self.virtual_machines();
        let verdicts =
            self.known.machine_verdicts.get_or_init(|| machines.iter().map(|vm| self.judge(cluster, vm)).collect());
        machines.into_iter().zip(verdicts).collect()
    }

    fn judge(&self, cluster: Cluster<'_>, vm: &VirtualMachine<'_>) -> Verdict {
        let extent = self.extent(vm.document);
        if extent == Extent::Patch {
            return Verdict::default();
        }
        let object = vm.document.root.to_json();
        let architecture = self.guest_architecture(vm).name;
        let [instancetype, preference] =
            [TypeKind::Instancetype, TypeKind::Preference].map(|kind| self.machine_type(vm, kind)?.spec());
        let machine = Machine {
            object: &object,
            architecture: architecture.as_deref(),
            instancetype: instancetype.as_ref(),
            preference: preference.as_ref(),
            namespace: &self.namespace_of(vm),
        };
        let mut verdict = machines::admit(cluster, machine);
        if extent == Extent::Patched {
            verdict.causes.retain(|cause| !cause.kind.may_be_patched());
        }
        verdict
    }

    /// What the repository says of a virtual machine's namespace.
    fn namespace_of(&self, vm: &VirtualMachine<'_>) -> Namespace {
        let quotas = self.in_namespace("ResourceQuota", vm.namespace());
        let quotas = quotas.filter_map(|quota| quota.root.get("spec").map(Node::to_json)).collect();
        let networks = vm.networks().filter_map(|(_, name)| {
            let resource = network_resource(self.network_attachment(vm.namespace(), name)?)?;
            Some((name.to_owned(), resource.to_owned()))
        });
        let network_resources = networks.collect();
        let is_declared = self.named("Namespace", None, vm.namespace()).is_some();
        Namespace { network_resources, quotas, labels: self.labels_of_namespace(vm.namespace()), is_declared }
    }

    /// The labels of a namespace: those of its declaration, and that of its name, which the API server sets.
    pub fn labels_of_namespace(&self, namespace: &str) -> Labels {
        let written = self.named("Namespace", None, namespace).and_then(|space| space.root.below("metadata.labels"));
        labels_of(written).chain([("kubernetes.io/metadata.name".to_owned(), namespace.to_owned())]).collect()
    }

    /// The objects of a kind that a namespace has.
    pub fn in_namespace<'s>(&'s self, kind: &str, namespace: &'s str) -> impl Iterator<Item = &'s Document> {
        let all = self.of_kind(kind).iter().map(|d| &**d);
        all.filter(move |d| !namespace.is_empty() && namespace_of(d) == namespace)
    }

    /// The declared DataImportCron that manages a DataSource.
    pub fn cron_of(&self, namespace: &str, data_source: &str) -> Option<&Document> {
        let mut all = self.of_kind("DataImportCron").iter().map(|d| &**d);
        all.find(|d| namespace_of(d) == namespace && d.text("spec.managedDataSource") == data_source)
    }

    /// The NetworkAttachmentDefinition that a name, or `<namespace>/<name>`, refers to in a namespace.
    pub fn network_attachment<'s>(&'s self, namespace: &'s str, reference: &'s str) -> Option<&'s Document> {
        let (namespace, name) = reference.split_once('/').unwrap_or((namespace, reference));
        let found = self.named("NetworkAttachmentDefinition", Some(namespace), name);
        found.filter(|_| !namespace.is_empty())
    }

    /// The permitted host devices, sorted.
    pub fn permitted_devices(&self) -> Vec<&'a str> {
        let all = self.rendered_kubevirt("configuration.permittedHostDevices");
        let devices = ["pciHostDevices", "mediatedDevices", "usb"].into_iter().flat_map(|list| elements(&all[list]));
        distinct(devices.filter_map(|device| device["resourceName"].as_str()))
    }

    /// The devices that a virtual machine or its instance type requests and that aren't permitted, once each, with
    /// their fields.
    pub fn devices_not_permitted(&self, vm: &VirtualMachine<'_>, verdict: &Verdict) -> Vec<(Path, String)> {
        let permitted = self.permitted_devices();
        let mut found: Vec<(Path, String)> = Vec::new();
        let devices = match &verdict.spec {
            Value::Null => json_of(vm.get("domain.devices")),
            complete => complete["domain"]["devices"].clone(),
        };
        for list in ["gpus", "hostDevices"] {
            let path = vm.path("domain.devices").key(list);
            let mut seen = BTreeSet::new();
            for (i, device) in elements(&devices[list]).enumerate() {
                let name = text(&device["deviceName"]);
                if !name.is_empty() && !permitted.contains(&name) && seen.insert(name) {
                    let own = path.index(i).key("deviceName");
                    let is_written = vm.document.root.at(&own).is_some();
                    let place = if is_written { own } else { vm.owner_path("instancetype").key("name") };
                    found.push((place, name.to_owned()));
                }
            }
        }
        found
    }

    /// The network binding plugins that a virtual machine uses and that KubeVirt doesn't have, with their fields.
    pub fn bindings_not_there<'v>(&self, vm: &VirtualMachine<'v>) -> Vec<(Path, &'v str)> {
        let Some(cluster) = self.machine_cluster() else {
            return Vec::new();
        };
        let known = &cluster.configuration()["network"]["binding"];
        vm.bindings().filter(|(_, name)| known[*name].is_null() && !machines::is_placeholder(name)).collect()
    }

    /// What prevents migrating a virtual machine, with fields below the instance's spec.
    pub fn migration_obstacles(&self, vm: &VirtualMachine<'_>, verdict: &Verdict) -> Vec<(String, String)> {
        let Some(cluster) = self.machine_cluster() else {
            return Vec::new();
        };
        let metadata = vm.document.root.at(&vm.metadata_path());
        let annotations = json_of(metadata.and_then(|m| m.get("annotations")));
        obstacles(cluster, &verdict.spec, &annotations, |claim| self.access_modes(vm, claim))
    }

    /// The instance type or preference of a virtual machine. If it is inferred from a volume, the labels of its
    /// DataSource are used.
    pub fn machine_type<'v>(&'v self, vm: &VirtualMachine<'v>, kind: TypeKind) -> Option<MachineType<'v>> {
        let (name, of_kind) = self.matcher(vm, kind)?;
        let [cluster, namespaced] = kind.kinds();
        let of_kind = of_kind.to_ascii_lowercase();
        let of_kind = of_kind.strip_suffix('s').unwrap_or(&of_kind);
        let is_namespaced = of_kind.eq_ignore_ascii_case(namespaced);
        if !is_namespaced && !of_kind.is_empty() && !of_kind.eq_ignore_ascii_case(cluster) {
            return None;
        }
        let declared_kind = if is_namespaced { namespaced } else { cluster };
        let declared = self.named(declared_kind, is_namespaced.then(|| vm.namespace()), name);
        let is_common = !is_namespaced && self.deploys_types();
        let common = is_common.then(|| common_type(kind, name, &self.kubevirt().version));
        Some(MachineType { name, is_namespaced, declared, common: common.flatten() })
    }

    /// Whether KubeVirt deploys its own instance types and preferences.
    pub fn deploys_types(&self) -> bool {
        self.rendered_kubevirt("configuration.commonInstancetypesDeployment.enabled").as_bool().unwrap_or(true)
    }

    /// The name and kind in a virtual machine's matcher.
    fn matcher<'v>(&'v self, vm: &VirtualMachine<'v>, kind: TypeKind) -> Option<(&'v str, &'v str)> {
        let matcher = vm.document.root.at(&vm.owner_path(kind.field()))?;
        let said = |key: &str| matcher.text_at(key);
        if let Some(name) = said("name") {
            return Some((name, said("kind").unwrap_or_default()));
        }
        let volume = said("inferFromVolume")?;
        let Some(source) = vm.volume(volume).and_then(|(_, volume)| vm.source_behind(volume)) else {
            return default_type(self.claim_behind(vm, volume)?, kind);
        };
        let Some(declared) = self.named("DataSource", Some(source.namespace), source.name) else {
            // CDI adds the labels to volumes of the distribution's golden images.
            let distribution = self.release().distribution();
            let is_own = source.namespace == self.images_namespace();
            let mut images = distribution.golden_images.iter().filter(|_| is_own && kind == TypeKind::Preference);
            let image = images.find(|image| image.data_source.value == source.name)?;
            return Some((&image.preference.value, ""));
        };
        default_type(declared, kind)
    }

    /// The object whose labels name the types of a virtual machine for a volume: a DataVolume, else a claim, else the
    /// claim that the volume's template clones.
    ///
    /// Source: KubeVirt `pkg/instancetype/infer/volume.go`.
    fn claim_behind<'s>(&'s self, vm: &VirtualMachine<'s>, volume: &str) -> Option<&'s Document> {
        let mut claim = (vm.namespace(), claim_name(vm.volume(volume)?.1)?);
        if let Some(template) = vm.disk_template(claim.1) {
            let source = claim_ref_of(vm.document.root.at(&template)?, template, claim.0)?;
            claim = (source.namespace, source.name);
        } else if let Some(disk) = self.named("DataVolume", Some(claim.0), claim.1) {
            return Some(disk);
        }
        self.named("PersistentVolumeClaim", Some(claim.0), claim.1)
    }

    /// The object that has to have a label because a virtual machine infers its type from it, if it has none.
    pub fn unlabelled<'s>(&'s self, vm: &VirtualMachine<'s>, kind: TypeKind) -> Option<(&'s Document, String)> {
        let matcher = vm.document.root.at(&vm.owner_path(kind.field()))?;
        let is_ignored = matcher.text_at("inferFromVolumeFailurePolicy") == Some("Ignore");
        let object = self.claim_behind(vm, matcher.text_at("inferFromVolume")?).filter(|_| !is_ignored)?;
        let is_claim = object.text("kind") == "PersistentVolumeClaim";
        (is_claim && default_type(object, kind).is_none()).then(|| (object, default_label(kind)))
    }
}

/// The label with the name of a volume's type.
fn default_label(kind: TypeKind) -> String {
    format!("instancetype.kubevirt.io/default-{}", kind.field())
}

/// The type that an object's labels name, and its kind.
fn default_type(document: &Document, kind: TypeKind) -> Option<(&str, &str)> {
    let labels = document.root.below("metadata.labels")?;
    let label = |key: String| labels.get(&key).and_then(Node::as_str);
    let of_kind = label(default_label(kind) + "-kind").unwrap_or_default();
    Some((label(default_label(kind))?, of_kind))
}

/// The resource that a NetworkAttachmentDefinition names.
pub fn network_resource(attachment: &Document) -> Option<&str> {
    let path = Path::annotation("k8s.v1.cni.cncf.io/resourceName");
    attachment.root.at(&path)?.as_str().filter(|name| !name.is_empty())
}

impl MachineType<'_> {
    /// Its `spec`, if known.
    pub fn spec(&self) -> Option<Value> {
        match self.declared {
            Some(document) => document.root.get("spec").map(Node::to_json),
            None => self.common.cloned(),
        }
    }
}
