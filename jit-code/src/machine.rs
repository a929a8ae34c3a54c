//! The data in which machines differ, for the code that installs machine code.

use crate::field::Field;
use azulejo_core::target::{Reg, RegisterFile};
use core::ffi::c_void;

/// A kind of machine. There is one static for each.
#[derive(Debug)]
pub struct Machine {
    /// The machine's number in ELF files.
    pub elf: u16,
    /// One or more instructions that trap; they fill memory that holds no code.
    pub filler: [u8; 4],
    /// How far, in bytes, an address may be from an instruction that names it by its distance.
    pub reach: u64,
    /// The size of its shortest instructions in bytes; all others have a multiple of it.
    pub unit: u8,
    /// The fields in which its instructions have constants; wider ones come first.
    pub immediates: &'static [Field],
    /// The field by which an instruction names an address outside of the code, as a distance, and where the distance counts
    /// from, as an offset from the start of the field's bytes.
    pub named: (Field, u8),
    /// How its frames are unwound.
    pub unwinding: Unwinding,
    /// How a signal handler accesses the registers of interrupted code, if the machine supports it.
    pub signals: Option<Signals>,
    /// The allocatable registers.
    pub registers: Registers,
}

/// The registers that compilers allocate by default.
#[derive(Clone, Copy, Debug)]
pub struct Registers {
    /// All allocatable registers.
    pub all: &'static RegisterFile,
    /// All but the frame pointer.
    pub but_frame_pointer: &'static RegisterFile,
    /// For each of the two sets above, the one that stencils are made with: it leaves a register free for `(cu)` in baseline
    /// code.
    pub for_stencils: [&'static RegisterFile; 2],
    /// The same for bytecode that pins constants: these keep the registers of [`CallRegisters::pinned`](crate::emit::assembler::CallRegisters::pinned).
    pub for_pinning: [&'static RegisterFile; 2],
    /// The one that opcodes are made with for an interpreter: it leaves free the registers in which interpreted code keeps what it
    /// needs, and the frame pointer. None on machines that have too few.
    pub for_interpreters: Option<&'static RegisterFile>,
}

impl Registers {
    /// The registers that stencils are made with in place of these, if that leaves a register for `(cu)`, and those of constants if
    /// some are pinned.
    pub(crate) fn for_stencils(
        &self,
        registers: &RegisterFile,
        are_pinned: bool,
    ) -> Option<&'static RegisterFile> {
        let known = [self.all, self.but_frame_pointer];
        let known = known.iter().position(|known| core::ptr::eq(*known, registers))?;
        Some(if are_pinned { self.for_pinning[known] } else { self.for_stencils[known] })
    }
}

impl Machine {
    /// Makes the instruction at offset `place` of code name an address. The code runs at `at`, and the address is within
    /// [`reach`](Self::reach) of all of it.
    pub(crate) fn relocate(&self, code: &mut [u8], place: usize, at: usize, address: u64) {
        let (field, base) = self.named;
        let distance = address.wrapping_sub((at + place + base as usize) as u64) as i64;
        assert!(field.fits(distance), "code is emitted for the memory it goes to");
        field.put(&mut code[place..], distance as u64);
    }

    /// Fills unused memory with instructions that trap; the memory begins `start` bytes behind the start of an instruction.
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

/// How frames of a machine are unwound.
///
/// The caller's frame ends at the value that the stack pointer had before the call. Below it are the word that the call pushed,
/// if it pushes one, and then the registers that the function saves, a word each and in a fixed order.
#[derive(Debug)]
pub struct Unwinding {
    /// Maps a register to its DWARF number.
    pub dwarf: fn(Reg) -> u8,
    /// The DWARF column of the return address.
    pub return_address: u8,
    /// How many bytes a call pushes: a word with the return address, or nothing if that is in a register.
    pub pushed_by_calls: u32,
    /// The stack pointer.
    pub stack_pointer: Reg,
    /// The register by which functions that keep a chain of frames find theirs.
    pub frame_pointer: Reg,
    /// The registers that a function may save, in the order of its frame, from the caller's frame down.
    pub saved: &'static [Reg],
}

/// How a signal handler reads and changes the registers of the interrupted thread, in the context that the system passes.
#[derive(Clone, Copy, Debug)]
pub struct Signals {
    /// The instruction at which the thread was interrupted.
    ///
    /// # Safety
    ///
    /// The context must be the one that the system passed to a signal handler.
    pub program_counter: unsafe fn(context: *const c_void) -> usize,
    /// Makes the thread resume elsewhere.
    ///
    /// # Safety
    ///
    /// The context must be the one that the system passed to a signal handler, and the thread must be in code that can resume
    /// there.
    pub land: unsafe fn(context: *mut c_void, landing: &Landing),
}

/// Where and how a function resumes after a fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Landing {
    /// The address.
    pub at: usize,
    /// The value of the first result register.
    pub first: u64,
    /// The value of the second result register.
    pub second: u64,
}

/// A fictional machine, whose code is never run: instructions of four bytes, and return addresses in a register.
#[cfg(test)]
pub(crate) mod toy {
    use super::*;
    use crate::call::Stubs;
    use crate::emit::{self, Options};
    use crate::memory::Finished;
    use crate::unwind::{Change, Described, MADE_AT_ONCE, StackFrame, Step};
    use azulejo_core::target::RegSet;

    const RETURN: Reg = Reg::int(30);

    pub(crate) static TOY: Machine = Machine {
        elf: 0,
        filler: [0, 1, 2, 3],
        reach: i32::MAX as u64,
        unit: 4,
        immediates: &[Field { bytes: 4, first: 10, width: 12, shift: 0 }],
        named: (Field::WORD, 4),
        unwinding: Unwinding {
            dwarf: Reg::number,
            return_address: 30,
            pushed_by_calls: 0,
            stack_pointer: Reg::int(31),
            frame_pointer: Reg::int(29),
            saved: &[RETURN, Reg::int(29), Reg::int(28)],
        },
        signals: None,
        registers: Registers {
            all: &NONE,
            but_frame_pointer: &NONE,
            for_stencils: [&NONE; 2],
            for_pinning: [&NONE; 2],
            for_interpreters: None,
        },
    };

    /// No register is allocated.
    static NONE: RegisterFile = RegisterFile {
        int: &[],
        float: &[],
        callee_saved: RegSet::EMPTY,
        kept: RegSet::EMPTY,
        name: |_| "none",
        abi: |_| unreachable!("nothing is called"),
    };

    pub(crate) static STUBS: Stubs = Stubs {
        register_arguments: 2,
        resolve: core::ptr::null(),
        pack: core::ptr::null(),
        unpack: core::ptr::null(),
        enter_next: core::ptr::null(),
        enter_next_of_cell: core::ptr::null(),
        note: core::ptr::null(),
        refuse: core::ptr::null(),
        call: |_, _, _, _| unreachable!("nothing is called"),
        set_tail_call: core::ptr::null(),
        begin_tail_call: core::ptr::null(),
        caught: core::ptr::null(),
        interpreted: None,
    };

    /// A frame that saves the return address.
    #[derive(Clone, Copy, Default, Debug)]
    pub(crate) struct Frame;

    impl emit::Frame for Frame {
        fn new(_: RegSet, _: u32, _: bool, _: &Options) -> Frame {
            Frame
        }

        fn enlarged(self, _: u32) -> Frame {
            self
        }

        fn resizable(self) -> Frame {
            self
        }

        fn has_short_epilogue(&self) -> bool {
            false
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
        let described =
            Described { machine: &TOY, frame: &Frame, frames: MADE_AT_ONCE, leaves: &[], end: bytes.len() };
        Finished { bytes, addresses: &[], described }
    }
}

#[cfg(test)]
mod tests {
    use super::toy::TOY;
    use crate::memory::reach::Reach;

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

    #[test]
    fn a_distance_fits_from_the_first_byte_to_the_last() {
        let (start, size) = (0x40_0000_0000, 0x1000);
        let reach = Reach::of(start, size, TOY.reach);
        let mut code = [0; 0x1000];
        let end = start as u64 + size as u64;
        for address in [end - 0x7fff_ffff, start as u64, end, start as u64 + 0x7fff_fffe] {
            assert!(reach.covers(address), "{address:x}");
            for place in [0, size - 4] {
                TOY.relocate(&mut code, place, start, address);
                let distance = i32::from_le_bytes(code[place..place + 4].try_into().expect("four bytes"));
                assert_eq!((start + place + 4) as i64 + distance as i64, address as i64);
            }
        }
        for address in [0, end - 0x8000_0000, start as u64 + 0x7fff_ffff, u64::MAX] {
            assert!(!reach.covers(address), "{address:x}");
        }
        assert!(!Reach::default().covers(0));
        let low = Reach::of(0x1000, 0x1000, TOY.reach);
        assert!(low.covers(0), "the lowest addresses are in reach of low code");
    }
}
