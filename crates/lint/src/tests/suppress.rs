//! Suppressions, and the finding about an unused one.

use snapbox::{assert_data_eq, str};

use super::load::Case;
use crate::{Date, Settings, apply_suppressions, selector};

const INVENTORY: &str = r#"
apiVersion: hcoplan.dev/v1alpha1
kind: ClusterInventory
spec:
  release: "1.17"
  nodePools:
  - {name: all, count: 3, architecture: amd64, roles: [control-plane, worker]}
"#;

/// The remaining and the suppressed findings, a line each, of a HyperConverged that ends in `rest`.
fn suppressed(rest: &str, settings: &Settings) -> String {
    let head = "apiVersion: hco.kubevirt.io/v1beta1\nkind: HyperConverged\n";
    let text = format!("{head}{}", rest.trim_start_matches('\n'));
    let case = Case::of(&text, INVENTORY);
    let today = Date::parse("2026-11-21").unwrap();
    let result = apply_suppressions(case.run(settings), case.documents(), settings, today);
    let mut out = String::new();
    for finding in result.findings {
        let line = finding.location.as_ref().map_or(0, |l| l.start().line);
        let (name, message) = (finding.rule.name, finding.message);
        out.push_str(&format!("{line} {name}: {message}\n"));
    }
    for suppressed in result.suppressed {
        let (name, reason) = (suppressed.finding.rule.name, suppressed.reason);
        out.push_str(&format!("- {name}: {reason}\n"));
    }
    out
}

fn all(rest: &str) -> String {
    suppressed(rest, &Settings::default())
}

#[test]
fn takes_a_comment_above_or_behind() {
    assert_data_eq!(
        all(r#"
metadata:
  name: kubevirt-hyperconverged
  annotations:
    # hcoplan: ignore[jsonpatch-present] no field for it
    kubevirt.kubevirt.io/jsonpatch: '[{"op": "add", "path": "/spec/imagePullPolicy", "value": "Always"}]'
    # hcoplan: ignore[jsonpatch-present, jsonpatch-remove-has-no-effect] until=2026-11-21 soon gone
    networkaddonsconfigs.kubevirt.io/jsonpatch: |
      [
        {"op": "remove", "path": "/spec/kubeMacPool"}
      ]
spec:
  liveMigration: {}  # hcoplan: ignore[hco-unknown-field] left for the old cluster
"#),
        str![[r#"
- jsonpatch-present: no field for it
- jsonpatch-present: soon gone
- jsonpatch-remove-has-no-effect: soon gone
- hco-unknown-field: left for the old cluster

"#]]
    );
}

#[test]
fn suppresses_errors_with_a_reason_only_and_never_rejections() {
    assert_data_eq!(
        all(r#"
metadata:
  name: kubevirt-hyperconverged
spec:
  liveMigration: {}  # hcoplan: ignore[hco-unknown-field]
  # hcoplan: ignore[hco-schema-violation] I know better
  evictionStrategy: never
"#),
        str![[r#"
6 hco-unknown-field: the API server drops the unknown field `spec.liveMigration`
6 suppression-invalid: the suppression of hco-unknown-field gives no reason, which an error needs
7 suppression-invalid: a rejection can't be suppressed (hco-schema-violation)
8 hco-schema-violation: the API server rejects the HyperConverged: spec.evictionStrategy: Unsupported value: "never": supported values: "None", "LiveMigrate", "LiveMigrateIfPossible", "External"

"#]]
    );
}

#[test]
fn reports_patterns_that_match_nothing() {
    assert_data_eq!(
        all(r#"
metadata:
  name: kubevirt-hyperconverged
  annotations:
    # hcoplan: ignore[jsonpatch-present] until=2026-11-20 over
    kubevirt.kubevirt.io/jsonpatch: '[{"op": "add", "path": "/spec/imagePullPolicy", "value": "Always"}]'
# hcoplan: ignore[jsonpatch-presen] typo
# hcoplan: ignore[jsonpatch-op-fails] until=2026-11-31 no such day
# hcoplan: ignore jsonpatch-present
# hcoplan: ignore[jsonpatch-op-fails, jsonpatch] nothing below
spec: {}
"#),
        str![[r#"
6 suppression-unused: the suppression of jsonpatch-present expired on 2026-11-20
7 jsonpatch-present: a jsonpatch annotation changes KubeVirt with 1 operation
8 suppression-invalid: there is no rule jsonpatch-presen
9 suppression-invalid: 2026-11-31 isn't a day
10 suppression-invalid: this comment isn't a suppression
11 suppression-unused: nothing here is suppressed by ignoring jsonpatch-op-fails, jsonpatch

"#]]
    );
}

#[test]
fn rules_that_do_not_run_leave_nothing_unused() {
    let text = r#"
metadata:
  name: kubevirt-hyperconverged
# hcoplan: ignore[jsonpatch-present, hco-unknown-field] nothing below
spec: {}
"#;
    let only = |rule| Settings { select: vec![selector(rule).unwrap()], ..Settings::default() };
    assert_data_eq!(suppressed(text, &only("status-in-git")), "");
    let partial = Settings { partial: true, ..Settings::default() };
    assert_data_eq!(suppressed(text, &partial), "");
    // A rejected manifest: jsonpatch-present needs a plan.
    let rejected = text.replace("spec: {}", "spec: {evictionStrategy: never}");
    let unused = all(&rejected).contains("suppression-unused");
    assert!(!unused, "{}", all(&rejected));
}

#[test]
fn an_annotation_is_about_its_object() {
    assert_data_eq!(
        all(r#"
metadata:
  name: kubevirt-hyperconverged
  annotations:
    hcoplan.dev/ignore: |
      jsonpatch-present: no field for it
      hco-unknown-field, jsonpatch-op-fails: until=2027-01-31 later
    kubevirt.kubevirt.io/jsonpatch: '[{"op": "add", "path": "/spec/imagePullPolicy", "value": "Always"}]'
spec:
  liveMigration: {}
"#),
        str![[r#"
- jsonpatch-present: no field for it
- hco-unknown-field: later

"#]]
    );
}
