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
    let mut without_successor = Vec::new();
    for gate in known.iter().filter(|g| g.phase == Phase::Discontinued) {
        let Some(on) = cx.gate(&gate.name).explicit().filter(|_| is_accepted(cx, &gate.name)) else {
            continue;
        };
        match replaced(cx, &gate.name) {
            Some(finding) => out.report(finding),
            None => without_successor.push((gate.name.as_str(), on)),
        }
    }
    for &(state, one, several) in &*STATES {
        for harmless in [false, true] {
            let alike = without_successor.iter().filter(|(name, on)| {
                let of = FeatureState::of(cx, name);
                of == state && of.is_asked_for(*on) == harmless
            });
            let names: Vec<&str> = alike.map(|(name, _)| *name).collect();
            out.report_all(useless(cx, names, (one, several), harmless));
        }
    }
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

/// A finding for gates without replacement, whose feature is removed or always enabled.
fn useless(cx: &Context<'_>, mut names: Vec<&str>, (one, several): (&str, &str), harmless: bool) -> Option<Finding> {
    names.sort_by_key(|name| cx.gate(name).name_place().span);
    let release = cx.release().label();
    let (first, rest) = names.split_first()?;
    let (kind, state) = if rest.is_empty() { ("gate", one) } else { ("gates", several) };
    let mut sorted = names.clone();
    sorted.sort_unstable();
    let message = format!("{release} ignores the feature {kind} {}", and(&sorted));
    let mut finding = cx.finding(message).at(cx.gate(first).name_place()).label("without effect");
    finding = with_related(finding, rest.iter().map(|name| cx.gate(name).name_place()), "without effect, too");
    let title = format!("remove the {kind} {}: {state}", and(&sorted));
    // A value that differs from the effective one was set on purpose.
    let (applicability, severity) =
        if harmless { (Applicability::Safe, Severity::Info) } else { (Applicability::Unsafe, IGNORED_FIELD.severity) };
    finding.is_silent = harmless;
    Some(cx.with_fix(finding.severity(severity), title, applicability, &cx.gate_removals(&names)))
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
        let title = format!("remove the gate {name}: {field} replaces it and has the same value");
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
/// controller in every NetworkAddonsConfig, and neither Tekton tasks nor a managed tenant quota.
static OF_HCO: Rows<(&str, FeatureState)> = Rows::of("featuresOfGates");

/// What the removal of a gate of each state changes, and that of several.
static STATES: Rows<(FeatureState, &str, &str)> = Rows::of("featureStates");

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
            Self::Gone => !on,
            Self::Unread => false,
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
