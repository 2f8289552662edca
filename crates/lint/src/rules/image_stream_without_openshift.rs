//! An import from an ImageStream that the cluster doesn't have.

use super::prelude::*;

pub(super) fn find(cx: &Context<'_>, disk: &DiskSpec<'_>) -> Option<Finding> {
    let DiskSpec { who, spec, document, namespace } = disk;
    let node = spec.below("source.registry.imageStream")?;
    let stream = node.as_str()?;
    let finding = |why: &str| {
        let message = format!("{who} imports from an ImageStream, which {why}");
        cx.finding_about(document, message).at(document.location(node.span))
    };
    if cx.is_openshift() {
        return undeclared(cx, namespace, stream, finding);
    }
    let finding = finding("only OpenShift has").label("this cluster runs on plain Kubernetes");
    Some(finding.help("write url: docker://registry/image:tag"))
}

/// A finding about a misspelt stream or tag, or a stream that is declared in another namespace. Source: CDI
/// `pkg/controller/dataimportcron-controller.go`, `getImageStream`: the stream is in the cron's namespace;
/// `getImageStreamDigest`: it has to have the tag.
fn undeclared(cx: &Context<'_>, namespace: &str, stream: &str, finding: impl Fn(&str) -> Finding) -> Option<Finding> {
    let (name, tag) = stream.split_once(':').unwrap_or((stream, ""));
    if namespace.is_empty() {
        return None;
    }
    if let Some(declared) = cx.named("ImageStream", Some(namespace), name) {
        let tags: Vec<&str> = declared.root.list_at("spec.tags").iter().filter_map(|tag| tag.text_at("name")).collect();
        let is_there = tag.is_empty() || tags.is_empty() || tags.contains(&tag);
        let finding = (!is_there).then(|| finding(&format!("has no tag {tag}")).label("no such tag is declared"))?;
        let meant = nearest(tag, tags.iter().copied()).map(|meant| format!("{name}:{meant}"));
        let finding = did_you_mean(finding, "import from", meant.as_deref(), format!("name a tag: {}", or(&tags)));
        return Some(finding.related(name_place(declared), "its tags are declared here"));
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
    Some(with_related(finding, elsewhere.map(namespace_place), "one of this name is here"))
}
