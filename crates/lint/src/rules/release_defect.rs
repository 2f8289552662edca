//! A known defect of the release that concerns what the cluster runs.

use hcoplan_planner::machines::{defects, template_of};

use super::prelude::*;
use crate::VirtualMachine;

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
    // Vendors fix versions on their own.
    if release.distribution().name != "hco" {
        return;
    }
    let mut machines = None;
    for defect in defects(release) {
        let machines = machines.get_or_insert_with(|| {
            let boots = cx.boots();
            boots.into_iter().map(|boot| (boot.vm.document.root.to_json(), boot)).collect::<Vec<_>>()
        });
        let concerned = machines.iter().filter(|(object, boot)| {
            let template = template_of(object["kind"].as_str().unwrap_or_default()).unwrap_or_default();
            defect.concerns_machine(object, template, &boot.verdict.spec)
        });
        let mut concerned = concerned.map(|(_, boot)| &boot.vm);
        let first = concerned.next();
        if first.is_none() && !defect.concerns_cluster(cluster.kubevirt) {
            continue;
        }
        let version = &release.tables().components["KUBEVIRT_VERSION"];
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
