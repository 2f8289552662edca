//! Tests sentences and subjects of consequences.

use hcoplan_kubernetes::Object;
use hcoplan_planner::release::Release;
use serde_json::json;

use super::*;
use crate::diff::compare_objects;
use crate::diff::semantic::Impact::{BootFailure, Images, Scheduling};

/// The consequences of replacing one object by another; null means absent.
fn consequences_of(before: &Value, after: &Value) -> Vec<(Impact, String)> {
    let objects = |body: &Value| -> Vec<Object> {
        let body = (!body.is_null()).then(|| Object::new(body.clone()));
        body.into_iter().collect()
    };
    let release = Release::known("1.19").expect("known");
    let found = compare_objects(&release, &objects(before), &objects(after));
    let all = found.consequences().into_iter();
    all.map(|(c, object, field)| {
        let change = &found.objects[object];
        let step = field.map(|i| &change.fields[i].step);
        let subject = subject(change, &c, step).join(", ");
        (c.impact, c.sentence(&subject))
    })
    .collect()
}

fn impacts(before: &Value, after: &Value) -> Vec<Impact> {
    consequences_of(before, after).into_iter().map(|(i, _)| i).collect()
}

fn kubevirt(spec: Value) -> Value {
    json!({"apiVersion": "kubevirt.io/v1", "kind": "KubeVirt",
        "metadata": {"name": "k", "namespace": "n"}, "spec": spec})
}

#[test]
fn longest_path_wins() {
    let migrations = |n: u32| kubevirt(json!({"configuration": {"migrations": {"parallelMigrationsPerCluster": n}}}));
    assert_eq!(impacts(&migrations(5), &migrations(6)), [Scheduling]);
    let uninstall = |strategy: &str| kubevirt(json!({"uninstallStrategy": strategy}));
    let (kept, removed) = ("BlockUninstallIfWorkloadsExist", "RemoveWorkloads");
    assert_eq!(impacts(&uninstall(kept), &uninstall(removed)), [DataLoss]);
    assert_eq!(impacts(&uninstall(removed), &uninstall(kept)), [Behaviour]);
    let mut labelled = uninstall(kept);
    labelled["metadata"]["labels"] = json!({"a": "1"});
    assert_eq!(impacts(&uninstall(kept), &labelled), []);
}

#[test]
fn empty_selector_means_every_node() {
    let configuration = |c: Value| kubevirt(json!({"configuration": c}));
    let ksm = |section: Value| configuration(json!({"evictionStrategy": "None", "ksmConfiguration": section}));
    let bare = configuration(json!({"evictionStrategy": "None"}));
    let nowhere = ksm(json!({}));
    let everywhere = ksm(json!({"nodeLabelSelector": {}}));
    let some = |value: &str| ksm(json!({"nodeLabelSelector": {"matchLabels": {"a": value}}}));
    for (before, after, expected) in [
        (&nowhere, &everywhere, "for every node"),
        (&some("b"), &everywhere, "for every node"),
        (&bare, &everywhere, "for every node"),
        (&everywhere, &nowhere, "on no node"),
        (&everywhere, &bare, "on no node"),
        (&nowhere, &some("b"), "for the nodes that its selector matches"),
        (&some("b"), &some("c"), "for other nodes than before"),
    ] {
        let reported = consequences_of(before, after);
        let [(Behaviour, text)] = reported.as_slice() else {
            panic!("{reported:?}");
        };
        assert!(text.contains(expected), "{text}");
    }
    assert_eq!(consequences_of(&nowhere, &bare), []);
}

#[test]
fn removing_a_gate_rejects_its_users_where_the_webhook_requires_it() {
    let gates =
        |list: &str, gates: &[&str]| kubevirt(json!({"configuration": {"developerConfiguration": {list: gates}}}));
    let on = |names: &[&str]| gates("featureGates", names);
    let root = on(&["Root"]);
    let expected = |impact, text: &str| vec![(impact, text.to_owned())];
    assert_eq!(impacts(&root, &on(&["Root", "Sidecar"])), [Behaviour]);
    assert_eq!(impacts(&on(&["Root", "Sidecar"]), &root), [BootFailure]);
    // Deprecated; replaced by DeclarativeHotplugVolumes.
    assert_eq!(
        consequences_of(&on(&["Root", "HotplugVolumes"]), &root),
        expected(Behaviour, "the KubeVirt feature HotplugVolumes is switched off")
    );
    let off = |names: &[&str]| gates("disabledFeatureGates", names);
    let none = off(&["Other"]);
    assert_eq!(impacts(&none, &off(&["Other", "VideoConfig"])), [BootFailure]);
    assert_eq!(impacts(&none, &off(&["Other", "ObjectGraph"])), [Behaviour]);
}

#[test]
fn missing_firmware_path_means_the_default() {
    let firmware = |amd64: &str, arm64: &str| {
        let section = |path: &str| match path {
            "" => json!({"machineType": "m"}),
            path => json!({"machineType": "m", "ovmfPath": path}),
        };
        kubevirt(json!({"configuration": {"architectureConfiguration":
            {"amd64": section(amd64), "arm64": section(arm64)}}}))
    };
    let (amd64, arm64) = ("/usr/share/OVMF", "/usr/share/AAVMF");
    let both = firmware(amd64, arm64);
    assert_eq!(consequences_of(&both, &firmware(amd64, "")), []);
    assert_eq!(consequences_of(&firmware(amd64, ""), &both), []);
    assert_eq!(impacts(&both, &firmware("", arm64)), [Behaviour]);
    assert_eq!(impacts(&both, &firmware("/own", arm64)), [BootFailure]);
    assert_eq!(impacts(&both, &firmware(amd64, "/own")), [BootFailure]);
}

#[test]
fn reports_whether_a_cdi_feature_is_switched_on_or_off() {
    let cdi = |gates: &[&str]| {
        json!({"apiVersion": "cdi.kubevirt.io/v1beta1", "kind": "CDI",
            "metadata": {"name": "c"}, "spec": {"config": {"featureGates": gates}}})
    };
    let (with, without) = (cdi(&["A", "B"]), cdi(&["A"]));
    let expected = |text: &str| vec![(Behaviour, text.to_owned())];
    assert_eq!(consequences_of(&without, &with), expected("the CDI feature B is switched on"));
    assert_eq!(consequences_of(&with, &without), expected("the CDI feature B is switched off"));
}

#[test]
fn deletes_disks_with_a_cron_that_retains_nothing() {
    let cron = |policy: Value| {
        json!({"apiVersion": "cdi.kubevirt.io/v1beta1", "kind": "DataImportCron",
            "metadata": {"name": "c", "namespace": "n"},
            "spec": {"managedDataSource": "d", "retentionPolicy": policy}})
    };
    let (none, all) = (cron(json!("None")), cron(json!("All")));
    assert_eq!(impacts(&none, &Value::Null), [DataLoss]);
    assert_eq!(impacts(&all, &Value::Null), [Images]);
    // Setting the policy alone deletes nothing.
    assert_eq!(impacts(&all, &none), [Behaviour]);
}

#[test]
fn reports_a_removed_object_rather_than_its_fields() {
    let devices = |device: Value| {
        let list = json!({"pciHostDevices": [device, {"resourceName": "b", "pciVendorSelector": "1"}]});
        kubevirt(json!({"configuration": {"permittedHostDevices": list}}))
    };
    let device = json!({"resourceName": "a", "pciVendorSelector": "2", "externalResourceProvider": true});
    let plain = json!({"resourceName": "a", "pciVendorSelector": "2"});
    let none = json!({"resourceName": "c", "pciVendorSelector": "2"});
    let expected = |before: &Value, after: &Value| {
        let reported = consequences_of(&devices(before.clone()), &devices(after.clone())).into_iter();
        reported.map(|(_, text)| text).collect::<Vec<_>>()
    };
    let removed = "VMs that ask for the host device a don't start any more";
    assert!(expected(&device, &none).contains(&removed.to_owned()));
    assert!(!expected(&device, &plain).contains(&removed.to_owned()));

    let addons = |pool: Value| {
        json!({"apiVersion": "networkaddonsoperator.network.kubevirt.io/v1",
            "kind": "NetworkAddonsConfig", "metadata": {"name": "cluster"},
            "spec": {"kubeMacPool": pool, "multus": {}}})
    };
    let range = addons(json!({"rangeStart": "02:00:00:00:00:00", "rangeEnd": "02:00:00:00:00:99"}));
    let range_removed = consequences_of(&range, &addons(json!({})));
    let other_range = "VMs get MAC addresses from another range";
    assert!(range_removed.iter().all(|(_, text)| text == other_range), "{range_removed:?}");
    let mut no_pool = range.clone();
    no_pool["spec"] = json!({"multus": {}});
    let nothing = "nothing keeps two VMs from having one MAC address".to_owned();
    assert_eq!(consequences_of(&range, &no_pool), [(Behaviour, nothing)]);
}

#[test]
fn removed_role_has_one_consequence() {
    let role = |verb: &str| {
        json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
            "metadata": {"name": "r"}, "rules": [{"verbs": [verb]}]})
    };
    let expected = |before: &Value, after: &Value| {
        let reported = consequences_of(before, after).into_iter();
        reported.map(|(_, text)| text).collect::<Vec<_>>()
    };
    assert_eq!(expected(&role("get"), &Value::Null), ["the cluster role r is removed"]);
    let changed = expected(&role("get"), &role("list"));
    assert_eq!(changed, ["the permissions that the cluster role r grants change"]);
}

#[test]
fn every_row_can_match() {
    for (i, row) in TABLE.iter().enumerate() {
        let is_same_row = |other: &Row| other.kind == row.kind && other.path == row.path && other.change == row.change;
        assert_eq!(TABLE.iter().position(is_same_row), Some(i), "{} {} twice", row.kind, row.path);
    }
}
