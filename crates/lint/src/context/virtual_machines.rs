//! The virtual machines of the cluster's directory.

use super::Context;
use super::prelude::*;
use std::fmt::{self, Display, Formatter};
use std::sync::OnceLock;

use hcoplan_planner::machines::TypeKind;
use hcoplan_repository::repo::directories_of_clusters;

use super::placement::has_alias;
use super::pod_placement::ARCHITECTURE_KEYS;
use super::pod_placement::terms;
use crate::lists::labels_of;

/// KubeVirt's kinds with instances: API group and path of the instance's spec.
static KINDS: Rows<(&str, &str, &str)> = Rows::of("machineKinds");

/// A virtual machine declared in the cluster's directory.
#[derive(Debug, Clone)]
pub struct VirtualMachine<'n> {
    /// The declaring document.
    pub document: &'n Document,
    /// The path of the instance's spec in the document.
    spec: Path,
    /// The templates of its disks by the names of their claims, looked up at the first question.
    templates: OnceLock<HashMap<String, Path>>,
}

/// A reference to a DataSource.
#[derive(Debug, Clone)]
pub struct SourceRef<'n> {
    /// The path of the reference in its document.
    pub path: Path,
    /// The referenced namespace.
    pub namespace: &'n str,
    /// The name.
    pub name: &'n str,
}

impl<'a> Context<'a> {
    /// The repository's virtual machines, pools, replica sets and instances, and those that its Templates create.
    pub fn virtual_machines(&self) -> Vec<VirtualMachine<'_>> {
        let of = |&(kind, group, spec): &(&'static str, &'static str, &'static str)| {
            let created = self.other_objects().created.iter().filter(move |d| d.text("kind") == kind);
            let documents = self.of_kind(kind).iter().chain(created);
            let ours = documents.filter(move |d| d.text("apiVersion").starts_with(group));
            ours.map(move |document| VirtualMachine { document, spec: Path::dotted(spec), templates: OnceLock::new() })
        };
        let all = KINDS.iter().flat_map(of);
        all.filter(|vm| self.only.is_none_or(|only| only.contains(&vm.full_name()))).collect()
    }

    /// The same, those of all clusters before those of each one, which are compared with them.
    pub fn machines_by_scope(&self) -> Vec<VirtualMachine<'_>> {
        let mut all = self.virtual_machines();
        all.sort_by_key(|vm| !vm.scopes()[0].is_empty());
        all
    }

    /// A virtual machine's node selector, or else that of its instance type, affinity and spread; and the node selector
    /// of the RuntimeClass.
    pub fn placement_of(&self, vm: &VirtualMachine<'_>) -> Value {
        let mut placement = vm.placement();
        if placement["nodeSelector"].is_null()
            && let Some(spec) = self.machine_type(vm, TypeKind::Instancetype).and_then(|found| found.spec())
        {
            placement["nodeSelector"] = spec["nodeSelector"].clone();
        }
        let class = self.runtime_class().and_then(|class| class.root.below("scheduling.nodeSelector"));
        for (key, value) in labels_of(class) {
            placement["nodeSelector"][key] = value.into();
        }
        placement
    }

    /// The declared RuntimeClass of the machines' pods. Source: Kubernetes `plugin/pkg/admission/runtimeclass`: a pod
    /// gets its node selector and tolerations, and is refused where it has another value of a label.
    pub(super) fn runtime_class(&self) -> Option<&Document> {
        self.named("RuntimeClass", None, self.rendered_kubevirt("configuration.defaultRuntimeClass").as_str()?)
    }
}

/// The name of an object other than the HyperConverged for a report.
pub(crate) fn object_of(document: &Document) -> String {
    ObjectId::of(&document.root.to_json()).to_string()
}

/// Its name in messages: `the virtual machine a`.
impl Display for VirtualMachine<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(format!("the virtual machine {}", self.name()).trim_end())
    }
}

impl<'n> VirtualMachine<'n> {
    /// `metadata.name`
    pub fn name(&self) -> &'n str {
        name_of(self.document)
    }

    /// `metadata.namespace`; empty if the applying tool sets it.
    pub fn namespace(&self) -> &'n str {
        namespace_of(self.document)
    }

    /// `namespace/name`, or the name without a namespace.
    pub fn full_name(&self) -> String {
        match self.namespace() {
            "" => self.name().to_owned(),
            namespace => format!("{namespace}/{}", self.name()),
        }
    }

    /// A finding about it, at its name.
    pub(crate) fn finding(&self, cx: &Context<'_>, message: impl Into<String>) -> Finding {
        cx.finding_about(self.document, message)
    }

    /// The path of a dotted path below the VirtualMachine's own `spec`, even for kinds without one.
    pub fn owner_path(&self, path: &str) -> Path {
        let owner = self.spec.parent().parent();
        if owner.0.is_empty() { Path::dotted("spec.none").below(path) } else { owner.below(path) }
    }

    /// The value at a dotted path below the VirtualMachine's own `spec`.
    fn owned(&self, path: &str) -> Option<&'n Node> {
        self.document.root.at(&self.owner_path(path))
    }

    /// Whether it is the same machine in another document, such as one for another overlay.
    pub fn is_copy_of(&self, other: &Self) -> bool {
        !std::ptr::eq(self.document, other.document) && object_of(self.document) == object_of(other.document)
    }

    /// The directory of the cluster that it is in, and that of all.
    pub fn scopes(&self) -> [&'n str; 2] {
        let own = directories_of_clusters(self.document.file.path()).next();
        [own.map_or("", Utf8Path::as_str), ""]
    }

    /// Whether it starts on request alone.
    pub fn is_halted(&self) -> bool {
        self.owned("runStrategy").and_then(Node::as_str) == Some("Halted")
            || self.owned("running").is_some_and(|running| running.to_json() == false)
    }

    /// The path of the instance's `metadata`.
    pub fn metadata_path(&self) -> Path {
        self.spec.parent().key("metadata")
    }

    /// The value at a dotted path below the instance's spec.
    pub fn get(&self, path: &str) -> Option<&'n Node> {
        let spec = self.document.root.at(&self.spec)?;
        if path.contains('[') { spec.at(&Path::dotted(path)) } else { spec.below(path) }
    }

    /// The items of a list at a dotted path below the instance's spec.
    pub fn list(&self, path: &str) -> &'n [Node] {
        items(self.get(path))
    }

    /// A string at a dotted path below the instance's spec.
    pub fn text(&self, path: &str) -> Option<&'n str> {
        self.get(path)?.as_str()
    }

    /// The path of a dotted path below the instance's spec.
    pub fn path(&self, path: &str) -> Path {
        self.spec.below(path)
    }

    /// The location of a value below the instance's spec, or of its nearest existing parent.
    pub fn place(&self, path: &str) -> Location {
        self.document.locate(&self.path(path))
    }

    /// The location of a key below the instance's spec.
    pub fn key_place(&self, path: &str) -> Location {
        self.document.locate_key(&self.path(path))
    }

    /// The location of its name.
    pub fn name_place(&self) -> Location {
        self.document.locate(&Path::dotted("metadata.name"))
    }

    /// The location of its node selector, or else of its affinity, or else of its instance type.
    pub fn placement_place(&self) -> Location {
        let has_entries = |field: &&str| self.get(field).is_some_and(|node| !node.entries().is_empty());
        let field = ["nodeSelector", "affinity"].into_iter().find(has_entries);
        let of_type = || self.document.locate(&self.owner_path("instancetype").key("name"));
        field.map_or_else(of_type, |field| self.key_place(field))
    }

    /// The architecture as written.
    pub fn architecture(&self) -> Option<&'n Node> {
        let node = self.get("architecture")?;
        node.as_str().filter(|a| !a.is_empty()).map(|_| node)
    }

    /// Its placement as written.
    fn placement(&self) -> Value {
        let fields = ["nodeSelector", "affinity", "topologySpreadConstraints"].into_iter();
        fields.map(|field| (field, json_of(self.get(field)))).collect()
    }

    /// Whether its placement uses an alias of an architecture.
    pub fn has_architecture_alias(&self) -> bool {
        let selector = |key: &&str| self.get("nodeSelector")?.get(key)?.as_str().and_then(Architecture::alias);
        let placement = self.placement();
        let mut terms = terms(&placement);
        ARCHITECTURE_KEYS.iter().any(|key| selector(key).is_some()) || terms.any(has_alias)
    }

    /// The DataSources cloned by its disk templates, in order.
    pub fn template_sources(&self) -> Vec<SourceRef<'n>> {
        self.templates().filter_map(|(path, spec)| source_ref_of(spec, path, self.namespace())).collect()
    }

    /// The templates of its disks that clone a claim, in order.
    pub fn template_claims(&self) -> Vec<SourceRef<'n>> {
        self.templates().filter_map(|(path, spec)| claim_ref_of(spec, path, self.namespace())).collect()
    }

    /// The templates of its disks, with their paths.
    pub fn disk_templates(&self) -> impl DoubleEndedIterator<Item = (Path, &'n Node)> + use<'n> {
        let templates = self.owner_path("dataVolumeTemplates");
        let items = items(self.document.root.at(&templates)).iter().enumerate();
        items.map(move |(i, item)| (templates.index(i), item))
    }

    /// The specs of its disks' templates, with their paths.
    pub(super) fn templates(&self) -> impl Iterator<Item = (Path, &'n Node)> + use<'n> {
        self.disk_templates().filter_map(|(path, template)| Some((path.key("spec"), template.get("spec")?)))
    }

    /// The boot volume: of the disk with the lowest `bootOrder`, else of the first disk, else the first volume.
    pub fn boot_volume(&self) -> Option<(usize, &'n Node)> {
        let order = |disk: &Node| {
            let order = disk.get("bootOrder").map(Node::to_json);
            order.and_then(|o| o.as_u64()).unwrap_or(u64::MAX)
        };
        let disk = self.list("domain.devices.disks").iter().min_by_key(|d| order(d));
        match disk.and_then(|d| d.text_at("name")) {
            Some(name) => self.volume(name),
            None => self.volumes().next(),
        }
    }

    /// The `networkName` of its Multus networks, with their index.
    pub fn networks(&self) -> impl Iterator<Item = (usize, &'n str)> + use<'n> {
        let networks = self.list("networks").iter().enumerate();
        networks.filter_map(|(i, network)| Some((i, network.text_at("multus.networkName")?)))
    }

    /// The network bindings of its interfaces, with the paths of their names.
    pub fn bindings(&self) -> impl Iterator<Item = (Path, &'n str)> + use<'n> {
        let path = self.path("domain.devices.interfaces");
        let interfaces = self.list("domain.devices.interfaces").iter().enumerate();
        interfaces.filter_map(move |(i, own)| Some((path.index(i).below("binding.name"), own.text_at("binding.name")?)))
    }

    /// The volume of a name, with its index.
    pub(super) fn volume(&self, name: &str) -> Option<(usize, &'n Node)> {
        self.volumes().find(|(_, volume)| volume.text_at("name") == Some(name))
    }

    /// Its volumes, with their index.
    pub fn volumes(&self) -> impl Iterator<Item = (usize, &'n Node)> + use<'n> {
        self.list("volumes").iter().enumerate()
    }

    /// The DataSource cloned for the boot disk, if a template of the virtual machine does.
    pub fn boot_source(&self) -> Option<SourceRef<'n>> {
        self.source_behind(self.boot_volume()?.1)
    }

    /// The DataSource cloned for a volume.
    pub(super) fn source_behind(&self, volume: &Node) -> Option<SourceRef<'n>> {
        let path = self.disk_template(claim_name(volume)?)?.key("sourceRef");
        source_ref(self.document.root.at(&path)?, path, self.namespace())
    }

    /// The path of the `spec` of the template that creates a claim.
    pub fn disk_template(&self, claim: &str) -> Option<Path> {
        let by_name = self.templates.get_or_init(|| {
            let named = self.disk_templates().filter_map(|(path, t)| Some((t.text_at("metadata.name")?, path)));
            // The first one of a name counts.
            named.rev().map(|(name, path)| (name.to_owned(), path.key("spec"))).collect()
        });
        by_name.get(claim).cloned()
    }
}

/// A reference to a DataSource; the default namespace is `own`.
fn source_ref<'n>(node: &'n Node, path: Path, own: &'n str) -> Option<SourceRef<'n>> {
    let kind = node.text_at("kind")?;
    kind.eq_ignore_ascii_case("DataSource").then(|| reference(node, path, own))?
}

fn reference<'n>(node: &'n Node, path: Path, own: &'n str) -> Option<SourceRef<'n>> {
    let namespace = node.text_at("namespace").filter(|n| !n.is_empty()).unwrap_or(own);
    Some(SourceRef { path, namespace, name: node.text_at("name")? })
}

/// The DataSource that the `spec` of a DataVolume, which is at `path`, clones.
pub fn source_ref_of<'n>(spec: &'n Node, path: Path, own: &'n str) -> Option<SourceRef<'n>> {
    source_ref(spec.get("sourceRef")?, path.key("sourceRef"), own)
}

/// The claim that the `spec` of a DataVolume, which is at `path`, clones.
pub fn claim_ref_of<'n>(spec: &'n Node, path: Path, own: &'n str) -> Option<SourceRef<'n>> {
    reference(spec.below("source.pvc")?, path.key("source").key("pvc"), own)
}

/// The claim of a volume.
pub(super) fn claim_name(volume: &Node) -> Option<&str> {
    volume.text_at("persistentVolumeClaim.claimName").or_else(|| volume.text_at("dataVolume.name"))
}
