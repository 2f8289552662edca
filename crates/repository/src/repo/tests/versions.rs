//! Tests of which ClusterVersion or Subscription determines a cluster's release.

use super::{HC, open};

#[test]
fn ignores_versions_of_other_clusters() {
    let version = |version: &str| {
        format!(
            "apiVersion: config.openshift.io/v1\nkind: ClusterVersion\nmetadata: {{name: version}}\n\
             spec: {{desiredUpdate: {{version: {version}}}}}\nstatus: {{desired: {{version: {version}}}}}\n"
        )
    };
    let (old, new) = (version("4.20.3"), version("4.21.2"));
    let release = |files: &[(&str, &str)]| {
        let repo = open(&[&[("virt/hc.yaml", HC)], files].concat());
        let loaded = repo.load(repo.clusters().first().expect("one")).expect("readable");
        loaded.identity.release.map(|said| said.value)
    };
    assert_eq!(release(&[("version/v.yaml", &new)]).as_deref(), Some("4.21"));
    assert_eq!(release(&[("versions/a/v.yaml", &new)]), None);
    assert_eq!(release(&[("a/v.yaml", &old), ("b/v.yaml", &new)]), None);
    assert_eq!(release(&[("other/hc.yaml", HC), ("version/v.yaml", &new)]), None);
    // Its own is used nevertheless.
    let own = [("virt/v.yaml", &*new), ("b/v.yaml", &*old)];
    assert_eq!(release(&own).as_deref(), Some("4.21"));
}

#[test]
fn takes_the_subscription_of_the_same_policy() {
    let policy = |name: &str, version: &str| {
        let subscription = format!(
            "{{apiVersion: operators.coreos.com/v1alpha1, kind: Subscription, metadata: {{name: hco, namespace: \
             openshift-cnv}}, spec: {{name: kubevirt-hyperconverged, sourceNamespace: openshift-marketplace, \
             installPlanApproval: Manual, startingCSV: kubevirt-hyperconverged-operator.v{version}}}}}"
        );
        format!(
            "apiVersion: policy.open-cluster-management.io/v1\nkind: ConfigurationPolicy\nmetadata: {{name: {name}}}\n\
             spec:\n  object-templates:\n  - {{complianceType: musthave, objectDefinition: {subscription}}}\n  - \
             complianceType: musthave\n    objectDefinition: {{apiVersion: hco.kubevirt.io/v1beta1, kind: \
             HyperConverged, metadata: {{name: kubevirt-hyperconverged, namespace: openshift-cnv}}}}\n"
        )
    };
    let releases = |files: &[(&str, &str)]| -> Vec<Option<String>> {
        let repo = open(files);
        let loaded = repo.clusters().iter().map(|cluster| repo.load(cluster).expect("readable"));
        loaded.map(|loaded| loaded.identity.release.map(|said| said.value)).collect()
    };
    let (old, new) = (policy("edge", "4.20.3"), policy("virt", "4.21.0"));
    let both = [Some("4.20.3".to_owned()), Some("4.21.0".to_owned())];
    assert_eq!(releases(&[("acm/edge.yaml", &old), ("acm/virt.yaml", &new)]), both);
    assert_eq!(releases(&[("acm/all.yaml", &format!("{old}---\n{new}"))]), both);
}
