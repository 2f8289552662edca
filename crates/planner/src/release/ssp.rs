//! The data of a release's SSP operator: `ssp.json`.
//!
//! SSP renders the golden images' second stage. The logic is in `boot_images`; this data may differ by release or
//! vendor: the namespace, the template bundle's data sources, the fields that its CRD prunes, and its constant objects.

use crate::prelude::*;

/// The placeholder of the golden images' namespace in `ssp.json`.
const NAMESPACE_PLACEHOLDER: &str = "{{goldenImagesNamespace}}";

/// The data of `ssp.json`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SspBundle {
    /// The namespace of DataSources, and of DataImportCrons without one.
    pub golden_images_namespace: String,
    /// The architectures that SSP knows; its webhook rejects any other.
    pub architectures: Vec<String>,
    /// The architecture of SSP's binary, used if the SSP object has no cluster.
    pub local_architecture: String,
    /// The data sources of the common templates, each with the architectures it exists for.
    pub data_sources: BTreeMap<String, Vec<String>>,
    /// Fields of a DataImportCronTemplate that HCO's CRD has and SSP's lacks, as dotted paths.
    pub pruned: Vec<String>,
    /// Objects independent of the SSP's spec, without the metadata of their owner.
    objects: Vec<Value>,
}

/// The metadata with which SSP marks its objects.
#[derive(Debug, Clone)]
pub struct SspOwner {
    /// The app labels.
    pub labels: Map<String, Value>,
    /// The annotations that name the SSP (it sets no owner references).
    pub annotations: Map<String, Value>,
}

impl SspBundle {
    /// Reads `ssp.json`.
    ///
    /// # Errors
    /// The text doesn't have the expected shape; the error has line and column.
    pub fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        let mut bundle: Self = serde_json::from_str(text)?;
        for object in &mut bundle.objects {
            fill(object, &bundle.golden_images_namespace);
        }
        Ok(bundle)
    }

    /// The objects independent of the SSP's spec, the namespace first.
    pub fn objects(&self, owner: &SspOwner) -> impl Iterator<Item = Object> {
        self.objects.iter().map(|object| with_owner(object, owner))
    }
}

fn with_owner(object: &Value, owner: &SspOwner) -> Object {
    let mut object = object.clone();
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.insert("labels".to_owned(), Value::Object(owner.labels.clone()));
        let annotations = Value::Object(owner.annotations.clone());
        metadata.insert("annotations".to_owned(), annotations);
    }
    Object::new(object)
}

fn fill(value: &mut Value, namespace: &str) {
    match value {
        Value::String(text) if text == NAMESPACE_PLACEHOLDER => namespace.clone_into(text),
        Value::Array(items) => items.iter_mut().for_each(|v| fill(v, namespace)),
        Value::Object(map) => map.values_mut().for_each(|v| fill(v, namespace)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::Release;
    use serde_json::json;

    /// The text of a release's `ssp.json`.
    fn text(release: &str) -> String {
        let release = Release::known(release).expect("known");
        release.file("ssp.json").expect("listed").to_owned()
    }

    fn owner(name: &str) -> SspOwner {
        SspOwner {
            labels: Map::from_iter([("a".to_owned(), json!("b"))]),
            annotations: Map::from_iter([("owner".to_owned(), json!(name))]),
        }
    }

    #[test]
    fn every_release_has_an_ssp_bundle() {
        for release in Release::known_names() {
            let bundle = SspBundle::from_json(&text(release)).unwrap_or_else(|e| panic!("{release}: {e}"));
            let known = &bundle.architectures;
            let all = bundle.data_sources.values().flatten();
            assert!(all.into_iter().all(|a| known.contains(a)), "{release}");
            assert!(known.contains(&bundle.local_architecture), "{release}");
            let objects = serde_json::to_string(&bundle.objects).unwrap();
            assert!(!objects.contains("{{"), "{release}");
            let first = bundle.objects(&owner("x")).next().unwrap();
            assert_eq!(first.id.kind, "Namespace");
        }
    }

    #[test]
    fn vendor_changes_the_namespace_in_one_place() {
        let text = text("1.19").replace("kubevirt-os-images", "openshift-virtualization-os-images");
        let bundle = SspBundle::from_json(&text).unwrap();
        let objects: Vec<_> = bundle.objects(&owner("x")).collect();
        assert_eq!(objects[0].id.name, "openshift-virtualization-os-images");
        let namespace = Some("openshift-virtualization-os-images");
        assert_eq!(objects.iter().filter(|o| o.id.namespace.as_deref() == namespace).count(), 8);
    }

    #[test]
    fn objects_name_their_owner() {
        let bundle = SspBundle::from_json(&text("1.16")).unwrap();
        for name in ["a/ssp", "b/ssp"] {
            for object in bundle.objects(&owner(name)) {
                assert_eq!(object.body["metadata"]["annotations"]["owner"], name);
            }
        }
    }

    #[test]
    fn rejects_unknown_keys() {
        let text = text("1.16").replacen("\"pruned\"", "\"prunned\"", 1);
        let error = SspBundle::from_json(&text).unwrap_err().to_string();
        assert!(error.contains("prunned"), "{error}");
    }
}
