//! The same object twice among manifests that are applied together.

use std::collections::HashMap;

use hcoplan_planner::admission::GROUP;

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let other_objects = cx.other_objects();
    let built = cx.built_files();
    let own = cx.document().file.path().parent();
    let mut seen: HashMap<Identity<'_>, &Arc<Document>> = HashMap::new();
    for kind in other_objects.kinds() {
        for document in other_objects.of_kind(kind) {
            let path = document.file.path();
            let Some(identity) = identity(document).filter(|_| built.has(&document.file)) else {
                continue;
            };
            // Without a kustomization, only documents of one file are certainly applied together.
            let is_whole = built.resources_next_to(path).is_some() || path.parent() == own;
            let directory = path.parent().filter(|_| is_whole).unwrap_or(path);
            let group = Identity { together: directory.as_str(), ..identity };
            let Some(first) = seen.get(&group) else {
                seen.insert(group, document);
                continue;
            };
            let message = format!("{kind} {} is declared twice", identity.name);
            let finding = cx.finding_about(document, message).label("a second time");
            out.report(finding.help("keep one of them").related(name_place(first), "the first time"));
        }
    }
}

/// The identity of an object among those applied together.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Identity<'d> {
    /// The directory or file that is applied as a whole.
    together: &'d str,
    group: &'d str,
    kind: &'d str,
    namespace: &'d str,
    name: &'d str,
}

/// Whether an API group concerns a cluster's virtual machines, disks or operator: a duplicate Namespace or
/// MachineConfig isn't HCO's matter.
fn is_judged(group: &str) -> bool {
    group == "kubevirt.io"
        || (group.ends_with(".kubevirt.io") && group != GROUP)
        || ["operators.coreos.com", "k8s.cni.cncf.io"].contains(&group)
}

/// `None` for documents without a name or of another API group, and for HyperConvergeds.
fn identity(document: &Document) -> Option<Identity<'_>> {
    let text = |path: &str| document.root.text_at(path);
    let group = text("apiVersion")?.split_once('/').map_or("", |(group, _)| group);
    let is_known = !["metadata.namespace", "metadata.name"].iter().any(|path| text(path).is_some_and(is_placeholder));
    (is_judged(group) && is_known).then_some(Identity {
        together: document.file.path().parent()?.as_str(),
        group,
        kind: text("kind")?,
        namespace: text("metadata.namespace").unwrap_or_default(),
        name: text("metadata.name")?,
    })
}
