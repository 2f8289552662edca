//! Fields that HCO's webhook adds inside lists.

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let list = cx.field("dataImportCronTemplates").path();
    let (Some(list), Some(stored)) = (list, cx.admission().stored.as_ref()) else {
        return;
    };
    for template in cx.written_templates() {
        let Some(stored) = list.index(template.index).get(stored) else {
            continue;
        };
        let mut added = Vec::new();
        additions(&template.node.to_json(), stored, &Path::root(), &mut added);
        if added.is_empty() {
            continue;
        }
        let shown: Vec<String> = added.iter().map(|(p, v)| format!("{p}: {v}")).collect();
        let message =
            format!("the golden image {} is stored with values that git lacks: {}", template.name(), and(&shown));
        let finding = cx.finding(message).at(template.name_place()).label("differs from git as soon as it is stored");
        // Setting the policy decides about the disks, and suppresses the rule that reports it.
        let policy = added.iter().any(|(path, _)| path.to_string() == "spec.retentionPolicy");
        let (help, applicability) = if policy {
            (
                "write it into the manifest, too; with `retentionPolicy: None` the disks are deleted when \
             the image is removed, `All` keeps them",
                Applicability::Suggestion,
            )
        } else {
            ("write it into the manifest, too", Applicability::Safe)
        };
        let at = list.index(template.index);
        let (path, value) = (at.joined(&added[0].0), added[0].1.clone());
        let finding = finding.becomes(PredictedValue { kind: "HyperConverged", path, value, when: BecomesWhen::Now });
        let changes = added.into_iter().map(|(path, value)| Change::Set(at.joined(&path), value));
        let changes: Vec<Change> = changes.collect();
        out.report(finding.remedy(help, cx.fix(format!("{}: {help}", changed(&changes)), applicability, &changes)));
    }
}

/// The highest paths in `stored` that `written` doesn't have.
fn additions(written: &Json, stored: &Json, at: &Path, added: &mut Vec<(Path, Json)>) {
    match (written, stored) {
        (Json::Object(written), Json::Object(stored)) => {
            for (key, value) in stored {
                match written.get(key) {
                    Some(old) => additions(old, value, &at.key(key), added),
                    None => added.push((at.key(key), value.clone())),
                }
            }
        }
        (Json::Array(written), Json::Array(stored)) => {
            for (i, (old, new)) in written.iter().zip(stored).enumerate() {
                additions(old, new, &at.index(i), added);
            }
        }
        (Json::Null, new) if !new.is_null() => added.push((at.clone(), new.clone())),
        _ => {}
    }
}
