//! Objects for property tests: made from a schema and a seed, mostly valid, with some values of
//! every kind that admission has to handle.

use hcoplan_kubernetes::schema::Schema;
use hcoplan_yaml::Path;
use serde_json::{Map, Value, json};

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
    let mut object = value(schema, &Path::root(), &mut random, odd);
    if !object.is_object() {
        object = json!({});
    }
    object["apiVersion"] = schema.api_version().into();
    object["kind"] = schema.kind().into();
    object["metadata"] = json!({"name": "kubevirt-hyperconverged"});
    object
}

/// A value for a field; what the schema says nothing about is a stray one.
fn value(schema: &Schema, path: &Path, random: &mut Random, odd: bool) -> Value {
    let depth = path.0.len();
    let Some(field) = schema.field(path).filter(|_| !odd || !random.one_in(25)) else {
        return stray(random, depth);
    };
    if !field.allowed.is_empty() {
        return field.allowed[random.below(field.allowed.len())].clone();
    }
    match field.kind {
        "object" => map(schema, path, random, odd),
        "array" => (0..random.below(5)).map(|_| value(schema, &path.index(0), random, odd)).collect(),
        "boolean" => random.one_in(2).into(),
        kind if kind == "string" || kind == "integer,string" && !random.one_in(2) => {
            const WORDS: [&str; 10] =
                ["", "a", "b", "1Gi", "0.5", "10m", "none", "02:00:00:00:00:01", "1h0m0s", "A/b_c"];
            WORDS[random.below(WORDS.len())].into()
        }
        "number" if random.one_in(2) => json!(1.5),
        _ => json!(field.minimum.map_or(0, |least| least as i64) + i64::try_from(random.below(20)).unwrap_or(0)),
    }
}

fn map(schema: &Schema, path: &Path, random: &mut Random, odd: bool) -> Value {
    let mut map = Map::new();
    let names = schema.known_fields(path);
    // Wide objects are thinned out, so that an object stays readable when a test fails.
    let rarity = if names.len() > 12 { 4 } else { 2 };
    for name in names {
        let below = path.key(name);
        let required = schema.field(&below).is_some_and(|field| field.required);
        let there = if odd { !random.one_in(10) } else { true };
        if (required && there) || random.one_in(rarity + path.0.len() / 3) {
            map.insert(name.to_owned(), value(schema, &below, random, odd));
        }
    }
    for key in ["k", "a.b/c", "other"] {
        let below = path.key(key);
        if schema.field(&below).is_some() && random.one_in(3) {
            map.insert(key.to_owned(), value(schema, &below, random, odd));
        }
    }
    if odd && random.one_in(8) {
        map.insert("notThere".to_owned(), stray(random, path.0.len()));
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
        _ => json!({ "stray": stray(random, depth + 1) }),
    }
}
