//! Reads dumps of a running cluster: a must-gather, `oc adm inspect`, or the output of `kubectl get … -o yaml`.

use crate::inventory::{self, LoadedInventory, Source, SourceKind};
use serde_json::Value;

use super::candidate::is_candidate;
use super::listed::{self, Object};
use super::{Error, Identity, identity_in};
use crate::prelude::*;
use crate::repo::fields;

/// A field of an inventory's `spec`, as found in a dump.
#[derive(Debug, PartialEq)]
pub struct Fact {
    /// The field's name.
    pub field: &'static str,
    /// Its value.
    pub value: Value,
    /// The object that has it, for people: `the APIServer`.
    pub by: &'static str,
}

/// The fields, each with the kind that has it, where in it, and what to call that; an empty place: that there is one.
static FACTS: Table<Vec<[&str; 4]>> = Table::of(include_str!("facts.json"));

/// The objects of a running cluster.
#[derive(Debug, Default)]
pub struct Dump {
    /// Files with any of the objects.
    files: Vec<Arc<SourceFile>>,
    documents: Vec<Arc<Document>>,
    /// Kind and object, in the order of the files.
    objects: Vec<(&'static str, Value)>,
    /// Unreadable files with such an object, each with the error.
    pub broken: Vec<String>,
}

impl Dump {
    /// Adds the objects of a directory's YAML and JSON files, recursively.
    ///
    /// # Errors
    /// The directory can't be listed.
    pub fn add_directory(&mut self, directory: &Utf8Path) -> Result<(), Error> {
        let tree = Directory::open(directory, max_bytes())?;
        let listing = tree.list(&Walk { checkout: true, ..Walk::default() })?;
        for path in listing.files.iter().filter(|p| is_candidate(p)) {
            match tree.read(path) {
                Ok(bytes) => self.add_if_known(SourceFile::from_bytes(directory.join(path), bytes)),
                Err(why) => self.broken.push(format!("{}: {why}", directory.join(path))),
            }
        }
        Ok(())
    }

    /// [`Dump::add`] for a file that mentions any of the kinds: most manifests of a must-gather are of other operators.
    fn add_if_known(&mut self, file: Arc<SourceFile>) {
        if fields::pairs_of("dump").any(|(kind, _)| file.text().contains(kind)) {
            self.add(&file);
        }
    }

    /// Adds the objects of a file.
    pub fn add(&mut self, file: &Arc<SourceFile>) {
        let parsed = yaml::parse(file);
        if let Some(problem) = parsed.fatal(file) {
            return self.broken.push(problem);
        }
        // Items of a list needn't repeat kind and version.
        let known = |object: &Object<'_>| {
            let (version, kind) = (object.api_version(), object.kind());
            let group = version.split_once('/').map_or("", |(group, _)| group);
            let mut known = fields::pairs_of("dump").filter(|_| object.wrapper.is_none());
            let (kind, _) = known.find(|known| *known == (&*kind, group))?;
            let mut json = object.node.to_json();
            json["apiVersion"] = version.into();
            json["kind"] = kind.into();
            Some((kind, json))
        };
        let before = self.objects.len();
        for document in parsed.documents.into_iter().map(Arc::new) {
            let known_before = self.objects.len();
            self.objects.extend(listed::objects(&document.root).iter().filter_map(known));
            self.documents.extend(Some(document).filter(|_| self.objects.len() > known_before));
        }
        self.files.extend(Some(Arc::clone(file)).filter(|_| self.objects.len() > before));
    }

    /// The number of objects of a kind.
    pub fn count(&self, kind: &str) -> usize {
        self.of(kind).count()
    }

    fn of<'d>(&'d self, kind: &'d str) -> impl Iterator<Item = &'d Value> {
        let of_kind = self.objects.iter().filter(move |(k, _)| *k == kind);
        of_kind.map(|(_, object)| object)
    }

    /// The cluster's HyperConvergeds as a stream of documents.
    pub fn hyperconvergeds(&self) -> String {
        let objects = self.of("HyperConverged").map(yaml::emit);
        joined(objects, "---\n")
    }

    /// Its nodes, and findings about them.
    pub fn nodes(&self) -> (LoadedInventory, Vec<Finding>) {
        let is_node =
            |node: &Node| SourceKind::of(node.text("apiVersion"), node.text("kind")) == Some(SourceKind::Nodes);
        let is_nodes = |d: &&Arc<Document>| is_node(&d.root) || d.root.list_at("items").iter().any(is_node);
        let documents = self.documents.iter().filter(is_nodes);
        let sources: Vec<Source> =
            documents.map(|document| Source { kind: SourceKind::Nodes, document: Arc::clone(document) }).collect();
        inventory::load(&sources)
    }

    /// Its namespace, platform and release.
    pub fn identity(&self) -> Identity {
        identity_in([], self.files.iter().map(Arc::clone))
    }

    /// The platform that its nodes' labels tell. Each kubelet sets the hostname: nodes without it were dumped without
    /// their labels, and say nothing.
    pub fn platform(&self) -> Option<Platform> {
        let have = |prefix: &str| {
            self.of("Node").any(|node| {
                let labels = node["metadata"]["labels"].as_object();
                labels.is_some_and(|l| l.keys().any(|k| k.starts_with(prefix)))
            })
        };
        let kubernetes = || have("kubernetes.io/hostname").then_some(Platform::Kubernetes);
        have("node.openshift.io/").then_some(Platform::OpenShift).or_else(kubernetes)
    }

    /// The inventory's other fields that it has.
    pub fn facts(&self) -> Vec<Fact> {
        let fact = |[field, kind, pointer, by]: &[&'static str; 4]| {
            let found = self.of(kind).next()?.pointer(pointer)?;
            let value = match *field {
                "baseDomain" => found.as_str().map(|d| d.strip_prefix("apps.").unwrap_or(d).into())?,
                "ipFamilies" => families(found)?,
                "hostedControlPlane" => (found == "External").then_some(json!(true))?,
                // OpenShift always has them.
                _ if pointer.is_empty() => (self.platform() != Some(Platform::OpenShift)).then_some(json!(true))?,
                _ => found.clone(),
            };
            (!value.is_null()).then_some(Fact { field, value, by })
        };
        FACTS.iter().filter_map(fact).collect()
    }

    /// Whether a placement of the dump names a label: the HyperConverged's, or KubeVirt's.
    pub fn names_label(&self, key: &str) -> bool {
        let mut placing = self.of("HyperConverged").chain(self.of("KubeVirt"));
        placing.any(|object| object["spec"].to_string().contains(key))
    }
}

/// The IP families of a cluster network, IPv4 first.
fn families(network: &Value) -> Option<Value> {
    let networks = [&network["status"]["clusterNetwork"], &network["spec"]["clusterNetwork"]];
    let list = networks.into_iter().find_map(Value::as_array)?;
    let cidrs: Vec<&str> = list.iter().filter_map(|n| n["cidr"].as_str()).collect();
    let is_used = |(_, is): &(&str, bool)| cidrs.iter().any(|cidr| cidr.contains(':') == *is);
    let families = [("IPv4", false), ("IPv6", true)].into_iter().filter(is_used).map(|(family, _)| family);
    let families: Vec<&str> = families.collect();
    (!families.is_empty()).then(|| json!(families))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dump(texts: &[&str]) -> Dump {
        let mut dump = Dump::default();
        for text in texts {
            dump.add_if_known(SourceFile::new("a.yaml", *text));
        }
        dump
    }

    #[test]
    fn finds_facts_in_any_file_of_a_dump() {
        let dump = dump(&[
            "apiVersion: config.openshift.io/v1\nkind: IngressList\nitems:\n- spec: {domain: apps.east.example.com}\n",
            "apiVersion: v1\nkind: List\nitems:\n- apiVersion: config.openshift.io/v1\n  kind: Network\n  status: \
             {clusterNetwork: [{cidr: 'fd01::/48'}, {cidr: 10.128.0.0/14}]}\n",
            "apiVersion: config.openshift.io/v1\nkind: APIServer\nspec: {tlsSecurityProfile: {type: Modern}}\n",
            "apiVersion: networking.k8s.io/v1\nkind: Ingress\nspec: {domain: apps.other}\n",
            "apiVersion: hco.kubevirt.io/v1beta1\nkind: HyperConverged\nspec: {x: {nodeSelector: {rack: a}}}\nstatus: \
             {dataImportSchedule: '1 2 * * *'}\n",
        ]);
        let facts = dump.facts().into_iter().map(|f| format!("{}: {}", f.field, f.value));
        assert_eq!(
            facts.collect::<Vec<_>>(),
            [
                "baseDomain: \"east.example.com\"",
                "tlsSecurityProfile: {\"type\":\"Modern\"}",
                "ipFamilies: [\"IPv4\",\"IPv6\"]",
                "dataImportSchedule: \"1 2 * * *\"",
            ]
        );
        assert!(dump.names_label("rack") && !dump.names_label("zone"));
        assert!(dump.hyperconvergeds().contains("kind: HyperConverged"));
    }

    #[test]
    fn labels_of_openshift_tell_its_nodes_from_others() {
        let node = |label| format!("apiVersion: v1\nkind: Node\nmetadata: {{labels: {{{label}: ''}}}}\n");
        let platform = |label| dump(&[&node(label)]).platform();
        assert_eq!(platform("node.openshift.io/os_id"), Some(Platform::OpenShift));
        assert_eq!(platform("kubernetes.io/hostname"), Some(Platform::Kubernetes));
        assert_eq!(platform("kubernetes.io/arch"), None);
    }

    #[test]
    fn reports_broken_files_and_skips_foreign_ones() {
        let dump = dump(&["kind: Node\n  a: [\n", "a: [ # nothing of ours\n"]);
        assert_eq!(dump.broken.len(), 1, "{:?}", dump.broken);
    }
}
