//! A cluster's differences, as they are reported.

use hcoplan_diagnostics::finding::Finding;
use hcoplan_diagnostics::source::Location;

use super::effect::Effect;
use super::upgrade::Note;
use super::{Comparison, Kind};

/// What differs in one cluster.
#[derive(Debug, Clone)]
pub struct ClusterDiff {
    /// Its name; on the right side where it is on both.
    pub cluster: String,
    /// Its name on the left side, where that is another.
    pub moved_from: Option<String>,
    /// `Add` or `Remove` where it is on one side only.
    pub whole: Option<Kind>,
    /// Why one side could not be rendered; then there is nothing to compare.
    pub broken: Option<Broken>,
    /// What differs.
    pub comparison: Comparison,
    /// What another release makes of the same input; empty where the releases are the same.
    pub notes: Vec<Note>,
    /// What happens to golden images, where both sides were planned.
    pub image_effects: Vec<Effect>,
    /// Whether golden images were looked at: what their objects show isn't told twice then.
    pub knows_images: bool,
    /// Findings that come.
    pub findings_added: Vec<Finding>,
    /// Findings that go.
    pub findings_removed: Vec<Finding>,
    /// The refusals of the right side that the left one has, too: without them nothing would seem to be wrong.
    pub refusals: Vec<Finding>,
    /// Whether the right side is refused.
    pub refused: bool,
    /// A sentence: why the left side was refused, with the place, and how the right one is planned for that;
    /// `None` where the right one is refused for the same.
    pub refused_before: Option<String>,
}

/// A side that could not be rendered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// Whether it is the left one.
    pub left: bool,
    /// Whether both are the same, so that neither can be rendered.
    pub both: bool,
    /// Whether its files can't be read or parsed, and not only something is missing.
    pub unreadable: bool,
    /// Why.
    pub why: String,
    /// What to do about it, where somebody knows.
    pub help: Option<String>,
}

impl ClusterDiff {
    /// A cluster without differences.
    pub fn new(cluster: &str) -> Self {
        Self {
            cluster: cluster.to_owned(),
            moved_from: None,
            whole: None,
            broken: None,
            comparison: Comparison::default(),
            notes: Vec::new(),
            image_effects: Vec::new(),
            knows_images: false,
            findings_added: Vec::new(),
            findings_removed: Vec::new(),
            refusals: Vec::new(),
            refused: false,
            refused_before: None,
        }
    }

    /// Points at what the user wrote, where places are in a program's text, such as a build.
    pub fn point_at_origins(&mut self) {
        let causes = self.comparison.causes.iter_mut().map(|c| &mut c.place);
        let notes = self.notes.iter_mut().map(|n| &mut n.place);
        for place in causes.chain(notes) {
            if let Some(origin) = place.as_ref().and_then(Location::origin) {
                *place = Some(origin);
            }
        }
        let findings = self.findings_added.iter_mut().chain(&mut self.findings_removed);
        findings.for_each(Finding::point_at_origins);
    }

    /// Whether the two sides differ: what can't be planned on either of them is told, and no difference.
    pub fn differs(&self) -> bool {
        let stands = self.broken.as_ref().is_some_and(|b| b.both);
        !stands && !self.is_empty()
    }

    /// Whether there is nothing to tell.
    pub fn is_empty(&self) -> bool {
        self.moved_from.is_none()
            && self.whole.is_none()
            && self.broken.is_none()
            && self.comparison.is_empty()
            && self.notes.is_empty()
            && self.findings_added.is_empty()
            && self.findings_removed.is_empty()
    }
}
