//! Instructions over operand forms: one method for each family, for every width and every form of operand.
//!
//! In: an operation, a width, registers and memory operands. Out: bytes, in the shortest encoding.
//!
//! dynasm assembles each instruction once, when this crate is built ([`mod@crate::opcode`]); the code here only puts in the operands,
//! whose form is data. So an instruction is written once for all of its forms, and no assembler runs when code is made.

use crate::emit::{Cond, Emitter};
use crate::jump::Jump;
use crate::opcode::{opcode, vex};
use crate::words::{CONVERT_FLOAT, FROM_INT, LOAD_FLOAT, ROUND, STORE_FLOAT, TO_INT};
use azulejo_code::emit::Goal;
use azulejo_core::vocab::Type;

pub use crate::words::{Alu, Atomic, BitCount, Bits, Shift, Sse, Unary};

#[cfg(test)]
mod shown;
#[cfg(test)]
mod tests;

/// A memory operand.
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
    /// A register to add, and the logarithm of its scale.
    pub index: Option<(u8, u8)>,
    /// The offset.
    pub disp: i32,
}

impl Mem {
    /// A register plus an offset.
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
    /// Memory.
    Mem(Mem),
    /// This entry of the pool behind the code. Only for instructions that end with this operand.
    Constant(u32),
    /// This address outside of the code, which must be in reach. Only for instructions that end with this operand.
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

/// A constant as an operand.
///
/// ```
/// # mod azulejo { pub use azulejo_x64 as x64; }
/// use azulejo::x64::encode::{Immediate, Operand};
/// assert_eq!(Operand::from(Immediate(-1)), Operand::Immediate(-1));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Immediate(pub i64);

/// An operand that is only read.
///
/// ```
/// # mod azulejo { pub use azulejo_x64 as x64; }
/// use azulejo::x64::Mem;
/// use azulejo::x64::encode::{Operand, Rm};
/// assert_eq!(Operand::from(Mem::at(6, 8)), Operand::Place(Rm::Mem(Mem::at(6, 8))));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operand {
    /// A register or memory.
    Place(Rm),
    /// A constant.
    Immediate(i64),
}

impl<T: Into<Rm>> From<T> for Operand {
    fn from(place: T) -> Operand {
        Operand::Place(place.into())
    }
}

impl From<Immediate> for Operand {
    fn from(Immediate(imm): Immediate) -> Operand {
        Operand::Immediate(imm)
    }
}

/// The register of shift counts.
///
/// ```
/// # mod azulejo { pub use azulejo_x64 as x64; }
/// assert_eq!(azulejo::x64::encode::CL, azulejo::x64::regs::RCX.number());
/// ```
pub const CL: u8 = 1;

pub(crate) const RSP: u8 = 4;
pub(crate) const RBP: u8 = 5;
const RAX: u8 = 0;

impl Emitter {
    /// `dst = dst op src`: a register and any operand, or memory and a register or an immediate of at most 32 bits.
    pub fn alu(&mut self, alu: Alu, ty: Type, dst: impl Into<Rm>, src: impl Into<Operand>) {
        let opcodes = alu.opcodes();
        match (dst.into(), src.into()) {
            (dst, Operand::Immediate(imm)) => match opcodes.imm8 {
                Some(imm8) if ty != Type::I8 && imm as i8 as i64 == imm => {
                    imm8.on(ty).write_one(self, dst);
                    self.byte(imm as u8);
                }
                _ => {
                    opcodes.imm.sized(ty).write_one(self, dst);
                    write_imm(self, ty, imm);
                }
            },
            (dst, Operand::Place(Rm::Reg(src))) if alu == Alu::Test => {
                opcodes.to_mem.sized(ty).write(self, src, dst)
            }
            (Rm::Reg(dst), Operand::Place(src)) => opcodes.to_reg.sized(ty).write(self, dst, src),
            (dst, Operand::Place(Rm::Reg(src))) => opcodes.to_mem.sized(ty).write(self, src, dst),
            (dst, src) => panic!("{dst:?} and {src:?} are two places in memory"),
        }
    }

    /// Copies a register, all 64 bits; emits nothing if the two are the same.
    pub fn mov(&mut self, dst: u8, src: u8) {
        if dst != src {
            opcode!(mov rcx, [rax]).write(self, dst, src.into());
        }
    }

    /// Loads a constant of a type, without changing the flags. In a stencil it may stand for others of either sign.
    pub(crate) fn mov_const(&mut self, ty: Type, dst: u8, bits: u64) {
        if ty == Type::I64 && self.may_have_either_sign(bits) {
            self.mov_sign_extended(dst, bits);
        } else {
            self.mov_imm(dst, bits);
        }
    }

    fn mov_sign_extended(&mut self, dst: u8, bits: u64) {
        opcode!(mov QWORD [rax], DWORD 1).write_one(self, dst.into());
        self.bytes(&(bits as u32).to_le_bytes());
    }

    /// Loads a constant, without changing the flags.
    pub fn mov_imm(&mut self, dst: u8, bits: u64) {
        if bits <= u32::MAX as u64 {
            opcode!(mov eax, DWORD 1).write_short(self, dst);
            self.bytes(&(bits as u32).to_le_bytes());
        } else if bits as i64 == bits as i32 as i64 {
            self.mov_sign_extended(dst, bits);
        } else if self.reaches(bits) {
            opcode!(lea rcx, [rax]).write(self, dst, Rm::Address(bits));
        } else {
            opcode!(mov rax, QWORD 1).write_short(self, dst);
            self.bytes(&bits.to_le_bytes());
        }
    }

    /// Loads an integer, zero-extended if it is narrow, or a float.
    pub fn load(&mut self, ty: Type, dst: u8, from: impl Into<Rm>) {
        match ty {
            Type::F32 | Type::F64 => LOAD_FLOAT.of(ty).write(self, dst, from.into()),
            Type::I64 => opcode!(mov rcx, [rax]).write(self, dst, from.into()),
            _ => self.movzx(ty, dst, from),
        }
    }

    /// Stores an integer or a float from a register, or a constant; a 64-bit one must be a sign-extended 32-bit number.
    pub fn store(&mut self, ty: Type, mem: Mem, src: impl Into<Operand>) {
        match src.into() {
            Operand::Immediate(imm) => {
                opcode!(mov DWORD [rax], DWORD 1).sized(ty).write_one(self, mem.into());
                write_imm(self, ty, imm);
            }
            Operand::Place(Rm::Reg(src)) if ty.is_float() => STORE_FLOAT.of(ty).write(self, src, mem.into()),
            Operand::Place(Rm::Reg(src)) => {
                opcode!(mov DWORD [rax], ecx).sized(ty).write(self, src, mem.into())
            }
            Operand::Place(place) => panic!("{place:?} and {mem:?} are two places in memory"),
        }
    }

    /// Reads and writes memory atomically.
    pub fn atomic(&mut self, atomic: Atomic, ty: Type, mem: Mem, reg: u8) {
        atomic.opcodes().sized(ty).write(self, reg, mem.into());
    }

    /// Loads the address of a memory operand.
    pub fn lea(&mut self, wide: bool, dst: u8, mem: Mem) {
        opcode!(lea ecx, [rax]).wide(wide).write(self, dst, mem.into());
    }

    /// Zero-extends.
    pub fn movzx(&mut self, from: Type, dst: u8, src: impl Into<Rm>) {
        match from {
            Type::I8 | Type::Flag => opcode!(movzx ecx, BYTE [rax]).byte_rm().write(self, dst, src.into()),
            Type::I16 => opcode!(movzx ecx, WORD [rax]).write(self, dst, src.into()),
            _ => opcode!(mov ecx, [rax]).write(self, dst, src.into()),
        }
    }

    /// Sign-extends.
    pub fn movsx(&mut self, from: Type, to: Type, dst: u8, src: impl Into<Rm>) {
        let wide = to == Type::I64;
        match from {
            Type::I8 => opcode!(movsx ecx, BYTE [rax]).byte_rm().wide(wide).write(self, dst, src.into()),
            Type::I16 => opcode!(movsx ecx, WORD [rax]).wide(wide).write(self, dst, src.into()),
            _ => opcode!(movsxd rcx, DWORD [rax]).wide(wide).write(self, dst, src.into()),
        }
    }

    /// Shifts by a constant or by [`CL`].
    pub fn shift(&mut self, shift: Shift, ty: Type, dst: impl Into<Rm>, count: impl Into<Operand>) {
        let opcodes = shift.opcodes();
        match count.into() {
            Operand::Immediate(1) => opcodes.by_one.sized(ty).write_one(self, dst.into()),
            Operand::Immediate(count) => {
                opcodes.by_imm.sized(ty).write_one(self, dst.into());
                self.byte(count as u8);
            }
            Operand::Place(Rm::Reg(CL)) => opcodes.by_cl.sized(ty).write_one(self, dst.into()),
            Operand::Place(place) => panic!("{place:?} does not say how far: that is a constant or cl"),
        }
    }

    /// Shifts `src` by any register (`shlx`, `shrx`, `sarx`) or rotates it right by a constant (`rorx`), without changing the
    /// flags.
    pub fn shift_x(
        &mut self,
        shift: Shift,
        ty: Type,
        dst: u8,
        src: impl Into<Rm>,
        count: impl Into<Operand>,
    ) {
        let (is_wide, src) = (ty == Type::I64, src.into());
        let (vex, count) = match (shift, count.into()) {
            (Shift::Shl, Operand::Place(Rm::Reg(count))) => (vex!(shlx ecx, [rax], edx), count),
            (Shift::Shr, Operand::Place(Rm::Reg(count))) => (vex!(shrx ecx, [rax], edx), count),
            (Shift::Sar, Operand::Place(Rm::Reg(count))) => (vex!(sarx ecx, [rax], edx), count),
            (Shift::Ror, Operand::Immediate(count)) => {
                vex!(rorx ecx, [rax], 1).write(self, is_wide, dst, 0, src);
                return self.byte(count as u8);
            }
            (shift, count) => panic!("there is no {shift:?} by {count:?} that leaves the flags"),
        };
        vex.write(self, is_wide, dst, count, src);
    }

    /// `not`, `neg`, the multiplications and divisions of `rdx:rax`, and `bswap` of a 32-bit or 64-bit register.
    pub fn unary(&mut self, unary: Unary, ty: Type, operand: impl Into<Rm>) {
        match (unary, operand.into()) {
            (Unary::Bswap, Rm::Reg(reg)) => unary.opcodes().on(ty).write_short(self, reg),
            (Unary::Bswap, place) => panic!("{place:?} is no register"),
            (_, operand) => unary.opcodes().sized(ty).write_one(self, operand),
        }
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
            write_imm(self, ty, imm);
        }
    }

    /// Counts bits, or finds the first or last one, of 32 or 64 bits.
    pub fn count_bits(&mut self, count: BitCount, ty: Type, dst: u8, src: impl Into<Rm>) {
        count.opcodes().on(ty).write(self, dst, src.into());
    }

    /// Pushes 8 bytes. It is not called `push`, since dynasm calls a method of that name for each byte of code.
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

    /// Calls a function at a known address. If that is out of reach, `scratch` is overwritten.
    pub fn call_address(&mut self, address: u64, scratch: u8) {
        if self.reaches(address) {
            opcode!(call DWORD 0).write_plain(self);
            field(self, Goal::Address(address));
        } else {
            self.mov_imm(scratch, address);
            self.call(scratch);
        }
    }

    /// Jumps to an address in a register or in memory.
    pub fn jmp_to(&mut self, target: impl Into<Rm>) {
        opcode!(jmp QWORD [rax]).write_one(self, target.into());
    }

    /// `dst = dst op src`, or `dst = op src` for the square root; a comparison sets the flags for above, equal, below or
    /// unordered (parity).
    pub fn sse(&mut self, sse: Sse, ty: Type, dst: u8, src: impl Into<Rm>) {
        sse.opcodes().of(ty).write(self, dst, src.into());
    }

    /// A bitwise operation on whole registers.
    pub fn sse_bits(&mut self, bits: Bits, dst: u8, src: impl Into<Rm>) {
        bits.opcodes().write(self, dst, src.into());
    }

    /// Copies a float register; emits nothing if the two are the same.
    pub fn movaps(&mut self, dst: u8, src: u8) {
        if dst != src {
            opcode!(movaps xmm1, [rax]).write(self, dst, src.into());
        }
    }

    /// Converts between signed integers of 32 or 64 bits and floats, and between floats. A float out of the integer's range
    /// becomes the least integer.
    pub fn convert(&mut self, from: Type, to: Type, dst: u8, src: impl Into<Rm>) {
        let opcode = match (from.is_float(), to.is_float()) {
            (true, true) => CONVERT_FLOAT.of(from),
            (true, false) => TO_INT.of(from).wide(to == Type::I64),
            (false, true) => FROM_INT.of(to).wide(from == Type::I64),
            (false, false) => panic!("integers are widened by movsx and movzx"),
        };
        opcode.write(self, dst, src.into());
    }

    /// Copies the bits of an integer register to a float register, or of a float register to an integer register.
    pub fn bitcast(&mut self, from: Type, dst: u8, src: u8) {
        match from.is_float() {
            true => opcode!(movd[rax], xmm1).wide(from == Type::F64).write(self, src, dst.into()),
            false => opcode!(movd xmm1, [rax]).wide(from == Type::I64).write(self, dst, src.into()),
        }
    }

    /// Rounds: 0 to nearest even, 1 down, 2 up, 3 toward zero.
    pub fn round(&mut self, mode: u8, ty: Type, dst: u8, src: impl Into<Rm>) {
        ROUND.of(ty).write(self, dst, src.into());
        // Bit 3: no precision exception.
        self.byte(mode | 8);
    }
}

fn write_imm(cx: &mut Emitter, ty: Type, imm: i64) {
    match ty {
        Type::I8 => cx.byte(imm as u8),
        Type::I16 => cx.bytes(&(imm as i16).to_le_bytes()),
        _ => cx.bytes(&(imm as i32).to_le_bytes()),
    }
}

/// Sets the low byte of a register to whether a plain condition holds.
pub(crate) fn setcc(cx: &mut Emitter, condition: Cond, dst: u8) {
    opcode!(seto BYTE [rax]).plus(condition as u8).byte_rm().write_one(cx, dst.into());
}

/// `dst = src` if a plain condition holds.
pub(crate) fn cmovcc(cx: &mut Emitter, condition: Cond, wide: bool, dst: u8, src: impl Into<Rm>) {
    opcode!(cmovo ecx, [rax]).plus(condition as u8).wide(wide).write(cx, dst, src.into());
}

/// Emits the distance to a goal. Only for instructions that end with it.
pub(crate) fn field(cx: &mut Emitter, to: Goal) {
    cx.fixup(to, Jump::Field);
    cx.bytes(&[0; 4]);
}

/// `[word] = [word] op imm` with a 64-bit word at a known address, and a small immediate. No register is clobbered.
pub(crate) fn alu_word(cx: &mut Emitter, alu: Alu, address: u64, imm: i8) {
    // The distance counts from behind the immediate.
    let from_distance = address.wrapping_sub(1);
    if let (Some(imm8), true) = (alu.opcodes().imm8, cx.reaches(from_distance)) {
        imm8.wide(true).write_one(cx, Rm::Address(from_distance));
        return cx.byte(imm as u8);
    }
    // `push` and `mov` do not change the flags, and neither does `pop`.
    cx.push64(RAX);
    cx.mov_imm(RAX, address);
    cx.alu(alu, Type::I64, Mem::at(RAX, 0), Immediate(imm as i64));
    cx.pop64(RAX);
}

/// Loads a word of 64 bits from a known address.
pub(crate) fn load_known(cx: &mut Emitter, dst: u8, address: u64) {
    if cx.reaches(address) {
        return cx.load(Type::I64, dst, Rm::Address(address));
    }
    cx.mov_imm(dst, address);
    cx.load(Type::I64, dst, Mem::at(dst, 0));
}
