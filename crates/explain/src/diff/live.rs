//! Objects of a live cluster, converted to the form in which operators write them.

use crate::diff::Kind;
use crate::diff::semantic::{NoiseKind, ObjectChange};
use crate::prelude::*;

/// Operators that label their objects (`app.kubernetes.io/managed-by`).
const MANAGERS: [&str; 2] = ["hco-operator", "ssp-operator"];

/// The objects of an export that can be compared with the rendered ones: rendered objects, and others labelled by the
/// operators. Without fields that the server sets.
pub fn comparable(live: Vec<Object>, rendered: &[Object]) -> Vec<Object> {
    let ours = |object: &Object| {
        let labels = &object.body["metadata"]["labels"];
        let manager = labels["app.kubernetes.io/managed-by"].as_str();
        rendered.iter().any(|r| same_object(&r.id, &object.id)) || manager.is_some_and(|m| MANAGERS.contains(&m))
    };
    live.into_iter().filter(ours).map(without_server_fields).collect()
}

/// Whether two identities mean one object; API versions of a group may differ.
pub(super) fn same_object(a: &ObjectId, b: &ObjectId) -> bool {
    a.group() == b.group() && a.kind == b.kind && a.namespace == b.namespace && a.name == b.name
}

pub(super) fn without_server_fields(object: Object) -> Object {
    let mut body = (*object.body).clone();
    if let Value::Object(map) = &mut body {
        map.remove("status");
    }
    if let Some(Value::Object(metadata)) = body.get_mut("metadata") {
        // What the API server writes.
        for key in &NAMES["metadataOfLiveObjects"] {
            metadata.remove(*key);
        }
        if let Some(Value::Object(annotations)) = metadata.get_mut("annotations") {
            annotations.remove("kubectl.kubernetes.io/last-applied-configuration");
            annotations.remove("deployment.kubernetes.io/revision");
            if annotations.is_empty() {
                metadata.remove("annotations");
            }
        }
        // The owner's uid differs by cluster.
        if let Some(Value::Array(owners)) = metadata.get_mut("ownerReferences") {
            for owner in owners.iter_mut().filter_map(Value::as_object_mut) {
                owner.remove("uid");
            }
        }
    }
    Object::new(body)
}

/// Marks values that only the cluster has and nobody set: defaults of the CRD, and in kinds without a schema every
/// field that the rendered object doesn't set.
pub fn mark_noise(release: &Release, changes: &mut [ObjectChange]) {
    for change in changes.iter_mut().filter(|c| c.kind == Kind::Change) {
        let schema = release.schema_of(&change.id.api_version, &change.id.kind);
        for field in &mut change.fields {
            let step = &mut field.step;
            let (Some(before), None) = (&step.before, &step.after) else {
                continue;
            };
            let metadata = step.path.starts_with(&Path::dotted("metadata"));
            let default = match schema {
                Some(schema) if !metadata => is_default(schema, &step.path, before),
                Some(_) => true,
                None => !step.label.ends_with(']'),
            };
            if default {
                step.noise = Some(NoiseKind::Server);
            }
        }
    }
}

/// Whether a value consists of defaults.
fn is_default(schema: &Schema, path: &Path, value: &Value) -> bool {
    if schema.field(path).and_then(|f| f.default) == Some(value) {
        return true;
    }
    match value {
        Value::Object(map) => map.iter().all(|(key, v)| is_default(schema, &path.key(key), v)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::compare_objects;
    use serde_json::json;

    #[test]
    fn compares_rendered_and_managed_objects() {
        let object = |api: &str, kind: &str, name: &str, manager: &str| {
            Object::new(json!({
                "apiVersion": api, "kind": kind,
                "metadata": {"name": name, "labels": {"app.kubernetes.io/managed-by": manager}},
            }))
        };
        let rendered =
            [object("cdi.kubevirt.io/v1beta1", "CDI", "cdi", ""), object("kubevirt.io/v1", "KubeVirt", "kubevirt", "")];
        let live = vec![
            // Only the version may differ.
            object("kubevirt.io/v1alpha3", "KubeVirt", "kubevirt", ""),
            object("kubevirt.io/v1", "KubeVirt", "another", ""),
            object("other.io/v1", "KubeVirt", "kubevirt", ""),
            object("v1", "ConfigMap", "ours", "hco-operator"),
            object("v1", "ConfigMap", "theirs", "Helm"),
        ];
        let compared = comparable(live, &rendered);
        let ids = compared.iter().map(|o| format!("{} {}", o.id.api_version, o.id.name));
        let ids: Vec<_> = ids.collect();
        assert_eq!(ids, ["kubevirt.io/v1alpha3 kubevirt", "v1 ours"]);
    }

    #[test]
    fn marks_values_of_the_server() {
        let release = Release::known("1.18").expect("known");
        let rendered = [Object::new(json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "d", "namespace": "n"},
            "spec": {"replicas": 1, "template": {"spec": {"containers": [
                {"name": "c", "image": "new"}]}}},
        }))];
        let live = vec![
            Object::new(json!({
                "apiVersion": "apps/v1", "kind": "Deployment",
                "metadata": {"name": "d", "namespace": "n", "uid": "x", "generation": 3,
                    "annotations": {"deployment.kubernetes.io/revision": "1"}},
                "spec": {"replicas": 1, "progressDeadlineSeconds": 600, "template": {"spec": {
                    "dnsPolicy": "ClusterFirst",
                    "containers": [{"name": "c", "image": "old", "imagePullPolicy": "Always"}]}}},
                "status": {"replicas": 1},
            })),
            Object::new(json!({"apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {"name": "foreign", "namespace": "n"}})),
        ];
        let live = comparable(live, &rendered);
        assert_eq!(live.len(), 1);
        let mut comparison = compare_objects(&release, &live, &rendered);
        let changes = Arc::make_mut(&mut comparison.objects);
        mark_noise(&release, changes);
        let fields = &comparison.objects[0].fields;
        let real: Vec<_> = fields.iter().filter(|f| f.step.noise.is_none()).collect();
        let labels: Vec<_> = real.iter().map(|f| f.step.label.as_str()).collect();
        assert_eq!(labels, ["spec.template.spec.containers[name=c].image"]);
        assert_eq!(fields.len(), 4);
    }
}
