//! Runs kustomize and helm before a repository is read.

use crate::failure::Failure;
use crate::notices::Notices;
use crate::prelude::*;
use crate::root::finding_with_help;
use hcoplan_diagnostics::source::{EditedTree, Tree};
use hcoplan_repository::repo::Built;

/// Whether there is an operator's bundle: a ClusterServiceVersion in a file with the bundle tools' name.
pub(super) fn has_bundle(repo: &Repo) -> bool {
    let names = repo.files().iter().filter_map(|f| f.path.file_name());
    let ends = [".clusterserviceversion.yaml", ".clusterserviceversion.yml"];
    names.into_iter().any(|name| ends.iter().any(|end| name.ends_with(end)))
}

/// Examines a bundle with an empty HyperConverged.
pub(super) fn bundle(options: &mut Options) {
    const NOTHING: &[u8] = include_bytes!("empty_hyperconverged.yaml");
    let path = Utf8PathBuf::from(".hcoplan-bundle.yaml");
    let built = Built { files: BTreeMap::from([(path, NOTHING.to_vec())]), ..Built::default() };
    options.built = Some(Arc::new(built));
    if options.release.is_none() {
        options.release = Release::known_names().last().and_then(Release::known);
    }
}

/// Builds a side, a revision or a directory; returns its findings.
pub(super) fn build_side(
    root: &Utf8Path,
    revision: Option<&Revision>,
    asked: Builds,
    options: &mut Options,
) -> Result<Vec<String>, Failure> {
    let wrong = |error| Failure::opening(error, root);
    if let Some(tree) = revision {
        options.builds = builds(asked, tree, options).map_err(wrong)?;
        build_revision(tree, root, options)?;
        return Ok(Vec::new());
    }
    let tree = options.directory(root).map_err(repo::Error::from).map_err(wrong)?;
    options.builds = builds(asked, &*tree, options).map_err(wrong)?;
    build_directory(root, options)
}

/// The builds requested by the command line, and by the configuration if it is trusted.
fn builds(asked: Builds, tree: &dyn Tree, options: &Options) -> Result<Builds, repo::Error> {
    let config = Repo::configuration(tree, options)?;
    let is_trusted = !matches!(options.trust, Trust::Nobody);
    Ok(Builds {
        is_kustomize_off: config.is_kustomize_off && is_trusted && !asked.remote,
        remote: asked.remote,
        helm: asked.helm || config.helm && is_trusted,
    })
}

/// Builds a revision.
pub(super) fn build_revision(tree: &dyn Tree, root: &Utf8Path, options: &mut Options) -> Result<(), Failure> {
    options.built = Some(Arc::new(build(tree, root, options)?));
    Ok(())
}

/// Builds a directory and replaces the source files by the output; returns the findings.
pub(super) fn build_directory(root: &Utf8Path, options: &mut Options) -> Result<Vec<String>, Failure> {
    let tree = options.directory_to_build(root).map_err(repo::BuildError::from)?;
    let tree = EditedTree::new(tree, options.edited.clone());
    let mut built = build(&tree, root, options)?;
    let notes = std::mem::take(&mut built.notes);
    options.built = Some(built.into());
    Ok(notes)
}

/// Runs kustomize and helm on a tree as far as the options request it.
fn build(tree: &dyn Tree, root: &Utf8Path, options: &Options) -> Result<Built, repo::BuildError> {
    // Processes have to be ended after an interrupt.
    crate::watch();
    let most = max_bytes();
    let chosen = with_configured_names(tree, options);
    let asked = repo::BuildRequest {
        within: options.within.as_deref(),
        chosen: &chosen,
        is_off: options.builds.is_kustomize_off,
        fetches: options.builds.remote,
        is_exact: false,
        most_bytes: most,
        stop: &crate::interrupted,
    };
    let controllers = if asked.is_off { Built::default() } else { repo::build_controllers(tree)? };
    let mut built = repo::build(tree, root, &asked, &controllers)?;
    if options.builds.helm {
        built.extend(repo::render_charts(&controllers.over(tree), root, most, &crate::interrupted)?);
    }
    built.extend(controllers);
    Ok(built)
}

/// The chosen clusters, also where hcoplan.yaml gives the cluster of a directory another name.
fn with_configured_names(tree: &dyn Tree, options: &Options) -> ClusterFilter {
    // A wrong configuration was reported.
    let entries = Repo::configuration(tree, options).map(|config| config.clusters).unwrap_or_default();
    let named = entries.iter().filter_map(|entry| Some((entry.path.value.trim_end_matches('/'), entry.name.as_ref()?)));
    let names: BTreeMap<String, ClusterName> =
        named.map(|(path, name)| (path.to_owned(), name.value.as_str().into())).collect();
    let chosen = options.chosen.clone();
    ClusterFilter::new(move |directory| {
        chosen.has(directory) || names.get(directory.id()).is_some_and(|name| chosen.has(name))
    })
}

/// Opens a repository without configuration and renders its charts; also returns whether any chart can be rendered.
///
/// # Errors
/// If it can't be opened.
pub fn open_unconfigured(root: &Utf8Path, notices: &dyn Notices) -> Result<(Repo, bool), Failure> {
    let mut options = Options::default();
    let open = |options: &mut Options| {
        build_directory(root, options)?;
        Ok::<_, Failure>(Repo::open(root, options)?)
    };
    let repo = open(&mut options)?;
    options.builds.helm =
        repo.findings().iter().any(|f| f.rule.name == hcoplan_rule_pages::rules::HELM_CHART_NOT_RENDERED.name);
    if !options.builds.helm {
        return Ok((repo, false));
    }
    let rendered = open(&mut options);
    let mut failed = options.built.iter().flat_map(|built| &built.failed).map(|failed| &failed.finding);
    let failed = failed.find(|f| f.rule.name == hcoplan_rule_pages::rules::HELM_TEMPLATE_FAILED.name);
    match (rendered, failed.map(finding_with_help)) {
        (Ok(rendered), None) => Ok((rendered, true)),
        // A chart that fails to render would fail every later run.
        (rendered, failed) => {
            let why = failed.or_else(|| Some(rendered.err()?.to_string())).unwrap_or_default();
            notices.note(format_args!("{why}\n  so `helm: true` is not written"));
            Ok((repo, false))
        }
    }
}
