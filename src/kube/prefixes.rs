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
        (start..start + alike).find(|place| is_same(at(*place), name))
    }
}

/// Whether names with one prefix are the same: those of one length differ behind it, if at all.
fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let behind = size_of::<u64>()..;
    one.len() == other.len() && one.get(behind.clone()) == other.get(behind)
}

/// Ordered as the names are, up to what comes behind it.
fn prefix(name: &str) -> u64 {
    let bytes = name.as_bytes();
    if let Some(eight) = bytes.first_chunk() {
        return u64::from_be_bytes(*eight);
    }
    match (bytes.first_chunk(), bytes.last_chunk()) {
        // Four and four, which overlap.
        (Some(first), Some(last)) => {
            let (first, last) = (u32::from_be_bytes(*first), u32::from_be_bytes(*last));
            u64::from(first) << 32 | u64::from(last) << (64 - 8 * bytes.len())
        }
        _ => {
            let places = [56, 48, 40].into_iter().zip(bytes);
            places.fold(0, |prefix, (place, byte)| {
                prefix | u64::from(*byte) << place
            })
        }
    }
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
                let mut bytes: Vec<u8> = name.bytes().take(8).collect();
                bytes.resize(8, 0);
                let wanted = u64::from_be_bytes(bytes.try_into().expect("eight"));
                proptest::prop_assert_eq!(prefix(name), wanted);
                let found = prefixes.find(name, |place| &names[place]);
                proptest::prop_assert_eq!(found, names.binary_search(name).ok());
            }
        }
    }
}
