//! Replaces Flux's variables in built objects.

use super::object::{Object, Placed, Value};
use crate::prelude::*;
use crate::repo::variables::{Substituted, Variables, plain_value};

/// The label or annotation that excludes an object.
pub(crate) const DISABLED: &str = "kustomize.toolkit.fluxcd.io/substitute";

impl Variables {
    /// Replaces the variables in an object.
    pub(crate) fn apply(&self, object: &mut Object) {
        let is_disabled = ["labels", "annotations"]
            .iter()
            .any(|key| object.root.at(&["metadata", key, DISABLED]).and_then(Placed::as_str) == Some("disabled"));
        if !is_disabled && (self.has_others || !self.known.is_empty()) {
            self.value(&mut object.root);
        }
    }

    fn value(&self, value: &mut Placed) {
        match &mut value.value {
            Value::Map(members) => members.iter_mut().for_each(|member| self.value(&mut member.value)),
            Value::List(items) => items.iter_mut().for_each(|item| self.value(item)),
            Value::Scalar(Json::String(text)) => {
                if let Substituted::Text(filled, name) = self.substitute(text) {
                    let place = name.and_then(|name| Some(self.known.get(&name)?.1.clone()));
                    let is_plain = read_again(text, &value.place).as_str() == Some(text.as_str());
                    let place = place.unwrap_or_else(|| value.place.clone());
                    *value = if is_plain { read_again(&filled, &place) } else { Placed::text_at(&filled, &place) };
                }
            }
            Value::Scalar(_) => {}
        }
    }
}

/// A plain value as YAML reads it, at a place.
fn read_again(text: &str, place: &Location) -> Placed {
    plain_value(text).map_or_else(|| Placed::text_at(text, place), |value| Placed::of(&value, "", &|_| place.clone()))
}
