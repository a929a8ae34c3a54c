//! The emitter that tiles write their instructions into, and the `Backend` that the crate `azulejo-code` requires of a machine.

use crate::frame::Frame;
use crate::instruction::{Code, Distance, Word};
use crate::machine::MACHINE;
use crate::regs::*;
use crate::simulator;
use crate::stubs::STUBS;
use azulejo_code::Machine;
use azulejo_code::call::{Accepts, Callbacks, HostFunctions, Stubs};
use azulejo_code::emit::assembler::{Assembler, Results, Target};
use azulejo_code::emit::leave::{leave_unfinished, leave_with};
use azulejo_code::emit::{self, Backend, Buffer, Goal, Place, stack_offset};
use azulejo_code::status::RawStatus;
use azulejo_core::ir::assignment::{Loc, Move, Source};
use azulejo_core::ir::index::Block;
use azulejo_core::ir::interpreted::{Dispatch, Record};
use azulejo_core::ir::status::Left;
use azulejo_core::target::Reg;
use azulejo_core::vocab::{Class, Op, Sig, Type};
use core::ops::{Deref, DerefMut};

/// An instruction with its operands in place, as emitters see it.
pub type Tile<'a> = emit::Tile<'a, Emitter>;

/// The code under construction.
#[derive(Debug)]
pub struct Emitter {
    buffer: Buffer<Emitter>,
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

impl Backend for Emitter {
    const MACHINE: &'static Machine = &MACHINE;
    const STUBS: &'static Stubs = &STUBS;
    type Form = Distance;
    type Frame = Frame;
    type Place = Register;

    fn new(buffer: Buffer<Emitter>) -> Emitter {
        Emitter { buffer }
    }

    fn into_buffer(self) -> Buffer<Emitter> {
        self.buffer
    }

    fn prologue(&mut self) -> usize {
        self.make_frame()
    }

    fn epilogue(&mut self) {
        self.drop_frame();
    }

    fn shuffle(&mut self, next: &Move, out_args: u16) {
        self.do_move(next, out_args);
    }

    fn fill_slots(&mut self, first: u32, accepts: Accepts, cleared: &[u32]) -> bool {
        self.fill(first, accepts, cleared);
        false
    }

    fn change_results(&mut self, to: Results) {
        match to {
            Results::Turned => {
                self.copy_register(TEMP, X0);
                self.copy_register(X0, X1);
                self.copy_register(X1, TEMP);
            }
            Results::Trapped => {
                self.set_register(TEMP, Left::Trapped.word(0));
                let sig = Sig { from: Type::I32, ty: Type::I64 };
                self.operate(Op::UCAST, sig, X0.number(), [X1.number(), 0]);
                self.operate_wide(Op::OR, X0, X0, TEMP);
            }
        }
    }

    fn callbacks<H: HostFunctions>() -> Callbacks {
        simulator::callbacks::<H>()
    }

    unsafe fn enter(code: *const u8, context: *mut (), frame: *mut u64, third: *const ()) -> RawStatus {
        // SAFETY: the caller guarantees what the code relies on.
        unsafe { simulator::enter(code, context, frame, third) }
    }
}

/// The place of an instruction's operand: always a register.
#[derive(Clone, Copy, Debug)]
pub struct Register(pub u8);

impl Place for Register {
    fn register(number: u8) -> Register {
        Register(number)
    }

    fn stack(_: u32) -> Register {
        unreachable!("no tile of this machine takes an operand from its spill slot")
    }
}

impl Emitter {
    pub(crate) fn word(&mut self, word: Word) {
        self.bytes(&word.0.to_le_bytes());
    }

    pub(crate) fn registers(&mut self, code: Code, registers: [u8; 3]) {
        self.word(Word::of(code, registers));
    }

    /// An operator of the vocabulary.
    pub(crate) fn operate(&mut self, op: Op, sig: Sig, out: u8, operands: [u8; 2]) {
        let [first, second] = operands;
        self.word(Word::of(Code::Operate, [out, first, second]).operator(op).typed(sig));
    }

    /// An operator on integers of 64 bits.
    pub(crate) fn operate_wide(&mut self, op: Op, out: Reg, first: Reg, second: Reg) {
        let sig = Sig { from: Type::I64, ty: Type::I64 };
        self.operate(op, sig, out.number(), [first.number(), second.number()]);
    }

    /// A tile that is a single operator; the result may be a flag.
    pub(crate) fn by_operator(&mut self, op: Op, t: &Tile<'_>, operands: usize) {
        let is_flag = t.sig.ty == Type::Flag;
        let out = if is_flag { FLAG.number() } else { t.out() };
        let reg = |n: usize| if n < operands { t.reg(n) } else { 0 };
        self.operate(op, t.sig, out, [reg(0), reg(1)]);
    }

    /// Copies a register, all bits.
    pub(crate) fn transfer(&mut self, class: Class, out: u8, from: u8) {
        let ty = if class == Class::Int { Type::I64 } else { Type::F64 };
        self.word(Word::of(Code::Move, [out, from, 0]).of_type(ty));
    }

    /// Loads a constant. All constants of 32 bits take equally many instructions, except those that fit in one immediate.
    pub(crate) fn constant(&mut self, out: u8, bits: u64) {
        match bits {
            0..0x1000 => self.word(Word::of(Code::Set, [out, 0, 0]).with(bits as i64)),
            0x1000..=0xffff_ffff => {
                self.set_low(out, bits);
                self.word(Word::of(Code::Keep, [out, 0, 0]).at(2).with((bits >> 24) as i64));
            }
            _ if bits as i64 == bits as i32 as i64 => self.set_signed(out, bits as i64),
            _ => {
                self.set_low(out, bits);
                for step in 2..6 {
                    let part = bits >> (12 * step) & 0xfff;
                    self.word(Word::of(Code::Keep, [out, 0, 0]).at(step).with(part as i64));
                }
            }
        }
    }

    fn set_low(&mut self, out: u8, bits: u64) {
        self.word(Word::of(Code::Set, [out, 0, 0]).with((bits & 0xfff) as i64));
        self.word(Word::of(Code::Keep, [out, 0, 0]).at(1).with((bits >> 12 & 0xfff) as i64));
    }

    /// Loads a sign-extended constant of 32 bits. The number of instructions is the same for all of them.
    pub(crate) fn set_signed(&mut self, out: u8, value: i64) {
        debug_assert_eq!(value, value as i32 as i64);
        self.set_low(out, value as u64);
        self.word(Word::of(Code::Sign, [out, 0, 0]).with(value >> 24 & 0xff));
    }

    /// Adds a constant.
    pub(crate) fn add(&mut self, out: u8, from: u8, value: i64) {
        let (from, value) = self.reach_from(from, value);
        self.word(Word::of(Code::Add, [out, from, 0]).with(value));
    }

    /// Makes an offset fit an instruction: if it is too large, the address is computed in the temporary register.
    fn reach_from(&mut self, base: u8, offset: i64) -> (u8, i64) {
        if (-2048..2048).contains(&offset) {
            return (base, offset);
        }
        let temp = TEMP.number();
        debug_assert_ne!(base, temp);
        if offset == offset as i32 as i64 {
            self.set_signed(temp, offset);
        } else {
            self.constant(temp, offset as u64);
        }
        self.operate(Op::ADD, Sig { from: Type::Void, ty: Type::I64 }, temp, [base, temp]);
        (temp, 0)
    }

    pub(crate) fn load(&mut self, ty: Type, out: u8, base: u8, offset: i64) {
        let (base, offset) = self.reach_from(base, offset);
        self.word(Word::of(Code::Load, [out, base, 0]).with(offset).of_type(ty));
    }

    pub(crate) fn store(&mut self, ty: Type, base: u8, offset: i64, value: u8) {
        debug_assert!(ty.is_float() || value != TEMP.number() || (-2048..2048).contains(&offset));
        let (base, offset) = self.reach_from(base, offset);
        self.word(Word::of(Code::Store, [value, base, 0]).with(offset).of_type(ty));
    }

    fn do_move(&mut self, Move { from, to, ty, .. }: &Move, out_args: u16) {
        let (sp, temp, ftemp) = (SP.number(), TEMP.number(), FTEMP.number());
        let offset = |loc: Loc| stack_offset(loc, out_args).expect("a register is not on the stack") as i64;
        // A move from memory to memory goes through a float register: the addresses may need the temporary register.
        match (*from, *to) {
            (Source::Const(bits), Loc::Reg(to)) if ty.is_float() => self.float_constant(to.number(), bits),
            (Source::Const(bits), Loc::Reg(to)) => self.set_register(to, bits),
            (Source::Const(bits), to) => {
                self.set_register(TEMP, bits);
                self.operate(Op::BITCAST, Sig { from: Type::I64, ty: Type::F64 }, ftemp, [temp, 0]);
                self.store(Type::F64, sp, offset(to), ftemp);
            }
            (Source::Loc(Loc::Reg(from)), Loc::Reg(to)) => self.copy_register(to, from),
            (Source::Loc(Loc::Reg(from)), to) => {
                let whole = if from.class() == Class::Int { Type::I64 } else { Type::F64 };
                self.store(whole, sp, offset(to), from.number());
            }
            (Source::Loc(from), Loc::Reg(to)) => {
                let whole = if to.class() == Class::Int { Type::I64 } else { Type::F64 };
                self.load(whole, to.number(), sp, offset(from));
            }
            (Source::Loc(from), to) => {
                self.load(Type::F64, ftemp, sp, offset(from));
                self.store(Type::F64, sp, offset(to), ftemp);
            }
        }
    }

    /// Loads a constant from behind the code into a float register.
    pub(crate) fn float_constant(&mut self, out: u8, bits: u64) {
        let entry = self.pool.entry(bits as u128);
        self.fixup(Goal::Constant(entry), Distance::Near);
        self.registers(Code::Constant, [out, 0, 0]);
    }

    // Control flow.

    /// Ends the block with a jump to its only successor.
    pub(crate) fn jump(&mut self) {
        self.go_to(self.ways[0]);
    }

    /// Ends the block with a branch on the flag; the first successor is taken if it is set.
    pub(crate) fn branch(&mut self) {
        let (so, not) = (self.ways[0], self.ways[1]);
        if so == not {
            self.go_to(so);
        } else if so == self.next {
            self.jump_on(Code::JumpUnless, FLAG, not);
        } else {
            self.jump_on(Code::JumpIf, FLAG, so);
            self.go_to(not);
        }
    }

    /// Ends the block with a jump table of its successors, the last of which is the default.
    pub(crate) fn switch(&mut self, value: u8) {
        let ways = core::mem::take(&mut self.ways);
        let (last, cases) = ways.split_last().expect("a switch has a default");
        self.set_register(TEMP, cases.len() as u64);
        let sig = Sig { from: Type::I64, ty: Type::Flag };
        self.operate(Op::ULT, sig, FLAG.number(), [value, TEMP.number()]);
        self.jump_on(Code::JumpUnless, FLAG, *last);
        self.registers(Code::JumpBy, [value, 0, 0]);
        for case in cases {
            self.fixup_block(*case, Distance::Far);
            self.registers(Code::Jump, [0; 3]);
        }
        self.ways = ways;
    }

    /// Jumps to a block, unless it is the next one.
    fn go_to(&mut self, to: Block) {
        if to != self.next {
            self.jump_to(Goal::Block(to));
        }
    }

    /// Jumps if a register is zero, or if it is not.
    pub(crate) fn jump_on(&mut self, code: Code, register: Reg, to: Block) {
        self.fixup_block(to, Distance::Near);
        self.registers(code, [register.number(), 0, 0]);
    }

    /// Calls a function at a known address.
    pub(crate) fn call_address(&mut self, address: u64) {
        self.call_at(Target::Address(address));
    }

    // Leaving the function.

    /// Returns nothing, or the integer of this type in the second result register, zero-extended.
    pub(crate) fn give_back(&mut self, ty: Option<Type>) {
        let value = X1.number();
        match ty {
            None => self.set_register(X1, 0),
            Some(Type::I64) => {}
            Some(from) => self.operate(Op::UCAST, Sig { from, ty: Type::I64 }, value, [value, 0]),
        }
        leave_with(self, Left::Returned.word(0));
    }

    pub(crate) fn exit(&mut self, to: i64) {
        self.set_register(X0, to as u32 as u64);
        // The bytecode may be a hole, so its upper bits are loaded separately.
        self.set_register(TEMP, Left::Exited.word(0) | to as u64 >> 32 << 32);
        self.operate_wide(Op::OR, X0, X0, TEMP);
        leave_unfinished(self);
    }
}

impl Emitter {
    /// Goes on to the next bytecode, or to the one at the address in a register: jumps to the code of its opcode.
    pub(crate) fn dispatch(&mut self, to: Option<u8>, bits: i64) {
        let Dispatch { size, growth, is_wide, has_stack } = Dispatch::of(bits as u64);
        let [pc, record, kept] = INTERPRETED.map(Reg::number);
        let (opcode, table) = (X0.number(), TEMP.number());
        match to {
            None => self.add(pc, pc, size as i64),
            Some(to) => self.transfer(Class::Int, pc, to),
        }
        self.add(kept, kept, growth as i64 * 8);
        let ty = if is_wide { Type::I16 } else { Type::I8 };
        self.load(ty, opcode, pc, 0);
        self.operate(Op::UCAST, Sig { from: ty, ty: Type::I64 }, opcode, [opcode, 0]);
        self.constant(table, 3);
        self.operate_wide(Op::SHL, X0, X0, TEMP);
        match has_stack {
            true => self.load(Type::I64, table, record, Record::TABLE as i64),
            false => self.transfer(Class::Int, table, kept),
        }
        self.operate_wide(Op::ADD, X0, X0, TEMP);
        self.load(Type::I64, opcode, opcode, 0);
        self.registers(Code::JumpTo, [opcode, 0, 0]);
    }

    /// An atomic operator: the address is the tile's first operand.
    pub(crate) fn atomic(&mut self, op: Op, t: &Tile<'_>) {
        self.word(Word::of(Code::Atomic, [t.out(), t.reg(0), t.reg(1)]).operator(op).typed(t.sig));
    }
}
