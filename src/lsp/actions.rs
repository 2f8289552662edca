//! Code actions for findings.
//!
//! The edits are those of `hcoplan fix`. They are tried before they are offered, so that the result is as intended and
//! comments are kept.

use crate::prelude::*;
use crate::repo::ClusterRef;

use lsp_types::{CodeActionKind, TextEdit};

use super::analysis::Analysis;
use super::client::{Client, FIX_ALL, QUICK_FIX};
use super::diagnostics::{diagnostic, range};
use super::documents::{Documents, Open};
use super::root::Root;
use crate::finding::{Applicability, Edit, Finding, Fix};
use crate::fix::{Choice, choose, round};
use crate::repo::Repo;
use crate::source::Span;
use crate::yaml::edit::{EditableFile, apply_and_verify, line_edits};
use crate::yaml::{Node, parse};

/// The input for code actions.
pub(super) struct ActionInputs<'s> {
    /// The file, relative to the root.
    pub(super) path: Utf8PathBuf,
    pub(super) root: &'s Root,
    pub(super) analysis: &'s Analysis,
    pub(super) documents: &'s Documents,
    pub(super) client: &'s Client,
}

impl ActionInputs<'_> {
    fn marked(&self, path: &Utf8Path) -> bool {
        let open = self.root.document(self.documents, path);
        open.is_some_and(Open::is_marked)
    }

    fn address(&self, path: &Utf8Path) -> String {
        self.root.address(self.documents, path)
    }

    fn range(&self, edit: &Edit) -> Range {
        let place = crate::source::Location::new(&edit.file, edit.span);
        range(&place, self.client.capabilities, &|path| self.marked(path))
    }

    /// Edits in the protocol's format.
    fn workspace_edit(&self, edits: &[Edit]) -> Value {
        let mut files: Vec<(&Utf8Path, Vec<TextEdit>)> = Vec::new();
        for edit in edits {
            let path = edit.file.path();
            let made = TextEdit::new(self.range(edit), edit.text.clone());
            match files.iter_mut().find(|(p, _)| *p == path) {
                Some((_, edits)) => edits.push(made),
                None => files.push((path, vec![made])),
            }
        }
        if self.client.versioned_edits {
            let change = |(path, edits): (&Utf8Path, Vec<TextEdit>)| {
                let version = self.root.document(self.documents, path).map(|o| o.version);
                let document = json!({"uri": self.address(path), "version": version});
                json!({"textDocument": document, "edits": edits})
            };
            let changes: Vec<Value> = files.into_iter().map(change).collect();
            return json!({"documentChanges": changes});
        }
        let entry = |(path, edits): (&Utf8Path, Vec<TextEdit>)| (self.address(path), json!(edits));
        let changes: serde_json::Map<_, _> = files.into_iter().map(entry).collect();
        json!({"changes": changes})
    }
}

/// The actions for a range of a file. `only` restricts the kinds, including their subkinds.
pub(super) fn actions(inputs: &ActionInputs<'_>, at: Range, only: Option<&[CodeActionKind]>) -> Vec<Value> {
    let wanted = |kind: &str| {
        let below = |k: &CodeActionKind| {
            let rest = kind.strip_prefix(k.as_str());
            rest.is_some_and(|r| r.is_empty() || k.as_str().is_empty() || r.starts_with('.'))
        };
        only.is_none_or(|only| only.iter().any(below))
    };
    let findings = inputs.analysis.findings.iter().filter(|f| {
        let place = f.location.as_ref();
        place.is_some_and(|l| l.file.path() == inputs.path)
    });
    let mut out: Vec<Value> = Vec::new();
    if wanted(QUICK_FIX) {
        let mut suppressions = Vec::new();
        let address = |path: &Utf8Path| inputs.address(path);
        let marked = |path: &Utf8Path| inputs.marked(path);
        let shown = findings.filter_map(|finding| {
            let shown = diagnostic(finding, inputs.client.capabilities, &marked, &address)?;
            touch(shown.range, at).then(|| (shown, finding.clone()))
        });
        let (shown, mut findings): (Vec<_>, Vec<Finding>) = shown.unzip();
        if let Some((clusters, settings)) = &inputs.analysis.open {
            // Fixes that can't be tried aren't offered; the log has the reason.
            let _ = clusters.try_fixes(&mut findings, settings, |_| true);
        }
        for (shown, finding) in shown.iter().zip(&findings) {
            let add = |title: String, edits: &[Edit], preferred: bool, to: &mut Vec<Value>| {
                let mut action = json!({
                    "title": title, "kind": QUICK_FIX, "diagnostics": [shown],
                    "edit": inputs.workspace_edit(edits),
                });
                if preferred {
                    action["isPreferred"] = true.into();
                }
                if !to.contains(&action) {
                    to.push(action);
                }
            };
            for fix in finding.fixes.iter().filter(|f| is_possible(finding, f)) {
                add(title(fix), &fix.edits, fix.applicability == Applicability::Safe, &mut out);
            }
            if let Some(edit) = suppression(inputs, finding) {
                let title = format!("ignore {} here", finding.rule.name);
                add(title, &[edit], false, &mut suppressions);
            }
        }
        out.append(&mut suppressions);
    }
    if wanted(FIX_ALL) && has_safe_fixes(inputs) {
        let mut action = json!({"title": "apply all safe fixes of hcoplan", "kind": FIX_ALL});
        let more = if inputs.client.resolves {
            Some(("data", inputs.address(&inputs.path).into()))
        } else {
            fix_all_edit(inputs).map(|edit| ("edit", edit))
        };
        if let Some((key, value)) = more {
            action[key] = value;
            out.push(action);
        }
    }
    out
}

/// The edit for all safe fixes of the file, as `hcoplan fix --write` applies them.
pub(super) fn fix_all_edit(inputs: &ActionInputs<'_>) -> Option<Value> {
    let job = inputs.root.job_of(inputs.documents);
    let (before, text) = job.apply_safe_fixes(&inputs.path)?;
    Some(inputs.workspace_edit(&line_edits(&before, &text)))
}

fn has_safe_fixes(inputs: &ActionInputs<'_>) -> bool {
    let choices = choose(&inputs.analysis.findings, false);
    choices.iter().any(|c| c.fix.edits.iter().all(|e| e.file.path() == inputs.path))
}

fn title(fix: &Fix) -> String {
    match fix.applicability {
        Applicability::Safe | Applicability::Suggestion => fix.title.clone(),
        Applicability::Unsafe => format!("{} (unsafe)", fix.title),
    }
}

/// Whether a fix has the intended result.
fn is_possible(finding: &Finding, fix: &Fix) -> bool {
    !fix.edits.is_empty() && !round(&[Choice { finding, fix }]).files.is_empty()
}

fn touch(a: Range, b: Range) -> bool {
    a.start <= b.end && b.start <= a.end
}

/// An action that adds a suppression comment on the line above. An error requires a reason, which the author has to
/// write. `None` for a rejection, and where a comment isn't possible or has no effect.
fn suppression(inputs: &ActionInputs<'_>, finding: &Finding) -> Option<Edit> {
    let place = finding.location.as_ref().filter(|_| !finding.rejection)?;
    let file = &place.file;
    let start = place.span.start;
    let parsed = parse(file);
    let document = parsed.documents.iter().find(|d| d.span.has(start))?;
    if !has_suppressions(inputs, file.path(), &document.root) {
        return None;
    }
    // In a multi-line text a `#` is part of the text.
    let start = beginning(&document.root, start).unwrap_or(start) as usize;
    let text = file.text();
    let line = text.get(..start)?.rfind('\n').map_or(0, |at| at + 1);
    let rest = text.get(line..)?;
    let indent: String = rest.chars().take_while(|c| *c == ' ').collect();
    let end = if rest.lines().next().is_some_and(|l| rest.get(l.len()..).is_some_and(|r| r.starts_with("\r\n"))) {
        "\r\n"
    } else {
        "\n"
    };
    let rule = finding.rule.name;
    let edit = Edit {
        file: Arc::clone(file),
        span: Span::new(line, line),
        text: format!("{indent}# hcoplan: ignore[{rule}] TODO: say why{end}"),
    };
    let intended: Vec<Value> = parsed.documents.iter().map(|d| d.root.to_json()).collect();
    let edits = std::slice::from_ref(&edit);
    apply_and_verify(&EditableFile::of(file), edits, &intended).ok().map(|_| edit)
}

/// Whether comments of a document can suppress findings: it is a HyperConverged, an inventory, or another object in a
/// cluster's directory.
fn has_suppressions(inputs: &ActionInputs<'_>, path: &Utf8Path, root: &Node) -> bool {
    let version = root.text_at("apiVersion");
    let kind = root.text_at("kind");
    let mut clusters = inputs.analysis.repo().into_iter().flat_map(Repo::clusters);
    match kind {
        // A HyperConverged with a duplicate name isn't examined.
        _ if version.is_some_and(|v| v.starts_with("hco.kubevirt.io/")) => clusters.any(|c| c.path() == path),
        Some(kind) if kind == "ClusterInventory" || kind.starts_with("Node") => {
            let mut inventories = clusters.flat_map(ClusterRef::inventory_files);
            inventories.any(|p| **p == *path)
        }
        Some(kind) => {
            let built = ["Kustomization", "Component"].contains(&kind);
            !built && clusters.any(|c| path.starts_with(c.directory()))
        }
        None => false,
    }
}

/// The key, or the scalar's first byte, at an offset.
fn beginning(root: &Node, at: u32) -> Option<u32> {
    let path = root.path_around(Span { start: at, end: at + 1 })?;
    let node = root.at(&path).filter(|node| node.is_leaf())?;
    Some(root.key_at(&path).map_or(node.span.start, |key| key.span.start))
}
