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
    Some(cx.with_fix(finding, OWN_SCHEDULE.to_owned(), Applicability::Suggestion, &[set]))
}

/// A finding at the first of these templates, related to the others.
fn finding(cx: &Context<'_>, missing: &[WrittenTemplate<'_>]) -> Option<Finding> {
    let (template, others) = missing.split_first()?;
    let message = format!("{template} has no schedule: the API server rejects the HyperConverged");
    // HCO knows the schedule of common images only.
    let is_common = |t: &WrittenTemplate<'_>| cx.common_image(t.name()).is_some();
    let common = "write schedule: \"\", and HCO sets the schedule of the common images";
    let title = if is_common(template) { common } else { OWN_SCHEDULE };
    let mut finding = cx.finding(message).at(template.locate_key("spec")).label("has no schedule");
    finding = with_related(finding, others.iter().map(|other| other.locate_key("spec")), "has none either");
    let set = |t: &WrittenTemplate<'_>| {
        let schedule = if is_common(t) { "" } else { TWICE_A_DAY };
        Change::Set(schedule_of(cx, t), schedule.into())
    };
    let changes: Vec<Change> = missing.iter().map(set).collect();
    let applicability = if missing.iter().all(is_common) { Applicability::Safe } else { Applicability::Suggestion };
    Some(cx.with_fix(finding, title.to_owned(), applicability, &changes))
}

/// The schedule of common golden images, unless the operator chose a minute.
const TWICE_A_DAY: &str = "0 */12 * * *";

const OWN_SCHEDULE: &str = "write schedule: \"0 */12 * * *\", twice a day, or another cron expression";

fn schedule_of(cx: &Context<'_>, template: &WrittenTemplate<'_>) -> Path {
    template.path(cx).below("spec.schedule")
}

fn is_missing(template: &WrittenTemplate<'_>) -> bool {
    let spec = template.get("spec").filter(|spec| matches!(spec.value, Value::Map(_)));
    spec.is_some_and(|spec| spec.get("schedule").is_none_or(|s| matches!(s.value, Value::Null)))
}
