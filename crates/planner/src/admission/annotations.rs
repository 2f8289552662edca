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

/// All of them, as the modelled releases read them. Source: HCO's golden images and `controllers/handlers`.
pub const READ_ANNOTATIONS: [ReadAnnotation; 8] = [
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
        effect: "On the HyperConverged: `\"true\"` deploys Open vSwitch. Any other text doesn't. Where it is missing, an \
                 upgrade writes what the NetworkAddonsConfig has.",
    },
    ReadAnnotation {
        name: "hco.kubevirt.io/deployAIE",
        on_template: false,
        effect: "On the HyperConverged, from 1.18 on: `\"true\"` deploys the webhook kubevirt-aie-webhook, and switches \
                 PCINUMAAwareTopology of KubeVirt on. Any other text doesn't.",
    },
    ReadAnnotation {
        name: "hco.kubevirt.io/deployPasstNetworkBinding",
        on_template: false,
        effect: "On the HyperConverged: `\"true\"` deploys the network binding passt. From 1.19 on it deploys nothing, and \
                 switches PasstBinding of KubeVirt on.",
    },
    ReadAnnotation {
        name: "hco.kubevirt.io/tuningPolicy",
        on_template: false,
        effect: "On the HyperConverged with `tuningPolicy: annotation`: a JSON object with `qps` and `burst`, the \
                 limits of KubeVirt's clients. Without that policy nothing reads it; the policy without it is refused.",
    },
    ReadAnnotation {
        name: "platform.kubevirt.io/autopilot",
        on_template: false,
        effect: "On the HyperConverged, from 1.18 on: `\"true\"`, or a list with `swap-enable`, keeps HCO from deploying \
                 wasp-agent where memory is overcommitted.",
    },
];
