//! A virtual machine of an architecture that no node has.

use hcoplan_planner::inventory::Architecture;

use super::prelude::*;
use crate::GUEST_ARCHITECTURES;

pub(super) static RULE: Rule = Rule::error(
    "vm-architecture-not-in-cluster",
    Group::Heterogeneous,
    "a virtual machine gets an architecture that no workload node has",
)
.predicts(alert!("VirtualMachineStuckInUnhealthyState"))
.needs(Needs::Nodes)
.fix(FixKind::Suggested);

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let workload = &cx.topology().workload_architectures;
    if workload.is_empty() {
        return;
    }
    let crosses = has_gate(cx, "CrossArchitectureVirtualization");
    for boot in cx.boots() {
        let (vm, guest) = (&boot.vm, &boot.guest);
        let Some(name) = guest.name.as_deref().filter(|n| !workload.iter().any(|w| w == n)) else {
            continue;
        };
        let known = GUEST_ARCHITECTURES.contains(&name);
        let message = if known {
            format!("{} is {name}, but workload nodes are {}", vm.display_name(), and(workload))
        } else {
            format!("KubeVirt refuses {}: unsupported architecture: {name}", vm.display_name())
        };
        let place = match vm.architecture() {
            Some(_) => vm.place("architecture"),
            None => vm.name_place(),
        };
        let label = match vm.architecture() {
            Some(_) if known => "no workload node has it".to_owned(),
            Some(_) => format!("not one of {}", and(&GUEST_ARCHITECTURES)),
            None => format!("{name}, as {}", guest.reason()),
        };
        let finding = Finding::new(&RULE, message)
            .at(place.clone())
            .object(object_of(vm.document))
            .label(label)
            .severity(if known && crosses { Severity::Warning } else { Severity::Error });
        let meant = Architecture::alias(name).filter(|_| vm.architecture().is_some());
        let finding = match meant {
            Some(meant) => finding.help(format!("did you mean {meant}?")).fix(Fix::edit(
                format!("write {meant}"),
                Applicability::Suggestion,
                place,
                meant,
            )),
            None => finding.help(format!("workload nodes are {}", and(workload))),
        };
        out.report(with_nodes(finding, cx, workload));
    }
}
