//! One NaN in every tier: `canonical_nan` over every operator that yields a float, on both widths.
//!
//! Operands are VM registers, constants of the bytecode, and constants that are known when the templates are compiled. In
//! the last case rustc folds constants in the interpreter, and the optimizer in the graph.

use azulejo::__private::core::vocab::{OpInfo, Props, Sig, Type, Vocabulary};
use azulejo::prelude::*;

/// The canonical NaN of each width.
const ONE: [(Type, u64); 2] = [(Type::F32, 0x7fc0_0000), (Type::F64, 0x7ff8 << 48)];

/// A bytecode with an opcode for each operator: `$x` and `$y` are its operands, as they stand in templates.
macro_rules! bytecode {
    ($module:ident $kind:ident $bits:ident $signed:ident $float:ident $other:ident $x:tt $y:tt) => {
        bytecode! { @rows $module $kind $bits $float
            Add "add" (add $x $y)
            Sub "sub" (sub $x $y)
            Mul "mul" (mul $x $y)
            Div "div" (div $x $y)
            Min "min" (min $x $y)
            Max "max" (max $x $y)
            Copysign "copysign" (copysign $x $y)
            Select "select" (select (lt $x $y) $x $y)
            If "if" (if (lt $x $y) $x $y)
            Neg "neg" (do (discard $y) (neg $x))
            Abs "abs" (do (discard $y) (abs $x))
            Sqrt "sqrt" (do (discard $y) (sqrt $x))
            Floor "floor" (do (discard $y) (floor $x))
            Ceil "ceil" (do (discard $y) (ceil $x))
            Trunc "trunc" (do (discard $y) (trunc $x))
            Nearest "nearest" (do (discard $y) (nearest $x))
            Copy "copy" (do (discard $y) (copy $x))
            Again "canonical_nan" (do (discard $y) (canonical_nan $x))
            Const "const" (do (discard $x) (discard $y) (const (&nan) $float))
            Narrow "fcast" (do (discard $y) (fcast (fcast $x $other) $float))
            Bitcast "bitcast" (do (discard $y) (bitcast (bitcast $x $bits) $float))
            Stof "stof" (do (discard $y) (stof (bitcast $x $signed) $float))
            Utof "utof" (do (discard $y) (utof (bitcast $x $bits) $float))
            Chain "add" (add (canonical_nan (mul $x $y)) (sqrt (canonical_nan (sub $x $y))))
            // The idiom of NaN-boxing machines. rustc replaces one NaN by another here.
            ByHand "sqrt" (let: (($r (sqrt (sub $x $y)))) (if (eq $r $r) $r (div $r $r)))
        }
    };
    (@rows $module:ident $kind:ident $bits:ident $float:ident $($name:ident $word:literal $means:tt)*) => {
        mod $module {
            use azulejo::prelude::*;

            #[derive(Bytecode, Clone, Copy, Debug)]
            pub(crate) enum Op {
                $($name { dst: Out<$bits>, a: $kind<$bits>, b: $kind<$bits> },)*
                Return { a: In<$bits> },
            }

            template! {
                $(Op::$name => (bitcast (canonical_nan $means) $bits))*
                Op::Return => (return $a)
            }

            #[allow(dead_code, reason = "not all come from constants that are known")]
            const fn nan() -> $float {
                $float::NAN
            }

            type Make = fn($kind<$bits>, $kind<$bits>) -> Op;

            pub(crate) const ALL: &[(&str, Make)] =
                &[$(($word, |a, b| Op::$name { dst: 2.into(), a, b }),)*];

            /// An engine for `run`.
            pub(crate) fn engine() -> Engine<Op> {
                Engine::new()
            }

            /// The results of an operator for each pair of arguments, in each tier.
            pub(crate) fn run(engine: &Engine<Op>, op: Op, all: &[($bits, $bits)]) -> Vec<Vec<u64>> {
                let run = || -> Result<Vec<Vec<u64>>, Error> {
                    let function = engine.define("nan", vec![op, Op::Return { a: 2.into() }], 3)?;
                    let mut results: Vec<Vec<u64>> = Vec::new();
                    for args in all {
                        results.push(vec![engine.interpret::<_, $bits>(function, &mut (), *args)? as u64]);
                    }
                    if azulejo::can_compile().is_ok() {
                        for tier in [Tier::Baseline, Tier::Optimizer] {
                            engine.compile_in(function, tier)?;
                            for (args, of_tiers) in std::iter::zip(all, &mut results) {
                                of_tiers.push(engine.call::<_, $bits>(function, &mut (), *args)? as u64);
                            }
                        }
                    }
                    Ok(results)
                };
                run().expect("the function runs")
            }
        }
    };
}

bytecode! { registers_64 In u64 i64 f64 f32 (bitcast $a f64) (bitcast $b f64) }
bytecode! { registers_32 In u32 i32 f32 f64 (bitcast $a f32) (bitcast $b f32) }
bytecode! { constants_64 Imm u64 i64 f64 f32 (bitcast $a f64) (bitcast $b f64) }
bytecode! { constants_32 Imm u32 i32 f32 f64 (bitcast $a f32) (bitcast $b f32) }

/// Bytecodes whose operands are known when their templates are compiled.
macro_rules! known {
    ($(($wide:ident $narrow:ident $x:tt $y:tt))*) => {
        $(
            bytecode! {
                $wide Imm u64 i64 f64 f32
                (do (discard $a) (bitcast $x f64)) (do (discard $b) (bitcast $y f64))
            }
            bytecode! {
                $narrow Imm u32 i32 f32 f64
                (do (discard $a) (fcast (bitcast $x f64) f32))
                (do (discard $b) (fcast (bitcast $y f64) f32))
            }
        )*

        #[test]
        fn a_nan_that_is_known_when_templates_are_compiled_is_the_one_too() {
            let mut n_nans = 0;
            $(
                let (wide, narrow) = ($wide::engine(), $narrow::engine());
                for (name, make) in $wide::ALL {
                    n_nans += judge(Type::F64, name, &$wide::run(&wide, make(Imm(0), Imm(0)), &[(0, 0)]));
                }
                for (name, make) in $narrow::ALL {
                    n_nans += judge(Type::F32, name, &$narrow::run(&narrow, make(Imm(0), Imm(0)), &[(0, 0)]));
                }
            )*
            assert!(n_nans > 100, "{n_nans}");
        }
    };
}

// A signaling NaN and a number, infinities, zeros, a negative number, and NaNs with payloads.
known! {
    (signaling_64 signaling_32 (const 0x7ff4_0000_0000_0001 i64) (const 0x3ff0_0000_0000_0000 i64))
    (infinite_64 infinite_32 (const 0x7ff0_0000_0000_0000 i64) (const 0x7ff0_0000_0000_0000 i64))
    (zero_64 zero_32 (const 0 i64) (const 0 i64))
    (negative_64 negative_32 (const -0x4010_0000_0000_0000 i64) (const 0x4000_0000_0000_0000 i64))
    (payloads_64 payloads_32 (const -0x0007_0000_0000_1234 i64) (const 0x7fff_ffff_ffff_ffff i64))
}

/// Numbers, zeros, infinities, and NaNs of both signs, quiet and signaling, as doubles.
const VALUES: [u64; 13] = [
    0,
    1 << 63,
    0x3ff0_0000_0000_0000,
    0xc004_0000_0000_0000,
    0x7ff0_0000_0000_0000,
    0xfff0_0000_0000_0000,
    0x7ff8_0000_0000_0000,
    0xfff8_0000_0000_0000,
    0x7ff4_0000_0000_0001,
    0xfff0_0000_0000_0001,
    0x7fff_ffff_ffff_ffff,
    0xffff_ffff_ffff_ffff,
    0xfffa_0000_2000_0000,
];

/// The same kind of value in 32 bits: the sign, the exponent, and both ends of the fraction.
fn narrow(wide: u64) -> u32 {
    let (sign, exponent) = (wide >> 63 << 31, wide >> 52 & 0x7ff);
    let exponent = match exponent {
        0 | 0x7ff => exponent & 0xff,
        normal => normal + 127 - 1023,
    };
    let mantissa = (wide >> 29 & 0x7f_ffff) | (wide & 1);
    (sign | exponent << 23 | mantissa) as u32
}

fn is_nan(ty: Type, bits: u64) -> bool {
    match ty {
        Type::F32 => f32::from_bits(bits as u32).is_nan(),
        _ => f64::from_bits(bits).is_nan(),
    }
}

/// Checks that all tiers agree, and that every NaN is the canonical one. Returns the number of NaNs.
fn judge(ty: Type, name: &str, results: &[Vec<u64>]) -> usize {
    let one = ONE.iter().find(|(of, _)| *of == ty).expect("there is one of each width").1;
    let mut n_nans = 0;
    for of_tiers in results {
        assert!(of_tiers.iter().all(|result| *result == of_tiers[0]), "{name} {ty}: {of_tiers:x?}");
        assert!(!is_nan(ty, of_tiers[0]) || of_tiers[0] == one, "{name} {ty}: {of_tiers:x?}");
        n_nans += is_nan(ty, of_tiers[0]) as usize;
    }
    n_nans
}

#[test]
fn every_operator_gives_the_one_nan_in_every_tier() {
    let wide: Vec<(u64, u64)> = VALUES.iter().flat_map(|a| VALUES.map(|b| (*a, b))).collect();
    let small: Vec<(u32, u32)> = wide.iter().map(|&(a, b)| (narrow(a), narrow(b))).collect();
    let mut n_nans = 0;
    let (engine_64, engine_32) = (registers_64::engine(), registers_32::engine());
    for (name, make) in registers_64::ALL {
        n_nans += judge(Type::F64, name, &registers_64::run(&engine_64, make(0.into(), 1.into()), &wide));
    }
    for (name, make) in registers_32::ALL {
        n_nans += judge(Type::F32, name, &registers_32::run(&engine_32, make(0.into(), 1.into()), &small));
    }
    let (engine_64, engine_32) = (constants_64::engine(), constants_32::engine());
    for at in (0..wide.len()).step_by(5) {
        let ((a, b), (c, d)) = (wide[at], small[at]);
        for (name, make) in constants_64::ALL {
            n_nans += judge(Type::F64, name, &constants_64::run(&engine_64, make(Imm(a), Imm(b)), &[(0, 0)]));
        }
        for (name, make) in constants_32::ALL {
            n_nans += judge(Type::F32, name, &constants_32::run(&engine_32, make(Imm(c), Imm(d)), &[(0, 0)]));
        }
    }
    assert!(n_nans > 1000, "{n_nans}");
}

/// The lists above contain all operators that yield floats.
#[test]
fn no_operator_is_forgotten() {
    let listed = |word: &str| registers_64::ALL.iter().any(|(name, _)| *name == word);
    let yields_float = |info: &OpInfo| {
        let is_value = info.props.contains(Props::TEMPLATE) && info.reference.is_some();
        is_value && info.sigs().iter().any(|sig| sig.ty.is_float())
    };
    let all = Vocabulary::BUILTIN.iter().filter(|(_, info)| yields_float(info));
    let forgotten: Vec<&str> = all.map(|(_, info)| info.name).filter(|name| !listed(name)).collect();
    assert_eq!(forgotten, Vec::<&str>::new());
}

/// The reference, which folds constants and judges graphs, yields the canonical NaN, too.
#[test]
fn the_reference_gives_the_one_nan() {
    let vocab = Vocabulary::BUILTIN;
    let canonical = vocab.find("canonical_nan").expect("there is such an operator");
    let sig = |ty| Sig { from: Type::Void, ty };
    for value in VALUES {
        for (ty, bits) in [(Type::F64, value), (Type::F32, narrow(value) as u64)] {
            let one = ONE.iter().find(|(of, _)| *of == ty).expect("there is one of each width").1;
            let expected = if is_nan(ty, bits) { one } else { bits };
            assert_eq!(vocab.evaluate(canonical, sig(ty), &[bits]), Some(Ok(expected)), "{bits:x}");
        }
    }
}
