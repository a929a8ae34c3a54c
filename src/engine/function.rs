//! A function of an engine: verified bytecode, and its machine code once there is some.

use super::backend::{Adapter, BaselineCode, Compiled};
use super::tiers::{Tier, Tiers};
use crate::Error;
use crate::inside::{Form, Subject};
use azulejo_core::check::{self, temporaries::temporaries};
use azulejo_core::ir::bytecode::{Bytecode, Functions, Machine};
use azulejo_core::pass::build::{self, FunctionSource};
use azulejo_core::verify::{self, Fault, Shape, VerifyError};
use azulejo_core::vocab::Vocabulary;
use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::{AtomicU32, Ordering};

/// Names a function of one engine.
///
/// ```
#[doc = include_str!("doubling.txt")]
/// let engine = Engine::<Op>::new();
/// let double: FunctionId = engine.define("double", code, 1)?;
/// assert_eq!((double.number(), engine.name(double)?.as_str()), (0, "double"));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct FunctionId(pub(super) u32);

impl FunctionId {
    /// The function's number, by which bytecode calls it with `(invoke f …)`: functions count from zero, in the order
    /// in which they are defined.
    ///
    /// ```
    /// # use azulejo::prelude::*;
    /// #[derive(Bytecode, Clone, Copy, Debug)]
    /// enum Op {
    ///     Call { dst: Out<i64>, function: Imm<u32>, a: In<i64> },
    ///     Double { dst: Out<i64>, a: In<i64> },
    ///     Return { a: In<i64> },
    /// }
    /// template! {
    ///     Op::Call   => (invoke $function (arglist $a) i64)
    ///     Op::Double => (add $a $a)
    ///     Op::Return => (return $a)
    /// }
    ///
    /// let engine = Engine::<Op>::new();
    /// let double = vec![Op::Double { dst: 0.into(), a: 0.into() }, Op::Return { a: 0.into() }];
    /// let double = engine.define("double", double, 1)?;
    /// let call = Op::Call { dst: 0.into(), function: Imm(double.number()), a: 0.into() };
    /// let fourfold = engine.define("fourfold", vec![call, call, Op::Return { a: 0.into() }], 1)?;
    /// assert_eq!(engine.call::<_, i64>(fourfold, &mut (), (3i64,))?, 12);
    /// # Ok::<(), azulejo::Error>(())
    /// ```
    pub fn number(self) -> u32 {
        self.0
    }
}

/// The bytecode of a function, with the lists of labels that its `Labels` operands name.
///
/// ```
/// # use azulejo::prelude::*;
/// #[derive(Bytecode, Clone, Copy, Debug)]
/// enum Op {
///     Choose { value: In<u64>, table: Labels },
///     Return { a: In<i64> },
/// }
/// template! {
///     Op::Choose => (switch $value $table)
///     Op::Return => (return $a)
/// }
///
/// let ops = vec![
///     Op::Choose { value: 0.into(), table: Labels { first: 0, count: 3 } },
///     Op::Return { a: 1.into() },
///     Op::Return { a: 2.into() },
/// ];
/// // Zero goes to bytecode 1, one to bytecode 2, everything else to the last entry.
/// let code = Code { labels: vec![1, 2, 1], ..ops.into() };
/// let engine = Engine::<Op>::new();
/// let choose = engine.define("choose", code, 3)?;
/// assert_eq!(engine.call::<_, i64>(choose, &mut (), (1u64, 10i64, 20i64))?, 20);
/// assert_eq!(engine.call::<_, i64>(choose, &mut (), (7u64, 10i64, 20i64))?, 10);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Code<B> {
    /// The bytecode.
    pub ops: Vec<B>,
    /// What `Labels` operands are runs of.
    pub labels: Vec<u32>,
    /// How many arguments the function is called with at most; as many as it has registers if nobody says.
    pub arguments: Option<u32>,
    /// What was said by [`with_unit`](Code::with_unit) and [`with_temporaries`](Code::with_temporaries).
    pub promises: Promises,
}

/// What is promised of a function, and made by the methods of [`Code`] only; nothing if nobody says anything.
///
/// ```
/// # use azulejo::prelude::*;
/// # #[derive(Bytecode, Clone, Copy, Debug)]
/// # enum Op { Return { a: In<i64> } }
/// # template! { Op::Return => (return $a) }
/// let code = Code::from(vec![Op::Return { a: 0.into() }]).with_temporaries(0);
/// // The same of other bytecode.
/// let longer = Code { promises: code.promises, ..vec![Op::Return { a: 0.into() }; 2].into() };
/// assert_eq!(longer.promises, code.promises);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Promises {
    /// The address that `(cu)` is in the function's templates.
    unit: Option<usize>,
    temporaries: Option<Temporaries>,
}

/// Which registers are temporaries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Temporaries {
    /// The first; all behind it are, too.
    first: u32,
    /// Whether it is true without a look at the bytecode.
    is_vouched_for: bool,
}

impl<B> Code<B> {
    /// Says what `(cu)` is in this function's templates: the address of something that all functions of a module share, say. A
    /// function with an opcode whose template takes `(cu)` cannot be defined without.
    ///
    /// # Safety
    ///
    /// Templates that take `(cu)` say by `unsafe` that they do with it what is right, for a unit of a certain type. It must
    /// be the address of such a one, which stays valid as long as the function may run.
    ///
    /// ```
    /// # use azulejo::prelude::*;
    /// #[derive(Bytecode, Clone, Copy, Debug)]
    /// enum Op {
    ///     Limit { dst: Out<i64> },
    ///     Return { a: In<i64> },
    /// }
    /// #[repr(C)]
    /// struct Module {
    ///     limit: i64,
    /// }
    /// template! {
    ///     Op::Limit  => unsafe (load (addr (cu) (&offset_of Module, limit)) i64)
    ///     Op::Return => (return $a)
    /// }
    ///
    /// let module = Box::new(Module { limit: 80 });
    /// let engine = Engine::<Op>::new();
    /// let code = Code::from(vec![Op::Limit { dst: 0.into() }, Op::Return { a: 0.into() }]);
    /// // SAFETY: templates take `(cu)` for a `Module`, and it stays until the engine is gone.
    /// let code = unsafe { code.with_unit(&raw const *module) };
    /// let function = engine.define("limit", code, 1)?;
    /// assert_eq!(engine.call::<_, i64>(function, &mut (), ())?, 80);
    /// # Ok::<(), azulejo::Error>(())
    /// ```
    pub unsafe fn with_unit<T>(mut self, unit: *const T) -> Self {
        self.promises.unit = Some(unit.expose_provenance());
        self
    }

    /// Says how many arguments the function is called with at most. Who gives more is told that they are too many. All other
    /// registers are zero when the function starts, which the optimizer then knows: a VM whose functions have many locals
    /// gets smaller code, and gets it sooner.
    ///
    /// ```
    #[doc = include_str!("doubling.txt")]
    /// let engine = Engine::<Op>::new();
    /// let double = engine.define("double", Code::from(code).with_arguments(1), 2)?;
    /// assert_eq!(engine.call::<_, i64>(double, &mut (), (21i64,))?, 42);
    /// let result = engine.call::<_, i64>(double, &mut (), (21i64, 0i64));
    /// assert_eq!(result, Err(Error::TooManyArguments { given: 2, most: 1 }));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn with_arguments(mut self, most: u32) -> Self {
        self.arguments = Some(most);
        self
    }

    /// Says that this VM register and all behind it are temporaries: no value in them is read by more than one operand of one
    /// bytecode, once. Values on their way from one operation to the next are like that. Where such a value is read by the
    /// bytecode right behind the one that writes it, baseline code leaves it in a machine register and does not write it to
    /// its slot; so after it was read, the slot may hold anything.
    ///
    /// It is looked at when the function is defined; what is not true is an error ([`Fault::ReadAgain`](crate::Fault)). A function
    /// of so many registers and jumps that this would take long is compiled as if nothing had been said.
    /// [`with_temporaries_unchecked`](Self::with_temporaries_unchecked) is for compilers that know.
    ///
    /// A run of registers that is there to be written counts as written. Who looks at all registers of a frame, as a
    /// collector of garbage may, finds old values in temporaries that were read.
    ///
    /// ```
    /// # use azulejo::prelude::*;
    /// # #[derive(Bytecode, Clone, Copy, Debug)]
    /// # enum Op { Add { dst: Out<i64>, a: In<i64>, b: In<i64> }, Return { a: In<i64> } }
    /// # template! { Op::Add => (add $a $b) Op::Return => (return $a) }
    /// // a + b + a, whose first sum is read once
    /// let ops = vec![
    ///     Op::Add { dst: 2.into(), a: 0.into(), b: 1.into() },
    ///     Op::Add { dst: 0.into(), a: 2.into(), b: 0.into() },
    ///     Op::Return { a: 0.into() },
    /// ];
    /// let engine = Engine::<Op>::new();
    /// let sum = engine.define("sum", Code::from(ops).with_temporaries(2), 3)?;
    /// assert_eq!(engine.call::<_, i64>(sum, &mut (), (1i64, 20i64))?, 22);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn with_temporaries(mut self, first: u32) -> Self {
        self.promises.temporaries = Some(Temporaries { first, is_vouched_for: false });
        self
    }

    /// As [`with_temporaries`](Self::with_temporaries), and nobody looks whether it is true: defining a function takes less
    /// time. Debug builds look all the same.
    ///
    /// # Safety
    ///
    /// It must be true. Otherwise a function may read values that are not those that its bytecode gives, and whatever a
    /// template's `unsafe` relies on may not hold.
    ///
    /// ```
    /// # use azulejo::prelude::*;
    /// # #[derive(Bytecode, Clone, Copy, Debug)]
    /// # enum Op { Add { dst: Out<i64>, a: In<i64>, b: In<i64> }, Return { a: In<i64> } }
    /// # template! { Op::Add => (add $a $b) Op::Return => (return $a) }
    /// // a + b, which is read once
    /// let ops = vec![Op::Add { dst: 2.into(), a: 0.into(), b: 1.into() }, Op::Return { a: 2.into() }];
    /// let engine = Engine::<Op>::new();
    /// // SAFETY: register 2 is written once and read once.
    /// let code = unsafe { Code::from(ops).with_temporaries_unchecked(2) };
    /// let sum = engine.define("sum", code, 3)?;
    /// assert_eq!(engine.call::<_, i64>(sum, &mut (), (1i64, 20i64))?, 21);
    /// # Ok::<(), Error>(())
    /// ```
    pub unsafe fn with_temporaries_unchecked(mut self, first: u32) -> Self {
        self.promises.temporaries = Some(Temporaries { first, is_vouched_for: true });
        self
    }
}

impl<B> From<Vec<B>> for Code<B> {
    fn from(ops: Vec<B>) -> Self {
        Code { ops, labels: Vec::new(), arguments: None, promises: Promises::default() }
    }
}

impl<B: Clone> From<&[B]> for Code<B> {
    fn from(ops: &[B]) -> Self {
        ops.to_vec().into()
    }
}

/// Nobody has called the function yet.
const UNKNOWN: u32 = u32::MAX;
/// It cannot be called by compiled code: more arguments than any call has.
const NONE: u32 = u32::MAX - 1;

/// Which calls a function's code is made for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Expected {
    /// Those with so many arguments as were asked for.
    Those,
    /// Those with another number.
    Others,
    /// It cannot be called by compiled code.
    None,
}

/// What ran, and may run still.
#[derive(Debug)]
pub(super) struct Retired {
    call_entry: Option<Rc<Compiled>>,
    adapters: [Option<Rc<Adapter>>; 2],
    compiled: Option<Rc<Compiled>>,
    baseline: Option<Rc<BaselineCode>>,
}

/// Bytecode that was verified: what a compiler needs of a function, on whatever thread.
pub(super) struct Body<B: Bytecode> {
    name: Arc<str>,
    code: Code<B>,
    registers: u32,
    shape: Shape,
    /// How often all code was thrown away: code that was asked for before is of no use.
    generation: AtomicU32,
    /// Whether it is compiled so that accesses may fault.
    guards: bool,
}

/// What makes a function's bytecode.
pub(super) type Maker<B> = Box<dyn FnOnce() -> Result<Body<B>, Error>>;

impl<B: Bytecode> Body<B> {
    pub(super) fn verified(
        name: Arc<str>,
        mut code: Code<B>,
        registers: u32,
        guards: bool,
    ) -> Result<Self, Error> {
        let shape = verify::verify(&code.ops, &code.labels, registers)?;
        debug_assert_eq!(check::shape::shape(&code.ops, &code.labels, registers, &shape), []);
        if let (None, [_, ..]) = (code.promises.unit, B::TAKES_UNIT)
            && let Some(at) = code.ops.iter().position(|op| B::TAKES_UNIT[op.opcode()])
        {
            return Err(VerifyError { at: at as u32, fault: Fault::NoUnit }.into());
        }
        if let Some(Temporaries { first, is_vouched_for }) = code.promises.temporaries
            && (!is_vouched_for || cfg!(debug_assertions))
        {
            let is_known = temporaries(&code.ops, &code.labels, &shape, first)?;
            if !is_known && !is_vouched_for {
                code.promises.temporaries = None;
            }
        }
        Ok(Body { name, code, registers, shape, generation: AtomicU32::new(0), guards })
    }

    /// A number that is another one once all code was thrown away.
    pub(super) fn generation(&self) -> u32 {
        self.generation.load(Ordering::Relaxed)
    }

    /// What `(cu)` is.
    pub(super) fn unit(&self) -> *const () {
        match self.code.promises.unit {
            Some(address) => std::ptr::with_exposed_provenance(address),
            None => self.code.ops.as_ptr().cast(),
        }
    }

    /// As who watches compilations sees it.
    pub(super) fn subject(&self, form: Form) -> Subject<'_, B> {
        Subject { name: &self.name, code: &self.code.ops, form }
    }

    /// For going on at this bytecode.
    pub(super) fn source<'a>(&'a self, entry: u32, functions: build::Functions<'a>) -> FunctionSource<'a> {
        FunctionSource {
            vocab: Vocabulary { extra: B::OPERATORS },
            opcodes: B::OPCODES,
            templates: if self.guards { B::guarded_templates() } else { B::templates() },
            code: &self.code.ops,
            labels: &self.code.labels,
            locals: self.registers,
            slots: self.shape.slots,
            depths: &self.shape.depths,
            entry,
            arguments: self.code.arguments,
            functions,
            call_entry: None,
        }
    }
}

/// A function of an engine.
pub(super) struct Function<B: Bytecode> {
    number: u32,
    name: Arc<str>,
    /// Nothing before it was made, or what was wrong with it.
    body: OnceCell<Result<Arc<Body<B>>, Error>>,
    /// Who makes it; nobody any more once it is being made.
    maker: Cell<Option<Maker<B>>>,
    /// Shared with the calls that run it, as all code: they keep it if it is thrown away.
    compiled: RefCell<Option<Rc<Compiled>>>,
    baseline: RefCell<Option<Rc<BaselineCode>>>,
    /// Code of the optimizer that goes on at these bytecodes.
    inside: RefCell<Vec<(u32, Rc<Compiled>)>>,
    /// Code of the optimizer that other functions of bytecode call.
    call_entry: RefCell<Option<Rc<Compiled>>>,
    /// Where they enter `compiled`, or else `baseline`.
    adapter: RefCell<Option<Rc<Adapter>>>,
    /// Where those do whose calls have another number of arguments.
    fallback_adapter: RefCell<Option<Rc<Adapter>>>,
    /// How many arguments other functions of bytecode call this one with, once one has.
    arguments: Cell<u32>,
    /// No function has called it yet as far as the engine knows.
    is_guess: Cell<bool>,
    /// There is some in `inside`, and none for calls.
    is_hot_inside: Cell<bool>,
    /// How many calls and times around loops are left before the function climbs. Baseline code counts here too.
    budget: Cell<i32>,
    /// It could not be compiled; nobody tries again.
    is_stuck: Cell<bool>,
    is_awaited: Cell<bool>,
    /// When it was called last, in calls of the engine.
    last_call: Cell<u64>,
}

impl Retired {
    /// Whether one of these addresses, sorted, is in the code.
    pub(super) fn is_among(&self, addresses: &[usize]) -> bool {
        let optimized = [&self.call_entry, &self.compiled].into_iter().flatten().map(|code| code.bytes());
        let code = optimized.chain(self.baseline.iter().map(|code| code.bytes()));
        let ranges = code.map(|bytes| {
            let start = bytes.as_ptr().addr();
            // A return address may stand right behind the last byte.
            start..start + bytes.len() + 1
        });
        let adapters = self.adapters.iter().flatten();
        ranges.chain(adapters.map(|adapter| adapter.addresses())).any(|range| {
            let first = addresses.partition_point(|address| *address < range.start);
            addresses.get(first).is_some_and(|address| range.contains(address))
        })
    }
}

impl<B: Bytecode> Function<B> {
    /// A function with its bytecode.
    pub(super) fn of(number: u32, body: Body<B>, tiers: &Tiers) -> Self {
        Function::new(number, body.name.clone(), OnceCell::from(Ok(Arc::new(body))), None, tiers)
    }

    /// A function whose bytecode is made when somebody asks for it.
    pub(super) fn declared(number: u32, name: Arc<str>, maker: Maker<B>, tiers: &Tiers) -> Self {
        Function::new(number, name, OnceCell::new(), Some(maker), tiers)
    }

    fn new(
        number: u32,
        name: Arc<str>,
        body: OnceCell<Result<Arc<Body<B>>, Error>>,
        maker: Option<Maker<B>>,
        tiers: &Tiers,
    ) -> Self {
        let budget = Cell::new(tiers.budget(Tier::Interpreter));
        Function {
            number,
            name,
            body,
            maker: Cell::new(maker),
            compiled: RefCell::default(),
            baseline: RefCell::default(),
            inside: RefCell::default(),
            call_entry: RefCell::default(),
            adapter: RefCell::default(),
            fallback_adapter: RefCell::default(),
            arguments: Cell::new(UNKNOWN),
            is_guess: Cell::new(false),
            is_hot_inside: Cell::new(false),
            budget,
            is_stuck: Cell::new(false),
            is_awaited: Cell::new(false),
            last_call: Cell::new(0),
        }
    }

    /// Whether the bytecode was made, and if so, whether it is right.
    #[inline(always)]
    pub(super) fn made(&self) -> Option<Result<(), Error>> {
        self.body.get().map(|body| body.as_ref().map(|_| ()).map_err(|error| *error))
    }

    /// Has the bytecode made, which has not been done.
    pub(super) fn make(&self) -> Result<(), Error> {
        // Whoever makes it may call other functions, but not this one.
        let maker = self.maker.take().ok_or(Error::NotMade)?;
        let body = maker().map(Arc::new);
        let result = body.as_ref().map(|_| ()).map_err(|error| *error);
        // Nobody else had the maker.
        let _ = self.body.set(body);
        result
    }

    pub(super) fn number(&self) -> u32 {
        self.number
    }

    /// The bytecode, which was made.
    #[inline(always)]
    pub(super) fn body(&self) -> &Arc<Body<B>> {
        match self.body.get() {
            Some(Ok(body)) => body,
            _ => unreachable!("whoever finds a function has its bytecode made"),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn code(&self) -> &[B] {
        &self.body().code.ops
    }

    pub(super) fn labels(&self) -> &[u32] {
        &self.body().code.labels
    }

    pub(super) fn registers(&self) -> u32 {
        self.body().registers
    }

    /// How many arguments it takes at most.
    pub(super) fn most_arguments(&self) -> u32 {
        let Body { registers, code, .. } = &**self.body();
        code.arguments.map_or(*registers, |most| most.min(*registers))
    }

    pub(super) fn slots(&self) -> usize {
        self.body().shape.slots as usize
    }

    /// The height of the operand stack before a bytecode.
    pub(super) fn depth(&self, at: u32) -> u32 {
        self.body().shape.depths.get(at as usize).copied().unwrap_or(0)
    }

    pub(super) fn unit(&self) -> *const () {
        self.body().unit()
    }

    /// What the interpreter runs it with.
    pub(super) fn machine<'a>(
        &'a self,
        frame: *mut u64,
        context: *mut B::Context,
        budget: &'a Cell<i32>,
        stop: &'a AtomicU64,
        functions: &'a dyn Functions<B::Context>,
    ) -> Machine<'a, B::Context> {
        Machine { frame, context, unit: self.unit(), labels: self.labels(), budget, stop, functions }
    }

    pub(super) fn compiled(&self) -> Option<Rc<Compiled>> {
        self.compiled.borrow().clone()
    }

    /// The optimizer's code for going on at a bytecode.
    pub(super) fn code_at(&self, at: u32) -> Option<Rc<Compiled>> {
        match at {
            0 => self.compiled(),
            _ => self.inside.borrow().iter().find(|(entry, _)| *entry == at).map(|(_, code)| Rc::clone(code)),
        }
    }

    pub(super) fn set_code_at(&self, at: u32, code: Compiled) {
        match at {
            0 => *self.compiled.borrow_mut() = Some(Rc::new(code)),
            _ => self.inside.borrow_mut().push((at, Rc::new(code))),
        }
        self.is_hot_inside.set(self.compiled.borrow().is_none());
    }

    pub(super) fn baseline(&self) -> Option<Rc<BaselineCode>> {
        self.baseline.borrow().clone()
    }

    pub(super) fn set_baseline(&self, code: BaselineCode) {
        *self.baseline.borrow_mut() = Some(Rc::new(code));
    }

    pub(super) fn has_baseline(&self) -> bool {
        self.baseline.borrow().is_some()
    }

    /// Whether there is code of the optimizer for any part of it.
    pub(super) fn is_optimized(&self) -> bool {
        self.is_hot_inside() || self.optimized().is_some()
    }

    /// At how many places besides its start there is code of the optimizer.
    pub(super) fn entries(&self) -> usize {
        self.inside.borrow().len()
    }

    /// Whether there is code of the optimizer for loops, and none for calls.
    pub(super) fn is_hot_inside(&self) -> bool {
        self.is_hot_inside.get()
    }

    /// Whether calls find any code.
    pub(super) fn has_code(&self) -> bool {
        self.compiled.borrow().is_some() || self.has_baseline()
    }

    pub(super) fn budget(&self) -> &Cell<i32> {
        &self.budget
    }

    pub(super) fn is_used_up(&self) -> bool {
        self.budget.get() < 0
    }

    /// How often all code was thrown away: code that was asked for before is of no use.
    pub(super) fn generation(&self) -> u32 {
        self.body().generation()
    }

    /// Whether another thread is compiling it.
    pub(super) fn is_awaited(&self) -> bool {
        self.is_awaited.get()
    }

    pub(super) fn set_awaited(&self, is_awaited: bool) {
        self.is_awaited.set(is_awaited);
    }

    pub(super) fn is_stuck(&self) -> bool {
        self.is_stuck.get()
    }

    /// Notes how it went to compile it: what failed will fail again, unless there was too little stack left for that.
    pub(super) fn note(&self, result: Result<(), Error>) {
        self.set_stuck(result.is_err_and(|error| error != Error::StackOverflow));
    }

    pub(super) fn set_stuck(&self, is_stuck: bool) {
        self.is_stuck.set(is_stuck);
    }

    /// Code of the optimizer for the whole function.
    pub(super) fn optimized(&self) -> Option<Rc<Compiled>> {
        self.compiled().or_else(|| self.call_entry())
    }

    pub(super) fn call_entry(&self) -> Option<Rc<Compiled>> {
        self.call_entry.borrow().clone()
    }

    pub(super) fn set_call_entry(&self, code: Compiled) {
        *self.call_entry.borrow_mut() = Some(Rc::new(code));
    }

    pub(super) fn has_adapter(&self) -> bool {
        self.adapter.borrow().is_some()
    }

    pub(super) fn set_adapter(&self, adapter: Adapter) {
        *self.adapter.borrow_mut() = Some(Rc::new(adapter));
    }

    pub(super) fn has_fallback_adapter(&self) -> bool {
        self.fallback_adapter.borrow().is_some()
    }

    pub(super) fn set_fallback_adapter(&self, adapter: Adapter) {
        *self.fallback_adapter.borrow_mut() = Some(Rc::new(adapter));
    }

    /// Whether a template in it looks at all VM registers at once.
    pub(super) fn observes(&self) -> bool {
        self.body().code.ops.iter().any(|op| B::templates()[op.opcode()].observes())
    }

    /// Takes what other functions call away, with the code behind it: they may be running that.
    pub(super) fn retire(&self) -> Option<Retired> {
        let (call_entry, adapters) =
            (self.call_entry.take(), [&self.adapter, &self.fallback_adapter].map(RefCell::take));
        let is_there = call_entry.is_some() || adapters.iter().any(Option::is_some);
        is_there.then(|| Retired {
            call_entry,
            adapters,
            compiled: self.compiled(),
            baseline: self.baseline(),
        })
    }

    /// The same for calls with another number of arguments than most have.
    pub(super) fn retire_aside(&self) -> Option<Retired> {
        let adapters = [self.fallback_adapter.take(), None];
        let is_there = adapters[0].is_some();
        is_there.then(|| Retired {
            call_entry: None,
            adapters,
            compiled: self.compiled(),
            baseline: self.baseline(),
        })
    }

    /// Whether this is how many arguments other functions of bytecode call this one with; the first call decides.
    pub(super) fn expect_arguments(&self, count: u32) -> Expected {
        match self.arguments.get() {
            NONE => Expected::None,
            UNKNOWN => {
                self.arguments.set(count);
                Expected::Those
            }
            expected if expected == count => Expected::Those,
            _ => Expected::Others,
        }
    }

    /// With how many arguments other functions of bytecode call it: as many as one has, or else as it takes at most.
    pub(super) fn guess_arguments(&self) -> Option<u32> {
        if self.arguments.get() == UNKNOWN {
            let most = self.body().code.arguments.filter(|most| *most <= self.body().registers)?;
            self.arguments.set(most);
            self.is_guess.set(true);
        }
        Some(self.arguments.get()).filter(|count| *count != NONE)
    }

    /// Whether nobody has called it before, and somebody does so now with another number of arguments than was guessed.
    pub(super) fn is_wrong_guess(&self, count: u32) -> bool {
        self.is_guess.get() && self.arguments.get() != count
    }

    pub(super) fn forget_guess(&self) {
        self.is_guess.set(false);
        self.arguments.set(UNKNOWN);
    }

    /// Has no call take this function's code: whoever calls it comes to the engine.
    pub(super) fn refuse_calls(&self) {
        self.arguments.set(NONE);
    }

    /// Throws all code away; calls that run it keep it until they end.
    pub(super) fn discard(&self, tiers: &Tiers) {
        self.compiled.take();
        self.baseline.take();
        self.inside.take();
        self.is_hot_inside.set(false);
        self.is_stuck.set(false);
        if self.arguments.get() == NONE {
            self.arguments.set(UNKNOWN);
        }
        if let Some(Ok(body)) = self.body.get() {
            body.generation.fetch_add(1, Ordering::Relaxed);
        }
        self.is_awaited.set(false);
        self.budget.set(tiers.budget(Tier::Interpreter));
    }

    /// Whether there is code, and no call runs it: throwing it away frees memory now.
    pub(super) fn has_idle_code(&self) -> bool {
        let (compiled, call_entry) = (self.compiled.borrow(), self.call_entry.borrow());
        let (baseline, inside) = (self.baseline.borrow(), self.inside.borrow());
        let inside = inside.iter().map(|(_, code)| code);
        let optimized = compiled.iter().chain(call_entry.iter()).chain(inside);
        let mut uses =
            optimized.map(Rc::strong_count).chain(baseline.iter().map(Rc::strong_count)).peekable();
        uses.peek().is_some() && uses.all(|uses| uses == 1)
    }

    pub(super) fn last_call(&self) -> u64 {
        self.last_call.get()
    }

    pub(super) fn note_call(&self, now: u64) {
        self.last_call.set(now);
    }

    /// As the baseline compiler takes it; `counts` is whether its loops use the budget up.
    pub(super) fn bytecode(&self, counts: bool) -> verify::Function<'_, B> {
        verify::Function {
            code: &self.body().code.ops,
            labels: &self.body().code.labels,
            registers: self.body().registers,
            shape: &self.body().shape,
            unit: self.unit(),
            temporaries: self.body().code.promises.temporaries.map(|temporaries| temporaries.first),
            budget: counts.then(|| std::ptr::from_ref(&self.budget)),
        }
    }
}
