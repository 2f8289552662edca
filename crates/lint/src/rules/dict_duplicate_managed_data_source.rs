//! Two golden images with the same DataSource.

use hcoplan_planner::boot_images::ssp_stage::{Displacer, ObjectOrigin};

use super::prelude::*;

const FIELD: &str = "spec.managedDataSource";

/// An omitted cron, the one that replaces it, and the architectures.
struct LostCron<'a> {
    origin: &'a ObjectOrigin,
    by: &'a Displacer,
    architectures: Vec<&'a str>,
}

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let mut all: Vec<LostCron<'_>> = Vec::new();
    for displaced in cx.displaced_crons() {
        // A claim replaces a common image on purpose.
        let is_common = || cx.image_of(&displaced.origin).is_none_or(|image| image.written.is_none());
        match &displaced.by {
            Displacer::Claim(_) if is_common() => continue,
            Displacer::SameName(_) => continue,
            _ => {}
        }
        let winner = |by: &'_ Displacer| match by {
            Displacer::SameDataSource(winner) => winner.template.clone(),
            _ => None,
        };
        let mut known = all.iter_mut().filter(|lost| lost.origin.template == displaced.origin.template);
        let same = known.find(|lost| winner(lost.by) == winner(&displaced.by));
        let architecture = displaced.origin.architecture.as_deref();
        match same {
            Some(lost) => lost.architectures.extend(architecture),
            None => all.push(LostCron {
                origin: &displaced.origin,
                by: &displaced.by,
                architectures: architecture.into_iter().collect(),
            }),
        }
    }
    for lost in all {
        out.report(finding(cx, &lost));
    }
}

fn finding(cx: &Context<'_>, lost: &LostCron<'_>) -> Finding {
    let name = lost.origin.name();
    let what = match lost.architectures.as_slice() {
        [] => format!("golden image {name} is never imported"),
        some => format!("golden image {name} is not imported for {}", and(some)),
    };
    let data_source = cx.image_of(lost.origin).map_or("", |i| i.template.managed_data_source());
    match lost.by {
        Displacer::SameDataSource(winner) => {
            let other = winner.name();
            let finding = cx.finding(format!("{what}: {other} is for the same DataSource"));
            let finding = finding.help("give each golden image its own managedDataSource");
            let written = |o: &ObjectOrigin| cx.image_of(o).is_some_and(|i| i.written.is_some());
            // If the common image isn't in this file, report the other one.
            if !written(lost.origin) {
                return finding.at(cx.origin_place(winner, FIELD)).label(format!("replaces {name}"));
            }
            let finding = finding.at(cx.origin_place(lost.origin, FIELD)).label(format!("golden image {other} has it"));
            let there = written(winner).then(|| cx.origin_place(winner, FIELD));
            with_related(finding, there, format!("golden image {other}"))
        }
        Displacer::DataSource(reference) => {
            let message = format!("{what}: SSP keeps the DataSource {reference} for itself");
            cx.finding(message)
                .at(cx.origin_place(lost.origin, FIELD))
                .label(format!("{data_source} refers to the default architecture of another golden image"))
                .help("give it another managedDataSource, or annotate its architectures")
        }
        Displacer::Claim(claim) => {
            let message = format!("{what}: SSP keeps the claim {claim} as the disk of its DataSource");
            cx.finding(message)
                .warning()
                .at(cx.origin_place(lost.origin, FIELD))
                .label("a PersistentVolumeClaim or DataVolume of the repository has this name")
                .help("give it another managedDataSource, or remove the claim")
        }
        Displacer::SameName(_) => unreachable!("left out above"),
    }
}
