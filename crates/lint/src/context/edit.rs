//! Fixes: edits of the HyperConverged that leave the rest of the file alone.

use std::cell::Cell;
use std::rc::Rc;

use hcoplan_diagnostics::finding::{Applicability, Fix};
use hcoplan_planner::boot_images::ENABLE_ANNOTATION;
use hcoplan_planner::jsonpatch::{self, Op};
use hcoplan_yaml::Path;
use hcoplan_yaml::edit::{self, Change, EditableFile};

use super::source::Source;
use super::{Context, PatchAnnotation};

/// Where the annotations are.
const ANNOTATIONS: &str = "metadata.annotations";

impl<'a> Context<'a> {
    /// The context with the HyperConverged's file as it was read to load the cluster. Without it,
    /// the file is read again to try edits out.
    #[must_use]
    pub fn with_editable_file(mut self, read: impl Fn() -> EditableFile + 'a) -> Self {
        self.editable_file = Source::new(read);
        self
    }
}

impl Context<'_> {
    /// A fix that makes changes to the HyperConverged; `None` where the way it is written doesn't
    /// allow it.
    pub fn fix(&self, title: impl Into<String>, applicability: Applicability, changes: &[Change]) -> Option<Fix> {
        let before = self.editable_file();
        let edits = edit::edits_of(before, self.document(), changes);
        if edits.is_err() && before.is_spent() {
            self.leave_untried();
        }
        Some(Fix { title: title.into(), applicability, edits: edits.ok()? })
    }

    /// Takes note that a fix of what is reported next isn't tried, as many others were.
    pub fn leave_untried(&self) {
        self.untried.set(true);
    }

    /// Whether that is so.
    pub(crate) fn untried(&self) -> Rc<Cell<bool>> {
        Rc::clone(&self.untried)
    }

    /// The HyperConverged's file, for trying edits out on it.
    pub fn editable_file(&self) -> &EditableFile {
        self.editable_file.get(|| EditableFile::of(&self.document().file))
    }

    /// A suggestion that switches a golden image off: by its annotation where it is written, else
    /// by an entry that names it.
    pub fn switch_image_off(&self, name: &str) -> Option<Fix> {
        let mut written = self.written_templates();
        let change = match written.find(|t| t.name() == name) {
            Some(template) => {
                let annotations = template.path(self).key("metadata").key("annotations");
                Change::Set(annotations.key(ENABLE_ANNOTATION), "false".into())
            }
            None => {
                let off = serde_json::json!({ENABLE_ANNOTATION: "false"});
                let metadata = serde_json::json!({"name": name, "annotations": off});
                let list = self.field("dataImportCronTemplates").path()?;
                Change::Append(list, serde_json::json!({"metadata": metadata}))
            }
        };
        let title = format!("switch {name} off");
        self.fix(title, Applicability::Suggestion, &[change])
    }

    /// The change that takes an annotation away, and `annotations` with the last one.
    pub fn annotation_removal(&self, name: &str) -> Change {
        let annotations = Path::dotted(ANNOTATIONS);
        let node = self.document().root.at(&annotations);
        Change::Remove(match node.map_or(0, |n| n.entries().len()) {
            1 => annotations,
            _ => annotations.key(name),
        })
    }

    /// A fix that takes a jsonpatch annotation away.
    pub fn without_annotation(&self, patch: &PatchAnnotation<'_>, applicability: Applicability) -> Option<Fix> {
        let change = self.annotation_removal(patch.target.name);
        self.fix("remove the annotation", applicability, &[change])
    }

    /// A fix that takes an operation away, and the annotation with the last one.
    pub fn without_operation(
        &self,
        patch: &PatchAnnotation<'_>,
        index: usize,
        applicability: Applicability,
    ) -> Option<Fix> {
        if patch.operations().len() == 1 {
            return self.without_annotation(patch, applicability);
        }
        if patch.shifts_others(index) {
            return None;
        }
        Some(Fix {
            title: format!("remove operation {}", index + 1),
            applicability,
            edits: vec![patch.annotation.edit_part(jsonpatch::removal_range(patch.text, index)?, "")?],
        })
    }
}

impl PatchAnnotation<'_> {
    /// Whether later operations count elements of a list that an operation puts one into, or takes one out of: without
    /// it, or with it elsewhere, their indices mean others.
    pub fn shifts_others(&self, index: usize) -> bool {
        let Some(operation) = self.operations().get(index) else {
            return false;
        };
        let counts = |segment: &str| !segment.is_empty() && segment.bytes().all(|b| b.is_ascii_digit());
        let moved = [Some(&operation.path), operation.from.as_ref().filter(|_| operation.op == Op::Move)];
        let lists = moved.into_iter().flatten().filter_map(|path| path.rsplit_once('/'));
        let inserts = !matches!(operation.op, Op::Test | Op::Replace);
        let lists = lists.filter(|(_, last)| inserts && (*last == "-" || counts(last))).map(|(list, _)| list);
        // A list that is written as a whole is counted, too.
        let whole = (operation.op != Op::Test).then_some(operation.path.as_str());
        let lists: Vec<&str> = lists.chain(whole).collect();
        let later = self.operations().iter().skip(index + 1).flat_map(|o| [Some(&o.path), o.from.as_ref()]).flatten();
        let counts_in = |path: &str, list: &str| {
            let rest = path.strip_prefix(list).and_then(|rest| rest.strip_prefix('/'));
            rest.is_some_and(|rest| counts(rest.split('/').next().unwrap_or_default()))
        };
        later.into_iter().any(|path| lists.iter().any(|list| counts_in(path, list)))
    }
}
