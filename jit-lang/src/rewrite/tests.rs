//! Rules lexed from text: their compiled form, and the errors in wrong ones.

use super::{Dispatch, Rule, check, dispatch, parse};
use crate::place::Errors;
use crate::token::lex;
use azulejo_core::vocab::{Op, Type};

/// Compiles the rules of a text. Returns the rules, and each error with its offset in the text.
fn rules(text: &str) -> (Vec<Rule>, Vec<(u32, String)>) {
    let tokens = lex(text).unwrap_or_else(|error| panic!("{text}: {}", error.message));
    let (rules, unread) = parse(tokens);
    let mut errors = Errors(unread.into_iter().collect());
    let rows = rules.map_or_else(Vec::new, |rules| rules.rows);
    let checked = rows.iter().filter_map(|row| check(row, &mut errors)).collect();
    (checked, errors.0.into_iter().map(|error| (error.place.first, error.message)).collect())
}

fn right(text: &str) -> Vec<Rule> {
    let (rules, errors) = rules(&format!("static SOME; {text}"));
    assert_eq!(errors, [], "{text}");
    rules
}

#[test]
fn a_rule_holds_for_the_types_on_which_both_sides_mean_something() {
    let types = |text: &str| -> Vec<Type> {
        let rule = right(text).remove(0);
        rule.assignments.iter().map(|types| types[rule.leaves[0]]).collect()
    };
    assert_eq!(types("(xor.$t:int (xor $x $y) $y) => $x"), Type::INTS);
    assert_eq!(types("(add.$t:float $x $y) => (add $y $x)"), Type::FLOATS);
    // A division traps if its divisor may be zero, and a right side must not trap.
    let (_, errors) = rules("static SOME; (mul.i64 $x $y) => (div $x $y)");
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!(types("(add.i8|i64 $x (neg $y)) => (sub $x $y)"), [Type::I8, Type::I64]);
}

#[test]
fn operands_that_commute_are_swapped_where_that_matches_something_else() {
    let forms = |text: &str| right(text)[0].forms.len();
    assert_eq!(forms("(add.$t:int $x $y) => (add $y $x)"), 1, "two leaves are any two");
    assert_eq!(forms("(xor.$t:int (xor $x $y) $y) => $x"), 4);
    assert_eq!(forms("(add.$t:int $x (const 0)) => $x"), 1, "constants stand on the right");
    assert_eq!(forms("(sub.$t:int (sub $x $y) $y) => $x"), 1);
}

#[test]
fn a_tree_tries_each_form_at_the_nodes_that_it_fits_and_in_order() {
    let rules = right(
        "(add.$t:int $x (const 0)) => $x
         (add.$t:int (neg $x) $y) => (sub $y $x)
         (add.$t:int $x $y) => (add $y $x)
         (sub.$t:int $x $x) => (const 0)",
    );
    let trees = dispatch(&rules);
    assert_eq!(trees.iter().map(|(op, _)| *op).collect::<Vec<_>>(), [Op::ADD, Op::SUB]);
    let tried = |operators: [Op; 2]| {
        let mut at = &trees[0].1;
        loop {
            match at {
                Dispatch::Try(forms) => return forms.iter().map(|(rule, _)| *rule).collect::<Vec<_>>(),
                Dispatch::Branch { operand, arms, otherwise } => {
                    let arm = arms.iter().find(|(op, _)| *op == operators[*operand]);
                    at = arm.map_or(otherwise, |(_, rest)| rest);
                }
            }
        }
    };
    assert_eq!(tried([Op::MUL, Op::MUL]), [2]);
    assert_eq!(tried([Op::MUL, Op::CONST]), [0, 2]);
    assert_eq!(tried([Op::MUL, Op::NEG]), [1, 2], "operands that commute are looked at on both sides");
    assert_eq!(tried([Op::NEG, Op::CONST]), [0, 1, 2]);
}

#[test]
fn mistakes_are_told_where_they_are() {
    let cases = [
        ("(ad.i64 $x $y) => $x", "ad.", "there is no operator `ad` in graphs; did you mean `add`?"),
        ("(add.i64 $x $y) => $z", "z", "the pattern has no `$z`"),
        ("(add.i65 $x $y) => $x", "i65", "there is no type `i65`;"),
        ("(add.i64 $x (const $c:one_)) => $x", "one_", "there is no predicate `one_`;"),
        ("(add.i64 $x 1) => $x", "1)", "a number is a constant: write `(const …)`"),
        ("$x => $x", "x =>", "a rule begins with `(operator …)`"),
        ("(add.i64 $x \"x\") => $x", "\"x", "expected a number, found `\"x\"`"),
        ("(add.i64 $x $y) $x", "$x", "expected `=`, found `$`"),
    ];
    let head = "static SOME; ";
    for (text, wrong, message) in cases {
        let (_, errors) = rules(&format!("{head}{text}"));
        let [(place, found)] = &errors[..] else { panic!("{text}: {errors:?}") };
        assert!(found.starts_with(message), "{text}: {found}");
        assert!(text[*place as usize - head.len()..].starts_with(wrong), "{text}: {found}");
    }
}
