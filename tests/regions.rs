//! Regions of memory: a machine of objects with shapes, whose shapes, fields and arrays are apart. Every tier has the same results,
//! whichever objects are the same one, and the optimizer looks at a shape once.

use azulejo::__private::core::fuzzing::Random;
use azulejo::__private::core::ir::bytecode::Semantics;
use azulejo::__private::core::ir::template::Template;
use azulejo::Trap;
use azulejo::prelude::*;
use core::cell::Cell;
use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic, OpKind};

/// Shapes have numbers that nothing else has.
const FIRST_SHAPE: u32 = 0x5ae1;
const N_SHAPES: u32 = 3;
const N_FIELDS: u32 = 4;

/// No number has these bits.
const NIL: u64 = 0xfff9 << 48;
/// The addresses of objects and of arrays are added to these.
const OBJECT: u64 = 0xfffa << 48;
const ARRAY: u64 = 0xfffb << 48;
const OBJECT_TAG: u64 = OBJECT >> 48;

#[derive(Fields, Clone, Copy)]
#[repr(C)]
struct Case {
    shape: u32,
    offset: u32,
}

#[derive(Fields)]
#[repr(C, align(8))]
struct Object {
    shape: Cell<u32>,
    fields: [Cell<u64>; N_FIELDS as usize],
}

impl Object {
    fn new(shape: u32) -> Object {
        let object = Object { shape: Cell::new(FIRST_SHAPE + shape), fields: [const { Cell::new(0) }; 4] };
        for key in 0..N_FIELDS {
            object.field(key).set((key as f64 + 0.5).to_bits());
        }
        object
    }

    fn offset(&self, key: u32) -> u32 {
        8 + 8 * ((key + self.shape.get()) % N_FIELDS)
    }

    fn field(&self, key: u32) -> &Cell<u64> {
        &self.fields[(self.offset(key) / 8 - 1) as usize]
    }

    /// Gives the object another shape.
    fn reshape(&self) {
        let values = [0, 1, 2, 3].map(|key| self.field(key).get());
        self.shape.set(FIRST_SHAPE + (self.shape.get() - FIRST_SHAPE + 1) % N_SHAPES);
        (0..N_FIELDS).for_each(|key| self.field(key).set(values[key as usize]));
    }
}

#[derive(Default)]
struct Vm {
    slow: u32,
}

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(context = Vm)]
enum Op {
    Number {
        dst: Out<u64>,
        value: Imm<f64>,
    },
    Move {
        dst: Out<u64>,
        a: In<u64>,
    },
    Add {
        dst: Out<u64>,
        a: In<u64>,
        b: In<u64>,
    },
    Get {
        dst: Out<u64>,
        object: In<u64>,
        key: Imm<u32>,
        cache: Site<Case, 2>,
    },
    Set {
        object: In<u64>,
        key: Imm<u32>,
        value: In<u64>,
        cache: Site<Case, 2>,
    },
    Item {
        dst: Out<u64>,
        array: In<u64>,
        at: Imm<u32>,
    },
    SetItem {
        array: In<u64>,
        at: Imm<u32>,
        value: In<u64>,
    },
    /// A place of an object by a store that names no region.
    Poke {
        object: In<u64>,
        place: Imm<u32>,
        value: In<u64>,
    },
    /// A place of an object by one that may fault.
    Within {
        dst: Out<u64>,
        object: In<u64>,
        place: Imm<u32>,
    },
    Reshape {
        object: In<u64>,
    },
    Count {
        n: InOut<i64>,
        to: Label,
    },
    Return {
        a: In<u64>,
    },
}

template_macros! {
    memory {
        regions { shapes, fields }
        regions { arrays }

        kinds u64 {
            number: f64 { is (ult $box &NIL) unbox (bitcast $box f64) box (bitcast $value u64) }
            array: ptr { is (uge $box &ARRAY) unbox (sub $box &ARRAY) box (add $value &ARRAY) }
            object: ptr { is (eq (shr $box 48) &OBJECT_TAG) unbox (sub $box &OBJECT) box (add $value &OBJECT) }
            nil { is (eq $box &NIL) }
        }

        macro ^read (,region ,at) (load ,region ,at u64)
    }
}

template! {
    use memory;

    Op::Number => (box number $value)
    Op::Move => $a
    Op::Add => (as (($a number) ($b number)) (box number (add $a $b)) (slow refuse (arglist) u64))
    Op::Item => unsafe (as (($array array)) (^read arrays (idx $array $at 8)) (slow refuse (arglist) u64))
    Op::SetItem => unsafe (asv (($array array))
        (store arrays (idx $array $at 8) $value u64)
        (discard (slow refuse (arglist) u64)))
    Op::Count! => (dov (set $n (sub $n 1)) (when (nz $n) (branch $to)))
    Op::Return => (return $a)
}

template! {
    use memory;

    macro ^is_of (,object) (eq (load shapes ,object u32) (case shape))
    macro ^field (,object) (add ,object (ucast (case offset) u64))

    Op::Get => unsafe (as (($object object))
        (cached $cache Case (^is_of $object) (^read fields (^field $object))
            (slow get (arglist (carg (tc) ptr) (carg $object ptr) (carg $key u32) (carg $cache ptr)) u64))
        (slow refuse (arglist) u64))
    Op::Set => unsafe (asv (($object object))
        (cachedv $cache Case (^is_of $object) (store fields (^field $object) $value u64)
            (slowv set
                (arglist (carg (tc) ptr) (carg $object ptr) (carg $key u32) (carg $value u64) (carg $cache ptr))))
        (discard (slow refuse (arglist) u64)))
    Op::Poke => unsafe (asv (($object object))
        (store (idx (addr $object 8) $place 8) $value u64)
        (discard (slow refuse (arglist) u64)))
    Op::Within => unsafe (as (($object object))
        (within (ult $place 4) 9 (load fields (idx (addr $object 8) $place 8) u64))
        (slow refuse (arglist) u64))
    Op::Reshape => unsafe (asv (($object object))
        (callv reshape (arglist (carg $object ptr)))
        (discard (slow refuse (arglist) u64)))
}

fn refuse() -> Result<u64, Trap> {
    Err(Trap::User(1))
}

fn reshape(object: &Object) {
    object.reshape();
}

/// Remembers where objects of this shape have a field.
fn learn(vm: &mut Vm, object: &Object, key: u32, cases: Cases<'_, Case>) {
    vm.slow += 1;
    let case = Case { shape: object.shape.get(), offset: object.offset(key) };
    if cases.iter().all(|known| known.shape != case.shape) {
        cases.add(case);
    }
}

fn get(vm: &mut Vm, object: &Object, key: u32, cases: Cases<'_, Case>) -> Result<u64, Trap> {
    learn(vm, object, key, cases);
    Ok(object.field(key).get())
}

fn set(vm: &mut Vm, object: &Object, key: u32, value: u64, cases: Cases<'_, Case>) -> Result<(), Trap> {
    learn(vm, object, key, cases);
    object.field(key).set(value);
    Ok(())
}

fn object(object: &Object) -> u64 {
    OBJECT + (&raw const *object).expose_provenance() as u64
}

fn array(array: &[Cell<u64>; 4]) -> u64 {
    ARRAY + array.as_ptr().expose_provenance() as u64
}

/// The registers with objects, those with arrays, and those with numbers. Then comes a counter for each loop.
const OBJECTS: core::ops::Range<u32> = 0..3;
const ARRAYS: core::ops::Range<u32> = 3..5;
const NUMBERS: core::ops::Range<u32> = 5..9;
const COUNTERS: core::ops::Range<u32> = 9..11;

/// A program: what it does once, with loops around parts of it.
fn program(random: &mut Random) -> Vec<Op> {
    let mut code: Vec<Op> = NUMBERS
        .map(|dst| Op::Number { dst: dst.into(), value: Imm(dst as f64) })
        .chain(COUNTERS.map(|dst| Op::Number { dst: dst.into(), value: Imm(f64::from_bits(3)) }))
        .collect();
    let mut heads = Vec::new();
    for counter in COUNTERS {
        heads.push((counter, code.len()));
        some(random, &mut code);
    }
    while let Some((counter, head)) = heads.pop() {
        some(random, &mut code);
        code.push(Op::Count { n: counter.into(), to: Label(head as u32) });
        // The loop inside runs each time.
        code.push(Op::Number { dst: counter.into(), value: Imm(f64::from_bits(2)) });
        some(random, &mut code);
    }
    code.push(Op::Return { a: NUMBERS.start.into() });
    code
}

/// Adds some bytecodes.
fn some(random: &mut Random, code: &mut Vec<Op>) {
    for _ in 0..random.below(7) {
        let mut of = |all: &core::ops::Range<u32>| all.start + random.below(all.len()) as u32;
        let (object, array) = (of(&OBJECTS).into(), of(&ARRAYS).into());
        let (dst, a, b) = (of(&NUMBERS), of(&NUMBERS).into(), of(&NUMBERS).into());
        let (dst, value) = (dst.into(), of(&NUMBERS).into());
        let small = Imm(random.below(2) as u32);
        code.push(match random.below(14) {
            0..=3 => Op::Get { dst, object, key: small, cache: Site::new() },
            4..=6 => Op::Set { object, key: small, value, cache: Site::new() },
            7 => Op::Item { dst, array, at: small },
            8 => Op::SetItem { array, at: small, value },
            9 => Op::Poke { object, place: small, value },
            10 => Op::Within { dst, object, place: small },
            11 if random.one_in(3) => Op::Reshape { object },
            12 => Op::Move { dst, a },
            _ => Op::Add { dst, a, b },
        });
    }
}

/// What a program returns and leaves in memory, in each of some runs. In each, other registers have the same object.
fn runs(engine: &Engine<Op>, function: FunctionId, n_runs: usize) -> Vec<(Result<u64, Error>, Vec<u64>)> {
    let run = |at: usize| {
        // Mostly as the sites know them.
        let shapes = if at % 5 == 4 { [0, 1, 2] } else { [0, 0, 1] };
        let all = shapes.map(Object::new);
        let arrays =
            [1.0f64, 2.0].map(|first| [0.0, 1.0, 2.0, 3.0].map(|one| Cell::new((first + one).to_bits())));
        let chosen = [[0, 1, 2], [0, 0, 1], [2, 1, 1], [0, 0, 0]][at % 4];
        let [a, b, c] = chosen.map(|at: usize| object(&all[at]));
        let [d, e] = [0, at % 2].map(|at| array(&arrays[at]));
        let result = engine.call(function, &mut Vm::default(), (a, b, c, d, e));
        let fields = all.iter().flat_map(|object| &object.fields).chain(arrays.iter().flatten());
        (result, fields.map(Cell::get).collect())
    };
    (0..n_runs).map(run).collect()
}

#[test]
fn every_tier_does_the_same_whatever_is_the_same_object() {
    let can_compile = azulejo::can_compile().is_ok();
    let n_programs = if cfg!(miri) { 3 } else { 120 };
    for seed in 0..n_programs {
        let code = program(&mut Random::new(seed));
        let define = |engine: &Engine<Op>| engine.define("random", code.clone(), 11).expect("it is right");
        let interpreted = Engine::<Op>::builder().only(Tier::Interpreter).build();
        let n_runs = 12;
        let expected = runs(&interpreted, define(&interpreted), n_runs);
        assert!(expected.iter().all(|(result, _)| result.is_ok()), "{expected:?}");
        for tier in [Tier::Baseline, Tier::Optimizer] {
            if !can_compile {
                break;
            }
            let engine = Engine::<Op>::builder().up_to(tier).build();
            let function = define(&engine);
            for n_warm in [0, 1, n_runs] {
                // What is compiled then is made for what the sites have learned by then.
                runs(&engine, function, n_warm);
                engine.compile_in(function, tier).expect("it is compiled");
                let found = runs(&engine, function, n_runs);
                assert_eq!(found, expected, "seed {seed} {tier:?} {n_warm} {code:#?}");
            }
        }
        let climbing = Engine::<Op>::builder().thresholds(2, 10).build();
        let function = define(&climbing);
        for _ in 0..6 {
            assert_eq!(runs(&climbing, function, n_runs), expected, "seed {seed} climbing {code:#?}");
        }
    }
}

/// The optimizer's code of a function whose sites know the objects that it is called with.
fn optimized(code: Vec<Op>) -> Vec<Instruction> {
    let engine = Engine::<Op>::builder().build();
    let function = engine.define("once", code, 11).expect("it is right");
    let (a, b, items) = (Object::new(0), Object::new(0), [const { Cell::new(0) }; 4]);
    let mut vm = Vm::default();
    for _ in 0..2 {
        let _: Result<u64, Error> =
            engine.call(function, &mut vm, (object(&a), object(&b), 0u64, array(&items)));
    }
    engine.compile_in(function, Tier::Optimizer).expect("it is compiled");
    let listing = engine.disassemble(function).expect("it was compiled");
    Decoder::with_ip(64, listing.bytes(), 0, DecoderOptions::NONE).iter().collect()
}

/// How often code looks at the shape of an object.
fn looks(code: &[Instruction]) -> usize {
    let has_shape = |one: &&Instruction| {
        one.mnemonic() == Mnemonic::Cmp
            && matches!(one.op1_kind(), OpKind::Immediate32 | OpKind::Immediate32to64)
            && one.immediate(1) == FIRST_SHAPE as u64
    };
    code.iter().filter(has_shape).count()
}

fn get_to(dst: u32, object: u32, key: u32) -> Op {
    Op::Get { dst: dst.into(), object: object.into(), key: Imm(key), cache: Site::new() }
}

fn set_to(object: u32, key: u32, value: u32) -> Op {
    Op::Set { object: object.into(), key: Imm(key), value: value.into(), cache: Site::new() }
}

#[test]
fn a_shape_is_looked_at_once() {
    if azulejo::can_compile().is_err() {
        return;
    }
    let give = Op::Return { a: 5.into() };
    // Stores to fields of either object change no shape.
    let apart =
        vec![set_to(0, 0, 1), set_to(1, 1, 0), get_to(5, 0, 2), get_to(6, 1, 3), set_to(0, 3, 6), give];
    assert_eq!(looks(&optimized(apart)), 2, "one for each object");
    let item = Op::SetItem { array: 3.into(), at: Imm(1), value: 0.into() };
    assert_eq!(looks(&optimized(vec![get_to(5, 0, 0), item, get_to(5, 0, 1), give])), 1);
    // A store that names no region might change it, and a Rust function might.
    let poke = Op::Poke { object: 1.into(), place: Imm(1), value: 1.into() };
    assert_eq!(looks(&optimized(vec![get_to(5, 0, 0), poke, get_to(5, 0, 1), give])), 2);
    let reshape = Op::Reshape { object: 1.into() };
    assert_eq!(looks(&optimized(vec![get_to(5, 0, 0), reshape, get_to(5, 0, 1), give])), 2);
}

#[test]
fn what_is_stored_in_a_field_is_of_a_known_kind_when_it_is_read() {
    if azulejo::can_compile().is_err() {
        return;
    }
    let add = |dst: u32, a: u32, b: u32| Op::Add { dst: dst.into(), a: a.into(), b: b.into() };
    let checks = |code: Vec<Op>| {
        let code = optimized(code);
        code.iter().filter(|one| one.mnemonic() == Mnemonic::Cmp).count()
    };
    let give = Op::Return { a: 8.into() };
    let once = checks(vec![get_to(5, 0, 0), add(8, 5, 5), set_to(0, 1, 8), give]);
    // The sum is in the field, and in a register, and a number, whatever is stored in the array.
    let item = Op::SetItem { array: 3.into(), at: Imm(1), value: 8.into() };
    let twice =
        vec![get_to(5, 0, 0), add(8, 5, 5), set_to(0, 1, 8), item, get_to(7, 0, 1), add(8, 7, 7), give];
    assert_eq!(checks(twice), once + 1, "the array is checked");
    // A field of the other object may be the same one.
    let other = vec![
        get_to(5, 0, 0),
        add(8, 5, 5),
        set_to(0, 1, 8),
        set_to(1, 2, 3),
        get_to(7, 0, 1),
        add(8, 7, 7),
        give,
    ];
    assert_eq!(checks(other), once + 3, "the other object and its shape are, and what is in the field");
}

/// A machine whose rows call their regions otherwise.
#[derive(Bytecode, Clone, Copy, Debug)]
enum Other {
    Read { dst: Out<u64>, a: In<u64> },
    Write { a: In<u64>, value: In<u64> },
}

template! {
    regions { shapes, fields, arrays, strings }

    Other::Read => unsafe (load strings $a u64)
}

template! {
    regions { shapes, }

    Other::Write => unsafe (store shapes $a $value u64)
}

#[derive(Bytecode, Clone, Copy, Debug)]
enum Third {
    Read { dst: Out<u64>, a: In<u64> },
}

template! {
    regions { fields, shapes }

    Third::Read => unsafe (load shapes $a u64)
}

#[test]
fn an_enum_has_one_list_of_regions() {
    let number = <Op as Semantics<0>>::TEMPLATE;
    let [read, write] = [<Other as Semantics<0>>::TEMPLATE, <Other as Semantics<1>>::TEMPLATE];
    // Some may declare more than others.
    Template::assert_same_regions(&[number, read, write]);
    for others in [[read, write], [write, number]] {
        let third = <Third as Semantics<0>>::TEMPLATE;
        let differ =
            std::panic::catch_unwind(|| Template::assert_same_regions(&[others[0], others[1], third]));
        assert!(differ.is_err(), "the same number would be of another region");
    }
}
