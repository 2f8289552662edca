//! Moves values from patches to fields of the HyperConverged.
//!
//! A move is offered only if the cluster stays the same: the fixed file is planned, and the rendered objects are
//! compared.

use super::prelude::*;
use super::{Applied, Context};

use super::OwnFields;
use super::edit::ANNOTATIONS;
use super::patch::OperationId;

/// Maximum number of operations tried separately, each of which plans the cluster again.
const MAX_TRIED: usize = 32;

/// The operations that fields can replace, and the fix for it.
#[derive(Debug, Default)]
pub(super) struct MovedOperations {
    operations: Vec<OperationId>,
    fix: Option<Fix>,
    /// Operations that weren't tried, because there are too many.
    untried: Vec<OperationId>,
}

/// An operation with the changes that replace it.
struct Candidate {
    id: OperationId,
    /// The field, if there is one.
    field: Option<Path>,
    changes: Vec<Change>,
    /// Whether the HyperConverged sets another value there, which would be lost.
    contradicts: bool,
}

impl Context<'_> {
    /// The fix that moves this and other operations to the HyperConverged's fields. All findings offer the same edits;
    /// an operation whose field has another value is moved separately.
    pub fn move_to_fields(&self, applied: &Applied<'_, '_>) -> Option<&Fix> {
        let moved = self.known.moved.get_or_init(|| {
            let candidates = self.applied().filter(|a| !a.is_contested(self)).filter_map(|a| self.candidate(&a));
            let (contradict, rest): (Vec<_>, Vec<_>) = candidates.partition(|c| c.contradicts);
            [self.try_moves(&rest), self.try_moves(&contradict)]
        });
        if moved.iter().any(|m| m.untried.contains(&applied.id())) {
            self.leave_untried();
        }
        let moved = moved.iter().find(|m| m.operations.contains(&applied.id()))?;
        moved.fix.as_ref()
    }

    fn try_moves(&self, candidates: &[Candidate]) -> MovedOperations {
        let all: Vec<&Candidate> = candidates.iter().collect();
        // Some operations only work together (a field that sets two operands), others fail together.
        self.moved_together(&all).unwrap_or_else(|| {
            let tried = all.iter().take(MAX_TRIED);
            let alone = tried.filter(|c| self.moved_together(&[c]).is_some());
            let alone: Vec<&Candidate> = alone.copied().collect();
            let moved = self.moved_together(&alone).or_else(|| self.moved_together(alone.get(..1)?));
            MovedOperations { untried: all.iter().skip(MAX_TRIED).map(|c| c.id).collect(), ..moved.unwrap_or_default() }
        })
    }

    fn candidate(&self, applied: &Applied<'_, '_>) -> Option<Candidate> {
        let OwnFields { fields, can_say_all: true } = self.own_fields(applied) else {
            return None;
        };
        let field = match fields.as_slice() {
            [only] => Some(only.path.clone()),
            _ => None,
        };
        let changes = fields.iter().filter_map(|f| f.changes.clone()).flatten();
        Some(Candidate {
            id: applied.id(),
            field,
            changes: changes.collect(),
            contradicts: fields.iter().any(|f| f.is_set),
        })
    }

    /// The fix that moves all of these; `None` if the file doesn't allow it or the cluster would change.
    fn moved_together(&self, candidates: &[&Candidate]) -> Option<MovedOperations> {
        let first = candidates.first()?;
        if self.leaves_some(candidates) {
            return None;
        }
        let mut changes: Vec<Change> = Vec::new();
        for change in candidates.iter().flat_map(|c| &c.changes) {
            // The last value of a place is what stays.
            let is_earlier =
                |other: &Change| matches!((other, change), (Change::Set(a, _), Change::Set(b, _)) if a == b);
            changes.retain(|other| !is_earlier(other));
            changes.push(change.clone());
        }
        let title = match (candidates, &first.field) {
            ([_], Some(field)) => format!("move the value to {field}"),
            _ => format!(
                "{} instead of {}",
                changed(&changes),
                match candidates.len() {
                    1 => "the operation".to_owned(),
                    n => format!("{n} operations"),
                }
            ),
        };
        let applicability = if first.contradicts { Applicability::Unsafe } else { Applicability::Safe };
        let removals = self.removals(candidates)?;
        let fix = |first: &[Change], then: &[Change]| self.fix(title.clone(), applicability, &[first, then].concat());
        // Without a `spec`, the order of the changes affects the layout.
        let fix = fix(&removals, &changes).or_else(|| fix(&changes, &removals))?;
        let after = self.planned_with(&fix)?;
        if !(self.plan_as_new().succeeds() && after.succeeds() && self.keeps_objects(&after)) {
            return None;
        }
        Some(MovedOperations {
            operations: candidates.iter().map(|c| c.id).collect(),
            fix: Some(fix),
            ..MovedOperations::default()
        })
    }

    /// Whether other operations that write the same paths remain: field and patch would contradict.
    fn leaves_some(&self, candidates: &[&Candidate]) -> bool {
        let is_moved = |name, index| candidates.iter().any(|c| c.id == (name, index));
        self.patch_annotations().iter().any(|patch| {
            let name = patch.target.name;
            let (moved, left): (Vec<_>, Vec<_>) =
                patch.operations().iter().enumerate().partition(|(index, _)| is_moved(name, *index));
            let left = left.into_iter().filter(|(_, o)| o.op != Op::Test).map(|(_, o)| &o.path);
            // Appending to a list doesn't affect its other items.
            let moved = |left: &str| {
                let mut moved = moved.iter().map(|(_, o)| o.path.as_str()).filter(|path| !path.ends_with("/-"));
                moved.any(|moved| pointer::overlap(left, moved))
            };
            left.into_iter().any(|path| moved(path))
        })
    }

    /// The changes that remove the operations, and annotations without others.
    fn removals(&self, candidates: &[&Candidate]) -> Option<Vec<Change>> {
        let (mut out, mut removed) = (Vec::new(), Vec::new());
        for patch in self.patch_annotations() {
            let name = patch.target.name;
            let indices = candidates.iter().filter(|c| c.id.0 == name).map(|c| c.id.1);
            let indices: Vec<usize> = indices.collect();
            if indices.len() == patch.operations().len() {
                removed.push(name);
            } else if !indices.is_empty() {
                let (text, _) = patch.without(&indices)?;
                out.push(Change::Set(Path::dotted(ANNOTATIONS).key(name), text.into()));
            }
        }
        out.extend(self.annotation_removals(&removed));
        Some(out)
    }
}
