//! Where inlined functions are in a function's code: which bytecode each place belongs to, and what its callers wait for.
//!
//! A function in which others are inlined is one list of bytecodes: those of a callee follow the call. A *place* is a number in that
//! list. It is the origin of nodes and instructions, in ascending order like the numbers of bytecodes, which it is if nothing is
//! inlined. Each inlined call has a frame of its own, whose VM registers have numbers behind those of all frames before it.
//!
//! Calls that could have been inlined, and are not, are listed with the reason, for people.
//!
//! **Invariant:** the caller of a frame comes before it, and has lower registers.

use crate::vocab::Type;

/// An inlined call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InlinedFrame {
    /// The number of the function that is called.
    pub function: u32,
    /// The address of its call cell.
    pub cell: u64,
    /// The number of its first VM register.
    pub first_register: u32,
    /// How many VM registers it has, with its operand stack.
    pub slots: u32,
    /// The frame of the caller; 0 is that of the function itself.
    pub caller: u32,
    /// The bytecode of the caller that makes the call. The caller goes on at the next one.
    pub call: u32,
    /// Which of the calls that show their frame it is in the template of that bytecode, if it does.
    pub shown: Option<u32>,
    /// The VM register that gets the result, if one does: its number among all, and the type that the result is read as.
    pub result: Option<(u32, Type)>,
}

/// Why a call is not inlined, though it is known which function it calls.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum InlineRefusal {
    /// The callee has more bytecodes than callees may have, or than they may have where the call is in an inlined function.
    Long,
    /// The call is in as many inlined functions as there may be in each other.
    Deep,
    /// The function has as many bytecodes or registers of others as it may have.
    Full,
    /// The call is in an inlined call of the same function.
    Recursive,
    /// It passes more arguments than the callee takes, or than are passed in an inlined call; or the callee gets them packed.
    Arguments,
    /// The callee's bytecode needs a frame of its own.
    NeedsFrame,
    /// The callee has accesses whose faults are noted for one function only.
    Guarded,
}

impl InlineRefusal {
    /// Every reason.
    pub const ALL: [InlineRefusal; 7] = [
        InlineRefusal::Long,
        InlineRefusal::Deep,
        InlineRefusal::Full,
        InlineRefusal::Recursive,
        InlineRefusal::Arguments,
        InlineRefusal::NeedsFrame,
        InlineRefusal::Guarded,
    ];

    /// In a few words.
    ///
    /// ```
    /// # use azulejo_core::ir::inlining::InlineRefusal;
    /// assert_eq!(InlineRefusal::Long.reason(), "too long");
    /// ```
    pub const fn reason(self) -> &'static str {
        match self {
            InlineRefusal::Long => "too long",
            InlineRefusal::Deep => "too deep",
            InlineRefusal::Full => "enough is inlined",
            InlineRefusal::Recursive => "recursive",
            InlineRefusal::Arguments => "its arguments do not fit",
            InlineRefusal::NeedsFrame => "it needs a frame",
            InlineRefusal::Guarded => "its faults are noted",
        }
    }
}

/// A call that is not inlined, though it is known which function it calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RefusedCall {
    /// The number of the function that is called.
    pub function: u32,
    /// The frame of the caller; 0 is that of the function itself.
    pub caller: u32,
    /// The bytecode of the caller that makes the call.
    pub call: u32,
    /// Why it is not inlined.
    pub refusal: InlineRefusal,
}

/// All inlined calls of a function. Empty if there are none.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Inlining {
    /// The frames. The first is that of the function itself, and means nothing else.
    pub frames: Vec<InlinedFrame>,
    /// For each place the frame, and the bytecode of its function.
    pub places: Vec<(u32, u32)>,
    /// How many slots the function has in memory for the VM registers of inlined calls, from the first of these on, because frames of such
    /// calls are shown: none, or at least as many as there are up to the last frame that is.
    pub shown_slots: u32,
    /// The calls that could have been inlined, in the order of the places of their bytecodes. Of a bytecode with several calls of one
    /// function there may be several. There may be some where nothing is inlined.
    pub refused: Vec<RefusedCall>,
}

impl Inlining {
    /// Removes all calls, and keeps the memory.
    pub fn clear(&mut self) {
        self.frames.clear();
        self.places.clear();
        self.shown_slots = 0;
        self.refused.clear();
    }

    /// The calls of a place's bytecode that could have been inlined.
    pub fn refused_at(&self, place: u32) -> impl Iterator<Item = &RefusedCall> {
        let (frame, at) = self.place(place);
        self.refused.iter().filter(move |refused| (refused.caller, refused.call) == (frame, at))
    }

    /// Whether nothing is inlined.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// The frame and the bytecode of a place.
    #[inline(always)]
    pub fn place(&self, place: u32) -> (u32, u32) {
        self.places.get(place as usize).copied().unwrap_or((0, place))
    }

    /// The frames that a frame is in, each with the bytecode of its caller that waits for it: the innermost first, which is the frame
    /// itself. The function's own is not among them.
    pub fn around(&self, frame: u32) -> impl Iterator<Item = &InlinedFrame> {
        self.numbers_around(frame).filter_map(|frame| self.frames.get(frame as usize))
    }

    /// The numbers of these frames.
    pub fn numbers_around(&self, frame: u32) -> impl Iterator<Item = u32> + use<'_> {
        let caller = |frame: &u32| Some(self.frames.get(*frame as usize)?.caller);
        core::iter::successors(Some(frame), caller).take_while(|frame| *frame > 0)
    }

    /// Whether a register belongs to a frame, to one that it is in, or to the function itself.
    pub fn is_seen(&self, frame: u32, register: u32) -> bool {
        let is_own = self.frames.first().is_some_and(|own| register < own.slots);
        let is_in = |frame: &InlinedFrame| {
            (frame.first_register..frame.first_register + frame.slots).contains(&register)
        };
        is_own || self.around(frame).any(is_in)
    }

    /// A place as traces name it: `@7` for a bytecode of the function itself, and `f3:2 @7` for bytecode 2 of function 3, which bytecode 7
    /// calls.
    pub fn name(&self, place: u32) -> String {
        let (frame, mut at) = self.place(place);
        let mut name = String::new();
        for InlinedFrame { function, call, .. } in self.around(frame) {
            name += &format!("f{function}:{at} ");
            at = *call;
        }
        name + &format!("@{at}")
    }

    /// The bytecode of the function itself that a place belongs to: that of the call, if it is in an inlined function.
    #[inline]
    pub fn outermost(&self, place: u32) -> u32 {
        if self.is_empty() {
            return place;
        }
        let (frame, at) = self.place(place);
        self.around(frame).last().map_or(at, |outermost| outermost.call)
    }
}

/// A frame of an inlined function that control has left in its middle.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LeftFrame {
    /// The number of the function.
    pub function: u32,
    /// The bytecode of its caller that has called it.
    pub call: u32,
    /// Which of the calls that show their frame it is in the template of that bytecode, if it does: then the caller's frame has to be shown
    /// while the function runs on.
    pub shown: Option<u32>,
    /// The VM register of its caller that gets its result, if one does, and the type that the result is read as.
    pub result: Option<(u32, Type)>,
    /// The bytecode where it goes on.
    pub at: u32,
    /// The VM registers that are alive, and their contents. All others are zero.
    pub registers: Vec<(u32, u64)>,
}

/// The frames of inlined functions that control has left, from the outermost to the innermost.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LeftFrames {
    /// The frames.
    pub frames: Vec<LeftFrame>,
    /// Whether the innermost lacked a slow path.
    pub is_miss: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_belong_to_bytecodes_of_callers() {
        let frame = |function, first_register, caller, call| InlinedFrame {
            function,
            cell: 0,
            first_register,
            slots: 2,
            caller,
            call,
            shown: None,
            result: None,
        };
        let mut inlining = Inlining::default();
        assert!(inlining.is_empty());
        assert_eq!((inlining.place(7), inlining.outermost(7)), ((0, 7), 7));
        inlining.frames.extend([frame(9, 0, 0, 0), frame(5, 3, 0, 1), frame(6, 5, 1, 0)]);
        inlining.places.extend([(0, 0), (0, 1), (1, 0), (2, 0), (1, 1), (0, 2)]);
        let outermost: Vec<u32> = (0..6).map(|place| inlining.outermost(place)).collect();
        assert_eq!(outermost, [0, 1, 1, 1, 1, 2]);
        assert_eq!([3, 4, 5].map(|place| inlining.name(place)), ["f6:0 f5:0 @1", "f5:1 @1", "@2"]);
        let functions: Vec<u32> = inlining.around(2).map(|frame| frame.function).collect();
        assert_eq!(functions, [6, 5]);
        assert_eq!(inlining.around(0).count(), 0);
        assert!(
            inlining.is_seen(1, 4)
                && !inlining.is_seen(1, 5)
                && inlining.is_seen(2, 3)
                && inlining.is_seen(0, 1)
        );
        inlining.clear();
        assert!(inlining.is_empty());
    }
}
