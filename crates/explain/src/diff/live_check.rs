//! Compares a cluster at rest with what its operators are expected to make of its HyperConverged. A difference is a
//! mistake of hcoplan, or another writer's change.

use super::assumed::{SideOrigin, mark_assumed};
use super::live::{comparable, mark_noise, same_object};
use super::semantic;
use crate::diff::Kind;
use crate::diff::semantic::ObjectChange;
use crate::prelude::*;
use hcoplan_planner::plan::Status;
use hcoplan_planner::release::version_parts;
use std::fmt;

/// The result of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct LiveCheck {
    /// The planned release.
    pub release: String,
    /// The HyperConverged in the cluster, without what only a server sets.
    pub hyperconverged: Value,
    /// Why nothing is compared, if so.
    pub incomparable: Option<Incomparable>,
    /// Number of compared objects.
    pub objects: usize,
    /// The differences: `before` is the cluster's value, `after` the expected one. Values that only a server sets aren't
    /// among them.
    pub differences: Vec<ObjectChange>,
}

/// Why a cluster isn't compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Incomparable {
    /// It runs another version of HCO than the planned one.
    OtherVersion {
        /// The version that runs.
        cluster: String,
        /// The planned version.
        planned: String,
    },
    /// HCO hasn't finished; the reason of its condition.
    Reconciling(String),
    /// Its nodes are assumed.
    AssumedNodes,
}

impl Display for Incomparable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherVersion { cluster, planned } => {
                write!(f, "the cluster runs HCO {cluster}, and {planned} is planned")
            }
            Self::Reconciling(reason) => write!(f, "HCO is not at rest: ReconcileComplete is not True ({reason})"),
            Self::AssumedNodes => f.write_str("the nodes are assumed"),
        }
    }
}

/// The state that is expected in a cluster.
#[derive(Debug, Clone, Copy)]
pub struct ExpectedState<'a> {
    /// The planned release.
    pub release: &'a Release,
    /// The status of the HyperConverged.
    pub status: &'a Status,
    /// The operators' objects.
    pub objects: &'a [Object],
    /// Whether the nodes are assumed.
    pub has_assumed_nodes: bool,
    /// The domain, if it is assumed.
    pub assumed_domain: Option<&'a str>,
}

impl LiveCheck {
    /// Compares the objects in a dump with the expected ones. `None` if the dump has no objects of the operators. An
    /// expected object is missing only if the dump has others of its kind and namespace: else the dump doesn't tell.
    pub fn of(live: &Value, dump: &[Object], expected: ExpectedState<'_>) -> Option<Self> {
        let release = expected.release;
        let place = |id: &ObjectId| (id.group().to_owned(), id.kind.clone(), id.namespace.clone());
        let dumped: BTreeSet<_> = dump.iter().map(|object| place(&object.id)).collect();
        let has = |id: &ObjectId| dump.iter().any(|object| same_object(&object.id, id));
        expected.objects.iter().find(|object| has(&object.id))?;
        let mut objects: Vec<Object> = expected
            .objects
            .iter()
            .filter(|object| has(&object.id) || dumped.contains(&place(&object.id)))
            .cloned()
            .collect();
        // What the operator makes for itself isn't planned.
        let is_planned = |object: &Object| {
            let id = &object.id;
            objects.iter().any(|expected| same_object(&expected.id, id))
                || release.schema_of(&id.api_version, &id.kind).is_some()
                || release.constants().has(&format!("{}/{}", id.kind, id.name))
        };
        let mut cluster = comparable(dump.to_vec(), &objects);
        cluster.retain(is_planned);
        let compared = objects.len();
        cluster.push(status_object(live, &live["status"]));
        objects.push(status_object(live, &printed(expected.status)));
        let mut differences = semantic::objects(release, &cluster, &objects);
        mark_noise(release, &mut differences);
        mark_assumed(SideOrigin::Found, SideOrigin::Rendered(release), &mut differences);
        differences.retain(|change| change.kind != Kind::Change || !change.is_noise());
        for change in &mut differences {
            change.fields.retain(|field| {
                // What contains an assumed text.
                let assumed = field.step.after.as_ref().zip(expected.assumed_domain);
                let is_assumed = assumed.is_some_and(|(value, assumed)| value.to_string().contains(assumed));
                field.step.noise.is_none() && !is_assumed
            });
        }
        differences.retain(|change| change.kind != Kind::Change || !change.fields.is_empty());
        let incomparable = incomparable(live, expected);
        if incomparable.is_some() {
            differences.clear();
        }
        let hyperconverged = super::live::without_server_fields(Object::new(live.clone()));
        Some(Self {
            release: release.title(),
            hyperconverged: (*hyperconverged.body).clone(),
            incomparable,
            objects: compared,
            differences,
        })
    }
}

fn incomparable(live: &Value, expected: ExpectedState<'_>) -> Option<Incomparable> {
    let items = |key: &str| elements(&live["status"][key]);
    let version = items("versions").find(|version| version["name"] == "operator");
    let version = version.and_then(|version| version["version"].as_str()).unwrap_or_default();
    let planned = expected.release.version();
    if version_parts(version).is_some() && version_parts(version) != version_parts(planned) {
        return Some(Incomparable::OtherVersion { cluster: version.to_owned(), planned: planned.to_owned() });
    }
    let complete = items("conditions").find(|condition| condition["type"] == "ReconcileComplete");
    if complete.is_none_or(|condition| condition["status"] != "True") {
        let reason = complete.and_then(|condition| condition["reason"].as_str()).unwrap_or("no such condition");
        return Some(Incomparable::Reconciling(reason.to_owned()));
    }
    expected.has_assumed_nodes.then_some(Incomparable::AssumedNodes)
}

/// The expected status as the cluster prints it.
fn printed(status: &Status) -> Value {
    json!({
        "nodeInfo": status.node_info,
        "dataImportCronTemplates": status.data_import_cron_templates.as_deref(),
    })
}

/// The planned parts of a status as an object, without times.
fn status_object(live: &Value, status: &Value) -> Object {
    let mut parts = json!({});
    for key in ["nodeInfo", "dataImportCronTemplates"] {
        let part = &status[key];
        let is_empty = part.is_null() || part.as_array().is_some_and(Vec::is_empty) || part == &json!({});
        if !is_empty {
            parts[key] = part.clone();
        }
    }
    let templates = parts.get_mut("dataImportCronTemplates").and_then(Value::as_array_mut);
    for template in templates.into_iter().flatten() {
        for condition in template["status"]["conditions"].as_array_mut().into_iter().flatten() {
            condition.as_object_mut().map(|condition| condition.remove("lastTransitionTime"));
        }
    }
    let metadata = &live["metadata"];
    Object::new(json!({
        "apiVersion": live["apiVersion"],
        "kind": live["kind"],
        "metadata": {"name": metadata["name"], "namespace": metadata["namespace"]},
        "status": parts,
    }))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use hcoplan_planner::plan::{Plan, plan};

    use super::super::declared;
    use super::*;

    const NODES: &str = "nodePools:\n  - {name: c, count: 3, architecture: amd64, roles: [control-plane]}\n  \
                         - {name: w, count: 2, architecture: amd64, roles: [worker]}\n  baseDomain: lab.local";

    struct Cluster {
        release: Arc<Release>,
        plan: Plan,
        live: Value,
        dump: Vec<Value>,
    }

    impl Cluster {
        /// A cluster at rest, as the API server prints it.
        fn new() -> Self {
            let release = Release::known("1.18").expect("known");
            let metadata = json!({"name": "kubevirt-hyperconverged", "namespace": "kubevirt-hyperconverged"});
            let mut live = json!({"apiVersion": "hco.kubevirt.io/v1beta1", "kind": "HyperConverged", "metadata": metadata, "spec": {}});
            let plan = plan(&release, &declared(NODES).inventory, &live);
            live["status"] = printed(&plan.status);
            live["status"]["conditions"] = json!([{"type": "ReconcileComplete", "status": "True"}]);
            live["status"]["versions"] = json!([{"name": "operator", "version": release.version()}]);
            live["metadata"]["uid"] = json!("1");
            let dump = plan.objects().map(|object| {
                let mut body = (*object.body).clone();
                body["metadata"]["uid"] = json!("2");
                body["status"] = json!({"phase": "Deployed"});
                if object.id.kind == "Deployment" {
                    body["spec"]["progressDeadlineSeconds"] = json!(600);
                }
                body
            });
            Self { dump: dump.collect(), live, plan, release }
        }

        fn object(&mut self, kind: &str) -> &mut Value {
            self.dump.iter_mut().find(|object| object["kind"] == kind).expect("rendered")
        }

        fn check_with(&self, has_assumed_nodes: bool, assumed_domain: Option<&str>) -> Option<LiveCheck> {
            let dump: Vec<Object> = self.dump.iter().cloned().map(Object::new).collect();
            let objects: Vec<Object> = self.plan.objects().cloned().collect();
            let (release, status) = (&*self.release, &self.plan.status);
            let expected = ExpectedState { release, status, objects: &objects, has_assumed_nodes, assumed_domain };
            LiveCheck::of(&self.live, &dump, expected)
        }

        fn check(&self) -> LiveCheck {
            self.check_with(false, None).expect("compared")
        }

        /// `Kind path`, or the kind of an object that only one side has.
        fn differences(&self) -> Vec<String> {
            let of = |change: &ObjectChange| match change.kind {
                Kind::Change => change.fields.iter().map(|f| format!("{} {}", change.id.kind, f.step.label)).collect(),
                kind => vec![format!("{} {}", kind.as_str(), change.id)],
            };
            self.check().differences.iter().flat_map(of).collect()
        }
    }

    #[test]
    fn ignores_what_only_a_server_sets() {
        let cluster = Cluster::new();
        let check = cluster.check();
        assert_eq!((check.incomparable, check.objects), (None, cluster.dump.len()));
        assert_eq!(cluster.differences(), [""; 0]);
        assert!(check.hyperconverged.get("status").is_none());
        assert!(check.hyperconverged["metadata"].get("uid").is_none());
    }

    #[test]
    fn finds_values_and_objects_that_are_otherwise() {
        let mut cluster = Cluster::new();
        cluster.object("KubeVirt")["spec"]["workloadUpdateStrategy"]["batchEvictionSize"] = json!(77);
        cluster.object("KubeVirt")["spec"]["imagePullPolicy"] = json!("Never");
        cluster.object("ConfigMap")["metadata"]["name"] = json!("renamed");
        let managed = json!({"app.kubernetes.io/managed-by": "hco-operator"});
        let own = |api: &str, kind: &str, name: &str| json!({"apiVersion": api, "kind": kind, "metadata": {"name": name, "namespace": "kubevirt-hyperconverged", "labels": managed}});
        cluster.dump.push(own("aaq.kubevirt.io/v1alpha1", "AAQ", "aaq"));
        // What the operator makes for itself.
        cluster.dump.push(own("v1", "Service", "kubevirt-hyperconverged-operator-metrics"));
        cluster.live["status"]["nodeInfo"]["workloadsArchitectures"] = json!(["arm64"]);
        let found = cluster.differences();
        for wanted in [
            "KubeVirt spec.workloadUpdateStrategy.batchEvictionSize",
            "KubeVirt spec.imagePullPolicy",
            "HyperConverged status.nodeInfo.workloadsArchitectures",
            "remove AAQ kubevirt-hyperconverged/aaq",
        ] {
            assert!(found.iter().any(|f| f.starts_with(wanted)), "{wanted}: {found:?}");
        }
        assert!(found.iter().any(|f| f.starts_with("add ConfigMap")), "{found:?}");
        assert!(!found.iter().any(|f| f.contains("metrics")), "{found:?}");
    }

    #[test]
    fn compares_only_what_the_dump_tells() {
        let mut cluster = Cluster::new();
        cluster.dump.retain(|object| object["kind"] == "KubeVirt");
        assert_eq!(cluster.differences(), [""; 0]);
        assert_eq!(cluster.check().objects, 1);
        cluster.dump.clear();
        assert_eq!(cluster.check_with(false, None), None);
    }

    #[test]
    fn doesnt_compare_what_is_unknown() {
        let mut cluster = Cluster::new();
        cluster.object("KubeVirt")["spec"]["imagePullPolicy"] = json!("Never");
        let why = |cluster: &Cluster, nodes| {
            let check = cluster.check_with(nodes, None).expect("compared");
            assert_eq!(check.differences, [], "{:?}", check.incomparable);
            check.incomparable.expect("a reason")
        };
        assert_eq!(why(&cluster, true), Incomparable::AssumedNodes);
        cluster.live["status"]["versions"][0]["version"] = json!("1.18.0");
        let other = why(&cluster, false).to_string();
        assert!(other.starts_with("the cluster runs HCO 1.18.0, and "), "{other}");
        cluster.live["status"].as_object_mut().expect("a status").remove("versions");
        cluster.live["status"]["conditions"][0] =
            json!({"type": "ReconcileComplete", "status": "False", "reason": "Init"});
        assert_eq!(why(&cluster, false), Incomparable::Reconciling("Init".to_owned()));
        // A value that rests on an assumed domain.
        let mut cluster = Cluster::new();
        let with_domain = |object: &&mut Value| object.to_string().contains("apps.lab.local");
        let object = cluster.dump.iter_mut().find(with_domain).expect("rendered");
        *object = serde_json::from_str(&object.to_string().replace("lab.local", "other.org")).expect("JSON");
        assert_eq!(cluster.check_with(false, Some("lab.local")).expect("compared").differences, []);
        assert_ne!(cluster.check().differences, []);
    }
}
