//! What leaves findings out, and which ones it means.

use globset::GlobMatcher;
use hcoplan_diagnostics::finding::Finding;
use hcoplan_diagnostics::source::{Location, Span};
use hcoplan_yaml::Document;
use ignore::gitignore::Gitignore;

use super::date::Date;
use super::selector::Selector;

/// Something that leaves findings out.
#[derive(Debug, Clone)]
pub struct Suppression {
    /// The rules and groups that are meant.
    pub rules: Vec<Selector>,
    /// Why; may be empty.
    pub reason: String,
    /// The last day on which it counts.
    pub until: Option<Date>,
    /// Where it is written.
    pub place: Location,
    /// Which findings of the rules are meant.
    pub scope: Scope,
}

/// Which findings a suppression is about.
#[derive(Debug, Clone)]
pub enum Scope {
    /// Those in these bytes of the suppression's own file.
    Bytes(Span),
    /// Those of matching files and objects.
    Matching {
        /// Files by their path from the root.
        path: Option<Box<Gitignore>>,
        /// The object, as `Kind/name` or `Kind/namespace/name`.
        object: Option<String>,
        /// Clusters by their name.
        cluster: Option<GlobMatcher>,
    },
}

/// Whether a document may hold an `ignore`; the others are not worth their memory.
pub fn may_hold_suppression(document: &Document) -> bool {
    let text = document.file.text();
    text.contains("hcoplan") && text.contains("ignore")
}

impl Suppression {
    /// Whether a finding is meant.
    pub(super) fn matches(&self, finding: &Finding) -> bool {
        let is_meant = || self.rules.iter().any(|r| r.matches(finding.rule));
        match (&self.scope, &finding.location) {
            (Scope::Bytes(span), _) => {
                let mut places = finding.location.iter().chain(&finding.generated);
                // The cheapest question first: there may be thousands of both.
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
                    && cluster.as_ref().is_none_or(|c| finding.cluster.as_deref().is_some_and(|n| c.is_match(n)))
            }
        }
    }
}
