//! One cluster's way through the pipeline.

use std::cell::LazyCell;
use std::sync::Arc;

use super::any_release;
use super::check;
use super::document::plan_document;
use super::outcome::{Outcome, Refusal, State};
use super::prior_state::{Prior, PriorObject, PriorState};
use super::steps::{self, Planned};
use super::view;
use super::work::Work;
use crate::admission::Stage;
use crate::diff::{self, ClusterChanges, PreviousTree};
use crate::emit::{self, ClusterFiles, DiskTree, cluster_directory};
use crate::finding::Finding;
use crate::fix;
use crate::hyperconverged;
use crate::lint;
use crate::plan::Plan;
use crate::release::Release;
use crate::repo::{ClusterRef, Loaded, Problem, Repo};
use crate::secret::{self, InputText};
use crate::yaml::{self, Document};

/// Everything that is asked for, for one cluster. What is found points at what the user wrote.
pub(super) fn work(work: &Work<'_>, repo: &Repo, cluster: &ClusterRef) -> Outcome {
    let mut outcome = as_built(work, repo, cluster);
    let layers = LazyCell::new(|| repo.build_layers(cluster).unwrap_or_default());
    for finding in &mut outcome.found.findings {
        fix::to_layers(finding, || &layers);
        finding.point_at_origins();
    }
    outcome
}

fn as_built(work: &Work<'_>, repo: &Repo, cluster: &ClusterRef) -> Outcome {
    let mut outcome = Outcome::new(cluster.name(), State::Done);
    let mut loaded = match repo.load(cluster) {
        Ok(loaded) => loaded,
        Err(problem) => {
            outcome.found.findings.push(problem.finding);
            outcome.state = State::Unreadable;
            return outcome;
        }
    };
    outcome.found.findings = std::mem::take(&mut loaded.findings);
    outcome.documents = documents_with_suppressions(&loaded);
    if loaded.inventory.is_none() && work.matrix {
        outcome.matrix = Some(view::undeclared(&loaded));
    }
    if loaded.inventory.is_none() && work.renders() {
        outcome.state = State::NoInventory;
        return outcome;
    }
    let release = match &loaded.release {
        Ok(release) => Arc::clone(release),
        Err(finding) => {
            if loaded.inventory.is_none() {
                outcome.found.findings.extend(undeclared(finding));
            }
            let mut unknown = (**finding).clone();
            outcome.state = State::Unusable;
            if let Some(selection) = work.lint.as_ref().filter(|_| work.upgrade_to.is_none()) {
                let old = match prior_object(work, cluster, &loaded, None, &mut outcome) {
                    Ok(old) => old,
                    Err(problem) => {
                        outcome.found.findings.push(problem.finding);
                        None
                    }
                };
                let inventory = loaded.inventory_or_none();
                let known = (&*inventory, old.as_ref());
                let mut found = any_release::lint(work, selection, repo, cluster, &loaded, known, &mut unknown);
                outcome.documents.append(&mut found.documents);
                outcome.found.add(found);
            }
            outcome.found.findings.push(unknown);
            return outcome;
        }
    };
    let inventory = loaded.inventory.clone();
    let inventory = match (inventory, work.renders()) {
        (Some(inventory), true) if !inventory.valid => {
            outcome.state = State::Unusable;
            return outcome;
        }
        (Some(inventory), _) => inventory,
        (None, _) => loaded.inventory_or_none(),
    };
    let prior = match prior_object(work, cluster, &loaded, Some(&release), &mut outcome) {
        Ok(prior) => prior,
        Err(problem) => {
            outcome.found.findings.push(problem.finding);
            outcome.state = State::Unreadable;
            return outcome;
        }
    };
    let plan = |force| {
        let (nodes, old) = (&inventory.inventory, prior.as_ref());
        steps::plan(work, &release, nodes, &loaded.json, old, force)
    };
    let planned = plan(work.force);
    if work.matrix && loaded.inventory.is_some() {
        let forced = || plan(true).plan;
        let nodes = &inventory.inventory;
        view::note_images_and_alerts(&release, nodes, &loaded, &planned.plan, forced, &mut outcome);
    }
    let Planned { release, plan, upgraded } = planned;
    if let Some(selection) = &work.lint {
        let input = lint::Input {
            cluster: &loaded.name,
            release: &release,
            document: &loaded.document,
            object: &loaded.json,
            inventory: &inventory,
            plan: &plan,
        };
        let mut found = check::lint(repo, cluster, &loaded, input, prior.as_ref().map(PriorObject::object), selection);
        // Asked for when the findings are reported, and kept: here it costs a worker's time.
        for place in found.findings.iter().filter_map(|f| f.location.as_ref()) {
            secret::secret_parts(&place.file);
        }
        outcome.documents.append(&mut found.documents);
        outcome.found.add(found);
    } else {
        outcome.warnings.extend(warnings(&plan));
        if !inventory.states_nodes {
            let message = "its inventory declares no node, so it is taken for a cluster without any";
            outcome.warnings.push(message.to_owned());
        }
    }
    if work.json {
        let upgraded = upgraded.as_ref();
        outcome.printed = plan_document(&loaded.name, release.label(), &plan, upgraded, work.wanted());
    }
    refuse(work, &plan, &mut outcome);
    if work.stored {
        outcome.printed = stored(&loaded.name, &release, &plan, work.force);
    }
    if let Err(error) = write(work, &loaded, &plan, &mut outcome) {
        outcome.state = State::Failed(error);
    }
    outcome
}

/// The object that the cluster holds before the change; `None` where it is a new one, or none is known.
fn prior_object(
    work: &Work<'_>,
    cluster: &ClusterRef,
    loaded: &Loaded,
    release: Option<&Arc<Release>>,
    outcome: &mut Outcome,
) -> Result<Option<PriorObject>, Box<Problem>> {
    let Some(prior) = work.prior else {
        return Ok(None);
    };
    let old = prior.of(cluster, &loaded.json, release)?;
    match (&old, prior) {
        (Prior::Nothing, PriorState::Live { file, .. }) => {
            outcome.warnings.push(format!("{file} holds no HyperConverged of its name: judged as a new one"));
        }
        (Prior::Unknown(why), PriorState::Revision { name, .. }) => {
            outcome.warnings.push(format!("in {name}, {why}; what the cluster holds isn't known: judged as a new one"));
        }
        _ => {}
    }
    Ok(old.object())
}

/// The HyperConverged as the API server would store it; empty where it is refused.
fn stored(cluster: &str, release: &Release, plan: &Plan, force: bool) -> String {
    let admission = &plan.admission;
    let forced = admission.forced.as_ref().filter(|_| force);
    let Some(object) = admission.stored.as_ref().or(forced) else {
        return String::new();
    };
    let mut out = format!("# cluster: {}\n{STORED}---\n", InputText::new(cluster).line());
    yaml::emit_to(&hyperconverged::in_storage_version(release, object), &mut out);
    out
}

const STORED: &str = "# As the API server would store it: pruned, defaulted, mutated, converted.\n";

/// The documents of a cluster's own that may hold an `ignore`.
fn documents_with_suppressions(loaded: &Loaded) -> Vec<Arc<Document>> {
    let inventory = loaded.inventory.iter().flat_map(|i| &i.documents);
    let all = [&loaded.document].into_iter().chain(inventory);
    let all = all.chain(&loaded.layers);
    all.filter(|d| lint::may_hold_suppression(d)).map(Arc::clone).collect()
}

/// The finding that there is no inventory, where the rule can't run because nothing else says the
/// release, either.
fn undeclared(release: &Finding) -> Option<Finding> {
    let rule = lint::find("inventory-missing")?.rule;
    let mut finding = Finding::new(rule, "nothing declares this cluster's nodes and its release");
    finding.location = release.location.clone();
    finding.cluster = release.cluster.clone();
    Some(finding.help("kubectl get nodes -o json | hcoplan import - > inventory.yaml"))
}

/// What would be said about a HyperConverged that gets in.
fn warnings(plan: &Plan) -> Vec<String> {
    let admission = plan.admission.warnings.iter();
    let mut out: Vec<_> = admission.map(|w| format!("HCO warns: {w}")).collect();
    if let Some(error) = &plan.reconcile_error {
        let (operand, message) = (error.operand, &error.message);
        out.push(format!("HCO's reconcile stops at {operand}: {message}"));
    }
    let refused = plan.ssp.iter().filter(|s| !s.admission.accepted);
    out.extend(refused.map(|s| format!("SSP's webhook refuses the SSP: {}", s.admission.message)));
    out
}

/// Notes a refusal.
fn refuse(work: &Work<'_>, plan: &Plan, outcome: &mut Outcome) {
    let Some(stage) = plan.admission.stage else {
        return;
    };
    let forced = work.force && plan.hyperconverged.is_some();
    outcome.refusal = Some(Refusal {
        stage,
        message: plan.admission.message.clone(),
        help: match (forced, stage) {
            _ if !work.force => None,
            (true, _) => Some("it is rendered all the same, as --force says"),
            (false, Stage::Schema | Stage::Cel) => Some(
                "what the CRD's schema refuses can't be forced: --force is for what a webhook \
                 refuses",
            ),
            (false, Stage::Mutating | Stage::Validating) => {
                Some("it can't be forced: the operator could not read it, either")
            }
        },
    });
    if !forced {
        outcome.state = State::Refused;
    }
}

/// The output tree's part.
fn write(work: &Work<'_>, loaded: &Loaded, plan: &Plan, outcome: &mut Outcome) -> Result<(), diff::Error> {
    if !matches!(outcome.state, State::Done) {
        if let Some(tree) = work.tree {
            tree.keep(&loaded.name)?;
        }
        return Ok(());
    }
    if !work.emits() {
        return Ok(());
    }
    let files = ClusterFiles::new(&loaded.name, plan, &work.texts, work.wanted());
    let files = if work.kustomization { files.with_kustomization() } else { files };
    outcome.objects = files.files.len();
    let same = match work.tree {
        Some(tree) => tree.write(&files)?,
        None => false,
    };
    outcome.changes = match work.before {
        // It was compared with just that.
        Some(PreviousTree::Disk(_)) if same => Some(ClusterChanges::none(&loaded.name)),
        Some(before) => Some(diff::compare(before, &files)?),
        None => None,
    };
    if let Some(disk) = work.check {
        outcome.stale = stale(disk, &files)?;
    }
    if work.yaml {
        outcome.printed = yaml_stream(&files);
    }
    Ok(())
}

/// The objects behind one another, as one YAML stream.
fn yaml_stream(files: &ClusterFiles) -> String {
    let mut out = format!("# cluster: {}\n{}", InputText::new(&files.cluster).line(), emit::HEADER);
    for file in &files.files {
        out.push_str("---\n");
        out.push_str(file.text.strip_prefix(emit::HEADER).unwrap_or(&file.text));
    }
    out
}

/// The files that a tree on disk would have otherwise.
fn stale(disk: &DiskTree, files: &ClusterFiles) -> Result<Vec<String>, diff::Error> {
    let directory = cluster_directory(&files.cluster)?;
    let mut out = Vec::new();
    let manifest = (emit::CLUSTER_MANIFEST, files.manifest.as_str());
    let kustomization = files.kustomization.as_deref();
    let kustomization = kustomization.map(|text| (emit::KUSTOMIZATION, text));
    let objects = files.files.iter().map(|f| (f.name.as_str(), &*f.text));
    for (name, text) in objects.chain(kustomization).chain([manifest]) {
        if disk.text(&directory, name)?.as_deref() != Some(text) {
            out.push(directory.join(name).into_string());
        }
    }
    for name in disk.names(&directory) {
        if !files.files.iter().any(|f| f.name == *name) {
            out.push(directory.join(name).into_string());
        }
    }
    Ok(out)
}
