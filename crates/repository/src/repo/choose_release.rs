//! Chooses the HCO release of a cluster.

use crate::prelude::*;
use hcoplan_diagnostics::finding::nearest;

/// A name that no release has.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is not a release that hcoplan models")]
pub struct UnknownRelease {
    /// The given name.
    pub name: String,
    /// The probably intended name, and the known ones.
    pub help: String,
}

/// The release with this name: an HCO release line as its branch has it (`1.17` or `1.17-tip`), a published version of
/// it (`1.17.3`, `v1.17.3`), the next one in development (`1.20-dev`), or a version of a distribution (`4.20`,
/// `v4.20.3`). For a patch level that isn't modelled, it is the nearest one below, see [`not_modelled`].
///
/// # Errors
/// An unknown name; the help lists the known ones.
pub fn known_release(name: &str) -> Result<Arc<Release>, UnknownRelease> {
    let by_parts = || {
        let (line, patch) = version_parts(name)?;
        let distribution = Distribution::of_line(&line)?;
        match patch {
            _ if !distribution.is_upstream() => Release::shipped(distribution, &line, patch.as_deref()),
            Some(patch) => Release::nearest_patch(&line, &patch),
            None => Release::known(&line),
        }
    };
    let line = name.strip_suffix("-tip").unwrap_or(name);
    let known = Release::known(line).or_else(|| Release::patch(name.trim_start_matches('v')));
    known.or_else(by_parts).ok_or_else(|| UnknownRelease { name: name.to_owned(), help: hint(name) })
}

/// The modelled release that is nearest to a version that isn't: the oldest for an older one, else the newest; of the
/// same distribution. `None` for what is no version.
pub(crate) fn nearest_release(name: &str) -> Option<Arc<Release>> {
    let (line, _) = version_parts(name)?;
    let numbers = version_numbers(&line);
    let of = |distribution: &'static Distribution| -> Vec<Arc<Release>> {
        distribution.lines().into_iter().filter_map(|line| known_release(line).ok()).collect()
    };
    let all = match Distribution::of_line(&line) {
        Some(distribution) => of(distribution),
        // Upstream's major version is 1, OpenShift Virtualization's 4 and later.
        None => Distribution::all().iter().map(of).find(|releases| {
            let first = releases.first().map(|release| version_numbers(release.label()));
            first.is_some_and(|first| (first.first() == Some(&1)) == (numbers.first() == Some(&1)))
        })?,
    };
    let is_older = all.first().is_some_and(|first| numbers < version_numbers(first.label()));
    if is_older { all.first().cloned() } else { all.last().cloned() }
}

/// A message that the patch level of a name isn't modelled, with the one that is used; `None` if it is.
pub fn not_modelled(name: &str, release: &Release) -> Option<String> {
    let (line, patch) = version_parts(name)?;
    let written = format!("{line}.{}", patch?);
    let used = version_numbers(release.version());
    let is_used = !release.distribution().is_upstream() || used == version_numbers(&written);
    (!is_used)
        .then(|| format!("HCO {written} isn't modelled: planned with {}, the nearest patch release", release.version()))
}

/// The name of the release with a version, as in `startingCSV` and CSVs: `4.20.3`, `1.17.3`; for upstream versions that
/// aren't modelled individually the line.
pub fn release_name(version: &str) -> Option<String> {
    let (line, patch) = version_parts(version)?;
    let upstream = Distribution::of_line(&line).is_none_or(Distribution::is_upstream);
    let full = patch.map(|patch| format!("{line}.{patch}"));
    let full = full.filter(|full| !upstream || Release::patch(full).is_some());
    Some(full.unwrap_or(line))
}

/// `HCO 1.16, 1.17, 1.18 and 1.19; OpenShift Virtualization 4.20, 4.21 and 4.22`
pub(super) fn known_names() -> String {
    let of = |distribution: &Distribution| {
        let modelled = |line: &&str| {
            let release = &distribution.versions[*line].release.value;
            Release::known(release).is_some()
        };
        let lines: Vec<&str> = distribution.lines().into_iter().filter(modelled).collect();
        let title = if distribution.is_upstream() { "HCO" } else { &distribution.title };
        format!("{title} {}", list(&lines, usize::MAX))
    };
    joined(Distribution::all().iter().map(of), "; ")
}

fn hint(name: &str) -> String {
    let known = known_names();
    if let Some((line, _)) = version_parts(name)
        && let Some(distribution) = Distribution::of_line(&line).filter(|d| !d.is_upstream())
    {
        let release = &distribution.versions[&line].release.value;
        return format!(
            "{line} is a version of {}, which is built from HCO {release}, which isn't modelled; \
             known releases: {known}",
            distribution.title
        );
    }
    let next = format!("{name}-dev");
    if Release::patch(&next).is_some() {
        return format!("{name} isn't released yet: use {next}. Known releases: {known}");
    }
    match nearest(name, Release::known_names()) {
        Some(meant) if !name.contains('.') => format!("did you mean {meant}? Known releases: {known}"),
        _ => format!("known releases: {known}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_at_the_nearest_release_without_guessing() {
        let all = known_names();
        assert!(all.starts_with("HCO 1.16, 1.17, ") && all.contains("; OpenShift Virtualization 4.20, "), "{all}");
        let cases = [
            (
                "4.19",
                "4.19 is a version of OpenShift Virtualization, which is built from HCO 1.15, which isn't modelled; known releases:",
            ),
            ("4.24", &format!("known releases: {all}")),
            ("1.15", &format!("known releases: {all}")),
            ("117", "did you mean 1.17?"),
            ("latest", &format!("known releases: {all}")),
        ];
        for (name, expected) in cases {
            let unknown = known_release(name).expect_err(name);
            assert!(unknown.help.starts_with(expected), "{name}: {}", unknown.help);
        }
        for next in Release::patch_names().filter_map(|name| name.strip_suffix("-dev")) {
            let expected = format!("{next} isn't released yet: use {next}-dev. Known releases: {all}");
            assert!(known_release(next).expect_err(next).help.starts_with(&expected), "{next}");
        }
    }

    #[test]
    fn versions_of_a_distribution_are_releases() {
        let cases = [
            ("1.16", "1.16", "HCO 1.16"),
            ("4.20", "1.16", "OpenShift Virtualization 4.20 (HCO 1.16)"),
            ("v4.20.3", "1.16", "OpenShift Virtualization 4.20.3 (HCO 1.16)"),
            ("4.22", "1.18", "OpenShift Virtualization 4.22 (HCO 1.18)"),
            ("5.0", "1.19", "OpenShift Virtualization 5.0 (HCO 1.19)"),
            ("1.17-tip", "1.17", "HCO 1.17"),
            ("v1.17.3", "1.17", "HCO 1.17.3"),
            ("v1.18", "1.18", "HCO 1.18"),
            ("1.17.99", "1.17", "HCO 1.17"),
        ];
        for (name, release, title) in cases {
            let known = known_release(name).expect(name);
            assert_eq!((known.name(), known.title().as_str()), (release, title));
        }
        for next in Release::patch_names().filter(|name| name.ends_with("-dev")) {
            assert_eq!(known_release(next).expect(next).title(), format!("HCO {next} (in development)"));
        }
        let said = |name: &str| not_modelled(name, &known_release(name).expect(name));
        for name in ["1.17", "v1.17.3", "4.20.99", Release::known("1.18").expect("known").version()] {
            assert_eq!(said(name), None, "{name}");
        }
        assert!(said("1.17.99").is_some_and(|s| s.starts_with("HCO 1.17.99 isn't modelled: planned with 1.17.")));
        assert_eq!(release_name("v4.20.3").as_deref(), Some("4.20.3"));
        assert_eq!(release_name("1.17.3").as_deref(), Some("1.17.3"));
        assert_eq!(release_name("1.17.9").as_deref(), Some("1.17"));
    }
}
