//! Accesses with bounds checks, and accesses that fault instead: the same results, traps and effects in every tier.

#![cfg(unix)]

use azulejo::memory::Reserved;
use azulejo::prelude::*;

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
    Place { dst: Out<u64>, at: In<u32> },
    Follow { dst: Out<i64>, place: In<u64> },
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
    // No single instruction stores this constant.
    Op::StoreK   => unsafe (within (^inside $at $offset 8) 17 (store (^place $at $offset) (const 0x1122334455667788 i64) i64))
    // Only one of the loaded bytes is used.
    Op::Low      => unsafe (ucast (within (^inside $at $offset 8) 18 (load (^place $at $offset) i64)) u8)
    Op::AddTo    => unsafe (let: (($sum (add (within (^inside $at $offset 8) 19 (load (^place $at $offset) i64)) $value)))
        (within (^inside $at $offset 8) 20 (store (^place $at $offset) $sum i64)))
    // Two loads that may fault. An instruction could take either of them as its memory operand.
    Op::Both     => unsafe (add
        (within (^inside $a 0 8) 21 (load (^place $a 0) i64))
        (within (^inside $b 0 8) 22 (load (^place $b 0) i64)))
    Op::Forget   => unsafe (discard (within (^inside $at 0 4) 23 (load (^place $at 0) i32)))
    Op::Place    => unsafe (^place $at 0)
    // In baseline code `$place` is in a register already, so the access is the first instruction of this bytecode.
    Op::Follow   => unsafe (within (ule (add (sub $place (^memory)) 8) (load (addr (tc) (&offset_of Vm, size)) u64)) 24
        (load $place i64))
    Op::Note     => (callv note (arglist (carg (tc) ptr) (carg $a i64)))
    Op::Call     => (invoke $f (arglist $a) i64)
    Op::Return   => (return $a)
    Op::ReturnF  => (return $a)
}

/// The size of the accessible memory.
const SIZE: u64 = 1 << 16;

/// Memory whose inaccessible part covers all addresses that bytecode can compute.
struct Memory(Reserved);

impl Memory {
    fn new() -> Memory {
        let mut memory =
            Memory(Reserved::new(SIZE as usize, (8 << 30) + SIZE as usize).expect("there is room"));
        memory.bytes().iter_mut().zip(0u64..).for_each(|(byte, at)| *byte = (at * 7 + (at >> 8)) as u8);
        memory
    }

    fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: these bytes are accessible, and borrowed from the memory.
        unsafe { std::slice::from_raw_parts_mut(self.0.start(), self.0.accessible()) }
    }

    fn vm(&mut self) -> Vm {
        Vm { start: self.0.start(), size: self.0.accessible() as u64, notes: Vec::new() }
    }
}

/// An engine for every way to run functions, with and without bounds checks.
fn engines() -> Vec<(&'static str, Engine<Op>)> {
    let builder = || Engine::<Op>::builder().checks(true);
    // SAFETY: behind the accessible memory, all addresses that functions can compute fault.
    let guarded = || unsafe { builder().guards(true) };
    vec![
        ("interpreter", builder().only(Tier::Interpreter).build()),
        ("baseline", builder().only(Tier::Baseline).build()),
        ("optimizer", builder().only(Tier::Optimizer).build()),
        ("tiering up", builder().thresholds(2, 5).build()),
        ("guarded interpreter", guarded().only(Tier::Interpreter).build()),
        ("guarded baseline", guarded().only(Tier::Baseline).build()),
        ("guarded optimizer", guarded().only(Tier::Optimizer).build()),
        ("guarded and tiering up", guarded().thresholds(2, 5).build()),
        ("guarded, in the background", guarded().thresholds(2, 5).background(true).build()),
        ("guarded, with frame pointers", guarded().frame_pointers(true).only(Tier::Optimizer).build()),
        ("guarded, in pages of its own", guarded().perf_map(true).only(Tier::Baseline).build()),
    ]
}

fn r<T: From<u32>>(register: u32) -> T {
    register.into()
}

/// Functions of an address and a value that access memory by one opcode, which is bytecode 1; with the size of the access
/// and the code of its trap.
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
            (result, vm.notes, memory.bytes().to_vec())
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
fn an_access_that_is_first_of_its_bytecode_traps_there() {
    for (name, engine) in engines() {
        let code = vec![
            Op::Note { a: r(0) },
            Op::Place { dst: r(1), at: r(0) },
            Op::Follow { dst: r(2), place: r(1) },
            Op::Return { a: r(2) },
        ];
        let function = engine.define("follow", code, 3).expect("it is right");
        let mut memory = Memory::new();
        for (at, expected) in [(SIZE - 7, Some(trap(24, 2))), (u32::MAX as u64, Some(trap(24, 2))), (8, None)]
        {
            let result: Result<i64, Error> = engine.call(function, &mut memory.vm(), (at as i64,));
            assert_eq!(result.err(), expected, "{name}");
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

fn trap(code: u16, at: u32) -> Error {
    Error::Trap { trap: Trap::User(code), at }
}

/// Sums up the 8-byte words at offset 16 from every eighth address below the argument.
fn sum() -> Vec<Op> {
    vec![
        Op::Const { dst: r(1), value: Imm(0) },
        Op::Const { dst: r(2), value: Imm(0) },
        Op::Load64 { dst: r(3), at: r(1), offset: Imm(16) },
        Op::Add { dst: r(2), a: r(2), b: r(3) },
        Op::AddConst { dst: r(1), a: r(1), k: Imm(8) },
        Op::JumpLess { a: r(1), b: r(0), to: Label(2) },
        Op::Return { a: r(2) },
    ]
}

/// Writes to each 8-byte word between two addresses its own address.
fn fill() -> Vec<Op> {
    vec![
        Op::Store64 { at: r(0), value: r(0), offset: Imm(0) },
        Op::AddConst { dst: r(0), a: r(0), k: Imm(8) },
        Op::JumpLess { a: r(0), b: r(1), to: Label(0) },
        Op::Return { a: r(0) },
    ]
}

#[test]
fn a_guarded_load_in_a_loop_is_an_operand_and_nothing_else() {
    use iced_x86::{Decoder, DecoderOptions, Mnemonic, OpKind};
    if !azulejo::can_guard() {
        return;
    }
    // SAFETY: no code is run.
    let engine = unsafe { Engine::<Op>::builder().guards(true) }.build();
    let function = engine.define("sum", sum(), 4).expect("it is right");
    engine.compile(function).expect("it compiles");
    let listing = engine.disassemble(function).expect("it was compiled");
    let all: Vec<_> = Decoder::with_ip(64, listing.bytes(), 0, DecoderOptions::NONE).iter().collect();
    let back = all
        .iter()
        .find(|jump| jump.op0_kind() == OpKind::NearBranch64 && jump.near_branch_target() < jump.ip());
    let back = back.expect("there is a loop");
    let in_loop = all.iter().filter(|one| (back.near_branch_target()..=back.ip()).contains(&one.ip()));
    let body: Vec<_> = in_loop.collect();
    let in_memory = |of: Mnemonic| {
        body.iter().filter(|one| one.mnemonic() == of && one.op1_kind() == OpKind::Memory).count()
    };
    assert_eq!(in_memory(Mnemonic::Add), 1, "{listing}");
    assert_eq!(in_memory(Mnemonic::Mov), 0, "{listing}");
    let compares = body.iter().filter(|one| one.mnemonic() == Mnemonic::Cmp).count();
    assert_eq!(compares, 1, "{listing}");
    assert!(body.len() <= 5, "{listing}");
}

#[test]
fn faults_in_loops_and_in_called_functions_are_traps_there() {
    for (name, engine) in engines() {
        let sum = engine.define("sum", sum(), 4).expect("it is right");
        let fill = engine.define("fill", fill(), 2).expect("it is right");
        let call = |f: FunctionId| {
            let call = Op::Call { dst: r(1), f: Imm(f.number()), a: r(0) };
            vec![Op::Note { a: r(0) }, call, Op::Note { a: r(1) }, Op::Return { a: r(1) }]
        };
        let caller = engine.define("caller", call(sum), 2).expect("it is right");
        let outer = engine.define("outer", call(caller), 2).expect("it is right");
        for turn in 0..12 {
            let mut memory = Memory::new();
            let mut vm = memory.vm();
            let whole: i64 = engine.call(sum, &mut vm, (SIZE as i64 - 16,)).expect("it is inside");
            let called: i64 = engine.call(outer, &mut vm, (SIZE as i64 - 16,)).expect("it is inside");
            assert_eq!(whole, called, "{name}");
            assert_eq!(vm.notes, [SIZE as i64 - 16, SIZE as i64 - 16, whole, whole], "{name}");
            vm.notes.clear();
            let past: Result<i64, Error> = engine.call(sum, &mut vm, (SIZE as i64,));
            assert_eq!(past, Err(trap(7, 2)), "{name}, {turn}");
            let past: Result<i64, Error> = engine.call(outer, &mut vm, (SIZE as i64,));
            assert_eq!(past, Err(trap(7, 1)), "{name}, {turn}");
            assert_eq!(vm.notes, [SIZE as i64; 2], "{name}");
            let from = SIZE as i64 - 80 - turn;
            let past: Result<i64, Error> = engine.call(fill, &mut vm, (from, i64::MAX));
            assert_eq!(past, Err(trap(14, 0)), "{name}, {turn}");
            let written = memory.bytes()[from as usize..].chunks_exact(8).zip((from..).step_by(8));
            assert!(written.into_iter().all(|(bytes, at)| bytes == at.to_le_bytes()), "{name}");
        }
    }
}

/// A pseudo-random generator.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, end: u64) -> u64 {
        (self.next() >> 32) % end
    }
}

/// Random accesses, most of them in bounds, and a loop around some of them.
fn program(random: &mut Random) -> Vec<Op> {
    let mut code = Vec::new();
    // Registers 0 and 1 hold addresses near the end, 2 and 3 near the start.
    let len = 3 + random.below(14);
    for _ in 0..len {
        let (dst, value) = (random.below(3) as u32 + 4, random.below(8) as u32);
        let at = random.below(4) as u32;
        let offset = Imm(match random.below(12) {
            0 => 0x8000_0000,
            1 => SIZE as u32 - 8,
            2 => 80,
            _ => random.below(24) as u32,
        });
        let address = r(at);
        code.push(match random.below(22) {
            0 => Op::Load8 { dst: r(dst), at: address, offset },
            1 => Op::Load8S { dst: r(dst), at: address, offset },
            2 => Op::Load16 { dst: r(dst), at: address, offset },
            3 => Op::Load16S { dst: r(dst), at: address, offset },
            4 => Op::Load32S { dst: r(dst), at: address, offset },
            5 | 6 => Op::Load64 { dst: r(dst), at: address, offset },
            7 => Op::LoadF64 { dst: r(dst), at: address, offset },
            8 => Op::Store8 { at: address, value: r(value), offset },
            9 => Op::Store16 { at: address, value: r(value), offset },
            10 => Op::Store32 { at: address, value: r(value), offset },
            11 | 12 => Op::Store64 { at: address, value: r(value), offset },
            13 => Op::StoreF32 { at: address, value: r(value), offset },
            14 => Op::StoreK { at: address, offset },
            15 => Op::Low { dst: r(dst), at: address, offset },
            16 => Op::AddTo { at: address, value: r(value), offset },
            17 => Op::Both { dst: r(dst), a: address, b: r(random.below(4) as u32) },
            18 => Op::Forget { at: address },
            19 => Op::Note { a: r(value) },
            20 => Op::Add { dst: r(dst), a: r(value), b: r(random.below(8) as u32) },
            _ => Op::AddConst { dst: r(at), a: r(at), k: Imm(random.below(16) as i64) },
        });
    }
    if random.below(2) == 0 {
        code.push(Op::AddConst { dst: r(7), a: r(7), k: Imm(1) });
        code.push(Op::AddConst { dst: r(0), a: r(0), k: Imm(3) });
        let to = Label(random.below(len) as u32);
        code.push(Op::JumpLess { a: r(7), b: r(8), to });
    }
    code.push(Op::Return { a: r(4 + random.below(4) as u32) });
    code
}

#[test]
fn programs_do_the_same_in_every_tier_with_and_without_guards() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (engines, mut memory) = (engines(), Memory::new());
    let image = memory.bytes().to_vec();
    let (mut n_traps, mut n_returns) = (0, 0);
    for round in 0..250 {
        let code = program(&mut random);
        let near = SIZE as i64 - 100 - random.below(100) as i64;
        let args = [near, near + random.below(90) as i64, 0, random.below(64) as i64, -1, 5, round, 0, 20];
        let mut run = |engine: &Engine<Op>, function, times| {
            let mut outcome = None;
            for _ in 0..times {
                memory.bytes().copy_from_slice(&image);
                let mut vm = memory.vm();
                let [a, b, c, d, e, f, g, h, i] = args;
                let result: Result<i64, Error> = engine.call(function, &mut vm, (a, b, c, d, e, f, g, h, i));
                let now = (result, vm.notes, memory.bytes().to_vec());
                assert!(outcome.is_none_or(|before| before == now), "{code:?}");
                outcome = Some(now);
            }
            outcome.expect("it ran")
        };
        let mut expected = None;
        for (name, engine) in &engines {
            let function = engine.define("program", code.clone(), 9).expect("it is right");
            let times = if name.contains("tiering up") { 4 } else { 1 };
            let found = run(engine, function, times);
            let expected = expected.get_or_insert_with(|| found.clone());
            assert!(
                found == *expected,
                "{name}: {:?}, not {:?}, with {args:?}: {code:#?}",
                found.0,
                expected.0
            );
            engine.discard(function).expect("it was defined");
        }
        match expected.expect("there is an engine").0 {
            Ok(_) => n_returns += 1,
            Err(_) => n_traps += 1,
        }
    }
    assert!(n_traps > 30 && n_returns > 30, "{n_traps} traps, {n_returns} results");
}

#[test]
fn values_of_guarded_loads_are_taken_where_they_are_loaded() {
    use iced_x86::{Decoder, DecoderOptions, Register};
    if !azulejo::can_guard() {
        return;
    }
    // There are more loads than machine registers, but only the sum has to stay in one.
    let mut code = vec![Op::Const { dst: r(2), value: Imm(0) }];
    for element in 0..20 {
        code.push(Op::Load64 { dst: r(3), at: r(0), offset: Imm(16 * element) });
        code.push(Op::Add { dst: r(2), a: r(2), b: r(3) });
    }
    code.push(Op::Return { a: r(2) });
    // SAFETY: no code is run.
    let engine = unsafe { Engine::<Op>::builder().guards(true) }.build();
    let function = engine.define("sum", code, 4).expect("it is right");
    engine.compile(function).expect("it compiles");
    let listing = engine.disassemble(function).expect("it was compiled");
    let mut decoder = Decoder::with_ip(64, listing.bytes(), 0, DecoderOptions::NONE);
    assert!(decoder.iter().all(|one| one.memory_base() != Register::RSP), "{listing}");
    assert!(listing.bytes().len() < 200, "{listing}");
}
