//! `--version`: hcoplan's version and the modelled releases.

use std::ffi::OsString;

/// The built-in releases with their patch level, so that `--version` loads no release.
const MODELLED: [(&str, &str); 4] = [("1.16", "1.16.1"), ("1.17", "1.17.4"), ("1.18", "1.18.2"), ("1.19", "1.19.0")];

/// The text after the name in `--version`.
pub(super) fn long() -> String {
    let mut out = env!("CARGO_PKG_VERSION").to_owned();
    out.push_str("\nHCO releases:");
    for (name, version) in MODELLED {
        out.push_str(&format!(" {name} ({version})"));
    }
    out
}

/// The answer if only the version is requested: fast for scripts, because it doesn't build the command line. Equal to
/// clap's output.
pub(super) fn version_answer(typed: &[OsString]) -> Option<String> {
    let [_, word] = typed else {
        return None;
    };
    match word.to_str()? {
        "--version" => Some(format!("hcoplan {}\n", long())),
        "-V" => Some(format!("hcoplan {}\n", env!("CARGO_PKG_VERSION"))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    use crate::cli::command_line::Arguments;
    use crate::release::Release;

    #[test]
    fn agrees_with_the_command_line() {
        let asked = |word: &str| version_answer(&["hcoplan".into(), word.into()]);
        assert_eq!(asked("-V"), Some(Arguments::command().render_version()));
        assert_eq!(asked("--version"), Some(Arguments::command().render_long_version()));
        assert_eq!(asked("--help"), None);
    }

    #[test]
    fn names_every_release_that_is_compiled_in() {
        let known: Vec<_> = Release::known_names()
            .map(|name| {
                let release = Release::known(name).expect("known");
                (name, release.version().to_owned())
            })
            .collect();
        let modelled: Vec<_> = MODELLED.iter().map(|(n, v)| (*n, (*v).to_owned())).collect();
        assert_eq!(modelled, known);
    }
}
