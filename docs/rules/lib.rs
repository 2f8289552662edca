//! The pages of hcoplan's rules, compiled in as they lie in this directory. A crate of its own, because a
//! published crate can't include files from outside its directory.

/// Each rule's name and its page in Markdown, sorted by name.
static PAGES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/pages.rs"));

/// The names of all rules that have a page, sorted.
pub fn names() -> impl Iterator<Item = &'static str> {
    PAGES.iter().map(|(name, _)| *name)
}

/// The page of a rule, in Markdown; `None` where there is none.
pub fn page(rule: &str) -> Option<&'static str> {
    let at = PAGES.binary_search_by_key(&rule, |(name, _)| name).ok()?;
    Some(PAGES[at].1)
}
