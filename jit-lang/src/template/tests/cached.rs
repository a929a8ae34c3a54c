//! `cached`: the steps for each case, and the errors in wrong ones.

use super::super::ast::Leads;
use super::super::steps::{Imm, SiteOffset, Step, Template};
use super::{GET, check, compiled, operators, right};
use crate::token::text;
use azulejo_core::vocab::{Op, Type};

/// A value in the memory of a site, by its operand: the number of cases, or a field of the case of a number.
type OfSite = (usize, Option<(u16, String)>, Type);

/// The values in the memory of sites that a template reads.
fn site_values(template: &Template) -> Vec<OfSite> {
    let values = template.steps.iter().filter_map(|step| match step {
        Step::SiteValue { operand, offset: SiteOffset::Count, ty, .. } => Some((*operand, None, *ty)),
        Step::SiteValue { operand, offset: SiteOffset::Field { number, case, field }, ty, .. } => {
            assert_eq!(text(case), "Field");
            Some((*operand, Some((*number, text(field))), *ty))
        }
        _ => None,
    });
    values.collect()
}

#[test]
fn a_body_stands_there_once_for_each_case() {
    let row = "unsafe (cached $cache Field (eq $shape (case shape))
        (let: (($place (add $t (scast (case offset) i64)))) (load $place u64))
        (slow get (arglist (carg (tc) ptr) (carg $cache ptr)) u64))";
    let get = right(GET, row);
    let of_case = |number| {
        let field = |name: &str| Some((number, name.to_string()));
        [(3, None, Type::I32), (3, field("shape"), Type::I32), (3, field("offset"), Type::I16)]
    };
    assert_eq!(site_values(&get.template), [of_case(0), of_case(1), of_case(2)].concat());
    let ops = operators(&get.template);
    for (op, times) in [(Op::UGT, 3), (Op::EQ, 3), (Op::LOAD, 3), (Op::TC, 1)] {
        assert_eq!(ops.iter().filter(|other| **other == op).count(), times, "{op:?}");
    }
    // Which case there is, in the order of the cases: an unsigned comparison with its number.
    let numbers = get.template.steps.windows(3).filter_map(|steps| match steps {
        [
            Step::SiteValue { offset: SiteOffset::Count, .. },
            Step::Node { op: Op::CONST, imm: Imm::Known(number), .. },
            Step::Node { op: Op::UGT, sig, inputs, .. },
        ] => {
            assert_eq!((inputs[1], sig.from), (inputs[0] + 1, Type::I32));
            Some(*number)
        }
        _ => None,
    });
    assert_eq!(numbers.collect::<Vec<_>>(), [0, 1, 2]);
    let joins = |step: &&Step| matches!(step, Step::Block { params, .. } if params[..] == [Type::I64]);
    assert_eq!(get.template.steps.iter().filter(joins).count(), 1);
    assert_eq!(get.template.steps.iter().filter(|step| matches!(step, Step::Slow)).count(), 1);
    assert_eq!(get.natives[0].args[1].leads, Leads::Site(3));
    check(&get.template, 4);
}

#[test]
fn marks_and_names_of_the_copies_are_apart() {
    let written = "Go! { dst: InOut<i64>, t: In<u64>, shape: In<u32>, cache: Site<2> }";
    let row = "(cachedv $cache Field (all (eq $shape (case shape)) (gt (case scale) 0.5))
        (letv: (($step (case offset))) (mark again) (set $dst (sub $dst $step)) (when (gt $dst 0) (branch (label again))))
        (trap 1))";
    let go = right(written, row).template;
    check(&go, 4);
    let backward = go.steps.iter().enumerate().filter(|(at, step)| {
        let starts = |block: &u16| {
            go.steps[..*at]
                .iter()
                .any(|step| matches!(step, Step::Block { block: other, .. } if other == block))
        };
        matches!(step, Step::Jump { block, .. } if starts(block))
    });
    assert_eq!(backward.count(), 2, "each loop goes back to its own start");
    // A flag is decided where it is, and made a number where it is a value.
    let known = "Known { dst: Out<u8>, shape: In<u32>, cache: Site<2> }";
    let flag = "(cached $cache Field (eq $shape (case shape)) (nz (case offset)) (lt $shape 9))";
    let constants = |row: &str| {
        let template = right(known, row).template;
        check(&template, 3);
        operators(&template).iter().filter(|op| **op == Op::CONST).count()
    };
    let [decided, number] = ["(if {} 5 6)", "(flagval {} u8)"].map(|row| constants(&row.replace("{}", flag)));
    assert_eq!(decided, number, "there is no number in between");
    // Of two sites, one inside of the other: the case at hand is the innermost, and the outer one's again where that has none.
    let two = "Two { dst: Out<i64>, shape: In<u32>, a: Site<2>, b: Site<3> }";
    let row = "(cached $a Field (eq $shape (case shape))
        (cached $b Field (ne (case offset) 0) (const 1 i64) (scast (case offset) i64)) (const 2 i64))";
    let nested = right(two, row).template;
    check(&nested, 4);
    let of =
        |operand| site_values(&nested).iter().filter(|value| value.0 == operand && value.1.is_some()).count();
    assert_eq!((of(2), of(3)), (2 + 2, 2 * 3));
}

#[test]
fn what_is_learned_on_slow_paths_only_is_known() {
    let learns_slowly = |row: &str| {
        let template = right(GET, row).template;
        let mut values = template.steps.iter().filter_map(|step| match step {
            Step::SiteValue { learns_slowly, .. } => Some(*learns_slowly),
            _ => None,
        });
        let first = values.next().expect("there is a site");
        assert!(values.all(|other| other == first));
        first
    };
    let get = |otherwise: &str| format!("(cached $cache Field (eq $shape (case shape)) 1 {otherwise})");
    assert!(learns_slowly(&get("(slow get (arglist (carg $cache ptr)) u64)")));
    assert!(learns_slowly(&get("(add 1 (slow (add 2 (call get (arglist (carg $cache ptr)) u64))))")));
    assert!(learns_slowly(&get("2")));
    assert!(!learns_slowly(&get("(call get (arglist (carg $cache ptr)) u64)")));
    assert!(!learns_slowly(&get(
        "(do (discard (slow get (arglist (carg $cache ptr)) u64)) (call get (arglist (carg $cache ptr)) u64))"
    )));
}

#[test]
fn a_site_says_whether_it_is_full() {
    let row = "(if (full $cache) 1 (slow get (arglist (carg $cache ptr)) u64))";
    let get = right(GET, row).template;
    check(&get, 4);
    let offsets: Vec<_> = get
        .steps
        .iter()
        .filter_map(|step| match step {
            Step::SiteValue { operand: 3, offset, ty: Type::I32, .. } => {
                Some(matches!(offset, SiteOffset::Limit))
            }
            _ => None,
        })
        .collect();
    assert_eq!(offsets, [false, true], "its count is compared with its limit");
    let Err(error) = compiled(GET, "(if (full $t) 1 2)") else { panic!("`$t` is no site") };
    assert!(error.message.starts_with("expected a `Site` operand"), "{}", error.message);
}

#[test]
fn mistakes_about_sites_are_told() {
    let cases = [
        ("(cached $t Field (eq $shape (case shape)) $t 1)", "$t Field", "expected a `Site` operand"),
        (
            "(cached $cache Felid (eq $shape (case shape)) $t 1)",
            "Felid",
            "`Felid` is not asked for its fields",
        ),
        (
            "(cached $cache Field (eq $shape (case shap)) $t 1)",
            "shap)",
            "`Field` has no field `shap`; did you mean",
        ),
        ("(cached $cache Field (eq $shape (case name)) $t 1)", "name", "`name` is `String`"),
        ("(cached $cache Field (nz $t) $t (case offset))", "(case", "no case is at hand"),
        ("(add $cache 1)", "$cache", "`$cache` is a site, no value"),
        ("(call f (arglist (carg $cache i64)) u64)", "i64", "a site is passed as `ptr`"),
        ("(call pure f (arglist (carg $cache ptr)) u64)", "$cache", "a pure function only computes"),
        ("(call \"C\" f (arglist (carg $cache ptr)) u64)", "$cache", "a function takes the `Cases`"),
        (
            "(do (discard (call f (arglist (carg $cache ptr)) u64)) (cached $cache Field (nz $t) 1 (slow 2)))",
            "(slow",
            "a slow path",
        ),
    ];
    for (row, wrong, message) in cases {
        let Err(error) = compiled(GET, row) else { panic!("{row} has a mistake") };
        assert!(error.message.starts_with(message), "{row}: {}", error.message);
        assert!(row[error.place.first as usize..].starts_with(wrong), "{row}: {}", error.message);
    }
    let each = |inner: &str| format!("(cached $cache Field (eq $shape (case shape)) {inner} {inner})");
    let most = "Most { dst: Out<u64>, shape: In<u32>, cache: Site<16> }";
    check(&right(most, &each(&each("1"))).template, 3);
    let error = compiled(most, &each(&each(&each(&each("1"))))).expect_err("nobody needs so many steps");
    assert!(error.message.starts_with("`Most` becomes too long"), "{}", error.message);
}
