//! Parameters of OpenShift's Templates.
//!
//! `${NAME}` is replaced by a parameter's text, `${{NAME}}` by its YAML value. A reference to an undeclared parameter
//! stays. Source: OpenShift's template processor.

use super::Wrapper;
use crate::prelude::*;
use crate::repo::nodes::is_on;
use crate::repo::variables::unquoted;

/// The parameters of a Template: their values, `None` if who processes it gives them or they are generated.
pub(super) fn parameters<'n>(wrapper: &Wrapper<'n>) -> BTreeMap<&'n str, Option<&'n str>> {
    let list = wrapper.node.list_at("parameters");
    let parameter = |p: &'n Node| {
        let value = p.text_at("value");
        let is_given = !p.text("generate").is_empty() || is_on(p, "required");
        (p.text("name"), value.filter(|value| !(is_given && value.is_empty())))
    };
    list.iter().map(parameter).collect()
}

/// The result of substitution in a text.
#[derive(Debug)]
pub(super) enum Filled {
    /// It refers to no parameter.
    Same,
    /// The new text.
    Value(Value),
    /// The parameter has no value here.
    Unknown(String),
}

/// Substitutes parameters in a text, within the budget of bytes.
pub(super) fn fill(text: &str, parameters: &BTreeMap<&str, Option<&str>>, budget: &mut usize) -> Filled {
    let whole = text.strip_prefix("${{").and_then(|t| t.strip_suffix("}}"));
    if let Some(name) = whole
        && let Some(value) = parameters.get(name)
    {
        return match value {
            None => Filled::Unknown(given(name)),
            Some(value) => Filled::Value(unquoted(value)),
        };
    }
    let (mut out, mut rest, mut changed) = (String::new(), text, false);
    while let Some(start) = rest.find("${") {
        out.push_str(&rest[..start]);
        let behind = &rest[start + 2..];
        let end = behind.find('}');
        let name = end.map(|end| &behind[..end]).unwrap_or_default();
        match parameters.get(name) {
            Some(None) => return Filled::Unknown(given(name)),
            Some(Some(value)) => {
                let Some(left) = budget.checked_sub(value.len()) else { return Filled::Unknown(given(name)) };
                *budget = left;
                out.push_str(value);
                changed = true;
                rest = &behind[name.len() + 1..];
            }
            None => {
                out.push_str("${");
                rest = behind;
            }
        }
    }
    out.push_str(rest);
    if changed { Filled::Value(Value::String(out)) } else { Filled::Same }
}

fn given(name: &str) -> String {
    format!("the parameter {name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(text: &str) -> String {
        let parameters = BTreeMap::from([("A", Some("x")), ("N", Some("3")), ("U", None)]);
        format!("{:?}", fill(text, &parameters, &mut 10))
    }

    #[test]
    fn fills_in_parameters() {
        assert_eq!(filled("a"), "Same");
        assert_eq!(filled("${NONE}"), "Same");
        assert_eq!(filled("a-${A}-${NONE}"), "Value(String(\"a-x-${NONE}\"))");
        assert_eq!(filled("${N}"), "Value(String(\"3\"))");
        assert_eq!(filled("${{N}}"), "Value(Number(Number(3)))");
        assert_eq!(filled("${U}"), "Unknown(\"the parameter U\")");
        assert_eq!(filled("${"), "Same");
        assert_eq!(filled(&"${A}".repeat(11)), "Unknown(\"the parameter A\")");
    }
}
