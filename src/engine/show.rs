//! Inspection of functions, their code, and the engine.
//!
//! In: a function. Out: its tier, its machine code, every stage of its compilation as text or as a page. For the engine as a
//! whole: statistics.

use super::function::Function;
use super::tiers::Tier;
use super::{Engine, FunctionId, running};
use crate::Error;
use crate::inside::{Form, Listing, Statistics, Watch};
use azulejo_core::ir::bytecode::Bytecode;

impl<B: Bytecode> Engine<B> {
    /// Whether a function has machine code.
    ///
    /// ```
    #[doc = include_str!("doubling.txt")]
    /// let engine = Engine::<Op>::new();
    /// let double = engine.define("double", code, 1)?;
    /// assert!(!engine.is_compiled(double));
    /// # if azulejo::can_compile().is_ok() {
    /// engine.compile(double)?;
    /// assert!(engine.is_compiled(double));
    /// # }
    /// # Ok::<(), Error>(())
    /// ```
    pub fn is_compiled(&self, function: FunctionId) -> bool {
        self.tier(function) > Tier::Interpreter
    }

    /// Returns the highest tier in which calls of a function start now.
    ///
    /// ```
    #[doc = include_str!("doubling.txt")]
    /// let engine: Engine<Op> = Engine::<Op>::builder().thresholds(10, 10).build();
    /// let double = engine.define("double", code, 1)?;
    /// assert_eq!(engine.tier(double), Tier::Interpreter);
    /// for n in 0..100i64 {
    ///     engine.call::<_, i64>(double, &mut (), (n,))?;
    /// }
    /// # if azulejo::can_compile().is_ok() {
    /// assert_eq!(engine.tier(double), Tier::Optimizer);
    /// # }
    /// # Ok::<(), Error>(())
    /// ```
    pub fn tier(&self, function: FunctionId) -> Tier {
        let code = self.known(function).ok().and_then(Function::best_code);
        code.map_or(Tier::Interpreter, |code| code.tier())
    }

    /// Returns how many bytes of machine code a function has in its highest tier; zero if it has none.
    ///
    /// ```
    #[doc = include_str!("doubling.txt")]
    /// let engine = Engine::<Op>::new();
    /// let double = engine.define("double", code, 1)?;
    /// assert_eq!(engine.code_len(double), 0);
    /// # if azulejo::can_compile().is_ok() {
    /// engine.compile(double)?;
    /// assert!(engine.code_len(double) > 0);
    /// # }
    /// # Ok::<(), Error>(())
    /// ```
    pub fn code_len(&self, function: FunctionId) -> usize {
        self.known(function).ok().and_then(Function::best_code).map_or(0, |code| code.bytes().len())
    }

    /// Returns statistics: functions by tier, compilations and the time they took, and the causes of exits from compiled code.
    /// See [`Statistics`], which prints as a table.
    ///
    /// ```
    /// # use azulejo::prelude::*;
    #[doc = include_str!("doubling.txt")]
    /// let engine = Engine::<Op>::new();
    /// let double = engine.define("double", code, 1)?;
    /// # if azulejo::can_compile().is_ok() {
    /// engine.compile(double)?;
    /// assert_eq!(engine.stats().optimizer.compiled, 1);
    /// # }
    /// println!("{}", engine.stats());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn stats(&self) -> Statistics {
        let functions = self.functions.borrow();
        let (mut in_tier, there) = ([0; 3], functions.iter().flatten());
        there.for_each(|function| in_tier[self.tier(FunctionId(function.number())) as usize] += 1);
        let backend = self.backend.borrow();
        let (code_used, code_bytes) = backend.memory();
        Statistics {
            functions: in_tier.iter().sum(),
            in_interpreter: in_tier[Tier::Interpreter as usize],
            in_baseline: in_tier[Tier::Baseline as usize],
            in_optimizer: in_tier[Tier::Optimizer as usize],
            code_used,
            code_bytes,
            stencils: backend.stencils_made(),
            ..self.counts.statistics(B::OPCODES.iter().map(|opcode| opcode.name))
        }
    }

    /// Compiles a function with the optimizer and returns each stage as text: the bytecode, the graph after each pass, the
    /// schedule of its nodes, the selected tiles, the live ranges, the allocated registers, and the machine code. This is the
    /// text that a [`Log`](crate::Log) of all stages contains.
    ///
    /// ```
    /// # use azulejo::prelude::*;
    /// # #[derive(Bytecode, Clone, Copy, Debug)]
    /// # enum Op { Double { dst: Out<i64>, a: In<i64> }, Return { a: In<i64> } }
    /// # template! {
    /// #     Op::Double => (add $a $a)
    /// #     Op::Return => (return $a)
    /// # }
    /// let engine = Engine::<Op>::new();
    /// let code = vec![Op::Double { dst: 0.into(), a: 0.into() }, Op::Return { a: 0.into() }];
    /// let function = engine.define("double", code, 1)?;
    /// if azulejo::can_compile().is_ok() {
    ///     let stages = engine.stages(function)?;
    ///     let names: Vec<&str> = stages.lines().filter_map(|line| line.strip_prefix("== ")).collect();
    ///     assert_eq!(names.first(), Some(&"bytecode"));
    ///     assert_eq!(names.last(), Some(&"emit"));
    ///     assert!(stages.contains("Double { dst: r0, a: r0 }"));
    /// }
    /// # Ok::<(), Error>(())
    /// ```
    pub fn stages(&self, function: FunctionId) -> Result<String, Error> {
        let _visit = self.visit();
        let function = self.function(function)?;
        running::on_thread_stack(|| self.stages_of(function))
    }

    fn stages_of(&self, function: &Function<B>) -> Result<String, Error> {
        super::stack::demand_for_compiling()?;
        let ops = function.body().ops_now();
        let subject = function.body().subject(&ops, Form::Optimizer(0), &**function.body());
        let mut watch = Watch::all(&subject);
        self.with_source(function, 0, |source, _| self.backend.borrow_mut().compile(source, &mut watch))?;
        Ok(watch.into_text())
    }

    /// Returns an HTML page that shows the stages of a function in the optimizer, for any browser: see
    /// [`explore`](crate::explore).
    ///
    /// ```
    /// # use azulejo::prelude::*;
    /// # #[derive(Bytecode, Clone, Copy, Debug)]
    /// # enum Op { Double { dst: Out<i64>, a: In<i64> }, Return { a: In<i64> } }
    /// # template! {
    /// #     Op::Double => (add $a $a)
    /// #     Op::Return => (return $a)
    /// # }
    /// # let code = vec![Op::Double { dst: 0.into(), a: 0.into() }, Op::Return { a: 0.into() }];
    /// let engine = Engine::<Op>::new();
    /// let function = engine.define("double", code, 1)?;
    /// # if azulejo::can_compile().is_ok() {
    /// let page = engine.explore(function)?;
    /// # let folder = std::env::temp_dir().join(format!("azulejo-{}.html", std::process::id()));
    /// # let write = |_: &str, page| std::fs::write(&folder, page);
    /// write("double.html", page)?;
    /// # std::fs::remove_file(&folder)?;
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn explore(&self, function: FunctionId) -> Result<String, Error> {
        let _visit = self.visit();
        Ok(crate::explore::page(self.function(function)?.name(), &self.stages(function)?))
    }

    /// Returns a listing of a function's machine code in its highest tier, each piece with the bytecode that it came from.
    ///
    /// ```
    #[doc = include_str!("doubling.txt")]
    /// let engine = Engine::<Op>::new();
    /// let double = engine.define("double", code, 1)?;
    /// assert_eq!(engine.disassemble(double).unwrap_err(), Error::NotCompiled);
    /// # if azulejo::can_compile().is_ok() {
    /// engine.compile(double)?;
    /// let listing = engine.disassemble(double)?.to_string();
    /// assert!(listing.contains("; 0: Double { dst: r0, a: r0 }"));
    /// # }
    /// # Ok::<(), Error>(())
    /// ```
    pub fn disassemble(&self, function: FunctionId) -> Result<Listing, Error> {
        let _visit = self.visit();
        let function = self.function(function)?;
        let bytecode: Vec<String> = function.body().ops_now().iter().map(|op| format!("{op:?}")).collect();
        let code = function.best_code().ok_or(Error::NotCompiled)?;
        Ok(Listing { address: code.entry().addr(), bytes: code.bytes().to_vec(), map: code.map(), bytecode })
    }
}
