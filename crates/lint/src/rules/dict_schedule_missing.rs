//! A golden image without a schedule.

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let all: Vec<WrittenTemplate<'_>> = cx.written_templates().filter(is_missing).collect();
    let causes = &cx.admission().causes;
    // If other fields are missing, too, another rule explains the rejection.
    let explained = cx.admission().reason == Some(Reason::Schema(ViolationKind::Required))
        && causes.len() == all.len()
        && all.iter().all(|t| {
            let path = schedule_of(cx, t);
            causes.iter().any(|c| c.path == path)
        });
    let is_written = |t: &WrittenTemplate<'_>| cx.meant_for(&schedule_of(cx, t)).is_some();
    let missing: Vec<WrittenTemplate<'_>> = all.into_iter().filter(|t| !is_written(t)).collect();
    if explained {
        if let Some(finding) = finding(cx, &missing) {
            out.reject(finding);
        }
    } else {
        // That rule has the missing schedule, too.
        let is_said = |t: &WrittenTemplate<'_>| causes.iter().any(|cause| cause.path == schedule_of(cx, t));
        out.report_all(missing.chunks(1).filter(|one| !is_said(&one[0])).filter_map(|one| finding(cx, one)));
    }
    out.report_all(cx.golden_images().iter().filter_map(|image| never_imported(cx, image)));
}

/// A user's own image with an empty schedule.
fn never_imported(cx: &Context<'_>, image: &GoldenImage<'_>) -> Option<Finding> {
    let TemplateSource::Custom { .. } = image.template.source else {
        return None;
    };
    let (template, spec) = (image.written?, image.template.spec.as_ref()?);
    if spec.get("schedule")? != "" {
        return None;
    }
    let message = format!("{template} has an empty schedule: it is never imported");
    let finding = cx
        .finding(message)
        .warning()
        .at(template.locate("spec.schedule"))
        .label("HCO fills this in for common images only");
    let set = Change::Set(schedule_of(cx, &template), TWICE_A_DAY.into());
    let title = format!("write schedule: {TWICE_A_DAY:?}, twice a day, or another cron expression");
    Some(cx.with_fix(finding, title, Applicability::Suggestion, &[set]))
}

/// A finding at the first of these templates, related to the others.
fn finding(cx: &Context<'_>, missing: &[WrittenTemplate<'_>]) -> Option<Finding> {
    let (template, others) = missing.split_first()?;
    let message = format!("{template} has no schedule: the API server rejects the HyperConverged");
    let title = match cx.common_image(template.name()) {
        Some(_) => "write schedule: \"\", and HCO sets the schedule of the common images".to_owned(),
        None => format!("write schedule: {TWICE_A_DAY:?}, twice a day, or another cron expression"),
    };
    let mut finding = cx.finding(message).at(template.locate_key("spec")).label("has no schedule");
    finding = with_related(finding, others.iter().map(|other| other.locate_key("spec")), "has none either");
    let set = |t: &WrittenTemplate<'_>| {
        let schedule = match cx.common_image(t.name()) {
            Some(_) => "",
            None => TWICE_A_DAY,
        };
        Change::Set(schedule_of(cx, t), schedule.into())
    };
    let changes: Vec<Change> = missing.iter().map(set).collect();
    // HCO knows the schedule of common images only.
    let is_known = missing.iter().all(|t| cx.common_image(t.name()).is_some());
    let applicability = if is_known { Applicability::Safe } else { Applicability::Suggestion };
    Some(cx.with_fix(finding, title, applicability, &changes))
}

/// The schedule of common golden images, unless the operator chose a minute.
const TWICE_A_DAY: &str = "0 */12 * * *";

fn schedule_of(cx: &Context<'_>, template: &WrittenTemplate<'_>) -> Path {
    template.path(cx).below("spec.schedule")
}

fn is_missing(template: &WrittenTemplate<'_>) -> bool {
    let Some(spec) = template.get("spec") else {
        return false;
    };
    let schedule = spec.get("schedule");
    matches!(spec.value, Value::Map(_)) && schedule.is_none_or(|s| matches!(s.value, Value::Null))
}
