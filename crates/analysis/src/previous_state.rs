//! The objects in the clusters before the change: the old object of an update.

use super::export::{export, take_apart};
use crate::prelude::*;
use hcoplan_kubernetes::text::first_part;
use hcoplan_planner::admission::{GROUP, KIND};
use hcoplan_planner::boot_images::ssp_stage::CRON_LABEL;
use hcoplan_yaml as yaml;
use std::borrow::Cow;

/// The object in a cluster.
#[derive(Debug, Clone)]
pub(super) enum PreviousObject {
    /// As the API server returns it.
    Live(Value),
    /// As it is written; it was applied and reconciled.
    Manifest(Value),
}

impl PreviousObject {
    /// The state of its cluster before `manifest` is submitted.
    pub(super) fn state(&self, empty: State, manifest: &Value) -> State {
        match self {
            Self::Live(live) => empty.with_live(live, manifest),
            Self::Manifest(old) => {
                let held = empty.holding(old);
                if held.stored.is_some() { held } else { empty.with_live(old, manifest) }
            }
        }
    }

    /// The object itself.
    pub(super) fn object(&self) -> &Value {
        match self {
            Self::Live(object) | Self::Manifest(object) => object,
        }
    }
}

/// The HyperConvergeds in a cluster.
#[derive(Debug)]
pub struct PreviousState {
    /// The file, as reported.
    pub file: Utf8PathBuf,
    /// Its HyperConvergeds.
    pub objects: Vec<Value>,
    /// Its other objects; of a directory, they are read when they are needed.
    others: Vec<Object>,
}

impl PreviousState {
    /// The HyperConvergeds in the output of `kubectl get hyperconverged -o yaml` (or `json`).
    ///
    /// # Errors
    /// If it can't be parsed, with line and column.
    pub fn live(file: Utf8PathBuf, bytes: Vec<u8>) -> Result<Self, String> {
        let source = SourceFile::from_bytes(&file, bytes);
        let parsed = yaml::parse(&source);
        if let Some(problem) = parsed.fatal(&source) {
            return Err(problem);
        }
        let mut objects = Vec::new();
        parsed.documents.iter().for_each(|document| take_apart(document.root.to_json(), &mut objects));
        let group = |object: &Value| first_part(text(&object["apiVersion"]), '/') == GROUP;
        let (objects, others): (Vec<_>, Vec<_>) =
            objects.into_iter().partition(|object| object["kind"] == KIND && group(object));
        Ok(Self { file, objects, others: others.into_iter().map(Object::new).collect() })
    }

    /// The other objects in the cluster.
    pub(super) fn others(&self) -> Cow<'_, [Object]> {
        // A directory was readable before.
        if self.file.is_dir() { export(&self.file).unwrap_or_default().into() } else { (&self.others).into() }
    }

    /// The claims in the cluster that SSP may take for golden images' disks: not those whose DataSource a DataImportCron
    /// updates. Namespace and name.
    pub(super) fn claims(&self) -> Vec<(String, String)> {
        let others = self.others();
        let source = |namespace: &Option<String>, name: &str| {
            let is_it = |o: &&Object| o.id.kind == "DataSource" && o.id.name == name && o.id.namespace == *namespace;
            others.iter().find(is_it)
        };
        let is_updated = |claim: &Object| {
            let own = source(&claim.id.namespace, &claim.id.name)?;
            let target = own.body.pointer("/spec/source/dataSource/name").and_then(Value::as_str);
            let last = target.and_then(|name| source(&claim.id.namespace, name)).unwrap_or(own);
            last.body["metadata"]["labels"].get(CRON_LABEL)
        };
        let claims = others.iter().filter(|o| o.id.kind == "PersistentVolumeClaim" && is_updated(o).is_none());
        claims.map(|o| (o.id.namespace.clone().unwrap_or_default(), o.id.name.clone())).collect()
    }

    /// The cluster's version of `object`.
    pub(super) fn of(&self, object: &Value) -> Option<PreviousObject> {
        let old = self.objects.iter().find(|old| is_same(old, object));
        old.cloned().map(PreviousObject::Live)
    }
}

/// Whether both are the same object. A missing namespace matches any.
pub(super) fn is_same(a: &Value, b: &Value) -> bool {
    let namespace = |v: &Value| v["metadata"]["namespace"].as_str().map(ToOwned::to_owned);
    let same_namespace = match (namespace(a), namespace(b)) {
        (Some(a), Some(b)) => a == b,
        _ => true,
    };
    a["metadata"]["name"] == b["metadata"]["name"] && same_namespace
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn names(text: &str) -> Result<Vec<Value>, String> {
        let previous = PreviousState::live("live.yaml".into(), text.as_bytes().to_vec())?;
        Ok(previous.objects.iter().map(|o| json!([o["apiVersion"], o["metadata"]["name"]])).collect())
    }

    #[test]
    fn reads_the_output_of_kubectl() {
        let one = "apiVersion: hco.kubevirt.io/v1\nkind: HyperConverged\nmetadata: {name: a}\n";
        let a = json!(["hco.kubevirt.io/v1", "a"]);
        assert_eq!(names(one), Ok(vec![a.clone()]));
        let list = r#"{"apiVersion": "v1", "kind": "List", "items": [
            {"apiVersion": "hco.kubevirt.io/v1", "kind": "HyperConverged", "metadata": {"name": "a"}},
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "b"}}]}"#;
        assert_eq!(names(list), Ok(vec![a.clone()]));
        let typed = "apiVersion: hco.kubevirt.io/v1\nkind: HyperConvergedList\n\
                     items:\n- metadata: {name: a}\n";
        assert_eq!(names(typed), Ok(vec![a]));
        assert_eq!(names("kind: HyperConverged\napiVersion: example.com/v1\n"), Ok(vec![]));
        assert!(names("a: [\n").is_err_and(|e| e.starts_with("live.yaml:2:1: ")));
    }

    /// Source: SSP `data-sources/reconcile.go`: `dataSourceAutoUpdateEnabled`, `handleDefaultDataSource`.
    #[test]
    fn finds_claims_that_no_import_replaces() {
        let object = |kind: &str, name: &str, label: &str, source: &str| {
            let label =
                if label.is_empty() { String::new() } else { format!("cdi.kubevirt.io/dataImportCron: {label}") };
            let labels = format!("labels: {{{label}}}");
            format!(
                "kind: {kind}\napiVersion: v1\nmetadata: {{name: {name}, namespace: n, {labels}}}\nspec: {{source: {{{source}}}}}\n---\n"
            )
        };
        let text = [
            object("PersistentVolumeClaim", "win11", "", ""),
            object("PersistentVolumeClaim", "fedora", "", ""),
            object("PersistentVolumeClaim", "rhel9", "", ""),
            object("PersistentVolumeClaim", "ubuntu", "", ""),
            object("DataSource", "fedora", "fedora-image-cron", "pvc: {name: fedora-123}"),
            object("DataSource", "rhel9", "", "dataSource: {name: rhel9-amd64}"),
            object("DataSource", "rhel9-amd64", "", "pvc: {name: rhel9}"),
            object("DataSource", "ubuntu", "", "dataSource: {name: ubuntu-amd64}"),
            object("DataSource", "ubuntu-amd64", "ubuntu-amd64", "snapshot: {name: ubuntu-amd64-123}"),
        ];
        let previous = PreviousState::live("live.yaml".into(), text.concat().into_bytes());
        let claims = previous.expect("readable").claims();
        assert_eq!(claims.iter().map(|(_, name)| &**name).collect::<Vec<_>>(), ["win11", "rhel9"]);
    }

    #[test]
    fn finds_an_object_by_name_and_namespace() {
        let object = |name: &str, namespace: Option<&str>| json!({"metadata": {"name": name, "namespace": namespace}});
        assert!(is_same(&object("a", Some("n")), &object("a", Some("n"))));
        assert!(is_same(&object("a", None), &object("a", Some("n"))));
        assert!(!is_same(&object("a", Some("m")), &object("a", Some("n"))));
        assert!(!is_same(&object("b", Some("n")), &object("a", Some("n"))));
    }
}
