//! Each mistake in `tile!` and `tileset!` is reported on its token, with a suggestion.
#![cfg(target_arch = "x86_64")]

#[test]
fn mistakes_are_reported() {
    trybuild::TestCases::new().compile_fail("tests/ui/tile/*.rs");
}
