//! Applies suppressions in comments, annotations and the configuration.
//!
//! Needs the findings of all clusters, because a file may belong to several. A rejection is never suppressed, an error
//! only with a reason. An unused suppression is a finding itself.

mod chosen;
mod read;

use hcoplan_repository::repo::Trust;
use hcoplan_rule_pages::rules::CHANGE_NOT_TRUSTED;

use self::chosen::Chosen;
use super::date::Date;
use super::engine::{Run, sort};
use super::registry;
use super::selector::Selector;
use super::settings::Settings;
use super::suggestion::safe;
use super::suppression::Suppression;
use super::suppression_rules::{SUPPRESSION_INVALID, SUPPRESSION_UNUSED};
use crate::prelude::*;

/// The result of applying suppressions.
#[derive(Debug, Default)]
pub struct SuppressionResult {
    /// The remaining findings, including those about suppressions, sorted.
    pub findings: Vec<Finding>,
    /// The suppressed findings with reasons.
    pub suppressed: Vec<Suppressed>,
}

/// A suppressed finding.
#[derive(Debug)]
pub struct Suppressed {
    /// The finding.
    pub finding: Finding,
    /// The reason; may be empty unless it is an error.
    pub reason: String,
    /// The suppression's location.
    pub place: Location,
}

/// Removes suppressed findings. `documents` are all documents with findings; `today` is compared with `until`.
pub fn apply_suppressions<'d>(
    run: Run,
    documents: impl IntoIterator<Item = &'d Document>,
    settings: &Settings,
    today: Date,
) -> SuppressionResult {
    let mut found = settings.suppressions.clone();
    let mut about = Vec::new();
    let mut seen = BTreeSet::new();
    let documents: Vec<&Document> = documents.into_iter().collect();
    let made = documents.iter().filter(|d| d.file.is_generated());
    let annotated: BTreeSet<_> = made.filter_map(|d| read::annotated_by(d)).collect();
    for document in documents {
        if seen.insert((document.file.path(), document.index)) {
            let mut spoken = Vec::new();
            // kustomize may keep comments of its input.
            if !document.file.is_generated() {
                read::comments(document, &mut spoken, &mut about);
            }
            // An annotation in a build applies to its object.
            if !annotated.contains(document.file.path()) {
                read::annotation(document, &mut spoken, &mut about);
            }
            match &settings.trust {
                Trust::Files => found.extend(spoken),
                trust => about.extend(spoken.into_iter().map(|s| not_trusted(trust, s))),
            }
        }
    }
    let mut chosen = Chosen::of(&found, today);
    let mut suppressed = Vec::new();
    let kept = run.findings.into_iter().filter_map(|finding| {
        let Some(suppression) = chosen.suppression(&finding) else {
            return Some(finding);
        };
        let (reason, place) = (suppression.reason.clone(), suppression.place.clone());
        suppressed.push(Suppressed { finding, reason, place });
        None
    });
    let findings = kept.collect();
    let mut result = SuppressionResult { findings, suppressed };
    let Chosen { used, objections, .. } = chosen;
    about.extend(objections);
    let unused = found.iter().zip(used).filter(|(_, used)| !used);
    let ran = unused.filter(|(s, _)| {
        let mut skipped = run.skipped.iter().filter_map(|name| registry::find(name));
        !skipped.any(|r| s.rules.iter().any(|meant| meant.matches(r.rule)))
    });
    about.extend(ran.filter_map(|(s, _)| s.unused(settings, today)));
    about.retain(|f| settings.is_enabled(f.rule));
    about.iter_mut().for_each(Finding::point_at_origins);
    result.findings.extend(about);
    sort(&mut result.findings);
    result.findings.dedup_by(|a, b| {
        let about_suppression = |r: &Rule| r.name.starts_with("suppression-");
        about_suppression(a.rule) && a.rule.name == b.rule.name && a.message == b.message && a.place() == b.place()
    });
    result
}

/// The finding that a suppression in a document has no effect: only a trusted configuration suppresses.
fn not_trusted(trust: &Trust, suppression: Suppression) -> Finding {
    let message = match trust.base() {
        Some(base) => format!("suppressions in files are ignored: only hcoplan.yaml of {} suppresses", base.name()),
        None => "suppressions of the repository are ignored here".to_owned(),
    };
    Finding::new(&CHANGE_NOT_TRUSTED, message).at(suppression.place).label("has no effect")
}

impl Suppression {
    /// Why the suppression isn't effective for a matching finding.
    fn objection(&self, finding: &Finding, today: Date) -> Option<Finding> {
        let about = |rule, message: String| Finding::new(rule, message).at(self.place.clone());
        let invalid = |message| about(&SUPPRESSION_INVALID, message).label("has no effect");
        let name = finding.rule.name;
        if finding.rejection {
            return Some(invalid(format!("a rejection can't be suppressed ({name})")));
        }
        if let Some(until) = self.until.filter(|until| *until < today) {
            let message = format!("the suppression of {name} expired on {until}");
            return Some(about(&SUPPRESSION_UNUSED, message).label("has no effect any more"));
        }
        (finding.is_error() && self.reason.is_empty()).then(|| {
            let message = format!("the suppression of {name} gives no reason, which an error needs");
            invalid(message).help("say why, after the bracket")
        })
    }

    /// The finding that it is unused; `None` if one of its rules didn't run.
    fn unused(&self, settings: &Settings, today: Date) -> Option<Finding> {
        let all_ran = self.rules.iter().all(|r| runs_completely(settings, *r));
        if settings.partial || !all_ran {
            return None;
        }
        let names = joined(self.rules.iter().map(|r| r.name()), ", ");
        let message = format!("nothing here is suppressed by ignoring {names}");
        let mut finding = Finding::new(&SUPPRESSION_UNUSED, message)
            .at(self.place.clone())
            .label("matches no finding")
            .help("remove it");
        if let Some(until) = self.until.filter(|until| *until < today) {
            finding = finding.label(format!("expired on {until}, and matches no finding"));
        }
        if let Some(edit) = read::removal(&self.place) {
            finding = finding.fix(safe("remove the comment", vec![edit]));
        }
        Some(finding)
    }
}

/// Whether all selected rules run.
fn runs_completely(settings: &Settings, selector: Selector) -> bool {
    let all = registry::rules().iter();
    let mut meant = all.filter(|r| selector.matches(r.rule));
    meant.all(|r| settings.is_enabled(r.rule) || (r.rule.pedantic && settings.select.is_empty()))
}

/// The range of a suppression next to `line` (0-based byte range of a line): findings that start on the line, and those
/// inside a scalar that starts on it, such as a block.
fn bytes_about(scalars: &BTreeMap<u32, u32>, line: Span) -> Span {
    let of_line = scalars.range(line.start..line.end);
    let end = of_line.map(|(_, end)| *end).max();
    Span { start: line.start, end: end.map_or(line.end, |end| end.max(line.end)) }
}

/// The end of each scalar by the offset of its key, or of the item.
fn scalars(node: &Node, out: &mut BTreeMap<u32, u32>) {
    let values = node.entries().iter().map(|entry| (entry.key.span.start, &entry.value));
    let items = node.items().iter().map(|item| (item.span.start, item));
    for (start, node) in values.chain(items) {
        if node.entries().is_empty() && node.items().is_empty() {
            out.insert(start, node.span.end);
        }
        scalars(node, out);
    }
}
