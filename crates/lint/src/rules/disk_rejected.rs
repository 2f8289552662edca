//! A disk that CDI rejects.

use hcoplan_planner::boot_images::cdi::{CdiFault, CdiRejection, data_volume_rejection, rejection};
use hcoplan_planner::machines::{is_placeholder, object_metadata};
use hcoplan_yaml::Node;

use super::prelude::*;
use crate::{Extent, Shape};

pub(super) static RULE: Rule = Rule::error(
    "disk-rejected",
    Group::Operands,
    "CDI rejects a DataVolume, a DataImportCron, a DataSource or a virtual machine's disk template",
)
.rejected("Storage size is missing")
.fix(FixKind::Unsafe);

const GROUP: &str = "cdi.kubevirt.io/v1beta1";

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    type Judge = fn(&serde_json::Value, &[String]) -> Option<CdiRejection>;
    let admission = &cx.release().kubevirt().admission;
    let kinds: [(&str, Judge); 3] = [
        ("DataVolume", data_volume_rejection),
        ("DataImportCron", |spec, _| rejection(spec)),
        ("DataSource", |_, _| None),
    ];
    for (kind, judge) in kinds {
        let documents = cx.other_objects().of_kind(kind).iter();
        let whole = documents.filter(|d| cx.extent(d.file.path()) == Extent::Whole);
        for document in whole.filter(|d| text_at(d, "apiVersion") == Some(GROUP)) {
            let name = format!("the {kind} {}", text_at(document, "metadata.name").unwrap_or_default());
            let mut object = document.root.to_json();
            if structure(cx, document, &name, &mut object, out) {
                continue;
            }
            let found = judge(&object["spec"], admission);
            report(document, &name, &Path::dotted("spec"), found, out);
        }
    }
    for (vm, verdict) in cx.judged_machines() {
        let path = vm.owner_path("dataVolumeTemplates");
        let templates = vm.document.root.at(&path).map(Node::items);
        for (i, template) in templates.unwrap_or_default().iter().enumerate() {
            let path = path.index(i);
            // KubeVirt itself rejects some of them.
            let is_judged = verdict.spec.is_object() && cx.extent(vm.document.file.path()) == Extent::Whole;
            if !is_judged || verdict.causes.iter().any(|c| c.path.starts_with(&path)) {
                continue;
            }
            let found = template.get("spec").and_then(|spec| data_volume_rejection(&spec.to_json(), admission));
            let name = template.below("metadata.name").and_then(Node::as_str).unwrap_or_default();
            let name = format!("the disk {name} of {}", vm.display_name());
            report(vm.document, &name, &path.key("spec"), found, out);
        }
    }
}

/// Whether the API server rejects the object's structure; reports it.
fn structure(
    cx: &Context<'_>,
    document: &Document,
    name: &str,
    object: &mut serde_json::Value,
    out: &mut Sink,
) -> bool {
    let kind = object["kind"].as_str().unwrap_or_default().to_owned();
    let Some(schema) = cx.release().schema_of(GROUP, &kind) else {
        return false;
    };
    let finding = |message: String| Finding::new(&RULE, message).object(object_of(document));
    let pruned = schema.prepare(object);
    let mut is_rejected = !pruned.is_empty();
    for field in pruned {
        let place = document.locate_key(&field.path);
        let message = format!("the API server rejects {name}: unknown field \"{}\"", field.path);
        let finding = finding(message).at(place).label("CDI has no such field here");
        out.report(Shape::of(document, schema).with_remedy(finding, &field.path));
    }
    for cause in object_metadata(object) {
        is_rejected = true;
        let message = format!("the API server rejects {name}: {}", cause.message);
        out.report(finding(message).at(document.locate(&cause.path)).label("not a valid name"));
    }
    for violation in schema.validate(object).iter() {
        let written = document.root.at(&violation.path).and_then(Node::as_str).unwrap_or_default();
        if !written.contains("${") && !written.contains("{{") {
            is_rejected = true;
            let message = format!("the API server rejects {name}: {}", violation.message);
            out.report(finding(message).at(document.locate(&violation.path)).label("not as the CRD says"));
        }
    }
    is_rejected
}

fn report(document: &Document, name: &str, spec: &Path, found: Option<CdiRejection>, out: &mut Sink) {
    let Some(rejection) = found else {
        return;
    };
    let path = spec.below(&rejection.path);
    let written = document.root.at(&path).and_then(Node::as_str);
    if written.is_some_and(is_placeholder) {
        return;
    }
    let place = if written.is_some() { document.locate(&path) } else { document.locate_key(&path) };
    let label = rejection.detail.clone().unwrap_or_else(|| "CDI's webhook rejects this".to_owned());
    let message = format!("CDI rejects {name}: {}", rejection.message);
    let mut finding = Finding::new(&RULE, message).at(place).object(object_of(document)).label(label);
    let last = rejection.path.rsplit('.').next().unwrap_or_default();
    let advice = match last {
        _ if matches!(rejection.fault, CdiFault::NoSize | CdiFault::WrongSize) => {
            "request a size: resources.requests.storage"
        }
        _ if rejection.fault == CdiFault::TwoClaims => "keep one of storage and pvc",
        "" | "spec" => "add storage with resources.requests.storage",
        "url" if rejection.path.contains("registry") => {
            "write docker://registry/image:tag, or oci-archive:// for an archive"
        }
        "imageStream" => "add pullMethod: node",
        "source" => "name exactly one source",
        "schedule" => "write minute, hour, day, month and weekday, for example \"0 */12 * * *\"",
        "garbageCollect" => "write Outdated or Never",
        _ => "",
    };
    if !advice.is_empty() {
        finding = finding.help(advice);
    }
    let change = match (last, written) {
        ("url", Some(url)) if rejection.path.contains("registry") => {
            let image = url.split_once("://").map_or(url, |(_, rest)| rest);
            Some((format!("write docker://{image}"), Change::Set(path, format!("docker://{image}").into())))
        }
        ("imageStream", Some(_)) => {
            let method = path.parent().key("pullMethod");
            Some(("pull it on the node".to_owned(), Change::Set(method, "node".into())))
        }
        _ => None,
    };
    let fix = change.and_then(|(title, change)| suggested(document, title, &[change]));
    out.report(finding.fixes(fix));
}
