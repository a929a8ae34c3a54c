//! The compiler for this machine.
//!
//! In: functions, and the options of the engine's builder. Out: their code. Only this file names the machine.

use crate::inside::Watch;
use crate::rules::{self, Matcher};
use azulejo_code::interpreter::InterpreterChoice;
use azulejo_code::saved::has_stencils_of;
use azulejo_code::watch::Dump;
use azulejo_code::{CodeMemory, Watchers, call, emit, faults};
use azulejo_core::error::{Error, Unsupported};
use azulejo_core::pass::Observer;
use azulejo_core::pass::build::{FunctionSource, Linkage};
use azulejo_core::vocab::Vocabulary;
use azulejo_x64::{Features, MACHINE, Set, X64};
use std::path::Path;

pub(crate) use azulejo_code::call::Adapter;
use azulejo_code::call::CallCell;
pub(crate) use azulejo_code::status::Status;
use azulejo_core::ir::bytecode::Bytecode;
use azulejo_core::verify::Function;

/// The machine for which code is made. The rest of the engine names it only by this alias.
pub(crate) use azulejo_x64::Emitter as Machine;
pub(crate) type Compiler = azulejo_code::Compiler<Machine>;
pub(crate) type Compiled = azulejo_code::Compiled<Machine>;
pub(crate) type Interpreter<B> = azulejo_code::Interpreter<B, Machine>;
pub(crate) type BaselineCode = azulejo_code::baseline::BaselineCode<Machine>;
type AdapterTarget<'a> = call::AdapterTarget<'a, <Machine as emit::Backend>::Frame>;

/// The options of the compiler.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice {
    features: Features,
    rules: &'static [Matcher],
    tiles: &'static Set,
    checks: bool,
    frame_pointers: bool,
    backtraces: bool,
    guards: bool,
    own_stencils: bool,
    rust_interpreter: bool,
    watchers: Watchers,
}

impl Default for Choice {
    fn default() -> Choice {
        Choice {
            features: Features::detect(),
            rules: &rules::MATCHERS,
            tiles: &X64,
            checks: false,
            frame_pointers: false,
            backtraces: false,
            guards: false,
            own_stencils: false,
            rust_interpreter: false,
            watchers: Watchers::default(),
        }
    }
}

impl Choice {
    pub(crate) fn only_features(&mut self, names: &[&str]) {
        self.features &= Features::named(names);
    }

    pub(crate) fn set_checks(&mut self, checks: bool) {
        self.checks = checks;
    }

    pub(crate) fn set_frame_pointers(&mut self, frame_pointers: bool) {
        self.frame_pointers = frame_pointers;
    }

    pub(crate) fn set_backtraces(&mut self, backtraces: bool) {
        self.backtraces = backtraces;
    }

    pub(crate) fn set_guards(&mut self, guards: bool) {
        self.guards = guards && can_guard();
    }

    /// Whether functions are compiled so that accesses may fault.
    pub(crate) fn guards(&self) -> bool {
        self.guards
    }

    /// Sets whether the compiler makes stencils of its own instead of sharing those of the process.
    pub(crate) fn set_own_stencils(&mut self, own: bool) {
        self.own_stencils = own;
    }

    /// Sets whether the interpreter is rustc's code, even where it could be machine code.
    pub(crate) fn set_rust_interpreter(&mut self, rust: bool) {
        self.rust_interpreter = rust;
    }

    pub(crate) fn set_debugger(&mut self, debugger: bool) {
        self.watchers.debugger = debugger;
    }

    pub(crate) fn set_perf_map(&mut self, perf_map: bool) {
        self.watchers.perf_map = perf_map;
    }

    pub(crate) fn set_dump(&mut self, directory: &Path) {
        self.watchers.dump = Dump::of(&MACHINE, directory);
    }

    pub(crate) fn set_rules(&mut self, rules: &'static [Matcher]) {
        self.rules = rules;
    }

    pub(crate) fn set_tiles(&mut self, tiles: &'static Set) {
        self.tiles = tiles;
    }
}

/// Makes machine code. Code memory is reserved when the first function is compiled.
#[derive(Debug)]
pub(crate) struct Backend {
    code_bytes: usize,
    choice: Choice,
    compiler: Option<Compiler>,
}

/// Checks whether code can be run at all, by reserving a little code memory.
pub(crate) fn can_compile() -> Result<(), Unsupported> {
    CodeMemory::new(&MACHINE, 1 << 16).map(drop)
}

pub(crate) fn can_guard() -> bool {
    faults::can_trap(&MACHINE)
}

/// Prepares this thread to run code whose accesses may fault.
pub(crate) fn prepare_thread() {
    faults::prepare_thread();
}

/// The result of a compilation.
pub(crate) trait HasSize {
    /// The size of the code in bytes.
    fn size(&self) -> usize;
}

impl HasSize for Compiled {
    fn size(&self) -> usize {
        self.bytes().len()
    }
}

impl HasSize for BaselineCode {
    fn size(&self) -> usize {
        self.bytes().len()
    }
}

/// Compiles under a watch: within its limits, and reporting to its observers.
pub(crate) fn watched<T: HasSize>(
    compiler: &mut Compiler,
    watch: &mut Watch<'_>,
    compile: impl FnOnce(&mut Compiler, &mut dyn Observer) -> Result<T, Error>,
) -> Result<T, Error> {
    compiler.set_limits(watch.steps());
    let subject = watch.subject();
    compiler.set_subject(subject.name(), || subject.source());
    let result = compile(compiler, watch);
    watch.finish(compiler.steps(), result.as_ref().ok().map(HasSize::size));
    result
}

impl Backend {
    pub(crate) fn new(code_bytes: usize, choice: Choice) -> Backend {
        Backend { code_bytes, choice, compiler: None }
    }

    pub(crate) fn compile(
        &mut self,
        source: &FunctionSource<'_>,
        watch: &mut Watch<'_>,
    ) -> Result<Compiled, Error> {
        watched(self.compiler(source.vocab)?, watch, |compiler, observer| compiler.bytecode(source, observer))
    }

    pub(crate) fn baseline<B: Bytecode>(
        &mut self,
        function: &Function<'_, B>,
        functions: Linkage<'_>,
        watch: &mut Watch<'_>,
    ) -> Result<BaselineCode, Error> {
        let compiler = self.compiler(Vocabulary { extra: B::OPERATORS })?;
        watched(compiler, watch, |compiler, observer| compiler.baseline(function, functions, observer))
    }

    /// How many steps the templates of those of a function's opcodes have of which no stencil is there yet.
    pub(crate) fn steps_without_stencils<B: Bytecode>(&self, ops: &[B]) -> usize {
        let templates = B::templates();
        let mut seen = vec![false; templates.len()];
        let is_new = |opcode: &usize| !std::mem::replace(&mut seen[*opcode], true);
        let knows = |opcode: usize| {
            self.compiler.as_ref().is_some_and(|compiler| compiler.has_stencils_of(opcode))
                || has_stencils_of::<B>(opcode)
        };
        let opcodes = ops.iter().map(|op| op.opcode()).filter(is_new).filter(|opcode| !knows(*opcode));
        opcodes.map(|opcode| templates[opcode].steps.len()).sum()
    }

    /// Compiles a function for calls from other functions of bytecode, which go through the call cell.
    pub(crate) fn call_entry(
        &mut self,
        source: &FunctionSource<'_>,
        (arguments, unit, cell): (u32, *const (), &CallCell),
        watch: &mut Watch<'_>,
    ) -> Result<Compiled, Error> {
        watched(self.compiler(source.vocab)?, watch, |compiler, observer| {
            compiler.call_entry(source, arguments, unit, cell, observer)
        })
    }

    /// How many bytes of code memory are in use, and how many there are.
    pub(crate) fn memory(&self) -> (usize, usize) {
        self.compiler
            .as_ref()
            .map_or((0, self.code_bytes), |compiler| (compiler.memory().used(), compiler.memory().size()))
    }

    /// How many stencils this compiler has made for baseline code.
    pub(crate) fn stencils_made(&self) -> u64 {
        self.compiler.as_ref().map_or(0, Compiler::stencils_made)
    }

    /// Makes a compiler for another thread, if this one exists already.
    pub(crate) fn compiler_beside(&self) -> Option<Compiler> {
        self.compiler.as_ref().map(Compiler::beside)
    }

    /// The interpreter in machine code, in which loops look whether the program is to stop, and count its fuel; `None` if there is to
    /// be none. All engines of the process share it.
    pub(crate) fn interpreter<B: Bytecode>(&self, may_stop: bool, has_fuel: bool) -> Option<Interpreter<B>> {
        let Choice { features, rules, tiles, checks, guards, own_stencils, .. } = self.choice;
        // Limits count the steps of this engine's compilers.
        if self.choice.rust_interpreter
            || own_stencils
            || tiles.tables.stranger(Vocabulary { extra: B::OPERATORS }).is_some()
        {
            return None;
        }
        let features = features.bits();
        let choice = InterpreterChoice { set: tiles, features, rules, checks, guards, may_stop, has_fuel };
        Interpreter::new(choice).ok()
    }

    /// Makes an adapter, by which other functions enter the code of a function.
    pub(crate) fn adapter(&self, to: &AdapterTarget<'_>) -> Result<Adapter, Error> {
        self.compiler.as_ref().ok_or(Error::NotCompiled)?.adapter(to)
    }

    fn compiler(&mut self, vocab: Vocabulary) -> Result<&mut Compiler, Error> {
        let Choice { features, rules, tiles, checks, guards, watchers, .. } = self.choice;
        if let Some(operator) = tiles.tables.stranger(vocab) {
            return Err(Error::NoTiles { operator });
        }
        if self.compiler.is_none() {
            let compiler = Compiler::new(self.code_bytes, tiles, features.bits(), rules)?;
            let compiler = compiler.with_checks(checks).with_guards(guards);
            let compiler = compiler.with_backtraces(self.choice.backtraces);
            let compiler = compiler.with_frame_pointers(self.choice.frame_pointers);
            let compiler = compiler.with_own_stencils(self.choice.own_stencils);
            self.compiler = Some(compiler.with_watchers(watchers));
        }
        Ok(self.compiler.as_mut().expect("it is there by now"))
    }
}
