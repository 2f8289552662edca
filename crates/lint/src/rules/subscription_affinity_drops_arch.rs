//! A Subscription that removes an operator's requirement on the architecture.

use super::prelude::*;
use crate::ArchitectureScope;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    if cx.all_architectures().len() < 2 {
        return;
    }
    for subscription in cx.all_subscriptions() {
        let Some(csv) = cx.csvs().iter().find(|csv| csv.is_installed_by(subscription)) else {
            continue;
        };
        let drops = |p: &&PodTemplate| {
            p.architecture_scope() == ArchitectureScope::Everywhere
                && p.architecture_scope_as_installed() != ArchitectureScope::Everywhere
        };
        let Some(pod) = csv.deployments.iter().find(drops) else {
            continue;
        };
        let affinity = Path::dotted("spec.config.affinity.nodeAffinity");
        let (path, what) = match subscription.root.at(&affinity) {
            Some(_) => (affinity, "node affinity"),
            None => (Path::dotted("spec.config.nodeSelector"), "node selector"),
        };
        let message =
            format!("the Subscription's {what} replaces that of {}, which required an architecture", pod.called);
        let finding = cx
            .finding_about(subscription, message)
            .at(subscription.locate_key(&path))
            .label("requires no architecture");
        let required = pod.named_architectures().into_iter().map(|(path, _)| csv.document.locate(&path));
        let finding = with_related(finding, required.take(1), "required by the operator");
        let help = format!("name the architecture in the Subscription's {what}, too: OLM replaces it as a whole");
        out.report(finding.help(help));
    }
}
