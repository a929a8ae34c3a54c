//! The text form of tile lists, and refusals.

use azulejo_core::text::{parse, print};
use azulejo_core::vocab::Vocabulary;

const TILES: &str = "\
out_args 2 calls
r0 i64
r1 i64 -7
r2 f64 0.5
r3 i32
r4 i64
l0 in -
b0:
    0: t3.void.i64 def:r0%x7
    1: t4.void.i64 early:r1 ; v3 @9
    2: t9.void.i64 def:r4/1 r0 late:r1? r2[1] temp:r3 1 -4 clobbers x0 x1 f2 ; v5
    3: t7.void.void r4
    -> b1 (r0 r1)
    -> b2
b1 in l0 cold (r3 r4):
    4: t1.i64.void r3
b2:
    5: t1.i64.void r4
";

#[test]
fn tile_lists_read_back() {
    let list = parse::tiles(TILES, parse::KnownNames::NUMBERS).expect("it is well written");
    assert_eq!(print::tiles(&list, print::Names::NUMBERS), TILES);
    assert_eq!((list.blocks.len(), list.insts.len(), list.operands.len()), (3, 6, 10));
    assert_eq!(list.edges(&list.blocks[0]).len(), 2);
}

/// Numbers of instructions may be left out, and are refused if they are wrong.
#[test]
fn instructions_count_from_zero() {
    let without: String = TILES
        .lines()
        .map(|line| match line.split_once(": t") {
            Some((_, rest)) => format!("    t{rest}\n"),
            None => format!("{line}\n"),
        })
        .collect();
    assert!(!without.contains("2: t9"));
    let list = parse::tiles(&without, parse::KnownNames::NUMBERS).expect("it is well written");
    assert_eq!(print::tiles(&list, print::Names::NUMBERS), TILES);
    let wrong = TILES.replace("2: t9", "3: t9");
    let error = parse::tiles(&wrong, parse::KnownNames::NUMBERS).expect_err("there is no 2");
    assert_eq!((error.line, error.message.as_str()), (11, "expected `2:`, found `3:`"));
}

/// Each text has one mistake, in its last line, and the message names the mistake.
#[test]
fn mistakes_have_a_line() {
    for (text, message) in [
        ("v0 = local", "a node stands before the first block"),
        ("b0:\n v0 = locale", "there is no operator `locale`"),
        ("b0:\n v0 = add v1 v2", "`add` needs other types than `add` gives it"),
        ("b0:\n v0 = add.i65 v1 v2", "expected a type, found `i65`"),
        ("b0:\n local", "`local` of this type has a value"),
        ("b0:\n v0 = local 3", "did not expect `3`"),
        ("b0:\n v0 = const.i8 x", "expected a constant of type i8, found `x`"),
        ("b0:\n v0 = local\n v0 = tc", "v0 is defined a second time"),
        ("b0:\n ret\n ret", "the block has ended"),
        ("b0:\n ret\nb0:", "b0 stands here a second time"),
        ("b0:\n jump b7", "b0 goes to b7, which is nowhere"),
        ("b0:\n v4000000000 = local", "`v4000000000` is a greater number than 1048576"),
        ("b0:\n return.i64 v9", "v9 is used and nowhere defined"),
    ] {
        let error = parse::graph(Vocabulary::BUILTIN, text).expect_err(text);
        assert_eq!((error.line, error.message.as_str()), (text.lines().count(), message));
    }
}
