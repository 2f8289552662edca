//! Reads facts about a cluster from other manifests than the inventory: namespace, platform and release.
//!
//! A manifest applies to the clusters below the nearest directory above it that has any: an operator's directory next
//! to that of its HyperConverged for one cluster, a shared one for all.

use super::choose_release::release_name;
use super::wrappers::unknown::expression;
use crate::prelude::*;
use crate::repo::nodes::fields_at;

/// A kind of manifest with facts about a cluster, by precedence; the names are Kubernetes'.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Deserialize)]
pub enum StatementKind {
    /// The Subscription that makes OLM install HCO.
    Subscription,
    /// Open Cluster Management's policy with such a Subscription.
    OperatorPolicy,
    /// The OperatorGroup, in the operators' namespace.
    OperatorGroup,
    /// HCO's CSV, which OLM installed.
    ClusterServiceVersion,
    /// The operator's own Deployment.
    Deployment,
    /// OpenShift's version.
    ClusterVersion,
}

/// A kind with its API group, its name and a field, and the values of the field that make it HCO's; `*` ends a prefix.
type Row = (StatementKind, [&'static str; 3], Vec<&'static str>);

static KINDS: Table<Vec<Row>> = Table::of(include_str!("statements.json"));

impl StatementKind {
    /// The kind of an object; `None` if it has no facts about HCO's cluster.
    pub(super) fn of(root: &Node) -> Option<Self> {
        let (group, kind) = (first_part(root.text("apiVersion"), '/'), root.text("kind"));
        let row = KINDS.iter().find(|(_, [known, own, _], _)| *known == group && *own == kind);
        let Some((own, [.., field], values)) = row else {
            return subscribed(root).filter(|_| group.is_empty() && kind.is_empty()).map(|_| Self::Subscription);
        };
        let is_it = |known: &&str| match known.strip_suffix('*') {
            Some(prefix) => root.text(field).starts_with(prefix),
            None => root.text(field) == *known,
        };
        values.iter().any(is_it).then_some(*own)
    }
}

/// The prefix of the names of HCO's CSVs, before the version.
const CSV: &str = "kubevirt-hyperconverged-operator.";

/// The OLM packages of HCO: upstream's and OpenShift Virtualization's.
pub const HCO_PACKAGES: [&str; 2] = ["community-kubevirt-hyperconverged", "kubevirt-hyperconverged"];

/// A value with its path in the document.
type PlacedValue<T> = Option<(T, Path)>;

/// The facts of one manifest.
#[derive(Debug)]
pub(super) struct Statement {
    pub(super) kind: StatementKind,
    pub(super) document: Arc<Document>,
    pub(super) namespace: PlacedValue<String>,
    pub(super) platform: PlacedValue<Platform>,
    /// A release's name, `4.20.3` or `1.17`.
    pub(super) release: PlacedValue<String>,
    /// The release that OLM installs first, `4.20.3`: a lower bound.
    pub(super) at_least: PlacedValue<String>,
    /// The distribution whose package it installs.
    pub(super) distribution: Option<&'static Distribution>,
}

impl Statement {
    /// Reads the facts of a document of this kind.
    pub(super) fn read(kind: StatementKind, document: Arc<Document>) -> Self {
        let root = &document.root;
        let mut statement = Self {
            kind,
            namespace: None,
            platform: None,
            release: None,
            at_least: None,
            distribution: None,
            document: Arc::clone(&document),
        };
        match kind {
            StatementKind::Subscription => match subscribed(root) {
                Some(path) => statement.subscription(root, &path, &format!("{path}.namespace")),
                None => statement.subscription(root, "spec", "metadata.namespace"),
            },
            StatementKind::OperatorPolicy => statement.operator_policy(root),
            StatementKind::OperatorGroup => statement.namespace = operator_group(root),
            StatementKind::ClusterServiceVersion => statement.csv(root),
            StatementKind::Deployment => statement.deployment(root),
            StatementKind::ClusterVersion => statement.cluster_version(root),
        }
        statement
    }

    /// The numbers of its version, for comparing.
    pub(super) fn version(&self) -> Option<Vec<u64>> {
        let (version, _) = self.release.as_ref()?;
        version.split('.').map(|n| n.parse().ok()).collect()
    }

    /// The facts of a Subscription's `spec` at a path.
    fn subscription(&mut self, root: &Node, spec: &str, namespace: &str) {
        let at = |key: &str| at(root, &format!("{spec}.{key}"));
        self.namespace = self::at(root, namespace);
        self.distribution = at("name").and_then(|(p, _)| Distribution::of_package(&p));
        self.platform = at("sourceNamespace").and_then(|(namespace, path)| match namespace.as_str() {
            // The namespace of OpenShift's own catalogs, and that of OLM's where it isn't OpenShift's.
            "openshift-marketplace" => Some((Platform::OpenShift, path)),
            "olm" => Some((Platform::Kubernetes, path)),
            _ => None,
        });
        let starting = at("startingCSV").or_else(|| at("csv")).and_then(|(name, path)| Some((of_csv(&name)?, path)));
        // What OLM installs first stays where a person approves each update, or an OperatorPolicy approves none.
        let is_manual = at("installPlanApproval").is_some_and(|(approval, _)| approval == "Manual")
            || self::at(root, "spec.upgradeApproval").is_some_and(|(approval, _)| approval == "None");
        let channel = at("channel").and_then(|(channel, path)| {
            let version = channel.rsplit('-').next()?;
            Some((release_name(version)?, path))
        });
        let installed = starting.clone().filter(|_| is_manual);
        self.release = installed.or(channel);
        self.at_least = starting.filter(|_| !is_manual);
    }

    /// The facts of an OperatorPolicy, which may list the versions that it allows.
    fn operator_policy(&mut self, root: &Node) {
        self.subscription(root, "spec.subscription", "spec.subscription.namespace");
        let versions = root.list_at("spec.versions");
        let names = versions.iter().enumerate().filter_map(|(index, node)| Some((index, of_csv(node.as_str()?)?)));
        let newest = names.max_by_key(|(_, version)| version_numbers(version));
        if let Some((index, version)) = newest {
            self.release = Some((version, Path::dotted("spec.versions").index(index)));
        }
    }

    fn csv(&mut self, root: &Node) {
        // OLM copies CSVs into every watched namespace, with the operator's namespace.
        let path = Path::annotation("olm.operatorNamespace");
        let own = root.str_at(&path).map(|namespace| (namespace.to_owned(), path));
        // A bundle's CSV has a placeholder, and applies to no cluster.
        self.namespace = own.or_else(|| at(root, "metadata.namespace").filter(|(n, _)| n != "placeholder"));
        if self.namespace.is_some() {
            let name = at(root, "metadata.name");
            self.release = name.and_then(|(name, path)| Some((of_csv(&name)?, path)));
        }
    }

    /// The operator's Deployment has its version in the environment, or as its image's tag.
    fn deployment(&mut self, root: &Node) {
        self.namespace = at(root, "metadata.namespace");
        let container = Path::dotted("spec.template.spec.containers").index(0);
        let set = root.at(&container.key("env")).map_or(&[][..], Node::items).iter();
        let set = set.enumerate().filter(|(_, variable)| variable.text("name") == "HCO_KV_IO_VERSION");
        let paths = set.map(|(at, _)| container.key("env").index(at).key("value")).chain([container.key("image")]);
        self.release = paths.into_iter().find_map(|path| {
            let text = root.at(&path)?.as_str()?.rsplit(':').next()?;
            Some((release_name(text)?, path))
        });
    }

    fn cluster_version(&mut self, root: &Node) {
        self.platform = Some((Platform::OpenShift, Path::dotted("kind")));
        let paths = ["status.desired.version", "spec.desiredUpdate.version"];
        let version = paths.into_iter().find_map(|path| at(root, path));
        // The distribution's channel has the version that belongs to the platform's.
        self.release = version.and_then(|(version, path)| {
            let (line, _) = version_parts(&version)?;
            Distribution::of_line(&line)?;
            Some((line, path))
        });
    }
}

/// Where the values of a cluster group of Validated Patterns subscribe to HCO.
fn subscribed(values: &Node) -> Option<String> {
    const ALL: &str = "clusterGroup.subscriptions";
    let mut all = fields_at(values, ALL).iter();
    let own = all.find(|entry| HCO_PACKAGES.contains(&entry.value.text("name")))?;
    Some(format!("{ALL}.{}", own.key.text))
}

/// The namespace of an OperatorGroup that is HCO's by its name or namespace.
fn operator_group(root: &Node) -> PlacedValue<String> {
    let (namespace, path) = at(root, "metadata.namespace")?;
    let named = at(root, "metadata.name").is_some_and(|(n, _)| n.contains("kubevirt-hyperconverged"));
    let mut known = Distribution::all().iter();
    (named || known.any(|d| d.namespace.value == namespace)).then_some((namespace, path))
}

/// `kubevirt-hyperconverged-operator.v4.20.3` is of release `4.20.3`.
fn of_csv(name: &str) -> Option<String> {
    release_name(name.strip_prefix(CSV)?)
}

fn at(root: &Node, dotted: &str) -> PlacedValue<String> {
    let path = Path::dotted(dotted);
    // What something fills in isn't known.
    let text = root.at(&path)?.as_str().filter(|text| expression(text).is_none() && !text.starts_with('<'))?;
    (!text.is_empty()).then(|| (text.to_owned(), path))
}

#[cfg(test)]
mod tests {
    use hcoplan_diagnostics::source::SourceFile;
    use hcoplan_yaml as yaml;

    use super::*;

    /// Namespace, platform and release that a manifest states.
    fn statement(text: &str) -> String {
        let file = SourceFile::new("a.yaml", text);
        let document = yaml::parse(&file).documents.into_iter().next().expect("one");
        let Some(kind) = StatementKind::of(&document.root) else {
            return "nothing".to_owned();
        };
        let statement = Statement::read(kind, document.into());
        let text = |value: Option<String>| value.unwrap_or_else(|| "?".to_owned());
        let at_least = statement.at_least.map_or_else(String::new, |r| format!(" from {}", r.0));
        format!(
            "{} {} {}{at_least}",
            text(statement.namespace.map(|n| n.0)),
            text(statement.platform.map(|p| p.0.as_str().to_owned())),
            text(statement.release.map(|r| r.0)),
        )
    }

    #[test]
    fn reads_the_release_from_each_kind() {
        let olm = "apiVersion: operators.coreos.com/v1alpha1\n";
        let cases = [
            (
                "kind: Subscription\nmetadata: {name: hco, namespace: openshift-cnv}\nspec: {name: \
                 kubevirt-hyperconverged, sourceNamespace: openshift-marketplace, channel: stable, \
                 startingCSV: kubevirt-hyperconverged-operator.v4.20.3}\n",
                "openshift-cnv OpenShift ? from 4.20.3",
            ),
            (
                "kind: Subscription\nmetadata: {name: hco, namespace: openshift-cnv}\nspec: {name: \
                 kubevirt-hyperconverged, sourceNamespace: openshift-marketplace, channel: stable, \
                 installPlanApproval: Manual, startingCSV: kubevirt-hyperconverged-operator.v4.20.3}\n",
                "openshift-cnv OpenShift 4.20.3",
            ),
            (
                "kind: Subscription\nmetadata: {namespace: kubevirt-hyperconverged}\nspec: {name: \
                 community-kubevirt-hyperconverged, sourceNamespace: olm, channel: candidate-v1.18}\n",
                "kubevirt-hyperconverged Kubernetes 1.18",
            ),
            ("kind: Subscription\nspec: {name: kubevirt-hyperconverged, channel: stable}\n", "? ? ?"),
            ("kind: Subscription\nspec: {name: other}\n", "nothing"),
            ("kind: OperatorGroup\nmetadata: {name: og, namespace: openshift-cnv}\n", "openshift-cnv ? ?"),
            ("kind: OperatorGroup\nmetadata: {name: og, namespace: openshift-storage}\n", "? ? ?"),
            (
                "kind: ClusterServiceVersion\nmetadata: {name: \
                 kubevirt-hyperconverged-operator.v1.17.3, namespace: hco}\n",
                "hco ? 1.17.3",
            ),
            (
                "kind: ClusterServiceVersion\nmetadata: {name: \
                 kubevirt-hyperconverged-operator.v4.21.0, namespace: placeholder}\n",
                "? ? ?",
            ),
            ("kind: ClusterServiceVersion\nmetadata: {name: other.v1.17.3}\n", "nothing"),
        ];
        for (text, expected) in cases {
            assert_eq!(statement(&format!("{olm}{text}")), expected, "{text}");
        }
        let deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: hyperconverged-cluster-operator, \
                          namespace: hco}\nspec: {template: {spec: {containers: [{image: 'r.example.com/hco:v1.17.3'";
        assert_eq!(statement(&format!("{deployment}}}]}}}}}}\n")), "hco ? 1.17.3");
        let variable = "env: [{name: HCO_KV_IO_VERSION, value: 1.16.0}]";
        assert_eq!(statement(&format!("{deployment}, {variable}}}]}}}}}}\n")), "hco ? 1.16.0");
        let version =
            "apiVersion: config.openshift.io/v1\nkind: ClusterVersion\nstatus: {desired: {version: 4.20.11}}\n";
        assert_eq!(statement(version), "? OpenShift 4.20");
    }
}
