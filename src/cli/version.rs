//! `--version`: hcoplan's version and the modelled releases.
use crate::prelude::*;
/// The text after the name in `--version`.
pub(super) fn long() -> String {
    let mut out = env!("CARGO_PKG_VERSION").to_owned();
    out.push_str("\nHCO releases:");
    for (name, files) in hcoplan_schemas::RELEASES {
        // Every run of the program comes here: no release is loaded for its version.
        let file = files.iter().find(|(file, _)| *file == "release.json");
        let release = file.and_then(|(_, text)| serde_json::from_str::<Value>(text).ok()).unwrap_or_default();
        out.push_str(&format!(" {name} ({})", release["version"].as_str().unwrap_or_default()));
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
        let known = Release::known_names().map(|name| {
            let release = Release::known(name).expect("known");
            format!(" {name} ({})", release.version())
        });
        assert!(long().ends_with(&known.collect::<String>()), "{}", long());
    }
}
