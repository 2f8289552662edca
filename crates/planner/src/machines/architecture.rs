//! Checks machine types.
//!
//! Source: `validateEmulatedMachine` of `vmi-create-admitter.go`.

use super::Cluster;
use super::checker::{Checker, list};
use crate::cause::CauseKind;
use crate::prelude::*;

/// The patterns of the machine types that KubeVirt emulates.
pub(super) fn emulated(cluster: Cluster<'_>, architecture: &str) -> Vec<String> {
    let configuration = cluster.configuration();
    let lists = [
        &configuration["emulatedMachines"],
        &configuration["architectureConfiguration"][architecture]["emulatedMachines"],
    ];
    match lists.into_iter().find(|l| !list(l).is_empty()) {
        Some(written) => list(written).iter().map(|p| text(p).to_owned()).collect(),
        None => {
            // KubeVirt's own defaults.
            let own: &[&str] = match architecture {
                "amd64" => &["q35*", "pc-q35*"],
                "arm64" => &["virt*"],
                "s390x" => &["s390-ccw-virtio*"],
                _ => &[],
            };
            own.iter().map(|p| (*p).to_owned()).collect()
        }
    }
}

/// Like Go's `filepath.Match` for machine types: `*` matches any text.
pub(super) fn glob(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((before, rest)) => text.strip_prefix(before).is_some_and(|after| {
            let mut starts = after.char_indices().map(|(i, _)| i).chain([after.len()]);
            starts.any(|i| after.get(i..).is_some_and(|t| glob(rest, t)))
        }),
    }
}

impl Checker<'_> {
    pub(super) fn machine_type(&mut self) {
        const TYPE: &str = "domain.machine.type";
        let (written, architecture) = (self.text(TYPE), self.text("architecture"));
        let allowed = emulated(self.cluster, architecture);
        if written.is_empty() || allowed.is_empty() || allowed.iter().any(|p| glob(p, written)) {
            return;
        }
        let shown = allowed.join(" ");
        let message = format!("{} is not supported: {written} (allowed values: [{shown}])", self.name(TYPE));
        self.reject(TYPE, CauseKind::Unsupported(allowed), message);
    }
}

#[cfg(test)]
mod tests {
    use super::glob;

    #[test]
    fn matches_patterns() {
        for (pattern, text, matches) in [
            ("q35*", "q35", true),
            ("pc-q35*", "pc-q35-rhel9.4.0", true),
            ("q35*", "pc-q35", false),
            ("virt*", "virtio", true),
            ("*", "", true),
            ("a*c*", "abcd", true),
            ("virt", "virt-1", false),
        ] {
            assert_eq!(glob(pattern, text), matches, "{pattern} {text}");
        }
    }
}
