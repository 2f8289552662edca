//! Tests of which ClusterVersion determines a cluster's release.

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
