//! Kinds of values: a small machine whose words are numbers, integers, truths, tables or nil. Every tier has the same results, and
//! the terms of the kinds mean what the interpreter does.

use azulejo::__private::core::ir::bytecode::Semantics;
use azulejo::__private::core::ir::kinds::ValueKind;
use azulejo::__private::core::ir::template::Template;
use azulejo::__private::core::vocab::{Op as Operator, Type, Vocabulary};
use azulejo::Trap;
use azulejo::prelude::*;
use core::cell::Cell;

/// The tiers that the tests run in.
const TIERS: [Tier; 3] = [Tier::Interpreter, Tier::Baseline, Tier::Optimizer];

fn tiers() -> impl Iterator<Item = Tier> {
    TIERS.into_iter().filter(|tier| *tier == Tier::Interpreter || azulejo::can_compile().is_ok())
}

/// What a program has at hand: how often something was computed, and the sums that were no sums of numbers.
#[derive(Default)]
struct Vm {
    computed: u64,
    slow: Vec<(u64, u64)>,
    next: u64,
}

/// A table of three values.
#[repr(C, align(8))]
struct Table {
    items: [Cell<u64>; 3],
}

/// No number has these bits, since the only NaN in a box is the canonical one.
const TAG: u64 = 0xfff1 << 48;
const NIL: u64 = TAG;
/// Above an integer.
const INT: u64 = 0xfff1_0001;
/// The address of a table is added to this.
const HEAP: u64 = 0xfff2 << 48;

const fn above_truth() -> u64 {
    0xfff1_0002
}

template_macros! {
    values {
        macro ^is_above (,box ,above) (eq (shr ,box 32) ,above)

        kinds u64 {
            number: f64 {
                is (ult $box &TAG)
                unbox (bitcast $box f64)
                box (bitcast (canonical_nan $value) u64)
            }
            int: i32 {
                box (or (ucast $value u64) (shl (const &INT u64) 32))
                is (^is_above $box &INT)
                unbox (ucast $box i32)
            }
            truth: u8 {
                is (^is_above $box (&above_truth))
                unbox (ucast $box u8)
                box (or (ucast $value u64) (shl (const (&above_truth) u64) 32))
            }
            table: ptr { is (uge $box &HEAP) unbox (sub $box &HEAP) box (add $value &HEAP) }
            nil { is (eq $box &crate::NIL) }
        }

        macro ^slowly (,a ,b) (slow add_slowly (arglist (carg (tc) ptr) (carg ,a u64) (carg ,b u64)) u64)
        macro ^both (,kind ,a ,b ,then ,otherwise) (as ((,a ,kind) (,b ,kind)) ,then ,otherwise)
    }
}

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(context = Vm)]
enum Op {
    Const { dst: Out<u64>, value: Imm<u64> },
    Number { dst: Out<u64>, value: Imm<f64> },
    Nil { dst: Out<u64> },
    Add { dst: Out<u64>, a: In<u64>, b: In<u64> },
    Less { dst: Out<u64>, a: In<u64>, b: In<u64> },
    Get { dst: Out<u64>, table: In<u64>, key: In<u64> },
    Put { table: In<u64>, key: In<u64>, value: In<u64> },
    AddItem { dst: Out<u64>, table: In<u64>, a: In<u64> },
    AddNext { dst: Out<u64>, a: In<u64> },
    Ask { dst: Out<u8>, a: In<u64> },
    Same { dst: Out<u64>, a: In<u64> },
    Default { dst: Out<f64>, a: In<u64>, b: In<u64> },
    Step { a: InOut<u64>, to: Label },
    WhileNot { a: In<u64>, to: Label },
    Return { a: In<u64> },
}

template! {
    use values;

    Op::Const => $value
    Op::Number => (box number $value)
    Op::Nil => &NIL
    Op::Add => (as (($a number) ($b number))
        (box number (add $a $b))
        (^both int $a $b
            (if (addo $a $b) (box number (add (stof $a f64) (stof $b f64))) (box int (add $a $b)))
            (^slowly $a $b)))
    Op::Less => (box truth (flagval (as (($a number) ($y number $b)) (lt $a $y) (ult $a $b)) u8))
    Op::Get => unsafe (as (($table table) ($key int))
        (within (ult (ucast $key u32) 3) 7 (load (idx $table (ucast $key u32) 8) u64))
        &NIL)
    Op::Put => unsafe (asv (($table table) ($key int))
        (within (ult (ucast $key u32) 3) 7 (store (idx $table (ucast $key u32) 8) $value u64))
        (trap 8))
}

template! {
    use values;

    macro ^next () (call next (arglist (carg (tc) ptr)) u64)

    // What is computed is read from a table that was looked at before.
    Op::AddItem => unsafe (let: (($second (const 8 i64)))
        (as (($table table))
            (as (($x number (load (add $table $second) u64)) ($a number)) (box number (add $x $a)) $a)
            (^slowly $table $a)))
    Op::AddNext => (as (($x number (^next)) ($a number) ($y int (^next))) (box number (add (add $a $x) (stof $y f64))) $a)
    Op::Ask => (add
        (add (flagval (is number $a) u8) (mul (flagval (is int $a) u8) 2))
        (add (mul (flagval (is table $a) u8) 4)
            (add (mul (flagval (is nil $a) u8) 8) (mul (flagval (is truth $a) u8) 16))))
    Op::Same => (let: (($v $a)) (as (($v nil)) $v
        (as (($v table)) (box table $v)
            (as (($v truth)) (box truth $v)
                (if (is int $a) (box int (unbox int $a)) (box number (unbox number $a)))))))
    // Either one counts, or the other, if the first is nil.
    Op::Default => (as (($a number)) $a (as (($a nil) ($b number)) $b (const -1.0 f64)))
    Op::Step! => (asv (($a int)) (set $a (box int (sub $a 1))) (branch $to))
    Op::WhileNot => (when (all (notf (is nil $a)) (ne $a (box int 0))) (branch $to))
    Op::Return => (return $a)
}

fn number(value: f64) -> u64 {
    if value.is_nan() { 0x7ff8 << 48 } else { value.to_bits() }
}

fn int(value: i32) -> u64 {
    value as u32 as u64 | INT << 32
}

fn truth(value: bool) -> u64 {
    value as u64 | above_truth() << 32
}

fn boxed(table: &Table) -> u64 {
    HEAP + (table as *const Table).expose_provenance() as u64
}

fn next(vm: &mut Vm) -> u64 {
    vm.computed += 1;
    vm.next
}

/// The sum of what is not two numbers or two integers: a number and an integer have one, the rest is an error.
fn add_slowly(vm: &mut Vm, a: u64, b: u64) -> Result<u64, Trap> {
    vm.slow.push((a, b));
    let value = |value: u64| match kind(value) {
        0 => Ok(f64::from_bits(value)),
        1 => Ok(value as i32 as f64),
        _ => Err(Trap::User(9)),
    };
    Ok(number(value(a)? + value(b)?))
}

/// The number of a value's kind, written by hand.
fn kind(value: u64) -> usize {
    match value {
        _ if value < TAG => 0,
        _ if value >= HEAP => 3,
        NIL => 4,
        _ if value >> 32 == INT => 1,
        _ => 2,
    }
}

/// Values of every kind.
fn values(tables: &[Table]) -> Vec<u64> {
    let numbers = [0.0, -0.0, 1.5, -2.5e300, f64::INFINITY, f64::NEG_INFINITY, f64::NAN].map(number);
    let ints = [0, 1, -1, 2, 3, i32::MAX, i32::MIN].map(int);
    let tables = tables.iter().map(boxed);
    numbers.into_iter().chain(ints).chain(tables).chain([truth(false), truth(true), NIL]).collect()
}

fn tables() -> [Table; 2] {
    [[int(5), number(0.25), NIL], [NIL; 3]].map(|items| Table { items: items.map(Cell::new) })
}

/// Calls a function of one bytecode, whose result is in register 0, in every tier, with what is in registers 1 to 3.
fn each_tier(op: Op, arguments: [u64; 3], mut look: impl FnMut(Result<u64, Trap>, Vm)) {
    for tier in tiers() {
        let engine = Engine::<Op>::builder().up_to(tier).build::<Op>();
        let function = engine.define("one", vec![op, Op::Return { a: 0.into() }], 4).expect("it is right");
        engine.compile_in(function, tier).expect("it is compiled");
        let mut vm = Vm { next: arguments[2], ..Vm::default() };
        let [a, b, c] = arguments;
        let result = engine.call::<_, u64>(function, &mut vm, (0u64, a, b, c));
        let result = result.map_err(|error| match error {
            Error::Trap { trap, .. } => trap,
            other => panic!("{other}"),
        });
        look(result, vm);
    }
}

#[test]
fn sums_go_by_the_kinds_of_both() {
    let tables = tables();
    let values = values(&tables);
    for &a in &values {
        for &b in &values {
            let (expected, is_slow) = match (kind(a), kind(b)) {
                (0, 0) => (Ok(number(f64::from_bits(a) + f64::from_bits(b))), false),
                (1, 1) => match (a as i32).checked_add(b as i32) {
                    Some(sum) => (Ok(int(sum)), false),
                    None => (Ok(number(a as i32 as f64 + b as i32 as f64)), false),
                },
                _ => (add_slowly(&mut Vm::default(), a, b), true),
            };
            each_tier(Op::Add { dst: 0.into(), a: 1.into(), b: 2.into() }, [a, b, 0], |result, vm| {
                assert_eq!(result, expected, "{a:x} {b:x}");
                assert_eq!(vm.slow, if is_slow { vec![(a, b)] } else { Vec::new() });
            });
        }
    }
}

#[test]
fn flags_and_values_without_a_check() {
    let tables = tables();
    let values = values(&tables);
    for &a in &values {
        each_tier(Op::Ask { dst: 0.into(), a: 1.into() }, [a, 0, 0], |result, _| {
            let flag = [1, 2, 16, 4, 8][kind(a)];
            assert_eq!(result, Ok(flag), "{a:x} is of one kind");
        });
        each_tier(Op::Same { dst: 0.into(), a: 1.into() }, [a, 0, 0], |result, _| {
            assert_eq!(result, Ok(a), "what is taken out and boxed again");
        });
        for &b in &values {
            each_tier(Op::Less { dst: 0.into(), a: 1.into(), b: 2.into() }, [a, b, 0], |result, _| {
                let is_less = match (kind(a), kind(b)) {
                    (0, 0) => f64::from_bits(a) < f64::from_bits(b),
                    _ => a < b,
                };
                assert_eq!(result, Ok(truth(is_less)), "{a:x} {b:x}");
            });
            each_tier(Op::Default { dst: 0.into(), a: 1.into(), b: 2.into() }, [a, b, 0], |result, _| {
                let expected = match (kind(a), kind(b)) {
                    (0, _) => a,
                    (4, 0) => b,
                    _ => number(-1.0),
                };
                assert_eq!(result, Ok(expected), "{a:x} {b:x}");
            });
        }
    }
}

#[test]
fn tables_are_read_and_written() {
    let tables = tables();
    for value in values(&tables) {
        for key in [0, 1, 2, 3, -1] {
            let is_inside = (0..3).contains(&key);
            let (table, key) = (boxed(&tables[0]), int(key));
            let get = Op::Get { dst: 0.into(), table: 1.into(), key: 2.into() };
            each_tier(
                Op::Put { table: 1.into(), key: 2.into(), value: 3.into() },
                [table, key, value],
                |put, _| {
                    assert_eq!(put, if is_inside { Ok(0) } else { Err(Trap::User(7)) });
                    each_tier(get, [table, key, 0], |got, _| {
                        assert_eq!(got, if is_inside { Ok(value) } else { Err(Trap::User(7)) });
                    });
                },
            );
            if kind(value) != 3 {
                each_tier(get, [value, key, 0], |got, _| assert_eq!(got, Ok(NIL)));
                let put = Op::Put { table: 1.into(), key: 2.into(), value: 3.into() };
                each_tier(put, [value, key, 0], |put, _| assert_eq!(put, Err(Trap::User(8))));
            }
        }
    }
}

#[test]
fn what_is_computed_is_computed_once() {
    for (a, next, sum) in [
        (number(1.5), number(2.0), number(1.5)),
        (int(1), number(2.0), int(1)),
        (number(1.0), int(2), number(1.0)),
    ] {
        each_tier(Op::AddNext { dst: 0.into(), a: 1.into() }, [a, 0, next], |result, vm| {
            assert_eq!(
                (result, vm.computed),
                (Ok(sum), 2),
                "both are computed before the first is looked at"
            );
        });
    }
    let tables = tables();
    let add = Op::AddItem { dst: 0.into(), table: 1.into(), a: 2.into() };
    each_tier(add, [boxed(&tables[0]), number(1.0), 0], |sum, _| assert_eq!(sum, Ok(number(1.25))));
    each_tier(add, [boxed(&tables[1]), number(1.0), 0], |sum, _| assert_eq!(sum, Ok(number(1.0))));
    each_tier(add, [int(2), number(1.0), 0], |sum, vm| {
        assert_eq!((sum, vm.slow.len()), (Ok(number(3.0)), 1));
    });
}

#[test]
fn loops_over_boxed_values() {
    let code = vec![
        Op::Add { dst: 0.into(), a: 0.into(), b: 2.into() },
        Op::Step { a: 1.into(), to: Label(5) },
        Op::WhileNot { a: 1.into(), to: Label(0) },
        Op::Return { a: 0.into() },
        Op::Const { dst: 3.into(), value: Imm(NIL) },
        Op::Number { dst: 3.into(), value: Imm(-f64::NAN) },
        Op::Return { a: 3.into() },
    ];
    for tier in tiers() {
        let engine = Engine::<Op>::builder().up_to(tier).build::<Op>();
        let function = engine.define("loop", code.clone(), 4).expect("it is right");
        engine.compile_in(function, tier).expect("it is compiled");
        let call = |a: u64, n: u64, b: u64| engine.call::<_, u64>(function, &mut Vm::default(), (a, n, b));
        assert_eq!(call(number(0.5), int(100), number(0.25)), Ok(number(25.5)));
        assert_eq!(call(int(-7), int(100), int(3)), Ok(int(293)));
        assert_eq!(call(int(1), NIL, int(1)), Ok(0x7ff8 << 48), "only the canonical NaN is in a box");
        let failed = Err(Error::Trap { trap: Trap::User(9), at: 0 });
        assert_eq!(call(NIL, int(100), int(3)), failed);
    }
}

/// The text of a compilation says of which kinds values may be, behind the pass that finds it out.
#[test]
#[cfg(target_arch = "x86_64")]
fn stages_show_the_kinds_of_values() {
    if azulejo::can_compile().is_err() {
        return;
    }
    let engine = Engine::<Op>::builder().build::<Op>();
    let code = vec![
        Op::Number { dst: 0.into(), value: Imm(2.5) },
        Op::Add { dst: 0.into(), a: 0.into(), b: 0.into() },
        Op::Step { a: 1.into(), to: Label(4) },
        Op::WhileNot { a: 1.into(), to: Label(1) },
        Op::Return { a: 0.into() },
    ];
    let function = engine.define("double", code, 2).expect("it is right");
    let stages = engine.stages(function).expect("it is compiled");
    let is_number = |line: &&str| line.contains(" = param.") && line.ends_with(" # number");
    let with_numbers = stages.split("\n== ").filter(|stage| stage.lines().any(|line| is_number(&line)));
    let names: Vec<&str> = with_numbers.filter_map(|stage| stage.lines().next()).collect();
    assert_eq!(names, ["kinds"], "the register that doubles is a number in each iteration: {stages}");
}

/// The kinds as the compilers have them.
fn kinds() -> &'static [ValueKind] {
    <Op as Semantics<3>>::TEMPLATE.kinds
}

#[test]
fn terms_mean_what_the_rows_say() {
    let names: Vec<_> = kinds().iter().map(|kind| (kind.name, kind.ty)).collect();
    let expected = [
        ("number", Type::F64),
        ("int", Type::I32),
        ("truth", Type::I8),
        ("table", Type::I64),
        ("nil", Type::Void),
    ];
    assert_eq!(names, expected);
    let tables = tables();
    let vocab = Vocabulary::BUILTIN;
    for value in values(&tables) {
        for (at, checked) in kinds().iter().enumerate() {
            assert_eq!(checked.is.evaluate(vocab, value), Some((at == kind(value)) as u64), "{value:x}");
            if at != kind(value) || checked.ty == Type::Void {
                continue;
            }
            let inside = checked.unbox.evaluate(vocab, value).expect("all of it has a meaning");
            assert_eq!(inside, checked.ty.truncate(inside));
            assert_eq!(checked.formula(Operator::BOX).evaluate(vocab, inside), Some(value), "{value:x}");
        }
    }
}

#[test]
fn rows_without_kinds_do_not_have_them() {
    assert!(<Op as Semantics<0>>::TEMPLATE.kinds.is_empty());
    assert!(<Op as Semantics<2>>::TEMPLATE.kinds.is_empty());
    // Those of both sets of rows.
    assert_eq!(<Op as Semantics<1>>::TEMPLATE.kinds.len(), 5);
    assert_eq!(<Op as Semantics<9>>::TEMPLATE.kinds.len(), 5);
}

/// Another enum, with another set.
#[derive(Bytecode, Clone, Copy, Debug)]
enum Other {
    IsOdd { dst: Out<u8>, a: In<u64> },
}

template! {
    kinds ptr {
        odd: ptr { is (nz (and $box 1)) unbox (shr $box 1) box (or (shl $value 1) 1) }
    }

    Other::IsOdd => (flagval (is odd $a) u8)
}

#[test]
fn an_enum_has_one_set() {
    let [one, same, none] =
        [<Op as Semantics<3>>::TEMPLATE, <Op as Semantics<9>>::TEMPLATE, <Op as Semantics<0>>::TEMPLATE];
    let another = <Other as Semantics<0>>::TEMPLATE;
    Template::assert_same_kinds(&[none, one, same]);
    let differ = std::panic::catch_unwind(|| Template::assert_same_kinds(&[one, none, another]));
    assert!(differ.is_err(), "they are not called alike");
}

/// Operators of one's own.
mod own {
    azulejo::operators! {
        /// The lowest byte.
        lowest: (same) -> same, i64, pure => |_, operands| Ok(operands[0] & 0xff),
    }
}

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(operators = crate::own)]
enum WithOwn {
    Plus { dst: Out<u64>, a: In<u64>, b: In<u64> },
    Return { a: In<u64> },
}

template! {
    kinds u64 {
        small: u64 { is (eq (lowest $box) 1) unbox (shr $box 8) box (or (shl $value 8) 1) }
    }

    WithOwn::Plus => (as (($a small) ($b small)) (box small (add $a $b)) 0)
    WithOwn::Return => (return $a)
}

#[test]
fn formulas_may_have_operators_of_ones_own() {
    // There are no tiles for the operator, so that nothing compiles it.
    let engine = Engine::<WithOwn>::builder().up_to(Tier::Interpreter).build::<WithOwn>();
    let code =
        vec![WithOwn::Plus { dst: 0.into(), a: 0.into(), b: 1.into() }, WithOwn::Return { a: 0.into() }];
    let plus = engine.define("plus", code, 2).expect("it is right");
    assert_eq!(engine.call::<_, u64>(plus, &mut (), (0x301u64, 0x401u64)), Ok(0x701));
    assert_eq!(engine.call::<_, u64>(plus, &mut (), (0x301u64, 0x402u64)), Ok(0));
    let vocab = Vocabulary { extra: own::ROWS };
    let [small] = <WithOwn as Semantics<0>>::TEMPLATE.kinds else { panic!("there is one") };
    assert_eq!([0x501, 0x502].map(|value| small.is.evaluate(vocab, value)), [Some(1), Some(0)]);
}

/// Making an engine tells these breaches of the laws of kinds.
#[cfg(debug_assertions)]
fn assert_tells<B: Bytecode>(breaches: &[&str]) {
    let built = std::panic::catch_unwind(|| drop(Engine::<B>::new()));
    let message = *built.expect_err("they are broken").downcast::<String>().expect("it says how");
    for breach in breaches {
        assert!(message.contains(breach), "{message}");
    }
}

/// Kinds that break each law that can be tried.
mod wrong {
    use azulejo::prelude::*;

    #[derive(Bytecode, Clone, Copy, Debug)]
    enum Op {
        Box { dst: Out<u64>, a: In<i32> },
        Return { a: In<u64> },
    }

    template! {
        kinds u64 {
            // Negative numbers are in boxes with all bits set above them.
            small: i32 { is (eq (shr $box 32) 7) unbox (ucast $box i32) box (or (scast $value u64) (shl (const 7 u64) 32)) }
            letter: u8 { is (eq (shr $box 32) 8) unbox (ucast $box u8) box (or (and (ucast $value u64) 127) (shl (const 8 u64) 32)) }
            any: i8 { is (uge $box 0) unbox (ucast $box i8) box (ucast $value u64) }
        }
        Op::Box => (box small $a)
        Op::Return => (return $a)
    }

    #[test]
    #[cfg(debug_assertions)]
    fn debug_builds_try_the_laws() {
        super::assert_tells::<Op>(&[
            "kind `small`: the box of 0xffffffff, 0xffffffffffffffff, is not of the kind",
            "kind `letter`: in the box of 0x80 is 0x0",
            "kind `small`: the box of 0x0, 0x700000000, is of kind `any` too",
        ]);
    }
}

/// Kinds that break laws for words that only their formulas tell.
mod overlapping {
    use azulejo::prelude::*;

    const OBJECT: u64 = 0xfffc << 48;
    const NIL: u64 = 0xfffb << 48;

    #[derive(Bytecode, Clone, Copy, Debug)]
    enum Op {
        Box { dst: Out<u64>, a: In<f64> },
        Return { a: In<u64> },
    }

    template! {
        kinds u64 {
            number: f64 { is (uge $box 0) unbox (bitcast $box f64) box (bitcast $value u64) }
            nil { is (uge $box &NIL) }
            object: ptr { is (uge $box &OBJECT) unbox (sub $box &NIL) box (add $value &OBJECT) }
        }
        Op::Box => (box number $a)
        Op::Return => (return $a)
    }

    #[test]
    #[cfg(debug_assertions)]
    fn debug_builds_try_words_near_the_constants() {
        super::assert_tells::<Op>(&[
            "kind `number`: the word 0xfffb000000000000 is of kind `nil` too",
            "kind `nil`: the word 0xfffc000000000000 is of kind `object` too",
            "kind `object`: in the box of 0x1000000000000 is 0x2000000000000",
        ]);
    }
}
