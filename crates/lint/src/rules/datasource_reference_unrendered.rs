//! A disk is cloned from a DataSource that nobody makes.

use hcoplan_kubernetes::Object;
use hcoplan_planner::plan::{Admit, plan_with};

use super::prelude::*;
use crate::{SourceRef, source_ref};

pub(super) static RULE: Rule = Rule::error(
    "datasource-reference-unrendered",
    Group::GoldenImages,
    "a virtual machine or DataVolume refers to a DataSource that nothing makes",
)
.predicts(alert!("VirtualMachineStuckInUnhealthyState"))
.confidence(Confidence::Medium)
.fix(FixKind::Suggested);

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    if cx.plan().ssp.is_none() || cx.ssp_refusal().is_some() {
        return;
    }
    for vm in cx.virtual_machines() {
        for reference in vm.template_sources() {
            if let Some(finding) = finding(cx, vm.document, &reference) {
                out.report(finding);
            }
        }
    }
    let path = Path::dotted("spec.sourceRef");
    for document in cx.neighbours().of_kind("DataVolume") {
        let node = document.root.at(&path);
        let reference = node.and_then(|n| source_ref(n, path.clone(), namespace_of(document)));
        if let Some(finding) = reference.and_then(|r| finding(cx, document, &r)) {
            out.report(finding);
        }
    }
}

fn finding(cx: &Context<'_>, document: &Document, reference: &SourceRef<'_>) -> Option<Finding> {
    let (namespace, name) = (reference.namespace, reference.name);
    if namespace.is_empty() || cx.known_source(namespace, name).is_some() {
        return None;
    }
    let severity = severity(cx, namespace)?;
    let place = document.locate(&reference.path.key("name"));
    if stays_from_before(cx, namespace, name) {
        let message = format!("nothing updates the DataSource {name} in {namespace} any more");
        let finding = Finding::new(&RULE, message)
            .at(place)
            .severity(Severity::Info)
            .object(object_of(document))
            .label("it stays, with the last disk that was imported")
            .help("delete it by hand once nothing refers to it");
        return Some(finding);
    }
    let message = format!("nothing makes the DataSource {name} in {namespace}");
    let finding = Finding::new(&RULE, message)
        .at(place)
        .severity(severity)
        .object(object_of(document))
        .label("the disk is never provisioned");
    let there = names(cx, namespace);
    // Switching multi-arch golden images adds or takes away the architecture.
    let plain = name.rsplit_once('-').map(|(plain, _)| plain);
    let meant = there.iter().copied().find(|t| Some(*t) == plain);
    let meant = meant.or_else(|| nearest(name, there.iter().copied()));
    let otherwise = if !there.is_empty() {
        format!("there are {}", and(&there))
    } else if common_images_off(cx) {
        "no golden image is imported: common images are switched off".to_owned()
    } else {
        "no golden image is imported into that namespace".to_owned()
    };
    Some(did_you_mean(finding, "clone", meant, otherwise))
}

/// Whether the change takes out an image that leaves its DataSource behind. Source: CDI's DataImportCron
/// controller, `retentionPolicy`.
fn stays_from_before(cx: &Context<'_>, namespace: &str, name: &str) -> bool {
    let Some(before) = cx.before() else {
        return false;
    };
    let plan = plan_with(cx.release(), cx.inventory(), before, Admit::Force);
    let is_in = |object: &Object| object.id.namespace.as_deref() == Some(namespace);
    let mut crons = plan.objects().filter(|o| o.id.kind == "DataImportCron" && is_in(o));
    crons.any(|cron| {
        let spec = &cron.body["spec"];
        spec["managedDataSource"] == name && spec["retentionPolicy"] != "None"
    })
}

/// How bad it is that a DataSource of a namespace isn't there; `None` where nobody can tell.
fn severity(cx: &Context<'_>, namespace: &str) -> Option<Severity> {
    let of_crons = cx.import_crons().map(|c| &c.object.id);
    let rendered = cx.data_sources().map(|d| &d.object.id).chain(of_crons);
    let mut namespaces = rendered.filter_map(|id| id.namespace.as_deref());
    if namespace == cx.release().ssp().golden_images_namespace || namespaces.any(|n| n == namespace) {
        return Some(Severity::Error);
    }
    let mut declared = cx.neighbours().of_kind("DataSource").iter();
    let here = declared.any(|d| namespace_of(d) == namespace);
    here.then_some(Severity::Info)
}

/// The DataSources of a namespace, sorted.
fn names<'c>(cx: &'c Context<'_>, namespace: &str) -> Vec<&'c str> {
    let here = |n: Option<&str>| n == Some(namespace);
    let rendered = cx.data_sources().filter(|d| here(d.object.id.namespace.as_deref()));
    let rendered = rendered.map(|d| d.object.id.name.as_str());
    let crons = cx.import_crons().filter(|c| here(c.object.id.namespace.as_deref()));
    let made = crons.filter_map(|c| c.object.body["spec"]["managedDataSource"].as_str());
    let declared = cx.neighbours().of_kind("DataSource").iter();
    let declared = declared.filter(|d| namespace_of(d) == namespace);
    let declared = declared.filter_map(|d| text_at(d, "metadata.name"));
    let mut names: Vec<&str> = rendered.chain(made).chain(declared).collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn common_images_off(cx: &Context<'_>) -> bool {
    let hc = cx.hyperconverged();
    let field = "workloadSources.enableCommonBootImageImport";
    hc.is_some_and(|hc| hc.flag(field) == Some(false))
}
