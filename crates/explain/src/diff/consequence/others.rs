//! What the other operands' settings do, apart from the rows of `rows.json`. Sources: CDI `pkg/operator` and
//! `pkg/controller/dataimportcron-controller.go`; OpenShift's TLS profiles. AAQ's words are of its
//! `pkg/aaq-controller/built-in-usage-calculators`.

use super::Change;
use super::kubevirt::{tls_clients, written_tls};
use super::said::sentence;
use super::shown::{entries, names_changed, summary};
use crate::diff::consequence::Consequence;
use crate::prelude::*;
use hcoplan_diagnostics::words::list;
use hcoplan_planner::boot_images::cdi_stage::CronStep;

/// Gates that CDI has no code for change nothing; one that has graduated is always on.
pub(super) fn cdi_gates(change: &Change<'_>) -> Vec<Consequence> {
    let is_known = |gate: &String| {
        let releases = [change.sides.before, change.sides.after];
        releases.iter().any(|release| release.tables().cdi_feature_gates.contains(gate))
    };
    let said = names_changed(change.before, change.after).into_iter().map(|(gate, was, _)| {
        let name = match (is_known(&gate), was.is_null()) {
            (false, _) => "cdi-gate-unknown",
            (_, true) => "cdi-gate-on",
            (_, false) => "cdi-gate-off",
        };
        sentence(name).about(gate)
    });
    said.collect()
}

/// OpenShift's profiles by their minimum version; CDI, SSP, AAQ and the network components have one.
pub(super) fn tls_profile(change: &Change<'_>) -> Vec<Consequence> {
    let side = |release: &Release, profile: &Value| {
        let named = profile["type"].as_str().unwrap_or("Intermediate");
        match release.tables().tls.profiles.get(named) {
            Some(known) => (known.min_tls_version.clone(), known.ciphers.iter().cloned().collect()),
            None => written_tls(&profile["custom"]),
        }
    };
    // A release that begins to write it changes nothing by that.
    if change.before.is_null() != change.after.is_null() {
        return Vec::new();
    }
    let sides = change.sides;
    let kind = &*change.object.id.kind;
    let server = if kind == "NetworkAddonsConfig" { "the network components" } else { kind };
    tls_clients(server, side(sides.before, change.before), side(sides.after, change.after))
}

/// A removed import that retains nothing takes its DataSource and disks along.
pub(super) fn cron(change: &Change<'_>) -> Vec<Consequence> {
    let name = match (change.before.is_null(), change.after.is_null()) {
        (true, _) => "cron-imported",
        (_, true) if (CronStep { before: Some(change.before), after: None }).deletes_disks() => "cron-deleted",
        (_, true) => "cron-dropped",
        _ => return Vec::new(),
    };
    vec![sentence(name).about(change.object_name())]
}

/// Another registry chooses what VMs run.
pub(super) fn image_source(change: &Change<'_>) -> Vec<Consequence> {
    let registry = |source: &Value| {
        let url = source["registry"]["url"].as_str().unwrap_or_default();
        let address = url.rsplit("://").next().unwrap_or_default();
        first_part(address, '/').to_owned()
    };
    let source = |source: &Value| {
        let named = [&source["registry"]["url"], &source["registry"]["imageStream"], &source["http"]["url"]];
        named.into_iter().find_map(Value::as_str).map_or_else(|| summary(source), str::to_owned)
    };
    let said = match (change.before.is_null(), change.after.is_null()) {
        (true, _) => sentence("image-source-added").about(change.object_name()),
        (_, true) => sentence("image-source-removed").about(change.object_name()),
        _ => {
            let [was, is] = [change.before, change.after].map(source);
            // Else a certificate or a Secret changes.
            let is_named = was != is;
            let [was, is] = if is_named { [was, is] } else { [change.before, change.after].map(summary) };
            let is_other = !is_named || registry(change.before) != registry(change.after);
            let said = if is_other { "image-source-elsewhere" } else { "image-source-changes" };
            sentence(said).turns(is, was).about(change.object_name())
        }
    };
    vec![said]
}

/// What a role grants and no longer grants: `list pods`.
pub(super) fn grants(change: &Change<'_>) -> Vec<Consequence> {
    let granted = |rules: &Value| -> BTreeSet<String> {
        let names =
            |rule: &Value, list: &str| -> Vec<_> { entries(&rule[list]).into_iter().map(|(name, _)| name).collect() };
        let of = |rule: &Value| -> Vec<String> {
            let resources = [names(rule, "resources"), names(rule, "nonResourceURLs")].concat();
            let verbs = names(rule, "verbs");
            resources.iter().flat_map(|r| verbs.iter().map(move |verb| format!("{verb} {r}"))).collect()
        };
        elements(rules).flat_map(of).collect()
    };
    let (was, is) = (granted(change.before), granted(change.after));
    let named = |all: Vec<&String>| (!all.is_empty()).then(|| list(&all, 1));
    let (more, less) = (named(is.difference(&was).collect()), named(was.difference(&is).collect()));
    let said = more
        .map(|more| sentence("grants-more").turns(more, ""))
        .into_iter()
        .chain(less.map(|less| sentence("grants-less").turns("", less)));
    said.map(|c| c.about(change.object_name())).collect()
}

/// The fields of SecurityContextConstraints are at the top.
pub(super) fn constraints(change: &Change<'_>) -> Vec<Consequence> {
    let name = change.object_name();
    match (change.before.is_null(), change.after.is_null()) {
        (true, _) => vec![sentence("constraints-appear").about(name)],
        (_, true) => vec![sentence("constraints-removed").about(name)],
        _ => {
            let leaves = change.leaves().into_iter().filter(|(field, ..)| !field.starts_with("metadata"));
            let said = |(field, was, is): (String, String, String)| {
                sentence("constraints-change").fill(&[("field", &field), ("is", &is), ("was", &was)]).about(&*name)
            };
            leaves.map(said).collect()
        }
    }
}
