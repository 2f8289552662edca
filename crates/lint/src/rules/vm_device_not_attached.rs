//! Devices of virtual machines that KubeVirt accepts and that the guest doesn't get.

use hcoplan_planner::cause::Stage;
use hcoplan_planner::machines::Verdict;

use super::prelude::*;
use super::vm_rejected::finding;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for (vm, verdict) in cx.judged_machines() {
        let causes = verdict.causes.iter().filter(|c| c.stage == Stage::Domain);
        out.report_all(causes.map(|c| finding(cx, vm.document, &vm.to_string(), c)));
    }
    keeps_from_starting(cx, out);
    accepted(cx).iter().for_each(|(vm, verdict)| only_in_pod(cx, vm, verdict, out));
}

/// Devices without which the pod isn't created.
pub(super) fn keeps_from_starting(cx: &Context<'_>, out: &mut Sink) {
    accepted(cx).iter().for_each(|(vm, _)| sriov(cx, vm, out));
}

fn accepted<'c>(cx: &'c Context<'_>) -> Vec<(VirtualMachine<'c>, &'c Verdict)> {
    cx.judged_machines().into_iter().filter(|(_, verdict)| verdict.causes.is_empty()).collect()
}

fn only_in_pod(cx: &Context<'_>, vm: &VirtualMachine<'_>, verdict: &Verdict, out: &mut Sink) {
    let devices = &verdict.spec["domain"]["devices"];
    let all = ["gpus", "hostDevices"].into_iter().flat_map(|list| elements(&devices[list]));
    let attached: Vec<&str> = all.filter_map(|device| device["deviceName"].as_str()).collect();
    let resources = vm.path("domain.resources");
    for name in cx.permitted_devices().into_iter().filter(|name| !attached.contains(name)) {
        let mut paths = ["requests", "limits"].iter().map(|list| resources.key(list).key(name));
        let Some(path) = paths.find(|path| vm.document.root.at(path).is_some()) else {
            continue;
        };
        let message = format!("{vm} requests the device {name} among its resources: the guest doesn't get it");
        let finding = vm.finding(cx, message).warning().at(vm.document.locate_key(&path));
        let finding = finding.label("for the pod alone");
        out.report(finding.help(format!("write `deviceName: {name}` into domain.devices.gpus or hostDevices instead")));
    }
}

/// Types of CNI plugins that use no device.
static WITHOUT_DEVICE: Rows<&str> = Rows::of("pluginsWithoutDevice");

fn sriov(cx: &Context<'_>, vm: &VirtualMachine<'_>, out: &mut Sink) {
    let interfaces = vm.list("domain.devices.interfaces");
    let of_sriov = interfaces.iter().filter(|i| i.get("sriov").is_some());
    let names: Vec<&str> = of_sriov.filter_map(|i| i.text_at("name")).collect();
    for (i, reference) in vm.networks() {
        let path = format!("networks[{i}]");
        let name = vm.text(&format!("{path}.name")).unwrap_or_default();
        let Some(attachment) = cx.network_attachment(vm.namespace(), reference).filter(|_| names.contains(&name))
        else {
            continue;
        };
        let (what, help) = match (crate::network_resource(attachment), plugin_of(attachment)) {
            (None, _) => (
                "names no resource".to_owned(),
                "set its annotation k8s.v1.cni.cncf.io/resourceName to the resource of the devices",
            ),
            (Some(_), Some(plugin)) if WITHOUT_DEVICE.contains(&&*plugin) => {
                (format!("is of the type {plugin}"), "use a network of the type sriov, or another binding")
            }
            _ => continue,
        };
        let message =
            format!("the SR-IOV interface {name} of {vm} gets no device: the network attachment {reference} {what}");
        let finding = vm.finding(cx, message).at(vm.place(&format!("{path}.multus.networkName")));
        let finding = finding.label("its pod doesn't start").help(help);
        out.report(finding.related(name_place(attachment), "the network attachment"));
    }
}

/// The type of a network's CNI plugin, or of the first one of its chain.
fn plugin_of(attachment: &Document) -> Option<String> {
    let config: Json = serde_json::from_str(text_at(attachment, "spec.config")?).ok()?;
    let plugin = config["type"].as_str().or_else(|| config["plugins"][0]["type"].as_str());
    plugin.map(str::to_owned)
}
