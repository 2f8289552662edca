//! The virtual machines of the cluster's directory, and the architecture that each would get.

use serde_json::{Value, json};

use super::{Context, NodeRef};
use crate::source::Location;
use crate::topology;
use crate::yaml::{Document, Node, Path};

/// KubeVirt's API group.
const GROUP: &str = "kubevirt.io/";

/// The architectures that KubeVirt knows; its webhook refuses any other.
pub const GUEST_ARCHITECTURES: [&str; 3] = ["amd64", "arm64", "s390x"];

/// From this capability on virt-operator only runs on control-plane nodes.
const ON_CONTROL_PLANE: &str = "virt-operator-on-control-plane";

/// A virtual machine that is declared in the cluster's directory.
#[derive(Debug, Clone)]
pub struct VirtualMachine<'n> {
    /// The document that declares it.
    pub document: &'n Document,
    /// Where the instance's spec is in the document.
    spec: Path,
}

/// Why a virtual machine has its architecture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Because {
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
    pub because: Because,
}

impl GuestArchitecture {
    /// Whether somebody chose it for this virtual machine.
    pub fn is_chosen(&self) -> bool {
        !matches!(self.because, Because::Default | Because::Operator)
    }

    /// Why, in words: `KubeVirt's default`.
    pub fn reason(&self) -> String {
        match &self.because {
            Because::Written => "it says so".to_owned(),
            Because::Preference(name) => format!("the preference {name} prefers it"),
            Because::DataSource(name) => format!("the DataSource {name} is for it"),
            Because::Default => "it is KubeVirt's default".to_owned(),
            Because::Operator => "it is virt-operator's own".to_owned(),
        }
    }
}

/// A reference to a DataSource, with its place.
#[derive(Debug, Clone)]
pub struct SourceRef<'n> {
    /// Where the reference is in its document.
    pub path: Path,
    /// The namespace that is meant.
    pub namespace: &'n str,
    /// The name.
    pub name: &'n str,
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

impl<'a> Context<'a> {
    /// The virtual machines, replica sets and bare instances among the neighbours.
    pub fn virtual_machines(&self) -> Vec<VirtualMachine<'_>> {
        let kinds = [
            ("VirtualMachine", "spec.template.spec"),
            ("VirtualMachineInstance", "spec"),
            ("VirtualMachineInstanceReplicaSet", "spec.template.spec"),
        ];
        let of = |(kind, spec): (&str, &str)| {
            let spec = Path::dotted(spec);
            let documents = self.neighbours().of_kind(kind).iter();
            let ours = documents.filter(|d| text(d, "apiVersion").starts_with(GROUP));
            ours.map(move |document| VirtualMachine {
                document,
                spec: spec.clone(),
            })
            .collect::<Vec<_>>()
        };
        kinds.into_iter().flat_map(of).collect()
    }

    /// The architecture that KubeVirt gives a virtual machine: what it says, else what its
    /// preference prefers, else the label of the first DataSource among its disks' templates that
    /// has one (through one reference), else the default.
    ///
    /// Source: KubeVirt `pkg/defaults`: `setDefaultArchitectureFromDataSource`, then
    /// `setDefaultArchitecture`.
    pub fn guest_architecture(&self, vm: &VirtualMachine<'_>) -> GuestArchitecture {
        let guest = |name: &str, because| GuestArchitecture {
            name: Some(name.to_owned()),
            because,
        };
        if let Some(written) = vm.architecture().and_then(Node::as_str) {
            return guest(written, Because::Written);
        }
        if let Some((preference, architecture)) = self.preferred(vm) {
            return guest(architecture, Because::Preference(preference.to_owned()));
        }
        for reference in vm.template_sources() {
            let (namespace, name) = (reference.namespace, reference.name);
            let label = self.followed(namespace, name).and_then(|s| s.label);
            let known = label.filter(|l| GUEST_ARCHITECTURES.contains(&l.as_str()));
            if let Some(label) = known {
                return guest(&label, Because::DataSource(name.to_owned()));
            }
        }
        match self.default_architecture() {
            Some(default) => guest(default, Because::Default),
            None => GuestArchitecture {
                name: self.operator_architecture().map(str::to_owned),
                because: Because::Operator,
            },
        }
    }

    /// A DataSource, after the one reference that KubeVirt and CDI follow; `None` where it, or
    /// what it leads to, isn't known.
    pub fn followed(&self, namespace: &str, name: &str) -> Option<KnownSource> {
        let known = self.known_source(namespace, name)?;
        match &known.leads_to {
            Some((namespace, name)) => self.known_source(namespace, name),
            None => Some(known),
        }
    }

    /// A DataSource that SSP makes, that CDI makes for one of its DataImportCrons, or that is
    /// declared.
    pub fn known_source(&self, namespace: &str, name: &str) -> Option<KnownSource> {
        let is_it = |id: &crate::kube::ObjectId| {
            id.name == name && id.namespace.as_deref() == Some(namespace)
        };
        if let Some(rendered) = self.data_sources().find(|d| is_it(&d.object.id)) {
            let cron = self.cron_of(namespace, name);
            let mut known = of_json(&rendered.object.body);
            known.image = known.label.clone().or(cron.and_then(|c| c.image));
            return Some(known);
        }
        if let Some(made) = self.cron_of(namespace, name) {
            return Some(made);
        }
        let declared = self.neighbours().of_kind("DataSource").iter();
        let mut declared = declared.filter(|d| {
            text(d, "metadata.name") == name && text(d, "metadata.namespace") == namespace
        });
        Some(of_json(&declared.next()?.root.to_json()))
    }

    /// What CDI makes for a DataImportCron: a DataSource that KubeVirt sees no architecture on.
    fn cron_of(&self, namespace: &str, name: &str) -> Option<KnownSource> {
        let mut crons = self.import_crons();
        let cron = crons.find(|c| {
            let managed = c.object.body.pointer("/spec/managedDataSource");
            c.object.id.namespace.as_deref() == Some(namespace)
                && managed.and_then(Value::as_str) == Some(name)
        })?;
        let platform = "/spec/template/spec/source/registry/platform/architecture";
        let pinned = cron.object.body.pointer(platform).and_then(Value::as_str);
        Some(KnownSource {
            label: None,
            image: cron
                .origin
                .architecture
                .clone()
                .or_else(|| pinned.map(str::to_owned)),
            leads_to: None,
        })
    }

    /// The architecture of every node that virt-operator may run on; `None` where there are
    /// several, or no nodes are declared.
    pub fn operator_architecture(&self) -> Option<&str> {
        let topology = self.topology();
        let places = match self.release().has(ON_CONTROL_PLANE) {
            true => topology
                .control_plane_architectures
                .iter()
                .map(String::as_str)
                .collect(),
            false => self.node_architectures(),
        };
        match places[..] {
            [only] => Some(only),
            _ => None,
        }
    }

    /// The preference of a virtual machine with the architecture that it prefers.
    fn preferred<'v>(&'v self, vm: &VirtualMachine<'v>) -> Option<(&'v str, &'v str)> {
        let matcher = vm.document.root.at(&Path::dotted("spec.preference"))?;
        let name = matcher.get("name")?.as_str()?;
        let kind = matcher.get("kind").and_then(Node::as_str);
        let (kind, namespace) = match kind.unwrap_or_default().to_ascii_lowercase().as_str() {
            "virtualmachinepreference" | "virtualmachinepreferences" => {
                ("VirtualMachinePreference", Some(vm.namespace()))
            }
            _ => ("VirtualMachineClusterPreference", None),
        };
        let declared = self.neighbours().of_kind(kind).iter();
        let mut declared = declared.filter(|d| {
            text(d, "metadata.name") == name
                && namespace.is_none_or(|n| text(d, "metadata.namespace") == n)
        });
        let path = Path::dotted("spec.preferredArchitecture");
        let architecture = declared.next()?.root.at(&path)?.as_str()?;
        (!architecture.is_empty()).then_some((name, architecture))
    }

    /// The declared nodes that the virtual machine's own node selector and required node affinity
    /// select; `None` when it has neither.
    pub fn nodes_for(&self, vm: &VirtualMachine<'_>) -> Option<Vec<NodeRef<'a>>> {
        let placement = vm.placement();
        topology::selects(&placement, &crate::inventory::Node::default())?;
        let selected = |n: &NodeRef<'_>| topology::selects(&placement, n.node) == Some(true);
        Some(self.nodes().filter(selected).collect())
    }
}

impl<'n> VirtualMachine<'n> {
    /// `metadata.name`
    pub fn name(&self) -> &'n str {
        text(self.document, "metadata.name")
    }

    /// `metadata.namespace`; empty where git leaves it to whoever applies it.
    pub fn namespace(&self) -> &'n str {
        text(self.document, "metadata.namespace")
    }

    /// What to call it: `the virtual machine a`.
    pub fn called(&self) -> String {
        format!("the virtual machine {}", self.name())
    }

    /// The value at a dotted path below the instance's spec.
    pub fn get(&self, path: &str) -> Option<&'n Node> {
        self.document.root.at(&self.path(path))
    }

    /// A string at a dotted path below the instance's spec.
    pub fn text(&self, path: &str) -> Option<&'n str> {
        self.get(path)?.as_str()
    }

    /// The path of a dotted path below the instance's spec.
    pub fn path(&self, path: &str) -> Path {
        let mut full = self.spec.clone();
        full.0.extend(Path::dotted(path).0);
        full
    }

    /// The place of a value below the instance's spec, else of the nearest key above it.
    pub fn place(&self, path: &str) -> Location {
        self.document.locate(&self.path(path))
    }

    /// The place of a key below the instance's spec.
    pub fn key_place(&self, path: &str) -> Location {
        self.document.locate_key(&self.path(path))
    }

    /// The place of its name.
    pub fn name_place(&self) -> Location {
        self.document.locate(&Path::dotted("metadata.name"))
    }

    /// The architecture as it was written.
    pub fn architecture(&self) -> Option<&'n Node> {
        let node = self.get("architecture")?;
        node.as_str().filter(|a| !a.is_empty()).map(|_| node)
    }

    /// The node selector and the affinity, in the shape of a node placement.
    pub fn placement(&self) -> Value {
        let json = |path: &str| self.get(path).map_or(Value::Null, Node::to_json);
        json!({"nodeSelector": json("nodeSelector"), "affinity": json("affinity")})
    }

    /// The templates of its disks that clone a DataSource, in order.
    pub fn template_sources(&self) -> Vec<SourceRef<'n>> {
        let templates = Path::dotted("spec.dataVolumeTemplates");
        let items = self.document.root.at(&templates).map(Node::items);
        let items = items.unwrap_or_default().iter().enumerate();
        items
            .filter_map(|(i, item)| {
                let path = templates.index(i).key("spec").key("sourceRef");
                source_ref(item.get("spec")?.get("sourceRef")?, path, self.namespace())
            })
            .collect()
    }

    /// The volume that it boots from: of the disk with the lowest `bootOrder`, else of the first
    /// disk, else the first volume.
    pub fn boot_volume(&self) -> Option<(usize, &'n Node)> {
        let disks = self.get("domain.devices.disks").map(Node::items);
        let order = |disk: &Node| {
            let order = disk.get("bootOrder").map(Node::to_json);
            order.and_then(|o| o.as_u64()).unwrap_or(u64::MAX)
        };
        let disk = disks.unwrap_or_default().iter().min_by_key(|d| order(d));
        let name = disk.and_then(|d| d.get("name")).and_then(Node::as_str);
        let mut volumes = self.volumes();
        match name {
            Some(name) => volumes.find(|(_, v)| v.get("name").and_then(Node::as_str) == Some(name)),
            None => volumes.next(),
        }
    }

    /// Its volumes, with their index.
    pub fn volumes(&self) -> impl Iterator<Item = (usize, &'n Node)> + use<'n> {
        let volumes = self.get("volumes").map(Node::items);
        volumes.unwrap_or_default().iter().enumerate()
    }

    /// The DataSource that the boot disk is cloned from, where a template of the virtual machine
    /// says so.
    pub fn boot_source(&self) -> Option<SourceRef<'n>> {
        let (_, volume) = self.boot_volume()?;
        let name = |kind: &str, key: &str| volume.get(kind)?.get(key)?.as_str();
        let name =
            name("dataVolume", "name").or_else(|| name("persistentVolumeClaim", "claimName"))?;
        let templates = Path::dotted("spec.dataVolumeTemplates");
        let items = self.document.root.at(&templates)?.items();
        let is_it = |t: &Node| {
            let of_template = t.get("metadata").and_then(|m| m.get("name"));
            of_template.and_then(Node::as_str) == Some(name)
        };
        let index = items.iter().position(is_it)?;
        let path = templates.index(index).key("spec").key("sourceRef");
        source_ref(self.document.root.at(&path)?, path, self.namespace())
    }
}

/// A reference to a DataSource; without a namespace it means its own.
pub fn source_ref<'n>(node: &'n Node, path: Path, own: &'n str) -> Option<SourceRef<'n>> {
    let text = |key: &str| node.get(key).and_then(Node::as_str);
    let kind = text("kind")?;
    if !kind.eq_ignore_ascii_case("DataSource") {
        return None;
    }
    Some(SourceRef {
        path,
        namespace: text("namespace").filter(|n| !n.is_empty()).unwrap_or(own),
        name: text("name")?,
    })
}

fn of_json(body: &Value) -> KnownSource {
    let text = |pointer: &str| body.pointer(pointer).and_then(Value::as_str);
    let label = text("/metadata/labels/template.kubevirt.io~1architecture");
    let own = text("/metadata/namespace").unwrap_or_default();
    let leads_to = text("/spec/source/dataSource/name").map(|name| {
        let namespace = text("/spec/source/dataSource/namespace").unwrap_or(own);
        (namespace.to_owned(), name.to_owned())
    });
    KnownSource {
        label: label.map(str::to_owned),
        image: label.map(str::to_owned),
        leads_to,
    }
}

fn text<'d>(document: &'d Document, path: &str) -> &'d str {
    let node = document.root.at(&Path::dotted(path));
    node.and_then(Node::as_str).unwrap_or_default()
}
