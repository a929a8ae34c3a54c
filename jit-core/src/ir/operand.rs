//! The operands of bytecodes, and what is known of opcodes without running them.
//!
//! In: the fields of an opcode enum. Out: the types that stand there ([`In`], [`Label`], …), and the description of each
//! opcode's operands, from which verification and all compilers read them.

use crate::vocab::Scalar;
use core::fmt;
use core::marker::PhantomData;

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

/// A VM register that an opcode reads, or a constant: the type of a field in an enum with `#[forms]`, which makes an opcode for each of
/// the two. The constant is of another type if the field says so: `InOrImm<u64, f64>`.
///
/// ```
/// # use azulejo_core::ir::bytecode as azulejo;
/// use azulejo::{Imm, In, InOrImm};
/// let register: InOrImm<f64> = 3.into();
/// let constant: InOrImm<f64> = Imm(1.5).into();
/// assert_eq!([register, constant], [InOrImm::In(In::new(3)), InOrImm::Imm(Imm(1.5))]);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InOrImm<T, C = T> {
    /// The register.
    In(In<T>),
    /// The constant.
    Imm(Imm<C>),
}

impl<T, C> From<u32> for InOrImm<T, C> {
    fn from(index: u32) -> Self {
        InOrImm::In(In::new(index))
    }
}

impl<T, C> From<In<T>> for InOrImm<T, C> {
    fn from(register: In<T>) -> Self {
        InOrImm::In(register)
    }
}

impl<T, C> From<Imm<C>> for InOrImm<T, C> {
    fn from(constant: Imm<C>) -> Self {
        InOrImm::Imm(constant)
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
    /// [`Site`](super::sites::Site).
    Site,
}

impl OperandKind {
    /// All kinds.
    pub const ALL: [OperandKind; 11] = {
        use OperandKind::*;
        [In, Out, InOut, Pop, Push, Imm, Label, Labels, Regs, RegsMut, Site]
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
            OperandKind::Site => "Site",
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
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
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
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
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
                OperandKind::Imm | OperandKind::Site => {}
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
