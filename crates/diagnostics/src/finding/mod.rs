//! The one currency between everything that looks at input and everything that reports.
//!
//! A [`Finding`] comes from a [`Rule`] and points at bytes of the user's files. This module
//! holds data only: what a rule checks lives in `lint`, how a finding is printed in `report`.

mod key;
mod rule;

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

pub use hcoplan_kubernetes::nearest;
pub use hcoplan_yaml::source::Edit;
pub use key::{FindingKey, mark_existing, without_existing};
pub use rule::{Claim, Confidence, FixKind, Group, Needs, OptionValue, Prediction, Rule, RuleOption};

use hcoplan_yaml::Path;
use serde_json::Value;

use crate::source::Location;

/// How bad it is. `Error` = rejected, crashes or cannot work; `Warning` = works but wrong,
/// alerting or fragile; `Info` = worth knowing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// Works, but wrong, alerting or fragile.
    Warning,
    /// Rejected, crashes, or cannot work.
    Error,
}

impl Severity {
    /// `error`, `warning` or `info`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// One thing found, with where it is and what to do.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The rule that found it.
    pub rule: &'static Rule,
    /// Usually the rule's; configuration and circumstances may change it.
    pub severity: Severity,
    /// One sentence: what is wrong, in this file's own words.
    pub message: String,
    /// The characters meant; `None` only where no file has any (a missing inventory).
    pub location: Option<Location>,
    /// Where that is in a program's text, such as a build, that the place is the origin of.
    pub made: Option<Location>,
    /// What the caret says; the message when `None`.
    pub label: Option<Cow<'static, str>>,
    /// Name of the cluster, where the finding belongs to one.
    pub cluster: Option<Arc<str>>,
    /// Further clusters that it holds for just the same: what it is about goes into all of them.
    pub also: Vec<Arc<str>>,
    /// The object it is about, as `Kind namespace/name` or `Kind name`.
    pub object: Option<Arc<str>>,
    /// The path of the field that it is about, in that object; for its [`FindingKey`].
    pub path: Option<Path>,
    /// Its subject, where the value that it points at doesn't show it; for its [`FindingKey`].
    pub arguments: Vec<String>,
    /// What to do, one or two sentences.
    pub help: Option<Cow<'static, str>>,
    /// Other places that are part of the cause.
    pub related: Vec<Related>,
    /// Edits that fix it; more than one means a choice.
    pub fixes: Vec<Fix>,
    /// Of fixes that were carried from a build to what it is made of, what they are to do to the build.
    pub carried: Vec<Carried>,
    /// Why a fix isn't offered: what was built isn't what the user wrote, or it would have to be tried out,
    /// and many others were.
    pub not_fixed: Option<Cow<'static, str>>,
    /// The runbook of the alert that its rule predicts, where the cluster's vendor publishes one of its
    /// own.
    pub runbook: Option<Arc<str>>,
    /// The consequence that its rule predicts, such as an alert, doesn't apply here.
    pub is_silent: bool,
    /// What it says that becomes of a field, where its rule claims that.
    pub becomes: Option<Box<PredictedValue>>,
    /// It reports that the HyperConverged is rejected: an error that nothing can suppress.
    pub rejection: bool,
    /// The side before the change has it, too.
    pub is_existing: bool,
}

impl Finding {
    /// A finding of `rule` with its own severity.
    pub fn new(rule: &'static Rule, message: impl Into<String>) -> Self {
        Self {
            rule,
            severity: rule.severity,
            message: message.into(),
            location: None,
            made: None,
            label: None,
            cluster: None,
            also: Vec::new(),
            object: None,
            path: None,
            arguments: Vec::new(),
            help: None,
            related: Vec::new(),
            fixes: Vec::new(),
            carried: Vec::new(),
            not_fixed: None,
            runbook: None,
            is_silent: false,
            becomes: None,
            rejection: false,
            is_existing: false,
        }
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

    /// The consequence that nothing in the cluster reports, by its rule.
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

    /// Points at where the user wrote what it is about, where it points into a program's text: all its
    /// places, and its fixes, as far as they are edits of whole values on one line.
    pub fn point_at_origins(&mut self) {
        if let Some(place) = &self.location
            && let Some(origin) = place.origin()
        {
            self.made = self.location.replace(origin);
        }
        let mut is_moved = false;
        for related in &mut self.related {
            if let Some(origin) = related.location.origin() {
                is_moved = true;
                related.location = origin;
            }
        }
        if is_moved {
            // Several places of a build may be one of a base.
            let mut known = HashSet::new();
            self.related.retain(|related| {
                let (place, message) = (&related.location, related.message.clone());
                let span = (place.span.start, place.span.end);
                known.insert((place.file.path().to_owned(), span, message))
            });
        }
        self.fixes.retain_mut(|fix| fix.edits.iter_mut().all(Edit::move_to_origin));
    }

    /// What a fix of it is to do to builds.
    pub fn made_by(&self, fix: &Fix) -> impl Iterator<Item = &Edit> {
        let carried = self.carried.iter().filter(|c| fix.has(&c.edits));
        carried.flat_map(|c| &c.made)
    }

    /// The clusters that it holds for.
    pub fn clusters(&self) -> impl Iterator<Item = &str> {
        let first = self.cluster.iter();
        first.chain(&self.also).map(|name| &**name)
    }

    /// The names of the clusters that it holds for, where there are several.
    pub fn shared_by(&self) -> Option<String> {
        const SHOWN: usize = 10;
        let count = self.clusters().count();
        let names: Vec<&str> = self.clusters().take(SHOWN).collect();
        let names = names.join(", ");
        match (self.also.is_empty(), count.saturating_sub(SHOWN)) {
            (true, _) => None,
            (false, 0) => Some(names),
            (false, more) => Some(format!("{names} and {more} more")),
        }
    }

    /// The message, and behind it the clusters where there are several: for formats that have no field
    /// for them.
    pub fn message_of_all(&self) -> Cow<'_, str> {
        match self.shared_by() {
            Some(names) => Cow::Owned(format!("{} (in {names})", self.message)),
            None => Cow::Borrowed(&self.message),
        }
    }

    /// Whether another one says the same about the same place, but for the cluster and its fixes. The object may be
    /// called otherwise there: overlays set names and namespaces.
    pub fn is_same_but_for_cluster(&self, other: &Self) -> bool {
        let same_place = |a: &Location, b: &Location| a.file.path() == b.file.path() && a.span == b.span;
        let related = || self.related.iter().zip(&other.related);
        let placed = match (&self.location, &other.location) {
            (Some(own), Some(others)) => same_place(own, others),
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
            && related().all(|(a, b)| a.message == b.message && same_place(&a.location, &b.location))
    }

    /// The kind of the object that it is about.
    pub fn kind_of_object(&self) -> Option<&str> {
        let object = self.object.as_deref();
        object.and_then(|o| o.split([' ', '/']).next())
    }

    /// Points at a place.
    #[must_use]
    pub fn at(mut self, location: Location) -> Self {
        self.location = Some(location);
        self
    }

    /// Says what the caret says.
    #[must_use]
    pub fn label(mut self, label: impl Into<Cow<'static, str>>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// Names the object it is about.
    #[must_use]
    pub fn object(mut self, object: impl Into<Arc<str>>) -> Self {
        self.object = Some(object.into());
        self
    }

    /// Says what to do.
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

    /// Offers an edit.
    #[must_use]
    pub fn fix(mut self, fix: Fix) -> Self {
        self.fixes.push(fix);
        self
    }

    /// Offers edits, where there are any.
    #[must_use]
    pub fn fixes(mut self, fixes: impl IntoIterator<Item = Fix>) -> Self {
        self.fixes.extend(fixes);
        self
    }

    /// Offers edits, whose titles then say what to do; where there is none, the words do.
    #[must_use]
    pub fn remedy(self, words: impl Into<Cow<'static, str>>, fixes: impl IntoIterator<Item = Fix>) -> Self {
        let offered = self.fixes.len();
        let finding = self.fixes(fixes);
        if finding.fixes.len() > offered { finding } else { finding.help(words) }
    }

    /// Says what becomes of a field; tests ask the planner.
    #[must_use]
    pub fn becomes(mut self, becomes: PredictedValue) -> Self {
        self.becomes = Some(Box::new(becomes));
        self
    }

    /// Changes the severity from the rule's own.
    #[must_use]
    pub fn severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    /// Marks it as having no consequence of those that its rule predicts.
    #[must_use]
    pub fn silent(mut self) -> Self {
        self.is_silent = true;
        self
    }
}

/// What a finding says that becomes of a field.
#[derive(Debug, Clone, PartialEq)]
pub struct PredictedValue {
    /// The kind of the object: `HyperConverged` as it is stored, or an operand.
    pub kind: &'static str,
    /// The field.
    pub path: Path,
    /// The value that it gets; null is none.
    pub value: Value,
    /// When it does.
    pub when: BecomesWhen,
}

/// When something becomes of a field what a finding says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BecomesWhen {
    /// With the manifest as it is.
    Now,
    /// Without what stands at the finding's place.
    WithoutIt,
    /// With the next release.
    AfterUpgrade,
    /// With the next release, without what stands at the finding's place.
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

/// A fix of what was built, and what it became.
#[derive(Debug, Clone)]
pub struct Carried {
    /// The edits of what the user wrote.
    pub edits: Vec<Edit>,
    /// The edits of the build.
    pub made: Vec<Edit>,
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

impl Fix {
    /// Marks the fix as unsafe, because it removes a comment.
    pub fn takes_a_comment(&mut self) {
        self.applicability = self.applicability.max(Applicability::Unsafe);
        self.title.push_str(" (removes a comment)");
    }

    /// Whether another one does the same.
    pub fn is_same(&self, other: &Self) -> bool {
        self.title == other.title && self.has(&other.edits)
    }

    /// Whether these are its edits.
    fn has(&self, edits: &[Edit]) -> bool {
        let mut pairs = self.edits.iter().zip(edits);
        self.edits.len() == edits.len()
            && pairs.all(|(a, b)| a.file.path() == b.file.path() && a.span == b.span && a.text == b.text)
    }

    /// A fix of one edit: `text` in the place of what stands at `place`.
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{Origins, SourceFile, Span};

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
