//! Calls with more arguments than a function takes, and vararg functions.
//!
//! In: a call that does not simply fill VM registers. Out: its outcome, with the surplus of arguments refused, dropped, or packed
//! into one value by a function of the language's. So a vararg function has one value more, whatever tier it runs in, and no frame
//! has a size that is not known: that is why the surplus is packed where the call arrives, and not kept behind the registers. All
//! calls of such functions come here. Where the arguments then fit in the machine's registers, compiled calls go on from here into
//! the function's code, through a cell of their own. Compiled calls of a function that drops the surplus mostly do not come here:
//! entries leave the surplus where the caller has put it.

use super::code::Surplus;
use super::function::{Function, FunctionId};
use super::run::End;
use super::tiers::Tier;
use super::{Args, Engine};
use crate::Error;
use azulejo_core::ir::bytecode::Bytecode;
use azulejo_core::vocab::Trap;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::ptr::NonNull;
use std::rc::Rc;

/// A function that packs arguments.
type Pack<C> = dyn Fn(&mut C, &[u64]) -> Result<u64, Trap>;

/// What makes a value of a surplus of arguments, if anything does.
pub(super) struct Packer<B: Bytecode> {
    /// The function that was set last, which each call of a vararg function uses.
    current: Cell<Option<NonNull<Pack<B::Context>>>>,
    /// All that were set: one that runs may set another.
    all: RefCell<Vec<Rc<Pack<B::Context>>>>,
}

impl<B: Bytecode> Default for Packer<B> {
    fn default() -> Self {
        Packer { current: Cell::new(None), all: RefCell::default() }
    }
}

impl<B: Bytecode> fmt::Debug for Packer<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Packer").finish_non_exhaustive()
    }
}

impl<B: Bytecode> Engine<B> {
    /// Sets how the arguments of a call that are more than a function takes become one value, for functions with
    /// [`Surplus::Packed`]. The closure gets the bits of these arguments, of which there may be none, and returns
    /// the bits of the value. If it fails, so does the call, at the first bytecode. Without a closure all calls of such functions fail
    /// with [`Trap::BadCall`].
    ///
    /// ```
    /// # use azulejo::prelude::*;
    /// # use azulejo::Surplus;
    /// #[derive(Bytecode, Clone, Copy, Debug)]
    /// #[bytecode(context = Vm)]
    /// enum Op {
    ///     /// How many values there are in a list.
    ///     Length { dst: Out<i64>, list: In<u64> },
    ///     Return { a: In<i64> },
    /// }
    /// struct Vm {
    ///     lists: Vec<Vec<u64>>,
    /// }
    /// fn length(vm: &mut Vm, list: u64) -> i64 {
    ///     vm.lists[list as usize].len() as i64
    /// }
    /// template! {
    ///     Op::Length => (call length (arglist (carg (tc) ptr) (carg $list u64)) i64)
    ///     Op::Return => (return $a)
    /// }
    ///
    /// let engine = Engine::<Op>::new();
    /// engine.pack_surplus(|vm, arguments| {
    ///     vm.lists.push(arguments.to_vec());
    ///     Ok(vm.lists.len() as u64 - 1)
    /// });
    /// let ops = vec![Op::Length { dst: 0.into(), list: 1.into() }, Op::Return { a: 0.into() }];
    /// let count = Code::from(ops).with_arguments(1).with_surplus(Surplus::Packed);
    /// let count = engine.define("count", count, 2)?;
    /// let mut vm = Vm { lists: Vec::new() };
    /// assert_eq!(engine.call(count, &mut vm, (7i64, 8i64, 9i64)), Ok(2i64));
    /// assert_eq!(vm.lists, [[8, 9]]);
    /// assert_eq!(engine.call(count, &mut vm, ()), Ok(0i64));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn pack_surplus(&self, pack: impl Fn(&mut B::Context, &[u64]) -> Result<u64, Trap> + 'static) {
        let pack: Rc<Pack<B::Context>> = Rc::new(pack);
        self.packer.current.set(Some(NonNull::from(&*pack)));
        self.packer.all.borrow_mut().push(pack);
    }

    /// Runs a function as `run_alone` does, with more arguments than it takes, or with a surplus that is packed.
    #[inline(never)]
    pub(super) fn run_with_surplus<A: Args>(
        &self,
        function: &Function<B>,
        context: *mut B::Context,
        args: A,
        highest: Tier,
    ) -> Result<End, Error> {
        // They are in the frame of each such call that waits, and those may be thousands.
        const FEW: usize = 6;
        let body = function.body();
        let (given, most) = (args.count(), body.most_arguments() as usize);
        // All arguments, or the parameters and the pack.
        let room = given.max(most + 1);
        let (mut few, mut many) = ([0; FEW], Vec::new());
        let all = match few.get_mut(..room) {
            Some(few) => few,
            None => {
                many.resize(room, 0);
                &mut many[..]
            }
        };
        args.store(&mut all[..given]);
        let count = match body.surplus() {
            Surplus::Refused => return Err(Error::TooManyArguments { given, most: most as u32 }),
            Surplus::Dropped => given.min(most),
            Surplus::Packed => {
                let surplus = all[..given].get(most..).unwrap_or_default();
                let packed = self.pack(FunctionId(function.number()), context, surplus)?;
                all[given.min(most)..most].fill(body.missing());
                all[most] = packed;
                most + 1
            }
        };
        self.run_placed(function, context, &all[..count], highest)
    }

    /// Makes the value of a surplus of arguments, with which a function is called.
    #[inline]
    pub(super) fn pack(
        &self,
        function: FunctionId,
        context: *mut B::Context,
        surplus: &[u64],
    ) -> Result<u64, Error> {
        let packed = match self.packer.current.get() {
            // SAFETY: the engine keeps all functions that were set. The context is the running call's, and nobody else has a
            // reference to it while bytecode calls a function: whoever called the engine has lent it.
            Some(pack) => unsafe { pack.as_ref()(&mut *context, surplus) },
            None => Err(Trap::BadCall),
        };
        packed.map_err(|trap| self.has_not_packed(function, trap))
    }

    #[cold]
    #[inline(never)]
    fn has_not_packed(&self, function: FunctionId, trap: Trap) -> Error {
        self.running(function).map_or_else(|error| error, |function| self.failed(function, trap, 0))
    }
}
