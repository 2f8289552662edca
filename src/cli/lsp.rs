//! `hcoplan lsp`: the language server on standard input and output.

use clap::Args;

use super::exit::Verdict;
use super::failure::Failure;
use crate::lsp;

/// Talk to an editor: findings, fixes and explanations while somebody types
///
/// The language server protocol on standard input and output. Editors start this; docs/editors.md
/// says how for VS Code, Neovim and Helix. Configuration is the workspace's hcoplan.yaml.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  hcoplan lsp                                  started by an editor, see docs/editors.md")]
pub(super) struct Arguments {
    /// Standard input and output: what it does anyhow, for editors that say so
    #[arg(long)]
    stdio: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    let Arguments { stdio: _ } = arguments;
    let input = std::io::BufReader::new(std::io::stdin());
    let code = lsp::run(input, std::io::stdout().lock())?;
    Ok(Verdict { failed: code != 0, ..Verdict::default() })
}
