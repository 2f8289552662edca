//! Keys of a node placement on the wrong level.

use super::prelude::*;

const PARTS: [&str; 3] = ["affinity", "nodeSelector", "tolerations"];

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for field in &cx.admission().pruned {
        let path = &field.path;
        let Some(belongs) = correct_paths(cx.version(), path) else {
            continue;
        };
        let message = format!("nothing reads {path}: it is one level off");
        let finding = cx.finding(message).at(cx.document().locate_key(path)).label("dropped by the API server");
        let Some(shape) = cx.shape() else {
            continue;
        };
        // A placement may be wrapped twice.
        let wrapped = path.key("nodePlacement");
        let is_wrapped = cx.root().at(&wrapped).is_some();
        let inner = |to: &Path| if is_wrapped && !is_part(to) { wrapped.clone() } else { path.clone() };
        let destinations = shape.destinations_at(belongs.into_iter().map(|to| (inner(&to), to)));
        let destinations = if destinations.is_empty() { shape.destinations(path) } else { destinations };
        out.report(shape.with_destinations(finding.clone(), path, &destinations).unwrap_or(finding));
    }
}

/// Where misplaced parts belong, by version and path; `*` is one of [`PARTS`].
static LEVELS: Rows<[&str; 3]> = Rows::of("placementLevels");

/// The correct paths of a part of a placement; `None` for other fields.
pub(super) fn correct_paths(version: &str, path: &Path) -> Option<Vec<Path>> {
    let part = last_key(path)?;
    let written = if is_part(path) { path.parent().key("*") } else { path.clone() }.to_string();
    let [.., to] = LEVELS.iter().find(|[of, from, _]| *of == version && *from == written)?;
    Some(to.split(' ').map(|to| Path::dotted(&to.replace('*', part))).collect())
}

fn is_part(place: &Path) -> bool {
    last_key(place).is_some_and(|last| PARTS.contains(&last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_misplaced_parts_belong_elsewhere() {
        let to = |version: &str, path: &str| {
            let found = correct_paths(version, &Path::dotted(path))?;
            Some(joined(found.iter().map(Path::to_string), " "))
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
