//! An import from an ImageStream in a cluster without ImageStreams.

use hcoplan_planner::release::Platform;
use hcoplan_yaml::Node;

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    if cx.inventory().platform == Platform::OpenShift {
        return;
    }
    for (kind, document, path) in cx.declared_volumes() {
        let path = path.below("source.registry.imageStream");
        if document.root.at(&path).and_then(Node::as_str).is_none() {
            continue;
        }
        let name = text_at(document, "metadata.name").unwrap_or_default();
        let message = format!("the {kind} {name} imports from an ImageStream, which only OpenShift has");
        let finding = Finding::new(&IMAGE_STREAM_WITHOUT_OPENSHIFT, message)
            .at(document.locate(&path))
            .object(object_of(document))
            .label("this cluster runs on plain Kubernetes")
            .help("write url: docker://registry/image:tag");
        out.report(finding);
    }
}
