//! What stands in a `cached`: conditions and bodies of every form, fields of every type, and sites in enums, modules and macros of
//! others. Every tier has the same results.

use azulejo::Trap;
use azulejo::prelude::*;

/// One field of each type.
#[derive(Fields, Clone, Copy, Debug)]
#[repr(C)]
struct Mixed {
    tag: u8,
    small: i8,
    wide: u16,
    low: i16,
    scale: f64,
    half: f32,
    target: *const u64,
    length: usize,
    distance: isize,
}

// Cases need no `Debug`.
#[derive(Fields, Clone, Copy)]
struct Pair(u16, pub(crate) i64);

#[derive(Default)]
struct Vm {
    slow: u32,
    numbers: [u64; 4],
}

/// The case for a tag.
fn mixed(vm: &Vm, tag: u8) -> Mixed {
    let n = tag as i64;
    Mixed {
        tag,
        small: -(n as i8),
        wide: 0xff00 + tag as u16,
        low: -256 * n as i16,
        scale: n as f64 * 0.5,
        half: -0.25,
        target: &raw const vm.numbers[tag as usize % 4],
        length: 10 * tag as usize,
        distance: -3 * n as isize,
    }
}

template_macros! {
    lookups {
        // A case of a struct of this crate, in a macro that may be used elsewhere.
        macro ^second_of (,site ,key)
            (cached ,site crate::Pair (eq ,key (case 0)) (case 1)
                (slow learn_pair (arglist (carg ,key u16) (carg ,site ptr)) i64))
    }
}

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(context = Vm)]
enum Op {
    /// All fields in one number.
    All {
        dst: Out<f64>,
        tag: In<u8>,
        cache: Site<Mixed, 3>,
    },
    /// The fields as the integers that they are extended to.
    Integers {
        dst: Out<i64>,
        tag: In<u8>,
        cache: Site<Mixed, 2>,
    },
    /// A flag, by itself and as a condition.
    Knows {
        dst: Out<u8>,
        tag: In<u8>,
        cache: Site<Mixed, 2>,
    },
    Branch {
        tag: In<u8>,
        cache: Site<Mixed, 2>,
        to: Label,
    },
    /// A loop in the body.
    Steps {
        dst: InOut<i64>,
        tag: In<u8>,
        cache: Site<Mixed, 16>,
    },
    /// One site for another's case.
    Both {
        dst: Out<i64>,
        tag: In<u8>,
        key: In<u16>,
        outer: Site<Mixed, 2>,
        inner: Site<Pair, 3>,
    },
    /// Ways that leave.
    Leave {
        dst: Out<i64>,
        tag: In<u8>,
        cache: Site<Mixed, 2>,
        to: Label,
    },
    Second {
        dst: Out<i64>,
        key: In<u16>,
        cache: Site<Pair, 1>,
    },
    /// A site before the operand that decides, and one that nobody looks at.
    Last {
        a: InOut<i64>,
        unused: Site<u64, 1>,
        cache: Site<Pair, 2>,
    },
    Popped {
        value: Pop<u16>,
        cache: Site<Pair, 2>,
        result: Push<i64>,
    },
    Push {
        value: Imm<u16>,
        result: Push<u16>,
    },
    Take {
        dst: Out<i64>,
        value: Pop<i64>,
    },
    Number {
        dst: Out<i64>,
        value: Imm<i64>,
    },
    Return {
        a: In<u64>,
    },
}

template! {
    use lookups;

    macro ^learn (,tag ,site ,result)
        (slow learn (arglist (carg (tc) ptr) (carg ,tag u8) (carg ,site ptr)) ,result)

    Op::All => unsafe (cached $cache Mixed (eq $tag (case tag))
        (add (add (stof (case small) f64) (add (stof (ucast (case wide) i32) f64) (stof (case low) f64)))
            (add (mul (case scale) (fcast (case half) f64))
                (add (stof (load (case target) i64) f64)
                    (add (stof (scast (case length) i64) f64) (stof (case distance) f64)))))
        (stof (^learn $tag $cache i64) f64))
    Op::Integers => (cached $cache Mixed (all (ule (case tag) $tag) (any (eq $tag (case tag)) (lt (case low) -600)))
        (let: (($x (add (case small) (case low)))) (add (mul $x (scast (case wide) i64)) (case distance)))
        (^learn $tag $cache i64))
    Op::Knows => (flagval (cached $cache Mixed (eq $tag (case tag)) (lt (case low) -300) (nz (^learn $tag $cache i64))) u8)
    Op::Branch => (when (cached $cache Mixed (eq $tag (case tag)) (ult (case wide) 0xff03) (nz (^learn $tag $cache i64)))
        (branch $to))
}

template! {
    use lookups;

    macro ^learn (,tag ,site ,result)
        (slow learn (arglist (carg (tc) ptr) (carg ,tag u8) (carg ,site ptr)) ,result)

    Op::Steps! => (cachedv $cache Mixed (eq $tag (case tag))
        (dov (set $dst 0)
            (mark again)
            (set $dst (sub $dst (scast (case small) i64)))
            (when (ult $dst (ucast (case length) i64)) (branch (label again)))
            (set $dst (add $dst (case distance))))
        (set $dst (^learn $tag $cache i64)))
    Op::Both => (cached $outer Mixed (eq $tag (case tag))
        (let: (($own (scast (case low) i64)))
            (cached $inner Pair (all (eq $key (case 0)) (ne $own 0)) (add (add $own (case 1)) $own)
                // The case at hand is the outer one's again.
                (add (scast (case small) i64) (call throws learn_pair (arglist (carg $key u16) (carg $inner ptr)) i64))))
        (^learn $tag $outer i64))
    Op::Leave! => (cachedv $cache Mixed (eq $tag (case tag))
        (dov (set $dst (case distance)) (when (ult (case wide) 0xff02) (return (case length))) (branch $to))
        (dov (set $dst (^learn $tag $cache i64)) (branch $to)))
    Op::Second => (^second_of $cache $key)
    Op::Last => (cached $cache Pair (eq $a (case 1)) (scast (case 0) i64)
        (call learn_last (arglist (carg $cache ptr) (carg $a i64)) i64))
    Op::Popped => (^second_of $cache $value)
    Op::Push => $value
    Op::Take => $value
    Op::Number => $value
    Op::Return => (return $a)
}

fn learn(vm: &mut Vm, tag: u8, cases: Cases<'_, Mixed>) -> Result<i64, Trap> {
    vm.slow += 1;
    cases.add(mixed(vm, tag));
    if tag == 99 { Err(Trap::User(9)) } else { Ok(-1000 - tag as i64) }
}

fn learn_pair(key: u16, cases: Cases<'_, Pair>) -> Result<i64, Trap> {
    cases.add(Pair(key, 7 * key as i64));
    Ok(-(key as i64))
}

/// Nothing is added twice.
fn learn_last(cases: Cases<'_, Pair>, a: i64) -> i64 {
    if cases.iter().all(|Pair(_, known)| known != a) {
        cases.add(Pair(a as u16 + 1, a));
    }
    a + 1
}

/// What the sites of an opcode have learned, written by hand.
#[derive(Default)]
struct Known {
    mixed: Vec<Mixed>,
    pairs: Vec<Pair>,
}

impl Known {
    /// What is computed of the first case that fits, or the slow path.
    fn of_mixed(
        &mut self,
        capacity: usize,
        tag: u8,
        fits: impl Fn(&Mixed) -> bool,
        value: impl Fn(&Mixed) -> i64,
    ) -> i64 {
        if let Some(found) = self.mixed.iter().find(|case| fits(case)) {
            return value(found);
        }
        if self.mixed.len() < capacity {
            self.mixed.push(mixed(&Vm::default(), tag));
        }
        -1000 - tag as i64
    }

    fn of_pairs(&mut self, capacity: usize, key: u16) -> i64 {
        if let Some(found) = self.pairs.iter().find(|Pair(known, _)| *known == key) {
            return found.1;
        }
        if self.pairs.len() < capacity {
            self.pairs.push(Pair(key, 7 * key as i64));
        }
        -(key as i64)
    }
}

/// Runs code, whose result is in register 0, with a tag in register 1 and a key in register 2, in every tier and while it climbs.
fn compare(code: &[Op], mut expected: impl FnMut(&mut Known, u8, u16) -> i64) {
    let inputs: Vec<(u8, u16)> =
        [0u8, 1, 1, 2, 3, 0, 4, 2, 5, 1, 3].iter().map(|tag| (*tag, *tag as u16 % 3)).collect();
    for way in 0..6 {
        if way > 0 && azulejo::can_compile().is_err() {
            return;
        }
        let engine = match way {
            0 => Engine::<Op>::builder().up_to(Tier::Interpreter).build::<Op>(),
            4 => Engine::<Op>::builder().thresholds(3, 20).build(),
            _ => Engine::<Op>::builder().up_to(Tier::Baseline).build(),
        };
        let function = engine.define("one", code.to_vec(), 4).expect("it is right");
        match way {
            1 => engine.compile_in(function, Tier::Baseline).expect("it is compiled"),
            2 => engine.compile_in(function, Tier::Optimizer).expect("it is compiled"),
            _ => {}
        }
        let (mut vm, mut known) = (Vm { numbers: [0, 100, 200, 300], ..Vm::default() }, Known::default());
        for round in 0..if way == 4 { 40 } else { 3 } {
            for &(tag, key) in &inputs {
                let result = engine.call::<_, i64>(function, &mut vm, (0u64, tag, key));
                let expected = expected(&mut known, tag, key);
                assert_eq!(result, Ok(expected), "{code:?} of {tag} {key}, round {round} of {way}");
            }
            // Now that the sites have learned something.
            match (way, round) {
                (3, 0) => engine.compile_in(function, Tier::Optimizer).expect("it is compiled"),
                (5, 0) => engine.compile_in(function, Tier::Baseline).expect("it is compiled"),
                _ => {}
            }
        }
        assert!(way != 4 || engine.tier(function) == Tier::Optimizer);
    }
}

/// An opcode, and a return of register 0.
fn one(op: Op) -> [Op; 2] {
    [op, Op::Return { a: 0.into() }]
}

#[test]
fn fields_of_every_type() {
    let all = one(Op::All { dst: 0.into(), tag: 1.into(), cache: Site::new() });
    compare(&all, |known, tag, _| {
        let sum = |case: &Mixed| {
            let integers = case.small as i64 + case.wide as i64 + case.low as i64;
            let others = case.length as i64 + case.distance as i64 + 100 * (case.tag as i64 % 4);
            (integers as f64 + others as f64 + case.scale * case.half as f64).to_bits() as i64
        };
        match known.of_mixed(3, tag, |case| case.tag == tag, sum) {
            slow if slow == -1000 - tag as i64 => (slow as f64).to_bits() as i64,
            sum => sum,
        }
    });
    let integers = one(Op::Integers { dst: 0.into(), tag: 1.into(), cache: Site::new() });
    compare(&integers, |known, tag, _| {
        let fits = |case: &Mixed| case.tag <= tag && (case.tag == tag || case.low < -600);
        let value = |case: &Mixed| {
            let x = (case.small as i16).wrapping_add(case.low);
            x as i64 * case.wide as i16 as i64 + case.distance as i64
        };
        known.of_mixed(2, tag, fits, value)
    });
}

#[test]
fn flags_as_values_and_as_conditions() {
    let knows = one(Op::Knows { dst: 0.into(), tag: 1.into(), cache: Site::new() });
    compare(&knows, |known, tag, _| {
        (known.of_mixed(2, tag, |case| case.tag == tag, |case| (case.low < -300) as i64) != 0) as i64
    });
    let branch = [
        Op::Branch { tag: 1.into(), cache: Site::new(), to: Label(3) },
        Op::Number { dst: 0.into(), value: Imm(1) },
        Op::Return { a: 0.into() },
        Op::Number { dst: 0.into(), value: Imm(2) },
        Op::Return { a: 0.into() },
    ];
    compare(&branch, |known, tag, _| {
        let value = |case: &Mixed| (case.wide < 0xff03) as i64;
        if known.of_mixed(2, tag, |case| case.tag == tag, value) != 0 { 2 } else { 1 }
    });
}

#[test]
fn loops_and_ways_that_leave() {
    let steps = one(Op::Steps { dst: 0.into(), tag: 1.into(), cache: Site::new() });
    compare(&steps, |known, tag, _| {
        known.of_mixed(16, tag, |case| case.tag == tag, |case| case.length as i64 + case.distance as i64)
    });
    let leave = [
        Op::Leave { dst: 0.into(), tag: 1.into(), cache: Site::new(), to: Label(2) },
        Op::Number { dst: 0.into(), value: Imm(99) },
        Op::Return { a: 0.into() },
    ];
    compare(&leave, |known, tag, _| {
        let value = |case: &Mixed| match case.wide < 0xff02 {
            true => case.length as i64,
            false => case.distance as i64,
        };
        known.of_mixed(2, tag, |case| case.tag == tag, value)
    });
}

#[test]
fn one_cached_in_another() {
    let both =
        Op::Both { dst: 0.into(), tag: 1.into(), key: 2.into(), outer: Site::new(), inner: Site::new() };
    compare(&one(both), |known, tag, key| {
        if !known.mixed.iter().any(|case| case.tag == tag) {
            return known.of_mixed(2, tag, |_| false, |_| 0);
        }
        let own = -256 * tag as i64;
        match known.pairs.iter().find(|Pair(known, _)| *known == key && own != 0) {
            Some(Pair(_, value)) => own + value + own,
            None => {
                if known.pairs.len() < 3 {
                    known.pairs.push(Pair(key, 7 * key as i64));
                }
                -(tag as i64) - key as i64
            }
        }
    });
}

#[test]
fn sites_beside_other_operands() {
    let second = one(Op::Second { dst: 0.into(), key: 2.into(), cache: Site::new() });
    compare(&second, |known, _, key| known.of_pairs(1, key));
    let [next, end] = one(Op::Last { a: 0.into(), unused: Site::new(), cache: Site::new() });
    compare(&[next, next, next, end], |_, _, _| 3);
    let popped = [
        Op::Push { value: Imm(5), result: Push::new() },
        Op::Popped { value: Pop::new(), cache: Site::new(), result: Push::new() },
        Op::Take { dst: 0.into(), value: Pop::new() },
        Op::Return { a: 0.into() },
    ];
    compare(&popped, |known, _, _| known.of_pairs(2, 5));
}

/// A machine whose enum is known outside of the module, and the struct of its cases is not.
mod machine {
    use azulejo::prelude::*;

    #[derive(Fields, Clone, Copy)]
    struct Case {
        twice: i64,
    }

    #[derive(Bytecode, Clone, Copy, Debug)]
    #[allow(private_interfaces, reason = "that is what this is about")]
    pub(super) enum Op {
        Learn { a: In<i64>, cache: Site<Case, 1> },
        Return { a: In<i64> },
    }

    template! {
        Op::Learn => (cachedv $cache Case (eq (case twice) (mul $a 2)) (return (case twice))
            (callv learn (arglist (carg $a i64) (carg $cache ptr))))
        Op::Return => (return $a)
    }

    pub(super) fn code() -> Vec<Op> {
        vec![Op::Learn { a: 0.into(), cache: Site::new() }, Op::Return { a: 0.into() }]
    }

    fn learn(a: i64, cases: Cases<'_, Case>) {
        cases.add(Case { twice: 2 * a });
    }
}

#[test]
fn the_struct_of_cases_may_be_private() {
    let engine = Engine::<machine::Op>::new();
    let code = machine::code();
    let function = engine.define("learn", code.clone(), 1).expect("it is right");
    let same = engine.define("learn", code, 1).expect("the sites of the two are two");
    assert_eq!([21i64, 21].map(|a| engine.call::<_, i64>(function, &mut (), (a,))), [Ok(21), Ok(42)]);
    assert_eq!(engine.call::<_, i64>(same, &mut (), (21i64,)), Ok(21));
}
