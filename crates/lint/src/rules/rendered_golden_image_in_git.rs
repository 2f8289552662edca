//! A DataImportCron or DataSource of SSP's is kept in git, too.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "rendered-golden-image-in-git",
    group: Group::Operands,
    severity: Severity::Error,
    predicts: Prediction::Refusal("Cannot update DataImportCron Spec"),
    summary: "git declares a DataImportCron or DataSource that SSP or CDI makes",
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for document in cx.neighbours().of_kind("DataImportCron") {
        let is_it = |r: &Rendered| is_same(r, document);
        if let Some(cron) = cx.import_crons().find(|c| is_it(c)) {
            report(cx, document, cron, "SSP makes it", out);
        }
    }
    for document in cx.neighbours().of_kind("DataSource") {
        let name = text_at(document, "metadata.name").unwrap_or_default();
        let namespace = namespace_of(document);
        if let Some(rendered) = cx.data_sources().find(|d| is_same(d, document)) {
            report(cx, document, rendered, "SSP makes it", out);
            continue;
        }
        let made = cx.import_crons().find(|c| {
            c.object.id.namespace.as_deref() == Some(namespace) && c.object.body["spec"]["managedDataSource"] == name
        });
        if let Some(cron) = made {
            report(cx, document, cron, "CDI makes it for a DataImportCron of SSP's", out);
        }
    }
}

fn is_same(rendered: &Rendered, document: &Document) -> bool {
    let id = &rendered.object.id;
    text_at(document, "metadata.name") == Some(&id.name) && Some(namespace_of(document)) == id.namespace.as_deref()
}

fn report(cx: &Context<'_>, document: &Document, made: &Rendered, by: &str, out: &mut Sink) {
    let kind = text_at(document, "kind").unwrap_or_default();
    let name = text_at(document, "metadata.name").unwrap_or_default();
    let mut finding = finding_about(&RULE, document, format!("the {kind} {name} is not git's: {by}"))
        .label(by.to_owned())
        .help("delete the manifest; what it says belongs into dataImportCronTemplates");
    if cx.image_of(&made.origin).is_some_and(|i| i.written.is_some()) {
        let place = cx.origin_place(&made.origin, "metadata.name");
        finding = finding.related(place, "from this template");
    }
    out.report(finding);
}
