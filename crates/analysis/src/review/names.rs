//! Lists of names in sentences.

/// Maximum clusters listed completely; of more, only the first are named.
const MAX_NAMES: usize = 5;
const FEW: usize = 2;

/// `dev-1`, `3 clusters: dev-1, dev-2, dev-3`, `12 clusters: dev-1, dev-2, +10`; without a common directory.
pub fn clusters(names: &[&str]) -> String {
    named(names, MAX_NAMES)
}

/// The same with all names.
pub fn cluster_names(names: &[&str]) -> String {
    named(names, usize::MAX)
}

fn named(names: &[&str], most: usize) -> String {
    let shared = match names {
        [first, _, ..] => shared(first, names),
        _ => 0,
    };
    let short: Vec<&str> = names.iter().map(|n| n.get(shared..).unwrap_or(n)).collect();
    match short.as_slice() {
        [one] => (*one).to_owned(),
        [] => String::new(),
        few if few.len() <= most => format!("{} clusters: {}", few.len(), few.join(", ")),
        many => {
            let (shown, rest) = many.split_at(FEW.min(many.len()));
            format!("{} clusters: {}, +{}", many.len(), shown.join(", "), rest.len())
        }
    }
}

/// The length of the directory common to all names.
fn shared(first: &str, names: &[&str]) -> usize {
    let directories = first.rmatch_indices('/').map(|(at, _)| at + 1);
    let mut common = directories.filter(|at| names.iter().all(|n| n.get(..*at) == first.get(..*at)));
    common.next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortens_cluster_names_by_their_common_part() {
        assert_eq!(clusters(&["clusters/a"]), "clusters/a");
        assert_eq!(clusters(&["c/x/a", "c/x/b"]), "2 clusters: a, b");
        assert_eq!(clusters(&["c/x/a", "c/y/b"]), "2 clusters: x/a, y/b");
        assert_eq!(clusters(&["a", "c/b"]), "2 clusters: a, c/b");
        let many: Vec<String> = (10..22).map(|i| format!("c/{i}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(clusters(&many), "12 clusters: 10, 11, +10");
    }
}
