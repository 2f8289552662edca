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
        let winner = match &displaced.by {
            Displacer::SameDataSource(winner) => winner.template.as_ref(),
            Displacer::DataSource(_) => None,
            // A claim replaces a common image on purpose.
            Displacer::Claim(_) if cx.image_of(&displaced.origin).is_none_or(|i| i.written.is_none()) => continue,
            Displacer::Claim(_) => None,
            Displacer::SameName(_) => continue,
        };
        let same = all.iter_mut().find(|l| {
            let by = match l.by {
                Displacer::SameDataSource(w) => w.template.as_ref(),
                _ => None,
            };
            l.origin.template == displaced.origin.template && by == winner
        });
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
            let message = format!("{what}: {other} is for the same DataSource");
            let finding = cx.finding(message);
            let written = |o: &ObjectOrigin| cx.image_of(o).is_some_and(|i| i.written.is_some());
            // If the common image isn't in this file, report the other one.
            let finding = match (written(lost.origin), written(winner)) {
                (true, true) => finding
                    .at(cx.origin_place(lost.origin, FIELD))
                    .label(format!("golden image {other} has it"))
                    .related(cx.origin_place(winner, FIELD), format!("golden image {other}")),
                (true, false) => {
                    finding.at(cx.origin_place(lost.origin, FIELD)).label(format!("golden image {other} has it"))
                }
                _ => finding.at(cx.origin_place(winner, FIELD)).label(format!("replaces {name}")),
            };
            finding.help("give each golden image its own managedDataSource")
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
