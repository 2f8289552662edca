//! Questions about plans: [`diff`] says what differs between two and what that means, [`why`] what makes a
//! field what it is, [`docs`] what fields, gates and terms are.

pub mod diff;
pub mod docs;
pub mod why;
