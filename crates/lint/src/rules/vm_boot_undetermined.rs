//! A virtual machine boots from a disk whose architecture is undetermined.

use hcoplan_planner::boot::BootOutcome;

use super::prelude::*;
use crate::SourceKind;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    // `import-architecture-undetermined` reports the machine's own disks.
    let others = cx.boots().into_iter().filter(|boot| boot.source.kind != SourceKind::Registry);
    for boot in others {
        let mut cells = boot.answer.by_architecture.values().filter(|cell| cell.outcome == BootOutcome::Undetermined);
        let Some(BootCause::Importer(names)) = cells.next().and_then(|cell| cell.cause.as_ref()) else {
            continue;
        };
        let names: Vec<&String> = names.iter().collect();
        let source = &boot.source;
        let guests = boot.guest.possible.names();
        let message = format!(
            "{} is {} ({}), but {} {} is {}, depending on the node that imports it",
            boot.vm,
            or(&guests),
            boot.guest.reason(),
            source.kind.as_str(),
            source.name,
            or(&names)
        );
        out.report(
            boot.vm.finding(cx, message).at(boot.place()).label(format!("its disk may be {}", or(&names))).help(
                "set the architecture of the import (`platform.architecture`), or switch multi-arch golden images on",
            ),
        );
    }
}
