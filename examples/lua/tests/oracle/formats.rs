//! `string.format` with random flags, widths, precisions and letters.

use crate::random::Random;
use crate::{Cases, Outcome, Value, exactly, literal};
use azulejo_lua::strings::{Spec, put_literal};

/// What the crate makes of a format in which all items take the same arguments.
fn format(format: &[u8], number: f64, text: &[u8]) -> Outcome {
    let (mut out, mut at) = (Vec::new(), 0);
    while let Some(item) = put_literal(format, at, &mut out) {
        let (spec, end) = Spec::parse(format, item).map_err(|error| error.text())?;
        match spec.takes_number() {
            true => spec.put_number(number, &mut out),
            false => spec.put_text(text, &mut out),
        }
        at = end;
    }
    Ok(vec![Value::Text(out)])
}

fn item(random: &mut Random, letters: &[u8]) -> Vec<u8> {
    let mut item = b"%".to_vec();
    item.extend(random.text(b"-+ #0", 5));
    let n_more = 2 * usize::from(random.one_in(20));
    if random.one_in(2) {
        item.extend(random.text(b"0123456789", 3 + n_more));
    }
    if random.one_in(2) {
        item.push(b'.');
        item.extend(random.text(b"0123456789", 3 + n_more));
    }
    item.push(random.pick(letters));
    item
}

/// Whether glibc may forget the zeros that `%#g` is to keep: it does when rounding leads to the first number with an exponent,
/// and writes 99.99 as `1.e+02` with `%#.2g`. The crate writes what the standard says.
fn is_lost(item: &[u8], number: f64) -> bool {
    let starts_with_nine = format!("{:e}", number.abs()).starts_with('9');
    item.contains(&b'#') && matches!(item, [.., b'g' | b'G']) && starts_with_nine
}

#[test]
fn numbers_are_formatted_the_same() {
    let (mut random, mut cases) = (Random::new(3), Cases::default());
    for _ in 0..30_000 {
        let item = item(&mut random, b"diucxXoeEfgG");
        let text = [random.text(b"a%", 2).repeat(2), item.clone(), b"!".to_vec()].concat();
        let number = random.number();
        if !is_lost(&item, number) {
            cases.add("string.format", &[literal(&text), exactly(number)], format(&text, number, b""));
        }
    }
    cases.run();
}

#[test]
fn texts_are_formatted_the_same() {
    let (mut random, mut cases) = (Random::new(4), Cases::default());
    for _ in 0..5_000 {
        let limit = random.pick(&[5, 12, 210]);
        let text = random.text(b"abc\0\"\\\n\r\t\xff", limit);
        let format_text = [b"<".to_vec(), item(&mut random, b"sq"), b"%%>".to_vec()].concat();
        cases.add(
            "string.format",
            &[literal(&format_text), literal(&text)],
            format(&format_text, 0.0, &text),
        );
    }
    cases.run();
}

#[test]
fn wrong_formats_fail_the_same() {
    let (mut random, mut cases) = (Random::new(5), Cases::default());
    for _ in 0..5_000 {
        let mut text = random.text(b"%%%dsqaAlLhnp0129.-+ #\0\xe4", 12);
        if random.one_in(2) {
            text = [b"%".to_vec(), text].concat();
        }
        // A text that is a number, so that all items take it.
        let arguments = [vec![literal(&text)], vec!["\"7\"".to_string(); 12]].concat();
        cases.add("string.format", &arguments, format(&text, 7.0, b"7"));
    }
    cases.run();
}
