//! The error messages of the example's assembler.

use azulejo_explorer_test::pages;

#[test]
fn wrong_programs_are_told_where_and_what() {
    let cases = [
        ("", "line 1: there is no function; one starts with `function name(…)`"),
        ("  add a, b, c", "line 1: a program starts with `function name(…)`"),
        ("function f", "line 1: a function starts as in `function power(x, n)`"),
        ("function f(a, a)", "line 1: there is another parameter `a`"),
        ("function f()\n const x, 1\n\nfunction f()", "line 4: there is another function `f`"),
        ("function f(a)\n add b, a, c", "line 2: `c` has no value yet"),
        ("function f(a)\n mul b, a, 3", "line 2: `3` is a number, and a register is wanted"),
        ("function f(a)\n const b, x", "line 2: `x` is not a number that fits"),
        (
            "function f(a)\n add b, a",
            "line 2: `add` is missing an operand: `add register, register, register or number`",
        ),
        ("function f(a)\n return a, a", "line 2: `return` has too many operands: `return register`"),
        ("function f(a)\n jump on\n return a", "line 2: there is no label `on` in `f`"),
        ("function f(a)\nx: return a\nx: return a", "line 3: the label `x` is here twice"),
        ("function f(a)\n call b, g, a", "line 2: there is no function `g`"),
        ("function f(a)\n const 1b, 1", "line 2: `1b` is not a name"),
    ];
    for (program, expected) in cases {
        assert_eq!(pages::wrong(program), expected, "{program}");
    }
    let unknown = pages::wrong("function f(a)\n inc a");
    assert!(
        unknown.starts_with("line 2: there is no instruction `inc`; there are const move add"),
        "{unknown}"
    );
}
