//! Exits with a frame state: where the values of VM registers are when compiled code is left.
//!
//! In: for each exit of a function, a status and the place of each value. Out: [`Records`], a few bytes for each value, and the
//! code that reads them when an exit is taken and stores the values in the frame's slots. So an exit is two instructions: one
//! notes its record, and one jumps to code that all exits of the function share. That code saves all registers in a [`RegisterDump`].
//!
//! A record is a sequence of numbers, most of them one byte: the status, the distance from the stack pointer to the frame plus one (or
//! zero, if the first value is the frame's address), the place of the first value, and then, for each VM register, twice one more than
//! its distance from the one before, plus one if it gets a box, the kind if so, and its place; a zero ends it. A place starts with a byte: what it is in the upper three bits, and a
//! register or a type in the others.
//!
//! An exit in an inlined function leaves several frames. Its record goes on behind the zero: how many inlined calls there are, twice, plus one
//! if a slow path was left out; and for each, from the outermost to the innermost, the function, the bytecode of its caller, the number of the call that shows the caller's
//! frame there plus one (or zero), the register of its caller that gets its result plus one, times eight, plus the type that the result is read as (or zero), the bytecode where it goes on, and its registers as above. These frames
//! are in no memory. They are kept for the thread until somebody [takes](take_inlined) them.

use azulejo_core::ir::inlining::{LeftFrame, LeftFrames};
use azulejo_core::ir::state::{Boxes, StateRegister};
use azulejo_core::ir::status::Left;
use azulejo_core::vocab::Type;
use core::cell::RefCell;

/// The place of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Held {
    /// In a register of the type's class.
    Register(u8, Type),
    /// In memory, this many bytes above the stack pointer.
    Stack(u32, Type),
    /// These bits.
    Constant(u64),
}

/// The frame in whose slots an exit stores.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FrameAt {
    /// The first value is its address.
    First,
    /// It is this many bytes above the stack pointer.
    Stack(u32),
}

/// The contents of all registers, by class and number.
#[repr(C)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterDump {
    /// Those of integer registers.
    pub ints: [u64; 32],
    /// The low 64 bits of float registers.
    pub floats: [u64; 32],
}

/// What code returns after it has stored the values.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Exited {
    /// The status of the exit.
    pub status: u64,
    /// The first value: the frame's address, or else the context.
    pub first: u64,
}

thread_local! {
    /// What was left last, until somebody takes it: before any other code runs.
    static LEFT: RefCell<LeftFrames> = RefCell::default();
}

/// The frames that the exit has left which was taken last on this thread, if its status was [`Inlined`](crate::status::Status::Inlined).
pub fn take_inlined() -> LeftFrames {
    LEFT.with(RefCell::take)
}

/// The records of a function's exits.
#[derive(Clone, Debug, Default)]
pub struct Records {
    bytes: Vec<u8>,
    boxes: Boxes,
}

/// What a place is, besides a register of one of the types.
const STACK: u8 = 6;
const CONSTANT: u8 = 7;

impl Records {
    /// Without records. Boxes of values are made like this.
    pub fn new(boxes: Boxes) -> Records {
        Records { bytes: Vec::new(), boxes }
    }

    /// Adds a record; returns its number. The VM registers must be in ascending order.
    pub fn add(
        &mut self,
        status: u64,
        frame: FrameAt,
        first: Held,
        values: impl Iterator<Item = (StateRegister, Held)>,
    ) -> u32 {
        let start = self.bytes.len() as u32;
        self.number(status);
        self.number(match frame {
            FrameAt::First => 0,
            FrameAt::Stack(offset) => offset as u64 + 1,
        });
        self.place(first);
        self.registers(values);
        start
    }

    /// Continues the record that was added last: the inlined calls that are left, from the outermost to the innermost. Of each frame,
    /// `registers` is empty; they follow, with the places of their values.
    pub fn add_inlined<V: Iterator<Item = (StateRegister, Held)>>(
        &mut self,
        is_miss: bool,
        frames: impl ExactSizeIterator<Item = (LeftFrame, V)>,
    ) {
        self.number((frames.len() as u64) << 1 | is_miss as u64);
        for (LeftFrame { function, call, shown, result, at, .. }, values) in frames {
            let result = result.map_or(0, |(register, ty)| (register as u64 + 1) << 3 | ty as u64);
            let shown = shown.map_or(0, |call| call as u64 + 1);
            [function as u64, call as u64, shown, result, at as u64]
                .into_iter()
                .for_each(|number| self.number(number));
            self.registers(values);
        }
    }

    fn registers(&mut self, values: impl Iterator<Item = (StateRegister, Held)>) {
        let mut next = 0;
        for (StateRegister { register, kind }, held) in values {
            debug_assert!(register >= next, "registers are in ascending order");
            self.number(((register - next) as u64 + 1) << 1 | kind.is_some() as u64);
            self.bytes.extend(kind);
            self.place(held);
            next = register + 1;
        }
        self.number(0);
    }

    /// How many bytes the records take.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Seven bits in each byte; the highest bit says that more follow.
    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }

    fn place(&mut self, held: Held) {
        match held {
            Held::Register(number, ty) => {
                debug_assert!(number < 32);
                self.bytes.push((ty as u8) << 5 | number);
            }
            Held::Stack(offset, ty) => {
                self.bytes.push(STACK << 5 | ty as u8);
                self.number(offset as u64);
            }
            Held::Constant(bits) => {
                self.bytes.push(CONSTANT << 5);
                self.number(bits);
            }
        }
    }

    /// Stores the values of an exit in the slots of its frame.
    ///
    /// # Safety
    ///
    /// `record` must be the number of a record. The registers and the stack must be as they were at the exit that it was added for,
    /// and the frame must have slots for all VM registers of the record.
    pub unsafe fn leave(&self, record: u32, registers: &RegisterDump, stack: *mut u8) -> Exited {
        let mut reader = Reader { bytes: &self.bytes[record as usize..], registers, stack };
        let status = reader.number();
        let frame = reader.number();
        // SAFETY: the caller guarantees that the places of the record are valid.
        let first = unsafe { reader.value() };
        let slot: *mut u64 = match frame.checked_sub(1) {
            None => core::ptr::with_exposed_provenance_mut(first as usize),
            Some(offset) => stack.wrapping_add(offset as usize).cast(),
        };
        // SAFETY: the caller guarantees that the places are valid, and that the frame has these slots.
        unsafe {
            reader.registers(self.boxes, |register, bits| slot.wrapping_add(register as usize).write(bits));
        }
        if Left::of(status) == Some(Left::Inlined) {
            // SAFETY: as above.
            let left = unsafe { reader.inlined(self.boxes) };
            LEFT.with(|known| *known.borrow_mut() = left);
        }
        Exited { status, first }
    }
}

/// Reads a record.
struct Reader<'a> {
    bytes: &'a [u8],
    registers: &'a RegisterDump,
    stack: *const u8,
}

impl Reader<'_> {
    /// Visits the VM registers of a frame, with what each gets.
    ///
    /// # Safety
    ///
    /// Places on the stack must be readable.
    unsafe fn registers(&mut self, boxes: Boxes, mut visit: impl FnMut(u32, u64)) {
        let mut register = 0;
        while let step = self.number()
            && let Some(distance) = (step >> 1).checked_sub(1)
        {
            let kind = (step & 1 != 0).then(|| self.byte());
            register += distance as u32;
            // SAFETY: the caller guarantees it.
            visit(register, boxes.slot(kind, unsafe { self.value() }));
            register += 1;
        }
    }

    /// The frames of inlined functions.
    ///
    /// # Safety
    ///
    /// Places on the stack must be readable.
    unsafe fn inlined(&mut self, boxes: Boxes) -> LeftFrames {
        let count = self.number();
        let mut left =
            LeftFrames { frames: Vec::with_capacity(count as usize >> 1), is_miss: count & 1 != 0 };
        for _ in 0..count >> 1 {
            let [function, call, shown, result, at] = [(); 5].map(|()| self.number() as u32);
            let shown = shown.checked_sub(1);
            let result =
                (result >> 3).checked_sub(1).map(|register| (register, Type::ALL[result as usize & 7]));
            let mut frame = LeftFrame { function, call, shown, result, at, registers: Vec::new() };
            // SAFETY: the caller guarantees it.
            unsafe { self.registers(boxes, |register, bits| frame.registers.push((register, bits))) };
            left.frames.push(frame);
        }
        left
    }

    fn byte(&mut self) -> u8 {
        let (&first, rest) = self.bytes.split_first().expect("a record ends with a zero");
        self.bytes = rest;
        first
    }

    fn number(&mut self) -> u64 {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = self.byte();
            number |= ((byte & 0x7f) as u64) << shift;
            shift += 7;
            if byte < 0x80 {
                return number;
            }
        }
    }

    /// The value at the place that comes next, with zeros above a narrow one.
    ///
    /// # Safety
    ///
    /// A place on the stack must be readable.
    unsafe fn value(&mut self) -> u64 {
        let byte = self.byte();
        let number = (byte & 31) as usize;
        match byte >> 5 {
            CONSTANT => self.number(),
            STACK => {
                let ty = Type::ALL[number];
                let offset = self.number() as usize;
                // SAFETY: the caller guarantees it; spilled values take whole words.
                ty.truncate(unsafe { self.stack.wrapping_add(offset).cast::<u64>().read() })
            }
            ty => {
                let ty = Type::ALL[ty as usize];
                let file = if ty.is_float() { &self.registers.floats } else { &self.registers.ints };
                ty.truncate(file[number])
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use azulejo_core::ir::kinds::{Formula, Term, ValueKind};
    use azulejo_core::vocab::{Op, Sig};

    /// A kind whose boxes are the negative of what is in them.
    const NEGATED: ValueKind = {
        const WORD: Sig = Sig { from: Type::Void, ty: Type::I64 };
        const TERM: Term = Term { op: Op::NEG, sig: WORD, inputs: &[0], imm: 0 };
        const NOTHING: Formula = Formula { terms: &[] };
        const BOX: Formula = Formula { terms: &[TERM] };
        ValueKind { name: "negated", ty: Type::I64, is: NOTHING, unbox: BOX, make_box: BOX }
    };

    #[test]
    fn values_go_to_their_slots() {
        let mut dump = RegisterDump { ints: [0; 32], floats: [0; 32] };
        dump.ints[31] = u64::MAX;
        dump.ints[3] = 0x1234_5678_9abc_def0;
        dump.floats[15] = 1.5f64.to_bits();
        dump.floats[2] = 0xffff_ffff_3f80_0000;
        let mut stack = [7u64, 0xffff_ffff_ffff_ff81, 9, 0, 0, 0];
        let mut frame = [u64::MAX; 300];
        dump.ints[5] = frame.as_mut_ptr().expose_provenance() as u64;
        let mut records = Records::new(Boxes { kinds: &[NEGATED], ..Boxes::default() });
        records.add(1, FrameAt::First, Held::Constant(0), core::iter::empty());
        let values = [
            (0, Held::Register(3, Type::I64)),
            (1, Held::Register(31, Type::I16)),
            (4, Held::Register(15, Type::F64)),
            (5, Held::Register(2, Type::F32)),
            (6, Held::Stack(8, Type::I8)),
            (200, Held::Constant(u64::MAX)),
            (299, Held::Constant(0)),
        ];
        let expected = [
            (0, 0x1234_5678_9abc_def0),
            (1, 0xffff),
            (4, 1.5f64.to_bits()),
            (5, 0x3f80_0000),
            (6, 0x81),
            (200, u64::MAX),
            (299, 0),
        ];
        let values = values.into_iter().map(|(register, held)| (StateRegister::plain(register), held));
        let record = records.add(9 << 32 | 77, FrameAt::First, Held::Register(5, Type::I64), values);
        // SAFETY: the frame and the stack have these slots.
        let exited = unsafe { records.leave(record, &dump, stack.as_mut_ptr().cast()) };
        assert_eq!(exited, Exited { status: 9 << 32 | 77, first: dump.ints[5] });
        let written: Vec<(usize, u64)> =
            frame.iter().copied().enumerate().filter(|(at, bits)| *bits != u64::MAX || *at == 200).collect();
        assert_eq!(written, expected);

        let boxed = |register| StateRegister { register, kind: Some(0) };
        let values = [(boxed(1), Held::Constant(5)), (boxed(2), Held::Register(3, Type::I32))];
        let first = Held::Stack(0, Type::I64);
        let record = records.add(3, FrameAt::Stack(24), first, values.into_iter());
        // SAFETY: as above.
        let exited = unsafe { records.leave(record, &dump, stack.as_mut_ptr().cast()) };
        assert_eq!(exited, Exited { status: 3, first: 7 });
        assert_eq!(
            stack,
            [7, 0xffff_ffff_ffff_ff81, 9, 0, 5u64.wrapping_neg(), 0x9abc_def0u64.wrapping_neg()]
        );
        assert!(records.len() < 60 && !records.is_empty());
    }
}
