//! An import from an ImageStream that the cluster doesn't have.

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for (kind, document, path) in cx.declared_volumes() {
        let path = path.below("source.registry.imageStream");
        let Some(stream) = document.root.str_at(&path) else {
            continue;
        };
        let name = name_of(document);
        let finding = |why: &str| {
            let message = format!("the {kind} {name} imports from an ImageStream, which {why}");
            cx.finding_about(document, message).at(document.locate(&path))
        };
        if cx.inventory().platform == Platform::OpenShift {
            out.report_all(undeclared(cx, namespace_of(document), stream, finding));
        } else {
            let finding = finding("only OpenShift has").label("this cluster runs on plain Kubernetes");
            out.report(finding.help("write url: docker://registry/image:tag"));
        }
    }
}

/// A finding about a misspelt stream, or one that is declared in another namespace. Source: CDI
/// `pkg/controller/dataimportcron-controller.go`, `getImageStream`: the stream is in the cron's namespace.
fn undeclared(cx: &Context<'_>, namespace: &str, stream: &str, finding: impl Fn(&str) -> Finding) -> Option<Finding> {
    let name = stream.split(':').next().unwrap_or(stream);
    if cx.named("ImageStream", Some(namespace), name).is_some() {
        return None;
    }
    let own = cx.of_kind("ImageStream").iter().filter(|stream| namespace_of(stream) == namespace);
    let elsewhere = cx.named("ImageStream", None, name);
    let meant = nearest(name, own.map(|stream| name_of(stream)));
    if elsewhere.is_none() && meant.is_none() {
        return None;
    }
    let finding =
        finding(&format!("{namespace} doesn't have")).label(format!("no ImageStream {name} is declared there"));
    let meant = meant.map(|meant| stream.replacen(name, meant, 1));
    let finding = did_you_mean(finding, "import from", meant.as_deref(), format!("declare it in {namespace}"));
    Some(with_related(finding, elsewhere.map(|stream| namespace_place(stream)), "one of this name is here"))
}
