//! Findings that hold for several clusters at one place: what they are about goes into all of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use camino::Utf8PathBuf;

use crate::finding::{Applicability, Finding};
use crate::source::Origins;

/// The most names of clusters in a line.
const SHOWN: usize = 10;

/// Clusters by the files that they are built of, each with what of it is from where.
pub type Users = BTreeMap<Utf8PathBuf, Vec<(String, Arc<Origins>)>>;

/// Each finding once that is the same at one place for several clusters. A fix stays safe only where all
/// clusters that it changes have the same finding and would do it safely.
pub fn grouped(findings: Vec<Finding>, users: &Users) -> Vec<Finding> {
    let mut out: Vec<Finding> = Vec::with_capacity(findings.len());
    for finding in findings {
        let mut near = out.iter_mut().rev();
        let place = |f: &Finding| {
            let place = f.location.as_ref();
            place.map(|l| (l.file.path().to_owned(), l.span.start))
        };
        // They are in the order of their places.
        let own = place(&finding);
        let same = near.by_ref().take_while(|f| place(f) == own).find(|f| {
            let is_known = f.clusters().any(|c| Some(c) == finding.cluster.as_deref());
            f.is_same_but_for_cluster(&finding) && !is_known
        });
        match same {
            Some(first) => {
                first.fixes.retain_mut(|fix| {
                    let other = finding.fixes.iter().find(|other| fix.is_same(other));
                    let worse = other.map(|o| o.applicability);
                    fix.applicability = fix.applicability.max(worse.unwrap_or(fix.applicability));
                    worse.is_some()
                });
                first.also.extend(finding.cluster);
            }
            None => out.push(finding),
        }
    }
    for finding in &mut out {
        for fix in &mut finding.fixes {
            let changed = fix.edits.iter().flat_map(|edit| {
                let path = edit.file.path();
                let users = users.get(path).into_iter().flatten();
                // Where a patch replaces the value, nothing changes.
                let is_changed = move |(_, origins): &&(String, Arc<Origins>)| {
                    edit.span.start == edit.span.end || origins.has(path, edit.span)
                };
                users.filter(is_changed).map(|(name, _)| name.as_str())
            });
            let changed: BTreeSet<&str> = changed.collect();
            if changed.len() < 2 {
                continue;
            }
            let known: BTreeSet<&str> = finding
                .cluster
                .iter()
                .chain(&finding.also)
                .map(String::as_str)
                .collect();
            if fix.applicability == Applicability::Safe && !changed.is_subset(&known) {
                fix.applicability = Applicability::Unsafe;
            }
            let names: Vec<&str> = changed.iter().copied().take(SHOWN).collect();
            let more = match changed.len().saturating_sub(SHOWN) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            fix.title = format!("{}, in {}{more}", fix.title, names.join(", "));
        }
    }
    out
}
