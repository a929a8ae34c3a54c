//! Each mistake in `rewrite!` is reported on its token, with a suggestion.

#[test]
fn mistakes_are_reported() {
    trybuild::TestCases::new().compile_fail("tests/ui/rewrite/*.rs");
}
