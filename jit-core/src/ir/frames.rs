//! Frames that are shown: a list through which a Rust function finds the frames of all functions that wait for a call.
//!
//! In: a function of bytecode, before and behind each call that observes. Out: a [`ShownFrame`] in the function's own frame, behind the
//! slots of its registers, linked to the one that was shown before. A word of the engine leads to the newest. Holds: while a call that
//! observes runs, all registers of the caller's frame are in their slots, and the frame is in the list.
//!
//! The list needs no unwinding: it is the same in all tiers and on all machines, and goes through whatever Rust functions are in
//! between. It costs a call that observes five stores and two loads, and only in a language in which some template passes
//! `(frames)` to a function. A failing call does not take its frame out of the list: whoever goes on does, a caller that catches the failure
//! or the call of Rust that began it all.

use super::bytecode::Machine;
use core::mem::offset_of;

/// A frame that is shown, as it stands in the frame itself.
#[repr(C)]
#[derive(Debug)]
pub struct ShownFrame {
    /// The address of the frame that was shown before, and still is; zero if there is none.
    pub before: u64,
    /// What the function's [`ShowPlan::layout`] says, [`ONLY_READ`](Self::ONLY_READ) and [`BY_DISTANCE`](Self::BY_DISTANCE).
    pub layout: u64,
    /// The bytecode that makes the call: its number, or its distance.
    pub bytecode: u32,
    /// Which of the calls that observe in the bytecode's template it is.
    pub call: u32,
}

/// How many slots a [`ShownFrame`] takes.
pub const SHOWN_SLOTS: u32 = (size_of::<ShownFrame>() / 8) as u32;

const _: () = assert!(
    size_of::<ShownFrame>() == 24 && offset_of!(ShownFrame, call) == ShownFrame::BYTECODE as usize + 4
);

impl ShownFrame {
    /// Offset of the frame that was shown before.
    pub const BEFORE: u64 = offset_of!(ShownFrame, before) as u64;
    /// Offset of the layout.
    pub const LAYOUT: u64 = offset_of!(ShownFrame, layout) as u64;
    /// Offset of the bytecode, a number of 32 bits. The number of the call follows it.
    pub const BYTECODE: u64 = offset_of!(ShownFrame, bytecode) as u64;
    /// The bit of the layout that is set if the code behind the call does not read registers again: nobody may write them.
    pub const ONLY_READ: u64 = 1;
    /// The bit of the layout that is set if the bytecode is told by its distance from the function's first, in bytes: so does code that
    /// interprets it, and would have to divide.
    pub const BY_DISTANCE: u64 = 2;
    /// Offset of the number of the call.
    pub const CALL: u64 = offset_of!(ShownFrame, call) as u64;
}

/// How a function shows its frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ShowPlan {
    /// The address of the word that leads to the newest of the frames that are shown.
    pub newest: u64,
    /// What says of which function a frame is, a multiple of 4. Its meaning is up to who reads the list.
    pub layout: u64,
    /// The first of the slots in which the [`ShownFrame`] stands.
    pub slot: u32,
}

impl ShowPlan {
    /// How far the [`ShownFrame`] is from the frame's first slot, in bytes.
    pub fn offset(&self) -> u64 {
        self.slot as u64 * 8
    }

    /// Shows a frame, which has these slots, for the interpreter.
    ///
    /// # Safety
    ///
    /// The word must exist, and the frame have [`SHOWN_SLOTS`] slots from the plan's on.
    #[inline]
    pub unsafe fn show(&self, slots: *mut u64, bytecode: u32, call: u32) {
        let newest = core::ptr::with_exposed_provenance_mut::<u64>(self.newest as usize);
        // SAFETY: the caller guarantees it.
        unsafe {
            let shown = slots.add(self.slot as usize).cast::<ShownFrame>();
            shown.write(ShownFrame { before: *newest, layout: self.layout, bytecode, call });
            *newest = shown.expose_provenance() as u64;
        }
    }

    /// Ends what [`show`](Self::show) began.
    ///
    /// # Safety
    ///
    /// As for `show`, and the frame must be shown.
    #[inline]
    pub unsafe fn hide(&self, slots: *mut u64) {
        let newest = core::ptr::with_exposed_provenance_mut::<u64>(self.newest as usize);
        // SAFETY: the caller guarantees it.
        unsafe { *newest = (*slots.add(self.slot as usize).cast::<ShownFrame>()).before };
    }
}

/// The number of the first call that observes in a template whose bytecodes become others. No other opcode's calls have these numbers:
/// whoever sees a frame knows by which opcode the call is made, though the bytecode may be another one by now.
pub const fn first_call(opcode: usize) -> u32 {
    (opcode as u32 + 1) << u16::BITS
}

/// The number by which a call is known whose number a frame shows, where the bytecode was defined as another one than it is now. Opcodes that
/// become no others share numbers, but a bytecode that has become such a one stays it.
pub fn call_of(shown: u32, defined: usize, now: usize) -> u32 {
    if defined == now || shown >= first_call(0) { shown } else { first_call(now) | shown }
}

impl<C> Machine<'_, C> {
    /// Shows the frame to a call that observes, which is the template's call of this number.
    ///
    /// # Safety
    ///
    /// The requirements of [`Bytecode::interpret`](super::bytecode::Bytecode::interpret).
    #[inline]
    pub unsafe fn show_frame(&self, bytecode: u32, call: u32) {
        if let Some(plan) = self.show {
            // SAFETY: the caller guarantees it.
            unsafe { plan.show(self.frame, bytecode, call) };
        }
    }

    /// Ends what [`show_frame`](Self::show_frame) began.
    ///
    /// # Safety
    ///
    /// The requirements of [`Bytecode::interpret`](super::bytecode::Bytecode::interpret), and the frame must be shown.
    #[inline]
    pub unsafe fn hide_frame(&self) {
        if let Some(plan) = self.show {
            // SAFETY: the caller guarantees it.
            unsafe { plan.hide(self.frame) };
        }
    }

    /// The newest of the frames that are shown, before a call to which this one is not, and which may fail while the function goes on.
    ///
    /// # Safety
    ///
    /// The requirements of [`Bytecode::interpret`](super::bytecode::Bytecode::interpret).
    #[inline]
    pub unsafe fn newest_frame(&self) -> u64 {
        // SAFETY: the caller guarantees that the word exists.
        self.newest().map_or(0, |newest| unsafe { *newest })
    }

    /// Behind such a call, which has left frames in the list if it has failed.
    ///
    /// # Safety
    ///
    /// As for `newest_frame`, which has given this frame.
    #[inline]
    pub unsafe fn set_newest_frame(&self, frame: u64) {
        if let Some(newest) = self.newest() {
            // SAFETY: as above.
            unsafe { *newest = frame };
        }
    }

    #[inline]
    fn newest(&self) -> Option<*mut u64> {
        self.show.map(|plan| core::ptr::with_exposed_provenance_mut(plan.newest as usize))
    }

    /// The value of `(frames)`.
    #[inline]
    pub fn frames(&self) -> i64 {
        self.show.map_or(0, |plan| plan.newest as i64)
    }
}
