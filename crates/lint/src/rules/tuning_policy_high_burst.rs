//! A deprecated or removed tuning policy.

use hcoplan_planner::release::Mutation;

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let field = cx.field("tuningPolicy");
    if field.text() != Some("highBurst") || !cx.admission().accepted {
        return;
    }
    let release = cx.release().label();
    let rules = cx.release().admission().version(cx.version());
    let dropped = rules.is_some_and(|r| r.mutate.create.contains(&Mutation::DropHighBurst));
    let applied = cx.release().tables().kubevirt.high_burst.filter(|_| !dropped);
    let (message, label) = match (applied, dropped) {
        (Some(limit), _) => (
            "the profile highBurst is deprecated".to_owned(),
            format!("{} queries a second, bursts of {}", limit.qps, limit.burst),
        ),
        (None, true) => {
            (format!("{release} has no profile highBurst: its webhook removes the field"), "not stored".to_owned())
        }
        (None, false) => {
            (format!("{release} accepts tuningPolicy: highBurst and ignores it"), "without effect".to_owned())
        }
    };
    let finding = cx
        .finding(message)
        .at(field.value_place())
        .severity(error_if(dropped))
        .label(label)
        .help("remove it, or write `tuningPolicy: annotation` with limits of your own");
    let removed = field.path().map(|p| [Change::Remove(p)]);
    let fix = removed.and_then(|c| cx.change(Applicability::Unsafe, &c));
    out.report(finding.fixes(fix));
}
