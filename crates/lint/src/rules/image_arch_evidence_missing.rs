//! Images of a mixed cluster without evidence about their architectures.

use std::sync::OnceLock;

use hcoplan_kubernetes::schema::DocumentSchema;
use hcoplan_planner::boot::Architectures;

use super::prelude::*;
use crate::context::without_transport;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for document in cx.of_kind("ImageArchitectures") {
        if text_at(document, "apiVersion").is_some_and(|v| v.starts_with("hcoplan.dev/")) {
            malformed(cx, document, out);
        }
    }
    let asked = cx.has_image_evidence() || !cx.csvs().is_empty();
    if !asked || cx.all_architectures().len() < 2 {
        return;
    }
    let mut images: BTreeMap<String, Location> = BTreeMap::new();
    let mut looked_at: BTreeMap<String, (Location, ImageEvidence)> = BTreeMap::new();
    let mut add = |image: &str, place: Location| {
        let image = without_transport(image);
        match cx.image_evidence(image) {
            None => drop(images.entry(image.to_owned()).or_insert(place)),
            Some(e) if e.is_complete() || e.is_one_unknown() => {}
            Some(e) => drop(looked_at.entry(image.to_owned()).or_insert((place, e))),
        }
    };
    for csv in cx.csvs() {
        for used in csv.images() {
            add(used.image, csv.document.locate(&used.path));
        }
    }
    for pod in cx.pod_templates().filter(|p| !p.in_bundle && cx.reachable_architectures(p).len() > 1) {
        for (path, image) in pod.images() {
            add(image, pod.document.locate(&path));
        }
    }
    for written in cx.written_templates() {
        let path = written.path(cx).below("spec.template.spec.source.registry.url");
        if let Some(url) = cx.root().str_at(&path) {
            add(url, cx.document().locate(&path));
        }
    }
    for boot in cx.boots() {
        for image in boot.images.iter().filter(|image| image.architectures == Architectures::Unknown) {
            add(&image.image, boot.vm.document.locate(&image.path));
        }
    }
    for (image, (place, evidence)) in &looked_at {
        partly(cx, image, place, evidence, out);
    }
    let Some((first, place)) = images.first_key_value() else {
        return;
    };
    let message = match images.len() {
        1 => format!("the architectures of {first} are unknown"),
        several => format!("the architectures of {several} images are unknown"),
    };
    let finding = cx.finding(message).at(place.clone()).label("nothing is saved about it").help(match images.len() {
        1 => save(first),
        _ => format!("for each image, {}", save(first)),
    });
    out.report(with_related(finding, images.values().skip(1).take(4).cloned(), "nor about this one"));
}

/// An image with evidence about only one of possibly several images.
fn partly(cx: &Context<'_>, image: &str, place: &Location, evidence: &ImageEvidence, out: &mut Sink) {
    let seen = &evidence.architectures;
    let nodes = cx.all_architectures().iter().copied();
    let open: Vec<&str> = nodes.filter(|node| seen.iter().all(|own| own != node)).collect();
    if open.is_empty() || seen.is_empty() {
        return;
    }
    let message = format!("{image} supports {}; whether it supports {} is unknown", and(seen), and(&open));
    out.report(
        cx.finding(message)
            .at(place.clone())
            .label("a plain inspect shows one image of perhaps several")
            .related(evidence.place(), "what was saved")
            .help(save(image)),
    );
}

/// The command that saves a registry's complete data about an image.
fn save(image: &str) -> String {
    let file = image.replace(['/', ':', '@'], "_");
    format!("save its manifest: skopeo inspect --raw docker://{image} > images/{file}.json")
}

fn malformed(cx: &Context<'_>, document: &Document, out: &mut Sink) {
    static COMPILED: OnceLock<DocumentSchema> = OnceLock::new();
    let schema = COMPILED.get_or_init(|| DocumentSchema::of(hcoplan_schemas::IMAGE_ARCHITECTURES));
    for mistake in schema.check(&document.file, &document.root) {
        let mut finding = cx.finding(mistake.message).warning().at(document.location(mistake.span)).label("not read");
        finding.help = mistake.help.map(Into::into);
        out.report(finding);
    }
}
