//! What an object is called, and an object as shared JSON.

use crate::prelude::*;
use crate::tree::text;
use std::sync::Arc;

/// The identity of an object in a cluster. Ordered by API version, kind, namespace,
/// name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId {
    /// `group/version`, or `v1` for the core group.
    pub api_version: String,
    /// The kind, as in `KubeVirt`.
    pub kind: String,
    /// `None` for cluster-scoped objects (and where the manifest names none).
    pub namespace: Option<String>,
    /// `metadata.name`; empty when the manifest has none.
    pub name: String,
}

impl ObjectId {
    /// An object in a namespace.
    pub fn namespaced(api_version: &str, kind: &str, namespace: &str, name: &str) -> Self {
        Self { namespace: Some(namespace.to_owned()), ..Self::cluster_scoped(api_version, kind, name) }
    }

    /// A cluster-scoped object.
    pub fn cluster_scoped(api_version: &str, kind: &str, name: &str) -> Self {
        Self { api_version: api_version.to_owned(), kind: kind.to_owned(), namespace: None, name: name.to_owned() }
    }

    /// Reads the identity out of an object. What is missing or not a string is empty; an empty
    /// namespace is none.
    pub fn of(body: &Value) -> Self {
        let text = |v: &Value| text(v).to_owned();
        let metadata = &body["metadata"];
        Self {
            api_version: text(&body["apiVersion"]),
            kind: text(&body["kind"]),
            namespace: Some(text(&metadata["namespace"])).filter(|n| !n.is_empty()),
            name: text(&metadata["name"]),
        }
    }

    /// `namespace/name`, or the name without a namespace.
    pub fn full_name(&self) -> String {
        self.namespace.as_ref().map_or_else(|| self.name.clone(), |namespace| format!("{namespace}/{}", self.name))
    }

    /// The API group: `""` for the core group.
    pub fn group(&self) -> &str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }
}

impl fmt::Display for ObjectId {
    /// `Kind namespace/name`, or `Kind name` without a namespace.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.full_name())
    }
}

/// An object of a cluster. Cloning shares all of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Object {
    /// Read from the body when the object was made.
    pub id: Arc<ObjectId>,
    /// The whole object, `apiVersion` and `kind` included.
    pub body: Arc<Value>,
}

impl Object {
    /// Takes an object as JSON and reads its identity.
    pub fn new(body: Value) -> Self {
        Self { id: Arc::new(ObjectId::of(&body)), body: Arc::new(body) }
    }
}

impl From<Value> for Object {
    fn from(body: Value) -> Self {
        Self::new(body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn reads_the_identity_of_an_object() {
        let object = Object::new(json!({
            "apiVersion": "kubevirt.io/v1", "kind": "KubeVirt",
            "metadata": {"namespace": "kubevirt-hyperconverged", "name": "kubevirt-kubevirt-hyperconverged"},
        }));
        assert_eq!(object.id.to_string(), "KubeVirt kubevirt-hyperconverged/kubevirt-kubevirt-hyperconverged");
        assert_eq!(object.id.group(), "kubevirt.io");
    }

    #[test]
    fn reads_an_identity_from_any_value() {
        assert_eq!(ObjectId::of(&json!([1])), ObjectId::cluster_scoped("", "", ""));
        let cluster = ObjectId::of(&json!({"apiVersion": "v1", "kind": "Namespace",
            "metadata": {"namespace": "", "name": "x"}}));
        assert_eq!(cluster.to_string(), "Namespace x");
        assert_eq!(cluster.group(), "");
    }

    #[test]
    fn namespaces_sort_before_names() {
        let a = ObjectId::namespaced("v1", "ConfigMap", "a", "z");
        let b = ObjectId::namespaced("v1", "ConfigMap", "b", "a");
        assert!(a < b);
    }
}
