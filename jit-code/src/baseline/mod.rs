//! The baseline compiler: copy a stencil for each bytecode and fill its holes.
//!
//! In: verified bytecode. Out: [`BaselineCode`], which can be entered at its start and at every jump target. At every bytecode
//! each VM register is in its slot, except temporaries that have been read. Cost: linear, a few nanoseconds a bytecode; nothing
//! is allocated once scratch memory is large enough.
//!
//! It has two passes. [`plan`] chooses a stencil for each bytecode and adds up sizes, which gives each its place; [`fill`] then
//! copies and patches, into the memory where the code will run. Neither decodes bytecode: each operand is read at its offset in
//! the enum, when it is needed ([`operand`]).
//!
//! The value that the last bytecode wrote is cached in a machine register. If the next bytecode reads that VM register, and no
//! jump leads there, a variant of its stencil reads the machine register. If the VM register is a temporary as well, its store is
//! omitted.
//!
//! ```text
//! prologue | hot parts in order | epilogue | cold parts, each with its constants | tables of switches | positions
//! ```

mod cached;
#[cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, reason = "where there is no signal handler, nobody asks what a fault is")
)]
mod faults;
mod fill;
mod fixed;
mod narrow;
mod opcodes;
mod operand;
mod pack;
mod plan;
mod stock;

use crate::call::{KeptValues, TargetCode};
use crate::emit::{self, Backend, BaselineFrame, LEAVES, MAX_FRAME_BYTES, Options, OwnFrame, Set};
use crate::faults::Registered;
use crate::saved;
use crate::status::Status;
use crate::stencil::{self, Stencil};
use crate::unwind::{Described, MADE_AT_ONCE, StackFrame};
use crate::watch::Announced;
use crate::{CodeMemory, Installed};
use azulejo_core::error::Error;
use azulejo_core::ir::bytecode::{Bytecode, OpcodeInfo};
use azulejo_core::ir::template::Template;
use azulejo_core::pass::build::{Constants, KnownCases, Linkage, StencilRequest};
use azulejo_core::pass::{Compilation, Observer, Target};
use azulejo_core::verify::Function;
use azulejo_core::vocab::{OpInfo, Vocabulary};
use fill::{Around, Count};
use fixed::{JUMP, LEAVE, Wanted};
use operand::operands;
use pack::{StencilId, TableId};
use plan::{FLOAT, MAX_PART, Missing, Plan, Unknown, WIDE};
pub(crate) use stock::Key;
use stock::{Shelf, Stock};

/// The baseline compiler's hold on the stencils, and memory kept between functions.
#[derive(Debug)]
pub struct Baseline<M: Backend> {
    /// The stencils of the bytecode that was compiled last.
    shelf: Option<Shelf>,
    /// Whether it makes all stencils that it needs, and shares none.
    is_alone: bool,
    /// How many stencils it has made.
    made: u64,
    /// The code around functions, by whether they keep `(cu)`, and pinned constants, in registers.
    frames: [[Option<BaselineFrame<M>>; 2]; 2],
    plan: Plan,
    scratch: stencil::Scratch<M>,
}

impl<M: Backend> Default for Baseline<M> {
    fn default() -> Self {
        let (plan, scratch) = Default::default();
        Baseline { shelf: None, is_alone: false, made: 0, frames: Default::default(), plan, scratch }
    }
}

/// A function's baseline code.
#[derive(Debug)]
pub struct BaselineCode<M: Backend> {
    /// The debuggers' record of the code. Dropped first: debuggers must not read code that has been freed.
    pub announced: Option<Announced>,
    _faults: Option<Registered>,
    installed: Installed,
    own: OwnFrame<M>,
    /// What it keeps in registers.
    kept: KeptValues,
    leaves: [u32; LEAVES],
    /// The offset of the table behind the code that holds the start of each bytecode's code.
    positions: u32,
    n_bytecodes: u32,
    code_bytes: u32,
    /// Whether there are cases of sites in it.
    knows_cases: bool,
    /// The bytecodes at which it is left for what it lacks, in order.
    lacking: Box<[u32]>,
}

/// The parts of the compiler that the baseline uses.
#[allow(missing_debug_implementations, reason = "nobody can say what an observer is")]
pub struct Machinery<'a, M: Backend> {
    /// The passes.
    pub compilation: &'a mut Compilation,
    /// Memory for emitting.
    pub emission: &'a mut emit::Scratch<M>,
    /// The target that the passes compile for.
    pub target: Target<'static>,
    /// How tiles are emitted.
    pub set: &'static Set<M>,
    /// How stencils are emitted: for any engine's memory.
    pub options: &'a Options,
    /// The engine's data for calls.
    pub functions: Linkage<'a>,
    /// Whether `(cu)` has a register of its own in baseline code.
    pub keeps_unit: bool,
    /// The constants that have registers of their own in baseline code.
    pub pinned: &'static [u64],
    /// By opcode.
    pub templates: &'static [&'static Template],
    /// The observer of each stage.
    pub observer: &'a mut dyn Observer,
}

/// An opcode as the program has it, and the operators that its template may use besides the built-in ones.
#[derive(Clone, Copy)]
struct WrittenOpcode {
    info: &'static OpcodeInfo,
    template: &'static Template,
    operators: &'static [OpInfo],
}

impl<M: Backend> Baseline<M> {
    /// Compiles a function.
    pub fn compile<B: Bytecode>(
        &mut self,
        function: &Function<'_, B>,
        machinery: &mut Machinery<'_, M>,
        memory: &CodeMemory,
    ) -> Result<BaselineCode<M>, Error> {
        self.take_shelf::<B>(machinery);
        if function.shape.slots > i32::MAX as u32 / 8 {
            return Err(Error::FrameTooLarge { bytes: function.shape.slots as usize * 8 });
        }
        let Linkage { stop, fuel, .. } = machinery.functions;
        let budget = function.budget.map(|budget| budget.addr() as u64);
        let wanted = |budget| (Wanted { budget, stop, fuel }).stencil();
        let count = match (wanted(budget), wanted(budget.map(|first| first + size_of::<i32>() as u64))) {
            (Some((number, innermost)), Some((_, around))) => {
                Some(Count { stencil: self.fixed(machinery, number)?, innermost, around })
            }
            _ => None,
        };
        let counter = count.as_ref().map(|count| count.stencil);
        match function.shape.depths.is_empty() {
            true => self.plan::<B, false>(function, machinery, counter)?,
            false => self.plan::<B, true>(function, machinery, counter)?,
        }
        let Function { labels, unit, slow_paths, .. } = *function;
        let [keeps_unit, keeps_pinned] = self.plan.keeps();
        let kept = KeptValues {
            unit: keeps_unit.then_some(unit as u64),
            pinned: if keeps_pinned { machinery.pinned } else { &[] },
        };
        let Stock { saved, room, ref packed, .. } = *Self::stock(&self.shelf);
        let known = &mut self.frames[keeps_unit as usize][keeps_pinned as usize];
        known.take_if(|frame| (frame.saved, frame.room, frame.pinned) != (saved, room, kept.pinned));
        let frame = known.get_or_insert_with(|| BaselineFrame::new(saved, room, kept, machinery.options));
        let code = fill::CodeView::of(function);
        let functions = machinery.functions;
        let own = frame.of(function.shape.slots);
        let (unit, slow_paths) = (unit as u64, slow_paths.address());
        let shape = function.shape;
        let around = Around { frame, own, code, shape, labels, unit, kept, slow_paths, functions, count };
        fill::fill(&self.plan, packed, around, memory)
    }

    /// Makes it build all stencils by itself from now on: for callers that observe how stencils are made, or change it.
    pub fn set_alone(&mut self) {
        self.is_alone = true;
    }

    /// Whether stencils of an opcode of the bytecode that was compiled last have been made.
    pub fn knows(&self, opcode: usize) -> bool {
        self.shelf.as_ref().is_some_and(|shelf| shelf.stock().opcodes.knows(opcode))
    }

    /// How many stencils it has made.
    pub fn made(&self) -> u64 {
        self.made
    }

    /// Takes hold of the stencils that fit this compiler.
    fn take_shelf<B: Bytecode>(&mut self, machinery: &Machinery<'_, M>) {
        let Machinery { templates, target, set, options, functions, .. } = machinery;
        let key = Key::of::<B>(templates, target, set, options, functions);
        if !self.shelf.as_ref().is_some_and(|shelf| shelf.is_for(&key, !self.is_alone)) {
            let shelf = if self.is_alone {
                Shelf::own::<B>(key, M::MACHINE)
            } else {
                Shelf::shared::<B>(key, M::MACHINE)
            };
            self.shelf = Some(shelf);
        }
    }

    fn stock(shelf: &Option<Shelf>) -> &Stock {
        shelf.as_ref().expect("it was taken").stock()
    }

    fn shelf(&mut self) -> &mut Shelf {
        self.shelf.as_mut().expect("it was taken")
    }

    /// Chooses a stencil for each bytecode and a place for it.
    fn plan<B: Bytecode, const STACK: bool>(
        &mut self,
        function: &Function<'_, B>,
        machinery: &mut Machinery<'_, M>,
        count: Option<StencilId>,
    ) -> Result<(), Error> {
        let Linkage { cells, fuel, .. } = machinery.functions;
        self.plan.clear(function, cells.len(), fuel.is_some())?;
        loop {
            let Stock { opcodes, packed, .. } = Self::stock(&self.shelf);
            let count = count.map(|count| &packed.stencils[count.at()]);
            let size = count.map(|count| count.hot);
            let Some(unknown) = self.plan.resume::<B, STACK>((opcodes, packed), function, size)? else {
                self.plan.finish(packed, function, count);
                return Ok(());
            };
            if self.shelf().look_again() {
                // Another compiler may have added it.
                continue;
            }
            let missing = match unknown {
                Unknown::Stencil(missing) => missing,
                Unknown::Narrowing(opcode, narrowing) => {
                    self.shelf().add(|stock| stock.opcodes.learn_narrowing(opcode, narrowing));
                    continue;
                }
            };
            let Stock { opcodes, packed, .. } = Self::stock(&self.shelf);
            let missing = opcodes.first(missing, packed);
            let opcode = opcodes.written(missing.opcode);
            let (info, template) = (&B::OPCODES[opcode], machinery.templates[opcode]);
            let of = WrittenOpcode { info, template, operators: B::OPERATORS };
            if opcodes.details[missing.opcode].narrowing_of.is_some() {
                self.make_narrowed(missing, of, machinery)?;
            } else if opcodes.knows(opcode) {
                self.make(missing, of, machinery)?;
            } else {
                // Once the opcode is known, the plan can name the variant that it needs.
                self.shelf().add(|stock| stock.opcodes.learn::<B>(opcode, &mut stock.packed, template));
            }
        }
    }

    /// A stencil that is no opcode's, which is made when it is first needed.
    fn fixed(&mut self, machinery: &mut Machinery<'_, M>, number: usize) -> Result<StencilId, Error> {
        let known = |stock: &Stock| Some(stock.packed.fixed[number]).filter(|id| id.is_some());
        if known(Self::stock(&self.shelf)).is_none() {
            self.shelf().look_again();
        }
        if let Some(stencil) = known(Self::stock(&self.shelf)) {
            return Ok(stencil);
        }
        let (opcode, template) = (&fixed::OPCODES[number], &fixed::TEMPLATES[number]);
        let request = Self::plain_request(opcode, template, machinery);
        let stencil = self.make_stencil(&request, machinery)?;
        let operands = operands(opcode, fixed::OFFSETS[number]);
        self.shelf().add(|stock| {
            if known(stock).is_none() {
                stock.packed.fixed[number] = stock.add(&stencil, &operands, TableId::NONE);
            }
        });
        Ok(known(Self::stock(&self.shelf)).expect("it was added"))
    }

    /// Makes a stencil that was not needed before.
    #[cold]
    #[inline(never)]
    fn make(
        &mut self,
        missing: Missing,
        of: WrittenOpcode,
        machinery: &mut Machinery<'_, M>,
    ) -> Result<(), Error> {
        let mut request = self.request(missing, of, of.template.compact(), machinery);
        let stencil = match self.make_stencil(&request, machinery) {
            Err(Error::Internal("stencil")) => {
                request.constants = Constants::Held;
                self.make_stencil(&request, machinery)?
            }
            result => result?,
        };
        self.shelf().add(|stock| stock.set(missing, &stencil));
        Ok(())
    }

    /// Makes a stencil of a narrowed opcode that was not needed before.
    #[cold]
    #[inline(never)]
    fn make_narrowed(
        &mut self,
        missing: Missing,
        of: WrittenOpcode,
        machinery: &mut Machinery<'_, M>,
    ) -> Result<(), Error> {
        self.fixed(machinery, JUMP)?;
        self.fixed(machinery, LEAVE)?;
        let stock = Self::stock(&self.shelf);
        let (is_wanted, narrowing) = (stock.wants(missing), stock.opcodes.narrowing(missing.opcode));
        // Making a stencil may add to the stock.
        let first = stock.opcodes.first_case(missing.opcode).cloned();
        let cases = narrowing.cases.of(first.as_ref());
        let template = match cases {
            KnownCases::First(_) | KnownCases::Only(_) => of.template.known,
            KnownCases::Nothing | KnownCases::None(_) => Some(of.template.compact()),
        };
        let mut made = None;
        if let Some(template) = template.filter(|_| is_wanted) {
            let mut request = self.request(missing, of, template, machinery);
            request.cases = cases;
            request.is_lean = narrowing.is_lean;
            made = match self.make_stencil(&request, machinery) {
                Err(Error::Internal("stencil")) => None,
                result => Some(result?),
            };
        }
        let stock = Self::stock(&self.shelf);
        let general = Missing { opcode: stock.opcodes.written(missing.opcode), ..missing };
        let is_used = made.as_ref().is_some_and(|stencil| stock.fits(missing, stencil));
        if !is_used && missing.no_store_of.is_none() && !stock.has(general) {
            self.make(general, of, machinery)?;
        }
        self.shelf().add(|stock| stock.set_narrowed(missing, made.as_ref()));
        Ok(())
    }

    /// How a variant of an opcode is made, of this variant of its template.
    fn request(
        &self,
        Missing { opcode, variant, no_store_of }: Missing,
        of: WrittenOpcode,
        template: &'static Template,
        machinery: &Machinery<'_, M>,
    ) -> StencilRequest<'static> {
        let reads = Self::stock(&self.shelf).opcodes.details[opcode].reads.iter().enumerate();
        let cached = reads
            .filter(|(at, _)| variant >> at & 1 != 0)
            .fold(0, |cached, (_, read)| cached | 1 << read.operand);
        StencilRequest {
            vocab: Vocabulary { extra: of.operators },
            cached,
            is_cached_as_float: variant & FLOAT != 0,
            omits_store: no_store_of.is_some(),
            pinned: machinery.pinned,
            constants: if variant & WIDE == 0 { Constants::Short } else { Constants::Long },
            ..Self::plain_request(of.info, template, machinery)
        }
    }

    /// How a stencil is made that is no opcode's.
    fn plain_request(
        opcode: &'static OpcodeInfo,
        template: &'static Template,
        machinery: &Machinery<'_, M>,
    ) -> StencilRequest<'static> {
        StencilRequest {
            vocab: Vocabulary::BUILTIN,
            opcode,
            template,
            cached: 0,
            is_cached_as_float: false,
            omits_store: false,
            keeps_unit: machinery.keeps_unit,
            cases: KnownCases::Nothing,
            is_lean: false,
            pinned: &[],
            constants: Constants::Long,
            functions: machinery.functions.of_process(),
        }
    }

    /// Makes a stencil, or finds the one that an earlier process has made.
    fn make_stencil(
        &mut self,
        request: &StencilRequest<'_>,
        machinery: &mut Machinery<'_, M>,
    ) -> Result<Stencil, Error> {
        const IMPOSSIBLE: Error = Error::Internal("stencil");
        let key = self.shelf().saved.as_ref().and_then(|key| saved::stencil::key_of(key, request));
        if let Some(found) = key.and_then(saved::stencil::find) {
            return found.ok_or(IMPOSSIBLE);
        }
        let made = self.make_new_stencil(request, machinery);
        let is_sure = made.as_ref().err().is_none_or(|error| *error == IMPOSSIBLE);
        if let Some(key) = key.filter(|_| is_sure) {
            saved::stencil::keep(key, self.shelf().key.bytecode(), request, made.as_ref().ok());
        }
        made
    }

    fn make_new_stencil(
        &mut self,
        request: &StencilRequest<'_>,
        machinery: &mut Machinery<'_, M>,
    ) -> Result<Stencil, Error> {
        let Machinery { compilation, emission, target, set, options, observer, .. } = machinery;
        let machine = (&*target, *set, *options);
        let stencil = stencil::make(&mut self.scratch, compilation, emission, machine, request, *observer)?;
        if stencil.frame_bytes as usize > MAX_FRAME_BYTES {
            return Err(Error::FrameTooLarge { bytes: stencil.frame_bytes as usize });
        }
        if stencil.hot.len().max(stencil.cold.len()) > MAX_PART {
            return Err(Error::OutOfCodeMemory);
        }
        self.made += 1;
        Ok(stencil)
    }
}

impl<M: Backend> BaselineCode<M> {
    /// Runs the function from a bytecode on.
    ///
    /// # Safety
    ///
    /// The frame must have the slots that verification requires, with the contents that the code expects; the context must be
    /// what the templates take it for. The bytecode must be the first, or one that can be reached by a jump: others may expect
    /// a cached value of the one before. The compiler's inputs must be right: tiles, rules, and what the function says of its
    /// temporaries.
    pub unsafe fn enter(&self, context: *mut (), frame: *mut u64, at: u32) -> Status {
        // SAFETY: this is the start of a function that jumps to its third argument, which is within the code; the caller
        // guarantees what the code relies on.
        let raw = unsafe { M::enter(self.installed.address(), context, frame, self.address(at)) };
        Status::from(raw.turned())
    }

    /// Whether cases that sites had when the code was made are in it: where one of them is not true any more, it is to be discarded.
    pub fn knows_cases(&self) -> bool {
        self.knows_cases
    }

    /// Whether the code lacks something of a bytecode: its slow path, or all cases of its site but one. There it is left, and again each
    /// time.
    pub fn lacks(&self, at: u32) -> bool {
        self.lacking.binary_search(&at).is_ok()
    }

    /// The code as a target for an adapter.
    pub fn as_target(&self) -> TargetCode<M::Frame> {
        let start = self.address(0);
        match self.own.places() {
            Some(places) => TargetCode::RunsInFrame { frame: self.own.frame, places, kept: self.kept, start },
            None => TargetCode::TakesFrame {
                entry: self.entry(),
                third: start,
                stack_bytes: self.stack_bytes(),
                is_turned: true,
            },
        }
    }

    /// The code as debuggers and unwinders see it.
    pub fn described(&self) -> Described<'_> {
        let end = self.code_bytes as usize;
        Described {
            machine: M::MACHINE,
            frame: &self.own.frame,
            frames: MADE_AT_ONCE,
            leaves: &self.leaves,
            end,
        }
    }

    /// The entry point: an `extern "sysv64-unwind" fn(context, frame, address) -> TurnedStatus` that jumps to the address, for
    /// callers with an entry sequence of their own.
    pub fn entry(&self) -> *const u8 {
        self.installed.address()
    }

    /// The address of a bytecode's code.
    pub fn address(&self, at: u32) -> *const () {
        self.installed.address().wrapping_add(self.position(at) as usize).cast()
    }

    /// The offset of a bytecode's code.
    pub fn position(&self, at: u32) -> u32 {
        assert!(at < self.n_bytecodes, "bytecode {at} is not among {}", self.n_bytecodes);
        // SAFETY: the table has an entry for each bytecode, and is never written to.
        unsafe { self.positions().add(at as usize).read_unaligned() }
    }

    /// The offset of each bytecode's code and the bytecode, in order, as compiled functions have it.
    pub fn map(&self) -> Vec<(u32, u32)> {
        // Each bytecode's code stands behind that of the one before.
        (0..self.n_bytecodes).map(|at| (self.position(at), at)).collect()
    }

    fn positions(&self) -> *const u32 {
        self.installed.address().wrapping_add(self.positions as usize).cast()
    }

    /// How many bytes of the machine's stack the function takes, without its callees.
    pub fn stack_bytes(&self) -> usize {
        StackFrame::size(&self.own.frame) as usize
    }

    /// The machine code, without the tables behind it.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: this function owns the memory, and nothing writes to it while it is installed.
        unsafe { core::slice::from_raw_parts(self.installed.address(), self.code_bytes as usize) }
    }
}
