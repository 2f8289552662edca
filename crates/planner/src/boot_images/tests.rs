//! HCO's stage, rule by rule.

use serde_json::{Value, json};

use super::*;

fn template(name: &str, metadata: Value, url: &str) -> Value {
    let mut template = json!({
        "metadata": metadata,
        "spec": {
            "schedule": "1 1 * * *",
            "managedDataSource": name,
            "template": {"spec": {"source": {"registry": {"url": url}}}},
        },
    });
    template["metadata"]["name"] = name.into();
    template
}

fn common() -> Vec<Value> {
    let annotations = json!({"annotations": {ARCHITECTURES_ANNOTATION: "amd64,arm64,s390x"}});
    vec![template("fedora", annotations, "docker://fedora"), template("debian", json!({}), "docker://debian")]
}

fn images<'a>(common: &'a [Value], custom: &'a [Value], workloads: &'a [String]) -> GoldenImages<'a> {
    GoldenImages {
        common,
        custom,
        import_common: true,
        namespace: None,
        schedule: Some("42 3/12 * * *"),
        multi_arch: true,
        workload_architectures: workloads,
    }
}

fn architectures(custom: Value, workloads: &[&str]) -> Option<String> {
    let workloads: Vec<String> = workloads.iter().map(|w| (*w).to_owned()).collect();
    let name = custom["metadata"]["name"].as_str().unwrap().to_owned();
    let (common, custom) = (common(), [custom]);
    let stage = images(&common, &custom, &workloads).render().unwrap();
    let template = stage.templates.iter().find(|t| t.name() == name).unwrap();
    template.architectures().map(str::to_owned)
}

fn annotated(name: &str, value: &str, url: &str) -> Value {
    template(name, json!({"annotations": {ARCHITECTURES_ANNOTATION: value}}), url)
}

#[test]
fn filters_architectures_without_trimming() {
    let own = |value| architectures(annotated("mine", value, "docker://x"), &["amd64", "arm64"]);
    assert_eq!(own("s390x,arm64,amd64").unwrap(), "arm64,amd64");
    assert_eq!(own("amd64, arm64").unwrap(), "amd64");
    assert_eq!(own("amd64,amd64,").unwrap(), "amd64,amd64");
    assert_eq!(own("AMD64").unwrap(), "");
}

#[test]
fn architectures_belong_to_the_registry_source() {
    let all = ["amd64", "arm64", "s390x"];
    let same = annotated("fedora", "arm64", "docker://fedora");
    assert_eq!(architectures(same, &all).unwrap(), "amd64,arm64,s390x");
    let other = annotated("fedora", "arm64", "docker://other");
    assert_eq!(architectures(other, &all).unwrap(), "arm64");
    let without_annotation = template("fedora", json!({}), "docker://other");
    assert_eq!(architectures(without_annotation, &all), None);
    // The common one has none, so the same image has none either.
    let same_image = annotated("debian", "arm64", "docker://debian");
    assert_eq!(architectures(same_image, &all), None);
}

#[test]
fn reports_an_image_without_matching_node_only_in_status() {
    let custom = [annotated("mine", "s390x", "docker://x")];
    let workloads = ["amd64".to_owned(), "arm64".to_owned()];
    let common = common();
    let stage = images(&common, &custom, &workloads).render().unwrap();
    let names = |list: &[Value]| -> Vec<String> {
        list.iter().map(|t| t["metadata"]["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&stage.ssp_templates), ["debian", "fedora"]);
    assert_eq!(names(&stage.status), ["debian", "fedora", "mine"]);
    let status = &stage.status[2]["status"];
    assert_eq!(status["originalSupportedArchitectures"], "s390x");
    assert_eq!(status["conditions"][0]["reason"], "UnsupportedArchitectures");
    let gauges = stage.gauges();
    let values = |name: &str| -> Vec<u64> {
        let entries = gauges[name].as_array().unwrap();
        entries.iter().map(|e| e["value"].as_u64().unwrap()).collect()
    };
    let prefix = "kubevirt_hco_dataimportcrontemplate";
    let annotation = format!("{prefix}_with_architecture_annotation");
    assert_eq!(values(&annotation), [0, 1, 1]);
    let supported = format!("{prefix}_with_supported_architectures");
    assert_eq!(values(&supported), [1, 0]);
}

#[test]
fn webhook_renders_without_nodes_and_schedule() {
    let common = common();
    let mut webhook = images(&common, &[], &[]);
    webhook.schedule = None;
    let list = webhook.render().unwrap().ssp_templates;
    assert_eq!(list.len(), 1);
    assert_eq!(list[0]["spec"]["schedule"], "1 1 * * *");
}

#[test]
fn customised_template_replaces_spec_and_namespace() {
    let mut custom = template("debian", json!({"labels": {"a": "b"}}), "docker://x");
    custom["spec"]["schedule"] = "".into();
    let (common, custom) = (common(), [custom]);
    let mut images = images(&common, &custom, &[]);
    images.namespace = Some("images");
    images.multi_arch = false;
    let stage = images.render().unwrap();
    let [debian, fedora] = &stage.ssp_templates[..] else { panic!("{stage:?}") };
    assert_eq!(fedora["metadata"]["namespace"], "images");
    assert_eq!(fedora["metadata"]["annotations"].get(ARCHITECTURES_ANNOTATION), None);
    assert_eq!(debian["metadata"].get("namespace"), None);
    assert_eq!(debian["metadata"].get("labels"), None);
    assert_eq!(debian["spec"]["schedule"], "42 3/12 * * *");
    assert_eq!(debian["spec"]["template"]["status"], json!({}));
    assert_eq!(stage.templates[0].source, TemplateSource::Customised { index: 0 });
}

#[test]
fn never_renders_a_common_name_as_custom() {
    let custom = [template("fedora", json!({}), "x"), template("mine", json!({}), "x")];
    let common = common();
    let mut images = images(&common, &custom, &[]);
    images.import_common = false;
    let stage = images.render().unwrap();
    assert_eq!(stage.templates.len(), 1);
    assert_eq!(stage.templates[0].source, TemplateSource::Custom { index: 1 });
}

#[test]
fn disabled_template_needs_no_spec() {
    let off = |v: &str| json!({"metadata": {"name": "fedora", "annotations": {ENABLE_ANNOTATION: v}}});
    let common = common();
    let render = |v: &str| images(&common, &[off(v)], &[]).render();
    assert_eq!(render("false").unwrap().templates.len(), 1);
    assert_eq!(render("no").unwrap().templates.len(), 1);
    assert!(matches!(render("TRUE"), Err(TemplateError::MissingSource { index: 0, .. })));
}

#[test]
fn reports_objects_that_the_operator_cannot_render() {
    let twice = [template("a", json!({}), "x"), template("a", json!({}), "y")];
    let common = common();
    let error = images(&common, &twice, &[]).render().unwrap_err();
    assert_eq!(error.to_string(), "a DataImportCronTable is already defined");
    let mut custom = [template("fedora", json!({}), "x")];
    custom[0]["spec"]["template"]["spec"] = json!({"sourceRef": {"name": "x"}});
    let error = images(&common, &custom, &[]).render().unwrap_err();
    let name = "fedora".to_owned();
    assert_eq!(error, TemplateError::MissingSource { name, index: 0 });
}
