//! Every documented name exists in a release, and every field is documented.

use std::sync::Arc;

use hcoplan_planner::NAMES;
use hcoplan_planner::release::Release;
use hcoplan_yaml::Path;

use super::*;

fn releases() -> Vec<Arc<Release>> {
    Release::known_names().filter_map(Release::known).collect()
}

#[test]
fn every_field_and_each_of_its_allowed_values_is_described() {
    let mut wrong = Vec::new();
    for release in releases() {
        for name in release.schema_names() {
            let schema = release.schema(name).expect("listed");
            let rows = release.fields().iter().filter(|f| f.api_version == schema.version() && !f.ignored);
            let rows = rows.filter(|_| schema.kind() == "HyperConverged").map(|f| f.path.replace("[]", ""));
            let fields = schema.all_fields().into_iter().map(|p| p.to_string());
            let known: Vec<String> = rows.chain(fields).collect();
            for field in known {
                let path = resolve(schema, &field).expect("a field");
                let doc = FieldDoc::of(&release, schema, &path).expect("a field");
                let is_row = release.fields().iter().any(|f| f.api_version == schema.version() && f.path == field);
                if doc.purpose.is_none() && schema.kind() == "HyperConverged" && is_row {
                    wrong.push(format!("{field} of {name}"));
                }
                let info = schema.field(&path).expect("a field");
                let values = info.allowed.iter().filter_map(|v| v.as_str()).filter(|v| !v.is_empty());
                let values = values.filter(|v| doc.of_value(v).is_none());
                wrong.extend(values.map(|value| format!("{field} of {name}: {value}")));
            }
        }
    }
    wrong.sort();
    wrong.dedup();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_described_name_exists_in_a_release() {
    let releases = releases();
    for (name, field) in &TEXTS.fields {
        let (kind, path) = name.split_once('.').expect("a kind and a path");
        let found = releases.iter().any(|release| {
            let schemas = release.schema_names().filter_map(|n| release.schema(n));
            let mut schemas = schemas.filter(|s| kind == "*" || s.kind() == kind);
            schemas.any(|s| resolve(s, path).is_ok())
        });
        assert!(found && !field.text.is_empty(), "{name}");
    }
    for gate in TEXTS.gates.keys() {
        assert!(gates().contains(gate), "{gate}");
    }
    for name in [&NAMES["annotationsOfHyperConverged"][..], &NAMES["annotationsOfTemplates"]].concat() {
        assert!(Term::named(name).is_some_and(|t| t.kind == TermKind::Annotation), "{name}");
    }
    let mut names: Vec<String> = terms().iter().flat_map(Term::names).map(plain).collect();
    let all = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), all, "two terms have the same name");
}

#[test]
fn names_the_release_that_introduces_a_kind() {
    let releases = releases();
    for kind in terms_of(TermKind::Kind) {
        let has = |release: &&Arc<Release>| {
            let mut schemas = release.schema_names().filter_map(|n| release.schema(n));
            schemas.any(|s| s.kind() == kind.name)
        };
        let first = releases.iter().find(has).map(|r| r.name());
        let since = first.filter(|name| Some(*name) != releases.first().map(|r| r.name()));
        assert!(first.is_none() || kind.since.as_deref() == since, "{}: {since:?}", kind.name);
    }
}

#[test]
fn finds_a_field_by_short_and_full_paths() {
    let release = Release::known("1.18").expect("known");
    let schema = release.hyperconverged_schema("v1beta1").expect("served");
    for (written, found) in [
        (
            "spec.permittedHostDevices.pciHostDevices[0].pciDeviceSelector",
            "spec.permittedHostDevices.pciHostDevices[0].pciDeviceSelector",
        ),
        ("spec.dataImportCronTemplates[name=fedora].spec.schedule", "spec.dataImportCronTemplates[0].spec.schedule"),
        ("spec.dataImportCronTemplates[].spec.schedule", "spec.dataImportCronTemplates[0].spec.schedule"),
        ("/spec/dataImportCronTemplates/0/spec/schedule", "spec.dataImportCronTemplates[0].spec.schedule"),
        (
            "spec.infra.nodePlacement.nodeSelector[\"kubernetes.io/arch\"]",
            "spec.infra.nodePlacement.nodeSelector[\"kubernetes.io/arch\"]",
        ),
        (
            "spec.infra.nodePlacement.nodeSelector.kubernetes.io/arch",
            "spec.infra.nodePlacement.nodeSelector.kubernetes",
        ),
    ] {
        let path = resolve(schema, written).unwrap_or_else(|meant| panic!("{written}: {meant:?}"));
        assert_eq!(path.to_string(), found, "{written}");
    }
    assert_eq!(
        resolve(schema, "spec.liveMigrationConfg.network"),
        Err(Some("HyperConverged.spec.liveMigrationConfig.network".to_owned()))
    );
    assert!(resolve(schema, "spec.]").is_err() && resolve(schema, "spec.a[").is_err());
}

#[test]
fn names_the_later_release_that_ignores_a_field() {
    let release = Release::known("1.16").expect("known");
    let schema = release.hyperconverged_schema("v1beta1").expect("served");
    let doc = FieldDoc::of(&release, schema, &Path::dotted("spec.obsoleteCPUs.minCPUModel")).expect("a field");
    assert!(doc.lines().any(|line| line.contains("ignored from 1.17 on")), "{doc:?}");
}
