//! The bytecode of a function as a program gives it, with what it promises of it.
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
    pub(super) unit: Option<usize>,
    pub(super) temporaries: Option<Temporaries>,
}

/// Which registers are temporaries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Temporaries {
    /// The first; all behind it are, too.
    pub(super) first: u32,
    /// Whether it is true without a look at the bytecode.
    pub(super) is_vouched_for: bool,
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
