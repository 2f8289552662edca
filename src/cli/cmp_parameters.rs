//! The parameters that an Application of Argo CD sets for `hcoplan cmp`.

use crate::finding::Severity;
use crate::kube::Table;
use crate::prelude::*;

/// Argo CD doesn't send announced defaults: they have to equal [`Parameters::default`].
pub(super) static ANNOUNCEMENT: Table<Value> = Table::of(include_str!("cmp_parameters.json"));

/// The parameters of an Application.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Parameters {
    /// `None` uses the configuration's value or errors; `Some(None)` means never.
    pub(super) fail_on: Option<Option<Severity>>,
    pub(super) operands: bool,
    pub(super) release: Option<String>,
}

impl Parameters {
    /// Parses `ARGOCD_APP_PARAMETERS`, since the names of the separate variables may collide.
    pub(super) fn new(text: &str) -> Result<Self, Failure> {
        let wrong = |message: String| {
            let help = "there are fail-on (error, warning, never), emit (manifests, operands) and \
                        hco-version (X.Y), each a string";
            Failure::usage(message, help)
        };
        let list: Value = match text.trim() {
            "" => Value::Null,
            text => serde_json::from_str(text).map_err(|e| wrong(format!("ARGOCD_APP_PARAMETERS isn't JSON: {e}")))?,
        };
        let list = match list {
            Value::Null => Vec::new(),
            Value::Array(list) => list,
            _ => return Err(wrong("ARGOCD_APP_PARAMETERS isn't a list".to_owned())),
        };
        let mut out = Self::default();
        for parameter in &list {
            let name = parameter["name"].as_str().unwrap_or_default();
            let value = parameter["string"].as_str();
            match (name, value) {
                ("fail-on", Some(name @ ("error" | "warning"))) => out.fail_on = Some(Severity::named(name)),
                ("fail-on", Some("never")) => out.fail_on = Some(None),
                ("emit", Some("operands")) => out.operands = true,
                ("emit", Some("manifests")) => out.operands = false,
                ("hco-version", Some("auto")) => out.release = None,
                ("fail-on" | "emit" | "hco-version", Some("")) => {}
                ("hco-version", Some(release)) => out.release = Some(release.to_owned()),
                ("fail-on" | "emit" | "hco-version", value) => {
                    let problem = value.map_or_else(|| "isn't a string".to_owned(), |value| format!("is {value}"));
                    return Err(wrong(format!("the parameter {name} {problem}")));
                }
                _ => return Err(wrong(format!("there is no parameter {name:?}"))),
            }
        }
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn announced_defaults_are_the_defaults() {
        let text = ANNOUNCEMENT.to_string();
        let announced = Parameters::new(&text).expect("its own announcement");
        let expected = Parameters { fail_on: Some(Some(Severity::Error)), ..Parameters::default() };
        assert_eq!(announced, expected);
        assert_eq!(Parameters::new("null").ok(), Some(Parameters::default()));
        assert!(Parameters::new(r#"[{"name": "fail-on", "array": ["never"]}]"#).is_err());
        assert!(Parameters::new(r#"[{"name": "failon", "string": "never"}]"#).is_err());
    }
}
