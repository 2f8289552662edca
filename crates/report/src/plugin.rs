//! Output of a config management plugin of Argo CD: plain text, as many lines as Argo CD shows of standard error.

use crate::prelude::*;
use crate::text::left;
use hcoplan_analysis::{Failure, NoticeKind};
use hcoplan_repository::repo;

/// Notices as at most 20 lines; notes come first, because Argo CD would cut them after twenty findings.
pub fn lines(mut notices: Vec<(NoticeKind, String)>) -> Vec<String> {
    const MAX_SHOWN: usize = 19;
    notices.sort_by_key(|(kind, _)| *kind != NoticeKind::Note);
    let word = |kind| match kind {
        NoticeKind::Error => "error: ",
        NoticeKind::Warning => "warning: ",
        NoticeKind::Note => "note: ",
        NoticeKind::Shown => "",
    };
    let texts = notices.into_iter().map(|(kind, text)| format!("{}{text}", word(kind)));
    let mut lines: Vec<String> = texts.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect();
    if let Some(more) = left(&lines, MAX_SHOWN) {
        lines.truncate(MAX_SHOWN);
        lines.push(format!("and {more} more: hcoplan lint shows them all"));
    }
    lines
}

/// A finding as one line.
pub fn finding_line(finding: &Finding) -> String {
    let place = finding.location.as_ref().map(|place| {
        let path = InputText::new(place.file.path().as_str()).line();
        format!("{path}:{}: ", place.start())
    });
    let (severity, rule) = (finding.severity.as_str(), finding.rule.name);
    let message = InputText::new(&finding.message).line();
    format!("{severity}: {}{message} [{rule}]", place.unwrap_or_default())
}

/// The error that ended a run, in one or more lines.
pub fn failure_text(failure: &Failure) -> String {
    match failure {
        Failure::Interrupted => String::new(),
        Failure::Configuration(found, _) | Failure::Repo(repo::Error::Configuration(found)) => {
            joined(found.iter().map(finding_line), "\n")
        }
        Failure::Repo(repo::Error::Unknown(unknown)) => format!("error: {unknown}\n  help: {}", unknown.help),
        other => format!("error: {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_at_most_twenty_lines() {
        let many = (0..50).map(|n| (NoticeKind::Shown, n.to_string())).collect();
        assert_eq!(lines(many).len(), 20);
        let two = vec![(NoticeKind::Error, "one".to_owned()), (NoticeKind::Note, "two".to_owned())];
        assert_eq!(lines(two), ["note: two", "error: one"]);
    }
}
