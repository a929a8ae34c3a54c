//! Baseline code that knows the first case of a site: what it does for that case, for all others, and where cases change under it.
//! Every way has the results of the interpreter.

use azulejo::Trap;
use azulejo::prelude::*;
use azulejo_core::random::Random;

/// What a key is worth, and how that is computed.
#[derive(Fields, Clone, Copy, PartialEq, Debug)]
struct Worth {
    key: u64,
    /// One of [`FACTOR`], [`OFFSET`], or another number: then it is nothing but that.
    sort: u16,
    offset: u32,
    factor: f64,
}

const FACTOR: u16 = 0;
const OFFSET: u16 = 1;

#[derive(Default)]
struct Vm {
    /// How many times a slow path has run.
    slow: u32,
    /// Whether the next one forgets what its site knows.
    forgets: bool,
    table: [u64; 8],
}

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(context = Vm)]
enum Op {
    /// What a key is worth, as a number beside those in registers.
    Worth {
        dst: Out<u64>,
        key: In<u64>,
        cache: Site<Worth, 3>,
    },
    /// The same, behind a write to a register and to memory.
    Written {
        dst: Out<u64>,
        last: Out<u64>,
        key: In<u64>,
        cache: Site<Worth, 2>,
    },
    Boxed {
        dst: Out<u64>,
        key: In<u64>,
        cache: Site<Worth, 2>,
    },
    /// The number so far behind the start of a table as a case says.
    At {
        dst: Out<u64>,
        key: In<u64>,
        cache: Site<Worth, 2>,
    },
    Add {
        dst: Out<u64>,
        a: In<u64>,
        b: In<u64>,
    },
    /// A float, as numbers are handed on.
    Half {
        dst: Out<f64>,
        a: In<u64>,
    },
    Scale {
        dst: Out<u64>,
        a: In<f64>,
    },
    Low {
        dst: Out<u64>,
        a: In<u64>,
    },
    Count {
        n: InOut<u64>,
        to: Label,
    },
    Return {
        a: In<u64>,
    },
}

template! {
    macro ^table () (addr (tc) (&offset_of Vm, table))
    macro ^is (,sort) (eq (case sort) ,sort)
    macro ^found (,key) (if (^is &FACTOR) (ftou_sat (mul (case factor) (utof ,key f64)) u64)
        (if (^is &OFFSET) (add ,key (ucast (case offset) u64)) (ucast (case sort) u64)))

    Op::Worth => (cached $cache Worth (eq $key (case key)) (^found $key)
        (slow worth (arglist (carg (tc) ptr) (carg $key u64) (carg $cache ptr)) u64))
    Op::Written! => unsafe (letv: (($key $key)) (dov
        (set $last (add $key 1))
        (store (^table) (add (load (^table) u64) 1) u64)
        (cachedv $cache Worth (eq $key (case key)) (set $dst (^found $key))
            (set $dst (call throws worth (arglist (carg (tc) ptr) (carg $key u64) (carg $cache ptr)) u64)))))
    Op::At => unsafe (cached $cache Worth (eq $key (case key))
        (load (add (^table) (ucast (case offset) u64)) u64)
        (slow at (arglist (carg (tc) ptr) (carg $key u64) (carg $cache ptr)) u64))
    Op::Add => (add $a $b)
    Op::Half => (mul (utof $a f64) 0.5)
    Op::Scale => (add (ftou_sat $a u64) (bitcast $a u64))
    // Only one sort computes a float, and its bits are what is handed on.
    Op::Boxed => (cached $cache Worth (eq $key (case key))
        (if (^is &FACTOR) (bitcast (mul (case factor) 2.0) u64) (ucast (case offset) u64))
        (slow boxed (arglist (carg (tc) ptr) (carg $key u64) (carg $cache ptr)) u64))
    Op::Low => (and $a 7)
    Op::Count! => (dov (set $n (sub $n 1)) (when (nz $n) (branch $to)))
    Op::Return => (return $a)
}

/// All that there is to know of a key. Some offsets are not numbers with a sign.
fn case(key: u64) -> Worth {
    let offset = if key.is_multiple_of(5) { 0x8000_0000 | key as u32 } else { 8 * (key as u32 % 8) };
    Worth { key, sort: (key % 13) as u16, offset, factor: key as f64 * 0.5 }
}

fn worth_of(key: u64) -> u64 {
    let Worth { sort, offset, factor, .. } = case(key);
    match sort {
        FACTOR => (factor * key as f64) as u64,
        OFFSET => key.wrapping_add(offset as u64),
        _ => sort as u64,
    }
}

fn learn(vm: &mut Vm, key: u64, cases: Cases<'_, Worth>) {
    vm.slow += 1;
    if core::mem::take(&mut vm.forgets) {
        cases.retain(|_| false);
    }
    if cases.iter().all(|known| known.key != key) {
        cases.add(case(key));
    }
}

fn worth(vm: &mut Vm, key: u64, cases: Cases<'_, Worth>) -> Result<u64, Trap> {
    learn(vm, key, cases);
    Ok(worth_of(key))
}

fn boxed(vm: &mut Vm, key: u64, cases: Cases<'_, Worth>) -> Result<u64, Trap> {
    learn(vm, key, cases);
    let Worth { sort, offset, factor, .. } = case(key);
    Ok(if sort == FACTOR { (factor * 2.0).to_bits() } else { offset as u64 })
}

/// Keys whose offsets are not in the table are never learned.
fn at(vm: &mut Vm, key: u64, cases: Cases<'_, Worth>) -> Result<u64, Trap> {
    if key.is_multiple_of(5) {
        vm.slow += 1;
        return Ok(0);
    }
    learn(vm, key, cases);
    Ok(vm.table[case(key).offset as usize / 8])
}

/// An engine whose functions stay in baseline code, into which they come after a few calls.
fn climbing() -> Engine<Op> {
    Engine::<Op>::builder().up_to(Tier::Baseline).thresholds(4, 1000).build()
}

/// Worths of register 1, as often as register 0 says, in register 0.
fn sum() -> Vec<Op> {
    vec![
        Op::Add { dst: 2.into(), a: 2.into(), b: 3.into() },
        Op::Worth { dst: 3.into(), key: 1.into(), cache: Site::new() },
        Op::Count { n: 0.into(), to: Label(0) },
        Op::Add { dst: 2.into(), a: 2.into(), b: 3.into() },
        Op::Return { a: 2.into() },
    ]
}

fn worth_by(engine: &Engine<Op>, function: FunctionId, vm: &mut Vm, key: u64) {
    assert_eq!(engine.call(function, vm, (3u64, key, 0u64, 0u64)), Ok(3 * worth_of(key)), "{key}");
}

#[test]
fn each_sort_has_its_code_and_what_does_not_fit_has_none() {
    for first in 0..45 {
        let engine = climbing();
        let function = engine.define("sum", sum(), 4).expect("it is right");
        let mut vm = Vm::default();
        (0..4).for_each(|_| worth_by(&engine, function, &mut vm, first));
        if azulejo::can_compile().is_ok() {
            assert_eq!(engine.tier(function), Tier::Baseline);
        }
        assert_eq!(vm.slow, 1);
        // A second and a third case are found in memory, and for a fourth one there is no room.
        for key in [first, first + 1, first + 2, first + 3, first + 1, first, first + 3] {
            worth_by(&engine, function, &mut vm, key);
        }
        assert_eq!(vm.slow, 1 + 2 + 2 * 3, "{first}");
    }
}

#[test]
fn what_code_knows_need_not_be_in_memory_any_more() {
    if azulejo::can_compile().is_err() {
        return;
    }
    let engine = climbing();
    let function = engine.define("sum", sum(), 4).expect("it is right");
    let mut vm = Vm::default();
    (0..4).for_each(|_| worth_by(&engine, function, &mut vm, 7));
    assert_eq!((engine.tier(function), vm.slow), (Tier::Baseline, 1));
    // From now on the code looks at all cases.
    worth_by(&engine, function, &mut vm, 8);
    vm.forgets = true;
    worth_by(&engine, function, &mut vm, 9);
    // The site has key 9 only, and the code has key 7.
    for key in [7, 9, 7] {
        worth_by(&engine, function, &mut vm, key);
    }
    assert_eq!(vm.slow, 3);
    // Whoever says that 7 is not true any more is believed, wherever it is.
    engine.retain_cases(|case: &Worth| case.key != 7);
    assert_eq!(engine.tier(function), Tier::Baseline);
    worth_by(&engine, function, &mut vm, 9);
    assert_eq!(vm.slow, 3);
    worth_by(&engine, function, &mut vm, 7);
    assert_eq!(vm.slow, 4);
    // The new code knows key 9.
    engine.clear_sites();
    assert_eq!(engine.tier(function), Tier::Baseline);
    worth_by(&engine, function, &mut vm, 9);
    assert_eq!(vm.slow, 5);
}

#[test]
fn what_was_written_is_not_written_again() {
    let engine = climbing();
    let code = vec![
        Op::Written { dst: 2.into(), last: 1.into(), key: 1.into(), cache: Site::new() },
        Op::Add { dst: 2.into(), a: 2.into(), b: 1.into() },
        Op::Return { a: 2.into() },
    ];
    let function = engine.define("written", code, 3).expect("it is right");
    let mut vm = Vm::default();
    // The second case is found in memory, and for the third one there is no room. Then the site forgets both, and the code does not.
    let keys = [1u64, 1, 1, 1, 1, 2, 1, 2, 3, 4, 4, 1];
    for (n, key) in keys.into_iter().enumerate() {
        vm.forgets = n == 9;
        let expected = worth_of(key) + key + 1;
        assert_eq!(engine.call(function, &mut vm, (0u64, key)), Ok(expected));
        assert_eq!(vm.table[0], n as u64 + 1);
    }
    assert_eq!(vm.slow, if azulejo::can_compile().is_ok() { 4 } else { 5 });
}

/// A loop of chains, in which each bytecode reads what the one before has left, in registers that are read once.
fn chains(random: &mut Random) -> Vec<Op> {
    let (sum, key, temporary) = (1, 2, 3);
    let mut code = Vec::new();
    for _ in 0..1 + random.below(4) {
        code.push(Op::Low { dst: temporary.into(), a: key.into() });
        for _ in 0..random.below(6) {
            let (dst, a) = (temporary.into(), temporary.into());
            match random.below(7) {
                0 => code
                    .extend([Op::Half { dst: temporary.into(), a }, Op::Scale { dst, a: temporary.into() }]),
                1 => code.push(Op::At { dst, key: a, cache: Site::new() }),
                3 => {
                    code.push(Op::Boxed { dst, key: a, cache: Site::new() });
                    if random.one_in(2) {
                        code.push(Op::Scale { dst: temporary.into(), a: temporary.into() });
                    }
                }
                2 => code.push(Op::Low { dst, a }),
                _ => code.push(Op::Worth { dst, key: a, cache: Site::new() }),
            }
            if random.one_in(2) {
                code.push(Op::Low { dst: temporary.into(), a: temporary.into() });
            }
        }
        code.push(Op::Add { dst: sum.into(), a: sum.into(), b: temporary.into() });
        code.push(Op::Add { dst: key.into(), a: key.into(), b: sum.into() });
    }
    code.extend([Op::Count { n: 0.into(), to: Label(0) }, Op::Return { a: sum.into() }]);
    code
}

#[test]
fn chains_of_values_in_registers_are_the_same_in_every_tier() {
    for seed in 0..400 {
        let mut random = Random::new(seed);
        let code = chains(&mut random);
        let engines = [
            Engine::<Op>::builder().only(Tier::Interpreter).rust_interpreter(true).build(),
            Engine::<Op>::builder().only(Tier::Interpreter).build(),
            climbing(),
            Engine::<Op>::builder().thresholds(3, 30).build(),
        ];
        let functions = engines.each_ref().map(|engine| {
            let code = Code::from(code.clone());
            let code = if seed % 2 == 0 { code.with_temporaries(3) } else { code };
            engine.define("chains", code, 4).expect("it is right")
        });
        let new = || Vm { table: core::array::from_fn(|at| 3 * at as u64 + 1), ..Vm::default() };
        let mut vms = [(); 4].map(|()| new());
        for round in 0..12 {
            let key = random.below(9) as u64;
            let results: Vec<_> = (0..engines.len())
                .map(|at| {
                    let result =
                        engines[at].call::<_, u64>(functions[at], &mut vms[at], (1 + round % 3, 0u64, key));
                    (result, vms[at].slow)
                })
                .collect();
            // The optimizer's code is left for what a site learns, and then takes the slow path, as the others do.
            assert!(
                results.iter().all(|result| result == &results[0]),
                "seed {seed}: {results:?} of {code:?}"
            );
        }
    }
}

/// Narrow fields, of which some are negative, and a sort that is.
#[derive(Fields, Clone, Copy)]
struct Narrow {
    key: u64,
    sort: i16,
    small: i8,
    low: i16,
    wide: u16,
}

fn narrow(key: u64, cases: Cases<'_, Narrow>) -> Result<i64, Trap> {
    let case = narrow_case(key);
    if cases.iter().all(|known| known.key != key) {
        cases.add(case);
    }
    Ok(narrow_of(case))
}

fn narrow_case(key: u64) -> Narrow {
    let sort = if key.is_multiple_of(2) { -5 } else { 7 };
    Narrow { key, sort, small: -(key as i8) - 1, low: -300 - key as i16, wide: 0xff00 + key as u16 }
}

fn narrow_of(Narrow { sort, small, low, wide, .. }: Narrow) -> i64 {
    match sort {
        -5 => small as i64 * 1000 + low as i64,
        _ => wide as i16 as i64 * 1000 + wide as i64,
    }
}

mod narrow_machine {
    use super::{Narrow, narrow};
    use azulejo::prelude::*;

    #[derive(Bytecode, Clone, Copy, Debug)]
    #[allow(private_interfaces, reason = "the cases are the test's")]
    pub(super) enum Op {
        Narrow { dst: Out<i64>, key: In<u64>, cache: Site<Narrow, 2> },
        Return { a: In<i64> },
    }

    template! {
        Op::Narrow => (cached $cache Narrow (eq $key (case key))
            (if (eq (case sort) -5)
                (add (mul (scast (case small) i64) 1000) (scast (case low) i64))
                (add (mul (scast (case wide) i64) 1000) (scast (ucast (case wide) u64) i64)))
            (slow narrow (arglist (carg $key u64) (carg $cache ptr)) i64))
        Op::Return => (return $a)
    }
}

#[test]
fn narrow_fields_have_their_signs() {
    use narrow_machine::Op;
    for first in 0..8 {
        let engine = Engine::<Op>::builder().up_to(Tier::Baseline).thresholds(4, 1000).build();
        let code =
            vec![Op::Narrow { dst: 1.into(), key: 0.into(), cache: Site::new() }, Op::Return { a: 1.into() }];
        let function = engine.define("narrow", code, 2).expect("it is right");
        for key in [first, first, first, first, first, first, first + 1, first, first + 2] {
            let expected = narrow_of(narrow_case(key));
            assert_eq!(engine.call(function, &mut (), (key,)), Ok(expected), "{first} {key}");
        }
    }
}
