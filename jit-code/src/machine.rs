//! In what machines differ, for whoever installs their code.

use crate::field::Field;
use azulejo_core::target::{Reg, RegisterFile};
use core::ffi::c_void;

/// A kind of machine. There is one of each, as long as the process.
#[derive(Debug)]
pub struct Machine {
    /// The number that ELF files know it by.
    pub elf: u16,
    /// An instruction that traps, or several; it stands wherever no code is.
    pub filler: [u8; 4],
    /// How many bytes before or behind itself an instruction can name an address in.
    pub reach: u64,
    /// How many bytes its shortest instructions have; the others have a multiple of that.
    pub unit: u8,
    /// Where its instructions have constants; those with more bits come first.
    pub immediates: &'static [Field],
    /// Has an instruction name an address by its distance.
    pub relocate: fn(Relocation<'_>),
    /// How its frames are unwound.
    pub unwinding: Unwinding,
    /// How its registers are found where a signal has interrupted code, if they can be.
    pub signals: Option<Signals>,
    /// The registers that are given out.
    pub registers: Registers,
}

/// The registers that compilers give out, unless they are told to use others.
#[derive(Clone, Copy, Debug)]
pub struct Registers {
    /// All there are.
    pub all: &'static RegisterFile,
    /// All but the one that a chain of frames starts in.
    pub but_frame_pointer: &'static RegisterFile,
    /// What stencils are made with instead of each of these: baseline code has a register left then for `(cu)`.
    pub for_stencils: [&'static RegisterFile; 2],
}

impl Registers {
    /// What stencils are made with in place of these, if that leaves a register for `(cu)`.
    pub(crate) fn for_stencils(&self, registers: &RegisterFile) -> Option<&'static RegisterFile> {
        let known = [self.all, self.but_frame_pointer];
        let known = known.iter().position(|known| core::ptr::eq(*known, registers))?;
        Some(self.for_stencils[known])
    }
}

impl Machine {
    /// Fills room so many bytes behind an instruction's start with what stands where no code is.
    pub fn fill_up(&self, room: &mut [u8], start: usize) {
        let mut pattern = self.filler;
        if pattern == [pattern[0]; 4] {
            return room.fill(pattern[0]);
        }
        pattern.rotate_left(start % 4);
        let (words, rest) = room.as_chunks_mut();
        words.fill(pattern);
        rest.copy_from_slice(&pattern[..rest.len()]);
    }
}

/// A field of an instruction that is to name an address.
#[derive(Debug)]
pub struct Relocation<'a> {
    /// The code that it is in.
    pub code: &'a mut [u8],
    /// The field's place in the code.
    pub place: usize,
    /// Where the code runs.
    pub at: usize,
    /// What is to be named; in [`Machine::reach`] of all of the code.
    pub address: u64,
}

/// How frames of a machine are unwound.
///
/// The caller's frame ends where the stack pointer was before the call. From there down a function's frame has what the call
/// pushed, then the registers that it saves, a word each and in one order.
#[derive(Debug)]
pub struct Unwinding {
    /// How DWARF numbers a register.
    pub dwarf: fn(Reg) -> u8,
    /// The column in which DWARF has the return address.
    pub return_address: u8,
    /// How many bytes a call pushes: a word with the return address, or nothing where that is in a register.
    pub pushed_by_calls: u32,
    /// The stack pointer.
    pub stack_pointer: Reg,
    /// What the frame is found by in functions that keep a chain of frames.
    pub frame_pointer: Reg,
    /// The registers that a function may save, in the order in which they stand in its frame, from the caller's down.
    pub saved: &'static [Reg],
}

/// How a signal handler reads and changes the registers of the thread that it interrupted, in what the system hands it.
#[derive(Clone, Copy, Debug)]
pub struct Signals {
    /// At which instruction the thread was.
    ///
    /// # Safety
    ///
    /// The context must be what the system gives a signal handler.
    pub program_counter: unsafe fn(context: *const c_void) -> usize,
    /// Has the thread go on elsewhere.
    ///
    /// # Safety
    ///
    /// As above, and the thread must be in code that can go on there.
    pub land: unsafe fn(context: *mut c_void, landing: &Landing),
}

/// How a function goes on that faulted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Landing {
    /// Where.
    pub at: usize,
    /// What the first register of results holds.
    pub first: u64,
    /// What the second one does.
    pub second: u64,
}

/// A machine that nobody has, whose code is never run: instructions of four bytes, and return addresses in a register.
#[cfg(test)]
pub(crate) mod toy {
    use super::*;
    use crate::call::Stubs;
    use crate::emit::{self, Options};
    use crate::memory::Finished;
    use crate::unwind::{Change, Described, StackFrame, Step};
    use azulejo_core::target::RegSet;

    const RETURN: Reg = Reg::int(30);

    pub(crate) static TOY: Machine = Machine {
        elf: 0,
        filler: [0, 1, 2, 3],
        reach: i32::MAX as u64,
        unit: 4,
        immediates: &[Field { bytes: 4, first: 10, width: 12, shift: 0 }],
        relocate: |field| {
            let Relocation { code, place, at, address } = field;
            let distance = address.wrapping_sub((at + place) as u64) as u32;
            code[place..place + 4].copy_from_slice(&distance.to_be_bytes());
        },
        unwinding: Unwinding {
            dwarf: Reg::number,
            return_address: 30,
            pushed_by_calls: 0,
            stack_pointer: Reg::int(31),
            frame_pointer: Reg::int(29),
            saved: &[RETURN, Reg::int(29), Reg::int(28)],
        },
        signals: None,
        registers: Registers { all: &NONE, but_frame_pointer: &NONE, for_stencils: [&NONE; 2] },
    };

    /// None is given out.
    static NONE: RegisterFile = RegisterFile {
        int: &[],
        float: &[],
        callee_saved: RegSet::EMPTY,
        name: |_| "none",
        abi: |_| unreachable!("nothing is called"),
    };

    pub(crate) static STUBS: Stubs = Stubs {
        register_arguments: 2,
        resolve: core::ptr::null(),
        unpack: core::ptr::null(),
        enter_next: core::ptr::null(),
        enter_next_of_cell: core::ptr::null(),
        note: core::ptr::null(),
        call: |_, _, _, _| unreachable!("nothing is called"),
        set_tail_call: core::ptr::null(),
        begin_tail_call: core::ptr::null(),
    };

    /// Saves the return address.
    #[derive(Clone, Copy, Default, Debug)]
    pub(crate) struct Frame;

    impl emit::Frame for Frame {
        fn new(_: RegSet, _: u32, _: bool, _: &Options) -> Frame {
            Frame
        }

        fn enlarged(self, _: u32) -> Frame {
            self
        }

        fn write_room(&self, _: &mut [u8]) {}
    }

    impl StackFrame for Frame {
        fn saved(&self) -> RegSet {
            RegSet::of(&[RETURN])
        }

        fn size(&self) -> u32 {
            16
        }

        fn prologue(&self, tell: &mut dyn FnMut(Step<'_>)) {
            tell(Step { len: 4, changes: &[Change::Depth(16)] });
            tell(Step { len: 4, changes: &[Change::Saved(RETURN, 8)] });
        }

        fn epilogue(&self, tell: &mut dyn FnMut(Step<'_>)) {
            tell(Step { len: 4, changes: &[Change::Restored(RETURN)] });
            tell(Step { len: 4, changes: &[Change::Depth(0)] });
            tell(Step { len: 4, changes: &[] });
        }
    }

    /// Code with these bytes.
    pub(crate) fn finished(bytes: &[u8]) -> Finished<'_> {
        let described = Described { machine: &TOY, frame: &Frame, leaves: &[], end: bytes.len() };
        Finished { bytes, addresses: &[], described }
    }
}

#[cfg(test)]
mod tests {
    use super::toy::TOY;

    #[test]
    fn what_is_not_in_use_traps_wherever_it_is_entered() {
        for (start, len) in (0..9).flat_map(|start| (0..20).map(move |len| (start, len))) {
            let mut room = vec![9; len];
            TOY.fill_up(&mut room, start);
            assert!(
                room.iter().zip(start..).all(|(byte, at)| *byte == TOY.filler[at % 4]),
                "{start}: {room:?}"
            );
        }
    }
}
