//! Checks objects other than machines: types, policies, migrations, snapshots, restores, exports, clones, claims, and
//! Services, quotas, limits and networks.
//!
//! Source: `pkg/instancetype/webhooks`, `pkg/instancetype/preference/webhooks`, `migrationpolicy-admitter.go`,
//! `migration-create-admitter.go`, `vmclone-admitter.go`, `pkg/storage/admitters`; Kubernetes
//! `ValidatePersistentVolumeClaimSpec`, `ValidateService`, `ValidateResourceQuota`, `ValidateLimitRange`.

use super::Cluster;
use super::checker::{Checker, structure};
use super::structure::entry_of;
use crate::cause::{Cause, Stage};
use crate::prelude::*;

/// Why KubeVirt, or the API server one of its own kinds, rejects such an object: by its structure, else by its values.
/// Empty if it is accepted.
pub fn admit_other(cluster: Cluster<'_>, kind: &str, mut object: Value) -> Vec<Cause> {
    let kind = &*entry_of(kind);
    let causes = structure(cluster.release, &mut object);
    // CDI completes such a claim before it is validated.
    let is_completed = object["metadata"]["labels"]["cdi.kubevirt.io/applyStorageProfile"] == "true";
    if !causes.is_empty() || is_completed {
        return causes;
    }
    // The API server's own kinds have fields outside `spec`.
    let (stage, base, value) = match text(&object["apiVersion"]) {
        "v1" => (Stage::Schema, "", &object),
        _ => (Stage::Validating, "spec", &object["spec"]),
    };
    let mut checker = Checker::new(cluster, value, base, stage);
    checker.rows(kind);
    checker.causes()
}
