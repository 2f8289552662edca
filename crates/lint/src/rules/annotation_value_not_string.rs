//! A number or boolean as value of a label, annotation or selector.

use super::prelude::*;
use super::scalar_type_mismatch::rejection_by;

pub(super) static RULE: Rule = Rule::error(
    "annotation-value-not-string",
    Group::Hygiene,
    "a label, an annotation or a selector has a value that isn't a string to YAML",
)
.rejected("json: cannot unmarshal bool into Go struct field ObjectMeta.annotations of type string")
.needs(Needs::Document)
.fix(FixKind::Safe);

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    if let Some(finding) = rejection_by(&RULE, cx, |m| m.in_map) {
        out.explain(Incident::Rejection, finding);
    }
}
