//! Code of the baseline compiler: operands of every width, from fields and from the operand stack; counting loop heads at
//! every position; and one compiler for bytecodes of several types.

#![allow(deprecated, reason = "programs name different registers where templates read inputs late")]
#![cfg(all(target_arch = "x86_64", any(unix, windows)))]

use azulejo::prelude::*;
use azulejo_core::ir::slow_paths::NO_SLOW_PATHS;
use azulejo_core::pass::Blind;
use azulejo_core::pass::build::Linkage;
use azulejo_core::verify::{Shape, verify};
use azulejo_x64::{Compiler, Features, Function, Status, X64};
use std::cell::Cell;

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    I8 {
        dst: Out<i64>,
        value: Imm<i8>,
    },
    U8 {
        value: Imm<u8>,
        dst: Out<i64>,
    },
    I16 {
        dst: Out<i64>,
        value: Imm<i16>,
    },
    U16(Imm<u16>, Out<i64>),
    I32 {
        dst: Out<i64>,
        value: Imm<i32>,
    },
    U32 {
        dst: Out<i64>,
        value: Imm<u32>,
    },
    I64 {
        dst: Out<i64>,
        value: Imm<i64>,
    },
    F32 {
        dst: Out<f64>,
        value: Imm<f32>,
    },
    F64 {
        dst: Out<f64>,
        value: Imm<f64>,
    },
    Pointer {
        dst: Out<u64>,
        value: Imm<*const u8>,
    },
    Three {
        dst: Out<i64>,
        a: Imm<i32>,
        b: Imm<i64>,
        c: Imm<i32>,
        d: Imm<i64>,
    },
    Push {
        a: In<i64>,
        value: Push<i64>,
    },
    Tell {
        below: Pop<i64>,
        dst: Out<i64>,
        top: Pop<i64>,
    },
    ShortUp {
        dst: Out<i64>,
        value: Imm<i16>,
    },
    WordUp {
        dst: Out<i64>,
        value: Imm<u16>,
    },
    ByteInWord {
        dst: Out<i64>,
        value: Imm<i8>,
    },
    Low {
        dst: Out<i64>,
        value: Imm<i64>,
    },
    AddTo {
        dst: InOut<i64>,
        a: In<i64>,
    },
    Raise {
        dst: InOut<i64>,
        a: In<i64>,
    },
    Doubles {
        dst: InOut<i64>,
        n: InOut<i64>,
    },
    /// A loop that writes nothing, and is entered in the middle behind a write.
    Enter {
        dst: Out<i64>,
        n: In<i64>,
    },
    Less {
        a: In<i64>,
        b: In<i64>,
        to: Label,
    },
    Nothing,
    Weigh {
        dst: Out<i64>,
        a: Imm<i64>,
        b: Imm<i64>,
        c: Imm<i64>,
        d: Imm<i64>,
        e: Imm<i64>,
        f: Imm<i64>,
        g: Imm<i64>,
        h: Imm<i64>,
        i: Imm<i64>,
        j: Imm<i64>,
        k: Imm<i64>,
        l: Imm<i64>,
    },
    Return {
        a: In<i64>,
    },
}

template! {
    Op::I8      => (scast $value i64)
    Op::U8      => (ucast $value i64)
    Op::I16     => (scast $value i64)
    Op::U16     => (ucast $0 i64)
    Op::I32     => (scast $value i64)
    Op::U32     => (ucast $value i64)
    Op::I64     => $value
    Op::F32     => (fcast $value f64)
    Op::F64     => $value
    Op::Pointer => (bitcast $value u64)
    Op::Three   => (add (mul (scast $a i64) $b) (mul (scast $c i64) $d))
    Op::Push    => $a
    Op::Tell    => (sub $below (mul $top 8))
    Op::ShortUp => (ucast $value i64)
    Op::WordUp  => (scast $value i64)
    Op::ByteInWord => (ucast (scast $value i32) i64)
    Op::Low     => (scast (ucast $value u16) i64)
    Op::AddTo   => (add $dst $a)
    Op::Raise!  => (dov (when (lt $dst $a) (set $dst $a)) (set $dst (add $dst $dst)))
    Op::Doubles! => (dov
        (mark again)
        (set $dst (add $dst $dst))
        (set $n (sub $n 1))
        (when (gt $n 0) (branch (label again))))
    Op::Enter! => (dov
        (when (zr $n) (dov (set $dst 5) (branch (label middle))))
        (mark head)
        (when (lt 3 $n) (branch (label out)))
        (mark middle)
        (branch (label head))
        (mark out)
        (set $dst (add $n 100)))
    Op::Less    => (when (lt $a $b) (branch $to))
    Op::Nothing => (callv nothing (arglist))
    Op::Weigh   => (call weigh (arglist
        (carg 1 i64) (carg 2 i64) (carg 3 i64) (carg 4 i64) (carg 5 i64) (carg 6 i64)
        (carg $a i64) (carg $b i64) (carg $c i64) (carg $d i64) (carg $e i64) (carg $f i64)
        (carg $g i64) (carg $h i64) (carg $i i64) (carg $j i64) (carg $k i64) (carg $l i64)) i64)
    Op::Return  => (return $a)
}

extern "C" fn nothing() {}

#[allow(clippy::too_many_arguments, reason = "the last ones are on the stack")]
extern "C" fn weigh(
    _: i64,
    _: i64,
    _: i64,
    _: i64,
    _: i64,
    _: i64,
    a: i64,
    b: i64,
    c: i64,
    d: i64,
    e: i64,
    f: i64,
    g: i64,
    h: i64,
    i: i64,
    j: i64,
    k: i64,
    l: i64,
) -> i64 {
    [a, b, c, d, e, f, g, h, i, j, k, l]
        .into_iter()
        .fold(0, |sum: i64, next| sum.wrapping_mul(31).wrapping_add(next))
}

mod other {
    use azulejo::prelude::*;

    /// Another bytecode with as many opcodes.
    #[derive(Bytecode, Clone, Copy, Debug)]
    pub(super) enum Op {
        Return(Imm<u8>, In<i64>),
        Double { dst: Out<i64>, a: In<i64> },
    }

    template! {
        Op::Return => (return $1)
        Op::Double => (add $a $a)
    }
}

fn compiler() -> Compiler {
    Compiler::new(1 << 20, &X64, Features::detect().bits(), &azulejo::rules::MATCHERS)
        .expect("this machine runs code")
}

fn function<'a, B: Bytecode>(
    code: &'a [B],
    shape: &'a Shape,
    budget: Option<&[Cell<i32>; 2]>,
) -> Function<'a, B> {
    let budget = budget.map(|budget| &raw const *budget);
    Function {
        code,
        labels: &[],
        registers: REGISTERS as u32,
        shape,
        unit: std::ptr::null(),
        temporaries: None,
        slow_paths: &NO_SLOW_PATHS,
        leaves_out: false,
        sites: None,
        budget,
    }
}

const REGISTERS: usize = 4;

/// Compiles verified code and runs it from its start.
fn run<B: Bytecode>(compiler: &mut Compiler, code: &[B], frame: &mut [u64; 8]) -> Status {
    let shape = verify(code, &[], REGISTERS as u32).expect("the code is right");
    assert!(shape.slots as usize <= frame.len());
    let code = compiler
        .baseline(&function(code, &shape, None), Linkage::default(), &mut Blind)
        .expect("it compiles");
    // SAFETY: the frame has the slots that the code uses.
    unsafe { code.enter(std::ptr::null_mut(), frame.as_mut_ptr(), 0) }
}

#[test]
fn constants_of_every_width_are_what_they_are() {
    let dst = |register: u32| register.into();
    let float = |register: u32| register.into();
    let cases: [(Op, u64); 22] = [
        (Op::I8 { dst: dst(1), value: Imm(-3) }, -3i64 as u64),
        (Op::U8 { value: Imm(0xfd), dst: dst(1) }, 0xfd),
        (Op::I16 { dst: dst(1), value: Imm(-300) }, -300i64 as u64),
        (Op::U16(Imm(0xfedc), dst(1)), 0xfedc),
        (Op::I32 { dst: dst(1), value: Imm(i32::MIN) }, i32::MIN as i64 as u64),
        (Op::U32 { dst: dst(1), value: Imm(7) }, 7),
        (Op::U32 { dst: dst(1), value: Imm(u32::MAX) }, u32::MAX as u64),
        (Op::I64 { dst: dst(1), value: Imm(-1) }, u64::MAX),
        (Op::I64 { dst: dst(1), value: Imm(0x0123_4567_89ab_cdef) }, 0x0123_4567_89ab_cdef),
        (Op::I64 { dst: dst(1), value: Imm(i64::MIN) }, 1 << 63),
        (Op::F32 { dst: float(1), value: Imm(1.5) }, 1.5f64.to_bits()),
        (Op::F64 { dst: float(1), value: Imm(-0.1) }, (-0.1f64).to_bits()),
        (Op::Pointer { dst: dst_of_pointer(), value: Imm(0x7fff_1234_5678 as *const u8) }, 0x7fff_1234_5678),
        (Op::Pointer { dst: dst_of_pointer(), value: Imm(16 as *const u8) }, 16),
        (Op::Three { dst: dst(1), a: Imm(2), b: Imm(3), c: Imm(-5), d: Imm(7) }, -29i64 as u64),
        (Op::Three { dst: dst(1), a: Imm(2), b: Imm(1 << 40), c: Imm(-5), d: Imm(7) }, (1 << 41) - 35),
        (
            Op::Three { dst: dst(1), a: Imm(2), b: Imm(3), c: Imm(-5), d: Imm(1 << 50) },
            6u64.wrapping_sub(5 << 50),
        ),
        (Op::ShortUp { dst: dst(1), value: Imm(-300) }, 0xfed4),
        (Op::WordUp { dst: dst(1), value: Imm(0xfedc) }, -0x124i64 as u64),
        (Op::ByteInWord { dst: dst(1), value: Imm(-3) }, 0xffff_fffd),
        (Op::Low { dst: dst(1), value: Imm(0x1234_5678_9abc) }, -0x6544i64 as u64),
        (Op::Nothing, 99),
    ];
    let mut compiler = compiler();
    for (op, expected) in cases {
        let mut frame = [99; 8];
        let status = run(&mut compiler, &[op, Op::Nothing, Op::Return { a: 1.into() }], &mut frame);
        assert_eq!((status, frame[1]), (Status::Returned(expected), expected), "{op:?}");
        assert_eq!([frame[0], frame[2], frame[3]], [99; 3], "{op:?}");
    }
}

#[test]
fn a_value_at_hand_is_so_on_the_ways_only_on_which_nobody_wrote_it() {
    let mut compiler = compiler();
    let add = Op::AddTo { dst: 0.into(), a: 1.into() };
    for (op, frame, expected) in [
        (Op::Raise { dst: 0.into(), a: 2.into() }, [2, 3, 9, 0], 18),
        (Op::Raise { dst: 0.into(), a: 2.into() }, [2, 3, 4, 0], 10),
        (Op::Doubles { dst: 0.into(), n: 2.into() }, [2, 1, 3, 0], 24),
        (Op::Doubles { dst: 0.into(), n: 2.into() }, [2, 1, 1, 0], 6),
        (Op::Enter { dst: 0.into(), n: 0.into() }, [5, 4, 0, 0], 109),
        (Op::Enter { dst: 0.into(), n: 0.into() }, [5, 5_u64.wrapping_neg(), 0, 0], 105),
    ] {
        let mut slots = [0; 8];
        slots[..4].copy_from_slice(&frame);
        let status = run(&mut compiler, &[add, op, Op::Return { a: 0.into() }], &mut slots);
        assert_eq!((status, slots[0]), (Status::Returned(expected), expected), "{op:?}");
    }
}

/// Wide constants are passed on the stack in two halves; each must get its own upper half.
#[test]
fn wide_constants_are_told_apart_in_both_halves() {
    let mut random = azulejo_core::random::Random::new(1);
    let [a, b, c, d, e, f, g, h, i, j, k, l] = std::array::from_fn(|_| Imm(random.number() as i64 | 1 << 40));
    let op = Op::Weigh { dst: 1.into(), a, b, c, d, e, f, g, h, i, j, k, l };
    let status = run(&mut compiler(), &[op, Op::Return { a: 1.into() }], &mut [99; 8]);
    let expected = weigh(1, 2, 3, 4, 5, 6, a.0, b.0, c.0, d.0, e.0, f.0, g.0, h.0, i.0, j.0, k.0, l.0);
    assert_eq!(status, Status::Returned(expected as u64));
}

fn dst_of_pointer() -> Out<u64> {
    1.into()
}

#[test]
fn operands_on_the_stack_are_where_they_were_put() {
    let push = |a: u32| Op::Push { a: a.into(), value: Push::new() };
    let tell = Op::Tell { below: Pop::new(), dst: 3.into(), top: Pop::new() };
    let code = [push(0), push(1), push(2), tell, push(3), tell, Op::Return { a: 3.into() }];
    let mut frame = [1000, 2, 3, 0, 0, 0, 0, 0];
    // 2 - 3 * 8 = -22, and 1000 + 22 * 8
    assert_eq!(run(&mut compiler(), &code, &mut frame), Status::Returned(1176));
    // Values that were popped from registers were never written to the operand stack.
    assert_eq!(frame[..6], [1000, 2, 3, 1176, 1000, 2]);
}

/// Loop heads before, at and behind the boundaries of the runs in which bytecode is planned; and nested loops.
#[test]
fn loops_count_wherever_they_start() {
    let mut compiler = compiler();
    let add = |dst: u32, a: u32| Op::AddTo { dst: dst.into(), a: a.into() };
    let less = |a: u32, b: u32, to: usize| Op::Less { a: a.into(), b: b.into(), to: Label(to as u32) };
    for outer in (0..6).chain(60..68).chain(124..132) {
        for inner in [outer, outer + 1, outer + 2, outer + 63, outer + 64, outer + 65] {
            // Register 2 counts up to register 3, and register 3 up to register 0.
            let mut code = vec![Op::I8 { dst: 1.into(), value: Imm(1) }; inner];
            code.extend([add(2, 1), less(2, 3, inner), add(3, 1), less(3, 0, outer)]);
            code.push(Op::Return { a: 2.into() });
            let shape = verify(&code, &[], REGISTERS as u32).expect("the code is right");
            let budget = [Cell::new(0), Cell::new(0)];
            let function = function(&code, &shape, Some(&budget));
            let compiled = compiler.baseline(&function, Linkage::default(), &mut Blind).expect("it compiles");
            let (mut frame, mut at) = ([8, 1, 0, 5, 0, 0, 0, 0], 0);
            let mut heads = Vec::new();
            let end = loop {
                // SAFETY: the frame has the slots that the code uses; it is entered at its start and at loop heads.
                match unsafe { compiled.enter(std::ptr::null_mut(), frame.as_mut_ptr(), at) } {
                    Status::Exited { at: head } => {
                        // Loops around others count for themselves. The new budget is enough for this head, but not for the next one.
                        let counts = usize::from(head as usize == outer && inner != outer);
                        assert_eq!(budget[counts].replace(1), -1, "{outer} {inner} {head}");
                        assert!(budget[1 - counts].get() >= 0);
                        budget[1 - counts].set(0);
                        heads.push(head as usize);
                        at = head;
                    }
                    end => break end,
                }
            };
            assert_eq!(end, Status::Returned(7), "{outer} {inner}");
            // The outer loop has three iterations, in which the inner one has five, one and one.
            let expected = [outer, inner, inner, inner, inner, inner, outer, inner, outer, inner];
            let expected = if inner == outer { &[outer; 7][..] } else { &expected };
            assert_eq!(heads, expected, "{outer} {inner}");
        }
    }
}

#[test]
fn one_compiler_takes_bytecode_of_several_types() {
    let mut compiler = compiler();
    let these = [Op::AddTo { dst: 0.into(), a: 1.into() }, Op::Return { a: 0.into() }];
    let others = [other::Op::Double { dst: 2.into(), a: 0.into() }, other::Op::Return(Imm(1), 2.into())];
    for _ in 0..3 {
        assert_eq!(run(&mut compiler, &these, &mut [7, 5, 0, 0, 0, 0, 0, 0]), Status::Returned(12));
        assert_eq!(run(&mut compiler, &others, &mut [7, 5, 0, 0, 0, 0, 0, 0]), Status::Returned(14));
    }
}

#[test]
fn code_that_was_not_verified_is_noticed() {
    let verified = [Op::Nothing, Op::Return { a: 0.into() }];
    let code = [Op::Push { a: 0.into(), value: Push::new() }, Op::Return { a: 0.into() }];
    let shape = verify(&verified, &[], REGISTERS as u32).expect("the code is right");
    let compile =
        || compiler().baseline(&function(&code, &shape, None), Linkage::default(), &mut Blind).is_ok();
    let panic = std::panic::catch_unwind(compile).expect_err("the operand stack is nowhere");
    assert_eq!(panic.downcast_ref(), Some(&"verification found all uses of the operand stack"));
}
