//! A KubeDescheduler without a profile that supports virtual machines.

use super::prelude::*;

static KNOWN: Rows<&str> = Rows::of("deschedulerProfiles");

pub(super) fn find(cx: &Context<'_>, descheduler: &Descheduler<'_>) -> Option<Finding> {
    let message = match &descheduler.profiles()[..] {
        profiles if profiles.iter().any(|profile| KNOWN.contains(profile)) => return None,
        [] => "the KubeDescheduler has no profile that knows virtual machines, and evicts them like any pod".to_owned(),
        [one] => {
            format!("the KubeDescheduler's profile {one} doesn't know virtual machines, and evicts them like any pod")
        }
        all => format!(
            "none of the KubeDescheduler's profiles ({}) knows virtual machines: it evicts them like any pod",
            and(all)
        ),
    };
    let document = descheduler.document;
    let path = descheduler.spec.key("profiles");
    let mut finding = cx
        .finding_about(document, message)
        .at(document.locate(&path))
        .label("evicts virtual machines like any pod")
        .help("use the profile KubeVirtRelieveAndMigrate");
    if !descheduler.is_watched {
        finding = finding.info();
    }
    let added = [Change::Append(path, "KubeVirtRelieveAndMigrate".into())];
    Some(finding.fixes(unsafe_fix(document, "add the profile KubeVirtRelieveAndMigrate", &added)))
}
