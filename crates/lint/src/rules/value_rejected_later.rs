//! A value that HCO or CDI passes on and its reader rejects: rows of `values::table`.

use super::prelude::*;
use crate::values;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    values::report(cx, out, true);
}
