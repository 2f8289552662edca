//! Predicts the result of a fix.

use super::Context;
use super::prelude::*;
use hcoplan_planner::plan::{self, Plan};
use hcoplan_yaml::edit::apply;
use hcoplan_yaml::parse;

use super::shape;

impl Context<'_> {
    /// The plan that fixes are compared with: of the HyperConverged as a new object. Otherwise the present state of the
    /// cluster would decide whether a fix is safe.
    pub fn plan_as_new(&self) -> &Plan {
        match self.before() {
            None => self.plan(),
            Some(_) => self.as_new.get_or_init(|| plan::plan(self.release(), self.inventory(), self.object())),
        }
    }

    /// The plan after a fix of the HyperConverged's file. `None` if it can't be computed.
    pub fn planned_with(&self, fix: &Fix) -> Option<Plan> {
        let object = self.object_after(&fix.edits)?;
        Some(plan::plan(self.release(), self.inventory(), &object))
    }

    /// The fix, marked safe if the result is accepted and has the same objects, else unsafe. `None` if the plan can't
    /// be computed.
    pub fn safe_where_objects_stay(&self, fix: Fix) -> Option<Fix> {
        let plan = self.planned_with(&fix)?;
        let objects = |plan: &Plan| {
            let all = plan.objects().map(|o| (o.id.clone(), o.body.clone()));
            all.collect::<Vec<_>>()
        };
        let same = plan.admission.accepted && objects(&plan) == objects(self.plan_as_new());
        let applicability = if same { Applicability::Safe } else { Applicability::Unsafe };
        Some(Fix { applicability, ..fix })
    }

    /// Whether the HyperConverged would be accepted and reconciled after edits of its file. `None` if the plan can't be
    /// computed.
    pub(crate) fn succeeds_with(&self, edits: &[Edit]) -> Option<bool> {
        let Some(object) = self.object_after(edits) else {
            // The edits must leave a readable file.
            let file = &self.document().file;
            let is_ours = edits.iter().all(|e| e.file.path() == file.path());
            let text = apply(file.text(), edits).ok().filter(|_| is_ours)?;
            let is_broken = parse(&SourceFile::new(file.path(), text)).problems.iter().any(|p| p.kind.is_fatal());
            return is_broken.then_some(false);
        };
        Some(plan::succeeds(self.release(), self.inventory(), &object))
    }

    /// The HyperConverged after edits. `None` where they are of another file, can't be applied, or
    /// leave no such object.
    pub fn object_after(&self, edits: &[Edit]) -> Option<Value> {
        shape::object_after(self.document(), edits)
    }
}
