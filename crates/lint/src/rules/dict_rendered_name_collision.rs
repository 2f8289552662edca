//! Two golden images whose DataImportCrons have one name.

use hcoplan_planner::boot_images::ssp_stage::{Displacer, ObjectOrigin};

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "dict-rendered-name-collision",
    group: Group::GoldenImages,
    severity: Severity::Error,
    predicts: Prediction::Silent(
        "the DataImportCron is deleted and created for ever, or chance decides which one stays",
    ),
    claims: Claim::HasEffect,
    summary: "two golden images become DataImportCrons of one name",
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for displaced in cx.displaced_crons() {
        let Displacer::SameName(other) = &displaced.by else {
            continue;
        };
        let (first, second) = (name_of(&displaced.origin), name_of(other));
        // The one that is written as it is rendered is the one to be renamed.
        let plain = match displaced.origin.architecture {
            None => &displaced.origin,
            Some(_) => other,
        };
        let cron = match (&displaced.origin.architecture, &other.architecture) {
            (Some(a), _) => format!("{first}-{a}"),
            (None, _) => first.to_owned(),
        };
        let message = format!("golden images {first} and {second} both become DataImportCron {cron}");
        let rest = if std::ptr::eq(plain, other) { &displaced.origin } else { other };
        let mut finding = Finding::new(&RULE, message)
            .at(cx.origin_place(plain, "metadata.name"))
            .label(format!("{} becomes {cron}, too", name_of(rest)))
            .help("name it so that it doesn't end with an architecture");
        if cx.image_of(rest).is_some_and(|i| i.written.is_some()) {
            finding = finding.related(cx.origin_place(rest, "metadata.name"), "the other one");
        }
        out.report(finding);
    }
}

fn name_of(origin: &ObjectOrigin) -> &str {
    origin.template.as_ref().map_or("", |t| t.name.as_str())
}
