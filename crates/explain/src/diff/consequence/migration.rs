//! Live migration and certificates. Sources: KubeVirt `pkg/virt-config`, `pkg/virt-launcher/virtwrap/live-migration-source.go`,
//! `pkg/virt-operator/resource/apply/core.go` (`certificationNeedsRotation`).

use super::Change;
use super::others::component;
use super::said::{Said, shown};
use crate::diff::consequence::Consequence;
use crate::diff::semantic::EffectTime::{NextMigration, Now};
use crate::diff::semantic::Impact::{Behaviour, Disruption, Scheduling};
use crate::prelude::*;

const POST_COPY: &str = "spec.configuration.migrations.allowPostCopy";
const DISRUPTION: &str = "spec.configuration.migrations.allowWorkloadDisruption";

const fn number(text: &'static str) -> Said {
    Said::new(Scheduling, NextMigration, text)
}

/// What happens to a migration that takes too long.
#[derive(Clone, Copy, PartialEq)]
enum TooLong {
    GivesUp,
    Pauses,
    PostCopy,
}

/// `allowWorkloadDisruption` follows `allowPostCopy` where it isn't set. Source: `GetMigrationConfiguration`,
/// `handleLegacyConvergence`.
fn too_long(post_copy: &Value, disruption: &Value) -> TooLong {
    let post_copy = post_copy.as_bool().unwrap_or(false);
    match (disruption.as_bool().unwrap_or(post_copy), post_copy) {
        (false, _) => TooLong::GivesUp,
        (true, true) => TooLong::PostCopy,
        (true, false) => TooLong::Pauses,
    }
}

pub(super) fn completion_timeout(change: &Change<'_>) -> Vec<Consequence> {
    let (_, post_copy) = change.at(POST_COPY);
    let (_, disruption) = change.at(DISRUPTION);
    let does = match too_long(post_copy, disruption) {
        TooLong::GivesUp => "gives up",
        TooLong::Pauses => "pauses the VM",
        TooLong::PostCopy => "goes on in post-copy",
    };
    time_limit(change, number("a live migration {is}"), does, " per GiB")
}

pub(super) fn progress_timeout(change: &Change<'_>) -> Vec<Consequence> {
    time_limit(change, number("a live migration without progress is {is}"), "given up", "")
}

/// A limit of seconds. Zero switches it off.
fn time_limit(change: &Change<'_>, said: Said, does: &str, per: &str) -> Vec<Consequence> {
    let [was, is] = [change.before, change.after].map(|v| v.as_u64().unwrap_or(150));
    let text = match (was, is) {
        _ if was == is => return Vec::new(),
        (_, 0) => format!("never {does}, instead of after {was} s"),
        (0, _) => format!("{does} after {is} s{per} instead of never"),
        _ => format!("{does} after {is} s{per} instead of {was} s"),
    };
    vec![said.turns(text, "")]
}

pub(super) fn post_copy(change: &Change<'_>) -> Vec<Consequence> {
    let (post_copy, disruption) = (change.at(POST_COPY), change.at(DISRUPTION));
    let (was, is) = (too_long(post_copy.0, disruption.0), too_long(post_copy.1, disruption.1));
    let (impact, text) = match is {
        same if same == was => match (post_copy.0 == true, post_copy.1 == true) {
            (false, true) => (Behaviour, "allowPostCopy has no effect as long as allowWorkloadDisruption is false"),
            (true, false) => (Behaviour, "allowPostCopy is off; without allowWorkloadDisruption it had no effect"),
            _ => return Vec::new(),
        },
        TooLong::PostCopy => (
            Disruption,
            "a live migration that takes too long goes on in post-copy; a VM whose migration fails then crashes",
        ),
        TooLong::Pauses => (Disruption, "a live migration that takes too long pauses the VM until it is done"),
        TooLong::GivesUp => {
            (Scheduling, "a live migration that takes too long is given up, and the VM stays on its node")
        }
    };
    vec![Said::new(impact, NextMigration, text).plain()]
}

/// A longer or shorter life makes the operators issue a certificate again; another time of renewal only CDI.
pub(super) fn certificates(change: &Change<'_>) -> Vec<Consequence> {
    let kind = change.object.id.kind.as_str();
    let paths = match kind {
        "NetworkAddonsConfig" => ["caRotateInterval", "caOverlapInterval", "certRotateInterval", "certOverlapInterval"],
        _ => ["ca.duration", "ca.renewBefore", "server.duration", "server.renewBefore"],
    };
    const DEFAULTS: [&str; 4] = ["48 h", "24 h", "24 h", "12 h"];
    const SAID: [Said; 4] = [
        Said::new(Behaviour, Now, "CA certificates of {} last {is} instead of {was}, and are issued again"),
        Said::new(Behaviour, Now, "CA certificates of {} are renewed {is} before their end instead of {was}{again}"),
        Said::new(Behaviour, Now, "server certificates of {} last {is} instead of {was}, and are issued again"),
        Said::new(
            Behaviour,
            Now,
            "server certificates of {} are renewed {is} before their end instead of {was}{again}",
        ),
    ];
    // Source: CDI `pkg/operator/controller/certrotation.go` (`ensureCertConfig`).
    let again = if kind == "CDI" { ", and issued again" } else { "" };
    let mut out = Vec::new();
    for ((path, default), said) in paths.into_iter().zip(DEFAULTS).zip(SAID) {
        let of = |value: &Value| match super::value_at(Some(value), path) {
            Value::Null => default.to_owned(),
            value => shown(value),
        };
        let (was, is) = (of(change.before), of(change.after));
        if was != is {
            out.push(said.fill(&[("is", &is), ("was", &was), ("again", &again)]).about(component(kind)));
        }
    }
    out
}
