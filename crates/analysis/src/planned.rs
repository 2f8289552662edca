//! Plans a cluster of the sources.

use crate::matrix::{ClusterMatrix, MatrixInput, Obstacle};
use crate::prelude::*;
use crate::previous_state::is_same;
use crate::{matrix, matrix::machine_states, matrix::matrix};
use hcoplan_diagnostics::finding::Rule;
use hcoplan_diagnostics::source::Span;
use hcoplan_explain::diff::{Shares, Side};
use hcoplan_kubernetes::schema::ViolationKind;
use hcoplan_planner::cause::{Cause, CauseKind};
use hcoplan_planner::plan::plan_with;
use hcoplan_repository::inventory::LoadedInventory;
use hcoplan_repository::repo::removes_workloads;
use hcoplan_rule_pages::rules::{
    HCO_UNKNOWN_FIELD, INVENTORY_INVALID, NODES_ASSUMED, PLATFORM_ASSUMED, RELEASE_ASSUMED, VENDOR_VALUES_ASSUMED,
};
use hcoplan_yaml::edit::EditableFile;
use std::borrow::Cow;
use std::cell::LazyCell;

/// A cluster of a repository with the input of its plan.
#[derive(Clone)]
pub(super) struct Inputs<'a> {
    repo: &'a Repo,
    cluster: &'a ClusterRef,
    release: Arc<Release>,
    inventory: Arc<LoadedInventory>,
    loaded: Arc<Loaded>,
    around: Arc<Around>,
}

/// The rest of a cluster's directory, read once for all questions about the cluster.
#[derive(Default)]
struct Around {
    objects: OnceLock<Arc<OtherObjects>>,
    texts: OnceLock<Vec<Arc<SourceFile>>>,
}

/// A planned cluster.
#[derive(Clone)]
pub(super) struct Planned<'a> {
    inputs: Inputs<'a>,
    plan: Plan,
}

impl<'a> Inputs<'a> {
    /// The input of a cluster, with its inventory and release.
    pub(super) fn new(
        (repo, cluster): (&'a Repo, &'a ClusterRef),
        loaded: Loaded,
        release: Arc<Release>,
        inventory: Arc<LoadedInventory>,
    ) -> Self {
        Self { repo, cluster, release, inventory, loaded: Arc::new(loaded), around: Arc::default() }
    }

    /// The same cluster with another release and inventory.
    pub(super) fn with(&self, release: &Arc<Release>, inventory: Arc<LoadedInventory>) -> Self {
        Self { release: Arc::clone(release), inventory, ..self.clone() }
    }

    /// The repository of its files.
    pub(super) fn repo(&self) -> &'a Repo {
        self.repo
    }

    /// The cluster in it.
    pub(super) fn cluster(&self) -> &'a ClusterRef {
        self.cluster
    }

    /// The cluster's release.
    pub(super) fn release(&self) -> &Arc<Release> {
        &self.release
    }

    /// What that release rests on; an upgrade's is stated.
    pub(super) fn release_basis(&self) -> ReleaseBasis {
        let is_loaded = self.loaded.release.as_ref().is_ok_and(|release| release.label() == self.release.label());
        if is_loaded { self.loaded.release_basis() } else { ReleaseBasis::Stated }
    }

    /// The cluster's inventory.
    pub(super) fn inventory(&self) -> &Inventory {
        &self.inventory.inventory
    }

    /// Whether the cluster's nodes are stated, not assumed.
    pub(super) fn states_nodes(&self) -> bool {
        self.inventory.states_nodes
    }

    /// The documents read.
    pub(super) fn loaded(&self) -> &Loaded {
        &self.loaded
    }

    /// The HyperConverged.
    pub(super) fn manifest(&self) -> &Value {
        &self.loaded.json
    }

    /// Whether the HyperConverged is the former one, of an operator in the same namespace.
    pub(super) fn updates(&self, old: &Inputs<'_>) -> bool {
        is_same(old.manifest(), self.manifest()) && old.inventory().namespace == self.inventory().namespace
    }

    /// The state without a HyperConverged.
    pub(super) fn empty_state(&self) -> State {
        State::new(Arc::clone(&self.release), Arc::new(self.inventory().clone()))
    }

    /// Plans a new cluster.
    pub(super) fn planned(&self, admit: AdmissionMode) -> Planned<'a> {
        let plan = plan_with(&self.release, self.inventory(), self.manifest(), admit);
        Planned { inputs: self.clone(), plan }
    }

    /// The cluster in another state, given its release and plan.
    pub(super) fn with_plan(&self, release: &Arc<Release>, plan: Plan) -> Planned<'a> {
        Planned { inputs: Self { release: Arc::clone(release), ..self.clone() }, plan }
    }
}

impl lint::Site for Inputs<'_> {
    fn other_objects(&self) -> Arc<OtherObjects> {
        let read = || Arc::new(self.repo.other_objects(self.cluster, &self.loaded));
        Arc::clone(self.around.objects.get_or_init(read))
    }

    fn texts(&self) -> Vec<Arc<SourceFile>> {
        self.around.texts.get_or_init(|| self.repo.texts(self.cluster)).clone()
    }

    fn layers(&self) -> Vec<repo::Layer> {
        repo::annotation_layers(self.repo.build_layers(self.cluster.path()).unwrap_or_default())
    }

    fn editable_file(&self) -> Option<EditableFile> {
        Some(self.loaded.editable_file())
    }
}

impl<'a> std::ops::Deref for Planned<'a> {
    type Target = Inputs<'a>;

    fn deref(&self) -> &Inputs<'a> {
        &self.inputs
    }
}

impl Planned<'_> {
    /// The plan.
    pub(super) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Whether the manifest is rejected.
    pub(super) fn is_rejected(&self) -> bool {
        !self.plan.admission.accepted
    }

    /// Without the rendered objects if the manifest is rejected.
    pub(super) fn as_judged(&self) -> Cow<'_, Self> {
        if !self.is_rejected() {
            return Cow::Borrowed(self);
        }
        let plan = Plan::rejected(self.release(), self.inventory(), self.plan.admission.clone());
        Cow::Owned(self.with_plan(self.release(), plan))
    }

    /// All objects in the resulting state.
    pub(super) fn objects(&self) -> Vec<Object> {
        self.plan.objects().cloned().collect()
    }

    /// The findings of the rules; `before` are the HyperConverged and the other objects before the change.
    pub(super) fn run(
        &self,
        (before, objects): (Option<&Value>, Option<&OtherObjects>),
        selection: &lint::Selection<'_>,
    ) -> lint::Run {
        let context = self.context(self.input(), selection.settings());
        let mut found = lint::run(&context.with_before(before).with_objects_before(objects), selection);
        for (document, branch) in &self.loaded().branches {
            found.findings.extend(self.of_branch(document, *branch, selection));
        }
        found
    }

    /// The findings about names and values in one branch of a template. What isn't there may be in another part.
    fn of_branch(&self, document: &Arc<Document>, branch: Span, selection: &lint::Selection<'_>) -> Vec<Finding> {
        let mut object = document.root.to_json();
        // It is the same object.
        if matches!(object["metadata"], Value::Null | Value::Object(_)) {
            for key in ["name", "namespace"] {
                object["metadata"][key] = self.manifest()["metadata"][key].clone();
            }
        }
        let plan = plan_with(self.release(), self.inventory(), &object, AdmissionMode::Force);
        // A rule may require another field.
        let is_missing =
            |cause: &Cause| matches!(cause.kind, CauseKind::Violation(ViolationKind::Required | ViolationKind::Rule));
        let lacks = plan.admission.causes.iter().any(is_missing);
        let input = lint::Input { document, object: &object, plan: &plan, ..self.input() };
        let context = self.context(input, selection.settings());
        let mut found = lint::run(&context, &selection.clone().without_fixes()).findings;
        found.retain(|finding| {
            let is_in = |place: &Location| branch.start <= place.span.start && place.span.end <= branch.end;
            NAMES["rulesOfBranches"].contains(&finding.rule.name)
                && !(finding.rejection && lacks && finding.rule.name != HCO_UNKNOWN_FIELD.name)
                && finding.location.as_ref().is_some_and(is_in)
        });
        found.iter_mut().for_each(|finding| finding.offers = None);
        found
    }

    /// The findings of reading and of the rules; `before` is the HyperConverged before the change.
    pub(super) fn findings(&self, before: Option<&Value>, selection: &lint::Selection<'_>) -> Vec<Finding> {
        let mut findings = self.loaded().findings.clone();
        findings.extend(self.run((before, None), selection).findings);
        findings
    }

    /// The matrix of virtual machines and golden images. Renders also a rejected HyperConverged, to name the missing
    /// images.
    pub(super) fn matrix(&self) -> ClusterMatrix {
        self.seen(None, |context| self.matrix_of(context))
    }

    fn matrix_of(&self, context: &lint::Context<'_>) -> ClusterMatrix {
        let admission = &self.plan.admission;
        let rejected = admission.stage().map(|_| admission.message.as_str());
        ClusterMatrix { basis: self.release_basis(), ..matrix(&MatrixInput { context, rejected }) }
    }

    /// Calls `look` with other inputs, for the named virtual machines or all.
    pub(super) fn seen_with<T>(
        &self,
        before: Option<&Value>,
        (release, inventory, object): (&Arc<Release>, Inventory, Value),
        machines: Option<&BTreeSet<String>>,
        look: impl FnOnce(&lint::Context<'_>) -> T,
    ) -> T {
        let plan = plan_with(release, &inventory, &object, AdmissionMode::Force);
        let inventory = LoadedInventory { inventory, ..(*self.inputs.inventory).clone() };
        let input = lint::Input { release, object: &object, inventory: &inventory, plan: &plan, ..self.input() };
        let settings = Settings::default();
        let context = self.context(input, &settings).with_before(before);
        look(&match machines {
            Some(machines) => context.with_machines(machines),
            None => context,
        })
    }

    /// Calls `look` with the cluster's context; `before` is the HyperConverged before the change.
    fn seen<T>(&self, before: Option<&Value>, look: impl FnOnce(&lint::Context<'_>) -> T) -> T {
        look(&self.context(self.input(), &Settings::default()).with_before(before))
    }

    /// The context of the rules: the cluster and all objects of the repository.
    fn context<'b>(&'b self, input: lint::Input<'b>, settings: &'b Settings) -> lint::Context<'b> {
        lint::Context::new(input, settings).with_site(self.inputs.clone())
    }

    /// Removes changes that don't happen: if HCO's reconcile fails or SSP's webhook rejects the SSP, later objects stay
    /// unchanged.
    pub(super) fn keep_unreached(&self, changes: &mut Vec<ObjectChange>) {
        let plan = &self.plan;
        let ssp = plan.ssp.as_ref();
        if plan.reconcile_error.is_some() || ssp.is_some_and(|ssp| !ssp.admission.accepted) {
            changes.retain(|change| change.kind != Kind::Remove);
        }
    }

    /// Whether deleting its HyperConverged deletes virtual machines and disks.
    pub(super) fn takes_workloads(&self) -> bool {
        removes_workloads(self.manifest())
    }

    /// Why it is rejected, with a location if a finding has one; `None` if it is accepted.
    pub(super) fn rejection(&self) -> Option<String> {
        if !self.is_rejected() {
            return None;
        }
        let settings = Settings::default();
        let selection = lint::Selection::of(&settings).without_fixes();
        let mut found = self.as_judged().findings(None, &selection);
        let message = || format!("{}: it is rejected: {}", self.cluster.path(), self.plan.admission.message);
        Some(found.iter_mut().find(|f| f.rejection).map_or_else(message, |finding| {
            finding.point_at_origins();
            finding_line(finding)
        }))
    }

    fn input(&self) -> lint::Input<'_> {
        lint::Input {
            cluster: &self.loaded().name,
            release: self.release(),
            document: &self.loaded().document,
            object: self.manifest(),
            inventory: &self.inputs.inventory,
            plan: &self.plan,
        }
    }

    pub(super) fn side(&self) -> Side<'_> {
        // One that isn't modelled.
        let stated = self.loaded().identity.release.as_ref();
        let stated = stated.filter(|_| matches!(self.release_basis(), ReleaseBasis::NearestTo(_)));
        Side {
            release: &self.inputs.release,
            stated: stated.map(|stated| stated.value.as_str()),
            inventory: &self.inputs.inventory,
            document: Some(&self.inputs.loaded.document),
            object: &self.inputs.loaded.json,
            plan: &self.plan,
        }
    }
}

/// Maximum of virtual machines times differences for which causes are computed.
const MAX_RENDERS: usize = 2_000;

/// Adds the effects on golden images and virtual machines between two states. `start` is the HyperConverged before the
/// change.
pub(super) fn collect_image_changes(
    before: &Planned<'_>,
    after: &Planned<'_>,
    start: Option<&Value>,
    diff: &mut ClusterDiff,
) {
    let at = |side: &Planned<'_>, start| side.seen(start, |c| (side.matrix_of(c), machine_states(c)));
    let ((old, machines_before), (new, machines_after)) = (at(before, None), at(after, start));
    let (a, b) = (before.side(), after.side());
    let of_images = LazyCell::new(|| {
        Shares::new(&a, &b, |inputs| {
            let look = |context: &lint::Context<'_>| matrix(&MatrixInput { context, rejected: None });
            after.seen_with(start, inputs, Some(&BTreeSet::new()), look)
        })
    });
    let images = matrix::effects(&old, &new, &diff.comparison, &|is_so| of_images.causes(is_so));
    diff.knows_images = images.is_some();
    let (effects, kept) = images.unwrap_or_default();
    diff.image_effects = effects;
    if [&old, &new].iter().any(|m| m.obstacle.as_ref().is_some_and(Obstacle::stops_machines)) {
        return;
    }
    let all = diff.comparison.causes.len();
    let shares = |only: &BTreeSet<String>| {
        // Each difference needs two evaluations of these machines.
        (only.len() * all <= MAX_RENDERS)
            .then(|| Shares::new(&a, &b, |inputs| after.seen_with(start, inputs, Some(only), machine_states)))
    };
    let of_machines =
        matrix::machine_effects(&machines_before, &machines_after, (&diff.image_effects, &kept), shares, all);
    diff.image_effects.extend(of_machines);
    (diff.users, diff.boots) = matrix::users(&machines_after);
}

/// Converts a finding about an unreadable or invalid file.
pub fn not_planned(finding: &Finding) -> NotPlanned {
    NotPlanned { kind: NotPlannedKind::Unreadable, ..unusable(finding) }
}

/// Converts a finding about a wrong or unknown inventory or release.
pub(super) fn unusable(finding: &Finding) -> NotPlanned {
    NotPlanned {
        kind: NotPlannedKind::Unusable,
        text: finding.message.clone(),
        location: finding.location.as_ref().map(|place| place.origin().unwrap_or_else(|| place.clone())),
        help: finding.help.as_deref().map(str::to_owned),
    }
}

/// Takes what another side knows of the cluster and this one only assumes; returns the rules that report the assumptions
/// that end, and what they are about.
pub(super) fn take_known(loaded: &mut Loaded, other: &Loaded) -> Vec<(&'static Rule, &'static str)> {
    let mut taken = Vec::new();
    if !loaded.inventory.states_nodes && loaded.inventory.valid && other.inventory.states_nodes {
        let known = loaded.inventory.with_nodes(other.inventory.inventory.nodes.clone());
        loaded.inventory = Arc::new(LoadedInventory { states_nodes: true, ..known });
        taken.push((&NODES_ASSUMED, "nodes are"));
    }
    loaded.share_assumed_nodes(other);
    let is_assumed = |loaded: &Loaded| loaded.release_basis() == ReleaseBasis::Assumed;
    if let (true, false, Ok(release)) = (is_assumed(loaded), is_assumed(other), &other.release) {
        loaded.release = Ok(Arc::clone(release));
        loaded.possible.clear();
        taken.push((&RELEASE_ASSUMED, "release is"));
    }
    if loaded.identity.platform.is_assumed() && !other.identity.platform.is_assumed() {
        let mut known = (*loaded.inventory).clone();
        known.inventory.platform = other.inventory.inventory.platform;
        loaded.inventory = Arc::new(known);
        taken.push((&PLATFORM_ASSUMED, "platform is"));
    }
    taken
}

/// Reads and plans a cluster; renders it even if a webhook rejects it. What `now` is the first to state changes what is
/// known, not the cluster.
pub(super) fn plan<'a>(
    repo: &'a Repo,
    cluster: &'a ClusterRef,
    now: Option<&Loaded>,
) -> Result<Planned<'a>, Box<NotPlanned>> {
    let loaded = repo.load(cluster);
    let mut loaded = loaded.map_err(|p| Box::new(not_planned(&p.finding)))?;
    if let Some(now) = now {
        take_known(&mut loaded, now);
        // A cluster's platform doesn't change: another one was wrong.
        Arc::make_mut(&mut loaded.inventory).inventory.platform = now.inventory.inventory.platform;
    }
    let inventory = Arc::clone(&loaded.inventory);
    let release = match &loaded.release {
        Ok(release) => Arc::clone(release),
        Err(finding) => return Err(Box::new(unusable(finding))),
    };
    if !inventory.valid {
        return Err(Box::new(wrong_inventory(&loaded.findings)));
    }
    Ok(Inputs::new((repo, cluster), loaded, release, inventory).planned(AdmissionMode::Force))
}

/// Converts the findings about an inventory: the first error counts.
pub(super) fn wrong_inventory(findings: &[Finding]) -> NotPlanned {
    let found = findings.iter().find(|f| f.rule.name == INVENTORY_INVALID.name);
    unusable(found.unwrap_or(&Finding::new(&INVENTORY_INVALID, "its inventory is wrong")))
}

/// Whether a finding says what is assumed of a cluster.
pub fn is_assumption(finding: &Finding) -> bool {
    let rules = [&NODES_ASSUMED, &PLATFORM_ASSUMED, &RELEASE_ASSUMED, &VENDOR_VALUES_ASSUMED];
    finding.severity == Severity::Info && rules.iter().any(|rule| rule.name == finding.rule.name)
}

/// A finding on one line with its location.
pub fn finding_line(finding: &Finding) -> String {
    match &finding.location {
        Some(place) => format!("{}:{}: {}", place.file.path(), place.start(), finding.message),
        None => finding.message.clone(),
    }
}
