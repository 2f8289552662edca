//! Annotations that the operators read, beside the jsonpatch annotations.

use crate::boot_images::{ARCHITECTURES_ANNOTATION, ENABLE_ANNOTATION};

/// An annotation that the operators read.
#[derive(Debug)]
pub struct ReadAnnotation {
    /// Its key.
    pub name: &'static str,
    /// Whether it is read on an entry of `dataImportCronTemplates`, not on the HyperConverged itself.
    pub on_template: bool,
    /// Where it is read, and what it does.
    pub effect: &'static str,
}

/// All of them. Source: HCO's golden images, CNAO's Open vSwitch and KubeVirt's rate limits, the same in all
/// releases.
pub const READ_ANNOTATIONS: [ReadAnnotation; 5] = [
    ReadAnnotation {
        name: ARCHITECTURES_ANNOTATION,
        on_template: true,
        effect: "On an entry of dataImportCronTemplates: the architectures that its image is there for, such as \
                 `amd64,arm64`. Read where multi-arch golden images are on; without it the image is imported \
                 once, and HCOGoldenImageWithNoArchitectureAnnotation fires.",
    },
    ReadAnnotation {
        name: "cdi.kubevirt.io/storage.bind.immediate.requested",
        on_template: true,
        effect: "On an entry of dataImportCronTemplates: its volumes are bound before a pod asks for them. HCO's \
                 webhook adds it with the value \"true\".",
    },
    ReadAnnotation {
        name: ENABLE_ANNOTATION,
        on_template: true,
        effect: "On an entry of dataImportCronTemplates with a common image's name: `\"false\"` switches that image \
                 off. The value has to be a text.",
    },
    ReadAnnotation {
        name: "deployOVS",
        on_template: false,
        effect: "On the HyperConverged: `\"true\"` deploys Open vSwitch. Any other text doesn't.",
    },
    ReadAnnotation {
        name: "hco.kubevirt.io/tuningPolicy",
        on_template: false,
        effect: "On the HyperConverged with `tuningPolicy: annotation`: a JSON object with `qps` and `burst`, the \
                 limits of KubeVirt's clients. Without that policy nothing reads it; the policy without it is refused.",
    },
];
