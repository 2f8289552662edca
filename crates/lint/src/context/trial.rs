//! Tries edits of the HyperConverged's file.

use super::prelude::*;
use super::{Context, KUBEVIRT_GATES};
use hcoplan_kubernetes::Object;
use hcoplan_planner::plan::{self};
use hcoplan_yaml::edit::{Reason, apply_and_read};

use super::shape::document_after;

/// The HyperConverged after edits of its file.
pub(crate) struct Trial {
    pub(crate) document: Document,
    pub(crate) object: Value,
    pub(crate) plan: Plan,
}

impl Context<'_> {
    /// The plan that fixes are compared with: of the HyperConverged as a new object. Otherwise the present state of the
    /// cluster would decide whether a fix is safe.
    pub fn plan_as_new(&self) -> &Plan {
        match self.before() {
            None => self.plan(),
            Some(_) => self.known.as_new.get_or_init(|| plan::plan(self.release(), self.inventory(), self.object())),
        }
    }

    /// The HyperConverged after edits. `None` where they are of another file, can't be applied, or leave no such
    /// object.
    pub(crate) fn tried(&self, edits: &[Edit]) -> Option<Trial> {
        let document = document_after(self.document(), edits)?;
        let object = document.root.to_json();
        let plan = plan::plan(self.release(), self.inventory(), &object);
        Some(Trial { document, object, plan })
    }

    /// The plan after a fix of the HyperConverged's file. `None` if it can't be computed.
    pub fn planned_with(&self, fix: &Fix) -> Option<Plan> {
        Some(self.tried(&fix.edits)?.plan)
    }

    /// Whether a plan after edits is accepted and has the same objects as before.
    pub(crate) fn keeps_objects(&self, after: &Plan) -> bool {
        after.admission.accepted && after.objects().map(in_order).eq(self.plan_as_new().objects().map(in_order))
    }

    /// The fix, marked safe if the result is accepted and has the same objects, else unsafe. `None` if the plan can't
    /// be computed.
    pub fn safe_where_objects_stay(&self, fix: Fix) -> Option<Fix> {
        let same = self.keeps_objects(&self.planned_with(&fix)?);
        let applicability = if same { Applicability::Safe } else { Applicability::Unsafe };
        Some(Fix { applicability, ..fix })
    }

    /// Whether the HyperConverged would be accepted and reconciled after edits of its file. `None` if the plan can't be
    /// computed.
    pub(crate) fn succeeds_with(&self, edits: &[Edit]) -> Option<bool> {
        let Some(document) = document_after(self.document(), edits) else {
            // The edits must leave a readable file.
            let is_ours = edits.iter().all(|e| e.file.path() == self.document().file.path());
            let is_broken = || matches!(apply_and_read(self.editable_file(), edits), Err(Reason::Unreadable(_)));
            return (is_ours && is_broken()).then_some(false);
        };
        Some(plan::succeeds(self.release(), self.inventory(), &document.root.to_json()))
    }
}

/// An object with sorted feature gates, since their order has no meaning.
fn in_order(object: &Object) -> (&ObjectId, Cow<'_, Value>) {
    let mut body = Cow::Borrowed(&*object.body);
    let gates = body.pointer(KUBEVIRT_GATES).and_then(Value::as_array);
    if gates.is_some_and(|gates| !gates.is_sorted_by_key(|gate| gate.as_str()))
        && let Some(gates) = body.to_mut().pointer_mut(KUBEVIRT_GATES).and_then(Value::as_array_mut)
    {
        gates.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
    }
    (&object.id, body)
}
