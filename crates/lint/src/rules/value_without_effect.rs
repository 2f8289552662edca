//! A value that HCO or CDI passes on and that matches nothing or is ignored by its reader: rows of `values::table`.

use super::prelude::*;
use crate::values;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    values::report(cx, out, |outcome| !outcome.is_rejection());
}
