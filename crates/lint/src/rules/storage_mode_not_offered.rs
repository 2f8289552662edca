//! Disks with an access mode that their storage class doesn't offer.
//!
//! Source: CDI `pkg/controller/datavolume/util.go` (`renderPvcSpec`): a written access mode is requested unchanged;
//! StorageProfiles (`spec.claimPropertySets`) declare what a class offers, else CDI's table of provisioners does.

use super::prelude::*;
use crate::context::DiskSpec;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    // One finding for each class and mode: locations and requesters.
    type ModeRequests = (Vec<Location>, Vec<String>);
    let mut found: BTreeMap<(String, String), ModeRequests> = BTreeMap::new();
    let mut offers = BTreeMap::new();
    for DiskSpec { who, spec, document } in cx.disk_specs() {
        let Some(kind) = ["storage", "pvc"].into_iter().find(|kind| spec.get(kind).is_some()) else {
            continue;
        };
        let class = spec.get(kind).and_then(|c| c.get("storageClassName")).and_then(Node::as_str);
        let Some(class) = class.or_else(|| cx.default_class()) else {
            continue;
        };
        let Some(offered) = offers.entry(class).or_insert_with(|| cx.offered_modes(class)) else {
            continue;
        };
        let modes = spec.get(kind).and_then(|c| c.get("accessModes"));
        let modes: Vec<_> = items(modes).iter().collect();
        let asked = |mode: &&&Node| mode.as_str().is_some_and(|m| !offered.modes.iter().any(|o| o == m));
        let lacking: Vec<_> = modes.iter().filter(asked).collect();
        // One offered mode is enough for a class that grants what it can.
        if let (Some(first), true) = (lacking.first(), lacking.len() == modes.len()) {
            let key = (class.to_owned(), first.as_str().unwrap_or_default().to_owned());
            let (places, all) = found.entry(key).or_default();
            places.push(document.location(first.span));
            all.push(who);
        }
    }
    for ((class, mode), (places, who)) in found {
        let offered = offers.get(&*class).and_then(Option::as_ref);
        let Some((offered, (first, others))) = offered.zip(places.split_first()) else {
            continue;
        };
        let ask = if who.len() == 1 { "asks" } else { "ask" };
        let message = format!(
            "{} {ask} for {mode}, which the storage class {class} doesn't offer: it has {}",
            and(&who),
            and(&offered.modes)
        );
        let mut finding = Finding::new(&STORAGE_MODE_NOT_OFFERED, message)
            .at(first.clone())
            .label("claims of it stay pending")
            .help("use an access mode of the class, or another class");
        finding = with_related(finding, others.iter().cloned(), "here, too");
        finding = with_related(finding, offered.place.clone(), "this says what it offers");
        out.report(finding);
    }
}
