//! Fixes: edits of the HyperConverged that keep the rest of the file.

use super::prelude::*;
use super::{Context, PatchAnnotation};
use std::cell::Cell;
use std::fmt::Display;

use hcoplan_planner::boot_images::ENABLE_ANNOTATION;
use hcoplan_yaml::edit::{self};

/// The path of annotations.
pub(super) const ANNOTATIONS: &str = "metadata.annotations";

impl Context<'_> {
    /// A fix that changes the HyperConverged; `None` without a change, or if its notation doesn't allow it.
    pub fn fix(&self, title: impl Into<String>, applicability: Applicability, changes: &[Change]) -> Option<Fix> {
        let before = self.editable_file();
        let edits = edit::edits_of(before, self.document(), changes);
        if edits.is_err() && before.is_spent() {
            self.leave_untried();
        }
        Some(Fix { title: title.into(), applicability, edits: edits.ok().filter(|edits| !edits.is_empty())? })
    }

    /// A suggestion that changes the HyperConverged.
    pub fn suggest(&self, title: impl Into<String>, changes: &[Change]) -> Option<Fix> {
        self.fix(title, Applicability::Suggestion, changes)
    }

    /// A suggestion that is named after its changes, and what follows.
    pub fn suggest_change(&self, more: impl Display, changes: &[Change]) -> Option<Fix> {
        self.suggest(format!("{}{more}", changed(changes)), changes)
    }

    /// Adds a fix that is named after its changes, and what follows, to a finding.
    pub fn with_change(
        &self,
        finding: Finding,
        more: impl Display,
        applicability: Applicability,
        changes: &[Change],
    ) -> Finding {
        self.with_fix(finding, format!("{}{more}", changed(changes)), applicability, changes)
    }

    /// Adds a fix to a finding, and its title as the help.
    pub fn with_fix(
        &self,
        finding: Finding,
        title: String,
        applicability: Applicability,
        changes: &[Change],
    ) -> Finding {
        let fix = self.fix(title.clone(), applicability, changes);
        finding.remedy(title, fix)
    }

    /// Records that a fix of the next finding wasn't tried, because many others were.
    pub fn leave_untried(&self) {
        self.untried.set(true);
    }

    /// Whether a fix wasn't tried.
    pub(crate) fn untried(&self) -> Rc<Cell<bool>> {
        Rc::clone(&self.untried)
    }

    /// The HyperConverged's file, for trying edits.
    pub fn editable_file(&self) -> &EditableFile {
        let read = || self.site.editable_file().unwrap_or_else(|| EditableFile::of(&self.document().file));
        self.known.editable_file.get_or_init(read)
    }

    /// A fix that is named after its changes.
    pub fn change(&self, applicability: Applicability, changes: &[Change]) -> Option<Fix> {
        self.fix(changed(changes), applicability, changes)
    }

    /// A suggestion that disables a golden image: by its annotation if it is written, else by a new entry.
    pub fn switch_image_off(&self, name: &str) -> Option<Fix> {
        let mut written = self.written_templates();
        let change = match written.find(|t| t.name() == name) {
            Some(template) => {
                let annotations = template.path(self).below(ANNOTATIONS);
                Change::Set(annotations.key(ENABLE_ANNOTATION), "false".into())
            }
            None => {
                let off = json!({ENABLE_ANNOTATION: "false"});
                let metadata = json!({"name": name, "annotations": off});
                let list = self.field("dataImportCronTemplates").path()?;
                Change::Append(list, json!({"metadata": metadata}))
            }
        };
        self.suggest_change(format!(" to switch {name} off"), &[change])
    }

    /// The changes that remove annotations, and `annotations` with the last one.
    pub fn annotation_removals(&self, names: &[&str]) -> Vec<Change> {
        let annotations = Path::dotted(ANNOTATIONS);
        let there = self.root().at(&annotations);
        if !names.is_empty() && there.is_some_and(|n| n.entries().len() == names.len()) {
            return vec![Change::Remove(annotations)];
        }
        names.iter().map(|name| Change::Remove(annotations.key(name))).collect()
    }

    /// A fix that removes a jsonpatch annotation.
    pub fn without_annotation(&self, patch: &PatchAnnotation<'_>, applicability: Applicability) -> Option<Fix> {
        let name = patch.target.name;
        self.fix(format!("remove the annotation {name}"), applicability, &self.annotation_removals(&[name]))
    }

    /// A fix that removes an operation, and the annotation with the last one.
    pub fn without_operation(
        &self,
        patch: &PatchAnnotation<'_>,
        index: usize,
        applicability: Applicability,
    ) -> Option<Fix> {
        let operation = patch.operations().get(index)?;
        if patch.operations().len() == 1 {
            return self.without_annotation(patch, applicability);
        }
        if patch.shifts_others(index) {
            return None;
        }
        Some(Fix {
            title: format!("remove operation {}, `{}`", index + 1, operation.path),
            applicability,
            edits: patch.without(&[index])?.1,
        })
    }
}

impl PatchAnnotation<'_> {
    /// Whether later operations use indexes of a list that the operation inserts into or removes from: without it their
    /// indexes would have another meaning.
    pub fn shifts_others(&self, index: usize) -> bool {
        let Some(operation) = self.operations().get(index) else {
            return false;
        };
        let counts = |segment: &str| !segment.is_empty() && is_digits(segment);
        let moved = [Some(&operation.path), operation.from.as_ref().filter(|_| operation.op == Op::Move)];
        let lists = moved.into_iter().flatten().filter_map(|path| path.rsplit_once('/'));
        let inserts = !matches!(operation.op, Op::Test | Op::Replace);
        let lists = lists.filter(|(_, last)| inserts && (*last == "-" || counts(last))).map(|(list, _)| list);
        // Replacing a whole list also affects indexes.
        let whole = (operation.op != Op::Test).then_some(operation.path.as_str());
        let lists: Vec<&str> = lists.chain(whole).collect();
        let later = self.operations().iter().skip(index + 1).flat_map(|o| [Some(&o.path), o.from.as_ref()]).flatten();
        let counts_in = |path: &str, list: &str| {
            let rest = path.strip_prefix(list).and_then(|rest| rest.strip_prefix('/'));
            rest.is_some_and(|rest| counts(first_part(rest, '/')))
        };
        later.into_iter().any(|path| lists.iter().any(|list| counts_in(path, list)))
    }
}
