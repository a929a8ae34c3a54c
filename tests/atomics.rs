//! Atomic accesses in every tier: their results and effects, also with several threads at once, and that no other memory
//! access is moved past them.

#![allow(deprecated, reason = "programs name different registers where templates read inputs late")]

use azulejo::prelude::*;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};

const TIERS: [Tier; 3] = [Tier::Interpreter, Tier::Baseline, Tier::Optimizer];

fn tiers() -> impl Iterator<Item = Tier> {
    TIERS.into_iter().filter(|tier| *tier == Tier::Interpreter || azulejo::can_compile().is_ok())
}

/// Each operator on one type, through an address alone and with an offset, with the expected result and the expected
/// memory.
macro_rules! of_type {
    ($module:ident $ty:ident) => {
        rows! { $module $ty
            Load (atomic_load $p $ty relaxed) |old, _a, _b| (old, old);
            LoadAcquire (atomic_load (addr $p 16) $ty acquire) |old, _a, _b| (old, old);
            LoadInOrder (atomic_load $p $ty seq_cst) |old, _a, _b| (old, old);
            Store (do (atomic_store $p $a $ty relaxed) $b) |_old, a, b| (b, a);
            StoreRelease (do (atomic_store (addr $p 16) $a $ty release) $b) |_old, a, b| (b, a);
            StoreInOrder (do (atomic_store (addr $p 16) $a $ty seq_cst) $a) |_old, a, _b| (a, a);
            StoreConstant (do (atomic_store $p 5 $ty seq_cst) $b) |_old, _a, b| (b, 5);
            Swap (atomic_swap $p $a $ty acq_rel) |old, a, _b| (old, a);
            SwapAndKeep (add (atomic_swap (addr $p 16) $a $ty seq_cst) $a)
                |old, a, _b| (old.wrapping_add(a), a);
            Add (atomic_add $p $a $ty relaxed) |old, a, _b| (old, old.wrapping_add(a));
            AddBehind (add (atomic_add (addr $p 16) $a $ty seq_cst) $a)
                |old, a, _b| (old.wrapping_add(a), old.wrapping_add(a));
            AddAndForget (do (discard (atomic_add $p 3 $ty release)) $a) |old, a, _b| (a, old.wrapping_add(3));
            And (atomic_and $p $a $ty acquire) |old, a, _b| (old, old & a);
            AndBehind (xor (atomic_and (addr $p 16) $a $ty seq_cst) $a) |old, a, _b| (old ^ a, old & a);
            Or (atomic_or $p $a $ty release) |old, a, _b| (old, old | a);
            OrBehind (xor (atomic_or (addr $p 16) $a $ty relaxed) $a) |old, a, _b| (old ^ a, old | a);
            Xor (atomic_xor $p $a $ty acq_rel) |old, a, _b| (old, old ^ a);
            XorBehind (xor (atomic_xor (addr $p 16) $a $ty seq_cst) $b) |old, a, b| (old ^ b, old ^ a);
            Exchange (atomic_cas $p $a $b $ty acq_rel) |old, a, b| (old, if old == a { b } else { old });
            ExchangeBehind (xor (atomic_cas (addr $p 16) $a $b $ty seq_cst) (add $a $b))
                |old, a, b| (old ^ a.wrapping_add(b), if old == a { b } else { old });
            ExchangeSame (atomic_cas $p $a $a $ty relaxed) |old, _a, _b| (old, old);
            // The store before takes effect first, and the load behind sees the change.
            Between (do (store $p $a $ty) (discard (atomic_add $p $b $ty relaxed)) (load $p $ty))
                |_old, a, b| (a.wrapping_add(b), a.wrapping_add(b));
            Before (do (store $p $a $ty) (let: (($seen (atomic_load $p $ty relaxed))) (do (store $p $b $ty) $seen)))
                |_old, a, b| (a, b);
            Twice (do (store (addr $p 16) (sub (load (addr $p 16) $ty) $a) $ty)
                (discard (atomic_xor (addr $p 16) $b $ty relaxed)) (add (load (addr $p 16) $ty) 1))
                |old, a, b| ((old.wrapping_sub(a) ^ b).wrapping_add(1), old.wrapping_sub(a) ^ b);
        }
    };
}

macro_rules! rows {
    ($module:ident $ty:ident $($name:ident $means:tt |$o:pat_param, $x:pat_param, $y:pat_param| $expected:expr;)*) => {
        #[test]
        fn $module() {
            #[derive(Bytecode, Clone, Copy, Debug)]
            enum Row {
                $($name { dst: Out<$ty>, p: In<*mut $ty>, a: In<$ty>, b: In<$ty> },)*
                Return { a: In<$ty> },
            }

            template! {
                $(Row::$name => unsafe (do (discard $a) (discard $b) $means))*
                Row::Return => (return $a)
            }

            let values = [0 as $ty, 1, 0x5a, $ty::MAX, $ty::MAX / 2 + 1];
            $({
                let engine = Engine::<Row>::new();
                let expected: fn($ty, $ty, $ty) -> ($ty, $ty) = |$o, $x, $y| $expected;
                let op = Row::$name { dst: 3.into(), p: 0.into(), a: 1.into(), b: 2.into() };
                let function = engine.define("atomic", vec![op, Row::Return { a: 3.into() }], 4);
                let function = function.expect("it is right");
                let is_behind = stringify!($means).contains("addr");
                for tier in tiers() {
                    if tier != Tier::Interpreter {
                        engine.compile_in(function, tier).expect("it compiles");
                    }
                    for (old, a, b) in values.iter().flat_map(|old| {
                        values.iter().flat_map(move |a| values.map(|b| (*old, *a, b)))
                    }) {
                        // The surrounding memory does not change.
                        let mut cells = [0x7777_7777_7777_7777u64; 4];
                        let at = if is_behind { 2 } else { 0 };
                        let place = cells.as_mut_ptr().wrapping_add(at).cast::<$ty>();
                        // SAFETY: the place is inside the cells.
                        unsafe { place.write(old) };
                        let around = cells[at] ^ old as u64;
                        let address = cells.as_mut_ptr().cast::<$ty>();
                        let given = engine.call::<_, $ty>(function, &mut (), (address, a, b));
                        // SAFETY: as above.
                        let left = unsafe { place.read() };
                        let name = concat!(stringify!($name), " on ", stringify!($ty));
                        assert_eq!((given, left), {
                            let (given, left) = expected(old, a, b);
                            (Ok(given), left)
                        }, "{name}: {old:x}, {a:x} and {b:x}, {tier:?}");
                        let cell = cells[at];
                        assert_eq!(cell ^ left as u64, around, "{name}: around it, {tier:?}");
                    }
                }
            })*
        }
    };
}

of_type! { on_8_bits u8 }
of_type! { on_16_bits u16 }
of_type! { on_32_bits u32 }
of_type! { on_64_bits u64 }

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    Add8 {
        p: In<*mut u64>,
    },
    Add16 {
        p: In<*mut u64>,
    },
    Add32 {
        p: In<*mut u64>,
    },
    Add64 {
        p: In<*mut u64>,
    },
    Flip {
        p: In<*mut u64>,
        bits: In<u64>,
    },
    /// Takes a lock, or sees that it is taken.
    Lock {
        dst: Out<u32>,
        p: In<*mut u64>,
    },
    TakeIt {
        dst: Out<u32>,
        p: In<*mut u64>,
    },
    Unlock {
        p: In<*mut u64>,
    },
    Increment {
        p: In<*mut u64>,
    },
    JumpIf {
        a: In<u32>,
        to: Label,
    },
    Publish {
        p: In<*mut u64>,
        a: In<u64>,
    },
    Note {
        p: In<*mut u64>,
        a: In<u64>,
    },
    Look {
        dst: Out<u64>,
        p: In<*mut u64>,
    },
    LookLoosely {
        dst: Out<u64>,
        p: In<*mut u64>,
    },
    StoreInOrder {
        p: In<*mut u64>,
        a: In<u64>,
    },
    LoadInOrder {
        dst: Out<u64>,
        p: In<*mut u64>,
    },
    Record {
        to: In<*mut u64>,
        at: In<u64>,
        a: In<u64>,
    },
    Worst {
        worst: InOut<u64>,
        flag: In<u64>,
        data: In<u64>,
    },
    Next {
        n: InOut<u64>,
        most: In<u64>,
        to: Label,
    },
    Return {
        a: In<u64>,
    },
}

template! {
    Op::Add8         => unsafe (discard (atomic_add $p 1 u8 relaxed))
    Op::Add16        => unsafe (discard (atomic_add (addr $p 8) 1 u16 relaxed))
    Op::Add32        => unsafe (discard (atomic_add (addr $p 16) 1 u32 acq_rel))
    Op::Add64        => unsafe (discard (atomic_add (addr $p 24) 1 u64 seq_cst))
    Op::Flip         => unsafe (discard (atomic_xor (addr $p 32) $bits u64 relaxed))
    Op::Lock         => unsafe (atomic_cas $p 0 1 u32 acquire)
    Op::TakeIt       => unsafe (atomic_swap $p 1 u32 acquire)
    Op::Unlock       => unsafe (atomic_store $p 0 u32 release)
    Op::Increment    => unsafe (store (addr $p 8) (add (load (addr $p 8) u64) 1) u64)
    Op::JumpIf       => (when (nz $a) (branch $to))
    Op::Publish      => unsafe (atomic_store $p $a u64 release)
    Op::Note         => unsafe (atomic_store (addr $p 64) $a u64 relaxed)
    Op::Look         => unsafe (atomic_load $p u64 acquire)
    Op::LookLoosely  => unsafe (atomic_load (addr $p 64) u64 relaxed)
    Op::StoreInOrder => unsafe (atomic_store $p $a u64 seq_cst)
    Op::LoadInOrder  => unsafe (atomic_load $p u64 seq_cst)
    Op::Record       => unsafe (store (idx $to $at 8) $a u64)
    Op::Worst!       => (when (gt $flag $data) (set $worst (sub $flag $data)))
    Op::Next!        => (dov (set $n (add $n 1)) (when (le $n $most) (branch $to)))
    Op::Return       => (return $a)
}

/// Runs functions concurrently, each on a thread with its own engine, in the given tier. Returns their results.
fn at_once(functions: &[(Tier, Vec<Op>, [u64; 4])]) -> Vec<u64> {
    let start = Barrier::new(functions.len());
    std::thread::scope(|scope| {
        let start = &start;
        let run = |(tier, code, args): &(Tier, Vec<Op>, [u64; 4])| {
            let (tier, code, [a, b, c, d]) = (*tier, code.clone(), *args);
            scope.spawn(move || {
                let engine = Engine::<Op>::new();
                let function = engine.define("thread", code, 8).expect("it is right");
                if tier != Tier::Interpreter {
                    engine.compile_in(function, tier).expect("it compiles");
                }
                start.wait();
                engine.call::<_, u64>(function, &mut (), (a, b, c, d)).expect("it runs")
            })
        };
        let threads: Vec<_> = functions.iter().map(run).collect();
        threads.into_iter().map(|thread| thread.join().expect("it ends")).collect()
    })
}

/// Memory for threads to share, in separate cells.
fn shared() -> Vec<AtomicU64> {
    (0..16).map(|_| AtomicU64::new(0)).collect()
}

fn address(memory: &[AtomicU64], at: usize) -> u64 {
    memory[at..].as_ptr().expose_provenance() as u64
}

#[test]
fn nothing_that_threads_add_is_lost() {
    const ROUNDS: u64 = 20_000;
    let memory = shared();
    let (p, bits, most, n) = (0, 1, 2, 3);
    let code = vec![
        Op::Add8 { p: p.into() },
        Op::Add16 { p: p.into() },
        Op::Add32 { p: p.into() },
        Op::Add64 { p: p.into() },
        Op::Flip { p: p.into(), bits: bits.into() },
        Op::Next { n: n.into(), most: most.into(), to: Label(0) },
        Op::Return { a: n.into() },
    ];
    let functions: Vec<_> = tiers()
        .chain(tiers())
        .enumerate()
        .map(|(at, tier)| (tier, code.clone(), [address(&memory, 0), 1 << at, ROUNDS - 1, 0]))
        .collect();
    let ends = at_once(&functions);
    assert!(ends.iter().all(|end| *end == ROUNDS), "{ends:?}");
    let all = functions.len() as u64 * ROUNDS;
    let found: Vec<u64> = memory[..5].iter().map(|cell| cell.load(Ordering::Relaxed)).collect();
    // An even number of flips cancels out.
    assert_eq!(found, [all & 0xff, all & 0xffff, all, all, 0]);
}

#[test]
fn a_lock_keeps_others_out() {
    const ROUNDS: u64 = 2_000;
    for take in [
        |dst: u32, p: u32| Op::Lock { dst: dst.into(), p: p.into() },
        |dst: u32, p: u32| Op::TakeIt { dst: dst.into(), p: p.into() },
    ] {
        let memory = shared();
        let (p, most, n, taken) = (0, 1, 2, 4);
        let code = vec![
            take(taken, p),
            Op::JumpIf { a: taken.into(), to: Label(0) },
            // The increment is not atomic, so only the lock makes the result right.
            Op::Increment { p: p.into() },
            Op::Unlock { p: p.into() },
            Op::Next { n: n.into(), most: most.into(), to: Label(0) },
            Op::Return { a: n.into() },
        ];
        let functions: Vec<_> =
            tiers().map(|tier| (tier, code.clone(), [address(&memory, 0), ROUNDS - 1, 0, 0])).collect();
        at_once(&functions);
        assert_eq!(memory[1].load(Ordering::Relaxed), functions.len() as u64 * ROUNDS);
        assert_eq!(memory[0].load(Ordering::Relaxed), 0);
    }
}

/// One thread writes a number and then publishes it. A thread that sees the published number also sees the written one.
#[test]
fn what_was_released_is_there_for_who_acquires() {
    const ROUNDS: u64 = 200_000;
    let (p, most, n, flag, data, worst) = (0, 1, 2, 4, 5, 3);
    let write = vec![
        Op::Note { p: p.into(), a: n.into() },
        Op::Publish { p: p.into(), a: n.into() },
        Op::Next { n: n.into(), most: most.into(), to: Label(0) },
        Op::Return { a: n.into() },
    ];
    let read = vec![
        Op::Look { dst: flag.into(), p: p.into() },
        Op::LookLoosely { dst: data.into(), p: p.into() },
        Op::Worst { worst: worst.into(), flag: flag.into(), data: data.into() },
        Op::Next { n: n.into(), most: most.into(), to: Label(0) },
        Op::Return { a: worst.into() },
    ];
    for (writer, reader) in tiers().flat_map(|writer| tiers().map(move |reader| (writer, reader))) {
        let memory = shared();
        let args = [address(&memory, 0), ROUNDS, 1, 0];
        let ends = at_once(&[(writer, write.clone(), args), (reader, read.clone(), args)]);
        assert_eq!(ends[1], 0, "{writer:?} to {reader:?}");
    }
}

/// Two threads each store a number and then load the other's. In sequentially consistent order at least one of them sees
/// the other's store.
#[test]
fn stores_and_loads_in_one_order_for_all() {
    const ROUNDS: u64 = 50_000;
    let (mine, other, records, n, seen) = (0, 1, 2, 4, 5);
    let most = 3;
    let code = vec![
        Op::StoreInOrder { p: mine.into(), a: n.into() },
        Op::LoadInOrder { dst: seen.into(), p: other.into() },
        Op::Record { to: records.into(), at: n.into(), a: seen.into() },
        Op::Next { n: n.into(), most: most.into(), to: Label(0) },
        Op::Return { a: n.into() },
    ];
    for (first, second) in tiers().flat_map(|first| tiers().map(move |second| (first, second))) {
        let memory = shared();
        let records = || vec![0u64; ROUNDS as usize + 1];
        let (mut a, mut b) = (records(), records());
        let (x, y) = (address(&memory, 0), address(&memory, 8));
        let of = |records: &mut Vec<u64>| records.as_mut_ptr().expose_provenance() as u64;
        let functions = [
            (first, code.clone(), [x, y, of(&mut a), ROUNDS]),
            (second, code.clone(), [y, x, of(&mut b), ROUNDS]),
        ];
        at_once(&functions);
        let missed = (1..=ROUNDS as usize).find(|&at| a[at] < at as u64 && b[at] < at as u64);
        assert_eq!(missed, None, "{first:?} and {second:?}");
    }
}

/// Only a sequentially consistent store waits until other threads see it, as an exchange does. Two threads at once may go long without
/// showing that one does not, so this looks at the code.
#[cfg(target_arch = "x86_64")]
#[test]
fn a_store_in_order_is_an_exchange_and_one_that_releases_is_plain() {
    let stores =
        [(Op::StoreInOrder { p: 0.into(), a: 1.into() }, 1), (Op::Publish { p: 0.into(), a: 1.into() }, 0)];
    for (store, exchanges) in stores {
        for tier in tiers().filter(|tier| *tier != Tier::Interpreter) {
            let engine = Engine::<Op>::new();
            let function =
                engine.define("store", vec![store, Op::Return { a: 1.into() }], 2).expect("it is right");
            engine.compile_in(function, tier).expect("it compiles");
            let text = engine.disassemble(function).expect("it is compiled").to_string();
            let with_memory = |line: &&str| line.contains("xchg ") && line.contains('[');
            assert_eq!(text.lines().filter(with_memory).count(), exchanges, "{store:?} in {tier:?}:\n{text}");
        }
    }
}
