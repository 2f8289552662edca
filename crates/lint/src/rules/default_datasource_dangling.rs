//! A golden image's plain name refers to an architecture without import.

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    if !cx.is_multi_arch() {
        return;
    }
    let images = cx.images_namespace();
    let crons = crons(cx);
    for (source, target, imported) in dangling(cx, &crons) {
        let name = &source.object.id.name;
        if let Some(first) = imported.first() {
            let message =
                format!("DataSource {name} refers to {target}, which is never imported; existing: {}", and(&imported));
            let mut finding = cx
                .finding(message)
                .at(place(cx, crons.get(first.as_str()).copied()))
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

type Crons<'a> = BTreeMap<&'a str, &'a Rendered>;

/// The crons of golden images by their DataSource.
fn crons<'a>(cx: &Context<'a>) -> Crons<'a> {
    let images = cx.images_namespace();
    cx.import_crons()
        .filter(|r| r.object.id.namespace.as_deref() == Some(images))
        .filter_map(|r| Some((text(r, "spec.managedDataSource")?, r)))
        .collect()
}

/// The DataSources that refer to another one without import, each with its name and the imports of other architectures.
/// Without any import, the image comes from elsewhere.
fn dangling<'a>(cx: &Context<'a>, crons: &Crons<'a>) -> impl Iterator<Item = (&'a Rendered, &'a str, Vec<String>)> {
    let known = &cx.release().ssp().architectures;
    cx.data_sources().filter_map(move |source| {
        let target = text(source, "spec.source.dataSource.name")?;
        let name = &source.object.id.name;
        let imported = if crons.contains_key(target) || cx.own_claim(cx.images_namespace(), name).is_some() {
            Vec::new()
        } else {
            known.iter().map(|a| format!("{name}-{a}")).filter(|one| crons.contains_key(one.as_str())).collect()
        };
        (!imported.is_empty()).then_some((source, target, imported))
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

fn text<'a>(rendered: &'a Rendered, path: &str) -> Option<&'a str> {
    tree::get(&rendered.object.body, path)?.as_str()
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
