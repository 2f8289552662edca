//! `--only KIND[/NAME]`: selects objects.

use std::str::FromStr;

use hcoplan_kubernetes::ObjectId;

/// A kind, or one object of a kind. The kind is case-insensitive, as in kubectl.
#[derive(Debug, Clone)]
pub struct ObjectSelector {
    kind: String,
    name: Option<String>,
}

/// A text that isn't `KIND[/NAME]`.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected KIND or KIND/NAME, as in KubeVirt or DataSource/fedora")]
pub struct ObjectSelectorError;

impl FromStr for ObjectSelector {
    type Err = ObjectSelectorError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (kind, name) = match text.split_once('/') {
            Some((kind, name)) => (kind, Some(name)),
            None => (text, None),
        };
        if kind.is_empty() || name.is_some_and(str::is_empty) {
            return Err(ObjectSelectorError);
        }
        Ok(Self { kind: kind.to_owned(), name: name.map(ToOwned::to_owned) })
    }
}

impl ObjectSelector {
    /// Whether it selects an object.
    pub fn matches(&self, id: &ObjectId) -> bool {
        self.kind.eq_ignore_ascii_case(&id.kind) && self.name.as_ref().is_none_or(|n| *n == id.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selects_by_kind_and_name() {
        let id = ObjectId::namespaced("v1", "ConfigMap", "n", "virtio-win");
        let matches = |text: &str| text.parse::<ObjectSelector>().map(|only| only.matches(&id));
        assert_eq!(matches("configmap"), Ok(true));
        assert_eq!(matches("ConfigMap/virtio-win"), Ok(true));
        assert_eq!(matches("ConfigMap/other"), Ok(false));
        assert_eq!(matches("Role"), Ok(false));
        for bad in ["", "/x", "x/"] {
            assert_eq!(matches(bad), Err(ObjectSelectorError), "{bad:?}");
        }
    }
}
