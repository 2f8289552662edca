//! A KubeDescheduler without a profile that supports virtual machines.

use hcoplan_yaml::edit::edits;

use super::prelude::*;
use crate::Descheduler;

const KNOWN: [&str; 3] = ["DevKubeVirtRelieveAndMigrate", "KubeVirtRelieveAndMigrate", "LongLifecycle"];

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for descheduler in cx.deschedulers() {
        let profiles = descheduler.profiles();
        if !profiles.iter().any(|p| KNOWN.contains(p)) {
            out.report(misconfigured(&descheduler, &profiles));
        }
    }
}

fn misconfigured(descheduler: &Descheduler<'_>, profiles: &[&str]) -> Finding {
    let message = match profiles {
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
    let mut finding = Finding::new(&DESCHEDULER_MISCONFIGURED, message)
        .at(document.locate(&path))
        .object(ObjectId::of(&document.root.to_json()).to_string())
        .label("evicts virtual machines like any pod")
        .help("use the profile KubeVirtRelieveAndMigrate");
    if !descheduler.is_watched {
        finding = finding.info();
    }
    let added = [Change::Append(path, "KubeVirtRelieveAndMigrate".into())];
    match edits(document, &added) {
        Ok(edits) => finding.fix(Fix {
            title: "add the profile KubeVirtRelieveAndMigrate".to_owned(),
            applicability: Applicability::Unsafe,
            edits,
        }),
        Err(_) => finding,
    }
}
