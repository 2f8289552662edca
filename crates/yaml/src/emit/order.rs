//! The order of keys: natural, so that `disk2` comes before `disk10`.

use std::cmp::Ordering;

use serde_json::{Map, Value};

/// A mapping's entries in the order in which Go's YAML library writes them.
pub(super) fn natural_order(entries: &Map<String, Value>) -> Vec<(&String, &Value)> {
    let mut sorted: Vec<_> = entries.iter().collect();
    let in_order = sorted.windows(2).all(|pair| match pair {
        [a, b] => compare(a.0, b.0) != Ordering::Greater,
        _ => true,
    });
    if !in_order {
        let mut buffer = sorted.clone();
        merge_sort(&mut sorted, &mut buffer);
    }
    sorted
}

/// A sort that never panics: Go's order contradicts itself for some keys, which the standard sort may reject.
fn merge_sort<'m>(items: &mut [(&'m String, &'m Value)], buffer: &mut [(&'m String, &'m Value)]) {
    if items.len() < 2 {
        return;
    }
    let middle = items.len() / 2;
    let (left, right) = items.split_at_mut(middle);
    let (left_buffer, right_buffer) = buffer.split_at_mut(middle);
    merge_sort(left, left_buffer);
    merge_sort(right, right_buffer);
    let (mut l, mut r) = (0, 0);
    for slot in buffer.iter_mut() {
        let from_right = match (left.get(l), right.get(r)) {
            (Some(a), Some(b)) => compare(b.0, a.0) == Ordering::Less,
            (left, _) => left.is_none(),
        };
        let taken = if from_right { (&right[r], &mut r) } else { (&left[l], &mut l) };
        *slot = *taken.0;
        *taken.1 += 1;
    }
    items.copy_from_slice(buffer);
}

/// Letters by their code, numbers by their value, everything else before letters.
/// Source of the rule: `keyList.Less` of go.yaml.in/yaml/v2.
fn compare(a: &str, b: &str) -> Ordering {
    let same = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    // The first difference may be in the middle of a character.
    let same = (0..=same).rev().find(|i| a.is_char_boundary(*i) && b.is_char_boundary(*i));
    let (before, rest_a) = a.split_at(same.unwrap_or(0));
    let rest_b = &b[before.len()..];
    let (Some(first_a), Some(first_b)) = (rest_a.chars().next(), rest_b.chars().next()) else {
        return rest_a.len().cmp(&rest_b.len());
    };
    match (first_a.is_alphabetic(), first_b.is_alphabetic()) {
        (true, true) => return first_a.cmp(&first_b),
        (true, false) => return Ordering::Greater,
        (false, true) => return Ordering::Less,
        (false, false) => {}
    }
    // A zero inside a number is a digit like others, in front of it it isn't.
    let mut start = 0;
    if first_a == '0' || first_b == '0' {
        let digits = before.bytes().rev().take_while(u8::is_ascii_digit);
        start = i64::from(digits.into_iter().any(|digit| digit != b'0'));
    }
    let (number_a, digits_a) = number(rest_a, start);
    let (number_b, digits_b) = number(rest_b, start);
    number_a.cmp(&number_b).then(digits_a.cmp(&digits_b)).then(first_a.cmp(&first_b))
}

/// The number at the beginning, and how many digits it has.
fn number(text: &str, start: i64) -> (i64, usize) {
    let digits = text.bytes().take_while(u8::is_ascii_digit);
    digits.fold((start, 0), |(value, count), digit| {
        let value = value.wrapping_mul(10).wrapping_add(i64::from(digit - b'0'));
        (value, count + 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(keys: &[&str]) -> Vec<String> {
        let entries = keys.iter().map(|k| ((*k).to_owned(), Value::Null)).collect();
        natural_order(&entries).into_iter().map(|(k, _)| k.clone()).collect()
    }

    #[test]
    fn sorts_numbers_by_value_and_letters_last() {
        assert_eq!(
            sorted(&["disk10", "disk2", "a", "B", "_x", "1", "10", "2", "a.b", "a/b", "a-b", "ab"]),
            ["_x", "1", "2", "10", "B", "a", "a-b", "a.b", "a/b", "ab", "disk2", "disk10"]
        );
        assert_eq!(sorted(&["a01", "a1", "a10", "a100", "a2"]), ["a1", "a01", "a2", "a10", "a100"]);
        assert_eq!(sorted(&["é", "e", "z", "日", "-"]), ["-", "e", "z", "é", "日"]);
    }
}
