//! Patches inside a patch, which change Deployments and DaemonSets of an operand.

use super::prelude::*;

const COMPONENTS: &str = "/spec/customizeComponents";

/// The operands with such patches, and the resources that their operators patch.
static PATCHED: Rows<(&str, Vec<&str>)> = Rows::of("customizableComponents");

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    // Operations whose values a later one replaces, by operand.
    let may_replace = |path: &str| path.starts_with(COMPONENTS) || COMPONENTS.starts_with(path);
    let replaced = cx.applied().filter(|later| may_replace(&later.operation.path)).filter_map(|later| {
        let earlier = later.conflict()?;
        let is_inside = later.patch.operations()[earlier].path.starts_with(&later.operation.path);
        is_inside.then(|| (later.kind(), earlier))
    });
    let replaced: BTreeSet<(&str, usize)> = replaced.collect();
    for applied in cx.applied() {
        let Some((_, kinds)) = PATCHED.iter().find(|(kind, _)| *kind == applied.kind()) else {
            continue;
        };
        if applied.changed_below(COMPONENTS).is_none() || replaced.contains(&(applied.kind(), applied.index)) {
            continue;
        }
        let inner = inner_patches(applied.operation);
        let broken: Vec<Finding> =
            inner.iter().filter_map(|(pointer, patch)| broken(cx, &applied, kinds, pointer, patch)).collect();
        if broken.is_empty() {
            out.report(general(cx, &applied, &inner));
        }
        out.report_all(broken);
    }
}

/// The finding for any inner patch.
fn general(cx: &Context<'_>, applied: &Applied<'_, '_>, inner: &[(String, Json)]) -> Finding {
    let kind = applied.kind();
    let counted = inner.iter().find_map(|(pointer, patch)| {
        let text = patch.get("patch")?.as_str()?;
        let operations = jsonpatch::decode(text).ok()?;
        let path = operations.into_iter().find(|o| o.segments().iter().any(|s| s.parse::<usize>().is_ok()))?.path;
        Some((format!("{pointer}/patch"), path))
    });
    let message = format!("the patch edits what {kind}'s operator deploys");
    let finding = cx.finding(message).at(applied.path_place()).label("a patch inside the patch").help(
        "use a field of the HyperConverged where there is one; else write a strategic patch, and \
         try it with each release before the upgrade",
    );
    let Some((pointer, path)) = counted else { return finding };
    finding.related(applied.written_location(&pointer), format!("{path} is an index, which changes between releases"))
}

/// The inner patches written by an operation, each with its path in the operand.
fn inner_patches(operation: &Operation) -> Vec<(String, Json)> {
    let Some(value) = operation.value() else {
        return Vec::new();
    };
    let path = operation.path.as_str();
    let each = |list: Option<&Json>, at: String| {
        let items = elements(list).enumerate();
        items.map(|(i, v)| (format!("{at}/{i}"), v.clone())).collect()
    };
    match path.strip_prefix(COMPONENTS).map(|rest| rest.split('/').skip(1).collect::<Vec<_>>()) {
        Some(rest) => match rest[..] {
            [] => each(value.get("patches"), format!("{path}/patches")),
            ["patches"] => each(Some(&value), path.to_owned()),
            ["patches", _] => vec![(path.to_owned(), value)],
            _ => Vec::new(),
        },
        None => Vec::new(),
    }
}

/// Why an inner patch fails.
fn broken(cx: &Context<'_>, applied: &Applied<'_, '_>, kinds: &[&str], pointer: &str, patch: &Json) -> Option<Finding> {
    let text = |key: &str| patch.get(key).and_then(Json::as_str);
    let kind = applied.kind();
    let error = |key: &str, message: String, label: &'static str| {
        cx.finding(message).error().silent().at(applied.written_location(&format!("{pointer}/{key}"))).label(label)
    };
    let inner = text("patch")?;
    let Ok(decoded) = serde_json::from_str::<Json>(inner) else {
        let message = match kind {
            "KubeVirt" => format!("KubeVirt's webhook will reject the KubeVirt: patch {inner:?} is not valid JSON"),
            _ => format!("{kind}'s operator can't apply the inner patch: it is not valid JSON"),
        };
        return Some(error("patch", message, "no JSON").help("write JSON, its quotes escaped"));
    };
    let of_type = text("type").unwrap_or_default();
    const ENDS: &str = "its reconcile will end here";
    let fault = match of_type {
        "merge" | "strategic" => None,
        "json" if !decoded.is_array() => {
            let why = "type json is a list of operations".to_owned();
            Some(("patch", why, "no list", "write a list of operations, or type merge or strategic"))
        }
        "json" if jsonpatch::decode(inner).is_err() => {
            Some(("patch", "an operation is malformed".to_owned(), ENDS, "write op, path and value of each operation"))
        }
        "json" => None,
        other => Some(("type", format!("it knows no type {other:?}"), ENDS, "write json, merge or strategic")),
    };
    if let Some((key, why, label, help)) = fault {
        let message = format!("{kind}'s operator can't apply the inner patch: {why}");
        return Some(error(key, message, label).help(help));
    }
    let resource = text("resourceType")?;
    if !kinds.iter().any(|k| k.eq_ignore_ascii_case(resource)) {
        let message = format!("{kind}'s operator deploys no {resource} that it would patch");
        let help = match nearest(resource, kinds.iter().copied()) {
            Some(meant) => format!("did you mean {meant}?"),
            None => format!("write one of {}", or(&kinds[1..])),
        };
        return Some(error("resourceType", message, "patches nothing").help(help));
    }
    None
}
