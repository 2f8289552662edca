//! Findings about a kustomization that isn't built, and their locations.

use std::rc::Rc;

use hcoplan_diagnostics::secret::masked_message;

use super::native::Unfetched;
use super::{BuildError, BuildInputs, shown};
use crate::prelude::*;
use crate::repo::build_failed::{FailedBuild, name_of};
use crate::repo::kustomization::{Kustomization, Kustomizations, has_kustomization, is_kustomization};
use crate::repo::unplanned;

/// The failed build of a directory; `whole` is the location of its kustomization.
pub(super) fn failed(
    tree: &dyn Tree,
    root: &Utf8Path,
    whole: &Location,
    reached: &BuildInputs,
    directory: Utf8PathBuf,
    error: &BuildError,
) -> FailedBuild {
    let place = place(tree, reached, error).unwrap_or_else(|| whole.clone());
    // It may be in an object that was built itself.
    let place = place.origin().unwrap_or(place);
    let text = error.to_string();
    let file = format!("{}: ", shown(root, place.file.path()));
    // kustomize quotes its input, and the message is shown elsewhere too.
    let message = masked_message(&whole.file, whole.span, text.strip_prefix(&file).unwrap_or(&text));
    let message = masked_message(&place.file, place.span, &message);
    let finding = match error {
        BuildError::NoProgram { .. } | BuildError::Off => {
            let message = format!("the cluster {} is not planned: {message}", name_of(tree, &directory));
            let help = if matches!(error, BuildError::Off) {
                "remove `kustomize: off`, or lint what another tool builds: `kustomize build … | hcoplan lint -`"
            } else {
                "install kustomize or kubectl; hcoplan runs it without network"
            };
            Finding::new(&KUSTOMIZE_NOT_BUILT, message).at(place).help(help)
        }
        _ => Finding::new(&KUSTOMIZE_BUILD_FAILED, message).at(place),
    };
    let finding = finding.label("this cluster is not planned");
    FailedBuild { finding: Finding { cluster: Some(name_of(tree, &directory)), ..finding }, directory }
}

/// The finding about a kustomization that has a HyperConverged as a resource and prints none.
pub(super) fn builds_no_hyperconverged(root: &Utf8Path, whole: &Location, sources: &[Utf8PathBuf]) -> Finding {
    let from = joined(sources.iter().map(|source| shown(root, source).into_string()), ", ");
    let message = format!("this kustomization builds no HyperConverged, although it builds on {from}");
    unplanned(message, whole.clone()).info().label("no HyperConverged is left")
}

/// The message and the help for each part; `{}` is its name.
static NOT_FETCHED: Table<BTreeMap<&str, [&str; 2]>> = Table::of(include_str!("not_fetched.json"));

/// The finding about a part of a build that isn't in the repository.
pub(super) fn not_fetched(place: &Location, what: &Unfetched) -> Finding {
    let (what, name) = match what {
        Unfetched::Resource(name) => ("resource", name.as_str()),
        Unfetched::Charts => ("charts", ""),
        Unfetched::Generator => ("generator", ""),
    };
    let [message, help] = NOT_FETCHED[what];
    unplanned(message.replace("{}", name), place.clone()).info().label("not examined").help(help)
}

/// The location that the error is about, if it can be found.
fn place(tree: &dyn Tree, reached: &BuildInputs, error: &BuildError) -> Option<Location> {
    match error {
        BuildError::Refused(refused) => Some(refused.place.clone()),
        BuildError::Forbidden { place, .. }
        | BuildError::Unread { place, .. }
        | BuildError::NoProgram { place, .. } => Some(place.clone()),
        BuildError::Failed { .. } => {
            let all = Kustomizations::new(tree);
            let paths = reached.inputs.iter().filter(|path| is_kustomization(path));
            let read: Vec<Rc<Kustomization>> = paths.filter_map(|path| all.at(path.parent()?)).collect();
            let entries = read.iter().flat_map(|own| own.entries.iter().map(move |entry| (own, entry)));
            let names = entries.flat_map(|(own, entry)| {
                entry.files().into_iter().filter_map(move |name| Some((entry, own.file(name)?)))
            });
            let names: Vec<_> = names.collect();
            let is_missing = |path: &Utf8Path| {
                matches!(tree.check(path), Err(Unreadable::Missing)) && !has_kustomization(tree, path)
            };
            let missing = names.iter().find(|(_, path)| is_missing(path));
            missing.map(|(entry, _)| entry.place())
        }
        _ => None,
    }
}
