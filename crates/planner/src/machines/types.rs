//! Checks objects other than machines: types, policies, migrations, snapshots, restores, exports, clones and claims.
//!
//! Source: `pkg/instancetype/webhooks`, `pkg/instancetype/preference/webhooks`, `migrationpolicy-admitter.go`,
//! `migration-create-admitter.go`, `vmclone-admitter.go`, `pkg/storage/admitters`; Kubernetes
//! `ValidatePersistentVolumeClaimSpec`.

use super::Cluster;
use super::checker::{Checker, structure};
use super::structure::entry_of;
use crate::cause::{Cause, Stage};
use crate::prelude::*;

/// Why KubeVirt, or the API server a claim, rejects such an object: by its structure, else by its values. Empty if it is
/// accepted.
pub fn admit_other(cluster: Cluster<'_>, kind: &str, object: &Value) -> Vec<Cause> {
    let kind = &*entry_of(kind);
    let mut object = object.clone();
    let causes = structure(kind, &cluster.release.kubevirt().version, &mut object);
    // CDI completes such a claim before it is validated.
    let is_completed = object["metadata"]["labels"]["cdi.kubevirt.io/applyStorageProfile"] == "true";
    if !causes.is_empty() || is_completed {
        return causes;
    }
    let stage = if kind == "PersistentVolumeClaim" { Stage::Schema } else { Stage::Validating };
    let mut checker = Checker::new(cluster, &object["spec"], "spec", stage);
    checker.rows(kind);
    checker.causes()
}
