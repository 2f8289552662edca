//! JSON 6902 patches, as kustomize applies them.
//!
//! Source: evanphx/json-patch 4.13, whose `replace` of a key that isn't there adds it.

use super::Refused;
use super::merge::NotMerged;
use super::object::{Placed, Value};
use crate::prelude::*;

/// Applies a list of operations to an object. While they run, kustomize has annotations of its own in it.
pub(super) fn apply(object: &mut Placed, operations: &Placed) -> Result<(), NotMerged> {
    let place = operations.place.clone();
    object.map_of("metadata", &place).map_of("annotations", &place);
    operations.items().iter().try_for_each(|operation| apply_one(object, operation))?;
    let metadata = object.map_of("metadata", &place);
    if metadata.get("annotations").is_some_and(|own| own.members().is_empty()) {
        metadata.remove("annotations");
    }
    Ok(())
}

fn apply_one(object: &mut Placed, operation: &Placed) -> Result<(), NotMerged> {
    let op = operation.text(&["op"]);
    let path = operation.text(&["path"]);
    let place = operation.get("path").map_or(&operation.place, |path| &path.place);
    let refused = |path: &str, why: &str| {
        NotMerged::from(Refused::new(place, format!("the operation `{op}` fails at `{path}`: {why}")))
    };
    let from = operation.text(&["from"]);
    let is_from = matches!(op, "move" | "copy");
    if path.is_empty() && operation.get("path").is_some() || is_from && from.is_empty() {
        return Err(NotMerged::beyond(place, "a whole object in an operation"));
    }
    let value = || operation.get("value").cloned().unwrap_or_else(|| null(place));
    let done = match op {
        "add" => add(object, path, value(), place),
        "replace" => replace(object, path, value(), place),
        "remove" => remove(object, path).map(drop),
        "move" => {
            let moved = remove(object, from).map_err(|why| refused(from, why))?;
            add(object, path, moved, place)
        }
        "copy" => {
            let copied = find(object, from).map_err(|why| refused(from, why))?.map(|own| own.clone());
            add(object, path, copied.unwrap_or_else(|| null(place)), place)
        }
        "test" => find(object, path).and_then(|found| {
            let is_it = found.map(|own| own.to_json()).unwrap_or_default() == value().to_json();
            if is_it { Ok(()) } else { Err("the value is another one") }
        }),
        _ => Err("there is no such operation"),
    };
    done.map_err(|why| refused(path, why))
}

const NO_PARENT: &str = "there is nothing that could hold it";
const NO_INDEX: &str = "the list has no such item";
const NOTHING: &str = "nothing is there";

fn null(place: &Location) -> Placed {
    Placed { place: place.clone(), value: Value::Scalar(serde_json::Value::Null) }
}

/// A pointer's tokens.
fn tokens(pointer: &str) -> Option<Vec<String>> {
    // What is before the first slash is ignored.
    let (_, rest) = pointer.split_once('/')?;
    Some(rest.split('/').map(pointer::unescape).collect())
}

/// The index of an item that a token names; a negative one counts from the end.
fn index(token: &str, length: usize) -> Option<usize> {
    let own: isize = token.parse().ok()?;
    let at = if own < 0 { length.checked_add_signed(own)? } else { own.unsigned_abs() };
    (at < length).then_some(at)
}

/// The value at a token; `None` for a key that a map lacks.
fn step<'o>(value: &'o mut Placed, token: &str) -> Result<Option<&'o mut Placed>, &'static str> {
    match &mut value.value {
        Value::List(items) => index(token, items.len()).map(|at| Some(&mut items[at])).ok_or(NO_INDEX),
        Value::Map(members) => Ok(members.iter_mut().find(|m| m.key == token).map(|m| &mut m.value)),
        Value::Scalar(_) => Err(NO_PARENT),
    }
}

/// The container of a pointer's target, and the last token.
fn container<'o>(object: &'o mut Placed, pointer: &str) -> Result<(&'o mut Placed, String), &'static str> {
    let mut tokens = tokens(pointer).ok_or(NO_PARENT)?;
    let last = tokens.pop().ok_or(NO_PARENT)?;
    let step = |value, token: String| step(value, &token).ok().flatten().ok_or(NO_PARENT);
    Ok((tokens.into_iter().try_fold(object, step)?, last))
}

fn add(object: &mut Placed, pointer: &str, value: Placed, place: &Location) -> Result<(), &'static str> {
    let (container, key) = container(object, pointer)?;
    match &mut container.value {
        Value::Map(_) => container.set(&key, place, value),
        Value::List(items) if key == "-" => items.push(value),
        Value::List(items) => {
            let at = index(&key, items.len() + 1).ok_or(NO_INDEX)?;
            items.insert(at, value);
        }
        Value::Scalar(_) => return Err(NO_PARENT),
    }
    Ok(())
}

fn replace(object: &mut Placed, pointer: &str, value: Placed, place: &Location) -> Result<(), &'static str> {
    let (container, key) = container(object, pointer)?;
    // Here none counts from the end.
    if matches!(container.value, Value::List(_)) && key.starts_with('-') {
        return Err(NO_INDEX);
    }
    match step(container, &key)? {
        Some(own) => *own = value,
        None => container.set(&key, place, value),
    }
    Ok(())
}

fn remove(object: &mut Placed, pointer: &str) -> Result<Placed, &'static str> {
    let (container, key) = container(object, pointer)?;
    match &mut container.value {
        Value::Map(_) => container.remove(&key).ok_or(NOTHING),
        Value::List(items) => {
            let at = index(&key, items.len()).ok_or(NO_INDEX)?;
            Ok(items.remove(at))
        }
        Value::Scalar(_) => Err(NO_PARENT),
    }
}

/// The value at a pointer; `None` for a key that a map lacks.
fn find<'o>(object: &'o mut Placed, pointer: &str) -> Result<Option<&'o mut Placed>, &'static str> {
    let (container, key) = container(object, pointer)?;
    step(container, &key)
}
