//! A `test` in a patch, which makes the reconcile fail.

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for patch in cx.patch_annotations() {
        let failed = cx.patch_failure();
        let failed = failed.filter(|f| f.annotation == patch.target.name);
        for (index, operation) in patch.operations().iter().enumerate() {
            let fails = failed.filter(|f| f.failure.operation == Some(index));
            // A path outside of spec is rejected earlier.
            if operation.op != Op::Test || !operation.path.starts_with("/spec/") {
                continue;
            }
            let path = &operation.path;
            let kind = patch.target.kind;
            match fails {
                Some(failed) => {
                    let message = format!(
                        "the operation test fails, and with it the whole patch of {kind}: {}",
                        failed.failure.message
                    );
                    let finding = cx
                        .finding(message)
                        .error()
                        .at(cx.patch_place(patch.target.name, failed.failure))
                        .label(match failed.failure.kind {
                            FailureKind::TestFailed => "finds another value",
                            _ => "the path doesn't exist",
                        })
                        .remedy(
                            "remove the test: where it fails, the whole patch fails",
                            cx.without_operation(patch, index, Applicability::Suggestion),
                        );
                    explain_patch(cx, out, patch, finding);
                }
                None => out.report(
                    cx.finding(format!("the operation test makes HCO's reconcile fail when {path} of {kind} changes"))
                        .at(patch.path_place(operation))
                        .label("where it fails, the whole patch fails")
                        .help("remove the test, or suppress this with the reason why it should stop"),
                ),
            }
        }
    }
}
