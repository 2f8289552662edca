//! Looking up a name in a sorted table.

/// The first eight bytes of each name of a sorted table, side by side: a search hardly ever goes to
/// the names' own memory. Schemas and Go's structs are asked for each field of each object.
#[derive(Debug, Default)]
pub(crate) struct Prefixes(Box<[u64]>);

impl Prefixes {
    /// Of names that are sorted.
    pub(crate) fn of<'n>(names: impl Iterator<Item = &'n str>) -> Self {
        Self(names.map(prefix).collect())
    }

    /// The place of a name; `at` tells the name at a place.
    pub(crate) fn find<'n>(&self, name: &str, at: impl Fn(usize) -> &'n str) -> Option<usize> {
        let wanted = prefix(name);
        let start = self.0.partition_point(|prefix| *prefix < wanted);
        let alike = self.0.get(start..)?.iter();
        let alike = alike.take_while(|prefix| **prefix == wanted).count();
        (start..start + alike).find(|place| at(*place) == name)
    }
}

/// Ordered as the names are, up to what comes behind it.
fn prefix(name: &str) -> u64 {
    let mut bytes = [0; 8];
    let length = name.len().min(bytes.len());
    bytes[..length].copy_from_slice(&name.as_bytes()[..length]);
    u64::from_be_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn finds_what_is_there(
            mut names in proptest::collection::vec("[a-c\u{0}ä]{0,12}", 0..40),
            other in "[a-c\u{0}ä]{0,12}",
        ) {
            names.sort();
            names.dedup();
            let prefixes = Prefixes::of(names.iter().map(String::as_str));
            for name in names.iter().chain([&other]) {
                let found = prefixes.find(name, |place| &names[place]);
                proptest::prop_assert_eq!(found, names.binary_search(name).ok());
            }
        }
    }
}
