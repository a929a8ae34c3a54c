//! Templates as static data, which `template!` makes for the graph builder.
//!
//! A template is a list of steps in execution order. Steps that yield a value define value 0, 1, 2 … in order; later steps
//! refer to values by number. Conditionals are already blocks: `Block` starts one, and a step that leaves the block ends every
//! block but the last. After the last step, control falls through to the next bytecode unless that step leaves the template.

use super::graph::{CallMemory, Effect};
use super::kinds::{self, ValueKind};
use super::list::{OperandList, Refs, TypeList};
use super::regions;
use crate::vocab::{Op, Sig, Type};

/// A value of a template, by number.
pub type Ref = u16;
/// A block of a template, by number; the template starts in block 0.
pub type BlockRef = u16;

/// A constant of a step.
#[derive(Clone, Copy, Debug)]
pub enum StepImm {
    /// A number that is known when the user's crate is compiled.
    Known(i64),
    /// The address of a static, by its number among the template's [addresses](Template::addresses).
    Address(u16),
    /// The value of an `Imm` operand of the bytecode, sign- or zero-extended by its own type.
    Operand(u8),
}

/// A calling convention.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Convention {
    /// The meaning of `extern "C"` on this system.
    C,
    /// System V on x86-64.
    SysV64,
    /// Windows on x86-64.
    Win64,
    /// The convention between functions of bytecode. They pass the context, and each argument as the 64 bits that its slot
    /// would hold. The result is returned as 64 bits too.
    Bytecode,
}

/// The types of arguments and result, and the calling convention.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Signature {
    /// The calling convention.
    pub convention: Convention,
    /// The arguments' types. Narrow integers are passed extended by their own sign, which the template takes care of.
    pub args: &'static [Type],
    /// The result's type; `Void` for none.
    pub ret: Type,
}

/// The address of a function or a static, in static data.
#[derive(Clone, Copy, Debug)]
pub struct Address(pub *const ());

// SAFETY: the address is only used as a number.
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

/// What a template calls, and with what.
#[derive(Clone, Copy, Debug)]
pub struct NativeCall {
    /// The callee.
    pub callee: Callee,
    /// The arguments.
    pub args: &'static [Ref],
    /// The convention and types.
    pub signature: Signature,
    /// What it changes.
    pub memory: CallMemory,
}

/// The expected value of a condition.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Likelihood {
    /// The condition is nearly always true: the other branch is cold.
    Likely,
    /// The condition is nearly always false.
    Unlikely,
    /// The condition is that of a site's first case. Where the cases are read when code runs, the first is taken to be the usual one.
    FirstCase,
    /// Nothing is known.
    #[default]
    Even,
}

impl Likelihood {
    /// What is expected of the opposite condition.
    pub fn of_opposite(self) -> Likelihood {
        match self {
            Likelihood::Likely => Likelihood::Unlikely,
            Likelihood::Unlikely => Likelihood::Likely,
            Likelihood::FirstCase | Likelihood::Even => Likelihood::Even,
        }
    }
}

/// One step of a template.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// An operator on values. Yields a value if the operator has a result.
    Node {
        /// The operator.
        op: Op,
        /// Its types.
        sig: Sig,
        /// Its operands.
        inputs: Refs,
        /// Its constant, if it has one (`StepImm::Known(0)` otherwise).
        imm: StepImm,
    },
    /// Reads the low bits of the slot of a VM register operand. Yields a value.
    Read {
        /// The operand's number.
        operand: u8,
        /// The type to read it as.
        ty: Type,
    },
    /// The value of an `Imm` operand as a constant. Yields a value.
    Constant {
        /// The operand's number.
        operand: u8,
        /// The type of the constant.
        ty: Type,
    },
    /// The address of the first slot of a register window, whose registers are stored in their slots. Yields a value.
    Window {
        /// The operand's number.
        operand: u8,
    },
    /// The number of registers in a window, as an `I64`. Yields a value.
    WindowLength {
        /// The operand's number.
        operand: u8,
    },
    /// A call. Yields a value if the callee has a result.
    Call {
        /// What is called, and with what, by its number among the template's [calls](Template::calls).
        call: u16,
        /// The result's type; `Void` for none.
        ret: Type,
        /// Whether the callee may fail: it returns an [`Attempt`](crate::native::Attempt). If it fails, so does the function,
        /// unless it catches that.
        throws: bool,
        /// Whether the function goes on if the callee fails. The trap's code, or zero, is another value then, an `I32`.
        catches: bool,
        /// The effects.
        effect: Effect,
    },
    /// A value in the memory of a `Site` operand: the number of its cases, or a field of a case. In code of the optimizer it is the
    /// constant that is there when the code is made, if the code is left where the site gets another case.
    SiteValue {
        /// The operand's number.
        operand: u8,
        /// The distance from the start of the site's memory, in bytes.
        offset: u32,
        /// The value's type.
        ty: Type,
        /// Whether the site gets cases on the slow path only.
        learns_slowly: bool,
    },
    /// A field of the case that code knows of a site. Stands only in the variants of templates that are [for such
    /// code](Template::known). Yields a value.
    KnownCase {
        /// The operand's number.
        operand: u8,
        /// The distance of the field from the start of the site's memory, in bytes, if the case is the first.
        offset: u32,
        /// The value's type.
        ty: Type,
    },
    /// The case that code knows is not the one at hand. From here, and from the start of the slow path, the code may go on in code of the
    /// same bytecode that knows no case, from the start, as long as it has not written anything. Code that knows that there is no other case
    /// goes on at a block.
    General {
        /// What follows where no case fits.
        none: BlockRef,
    },
    /// Shows the frame: the call that follows may see it, and write VM registers. Where no template passes [`Frames`](Self::Frames) to a
    /// function, nobody looks.
    Show {
        /// Which of the template's calls that observe it is. Opcodes that [become others](Self::Quicken) share no number with any opcode.
        call: u32,
    },
    /// The address by which a function finds the frames that are shown. Yields a value.
    Frames,
    /// A call of a function of bytecode. Yields a value if the callee has a result.
    Invoke {
        /// The function's number.
        function: Ref,
        /// The arguments.
        args: Arguments,
        /// The type that the result is read as; `Void` if it is not read.
        ret: Type,
        /// Whether the function goes on if the callee fails. The trap's code, or zero, is another value then, an `I32`.
        catches: bool,
        /// The effects.
        effect: Effect,
    },
    /// A function of bytecode that was called has failed. Yields the code of the trap, or [`Trap::Ended`](crate::vocab::Trap)'s if
    /// the program is to end.
    Caught {
        /// The function's number.
        function: Ref,
        /// The trap's code.
        code: Ref,
    },
    /// Makes the bytecode one with another opcode, and the same operands. Whoever starts it from now on runs that. Its slow path is one
    /// that has not run.
    Quicken {
        /// The opcode's number.
        opcode: usize,
    },
    /// Writes a value to a VM register, zero-extended to the slot.
    Write {
        /// The operand's number.
        operand: u8,
        /// The value.
        value: Ref,
    },
    /// Starts a block. Yields a value for each parameter.
    Block {
        /// Its number.
        block: BlockRef,
        /// The types of its parameters.
        params: TypeList,
        /// Whether the block must not be in the hot path.
        cold: bool,
    },
    /// Jumps to a block.
    Jump {
        /// The block.
        block: BlockRef,
        /// The values of its parameters.
        args: Refs,
    },
    /// Branches to one of two blocks, which have no parameters.
    Branch {
        /// The condition.
        flag: Ref,
        /// The block if the condition holds.
        then: BlockRef,
        /// The block if it does not.
        otherwise: BlockRef,
        /// The expected value of the condition.
        likelihood: Likelihood,
    },
    /// Jumps to the bytecode that a `Label` operand names.
    Goto {
        /// The operand's number.
        operand: u8,
    },
    /// Jumps to the bytecode at this position in a list of labels; the last label is the default.
    Switch {
        /// The position, an unsigned `I64`.
        value: Ref,
        /// The label operands, or one `Labels` operand.
        operands: OperandList,
    },
    /// Continues at the next bytecode.
    Next,
    /// Leaves the function with a result, if it has one.
    Return {
        /// The result.
        value: Option<Ref>,
    },
    /// Leaves the function. Another function of bytecode takes its place and returns the result.
    Tail {
        /// The function's number.
        function: Ref,
        /// The arguments.
        args: Arguments,
    },
    /// Starts the slow path of the bytecode, in a block of its own. It is noted where it runs. Code that leaves it out leaves
    /// the function here, and the interpreter runs the bytecode from its start.
    Slow,
    /// Goes on with what no case of a site tells of. Code that takes the cases for all that there is leaves the function here, and the
    /// interpreter runs the bytecode from its start.
    Outside {
        /// The site's operand.
        operand: u8,
    },
    /// Leaves compiled code; the interpreter resumes.
    Exit {
        /// Where the interpreter resumes.
        to: Resume,
    },
    /// Leaves the function with an error.
    Trap {
        /// The trap's [code](crate::vocab::Trap::code).
        code: u32,
    },
}

/// The arguments of a call of a function of bytecode.
#[derive(Clone, Copy, Debug)]
pub enum Arguments {
    /// These values.
    Values(Refs),
    /// The registers of the run that this operand names.
    Run(u8),
    /// Words in memory: the address of the first, and how many there are.
    Spread([Ref; 2]),
}

/// The bytecode at which the interpreter resumes after an exit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Resume {
    /// This bytecode, from its start (a failed guard).
    Here,
    /// The next bytecode.
    Next,
    /// The bytecode that this `Label` operand names.
    Label(u8),
}

impl Step {
    /// How many of the template's values the step defines.
    pub(crate) fn n_values(&self) -> usize {
        let is_value = |ty: Type| (ty != Type::Void) as usize;
        match *self {
            Step::Node { sig, .. } => is_value(sig.ty),
            Step::Call { ret, catches, .. } => is_value(ret) + catches as usize,
            Step::Invoke { ret, catches, .. } => is_value(ret) + catches as usize,
            Step::Block { params, .. } => params.len(),
            Step::Read { .. }
            | Step::Constant { .. }
            | Step::Window { .. }
            | Step::WindowLength { .. }
            | Step::SiteValue { .. }
            | Step::KnownCase { .. }
            | Step::Frames
            | Step::Caught { .. } => 1,
            _ => 0,
        }
    }
}

impl Template {
    /// Whether other code may see the VM registers in their slots while the template runs.
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
    /// Whether the template takes the frame's address, by which any slot may be read.
    pub const fn takes_address_of_frame(&self) -> bool {
        self.does(Deed::TakesAddressOfFrame)
    }

    /// The operands whose sites are read, and get cases on the slow path only. One bit stands for each operand.
    pub fn learns_slowly(&self) -> u16 {
        self.steps.iter().fold(0, |operands, step| match *step {
            Step::SiteValue { operand, learns_slowly: true, .. } => operands | 1 << operand,
            _ => operands,
        })
    }

    /// Whether one of these templates passes the frames that are shown to a function. Then all calls that observe show theirs.
    pub fn any_takes_frames(templates: &[&Template]) -> bool {
        templates.iter().flat_map(|template| template.steps).any(|step| matches!(step, Step::Frames))
    }

    /// Visits the steps, each with the operands that were written on every path to it, as one bit for each operand; `None` for
    /// a step that is unreachable. Returns those written on every path that falls through after the last step.
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

/// What a template may do in some step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Deed {
    /// It takes `(cu)`.
    TakesUnit,
    /// It takes the frame's address.
    TakesAddressOfFrame,
    /// It has a slow path.
    HasSlowPath,
    /// It makes its bytecode another one.
    Quickens,
}

/// The meaning of one opcode.
#[derive(Clone, Copy, Debug)]
pub struct Template {
    /// The steps in order. Block 0 is open at the start, without a `Block` step.
    pub steps: &'static [Step],
    /// The number of blocks, including block 0.
    pub blocks: u16,
    /// The calls of Rust functions. What has addresses is apart from the steps: it changes where a process starts.
    pub calls: &'static [NativeCall],
    /// The addresses of statics.
    pub addresses: &'static [Address],
    /// The variant for code whose accesses in `(within …)` may fault: it lacks the comparisons. `None` if there are no such
    /// accesses.
    pub guarded: Option<&'static Template>,
    /// The variant that looks at the cases of a site in a loop, but for the first: code of it is shorter. `None` if no site has room for
    /// many.
    pub compact: Option<&'static Template>,
    /// The variant for code that knows a case of the opcode's first site: it looks whether that is the one at hand before it looks at those
    /// in memory. `None` if the template looks at no case of it.
    pub known: Option<&'static Template>,
    /// The kinds of values that `is`, `unbox` and `box` in this template are about, by number. Empty if it has none of these.
    pub kinds: &'static [ValueKind],
    /// The names of the regions that `template!` declares; the first one has number 1.
    pub regions: &'static [&'static str],
}

impl Template {
    /// A template without calls, variants, kinds and regions.
    pub const fn plain(steps: &'static [Step], blocks: u16) -> Template {
        Template {
            steps,
            blocks,
            calls: &[],
            addresses: &[],
            guarded: None,
            compact: None,
            known: None,
            kinds: &[],
            regions: &[],
        }
    }

    /// The variant for code in which cases of sites are not constants.
    pub fn compact(&'static self) -> &'static Template {
        self.compact.unwrap_or(self)
    }

    /// The [`guarded`](Self::guarded) variant of each template.
    pub const fn all_guarded<const N: usize>(templates: &[&'static Template; N]) -> [&'static Template; N] {
        let (mut all, mut at) = (*templates, 0);
        while at < N {
            all[at] = templates[at].guarded();
            at += 1;
        }
        all
    }

    /// Whether some step of the template does this.
    pub const fn does(&self, what: Deed) -> bool {
        let mut at = 0;
        while at < self.steps.len() {
            let does = match (what, &self.steps[at]) {
                (Deed::TakesUnit, Step::Node { op, .. }) => op.0 == Op::CU.0,
                (Deed::TakesAddressOfFrame, Step::Node { op, .. }) => op.0 == Op::LOCAL.0,
                (Deed::HasSlowPath, step) => matches!(step, Step::Slow),
                (Deed::Quickens, step) => matches!(step, Step::Quicken { .. }),
                _ => false,
            };
            if does {
                return true;
            }
            at += 1;
        }
        false
    }

    /// For each template, whether it does this, or one that its bytecodes may become.
    pub const fn all_that_do<const N: usize>(templates: &[&Template; N], what: Deed) -> [bool; N] {
        let (mut all, mut at) = ([false; N], 0);
        while at < N {
            all[at] = templates[at].does(what);
            at += 1;
        }
        Template::or_become(templates, all)
    }

    /// Panics unless all templates have the same kinds of values and the same regions.
    pub const fn assert_same_declarations<const N: usize>(templates: &[&Template; N]) {
        Template::assert_same_kinds(templates);
        Template::assert_same_regions(templates);
    }

    /// Panics unless all templates that use kinds of values use the same ones.
    pub const fn assert_same_kinds<const N: usize>(templates: &[&Template; N]) {
        let (mut set, mut at): (&[ValueKind], _) = (&[], 0);
        while at < N {
            let kinds = templates[at].kinds;
            assert!(
                set.is_empty() || kinds.is_empty() || kinds::are_alike(set, kinds),
                "the templates of one enum use different sets of kinds; share one with `template_macros!`"
            );
            if set.is_empty() {
                set = kinds;
            }
            at += 1;
        }
    }

    /// Panics unless all templates call the region of a number by the same name.
    pub const fn assert_same_regions<const N: usize>(templates: &[&Template; N]) {
        let (mut longest, mut at): (&[&str], _) = (&[], 0);
        while at < N {
            let regions = templates[at].regions;
            assert!(
                regions::are_alike(longest, regions),
                "the templates of one enum declare different regions; share them with `template_macros!`"
            );
            if regions.len() > longest.len() {
                longest = regions;
            }
            at += 1;
        }
    }

    /// The template for code in which accesses may fault.
    pub const fn guarded(&'static self) -> &'static Template {
        match self.guarded {
            Some(guarded) => guarded,
            None => self,
        }
    }
}
