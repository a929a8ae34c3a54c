//! The errors that an engine reports for invalid bytecode: the bytecode, the operand, and the fault.

use azulejo::__private::core::check;
use azulejo::__private::core::verify::{Fault, Shape, VerifyError, verify};
use azulejo::prelude::*;

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    Set { dst: Out<i64>, value: Imm<i64> },
    Add { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Choose { dst: Out<i64>, a: In<i64>, b: In<i64>, flag: In<i64> },
    Sum { dst: Out<i64>, a: In<i64>, b: In<i64>, c: In<i64>, d: In<i64> },
    Grow { a: InOut<i64>, by: Imm<i64> },
    Call { dst: Out<i64>, function: Imm<u32>, args: Regs },
    Goto { to: Label },
    GotoIf { a: In<i64>, to: Label },
    Switch { a: In<i64>, table: Labels },
    PushLocal { a: In<i64>, value: Push<i64> },
    PopLocal { dst: Out<i64>, value: Pop<i64> },
    Return { a: In<i64> },
}

template! {
    Op::Set       => (copy $value)
    Op::Add       => (add $a $b)
    Op::Choose    => (select (nz $flag) $a $b)
    Op::Sum       => (add (add $a $b) (add $c $d))
    Op::Grow      => (add $a $by)
    Op::Call      => (invoke $function (arglist $args) i64)
    Op::Goto      => (branch $to)
    Op::GotoIf    => (when (nz $a) (branch $to))
    Op::Switch    => (switch $a $table)
    Op::PushLocal => (copy $a)
    Op::PopLocal  => (copy $value)
    Op::Return    => (return $a)
}

const REGISTERS: u32 = 4;

/// Where a fault is, and which one.
fn place_of<T>(result: Result<T, VerifyError>) -> Result<(), (u32, Fault)> {
    result.map(drop).map_err(|VerifyError { at, fault, .. }| (at, fault))
}

/// The fault of a bytecode in front of a `Return`, if there is one.
fn fault(op: Op) -> Option<Fault> {
    let code = [op, Op::Return { a: 0.into() }];
    verify(&code, &[1, 1, 2], REGISTERS).err().map(|VerifyError { at, fault, .. }| {
        assert_eq!(at, 0, "{op:?}");
        fault
    })
}

#[test]
fn every_register_is_one_of_the_frame() {
    type Make = fn([u32; 5]) -> Op;
    let ops: [(usize, Make); 9] = [
        (1, |[a, ..]| Op::Set { dst: a.into(), value: Imm(100) }),
        (1, |[a, ..]| Op::Grow { a: a.into(), by: Imm(100) }),
        (1, |[a, ..]| Op::Return { a: a.into() }),
        (1, |[a, ..]| Op::GotoIf { a: a.into(), to: Label(1) }),
        (1, |[a, ..]| Op::Switch { a: a.into(), table: Labels { first: 0, count: 2 } }),
        (1, |[a, ..]| Op::Call { dst: a.into(), function: Imm(100), args: Regs { first: 0, count: 0 } }),
        (3, |[a, b, c, ..]| Op::Add { dst: a.into(), a: b.into(), b: c.into() }),
        (4, |[a, b, c, d, _]| Op::Choose { dst: a.into(), a: b.into(), b: c.into(), flag: d.into() }),
        (5, |[a, b, c, d, e]| Op::Sum { dst: a.into(), a: b.into(), b: c.into(), c: d.into(), d: e.into() }),
    ];
    for (count, op) in ops {
        assert_eq!(fault(op([REGISTERS - 1; 5])), None);
        for operand in 0..count {
            for register in [REGISTERS, u32::MAX] {
                let mut registers = [REGISTERS - 1; 5];
                registers[operand] = register;
                let operand = operand as u8;
                let expected = Fault::Register { operand, register, registers: REGISTERS };
                assert_eq!(fault(op(registers)), Some(expected));
            }
        }
    }
}

#[test]
fn runs_of_registers_end_in_the_frame() {
    let call =
        |first, count| fault(Op::Call { dst: 0.into(), function: Imm(0), args: Regs { first, count } });
    assert_eq!((call(0, REGISTERS), call(REGISTERS, 0)), (None, None));
    for (first, count) in [(1, REGISTERS), (REGISTERS, 1), (u32::MAX, 1), (1, u32::MAX)] {
        let expected = Fault::Window { operand: 2, first, count, registers: REGISTERS };
        assert_eq!(call(first, count), Some(expected));
    }
}

#[test]
fn jumps_stay_in_the_code() {
    for target in [2, u32::MAX] {
        assert_eq!(fault(Op::Goto { to: Label(target) }), Some(Fault::Target { operand: 0, target }));
        let jump = Op::GotoIf { a: 0.into(), to: Label(target) };
        assert_eq!(fault(jump), Some(Fault::Target { operand: 1, target }));
    }
    let switch = |first, count| fault(Op::Switch { a: 0.into(), table: Labels { first, count } });
    assert_eq!(switch(0, 2), None);
    assert_eq!(switch(1, 2), Some(Fault::Target { operand: 1, target: 2 }));
    for (first, count) in [(0, 0), (1, 3), (3, 1), (u32::MAX, u32::MAX)] {
        assert_eq!(switch(first, count), Some(Fault::Labels { operand: 1, first, count }));
    }
}

#[test]
fn control_stays_in_the_code() {
    let last = |code: &[Op]| place_of(verify(code, &[], REGISTERS));
    let set = Op::Set { dst: 0.into(), value: Imm(1) };
    assert_eq!(last(&[]), Err((0, Fault::Empty)));
    assert_eq!(last(&[set, set]), Err((1, Fault::FallsOff)));
    let jump = Op::GotoIf { a: 0.into(), to: Label(0) };
    assert_eq!(last(&[set, jump]), Err((1, Fault::FallsOff)));
    assert_eq!(last(&[set, Op::Goto { to: Label(0) }]), Ok(()));
    // The first fault is reported.
    let wrong = Op::Set { dst: REGISTERS.into(), value: Imm(1) };
    let fault = Fault::Register { operand: 0, register: REGISTERS, registers: REGISTERS };
    assert_eq!(last(&[set, wrong]), Err((1, fault)));
}

#[test]
fn the_operand_stack_has_one_height_at_each_bytecode() {
    let (push, pop) = (
        Op::PushLocal { a: 0.into(), value: Push::new() },
        Op::PopLocal { dst: 1.into(), value: Pop::new() },
    );
    let (jump, end) = (Op::GotoIf { a: 0.into(), to: Label(2) }, Op::Return { a: 1.into() });
    let jump_behind = Op::GotoIf { a: 0.into(), to: Label(3) };
    let shape = verify(&[push, push, pop, pop, end], &[], REGISTERS).expect("it is right");
    assert_eq!((shape.slots, shape.depths), (REGISTERS + 2, vec![0, 1, 2, 1, 0]));
    let found = |code: &[Op]| verify(code, &[], REGISTERS).map(drop);
    let underflow = Fault::Underflow { pops: 1, depth: 0 };
    assert_eq!(place_of(found(&[pop, end])), Err((0, underflow)));
    assert_eq!(found(&[push, pop, end]), Ok(()));
    // Two paths reach a bytecode with different heights: the higher one falls through, or jumps.
    let (more, fewer) = ([jump, push, end], [push, jump_behind, pop, end]);
    for (code, place) in [(&more[..], 2), (&fewer[..], 3)] {
        let VerifyError { at, fault, .. } = found(code).expect_err("it has two heights");
        let Fault::Unbalanced { expected, found } = fault else { panic!("{fault:?}") };
        assert_eq!((at, expected.min(found), expected.max(found)), (place, 0, 1));
    }
    // Either of the two heights may be found first.
    let faults = [&more[..], &fewer].map(|code| found(code).expect_err("it has two heights").fault);
    assert!(faults.contains(&Fault::Unbalanced { expected: 0, found: 1 }), "{faults:?}");
    assert!(faults.contains(&Fault::Unbalanced { expected: 1, found: 0 }), "{faults:?}");
}

/// The judge checks the result of verification by looking at each bytecode alone, and notices damage to it.
#[test]
fn what_was_learned_is_true() {
    let code = [
        Op::PushLocal { a: 0.into(), value: Push::new() },
        Op::GotoIf { a: 0.into(), to: Label(1) },
        Op::PopLocal { dst: 1.into(), value: Pop::new() },
        Op::GotoIf { a: 0.into(), to: Label(4) },
        Op::Return { a: 1.into() },
    ];
    let right = verify(&code, &[], REGISTERS).expect("it is right");
    let said = |shape: &Shape| check::shape::shape(&code, &[], REGISTERS, shape);
    assert_eq!(said(&right), []);
    type Damage = fn(&mut Shape);
    let damages: [(&str, Damage); 7] = [
        ("the operand stack is not empty at the start", |shape| shape.depths[0] = 1),
        ("pops more than there is", |shape| shape.depths[2] = 0),
        ("the operand stack has another height where control goes on", |shape| shape.depths[3] = 1),
        ("the operand stack has another height where control goes on", |shape| {
            shape.depths[4] = Shape::UNREACHED;
        }),
        ("jumps to a bytecode that is not known for it", |shape| shape.targets.clear()),
        ("jumps to a bytecode that is not known for it", |shape| shape.heads.clear()),
        ("the frame has not as many slots as are used", |shape| shape.slots -= 1),
    ];
    for (problem, damage) in damages {
        let mut wrong = right.clone();
        damage(&mut wrong);
        let said = said(&wrong);
        assert!(said.iter().any(|violation| violation.problem == problem), "{problem}: {said:?}");
    }
}

/// An opcode whose template takes `(cu)`.
mod unit {
    use azulejo::prelude::*;

    #[derive(Bytecode, Clone, Copy, Debug)]
    pub(super) enum Op {
        Limit { dst: Out<i64> },
        Return { a: In<i64> },
    }

    template! {
        Op::Limit  => unsafe (load (addr (cu) 8) i64)
        Op::Return => (return $a)
    }
}

#[test]
fn what_a_template_takes_for_the_unit_is_there() {
    let back = unit::Op::Return { a: 0.into() };
    let code = vec![back, unit::Op::Limit { dst: 0.into() }, back];
    let engine = Engine::<unit::Op>::new();
    let wrong = VerifyError::at(&code, 1, Fault::NoUnit);
    assert_eq!(engine.define("f", code.clone(), 1), Err(Error::Verify(wrong)));
    let told = wrong.to_string();
    assert_eq!(
        told,
        "bytecode 1, Limit: the opcode takes `(cu)`, and nobody said by `Code::with_unit` what that is"
    );
    // Code that does not use the unit needs none.
    assert!(engine.define("f", vec![back], 1).is_ok());
    static UNIT: [i64; 2] = [1, 2];
    // SAFETY: templates expect `(cu)` to be the address of two numbers.
    let code = unsafe { Code::from(code[1..].to_vec()).with_unit(&raw const UNIT) };
    let function = engine.define("f", code, 1).expect("there is a unit");
    assert_eq!(engine.call(function, &mut (), ()), Ok(2i64));
}
