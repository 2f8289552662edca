//! Which clusters are meant: `--cluster` and `--exclude`, compiled.

use globset::{Glob, GlobBuilder, GlobMatcher};

use super::Failure;
use super::arguments::Sources;

/// Compiled patterns.
#[derive(Debug)]
pub(super) struct Selection {
    cluster: Vec<Pattern>,
    exclude: Vec<Pattern>,
}

#[derive(Debug)]
struct Pattern {
    glob: GlobMatcher,
    whole: bool,
}

impl Selection {
    /// Every cluster.
    pub(super) fn everything() -> Self {
        Self {
            cluster: Vec::new(),
            exclude: Vec::new(),
        }
    }

    pub(super) fn new(sources: &Sources) -> Result<Self, Failure> {
        Ok(Self {
            cluster: compile("--cluster", &sources.cluster)?,
            exclude: compile("--exclude", &sources.exclude)?,
        })
    }

    /// Whether every cluster is meant.
    pub(super) fn is_everything(&self) -> bool {
        self.cluster.is_empty() && self.exclude.is_empty()
    }

    /// Whether a cluster is meant.
    pub(super) fn has(&self, cluster: &str) -> bool {
        let any = |patterns: &[Pattern]| patterns.iter().any(|p| p.matches(cluster));
        (self.cluster.is_empty() || any(&self.cluster)) && !any(&self.exclude)
    }

    /// The first `--cluster` pattern that matches none of these names.
    pub(super) fn unmatched<'n>(
        &self,
        names: impl Iterator<Item = &'n str> + Clone,
    ) -> Option<&Glob> {
        let unmatched = |p: &&Pattern| !names.clone().any(|n| p.matches(n));
        self.cluster.iter().find(unmatched).map(|p| p.glob.glob())
    }
}

impl Pattern {
    fn matches(&self, cluster: &str) -> bool {
        let last = cluster.rsplit('/').next().unwrap_or(cluster);
        self.glob.is_match(cluster) || (!self.whole && self.glob.is_match(last))
    }
}

fn compile(argument: &str, patterns: &[String]) -> Result<Vec<Pattern>, Failure> {
    let one = |text: &String| {
        let glob = GlobBuilder::new(text).literal_separator(true).build();
        let glob = glob.map_err(|error| {
            Failure::usage(
                format!("{argument} {text:?} is no pattern: {}", error.kind()),
                "`*` matches within a name's part, `**` across parts",
            )
        })?;
        Ok(Pattern {
            glob: glob.compile_matcher(),
            whole: text.contains('/'),
        })
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
        }
    }

    #[test]
    fn names_match_whole_or_by_their_last_part() {
        let names = ["prod/east", "prod/west", "lab", "lab/east"];
        let chosen = |cluster: &[&str], exclude: &[&str]| {
            let selection = selection(cluster, exclude);
            names
                .into_iter()
                .filter(|n| selection.has(n))
                .collect::<Vec<_>>()
        };
        assert_eq!(chosen(&[], &[]), names);
        assert_eq!(chosen(&["east"], &[]), ["prod/east", "lab/east"]);
        assert_eq!(chosen(&["prod/*"], &[]), ["prod/east", "prod/west"]);
        assert_eq!(
            chosen(&["**/east", "lab"], &["lab/**"]),
            ["prod/east", "lab"]
        );
        assert_eq!(chosen(&[], &["*east"]), ["prod/west", "lab"]);
    }

    #[test]
    fn a_pattern_that_matches_nothing_is_found() {
        let names = ["prod/east"];
        let unmatched = |pattern| {
            let selection = selection(&["east", pattern], &[]);
            selection
                .unmatched(names.into_iter())
                .map(ToString::to_string)
        };
        assert_eq!(unmatched("eats"), Some("eats".to_owned()));
        assert_eq!(unmatched("prod/*"), None);
        assert!(compile("--cluster", &["[".to_owned()]).is_err());
    }
}
