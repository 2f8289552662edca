//! Annotations that the operators read, in addition to the jsonpatch annotations.

use crate::boot_images::{ARCHITECTURES_ANNOTATION, ENABLE_ANNOTATION};

/// Every such annotation, and whether it is read on an entry of `dataImportCronTemplates` (else on the HyperConverged).
/// `explain` describes what each does. Source: HCO's golden images and `controllers/handlers`.
pub const READ_ANNOTATIONS: [(&str, bool); 8] = [
    (ARCHITECTURES_ANNOTATION, true),
    ("cdi.kubevirt.io/storage.bind.immediate.requested", true),
    (ENABLE_ANNOTATION, true),
    ("deployOVS", false),
    ("hco.kubevirt.io/deployAIE", false),
    ("hco.kubevirt.io/deployPasstNetworkBinding", false),
    ("hco.kubevirt.io/tuningPolicy", false),
    ("platform.kubevirt.io/autopilot", false),
];
