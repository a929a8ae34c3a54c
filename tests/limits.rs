//! Limits on compilation, and the report of what was compiled.

#![cfg(all(target_arch = "x86_64", any(unix, windows)))]

use azulejo::Limits;
use azulejo::prelude::*;
use std::process::Command;

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(context = Vm)]
enum Op {
    Load { dst: Out<i64>, value: Imm<i64> },
    Add { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Mul { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Extra { dst: Out<i64>, a: In<i64> },
    JumpLess { a: In<i64>, b: In<i64>, to: Label },
    Return { a: In<i64> },
}

template! {
    Op::Load     => $value
    Op::Add      => (add $a $b)
    Op::Mul      => (mul $a $b)
    Op::Extra    => unsafe (add $a (load (addr (tc) (&offset_of Vm, extra)) i64))
    Op::JumpLess => (when (lt $a $b) (branch $to))
    Op::Return   => (return $a)
}

#[repr(C)]
struct Vm {
    extra: i64,
}

fn r<T: From<u32>>(register: u32) -> T {
    register.into()
}

/// Sums up the squares of all numbers below register 0, each computed twice, and the square of register 0 in each
/// iteration; then adds the last square and a number from the context.
fn squares() -> Vec<Op> {
    vec![
        Op::Load { dst: r(4), value: Imm(1) },
        Op::Mul { dst: r(3), a: r(1), b: r(1) },
        Op::Mul { dst: r(5), a: r(1), b: r(1) },
        Op::Add { dst: r(2), a: r(2), b: r(3) },
        Op::Mul { dst: r(3), a: r(0), b: r(0) },
        Op::Add { dst: r(2), a: r(2), b: r(3) },
        Op::Add { dst: r(1), a: r(1), b: r(4) },
        Op::JumpLess { a: r(1), b: r(0), to: Label(1) },
        Op::Add { dst: r(2), a: r(2), b: r(5) },
        Op::Extra { dst: r(2), a: r(2) },
        Op::Return { a: r(2) },
    ]
}

/// The result for ten.
const SUM: i64 = 285 + 10 * 100 + 81 + 7;

fn engine(limits: &str) -> Engine<Op> {
    Engine::<Op>::builder().limits(Limits::of(limits).expect("these are limits")).build()
}

#[test]
fn each_step_changes_the_code_and_none_the_result() {
    for pass in ["rewrite", "place", "tile", "allocate"] {
        let code = |steps: u32| {
            let engine = engine(&format!("{pass}={steps}"));
            let function = engine.define("squares", squares(), 6).expect("it is right");
            engine.compile(function).expect("it compiles");
            assert_eq!(
                engine.call::<_, i64>(function, &mut Vm { extra: 7 }, (10i64,)),
                Ok(SUM),
                "{pass}={steps}"
            );
            engine.disassemble(function).expect("it is compiled").bytes().to_vec()
        };
        let (none, all) = (code(0), code(u32::MAX));
        assert!(none != all, "{pass} does something");
        // No pass takes more steps than this for such a function.
        assert_eq!(code(100), all, "{pass}");
        (1..20).for_each(|steps| drop(code(steps)));
    }
}

#[test]
fn functions_beyond_the_limit_are_interpreted() {
    for only in [Tier::Baseline, Tier::Optimizer] {
        let limits = Limits::of("functions=2").expect("it is a limit");
        let engine: Engine<Op> = Engine::<Op>::builder().limits(limits).only(only).build();
        let functions =
            ["a", "b", "c", "d"].map(|name| engine.define(name, squares(), 6).expect("it is right"));
        for function in functions {
            assert_eq!(engine.call::<_, i64>(function, &mut Vm { extra: 7 }, (10i64,)), Ok(SUM));
        }
        assert_eq!(
            functions.map(|function| engine.tier(function)),
            [only, only, Tier::Interpreter, Tier::Interpreter]
        );
        assert_eq!(engine.compile_in(functions[3], only), Ok(()), "nobody is told");
        assert!(!engine.is_compiled(functions[3]));
        // Showing the stages of a function compiles it for that only.
        assert!(engine.stages(functions[3]).expect("it compiles").contains("== emit"));
    }
}

/// With a limit on functions, limits on steps apply to the last function.
#[test]
fn steps_are_limited_in_the_last_function() {
    let sizes = |limits: &str| {
        let engine = engine(limits);
        ["a", "b"].map(|name| {
            let function = engine.define(name, squares(), 6).expect("it is right");
            engine.compile(function).expect("it compiles");
            engine.code_len(function)
        })
    };
    let [usual, _] = sizes("");
    let [none, _] = sizes("allocate=0");
    assert!(none > usual);
    assert_eq!(sizes("allocate=0"), [none, none]);
    assert_eq!(sizes("functions=2,allocate=0"), [usual, none]);
    assert_eq!(sizes("functions=1, allocate=0"), [none, 0]);
}

/// [`a_report_names_each_function`] also runs this test, in a process of its own.
#[test]
fn compiles_three_times() {
    let engine = Engine::<Op>::new();
    for name in ["first", "second\n3 not a third"] {
        let function = engine.define(name, squares(), 6).expect("it is right");
        engine.compile(function).expect("it compiles");
        assert_eq!(engine.call::<_, i64>(function, &mut Vm { extra: 7 }, (10i64,)), Ok(SUM));
    }
    let third = engine.define("third", squares(), 6).expect("it is right");
    engine.compile_in(third, Tier::Baseline).expect("it compiles");
}

#[test]
fn a_report_names_each_function() {
    let report = std::env::temp_dir().join(format!("azulejo-report-{}", std::process::id()));
    let run = |limits: Option<&str>| {
        let _ = std::fs::remove_file(&report);
        let mut command = Command::new(std::env::current_exe().expect("it runs"));
        command.args(["--exact", "compiles_three_times", "--nocapture"]).env("JIT_LIMIT_REPORT", &report);
        limits.map(|limits| command.env("JIT_LIMIT", limits));
        let output = command.output().expect("it starts");
        assert!(output.status.success(), "{output:?}");
        let text = std::fs::read_to_string(&report).expect("it was written");
        std::fs::remove_file(&report).expect("it is there");
        (text, String::from_utf8(output.stderr).expect("it is text"))
    };
    let (text, _) = run(None);
    let lines: Vec<&str> = text.lines().collect();
    let heads: Vec<&str> = lines.iter().copied().filter(|line| !line.contains(" took ")).collect();
    assert_eq!(heads, ["1 optimizer first", "2 optimizer second 3 not a third", "3 baseline third"]);
    assert!(lines[1].starts_with("1 took renew=0 kinds=0 represent="), "{text}");
    let (text, _) = run(Some("functions=1,rewrite=0,allocate=2"));
    assert!(text.starts_with("1 optimizer first\n1 took renew=0 kinds=0 represent=0 rewrite=0 "), "{text}");
    assert!(text.ends_with(" allocate=2\n"), "{text}");
    let output = Command::new(std::env::current_exe().expect("it runs"))
        .args(["--exact", "compiles_three_times", "--nocapture"])
        .env("JIT_LIMIT", "functions=few")
        .output()
        .expect("it starts");
    let error = String::from_utf8(output.stderr).expect("it is text");
    assert!(
        error.starts_with("JIT_LIMIT: `functions=few` is no limit: write `functions=N`, or one of renew, "),
        "{error}"
    );
}
