//! Hovers over the example fleet, as one page: `testdata/lsp/hovers.md`.

use std::fmt::Write;

use super::*;

#[test]
fn reports_the_findings_of_the_example_fleet() {
    const EAST: &str = "clusters/prod-east/hyperconverged.yaml";
    const OSLO: &str = "clusters/edge-oslo/hyperconverged.yaml";
    const LAB: &str = "clusters/lab-multiarch/hyperconverged.yaml";
    const LABS_NODES: &str = "clusters/lab-multiarch/inventory.yaml";
    const OF_MIGRATIONS: [&str; 3] = [
        "**spec.liveMigrationConfig.parallelMigrationsPerCluster** · integer (int32)",
        "Default of HCO 1.17: `5`",
        "Because of it, in clusters/prod-east:\n\n- KubeVirt \
         `spec.configuration.migrations.parallelMigrationsPerCluster`: `10`, not `5`",
    ];
    // Texts that each hover contains; none if there is no hover.
    let cases: [(&str, &str, &[&str]); 14] = [
        // The key and the value have the same hover.
        (EAST, "parallelMigrationsPerCluster", &OF_MIGRATIONS),
        (EAST, "10\n", &OF_MIGRATIONS),
        // A field without effect.
        (
            EAST,
            "evictionStrategy",
            &[
                "one of None, LiveMigrate, LiveMigrateIfPossible, External",
                "In clusters/prod-east every object would be the same without it",
            ],
        ),
        // Objects with their fields; long lists are shortened.
        (
            EAST,
            "higherWorkloadDensity",
            &[
                "- spec.higherWorkloadDensity.memoryOvercommitPercentage ",
                "memoryOvercommit`: `120`, not `100`",
                "- DaemonSet `wasp-agent` is there",
            ],
        ),
        (
            EAST,
            "infra:",
            &[
                "**spec.infra** · object",
                "- and 24 more",
                "- CDI `spec.infra.nodeSelector`: `{\"node-role.kubernetes.io/infra\":\"\"}`, not nothing",
            ],
        ),
        (
            EAST,
            "dataImportCronTemplates",
            &["array of object", "- DataImportCron `rhel9-hardened-image-cron` is there"],
        ),
        // A patch and an operation.
        (
            EAST,
            "\"/spec/configuration/migrations",
            &[
                "**add /spec/configuration/migrations/matchSELinuxLevelOnMigration** on KubeVirt, operation 1",
                "KubeVirt has\n\n- `spec.configuration.migrations.matchSELinuxLevelOnMigration`: `true`, not",
            ],
        ),
        (
            EAST,
            "kubevirt.kubevirt.io/jsonpatch",
            &[
                "patches the KubeVirt that HCO renders",
                "- `add /spec/configuration/migrations/matchSELinuxLevelOnMigration`",
            ],
        ),
        (EAST, "kind: H", &[]),
        (OSLO, "64Mi", &["string, matching ^", "`\"64Mi\"`, not nothing"]),
        // An item of a list.
        (
            OSLO,
            "pciDeviceSelector",
            &[
                "pciHostDevices\\[0\\].pciDeviceSelector** · string, required",
                "pciHostDevices[0].pciVendorSelector`: `\"10DE:1EB8\"`",
            ],
        ),
        // A feature gate, by its name.
        (
            LAB,
            "enableMultiArchBootImageImport",
            &[
                "the gate is alpha (off unless switched on)",
                "- SSP `spec.enableMultipleArchitectures`: `true`, not `false`",
            ],
        ),
        // The inventory.
        (LABS_NODES, "release", &["the release that the cluster runs", "For example `\"1.16\"`"]),
        (LABS_NODES, "architecture", &["spec.nodePools\\[0\\].architecture", "One of `\"amd64\"`, "]),
    ];
    let root = package().join("examples/fleet");
    let mut editor = Editor::plain(&root);
    let mut page = String::new();
    for (path, needle, has) in cases {
        let text = editor.open_file(path);
        let at = text.find(needle).expect("there") + usize::from(needle.starts_with('"'));
        let hover = editor.hover(path, &text, at);
        let _ = writeln!(page, "<!-- {path}: {} -->\n", needle.trim());
        let said = hover["contents"]["value"].as_str();
        assert_eq!(said.is_none(), has.is_empty(), "{path}: {needle}");
        match said {
            Some(said) => {
                for part in has {
                    assert!(said.contains(part), "{needle}: {part:?} is not in\n{said}");
                }
                let range = &hover["range"];
                let lines = Lines::new(&text, Encoding::Utf16);
                let place = |key: &str| {
                    let position = serde_json::from_value(range[key].clone());
                    lines.offset(position.expect("a position"))
                };
                let meant = &text[place("start")..place("end")];
                assert!(meant.contains(needle.trim().trim_end_matches(':')), "{needle}: {meant}");
                let _ = writeln!(page, "> {}\n\n{said}", meant.replace('\n', "\n> "));
            }
            None => page.push_str("nothing\n\n"),
        }
    }
    let expected = package().join("testdata/lsp/hovers.md");
    snapbox::assert_data_eq!(page, snapbox::Data::read_from(&expected, None).raw());
}

const PATCHED: &str = "\
apiVersion: hco.kubevirt.io/v1beta1
kind: HyperConverged
metadata:
  name: kubevirt-hyperconverged
  namespace: kubevirt-hyperconverged
  annotations:
    hcoplan.dev/ignore: jsonpatch-present
    kubevirt.kubevirt.io/jsonpatch: |-
      [{\"op\": \"remove\", \"path\": \"/spec/workloadUpdateStrategy/batchEvictionSize\"},
       {\"op\": \"replace\", \"path\": \"/spec/configuration/evictionStrategy\", \"value\": \"None\"}]
    containerizeddataimporter.kubevirt.io/jsonpatch: '[{\"op\": \"remove\", \"path\": \"/spec/x\"}]'
spec: # hcoplan: ignore[null-section] x
  featureGates:
    nonRoot: true
    nothingOfTheKind: true
  noSuchField: 1
  liveMigrationConfig: &a
    completionTimeoutPerGiB: 150
";

#[test]
fn reports_unknown_operations_rules_and_fields() {
    let (_temp, root) = workspace(&[("hyperconverged.yaml", PATCHED), ("inventory.yaml", INVENTORY)]);
    let mut editor = Editor::plain(&root);
    editor.open("hyperconverged.yaml", PATCHED);
    let cases: &[(&str, &[&str])] = &[
        ("jsonpatch-present", &["**jsonpatch-present** · ", "/docs/rules/jsonpatch-present.md"]),
        ("null-section", &["**null-section** · warning"]),
        ("batchEvictionSize", &["operation 1", "it changes nothing", "RFC 6902", "jsonpatch-remove-has-no-effect"]),
        ("\"replace\"", &["operation 2", "`spec.configuration.evictionStrategy`: `\"None\"`, not "]),
        ("/spec/x", &["applies none of it: "]),
        ("nonRoot", &["HCO ignores it", "the same without it"]),
        ("nothingOfTheKind", &["has no such field"]),
        ("noSuchField", &["**spec.noSuchField**", "the API server drops it"]),
        ("150", &["integer (int64)", "Default of HCO 1.17: `150`", "the same without it"]),
    ];
    for (needle, expected) in cases {
        let at = PATCHED.find(needle).expect("there") + 1;
        let hover = editor.hover("hyperconverged.yaml", PATCHED, at);
        let text = hover["contents"]["value"].as_str().unwrap_or_default();
        for part in *expected {
            assert!(text.contains(part), "{needle}: {part:?} is not in\n{text}");
        }
    }
    for needle in ["apiVersion", "annotations:", "\nspec"] {
        let at = PATCHED.find(needle).expect("there");
        let hover = editor.hover("hyperconverged.yaml", PATCHED, at);
        assert_eq!(hover, Value::Null, "{needle}");
    }
}

#[test]
fn without_a_release_the_newest_is_described() {
    let (_temp, root) = workspace(&[]);
    let mut editor = Editor::plain(&root);
    editor.open("hyperconverged.yaml", HYPERCONVERGED);
    let at = HYPERCONVERGED.find("localStorage").expect("there");
    let hover = editor.hover("hyperconverged.yaml", HYPERCONVERGED, at);
    let text = hover["contents"]["value"].as_str().expect("a text");
    assert!(text.contains("nothing says which release the cluster runs"), "{text}");
    let config = "lint:\n  ignore: [null-section]\n";
    editor.open("hcoplan.yaml", config);
    let hover = editor.hover("hcoplan.yaml", config, config.find("section").expect("there"));
    assert!(hover["contents"]["value"].as_str().is_some_and(|t| t.starts_with("**null-sec")));
    let hover = editor.hover("hcoplan.yaml", config, config.find("ignore").expect("there"));
    assert!(hover["contents"]["value"].as_str().is_some_and(|t| t.starts_with("**lint.ignore**")));
}
