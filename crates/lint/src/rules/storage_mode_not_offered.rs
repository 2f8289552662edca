//! Disks with an access mode that their storage class doesn't offer.
//!
//! Source: CDI `pkg/controller/datavolume/util.go` (`renderPvcSpec`): a written access mode is requested unchanged;
//! StorageProfiles (`spec.claimPropertySets`) declare what a class offers, else CDI's table of provisioners does.

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    // One finding for each class and mode: locations and requesters.
    type ModeRequests = (Vec<Location>, Vec<String>);
    let mut found: BTreeMap<(&str, &str, &str), ModeRequests> = BTreeMap::new();
    let mut offers = BTreeMap::new();
    for DiskSpec { who, spec, document, .. } in cx.disk_specs() {
        let Some(kind) = ["storage", "pvc"].into_iter().find(|kind| spec.get(kind).is_some()) else {
            continue;
        };
        let claim = spec.get(kind);
        let class = claim.and_then(|c| c.text_at("storageClassName"));
        let Some(class) = class.or_else(|| cx.default_class()) else {
            continue;
        };
        let volume = claim.and_then(|c| c.get("volumeMode"));
        let volume_mode = volume.and_then(Node::as_str).unwrap_or_default();
        let offered = offers.entry((class, volume_mode)).or_insert_with(|| cx.offered_modes(class, volume_mode));
        let Some(offered) = offered else {
            continue;
        };
        let modes = items(claim.and_then(|c| c.get("accessModes"))).iter();
        let asked = |mode: &&Node| mode.as_str().is_some_and(|m| !offered.modes.iter().any(|o| o == m));
        // One offered mode is enough for a class that grants what it can.
        let first = if modes.len() > 0 && modes.clone().all(|mode| asked(&mode)) {
            modes.clone().next()
        } else {
            volume.filter(|_| modes.len() == 0 && kind == "storage" && offered.modes.is_empty())
        };
        if let Some(first) = first {
            let key = (class, volume_mode, first.as_str().unwrap_or_default());
            let (places, all) = found.entry(key).or_default();
            places.push(document.location(first.span));
            all.push(who);
        }
    }
    for ((class, volume_mode, mode), (places, who)) in found {
        let offered = offers.get(&(class, volume_mode)).and_then(Option::as_ref);
        let Some((offered, (first, others))) = offered.zip(places.split_first()) else {
            continue;
        };
        let ask = if who.len() == 1 { "asks" } else { "ask" };
        let has = if offered.modes.is_empty() { "nothing".to_owned() } else { and(&offered.modes) };
        let of_mode = if volume_mode.is_empty() { String::new() } else { format!(" for {volume_mode}") };
        let message = format!(
            "{} {ask} for {mode}, which the storage class {class} doesn't offer: it has {has}{of_mode}",
            and(&who)
        );
        let mut finding = cx
            .finding(message)
            .at(first.clone())
            .label("claims of it stay pending")
            .help("use an access mode of the class, or another class");
        finding = with_related(finding, others.iter().cloned(), "here, too");
        finding = with_related(finding, offered.place.clone(), "this says what it offers");
        out.report(finding);
    }
}
