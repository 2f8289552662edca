//! Findings about unreadable files.

use hcoplan_yaml::Problem as YamlProblem;

use super::duplicate_key;
use super::paths::start_of;
use super::scan::{Content, mentions_hco};
use crate::prelude::*;

/// The suffix of the API groups of KubeVirt, CDI and others.
const KUBEVIRT: &str = "kubevirt.io/";

/// Something wrong with a file itself.
#[derive(Debug, Clone)]
pub struct Problem {
    /// The finding with its location.
    pub finding: Finding,
    /// Whether the file mentions HCO's API group and can't be read: nothing should be written then.
    pub fatal: bool,
}

impl Problem {
    /// One after which nothing should be written.
    pub(super) fn error(finding: Finding) -> Self {
        Self { finding: Finding { stops: true, ..finding.error() }, fatal: true }
    }

    /// The same problem as a fatal one.
    pub(super) fn fatal(self) -> Self {
        Self::error(self.finding)
    }
}

/// A finding at a place with what it relates to, as far as these are known.
pub(super) fn related(
    finding: Finding,
    location: Option<Location>,
    other: Option<Location>,
    label: &'static str,
) -> Finding {
    let finding = Finding { location, ..finding };
    match other {
        Some(place) => finding.related(place, label),
        None => finding,
    }
}

/// An unreadable file: whether it is relevant is unknown.
pub(super) fn unreadable(path: &Utf8Path, why: &Unreadable) -> Problem {
    Problem { finding: not_read(path, why.to_string()), fatal: false }
}

/// A file that was removed or changed after the directory was listed.
pub(super) fn changed_while_read(path: &Utf8Path) -> Problem {
    Problem::error(not_read(path, "it changed while it was read".to_owned()))
}

fn not_read(path: &Utf8Path, why: String) -> Finding {
    Finding::new(&FILE_NOT_READ, format!("this file is not read: {why}")).at(start_of(path)).label(why)
}

/// An unparseable file that mentions the operator's API group.
pub(super) fn unparseable_file(content: &Content) -> Vec<Problem> {
    let fatal = content.problems.iter().filter(|p| p.kind.is_fatal());
    if let Some(first) = fatal.clone().find(|p| p.kind == ProblemKind::Template) {
        let finding = Finding::new(&FILE_NOT_READ, "this file is not read: it is a template, not YAML yet");
        let finding = finding.at(Location::new(&content.file, first.span)).label("no YAML").help(
            "render it first (`helm template … | hcoplan plan -`), or exclude it with \
                 `ignore` in hcoplan.yaml",
        );
        return vec![Problem { finding, fatal: false }];
    }
    fatal.map(|p| Problem::error(syntax(content, p))).collect()
}

/// An unparseable file of a cluster's directory that mentions KubeVirt's API groups: its objects aren't checked.
pub(super) fn unparseable_other(content: &Content) -> Option<Finding> {
    let first = content.problems.iter().find(|p| p.kind.is_fatal() && p.kind != ProblemKind::Template)?;
    let text = content.file.text();
    // One that mentions the operator is fatal and reported with the repository.
    (text.contains(KUBEVIRT) && !mentions_hco(text)).then(|| syntax(content, first).warning())
}

/// An unparseable file with objects of a controller: what they apply isn't known.
pub(super) fn unparseable_controller(file: &Arc<SourceFile>) -> Option<Finding> {
    let content = Content::parse(Arc::clone(file));
    let first = content.problems.iter().find(|p| p.kind.is_fatal())?;
    let is_template = content.is_template() || mentions_hco(file.text());
    (!is_template).then(|| {
        let finding = syntax(&content, first).warning();
        finding.label("what its objects apply is not in the plan")
    })
}

fn syntax(content: &Content, problem: &YamlProblem) -> Finding {
    let message = format!("the file can't be parsed: {}", problem.message);
    with_context(content, problem, Finding::new(&YAML_SYNTAX, message))
}

fn with_context(content: &Content, problem: &YamlProblem, finding: Finding) -> Finding {
    let finding = finding.at(Location::new(&content.file, problem.span));
    match &problem.context {
        Some((span, what)) => finding.related(Location::new(&content.file, *span), what.clone()),
        None => finding,
    }
}

/// The parser's warnings about a document.
pub(super) fn text_problems(content: &Content, document: &Document) -> Vec<Finding> {
    let inside = |p: &&YamlProblem| document.span.holds(p.span);
    let warnings = content.problems.iter().filter(|p| !p.kind.is_fatal());
    let finding = |p: &YamlProblem| {
        let (rule, fixes) = match (p.kind, &p.context) {
            (ProblemKind::DuplicateKey, Some((first, _))) => {
                (&YAML_DUPLICATE_KEY, duplicate_key::fixes(&content.file, *first, p.span))
            }
            _ => (&YAML_NOT_AS_WRITTEN, Vec::new()),
        };
        with_context(content, p, Finding::new(rule, &p.message)).fixes(fixes)
    };
    warnings.filter(inside).map(finding).collect()
}
