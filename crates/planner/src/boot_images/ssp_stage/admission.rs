//! SSP's validating webhook: its checks of golden images and architectures.
//!
//! Not modelled: its dry run of a Deployment with the template validator's placement, which asks the API server, and
//! its rejection of a second SSP.

use super::architectures::{LISTS, stated};
use super::template::CronTemplate;
use super::{SspReason, is_multi_arch};
use crate::prelude::*;
use crate::release::SspBundle;

/// Why the webhook rejects this SSP, with its message.
pub(super) fn rejection(spec: &Value, templates: &[CronTemplate], bundle: &SspBundle) -> Option<(SspReason, String)> {
    if let Some((reason, why)) = rejection_of_cluster(spec, bundle) {
        return Some((reason, format!("cluster validation error: {why}")));
    }
    if templates.iter().any(|t| t.id.name.is_empty()) {
        let why = "missing name in DataImportCronTemplate";
        return Some((SspReason::NamelessTemplate, format!("dataImportCronTemplates validation error: {why}")));
    }
    None
}

fn rejection_of_cluster(spec: &Value, bundle: &SspBundle) -> Option<(SspReason, String)> {
    let Some(cluster) = spec.get("cluster").filter(|c| !c.is_null()) else {
        let why = ".spec.cluster needs to be non-nil, if multi-architecture is enabled";
        return is_multi_arch(spec).then(|| (SspReason::NoCluster, why.to_owned()));
    };
    let reject = |why: String| Some((SspReason::Architectures, why));
    let [control_plane, workload] = LISTS.map(|list| stated(cluster, list));
    if workload.is_empty() && control_plane.is_empty() {
        // Also rejected with multi-architecture disabled, despite the webhook's message.
        let why = "at least one architecture needs to be defined, if multi-architecture is enabled";
        return reject(why.to_owned());
    }
    for (kind, list) in [("workload", workload), ("control plane", control_plane)] {
        let known = |a: &&str| bundle.architectures.iter().any(|k| k == a);
        if let Some(unknown) = list.into_iter().find(|a| !known(a)) {
            let why = format!("unknown architecture: {unknown}");
            return reject(format!("invalid {kind} architecture: {why}"));
        }
    }
    None
}
