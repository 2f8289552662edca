//! Questions about plans: [`diff`] says what differs between two and what that means, [`why`] what makes a
//! field what it is.

pub mod diff;
pub mod why;
