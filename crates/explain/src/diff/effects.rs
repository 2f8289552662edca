//! All effects of a change on a cluster.

use super::VerdictChange;
use super::cluster::{ClusterDiff, Removal};
use super::consequence;
use super::effect::Effect;
use crate::diff::Kind;
use crate::diff::semantic::{Impact, Task};
use crate::prelude::*;
use hcoplan_diagnostics::finding::{Finding, Severity};
use hcoplan_planner::plan::PREDICTED_ALERTS;
use hcoplan_planner::verdict::Verdict;

/// Alerts that start firing after an update of KubeVirt or of the nodes, not with the change; and the one about a machine
/// that doesn't boot, which has an effect of its own.
const NOT_WITH_CHANGE: [&str; 3] =
    ["DeprecatedMachineType", "OutdatedVirtualMachineInstanceWorkloads", "VirtualMachineStuckInUnhealthyState"];

/// An alert that only a new cluster raises: an update leaves the old pods where the new ones can't be scheduled.
const IN_NEW_CLUSTERS: &str = "VirtControllerDown";

impl ClusterDiff {
    /// All effects of the change on the cluster, the worst first; the same effect on several objects is merged.
    pub fn effects(&self) -> Vec<Effect> {
        let mut out: Vec<Effect> = Vec::new();
        let objects = self.object_effects().into_iter();
        let before = self.rejected_before.iter().filter(|_| !self.is_rejected());
        let before = before.map(|text| Effect::new(Impact::Behaviour, text));
        let all = self.verdicts().into_iter().chain(before);
        let all = all.chain(self.note_effects());
        for effect in all.chain(self.image_effects.iter().chain(&self.edits).cloned()).chain(objects) {
            match out.iter_mut().find(|known| known.is_like(&effect) && known.causes == effect.causes) {
                Some(known) => {
                    add_new(&mut known.subjects, effect.subjects);
                    add_new(&mut known.machines, effect.machines);
                }
                None => out.push(effect),
            }
        }
        // Pods of an object that is created again are replaced with it.
        let recreated: Vec<Vec<String>> =
            out.iter().filter(|e| e.is_recreation()).map(|e| e.subjects.clone()).collect();
        out.retain(|effect| {
            let has = |all: &Vec<String>| effect.subjects.iter().all(|name| all.contains(name));
            let is_restart = effect.task == Task::Restart && !effect.subjects.is_empty() && !effect.is_recreation();
            !(is_restart && recreated.iter().any(has))
        });
        out.sort_by_key(Effect::rank);
        out
    }

    /// The effects of changed verdicts and alerts.
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
            let effect = Effect::new(impact, format!("{side}: {why}")).action(why.help.as_deref().unwrap_or(FIX));
            out.push(Effect { place: why.location.clone(), is_refusal: true, ..effect });
        }
        if let Some(why) = &self.unknown_before {
            out.push(Effect::new(Impact::Behaviour, format!("the side before isn't planned: {why}")));
        }
        let comparison = &self.comparison;
        let verdicts = [
            ("verdict", &comparison.verdict, "hyperconverged-rejected", "hyperconverged-accepted"),
            ("reconcile", &comparison.reconcile, "reconcile-stops", "reconcile-succeeds"),
            ("ssp", &comparison.ssp, "ssp-rejected", "ssp-accepted"),
        ];
        for (outcome, change, bad, good) in verdicts {
            let says = |n: &Effect| {
                n.impact == Impact::Stops && (outcome == "reconcile" || outcome == "verdict" && n.task == Task::Fix)
            };
            let change = change.as_ref().filter(|_| !self.notes.iter().any(says));
            let (name, action, why) = match change {
                Some(VerdictChange { after: Some(why), .. }) => (bad, FIX, why),
                Some(VerdictChange { before: Some(why), .. }) => (good, "", why),
                _ => continue,
            };
            let effect = Effect::said(name, &[("why", why)]).action(action);
            let is_refusal = outcome == "verdict" && effect.impact == Impact::Stops;
            out.push(Effect { causes: because(outcome), is_refusal, ..effect });
        }
        let is_effect = |n: &Effect| n.task != Task::Note;
        let is_reported = out.iter().any(|e| e.impact == Impact::Stops) || self.notes.iter().any(is_effect);
        if let Verdict::Rejected(reasons) | Verdict::Breaks(reasons) = &self.verdict
            && !is_reported
            && !self.is_unchanged
        {
            let finding = self.findings_added.iter().find(|f| f.rejection);
            let text = finding.map(|f| f.message.clone());
            let text = text.or_else(|| reasons.first().map(ToString::to_string));
            let help = finding.and_then(|f| f.help.as_deref());
            let already = if self.rejected_before.is_some() { "; it was rejected already" } else { "" };
            let text = text.unwrap_or_default() + already;
            out.push(Effect {
                place: finding.and_then(|f| f.location.clone()),
                is_refusal: finding.is_some(),
                ..Effect::new(Impact::Stops, text).action(help.unwrap_or(FIX))
            });
        }
        out.extend(self.alerts());
        out
    }

    /// Alerts that start or stop firing: by HCO's gauges, and as the rules about the cluster predict.
    fn alerts(&self) -> Vec<Effect> {
        let comparison = &self.comparison;
        // Their names, whether they are certain, and their causes.
        type Alert = (&'static str, bool, Vec<usize>);
        let predicted = |findings: &'_ [Finding]| -> Vec<Alert> {
            let named = findings.iter().filter(|f| f.severity >= Severity::Warning);
            let named = named.filter_map(|f| {
                let (name, _) = f.alert()?;
                // What a warning is about may be different in the cluster; HCO's gauges are known.
                let is_certain = f.is_error() || PREDICTED_ALERTS.contains(&name);
                Some((name, is_certain, self.causes_of(f).to_vec()))
            });
            let named = named.filter(|(name, ..)| !NOT_WITH_CHANGE.contains(name));
            // Of a cluster that is on both sides the gauges know better.
            let is_other = |name: &str| !PREDICTED_ALERTS.contains(&name) && name != IN_NEW_CLUSTERS;
            named.filter(|(name, ..)| self.whole.is_some() || is_other(name)).collect()
        };
        let measured = |names: &[&'static str]| -> Vec<Alert> {
            names.iter().map(|name| (*name, true, comparison.because.get(name).cloned().unwrap_or_default())).collect()
        };
        let (starts, stops) = (predicted(&self.findings_added), predicted(&self.findings_removed));
        let differ = |some: &[Alert], others: &[Alert]| {
            let is_new = |name: &str| !others.iter().any(|(other, ..)| *other == name);
            some.iter().filter(|(name, ..)| is_new(name)).cloned().collect::<Vec<_>>()
        };
        let (on, off) = (measured(&comparison.alerts_added), measured(&comparison.alerts_removed));
        let on = [on.clone(), differ(&differ(&starts, &stops), &on)].concat();
        let off = [off.clone(), differ(&differ(&stops, &starts), &off)].concat();
        let effect = |(name, certain, causes): Alert, impact, text: &str| Effect {
            subjects: vec![name.to_owned()],
            certain,
            causes,
            task: Task::Alert,
            ..Effect::new(impact, text)
        };
        let on = on.into_iter().map(|alert| effect(alert, Impact::Alert, "the alert {} starts firing"));
        on.chain(off.into_iter().map(|alert| effect(alert, Impact::Better, "the alert {} stops firing"))).collect()
    }

    /// The effect of a HyperConverged that is no longer declared.
    fn removed(&self) -> Effect {
        let name = match &self.removal {
            Some(removal) if removal.is_ignored => "hyperconverged-ignored",
            Some(Removal { pruned_by: Some(_), takes_workloads: true, .. }) => "hyperconverged-deleted-with-workloads",
            Some(Removal { pruned_by: Some(_), .. }) => "hyperconverged-deleted",
            _ => "hyperconverged-left",
        };
        let pruner = self.removal.as_ref().and_then(|removal| removal.pruned_by.as_deref()).unwrap_or_default();
        Effect::said(name, &[("pruner", &pruner)])
    }

    /// The effects of notes about the release change.
    fn note_effects(&self) -> impl Iterator<Item = Effect> {
        let all: Vec<usize> = self.comparison.inputs().collect();
        self.notes.iter().map(move |note| Effect { causes: all.clone(), ..note.clone() })
    }

    /// The effects of changed objects, without those that golden images already show.
    fn object_effects(&self) -> Vec<Effect> {
        match self.whole {
            Some(Kind::Add) if self.rejected_before.is_some() => return Vec::new(),
            Some(Kind::Add) => return vec![Effect::new(Impact::Behaviour, "the cluster is new")],
            Some(Kind::Remove) => return vec![self.removed()],
            _ => {}
        }
        let comparison = &self.comparison;
        // KubeVirt's gate of the same name says so, with what it does.
        let consequences = comparison.consequences();
        let is_said = |gate: &String| consequences.iter().any(|(said, _)| said.subjects.contains(gate));
        let unfinished = comparison.unfinished.iter().filter(|(gate, ..)| !is_said(gate));
        let unfinished = unfinished.map(|(gate, maturity, causes)| Effect {
            subjects: vec![gate.clone()],
            causes: causes.clone(),
            ..Effect::new(Impact::Behaviour, format!("the feature gate {{}} is switched on ({maturity})"))
        });
        let kept = comparison.kept.iter().map(|kept| {
            let said = consequence::sentence("kept-value", &[("what", &kept.field), ("value", &kept.value)]);
            let leaf = last_part(&kept.field, '.');
            let line = kept.new.as_ref().map(|new| format!("set `{leaf}: {new}` for the value of a new cluster"));
            let effect = Effect::new(said.impact, said.text).action(line.unwrap_or(said.action));
            Effect { causes: kept.causes.clone(), ..effect }
        });
        let mut out: Vec<Effect> = unfinished.chain(kept).collect();
        for (consequence, object) in consequences {
            let Some(change) = comparison.objects.get(object) else {
                continue;
            };
            let fields: Vec<_> = consequence.fields.iter().filter_map(|i| change.fields.get(*i)).collect();
            let label = fields.first().map_or("", |f| f.step.label.as_str());
            if self.knows_images && shown_by_images(&change.id.kind, label) {
                continue;
            }
            let mut causes = if fields.is_empty() { change.causes.clone() } else { Vec::new() };
            fields.iter().for_each(|field| add_new(&mut causes, field.causes.clone()));
            causes.sort_unstable();
            let mut machines = Vec::new();
            consequence.users.iter().for_each(|key| add_new(&mut machines, consequence::of_key(&self.users, key)));
            let follows = consequence.users == ["without-architecture"];
            let all_boot = follows && !machines.is_empty() && machines.iter().all(|m| self.boots.contains(m));
            let impact = if all_boot { Impact::Behaviour } else { consequence.impact };
            out.push(Effect {
                impact,
                certain: consequence.certain || !machines.is_empty(),
                machines,
                causes,
                ..consequence.into()
            });
        }
        self.without_shown_failures(&mut out);
        out
    }
}

impl ClusterDiff {
    /// Removes effects on machines that are only possible, where a machine of the repository is known to fail for the
    /// same causes.
    fn without_shown_failures(&self, effects: &mut Vec<Effect>) {
        let fails = |e: &&Effect| e.impact == Impact::BootFailure && e.certain && !e.machines.is_empty();
        let known: Vec<&Effect> = self.image_effects.iter().filter(fails).collect();
        let is_shown = |effect: &Effect| {
            let same = |known: &&Effect| known.causes.iter().any(|cause| effect.causes.contains(cause));
            let is_of_machines = effect.impact == Impact::BootFailure || effect.impact == Impact::Scheduling;
            let is_possible = !effect.certain || effect.impact == Impact::BootFailure && !effect.machines.is_empty();
            is_of_machines && is_possible && effect.subjects.len() < 2 && known.iter().any(same)
        };
        effects.retain(|effect| !is_shown(effect));
    }
}

/// Whether the effects on golden images cover a change of an object.
fn shown_by_images(kind: &str, label: &str) -> bool {
    const COVERED: [&str; 3] =
        ["spec.enableMultipleArchitectures", "spec.cluster", "spec.commonTemplates.dataImportCronTemplates"];
    let changes_image = label.starts_with("spec.managedDataSource") || label.contains("platform");
    match kind {
        "DataSource" => true,
        "DataImportCron" => label.is_empty() || changes_image,
        "SSP" => COVERED.iter().any(|path| label.starts_with(path)),
        _ => false,
    }
}

/// Adds what isn't there yet.
pub fn add_new<T: PartialEq>(known: &mut Vec<T>, more: Vec<T>) {
    for one in more {
        if !known.contains(&one) {
            known.push(one);
        }
    }
}
