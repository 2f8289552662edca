//! Names that are too long with the architecture appended.

use super::prelude::*;
use crate::context::cron_names;

/// Maximum length of a label's value.
pub(super) const MAX_NAME_BYTES: usize = 63;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let mut seen = Vec::new();
    for cron in cx.import_crons() {
        for (kind, name, field) in cron_names(cron).into_iter().filter(|(_, name, _)| name.len() > MAX_NAME_BYTES) {
            // Report a template once for all its architectures.
            let key = (cron.origin.template.as_ref(), kind);
            if seen.contains(&key) {
                continue;
            }
            seen.push(key);
            let message =
                format!("the name of {kind} {name} has {} characters, but {MAX_NAME_BYTES} are allowed", name.len());
            let label = match &cron.origin.architecture {
                Some(architecture) => format!("becomes longer by -{architecture}"),
                None => "too long".to_owned(),
            };
            out.report(
                cx.finding(message)
                    .at(cx.origin_place(&cron.origin, field))
                    .object(cron.object.id.to_string())
                    .label(label)
                    .help(format!("shorten it by {}", name.len() - MAX_NAME_BYTES)),
            );
        }
    }
}
