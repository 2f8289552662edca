//! The search: sections first, then their parts; inputs that can replace each other together.

use super::input::{Input, InputTree};
use super::plan_input::PlanInput;
use super::target::{FoundValue, Target};

/// The number of sets of inputs that can replace each other which are searched.
const MOST_SETS: usize = 3;

/// Up to so many parts of a section are taken away one by one.
const FEW: usize = 16;

/// In a section in which more parts than these move the target, only the whole is reported.
const MOST_TOLD: usize = 16;

/// Of a section with more parts than these, what is hidden in single ones isn't looked for.
const MOST_PARTS: usize = 64;

/// Inputs without which the answer would be another one: one, or several that have to go together.
#[derive(Debug, Clone)]
pub(super) struct DecisiveInputs {
    pub(super) inputs: Vec<Input>,
    pub(super) without: FoundValue,
}

pub(super) struct Search<'a> {
    pub(super) plan_input: &'a PlanInput<'a>,
    pub(super) target: &'a Target,
    pub(super) base: &'a FoundValue,
}

impl Search<'_> {
    /// The value without these; the present one where the operators stop without them: the answer is about the field,
    /// not about what else an edit breaks.
    fn without(&self, inputs: &[&Input]) -> FoundValue {
        let plan = self.plan_input.without(inputs);
        if self.plan_input.stops_operators(&plan) { self.base.clone() } else { self.target.read(&plan) }
    }

    /// Everything that moves the target.
    pub(super) fn run(&self, units: &[InputTree]) -> Vec<DecisiveInputs> {
        let mut found = Vec::new();
        let mut still: Vec<&InputTree> = Vec::new();
        for unit in units {
            let reading = self.without(&[&unit.input]);
            if reading != *self.base {
                self.descend(unit, reading, &[], &mut found);
                continue;
            }
            still.push(unit);
            // What is missing may be kept away by a part of a section that would make it.
            if !matches!(self.base, FoundValue::Value(_)) {
                for (part, reading) in self.hidden(unit, &[], self.base) {
                    self.descend(part, reading, &[], &mut found);
                }
            }
        }
        for _ in 0..MOST_SETS {
            let Some(set) = self.together(&still) else {
                break;
            };
            let inputs: Vec<&Input> = set.iter().map(|u| &u.input).collect();
            let without = self.without(&inputs);
            let narrowed = self.narrowed(&set);
            still.retain(|u| !set.iter().any(|s| std::ptr::eq(*s, *u)));
            found.push(DecisiveInputs { inputs: narrowed, without });
        }
        found
    }

    /// The smallest parts of a unit that move the target, while `others` are away.
    fn descend(&self, unit: &InputTree, whole: FoundValue, others: &[&Input], found: &mut Vec<DecisiveInputs>) {
        let mut moved: Vec<(&InputTree, FoundValue)> = Vec::new();
        let base = match others {
            [] => self.base.clone(),
            _ => self.without(others),
        };
        self.moving(&unit.children, others, others, &base, &mut moved);
        if moved.len() > MOST_TOLD {
            found.push(DecisiveInputs { inputs: vec![unit.input.clone()], without: whole });
            return;
        }
        // Of more parts, not even halves move it: parts of single ones would tell little.
        if moved.is_empty() && unit.children.len() <= MOST_PARTS {
            // A default may take the place of a part and say the same.
            let children = unit.children.iter();
            moved = children.flat_map(|c| self.hidden(c, others, &base)).collect();
        }
        let same = moved.len() > 1 && moved.iter().all(|(_, r)| *r == whole);
        if same && unit.joins && self.same_value(unit, others, &base, found) {
            return;
        }
        if moved.is_empty() || (unit.joins && same) {
            found.push(DecisiveInputs { inputs: vec![unit.input.clone()], without: whole });
            return;
        }
        for (child, reading) in moved {
            self.descend(child, reading, others, found);
        }
    }

    /// The units that move the target while `others` are away, each on its own; more than [`MOST_TOLD`]
    /// are not all of them. Of many, halves are taken away first: most have nothing to do with it.
    ///
    /// `away` are the others, and what was found to have nothing to do with it: that is left out of the
    /// plans, so that each half costs half, and all of them together what two plans of everything do.
    fn moving<'u>(
        &self,
        units: &'u [InputTree],
        others: &[&'u Input],
        away: &[&'u Input],
        base: &FoundValue,
        moved: &mut Vec<(&'u InputTree, FoundValue)>,
    ) {
        if moved.len() > MOST_TOLD {
            return;
        }
        if units.len() > FEW {
            let (first, second) = units.split_at(units.len() / 2);
            let beside = |half: &'u [InputTree]| {
                let half = half.iter().map(|u| &u.input);
                away.iter().copied().chain(half).collect::<Vec<_>>()
            };
            let (without_first, without_second) = (beside(first), beside(second));
            let first_moves = self.without(&without_first) != *base;
            let second_moves = self.without(&without_second) != *base;
            match (first_moves, second_moves) {
                (true, true) => {
                    self.moving(first, others, away, base, moved);
                    self.moving(second, others, away, base, moved);
                }
                (true, false) => self.moving(first, others, &without_second, base, moved),
                (false, true) => self.moving(second, others, &without_first, base, moved),
                (false, false) => {}
            }
            return;
        }
        let without = |away: &[&Input], unit: &InputTree| {
            let mut inputs = away.to_vec();
            inputs.push(&unit.input);
            self.without(&inputs)
        };
        for unit in units {
            let mut reading = without(away, unit);
            if reading != *base && away.len() > others.len() {
                reading = without(others, unit);
            }
            if reading != *base {
                moved.push((unit, reading));
            }
        }
    }

    /// The parts of a unit that move the target although the unit itself does not.
    fn hidden<'u>(
        &self,
        unit: &'u InputTree,
        others: &[&'u Input],
        base: &FoundValue,
    ) -> Vec<(&'u InputTree, FoundValue)> {
        let mut found = Vec::new();
        // Of many parts the single ones are not searched, as in `descend`.
        if unit.children.len() > MOST_PARTS {
            self.moving(&unit.children, others, others, base, &mut found);
            return found;
        }
        for child in &unit.children {
            let mut inputs = others.to_vec();
            inputs.push(&child.input);
            let reading = self.without(&inputs);
            if reading == *base {
                found.extend(self.hidden(child, others, base));
            } else {
                found.push((child, reading));
            }
        }
        found
    }

    /// The leaves of a unit that hold the target's very value and move it: they say more than the
    /// whole that they are a part of. Says whether there are any.
    fn same_value(
        &self,
        unit: &InputTree,
        others: &[&Input],
        base: &FoundValue,
        found: &mut Vec<DecisiveInputs>,
    ) -> bool {
        let FoundValue::Value(value) = self.base else {
            return false;
        };
        let before = found.len();
        for leaf in unit.leaves() {
            let written = leaf.input.written().and_then(|p| p.get(self.plan_input.object));
            if written != Some(value) {
                continue;
            }
            let mut inputs = others.to_vec();
            inputs.push(&leaf.input);
            let without = self.without(&inputs);
            if without != *base {
                found.push(DecisiveInputs { inputs: vec![leaf.input.clone()], without });
            }
        }
        found.len() > before
    }

    /// Units that move the target when they go together, as few as will do; `None` where even all
    /// of them don't.
    fn together<'u>(&self, units: &[&'u InputTree]) -> Option<Vec<&'u InputTree>> {
        let moves = |units: &[&InputTree]| {
            let inputs: Vec<&Input> = units.iter().map(|u| &u.input).collect();
            self.without(&inputs) != *self.base
        };
        if units.len() < 2 || !moves(units) {
            return None;
        }
        Some(fewest(units.to_vec(), moves))
    }

    /// The parts of each unit of a set that matter while the others are away.
    fn narrowed(&self, set: &[&InputTree]) -> Vec<Input> {
        let mut out = Vec::new();
        for (i, unit) in set.iter().enumerate() {
            let others: Vec<&Input> = set.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, u)| &u.input).collect();
            let mut all = others.clone();
            all.push(&unit.input);
            let mut found = Vec::new();
            self.descend(unit, self.without(&all), &others, &mut found);
            out.extend(found.into_iter().flat_map(|m| m.inputs));
        }
        out
    }
}

/// As few of a set as still suffice: without any one of them they don't. Halves are tried first: most of them have
/// nothing to do with it. Of a large set that is needed as a whole, not every one is tried.
pub(super) fn fewest<T: Clone>(mut kept: Vec<T>, suffices: impl Fn(&[T]) -> bool) -> Vec<T> {
    let mut size = kept.len().div_ceil(2);
    loop {
        let mut start = 0;
        while start < kept.len() && kept.len() > 1 {
            let end = (start + size).min(kept.len());
            let mut fewer = kept.clone();
            fewer.drain(start..end);
            if !fewer.is_empty() && suffices(&fewer) {
                kept = fewer;
            } else {
                start = end;
            }
        }
        if size == 1 || kept.len().div_ceil(size) > MOST_PARTS {
            return kept;
        }
        size = size.div_ceil(2);
    }
}
