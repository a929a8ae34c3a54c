//! `cargo xtask bisect` on real programs with a wrong rewrite rule, a wrong tile, and a wrong template.
//!
//! The failing program is this test binary itself, run with an environment variable that selects the error.

#![cfg(all(target_arch = "x86_64", unix))]

use azulejo::prelude::*;
use azulejo::rules::{MATCHERS, Matcher};
use std::process::Command;

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(context = Vm)]
enum Op {
    Load { dst: Out<i64>, value: Imm<i64> },
    Add { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Mix { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Extra { dst: Out<i64>, a: In<i64> },
    JumpLess { a: In<i64>, b: In<i64>, to: Label },
    Return { a: In<i64> },
}

template! {
    Op::Load     => $value
    Op::Add      => (add $a $b)
    Op::Mix      => (xor (mul $a (const 8 i64)) (mul $b (const 16 i64)))
    Op::Extra    => unsafe (add $a (load (addr (tc) (&offset_of Vm, extra)) i64))
    Op::JumpLess => (when (lt $a $b) (branch $to))
    Op::Return   => (return $a)
}

#[repr(C)]
struct Vm {
    first: i64,
    extra: i64,
}

azulejo::rewrite! {
    static WRONG;

    (mul.i64 $x (const $c)) => (shl $x (const 5)) if (&is_sixteen $c)
}

fn is_sixteen(c: i64) -> bool {
    c == 16
}

mod wrong_tile {
    azulejo::tile! {
        pub group wrong_tile;

        lost_xor: (xor.i64 reg reg) -> reg, 1 => |cx, t| cx.mov(t.out(), t.reg(0)),
    }
}

azulejo::tileset! {
    static WITH_WRONG_TILE:
    extends azulejo::x64::X64;
    groups = crate::wrong_tile;
}

mod wrong_fold {
    azulejo::tile! {
        pub group wrong_fold;

        lost_load: (add.i64 reg (load.i64 (addr reg $o))) -> reg, 1 => |cx, t| cx.mov(t.out(), t.reg(1)),
    }
}

azulejo::tileset! {
    static WITH_WRONG_FOLD:
    extends azulejo::x64::X64;
    groups = crate::wrong_fold;
}

static WRONG_RULES: [Matcher; 2] = [WRONG.matcher, MATCHERS[0]];

fn r<T: From<u32>>(register: u32) -> T {
    register.into()
}

/// A different function for each number.
fn program(number: i64) -> Vec<Op> {
    let mut code = vec![
        Op::Load { dst: r(1), value: Imm(number) },
        Op::Load { dst: r(3), value: Imm(1) },
        Op::Add { dst: r(2), a: r(2), b: r(1) },
        Op::Add { dst: r(1), a: r(1), b: r(3) },
        Op::JumpLess { a: r(1), b: r(0), to: Label(2) },
    ];
    match number {
        7 => code.push(Op::Mix { dst: r(2), a: r(2), b: r(1) }),
        9 => code.push(Op::Extra { dst: r(2), a: r(2) }),
        _ => {}
    }
    code.push(Op::Return { a: r(2) });
    code
}

/// The other tests run this one in a process of its own.
#[test]
fn program_with_a_fault() {
    let wrong = std::env::var("WRONG").unwrap_or_default();
    let builder = Engine::<Op>::builder();
    // SAFETY: the errors only change computed numbers. No template uses one as an address.
    let builder = unsafe {
        match wrong.as_str() {
            "rule" => builder.rules(&WRONG_RULES),
            "tile" => builder.tiles(&WITH_WRONG_TILE),
            "fold" => builder.tiles(&WITH_WRONG_FOLD),
            _ => builder,
        }
    };
    let engine: Engine<Op> = builder.build();
    for number in 0..12 {
        let name = format!("f{number}");
        let function = engine.define(name, program(number), 4).expect("it is right");
        let mut vm = Vm { first: 1, extra: 5 };
        let interpreted = engine.interpret::<_, i64>(function, &mut vm, (20i64,));
        engine.compile(function).expect("it compiles");
        assert_eq!(engine.call::<_, i64>(function, &mut vm, (20i64,)), interpreted, "f{number}");
    }
}

fn bisect(wrong: &str) -> (bool, String) {
    let this = std::env::current_exe().expect("it runs");
    let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(["bisect", "--timeout", "60", "--"])
        .arg(this)
        .args(["--exact", "program_with_a_fault"])
        .env("WRONG", wrong)
        .output()
        .expect("it starts");
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (output.status.success(), text)
}

/// One test runs them in sequence, since they write traces to the same folder.
#[test]
fn the_function_and_the_step_are_found() {
    let (found, text) = bisect("rule");
    assert!(found, "{text}");
    let last = text.lines().last().expect("it says something");
    assert!(last.starts_with("bisect: function 8 (optimizer f7), by `rewrite` in step "), "{text}");
    assert!(text.contains("first seen in `rewrite`:\n"), "{text}");
    let changed: Vec<&str> = text.lines().filter(|line| line.starts_with(['-', '+'])).collect();
    assert!(changed.iter().any(|line| line.starts_with('-') && line.contains("mul.i64")), "{text}");
    assert!(changed.iter().any(|line| line.starts_with('+') && line.contains("shl.i64")), "{text}");

    let (found, text) = bisect("tile");
    assert!(found, "{text}");
    let last = text.lines().last().expect("it says something");
    assert!(last.starts_with("bisect: function 8 (optimizer f7), no step that could be left out"), "{text}");

    let (found, text) = bisect("fold");
    assert!(found, "{text}");
    let last = text.lines().last().expect("it says something");
    assert!(last.starts_with("bisect: function 10 (optimizer f9), by `tile` in step "), "{text}");
    assert!(text.contains("first seen in `tile`:\n"), "{text}");
    assert!(text.lines().any(|line| line.starts_with('+') && line.contains("lost_load")), "{text}");

    let (found, text) = bisect("");
    assert!(!found && text.contains("the command does not fail"), "{text}");
}
