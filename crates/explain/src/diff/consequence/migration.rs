//! Live migration. Sources: KubeVirt `pkg/virt-config`, `pkg/virt-launcher/virtwrap/live-migration-source.go`.

use super::Change;
use super::said::sentence;
use crate::diff::consequence::Consequence;
use crate::prelude::*;

const POST_COPY: &str = "spec.configuration.migrations.allowPostCopy";
const DISRUPTION: &str = "spec.configuration.migrations.allowWorkloadDisruption";

/// What a migration does that takes too long, and the sentence about it. `allowWorkloadDisruption` follows
/// `allowPostCopy` where it isn't set. Source: `GetMigrationConfiguration`, `handleLegacyConvergence`.
fn too_long(post_copy: &Value, disruption: &Value) -> (&'static str, &'static str) {
    let post_copy = post_copy.as_bool().unwrap_or(false);
    match (disruption.as_bool().unwrap_or(post_copy), post_copy) {
        (false, _) => ("gives up", "migration-given-up"),
        (true, true) => ("goes on in post-copy", "post-copy"),
        (true, false) => ("pauses the VM", "migration-pauses"),
    }
}

pub(super) fn completion_timeout(change: &Change<'_>) -> Vec<Consequence> {
    let (does, _) = too_long(change.at(POST_COPY).1, change.at(DISRUPTION).1);
    // Zero switches the limit off.
    let [was, is] = [change.before, change.after].map(|v| v.as_u64().unwrap_or(150));
    let text = match (was, is) {
        _ if was == is => return Vec::new(),
        (_, 0) => format!("never {does}, instead of after {was} s"),
        (0, _) => format!("{does} after {is} s per GiB instead of never"),
        _ => format!("{does} after {is} s per GiB instead of {was} s"),
    };
    vec![sentence("completion-timeout").turns(text, "")]
}

pub(super) fn post_copy(change: &Change<'_>) -> Vec<Consequence> {
    let (post_copy, disruption) = (change.at(POST_COPY), change.at(DISRUPTION));
    let (was, is) = (too_long(post_copy.0, disruption.0), too_long(post_copy.1, disruption.1));
    let name = match (post_copy.0 == true, post_copy.1 == true) {
        (true, true) if was.1 == "post-copy" && is != was => "post-copy-ends",
        _ if is != was => is.1,
        (false, true) => "post-copy-without-effect",
        (true, false) => "post-copy-off",
        _ => return Vec::new(),
    };
    let is_upgrade = change.sides.before.version() != change.sides.after.version();
    vec![sentence(name).fill(&[("when", &if is_upgrade { " with the upgrade" } else { "" })])]
}
