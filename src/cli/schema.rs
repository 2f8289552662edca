//! `hcoplan schema`: the JSON Schemas of hcoplan's input and output.

use crate::prelude::*;
use clap::builder::PossibleValuesParser;

use super::output::Output;
use crate::kube::Table;

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
    #[arg(value_name = "NAME", value_parser = PossibleValuesParser::new(DOCUMENTS.iter().map(|(name, _)| *name)))]
    name: Option<String>,
}

/// The documents with a schema: name and description.
static DOCUMENTS: Table<Vec<(&str, &str)>> = Table::of(include_str!("schema.json"));

pub(super) fn run(arguments: &Arguments, output: &Output) -> Result<Exit, Failure> {
    match &arguments.name {
        Some(name) => {
            output.print(hcoplan_schemas::document(name).unwrap_or_default())?;
        }
        None => {
            for (name, of) in DOCUMENTS.iter() {
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
        assert!(names.iter().eq(DOCUMENTS.iter().map(|(name, _)| name)));
        for (name, text) in hcoplan_schemas::DOCUMENTS {
            let parsed: Value = serde_json::from_str(text).expect("JSON");
            let id = format!("https://hcoplan.dev/schemas/{name}.schema.json");
            assert_eq!(parsed["$id"], id);
            jsonschema::meta::validate(&parsed).expect("a schema");
        }
    }
}
