//! Fields with the kind of their values, the reader, and the outcome of a wrong value.

use super::kinds::Kind;

/// The outcome of a wrong value; the sentence names the reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// An object created with the value is rejected, or its reader fails, after HCO accepted the manifest.
    RejectedLater(&'static str),
    /// The value has no effect, or another than intended.
    NoEffect(&'static str),
}

impl Outcome {
    /// The outcome as a sentence without full stop.
    pub(crate) const fn sentence(self) -> &'static str {
        match self {
            Self::RejectedLater(sentence) | Self::NoEffect(sentence) => sentence,
        }
    }

    pub(crate) const fn is_rejection(self) -> bool {
        matches!(self, Self::RejectedLater(_))
    }
}

/// One field.
#[derive(Debug)]
pub(crate) struct Row {
    /// The field's dotted path below v1beta1's `spec`.
    pub(crate) field: &'static str,
    /// The values below the field: `[]` is every item of a list, `*` every value of a mapping.
    pub(crate) below: &'static str,
    pub(crate) kind: Kind,
    pub(crate) outcome: Outcome,
}

impl Row {
    /// The path below a DataVolume's `spec`, of a golden image's field that every DataVolume has.
    pub(super) fn of_disk(&self) -> Option<&'static str> {
        self.below.strip_prefix("[].spec.template.spec.").filter(|_| self.field == TEMPLATES)
    }
}

use Kind::{
    Annotations, Architecture, Architectures, AtLeast, CpuModel, Host, Image, Label, LabelSelector, Labels, MacRange,
    MediatedDeviceName, MediatedDeviceType, NetworkName, OfferedCpuModel, OneOf, OnlyKey, PciSelector, PodAffinity,
    Quantity, RegistryUrl, ResourceName, Resources, Subdomain, SubdomainKeys, Toleration, Union, UsbDevice,
    UsbIdentifier,
};
use Outcome::{NoEffect, RejectedLater};

/// Kubernetes' core validation; KubeVirt's webhook tests a placement with a DaemonSet.
const PODS: Outcome = RejectedLater("Kubernetes rejects the pods of KubeVirt, CDI and the other operands");
/// CDI copies its `podResourceRequirements` to these pods.
const CDI_PODS: Outcome = RejectedLater("Kubernetes rejects CDI's import, upload and clone pods");
const VM_PODS: Outcome = RejectedLater("Kubernetes rejects the pod of every virtual machine");
const STATE: Outcome = RejectedLater("Kubernetes rejects the claim for a machine's TPM and firmware state");
const CLAIM: Outcome = RejectedLater("Kubernetes rejects the PersistentVolumeClaim, so the disk is never made");
const IMPORT: Outcome = RejectedLater("CDI accepts the URL and cannot import from it, so the image never arrives");
const CRON: Outcome = RejectedLater("the API server rejects the image's DataImportCron");
const IMPORT_POD: Outcome = RejectedLater("nothing can have this name, so the import pod never starts");
const PRIORITY: Outcome = RejectedLater("Kubernetes rejects the import pod");
const SIDECAR: Outcome = RejectedLater("no node can pull it, so no virtual machine with the binding starts");
const IMAGE_NAMESPACE: Outcome = RejectedLater("SSP can't create golden images there");
const TEMPLATE_NAMESPACE: Outcome = RejectedLater("SSP can't create its templates there");
/// CNAO's validateKubeMacPool.
const MAC_POOL: Outcome = RejectedLater("the network operator (CNAO) rejects the range and deploys nothing further");
/// An extended resource's name, checked when a device plugin registers.
const RESOURCE: Outcome = RejectedLater("kubelet does not register a resource of this name");
const ENDLESS: Outcome =
    RejectedLater("virt-handler takes devices without end on each node, until its memory is used up");
const NO_PCI: Outcome = NoEffect("KubeVirt compares it with the vendor:product of each device and finds none");
const NO_USB: Outcome = NoEffect("KubeVirt can't parse it and offers no such device");
const NO_MDEV: Outcome = NoEffect("KubeVirt compares it with the type's name, not its identifier, and finds none");
/// CDI's IsInsecureTLS.
const NO_HOST: Outcome = NoEffect("CDI compares it with the host of an image's URL, so it never matches");
const UPDATES: Outcome = NoEffect("KubeVirt ignores the method");
const NO_EVICTION: Outcome = NoEffect("KubeVirt evicts no outdated virtual machine");
const NO_MIGRATION: Outcome = NoEffect("KubeVirt starts no live migration");
const ABORTED: Outcome = NoEffect("KubeVirt aborts every live migration as soon as it has started");
const FAILS: Outcome = NoEffect("KubeVirt can't use it, and every live migration fails");
const NO_TYPE: Outcome = NoEffect("KubeVirt compares it with names without blanks, and creates no device of the type");
const NO_OVERHEAD: Outcome = NoEffect("no storage class can have this name, so no disk gets the overhead");
/// KubeVirt `pkg/network/netbinding`.
const OVERHEAD: Outcome = NoEffect("KubeVirt adds only the memory request to the pods of machines with the binding");
const NO_TAP: Outcome = NoEffect("KubeVirt leaves the machine's interface to the binding's sidecar");
const BINDING_MIGRATION: Outcome = NoEffect("KubeVirt ignores the method");
const NO_INFORMATION: Outcome = NoEffect("KubeVirt gives the binding's sidecar no information about the device");
const NO_NETWORK: Outcome = NoEffect("no NetworkAttachmentDefinition can have this name");
const SCRATCH: Outcome = NoEffect("CDI takes the default storage class instead, without notice");
const CPU: Outcome = NoEffect("no node offers a CPU model of this name");
const OBSOLETE: Outcome = NoEffect("KubeVirt compares names exactly, so no CPU model is hidden");
const HIDDEN: Outcome = NoEffect("no node is labelled with it, so machines without a model of their own stay pending");
const RETENTION: Outcome = NoEffect("CDI keeps the disks unless the value is exactly None");
const PLATFORM: Outcome = NoEffect("no image is published for this architecture, and no node has it");
const ARCHITECTURE: Outcome = NoEffect("no node has this value of the label");
const TLS: Outcome = NoEffect("HCO reads only the section of the profile's type");
const NO_NODE: Outcome = NoEffect("no node can have this label, so no node gets these types");
const SELECTS_NOTHING: Outcome = NoEffect("its reader can't parse the selector, so it selects nothing");

const fn row(field: &'static str, below: &'static str, kind: Kind, outcome: Outcome) -> Row {
    Row { field, below, kind, outcome }
}

const NODE_TYPES: &str = "mediatedDevicesConfiguration.nodeMediatedDeviceTypes";
const TEMPLATES: &str = "dataImportCronTemplates";
const VOLUME_MODES: Kind = OneOf(&["Block", "Filesystem"]);

/// All fields whose values are checked.
pub(crate) static ROWS: &[Row] = &[
    row("infra.nodePlacement.tolerations", "[]", Toleration, PODS),
    row("workloads.nodePlacement.tolerations", "[]", Toleration, PODS),
    row("infra.nodePlacement.nodeSelector", "", Labels, PODS),
    row("workloads.nodePlacement.nodeSelector", "", Labels, PODS),
    row("infra.nodePlacement.affinity", "", PodAffinity, PODS),
    row("workloads.nodePlacement.affinity", "", PodAffinity, PODS),
    row("infra.nodePlacement.affinity.nodeAffinity", "", Architectures, ARCHITECTURE),
    row("workloads.nodePlacement.affinity.nodeAffinity", "", Architectures, ARCHITECTURE),
    row("resourceRequirements.storageWorkloads", "", Resources, CDI_PODS),
    row("defaultRuntimeClass", "", Subdomain, VM_PODS),
    row("vmStateStorageClass", "", Subdomain, STATE),
    row("scratchSpaceStorageClass", "", Subdomain, SCRATCH),
    row("commonBootImageNamespace", "", Label, IMAGE_NAMESPACE),
    row("commonTemplatesNamespace", "", Label, TEMPLATE_NAMESPACE),
    row("kubeMacPoolConfiguration", "", MacRange, MAC_POOL),
    row("liveMigrationConfig.parallelMigrationsPerCluster", "", AtLeast(1), NO_MIGRATION),
    row("liveMigrationConfig.parallelOutboundMigrationsPerNode", "", AtLeast(1), NO_MIGRATION),
    row("liveMigrationConfig.completionTimeoutPerGiB", "", AtLeast(0), ABORTED),
    row("liveMigrationConfig.progressTimeout", "", AtLeast(0), ABORTED),
    row("liveMigrationConfig.network", "", NetworkName, NO_NETWORK),
    row("networkBinding", "*.networkAttachmentDefinition", NetworkName, NO_NETWORK),
    row("networkBinding", "*.domainAttachmentType", OneOf(&["tap", "managedTap"]), NO_TAP),
    row("networkBinding", "*.migration.method", OneOf(&["link-refresh"]), BINDING_MIGRATION),
    row("networkBinding", "*.downwardAPI", OneOf(&["device-info"]), NO_INFORMATION),
    row("networkBinding", "*.computeResourceOverhead", OnlyKey("requests"), OVERHEAD),
    row("networkBinding", "*.computeResourceOverhead.requests", OnlyKey("memory"), OVERHEAD),
    row("networkBinding", "*.sidecarImage", Image, SIDECAR),
    row("liveMigrationConfig.bandwidthPerMigration", "", Quantity, FAILS),
    row("filesystemOverhead.storageClass", "", SubdomainKeys, NO_OVERHEAD),
    row("mediatedDevicesConfiguration.mediatedDeviceTypes", "[]", MediatedDeviceType, NO_TYPE),
    row("mediatedDevicesConfiguration.mediatedDevicesTypes", "[]", MediatedDeviceType, NO_TYPE),
    row(NODE_TYPES, "[].mediatedDeviceTypes.[]", MediatedDeviceType, NO_TYPE),
    row(NODE_TYPES, "[].nodeSelector", Labels, NO_NODE),
    row("workloadUpdateStrategy.workloadUpdateMethods", "[]", OneOf(&["LiveMigrate", "Evict"]), UPDATES),
    row("workloadUpdateStrategy.batchEvictionSize", "", AtLeast(1), NO_EVICTION),
    row("permittedHostDevices.pciHostDevices", "[].pciDeviceSelector", PciSelector, NO_PCI),
    row("permittedHostDevices.pciHostDevices", "[].resourceName", ResourceName, RESOURCE),
    row("permittedHostDevices.mediatedDevices", "[].mdevNameSelector", MediatedDeviceName, NO_MDEV),
    row("permittedHostDevices.mediatedDevices", "[].resourceName", ResourceName, RESOURCE),
    row("permittedHostDevices.usbHostDevices", "[]", UsbDevice, ENDLESS),
    row("permittedHostDevices.usbHostDevices", "[].selectors.[].vendor", UsbIdentifier, NO_USB),
    row("permittedHostDevices.usbHostDevices", "[].selectors.[].product", UsbIdentifier, NO_USB),
    row("permittedHostDevices.usbHostDevices", "[].resourceName", ResourceName, RESOURCE),
    row("storageImport.insecureRegistries", "[]", Host, NO_HOST),
    row("obsoleteCPUs.cpuModels", "[]", CpuModel, OBSOLETE),
    row("defaultCPUModel", "", CpuModel, CPU),
    row("defaultCPUModel", "", OfferedCpuModel, HIDDEN),
    row("tlsSecurityProfile", "", Union("type", &["Old", "Intermediate", "Modern", "Custom"]), TLS),
    row("resourceRequirements.autoCPULimitNamespaceLabelSelector", "", LabelSelector, SELECTS_NOTHING),
    row("ksmConfiguration.nodeLabelSelector", "", LabelSelector, SELECTS_NOTHING),
    row("applicationAwareConfig.namespaceSelector", "", LabelSelector, SELECTS_NOTHING),
    row("changedBlockTrackingLabelSelectors.namespaceLabelSelector", "", LabelSelector, SELECTS_NOTHING),
    row("changedBlockTrackingLabelSelectors.virtualMachineLabelSelector", "", LabelSelector, SELECTS_NOTHING),
    row(TEMPLATES, "[].spec.retentionPolicy", OneOf(&["None", "All"]), RETENTION),
    row(TEMPLATES, "[].metadata.labels", Labels, CRON),
    row(TEMPLATES, "[].metadata.annotations", Annotations, CRON),
    row(TEMPLATES, "[].metadata.namespace", Label, IMAGE_NAMESPACE),
    row(TEMPLATES, "[].spec.template.spec.source.registry.url", RegistryUrl, IMPORT),
    row(TEMPLATES, "[].spec.template.spec.source.registry.platform.architecture", Architecture, PLATFORM),
    row(TEMPLATES, "[].spec.template.spec.storage.volumeMode", VOLUME_MODES, CLAIM),
    row(TEMPLATES, "[].spec.template.spec.source.registry.secretRef", Subdomain, IMPORT_POD),
    row(TEMPLATES, "[].spec.template.spec.source.registry.certConfigMap", Subdomain, IMPORT_POD),
    row(TEMPLATES, "[].spec.template.spec.priorityClassName", Subdomain, PRIORITY),
    row(TEMPLATES, "[].spec.template.spec.storage.selector", LabelSelector, CLAIM),
    row(TEMPLATES, "[].spec.template.spec.storage.storageClassName", Subdomain, CLAIM),
    row(TEMPLATES, "[].spec.template.spec.pvc.volumeMode", VOLUME_MODES, CLAIM),
    row(TEMPLATES, "[].spec.template.spec.pvc.selector", LabelSelector, CLAIM),
    row(TEMPLATES, "[].spec.template.spec.pvc.storageClassName", Subdomain, CLAIM),
];
