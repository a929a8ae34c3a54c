//! Rows that make their bytecodes others.

use super::{Step, check, compiled, right};

#[test]
fn bytecodes_become_others_with_the_same_operands() {
    let written = "Add { dst: Out<u64>, a: In<u64>, b: In<u64> }";
    let row = "unsafe (dov (quicken Op::Same) (callv observes f (arglist)) (callv observes g (arglist)) (set $dst (add $a $b)))";
    let of = |row: &str| {
        let template = right(written.replace("Add", "Add!").as_str(), row).template;
        check(&template, 3);
        let quickens =
            template.steps.iter().filter(|step| matches!(step, Step::Quicken { opcode: 1 })).count();
        let calls: Vec<u32> = template
            .steps
            .iter()
            .filter_map(|step| if let Step::Show { call } = step { Some(*call) } else { None })
            .collect();
        (quickens, calls)
    };
    // It is the third opcode: no other one's calls have these numbers.
    assert_eq!(of(row), (1, vec![3 << 16, (3 << 16) + 1]));
    assert_eq!(of(&row.replace("(quicken Op::Same)", "")), (0, vec![0, 1]));
    for (row, message) in [
        (
            "(do (quicken Op::Nothing) 1)",
            "`Add` becomes an opcode with the same operands, and `Nothing` lacks `dst: Out<u64>` of `Add`",
        ),
        ("(do (quicken Op::Sane) 1)", "the enum has no opcode `Sane`; did you mean `Same`?"),
        ("(do (quicken Same) 1)", "an opcode of this enum is written `Op::Same`"),
        ("(do (quicken 3) 1)", "expected an opcode of this enum: `Op::Name`"),
        (
            "(do (quicken Op::Same Op::Same) 1)",
            "`quicken` takes the opcode that this bytecode becomes; here are 2",
        ),
    ] {
        let error = compiled(written, row).expect_err(row);
        assert!(error.message.ends_with(message) || error.message.contains(message), "{}", error.message);
    }
}
