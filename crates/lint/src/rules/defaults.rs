//! Fields that repeat a present or former default of the release.

use hcoplan_planner::release::RewrittenValue;

use super::prelude::*;

pub(super) static RULES: &[RegisteredRule] = &[
    always(&PINNED_OLD_DEFAULT, |cx, out| {
        each(cx, out, pinned);
        out.report_all(former(cx));
    }),
    always(&REDUNDANT_DEFAULT, |cx, out| each(cx, out, redundant)),
];

/// A scalar of `spec` with the release's default.
struct Leaf<'a> {
    path: Path,
    node: &'a Node,
    value: Json,
    default: &'a Json,
}

fn each(cx: &Context<'_>, out: &mut Sink, find: fn(&Context<'_>, &Leaf<'_>) -> Vec<Finding>) {
    for leaf in leaves(cx) {
        out.report_all(find(cx, &leaf));
    }
}

fn leaves<'a>(cx: &Context<'a>) -> Vec<Leaf<'a>> {
    let (Some(schema), Some(spec)) = (cx.schema(), cx.root().get("spec")) else { return Vec::new() };
    let mut leaves = Vec::new();
    let start = Path::dotted("spec");
    spec.walk(&Trail::Start(&start), &mut |at, node| {
        let is_scalar = !matches!(node.value, Value::Map(_) | Value::Seq(_) | Value::Null);
        let path = (is_scalar && matches!(at, Trail::Key(..))).then(|| at.path());
        leaves.extend(path.and_then(|path| {
            let default = schema.default_at(&path)?;
            Some(Leaf { path, node, value: node.to_json(), default })
        }));
        true
    });
    leaves
}

impl Leaf<'_> {
    fn finding(&self, cx: &Context<'_>, message: String, becomes: (&Json, BecomesWhen), others: &[Self]) -> Finding {
        let (value, when) = (becomes.0.clone(), becomes.1);
        let (applicability, unless) = if cx.rule().pedantic {
            (Applicability::Unsafe, "you want to keep this value when the default changes")
        } else {
            (Applicability::Suggestion, "you want this value")
        };
        let removed: Vec<_> = std::iter::once(self).chain(others).map(|l| Change::Remove(l.path.clone())).collect();
        let finding = cx.finding(message).at(cx.location(self.node.span)).becomes(PredictedValue {
            kind: "HyperConverged",
            path: self.path.clone(),
            value,
            when,
        });
        cx.with_change(finding, format!(", unless {unless}"), applicability, &removed)
    }
}

fn redundant(cx: &Context<'_>, leaf: &Leaf<'_>) -> Vec<Finding> {
    let Leaf { path, value, .. } = leaf;
    if value != leaf.default {
        return Vec::new();
    }
    let message = format!("{path} is {value}, which is the default of {}", cx.release().label());
    let finding = leaf.finding(cx, message, (value, BecomesWhen::WithoutIt), &[]);
    vec![finding.label("the default")]
}

fn pinned(cx: &Context<'_>, leaf: &Leaf<'_>) -> Vec<Finding> {
    let Leaf { path, value, default: now, .. } = leaf;
    let mut found = Vec::new();
    if path.starts_with(&gates_path()) {
        return found;
    }
    let own = cx.release();
    let default_of = |release: &Release| {
        let schema = release.hyperconverged_schema(cx.version());
        schema.and_then(|s| s.default_at(path)).cloned()
    };
    if let Some(previous) = cx.release().previous()
        && value != *now
        && default_of(&previous).as_ref() == Some(value)
    {
        let (previous, release) = (previous.label(), own.label());
        let message = format!("{path} is {value}, the default up to {previous}; that of {release} is {now}");
        let finding = leaf.finding(cx, message, (now, BecomesWhen::WithoutIt), &[]);
        found.push(finding.label(match rewritten(cx, own, leaf) {
            Some(by) => format!("the upgrade changed it to {}, and git reverts it", by.to),
            None => "keeps the old default".to_owned(),
        }));
    }
    if let Some(next) = cx.next_release()
        && value == *now
        && let Some(then) = default_of(&next)
        && then != **now
    {
        let message = format!("{path} is {value}, the default of {}; that of {} is {then}", own.label(), next.label());
        let finding = leaf.finding(cx, message, (&then, BecomesWhen::AfterUpgradeWithoutIt), &[]);
        found.push(finding.info().label(match rewritten(cx, &next, leaf) {
            Some(by) => format!("the upgrade writes {} here, and git reverts it", by.to),
            None => "would keep the old default".to_owned(),
        }));
    }
    found
}

/// Defaults of releases that aren't modelled any more, in v1beta1: the field of `spec`, and the value. They are the
/// last ones of HCO 1.13, 1.10 and 1.14.
/// Source: the CRDs of HCO's branches from 1.4 on.
static FORMER: Rows<(&str, &str)> = Rows::of("formerDefaults");

/// The finding about the values that were defaults before the modelled releases.
fn former(cx: &Context<'_>) -> Option<Finding> {
    let is_former = |leaf: &Leaf<'_>| {
        let is_it = |(field, then): &(&str, &str)| {
            cx.field(field).path().as_ref() == Some(&leaf.path) && leaf.value.to_string().as_str() == *then
        };
        leaf.value != *leaf.default && FORMER.iter().any(is_it)
    };
    let mut all: Vec<Leaf<'_>> = leaves(cx).into_iter().filter(is_former).collect();
    all.sort_by_cached_key(|leaf| leaf.path.to_string());
    let (first, others) = all.split_first()?;
    let said = |leaf: &Leaf<'_>| {
        let Leaf { path, value, default, .. } = leaf;
        format!("{path} is {value}, the default of an old release; that of {} is {default}", cx.release().label())
    };
    let message = joined(all.iter().map(said), "; ");
    let becomes = (first.default, BecomesWhen::WithoutIt);
    let finding = first.finding(cx, message, becomes, others);
    let finding = with_related(finding, others.iter().map(|leaf| cx.location(leaf.node.span)), "an old default, too");
    Some(finding.info().label("keeps a default of an old release"))
}

/// The value that an upgrade to a release overwrites it with.
fn rewritten(cx: &Context<'_>, to: &Release, leaf: &Leaf<'_>) -> Option<RewrittenValue> {
    let all = to.upgrade().rewritten_values();
    all.into_iter().find(|r| r.from == leaf.value && cx.field(&r.field).path().as_ref() == Some(&leaf.path))
}
