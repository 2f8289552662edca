//! A number or boolean as value of a label, annotation or selector.

use super::prelude::*;
use super::scalar_type_mismatch::rejection_by;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    if let Some(finding) = rejection_by(cx, |m| m.in_map) {
        out.reject(finding);
    }
}
