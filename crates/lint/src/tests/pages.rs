//! `docs/rules/` is what the rules say.

use std::fs;

use snapbox::Data;

use crate::{index, page, rules};

#[test]
fn docs_are_generated_from_the_rules() {
    let docs = hcoplan_testing::root().join("docs/rules");
    let mut pages = vec![("README".to_owned(), index())];
    pages.extend(rules().iter().map(|r| (r.rule.name.to_owned(), page(r.rule))));
    let mut complaints = Vec::new();
    for (name, text) in &pages {
        let expected = Data::read_from(&docs.join(format!("{name}.md")), None).raw();
        let compared = snapbox::Assert::new().action_env(snapbox::assert::DEFAULT_ACTION_ENV).try_eq(
            Some(name),
            text.into(),
            expected,
        );
        complaints.extend(compared.err().map(|e| e.to_string()));
    }
    for entry in fs::read_dir(&docs).into_iter().flatten().flatten() {
        let file = entry.file_name().to_string_lossy().into_owned();
        let known = pages.iter().any(|(name, _)| file == format!("{name}.md"));
        if !known {
            complaints.push(format!("docs/rules/{file} is no rule's page"));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
