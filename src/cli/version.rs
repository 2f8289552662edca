//! `--version`: hcoplan's own, and the releases that it models.

/// The compiled-in releases with their patch level. Known without reading any release's data:
/// `--version` is for scripts that ask often.
const MODELLED: [(&str, &str); 4] = [
    ("1.16", "1.16.1"),
    ("1.17", "1.17.4"),
    ("1.18", "1.18.2"),
    ("1.19", "1.19.0"),
];

/// What follows the name for `--version`.
pub(super) fn long() -> String {
    let mut out = env!("CARGO_PKG_VERSION").to_owned();
    out.push_str("\nHCO releases:");
    for (name, version) in MODELLED {
        out.push_str(&format!(" {name} ({version})"));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::Release;

    #[test]
    fn names_every_release_that_is_compiled_in() {
        let known: Vec<_> = Release::known_names()
            .map(|name| {
                let release = Release::known(name).expect("known");
                (name, release.version().to_owned())
            })
            .collect();
        let modelled: Vec<_> = MODELLED
            .iter()
            .map(|(n, v)| (*n, (*v).to_owned()))
            .collect();
        assert_eq!(modelled, known);
    }
}
