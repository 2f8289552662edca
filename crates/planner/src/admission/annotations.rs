//! Annotations that the operators read, beside the jsonpatch annotations.

use crate::boot_images::{ARCHITECTURES_ANNOTATION, ENABLE_ANNOTATION};

/// All of them, as the modelled releases read them, each with whether it is read on an entry of
/// `dataImportCronTemplates` instead of the HyperConverged itself. What each does is in the words of `explain`. Source:
/// HCO's golden images and `controllers/handlers`.
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
