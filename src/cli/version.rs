//! `--version`: hcoplan's own, and the releases that it models.

use std::ffi::OsString;

/// The compiled-in releases with their patch level. Known without reading any release's data:
/// `--version` is for scripts that ask often.
const MODELLED: [(&str, &str); 4] = [("1.16", "1.16.1"), ("1.17", "1.17.4"), ("1.18", "1.18.2"), ("1.19", "1.19.0")];

/// What follows the name for `--version`.
pub(super) fn long() -> String {
    let mut out = env!("CARGO_PKG_VERSION").to_owned();
    out.push_str("\nHCO releases:");
    for (name, version) in MODELLED {
        out.push_str(&format!(" {name} ({version})"));
    }
    out
}

/// The answer where the version is asked for and nothing else: scripts do that often, and no
/// subcommand's arguments have to be put together for it. It is what the command line would print.
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
