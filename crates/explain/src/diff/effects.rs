//! All effects of a change on a cluster.

use hcoplan_planner::verdict::Verdict;

use super::cluster::{ClusterDiff, Removal};
use super::effect::{Effect, Task};
use super::semantic::{self, Impact};
use super::{Kind, Note, NoteKind, VerdictChange};

impl ClusterDiff {
    /// Everything that the change does to the cluster, the worst first; what is the same about
    /// several objects is one.
    pub fn effects(&self) -> Vec<Effect> {
        let mut out: Vec<Effect> = Vec::new();
        let objects = self.of_objects().into_iter();
        let before = self.rejected_before.iter();
        let before = before.map(|text| Effect::new(Impact::Behaviour, text));
        let all = self.verdicts().into_iter().chain(before);
        let all = all.chain(self.of_notes());
        for effect in all.chain(self.image_effects.iter().cloned()).chain(objects) {
            match out.iter_mut().find(|known| known.is_like(&effect)) {
                Some(known) => {
                    add(&mut known.subjects, effect.subjects);
                    add(&mut known.machines, effect.machines);
                    add(&mut known.causes, effect.causes);
                }
                None => out.push(effect),
            }
        }
        out.sort_by_key(Effect::rank);
        out
    }

    /// What would be rejected or stops, and the alerts.
    fn verdicts(&self) -> Vec<Effect> {
        const FIX: &str = "fix it before you apply it";
        let mut out = Vec::new();
        let because = |outcome: &str| {
            let causes = self.comparison.because.get(outcome);
            causes.cloned().unwrap_or_default()
        };
        if let Some(why) = self.not_planned() {
            let (impact, side) = if self.is_unchanged {
                (Impact::Disruption, "it isn't planned on either side")
            } else {
                (Impact::Stops, "it isn't planned")
            };
            let effect = Effect::new(impact, format!("{side}: {why}"));
            out.push(effect.action(why.help.as_deref().unwrap_or(FIX)));
        }
        if let Some(why) = &self.unknown_before {
            out.push(Effect::new(Impact::Behaviour, format!("the side before isn't planned: {why}")));
        }
        let has_note = |kinds: &[NoteKind]| self.notes.iter().any(|n| kinds.contains(&n.kind));
        let comparison = &self.comparison;
        let verdicts = [
            (
                "verdict",
                &comparison.verdict,
                "the HyperConverged is rejected",
                "the HyperConverged is accepted, which was rejected before",
                has_note(&[NoteKind::Verdict]),
            ),
            (
                "reconcile",
                &comparison.reconcile,
                "the operator's reconcile stops at",
                "the operator's reconcile goes through, which stopped before at",
                has_note(&[NoteKind::Reconcile, NoteKind::PatchFails]),
            ),
            (
                "ssp",
                &comparison.ssp,
                "SSP's webhook rejects the SSP, and no template or golden image is updated",
                "SSP's webhook accepts the SSP, which it rejected before",
                false,
            ),
        ];
        for (outcome, change, bad, good, is_reported) in verdicts {
            let effect = match change {
                _ if is_reported => continue,
                Some(VerdictChange { after: Some(why), .. }) => {
                    Effect::new(Impact::Stops, format!("{bad}: {why}")).action(FIX)
                }
                Some(VerdictChange { before: Some(why), after: None }) => {
                    Effect::new(Impact::Better, format!("{good}: {why}"))
                }
                _ => continue,
            };
            out.push(Effect { causes: because(outcome), ..effect });
        }
        let tells = |n: &Note| n.kind != NoteKind::PatchKeeps;
        let is_said = out.iter().any(|e| e.impact == Impact::Stops) || self.notes.iter().any(tells);
        if let Verdict::Rejected(reasons) | Verdict::Breaks(reasons) = &self.verdict
            && !is_said
            && !self.is_unchanged
        {
            let finding = self.findings_added.iter().find(|f| f.rejection);
            let text = finding.map(|f| f.message.clone());
            let text = text.or_else(|| reasons.first().map(ToString::to_string));
            let help = finding.and_then(|f| f.help.as_deref());
            out.push(Effect {
                place: finding.and_then(|f| f.location.clone()),
                ..Effect::new(Impact::Stops, text.unwrap_or_default()).action(help.unwrap_or(FIX))
            });
        }
        let alert = |name: &&'static str, impact, text: &str| Effect {
            subjects: vec![(*name).to_owned()],
            causes: because(name),
            ..Effect::new(impact, text)
        };
        let added = comparison.alerts_added.iter();
        out.extend(added.map(|name| {
            let effect = alert(name, Impact::Alert, "the alert {} starts firing");
            effect.action("`hcoplan explain` says what raises it and what ends it")
        }));
        let removed = comparison.alerts_removed.iter();
        out.extend(removed.map(|name| alert(name, Impact::Better, "the alert {} stops firing")));
        out
    }

    /// What happens to a cluster whose HyperConverged is no longer declared.
    fn removed(&self) -> Effect {
        if self.removal.as_ref().is_some_and(|r| r.is_ignored) {
            let text =
                "`ignore` in hcoplan.yaml leaves the HyperConverged out; the cluster keeps it, and nothing checks it";
            return Effect::new(Impact::Behaviour, text);
        }
        let Some(Removal { pruned_by: Some(pruner), takes_workloads, .. }) = &self.removal else {
            let text = "the HyperConverged is removed from the repository; nothing here deletes it in the cluster, \
                        where the operators go on with it";
            return Effect::new(Impact::Behaviour, text);
        };
        if *takes_workloads {
            let text = format!(
                "{pruner} prunes: it deletes the HyperConverged, and with it every virtual machine and its disks \
                 are deleted (uninstallStrategy: RemoveWorkloads)"
            );
            Effect::new(Impact::DataLoss, text)
                .action("keep the manifest, or set `uninstallStrategy: BlockUninstallIfWorkloadsExist` first")
        } else {
            let text = format!(
                "{pruner} prunes: it deletes the HyperConverged; KubeVirt and CDI block the deletion as long as \
                 there are virtual machines or disks"
            );
            Effect::new(Impact::Disruption, text).action("keep the manifest, or switch pruning off for it first")
        }
    }

    /// What another release makes of it.
    fn of_notes(&self) -> impl Iterator<Item = Effect> {
        let all: Vec<usize> = (0..self.comparison.causes.len()).collect();
        self.notes.iter().map(move |note| Effect {
            place: note.place.clone(),
            causes: all.clone(),
            task: task(note.kind),
            ..Effect::new(of_note(note), note.text.clone()).action(note.help.clone().unwrap_or_default())
        })
    }

    /// What follows from the objects. Of golden images only what the images themselves don't show.
    fn of_objects(&self) -> Vec<Effect> {
        match self.whole {
            Some(Kind::Add) if self.rejected_before.is_some() => return Vec::new(),
            Some(Kind::Add) => return vec![Effect::new(Impact::Behaviour, "the cluster is new")],
            Some(Kind::Remove) => return vec![self.removed()],
            _ => {}
        }
        let comparison = &self.comparison;
        let unfinished = comparison.unfinished.iter().map(|(gate, maturity)| Effect {
            subjects: vec![gate.clone()],
            ..Effect::new(Impact::Behaviour, format!("the feature gate {{}} is switched on ({maturity})"))
        });
        let mut out: Vec<Effect> = unfinished.collect();
        for (consequence, object, field) in comparison.consequences() {
            let Some(change) = comparison.objects.get(object) else {
                continue;
            };
            let field = field.and_then(|i| change.fields.get(i));
            let label = field.map_or("", |f| f.step.label.as_str());
            if self.knows_images && shown_by_images(&change.id.kind, label) {
                continue;
            }
            let causes = field.map_or(&change.causes, |f| &f.causes);
            out.push(Effect {
                impact: consequence.impact,
                certain: consequence.certain,
                when: consequence.when,
                text: consequence.text.to_owned(),
                subjects: semantic::subject(change, &consequence, field.map(|f| &f.step)),
                machines: Vec::new(),
                action: Some(consequence.action.to_owned()).filter(|a| !a.is_empty()),
                causes: causes.clone(),
                place: None,
                task: if restarts(&change.id.kind, label, consequence.text) { Task::Restart } else { Task::Know },
            });
        }
        out
    }
}

/// How severe a note is: a note about an operator that stops comes first.
fn of_note(note: &Note) -> Impact {
    match note.kind {
        NoteKind::Verdict
        | NoteKind::Reconcile
        | NoteKind::PatchFails
        | NoteKind::GateCollides
        | NoteKind::OperatorStops => Impact::Stops,
        NoteKind::Recreated => Impact::Behaviour,
        _ => note.impact,
    }
}

fn task(kind: NoteKind) -> Task {
    match kind {
        NoteKind::Verdict | NoteKind::Reconcile | NoteKind::OperatorStops => Task::Mend,
        NoteKind::PatchFails | NoteKind::GateCollides | NoteKind::PatchNoop => Task::Patch,
        NoteKind::DefaultFlips | NoteKind::Order => Task::Write,
        NoteKind::FieldIgnored | NoteKind::FieldDropped => Task::TakeOut,
        NoteKind::Recreated => Task::Restart,
        NoteKind::PatchRemoved => Task::TakeOut,
        NoteKind::GateGraduates | NoteKind::LeftBehind | NoteKind::PatchKeeps => Task::Know,
    }
}

/// Whether pods are replaced.
fn restarts(kind: &str, label: &str, text: &str) -> bool {
    let template = matches!(kind, "Deployment" | "DaemonSet") && label.starts_with("spec.template");
    template || text.contains("rolled out")
}

/// Whether the golden images before and after show the effect of a change of an object.
fn shown_by_images(kind: &str, label: &str) -> bool {
    const TOLD: [&str; 3] =
        ["spec.enableMultipleArchitectures", "spec.cluster", "spec.commonTemplates.dataImportCronTemplates"];
    let named = label.starts_with("spec.managedDataSource") || label.contains("platform");
    match kind {
        "DataSource" => true,
        "DataImportCron" => label.is_empty() || named,
        "SSP" => TOLD.iter().any(|path| label.starts_with(path)),
        _ => false,
    }
}

fn add<T: PartialEq>(to: &mut Vec<T>, more: Vec<T>) {
    for one in more {
        if !to.contains(&one) {
            to.push(one);
        }
    }
}
