//! The deprecated name of `mediatedDeviceTypes`.

use super::prelude::*;
use crate::fix::{NEW_DEVICES as NEW, OLD_DEVICES as OLD, mediated_device_lists};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let rejected = cx.rejected(|r| r == Reason::MediatedDevicesBothNames);
    if let Some(finding) = rejected {
        let at = cx.admission().causes.first().map(|c| c.path.parent());
        let mut finding =
            finding.label("the old name, with another list than the new one").help(format!("keep {NEW} only"));
        if let Some(at) = at {
            let (old, new) = (at.key(OLD), at.key(NEW));
            finding = finding.related(cx.document().locate_key(&new), "the new name");
            let keep_new = [Change::Remove(old.clone())];
            let keep_old = [Change::Remove(new), Change::Rename(old, NEW.to_owned())];
            let keep = [&keep_new[..], &keep_old].into_iter().filter_map(|changes| cx.suggest_change("", changes));
            finding.fixes.extend(keep);
        }
        out.reject(finding);
        return;
    }
    if !cx.admission().accepted {
        return;
    }
    let devices = cx.field("mediatedDevicesConfiguration");
    let (Some(node), Some(path)) = (devices.node(), devices.path()) else {
        return;
    };
    for (node, path) in mediated_device_lists(node, path) {
        deprecated(cx, node, &path, out);
    }
}

/// Warns about the old name at one path.
fn deprecated(cx: &Context<'_>, node: &Node, path: &Path, out: &mut Sink) {
    let (Some(entry), old) = (node.entry(OLD), path.key(OLD)) else {
        return;
    };
    // v1 doesn't have the old name; another rule reports it.
    if cx.admission().pruned.iter().any(|p| p.path == old) || entry.value.items().is_empty() {
        return;
    }
    let both = node.get(NEW).is_some_and(|new| !new.items().is_empty());
    let empty = node.get(NEW).filter(|_| !both).map(|_| Change::Remove(path.key(NEW)));
    let (label, title, last) = if both {
        ("the same list as under the new name", format!("remove {OLD}"), Change::Remove(old))
    } else {
        ("the webhook copies it to the new name", format!("rename it to {NEW}"), Change::Rename(old, NEW.to_owned()))
    };
    let changes: Vec<Change> = empty.into_iter().chain([last]).collect();
    let finding = cx
        .finding(format!("{OLD} is a deprecated name of {NEW}"))
        .at(cx.location(entry.key.span))
        .warning()
        .label(label);
    out.report(cx.with_fix(finding, title, Applicability::Safe, &changes));
}
