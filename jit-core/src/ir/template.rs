//! Templates as static data: what `template!` leaves behind for the graph builder.
//!
//! A template is a list of steps in execution order. Steps that yield a value define value 0, 1, 2 … in order;
//! later steps refer to them by number. Conditionals are blocks already: `Block` starts one, and every block
//! but the last is closed by a step that leaves it. After the last step control falls through to the next
//! bytecode, unless that step leaves.

use super::graph::Effect;
use crate::vocab::{Op, Sig, Type};

/// A value of a template, by number.
pub type Ref = u16;
/// A block of a template, by number; block 0 is where it starts.
pub type BlockRef = u16;

/// A constant of a step.
#[derive(Clone, Copy, Debug)]
pub enum Imm {
    /// Known when the user's crate was compiled.
    Known(i64),
    /// The address of a static.
    Address(Address),
    /// The value of an `Imm` operand of the bytecode, sign- or zero-extended by its own type.
    Operand(u8),
}

/// A calling convention.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Convention {
    /// What `extern "C"` means on this system.
    C,
    /// System V on x86-64.
    SysV64,
    /// Windows on x86-64.
    Win64,
    /// How functions of bytecode call each other: the context, and each argument as the 64 bits that its slot would hold. The
    /// result is such bits too.
    Bytecode,
}

/// What a called function takes and gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Signature {
    /// How arguments travel.
    pub convention: Convention,
    /// The arguments' types; a narrow integer is passed extended by its own sign (the template does that).
    pub args: &'static [Type],
    /// The result's type; `Void` for none.
    pub ret: Type,
}

/// The address of a function or a static, in static data.
#[derive(Clone, Copy, Debug)]
pub struct Address(pub *const ());

// SAFETY: the address is only ever read as a number.
unsafe impl Sync for Address {}
// SAFETY: as above.
unsafe impl Send for Address {}

/// The callee of a call.
#[derive(Clone, Copy, Debug)]
pub enum Callee {
    /// A Rust function.
    Known(Address),
    /// An address computed by the template.
    Value(Ref),
}

/// What a condition is expected to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Likelihood {
    /// True nearly always: the other way is cold.
    Likely,
    /// False nearly always.
    Unlikely,
    /// Nothing is known.
    #[default]
    Even,
}

/// One step of a template.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// An operator on values. Yields a value unless the operator yields nothing.
    Node {
        /// The operator.
        op: Op,
        /// On which types.
        sig: Sig,
        /// Its operands.
        inputs: &'static [Ref],
        /// Its constant, if it has one (`Imm::Known(0)` otherwise).
        imm: Imm,
    },
    /// The value of a VM register operand, the low bits of its slot. Yields a value.
    Read {
        /// Which operand.
        operand: u8,
        /// As what.
        ty: Type,
    },
    /// The value of an `Imm` operand as a constant. Yields a value.
    Constant {
        /// Which operand.
        operand: u8,
        /// As what.
        ty: Type,
    },
    /// The address of the first slot of a register window; the registers in it are in their slots. Yields.
    Window {
        /// Which operand.
        operand: u8,
    },
    /// The number of registers in a window, as `I64`. Yields a value.
    WindowLength {
        /// Which operand.
        operand: u8,
    },
    /// A call. Yields a value unless it returns nothing.
    Call {
        /// The callee of a call.
        callee: Callee,
        /// With what.
        args: &'static [Ref],
        /// The convention and types.
        signature: Signature,
        /// What it may do.
        effect: Effect,
    },
    /// A call of a function of bytecode. Yields a value unless it returns nothing.
    Invoke {
        /// The function's number.
        function: Ref,
        /// With what.
        args: Arguments,
        /// As what the bits of the result are read; `Void` if they are not.
        ret: Type,
        /// What it may do.
        effect: Effect,
    },
    /// Writes a VM register: the value's bits, zeros above them.
    Write {
        /// Which operand.
        operand: u8,
        /// The value.
        value: Ref,
    },
    /// Starts a block. Yields one value for each parameter.
    Block {
        /// Its number.
        block: BlockRef,
        /// The types of its parameters.
        params: &'static [Type],
        /// Whether it must not sit in the hot path.
        cold: bool,
    },
    /// Goes to a block.
    Jump {
        /// Where.
        block: BlockRef,
        /// The values of its parameters.
        args: &'static [Ref],
    },
    /// Goes to one of two blocks (without parameters).
    Branch {
        /// The condition.
        flag: Ref,
        /// If it holds.
        then: BlockRef,
        /// If not.
        otherwise: BlockRef,
        /// What is expected.
        likelihood: Likelihood,
    },
    /// Goes to the bytecode that a `Label` operand names.
    Goto {
        /// Which operand.
        operand: u8,
    },
    /// Goes to the bytecode that stands at this position in a list of labels; the last is for all others.
    Switch {
        /// The position, an unsigned `I64`.
        value: Ref,
        /// The label operands, or one `Labels` operand.
        operands: &'static [u8],
    },
    /// Goes on at the next bytecode.
    Next,
    /// Leaves the function with a result, if it has one.
    Return {
        /// The result.
        value: Option<Ref>,
    },
    /// Leaves the function; a function of bytecode takes its place, and gives its result.
    Tail {
        /// The function's number.
        function: Ref,
        /// With what.
        args: Arguments,
    },
    /// Leaves compiled code; the interpreter goes on where `to` says.
    Exit {
        /// Where the interpreter goes on.
        to: Resume,
    },
    /// Leaves the function with an error.
    Trap {
        /// [`crate::vocab::Trap::code`].
        code: u32,
    },
}

/// What a function of bytecode is given.
#[derive(Clone, Copy, Debug)]
pub enum Arguments {
    /// These values.
    Values(&'static [Ref]),
    /// The registers of the run that an operand names.
    Run(u8),
}

/// Where the interpreter goes on after an exit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Resume {
    /// At this bytecode, from its start (a failed guard).
    Here,
    /// At the next bytecode.
    Next,
    /// At the bytecode that a `Label` operand names.
    Label(u8),
}

impl Template {
    /// Whether it lets others see all VM registers in their slots.
    pub fn observes(&self) -> bool {
        self.steps.iter().any(|step| {
            matches!(
                step,
                Step::Node { op: Op::LOCAL, .. }
                    | Step::Call { effect: Effect::Observes, .. }
                    | Step::Invoke { effect: Effect::Observes, .. }
            )
        })
    }
}

impl Template {
    /// Goes over the steps with the operands that were surely written before each, a bit for each operand; nothing where
    /// control cannot be. What is so behind the last step, for the next bytecode, is the result.
    pub(crate) fn follow_writes(&self, mut look: impl FnMut(&Step, Option<u16>)) -> Option<u16> {
        let mut ways_in: Vec<Option<u16>> = vec![None; self.blocks as usize];
        let mut written = Some(0);
        for step in self.steps {
            look(step, written);
            let mut arrive = |block: BlockRef, written: Option<u16>| {
                let way = &mut ways_in[block as usize];
                *way = match (*way, written) {
                    (Some(one), Some(other)) => Some(one & other),
                    (one, other) => one.or(other),
                };
            };
            match *step {
                Step::Write { operand, .. } => written = written.map(|known| known | 1 << operand),
                Step::Block { block, .. } => written = ways_in[block as usize],
                Step::Jump { block, .. } => arrive(block, written.take()),
                Step::Branch { then, otherwise, .. } => {
                    arrive(then, written);
                    arrive(otherwise, written.take());
                }
                Step::Goto { .. }
                | Step::Switch { .. }
                | Step::Next
                | Step::Exit { .. }
                | Step::Return { .. }
                | Step::Trap { .. }
                | Step::Tail { .. } => written = None,
                _ => {}
            }
        }
        written
    }
}

/// What one opcode means.
#[derive(Clone, Copy, Debug)]
pub struct Template {
    /// The steps in order. Block 0 is open at the start without a `Block` step.
    pub steps: &'static [Step],
    /// How many blocks there are, block 0 included.
    pub blocks: u16,
    /// The same for code whose accesses in `(within …)` may fault, if there are any: without the comparisons.
    pub guarded: Option<&'static Template>,
}

impl Template {
    /// [`guarded`](Self::guarded) of each of these.
    pub const fn all_guarded<const N: usize>(templates: &[&'static Template; N]) -> [&'static Template; N] {
        let (mut all, mut at) = (*templates, 0);
        while at < N {
            all[at] = templates[at].guarded();
            at += 1;
        }
        all
    }

    /// Of each of these whether it takes `(cu)`.
    pub const fn takers_of_unit<const N: usize>(templates: &[&Template; N]) -> [bool; N] {
        let (mut takers, mut at) = ([false; N], 0);
        while at < N {
            let (steps, mut step) = (templates[at].steps, 0);
            while step < steps.len() {
                takers[at] |= matches!(&steps[step], Step::Node { op, .. } if op.0 == Op::CU.0);
                step += 1;
            }
            at += 1;
        }
        takers
    }

    /// What code is made from in which accesses may fault.
    pub const fn guarded(&'static self) -> &'static Template {
        match self.guarded {
            Some(guarded) => guarded,
            None => self,
        }
    }
}
