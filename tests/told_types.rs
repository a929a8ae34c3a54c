//! Rust types in templates: enums as numbers that functions take and return, and fields of structs. In every tier.

use azulejo::prelude::*;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

const TIERS: [Tier; 3] = [Tier::Interpreter, Tier::Baseline, Tier::Optimizer];

/// Compiles a function for the tier in which it is to run.
fn prepare<B: Bytecode>(engine: &Engine<B>, function: FunctionId, tier: Tier) {
    if tier == Tier::Interpreter || azulejo::can_compile().is_ok() {
        engine.compile_in(function, tier).unwrap();
    }
}

/// Enums of each width: a number without a variant becomes `None`, or the variant that is marked for it, but no other
/// variant.
macro_rules! enums {
    ($($module:ident $repr:ident $number:ident $other:ident, $least:expr, $most:expr;)*) => {$(
        #[test]
        fn $module() {
            #[derive(Scalar, Clone, Copy, PartialEq, Debug)]
            #[repr($repr)]
            #[allow(clippy::enum_clike_unportable_variant, reason = "the least and the greatest of any width")]
            enum Marked {
                Least = $least,
                Three = 3,
                Four,
                Most = $most,
            }

            #[derive(Scalar)]
            #[repr($repr, align(16))]
            enum Plain {
                Three = 3,
                #[scalar(other)]
                Many = 100,
            }

            struct Vm {
                seen: Vec<Option<Marked>>,
            }

            fn next(vm: &mut Vm, marked: Option<Marked>, _: Option<&u8>) -> Marked {
                vm.seen.push(marked);
                match marked {
                    Some(Marked::Least) => Marked::Three,
                    Some(Marked::Three) => Marked::Four,
                    Some(Marked::Four) | Some(Marked::Most) => Marked::Most,
                    None => Marked::Least,
                }
            }
            fn plain(plain: Plain) -> Plain {
                match plain {
                    Plain::Three => Plain::Many,
                    Plain::Many => Plain::Three,
                }
            }
            extern "C" fn made() -> Marked {
                Marked::Most
            }

            #[derive(Bytecode, Clone, Copy, Debug)]
            #[bytecode(context = Vm)]
            enum Op {
                Next { dst: Out<$number>, a: In<$number> },
                Plain { dst: Out<$number>, a: In<$number> },
                Made { dst: Out<$number> },
                Return { a: In<$number> },
            }

            template! {
                Op::Next => unsafe (call next (arglist (carg (tc) ptr) (carg $a $number) (carg (const 0 ptr) ptr)) $number)
                Op::Plain => (call plain (arglist (carg $a $number)) $number)
                Op::Made => (call "C" made (arglist) $number)
                Op::Return => (return $a)
            }

            let other = $other as $repr as $number;
            let [three, four, many] = [3, 4, 100].map(|number: $repr| number as $number);
            let [least, most] = [$least as $repr as $number, $most as $repr as $number];
            for tier in TIERS {
                let engine = Engine::<Op>::new();
                let define = |op: Op| {
                    let code = vec![op, Op::Return { a: 0.into() }];
                    let function = engine.define("one", code, 1).unwrap();
                    prepare(&engine, function, tier);
                    function
                };
                let next = define(Op::Next { dst: 0.into(), a: 0.into() });
                let mut vm = Vm { seen: Vec::new() };
                for (from, to) in [(least, three), (three, four), (four, most), (most, most), (other, least)] {
                    assert_eq!(engine.call::<_, $number>(next, &mut vm, (from,)), Ok(to), "{tier:?}");
                }
                let seen = [Marked::Least, Marked::Three, Marked::Four, Marked::Most].map(Some);
                assert_eq!(vm.seen, [&seen[..], &[None]].concat(), "{tier:?}");
                let plain = define(Op::Plain { dst: 0.into(), a: 0.into() });
                for (from, to) in [(three, many), (many, three), (other, three), (most, three)] {
                    assert_eq!(engine.call::<_, $number>(plain, &mut vm, (from,)), Ok(to), "{tier:?}");
                }
                let made = define(Op::Made { dst: 0.into() });
                assert_eq!(engine.call::<_, $number>(made, &mut vm, (0 as $number,)), Ok(most), "{tier:?}");
            }
        }
    )*};
}

const OTHER: i64 = 77;

enums! {
    signed_bytes i8 i8 OTHER, -128, 127;
    bytes u8 u8 OTHER, 0, 255;
    signed_16 i16 i16 OTHER, -0x8000, 0x7fff;
    unsigned_16 u16 u16 OTHER, 0, 0xffff;
    signed_32 i32 i32 OTHER, -0x8000_0000, 0x7fff_ffff;
    unsigned_32 u32 u32 OTHER, 0, 0xffff_ffff;
    signed_64 i64 i64 OTHER, i64::MIN, i64::MAX;
    unsigned_64 u64 u64 OTHER, 0, u64::MAX;
    signed_words isize i64 OTHER, isize::MIN, isize::MAX;
    words usize u64 OTHER, 0, usize::MAX;
}

mod machine {
    //! The fields of a struct can be named through its path, too.
    use super::*;

    #[derive(Fields)]
    pub(crate) struct Vm {
        pub(crate) byte: u8,
        pub(crate) short: i16,
        pub(crate) count: u32,
        pub(crate) float: f32,
        pub(crate) scale: f64,
        pub(crate) link: *mut Link,
        pub(crate) size: usize,
        pub(crate) shared: AtomicU32,
        pub(crate) top: AtomicPtr<u8>,
        pub(crate) _name: String,
    }

    /// A field of a tuple struct is named by its number.
    #[derive(Fields)]
    pub(crate) struct Link(pub(crate) i64, pub(crate) i32);
}
use machine::{Link, Vm};

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(context = machine::Vm)]
enum Reads {
    Quarter { dst: Out<u8> },
    Shorten { dst: Out<i64> },
    Grow { dst: Out<u32>, by: In<u32> },
    Scaled { dst: Out<f64> },
    Linked { dst: Out<i64> },
    Share { dst: Out<u32>, by: In<u32> },
    Top { dst: Out<u64> },
    Return { a: In<u64> },
}

template! {
    macro ^count () (load (tc) (&field Vm, count))
    macro ^of_link (,name) (load (load (tc) (&field Vm, link)) (&field Link, ,name))

    // The field is unsigned, so the division is: 200 / 4.
    Reads::Quarter => unsafe (div (load (tc) (&field machine::Vm, byte)) 4)
    Reads::Shorten => unsafe (sar (scast (load (tc) (&field Vm, short)) i64) 1)
    Reads::Grow    => unsafe (do (store (tc) (add (^count) $by) (&field Vm, count)) (^count))
    Reads::Scaled  => unsafe (mul (load (tc) (&field Vm, scale)) (fcast (load (tc) (&field Vm, float)) f64))
    Reads::Linked  => unsafe (add (^of_link 0) (scast (^of_link 1) i64))
    Reads::Share   => unsafe (atomic_add (tc) $by (&field Vm, shared) relaxed)
    Reads::Top     => unsafe (add (load (tc) (&field Vm, top)) (load pure (tc) (&field Vm, size)))
    Reads::Return  => (return $a)
}

#[test]
fn fields_are_where_and_what_they_are() {
    for tier in TIERS {
        let mut link = Link(-1, -2);
        let mut bytes = [0; 4];
        let mut vm = Vm {
            byte: 200,
            short: -6,
            count: 5,
            float: 1.5,
            scale: -2.0,
            link: &mut link,
            size: 3,
            shared: AtomicU32::new(40),
            top: AtomicPtr::new(bytes.as_mut_ptr()),
            _name: String::new(),
        };
        let engine = Engine::<Reads>::new();
        let mut run = |op: Reads, argument: u64| {
            let function = engine.define("field", vec![op, Reads::Return { a: 0.into() }], 2).unwrap();
            prepare(&engine, function, tier);
            engine.call::<_, u64>(function, &mut vm, (0u64, argument)).unwrap()
        };
        assert_eq!(run(Reads::Quarter { dst: 0.into() }, 0), 50, "{tier:?}");
        assert_eq!(run(Reads::Shorten { dst: 0.into() }, 0) as i64, -3, "{tier:?}");
        assert_eq!(run(Reads::Grow { dst: 0.into(), by: 1.into() }, 7), 12, "{tier:?}");
        assert_eq!(f64::from_bits(run(Reads::Scaled { dst: 0.into() }, 0)), -3.0, "{tier:?}");
        assert_eq!(run(Reads::Linked { dst: 0.into() }, 0) as i64, -3, "{tier:?}");
        assert_eq!(run(Reads::Share { dst: 0.into(), by: 1.into() }, 2), 40, "{tier:?}");
        let top = run(Reads::Top { dst: 0.into() }, 0);
        assert_eq!(top, bytes.as_ptr() as u64 + 3, "{tier:?}");
        assert_eq!((vm.count, vm.shared.load(Ordering::Relaxed)), (12, 42), "{tier:?}");
    }
}
