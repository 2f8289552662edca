//! The release decides what happens to a golden image's disks when the image is removed.

use hcoplan_planner::release::Mutation;

use super::prelude::*;

/// CDI's defaults.
const KEEP: [(&str, &str); 2] = [("retentionPolicy", "All"), ("importsToKeep", "3")];

pub(super) fn find(cx: &Context<'_>, template: &WrittenTemplate<'_>) -> Option<Finding> {
    let fills = |release: &Release| {
        let rules = release.admission().version(cx.version());
        rules.is_some_and(|r| r.mutate.update.contains(&Mutation::RetentionPolicy))
    };
    let filled = fills(cx.release());
    let next = cx.next_release().filter(|next| !filled && fills(next));
    // Images that are never imported have no disks; other rules report them.
    let is_never_imported = !cx.is_openshift() || cx.common_images_off() && cx.common_image(template.name()).is_some();
    if !filled && next.is_none() || is_never_imported || !template.is_enabled() {
        return None;
    }
    let since = next.as_deref().map_or(cx.release().label(), Release::label);
    let spec = template.get("spec").filter(|s| !s.entries().is_empty())?;
    let is_set = |key: &str| spec.get(key).is_some_and(|n| !n.to_json().is_null());
    let missing: Vec<(&str, &str)> = KEEP.into_iter().filter(|(key, _)| !is_set(key)).collect();
    let names: Vec<&str> = missing.iter().map(|(key, _)| *key).collect();
    let policy = names.contains(&"retentionPolicy");
    if names.is_empty() {
        return None;
    }
    let effect = match (filled, policy) {
        (true, true) => "removing it deletes its disks".to_owned(),
        (true, false) => "CDI keeps one import".to_owned(),
        (false, true) => format!("from {since} on, removing it deletes its disks"),
        (false, false) => format!("CDI keeps three imports, from {since} on one"),
    };
    let message = format!("{template} lacks {}: {effect}", and(&names));
    let finding = cx.finding(message).at(template.locate_key("spec")).label("the default applies");
    let mut finding = finding.help(if policy {
        "set `retentionPolicy: All` to keep the disks, or `None` to delete them"
    } else {
        "set `importsToKeep` to the number of imports to keep"
    });
    // Disks are deleted only without an explicit policy.
    finding.is_silent = !policy;
    let at = template.path(cx).key("spec");
    let set = |(key, value): &(&str, &str)| {
        let value = value.parse::<u32>().map_or_else(|_| (*value).into(), Into::into);
        Change::Set(at.key(key), value)
    };
    let changes: Vec<Change> = missing.iter().map(set).collect();
    Some(if !filled {
        let noun = if changes.len() == 1 { "default" } else { "defaults" };
        finding.fixes(cx.fix(format!("{}, today's {noun}", changed(&changes)), Applicability::Safe, &changes))
    } else {
        let to = if policy { "keep the disks" } else { "keep three imports" };
        finding.info().fixes(cx.suggest_change(format!(" to {to}"), &changes))
    })
}
