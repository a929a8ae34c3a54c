//! Hygiene of macros in the template language: a macro's declarations are its own, names in arguments are the caller's, and
//! the opcode's operands are visible everywhere. Each opcode runs in every tier.

use azulejo::prelude::*;

mod shared {
    azulejo::template_macros! {
        pub sums {
            macro ^plus_hundred (,a) (let: (($x 100)) (add ,a $x))
            macro ^plus_two_hundred (,x) (let: (($x (^plus_hundred ,x))) (^plus_hundred $x))
        }
    }
}

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    Declared { dst: Out<i64>, a: In<i64> },
    Operand { dst: Out<i64>, x: In<i64> },
    Nested { dst: Out<i64>, x: In<i64> },
    Parameter { dst: Out<i64>, a: In<i64> },
    Free { dst: Out<i64>, x: In<i64> },
    Body { dst: Out<i64>, x: In<i64> },
    Loops { dst: Out<i64>, a: InOut<i64>, b: InOut<i64> },
    Leave { dst: Out<i64>, a: In<i64> },
    Choose { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Both { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Divide { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Apply { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Return { a: In<i64> },
}

template! {
    use shared::sums;

    // Both arguments contain a name that the macro declares, and the macro uses them inside that declaration.
    macro ^sum_under (,x ,y) (let: (($x 1000)) (add (add ,x ,x) (add ,y $x)))
    // The macro does not declare `$x`, so it is the operand.
    macro ^operand () $x
    macro ^with (,body) (let: (($x 7)) (mul $x ,body))
    // Halves until the number is odd. It is used twice in one sequence of steps.
    macro ^halve (,place) (dov
        (mark next)
        (when (zr (and ,place 1)) (dov (set ,place (shr ,place 1)) (branch (label next)))))
    // Branches to a mark of the caller, past its own mark of the same name.
    macro ^if_less (,a ,b ,to) (dov
        (when (ge ,a ,b) (branch (label end)))
        (branch ,to)
        (mark end))
    // A flag and both arms, each of which is used twice.
    macro ^select_twice (,flag ,a ,b) (add (if ,flag ,a ,b) (mul 10 (if ,flag ,b ,a)))

    // Macros as arguments, which a macro uses in several places, gives to others, and gives marks of its caller.
    macro ^square (,a ,_b) (mul ,a ,a)
    macro ^sum (,a ,b) (add ,a ,b)
    macro ^twice (,f ,a ,b) (,f (,f ,a ,b) (add (,f ,a ,b) 1))
    macro ^through (,f ,a ,b) (^twice ,f ,a ,b)
    macro ^store (,value ,to) (dov (set $dst ,value) (branch ,to))
    macro ^either (,f ,to) (ifv (lt $a $b) (,f (^twice ^sum $a $b) ,to) (,f (^through ^square $a $b) ,to))

    Op::Declared  => (let: (($x (add $a 1))) (^plus_hundred $x))
    Op::Operand   => (^plus_hundred $x)
    Op::Nested    => (^plus_two_hundred (^plus_two_hundred $x))
    Op::Parameter => (let: (($x $a)) (^sum_under (add $x 1) $x))
    Op::Free      => (let: (($x (add $x 5))) (add (^operand) $x))
    Op::Body      => (^with (^with (add $x 1)))
    Op::Loops!    => (dov (^halve $a) (^halve $b) (set $dst (add $a $b)))
    Op::Leave!    => (let: (($from $a)) (dov
        (set $dst 1)
        (^if_less $from 10 (label end))
        (set $dst 2)
        (mark end)))
    Op::Choose    => (^select_twice (lt $a $b) $a $b)
    Op::Both      => (^select_twice (all (lt $a $b) (any (zr $a) (gt $b 10))) (add $a 1) (add $b 1))
    // The operator's checks apply to its operands, not to the `$y` that is in scope.
    Op::Divide    => (let: (($y 3)) (div (add $a $y) (sub $b $y)))
    Op::Apply!    => (dov (when (nz $a) (^either ^store (label end))) (set $dst 5) (mark end))
    Op::Return    => (return $a)
}

fn r<T: From<u32>>(register: u32) -> T {
    register.into()
}

#[track_caller]
fn check(op: Op, args: (i64, i64), expected: i64) {
    assert_eq!(run(op, args), vec![Ok(expected); 3], "{op:?} {args:?}");
}

/// The results in each tier.
fn run(op: Op, (a, b): (i64, i64)) -> Vec<Result<i64, Error>> {
    let tiers = [Tier::Interpreter, Tier::Baseline, Tier::Optimizer];
    let run = |tier| {
        let engine: Engine<Op> = Engine::<Op>::builder().only(tier).build();
        let code = vec![op, Op::Return { a: r(0) }];
        let function = engine.define("f", code, 3).expect("the code is right");
        engine.call(function, &mut (), (0i64, a, b))
    };
    tiers.into_iter().map(run).collect()
}

#[test]
fn what_a_macro_declares_is_its_own() {
    check(Op::Declared { dst: r(0), a: r(1) }, (6, 0), 107);
    check(Op::Operand { dst: r(0), x: r(1) }, (6, 0), 106);
    check(Op::Nested { dst: r(0), x: r(1) }, (6, 0), 406);
    check(Op::Parameter { dst: r(0), a: r(1) }, (6, 0), 7 + 7 + 6 + 1000);
    check(Op::Body { dst: r(0), x: r(1) }, (6, 0), 7 * 7 * 7);
}

#[test]
fn operands_are_everybodys() {
    check(Op::Free { dst: r(0), x: r(1) }, (6, 0), 6 + 11);
}

#[test]
fn marks_belong_to_who_wrote_them() {
    check(Op::Loops { dst: r(0), a: r(1), b: r(2) }, (48, 80), 3 + 5);
    check(Op::Leave { dst: r(0), a: r(1) }, (9, 0), 1);
    check(Op::Leave { dst: r(0), a: r(1) }, (10, 0), 2);
}

#[test]
fn flags_are_arguments_too() {
    check(Op::Choose { dst: r(0), a: r(1), b: r(2) }, (3, 4), 43);
    check(Op::Choose { dst: r(0), a: r(1), b: r(2) }, (4, 3), 43);
    check(Op::Both { dst: r(0), a: r(1), b: r(2) }, (3, 14), 4 + 150);
    check(Op::Both { dst: r(0), a: r(1), b: r(2) }, (3, 4), 5 + 40);
    check(Op::Both { dst: r(0), a: r(1), b: r(2) }, (0, 4), 1 + 50);
}

#[test]
fn checks_of_operators_have_names_of_their_own() {
    check(Op::Divide { dst: r(0), a: r(1), b: r(2) }, (7, 5), 5);
    let trap = Err(Error::Trap { trap: Trap::DivideByZero, at: 0 });
    assert_eq!(run(Op::Divide { dst: r(0), a: r(1), b: r(2) }, (7, 3)), vec![trap; 3]);
}

#[test]
fn macros_are_arguments_too() {
    let apply = Op::Apply { dst: r(0), a: r(1), b: r(2) };
    check(apply, (3, 4), 7 + 8);
    check(apply, (3, 2), 81);
    check(apply, (0, 2), 5);
}
