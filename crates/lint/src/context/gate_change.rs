//! Feature gates added or removed by an operation of a patch.

use super::prelude::*;

/// An operation's changes of a list of gates.
#[derive(Debug)]
pub struct PatchedGates {
    /// The list's pointer.
    pub list: &'static str,
    /// Gates added, in order; repeated ones included.
    pub added: Vec<String>,
    /// Added gates that the list already had.
    pub twice: Vec<String>,
    /// Gates removed, in order.
    pub lost: Vec<String>,
}

impl PatchedGates {
    pub(super) fn new(list: &'static str, before: &[String], after: &[String]) -> Self {
        let mut rest: HashMap<&str, usize> = HashMap::new();
        for gate in before {
            *rest.entry(gate).or_default() += 1;
        }
        let twice = |gate: &&String| rest.contains_key(gate.as_str());
        let added_to = |mut left: HashMap<&str, usize>| {
            let mut is_new = |gate: &&String| match left.get_mut(gate.as_str()) {
                Some(count) if *count > 0 => {
                    *count -= 1;
                    false
                }
                _ => true,
            };
            after.iter().filter(|g| is_new(g)).cloned().collect()
        };
        let added: Vec<String> = added_to(rest.clone());
        let still: HashSet<&str> = after.iter().map(String::as_str).collect();
        let lost = before.iter().filter(|g| !still.contains(g.as_str()));
        Self { list, twice: added.iter().filter(twice).cloned().collect(), lost: lost.cloned().collect(), added }
    }
}
