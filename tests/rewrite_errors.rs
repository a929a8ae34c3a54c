//! Each mistake in `rewrite!` is reported on its token, with what to do about it.

#[test]
fn mistakes_are_reported() {
    trybuild::TestCases::new().compile_fail("tests/ui/rewrite/*.rs");
}
