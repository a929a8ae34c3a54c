//! The emitter of x86-64, which tiles write their instructions into.
//!
//! In: an instruction and the places of its operands. Out: its bytes, in the [`Buffer`] of the function that is emitted;
//! linking fills in distances that are not known yet. The crate `azulejo-code` decides the order of blocks, moves and tiles.
//!
//! The stack of compiled code is as [`mod@crate::frame`] describes: `rsp` does not move between prologue and epilogue, except
//! for a push and pop that copy one slot to another.

pub use crate::condition::Cond;
use crate::encode::{Alu, Bits, Immediate, Mem, Rm, cmovcc, setcc};
use crate::frame::{Frame, drop_frame, make_frame};
use crate::glue;
use crate::jump::Jump;
use crate::machine::MACHINE;
use crate::opcode::{Opcode, opcode};
use crate::regs;
use crate::shuffle::emit_move;
use crate::slots::Slots;
use azulejo_code::Machine;
use azulejo_code::call::{Accepts, Callbacks, HostFunctions, Stubs};
use azulejo_code::emit::assembler::{Assembler, Results};
use azulejo_code::emit::{self, Backend, Buffer, Goal, Place};
pub use azulejo_code::emit::{Options, emit};
use azulejo_code::status::RawStatus;
use azulejo_core::ir::assignment::Move;
use azulejo_core::ir::index::Block;
use azulejo_core::ir::status::Left;
use azulejo_core::vocab::Type;
use core::ops::{Deref, DerefMut};
use dynasmrt::{DynasmApi, dynasm};

/// Emits one tile.
pub type EmitFn = emit::EmitFn<Emitter>;

/// An instruction with its operands in place, as emitters see it.
pub type Tile<'a> = emit::Tile<'a, Emitter>;

/// The tiles that a compiler chooses from and how each is emitted; made by `tileset!`.
///
/// ```
/// # mod azulejo { pub use azulejo_x64 as x64; }
/// use azulejo::x64::X64;
/// assert_eq!(X64.emit.len(), X64.tables.tiles.len());
/// ```
pub type Set = emit::Set<Emitter>;

/// A function's machine code, before it is installed.
pub type Code = emit::Code<Emitter>;

/// Memory kept between functions.
pub type Scratch = emit::Scratch<Emitter>;

/// The code under construction, as tiles' emitters see it. dynasm writes into it too.
#[derive(Debug)]
pub struct Emitter {
    buffer: Buffer<Emitter>,
    condition: Option<Cond>,
}

impl Deref for Emitter {
    type Target = Buffer<Emitter>;

    fn deref(&self) -> &Buffer<Emitter> {
        &self.buffer
    }
}

impl DerefMut for Emitter {
    fn deref_mut(&mut self) -> &mut Buffer<Emitter> {
        &mut self.buffer
    }
}

/// The type of all compiled code: it takes context, frame, and the unit or, for baseline code, the address to start at. A panic
/// of a callee may unwind through it.
type Entry = unsafe extern "sysv64-unwind" fn(*mut (), *mut u64, *const ()) -> RawStatus;

impl Backend for Emitter {
    const MACHINE: &'static Machine = &MACHINE;
    const STUBS: &'static Stubs = &glue::STUBS;
    type Form = Jump;
    type Frame = Frame;
    type Place = Rm;

    fn new(buffer: Buffer<Emitter>) -> Emitter {
        Emitter { buffer, condition: None }
    }

    fn into_buffer(self) -> Buffer<Emitter> {
        self.buffer
    }

    fn prologue(&mut self) -> usize {
        make_frame(self)
    }

    fn epilogue(&mut self) {
        drop_frame(self);
    }

    fn shuffle(&mut self, next: &Move, out_args: u16) {
        emit_move(self, next, out_args);
    }

    fn fill_slots(&mut self, first: u32, accepts: Accepts, cleared: &[u32]) -> bool {
        Slots { first }.fill(self, accepts, cleared)
    }

    fn change_results(&mut self, to: Results) {
        match to {
            Results::Turned => dynasm!(self; .arch x64; xchg rax, rdx),
            Results::Trapped => {
                self.set_register(regs::RAX, Left::Trapped.word(0));
                self.alu(Alu::Or, Type::I64, regs::RAX.number(), regs::RDX.number());
            }
        }
    }

    fn callbacks<H: HostFunctions>() -> Callbacks {
        glue::callbacks::<H>()
    }

    unsafe fn enter(code: *const u8, context: *mut (), frame: *mut u64, third: *const ()) -> RawStatus {
        // SAFETY: the caller guarantees that this is a function of this type.
        let entry: Entry = unsafe { core::mem::transmute(code) };
        // SAFETY: the caller guarantees what the code relies on.
        unsafe { entry(context, frame, third) }
    }
}

impl Place for Rm {
    fn register(number: u8) -> Rm {
        number.into()
    }

    fn stack(offset: u32) -> Rm {
        stack_mem(offset).into()
    }
}

/// The stack, this many bytes above `rsp`.
pub(crate) fn stack_mem(offset: u32) -> Mem {
    Mem::at(regs::RSP.number(), offset as i64)
}

impl Emitter {
    /// An emitter without a function, for tests of single instructions.
    #[cfg(test)]
    pub(crate) fn bare() -> Emitter {
        emit::by_hand(&Options::default(), Frame::new(azulejo_core::target::RegSet::EMPTY, 0, false, false))
    }

    /// The code that was emitted since the last call.
    #[cfg(test)]
    pub(crate) fn take(&mut self) -> Vec<u8> {
        core::mem::take(&mut self.buffer.bytes)
    }

    /// Loads a constant into a float register.
    pub fn float_constant(&mut self, ty: Type, dst: u8, bits: u64) {
        match bits {
            0 => self.sse_bits(Bits::Xor, dst, dst),
            _ => {
                let constant = self.constant(bits as u128);
                self.load(ty, dst, constant);
            }
        }
    }

    /// A constant behind the code, 16 aligned bytes, as an operand. Only for instructions that end with it.
    pub fn constant(&mut self, bits: u128) -> Rm {
        Rm::Constant(self.pool.entry(bits))
    }

    // Control flow.

    /// Makes this condition the result of the tile, which is a flag.
    pub fn flag(&mut self, condition: Cond) {
        self.condition = Some(condition);
    }

    /// The condition that is the result of the previous tile.
    pub fn condition(&mut self) -> Cond {
        self.condition.take().expect("a flag is made right before it is used")
    }

    /// Ends the block with a jump to its only successor.
    pub fn jump(&mut self) {
        go_to(self, self.ways[0]);
    }

    /// Ends the block with a branch on the previous tile's condition; the first successor is taken if it holds.
    pub fn branch(&mut self) {
        let condition = self.condition();
        let (so, not) = (self.ways[0], self.ways[1]);
        if so == not {
            go_to(self, so);
        } else if so == self.next {
            jump_if(self, condition.inverted(), not, so);
        } else {
            jump_if(self, condition, so, not);
            go_to(self, not);
        }
    }

    /// Ends the block with a jump table of its successors, the last of which is the default. The value is unsigned; `table` and
    /// `address` are scratch registers.
    #[allow(clippy::useless_conversion, reason = "dynasm converts the numbers of registers")]
    pub fn switch(&mut self, value: u8, table: u8, address: u8) {
        let ways = core::mem::take(&mut self.ways);
        let (last, cases) = ways.split_last().expect("a switch has a default");
        if cases.is_empty() {
            go_to(self, *last);
        } else {
            self.alu(Alu::Cmp, Type::I64, value, Immediate(cases.len() as i64));
            jump_if(self, Cond::Ae, *last, Block::NONE);
            // The distance to the table is filled in once its place is known.
            dynasm!(self; .arch x64; lea Rq(table), [rip + 0]);
            let distance = self.bytes.len() - 4;
            self.movsx(Type::I32, Type::I64, address, Mem::element(table, value, 4, 0));
            self.alu(Alu::Add, Type::I64, address, table);
            self.jmp_to(address);
            let start = self.bytes.len();
            let to_table = (start - distance - 4) as i32;
            self.bytes[distance..distance + 4].copy_from_slice(&to_table.to_le_bytes());
            for (entry, &case) in cases.iter().enumerate() {
                // A distance counts from behind its four bytes, but an entry counts from the table's start.
                self.fixup(Goal::Block(case), Jump::Field);
                let correction = (entry as i32 + 1) * 4;
                self.bytes(&correction.to_le_bytes());
            }
        }
        self.ways = ways;
    }

    /// Sets the low byte of a register to whether the condition holds. The bits above it are undefined.
    pub fn set_if(&mut self, condition: Cond, dst: u8, scratch: u8) {
        match condition {
            Cond::OrderedE => {
                setcc(self, Cond::Np, scratch);
                setcc(self, Cond::E, dst);
                self.alu(Alu::And, Type::I32, dst, scratch);
            }
            Cond::UnorderedNe => {
                setcc(self, Cond::P, scratch);
                setcc(self, Cond::Ne, dst);
                self.alu(Alu::Or, Type::I32, dst, scratch);
            }
            plain => setcc(self, plain, dst),
        }
    }

    /// `dst = so` if the condition holds.
    pub fn move_if(&mut self, condition: Cond, wide: bool, dst: u8, so: u8) {
        match condition {
            Cond::OrderedE => {
                let unordered = self.skip(Cond::P);
                cmovcc(self, Cond::E, wide, dst, so);
                self.land(unordered);
            }
            Cond::UnorderedNe => {
                cmovcc(self, Cond::P, wide, dst, so);
                cmovcc(self, Cond::Ne, wide, dst, so);
            }
            plain => cmovcc(self, plain, wide, dst, so),
        }
    }

    /// Runs the code that `so` emits only if the condition holds.
    pub fn only_if(&mut self, condition: Cond, so: impl FnOnce(&mut Emitter)) {
        match condition {
            Cond::OrderedE => {
                let unordered = self.skip(Cond::P);
                let differ = self.skip(Cond::Ne);
                so(self);
                self.land(differ);
                self.land(unordered);
            }
            Cond::UnorderedNe => {
                let unordered = self.skip(Cond::P);
                let equal = self.skip(Cond::E);
                self.land(unordered);
                so(self);
                self.land(equal);
            }
            plain => {
                let not = self.skip(plain.inverted());
                so(self);
                self.land(not);
            }
        }
    }

    /// A short jump within a tile, unconditional (`None`) or on a plain condition; pass the result to [`Emitter::land`].
    pub fn skip(&mut self, condition: impl Into<Option<Cond>>) -> usize {
        short_jump(condition.into()).write_plain(self);
        self.byte(0);
        self.bytes.len()
    }

    /// A short jump within a tile, unconditional (`None`) or on a plain condition, back to an offset that was
    /// [here](Buffer::here).
    pub fn skip_back(&mut self, condition: impl Into<Option<Cond>>, to: usize) {
        let distance = to as i64 - (self.bytes.len() as i64 + 2);
        let distance = i8::try_from(distance).expect("a tile is shorter than 128 bytes");
        short_jump(condition.into()).write_plain(self);
        self.byte(distance as u8);
    }

    /// Makes a short jump within a tile land here.
    pub fn land(&mut self, from: usize) {
        debug_assert!(self.keeps_length_since(from), "a jump that may shrink is jumped over");
        let distance = self.bytes.len() - from;
        // The byte is signed: a distance that is too long for it would lead back.
        self.bytes[from - 1] = i8::try_from(distance).expect("a tile is shorter than 128 bytes") as u8;
    }
}

/// Jumps to a block, unless it is the next one.
fn go_to(cx: &mut Emitter, to: Block) {
    if to != cx.next {
        cx.jump_to(Goal::Block(to));
    }
}

/// Jumps to `to` if the condition holds. `otherwise` is where control goes if not: the next block, or the target of a jump that
/// follows.
fn jump_if(cx: &mut Emitter, condition: Cond, to: Block, otherwise: Block) {
    match condition {
        Cond::OrderedE => {
            jcc(cx, Cond::P, otherwise);
            jcc(cx, Cond::E, to);
        }
        Cond::UnorderedNe => {
            jcc(cx, Cond::P, to);
            jcc(cx, Cond::Ne, to);
        }
        plain => jcc(cx, plain, to),
    }
}

pub(crate) fn jcc(cx: &mut Emitter, condition: Cond, to: Block) {
    opcode!(jo DWORD 0).plus(condition as u8).write_plain(cx);
    distance(cx, to, Jump::Branch);
}

pub(crate) fn distance(cx: &mut Emitter, to: Block, form: Jump) {
    cx.fixup_block(to, form);
    cx.bytes(&[0; 4]);
}

fn short_jump(condition: Option<Cond>) -> Opcode {
    condition.map_or(opcode!(jmp BYTE 0), |condition| opcode!(jo BYTE 0).plus(condition as u8))
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

    /// The distance of a short jump over `len` bytes.
    fn skipped(len: usize) -> u8 {
        let mut emitter = Emitter::bare();
        let from = emitter.skip(None);
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
