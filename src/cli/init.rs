//! `hcoplan init`: what a repository needs to be planned, written where it is missing.

use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;

use super::exit::Verdict;
use super::failure::Failure;
use super::inventory_file::{SCHEMA, facts, known_versions};
use super::output::Output;
use super::written;
use crate::repo::{self, CONFIG_FILE, ClusterRef, Identity, Options, Pairing, Repo, Said, SaidBy};

/// Write what a repository needs to be planned: inventories, configuration, hook and workflow
///
/// Namespace, platform and release are taken from the manifests that say them: the HyperConverged, the
/// Subscription, the OperatorGroup, a ClusterServiceVersion, the ClusterVersion. Nothing that is there
/// is touched; what nothing says stays a comment to fill in.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Top of the repository
    #[arg(value_name = "DIR", default_value = ".")]
    directory: Utf8PathBuf,

    /// The release that the clusters run: of HCO (1.16), or of OpenShift Virtualization (4.20)
    #[arg(long, value_name = "X.Y")]
    release: Option<String>,

    /// Also mark the output tree in `.gitattributes`, for a tree that is committed: as generated, so that
    /// reviews fold it, and merged line by line; `hcoplan plan --check` finds what such a merge gets wrong
    #[arg(long)]
    commit_tree: bool,

    /// Say what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,
}

const ATTRIBUTES: &str = ".gitattributes";
/// The default output tree.
const MARKED: &str = "\
# What hcoplan renders. Two branches' trees never conflict; `hcoplan render` writes the merged one anew.
/rendered/** linguist-generated=true merge=union
";
const HOOK: &str = ".pre-commit-config.yaml";
/// The job that plans, and the one that comments what it found: a pull request can change the first,
/// so that only the second has a token that writes.
const WORKFLOWS: [(&str, &str); 2] = [
    (
        ".github/workflows/hcoplan.yml",
        include_str!("../../examples/github/hcoplan.yml"),
    ),
    (
        ".github/workflows/hcoplan-comment.yml",
        include_str!("../../examples/github/hcoplan-comment.yml"),
    ),
];
/// The commit that a release is built of, which the release workflow knows.
const COMMIT: Option<&str> = option_env!("HCOPLAN_COMMIT");
const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");
const VERSION: &str = env!("CARGO_PKG_VERSION");

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Verdict, Failure> {
    if let Some(name) = &arguments.release {
        repo::named_release(name)?;
    }
    let repo = Repo::open(&arguments.directory, &Options::default())?;
    let mut verdict = Verdict::default();
    if repo.clusters().is_empty() {
        let directory = &arguments.directory;
        output.error(format_args!("no HyperConverged found in {directory}"));
        verdict.nothing_found = true;
        return Ok(verdict);
    }
    let mut files = Vec::new();
    for cluster in repo.clusters() {
        if let Some(directory) = missing(&repo, cluster) {
            let text = inventory(&repo, cluster, arguments.release.as_deref());
            files.push((directory.join("inventory.yaml"), text));
        }
    }
    files.dedup_by(|a, b| a.0 == b.0);
    files.push((CONFIG_FILE.into(), configuration()));
    files.push((HOOK.into(), hook()));
    if arguments.commit_tree {
        files.push((ATTRIBUTES.into(), MARKED.to_owned()));
    }
    for (path, text) in WORKFLOWS {
        files.push((path.into(), pinned(text, COMMIT)));
    }
    for (path, text) in files {
        let full = match arguments.directory.as_str() {
            "." => path.clone(),
            _ => arguments.directory.join(&path),
        };
        let said = match (full.exists(), arguments.dry_run) {
            (true, _) => "there already: ",
            (false, true) => "would write: ",
            (false, false) => {
                written::create(&full, text.as_bytes())
                    .map_err(|e| Failure::Write(full.to_string(), e))?;
                "written: "
            }
        };
        output.print(format!("{said}{full}\n"))?;
    }
    output.note("fill in what is a comment, then `hcoplan plan` and commit what it renders");
    Ok(verdict)
}

/// Where a cluster's ClusterInventory is missing: beside its HyperConverged, or beside the nodes of a
/// dump that no other cluster has.
fn missing<'c>(repo: &Repo, cluster: &'c ClusterRef) -> Option<&'c Utf8Path> {
    if cluster.has_inventory() {
        return None;
    }
    match cluster.pairing() {
        Pairing::None | Pairing::Beside | Pairing::Machines => Some(cluster.directory()),
        Pairing::Above(directory) => {
            let shares = |c: &&ClusterRef| c.inventory_files() == cluster.inventory_files();
            let alone = repo.clusters().iter().filter(shares).count() == 1;
            alone.then_some(directory.as_path())
        }
        Pairing::Configured | Pairing::Given => None,
    }
}

fn inventory(repo: &Repo, cluster: &ClusterRef, release: Option<&str>) -> String {
    let name: String = match cluster.name().rsplit('/').next() {
        None | Some("" | ".") => "cluster".to_owned(),
        Some(name) => name.to_owned(),
    };
    let identity = repo.load(cluster).ok().map(|loaded| loaded.identity);
    let facts = match (&identity, release) {
        (Some(identity), None) => facts(identity),
        (Some(identity), Some(release)) => facts(&Identity {
            release: Some(Said {
                value: release.to_owned(),
                by: SaidBy::CommandLine,
                place: None,
            }),
            ..identity.clone()
        }),
        (None, _) => format!("  # release: \"…\"  # {}\n", known_versions().join(", ")),
    };
    let nodes = match cluster.inventory_files().is_empty() {
        true => "  # The nodes; `kubectl get nodes -o json | hcoplan import -` prints them.\n  \
                 # nodePools:\n  \
                 #   - {name: control-plane, count: 3, architecture: amd64, roles: [control-plane]}\n  \
                 #   - {name: worker, count: 3, architecture: amd64, roles: [worker]}\n"
            .to_owned(),
        false => {
            let files: Vec<&str> = cluster.inventory_files().iter().map(|f| f.as_str()).collect();
            format!("  # Its nodes are those of {}.\n", files.join(", "))
        }
    };
    format!(
        "# yaml-language-server: $schema={SCHEMA}\n\
         apiVersion: hcoplan.dev/v1alpha1\n\
         kind: ClusterInventory\n\
         metadata:\n  name: {}\n\
         spec:\n{facts}{nodes}",
        crate::yaml::emit(&name.into()).trim_end(),
    )
}

fn configuration() -> String {
    let schema = SCHEMA.replace("inventory.", "config.");
    format!(
        "# yaml-language-server: $schema={schema}\n\
         # Everything here is optional.\n\
         lint:\n  failOn: error\n\
         # A HyperConverged that several clusters are built from needs a word for each:\n\
         # clusters:\n\
         #   - {{name: prod-east, path: base/hyperconverged.yaml, inventory: prod-east/inventory.yaml}}\n"
    )
}

fn hook() -> String {
    format!(
        "repos:\n  - repo: {REPOSITORY}-pre-commit\n    rev: v{VERSION}\n    hooks:\n      \
         - id: hcoplan-lint\n      - id: hcoplan-plan-check\n"
    )
}

/// A workflow with the action at a commit, where that is known, instead of at a tag.
fn pinned(workflow: &str, commit: Option<&str>) -> String {
    let tag = format!("v{VERSION}");
    match commit {
        None => workflow.to_owned(),
        Some(commit) => workflow.replace(&format!("@{tag}"), &format!("@{commit} # {tag}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workflows_use_the_action_of_this_release() {
        for (path, text) in WORKFLOWS {
            let uses = |text: &str| {
                let lines = text.lines().filter(|l| l.contains("uses: hcoplan/"));
                lines.map(|l| l.trim().to_owned()).collect::<Vec<_>>()
            };
            let (tagged, known) = (uses(text), uses(&pinned(text, Some("c0ffee"))));
            assert_eq!(tagged.len(), 1, "{path}");
            assert!(tagged[0].ends_with(&format!("@v{VERSION}")), "{path}");
            assert!(
                known[0].ends_with(&format!("@c0ffee # v{VERSION}")),
                "{path}: {known:?}"
            );
        }
    }
}
