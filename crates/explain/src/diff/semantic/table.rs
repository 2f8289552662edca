//! What follows from which change of which field. Ordered by nothing: [`super::consequence`] takes the
//! row with the longest path that fits. What no row knows has no consequence to tell.

use super::impact::{Impact, When};

/// Whether something happens in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    /// It does.
    Always,
    /// Only where something is or asks for what the change is about.
    WhereUsed,
}

/// What happens to the place that a row speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum On {
    /// Anything.
    Any,
    /// It appears.
    Add,
    /// It goes.
    Remove,
    /// It has this value afterwards.
    Becomes(&'static str),
}

/// A kind, a path (empty for the object as a whole), what happens there; what follows from it, when,
/// whether in any case, the sentence and what to do.
pub(super) struct Row(
    pub(super) &'static str,
    pub(super) &'static str,
    pub(super) On,
    pub(super) Impact,
    pub(super) When,
    pub(super) Holds,
    pub(super) &'static str,
    pub(super) &'static str,
);

use Holds::{Always, WhereUsed};
use Impact::{Behaviour, BootFailure, DataLoss, Disruption, Images, Scheduling, Security};
use On::{Add, Any, Becomes, Remove};
use When::{
    ImageRemoval, NewMachines, NewPods, NextImport, NextMigration, NextStart, NextUpdate,
    NodeDrain, Now, Removal,
};

/// Sources: KubeVirt's virt-operator (what re-rolls virt-handler, virt-api and virt-controller),
/// the API documentation of KubeVirt, CDI, SSP and the cluster-network-addons operator; CDI's
/// DataImportCron controller (an import follows a new source; `retentionPolicy`).
#[rustfmt::skip]
pub(super) const TABLE: &[Row] = &[
    // KubeVirt
    Row("KubeVirt", "", Remove, DataLoss, Now, Always, "KubeVirt is uninstalled, and its virtual machines with it unless the strategy blocks it", "keep the HyperConverged until no virtual machine is left"),
    Row("KubeVirt", "spec.uninstallStrategy", Any, Behaviour, Removal, Always, "what deleting the HyperConverged does to virtual machines changes", ""),
    Row("KubeVirt", "spec.uninstallStrategy", Becomes("RemoveWorkloads"), DataLoss, Removal, Always, "deleting the HyperConverged deletes every virtual machine", "set `uninstallStrategy: BlockUninstallIfWorkloadsExist` to keep them"),
    Row("KubeVirt", "spec.workloads", Any, Disruption, Now, WhereUsed, "virt-handler is rolled out again on the nodes that are chosen; VMs on the others can't be managed or migrated", "keep every node in that runs virtual machines, or migrate them away first"),
    Row("KubeVirt", "spec.infra", Any, Disruption, Now, Always, "virt-api and virt-controller are rolled out again", ""),
    Row("KubeVirt", "spec.infra.replicas", Any, Behaviour, Now, Always, "the number of virt-api and virt-controller pods changes", ""),
    Row("KubeVirt", "spec.customizeComponents", Any, Disruption, Now, Always, "KubeVirt's own components are patched and rolled out again", ""),
    Row("KubeVirt", "spec.certificateRotateStrategy", Any, Security, Now, Always, "KubeVirt's certificates are reissued with different lifetimes", ""),
    Row("KubeVirt", "spec.workloadUpdateStrategy", Any, Disruption, NextUpdate, Always, "how running VMs are brought to a new version changes: they are migrated, or evicted", ""),
    Row("KubeVirt", "spec.workloadUpdateStrategy.workloadUpdateMethods", Remove, Behaviour, NextUpdate, Always, "running VMs keep their old launcher after an update instead of {}", ""),
    Row("KubeVirt", "spec.configuration.migrations", Any, Scheduling, NextMigration, Always, "the live-migration policy changes for migrations that start from now on", ""),
    Row("KubeVirt", "spec.configuration.migrations.network", Any, Disruption, Now, Always, "virt-handler is rolled out again to use another migration network", ""),
    Row("KubeVirt", "spec.configuration.evictionStrategy", Any, Scheduling, NodeDrain, WhereUsed, "what draining a node does to VMs without a strategy of their own changes", ""),
    Row("KubeVirt", "spec.configuration.evictionStrategy", Becomes("None"), Disruption, NodeDrain, Always, "draining a node shuts VMs down that have no strategy of their own", "set `evictionStrategy: LiveMigrate` on the VMs that must go on"),
    Row("KubeVirt", "spec.configuration.permittedHostDevices", Remove, BootFailure, NextStart, WhereUsed, "VMs that ask for the host device {} don't start any more", "take the device out of these VMs first"),
    Row("KubeVirt", "spec.configuration.permittedHostDevices", Any, BootFailure, NextStart, WhereUsed, "VMs that ask for a host device by another name don't start", "name the device in the VMs as it is named here"),
    Row("KubeVirt", "spec.configuration.permittedHostDevices", Add, Behaviour, Now, Always, "VMs may ask for the host device {}", ""),
    Row("KubeVirt", "spec.configuration.mediatedDevicesConfiguration", Any, BootFailure, Now, WhereUsed, "the nodes' mediated devices are recreated; VMs that need a type that is removed don't start", "stop the VMs that use mediated devices first"),
    Row("KubeVirt", "spec.configuration.architectureConfiguration", Any, BootFailure, NewMachines, WhereUsed, "new VMs without a machine type, firmware or architecture of their own get other ones; a VM whose value no node supports doesn't start", "write the architecture and machine type into the VMs, or pin the old value"),
    Row("KubeVirt", "spec.configuration.defaultArchitecture", Any, BootFailure, NewMachines, WhereUsed, "VMs without an architecture of their own get another one, and need a node of it", "write the architecture into the VMs that need another one"),
    Row("KubeVirt", "spec.configuration.machineType", Any, BootFailure, NewMachines, Always, "new VMs get another machine type", ""),
    Row("KubeVirt", "spec.configuration.emulatedMachines", Any, BootFailure, NewMachines, WhereUsed, "VMs with a machine type that is not listed are refused", "list the machine types that VMs ask for"),
    Row("KubeVirt", "spec.configuration.cpuModel", Any, BootFailure, NextStart, WhereUsed, "VMs without a CPU model of their own start with another one, on nodes that have it; running ones keep theirs", "see that every node has the model"),
    Row("KubeVirt", "spec.configuration.cpuRequest", Any, Scheduling, NextStart, WhereUsed, "VMs without a CPU request of their own ask for another amount", ""),
    Row("KubeVirt", "spec.configuration.obsoleteCPUModels", Any, Scheduling, NextStart, Always, "nodes are labelled with other CPU models", ""),
    Row("KubeVirt", "spec.configuration.minCPUModel", Any, Scheduling, NextStart, Always, "nodes are labelled with other CPU models", ""),
    Row("KubeVirt", "spec.configuration.autoCPULimitNamespaceLabelSelector", Any, Scheduling, NextStart, Always, "in the namespaces that match, VMs get CPU limits", ""),
    Row("KubeVirt", "spec.configuration.virtualMachineInstancesPerNode", Any, Scheduling, NextStart, Always, "another number of VMs fits on a node", ""),
    Row("KubeVirt", "spec.configuration.developerConfiguration.cpuAllocationRatio", Any, Scheduling, NextStart, Always, "VMs started from now on ask for another share of CPU", ""),
    Row("KubeVirt", "spec.configuration.developerConfiguration.memoryOvercommit", Any, Scheduling, NextStart, Always, "VMs started from now on ask for another share of memory", ""),
    Row("KubeVirt", "spec.configuration.developerConfiguration.useEmulation", Any, BootFailure, NextStart, WhereUsed, "whether VMs may run without KVM changes", ""),
    Row("KubeVirt", "spec.configuration.developerConfiguration.featureGates", Any, Behaviour, Now, Always, "the KubeVirt feature {} is switched on", ""),
    Row("KubeVirt", "spec.configuration.developerConfiguration.featureGates", Remove, BootFailure, NextStart, WhereUsed, "VMs that use the feature {} are refused when they are changed or started again", "see which VMs use it before"),
    Row("KubeVirt", "spec.configuration.developerConfiguration.disabledFeatureGates", Add, BootFailure, NextStart, WhereUsed, "the feature {} is off although KubeVirt has it on by default; VMs that use it are refused", "see which VMs use it before"),
    Row("KubeVirt", "spec.configuration.developerConfiguration.disabledFeatureGates", Remove, Behaviour, Now, Always, "the feature {} is on as KubeVirt has it by default", ""),
    Row("KubeVirt", "spec.configuration.developerConfiguration.logVerbosity", Any, Behaviour, Now, Always, "KubeVirt logs more or less", ""),
    Row("KubeVirt", "spec.configuration.vmStateStorageClass", Any, BootFailure, NewMachines, WhereUsed, "the state of new VMs with a persistent TPM or EFI is stored in another storage class", "see that the storage class is there"),
    Row("KubeVirt", "spec.configuration.network", Any, BootFailure, NextStart, WhereUsed, "the network binding {} changes; VMs that use one that is removed don't start", "move the VMs to another binding first"),
    Row("KubeVirt", "spec.configuration.network.binding", Add, Behaviour, Now, Always, "VMs may use the network binding {}", ""),
    Row("KubeVirt", "spec.configuration.hypervisors", Any, BootFailure, NextStart, Always, "VMs run on another hypervisor", ""),
    Row("KubeVirt", "spec.configuration.tlsConfiguration", Any, Security, Now, Always, "clients need another TLS version or other ciphers", ""),
    Row("KubeVirt", "spec.configuration.seccompConfiguration", Any, Security, Now, Always, "launcher pods run with another seccomp profile", ""),
    Row("KubeVirt", "spec.configuration.selinuxLauncherType", Any, Security, Now, Always, "launcher pods run with another SELinux type", ""),
    Row("KubeVirt", "spec.configuration.liveUpdateConfiguration", Any, Behaviour, NextStart, Always, "how far CPU and memory can be plugged into VMs started from now on changes", ""),
    Row("KubeVirt", "spec.configuration.vmRolloutStrategy", Any, Behaviour, Now, Always, "whether a change of a VM takes effect while it runs changes", ""),
    Row("KubeVirt", "spec.configuration.changedBlockTrackingLabelSelectors", Any, Behaviour, Now, Always, "changed-block tracking covers other VMs", ""),
    Row("KubeVirt", "spec.configuration.commonInstancetypesDeployment", Any, Behaviour, Now, Always, "the common instance types and preferences are deployed or removed", ""),
    Row("KubeVirt", "spec.configuration.commonInstancetypesDeployment.enabled", Becomes("false"), BootFailure, Now, WhereUsed, "the common instance types are removed; VMs that name one are refused", "give the VMs that name one a copy of it"),
    Row("KubeVirt", "spec.configuration.instancetype", Any, Behaviour, Now, Always, "how a VM refers to its instance type changes", ""),
    Row("KubeVirt", "spec.configuration.virtTemplateDeployment", Any, Behaviour, Now, Always, "KubeVirt's virtual machine templates are deployed or removed", ""),
    Row("KubeVirt", "spec.configuration.apiConfiguration", Any, Behaviour, Now, Always, "virt-api takes another number of requests", ""),
    Row("KubeVirt", "spec.configuration.controllerConfiguration", Any, Behaviour, Now, Always, "virt-controller sends another number of requests", ""),
    Row("KubeVirt", "spec.configuration.handlerConfiguration", Any, Behaviour, Now, Always, "virt-handler sends another number of requests", ""),
    Row("KubeVirt", "spec.configuration.webhookConfiguration", Any, Behaviour, Now, Always, "KubeVirt's webhooks take another number of requests", ""),
    Row("KubeVirt", "spec.configuration.smbios", Any, Behaviour, Now, Always, "guests see another system manufacturer or version", ""),
    Row("KubeVirt", "spec.configuration.supportContainerResources", Any, Scheduling, NewMachines, Always, "the helper containers of new VMs ask for other resources", ""),
    Row("KubeVirt", "spec.imageRegistry", Any, Disruption, Now, Always, "KubeVirt is rolled out from another registry", "see that the registry has every image"),
    Row("KubeVirt", "spec.imageTag", Any, Disruption, Now, Always, "KubeVirt is updated", ""),
    Row("KubeVirt", "spec.configuration.mediatedDevicesConfiguration", Add, Behaviour, Now, Always, "the nodes' mediated devices are created", ""),
    // CDI
    Row("CDI", "", Remove, BootFailure, Now, Always, "disks can't be imported, cloned or uploaded any more", ""),
    Row("CDI", "spec.uninstallStrategy", Any, Behaviour, Removal, Always, "what deleting the HyperConverged does to disks changes", ""),
    Row("CDI", "spec.uninstallStrategy", Becomes("RemoveWorkloads"), DataLoss, Removal, Always, "deleting the HyperConverged deletes every DataVolume", "set `uninstallStrategy: BlockUninstallIfWorkloadsExist` to keep them"),
    Row("CDI", "spec.config.scratchSpaceStorageClass", Any, Images, NextImport, Always, "imports use another storage class for scratch space", ""),
    Row("CDI", "spec.config.filesystemOverhead", Any, Images, NewMachines, Always, "new disks get another reserve", ""),
    Row("CDI", "spec.config.podResourceRequirements", Any, Images, NextImport, Always, "importer pods get other resources", ""),
    Row("CDI", "spec.config.importProxy", Any, Images, NextImport, Always, "imports go through another proxy; what it can't reach isn't imported", ""),
    Row("CDI", "spec.config.insecureRegistries", Any, Security, NextImport, Always, "images are taken from other registries without TLS", ""),
    Row("CDI", "spec.config.tlsSecurityProfile", Any, Security, Now, Always, "clients of CDI need another TLS version or other ciphers", ""),
    Row("CDI", "spec.config.dataVolumeTTLSeconds", Any, Behaviour, Now, Always, "finished DataVolumes are removed after another time", ""),
    Row("CDI", "spec.config.featureGates", Add, Behaviour, Now, Always, "the CDI feature {} is switched on", ""),
    Row("CDI", "spec.config.featureGates", Remove, Behaviour, Now, Always, "the CDI feature {} is switched off", ""),
    Row("CDI", "spec.config.logVerbosity", Any, Behaviour, Now, Always, "CDI logs more or less", ""),
    Row("CDI", "spec.config.uploadProxyURLOverride", Any, Behaviour, Now, Always, "uploads go to another address", ""),
    Row("CDI", "spec.cloneStrategyOverride", Any, Images, NewMachines, Always, "disks are cloned in another way", ""),
    Row("CDI", "spec.infra", Any, Disruption, Now, Always, "CDI's components are rolled out again", ""),
    Row("CDI", "spec.workload", Any, Images, NextImport, Always, "importer pods run on other nodes", ""),
    Row("CDI", "spec.certConfig", Any, Security, Now, Always, "CDI's certificates are reissued with different lifetimes", ""),
    Row("CDI", "spec.customizeComponents", Any, Disruption, Now, Always, "CDI's own components are patched and rolled out again", ""),
    // Networking
    Row("NetworkAddonsConfig", "", Remove, Disruption, Now, Always, "the network components are removed", ""),
    Row("NetworkAddonsConfig", "spec.kubeMacPool", Any, Behaviour, NewMachines, Always, "VMs get MAC addresses from another range", ""),
    Row("NetworkAddonsConfig", "spec.kubeMacPool", Remove, Behaviour, Now, Always, "nothing keeps two VMs from having one MAC address", ""),
    Row("NetworkAddonsConfig", "spec.ovs", Any, Behaviour, Now, Always, "Open vSwitch is deployed on the nodes", ""),
    Row("NetworkAddonsConfig", "spec.ovs", Remove, BootFailure, NextStart, WhereUsed, "Open vSwitch's plugin is removed; VMs on its bridges don't start", "move the VMs off its bridges first"),
    Row("NetworkAddonsConfig", "spec.linuxBridge", Remove, BootFailure, NextStart, WhereUsed, "the bridge plugin is removed; VMs on a bridge don't start", "move the VMs off the bridges first"),
    Row("NetworkAddonsConfig", "spec.multus", Remove, BootFailure, NextStart, WhereUsed, "Multus is removed; VMs with a second network don't start", "keep Multus where VMs have a second network"),
    Row("NetworkAddonsConfig", "spec.kubeSecondaryDNS", Any, Behaviour, Now, Always, "names of VMs on secondary networks resolve otherwise", ""),
    Row("NetworkAddonsConfig", "spec.kubevirtIpamController", Any, Behaviour, Now, Always, "whether VMs keep their IP address across a migration changes", ""),
    Row("NetworkAddonsConfig", "spec.placementConfiguration.workloads", Any, BootFailure, NextStart, WhereUsed, "the network plugins run on other nodes; VMs on the rest don't start", "keep every node in that runs virtual machines"),
    Row("NetworkAddonsConfig", "spec.placementConfiguration.infra", Any, Disruption, Now, Always, "the network components are rolled out again", ""),
    Row("NetworkAddonsConfig", "spec.selfSignConfiguration", Any, Security, Now, Always, "the network components' certificates are reissued", ""),
    Row("NetworkAddonsConfig", "spec.tlsSecurityProfile", Any, Security, Now, Always, "clients of the network components need another TLS version or other ciphers", ""),
    // SSP and the golden images
    Row("SSP", "", Remove, BootFailure, Now, Always, "templates and golden images are removed", ""),
    Row("SSP", "spec.enableMultipleArchitectures", Any, Images, NextImport, Always, "golden images are imported per architecture, or for one only", ""),
    Row("SSP", "spec.enableMultipleArchitectures", Becomes("false"), BootFailure, NewMachines, WhereUsed, "golden images are kept for one architecture only; VMs on the others have no image to boot from", "keep multi-arch golden images on while nodes of several architectures run VMs"),
    Row("SSP", "spec.cluster.workloadArchitectures", Remove, Images, Now, Always, "golden images for {} are not kept any more", ""),
    Row("SSP", "spec.cluster", Any, Images, Now, WhereUsed, "golden images are imported for {}, too, where they exist for it and multi-arch is on", ""),
    Row("SSP", "spec.commonTemplates.namespace", Any, BootFailure, NewMachines, Always, "templates and golden images move to another namespace; what names them in the old one doesn't find them", "name the new namespace there"),
    Row("SSP", "spec.commonTemplates.dataImportCronTemplates", Any, Images, NextImport, Always, "the golden image {} is imported with other settings", ""),
    Row("SSP", "spec.commonTemplates.dataImportCronTemplates", Remove, Images, Now, Always, "the golden image {} is not kept up to date any more", ""),
    Row("SSP", "spec.templateValidator", Any, Disruption, Now, Always, "the template validator is rolled out again", ""),
    Row("SSP", "spec.tlsSecurityProfile", Any, Security, Now, Always, "clients of SSP need another TLS version or other ciphers", ""),
    Row("SSP", "spec.tokenGenerationService", Any, Behaviour, Now, Always, "whether tokens for VM consoles are given out changes", ""),
    Row("DataImportCron", "", Add, Images, Now, Always, "the golden image {} is imported", ""),
    Row("DataImportCron", "", Remove, Images, Now, Always, "the golden image {} is not imported any more", ""),
    Row("DataImportCron", "spec.template.spec.source", Any, Images, NextImport, Always, "the golden image {} is imported from another place", ""),
    Row("DataImportCron", "spec.template.spec.storage", Any, Images, NextImport, Always, "the next imports get another size or storage class: {}", ""),
    Row("DataImportCron", "spec.managedDataSource", Any, BootFailure, NextImport, Always, "what is imported for {} is found under another DataSource; the old one goes stale", ""),
    Row("DataImportCron", "spec.schedule", Any, Images, Now, Always, "the golden image {} is polled on another schedule", ""),
    Row("DataImportCron", "spec.garbageCollect", Any, Images, NextImport, Always, "old imports are kept or removed: {}", ""),
    Row("DataImportCron", "spec.importsToKeep", Any, Images, NextImport, Always, "the number of old imports that are kept changes: {}", ""),
    Row("DataImportCron", "spec.retentionPolicy", Any, Behaviour, ImageRemoval, Always, "what is left of the golden image {} once it is taken out changes", ""),
    Row("DataImportCron", "spec.retentionPolicy", Becomes("None"), Behaviour, ImageRemoval, Always, "the disks that were imported for {} are deleted together with the image from now on; nothing goes now", "write `retentionPolicy: All` to keep them then"),
    Row("DataImportCron", "spec", Any, Images, NextImport, Always, "the golden image {} is imported with other settings", ""),
    Row("DataSource", "", Remove, BootFailure, NewMachines, WhereUsed, "the DataSource {} is removed; VMs that clone it can't be created", "name another DataSource in the VMs that clone it"),
    Row("DataSource", "", Add, Images, Now, Always, "the DataSource {} appears", ""),
    Row("DataSource", "spec.source", Any, BootFailure, NewMachines, WhereUsed, "new VMs from the DataSource {} boot another disk, or none where that is missing", "see that the disk is there which it names"),
    // The rest
    Row("AAQ", "", Add, Scheduling, NewPods, Always, "quotas are enforced on VM pods before they are scheduled", ""),
    Row("AAQ", "", Remove, Scheduling, Now, Always, "the quotas of AAQ are not enforced any more", ""),
    Row("AAQ", "spec", Any, Scheduling, Now, Always, "AAQ counts quotas differently", ""),
    Row("AAQ", "spec.infra", Any, Disruption, Now, Always, "AAQ's components are rolled out again", ""),
    Row("MigController", "", Remove, Behaviour, Now, Always, "storage migrations can't be planned any more", ""),
    Row("PriorityClass", "", Remove, Disruption, Now, Always, "pods of KubeVirt lose the priority that keeps them from being evicted", ""),
    Row("PriorityClass", "", Any, Behaviour, Now, Always, "the priority of KubeVirt's pods changes", ""),
    Row("Deployment", "spec.template", Any, Behaviour, Now, Always, "the pods of {} are replaced", ""),
    Row("Deployment", "spec.replicas", Any, Behaviour, Now, Always, "the number of pods changes: {}", ""),
    Row("DaemonSet", "spec.template", Any, Disruption, Now, Always, "the pods of {} are replaced on each node", ""),
    Row("DaemonSet", "", Remove, Disruption, Now, Always, "the pods of {} are removed from each node", ""),
    Row("DaemonSet", "", Add, Behaviour, Now, Always, "pods of {} run on each node that it chooses", ""),
    Row("SecurityContextConstraints", "", Any, Security, Now, Always, "what the SecurityContextConstraints {} allow changes", ""),
    Row("Role", "", Any, Security, Now, Always, "the permissions that the role {} grants change", ""),
    Row("ClusterRole", "", Any, Security, Now, Always, "the permissions that the cluster role {} grants change", ""),
    Row("RoleBinding", "", Any, Security, Now, Always, "the role binding {} changes: others get its role", ""),
    Row("ClusterRoleBinding", "", Any, Security, Now, Always, "the role binding {} changes: others get its role", ""),
    Row("NetworkPolicy", "", Any, Security, Now, Always, "the network policy {} allows other traffic", ""),
    Row("ConsolePlugin", "", Any, Behaviour, Now, Always, "the console's Virtualization pages change", ""),
    Row("ConsolePlugin", "", Remove, Behaviour, Now, Always, "the console's Virtualization pages are removed", ""),
];
