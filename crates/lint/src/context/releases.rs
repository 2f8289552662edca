//! Other releases than the cluster's: the previous and the next one.

use super::prelude::*;
use super::{Context, PatchAnnotation};
use hcoplan_planner::jsonpatch;
use hcoplan_planner::release::Phase;

impl Context<'_> {
    /// The release after the cluster's; `None` if unknown.
    pub fn next_release(&self) -> Option<Arc<Release>> {
        self.release().next()
    }

    /// The first other release whose operand has the field at a pointer.
    pub fn release_with(&self, patch: &PatchAnnotation<'_>, pointer: &str) -> Option<Arc<Release>> {
        let target = &patch.target;
        let path = schema_path(pointer);
        let [earlier, later] = self.other_releases(|r| {
            let schema = r.schema_of(target.api_version, target.kind);
            schema.is_some_and(|s| s.field(&path).is_some())
        });
        earlier.into_iter().chain(later).next()
    }

    /// The earlier and the later releases of the distribution that have something.
    pub fn other_releases(&self, has: impl Fn(&Release) -> bool) -> [Vec<Arc<Release>>; 2] {
        let release = self.release();
        let mut later = release.later_of_distribution();
        let mut earlier = release.releases_of_distribution();
        earlier.retain(|r| has(r) && r.name() != release.name() && later.iter().all(|l| l.label() != r.label()));
        later.retain(|r| has(r));
        [earlier, later]
    }
}

/// The schema path for a pointer into an operand.
pub fn schema_path(pointer: &str) -> Path {
    let steps = jsonpatch::segments(pointer).into_iter();
    let segments = steps.map(|step| match step.parse() {
        Ok(index) => Segment::Index(index),
        Err(_) if step == "-" => Segment::Index(0),
        Err(_) => Segment::Key(step),
    });
    Path(segments.collect())
}

/// Whether an unset gate of HCO is enabled; `None` if the release doesn't have it, or has a field that replaces it.
pub fn gate_when_unset(release: &Release, name: &str) -> Option<bool> {
    match release.gate_phase(name)? {
        Phase::Alpha => Some(false),
        Phase::Beta | Phase::Ga => Some(true),
        Phase::Deprecated | Phase::Discontinued => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_defaults_of_gates() {
        let gate = |release: &str, name: &str| gate_when_unset(&Release::known(release).expect("known"), name);
        assert_eq!(gate("1.17", "decentralizedLiveMigration"), Some(false));
        assert_eq!(gate("1.18", "decentralizedLiveMigration"), Some(true));
        assert_eq!(gate("1.18", "template"), None);
        assert_eq!(gate("1.19", "template"), Some(true));
        assert_eq!(gate("1.19", "videoConfig"), None);
    }
}
