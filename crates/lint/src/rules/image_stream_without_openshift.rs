//! An import from an ImageStream in a cluster without ImageStreams.

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
        let name = name_of(document);
        let message = format!("the {kind} {name} imports from an ImageStream, which only OpenShift has");
        out.report(
            finding_about(&IMAGE_STREAM_WITHOUT_OPENSHIFT, document, message)
                .at(document.locate(&path))
                .label("this cluster runs on plain Kubernetes")
                .help("write url: docker://registry/image:tag"),
        );
    }
}
