//! A status in a manifest.

use super::prelude::*;

pub(super) fn find(cx: &Context<'_>) -> Option<Finding> {
    let entry = cx.root().entry("status")?;
    let empty = match &entry.value.value {
        Value::Null => true,
        Value::Map(entries) => entries.is_empty(),
        _ => false,
    };
    let mut finding = cx
        .finding("the manifest has a status, which only the operator writes")
        .at(cx.location(entry.key.span))
        .label(if empty { "dropped by the API server" } else { "a copy of what was once in a cluster" })
        .help("remove the section");
    if empty {
        finding = finding.info();
    }
    if let Some(mut fix) = cx.change(Applicability::Safe, &[Change::Remove(Path::root().key("status"))]) {
        // A new object is created with its status, from which the webhook takes the eviction strategy.
        let after = cx.planned_with(&fix);
        if after.is_some_and(|after| !after.objects().eq(cx.plan_as_new().objects())) {
            fix.applicability = Applicability::Unsafe;
            finding = finding.label("the eviction strategy follows from it when it is new");
        }
        finding = finding.fix(fix);
    }
    Some(finding)
}
