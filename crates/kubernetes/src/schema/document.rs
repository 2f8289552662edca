//! JSON Schemas of hcoplan's own documents: the inventory, the configuration.
//!
//! The same schema is published for editors. Here it finds what is wrong with a document, where,
//! and what was probably meant. (CRD schemas are not JSON Schema: see the other modules.)

use crate::prelude::*;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::{ValidationError, Validator};

use crate::suggest::nearest;
use crate::tree::{members, texts, without_nulls};
use hcoplan_yaml::source::{SourceFile, Span};
use hcoplan_yaml::{Node, Style, Value as Yaml, pointer};

/// The JSON Schema of a document of ours.
#[derive(Debug)]
pub struct DocumentSchema {
    json: Value,
    /// Compiled when there is a document.
    validator: OnceLock<Validator>,
}

/// Something in a document that its schema rejects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// The value that is rejected; for an unknown field, the mapping that has it.
    pub path: Path,
    /// The characters meant.
    pub span: Span,
    /// What is wrong, one sentence without a full stop.
    pub message: String,
    /// What is expected there, in the schema's words.
    pub help: Option<String>,
    /// What was probably meant, to be put in place of the characters.
    pub instead: Option<String>,
}

impl DocumentSchema {
    /// Reads a schema of draft 7, the one that editors know best. In `anyOf` each alternative names its type, so that what is
    /// wrong can be said about the one that was meant.
    ///
    /// # Panics
    /// When it isn't a schema: it is compiled into the program.
    pub fn of(text: &str) -> Self {
        Self { json: serde_json::from_str(text).expect("our schemas are JSON"), validator: OnceLock::new() }
    }

    /// What is wrong with a document, in the order of the text. A value that is `null` counts as
    /// left out, as Kubernetes takes it.
    pub fn check(&self, file: &SourceFile, root: &Node) -> Vec<Mistake> {
        let compile = || jsonschema::draft7::new(&self.json).expect("our schemas are JSON Schemas");
        let validator = self.validator.get_or_init(compile);
        let value = without_nulls(root.to_json());
        let mut found: Vec<Mistake> = Vec::new();
        for error in validator.iter_errors(&value) {
            self.explain(file, root, &error, &mut found);
        }
        found.sort_by(|a, b| (a.span, &a.message).cmp(&(b.span, &b.message)));
        found.dedup();
        found
    }

    fn explain(&self, file: &SourceFile, root: &Node, error: &ValidationError<'_>, out: &mut Vec<Mistake>) {
        let path = path_in(root, error.instance_path().as_str());
        let node = root.nearest(&path).0;
        let at = |message: String| Mistake {
            path: path.clone(),
            span: node.span,
            message,
            help: self.describe(error),
            instead: None,
        };
        let name = name_of(&path);
        let mistake = match error.kind() {
            Kind::AdditionalProperties { unexpected } => {
                out.extend(unexpected.iter().map(|key| self.unknown(&path, node, key, error)));
                return;
            }
            Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
                let here = error.instance_path();
                let fits = |errors: &&Vec<ValidationError<'_>>| {
                    !errors.iter().any(|e| matches!(e.kind(), Kind::Type { .. }) && e.instance_path() == here)
                };
                match context.iter().find(fits) {
                    Some(errors) => {
                        for error in errors {
                            self.explain(file, root, error, out);
                        }
                        return;
                    }
                    None => at(format!("{name} can't be {}", written(file, node))),
                }
            }
            Kind::Type { kind } => {
                let (wants, text) = wanted(kind);
                let message = format!("{name} must be {wants}, not {}", written(file, node));
                let instead = || format!("{:?}", &file.text()[node.span.range()]);
                Mistake { instead: (text && is_bare(node)).then(instead), ..at(message) }
            }
            Kind::Enum { options } => {
                let options: Vec<&str> = texts(&**options).collect();
                let word = node.as_str().unwrap_or_default();
                let meant = nearest(word, options.iter().copied());
                let message = format!("{name} can't be {}", written(file, node));
                Mistake {
                    help: Some(match meant {
                        Some(meant) => format!("did you mean `{meant}`?"),
                        None => format!("one of {}", options.join(", ")),
                    }),
                    instead: meant.map(str::to_owned),
                    ..at(message)
                }
            }
            Kind::Constant { expected_value } => {
                at(format!("{name} must be {expected_value}, not {}", written(file, node)))
            }
            Kind::Required { property } => {
                let missing = property.as_str().unwrap_or_default();
                let what = if path.0.is_empty() { "the document" } else { &name };
                let first = node.entries().first().map(|e| e.key.span);
                Mistake { span: first.unwrap_or(node.span), ..at(format!("{what} lacks `{missing}`")) }
            }
            Kind::Minimum { limit } => at(format!("{name} must be at least {limit}")),
            Kind::Maximum { limit } => at(format!("{name} must be at most {limit}")),
            Kind::MinLength { .. } | Kind::MinItems { .. } => at(format!("{name} must not be empty")),
            Kind::UniqueItems => at(format!("{name} has a duplicate entry")),
            Kind::Pattern { .. } => at(format!("{name} can't be {}", written(file, node))),
            _ => at(format!("{name}: {error}")),
        };
        out.push(mistake);
    }

    fn unknown(&self, path: &Path, node: &Node, key: &str, error: &ValidationError<'_>) -> Mistake {
        let known = self.parent(error).and_then(|p| p.get("properties"));
        let names = members(known);
        let names: Vec<&str> = names.map(|(name, _)| name.as_str()).collect();
        let meant = nearest(key, names.iter().copied().filter(|n| node.get(n).is_none()));
        Mistake {
            path: path.clone(),
            span: node.entry(key).map_or(node.span, |e| e.key.span),
            message: format!("unknown field `{key}`"),
            help: Some(match meant {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("the fields here are {}", names.join(", ")),
            }),
            instead: meant.map(str::to_owned),
        }
    }

    /// The part of the schema that holds the keyword that failed.
    fn parent(&self, error: &ValidationError<'_>) -> Option<&Value> {
        let (parent, _) = error.schema_path().as_str().rsplit_once('/')?;
        self.json.pointer(parent)
    }

    fn describe(&self, error: &ValidationError<'_>) -> Option<String> {
        let text = self.parent(error)?.get("description")?.as_str()?;
        Some(text.to_owned())
    }
}

/// A JSON pointer as a path in the tree.
fn path_in(root: &Node, pointer: &str) -> Path {
    let (mut path, mut node) = (Path::root(), Some(root));
    for step in pointer.split('/').skip(1) {
        let step = pointer::unescape(step);
        let index = step.parse::<usize>().ok();
        (path, node) = match (node.map(|n| &n.value), index) {
            (Some(Yaml::Seq(items)), Some(index)) => (path.index(index), items.get(index)),
            _ => (path.key(&step), node.and_then(|n| n.get(&step))),
        };
    }
    path
}

fn name_of(path: &Path) -> String {
    if path.0.is_empty() { "the document".to_owned() } else { format!("`{path}`") }
}

/// The type that the schema requires, and whether it is text.
fn wanted(kind: &TypeKind) -> (String, bool) {
    let name = |t: jsonschema::JsonType| match t.as_str() {
        "object" => "a mapping",
        "array" => "a list",
        "string" => "a text",
        "boolean" => "true or false",
        "integer" => "a whole number",
        "number" => "a number",
        other => other,
    };
    let names: Vec<&str> = match kind {
        TypeKind::Single(one) => vec![name(*one)],
        TypeKind::Multiple(several) => several.iter().map(name).collect(),
    };
    (names.join(" or "), names.contains(&"a text"))
}

/// Whether it is a bare word or number that quotes would make a string.
fn is_bare(node: &Node) -> bool {
    let scalar = matches!(node.value, Yaml::Bool(_) | Yaml::Number(_));
    scalar && node.style == Style::Plain
}

/// The value as users write it.
fn written(file: &SourceFile, node: &Node) -> String {
    let text = file.text().get(node.span.range()).unwrap_or("");
    match &node.value {
        Yaml::Null => "empty".to_owned(),
        Yaml::Seq(_) => "a list".to_owned(),
        Yaml::Map(_) => "a mapping".to_owned(),
        Yaml::Bool(value) if text != value.to_string() => {
            format!("`{text}`, which YAML reads as {value}")
        }
        Yaml::Number(_) => format!("the number {text}"),
        _ if text.len() > 60 || text.contains('\n') => "this text".to_owned(),
        _ => format!("`{text}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hcoplan_yaml as yaml;

    const SCHEMA: &str = r##"{
        "type": "object",
        "additionalProperties": false,
        "required": ["kind"],
        "properties": {
            "kind": {"const": "Sample"},
            "release": {"type": "string", "description": "an HCO release"},
            "count": {"type": "integer", "minimum": 0},
            "mode": {"enum": ["on-demand", "always"]},
            "pools": {"type": "array", "items": {"$ref": "#/definitions/pool"}},
            "level": {"anyOf": [
                {"type": "string", "enum": ["error", "off"]},
                {"type": "object", "additionalProperties": false, "properties": {"severity": {"enum": ["error"]}}}
            ]}
        },
        "definitions": {
            "pool": {
                "type": "object",
                "required": ["name"],
                "additionalProperties": false,
                "properties": {"name": {"type": "string"}, "architecture": {"type": "string"}}
            }
        }
    }"##;

    fn check(text: &str) -> Vec<String> {
        let schema = DocumentSchema::of(SCHEMA);
        let file = SourceFile::new("a.yaml", text);
        let parsed = yaml::parse(&file);
        let root = &parsed.documents[0].root;
        let line = |m: Mistake| {
            let place = file.position(m.span.start);
            let meant = m.instead.unwrap_or_default();
            let help = m.help.unwrap_or_default();
            format!("{}:{} {} [{help}] {meant}", place.line, place.column, m.message)
        };
        schema.check(&file, root).into_iter().map(line).collect()
    }

    #[test]
    fn accepts_a_valid_document() {
        let text = "kind: Sample\nrelease: '1.17'\ncount:\nlevel: error\npools: [{name: a}]\n";
        assert!(check(text).is_empty(), "{:?}", check(text));
    }

    #[test]
    fn locates_and_explains_mistakes() {
        let cases = [
            (
                "kind: Sample\nrelease: 1.20\n",
                "2:10 `release` must be a text, not the number 1.20 [an HCO release] \"1.20\"",
            ),
            (
                "kind: Sample\nrelease: on\n",
                "2:10 `release` must be a text, not `on`, which YAML reads as true \
                 [an HCO release] \"on\"",
            ),
            ("kind: Simple\n", "1:7 `kind` must be \"Sample\", not `Simple` [] "),
            ("count: 1\n", "1:1 the document lacks `kind` [] "),
            ("kind: Sample\ncuont: 1\n", "2:1 unknown field `cuont` [did you mean `count`?] count"),
            (
                "kind: Sample\npools:\n- name: a\n  arch: amd64\n",
                "4:3 unknown field `arch` [the fields here are architecture, name] ",
            ),
            ("kind: Sample\npools:\n- architecture: a\n", "3:3 `pools[0]` lacks `name` [] "),
            ("kind: Sample\nmode: on_demnd\n", "2:7 `mode` can't be `on_demnd` [did you mean `on-demand`?] on-demand"),
            ("kind: Sample\ncount: -1\n", "2:8 `count` must be at least 0 [] "),
            (
                "kind: Sample\nlevel: {severty: error}\n",
                "2:9 unknown field `severty` [did you mean `severity`?] severity",
            ),
            ("[1]\n", "1:1 the document must be a mapping, not a list [] "),
        ];
        for (text, expected) in cases {
            assert_eq!(check(text), [expected], "{text}");
        }
    }
}
