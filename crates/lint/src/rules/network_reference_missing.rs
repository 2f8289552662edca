//! A network that no manifest declares.

use super::prelude::*;
use crate::values::is_network_name;

const OWN: &str = "l2bridge";
const ATTACHMENT: &str = "NetworkAttachmentDefinition";

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let declared = cx.of_kind(ATTACHMENT);
    let namespace = cx.hyperconverged().map_or("", |hc| hc.namespace.as_str());
    let field = cx.field("liveMigrationConfig.network");
    // Multus' annotation may name an interface, too.
    let written = field.text().map(|name| first_part(name, '@'));
    if let Some(reference) = written.filter(|n| !n.is_empty() && !declared.is_empty())
        && cx.network_attachment(namespace, reference).is_none()
    {
        let (namespace, name) = reference.split_once('/').unwrap_or((namespace, reference));
        let mut finding = cx
            .finding(format!("the migration network {name} isn't declared in {namespace}"))
            .at(field.value_place())
            .label("migrations need it");
        let elsewhere = cx.named(ATTACHMENT, None, name).map(namespace_place);
        finding = with_related(finding, elsewhere, "it is declared in another namespace");
        let otherwise = format!("declare it in {namespace}");
        out.report(did_you_mean(finding, "use", near(cx, namespace, reference).as_deref(), otherwise));
    }
    machines(cx, out);
    let bindings = cx.field("networkBinding");
    let Some(path) = bindings.path() else {
        return;
    };
    for entry in entries(bindings.node()) {
        let name = entry.key.text.as_str();
        if name == OWN {
            let own = &cx.rendered_kubevirt("configuration.network.binding")[OWN];
            let finding = cx.finding(format!("HCO overwrites the network binding {OWN} with its own"));
            let finding = finding.at(cx.location(entry.key.span)).label("without effect").help("give it another name");
            out.report_all((entry.value.to_json() != *own).then_some(finding));
            continue;
        }
        let Some(reference) = entry.value.text_at("networkAttachmentDefinition") else {
            continue;
        };
        // A name alone is looked up in the namespace of each machine that has the binding.
        let is_missing = |namespace: &str| cx.network_attachment(namespace, reference).is_none();
        let missing = match reference.split_once('/') {
            Some((namespace, name)) => is_missing(namespace).then_some((name, namespace)),
            None => machines_with(cx, name)
                .find(|namespace| !namespace.is_empty() && is_missing(namespace))
                .map(|namespace| (reference, namespace)),
        };
        let Some((name, namespace)) = missing.filter(|_| !declared.is_empty()) else {
            continue;
        };
        let path = path.key(&entry.key.text).key("networkAttachmentDefinition");
        out.report(
            cx.finding(format!("the network attachment {name} isn't declared in {namespace}"))
                .at(cx.locate(&path))
                .label(format!("the binding {} needs it", entry.key.text))
                .help("declare it, or correct the reference"),
        );
    }
}

/// A reference with the name that is similar to its own in a namespace.
fn near(cx: &Context<'_>, namespace: &str, reference: &str) -> Option<String> {
    let (own, name) = reference.split_at(reference.find('/').map_or(0, |at| at + 1));
    let meant = nearest(name, cx.in_namespace(ATTACHMENT, namespace).map(name_of))?;
    Some(own.to_owned() + meant)
}

/// The namespaces of virtual machines that have a binding.
fn machines_with<'c>(cx: &'c Context<'_>, binding: &'c str) -> impl Iterator<Item = &'c str> {
    let has = move |vm: &VirtualMachine<'_>| vm.bindings().any(|(_, name)| name == binding);
    cx.virtual_machines().into_iter().filter(has).map(|vm| vm.namespace())
}

/// A missing binding plugin of a virtual machine.
fn binding(cx: &Context<'_>, vm: &VirtualMachine<'_>, (path, name): (Path, &str)) -> Finding {
    let known = members(cx.rendered_kubevirt("configuration.network.binding")).map(|(name, _)| name.as_str());
    let message = format!("the network binding {name} of {vm} isn't in the HyperConverged");
    let finding = vm
        .finding(cx, message)
        .at(vm.document.locate(&path))
        .error()
        .label("its pod isn't created: couldn't find configuration for network binding");
    let otherwise = match name {
        "passt" if cx.release().kubevirt_gate("PasstBinding").is_some() => {
            "write `passtBinding: {}`, and set the annotation hco.kubevirt.io/deployPasstNetworkBinding"
        }
        _ => "declare it in spec.networkBinding",
    };
    did_you_mean(finding, "use", nearest(name, known), otherwise)
}

/// Why Multus or ovn-kubernetes can't use an attachment's config; without one Multus takes a file of the node.
///
/// Sources: libcni `ConfFromBytes`, ovn-kubernetes `ParseNetConf`.
fn fault(cx: &Context<'_>, attachment: &Document) -> Option<String> {
    let config = text_at(attachment, "spec.config").filter(|text| !text.is_empty() && !is_placeholder(text));
    let config = config.filter(|_| cx.is_whole(attachment))?;
    let Ok(config) = serde_json::from_str::<Json>(config) else {
        return Some("isn't JSON".to_owned());
    };
    let (kind, named) = (&config["type"], text(&config["netAttachDefName"]));
    let own = format!("{}/{}", namespace_of(attachment), name_of(attachment));
    let is_others = kind == "ovn-k8s-cni-overlay" && !own.starts_with('/') && named != own;
    match kind {
        Json::Null if config["plugins"].is_null() => Some("has neither `type` nor `plugins`".to_owned()),
        _ => is_others.then(|| format!("has another `netAttachDefName`, {named:?}")),
    }
}

/// Networks of virtual machines that are declared in another namespace.
pub(super) fn machines(cx: &Context<'_>, out: &mut Sink) {
    let named = |name: &str| -> Vec<_> { cx.of_kind(ATTACHMENT).iter().filter(|d| name_of(d) == name).collect() };
    for vm in cx.virtual_machines() {
        out.report_all(cx.bindings_not_there(&vm).into_iter().map(|found| binding(cx, &vm, found)));
        for (i, reference) in vm.networks().filter(|(_, name)| !name.is_empty() && !is_placeholder(name)) {
            let place = vm.place(&format!("networks[{i}].multus.networkName"));
            // Multus splits at the first slash.
            let (namespace, name) = reference.split_once('/').unwrap_or((vm.namespace(), reference));
            if !is_network_name(reference) {
                let message = format!("no network attachment can have the name {reference}, which {vm} uses");
                let finding = vm.finding(cx, message).at(place).error();
                out.report(finding.label("its pod isn't created").help("correct the name"));
                continue;
            }
            let all = named(name);
            let own = all.iter().find(|d| matches!(namespace_of(d), n if n == namespace || n.is_empty()));
            if let Some((own, fault)) = own.and_then(|own| Some((own, fault(cx, own)?))) {
                let message = format!("the config of the network attachment {name} {fault}, and {vm} doesn't start");
                let finding = cx.finding_about(own, message).severity(Severity::Error);
                out.report(finding.at(own.locate(&Path::dotted("spec.config"))).help("correct it"));
            }
            if namespace.is_empty() || own.is_some() {
                continue;
            }
            let elsewhere = all.first().map(|other| format!("{}/{name}", namespace_of(other)));
            let Some(meant) = elsewhere.or_else(|| near(cx, namespace, reference)) else {
                continue;
            };
            let message = format!("the network attachment {name} of {vm} isn't declared in {namespace}");
            let finding = vm
                .finding(cx, message)
                .at(place.clone())
                .label(format!("looked for in the namespace {namespace}"))
                .fix(suggested_text(format!("write {meant}"), place, meant));
            let other = all.first().map(|other| namespace_place(other));
            out.report(with_related(finding, other, "it is declared in another namespace"));
        }
    }
}
