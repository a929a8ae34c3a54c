//! Numbers: `tonumber` with and without base, and `tostring`.

use crate::random::Random;
use crate::{Cases, Value, exactly, literal};
use azulejo_lua::number;

/// What texts of numbers start as, before they are changed.
const TEXTS: [&str; 26] = [
    "0",
    "1",
    "-1.5e3",
    "0x1f",
    "0X.8p-3",
    "inf",
    "-Infinity",
    "nan",
    "nan(x1_)",
    "1e308",
    "4.9e-324",
    "2.2250738585072011e-308",
    "0x1.fffffffffffff8p1023",
    "0x0.00000000000008p-1022",
    "0x1.8p-1075",
    "0x1.00000000000000001p-1075",
    "0x123456789abcdef01",
    "9007199254740993",
    "123456789012345678901234567890",
    "ffffffffffffffff",
    "zz",
    "18446744073709551616",
    "1777777777777777777777",
    "0b101",
    " \t+7\n\x0b\r\x0c",
    "1e+99999999999999999999",
];

fn text(random: &mut Random) -> Vec<u8> {
    const ALPHABET: &[u8] = b"0123456789abcdefzxXpPeE+-. \tinfNATy()_\0\xb2";
    let mut text = match random.below(8) {
        0 => format!("{}{}", ["", "-0x", "0x"][random.below(3)], random.bits()).into_bytes(),
        1 => format!("0x{:x}.{:x}p{}", random.bits(), random.bits(), random.below(2300) as i32 - 1200)
            .into_bytes(),
        2 => format!("{:e}", f64::from_bits(random.bits())).into_bytes(),
        3 => format!("{}.{}e{}", random.bits(), random.bits(), random.below(700) as i32 - 360).into_bytes(),
        _ => random.pick(&TEXTS).as_bytes().to_vec(),
    };
    for _ in 0..random.below(4) {
        let at = random.below(text.len() + 1);
        let byte = random.pick(ALPHABET);
        match random.below(3) {
            0 => text.insert(at, byte),
            1 if at < text.len() => text[at] = byte,
            2 if at < text.len() => drop(text.remove(at)),
            _ => {}
        }
    }
    text
}

#[test]
fn texts_are_the_same_numbers() {
    let (mut random, mut cases) = (Random::new(1), Cases::default());
    for _ in 0..12_000 {
        let text = text(&mut random);
        cases.add("tonumber", &[literal(&text)], Ok(vec![number::parse(&text).into()]));
        let base = random.pick(&[2, 3, 8, 10, 16, 16, 36]);
        let value = number::parse_in_base(&text, base);
        cases.add("tonumber", &[literal(&text), base.to_string()], Ok(vec![value.into()]));
    }
    cases.run();
}

#[test]
fn numbers_have_the_same_texts() {
    let (mut random, mut cases) = (Random::new(2), Cases::default());
    for _ in 0..20_000 {
        let value = random.number();
        let mut out = Vec::new();
        number::write(value, &mut out);
        cases.add("tostring", &[exactly(value)], Ok(vec![Value::Text(out)]));
    }
    cases.run();
}
