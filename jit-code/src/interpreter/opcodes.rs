//! The code of all opcodes of one bytecode type, shared by all interpreters of the process that make the same choices.
//!
//! In: all that the code depends on ([`SetKey`]), and opcodes as they are needed. Out: [`OpcodeSet`], with a table of addresses that
//! interpreted code jumps by.
//!
//! - Whoever misses an opcode makes its code, without a lock, and puts the address into the table. If two threads do so at once, one
//!   of them drops what it made: an address that is in the table stays.
//! - The lock is held only to look a key up. A thread that holds it waits for no other lock, so a forked child finds it free.
//! - The code of a key has a region of its own, and lives as long as the process, since other engines use it. There are as many as
//!   the program has types of bytecode and ways to run them.

use super::around::{EntryCode, around};
use super::piece::Piece;
use super::{InterpreterChoice, ROOM};
use crate::CodeMemory;
use crate::baseline;
use crate::emit::{self, Backend, Code, Form, Options, Outline, Set, emit_as};
use crate::memory::fork;
use crate::memory::reach::Reach;
use crate::saved::{self, Image, KeyOf};
use crate::unwind::StackFrame;
use azulejo_core::error::{Error, Unsupported};
use azulejo_core::ir::bytecode::{Bytecode, OpcodeInfo, OperandKind};
use azulejo_core::ir::interpreted::Dispatch;
use azulejo_core::ir::template::Template;
use azulejo_core::pass::build::{InterpretRequest, Linkage};
use azulejo_core::pass::{Blind, Compilation, Observer, Target};
use azulejo_core::vocab::Vocabulary;
use core::marker::PhantomData;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Release};
use core::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Mutex, PoisonError};

/// The size of a region for the code of all opcodes. What is not written costs nothing.
const REGION_BYTES: usize = 4 << 20;

/// All that the code of opcodes depends on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct SetKey {
    /// What stencils depend on, too.
    stencils: baseline::Key,
    /// Whether jumps back look for a stop, and whether they take fuel.
    looks: [bool; 2],
}

impl SetKey {
    pub(super) fn of<B: Bytecode>(
        templates: &'static [&'static Template],
        target: &Target<'static>,
        set: &'static Set<impl Backend>,
        options: &Options,
        functions: &Linkage<'_>,
        looks: [bool; 2],
    ) -> SetKey {
        SetKey { stencils: baseline::Key::of::<B>(templates, target, set, options, functions), looks }
    }

    /// What the keys begin with by which code is saved that has this key, for memory of this reach.
    fn saved<'a>(&self, image: &'a Image, reach: &Reach) -> Option<KeyOf<'a>> {
        Some(self.stencils.saved(image, reach)?.value(self.looks))
    }
}

/// The code of opcodes, as far as it has been made.
#[derive(Debug)]
pub(super) struct OpcodeSet {
    memory: CodeMemory,
    options: Options,
    /// The address of each opcode's code.
    table: Box<[AtomicUsize]>,
    /// Whether an opcode's code has been made, or cannot be.
    known: Box<[AtomicBool]>,
    /// The code that enters an opcode's code.
    pub(super) entry: *const u8,
    /// Where opcodes leave, and where those lead that have no code.
    out: usize,
    unmade: usize,
    pub(super) stack_bytes: usize,
    /// What the keys begin with by which the code is saved, if it is.
    saved: Option<KeyOf<'static>>,
}

// SAFETY: the address is of code, which never changes.
unsafe impl Send for OpcodeSet {}
// SAFETY: as above; what changes is atomic.
unsafe impl Sync for OpcodeSet {}

/// The opcodes of each key in use.
static ALL: Mutex<Vec<(SetKey, &'static OpcodeSet)>> = Mutex::new(Vec::new());

/// The opcodes of a key, which are found or started.
pub(super) fn of<M: Backend>(
    key: SetKey,
    options: Options,
    n_opcodes: usize,
) -> Result<&'static OpcodeSet, Unsupported> {
    fork::protect(&ALL);
    let all = || ALL.lock().unwrap_or_else(PoisonError::into_inner);
    let find = |all: &[(SetKey, &'static OpcodeSet)]| {
        all.iter().find(|(known, _)| *known == key).map(|(_, opcodes)| *opcodes)
    };
    let found = find(&all());
    if let Some(opcodes) = found {
        return Ok(opcodes);
    }
    let started = OpcodeSet::start::<M>(&key, options, n_opcodes)?;
    let mut all = all();
    if let Some(opcodes) = find(&all) {
        // Regions are dropped without the lock.
        drop(all);
        drop(started);
        return Ok(opcodes);
    }
    let opcodes: &'static OpcodeSet = Box::leak(Box::new(started));
    all.push((key, opcodes));
    Ok(opcodes)
}

impl OpcodeSet {
    fn start<M: Backend>(key: &SetKey, options: Options, n_opcodes: usize) -> Result<OpcodeSet, Unsupported> {
        let memory = CodeMemory::new(M::MACHINE, REGION_BYTES)?;
        let options = Options { reach: memory.reach(), ..options };
        let EntryCode { code, out, unmade } = around::<M>(&options);
        let installed = memory.install(&code.finished()).map_err(|_| Unsupported::Memory)?;
        let entry = installed.address();
        let [out, unmade] = [out, unmade].map(|place| entry.addr() + place);
        let stack_bytes = code.frame.size() as usize;
        // The code stays as long as its memory.
        core::mem::forget(installed);
        let saved = saved::image().and_then(|image| key.saved(image, &options.reach));
        Ok(OpcodeSet {
            memory,
            options,
            table: (0..n_opcodes).map(|_| AtomicUsize::new(unmade)).collect(),
            known: (0..n_opcodes).map(|_| AtomicBool::new(false)).collect(),
            entry,
            out,
            unmade,
            stack_bytes,
            saved,
        })
    }

    pub(super) fn table(&self) -> *const usize {
        self.table.as_ptr().cast()
    }

    /// Whether an opcode's code has been made, or cannot be.
    #[inline]
    pub(super) fn is_known(&self, opcode: usize) -> bool {
        self.known[opcode].load(Acquire)
    }
}

/// Makes the code of opcodes.
pub(super) struct Maker<B, M: Backend> {
    opcodes: &'static OpcodeSet,
    choice: InterpreterChoice<M>,
    target: Target<'static>,
    templates: &'static [&'static Template],
    dispatch: Dispatch,
    functions: Linkage<'static>,
    compilation: Box<Compilation>,
    emission: emit::Scratch<M>,
    code: Code<M>,
    bytecode: PhantomData<fn(B)>,
}

impl<B: Bytecode, M: Backend> Maker<B, M> {
    pub(super) fn new(
        opcodes: &'static OpcodeSet,
        choice: InterpreterChoice<M>,
        target: Target<'static>,
        templates: &'static [&'static Template],
        dispatch: Dispatch,
        functions: Linkage<'static>,
    ) -> Self {
        let (compilation, emission, code) = Default::default();
        let bytecode = PhantomData;
        Maker {
            opcodes,
            choice,
            target,
            templates,
            dispatch,
            functions,
            compilation,
            emission,
            code,
            bytecode,
        }
    }

    /// Makes an opcode's code, unless that has been tried; returns whether there is code.
    pub(super) fn make(&mut self, opcode: usize) -> bool {
        let OpcodeSet { known, table, unmade, .. } = self.opcodes;
        if !self.opcodes.is_known(opcode) {
            if let Some(piece) = self.piece(opcode) {
                self.install(opcode, piece);
            }
            known[opcode].store(true, Release);
        }
        table[opcode].load(Acquire) != *unmade
    }

    /// Emits an opcode's code. An opcode whose template uses an operand in a way that no code can express has none.
    #[cold]
    #[inline(never)]
    pub(super) fn emit(&mut self, opcode: usize, observer: &mut dyn Observer) -> Result<(), Error> {
        let info = &B::OPCODES[opcode];
        let request = InterpretRequest {
            vocab: Vocabulary { extra: B::OPERATORS },
            opcode: info,
            offsets: B::OFFSETS[opcode],
            template: self.templates[opcode].compact(),
            dispatch: Dispatch { growth: growth(info), ..self.dispatch },
            may_stop: self.choice.may_stop,
            has_fuel: self.choice.has_fuel,
            functions: self.functions,
        };
        let Maker { compilation, emission, code, target, choice, opcodes, .. } = self;
        compilation.interpreted(&request, target, observer)?;
        let Compilation { tiles, assignment, .. } = &**compilation;
        if emit::slot_offset(tiles.out_args, assignment.slots) > ROOM {
            return Err(Error::FrameTooLarge { bytes: ROOM as usize });
        }
        let exits = vec![None; tiles.position.len()];
        let outline = Outline { exits, is_interpreted: true, ..Outline::default() };
        let form = Form::<fn(&mut M) -> u32>::Stencil(outline);
        emit_as(emission, tiles, assignment, choice.set, &opcodes.options, form, code)
    }

    /// An opcode's code, from an earlier process or made now. `None` if there can be none.
    fn piece(&mut self, opcode: usize) -> Option<Piece> {
        let key = self.opcodes.saved.as_ref().and_then(|key| saved::piece::key_of(key, opcode));
        if let Some(found) = key.and_then(saved::piece::find) {
            return found;
        }
        let made = self.emit(opcode, &mut Blind).ok().map(|()| Piece::of(&self.code, self.emission.buffer()));
        if let Some(key) = key {
            saved::piece::keep(key, self.templates[opcode].compact(), made.as_ref());
        }
        made
    }

    /// Puts the code into memory, and its address into the table.
    fn install(&self, opcode: usize, piece: Piece) {
        let OpcodeSet { memory, options, out, table, unmade, .. } = self.opcodes;
        let Ok((installed, faults)) = piece.install::<M>(memory, options, *out) else { return };
        let start = installed.address().addr();
        let is_first = table[opcode].compare_exchange(*unmade, start, AcqRel, Acquire).is_ok();
        if is_first {
            // Both stay as long as the process.
            core::mem::forget((faults, installed));
        }
    }
}

/// How many slots the operand stack grows by.
fn growth(info: &OpcodeInfo) -> i16 {
    let count =
        |kind: OperandKind| info.operands.iter().filter(|operand| operand.kind == kind).count() as i16;
    count(OperandKind::Push) - count(OperandKind::Pop)
}
