//! Unwind tables: how a panic, a backtrace or a debugger finds the caller of a compiled frame.
//!
//! In: the frames of functions ([`StackFrame`]), and how a machine unwinds ([`Unwinding`]). Out: sections in the format of
//! `.eh_frame`, and their registration with the process's unwinder. There are two kinds of section:
//!
//! - [`of_function`] describes each instruction of one function, as debuggers need it.
//! - [`of_region`] describes all code that a region will ever hold, at once.
//!
//! On Windows nothing is registered: the native functions that `template!` writes for calls do not let panics out there.

use crate::machine::{Machine, Unwinding};
use azulejo_core::target::{Reg, RegSet};
use dwarf::{
    ADVANCE_LOC, ADVANCE_LOC4, DEF_CFA, DEF_CFA_OFFSET, DEF_CFA_REGISTER, OFFSET, REMEMBER_STATE, RESTORE,
    RESTORE_STATE,
};
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

pub mod dwarf;
#[cfg(target_os = "linux")]
mod region;
pub mod rows;

#[cfg(target_os = "linux")]
pub(crate) use region::{Frames, of_region};

/// The alignment of code: this many bytes belong to one function.
pub(crate) const GRANULE: usize = 16;

/// The size of a register or an address in a frame.
const WORD: u32 = 8;

/// A function's frame on the stack.
pub trait StackFrame: fmt::Debug {
    /// The registers of [`Unwinding::saved`] that the function saves.
    fn saved(&self) -> RegSet;

    /// How many bytes the stack pointer is below the end of the caller's frame, in the body of the function.
    fn size(&self) -> u32;

    /// Whether the stack pointer may be at any distance from the end of the caller's frame, which is then found by the frame pointer:
    /// that points to its own saved value, the first of the saved registers.
    fn is_by_pointer(&self) -> bool {
        false
    }

    /// Describes the instructions that make the frame, from the start of the code.
    fn prologue(&self, tell: &mut dyn FnMut(Step<'_>));

    /// Describes the instructions that drop the frame and return.
    fn epilogue(&self, tell: &mut dyn FnMut(Step<'_>));
}

/// Some instructions, and the changes that hold behind them.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// The length of the instructions in bytes.
    pub len: u32,
    /// The changes.
    pub changes: &'a [Change],
}

/// A change of the unwind rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// The stack pointer is this many bytes below the end of the caller's frame.
    Depth(u32),
    /// A register's old value is saved this many bytes below the end of the caller's frame.
    Saved(Reg, u32),
    /// A register has its old value again.
    Restored(Reg),
    /// The end of the caller's frame is found by the frame pointer, which now equals the stack pointer.
    ByPointer,
    /// The end of the caller's frame is found by the stack pointer again.
    ByStack,
}

/// A section under construction.
struct Section {
    bytes: Vec<u8>,
}

impl Section {
    /// A section whose single CIE holds the initial rules of all functions.
    fn new(machine: &Machine, rules: &[u8]) -> Section {
        let mut section = Section { bytes: Vec::with_capacity(640) };
        section.record(|bytes| {
            bytes.extend(0u32.to_le_bytes()); // a CIE
            bytes.push(1); // version
            bytes.push(0); // no augmentation: addresses are absolute
            bytes.push(1); // code alignment
            bytes.push(0x78); // data alignment: -8
            bytes.push(machine.unwinding.return_address);
            bytes.extend(rules);
        });
        section
    }

    /// Adds the rules of the code at these addresses.
    fn rules(&mut self, start: usize, size: usize, rules: &[u8]) {
        let to_cie = self.bytes.len() as u32 + 4;
        self.record(|bytes| {
            bytes.extend(to_cie.to_le_bytes());
            bytes.extend((start as u64).to_le_bytes());
            bytes.extend((size as u64).to_le_bytes());
            bytes.extend(rules);
        });
    }

    fn record(&mut self, fill: impl FnOnce(&mut Vec<u8>)) {
        let start = self.bytes.len();
        self.bytes.extend([0; 4]);
        fill(&mut self.bytes);
        while !self.bytes.len().is_multiple_of(8) {
            self.bytes.push(0); // no rule
        }
        let len = (self.bytes.len() - start - 4) as u32;
        self.bytes[start..start + 4].copy_from_slice(&len.to_le_bytes());
    }

    fn end(mut self) -> Box<[u8]> {
        self.bytes.extend([0; 4]);
        self.bytes.into()
    }
}

fn unsigned(bytes: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// The rules at each instruction of one function.
pub fn of_function(code: &Described<'_>, address: usize) -> Box<[u8]> {
    let Described { machine, frame, frames, leaves, end } = *code;
    let Unwinding { return_address, pushed_by_calls, ref dwarf, stack_pointer, .. } = machine.unwinding;
    let mut initial = vec![DEF_CFA, dwarf(stack_pointer)];
    unsigned(&mut initial, pushed_by_calls);
    if pushed_by_calls > 0 {
        initial.push(OFFSET | return_address);
        unsigned(&mut initial, pushed_by_calls / WORD);
    }
    let mut section = Section::new(machine, &initial);
    let mut rules = Rules { unwinding: &machine.unwinding, bytes: Vec::new(), at: 0, by_pointer: false };
    let mut leaves = leaves.iter().copied().peekable();
    let ends = frames.iter().map(|(at, _)| *at).skip(1).chain([u32::MAX]);
    for (&(at, change), next) in core::iter::zip(frames, ends) {
        rules.advance_to(at);
        match change {
            FrameChange::IsMade => frame.prologue(&mut |step| rules.step(step)),
            FrameChange::IsThere => frame.prologue(&mut |step| rules.changes(step)),
            FrameChange::IsNotThere => frame.epilogue(&mut |step| rules.changes(step)),
        }
        let by_pointer = rules.by_pointer;
        while let Some(leave) = leaves.next_if(|leave| *leave < next) {
            rules.advance_to(leave);
            rules.bytes.push(REMEMBER_STATE);
            frame.epilogue(&mut |step| rules.step(step));
            rules.bytes.push(RESTORE_STATE);
            rules.by_pointer = by_pointer;
        }
    }
    section.rules(address, end, &rules.bytes);
    section.end()
}

/// What is so with a function's frame from an offset of the code on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FrameChange {
    /// The instructions that make it follow.
    IsMade,
    /// The code is entered with the frame.
    IsThere,
    /// The code is entered without it.
    IsNotThere,
}

/// The frame is made where the code starts, and is there in all of it.
pub const MADE_AT_ONCE: &[(u32, FrameChange)] = &[(0, FrameChange::IsMade)];

/// Code as debuggers and unwinders see it.
#[derive(Clone, Copy, Debug)]
pub struct Described<'a> {
    /// The machine that it is for.
    pub machine: &'static Machine,
    /// The function's frame on the stack.
    pub frame: &'a dyn StackFrame,
    /// Where the frame is made, and from where on it is there or not, in order; at first it is not.
    pub frames: &'a [(u32, FrameChange)],
    /// The offsets of its epilogues.
    pub leaves: &'a [u32],
    /// The end of its instructions.
    pub end: usize,
}

/// Rules under construction.
struct Rules<'a> {
    unwinding: &'a Unwinding,
    bytes: Vec<u8>,
    /// The offset in the code from which the next rules hold.
    at: u32,
    /// Whether the end of the caller's frame is found by the frame pointer.
    by_pointer: bool,
}

impl Rules<'_> {
    fn step(&mut self, step: Step<'_>) {
        self.advance_to(self.at + step.len);
        self.changes(step);
    }

    /// The changes without the instructions.
    fn changes(&mut self, step: Step<'_>) {
        step.changes.iter().for_each(|change| self.change(*change));
    }

    fn change(&mut self, change: Change) {
        let Unwinding { ref dwarf, stack_pointer, frame_pointer, .. } = *self.unwinding;
        match change {
            // The end of the caller's frame does not depend on the depth while it is found by the frame pointer.
            Change::Depth(_) if self.by_pointer => {}
            Change::Depth(bytes) => {
                self.bytes.push(DEF_CFA_OFFSET);
                unsigned(&mut self.bytes, bytes);
            }
            Change::Saved(reg, depth) => {
                self.bytes.push(OFFSET | dwarf(reg));
                unsigned(&mut self.bytes, depth / WORD);
            }
            Change::Restored(reg) => self.bytes.push(RESTORE | dwarf(reg)),
            Change::ByPointer => {
                self.bytes.extend([DEF_CFA_REGISTER, dwarf(frame_pointer)]);
                self.by_pointer = true;
            }
            Change::ByStack => {
                self.bytes.extend([DEF_CFA_REGISTER, dwarf(stack_pointer)]);
                self.by_pointer = false;
            }
        }
    }

    fn advance_to(&mut self, at: u32) {
        match at - self.at {
            0 => {}
            by @ 1..0x40 => self.bytes.push(ADVANCE_LOC | by as u8),
            by => {
                self.bytes.push(ADVANCE_LOC4);
                self.bytes.extend(by.to_le_bytes());
            }
        }
        self.at = at;
    }
}

/// A section that is registered with the process's unwinder as long as this lives.
#[derive(Debug)]
pub(crate) struct Registration {
    #[cfg_attr(not(unix), expect(dead_code, reason = "nobody asks for it"))]
    section: Box<[u8]>,
}

#[cfg(unix)]
unsafe extern "C" {
    fn __register_frame(start: *const u8);
    fn __deregister_frame(start: *const u8);
}

/// libgcc takes a whole section, and LLVM's libunwind the rules of one function, the second record.
#[cfg(unix)]
const TAKES_SECTIONS: bool = cfg!(target_env = "gnu");

/// Held while registrations change.
static CHANGING: Mutex<()> = Mutex::new(());

/// Keeps other threads from changing registrations: the unwinder takes a lock of its own for that, which a child must not find
/// held.
pub(crate) fn hold() -> MutexGuard<'static, ()> {
    CHANGING.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Registration {
    pub(crate) fn new(section: Box<[u8]>) -> Registration {
        let registration = Registration { section };
        let _held = hold();
        #[cfg(unix)]
        // SAFETY: this is a section in the right format, which does not change or move until it is deregistered.
        unsafe {
            __register_frame(registration.start());
        }
        registration
    }

    #[cfg(unix)]
    fn start(&self) -> *const u8 {
        let len = u32::from_le_bytes(self.section[..4].try_into().expect("four bytes")) as usize;
        let rules = if TAKES_SECTIONS { 0 } else { len + 4 };
        self.section[rules..].as_ptr()
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        let _held = hold();
        #[cfg(unix)]
        // SAFETY: this section was registered, and the code that it describes does not run any more.
        unsafe {
            __deregister_frame(self.start());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::toy;

    /// If a call pushes nothing, the caller's frame ends at the stack pointer when a function starts, and there is no rule for
    /// the return address until it is saved.
    #[test]
    fn rules_of_a_machine_whose_calls_push_nothing() {
        let mut code = toy::finished(&[0; 40]).described;
        code.leaves = &[20];
        let section = of_function(&code, 0x1000);
        let word = |at: usize| u32::from_le_bytes(std::array::from_fn(|byte| section[at + byte])) as usize;
        let cie_end = 4 + word(0);
        assert_eq!(section[12..cie_end], [30, DEF_CFA, 31, 0]);
        let rules = [
            [ADVANCE_LOC | 4, DEF_CFA_OFFSET, 16].as_slice(),
            &[ADVANCE_LOC | 4, OFFSET | 30, 1],
            &[ADVANCE_LOC | 12, REMEMBER_STATE],
            &[ADVANCE_LOC | 4, RESTORE | 30],
            &[ADVANCE_LOC | 4, DEF_CFA_OFFSET, 0],
            &[ADVANCE_LOC | 4, RESTORE_STATE],
        ];
        let start = cie_end + 8 + 16;
        assert_eq!(section[start..][..15], rules.concat());
    }
}
