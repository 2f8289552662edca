//! The rules about files and their pairing; they report while a repository is read.

use hcoplan_diagnostics::finding::{Group, Needs, Prediction, Rule, Severity};

/// Manifests that say different things about a cluster.
pub static CLUSTER_FACTS_CONTRADICT: Rule = Rule {
    name: "cluster-facts-contradict",
    group: Group::Hygiene,
    severity: Severity::Warning,
    predicts: Prediction::Silent("the plan is that of a cluster that doesn't exist"),
    needs: Needs::Document,
    summary: "two manifests say different things about the namespace, platform or release of a cluster",
    page: r#"
## What it finds

Two of the manifests that say which namespace the operator runs in, which platform it runs on, or which
release it is, and that say different things. What counts first is what is said by, in this order: the
inventory, the HyperConverged, the Subscription (its namespace, `sourceNamespace`, `startingCSV`, and a
channel that names a version), the OperatorGroup, HCO's ClusterServiceVersion, the ClusterVersion. Each
speaks for the clusters below the nearest directory above it that has any.

Patch levels aren't compared. A `startingCSV` that is older than the release that counts is no
contradiction either: it is only the first one that OLM installs. An inventory whose namespace isn't the
HyperConverged's is `hco-namespace-mismatch`.

## Why it matters

One of them is wrong, or out of date, and everything that is planned depends on the three: the golden
images' namespace, the objects that there are, the fields that the release knows.

## Example

```yaml
kind: Subscription
metadata: {name: hco-operatorhub, namespace: openshift-cnv}
spec: {name: kubevirt-hyperconverged, startingCSV: kubevirt-hyperconverged-operator.v4.21.0}
---
kind: ClusterInventory
spec: {release: "4.20"}
```

> warning: the inventory says that the release is 4.20, and the Subscription that it is 4.21.0

## Remedy

Correct the one that is wrong. `hcoplan plan --show-files` says what decided.

```yaml
kind: ClusterInventory
spec: {release: "4.21", namespace: openshift-cnv}
```

## Sources

- OLM: `spec.startingCSV` of a Subscription, `olm.operatorNamespace` of a CSV
- <https://docs.redhat.com/en/documentation/openshift_container_platform/4.22/html/virt>: the channel
  `stable` gives the version that goes with the platform's
"#,
    ..Rule::BASE
};

/// Two clusters with one name.
pub static CLUSTER_NAME_TAKEN: Rule = Rule {
    name: "cluster-name-taken",
    group: Group::Hygiene,
    severity: Severity::Error,
    predicts: Prediction::Silent("only the first of the clusters is planned"),
    needs: Needs::Document,
    summary: "two HyperConvergeds would be clusters of the same name",
    page: r#"
## What it finds

Two HyperConvergeds that would be the same cluster: both in one directory, or given one name in
`hcoplan.yaml`.

## Why it matters

A cluster has one HyperConverged: its name is fixed, and a second one is refused by the operator.
Two in one directory are usually a copy that was forgotten, or two clusters in want of a directory
each. Only the first is planned, so that nothing is written twice.

## Example

```text
clusters/east/hyperconverged.yaml
clusters/east/hyperconverged-old.yaml
```

> error: there is a cluster `clusters/east` already

## Remedy

Name both, or delete one, or move it to a directory of its own:

```yaml
# hcoplan.yaml
clusters:
- {name: east, path: clusters/east/hyperconverged.yaml}
- {name: east-next, path: clusters/east/hyperconverged-old.yaml}
```

## Sources

- HCO's validating webhook (`pkg/webhooks`) knows one name, `kubevirt-hyperconverged`
"#,
    ..Rule::BASE
};

/// `hcoplan.yaml` that its schema refuses.
pub static CONFIGURATION_INVALID: Rule = Rule {
    name: "configuration-invalid",
    group: Group::Hygiene,
    severity: Severity::Error,
    predicts: Prediction::Silent("hcoplan stops: it would do something else than was asked for"),
    needs: Needs::Document,
    summary: "hcoplan.yaml has a field or a value that it can't have",
    page: r#"
## What it finds

An `hcoplan.yaml` with an unknown field, a value of the wrong type, a pattern that is none, or a
path that leads nowhere.

## Why it matters

A suppression or an inventory that isn't understood changes the verdict without a word. hcoplan
stops with exit code 2 instead.

## Example

```yaml
# hcoplan.yaml
clusters:
- nmae: east
  path: base
```

> error: there is no field `nmae` here

## Remedy

Follow the message. An editor that knows `schemas/config.schema.json` shows the same while you
type.

```yaml
# hcoplan.yaml
clusters:
- name: east
  path: hyperconverged.yaml
```

## Sources

- `schemas/config.schema.json`
"#,
    ..Rule::BASE
};

/// A file that was passed over.
pub static FILE_NOT_READ: Rule = Rule {
    name: "file-not-read",
    group: Group::Hygiene,
    severity: Severity::Warning,
    predicts: Prediction::Silent("whatever is in the file is missing from the plan"),
    needs: Needs::Document,
    summary: "a file could not be read and was passed over",
    page: r#"
## What it finds

A YAML or JSON file that can't be read: no permission, a broken link, a link that leaves the
directory, a socket, too big; or a template (`{{ … }}`) that isn't YAML, even with what is filled in
left out. (What is filled in for one value is `value-unknown`.)

## Why it matters

If it declares a HyperConverged or an inventory, the plan lacks it. A template has to be rendered
first: `helm template … | hcoplan plan -`.

## Example

```yaml
# charts/hyperconverged.yaml
kind: HyperConverged
spec: {{ .Values.field }}: {{ .Values.value }}
```

> warning: this file is not read: it is a template, not YAML yet

## Remedy

Make the file readable, or leave it out by name:

```yaml
# hcoplan.yaml
ignore: [charts/]
```

## Sources

- `hcoplan lint --show-files` lists what was read, what was passed over, and why
"#,
    ..Rule::BASE
};

/// A release that isn't modelled, or none at all.
pub static RELEASE_UNKNOWN: Rule = Rule {
    name: "release-unknown",
    group: Group::Hygiene,
    severity: Severity::Error,
    predicts: Prediction::Silent("nothing is planned for the cluster"),
    needs: Needs::Document,
    summary: "nothing says which HCO release the cluster runs, or it is not a known one",
    page: r#"
## What it finds

A cluster whose HCO release is said nowhere, or is none that hcoplan models.

## Why it matters

What a HyperConverged becomes depends on the release: defaults flip, gates graduate, fields move.
There is no silent default, because it would be right until the next upgrade. `hcoplan lint` says what every
modelled release would say alike, and names the rules whose findings depend on the release.

## Example

```yaml
apiVersion: hcoplan.dev/v1alpha1
kind: ClusterInventory
spec:
  release: "1.99"
```

> error: `1.99` is no release that hcoplan models

## Remedy

Write the HCO release line into the inventory, or give `--release`. `hcoplan release list` prints those
that are modelled; `hcoplan release import` makes one from a vendor's bundle.

```yaml
apiVersion: hcoplan.dev/v1alpha1
kind: ClusterInventory
spec:
  release: "1.18"
```

## Sources

- HCO's release branches: <https://github.com/kubevirt/hyperconverged-cluster-operator/branches>
"#,
    ..Rule::BASE
};

/// The same key twice.
pub static YAML_DUPLICATE_KEY: Rule = Rule {
    name: "yaml-duplicate-key",
    group: Group::Hygiene,
    severity: Severity::Error,
    predicts: Prediction::Silent("the last one wins in kubectl; a strict server refuses the object"),
    needs: Needs::Document,
    summary: "a mapping has the same key twice",
    page: r#"
## What it finds

A key that a mapping has twice. Two `annotations:` blocks are the usual case, when a patch is added
to a file that already has some.

## Why it matters

kubectl keeps the last one without a word, and everything under the first is lost. Argo CD and
servers with strict field validation refuse the file. hcoplan plans what kubectl would send.

## Example

```yaml
metadata:
  annotations: {deployOVS: "true"}
  annotations: {kubevirt.kubevirt.io/jsonpatch: "[]"}
```

> error: key "annotations" already set in map

## Remedy

Put both under one key:

```yaml
metadata:
  annotations:
    deployOVS: "true"
    kubevirt.kubevirt.io/jsonpatch: "[]"
```

## Sources

- YAML 1.2, 3.2.1.1: keys of a mapping are unique, <https://yaml.org/spec/1.2.2/#3211-nodes>
"#,
    ..Rule::BASE
};

/// Text that isn't read, or is read as something else than it looks like.
pub static YAML_NOT_AS_WRITTEN: Rule = Rule {
    name: "yaml-not-as-written",
    group: Group::Hygiene,
    severity: Severity::Warning,
    predicts: Prediction::Silent("the cluster gets something else than the text suggests"),
    needs: Needs::Document,
    summary: "what is read of a file is not what its text suggests",
    page: r#"
## What it finds

- text behind the end of a document (`...`), which kubectl doesn't read;
- a merge key (`<<`) that takes away a value written above it;
- a scalar that kubectl and kustomize read differently (`yes`, `2001-01-01`);
- bytes that are no UTF-8, which kubectl replaces;
- a document that is no mapping.

## Why it matters

The same file gives two clusters, depending on the tool that applies it: `a: yes` is `true` by
`kubectl apply -f`, and the text `yes` by `kubectl apply -k`, Argo CD or Flux.

## Example

```yaml
spec:
  enableCommonBootImageImport: yes
```

> warning: kubectl reads yes as the boolean true, kustomize as the text "yes"

## Remedy

Write what is meant: `true`, or `"yes"`.

```yaml
spec:
  enableCommonBootImageImport: true
```

## Sources

- kubectl reads YAML 1.1 by way of Go; kustomize reads YAML 1.2
- <https://yaml.org/type/bool.html>
"#,
    ..Rule::BASE
};

/// A file that isn't YAML.
pub static YAML_SYNTAX: Rule = Rule {
    name: "yaml-syntax",
    group: Group::Hygiene,
    severity: Severity::Error,
    predicts: Prediction::Refusal("error parsing: error converting YAML to JSON"),
    needs: Needs::Document,
    summary: "a file can't be parsed as kubectl parses it",
    page: r#"
## What it finds

Tabs where indentation belongs, keys at the wrong depth, quotes without an end, values that JSON
can't hold.

## Why it matters

kubectl refuses the file. hcoplan stops with exit code 4 and writes nothing when the file mentions
`hco.kubevirt.io` or `hcoplan.dev`; any other file is passed over with a warning.

## Example

```yaml
spec:
	workloads: {}
```

> error: found character that cannot start any token

## Remedy

Follow the message; it is kubectl's own, with the place. A template has to be rendered first.

```yaml
spec:
  workloads: {}
```

## Sources

- kubectl, by way of sigs.k8s.io/yaml
"#,
    ..Rule::BASE
};
