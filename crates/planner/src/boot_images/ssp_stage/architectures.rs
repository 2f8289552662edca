//! The architectures of a cluster and of a golden image, as SSP determines them.

use super::is_multi_arch;
use crate::prelude::*;
use crate::release::SspBundle;

/// The architectures that SSP renders for, in order of priority: the control plane's, then the workloads'. With
/// multi-arch off only the first; without `spec.cluster` SSP's own.
pub(super) fn of_cluster<'a>(spec: &'a Value, bundle: &'a SspBundle) -> Vec<&'a str> {
    let Some(cluster) = spec.get("cluster").filter(|c| !c.is_null()) else {
        return vec![&bundle.local_architecture];
    };
    let mut all = Vec::new();
    for architecture in LISTS.into_iter().flat_map(|list| stated(cluster, list)) {
        if !all.contains(&architecture) {
            all.push(architecture);
        }
    }
    if !is_multi_arch(spec) {
        all.truncate(1);
    }
    all
}

/// `controlPlaneArchitectures` or `workloadArchitectures` of `spec.cluster`.
pub(super) fn stated<'c>(cluster: &'c Value, list: &str) -> Vec<&'c str> {
    elements(&cluster[list]).map(|v| v.as_str().unwrap_or_default()).collect()
}

/// The lists, the one of higher priority first.
pub(super) const LISTS: [&str; 2] = ["controlPlaneArchitectures", "workloadArchitectures"];

/// The architectures in an annotation: split at commas, trimmed, case-sensitive, without those unknown to SSP.
pub(super) fn of_annotation<'a>(value: &'a str, bundle: &SspBundle) -> Vec<&'a str> {
    value.split(',').map(str::trim).filter(|a| bundle.architectures.iter().any(|k| k == a)).collect()
}

/// The architecture of a data source's plain name: the cluster's first that it exists for.
pub(super) fn default_of<'a, S: AsRef<str>>(cluster: &[&'a str], existing: &[S]) -> Option<&'a str> {
    cluster.iter().find(|a| existing.iter().any(|e| e.as_ref() == **a)).copied()
}
