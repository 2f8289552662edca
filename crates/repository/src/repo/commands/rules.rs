//! What is said about commands that change a HyperConverged.

use hcoplan_diagnostics::finding::{Confidence, Finding, Group, Needs, Prediction, Rule, Severity};
use hcoplan_planner::inventory::Inventory;
use hcoplan_planner::release::Release;
use serde_json::json;

use super::super::almost::{HCO, NAME};
use super::{Action, Command, Judgement, Outcome};

/// A command that does not do what it is written for.
pub static HCO_COMMAND_FAILS: Rule = Rule {
    name: "hco-command-fails",
    group: Group::Upgrade,
    confidence: Confidence::Medium,
    predicts: Prediction::Silent("what the command is written for doesn't happen"),
    needs: Needs::Document,
    summary: "a command on the HyperConverged fails or has no effect, now or on a later release",
    ..Rule::BASE
};

/// A command that changes the HyperConverged beside what is declared.
pub static HCO_CHANGED_BY_COMMAND: Rule = Rule {
    name: "hco-changed-by-command",
    group: Group::Gitops,
    severity: Severity::Info,
    confidence: Confidence::Medium,
    predicts: Prediction::Silent("the cluster's HyperConverged is not the declared one"),
    needs: Needs::Document,
    summary: "a command changes the HyperConverged beside what is declared",
    ..Rule::BASE
};

/// What is said about a command; `release` is what the cluster's release is called.
pub fn finding(command: &Command, judged: &Judgement, release: &str) -> Finding {
    let called = &command.called;
    let failure = match (&judged.now, &judged.later) {
        (now, _) if now.is_failure() => Some((now, format!("on {release}"), String::new())),
        (_, Some((later, outcome))) => {
            let from = format!("works on {release}, and not on {later}");
            Some((outcome, from, format!("from {later} on, ")))
        }
        _ => None,
    };
    let (rule, message, label) = match failure {
        Some((outcome, label, from)) => {
            let message = match outcome {
                Outcome::Fails(why) => format!("{from}`{called}` fails: {why}"),
                Outcome::Dropped { version, path } => {
                    format!("{from}`{called}` has no effect: {version} has no `{path}`")
                }
                Outcome::Stops(error) => format!("{from}`{called}` stops HCO's reconcile: {error}"),
                Outcome::Refused(words) => format!("{from}`{called}` is refused: {words}"),
                _ => unreachable!("it is a failure"),
            };
            (&HCO_COMMAND_FAILS, message, label)
        }
        None => {
            let message = match &judged.now {
                Outcome::Nothing => format!("`{called}` changes nothing here"),
                Outcome::Changes(objects) if objects.is_empty() => {
                    format!("`{called}` changes the HyperConverged, and none of its operands")
                }
                Outcome::Changes(objects) => {
                    format!("`{called}` changes {} beside what is declared", few(objects))
                }
                Outcome::Deletes => {
                    format!("`{called}` deletes the HyperConverged, and KubeVirt and its operators with it")
                }
                Outcome::Untried(why) => format!("`{called}` isn't tried: {why}"),
                _ => unreachable!("it is no failure"),
            };
            let label = match judged.now {
                Outcome::Nothing => "as it is declared",
                _ => "not in the plan",
            };
            (&HCO_CHANGED_BY_COMMAND, message, label.to_owned())
        }
    };
    let finding = Finding::new(rule, message).at(command.place.clone()).label(label);
    match (&judged.in_v1, &command.action) {
        (Some(patch), _) => finding
            .help(format!("the same in v1: patch hyperconvergeds.v1.hco.kubevirt.io … --type merge -p '{patch}'")),
        (None, Action::Delete) => {
            finding.help("uninstallStrategy blocks it while there are virtual machines, unless it says otherwise")
        }
        (None, _) if rule.name == HCO_CHANGED_BY_COMMAND.name => {
            finding.help("declare it in the HyperConverged instead")
        }
        (None, _) => finding.help("declare it in the HyperConverged, where it is checked"),
    }
}

/// What is said about a command where the repository declares no HyperConverged: it is tried on one with nothing
/// but defaults, from the oldest release on that is modelled.
pub(in super::super) fn finding_alone(command: &Command) -> Finding {
    let manifest = json!({
        "apiVersion": format!("{HCO}/v1beta1"),
        "kind": "HyperConverged",
        "metadata": {"name": NAME, "namespace": Inventory::default().namespace},
        "spec": {},
    });
    let releases = Release::known_names().filter_map(Release::known);
    let oldest = releases.into_iter().next().expect("some release is modelled");
    let unnamed = Command { name: None, ..command.clone() };
    let judged = unnamed.judge(&oldest, &Inventory::default(), &manifest);
    let mut finding = finding(command, &judged, oldest.label());
    if judged.now == Outcome::Nothing {
        finding.message = format!("`{}` sets nothing but defaults", command.called);
    }
    finding
}

/// The first three of some names.
fn few(names: &[String]) -> String {
    const SHOWN: usize = 3;
    let shown = names[..names.len().min(SHOWN)].join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
