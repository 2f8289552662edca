//! A virtual machine whose pod a LimitRange or a ResourceQuota of its namespace rejects.

use hcoplan_planner::machines::{Launcher, Refusal, RefusalKind, amount_text, limit_range_refusal, quota_refusal};

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    // What the pods of a namespace ask for together, with their number.
    let mut together: BTreeMap<&str, (Launcher, i64)> = BTreeMap::new();
    let machines = cx.judged_machines();
    let mut seen = BTreeSet::new();
    for (vm, verdict) in machines.iter().filter(|(_, verdict)| !verdict.spec.is_null()) {
        let (others, count) = together.entry(vm.namespace()).or_default();
        let is_counted = !vm.is_halted() && seen.insert(vm.full_name());
        let mut all = others.clone();
        let replicas = vm.document.root.below("spec.replicas").and_then(|n| n.to_json().as_i64()).unwrap_or(1);
        all.add(&verdict.launcher, replicas);
        let mut is_rejected = false;
        let mut report = |refusal: Option<Refusal>, document: &Document, others: i64| {
            is_rejected |= refusal.is_some();
            out.report_all(refusal.map(|refusal| finding(cx, vm, document, &refusal, others)));
        };
        for (document, spec) in limits(cx, vm, "LimitRange") {
            report(limit_range_refusal(&verdict.launcher, &spec), document, 0);
        }
        for (document, spec) in limits(cx, vm, "ResourceQuota") {
            let alone = quota_refusal(&verdict.launcher, &spec);
            let others = if alone.is_some() { 0 } else { *count + replicas - 1 };
            report(alone.or_else(|| quota_refusal(&all, &spec).filter(|_| is_counted)), document, others);
        }
        if is_counted && !is_rejected {
            (*others, *count) = (all, *count + replicas);
        }
    }
}

/// The objects of a kind in a machine's namespace, with their `spec`.
fn limits<'c>(
    cx: &'c Context<'_>,
    vm: &'c VirtualMachine<'_>,
    kind: &str,
) -> impl Iterator<Item = (&'c Document, Json)> {
    let all = cx.in_namespace(kind, vm.namespace()).filter(|d| cx.is_whole(d));
    all.map(|document| (document, json_of(document.root.get("spec"))))
}

/// `others` is the number of other pods that the refusal counts, too.
fn finding(cx: &Context<'_>, vm: &VirtualMachine<'_>, document: &Document, refusal: &Refusal, others: i64) -> Finding {
    let Refusal { resource, asked, allowed, how, path } = refusal;
    let [asked, allowed] = [asked, allowed].map(|amount| amount_text(resource, *amount));
    let (kind, name) = (document.text("kind"), name_of(document));
    let compared = match how {
        RefusalKind::Above => format!("at most {allowed}"),
        RefusalKind::Below => format!("at least {allowed}"),
        RefusalKind::AboveDefault => format!("at most its default limit, {allowed}"),
        RefusalKind::AboveRatio => format!("at most {allowed}, its ratio to the request"),
    };
    let with = match others {
        0 => String::new(),
        1 => " together with another pod".to_owned(),
        n => format!(" together with {n} other pods"),
    };
    let message = format!(
        "the {kind} {name} rejects the pod of {vm}, which asks for {asked} of {resource}{with}: it allows {compared}"
    );
    let of_resource: &[&str] = match resource.rsplit('.').next().unwrap_or_default() {
        "memory" => &["domain.resources.requests.memory", "domain.memory", "domain.resources"],
        "cpu" => &["domain.resources.requests.cpu", "domain.cpu", "domain.resources"],
        _ => &["domain.resources"],
    };
    let place = of_resource.iter().find(|field| vm.get(field).is_some());
    let limit = Path::dotted("spec").below(path.split('[').next().unwrap_or_default());
    let path = if kind == "LimitRange" { Path::dotted("spec").below(path) } else { limit };
    // Which of several machines starts first is unknown.
    vm.finding(cx, message)
        .severity(error_if(others == 0))
        .at(place.map_or_else(|| vm.name_place(), |field| vm.key_place(field)))
        .label("its pod isn't created")
        .help(format!("ask for {compared}, or change the {kind}"))
        .related(document.locate_key(&path), "the limit")
}
