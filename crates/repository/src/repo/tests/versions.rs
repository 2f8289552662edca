//! Tests of which ClusterVersion or Subscription determines a cluster's release.

use super::{HC, VENDOR_SUBSCRIPTION, open};

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
fn takes_the_subscription_beside_the_hyperconverged() {
    let with = |version: &str| format!("{}---\n{HC}", VENDOR_SUBSCRIPTION.replace("4.20.3", version));
    let list = |version: &str| {
        let indented = |text: &str| text.trim_end().replace('\n', "\n  ");
        let subscription = VENDOR_SUBSCRIPTION.replace("4.20.3", version);
        format!("apiVersion: v1\nkind: List\nitems:\n- {}\n- {}\n", indented(&subscription), indented(HC))
    };
    let alone = VENDOR_SUBSCRIPTION.replace("4.20.3", "4.22.0");
    let releases = |files: &[(&str, &str)]| -> Vec<Option<String>> {
        let repo = open(files);
        let loaded = repo.clusters().iter().map(|cluster| repo.load(cluster).expect("readable"));
        loaded.map(|loaded| loaded.identity.release.map(|said| said.value)).collect()
    };
    let both = [Some("4.20.3".to_owned()), Some("4.21.0".to_owned())];
    assert_eq!(releases(&[("all/a.yaml", &with("4.20.3")), ("all/b.yaml", &with("4.21.0"))]), both);
    let lists = format!("{}---\n{}", list("4.20.3"), list("4.21.0"));
    assert_eq!(releases(&[("all/a.yaml", &lists)]), both);
    // One that stands alone is each cluster's that has none of its own.
    let files = [("all/a.yaml", &*with("4.20.3")), ("all/b.yaml", HC), ("all/s.yaml", &alone)];
    assert_eq!(releases(&files).first(), Some(&Some("4.20.3".to_owned())));
}
