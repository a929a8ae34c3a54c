//! Accesses within bounds that are checked, or that fault instead: the same results, traps and effects in every tier.

use azulejo::prelude::*;
use azulejo::{Error, Trap};

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(context = Vm)]
enum Op {
    Const { dst: Out<i64>, value: Imm<i64> },
    ConstF { dst: Out<f64>, value: Imm<f64> },
    Narrow { dst: Out<f32>, a: In<f64> },
    Widen { dst: Out<f64>, a: In<f32> },
    Add { dst: Out<i64>, a: In<i64>, b: In<i64> },
    AddConst { dst: Out<i64>, a: In<i64>, k: Imm<i64> },
    JumpLess { a: In<i64>, b: In<i64>, to: Label },
    Load8 { dst: Out<i64>, at: In<u32>, offset: Imm<u32> },
    Load8S { dst: Out<i64>, at: In<u32>, offset: Imm<u32> },
    Load16 { dst: Out<i64>, at: In<u32>, offset: Imm<u32> },
    Load16S { dst: Out<i32>, at: In<u32>, offset: Imm<u32> },
    Load32 { dst: Out<i64>, at: In<u32>, offset: Imm<u32> },
    Load32S { dst: Out<i64>, at: In<u32>, offset: Imm<u32> },
    Load64 { dst: Out<i64>, at: In<u32>, offset: Imm<u32> },
    LoadF32 { dst: Out<f32>, at: In<u32>, offset: Imm<u32> },
    LoadF64 { dst: Out<f64>, at: In<u32>, offset: Imm<u32> },
    Store8 { at: In<u32>, value: In<i64>, offset: Imm<u32> },
    Store16 { at: In<u32>, value: In<i64>, offset: Imm<u32> },
    Store32 { at: In<u32>, value: In<i64>, offset: Imm<u32> },
    Store64 { at: In<u32>, value: In<i64>, offset: Imm<u32> },
    StoreF32 { at: In<u32>, value: In<f32>, offset: Imm<u32> },
    StoreF64 { at: In<u32>, value: In<f64>, offset: Imm<u32> },
    StoreK { at: In<u32>, offset: Imm<u32> },
    Low { dst: Out<u8>, at: In<u32>, offset: Imm<u32> },
    AddTo { at: In<u32>, value: In<i64>, offset: Imm<u32> },
    Both { dst: Out<i64>, a: In<u32>, b: In<u32> },
    Forget { at: In<u32> },
    Note { a: In<i64> },
    Call { dst: Out<i64>, f: Imm<u32>, a: In<i64> },
    Return { a: In<i64> },
    ReturnF { a: In<f64> },
}

struct Vm {
    start: *mut u8,
    size: u64,
    notes: Vec<i64>,
}

fn note(vm: &mut Vm, value: i64) {
    vm.notes.push(value);
}

template! {
    macro ^memory () (load pure (addr (tc) (&offset_of Vm, start)) ptr)
    macro ^place (,at ,offset) (idx (^memory) (add (ucast ,at u64) (ucast ,offset u64)) 1)
    macro ^inside (,at ,offset ,bytes)
        (ule (add (add (ucast ,at u64) (ucast ,offset u64)) ,bytes) (load (addr (tc) (&offset_of Vm, size)) u64))

    Op::Const    => $value
    Op::ConstF   => $value
    Op::Narrow   => (fcast $a f32)
    Op::Widen    => (fcast $a f64)
    Op::Add      => (add $a $b)
    Op::AddConst => (add $a $k)
    Op::JumpLess => (when (lt $a $b) (branch $to))
    Op::Load8    => unsafe (ucast (within (^inside $at $offset 1) 1 (load (^place $at $offset) u8)) u64)
    Op::Load8S   => unsafe (within (^inside $at $offset 1) 2 (scast (load (^place $at $offset) i8) i64))
    Op::Load16   => unsafe (within (^inside $at $offset 2) 3 (ucast (load (^place $at $offset) u16) u64))
    Op::Load16S  => unsafe (within (^inside $at $offset 2) 4 (scast (load (^place $at $offset) i16) i32))
    Op::Load32   => unsafe (within (^inside $at $offset 4) 5 (ucast (load (^place $at $offset) u32) u64))
    Op::Load32S  => unsafe (within (^inside $at $offset 4) 6 (scast (load (^place $at $offset) i32) i64))
    Op::Load64   => unsafe (within (^inside $at $offset 8) 7 (load (^place $at $offset) i64))
    Op::LoadF32  => unsafe (within (^inside $at $offset 4) 8 (load (^place $at $offset) f32))
    Op::LoadF64  => unsafe (within (^inside $at $offset 8) 9 (load (^place $at $offset) f64))
    Op::Store8   => unsafe (within (^inside $at $offset 1) 11 (store (^place $at $offset) (ucast $value u8) u8))
    Op::Store16  => unsafe (within (^inside $at $offset 2) 12 (store (^place $at $offset) (ucast $value u16) u16))
    Op::Store32  => unsafe (within (^inside $at $offset 4) 13 (store (^place $at $offset) (ucast $value u32) u32))
    Op::Store64  => unsafe (within (^inside $at $offset 8) 14 (store (^place $at $offset) $value i64))
    Op::StoreF32 => unsafe (within (^inside $at $offset 4) 15 (store (^place $at $offset) $value f32))
    Op::StoreF64 => unsafe (within (^inside $at $offset 8) 16 (store (^place $at $offset) $value f64))
    // A constant that no instruction stores at once.
    Op::StoreK   => unsafe (within (^inside $at $offset 8) 17 (store (^place $at $offset) (const 0x1122334455667788 i64) i64))
    // Only one of the bytes that are loaded is wanted.
    Op::Low      => unsafe (ucast (within (^inside $at $offset 8) 18 (load (^place $at $offset) i64)) u8)
    Op::AddTo    => unsafe (let: (($sum (add (within (^inside $at $offset 8) 19 (load (^place $at $offset) i64)) $value)))
        (within (^inside $at $offset 8) 20 (store (^place $at $offset) $sum i64)))
    // Two that may fault, and one instruction that could have done either.
    Op::Both     => unsafe (add
        (within (^inside $a 0 8) 21 (load (^place $a 0) i64))
        (within (^inside $b 0 8) 22 (load (^place $b 0) i64)))
    Op::Forget   => unsafe (discard (within (^inside $at 0 4) 23 (load (^place $at 0) i32)))
    Op::Note     => (callv note (arglist (carg (tc) ptr) (carg $a i64)))
    Op::Call     => (invoke $f (arglist $a) i64)
    Op::Return   => (return $a)
    Op::ReturnF  => (return $a)
}

/// A page of memory, and what an access of it gives or does.
const SIZE: u64 = 4096;

struct Memory(Vec<u8>);

impl Memory {
    fn new() -> Memory {
        Memory((0..SIZE).map(|at| (at * 7 + (at >> 8)) as u8).collect())
    }

    fn vm(&mut self) -> Vm {
        Vm { start: self.0.as_mut_ptr(), size: SIZE, notes: Vec::new() }
    }
}

/// Every way to run functions.
fn engines() -> Vec<(&'static str, Engine<Op>)> {
    let builder = || Engine::<Op>::builder().checks(true);
    vec![
        ("interpreter", builder().only(Tier::Interpreter).build()),
        ("baseline", builder().only(Tier::Baseline).build()),
        ("optimizer", builder().only(Tier::Optimizer).build()),
        ("climbing", builder().thresholds(2, 5).build()),
    ]
}

fn r<T: From<u32>>(register: u32) -> T {
    register.into()
}

/// An access by an opcode, as a function of an address and a value; the access is bytecode 1.
fn accesses() -> Vec<(u64, u16, Vec<Op>)> {
    let load = |bytes, code, op: fn(Out<i64>, In<u32>, Imm<u32>) -> Op| {
        (bytes, code, vec![Op::Note { a: r(0) }, op(r(2), r(0), Imm(0)), Op::Return { a: r(2) }])
    };
    let store = |bytes, code, op: fn(In<u32>, In<i64>, Imm<u32>) -> Op| {
        (bytes, code, vec![Op::Note { a: r(1) }, op(r(0), r(1), Imm(0)), Op::Return { a: r(1) }])
    };
    vec![
        load(1, 1, |dst, at, offset| Op::Load8 { dst, at, offset }),
        load(1, 2, |dst, at, offset| Op::Load8S { dst, at, offset }),
        load(2, 3, |dst, at, offset| Op::Load16 { dst, at, offset }),
        load(2, 4, |_, at, offset| Op::Load16S { dst: r(2), at, offset }),
        load(4, 5, |dst, at, offset| Op::Load32 { dst, at, offset }),
        load(4, 6, |dst, at, offset| Op::Load32S { dst, at, offset }),
        load(8, 7, |dst, at, offset| Op::Load64 { dst, at, offset }),
        load(4, 8, |_, at, offset| Op::LoadF32 { dst: r(2), at, offset }),
        load(8, 9, |_, at, offset| Op::LoadF64 { dst: r(2), at, offset }),
        load(8, 18, |_, at, offset| Op::Low { dst: r(2), at, offset }),
        store(1, 11, |at, value, offset| Op::Store8 { at, value, offset }),
        store(2, 12, |at, value, offset| Op::Store16 { at, value, offset }),
        store(4, 13, |at, value, offset| Op::Store32 { at, value, offset }),
        store(8, 14, |at, value, offset| Op::Store64 { at, value, offset }),
        store(4, 15, |at, _, offset| Op::StoreF32 { at, value: r(1), offset }),
        store(8, 16, |at, _, offset| Op::StoreF64 { at, value: r(1), offset }),
        store(8, 17, |at, _, offset| Op::StoreK { at, offset }),
        store(8, 19, |at, value, offset| Op::AddTo { at, value, offset }),
    ]
}

#[test]
fn accesses_of_every_width_are_done_or_trap() {
    for (bytes, code, ops) in accesses() {
        let run = |engine: &Engine<Op>, function, at: u64| {
            let mut memory = Memory::new();
            let mut vm = memory.vm();
            let result: Result<i64, Error> =
                engine.call(function, &mut vm, (at as i64, -0x7fed_cba9_8765_4322i64));
            (result, vm.notes, memory.0)
        };
        let reference = Engine::<Op>::builder().only(Tier::Interpreter).build();
        let reference_function = reference.define("access", ops.clone(), 3).expect("it is right");
        for (name, engine) in engines() {
            let function = engine.define("access", ops.clone(), 3).expect("it is right");
            let edge = SIZE - bytes;
            let places =
                [0, 1, 100, edge - 1, edge, edge + 1, SIZE - 1, SIZE, 1 << 20, 0x7fff_ffff, 0xffff_ffff];
            for at in places {
                let found = run(&engine, function, at);
                assert_eq!(found, run(&reference, reference_function, at), "{name}: {ops:?} at {at}");
                let traps = Err(Error::Trap { trap: Trap::User(code), at: 1 });
                assert_eq!(found.0 == traps, at > edge, "{name}: {ops:?} at {at}: {:?}", found.0);
            }
        }
    }
}

#[test]
fn of_two_accesses_the_first_that_fails_traps() {
    for (name, engine) in engines() {
        let code = vec![Op::Both { dst: r(2), a: r(0), b: r(1) }, Op::Return { a: r(2) }];
        let function = engine.define("both", code, 3).expect("it is right");
        let forget = vec![Op::Forget { at: r(0) }, Op::Return { a: r(0) }];
        let forget = engine.define("forget", forget, 1).expect("it is right");
        for (a, b, trap) in [(0, SIZE, Some(22)), (SIZE, 0, Some(21)), (SIZE, SIZE, Some(21)), (0, 8, None)] {
            let mut memory = Memory::new();
            let result: Result<i64, Error> = engine.call(function, &mut memory.vm(), (a as i64, b as i64));
            let found = result.as_ref().err().copied();
            assert_eq!(found, trap.map(|code| Error::Trap { trap: Trap::User(code), at: 0 }), "{name}");
        }
        let mut memory = Memory::new();
        let result: Result<i64, Error> = engine.call(forget, &mut memory.vm(), (SIZE as i64,));
        assert_eq!(result, Err(Error::Trap { trap: Trap::User(23), at: 0 }), "{name}");
    }
}
