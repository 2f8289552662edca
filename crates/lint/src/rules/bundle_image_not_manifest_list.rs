//! An image of an operator that isn't a manifest list.

use super::prelude::*;
use crate::{ArchitectureScope, Form, UsedAs};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let several = cx.all_architectures().len() > 1;
    for csv in cx.csvs() {
        let claimed = csv.claimed();
        for used in csv.images() {
            let evidence = cx.image_evidence(used.image);
            let Some(evidence) = evidence.filter(|e| e.form == Form::Single) else {
                continue;
            };
            let lacks_claimed = claimed.architectures.iter().any(|(a, _)| evidence.lacks(a));
            if lacks_claimed || is_kept(csv, used.image) {
                continue;
            }
            let severity = match (several, used.used) {
                (true, UsedAs::Container(_)) => Severity::Error,
                (true, UsedAs::Related) => Severity::Warning,
                (false, _) => Severity::Info,
            };
            let message =
                format!("{} of the operator {} is a single image, not a manifest list", used.image, csv.name());
            let label = match evidence.architectures.as_slice() {
                [] => "the same image for nodes of every architecture".to_owned(),
                known => format!("nodes of every architecture get the one for {}", and(known)),
            };
            out.report(
                finding_about(&BUNDLE_IMAGE_NOT_MANIFEST_LIST, &csv.document, message)
                    .severity(severity)
                    .at(csv.document.locate(&used.path))
                    .label(label)
                    .help("push a manifest list with an image for each architecture, and name that")
                    .related(evidence.place(), "a manifest list would have `manifests`"),
            );
        }
    }
}

/// Whether each deployment that runs an image is restricted to one architecture.
fn is_kept(csv: &Csv, image: &str) -> bool {
    let is_for_one = |p: &PodTemplate| {
        let named = p.named_architectures().into_iter().flat_map(|(_, names)| names);
        let named: BTreeSet<&str> = named.filter(|name| p.permits(name)).collect();
        p.architecture_scope() == ArchitectureScope::Everywhere && named.len() < 2
    };
    let mut running = csv.deployments.iter().filter(|p| p.images().iter().any(|(_, i)| *i == image)).peekable();
    running.peek().is_some() && running.all(is_for_one)
}
