//! A suppression and its scope.

use globset::GlobMatcher;
use ignore::gitignore::Gitignore;

use super::date::Date;
use super::selector::Selector;
use crate::prelude::*;

/// Hides findings.
#[derive(Debug, Clone)]
pub struct Suppression {
    /// The rules and groups.
    pub rules: Vec<Selector>,
    /// The reason; may be empty.
    pub reason: String,
    /// The last day on which it is effective.
    pub until: Option<Date>,
    /// Its location.
    pub place: Location,
    /// The scope.
    pub scope: Scope,
}

/// The scope of a suppression.
#[derive(Debug, Clone)]
pub enum Scope {
    /// Findings in this range of the suppression's file.
    Bytes(Span),
    /// Findings of matching files and objects.
    Matching {
        /// Files by path relative to the root.
        path: Option<Box<Gitignore>>,
        /// The object, as `Kind/name` or `Kind/namespace/name`.
        object: Option<String>,
        /// Clusters by name.
        cluster: Option<GlobMatcher>,
    },
}

/// Whether a document may contain suppressions; others aren't kept in memory.
pub fn may_hold_suppression(document: &Document) -> bool {
    document.file.mentions("hcoplan") && document.file.mentions("ignore")
}

impl Suppression {
    /// Whether it applies to a finding.
    pub(super) fn matches(&self, finding: &Finding) -> bool {
        let is_meant = || self.rules.iter().any(|r| r.matches(finding.rule));
        match (&self.scope, &finding.location) {
            (Scope::Bytes(span), _) => {
                let mut places = finding.location.iter().chain(&finding.generated);
                // Cheap checks first: there may be thousands of both.
                places.any(|place| {
                    (span.start..span.end).contains(&place.span.start)
                        && place.file.path() == self.place.file.path()
                        && is_meant()
                })
            }
            (Scope::Matching { path, object, cluster }, place) => {
                let file = place.as_ref().map(|p| p.file.path());
                let of_file = |globs: &Gitignore| {
                    file.is_some_and(|f| !f.has_root() && globs.matched_path_or_any_parents(f, false).is_ignore())
                };
                let named = finding.object.as_ref().map(|o| o.replacen(' ', "/", 1));
                is_meant()
                    && path.as_deref().is_none_or(of_file)
                    && object.as_ref().is_none_or(|o| named.as_ref() == Some(o))
                    && cluster.as_ref().is_none_or(|c| {
                        finding.cluster.as_ref().is_some_and(|n| n.typed().iter().any(|n| c.is_match(n)))
                    })
            }
        }
    }
}
