//! The data for rules.
//!
//! Rules don't read files and don't plan: a [`Context`] has the data about one cluster, in the terms of rules (field,
//! annotation, golden image, node). All data have locations in the user's files, in every API version of the
//! HyperConverged.

mod annotation;
mod boots;
mod build_output;
mod built_files;
mod bundles;
mod candidates;
mod claims;
mod crons;
mod destination_fixes;
mod destinations;
mod edit;
mod field;
mod field_map;
mod gate;
mod gate_change;
mod guest_architecture;
mod image_evidence;
mod image_mirrors;
mod image_output;
mod images;
mod machine_edits;
mod machines;
mod mistyped;
mod moved_operations;
mod multi_arch;
mod nodes;
mod operand_field;
mod other_objects;
mod other_shape;
mod own_field;
mod patch;
mod patched_gates;
mod patched_places;
mod placement;
mod pod_placement;
mod pod_templates;
mod prelude;
mod releases;
mod shape;
mod site;
mod storage_classes;
mod texts;
mod trial;
mod verdict;
mod virtual_machines;

use crate::prelude::*;
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;

use hcoplan_kubernetes::tree;
use hcoplan_repository::repo::Layer;
use serde_json::Value;

pub use annotation::Annotation;
pub use boots::{Boot, BootFacts, BootSource, SourceKind};
pub(crate) use build_output::{Command, PLATFORMS, commands, copies_all, plain_words, values};
use built_files::BuiltFiles;
pub use built_files::Extent;
pub use bundles::{Csv, ImageUse};
pub use candidates::Candidate;
pub(crate) use candidates::{NodeKinds, closes};
pub(super) use crons::cron_names;
pub(crate) use destinations::similar;
pub use destinations::{Destination, DestinationKind};
pub use field::Field;
#[cfg(test)]
pub(crate) use field::in_version;
pub use gate::Gate;
pub use gate_change::PatchedGates;
pub use guest_architecture::{ArchitectureReason, GUEST_ARCHITECTURES, GuestArchitecture, KnownSource};
pub use image_evidence::ImageEvidence;
pub(crate) use image_output::without_transport;
pub use image_output::{Form, Platform};
pub use images::{GoldenImage, WrittenTemplate};
pub use machines::{MachineType, network_resource};
pub use mistyped::{Mistyped, meant_flag};
pub use nodes::NodeRef;
pub use operand_field::OperandField;
pub use other_objects::Descheduler;
pub use other_shape::{OtherShape, flag};
pub use own_field::{OwnField, OwnFields};
pub use patch::{Applied, PatchAnnotation, PatchFailure};
pub use patched_gates::{CDI_GATES, KUBEVIRT_GATES};
pub use placement::{Placement, Pods, Unmatched};
pub use pod_placement::ArchitectureScope;
pub(crate) use pod_placement::{PREFERRED, REQUIRED, REQUIRED_TERMS, names_architecture, terms as required_terms};
pub use pod_templates::{ArchitectureSupport, ImageCoverage, POD_KINDS, PodTemplate, with_subscription};
pub use releases::{gate_when_unset, schema_path};
pub use shape::Shape;
pub(crate) use shape::key as last_key;
pub use site::Site;
pub(crate) use storage_classes::{DiskSpec, VIRT_DEFAULT, default_place};
pub(crate) use trial::Trial;
pub(crate) use virtual_machines::object_of;
pub use virtual_machines::{SourceRef, VirtualMachine, claim_ref_of, source_ref_of};

use hcoplan_diagnostics::finding::OptionValue;
use hcoplan_explain::why::PlanInput;
use hcoplan_kubernetes::schema::Schema;
use hcoplan_planner::admission::Admission;
use hcoplan_planner::boot_images::cdi_stage::Imports;
use hcoplan_planner::hyperconverged::HyperConverged;
use hcoplan_planner::inventory::Inventory;
use hcoplan_planner::machines::Verdict;
use hcoplan_planner::release::KubeVirtFacts;
use hcoplan_planner::topology::Topology;
use hcoplan_repository::inventory::LoadedInventory;
use hcoplan_repository::repo::OtherObjects;

use crate::Settings;
use crate::lists::{name_of, namespace_of};

/// The input about one cluster.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// The cluster's name.
    pub cluster: &'a ClusterName,
    /// The cluster's release.
    pub release: &'a Release,
    /// The HyperConverged as written.
    pub document: &'a Document,
    /// The HyperConverged as JSON.
    pub object: &'a Value,
    /// The declared facts with locations; otherwise assumed ones.
    pub inventory: &'a LoadedInventory,
    /// The plan.
    pub plan: &'a Plan,
}

/// The data about one cluster.
pub struct Context<'a> {
    input: Input<'a>,
    settings: &'a Settings,
    version: &'a str,
    site: Box<dyn Site + 'a>,
    before: Option<&'a Value>,
    objects_before: Option<&'a OtherObjects>,
    /// Restricts to these virtual machines.
    only: Option<&'a BTreeSet<String>>,
    known: Known<'a>,
    /// Whether a fix wasn't tried, because many others were; the next finding reports it.
    untried: Rc<Cell<bool>>,
    /// Whether the plan has a further reason of the rejection, after the one that the server reports.
    is_further: bool,
    /// The rule whose check runs.
    rule: Cell<&'static Rule>,
}

/// Data that is computed at its first use.
#[derive(Default)]
struct Known<'a> {
    other_objects: OnceCell<Arc<OtherObjects>>,
    layers: OnceCell<Vec<Layer>>,
    editable_file: OnceCell<EditableFile>,
    images: OnceCell<Vec<GoldenImage<'a>>>,
    architectures: OnceCell<BTreeSet<&'a str>>,
    evidence: OnceCell<image_evidence::EvidenceIndex>,
    importers: OnceCell<BTreeSet<String>>,
    boots: OnceCell<Vec<BootFacts>>,
    start_failures: OnceCell<Vec<Finding>>,
    disk_templates: OnceCell<HashMap<(String, String), Value>>,
    imports: OnceCell<Imports>,
    sources: RefCell<HashMap<(String, String), Option<KnownSource>>>,
    bundles: OnceCell<bundles::Bundles>,
    texts_and_manifests: OnceCell<Vec<Arc<SourceFile>>>,
    as_new: OnceCell<Plan>,
    patches: OnceCell<Vec<PatchAnnotation<'a>>>,
    contested: OnceCell<BTreeSet<patch::OperationId>>,
    own_fields: OnceCell<BTreeMap<patch::OperationId, OwnFields>>,
    built_files: OnceCell<BuiltFiles>,
    kinds_of_nodes: OnceCell<NodeKinds<'a>>,
    kinds_for_pods: OnceCell<NodeKinds<'a>>,
    machine_verdicts: OnceCell<Vec<Verdict>>,
    moved: OnceCell<[moved_operations::MovedOperations; 2]>,
    other_shape: OnceCell<Option<OtherShape<'a>>>,
    /// All fields of the document's schema.
    fields: OnceCell<Vec<Path>>,
}

/// The rule outside of checks.
static NO_RULE: Rule = Rule::BASE;

impl<'a> Context<'a> {
    /// The context of one cluster.
    pub fn new(input: Input<'a>, settings: &'a Settings) -> Self {
        Self {
            version: hcoplan_planner::hyperconverged::version_of(input.object),
            input,
            settings,
            site: Box::new(()),
            before: None,
            objects_before: None,
            only: None,
            known: Known::default(),
            untried: Rc::default(),
            is_further: false,
            rule: Cell::new(&NO_RULE),
        }
    }

    /// The same cluster with a further reason of its rejection in `plan`.
    pub(crate) fn as_if_rejected<'b>(&self, plan: &'b Plan) -> Context<'b>
    where
        'a: 'b,
    {
        let before = self.before;
        let other = Context::new(Input { plan, ..self.input }, self.settings).with_before(before);
        Context { is_further: true, ..other }
    }

    /// The same cluster with the HyperConverged after edits, without other objects.
    pub(crate) fn with_trial<'b>(&self, Trial { document, object, plan }: &'b Trial) -> Context<'b>
    where
        'a: 'b,
    {
        Context::new(Input { document, object, plan, ..self.input }, self.settings)
    }

    /// Runs the check of a rule.
    pub(crate) fn run<S>(&self, rule: &'static Rule, check: fn(&Self, &mut S), out: &mut S) {
        let outer = self.rule.replace(rule);
        check(self, out);
        self.rule.set(outer);
    }

    /// The rule whose check runs.
    pub fn rule(&self) -> &'static Rule {
        self.rule.get()
    }

    /// A finding of the rule whose check runs.
    pub fn finding(&self, message: impl Into<String>) -> Finding {
        Finding::new(self.rule(), message)
    }

    /// A finding about an object other than the HyperConverged, at its name.
    pub fn finding_about(&self, document: &Document, message: impl Into<String>) -> Finding {
        self.finding(message).at(document.locate(&Path::dotted("metadata.name"))).object(object_of(document))
    }

    /// Adds the HyperConverged before the change, from another revision or the cluster.
    #[must_use]
    pub fn with_before(mut self, before: Option<&'a Value>) -> Self {
        self.before = before;
        self
    }

    /// Adds the other objects before the change, from another revision.
    #[must_use]
    pub fn with_objects_before(mut self, objects: Option<&'a OtherObjects>) -> Self {
        self.objects_before = objects;
        self
    }

    /// Restricts to virtual machines by their full names.
    #[must_use]
    pub fn with_machines(mut self, only: &'a BTreeSet<String>) -> Self {
        self.only = Some(only);
        self
    }

    /// The HyperConverged before the change, in any API version; `None` if unknown.
    pub fn before(&self) -> Option<&'a Value> {
        self.before
    }

    /// An object of the repository before the change; `None` if it wasn't there, or is unknown.
    ///
    /// Directories of several clusters may each have one of its name, so the one of its file comes first.
    pub fn object_before(&self, document: &Document) -> Option<&'a Document> {
        let (kind, namespace, name) = (document.text("kind"), namespace_of(document), name_of(document));
        let all = self.objects_before?;
        let is_same = |d: &Document| name_of(d) == name && namespace_of(d) == namespace;
        let mut of_file = all.of_kind(kind).iter().filter(|d| d.file.path() == document.file.path());
        of_file.find(|d| is_same(d)).or_else(|| all.named(kind, Some(namespace), name)).map(|document| &**document)
    }

    /// The planner's input, for planning again with parts removed; only for pedantic rules.
    pub fn plan_input(&self) -> PlanInput<'a> {
        let Input { release, document, object, inventory, .. } = self.input;
        PlanInput::new(release, document, object, inventory)
    }

    /// The cluster's name.
    pub fn cluster(&self) -> &'a ClusterName {
        self.input.cluster
    }

    /// The cluster's release.
    pub fn release(&self) -> &'a Release {
        self.input.release
    }

    /// The facts about the release's KubeVirt.
    pub fn kubevirt(&self) -> &'a KubeVirtFacts {
        self.input.release.kubevirt()
    }

    /// The HyperConverged as written, with locations.
    pub fn document(&self) -> &'a Document {
        self.input.document
    }

    /// The tree of the HyperConverged as written.
    pub fn root(&self) -> &'a Node {
        &self.input.document.root
    }

    /// The location of a span of the HyperConverged.
    pub fn location(&self, span: Span) -> Location {
        self.input.document.location(span)
    }

    /// The HyperConverged as written, as JSON.
    pub fn object(&self) -> &'a Value {
        self.input.object
    }

    /// The API version: `v1beta1` or `v1`.
    pub fn version(&self) -> &'a str {
        self.version
    }

    /// The full API version: `hco.kubevirt.io/v1beta1`.
    pub fn api_version(&self) -> &'a str {
        let version = self.input.object.get("apiVersion");
        text(version)
    }

    /// The schema of its API version.
    pub fn schema(&self) -> Option<&'a Schema> {
        self.input.release.hyperconverged_schema(self.version)
    }

    /// The plan: verdict, objects, status, metrics.
    pub fn plan(&self) -> &'a Plan {
        self.input.plan
    }

    /// Whether the cluster is OpenShift, which has SSP, ImageStreams and a cluster-wide TLS profile.
    pub fn is_openshift(&self) -> bool {
        self.inventory().platform == hcoplan_planner::release::Platform::OpenShift
    }

    /// The value at a dotted path in the spec of the rendered KubeVirt, null where there is none.
    pub fn rendered_kubevirt(&self, path: &str) -> &'a Value {
        let kubevirt = self.plan().operand("KubeVirt");
        kubevirt.and_then(|k| tree::get(&k["spec"], path)).unwrap_or(&Value::Null)
    }

    /// The namespace of the golden images.
    pub fn images_namespace(&self) -> &'a str {
        &self.input.release.ssp().golden_images_namespace
    }

    /// The verdict of the API server and the webhooks.
    pub fn admission(&self) -> &'a Admission {
        &self.input.plan.admission
    }

    /// The HyperConverged as the operator reads it: defaulted, in v1's form. `None` if it is rejected.
    pub fn hyperconverged(&self) -> Option<&'a HyperConverged> {
        self.input.plan.hyperconverged.as_ref()
    }

    /// A switch as the operator reads it, by v1's path below `spec`.
    pub fn flag(&self, path: &str) -> Option<bool> {
        self.hyperconverged()?.flag(path)
    }

    /// Whether golden images are imported for several architectures.
    pub fn is_multi_arch(&self) -> bool {
        self.hyperconverged().is_some_and(HyperConverged::multi_arch)
    }

    /// Whether the common golden images are switched off.
    pub fn common_images_off(&self) -> bool {
        self.flag("workloadSources.enableCommonBootImageImport") == Some(false)
    }

    /// HCO's topology of the nodes.
    pub fn topology(&self) -> &'a Topology {
        &self.input.plan.topology
    }

    /// The declared or assumed facts about the cluster.
    pub fn inventory(&self) -> &'a Inventory {
        &self.input.inventory.inventory
    }

    /// The value of a rule's option in `hcoplan.yaml`, else the default.
    ///
    /// # Panics
    /// If the rule has no such option.
    pub fn option(&self, rule: &Rule, name: &str) -> Value {
        if let Some(value) = self.settings.option(rule.name, name) {
            return value.clone();
        }
        let declared = rule.options.iter().find(|o| o.name == name);
        match declared.map(|o| o.default) {
            Some(OptionValue::Flag(on)) => on.into(),
            Some(OptionValue::Number(number)) => number.into(),
            Some(OptionValue::Names(names)) => names.into(),
            None => panic!("{} declares no option {name}", rule.name),
        }
    }

    /// The location of the HyperConverged: its name, else its kind, else its start.
    pub fn whole_location(&self) -> Location {
        let document = self.input.document;
        let name = document.root.below("metadata.name");
        let node = name.or_else(|| document.root.get("kind"));
        document.location(node.unwrap_or(&document.root).span)
    }

    /// The location of a path in the HyperConverged, or of its nearest existing parent.
    pub fn locate(&self, path: &Path) -> Location {
        if path.0.is_empty() {
            return self.whole_location();
        }
        let (_, depth) = self.input.document.root.nearest(path);
        match depth {
            0 => self.whole_location().lacking(path.clone()),
            _ => self.input.document.locate(path),
        }
    }
}
