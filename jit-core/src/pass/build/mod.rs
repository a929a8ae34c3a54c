//! Build the graph: link each bytecode's template and turn VM registers into values.
//!
//! In: verified bytecode and the templates of its opcodes. Out: a [`Graph`] in which every block but the entry starts at a
//! bytecode that is a jump target, or is a block of a template. Needs: the properties that `verify` checks. Cost: linear in
//! steps, plus the block parameters.
//!
//! Templates are linked in one place: [`link`] walks the steps of a template, and asks an implementation of
//! [`link::Operands`] for the meaning of its operands and of control leaving the template. There are three implementations:
//!
//! - [`values`], for whole functions: the bytecode is known, and VM registers become values. [`function`] links the templates
//!   of successive bytecodes.
//! - [`holes`], for the stencil of one opcode: VM registers are slots, and each operand is a hole.
//! - [`interpreted`](mod@interpreted), for the code that interprets one opcode: VM registers are slots, and each operand is read from
//!   the bytecode.
//!
//! In a whole function, [`inline`](mod@inline) first decides which callees become part of it. [`liveness`] finds the registers that each block needs, and [`registers`] carries their values
//! along every edge. Where different values meet, a block gets a parameter; a loop's head gets one for each register that
//! the loop writes. A parameter with only one value is replaced by that value; all references to it are rewritten at the
//! end.
//!
//! [`start`](mod@start) asks less of bytecode: which registers a function reads before it writes them. It makes no graph. What it shares with
//! liveness is in [`effects`].
//!
//! Each register has a *home* type: the type of all its uses, if they agree, else a 64-bit integer that narrow reads
//! truncate and narrow writes zero-extend. So a slot has the same bits whichever tier wrote it. The entry block loads each
//! register that is read before it is written. Where the slot of a register may be read, it has the register's value: a call that observes
//! the frame stores those that are alive behind it, and an exit those that may be read where the interpreter resumes, unless it is
//! known that their slots have the values ([`slots`]).

mod call_entry;
mod calls;
mod candidate;
mod cases;
mod cursor;
mod dead_loops;
mod decode;
mod effects;
mod function;
mod guard;
mod hole_constants;
mod holes;
mod inline;
mod inlined;
mod interpreted;
mod invoke;
mod jumps;
mod known_kinds;
mod known_steps;
mod leave;
mod link;
mod liveness;
mod loops;
mod onward;
mod reached;
mod registers;
mod roots;
mod show;
mod slots;
mod start;
mod stencil;
mod values;

pub use call_entry::CallEntry;
pub use calls::TemplateCalls;
pub use candidate::{KnownCallee, callees, refusal};
pub use cases::{CaseField, FirstCase, KnownCase, KnownCases, MARKS, Sort};
pub(crate) use effects::DecodedEffects;
pub use holes::{GENERAL, NEXT};
pub use interpreted::{InterpretRequest, interpreted};
pub use invoke::{CellTable, Linkage, MAX_ARGUMENTS, PendingPlace};
pub use onward::assert_may_become;
pub use roots::{Roots, TemplateUses, roots};
pub use start::{NeededAtStart, StartScratch, needed_at_start};
pub use stencil::{CachedValue, Constants, StencilFacts, StencilRequest, first_reads, stencil};

use super::chaos::Chaos;
use crate::ir::bytecode::{Bytecode, MAX_OPERANDS, OpcodeInfo, Raw};
use crate::ir::graph::Graph;
use crate::ir::index::{Block, Node};
use crate::ir::sites::{COUNT_OFFSET, SiteSnapshot};
use crate::ir::slow_paths::SlowPaths;
use crate::ir::template::Template;
use crate::vocab::{Sig, Type, Vocabulary};
use cursor::Cursor;
use dead_loops::DeadLoops;
use decode::Decoded;
use guard::LoopGuards;
use jumps::JumpScratch;
use known_kinds::KnownKinds;
use link::{LinkScratch, Linker};
use liveness::Liveness;
use reached::ReachedScratch;
use registers::RegisterValues;
use values::ValueOperands;

/// Bytecode behind a trait object, so that the pass is compiled once and not for each opcode enum.
pub trait Instructions {
    /// How many bytecodes there are.
    fn len(&self) -> usize;
    /// Whether there are no bytecodes.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The opcode's number and the operands of the bytecode at `at`.
    fn get(&self, at: usize) -> (usize, [Raw; MAX_OPERANDS]);
    /// The address of the bytecode at `at`, where code that makes it another one writes.
    fn address_of(&self, at: usize) -> u64;
}

impl<B: Bytecode> Instructions for Vec<B> {
    fn len(&self) -> usize {
        Vec::len(self)
    }

    fn get(&self, at: usize) -> (usize, [Raw; MAX_OPERANDS]) {
        (self[at].opcode(), self[at].operands())
    }

    fn address_of(&self, at: usize) -> u64 {
        (&raw const self[at]).addr() as u64
    }
}

/// A function, and everything that its graph is built from.
#[derive(Clone, Copy)]
pub struct FunctionSource<'a> {
    /// The operators that templates may use.
    pub vocab: Vocabulary,
    /// Every opcode, by number.
    pub opcodes: &'a [OpcodeInfo],
    /// Every template, by opcode.
    pub templates: &'a [&'static Template],
    /// The bytecode.
    pub code: &'a dyn Instructions,
    /// The targets of `Labels` operands.
    pub labels: &'a [u32],
    /// The number of VM registers; operand stack slots follow them.
    pub locals: u32,
    /// The number of registers and operand stack slots together.
    pub slots: u32,
    /// The operand stack's height before each bytecode, `Shape::UNREACHED` for an unreachable one; empty if no opcode uses
    /// the stack.
    pub depths: &'a [u32],
    /// The bytecode at which the function is entered: the first or, to continue an activation of another tier, any
    /// reachable one. Registers are in their slots there. If control reaches an earlier bytecode, the function is left: see
    /// [`Left::MovedOn`](crate::ir::status::Left::MovedOn).
    pub entry: u32,
    /// The maximum number of arguments of calls, if known: all other registers are zero when the function is called.
    pub arguments: Option<u32>,
    /// The bits of the arguments that a call does not pass, of those that it may have.
    pub missing: u64,
    /// Whether calls may have more arguments than that, which are dropped.
    pub drops_surplus: bool,
    /// The VM registers whose slots' addresses others may have as long as the function runs, in ascending order. They are never values.
    pub captured: &'a [u32],
    /// The data for templates that call functions of bytecode.
    pub functions: Linkage<'a>,
    /// Which slow paths have run. All others are left out of the code, which is left there: see
    /// [`Left::Missed`](crate::ir::status::Left::Missed). `None` if none is left out.
    pub slow_paths: Option<&'a SlowPaths>,
    /// The sites of its bytecodes when the compilation was asked for. `None` if code is to read them when it runs.
    pub sites: Option<&'a SiteSnapshot>,
    /// Set if other functions of bytecode call this one by their own convention, and not with a frame. It must start at its
    /// first bytecode, and no template in it may take the frame's address (see [`Template::takes_address_of_frame`]): slots of registers that
    /// nobody reads have no value.
    pub call_entry: Option<CallEntry>,
    /// Other functions, which may be inlined where this one or they call them.
    pub callees: &'a [KnownCallee<'a>],
}

impl FunctionSource<'_> {
    /// How many cases the site has of which this is the address, as far as that is known.
    pub(super) fn n_cases(&self, site: Raw) -> Option<u64> {
        // SAFETY: the site begins so far before the number of its cases.
        unsafe { self.sites?.read(site + COUNT_OFFSET as u64, Type::I32.bytes()) }
    }

    /// The maximum number of arguments of calls.
    pub fn most_arguments(&self) -> u32 {
        self.arguments.map_or(self.locals, |most| most.min(self.locals))
    }
}

/// Memory kept between functions.
#[derive(Debug, Default)]
pub struct BuildScratch {
    function: FunctionScratch,
    link: LinkScratch,
    reached: ReachedScratch,
    jumps: JumpScratch,
    /// Adds exits at random.
    pub(super) chaos: Chaos,
}

/// What is known of the memory that templates make.
#[derive(Debug, Default)]
pub(super) struct MadeMemory {
    /// The places of which the memory is needed. The code is built for that of all others not to be made.
    pub(super) needed: Vec<u32>,
    /// Those for which it was built so.
    pub(super) without: Vec<u32>,
}

/// The function being linked.
#[derive(Debug, Default)]
struct FunctionScratch {
    code: Decoded,
    registers: RegisterValues,
    liveness: Liveness,
    /// The block of each bytecode that starts one.
    leaders: Vec<Block>,
    /// The last bytecode that jumps to each leader.
    last_jump: Vec<u32>,
    dead_loops: DeadLoops,
    guards: LoopGuards,
    known_kinds: KnownKinds,
    made: MadeMemory,
    /// The sites of the current template whose cases the code knows, though its slow path may add others.
    known_sites: Vec<u64>,
    /// The registers that the function may write; their slots may be out of date.
    flushes: Vec<u32>,
    /// The registers that are alive behind the calls of the current template that observe.
    shown: Vec<u32>,
    /// The registers that are stored where control enters a loop.
    stored_for_loop: Vec<u32>,
    /// While control leaves the function: the operands of the node that ends it.
    saved: Vec<Node>,
}

impl BuildScratch {
    /// Frees the memory.
    pub(super) fn release(&mut self) {
        let (chaos, made) = (core::mem::take(&mut self.chaos), core::mem::take(self.made()));
        *self = BuildScratch { chaos, ..BuildScratch::default() };
        *self.made() = made;
    }
}

impl BuildScratch {
    /// What is known of the memory that the function makes which is built.
    pub(super) fn made(&mut self) -> &mut MadeMemory {
        &mut self.function.made
    }
}

/// Builds the graph of a function.
pub fn build(scratch: &mut BuildScratch, source: &FunctionSource<'_>, graph: &mut Graph) {
    let BuildScratch { function, link, reached, jumps, chaos } = scratch;
    for params_for_all in [false, true] {
        graph.clear(source.vocab);
        graph.has_captured = !source.captured.is_empty();
        function.registers.set_params_for_all(params_for_all);
        function.made.without.clear();
        function.code.plan.make(source);
        graph.states.inlining.clone_from(&function.code.plan.inlining);
        function::scan(function, source, graph, chaos);
        let mut linker = Linker {
            cursor: Cursor { graph, block: Block::NONE, at: 0 },
            operands: ValueOperands::new(source, function, chaos),
            functions: &source.functions,
            scratch: link,
        };
        linker.link_all();
        let may_be_unreached = linker.operands.may_be_unreached;
        if !params_for_all && function.registers.is_irreducible() {
            continue;
        }
        function::end_entry(graph);
        if may_be_unreached {
            reached::drop_unreached(reached, graph);
        }
        function.registers.resolve(graph);
        return jumps::skip_jumps(jumps, graph);
    }
}

const WORD: Sig = Sig { from: Type::Void, ty: Type::I64 };
const SLOT_BYTES: u64 = 8;
