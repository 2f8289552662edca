//! A container disk that doesn't exist for the virtual machine's architecture.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "containerdisk-image-missing-arch",
    group: Group::Heterogeneous,
    severity: Severity::Error,
    predicts: Prediction::Alert {
        name: "VirtualMachineStuckInUnhealthyState",
        runbook: "https://kubevirt.io/monitoring/runbooks/VirtualMachineStuckInUnhealthyState.html",
    },
    summary: "a virtual machine's container disk has no image of its architecture",
    page: r#"
## What it finds

A virtual machine in the cluster's directory with a `containerDisk` or a kernel boot container whose
image isn't there for the architecture that the machine would get, by what is saved about the image
(see `dict-architectures-overclaim` for what is read and how files are called).

## Why it matters

The image is pulled on a node of the machine's architecture. A manifest list without it ends in
`ImagePullBackOff`, a single image of another architecture in `exec format error`, as the container that
holds the disk has a program of its own.

## Example

The image is there for amd64 only:

```yaml
kind: VirtualMachine
spec:
  template:
    spec:
      architecture: arm64
      volumes:
        - name: root
          containerDisk: {image: "registry.example.com/disk:1"}
```

> error: the virtual machine example is arm64 (it says so), but registry.example.com/disk:1 is there
> for amd64 only

## Remedy

Build the image for the architecture and push a manifest list, or let the machine be of one that the
image has:

```yaml
kind: VirtualMachine
spec:
  template:
    spec:
      architecture: amd64
      volumes:
        - name: root
          containerDisk: {image: "registry.example.com/disk:1"}
```

## Sources

- KubeVirt: container disks
- Runbook: <https://kubevirt.io/monitoring/runbooks/VirtualMachineStuckInUnhealthyState.html>
"#,
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for vm in cx.virtual_machines() {
        let guest = cx.guest_architecture(&vm);
        let Some(own) = guest.name.as_deref() else {
            continue;
        };
        let disk = |i: usize| vm.path("volumes").index(i).key("containerDisk").key("image");
        let disks = vm.volumes().map(|(i, _)| disk(i));
        let kernel = vm.path("domain.firmware.kernelBoot.container.image");
        for path in disks.chain([kernel]) {
            let image = vm.document.root.at(&path).and_then(|n| n.as_str());
            let Some((image, evidence)) = image.and_then(|i| Some((i, cx.image_evidence(i)?))) else {
                continue;
            };
            if !evidence.lacks(own) {
                continue;
            }
            let message = format!(
                "{} is {own} ({}), but {image} is there for {} only",
                vm.display_name(),
                guest.reason(),
                and(&evidence.architectures)
            );
            let finding = Finding::new(&RULE, message)
                .at(vm.document.locate(&path))
                .object(object_of(vm.document))
                .label(format!("not there for {own}"))
                .help(format!("build it for {own}, or run the machine elsewhere"))
                .related(evidence.place(), "this says what the image has");
            out.report(finding);
        }
    }
}
