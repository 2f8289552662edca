//! Golden images without a storage class in a cluster without a default one.

use super::prelude::*;
use crate::context::VIRT_DEFAULT as VIRT;

pub(super) fn find(cx: &Context<'_>) -> Option<Finding> {
    if cx.has_classes_from_elsewhere() || cx.default_class().is_some() {
        return None;
    }
    let classes: Vec<_> = cx.storage_classes().collect();
    let (first, others) = classes.split_first()?;
    let open = cx.import_crons().filter(|cron| {
        let spec = &cron.object.body["spec"]["template"]["spec"];
        ["storage", "pvc"].iter().all(|k| spec[k]["storageClassName"].is_null())
    });
    let crons = open.map(|c| format!("the golden image {}", c.object.id.name));
    // Golden images are counted as rendered by SSP.
    let disks = cx.disk_specs().into_iter().filter(|disk| !std::ptr::eq(disk.document, cx.document()));
    let open = disks.filter(|disk| {
        ["storage", "pvc"]
            .iter()
            .all(|kind| disk.spec.get(kind).is_none_or(|claim| claim.get("storageClassName").is_none()))
    });
    let names: Vec<String> = crons.chain(open.map(|disk| disk.who)).collect();
    let what = match &names[..] {
        [] => return None,
        [only] => format!("{only} names"),
        [first, others @ ..] => format!("{first} and {} more name", others.len()),
    };
    let message = format!("no storage class is the default, and {what} none");
    let mut finding =
        cx.finding_about(first, message).label("not a default").help(format!("annotate one with {VIRT}: \"true\""));
    finding = with_related(finding, others.iter().map(|other| name_place(other)), "not a default, either");
    for class in &classes {
        let name = name_of(class);
        let path = Path::annotation(VIRT);
        let set = [Change::Set(path, "true".into())];
        finding = finding.fixes(suggested(class, format!("{} of {name}", changed(&set)), &set));
    }
    Some(finding)
}
