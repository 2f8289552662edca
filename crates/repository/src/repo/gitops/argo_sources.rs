//! The sources of Argo CD's Applications, and their repositories.

use super::is_expression;
use crate::prelude::*;

/// The sources of an Application's spec.
pub(crate) fn sources(spec: &Node) -> impl Iterator<Item = &Node> {
    let many = spec.list_at("sources");
    let hydrated = spec.below("sourceHydrator.drySource");
    let one = hydrated.or_else(|| spec.get("source")).filter(|_| many.is_empty());
    many.iter().chain(one)
}

/// Whether two addresses may be of one repository: a template may be any, and one repository has several addresses.
pub(crate) fn is_same_repository(one: &str, other: &str) -> bool {
    let last = |address: &str| hcoplan_diagnostics::source::last_part(address).map(str::to_ascii_lowercase);
    is_expression(one) || is_expression(other) || one == other || last(one) == last(other)
}
