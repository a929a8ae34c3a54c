//! Unwind tables: how a panic, a backtrace or a debugger gets from a compiled frame to its caller.
//!
//! In: the frames of functions. Out: sections in the format of `.eh_frame`, and their registration with the unwinder of
//! the process. There are two kinds of section:
//!
//! - [`of_function`] tells of one function what holds at each of its instructions. Debuggers want that.
//! - [`of_region`] tells of all code that a region will ever have, at once.
//!
//! On Windows nothing is registered: the functions that `template!` writes for calls let no
//! panic out there.

use crate::frame::{Frame, MOVE_LEN, push_len, touches_len};
use crate::regs::{RBP, RSP};
use azulejo_core::target::Reg;
use std::sync::{Mutex, MutexGuard, PoisonError};

#[cfg(target_os = "linux")]
mod region;

#[cfg(target_os = "linux")]
pub(crate) use region::{Frames, of_region};

/// Code starts at multiples of this, so that many bytes belong to one function.
pub(crate) const GRANULE: usize = 16;

/// The return address, as DWARF numbers registers.
const RETURN: u8 = 16;

// Words of DWARF.
const DEF_CFA: u8 = 0x0c;
const DEF_CFA_REGISTER: u8 = 0x0d;
const DEF_CFA_OFFSET: u8 = 0x0e;
const REMEMBER_STATE: u8 = 0x0a;
const RESTORE_STATE: u8 = 0x0b;
const OFFSET: u8 = 0x80;
const RESTORE: u8 = 0xc0;
/// How DWARF numbers a register.
fn dwarf(reg: Reg) -> u8 {
    match reg.number() {
        1 => 2,
        2 => 1,
        4 => 7,
        5 => 6,
        6 => 4,
        7 => 5,
        other => other,
    }
}

/// A section under construction.
struct Section {
    bytes: Vec<u8>,
}

impl Section {
    /// A section whose one CIE says that the rules of all functions start with these.
    fn new(rules: &[u8]) -> Section {
        let mut section = Section { bytes: Vec::with_capacity(640) };
        section.record(|bytes| {
            bytes.extend(0u32.to_le_bytes()); // a CIE
            bytes.push(1); // version
            bytes.push(0); // no augmentation: addresses are absolute
            bytes.push(1); // code alignment
            bytes.push(0x78); // data alignment: -8
            bytes.push(RETURN);
            bytes.extend(rules);
        });
        section
    }

    /// The rules of the code at these addresses.
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

/// The rules of one function, for each of its instructions.
pub(crate) fn of_function(code: &Described<'_>, address: usize) -> Box<[u8]> {
    let mut section = Section::new(&[DEF_CFA, dwarf(RSP), 8, OFFSET | RETURN, 1]);
    let (frame, mut rules) = (code.frame, Rules::default());
    let mut depth = 8;
    rules.advance_to(frame.lead());
    for reg in frame.saved() {
        depth += 8;
        rules.step(push_len(reg));
        rules.depth(depth, frame.keeps_pointer() && reg != RBP);
        rules.bytes.push(OFFSET | dwarf(reg));
        unsigned(&mut rules.bytes, depth / 8);
        if frame.keeps_pointer() && reg == RBP {
            rules.step(MOVE_LEN);
            rules.bytes.extend([DEF_CFA_REGISTER, dwarf(RBP)]);
        }
    }
    if frame.room() > 0 {
        rules.step(touches_len(frame.room()) + frame.room_len());
        rules.depth(frame.size(), frame.keeps_pointer());
    }
    for leave in code.leaves {
        rules.advance_to(*leave);
        rules.bytes.push(REMEMBER_STATE);
        let mut depth = frame.size() - frame.room();
        if frame.room() > 0 {
            rules.step(frame.room_len());
            rules.depth(depth, frame.keeps_pointer());
        }
        for reg in frame.saved().rev() {
            depth -= 8;
            rules.step(push_len(reg));
            rules.depth(depth, frame.keeps_pointer() && reg != RBP);
            if frame.keeps_pointer() && reg == RBP {
                rules.bytes.extend([DEF_CFA_REGISTER, dwarf(RSP)]);
            }
            rules.bytes.push(RESTORE | dwarf(reg));
        }
        rules.step(1);
        rules.bytes.push(RESTORE_STATE);
    }
    section.rules(address, code.end, &rules.bytes);
    section.end()
}

/// What is to be known of code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Described<'a> {
    pub(crate) frame: &'a Frame,
    /// Where the function takes its frame back and returns.
    pub(crate) leaves: &'a [u32],
    /// Where its instructions end.
    pub(crate) end: usize,
}

/// Rules under construction.
#[derive(Default)]
struct Rules {
    bytes: Vec<u8>,
    /// Where in the code those that follow hold.
    at: u32,
}

impl Rules {
    fn step(&mut self, len: u32) {
        self.advance_to(self.at + len);
    }

    fn advance_to(&mut self, at: u32) {
        match at - self.at {
            0 => {}
            by @ 1..0x40 => self.bytes.push(0x40 | by as u8),
            by => {
                self.bytes.push(0x04);
                self.bytes.extend(by.to_le_bytes());
            }
        }
        self.at = at;
    }

    /// The caller's frame ends so far above `rsp`; that is of no interest if it is found by `rbp`.
    fn depth(&mut self, bytes: u32, by_pointer: bool) {
        if !by_pointer {
            self.bytes.push(DEF_CFA_OFFSET);
            unsigned(&mut self.bytes, bytes);
        }
    }
}

/// A section that the process's unwinder knows, as long as this lives.
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

/// libgcc takes a section, and LLVM's libunwind one function's rules, the second record.
#[cfg(unix)]
const TAKES_SECTIONS: bool = cfg!(target_env = "gnu");

/// Who changes what the unwinder knows.
static CHANGING: Mutex<()> = Mutex::new(());

/// Keeps others from changing what the unwinder knows: it has a lock of its own for that, which a child must not find taken.
pub(crate) fn hold() -> MutexGuard<'static, ()> {
    CHANGING.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Registration {
    pub(crate) fn new(section: Box<[u8]>) -> Registration {
        let registration = Registration { section };
        let _held = hold();
        #[cfg(unix)]
        // SAFETY: it is a section in the right format, which does not change or move until it is deregistered.
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
        // SAFETY: this is what was registered, and no code that it tells of runs any more.
        unsafe {
            __deregister_frame(self.start());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emit::Code;
    use crate::emit::Emitter;
    use crate::frame::{Frame, SAVE_ORDER};
    use crate::regs::CALLEE_SAVED;
    use azulejo_core::target::RegSet;
    use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, Register};

    /// Where the caller's frame ends, as a register and a distance, and where registers are saved below that.
    #[derive(Clone, Copy, PartialEq, Debug)]
    struct Row {
        base: u8,
        distance: u64,
        saved: [Option<u64>; 17],
    }

    /// Reads rules: the row that holds at each address.
    fn rows(section: &[u8], len: usize) -> Vec<Row> {
        let word =
            |at: usize| u32::from_le_bytes(section[at..at + 4].try_into().expect("four bytes")) as usize;
        let cie_end = word(0) + 4;
        let fde_end = cie_end + 4 + word(cie_end);
        let mut row = Row { base: 0, distance: 0, saved: [None; 17] };
        let (mut rows, mut kept) = (Vec::new(), Vec::new());
        // Behind a CIE's header of 9 bytes, and an FDE's pointer, start and size.
        let initial = &section[4 + 9..cie_end];
        let (_, row_of_all) =
            read(initial, &mut row, &mut rows, &mut kept, Row { base: 0, distance: 0, saved: [None; 17] });
        row = row_of_all;
        let (at, _) = read(&section[cie_end + 4 + 20..fde_end], &mut row, &mut rows, &mut kept, row_of_all);
        assert!(at <= len && kept.is_empty());
        rows.resize(len, row);
        rows
    }

    fn read(
        rules: &[u8],
        row: &mut Row,
        rows: &mut Vec<Row>,
        kept: &mut Vec<Row>,
        initial: Row,
    ) -> (usize, Row) {
        let mut rules = rules.iter().copied();
        let mut next = || rules.next();
        while let Some(rule) = next() {
            let mut operand = || {
                let (mut value, mut shift) = (0, 0);
                loop {
                    let byte = next().expect("there is an operand");
                    value |= ((byte & 0x7f) as u64) << shift;
                    shift += 7;
                    if byte < 0x80 {
                        return value;
                    }
                }
            };
            match (rule & 0xc0, rule & 0x3f) {
                (0x40, by) => rows.resize(rows.len() + by as usize, *row),
                (OFFSET, register) => row.saved[register as usize] = Some(operand() * 8),
                (RESTORE, register) => row.saved[register as usize] = initial.saved[register as usize],
                (_, 0) => {}
                (_, 4) => {
                    let by = u32::from_le_bytes(std::array::from_fn(|_| next().expect("four bytes")));
                    rows.resize(rows.len() + by as usize, *row);
                }
                (_, DEF_CFA) => (row.base, row.distance) = (operand() as u8, operand()),
                (_, DEF_CFA_REGISTER) => row.base = operand() as u8,
                (_, DEF_CFA_OFFSET) => row.distance = operand(),
                (_, REMEMBER_STATE) => kept.push(*row),
                (_, RESTORE_STATE) => *row = kept.pop().expect("one was kept"),
                other => unreachable!("{other:?} is not written"),
            }
        }
        (rows.len(), *row)
    }

    /// What an instruction does to the stack is what the rules say behind it, for every kind of frame.
    #[test]
    fn rules_follow_the_stack_through_every_instruction() {
        let masks = 0..1u64 << SAVE_ORDER.len();
        for (mask, room, keeps_pointer) in masks.flat_map(|mask| {
            let rooms = [0, 8, 120, 128, 60_000].into_iter();
            rooms.flat_map(move |room| [false, true].map(|keeps_pointer| (mask, room, keeps_pointer)))
        }) {
            let chosen = SAVE_ORDER.iter().enumerate().filter(|(at, _)| mask >> at & 1 != 0);
            let used = RegSet::of(&chosen.map(|(_, reg)| *reg).collect::<Vec<Reg>>());
            let mut emitter = Emitter::bare();
            emitter.frame = Frame::new(used, room, true, keeps_pointer);
            assert!(emitter.frame.size().is_multiple_of(16));
            emitter.prologue();
            // As a function with a body, two ways out of it, and more behind them.
            let nops = |emitter: &mut Emitter, count: usize| (0..count).for_each(|_| emitter.byte(0x90));
            nops(&mut emitter, 3);
            emitter.leave();
            nops(&mut emitter, 300);
            emitter.leave();
            nops(&mut emitter, 1);
            let (frame, leaves) = (emitter.frame, core::mem::take(&mut emitter.leaves));
            let bytes = emitter.take();
            let code = Code { end: bytes.len() as u32, bytes, frame, leaves, ..Code::default() };
            let rows = rows(&of_function(&code.described(), 0x1000), code.bytes.len());
            follow(&code, &rows);
        }
    }

    fn follow(code: &Code, rows: &[Row]) {
        // How far rsp and, once it is set, rbp are below the caller's frame; and where registers were pushed.
        let (mut depth, mut pointer, mut pushed) = (8u64, None, [None; 17]);
        pushed[RETURN as usize] = Some(8);
        let mut body = None;
        let register = |register: Register| dwarf(Reg::int(register.number() as u8));
        let mut last = Instruction::default();
        for instruction in &mut Decoder::with_ip(64, &code.bytes, 0, DecoderOptions::NONE) {
            if last.flow_control() == FlowControl::Return {
                (depth, pointer, pushed) = body.expect("there was a body before");
            }
            let row = rows[instruction.ip() as usize];
            let base = if row.base == dwarf(RSP) { depth } else { pointer.expect("rbp is set") };
            assert_eq!(row.distance, base, "{instruction:?} at {:x}: {row:?}", instruction.ip());
            assert_eq!(row.saved, pushed, "{instruction:?} at {:x}", instruction.ip());
            match instruction.mnemonic() {
                Mnemonic::Push => {
                    depth += 8;
                    pushed[register(instruction.op0_register()) as usize] = Some(depth);
                }
                Mnemonic::Pop => {
                    depth -= 8;
                    pushed[register(instruction.op0_register()) as usize] = None;
                    if instruction.op0_register() == Register::RBP {
                        pointer = None;
                    }
                }
                Mnemonic::Mov => pointer = Some(depth),
                Mnemonic::Sub => depth += instruction.immediate(1),
                Mnemonic::Add => depth -= instruction.immediate(1),
                Mnemonic::Test => assert!(instruction.memory_displacement64() as i64 >= -60_000),
                Mnemonic::Nop => body = Some((depth, pointer, pushed)),
                Mnemonic::Ret => assert_eq!((depth, pointer), (8, None)),
                other => unreachable!("{other:?} is in no frame"),
            }
            last = instruction;
        }
        assert!(CALLEE_SAVED.iter().all(|reg| SAVE_ORDER.contains(&reg)));
    }
}
