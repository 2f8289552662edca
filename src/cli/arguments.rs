//! Arguments shared by several subcommands.

use super::typed;
use crate::prelude::*;
use hcoplan_report::Typed;
use std::num::NonZeroUsize;

use crate::repo::Builds;

/// Options for reading a repository.
#[derive(Debug, Clone, Default, Args)]
#[group(skip)]
#[command(next_help_heading = "Input")]
pub(super) struct InputArguments {
    /// Configuration file [default: hcoplan.yaml at the root]
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<Utf8PathBuf>,

    /// Read configuration, baseline, suppressions and releases from this revision
    ///
    /// For changes that aren't reviewed yet: their own configuration, baseline, suppressions and releases have no
    /// effect, and are reported.
    #[arg(long, value_name = "REV")]
    pub(super) trust_base: Option<String>,

    /// Let kustomize fetch remote bases, with network and environment
    ///
    /// Kustomizations with a HyperConverged are always built, without network. Exec functions, Helm charts and
    /// plugins are rejected. `kustomize: off` in hcoplan.yaml builds nothing.
    #[arg(long)]
    pub(super) kustomize_remote: bool,

    /// Render the Helm charts with a HyperConverged, with the helm on the PATH
    ///
    /// Each release of Argo CD's Applications and ApplicationSets or Flux's HelmReleases is a cluster, with its values;
    /// else each file of values is one. Fetches nothing. `helm: true` in hcoplan.yaml does the same.
    #[arg(long)]
    pub(super) helm: bool,

    #[command(flatten)]
    pub(super) files: Files,

    /// Number of clusters to process in parallel [default: one per core]
    #[arg(long, value_name = "N")]
    pub(super) jobs: Option<NonZeroUsize>,
}

impl InputArguments {
    /// All clusters of a directory.
    pub(super) fn sources(&self, directory: &Utf8Path) -> hcoplan_analysis::Sources {
        hcoplan_analysis::Sources {
            directory: directory.to_owned(),
            config: self.config.clone(),
            trust_base: self.trust_base.clone(),
            builds: Builds { is_kustomize_off: false, remote: self.kustomize_remote, helm: self.helm },
            show_files: self.files.show_files,
            jobs: self.jobs,
            ..hcoplan_analysis::Sources::default()
        }
    }
}

/// Options for files.
#[derive(Debug, Clone, Default, Args)]
#[group(skip)]
pub(super) struct Files {
    /// Print which files were read, paired and skipped, and why
    #[arg(long, help_heading = "Input")]
    pub(super) show_files: bool,
}

/// Options for the selection of clusters.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct Sources {
    /// Directory to read, or one file of it, or `-` for a stream of documents
    ///
    /// Configuration, cluster names and inventories are relative to the root: the nearest directory with an
    /// hcoplan.yaml, from DIR up to the root of the git work tree, else DIR. hcoplan reads nothing above it.
    #[arg(value_name = "DIR", default_value = ".")]
    pub(super) directory: Utf8PathBuf,

    /// More files or directories; then only the clusters that these belong to
    #[arg(value_name = "PATH")]
    pub(super) more: Vec<Utf8PathBuf>,

    /// Release of the clusters: 1.18 of HCO, or 4.20 of OpenShift Virtualization
    ///
    /// It overrides their inventories. Patch releases count, too: 4.20.3.
    #[arg(long, value_name = "X.Y", help_heading = "Input")]
    pub(super) release: Option<String>,

    /// Inventory of every cluster, overriding those of the repository
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    pub(super) inventory: Vec<Utf8PathBuf>,

    /// Only clusters with this name, or whose name ends with it; `*` matches within a part, `**` across parts
    #[arg(long, value_name = "GLOB", help_heading = "Input")]
    pub(super) cluster: Vec<String>,

    /// Skip the clusters with this name
    #[arg(long, value_name = "GLOB", help_heading = "Input")]
    pub(super) exclude: Vec<String>,

    #[command(flatten)]
    pub(super) reading: InputArguments,
}

impl Sources {
    /// The typed command, for reports.
    pub(super) fn typed(&self) -> Typed {
        let directory = Some(&self.directory).filter(|path| !self.more.is_empty() || *path != ".");
        let scope = [
            words("", directory.into_iter().chain(&self.more)),
            words("--cluster ", &self.cluster),
            words("--exclude ", &self.exclude),
            words("--release ", &self.release),
            words("--inventory ", &self.inventory),
            words("--config ", &self.reading.config),
        ];
        Typed { command: typed::command(), scope: scope.concat() }
    }

    /// The sources for the analysis.
    pub(super) fn of_analysis(&self) -> hcoplan_analysis::Sources {
        let mut files = self.more.clone();
        let mut directory = self.directory.clone();
        if !files.is_empty() {
            files.push(directory);
            directory = common(&files);
        }
        hcoplan_analysis::Sources {
            files,
            release: self.release.clone(),
            inventory: self.inventory.clone(),
            cluster: self.cluster.clone(),
            exclude: self.exclude.clone(),
            ..self.reading.sources(&directory)
        }
    }
}

/// Words for a shell, each with its option.
fn words<'w>(option: &str, values: impl IntoIterator<Item = &'w (impl AsRef<str> + 'w)>) -> String {
    let word = |value: &str| format!(" {option}{}", shlex::try_quote(value).unwrap_or_default());
    values.into_iter().map(|value| word(value.as_ref())).collect()
}

/// The directory around all paths; the current one if they have no other in common.
fn common(paths: &[Utf8PathBuf]) -> Utf8PathBuf {
    let first = paths.iter().flat_map(|path| path.ancestors()).find(|above| paths.iter().all(|p| p.starts_with(above)));
    first.filter(|above| *above != "").unwrap_or(Utf8Path::new(".")).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_commands_about_the_same_clusters() {
        let text = |text: &str| text.to_owned();
        let all = Sources { directory: ".".into(), ..Sources::default() };
        let one = Sources { directory: "my clusters/a".into(), release: Some(text("4.20")), ..all.clone() };
        let some = Sources { directory: "a".into(), more: vec!["b".into()], cluster: vec![text("e*")], ..all.clone() };
        for (sources, cluster, command) in [
            (&all, None, "hcoplan fix"),
            (&all, Some("a"), "hcoplan fix --cluster a"),
            (&one, None, "hcoplan fix 'my clusters/a' --release 4.20"),
            (&some, Some("east"), "hcoplan fix a b --cluster 'e*'"),
        ] {
            assert_eq!(sources.typed().about_same("fix", cluster), command);
        }
    }
}
