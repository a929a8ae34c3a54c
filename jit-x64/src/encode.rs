//! Instructions over operand forms: one function a family, for every width and every form of operand.
//!
//! In: what to do, on which width, with which registers and memory. Out: bytes, in the shortest form there is.
//! dynasm is as good for single instructions (a user's tile can use it on the same buffer), but a dynamic
//! register there costs a line of macro for each width and form; here the form is data.

use crate::emit::Emitter;
use azulejo_core::vocab::Type;

#[cfg(test)]
mod shown;
#[cfg(test)]
mod tests;

/// A place in memory.
///
/// ```
/// # mod azulejo { pub use azulejo_x64 as x64; }
/// use azulejo::x64::Mem;
/// // Eight bytes behind where rsi (register 6) points.
/// let place = Mem::at(6, 8);
/// assert_eq!((place.base, place.index, place.disp), (6, None, 8));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mem {
    /// The register with the address.
    pub base: u8,
    /// A register to add, and the logarithm of what it is multiplied with.
    pub index: Option<(u8, u8)>,
    /// What to add.
    pub disp: i32,
}

impl Mem {
    /// Where a register points, plus an offset.
    ///
    /// ```
    /// # mod azulejo { pub use azulejo_x64 as x64; }
    /// use azulejo::x64::Mem;
    /// assert_eq!(Mem::at(6, -8).disp, -8);
    /// ```
    pub fn at(base: u8, disp: i64) -> Mem {
        Mem { base, index: None, disp: disp as i32 }
    }

    /// An element: base plus index times scale (1, 2, 4 or 8), plus an offset.
    ///
    /// ```
    /// # mod azulejo { pub use azulejo_x64 as x64; }
    /// use azulejo::x64::Mem;
    /// // [rsi + rcx * 8 + 16]
    /// let place = Mem::element(6, 1, 8, 16);
    /// assert_eq!((place.index, place.disp), (Some((1, 3)), 16));
    /// ```
    pub fn element(base: u8, index: u8, scale: i64, disp: i64) -> Mem {
        debug_assert!(index != RSP, "rsp cannot be an index");
        Mem { base, index: Some((index, scale.trailing_zeros() as u8)), disp: disp as i32 }
    }
}

/// An operand that may be a register or in memory.
///
/// ```
/// # mod azulejo { pub use azulejo_x64 as x64; }
/// use azulejo::x64::Mem;
/// use azulejo::x64::encode::Rm;
/// assert_eq!(Rm::from(3), Rm::Reg(3));
/// assert_eq!(Rm::from(Mem::at(6, 8)), Rm::Mem(Mem::at(6, 8)));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rm {
    /// A register.
    Reg(u8),
    /// In memory.
    Mem(Mem),
    /// This entry behind the code.
    Constant(u32),
}

impl From<u8> for Rm {
    fn from(reg: u8) -> Rm {
        Rm::Reg(reg)
    }
}

impl From<Mem> for Rm {
    fn from(mem: Mem) -> Rm {
        Rm::Mem(mem)
    }
}

const RSP: u8 = 4;
const RBP: u8 = 5;
const RAX: u8 = 0;

/// The opcode of an instruction with a ModRM byte.
#[derive(Clone, Copy, Debug)]
struct Opcode {
    /// A mandatory or size prefix; zero for none.
    prefix: u8,
    /// The bytes between REX and the opcode.
    map: Map,
    byte: u8,
    /// Whether it works on 64 bits.
    wide: bool,
    /// Whether the register operand is 8 bits wide, and so needs a REX for `spl` to `dil`.
    byte_reg: bool,
    /// Whether the other operand is.
    byte_rm: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Map {
    One,
    Two,
    Three3a,
}

const fn op(byte: u8) -> Opcode {
    Opcode { prefix: 0, map: Map::One, byte, wide: false, byte_reg: false, byte_rm: false }
}

const fn op2(byte: u8) -> Opcode {
    Opcode { map: Map::Two, ..op(byte) }
}

impl Opcode {
    const fn prefix(self, prefix: u8) -> Opcode {
        Opcode { prefix, ..self }
    }

    const fn wide(self, wide: bool) -> Opcode {
        Opcode { wide, ..self }
    }

    /// The form for an integer width: the byte form is the opcode below.
    const fn sized(self, ty: Type) -> Opcode {
        match ty {
            Type::I8 | Type::Flag => Opcode { byte: self.byte & !1, byte_reg: true, byte_rm: true, ..self },
            Type::I16 => Opcode { prefix: 0x66, ..self },
            Type::I64 => Opcode { wide: true, ..self },
            _ => self,
        }
    }
}

/// Before an instruction: what it does with memory is one thing for all threads.
const LOCK: u8 = 0xf0;

/// Two-operand arithmetic, numbered as the machine does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
#[allow(missing_docs, reason = "named like the instructions")]
pub enum Alu {
    Add = 0,
    Or = 1,
    And = 4,
    Sub = 5,
    Xor = 6,
    Cmp = 7,
}

/// Shifts and rotations, numbered as the machine does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
#[allow(missing_docs, reason = "named like the instructions")]
pub enum Shift {
    Rol = 0,
    Ror = 1,
    Shl = 4,
    Shr = 5,
    Sar = 7,
}

/// One-operand arithmetic, numbered as the machine does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
#[allow(missing_docs, reason = "named like the instructions")]
pub enum Unary {
    Not = 2,
    Neg = 3,
    Mul = 4,
    Imul = 5,
    Div = 6,
    Idiv = 7,
}

/// Scalar float arithmetic by opcode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
#[allow(missing_docs, reason = "named like the instructions")]
pub enum Sse {
    Sqrt = 0x51,
    Add = 0x58,
    Mul = 0x59,
    Sub = 0x5c,
    Min = 0x5d,
    Div = 0x5e,
    Max = 0x5f,
}

/// Bitwise operations on whole float registers by opcode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
#[allow(missing_docs, reason = "named like the instructions")]
pub enum Bits {
    And = 0x54,
    AndNot = 0x55,
    Or = 0x56,
    Xor = 0x57,
}

impl Emitter {
    fn encode(&mut self, opcode: Opcode, reg: u8, rm: Rm) {
        if opcode.prefix != 0 {
            self.byte(opcode.prefix);
        }
        let (x, b) = match rm {
            Rm::Reg(rm) => (0, rm),
            Rm::Mem(mem) => (mem.index.map_or(0, |(index, _)| index), mem.base),
            Rm::Constant(_) => (0, 0),
        };
        let byte_needs_rex = |is_byte: bool, reg: u8| is_byte && (4..8).contains(&reg);
        let forced = byte_needs_rex(opcode.byte_reg, reg)
            || matches!(rm, Rm::Reg(rm) if byte_needs_rex(opcode.byte_rm, rm));
        let rex = (opcode.wide as u8) << 3 | (reg >> 3) << 2 | (x >> 3) << 1 | b >> 3;
        if rex != 0 || forced {
            self.byte(0x40 | rex);
        }
        match opcode.map {
            Map::One => {}
            Map::Two => self.byte(0x0f),
            Map::Three3a => self.bytes(&[0x0f, 0x3a]),
        }
        self.byte(opcode.byte);
        self.modrm(reg, rm);
    }

    fn modrm(&mut self, reg: u8, rm: Rm) {
        let reg = (reg & 7) << 3;
        let mem = match rm {
            Rm::Reg(rm) => return self.byte(0xc0 | reg | rm & 7),
            Rm::Constant(entry) => {
                // No base and 32 bits: counted from the end of the instruction.
                self.byte(reg | RBP);
                return self.constant_field(entry);
            }
            Rm::Mem(mem) => mem,
        };
        let base = mem.base & 7;
        // rbp and r13 as a base have no form without an offset.
        let mode = match mem.disp {
            0 if base != RBP => 0x00,
            -128..=127 => 0x40,
            _ => 0x80,
        };
        match mem.index {
            Some((index, scale)) => {
                self.byte(mode | reg | RSP);
                self.byte(scale << 6 | (index & 7) << 3 | base);
            }
            None if base == RSP => {
                self.byte(mode | reg | RSP);
                self.byte(RSP << 3 | RSP);
            }
            None => self.byte(mode | reg | base),
        }
        match mode {
            0x40 => self.byte(mem.disp as u8),
            0x80 => self.bytes(&mem.disp.to_le_bytes()),
            _ => {}
        }
    }

    /// An instruction with a VEX prefix and three operands.
    #[allow(clippy::too_many_arguments, reason = "they are the fields of the prefix")]
    fn vex(&mut self, pp: u8, map: u8, wide: bool, byte: u8, reg: u8, second: u8, rm: Rm) {
        let (x, b) = match rm {
            Rm::Reg(rm) => (0, rm),
            Rm::Mem(mem) => (mem.index.map_or(0, |(index, _)| index), mem.base),
            Rm::Constant(_) => (0, 0),
        };
        let inverted = |reg: u8| !reg >> 3 & 1;
        self.byte(0xc4);
        self.byte(inverted(reg) << 7 | inverted(x) << 6 | inverted(b) << 5 | map);
        self.byte((wide as u8) << 7 | (!second & 15) << 3 | pp);
        self.byte(byte);
        self.modrm(reg, rm);
    }

    fn imm(&mut self, ty: Type, imm: i64) {
        match ty {
            Type::I8 => self.byte(imm as u8),
            Type::I16 => self.bytes(&(imm as i16).to_le_bytes()),
            _ => self.bytes(&(imm as i32).to_le_bytes()),
        }
    }

    /// `dst = dst op src`
    pub fn alu(&mut self, alu: Alu, ty: Type, dst: u8, src: impl Into<Rm>) {
        self.encode(op((alu as u8) << 3 | 3).sized(ty), dst, src.into());
    }

    /// `[mem] = [mem] op src`
    pub fn alu_to_mem(&mut self, alu: Alu, ty: Type, mem: Mem, src: u8) {
        self.encode(op((alu as u8) << 3 | 1).sized(ty), src, mem.into());
    }

    /// `dst = dst op imm`, an immediate of at most 32 bits
    pub fn alu_imm(&mut self, alu: Alu, ty: Type, dst: impl Into<Rm>, imm: i64) {
        if ty != Type::I8 && imm as i8 as i64 == imm {
            self.encode(Opcode { byte: 0x83, ..op(0x81).sized(ty) }, alu as u8, dst.into());
            self.byte(imm as u8);
        } else {
            self.encode(op(0x81).sized(ty), alu as u8, dst.into());
            self.imm(ty, imm);
        }
    }

    /// `[word] = [word] op imm` with a word of 64 bits at a known address, and a small immediate. No register is lost.
    pub(crate) fn alu_word(&mut self, alu: Alu, address: u64, imm: i8) {
        // What the distance counts from is behind the immediate.
        let from_distance = address.wrapping_sub(1);
        if self.reaches(from_distance) {
            self.bytes(&[0x48, 0x83, (alu as u8) << 3 | RBP]);
            self.distance_to(from_distance);
            return self.byte(imm as u8);
        }
        // Neither of the two changes the flags.
        self.push64(RAX);
        self.mov_imm(RAX, address);
        self.alu_imm(alu, Type::I64, Mem::at(RAX, 0), imm as i64);
        self.pop64(RAX);
    }

    /// Loads a word of 64 bits from a known address.
    pub(crate) fn load_word(&mut self, dst: u8, address: u64) {
        if self.reaches(address) {
            self.bytes(&[0x48 | dst >> 3 << 2, 0x8b, (dst & 7) << 3 | RBP]);
            return self.distance_to(address);
        }
        self.mov_imm(dst, address);
        self.load(Type::I64, dst, Mem::at(dst, 0));
    }

    /// Sets the flags by `a & b`.
    pub fn test(&mut self, ty: Type, a: impl Into<Rm>, b: u8) {
        self.encode(op(0x85).sized(ty), b, a.into());
    }

    /// Sets the flags by `a & imm`.
    pub fn test_imm(&mut self, ty: Type, a: impl Into<Rm>, imm: i64) {
        self.encode(op(0xf7).sized(ty), 0, a.into());
        self.imm(ty, imm);
    }

    /// A register to a register, all 64 bits; nothing if they are the same.
    pub fn mov(&mut self, dst: u8, src: u8) {
        if dst != src {
            self.encode(op(0x8b).wide(true), dst, src.into());
        }
    }

    /// A constant to a register, without touching the flags.
    pub fn mov_imm(&mut self, dst: u8, bits: u64) {
        if bits <= u32::MAX as u64 {
            if dst >= 8 {
                self.byte(0x41);
            }
            self.byte(0xb8 | dst & 7);
            self.bytes(&(bits as u32).to_le_bytes());
        } else if bits as i64 == bits as i32 as i64 {
            self.encode(op(0xc7).wide(true), 0, dst.into());
            self.bytes(&(bits as u32).to_le_bytes());
        } else if self.reaches(bits) {
            // lea dst, [rip + distance]
            self.bytes(&[0x48 | dst >> 3 << 2, 0x8d, (dst & 7) << 3 | 5]);
            self.distance_to(bits);
        } else {
            self.bytes(&[0x48 | dst >> 3, 0xb8 | dst & 7]);
            self.bytes(&bits.to_le_bytes());
        }
    }

    /// Loads an integer; what is above a narrow one is zero.
    pub fn load(&mut self, ty: Type, dst: u8, mem: Mem) {
        match ty {
            Type::I8 | Type::Flag => self.encode(op2(0xb6), dst, mem.into()),
            Type::I16 => self.encode(op2(0xb7), dst, mem.into()),
            _ => self.encode(op(0x8b).sized(ty), dst, mem.into()),
        }
    }

    /// Stores an integer.
    pub fn store(&mut self, ty: Type, mem: Mem, src: u8) {
        self.encode(op(0x89).sized(ty), src, mem.into());
    }

    /// Swaps what is in a register and what is in memory, at once for all threads.
    pub(crate) fn exchange(&mut self, ty: Type, mem: Mem, reg: u8) {
        self.encode(op(0x87).sized(ty), reg, mem.into());
    }

    /// As [`Emitter::exchange`], and memory gets the sum of both.
    pub(crate) fn exchange_and_add(&mut self, ty: Type, mem: Mem, reg: u8) {
        self.byte(LOCK);
        self.encode(op2(0xc1).sized(ty), reg, mem.into());
    }

    /// Stores a register if `rax` is what is in memory, at once for all threads; `rax` gets what was there, and the flags say
    /// whether that is equal.
    pub(crate) fn compare_and_exchange(&mut self, ty: Type, mem: Mem, new: u8) {
        self.byte(LOCK);
        self.encode(op2(0xb1).sized(ty), new, mem.into());
    }

    /// Stores a constant; of 64 bits, one that is a sign-extended 32-bit one.
    pub fn store_imm(&mut self, ty: Type, mem: Mem, imm: i64) {
        self.encode(op(0xc7).sized(ty), 0, mem.into());
        self.imm(ty, imm);
    }

    /// The address of a place.
    pub fn lea(&mut self, wide: bool, dst: u8, mem: Mem) {
        self.encode(op(0x8d).wide(wide), dst, mem.into());
    }

    /// Widens with zeros.
    pub fn movzx(&mut self, from: Type, dst: u8, src: impl Into<Rm>) {
        match from {
            Type::I8 | Type::Flag => self.encode(Opcode { byte_rm: true, ..op2(0xb6) }, dst, src.into()),
            Type::I16 => self.encode(op2(0xb7), dst, src.into()),
            _ => self.encode(op(0x8b), dst, src.into()),
        }
    }

    /// Widens with the sign.
    pub fn movsx(&mut self, from: Type, to: Type, dst: u8, src: impl Into<Rm>) {
        let wide = to == Type::I64;
        match from {
            Type::I8 => {
                let opcode = Opcode { byte_rm: true, ..op2(0xbe) };
                self.encode(opcode.wide(wide), dst, src.into());
            }
            Type::I16 => self.encode(op2(0xbf).wide(wide), dst, src.into()),
            _ => self.encode(op(0x63).wide(wide), dst, src.into()),
        }
    }

    /// Shifts by a constant.
    pub fn shift_imm(&mut self, shift: Shift, ty: Type, dst: impl Into<Rm>, count: i64) {
        if count == 1 {
            return self.encode(op(0xd1).sized(ty), shift as u8, dst.into());
        }
        self.encode(op(0xc1).sized(ty), shift as u8, dst.into());
        self.byte(count as u8);
    }

    /// Shifts by `cl`.
    pub fn shift_cl(&mut self, shift: Shift, ty: Type, dst: impl Into<Rm>) {
        self.encode(op(0xd3).sized(ty), shift as u8, dst.into());
    }

    /// `shlx`, `shrx`, `sarx`: shifts `src` by any register, without touching the flags.
    pub fn shift_x(&mut self, shift: Shift, ty: Type, dst: u8, src: impl Into<Rm>, count: u8) {
        let pp = match shift {
            Shift::Shl => 1,
            Shift::Sar => 2,
            _ => 3,
        };
        self.vex(pp, 2, ty == Type::I64, 0xf7, dst, count, src.into());
    }

    /// `rorx`: rotates `src` right by a constant, without touching the flags.
    pub fn rorx(&mut self, ty: Type, dst: u8, src: impl Into<Rm>, count: i64) {
        self.vex(3, 3, ty == Type::I64, 0xf0, dst, 0, src.into());
        self.byte(count as u8);
    }

    /// `not`, `neg`, and the multiplications and divisions of `rdx:rax`.
    pub fn unary(&mut self, unary: Unary, ty: Type, operand: impl Into<Rm>) {
        self.encode(op(0xf7).sized(ty), unary as u8, operand.into());
    }

    /// `dst = dst * src`, of 16 bits or more
    pub fn imul(&mut self, ty: Type, dst: u8, src: impl Into<Rm>) {
        let opcode = Opcode { prefix: if ty == Type::I16 { 0x66 } else { 0 }, ..op2(0xaf) };
        self.encode(opcode.wide(ty == Type::I64), dst, src.into());
    }

    /// `dst = src * imm`, of 16 bits or more
    pub fn imul_imm(&mut self, ty: Type, dst: u8, src: impl Into<Rm>, imm: i64) {
        if imm as i8 as i64 == imm {
            self.encode(Opcode { byte: 0x6b, ..op(0x69).sized(ty) }, dst, src.into());
            self.byte(imm as u8);
        } else {
            self.encode(op(0x69).sized(ty), dst, src.into());
            self.imm(ty, imm);
        }
    }

    /// Spreads the sign of `rax` over `rdx`, of 16 bits or more.
    pub fn sign_to_rdx(&mut self, ty: Type) {
        match ty {
            Type::I16 => self.bytes(&[0x66, 0x99]),
            Type::I64 => self.bytes(&[0x48, 0x99]),
            _ => self.byte(0x99),
        }
    }

    /// Reverses the bytes, of 32 or 64 bits.
    pub fn bswap(&mut self, ty: Type, dst: u8) {
        let rex = ((ty == Type::I64) as u8) << 3 | dst >> 3;
        if rex != 0 {
            self.byte(0x40 | rex);
        }
        self.bytes(&[0x0f, 0xc8 | dst & 7]);
    }

    /// `popcnt` (0xb8), `tzcnt` (0xbc) or `lzcnt` (0xbd), of 32 or 64 bits.
    pub fn count_bits(&mut self, byte: u8, ty: Type, dst: u8, src: impl Into<Rm>) {
        self.encode(op2(byte).prefix(0xf3).wide(ty == Type::I64), dst, src.into());
    }

    /// `bsf` (0xbc) or `bsr` (0xbd), of 32 or 64 bits.
    pub fn bit_scan(&mut self, byte: u8, ty: Type, dst: u8, src: impl Into<Rm>) {
        self.encode(op2(byte).wide(ty == Type::I64), dst, src.into());
    }

    /// `setcc` with the machine's number of the condition.
    pub(crate) fn setcc(&mut self, cc: u8, dst: u8) {
        self.encode(Opcode { byte_rm: true, ..op2(0x90 | cc) }, 0, dst.into());
    }

    /// `cmovcc` with the machine's number of the condition.
    pub(crate) fn cmovcc(&mut self, cc: u8, wide: bool, dst: u8, src: impl Into<Rm>) {
        self.encode(op2(0x40 | cc).wide(wide), dst, src.into());
    }

    /// Pushes 8 bytes. Not `push`: that is what dynasm calls on this type for a single byte of code.
    pub fn push64(&mut self, src: impl Into<Rm>) {
        match src.into() {
            Rm::Reg(reg) => {
                if reg >= 8 {
                    self.byte(0x41);
                }
                self.byte(0x50 | reg & 7);
            }
            mem => self.encode(op(0xff), 6, mem),
        }
    }

    /// Pops 8 bytes.
    pub fn pop64(&mut self, dst: impl Into<Rm>) {
        match dst.into() {
            Rm::Reg(reg) => {
                if reg >= 8 {
                    self.byte(0x41);
                }
                self.byte(0x58 | reg & 7);
            }
            mem => self.encode(op(0x8f), 0, mem),
        }
    }

    /// Calls the function at an address in a register or in memory.
    pub fn call(&mut self, target: impl Into<Rm>) {
        self.encode(op(0xff), 2, target.into());
    }

    /// Calls a function at a known address. Where that is out of reach, `scratch` is overwritten.
    pub fn call_address(&mut self, address: u64, scratch: u8) {
        if self.reaches(address) {
            self.byte(0xe8);
            self.distance_to(address);
        } else {
            self.mov_imm(scratch, address);
            self.call(scratch);
        }
    }

    /// Jumps to an address, by a register if that is far.
    pub(crate) fn jump_address(&mut self, address: u64, scratch: u8) {
        if self.reaches(address) {
            self.byte(0xe9);
            self.distance_to(address);
        } else {
            self.mov_imm(scratch, address);
            self.jmp_to(scratch);
        }
    }

    /// Jumps to an address in a register or in memory.
    pub fn jmp_to(&mut self, target: impl Into<Rm>) {
        self.encode(op(0xff), 4, target.into());
    }

    fn scalar(ty: Type) -> u8 {
        if ty == Type::F32 { 0xf3 } else { 0xf2 }
    }

    fn packed(ty: Type) -> u8 {
        if ty == Type::F32 { 0 } else { 0x66 }
    }

    /// `dst = dst op src`, or `dst = op src` for the square root.
    pub fn sse(&mut self, sse: Sse, ty: Type, dst: u8, src: impl Into<Rm>) {
        self.encode(op2(sse as u8).prefix(Self::scalar(ty)), dst, src.into());
    }

    /// Bitwise on whole registers.
    pub fn sse_bits(&mut self, bits: Bits, dst: u8, src: impl Into<Rm>) {
        self.encode(op2(bits as u8), dst, src.into());
    }

    /// A float register to a float register; nothing if they are the same.
    pub fn movaps(&mut self, dst: u8, src: u8) {
        if dst != src {
            self.encode(op2(0x28), dst, src.into());
        }
    }

    /// Loads a float.
    pub fn load_float(&mut self, ty: Type, dst: u8, from: impl Into<Rm>) {
        self.encode(op2(0x10).prefix(Self::scalar(ty)), dst, from.into());
    }

    /// Stores a float.
    pub fn store_float(&mut self, ty: Type, mem: Mem, src: u8) {
        self.encode(op2(0x11).prefix(Self::scalar(ty)), src, mem.into());
    }

    /// Compares floats: above, equal, below or unordered (parity).
    pub fn ucomis(&mut self, ty: Type, a: u8, b: impl Into<Rm>) {
        self.encode(op2(0x2e).prefix(Self::packed(ty)), a, b.into());
    }

    /// A signed integer of 32 or 64 bits as a float.
    pub fn int_to_float(&mut self, from: Type, to: Type, dst: u8, src: impl Into<Rm>) {
        self.encode(op2(0x2a).prefix(Self::scalar(to)).wide(from == Type::I64), dst, src.into());
    }

    /// A float as a signed integer of 32 or 64 bits; the least one where there is none.
    pub fn float_to_int(&mut self, from: Type, wide: bool, dst: u8, src: impl Into<Rm>) {
        self.encode(op2(0x2c).prefix(Self::scalar(from)).wide(wide), dst, src.into());
    }

    /// To the other float width.
    pub fn float_to_float(&mut self, from: Type, dst: u8, src: impl Into<Rm>) {
        self.encode(op2(0x5a).prefix(Self::scalar(from)), dst, src.into());
    }

    /// The bits of an integer register into a float register.
    pub fn bits_to_float(&mut self, wide: bool, dst: u8, src: u8) {
        self.encode(op2(0x6e).prefix(0x66).wide(wide), dst, src.into());
    }

    /// The bits of a float register into an integer register.
    pub fn bits_to_int(&mut self, wide: bool, dst: u8, src: u8) {
        self.encode(op2(0x7e).prefix(0x66).wide(wide), src, dst.into());
    }

    /// Rounds: 0 to nearest even, 1 down, 2 up, 3 toward zero.
    pub fn round(&mut self, mode: u8, ty: Type, dst: u8, src: impl Into<Rm>) {
        let byte = if ty == Type::F32 { 0x0a } else { 0x0b };
        let opcode = Opcode { map: Map::Three3a, ..op(byte) };
        self.encode(opcode.prefix(0x66), dst, src.into());
        // Bit 3: no precision exception.
        self.byte(mode | 8);
    }
}
