//! Groups equal findings of several clusters that share a file.

use crate::prelude::*;
use hcoplan_diagnostics::finding::Related;
use hcoplan_diagnostics::words::list;
use hcoplan_repository::repo::FileUser;

/// Maximum number of clusters named in a message.
const SHOWN: usize = 10;

/// The clusters built from each file.
pub type FileUsers = BTreeMap<Utf8PathBuf, Vec<FileUser>>;

/// Merges findings that are equal at one location for several clusters. A fix stays applicable only if all clusters
/// that it changes have the finding, and safe only if it is safe for all.
pub fn grouped(findings: Vec<Finding>, users: &FileUsers) -> Vec<Finding> {
    let cluster = findings.first().and_then(|f| f.cluster.clone());
    // Speed: findings of a single cluster can't be merged.
    let mut out = if findings.iter().all(|f| f.cluster == cluster) { findings } else { merged(findings) };
    // Messages may differ by release where the fix is the same.
    let mut asking: BTreeMap<_, (BTreeSet<ClusterName>, Applicability)> = BTreeMap::new();
    for (finding, fix) in out.iter().flat_map(|finding| finding.fixes.iter().map(move |fix| (finding, fix))) {
        let (clusters, least) =
            asking.entry((finding.rule.name, identity(fix))).or_insert_with(|| (BTreeSet::new(), fix.applicability));
        clusters.extend(finding.cluster_names().cloned());
        *least = fix.applicability.max(*least);
    }
    for finding in &mut out {
        let built = finding
            .file()
            .and_then(|file| users.get(file))
            .into_iter()
            .flatten()
            .filter(|(_, origins)| origins.is_some());
        finding.is_of_some = finding.cluster.is_some() && built.count() > finding.cluster_names().count();
        for fix in &mut finding.fixes {
            let changed = changed_clusters(fix, users);
            if changed.len() < 2 {
                continue;
            }
            let Some((known, least)) = asking.get(&(finding.rule.name, identity(fix))) else { continue };
            fix.applicability = *least;
            // The fix would change clusters without the finding.
            if !changed.iter().all(|cluster| known.contains(*cluster)) {
                fix.applicability = Applicability::Suggestion;
            }
            let names: Vec<&str> = changed.iter().map(|name| &***name).collect();
            fix.title = format!("{}, in {}", fix.title, list(&names, SHOWN));
        }
    }
    out
}

/// What a fix edits, for comparing many.
pub(crate) fn identity(fix: &Fix) -> Vec<(Utf8PathBuf, Span, String)> {
    fix.edits.iter().map(|edit| (edit.file.path().to_owned(), edit.span, edit.text.clone())).collect()
}

/// The clusters changed by a fix: those whose build has the edited value.
pub fn changed_clusters<'u>(fix: &Fix, users: &'u FileUsers) -> BTreeSet<&'u ClusterName> {
    fix.edits
        .iter()
        .flat_map(|edit| {
            let path = edit.file.path();
            let users = users.get(path).into_iter().flatten();
            let known = || users.clone().filter_map(|(_, origins)| origins.as_ref());
            // Editing a part of a text changes all of it.
            let part = if known().any(|o| o.has(path, edit.span)) {
                edit.span
            } else {
                let around = known().filter_map(|o| o.part_around(path, edit.span));
                let smallest = around.min_by_key(|s| s.end - s.start);
                smallest.unwrap_or(edit.span)
            };
            // A cluster whose patch replaces the value doesn't change.
            let is_changed = move |(_, origins): &&FileUser| {
                let origins = origins.as_ref();
                edit.span.start == edit.span.end || origins.is_none_or(|o| o.has(path, part))
            };
            users.clone().filter(is_changed).map(|(name, _)| name)
        })
        .collect()
}

/// Merges findings of several clusters, with the fixes common to all.
fn merged(findings: Vec<Finding>) -> Vec<Finding> {
    let mut out: Vec<Finding> = Vec::with_capacity(findings.len());
    for finding in findings {
        let mut near = out.iter_mut().rev();
        let place = |f: &Finding| f.place().map(|(file, span)| (file.to_owned(), span.start));
        // Sorted by location.
        let own = place(&finding);
        let same = near.by_ref().take_while(|f| place(f) == own).find(|f| {
            let is_known = f.cluster_names().any(|c| Some(c) == finding.cluster.as_ref());
            f.is_same_but_for_cluster(&finding) && !is_known
        });
        match same {
            Some(first) => {
                let mut why = finding.not_fixed;
                first.fixes.retain_mut(|fix| {
                    let other = finding.fixes.iter().find(|other| fix.is_same(other));
                    // This fix names the cluster that it breaks.
                    if let Some(other) = other.filter(|o| o.applicability > fix.applicability) {
                        fix.clone_from(other);
                    }
                    if other.is_none() && why.is_none() {
                        let title = &fix.title;
                        let said = format!("can't {title}: not every cluster needs the same edit");
                        why = Some(said.into());
                    }
                    other.is_some()
                });
                first.not_fixed = first.not_fixed.take().or(why);
                first.build_fixes.extend(finding.build_fixes);
                for related in finding.related {
                    let is_there = |known: &Related| known.location.is_same(&related.location);
                    if !first.related.iter().any(is_there) {
                        first.related.push(related);
                    }
                }
                // Omit the object's name if the clusters have different ones.
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
    use hcoplan_diagnostics::source::{Location, Origins, SourceFile};

    use super::*;

    static RULE: Rule = Rule { name: "some-rule", ..Rule::BASE };

    fn place(path: &str) -> Location {
        Location::new(&SourceFile::new(path, "a: no\nb: 1\n"), Span::new(3, 5))
    }

    /// The fixes offered for a value in the base of the clusters `users`, each of which has one of `found`.
    fn offered(users: &[&str], found: &[(&str, Applicability)]) -> Vec<String> {
        let base = place("base/hc.yaml");
        let origins = |_: &&str| {
            let own = vec![(Span::new(0, 9), base.clone())];
            Some(Arc::new(Origins::new(own)))
        };
        let mut of_file: Vec<_> =
            users.iter().map(|n| ((*n).into(), (*n != "broken").then(|| origins(n)).flatten())).collect();
        // This cluster's patch replaces the value.
        let patched = vec![(Span::new(0, 9), place("patched/patch.yaml"))];
        of_file.push(("patched".into(), Some(Arc::new(Origins::new(patched)))));
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
        let names = "say false, in lab and prod";
        assert_eq!(offered(&["lab", "prod"], &both), [format!("Safe: {names}")]);
        // The cluster prod has no finding, so the fix must not change it.
        assert_eq!(offered(&["lab", "prod"], &both[..1]), [format!("Suggestion: {names}")]);
        let mixed = [("lab", Safe), ("prod", Unsafe)];
        assert_eq!(offered(&["lab", "prod"], &mixed), [format!("Unsafe: {names}")]);
        // The effect on a cluster that can't be built is unknown.
        let unknown = ["Suggestion: say false, in broken and lab"];
        assert_eq!(offered(&["broken", "lab"], &both[..1]), unknown);
    }
}
