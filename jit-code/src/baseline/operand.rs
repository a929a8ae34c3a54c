//! The places of an opcode's operands, by which each is read from the bytecode when and where it is needed.
//!
//! In: an opcode as `derive(Bytecode)` describes it. Out: for each operand an [`Operand`], by which its value is read without a
//! branch on the opcode, and a [`LowWord`] for those that are read often.

use azulejo_core::ir::bytecode::{OpcodeInfo, OperandInfo, OperandKind, Raw};
use azulejo_core::vocab::Scalar;

const _: () = assert!(size_of::<usize>() == size_of::<Raw>(), "a pointer has all of an operand's bits");

/// An operand of an opcode.
#[derive(Clone, Copy, Debug)]
pub(super) enum Operand {
    /// A field of the bytecode, this many bytes from its start.
    Field(u16, FieldForm),
    /// A slot of the operand stack, counted from the first free one.
    Slot(i32),
}

/// The encoding of a field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FieldForm {
    Signed8,
    Signed16,
    Signed32,
    Unsigned8,
    Unsigned16,
    Unsigned32,
    All,
}

/// The memory that operands are read from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Here<'a> {
    /// The bytecode.
    pub(super) op: *const u8,
    /// The first free slot of the operand stack.
    pub(super) top: &'a u32,
}

/// The low 32 bits of an operand, before its offset is added: reading them is a single load.
#[derive(Clone, Copy, Debug)]
pub(super) struct LowWord {
    at: u16,
    /// Whether it is a slot's number, not a field of the bytecode.
    is_slot: bool,
}

/// The operands of an opcode whose fields have these offsets.
pub(super) fn operands(info: &OpcodeInfo, offsets: &[u16]) -> Vec<Operand> {
    let pops = info.operands.iter().filter(|operand| operand.kind == OperandKind::Pop).count() as i32;
    let (mut popped, mut pushed) = (-pops, -pops);
    let next = |slot: &mut i32| {
        *slot += 1;
        Operand::Slot(*slot - 1)
    };
    let mut operand = |(operand, offset): (&OperandInfo, &u16)| match operand.kind {
        OperandKind::Pop => next(&mut popped),
        OperandKind::Push => next(&mut pushed),
        _ => Operand::Field(*offset, FieldForm::of(operand)),
    };
    core::iter::zip(info.operands, offsets).map(&mut operand).collect()
}

impl FieldForm {
    fn of(operand: &OperandInfo) -> FieldForm {
        match operand.kind {
            OperandKind::In | OperandKind::Out | OperandKind::InOut | OperandKind::Label => {
                FieldForm::Unsigned32
            }
            // The first is in the low half, the count in the high half.
            OperandKind::Labels | OperandKind::Regs | OperandKind::RegsMut | OperandKind::Site => {
                FieldForm::All
            }
            OperandKind::Pop | OperandKind::Push | OperandKind::Imm => match operand.scalar {
                Some(Scalar::I8) => FieldForm::Signed8,
                Some(Scalar::U8) => FieldForm::Unsigned8,
                Some(Scalar::I16) => FieldForm::Signed16,
                Some(Scalar::U16) => FieldForm::Unsigned16,
                Some(Scalar::I32) => FieldForm::Signed32,
                Some(Scalar::U32 | Scalar::F32) => FieldForm::Unsigned32,
                Some(Scalar::I64 | Scalar::U64 | Scalar::F64 | Scalar::Ptr) | None => FieldForm::All,
            },
        }
    }
}

impl Operand {
    /// An operand that can be read for any opcode.
    pub(super) const TOP: Operand = Operand::Slot(0);

    /// The operand's value.
    ///
    /// # Safety
    ///
    /// `here` must refer to a bytecode of this operand's opcode.
    #[inline(always)]
    pub(super) unsafe fn read(self, here: Here<'_>) -> Raw {
        let (at, form) = match self {
            Operand::Slot(slot) => return here.top.wrapping_add_signed(slot) as Raw,
            Operand::Field(at, form) => (at, form),
        };
        let field = here.op.wrapping_add(at as usize);
        // SAFETY: the bytecode has this field, in this form.
        unsafe {
            match form {
                FieldForm::Signed8 => field.cast::<i8>().read() as Raw,
                FieldForm::Signed16 => field.cast::<i16>().read_unaligned() as Raw,
                FieldForm::Signed32 => field.cast::<i32>().read_unaligned() as Raw,
                FieldForm::Unsigned8 => field.read() as Raw,
                FieldForm::Unsigned16 => field.cast::<u16>().read_unaligned() as Raw,
                FieldForm::Unsigned32 => field.cast::<u32>().read_unaligned() as Raw,
                FieldForm::All => field.cast::<u64>().read_unaligned(),
            }
        }
    }

    /// The operand's low 32 bits and the number to add to them; `None` for narrower fields.
    pub(super) fn word(self) -> Option<(LowWord, i32)> {
        match self {
            Operand::Slot(slot) => Some((LowWord { at: 0, is_slot: true }, slot)),
            Operand::Field(at, FieldForm::Signed32 | FieldForm::Unsigned32 | FieldForm::All) => {
                Some((LowWord { at, is_slot: false }, 0))
            }
            Operand::Field(..) => None,
        }
    }

    /// The operand's high 32 bits, and the number to add to them.
    pub(super) fn upper_word(self) -> Option<(LowWord, i32)> {
        match self {
            Operand::Field(at, FieldForm::All) => Some((LowWord { at: at + 4, is_slot: false }, 0)),
            Operand::Field(..) | Operand::Slot(_) => None,
        }
    }
}

/// A word that can be read from any bytecode with these operands, for code that reads one before it knows whether it needs it.
pub(super) fn spare(operands: &[Operand]) -> Option<LowWord> {
    let words = || operands.iter().filter_map(|operand| operand.word());
    let field = words().find(|(word, _)| word.is_field());
    field.or_else(|| words().next()).map(|(word, _)| word)
}

/// Whether a bytecode with these operands uses the operand stack.
pub(super) fn use_stack(operands: &[Operand]) -> bool {
    operands.iter().any(|operand| matches!(operand, Operand::Slot(_)))
}

impl LowWord {
    /// A placeholder for a word that is never read.
    pub(super) const FIRST: LowWord = LowWord { at: 0, is_slot: false };

    fn is_field(self) -> bool {
        !self.is_slot
    }

    /// Reads it.
    ///
    /// # Safety
    ///
    /// `here` must refer to a bytecode of this word's opcode, with an operand stack unless the word is a field.
    #[inline(always)]
    pub(super) unsafe fn read<const STACK: bool>(self, here: Here<'_>) -> u32 {
        debug_assert!(STACK || self.is_field());
        let field = here.op.wrapping_add(self.at as usize);
        let from = if STACK && self.is_slot { core::ptr::from_ref(here.top).cast() } else { field };
        // SAFETY: the caller guarantees that the field, or else the stack, exists.
        unsafe { from.cast::<u32>().read_unaligned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(operands: &'static [(OperandKind, Option<Scalar>)]) -> OpcodeInfo {
        let operands = operands.iter().map(|&(kind, scalar)| OperandInfo { name: "", kind, scalar });
        OpcodeInfo { name: "", operands: operands.collect::<Vec<_>>().leak() }
    }

    fn read(operands: &[Operand], bytes: &[u8], top: u32) -> Vec<Raw> {
        let here = Here { op: bytes.as_ptr(), top: &top };
        // SAFETY: the fields are in the bytes.
        operands.iter().map(|operand| unsafe { operand.read(here) }).collect()
    }

    #[test]
    fn fields_are_extended_by_their_types() {
        use Scalar::*;
        const IMM: OperandKind = OperandKind::Imm;
        let bytes = [0x01, 0xf2, 0xf3, 0xf4, 0xf5, 0x06, 0x07, 0xf8, 0x09, 0xfa, 0x0b, 0x8c, 0xff];
        let of = |kinds: &'static [(OperandKind, Option<Scalar>)]| {
            read(&operands(&info(kinds), &[1; 16][..kinds.len()]), &bytes, 0)
        };
        let narrow = &[(IMM, Some(I8)), (IMM, Some(U8)), (IMM, Some(I16)), (IMM, Some(U16))];
        assert_eq!(of(narrow), [0xffff_ffff_ffff_fff2, 0xf2, 0xffff_ffff_ffff_f3f2, 0xf3f2]);
        let words = &[(IMM, Some(I32)), (IMM, Some(U32)), (IMM, Some(F32)), (OperandKind::Out, Some(I8))];
        assert_eq!(of(words), [0xffff_ffff_f5f4_f3f2, 0xf5f4_f3f2, 0xf5f4_f3f2, 0xf5f4_f3f2]);
        let long = &[(IMM, Some(I64)), (IMM, Some(F64)), (IMM, Some(Ptr)), (OperandKind::Labels, None)];
        assert_eq!(of(long), [0x09f8_0706_f5f4_f3f2; 4]);
    }

    #[test]
    fn slots_are_counted_from_the_top() {
        const FLOAT: Option<Scalar> = Some(Scalar::F64);
        let info = info(&[
            (OperandKind::Pop, FLOAT),
            (OperandKind::Out, FLOAT),
            (OperandKind::Pop, FLOAT),
            (OperandKind::Push, FLOAT),
        ]);
        let operands = operands(&info, &[0, 4, 0, 0]);
        let bytes = [0xff, 0xff, 0xff, 0xff, 7, 0, 0, 0];
        assert_eq!(read(&operands, &bytes, 12), [10, 7, 11, 10]);
        assert!(use_stack(&operands) && !use_stack(&operands[1..2]));
        let here = Here { op: bytes.as_ptr(), top: &12 };
        for (operand, value) in core::iter::zip(&operands, [10, 7, 11, 10]) {
            let (word, add) = operand.word().expect("these have 32 bits");
            // SAFETY: the field is in the bytes.
            assert_eq!(unsafe { word.read::<true>(here) }.wrapping_add_signed(add), value);
        }
        assert!(
            spare(&operands).is_some_and(LowWord::is_field)
                && spare(&operands[..1]).is_some()
                && spare(&[]).is_none()
        );
    }
}
