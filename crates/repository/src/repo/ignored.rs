//! Fields that the repository's GitOps controllers ignore when they compare a HyperConverged.

use super::Repo;
use super::gitops::Controller;
use crate::prelude::*;

/// A path that a controller ignores when it compares.
#[derive(Debug)]
pub struct IgnoredField {
    /// The controller that ignores it.
    pub controller: Controller,
    /// As written: a JSON pointer or a jq expression.
    pub text: String,
    /// The JSON pointer, or that of the expression's part before the first selection; `None` if it has none.
    pub pointer: Option<String>,
    /// Its location.
    pub place: Location,
}

impl Repo {
    /// The paths of HyperConvergeds that Applications, ApplicationSets and Flux's Kustomizations ignore, in the order
    /// of the files.
    pub fn ignored_fields(&self) -> Vec<IgnoredField> {
        let mut out = Vec::new();
        for document in &self.gitops().documents {
            let root = &document.root;
            let mut add = |controller, node: &Node, is_pointer: bool| {
                let Some(text) = node.as_str() else {
                    return;
                };
                let pointer = if is_pointer { Some(text.to_owned()) } else { pointer_of(text) };
                out.push(IgnoredField {
                    controller,
                    text: text.to_owned(),
                    pointer,
                    place: document.location(node.span),
                });
            };
            let is_hyperconverged = |kind: Option<&str>| kind.is_none_or(|k| k == "*" || k == "HyperConverged");
            let argo = &[("jsonPointers", true), ("jqPathExpressions", false)][..];
            let lists = [
                (Controller::ArgoCd, "spec.ignoreDifferences", "kind", argo),
                (Controller::ArgoCd, "spec.template.spec.ignoreDifferences", "kind", argo),
                (Controller::Flux, "spec.ignore", "target.kind", &[("paths", true)][..]),
            ];
            for (controller, all, kind, forms) in lists {
                for entry in root.list_at(all).iter().filter(|entry| is_hyperconverged(entry.text_at(kind))) {
                    for (list, is_pointer) in forms {
                        entry.list_at(list).iter().for_each(|node| add(controller, node, *is_pointer));
                    }
                }
            }
        }
        out
    }
}

/// The JSON pointer of a jq expression, up to its first selection: `.spec.a["b"][] | …` is `/spec/a/b`.
fn pointer_of(expression: &str) -> Option<String> {
    static STEP: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r#"^(?:(?:\[|\.\[?)"([^"]*)"\]?|\.([A-Za-z0-9_]+))"#).expect("a valid pattern"));
    let (mut out, mut rest) = (String::new(), expression.trim());
    while let Some(found) = STEP.captures(rest) {
        pointer::push(&mut out, found.get(1).or(found.get(2))?.as_str());
        rest = &rest[found[0].len()..];
    }
    (!out.is_empty()).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::pointer_of;

    #[test]
    fn keys_of_an_expression_are_a_pointer() {
        for (expression, pointer) in [
            (".spec.tlsSecurityProfile", Some("/spec/tlsSecurityProfile")),
            (".spec.list[] | select(.name == \"a\") | .b", Some("/spec/list")),
            (".metadata.annotations[\"a.b/c\"]", Some("/metadata/annotations/a.b~1c")),
            (".metadata.\"x-y\".z", Some("/metadata/x-y/z")),
            ("..", None),
            ("", None),
        ] {
            assert_eq!(pointer_of(expression).as_deref(), pointer, "{expression}");
        }
    }
}
