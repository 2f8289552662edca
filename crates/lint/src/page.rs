//! The page of a rule, from `docs/rules/`, printed by `hcoplan explain`.

use hcoplan_diagnostics::finding::Rule;

/// A rule's page as Markdown: name, two lines of properties, and sections.
pub fn page(rule: &Rule) -> &'static str {
    hcoplan_rule_pages::page(rule.name).unwrap_or_default()
}

/// A rule's page, starting with its first section.
pub fn sections(rule: &Rule) -> &'static str {
    let page = page(rule);
    page.find("\n## ").map_or("", |start| page[start..].trim())
}
