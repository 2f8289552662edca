//! A deprecated or removed API version.

use super::prelude::*;

/// The status of an old version.
#[derive(Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum OldVersion {
    /// Deprecated, with the same schema as the new one.
    SameSchema,
    /// Deprecated or soon deprecated.
    OtherSchema,
    /// Not served by any modelled release.
    Gone,
}

/// The old versions, with the new one of the group.
static VERSIONS: LazyLock<Vec<(&str, &str, OldVersion)>> = LazyLock::new(|| rows("oldVersions"));

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for document in cx.other_objects().all() {
        let Some(written) = text_at(document, "apiVersion") else {
            continue;
        };
        let known = VERSIONS.iter().find(|(old, ..)| *old == written);
        if let Some((_, new, what)) = known {
            out.report(finding(cx, document, written, new, *what));
        }
    }
}

fn finding(cx: &Context<'_>, document: &Document, written: &str, version: &str, what: OldVersion) -> Finding {
    let group = written.split_once('/').map_or("", |(group, _)| group);
    let new = format!("{group}/{version}");
    let path = Path::dotted("apiVersion");
    let (message, label) = match what {
        OldVersion::Gone => (format!("{written} is no longer served"), "rejected"),
        _ => (format!("{written} is deprecated"), "an old version"),
    };
    let finding = cx.finding_about(document, message).at(document.locate(&path)).label(label);
    let title = match what {
        OldVersion::SameSchema => format!("write {new}: the fields are the same"),
        _ => format!("write {new}, and compare the fields"),
    };
    let applicability = match what {
        OldVersion::SameSchema => Applicability::Safe,
        _ => Applicability::Suggestion,
    };
    let fix = suggested(document, title.clone(), &[Change::Set(path, new.into())]);
    let finding = finding.remedy(title, fix.map(|fix| Fix { applicability, ..fix }));
    match what {
        OldVersion::Gone => finding.error(),
        _ => finding,
    }
}
