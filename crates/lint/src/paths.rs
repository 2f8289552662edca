//! Paths of the HyperConverged.

use crate::prelude::*;

/// The path of the feature gates.
pub(crate) fn gates_path() -> Path {
    Path::dotted("spec.featureGates")
}
