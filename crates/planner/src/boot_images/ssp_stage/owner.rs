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
    let pair = |(key, value): (&str, &str)| (key.to_owned(), Value::from(value));
    let own = [
        ("app.kubernetes.io/component", "templating"),
        ("app.kubernetes.io/managed-by", "ssp-operator"),
        ("app.kubernetes.io/name", "data-sources"),
    ];
    // A label that the SSP lacks is copied as empty.
    let copied = metadata["labels"].as_object().map(|own| COPIED_LABELS.map(|key| (key, text(own.get(key)))));
    let labels = own.into_iter().chain(copied.into_iter().flatten()).map(pair).collect();
    let [namespace, name] = ["namespace", "name"].map(|key| text(metadata.get(key)));
    let resource = format!("{namespace}/{name}");
    let annotations =
        [("operator-sdk/primary-resource", &*resource), ("operator-sdk/primary-resource-type", "SSP.ssp.kubevirt.io")];
    let annotations = annotations.into_iter().map(pair).collect();
    SspOwner { labels, annotations }
}
