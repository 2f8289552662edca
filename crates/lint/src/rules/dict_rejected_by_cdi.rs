//! A golden image whose DataImportCron CDI rejects.

use hcoplan_kubernetes::label::is_subdomain;
use hcoplan_planner::machines::cdi::{self, CdiFault, CdiRejection};

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
    let rejection = cdi::rejection(cx.release(), &cron.object.body["spec"])?;
    let name = cron.origin.name();
    let path = format!("spec.{}", rejection.path);
    let message = format!("CDI rejects golden image {name}: {}", rejection.message);
    let label = rejection.detail.clone();
    let label = label.unwrap_or_else(|| "passes HCO and SSP, but not CDI".to_owned());
    let finding = cx.finding(message).at(cx.origin_place(&cron.origin, &path)).label(label);
    let finding = match help(cx, cron, &rejection) {
        Some(help) => finding.help(help),
        None => finding,
    };
    Some(match change(cx, cron, &rejection) {
        Some((title, change)) => finding.fixes(cx.suggest(title, &[change])),
        None => finding,
    })
}

/// The help for a rejection.
fn help(cx: &Context<'_>, cron: &Rendered, rejection: &CdiRejection) -> Option<String> {
    let help = match rejection.path.as_str() {
        "template.spec" | "template.spec.storage" | "template.spec.pvc" => {
            let common = common_size(cx, cron);
            return Some(match common.filter(|_| is_missing(rejection)) {
                Some(size) => format!(
                    "customising replaces the whole spec: repeat the common image's storage \
                     request, {size}"
                ),
                None => "request a size, in either storage or pvc: resources.requests.storage".to_owned(),
            });
        }
        "template.spec.source" => "name one source: a registry or a PVC",
        "template.spec.source.registry.url" => "write docker://registry/image:tag, or oci-archive:// for an archive",
        "template.spec.source.registry.imageStream" => "add pullMethod: node",
        "schedule" => "write minute, hour, day, month and weekday, for example \"0 */12 * * *\"",
        "garbageCollect" => "write Outdated or Never",
        "template.spec.contentType"
        | "template.spec.sourceRef"
        | "template.spec.checkpoints"
        | "template.spec.finalCheckpoint" => "remove it",
        _ => return None,
    };
    Some(help.to_owned())
}

/// Whether the claim or its size is missing.
fn is_missing(rejection: &CdiRejection) -> bool {
    matches!(rejection.fault, CdiFault::NoClaim | CdiFault::NoSize)
}

/// The probable correction.
fn change(cx: &Context<'_>, cron: &Rendered, rejection: &CdiRejection) -> Option<(String, Change)> {
    let written = cx.image_of(&cron.origin)?.written?;
    let at = |path: &str| written.path(cx).below(path);
    match rejection.path.as_str() {
        "template.spec" | "template.spec.storage" => {
            let size = common_size(cx, cron).filter(|_| is_missing(rejection))?;
            let path = at("spec.template.spec.storage.resources.requests.storage");
            let title = format!("request {size}, as the common image does");
            Some((title, Change::Set(path, size.into())))
        }
        "template.spec.source.registry.url" => {
            let url = written.get("spec.template.spec.source.registry.url")?;
            let image = url.as_str()?;
            let image = image.split_once("://").map_or(image, |(_, rest)| rest);
            let url = format!("docker://{image}");
            let path = at("spec.template.spec.source.registry.url");
            Some((format!("write {url}"), Change::Set(path, url.into())))
        }
        "template.spec.source.registry.imageStream" => {
            let path = at("spec.template.spec.source.registry.pullMethod");
            Some(("pull it on the node".to_owned(), Change::Set(path, "node".into())))
        }
        _ => None,
    }
}

/// The storage request of the common image customised by a template.
fn common_size<'a>(cx: &Context<'a>, cron: &Rendered) -> Option<&'a str> {
    const SIZE: &str = "spec.template.spec.storage.resources.requests.storage";
    let template = cx.image_of(&cron.origin)?.template;
    tree::get(cx.common_image(template.name())?, SIZE)?.as_str()
}

/// An invalid object name: kind, name, and the template's field that sets it.
fn wrong_name(cron: &Rendered) -> Option<(&'static str, &str, &'static str)> {
    let mut names = cron_names(cron).into_iter();
    names.find(|(_, name, _)| !is_subdomain(name))
}

fn misnamed(cx: &Context<'_>, cron: &Rendered) -> Option<Finding> {
    let (kind, wrong, field) = wrong_name(cron)?;
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
