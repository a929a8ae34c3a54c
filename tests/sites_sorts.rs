//! Cases of several sorts in one site: a field may be in the object, in memory of its own, computed, or not there, and one that is
//! set may be new. Every tier has the same results, and in the optimizer's code nothing asks for the sort.

use azulejo::Trap;
use azulejo::prelude::*;
use core::cell::Cell;
use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic};

/// Numbers that nothing else has, so that they are found in machine code.
const INSIDE: u32 = 0x7a10;
const OUTSIDE: u32 = 0x7a11;
const LENGTH: u32 = 0x7a12;
const ABSENT: u32 = 0x7a13;
/// The field is new, and the object gets another shape.
const NEW: u32 = 0x7a14;

const FIRST_SHAPE: u32 = 0x5ae0;
const LENGTH_KEY: u32 = 99;
const N_INSIDE: u32 = 2;

#[derive(Fields, Clone, Copy)]
#[repr(C)]
struct Place {
    shape: u32,
    sort: u32,
    offset: u32,
    next: u32,
}

#[derive(Fields, Clone, Copy)]
#[repr(C)]
struct Flagged {
    shape: u32,
    is_outside: u8,
    offset: u32,
}

/// An object: its shape says how many of the keys 0, 1, 2 … it has. The first ones are in it.
#[derive(Fields)]
#[repr(C)]
struct Object {
    shape: u32,
    length: u32,
    outside: *mut u64,
    inside: [u64; N_INSIDE as usize],
}

#[derive(Default)]
struct Vm {
    slow: u32,
}

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(context = Vm)]
enum Op {
    Get {
        dst: Out<u64>,
        object: In<*mut Object>,
        key: Imm<u32>,
        cache: Site<Place, 4>,
    },
    Set {
        object: In<*mut Object>,
        key: Imm<u32>,
        value: In<u64>,
        cache: Site<Place, 4>,
    },
    /// A field whose case says by a flag where it is.
    Peek {
        dst: Out<u64>,
        object: In<*mut Object>,
        key: Imm<u32>,
        cache: Site<Flagged, 4>,
    },
    Add {
        dst: Out<u64>,
        a: In<u64>,
        b: In<u64>,
    },
    Return {
        a: In<u64>,
    },
}

template! {
    regions { shapes, fields }

    macro ^is_of (,object) (eq (load shapes ,object (&field Object, shape)) (case shape))
    macro ^is (,sort) (eq (case sort) ,sort)
    macro ^inside (,object) (add ,object (ucast (case offset) u64))
    macro ^outside (,object) (add (load shapes ,object (&field Object, outside)) (ucast (case offset) u64))

    Op::Get => unsafe (cached $cache Place (^is_of $object)
        (if (^is &INSIDE) (load fields (^inside $object) u64)
            (if (^is &OUTSIDE) (load fields (^outside $object) u64)
                (if (^is &LENGTH) (ucast (load shapes $object (&field Object, length)) u64) 0)))
        (slow get (arglist (carg (tc) ptr) (carg $object ptr) (carg $key u32) (carg $cache ptr)) u64))
    Op::Set => unsafe (cachedv $cache Place (^is_of $object)
        (ifv (^is &OUTSIDE)
            (store fields (^outside $object) $value u64)
            (dov
                (store fields (^inside $object) $value u64)
                (when (^is &NEW) (store shapes $object (case next) (&field Object, shape)))))
        (slowv set
            (arglist (carg (tc) ptr) (carg $object ptr) (carg $key u32) (carg $value u64) (carg $cache ptr))))
    Op::Peek => unsafe (cached $cache Flagged (^is_of $object)
        (load fields (if (nz (case is_outside)) (^outside $object) (^inside $object)) u64)
        (slow peek (arglist (carg $object ptr) (carg $key u32) (carg $cache ptr)) u64))
    Op::Add => (add $a $b)
    Op::Return => (return $a)
}

/// Adds a case, if there is none for the shape.
fn learn(vm: &mut Vm, cases: Cases<'_, Place>, place: Place) {
    vm.slow += 1;
    if cases.iter().all(|case| case.shape != place.shape) {
        cases.add(place);
    }
}

/// Where an object has a field.
fn place(object: &Object, key: u32) -> Place {
    let (shape, n_fields) = (object.shape, object.shape - FIRST_SHAPE);
    let (sort, offset) = match key {
        LENGTH_KEY => (LENGTH, 0),
        _ if key >= n_fields => (ABSENT, 0),
        0..N_INSIDE => (INSIDE, core::mem::offset_of!(Object, inside) as u32 + 8 * key),
        _ => (OUTSIDE, 8 * (key - N_INSIDE)),
    };
    Place { shape, sort, offset, next: 0 }
}

fn get(vm: &mut Vm, object: &Object, key: u32, cases: Cases<'_, Place>) -> Result<u64, Trap> {
    let place = place(object, key);
    learn(vm, cases, place);
    Ok(match place.sort {
        INSIDE => object.inside[key as usize],
        // SAFETY: the shape says that it is there.
        OUTSIDE => unsafe { *object.outside.add((key - N_INSIDE) as usize) },
        LENGTH => object.length as u64,
        _ => 0,
    })
}

/// A field that is there.
fn peek(object: &Object, key: u32, cases: Cases<'_, Flagged>) -> Result<u64, Trap> {
    let Place { shape, offset, sort, .. } = place(object, key);
    let is_outside = (sort == OUTSIDE) as u8;
    if cases.iter().all(|case| case.shape != shape) {
        cases.add(Flagged { shape, is_outside, offset });
    }
    Ok(match is_outside {
        0 => object.inside[key as usize],
        // SAFETY: the shape says that it is there.
        _ => unsafe { *object.outside.add((key - N_INSIDE) as usize) },
    })
}

/// Sets a field that is there, or the next one.
fn set(vm: &mut Vm, object: &mut Object, key: u32, value: u64, cases: Cases<'_, Place>) -> Result<(), Trap> {
    let (place, n_fields) = (place(object, key), object.shape - FIRST_SHAPE);
    if key > n_fields {
        return Err(Trap::User(1));
    }
    let next = FIRST_SHAPE + n_fields + 1;
    if key < N_INSIDE {
        let offset = core::mem::offset_of!(Object, inside) as u32 + 8 * key;
        let sort = if key == n_fields { NEW } else { INSIDE };
        learn(vm, cases, Place { sort, offset, next, ..place });
        object.inside[key as usize] = value;
    } else {
        // A new one that is outside stays a slow path.
        if key < n_fields {
            learn(vm, cases, place);
        }
        // SAFETY: there is room for all keys that the test has.
        unsafe { *object.outside.add((key - N_INSIDE) as usize) = value };
    }
    object.shape = object.shape.max(FIRST_SHAPE + key + 1);
    Ok(())
}

fn get_to(dst: u32, key: u32) -> Op {
    Op::Get { dst: dst.into(), object: 0.into(), key: Imm(key), cache: Site::new() }
}

fn set_to(key: u32, value: u32) -> Op {
    Op::Set { object: 0.into(), key: Imm(key), value: value.into(), cache: Site::new() }
}

/// Calls a function with a new object of this many fields. Returns the result, and what is in the object then.
fn call(
    engine: &Engine<Op>,
    function: FunctionId,
    n_fields: u32,
) -> (Result<u64, Error>, u32, Vec<u64>, u32) {
    let outside = [const { Cell::new(7) }; 4];
    let shape = FIRST_SHAPE + n_fields;
    let mut object = Object { shape, length: 5, outside: outside.as_ptr().cast_mut().cast(), inside: [3, 4] };
    let mut vm = Vm::default();
    let result = engine.call(function, &mut vm, (&raw mut object, 1000u64));
    let fields = object.inside.into_iter().chain(outside.iter().map(Cell::get)).collect();
    (result, object.shape, fields, vm.slow)
}

fn reads_and_writes() -> Vec<Op> {
    let mut code = vec![set_to(0, 1)];
    for key in [0, 1, 2, LENGTH_KEY] {
        code.extend([get_to(2, key), Op::Add { dst: 1.into(), a: 1.into(), b: 2.into() }]);
    }
    code.extend([set_to(1, 1), get_to(2, 1), set_to(2, 2), get_to(3, 3)]);
    code.extend([Op::Add { dst: 1.into(), a: 1.into(), b: 3.into() }, Op::Return { a: 1.into() }]);
    code
}

#[test]
fn every_tier_finds_each_sort() {
    let interpreted = Engine::<Op>::builder().only(Tier::Interpreter).build();
    let define = |engine: &Engine<Op>| engine.define("sorts", reads_and_writes(), 4).expect("it is right");
    let oracle = define(&interpreted);
    // One shape, all that fit, and more.
    for fields in [&[4][..], &[0], &[0, 1, 2, 3, 4], &[4, 3, 4, 2, 1, 0, 2]] {
        for tier in [Tier::Baseline, Tier::Optimizer] {
            if azulejo::can_compile().is_err() {
                return;
            }
            let (fixed, climbing) = (
                Engine::<Op>::builder().up_to(tier).build(),
                Engine::<Op>::builder().thresholds(2, 8).build(),
            );
            for engine in [fixed, climbing] {
                let function = define(&engine);
                for round in 0..20 {
                    for n_fields in fields {
                        let (found, expected) =
                            (call(&engine, function, *n_fields), call(&interpreted, oracle, *n_fields));
                        assert_eq!(
                            (found.0, found.1, found.2),
                            (expected.0, expected.1, expected.2),
                            "{tier:?} {n_fields}"
                        );
                    }
                    if round == 3 && engine.tier(function) != tier {
                        engine.compile_in(function, tier).expect("it is compiled");
                    }
                }
            }
        }
    }
}

/// The optimizer's code of a function that was called with objects of so many fields.
fn optimized(code: Vec<Op>, n_fields: u32) -> Vec<Instruction> {
    let engine = Engine::<Op>::builder().build();
    let function = engine.define("sorts", code, 4).expect("it is right");
    (0..2).for_each(|_| _ = call(&engine, function, n_fields));
    engine.compile_in(function, Tier::Optimizer).expect("it is compiled");
    assert_eq!(call(&engine, function, n_fields).3, 0, "the sites know everything");
    let listing = engine.disassemble(function).expect("it was compiled");
    Decoder::with_ip(64, listing.bytes(), 0, DecoderOptions::NONE).iter().collect()
}

/// The numbers that code compares something with.
fn compared(code: &[Instruction]) -> Vec<u64> {
    let is_compare = |one: &&Instruction| one.mnemonic() == Mnemonic::Cmp && one.op_count() == 2;
    let numbers = code.iter().filter(is_compare).filter_map(|one| one.try_immediate(1).ok());
    numbers.filter(|number| (0x5a00..0x7b00).contains(number)).collect()
}

#[test]
fn nothing_asks_for_the_sort() {
    if azulejo::can_compile().is_err() {
        return;
    }
    let give = Op::Return { a: 3.into() };
    // Inside, outside, the length, and what is not there: the shape is looked at once.
    let reads = vec![get_to(1, 0), get_to(2, 2), get_to(3, LENGTH_KEY), get_to(2, 3), give];
    assert_eq!(compared(&optimized(reads, 3)), [FIRST_SHAPE as u64 + 3]);
    // An object that gets a new shape has that one.
    let writes = vec![set_to(0, 1), set_to(1, 1), get_to(3, 0), give];
    assert_eq!(compared(&optimized(writes, 0)), [FIRST_SHAPE as u64]);
}

/// A hit of an inline cache takes few instructions in baseline code, and none that asks for what the case says of the field.
#[test]
fn a_hit_takes_at_most_seven_instructions() {
    for (key, most) in [(0, 5), (N_INSIDE, 6)] {
        let engine = Engine::<Op>::builder().up_to(Tier::Baseline).thresholds(4, 1000).build();
        let code = vec![
            Op::Peek { dst: 1.into(), object: 0.into(), key: Imm(key), cache: Site::new() },
            Op::Return { a: 1.into() },
        ];
        let function = engine.define("peek", code, 2).expect("it is right");
        let mut outside = [7, 8];
        let mut object =
            Object { shape: FIRST_SHAPE + 3, length: 0, outside: outside.as_mut_ptr(), inside: [5, 6] };
        let expected = if key == 0 { 5u64 } else { 7 };
        for _ in 0..10 {
            assert_eq!(engine.call(function, &mut Vm::default(), (&raw mut object,)), Ok(expected));
        }
        assert_eq!(engine.tier(function), Tier::Baseline);
        let text = engine.disassemble(function).expect("it is compiled").to_string();
        let (from, to) =
            (text.find("; 0: Peek").expect("it is there"), text.find("; 1: Return").expect("it is there"));
        // The first line ends with the bytecode, and the last one is the first of the next.
        let n_instructions = text[from..to].lines().count() - 1;
        assert!(n_instructions <= most, "{n_instructions} of {most}:\n{text}");
    }
}
