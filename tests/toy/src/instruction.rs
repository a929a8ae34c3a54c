//! Instructions: 32 bits each, in three-address form, with immediates of 12 bits.
//!
//! | bits | hold |
//! | --- | --- |
//! | 26 to 31 | which instruction it is ([`Code`]) |
//! | 22 to 25 | the first register, usually the destination |
//! | 18 to 21 | the second |
//! | 14 to 17 | the third |
//! | 5 to 16 | an immediate |
//! | 0 to 21 or 25 | a distance, in instructions |
//!
//! An arithmetic instruction has the number of an operator of the vocabulary in bits 6 to 13, and its two types below that; a
//! load, store or move has a type in bits 0 to 2.

use azulejo_code::Field;
use azulejo_code::emit::{DistanceForm, Shorter};
use azulejo_core::vocab::{Op, Sig, Type};

/// What an instruction does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Code {
    /// Not an instruction: control has come to memory without code.
    Nothing = 0,
    /// An operator of the vocabulary, from the second and the third register to the first.
    Operate,
    /// The second register to the first if the flag is set, otherwise the third; the type says of which class.
    Select,
    /// The second register to the first, all bits; the type says of which class.
    Move,
    /// An immediate to a register, shifted by a multiple of twelve bits; the other bits become zero.
    Set,
    /// An immediate to a register, shifted by a multiple of twelve bits; the other bits stay.
    Keep,
    /// Eight bits to the top of 32, whose highest bit is copied to all bits above.
    Sign,
    /// The sum of the second register and a signed immediate to the first.
    Add,
    /// Loads from the address in the second register plus a signed immediate.
    Load,
    /// Stores to the address in the second register plus a signed immediate.
    Store,
    /// An atomic operator: applies the third register to memory at the address in the second. The first gets the old value; for
    /// a comparison it holds the expected one.
    Atomic,
    /// Jumps by the distance.
    Jump,
    /// Jumps by the distance if the first register is not zero.
    JumpIf,
    /// Jumps by the distance if the first register is zero.
    JumpUnless,
    /// Jumps to the address in the first register.
    JumpTo,
    /// Jumps by the number of instructions in the first register, counted from the next instruction.
    JumpBy,
    /// Calls the address in the first register; the link register gets the return address.
    Call,
    /// Jumps to the address in the link register.
    Return,
    /// Loads 64 bits of a constant at the distance into a float register.
    Constant,
    /// Makes the simulator do what a real machine does in assembly.
    Stub,
}

impl Code {
    const ALL: [Code; 20] = [
        Code::Nothing,
        Code::Operate,
        Code::Select,
        Code::Move,
        Code::Set,
        Code::Keep,
        Code::Sign,
        Code::Add,
        Code::Load,
        Code::Store,
        Code::Atomic,
        Code::Jump,
        Code::JumpIf,
        Code::JumpUnless,
        Code::JumpTo,
        Code::JumpBy,
        Code::Call,
        Code::Return,
        Code::Constant,
        Code::Stub,
    ];
}

/// An instruction with its operands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Word(pub u32);

impl Word {
    /// An instruction with nothing but registers.
    pub(crate) const fn of(code: Code, registers: [u8; 3]) -> Word {
        let [first, second, third] = registers;
        Word((code as u32) << 26 | (first as u32) << 22 | (second as u32) << 18 | (third as u32) << 14)
    }

    /// Adds an immediate, truncated to twelve bits.
    pub(crate) const fn with(self, immediate: i64) -> Word {
        Word(self.0 | (immediate as u32 & 0xfff) << 5)
    }

    /// Adds an operator.
    pub(crate) const fn operator(self, op: Op) -> Word {
        Word(self.0 | (op.0 as u32) << 6)
    }

    /// Adds the type of a load, store or move.
    pub(crate) const fn of_type(self, ty: Type) -> Word {
        Word(self.0 | ty as u32)
    }

    /// Adds the types of an operator.
    pub(crate) const fn typed(self, sig: Sig) -> Word {
        Word(self.0 | (sig.from as u32) << 3 | sig.ty as u32)
    }

    /// Adds a shift, counted in steps of twelve bits.
    pub(crate) const fn at(self, step: u8) -> Word {
        Word(self.0 | (step as u32) << 18)
    }

    pub(crate) fn code(self) -> Code {
        Code::ALL.get((self.0 >> 26) as usize).copied().unwrap_or(Code::Nothing)
    }

    pub(crate) fn registers(self) -> [usize; 3] {
        [22, 18, 14].map(|bit| (self.0 >> bit & 15) as usize)
    }

    pub(crate) fn immediate(self) -> i64 {
        IMMEDIATE.read(&self.0.to_le_bytes())
    }

    pub(crate) fn op(self) -> Op {
        Op((self.0 >> 6 & 0xff) as u16)
    }

    pub(crate) fn sig(self) -> Sig {
        let ty = |number: u32| Type::ALL[(number & 7) as usize];
        Sig { from: ty(self.0 >> 3), ty: ty(self.0) }
    }

    pub(crate) fn step(self) -> u32 {
        self.0 >> 18 & 7
    }

    pub(crate) fn distance(self, of: Distance) -> i64 {
        of.field().read(&self.0.to_le_bytes())
    }
}

const fn bits(width: u8, shift: u8) -> Field {
    Field { bytes: 4, first: 5, width, shift }
}

/// An immediate.
pub(crate) const IMMEDIATE: Field = bits(12, 0);

/// The fields that hold parts of constants.
pub(crate) const IMMEDIATES: [Field; 7] =
    [bits(12, 0), bits(12, 12), bits(12, 24), bits(12, 36), bits(12, 48), bits(8, 24), bits(4, 60)];

/// The places of distances. They count from the instruction's start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Distance {
    /// Of an unconditional jump.
    Far,
    /// Of an instruction with a register.
    Near,
}

/// The field of a jump's distance.
pub(crate) const FAR: Field = Field { bytes: 4, first: 0, width: 26, shift: 2 };

impl DistanceForm for Distance {
    fn field(self) -> Field {
        if self == Distance::Far { FAR } else { Field { width: 22, ..FAR } }
    }

    fn base(self) -> u32 {
        0
    }

    fn shorter(self) -> Option<Shorter<Distance>> {
        None
    }
}
