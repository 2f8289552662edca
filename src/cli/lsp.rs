//! `hcoplan lsp`: the language server on standard input and output.

use super::output::Output;
use crate::lsp;
use crate::prelude::*;

/// Run the language server: findings, fixes and explanations in an editor
///
/// It speaks the language server protocol on standard input and output. Editors start it; docs/editors.md shows how for
/// VS Code, Neovim and Helix. Configuration is the workspace's hcoplan.yaml.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  hcoplan lsp                                  started by an editor, see docs/editors.md")]
pub(super) struct Arguments {
    /// Use standard input and output: the default, for editors that pass it
    #[arg(long)]
    stdio: bool,
}

pub(super) fn run(arguments: &Arguments, _: &Output) -> Result<Exit, Failure> {
    let Arguments { stdio: _ } = arguments;
    let input = std::io::BufReader::new(std::io::stdin());
    let code = lsp::run(input, std::io::stdout().lock())?;
    Ok(Exit { failed: code != 0, ..Exit::default() })
}
