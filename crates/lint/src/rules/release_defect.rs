//! A known defect of the release that affects the cluster.

use hcoplan_planner::machines::{MachineView, defects, deployed_kubevirt, template_of};

use super::prelude::*;
use crate::{Boot, VirtualMachine};

pub(super) static RULE: Rule = Rule::warning(
    "release-defect",
    Group::Operands,
    "the release has a known defect that concerns this cluster or its virtual machines",
)
.silent("what the defect's reference describes")
.confidence(Confidence::Medium);

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
            let boots = cx.boots().into_iter();
            boots.map(|boot| (view(&boot), boot.vm)).collect::<Vec<_>>()
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
        let mut finding = Finding::new(&RULE, message).at(place).label(defect.name.clone()).help(help);
        if let Some(vm) = first {
            finding = finding.object(object_of(vm.document));
        }
        for vm in concerned {
            finding = finding.related(vm.name_place(), "concerned, too");
        }
        out.report(finding);
    }
}

fn view(boot: &Boot<'_>) -> MachineView {
    let object = boot.vm.document.root.to_json();
    let template = template_of(object["kind"].as_str().unwrap_or_default()).unwrap_or_default();
    MachineView::new(&object, template, &boot.verdict.spec)
}
