//! Golden images in a namespace that nothing creates.

use super::prelude::*;

/// Namespaces of every cluster.
const ALWAYS: [&str; 4] = ["default", "kube-public", "kube-system", "openshift"];

const IMAGES: &str = "golden images go to";

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    if cx.plan().ssp.is_none() {
        return;
    }
    // Each namespace with golden images, with a location if nothing creates it.
    let mut wanted: BTreeMap<&str, Option<(Location, &str)>> = BTreeMap::new();
    for (path, what) in
        [("commonBootImageNamespace", IMAGES), ("commonTemplatesNamespace", "the common templates go to")]
    {
        let field = cx.field(path);
        if let Some(name) = field.text().filter(|n| !n.is_empty()) {
            wanted.entry(name).or_insert_with(|| (!is_created(cx, name)).then(|| (field.value_place(), what)));
        }
    }
    for cron in cx.import_crons() {
        if let Some(name) = cron.object.id.namespace.as_deref() {
            let place = || (cx.origin_place(&cron.origin, "metadata.namespace"), IMAGES);
            wanted.entry(name).or_insert_with(|| (!is_created(cx, name)).then(place));
        }
    }
    for (name, place) in wanted {
        let Some((place, what)) = place else {
            continue;
        };
        let message = format!("nothing creates the namespace {name}, which {what}");
        let manifest = format!("apiVersion: v1\nkind: Namespace\nmetadata:\n  name: {name}\n");
        out.report(
            cx.finding(message)
                .at(place)
                .label("SSP creates no namespace but its own")
                .help(format!("add a Namespace {name} to the cluster's directory"))
                .fixes(Fix::append(&cx.document().file, &format!("add a Namespace {name}"), &manifest)),
        );
    }
}

fn is_created(cx: &Context<'_>, name: &str) -> bool {
    let rendered = cx.plan().objects().any(|o| o.id.kind == "Namespace" && o.id.name == name);
    let kinds = ["Namespace", "Project", "ProjectRequest"];
    let mut declared = kinds.iter().flat_map(|k| cx.of_kind(k));
    let elsewhere = cx.option(&GOLDEN_IMAGE_NAMESPACE_MISSING, "namespaces");
    let mut elsewhere = elements(&elsewhere);
    rendered
        || ALWAYS.contains(&name)
        || name == cx.inventory().namespace
        || name == cx.images_namespace()
        || declared.any(|d| name_of(d) == name)
        || elsewhere.any(|n| n == name)
}
