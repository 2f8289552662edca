//! `plan` compares the objects of each kind that a table of the rules lists.

use hcoplan_explain::diff::is_compared;
use serde_json::Value;

#[test]
fn each_listed_kind_is_compared() {
    let tables: Value = serde_json::from_str(hcoplan_schemas::LINT).expect("valid");
    let rows = |table: &str| tables[table].as_array().expect("a list").clone();
    let mut kinds: Vec<(String, Value)> = Vec::new();
    for table in ["mirrorKinds", "podKinds", "classMakers"] {
        // A row is a kind, or begins with it.
        kinds.extend(rows(table).into_iter().map(|row| (String::new(), row.get(0).unwrap_or(&row).clone())));
    }
    let fixed = rows("fixedFields").into_iter();
    kinds.extend(fixed.map(|row| (row["group"].as_str().expect("a group").to_owned(), row["kind"].clone())));
    for (group, kind) in kinds {
        let kind = kind.as_str().expect("a kind");
        // What operators of KubeVirt read is compared by its group.
        assert!(is_compared(&group, kind) || kind == "HostPathProvisioner", "{group} {kind}");
    }
}
