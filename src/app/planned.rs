//! A cluster of the sources, planned.

use std::sync::Arc;

use serde_json::Value;

use super::check;
use crate::admission::{Operation, admit};
use crate::diff::semantic::ObjectChange;
use crate::diff::{Broken, ClusterDiff, Kind, Machine, Side};
use crate::finding::Finding;
use crate::inventory::{Inventory, LoadedInventory};
use crate::kube::Object;
use crate::lifecycle::State;
use crate::lint;
use crate::matrix::{self, ClusterMatrix, MatrixInput, matrix};
use crate::plan::{Admit, Plan, plan_with};
use crate::release::Release;
use crate::repo::{ClusterRef, Loaded, Repo};

/// A cluster, planned.
pub(super) struct Planned {
    release: Arc<Release>,
    inventory: Arc<LoadedInventory>,
    loaded: Arc<Loaded>,
    plan: Plan,
}

impl Planned {
    /// The release that the cluster runs.
    pub(super) fn release(&self) -> &Arc<Release> {
        &self.release
    }

    /// Its nodes, and what else is declared of it.
    pub(super) fn inventory(&self) -> &Inventory {
        &self.inventory.inventory
    }

    /// What would come of it.
    pub(super) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The cluster in another state: on a release, with what is rendered then.
    pub(super) fn with_plan(&self, release: &Arc<Release>, plan: Plan) -> Self {
        Self {
            release: Arc::clone(release),
            inventory: Arc::clone(&self.inventory),
            loaded: Arc::clone(&self.loaded),
            plan,
        }
    }

    /// The cluster without a HyperConverged.
    pub(super) fn empty_state(&self) -> State {
        let inventory = self.inventory.inventory.clone();
        State::new(Arc::clone(&self.release), Arc::new(inventory))
    }

    /// Its HyperConverged.
    pub(super) fn manifest(&self) -> &Value {
        &self.loaded.json
    }

    /// What would exist.
    pub(super) fn objects(&self) -> Vec<Object> {
        self.plan.objects().cloned().collect()
    }

    /// What was found while reading it and by the rules; `before` is the side that it comes after.
    pub(super) fn findings(
        &self,
        repo: &Repo,
        cluster: &ClusterRef,
        before: Option<&Self>,
        selection: &lint::Selection<'_>,
    ) -> Vec<Finding> {
        let input = self.input();
        let mut findings = self.loaded.findings.clone();
        let before = before.map(|b| &b.loaded.json);
        let run = check::lint(repo, cluster, &self.loaded, input, before, selection);
        findings.extend(run.findings);
        findings
    }

    /// The virtual machines of the repository that are made from golden images of the cluster.
    pub(super) fn machines(&self, repo: &Repo, cluster: &ClusterRef, selection: &lint::Selection<'_>) -> Vec<Machine> {
        let input = self.input();
        let context =
            lint::Context::new(input, selection.settings()).with_neighbours(|| repo.neighbours(cluster, &self.loaded));
        let machines = context.virtual_machines().into_iter();
        let one = |vm: lint::VirtualMachine<'_>| {
            let source = vm.boot_source()?;
            Some(Machine {
                name: match vm.namespace() {
                    "" => vm.name().to_owned(),
                    namespace => format!("{namespace}/{}", vm.name()),
                },
                namespace: source.namespace.to_owned(),
                data_source: source.name.to_owned(),
                architecture: vm.architecture().and_then(|a| a.as_str()).map(str::to_owned),
            })
        };
        machines.filter_map(one).collect()
    }

    /// Which golden image is there for which architecture.
    fn images(&self) -> ClusterMatrix {
        let admission = &self.plan.admission;
        matrix(&MatrixInput {
            cluster: &self.loaded.name,
            release: &self.release,
            inventory: &self.inventory.inventory,
            plan: &self.plan,
            refused: admission.stage.map(|_| admission.message.as_str()),
        })
    }

    /// Takes out of changes what doesn't happen: where it isn't stored, nothing does; where the operator's
    /// reconcile stops, or SSP's webhook refuses the SSP, what they don't come to stays.
    pub(super) fn keep_unreached(&self, changes: &mut Vec<ObjectChange>) {
        let plan = &self.plan;
        if plan.hyperconverged.is_none() {
            changes.clear();
        }
        let ssp = plan.ssp.as_ref();
        if plan.reconcile_error.is_some() || ssp.is_some_and(|ssp| !ssp.admission.accepted) {
            changes.retain(|change| change.kind != Kind::Remove);
        }
    }

    /// The findings that say why it is refused.
    pub(super) fn refusals(&self, repo: &Repo, cluster: &ClusterRef) -> Vec<Finding> {
        let settings = lint::Settings::default();
        let selection = lint::Selection::of(&settings).without_fixes();
        let mut found = self.findings(repo, cluster, None, &selection);
        found.retain(|finding| finding.refusal);
        found
    }

    /// Why it is refused, with its place where a finding has one; `None` where it is accepted.
    pub(super) fn refusal(&self, cluster: &ClusterRef, findings: &[Finding]) -> Option<String> {
        let admission = &self.plan.admission;
        if admission.accepted {
            return None;
        }
        let finding = findings.iter().find(|f| f.refusal);
        let message = || format!("{}: it is refused: {}", cluster.path(), admission.message);
        Some(finding.map_or_else(message, finding_line))
    }

    fn input(&self) -> lint::Input<'_> {
        lint::Input {
            cluster: &self.loaded.name,
            release: &self.release,
            document: &self.loaded.document,
            object: &self.loaded.json,
            inventory: &self.inventory,
            plan: &self.plan,
        }
    }

    pub(super) fn side(&self) -> Side<'_> {
        Side {
            release: &self.release,
            inventory: &self.inventory,
            document: Some(&self.loaded.document),
            object: &self.loaded.json,
            plan: &self.plan,
        }
    }
}

/// What happens to golden images between two states, where both can have some.
pub(super) fn tell_images(before: &Planned, after: &Planned, machines: &[Machine], diff: &mut ClusterDiff) {
    let images = (before.images(), after.images());
    if let Some(effects) = matrix::effects(&images.0, &images.1, &diff.comparison, machines) {
        diff.image_effects = effects;
        diff.knows_images = true;
    }
}

/// Why a side can't be planned.
pub(super) struct Unplannable {
    why: String,
    /// What to do about it, where somebody knows.
    help: Option<String>,
    /// Its files can't be read or parsed.
    unreadable: bool,
}

impl Unplannable {
    /// Its files can't be read or parsed, as a finding says.
    pub(super) fn unreadable(finding: &Finding) -> Self {
        Self { unreadable: true, ..Self::unusable(finding) }
    }

    fn unusable(finding: &Finding) -> Self {
        Self { why: finding_line(finding), help: finding.help.as_deref().map(str::to_owned), unreadable: false }
    }

    pub(super) fn broken(self, left: bool) -> Broken {
        Broken { left, both: false, unreadable: self.unreadable, why: self.why, help: self.help }
    }
}

/// A side, planned or not.
type Attempt = Result<Planned, Unplannable>;

/// What to do where no inventory says which nodes a cluster has.
pub const NO_INVENTORY: &str = "`hcoplan init` writes an inventory to fill in, --inventory names one, and `hcoplan \
                                lint` goes on without";

/// Plans a cluster.
pub(super) fn plan(repo: &Repo, cluster: &ClusterRef) -> Attempt {
    let unusable = |why| Unplannable { why, help: None, unreadable: false };
    let loaded = repo.load(cluster);
    let loaded = loaded.map_err(|p| Unplannable::unreadable(&p.finding))?;
    let Some(inventory) = loaded.inventory.clone() else {
        return Err(Unplannable {
            help: Some(NO_INVENTORY.to_owned()),
            ..unusable("no inventory says which nodes it has".to_owned())
        });
    };
    let release = match &loaded.release {
        Ok(release) => Arc::clone(release),
        Err(finding) => return Err(Unplannable::unusable(finding)),
    };
    if !inventory.valid {
        let mut found = loaded.findings.iter();
        let why = found.find(|f| f.rule.name == "inventory-invalid");
        let why = why.map_or_else(|| "its inventory is wrong".to_owned(), finding_line);
        return Err(unusable(why));
    }
    // What would be rendered is compared even where a webhook refuses: the verdict is told beside.
    let plan = plan_with(&release, &inventory.inventory, &loaded.json, Admit::Force);
    Ok(Planned { release, inventory, plan, loaded: Arc::new(loaded) })
}

/// Why a cluster's manifest is refused as a new one, with its place; `None` where it is accepted or can't
/// be judged. `release` is the one where nothing says another.
pub(super) fn refusal(repo: &Repo, cluster: &ClusterRef, release: Option<&Arc<Release>>) -> Option<String> {
    let loaded = repo.load(cluster).ok()?;
    let release = Arc::clone(loaded.release.as_ref().ok().or(release)?);
    let inventory = loaded.inventory_or_none();
    let (nodes, manifest) = (&inventory.inventory, &loaded.json);
    if admit(&release, nodes, manifest, Operation::Create).accepted {
        return None;
    }
    let planned = Planned {
        plan: plan_with(&release, nodes, manifest, Admit::Create),
        release,
        inventory,
        loaded: Arc::new(loaded),
    };
    planned.refusal(cluster, &planned.refusals(repo, cluster))
}

/// A finding on one line, its place before it.
pub fn finding_line(finding: &Finding) -> String {
    match &finding.location {
        Some(place) => {
            let (path, at) = (place.file.path(), place.start());
            format!("{path}:{}:{}: {}", at.line, at.column, finding.message)
        }
        None => finding.message.clone(),
    }
}
