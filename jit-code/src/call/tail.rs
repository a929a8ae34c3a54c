//! Tail calls: the function that ends in one announces it, and it is made when that function has ended.
//!
//! In: the next function's call cell, the context and the arguments. Out: the same in the host, until the next tail call is announced. Code
//! announces a call with few arguments itself, by stores at the offsets in [`Host::PENDING`]; for all others it calls functions.

use super::{CallCell, Host, MAX_REGISTER_ARGUMENTS};
use azulejo_core::pass::build::PendingPlace;
use core::cell::{Cell, RefCell};
use core::mem::offset_of;

/// A tail call with this many arguments at most needs no memory beside the host. At least as many words are read as there are argument
/// registers.
const FEW: usize = 8;

const _: () = assert!(FEW >= MAX_REGISTER_ARGUMENTS);

/// A tail call that was announced: its function runs after the running one, within the same call.
#[repr(C)]
#[derive(Debug)]
pub(super) struct PendingTailCall {
    pub(super) cell: Cell<*const CallCell>,
    pub(super) context: Cell<*mut ()>,
    pub(super) count: Cell<usize>,
    pub(super) args: Cell<*mut u64>,
    room: [Cell<u64>; FEW],
    memory: RefCell<Vec<u64>>,
}

/// A pending tail call, kept while other functions run.
#[derive(Debug)]
pub struct SavedTailCall {
    cell: *const CallCell,
    context: *mut (),
    args: Vec<u64>,
}

impl PendingTailCall {
    pub(super) const fn nobody() -> PendingTailCall {
        PendingTailCall {
            cell: Cell::new(core::ptr::null()),
            context: Cell::new(core::ptr::null_mut()),
            count: Cell::new(0),
            args: Cell::new(core::ptr::null_mut()),
            room: [const { Cell::new(0) }; FEW],
            memory: RefCell::new(Vec::new()),
        }
    }
}

impl Host {
    /// Where code announces tail calls itself.
    pub const PENDING: &'static PendingPlace = &PendingPlace {
        shared: CallCell::HOST as u64,
        cell: Host::NEXT_CELL as u64,
        context: Host::NEXT_CONTEXT as u64,
        count: Host::NEXT_COUNT as u64,
        args: Host::NEXT_ARGS as u64,
        room: offset_of!(Host, next.room) as u64,
        most: FEW,
    };

    /// Announces a tail call of this function with `count` arguments; returns the address to write them to.
    pub fn begin_tail_call(&self, cell: &CallCell, context: *mut (), count: usize) -> *mut u64 {
        let PendingTailCall { room, memory, .. } = &self.next;
        let args = if count <= FEW {
            room.as_ptr().cast::<u64>().cast_mut()
        } else {
            let mut memory = memory.borrow_mut();
            if memory.len() < count {
                memory.resize(count.next_power_of_two(), 0);
            }
            memory.as_mut_ptr()
        };
        self.next.cell.set(cell);
        self.next.context.set(context);
        self.next.count.set(count);
        self.next.args.set(args);
        args
    }

    /// Announces a tail call of this function with these arguments.
    pub fn set_tail_call(&self, cell: &CallCell, context: *mut (), args: &[u64]) {
        let room = self.begin_tail_call(cell, context, args.len());
        // SAFETY: there is room for this many words, and no other code has the address.
        unsafe {
            if args.len() > FEW {
                return room.copy_from_nonoverlapping(args.as_ptr(), args.len());
            }
            for (at, bits) in args.iter().enumerate() {
                // Volatile, because the compiler makes a call of C's `memcpy` of all other loops, which takes longer.
                room.add(at).write_volatile(*bits);
            }
        }
    }

    /// The pending tail call's function and arguments, which are valid until the next tail call is announced.
    ///
    /// # Safety
    ///
    /// A tail call must be pending, and its call cell must still exist.
    pub unsafe fn next(&self) -> (&CallCell, &[u64]) {
        let PendingTailCall { cell, count, args, .. } = &self.next;
        // SAFETY: the caller guarantees it; the arguments are in memory that only changes when the next tail call is
        // announced.
        unsafe { (&*cell.get(), core::slice::from_raw_parts(args.get(), count.get())) }
    }

    /// Saves the pending tail call while other functions run, which may make tail calls of their own.
    pub fn save_tail_call(&self) -> SavedTailCall {
        let PendingTailCall { cell, context, .. } = &self.next;
        let args = match cell.get().is_null() {
            true => Vec::new(),
            // SAFETY: a tail call is pending. Call cells live as long as the host does.
            false => unsafe { self.next() }.1.to_vec(),
        };
        SavedTailCall { cell: cell.get(), context: context.get(), args }
    }

    /// Makes the saved tail call the pending one again.
    pub fn restore_tail_call(&self, saved: SavedTailCall) {
        let SavedTailCall { cell, context, args } = saved;
        // SAFETY: as in `save_tail_call`.
        let Some(cell) = (unsafe { cell.as_ref() }) else { return };
        self.set_tail_call(cell, context, &args);
    }
}
