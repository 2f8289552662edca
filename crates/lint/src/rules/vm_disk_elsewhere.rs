//! A virtual machine whose disk, Secret or ConfigMap is declared in another namespace, or a disk under a similar name;
//! likewise the source of a snapshot, a clone or an export.

use hcoplan_planner::machines::each;
use hcoplan_repository::repo::UNKNOWN_HASH;

use super::prelude::*;

/// Paths with the name of an object, below an instance's spec, and the kinds that create it.
static OF_MACHINES: Rows<(&str, Vec<&str>)> = Rows::of("diskSources");

/// The same below the spec of a DataVolume.
static OF_IMPORTS: Rows<(&str, Vec<&str>)> = Rows::of("importSources");

/// What is made of a machine.
const COPIES: [&str; 3] = ["VirtualMachineClone", "VirtualMachineExport", "VirtualMachineSnapshot"];

/// The same below their specs.
static OF_COPIES: Rows<(&str, Vec<&str>)> = Rows::of("machineSources");

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for vm in cx.virtual_machines() {
        let path = vm.path("");
        let spec = (&path, &json_of(vm.document.root.at(&path)));
        let places = [(vm.namespace(), "a VM uses only objects of its own namespace")];
        report(cx, (vm.document, &vm.to_string()), spec, &OF_MACHINES, &places, out);
    }
    for DiskSpec { who, spec, document, namespace } in cx.disk_specs() {
        // Source: CDI `pkg/controller/dataimportcron-controller.go` (`newCronJob`).
        let polled = (&*cx.inventory().namespace, "CDI looks for new images there");
        let is_cron = std::ptr::eq(document, cx.document()) || document.text("kind") == "DataImportCron";
        let is_polled = is_cron && spec.below("source.registry.imageStream").is_none();
        let places = [(namespace, "the disk is imported there"), polled];
        let path = document.root.path_to(spec.span).unwrap_or_default();
        let places = &places[..1 + usize::from(is_polled)];
        report(cx, (document, &who), (&path, &spec.to_json()), &OF_IMPORTS, places, out);
    }
    for document in COPIES.iter().flat_map(|kind| cx.of_kind(kind)) {
        let spec = json_of(document.root.get("spec"));
        if spec["source"]["kind"] == "VirtualMachine" {
            let user = (&**document, &*format!("the {}", object_of(document)));
            let place = [(namespace_of(document), "its source is of its own namespace")];
            report(cx, user, (&Path::dotted("spec"), &spec), &OF_COPIES, &place, out);
        }
    }
}

fn report(
    cx: &Context<'_>,
    user: (&Document, &str),
    (path, spec): (&Path, &Json),
    rows: &[(&'static str, Vec<&'static str>)],
    places: &[(&str, &str)],
    out: &mut Sink,
) {
    for (field, kinds) in rows {
        for (at, name) in each(spec, field) {
            let (path, named) = (path.below(&at), (text(name), kinds.as_slice()));
            out.report_all(places.iter().find_map(|place| elsewhere(cx, user, &path, named, *place)));
        }
    }
}

/// `place` is the namespace where an object has to be, and why.
fn elsewhere(
    cx: &Context<'_>,
    (document, who): (&Document, &str),
    path: &Path,
    (name, kinds): (&str, &[&'static str]),
    (namespace, why): (&str, &str),
) -> Option<Finding> {
    // Every namespace has the ServiceAccount `default`.
    let is_given = name.is_empty() || kinds == ["ServiceAccount"] && name == "default";
    if is_placeholder(name) || is_given || namespace.is_empty() {
        return None;
    }
    let declared = || kinds.iter().flat_map(|kind| cx.of_kind(kind).iter());
    let is_here = |d: &&Arc<Document>| [namespace, ""].contains(&namespace_of(d));
    let named = |d: &&Arc<Document>| name_of(d) == name;
    if declared().filter(named).any(|d| is_here(&d)) || cx.has_claim(namespace, name) {
        return None;
    }
    let finding = |message: String| {
        cx.finding_about(document, message).at(document.locate(path)).label(format!("{who} waits for it"))
    };
    let what = if CLAIMS.contains(&kinds[0]) { "disk" } else { kinds[0] };
    let mut hashed = declared().filter(is_here).filter(|other| is_hashed(name_of(other), name));
    if let Some(other) = hashed.find(|other| !is_made(cx, namespace, (name, other))) {
        let message = format!("kustomize adds a hash to the name of the {what} {name}, and {who} names it without");
        let finding = finding(message).help("set `disableNameSuffixHash: true` in the generator's options");
        return Some(finding.related(name_place(other), "this name gets the hash"));
    }
    if let Some(other) = declared().find(named) {
        if what != "disk" && is_made(cx, namespace, (name, other)) {
            return None;
        }
        let message = format!("the {what} {name} of {who} isn't declared in {namespace}");
        let finding = finding(message).help(format!("declare it in {namespace}: {why}"));
        return Some(finding.related(namespace_place(other), "it is declared in another namespace"));
    }
    // Any controller may create a claim.
    let [kind @ ("DataVolume" | "VirtualMachine")] = kinds else {
        return None;
    };
    if cx.of_kind("VirtualMachineClone").iter().any(|clone| clone.text("spec.target.name") == name) {
        return None;
    }
    // `data-1` and `data-2` are two disks.
    let without_digits = |name: &str| name.replace(|c: char| c.is_ascii_digit(), "");
    let known = declared().filter(is_here).filter_map(|d| text_at(d, "metadata.name"));
    let known = known.filter(|other| without_digits(other) != without_digits(name));
    let meant = nearest(name, known)?;
    let message = format!("nothing declares the {kind} {name} of {who}");
    Some(did_you_mean(finding(message), "write", Some(meant), ""))
}

/// Whether a name is another one with kustomize's hash.
///
/// Source: kustomize `api/hasher`; its references of names have none of virtual machines and disks.
fn is_hashed(name: &str, plain: &str) -> bool {
    let hash = name.strip_prefix(plain).and_then(|rest| rest.strip_prefix('-'));
    let is_hash = |hash: &str| hash.len() == 10 && hash.chars().all(|c| "2456789bcdfghkmt".contains(c));
    hash.is_some_and(|hash| hash == UNKNOWN_HASH || is_hash(hash))
}

/// Whether a controller may make a Secret or ConfigMap in a namespace: another object there, or of the cluster, names it,
/// or the declared one in another namespace is annotated for a controller that copies it.
fn is_made(cx: &Context<'_>, namespace: &str, (name, declared): (&str, &Document)) -> bool {
    // A kustomization may have no kind.
    const OWN: [&str; 4] = ["Secret", "ConfigMap", "Kustomization", ""];
    let annotations = entries(declared.root.below("metadata.annotations"));
    let is_copied =
        annotations.iter().any(|e| ["reflect", "replicat"].iter().any(|controller| e.key.text.contains(controller)));
    let is_near = |d: &&Arc<Document>| {
        ["", namespace].contains(&namespace_of(d)) && !d.text("apiVersion").contains("kubevirt.io/")
    };
    let mut near = cx.other_objects().all().filter(|d| !OWN.contains(&d.text("kind"))).filter(is_near);
    is_copied || near.any(|d| has_text(d, name))
}

/// Whether a string is one of a document's values.
pub(super) fn has_text(document: &Document, text: &str) -> bool {
    let mut found = false;
    document.root.walk(&Trail::ROOT, &mut |_, node| {
        found |= node.as_str() == Some(text);
        !found
    });
    found
}
