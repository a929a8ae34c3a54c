//! Every encoder, compared with an independent decoder.

use super::*;
use iced_x86::{Decoder, DecoderOptions, Instruction, MemorySize, Mnemonic, OpKind, Register};

/// An operand as the decoder should see it.
#[derive(Clone, Copy, Debug)]
enum Is {
    Int(Type, u8),
    Float(u8),
    Mem(Mem),
    /// With this width: the decoder widens some immediates and not others.
    Immediate(Type, i64),
}

const INTS: [Type; 4] = Type::INTS;
const WORDS: [Type; 2] = [Type::I32, Type::I64];

fn register(ty: Type, number: u8) -> Register {
    use Register::*;
    let first = match ty {
        Type::I8 if number < 4 => AL,
        Type::I8 => {
            return [SPL, BPL, SIL, DIL, R8L, R9L, R10L, R11L, R12L, R13L, R14L, R15L][number as usize - 4];
        }
        Type::I16 => AX,
        Type::I32 => EAX,
        _ => RAX,
    };
    first + number as u32
}

fn int(ty: Type, operand: Rm) -> Is {
    expected(operand, |reg| Is::Int(ty, reg))
}

fn float(operand: Rm) -> Is {
    expected(operand, Is::Float)
}

fn expected(operand: Rm, register: impl Fn(u8) -> Is) -> Is {
    match operand {
        Rm::Reg(reg) => register(reg),
        Rm::Mem(mem) => Is::Mem(mem),
        Rm::Constant(_) | Rm::Address(_) => unreachable!("it has no place before the code is linked"),
    }
}

/// Memory operands that together have every register as base and as index, every scale, and offsets of every size.
fn places() -> Vec<Mem> {
    let offsets = [0, 1, -1, 127, 128, -128, -129, i32::MAX as i64, i32::MIN as i64];
    let mut all = Vec::new();
    for base in 0..16 {
        for offset in offsets {
            all.push(Mem::at(base, offset));
        }
        for index in (0..16).filter(|index| *index != RSP) {
            let turn = (base + index) as usize;
            all.push(Mem::element(base, index, 1 << (turn % 4), offsets[turn % offsets.len()]));
            all.push(Mem::element(base, index, 1 << (turn % 4), 0));
        }
    }
    all
}

fn operands() -> Vec<Rm> {
    (0..16).map(Rm::Reg).chain(places().into_iter().map(Rm::Mem)).collect()
}

fn decode(code: &[u8]) -> Instruction {
    let mut decoder = Decoder::with_ip(64, code, 0, DecoderOptions::NONE);
    let instruction = decoder.decode();
    assert!(!instruction.is_invalid(), "{code:02x?}");
    assert_eq!(instruction.len(), code.len(), "{code:02x?} is one instruction");
    instruction
}

fn check_mem(instruction: &Instruction, mem: Mem, code: &[u8]) {
    assert_eq!(instruction.memory_base(), register(Type::I64, mem.base), "{code:02x?}");
    match mem.index {
        Some((index, scale)) => {
            assert_eq!(instruction.memory_index(), register(Type::I64, index), "{code:02x?}");
            assert_eq!(instruction.memory_index_scale(), 1 << scale, "{code:02x?}");
        }
        None => assert_eq!(instruction.memory_index(), Register::None, "{code:02x?}"),
    }
    assert_eq!(instruction.memory_displacement64() as i64, mem.disp as i64, "{code:02x?}");
    // The shortest offset: none if it is zero, except for `rbp` and `r13` as a base.
    let shortest = match mem.disp {
        0 if mem.base & 7 != RBP => 0,
        -128..=127 => 1,
        _ => 8,
    };
    assert_eq!(instruction.memory_displ_size(), shortest, "{code:02x?}");
}

/// Runs an encoder and checks the instruction that it emitted.
fn check(
    emitter: &mut Emitter,
    mnemonic: Mnemonic,
    expected: &[Is],
    encode: impl FnOnce(&mut Emitter),
) -> usize {
    encode(emitter);
    let code = emitter.take();
    let instruction = decode(&code);
    assert_eq!(instruction.mnemonic(), mnemonic, "{code:02x?}");
    assert!(instruction.op_count() as usize >= expected.len(), "{code:02x?}");
    for (at, expected) in expected.iter().enumerate() {
        let at = at as u32;
        match *expected {
            Is::Int(ty, number) => {
                assert_eq!(instruction.op_register(at), register(ty, number), "{code:02x?}")
            }
            Is::Float(number) => {
                assert_eq!(instruction.op_register(at), Register::XMM0 + number as u32, "{code:02x?}")
            }
            Is::Immediate(ty, imm) => {
                assert_eq!(ty.truncate(instruction.immediate(at)), ty.truncate(imm as u64), "{code:02x?}")
            }
            Is::Mem(mem) => {
                assert_eq!(instruction.op_kind(at), OpKind::Memory, "{code:02x?}");
                check_mem(&instruction, mem, &code);
            }
        }
    }
    code.len()
}

/// The size of an instruction's memory operand.
fn width(emitter: &mut Emitter, encode: impl FnOnce(&mut Emitter)) -> MemorySize {
    encode(emitter);
    decode(&emitter.take()).memory_size()
}

/// Members of a family, with mnemonics of the same names.
macro_rules! members {
    ($family:ident: $($member:ident)+) => {
        [$(($family::$member, Mnemonic::$member)),+]
    };
}

const ALUS: [(Alu, Mnemonic); 6] = members!(Alu: Add Or And Sub Xor Cmp);

#[test]
fn arithmetic() {
    let cx = &mut Emitter::bare();
    for operand in operands() {
        for ty in INTS {
            let at = int(ty, operand);
            for reg in 0..16 {
                for (alu, mnemonic) in ALUS {
                    check(cx, mnemonic, &[Is::Int(ty, reg), at], |cx| cx.alu(alu, ty, reg, operand));
                    if let Rm::Mem(mem) = operand {
                        check(cx, mnemonic, &[at, Is::Int(ty, reg)], |cx| cx.alu(alu, ty, mem, reg));
                    }
                }
                check(cx, Mnemonic::Test, &[at, Is::Int(ty, reg)], |cx| cx.alu(Alu::Test, ty, operand, reg));
            }
            for (unary, mnemonic) in members!(Unary: Not Neg Mul Imul Div Idiv) {
                check(cx, mnemonic, &[at], |cx| cx.unary(unary, ty, operand));
            }
        }
    }
}

#[test]
fn immediates() {
    let cx = &mut Emitter::bare();
    for operand in operands() {
        for ty in INTS {
            let at = int(ty, operand);
            let limits = if ty == Type::I64 { Type::I32 } else { ty };
            let (least, most) = (limits.signed(1 << (limits.bits() - 1)), (limits.mask() >> 1) as i64);
            for imm in [0, 1, -1, 127, -128, least, most] {
                for (alu, mnemonic) in ALUS {
                    check(cx, mnemonic, &[at, Is::Immediate(ty, imm)], |cx| {
                        cx.alu(alu, ty, operand, Immediate(imm))
                    });
                }
                check(cx, Mnemonic::Test, &[at, Is::Immediate(ty, imm)], |cx| {
                    cx.alu(Alu::Test, ty, operand, Immediate(imm))
                });
                if let Rm::Mem(mem) = operand {
                    check(cx, Mnemonic::Mov, &[at, Is::Immediate(ty, imm)], |cx| {
                        cx.store(ty, mem, Immediate(imm))
                    });
                }
                if ty != Type::I8 {
                    for reg in 0..16 {
                        let expected = [Is::Int(ty, reg), at, Is::Immediate(ty, imm)];
                        check(cx, Mnemonic::Imul, &expected, |cx| cx.imul_imm(ty, reg, operand, imm));
                    }
                }
            }
            for (shift, mnemonic) in members!(Shift: Rol Ror Shl Shr Sar) {
                for count in 0..ty.bits() as i64 {
                    check(cx, mnemonic, &[at, Is::Immediate(Type::I8, count)], |cx| {
                        cx.shift(shift, ty, operand, Immediate(count))
                    });
                }
                check(cx, mnemonic, &[at, Is::Int(Type::I8, 1)], |cx| cx.shift(shift, ty, operand, CL));
            }
        }
    }
}

#[test]
fn immediates_are_short() {
    let cx = &mut Emitter::bare();
    let reg = |number| Rm::Reg(number);
    let mut length = |encode: &dyn Fn(&mut Emitter)| {
        encode(cx);
        cx.take().len()
    };
    assert_eq!(length(&|cx| cx.alu(Alu::Add, Type::I32, reg(3), Immediate(127))), 3);
    assert_eq!(length(&|cx| cx.alu(Alu::Add, Type::I64, reg(3), Immediate(-128))), 4);
    assert_eq!(length(&|cx| cx.alu(Alu::Add, Type::I64, reg(3), Immediate(128))), 7);
    assert_eq!(length(&|cx| cx.imul_imm(Type::I32, 3, reg(3), 5)), 3);
    assert_eq!(length(&|cx| cx.mov_imm(3, u32::MAX as u64)), 5);
    assert_eq!(length(&|cx| cx.mov_imm(3, u64::MAX)), 7);
    assert_eq!(length(&|cx| cx.mov_imm(3, 1 << 40)), 10);
    assert_eq!(length(&|cx| cx.shift(Shift::Shl, Type::I32, reg(3), Immediate(1))), 2);
    assert_eq!(length(&|cx| cx.mov(3, 3)), 0);
    assert_eq!(length(&|cx| cx.movaps(3, 3)), 0);
}

#[test]
fn moves() {
    let cx = &mut Emitter::bare();
    for dst in 0..16 {
        for bits in [0, 1, u32::MAX as u64, 1 << 32, u64::MAX, i32::MIN as i64 as u64, 0x0123_4567_89ab_cdef]
        {
            cx.mov_imm(dst, bits);
            let instruction = decode(&cx.take());
            assert_eq!(instruction.mnemonic(), Mnemonic::Mov);
            assert_eq!(instruction.op0_register().full_register(), register(Type::I64, dst));
            assert_eq!(instruction.immediate(1), bits, "writing 32 bits clears the others");
        }
        for src in (0..16).filter(|src| *src != dst) {
            let wide = [Is::Int(Type::I64, dst), Is::Int(Type::I64, src)];
            check(cx, Mnemonic::Mov, &wide, |cx| cx.mov(dst, src));
            check(cx, Mnemonic::Movaps, &[Is::Float(dst), Is::Float(src)], |cx| cx.movaps(dst, src));
        }
        for ty in WORDS {
            check(cx, Mnemonic::Bswap, &[Is::Int(ty, dst)], |cx| cx.unary(Unary::Bswap, ty, dst));
        }
    }
    for operand in operands() {
        for reg in 0..16 {
            for from in [Type::I8, Type::I16] {
                let zero = [Is::Int(Type::I32, reg), int(from, operand)];
                check(cx, Mnemonic::Movzx, &zero, |cx| cx.movzx(from, reg, operand));
                for to in WORDS {
                    let sign = [Is::Int(to, reg), int(from, operand)];
                    check(cx, Mnemonic::Movsx, &sign, |cx| cx.movsx(from, to, reg, operand));
                }
            }
            let zero = [Is::Int(Type::I32, reg), int(Type::I32, operand)];
            check(cx, Mnemonic::Mov, &zero, |cx| cx.movzx(Type::I32, reg, operand));
            let sign = [Is::Int(Type::I64, reg), int(Type::I32, operand)];
            check(cx, Mnemonic::Movsxd, &sign, |cx| cx.movsx(Type::I32, Type::I64, reg, operand));
            for (code, condition) in Cond::PLAIN.into_iter().enumerate() {
                use Mnemonic::*;
                const SET: [Mnemonic; 16] = [
                    Seto, Setno, Setb, Setae, Sete, Setne, Setbe, Seta, Sets, Setns, Setp, Setnp, Setl,
                    Setge, Setle, Setg,
                ];
                const MOVE: [Mnemonic; 16] = [
                    Cmovo, Cmovno, Cmovb, Cmovae, Cmove, Cmovne, Cmovbe, Cmova, Cmovs, Cmovns, Cmovp, Cmovnp,
                    Cmovl, Cmovge, Cmovle, Cmovg,
                ];
                check(cx, SET[code], &[Is::Int(Type::I8, reg)], |cx| setcc(cx, condition, reg));
                for ty in WORDS {
                    let expected = [Is::Int(ty, reg), int(ty, operand)];
                    let wide = ty == Type::I64;
                    check(cx, MOVE[code], &expected, |cx| cmovcc(cx, condition, wide, reg, operand));
                }
            }
        }
        check(cx, Mnemonic::Push, &[int(Type::I64, operand)], |cx| cx.push64(operand));
        check(cx, Mnemonic::Pop, &[int(Type::I64, operand)], |cx| cx.pop64(operand));
        check(cx, Mnemonic::Call, &[int(Type::I64, operand)], |cx| cx.call(operand));
        check(cx, Mnemonic::Jmp, &[int(Type::I64, operand)], |cx| cx.jmp_to(operand));
    }
}

#[test]
fn memory() {
    let cx = &mut Emitter::bare();
    for mem in places() {
        for reg in 0..16 {
            let at = Is::Mem(mem);
            for (ty, mnemonic, to) in [
                (Type::I8, Mnemonic::Movzx, Type::I32),
                (Type::I16, Mnemonic::Movzx, Type::I32),
                (Type::I32, Mnemonic::Mov, Type::I32),
                (Type::I64, Mnemonic::Mov, Type::I64),
            ] {
                check(cx, mnemonic, &[Is::Int(to, reg), at], |cx| cx.load(ty, reg, mem));
                check(cx, Mnemonic::Mov, &[at, Is::Int(ty, reg)], |cx| cx.store(ty, mem, reg));
                assert_eq!(width(cx, |cx| cx.load(ty, reg, mem)).size(), ty.bytes() as usize);
                assert_eq!(width(cx, |cx| cx.store(ty, mem, Immediate(1))).size(), ty.bytes() as usize);
            }
            for (ty, mnemonic) in [(Type::F32, Mnemonic::Movss), (Type::F64, Mnemonic::Movsd)] {
                check(cx, mnemonic, &[Is::Float(reg), at], |cx| cx.load(ty, reg, mem));
                check(cx, mnemonic, &[at, Is::Float(reg)], |cx| cx.store(ty, mem, reg));
            }
            for ty in WORDS {
                check(cx, Mnemonic::Lea, &[Is::Int(ty, reg), at], |cx| cx.lea(ty == Type::I64, reg, mem));
            }
        }
    }
}

#[test]
fn bits() {
    let cx = &mut Emitter::bare();
    for operand in operands() {
        for reg in 0..16 {
            for ty in WORDS {
                let expected = [Is::Int(ty, reg), int(ty, operand)];
                for (count, mnemonic) in members!(BitCount: Popcnt Tzcnt Lzcnt Bsf Bsr) {
                    check(cx, mnemonic, &expected, |cx| cx.count_bits(count, ty, reg, operand));
                }
                let count = 15 - reg;
                let three = [expected[0], expected[1], Is::Int(ty, count)];
                for (shift, mnemonic) in
                    [(Shift::Shl, Mnemonic::Shlx), (Shift::Shr, Mnemonic::Shrx), (Shift::Sar, Mnemonic::Sarx)]
                {
                    check(cx, mnemonic, &three, |cx| cx.shift_x(shift, ty, reg, operand, count));
                }
                let rotated = [expected[0], expected[1], Is::Immediate(Type::I8, 13)];
                check(cx, Mnemonic::Rorx, &rotated, |cx| {
                    cx.shift_x(Shift::Ror, ty, reg, operand, Immediate(13))
                });
            }
            for ty in [Type::I16, Type::I32, Type::I64] {
                let expected = [Is::Int(ty, reg), int(ty, operand)];
                check(cx, Mnemonic::Imul, &expected, |cx| cx.imul(ty, reg, operand));
            }
        }
    }
}

#[test]
fn floats() {
    use Mnemonic::*;
    let cx = &mut Emitter::bare();
    let pick = |ty: Type, narrow: Mnemonic, wide: Mnemonic| if ty == Type::F32 { narrow } else { wide };
    for operand in operands() {
        for reg in 0..16 {
            for ty in Type::FLOATS {
                let both = [Is::Float(reg), float(operand)];
                for (sse, narrow, wide) in [
                    (Sse::Sqrt, Sqrtss, Sqrtsd),
                    (Sse::Add, Addss, Addsd),
                    (Sse::Mul, Mulss, Mulsd),
                    (Sse::Sub, Subss, Subsd),
                    (Sse::Min, Minss, Minsd),
                    (Sse::Div, Divss, Divsd),
                    (Sse::Max, Maxss, Maxsd),
                ] {
                    check(cx, pick(ty, narrow, wide), &both, |cx| cx.sse(sse, ty, reg, operand));
                }
                check(cx, pick(ty, Ucomiss, Ucomisd), &both, |cx| cx.sse(Sse::Ucomi, ty, reg, operand));
                let other = if ty == Type::F32 { Type::F64 } else { Type::F32 };
                check(cx, pick(ty, Cvtss2sd, Cvtsd2ss), &both, |cx| cx.convert(ty, other, reg, operand));
                for mode in 0..4 {
                    let rounded = [both[0], both[1], Is::Immediate(Type::I8, mode as i64 | 8)];
                    check(cx, pick(ty, Roundss, Roundsd), &rounded, |cx| cx.round(mode, ty, reg, operand));
                }
                for int_ty in WORDS {
                    let from = [Is::Float(reg), int(int_ty, operand)];
                    check(cx, pick(ty, Cvtsi2ss, Cvtsi2sd), &from, |cx| cx.convert(int_ty, ty, reg, operand));
                    let to = [Is::Int(int_ty, reg), float(operand)];
                    check(cx, pick(ty, Cvttss2si, Cvttsd2si), &to, |cx| cx.convert(ty, int_ty, reg, operand));
                }
            }
            if let Rm::Reg(other) = operand {
                for (bits, mnemonic) in
                    [(Bits::And, Andps), (Bits::AndNot, Andnps), (Bits::Or, Orps), (Bits::Xor, Xorps)]
                {
                    let both = [Is::Float(reg), Is::Float(other)];
                    check(cx, mnemonic, &both, |cx| cx.sse_bits(bits, reg, other));
                }
                for (ty, float, mnemonic) in [(Type::I32, Type::F32, Movd), (Type::I64, Type::F64, Movq)] {
                    let there = [Is::Float(reg), Is::Int(ty, other)];
                    check(cx, mnemonic, &there, |cx| cx.bitcast(ty, reg, other));
                    let back = [Is::Int(ty, reg), Is::Float(other)];
                    check(cx, mnemonic, &back, |cx| cx.bitcast(float, reg, other));
                }
            }
        }
    }
}

/// Atomic accesses have a `lock` prefix, except the exchange, which is always atomic.
#[test]
fn atomic_accesses() {
    let cx = &mut Emitter::bare();
    for mem in places() {
        for ty in INTS {
            let operands = [Is::Mem(mem), Is::Int(ty, 9)];
            for (atomic, mnemonic) in [
                (Atomic::Exchange, Mnemonic::Xchg),
                (Atomic::Add, Mnemonic::Xadd),
                (Atomic::CompareExchange, Mnemonic::Cmpxchg),
            ] {
                check(cx, mnemonic, &operands, |cx| cx.atomic(atomic, ty, mem, 9));
                cx.atomic(atomic, ty, mem, 9);
                let is_locked = decode(&cx.take()).has_lock_prefix();
                assert_eq!(is_locked, atomic != Atomic::Exchange, "{atomic:?}");
            }
        }
    }
}

/// Operands that no instruction of a family takes.
#[test]
fn what_does_not_exist_is_not_encoded() {
    let mem = Mem::at(RSP, 8);
    let refused = |encode: fn(&mut Emitter, Mem)| {
        let panic =
            std::panic::catch_unwind(|| encode(&mut Emitter::bare(), mem)).expect_err("it is encoded");
        panic.downcast_ref::<String>().expect("it says why").clone()
    };
    assert!(refused(|cx, mem| cx.alu(Alu::Add, Type::I64, mem, mem)).contains("two places in memory"));
    assert!(refused(|cx, mem| cx.store(Type::I64, mem, mem)).contains("two places in memory"));
    assert!(refused(|cx, mem| cx.shift(Shift::Shl, Type::I64, 0, mem)).contains("a constant or cl"));
    assert!(refused(|cx, _| cx.shift(Shift::Shl, Type::I64, 0, 2)).contains("a constant or cl"));
    assert!(refused(|cx, _| cx.shift_x(Shift::Rol, Type::I64, 0, 1, 2)).contains("no Rol by"));
    assert!(refused(|cx, mem| cx.unary(Unary::Bswap, Type::I64, mem)).contains("is no register"));
}

/// A user's tile may be written with dynasm, on the same emitter.
#[test]
#[allow(clippy::useless_conversion, reason = "dynasm converts the numbers of registers")]
fn dynasm_writes_here() {
    use dynasmrt::{DynasmApi, dynasm};
    let cx = &mut Emitter::bare();
    check(cx, Mnemonic::Pdep, &[Is::Int(Type::I64, 9), Is::Int(Type::I64, 2), Is::Int(Type::I64, 5)], |cx| {
        dynasm!(cx ; .arch x64 ; pdep Rq(9), Rq(2), Rq(5));
    });
    check(cx, Mnemonic::Add, &[Is::Int(Type::I64, 12), Is::Immediate(Type::I64, 7)], |cx| {
        dynasm!(cx ; .arch x64 ; add Rq(12), 7);
    });
}
