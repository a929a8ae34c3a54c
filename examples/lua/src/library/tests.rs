//! Runs expressions with the library.

use crate::number;
use crate::object::value::{Type, Value};
use crate::run::vm::{Tiers, Vm};

/// What the program may use beside the library.
const PRELUDE: &str =
    "local function unpack_(t, i) i = i or 1 if t[i] ~= nil then return t[i], unpack_(t, i + 1) end end ";

/// A value as the tests write it.
fn shown(value: &Value) -> String {
    match value.type_of() {
        Type::Number => {
            let mut out = Vec::new();
            number::write(value.as_number().expect("it is a number"), &mut out);
            out.escape_ascii().to_string()
        }
        Type::String => format!("'{}'", value.as_string().expect("it is a string").bytes().escape_ascii()),
        Type::Nil | Type::Boolean => format!("{value:?}"),
        other => other.name().to_string(),
    }
}

/// What a program gives, or the error's message.
fn run(source: &str) -> Result<String, String> {
    let mut vm = Vm::new(Tiers::default());
    vm.open();
    let source = format!("{PRELUDE}{source}");
    let closure = match vm.load(source.as_bytes(), b"=test") {
        Ok(closure) => closure,
        Err(error) => panic!("{source}\n{}", String::from_utf8_lossy(&error.text(b"=test"))),
    };
    let text = |values: Vec<Value>| values.iter().map(shown).collect::<Vec<_>>().join(" ");
    vm.call(closure, &[]).map(text).map_err(|error| match error.as_string() {
        Some(message) => String::from_utf8_lossy(message.bytes()).into_owned(),
        None => shown(&error),
    })
}

/// Compares what expressions give, or their error without its position.
pub(crate) fn check(expressions: &str, expected: &str) {
    let actual = run(&format!("return {expressions}"))
        .unwrap_or_else(|error| format!("error: {}", error.strip_prefix("test:1: ").unwrap_or(&error)));
    assert_eq!(actual, expected, "{expressions}");
}

/// Compares the error of an expression, which is to say where it is.
pub(crate) fn check_error(expression: &str, expected: &str) {
    let expected = format!("test:1: {expected}");
    assert_eq!(run(&format!("return {expression}")), Err(expected), "{expression}");
}

/// The error of a program.
pub(crate) fn error_of(source: &str) -> String {
    run(source).expect_err("it fails")
}
