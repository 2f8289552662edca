//! The selected clusters: `--cluster` and `--exclude`.

use super::sources::Sources;
use crate::failure::Failure;
use crate::prelude::*;
use globset::{Glob, GlobBuilder, GlobMatcher};
use hcoplan_diagnostics::finding::nearest;
use hcoplan_diagnostics::words::list;

/// The names of all clusters, including those not planned or not selected.
pub fn names(repo: &Repo) -> impl Iterator<Item = ClusterName> + Clone {
    let built = repo.clusters().iter().map(|c| c.name().clone());
    let unplanned = repo.not_planned().into_iter().map(|(name, _)| name);
    let unplanned = unplanned.filter(|name| !repo.clusters().iter().any(|c| c.name() == name));
    built.chain(unplanned.collect::<Vec<_>>()).chain(repo.skipped_builds())
}

/// Compiled patterns.
#[derive(Debug, Clone)]
pub(super) struct Selection {
    cluster: Vec<Pattern>,
    exclude: Vec<Pattern>,
    /// Clusters below the given directory, unless that is the root.
    only: Option<BTreeSet<ClusterName>>,
}

/// Matches a name or its last segments, since output omits a common directory.
#[derive(Debug, Clone)]
struct Pattern {
    glob: GlobMatcher,
}

impl Selection {
    /// Every cluster.
    pub(super) fn everything() -> Self {
        Self { cluster: Vec::new(), exclude: Vec::new(), only: None }
    }

    pub(super) fn new(sources: &Sources) -> Result<Self, Failure> {
        Ok(Self {
            cluster: compile("--cluster", &sources.cluster)?,
            exclude: compile("--exclude", &sources.exclude)?,
            only: None,
        })
    }

    /// The clusters to build.
    pub(super) fn to_build(&self) -> ClusterFilter {
        let selection = self.clone();
        ClusterFilter::new(move |name| selection.has(name))
    }

    /// Restricts to clusters in or below a directory, in a file, or built from one, including those that can't be
    /// built.
    pub(super) fn only_below(&mut self, below: &Utf8Path, repo: &Repo) {
        let clusters = repo.clusters().iter();
        let clusters = clusters.filter(|c| repo.is_within(c, below));
        let unbuilt = repo.unbuilt(Some(below)).into_iter();
        let is_here = |f: &Finding| f.file().is_some_and(|file| file.starts_with(below));
        let unparsed = repo.not_planned().into_iter().filter(|(_, finding)| is_here(finding));
        let unbuilt = unbuilt.chain(unparsed).map(|(name, _)| name);
        let here = clusters.map(|c| c.name().clone());
        self.only = Some(here.chain(unbuilt).collect());
    }

    /// Restricts to the clusters that any of these files and directories belongs to.
    pub(super) fn only_of(&mut self, paths: &[Utf8PathBuf], repo: &Repo) {
        let mut only = BTreeSet::new();
        for path in paths {
            self.only_below(path, repo);
            only.extend(self.only.take().unwrap_or_default());
            only.extend(repo.users_of(path).into_iter().map(|c| c.name().clone()));
        }
        self.only = Some(only);
    }

    /// Whether every cluster is selected, a removed one, too.
    pub(super) fn is_everything(&self) -> bool {
        self.only.is_none() && self.has_lost()
    }

    /// Whether a cluster of an earlier state, in any directory, would be selected.
    pub(super) fn has_lost(&self) -> bool {
        self.cluster.is_empty() && self.exclude.is_empty()
    }

    /// Whether a cluster is selected.
    pub(super) fn has(&self, cluster: &ClusterName) -> bool {
        let any = |patterns: &[Pattern]| patterns.iter().any(|p| p.matches(cluster));
        let is_below = self.only.as_ref().is_none_or(|only| only.contains(cluster));
        is_below && (self.cluster.is_empty() || any(&self.cluster)) && !any(&self.exclude)
    }

    /// The first `--cluster` pattern that matches none of these names.
    pub(super) fn unmatched(&self, names: impl Iterator<Item = ClusterName> + Clone) -> Option<&Glob> {
        self.cluster.iter().find(|p| !names.clone().any(|n| p.matches(&n))).map(|p| p.glob.glob())
    }
}

impl Pattern {
    fn matches(&self, cluster: &ClusterName) -> bool {
        cluster.typed().into_iter().flat_map(last_parts).any(|part| self.glob.is_match(part))
    }
}

/// `a/b/c`, `b/c`, `c`.
pub(super) fn last_parts(name: &str) -> impl Iterator<Item = &str> {
    let behind = name.match_indices('/').filter_map(|(at, _)| name.get(at + 1..));
    std::iter::once(name).chain(behind)
}

/// A cluster's name as given on the command line, which may be a path.
pub fn typed(name: &str) -> &str {
    name.trim_start_matches("./").trim_end_matches('/')
}

/// The cluster with a name, or with unique last segments.
///
/// # Errors
/// If none or several match.
pub fn cluster_named<'c>(repo: &'c Repo, name: &str) -> Result<&'c ClusterRef, Failure> {
    let clusters = repo.clusters();
    let name = typed(name);
    if let Some(exact) = clusters.iter().find(|c| c.name().typed().contains(&name)) {
        return Ok(exact);
    }
    match clusters.iter().filter(|c| last_parts(c.name()).any(|part| part == name)).collect::<Vec<_>>().as_slice() {
        [only] => Ok(only),
        [] => {
            let known: Vec<String> = names(repo).map(|name| name.to_string()).collect();
            let parts = known.iter().flat_map(|name| [Some(&**name), name.rsplit('/').next()]);
            let help = match nearest(name, parts.flatten()) {
                Some(near) => format!("did you mean {near}?"),
                None if known.is_empty() => "none could be read".to_owned(),
                None => format!("the clusters are {}", list(&known, 10)),
            };
            Err(Failure::usage(format!("there is no cluster {name:?}"), help))
        }
        several => Err(Failure::usage(
            format!("there are {} clusters {name:?}", several.len()),
            format!("say which: {}", list(&several.iter().map(|c| &**c.name()).collect::<Vec<_>>(), 10)),
        )),
    }
}

fn compile(argument: &str, patterns: &[String]) -> Result<Vec<Pattern>, Failure> {
    let one = |text: &String| {
        let glob = GlobBuilder::new(typed(text)).literal_separator(true).build();
        let glob = glob.map_err(|error| {
            Failure::usage(
                format!("{argument} {text:?} isn't a pattern: {}", error.kind()),
                "`*` matches within a name's part, `**` across parts",
            )
        })?;
        Ok(Pattern { glob: glob.compile_matcher() })
    };
    patterns.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selection(cluster: &[&str], exclude: &[&str]) -> Selection {
        let owned = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
        Selection {
            cluster: compile("--cluster", &owned(cluster)).expect("patterns"),
            exclude: compile("--exclude", &owned(exclude)).expect("patterns"),
            only: None,
        }
    }

    #[test]
    fn patterns_match_whole_names_or_their_last_parts() {
        let names = ["prod/east", "prod/west", "lab", "lab/east"];
        let chosen = |cluster: &[&str], exclude: &[&str]| {
            let selection = selection(cluster, exclude);
            names.into_iter().filter(|n| selection.has(&(*n).into())).collect::<Vec<_>>()
        };
        assert_eq!(chosen(&[], &[]), names);
        assert_eq!(chosen(&["east"], &[]), ["prod/east", "lab/east"]);
        assert_eq!(chosen(&["prod/*"], &[]), ["prod/east", "prod/west"]);
        assert_eq!(chosen(&["**/east", "lab"], &["lab/**"]), ["prod/east", "lab"]);
        assert_eq!(chosen(&[], &["*east"]), ["prod/west", "lab"]);
        // Names as printed without a common directory, and as completed by a shell.
        let deep = selection(&["moc/smaug", "./lab/"], &[]);
        let meant = ["overlays/moc/smaug", "lab", "overlays/emea/smaug"].map(|n| deep.has(&n.into()));
        assert_eq!(meant, [true, true, false]);
    }

    #[test]
    fn reports_a_pattern_that_matches_nothing() {
        let names = ["prod/east"];
        let unmatched = |pattern| {
            let selection = selection(&["east", pattern], &[]);
            selection.unmatched(names.into_iter().map(ClusterName::from)).map(ToString::to_string)
        };
        assert_eq!(unmatched("eats"), Some("eats".to_owned()));
        assert_eq!(unmatched("prod/*"), None);
        assert!(compile("--cluster", &["[".to_owned()]).is_err());
    }
}
