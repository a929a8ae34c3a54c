//! Bytecode as azulejo sees it: what `derive(Bytecode)` tells of an opcode enum.

use super::template::Template;
use crate::vocab::{OpInfo, Scalar, Trap};
use core::cell::Cell;
use core::fmt;
use core::marker::PhantomData;
use core::sync::atomic::AtomicU64;

/// The most operands that one opcode may have.
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
            /// The operand; where it is follows from the depth of the stack.
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
    /// A value taken from the operand stack. The last `Pop` of an opcode is the top.
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
    /// A value put on the operand stack, after everything was popped. The last `Push` is the new top.
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

/// A position in the same function's code.
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

/// A run of a function's label list; the last entry is where all other values go.
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
    /// The first entry.
    pub first: u32,
    /// How many.
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
    /// How many.
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
    /// How many.
    pub count: u32,
}

/// What kind of operand a field of an opcode is.
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

    /// What the type of its fields is called.
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

    /// The kind whose fields have a type of this name.
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
    /// The scalar, where the kind has one.
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

/// Where the registers are that a bytecode names one by one, if it names some and verification has nothing else to see to.
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
    /// How many bytes from the bytecode's start; some repeat if there are fewer.
    offsets: [u16; 4],
}

impl Registers {
    /// Of an opcode whose operands are so many bytes from its start; nothing if not all are registers and immediates, or
    /// if there is no register or too many.
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

    /// Of all opcodes of a bytecode.
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

    /// How many bytes from the bytecode's start they are; some may be there more than once.
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

/// An operand's value. A register's number, an immediate's bits (extended to 64 by its own type), a label's
/// position; for a run, the first in the low half and the count in the high half; zero for `Pop` and `Push`.
pub type Raw = u64;

/// Whether one of these holds.
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

/// The registers or labels that an operand is a run of.
pub(crate) fn run_of(raw: Raw) -> core::ops::Range<usize> {
    let (first, count) = (raw as u32 as usize, (raw >> 32) as usize);
    first..first + count
}

/// How one bytecode, or a whole run of the interpreter, ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flow {
    /// Go on at the next bytecode.
    Next,
    /// Go on at this bytecode.
    Jump(u32),
    /// The function is done; the bits of its result (zero if none).
    Return(u64),
    /// The function failed.
    Trap(Trap),
    /// Another function takes its place, which [`Functions::set_tail_call`] was told of.
    Tail,
}

/// The functions that templates can call: those of the engine that runs them.
pub trait Functions<C> {
    /// Runs a function to its end with these bits in its first VM registers; the bits of its result.
    fn invoke(&self, context: *mut C, function: u32, args: &[u64]) -> Result<u64, Trap>;
    /// Notes which function is to run when the one that runs now has ended, and with what.
    fn set_tail_call(&self, context: *mut C, function: u32, args: &[u64]) -> Result<(), Trap>;
}

/// There are none.
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

/// What one bytecode's interpreter arm works on.
#[derive(Debug)]
pub struct Machine<'a, C> {
    /// The slots of the VM registers.
    pub frame: *mut u64,
    /// What `(tc)` is.
    pub context: *mut C,
    /// What `(cu)` is.
    pub unit: *const (),
    /// What `Labels` operands point into.
    pub labels: &'a [u32],
    /// How many more jumps back may be made before the interpreter stops to be asked whether it is to go on.
    pub budget: &'a Cell<i32>,
    /// Not zero once the program is to stop: then it stops at the next jump back.
    pub stop: &'a AtomicU64,
    /// The functions that templates can call.
    pub functions: &'a dyn Functions<C>,
}

/// A word for programs that nobody stops.
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
/// `opcode` must be the number of a row of `OPCODES`; `operands` must give as many values as that says, in order, which
/// must be where `OFFSETS` says; and `templates` must describe what `interpret` does. Compilers and what they compile
/// trust all that.
pub unsafe trait Bytecode: Copy + fmt::Debug + 'static {
    /// What `(tc)` points to.
    type Context;
    /// Every opcode, by number.
    const OPCODES: &'static [OpcodeInfo];
    /// The operators a user's crate added.
    const OPERATORS: &'static [OpInfo];
    /// For each opcode, how many bytes from the start of a bytecode each operand is. `Pop` and `Push` take no room there.
    const OFFSETS: &'static [&'static [u16]];
    /// For each opcode what [`Registers::of`] makes of that.
    const REGISTERS: &'static [Option<Registers>];

    /// For each opcode whether its template takes `(cu)`; empty if none does.
    const TAKES_UNIT: &'static [bool];

    /// The opcode's number.
    fn opcode(&self) -> usize;
    /// The operands' values; those of `Pop` and `Push` are zero.
    fn operands(&self) -> [Raw; MAX_OPERANDS];
    /// What each opcode means, by number.
    fn templates() -> &'static [&'static Template];
    /// The same for code whose accesses in `(within …)` may fault.
    fn guarded_templates() -> &'static [&'static Template];
    /// Runs `code` from `pc` until it returns or traps; also says at which bytecode that was. Ends with a `Jump` before a
    /// jump back for which there is no budget. `depth` is the height of the operand stack at `pc`, whose first slot
    /// is number `locals`.
    ///
    /// # Safety
    ///
    /// The code must have been verified, the frame must have as many slots as `verify` said, and the context
    /// must be valid for as long as this runs.
    unsafe fn interpret(
        code: &[Self],
        machine: &Machine<'_, Self::Context>,
        pc: u32,
        locals: u32,
        depth: u32,
    ) -> (Flow, u32);
}

/// Links an opcode's number to the type that stands for it in messages. Implemented by `#[derive(Bytecode)]` only.
pub trait Opcode<const NUMBER: usize> {
    /// Has the opcode's name.
    type Marker;
}

/// What the opcode of a number means. Implemented by `template!` only.
///
/// The number tells rustc two implementations apart without looking at either: an enum may have a thousand of them.
///
/// # Safety
///
/// `TEMPLATE` and `run` must mean the same: compiled code trusts the one, the interpreter runs the other.
pub unsafe trait Semantics<const NUMBER: usize>: Bytecode {
    /// For the compilers.
    const TEMPLATE: &'static Template;

    /// For the interpreter: executes one bytecode. `at` is its index, `stack` the slot of the first value that
    /// it pops, which is where its first push goes.
    ///
    /// # Safety
    ///
    /// `op` must be of this opcode and verified, and `machine` must be as [`Bytecode::interpret`] asks.
    unsafe fn run(op: &Self, machine: &Machine<'_, Self::Context>, at: u32, stack: *mut u64) -> Flow;
}

/// That [`Semantics`] there are, asked in the name of the opcode: so the opcode is named where there are none.
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
    /// The same.
    unsafe fn run(op: &Self, machine: &Machine<'_, Self::Context>, at: u32, stack: *mut u64) -> Flow;
}

#[diagnostic::do_not_recommend]
impl<B: Semantics<NUMBER>, Marker, const NUMBER: usize> Means<Marker, NUMBER> for B {
    const TEMPLATE: &'static Template = <B as Semantics<NUMBER>>::TEMPLATE;

    // Without optimization each of an interpreter's arms would keep its arguments once more.
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn run(op: &Self, machine: &Machine<'_, Self::Context>, at: u32, stack: *mut u64) -> Flow {
        // SAFETY: the caller promises the same.
        unsafe { <B as Semantics<NUMBER>>::run(op, machine, at, stack) }
    }
}
