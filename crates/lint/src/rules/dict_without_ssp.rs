//! Golden images in a cluster without SSP.

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let field = cx.field("dataImportCronTemplates");
    if cx.is_openshift() || cx.written_templates().next().is_none() {
        return;
    }
    out.report(
        cx.finding("no golden image is imported: plain Kubernetes has no SSP")
            .at(field.key_place())
            .label("for an operator that isn't installed")
            .help("apply DataImportCrons of your own, or remove the golden images from the HyperConverged"),
    );
}
