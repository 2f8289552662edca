//! What isn't planned.

use crate::prelude::*;

/// The finding that a HyperConverged, or what may make one, isn't planned.
pub(crate) fn unplanned(message: impl Into<String>, place: Location) -> Finding {
    Finding::new(&HCO_NOT_PLANNED, message).at(place).label("not planned")
}
