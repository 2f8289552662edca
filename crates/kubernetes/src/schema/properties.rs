//! Properties of every object and every schema.

use crate::prelude::*;
use proptest::prelude::*;

use super::golden::schemas;
use super::{Schema, Violation, generate};

fn admit(schema: &Schema, mut value: Value) -> Value {
    schema.prepare(&mut value);
    value
}

fn chosen(all: &'static [(String, Schema)], choice: usize) -> &'static Schema {
    &all[choice % all.len()].1
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn admitting_twice_changes_nothing(seed: u64, odd: bool, choice: usize) {
        let all = schemas(hcoplan_testing::recordings().as_deref());
        let schema = chosen(all, choice);
        let mut once = admit(schema, generate::object(schema, seed, odd));
        let twice = admit(schema, once.clone());
        prop_assert_eq!(&once, &twice);
        prop_assert_eq!(schema.prune(&mut once), Vec::new());
    }

    #[test]
    fn remaining_findings_are_known(seed: u64, choice: usize) {
        let all = schemas(hcoplan_testing::recordings().as_deref());
        let schema = chosen(all, choice);
        let object = admit(schema, generate::object(schema, seed, true));
        prop_assert_eq!(unknown(schema, &object), None);
    }

    #[test]
    fn accepts_prepared_values(seed: u64, odd: bool, choice: usize) {
        let all = schemas(hcoplan_testing::recordings().as_deref());
        let schema = chosen(all, choice);
        let object = generate::object(schema, seed, odd);
        if schema.validate(&object).is_empty() {
            prop_assert_eq!(schema.rejections_when_prepared(&object), Vec::new());
        }
    }

    #[test]
    fn an_update_with_the_same_object_rejects_no_more_than_its_create(seed: u64, choice: usize) {
        let all = schemas(hcoplan_testing::recordings().as_deref());
        let schema = chosen(all, choice);
        let object = generate::object(schema, seed, true);
        let new = schema.validate(&object);
        let update = schema.validate_update(&object, &object);
        // Rules are evaluated more often: what was invalid before doesn't keep the server from it.
        for violation in update.schema.iter().chain(&update.lists) {
            prop_assert!(new.iter().any(|known| known == violation), "{}", violation.message);
        }
    }

    #[test]
    fn rejections_have_an_existing_location(seed: u64, choice: usize) {
        let all = schemas(hcoplan_testing::recordings().as_deref());
        let schema = chosen(all, choice);
        let object = generate::object(schema, seed, true);
        for violation in schema.validate(&object).iter() {
            let parent = violation.path.parent();
            prop_assert!(parent.get(&object).is_some(), "{}", violation.message);
        }
    }
}

/// The first field that the schema has no information about, looked up the slow way.
fn unknown(schema: &Schema, object: &Value) -> Option<String> {
    let mut todo = vec![Path::root()];
    while let Some(path) = todo.pop() {
        if schema.field(&path).is_none() {
            // Values under free keys are kept as they are.
            if schema.takes_any_key(&path.parent()) {
                continue;
            }
            let top = path.0.len() <= 2 && object["metadata"].is_object();
            if !(top && path.to_string().starts_with("metadata")) {
                return Some(path.to_string());
            }
        }
        match path.get(object) {
            Some(Value::Object(map)) => todo.extend(map.keys().map(|k| path.key(k))),
            // A list in the place of something else keeps its scalars.
            Some(Value::Array(items)) if schema.list_kind(&path).is_some() => {
                todo.extend((0..items.len()).map(|i| path.index(i)));
            }
            _ => {}
        }
    }
    None
}

/// The same schemas for a JSON Schema validator, which knows keywords and nothing of Kubernetes:
/// null has to be allowed by name, and a list where a date-time is wanted, which the server
/// compares by format alone.
fn oracles() -> &'static [jsonschema::Validator] {
    static ALL: OnceLock<Vec<jsonschema::Validator>> = OnceLock::new();
    ALL.get_or_init(|| {
        let texts = super::golden::schema_texts(hcoplan_testing::recordings().as_deref());
        let compile = |(_, text): (String, String)| {
            let file: Value = serde_json::from_str(&text).expect("JSON");
            let schema = with_nulls(&file["openAPIV3Schema"]);
            jsonschema::draft202012::new(&schema).expect("a good schema")
        };
        texts.into_iter().map(compile).collect()
    })
}

fn with_nulls(schema: &Value) -> Value {
    let Value::Object(map) = schema else {
        return schema.clone();
    };
    let mut out = Map::new();
    for (key, value) in map {
        let value = match (key.as_str(), value) {
            ("properties", Value::Object(named)) => named.iter().map(|(n, s)| (n.clone(), with_nulls(s))).collect(),
            ("items" | "additionalProperties", s) => with_nulls(s),
            ("default", _) => continue,
            ("type", Value::String(_)) if schema["format"] == "date-time" => {
                serde_json::json!(["string", "array"])
            }
            (_, v) => v.clone(),
        };
        out.insert(key.clone(), value);
    }
    let out = Value::Object(out);
    if schema["nullable"] == true && schema.get("enum").is_none() {
        serde_json::json!({"anyOf": [{"type": "null"}, out]})
    } else {
        out
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn keywords_agree_with_json_schema(seed: u64, odd: bool, choice: usize) {
        let all = schemas(hcoplan_testing::recordings().as_deref());
        let index = choice % all.len();
        let schema = &all[index].1;
        let object = generate::object(schema, seed, odd);
        let found = schema.validate(&object);
        // JSON Schema does not examine the formats of strings.
        let format_only = |v: &Violation| {
            let text = v.path.get(&object).and_then(Value::as_str);
            text.is_some() && v.message.contains("of type date-time")
        };
        let rejected = found.schema.iter().any(|v| !format_only(v));
        let theirs: Vec<String> = oracles()[index]
            .iter_errors(&object)
            .map(|e| format!("{}: {e}", e.instance_path()))
            .collect();
        prop_assert_eq!(!rejected, theirs.is_empty(), "{:?}\nagainst {:?}", found.schema, theirs);
    }
}
