//! Emit machine code: one function a tile.
//!
//! In: a tile list, its assignment, the emitters of the tiles. Out: [`Code`], position-independent bytes with a
//! table from code offsets to instructions. [`mod@crate::layout`] says which blocks are emitted in which order; jumps to what
//! follows are left out. [`link`] gives jumps their distance, and their short form where that is enough.
//!
//! The stack of compiled code is as [`mod@crate::frame`] says: `rsp` does not move between prologue and epilogue but for a
//! push and pop that move one slot to another.

use crate::code::Code;
pub use crate::condition::Cond;
use crate::encode::{Alu, Bits, Mem, Rm};
use crate::ending::Ending;
use crate::frame::{Frame, MAX_FRAME_BYTES};
use crate::invoke::{Admission, Failure};
use crate::layout::Layout;
use crate::link::{self, Fixup, Form as Jump, Pool, Target};
use crate::regs;
use crate::set::Set;
use azulejo_code::faults::Site;
use azulejo_code::memory::reach::Reach;
use azulejo_core::error::Error;
use azulejo_core::ir::assignment::{Assignment, Loc};
use azulejo_core::ir::emitted::Maker;
use azulejo_core::ir::index::Block;
use azulejo_core::ir::tiles::{Fault, Inst, Role, TileBlock, TileList};
use azulejo_core::vocab::{Sig, Type};
use dynasmrt::DynasmApi;

/// Emits one tile.
pub type EmitFn = fn(&mut Emitter, &Tile<'_>);

/// An instruction with its operands in place, as emitters see it.
#[derive(Clone, Copy, Debug)]
pub struct Tile<'a> {
    /// The types of the pattern's root.
    pub sig: Sig,
    /// The bytecode it came from.
    pub origin: u32,
    locs: &'a [Loc],
    imms: &'a [i64],
    /// How many of `locs` are results.
    n_outs: usize,
    /// Where temporaries start.
    first_temp: usize,
    out_args: u16,
}

impl Tile<'_> {
    /// The result's register.
    pub fn out(&self) -> u8 {
        self.number(0)
    }

    /// The register of the n-th operand, in pattern order.
    pub fn reg(&self, n: usize) -> u8 {
        self.number(self.n_outs + n)
    }

    /// The place of the n-th operand, if it may be in its spill slot.
    pub fn place(&self, n: usize) -> Rm {
        match self.locs[self.n_outs + n] {
            Loc::Reg(reg) => reg.number().into(),
            Loc::Slot(slot) => slot_mem(self.out_args, slot).into(),
            Loc::OutArg(_) => unreachable!("an argument on the stack is no operand of a tile's pattern"),
        }
    }

    /// How many operands it reads.
    pub fn operands(&self) -> usize {
        self.first_temp - self.n_outs
    }

    /// The n-th scratch register.
    pub fn temp(&self, n: usize) -> u8 {
        self.number(self.first_temp + n)
    }

    /// The n-th constant, in pattern order.
    pub fn imm(&self, n: usize) -> i64 {
        self.imms[n]
    }

    fn number(&self, at: usize) -> u8 {
        match self.locs[at] {
            Loc::Reg(reg) => reg.number(),
            other => unreachable!("{other:?} was to be a register"),
        }
    }
}

/// How code is emitted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// What can be named by its distance in the memory that the code goes to. Nothing, unless said: code then runs
    /// anywhere.
    pub reach: Reach,
    /// Whether functions keep `rbp` as the start of a chain of frames; the allocator must not give it out then.
    pub frame_pointers: bool,
    /// Whether the host is told of each function that fails.
    pub backtraces: bool,
}

/// What the emitter of a stencil knows beforehand: which blocks go to other bytecodes.
#[derive(Debug, Default)]
pub(crate) struct Outline {
    /// For each block that does nothing but go there, its exit; by number.
    pub(crate) exits: Vec<Option<u32>>,
    /// The block that goes on at the next bytecode.
    pub(crate) next: Option<Block>,
}

/// The exit to the next bytecode.
pub(crate) const NEXT: u32 = 0;
/// The exit out of the function.
pub(crate) const OUT: u32 = u32::MAX;
/// The exit out of it before its end: the host resumes there.
pub(crate) const LEFT: u32 = u32::MAX - 1;

/// Memory kept between functions.
#[derive(Debug, Default)]
pub struct Scratch {
    /// Where each block starts, by number; `u32::MAX` until it is emitted.
    starts: Vec<u32>,
    fixups: Vec<Fixup>,
    pool: Pool,
    link: link::Scratch,
    layout: Layout,
    /// Where the block that is being emitted may go.
    ways: Vec<Block>,
}

/// The code under construction, as tiles' emitters see it. dynasm writes into it too.
#[derive(Debug)]
pub struct Emitter {
    pub(crate) bytes: Vec<u8>,
    pub(crate) starts: Vec<u32>,
    pub(crate) fixups: Vec<Fixup>,
    pub(crate) pool: Pool,
    condition: Option<Cond>,
    /// Where the block that is being emitted may go, and the block behind it.
    ways: Vec<Block>,
    next: Block,
    reach: Reach,
    pub(crate) frame: Frame,
    /// Where the function is left.
    pub(crate) leaves: Vec<u32>,
    /// Which of these ends the function where an access faults, if one does.
    pub(crate) lands: Option<u32>,
    /// In a stencil what is known of its blocks.
    outline: Option<Outline>,
    /// Whether the next bytecode stands behind the block that is being emitted.
    falls_through: bool,
    /// Ways out that are emitted behind all blocks.
    pub(crate) failures: Vec<Failure>,
    /// Whether the block that is being emitted is cold.
    pub(crate) is_cold: bool,
    /// Where cold code goes to end in one of these ways.
    pub(crate) endings: Vec<(Ending, Block)>,
    /// Whether the function is called by others of bytecode, by their own convention.
    pub(crate) is_call_entry: bool,
    /// The address of what a function shares with those it calls, if others call it.
    pub(crate) host: u64,
    /// The address of its own call cell, if others call it and its failures are noted.
    pub(crate) noted: Option<u64>,
    /// Where above `rsp` the slots of VM registers are then.
    pub(crate) vm_frame: u32,
}

pub(crate) fn slot_mem(out_args: u16, slot: u32) -> Mem {
    Mem::at(regs::RSP.number(), (out_args as i64 + slot as i64) * 8)
}

/// Emits a function. Fails if its frame would be larger than [`MAX_FRAME_BYTES`].
pub fn emit(
    scratch: &mut Scratch,
    tiles: &TileList,
    assignment: &Assignment,
    set: &Set,
    options: &Options,
    code: &mut Code,
) -> Result<(), Error> {
    emit_as(scratch, tiles, assignment, set, options, Form::Function, code)
}

/// Emits a function that others of bytecode call. The slots are for the values of its VM registers.
pub(crate) fn emit_call_entry(
    scratch: &mut Scratch,
    tiles: &TileList,
    assignment: &Assignment,
    set: &Set,
    options: &Options,
    (admission, slots): (&Admission<'_>, u32),
    code: &mut Code,
) -> Result<(), Error> {
    emit_as(scratch, tiles, assignment, set, options, Form::CallEntry(admission, slots), code)
}

/// Emits a stencil: no prologue, exits that stay open, the exit to the next bytecode at the end of the hot part.
/// What stays open is then among [`Scratch::open_distances`].
pub(crate) fn emit_stencil(
    scratch: &mut Scratch,
    tiles: &TileList,
    assignment: &Assignment,
    set: &Set,
    options: &Options,
    outline: Outline,
    code: &mut Code,
) -> Result<(), Error> {
    emit_as(scratch, tiles, assignment, set, options, Form::Stencil(outline), code)
}

/// What is emitted.
enum Form<'a> {
    Function,
    CallEntry(&'a Admission<'a>, u32),
    Stencil(Outline),
}

fn emit_as(
    scratch: &mut Scratch,
    tiles: &TileList,
    assignment: &Assignment,
    set: &Set,
    options: &Options,
    form: Form<'_>,
    code: &mut Code,
) -> Result<(), Error> {
    let (outline, call_entry) = match form {
        Form::Function => (None, None),
        Form::CallEntry(admission, slots) => (None, Some((admission, slots))),
        Form::Stencil(outline) => (Some(outline), None),
    };
    let vm_slots = call_entry.map_or(0, |(_, slots)| slots);
    let bytes = (tiles.out_args as usize + assignment.slots as usize + vm_slots as usize) * 8;
    if bytes > MAX_FRAME_BYTES {
        return Err(Error::FrameTooLarge { bytes });
    }
    code.map.clear();
    code.sites.clear();
    let mut layout = core::mem::take(&mut scratch.layout);
    layout.find(tiles, assignment);
    if let Some(outline) = &outline {
        layout.leave_out(tiles, outline);
    }
    let mut emitter = Emitter::new(scratch, core::mem::take(&mut code.bytes), tiles, assignment, options);
    emitter.leaves = core::mem::take(&mut code.leaves);
    emitter.leaves.clear();
    emitter.outline = outline;
    code.entry = 0;
    if let Some((admission, slots)) = call_entry {
        emitter.is_call_entry = true;
        emitter.noted = options.backtraces.then(|| core::ptr::from_ref(admission.cell).addr() as u64);
        let room = emitter.vm_frame + slots * 8;
        emitter.frame = Frame::new(assignment.used, room, tiles.has_calls, options.frame_pointers);
        code.entry = emitter.admit(admission, emitter.frame.size() as usize);
    }
    if emitter.outline.is_none() {
        emitter.prologue();
    }
    if !emitter.bytes.is_empty() {
        code.map.push((0, Maker::Frame));
    }
    code.cold = u32::MAX;
    let last_hot = layout.order.iter().rposition(|position| !tiles.blocks[*position as usize].cold);
    for (at, position) in layout.order.iter().enumerate() {
        let block = &tiles.blocks[*position as usize];
        let start = emitter.bytes.len() as u32;
        emitter.starts[block.block.at()] = start;
        emitter.is_cold = block.cold;
        if block.cold {
            code.cold = code.cold.min(start);
        }
        // The cold part of a stencil does not stand behind the hot one.
        emitter.falls_through = emitter.outline.is_some() && Some(at) == last_hot;
        let follower = layout.order.get(at + 1).filter(|_| !emitter.falls_through);
        let next = follower.map_or(Block::NONE, |next| tiles.blocks[*next as usize].block);
        emitter.enter(tiles, block, &layout, next);
        let first_move = assignment.moves.partition_point(|next| next.before < block.insts.start);
        let mut moves = assignment.moves[first_move..].iter().peekable();
        let first_fault = tiles.faults.partition_point(|fault| fault.inst < block.insts.start);
        let mut faults = tiles.faults[first_fault..].iter().peekable();
        for inst in block.insts.range() {
            let before = emitter.bytes.len() as u32;
            while let Some(next) = moves.next_if(|next| next.before as usize == inst) {
                emitter.shuffle(next, tiles.out_args);
            }
            let start = emitter.bytes.len() as u32;
            if start > before {
                code.map.push((before, Maker::Moves(inst as u32)));
            }
            emitter.inst(tiles, assignment, inst, set);
            if let Some(fault) = faults.next_if(|fault| fault.inst as usize == inst) {
                let Fault { code: trap, origin, .. } = *fault;
                code.sites.push(Site { start, end: emitter.bytes.len() as u32, code: trap, origin });
            }
            if emitter.bytes.len() as u32 > start {
                code.map.push((start, Maker::Inst(inst as u32)));
            }
        }
    }
    let end_of_blocks = emitter.bytes.len() as u32;
    code.cold = code.cold.min(end_of_blocks);
    emitter.is_cold = true;
    emitter.fail();
    if !code.sites.is_empty() && emitter.lands.is_none() && emitter.outline.is_none() {
        // A function that does not return does where it faults.
        emitter.leave_failed();
    }
    if emitter.outline.is_some() {
        emitter.open_across(code.cold);
    }
    if emitter.bytes.len() as u32 > end_of_blocks {
        code.map.push((end_of_blocks, Maker::Frame));
    }
    let Emitter { bytes, mut starts, mut fixups, pool, ways, leaves, lands, frame, .. } = emitter;
    (code.bytes, code.leaves, code.lands, code.frame) = (bytes, leaves, lands, frame);
    let emitted = layout.order.iter().map(|position| tiles.blocks[*position as usize].block);
    let added = (tiles.position.len()..starts.len()).map(Block::from);
    link::link(&mut scratch.link, code, &mut fixups, &mut starts, emitted, added, &pool);
    (scratch.starts, scratch.fixups, scratch.pool) = (starts, fixups, pool);
    (scratch.layout, scratch.ways) = (layout, ways);
    Ok(())
}

impl Scratch {
    /// Of the last stencil: the places that hold a distance from behind them to what was not known, and how far into
    /// the code that is, where it is in the code.
    pub(crate) fn open_distances(&self, code: &Code) -> impl Iterator<Item = (u32, Target, Option<u32>)> {
        let open = self.fixups.iter().filter(|fixup| fixup.is_open);
        open.map(move |fixup| {
            let to = match fixup.target {
                Target::Block(block) => Some(self.starts[block.at()]),
                Target::Constant(entry) => Some(link::constant_at(code.end, entry)),
                Target::Exit(_) | Target::Address(_) => None,
            };
            (fixup.at, fixup.target, to)
        })
    }
}

impl Emitter {
    pub(crate) fn new(
        scratch: &mut Scratch,
        mut bytes: Vec<u8>,
        tiles: &TileList,
        assignment: &Assignment,
        options: &Options,
    ) -> Emitter {
        bytes.clear();
        let mut fixups = core::mem::take(&mut scratch.fixups);
        fixups.clear();
        let mut pool = core::mem::take(&mut scratch.pool);
        pool.clear();
        let mut starts = core::mem::take(&mut scratch.starts);
        starts.clear();
        starts.resize(tiles.position.len(), u32::MAX);
        let room = (tiles.out_args as u32 + assignment.slots) * 8;
        Emitter {
            bytes,
            starts,
            fixups,
            pool,
            condition: None,
            ways: core::mem::take(&mut scratch.ways),
            next: Block::NONE,
            frame: Frame::new(assignment.used, room, tiles.has_calls, options.frame_pointers),
            leaves: Vec::new(),
            lands: None,
            reach: options.reach.clone(),
            outline: None,
            falls_through: false,
            failures: Vec::new(),
            is_cold: false,
            endings: Vec::new(),
            is_call_entry: false,
            host: 0,
            noted: None,
            vm_frame: room,
        }
    }

    /// A block that is none of the tile list's.
    pub(crate) fn add_block(&mut self) -> Block {
        self.starts.push(u32::MAX);
        Block::from(self.starts.len() - 1)
    }

    /// Such a block stands here.
    pub(crate) fn start(&mut self, block: Block) {
        self.starts[block.at()] = self.bytes.len() as u32;
    }

    /// An emitter without a function, for tests of single instructions.
    #[cfg(test)]
    pub(crate) fn bare() -> Emitter {
        Emitter::new(
            &mut Scratch::default(),
            Vec::new(),
            &TileList::default(),
            &Assignment::default(),
            &Options::default(),
        )
    }

    /// What was emitted since the last call.
    #[cfg(test)]
    pub(crate) fn take(&mut self) -> Vec<u8> {
        core::mem::take(&mut self.bytes)
    }

    pub(crate) fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    fn enter(&mut self, tiles: &TileList, block: &TileBlock, layout: &Layout, next: Block) {
        self.ways.clear();
        for edge in tiles.edges(block) {
            self.ways.push(layout.leads_to(edge.to));
        }
        self.next = next;
    }

    fn inst(&mut self, tiles: &TileList, assignment: &Assignment, at: usize, set: &Set) {
        let Inst { tile, sig, operands, imms, origin, .. } = tiles.insts[at];
        let roles = &tiles.operands[operands.range()];
        let is_result = |role: Role| matches!(role, Role::Def | Role::EarlyDef);
        let n_outs = roles.iter().take_while(|operand| is_result(operand.role)).count();
        let first_temp = roles.iter().position(|operand| operand.role == Role::Temp).unwrap_or(roles.len());
        let view = Tile {
            sig,
            origin,
            locs: &assignment.locs[operands.range()],
            imms: &tiles.imms[imms.range()],
            n_outs,
            first_temp,
            out_args: tiles.out_args,
        };
        (set.emit[tile.0 as usize])(self, &view);
    }

    /// A constant in a float register.
    pub fn float_constant(&mut self, ty: Type, dst: u8, bits: u64) {
        match bits {
            0 => self.sse_bits(Bits::Xor, dst, dst),
            _ => {
                let constant = self.constant(bits as u128);
                self.load_float(ty, dst, constant);
            }
        }
    }

    /// A constant behind the code, 16 bytes that are aligned, as an operand. Only for instructions that end with it.
    pub fn constant(&mut self, bits: u128) -> Rm {
        Rm::Constant(self.pool.entry(bits))
    }

    /// The distance to a constant.
    pub(crate) fn constant_field(&mut self, entry: u32) {
        self.fixup(Target::Constant(entry), Jump::Field);
        self.bytes(&[0; 4]);
    }

    /// Whether an address can be named by its distance.
    pub(crate) fn reaches(&self, address: u64) -> bool {
        self.reach.covers(address)
    }

    /// The distance to an address outside of the code that is in reach. Only for instructions that end with it.
    pub(crate) fn distance_to(&mut self, address: u64) {
        self.fixup(Target::Address(address), Jump::Field);
        self.bytes(&[0; 4]);
    }

    fn fixup(&mut self, target: Target, form: Jump) {
        let is_open = matches!(target, Target::Exit(_));
        self.fixups.push(Fixup { at: self.bytes.len() as u32, target, form, is_open });
    }

    /// In a stencil: ends the block with an exit to another bytecode.
    pub(crate) fn continue_at(&mut self, exit: i64) {
        if exit as u32 != NEXT || !self.falls_through {
            self.jump_out(exit as u32);
        }
    }

    pub(crate) fn is_stencil(&self) -> bool {
        self.outline.is_some()
    }

    pub(crate) fn jump_out(&mut self, exit: u32) {
        self.byte(0xe9);
        self.fixup(Target::Exit(exit), Jump::Field);
        self.bytes(&[0; 4]);
    }

    /// Distances between hot and cold code stay open, and so do those from hot code to constants.
    fn open_across(&mut self, cold: u32) {
        for fixup in &mut self.fixups {
            let is_cold = fixup.at >= cold;
            fixup.is_open |= match fixup.target {
                Target::Block(block) => is_cold != (self.starts[block.at()] >= cold),
                Target::Constant(_) => !is_cold,
                Target::Exit(_) | Target::Address(_) => true,
            };
        }
    }

    // Control flow.

    /// The tile's result is a flag: this condition.
    pub fn flag(&mut self, condition: Cond) {
        self.condition = Some(condition);
    }

    /// The condition that the tile before made.
    pub fn condition(&mut self) -> Cond {
        self.condition.take().expect("a flag is made right before it is used")
    }

    /// Ends the block with a jump to its only successor.
    pub fn jump(&mut self) {
        self.jump_to(self.ways[0]);
    }

    /// Ends the block by the condition that the tile before made: the first successor if it holds.
    pub fn branch(&mut self) {
        let condition = self.condition();
        let (so, not) = (self.ways[0], self.ways[1]);
        if so == not {
            self.jump_to(so);
        } else if so == self.next {
            self.jump_if(condition.inverted(), not, so);
        } else {
            self.jump_if(condition, so, not);
            self.jump_to(not);
        }
    }

    /// Ends the block with a table of its successors, the last of which is for all values that have no entry.
    /// The value is unsigned; `table` and `address` are scratch registers.
    pub fn switch(&mut self, value: u8, table: u8, address: u8) {
        let ways = core::mem::take(&mut self.ways);
        let (last, cases) = ways.split_last().expect("a switch has a default");
        if cases.is_empty() {
            self.jump_to(*last);
        } else {
            self.alu_imm(Alu::Cmp, Type::I64, value, cases.len() as i64);
            self.jump_if(Cond::Ae, *last, Block::NONE);
            // lea table, [rip + distance to the table]; the distance is known when the table is placed.
            self.bytes(&[0x48 | table >> 3 << 2, 0x8d, (table & 7) << 3 | 5]);
            let distance = self.bytes.len();
            self.bytes(&[0; 4]);
            self.movsx(Type::I32, Type::I64, address, Mem::element(table, value, 4, 0));
            self.alu(Alu::Add, Type::I64, address, table);
            self.jmp_to(address);
            let start = self.bytes.len();
            let to_table = (start - distance - 4) as i32;
            self.bytes[distance..distance + 4].copy_from_slice(&to_table.to_le_bytes());
            for (entry, &case) in cases.iter().enumerate() {
                // The distance counts from behind the four bytes; an entry counts from the table's start.
                self.fixup(Target::Block(case), Jump::Field);
                let correction = (entry as i32 + 1) * 4;
                self.bytes(&correction.to_le_bytes());
            }
        }
        self.ways = ways;
    }

    fn jump_to(&mut self, to: Block) {
        if to == self.next {
            return;
        }
        self.byte(0xe9);
        self.distance(to, Jump::Jump);
    }

    /// `otherwise` is where control goes if not, directly behind or by a jump that follows.
    fn jump_if(&mut self, condition: Cond, to: Block, otherwise: Block) {
        match condition {
            Cond::OrderedE => {
                self.jcc(Cond::P, otherwise);
                self.jcc(Cond::E, to);
            }
            Cond::UnorderedNe => {
                self.jcc(Cond::P, to);
                self.jcc(Cond::Ne, to);
            }
            plain => self.jcc(plain, to),
        }
    }

    pub(crate) fn jcc(&mut self, condition: Cond, to: Block) {
        self.bytes(&[0x0f, 0x80 | condition as u8]);
        self.distance(to, Jump::Branch);
    }

    pub(crate) fn distance(&mut self, to: Block, form: Jump) {
        let exit = self.outline.as_ref().and_then(|outline| *outline.exits.get(to.at())?);
        match exit {
            Some(exit) => self.fixup(Target::Exit(exit), Jump::Field),
            None => self.fixup(Target::Block(to), form),
        }
        self.bytes(&[0; 4]);
    }

    /// One byte in a register: whether the condition holds. What is above it is as it was.
    pub fn set_if(&mut self, condition: Cond, dst: u8, scratch: u8) {
        match condition {
            Cond::OrderedE => {
                self.setcc(Cond::Np as u8, scratch);
                self.setcc(Cond::E as u8, dst);
                self.alu(Alu::And, Type::I32, dst, scratch);
            }
            Cond::UnorderedNe => {
                self.setcc(Cond::P as u8, scratch);
                self.setcc(Cond::Ne as u8, dst);
                self.alu(Alu::Or, Type::I32, dst, scratch);
            }
            plain => self.setcc(plain as u8, dst),
        }
    }

    /// `dst = so` if the condition holds.
    pub fn move_if(&mut self, condition: Cond, wide: bool, dst: u8, so: u8) {
        match condition {
            Cond::OrderedE => {
                let unordered = self.skip_if(Cond::P);
                self.cmovcc(Cond::E as u8, wide, dst, so);
                self.land(unordered);
            }
            Cond::UnorderedNe => {
                self.cmovcc(Cond::P as u8, wide, dst, so);
                self.cmovcc(Cond::Ne as u8, wide, dst, so);
            }
            plain => self.cmovcc(plain as u8, wide, dst, so),
        }
    }

    /// Does what `so` emits only if the condition holds.
    pub fn only_if(&mut self, condition: Cond, so: impl FnOnce(&mut Emitter)) {
        match condition {
            Cond::OrderedE => {
                let unordered = self.skip_if(Cond::P);
                let differ = self.skip_if(Cond::Ne);
                so(self);
                self.land(differ);
                self.land(unordered);
            }
            Cond::UnorderedNe => {
                let unordered = self.skip_if(Cond::P);
                let equal = self.skip_if(Cond::E);
                self.land(unordered);
                so(self);
                self.land(equal);
            }
            plain => {
                let not = self.skip_if(plain.inverted());
                so(self);
                self.land(not);
            }
        }
    }

    /// How long the code is so far; for jumps within a tile.
    pub fn here(&self) -> usize {
        self.bytes.len()
    }

    /// A short jump within a tile, on a plain condition; give the result to [`Emitter::land`].
    pub fn skip_if(&mut self, condition: Cond) -> usize {
        self.bytes(&[0x70 | condition as u8, 0]);
        self.bytes.len()
    }

    /// A short jump within a tile; give the result to [`Emitter::land`].
    pub fn skip(&mut self) -> usize {
        self.bytes(&[0xeb, 0]);
        self.bytes.len()
    }

    /// A short jump within a tile, back to where it was [here](Emitter::here).
    pub fn skip_back(&mut self, to: usize) {
        let distance = to as i64 - (self.bytes.len() as i64 + 2);
        let distance = i8::try_from(distance).expect("a tile is shorter than 128 bytes");
        self.bytes(&[0xeb, distance as u8]);
    }

    /// As [`skip_back`](Self::skip_back), on a plain condition.
    pub(crate) fn skip_back_if(&mut self, condition: Cond, to: usize) {
        self.skip_back(to);
        let at = self.bytes.len() - 2;
        self.bytes[at] = 0x70 | condition as u8;
    }

    /// A short jump within a tile lands here.
    pub fn land(&mut self, from: usize) {
        let is_inside = |fixup: &Fixup| fixup.at as usize >= from && fixup.form != Jump::Field;
        debug_assert!(
            !self.fixups.iter().rev().take(4).any(is_inside),
            "a jump that may shrink is jumped over"
        );
        let distance = self.bytes.len() - from;
        // The byte has a sign: a distance that is too long for it would lead back.
        self.bytes[from - 1] = i8::try_from(distance).expect("a tile is shorter than 128 bytes") as u8;
    }
}

impl DynasmApi for Emitter {
    fn offset(&self) -> dynasmrt::AssemblyOffset {
        dynasmrt::AssemblyOffset(self.bytes.len())
    }

    fn push(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    fn align(&mut self, alignment: usize, with: u8) {
        while !self.bytes.len().is_multiple_of(alignment) {
            self.bytes.push(with);
        }
    }
}

impl Extend<u8> for Emitter {
    fn extend<T: IntoIterator<Item = u8>>(&mut self, bytes: T) {
        self.bytes.extend(bytes);
    }
}

impl<'a> Extend<&'a u8> for Emitter {
    fn extend<T: IntoIterator<Item = &'a u8>>(&mut self, bytes: T) {
        self.bytes.extend(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The distance of a short jump over so many bytes.
    fn skipped(len: usize) -> u8 {
        let mut emitter = Emitter::bare();
        let from = emitter.skip();
        emitter.bytes(&vec![0x90; len]);
        emitter.land(from);
        emitter.take()[1]
    }

    #[test]
    fn a_short_jump_goes_as_far_as_its_byte_says() {
        assert_eq!([0, 1, 127].map(skipped), [0, 1, 127]);
        let panic = std::panic::catch_unwind(|| skipped(128)).expect_err("it would lead back");
        let text = panic.downcast_ref::<String>().expect("it says why");
        assert!(text.starts_with("a tile is shorter than 128 bytes"), "{text}");
    }
}
