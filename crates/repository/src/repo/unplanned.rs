//! What isn't planned.

use hcoplan_rule_pages::rules::HCO_NOT_PLANNED;

use crate::prelude::*;

/// The finding that a HyperConverged, or what may make one, isn't planned.
pub(crate) fn unplanned(message: impl Into<String>, place: Location) -> Finding {
    Finding::new(&HCO_NOT_PLANNED, message).at(place).label("not planned")
}
