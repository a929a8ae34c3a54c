//! The driver: compiles bytecode or a graph to installed code.
//!
//! In: bytecode or a graph, and the tiles and rules to compile it with. Out: code in memory, with the entry convention that all
//! tiers share.

use crate::baseline::{Baseline, BaselineCode, Machinery};
use crate::call::{
    Accepts, Adapter, AdapterAdmission, AdapterTarget, Admission, CallCell, MissingArguments, TargetCode,
};
use crate::emit::adapter::adapter;
use crate::emit::admit::admit_calls;
use crate::emit::{Backend, Code, Form, MAX_FRAME_BYTES, Options, Scratch, Set, emit, emit_as, link_by_hand};
use crate::exit::Records;
use crate::faults::{self, Registered};
use crate::memory::{CodeMemory, Installed};
use crate::status::Status;
use crate::unwind::StackFrame;
use crate::watch::{Announced, Told, Watchers};
use azulejo_core::error::{Error, Unsupported};
use azulejo_core::ir::bytecode::Bytecode;
use azulejo_core::ir::tiles::{Inst, TileList};
use azulejo_core::pass::build::{FunctionSource, Linkage};
use azulejo_core::pass::limits::Limits;
use azulejo_core::pass::rewrite::Matcher;
use azulejo_core::pass::{Compilation, Observer, Target};
use azulejo_core::target::RegisterFile;
use azulejo_core::verify::Function;
use azulejo_core::vocab::Op;
use core::marker::PhantomData;

/// The most slots that a frame on the machine's stack may have.
const MAX_SLOTS: u32 = (MAX_FRAME_BYTES / 16) as u32;

/// A compiler and the memory its code goes to.
#[derive(Debug)]
pub struct Compiler<M: Backend> {
    memory: CodeMemory,
    /// Apart, because engines are made on small stacks too.
    compilation: Box<Compilation>,
    emission: Scratch<M>,
    code: Code<M>,
    options: Options,
    features: u32,
    rules: &'static [Matcher],
    set: &'static Set<M>,
    registers: &'static RegisterFile,
    checks: bool,
    watchers: Watchers,
    /// The name and the bytecode that watchers are told for the code.
    name: String,
    source: String,
    baseline: Baseline<M>,
    guards: bool,
}

/// A compiled function.
#[derive(Debug)]
pub struct Compiled<M: Backend> {
    /// Dropped first: the debuggers' record refers to the installed code.
    _announced: Option<Announced>,
    /// Dropped before the code, too: the fault handler's record of it.
    _faults: Option<Registered>,
    installed: Installed,
    /// The code contains their address.
    _records: Option<Box<Records>>,
    entry: u32,
    /// How many bytes are code; constants follow.
    code_bytes: usize,
    map: Box<[(u32, u32)]>,
    stack_bytes: u32,
    machine: PhantomData<fn(M)>,
}

impl<M: Backend> Compiler<M> {
    /// A compiler with memory for `code_bytes` bytes of code. `features` says which of the features that the tiles name the
    /// processor has: one bit each, in the tiles' order.
    pub fn new(
        code_bytes: usize,
        set: &'static Set<M>,
        features: u32,
        rules: &'static [Matcher],
    ) -> Result<Self, Unsupported> {
        let memory = CodeMemory::new(M::MACHINE, code_bytes)?;
        Ok(Compiler {
            options: Options { reach: memory.reach(), ..Options::default() },
            memory,
            compilation: Box::default(),
            emission: Scratch::default(),
            code: Code::default(),
            features,
            rules,
            set,
            registers: M::MACHINE.registers.all,
            checks: false,
            watchers: Watchers::default(),
            name: String::new(),
            source: String::new(),
            baseline: Baseline::default(),
            guards: false,
        })
    }

    /// Another compiler that puts code into the same memory and makes the same choices; for another thread.
    pub fn beside(&self) -> Compiler<M> {
        Compiler {
            memory: self.memory.clone(),
            compilation: Box::default(),
            emission: Scratch::default(),
            code: Code::default(),
            options: self.options.clone(),
            features: self.features,
            rules: self.rules,
            set: self.set,
            registers: self.registers,
            checks: self.checks,
            watchers: self.watchers,
            name: String::new(),
            source: String::new(),
            baseline: Baseline::default(),
            guards: self.guards,
        }
    }

    /// Allocates from these registers only, so that a host can keep some for itself. Those that instructions and calling
    /// conventions name must be among them.
    pub fn with_registers(mut self, registers: &'static RegisterFile) -> Self {
        self.registers = registers;
        self
    }

    /// Verifies every stage's result, as debug builds do; a stage that fails returns [`Error::Internal`].
    pub fn with_checks(mut self, checks: bool) -> Self {
        self.checks = checks;
        self
    }

    /// Keeps a chain of frames through compiled functions, which starts in the frame pointer, for profilers to follow. Removes
    /// that register from the default ones; call this after [`with_registers`](Self::with_registers), whose registers must not
    /// contain it.
    pub fn with_frame_pointers(mut self, frame_pointers: bool) -> Self {
        self.options.frame_pointers = frame_pointers;
        let known = &M::MACHINE.registers;
        if frame_pointers && core::ptr::eq(self.registers, known.all) {
            self.registers = known.but_frame_pointer;
        }
        let frame_pointer = M::MACHINE.unwinding.frame_pointer;
        debug_assert!(!frame_pointers || !self.registers.int.contains(&frame_pointer));
        self
    }

    /// Tells the host of each function that fails, and at which bytecode: see
    /// [`HostFunctions::note`](crate::call::HostFunctions::note). Functions entered by the bytecode calling convention, or in a
    /// frame of their own, tell the host themselves; the status of any other function tells its caller.
    pub fn with_backtraces(mut self, backtraces: bool) -> Self {
        self.options.backtraces = backtraces;
        self
    }

    /// Makes the baseline compile the templates whose accesses may fault, where [`can_trap`](faults::can_trap) allows it. The
    /// optimizer compiles the templates that its source names.
    pub fn with_guards(mut self, guards: bool) -> Self {
        self.guards = guards && faults::can_trap(M::MACHINE);
        self
    }

    /// Tells these watchers of each function that is compiled.
    pub fn with_watchers(mut self, watchers: Watchers) -> Self {
        // Debuggers cannot write breakpoints into memory that is mapped twice, and perf takes such memory for a file.
        if watchers.any()
            && let Ok(memory) = CodeMemory::by_page(M::MACHINE, self.memory.size())
        {
            self.options.reach = memory.reach();
            self.memory = memory;
        }
        self.watchers = watchers;
        self
    }

    /// Sets the name and the bytecode, one instruction a line, that watchers are told for functions compiled from now on.
    pub fn set_subject(&mut self, name: &str, source: impl FnOnce() -> String) {
        if self.watchers.any() {
            self.name.clear();
            self.name.push_str(name);
        }
        if self.watchers.dump.is_some() {
            self.source = source();
        }
    }

    /// Makes some legal choices at random from now on, so that tests reach rare cases; a seed of zero turns this off.
    pub fn set_chaos(&mut self, seed: u64) {
        self.compilation.set_chaos(seed);
        if seed != 0 {
            self.baseline.set_alone();
        }
    }

    /// Makes this compiler build all the stencils that it needs, and share none: its results then depend on no other compiler.
    pub fn with_own_stencils(mut self, own: bool) -> Self {
        if own {
            self.baseline.set_alone();
        }
        self
    }

    /// Whether stencils of an opcode of the bytecode that was compiled last have been made.
    pub fn has_stencils_of(&self, opcode: usize) -> bool {
        self.baseline.knows(opcode)
    }

    /// How many stencils it has made.
    pub fn stencils_made(&self) -> u64 {
        self.baseline.made()
    }

    /// The memory that this compiler puts code into.
    pub fn memory(&self) -> &CodeMemory {
        &self.memory
    }

    /// Limits the optional steps that passes take from now on; see [`Limits`].
    pub fn set_limits(&mut self, limits: Limits) {
        self.compilation.set_limits(limits);
        if limits != Limits::default() {
            self.baseline.set_alone();
        }
    }

    /// How many steps each pass of [`Limits::PASSES`] has taken since they were limited.
    pub fn steps(&mut self) -> [u64; Limits::PASSES.len()] {
        self.compilation.steps()
    }

    fn target(&self) -> Target<'static> {
        Target {
            set: self.set.tables,
            features: self.features,
            registers: self.registers,
            rules: self.rules,
            check: self.checks,
        }
    }

    /// Compiles bytecode.
    pub fn bytecode(
        &mut self,
        source: &FunctionSource<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Compiled<M>, Error> {
        let target = self.target();
        self.compilation.bytecode(source, &target, observer)?;
        self.install(None, observer)
    }

    /// Compiles verified bytecode to be called by other functions of bytecode with `arguments` arguments; `unit` is the value
    /// of `(cu)`. Only such calls may enter the result: see [`CallCell::open_to`].
    pub fn call_entry(
        &mut self,
        source: &FunctionSource<'_>,
        arguments: u32,
        unit: *const (),
        cell: &CallCell,
        observer: &mut dyn Observer,
    ) -> Result<Compiled<M>, Error> {
        let call_entry = Some(cell.call_entry(arguments, unit));
        let target = self.target();
        self.compilation.bytecode(&FunctionSource { call_entry, ..*source }, &target, observer)?;
        let admission = Admission { arguments, cell };
        self.install(Some((&admission, source.slots)), observer)
    }

    /// Compiles the graph that `fill` makes.
    pub fn graph(
        &mut self,
        fill: impl FnOnce(&mut azulejo_core::ir::graph::Graph),
        observer: &mut dyn Observer,
    ) -> Result<Compiled<M>, Error> {
        let target = self.target();
        self.compilation.graph.clear(self.set.tables.vocab);
        fill(&mut self.compilation.graph);
        self.compilation.graph(&target, observer)?;
        self.install(None, observer)
    }

    /// Compiles verified bytecode with the baseline compiler. `functions` resolves the functions that it calls. Stencils are
    /// made once in a process, by the compiler that needs them first, and shared by all compilers that make the same choices.
    pub fn baseline<B: Bytecode>(
        &mut self,
        function: &Function<'_, B>,
        functions: Linkage<'_>,
        observer: &mut dyn Observer,
    ) -> Result<BaselineCode<M>, Error> {
        let pinned = &B::PINNED[..B::PINNED.len().min(M::REGISTERS.pinned.len())];
        let registers = M::MACHINE.registers.for_stencils(self.registers, !pinned.is_empty());
        let target = Target { registers: registers.unwrap_or(self.registers), ..self.target() };
        // Stencils are shared, so they are emitted either for the memory of any engine near the program's code, or for any
        // memory.
        let options = Options { reach: self.options.reach.around_program(), ..self.options };
        let Compiler { compilation, emission, set, memory, baseline, guards, .. } = self;
        let templates = if *guards { B::guarded_templates() } else { B::templates() };
        let mut machinery = Machinery {
            compilation,
            emission,
            target,
            set,
            options: &options,
            functions,
            keeps_unit: registers.is_some(),
            pinned: if registers.is_some() { pinned } else { &[] },
            templates,
            observer,
        };
        let mut code = baseline.compile(function, &mut machinery, memory)?;
        if self.watchers.any() {
            code.announced = self.watchers.tell(&Told {
                name: &self.name,
                source: &self.source,
                described: code.described(),
                address: code.entry(),
                map: &code.map(),
                code: code.bytes(),
            });
        }
        Ok(code)
    }

    /// Makes an entry for calls from other functions of bytecode. It clears those slots behind the arguments that the function
    /// needs.
    pub fn adapter(&self, to: &AdapterTarget<'_, M::Frame>) -> Result<Adapter, Error> {
        let AdapterTarget { source, needed, accepts, code, budget, cell } = *to;
        let slots = source.slots;
        let (Accepts::Exactly(most) | Accepts::UpTo(most)) = accepts;
        // What is more than that has no slots.
        let most = if source.drops_surplus { most.min(source.most_arguments()) } else { most };
        if slots > MAX_SLOTS || most > slots {
            return Err(Error::FrameTooLarge { bytes: slots as usize * 8 });
        }
        // The slots of the arguments are known only if the number of arguments is.
        let (first, placed) = match accepts {
            Accepts::Exactly(_) => (most, Accepts::Exactly(most)),
            Accepts::UpTo(_) => (0, accepts),
        };
        let may_miss = if source.missing == 0 { first } else { source.most_arguments().max(first) };
        let missing: Vec<u32> = (first..may_miss).filter(|at| needed.contains(*at)).collect();
        let cleared: Vec<u32> = (may_miss..slots).filter(|at| needed.contains(*at)).collect();
        let missing = MissingArguments { slots: &missing, bits: source.missing };
        let drops_surplus = source.drops_surplus;
        let admission = AdapterAdmission { accepts, budget, cell, slots, missing, placed, drops_surplus };
        let (emitter, entries) = adapter(&code, &admission, &cleared, &self.options);
        let mut code = Code::default();
        // The code before the frame is made must keep its size.
        link_by_hand::<M>(emitter, &mut code, false);
        Ok(Adapter::new(self.memory.install(&code.finished())?, entries))
    }

    fn install(
        &mut self,
        call_entry: Option<(&Admission<'_>, u32)>,
        observer: &mut dyn Observer,
    ) -> Result<Compiled<M>, Error> {
        let target = self.target();
        let Compilation { tiles, assignment, graph, .. } = &*self.compilation;
        let Compiler { emission, set, options, code, .. } = self;
        match call_entry {
            None => emit(emission, tiles, assignment, set, options, code)?,
            Some((admission, slots)) => {
                let is_frame = |inst: &Inst| inst.node.is_some() && graph.node(inst.node).op == Op::FRAME;
                // Exits store in the slots. The graph of a long function has been dropped by now; a long function gets its slots in any
                // case.
                let has_frame =
                    graph.nodes.is_empty() || !tiles.states.is_empty() || tiles.insts.iter().any(is_frame);
                let slots = if has_frame { slots + tiles.inlining.shown_slots } else { 0 };
                let admit = |emitter: &mut M| admit_calls(emitter, admission, options.backtraces);
                let form = Form::CallEntry { slots, admit };
                emit_as(emission, tiles, assignment, set, options, form, code)?;
            }
        }
        observer.code(&target, tiles, &self.code.emitted());
        let installed = self.memory.install(&self.code.finished())?;
        let faults = self.code.register_faults(installed.address().addr(), call_entry.is_some());
        let map = origins(&self.code, tiles);
        let announced = self.watchers.tell(&Told {
            name: &self.name,
            source: &self.source,
            described: self.code.described(),
            address: installed.address(),
            map: &map,
            code: self.code.emitted().code,
        });
        Ok(Compiled {
            _announced: announced,
            _faults: faults,
            installed,
            _records: self.code.records.take(),
            entry: self.code.entry,
            code_bytes: self.code.end as usize,
            map,
            stack_bytes: self.code.frame.size(),
            machine: PhantomData,
        })
    }
}

/// Maps each piece of code that comes from a bytecode to that bytecode. Adjacent pieces of one bytecode are merged.
fn origins<M: Backend>(code: &Code<M>, tiles: &TileList) -> Box<[(u32, u32)]> {
    let mut map: Vec<(u32, u32)> = Vec::with_capacity(code.map.len());
    for (at, maker) in &code.map {
        let Some(inst) = maker.inst() else { continue };
        let origin = tiles.inlining.outermost(tiles.insts[inst as usize].origin);
        if map.last().is_none_or(|(_, last)| *last != origin) {
            map.push((*at, origin));
        }
    }
    map.into()
}

impl<M: Backend> Compiled<M> {
    /// Runs the function.
    ///
    /// # Safety
    ///
    /// The frame must have the slots that the compiled function uses, and the context and unit must be what its
    /// templates take them for. The tiles and rewrite rules that the compiler was given must mean what they say.
    pub unsafe fn enter(&self, context: *mut (), frame: *mut u64, unit: *const ()) -> Status {
        // SAFETY: the entry is the start of code emitted with this signature; the caller guarantees what the code relies on.
        Status::from(unsafe { M::enter(self.entry(), context, frame, unit) })
    }

    /// The code as a target for an adapter; `unit` is the value of `(cu)`.
    pub fn as_target(&self, unit: *const ()) -> TargetCode<M::Frame> {
        TargetCode::TakesFrame {
            entry: self.entry(),
            third: unit,
            stack_bytes: self.stack_bytes(),
            is_turned: false,
        }
    }

    /// The entry point: a function of context, frame and unit that returns a [`RawStatus`](crate::status::RawStatus);
    /// [`Backend::enter`] calls it.
    pub fn entry(&self) -> *const u8 {
        self.installed.address().wrapping_add(self.entry as usize)
    }

    /// The machine code, without the constants behind it.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: this function owns the memory, and nothing writes to it while it is installed.
        unsafe { core::slice::from_raw_parts(self.installed.address(), self.code_bytes) }
    }

    /// How many bytes of the machine's stack the function takes, without its callees.
    pub fn stack_bytes(&self) -> usize {
        self.stack_bytes as usize
    }

    /// For each piece of code, its offset and the bytecode that it came from.
    pub fn map(&self) -> &[(u32, u32)] {
        &self.map
    }
}
