//! Findings about a kustomization that isn't built, and their locations.

use camino::{Utf8Path, Utf8PathBuf};
use hcoplan_diagnostics::finding::{Finding, Severity};
use hcoplan_diagnostics::secret::masked_message;
use hcoplan_diagnostics::source::{Location, SourceFile, Tree, Unreadable, normalize_path};
use hcoplan_yaml::{self as yaml, Document, Node};

use super::read::{Kustomization, Named};
use super::{BuildError, BuildInputs, TreeKustomizations, has_kustomization, kustomization_location, shown};
use crate::repo::build_failed::{FailedBuild, KUSTOMIZE_BUILD_FAILED, KUSTOMIZE_NOT_BUILT, name_of};
use crate::repo::wrappers::HCO_NOT_PLANNED;

/// The failed build of a directory.
pub(super) fn failed(tree: &dyn Tree, root: &Utf8Path, directory: Utf8PathBuf, error: BuildError) -> FailedBuild {
    let finding = finding(tree, root, &directory, &error).label("this cluster is not planned");
    FailedBuild { finding: Finding { cluster: Some(name_of(&directory).into()), ..finding }, directory }
}

/// The finding about a kustomization that has a HyperConverged as a resource and prints none.
pub(super) fn builds_no_hyperconverged(
    tree: &dyn Tree,
    root: &Utf8Path,
    directory: &Utf8Path,
    sources: &[Utf8PathBuf],
) -> Finding {
    let from: Vec<_> = sources.iter().map(|source| shown(root, source).into_string()).collect();
    let message = format!("this kustomization builds no HyperConverged, although it builds on {}", from.join(", "));
    Finding::new(&HCO_NOT_PLANNED, message)
        .severity(Severity::Info)
        .at(kustomization_location(tree, directory))
        .label("no HyperConverged is left")
}

fn finding(tree: &dyn Tree, root: &Utf8Path, directory: &Utf8Path, error: &BuildError) -> Finding {
    let place = place(tree, root, directory, error).unwrap_or_else(|| kustomization_location(tree, directory));
    let file = format!("{}: ", shown(root, place.file.path()));
    let text = error.to_string();
    // kustomize quotes its input, and the message is shown elsewhere too.
    let whole = kustomization_location(tree, directory);
    let message = masked_message(&whole.file, whole.span, text.strip_prefix(&file).unwrap_or(&text));
    let message = masked_message(&place.file, place.span, &message);
    match error {
        BuildError::NoProgram | BuildError::Off => {
            let message = format!("the cluster {} is not planned: {message}", name_of(directory));
            let help = if matches!(error, BuildError::Off) {
                "remove `kustomize: off`, or lint what another tool builds: `kustomize build … | hcoplan lint -`"
            } else {
                "install kustomize or kubectl; hcoplan runs it without network"
            };
            Finding::new(&KUSTOMIZE_NOT_BUILT, message).at(place).help(help)
        }
        _ => Finding::new(&KUSTOMIZE_BUILD_FAILED, message).at(place),
    }
}

/// The location where a kustomization names what the error is about, if it can be found.
fn place(tree: &dyn Tree, root: &Utf8Path, directory: &Utf8Path, error: &BuildError) -> Option<Location> {
    let mut all = TreeKustomizations::new(tree, root, false);
    let mut reached = BuildInputs::default();
    // The error was reported already.
    let _ = reached.follow(&mut all, directory);
    let known = all.read.values().flatten();
    let known = known.filter(|k| reached.inputs.contains(&k.input));
    match error {
        BuildError::OutsideRoot { file, name, .. } => {
            let mut known = known.filter(|k| k.path == *file);
            named_at(tree, known.next()?, name)
        }
        BuildError::Failed { message: printed, .. } => {
            let known: Vec<&Kustomization> = known.collect();
            let names = known.iter().flat_map(|k| {
                let names = k.named.iter().map(|n| (*k, n));
                names.filter_map(|(k, n)| Some((k, n.name()?)))
            });
            let path =
                |k: &Kustomization, name: &str| normalize_path(&k.input.parent().unwrap_or("".into()).join(name));
            let is_missing = |(k, name): &(&Kustomization, &str)| {
                path(k, name).is_some_and(|p| {
                    let exists = !matches!(tree.check(&p), Err(Unreadable::Missing));
                    !exists && !has_kustomization(tree, &p)
                })
            };
            let mut missing = names.clone().filter(is_missing);
            if let Some((k, name)) = missing.next() {
                return named_at(tree, k, name);
            }
            // The only file in kustomize's message.
            let is_file = |k: &Kustomization, name: &str| path(k, name).is_some_and(|p| tree.check(&p).is_ok());
            let mut mentioned = names.filter(|(k, name)| printed.contains(*name) && is_file(k, name));
            match (mentioned.next(), mentioned.next()) {
                (Some((k, name)), None) => named_at(tree, k, name),
                _ => None,
            }
        }
        _ => None,
    }
}

impl Named {
    /// The named path; `None` if the patch is inline.
    fn name(&self) -> Option<&str> {
        let (Self::Base(name) | Self::File(name) | Self::Patch(name) | Self::Plugin(name)) = self;
        Some(name.as_str()).filter(|name| !name.contains('\n'))
    }
}

/// The location of a name in a kustomization.
fn named_at(tree: &dyn Tree, kustomization: &Kustomization, name: &str) -> Option<Location> {
    let path = &kustomization.input;
    let file = SourceFile::from_bytes(path, tree.read(path).ok()?);
    let parsed = yaml::parse_yaml(&file);
    let document = parsed.documents.first()?;
    let node = scalar(&document.root, name)?;
    Some(Document::location(document, node.span))
}

/// The first scalar with a text; a generator's file may have a key before it.
fn scalar<'n>(node: &'n Node, text: &str) -> Option<&'n Node> {
    if node.as_str().is_some_and(|own| own == text || own.split_once('=').is_some_and(|(_, own)| own == text)) {
        return Some(node);
    }
    let values = node.entries().iter().map(|e| &e.value);
    values.chain(node.items()).find_map(|n| scalar(n, text))
}
