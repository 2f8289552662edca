//! A virtual machine that refers to an instance type or a preference that isn't there.

use hcoplan_planner::machines::{TypeKind, common_types, is_placeholder};

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "vm-type-unknown",
    group: Group::Operands,
    severity: Severity::Warning,
    confidence: Confidence::Medium,
    predicts: Prediction::Silent("the machine isn't started until one of that name exists"),
    fix: FixKind::Suggested,
    summary: "neither KubeVirt nor the repository has the instance type or preference of a virtual machine",
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for vm in cx.virtual_machines() {
        for kind in [TypeKind::Instancetype, TypeKind::Preference] {
            let path = vm.owner_path(kind.field()).key("name");
            let Some(found) = cx.machine_type(&vm, kind).filter(|_| vm.document.root.at(&path).is_some()) else {
                continue;
            };
            if found.declared.is_some() || found.common.is_some() || is_placeholder(found.name) {
                continue;
            }
            let [cluster, namespaced] = kind.kinds();
            let declared = cx.other_objects().of_kind(if found.is_namespaced { namespaced } else { cluster }).iter();
            let here = declared.filter(|d| !found.is_namespaced || namespace_of(d) == vm.namespace());
            let mut known: Vec<&str> = here.filter_map(|d| text_at(d, "metadata.name")).collect();
            if !found.is_namespaced && cx.deploys_types() {
                known.extend(common_types(kind, &cx.release().kubevirt().version).keys());
            }
            // Of those of a namespace nobody knows the others.
            if known.is_empty() {
                continue;
            }
            let what = if kind == TypeKind::Instancetype { "instance type" } else { "preference" };
            let place = vm.document.locate(&path);
            let message = format!("{} refers to the {what} {}, which nothing declares", vm.display_name(), found.name);
            let finding = Finding::new(&RULE, message)
                .at(place.clone())
                .object(object_of(vm.document))
                .label("the machine waits for it");
            out.report(match nearest(found.name, known) {
                Some(meant) => finding.help(format!("did you mean {meant}?")).fix(Fix::edit(
                    format!("write {meant}"),
                    Applicability::Suggestion,
                    place,
                    meant,
                )),
                None => finding.severity(Severity::Info).help("declare it where the cluster gets it from"),
            });
        }
    }
}
