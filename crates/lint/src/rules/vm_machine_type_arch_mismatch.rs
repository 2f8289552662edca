//! A machine type of another architecture.

use hcoplan_yaml::edit::edits;

use super::prelude::*;

pub(super) static RULE: Rule = Rule::error(
    "vm-machine-type-arch-mismatch",
    Group::Heterogeneous,
    "a virtual machine's machine type isn't one of its architecture",
)
.refused("spec.template.spec.domain.machine.type is not supported: q35 (allowed values: [virt*])")
.fix(FixKind::Safe);

/// KubeVirt's own, where its object says nothing.
fn defaults(architecture: &str) -> &'static [&'static str] {
    match architecture {
        "amd64" => &["q35*", "pc-q35*"],
        "arm64" => &["virt*"],
        "s390x" => &["s390-ccw-virtio*"],
        _ => &[],
    }
}

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for vm in cx.virtual_machines() {
        let guest = cx.guest_architecture(&vm);
        let written = vm.text("domain.machine.type").filter(|t| !t.is_empty());
        let (Some(own), Some(written)) = (guest.name.as_deref(), written) else {
            continue;
        };
        let allowed = emulated(cx, own);
        if allowed.is_empty() || allowed.iter().any(|p| glob(p, written)) {
            continue;
        }
        let message = format!("KubeVirt refuses {}: {written} is no machine type of {own}", vm.display_name());
        let finding = Finding::new(&RULE, message)
            .at(vm.place("domain.machine.type"))
            .object(object_of(vm.document))
            .label(format!("allowed for {own}: {}", and(&allowed)))
            .help(if guest.is_chosen() {
                "leave the type out: KubeVirt puts in the right one".to_owned()
            } else {
                format!("leave the type out ({own} is the architecture, as {})", guest.reason())
            });
        let machine = vm.path("domain.machine");
        let only = vm.get("domain.machine").is_some_and(|m| m.entries().len() == 1);
        let path = if only { machine } else { machine.key("type") };
        let fix = edits(vm.document, &[Change::Remove(path)]).ok();
        out.report(finding.fixes(fix.map(|edits| Fix {
            title: "leave it to KubeVirt".to_owned(),
            applicability: Applicability::Safe,
            edits,
        })));
    }
}

/// The patterns of the machine types that KubeVirt emulates.
fn emulated(cx: &Context<'_>, architecture: &str) -> Vec<String> {
    let configured = cx.plan().operand("KubeVirt").and_then(|kv| {
        let all = &kv["spec"]["configuration"]["architectureConfiguration"];
        all[architecture]["emulatedMachines"].as_array()
    });
    match configured {
        Some(list) => list.iter().filter_map(|p| Some(p.as_str()?.to_owned())).collect(),
        None => defaults(architecture).iter().map(|p| (*p).to_owned()).collect(),
    }
}

/// As Go's `filepath.Match`, as far as machine types need it: `*` is any text.
fn glob(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((before, rest)) => text.strip_prefix(before).is_some_and(|after| {
            let mut starts = after.char_indices().map(|(i, _)| i).chain([after.len()]);
            starts.any(|i| after.get(i..).is_some_and(|t| glob(rest, t)))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::glob;

    #[test]
    fn patterns() {
        for (pattern, text, fits) in [
            ("q35*", "q35", true),
            ("pc-q35*", "pc-q35-rhel9.4.0", true),
            ("q35*", "pc-q35", false),
            ("virt*", "virtio", true),
            ("*", "", true),
            ("a*c*", "abcd", true),
            ("virt", "virt-1", false),
        ] {
            assert_eq!(glob(pattern, text), fits, "{pattern} {text}");
        }
    }
}
