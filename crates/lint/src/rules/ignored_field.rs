//! A field that the release ignores.

use hcoplan_planner::hyperconverged::MOVES;

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    if cx.admission().reason.is_some() {
        return;
    }
    let gates = gates_path();
    let ignored = cx.release().fields().iter();
    for field in ignored.filter(|f| f.ignored && f.api_version == cx.version()) {
        let node = cx.root().below(&field.path);
        if node.is_none_or(|n| matches!(n.value, Value::Null)) {
            continue;
        }
        let path = Path::dotted(&field.path);
        if !path.starts_with(&gates) {
            out.report(field_without_effect(cx, &path));
        }
    }
    idle_quota(cx, out);
    let known = &cx.release().tables().feature_gates;
    // With the reasons.
    let (mut harmless, mut wished) = (Vec::new(), Vec::new());
    for gate in known.iter().filter(|g| g.phase == Phase::Discontinued) {
        let name = gate.name.as_str();
        let Some(on) = cx.gate(name).explicit().filter(|_| is_accepted(cx, name)) else {
            continue;
        };
        match successor(cx, name) {
            Some(field) if effective(cx, name) == Some(on) => harmless.push((name, same_value(&field))),
            Some(_) => out.report_all(replaced(cx, name)),
            None => {
                let state = FeatureState::of(cx, name);
                let alike = if state.is_asked_for(on) { &mut harmless } else { &mut wished };
                let why = STATES.iter().find(|(known, _)| *known == state).map(|(_, why)| (*why).to_owned());
                alike.push((name, why.unwrap_or_default()));
            }
        }
    }
    // Leftovers of old releases come together, so one finding has all with one fix.
    out.report_all(useless(cx, harmless, Applicability::Safe));
    // A value that differs from the effective one was set on purpose.
    out.report_all(useless(cx, wished, Applicability::Unsafe));
}

/// Whether the version accepts the gate: another rule reports unknown gates of a list.
fn is_accepted(cx: &Context<'_>, gate: &str) -> bool {
    let rules = cx.release().admission().version(cx.version());
    let listed = rules.and_then(|r| r.listed_gates.as_ref());
    listed.is_none_or(|l| l.known.iter().any(|k| k == gate))
}

fn field_without_effect(cx: &Context<'_>, path: &Path) -> Finding {
    let release = cx.release().label();
    let finding = cx
        .finding(format!("{release} ignores {path}"))
        .at(cx.document().locate_key(path))
        .label("without effect")
        .help("remove it: nothing changes");
    // Unsafe, because the field was set on purpose.
    finding.fixes(cx.change(Applicability::Unsafe, &[Change::Remove(alone(cx, path))]))
}

/// Settings of the application-aware quota while it is disabled.
fn idle_quota(cx: &Context<'_>, out: &mut Sink) {
    if cx.hyperconverged().is_none() || cx.flag("deployment.applicationAwareConfig.enable") == Some(true) {
        return;
    }
    let field = cx.field("applicationAwareConfig");
    let switch =
        if cx.version() == "v1" { "deployment.applicationAwareConfig.enable" } else { "enableApplicationAwareQuota" };
    let settings = entries(field.node());
    if let Some(first) = settings.iter().find(|e| e.key.text != "enable") {
        out.report(
            cx.finding("applicationAwareConfig does nothing: the quota is off")
                .info()
                .at(cx.location(first.key.span))
                .label("without effect")
                .help(format!("set {switch}: true, or remove it")),
        );
    }
}

/// A finding for gates whose removal changes nothing, each with the reason.
fn useless(cx: &Context<'_>, mut gates: Vec<(&str, String)>, applicability: Applicability) -> Option<Finding> {
    gates.sort_by_key(|(name, _)| cx.gate(name).name_place().span);
    let release = cx.release().label();
    let ((first, why), rest) = gates.split_first()?;
    let kind = if rest.is_empty() { "gate" } else { "gates" };
    let mut names: Vec<&str> = gates.iter().map(|(name, _)| *name).collect();
    names.sort_unstable();
    let all = and(&names);
    let message = format!("{release} ignores the feature {kind} {all}");
    let finding = cx.finding(message).at(cx.gate(first).name_place()).label(why.clone());
    let place =
        |finding: Finding, (name, why): &(&str, String)| finding.related(cx.gate(name).name_place(), why.clone());
    let finding = rest.iter().fold(finding, place);
    let finding = if applicability == Applicability::Safe { finding.info().silent() } else { finding };
    let title = format!("remove the {kind} {all}: nothing changes");
    Some(cx.with_fix(finding, title, applicability, &cx.gate_removals(&names)))
}

/// Why a gate with the same value as its successor is without effect.
fn same_value(field: &Path) -> String {
    format!("{field} replaces it and has the same value")
}

/// The finding for a gate that a field replaces.
pub(super) fn replaced(cx: &Context<'_>, name: &str) -> Option<Finding> {
    let (field, on) = (successor(cx, name)?, cx.gate(name).explicit()?);
    let release = cx.release().label();
    let finding = cx
        .finding(format!("{release} ignores the feature gate {name}"))
        .at(cx.gate(name).name_place())
        .label("without effect");
    let removed = cx.gate_removals(&[name]);
    let effective = effective(cx, name);
    if effective == Some(on) {
        let title = format!("remove the gate {name}: {}", same_value(&field));
        let finding = finding.info().silent();
        return Some(cx.with_fix(finding, title, Applicability::Safe, &removed));
    }
    if cx.root().at(&field).is_some() {
        // Gate and field differ, so that the intended value is unclear.
        let title = format!("remove the gate {name}: {field} replaces it and has another value, which applies");
        return Some(cx.with_fix(finding, title, Applicability::Suggestion, &removed));
    }
    let set = changed(&[Change::Set(field.clone(), on.into())]);
    let help = format!("{field} replaces it");
    let moved = cx.gate_entry(name).map(|place| Change::Move(place, field, Some(on.into())));
    let title = format!("{set} instead of the gate {name}");
    let fix = cx.fix(title, Applicability::Unsafe, moved.as_slice());
    Some(finding.remedy(help, fix))
}

/// The field that replaces a gate, in the document's version.
fn successor(cx: &Context<'_>, gate: &str) -> Option<Path> {
    let (old, new) = MOVES.iter().find(|(old, _)| *old == gate)?;
    let path = match cx.version() {
        "v1" => new,
        _ => old,
    };
    Some(Path::dotted(&format!("spec.{path}")))
}

/// The effective value of the field that replaces a gate.
fn effective(cx: &Context<'_>, gate: &str) -> Option<bool> {
    let (_, field) = MOVES.iter().find(|(old, _)| *old == gate)?;
    // Images are imported unless it is false.
    Some(cx.hyperconverged()?.flag(field).unwrap_or(gate == "enableCommonBootImageImport"))
}

/// The state of a feature whose gate has no replacement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum FeatureState {
    /// The feature is always on.
    AlwaysOn,
    /// The feature was removed.
    Gone,
    /// The gate is never read.
    Unread,
}

/// Gates whose feature HCO always or no longer has. Source: HCO `controllers/handlers`, which renders the IPAM
/// controller in every NetworkAddonsConfig and the binding of primary networks in every KubeVirt, and neither Tekton
/// tasks nor a managed tenant quota.
static OF_HCO: Rows<(&str, FeatureState)> = Rows::of("featuresOfGates");

/// Why a gate of each state is without effect.
static STATES: Rows<(FeatureState, &str)> = Rows::of("featureStates");

impl FeatureState {
    fn of(cx: &Context<'_>, gate: &str) -> Self {
        if let Some((_, state)) = OF_HCO.iter().find(|(name, _)| *name == gate) {
            return *state;
        }
        // Some KubeVirt gates have a suffix.
        let is_it = |name: &str| {
            let plain = name.strip_suffix("Gate").unwrap_or(name);
            plain.eq_ignore_ascii_case(gate)
        };
        match cx.release().kubevirt_gates().find(|known| is_it(known.name)).map(|known| known.phase) {
            Some(Phase::Ga) => Self::AlwaysOn,
            Some(Phase::Discontinued) => Self::Gone,
            _ => Self::Unread,
        }
    }

    /// Whether a gate's value equals the actual state.
    fn is_asked_for(self, on: bool) -> bool {
        match self {
            Self::AlwaysOn => on,
            Self::Gone | Self::Unread => !on,
        }
    }
}

/// The path to remove so that no empty parent remains.
pub(super) fn alone(cx: &Context<'_>, path: &Path) -> Path {
    let parent = path.parent();
    let around = cx.root().at(&parent);
    let only = around.is_some_and(|n| n.entries().len() + n.items().len() == 1);
    if only && parent.0.len() > 1 { parent } else { path.clone() }
}
