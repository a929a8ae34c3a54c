//! Instructions over operand forms: one function a family, for every width and every form of operand.
//!
//! In: what to do, on which width, with which registers and memory. Out: bytes, in the shortest form there is.
//!
//! dynasm assembles each instruction once, when this crate is built ([`opcode`]); what is left to do here is to put operands in,
//! whose form is data. So an instruction is written once for all of its forms, and nothing is paid for the assembler when code
//! is made.

use crate::emit::Emitter;
use azulejo_core::vocab::Type;
use dynasmrt::dynasm;
use opcode::{opcode, vex};
pub use words::{Alu, Bits, Shift, Sse, Unary};
use words::{COMPARE_FLOATS, CONVERT_FLOAT, FROM_INT, LOAD_FLOAT, ROUND, STORE_FLOAT, TO_INT};

mod opcode;
#[cfg(test)]
mod shown;
#[cfg(test)]
mod tests;
mod words;

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
    /// This entry behind the code. Only for instructions that end with it.
    Constant(u32),
    /// Outside of the code, at an address that is in reach. Only for instructions that end with it.
    Address(u64),
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

impl Emitter {
    fn imm(&mut self, ty: Type, imm: i64) {
        match ty {
            Type::I8 => self.byte(imm as u8),
            Type::I16 => self.bytes(&(imm as i16).to_le_bytes()),
            _ => self.bytes(&(imm as i32).to_le_bytes()),
        }
    }

    /// `dst = dst op src`
    pub fn alu(&mut self, alu: Alu, ty: Type, dst: u8, src: impl Into<Rm>) {
        alu.opcodes().to_reg.sized(ty).write(self, dst, src.into());
    }

    /// `[mem] = [mem] op src`
    pub fn alu_to_mem(&mut self, alu: Alu, ty: Type, mem: Mem, src: u8) {
        alu.opcodes().to_mem.sized(ty).write(self, src, mem.into());
    }

    /// `dst = dst op imm`, an immediate of at most 32 bits
    pub fn alu_imm(&mut self, alu: Alu, ty: Type, dst: impl Into<Rm>, imm: i64) {
        if ty != Type::I8 && imm as i8 as i64 == imm {
            alu.opcodes().imm8.on(ty).write_one(self, dst.into());
            self.byte(imm as u8);
        } else {
            alu.opcodes().imm.sized(ty).write_one(self, dst.into());
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
        opcode!(test DWORD [rax], ecx).sized(ty).write(self, b, a.into());
    }

    /// Sets the flags by `a & imm`.
    pub fn test_imm(&mut self, ty: Type, a: impl Into<Rm>, imm: i64) {
        opcode!(test DWORD [rax], DWORD 1).sized(ty).write_one(self, a.into());
        self.imm(ty, imm);
    }

    /// A register to a register, all 64 bits; nothing if they are the same.
    pub fn mov(&mut self, dst: u8, src: u8) {
        if dst != src {
            opcode!(mov rcx, [rax]).write(self, dst, src.into());
        }
    }

    /// A constant to a register, without touching the flags.
    pub fn mov_imm(&mut self, dst: u8, bits: u64) {
        if bits <= u32::MAX as u64 {
            opcode!(mov eax, DWORD 1).write_short(self, dst);
            self.bytes(&(bits as u32).to_le_bytes());
        } else if bits as i64 == bits as i32 as i64 {
            opcode!(mov QWORD [rax], DWORD 1).write_one(self, dst.into());
            self.bytes(&(bits as u32).to_le_bytes());
        } else if self.reaches(bits) {
            opcode!(lea rcx, [rax]).write(self, dst, Rm::Address(bits));
        } else {
            opcode!(mov rax, QWORD 1).write_short(self, dst);
            self.bytes(&bits.to_le_bytes());
        }
    }

    /// Loads an integer; what is above a narrow one is zero.
    pub fn load(&mut self, ty: Type, dst: u8, mem: Mem) {
        match ty {
            Type::I8 | Type::Flag => opcode!(movzx ecx, BYTE [rax]).write(self, dst, mem.into()),
            Type::I16 => opcode!(movzx ecx, WORD [rax]).write(self, dst, mem.into()),
            _ => opcode!(mov ecx, [rax]).sized(ty).write(self, dst, mem.into()),
        }
    }

    /// Stores an integer.
    pub fn store(&mut self, ty: Type, mem: Mem, src: u8) {
        opcode!(mov DWORD [rax], ecx).sized(ty).write(self, src, mem.into());
    }

    /// Swaps what is in a register and what is in memory, at once for all threads.
    pub(crate) fn exchange(&mut self, ty: Type, mem: Mem, reg: u8) {
        opcode!(xchg DWORD [rax], ecx).sized(ty).write(self, reg, mem.into());
    }

    /// As [`Emitter::exchange`], and memory gets the sum of both.
    pub(crate) fn exchange_and_add(&mut self, ty: Type, mem: Mem, reg: u8) {
        opcode!(lock xadd [rax], ecx).sized(ty).write(self, reg, mem.into());
    }

    /// Stores a register if `rax` is what is in memory, at once for all threads; `rax` gets what was there, and the flags say
    /// whether that is equal.
    pub(crate) fn compare_and_exchange(&mut self, ty: Type, mem: Mem, new: u8) {
        opcode!(lock cmpxchg [rax], ecx).sized(ty).write(self, new, mem.into());
    }

    /// Stores a constant; of 64 bits, one that is a sign-extended 32-bit one.
    pub fn store_imm(&mut self, ty: Type, mem: Mem, imm: i64) {
        opcode!(mov DWORD [rax], DWORD 1).sized(ty).write_one(self, mem.into());
        self.imm(ty, imm);
    }

    /// The address of a place.
    pub fn lea(&mut self, wide: bool, dst: u8, mem: Mem) {
        opcode!(lea ecx, [rax]).wide(wide).write(self, dst, mem.into());
    }

    /// Widens with zeros.
    pub fn movzx(&mut self, from: Type, dst: u8, src: impl Into<Rm>) {
        match from {
            Type::I8 | Type::Flag => opcode!(movzx ecx, BYTE [rax]).byte_rm().write(self, dst, src.into()),
            Type::I16 => opcode!(movzx ecx, WORD [rax]).write(self, dst, src.into()),
            _ => opcode!(mov ecx, [rax]).write(self, dst, src.into()),
        }
    }

    /// Widens with the sign.
    pub fn movsx(&mut self, from: Type, to: Type, dst: u8, src: impl Into<Rm>) {
        let wide = to == Type::I64;
        match from {
            Type::I8 => opcode!(movsx ecx, BYTE [rax]).byte_rm().wide(wide).write(self, dst, src.into()),
            Type::I16 => opcode!(movsx ecx, WORD [rax]).wide(wide).write(self, dst, src.into()),
            _ => opcode!(movsxd rcx, DWORD [rax]).wide(wide).write(self, dst, src.into()),
        }
    }

    /// Shifts by a constant.
    pub fn shift_imm(&mut self, shift: Shift, ty: Type, dst: impl Into<Rm>, count: i64) {
        if count == 1 {
            return shift.opcodes().by_one.sized(ty).write_one(self, dst.into());
        }
        shift.opcodes().by_imm.sized(ty).write_one(self, dst.into());
        self.byte(count as u8);
    }

    /// Shifts by `cl`.
    pub fn shift_cl(&mut self, shift: Shift, ty: Type, dst: impl Into<Rm>) {
        shift.opcodes().by_cl.sized(ty).write_one(self, dst.into());
    }

    /// `shlx`, `shrx`, `sarx`: shifts `src` by any register, without touching the flags.
    pub fn shift_x(&mut self, shift: Shift, ty: Type, dst: u8, src: impl Into<Rm>, count: u8) {
        let vex = match shift {
            Shift::Shl => vex!(shlx ecx, [rax], edx),
            Shift::Sar => vex!(sarx ecx, [rax], edx),
            _ => vex!(shrx ecx, [rax], edx),
        };
        vex.write(self, ty == Type::I64, dst, count, src.into());
    }

    /// `rorx`: rotates `src` right by a constant, without touching the flags.
    pub fn rorx(&mut self, ty: Type, dst: u8, src: impl Into<Rm>, count: i64) {
        vex!(rorx ecx, [rax], 1).write(self, ty == Type::I64, dst, 0, src.into());
        self.byte(count as u8);
    }

    /// `not`, `neg`, and the multiplications and divisions of `rdx:rax`.
    pub fn unary(&mut self, unary: Unary, ty: Type, operand: impl Into<Rm>) {
        unary.opcodes().sized(ty).write_one(self, operand.into());
    }

    /// `dst = dst * src`, of 16 bits or more
    pub fn imul(&mut self, ty: Type, dst: u8, src: impl Into<Rm>) {
        opcode!(imul ecx, [rax]).on(ty).write(self, dst, src.into());
    }

    /// `dst = src * imm`, of 16 bits or more
    pub fn imul_imm(&mut self, ty: Type, dst: u8, src: impl Into<Rm>, imm: i64) {
        if imm as i8 as i64 == imm {
            opcode!(imul ecx, [rax], BYTE 1).on(ty).write(self, dst, src.into());
            self.byte(imm as u8);
        } else {
            opcode!(imul ecx, [rax], DWORD 1).on(ty).write(self, dst, src.into());
            self.imm(ty, imm);
        }
    }

    /// Spreads the sign of `rax` over `rdx`, of 16 bits or more.
    pub fn sign_to_rdx(&mut self, ty: Type) {
        match ty {
            Type::I16 => dynasm!(self; .arch x64; cwd),
            Type::I64 => dynasm!(self; .arch x64; cqo),
            _ => dynasm!(self; .arch x64; cdq),
        }
    }

    /// Reverses the bytes, of 32 or 64 bits.
    pub fn bswap(&mut self, ty: Type, dst: u8) {
        opcode!(bswap eax).on(ty).write_short(self, dst);
    }

    /// `popcnt` (0xb8), `tzcnt` (0xbc) or `lzcnt` (0xbd), of 32 or 64 bits.
    pub fn count_bits(&mut self, byte: u8, ty: Type, dst: u8, src: impl Into<Rm>) {
        opcode!(popcnt ecx, [rax]).plus(byte - 0xb8).on(ty).write(self, dst, src.into());
    }

    /// `bsf` (0xbc) or `bsr` (0xbd), of 32 or 64 bits.
    pub fn bit_scan(&mut self, byte: u8, ty: Type, dst: u8, src: impl Into<Rm>) {
        opcode!(bsf ecx, [rax]).plus(byte - 0xbc).on(ty).write(self, dst, src.into());
    }

    /// `setcc` with the machine's number of the condition.
    pub(crate) fn setcc(&mut self, cc: u8, dst: u8) {
        opcode!(seto BYTE [rax]).plus(cc).byte_rm().write_one(self, dst.into());
    }

    /// `cmovcc` with the machine's number of the condition.
    pub(crate) fn cmovcc(&mut self, cc: u8, wide: bool, dst: u8, src: impl Into<Rm>) {
        opcode!(cmovo ecx, [rax]).plus(cc).wide(wide).write(self, dst, src.into());
    }

    /// Pushes 8 bytes. Not `push`: that is what dynasm calls on this type for a single byte of code.
    pub fn push64(&mut self, src: impl Into<Rm>) {
        match src.into() {
            Rm::Reg(reg) => opcode!(push rax).write_short(self, reg),
            mem => opcode!(push QWORD [rax]).write_one(self, mem),
        }
    }

    /// Pops 8 bytes.
    pub fn pop64(&mut self, dst: impl Into<Rm>) {
        match dst.into() {
            Rm::Reg(reg) => opcode!(pop rax).write_short(self, reg),
            mem => opcode!(pop QWORD [rax]).write_one(self, mem),
        }
    }

    /// Calls the function at an address in a register or in memory.
    pub fn call(&mut self, target: impl Into<Rm>) {
        opcode!(call QWORD [rax]).write_one(self, target.into());
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
        opcode!(jmp QWORD [rax]).write_one(self, target.into());
    }

    /// `dst = dst op src`, or `dst = op src` for the square root.
    pub fn sse(&mut self, sse: Sse, ty: Type, dst: u8, src: impl Into<Rm>) {
        sse.opcodes().of(ty).write(self, dst, src.into());
    }

    /// Bitwise on whole registers.
    pub fn sse_bits(&mut self, bits: Bits, dst: u8, src: impl Into<Rm>) {
        bits.opcodes().write(self, dst, src.into());
    }

    /// A float register to a float register; nothing if they are the same.
    pub fn movaps(&mut self, dst: u8, src: u8) {
        if dst != src {
            opcode!(movaps xmm1, [rax]).write(self, dst, src.into());
        }
    }

    /// Loads a float.
    pub fn load_float(&mut self, ty: Type, dst: u8, from: impl Into<Rm>) {
        LOAD_FLOAT.of(ty).write(self, dst, from.into());
    }

    /// Stores a float.
    pub fn store_float(&mut self, ty: Type, mem: Mem, src: u8) {
        STORE_FLOAT.of(ty).write(self, src, mem.into());
    }

    /// Compares floats: above, equal, below or unordered (parity).
    pub fn ucomis(&mut self, ty: Type, a: u8, b: impl Into<Rm>) {
        COMPARE_FLOATS.of(ty).write(self, a, b.into());
    }

    /// A signed integer of 32 or 64 bits as a float.
    pub fn int_to_float(&mut self, from: Type, to: Type, dst: u8, src: impl Into<Rm>) {
        FROM_INT.of(to).wide(from == Type::I64).write(self, dst, src.into());
    }

    /// A float as a signed integer of 32 or 64 bits; the least one where there is none.
    pub fn float_to_int(&mut self, from: Type, wide: bool, dst: u8, src: impl Into<Rm>) {
        TO_INT.of(from).wide(wide).write(self, dst, src.into());
    }

    /// To the other float width.
    pub fn float_to_float(&mut self, from: Type, dst: u8, src: impl Into<Rm>) {
        CONVERT_FLOAT.of(from).write(self, dst, src.into());
    }

    /// The bits of an integer register into a float register.
    pub fn bits_to_float(&mut self, wide: bool, dst: u8, src: u8) {
        opcode!(movd xmm1, [rax]).wide(wide).write(self, dst, src.into());
    }

    /// The bits of a float register into an integer register.
    pub fn bits_to_int(&mut self, wide: bool, dst: u8, src: u8) {
        opcode!(movd[rax], xmm1).wide(wide).write(self, src, dst.into());
    }

    /// Rounds: 0 to nearest even, 1 down, 2 up, 3 toward zero.
    pub fn round(&mut self, mode: u8, ty: Type, dst: u8, src: impl Into<Rm>) {
        ROUND.of(ty).write(self, dst, src.into());
        // Bit 3: no precision exception.
        self.byte(mode | 8);
    }
}
