//! hcoplan's rules and their pages, compiled in as they lie in this directory. A crate of its own, because a
//! published crate can't include files from outside its directory.

/// Each rule's name and its page in Markdown, sorted by name.
static PAGES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/pages.rs"));

/// The rules, each as its page's head describes it.
pub mod rules {
    use hcoplan_diagnostics::finding::{
        Claim, Confidence, FixKind, Group, Needs, OptionValue, Prediction, Rule, RuleOption, Severity,
    };

    include!(concat!(env!("OUT_DIR"), "/rules.rs"));
}

/// All rules, sorted by name.
pub static RULES: &[&hcoplan_diagnostics::finding::Rule] = rules::ALL;

/// The page of a rule, in Markdown, with its head; `None` where there is none.
pub fn page(rule: &str) -> Option<&'static str> {
    let at = PAGES.binary_search_by_key(&rule, |(name, _)| name).ok()?;
    Some(PAGES[at].1)
}
