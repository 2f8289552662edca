//! Cases that the recordings lack: collisions, pruning, and input of any shape.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::*;
use crate::boot_images::ARCHITECTURES_ANNOTATION;
use crate::release::Release;

fn bundle() -> SspBundle {
    let release = Release::known("1.17").unwrap();
    SspBundle::from_json(release.file("ssp.json").unwrap()).unwrap()
}

/// A template with its name, data source and architectures.
fn template(name: &str, data_source: &str, architectures: &str) -> Value {
    json!({
        "metadata": {"name": name, "annotations": {ARCHITECTURES_ANNOTATION: architectures}},
        "spec": {
            "schedule": "1 1 * * *",
            "managedDataSource": data_source,
            "template": {"spec": {"source": {"registry": {"url": "docker://x"}}}},
        },
    })
}

fn ssp(control_plane: &[&str], workload: &[&str], templates: &[Value]) -> Value {
    json!({
        "apiVersion": "ssp.kubevirt.io/v1beta3",
        "kind": "SSP",
        "metadata": {"name": "ssp", "namespace": "ns", "labels": {"app.kubernetes.io/version": "1"}},
        "spec": {
            "enableMultipleArchitectures": true,
            "cluster": {"controlPlaneArchitectures": control_plane, "workloadArchitectures": workload},
            "commonTemplates": {"namespace": "openshift", "dataImportCronTemplates": templates},
        },
    })
}

fn amd64(templates: &[Value]) -> SspStage {
    render(&ssp(&["amd64"], &["amd64"], templates), &bundle(), &Existing::default())
}

/// `name -> managedDataSource` of every cron.
fn crons(stage: &SspStage) -> Vec<(&str, &str)> {
    let crons = stage.objects.iter().filter(|r| r.object.id.kind == "DataImportCron");
    crons
        .map(|r| {
            let target = &r.object.body["spec"]["managedDataSource"];
            (r.object.id.name.as_str(), target.as_str().unwrap())
        })
        .collect()
}

fn data_source<'a>(stage: &'a SspStage, name: &str) -> Option<&'a Rendered> {
    stage.objects.iter().find(|r| r.object.id.kind == "DataSource" && r.object.id.name == name)
}

/// The target of a reference.
fn target_of<'a>(stage: &'a SspStage, name: &str) -> Option<&'a str> {
    let source = &data_source(stage, name)?.object.body["spec"]["source"];
    source["dataSource"]["name"].as_str()
}

fn origin(index: usize, name: &str, architecture: Option<&str>) -> ObjectOrigin {
    ObjectOrigin {
        template: Some(TemplateId { index, name: name.to_owned() }),
        bundle: None,
        architecture: architecture.map(str::to_owned),
    }
}

#[test]
fn default_may_have_no_image() {
    let templates = [template("f", "fedora", "arm64"), template("c", "centos-stream10", "arm64")];
    let stage = render(&ssp(&["amd64"], &["arm64"], &templates), &bundle(), &Existing::default());
    assert_eq!(crons(&stage), [("c-arm64", "centos-stream10-arm64"), ("f-arm64", "fedora-arm64")]);
    assert_eq!(target_of(&stage, "fedora"), Some("fedora-amd64"));
    let dangling = data_source(&stage, "fedora-amd64").unwrap();
    assert_eq!(dangling.object.body["spec"]["source"]["pvc"]["name"], "fedora-amd64");
    assert_eq!(dangling.origin.template, None);
    assert_eq!(target_of(&stage, "centos-stream10"), Some("centos-stream10-arm64"));
    let filled = data_source(&stage, "fedora-arm64").unwrap();
    assert_eq!(filled.object.body["metadata"]["labels"][CRON_LABEL], "f-arm64");
    assert_eq!(filled.origin.template.as_ref().unwrap().name, "f");
    assert_eq!(filled.origin.bundle.as_deref(), Some("fedora"));
}

#[test]
fn creates_only_the_cron_for_an_architecture_that_the_bundle_lacks() {
    let templates = [template("w", "win11", "arm64")];
    let stage = render(&ssp(&["amd64"], &["arm64"], &templates), &bundle(), &Existing::default());
    assert_eq!(crons(&stage), [("w-arm64", "win11-arm64")]);
    assert!(data_source(&stage, "win11-arm64").is_none());
    // And no second reference: the bundle's has the name.
    assert_eq!(target_of(&stage, "win11"), Some("win11-amd64"));
}

#[test]
fn last_template_for_a_data_source_wins() {
    let templates = [template("a", "mine", "amd64"), template("b", "mine", "amd64")];
    let stage = amd64(&templates);
    assert_eq!(crons(&stage), [("b-amd64", "mine-amd64")]);
    let displaced = Displaced {
        origin: origin(0, "a", Some("amd64")),
        by: Displacer::SameDataSource(origin(1, "b", Some("amd64"))),
    };
    assert_eq!(stage.displaced, [displaced]);
    // An architecture named twice isn't a collision.
    assert_eq!(amd64(&[template("a", "mine", "amd64,amd64")]).displaced, []);
}

#[test]
fn reference_displaces_the_cron_of_its_name() {
    let templates = [template("a", "mine", "amd64"), template("b", "mine", "")];
    let stage = amd64(&templates);
    assert_eq!(crons(&stage), [("a-amd64", "mine-amd64")]);
    assert_eq!(target_of(&stage, "mine"), Some("mine-amd64"));
    let displaced = Displaced { origin: origin(1, "b", None), by: Displacer::DataSource("mine".to_owned()) };
    assert_eq!(stage.displaced, [displaced]);
}

#[test]
fn creates_one_object_for_two_crons_of_one_name() {
    let templates = [template("f", "one", "amd64"), template("f-amd64", "two", "")];
    let stage = amd64(&templates);
    assert_eq!(crons(&stage), [("f-amd64", "two")]);
    let displaced =
        Displaced { origin: origin(0, "f", Some("amd64")), by: Displacer::SameName(origin(1, "f-amd64", None)) };
    assert_eq!(stage.displaced, [displaced]);
}

#[test]
fn namespace_moves_crons_but_not_data_sources() {
    let mut templates = [template("f", "fedora", "amd64"), template("m", "mine", "amd64")];
    for template in &mut templates {
        template["metadata"]["namespace"] = "images".into();
    }
    let stage = amd64(&templates);
    let namespaces = stage.objects.iter().filter(|r| r.object.id.kind == "DataImportCron");
    let namespaces: Vec<_> = namespaces.map(|r| r.object.id.namespace.as_deref()).collect();
    assert_eq!(namespaces, [Some("images"), Some("images")]);
    let fedora = &data_source(&stage, "fedora-amd64").unwrap().object;
    assert_eq!(fedora.id.namespace.as_deref(), Some("kubevirt-os-images"));
    assert!(fedora.body["spec"]["source"]["pvc"].is_object());
    assert_eq!(target_of(&stage, "mine"), Some("mine-amd64"));
}

#[test]
fn handles_a_name_that_ends_in_an_architecture() {
    let stage = amd64(&[template("f", "fedora-amd64", "amd64")]);
    assert_eq!(crons(&stage), [("f-amd64", "fedora-amd64-amd64")]);
    assert!(data_source(&stage, "fedora-amd64-amd64").is_none());
    let source = &data_source(&stage, "fedora-amd64").unwrap().object.body["spec"]["source"];
    assert!(source["pvc"].is_object(), "no reference: {source}");
}

#[test]
fn renders_without_architectures() {
    let templates = [template("f", "fedora", ""), template("w", "win10", "")];
    let stage = render(&ssp(&["arm64"], &["arm64"], &templates), &bundle(), &Existing::default());
    assert_eq!(crons(&stage), [("f", "fedora-arm64"), ("w", "win10")]);
    let only_unknown = [" ", ",", "x86_64", "AMD64"].map(|a| template("f", "fedora", a));
    for template in only_unknown {
        assert_eq!(crons(&amd64(&[template])), []);
    }
}

#[test]
fn first_template_decides_the_default() {
    let templates = [template("a", "mine", "arm64"), template("b", "mine", "amd64, arm64")];
    let stage = render(&ssp(&["amd64"], &["amd64", "arm64"], &templates), &bundle(), &Existing::default());
    assert_eq!(target_of(&stage, "mine"), Some("mine-arm64"));
    let expected = [("b-amd64", "mine-amd64"), ("b-arm64", "mine-arm64")];
    assert_eq!(crons(&stage), expected);
}

#[test]
fn asks_only_registries_for_an_architecture() {
    let mut pvc = template("f", "mine", "amd64");
    pvc["spec"]["template"]["spec"]["source"] = json!({"pvc": {"name": "x", "namespace": "y"}});
    let mut own = template("g", "other", "amd64");
    own["spec"]["template"]["spec"]["source"]["registry"]["platform"] = json!({"architecture": "s390x"});
    let stage = amd64(&[pvc, own]);
    let sources: Vec<&Value> =
        stage.objects.iter().filter_map(|r| r.object.body.pointer("/spec/template/spec/source")).collect();
    assert_eq!(sources[0], &json!({"pvc": {"name": "x", "namespace": "y"}}));
    assert_eq!(sources[1]["registry"]["platform"]["architecture"], "amd64");
}

#[test]
fn prunes_fields_that_the_crd_does_not_know() {
    let mut one = template("f", "mine", "");
    one["spec"]["serviceAccountName"] = "x".into();
    one["spec"]["template"]["spec"]["source"] = json!({"imageio": {"url": "x", "insecureSkipVerify": true}});
    one["metadata"]["finalizers"] = json!(["x"]);
    let stage = amd64(&[one]);
    let cron = &stage.objects.last().unwrap().object.body;
    assert_eq!(cron["spec"].get("serviceAccountName"), None);
    let imageio = &cron["spec"]["template"]["spec"]["source"]["imageio"];
    assert_eq!(imageio, &json!({"url": "x"}));
    assert_eq!(cron["metadata"].get("finalizers"), None);
}

#[test]
fn copies_app_labels_from_the_ssp() {
    let mut one = template("f", "mine", "");
    one["metadata"]["labels"] = json!({"app.kubernetes.io/name": "own", "mine": "1"});
    let mut ssp = ssp(&["amd64"], &["amd64"], &[one]);
    let labels = |ssp: &Value| {
        let stage = render(ssp, &bundle(), &Existing::default());
        stage.objects.last().unwrap().object.body["metadata"]["labels"].clone()
    };
    let mut expected = json!({
        "app.kubernetes.io/component": "templating",
        "app.kubernetes.io/managed-by": "ssp-operator",
        "app.kubernetes.io/name": "data-sources",
        "app.kubernetes.io/part-of": "",
        "app.kubernetes.io/version": "1",
        "mine": "1",
    });
    assert_eq!(labels(&ssp), expected);
    ssp["metadata"].as_object_mut().unwrap().remove("labels");
    for key in ["app.kubernetes.io/part-of", "app.kubernetes.io/version"] {
        expected.as_object_mut().unwrap().remove(key);
    }
    assert_eq!(labels(&ssp), expected);
}

#[test]
fn checks_the_ssp_as_its_webhook_does() {
    let message = |ssp: &Value| render(ssp, &bundle(), &Existing::default()).admission.message;
    let cluster = |control_plane: &[&str], workload: &[&str]| message(&ssp(control_plane, workload, &[]));
    let none =
        "cluster validation error: at least one architecture needs to be defined, if multi-architecture is enabled";
    assert_eq!(cluster(&[], &[]), none);
    let both = cluster(&["mips"], &["ppc64le"]);
    assert_eq!(both, "cluster validation error: invalid workload architecture: unknown architecture: ppc64le");
    let mut nameless = ssp(&["amd64"], &[], &[template("", "x", "")]);
    let expected = "dataImportCronTemplates validation error: missing name in DataImportCronTemplate";
    assert_eq!(message(&nameless), expected);
    nameless["spec"]["cluster"] = Value::Null;
    let expected = "cluster validation error: .spec.cluster needs to be non-nil, if multi-architecture is enabled";
    assert_eq!(message(&nameless), expected);
    assert_eq!(render(&nameless, &bundle(), &Existing::default()).objects, []);
}

/// Every leaf and branch of `value` replaced by each of `others`, one at a time.
fn replaced(value: &Value, others: &[Value], each: &mut dyn FnMut(Value)) {
    for other in others {
        each(other.clone());
    }
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                replaced(inner, others, &mut |new| {
                    let mut map = map.clone();
                    map.insert(key.clone(), new);
                    each(map.into());
                });
            }
        }
        Value::Array(items) => {
            for (index, inner) in items.iter().enumerate() {
                replaced(inner, others, &mut |new| {
                    let mut items = items.clone();
                    items[index] = new;
                    each(items.into());
                });
            }
        }
        _ => {}
    }
}

/// Every stage: a rejected one is empty and has a message. An accepted one has the bundle's constant objects, no
/// duplicate object, and each template for amd64 is imported or displaced.
#[track_caller]
fn assert_complete(ssp: &Value, stage: &SspStage, constants: usize) {
    let (admission, objects) = (&stage.admission, &stage.objects);
    assert_eq!(admission.accepted, admission.message.is_empty(), "{ssp}");
    if !admission.accepted {
        assert!(objects.is_empty() && stage.displaced.is_empty(), "{ssp}");
        return;
    }
    assert_eq!(objects.iter().filter(|r| r.origin == ObjectOrigin::default()).count(), constants, "{ssp}");
    let ids: BTreeSet<_> = objects.iter().map(|r| &r.object.id).collect();
    assert_eq!(ids.len(), objects.len(), "{ssp}");
    let crons = objects.iter().filter(|r| r.object.id.kind == "DataImportCron");
    let crons: Vec<_> = crons.collect();
    let displaced = stage.displaced.iter().map(|d| &d.origin);
    let origins = crons.iter().map(|r| &r.origin).chain(displaced);
    let reported: BTreeSet<_> = origins.filter_map(|o| o.template.as_ref()).map(|t| t.index).collect();
    let templates = &ssp["spec"]["commonTemplates"]["dataImportCronTemplates"];
    let templates = templates.as_array().map_or(&[][..], Vec::as_slice);
    for (index, template) in templates.iter().enumerate() {
        let architectures = &template["metadata"]["annotations"][ARCHITECTURES_ANNOTATION];
        if matches!(architectures.as_str(), None | Some("" | "amd64")) {
            assert!(reported.contains(&index), "{index} of {ssp}");
        }
    }
    for cron in &crons {
        let template = &templates[cron.origin.template.as_ref().expect("a template").index];
        let data_source = template["spec"]["managedDataSource"].as_str().unwrap_or_default();
        let target = cron.object.body["spec"]["managedDataSource"].as_str();
        assert!(target.unwrap_or_default().starts_with(data_source), "{target:?} of {ssp}");
    }
}

/// A value of each JSON type.
fn value_of_each_type() -> [Value; 6] {
    [Value::Null, json!(true), json!(1), json!("x"), json!([1]), json!({"x": 1})]
}

#[test]
fn renders_a_complete_stage_for_any_input() {
    let ssp = ssp(&["amd64"], &["amd64"], &[template("a", "b", "amd64"), template("c", "fedora", "")]);
    let others = value_of_each_type();
    let bundle = bundle();
    let constants = bundle.objects(&owner::of(&ssp)).count();
    let (mut accepted, mut rejected) = (0, 0);
    replaced(&ssp, &others, &mut |ssp| {
        let stage = render(&ssp, &bundle, &Existing::default());
        assert_complete(&ssp, &stage, constants);
        if stage.admission.accepted { accepted += 1 } else { rejected += 1 }
    });
    assert!(accepted > 100 && rejected > 5, "{accepted} and {rejected}");
}

#[test]
fn reports_templates_of_any_shape_as_deployed() {
    let others = value_of_each_type();
    let (mut rendered, mut failed) = (0, 0);
    let mut images = |common: &[Value], custom: &[Value]| {
        let images = crate::boot_images::GoldenImages {
            common,
            custom,
            import_common: true,
            namespace: Some("x"),
            schedule: None,
            multi_arch: true,
            workload_architectures: &["amd64".to_owned()],
        };
        let Ok(stage) = images.render() else {
            failed += 1;
            return;
        };
        rendered += 1;
        let names = |list: &[Value]| -> Vec<String> {
            list.iter().map(|t| t["metadata"]["name"].as_str().unwrap_or_default().to_owned()).collect()
        };
        let own = |deployed: bool| -> Vec<String> {
            let own = stage.templates.iter().filter(|t| !deployed || t.is_deployed());
            own.map(|t| t.name().to_owned()).collect()
        };
        let gauge = "kubevirt_hco_dataimportcrontemplate_with_architecture_annotation";
        let gauges = stage.gauges();
        let reported = gauges.get(gauge).and_then(Value::as_array).map_or(0, Vec::len);
        assert_eq!(names(&stage.status), own(false), "{custom:?}");
        assert_eq!(names(&stage.ssp_templates), own(true), "{custom:?}");
        assert_eq!(reported, stage.templates.len(), "{custom:?}");
    };
    let one = template("a", "b", "amd64");
    replaced(&one, &others, &mut |other| {
        images(std::slice::from_ref(&one), std::slice::from_ref(&other));
        images(std::slice::from_ref(&other), std::slice::from_ref(&one));
    });
    assert!(rendered > 50 && failed > 5, "{rendered} and {failed}");
}

/// Source: SSP `data-sources/reconcile.go`: `dataSourceAutoUpdateEnabled`, `handleDefaultDataSource`.
#[test]
fn passes_over_claims_that_come_after_their_data_sources() {
    let ssp = ssp(&["amd64"], &["amd64", "arm64"], &[template("a", "fedora", "amd64,arm64")]);
    let namespace = bundle().golden_images_namespace;
    let passing_over = |claim: &str, source: &str, target: &str, cron: &str| {
        let labels = if cron.is_empty() { json!({}) } else { json!({CRON_LABEL: cron}) };
        let source = Object::new(json!({"apiVersion": "cdi.kubevirt.io/v1beta1", "kind": "DataSource",
            "metadata": {"name": source, "namespace": namespace, "labels": labels},
            "spec": {"source": {"pvc": {"name": target, "namespace": namespace}}}}));
        let claims = BTreeSet::from([(namespace.clone(), claim.to_owned())]);
        let stage = render(&ssp, &bundle(), &Existing::new(&claims, [&source].into_iter(), &namespace));
        let id = ObjectId::of(
            &json!({"kind": "PersistentVolumeClaim", "metadata": {"name": claim, "namespace": namespace}}),
        );
        stage.passing_over(&id).map(str::to_owned)
    };
    let rows = [
        ("win11", "win11-amd64", "win11-amd64", "", Some("win11-amd64")),
        ("win11", "win11-amd64", "win11", "", None),
        ("win11", "other", "other", "", None),
        ("win11-arm64", "win11-arm64", "win11-arm64", "", None),
        ("fedora", "fedora-amd64", "fedora-amd64-123", "a-amd64", Some("fedora-amd64")),
        ("fedora-arm64", "fedora-arm64", "fedora-arm64-123", "a-arm64", Some("fedora-arm64")),
        ("fedora", "other", "other", "", None),
        ("own", "other", "other", "", None),
    ];
    for (claim, source, target, cron, expected) in rows {
        assert_eq!(passing_over(claim, source, target, cron).as_deref(), expected, "{claim} {source} {target} {cron}");
    }
}
