use super::*;

fn migrate(release: &str, text: &str) -> Result<Migrated, NotMigrated> {
    let file = SourceFile::new("hco.yaml", text);
    let document = parse(&file).documents.remove(0);
    let release = Release::known(release).expect("a release");
    to_v1(&release, &Inventory::default(), &document)
}

const HEAD: &str = "# Head.
apiVersion: \"hco.kubevirt.io/v1beta1\" # version
kind: HyperConverged
metadata:
  name: kubevirt-hyperconverged
  namespace: kubevirt-hyperconverged
";

#[test]
fn fields_move_with_their_lines() {
    let spec = "spec: # the spec
  # Where the infrastructure goes.
  infra: # dissolves
    # Above the placement.
    nodePlacement: # behind it
      nodeSelector:
        a: 'b' # quoted
  defaultCPUModel: Haswell # old machines

  virtualMachineOptions:
    disableFreePageReporting: true
  featureGates:
    # Wanted.
    downwardMetrics: true # yes
    # Not wanted.
    alignCPUs: false # no
  liveMigrationConfig:
      parallelMigrationsPerCluster: 7
      # Deeper than usual.
  workloads:
    nodePlacement:
      tolerations:
      - key: x
        operator: Exists
  # The last word.
# After everything.
";
    let migrated = migrate("1.19", &format!("{HEAD}{spec}")).expect("migrates");
    let expected = "# Head.
apiVersion: \"hco.kubevirt.io/v1\" # version
kind: HyperConverged
metadata:
  name: kubevirt-hyperconverged
  namespace: kubevirt-hyperconverged
spec: # the spec
  # Not wanted.
  # no
  deployment:
    nodePlacements:
      # Where the infrastructure goes.
      # dissolves
      # Above the placement.
      infra: # behind it
        nodeSelector:
          a: 'b' # quoted
      workload:
        tolerations:
        - key: x
          operator: Exists

  virtualization:
    virtualMachineOptions:
      disableFreePageReporting: true
      defaultCPUModel: Haswell # old machines
    liveMigrationConfig:
        parallelMigrationsPerCluster: 7
        # Deeper than usual.
  featureGates:
  # Wanted.
  - name: downwardMetrics # yes
    state: Enabled
  # The last word.
# After everything.
";
    assert_eq!(migrated.text, expected);
}

#[test]
fn rejects_moves_that_are_impossible() {
    let migrate = |release, spec: &str| migrate(release, &format!("{HEAD}{spec}"));
    assert_eq!(migrate("1.17", "spec: {}\n").map(|m| m.text), Err(NotMigrated::NotServed("HCO 1.17".into())));
    assert_eq!(
        migrate("1.19", "spec: {certConfig: 3}\n").map(|m| m.text).map_err(|e| matches!(e, NotMigrated::Rejected(_))),
        Err(true)
    );
    // On one line: rewritten, if that loses no comment.
    let flow = migrate("1.19", "spec: {defaultCPUModel: Haswell}\n").expect("migrates");
    let moved = "spec:\n  virtualization:\n    virtualMachineOptions:\n      defaultCPUModel: Haswell\n";
    assert!(flow.text.ends_with(moved), "{}", flow.text);
    let comment = "spec: {\n  defaultCPUModel: Haswell # old\n}\n";
    assert!(matches!(migrate("1.19", comment).map(|m| m.text), Err(NotMigrated::Text(_))));
}

#[test]
fn keeps_values_that_v1beta1_does_not_know() {
    let text = format!("{HEAD}spec:\n  cpuModel: Haswell\n");
    let unknown = NotMigrated::Unknown("spec.cpuModel".to_owned());
    assert_eq!(migrate("1.19", &text).map(|m| m.text), Err(unknown));
    // A field that v1beta1 knows and HCO ignores is dropped, and told.
    let text = format!("{HEAD}spec:\n  localStorageClassName: fast\n");
    let dropped = migrate("1.19", &text).map(|m| m.dropped);
    assert_eq!(dropped, Ok(vec!["spec.localStorageClassName".to_owned()]));
}
