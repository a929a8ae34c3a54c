//! Checks bytecode that comes from outside once, before anything trusts it.
//!
//! In: code, its lists of labels, and the number of VM registers. Out: a [`Shape`] (the number of slots in a frame, the height
//! of the operand stack before each bytecode), or the first fault, with the index of its bytecode. Afterwards, every register
//! and window lies in the frame, every label lies in the code, control never runs off the end, and the operand stack has one
//! height at each reachable bytecode, on every path to it. Unreachable code must obey the same rules, except for the stack.

use crate::ir::bits::BitSet;
use crate::ir::bytecode::{Bytecode, OpcodeInfo, OperandKind, run_of};
use crate::ir::sites::Sites;
use crate::ir::slow_paths::SlowPaths;
use crate::ir::template::{Resume, Step, Template};
use core::cell::Cell;
use core::{fmt, iter};

/// The result of verification.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Shape {
    /// The number of slots in a frame: the VM registers, then the operand stack at its greatest height.
    pub slots: u32,
    /// The operand stack's height before each bytecode. Empty if no opcode of the function uses the operand stack.
    pub depths: Vec<u32>,
    /// The bytecodes that another bytecode jumps to.
    pub targets: BitSet,
    /// The targets of backward jumps. Every path around a loop passes one of them.
    pub heads: BitSet,
    /// The loops, one for each head, by heads.
    pub loops: Vec<LoopSpan>,
}

/// Where a loop of bytecode is.
///
/// ```
/// # use azulejo_core::{ir::bytecode::Bytecode, verify::{LoopSpan, verify}};
/// /// The loops of this code, the outer ones before those in them.
/// fn loops<B: Bytecode>(code: &[B], registers: u32) -> Vec<LoopSpan> {
///     verify(code, &[], registers).map_or(Vec::new(), |shape| shape.loops)
/// }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct LoopSpan {
    /// The bytecode at which iterations begin.
    pub head: u32,
    /// The last bytecode that jumps back there.
    pub last: u32,
}

impl Shape {
    /// Whether the loop with this head has another one in it.
    ///
    /// ```
    /// # use azulejo_core::verify::{LoopSpan, Shape};
    /// let loops = [(2, 9), (4, 6), (12, 15)].map(|(head, last)| LoopSpan { head, last });
    /// let shape = Shape { loops: loops.to_vec(), ..Shape::default() };
    /// assert_eq!([2, 4, 12].map(|head| shape.has_inner_loop(head)), [true, false, false]);
    /// ```
    pub fn has_inner_loop(&self, head: u32) -> bool {
        let Ok(at) = self.loops.binary_search_by_key(&head, |span| span.head) else { return false };
        self.loops.get(at + 1).is_some_and(|next| next.head <= self.loops[at].last)
    }

    /// Whether the loop with this head is in another one.
    ///
    /// ```
    /// # use azulejo_core::verify::{LoopSpan, Shape};
    /// let loops = [(2, 9), (4, 6), (12, 15)].map(|(head, last)| LoopSpan { head, last });
    /// let shape = Shape { loops: loops.to_vec(), ..Shape::default() };
    /// assert_eq!([2, 4, 12].map(|head| shape.has_outer_loop(head)), [false, true, false]);
    /// ```
    pub fn has_outer_loop(&self, head: u32) -> bool {
        self.loops.iter().take_while(|span| span.head < head).any(|span| head <= span.last)
    }

    /// Makes baseline code read these VM registers from their slots, also if the bytecode before has just written them. They are in ascending order.
    ///
    /// ```
    /// # use azulejo_core::ir::bytecode as azulejo;
    /// use azulejo::Bytecode;
    /// use azulejo_core::verify::{VerifyError, verify};
    ///
    /// /// Where the values of a function are looked for in slots, if others may write its first register.
    /// fn seen<B: Bytecode>(code: &[B]) -> Result<Vec<usize>, VerifyError> {
    ///     let mut shape = verify(code, &[], 1)?;
    ///     shape.capture(code, &[0]);
    ///     Ok(shape.targets.iter().collect())
    /// }
    /// ```
    pub fn capture<B: Bytecode>(&mut self, code: &[B], registers: &[u32]) {
        for (at, op) in code.iter().enumerate().take(code.len().saturating_sub(1)) {
            let operands = iter::zip(B::OPCODES[op.opcode()].operands, op.operands());
            let is_written = operands.into_iter().any(|(info, raw)| match info.kind {
                OperandKind::Out | OperandKind::InOut => registers.binary_search(&(raw as u32)).is_ok(),
                _ => false,
            });
            if is_written {
                self.targets.insert(at + 1);
            }
        }
    }

    /// The height in `depths` of an unreachable bytecode.
    pub const UNREACHED: u32 = u32::MAX;
}

/// Verified bytecode, as the baseline compiler takes it.
#[derive(Debug)]
pub struct Function<'a, B> {
    /// The bytecode, where it runs: code that makes a bytecode another one writes there.
    pub code: &'a [B],
    /// The list that `Labels` operands point into.
    pub labels: &'a [u32],
    /// The number of VM registers; the operand stack follows them.
    pub registers: u32,
    /// The result of verification.
    pub shape: &'a Shape,
    /// The value of `(cu)`.
    pub unit: *const (),
    /// The first temporary, if the function has temporaries. All VM registers from there on are temporaries.
    pub temporaries: Option<u32>,
    /// Which slow paths have run: the entries that baseline code sets.
    pub slow_paths: &'a SlowPaths,
    /// Whether slow paths are left out that have not run. Code is left for the interpreter where it would come to one.
    pub leaves_out: bool,
    /// The sites of the bytecodes, if code may know the cases that they have when it is made.
    pub sites: Option<&'a Sites>,
    /// The budgets that loop heads count down, if they count: the first one at the heads of loops without loops in them, the second one
    /// at all others. Each iteration takes one away. Below zero, the code is left at the loop's head.
    pub budget: Option<*const [Cell<i32>; 2]>,
}

/// A fault in a function's bytecode, and its place.
///
/// ```
/// # use azulejo_core::verify::{Fault, VerifyError};
/// let error = VerifyError { at: 3, opcode: None, fault: Fault::FallsOff };
/// assert_eq!(error.to_string(), "bytecode 3: control goes on behind the last bytecode; a return, a jump or a trap ends a function");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VerifyError {
    /// The index of the bytecode; zero if the fault is about the whole function.
    pub at: u32,
    /// The bytecode's opcode, if it is known.
    pub opcode: Option<&'static OpcodeInfo>,
    /// The fault.
    pub fault: Fault,
}

impl VerifyError {
    /// A fault of the bytecode with this index.
    ///
    /// ```
    /// # use azulejo_core::{ir::bytecode::Bytecode, verify::{Fault, VerifyError}};
    /// /// What is said of code that may not have this bytecode in front.
    /// fn refused<B: Bytecode>(code: &[B]) -> VerifyError {
    ///     VerifyError::at(code, 0, Fault::FallsOff)
    /// }
    /// ```
    pub fn at<B: Bytecode>(code: &[B], at: usize, fault: Fault) -> VerifyError {
        let opcode = code.get(at).map(|op| &B::OPCODES[op.opcode()]);
        VerifyError { at: at as u32, opcode, fault }
    }

    /// A fault of a whole function.
    ///
    /// ```
    /// # use azulejo_core::verify::{Fault, VerifyError};
    /// let error = VerifyError::of_function(Fault::Empty);
    /// assert_eq!(error.to_string(), "a function needs at least one bytecode");
    /// ```
    pub fn of_function(fault: Fault) -> VerifyError {
        VerifyError { at: 0, opcode: None, fault }
    }

    /// What an operand is called.
    fn operand(&self, number: u8) -> impl fmt::Display {
        let name = self.opcode.and_then(|opcode| opcode.operands.get(number as usize)).map(|info| info.name);
        fmt::from_fn(move |f| match name.filter(|name| !name.starts_with(|c: char| c.is_ascii_digit())) {
            Some(name) => write!(f, "`{name}`"),
            None => write!(f, "operand {number}"),
        })
    }
}

/// A way in which a bytecode can be wrong.
///
/// ```
/// # use azulejo_core::verify::{Fault, VerifyError};
/// let fault = Fault::Register { operand: 0, register: 7, registers: 4 };
/// let text = VerifyError { at: 0, opcode: None, fault }.to_string();
/// assert_eq!(text, "bytecode 0: operand 0 is register 7, but the function has 4");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Fault {
    /// The function has no code.
    Empty,
    /// More bytecodes or registers than 32 bits can number.
    TooLong,
    /// An operand names a VM register that the frame does not have.
    Register {
        /// The operand's number.
        operand: u8,
        /// The register.
        register: u32,
        /// How many registers the frame has.
        registers: u32,
    },
    /// A run of registers reaches past the end of the frame.
    Window {
        /// The operand's number.
        operand: u8,
        /// The first register.
        first: u32,
        /// How many registers the run has.
        count: u32,
        /// How many registers the frame has.
        registers: u32,
    },
    /// A label names a position past the end of the code.
    Target {
        /// The operand's number.
        operand: u8,
        /// The position.
        target: u32,
    },
    /// A run of labels reaches past the end of the function's list, or is empty.
    Labels {
        /// The operand's number.
        operand: u8,
        /// The first label.
        first: u32,
        /// How many labels the run has.
        count: u32,
    },
    /// Control can run past the last bytecode.
    FallsOff,
    /// The opcode pops more than the operand stack has.
    Underflow {
        /// How many values it pops.
        pops: u32,
        /// How many values the stack has.
        depth: u32,
    },
    /// Two paths lead to this bytecode with operand stacks of different heights.
    Unbalanced {
        /// The height on the path that was found first.
        expected: u32,
        /// The height on the other path.
        found: u32,
    },
    /// The opcode takes `(cu)`, but the function was given no value for it.
    NoUnit,
    /// The surplus of arguments is to go to a VM register that the frame does not have.
    Surplus {
        /// The register.
        register: u32,
    },
    /// The function has captured a VM register that its frame does not have, or that is a temporary.
    Captured {
        /// The register.
        register: u32,
    },
    /// A temporary is read whose value may have been read before.
    ReadAgain {
        /// The operand's number.
        operand: u8,
        /// The register.
        register: u32,
    },
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.fault, self.opcode) {
            (Fault::Empty | Fault::TooLong | Fault::Surplus { .. } | Fault::Captured { .. }, _) => {}
            (_, Some(opcode)) => write!(f, "bytecode {}, {}: ", self.at, opcode.name)?,
            (_, None) => write!(f, "bytecode {}: ", self.at)?,
        }
        match self.fault {
            Fault::Empty => f.write_str("a function needs at least one bytecode"),
            Fault::TooLong => {
                f.write_str("the function has more bytecodes or registers than can be numbered")
            }
            Fault::Register { operand, register, registers } => {
                write!(
                    f,
                    "{} is register {register}, but the function has {registers}",
                    self.operand(operand)
                )
            }
            Fault::Window { operand, first, count, registers } => write!(
                f,
                "{} is the registers from {first}, {count} of them, but the function has {registers}",
                self.operand(operand)
            ),
            Fault::Target { operand, target } => {
                write!(f, "{} jumps to {target}, which is not in the code", self.operand(operand))
            }
            Fault::Labels { operand, first, count: 0 } => {
                write!(
                    f,
                    "{} is an empty run of labels at {first}; the last label is the default",
                    self.operand(operand)
                )
            }
            Fault::Labels { operand, first, count } => write!(
                f,
                "{} is the labels from {first}, {count} of them, which the function does not have",
                self.operand(operand)
            ),
            Fault::FallsOff => f.write_str(
                "control goes on behind the last bytecode; a return, a jump or a trap ends a function",
            ),
            Fault::Underflow { pops, depth } => {
                write!(f, "{pops} values are popped, but the operand stack has {depth}")
            }
            Fault::Unbalanced { expected, found } => {
                write!(f, "the operand stack has {found} values by one way and {expected} by another")
            }
            Fault::NoUnit => {
                write!(f, "the opcode takes `(cu)`, and nobody said by `Code::with_unit` what that is")
            }
            Fault::Surplus { register } => {
                write!(
                    f,
                    "the surplus of arguments goes to register {register}, which the function does not have"
                )
            }
            Fault::Captured { register } => {
                write!(f, "register {register} is captured, but is a temporary or not one of the function's")
            }
            Fault::ReadAgain { operand, register } => write!(
                f,
                "{} is register {register}, a temporary whose value may have been read before",
                self.operand(operand)
            ),
        }
    }
}

impl core::error::Error for VerifyError {}

/// Checks a function with `registers` VM registers.
///
/// ```
/// # use azulejo_core::{ir::bytecode::Bytecode, verify::verify};
/// /// Whether an engine would take this, which somebody sent.
/// fn is_right<B: Bytecode>(code: &[B], registers: u32) -> bool {
///     verify(code, &[], registers).is_ok()
/// }
/// ```
pub fn verify<B: Bytecode>(code: &[B], labels: &[u32], registers: u32) -> Result<Shape, VerifyError> {
    if code.is_empty() {
        return Err(VerifyError::of_function(Fault::Empty));
    }
    if code.len() >= (u32::MAX / 2) as usize || registers >= u32::MAX / 2 {
        return Err(VerifyError::of_function(Fault::TooLong));
    }
    let verifier = Verifier { code, labels, registers };
    let mut uses_stack = false;
    let mut targets =
        Targets { all: BitSet::new(code.len()), heads: BitSet::new(code.len()), loops: Vec::new() };
    for at in 0..code.len() {
        if !verifier.has_registers(at) {
            uses_stack |= verifier.check_operands(at, &mut targets)?;
        }
    }
    let last = code.len() - 1;
    if falls_through(verifier.template(last)) {
        return Err(VerifyError::at(code, last, Fault::FallsOff));
    }
    let (slots, depths) = if uses_stack { verifier.balance()? } else { (registers, Vec::new()) };
    let loops = targets.loops();
    let Targets { all: targets, heads, .. } = targets;
    Ok(Shape { slots, depths, targets, heads, loops })
}

/// The jump targets of a function.
struct Targets {
    all: BitSet,
    heads: BitSet,
    /// One for each jump back.
    loops: Vec<LoopSpan>,
}

impl Targets {
    fn add(&mut self, from: usize, to: usize) {
        self.all.insert(to);
        if to <= from {
            self.heads.insert(to);
            self.loops.push(LoopSpan { head: to as u32, last: from as u32 });
        }
    }

    /// The loops, one for each head.
    fn loops(&mut self) -> Vec<LoopSpan> {
        let mut loops = core::mem::take(&mut self.loops);
        // Of those with one head the longest comes first, and stays.
        loops.sort_unstable_by_key(|span| (span.head, core::cmp::Reverse(span.last)));
        loops.dedup_by_key(|span| span.head);
        loops
    }
}

/// Whether control can continue at the bytecode after an opcode.
pub(crate) fn falls_through(template: &Template) -> bool {
    let mut open = true;
    for step in template.steps {
        match *step {
            // The interpreter resumes at the same bytecode and, if it does not jump, continues at the next one.
            Step::Next | Step::Exit { to: Resume::Here | Resume::Next } => return true,
            Step::Block { .. } => open = true,
            Step::Goto { .. }
            | Step::Switch { .. }
            | Step::Exit { .. }
            | Step::Jump { .. }
            | Step::Branch { .. }
            | Step::Return { .. }
            | Step::Tail { .. }
            | Step::Trap { .. } => open = false,
            _ => {}
        }
    }
    open
}

/// The operands that an opcode may jump to.
fn jumps(template: &Template) -> impl Iterator<Item = u8> {
    template.steps.iter().flat_map(|step| {
        let (one, many): (_, &[u8]) = match step {
            Step::Goto { operand } | Step::Exit { to: Resume::Label(operand) } => (Some(*operand), &[]),
            Step::Switch { operands, .. } => (None, operands),
            _ => (None, &[]),
        };
        one.into_iter().chain(many.iter().copied())
    })
}

/// The bytecodes that a bytecode of verified code may jump to.
pub(crate) fn targets<'a, B: Bytecode>(
    op: &B,
    labels: &'a [u32],
) -> impl Iterator<Item = usize> + use<'a, B> {
    let (opcode, raws) = (op.opcode(), op.operands());
    jumps(B::templates()[opcode]).flat_map(move |operand| {
        let raw = raws[operand as usize];
        let (one, many) = match B::OPCODES[opcode].operands[operand as usize].kind {
            OperandKind::Labels => (None, &labels[run_of(raw)]),
            _ => (Some(raw as usize), &[][..]),
        };
        one.into_iter().chain(many.iter().map(|&to| to as usize))
    })
}

/// Reads the value at an offset, in bytes, from the start of a bytecode.
///
/// # Safety
///
/// An operand of type `T` must be at the offset.
unsafe fn field<B: Bytecode, T: Copy>(op: &B, offset: u16) -> T {
    // SAFETY: the caller promises that an operand of this type is at the offset.
    unsafe { core::ptr::from_ref(op).byte_add(offset as usize).cast::<T>().read_unaligned() }
}

struct Verifier<'a, B> {
    code: &'a [B],
    labels: &'a [u32],
    registers: u32,
}

impl<B: Bytecode> Verifier<'_, B> {
    fn template(&self, at: usize) -> &'static Template {
        B::templates()[self.code[at].opcode()]
    }

    /// Whether all operands of a bytecode are valid registers or need no check. `Bytecode::REGISTERS` tells for most opcodes
    /// where to look.
    #[inline(always)]
    fn has_registers(&self, at: usize) -> bool {
        let op = &self.code[at];
        let Some(registers) = B::REGISTERS[op.opcode()] else { return false };
        // SAFETY: the operands at these offsets are numbers of registers.
        let [a, b, c, d]: [u32; 4] = registers.offsets().map(|offset| unsafe { field(op, offset) });
        a.max(b).max(c.max(d)) < self.registers
    }

    /// Checks the operands of a bytecode and records its jump targets. Returns whether it uses the operand stack.
    fn check_operands(&self, at: usize, targets: &mut Targets) -> Result<bool, VerifyError> {
        let registers = self.registers;
        let fail = |fault| Err(VerifyError::at(self.code, at, fault));
        let op = &self.code[at];
        let opcode = op.opcode();
        let mut uses_stack = false;
        for (operand, (info, &offset)) in
            (0u8..).zip(iter::zip(B::OPCODES[opcode].operands, B::OFFSETS[opcode]))
        {
            // Each operand is read in place: most of them are 32-bit words.
            match info.kind {
                OperandKind::In | OperandKind::Out | OperandKind::InOut => {
                    // SAFETY: the operand is the number of a register.
                    let register: u32 = unsafe { field(op, offset) };
                    if register >= registers {
                        return fail(Fault::Register { operand, register, registers });
                    }
                }
                OperandKind::Regs | OperandKind::RegsMut => {
                    // SAFETY: the operand is the first register of a run and its length.
                    let [first, count]: [u32; 2] = unsafe { field(op, offset) };
                    if first.checked_add(count).is_none_or(|end| end > registers) {
                        return fail(Fault::Window { operand, first, count, registers });
                    }
                }
                OperandKind::Label => {
                    // SAFETY: the operand is the index of a bytecode.
                    let target: u32 = unsafe { field(op, offset) };
                    if target as usize >= self.code.len() {
                        return fail(Fault::Target { operand, target });
                    }
                    targets.add(at, target as usize);
                }
                OperandKind::Labels => {
                    // SAFETY: the operand is the first label of a run and its length.
                    let [first, count]: [u32; 2] = unsafe { field(op, offset) };
                    let run = first as usize..first as usize + count as usize;
                    match self.labels.get(run) {
                        Some(run) if !run.is_empty() => {
                            for &target in run {
                                if target as usize >= self.code.len() {
                                    return fail(Fault::Target { operand, target });
                                }
                                targets.add(at, target as usize);
                            }
                        }
                        _ => return fail(Fault::Labels { operand, first, count }),
                    }
                }
                OperandKind::Imm | OperandKind::Site => {}
                OperandKind::Pop | OperandKind::Push => uses_stack = true,
            }
        }
        Ok(uses_stack)
    }

    /// How many values a bytecode pops and pushes.
    fn stack_effect(&self, at: usize) -> (u32, u32) {
        let operands = B::OPCODES[self.code[at].opcode()].operands;
        let count = |kind| operands.iter().filter(|info| info.kind == kind).count() as u32;
        (count(OperandKind::Pop), count(OperandKind::Push))
    }

    /// Follows every path through the code and determines the height of the operand stack before each bytecode.
    fn balance(&self) -> Result<(u32, Vec<u32>), VerifyError> {
        let mut depths = vec![Shape::UNREACHED; self.code.len()];
        let mut highest = 0;
        let mut open = vec![0usize];
        depths[0] = 0;
        while let Some(at) = open.pop() {
            let depth = depths[at];
            let (pops, pushes) = self.stack_effect(at);
            if pops > depth {
                return Err(VerifyError::at(self.code, at, Fault::Underflow { pops, depth }));
            }
            let after = depth - pops + pushes;
            highest = highest.max(after);
            let mut reach = |to: usize| {
                let expected = core::mem::replace(&mut depths[to], after);
                if expected == Shape::UNREACHED {
                    open.push(to);
                } else if expected != after {
                    let fault = Fault::Unbalanced { expected, found: after };
                    return Err(VerifyError::at(self.code, to, fault));
                }
                Ok(())
            };
            let template = self.template(at);
            if falls_through(template) {
                reach(at + 1)?;
            }
            targets(&self.code[at], self.labels).try_for_each(reach)?;
        }
        let Some(slots) = self.registers.checked_add(highest) else {
            return Err(VerifyError::of_function(Fault::TooLong));
        };
        Ok((slots, depths))
    }
}
