//! The CI job written by `hcoplan init`.

use camino::Utf8PathBuf;
use clap::ValueEnum;

/// Two workflows: one plans, the other comments the result. A pull request can change the first, so that only the
/// second has a token that can write.
const WORKFLOWS: [(&str, &str); 2] = [
    (".github/workflows/hcoplan.yml", include_str!("../../examples/github/hcoplan.yml")),
    (".github/workflows/hcoplan-comment.yml", include_str!("../../examples/github/hcoplan-comment.yml")),
];
/// A repository has only one such file.
pub(super) const GITLAB_CI: &str = ".gitlab-ci.yml";
const GITLAB_JOB: &str = include_str!("../../examples/gitlab/hcoplan.yml");
/// The commit of this build, set by the release workflow.
const COMMIT: Option<&str> = option_env!("HCOPLAN_COMMIT");
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The CI service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Service {
    /// Two workflows
    Github,
    /// A job in .gitlab-ci.yml
    Gitlab,
}

impl Service {
    /// The files of its jobs.
    pub(super) fn files(self) -> Vec<(Utf8PathBuf, String)> {
        match self {
            Self::Github => {
                WORKFLOWS.into_iter().map(|(path, text)| (Utf8PathBuf::from(path), workflow(text, COMMIT))).collect()
            }
            Self::Gitlab => vec![(GITLAB_CI.into(), GITLAB_JOB.to_owned())],
        }
    }
}

/// Pins the action to a commit if it is known, else to a tag.
fn workflow(text: &str, commit: Option<&str>) -> String {
    let tag = format!("v{VERSION}");
    match commit {
        None => text.to_owned(),
        Some(commit) => text.replace(&format!("@{tag}"), &format!("@{commit} # {tag}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_use_this_release() {
        for (path, text) in WORKFLOWS {
            let uses = |text: &str| {
                let lines = text.lines().filter(|l| l.contains("uses: hcoplan/"));
                lines.map(|l| l.trim().to_owned()).collect::<Vec<_>>()
            };
            let (tagged, known) = (uses(text), uses(&workflow(text, Some("c0ffee"))));
            assert_eq!(tagged.len(), 1, "{path}");
            assert!(tagged[0].ends_with(&format!("@v{VERSION}")), "{path}");
            assert!(known[0].ends_with(&format!("@c0ffee # v{VERSION}")), "{path}: {known:?}");
        }
        assert!(GITLAB_JOB.contains(&format!("hcoplan=={VERSION}]")));
    }
}
