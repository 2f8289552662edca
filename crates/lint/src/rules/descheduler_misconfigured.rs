//! A KubeDescheduler without a profile that knows virtual machines.

use hcoplan_kubernetes::ObjectId;
use hcoplan_yaml::edit::{Change, edits};

use super::prelude::*;
use crate::Descheduler;

pub(super) static RULE: Rule = Rule {
    name: "descheduler-misconfigured",
    group: Group::Placement,
    severity: Severity::Error,
    predicts: Prediction::Alert {
        name: "HCOMisconfiguredDescheduler",
        runbook: "https://kubevirt.io/monitoring/runbooks/HCOMisconfiguredDescheduler.html",
    },
    needs: Needs::Document,
    fix: FixKind::Unsafe,
    summary: "the KubeDescheduler has no profile that knows virtual machines",
    page: r#"
## What it finds

A KubeDescheduler, beside the HyperConverged or in the inventory (`kubeDescheduler`), whose profiles
name none of `KubeVirtRelieveAndMigrate`, `DevKubeVirtRelieveAndMigrate` and `LongLifecycle`.

HCO only looks at the one that is called `cluster` in `openshift-kube-descheduler-operator`; about
any other the finding is for information.

## Why it matters

The descheduler evicts the pods of virtual machines. A profile that doesn't know that an eviction
starts a live migration counts the pod as still there and evicts it again and again; migrations pile
up, or virtual machines are shut down. HCO doesn't touch the KubeDescheduler, it only fires the
critical alert `HCOMisconfiguredDescheduler`.

## Example

```yaml
apiVersion: operator.openshift.io/v1
kind: KubeDescheduler
metadata: {name: cluster, namespace: openshift-kube-descheduler-operator}
spec:
  profiles: [AffinityAndTaints]
```

> error: the KubeDescheduler's profile AffinityAndTaints doesn't know virtual machines

## Remedy

```yaml
apiVersion: operator.openshift.io/v1
kind: KubeDescheduler
metadata: {name: cluster, namespace: openshift-kube-descheduler-operator}
spec:
  profiles: [KubeVirtRelieveAndMigrate]
```

`LongLifecycle` needs one more setting: see `descheduler-longlifecycle-without-background`.

## Sources

- HCO `controllers/descheduler`, the same in all modelled releases
- Runbook: <https://kubevirt.io/monitoring/runbooks/HCOMisconfiguredDescheduler.html>
"#,
    ..Rule::BASE
};

const KNOWN: [&str; 3] = ["DevKubeVirtRelieveAndMigrate", "KubeVirtRelieveAndMigrate", "LongLifecycle"];

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for descheduler in cx.deschedulers() {
        let profiles = descheduler.profiles();
        if !profiles.iter().any(|p| KNOWN.contains(p)) {
            out.report(misconfigured(&descheduler, &profiles));
        }
    }
}

fn misconfigured(descheduler: &Descheduler<'_>, profiles: &[&str]) -> Finding {
    let message = match profiles {
        [] => "the KubeDescheduler has no profile, so none that knows virtual machines".to_owned(),
        [one] => format!("the KubeDescheduler's profile {one} doesn't know virtual machines"),
        all => format!("none of the KubeDescheduler's profiles knows virtual machines: {}", and(all)),
    };
    let document = descheduler.document;
    let path = descheduler.spec.key("profiles");
    let mut finding = Finding::new(&RULE, message)
        .at(document.locate(&path))
        .object(ObjectId::of(&document.root.to_json()).to_string())
        .label("evicts virtual machines like any pod")
        .help("use the profile KubeVirtRelieveAndMigrate");
    if !descheduler.is_watched {
        finding = finding.severity(Severity::Info);
    }
    let added = [Change::Append(path, "KubeVirtRelieveAndMigrate".into())];
    match edits(document, &added) {
        Ok(edits) => finding.fix(Fix {
            title: "add the profile KubeVirtRelieveAndMigrate".to_owned(),
            applicability: Applicability::Unsafe,
            edits,
        }),
        Err(_) => finding,
    }
}
