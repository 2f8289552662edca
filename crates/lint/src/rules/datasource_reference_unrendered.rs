//! A disk cloned from a DataSource that nothing creates.

use hcoplan_planner::boot::Architectures;

use super::prelude::*;
use crate::{GUEST_ARCHITECTURES, SourceRef, claim_ref_of, source_ref_of};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    without_ssp(cx, out);
    if cx.plan().ssp.is_none() || cx.ssp_rejection().is_some() || cx.places_nowhere() {
        return;
    }
    for source in cx.of_kind("DataSource").iter().filter(|d| cx.is_whole(d)) {
        out.report_all(declared(cx, source));
    }
    second_crons(cx, out);
    let mut sources = Sources { cx, names: BTreeMap::new() };
    for vm in cx.virtual_machines() {
        for reference in vm.template_sources() {
            let guest = cx.guest_architecture(&vm).name;
            if let Some(finding) = finding(&mut sources, vm.document, &reference, guest.as_deref()) {
                out.report(finding);
            }
        }
        out.report_all(vm.template_claims().iter().filter_map(|claim| of_golden_image(cx, vm.document, claim)));
    }
    for document in cx.of_kind("DataVolume") {
        let spec = document.root.get("spec");
        let own = |of: for<'n> fn(&'n Node, Path, &'n str) -> Option<SourceRef<'n>>| {
            of(spec?, Path::dotted("spec"), namespace_of(document))
        };
        out.report_all(own(source_ref_of).and_then(|source| finding(&mut sources, document, &source, None)));
        out.report_all(own(claim_ref_of).and_then(|claim| of_golden_image(cx, document, &claim)));
    }
}

/// The label by which CDI knows the cron of a DataSource.
const OF_CRON: &str = "cdi.kubevirt.io/dataImportCron";

/// The cases of these, with what is wrong and what helps.
static EMPTY: Rows<[&str; 3]> = Rows::of("emptySources");

/// A DataSource in git that nothing fills, or that a DataImportCron fills, too. Source: CDI
/// `pkg/controller/dataimportcron-controller.go`: a cron fills a DataSource of its own namespace with its label.
fn declared(cx: &Context<'_>, source: &Document) -> Option<Finding> {
    let (namespace, name) = (namespace_of(source), name_of(source));
    let mut rendered = cx.data_sources().map(|d| &d.object.id);
    if namespace.is_empty() || rendered.any(|id| id.name == name && id.namespace.as_deref() == Some(namespace)) {
        return None;
    }
    let written = Path::dotted("spec.source");
    let is_empty = entries(source.root.at(&written)).is_empty();
    let cron = cx.cron_of(namespace, name);
    let label = source.root.str_at(&Path::dotted("metadata.labels").key(OF_CRON));
    let of_claim = text_at(source, "spec.source.pvc.namespace").unwrap_or(namespace);
    let claim = text_at(source, "spec.source.pvc.name").filter(|claim| !cx.has_claim(of_claim, claim));
    let leads_to = |namespace: &str, name: &str| cx.known_source(namespace, name)?.leads_to;
    let reference = leads_to(namespace, name);
    let refused = reference.and_then(|(to, target)| match leads_to(&to, &target) {
        _ if to != namespace => Some("elsewhere"),
        _ if target == name => Some("itself"),
        next => next.map(|_| "twice"),
    });
    let why = refused.or(match (cron, claim) {
        (Some(cron), _) if label != text_at(cron, "metadata.name") => Some("managed"),
        (Some(_), _) if is_empty => None,
        (Some(_), _) => Some("written-twice"),
        (None, _) if is_empty => Some("empty"),
        (None, claim) => claim.map(|_| "no-claim"),
    })?;
    let severity = if why == "no-claim" { Severity::Info } else { Severity::Warning };
    let [_, what, help] = EMPTY.row(why);
    let message = format!("{what} the DataSource {name} in {namespace}");
    let finding = cx.finding_about(source, message).at(source.locate_key(&written));
    let finding = finding.severity(severity).help(help);
    Some(with_related(finding, cron.map(name_place), "this manages it"))
}

/// DataImportCrons of one DataSource: CDI runs the first one only.
fn second_crons(cx: &Context<'_>, out: &mut Sink) {
    let mut first: BTreeMap<(&str, &str), &Document> = BTreeMap::new();
    for cron in cx.of_kind("DataImportCron").iter().filter(|d| cx.is_whole(d)) {
        let (namespace, name) = (namespace_of(cron), cron.text("spec.managedDataSource"));
        let other = *first.entry((namespace, name)).or_insert(cron);
        let rendered = cx.plan().ssp.as_deref().and_then(|stage| stage.cron_of(namespace, name));
        let rendered = rendered.map(|cron| &*cron.object.id.name);
        let others = [(object_of(other) != object_of(cron)).then(|| name_of(other)), rendered];
        let Some(second) = others.into_iter().flatten().find(|other| *other != name_of(cron) && !name.is_empty())
        else {
            continue;
        };
        let message = format!(
            "the DataImportCrons {second} and {} manage one DataSource, {name} in {namespace}: CDI runs one of them",
            name_of(cron),
        );
        let place = cron.locate(&Path::dotted("spec.managedDataSource"));
        let finding = cx.finding_about(cron, message).at(place);
        out.report(finding.warning().help("give each cron its own managedDataSource"));
    }
}

/// A finding about a reference.
fn about(cx: &Context<'_>, document: &Document, reference: &SourceRef<'_>, message: String) -> Finding {
    let place = document.locate(&reference.path.key("name"));
    cx.finding_about(document, message).at(place)
}

/// Machines that boot from golden images, which HCO has on OpenShift only.
pub(super) fn without_ssp(cx: &Context<'_>, out: &mut Sink) {
    if cx.inventory().platform != Platform::Kubernetes {
        return;
    }
    for vm in cx.virtual_machines() {
        for reference in vm.template_sources() {
            let is_declared = cx.named("DataSource", Some(reference.namespace), reference.name).is_some();
            if !cx.fills_namespace(reference.namespace) || is_declared {
                continue;
            }
            let (name, namespace) = (reference.name, reference.namespace);
            let message = format!("nothing creates the DataSource {name} in {namespace} on plain Kubernetes");
            let finding = about(cx, vm.document, &reference, message)
                .warning()
                .label("the disk is never provisioned")
                .help("HCO deploys no SSP there, so no golden image: create the DataSource, or import the disk");
            out.report(finding);
        }
    }
}

/// A claim that has a golden image's name: CDI gives those that it imports other names.
fn of_golden_image(cx: &Context<'_>, document: &Document, claim: &SourceRef<'_>) -> Option<Finding> {
    let (namespace, name) = (claim.namespace, claim.name);
    cx.known_source(namespace, name)?.url?;
    if cx.has_claim(namespace, name) {
        return None;
    }
    let message =
        format!("nothing creates the claim {name} in {namespace}: CDI names a golden image's claims by digest");
    let finding = about(cx, document, claim, message);
    let help = format!("clone the DataSource {name} with sourceRef instead of source");
    let finding = finding.warning().label("the disk waits for it");
    Some(finding.help(help))
}

/// Maximum number of names compared and listed.
const MAX_NAMES: usize = 100;

/// Data for all references.
struct Sources<'c, 'a> {
    cx: &'c Context<'a>,
    /// The DataSources of a namespace, sorted, and the severity of a missing one.
    names: BTreeMap<String, (Vec<&'c str>, Option<Severity>)>,
}

/// `guest` is the architecture of the machine that boots from it, if known.
fn finding(
    sources: &mut Sources<'_, '_>,
    document: &Document,
    reference: &SourceRef<'_>,
    guest: Option<&str>,
) -> Option<Finding> {
    let cx = sources.cx;
    let (namespace, name) = (reference.namespace, reference.name);
    if namespace.is_empty() || [namespace, name].into_iter().any(is_placeholder) {
        return None;
    }
    if cx.known_source(namespace, name).is_some() {
        let known = cx.followed_data_source(namespace, name);
        if known.as_ref().is_some_and(|known| known.is_not_imported) {
            let finding = never_filled(cx, document, reference, guest).warning();
            return Some(finding.help("import its golden image, or create the claim that the DataSource refers to"));
        }
        let is_empty = known.is_none_or(|known| known.image.is_none());
        let is_kept = is_empty && cx.is_kept_source(namespace, name);
        return is_empty.then(|| {
            if is_kept { kept(cx, document, reference) } else { never_filled(cx, document, reference, guest) }
        });
    }
    let of_namespace = sources.names.entry(namespace.to_owned());
    let (there, severity) = of_namespace.or_insert_with(|| (names(cx, namespace), severity(cx, namespace)));
    let own = cx.images_namespace();
    let is_golden = |namespace: &str| namespace != own && names(cx, own).contains(&name);
    // The default namespace is the reference's own.
    let written = document.root.at(&reference.path.key("namespace"));
    let is_misspelt = || {
        let is_declared = !there.is_empty() || cx.named("Namespace", None, namespace).is_some();
        !is_declared && is_letter_off(namespace, own) && !namespace.contains(char::is_numeric)
    };
    let is_forgotten = || (is_golden(namespace) && (written.is_none() || is_misspelt())).then_some(Severity::Warning);
    // A cron fills the DataSource that it manages, and none with its own name.
    let cron = cx.named("DataImportCron", Some(namespace), name).map(|cron| cron.text("spec.managedDataSource"));
    let of_cron = cron.map(|_| Severity::Warning);
    let is_made = |cron: &Arc<Document>| text_at(cron, "spec.managedDataSource") == Some(name);
    let of_other = cx.of_kind("DataImportCron").iter().any(is_made).then_some(Severity::Warning);
    let severity = is_forgotten().or(of_cron).or(*severity).or(of_other)?;
    let place = document.locate(&reference.path.key("name"));
    if cx.is_kept_source(namespace, name) {
        return Some(kept(cx, document, reference));
    }
    let message = format!("nothing creates the DataSource {name} in {namespace}");
    let finding = about(cx, document, reference, message).severity(severity).label("the disk is never provisioned");
    // Switching multi-arch golden images adds or removes the architecture.
    let (plain, suffix) = name.rsplit_once('-').unwrap_or((name, ""));
    let suffix = Some(suffix).filter(|s| GUEST_ARCHITECTURES.contains(s));
    let wanted = suffix.or(guest);
    let is_switch = suffix.is_some() && there.contains(&plain) && !cx.hyperconverged()?.multi_arch();
    // Only for architectures of nodes.
    let creates = |fix: &Fix| {
        let ssp = cx.planned_with(fix).and_then(|plan| plan.ssp);
        let mut objects = ssp.iter().flat_map(|ssp| &ssp.objects).map(|rendered| &rendered.object);
        objects.any(|o| o.id.kind == "DataImportCron" && o.body["spec"]["managedDataSource"] == *name)
    };
    let switch = is_switch.then(|| cx.switch_multi_arch(true).filter(creates)).flatten();
    let is_switch = switch.is_some();
    let finding = finding.fixes(switch.map(|fix| Fix { title: format!("{}, which creates {name}", fix.title), ..fix }));
    if (written.is_none() || there.is_empty()) && is_golden(namespace) {
        let fix = suggested(
            document,
            format!("clone it from {own}, where this distribution's golden images are"),
            &[Change::Set(reference.path.key("namespace"), own.into())],
        );
        return Some(finding.help(format!("golden images of this distribution are in {own}")).fixes(fix));
    }
    if let Some(other) = imported_elsewhere(cx, reference) {
        return Some(cloned_from(finding, document, reference, other));
    }
    let fits = |candidate: &&str| may_have(cx, namespace, candidate, wanted, suffix.is_some());
    let is_many = there.len() > MAX_NAMES;
    let meant = there.binary_search(&plain).ok().map(|at| there[at]).filter(|m| suffix.is_some() && fits(m));
    let near = || cron.filter(|c| there.contains(c)).or_else(|| nearest(name, there.iter().copied().filter(fits)));
    let meant = meant.or_else(|| if is_many { None } else { near() });
    if is_switch {
        let clone = meant.map(|meant| suggested_text(format!("clone {meant}"), place, meant));
        return Some(finding.fixes(clone));
    }
    let fitting = || there.iter().copied().filter(fits).collect::<Vec<_>>();
    let otherwise = if is_many {
        format!("use one of the {} DataSources that exist there", there.len())
    } else if !fitting().is_empty() {
        format!("use a DataSource that exists there: {}", and(fitting()))
    } else if let Some(wanted) = wanted.filter(|_| !there.is_empty()) {
        format!("no DataSource that exists there is {wanted}")
    } else if cx.common_images_off() {
        "no golden image is imported: common images are switched off".to_owned()
    } else {
        "no golden image is imported into that namespace".to_owned()
    };
    Some(did_you_mean(finding, "clone", meant, otherwise))
}

/// Whether one letter of a word is missing, wrong or too much.
fn is_letter_off(word: &str, right: &str) -> bool {
    let begin = word.bytes().zip(right.bytes()).take_while(|(a, b)| a == b).count();
    let end = word.bytes().rev().zip(right.bytes().rev()).take_while(|(a, b)| a == b).count();
    begin + end + 1 >= word.len().max(right.len())
}

/// A DataSource that is kept although its image is removed.
fn kept(cx: &Context<'_>, document: &Document, reference: &SourceRef<'_>) -> Finding {
    let message = format!("nothing updates the DataSource {} in {} any more", reference.name, reference.namespace);
    about(cx, document, reference, message)
        .warning()
        .label("it stays, with the last disk that was imported")
        .help("delete it by hand once nothing refers to it")
}

/// A DataSource without import, while others of the same image have one.
fn never_filled(cx: &Context<'_>, document: &Document, reference: &SourceRef<'_>, guest: Option<&str>) -> Finding {
    let (namespace, name) = (reference.namespace, reference.name);
    let message = format!("nothing is imported for the DataSource {name} in {namespace}");
    let leads_on = cx.known_source(namespace, name).is_some_and(|known| known.leads_to.is_some());
    let label = if leads_on && cx.followed_data_source(namespace, name).is_some_and(|known| !known.is_not_imported) {
        "CDI follows a DataSource once, and in its own namespace"
    } else {
        "the disk is never provisioned"
    };
    let finding = about(cx, document, reference, message).label(label);
    if let Some(other) = imported_elsewhere(cx, reference) {
        return cloned_from(finding, document, reference, other);
    }
    let own =
        imports(cx).filter(|(other, managed)| *other == namespace && may_have(cx, namespace, managed, guest, true));
    let mut meant = own.map(|(_, managed)| managed).filter(|managed| managed.starts_with(name));
    did_you_mean(finding, "clone", meant.next(), "clone an image that is imported")
}

/// The namespaces and DataSources that SSP's and the repository's DataImportCrons fill.
fn imports<'c>(cx: &'c Context<'_>) -> impl Iterator<Item = (&'c str, &'c str)> {
    let rendered = cx.import_crons().filter_map(|cron| {
        let managed = cron.object.body["spec"]["managedDataSource"].as_str()?;
        Some((cron.object.id.namespace.as_deref()?, managed))
    });
    let declared = cx.of_kind("DataImportCron").iter();
    rendered.chain(declared.map(|cron| (namespace_of(cron), cron.text("spec.managedDataSource"))))
}

/// Another namespace with a golden image of the same name.
fn imported_elsewhere<'c>(cx: &'c Context<'_>, reference: &SourceRef<'_>) -> Option<&'c str> {
    let mut all = imports(cx);
    let found = all.find(|(other, managed)| *managed == reference.name && *other != reference.namespace)?;
    Some(found.0)
}

fn cloned_from(finding: Finding, document: &Document, reference: &SourceRef<'_>, namespace: &str) -> Finding {
    let path = reference.path.key("namespace");
    let fix = document.root.at(&path).map(|_| {
        let title = format!("clone it from {namespace}");
        suggested_text(title, document.locate(&path), namespace)
    });
    finding.help(format!("the image is imported into {namespace}: clone it from there")).fixes(fix)
}

/// Whether a DataSource may have a disk of the wanted architecture, or of any. `certainly`: independent of the
/// importing node.
fn may_have(cx: &Context<'_>, namespace: &str, name: &str, wanted: Option<&str>, certainly: bool) -> bool {
    let known = cx.followed_data_source(namespace, name);
    let suffix = name.rsplit_once('-').map(|(_, s)| s).filter(|s| GUEST_ARCHITECTURES.contains(s));
    known.is_some_and(|known| {
        let by_chance = matches!(known.image, Architectures::Undetermined(_));
        let fits = |w: &str| !known.image.lacks(w) && suffix.is_none_or(|s| s == w) && !(certainly && by_chance);
        known.is_filled && !known.image.is_none() && wanted.is_none_or(fits)
    })
}

/// The severity of a missing DataSource in a namespace; `None` if unknown.
fn severity(cx: &Context<'_>, namespace: &str) -> Option<Severity> {
    if cx.fills_namespace(namespace) {
        return Some(Severity::Error);
    }
    // Common images that are switched off may be there from before.
    if cx.hyperconverged().and_then(|hc| hc.common_images_namespace()) == Some(namespace) {
        return Some(Severity::Warning);
    }
    let mut declared = ["DataSource", "DataImportCron"].into_iter().flat_map(|kind| cx.of_kind(kind));
    let here = declared.any(|d| namespace_of(d) == namespace);
    here.then_some(Severity::Info)
}

/// The DataSources of a namespace, sorted.
fn names<'c>(cx: &'c Context<'_>, namespace: &str) -> Vec<&'c str> {
    let rendered = cx.data_sources().filter(|d| d.object.id.namespace.as_deref() == Some(namespace));
    let rendered = rendered.map(|d| d.object.id.name.as_str());
    let made = imports(cx).filter(|(own, _)| *own == namespace).map(|(_, managed)| managed);
    let declared = cx.of_kind("DataSource").iter().filter(|d| namespace_of(d) == namespace).map(|d| name_of(d));
    distinct(rendered.chain(made).chain(declared))
}
