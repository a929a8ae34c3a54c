//! Fuel: how much a program may do before it is asked whether it is to go on.
//!
//! In: an amount. Out: [`Error::OutOfFuel`] once it is used up, or what somebody who was asked adds to it. It goes down by one
//! where a function starts, and where a loop goes around. (In compiled code also where a loop is entered.) Compiled code
//! counts down the number that is here; the interpreter takes some at a time, and gives back what it did not use.

use super::Engine;
use super::function::{Budget, Function};
use super::links::Word;
use crate::Error;
use azulejo_core::ir::bytecode::Bytecode;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;
use std::sync::atomic::Ordering::Relaxed;

/// How much the interpreter takes at once.
const PORTION: i64 = 64;

/// What a program runs on.
pub(super) struct Tank {
    /// Below zero, as an `i64`, once it is used up. Only the engine's thread knows of it.
    left: Word,
    /// The engine's source of more fuel.
    supplier: RefCell<Option<Rc<dyn Fn() -> u64>>>,
    /// What the innermost function has that is interpreted; null if none is.
    lent: Cell<*const Portion>,
}

impl fmt::Debug for Tank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tank").field("left", &self.left).finish_non_exhaustive()
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

    /// What compiled code counts down.
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
            budget.set(Some(had - (size - portion.returned.get() - portion.left.get())));
        }
        result
    }

    fn take_back(&self) {
        // SAFETY: the portion is a local of a call of `portion`, which has not ended: that says when it does.
        let Some(portion) = (unsafe { self.lent.get().as_ref() }) else { return };
        let unused = portion.left.get().max(0);
        portion.left.set(portion.left.get() - unused);
        portion.returned.set(portion.returned.get() + unused);
        self.set_left(self.left() + i64::from(unused));
    }
}

/// What the interpreter took for the function that it runs.
struct Portion {
    left: Cell<i32>,
    /// What was taken back while it ran.
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
    /// How much fuel is left, if the engine runs on some.
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

    /// Says how much fuel there is from now on. For an engine without any there is nothing to say.
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

    /// Has somebody asked for more when the fuel is used up in the middle of a function: what they give is there to go on
    /// with, in the same place. Nothing makes the call end with [`Error::OutOfFuel`].
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

    /// Whether there is none left.
    pub(super) fn is_out_of_fuel(&self) -> bool {
        self.tank.as_ref().is_some_and(|tank| tank.left() < 0)
    }

    /// Takes fuel for the start of a function that is interpreted.
    pub(super) fn spend(&self, function: &Function<B>) -> Result<(), Error> {
        let Some(tank) = &self.tank else { return Ok(()) };
        tank.set_left(tank.left().saturating_sub(1));
        self.look_at_fuel(0).inspect_err(|_| self.note(function.number(), 0))
    }

    /// Asks for more fuel if there is none; an error if there is none to have.
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

    /// Has the interpreter run on a budget no larger than a portion of the fuel.
    #[inline(always)]
    pub(super) fn portion<T>(&self, budget: &Budget, run: impl FnOnce(&Cell<i32>) -> T) -> T {
        match &self.tank {
            None => run(budget.counter()),
            Some(tank) => tank.portion(budget, run),
        }
    }

    /// Takes back what the function that runs has not used of its portion: it calls another one, which wants fuel, too.
    #[inline(always)]
    pub(super) fn take_back_fuel(&self) {
        self.tank.iter().for_each(|tank| tank.take_back());
    }
}
