//! An API version that is deprecated, or that no release serves.

use super::prelude::*;

/// The versions of a group, or of one of its kinds, that the CRDs of the modelled releases serve: the current ones, of
/// which one to write comes first, and the deprecated ones.
type Served<'t> = (&'t str, Vec<&'t str>, Vec<&'t str>);

static VERSIONS: Rows<Served<'_>> = Rows::of("servedVersions");

/// The group whose versions have the same fields.
const SAME_FIELDS: &str = "kubevirt.io";

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for document in cx.other_objects().all() {
        let written = document.text("apiVersion");
        let Some((group, version)) = written.split_once('/') else {
            continue;
        };
        let kind = format!("{group}/{}", document.text("kind"));
        let known = VERSIONS.iter().find(|(of, ..)| *of == group || *of == kind);
        let Some((_, current, old)) = known.filter(|(_, current, _)| !current.contains(&version)) else {
            continue;
        };
        let is_served = old.contains(&version);
        let (message, label) = if is_served {
            (format!("{written} is deprecated"), "an old version")
        } else {
            (format!("no release serves {written}"), "rejected")
        };
        let (applicability, fields) = if is_served && group == SAME_FIELDS {
            (Applicability::Safe, ": the fields are the same")
        } else {
            (Applicability::Suggestion, ", and compare the fields")
        };
        let new = format!("{group}/{}", current[0]);
        let title = format!("write {new}{fields}");
        let path = Path::dotted("apiVersion");
        let finding = cx.finding_about(document, message).at(document.locate(&path)).label(label);
        let fix = suggested(document, title.clone(), &[Change::Set(path, new.into())]);
        let finding = finding.remedy(title, fix.map(|fix| Fix { applicability, ..fix }));
        out.report(if is_served { finding } else { finding.error() });
    }
}
