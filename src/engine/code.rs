//! The bytecode of a function as a program provides it, with the promises that the program makes about it.
//!
//! In: opcodes, lists of labels, promises. Out: a [`Code`], which the engine verifies when it defines the function.

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
    /// The lists of labels: each `Labels` operand names a run of these.
    pub labels: Vec<u32>,
    /// The maximum number of arguments; if `None`, the number of registers. See [`with_arguments`](Code::with_arguments).
    pub arguments: Option<u32>,
    /// The bits of arguments that a call does not pass. See [`with_missing`](Code::with_missing).
    pub missing: u64,
    /// What happens to more arguments than the function takes. See [`with_surplus`](Code::with_surplus).
    pub surplus: Surplus,
    /// The VM registers whose addresses others may have. See [`with_captured`](Code::with_captured).
    pub captured: Vec<u32>,
    /// The promises made by [`with_unit`](Code::with_unit) and [`with_temporaries`](Code::with_temporaries).
    pub promises: Promises,
}

/// What happens to the arguments of a call that are more than a function takes. See [`Code::with_surplus`].
///
/// ```
/// assert_eq!(azulejo::Surplus::default(), azulejo::Surplus::Refused);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Default, Hash, Debug)]
pub enum Surplus {
    /// The call fails.
    #[default]
    Refused,
    /// Nobody sees them.
    Dropped,
    /// They become one value, in the VM register behind those of the arguments. [`Engine::pack_surplus`](crate::Engine::pack_surplus)
    /// says how. That happens in each call of the function, even if there are none.
    Packed,
}

/// The promises about a function, made by the methods of [`Code`] only. By default there are none.
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
    /// The value of `(cu)` in the function's templates.
    pub(super) unit: Option<usize>,
    pub(super) temporaries: Option<Temporaries>,
}

/// Which registers are temporaries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Temporaries {
    /// The first temporary; all registers after it are temporaries, too.
    pub(super) first: u32,
    /// Whether the caller guarantees it, so that the bytecode need not be checked.
    pub(super) is_vouched_for: bool,
}

impl<B> Code<B> {
    /// Sets the value of `(cu)` in this function's templates: for example the address of data that all functions of a module
    /// share. A function with an opcode whose template uses `(cu)` cannot be defined without it.
    ///
    /// # Safety
    ///
    /// By `unsafe`, templates that use `(cu)` promise to use it correctly as the address of a unit of a certain type. `unit`
    /// must be the address of a unit of this type, and must stay valid as long as the function may run.
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

    /// Sets the maximum number of arguments. A call with more arguments fails with
    /// [`Error::TooManyArguments`](crate::Error::TooManyArguments). The optimizer then knows that all other registers are zero
    /// when the function starts: for functions with many locals, code becomes smaller and compilation faster.
    /// Arguments that a call does not pass are zero, or what [`with_missing`](Self::with_missing) says.
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

    /// Sets what arguments are that a call does not pass: the VM registers of [`with_arguments`](Self::with_arguments) without an
    /// argument start with these bits. Without `with_arguments` these are all registers. By default they are zero. In
    /// a dynamic language they are mostly its `nil`.
    ///
    /// ```
    /// # use azulejo::prelude::*;
    /// # #[derive(Bytecode, Clone, Copy, Debug)]
    /// # enum Op { Add { dst: Out<i64>, a: In<i64>, b: In<i64> }, Return { a: In<i64> } }
    /// # template! { Op::Add => (add $a $b) Op::Return => (return $a) }
    /// let ops = vec![Op::Add { dst: 2.into(), a: 0.into(), b: 1.into() }, Op::Return { a: 2.into() }];
    /// let engine = Engine::<Op>::new();
    /// let add = engine.define("add", Code::from(ops).with_arguments(2).with_missing(100), 3)?;
    /// assert_eq!(engine.call::<_, i64>(add, &mut (), (1i64, 2i64))?, 3);
    /// assert_eq!(engine.call::<_, i64>(add, &mut (), (1i64,))?, 101);
    /// assert_eq!(engine.call::<_, i64>(add, &mut (), ())?, 200);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn with_missing(mut self, bits: u64) -> Self {
        self.missing = bits;
        self
    }

    /// Sets what happens to the arguments of a call that are more than [`with_arguments`](Self::with_arguments) says: the call fails,
    /// they are dropped, or they become one value (a vararg function).
    ///
    /// ```
    /// # use azulejo::prelude::*;
    /// # use azulejo::Surplus;
    /// # #[derive(Bytecode, Clone, Copy, Debug)]
    /// # enum Op { Add { dst: Out<i64>, a: In<i64>, b: In<i64> }, Return { a: In<i64> } }
    /// # template! { Op::Add => (add $a $b) Op::Return => (return $a) }
    /// let ops = vec![Op::Add { dst: 1.into(), a: 0.into(), b: 0.into() }, Op::Return { a: 1.into() }];
    /// let engine = Engine::<Op>::new();
    /// let double = Code::from(ops).with_arguments(1).with_surplus(Surplus::Dropped);
    /// let double = engine.define("double", double, 2)?;
    /// assert_eq!(engine.call::<_, i64>(double, &mut (), (21i64, 1i64, 2i64))?, 42);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn with_surplus(mut self, surplus: Surplus) -> Self {
        self.surplus = surplus;
        self
    }

    /// Declares that others may have the addresses of these VM registers as long as the function runs, and read and write them in any call: variables
    /// of a function that closures have captured. They stay in their slots in all tiers, where `(window $run)` finds them, while all
    /// other registers are what they would be without them. When the function ends, the addresses are of nothing, so
    /// whoever has one has to copy the value before.
    ///
    /// An operand that a template reads behind a call that writes it this way, or stores before one, is what it was or is now, unless the
    /// call `observes`. No temporary can be captured.
    ///
    /// ```
    /// # use azulejo::prelude::*;
    /// #[derive(Bytecode, Clone, Copy, Debug)]
    /// #[bytecode(context = *mut i64)]
    /// enum Op {
    ///     Capture { variable: Regs },
    ///     Increase,
    ///     Return { a: In<i64> },
    /// }
    ///
    /// /// # Safety
    /// ///
    /// /// The address must be that of a captured register of a function that runs.
    /// unsafe fn increase(variable: *mut i64) {
    ///     // SAFETY: as the caller guarantees.
    ///     unsafe { *variable += 1 }
    /// }
    ///
    /// template! {
    ///     Op::Capture  => unsafe (store (tc) (window $variable) ptr)
    ///     Op::Increase => unsafe (callv increase (arglist (carg (load (tc) ptr) ptr)))
    ///     Op::Return   => (return $a)
    /// }
    ///
    /// let ops = vec![
    ///     Op::Capture { variable: Regs { first: 0, count: 1 } },
    ///     Op::Increase,
    ///     Op::Return { a: 0.into() },
    /// ];
    /// let engine = Engine::<Op>::new();
    /// let function = engine.define("f", Code::from(ops).with_captured([0]), 1)?;
    /// assert_eq!(engine.call::<_, i64>(function, &mut std::ptr::null_mut(), (41i64,))?, 42);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn with_captured(mut self, registers: impl IntoIterator<Item = u32>) -> Self {
        self.captured.extend(registers);
        self
    }

    /// Declares this VM register and all after it to be temporaries: each value in them is read at most once, by one operand
    /// of one bytecode. Values that one operation passes to the next are of this kind. If the very next bytecode reads the
    /// value, baseline code leaves it in a machine register and does not write it to its slot. So once a temporary was read,
    /// its slot may hold anything.
    ///
    /// The declaration is checked when the function is defined; if it is wrong, the error is
    /// [`Fault::ReadAgain`](crate::Fault). If a function has so many registers and jumps that the check would take long, it is
    /// compiled as if nothing had been declared.
    /// [`with_temporaries_unchecked`](Self::with_temporaries_unchecked) is for compilers that can guarantee it.
    ///
    /// An operand that is a run of registers to be written counts as a write of all of them. Code that inspects all registers
    /// of a frame, as a garbage collector may, finds stale values in temporaries that were read.
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

    /// Like [`with_temporaries`](Self::with_temporaries), but without the check, so that defining a function takes less time.
    /// Debug builds check all the same.
    ///
    /// # Safety
    ///
    /// The declaration must be true. Otherwise a function may read other values than its bytecode specifies, and the
    /// conditions that a template's `unsafe` relies on may not hold.
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
        let (missing, surplus, promises) = (0, Surplus::default(), Promises::default());
        let (labels, captured) = (Vec::new(), Vec::new());
        Code { ops, labels, arguments: None, missing, surplus, captured, promises }
    }
}

impl<B: Clone> From<&[B]> for Code<B> {
    fn from(ops: &[B]) -> Self {
        ops.to_vec().into()
    }
}
