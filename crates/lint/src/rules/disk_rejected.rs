//! A disk that CDI rejects, or a limit of its namespace.

use hcoplan_kubernetes::cron;
use hcoplan_planner::cause::{Cause, CauseKind};
use hcoplan_planner::machines::cdi::{disk_rejection, lacks_claim};
use hcoplan_planner::machines::{Launcher, structure};

use super::dict_name_too_long::MAX_NAME_BYTES;
use super::prelude::*;
use super::vm_pod_rejected::{Asker, judge};
use super::vm_rejected::finding;

/// What to do: the end of the rejected field's path, or the fault, and the advice.
static ADVICE: Rows<(&str, &str)> = Rows::of("diskAdvice");

const GROUP: &str = "cdi.kubevirt.io/v1beta1";

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    limited(cx, out);
    for kind in
        ["DataVolume", "DataImportCron", "DataSource", "StorageProfile", "VolumeImportSource", "VolumeUploadSource"]
    {
        let documents = cx.of_kind(kind).iter();
        let whole = documents.filter(|d| cx.is_whole(d));
        for document in whole.filter(|d| text_at(d, "apiVersion") == Some(GROUP)) {
            let name = format!("the {kind} {}", name_of(document));
            let mut object = document.root.to_json();
            let causes = structure(cx.release(), &mut object);
            let is_too_long = name_of(document).len() > MAX_NAME_BYTES;
            if kind == "DataImportCron" && is_too_long {
                let message = format!("CDI rejects {name}: it has more than {MAX_NAME_BYTES} characters");
                out.report(cx.finding_about(document, message).help("shorten its name"));
            } else if causes.is_empty() {
                let found = disk_rejection(cx.release(), kind, &object["spec"]);
                report(cx, document, &name, &Path::dotted("spec"), found, out);
            }
            out.report_all(causes.iter().map(|cause| finding(cx, document, &name, cause)));
        }
    }
    for (vm, verdict) in cx.judged_machines() {
        for (path, template) in vm.disk_templates() {
            // KubeVirt itself rejects some of them.
            let is_judged = verdict.spec.is_object() && cx.is_whole(vm.document);
            if !is_judged || verdict.causes.iter().any(|c| c.path.starts_with(&path)) {
                continue;
            }
            let found =
                template.get("spec").and_then(|spec| disk_rejection(cx.release(), "DataVolume", &spec.to_json()));
            let name = template.text_at("metadata.name").unwrap_or_default();
            let name = format!("the disk {name} of {vm}");
            report(cx, vm.document, &name, &path.key("spec"), found, out);
        }
    }
}

/// Claims that a LimitRange or a ResourceQuota of their namespace rejects.
fn limited(cx: &Context<'_>, out: &mut Sink) {
    let disks = cx.disk_specs().into_iter().filter_map(|DiskSpec { who, spec, document, namespace }| {
        Some((who, document, namespace, spec.get("storage").or_else(|| spec.get("pvc"))?))
    });
    let claims = cx.of_kind("PersistentVolumeClaim").iter().filter_map(|document| {
        let owner = format!("the PersistentVolumeClaim {}", name_of(document));
        Some((owner, &**document, namespace_of(document), document.root.get("spec")?))
    });
    let askers = disks.chain(claims).map(|(owner, document, namespace, claim)| {
        let size = claim.below("resources.requests.storage");
        let text = size.and_then(|size| document.written_text(size));
        Asker {
            namespace,
            document,
            what: "claim",
            owner,
            amounts: Launcher::of_claim(text.as_deref(), claim.text_at("storageClassName")),
            in_guest: None,
            count: 1,
            is_counted: true,
            place: Box::new(move |_| document.location(size.unwrap_or(claim).span)),
        }
    });
    judge(cx, askers, out);
}

fn report(cx: &Context<'_>, document: &Document, name: &str, spec: &Path, found: Option<Cause>, out: &mut Sink) {
    let Some(cause) = found else {
        return;
    };
    let path = spec.joined(&cause.path);
    let written = document.root.str_at(&path);
    if written.is_some_and(is_placeholder) {
        return;
    }
    let place = if written.is_some() { document.locate(&path) } else { document.locate_key(&path) };
    let label = cron_problem(&cause, written).unwrap_or_else(|| "CDI's webhook rejects this".to_owned());
    let message = format!("CDI rejects {name}: {}", cause.message);
    let mut finding = cx.finding_about(document, message).at(place).label(label);
    if let Some(advice) = advice(&cause) {
        finding = finding.help(advice);
    }
    let change = correction(&cause, spec, written);
    out.report(finding.fixes(change.and_then(|(title, change)| suggested(document, title, &[change]))));
}

/// What is wrong with the schedule that CDI rejects.
pub(super) fn cron_problem(cause: &Cause, written: Option<&str>) -> Option<String> {
    let is_schedule = cause.path.keys().eq(["schedule"]);
    written.filter(|_| is_schedule).and_then(|schedule| cron::check(schedule).err()).map(|error| error.to_string())
}

/// What to do about a rejection.
pub(super) fn advice(cause: &Cause) -> Option<&'static str> {
    let path = cause.path.to_string();
    let fault = match cause.kind {
        CauseKind::Missing if lacks_claim(cause) => &path,
        CauseKind::Missing | CauseKind::OutOfRange => "a size",
        CauseKind::NotExactlyOne => "two claims",
        _ => &path,
    };
    let is_about = |end: &str| fault.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    ADVICE.iter().find(|(end, _)| is_about(end)).map(|(_, advice)| *advice)
}

/// The probable correction of a rejected field below `spec`.
pub(super) fn correction(cause: &Cause, spec: &Path, written: Option<&str>) -> Option<(String, Change)> {
    let path = spec.joined(&cause.path);
    let mut keys = cause.path.keys();
    match (keys.next_back()?, written?) {
        ("url", url) if keys.next_back() == Some("registry") => {
            let image = url.split_once("://").map_or(url, |(_, rest)| rest);
            Some((format!("write docker://{image}"), Change::Set(path, format!("docker://{image}").into())))
        }
        ("imageStream", _) => {
            let method = path.parent().key("pullMethod");
            Some(("pull it on the node".to_owned(), Change::Set(method, "node".into())))
        }
        _ => None,
    }
}
