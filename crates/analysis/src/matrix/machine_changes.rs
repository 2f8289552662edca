//! The effects of a change on virtual machines of the repository: rejection, defaults, migration, boot.
//!
//! When each is effective: KubeVirt sets architecture and machine type when a VirtualMachine is created
//! (`pkg/virt-api/webhooks/mutating-webhook/mutators/vm-mutator.go`), CPU model and eviction strategy when its instance
//! is created (`pkg/defaults`: `SetDefaultVirtualMachineInstanceSpec`, `setDefaultCPUModel`; on arm64
//! `setDefaultArm64CPUModel` comes first), read at v1.6.0, v1.8.0 and v1.9.0.

use super::effect_of;
use crate::prelude::*;
use hcoplan_explain::diff::semantic::EffectTime;
use hcoplan_explain::diff::{self, Shares};
use hcoplan_lint::{Boot, Context, VirtualMachine};
use hcoplan_planner::boot::BootCause;
use hcoplan_planner::cause::Stage;
use hcoplan_yaml::Node;

/// KubeVirt's handling of a virtual machine.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct MachineState {
    /// Its boot source.
    source: String,
    outcome: BootOutcome,
    cause: Option<BootCause>,
    /// Its rejections: stage and message.
    rejections: Vec<(Stage, String)>,
    /// Features that it needs and the HyperConverged doesn't enable.
    lacks: Vec<String>,
    /// Why it can't be migrated.
    obstacles: Vec<String>,
    /// What it uses that a change may be about.
    uses: Vec<String>,
}

/// Virtual machines by `namespace/name`, or by name without a namespace.
pub type MachineStates = BTreeMap<String, MachineState>;

/// The virtual machines of a cluster's directory.
pub fn states(context: &Context<'_>) -> MachineStates {
    context.boots().iter().map(|boot| (boot.vm.full_name(), state(context, boot))).collect()
}

fn state(context: &Context<'_>, boot: &Boot<'_>) -> MachineState {
    let verdict = boot.verdict;
    let obstacles = context.migration_obstacles(&boot.vm, verdict);
    let mut obstacles: Vec<_> = obstacles.into_iter().map(|(_, obstacle)| obstacle).collect();
    obstacles.dedup();
    let devices = context.devices_not_permitted(&boot.vm, verdict).into_iter();
    let devices = devices.map(|(_, name)| format!("the host device {name} isn't permitted"));
    let bindings = context.bindings_not_there(&boot.vm).into_iter();
    let bindings = bindings.map(|(_, name)| format!("the network binding {name} isn't there"));
    MachineState {
        source: boot.source.name.clone(),
        outcome: boot.answer.outcome,
        cause: boot.answer.cause.clone(),
        rejections: verdict.causes.iter().map(|c| (c.stage, c.message.clone())).collect(),
        lacks: devices.chain(bindings).collect(),
        uses: uses(context, &boot.vm, &verdict.spec, !obstacles.is_empty()),
        obstacles,
    }
}

/// What a machine uses: its manifest and written spec decide, and the complete spec in KubeVirt; its labels; and whether
/// it can't be migrated.
fn uses(context: &Context<'_>, vm: &VirtualMachine<'_>, complete: &Value, is_tied: bool) -> Vec<String> {
    let json = |path: &str| vm.get(path).map_or(Value::Null, Node::to_json);
    let owned = |path: &str| vm.document.root.at(&vm.owner_path(path)).map_or(Value::Null, Node::to_json);
    let is_of_cluster = |type_: Value| {
        let kind = text(&type_["kind"]).to_ascii_lowercase();
        !type_["name"].is_null() && (kind.is_empty() || kind.contains("cluster"))
    };
    let has_type = ["instancetype", "preference"].into_iter().any(|path| is_of_cluster(owned(path)));
    let written = json!({
        "evictionStrategy": json("evictionStrategy"),
        "architecture": json("architecture"),
        "hasClusterType": has_type,
        "isTied": is_tied,
    });
    let labels = |document: &Document| document.root.below("metadata.labels").map_or(Value::Null, Node::to_json);
    let namespace = context.named("Namespace", None, vm.namespace());
    let of_namespace = namespace.map_or(Value::Null, &labels);
    diff::uses(&written, complete, &labels(vm.document), &of_namespace)
}

/// The machines by what they use, and those that boot.
pub fn users(states: &MachineStates) -> (BTreeMap<String, Vec<String>>, BTreeSet<String>) {
    let mut out: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let boots = states.iter().filter(|(_, state)| state.outcome == BootOutcome::Boots);
    for (name, state) in states {
        for users in &state.uses {
            out.entry(users.clone()).or_default().push(name.clone());
        }
    }
    (out, boots.map(|(name, _)| name.clone()).collect())
}

/// The effects on virtual machines; equal ones share an entry. `shares` finds the differences that affect the named
/// machines; if it returns nothing, all differences count, numbered up to `all`. `said` has the effects on images,
/// which already cover the machines that boot from them; the disk of those in `kept` stays.
pub fn effects(
    before: &MachineStates,
    after: &MachineStates,
    (said, kept): (&[Effect], &BTreeSet<String>),
    shares: impl FnOnce(&BTreeSet<String>) -> Option<Shares<MachineStates>>,
    all: usize,
) -> Vec<Effect> {
    // Ask about one machine of each group with equal states.
    let mut alike: HashMap<(&MachineState, &MachineState), Vec<&String>> = HashMap::new();
    for (name, is) in after {
        let loses_import = kept.contains(name) && is.rejections.is_empty() && is.lacks.is_empty();
        if let Some(was) = before.get(name).filter(|was| *was != is && !loses_import) {
            alike.entry((was, is)).or_default().push(name);
        }
    }
    let mut alike: Vec<_> = alike.into_iter().map(|((was, is), names)| (names, was, changes(was, is))).collect();
    alike.retain(|(_, _, changes)| !changes.is_empty());
    alike.sort_by(|(a, ..), (b, ..)| a.cmp(b));
    if alike.is_empty() {
        return Vec::new();
    }
    let first = |names: &[&String]| names.first().map_or_else(String::new, |name| (*name).clone());
    let shares = shares(&alike.iter().map(|(names, ..)| first(names)).collect());
    let is_said = |name: &String, change: &Effect| {
        let same = |e: &Effect| e.impact == Impact::BootFailure && e.machines.contains(name);
        let fails = change.impact == Impact::BootFailure || change.when == EffectTime::NewMachines;
        fails && change.action.is_none() && said.iter().any(same)
    };
    let mut out: Vec<Effect> = Vec::new();
    for (names, was, of_each) in alike {
        let asked = first(&names);
        for change in of_each {
            let happens = |states: &MachineStates| {
                states.get(&asked).is_some_and(|state| changes(was, state).iter().any(|other| other.is_like(&change)))
            };
            let causes = shares.as_ref().map_or_else(|| (0..all).collect(), |shares| shares.causes(happens));
            let names: Vec<String> =
                names.iter().filter(|name| !is_said(name, &change)).map(|name| (*name).clone()).collect();
            // A change of the machine's own manifest is visible in its review.
            if !causes.is_empty() && !names.is_empty() {
                let at = out.iter().position(|known| known.is_like(&change)).unwrap_or(out.len());
                if at == out.len() {
                    out.push(change);
                }
                out[at].machines.extend(names);
                out[at].causes.extend(causes);
            }
        }
    }
    for effect in &mut out {
        effect.machines.sort_unstable();
        effect.causes.sort_unstable();
        effect.causes.dedup();
        effect.subjects = effect.machines.clone();
        effect.is_of_machine = true;
    }
    out.sort_by(|a, b| (a.impact, a.when, &a.text, &a.action).cmp(&(b.impact, b.when, &b.text, &b.action)));
    out
}

/// The effects of another state on a machine.
fn changes(was: &MachineState, is: &MachineState) -> Vec<Effect> {
    let mut out = Vec::new();
    let mut add = |row: &str, about: &str| out.push(effect_of(row, &[about]));
    for (stage, words) in is.rejections.iter().filter(|r| !was.rejections.contains(r)) {
        let is_of_machine = matches!(stage, Stage::Schema | Stage::Mutating | Stage::Validating);
        add(if is_of_machine { "machine-rejected" } else { "instances-rejected" }, words);
    }
    for lack in is.lacks.iter().filter(|l| !was.lacks.contains(l)) {
        add("machine-lacks", lack);
    }
    for obstacle in is.obstacles.iter().filter(|o| was.lacks.is_empty() && !was.obstacles.contains(o)) {
        add("machine-stays", obstacle);
    }
    let is_rejected = |m: &MachineState| !m.rejections.is_empty();
    if is_rejected(was) && !is_rejected(is) {
        add("machine-accepted", "");
    }
    if !was.lacks.is_empty() && is.lacks.is_empty() && !is_rejected(is) {
        add("machine-starts", "");
    }
    // A rejection is reported with the server's message, and what is missing with its name.
    let is_said = |m: &MachineState| match m.cause {
        Some(BootCause::Rejected) => is_rejected(m),
        Some(BootCause::NotStarted(_) | BootCause::MayNotStart(_)) => !m.lacks.is_empty() || is_rejected(m),
        _ => false,
    };
    if was.outcome != is.outcome && !is_said(is) {
        let why = is.cause.as_ref().map(BootCause::sentence).unwrap_or_default();
        match (was.outcome, is.outcome) {
            (_, BootOutcome::DoesNotBoot) => {
                // A disk is made once, a launcher at each start and migration.
                let is_disks = matches!(is.cause, Some(BootCause::Disk(_) | BootCause::NoDisk));
                add(if is_disks { "machine-fails" } else { "machine-stops" }, &why);
            }
            (BootOutcome::Boots, BootOutcome::BootsOnSome | BootOutcome::Undetermined) => add("machine-may-fail", &why),
            (BootOutcome::DoesNotBoot, BootOutcome::Boots) if !is_said(was) => add("machine-boots-again", ""),
            (was_so, BootOutcome::Boots) if was_so != BootOutcome::Unknown && !is_said(was) => add("machine-boots", ""),
            _ => {}
        }
    }
    out
}
