//! A rule's page: what `hcoplan explain` prints, from `docs/rules/`.

use hcoplan_diagnostics::finding::Rule;

/// A rule's page as Markdown: its name, two lines of what is known about it, then its sections.
pub fn page(rule: &Rule) -> &'static str {
    hcoplan_rule_pages::page(rule.name).unwrap_or_default()
}

/// A rule's page from its first section on.
pub fn sections(rule: &Rule) -> &'static str {
    let page = page(rule);
    page.find("\n## ").map_or("", |start| page[start..].trim())
}
