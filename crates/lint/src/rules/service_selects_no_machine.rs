//! A Service that selects labels which a virtual machine has, but not its instance.

use hcoplan_kubernetes::label_selector::Labels;
use hcoplan_planner::machines::is_own_label;

use super::prelude::*;
use crate::lists::labels_of;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let machines: Vec<_> = cx.virtual_machines().into_iter().filter(|vm| cx.is_whole(vm.document)).collect();
    for service in cx.of_kind("Service").iter().filter(|s| cx.is_whole(s)) {
        let (namespace, selector) = (namespace_of(service), labels(service, &Path::dotted("spec.selector")));
        // Kubernetes ignores the selector of an ExternalName.
        let is_read = service.text("apiVersion") == "v1" && text_at(service, "spec.type") != Some("ExternalName");
        if selector.is_empty() || !is_read {
            continue;
        }
        let here = || machines.iter().filter(|vm| vm.namespace() == namespace);
        let selects = |labels: &Labels| selector.iter().all(|(k, v)| labels.get(k) == Some(v));
        let template = |vm: &&VirtualMachine<'_>| {
            let mut labels = labels(vm.document, &vm.metadata_path().key("labels"));
            labels.extend(selector.iter().filter(|(k, _)| is_own_label(k)).map(|(k, v)| (k.clone(), v.clone())));
            labels
        };
        let is_served = here().any(|vm| selects(&template(&vm)));
        let served = || here().filter(|vm| selects(&template(vm)) && !selects_pods(cx, namespace, &selects));
        for port in service.root.list_at("spec.ports") {
            let unreached: Option<Vec<Finding>> = served().map(|vm| unreached(cx, service, port, vm)).collect();
            out.report_all(unreached.into_iter().flatten().next());
        }
        let own = |vm: &&VirtualMachine<'_>| {
            let mut all = template(vm);
            all.extend(labels(vm.document, &owner_labels(vm)));
            selects(&all)
        };
        let Some(vm) = here().find(own).filter(|_| !is_served && !selects_pods(cx, namespace, &selects)) else {
            continue;
        };
        let missing = template(&vm);
        let missing = selector.iter().filter(|(k, v)| missing.get(*k) != Some(*v));
        let set: Vec<Change> =
            missing.map(|(k, v)| Change::Set(vm.metadata_path().key("labels").key(k), v.as_str().into())).collect();
        let message =
            format!("the Service {} selects no pod: {vm} has these labels outside its template only", name_of(service));
        let finding = cx
            .finding_about(service, message)
            .at(service.locate_key(&Path::dotted("spec.selector")))
            .label("no pod has these labels")
            .related(vm.document.locate_key(&owner_labels(vm)), "the pod doesn't get these");
        out.report(finding.remedy(changed(&set), suggested(vm.document, changed(&set), &set)));
    }
}

/// The path of the labels of a virtual machine, which of a pool's are in its template.
fn owner_labels(vm: &VirtualMachine<'_>) -> Path {
    let is_pool = vm.document.text("kind") == "VirtualMachinePool";
    Path::dotted(if is_pool { "spec.virtualMachineTemplate.metadata.labels" } else { "metadata.labels" })
}

/// The labels at a path.
fn labels(document: &Document, path: &Path) -> Labels {
    labels_of(document.root.at(path)).collect()
}

/// Whether a pod of another kind has the labels.
fn selects_pods(cx: &Context<'_>, namespace: &str, selects: &dyn Fn(&Labels) -> bool) -> bool {
    POD_KINDS.iter().any(|(kind, spec)| {
        let path = Path::dotted(spec).parent().key("metadata").key("labels");
        cx.in_namespace(kind, namespace).any(|document| selects(&labels(document, &path)))
    })
}

/// A Service's port that a machine's masquerade interface doesn't forward.
///
/// Source: KubeVirt `pkg/network/setup/netpod/masquerade`.
fn unreached(cx: &Context<'_>, service: &Document, port: &Node, vm: &VirtualMachine<'_>) -> Option<Finding> {
    let interface = vm.list("domain.devices.interfaces").iter().find(|own| own.get("masquerade").is_some())?;
    let forwarded: Vec<Json> = interface.list_at("ports").iter().map(Node::to_json).collect();
    let target = port.get("targetPort").or_else(|| port.get("port"))?;
    let wanted = target.to_json();
    let is_forwarded = forwarded.iter().any(|own| own["port"] == wanted || own["name"] == wanted);
    if is_forwarded || forwarded.is_empty() || interface.get("portRanges").is_some() {
        return None;
    }
    let ports = and(forwarded.iter().map(|own| own["port"].to_string()));
    let (name, target_text) = (name_of(service), service.written_text(target)?);
    let message = format!(
        "the Service {name} doesn't reach port {target_text} of {vm}, whose masquerade interface forwards {ports} only"
    );
    let finding = cx.finding_about(service, message).at(service.location(target.span)).label("not forwarded");
    Some(finding.help("add the port to the interface, or leave its list of ports out"))
}
