//! Objects for property tests: made from a schema and a seed, mostly valid, with some values of
//! every kind that admission has to handle.

use super::{Additional, Node, Schema, Types};
use crate::prelude::*;

/// A small generator of random numbers (splitmix64): the same seed gives the same object.
pub struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// `0..n`
    pub fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % (n.max(1) as u64)).unwrap_or(0)
    }

    /// True once in `n`.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

/// An object of the schema's kind. With `odd` some values are of the wrong type, unknown, null,
/// repeated or out of range.
pub fn object(schema: &Schema, seed: u64, odd: bool) -> Value {
    let mut random = Random(seed);
    let mut object = value(schema, schema.root(), &mut random, odd, 0);
    if !object.is_object() {
        object = Value::Object(Map::new());
    }
    object["apiVersion"] = Value::from(schema.api_version());
    object["kind"] = Value::from(schema.kind());
    object["metadata"] = serde_json::json!({"name": "kubevirt-hyperconverged"});
    object
}

fn value(schema: &Schema, node: &Node, random: &mut Random, odd: bool, depth: usize) -> Value {
    if odd && random.one_in(25) {
        return stray(random, depth);
    }
    let limits = node.limits.as_deref();
    if let Some(allowed) = limits.map(|l| &l.allowed).filter(|a| !a.is_empty()) {
        return allowed[random.below(allowed.len())].clone();
    }
    let types = node.types;
    if types.has(Types::OBJECT) {
        return map(schema, node, random, odd, depth);
    }
    if types.has(Types::ARRAY) {
        let longest = limits.and_then(|l| l.max_items).unwrap_or(4).min(4);
        let count = random.below(usize::try_from(longest).unwrap_or(4) + 1);
        let items = node.items.as_deref();
        let one = |random: &mut Random| match items {
            Some(items) => value(schema, items, random, odd, depth + 1),
            None => stray(random, depth),
        };
        return (0..count).map(|_| one(random)).collect();
    }
    if types.has(Types::BOOLEAN) {
        return Value::from(random.one_in(2));
    }
    if types.has(Types::STRING) && !(types.has(Types::INTEGER) && random.one_in(2)) {
        const WORDS: [&str; 10] = ["", "a", "b", "1Gi", "0.5", "10m", "none", "02:00:00:00:00:01", "1h0m0s", "A/b_c"];
        return Value::from(WORDS[random.below(WORDS.len())]);
    }
    if types.has(Types::NUMBER) && random.one_in(2) {
        return Number::from_f64(1.5).map_or(Value::Null, Value::Number);
    }
    let low = limits.and_then(|l| l.minimum).map_or(0, |m| m as i64);
    Value::from(low + i64::try_from(random.below(20)).unwrap_or(0))
}

fn map(schema: &Schema, node: &Node, random: &mut Random, odd: bool, depth: usize) -> Value {
    let mut map = Map::new();
    // Wide objects are thinned out, so that an object stays readable when a test fails.
    let rarity = if node.properties.len() > 12 { 4 } else { 2 };
    for (name, below) in &node.properties {
        let required = node.required.contains(name);
        let there = if odd { !random.one_in(10) } else { true };
        if (required && there) || random.one_in(rarity + depth / 3) {
            let v = value(schema, below, random, odd, depth + 1);
            map.insert(name.to_string(), v);
        }
    }
    if let Some(Additional::Schema(below)) = &node.additional {
        for key in ["k", "a.b/c", "other"] {
            if random.one_in(3) {
                map.insert(key.to_owned(), value(schema, below, random, odd, depth + 1));
            }
        }
    }
    if odd && random.one_in(8) {
        map.insert("notThere".to_owned(), stray(random, depth));
    }
    Value::Object(map)
}

fn stray(random: &mut Random, depth: usize) -> Value {
    match random.below(if depth > 6 { 5 } else { 7 }) {
        0 => Value::Null,
        1 => Value::from(true),
        2 => Value::from(-3),
        3 => Value::from("stray"),
        4 => Value::from(0.25),
        5 => vec![stray(random, depth + 1), Value::Null].into(),
        _ => serde_json::json!({ "stray": stray(random, depth + 1) }),
    }
}
