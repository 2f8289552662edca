//! `hcoplan explain`: alerts, feature gates and annotations, from the rules and the releases' data.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use super::explain_field;
use super::explain_words;
use crate::admission::{READ_ANNOTATIONS as READ, ReadAnnotation};
use crate::finding::{Prediction, Rule, nearest};
use crate::hyperconverged::MOVES;
use crate::jsonpatch::ANNOTATIONS;
use crate::lint;
use crate::plan::PREDICTED_ALERTS;
use crate::release::{Distribution, Phase, Release};

/// HCO's alerts: the severity, what raises each, and what ends it. Source: HCO
/// `pkg/monitoring/hyperconverged/rules/alerts/operator_alerts.go` and what sets its gauges.
const RAISED: [(&str, &str, &str, &str); 8] = [
    (
        "DeprecatedMachineType",
        "warning",
        "a virtual machine has a machine type that a node reports as deprecated, for five minutes",
        "the machine gets a newer type",
    ),
    (
        "HCOGoldenImageWithNoArchitectureAnnotation",
        "warning",
        "multi-arch golden images are on, and an entry of dataImportCronTemplates lacks the annotation \
         ssp.kubevirt.io/dict.architectures",
        "the entry gets the annotation, or is taken out",
    ),
    (
        "HCOGoldenImageWithNoSupportedArchitecture",
        "warning",
        "multi-arch golden images are on, and no node has one of the architectures that an image is \
         annotated with",
        "there is such a node, or the image is annotated with another one or taken out",
    ),
    (
        "HCOInstallationIncomplete",
        "info",
        "there is no HyperConverged for an hour after the operator is installed",
        "a HyperConverged is made",
    ),
    (
        "HCOMisconfiguredDescheduler",
        "critical",
        "the KubeDescheduler `cluster` has no profile that knows virtual machines",
        "it gets one, such as KubeVirtRelieveAndMigrate",
    ),
    (
        "HCOMultiArchGoldenImagesDisabled",
        "warning",
        "the workload nodes have several architectures, and multi-arch golden images are off",
        "they are switched on, or workloads.nodePlacement selects nodes of one architecture only",
    ),
    (
        "KubeVirtCRModified",
        "warning",
        "HCO reverted a change that somebody made to an operand: it counts them in \
         kubevirt_hco_out_of_band_modifications_total",
        "ten minutes pass without another one",
    ),
    (
        "UnsupportedHCOModification",
        "info",
        "a jsonpatch annotation is there: it is counted in kubevirt_hco_unsafe_modifications, and the \
         condition TaintedConfiguration is true",
        "the annotation is removed",
    ),
];

/// The page of an alert, a gate or an annotation; of one release, or of all. `None` where it is none.
pub(super) fn page(subject: &str, release: Option<&Arc<Release>>) -> Option<String> {
    let releases: Vec<Arc<Release>> = match release {
        Some(release) => vec![Arc::clone(release)],
        None => Release::known_names().filter_map(Release::known).collect(),
    };
    alert(subject).or_else(|| annotation(subject)).or_else(|| gate(subject, &releases))
}

/// What can be explained, by kind.
pub(super) fn names() -> Vec<(&'static str, Vec<String>)> {
    let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect::<Vec<_>>();
    let rules = lint::rules().iter();
    let kinds = explain_field::kinds();
    vec![
        ("Rules", rules.map(|r| r.rule.name.to_owned()).collect()),
        ("Alerts", owned(alerts().into_keys().collect())),
        ("Annotations", owned(annotations())),
        ("Feature gates of HCO", gates()),
        ("Fields of", kinds.into_iter().map(|k| format!("{k}.spec")).collect()),
    ]
}

/// The same as a list.
pub(super) fn topics() -> String {
    let mut out = String::from("hcoplan explain TOPIC\n");
    for (title, names) in names() {
        let _ = writeln!(out, "\n{title}");
        for name in names {
            let _ = writeln!(out, "  {name}");
        }
    }
    out
}

/// The name that is most like a text.
pub(super) fn nearest_topic(text: &str) -> Option<String> {
    let gates = gates();
    let alerts = alerts();
    let names = alerts.keys().copied().chain(annotations());
    let names = names.chain(gates.iter().map(String::as_str));
    nearest(text, names).map(str::to_owned)
}

/// Each alert with the rules that say where it would fire.
fn alerts() -> BTreeMap<&'static str, Vec<&'static Rule>> {
    let mut out: BTreeMap<&str, Vec<&Rule>> = PREDICTED_ALERTS.iter().map(|a| (*a, Vec::new())).collect();
    for rule in lint::rules().iter().map(|r| r.rule) {
        if let Prediction::Alert { name, .. } = rule.predicts {
            out.entry(name).or_default().push(rule);
        }
    }
    out
}

fn alert(subject: &str) -> Option<String> {
    let all = alerts();
    let (name, rules) = all.iter().find(|(name, _)| name.eq_ignore_ascii_case(subject))?;
    let mut out = format!("# {name}\n\n");
    let raised = RAISED.iter().find(|(alert, ..)| alert == name);
    let who = match (PREDICTED_ALERTS.contains(name), raised) {
        (true, _) => "HCO's own gauges decide about this alert, and `hcoplan plan` says when it would fire.",
        (false, Some(_)) => "HCO's own gauges decide about this alert; rules say what would raise it.",
        (false, None) => "Gauges of another operator decide about this alert; rules say what would raise it.",
    };
    let _ = writeln!(out, "{who}\n");
    if let Some((_, severity, raises, ends)) = raised {
        let _ = writeln!(out, "It fires with the severity {severity} when {raises}.\nIt ends when {ends}.\n");
    }
    let runbooks = rules.iter().filter_map(|r| match r.predicts {
        Prediction::Alert { runbook, .. } => Some(runbook),
        _ => None,
    });
    let own = format!("https://kubevirt.io/monitoring/runbooks/{name}.html");
    let runbook = runbooks.into_iter().next().unwrap_or(&own).to_owned();
    let _ = writeln!(out, "Runbook: <{runbook}>");
    for (title, address) in Distribution::vendors_runbooks(name) {
        let _ = writeln!(out, "Runbook of {title}: <{address}>");
    }
    if !rules.is_empty() {
        out.push_str("\nRules about it (`hcoplan explain RULE`):\n\n");
    }
    for rule in rules {
        let _ = writeln!(out, "- {}: {}", rule.name, rule.summary);
    }
    Some(out)
}

fn annotations() -> Vec<&'static str> {
    let read = READ.iter().map(|a| a.name);
    let mut all: Vec<&str> = read.chain(ANNOTATIONS.iter().map(|a| a.name)).collect();
    all.sort_unstable();
    all
}

fn annotation(subject: &str) -> Option<String> {
    let is_it = |name: &str| name.eq_ignore_ascii_case(subject);
    if let Some(ReadAnnotation { name, effect: what, .. }) = READ.iter().find(|a| is_it(a.name)) {
        return Some(format!("# {name}\n\n{what}\n"));
    }
    let patch = ANNOTATIONS.iter().find(|a| is_it(a.name))?;
    let (name, kind, version) = (patch.name, patch.kind, patch.api_version);
    let text = format!(
        "# {name}\n\nOn the HyperConverged: a JSON patch that HCO applies to the {kind} ({version}) which \
         it renders, below `/spec`. It is unsupported: UnsupportedHCOModification fires while it is \
         there, and a later release may refuse it or take it to mean something else.\n\n`hcoplan lint` \
         tries each operation, `hcoplan why CLUSTER {kind}` shows what each does, and `hcoplan plan \
         --upgrade-to RELEASE` which of them stop working.\n"
    );
    Some(text)
}

/// HCO's gates of all releases, sorted.
fn gates() -> Vec<String> {
    let mut out = Vec::new();
    for release in Release::known_names().filter_map(Release::known) {
        out.extend(release.tables().feature_gates.iter().map(|g| g.name.clone()));
    }
    out.sort();
    out.dedup();
    out
}

fn gate(subject: &str, releases: &[Arc<Release>]) -> Option<String> {
    let is_it = |name: &str| name.eq_ignore_ascii_case(subject);
    let own = |r: &Arc<Release>| {
        let mut gates = r.tables().feature_gates.iter();
        gates.find(|g| is_it(&g.name)).map(|g| g.name.clone())
    };
    let mut name = releases.iter().find_map(own);
    let mut lines = String::new();
    for release in releases {
        let own = release.tables().feature_gates.iter().find(|g| is_it(&g.name));
        let theirs = release.kubevirt().feature_gates.iter().find(|(g, _)| is_it(g));
        if own.is_none() && theirs.is_none() {
            let _ = writeln!(lines, "- {}: not there", release.label());
            continue;
        }
        if let Some(gate) = own {
            let _ = write!(lines, "- {}: {}", release.label(), gate.phase.as_str());
            let tables = release.tables();
            let switched = tables.switched_by(&gate.name);
            if !switched.is_empty() {
                let switched = switched.join(", ");
                let _ = write!(lines, "; decides about {switched} of KubeVirt");
            }
            if let Some(effect) = tables.gate_effects.get(&gate.name) {
                let _ = write!(lines, "; {effect}");
            }
            lines.push('\n');
        }
        if let Some((gate, phase)) = theirs.filter(|_| own.is_none()) {
            name = name.or(Some(gate.clone()));
            let unread = release.kubevirt().gates_without_effect.contains(gate);
            let said = if unread {
                "which nothing reads any more".to_owned()
            } else {
                format!("{}; {}", of_kubevirt(*phase), switch(release, gate, *phase))
            };
            let _ = writeln!(lines, "- {}: a gate of KubeVirt, {said}", release.label());
        }
    }
    let name = name?;
    let what = explain_words::of_gate(&name).map_or_else(String::new, |w| format!("{w}\n\n"));
    let mut out = format!("# {name}\n\n{what}A feature gate, by release:\n\n{lines}");
    for distribution in Distribution::all() {
        let mut previews = distribution.technology_previews.iter();
        let source = previews.find(|p| p.value == name).map(|p| &p.source);
        if let Some(source) = source.and_then(|s| distribution.sources.get(s)) {
            let _ = writeln!(
                out,
                "\nWhile it is no field, it is a Technology Preview of {}: <{}>",
                distribution.title, source.url
            );
        }
    }
    if let Some((old, new)) = MOVES.iter().find(|(old, _)| *old == name) {
        let _ = writeln!(out, "\nA field took its place: `spec.{old}` in v1beta1, `spec.{new}` in v1.");
    }
    Some(out)
}

/// What a phase means for a gate of KubeVirt.
fn of_kubevirt(phase: Phase) -> &'static str {
    match phase {
        Phase::Deprecated => "deprecated (works while it is listed)",
        Phase::Discontinued => "gone: listing it does nothing",
        phase => phase.as_str(),
    }
}

/// What switches a gate of KubeVirt.
fn switch(release: &Release, gate: &str, phase: Phase) -> String {
    if matches!(phase, Phase::Ga | Phase::Discontinued) {
        return "nothing switches it".to_owned();
    }
    match release.tables().switch_of(gate) {
        Some(own) => format!("HCO's gate {} switches it", own.name),
        None if release.tables().kubevirt_feature_gates.always.iter().any(|g| g == gate) => {
            "HCO always switches it on".to_owned()
        }
        None => "HCO has no switch for it; only a jsonpatch of the KubeVirt object could set it, which is \
                 unsupported"
            .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_is_listed_has_a_page() {
        let gates = gates();
        let alerts = alerts();
        let names = alerts.keys().copied().chain(annotations());
        for name in names.chain(gates.iter().map(String::as_str)) {
            let page = page(name, None).unwrap_or_else(|| panic!("{name} has no page"));
            assert!(page.starts_with(&format!("# {name}")), "{name}: {page}");
            assert!(topics().contains(name), "{name} is not listed");
            assert!(!page.contains("derive:"), "{name}: {page}");
        }
    }

    #[test]
    fn what_raises_and_ends_a_predicted_alert_is_told() {
        for name in PREDICTED_ALERTS {
            let page = page(name, None).expect("a page");
            assert!(page.contains("It fires with the severity ") && page.contains("It ends when "), "{page}");
        }
    }

    #[test]
    fn gates_are_told_by_release() {
        let page = page("enableMultiArchBootImageImport", None).expect("a page");
        for release in Release::known_names() {
            assert!(page.contains(release), "{release}: {page}");
        }
        let of_one = super::page("HotplugVolumes", Release::known("1.19").as_ref()).expect("a page");
        assert!(of_one.contains("KubeVirt") && !of_one.contains("1.16"), "{of_one}");
    }
}
