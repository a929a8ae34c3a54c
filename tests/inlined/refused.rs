//! Calls that are not inlined though it is known which function they call: the reason is in the statistics, and in the text of the stages.

use super::*;

/// A function of so many bytecodes.
fn of_length(length: usize) -> (Vec<Op>, u32) {
    let mut code = vec![Op::AddK { dst: r(0), a: r(0), k: Imm(1) }; length - 1];
    code.push(Op::Return { a: r(0) });
    (code, 2)
}

/// A function that makes these calls, one after the other.
fn calls(calls: Vec<Op>) -> (Vec<Op>, u32) {
    ([calls, vec![Op::Return { a: r(0) }]].concat(), 2)
}

#[test]
fn what_is_not_inlined_has_a_reason() {
    if !can_compile() {
        return;
    }
    let one = vec![of_length(41), calls(vec![call_two(0)])];
    let fits = vec![of_length(40), calls(vec![call_two(0)])];
    let smaller_inside = vec![of_length(30), calls(vec![call_two(0)]), calls(vec![call_two(1)])];
    let many = vec![of_length(40), calls(vec![call_two(0); 8])];
    let next = |at: u32| calls(vec![call_two(at)]);
    let deep = vec![of_length(2), next(0), next(1), next(2), next(3), next(4)];
    let recursive = vec![calls(vec![call_two(0)])];
    let given = vec![(of_length(2).0, 1), calls(vec![call_two(0)])];
    // More arguments than are values are in memory.
    let run = Op::Call { dst: r(0), f: Imm(0), args: Regs { first: 0, count: 65 } };
    let framed = vec![of_length(2), (calls(vec![run]).0, 65), calls(vec![call_two(1)])];
    let cases = [
        (one, 0, vec![("too long", 1)]),
        (fits, 1, vec![]),
        (smaller_inside, 1, vec![("too long", 1)]),
        (many, 6, vec![("enough is inlined", 2)]),
        (deep, 4, vec![("too deep", 1)]),
        (recursive, 1, vec![("recursive", 1)]),
        (given, 0, vec![("its arguments do not fit", 1)]),
        (framed, 0, vec![("it needs a frame", 1)]),
    ];
    for (code, inlined, not_inlined) in cases {
        let program = Program::new(Way::Optimizer.builder(), &code);
        let last = *program.functions.last().expect("there are some");
        program.engine.compile(last).expect("it is compiled");
        let stats = program.engine.stats();
        let forms = stats.optimizer.compiled + stats.optimizer_for_calls.compiled;
        let of_all: Vec<_> = not_inlined.iter().map(|(reason, calls)| (*reason, calls * forms)).collect();
        assert_eq!((stats.inlined, &stats.not_inlined), (inlined * forms, &of_all), "{code:?}");
        let stages = program.engine.stages(last).expect("it compiles");
        let built = stages.split("\n== ").find(|stage| stage.starts_with("build")).expect("it was built");
        for (reason, calls) in not_inlined {
            let told = built.matches(&format!(" is not inlined: {reason}\n")).count();
            assert_eq!(told as u64, calls, "{built}");
        }
        assert_eq!(built.contains("is not inlined"), !of_all.is_empty(), "{built}");
    }
}
