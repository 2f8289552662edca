//! Findings, which analysis creates and reports print.
//!
//! A [`Finding`] comes from a [`Rule`] and points at bytes of the user's files. This module
//! holds data only: what a rule checks lives in `lint`, how a finding is printed in `report`.

mod cluster_name;
mod key;
mod rule;

use crate::prelude::*;
use std::borrow::Cow;
use std::collections::HashSet;

pub use cluster_name::ClusterName;
pub use hcoplan_kubernetes::nearest;
pub use hcoplan_yaml::source::Edit;
pub use key::{FindingKey, mark_existing, without_existing};
pub use rule::{Claim, Confidence, FixKind, Group, Needs, OptionValue, Prediction, Rule, RuleOption};

use hcoplan_yaml::Path;
use serde_json::Value;

use crate::source::{Location, SourceFile, Span};

/// How severe a finding is. `Error` = rejected, crashes or cannot work; `Warning` = works but wrong,
/// alerting or fragile; `Info` = worth knowing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Severity {
    /// Worth knowing.
    #[default]
    Info,
    /// Works, but wrong, alerting or fragile.
    Warning,
    /// Rejected, crashes, or cannot work.
    Error,
}

// The worst first.
hcoplan_kubernetes::names!(Severity { Error = "error", Warning = "warning", Info = "info" });

/// A problem with its location and what to do about it.
#[derive(Debug, Clone, Default)]
pub struct Finding {
    /// The rule that found it.
    pub rule: &'static Rule,
    /// Usually the rule's; the configuration or the rule's check may change it.
    pub severity: Severity,
    /// One sentence: what is wrong, with the value as written.
    pub message: String,
    /// The characters that are wrong; `None` only where no file has any (a missing inventory).
    pub location: Option<Location>,
    /// The same location in generated text, such as a build, whose origin `location` is.
    pub generated: Option<Location>,
    /// The text at the caret; the message when `None`.
    pub label: Option<Cow<'static, str>>,
    /// Name of the cluster, where the finding belongs to one.
    pub cluster: Option<ClusterName>,
    /// Further clusters that have the same finding, because they share the file.
    pub also: Vec<ClusterName>,
    /// Whether further clusters that share the file don't have it.
    pub is_of_some: bool,
    /// The object it is about, as `Kind namespace/name` or `Kind name`.
    pub object: Option<Arc<str>>,
    /// The path of the field in that object; for its [`FindingKey`].
    pub path: Option<Path>,
    /// Its subject, where the value at the location doesn't identify it; for its [`FindingKey`].
    pub arguments: Vec<String>,
    /// What to do, one or two sentences: what the fixes do, where there are any.
    pub help: Option<Cow<'static, str>>,
    /// Other places that are part of the cause.
    pub related: Vec<Related>,
    /// Edits that fix it; more than one means a choice.
    pub fixes: Vec<Fix>,
    /// The most applicable of its fixes without its edits, where fixes aren't requested.
    pub offers: Option<Box<Fix>>,
    /// Fixes that were moved from a build to the files that it is built of, with their edits of the build.
    pub build_fixes: Vec<BuildFix>,
    /// Why a fix isn't offered: no file that the build consists of can be edited for it, or too many fixes were
    /// tried before.
    pub not_fixed: Option<Cow<'static, str>>,
    /// The runbook of the alert that its rule predicts, where the cluster's vendor publishes one of its
    /// own.
    pub runbook: Option<Arc<str>>,
    /// Whether the consequence that its rule predicts, such as an alert, doesn't apply here.
    pub is_silent: bool,
    /// The value that it predicts for a field, where its rule claims one.
    pub becomes: Option<Box<PredictedValue>>,
    /// Whether it reports that the HyperConverged is rejected: an error that nothing can suppress.
    pub rejection: bool,
    /// Whether it says why a file isn't read or a cluster isn't planned.
    pub stops: bool,
    /// Whether it exists before the change, too.
    pub is_existing: bool,
}

impl Finding {
    /// A finding of `rule` with its own severity.
    pub fn new(rule: &'static Rule, message: impl Into<String>) -> Self {
        Self { rule, severity: rule.severity, message: message.into(), ..Self::default() }
    }

    /// The alert that it predicts, with its runbook's address.
    pub fn alert(&self) -> Option<(&'static str, &str)> {
        match self.rule.predicts {
            Prediction::Alert { name, runbook } if !self.is_silent => {
                Some((name, self.runbook.as_deref().unwrap_or(runbook)))
            }
            _ => None,
        }
    }

    /// The consequence, by its rule, that nothing in the cluster reports.
    pub fn consequence(&self) -> Option<&'static str> {
        match self.rule.predicts {
            Prediction::Silent(what) if !self.is_silent => Some(what),
            _ => None,
        }
    }

    /// The alert or the consequence, and the help, a line each: for formats without labels and notes.
    pub fn advice(&self) -> Vec<String> {
        let alert = self.alert().map(|(name, _)| format!("alert: {name}"));
        let consequence = self.consequence().map(|text| format!("consequence: {text}"));
        alert.into_iter().chain(consequence).chain(self.help.as_deref().map(str::to_owned)).collect()
    }

    /// Moves its locations from generated text to the user's text that they come from, and its fixes as far as
    /// they edit whole values on one line.
    pub fn point_at_origins(&mut self) {
        if let Some(place) = &self.location
            && let Some(origin) = place.origin()
        {
            self.generated = self.location.replace(origin);
        }
        let mut is_moved = false;
        for related in &mut self.related {
            if let Some(origin) = related.location.origin() {
                is_moved = true;
                related.location = origin;
            }
        }
        if is_moved {
            // Several locations in a build may come from one in a base.
            let mut known = HashSet::new();
            self.related.retain(|related| {
                let (place, message) = (&related.location, related.message.clone());
                let span = (place.span.start, place.span.end);
                known.insert((place.file.path().to_owned(), span, message))
            });
        }
        self.fixes.retain_mut(|fix| fix.edits.iter_mut().all(Edit::move_to_origin));
    }

    /// The edits of builds that a fix of it makes.
    pub fn build_edits(&self, fix: &Fix) -> impl Iterator<Item = &Edit> {
        let build_fixes = self.build_fixes.iter().filter(|f| fix.has(&f.edits));
        build_fixes.flat_map(|f| &f.build_edits)
    }

    /// The clusters that have it.
    pub fn cluster_names(&self) -> impl Iterator<Item = &ClusterName> {
        self.cluster.iter().chain(&self.also)
    }

    /// The clusters that have it, as people read them.
    pub fn clusters(&self) -> impl Iterator<Item = &str> {
        self.cluster_names().map(|name| &**name)
    }

    /// The names of the clusters that have it, where several do, or not all that share the file.
    pub fn shared_by(&self) -> Option<String> {
        const SHOWN: usize = 10;
        let count = self.clusters().count();
        let names: Vec<&str> = self.clusters().take(SHOWN).collect();
        let names = names.join(", ");
        match (self.also.is_empty() && !self.is_of_some, count.saturating_sub(SHOWN)) {
            (true, _) => None,
            (false, 0) => Some(names),
            (false, more) => Some(format!("{names} and {more} more")),
        }
    }

    /// The message, followed by the clusters that have it: for formats without a field for them.
    pub fn message_of_all(&self) -> Cow<'_, str> {
        match self.shared_by() {
            Some(names) => Cow::Owned(format!("{} (in {names})", self.message)),
            None => Cow::Borrowed(&self.message),
        }
    }

    /// Whether another one differs in the cluster and the fixes alone. The object may have another name
    /// there: overlays set names and namespaces. Its related locations may be in another inventory.
    pub fn is_same_but_for_cluster(&self, other: &Self) -> bool {
        let related = || self.related.iter().zip(&other.related);
        let placed = match (&self.location, &other.location) {
            (Some(own), Some(others)) => own.is_same(others),
            _ => false,
        };
        placed
            && self.cluster.is_some()
            && other.cluster.is_some()
            && self.rule.name == other.rule.name
            && self.severity == other.severity
            && self.message == other.message
            && (&self.label, &self.help) == (&other.label, &other.help)
            && self.kind_of_object() == other.kind_of_object()
            && self.runbook == other.runbook
            && (self.is_silent, self.rejection, self.is_existing)
                == (other.is_silent, other.rejection, other.is_existing)
            && self.related.len() == other.related.len()
            && related().all(|(a, b)| a.message == b.message)
    }

    /// The name of the object that it is about.
    pub fn object_name(&self) -> Option<&str> {
        self.object.as_deref()?.rsplit([' ', '/']).next()
    }

    /// The kind of the object that it is about.
    pub fn kind_of_object(&self) -> Option<&str> {
        let object = self.object.as_deref();
        object.and_then(|o| o.split([' ', '/']).next())
    }

    /// Whether it is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// The path of the file that it is in.
    pub fn file(&self) -> Option<&Utf8Path> {
        self.location.as_ref().map(|place| place.file.path())
    }

    /// The file and the bytes that it is about.
    pub fn place(&self) -> Option<(&Utf8Path, Span)> {
        self.location.as_ref().map(|place| (place.file.path(), place.span))
    }

    /// Sets the location.
    #[must_use]
    pub fn at(mut self, location: Location) -> Self {
        self.location = Some(location);
        self
    }

    /// Sets the text at the caret.
    #[must_use]
    pub fn label(mut self, label: impl Into<Cow<'static, str>>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// Sets the object it is about.
    #[must_use]
    pub fn object(mut self, object: impl Into<Arc<str>>) -> Self {
        self.object = Some(object.into());
        self
    }

    /// Sets what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<Cow<'static, str>>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds another place that is part of the cause.
    #[must_use]
    pub fn related(mut self, location: Location, message: impl Into<String>) -> Self {
        // Most have one; a vector would make room for four.
        self.related.reserve_exact(1);
        self.related.push(Related { location, message: message.into() });
        self
    }

    /// Adds a fix.
    #[must_use]
    pub fn fix(mut self, fix: Fix) -> Self {
        self.fixes.push(fix);
        self
    }

    /// The most applicable of its fixes.
    pub fn best_fix(&self) -> Option<&Fix> {
        self.fixes.iter().min_by_key(|fix| fix.applicability).or(self.offers.as_deref())
    }

    /// How far the most applicable of its fixes may be applied.
    pub fn fixability(&self) -> Option<Applicability> {
        self.best_fix().map(|fix| fix.applicability)
    }

    /// Adds fixes.
    #[must_use]
    pub fn fixes(mut self, fixes: impl IntoIterator<Item = Fix>) -> Self {
        self.fixes.extend(fixes);
        self
    }

    /// Adds fixes, and what to do without any.
    #[must_use]
    pub fn remedy(self, words: impl Into<Cow<'static, str>>, fixes: impl IntoIterator<Item = Fix>) -> Self {
        self.help(words).fixes(fixes)
    }

    /// Sets the value that it predicts for a field; tests compare it with the planner's.
    #[must_use]
    pub fn becomes(mut self, becomes: PredictedValue) -> Self {
        self.becomes = Some(Box::new(becomes));
        self
    }

    /// Sets another severity than the rule's.
    #[must_use]
    pub fn severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    /// Makes it an error.
    #[must_use]
    pub fn error(self) -> Self {
        self.severity(Severity::Error)
    }

    /// Makes it a warning.
    #[must_use]
    pub fn warning(self) -> Self {
        self.severity(Severity::Warning)
    }

    /// Makes it an info.
    #[must_use]
    pub fn info(self) -> Self {
        self.severity(Severity::Info)
    }

    /// Marks that the consequence that its rule predicts doesn't apply.
    #[must_use]
    pub fn silent(mut self) -> Self {
        self.is_silent = true;
        self
    }
}

/// The value that a finding predicts for a field.
#[derive(Debug, Clone, PartialEq)]
pub struct PredictedValue {
    /// The kind of the object: `HyperConverged` as it is stored, or an operand.
    pub kind: &'static str,
    /// The field.
    pub path: Path,
    /// The value; null means that the field is absent.
    pub value: Value,
    /// When the field gets it.
    pub when: BecomesWhen,
}

/// When a field gets the value that a finding predicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BecomesWhen {
    /// With the manifest as it is.
    Now,
    /// When the text at the finding's location is removed.
    WithoutIt,
    /// With the next release.
    AfterUpgrade,
    /// With the next release, when the text at the finding's location is removed.
    AfterUpgradeWithoutIt,
}

/// Another place that is part of the cause.
#[derive(Debug, Clone)]
pub struct Related {
    /// Where.
    pub location: Location,
    /// The label's text.
    pub message: String,
}

/// Whether a fix may be applied without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Applicability {
    /// Keeps the meaning, or corrects what could not have been meant: `fix --write` applies it.
    Safe,
    /// Changes what the cluster does: only with `--unsafe`.
    Unsafe,
    /// One of several ways, shown and never applied by itself.
    Suggestion,
}

hcoplan_kubernetes::names!(Applicability { Safe = "safe", Unsafe = "unsafe", Suggestion = "suggestion" });

/// A fix of a build, as edits of the user's files.
#[derive(Debug, Clone)]
pub struct BuildFix {
    /// The edits of the user's files.
    pub edits: Vec<Edit>,
    /// The edits of the build.
    pub build_edits: Vec<Edit>,
}

/// Byte edits that belong together.
#[derive(Debug, Clone)]
pub struct Fix {
    /// What it does, imperative ("enable multi-arch golden images").
    pub title: String,
    /// Whether it may be applied without asking.
    pub applicability: Applicability,
    /// The edits; they don't overlap.
    pub edits: Vec<Edit>,
}

/// The place in the user's file, where it is known, else this one.
pub fn as_written(place: &Location) -> Location {
    place.origin().unwrap_or_else(|| place.clone())
}

/// Whether its file is the same, byte for byte, among those that a generated text is from.
pub fn is_untouched_in(place: &Location, generated: &SourceFile) -> bool {
    let places = generated.origins().into_iter().flat_map(|origins| &origins.places);
    let mut same = places.map(|(_, place)| &place.file).filter(|file| file.path() == place.file.path());
    same.next().is_some_and(|file| file.text() == place.file.text())
}

impl Fix {
    /// Marks the fix as unsafe, because it removes a comment.
    pub fn mark_comment_removal(&mut self) {
        self.applicability = self.applicability.max(Applicability::Unsafe);
        self.title.push_str(" (removes a comment)");
    }

    /// Whether another one makes the same edits.
    pub fn is_same(&self, other: &Self) -> bool {
        self.has(&other.edits)
    }

    /// Whether these are its edits.
    fn has(&self, edits: &[Edit]) -> bool {
        let mut pairs = self.edits.iter().zip(edits);
        self.edits.len() == edits.len()
            && pairs.all(|(a, b)| a.file.path() == b.file.path() && a.span == b.span && a.text == b.text)
    }

    /// A fix of one edit that replaces the text at `place` with `text`.
    pub fn edit(
        title: impl Into<String>,
        applicability: Applicability,
        place: Location,
        text: impl Into<String>,
    ) -> Self {
        Self {
            title: title.into(),
            applicability,
            edits: vec![Edit { file: place.file, span: place.span, text: text.into() }],
        }
    }

    /// A suggestion that appends a document to a file, which has to be YAML.
    pub fn append(file: &Arc<SourceFile>, title: &str, manifest: &str) -> Option<Self> {
        let text = file.text();
        let is_yaml = matches!(file.path().extension(), Some("yaml" | "yml"));
        let line = if text.ends_with('\n') { "" } else { "\n" };
        let end = Location::new(file, Span::new(text.len(), text.len()));
        is_yaml.then(|| Self::edit(title, Applicability::Suggestion, end, format!("{line}---\n{manifest}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Origins;

    #[test]
    fn reports_shared_origin_once() {
        let base = SourceFile::new("base.yaml", "a: b\n");
        let origin = Location::new(&base, Span::new(0, 1));
        let built = SourceFile::new("built.yaml", "a: b\nc: b\n");
        let places = [Span::new(0, 4), Span::new(5, 9)];
        let origins = places.map(|span| (span, origin.clone()));
        built.set_origins(Arc::new(Origins::new(origins.to_vec())));
        let [one, other] = places.map(|span| Location::new(&built, span));
        static RULE: Rule = Rule::BASE;
        let mut finding =
            Finding::new(&RULE, "m").related(one, "this").related(other.clone(), "this").related(other, "that");
        finding.point_at_origins();
        let messages: Vec<_> = finding.related.iter().map(|r| &*r.message).collect();
        assert_eq!(messages, ["this", "that"]);
    }
}
