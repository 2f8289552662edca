//! The older API version served by the release.

use hcoplan_planner::hyperconverged::version_of;

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let api = &cx.release().tables().hyperconverged;
    let newest = api.newest_version();
    let written = version_of(cx.object());
    if written == newest || !api.served_versions.iter().any(|v| v == written) {
        return;
    }
    let release = cx.release().label();
    let stored = api.storage_version == *newest;
    let message = if stored {
        format!("{written} is the old API version: {release} stores {newest}")
    } else {
        format!("{written} is the old API version: {release} serves {newest}, too")
    };
    let finding = cx
        .finding(message)
        .at(cx.document().locate(&Path::dotted("apiVersion")))
        .label("frozen, and dropped in a future release")
        .help(format!("migrate it: `hcoplan fix --migrate {newest}` keeps its comments"));
    out.report(if stored { finding } else { finding.info() });
}
