//! How much is read before it is refused: the arguments.

use std::time::Duration;

use clap::Args;

use crate::app::Budget;
use crate::source::{Bytes, Limits};

/// How much is read before it is refused.
#[derive(Debug, Args)]
#[group(skip)]
#[command(next_help_heading = "Limits")]
pub(super) struct Arguments {
    /// Largest file that is read, and largest document with its aliases written out
    /// [default: 64MiB]
    #[arg(long, global = true, value_name = "SIZE", value_parser = file_size, hide_short_help = true)]
    max_file_size: Option<usize>,

    /// Most that the files about HCO and its nodes may have in all [default: 4GiB]
    #[arg(long, global = true, value_name = "SIZE", hide_short_help = true)]
    max_total_size: Option<Bytes>,

    /// Most documents in one file [default: 100000]
    #[arg(long, global = true, value_name = "N", value_parser = count, hide_short_help = true)]
    max_documents: Option<usize>,

    /// Most keys and values in one file [default: 6000000]
    #[arg(long, global = true, value_name = "N", value_parser = count, hide_short_help = true)]
    max_values: Option<usize>,

    /// Most keys and values that aliases may add to one document [default: 400000]
    #[arg(long, global = true, value_name = "N", value_parser = count, hide_short_help = true)]
    max_alias_values: Option<usize>,

    /// Most levels of nesting, at most 1000 [default: 255]
    #[arg(long, global = true, value_name = "N", value_parser = depth, hide_short_help = true)]
    max_depth: Option<usize>,

    /// Longest that the run may take, in seconds; one that takes longer ends with 2
    /// [default: no limit]
    #[arg(long, global = true, value_name = "SECONDS", value_parser = seconds, hide_short_help = true)]
    max_time: Option<Duration>,

    /// Most memory that the run may occupy, in MiB; one that takes more ends with 2. On Linux only
    /// [default: no limit]
    #[arg(long, global = true, value_name = "MIB", value_parser = count, hide_short_help = true)]
    max_memory: Option<usize>,

    /// Most findings; a run with more ends with 2 instead of printing them [default: no limit]
    #[arg(long, global = true, value_name = "N", value_parser = count, hide_short_help = true)]
    max_findings: Option<usize>,
}

impl Arguments {
    /// The limits as they were typed, the others as they are.
    pub(super) fn limits(&self) -> Limits {
        let default = Limits::DEFAULT;
        Limits {
            max_bytes: self.max_file_size.unwrap_or(default.max_bytes),
            max_total: self.max_total_size.map_or(default.max_total, |b| b.0),
            max_documents: self.max_documents.unwrap_or(default.max_documents),
            max_nodes: self.max_values.unwrap_or(default.max_nodes),
            max_depth: self.max_depth.unwrap_or(default.max_depth),
            max_alias_nodes: self.max_alias_values.unwrap_or(default.max_alias_nodes),
            max_findings: self.max_findings.unwrap_or(default.max_findings),
        }
    }

    /// What the run may use.
    pub(super) fn budget(&self) -> Budget {
        Budget { time: self.max_time, memory: self.max_memory.map(|mib| (mib as u64) << 20) }
    }
}

fn file_size(text: &str) -> Result<usize, String> {
    let Bytes(bytes) = text.parse()?;
    let bytes = usize::try_from(bytes).ok();
    bytes.filter(|n| *n <= Limits::MOST_BYTES).ok_or_else(|| "a file of 4 GiB or more can't be read".to_owned())
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|n: &f64| *n > 0.0);
    let time = seconds.and_then(|n| Duration::try_from_secs_f64(n).ok());
    time.ok_or_else(|| "write a number of seconds above 0".to_owned())
}

fn count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err("write a whole number above 0".to_owned()),
    }
}

fn depth(text: &str) -> Result<usize, String> {
    let most = Limits::MOST_DEPTH;
    match count(text) {
        Ok(number) if number > most => Err(format!("{most} levels are the most that can be read")),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_names_the_defaults() {
        let command = <super::super::command_line::Arguments as clap::CommandFactory>::command();
        let help = |name: &str| {
            let found = command.get_arguments().find(|a| a.get_id() == name);
            let long = found.and_then(|a| a.get_long_help().or(a.get_help()));
            long.map(ToString::to_string).unwrap_or_default()
        };
        let default = Limits::DEFAULT;
        for (name, says) in [
            ("max_file_size", Bytes(default.max_bytes as u64).to_string()),
            ("max_total_size", Bytes(default.max_total).to_string()),
            ("max_documents", default.max_documents.to_string()),
            ("max_values", default.max_nodes.to_string()),
            ("max_alias_values", default.max_alias_nodes.to_string()),
            ("max_depth", default.max_depth.to_string()),
            ("max_depth", format!("at most {}", Limits::MOST_DEPTH)),
        ] {
            let says = says.replace(' ', "");
            let help = help(name).replace(' ', "");
            assert!(help.contains(&says), "{name}: {help}");
        }
    }

    #[test]
    fn a_limit_is_a_number_above_nothing() {
        assert_eq!(file_size("1KiB"), Ok(1024));
        assert!(file_size("4GiB").is_err() && file_size("0").is_err());
        assert!(count("0").is_err() && count("-1").is_err() && count("x").is_err());
        assert_eq!(depth("1000"), Ok(1000));
        assert!(depth("1001").is_err_and(|e| e.contains("1000")));
    }
}
