//! A field of a golden image that SSP's CRD doesn't have.

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for image in cx.golden_images() {
        let (Some(written), Some(spec)) = (image.written, image.template.spec.clone()) else {
            continue;
        };
        let spec = Json::Object(spec);
        for path in &cx.release().ssp().pruned {
            // HCO's own CRD may not have it either: then it is already removed.
            let below = path.split_once('.').map_or("", |(_, below)| below);
            if written.get(path).is_none() || tree::get(&spec, below).is_none() {
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
