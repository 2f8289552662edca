//! The lines that a fix would change.

use crate::prelude::*;
use hcoplan_diagnostics::secret::masked_file_text;
use hcoplan_yaml::edit::apply;
use similar::{ChangeTag, TextDiff};

/// A line that would go or come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// Those that follow are in this file, from this line on (1-based).
    At(Arc<str>, usize),
    /// It would go.
    Gone(String),
    /// It would come.
    New(String),
}

/// The lines that a fix would change; empty where its edits don't fit.
pub fn preview(fix: &Fix) -> Vec<Line> {
    let mut files: Vec<&Arc<SourceFile>> = Vec::new();
    for edit in &fix.edits {
        if !files.iter().any(|f| f.path() == edit.file.path()) {
            files.push(&edit.file);
        }
    }
    let mut out = Vec::new();
    for file in files {
        let edits = fix.edits.iter().filter(|e| e.file.path() == file.path());
        let edits: Vec<Edit> = edits.cloned().collect();
        if let Ok(text) = apply(file.text(), &edits) {
            lines(file, &SourceFile::new(file.path(), text), &mut out);
        }
    }
    out
}

fn lines(file: &SourceFile, after: &SourceFile, out: &mut Vec<Line>) {
    let (before, after) = (masked_file_text(file), masked_file_text(after));
    let diff = TextDiff::from_lines(&*before, &*after);
    let path: Arc<str> = file.path().as_str().into();
    let mut line = 1;
    let mut open = false;
    for change in diff.iter_all_changes() {
        let text = || change.value().trim_end_matches(['\r', '\n']).to_owned();
        if change.tag() != ChangeTag::Equal && !open {
            out.push(Line::At(Arc::clone(&path), line));
        }
        open = change.tag() != ChangeTag::Equal;
        match change.tag() {
            ChangeTag::Equal => line += 1,
            ChangeTag::Delete => {
                line += 1;
                out.push(Line::Gone(text()));
            }
            ChangeTag::Insert => out.push(Line::New(text())),
        }
    }
}
