//! Intervals in memory, and their reloads into registers.
//!
//! In: an interval that is to be in memory. Out: a reload for each operand that needs a register; later, the register of
//! each reload.

use super::intervals::{Interval, IntervalPlace, Touch};
use super::occupied::{Holder, MAX_REGISTERS, NOBODY};
use super::queue::Task;
use super::{Allocator, Impossible, Scratch, tied_result};
use crate::ir::index::{InstId, LiveRange, index};
use crate::ir::ranges::Segment;
use crate::ir::tiles::{Constraint, Operand, Role};
use crate::target::Reg;
use crate::vocab::Class;

index! {
    /// A reload: an operand in memory is in a register for one instruction.
    pub(super) Reload, "reload"
}

/// A reload's data.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReloadData {
    operand: u32,
    inst: InstId,
    segment: Segment,
    class: Class,
    pub(super) reg: Option<Reg>,
}

impl Allocator<'_> {
    /// Spills an interval: each operand that needs a register gets a reload, which waits for one.
    pub(super) fn spill(&mut self, at: Interval) {
        let Scratch { intervals, reload_of, reloads, queue, .. } = &mut *self.scratch;
        intervals.all[at.at()].place = IntervalPlace::Memory;
        let is_constant = self.ranges.constant(intervals.all[at.at()].range, self.tiles).is_some();
        for touch in intervals.uses(at) {
            let Touch::Operand(index) = touch.touch else { continue };
            let operand = &self.tiles.operands[index as usize];
            let inst = touch.at.inst();
            let operands = self.tiles.insts[inst.at()].operands.range();
            let waits = match operand.constraint {
                Constraint::Reg => tied_result(self.tiles, operands, index as usize).is_none(),
                Constraint::Any => is_constant,
                Constraint::Tied(_) => true,
                Constraint::Fixed(_) | Constraint::OutArg(_) | Constraint::Anywhere => false,
            };
            if waits {
                let segment = taken(operand, inst);
                let class = self.tiles.vregs[operand.vreg.at()].ty.class();
                let new = Reload::from(reloads.len());
                reload_of[index as usize] = new;
                queue.push(Task::reload(segment.start, new));
                reloads.push(ReloadData { operand: index, inst, segment, class, reg: None });
            }
        }
    }

    pub(super) fn place_reload(&mut self, at: Reload) -> Result<(), Impossible> {
        let ReloadData { operand, inst, segment, class, .. } = self.scratch.reloads[at.at()];
        let range = self.ranges.of(self.tiles.operands[operand as usize].vreg);
        let mut weights = [NOBODY; MAX_REGISTERS];
        self.scratch.occupied.weights_at(class, segment.start, &mut weights);
        let mut best: Option<(f32, Reg)> = None;
        for (&reg, &at_start) in core::iter::zip(self.regs.of(class), &weights) {
            // The holder at the start is a lower bound of the cost.
            if best.is_some_and(|(least, _)| least <= at_start) {
                continue;
            }
            let mut cost = Some(NOBODY);
            self.scratch.occupied.conflicts(reg, &[segment], |holder, weight, _| {
                match holder {
                    Holder::Owned(owner) if owner == range => return true,
                    Holder::Interval(other) => {
                        let interval = self.interval(other);
                        // An operand of the same instruction would need a reload itself.
                        let dear = if self.is_at(interval.range, inst) { 1e30 } else { 0.0 };
                        cost = cost.map(|cost| cost.max(weight + dear));
                    }
                    _ => cost = None,
                }
                cost.is_some()
            });
            match cost {
                Some(cost) if best.is_none_or(|(least, _)| cost < least) => best = Some((cost, reg)),
                _ => {}
            }
            if cost == Some(NOBODY) {
                break;
            }
        }
        let Some((_, reg)) = best else { return Err(Impossible { inst }) };
        self.scratch.occupied.find_interval(reg, &[segment], &mut self.scratch.evicted);
        self.evict(reg, segment.start);
        self.scratch.occupied.take(reg, &[segment], Holder::Reload(at), f32::INFINITY);
        self.scratch.reloads[at.at()].reg = Some(reg);
        Ok(())
    }

    /// Whether an instruction has an operand of this range.
    fn is_at(&self, range: LiveRange, inst: InstId) -> bool {
        self.tiles.operands(inst.at()).iter().any(|operand| self.ranges.of(operand.vreg) == range)
    }
}

/// The positions at which the instruction itself occupies an operand's register.
pub(super) fn taken(operand: &Operand, inst: InstId) -> Segment {
    let (start, end) = match (operand.role, operand.constraint) {
        (Role::Use, _) => (inst.early(), inst.late()),
        (Role::LateUse | Role::Temp, _) => (inst.early(), inst.after()),
        // The tied operand is moved into that register before the instruction reads its operands.
        (Role::Def | Role::EarlyDef, Constraint::Tied(_)) | (Role::EarlyDef, _) => (inst.early(), inst.end()),
        (Role::Def, _) => (inst.late(), inst.end()),
    };
    Segment { start, end }
}
