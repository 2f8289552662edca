//! A virtual machine boots from a disk of another architecture.

use super::prelude::*;
use crate::{Boot, SourceKind};

pub(super) fn find(cx: &Context<'_>, boot: &Boot<'_>) -> Option<Finding> {
    let Some(BootCause::Disk(disk)) =
        boot.answer.cause.as_ref().filter(|_| boot.source.kind != SourceKind::ContainerDisk)
    else {
        return None;
    };
    let (vm, guest) = (&boot.vm, &boot.guest);
    let guests = guest.possible.names();
    let name = &boot.source.name;
    let message = format!("{vm} is {} ({}), but boots from {name}, which is {}", or(&guests), guest.reason(), or(disk));
    let place = boot.place();
    let severity = error_if(boot.answer.outcome == BootOutcome::DoesNotBoot);
    let finding = vm.finding(cx, message).severity(severity).at(place.clone());
    let evidence = boot.source.url.as_deref().and_then(|url| cx.image_evidence(url)).map(|evidence| evidence.place());
    let mut finding = with_related(finding.label(format!("an image for {}", or(disk))), evidence, EVIDENCE);
    if vm.architecture().is_some() {
        finding = finding.related(vm.place("architecture"), format!("{} here", or(&guests)));
    }
    let ([image], [own]) = (&disk.iter().collect::<Vec<_>>()[..], &guests[..]) else {
        return Some(finding.help("clone an image of its architecture"));
    };
    let plain = name.strip_suffix(&format!("-{image}")).unwrap_or(name);
    let meant = format!("{plain}-{own}");
    let source = vm.boot_source();
    let is_there =
        source.is_some_and(|s| cx.followed_data_source(s.namespace, &meant).is_some_and(|k| k.image.has(own)));
    finding = if is_there {
        finding.help(format!("clone {meant}, or make the machine {image}")).fix(suggested_text(
            format!("clone {meant}"),
            place,
            meant,
        ))
    } else {
        finding.help(format!("make the machine {image}, or clone another image"))
    };
    let title = format!("make the machine {image}");
    Some(finding.fixes(suggested(vm.document, title, &[Change::Set(vm.path("architecture"), image.as_str().into())])))
}
