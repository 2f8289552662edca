//! How a HyperConverged leaves what a controller applies, and whether it is deleted in the cluster then.

use serde_json::Value;

use super::build::BUILT;
use super::gitops::{Applied, Controller, Destination, Kind, LeftOut, file_of, phrase};
use super::identity::{SYNC_OPTIONS, has_sync_option};
use super::kustomization::omits;
use super::nodes::is_on;
use super::wrappers::not_planned::NotPlannedReason;
use super::{ClusterRef, Repo};
use crate::prelude::*;

/// How a HyperConverged leaves what a controller's object applies.
pub(super) struct Left {
    pub(super) why: String,
    /// Where the change is.
    pub(super) place: Location,
    pub(super) fate: Fate,
}

/// What becomes of the HyperConverged in the cluster.
pub(super) enum Fate {
    /// This deletes it, such as `the Application prod in argocd/prod.yaml`.
    Deleted(String),
    /// Nothing here changes it.
    Kept,
    /// It becomes the one of another directory.
    Replaced,
}

impl Left {
    /// The finding about a cluster of the revision before; `destination`: where it isn't applied any more, if it still is
    /// elsewhere.
    pub(super) fn finding(self, before: &Repo, was: &ClusterRef, destination: Option<&Destination>) -> Finding {
        let name = was.name();
        let takes = || before.hyperconverged(was).is_ok_and(|object| removes_workloads(&object));
        let effect = match self.fate {
            Fate::Deleted(_) if takes() => {
                "it is deleted in the cluster, and with it every virtual machine and its disks"
            }
            Fate::Deleted(_) => "it is deleted in the cluster",
            Fate::Kept => "the cluster keeps it, and nothing updates it",
            Fate::Replaced => "the cluster gets the other one",
        };
        let whence = destination.map_or_else(String::new, |destination| format!(" to {destination}"));
        let message = format!("the HyperConverged of cluster {name} is not applied{whence} any more: {}", self.why);
        Finding::new(&HCO_REMOVED, message)
            .at(self.place)
            .label(effect)
            .help("undo it; if it is intended, pass `--ignore hco-removed`")
    }

    /// The finding about a HyperConverged that something else applies from now on, where what applied it may delete it
    /// first. Argo CD and Flux leave what another one has taken over.
    pub(super) fn race(self, was: &ClusterRef, new: &Applied) -> Option<Finding> {
        let Fate::Deleted(by) = self.fate else { return None };
        let message = format!(
            "{by} deletes the HyperConverged of cluster {} if it syncs before {} takes it over",
            was.name(),
            phrase(&new.document)
        );
        let finding = Finding::new(&HCO_REMOVED, message).warning().at(self.place);
        let keep = match new.kind.controller() {
            Controller::Flux if new.kind == Kind::HelmRelease => "`helm.sh/resource-policy: keep`",
            Controller::Flux => "`kustomize.toolkit.fluxcd.io/prune: disabled`",
            _ => "`argocd.argoproj.io/sync-options: Prune=false,Delete=false`",
        };
        Some(finding.label("a race").help(format!("annotate it with {keep} until both have synced")))
    }
}

/// Whether the deletion of a HyperConverged deletes virtual machines and their disks, too.
pub fn removes_workloads(object: &Value) -> bool {
    let fields = ["/spec/deployment/uninstallStrategy", "/spec/uninstallStrategy"];
    fields.iter().any(|field| object.pointer(field).is_some_and(|strategy| strategy == "RemoveWorkloads"))
}

impl Applied {
    /// Whether the deletion of the controller's object deletes what it applied. An Application does only with Argo CD's
    /// finalizer, which an ApplicationSet gives to those that it makes; a HelmRelease unless it is suspended; a
    /// Kustomization as its `deletionPolicy` says, else as it prunes.
    fn deletes_with_itself(&self) -> bool {
        const FINALIZER: &str = "resources-finalizer.argocd.argoproj.io";
        let mut names = strings(self.document.root.list_at("metadata.finalizers"));
        match self.kind.controller() {
            _ if self.kind == Kind::ApplicationSet => {
                let root = &self.document.root;
                let sync = root.text_at("spec.syncPolicy.applicationsSync").unwrap_or("sync");
                !is_on(root, "spec.syncPolicy.preserveResourcesOnDeletion") && matches!(sync, "sync" | "create-delete")
            }
            Controller::ArgoCd => names.any(|name| name.starts_with(FINALIZER)),
            // helm-controller uninstalls the release.
            _ if self.kind == Kind::HelmRelease => !is_on(&self.document.root, "spec.suspend"),
            _ => match self.document.root.text_at("spec.deletionPolicy") {
                Some("Orphan") => false,
                Some("Delete" | "WaitForTermination") => true,
                _ => self.prunes.is_some(),
            },
        }
    }

    /// Whether it deletes an object in the cluster that it applied, `with_itself` or alone.
    fn deletes(&self, object: &Value, with_itself: bool) -> bool {
        (if with_itself { self.deletes_with_itself() } else { self.prunes.is_some() })
            && !self.keeps(object, with_itself)
    }

    /// Where it says that it prunes, unless annotations keep an object from that in every case.
    pub(super) fn pruned_at(&self, object: &Value) -> Option<Location> {
        self.prunes.clone().filter(|_| [false, true].iter().any(|with_itself| !self.keeps(object, *with_itself)))
    }

    /// Whether annotations of an object keep it in the cluster, where the controller's object that applies it would
    /// delete it, `with_itself` or alone.
    ///
    /// Sources: Argo CD's sync options, kustomize-controller's garbage collection.
    fn keeps(&self, object: &Value, with_itself: bool) -> bool {
        let annotation = |name: &str| object["metadata"]["annotations"][name].as_str().unwrap_or_default();
        match self.kind.controller() {
            Controller::ArgoCd => {
                let option = if with_itself { "Delete=false" } else { "Prune=false" };
                has_sync_option(annotation(SYNC_OPTIONS), option)
            }
            Controller::Flux if self.kind == Kind::HelmRelease => annotation("helm.sh/resource-policy") == "keep",
            Controller::Flux => has_sync_option(annotation("kustomize.toolkit.fluxcd.io/prune"), "disabled"),
            _ => false,
        }
    }
}

impl Repo {
    /// How a cluster's HyperConverged leaves what an object applied in this revision; `None` if that isn't known.
    /// `cluster`: the same in the revision after, unless it is gone.
    pub(super) fn left(
        &self,
        after: &Self,
        old: &Applied,
        was: &ClusterRef,
        cluster: Option<&ClusterRef>,
    ) -> Option<Left> {
        let object = self.hyperconverged(was).unwrap_or_default();
        let by = phrase(&old.document);
        let here = || cluster.and_then(|cluster| after.named_at(cluster.object));
        let Some(new) = after.gitops().same(old, self.gitops()) else {
            let written = file_of(&old.document);
            if after.gitops().broken.iter().any(|file| file.path() == written.path()) {
                return None;
            }
            let deletes = old.deletes(&object, true);
            let (place, why, deleter) = match after.gitops().same_set(old) {
                Some(set) => {
                    let generators = set.root.below("spec.generators").unwrap_or(&set.root);
                    let why = format!("{by} doesn't make the Application {} any more", old.name);
                    let deleter = format!("{by}, which doesn't make the Application {} any more,", old.name);
                    (set.location(generators.span), why, deleter)
                }
                None => {
                    let place = here().unwrap_or_else(|| old.place());
                    (place, format!("{by} is gone"), by)
                }
            };
            let fate = if deletes { Fate::Deleted(deleter) } else { Fate::Kept };
            return Some(Left { why, place, fate });
        };
        let why = match cluster {
            // The generator itself isn't listed any more.
            Some(_) if new.sources.is_empty() => LeftOut::Kustomization,
            Some(cluster) => new.sources.iter().find_map(|source| after.left_out(new, source, cluster))?,
            None => LeftOut::Elsewhere,
        };
        let place = here().filter(|_| old.settings() == new.settings());
        let place = place.unwrap_or_else(|| new.place());
        let is_other = |other: &&ClusterRef| cluster.is_none_or(|own| own.name() != other.name());
        let others = after.clusters().iter().filter(is_other).find(|other| after.is_applied(new, other));
        if let (Some(other), LeftOut::Elsewhere) = (others, why) {
            // The same one, and one that is new, is compared with what was applied before.
            let mut others = self.clusters().iter().map(ClusterRef::name).filter(|name| *name != was.name());
            let is_known = others.any(|name| name == other.name());
            let why = format!("{by} applies that of {} now", other.name());
            return is_known.then_some(Left { why, place, fate: Fate::Replaced });
        }
        // Flux leaves an object alone that says so.
        let is_left = matches!(why, LeftOut::Metadata(..)) && new.kind.controller() == Controller::Flux
            || why == LeftOut::Objects;
        let deletes = !is_left && new.deletes(&object, false);
        let why = format!("{by} doesn't apply it: {why}");
        Some(Left { why, place, fate: if deletes { Fate::Deleted(phrase(&new.document)) } else { Fate::Kept } })
    }

    /// The finding that a HyperConverged isn't applied any more, since `by` deletes the controller's object that applies it.
    pub(super) fn inner_left(&self, old: &Applied, was: &ClusterRef, by: &str, place: Location) -> Finding {
        let object = self.hyperconverged(was).unwrap_or_default();
        let own = phrase(&old.document);
        let why = format!("{by} deletes {own}");
        let fate = if old.deletes(&object, true) { Fate::Deleted(own) } else { Fate::Kept };
        Left { why, place, fate }.finding(self, was, None)
    }

    /// Whether a cluster's HyperConverged is in another revision still, but nothing applies it there any more.
    pub fn is_no_longer_applied(&self, after: &Self, was: &ClusterRef, cluster: &ClusterRef) -> bool {
        let old = self.applying(was);
        self.is_unlisted(after, was, cluster)
            || !old.is_empty()
                && after.applying(cluster).is_empty()
                && old.iter().all(|old| self.left(after, old, was, Some(cluster)).is_some())
    }

    /// Whether a kustomization, which no controller is known to apply, built a HyperConverged whose file it doesn't name
    /// in another revision.
    pub(super) fn is_unlisted(&self, after: &Self, was: &ClusterRef, cluster: &ClusterRef) -> bool {
        let is_built = |cluster: &ClusterRef| cluster.path().file_name() == Some(BUILT);
        self.applying(was).is_empty()
            && is_built(was)
            && !is_built(cluster)
            && omits(&*after.tree, cluster.path(), |_| true)
    }

    /// What deletes a cluster's HyperConverged that is no longer declared or applied: the controller's object that
    /// applied it, a policy or a task that removes it. `cluster`: the same in the revision after, unless it is gone.
    pub fn deleter(&self, after: &Self, was: &ClusterRef, cluster: Option<&ClusterRef>) -> Option<String> {
        let old = self.applying(was).into_iter();
        let mut fates = old.filter_map(|old| self.left(after, old, was, cluster)).map(|left| left.fate);
        let by = fates.find_map(|fate| if let Fate::Deleted(by) = fate { Some(by) } else { None });
        by.or_else(|| after.remover_of(was.path()))
    }

    /// What deletes another object of a file in the cluster that isn't declared any more: what applied it.
    pub fn deleter_of_object(&self, after: &Self, document: &Document) -> Option<String> {
        let (file, object) = (document.file.path(), document.root.to_json());
        self.appliers_of_file(file).find_map(|old| match after.gitops().same(old, self.gitops()) {
            Some(new) => new.deletes(&object, false).then(|| phrase(&new.document)),
            None => old.deletes(&object, true).then(|| phrase(&old.document)),
        })
    }

    /// The claims in golden images' namespaces that nothing is known to delete, though they aren't declared any more.
    pub fn claims_left(&self, after: &Self, was: &ClusterRef) -> BTreeSet<(String, String)> {
        self.claims(was, |document| self.deleter_of_object(after, document).is_none())
    }

    /// The policy or the tasks in a file that remove a HyperConverged.
    fn remover_of(&self, path: &Utf8Path) -> Option<String> {
        let file = self.paths.iter().position(|known| **known == *path)?;
        let content = self.content(file.try_into().ok()?).ok()?;
        let removes = |(index, _): &(u32, _)| {
            content.not_planned_in(*index).iter().any(|object| object.reason == NotPlannedReason::Removed)
        };
        let (_, document) = (0..).zip(&content.documents).find(removes)?;
        Some(phrase(document))
    }
}
