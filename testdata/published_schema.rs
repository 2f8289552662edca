//! Validates a printed document by its published schema.

use serde_json::Value;

fn schema(name: &str) -> Value {
    let schema = hcoplan_schemas::document(name).expect("a schema of this name");
    serde_json::from_str(schema).expect("JSON")
}

/// The errors of a document, a sentence each.
pub(crate) fn errors(name: &str, document: &Value) -> Vec<String> {
    // Schemas referenced by others.
    let mut registry = jsonschema::Registry::new();
    for name in ["diff", "findings"] {
        let schema = schema(name);
        let id = schema["$id"].as_str().expect("an id").to_owned();
        registry = registry.add(id, schema).expect("a schema");
    }
    let registry = registry.prepare().expect("schemas");
    let validator = jsonschema::options().with_registry(&registry).build(&schema(name)).expect("a schema");
    let errors = validator.iter_errors(document);
    errors.map(|e| format!("{}: {e}", e.instance_path())).collect()
}
