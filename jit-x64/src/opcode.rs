//! Opcodes, which the assembler computes when this crate is built.
//!
//! In: an instruction in dynasm's words, with any operands of the right kind. Out: its [`Opcode`], a constant.
//! [`Opcode::write`] puts in operands and widths, in the shortest form.
//!
//! dynasm also takes registers at run time, but the code that it generates does not look at them. So it has to be long enough
//! for any register: a REX prefix, a SIB byte and four bytes of offset each time. `add eax, [rsi + 8]` has 8 bytes there and 3
//! here, `add eax, ecx` 3 and 2.
//!
//! dynasm does not emit two forms: a shift by one without its count, and arithmetic with an immediate byte, for which it takes
//! four bytes. Their opcodes are at a fixed distance from others ([`Opcode::plus`]).

use crate::emit::Emitter;
use crate::encode::{RBP, RSP, Rm, field};
use azulejo_code::emit::Goal;
use azulejo_core::vocab::Type;

/// The bytes that dynasm wrote.
#[derive(Clone, Copy)]
pub(crate) struct Assembled {
    bytes: [u8; 16],
    len: usize,
}

impl Assembled {
    pub(crate) const NOTHING: Assembled = Assembled { bytes: [0; 16], len: 0 };

    /// dynasm calls this method and those below.
    pub(crate) const fn extend(&mut self, bytes: &[u8]) {
        let mut at = 0;
        while at < bytes.len() {
            self.bytes[self.len] = bytes[at];
            self.len += 1;
            at += 1;
        }
    }

    // Immediates are ignored.

    pub(crate) const fn push_i8(&mut self, _: i8) {}

    pub(crate) const fn push_i32(&mut self, _: i32) {}

    pub(crate) const fn push_i64(&mut self, _: i64) {}
}

/// The opcode of an instruction. A memory operand, `[rax]`, stands for any register or memory.
macro_rules! opcode {
    ($($instruction:tt)*) => {
        const {
            let mut assembled = crate::opcode::Assembled::NOTHING;
            dynasmrt::dynasm!(assembled; .arch x64; $($instruction)*);
            crate::opcode::Opcode::of(&assembled)
        }
    };
}

/// The opcode of an instruction with a VEX prefix.
macro_rules! vex {
    ($($instruction:tt)*) => {
        const {
            let mut assembled = crate::opcode::Assembled::NOTHING;
            dynasmrt::dynasm!(assembled; .arch x64; $($instruction)*);
            crate::opcode::Vex::of(&assembled)
        }
    };
}

pub(crate) use {opcode, vex};

const LOCK: u8 = 0xf0;
const SIZE: u8 = 0x66;
const REPNE: u8 = 0xf2;
const REP: u8 = 0xf3;
const REX: u8 = 0x40;
const REX_W: u8 = 0x48;
const VEX: u8 = 0xc4;

/// The encoding of an instruction before its operands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opcode {
    /// Whether it has a `lock` prefix.
    pub(crate) is_locked: bool,
    /// A mandatory or size prefix; zero for none.
    pub(crate) prefix: u8,
    /// The bytes between REX and the opcode.
    pub(crate) map: Map,
    pub(crate) byte: u8,
    /// The digit in the place of a register operand, if there is none.
    pub(crate) digit: u8,
    /// Whether it works on 64 bits.
    pub(crate) is_wide: bool,
    /// Whether the register operand is 8 bits wide, and so needs a REX prefix for `spl` to `dil`.
    pub(crate) has_byte_reg: bool,
    /// Whether the other operand is 8 bits wide.
    pub(crate) has_byte_rm: bool,
}

/// The opcode maps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Map {
    One,
    Two,
    Three38,
    Three3a,
}

impl Opcode {
    /// Parses the assembler's output. The bytes after the ModRM byte are ignored.
    pub(crate) const fn of(assembled: &Assembled) -> Opcode {
        let bytes = &assembled.bytes;
        let (mut at, mut is_locked, mut prefix, mut is_wide) = (0, false, 0, false);
        loop {
            match bytes[at] {
                LOCK => is_locked = true,
                byte @ (SIZE | REPNE | REP) => prefix = byte,
                REX | REX_W => is_wide = bytes[at] == REX_W,
                _ => break,
            }
            at += 1;
        }
        let map = match (bytes[at], bytes[at + 1]) {
            (0x0f, 0x38) => Map::Three38,
            (0x0f, 0x3a) => Map::Three3a,
            (0x0f, _) => Map::Two,
            _ => Map::One,
        };
        at += map.len();
        assert!(at < assembled.len);
        let digit = bytes[at + 1] >> 3 & 7;
        Opcode {
            is_locked,
            prefix,
            map,
            byte: bytes[at],
            digit,
            is_wide,
            has_byte_reg: false,
            has_byte_rm: false,
        }
    }
}

impl Map {
    const fn len(self) -> usize {
        match self {
            Map::One => 0,
            Map::Two => 1,
            Map::Three38 | Map::Three3a => 2,
        }
    }

    fn write(self, cx: &mut Emitter) {
        match self {
            Map::One => {}
            Map::Two => cx.byte(0x0f),
            Map::Three38 => cx.bytes(&[0x0f, 0x38]),
            Map::Three3a => cx.bytes(&[0x0f, 0x3a]),
        }
    }
}

impl Opcode {
    /// The same opcode for 64 bits or for 32.
    pub(crate) const fn wide(self, is_wide: bool) -> Opcode {
        Opcode { is_wide, ..self }
    }

    /// The same opcode with an 8-bit operand that may be in memory.
    pub(crate) const fn byte_rm(self) -> Opcode {
        Opcode { has_byte_rm: true, ..self }
    }

    /// The opcode this many further on: conditions, for example, are numbered.
    pub(crate) const fn plus(self, number: u8) -> Opcode {
        Opcode { byte: self.byte + number, ..self }
    }

    /// The form for an integer width, from that of 32 bits: the byte form is the opcode one below.
    pub(crate) const fn sized(self, ty: Type) -> Opcode {
        match ty {
            Type::I8 | Type::Flag => {
                Opcode { byte: self.byte & !1, has_byte_reg: true, has_byte_rm: true, ..self }
            }
            _ => self.on(ty),
        }
    }

    /// The form for an integer width of 16 bits or more, from that of 32 bits.
    pub(crate) const fn on(self, ty: Type) -> Opcode {
        match ty {
            Type::I16 => Opcode { prefix: SIZE, ..self },
            Type::I64 => Opcode { is_wide: true, ..self },
            _ => self,
        }
    }

    /// Writes the instruction with a register and another operand.
    pub(crate) fn write(self, cx: &mut Emitter, reg: u8, rm: Rm) {
        if self.is_locked {
            cx.byte(LOCK);
        }
        if self.prefix != 0 {
            cx.byte(self.prefix);
        }
        let (x, b) = rm.registers();
        let byte_needs_rex = |is_byte: bool, reg: u8| is_byte && (4..8).contains(&reg);
        let forced = byte_needs_rex(self.has_byte_reg, reg)
            || matches!(rm, Rm::Reg(rm) if byte_needs_rex(self.has_byte_rm, rm));
        let rex = (self.is_wide as u8) << 3 | (reg >> 3) << 2 | (x >> 3) << 1 | b >> 3;
        if rex != 0 || forced {
            cx.byte(REX | rex);
        }
        self.map.write(cx);
        cx.byte(self.byte);
        rm.write(cx, reg);
    }

    /// Writes the instruction with one operand.
    pub(crate) fn write_one(self, cx: &mut Emitter, rm: Rm) {
        self.write(cx, self.digit, rm);
    }

    /// Writes the instruction with no operand, or with one that the caller writes.
    pub(crate) fn write_plain(self, cx: &mut Emitter) {
        self.map.write(cx);
        cx.byte(self.byte);
    }

    /// Writes the instruction with a register whose number is in the opcode.
    pub(crate) fn write_short(self, cx: &mut Emitter, reg: u8) {
        let rex = (self.is_wide as u8) << 3 | reg >> 3;
        if rex != 0 {
            cx.byte(REX | rex);
        }
        self.map.write(cx);
        cx.byte(self.byte | reg & 7);
    }
}

impl Rm {
    /// The index, and the base or register.
    fn registers(self) -> (u8, u8) {
        match self {
            Rm::Reg(reg) => (0, reg),
            Rm::Mem(mem) => (mem.index.map_or(0, |(index, _)| index), mem.base),
            Rm::Constant(_) | Rm::Address(_) => (0, 0),
        }
    }

    /// Writes the ModRM byte and the bytes that follow it.
    fn write(self, cx: &mut Emitter, reg: u8) {
        let reg = (reg & 7) << 3;
        let mem = match self {
            Rm::Reg(rm) => return cx.byte(0xc0 | reg | rm & 7),
            // No base and a 32-bit offset: the address counts from the end of the instruction.
            Rm::Constant(entry) => {
                cx.byte(reg | RBP);
                return field(cx, Goal::Constant(entry));
            }
            Rm::Address(address) => {
                cx.byte(reg | RBP);
                return field(cx, Goal::Address(address));
            }
            Rm::Mem(mem) => mem,
        };
        let base = mem.base & 7;
        // `rbp` and `r13` as a base always have an offset.
        let mode = match mem.disp {
            0 if base != RBP => 0x00,
            -128..=127 => 0x40,
            _ => 0x80,
        };
        match mem.index {
            Some((index, scale)) => {
                cx.byte(mode | reg | RSP);
                cx.byte(scale << 6 | (index & 7) << 3 | base);
            }
            None if base == RSP => {
                cx.byte(mode | reg | RSP);
                cx.byte(RSP << 3 | RSP);
            }
            None => cx.byte(mode | reg | base),
        }
        match mode {
            0x40 => cx.byte(mem.disp as u8),
            0x80 => cx.bytes(&mem.disp.to_le_bytes()),
            _ => {}
        }
    }
}

/// The VEX encoding of an instruction with three operands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Vex {
    map: u8,
    prefix: u8,
    byte: u8,
}

impl Vex {
    /// Parses the assembler's output, whose VEX prefix has three bytes.
    pub(crate) const fn of(assembled: &Assembled) -> Vex {
        let [lead, registers_and_map, second_and_prefix, byte, ..] = assembled.bytes;
        assert!(lead == VEX);
        Vex { map: registers_and_map & 0x1f, prefix: second_and_prefix & 3, byte }
    }

    /// Writes the instruction with two registers and another operand.
    pub(crate) fn write(self, cx: &mut Emitter, is_wide: bool, reg: u8, second: u8, rm: Rm) {
        let (x, b) = rm.registers();
        let inverted = |reg: u8| !reg >> 3 & 1;
        cx.byte(VEX);
        cx.byte(inverted(reg) << 7 | inverted(x) << 6 | inverted(b) << 5 | self.map);
        cx.byte((is_wide as u8) << 7 | (!second & 15) << 3 | self.prefix);
        cx.byte(self.byte);
        rm.write(cx, reg);
    }
}
