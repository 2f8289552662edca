//! What Flux substitutes: `${NAME}`, with defaults.
//!
//! Source: `kustomize_varsub.go` of Flux: each object is written as YAML, replaced and read again, so that a value may
//! become a number, whether it was in quotes or not. Of the expressions of `envsubst`, names with and without a default
//! are computed.

use crate::prelude::*;
use crate::repo::nodes::parsed;

/// The variables of a Flux Kustomization.
#[derive(Debug, Default)]
pub(crate) struct Variables {
    /// Each with its value and the value's place.
    pub(crate) known: BTreeMap<String, (String, Location)>,
    /// Whether others may be set by something that isn't in the repository, such as a Secret.
    pub(crate) has_others: bool,
}

/// A text after a substitution.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Substituted {
    /// It has no expression.
    Same,
    /// Its text, with the name of the variable that it is as a whole.
    Text(String, Option<String>),
    /// It has an expression whose value isn't known.
    Unknown,
}

impl Variables {
    /// A value that isn't built here, with its variables replaced.
    pub(crate) fn fill(&self, node: &Node) -> Node {
        with_texts(node, &|text| match self.substitute(text) {
            Substituted::Text(filled, _) => Some(unquoted(&filled)),
            _ => None,
        })
    }

    /// Replaces the variables of a text.
    pub(crate) fn substitute(&self, text: &str) -> Substituted {
        let (mut out, mut rest, mut names) = (String::new(), text, Vec::new());
        while let Some(at) = rest.find("${") {
            let (before, expression) = rest.split_at(at);
            if let Some(literal) = before.strip_suffix('$') {
                out.push_str(literal);
                out.push_str("${");
                rest = &expression[2..];
                continue;
            }
            out.push_str(before);
            let Some(end) = closing(expression, '{', '}') else { return Substituted::Unknown };
            let Some(value) = self.expression(&expression[2..end], &mut names) else { return Substituted::Unknown };
            out.push_str(&value);
            rest = &expression[end + 1..];
        }
        if out.is_empty() && rest.len() == text.len() {
            return Substituted::Same;
        }
        let is_whole = rest.is_empty() && text.starts_with("${") && names.len() == 1 && text.matches("${").count() == 1;
        out.push_str(rest);
        Substituted::Text(out, names.pop().filter(|_| is_whole))
    }

    /// The value of what is in the braces; `None` if it isn't known. A used variable's name is added to `names`.
    fn expression(&self, expression: &str, names: &mut Vec<String>) -> Option<String> {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let end = expression.find(|c| !is_name(c)).unwrap_or(expression.len());
        let (name, rest) = expression.split_at(end);
        let default = match rest {
            "" => None,
            rest => Some([":=", ":-", "=", "-"].iter().find_map(|operator| rest.strip_prefix(operator))?),
        };
        if let Some((value, _)) = self.known.get(name).filter(|(value, _)| !value.is_empty() || !rest.starts_with(':'))
        {
            names.push(name.to_owned());
            return Some(value.clone());
        }
        if self.has_others || name.is_empty() {
            return None;
        }
        match self.substitute(default.unwrap_or_default()) {
            Substituted::Same => Some(default.unwrap_or_default().to_owned()),
            Substituted::Text(text, _) => Some(text),
            Substituted::Unknown => None,
        }
    }
}

/// A value with other ones for its texts; `None`: a text stays.
pub(crate) fn with_texts(node: &Node, replaced: &dyn Fn(&str) -> Option<Value>) -> Node {
    let value = match &node.value {
        Value::Map(entries) => {
            let entry = |entry: &Entry| Entry { key: entry.key.clone(), value: with_texts(&entry.value, replaced) };
            Value::Map(entries.iter().map(entry).collect())
        }
        Value::Seq(items) => Value::Seq(items.iter().map(|item| with_texts(item, replaced)).collect()),
        Value::String(text) => replaced(text).unwrap_or_else(|| node.value.clone()),
        other => other.clone(),
    };
    Node { value, span: node.span, style: node.style }
}

/// Where the bracket that a text opens is closed.
pub(crate) fn closing(text: &str, opening: char, closing: char) -> Option<usize> {
    let mut open = 0;
    text.char_indices().find_map(|(at, c)| {
        open += i32::from(c == opening) - i32::from(c == closing);
        (c == closing && open == 0).then_some(at)
    })
}

/// A text's value as YAML reads it without quotes.
pub(crate) fn unquoted(text: &str) -> Value {
    plain_value(text).map_or_else(|| Value::String(text.to_owned()), |node| node.value)
}

/// A plain value as YAML reads it; `None` for one of several lines.
pub(crate) fn plain_value(text: &str) -> Option<Node> {
    let parsed = parsed(&format!("value: {text}\n"));
    let value = parsed.documents.first().and_then(|document| document.root.get("value"));
    value.filter(|_| !parsed.is_broken() && !text.contains('\n')).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_names_and_their_defaults() {
        let place = Location::new(&SourceFile::new("a", "a"), Span::default());
        let known = BTreeMap::from([
            ("A".to_owned(), ("1".to_owned(), place.clone())),
            ("E".to_owned(), (String::new(), place)),
        ]);
        let mut variables = Variables { known, has_others: false };
        let text = |variables: &Variables, text: &str| match variables.substitute(text) {
            Substituted::Same => "same".to_owned(),
            Substituted::Unknown => "unknown".to_owned(),
            Substituted::Text(text, name) => format!("{text} {}", name.unwrap_or_default()),
        };
        for (from, expected) in [
            ("a", "same"),
            ("${A}", "1 A"),
            ("x${A}y", "x1y "),
            ("${B:-2}", "2 "),
            ("${B:=${A}}", "1 "),
            ("${E:-3}", "3 "),
            ("${E-3}", " E"),
            ("${B}", " "),
            ("$${A}", "${A} "),
            ("${A/1/2}", "unknown"),
            ("${A", "unknown"),
        ] {
            assert_eq!(text(&variables, from), expected, "{from}");
        }
        variables.has_others = true;
        assert_eq!(text(&variables, "${B:-2}"), "unknown");
        assert_eq!(text(&variables, "${A}"), "1 A");
    }
}
