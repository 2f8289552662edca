//! The metadata with which SSP marks its objects.

use crate::prelude::*;
use crate::release::SspOwner;

/// API version of DataImportCrons and DataSources.
pub(super) const CDI_API_VERSION: &str = "cdi.kubevirt.io/v1beta1";

/// The labels that are copied from the SSP: HCO's version and part-of, not SSP's.
const COPIED_LABELS: [&str; 2] = ["app.kubernetes.io/part-of", "app.kubernetes.io/version"];

/// Labels and annotations of an SSP's objects.
pub(super) fn of(ssp: &Value) -> SspOwner {
    let metadata = &ssp["metadata"];
    let mut labels = Map::new();
    for (key, value) in [
        ("app.kubernetes.io/component", "templating"),
        ("app.kubernetes.io/managed-by", "ssp-operator"),
        ("app.kubernetes.io/name", "data-sources"),
    ] {
        labels.insert(key.to_owned(), value.into());
    }
    if let Some(own) = metadata.get("labels").and_then(Value::as_object) {
        for key in COPIED_LABELS {
            // A label that the SSP lacks is copied as empty.
            labels.insert(key.to_owned(), text(own.get(key)).into());
        }
    }
    let name = text(metadata.get("name"));
    let namespace = text(metadata.get("namespace"));
    let mut annotations = Map::new();
    for (key, value) in [
        ("operator-sdk/primary-resource", format!("{namespace}/{name}")),
        ("operator-sdk/primary-resource-type", "SSP.ssp.kubevirt.io".to_owned()),
    ] {
        annotations.insert(key.to_owned(), value.into());
    }
    SspOwner { labels, annotations }
}
