//! A virtual machine uses a feature whose gate is disabled.

use hcoplan_explain::docs::switch_text;
use hcoplan_planner::cause::CauseKind;

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for (vm, verdict) in cx.judged_machines() {
        for cause in &verdict.causes {
            if let CauseKind::GateOff(gate) = cause.kind {
                out.report(finding(cx, &vm, &cause.path, gate));
            }
        }
        let disks = vm.list("domain.devices.disks");
        let reserves = |disk: &Node| disk.below("lun.reservation").is_some_and(|r| r.to_json() == true);
        if let Some(i) = disks.iter().position(reserves).filter(|_| lacks_helper(cx)) {
            out.report(without_helper(cx, &vm, &vm.path(&format!("domain.devices.disks[{i}].lun.reservation"))));
        }
    }
}

/// Whether the release leaves the field that replaces the gate disabled.
fn lacks_helper(cx: &Context<'_>) -> bool {
    let field = "spec.storage.persistentReservationConfiguration.enabled";
    let has_field = cx.release().fields().iter().any(|f| f.path == field);
    let is_on = cx.rendered_kubevirt("configuration.persistentReservationConfiguration.enabled") == true;
    has_field && cx.machine_cluster().is_some() && !is_on
}

/// The machine isn't rejected, but no node has the reservation helper.
fn without_helper(cx: &Context<'_>, vm: &VirtualMachine<'_>, path: &Path) -> Finding {
    let message = format!("{vm} can't start: persistent reservation is off");
    let field = Path::dotted(match cx.version() {
        "v1" => "spec.storage.persistentReservationConfiguration.enabled",
        _ => "spec.featureGates.persistentReservation",
    });
    let change = [Change::Set(field.clone(), true.into())];
    vm.finding(cx, message)
        .at(vm.document.locate_key(path))
        .label("no node runs the pr-helper")
        .help(format!("set {field} of the HyperConverged to true"))
        .fixes(cx.suggest_change(" of the HyperConverged", &change))
}

fn finding(cx: &Context<'_>, vm: &VirtualMachine<'_>, path: &Path, gate: &str) -> Finding {
    let message = format!("KubeVirt rejects {vm}: its feature gate {gate} is off");
    let finding = vm.finding(cx, message).at(vm.document.locate_key(path)).label(format!("needs {gate}"));
    let known = cx.release().kubevirt_gate(gate);
    let Some(own) = known.and_then(|known| known.switch()) else {
        return finding.help(known.map(|known| switch_text(&known)).unwrap_or_default());
    };
    let name = &own.name;
    let prospects = cx.release().gate_maturity(name);
    let which = prospects.map_or_else(String::new, |p| format!(" ({p})"));
    let fix = cx.suggest_change(format!(" of the HyperConverged{which}"), &[cx.switch_on(name).1]);
    finding
        .help(format!("switch the feature gate {name} of the HyperConverged on{which}"))
        .related(cx.gate(name).place(), format!("{name} isn't switched on"))
        .fixes(fix)
}
