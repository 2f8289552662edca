//! A virtual machine that requires resources which no declared node has.

use hcoplan_planner::machines::NodeRequirement;

use super::prelude::*;
use crate::Candidate;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let missing = missing_default(cx);
    let mut pending = Vec::new();
    for (vm, verdict) in cx.judged_machines() {
        if verdict.spec.is_null() {
            continue;
        }
        let is_default = |(_, need): &(_, NodeRequirement)| missing.as_ref() == Some(need);
        if verdict.spec["domain"]["cpu"]["model"].is_null() && verdict.launcher.needs.iter().any(is_default) {
            pending.push(vm.name());
            continue;
        }
        let candidates = cx.schedulable_nodes(&vm, verdict);
        // Other rules report a placement or architecture without nodes.
        let nodes: Vec<_> = candidates.iter().filter(|c| c.barrier.is_none_or(|b| b > NodeBarrier::Handler)).collect();
        if nodes.is_empty() {
            let nearest = candidates.iter().max_by_key(|c| c.barrier);
            out.report_all(nearest.map(|candidate| tainted(cx, &vm, candidate)));
            continue;
        }
        // `host-device-not-permitted` reports the device.
        if nodes.iter().any(|n| n.barrier.is_none()) || !cx.devices_not_permitted(&vm, verdict).is_empty() {
            continue;
        }
        let mut classes = cx.disk_classes(&vm);
        if let Some(class) = classes.next().filter(|_| nodes.iter().all(|n| n.barrier == Some(NodeBarrier::Storage))) {
            out.report(without_volumes(cx, &vm, class));
            continue;
        }
        let lacks = |need: &NodeRequirement| nodes.iter().all(|n| need.is_met(n.node.node) == Some(false));
        // `few-kvm-nodes` reports a cluster without KVM.
        let is_asked =
            |need: &NodeRequirement| *need != NodeRequirement::Kvm || cx.nodes().any(|n| n.node.kvm == Some(true));
        let asked: Vec<_> = verdict.launcher.needs.iter().filter(|(_, need)| is_asked(need)).collect();
        let single = asked.iter().find(|(_, requirement)| lacks(requirement));
        let fits_none = || nodes.iter().all(|n| !verdict.launcher.may_run_on(n.node.node));
        let found = single.map(|(path, requirement)| {
            let message = match requirement {
                NodeRequirement::NoLabel(label) => {
                    format!("{vm} may not run on nodes with the label {label}, which each declared node has")
                }
                _ => format!("no declared node that {vm} may run on has {}", named(requirement)),
            };
            finding(cx, &vm, path, message, words(requirement)[2])
        });
        let found = found.or_else(|| {
            let (path, _) = asked.first().filter(|_| asked.len() > 1 && fits_none())?;
            let all = and(asked.iter().map(|(_, need)| named(need)));
            let message = format!("no declared node that {vm} may run on has all of {all}");
            Some(finding(cx, &vm, path, message, "some nodes have each of them, none has all"))
        });
        out.report_all(found);
    }
    if let Some(model) = missing {
        let pending = if pending.is_empty() {
            String::new()
        } else {
            format!(": {} {} pending", and(&pending), if pending.len() == 1 { "stays" } else { "stay" })
        };
        let finding = cx.finding(format!("no declared workload node has {}, the default{pending}", named(&model)));
        let finding =
            finding.at(cx.field("defaultCPUModel").value_place()).label("machines without a model stay pending");
        let finding = finding.help("use a model that nodes have, or correct the inventory");
        out.report(if pending.is_empty() { finding.warning() } else { finding });
    }
}

/// The HyperConverged's default CPU model, if no workload node has it.
fn missing_default(cx: &Context<'_>) -> Option<NodeRequirement> {
    let model = cx.hyperconverged()?.text("virtualization.virtualMachineOptions.defaultCPUModel")?;
    let is_obsolete = cx.rendered_kubevirt("configuration.obsoleteCPUModels")[model] == true;
    let model = NodeRequirement::of_model(model).filter(|_| !is_obsolete)?;
    let mut nodes = cx.workload_nodes().filter(|node| node.node.architecture == "amd64").peekable();
    (nodes.peek().is_some() && nodes.all(|node| model.is_met(node.node) == Some(false))).then_some(model)
}

/// A machine whose storage class has no volumes where it may run.
fn without_volumes(cx: &Context<'_>, vm: &VirtualMachine<'_>, class: &Document) -> Finding {
    let name = name_of(class);
    let message = format!("{vm} may run only where its storage class {name} has no volumes");
    vm.finding(cx, message)
        .at(vm.key_place("volumes"))
        .label("its pod stays pending")
        .help("use a storage class with volumes on these nodes")
        .related(class.locate_key(&Path::dotted("allowedTopologies")), "its volumes are only here")
}

fn tainted(cx: &Context<'_>, vm: &VirtualMachine<'_>, candidate: &Candidate<'_>) -> Finding {
    let taint = candidate.repelled_by.map(|taint| format!(": {taint}")).unwrap_or_default();
    let is_handlers = candidate.barrier == Some(NodeBarrier::Handler);
    let own = vm.to_string();
    let (who, machine, help) = if is_handlers {
        ("virt-handler", &*own, "add the toleration to `workloads.nodePlacement` of the HyperConverged, too")
    } else {
        (&*own, "it", "add a toleration to its spec: those of the HyperConverged are for virt-handler")
    };
    let message = format!("{who} doesn't tolerate the taint of the nodes that {machine} may run on{taint}");
    let place = if vm.get("tolerations").is_some() { vm.key_place("tolerations") } else { vm.name_place() };
    let finding = vm.finding(cx, message).at(place).label("its pod stays pending").help(help);
    let placement = cx.field("workloads.nodePlacement");
    let placement = (is_handlers && placement.is_set()).then(|| placement.key_place());
    with_related(finding, placement, "virt-handler tolerates these only")
}

fn finding(cx: &Context<'_>, vm: &VirtualMachine<'_>, path: &str, message: String, label: &'static str) -> Finding {
    let place = match vm.get(path) {
        Some(node) if matches!(node.value, Value::Map(_)) => vm.key_place(path),
        Some(_) => vm.place(path),
        // The preference or the instance type requires it.
        None => {
            let is_preferred = ["machine", "features"].iter().any(|field| path.contains(field));
            vm.document.locate(&vm.owner_path(if is_preferred { "preference" } else { "instancetype" }))
        }
    };
    vm.finding(cx, message).at(place).label(label).help("use resources that nodes have, or correct the inventory")
}

/// The subject of a family of labels.
static FAMILIES: Rows<(&str, &str)> = Rows::of("labelFamilies");

/// The names of requirements, with the words for them, and what becomes of a pod on nodes without.
static REQUIREMENTS: Rows<[&str; 3]> = Rows::of("nodeRequirements");

fn named(requirement: &NodeRequirement) -> String {
    let about = match requirement {
        NodeRequirement::Label { label, family } => match FAMILIES.iter().find(|(of, _)| family.starts_with(of)) {
            Some((_, what)) => return format!("{what} {}", label.strip_prefix(family).unwrap_or_default()),
            None => label.clone(),
        },
        NodeRequirement::Selected(key, value) => format!("{key}: {value}"),
        other => variant(other).1,
    };
    words(requirement)[1].replace("{}", &about)
}

fn words(requirement: &NodeRequirement) -> [&'static str; 3] {
    REQUIREMENTS.row(&variant(requirement).0)
}
