//! What is read and what is said about it: [`source`] has files and the places in them, [`finding`] what is
//! found there, [`secret`] what must not be shown and how text that came from input is printed.

pub mod finding;
pub mod secret;
pub mod source;
