//! A Service or policy that selects labels which a virtual machine has, but not its instance.

use hcoplan_kubernetes::label_selector::{Labels, Selector};
use hcoplan_planner::machines::is_own_label;

use super::prelude::*;
use crate::lists::labels_of;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let machines: Vec<_> = cx.virtual_machines().into_iter().filter(|vm| cx.is_whole(vm.document)).collect();
    for vm in &machines {
        for probe in ["readinessProbe", "livenessProbe"] {
            let handlers = entries(vm.get(probe)).iter().filter(|entry| entry.value.get("host").is_none());
            for handler in handlers {
                let who = (&*format!("the {probe}"), vm.document);
                out.report_all(unreached(cx, who, handler.value.get("port"), vm));
            }
        }
    }
    for row in SELECTING.iter() {
        for document in cx.of_kind(row[0]).iter().filter(|d| cx.is_whole(d)) {
            selecting(cx, document, *row, &machines, out);
        }
    }
}

/// The kinds of objects that select the pods or instances of machines, the field with their selector, and which of both.
static SELECTING: Rows<[&str; 3]> = Rows::of("labelSelectors");

fn selecting(
    cx: &Context<'_>,
    document: &Document,
    [kind, path, what]: [&str; 3],
    machines: &[VirtualMachine<'_>],
    out: &mut Sink,
) {
    let (namespace, path) = (namespace_of(document), Path::dotted(path));
    let written = json_of(document.root.at(&path));
    let is_everywhere = what == "instance";
    let written = if is_everywhere || kind == "Service" { json!({ "matchLabels": written }) } else { written };
    let labelled = members(&written["matchLabels"]).filter_map(|(key, value)| Some((key, value.as_str()?)));
    let keys = elements(&written["matchExpressions"]).filter_map(|requirement| requirement["key"].as_str());
    let keys: BTreeSet<&str> = labelled.clone().map(|(key, _)| &**key).chain(keys).collect();
    // Kubernetes ignores the selector of an ExternalName.
    let is_read = kind != "Service"
        || document.text("apiVersion") == "v1" && text_at(document, "spec.type") != Some("ExternalName");
    let Some(selector) = Selector::of(&written).filter(|_| is_read && !keys.is_empty()) else {
        return;
    };
    let here = || machines.iter().filter(|vm| is_everywhere || vm.namespace() == namespace);
    let template = |vm: &VirtualMachine<'_>| {
        let mut labels = labels(vm.document, &vm.metadata_path().key("labels"));
        let own = labelled.clone().filter(|(key, _)| is_own_label(key));
        labels.extend(own.map(|(key, value)| (key.clone(), value.to_owned())));
        labels
    };
    if selects_pods(cx, namespace, &selector) {
        return;
    }
    let served = || here().filter(|vm| selector.matches(&template(vm)));
    for port in document.root.list_at("spec.ports") {
        let who = (&*format!("the Service {}", name_of(document)), document);
        let port = port.get("targetPort").or_else(|| port.get("port"));
        let unreached: Option<Vec<Finding>> = served().map(|vm| unreached(cx, who, port, vm)).collect();
        out.report_all(unreached.into_iter().flatten().next());
    }
    let outside = |vm: &VirtualMachine<'_>| labels(vm.document, &owner_labels(vm));
    let own = |vm: &&VirtualMachine<'_>| {
        let mut all = template(vm);
        all.extend(outside(vm));
        selector.matches(&all)
    };
    let Some(vm) = here().find(own).filter(|_| served().next().is_none()) else {
        return;
    };
    let inside = template(vm);
    let missing = outside(vm).into_iter().filter(|(k, v)| keys.contains(&**k) && inside.get(k) != Some(v));
    let set: Vec<Change> =
        missing.map(|(k, v)| Change::Set(vm.metadata_path().key("labels").key(&k), v.into())).collect();
    let name = name_of(document);
    let message = format!("the {kind} {name} selects no {what}: {vm} has these labels outside its template only");
    let finding = cx
        .finding_about(document, message)
        .at(document.locate_key(&path))
        .label(format!("no {what} has these labels"))
        .related(vm.document.locate_key(&owner_labels(vm)), format!("the {what} doesn't get these"));
    out.report(finding.remedy(changed(&set), suggested(vm.document, changed(&set), &set)));
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
fn selects_pods(cx: &Context<'_>, namespace: &str, selector: &Selector<'_>) -> bool {
    POD_KINDS.iter().any(|(kind, spec)| {
        let path = Path::dotted(spec).parent().key("metadata").key("labels");
        cx.in_namespace(kind, namespace).any(|document| selector.matches(&labels(document, &path)))
    })
}

/// A port that a machine's masquerade interface doesn't forward.
///
/// Source: KubeVirt `pkg/network/setup/netpod/masquerade`.
fn unreached(
    cx: &Context<'_>,
    (who, document): (&str, &Document),
    port: Option<&Node>,
    vm: &VirtualMachine<'_>,
) -> Option<Finding> {
    let interface = vm.list("domain.devices.interfaces").iter().find(|own| own.get("masquerade").is_some())?;
    let forwarded: Vec<Json> = interface.list_at("ports").iter().map(Node::to_json).collect();
    let port = port?;
    let wanted = port.to_json();
    let is_forwarded = forwarded.iter().any(|own| own["port"] == wanted || own["name"] == wanted);
    if is_forwarded || forwarded.is_empty() || interface.get("portRanges").is_some() {
        return None;
    }
    let ports = and(forwarded.iter().map(|own| own["port"].to_string()));
    let port_text = document.written_text(port)?;
    let message =
        format!("{who} doesn't reach port {port_text} of {vm}, whose masquerade interface forwards {ports} only");
    let finding = cx.finding_about(document, message).at(document.location(port.span)).label("not forwarded");
    Some(finding.help("add the port to the interface, or leave its list of ports out"))
}
