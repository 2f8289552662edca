//! What the HyperConverged's fields are for, in our words; the facts are from HCO's cluster configuration
//! and KubeVirt's user guide.

/// A field of v1beta1 below `spec`, what it is for, and its values with what they mean.
pub(super) struct Described(
    pub(super) &'static str,
    pub(super) &'static str,
    pub(super) &'static [(&'static str, &'static str)],
);

#[rustfmt::skip]
pub(super) const FIELDS: &[Described] = &[
    Described("tuningPolicy", "How many requests KubeVirt's components may send to the API server.", &[("annotation", "as the annotation hco.kubevirt.io/tuningPolicy says"), ("highBurst", "more than the default; deprecated, and ignored from 1.19 on")]),
    Described("infra.nodePlacement", "Which nodes the operators' own components run on.", &[]),
    Described("infra.nodePlacement.nodeSelector", "Labels that a node has to have for the operators' components.", &[]),
    Described("infra.nodePlacement.affinity", "Affinity of the operators' components, beside the node selector.", &[]),
    Described("infra.nodePlacement.tolerations", "Taints that the operators' components put up with.", &[]),
    Described("workloads.nodePlacement", "Which nodes virtual machines and what serves them run on. HCO takes the nodes that it selects, else those with the worker role, for the workload nodes.", &[]),
    Described("workloads.nodePlacement.nodeSelector", "Labels that a node has to have for workloads.", &[]),
    Described("workloads.nodePlacement.affinity", "Affinity of workloads, beside the node selector.", &[]),
    Described("workloads.nodePlacement.tolerations", "Taints that workloads put up with.", &[]),
    Described("liveMigrationConfig.parallelMigrationsPerCluster", "How many virtual machines migrate at once in the cluster.", &[]),
    Described("liveMigrationConfig.parallelOutboundMigrationsPerNode", "How many virtual machines leave a node at once.", &[]),
    Described("liveMigrationConfig.completionTimeoutPerGiB", "Seconds that a migration may take for each GiB of memory and migrated disks; then it fails, or goes on as post-copy where that is allowed.", &[]),
    Described("liveMigrationConfig.progressTimeout", "Seconds without progress after which a migration is cancelled.", &[]),
    Described("liveMigrationConfig.network", "The NetworkAttachmentDefinition that migrations use instead of the pod network.", &[]),
    Described("liveMigrationConfig.allowAutoConverge", "Whether a guest is slowed down so that its migration comes to an end.", &[]),
    Described("liveMigrationConfig.allowPostCopy", "Whether a migration that takes too long moves the running guest first and its memory after it; a failure in between crashes the guest.", &[]),
    Described("liveMigrationConfig.allowWorkloadDisruption", "Whether a migration that takes too long may pause the guest, or switch to post-copy.", &[]),
    Described("liveMigrationConfig.bandwidthPerMigration", "Bytes per second of each migration, as a quantity.", &[]),
    Described("permittedHostDevices.pciHostDevices", "PCI devices that virtual machines may ask for. The list replaces KubeVirt's.", &[]),
    Described("permittedHostDevices.pciHostDevices[].pciDeviceSelector", "The device as vendor:product, as lspci -nn shows it.", &[]),
    Described("permittedHostDevices.pciHostDevices[].resourceName", "The name by which nodes advertise the device and virtual machines ask for it.", &[]),
    Described("permittedHostDevices.pciHostDevices[].externalResourceProvider", "Whether another device plugin hands the device out, and KubeVirt only permits it.", &[]),
    Described("permittedHostDevices.pciHostDevices[].disabled", "Leaves the entry out, as if it weren't there.", &[]),
    Described("permittedHostDevices.mediatedDevices", "Mediated devices (vGPUs) that virtual machines may ask for.", &[]),
    Described("permittedHostDevices.mediatedDevices[].mdevNameSelector", "The type's name, as the node's driver calls it.", &[]),
    Described("permittedHostDevices.mediatedDevices[].resourceName", "The name by which nodes advertise the device and virtual machines ask for it.", &[]),
    Described("permittedHostDevices.mediatedDevices[].externalResourceProvider", "Whether another device plugin hands the device out, and KubeVirt only permits it.", &[]),
    Described("permittedHostDevices.mediatedDevices[].disabled", "Leaves the entry out, as if it weren't there.", &[]),
    Described("permittedHostDevices.usbHostDevices", "USB devices that virtual machines may ask for.", &[]),
    Described("permittedHostDevices.usbHostDevices[].resourceName", "The name by which nodes advertise the devices and virtual machines ask for them.", &[]),
    Described("permittedHostDevices.usbHostDevices[].externalResourceProvider", "Whether another device plugin hands the devices out, and KubeVirt only permits them.", &[]),
    Described("permittedHostDevices.usbHostDevices[].disabled", "Leaves the entry out, as if it weren't there.", &[]),
    Described("permittedHostDevices.usbHostDevices[].selectors[].vendor", "The vendor's number, four hexadecimal digits, as lsusb shows it.", &[]),
    Described("permittedHostDevices.usbHostDevices[].selectors[].product", "The product's number, four hexadecimal digits, as lsusb shows it.", &[]),
    Described("mediatedDevicesConfiguration.mediatedDeviceTypes", "Types of mediated devices that KubeVirt makes on the nodes whose cards can be split that way. To let virtual machines use them, permittedHostDevices has to name them, too.", &[]),
    Described("mediatedDevicesConfiguration.nodeMediatedDeviceTypes[].nodeSelector", "The nodes that the entry's types are for.", &[]),
    Described("mediatedDevicesConfiguration.nodeMediatedDeviceTypes[].mediatedDeviceTypes", "Types that are made on the entry's nodes instead of those for all nodes.", &[]),
    Described("mediatedDevicesConfiguration.mediatedDevicesTypes", "The old name of mediatedDeviceTypes.", &[]),
    Described("mediatedDevicesConfiguration.nodeMediatedDeviceTypes[].mediatedDevicesTypes", "The old name of mediatedDeviceTypes.", &[]),
    Described("certConfig.ca.duration", "How long the certificate authority is valid: at least ten minutes, and at least as long as the server's certificate.", &[]),
    Described("certConfig.ca.renewBefore", "How long before its end the certificate authority is renewed; at most its duration.", &[]),
    Described("certConfig.server.duration", "How long the servers' certificates are valid; at most as long as the certificate authority.", &[]),
    Described("certConfig.server.renewBefore", "How long before their end the servers' certificates are renewed; at most their duration.", &[]),
    Described("resourceRequirements.storageWorkloads", "Requests and limits of CDI's importer, cloner and upload pods.", &[]),
    Described("resourceRequirements.vmiCPUAllocationRatio", "How many virtual CPUs share a physical one: a virtual machine requests its CPUs divided by it. It doesn't count for dedicated CPUs.", &[]),
    Described("resourceRequirements.autoCPULimitNamespaceLabelSelector", "Namespaces in which a virtual machine's pod gets a CPU limit of one for each virtual CPU. Not together with a ratio of 1.", &[]),
    Described("scratchSpaceStorageClass", "The storage class for the room that imports need while they convert an image. Without it: the default class, else the DataVolume's own.", &[]),
    Described("defaultCPUModel", "The CPU model of virtual machines that name none; without it, the host's.", &[]),
    Described("defaultRuntimeClass", "The RuntimeClass of virtual machines' pods that name none; running ones get it when they start again or migrate.", &[]),
    Described("obsoleteCPUs.cpuModels", "CPU models that nodes aren't labelled with, beside KubeVirt's own list of old ones.", &[]),
    Described("obsoleteCPUs.minCPUModel", "The oldest CPU model whose features are taken for granted. From 1.17 on it is ignored.", &[]),
    Described("commonTemplatesNamespace", "Where the common templates go, instead of `openshift`. Golden images don't follow it.", &[]),
    Described("storageImport.insecureRegistries", "Registries, as host:port, that images are imported from without TLS.", &[]),
    Described("workloadUpdateStrategy.workloadUpdateMethods", "How running virtual machines get a new launcher after an update; an empty list leaves them as they are. The least disruptive one that works is taken.", &[("LiveMigrate", "by a migration"), ("Evict", "by shutting down those that can't migrate")]),
    Described("workloadUpdateStrategy.batchEvictionSize", "How many virtual machines are shut down at once.", &[]),
    Described("workloadUpdateStrategy.batchEvictionInterval", "How long to wait between two such batches.", &[]),
    Described("dataImportCronTemplates", "Golden images: common ones that are changed or switched off by their name, and others beside them. The list in the status shows all of them.", &[]),
    Described("filesystemOverhead.global", "The part of a file system volume that is kept free, between 0 and 1: CDI makes the volume larger by it. Without it, CDI's own 0.06.", &[]),
    Described("filesystemOverhead.storageClass", "The same for single storage classes, by name.", &[]),
    Described("uninstallStrategy", "What deleting the HyperConverged does while virtual machines or DataVolumes exist.", &[("BlockUninstallIfWorkloadsExist", "it is refused"), ("RemoveWorkloads", "they are deleted with it")]),
    Described("logVerbosityConfig.kubevirt", "How much each of KubeVirt's components logs, and how much on single nodes; higher is more.", &[]),
    Described("logVerbosityConfig.cdi", "How much CDI logs, usually 1 to 3.", &[]),
    Described("tlsSecurityProfile", "TLS versions and ciphers of all components, instead of the cluster's own profile; without OpenShift, Intermediate.", &[]),
    Described("kubeSecondaryDNSNameServerIP", "The IPv4 address that the secondary DNS is found at, where deployKubeSecondaryDNS is on.", &[]),
    Described("kubeMacPoolConfiguration.rangeStart", "The first MAC address that virtual machines get.", &[]),
    Described("kubeMacPoolConfiguration.rangeEnd", "The last MAC address that virtual machines get.", &[]),
    Described("evictionStrategy", "What draining a node does to virtual machines without a strategy of their own. Without it: LiveMigrate, or None where there is one worker.", &[("None", "they are shut down"), ("LiveMigrate", "they migrate; one that can't keeps the drain waiting"), ("LiveMigrateIfPossible", "they migrate where they can, and are shut down otherwise"), ("External", "the drain waits for a controller that sees to them")]),
    Described("vmStateStorageClass", "The storage class of what has to outlive a virtual machine's restart, such as a TPM's content.", &[]),
    Described("virtualMachineOptions.disableFreePageReporting", "Whether guests don't tell the host which memory they don't use. Guests without a memory balloon, with dedicated CPUs, huge pages or the realtime flag never do.", &[]),
    Described("virtualMachineOptions.disableSerialConsoleLog", "Whether what guests write to their serial console isn't logged. What is typed there in plain text would be in the log. A virtual machine's own logSerialConsole counts before it, and without a serial console there is nothing to log.", &[]),
    Described("commonBootImageNamespace", "Where the common golden images go. Customised ones don't follow it.", &[]),
    Described("ksmConfiguration.nodeLabelSelector", "The nodes on which equal pages of memory are shared: without it none, with an empty one all.", &[]),
    Described("changedBlockTrackingLabelSelectors.namespaceLabelSelector", "Namespaces whose virtual machines keep track of changed blocks.", &[]),
    Described("changedBlockTrackingLabelSelectors.virtualMachineLabelSelector", "Virtual machines that keep track of changed blocks.", &[]),
    Described("networkBinding", "Network binding plugins by name, for interfaces of virtual machines.", &[]),
    Described("applicationAwareConfig.vmiCalcConfigName", "How the application-aware quota counts a virtual machine.", &[("VmiPodUsage", "as its pod, without what a migration needs"), ("VirtualResources", "as the guest's memory and CPU threads"), ("DedicatedVirtualResources", "as the guest's memory and CPU threads, under names that end with /vm"), ("GuestEffectiveResources", "as what the guest has in effect"), ("IgnoreVmiCalculator", "as any pod")]),
    Described("applicationAwareConfig.namespaceSelector", "Namespaces whose pods the quota holds back: without it those with the label application-aware-quota/enable-gating, with an empty one all. Pods with a nodeName of their own are refused there.", &[]),
    Described("applicationAwareConfig.allowApplicationAwareClusterResourceQuota", "Whether quotas over several namespaces may be made; it costs some performance.", &[]),
    Described("enableApplicationAwareQuota", "Whether the application-aware quota is deployed.", &[]),
    Described("higherWorkloadDensity.memoryOvercommitPercentage", "How much memory guests see for 100 that their pod requests. Running guests get it when they start again or migrate.", &[]),
    Described("enableCommonBootImageImport", "Whether the common golden images are imported. Custom ones are imported anyway.", &[]),
    Described("instancetypeConfig.referencePolicy", "How a virtual machine keeps what its instance type says.", &[("reference", "it names the type"), ("expand", "the type's values are written into it"), ("expandAll", "the values of instance type and preference are written into it, also for existing ones")]),
    Described("CommonInstancetypesDeployment.enabled", "Whether KubeVirt's common instance types and preferences are deployed.", &[]),
    Described("deployVmConsoleProxy", "Whether SSP deploys the proxy to the machines' VNC consoles.", &[]),
    Described("liveUpdateConfiguration.maxCpuSockets", "How many CPU sockets a running virtual machine may be given.", &[]),
    Described("liveUpdateConfiguration.maxGuest", "How much memory a running virtual machine may be given.", &[]),
    Described("liveUpdateConfiguration.maxHotplugRatio", "How many times its CPUs and memory a running virtual machine may be given.", &[]),
    Described("hypervisors", "The hypervisor that virtual machines run on.", &[]),
    Described("roleAggregationStrategy", "Whether KubeVirt's roles are added to the cluster's admin, edit and view roles.", &[("AggregateToDefault", "they are"), ("Manual", "they aren't, and have to be given to users by hand")]),
    Described("localStorageClassName", "Ignored by every release.", &[]),
    Described("vddkInitImage", "Ignored by every release.", &[]),
    Described("tektonPipelinesNamespace", "Ignored: HCO deploys no pipelines any more.", &[]),
    Described("tektonTasksNamespace", "Ignored: HCO deploys no tasks any more.", &[]),
];

/// The same of fields that only v1 has.
#[rustfmt::skip]
const OF_V1: &[Described] = &[
    Described("featureGates[].name", "The gate's name; one that nobody knows is ignored.", &[]),
    Described("featureGates[].state", "Whether it is on; an entry without a state is.", &[("Enabled", "it is on"), ("Disabled", "it is off, also where it is on by default")]),
    Described("virtualization.mediatedDevicesConfiguration.enabled", "Whether KubeVirt makes mediated devices at all. Without it: unless the gate disableMDevConfiguration says no.", &[]),
    Described("storage.persistentReservationConfiguration.enabled", "Whether virt-handler has the helper for SCSI reservations. Without it the gate persistentReservation counts.", &[]),
    Described("workloadSources.enableMultiArchBootImageImport", "Whether golden images are imported for each architecture of the workload nodes. Without it the gate of this name counts.", &[]),
    Described("deployment.deployNetworkResourcesInjector", "Whether the webhook is deployed that adds network resources to pods of virtual machines; it is by default.", &[]),
    Described("observability.allowedAlerts", "The alerts that the observability controller keeps, where its gate deploys it; all without it.", &[]),
    Described("observability.allowedRecordingRules", "The recording rules that the observability controller keeps, where its gate deploys it; all without it.", &[]),
    Described("observability.workloads.allowedMetrics", "The metrics of workloads that the observability controller keeps, where its gate deploys it; all without it.", &[]),
];

/// What HCO's gates switch.
const GATES: &[(&str, &str)] = &[
    ("alignCPUs", "Adds CPUs to a virtual machine with an isolated emulator thread until their number is even."),
    ("containerPathVolumes", "Lets virtual machines use directories of their own virt-launcher pod as volumes."),
    ("decentralizedLiveMigration", "Lets virtual machines migrate to another cluster."),
    (
        "declarativeHotplugVolumes",
        "Hot-plugs volumes by the spec of the virtual machine, CD-ROMs among them, in place of HotplugVolumes.",
    ),
    ("deployKubeSecondaryDNS", "Deploys a DNS server for the secondary interfaces of virtual machines."),
    ("disableMDevConfiguration", "Keeps KubeVirt from making mediated devices."),
    ("downwardMetrics", "Lets guests see a few metrics of themselves and of their host."),
    ("enableMultiArchBootImageImport", "Imports each golden image once for each architecture of the workload nodes."),
    ("incrementalBackup", "Lets virtual machines be backed up by what changed since the last backup."),
    ("objectGraph", "Serves the objects that a virtual machine depends on as a graph."),
    (
        "persistentReservation",
        "Gives virt-handler the helper by which a guest reserves a LUN for itself; virt-handler is rolled out again.",
    ),
    ("videoConfig", "Lets virtual machines choose their video device."),
];

/// What a gate switches; `None` of one that switches nothing.
pub(super) fn of_gate(name: &str) -> Option<&'static str> {
    let mut gates = GATES.iter();
    gates.find(|(gate, _)| *gate == name).map(|(_, what)| *what)
}

/// What a field is for, by its path without the brackets of lists.
pub(super) fn of(path: &str) -> Option<&'static Described> {
    let plain = path.replace("[]", "");
    let plain = plain.strip_prefix("spec.").unwrap_or(&plain);
    let mut all = FIELDS.iter().chain(OF_V1);
    all.find(|d| d.0.replace("[]", "") == plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::Release;

    #[test]
    fn every_field_is_described() {
        for release in Release::known_names().filter_map(Release::known) {
            for field in
                release.fields().iter().filter(|f| f.api_version == "v1beta1" || f.other_version_path.is_none())
            {
                let described = match field.path.strip_prefix("spec.featureGates.") {
                    Some(gate) => field.ignored || of_gate(gate).is_some(),
                    None => of(&field.path).is_some(),
                };
                assert!(described, "{} of {}", field.path, release.name());
            }
            let schema = release.schema("hyperconverged.v1beta1").expect("served");
            for Described(path, _, values) in FIELDS.iter().filter(|d| !d.2.is_empty()) {
                let path = crate::yaml::Path::dotted(&format!("spec.{path}"));
                let field = schema.field(&path).or_else(|| schema.field(&path.index(0)));
                let Some(field) = field.filter(|f| !f.allowed.is_empty()) else {
                    continue;
                };
                for value in field.allowed.iter().filter_map(|v| v.as_str()).filter(|v| !v.is_empty()) {
                    let known = values.iter().any(|(name, _)| *name == value);
                    assert!(known, "{path}: {value} of {}", release.name());
                }
            }
        }
    }
}
