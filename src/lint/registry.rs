//! Every rule there is.

use std::sync::LazyLock;

use super::rules::RULES;
use super::suppress::{SUPPRESSION_INVALID, SUPPRESSION_UNUSED};
use super::{Context, Sink};
use crate::finding::Rule;
use crate::inventory::{INVENTORY_INCONSISTENT, INVENTORY_INVALID};
use crate::repo;

/// Rules that report while files are read; they lie where that is done.
static ELSEWHERE: &[&Rule] = &[
    &INVENTORY_INCONSISTENT,
    &INVENTORY_INVALID,
    &SUPPRESSION_INVALID,
    &SUPPRESSION_UNUSED,
];

static ALL: LazyLock<Vec<Registered>> = LazyLock::new(|| {
    let elsewhere = ELSEWHERE.iter().chain(repo::RULES).map(|rule| Registered {
        rule,
        when: When::Elsewhere,
        check: |_, _| {},
    });
    let mut all: Vec<Registered> = RULES.iter().copied().chain(elsewhere).collect();
    all.sort_by_key(|r| r.rule.name);
    all
});

/// When a rule runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// With all others, in the order of their names.
    Always,
    /// After them: it explains in general what one of them may explain better.
    Late,
    /// After all: it reports what none of them explained.
    Last,
    /// While files are read: never by the engine.
    Elsewhere,
}

/// A rule with its check.
#[derive(Clone, Copy)]
pub struct Registered {
    /// Metadata and page.
    pub rule: &'static Rule,
    /// When it runs.
    pub when: When,
    /// Looks at one cluster.
    pub check: fn(&Context<'_>, &mut Sink),
}

/// Every rule, sorted by name.
pub fn rules() -> &'static [Registered] {
    &ALL
}

/// A rule by its name.
pub fn find(name: &str) -> Option<&'static Registered> {
    let found = ALL.binary_search_by_key(&name, |r| r.rule.name);
    ALL.get(found.ok()?)
}
