//! A virtual machine whose pod a LimitRange or a ResourceQuota of its namespace rejects.

use hcoplan_planner::machines::{Launcher, Refusal, RefusalKind, amount_text, limit_range_refusal, quota_refusal};

use super::prelude::*;

/// What asks for resources of its namespace.
pub(super) struct Asker<'a> {
    pub(super) namespace: &'a str,
    pub(super) document: &'a Document,
    /// `pod` or `claim`.
    pub(super) what: &'static str,
    /// Whose it is.
    pub(super) owner: String,
    pub(super) amounts: Launcher,
    /// How many of them there are.
    pub(super) count: i64,
    /// Whether it asks for them without another's request.
    pub(super) is_counted: bool,
    /// The location of the field that asks for a resource.
    pub(super) place: Box<dyn Fn(&str) -> Location + 'a>,
}

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let mut seen = BTreeSet::new();
    let machines = cx.judged_machines();
    let machines = machines.iter().filter(|(_, verdict)| !verdict.spec.is_null());
    let askers = machines.map(|(vm, verdict)| Asker {
        namespace: vm.namespace(),
        document: vm.document,
        what: "pod",
        owner: vm.to_string(),
        amounts: verdict.launcher.clone(),
        count: vm.document.root.below("spec.replicas").and_then(|n| n.to_json().as_i64()).unwrap_or(1),
        is_counted: !vm.is_halted() && seen.insert(vm.full_name()),
        place: Box::new(|resource| {
            let of_resource: &[&str] = match last_part(resource, '.') {
                "memory" => &["domain.resources.requests.memory", "domain.memory", "domain.resources"],
                "cpu" => &["domain.resources.requests.cpu", "domain.cpu", "domain.resources"],
                _ => &["domain.resources"],
            };
            let place = of_resource.iter().find(|field| vm.get(field).is_some());
            place.map_or_else(|| vm.name_place(), |field| vm.key_place(field))
        }),
    });
    judge(cx, askers, out);
}

/// Reports what limits of namespaces reject.
pub(super) fn judge<'a>(cx: &'a Context<'_>, askers: impl Iterator<Item = Asker<'a>>, out: &mut Sink) {
    // What those of a namespace ask for together, with their number.
    let mut together: BTreeMap<&str, (Launcher, i64)> = BTreeMap::new();
    for asker in askers {
        let (others, count) = together.entry(asker.namespace).or_default();
        let mut all = others.clone();
        all.add(&asker.amounts, asker.count);
        let mut is_rejected = false;
        let mut report = |refusal: Option<Refusal>, document: &Document, others: i64| {
            is_rejected |= refusal.is_some();
            out.report_all(refusal.map(|refusal| finding(cx, &asker, document, &refusal, others)));
        };
        for (document, spec) in limits(cx, asker.namespace, "LimitRange") {
            report(limit_range_refusal(&asker.amounts, &spec), document, 0);
        }
        for (document, spec) in limits(cx, asker.namespace, "ResourceQuota") {
            let alone = quota_refusal(&asker.amounts, &spec);
            let others = if alone.is_some() { 0 } else { *count + asker.count - 1 };
            report(alone.or_else(|| quota_refusal(&all, &spec).filter(|_| asker.is_counted)), document, others);
        }
        if asker.is_counted && !is_rejected {
            (*others, *count) = (all, *count + asker.count);
        }
    }
}

/// The objects of a kind in a namespace, with their `spec`.
fn limits<'c>(cx: &'c Context<'_>, namespace: &'c str, kind: &str) -> impl Iterator<Item = (&'c Document, Json)> {
    let all = cx.in_namespace(kind, namespace).filter(|d| cx.is_whole(d));
    all.map(|document| (document, json_of(document.root.get("spec"))))
}

/// `others` is the number of other pods or claims that the refusal counts, too.
fn finding(cx: &Context<'_>, asker: &Asker<'_>, document: &Document, refusal: &Refusal, others: i64) -> Finding {
    let Refusal { resource, asked, allowed, how, path } = refusal;
    let [asked, allowed] = [asked, allowed].map(|amount| amount_text(resource, *amount));
    let (kind, name) = (document.text("kind"), name_of(document));
    let compared = match how {
        RefusalKind::Above => format!("at most {allowed}"),
        RefusalKind::Below => format!("at least {allowed}"),
        RefusalKind::AboveDefault => format!("at most its default limit, {allowed}"),
        RefusalKind::AboveRatio => format!("at most {allowed}, its ratio to the request"),
        RefusalKind::NoLimit => "none without a limit".to_owned(),
    };
    let help = match how {
        RefusalKind::NoLimit => format!("set a limit of at most {allowed}, or change the {kind}"),
        _ => format!("ask for {compared}, or change the {kind}"),
    };
    let Asker { what, owner, .. } = asker;
    let with = match others {
        0 => String::new(),
        1 => format!(" together with another {what}"),
        n => format!(" together with {n} other {what}s"),
    };
    let message = format!(
        "the {kind} {name} rejects the {what} of {owner}, which asks for {asked} of {resource}{with}: it allows {compared}"
    );
    let limit = Path::dotted("spec").below(first_part(path, '['));
    let path = if kind == "LimitRange" { Path::dotted("spec").below(path) } else { limit };
    // Which of several starts first is unknown.
    cx.finding_about(asker.document, message)
        .severity(error_if(others == 0))
        .at((asker.place)(resource))
        .label(format!("its {what} isn't created"))
        .help(help)
        .related(document.locate_key(&path), "the limit")
}
