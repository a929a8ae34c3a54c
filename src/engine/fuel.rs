//! Fuel: how much a program may execute before the engine stops it or asks for more.
//!
//! In: an amount. Out: [`Error::OutOfFuel`] once it is used up and the supplier, if any, adds nothing. Each start of a function
//! and each iteration of a loop consumes one unit. (Compiled code also consumes one where it enters a loop.) Compiled code
//! decrements the tank's word; the interpreter takes a portion at a time, and returns the rest of it.

use super::function::{Budget, Function};
use super::native::Word;
use super::{Builder, Engine};
use crate::Error;
use azulejo_core::ir::bytecode::Bytecode;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;
use std::sync::atomic::Ordering::Relaxed;

/// The most that the interpreter takes at once.
const PORTION: i64 = 64;

/// The fuel of an engine.
pub(super) struct Tank {
    /// Negative, as an `i64`, once the fuel is used up. Only the engine's thread accesses it.
    left: Word,
    /// The engine's source of more fuel.
    supplier: RefCell<Option<Rc<dyn Fn() -> u64>>>,
    /// The portion of the innermost interpreted function; null if none is running.
    lent: Cell<*const Portion>,
}

impl fmt::Debug for Tank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tank").field("left", &self.left).finish_non_exhaustive()
    }
}

impl Builder {
    /// Limits execution by fuel, and sets the initial amount. Each start of a function and each iteration of a loop consumes
    /// one unit. (The tiers differ a little: compiled code also consumes one where it enters a loop.) When the fuel is used up,
    /// the call ends with [`Error::OutOfFuel`], or continues with the amount that the closure of
    /// [`Engine::when_out_of_fuel`] returns. A call that has ended cannot be resumed: to do other work when the fuel runs out,
    /// do it in that closure.
    ///
    /// Fuel makes compiled code slower: three instructions for each iteration of a loop, one of them a subtraction in memory.
    /// In the programs of the benches this takes about a tenth more time in baseline code and a sixth more in the optimizer's,
    /// and half again as much where a loop has three or four instructions.
    ///
    /// ```
    /// # use azulejo::prelude::*;
    /// #[derive(Bytecode, Clone, Copy, Debug)]
    /// enum Op {
    ///     Forever(Label),
    /// }
    /// template! { Op::Forever => (branch $0) }
    ///
    /// let engine: Engine<Op> = Engine::<Op>::builder().fuel(1_000_000).build();
    /// let forever = engine.define("forever", vec![Op::Forever(Label(0))], 0)?;
    /// assert_eq!(engine.call::<_, i64>(forever, &mut (), ()), Err(azulejo::Error::OutOfFuel { at: 0 }));
    /// # Ok::<(), azulejo::Error>(())
    /// ```
    pub fn fuel(mut self, fuel: u64) -> Self {
        self.fuel = Some(fuel);
        self
    }
}

fn amount(fuel: u64) -> i64 {
    i64::try_from(fuel).unwrap_or(i64::MAX)
}

impl Tank {
    pub(super) fn new(fuel: u64) -> Tank {
        let left = Word::new();
        left.store(amount(fuel) as u64, Relaxed);
        Tank { left, supplier: RefCell::default(), lent: Cell::new(std::ptr::null()) }
    }

    /// The word that compiled code decrements.
    pub(super) fn word(&self) -> &Word {
        &self.left
    }

    #[inline(always)]
    fn left(&self) -> i64 {
        self.left.load(Relaxed) as i64
    }

    #[inline(always)]
    fn set_left(&self, left: i64) {
        self.left.store(left as u64, Relaxed);
    }

    fn portion<T>(&self, budget: &Budget, run: impl FnOnce(&Cell<i32>) -> T) -> T {
        let before = self.lent.get();
        let (had, is_endless) = (budget.left(), budget.is_endless());
        let size = i64::from(had).min(self.left()).clamp(0, PORTION) as i32;
        let portion = Portion { left: Cell::new(size), returned: Cell::new(0) };
        self.set_left(self.left() - i64::from(size));
        self.lent.set(&raw const portion);
        let _end = Returned { tank: self, before };
        let result = run(&portion.left);
        self.set_left(self.left() + i64::from(portion.left.get()));
        if !is_endless {
            budget.counter().set(had - (size - portion.returned.get() - portion.left.get()));
        }
        result
    }

    /// Lets another stack of interpreted functions take fuel from now on: the portion of its innermost one, null if it has none.
    /// Returns that of the one before, whose unused fuel is taken back.
    #[inline]
    pub(super) fn switch(&self, to: *const Portion) -> *const Portion {
        self.take_back();
        self.lent.replace(to)
    }

    fn take_back(&self) {
        // SAFETY: the portion is a local of an active call of `portion`, which resets `lent` when it ends.
        let Some(portion) = (unsafe { self.lent.get().as_ref() }) else { return };
        let unused = portion.left.get().max(0);
        portion.left.set(portion.left.get() - unused);
        portion.returned.set(portion.returned.get() + unused);
        self.set_left(self.left() + i64::from(unused));
    }
}

/// The fuel that the interpreter took for the function that it runs.
#[derive(Debug)]
pub(super) struct Portion {
    left: Cell<i32>,
    /// How much was taken back while the function ran.
    returned: Cell<i32>,
}

/// Ends a portion, whether its function returns or panics.
struct Returned<'a> {
    tank: &'a Tank,
    before: *const Portion,
}

impl Drop for Returned<'_> {
    fn drop(&mut self) {
        self.tank.lent.set(self.before);
    }
}

impl<B: Bytecode> Engine<B> {
    /// Returns how much fuel is left; `None` if the engine was built without [`Builder::fuel`](crate::Builder::fuel).
    ///
    /// ```
    #[doc = include_str!("doubling.txt")]
    /// let engine: Engine<Op> = Engine::<Op>::builder().fuel(100).build();
    /// let double = engine.define("double", code, 1)?;
    /// assert_eq!(engine.call::<_, i64>(double, &mut (), (21i64,))?, 42);
    /// assert_eq!(engine.fuel(), Some(99));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn fuel(&self) -> Option<u64> {
        self.tank.as_ref().map(|tank| tank.left().max(0) as u64)
    }

    /// Sets how much fuel is left. Does nothing if the engine was built without [`Builder::fuel`](crate::Builder::fuel).
    ///
    /// ```
    #[doc = include_str!("doubling.txt")]
    /// let engine: Engine<Op> = Engine::<Op>::builder().fuel(0).build();
    /// let double = engine.define("double", code, 1)?;
    /// assert_eq!(engine.call::<_, i64>(double, &mut (), (21i64,)), Err(Error::OutOfFuel { at: 0 }));
    /// engine.set_fuel(10);
    /// assert_eq!(engine.call::<_, i64>(double, &mut (), (21i64,)), Ok(42));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn set_fuel(&self, fuel: u64) {
        if let Some(tank) = &self.tank {
            tank.set_left(amount(fuel));
        }
    }

    /// Sets a closure that is called when the fuel is used up in the middle of a function. It returns an additional amount, with
    /// which the function continues at the same bytecode. If it returns zero, the call ends with [`Error::OutOfFuel`].
    ///
    /// ```
    /// # use azulejo::prelude::*;
    /// # use std::cell::Cell;
    /// # use std::rc::Rc;
    /// #[derive(Bytecode, Clone, Copy, Debug)]
    /// enum Op {
    ///     CountDown { n: InOut<i64>, to: Label },
    ///     Return { a: In<i64> },
    /// }
    /// template! {
    ///     Op::CountDown! => (dov (set $n (sub $n 1)) (when (nz $n) (branch $to)))
    ///     Op::Return     => (return $a)
    /// }
    ///
    /// let engine: Engine<Op> = Engine::<Op>::builder().fuel(1000).build();
    /// let code = vec![Op::CountDown { n: 0.into(), to: Label(0) }, Op::Return { a: 0.into() }];
    /// let function = engine.define("count_down", code, 1)?;
    /// let asked = Rc::new(Cell::new(0));
    /// engine.when_out_of_fuel({
    ///     let asked = Rc::clone(&asked);
    ///     move || {
    ///         asked.set(asked.get() + 1);
    ///         if asked.get() < 5 { 1000 } else { 0 }
    ///     }
    /// });
    /// let result: Result<i64, Error> = engine.call(function, &mut (), (1_000_000i64,));
    /// assert_eq!((result, asked.get()), (Err(Error::OutOfFuel { at: 0 }), 5));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn when_out_of_fuel(&self, supplier: impl Fn() -> u64 + 'static) {
        if let Some(tank) = &self.tank {
            *tank.supplier.borrow_mut() = Some(Rc::new(supplier));
        }
    }

    /// Whether the fuel is used up.
    pub(super) fn is_out_of_fuel(&self) -> bool {
        self.tank.as_ref().is_some_and(|tank| tank.left() < 0)
    }

    /// Consumes fuel for the start of an interpreted function.
    pub(super) fn spend(&self, function: &Function<B>) -> Result<(), Error> {
        let Some(tank) = &self.tank else { return Ok(()) };
        tank.set_left(tank.left().saturating_sub(1));
        self.look_at_fuel(0).inspect_err(|_| self.note(function.number(), 0))
    }

    /// Asks the supplier for more fuel if it is used up; an error if there is no supplier or it adds none.
    #[inline(always)]
    pub(super) fn look_at_fuel(&self, at: u32) -> Result<(), Error> {
        if self.is_out_of_fuel() { self.ask_for_fuel(at) } else { Ok(()) }
    }

    #[cold]
    #[inline(never)]
    fn ask_for_fuel(&self, at: u32) -> Result<(), Error> {
        let Some(tank) = &self.tank else { return Ok(()) };
        let supplier = tank.supplier.borrow().clone();
        match supplier.map_or(0, |supplier| supplier()) {
            0 => Err(Error::OutOfFuel { at }),
            more => {
                tank.set_left(tank.left().max(0).saturating_add(amount(more)));
                Ok(())
            }
        }
    }

    /// Runs the interpreter with a budget that is no larger than a portion of the fuel.
    #[inline(always)]
    pub(super) fn portion<T>(&self, budget: &Budget, run: impl FnOnce(&Cell<i32>) -> T) -> T {
        match &self.tank {
            None => run(budget.counter()),
            Some(tank) => tank.portion(budget, run),
        }
    }

    /// Takes back the unused rest of the running function's portion: it is about to call another function, which needs fuel, too.
    #[inline(always)]
    pub(super) fn take_back_fuel(&self) {
        self.tank.iter().for_each(|tank| tank.take_back());
    }
}
