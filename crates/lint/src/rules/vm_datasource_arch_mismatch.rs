//! A virtual machine boots from a disk of another architecture.

use super::prelude::*;

pub(super) static RULE: Rule = Rule::error(
    "vm-datasource-arch-mismatch",
    Group::Heterogeneous,
    "a virtual machine's boot disk is cloned from an image of another architecture",
)
.silent("the machine starts, and its firmware finds nothing to boot")
.fix(FixKind::Suggested);

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for vm in cx.virtual_machines() {
        let guest = cx.guest_architecture(&vm);
        let (Some(own), Some(source)) = (guest.name.as_deref(), vm.boot_source()) else {
            continue;
        };
        let followed = cx.followed_data_source(source.namespace, source.name);
        let Some(image) = followed.and_then(|s| s.image).filter(|i| i != own) else {
            continue;
        };
        let place = vm.document.locate(&source.path.key("name"));
        let message = format!(
            "{} is {own} ({}), but boots from {}, which is {image}",
            vm.display_name(),
            guest.reason(),
            source.name
        );
        let mut finding = Finding::new(&RULE, message)
            .at(place.clone())
            .object(object_of(vm.document))
            .label(format!("an image for {image}"));
        if vm.architecture().is_some() {
            finding = finding.related(vm.place("architecture"), format!("{own} here"));
        }
        let plain = source.name.strip_suffix(&format!("-{image}")).unwrap_or(source.name);
        let meant = format!("{plain}-{own}");
        let there = cx.known_source(source.namespace, &meant).is_some();
        finding = if there {
            finding.help(format!("clone {meant}, or make the machine {image}")).fix(Fix::edit(
                format!("clone {meant}"),
                Applicability::Suggestion,
                place,
                meant,
            ))
        } else {
            finding.help(format!("make the machine {image}, or clone another image"))
        };
        let set = [Change::Set(vm.path("architecture"), image.as_str().into())];
        let title = format!("make the machine {image}");
        out.report(finding.fixes(suggested(vm.document, title, &set)));
    }
}
