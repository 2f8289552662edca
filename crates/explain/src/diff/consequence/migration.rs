//! Live migration and certificates. Sources: KubeVirt `pkg/virt-config`, `pkg/virt-launcher/virtwrap/live-migration-source.go`,
//! `pkg/virt-operator/resource/apply/core.go` (`certificationNeedsRotation`).

use serde_json::Value;

use super::others::component;
use super::said::{Said, shown};
use super::{Change, Consequence};
use crate::diff::semantic::EffectTime::{NextMigration, Now};
use crate::diff::semantic::Impact::{Behaviour, Disruption, Scheduling};

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
    let is_on = |value: &Value| value.as_bool();
    let post_copy = is_on(post_copy).unwrap_or(false);
    match (is_on(disruption).unwrap_or(post_copy), post_copy) {
        (false, _) => TooLong::GivesUp,
        (true, true) => TooLong::PostCopy,
        (true, false) => TooLong::Pauses,
    }
}

pub(super) fn completion_timeout(change: &Change<'_>) -> Vec<Consequence> {
    let (_, post_copy) = change.at(POST_COPY);
    let (_, disruption) = change.at(DISRUPTION);
    let said = number(match too_long(post_copy, disruption) {
        TooLong::GivesUp => "a live migration gives up after {is} instead of {was}",
        TooLong::Pauses => "a live migration pauses the VM after {is} instead of {was}",
        TooLong::PostCopy => "a live migration goes on in post-copy after {is} instead of {was}",
    });
    let time = |value: &Value, per: &str| match value.as_u64().unwrap_or(150) {
        0 => "an unlimited time".to_owned(),
        seconds => format!("{seconds} s{per}"),
    };
    if time(change.before, "") == time(change.after, "") {
        return Vec::new();
    }
    let (was, is) = (time(change.before, ""), time(change.after, " per GiB"));
    vec![said.turns(is, was)]
}

pub(super) fn post_copy(change: &Change<'_>) -> Vec<Consequence> {
    const POST_COPY_ON: Said = Said::new(
        Disruption,
        NextMigration,
        "a live migration that takes too long goes on in post-copy; a VM whose migration fails then crashes",
    );
    const PAUSES: Said =
        Said::new(Disruption, NextMigration, "a live migration that takes too long pauses the VM until it is done");
    const GIVES_UP: Said = number("a live migration that takes too long is given up, and the VM stays on its node");
    const IDLE_ON: Said =
        Said::new(Behaviour, NextMigration, "allowPostCopy has no effect as long as allowWorkloadDisruption is false");
    const IDLE_OFF: Said =
        Said::new(Behaviour, NextMigration, "allowPostCopy is off; without allowWorkloadDisruption it had no effect");
    let (post_copy, disruption) = (change.at(POST_COPY), change.at(DISRUPTION));
    let (was, is) = (too_long(post_copy.0, disruption.0), too_long(post_copy.1, disruption.1));
    let idle = || match (post_copy.0 == true, post_copy.1 == true) {
        (false, true) => Some(IDLE_ON),
        (true, false) => Some(IDLE_OFF),
        _ => None,
    };
    let said = match is {
        same if same == was => idle(),
        TooLong::PostCopy => Some(POST_COPY_ON),
        TooLong::Pauses => Some(PAUSES),
        TooLong::GivesUp => Some(GIVES_UP),
    };
    said.map(Said::plain).into_iter().collect()
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
