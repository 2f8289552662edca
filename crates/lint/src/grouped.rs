//! Findings that several clusters share at one location, because they share the file.

use std::collections::{BTreeMap, BTreeSet};

use camino::Utf8PathBuf;
use hcoplan_diagnostics::finding::{Applicability, Finding, Fix};
use hcoplan_repository::repo::FileUser;

/// The most names of clusters in a line.
const SHOWN: usize = 10;

/// Clusters by the files that they are built of.
pub type FileUsers = BTreeMap<Utf8PathBuf, Vec<FileUser>>;

/// Each finding once that is the same at one place for several clusters. A fix is applied only where all clusters
/// that it changes have the same finding, and is safe where all would do it safely.
pub fn grouped(findings: Vec<Finding>, users: &FileUsers) -> Vec<Finding> {
    let cluster = findings.first().and_then(|f| f.cluster.clone());
    // One cluster can have a great many findings; they stay as they are.
    let mut out = if findings.iter().all(|f| f.cluster == cluster) { findings } else { merged(findings) };
    for finding in &mut out {
        for fix in &mut finding.fixes {
            let changed = changed_clusters(fix, users);
            if changed.len() < 2 {
                continue;
            }
            let known: BTreeSet<&str> = {
                let first = finding.cluster.iter();
                first.chain(&finding.also).map(|name| &**name).collect()
            };
            // What another cluster reads from the file would change there, too: nobody asked for that.
            if !changed.is_subset(&known) {
                fix.applicability = Applicability::Suggestion;
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

/// The clusters that a fix changes: those in whose build what it edits is found.
pub fn changed_clusters<'u>(fix: &Fix, users: &'u FileUsers) -> BTreeSet<&'u str> {
    fix.edits
        .iter()
        .flat_map(|edit| {
            let path = edit.file.path();
            let users = users.get(path).into_iter().flatten();
            let known = || users.clone().filter_map(|(_, origins)| origins.as_ref());
            // Of a text of which a part changes, all of it counts.
            let part = if known().any(|o| o.has(path, edit.span)) {
                edit.span
            } else {
                let around = known().filter_map(|o| o.part_around(path, edit.span));
                let smallest = around.min_by_key(|s| s.end - s.start);
                smallest.unwrap_or(edit.span)
            };
            // Where a patch replaces the value, nothing changes.
            let is_changed = move |(_, origins): &&FileUser| {
                let origins = origins.as_ref();
                edit.span.start == edit.span.end || origins.is_none_or(|o| o.has(path, part))
            };
            users.clone().filter(is_changed).map(|(name, _)| name.as_str())
        })
        .collect()
}

/// Each finding of several clusters once, with the fixes that all of them have.
fn merged(findings: Vec<Finding>) -> Vec<Finding> {
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
                let mut why = finding.not_fixed;
                first.fixes.retain_mut(|fix| {
                    let other = finding.fixes.iter().find(|other| fix.is_same(other));
                    let worse = other.map(|o| o.applicability);
                    // It names the cluster that it breaks.
                    if let Some(other) = other.filter(|o| o.applicability > fix.applicability) {
                        fix.clone_from(other);
                    }
                    if worse.is_none() && why.is_none() {
                        let title = &fix.title;
                        let said = format!("can't {title}: not every cluster needs the same edit");
                        why = Some(said.into());
                    }
                    worse.is_some()
                });
                first.not_fixed = first.not_fixed.take().or(why);
                first.build_fixes.extend(finding.build_fixes);
                // What is called otherwise in each cluster has no name here.
                if first.object != finding.object {
                    first.object = first.kind_of_object().map(Into::into);
                }
                first.also.extend(finding.cluster);
            }
            None => out.push(finding),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use hcoplan_diagnostics::finding::Rule;
    use hcoplan_diagnostics::source::{Location, Origins, SourceFile, Span};

    use super::*;

    static RULE: Rule = Rule { name: "some-rule", ..Rule::BASE };

    fn place(path: &str) -> Location {
        Location::new(&SourceFile::new(path, "a: no\nb: 1\n"), Span::new(3, 5))
    }

    /// What is offered for the value of a base that goes into the clusters `users`, where each of `found` is
    /// offered to change it.
    fn offered(users: &[&str], found: &[(&str, Applicability)]) -> Vec<String> {
        let base = place("base/hc.yaml");
        let origins = |_: &&str| {
            let own = vec![(Span::new(0, 9), base.clone())];
            Some(Arc::new(Origins::new(own)))
        };
        let mut of_file: Vec<_> =
            users.iter().map(|n| ((*n).to_owned(), (*n != "broken").then(|| origins(n)).flatten())).collect();
        // A patch of this one replaces the value.
        let patched = vec![(Span::new(0, 9), place("patched/patch.yaml"))];
        of_file.push(("patched".to_owned(), Some(Arc::new(Origins::new(patched)))));
        let users = FileUsers::from([("base/hc.yaml".into(), of_file)]);
        let findings = found.iter().map(|(cluster, applicability)| {
            let fix = Fix::edit("say false", *applicability, base.clone(), "false");
            let finding = Finding::new(&RULE, "no is no").at(base.clone()).fix(fix);
            Finding { cluster: Some((*cluster).into()), ..finding }
        });
        let grouped = grouped(findings.collect(), &users);
        let fixes = grouped.iter().flat_map(|f| &f.fixes);
        fixes.map(|fix| format!("{:?}: {}", fix.applicability, fix.title)).collect()
    }

    #[test]
    fn a_fix_is_safe_only_where_it_is_for_all_clusters_that_it_changes() {
        use Applicability::{Safe, Unsafe};
        let both = [("lab", Safe), ("prod", Safe)];
        assert_eq!(offered(&["lab"], &both[..1]), ["Safe: say false"]);
        let names = "say false, in lab, prod";
        assert_eq!(offered(&["lab", "prod"], &both), [format!("Safe: {names}")]);
        // prod has no such finding: what the fix would change there is not known to be wrong.
        assert_eq!(offered(&["lab", "prod"], &both[..1]), [format!("Suggestion: {names}")]);
        let mixed = [("lab", Safe), ("prod", Unsafe)];
        assert_eq!(offered(&["lab", "prod"], &mixed), [format!("Unsafe: {names}")]);
        // Nobody knows what it does to a cluster that can't be built.
        let unknown = ["Suggestion: say false, in broken, lab"];
        assert_eq!(offered(&["broken", "lab"], &both[..1]), unknown);
    }
}
