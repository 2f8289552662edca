//! Keys of a node placement one level off.

use hcoplan_yaml::{Path, Segment};

use super::prelude::*;

pub(super) static RULE: Rule = Rule::error(
    "placement-wrong-level",
    Group::Placement,
    "a part of a node placement is at the wrong level, where HCO ignores it",
)
.silent("the API server drops the placement, and pods run anywhere")
.needs(Needs::Document)
.claims(Claim::NoEffect)
.fix(FixKind::Unsafe);

const PARTS: [&str; 3] = ["affinity", "nodeSelector", "tolerations"];

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for field in &cx.admission().pruned {
        let path = &field.path;
        let Some(belongs) = correct_paths(cx.version(), path) else {
            continue;
        };
        let message = format!("nothing reads {path}: it is one level off");
        let mut finding =
            Finding::new(&RULE, message).at(cx.document().locate_key(path)).label("dropped by the API server");
        finding = match &belongs[..] {
            [to] => {
                let fix = moved(cx, path, to, Applicability::Unsafe);
                finding.remedy(format!("it belongs at {to}"), fix)
            }
            _ => {
                let all: Vec<String> = belongs.iter().map(Path::to_string).collect();
                let fixes = belongs.iter().filter_map(|to| moved(cx, path, to, Applicability::Suggestion));
                finding.remedy(format!("it belongs at {}", all.join(" or ")), fixes)
            }
        };
        out.report(finding);
    }
}

/// Where a part of a placement belongs; `None` for anything else.
pub(super) fn correct_paths(version: &str, path: &Path) -> Option<Vec<Path>> {
    let steps: Option<Vec<&str>> = path
        .0
        .iter()
        .map(|step| match step {
            Segment::Key(key) => Some(key.as_str()),
            Segment::Index(_) => None,
        })
        .collect();
    let steps = steps?;
    let is_part = |key: &str| PARTS.contains(&key);
    let (infra, workload) = match version {
        "v1" => ("spec.deployment.nodePlacements.infra", "spec.deployment.nodePlacements.workload"),
        _ => ("spec.infra.nodePlacement", "spec.workloads.nodePlacement"),
    };
    let either = |key: Option<&str>| {
        let place = |p: &str| key.map_or(Path::dotted(p), |key| Path::dotted(p).key(key));
        Some(vec![place(infra), place(workload)])
    };
    match (version, &steps[..]) {
        ("v1", ["spec", "deployment", "nodePlacements", key]) if is_part(key) => either(Some(key)),
        ("v1", ["spec", "deployment", "nodePlacement"]) => either(None),
        ("v1", ["spec", "nodePlacements"]) => Some(vec![Path::dotted("spec.deployment.nodePlacements")]),
        ("v1", ["spec", "deployment" | "nodePlacements", "infra"]) => Some(vec![Path::dotted(infra)]),
        ("v1", ["spec", "deployment" | "nodePlacements", "workload" | "workloads"]) => {
            Some(vec![Path::dotted(workload)])
        }
        ("v1beta1", ["spec", "infra", key]) if is_part(key) => Some(vec![Path::dotted(infra).key(key)]),
        ("v1beta1", ["spec", "workloads", key]) if is_part(key) => Some(vec![Path::dotted(workload).key(key)]),
        (_, ["spec", "nodePlacement"]) => either(None),
        (_, ["spec", key]) if is_part(key) => either(Some(key)),
        _ => None,
    }
}

/// Moves the value with its comments, where nothing is in its new place.
fn moved(cx: &Context<'_>, from: &Path, to: &Path, applicability: Applicability) -> Option<Fix> {
    let document = cx.document();
    let value = document.root.at(from)?;
    if document.root.at(to).is_some() {
        return None;
    }
    // A placement may be wrapped once more.
    let wrapped = from.key("nodePlacement");
    let is_part = matches!(to.0.last(), Some(Segment::Key(last)) if PARTS.contains(&last.as_str()));
    let inner = if !is_part && value.get("nodePlacement").is_some() { wrapped } else { from.clone() };
    cx.shape()?.relocation(
        format!("move it to {to}"),
        applicability,
        &[(inner, to.clone())],
        std::slice::from_ref(from),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_misplaced_parts_belong_elsewhere() {
        let to = |version: &str, path: &str| {
            let found = correct_paths(version, &Path::dotted(path))?;
            Some(found.iter().map(Path::to_string).collect::<Vec<_>>().join(" "))
        };
        assert_eq!(
            to("v1beta1", "spec.workloads.nodeSelector").as_deref(),
            Some("spec.workloads.nodePlacement.nodeSelector")
        );
        assert_eq!(to("v1", "spec.deployment.workloads").as_deref(), Some("spec.deployment.nodePlacements.workload"));
        assert_eq!(
            to("v1beta1", "spec.nodePlacement").as_deref(),
            Some("spec.infra.nodePlacement spec.workloads.nodePlacement")
        );
        assert_eq!(to("v1beta1", "spec.workloads.nodeselector"), None);
        assert_eq!(to("v1", "spec.workloads"), None);
    }
}
