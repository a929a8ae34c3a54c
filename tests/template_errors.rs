//! Each mistake in templates, opcode enums, calls and rows of operators is reported on its token, with a suggestion.

#[test]
fn mistakes_in_templates() {
    trybuild::TestCases::new().compile_fail("tests/ui/template/*.rs");
}

#[test]
fn mistakes_in_enums() {
    trybuild::TestCases::new().compile_fail("tests/ui/bytecode/*.rs");
}

#[test]
fn mistakes_in_operators() {
    trybuild::TestCases::new().compile_fail("tests/ui/operators/*.rs");
}

#[test]
fn mistakes_in_calls() {
    trybuild::TestCases::new().compile_fail("tests/ui/engine/*.rs");
}
