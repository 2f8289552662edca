//! The typed command, for reports.

/// Options with a value that affect only format, destination and speed of the output.
const OF_OUTPUT: [&str; 3] = ["--format", "--color", "--jobs"];
const SWITCHES: [&str; 4] = ["-q", "--quiet", "-v", "--verbose"];

/// The command line for a shell, without options that don't affect the content.
pub(super) fn command() -> String {
    of_words(std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()))
}

fn of_words(mut words: impl Iterator<Item = String>) -> String {
    let mut out = "hcoplan".to_owned();
    while let Some(word) = words.next() {
        let (name, value) = word.split_once('=').map_or((&*word, None), |(name, value)| (name, Some(value)));
        if OF_OUTPUT.contains(&name) {
            if value.is_none() {
                words.next();
            }
        } else if !SWITCHES.contains(&&*word) {
            out.push(' ');
            // Only a zero byte can't be quoted, and arguments have none.
            out.push_str(&shlex::try_quote(&word).unwrap_or_default());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn omits_output_options() {
        let words =
            ["plan", "my clusters", "--format", "markdown", "--format=json=f", "-q", "--against", "origin/main"];
        let command = of_words(words.into_iter().map(str::to_owned));
        assert_eq!(command, "hcoplan plan 'my clusters' --against origin/main");
    }
}
