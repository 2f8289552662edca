//! Cases that the recordings lack: several releases, instance types, obstacles of a migration.

use serde_json::{Value, json};

use super::*;

fn kubevirt() -> Value {
    json!({"spec": {"configuration": {
        "evictionStrategy": "LiveMigrate",
        "vmRolloutStrategy": "LiveUpdate",
        "network": {"defaultNetworkInterface": "masquerade"},
        "developerConfiguration": {"featureGates": ["HostDevices", "Sidecar"]},
        "architectureConfiguration": {"amd64": {"emulatedMachines": ["q35*", "pc-q35*"]}},
    }}})
}

fn valid_machine() -> Value {
    json!({
        "apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine",
        "metadata": {"name": "web", "namespace": "team-a"},
        "spec": {
            "runStrategy": "Always",
            "template": {"spec": {
                "architecture": "amd64",
                "domain": {
                    "cpu": {"cores": 2},
                    "memory": {"guest": "4Gi"},
                    "devices": {
                        "disks": [{"name": "root", "disk": {"bus": "virtio"}}],
                        "interfaces": [{"name": "default", "masquerade": {}}],
                    },
                },
                "networks": [{"name": "default", "pod": {}}],
                "volumes": [{"name": "root", "containerDisk": {"image": "quay.io/acme/web:1"}}],
            }},
        },
    })
}

/// A valid machine with values at dotted paths below the instance's spec, or below the object if a path starts with
/// `/`.
fn with(changes: &Value) -> Value {
    let mut object = valid_machine();
    for (path, value) in changes.as_object().expect("changes") {
        let pointer = match path.strip_prefix('/') {
            Some(path) => format!("/{}", path.replace('.', "/")),
            None => format!("/spec/template/spec/{}", path.replace('.', "/")),
        };
        let mut node = &mut object;
        for key in pointer.split('/').skip(1) {
            node = match key.parse::<usize>() {
                Ok(index) => &mut node[index],
                Err(_) => &mut node[key],
            };
        }
        *node = value.clone();
    }
    object
}

fn causes_of(release: &str, object: &Value, types: [Option<&Value>; 2]) -> Vec<Cause> {
    let release = Release::known(release).expect("known");
    let kubevirt = kubevirt();
    let architecture = object.pointer("/spec/template/spec/architecture").and_then(Value::as_str);
    let [instancetype, preference] = types;
    let machine = Machine { object, architecture, instancetype, preference, namespace: &Namespace::default() };
    admit(Cluster { release: &release, kubevirt: &kubevirt }, machine).causes
}

#[test]
fn accepts_a_valid_machine_in_every_release() {
    for release in Release::known_names() {
        assert_eq!(causes_of(release, &valid_machine(), [None, None]), [], "{release}");
    }
}

#[test]
fn applies_instance_types_and_preferences() {
    let version = "v1.8.4";
    let [medium, windows, fedora] = [
        common_type(TypeKind::Instancetype, "u1.medium", version),
        common_type(TypeKind::Preference, "windows.11", version),
        common_type(TypeKind::Preference, "fedora", version),
    ]
    .map(|spec| spec.expect("KubeVirt deploys it"));
    let typed = |cpu: Value, memory: Value| with(&json!({"domain.cpu": cpu, "domain.memory": memory}));
    let own = typed(json!({"cores": 2}), json!({"guest": "4Gi"}));
    let none = typed(Value::Null, Value::Null);
    let message = |object: &Value, types| -> Vec<String> {
        causes_of("1.18", object, types).into_iter().map(|c| c.message).collect()
    };
    assert_eq!(
        message(&own, [Some(medium), None]),
        [
            "VM field(s) spec.template.spec.domain.cpu.cores conflicts with selected instance type",
            "VM field(s) spec.template.spec.domain.memory.guest conflicts with selected instance type",
        ]
    );
    assert_eq!(message(&none, [Some(medium), Some(fedora)]), [""; 0]);
    assert_eq!(
        message(&none, [Some(medium), Some(windows)]),
        ["failure checking preference requirements: insufficient CPU resources of 1 vCPU provided by instance type, \
          preference requires 2 vCPU"]
    );
    let sockets = typed(json!({"sockets": 2, "cores": 1, "threads": 1}), json!({"guest": "3Gi"}));
    assert_eq!(
        message(&sockets, [None, Some(windows)]),
        ["failure checking preference requirements: insufficient Memory resources of 3Gi provided by VirtualMachine, \
          preference requires 4Gi"]
    );
}

#[test]
fn has_a_schema_for_every_kind_and_version() {
    for release in Release::known_names() {
        let version = &Release::known(release).expect("known").kubevirt().version.clone();
        for kind in [
            "VirtualMachine",
            "VirtualMachineInstance",
            "VirtualMachineInstanceReplicaSet",
            "VirtualMachinePool",
            "VirtualMachineClusterInstancetype",
            "VirtualMachinePreference",
            "MigrationPolicy",
        ] {
            assert!(structure::schema(kind, version).is_some_and(|s| s.unsupported().is_empty()), "{kind} {version}");
        }
        assert!(common_types(TypeKind::Instancetype, version).len() > 40, "{version}");
    }
    let of = |version: &str, name: &str| common_type(TypeKind::Instancetype, name, version).is_some();
    assert!(!of("v1.7.4", "d1.small") && of("v1.8.4", "d1.small"));
}

#[test]
fn names_obstacles_of_a_migration() {
    let release = Release::known("1.18").expect("known");
    let mut kubevirt = kubevirt();
    kubevirt["spec"]["configuration"]["network"]["binding"] = json!({"moves": {"migration": {}}, "stays": {}});
    let cluster = Cluster { release: &release, kubevirt: &kubevirt };
    let found = |changes: Value, annotations: Value| -> Vec<String> {
        let object = with(&changes);
        let claim = |name: &str| if name == "once" { vec!["ReadWriteOnce".into()] } else { vec![] };
        let found = obstacles(cluster, &object["spec"]["template"]["spec"], &annotations, claim);
        found.into_iter().map(|(_, obstacle)| obstacle).collect()
    };
    let interface = |binding: Value| {
        let mut interface = json!({"name": "default"});
        interface.as_object_mut().expect("an object").extend(binding.as_object().cloned().expect("an object"));
        json!({"domain.devices.interfaces": [interface]})
    };
    let volume = |source: Value| json!({"volumes": [source]});
    let allowed = json!({"kubevirt.io/allow-pod-bridge-network-live-migration": ""});
    for (changes, annotations, obstacle) in [
        (json!({}), json!({}), None),
        (json!({"domain.cpu.model": "host-passthrough"}), json!({}), None),
        (interface(json!({"bridge": {}})), json!({}), Some("its binding to the pod network can't be migrated")),
        (interface(json!({"bridge": {}})), allowed, None),
        (
            interface(json!({"binding": {"name": "stays"}})),
            json!({}),
            Some("its binding to the pod network can't be migrated"),
        ),
        (interface(json!({"binding": {"name": "moves"}})), json!({}), None),
        (
            json!({"domain.devices.gpus": [{"name": "a", "deviceName": "b"}]}),
            json!({}),
            Some("it has a device of its node"),
        ),
        (json!({"domain.launchSecurity": {"sev": {}}}), json!({}), Some("its memory is encrypted by its node")),
        (
            volume(json!({"name": "root", "dataVolume": {"name": "once"}})),
            json!({}),
            Some("its claim isn't ReadWriteMany"),
        ),
        (volume(json!({"name": "root", "dataVolume": {"name": "unknown"}})), json!({}), None),
        (
            volume(json!({"name": "root", "hostDisk": {"path": "/a", "type": "Disk"}})),
            json!({}),
            Some("its disk is a file of its node"),
        ),
    ] {
        assert_eq!(found(changes.clone(), annotations), Vec::from_iter(obstacle.map(str::to_owned)), "{changes}");
    }
}
