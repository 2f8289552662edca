//! `hcoplan init`: what a repository needs to be planned, written where it is missing.

use camino::Utf8PathBuf;
use clap::Args;

use super::Failure;
use super::exit::Verdict;
use super::inventory::SCHEMA;
use super::output::Output;
use super::written;
use crate::release::Release;
use crate::repo::{self, CONFIG_FILE, Options, Pairing, Repo};

/// Write what a repository needs to be planned: inventories, configuration, hook and workflow
///
/// Nothing that is there is touched. What can't be known (which release runs, which nodes there
/// are) stays a comment to fill in.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Top of the repository
    #[arg(value_name = "DIR", default_value = ".")]
    directory: Utf8PathBuf,

    /// The HCO release line that the clusters run
    #[arg(long, value_name = "X.Y")]
    release: Option<String>,

    /// Say what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,
}

const HOOK: &str = ".pre-commit-config.yaml";
const WORKFLOW: &str = ".github/workflows/hcoplan.yml";
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
        if *cluster.pairing() == Pairing::None {
            let path = cluster.directory().join("inventory.yaml");
            let text = inventory(cluster.name(), arguments.release.as_deref());
            files.push((path, text));
        }
    }
    files.dedup_by(|a, b| a.0 == b.0);
    files.push((CONFIG_FILE.into(), configuration()));
    files.push((HOOK.into(), hook()));
    files.push((WORKFLOW.into(), workflow()));
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

fn inventory(cluster: &str, release: Option<&str>) -> String {
    let name: String = match cluster.rsplit('/').next() {
        None | Some("" | ".") => "cluster".to_owned(),
        Some(name) => name.to_owned(),
    };
    let release = match release {
        Some(release) => format!("  release: {release:?}\n"),
        None => {
            let known: Vec<_> = Release::known_names().collect();
            format!("  # release: \"…\"  # {}\n", known.join(", "))
        }
    };
    format!(
        "# yaml-language-server: $schema={SCHEMA}\n\
         apiVersion: hcoplan.dev/v1alpha1\n\
         kind: ClusterInventory\n\
         metadata:\n  name: {}\n\
         spec:\n{release}  \
         platform: OpenShift  # or Kubernetes\n  \
         # The nodes; `kubectl get nodes -o json | hcoplan inventory import -` prints them.\n  \
         # nodePools:\n  \
         #   - {{name: control-plane, count: 3, architecture: amd64, roles: [control-plane]}}\n  \
         #   - {{name: worker, count: 3, architecture: amd64, roles: [worker]}}\n",
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
        "repos:\n  - repo: {REPOSITORY}\n    rev: v{VERSION}\n    hooks:\n      \
         - id: hcoplan-lint\n      - id: hcoplan-plan-check\n"
    )
}

fn workflow() -> String {
    format!(
        "name: hcoplan\n\
         on:\n  pull_request:\n  push:\n    branches: [main]\n\
         permissions: {{}}\n\
         jobs:\n  plan:\n    runs-on: ubuntu-latest\n    permissions:\n      contents: read\n    \
         steps:\n      \
         - uses: actions/checkout@08c6903cd8c0fde910a37f88322edcfb5dd907a8 # v5.0.0\n        \
         with:\n          persist-credentials: false\n      \
         - run: cargo install --locked hcoplan --version {VERSION}\n      \
         - run: hcoplan lint --format github\n      \
         - if: always()\n        run: hcoplan plan --check\n"
    )
}
