//! What a change of an operand does to what runs on the cluster.
//!
//! The table is ordered by nothing: the most specific row that fits wins, which is the one with
//! the longest path. What no row knows has no consequence to tell.

use serde_json::Value;

use super::objects::ObjectChange;
use crate::diff::Kind;

/// How bad it can be, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Impact {
    /// Disks or virtual machines can be lost.
    DataLoss,
    /// Virtual machines that would have started don't.
    BootFailure,
    /// Something that runs is restarted or cut off.
    Disruption,
    /// Where and when virtual machines run or move.
    Scheduling,
    /// Who may connect, with what, and what is let through.
    Security,
    /// Golden images are imported, or imported again.
    Images,
    /// Anything else that users notice.
    Behaviour,
}

impl Impact {
    /// As it is written in reports: `data-loss`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::DataLoss => "data-loss",
            Self::BootFailure => "boot-failure",
            Self::Disruption => "disruption",
            Self::Scheduling => "scheduling",
            Self::Security => "security",
            Self::Images => "images",
            Self::Behaviour => "behaviour",
        }
    }

    /// As a heading.
    pub const fn title(self) -> &'static str {
        match self {
            Self::DataLoss => "data loss",
            Self::BootFailure => "boot failure",
            Self::Disruption => "disruption",
            Self::Scheduling => "scheduling and migration",
            Self::Security => "security",
            Self::Images => "golden images",
            Self::Behaviour => "behaviour",
        }
    }
}

/// What a change does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Consequence {
    /// How bad it can be.
    pub impact: Impact,
    /// One clause, as it stands behind a field: "running VMs may be evicted".
    pub text: &'static str,
}

/// What happens to the place that a row speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum On {
    /// Anything.
    Any,
    /// It appears.
    Add,
    /// It goes.
    Remove,
    /// It has this value afterwards.
    Becomes(&'static str),
}

/// A kind, a path (empty for the object as a whole), and what happens there.
struct Row(&'static str, &'static str, On, Impact, &'static str);

use Impact::{Behaviour, BootFailure, DataLoss, Disruption, Images, Scheduling, Security};
use On::{Add, Any, Becomes, Remove};

/// Sources: KubeVirt's virt-operator (what re-rolls virt-handler, virt-api and virt-controller),
/// the API documentation of KubeVirt, CDI, SSP and the cluster-network-addons operator; CDI's
/// DataImportCron controller (an import follows a new source; `retentionPolicy`).
#[rustfmt::skip]
const TABLE: &[Row] = &[
    // KubeVirt
    Row("KubeVirt", "", Remove, DataLoss, "KubeVirt is uninstalled, and its virtual machines with it unless the strategy blocks it"),
    Row("KubeVirt", "spec.uninstallStrategy", Any, Behaviour, "what deleting the HyperConverged does to virtual machines changes"),
    Row("KubeVirt", "spec.uninstallStrategy", Becomes("RemoveWorkloads"), DataLoss, "deleting the HyperConverged deletes every virtual machine"),
    Row("KubeVirt", "spec.workloads", Any, Disruption, "virt-handler is rolled out again on the nodes that are chosen; VMs on the others can't be managed or migrated"),
    Row("KubeVirt", "spec.infra", Any, Disruption, "virt-api and virt-controller are rolled out again"),
    Row("KubeVirt", "spec.infra.replicas", Any, Behaviour, "the number of virt-api and virt-controller pods changes"),
    Row("KubeVirt", "spec.customizeComponents", Any, Disruption, "KubeVirt's own components are patched and rolled out again"),
    Row("KubeVirt", "spec.certificateRotateStrategy", Any, Security, "KubeVirt's certificates are issued anew with these lifetimes"),
    Row("KubeVirt", "spec.workloadUpdateStrategy", Any, Disruption, "how running VMs are brought to a new version changes: they are migrated, or evicted"),
    Row("KubeVirt", "spec.workloadUpdateStrategy.workloadUpdateMethods", Remove, Behaviour, "running VMs keep their old launcher after an update"),
    Row("KubeVirt", "spec.configuration.migrations", Any, Scheduling, "the live-migration policy changes for migrations that start from now on"),
    Row("KubeVirt", "spec.configuration.migrations.network", Any, Disruption, "virt-handler is rolled out again to use another migration network"),
    Row("KubeVirt", "spec.configuration.evictionStrategy", Any, Scheduling, "what draining a node does to VMs without a strategy of their own changes"),
    Row("KubeVirt", "spec.configuration.evictionStrategy", Becomes("None"), Disruption, "draining a node shuts VMs down that have no strategy of their own"),
    Row("KubeVirt", "spec.configuration.permittedHostDevices", Remove, BootFailure, "VMs that ask for these host devices don't start any more"),
    Row("KubeVirt", "spec.configuration.permittedHostDevices", Any, BootFailure, "VMs that ask for a host device by another name don't start"),
    Row("KubeVirt", "spec.configuration.permittedHostDevices", Add, Behaviour, "VMs may ask for these host devices"),
    Row("KubeVirt", "spec.configuration.mediatedDevicesConfiguration", Any, BootFailure, "the nodes' mediated devices are made anew; VMs that need a type that goes don't start"),
    Row("KubeVirt", "spec.configuration.architectureConfiguration", Any, BootFailure, "new VMs get another machine type, firmware or architecture; one that the nodes don't have doesn't start"),
    Row("KubeVirt", "spec.configuration.defaultArchitecture", Any, BootFailure, "VMs without an architecture of their own get this one, and need a node of it"),
    Row("KubeVirt", "spec.configuration.machineType", Any, BootFailure, "new VMs get another machine type"),
    Row("KubeVirt", "spec.configuration.emulatedMachines", Any, BootFailure, "VMs with a machine type that is not listed are refused"),
    Row("KubeVirt", "spec.configuration.cpuModel", Any, BootFailure, "VMs without a CPU model of their own start with this one, on nodes that have it; running ones keep theirs"),
    Row("KubeVirt", "spec.configuration.cpuRequest", Any, Scheduling, "VMs without a CPU request of their own ask for another amount"),
    Row("KubeVirt", "spec.configuration.obsoleteCPUModels", Any, Scheduling, "nodes are labelled with other CPU models"),
    Row("KubeVirt", "spec.configuration.minCPUModel", Any, Scheduling, "nodes are labelled with other CPU models"),
    Row("KubeVirt", "spec.configuration.autoCPULimitNamespaceLabelSelector", Any, Scheduling, "in the namespaces that match, VMs get CPU limits"),
    Row("KubeVirt", "spec.configuration.virtualMachineInstancesPerNode", Any, Scheduling, "another number of VMs fits on a node"),
    Row("KubeVirt", "spec.configuration.developerConfiguration.cpuAllocationRatio", Any, Scheduling, "VMs started from now on ask for another share of CPU"),
    Row("KubeVirt", "spec.configuration.developerConfiguration.memoryOvercommit", Any, Scheduling, "VMs started from now on ask for another share of memory"),
    Row("KubeVirt", "spec.configuration.developerConfiguration.useEmulation", Any, BootFailure, "whether VMs may run without KVM changes"),
    Row("KubeVirt", "spec.configuration.developerConfiguration.featureGates", Any, Behaviour, "KubeVirt features are switched on or off"),
    Row("KubeVirt", "spec.configuration.developerConfiguration.featureGates", Remove, BootFailure, "VMs that use the feature are refused when they are changed or started again"),
    Row("KubeVirt", "spec.configuration.developerConfiguration.disabledFeatureGates", Add, BootFailure, "the feature is off although KubeVirt has it on by default; VMs that use it are refused"),
    Row("KubeVirt", "spec.configuration.developerConfiguration.disabledFeatureGates", Remove, Behaviour, "the feature is on as KubeVirt has it by default"),
    Row("KubeVirt", "spec.configuration.developerConfiguration.logVerbosity", Any, Behaviour, "KubeVirt logs more or less"),
    Row("KubeVirt", "spec.configuration.vmStateStorageClass", Any, BootFailure, "the state of new VMs with a persistent TPM or EFI is stored in another storage class"),
    Row("KubeVirt", "spec.configuration.network", Any, BootFailure, "network bindings change; VMs that use one that goes don't start"),
    Row("KubeVirt", "spec.configuration.network.binding", Add, Behaviour, "VMs may use this network binding"),
    Row("KubeVirt", "spec.configuration.hypervisors", Any, BootFailure, "VMs run on another hypervisor"),
    Row("KubeVirt", "spec.configuration.tlsConfiguration", Any, Security, "clients need this TLS version and ciphers"),
    Row("KubeVirt", "spec.configuration.seccompConfiguration", Any, Security, "launcher pods run with another seccomp profile"),
    Row("KubeVirt", "spec.configuration.selinuxLauncherType", Any, Security, "launcher pods run with another SELinux type"),
    Row("KubeVirt", "spec.configuration.liveUpdateConfiguration", Any, Behaviour, "how far CPU and memory can be plugged into VMs started from now on changes"),
    Row("KubeVirt", "spec.configuration.vmRolloutStrategy", Any, Behaviour, "whether a change of a VM takes effect while it runs changes"),
    Row("KubeVirt", "spec.configuration.ksmConfiguration", Any, Behaviour, "memory of VMs is shared (KSM) on other nodes"),
    Row("KubeVirt", "spec.configuration.changedBlockTrackingLabelSelectors", Any, Behaviour, "changed-block tracking covers other VMs"),
    Row("KubeVirt", "spec.configuration.commonInstancetypesDeployment", Any, Behaviour, "the common instance types and preferences are deployed or removed"),
    Row("KubeVirt", "spec.configuration.commonInstancetypesDeployment.enabled", Becomes("false"), BootFailure, "the common instance types are removed; VMs that name one are refused"),
    Row("KubeVirt", "spec.configuration.instancetype", Any, Behaviour, "how a VM refers to its instance type changes"),
    Row("KubeVirt", "spec.configuration.virtTemplateDeployment", Any, Behaviour, "KubeVirt's virtual machine templates are deployed or removed"),
    Row("KubeVirt", "spec.configuration.apiConfiguration", Any, Behaviour, "virt-api takes another number of requests"),
    Row("KubeVirt", "spec.configuration.controllerConfiguration", Any, Behaviour, "virt-controller sends another number of requests"),
    Row("KubeVirt", "spec.configuration.handlerConfiguration", Any, Behaviour, "virt-handler sends another number of requests"),
    Row("KubeVirt", "spec.configuration.webhookConfiguration", Any, Behaviour, "KubeVirt's webhooks take another number of requests"),
    Row("KubeVirt", "spec.configuration.smbios", Any, Behaviour, "guests see another system manufacturer or version"),
    Row("KubeVirt", "spec.configuration.supportContainerResources", Any, Scheduling, "the helper containers of new VMs ask for other resources"),
    Row("KubeVirt", "spec.imageRegistry", Any, Disruption, "KubeVirt is rolled out from another registry"),
    Row("KubeVirt", "spec.imageTag", Any, Disruption, "KubeVirt is updated"),
    Row("KubeVirt", "spec.configuration.mediatedDevicesConfiguration", Add, Behaviour, "the nodes' mediated devices are made"),
    // CDI
    Row("CDI", "", Remove, BootFailure, "disks can't be imported, cloned or uploaded any more"),
    Row("CDI", "spec.uninstallStrategy", Any, Behaviour, "what deleting the HyperConverged does to disks changes"),
    Row("CDI", "spec.uninstallStrategy", Becomes("RemoveWorkloads"), DataLoss, "deleting the HyperConverged deletes every DataVolume"),
    Row("CDI", "spec.config.scratchSpaceStorageClass", Any, Images, "imports use another storage class for scratch space"),
    Row("CDI", "spec.config.filesystemOverhead", Any, Images, "new disks get another reserve"),
    Row("CDI", "spec.config.podResourceRequirements", Any, Images, "importer pods get other resources"),
    Row("CDI", "spec.config.importProxy", Any, Images, "imports go through another proxy; what it can't reach isn't imported"),
    Row("CDI", "spec.config.insecureRegistries", Any, Security, "images are taken from other registries without TLS"),
    Row("CDI", "spec.config.tlsSecurityProfile", Any, Security, "clients of CDI need this TLS version and ciphers"),
    Row("CDI", "spec.config.dataVolumeTTLSeconds", Any, Behaviour, "finished DataVolumes are removed after another time"),
    Row("CDI", "spec.config.featureGates", Any, Behaviour, "CDI features are switched on or off"),
    Row("CDI", "spec.config.logVerbosity", Any, Behaviour, "CDI logs more or less"),
    Row("CDI", "spec.config.uploadProxyURLOverride", Any, Behaviour, "uploads go to another address"),
    Row("CDI", "spec.cloneStrategyOverride", Any, Images, "disks are cloned in another way"),
    Row("CDI", "spec.infra", Any, Disruption, "CDI's components are rolled out again"),
    Row("CDI", "spec.workload", Any, Images, "importer pods run on other nodes"),
    Row("CDI", "spec.certConfig", Any, Security, "CDI's certificates are issued anew with these lifetimes"),
    Row("CDI", "spec.customizeComponents", Any, Disruption, "CDI's own components are patched and rolled out again"),
    // Networking
    Row("NetworkAddonsConfig", "", Remove, Disruption, "the network components are removed"),
    Row("NetworkAddonsConfig", "spec.kubeMacPool", Any, Behaviour, "VMs get MAC addresses from another range"),
    Row("NetworkAddonsConfig", "spec.kubeMacPool", Remove, Behaviour, "nothing keeps two VMs from having one MAC address"),
    Row("NetworkAddonsConfig", "spec.ovs", Any, Behaviour, "Open vSwitch is deployed on the nodes"),
    Row("NetworkAddonsConfig", "spec.ovs", Remove, BootFailure, "Open vSwitch's plugin is removed; VMs on its bridges don't start"),
    Row("NetworkAddonsConfig", "spec.linuxBridge", Remove, BootFailure, "the bridge plugin is removed; VMs on a bridge don't start"),
    Row("NetworkAddonsConfig", "spec.multus", Remove, BootFailure, "Multus is removed; VMs with a second network don't start"),
    Row("NetworkAddonsConfig", "spec.kubeSecondaryDNS", Any, Behaviour, "names of VMs on secondary networks resolve otherwise"),
    Row("NetworkAddonsConfig", "spec.kubevirtIpamController", Any, Behaviour, "whether VMs keep their IP address across a migration changes"),
    Row("NetworkAddonsConfig", "spec.placementConfiguration.workloads", Any, BootFailure, "the network plugins run on other nodes; VMs on the rest don't start"),
    Row("NetworkAddonsConfig", "spec.placementConfiguration.infra", Any, Disruption, "the network components are rolled out again"),
    Row("NetworkAddonsConfig", "spec.selfSignConfiguration", Any, Security, "the network components' certificates are issued anew"),
    Row("NetworkAddonsConfig", "spec.tlsSecurityProfile", Any, Security, "clients of the network components need this TLS version and ciphers"),
    // SSP and the golden images
    Row("SSP", "", Remove, BootFailure, "templates and golden images are removed"),
    Row("SSP", "spec.enableMultipleArchitectures", Any, Images, "golden images are imported per architecture, or for one only"),
    Row("SSP", "spec.enableMultipleArchitectures", Becomes("false"), BootFailure, "golden images are kept for one architecture only; VMs on the others have no image to boot from"),
    Row("SSP", "spec.cluster.workloadArchitectures", Remove, BootFailure, "golden images of this architecture are not kept any more"),
    Row("SSP", "spec.cluster", Any, Images, "golden images are imported for other architectures"),
    Row("SSP", "spec.commonTemplates.namespace", Any, BootFailure, "templates and golden images move to another namespace; VMs that name them there don't find them"),
    Row("SSP", "spec.commonTemplates.dataImportCronTemplates", Any, Images, "golden images are imported otherwise"),
    Row("SSP", "spec.commonTemplates.dataImportCronTemplates", Remove, BootFailure, "this golden image is not kept up to date any more"),
    Row("SSP", "spec.templateValidator", Any, Disruption, "the template validator is rolled out again"),
    Row("SSP", "spec.tlsSecurityProfile", Any, Security, "clients of SSP need this TLS version and ciphers"),
    Row("SSP", "spec.tokenGenerationService", Any, Behaviour, "whether tokens for VM consoles are given out changes"),
    Row("DataImportCron", "", Add, Images, "the image is imported"),
    Row("DataImportCron", "", Remove, BootFailure, "the image is no longer imported; new VMs from it need a DataSource that goes with it"),
    Row("DataImportCron", "spec.template.spec.source", Any, Images, "another image is imported"),
    Row("DataImportCron", "spec.template.spec.storage", Any, Images, "the next import gets another size or storage class"),
    Row("DataImportCron", "spec.managedDataSource", Any, BootFailure, "another DataSource gets the image; the old one goes stale"),
    Row("DataImportCron", "spec.schedule", Any, Images, "the image is looked for at other times"),
    Row("DataImportCron", "spec.garbageCollect", Any, Images, "old imports are kept or removed"),
    Row("DataImportCron", "spec.importsToKeep", Any, Images, "another number of old imports is kept"),
    Row("DataImportCron", "spec.retentionPolicy", Any, Behaviour, "what is left when the cron goes changes"),
    Row("DataImportCron", "spec.retentionPolicy", Becomes("None"), DataLoss, "when the cron goes, its DataSource and its imported disks go with it"),
    Row("DataImportCron", "spec", Any, Images, "the image is imported otherwise"),
    Row("DataSource", "", Remove, BootFailure, "VMs that clone from it can't be made"),
    Row("DataSource", "", Add, Images, "VMs can be made from it"),
    Row("DataSource", "spec.source", Any, BootFailure, "new VMs from it boot another disk, or none where that is missing"),
    // The rest
    Row("AAQ", "", Add, Scheduling, "quotas are enforced on VM pods before they are scheduled"),
    Row("AAQ", "", Remove, Scheduling, "the quotas of AAQ are not enforced any more"),
    Row("AAQ", "spec", Any, Scheduling, "quotas are counted otherwise"),
    Row("AAQ", "spec.infra", Any, Disruption, "AAQ's components are rolled out again"),
    Row("MigController", "", Remove, Behaviour, "storage migrations can't be planned any more"),
    Row("PriorityClass", "", Remove, Disruption, "pods of KubeVirt lose the priority that keeps them from being evicted"),
    Row("PriorityClass", "", Any, Behaviour, "the priority of KubeVirt's pods changes"),
    Row("Deployment", "spec.template", Any, Disruption, "its pods are replaced"),
    Row("Deployment", "spec.replicas", Any, Behaviour, "another number of pods runs"),
    Row("DaemonSet", "spec.template", Any, Disruption, "its pods are replaced on each node"),
    Row("DaemonSet", "", Remove, Disruption, "its pods are removed from each node"),
    Row("DaemonSet", "", Add, Behaviour, "its pods run on each node that it chooses"),
    Row("SecurityContextConstraints", "", Any, Security, "pods that use it may do more or less"),
    Row("Role", "", Any, Security, "who is bound to it may do more or less"),
    Row("ClusterRole", "", Any, Security, "who is bound to it may do more or less"),
    Row("RoleBinding", "", Any, Security, "others get the role"),
    Row("ClusterRoleBinding", "", Any, Security, "others get the role"),
    Row("NetworkPolicy", "", Any, Security, "other traffic is let through"),
    Row("ConsolePlugin", "", Any, Behaviour, "the console's Virtualization pages change"),
    Row("ConsolePlugin", "", Remove, Behaviour, "the console's Virtualization pages go"),
];

/// What a change of the object as a whole does.
pub fn of_object(change: &ObjectChange) -> Option<Consequence> {
    let on = match change.kind {
        Kind::Add if change.instead_of.is_none() => Add,
        Kind::Remove => Remove,
        _ => return None,
    };
    best(&change.id.kind, "", on, None)
}

/// What a change of a field does; `label` as in [`super::Step::label`].
pub fn of_field(
    kind: &str,
    label: &str,
    before: Option<&Value>,
    after: Option<&Value>,
) -> Option<Consequence> {
    let on = match (before, after) {
        (None, Some(_)) => Add,
        (Some(_), None) => Remove,
        _ => Any,
    };
    best(kind, label, on, after)
}

fn best(kind: &str, label: &str, on: On, after: Option<&Value>) -> Option<Consequence> {
    let plain = without_keys(label);
    let fits = |row: &&Row| {
        let path = plain.strip_prefix(row.1);
        let below = path.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        let whole = row.1.is_empty();
        // A row about the object as a whole says nothing of its metadata.
        row.0 == kind && (below || whole) && (!whole || label.is_empty() || row.2 == Any)
    };
    let happens = |row: &Row| match row.2 {
        Any => true,
        Becomes(value) => match after {
            Some(Value::String(text)) => text == value,
            Some(Value::Bool(flag)) => value == if *flag { "true" } else { "false" },
            _ => false,
        },
        other => other == on,
    };
    let rows = TABLE.iter().filter(fits).filter(|row| happens(row));
    // The longest path; there the row that says most exactly what happens.
    let found = rows.max_by_key(|row| (row.1.len(), row.2 != Any))?;
    if found.1.is_empty() && label.starts_with("metadata") {
        return None;
    }
    Some(Consequence {
        impact: found.3,
        text: found.4,
    })
}

/// A label without the keys and numbers of list entries.
fn without_keys(label: &str) -> String {
    let mut depth = 0usize;
    let mut out = String::new();
    for c in label.chars() {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            c if depth == 0 => out.push(c),
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_longest_path_wins() {
        let told = |label: &str, before: Value, after: Value| {
            let some = |v: Value| (!v.is_null()).then_some(v);
            let found = of_field(
                "KubeVirt",
                label,
                some(before).as_ref(),
                some(after).as_ref(),
            );
            found.map(|c| c.impact)
        };
        let migrations = "spec.configuration.migrations.parallelMigrationsPerCluster";
        assert_eq!(told(migrations, json!(5), json!(6)), Some(Scheduling));
        let gate = "spec.configuration.developerConfiguration.featureGates[HotplugVolumes]";
        assert_eq!(told(gate, Value::Null, json!("X")), Some(Behaviour));
        assert_eq!(told(gate, json!("X"), Value::Null), Some(BootFailure));
        let uninstall = "spec.uninstallStrategy";
        assert_eq!(
            told(
                uninstall,
                json!("BlockUninstallIfWorkloadsExist"),
                json!("RemoveWorkloads")
            ),
            Some(DataLoss)
        );
        assert_eq!(told("metadata.labels.a", json!("1"), json!("2")), None);
    }

    #[test]
    fn every_row_can_be_met() {
        for (i, row) in TABLE.iter().enumerate() {
            let twin = |other: &Row| other.0 == row.0 && other.1 == row.1 && other.2 == row.2;
            assert_eq!(
                TABLE.iter().position(twin),
                Some(i),
                "{} {} twice",
                row.0,
                row.1
            );
        }
    }
}
