//! A virtual machine whose disk, Secret or ConfigMap is declared in another namespace, or a disk under a similar name.

use super::prelude::*;

/// A volume's source, the field with the name, and the kinds that create it.
static SOURCES: Rows<(&str, &str, Vec<&str>)> = Rows::of("diskSources");

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for vm in cx.virtual_machines().iter().filter(|vm| !vm.namespace().is_empty()) {
        let volumes = vm.list("volumes");
        for (i, volume) in volumes.iter().enumerate() {
            for (source, field, kinds) in SOURCES.iter() {
                let named = volume.below(source).and_then(|s| s.get(field)).and_then(Node::as_str);
                let path = vm.path(&format!("volumes[{i}].{source}.{field}"));
                out.report_all(named.and_then(|name| elsewhere(cx, vm, &path, name, kinds)));
            }
        }
    }
}

fn elsewhere(
    cx: &Context<'_>,
    vm: &VirtualMachine<'_>,
    path: &Path,
    name: &str,
    kinds: &[&'static str],
) -> Option<Finding> {
    if is_placeholder(name) || vm.disk_template(name).is_some() {
        return None;
    }
    let declared = || kinds.iter().flat_map(|kind| cx.of_kind(kind).iter());
    let is_here = |d: &&Arc<Document>| matches!(namespace_of(d), n if n == vm.namespace() || n.is_empty());
    let named = |d: &&Arc<Document>| name_of(d) == name;
    if declared().filter(named).any(|d| is_here(&d)) {
        return None;
    }
    let finding = |message: String| {
        let place = vm.document.locate(path);
        vm.finding(cx, message).at(place).label("the machine waits for it")
    };
    let what = match kinds[0] {
        kind @ ("Secret" | "ConfigMap") => kind,
        _ => "disk",
    };
    if let Some(other) = declared().find(named) {
        if what != "disk" && is_made(cx, vm.namespace(), (name, other)) {
            return None;
        }
        let message = format!("the {what} {name} of {vm} isn't declared in {}", vm.namespace());
        let place = namespace_place(other);
        let help = format!("declare it in {}: a machine uses those of its own namespace", vm.namespace());
        return Some(finding(message).help(help).related(place, "it is declared in another namespace"));
    }
    // Any controller may create a claim.
    let [kind @ "DataVolume"] = kinds else {
        return None;
    };
    // `data-1` and `data-2` are two disks.
    let without_digits = |name: &str| name.replace(|c: char| c.is_ascii_digit(), "");
    let known = declared().filter(is_here).filter_map(|d| text_at(d, "metadata.name"));
    let known = known.filter(|other| without_digits(other) != without_digits(name));
    let meant = nearest(name, known)?;
    let message = format!("nothing declares the {kind} {name} of {vm}");
    Some(did_you_mean(finding(message), "write", Some(meant), ""))
}

/// Whether a controller may make a Secret or ConfigMap in a namespace: another object there, or of the cluster, names it,
/// or the declared one in another namespace is annotated for a controller that copies it.
fn is_made(cx: &Context<'_>, namespace: &str, (name, declared): (&str, &Document)) -> bool {
    const OWN: [&str; 2] = ["Secret", "ConfigMap"];
    let annotations = entries(declared.root.below("metadata.annotations"));
    let is_copied =
        annotations.iter().any(|e| ["reflect", "replicat"].iter().any(|controller| e.key.text.contains(controller)));
    let is_near = |d: &&Arc<Document>| {
        ["", namespace].contains(&namespace_of(d)) && !d.text("apiVersion").contains("kubevirt.io/")
    };
    let names = |document: &Arc<Document>| {
        let mut found = false;
        document.root.walk(&Trail::ROOT, &mut |_, node| {
            found |= node.as_str() == Some(name);
            !found
        });
        found
    };
    is_copied || cx.other_objects().all().filter(|d| !OWN.contains(&d.text("kind"))).filter(is_near).any(names)
}
