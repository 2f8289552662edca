//! What would happen after a fix.

use hcoplan_diagnostics::finding::{Applicability, Edit, Fix};
use hcoplan_diagnostics::source::SourceFile;
use hcoplan_planner::plan::{self, Plan};
use hcoplan_yaml::edit::apply;
use hcoplan_yaml::{Path, parse};
use serde_json::Value;

use super::{Context, Home};

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

    /// Whether a fix gives a value that the schema doesn't know a place where it does, and leaves everything else: no key
    /// is there twice, and nothing becomes unknown but what is in the value itself.
    pub fn finds_home(&self, fix: &Fix, path: &Path, home: &Home) -> bool {
        let (Some(after), Some(schema)) = (self.object_after(&fix.edits), self.schema()) else {
            return false;
        };
        let unknown =
            |object: &Value| schema.prune(&mut object.clone()).into_iter().map(|p| p.path).collect::<Vec<_>>();
        let (before, after) = (unknown(self.object()), unknown(&after));
        let is_inside = |unknown: &Path| home.places().any(|to| unknown.starts_with(to) && unknown != to);
        !after.contains(path) && after.iter().all(|unknown| before.contains(unknown) || is_inside(unknown))
    }

    /// Whether the HyperConverged would be accepted and reconciled after edits of its file. `None`
    /// where that isn't known.
    pub(crate) fn succeeds_with(&self, edits: &[Edit]) -> Option<bool> {
        let object = self.object_after(edits)?;
        Some(plan::succeeds(self.release(), self.inventory(), &object))
    }

    /// The HyperConverged after edits. `None` where they are of another file, can't be applied, or
    /// leave no such object.
    pub fn object_after(&self, edits: &[Edit]) -> Option<Value> {
        let file = &self.document().file;
        if edits.iter().any(|e| e.file.path() != file.path()) {
            return None;
        }
        let text = apply(file.text(), edits).ok()?;
        let after = parse(&SourceFile::new(file.path(), text));
        if after.problems.iter().any(|problem| problem.kind.is_fatal()) {
            return None;
        }
        let object = after.documents.get(self.document().index)?.root.to_json();
        // An item of a List is a document of its own here.
        (object.get("kind") == self.object().get("kind")).then_some(object)
    }
}
