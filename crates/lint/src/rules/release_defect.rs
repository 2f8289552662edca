//! A known defect of the release that affects the cluster.

use hcoplan_planner::machines::{MachineView, Verdict, defects, deployed_kubevirt, template_of};

use super::prelude::*;
use crate::{Extent, VirtualMachine};

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
            let machines = machines.filter(|(vm, _)| cx.extent(vm.document.file.path()) != Extent::Patch);
            machines.map(|(vm, verdict)| (view(&vm, verdict), vm)).collect::<Vec<_>>()
        });
        let mut concerned = machines.iter().filter(|(view, _)| defect.affects_machine(view)).map(|(_, vm)| vm);
        let first = concerned.next();
        if first.is_none() && !defect.affects_cluster(cluster.kubevirt) {
            continue;
        }
        let version = deployed_kubevirt(release);
        let message = match first {
            Some(vm) => {
                format!("a defect of KubeVirt {version} concerns {}: {}", vm.display_name(), defect.consequence)
            }
            None => format!("a defect of KubeVirt {version} concerns this cluster: {}", defect.consequence),
        };
        let place = first.map_or_else(|| cx.locate(&Path::dotted("metadata.name")), VirtualMachine::name_place);
        let help = match defect.fixed_after(release) {
            Some(fixed) => format!("upgrade to HCO {fixed}, which has the fix: {}", defect.reference),
            None => format!("see {}", defect.reference),
        };
        let mut finding = Finding::new(&RELEASE_DEFECT, message).at(place).label(defect.name.clone()).help(help);
        if let Some(vm) = first {
            finding = finding.object(object_of(vm.document));
        }
        for vm in concerned {
            finding = finding.related(vm.name_place(), "concerned, too");
        }
        out.report(finding);
    }
}

fn view<'v>(vm: &VirtualMachine<'v>, verdict: &'v Verdict) -> MachineView<'v> {
    let document = vm.document;
    let template = template_of(document.text("kind")).unwrap_or_default();
    MachineView::new(&verdict.spec, template, || document.root.to_json())
}
