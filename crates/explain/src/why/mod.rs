//! Finds which inputs determine a field of a rendered object, by trials.
//!
//! No renderer keeps a record of where a value came from. Instead an input is taken away (a line of
//! the HyperConverged, an operation of a jsonpatch annotation, a pool of nodes, a fact of the
//! inventory), everything is planned again, and what moves was made by it. Admission is skipped:
//! without a required field the API server would reject the lot, and every line would seem to
//! cause everything.
//!
//! Pure, as the plan is: no file is read here.

mod answer;
mod facts;
mod input;
mod input_pairs;
mod inputs;
mod kept_value;
mod node_counts;
mod nodes;
mod origin;
mod patch;
mod plan_input;
mod search;
mod sufficient;
mod sufficient_change;
mod target;
mod unused_inputs;

pub use answer::{Answer, Cause, Source, ask, ask_of};
pub use facts::{Fact, NodeField};
pub use input::{Input, InputTree};
pub use inputs::input_trees;
pub use origin::{OtherRelease, ValueOrigin};
pub use patch::{OperationEffect, PatchShown, Remedy, applied, patch_shown};
pub use plan_input::PlanInput;
pub use sufficient_change::{Edit, SufficientChange};
pub use target::{FoundValue, Problem, Target};
pub use unused_inputs::{UnusedInput, unused_inputs};
