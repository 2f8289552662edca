//! An API version that is deprecated, or not served any more.

use hcoplan_yaml::edit::edits;

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "deprecated-kubevirt-api",
    group: Group::Upgrade,
    severity: Severity::Warning,
    predicts: Prediction::Alert {
        name: "KubeVirtDeprecatedAPIRequested",
        runbook: "https://kubevirt.io/monitoring/runbooks/KubeVirtDeprecatedAPIRequested.html",
    },
    needs: Needs::Document,
    fix: FixKind::Safe,
    summary: "a manifest uses a deprecated API version of KubeVirt or its companions",
    page: r#"
## What it finds

A manifest in the cluster's directory whose `apiVersion` is an old one:

| old | new | |
|---|---|---|
| `kubevirt.io/v1alpha3` | `kubevirt.io/v1` | deprecated |
| `instancetype.kubevirt.io/v1alpha1`, `v1alpha2` | `v1beta1` | not served, an error |
| `snapshot.kubevirt.io/v1alpha1` | `v1beta1` | deprecated |
| `export.kubevirt.io/v1alpha1` | `v1beta1` | deprecated |
| `clone.kubevirt.io/v1alpha1` | `v1beta1` | deprecated |
| `cdi.kubevirt.io/v1alpha1` | `v1beta1` | deprecated |
| `ssp.kubevirt.io/v1beta1`, `v1beta2` | `v1beta3` | old |
| `networkaddonsoperator.network.kubevirt.io/v1alpha1` | `v1` | old |

## Why it matters

For `kubevirt.io` each request with the old version counts, and `KubeVirtDeprecatedAPIRequested`
fires while something in the cluster (a GitOps tool, above all) goes on with it. A version that is no
longer served is refused: `no matches for kind`.

## Example

```yaml
apiVersion: kubevirt.io/v1alpha3
kind: VirtualMachine
```

> warning: kubevirt.io/v1alpha3 is deprecated

## Remedy

```yaml
apiVersion: kubevirt.io/v1
kind: VirtualMachine
```

The objects of `kubevirt.io` are the same in both. For the others compare the fields: the new version
of SSP, for one, lacks some.

## Sources

- KubeVirt `pkg/virt-operator/resource/generate/components/crds.go`; CRDs of CDI, SSP and CNAO
- KubeVirt#14048: instancetypes of v1alpha1 and v1alpha2 aren't served any more
- Runbook: <https://kubevirt.io/monitoring/runbooks/KubeVirtDeprecatedAPIRequested.html>
"#,
    ..Rule::BASE
};

/// What is known of an old version.
#[derive(Clone, Copy, PartialEq)]
enum Old {
    /// Deprecated, with the same schema as the new one.
    SameSchema,
    /// Deprecated or about to be.
    OtherSchema,
    /// Not served by any release that is modelled.
    Gone,
}

const VERSIONS: [(&str, &str, Old); 10] = [
    ("kubevirt.io/v1alpha3", "v1", Old::SameSchema),
    ("instancetype.kubevirt.io/v1alpha1", "v1beta1", Old::Gone),
    ("instancetype.kubevirt.io/v1alpha2", "v1beta1", Old::Gone),
    ("snapshot.kubevirt.io/v1alpha1", "v1beta1", Old::OtherSchema),
    ("export.kubevirt.io/v1alpha1", "v1beta1", Old::OtherSchema),
    ("clone.kubevirt.io/v1alpha1", "v1beta1", Old::OtherSchema),
    ("cdi.kubevirt.io/v1alpha1", "v1beta1", Old::OtherSchema),
    ("ssp.kubevirt.io/v1beta1", "v1beta3", Old::OtherSchema),
    ("ssp.kubevirt.io/v1beta2", "v1beta3", Old::OtherSchema),
    ("networkaddonsoperator.network.kubevirt.io/v1alpha1", "v1", Old::OtherSchema),
];

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let neighbours = cx.neighbours();
    let all = neighbours.kinds().flat_map(|k| neighbours.of_kind(k));
    for document in all {
        let Some(written) = text_at(document, "apiVersion") else {
            continue;
        };
        let known = VERSIONS.iter().find(|(old, ..)| *old == written);
        if let Some((_, new, what)) = known {
            out.report(finding(document, written, new, *what));
        }
    }
}

fn finding(document: &Document, written: &str, version: &str, what: Old) -> Finding {
    let group = written.split_once('/').map_or("", |(group, _)| group);
    let new = format!("{group}/{version}");
    let path = Path::dotted("apiVersion");
    let (message, label) = match what {
        Old::Gone => (format!("{written} isn't served any more"), "refused"),
        _ => (format!("{written} is deprecated"), "an old version"),
    };
    let finding = finding_about(&RULE, document, message).at(document.locate(&path)).label(label).help(match what {
        Old::SameSchema => format!("write {new}: the fields are the same"),
        _ => format!("write {new}, and compare the fields"),
    });
    let applicability = match what {
        Old::SameSchema => Applicability::Safe,
        _ => Applicability::Suggestion,
    };
    let fix = edits(document, &[Change::Set(path, new.clone().into())]).ok();
    let finding = finding.fixes(fix.map(|edits| Fix { title: format!("write {new}"), applicability, edits }));
    match what {
        Old::Gone => finding.severity(Severity::Error),
        _ => finding,
    }
}
