//! An image of an operator that lacks a required architecture.

use super::prelude::*;
use crate::{ImageCoverage, ImageUse};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for csv in cx.csvs() {
        claimed(cx, csv, out);
        operands(cx, csv, out);
        for pod in &csv.deployments {
            nowhere(cx, pod, out);
        }
    }
}

fn claimed(cx: &Context<'_>, csv: &Csv, out: &mut Sink) {
    let (mut meant, systems) = (csv.architectures(), csv.systems());
    let wrong = csv.overclaimed(cx);
    meant.retain(|(a, _)| !wrong.iter().any(|(w, _)| w == a));
    for (used, evidence) in csv.known_images(cx) {
        let kept_from = |a: &str| {
            let runs = |p: &&PodTemplate| p.images().iter().any(|(_, i)| *i == used.image);
            let mut running = csv.deployments.iter().filter(runs).peekable();
            running.peek().is_some() && running.all(|p| !p.permits(a))
        };
        let mut missing = Vec::new();
        let mut label = None;
        for (os, os_place) in &systems {
            for (architecture, place) in &meant {
                if evidence.lacks_platform(os, architecture) && !kept_from(architecture) {
                    missing.push(platform(os, architecture));
                    // The label that causes the problem.
                    let own = os_place.as_ref().filter(|_| !evidence.lacks(architecture));
                    label = label.or(own).or(place.as_ref());
                }
            }
        }
        if missing.is_empty() {
            continue;
        }
        let message = format!(
            "{} doesn't support {}, which the operator {} claims to support",
            used.image,
            and(&missing),
            csv.name()
        );
        let mut finding = at_image(cx, csv, &used, &evidence, message)
            .help("push the missing image, or claim only architectures that every image has");
        finding = with_related(finding, label.cloned(), "claimed here");
        out.report(finding);
    }
}

/// Images of operands that lack an architecture of the operator and of the nodes.
fn operands(cx: &Context<'_>, csv: &Csv, out: &mut Sink) {
    let labels = csv.architectures();
    let own = csv.run_images(cx);
    if own.is_empty() {
        return;
    }
    let there = cx.all_architectures().iter().copied();
    let there: Vec<&str> = there
        .filter(|a| !labels.iter().any(|(l, _)| l == a))
        .filter(|a| own.iter().all(|(_, e)| !e.lacks(a)))
        .collect();
    let known = csv.known_images(cx).into_iter();
    // bundle-image-not-manifest-list reports single images.
    let lists = known.filter(|(u, e)| !u.is_run && e.form != Form::Single);
    for (used, evidence) in lists {
        let missing: Vec<&str> = there.iter().copied().filter(|a| evidence.lacks(a)).collect();
        if missing.is_empty() {
            continue;
        }
        let message = format!(
            "{} doesn't support {}, although the operator {} itself does",
            used.image,
            and(&missing),
            csv.name()
        );
        let finding = at_image(cx, csv, &used, &evidence, message)
            .warning()
            .help(format!("push the image for {}, unless it never runs on nodes of this architecture", and(&missing)));
        out.report(with_nodes(finding, cx, &missing));
    }
}

/// A deployment that can't run on any of its possible nodes.
fn nowhere(cx: &Context<'_>, pod: &PodTemplate, out: &mut Sink) {
    if cx.image_coverage(pod) != ImageCoverage::Nothing {
        return;
    }
    let reach: Vec<&str> = cx.reachable_architectures(pod).into_iter().collect();
    let support = cx.supported_architectures(pod).map(|s| s.known).unwrap_or_default();
    let short = support.iter().find(|(_, e)| reach.iter().all(|a| e.lacks(a)));
    let Some((path, evidence)) = short.or(support.first()) else {
        return;
    };
    let message = format!("no node that {} may run on has an architecture that its images support", pod.called);
    let finding = cx
        .finding_about(&pod.document, message)
        .warning()
        .at(pod.document.locate(path))
        .label(format!("supports {}, needed for {}", has(evidence), or(&reach)))
        .help("push the missing image, or place the operator on other nodes")
        .related(evidence.place(), EVIDENCE);
    out.report(with_nodes(finding, cx, &reach));
}

fn at_image(cx: &Context<'_>, csv: &Csv, used: &ImageUse<'_>, evidence: &ImageEvidence, message: String) -> Finding {
    cx.finding_about(&csv.document, message)
        .at(csv.document.locate(&used.path))
        .severity(error_if(evidence.is_certain()))
        .label(format!("supports {}", has(evidence)))
        .related(evidence.place(), EVIDENCE)
}
