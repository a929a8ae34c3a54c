//! The instructions that `docs/emitters.md` lists, compared with an independent decoder: the call emits the instruction before
//! the colon.

use super::*;
use iced_x86::{Decoder, DecoderOptions, Formatter, NasmFormatter};

const RAX: u8 = 0;
const RCX: u8 = 1;
const RDX: u8 = 2;
const RSI: u8 = 6;
const XMM0: u8 = 0;
const XMM1: u8 = 1;
const I32: Type = Type::I32;
const I64: Type = Type::I64;
const F32: Type = Type::F32;
const F64: Type = Type::F64;

fn text(bytes: &[u8]) -> String {
    let mut formatter = NasmFormatter::new();
    let options = formatter.options_mut();
    options.set_space_after_operand_separator(true);
    options.set_hex_prefix("0x");
    options.set_hex_suffix("");
    options.set_uppercase_hex(false);
    options.set_show_branch_size(false);
    let mut lines = Vec::new();
    for instruction in &mut Decoder::new(64, bytes, DecoderOptions::NONE) {
        let mut line = String::new();
        formatter.format(&instruction, &mut line);
        lines.push(line);
    }
    lines.join("; ")
}

macro_rules! emits {
    ($cx:ident; $($text:literal: $call:expr;)*) => {
        $($call;
        assert_eq!(text(&$cx.take()), $text, stringify!($call));)*
    };
}

#[test]
fn instructions_are_what_the_document_says() {
    let cx = &mut Emitter::bare();
    emits! { cx;
        "add rax, rcx": cx.alu(Alu::Add, I64, RAX, RCX);
        "add rax, [rsi+8]": cx.alu(Alu::Add, I64, RAX, Mem::at(RSI, 8));
        "add [rsi+rcx*8], eax": cx.alu(Alu::Add, I32, Mem::element(RSI, RCX, 8, 0), RAX);
        "and rax, 0xf": cx.alu(Alu::And, I64, RAX, Immediate(15));
        "test rax, rcx": cx.alu(Alu::Test, I64, RAX, RCX);
        "test eax, 0x100": cx.alu(Alu::Test, I32, RAX, Immediate(256));
        "mov rax, rcx": cx.mov(RAX, RCX);
        "mov eax, 7": cx.mov_imm(RAX, 7);
        "mov eax, [rsi]": cx.load(I32, RAX, Mem::at(RSI, 0));
        "mov [rsi+4], eax": cx.store(I32, Mem::at(RSI, 4), RAX);
        "mov qword [rsi], 1": cx.store(I64, Mem::at(RSI, 0), Immediate(1));
        "lock xadd [rsi], rax": cx.atomic(Atomic::Add, I64, Mem::at(RSI, 0), RAX);
        "lea rax, [rsi+rcx*4+1]": cx.lea(true, RAX, Mem::element(RSI, RCX, 4, 1));
        "movzx eax, cl": cx.movzx(Type::I8, RAX, RCX);
        "movsxd rax, ecx": cx.movsx(I32, I64, RAX, RCX);
        "shl rax, 3": cx.shift(Shift::Shl, I64, RAX, Immediate(3));
        "sar eax, cl": cx.shift(Shift::Sar, I32, RAX, CL);
        "shlx rax, [rsi], rcx": cx.shift_x(Shift::Shl, I64, RAX, Mem::at(RSI, 0), RCX);
        "rorx rax, rcx, 5": cx.shift_x(Shift::Ror, I64, RAX, RCX, Immediate(5));
        "neg rax": cx.unary(Unary::Neg, I64, RAX);
        "imul rax, rcx": cx.imul(I64, RAX, RCX);
        "imul rax, rcx, 0xa": cx.imul_imm(I64, RAX, RCX, 10);
        "bswap rax": cx.unary(Unary::Bswap, I64, RAX);
        "popcnt rax, rcx": cx.count_bits(BitCount::Popcnt, I64, RAX, RCX);
        "bsf rax, rcx": cx.count_bits(BitCount::Bsf, I64, RAX, RCX);
        "push rax": cx.push64(RAX);
        "pop rcx": cx.pop64(RCX);
        "call rax": cx.call(RAX);
        "jmp rdx": cx.jmp_to(RDX);
        "addsd xmm0, xmm1": cx.sse(Sse::Add, F64, XMM0, XMM1);
        "xorps xmm0, xmm1": cx.sse_bits(Bits::Xor, XMM0, XMM1);
        "movaps xmm0, xmm1": cx.movaps(XMM0, XMM1);
        "movsd xmm0, [rsi]": cx.load(F64, XMM0, Mem::at(RSI, 0));
        "movsd [rsi], xmm0": cx.store(F64, Mem::at(RSI, 0), XMM0);
        "ucomisd xmm0, xmm1": cx.sse(Sse::Ucomi, F64, XMM0, XMM1);
        "cvtsi2sd xmm0, rax": cx.convert(I64, F64, XMM0, RAX);
        "cvttsd2si rax, xmm0": cx.convert(F64, I64, RAX, XMM0);
        "cvtsd2ss xmm0, xmm1": cx.convert(F64, F32, XMM0, XMM1);
        "movq xmm0, rax": cx.bitcast(I64, XMM0, RAX);
        "movq rax, xmm0": cx.bitcast(F64, RAX, XMM0);
        "roundsd xmm0, xmm1, 9": cx.round(9, F64, XMM0, XMM1);
    }
    cx.call_address(0x1234_5678_9abc, RAX);
    assert_eq!(text(&cx.take()), "mov rax, 0x123456789abc; call rax");
}
