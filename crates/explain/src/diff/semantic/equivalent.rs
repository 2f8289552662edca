//! Compares values that are equal in different notations.

use crate::prelude::*;
use hcoplan_kubernetes::duration;
use hcoplan_kubernetes::quantity::Quantity;
use std::cmp::Ordering;

/// Keys below which values are quantities.
const QUANTITIES: [&str; 7] = ["requests", "limits", "capacity", "hard", "storage", "size", "memory"];

/// Whether two scalars mean the same at a path: the same duration, quantity or device.
pub(super) fn is_equivalent(path: &Path, before: &Value, after: &Value) -> bool {
    if let (Some(a), Some(b)) = (before.as_str(), after.as_str()) {
        // KubeVirt's device controller writes it in small letters.
        if path.keys().last() == Some("pciVendorSelector") {
            return a.eq_ignore_ascii_case(b);
        }
        let time = |text: &str| {
            let has_unit = text.ends_with(|c: char| c.is_ascii_alphabetic());
            has_unit.then(|| duration::parse(text).ok()).flatten()
        };
        if let (Some(a), Some(b)) = (time(a), time(b)) {
            return a == b;
        }
    }
    let is_quantity = path.0.iter().any(|step| matches!(step, Segment::Key(key) if QUANTITIES.contains(&key.as_str())));
    let both = || Quantity::of(before).zip(Quantity::of(after));
    is_quantity && both().is_some_and(|(a, b)| a.cmp(&b) == Ordering::Equal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn compares_quantities_by_amount() {
        let at = |path: &str, a: Value, b: Value| is_equivalent(&Path::dotted(path), &a, &b);
        assert!(at("resources.requests.memory", json!("1Gi"), json!("1024Mi")));
        assert!(at("resources.requests.cpu", json!(1), json!("1000m")));
        assert!(!at("resources.requests.cpu", json!("100m"), json!("1")));
        assert!(!at("resources.requests.cpu", json!("1"), json!("100m")));
        assert!(!at("version", json!("1"), json!("1000m")));
        assert!(at("devices.pciVendorSelector", json!("10DE:1EB8"), json!("10de:1eb8")));
    }

    #[test]
    fn compares_times_by_length() {
        let at = |a: &str, b: &str| is_equivalent(&Path::dotted("x"), &json!(a), &json!(b));
        assert!(at("60s", "1m"));
        assert!(!at("60s", "2m"));
        assert!(!at("60", "60.0"));
    }
}
