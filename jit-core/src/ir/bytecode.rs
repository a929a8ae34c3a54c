//! Bytecode as azulejo sees it: the description of an opcode enum that `derive(Bytecode)` makes.

use super::template::Template;
use crate::vocab::{OpInfo, Scalar, Trap};
use core::cell::Cell;
use core::fmt;
use core::marker::PhantomData;
use core::sync::atomic::AtomicU64;

/// The greatest number of operands of one opcode.
pub const MAX_OPERANDS: usize = 16;

macro_rules! register_operand {
    ($(#[doc = $doc:literal])* $name:ident) => {
        $(#[doc = $doc])*
        #[repr(transparent)]
        pub struct $name<T> {
            /// The register's number.
            pub index: u32,
            scalar: PhantomData<fn() -> T>,
        }

        impl<T> $name<T> {
            /// The register with this number.
            ///
            /// ```
            /// # use azulejo_core::ir::bytecode as azulejo;
            #[doc = concat!("use azulejo::", stringify!($name), ";")]
            #[doc = concat!("assert_eq!(", stringify!($name), "::<i64>::new(3).index, 3);")]
            /// ```
            pub const fn new(index: u32) -> Self {
                $name { index, scalar: PhantomData }
            }
        }
        impl<T> Clone for $name<T> {
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<T> Copy for $name<T> {}
        impl<T> PartialEq for $name<T> {
            fn eq(&self, other: &Self) -> bool {
                self.index == other.index
            }
        }
        impl<T> Eq for $name<T> {}
        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "r{}", self.index)
            }
        }
        impl<T> From<u32> for $name<T> {
            fn from(index: u32) -> Self {
                Self::new(index)
            }
        }
    };
}

register_operand! {
    /// A VM register that the opcode reads.
    ///
    /// ```
    /// # use azulejo_core::ir::bytecode as azulejo;
    /// use azulejo::In;
    /// let register: In<i64> = 3.into();
    /// assert_eq!(format!("{register:?}"), "r3");
    /// ```
    In
}
register_operand! {
    /// A VM register that the opcode writes.
    ///
    /// ```
    /// # use azulejo_core::ir::bytecode as azulejo;
    /// use azulejo::Out;
    /// let register: Out<i64> = 3.into();
    /// assert_eq!(format!("{register:?}"), "r3");
    /// ```
    Out
}
register_operand! {
    /// A VM register that the opcode reads and writes.
    ///
    /// ```
    /// # use azulejo_core::ir::bytecode as azulejo;
    /// use azulejo::InOut;
    /// let register: InOut<i64> = 3.into();
    /// assert_eq!(format!("{register:?}"), "r3");
    /// ```
    InOut
}

macro_rules! stack_operand {
    ($(#[doc = $doc:literal])* $name:ident) => {
        $(#[doc = $doc])*
        pub struct $name<T>(PhantomData<fn() -> T>);

        impl<T> $name<T> {
            /// The operand. Its slot follows from the height of the stack.
            ///
            /// ```
            /// # use azulejo_core::ir::bytecode as azulejo;
            #[doc = concat!("use azulejo::", stringify!($name), ";")]
            #[doc = concat!("assert_eq!(", stringify!($name), "::<i64>::new(), ", stringify!($name), "::default());")]
            /// ```
            pub const fn new() -> Self {
                $name(PhantomData)
            }
        }
        impl<T> Default for $name<T> {
            fn default() -> Self {
                Self::new()
            }
        }
        impl<T> Clone for $name<T> {
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<T> Copy for $name<T> {}
        impl<T> PartialEq for $name<T> {
            fn eq(&self, _: &Self) -> bool {
                true
            }
        }
        impl<T> Eq for $name<T> {}
        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(stringify!($name))
            }
        }
    };
}

stack_operand! {
    /// A value popped from the operand stack. The last `Pop` of an opcode is the top.
    ///
    /// ```
    /// # use azulejo_core::ir::bytecode as azulejo;
    /// use azulejo::Pop;
    /// // It holds nothing: where the value is follows from the bytecodes before.
    /// const TOP: Pop<i64> = Pop::new();
    /// assert_eq!(size_of_val(&TOP), 0);
    /// ```
    Pop
}
stack_operand! {
    /// A value pushed on the operand stack, after all pops. The last `Push` is the new top.
    ///
    /// ```
    /// # use azulejo_core::ir::bytecode as azulejo;
    /// use azulejo::Push;
    /// // It holds nothing: where the value is follows from the bytecodes before.
    /// const TOP: Push<i64> = Push::new();
    /// assert_eq!(size_of_val(&TOP), 0);
    /// ```
    Push
}

/// A constant in the bytecode.
///
/// ```
/// # use azulejo_core::ir::bytecode as azulejo;
/// use azulejo::Imm;
/// assert_eq!(Imm(7i64), 7.into());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(transparent)]
pub struct Imm<T>(pub T);

impl<T> From<T> for Imm<T> {
    fn from(value: T) -> Self {
        Imm(value)
    }
}

/// The index of a bytecode of the same function.
///
/// ```
/// # use azulejo_core::ir::bytecode as azulejo;
/// use azulejo::Label;
/// let code_so_far = [(); 12];
/// assert_eq!(Label(code_so_far.len() as u32), Label(12));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
#[repr(transparent)]
pub struct Label(pub u32);

impl From<u32> for Label {
    fn from(at: u32) -> Self {
        Label(at)
    }
}

/// A run of a function's label list. The last label is the default.
///
/// ```
/// # use azulejo_core::ir::bytecode as azulejo;
/// use azulejo::Labels;
/// // Two ways and one for everything else, behind four entries that others use.
/// let mut labels = vec![3, 5, 8, 5];
/// let table = Labels { first: labels.len() as u32, count: 3 };
/// labels.extend([10, 20, 30]);
/// assert_eq!(labels[table.first as usize..][..table.count as usize], [10, 20, 30]);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Labels {
    /// The index of the first label.
    pub first: u32,
    /// How many labels the run has.
    pub count: u32,
}

/// A run of VM registers that the opcode reads, for calls with any number of arguments.
///
/// ```
/// # use azulejo_core::ir::bytecode as azulejo;
/// use azulejo::Regs;
/// // Registers 4, 5 and 6.
/// let arguments = Regs { first: 4, count: 3 };
/// assert_eq!(arguments.first + arguments.count, 7);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Regs {
    /// The first register.
    pub first: u32,
    /// How many registers the run has.
    pub count: u32,
}

/// A run of VM registers that the opcode reads and writes.
///
/// ```
/// # use azulejo_core::ir::bytecode as azulejo;
/// use azulejo::RegsMut;
/// // Registers 4, 5 and 6.
/// let changed = RegsMut { first: 4, count: 3 };
/// assert_eq!(changed.first + changed.count, 7);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct RegsMut {
    /// The first register.
    pub first: u32,
    /// How many registers the run has.
    pub count: u32,
}

/// The kind of operand that a field of an opcode is.
///
/// ```
/// # use azulejo_core::ir::bytecode as azulejo;
/// use azulejo::OperandKind;
/// let is_read = |kind| matches!(kind, OperandKind::In | OperandKind::InOut | OperandKind::Pop);
/// assert!(is_read(OperandKind::InOut) && !is_read(OperandKind::Out));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OperandKind {
    /// [`In`].
    In,
    /// [`Out`].
    Out,
    /// [`InOut`].
    InOut,
    /// [`Pop`].
    Pop,
    /// [`Push`].
    Push,
    /// [`Imm`].
    Imm,
    /// [`Label`].
    Label,
    /// [`Labels`].
    Labels,
    /// [`Regs`].
    Regs,
    /// [`RegsMut`].
    RegsMut,
}

impl OperandKind {
    /// All kinds.
    pub const ALL: [OperandKind; 10] = {
        use OperandKind::*;
        [In, Out, InOut, Pop, Push, Imm, Label, Labels, Regs, RegsMut]
    };

    /// The name of the type of such fields.
    ///
    /// ```
    /// # use azulejo_core::ir::bytecode as azulejo;
    /// use azulejo::OperandKind;
    /// assert!(OperandKind::ALL.iter().all(|kind| OperandKind::from_name(kind.name()) == Some(*kind)));
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            OperandKind::In => "In",
            OperandKind::Out => "Out",
            OperandKind::InOut => "InOut",
            OperandKind::Pop => "Pop",
            OperandKind::Push => "Push",
            OperandKind::Imm => "Imm",
            OperandKind::Label => "Label",
            OperandKind::Labels => "Labels",
            OperandKind::Regs => "Regs",
            OperandKind::RegsMut => "RegsMut",
        }
    }

    /// The kind of a field whose type has this name.
    ///
    /// ```
    /// # use azulejo_core::ir::bytecode as azulejo;
    /// use azulejo::OperandKind;
    /// assert_eq!(OperandKind::from_name("Imm"), Some(OperandKind::Imm));
    /// assert_eq!(OperandKind::from_name("imm"), None);
    /// ```
    pub fn from_name(name: &str) -> Option<OperandKind> {
        OperandKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// One operand of an opcode.
///
/// ```
/// # use azulejo_core::ir::bytecode as azulejo;
/// use azulejo::{OperandInfo, OperandKind};
/// let target = OperandInfo { name: "to", kind: OperandKind::Label, scalar: None };
/// assert!(target.scalar.is_none(), "a label has no type");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct OperandInfo {
    /// The field's name, or its number.
    pub name: &'static str,
    /// Its kind.
    pub kind: OperandKind,
    /// The operand's scalar, if its kind has one.
    pub scalar: Option<Scalar>,
}

/// One opcode.
///
/// ```
/// # use azulejo_core::ir::bytecode as azulejo;
/// use azulejo::{OpcodeInfo, OperandInfo, OperandKind};
/// let jump = OpcodeInfo { name: "Jump", operands: &[OperandInfo { name: "to", kind: OperandKind::Label, scalar: None }] };
/// let is_jump = jump.operands.iter().any(|operand| operand.kind == OperandKind::Label);
/// assert!(is_jump);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct OpcodeInfo {
    /// The variant's name.
    pub name: &'static str,
    /// The fields in order.
    pub operands: &'static [OperandInfo],
}

/// The places of a bytecode's register operands, for an opcode whose operands need no other verification.
///
/// ```
/// # use azulejo_core::ir::bytecode::{Bytecode, Registers};
/// /// Of how many opcodes all registers can be looked at without asking what else there is.
/// fn simple<B: Bytecode>() -> usize {
///     B::REGISTERS.iter().filter(|registers: &&Option<Registers>| registers.is_some()).count()
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Registers {
    /// The offset of each register operand from the bytecode's start, in bytes; some repeat if there are fewer than four.
    offsets: [u16; 4],
}

impl Registers {
    /// The places of an opcode's registers, given its operands and their offsets in bytes. `None` if not all operands are
    /// registers and immediates, or if there is no register or too many.
    ///
    /// ```
    /// # use azulejo_core::ir::bytecode::{OperandInfo, OperandKind, Registers};
    /// let operand = |name, kind| OperandInfo { name, kind, scalar: None };
    /// let copy = [operand("dst", OperandKind::Out), operand("a", OperandKind::In)];
    /// assert!(Registers::of(&copy, &[4, 8]).is_some());
    /// let jump = [operand("a", OperandKind::In), operand("to", OperandKind::Label)];
    /// assert!(Registers::of(&jump, &[4, 8]).is_none());
    /// ```
    pub const fn of(operands: &[OperandInfo], offsets: &[u16]) -> Option<Registers> {
        let (mut found, mut count, mut at) = ([0; 4], 0, 0);
        while at < operands.len() {
            match operands[at].kind {
                OperandKind::In | OperandKind::Out | OperandKind::InOut if count < found.len() => {
                    found[count] = offsets[at];
                    count += 1;
                }
                OperandKind::Imm => {}
                _ => return None,
            }
            at += 1;
        }
        if count == 0 {
            return None;
        }
        while count < found.len() {
            found[count] = found[0];
            count += 1;
        }
        Some(Registers { offsets: found })
    }

    /// The places for all opcodes of a bytecode.
    ///
    /// ```
    /// # use azulejo_core::ir::bytecode::{OpcodeInfo, OperandInfo, OperandKind, Registers};
    /// const A: OperandInfo = OperandInfo { name: "a", kind: OperandKind::In, scalar: None };
    /// let opcodes = [OpcodeInfo { name: "Nop", operands: &[] }, OpcodeInfo { name: "Return", operands: &[A] }];
    /// let all: [Option<Registers>; 2] = Registers::of_all(&opcodes, &[&[], &[4]]);
    /// assert!(all[0].is_none() && all[1].is_some());
    /// ```
    pub const fn of_all<const N: usize>(
        opcodes: &[OpcodeInfo],
        offsets: &[&[u16]],
    ) -> [Option<Registers>; N] {
        let (mut all, mut at) = ([None; N], 0);
        while at < N {
            all[at] = Registers::of(opcodes[at].operands, offsets[at]);
            at += 1;
        }
        all
    }

    /// The offsets of the registers from the bytecode's start, in bytes. Some may occur more than once.
    ///
    /// ```
    /// # use azulejo_core::ir::bytecode::{OperandInfo, OperandKind, Registers};
    /// let a = OperandInfo { name: "a", kind: OperandKind::In, scalar: None };
    /// assert_eq!(Registers::of(&[a], &[4]).map(Registers::offsets), Some([4; 4]));
    /// ```
    pub const fn offsets(self) -> [u16; 4] {
        self.offsets
    }
}

/// An operand's value: a register's number, an immediate's bits (extended to 64 by its own type), or a label's position. For a
/// run, the low half is the first entry and the high half the count. Zero for `Pop` and `Push`.
pub type Raw = u64;

/// Whether one of the flags is set.
#[doc(hidden)]
pub const fn any(flags: &[bool]) -> bool {
    let mut at = 0;
    while at < flags.len() {
        if flags[at] {
            return true;
        }
        at += 1;
    }
    false
}

/// The numbers of the registers or labels in a run, given the operand's value.
pub(crate) fn run_of(raw: Raw) -> core::ops::Range<usize> {
    let (first, count) = (raw as u32 as usize, (raw >> 32) as usize);
    first..first + count
}

/// The outcome of one bytecode, or of a whole run of the interpreter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flow {
    /// Control continues at the next bytecode.
    Next,
    /// Control continues at this bytecode.
    Jump(u32),
    /// The function has returned; the bits of its result (zero if it has none).
    Return(u64),
    /// The function failed.
    Trap(Trap),
    /// Another function takes this one's place: the one that [`Functions::set_tail_call`] was given.
    Tail,
}

/// The functions that templates can call: those of the engine that runs them.
pub trait Functions<C> {
    /// Runs a function to its end with these bits in its first VM registers. Returns the bits of its result.
    fn invoke(&self, context: *mut C, function: u32, args: &[u64]) -> Result<u64, Trap>;
    /// Records the function that runs next, when the current one has ended, and its arguments.
    fn set_tail_call(&self, context: *mut C, function: u32, args: &[u64]) -> Result<(), Trap>;
}

/// The absence of functions: every call fails.
#[derive(Clone, Copy, Debug)]
pub struct NoFunctions;

impl<C> Functions<C> for NoFunctions {
    fn invoke(&self, _: *mut C, _: u32, _: &[u64]) -> Result<u64, Trap> {
        Err(Trap::BadCall)
    }

    fn set_tail_call(&self, _: *mut C, _: u32, _: &[u64]) -> Result<(), Trap> {
        Err(Trap::BadCall)
    }
}

impl<C> fmt::Debug for dyn Functions<C> + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Functions").finish_non_exhaustive()
    }
}

/// The state that one bytecode's interpreter arm works on.
#[derive(Debug)]
pub struct Machine<'a, C> {
    /// The slots of the VM registers.
    pub frame: *mut u64,
    /// The value of `(tc)`.
    pub context: *mut C,
    /// The value of `(cu)`.
    pub unit: *const (),
    /// The list that `Labels` operands point into.
    pub labels: &'a [u32],
    /// How many more backward jumps the interpreter may make before it stops and asks its caller whether to continue.
    pub budget: &'a Cell<i32>,
    /// Nonzero once the program is to stop. The interpreter then stops at the next backward jump.
    pub stop: &'a AtomicU64,
    /// The functions that templates can call.
    pub functions: &'a dyn Functions<C>,
}

/// A stop word for programs that are never stopped.
pub static NEVER: AtomicU64 = AtomicU64::new(0);

/// An opcode enum. Implemented by `#[derive(Bytecode)]` only.
///
/// ```
/// # use azulejo_core::ir::bytecode as azulejo;
/// use azulejo::Bytecode;
///
/// /// The name of an opcode, for a profile, say.
/// fn name<B: Bytecode>(op: &B) -> &'static str {
///     B::OPCODES[op.opcode()].name
/// }
/// ```
///
/// # Safety
///
/// `opcode` must be the number of a row of `OPCODES`; `operands` must return the values that the row lists, in order, and they
/// must be at the offsets in `OFFSETS`; and `templates` must describe what `interpret` does. The compilers and the compiled
/// code trust all of this.
pub unsafe trait Bytecode: Copy + fmt::Debug + 'static {
    /// The type that `(tc)` points to.
    type Context;
    /// Every opcode, by number.
    const OPCODES: &'static [OpcodeInfo];
    /// The operators that a user's crate added.
    const OPERATORS: &'static [OpInfo];
    /// For each opcode, the offset of each operand from the bytecode's start, in bytes. `Pop` and `Push` take no room.
    const OFFSETS: &'static [&'static [u16]];
    /// For each opcode, the result of [`Registers::of`].
    const REGISTERS: &'static [Option<Registers>];

    /// For each opcode, whether its template takes `(cu)`; empty if no template does.
    const TAKES_UNIT: &'static [bool];

    /// The opcode's number.
    fn opcode(&self) -> usize;
    /// The operands' values; those of `Pop` and `Push` are zero.
    fn operands(&self) -> [Raw; MAX_OPERANDS];
    /// The template of each opcode, by number.
    fn templates() -> &'static [&'static Template];
    /// The templates for code in which accesses in `(within …)` may fault.
    fn guarded_templates() -> &'static [&'static Template];
    /// Runs `code` from `pc` until it returns or traps; also returns the index of the last bytecode. Ends with a `Jump` before
    /// a backward jump for which no budget is left. `depth` is the height of the operand stack at `pc`; the stack's first slot
    /// has the number `locals`.
    ///
    /// # Safety
    ///
    /// The code must have been verified, the frame must have the number of slots that `verify` returned, and the context must
    /// be valid for the whole run.
    unsafe fn interpret(
        code: &[Self],
        machine: &Machine<'_, Self::Context>,
        pc: u32,
        locals: u32,
        depth: u32,
    ) -> (Flow, u32);
}

/// Links an opcode's number to a type that represents the opcode in error messages. Implemented by `#[derive(Bytecode)]` only.
pub trait Opcode<const NUMBER: usize> {
    /// A type with the opcode's name.
    type Marker;
}

/// The meaning of the opcode with this number. Implemented by `template!` only.
///
/// The number shows rustc that two implementations do not overlap, without a comparison of them: an enum may have a thousand.
///
/// # Safety
///
/// `TEMPLATE` and `run` must mean the same: compiled code is made from the former, the interpreter runs the latter.
pub unsafe trait Semantics<const NUMBER: usize>: Bytecode {
    /// The template, for the compilers.
    const TEMPLATE: &'static Template;

    /// Executes one bytecode, for the interpreter. `at` is the bytecode's index. `stack` is the slot of the first value that
    /// it pops, which is also the slot of its first push.
    ///
    /// # Safety
    ///
    /// `op` must have this opcode and be verified, and `machine` must meet the requirements of [`Bytecode::interpret`].
    unsafe fn run(op: &Self, machine: &Machine<'_, Self::Context>, at: u32, stack: *mut u64) -> Flow;
}

/// [`Semantics`], required under the opcode's name, so that the error for a missing template names the opcode.
#[diagnostic::on_unimplemented(
    message = "opcode `{Marker}` has no template",
    label = "what does this opcode mean?",
    note = "say it in a `template! {{ … }}`, in any module: `Enum::Opcode => (…)`"
)]
pub trait Means<Marker, const NUMBER: usize>: Bytecode {
    /// [`Semantics::TEMPLATE`].
    const TEMPLATE: &'static Template;

    /// [`Semantics::run`].
    ///
    /// # Safety
    ///
    /// The requirements of [`Semantics::run`].
    unsafe fn run(op: &Self, machine: &Machine<'_, Self::Context>, at: u32, stack: *mut u64) -> Flow;
}

#[diagnostic::do_not_recommend]
impl<B: Semantics<NUMBER>, Marker, const NUMBER: usize> Means<Marker, NUMBER> for B {
    const TEMPLATE: &'static Template = <B as Semantics<NUMBER>>::TEMPLATE;

    // In a build without optimization, inlining would keep the arguments a second time for each arm of the interpreter.
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn run(op: &Self, machine: &Machine<'_, Self::Context>, at: u32, stack: *mut u64) -> Flow {
        // SAFETY: the caller meets the requirements of `Semantics::run`.
        unsafe { <B as Semantics<NUMBER>>::run(op, machine, at, stack) }
    }
}
