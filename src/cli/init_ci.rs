//! The CI job written by `hcoplan init`.
use crate::prelude::*;
use crate::source::SourceFile;
use hcoplan_yaml::{Node, parse_yaml};
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
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum Service {
    /// Two workflows
    Github,
    /// A job in .gitlab-ci.yml
    Gitlab,
}

impl Service {
    /// The files of its jobs, for a repository with this main branch, if known.
    pub(super) fn files(self, main: Option<&str>) -> Vec<(Utf8PathBuf, String)> {
        let stated = main.map(|main| format!("branches: [{main}]"));
        let written = |text: &str| {
            let text = workflow(text, COMMIT);
            stated.as_ref().map_or(text.clone(), |branches| text.replace(DEFAULT_BRANCH, branches))
        };
        match self {
            Self::Github => WORKFLOWS.into_iter().map(|(path, text)| (path.into(), written(text))).collect(),
            Self::Gitlab => vec![(GITLAB_CI.into(), job(COMMIT))],
        }
    }
}

/// What the examples say of the main branch.
const DEFAULT_BRANCH: &str = "branches: [main] # your default branch";

/// GitLab's job for an existing file: the stage of a job without one has to be there.
pub(super) fn in_a_stage(job: &str, now: &str) -> String {
    let documents = parse_yaml(&SourceFile::new(GITLAB_CI, now)).documents;
    let stages: Vec<&str> =
        documents.iter().flat_map(|file| file.root.list_at("stages")).filter_map(Node::as_str).collect();
    match stages.first() {
        Some(first) if !stages.contains(&"test") => job.replacen('\n', &format!("\n  stage: {first:?}\n"), 1),
        _ => job.to_owned(),
    }
}

/// The remark of the examples.
const UNPUBLISHED: &str = " # from the first release on; until then see docs/ci.md";
/// What the note about jobs without a release says.
pub(super) const NOT_PUBLISHED: &str = "this build of hcoplan is no published release, so the jobs compile its branch \
                                        main, for about 4 min on two cores: replace `main` by a commit, or by a release's tag";

/// Whether this is a release, which is published.
pub(super) const fn is_release() -> bool {
    COMMIT.is_some()
}

/// Pins the action to a release's commit; without one, it compiles the branch `main`.
fn workflow(text: &str, commit: Option<&str>) -> String {
    let text = text.replace(UNPUBLISHED, "");
    let tag = format!("@v{VERSION}");
    let Some(commit) = commit else {
        let inputs = format!("{tag}\n        with:\n");
        return text
            .replace(&inputs, &format!("{inputs}          version: source\n"))
            .replace(&tag, &format!("@main # from the first release on: {tag}"));
    };
    text.replace(&tag, &format!("@{commit} # v{VERSION}"))
}

/// The job, which without a release compiles the branch `main`.
fn job(commit: Option<&str>) -> String {
    let job = GITLAB_JOB.replace(UNPUBLISHED, "");
    if commit.is_some() {
        return job;
    }
    let install = "cargo install --git https://github.com/hcoplan/hcoplan --branch main --locked hcoplan";
    let job = job.replace(&format!("pip install hcoplan=={VERSION}"), install);
    job.replace("library/python:3.13", "library/rust:1.95-bookworm")
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
            assert!(tagged[0].ends_with(&format!("@v{VERSION}{UNPUBLISHED}")), "{path}");
            assert!(known[0].ends_with(&format!("@c0ffee # v{VERSION}")), "{path}: {known:?}");
            let source = workflow(text, None);
            assert!(uses(&source)[0].ends_with(&format!("@main # from the first release on: @v{VERSION}")), "{path}");
            assert_eq!(source.contains("version: source"), text.contains("sarif:"), "{path}");
        }
        let files = Service::Github.files(Some("trunk"));
        assert!(files.iter().any(|(_, text)| text.contains("branches: [trunk]\n")));
        assert_eq!(in_a_stage("a:\n  b: 1\n", "stages: [lint, build]\n"), "a:\n  stage: \"lint\"\n  b: 1\n");
        assert_eq!(in_a_stage("a:\n", "stages: [build, test]\n"), "a:\n");
        assert!(job(Some("c0ffee")).contains(&format!("hcoplan=={VERSION}]")));
        assert!(!job(None).contains(VERSION) && job(None).contains("rust:"));
    }
}
