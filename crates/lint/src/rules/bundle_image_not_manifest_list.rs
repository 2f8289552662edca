//! An image of an operator that isn't a manifest list.

use super::prelude::*;
use crate::ArchitectureScope;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    cx.pod_templates().filter(|pod| !pod.in_bundle).for_each(|pod| of_workload(cx, pod, out));
    let several = cx.all_architectures().len() > 1;
    for csv in cx.csvs() {
        let claimed = csv.architectures();
        for used in csv.images() {
            let evidence = cx.image_evidence(used.image);
            let Some(evidence) = evidence.filter(|e| e.form == Form::Single) else {
                continue;
            };
            let lacks_claimed = claimed.iter().any(|(a, _)| evidence.lacks(a));
            if lacks_claimed || is_kept(cx, csv, used.image) {
                continue;
            }
            let severity = if several { error_if(used.is_run) } else { Severity::Info };
            let label = match evidence.architectures.as_slice() {
                [] => FOR_ALL.to_owned(),
                known => format!("nodes of every architecture get the one for {}", and(known)),
            };
            let name = format!("{} of the operator {}", used.image, csv.name());
            out.report(single(cx, &csv.document, &used.path, &name, &evidence).severity(severity).label(label));
        }
    }
}

/// A workload's image of which only the form is known: other rules compare its architectures.
fn of_workload(cx: &Context<'_>, pod: &PodTemplate, out: &mut Sink) {
    let images = pod.images().into_iter().filter_map(|(path, image)| Some((path, image, cx.image_evidence(image)?)));
    for (path, image, evidence) in images.filter(|_| cx.reachable_architectures(pod).len() > 1) {
        if evidence.is_one_unknown() {
            let name = format!("{image} of {}", pod.called);
            out.report(single(cx, &pod.document, &path, &name, &evidence).label(FOR_ALL));
        }
    }
}

fn single(cx: &Context<'_>, document: &Document, path: &Path, name: &str, evidence: &ImageEvidence) -> Finding {
    cx.finding_about(document, format!("{name} is a single image, not a manifest list"))
        .at(document.locate(path))
        .help("push a manifest list with an image for each architecture, and name that")
        .related(evidence.place(), "a manifest list would have `manifests`")
}

const FOR_ALL: &str = "the same image for nodes of every architecture";

/// Whether each deployment that runs an image is restricted to one architecture.
fn is_kept(cx: &Context<'_>, csv: &Csv, image: &str) -> bool {
    let is_for_one = |p: &PodTemplate| {
        let named = p.named_architectures().into_iter().flat_map(|(_, names)| names);
        let named = named.chain(cx.all_architectures().iter().copied());
        let named: BTreeSet<&str> = named.filter(|name| p.permits(name)).collect();
        p.architecture_scope() == ArchitectureScope::Everywhere && named.len() < 2
    };
    let mut running = csv.deployments.iter().filter(|p| p.images().iter().any(|(_, i)| *i == image)).peekable();
    running.peek().is_some() && running.all(is_for_one)
}
