//! A golden image's plain name refers to an architecture without import.

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    if !cx.is_multi_arch() {
        return;
    }
    let images = cx.images_namespace();
    let cron_of = |source: &str| cx.plan().ssp.as_deref()?.cron_of(images, source);
    for (source, target, imported) in dangling(cx, |source| cron_of(source).is_some()) {
        let name = &source.object.id.name;
        if let Some(first) = imported.first() {
            let message =
                format!("DataSource {name} refers to {target}, which is never imported; existing: {}", and(&imported));
            let mut finding = cx
                .finding(message)
                .at(place(cx, cron_of(first)))
                .object(source.object.id.to_string())
                .label(format!("refers to {target}"))
                .help(format!("refer to {first} instead of {name}"))
                .fixes(imported.iter().filter_map(|i| cx.clone_instead(images, name, i)))
                .fixes(imported_too(cx, source));
            finding =
                with_related(finding, default_node(cx, source), "the control plane's architecture is the default");
            out.report(finding);
        }
    }
}

/// The DataSources that refer to another one without import, each with its name and the imports of other architectures.
/// Without any import, the image comes from elsewhere.
fn dangling<'a>(
    cx: &Context<'a>,
    is_imported: impl Fn(&str) -> bool,
) -> impl Iterator<Item = (&'a Rendered, &'a str, Vec<String>)> {
    let known = &cx.release().ssp().architectures;
    cx.data_sources().filter_map(move |source| {
        let target = source.object.body["spec"]["source"]["dataSource"]["name"].as_str()?;
        let name = &source.object.id.name;
        let is_filled = is_imported(target) || cx.own_claim(cx.images_namespace(), name).is_some();
        let imported: Vec<String> =
            known.iter().map(|a| format!("{name}-{a}")).filter(|one| is_imported(one)).collect();
        (!is_filled && !imported.is_empty()).then_some((source, target, imported))
    })
}

/// A fix that removes the workload placement, if that adds the default architecture to the workloads.
fn imported_too(cx: &Context<'_>, source: &Rendered) -> Option<Fix> {
    let wanted = source.origin.architecture.as_ref()?;
    let placement = cx.field("workloads.nodePlacement").path()?;
    if !cx.selects_workload_nodes() {
        return None;
    }
    let title = format!("remove `{placement}`, so that workloads run on {wanted} nodes, too");
    let change = Change::Remove(placement);
    let topology = cx.topology_after(&change)?;
    if !topology.workload_architectures.contains(wanted) {
        return None;
    }
    cx.suggest(title, &[change])
}

/// The location of a cron's image.
fn place(cx: &Context<'_>, cron: Option<&Rendered>) -> Location {
    let image = cron.and_then(|c| cx.image_of(&c.origin));
    image.map_or_else(|| cx.multi_arch_switch(), |i| cx.image_place(i))
}

/// The location of a node with the architecture of the plain name.
fn default_node(cx: &Context<'_>, source: &Rendered) -> Option<Location> {
    let architecture = source.origin.architecture.as_ref()?;
    let mut nodes = cx.control_plane_nodes();
    nodes.find(|n| n.node.architecture == *architecture)?.architecture_place()
}
