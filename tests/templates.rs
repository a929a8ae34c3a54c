//! Forms of the template language that span several rows or steps: shared macros, and marks. Each program runs in the
//! interpreter and as compiled code.

#![allow(deprecated, reason = "programs name different registers where templates read inputs late")]

use azulejo::prelude::*;

/// Macros that other modules use.
mod model {
    azulejo::template_macros! {
        pub object_model {
            macro ^field (,object ,offset) (load (addr ,object ,offset) i64)
            macro ^tagged (,x) (let: (($twice (add ,x ,x))) (or $twice &crate::model::TAG))
        }
        private_ones {
            macro ^first () $0
        }
    }

    pub(crate) const TAG: i64 = 1;
}

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    Field {
        dst: Out<i64>,
        object: In<u64>,
    },
    Tag {
        dst: Out<i64>,
        a: In<i64>,
    },
    First {
        a: In<i64>,
        dst: Out<i64>,
    },
    /// The sum of the array's elements.
    Sum {
        dst: InOut<i64>,
        array: InOut<u64>,
        count: InOut<i64>,
    },
    /// How often a number can be halved, or -1 for zero.
    Halvings {
        dst: Out<i64>,
        n: InOut<i64>,
    },
    /// The Collatz steps from a number to one, at most `most`; a nested loop.
    Steps {
        dst: InOut<i64>,
        n: InOut<i64>,
        most: In<i64>,
    },
    Classify {
        dst: Out<i64>,
        a: In<i64>,
    },
    Return {
        a: In<i64>,
    },
}

mod some {
    use super::{Op, model};
    use azulejo::template;

    template! {
        use model::object_model;
        use crate::model::private_ones;

        Op::Field => unsafe (^field $object 8)
        Op::Tag   => (^tagged $a)
        Op::First => (^first)
    }
}

template! {
    Op::Sum! => unsafe (dov
        (set $dst 0)
        (mark again)
        (when (le $count 0) (branch (label done)))
        (set $dst (add $dst (load $array i64)))
        (set $array (add $array 8))
        (set $count (sub $count 1))
        (branch (label again))
        (mark done))

    Op::Halvings! => (letv: (($start $n))
        (when (zr $start) (branch (label none)))
        (mark again)
        (when (zr (and $n 1)) (dov (set $n (shr $n 1)) (branch (label again))))
        (set $dst (sub (ctz $start) 0))
        (branch (label end))
        (mark none)
        (set $dst -1)
        (mark end))

    Op::Steps! => (dov
        (set $dst 0)
        (mark next)
        (when (any (le $n 1) (ge $dst $most)) (branch (label done)))
        (dov
            (mark even)
            (when (zr (and $n 1))
                (dov
                    (set $n (shr $n 1))
                    (set $dst (add $dst 1))
                    (branch (label even))))
            (when (le $n 1) (branch (label done))))
        (set $n (add (mul $n 3) 1))
        (set $dst (add $dst 1))
        (branch (label next))
        (mark done))

    Op::Classify => (do
        (when (lt $a 0) (branch (label negative)))
        (when (gt $a 1000) (return -7))
        (mark negative)
        (if (lt $a 0) 10 20))

    Op::Return => (return $a)
}

fn r<T: From<u32>>(register: u32) -> T {
    register.into()
}

#[track_caller]
fn check(op: Op, args: [i64; 3], expected: i64) {
    let engine = Engine::<Op>::new();
    let function = engine.define("f", vec![op, Op::Return { a: r(0) }], 3).expect("the code is right");
    let run = |how: &str| {
        let found: i64 = engine.call(function, &mut (), (args[0], args[1], args[2])).expect("it ends");
        assert_eq!(found, expected, "{how}: {op:?} {args:?}");
    };
    run("interpreted");
    if azulejo::can_compile().is_ok() {
        engine.compile(function).expect("it compiles");
        run("compiled");
    }
}

#[test]
fn macros_are_shared_between_modules() {
    let object = [5i64, 77];
    check(Op::Field { dst: r(0), object: r(1) }, [0, object.as_ptr() as i64, 0], 77);
    check(Op::Tag { dst: r(0), a: r(1) }, [0, 21, 0], 43);
    check(Op::First { a: r(2), dst: r(0) }, [0, 0, 9], 9);
}

#[test]
fn marks_make_loops() {
    for count in [0usize, 1, 5] {
        let array: Vec<i64> = (0..count as i64).map(|i| i * i + 1).collect();
        let op = Op::Sum { dst: r(0), array: r(1), count: r(2) };
        check(op, [99, array.as_ptr() as i64, count as i64], array.iter().sum());
    }
    for (n, halvings) in [(0, -1), (1, 0), (8, 3), (-16, 4), (7 << 20, 20)] {
        check(Op::Halvings { dst: r(0), n: r(1) }, [0, n, 0], halvings);
    }
}

#[test]
fn a_loop_within_a_loop_can_be_left_from_inside() {
    let steps = |mut n: i64, most: i64| {
        let mut steps = 0;
        'next: while n > 1 && steps < most {
            while n % 2 == 0 {
                (n, steps) = (n / 2, steps + 1);
            }
            if n <= 1 {
                break 'next;
            }
            (n, steps) = (3 * n + 1, steps + 1);
        }
        steps
    };
    for n in [1, 2, 3, 6, 27, 97, 871] {
        for most in [0, 1, 10, 1000] {
            check(Op::Steps { dst: r(0), n: r(1), most: r(2) }, [5, n, most], steps(n, most));
        }
    }
}

#[test]
fn a_sequence_with_a_mark_has_a_value() {
    for (a, expected) in [(-5, 10), (5, 20), (1001, -7)] {
        check(Op::Classify { dst: r(0), a: r(1) }, [0, a, 0], expected);
    }
}

/// A user's macro that makes the opcodes and their templates from a table.
macro_rules! table {
    ($($name:ident($ty:ident) = $means:tt)*) => {
        #[derive(Bytecode, Clone, Copy, Debug)]
        enum Row {
            $($name { dst: Out<$ty>, a: In<$ty>, b: In<$ty> },)*
            Return { a: In<i64> },
        }

        template! {
            $(Row::$name => $means)*
            Row::Return => (return $a)
        }
    };
}

table! {
    Add(i64) = (add $a $b)
    Larger(i32) = (if (gt $a $b) $a $b)
}

#[test]
fn opcodes_and_templates_may_come_from_a_table() -> Result<(), Error> {
    let engine = Engine::<Row>::new();
    let code = vec![
        Row::Larger { dst: r(2), a: r(0), b: r(1) },
        Row::Add { dst: r(2), a: r(2), b: r(0) },
        Row::Return { a: r(2) },
    ];
    let function = engine.define("table", code, 3)?;
    assert_eq!(engine.interpret::<_, i64>(function, &mut (), (4i64, 9i64))?, 13);
    if azulejo::can_compile().is_ok() {
        engine.compile(function)?;
        assert_eq!(engine.call::<_, i64>(function, &mut (), (4i64, 9i64))?, 13);
    }
    Ok(())
}

#[derive(Bytecode, Clone, Copy, Debug)]
enum Stacked {
    Get(In<i64>, Push<i64>),
    Swap {
        a: Pop<i64>,
        b: Pop<i64>,
        below: Push<i64>,
        above: Push<i64>,
    },
    /// Pushes the smaller operand below the larger one.
    Sort {
        a: Pop<i64>,
        b: Pop<i64>,
        below: Push<i64>,
        above: Push<i64>,
    },
    Sub(Pop<i64>, Pop<i64>, Push<i64>),
    Return(Pop<i64>),
}

template! {
    Stacked::Get    => $0
    Stacked::Swap!  => (dov (set $below $b) (set $above $a))
    Stacked::Sort!  => (ifv (lt $a $b)
        (dov (set $above $b) (set $below $a))
        (dov (set $below $b) (set $above $a)))
    Stacked::Sub    => (sub $0 $1)
    Stacked::Return => (return $0)
}

/// Pushed values overwrite the slots of popped ones.
#[test]
fn everything_is_popped_before_anything_is_pushed() -> Result<(), Error> {
    let (pop, push) = (Pop::new(), Push::new());
    let swap = Stacked::Swap { a: pop, b: pop, below: push, above: push };
    let sort = Stacked::Sort { a: pop, b: pop, below: push, above: push };
    let engine = Engine::<Stacked>::new();
    for (op, args, expected) in [(swap, (5, 7), 2), (sort, (5, 7), -2), (sort, (7, 5), -2)] {
        let code = vec![
            Stacked::Get(r(0), push),
            Stacked::Get(r(1), push),
            op,
            Stacked::Sub(pop, pop, push),
            Stacked::Return(pop),
        ];
        let function = engine.define("stacked", code, 2)?;
        assert_eq!(engine.interpret(function, &mut (), args), Ok::<i64, _>(expected), "{op:?}");
        for tier in [Tier::Baseline, Tier::Optimizer] {
            if azulejo::can_compile().is_ok() {
                engine.compile_in(function, tier)?;
            }
            assert_eq!(engine.call(function, &mut (), args), Ok::<i64, _>(expected), "{op:?} in {tier:?}");
        }
    }
    Ok(())
}
