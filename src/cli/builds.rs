//! What a program builds before a repository is looked at, and who allows it.

use std::collections::BTreeMap;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};

use super::arguments::Sources;
use super::failure::Failure;
use crate::app;
use crate::release::Release;
use crate::repo::{self, Builds, Built, Config, Options, Repo};
use crate::source::{Directory, EditedTree, Tree};

/// Whether there is an operator's bundle: a ClusterServiceVersion, by the name that its tools give to the file.
pub(super) fn has_bundle(repo: &Repo) -> bool {
    let names = repo.files().iter().filter_map(|f| f.path.file_name());
    let ends = [".clusterserviceversion.yaml", ".clusterserviceversion.yml"];
    names.into_iter().any(|name| ends.iter().any(|end| name.ends_with(end)))
}

/// Looks at a bundle as at a cluster with a HyperConverged that says nothing.
pub(super) fn bundle(options: &mut Options) {
    const NOTHING: &str = "apiVersion: hco.kubevirt.io/v1beta1\nkind: HyperConverged\nmetadata: {name: \
                           kubevirt-hyperconverged, namespace: kubevirt-hyperconverged}\nspec: {}\n";
    let path = Utf8PathBuf::from(".hcoplan-bundle.yaml");
    let built = Built { files: BTreeMap::from([(path, NOTHING.as_bytes().to_vec())]), ..Built::default() };
    options.built = Some(Arc::new(built));
    if options.release.is_none() {
        options.release = Release::known_names().last().and_then(Release::known);
    }
}

/// What is to be built first.
pub(super) fn builds(sources: &Sources, repo: &Repo) -> Result<Builds, Failure> {
    let asked = Builds {
        kustomize: sources.reading.kustomize || sources.reading.kustomize_remote,
        remote: sources.reading.kustomize_remote,
        helm: sources.reading.helm,
    };
    let is_directory = sources.directory != "-" && !sources.directory.is_file();
    if asked.any() && !is_directory {
        let (flag, what) = if asked.kustomize {
            ("--kustomize builds", "kustomizations")
        } else {
            ("--helm renders the charts of", "charts")
        };
        return Err(Failure::usage(
            format!("{flag} a directory, not {}", sources.directory),
            format!("give the directory that the {what} are in"),
        ));
    }
    Ok(if is_directory { allowed(asked, repo.config(), sources.reading.trust_base.is_some()) } else { asked })
}

/// What is built: what the command line asks for, and what `hcoplan.yaml` asks for where whoever runs hcoplan
/// allows it; `trusted` says whether they trust that file. What isn't built is a finding.
pub(super) fn allowed(asked: Builds, config: &Config, trusted: bool) -> Builds {
    // What is looked at must not decide that a program is run.
    let is_allowed = |variable: &str| trusted || app::is_allowed(variable);
    Builds {
        kustomize: asked.kustomize || config.kustomize && is_allowed(app::ALLOW_KUSTOMIZE),
        // Whoever lets kustomize run hasn't let it fetch.
        remote: asked.remote || config.kustomize_remote && trusted,
        helm: asked.helm || config.helm && is_allowed(app::ALLOW_HELM),
    }
}

/// Builds what the options ask for of a revision; one with nothing to build is as it is.
pub(super) fn build_revision(tree: &dyn Tree, root: &Utf8Path, options: &mut Options) -> Result<(), Failure> {
    match build(tree, root, options) {
        Ok(built) => options.built = built.map(Arc::new),
        Err(repo::BuildError::Nothing(_) | repo::BuildError::NoChart(_)) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

/// Builds what the options ask for, and has it take the place of the files that went into it; what to say of it.
pub(super) fn build_directory(root: &Utf8Path, options: &mut Options) -> Result<Vec<String>, Failure> {
    let tree = Directory::open(root, options.max_bytes).map_err(repo::BuildError::from)?;
    let tree = EditedTree::new(tree, options.edited.clone());
    match build(&tree, root, options) {
        Ok(built) => {
            let mut built = built.unwrap_or_default();
            let notes = std::mem::take(&mut built.notes);
            options.built = Some(built.into());
            Ok(notes)
        }
        // What is there may be there as it is written.
        Err(nothing @ (repo::BuildError::Nothing(_) | repo::BuildError::NoChart(_))) => Ok(vec![nothing.to_string()]),
        Err(error) => Err(error.into()),
    }
}

/// What kustomize and helm make of a tree, as far as the options ask for them. Where both are asked for, one may
/// have nothing to do.
fn build(tree: &dyn Tree, root: &Utf8Path, options: &Options) -> Result<Option<Built>, repo::BuildError> {
    use repo::BuildError::{NoChart, Nothing};
    if !options.builds.any() {
        return Ok(None);
    }
    // From here on there is something to end with us.
    app::watch();
    let most = options.max_bytes;
    let kustomized = options.builds.kustomize.then(|| {
        let asked = repo::BuildRequest {
            within: options.within.as_deref(),
            chosen: &options.chosen,
            fetches: options.builds.remote,
            most_bytes: most,
            stop: &app::interrupted,
        };
        repo::build(tree, root, &asked)
    });
    let rendered = options.builds.helm.then(|| repo::render_charts(tree, root, most, &app::interrupted));
    match (kustomized, rendered) {
        (Some(one), None) | (None, Some(one)) | (Some(Err(Nothing(_))), Some(one)) => one.map(Some),
        (Some(one), Some(Err(NoChart(_)))) => one.map(Some),
        (Some(one), Some(other)) => {
            let mut built = one?;
            built.extend(other?);
            Ok(Some(built))
        }
        (None, None) => Ok(None),
    }
}
