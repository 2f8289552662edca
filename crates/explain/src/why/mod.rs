//! Finds which inputs determine a field of a rendered object, by trials.
//!
//! A renderer keeps no record of a value's sources. Instead each input is removed for a trial (a line of the
//! HyperConverged, an operation of a jsonpatch annotation, a node pool, a fact of the inventory), and everything is
//! planned again: the input determines every value that changes. Admission is skipped, as without a required field the
//! API server would reject the whole manifest.
//!
//! Pure, as planning is: reads no file.

mod answer;
mod facts;
pub(crate) mod input;
mod input_pairs;
mod inputs;
mod kept_value;
mod nodes;
mod origin;
mod patch;
pub(crate) mod plan_input;
mod search;
mod sufficient;
mod sufficient_change;
pub(crate) mod target;

pub use answer::{Answer, DecisiveSources, Source, ask, ask_of};
pub use facts::NodeField;
pub use hcoplan_planner::world::Fact;
pub use input::{Input, InputTree};
pub use inputs::input_trees;
pub use origin::{OtherRelease, ValueOrigin};
pub use patch::{OperationEffect, PatchShown, Remedy, applied, patch_shown};
pub use plan_input::PlanInput;
pub use sufficient_change::{Edit, SufficientChange};
pub use target::{FoundValue, Problem, Target};
