//! A virtual machine whose pod a LimitRange or a quota of its namespace rejects.

use hcoplan_planner::machines::{Launcher, Refusal, amount_text, limit_range_refusal, quota_refusal};

use super::application_aware_quota::{counting, operator};
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
    /// What ApplicationAwareQuota counts of it, if that is something else.
    pub(super) in_guest: Option<Launcher>,
    /// How many of them there are.
    pub(super) count: i64,
    /// Whether it asks for them without another's request.
    pub(super) is_counted: bool,
    /// The location of the field that asks for a resource.
    pub(super) place: Box<dyn Fn(&str) -> Location + 'a>,
}

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let mut seen = BTreeSet::new();
    let calculator = text(&operator(cx)["configuration"]["vmiCalculatorConfiguration"]["configName"]);
    let machines = cx.judged_machines();
    let machines = machines.iter().filter(|(_, verdict)| !verdict.spec.is_null());
    let askers = machines.map(|(vm, verdict)| Asker {
        namespace: vm.namespace(),
        document: vm.document,
        what: "pod",
        owner: vm.to_string(),
        amounts: verdict.launcher.clone(),
        in_guest: Some(verdict.launcher.counted_by(calculator, &verdict.spec)),
        count: vm.document.root.below("spec.replicas").and_then(|n| n.to_json().as_i64()).unwrap_or(1),
        is_counted: !vm.is_halted() && seen.insert(vm.full_name()),
        place: Box::new(|resource| {
            let name = first_part(last_part(resource, '.'), '/');
            let fields = [&format!("domain.resources.requests.{name}"), &format!("domain.{name}"), "domain.resources"];
            let place = fields.into_iter().find(|field| vm.get(field).is_some());
            place.map_or_else(|| vm.name_place(), |field| vm.key_place(field))
        }),
    });
    judge(cx, askers, out);
}

/// Reports what limits of namespaces reject.
pub(super) fn judge<'a>(cx: &'a Context<'_>, askers: impl Iterator<Item = Asker<'a>>, out: &mut Sink) {
    // What a quota's askers ask for together, with their number.
    let mut together: BTreeMap<*const Document, (Launcher, i64)> = BTreeMap::new();
    for asker in askers {
        let mut is_rejected = false;
        let mut report = |refusal: Option<Refusal>, document: &Document, others: i64| {
            is_rejected |= refusal.is_some();
            out.report_all(refusal.map(|refusal| finding(cx, &asker, document, &refusal, others)));
        };
        for document in cx.in_namespace("LimitRange", asker.namespace).filter(|d| cx.is_whole(d)) {
            let spec = json_of(document.root.get("spec"));
            report(limit_range_refusal(&asker.amounts, &spec), document, 0);
        }
        let counted = counting(cx, asker.namespace).into_iter().map(|(document, spec)| {
            let in_guest = asker.in_guest.as_ref().filter(|_| is_aware(document));
            let amounts = in_guest.unwrap_or(&asker.amounts);
            let (mut all, count) = together.get(&std::ptr::from_ref(document)).cloned().unwrap_or_default();
            all.add(amounts, asker.count);
            let alone = quota_refusal(amounts, &spec);
            let others = if alone.is_some() { 0 } else { count + asker.count - 1 };
            report(alone.or_else(|| quota_refusal(&all, &spec).filter(|_| asker.is_counted)), document, others);
            (std::ptr::from_ref(document), (all, count + asker.count))
        });
        let counted: Vec<_> = counted.collect();
        if asker.is_counted && !is_rejected {
            together.extend(counted);
        }
    }
}

/// Whether a quota keeps pods from being scheduled, instead of rejecting them.
fn is_aware(document: &Document) -> bool {
    document.text("kind").starts_with("ApplicationAware")
}

/// `others` is the number of other pods or claims that the refusal counts, too.
/// What is allowed, and the help.
static REFUSALS: Rows<[&str; 3]> = Rows::of("refusals");

fn finding(cx: &Context<'_>, asker: &Asker<'_>, document: &Document, refusal: &Refusal, others: i64) -> Finding {
    let Refusal { resource, asked, allowed, how, path } = refusal;
    let [asked, allowed] = [asked, allowed].map(|amount| amount_text(resource, *amount));
    let (kind, name) = (document.text("kind"), name_of(document));
    let [_, compared, help] = REFUSALS.row(&variant(how).0).map(|words| words.replace("{}", &allowed));
    let Asker { what, owner, .. } = asker;
    let with = match others {
        0 => String::new(),
        1 => format!(" together with another {what}"),
        n => format!(" together with {n} other {what}s"),
    };
    let is_gated = is_aware(document) && asker.in_guest.is_some();
    let (outcome, label) = if is_gated { ("held back", "isn't scheduled") } else { ("rejected", "isn't created") };
    let message = format!(
        "the {kind} {name} allows {compared} of {resource}: the {what} of {owner} requests {asked}{with}, and is {outcome}"
    );
    let limits = Path::dotted(if document.root.below("spec.quota").is_some() { "spec.quota" } else { "spec" });
    let path = limits.below(if kind == "LimitRange" { path } else { first_part(path, '[') });
    // Which of several starts first is unknown.
    cx.finding_about(asker.document, message)
        .severity(error_if(others == 0))
        .at((asker.place)(resource))
        .label(format!("its {what} {label}"))
        .help(format!("{help}, or change the {kind}"))
        .related(document.locate_key(&path), "the limit")
}
