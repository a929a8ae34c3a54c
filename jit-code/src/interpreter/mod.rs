//! The interpreter in machine code: a piece of code for each opcode, which reads its operands from the bytecode and jumps to the
//! next opcode's code.
//!
//! In: the choices of a compiler, and the opcodes of functions that are to run. Out: an [`Interpreter`], which runs any function
//! whose opcodes it has been [prepared](Interpreter::prepare) for. An opcode's template goes through the passes once in a process,
//! when the first function with that opcode runs, and its code stays. No function takes memory.
//!
//! - The code keeps the context, the frame, the bytecode's address, the function's [`Record`] and the table of opcodes in machine
//!   registers. It contains nothing that belongs to one engine or function: the record has all of that.
//! - The table says where each opcode's code is. Before the code is made, and if it cannot be made, the entry leads to code that
//!   leaves at this bytecode, for the interpreter in Rust.
//! - Where the code is left, every VM register is in its slot. So all tiers can resume where it stopped, and it can where they did.

mod around;
mod opcodes;
mod piece;

use crate::call::{CallCell, MAX_REGISTER_ARGUMENTS};
use crate::emit::{Backend, Options, Set};
use crate::status::{RawStatus, Status};
use azulejo_core::error::Unsupported;
use azulejo_core::ir::bytecode::{Bytecode, OperandKind};
use azulejo_core::ir::frames::{ShowPlan, ShownFrame};
use azulejo_core::ir::interpreted::{Dispatch, Record, RecordParts, inverse};
use azulejo_core::ir::status::Left;
use azulejo_core::ir::template::Template;
use azulejo_core::pass::build::Linkage;
use azulejo_core::pass::rewrite::Matcher;
use azulejo_core::pass::{Observer, Target};
use azulejo_core::target::RegisterFile;
use azulejo_core::vocab::Trap;
use core::marker::PhantomData;
use opcodes::{OpcodeSet, SetKey};
pub(crate) use piece::Piece;

/// How many bytes of the machine's stack an opcode's code may use. Calls need a multiple of 16.
pub const ROOM: u32 = 192;

/// Between an opcode's room and the registers that are saved: the function's call cell, which is zero if an engine has entered the
/// function, the context, and a word that is not used. A function that was called has its slots below them.
pub const WORDS: u32 = 24;

/// How far below the frame pointer the call cell is, and the context.
pub const PLACES: [i64; 2] = [-48, -56];

/// What an interpreter is made with.
#[derive(Debug)]
pub struct InterpreterChoice<M: Backend> {
    /// The tiles.
    pub set: &'static Set<M>,
    /// Which of the features that the tiles name the processor has.
    pub features: u32,
    /// The rewrite rules.
    pub rules: &'static [Matcher],
    /// Whether every stage's result is verified, as debug builds do.
    pub checks: bool,
    /// Whether accesses may fault.
    pub guards: bool,
    /// Whether jumps back look whether the program is to stop.
    pub may_stop: bool,
    /// Whether jumps back take one from the fuel.
    pub has_fuel: bool,
}

impl<M: Backend> Clone for InterpreterChoice<M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M: Backend> Copy for InterpreterChoice<M> {}

/// An interpreter of one bytecode type. Copies are the same interpreter.
#[derive(Debug)]
pub struct Interpreter<B, M: Backend> {
    choice: InterpreterChoice<M>,
    opcodes: &'static OpcodeSet,
    bytecode: PhantomData<fn(B)>,
}

impl<B, M: Backend> Clone for Interpreter<B, M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B, M: Backend> Copy for Interpreter<B, M> {}

/// What the code is entered with. It is read before any bytecode runs.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct EntryWords {
    pub(crate) pc: *const u8,
    pub(crate) record: *const Record,
    /// The table, or the top of the operand stack.
    pub(crate) kept: *const (),
    /// The code of the first bytecode.
    pub(crate) code: usize,
}

impl<B: Bytecode, M: Backend> Interpreter<B, M> {
    /// Whether the bytecode type has an operand stack.
    const HAS_STACK: bool = has_stack(B::OPCODES);

    /// How bytecodes follow each other.
    const DISPATCH: Dispatch = Dispatch {
        size: size_of::<B>() as u32,
        growth: 0,
        is_wide: B::OPCODES.len() > 1 << 8,
        has_stack: Self::HAS_STACK,
    };

    /// The interpreter for these choices, which all engines share. Fails if no code can be run here.
    pub fn new(choice: InterpreterChoice<M>) -> Result<Self, Unsupported> {
        let registers = M::MACHINE.registers.for_interpreters.ok_or(Unsupported::Architecture)?;
        let options = Options { frame_pointers: true, ..Options::default() };
        let target = Self::target(&choice, registers);
        let key = SetKey::of::<B>(
            Self::templates(&choice),
            &target,
            choice.set,
            &options,
            &Self::linkage(),
            [choice.may_stop, choice.has_fuel],
        );
        let opcodes = opcodes::of::<M>(key, options, B::OPCODES.len())?;
        Ok(Interpreter { choice, opcodes, bytecode: PhantomData })
    }

    fn target(choice: &InterpreterChoice<M>, registers: &'static RegisterFile) -> Target<'static> {
        let InterpreterChoice { set, features, rules, checks, .. } = *choice;
        Target { set: set.tables, features, registers, rules, check: checks }
    }

    fn templates(choice: &InterpreterChoice<M>) -> &'static [&'static azulejo_core::ir::template::Template] {
        if choice.guards { B::guarded_templates() } else { B::templates() }
    }

    fn linkage() -> Linkage<'static> {
        let show = Template::any_takes_frames(B::templates()).then(ShowPlan::default);
        Linkage { show, ..CallCell::functions(M::STUBS, &[], 0) }
    }

    /// Makes the code of all opcodes that a function has and no function had before. Returns false if bytecode of this type cannot
    /// be dispatched on.
    pub fn prepare(&self, code: &[B]) -> bool {
        // All variants but the largest may have room for the number elsewhere, so it is looked for in each bytecode. Frames tell distances in
        // 32 bits.
        if u32::try_from(size_of_val(code)).is_err() || !code.iter().all(|op| Self::number(op) == op.opcode())
        {
            return false;
        }
        let mut maker = None;
        for opcode in Self::opcodes(code) {
            if !self.opcodes.is_known(opcode) {
                maker.get_or_insert_with(|| self.maker()).make(opcode);
            }
        }
        true
    }

    /// Whether the code of all opcodes that a function has was made, or cannot be.
    pub fn knows(&self, code: &[B]) -> bool {
        Self::opcodes(code).all(|opcode| self.opcodes.is_known(opcode))
    }

    /// The opcodes that a function's bytecodes have, or may have later.
    fn opcodes(code: &[B]) -> impl Iterator<Item = usize> {
        code.iter().flat_map(|op| {
            let opcode = op.opcode();
            let later = match B::QUICKENS.get(opcode) {
                Some(true) => Template::may_become(B::templates(), opcode),
                _ => Vec::new(),
            };
            core::iter::once(opcode).chain(later)
        })
    }

    /// Makes the code of all opcodes; returns how many have none.
    pub fn prepare_all(&self) -> usize {
        let mut maker = self.maker();
        (0..B::OPCODES.len()).filter(|opcode| !maker.make(*opcode)).count()
    }

    /// Shows how the code of all opcodes is made, whether or not it has been. Nothing is put into memory.
    pub fn show_all(&self, observer: &mut dyn Observer) {
        let mut maker = self.maker();
        // What cannot be expressed has stages, too.
        (0..B::OPCODES.len()).for_each(|opcode| _ = maker.emit(opcode, observer));
    }

    fn maker(&self) -> opcodes::Maker<B, M> {
        let registers = M::MACHINE.registers.for_interpreters.expect("the interpreter was made");
        let target = Self::target(&self.choice, registers);
        let templates = Self::templates(&self.choice);
        opcodes::Maker::new(self.opcodes, self.choice, target, templates, Self::DISPATCH, Self::linkage())
    }

    /// The opcode's number where the code reads it.
    #[inline(always)]
    fn number(op: &B) -> usize {
        let start = core::ptr::from_ref(op).cast::<u8>();
        // SAFETY: an enum with several variants starts with its tag, which is as wide as there are variants for, or wider. One with
        // a single variant starts with a field, or is marked with a representation that has a tag.
        unsafe {
            match Self::DISPATCH.is_wide {
                true => start.cast::<u16>().read_unaligned() as usize,
                false => start.read() as usize,
            }
        }
    }

    /// The address of the table, for [`Record::table`].
    pub fn table(&self) -> *const usize {
        self.opcodes.table()
    }

    /// The record of a function that the interpreter was prepared for.
    ///
    /// # Safety
    ///
    /// The parts must be of such a function.
    pub unsafe fn record(&self, parts: &RecordParts) -> Record {
        let RecordParts { code, labels, unit, functions, slow_paths, budget, stop, fuel, cleared, .. } =
            *parts;
        let (size, show) = (size_of::<B>() as u64, parts.show.unwrap_or_default());
        // The five arguments in registers are stored at once, and slots are cleared in pairs.
        let slots = (parts.slots as u64).max(MAX_REGISTER_ARGUMENTS as u64).next_multiple_of(2);
        let taken = parts.taken_arguments as u64;
        let table = self.table();
        let is_exact = taken <= M::STUBS.register_arguments as u64 && cleared <= parts.taken_arguments;
        let (kept, mask) = match Self::HAS_STACK {
            true => (parts.registers as u64 * 8, u64::MAX),
            false => (table.addr() as u64, 0),
        };
        // SAFETY: the caller guarantees that this is the function's first bytecode.
        let opcode = Self::number(unsafe { &*code.cast::<B>() });
        Record {
            code,
            labels,
            unit,
            functions,
            slow_paths,
            budget,
            stop,
            fuel,
            table,
            most_arguments: if parts.drops_surplus { u32::MAX as u64 } else { taken },
            taken_arguments: taken,
            missing: parts.missing,
            may_miss: if parts.missing == 0 { 0 } else { taken },
            exact_arguments: if is_exact { taken } else { u64::MAX },
            cleared: cleared as u64,
            frame_bytes: slots * 8 + ROOM as u64,
            kept,
            mask,
            // SAFETY: the table has an entry for each opcode.
            start: unsafe { *table.add(opcode) },
            shift: size.trailing_zeros() as u64,
            inverse: inverse(size >> size.trailing_zeros()),
            newest: show.newest,
            layout: show.layout | ShownFrame::BY_DISTANCE,
            shown: show.offset(),
        }
    }

    /// How many bytes of the machine's stack the code takes, without its callees.
    pub fn stack_bytes(&self) -> usize {
        self.opcodes.stack_bytes
    }

    /// The address of the code that enters bytecode, and the words that it is passed as its third argument.
    fn entry(&self, record: &Record, frame: *mut u64, at: u32, top: u32) -> EntryWords {
        let pc = record.code.wrapping_add(at as usize * size_of::<B>());
        // SAFETY: the bytecode is one of the record's, as the caller of `enter` guarantees.
        let opcode = Self::number(unsafe { &*pc.cast::<B>() });
        let kept = match Self::HAS_STACK {
            true => frame.wrapping_add(top as usize).cast_const().cast(),
            false => record.table.cast(),
        };
        // SAFETY: the table has an entry for each opcode.
        let code = unsafe { *record.table.add(opcode) };
        EntryWords { pc, record, kept, code }
    }

    /// Runs a function from a bytecode on. `top` is the first free slot of the operand stack.
    ///
    /// # Safety
    ///
    /// The record must be that of a function whose code the interpreter was prepared for, with this interpreter's table; the frame
    /// must have the slots that verification requires, with the contents that the bytecode expects; and the context must be what
    /// the templates take it for. The tiles and rules must be right.
    pub unsafe fn enter(
        &self,
        record: &Record,
        context: *mut (),
        frame: *mut u64,
        at: u32,
        top: u32,
    ) -> Status {
        let entry = self.entry(record, frame, at, top);
        let third = (&raw const entry).cast();
        // SAFETY: this code takes these arguments; the caller guarantees what it relies on.
        let raw = unsafe { M::enter(self.opcodes.entry, context, frame, third) };
        Self::status(record, raw)
    }

    /// As [`enter`](Self::enter), by a function that calls code.
    ///
    /// # Safety
    ///
    /// As for [`enter`](Self::enter).
    pub unsafe fn enter_by<E>(
        &self,
        record: &Record,
        frame: *mut u64,
        (at, top): (u32, u32),
        enter: impl FnOnce(*const u8, *const ()) -> Result<RawStatus, E>,
    ) -> Result<Status, E> {
        let entry = self.entry(record, frame, at, top);
        enter(self.opcodes.entry, (&raw const entry).cast()).map(|raw| Self::status(record, raw))
    }

    /// Why the code was left. Where other code gives a bytecode's number, this one gives its address.
    fn status(record: &Record, raw: RawStatus) -> Status {
        let (first, second) = raw.words();
        let at = || (second.wrapping_sub(record.code.addr() as u64) / size_of::<B>() as u64) as u32;
        match Left::of(first) {
            Some(Left::Exited) => Status::Exited { at: at() },
            Some(Left::Trapped) => Status::Trapped {
                trap: Trap::from_code(first as u32).expect("compiled code raises traps by their codes"),
                at: at(),
            },
            _ => raw.into(),
        }
    }
}

const fn has_stack(opcodes: &[azulejo_core::ir::bytecode::OpcodeInfo]) -> bool {
    let mut opcode = 0;
    while opcode < opcodes.len() {
        let operands = opcodes[opcode].operands;
        let mut operand = 0;
        while operand < operands.len() {
            if matches!(operands[operand].kind, OperandKind::Pop | OperandKind::Push) {
                return true;
            }
            operand += 1;
        }
        opcode += 1;
    }
    false
}
