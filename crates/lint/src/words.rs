//! Lists in sentences.

/// `a`, `a and b`, `a, b and c`.
pub(crate) fn and<T: AsRef<str>>(words: &[T]) -> String {
    list(words, "and")
}

/// `a`, `a or b`, `a, b or c`.
pub(crate) fn or<T: AsRef<str>>(words: &[T]) -> String {
    list(words, "or")
}

fn list<T: AsRef<str>>(words: &[T], joined: &str) -> String {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match words.split_last() {
        None => String::new(),
        Some((last, [])) => (*last).to_owned(),
        Some((last, rest)) => format!("{} {joined} {last}", rest.join(", ")),
    }
}
