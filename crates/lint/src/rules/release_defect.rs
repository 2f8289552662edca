//! A known defect of the release that affects the cluster.

use hcoplan_planner::machines::{MachineView, Verdict, defects, deployed_kubevirt, template_of};

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let Some(cluster) = cx.machine_cluster() else {
        return;
    };
    let release = cx.release();
    // Vendors may have fixed it.
    if release.distribution().name != "hco" {
        return;
    }
    let mut machines = None;
    for defect in defects(release) {
        let machines = machines.get_or_insert_with(|| {
            let machines = cx.judged_machines().into_iter();
            let machines = machines.filter(|(vm, _)| cx.extent(vm.document) != Extent::Patch);
            machines.map(|(vm, verdict)| (view(&vm, verdict), vm)).collect::<Vec<_>>()
        });
        let mut concerned = machines.iter().filter(|(view, _)| defect.affects_machine(view)).map(|(_, vm)| vm);
        let first = concerned.next();
        if first.is_none() && !defect.affects_cluster(cluster.kubevirt) {
            continue;
        }
        let version = deployed_kubevirt(release);
        let help = match defect.fixed_after(release) {
            Some(fixed) => format!("upgrade to HCO {fixed}, which has the fix: {}", defect.reference),
            None => format!("see {}", defect.reference),
        };
        let about = first.map_or_else(|| "this cluster".to_owned(), ToString::to_string);
        let message = format!("a defect of KubeVirt {version} concerns {about}: {}", defect.consequence);
        let finding = match first {
            Some(vm) => vm.finding(cx, message),
            None => cx.finding(message).at(cx.locate(&Path::dotted("metadata.name"))),
        };
        let mut finding = finding.label(defect.name.clone()).help(help);
        finding = with_related(finding, concerned.map(VirtualMachine::name_place), "concerned, too");
        out.report(finding);
    }
}

fn view<'v>(vm: &VirtualMachine<'v>, verdict: &'v Verdict) -> MachineView<'v> {
    let document = vm.document;
    let template = template_of(document.text("kind")).unwrap_or_default();
    MachineView::new(&verdict.spec, template, || document.root.to_json())
}
