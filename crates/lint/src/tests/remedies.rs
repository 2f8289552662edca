//! Checks that what a finding proposes is what its fixes do: the help line is their titles, and each title names
//! something that its edit writes or removes. Where there is no edit, the page's remedy is tried (`page_examples`).

use std::collections::BTreeSet;

use hcoplan_diagnostics::finding::{Edit, Finding, Fix};
use rayon::prelude::*;

use super::fixtures::{directories, everything};
use super::load::Case;
use crate::words::or;
use crate::{Settings, rules};

/// Whether a title names a word that the edit writes, or removes without writing it again.
fn names_its_edit(fix: &Fix) -> bool {
    let parts = |text: &str| -> BTreeSet<String> {
        let parts = text.split(|c: char| !(c.is_alphanumeric() || "-_".contains(c)));
        parts.filter(|part| !part.is_empty()).map(str::to_lowercase).collect()
    };
    let written = fix.edits.iter().map(|e| e.text.as_str()).collect::<Vec<_>>().join(" ");
    let removed = fix.edits.iter().map(|e| &e.file.text()[e.span.range()]).collect::<Vec<_>>().join(" ");
    let plain = |edit: &Edit| {
        let text = edit.text.replace('\\', "");
        let inner = text.trim().trim_matches(['"', '\'']);
        // An empty text is named by its quotes.
        if inner.is_empty() { text.trim() } else { inner }.to_owned()
    };
    let is_text = fix.edits.iter().map(plain).any(|text| !text.is_empty() && fix.title.contains(&text));
    // What is moved is written as it was, or its indentation is all that changes.
    let is_move = fix.title.starts_with("move ") || fix.title.starts_with("put ") || fix.title.contains(" instead of ");
    let (written, removed) = (parts(&written), parts(&removed));
    let is_changed = |word: &String| written.contains(word) != removed.contains(word);
    let is_moved = |word: &String| is_move && (written.contains(word) || written.is_empty() && removed.is_empty());
    is_text || parts(&fix.title).iter().any(|word| is_changed(word) || is_moved(word))
}

#[test]
fn help_is_what_the_fixes_do() {
    let settings = Settings { select: everything().collect(), ..Settings::default() };
    let all: Vec<_> =
        rules().iter().flat_map(|r| directories(r.rule, "bad").into_iter().map(|d| (r.rule, d))).collect();
    let found = all.par_iter().filter_map(|(rule, directory)| {
        let findings = Case::read(directory, None)?.lint(&settings);
        Some(findings.into_iter().filter(|f| f.rule.name == rule.name).collect::<Vec<_>>())
    });
    let found: Vec<Finding> = found.flatten().filter(|f| !f.fixes.is_empty()).collect();
    let wrong = found.iter().flat_map(|f| {
        let titles: Vec<&str> = f.fixes.iter().map(|fix| fix.title.as_str()).collect();
        let other = (f.help.as_deref() != Some(&*or(&titles))).then(|| format!("{}: {:?}", f.rule.name, f.help));
        let nameless = f.fixes.iter().filter(|fix| !names_its_edit(fix));
        let nameless = nameless.map(|fix| {
            format!(
                "{}: {} doesn't name what it edits: {:?}",
                f.rule.name,
                fix.title,
                fix.edits.iter().map(|e| &*e.text).collect::<Vec<_>>()
            )
        });
        other.into_iter().chain(nameless).collect::<Vec<_>>()
    });
    let wrong: BTreeSet<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", Vec::from_iter(wrong).join("\n"));
    assert!(found.len() > 200, "{} findings with a fix", found.len());
}
