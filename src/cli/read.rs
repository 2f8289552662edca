//! `hcoplan read`: what Kubernetes makes of a file.

use std::fs::File;

use camino::Utf8PathBuf;
use clap::Args;

use super::exit::Verdict;
use super::failure::Failure;
use super::output::Output;
use crate::secret;
use crate::source::{SourceFile, Span, read_limited};
use crate::yaml::{self, ProblemKind};

/// Print a file's documents as Kubernetes reads them
///
/// One JSON line per document: split, decoded and resolved as kubectl does it (`on` is true,
/// `0777` is 511). What can't be read is said with its line and column.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  hcoplan read hyperconverged.yaml")]
pub(super) struct Arguments {
    /// The file; `-` for standard input
    #[arg(value_name = "FILE")]
    file: Utf8PathBuf,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Verdict, Failure> {
    let path = &arguments.file;
    let bytes = match path.as_str() {
        "-" => read_limited(&mut std::io::stdin().lock()),
        _ => File::open(path).and_then(|mut file| read_limited(&mut file)),
    };
    let mut verdict = Verdict::default();
    let bytes = match bytes {
        Ok(bytes) => bytes,
        Err(error) => {
            output.error(format_args!("{path}: {error}"));
            verdict.unreadable = true;
            return Ok(verdict);
        }
    };
    let file = SourceFile::from_bytes(path, bytes);
    let parsed = yaml::parse(&file);
    for document in &parsed.documents {
        let mut object = document.root.to_json();
        secret::mask_object(&mut object);
        let line = yaml::json_line(&object);
        let line = secret::masked_message(&file, Span::default(), &line);
        output.print(format!("{line}\n"))?;
    }
    for problem in &parsed.problems {
        let at = file.position(problem.span.start);
        let said = secret::masked_message(&file, problem.span, &problem.message);
        let message = format!("{path}:{}:{}: {said}", at.line, at.column);
        // What a repository may well hold is nothing that kubectl takes.
        if problem.kind.is_fatal() || problem.kind == ProblemKind::NotAMapping {
            output.error(message);
            verdict.unreadable = true;
        } else {
            output.warning(message);
        }
    }
    Ok(verdict)
}
