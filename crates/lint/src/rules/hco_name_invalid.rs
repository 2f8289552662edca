//! A HyperConverged with another name than the operator expects.

use super::prelude::*;

/// The only name that the operator reconciles.
const NAME: &str = "kubevirt-hyperconverged";

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let path = Path::dotted("metadata.name");
    let only_the_name = cx.admission().causes.iter().all(|c| c.path == path);
    let schema = |reason| matches!(reason, Reason::Schema(_));
    let rejected = cx.rejected(|reason| schema(reason) && only_the_name);
    let is_rejection = rejected.is_some();
    let found = rejected.or_else(|| {
        let name = path.get(cx.object())?.as_str()?;
        let ignored = cx.admission().accepted && name != NAME;
        ignored.then(|| {
            let message = format!("the operator reconciles `{NAME}` and ignores `{name}`");
            cx.finding(message).at(cx.locate(&path)).label("accepted, but never reconciled")
        })
    });
    let Some(finding) = found else {
        return;
    };
    let rename = [Change::Set(path, NAME.into())];
    let finding = cx.with_fix(finding, format!("name it {NAME}"), Applicability::Safe, &rename);
    out.report_as(is_rejection.then_some(Incident::Rejection), finding);
}
