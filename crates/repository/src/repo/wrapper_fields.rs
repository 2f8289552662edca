//! The fields of controllers' objects that don't change a HyperConverged, `schemas/controller-fields.json`. Any other
//! one may change it. An Application's `sources` say what is applied; what their `helm` has is read when charts are
//! rendered, or concerns values, which an unrendered chart ignores.
//!
//! Sources: the CRDs of Argo CD 3.2, Flux 2.7, Advanced Cluster Management 2.14 and Fleet 0.13; the generator plugin of
//! Open Cluster Management. Labels change nothing: HCO derives the operands' labels only from the HyperConverged's
//! name.

use crate::prelude::*;
use std::sync::LazyLock;

/// The fields by kind, or by kind and field.
static FIELDS: LazyLock<BTreeMap<&str, Vec<&str>>> =
    LazyLock::new(|| serde_json::from_str(hcoplan_schemas::CONTROLLER_FIELDS).expect("valid lists"));

/// Those of a kind, or of a kind's field.
pub(super) fn of(kind: &str) -> &'static [&'static str] {
    &FIELDS[kind]
}

/// The fields of Flux's Kustomizations that are fields of kustomizations.
pub(super) const FLUX: [&str; 7] =
    ["targetNamespace", "namePrefix", "nameSuffix", "patches", "patchesJson6902", "images", "components"];

/// The fields of an Application's `kustomize` that are fields of kustomizations.
pub(super) const ARGO: [&str; 7] =
    ["namespace", "namePrefix", "nameSuffix", "commonAnnotations", "patches", "components", "replicas"];
