//! `hcoplan schema`: the JSON Schemas of hcoplan's input and output.

use crate::prelude::*;
use clap::builder::PossibleValuesParser;

use super::output::Output;

/// Print the JSON Schema of a document, or list them
///
/// Each has one `$id`; a document's `schemaVersion` is raised when a field is removed or changes its meaning, and not
/// when one is added.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  hcoplan schema                                         list them
  hcoplan schema findings > findings.schema.json         of hcoplan lint --format json
  hcoplan schema inventory                               for an editor without network")]
pub(super) struct Arguments {
    /// The document
    #[arg(value_name = "NAME", value_parser = PossibleValuesParser::new(DOCUMENTS.map(|(name, _)| name)))]
    name: Option<String>,
}

/// The documents with a schema: name and description.
const DOCUMENTS: [(&str, &str); 14] = [
    ("argocd", "hcoplan argocd --format json"),
    ("config", "hcoplan.yaml"),
    ("diff", "hcoplan diff --format json"),
    ("findings", "hcoplan lint --format json"),
    ("fix", "hcoplan fix --format json"),
    ("image-architectures", "kind: ImageArchitectures, which images are there for which architecture"),
    ("inventory", "kind: ClusterInventory"),
    ("inventory-check", "hcoplan inventory check --format json"),
    ("matrix", "hcoplan matrix --format json"),
    ("plan", "hcoplan plan --format json"),
    ("release-diff", "hcoplan release diff A B --format json"),
    ("release-list", "hcoplan release list --format json"),
    ("render", "a line of hcoplan render --format json"),
    ("why", "hcoplan why --format json"),
];

pub(super) fn run(arguments: &Arguments, output: &Output) -> Result<Exit, Failure> {
    match &arguments.name {
        Some(name) => {
            output.print(hcoplan_schemas::document(name).unwrap_or_default())?;
        }
        None => {
            for (name, of) in DOCUMENTS {
                output.print(format!("{name:<20} {of}\n"))?;
            }
        }
    }
    Ok(Exit::default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_schema_of_the_directory_is_listed_and_has_an_id_of_its_own() {
        let names: Vec<_> = hcoplan_schemas::DOCUMENTS.iter().map(|(n, _)| *n).collect();
        assert_eq!(names, DOCUMENTS.map(|(name, _)| name));
        for (name, text) in hcoplan_schemas::DOCUMENTS {
            let parsed: Value = serde_json::from_str(text).expect("JSON");
            let id = format!("https://hcoplan.dev/schemas/{name}.schema.json");
            assert_eq!(parsed["$id"], id);
            jsonschema::meta::validate(&parsed).expect("a schema");
        }
    }
}
