//! Two golden images whose DataImportCrons have the same name.

use hcoplan_planner::boot_images::ssp_stage::Displacer;

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for displaced in cx.displaced_crons() {
        let Displacer::SameName(other) = &displaced.by else {
            continue;
        };
        let (first, second) = (displaced.origin.name(), other.name());
        // The template whose written name equals the rendered one should be renamed.
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
        let mut finding = cx
            .finding(message)
            .at(cx.origin_place(plain, "metadata.name"))
            .label(format!("{} becomes {cron}, too", rest.name()))
            .help(format!("give {} a name that doesn't end with an architecture", plain.name()));
        if cx.image_of(rest).is_some_and(|i| i.written.is_some()) {
            finding = finding.related(cx.origin_place(rest, "metadata.name"), "the other one");
        }
        out.report(finding);
    }
}
