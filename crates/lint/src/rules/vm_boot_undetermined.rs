//! A virtual machine boots from a disk whose architecture is undetermined.

use super::prelude::*;
use crate::Boot;
use crate::SourceKind;

pub(super) fn find(cx: &Context<'_>, boot: &Boot<'_>) -> Option<Finding> {
    let source = &boot.source;
    let mut cells = boot.answer.by_architecture.values();
    let undetermined = cells.find(|cell| cell.outcome == BootOutcome::Undetermined)?;
    // `import-architecture-undetermined` reports the machine's own disks.
    let Some(BootCause::Importer(names)) = undetermined.cause.as_ref().filter(|_| source.kind != SourceKind::Registry)
    else {
        return None;
    };

    let guests = boot.guest.possible.names();
    let message = format!(
        "{} is {} ({}), but {} {} is {}, depending on the node that imports it",
        boot.vm,
        or(&guests),
        boot.guest.reason(),
        source.kind.as_str(),
        source.name,
        or(names)
    );
    Some(
        boot.vm.finding(cx, message).at(boot.place()).label(format!("its disk may be {}", or(names))).help(
            "set `platform.architecture` of the import, or declare its architectures for multi-arch golden images",
        ),
    )
}
