//! A virtual machine whose pod a LimitRange or a ResourceQuota of its namespace rejects.

use hcoplan_planner::machines::{Refusal, RefusalKind, amount_text, limit_range_refusal, quota_refusal};

use super::prelude::*;

/// Why the `spec` of a kind doesn't let a launcher in.
type Judge = fn(&hcoplan_planner::machines::Launcher, &Json) -> Option<Refusal>;

const KINDS: [(&str, Judge); 2] = [("LimitRange", limit_range_refusal), ("ResourceQuota", quota_refusal)];

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for (vm, verdict) in cx.judged_machines() {
        if verdict.spec.is_null() {
            continue;
        }
        for (kind, judge) in KINDS {
            let all = cx.in_namespace(kind, vm.namespace());
            for document in all.filter(|d| cx.is_whole(d)) {
                let spec = document.root.get("spec").map(Node::to_json).unwrap_or_default();
                out.report_all(judge(&verdict.launcher, &spec).map(|refusal| finding(&vm, kind, document, &refusal)));
            }
        }
    }
}

fn finding(vm: &VirtualMachine<'_>, kind: &str, document: &Document, refusal: &Refusal) -> Finding {
    let Refusal { resource, asked, allowed, how, path } = refusal;
    let [asked, allowed] = [asked, allowed].map(|amount| amount_text(resource, *amount));
    let name = document.text("metadata.name");
    let compared = match how {
        RefusalKind::Above => format!("at most {allowed}"),
        RefusalKind::Below => format!("at least {allowed}"),
        RefusalKind::AboveDefault => format!("at most its default limit, {allowed}"),
    };
    let message = format!(
        "the {kind} {name} rejects the pod of {vm}, which asks for {asked} of {resource}: it allows {compared}"
    );
    let of_resource: &[&str] = match resource.rsplit('.').next().unwrap_or_default() {
        "memory" => &["domain.resources.requests.memory", "domain.memory", "domain.resources"],
        "cpu" => &["domain.resources.requests.cpu", "domain.cpu", "domain.resources"],
        _ => &["domain.resources"],
    };
    let place = of_resource.iter().find(|field| vm.get(field).is_some());
    let limit = Path::dotted("spec").below(path.split('[').next().unwrap_or_default());
    let path = if kind == "LimitRange" { Path::dotted("spec").below(path) } else { limit };
    vm.finding(&VM_POD_REJECTED, message)
        .at(place.map_or_else(|| vm.name_place(), |field| vm.key_place(field)))
        .label("its pod isn't created")
        .help(format!("ask for {compared}, or change the {kind}"))
        .related(document.locate_key(&path), "the limit")
}
