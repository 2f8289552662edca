//! Numbers and lists in sentences.

/// `1 cluster`, `2 clusters`.
pub fn plural(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

/// `a, b and c`; with more than `most` names, the first and the number of others.
pub fn list(names: &[impl AsRef<str>], most: usize) -> String {
    let all: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    // A single omitted name would save no space.
    let shown = if all.len() <= most.saturating_add(1) { all.len() } else { most };
    let (first, rest) = all.split_at(shown);
    match (first, rest.len()) {
        ([], _) => String::new(),
        ([one], 0) => (*one).to_owned(),
        ([first @ .., last], 0) => format!("{} and {last}", first.join(", ")),
        (first, more) => format!("{} and {more} more", first.join(", ")),
    }
}

/// The first items, a line each, and the number of others.
pub fn lines(items: &[impl AsRef<str>], most: usize) -> String {
    let mut text: String = items.iter().take(most).map(|item| format!("\n  {}", item.as_ref())).collect();
    if items.len() > most {
        text.push_str(&format!("\n  and {} more", items.len() - most));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortened_lists_count_the_rest() {
        assert_eq!(list(&["a"], 2), "a");
        assert_eq!(list(&["a", "b", "c"], 2), "a, b and c");
        assert_eq!(list(&["a", "b", "c", "d"], 2), "a, b and 2 more");
    }
}
