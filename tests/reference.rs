//! The examples of docs/operators.md: each has the documented result in every tier.
#![allow(
    clippy::unnecessary_cast,
    clippy::excessive_precision,
    clippy::type_complexity,
    reason = "the examples are written by a program"
)]

use azulejo::prelude::*;

include!("golden/reference.in");

/// The context: `(tc)` is its address.
#[repr(C)]
struct Vm {
    /// Read by templates only.
    _first: u8,
}

/// The unit: `(cu)` is its address.
static UNIT: u8 = 55;

fn double(value: i64) -> i64 {
    value * 2
}

fn nothing(_: i64) {}

/// Makes memory, which nobody reads.
fn fresh() -> *mut u8 {
    core::ptr::null_mut()
}

/// The bits of a value in a slot.
trait Bits {
    fn bits(self) -> u64;
}

macro_rules! bits {
    ($($ty:ident $unsigned:ident)*) => {$(
        impl Bits for $ty {
            fn bits(self) -> u64 {
                self as $unsigned as u64
            }
        }
    )*};
}
bits!(i8 u8 u8 u8 i16 u16 u16 u16 i32 u32 u32 u32 i64 u64 u64 u64);

impl Bits for f32 {
    fn bits(self) -> u64 {
        self.to_bits() as u64
    }
}

impl Bits for f64 {
    fn bits(self) -> u64 {
        self.to_bits()
    }
}

#[test]
fn every_example_gives_what_stands_beside_it() {
    let engine = Engine::<Op>::new();
    let sum = vec![Op::Sum { dst: 0.into(), a: 0.into(), b: 1.into() }, Op::Return { a: 0.into() }];
    let sum = engine.define("sum", sum, 2).expect("it is right");
    for (code, op, expected) in EXAMPLES {
        let end = Op::Return { a: 8.into() };
        let body = Code::from(vec![op(), end, Op::Elsewhere { dst: 8.into() }, end]);
        // SAFETY: the unit is an immutable static.
        let body = unsafe { body.with_unit(&raw const UNIT) };
        let function = engine.define(*code, body, 9);
        let function = function.unwrap_or_else(|error| panic!("{code}: {error}"));
        for tier in [Tier::Interpreter, Tier::Baseline, Tier::Optimizer] {
            if tier != Tier::Interpreter {
                if azulejo::can_compile().is_err() {
                    continue;
                }
                engine.compile_in(function, tier).unwrap_or_else(|error| panic!("{code}: {error}"));
            }
            let mut numbers = [10i64, 20, 30, 40];
            let args = (7i64, -2i64, u64::MAX, 2.5f64, numbers.as_mut_ptr(), 3i64, 4i64, sum.number());
            let found = match engine.call::<_, u64>(function, &mut Vm { _first: 77 }, args) {
                Ok(value) => Ok(value),
                Err(Error::Trap { trap, .. }) => Err(trap),
                Err(other) => panic!("{code}: {other}"),
            };
            assert_eq!(found, expected(), "{code}, {tier:?}");
        }
    }
    assert!(EXAMPLES.len() > 100, "{}", EXAMPLES.len());
}
