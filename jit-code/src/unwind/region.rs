//! Unwind rules for all code of a region at once.
//!
//! In: the addresses of the region. Out: [`Frames`], a table beside the code with the frame of each function, and a section
//! whose rules are expressions that look up the frame of a return address in the table. The section is registered when the
//! region is made; installing code writes a few numbers, and freeing it writes nothing. (A registration for each function would
//! take a process-wide lock, and libgcc before version 13 searches all registrations for each removal.)
//!
//! The rules hold at calls, which is where the unwinder finds a function when a panic passes or a callee walks the stack; they
//! do not hold within prologues and epilogues.

use super::dwarf::*;
use super::{GRANULE, Section, StackFrame, WORD, unsigned};
use crate::machine::Machine;
use memmap2::{MmapOptions, MmapRaw};

// The opcodes of expressions.
const OP_ADDR: u8 = 0x03;
const OP_DEREF: u8 = 0x06;
const OP_DUP: u8 = 0x12;
const OP_DROP: u8 = 0x13;
const OP_OVER: u8 = 0x14;
const OP_SWAP: u8 = 0x16;
const OP_AND: u8 = 0x1a;
const OP_MINUS: u8 = 0x1c;
const OP_PLUS: u8 = 0x22;
const OP_SHL: u8 = 0x24;
const OP_SHR: u8 = 0x25;
const OP_BRA: u8 = 0x28;
const OP_SKIP: u8 = 0x2f;
const OP_LIT: u8 = 0x30;
const OP_BREG: u8 = 0x70;
const OP_DEREF_SIZE: u8 = 0x94;

/// The frames of all code in a region, by address.
#[derive(Debug)]
pub(crate) struct Frames {
    pub(crate) machine: &'static Machine,
    /// For each granule of code, the [`entry`](Frames::entry) of its function.
    table: MmapRaw,
}

impl Frames {
    /// A table for a region of this size. Parts that are never written cost nothing.
    pub(crate) fn new(machine: &'static Machine, region_size: usize) -> Option<Frames> {
        let len = region_size.div_ceil(GRANULE) * size_of::<u32>();
        let table = MmapOptions::new().len(len).no_reserve_swap().map_anon().ok()?;
        Some(Frames { machine, table: table.into() })
    }

    /// A frame as the region's rules read it: a bit for each saved register, by its index in the order of saving, and above
    /// these the frame's size; zero if the frame is found by the frame pointer.
    fn entry(&self, frame: &dyn StackFrame) -> u32 {
        let saved = frame.saved();
        let order = self.machine.unwinding.saved.iter().enumerate();
        let mask = order.filter(|(_, reg)| saved.contains(**reg)).map(|(at, _)| 1 << at).sum::<u32>();
        let size = if frame.is_by_pointer() { 0 } else { frame.size() };
        size << 8 | mask
    }

    /// Records the frame of the code that is about to be installed at offset `place` of the region.
    pub(crate) fn set(&self, place: usize, size: usize, frame: &dyn StackFrame) {
        debug_assert!((place + size).div_ceil(GRANULE) * size_of::<u32>() <= self.table.len());
        let entries = self.table.as_mut_ptr().cast::<u32>();
        let entry = self.entry(frame);
        for at in place / GRANULE..(place + size).div_ceil(GRANULE) {
            // SAFETY: the entry lies in the table, and no thread reads the entries of code that does not run yet.
            unsafe { entries.add(at).write(entry) };
        }
    }
}

/// The rules of all code in a region.
pub(crate) fn of_region(code: usize, size: usize, frames: &Frames) -> Box<[u8]> {
    let unwinding = &frames.machine.unwinding;
    let dwarf = unwinding.dwarf;
    let mut section = Section::new(frames.machine, &[]);
    let mut rules = Vec::new();
    let look_up = look_up(code, frames);
    // The caller's frame ends this frame's size above the stack pointer, or behind the frame pointer's saved value and the return
    // address.
    let mut expression = look_up.clone();
    expression.extend([OP_LIT + 8, OP_SHR, OP_DUP, OP_BRA, 6, 0]);
    let behind = (unwinding.pushed_by_calls + WORD) as u8;
    expression.extend([OP_DROP, OP_BREG + dwarf(unwinding.frame_pointer), behind, OP_SKIP, 3, 0]);
    expression.extend([OP_BREG + dwarf(unwinding.stack_pointer), 0, OP_PLUS]);
    rules.push(DEF_CFA_EXPRESSION);
    unsigned(&mut rules, expression.len() as u32);
    rules.extend(expression);
    if unwinding.pushed_by_calls > 0 {
        rules.push(OFFSET | unwinding.return_address);
        unsigned(&mut rules, unwinding.pushed_by_calls / WORD);
    }
    for (at, reg) in unwinding.saved.iter().enumerate() {
        let first = unwinding.pushed_by_calls + WORD;
        let expression = saved_value(at as u8, dwarf(*reg), first as u8, &look_up);
        rules.extend([VAL_EXPRESSION, dwarf(*reg)]);
        unsigned(&mut rules, expression.len() as u32);
        rules.extend(expression);
    }
    section.rules(code, size, &rules);
    section.end()
}

/// Pushes the table's entry for the return address, less one: a call may be the last instruction of its function.
fn look_up(code: usize, frames: &Frames) -> Vec<u8> {
    const MINUS_ONE: u8 = 0x7f;
    let mut bytes = vec![OP_BREG + frames.machine.unwinding.return_address, MINUS_ONE, OP_ADDR];
    bytes.extend((code as u64).to_le_bytes());
    bytes.extend([OP_MINUS, OP_LIT + GRANULE.ilog2() as u8, OP_SHR, OP_LIT + 2, OP_SHL, OP_ADDR]);
    bytes.extend((frames.table.as_ptr() as u64).to_le_bytes());
    bytes.extend([OP_PLUS, OP_DEREF_SIZE, 4]);
    bytes
}

/// Computes the caller's value of the register with index `at` in the order of saving. The first saved register is `first`
/// bytes below the end of the caller's frame, which is on the expression's stack.
fn saved_value(at: u8, reg: u8, first: u8, look_up: &[u8]) -> Vec<u8> {
    // end, entry, end: minus the distance of the first, and 8 bytes for each register saved before this one
    let mut load = vec![OP_SWAP, OP_LIT + first, OP_MINUS];
    for before in 0..at {
        load.extend([OP_OVER, OP_LIT + before, OP_SHR, OP_LIT + 1, OP_AND, OP_LIT + 3, OP_SHL, OP_MINUS]);
    }
    load.push(OP_DEREF);
    let mut bytes = look_up.to_vec();
    bytes.extend([OP_DUP, OP_LIT + at, OP_SHR, OP_LIT + 1, OP_AND, OP_BRA, 5, 0]);
    bytes.extend([OP_BREG + reg, 0, OP_SKIP]);
    bytes.extend((load.len() as u16).to_le_bytes());
    bytes.extend(load);
    bytes
}
