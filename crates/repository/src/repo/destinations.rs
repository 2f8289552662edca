//! What controllers apply to the same cluster.

use super::Repo;
use super::gitops::{Applied, Destination, phrase};
use super::identity::{FactOrigin, WithSource};
use super::nodes::names_of;
use super::objects::{ClusterRef, StatementRef};
use super::paths::parent;
use super::problem::related;
use super::wrappers::wrapped_nodes;
use crate::prelude::*;

impl Repo {
    /// The clusters to which controllers apply a file, or may.
    fn destinations<'r>(&'r self, file: &'r Utf8Path) -> Vec<&'r Destination> {
        let is_build = self.inputs_of(file).is_some();
        let all = self.gitops().around(parent(file)).filter(|by| by.reaches(&*self.tree, file));
        let own = all.filter(|by| !is_build || self.builds_into(by, parent(file)));
        own.filter_map(|by| by.destination.as_ref()).collect()
    }

    /// Whether controllers apply a file only to other clusters than this one.
    pub(super) fn is_applied_elsewhere<'r>(&'r self, cluster: &'r ClusterRef) -> impl Fn(&Utf8Path) -> bool + 'r {
        let own = self.destinations(cluster.path());
        move |file| {
            let is_own = |theirs: &Destination| own.iter().any(|own| !own.is_other(theirs));
            let is_its_own = |by: &Applied| by.destination.as_ref().is_none_or(is_own);
            let mut all = self.appliers_of_file(file).filter(|_| !own.is_empty()).peekable();
            all.peek().is_some() && !all.any(is_its_own)
        }
    }

    /// What applies a file as it is, or a build.
    pub(super) fn appliers_of_file<'r>(&'r self, file: &'r Utf8Path) -> impl Iterator<Item = &'r Applied> {
        let is_build = self.inputs_of(file).is_some();
        self.gitops().around(parent(file)).filter(move |by| {
            let takes = |source| self.left_out_by_place(by, source, file).is_none();
            if is_build { self.builds_into(by, parent(file)) } else { by.here().any(takes) }
        })
    }

    /// Whether a controller applies an object; `None` if no controllers are known.
    pub fn is_object_applied(&self, object: &Document) -> Option<bool> {
        let is_known = !self.gitops().applied.is_empty();
        is_known.then(|| self.appliers_of_file(object.file.path()).next().is_some())
    }

    /// The directories of clusters by the files that controllers apply where they apply the cluster's HyperConverged.
    pub(super) fn clusters_of_files(&self) -> HashMap<Utf8PathBuf, Utf8PathBuf> {
        let mut clusters: BTreeMap<&Destination, BTreeSet<&Utf8Path>> = BTreeMap::new();
        for cluster in &self.clusters {
            for destination in self.destinations(cluster.path()) {
                clusters.entry(destination).or_default().insert(cluster.directory());
            }
        }
        if clusters.is_empty() {
            return HashMap::new();
        }
        let of_file = |file: &Utf8Path| {
            let all = self.destinations(file).into_iter();
            let all: BTreeSet<_> = all.filter_map(|destination| clusters.get(destination)).flatten().collect();
            all.first().filter(|_| all.len() == 1).map(|only| (file.to_owned(), only.to_path_buf()))
        };
        let read = self.files.iter().filter(|f| f.is_read());
        let read = read.filter(|f| self.owners.around(&f.path).is_none());
        read.filter_map(|f| of_file(&f.path)).collect()
    }

    /// Gives facts about a cluster that controllers apply to it to this cluster, and to no other one.
    pub(super) fn assign_applied_statements(&mut self, statements: &[StatementRef]) {
        for statement in statements {
            let path = self.paths.get(statement.object.file as usize);
            let Some(owner) = path.and_then(|path| self.owners.applied.get(&**path)) else { continue };
            for cluster in &mut self.clusters {
                let mut of_it: Vec<StatementRef> = std::mem::take(&mut cluster.statements).into_vec();
                of_it.retain(|known| known != statement);
                of_it.extend(Some(*statement).filter(|_| cluster.directory() == owner));
                cluster.statements = of_it.into();
            }
        }
    }

    /// The namespace that the controller which applies a HyperConverged without a namespace gives it.
    pub(super) fn namespace_given_to(&self, cluster: &ClusterRef) -> Option<WithSource<String>> {
        self.applying(cluster).into_iter().find_map(|by| {
            let value = by.namespace.clone().filter(|name| !name.contains("{{"))?;
            Some(WithSource { value, by: FactOrigin::HyperConverged, place: Some(by.place()) })
        })
    }

    /// What applies the chart that renders a cluster's HyperConverged.
    pub(super) fn applier_of_chart(&self, cluster: &ClusterRef) -> Option<&Arc<Document>> {
        self.built.appliers.get(cluster.path())
    }

    /// What applies a cluster's HyperConverged; where nothing is known to, objects in charts' templates.
    pub(super) fn appliers_of(&self, cluster: &ClusterRef) -> Vec<&Applied> {
        let known = self.applying(cluster);
        if !known.is_empty() {
            return known;
        }
        self.applied()[1].applied.iter().filter(|by| self.is_applied(by, cluster)).collect()
    }

    /// What applies a cluster's HyperConverged, such as `the Application prod in argocd/prod.yaml`.
    pub fn applier_of(&self, cluster: &ClusterRef) -> Option<String> {
        let mut all: Vec<String> = self.applying(cluster).into_iter().map(|by| phrase(&by.document)).collect();
        all.dedup();
        (!all.is_empty()).then(|| list(&all, 3))
    }

    /// The kind of the object around a cluster's HyperConverged, whose controller applies it: `its Policy`.
    pub fn applying_wrapper(&self, cluster: &ClusterRef) -> Option<String> {
        let written = self.written(cluster.object)?;
        let (_, wrapper) = wrapped_nodes(&written.root)?.pop()?;
        // A Template is processed first.
        let kind = written.text("kind");
        (!wrapper.is_template && !kind.is_empty()).then(|| format!("its {kind}"))
    }

    /// HyperConvergeds of one name that are applied to the same cluster: the last one overwrites the others.
    pub(super) fn overwritten(&self) -> Vec<Finding> {
        let mut known: BTreeMap<(&Destination, String, String), (&ClusterRef, &Applied)> = BTreeMap::new();
        let mut out = Vec::new();
        for cluster in &self.clusters {
            // Of the outputs of a chart each is that of its own release.
            let is_rendered = self.applier_of_chart(cluster).is_some();
            let Some(object) = self.object(cluster.object).filter(|_| !is_rendered) else { continue };
            let applying = self.applying(cluster);
            for (by, destination) in applying.into_iter().filter_map(|by| Some((by, by.destination.as_ref()?))) {
                let [namespace, name] = names_of(&object).map(ToOwned::to_owned);
                let (first, other) = *known.entry((destination, namespace, name)).or_insert((cluster, by));
                if first.object == cluster.object {
                    continue;
                }
                let [own, others] = [by, other].map(|by| phrase(&by.document));
                let appliers = if own == others { own } else { format!("{others} and {own}") };
                let message = format!(
                    "the second apply overwrites the first: {appliers} applies two HyperConvergeds of the same name to one cluster"
                );
                let finding = Finding::new(&HCO_MULTIPLE_CRS, message)
                    .label("the same object")
                    .help("delete one, or apply one of them to another cluster");
                let [own, other] = [cluster, first].map(|cluster| self.named_at(cluster.object));
                out.push(related(finding, own, other, "the first one"));
                break;
            }
        }
        out
    }
}
