//! Calls back: functions of Rust that bytecode has called call functions of bytecode.
//!
//! In: a function and its arguments. Out: its result, or why it failed. While the engine runs on the current stack, everything is prepared
//! that compiled code needs: such a call enters the code of its function as calls between functions of bytecode do. All others are calls from
//! outside.

use super::function::Function;
use super::native::{Links, MAX_REGISTER_ARGUMENTS};
use super::run::without_position;
use super::tiers::Tier;
use super::{Args, Engine, FunctionId, Slot};
use crate::Error;
use azulejo_core::ir::bytecode::Bytecode;
use std::ptr;

impl<B: Bytecode> Engine<B> {
    /// Calls a function from a function of Rust that bytecode of this engine has called. Where that calls a function many times, such as one
    /// that compares elements, this takes a fraction of the time that [`call`](Self::call) does. It can be used from outside as well.
    ///
    /// It does what `call` does, but the error has no position: `at` is 0. A function of Rust that may fail can pass the error on with
    /// `?`, and then fails as its callee did. As with `call`, the failure has a [backtrace](Self::backtrace) of its own, which has the
    /// position.
    ///
    /// ```
    /// # use azulejo::prelude::*;
    /// use azulejo::Trap;
    /// use std::rc::Rc;
    ///
    /// struct Vm {
    ///     engine: Rc<Engine<Op>>,
    ///     function: FunctionId,
    ///     numbers: Vec<i64>,
    /// }
    ///
    /// #[derive(Bytecode, Clone, Copy, Debug)]
    /// #[bytecode(context = Vm)]
    /// enum Op {
    ///     /// Replaces each number by what the function makes of it.
    ///     Map,
    ///     Div { dst: Out<i64>, a: In<i64>, b: Imm<i64> },
    ///     Return { a: In<i64> },
    /// }
    /// template! {
    ///     Op::Map    => (discard (call throws map (arglist (carg (tc) ptr)) i64))
    ///     Op::Div    => (div $b $a)
    ///     Op::Return => (return $a)
    /// }
    ///
    /// fn map(vm: &mut Vm) -> Result<i64, Trap> {
    ///     let engine = Rc::clone(&vm.engine);
    ///     for at in 0..vm.numbers.len() {
    ///         let number = vm.numbers[at];
    ///         vm.numbers[at] = engine.call_back(vm.function, vm, (number,))?;
    ///     }
    ///     Ok(0)
    /// }
    ///
    /// let engine = Rc::new(Engine::<Op>::new());
    /// let hundredth = vec![Op::Div { dst: 0.into(), a: 0.into(), b: Imm(100) }, Op::Return { a: 0.into() }];
    /// let function = engine.define("hundredth", hundredth, 1)?;
    /// let map = engine.define("map", vec![Op::Map, Op::Return { a: 0.into() }], 1)?;
    ///
    /// let mut vm = Vm { engine: Rc::clone(&engine), function, numbers: vec![5, 10, 20] };
    /// engine.call::<_, i64>(map, &mut vm, ())?;
    /// assert_eq!(vm.numbers, [20, 10, 5]);
    /// vm.numbers[1] = 0;
    /// let failed = Error::Trap { trap: Trap::DivideByZero, at: 0 };
    /// assert_eq!(engine.call::<_, i64>(map, &mut vm, ()), Err(failed));
    /// # Ok::<(), Error>(())
    /// ```
    #[inline]
    pub fn call_back<A: Args, R: Slot>(
        &self,
        function: FunctionId,
        context: &mut B::Context,
        args: A,
    ) -> Result<R, Error> {
        let _visit = self.visit();
        let function = self.function(function)?;
        let context = ptr::from_mut(context);
        // Asked once: who makes arguments of his own may answer otherwise the next time.
        let given = args.count();
        let taken = function.body().taken(given);
        let result = match given <= MAX_REGISTER_ARGUMENTS && self.has_entry(function, taken) {
            true => self.call_by_cell(function, context, args, taken),
            false => self.call_without_cell(function, context, args),
        };
        self.end_failures();
        Ok(R::from_slot(result?))
    }

    /// Whether a call with this number of arguments, which are few, enters code of a function, or code that interprets it, by its call cell, and need not look
    /// for better code.
    #[inline(always)]
    fn has_entry(&self, function: &Function<B>, count: usize) -> bool {
        self.stack.is_in_use()
            && !self.stack.is_elsewhere()
            && !function.tier.budget.is_used_up()
            && function.body().takes(count)
            && (function.code.has_good_entry() || self.has_interpreted_entry(function))
    }

    /// Whether calls enter code that interprets the function, from now on at least.
    #[inline(never)]
    fn has_interpreted_entry(&self, function: &Function<B>) -> bool {
        function.calls.enters_interpreter() || self.open_to_interpreter(function).is_some()
    }

    #[inline]
    fn call_by_cell<A: Args>(
        &self,
        function: &Function<B>,
        context: *mut B::Context,
        args: A,
        count: usize,
    ) -> Result<u64, Error> {
        let mut words = [0; MAX_REGISTER_ARGUMENTS];
        args.store(&mut words);
        self.take_back_fuel();
        self.look_for_stop(function, 0)?;
        self.calls.set(self.calls.get() + 1);
        function.code.note_use(self.calls.get());
        // SAFETY: the engine is running on this stack, with this context. Code for calls looks itself how much of the stack is left.
        let called =
            unsafe { Links::call_with_few(&self.links, function.number(), context.cast(), &words, count) };
        let result = called.expect("where there is code there are call cells");
        result.map_err(|trap| self.reason(trap, 0))
    }

    #[inline(never)]
    fn call_without_cell<A: Args>(
        &self,
        function: &Function<B>,
        context: *mut B::Context,
        args: A,
    ) -> Result<u64, Error> {
        self.run_here(function, context, args, Tier::Optimizer).map_err(without_position)
    }
}
