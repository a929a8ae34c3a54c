//! The names that other languages use, and the placeholders in the checks of trapping operators.

use crate::words::did_you_mean;
use azulejo_core::vocab::{Sig, Type};

/// The names that other languages and compilers use for an operator.
const SYNONYMS: &[(&str, &[&str])] = &[
    ("branch", &["goto", "jump", "jmp", "br", "b"]),
    ("return", &["ret"]),
    ("when", &["cond"]),
    ("do", &["begin", "seq", "progn"]),
    ("copy", &["mov", "move"]),
    ("set", &["assign", "put"]),
    ("load", &["ldr", "deref", "peek"]),
    ("store", &["str", "poke"]),
    ("trap", &["panic", "abort", "throw"]),
    ("exit", &["deopt", "bail"]),
    ("guard", &["assert"]),
    ("div", &["sdiv"]),
    ("rem", &["srem", "mod"]),
    ("sar", &["asr", "ashr"]),
    ("shr", &["lsr", "lshr"]),
    ("shl", &["lsl"]),
    ("rotl", &["rol"]),
    ("rotr", &["ror"]),
    ("scast", &["sext", "sextend", "cast", "convert"]),
    ("ucast", &["zext", "uextend"]),
    ("bitcast", &["reinterpret", "transmute"]),
    ("stof", &["itof", "int_to_float"]),
    ("ftos_sat", &["ftoi", "float_to_int"]),
    ("zr", &["eqz"]),
    ("nz", &["nez"]),
];

/// What names say that other languages use for arithmetic which looks whether its result fits.
const CHECKED: [&str; 4] = ["checked", "overflow", "trap", "ovf"];

/// The operators that say whether a result fits, and those whose results they are of.
const OVERFLOWS: [(&str, &str); 3] = [("addo", "add"), ("subo", "sub"), ("mulo", "mul")];

/// A hint that starts with `; `: the name that this language uses for a synonym, or a known name close to the one written.
pub(super) fn meant<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> String {
    match SYNONYMS.iter().find(|(_, others)| others.contains(&word)) {
        Some((name, _)) => format!("; `{name}` is what it is called here"),
        None => overflows(word).unwrap_or_else(|| did_you_mean(word, names)),
    }
}

/// Such a hint for arithmetic that looks whether its result fits.
fn overflows(word: &str) -> Option<String> {
    let is_checked = CHECKED.iter().any(|mark| word.contains(mark));
    let (flag, operator) = OVERFLOWS.iter().find(|(_, operator)| is_checked && word.contains(operator))?;
    Some(format!(
        "; `({flag} a b)` says whether the result does not fit, and `({operator} a b)` wraps around"
    ))
}

/// Fills the numbers into the text of a check: the least integer, and the floats just outside the range of the result.
pub(super) fn fill(when: &str, sig: Sig) -> String {
    let mut text = when.to_string();
    if text.contains("%min") {
        text = text.replace("%min", &(i64::MIN >> (64 - sig.ty.bits())).to_string());
    }
    if text.contains("%below") {
        let (below, above) = limits(sig.from, sig.ty);
        text = text.replace("%below", &float(below)).replace("%above", &float(above));
    }
    if text.contains("%beyond") {
        text = text.replace("%beyond", &float(2f64.powi(sig.ty.bits() as i32)));
    }
    text
}

fn float(value: f64) -> String {
    let text = format!("{value:?}");
    if text.contains(['.', 'e']) { text } else { format!("{text}.0") }
}

/// The floats of one type that are nearest to the range of a signed integer type without being in it.
fn limits(from: Type, to: Type) -> (f64, f64) {
    let above = 2f64.powi(to.bits() as i32 - 1);
    let below = -above - 1.0;
    let below = match from {
        Type::F32 if below as f32 as f64 >= -above => (-above as f32).next_down() as f64,
        Type::F32 => below as f32 as f64,
        _ if below >= -above => (-above).next_down(),
        _ => below,
    };
    (below, above)
}

#[cfg(test)]
mod tests {
    use super::*;
    use azulejo_core::vocab::{Props, Vocabulary};

    #[test]
    fn synonyms_lead_to_operators_and_are_none() {
        let words: Vec<&str> = Vocabulary::BUILTIN
            .iter()
            .filter(|(_, info)| info.props.contains(Props::TEMPLATE))
            .map(|(_, info)| info.name)
            .collect();
        for (name, others) in SYNONYMS {
            assert!(words.contains(name), "{name}");
            assert!(others.iter().all(|other| !words.contains(other)), "{others:?}");
        }
    }
}
