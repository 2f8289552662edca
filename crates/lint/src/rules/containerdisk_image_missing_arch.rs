//! A container disk that lacks the virtual machine's architecture.

use hcoplan_planner::boot::{ArchitectureBoot, PulledImage};

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for boot in cx.boots() {
        let (vm, guest) = (&boot.vm, &boot.guest);
        let fails = |cell: &ArchitectureBoot| matches!(cell.cause, Some(BootCause::Disk(_) | BootCause::Image(_)));
        let mut cells = boot.answer.by_architecture.iter().filter(|(_, cell)| fails(cell));
        let Some((own, _)) = cells.next() else {
            continue;
        };
        for PulledImage { path, image, .. } in boot.images.iter().filter(|image| image.architectures.lacks(own)) {
            let Some(evidence) = cx.image_evidence(image) else {
                continue;
            };
            let is = if boot.answer.by_architecture.len() == 1 { "is" } else { "may be" };
            let message = format!(
                "{vm} {is} {own} ({}), but {image} supports only {}",
                guest.reason(),
                and(&evidence.architectures)
            );
            let finding = vm
                .finding(cx, message)
                .severity(error_if(boot.answer.outcome == BootOutcome::DoesNotBoot))
                .at(vm.document.locate(path))
                .label(format!("lacks {own}"))
                .help(format!("build the image for {own}, or give the machine an architecture that the image supports"))
                .related(evidence.place(), EVIDENCE);
            out.report(finding);
        }
    }
}
