//! Text to a tree with byte spans, and back.
//!
//! YAML is read as Kubernetes reads it (kubectl: YAML 1.1 scalars by way of Go, documents split
//! before they are parsed), and written as kubectl writes it. This crate doesn't know
//! what a HyperConverged is.

mod build;
pub mod edit;
mod emit;
mod event;
mod json;
mod kustomize;
mod lex;
mod number;
mod parse;
mod path;
pub mod pointer;
mod problem;
mod scalar;
mod scalar_text;
pub mod source;
mod split;
mod tree;

pub use build::binary::decode_bytes as decode_base64;
pub use emit::{emit, emit_to};
pub use json::read_json;
pub use kustomize::{KustomizeScalar, days_in, kustomize_reads};
pub use number::{float_number, go_json, uint_number};
pub use parse::{Parsed, parse, parse_with, parse_yaml};
pub use path::{Path, Segment, Trail, is_within, overlap};
pub use problem::{Problem, ProblemKind};
pub use scalar::{Scalar, resolve};
pub use scalar_text::{ScalarPlaces, edit_part, is_invisible_or_control, locate_in_scalar};
pub use split::{Chunk, split};
pub use tree::{Comment, Document, Entry, Key, Node, Style, Value, strings};

pub use source::Limits;

#[cfg(test)]
mod tests;

/// The example in the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
