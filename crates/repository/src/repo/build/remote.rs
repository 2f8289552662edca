//! Recognises remote resources of a kustomization.
//!
//! Source: kustomize's `NewRepoSpecFromURL` and `IsRemoteFile`, 3.2 to 5.7. It checks whether a name is a repository or
//! URL before it looks for a directory, so an existing directory doesn't make a name safe.

use crate::prelude::*;

/// Whether a name may be something else than a path below the directory: a URL, a repository in any of git's and
/// go-getter's forms, or a query. It also matches names that kustomize doesn't fetch, as files don't need them.
pub(crate) fn looks_remote(name: &str) -> bool {
    let first = first_part(name, '/');
    let first = first.to_ascii_lowercase();
    name.contains([':', '?', '@'])
        || name.chars().any(char::is_control)
        || name.contains("_git/")
        || name.trim_end_matches('/').ends_with(".git")
        || name.contains(".git/")
        || crate::repo::fields::of("remote.hosts")
            .iter()
            .any(|host| first == **host || first.ends_with(&format!(".{host}")))
        || name.trim_start_matches("./").contains("//")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognises_every_form_of_a_remote_repository() {
        for name in [
            "https://example.com/a.yaml",
            "HTTPS:example.com",
            "http://example.com/a.yaml",
            "ssh://git@example.com/org/repo",
            "git::https://example.com/org/repo",
            "git@github.com:org/repo",
            "user@example.com:org/repo",
            "github.com/org/repo",
            "GitHub.com/org/repo//base",
            "github.com:org/repo",
            "gh:org/repo",
            "host:path",
            "org/repo.git",
            "org/repo.git/base",
            "org/repo?ref=main",
            "x?version=1",
            "org_git/repo",
            "s3::https://s3.amazonaws.com/b/k",
            "s3-eu-west-1.amazonaws.com/b",
            "www.googleapis.com/storage/v1/b",
            "bitbucket.org/org/repo",
            "file:///etc",
            "base//sub",
            "a\nb",
        ] {
            assert!(looks_remote(name), "{name}");
        }
        for name in [
            "base",
            "./base",
            "../base/hyperconverged.yaml",
            "v1.2/base",
            "overlays/prod/",
            "github.community/base",
            "a.github",
            ".gitops/base",
        ] {
            assert!(!looks_remote(name), "{name}");
        }
    }
}
