//! Moves values from patches to fields of the HyperConverged.
//!
//! A move is offered only if the cluster stays the same: the fixed file is planned, and the rendered objects are
//! compared.

use super::prelude::*;
use super::{Applied, Context};
use hcoplan_planner::plan::{Plan, plan};
use hcoplan_yaml::edit;
use hcoplan_yaml::{self as yaml, Path};

use super::patch::OperationId;
use super::{KUBEVIRT_GATES, OwnFields};
use crate::words::changed;

/// Maximum number of operations tried separately, each of which plans the cluster again.
const MAX_TRIED: usize = 32;

/// The operations that fields can replace, and the fix for it.
#[derive(Debug, Clone, Default)]
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
        let moved = self.moved.get_or_init(|| {
            let candidates = self.applied().filter_map(|a| self.candidate(&a));
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
        let text = self.without_operations(candidates)?;
        let fixed = yaml::parse(&SourceFile::new(self.document().file.path(), text.clone()));
        let object = fixed.documents.get(self.document().index)?.root.to_json();
        let plan = plan(self.release(), self.inventory(), &object);
        if !renders_the_same(self.plan_as_new(), &plan) {
            return None;
        }
        let changes: Vec<Change> = candidates.iter().flat_map(|c| c.changes.iter().cloned()).collect();
        // The last change of a place is what stays.
        let is_last = |nth: usize, change: &Change| match change {
            Change::Set(path, _) => {
                let later = &changes[nth + 1..];
                !later.iter().any(|other| matches!(other, Change::Set(at, _) if at == path))
            }
            _ => true,
        };
        let lasting: Vec<Change> =
            changes.iter().enumerate().filter(|(nth, change)| is_last(*nth, change)).map(|(_, c)| c.clone()).collect();
        let title = match (candidates, &first.field) {
            ([_], Some(field)) => format!("move the value to {field}"),
            _ => format!(
                "{} instead of {}",
                changed(&lasting),
                match candidates.len() {
                    1 => "the operation".to_owned(),
                    n => format!("{n} operations"),
                }
            ),
        };
        let fix = Fix {
            title,
            applicability: if first.contradicts { Applicability::Unsafe } else { Applicability::Safe },
            edits: edit::line_edits(&self.document().file, &text),
        };
        Some(MovedOperations {
            operations: candidates.iter().map(|c| c.id).collect(),
            untried: Vec::new(),
            fix: Some(fix),
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

    /// The file with the fields set and the operations removed.
    fn without_operations(&self, candidates: &[&Candidate]) -> Option<String> {
        let document = self.document();
        let mut gone: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for candidate in candidates {
            gone.entry(candidate.id.0).or_default().push(candidate.id.1);
        }
        let (mut cuts, mut removed) = (Vec::new(), Vec::new());
        for patch in self.patch_annotations() {
            let Some(indices) = gone.get(patch.target.name) else {
                continue;
            };
            if indices.len() == patch.operations().len() {
                removed.push(patch.target.name);
            } else {
                cuts.extend(patch.without(indices)?.1);
            }
        }
        let text = edit::apply(document.file.text(), &cuts).ok()?;
        let file = SourceFile::new(document.file.path(), text);
        let before = &edit::EditableFile::of(&file);
        let document = before.document(document.index)?;
        let set: Vec<Change> = candidates.iter().flat_map(|c| c.changes.clone()).collect();
        let removed = self.annotation_removals(&removed);
        // Without a `spec`, the order of the changes affects the layout.
        let edits = edit::edits_of(before, document, &[&removed[..], &set].concat())
            .or_else(|_| edit::edits_of(before, document, &[&set[..], &removed].concat()))
            .ok()?;
        edit::apply(file.text(), &edits).ok()
    }
}

/// Whether both plans render the same.
fn renders_the_same(a: &Plan, b: &Plan) -> bool {
    a.succeeds()
        && b.succeeds()
        && a.operands.len() == b.operands.len()
        && a.ssp == b.ssp
        && a.topology == b.topology
        && a.operands.iter().zip(&b.operands).all(|((name, one), (other, two))| {
            name == other && one.id == two.id && in_order(&one.body) == in_order(&two.body)
        })
}

/// An object with sorted feature gates, since their order has no meaning.
fn in_order(body: &Arc<Value>) -> Cow<'_, Value> {
    let gates = body.pointer(KUBEVIRT_GATES).and_then(Value::as_array);
    let Some(gates) = gates.filter(|g| !g.is_sorted_by_key(|v| v.as_str())) else {
        return Cow::Borrowed(body);
    };
    let mut gates = gates.clone();
    gates.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
    let mut sorted = Value::clone(body);
    if let Some(place) = sorted.pointer_mut(KUBEVIRT_GATES) {
        *place = gates.into();
    }
    Cow::Owned(sorted)
}
