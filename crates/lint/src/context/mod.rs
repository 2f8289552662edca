//! The data for rules.
//!
//! Rules never read files and never plan: the app reads, pairs and plans once, and a [`Context`] answers questions
//! about one cluster. Its answers are in the terms of the rules (a field, an annotation, a golden image, a node). Each
//! answer has its location in the user's files, in every API version of the HyperConverged.

mod after_edits;
mod annotation;
mod boots;
mod build_output;
mod built_files;
mod bundles;
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
mod moved_comments;
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
mod releases;
mod relocated;
mod shape;
mod source;
mod storage_classes;
mod texts;
mod verdict;
mod virtual_machines;

use std::cell::{Cell, OnceCell};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value;

pub use annotation::Annotation;
pub use boots::{Boot, BootFacts, BootSource, SourceKind};
pub use built_files::Extent;
pub use bundles::{Csv, ImageUse, SupportedPlatforms, UsedAs};
pub(super) use crons::cron_names;
pub(crate) use destinations::similar;
pub use destinations::{Destination, DestinationKind};
pub use field::Field;
pub use gate::Gate;
pub use gate_change::PatchedGates;
pub use guest_architecture::{ArchitectureReason, GUEST_ARCHITECTURES, GuestArchitecture, KnownSource};
pub use image_evidence::ImageEvidence;
pub use image_output::{Form, Platform};
pub use images::{GoldenImage, WrittenTemplate};
pub use machines::{Candidate, MachineType, NodeOffer, offers};
pub use mistyped::{Mistyped, meant_flag};
pub(crate) use moved_comments::with_comments;
pub use nodes::NodeRef;
pub use operand_field::OperandField;
pub use other_objects::Descheduler;
pub use other_shape::{OtherShape, flag};
pub use own_field::{OwnField, OwnFields};
pub use patch::{Applied, PatchAnnotation, PatchFailure};
pub use patched_gates::{CDI_GATES, KUBEVIRT_GATES};
pub use placement::{Placement, Pods, Unmatched};
pub use pod_placement::ArchitectureScope;
pub use pod_templates::{ArchitectureSupport, ImageCoverage, POD_KINDS, PodTemplate};
pub use releases::{gate_when_unset, schema_path};
pub use shape::Shape;
pub(crate) use storage_classes::{DEFAULT, DiskSpec, VIRT_DEFAULT, default_place};
pub use virtual_machines::{SourceRef, VirtualMachine, source_ref};

use hcoplan_diagnostics::finding::{OptionValue, Rule};
use hcoplan_diagnostics::source::{Location, SourceFile};
use hcoplan_explain::why::PlanInput;
use hcoplan_kubernetes::schema::Schema;
use hcoplan_planner::admission::Admission;
use hcoplan_planner::hyperconverged::HyperConverged;
use hcoplan_planner::inventory::{Inventory, LoadedInventory};
use hcoplan_planner::machines::Verdict;
use hcoplan_planner::plan::Plan;
use hcoplan_planner::release::Release;
use hcoplan_planner::topology::Topology;
use hcoplan_repository::repo::{Layer, OtherObjects};
use hcoplan_yaml::edit::EditableFile;
use hcoplan_yaml::{Document, Path};

use self::source::Source;
use crate::Settings;

/// What the app gives about one cluster.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// The cluster's name.
    pub cluster: &'a str,
    /// The release that the cluster runs.
    pub release: &'a Release,
    /// The HyperConverged as written.
    pub document: &'a Document,
    /// The same as JSON.
    pub object: &'a Value,
    /// What was declared about the cluster, with its places; where nothing was, what is assumed.
    pub inventory: &'a LoadedInventory,
    /// What would happen.
    pub plan: &'a Plan,
}

/// What a rule may examine: one cluster.
pub struct Context<'a> {
    input: Input<'a>,
    settings: &'a Settings,
    version: &'a str,
    images: OnceCell<Vec<GoldenImage<'a>>>,
    architectures: OnceCell<BTreeSet<&'a str>>,
    other_objects: Source<'a, OtherObjects>,
    layers: Source<'a, Vec<Layer>>,
    evidence: OnceCell<image_evidence::EvidenceIndex>,
    importers: OnceCell<BTreeSet<String>>,
    boots: OnceCell<Vec<BootFacts>>,
    kept_sources: OnceCell<HashSet<(String, String)>>,
    sources: OnceCell<guest_architecture::SourceIndex<'a>>,
    bundles: OnceCell<bundles::Bundles>,
    texts: Source<'a, Vec<Arc<SourceFile>>>,
    texts_and_manifests: OnceCell<Vec<Arc<SourceFile>>>,
    before: Option<&'a Value>,
    /// The virtual machines that are examined; all of them where none is named.
    only: Option<&'a BTreeSet<String>>,
    editable_file: Source<'a, EditableFile>,
    as_new: OnceCell<Plan>,
    patches: OnceCell<Vec<PatchAnnotation<'a>>>,
    own_fields: OnceCell<BTreeMap<patch::OperationId, OwnFields>>,
    extents: OnceCell<built_files::Extents>,
    machine_verdicts: OnceCell<Vec<Verdict>>,
    moved: OnceCell<[moved_operations::MovedOperations; 2]>,
    /// Whether a fix was given up, as many others were tried; the next finding says so.
    untried: Rc<Cell<bool>>,
    other_shape: OnceCell<Option<OtherShape<'a>>>,
    /// Every field that the document's schema has.
    known_fields: OnceCell<Vec<Path>>,
    /// Whether what is examined is a further reason of a rejection, behind the one that the server reports.
    is_further: bool,
}

impl<'a> Context<'a> {
    /// The context of one cluster.
    pub fn new(input: Input<'a>, settings: &'a Settings) -> Self {
        Self {
            version: hcoplan_planner::hyperconverged::version_of(input.object),
            input,
            settings,
            images: OnceCell::new(),
            architectures: OnceCell::new(),
            other_objects: Source::default(),
            layers: Source::default(),
            evidence: OnceCell::new(),
            importers: OnceCell::new(),
            boots: OnceCell::new(),
            kept_sources: OnceCell::new(),
            sources: OnceCell::new(),
            bundles: OnceCell::new(),
            texts: Source::default(),
            texts_and_manifests: OnceCell::new(),
            before: None,
            only: None,
            editable_file: Source::default(),
            as_new: OnceCell::new(),
            patches: OnceCell::new(),
            own_fields: OnceCell::new(),
            extents: OnceCell::new(),
            machine_verdicts: OnceCell::new(),
            moved: OnceCell::new(),
            untried: Rc::default(),
            other_shape: OnceCell::new(),
            known_fields: OnceCell::new(),
            is_further: false,
        }
    }

    /// The same cluster with one of the further reasons of its rejection in `plan`.
    pub(crate) fn as_if_rejected<'b>(&self, plan: &'b Plan) -> Context<'b>
    where
        'a: 'b,
    {
        let before = self.before;
        let other = Context::new(Input { plan, ..self.input }, self.settings).with_before(before);
        Context { is_further: true, ..other }
    }

    /// The same cluster with the HyperConverged as a fix leaves it, without the other objects of its directory.
    pub(crate) fn with_text<'b>(&self, document: &'b Document, object: &'b Value, plan: &'b Plan) -> Context<'b>
    where
        'a: 'b,
    {
        Context::new(Input { document, object, plan, ..self.input }, self.settings)
    }

    /// The context with the HyperConverged before the change, where two revisions are compared or the cluster's own
    /// object is given.
    #[must_use]
    pub fn with_before(mut self, before: Option<&'a Value>) -> Self {
        self.before = before;
        self
    }

    /// The context with these virtual machines alone, by their full names.
    #[must_use]
    pub fn with_machines(mut self, only: &'a BTreeSet<String>) -> Self {
        self.only = Some(only);
        self
    }

    /// The HyperConverged before the change, in any API version; `None` where it is unknown.
    pub fn before(&self) -> Option<&'a Value> {
        self.before
    }

    /// The inputs, for taking parts of them away and planning again: for pedantic rules only.
    pub fn plan_input(&self) -> PlanInput<'a> {
        let Input { release, document, object, inventory, .. } = self.input;
        PlanInput::new(release, document, object, inventory)
    }

    /// The cluster's name.
    pub fn cluster(&self) -> &'a str {
        self.input.cluster
    }

    /// The release that the cluster runs.
    pub fn release(&self) -> &'a Release {
        self.input.release
    }

    /// The HyperConverged as written, with the bytes of everything in it.
    pub fn document(&self) -> &'a Document {
        self.input.document
    }

    /// The HyperConverged as written, as JSON.
    pub fn object(&self) -> &'a Value {
        self.input.object
    }

    /// The API version that it was written in: `v1beta1` or `v1`.
    pub fn version(&self) -> &'a str {
        self.version
    }

    /// The same in full: `hco.kubevirt.io/v1beta1`.
    pub fn api_version(&self) -> &'a str {
        let version = self.input.object.get("apiVersion");
        version.and_then(Value::as_str).unwrap_or_default()
    }

    /// The schema of the version that it was written in.
    pub fn schema(&self) -> Option<&'a Schema> {
        let name = format!("hyperconverged.{}", self.version);
        self.input.release.schema(&name)
    }

    /// What would happen: verdict, objects, status, gauges.
    pub fn plan(&self) -> &'a Plan {
        self.input.plan
    }

    /// The verdict of the API server and the webhooks.
    pub fn admission(&self) -> &'a Admission {
        &self.input.plan.admission
    }

    /// The HyperConverged as the operator reads it: defaulted, in v1's shape. `None` when it was
    /// rejected.
    pub fn hyperconverged(&self) -> Option<&'a HyperConverged> {
        self.input.plan.hyperconverged.as_ref()
    }

    /// What HCO derives from the nodes.
    pub fn topology(&self) -> &'a Topology {
        &self.input.plan.topology
    }

    /// What was declared about the cluster, or is assumed.
    pub fn inventory(&self) -> &'a Inventory {
        &self.input.inventory.inventory
    }

    /// What `hcoplan.yaml` sets an option of a rule to, else the option's default.
    ///
    /// # Panics
    /// When the rule declares no such option.
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

    /// The location of the whole HyperConverged: its name, else its kind, else its first bytes.
    pub fn whole_location(&self) -> Location {
        let document = self.input.document;
        let name = document.root.get("metadata").and_then(|m| m.get("name"));
        let node = name.or_else(|| document.root.get("kind"));
        document.location(node.unwrap_or(&document.root).span)
    }

    /// The place of a path in the HyperConverged, or of the nearest thing above it.
    pub fn locate(&self, path: &Path) -> Location {
        if path.0.is_empty() {
            return self.whole_location();
        }
        let (_, depth) = self.input.document.root.nearest(path);
        match depth {
            0 => self.whole_location(),
            _ => self.input.document.locate(path),
        }
    }
}
