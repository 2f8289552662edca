//! What would happen after a fix.

use hcoplan_diagnostics::finding::{Applicability, Edit, Fix};
use hcoplan_diagnostics::source::SourceFile;
use hcoplan_planner::plan::{self, Plan};
use hcoplan_yaml::edit::apply;
use hcoplan_yaml::parse;
use serde_json::Value;

use super::{Context, shape};

impl Context<'_> {
    /// The plan that fixes are compared with: of the HyperConverged as a new object, as they are tried.
    /// Otherwise a fix would be safe or not by what the cluster held before.
    pub fn plan_as_new(&self) -> &Plan {
        match self.before() {
            None => self.plan(),
            Some(_) => self.as_new.get_or_init(|| plan::plan(self.release(), self.inventory(), self.object())),
        }
    }

    /// What would happen after a fix of the HyperConverged's file. `None` where that isn't known.
    pub fn planned_with(&self, fix: &Fix) -> Option<Plan> {
        let object = self.object_after(&fix.edits)?;
        Some(plan::plan(self.release(), self.inventory(), &object))
    }

    /// The fix, safe where what is accepted then leads to the same objects, else unsafe. `None` where that
    /// isn't known.
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

    /// Whether the HyperConverged would be accepted and reconciled after edits of its file. `None`
    /// where that isn't known.
    pub(crate) fn succeeds_with(&self, edits: &[Edit]) -> Option<bool> {
        let Some(object) = self.object_after(edits) else {
            // A file that can't be read afterwards is wrong.
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
