//! Golden images in a namespace that nothing creates.

use super::prelude::*;

/// Namespaces of every cluster.
const ALWAYS: [&str; 4] = ["default", "kube-public", "kube-system", "openshift"];

const IMAGES: &str = "golden images go to";

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    if cx.plan().ssp.is_none() {
        return;
    }
    let fields = [("commonBootImageNamespace", IMAGES), ("commonTemplatesNamespace", "the common templates go to")];
    let written = fields.into_iter().filter_map(|(path, what)| {
        let field = cx.field(path);
        Some((field.text().filter(|name| !name.is_empty())?, field.value_place(), what))
    });
    let rendered = cx.import_crons().filter_map(|cron| {
        let name = cron.object.id.namespace.as_deref()?;
        Some((name, cx.origin_place(&cron.origin, "metadata.namespace"), IMAGES))
    });
    let mut seen = BTreeSet::new();
    for (name, place, what) in written.chain(rendered) {
        if !seen.insert(name) || is_created(cx, name) {
            continue;
        }
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
