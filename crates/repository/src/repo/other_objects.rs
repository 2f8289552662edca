//! The other documents of a cluster's directory.

use hcoplan_diagnostics::source::in_order;

use super::candidate::is_candidate;
use super::files::{FileRole, FileUse};
use super::gitops::Applied;
use super::identity::{FactOrigin, WithSource};
use super::listed;
use super::mentions::has_any;
use super::nodes::names_of;
use super::objects::ClusterRef;
use super::problem::unparseable_other;
use super::scan::Content;
use super::{Loaded, Repo};
use crate::prelude::*;
use crate::repo::fields;

/// Documents by kind. Objects of lists are separate documents.
#[derive(Debug, Default)]
pub struct OtherObjects {
    by_kind: BTreeMap<String, Vec<Arc<Document>>>,
    /// Files that are templates, not YAML yet, so their objects are unknown.
    pub templates: Vec<Arc<SourceFile>>,
    /// The documents of which its built files were made.
    pub parts: Vec<Arc<Document>>,
    /// The machines that a person creates from an OpenShift Template, with its parameters' default values.
    pub created: Vec<Arc<Document>>,
    /// Files of KubeVirt's objects that can't be parsed.
    pub problems: Vec<Finding>,
    /// Whether the Application that applies the cluster's HyperConverged skips the dry run of missing kinds; `None` if
    /// no Application of the repository applies it.
    pub skips_dry_run: Option<bool>,
    /// Where what applies the cluster's HyperConverged says that it prunes, unless the HyperConverged is kept from that.
    pub pruned_by: Option<Location>,
    /// The first of each kind, namespace (possibly empty; `None`: any) and name; computed at the first look-up by name.
    by_name: OnceLock<HashMap<Name, Arc<Document>>>,
}

/// A kind, namespace and name.
type Name = (String, Option<String>, String);

/// The kinds that create a PersistentVolumeClaim of their own name.
const CLAIMS: [&str; 2] = ["PersistentVolumeClaim", "DataVolume"];

impl OtherObjects {
    /// The documents of a kind (`VirtualMachine`), in the order of their paths.
    pub fn of_kind(&self, kind: &str) -> &[Arc<Document>] {
        self.by_kind.get(kind).map_or(&[], Vec::as_slice)
    }

    /// The first document of a kind with this namespace, empty if it has none, and name; `None`: any namespace.
    pub fn named(&self, kind: &str, namespace: Option<&str>, name: &str) -> Option<&Arc<Document>> {
        let by_name = self.by_name.get_or_init(|| {
            let mut out = HashMap::new();
            for document in self.all() {
                let [kind, namespace, name] =
                    ["kind", "metadata.namespace", "metadata.name"].map(|field| document.text(field).to_owned());
                for namespace in [None, Some(namespace)] {
                    let key = (kind.clone(), namespace, name.clone());
                    out.entry(key).or_insert_with(|| Arc::clone(document));
                }
            }
            out
        });
        by_name.get(&(kind.to_owned(), namespace.map(str::to_owned), name.to_owned()))
    }

    /// All documents, by kind.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Document>> {
        self.by_kind.values().flatten()
    }

    /// All kinds, sorted.
    pub fn kinds(&self) -> impl Iterator<Item = &str> {
        self.by_kind.keys().map(String::as_str)
    }

    fn add(&mut self, document: Arc<Document>) {
        self.by_kind.entry(document.text("kind").to_owned()).or_default().push(document);
    }
}

impl FromIterator<Arc<Document>> for OtherObjects {
    fn from_iter<I: IntoIterator<Item = Arc<Document>>>(documents: I) -> Self {
        let mut out = Self::default();
        for document in documents {
            out.add(document);
        }
        out
    }
}

impl Repo {
    /// The files in a directory, or the file, in order.
    pub(super) fn files_below<'r>(&'r self, path: &'r Utf8Path) -> impl Iterator<Item = &'r FileUse> {
        let first = self.files.partition_point(|f| in_order(&f.path, path).is_lt());
        self.files[first..].iter().take_while(move |f| f.path.starts_with(path))
    }

    /// The clusters that a file or directory belongs to. The configuration, and a file with facts that is no cluster's,
    /// belong to all of them.
    pub fn users_of(&self, path: &Utf8Path) -> Vec<&ClusterRef> {
        let role = self.files.iter().find(|f| *f.path == *path).map(|f| &f.what);
        let facts = path.parent().filter(|_| matches!(role, Some(FileRole::Read(_))));
        let builds = self.built.inputs.iter().filter(|(_, inputs)| inputs.contains(path));
        let owners: Vec<&Utf8Path> =
            builds.map(|(build, _)| &**build).chain([path]).filter_map(|file| self.owners.owner(file)).collect();
        let is_of = |by: &&Applied| self.gitops().files_of(by).any(|file| file.path() == path);
        let appliers: Vec<&Applied> = self.gitops().applied.iter().filter(is_of).collect();
        let is_user = |c: &&ClusterRef| {
            self.is_within(c, path)
                || appliers.iter().any(|by| self.is_applied(by, c))
                || owners.contains(&c.directory())
                || facts.is_some_and(|directory| c.directory().starts_with(directory))
                || c.inventory_files.iter().any(|file| file.starts_with(path))
                || c.also.iter().any(|also| path.starts_with(also))
        };
        let users: Vec<&ClusterRef> = self.clusters.iter().filter(is_user).collect();
        let is_everyones = facts.is_some() && users.is_empty() || role == Some(&FileRole::Configuration);
        if is_everyones { self.clusters.iter().collect() } else { users }
    }

    /// The operands in a repository without a HyperConverged, each with its kind and file; and the number of read
    /// files.
    pub fn nearest_misses(&self) -> (Vec<(String, Arc<Utf8Path>)>, usize) {
        let mut found = Vec::new();
        let mut count = 0;
        for file in self.files.iter().filter(|f| f.is_read()) {
            count += 1;
            let Ok(source) = self.tree.source(&file.path) else {
                continue;
            };
            let content = Content::parse(source);
            for document in &content.documents {
                let kind = document.text("kind");
                if fields::has("operands", kind) {
                    found.push((kind.to_owned(), Arc::clone(&file.path)));
                }
            }
        }
        (found, count)
    }

    /// The files with virtual machines that belong to no cluster, in order.
    pub fn unowned_machines(&self) -> Vec<&Utf8Path> {
        let is_given =
            |path: &Utf8Path| self.clusters().iter().any(|c| c.also.iter().any(|also| path.starts_with(also)));
        let read = self.files.iter().filter(|f| f.is_read());
        let unowned = read.filter(|f| self.owners.owner(&f.path).is_none() && !is_given(&f.path));
        let has_machines = |file: &&FileUse| {
            // Most files name none, and needn't be parsed.
            let source = self.tree.source(&file.path).ok().filter(|source| source.text().contains("VirtualMachine"));
            source.is_some_and(|source| !objects_of(source, true).of_kind("VirtualMachine").is_empty())
        };
        unowned.filter(has_machines).map(|file| &*file.path).collect()
    }

    /// The other objects of a cluster's files whose text is of interest; the others aren't parsed.
    fn objects_in<'r>(
        &'r self,
        cluster: &'r ClusterRef,
        is_interesting: impl Fn(&str) -> bool + 'r,
    ) -> impl Iterator<Item = OtherObjects> + 'r {
        let files = self.files_of(cluster).into_iter();
        let files = files.filter(|f| is_candidate(&f.path));
        files.filter_map(move |file| {
            let source = self.tree.source(&file.path).ok()?;
            is_interesting(source.text()).then(|| objects_of(source, false))
        })
    }

    /// The platform that an object of a cluster shows: one that only OpenShift has, or a storage class of k3s, kind or
    /// minikube.
    pub(super) fn shown_platform(&self, cluster: &ClusterRef) -> Option<WithSource<Platform>> {
        const WORDS: [&str; 3] = ["openshift", "rancher.io/local-path", "k8s.io/minikube-hostpath"];
        let shown = |object: &Arc<Document>| {
            let [namespace, name] = names_of(object);
            let provisioner = object.text("provisioner");
            let is_of_openshift = object.text("apiVersion").contains(".openshift.io/")
                || namespace.starts_with("openshift-")
                || object.text("kind") == "Namespace" && name.starts_with("openshift-")
                || provisioner.starts_with("openshift-");
            let (value, kind) = match provisioner {
                _ if is_of_openshift => (Platform::OpenShift, "object of OpenShift"),
                _ if WORDS[1..].contains(&provisioner) => (Platform::Kubernetes, "StorageClass"),
                _ => return None,
            };
            let place = Some(object.locate(&Path::dotted("metadata.name")));
            Some(WithSource { value, by: FactOrigin::Object(kind), place })
        };
        let all = self.objects_in(cluster, |text| has_any(text, &WORDS));
        let all = all.flat_map(|objects| objects.by_kind.values().flatten().filter_map(shown).collect::<Vec<_>>());
        all.min_by_key(|fact| fact.value != Platform::OpenShift)
    }

    /// The claims that a cluster's other objects create in golden images' namespaces, of those that count: namespace and
    /// name. Only files that name such a namespace and kind are parsed.
    pub(super) fn claims(
        &self,
        cluster: &ClusterRef,
        counts: impl Fn(&Document) -> bool,
    ) -> BTreeSet<(String, String)> {
        let namespaces: Vec<&str> =
            Distribution::all().iter().map(|d| d.golden_images_namespace.value.as_str()).collect();
        let mut out = BTreeSet::new();
        for objects in self.objects_in(cluster, |text| has_any(text, &CLAIMS) && has_any(text, &namespaces)) {
            for document in CLAIMS.iter().flat_map(|kind| objects.of_kind(kind)) {
                let [namespace, name] = names_of(document);
                if namespaces.contains(&namespace) && !name.is_empty() && counts(document) {
                    out.insert((namespace.to_owned(), name.to_owned()));
                }
            }
        }
        out
    }

    /// The files that may have a cluster's other objects.
    pub(super) fn files_of<'r>(&'r self, cluster: &'r ClusterRef) -> Vec<&'r FileUse> {
        let directory = cluster.directory();
        // See [`Owners`](super::owners::Owners).
        let below = self.owners.reach(directory).into_iter().flat_map(|reach| self.files_below(reach));
        let is_own = |file: &&FileUse| file.is_read() && self.owners.owner(&file.path) == Some(directory);
        let mut files: Vec<&FileUse> = below.filter(is_own).collect();
        if !cluster.also.is_empty() {
            // Where a repository says what is a cluster's, nothing else is.
            files.retain(|file| self.owners.around(&file.path) == Some(directory));
            let own: HashSet<&Utf8Path> = files.iter().map(|f| &*f.path).collect();
            let given = |f: &&FileUse| cluster.also.iter().any(|also| f.path.starts_with(also));
            let elsewhere = self.files.iter().filter(|f| f.is_read()).filter(given);
            let elsewhere: Vec<_> = elsewhere.filter(|f| !own.contains(&*f.path)).collect();
            files.extend(elsewhere);
        }
        files
    }

    /// The other objects of a cluster: in and below its directory, except for other clusters' directories, and those
    /// that `hcoplan.yaml` assigns to it. Of an unparseable file the rest is skipped, and reported. The result isn't
    /// cached. Files that were read to load the cluster aren't read again.
    pub fn other_objects(&self, cluster: &ClusterRef, loaded: &Loaded) -> OtherObjects {
        let appliers = self.appliers_of(cluster);
        let skips_dry_run = appliers.iter().filter_map(|by| by.skips_dry_run()).reduce(|a, b| a || b);
        let pruned_by = appliers.iter().find_map(|by| by.pruned_at(&loaded.json));
        let mut out = OtherObjects { skips_dry_run, pruned_by, ..OtherObjects::default() };
        let known: HashMap<&Utf8Path, &Arc<Content>> = loaded.read.iter().rev().map(|c| (c.file.path(), c)).collect();
        let is_elsewhere = self.is_applied_elsewhere(cluster);
        for file in self.files_of(cluster).into_iter().filter(|file| !is_elsewhere(&file.path)) {
            let read = || Some(Arc::new(Content::parse(self.tree.source(&file.path).ok()?)));
            let Some(content) = known.get(&*file.path).map(|content| Arc::clone(content)).or_else(read) else {
                continue;
            };
            if content.is_template() {
                out.templates.push(Arc::clone(&content.file));
            } else if is_candidate(&file.path) {
                out.problems.extend(unparseable_other(&content));
            }
            out.parts.extend(self.parts_of_build(&file.path));
            let is_elsewhere = self.owners.around(&file.path) != Some(cluster.directory())
                && !cluster.also.iter().any(|also| file.path.starts_with(also));
            for document in &content.documents {
                add_objects(document, is_elsewhere, &mut out);
            }
        }
        out
    }
}

/// The objects of a file.
fn objects_of(file: Arc<SourceFile>, is_elsewhere: bool) -> OtherObjects {
    let mut out = OtherObjects::default();
    Content::parse(file).documents.iter().for_each(|document| add_objects(document, is_elsewhere, &mut out));
    out
}

fn add_objects(document: &Arc<Document>, is_elsewhere: bool, out: &mut OtherObjects) {
    let add = |object: Arc<Document>, out: &mut OtherObjects| {
        if !is_elsewhere || !fields::has("next-to-it", object.text("kind")) {
            out.add(object);
        }
    };
    let is_list = listed::is_list(&document.root);
    // Rules read wrappers, too.
    if !is_list || !document.text("kind").is_empty() && document.root.get("items").is_none() {
        add(Arc::clone(document), out);
    }
    // Of the objects in a wrapper machines and disks are the cluster's.
    let is_its = |object: &listed::Object<'_>| {
        let group = first_part(object.api_version(), '/');
        object.wrapper.is_none() || fields::has("machines", group)
    };
    let objects = if is_list { listed::objects(&document.root) } else { Vec::new() };
    for object in objects.into_iter().filter(is_its) {
        match object.wrapper.filter(|wrapper| wrapper.is_template) {
            None => add(Arc::new(object.as_document(document)), out),
            Some(template) => out.created.push(Arc::new(object.created(document, &template))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_creates_machines_with_its_default_values() {
        let text = "\
apiVersion: template.openshift.io/v1
kind: Template
metadata: {name: small}
objects:
- apiVersion: kubevirt.io/v1
  kind: VirtualMachine
  metadata: {name: \"${NAME}\"}
  spec: {template: {spec: {domain: {cpu: {cores: \"${{CORES}}\"}}, hostname: \"${HOST}-a\"}}}
- {apiVersion: v1, kind: Secret, metadata: {name: other}}
parameters:
- {name: NAME, generate: expression, from: \"[a-z]{4}\"}
- {name: CORES, value: \"2\"}
- {name: HOST, value: web}
";
        let objects = objects_of(SourceFile::new("template.yaml", text), false);
        let created: Vec<serde_json::Value> = objects.created.iter().map(|d| d.root.to_json()).collect();
        let spec = serde_json::json!({"template": {"spec": {"domain": {"cpu": {"cores": 2}}, "hostname": "web-a"}}});
        assert_eq!(created.len(), 1);
        assert_eq!((&created[0]["metadata"]["name"], &created[0]["spec"]), (&"${NAME}".into(), &spec));
        assert_eq!(objects.kinds().collect::<Vec<_>>(), ["Template"]);
    }
}
