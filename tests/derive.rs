//! The description of an enum that `derive(Bytecode)` makes, and the interpreter's loop, which runs the meanings of
//! opcodes.

use azulejo::__private::core::ir::bytecode::{Flow, Machine, NEVER, Semantics};
use azulejo::__private::core::ir::slow_paths::NO_SLOW_PATHS;
use azulejo::__private::core::ir::template::Template;
use azulejo::{Bytecode, Imm, In, InOut, Label, Labels, OperandKind, Out, Pop, Push, Regs, RegsMut};

#[derive(Bytecode, Clone, Copy, Debug)]
#[allow(
    dead_code,
    clippy::enum_variant_names,
    reason = "an opcode may be called like its enum; `Add` pops what it names"
)]
enum Op {
    Set { dst: Out<i64>, value: Imm<i32> },
    Count(InOut<u64>, Label),
    Push(Push<f64>, Imm<f64>),
    Add { a: Pop<f64>, b: Pop<f64>, sum: Push<f64> },
    Nothing,
    Many { to: Labels, read: Regs, changed: RegsMut, at: In<*const u8> },
    Op,
}

#[test]
fn opcodes_and_operands_are_told() {
    let names: Vec<&str> = Op::OPCODES.iter().map(|opcode| opcode.name).collect();
    assert_eq!(names, ["Set", "Count", "Push", "Add", "Nothing", "Many", "Op"]);
    let kinds: Vec<OperandKind> = Op::OPCODES[5].operands.iter().map(|operand| operand.kind).collect();
    assert_eq!(kinds, [OperandKind::Labels, OperandKind::Regs, OperandKind::RegsMut, OperandKind::In]);
    assert_eq!(Op::OPCODES[0].operands[1].name, "value");
    assert_eq!(Op::OPCODES[5].operands[3].scalar.map(|scalar| scalar.name()), Some("ptr"));
    assert_eq!(Op::Nothing.opcode(), 4);
}

#[test]
fn operands_are_bits() {
    assert_eq!(Op::Set { dst: 7.into(), value: Imm(-2) }.operands()[..2], [7, -2i64 as u64]);
    assert_eq!(Op::Push(Push::new(), Imm(1.5)).operands()[1], 1.5f64.to_bits());
    let many = Op::Many {
        to: Labels { first: 3, count: 4 },
        read: Regs { first: 1, count: 2 },
        changed: RegsMut { first: 5, count: 0 },
        at: In::new(9),
    };
    assert_eq!(many.operands()[..4], [3 | 4 << 32, 1 | 2 << 32, 5, 9]);
}

/// The first `N` bytes of an operand's field, as a number.
fn field<const N: usize>(op: &Op, operand: usize) -> u64 {
    let at = Op::OFFSETS[op.opcode()][operand] as usize;
    assert!(at + N <= size_of::<Op>());
    // SAFETY: the field is inside the opcode, and has at least `N` bytes.
    let bytes: [u8; N] = unsafe { (&raw const *op).cast::<u8>().add(at).cast::<[u8; N]>().read() };
    bytes.iter().rev().fold(0, |value, byte| value << 8 | *byte as u64)
}

#[test]
fn operands_are_where_it_is_told() {
    assert_eq!(Op::OFFSETS.iter().map(|offsets| offsets.len()).collect::<Vec<_>>(), [2, 2, 2, 3, 0, 4, 0]);
    let set = Op::Set { dst: 0x0102_0304.into(), value: Imm(-2) };
    assert_eq!([field::<4>(&set, 0), field::<4>(&set, 1)], [0x0102_0304, -2i32 as u32 as u64]);
    let count = Op::Count(0xfedc_ba98.into(), Label(77));
    assert_eq!([field::<4>(&count, 0), field::<4>(&count, 1)], [0xfedc_ba98, 77]);
    assert_eq!(field::<8>(&Op::Push(Push::new(), Imm(1.5)), 1), 1.5f64.to_bits());
    let many = Op::Many {
        to: Labels { first: 3, count: 4 },
        read: Regs { first: 1, count: 2 },
        changed: RegsMut { first: 5, count: 6 },
        at: In::new(9),
    };
    assert_eq!([0, 1, 2].map(|operand| field::<8>(&many, operand)), [3 | 4 << 32, 1 | 2 << 32, 5 | 6 << 32]);
    assert_eq!(field::<4>(&many, 3), 9);
}

macro_rules! meaning {
    ($number:literal, |$op:ident, $machine:ident, $stack:ident| $run:expr) => {
        // SAFETY: this opcode is never compiled; the interpreter only calls `run`.
        unsafe impl Semantics<$number> for Op {
            const TEMPLATE: &'static Template = &Template::plain(&[], 1);
            unsafe fn run(op: *const Op, $machine: &Machine<'_, ()>, _: u32, $stack: *mut u64) -> Flow {
                // SAFETY: the interpreter runs the code.
                let $op = unsafe { *op };
                $run
            }
        }
    };
}

meaning!(0, |op, machine, _stack| {
    let Op::Set { dst, value } = op else { unreachable!() };
    // SAFETY: the test's code stays within its frame.
    unsafe { *machine.frame.add(dst.index as usize) = value.0 as u64 };
    Flow::Next
});
meaning!(1, |op, machine, _stack| {
    let Op::Count(counter, to) = op else { unreachable!() };
    // SAFETY: as above.
    let counter = unsafe { &mut *machine.frame.add(counter.index as usize) };
    *counter -= 1;
    if *counter > 0 { Flow::Jump(to.0) } else { Flow::Next }
});
meaning!(2, |op, _machine, stack| {
    let Op::Push(_, value) = op else { unreachable!() };
    // SAFETY: as above.
    unsafe { *stack = value.0.to_bits() };
    Flow::Next
});
meaning!(3, |_op, _machine, stack| {
    // SAFETY: as above.
    let (a, b) = unsafe { (f64::from_bits(*stack), f64::from_bits(*stack.add(1))) };
    // SAFETY: as above.
    unsafe { *stack = (a + b).to_bits() };
    Flow::Next
});
meaning!(4, |_op, machine, _stack| {
    // SAFETY: as above.
    Flow::Return(unsafe { *machine.frame.add(1) })
});
meaning!(5, |_op, _machine, _stack| Flow::Next);
meaning!(6, |_op, _machine, _stack| Flow::Trap(azulejo::__private::core::vocab::Trap::User(3)));

/// The generated items are named after the opcodes, and must not cause style warnings beyond the enum's own.
#[deny(nonstandard_style)]
mod named_in_another_style {
    use azulejo::prelude::*;

    #[derive(Bytecode, Clone, Copy, Debug)]
    #[allow(non_camel_case_types, reason = "as in the manual of this machine")]
    enum Op {
        load_const { dst: Out<i64>, value: Imm<i64> },
        ret { a: In<i64> },
    }

    template! {
        Op::load_const => $value
        Op::ret        => (return $a)
    }

    #[derive(Bytecode, Clone, Copy, Debug)]
    enum Other {
        #[expect(non_camel_case_types, reason = "as in the manual of that one")]
        ret_const { value: Imm<i64> },
    }

    template! { Other::ret_const => (return $value) }

    #[test]
    fn opcodes_may_be_called_as_their_enum_says() -> Result<(), Error> {
        let engine = Engine::<Op>::new();
        let code = vec![Op::load_const { dst: 0.into(), value: Imm(7) }, Op::ret { a: 0.into() }];
        assert_eq!(engine.call::<_, i64>(engine.define("seven", code, 1)?, &mut (), ())?, 7);
        let engine = Engine::<Other>::new();
        let function = engine.define("three", vec![Other::ret_const { value: Imm(3) }], 0)?;
        assert_eq!(engine.call::<_, i64>(function, &mut (), ())?, 3);
        Ok(())
    }
}

#[test]
fn the_interpreter_runs_until_the_end() {
    // Register 0 is the counter, and slot 1 the bottom of the operand stack.
    let code = [
        Op::Set { dst: 0.into(), value: Imm(3) },
        Op::Push(Push::new(), Imm(0.5)),
        Op::Push(Push::new(), Imm(1.0)),
        Op::Add { a: Pop::new(), b: Pop::new(), sum: Push::new() },
        Op::Count(0.into(), Label(2)),
        Op::Nothing,
    ];
    let mut frame = [0u64; 4];
    let mut context = ();
    let machine = Machine {
        slow_paths: &NO_SLOW_PATHS,
        stop: &NEVER,
        frame: frame.as_mut_ptr(),
        context: &raw mut context,
        unit: std::ptr::null(),
        labels: &[],
        budget: &std::cell::Cell::new(9),
        functions: &azulejo::__private::core::ir::bytecode::NoFunctions,
        show: None,
    };
    // SAFETY: the frame has a register and three stack slots, and the code jumps within itself.
    let end = unsafe { Op::interpret(&code, &machine, 0, 1, 0) };
    assert_eq!(end, (Flow::Return(3.5f64.to_bits()), 5));
    // SAFETY: as above.
    assert_eq!(unsafe { Op::interpret(&[Op::Op], &machine, 0, 1, 0) }.1, 0);
}
