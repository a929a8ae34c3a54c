//! The meaning of an operator depends on the sign of its operands' types, as in Rust: in every tier, on every width, for VM
//! registers, constants of the bytecode and constants of the template.

use azulejo::prelude::*;

macro_rules! of_type {
    ($module:ident $ty:ident $wide:ident $signed:ident $unsigned:ident) => {
        rows! { $module $ty $wide
            Less In (flagval (lt $a $b) $ty) |a, b| Some((a < b) as $ty);
            LessEqual In (flagval (le $a $b) $ty) |a, b| Some((a <= b) as $ty);
            GreaterEqual In (flagval (ge $a $b) $ty) |a, b| Some((a >= b) as $ty);
            Greater In (flagval (gt $a $b) $ty) |a, b| Some((a > b) as $ty);
            AddOverflows In (flagval (addo $a $b) $ty) |a, b| Some(a.checked_add(b).is_none() as $ty);
            SubOverflows In (flagval (subo $a $b) $ty) |a, b| Some(a.checked_sub(b).is_none() as $ty);
            MulOverflows In (flagval (mulo $a $b) $ty) |a, b| Some(a.checked_mul(b).is_none() as $ty);
            Divide In (div $a $b) |a, b| a.checked_div(b);
            Remainder In (rem $a $b) |a, b| (b != 0).then(|| a.wrapping_rem(b));
            High In (mulhi $a $b) |a, b| Some((a as $wide * b as $wide >> $ty::BITS) as $ty);
            Larger In (^larger $a $b) |a, b| Some(a.max(b));
            LargerSum In (^larger (add $a $b) 100) |a, b| Some(a.wrapping_add(b).max(100));
            Literal In (do (discard $b) (div 100 $a)) |a, _b| (100 as $ty).checked_div(a);
            OfMacro In (do (discard $b) (rem $a (^hundred))) |a, _b| Some(a % 100);
            Named In (let: (($limit 100)) (do (discard $b) (flagval (lt $limit $a) $ty)))
                |a, _b| Some((100 < a) as $ty);
            Computed In (div (sub $a $b) 3) |a, b| Some(a.wrapping_sub(b) / 3);
            Chosen In (rem (if (eq $a $b) 99 (select (nz $a) $b $a)) 10)
                |a, b| Some(if a == b { 99 } else if a != 0 { b } else { a } % 10);
            Shifted In (div (shl $a (const 1 u8)) 3) |a, _b| Some((a << 1) / 3);
            AsUnsigned In (flagval (lt (ucast $a $unsigned) (ucast $b $unsigned)) $ty)
                |a, b| Some(((a as $unsigned) < b as $unsigned) as $ty);
            AsSigned In (flagval (lt (scast $a $signed) (scast $b $signed)) $ty)
                |a, b| Some(((a as $signed) < b as $signed) as $ty);
            Explicit In (flagval (ult $a $b) $ty) |a, b| Some(((a as $unsigned) < b as $unsigned) as $ty);
            LessImm Imm (flagval (lt $a $b) $ty) |a, b| Some((a < b) as $ty);
            DivideImm Imm (div $a $b) |a, b| a.checked_div(b);
            RemainderImm Imm (rem $a $b) |a, b| (b != 0).then(|| a.wrapping_rem(b));
        }
    };
}

macro_rules! rows {
    ($module:ident $ty:ident $wide:ident
        $($name:ident $kind:ident $means:tt |$first:pat_param, $second:pat_param| $expected:expr;)*) => {
        #[test]
        fn $module() {
            #[derive(Bytecode, Clone, Copy, Debug)]
            enum Op {
                $($name { dst: Out<$ty>, a: In<$ty>, b: $kind<$ty> },)*
                Return { a: In<$ty> },
            }

            template! {
                // One macro serves both signs.
                macro ^larger (,x ,y) (if (gt ,x ,y) ,x ,y)
                macro ^hundred () 100

                $(Op::$name => $means)*
                Op::Return => (return $a)
            }

            let (max, min) = ($ty::MAX, $ty::MIN);
            let values = [0, 1, 2, 7, 99, 100, 101, max, max - 1, max / 2, max / 2 + 1, min, min + 1];
            let values = values.into_iter().chain([(0 as $ty).wrapping_sub(1), (0 as $ty).wrapping_sub(7)]);
            let values: Vec<$ty> = values.collect();
            let engine = Engine::<Op>::new();
            for b in values.iter().copied() {
                $({
                    let expected: fn($ty, $ty) -> Option<$ty> = |$first, $second| $expected;
                    let op = Op::$name { dst: 2.into(), a: 0.into(), b: $kind::given(b) };
                    let function = engine.define("row", vec![op, Op::Return { a: 2.into() }], 3);
                    let function = function.expect("it is right");
                    for tier in [Tier::Interpreter, Tier::Baseline, Tier::Optimizer] {
                        if tier != Tier::Interpreter {
                            if azulejo::can_compile().is_err() {
                                continue;
                            }
                            engine.compile_in(function, tier).expect("it compiles");
                        }
                        for a in values.iter().copied() {
                            let found = match engine.call::<_, $ty>(function, &mut (), (a, b)) {
                                Ok(value) => Some(value),
                                Err(Error::Trap { .. }) => None,
                                Err(other) => panic!("{other}"),
                            };
                            let (name, ty) = (stringify!($name), stringify!($ty));
                            assert_eq!(found, expected(a, b), "{name} on {ty}: {a} and {b}, {tier:?}");
                        }
                    }
                })*
            }
        }
    };
}

/// The second operand of an opcode: a constant, or the second argument.
trait Given<T> {
    fn given(value: T) -> Self;
}

impl<T> Given<T> for Imm<T> {
    fn given(value: T) -> Self {
        Imm(value)
    }
}

impl<T> Given<T> for In<T> {
    fn given(_: T) -> Self {
        1.into()
    }
}

of_type! { on_u8 u8 u32 i8 u8 }
of_type! { on_i8 i8 i32 i8 u8 }
of_type! { on_u16 u16 u32 i16 u16 }
of_type! { on_i16 i16 i32 i16 u16 }
of_type! { on_u32 u32 u64 i32 u32 }
of_type! { on_i32 i32 i64 i32 u32 }
of_type! { on_u64 u64 u128 i64 u64 }
of_type! { on_i64 i64 i128 i64 u64 }

#[derive(Bytecode, Clone, Copy, Debug)]
enum Mixed {
    /// An unsigned operand can be compared with a wider signed one.
    Less {
        dst: Out<u8>,
        a: In<i64>,
        b: In<u32>,
    },
    /// Addresses have no sign.
    Behind {
        dst: Out<u8>,
        a: In<*const u8>,
        b: In<*const u8>,
    },
    /// Operands of both signs can be mixed where the sign makes no difference.
    Sum {
        dst: Out<i64>,
        a: In<i64>,
        b: In<u64>,
    },
    Return {
        a: In<i64>,
    },
}

template! {
    Mixed::Less   => (flagval (lt $a $b) u8)
    Mixed::Behind => (flagval (gt $a $b) u8)
    Mixed::Sum    => (div (scast (add $a $b) i64) 2)
    Mixed::Return => (return $a)
}

#[test]
fn what_fits_is_compared_as_it_is() {
    let dst = 2;
    let cases = [
        (Mixed::Less { dst: dst.into(), a: 0.into(), b: 1.into() }, (-1i64, 0xffff_ffffi64), 1i64),
        (Mixed::Behind { dst: dst.into(), a: 0.into(), b: 1.into() }, (-1, 1), 1),
        (Mixed::Sum { dst: dst.into(), a: 0.into(), b: 1.into() }, (-9, 1), -4),
    ];
    let engine = Engine::<Mixed>::new();
    for (op, args, expected) in cases {
        let function =
            engine.define("mixed", vec![op, Mixed::Return { a: dst.into() }], 3).expect("it is right");
        assert_eq!(engine.interpret::<_, i64>(function, &mut (), args), Ok(expected), "{op:?}");
        if azulejo::can_compile().is_ok() {
            for tier in [Tier::Baseline, Tier::Optimizer] {
                engine.compile_in(function, tier).expect("it compiles");
                assert_eq!(engine.call::<_, i64>(function, &mut (), args), Ok(expected), "{op:?} {tier:?}");
            }
        }
    }
}
