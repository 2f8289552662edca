//! A golden image whose DataImportCron CDI rejects.

use hcoplan_kubernetes::label::is_subdomain;
use hcoplan_planner::cause::{Cause, CauseKind};
use hcoplan_planner::machines::cdi::{self, lacks_claim};

use super::dict_name_too_long::MAX_NAME_BYTES;
use super::disk_rejected::{advice, correction, cron_problem};
use super::prelude::*;
use crate::context::cron_names;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let mut seen = BTreeSet::new();
    for cron in cx.import_crons() {
        // All architectures of a template have the same problem.
        if !seen.insert(&cron.origin.template) {
            continue;
        }
        if let Some(finding) = rejected_by_cdi(cx, cron).or_else(|| misnamed(cx, cron)) {
            out.report(finding.object(cron.object.id.to_string()));
        }
    }
}

fn rejected_by_cdi(cx: &Context<'_>, cron: &Rendered) -> Option<Finding> {
    let spec = &cron.object.body["spec"];
    // `dict-name-too-long` reports this.
    if spec["managedDataSource"].as_str().is_some_and(|name| name.len() > MAX_NAME_BYTES) {
        return None;
    }
    let rejection = cdi::rejection(cx.release(), spec)?;
    if cx.image_of(&cron.origin).and_then(|image| image.written).is_some_and(|t| is_misspelt(cx, &t, &rejection)) {
        return None;
    }
    let name = cron.origin.name();
    let path = format!("spec.{}", rejection.path);
    let message = format!("CDI rejects golden image {name}: {}", rejection.message);
    let label = cron_problem(&rejection, spec["schedule"].as_str());
    let label = label.unwrap_or_else(|| "passes HCO and SSP, but not CDI".to_owned());
    let finding = cx.finding(message).at(cx.origin_place(&cron.origin, &path)).label(label);
    let finding = match help(cx, cron, &rejection) {
        Some(help) => finding.help(help),
        None => finding,
    };
    let change = change(cx, cron, &rejection);
    Some(finding.fixes(change.and_then(|(title, change)| cx.suggest(title, &[change]))))
}

/// Whether an unknown field of the template is what is missing.
fn is_misspelt(cx: &Context<'_>, template: &WrittenTemplate<'_>, rejection: &Cause) -> bool {
    let missing: &[&str] = match rejection.kind {
        CauseKind::Missing if lacks_claim(rejection) => &["storage", "pvc"],
        CauseKind::Missing => &["resources.requests.storage"],
        _ => &[""],
    };
    let paths = missing.iter().map(|field| template.path(cx).key("spec").joined(&rejection.path).below(field));
    paths.into_iter().any(|path| cx.meant_for(&path).is_some())
}

/// The help for a rejection.
fn help(cx: &Context<'_>, cron: &Rendered, rejection: &Cause) -> Option<String> {
    let common = common_size(cx, cron).filter(|_| rejection.kind == CauseKind::Missing);
    let repeat =
        |size| format!("customising replaces the whole spec: repeat the common image's storage request, {size}");
    common.map(repeat).or_else(|| advice(rejection).map(str::to_owned))
}

/// The probable correction.
fn change(cx: &Context<'_>, cron: &Rendered, rejection: &Cause) -> Option<(String, Change)> {
    let written = cx.image_of(&cron.origin)?.written?;
    let spec = written.path(cx).key("spec");
    if let Some(size) = common_size(cx, cron).filter(|_| rejection.kind == CauseKind::Missing) {
        let path = spec.below("template.spec.storage.resources.requests.storage");
        return Some((format!("request {size}, as the common image does"), Change::Set(path, size.into())));
    }
    correction(rejection, &spec, written.get(&format!("spec.{}", rejection.path)).and_then(Node::as_str))
}

/// The storage request of the common image customised by a template.
fn common_size<'a>(cx: &Context<'a>, cron: &Rendered) -> Option<&'a str> {
    const SIZE: &str = "spec.template.spec.storage.resources.requests.storage";
    let template = cx.image_of(&cron.origin)?.template;
    tree::get(cx.common_image(template.name())?, SIZE)?.as_str()
}

fn misnamed(cx: &Context<'_>, cron: &Rendered) -> Option<Finding> {
    let (kind, wrong, field) = cron_names(cron).into_iter().find(|(_, name, _)| !is_subdomain(name))?;
    let message = format!(
        "the API server rejects the {kind} of golden image {}: {wrong:?} can't be an object's name",
        cron.origin.name()
    );
    let finding = cx
        .finding(message)
        .at(cx.origin_place(&cron.origin, field))
        .label("isn't a lower-case DNS name")
        .help("use lower-case letters, digits, hyphens and dots, with a letter or digit at both ends");
    Some(finding)
}
