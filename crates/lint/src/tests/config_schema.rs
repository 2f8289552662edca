//! `hcoplan.yaml`: its schema has every rule's options, and its example is valid.

use hcoplan_diagnostics::finding::{Finding, OptionValue, Rule, RuleOption};
use hcoplan_diagnostics::source::{Location, Memory, SourceFile};
use hcoplan_repository::repo::{CONFIG_SCHEMA, Error, Options, Repo};
use hcoplan_yaml as yaml;
use serde_json::{Map, Value, json};

use crate::{Settings, page, rules};

/// The schema of a rule's entry: its options by name, with their types.
fn entry(rule: &Rule) -> Value {
    let option = |option: &RuleOption| {
        let (mut schema, default) = match option.default {
            OptionValue::Flag(on) => (json!({"type": "boolean"}), json!(on)),
            OptionValue::Number(n) => (json!({"type": "integer", "minimum": 0}), json!(n)),
            OptionValue::Names(names) => (json!({"type": "array", "items": {"type": "string"}}), json!(names)),
        };
        schema["description"] = json!(option.doc);
        schema["default"] = default;
        (option.name.to_owned(), schema)
    };
    let options: Map<String, Value> = rule.options.iter().map(option).collect();
    json!({"properties": options})
}

fn schema() -> Value {
    serde_json::from_str(CONFIG_SCHEMA).expect("JSON")
}

#[test]
fn the_schema_has_every_option() {
    let mut expected = Map::new();
    for rule in rules().iter().map(|r| r.rule) {
        if !rule.options.is_empty() {
            expected.insert(rule.name.to_owned(), entry(rule));
        }
    }
    let schema = schema();
    let found = schema.pointer("/properties/rules/properties");
    let found = found.cloned().unwrap_or_else(|| json!({}));
    // Each in addition to the common ones.
    let found: Map<String, Value> = found
        .as_object()
        .expect("an object")
        .iter()
        .map(|(name, entry)| (name.clone(), entry["allOf"][1].clone()))
        .collect();
    let expected_text = serde_json::to_string_pretty(&expected).expect("JSON");
    assert_eq!(
        found, expected,
        "schemas/config.schema.json, properties/rules/properties: each rule's entry is \
         {{allOf: [what holds for all rules, this]}}\n{expected_text}"
    );
}

#[test]
fn options_have_types() {
    static RULE: Rule = Rule {
        name: "a-rule",
        options: &[
            RuleOption { name: "strict", default: OptionValue::Flag(false), doc: "looks closer" },
            RuleOption { name: "most", default: OptionValue::Number(3), doc: "how many" },
            RuleOption { name: "names", default: OptionValue::Names(&["a"]), doc: "which" },
        ],
        ..Rule::BASE
    };
    let validator = jsonschema::validator_for(&entry(&RULE)).expect("a JSON Schema");
    for good in [json!({}), json!({"strict": true, "most": 0, "names": ["b"]})] {
        assert!(validator.is_valid(&good), "{good}");
    }
    for bad in [json!({"strict": "yes"}), json!({"most": -1}), json!({"names": "b"}), json!({"names": [1]})] {
        assert!(!validator.is_valid(&bad), "{bad}");
    }
}

#[test]
fn rejects_a_wrong_option_at_its_location() {
    let rule = "golden-image-namespace-missing";
    let cases = [
        (
            "namespaces: images",
            "`rules.golden-image-namespace-missing.namespaces` must be a list, not `images`",
            "images",
        ),
        ("namespace: [images]", "golden-image-namespace-missing has no option namespace", "[images]"),
    ];
    for (option, message, place) in cases {
        let wrong = configured(&format!("rules:\n  {rule}:\n    {option}\n"));
        let wrong = wrong.expect_err("an option that it hasn't");
        let said = (wrong[0].message.as_str(), wrong[0].location.as_ref().map(Location::text));
        assert_eq!((wrong.len(), said), (1, (message, Some(place))));
        assert!(wrong[0].help.is_some());
    }
}

#[test]
fn options_on_pages_are_valid() {
    let with_options = rules().iter().filter(|r| !r.rule.options.is_empty());
    for rule in with_options.map(|r| r.rule) {
        let page = page(rule);
        let (_, options) = page.split_once("## Options").expect("its section");
        let (_, example) = options.split_once("```yaml\n").expect("an example");
        let (example, _) = example.split_once("```").expect("its end");
        let settings = configured(example).expect(rule.name);
        let taken = rule.options.iter().filter(|o| settings.option(rule.name, o.name).is_some());
        assert_eq!(taken.count(), rule.options.len(), "{}: {settings:?}", rule.name);
    }
}

#[test]
fn the_example_is_valid() {
    let path = hcoplan_testing::root().join("examples/configuration/hcoplan.yaml");
    let text = std::fs::read_to_string(path).expect("the example");
    let file = SourceFile::new("hcoplan.yaml", text.clone());
    let document = yaml::parse(&file).documents.remove(0).root.to_json();
    let schema = schema();
    let validator = jsonschema::validator_for(&schema).expect("a JSON Schema");
    let errors: Vec<String> = validator.iter_errors(&document).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert_eq!(errors, [""; 0]);
    let fields = schema["properties"].as_object().expect("an object");
    for field in fields.keys() {
        assert!(document.get(field).is_some(), "it doesn't show {field}");
    }
    let hyperconverged = "apiVersion: hco.kubevirt.io/v1beta1\nkind: HyperConverged\nmetadata: \
                          {name: kubevirt-hyperconverged}\n";
    let nodes = "apiVersion: v1\nkind: NodeList\nitems: []\n";
    let tree: Memory = [
        ("hcoplan.yaml", text.as_str()),
        ("inventory.yaml", nodes),
        ("clusters/east/hyperconverged.yaml", hyperconverged),
        ("clusters/east/nodes.yaml", nodes),
        ("clusters/east/inventory.yaml", nodes),
        ("apps/east/machines.yaml", "kind: List\n"),
    ]
    .into_iter()
    .collect();
    let repo = Repo::from_tree(std::sync::Arc::new(tree), &Options::default()).expect("a repository");
    let settings = Settings::configured(repo.config()).expect("rules and days that exist");
    assert!(settings.pedantic && settings.suppressions.len() == 1);
}

/// The settings of a configuration text.
fn configured(text: &str) -> Result<Settings, Vec<Finding>> {
    let tree: Memory = [("hcoplan.yaml", text)].into_iter().collect();
    match Repo::from_tree(std::sync::Arc::new(tree), &Options::default()) {
        Ok(repo) => Settings::configured(repo.config()),
        Err(Error::Configuration(wrong)) => Err(wrong),
        Err(other) => panic!("{other}"),
    }
}
