//! Input and findings: [`source`] has files and the locations in them, [`finding`] the findings, [`secret`] what must
//! not be shown and how text from the input is printed.

pub mod finding;
mod prelude;
pub mod secret;
pub mod source;
pub mod words;
