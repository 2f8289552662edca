//! KubeVirt and SSP choose different default architectures.

use hcoplan_planner::boot_images::ssp_stage::ObjectOrigin;

use super::prelude::*;

pub(super) fn find(cx: &Context<'_>) -> Option<Finding> {
    let default = cx.default_architecture()?;
    let other: Vec<(&str, &str)> = cx
        .data_sources()
        .filter(|d| tree::get(&d.object.body, "spec.source.dataSource").is_some())
        .filter_map(|d| {
            let (name, leads_to) = (d.object.id.name.as_str(), d.origin.architecture.as_deref()?);
            (leads_to != default && is_imported(cx, name, default)).then_some((name, leads_to))
        })
        .collect();
    let (_, first) = other.first()?;
    let names = and(other.iter().map(|(name, _)| name));
    let leads_to =
        if other.iter().all(|(_, a)| a == first) { (*first).to_owned() } else { "other architectures".to_owned() };
    let (verb, noun) = match other.len() {
        1 => ("leads", "DataSource"),
        _ => ("lead", "DataSources"),
    };
    let message = format!("KubeVirt's default architecture is {default}, but the {noun} {names} {verb} to {leads_to}");
    let (place, label) = if cx.selects_workload_nodes() {
        (cx.field("workloads.nodePlacement").key_place(), "selects the workload nodes")
    } else {
        (cx.multi_arch_switch(), "multi-arch golden images are on")
    };
    let explicit = other.iter().filter_map(|(name, _)| {
        let images = cx.images_namespace();
        cx.clone_instead(images, name, &format!("{name}-{default}"))
    });
    let finding = cx
        .finding(message)
        .at(place)
        .label(label)
        .help("name the architecture in virtual machines and in the DataSources that they refer to")
        .fixes(explicit.chain(cx.machines_made(default)));
    Some(with_nodes(finding, cx, &[default, first]))
}

/// Whether SSP imports the image of a plain DataSource for an architecture.
fn is_imported(cx: &Context<'_>, data_source: &str, architecture: &str) -> bool {
    let is_it = |origin: &ObjectOrigin| {
        let is_of = |i: &GoldenImage<'_>| i.template.managed_data_source() == data_source;
        origin.architecture.as_deref() == Some(architecture) && cx.image_of(origin).is_some_and(is_of)
    };
    cx.import_crons().any(|cron| is_it(&cron.origin))
}
