//! Applies all safe fixes to every recorded case: the plan stays the same, no fixable finding remains, and no comment
//! is lost.

use std::cell::RefCell;
use std::path::Path;

use hcoplan_testing::recordings;
use hcoplan_yaml::Path as YamlPath;
use rayon::prelude::*;
use serde_json::Value;

use super::claims::{CHANGE_WHAT_IS_RENDERED, seen};
use super::fixes::{Commented, NOT_WITH_COMMENTS, apply_safe_fixes, comment, read};
use super::golden::{recorded, sets};
use super::load::Case;
use crate::Settings;

/// The errors of a case's safe fixes, and the number of fixes.
fn look(set: &Path, release: &str, name: &str) -> (usize, Vec<String>) {
    let dir = set.join("cases").join(name);
    let Some(before) = Case::read(&dir, Some(release)) else {
        return (0, Vec::new());
    };
    let commented = RefCell::new(Vec::new());
    let settings = Settings::default();
    let fixed = apply_safe_fixes(&dir, Some(release), &settings, |dir| {
        *commented.borrow_mut() = comment(dir);
    });
    // A fix without comments isn't applied if one would be lost.
    let keeps_comments = |complaint: &String| {
        let rule = complaint.split(':').next().unwrap_or_default();
        NOT_WITH_COMMENTS.contains(&rule)
    };
    let mut wrong = fixed.complaints;
    wrong.retain(|complaint| !keeps_comments(complaint));
    let after = Case::read(fixed.directory.path(), Some(release)).expect("still one");
    let changes = fixed.applied.iter().any(|rule| CHANGE_WHAT_IS_RENDERED.contains(rule));
    if before.plan.succeeds() && !changes && seen(&before.plan) != seen(&after.plan) {
        wrong.push(format!("changes what is rendered: {:?}", fixed.applied));
    }
    if before.plan.succeeds() && !after.plan.succeeds() {
        wrong.push(format!("doesn't go through any more: {:?}", fixed.applied));
    }
    let moves = fixed.applied.iter().any(|r| NOT_WITH_COMMENTS.contains(r));
    let (_, was) = read(&dir);
    let (text, is) = read(fixed.directory.path());
    for Commented { path, comment } in commented.into_inner() {
        let value = path.get(&is);
        let same = value.is_some() && value == path.get(&was);
        let stays = same && lists_are_as_long(&path, &was, &is);
        if stays && !moves && !text.contains(&comment) {
            wrong.push(format!("the comment at {path} is lost"));
        }
    }
    let wrong = wrong.into_iter().map(|w| format!("{release} {name}: {w}"));
    (fixed.applied.len(), wrong.collect())
}

/// Whether all lists on a path have the same length, so that its indexes mean the same elements.
fn lists_are_as_long(path: &YamlPath, was: &Value, is: &Value) -> bool {
    (0..path.0.len()).all(|end| {
        let above = YamlPath(path.0[..end].to_vec());
        match (above.get(was), above.get(is)) {
            (Some(Value::Array(was)), Some(Value::Array(is))) => was.len() == is.len(),
            _ => true,
        }
    })
}

#[test]
fn safe_fixes_together_keep_what_every_recorded_manifest_brings_about() {
    let cases = recorded(&sets(recordings().as_deref()));
    let found: Vec<(usize, Vec<String>)> = cases
        .par_iter()
        .map(|(set, release, expected)| look(set, release, expected["case"].as_str().expect("a name")))
        .collect();
    let applied: usize = found.iter().map(|(applied, _)| applied).sum();
    let wrong: Vec<String> = found.into_iter().flat_map(|(_, wrong)| wrong).collect();
    eprintln!("{applied} safe fixes applied to {} manifests", cases.len());
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(applied > 0, "no case has a safe fix");
}
