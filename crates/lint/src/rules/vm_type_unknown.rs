//! A virtual machine with a missing instance type or preference.

use hcoplan_planner::machines::{TypeKind, common_type, common_types};

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for vm in cx.virtual_machines() {
        for kind in [TypeKind::Instancetype, TypeKind::Preference] {
            out.report_all(missing(cx, &vm, kind));
            let path = vm.owner_path(kind.field()).key("inferFromVolume");
            out.report_all(cx.unlabelled(&vm, kind).map(|(claim, label)| {
                let message = format!(
                    "{vm} infers its {} from the claim {}, which has no label {label}: KubeVirt rejects it",
                    named(kind),
                    name_of(claim)
                );
                let finding = vm.finding(cx, message).at(vm.document.locate(&path)).error().label("has no default");
                finding.help("add the label, or set inferFromVolumeFailurePolicy: Ignore")
            }));
        }
    }
}

fn named(kind: TypeKind) -> &'static str {
    if kind == TypeKind::Instancetype { "instance type" } else { "preference" }
}

fn missing(cx: &Context<'_>, vm: &VirtualMachine<'_>, kind: TypeKind) -> Option<Finding> {
    let what = named(kind);
    let matcher = vm.owner_path(kind.field());
    let path = matcher.key("name");
    let name = vm.document.root.at(&path)?.as_str()?;
    let kinds = kind.kinds();
    let [cluster, namespaced] = kinds;
    let exists = common_type(kind, name, &cx.kubevirt().version).is_some();
    let is_common = exists && cx.deploys_types();
    let declared = |kind: &'static str| cx.of_kind(kind).iter();
    let of_name = |kind: &'static str| declared(kind).filter(|d| name_of(d) == name);
    let finding = |message: String| {
        let finding = vm.finding(cx, message).label("the machine waits for it");
        finding.at(vm.document.locate(&path))
    };
    let with_kind = |finding: Finding, meant: &str| {
        let set = [Change::Set(matcher.key("kind"), meant.into())];
        finding.fixes(suggested(vm.document, format!("write kind: {meant}"), &set))
    };
    let of_kind = |message: String, meant: &str| {
        with_kind(finding(message).help(format!("there is a {meant} of that name: set kind: {meant}")), meant)
    };
    let Some(found) = cx.machine_type(vm, kind) else {
        let written = vm.document.root.at(&matcher.key("kind"))?.as_str().filter(|k| !is_placeholder(k))?;
        let message = format!("{vm} refers to a {what} of the kind {written}, which doesn't exist");
        let finding = finding(message).at(vm.document.locate(&matcher.key("kind"))).error();
        let meant = nearest(written, kinds.iter().copied()).unwrap_or(cluster);
        return Some(with_kind(finding.help(format!("use {cluster} or {namespaced}")), meant));
    };
    if found.declared.is_some() || found.common.is_some() || is_placeholder(name) {
        return None;
    }
    let message = format!("{vm} refers to the {what} {name}, which nothing declares");
    if found.is_namespaced {
        // The namespace may have others.
        if is_common || of_name(cluster).next().is_some() {
            return Some(of_kind(message, cluster));
        }
        let elsewhere = of_name(namespaced).find(|d| !namespace_of(d).is_empty() && !vm.namespace().is_empty());
        if let Some(other) = elsewhere {
            let help = format!("it is declared in {}: declare it in {}, too", namespace_of(other), vm.namespace());
            let place = namespace_place(other);
            return Some(finding(message).help(help).related(place, "another namespace"));
        }
    } else if of_name(namespaced).any(|d| namespace_of(d) == vm.namespace()) {
        return Some(of_kind(message, namespaced));
    }
    if exists && !found.is_namespaced && !is_common {
        let switch = cx.field("CommonInstancetypesDeployment.enabled");
        let finding = finding(message).help("set it to true, or declare a type of that name");
        return Some(finding.related(switch.key_place(), "KubeVirt doesn't deploy its own types"));
    }
    let here = declared(if found.is_namespaced { namespaced } else { cluster });
    let here = here.filter(|d| !found.is_namespaced || namespace_of(d) == vm.namespace());
    let mut known: Vec<&str> = here.filter_map(|d| text_at(d, "metadata.name")).collect();
    if !found.is_namespaced && cx.deploys_types() {
        known.extend(common_types(kind, &cx.kubevirt().version).keys());
    }
    if known.is_empty() {
        return None;
    }
    let otherwise = "declare it in this repository; suppress this where another one declares it";
    let meant = nearest(name, known);
    let finding = if meant.is_some() { finding(message) } else { finding(message).info() };
    Some(did_you_mean(finding, "write", meant, otherwise))
}
