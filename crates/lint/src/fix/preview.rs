//! The lines that a fix would change.

use crate::prelude::*;
use hcoplan_diagnostics::secret::masked_file_text;
use hcoplan_yaml::edit::{apply, line_edits};

use super::round::by_file;

/// A line that would go or come.
#[derive(Debug, PartialEq, Eq)]
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
    let mut out = Vec::new();
    for edits in by_file(&fix.edits).values() {
        let file = &edits[0].file;
        if let Ok(after) = apply(file.text(), edits) {
            lines(file, &SourceFile::new(file.path(), after), &mut out);
        }
    }
    out
}

fn lines(file: &SourceFile, after: &SourceFile, out: &mut Vec<Line>) {
    let path: Arc<str> = file.path().as_str().into();
    let before = SourceFile::new(file.path(), &*masked_file_text(file));
    for edit in line_edits(&before, &masked_file_text(after)) {
        out.push(Line::At(Arc::clone(&path), before.position(edit.span.start).line as usize));
        out.extend(before.text()[edit.span.range()].lines().map(|line| Line::Gone(line.to_owned())));
        out.extend(edit.text.lines().map(|line| Line::New(line.to_owned())));
    }
}
