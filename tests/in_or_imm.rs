//! Opcodes with forms: an operand that is a VM register or a constant. Each form runs in every tier, and means what its row says.

use azulejo::prelude::*;

const TIERS: [Tier; 3] = [Tier::Interpreter, Tier::Baseline, Tier::Optimizer];

mod numbers {
    use azulejo::prelude::*;

    #[forms]
    #[derive(Bytecode, Clone, Copy, Debug)]
    pub(super) enum Op {
        /// A sum.
        Add {
            dst: Out<i64>,
            a: In<i64>,
            b: InOrImm<i64>,
        },
        Subtract(Out<i64>, InOrImm<i64>, azulejo::InOrImm<i64>),
        /// The constant is of another type.
        Scale {
            dst: Out<f64>,
            a: In<f64>,
            by_whole: InOrImm<f64, i32>,
        },
        JumpIfLess {
            a: InOrImm<i64>,
            b: InOrImm<i64>,
            to: Label,
        },
        Return {
            a: InOrImm<i64>,
        },
        ReturnFloat {
            a: In<f64>,
        },
    }

    template! {
        Op::Add                => (add $a $b)
        Op::Subtract           => (sub $1 $2)
        Op::Scale              => (mul $a $by_whole)
        Op::ScaleImmByWhole    => (mul $a (stof $by_whole f64))
        Op::JumpIfLess         => (when (lt $a $b) (branch $to))
        Op::Return             => (return $a)
        Op::ReturnFloat        => (return $a)
    }
}

use numbers::Op;

/// The result of code in each tier, which is the same.
fn run<R: Slot + PartialEq + std::fmt::Debug>(code: Vec<Op>, argument: impl Slot) -> R {
    let results = TIERS.map(|tier| {
        let engine: Engine<Op> = Engine::<Op>::builder().only(tier).build();
        let function = engine.define("f", code.clone(), 3).expect("the code is right");
        engine.call::<_, R>(function, &mut (), (argument,)).expect("it ends")
    });
    let [first, second, third] = results;
    assert!(first == second && second == third, "{first:?}, {second:?}, {third:?}");
    first
}

#[test]
fn a_function_makes_the_form_that_its_operands_have() {
    let sum = |b| Op::add(1.into(), 0.into(), b);
    assert!(matches!(sum(2.into()), Op::Add { b, .. } if b == In::new(2)));
    assert!(matches!(sum(Imm(2).into()), Op::AddImmB { b: Imm(2), .. }));
    let difference = |a, b| Op::subtract(0.into(), a, b);
    assert!(matches!(difference(0.into(), 1.into()), Op::Subtract(..)));
    assert!(matches!(difference(Imm(4).into(), 1.into()), Op::SubtractImm1(_, Imm(4), _)));
    assert!(matches!(difference(0.into(), Imm(5).into()), Op::SubtractImm2(_, _, Imm(5))));
    assert!(matches!(difference(Imm(4).into(), Imm(5).into()), Op::SubtractImm12(..)));
    assert!(matches!(Op::r#return(Imm(1).into()), Op::ReturnImmA { .. }));
    let names: Vec<&str> = Op::OPCODES.iter().map(|opcode| opcode.name).collect();
    let expected = "Add AddImmB Subtract SubtractImm1 SubtractImm2 SubtractImm12 Scale ScaleImmByWhole \
                    JumpIfLess JumpIfLessImmA JumpIfLessImmB JumpIfLessImmAB Return ReturnImmA ReturnFloat";
    assert_eq!(names.join(" "), expected);
}

#[test]
fn all_forms_of_a_row_mean_the_same() {
    let operand = |value: i64, is_constant: bool, register: u32| -> InOrImm<i64> {
        if is_constant { Imm(value).into() } else { register.into() }
    };
    for [first, second] in [[false, false], [false, true], [true, false], [true, true]] {
        let code = vec![
            Op::add(1.into(), 0.into(), Imm(30).into()),
            Op::subtract(2.into(), operand(12, first, 0), operand(42, second, 1)),
            Op::r#return(2.into()),
        ];
        assert_eq!(run::<i64>(code, 12i64), -30, "{first} {second}");
        let code = vec![
            Op::add(1.into(), 0.into(), operand(12, first, 0)),
            Op::jump_if_less(operand(12, first, 0), operand(24, second, 1), 3.into()),
            Op::r#return(Imm(1).into()),
            Op::r#return(Imm(2).into()),
        ];
        assert_eq!(run::<i64>(code, 12i64), 2, "{first} {second}");
    }
}

#[test]
fn a_form_may_have_a_row_and_a_type_of_its_own() {
    let by = |factor| vec![Op::scale(0.into(), 0.into(), factor), Op::ReturnFloat { a: 0.into() }];
    assert_eq!(run::<f64>(by(Imm(-3).into()), 1.5f64), -4.5);
    assert_eq!(run::<f64>(by(0.into()), 1.5f64), 2.25);
}

mod quickened {
    use azulejo::prelude::*;

    #[forms]
    #[derive(Bytecode, Clone, Copy, Debug)]
    #[repr(u8)]
    pub(super) enum Op {
        Add { a: InOut<u64>, b: InOrImm<u64> },
        AddSmall { a: InOut<u64>, b: InOrImm<u64> },
        Return { a: In<u64> },
    }

    fn add(a: u64, b: u64) -> u64 {
        a + b
    }

    template! {
        macro ^is_small () (ult (or $a $b) 256)
        macro ^add () (call add (arglist (carg $a u64) (carg $b u64)) u64)

        Op::Add      => (do (when (^is_small) (quicken Op::AddSmall)) (^add))
        Op::AddSmall => (if (likely (^is_small)) (add $a $b) (slow (^add)))
        Op::Return   => (return $a)
    }
}

#[test]
fn a_bytecode_becomes_the_same_form_of_another_opcode() {
    use quickened::Op;
    for tier in TIERS {
        let engine: Engine<Op> = Engine::<Op>::builder().up_to(tier).build();
        let code =
            vec![Op::add(0.into(), Imm(5).into()), Op::add(0.into(), 1.into()), Op::Return { a: 0.into() }];
        let function = engine.define("f", code, 2).expect("the code is right");
        let call = |a: u64, b: u64| engine.call::<_, u64>(function, &mut (), (a, b)).expect("it ends");
        assert_eq!((call(1, 2), call(2, 3), call(1 << 40, 3)), (8, 10, (1 << 40) + 8));
        if tier != Tier::Interpreter {
            let listing = engine.compile_in(function, tier).and_then(|()| engine.disassemble(function));
            let listing = listing.expect("it is compiled").to_string();
            assert!(listing.contains("AddSmallImmB {") && listing.contains("AddSmall {"), "{listing}");
        }
    }
}
