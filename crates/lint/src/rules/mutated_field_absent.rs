//! Fields that HCO's webhook adds inside lists.

use super::prelude::*;
use crate::fix::differences;

pub(super) fn find(cx: &Context<'_>, template: &WrittenTemplate<'_>) -> Option<Finding> {
    let at = cx.field("dataImportCronTemplates").path()?.index(template.index);
    let stored = at.get(cx.admission().stored.as_ref()?)?;
    let (written, mut changes) = (template.node.to_json(), Vec::new());
    differences(&written, stored, &Path::root(), &mut changes);
    let added = changes.into_iter().filter_map(|change| match change {
        Change::Set(path, value) if path.get(&written).is_none_or(Json::is_null) => Some((path, value)),
        _ => None,
    });
    let added: Vec<(Path, Json)> = added.collect();
    if added.is_empty() {
        return None;
    }
    let shown = and(added.iter().map(|(path, value)| format!("{path}: {value}")));
    let message = format!("the golden image {} is stored with values that git lacks: {shown}", template.name());
    let finding = cx.finding(message).at(template.name_place()).label("differs from git as soon as it is stored");
    // Setting the policy decides about the disks, and suppresses the rule that reports it.
    let policy = added.iter().any(|(path, _)| path.to_string() == "spec.retentionPolicy");
    let (more, applicability) = if policy { (POLICY, Applicability::Suggestion) } else { ("", Applicability::Safe) };
    let (path, value) = (at.joined(&added[0].0), added[0].1.clone());
    let finding = finding.becomes(PredictedValue { kind: "HyperConverged", path, value, when: BecomesWhen::Now });
    let changes = added.into_iter().map(|(path, value)| Change::Set(at.joined(&path), value));
    let changes: Vec<Change> = changes.collect();
    let title = format!("{} in the manifest, too{more}", changed(&changes));
    Some(finding.remedy("write it into the manifest, too", cx.fix(title, applicability, &changes)))
}

/// What the stored policy does with the disks.
const POLICY: &str = "; with `retentionPolicy: None` the disks are deleted when the image is removed, `All` keeps them";
