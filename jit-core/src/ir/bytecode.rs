//! Bytecode as azulejo sees it: the description of an opcode enum that `derive(Bytecode)` makes.

pub use super::case_text::{CaseRef, DebugCase, OpaqueCase};
use super::frames::ShowPlan;
pub use super::operand::{
    Imm, In, InOrImm, InOut, Label, Labels, MAX_OPERANDS, OpcodeInfo, OperandInfo, OperandKind, Out, Pop,
    Push, Registers, Regs, RegsMut,
};
pub use super::sites::{Cases, Site, SiteInfo};
use super::slow_paths::SlowPaths;
use super::template::Template;
use crate::vocab::{OpInfo, Trap};
use core::cell::Cell;
use core::fmt;
use core::sync::atomic::AtomicU64;

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

/// The value of [`Bytecode::OFFSETS`]: of what was measured for each opcode, as many as it has operands.
#[doc(hidden)]
pub const fn offsets<const N: usize>(
    places: &'static [[u16; MAX_OPERANDS]; N],
    opcodes: &[OpcodeInfo],
) -> [&'static [u16]; N] {
    let mut offsets = [&[] as &[u16]; N];
    let mut opcode = 0;
    while opcode < N {
        offsets[opcode] = places[opcode].split_at(opcodes[opcode].operands.len()).0;
        opcode += 1;
    }
    offsets
}

/// The first byte of each value.
///
/// # Safety
///
/// The values start with a byte that is not padding.
#[doc(hidden)]
pub const unsafe fn first_bytes<T, const N: usize>(values: &[T; N]) -> [u8; N] {
    let mut bytes = [0; N];
    let mut at = 0;
    while at < N {
        // SAFETY: the caller guarantees that there is an initialized byte.
        bytes[at] = unsafe { core::ptr::from_ref(&values[at]).cast::<u8>().read() };
        at += 1;
    }
    bytes
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

/// A function, to which an address leads: so templates call it without looking up its number.
///
/// ```
/// // There is nothing to read at the address: it is passed on, and called.
/// assert_eq!(size_of::<azulejo_core::ir::bytecode::Callable>(), 0);
/// ```
#[derive(Debug)]
#[repr(C)]
pub struct Callable {
    opaque: [u8; 0],
}

/// The functions that templates can call: those of the engine that runs them.
pub trait Functions<C> {
    /// The number of the function with this address.
    ///
    /// # Safety
    ///
    /// The address must be that of one of these functions.
    unsafe fn number(&self, callee: *const Callable) -> u32;
    /// Runs a function to its end with these bits in its first VM registers. Returns the bits of its result.
    fn invoke(&self, context: *mut C, function: u32, args: &[u64]) -> Result<u64, Trap>;
    /// Called with the trap of a function that has failed, if its caller goes on. Returns the trap's code, or the trap with which the
    /// caller has to fail in spite of that, because the program is to end.
    fn caught(&self, trap: Trap) -> Result<u32, Trap>;
    /// Records the function that runs next, when the current one has ended, and its arguments.
    fn set_tail_call(&self, context: *mut C, function: u32, args: &[u64]) -> Result<(), Trap>;
}

/// The absence of functions: every call fails.
#[derive(Clone, Copy, Debug)]
pub struct NoFunctions;

impl<C> Functions<C> for NoFunctions {
    unsafe fn number(&self, _: *const Callable) -> u32 {
        u32::MAX
    }

    fn invoke(&self, _: *mut C, _: u32, _: &[u64]) -> Result<u64, Trap> {
        Err(Trap::BadCall)
    }

    fn caught(&self, trap: Trap) -> Result<u32, Trap> {
        trap.catch()
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

/// The arguments of a call that are words in memory. They are copied, because the callee may write there.
///
/// ```
/// let arguments = [1u64, 2, 3];
/// let address = arguments.as_ptr().expose_provenance() as i64;
/// // SAFETY: two words are there.
/// assert_eq!(unsafe { azulejo_core::ir::bytecode::spread(address, 2) }, [1, 2]);
/// ```
///
/// # Safety
///
/// At this address must be as many words, unless there are none.
pub unsafe fn spread(address: i64, count: i64) -> Vec<u64> {
    match count {
        0 => Vec::new(),
        count => {
            let first = core::ptr::with_exposed_provenance(address as usize);
            // SAFETY: the caller guarantees it.
            unsafe { core::slice::from_raw_parts(first, count as usize) }.to_vec()
        }
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
    /// Which slow paths of the function have run; at least [`NO_SLOW_PATHS`](super::slow_paths::NO_SLOW_PATHS).
    pub slow_paths: &'a SlowPaths,
    /// How the function shows its frame to calls that observe, if it does.
    pub show: Option<ShowPlan>,
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

    /// For each opcode, whether its template takes the address of the whole frame; empty if no template does.
    const FRAME_ADDRESSES: &'static [bool];

    /// For each opcode, whether its template makes bytecodes others; empty if no template does.
    const QUICKENS: &'static [bool];

    /// Constants that templates use a lot: baseline code keeps them in machine registers, as far as the machine has some for that.
    const PINNED: &'static [u64];

    /// For each opcode, whether its template has a slow path; empty if no template has one.
    const SLOW_PATHS: &'static [bool];

    /// For each opcode, its `Site` operands, each with its number; empty if no opcode has one.
    const SITES: &'static [&'static [(u8, SiteInfo)]];

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
    /// The code must have been verified, the frame must have the number of slots that `verify` returned, the context must
    /// be valid for the whole run, and so must the sites whose addresses are in the code. If the code [quickens](Self::QUICKENS),
    /// it may be written by this pointer, and nobody else reads or writes it meanwhile but what it calls.
    unsafe fn interpret(
        code: *const [Self],
        machine: &Machine<'_, Self::Context>,
        pc: u32,
        locals: u32,
        depth: u32,
    ) -> (Flow, u32);
}

/// An opcode's `Site` operand has cases of this type. Implemented by `#[derive(Bytecode)]` only.
///
/// The type is a parameter, since it may be less public than the enum.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a case of this site is no `{Case}`",
    label = "a case is what the enum says: `Site<Case, …>`"
)]
pub trait HasSite<const OPCODE: usize, const OPERAND: usize, Case> {
    /// Makes rustc check it.
    const HAS: () = ();
}

/// A struct whose fields templates may name. Implemented by `#[derive(Fields)]` only; `template!` requires it, so that the error for a missing
/// derive says so.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "templates do not know the fields of `{Self}`",
    label = "a template names a field of this struct",
    note = "write `#[derive(Fields)]` above the struct, and import it where the template is"
)]
pub trait HasFields {
    /// Makes rustc check it.
    const HAS: () = ();
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
    /// `op` must lead to a bytecode of this opcode that was verified, and `machine` must meet the requirements of [`Bytecode::interpret`].
    unsafe fn run(op: *const Self, machine: &Machine<'_, Self::Context>, at: u32, stack: *mut u64) -> Flow;
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
    unsafe fn run(op: *const Self, machine: &Machine<'_, Self::Context>, at: u32, stack: *mut u64) -> Flow;
}

#[diagnostic::do_not_recommend]
impl<B: Semantics<NUMBER>, Marker, const NUMBER: usize> Means<Marker, NUMBER> for B {
    const TEMPLATE: &'static Template = <B as Semantics<NUMBER>>::TEMPLATE;

    // In a build without optimization, inlining would keep the arguments a second time for each arm of the interpreter.
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn run(op: *const Self, machine: &Machine<'_, Self::Context>, at: u32, stack: *mut u64) -> Flow {
        // SAFETY: the caller meets the requirements of `Semantics::run`.
        unsafe { <B as Semantics<NUMBER>>::run(op, machine, at, stack) }
    }
}
