//! `hcoplan schema`: the JSON Schemas of what is written for hcoplan and of what it prints.

use clap::Args;
use clap::builder::PossibleValuesParser;

use super::exit::Verdict;
use super::failure::Failure;
use super::output::Output;

/// Print the JSON Schema of a document, or list them
///
/// Each has one `$id`; a document's `schemaVersion` is raised when a field goes or changes its meaning, and
/// not when one is added.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  hcoplan schema                                         what there is
  hcoplan schema findings > findings.schema.json         of hcoplan lint --format json
  hcoplan schema inventory                               for an editor without network")]
pub(super) struct Arguments {
    /// The document
    #[arg(value_name = "NAME", value_parser = PossibleValuesParser::new(SCHEMAS.map(|s| s.name)))]
    name: Option<String>,
}

/// A published schema.
struct Schema {
    name: &'static str,
    of: &'static str,
    text: &'static str,
}

macro_rules! schemas {
    ($($name:literal: $of:literal,)*) => {
        [$(Schema {
            name: $name,
            of: $of,
            text: include_str!(concat!("../../schemas/", $name, ".schema.json")),
        }),*]
    };
}

const SCHEMAS: [Schema; 15] = schemas! {
    "argocd": "hcoplan argocd --format json",
    "config": "hcoplan.yaml",
    "diff": "hcoplan diff --format json",
    "findings": "hcoplan lint --format json",
    "fix": "hcoplan fix --format json",
    "image-architectures": "kind: ImageArchitectures, which images are there for which architecture",
    "inventory": "kind: ClusterInventory",
    "inventory-check": "hcoplan inventory check --format json",
    "matrix": "hcoplan matrix --format json",
    "plan": "hcoplan plan --format json",
    "release-diff": "hcoplan release diff A B --format json",
    "release-list": "hcoplan release list --format json",
    "render": "a line of hcoplan render --format json",
    "statistics": "hcoplan lint --statistics --format json",
    "why": "hcoplan why --format json",
};

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Verdict, Failure> {
    match &arguments.name {
        Some(name) => {
            let schema = SCHEMAS.iter().find(|s| s.name == name);
            output.print(schema.map_or("", |s| s.text))?;
        }
        None => {
            for Schema { name, of, .. } in &SCHEMAS {
                output.print(format!("{name:<20} {of}\n"))?;
            }
        }
    }
    Ok(Verdict::default())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn every_schema_of_the_directory_is_listed_and_has_an_id_of_its_own() {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas");
        let files = std::fs::read_dir(directory).expect("readable");
        let names = files.filter_map(|f| f.expect("a file").file_name().into_string().ok());
        let mut names: Vec<String> = names
            .filter_map(|n| Some(n.strip_suffix(".schema.json")?.to_owned()))
            .collect();
        names.sort();
        assert_eq!(names, SCHEMAS.map(|s| s.name));
        for schema in &SCHEMAS {
            let parsed: serde_json::Value = serde_json::from_str(schema.text).expect("JSON");
            let id = format!("https://hcoplan.dev/schemas/{}.schema.json", schema.name);
            assert_eq!(parsed["$id"], id);
            jsonschema::meta::validate(&parsed).expect("a schema");
        }
    }
}
