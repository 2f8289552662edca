//! Checks for features that an architecture lacks, and machine types.
//!
//! Source: `amd64.go`, `arm64.go`, `s390x.go`, and `validateEmulatedMachine` of `vmi-create-admitter.go`.

use serde_json::Value;

use super::checker::{Checker, list, text};
use super::tables::unsupported;
use super::{Cluster, Reason};

/// The architectures of guests.
const ARCHITECTURES: [&str; 3] = ["amd64", "arm64", "s390x"];

/// Default machine types, used if KubeVirt's object has none.
const MACHINES: [(&str, &[&str]); 3] =
    [("amd64", &["q35*", "pc-q35*"]), ("arm64", &["virt*"]), ("s390x", &["s390-ccw-virtio*"])];

/// The video models of an architecture.
const VIDEO: [(&str, &[&str]); 3] = [
    ("amd64", &["vga", "cirrus", "virtio", "ramfb", "bochs"]),
    ("arm64", &["virtio", "ramfb"]),
    ("s390x", &["virtio"]),
];

fn values_of<'t>(table: &[(&str, &'t [&'t str])], architecture: &str) -> &'t [&'t str] {
    table.iter().find(|(name, _)| *name == architecture).map_or(&[], |(_, values)| values)
}

/// The patterns of the machine types that KubeVirt emulates.
pub(super) fn emulated(cluster: Cluster<'_>, architecture: &str) -> Vec<String> {
    let configuration = cluster.configuration();
    let lists = [
        &configuration["emulatedMachines"],
        &configuration["architectureConfiguration"][architecture]["emulatedMachines"],
    ];
    match lists.into_iter().find(|l| !list(l).is_empty()) {
        Some(written) => list(written).iter().map(|p| text(p).to_owned()).collect(),
        None => values_of(&MACHINES, architecture).iter().map(|p| (*p).to_owned()).collect(),
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
        self.reject(TYPE, Reason::Unsupported(allowed), message);
    }

    /// Checks made when the instance is created.
    pub(super) fn architecture(&mut self) {
        let own = self.text("architecture");
        match own {
            "" => return,
            "amd64" | "s390x" | "arm64" => self.rows(own),
            _ => {
                let message = format!("unsupported architecture: {own}");
                self.reject("architecture", unsupported(&ARCHITECTURES), message);
                return;
            }
        }
        if own == "arm64" {
            self.secure_boot();
        }
        const VIDEO_TYPE: &str = "domain.devices.video.type";
        let video = self.text(VIDEO_TYPE);
        if self.has("domain.devices.video") && !values_of(&VIDEO, own).contains(&video) {
            let message = format!("video model '{video}' is not supported on {own} architecture");
            self.reject(VIDEO_TYPE, unsupported(values_of(&VIDEO, own)), message);
        }
    }

    fn secure_boot(&mut self) {
        const EFI: &str = "domain.firmware.bootloader.efi";
        let secure = &self.get(EFI)["secureBoot"];
        if self.has(EFI) && *secure != false && self.cluster.admits("arm64-without-secure-boot") {
            let at = if *secure == Value::Null { EFI.to_owned() } else { format!("{EFI}.secureBoot") };
            self.reject(
                &at,
                Reason::Architecture("arm64".to_owned()),
                "UEFI secure boot is currently not supported on aarch64 Arch",
            );
        }
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
