//! Forms of the template language that use Rust items or shorten templates: types passed to a Rust macro, constants of a
//! macro's parameters, addresses of statics, helpers with `bool` and nullable references, flags as results of conditionals,
//! and outputs that are read again. Each runs in every tier.

use azulejo::prelude::*;
use std::fmt::Debug;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicI64, Ordering};

const TIERS: [Tier; 3] = [Tier::Interpreter, Tier::Baseline, Tier::Optimizer];

/// Runs a function in each tier, with the same arguments and a new context for each run.
fn in_all_tiers<B: Bytecode, R: azulejo::Slot + Debug>(
    code: &[B],
    registers: u32,
    context: impl Fn() -> B::Context,
    args: impl Args + Copy,
) -> Vec<R> {
    let run = |tier| {
        let engine: Engine<B> = Engine::<B>::builder().only(tier).build();
        // Each value of the last register is read once, so baseline code can keep it in a machine register.
        let code = Code::from(code).with_temporaries(registers - 1);
        let function = engine.define("f", code, registers).expect("the code is right");
        engine.call(function, &mut context(), args).expect("it ends")
    };
    TIERS.into_iter().map(run).collect()
}

/// Operand types, and a whole operand, that are passed to a Rust macro.
mod fragments {
    use super::*;

    macro_rules! bytecode {
        ($name:ident, $ty:ty, $input:ty) => {
            #[derive(Bytecode, Clone, Copy, Debug)]
            enum $name {
                Add { dst: Out<$ty>, a: $input, b: Imm<$ty> },
                Return { a: $input },
            }
            template! {
                $name::Add    => (add $a $b)
                $name::Return => (return $a)
            }
        };
    }
    bytecode!(Wide, i64, In<i64>);
    bytecode!(Float, f64, In<f64>);

    #[test]
    fn are_operands() {
        let wide = [Wide::Add { dst: 0.into(), a: 0.into(), b: Imm(2) }, Wide::Return { a: 0.into() }];
        assert_eq!(in_all_tiers::<_, i64>(&wide, 2, || (), (40i64,)), [42; 3]);
        let float = [Float::Add { dst: 0.into(), a: 0.into(), b: Imm(0.5) }, Float::Return { a: 0.into() }];
        assert_eq!(in_all_tiers::<_, f64>(&float, 2, || (), (1.5f64,)), [2.0; 3]);
    }
}

#[repr(C)]
struct Vm {
    first: i64,
    second: i64,
    found: u32,
}

static LIMIT: AtomicI64 = AtomicI64::new(12);
static PRIMES: [i64; 4] = [2, 3, 5, 7];

const fn sum(a: i64, b: i64) -> i64 {
    a + b
}

fn is_between(vm: &mut Vm, a: i64, is_less: bool) -> bool {
    vm.found += 1;
    is_less && a > 3
}
extern "C" fn both(a: bool, b: bool) -> bool {
    a && b
}
fn find(vm: &Vm, number: i64) -> Option<&i64> {
    [&vm.first, &vm.second].into_iter().find(|place| **place == number)
}
fn find_again(vm: &mut Vm, number: i64) -> Option<NonNull<i64>> {
    [&mut vm.first, &mut vm.second].into_iter().find(|place| **place == number).map(NonNull::from)
}
fn or_zero(place: Option<&i64>) -> i64 {
    place.copied().unwrap_or(0)
}
fn is_there(place: Option<NonNull<i64>>) -> bool {
    place.is_some()
}
fn second(vm: &mut Vm) -> &mut i64 {
    &mut vm.second
}

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(context = Vm)]
enum Op {
    Field { dst: Out<i64> },
    Constant { dst: Out<i64> },
    Limit { dst: Out<i64> },
    Prime { dst: Out<i64>, i: In<u64> },
    Between { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Both { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Found { dst: Out<i64>, a: In<i64> },
    FoundAgain { dst: Out<i64>, a: In<i64> },
    Second { dst: Out<i64> },
    Chosen { dst: Out<i64>, a: In<i64>, b: In<i64> },
    ChosenOrLeft { dst: Out<i64>, a: In<i64>, b: In<i64>, to: Label },
    IsTrue { dst: Out<i64>, x: In<f64> },
    IsFalse { dst: Out<i64>, x: In<f32> },
    Stored { dst: Out<i64>, other: Out<i64>, a: In<i64> },
    StoredNarrow { dst: Out<u8>, other: Out<i64>, a: In<i64> },
    Move { dst: Out<i64>, a: In<i64> },
    Return { a: In<i64> },
}

template! {
    macro ^load_field (,ty ,name ,scalar) (load (addr (tc) (&offset_of ,ty, ,name)) ,scalar)
    macro ^sized (,ty ,more) (&sum (core::mem::size_of::<[,ty; 2]>() as i64), ,more)

    Op::Field        => unsafe (add (^load_field Vm first i64) (ucast (^load_field Vm found u32) i64))
    Op::Constant     => (add (^sized u32 100) (^sized Vm &limit::MORE))
    Op::Limit        => unsafe (load (&static LIMIT) i64)
    Op::Prime        => unsafe (load (idx (&static crate::PRIMES) (and $i 3) 8) i64)
    Op::Between      => (if (call is_between (arglist (carg (tc) ptr) (carg $a i64) (carg (lt $a $b) bool)) bool) 1 2)
    Op::Both         => (flagval (call "C" both (arglist (carg (nz $a) bool) (carg (all (nz $b) (gt $b 5)) bool)) bool) i64)
    Op::Found        => unsafe (let: (($place (call find (arglist (carg (tc) ptr) (carg $a i64)) ptr)))
        (add (call or_zero (arglist (carg $place ptr)) i64) (flagval (call is_there (arglist (carg $place ptr)) bool) i64)))
    Op::FoundAgain   => unsafe (let: (($place (call find_again (arglist (carg (tc) ptr) (carg $a i64)) ptr)))
        (if (nz $place) (load $place i64) -1))
    Op::Second       => unsafe (load (call second (arglist (carg (tc) ptr)) ptr) i64)
    Op::Chosen       => (if (if (lt $a 10) (lt $b 10) (any (gt $b 100) (eq $b 50))) 1 2)
    Op::ChosenOrLeft => (flagval (if (lt $a 10) (lt $b 10) (branch $to)) i64)
    Op::IsTrue       => (flagval (nz $x) i64)
    Op::IsFalse      => (if (zr $x) 1 0)
    Op::Stored!      => (dov (set $dst (add $a 1)) (set $other (mul $dst $dst)))
    Op::StoredNarrow! => (dov (set $dst (ucast $a u8)) (when (ugt $dst 10) (set $dst 10)) (set $other (ucast $dst i64)))
    Op::Move         => (copy $a)
    Op::Return       => (return $a)
}

mod limit {
    pub(crate) const MORE: i64 = 1000;
}

fn r<T: From<u32>>(register: u32) -> T {
    register.into()
}

#[track_caller]
fn check(op: Op, args: (i64, i64), expected: i64) {
    let code = [op, Op::Return { a: r(0) }];
    let context = || Vm { first: 11, second: 22, found: 3 };
    assert_eq!(
        in_all_tiers::<_, i64>(&code, 4, context, (0i64, args.0, args.1)),
        [expected; 3],
        "{op:?} {args:?}"
    );
}

#[test]
fn parameters_stand_in_constants() {
    check(Op::Field { dst: r(0) }, (0, 0), 11 + 3);
    check(Op::Constant { dst: r(0) }, (0, 0), 8 + 100 + 48 + 1000);
}

#[test]
fn statics_have_addresses() {
    check(Op::Limit { dst: r(0) }, (0, 0), LIMIT.load(Ordering::Relaxed));
    check(Op::Prime { dst: r(0), i: r(1) }, (2, 0), 5);
}

#[test]
fn helpers_take_and_return_bool() {
    for (a, b, expected) in [(4, 5, 1), (5, 5, 2), (3, 5, 2)] {
        check(Op::Between { dst: r(0), a: r(1), b: r(2) }, (a, b), expected);
    }
    for (a, b, expected) in [(4, 6, 1), (0, 6, 0), (256, 5, 0), (256, 7, 1)] {
        check(Op::Both { dst: r(0), a: r(1), b: r(2) }, (a, b), expected);
    }
}

#[test]
fn helpers_take_and_return_what_may_be_missing() {
    for (a, expected) in [(11, 12), (22, 23), (33, 0)] {
        check(Op::Found { dst: r(0), a: r(1) }, (a, 0), expected);
    }
    for (a, expected) in [(11, 11), (22, 22), (33, -1)] {
        check(Op::FoundAgain { dst: r(0), a: r(1) }, (a, 0), expected);
    }
    check(Op::Second { dst: r(0) }, (0, 0), 22);
}

#[test]
fn flags_are_chosen() {
    for (a, b, expected) in [(9, 9, 1), (9, 10, 2), (10, 50, 1), (10, 101, 1), (10, 51, 2)] {
        check(Op::Chosen { dst: r(0), a: r(1), b: r(2) }, (a, b), expected);
    }
    for (a, b, expected) in [(9, 9, 1), (9, 10, 0), (10, 9, 0)] {
        check(Op::ChosenOrLeft { dst: r(0), a: r(1), b: r(2), to: Label(1) }, (a, b), expected);
    }
}

#[test]
fn floats_are_true_or_false() {
    for (x, expected) in [(0.0f64, 0), (-0.0, 0), (0.5, 1), (f64::NAN, 1), (f64::MIN_POSITIVE, 1)] {
        check(Op::IsTrue { dst: r(0), x: r(1) }, (x.to_bits() as i64, 0), expected);
        check(Op::IsFalse { dst: r(0), x: r(1) }, ((x as f32).to_bits() as i64, 0), (x as f32 == 0.0) as i64);
    }
}

/// This also works if the next bytecode takes the stored value from a machine register and its slot is not written.
#[test]
fn what_was_stored_is_read_again() {
    let stored = |dst, other, a| Op::Stored { dst: r(dst), other: r(other), a: r(a) };
    check(stored(2, 0, 1), (4, 0), 25);
    check(stored(0, 2, 1), (4, 0), 5);
    // Both outputs may be the same register; then the last store counts.
    check(stored(0, 0, 1), (4, 0), 25);
    let context = || Vm { first: 0, second: 0, found: 0 };
    for (op, expected) in [(stored(3, 0, 1), 5), (stored(0, 3, 1), 25)] {
        let code = [op, Op::Move { dst: r(0), a: r(3) }, Op::Return { a: r(0) }];
        assert_eq!(in_all_tiers::<_, i64>(&code, 4, context, (0i64, 4i64)), [expected; 3], "{op:?}");
    }
    for (a, expected) in [(5, 5), (200, 10), (256, 0)] {
        check(Op::StoredNarrow { dst: r(2), other: r(0), a: r(1) }, (a, 0), expected);
    }
}
