//! A field of a golden image that SSP's CRD doesn't have.

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for image in cx.golden_images() {
        let (Some(written), Some(spec)) = (image.written, image.template.spec.as_ref()) else {
            continue;
        };
        for path in &cx.release().ssp().pruned {
            // HCO's own CRD may not have it either: then it is already removed.
            if written.get(path).is_none() || !has(spec, path) {
                continue;
            }
            let name = image.template.name();
            let message = format!("SSP drops `{path}` of golden image {name}: its CRD lacks the field");
            out.report(
                cx.finding(message)
                    .at(written.locate_key(path))
                    .label("never gets to the DataImportCron")
                    .help(format!("remove the field: SSP of release {} can't pass it on", cx.release().label())),
            );
        }
    }
}

/// Whether a template's spec has a field; `path` is relative to the template.
fn has(spec: &Map<String, Json>, path: &str) -> bool {
    let mut steps = path.split('.').skip(1);
    let first = steps.next().and_then(|step| spec.get(step));
    steps.try_fold(first, |value, step| Some(value?.get(step))).flatten().is_some()
}
