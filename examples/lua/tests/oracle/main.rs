//! Compares numbers and strings with the C implementation, which decides what is right.
//!
//! In: random numbers, texts, patterns and formats. Each test makes one program of many calls, runs it in `lua5.1`, and compares
//! what it prints with what the crate says, byte for byte. Where that program is not installed nothing is compared, and the test
//! says so. `LUA_ORACLE_SEED` is a number that makes other cases.

mod formats;
mod numbers;
mod patterns;
mod random;

use std::io::{ErrorKind, Write};
use std::process::{Command, Stdio};

/// What programs start with: `show` prints what a call gave, each text with its length in front.
const PRELUDE: &str = r##"
local function show(ok, ...)
  io.write(ok and "+" or "-")
  for i = 1, select("#", ...) do
    local value = select(i, ...)
    -- An error says where the program was.
    if not ok then value = string.gsub(value, "^stdin:%d+: ", "") end
    if type(value) == "string" then io.write(#value, ":", value)
    elseif type(value) == "number" then io.write(string.format("%.17g", value))
    else io.write(tostring(value)) end
    io.write(",")
  end
  io.write("\n")
end
local function all(subject, pattern)
  local values = {}
  for a, b in string.gmatch(subject, pattern) do values[#values + 1] = a; values[#values + 1] = b or false end
  return unpack(values)
end
local N = tonumber;
"##;

/// A value that a call gives.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Text(Vec<u8>),
    Number(f64),
    Nil,
    False,
}

impl From<Option<f64>> for Value {
    fn from(number: Option<f64>) -> Value {
        number.map_or(Value::Nil, Value::Number)
    }
}

/// The values of a call, or its error.
pub(crate) type Outcome = Result<Vec<Value>, Vec<u8>>;

/// Calls of the C implementation, and what the crate says to each.
#[derive(Default)]
struct Cases {
    program: String,
    calls: Vec<(String, Vec<u8>)>,
}

impl Cases {
    /// Adds a call of a function with arguments, as text of the language.
    fn add(&mut self, function: &str, arguments: &[String], outcome: Outcome) {
        let call = format!("show(pcall({}))", [&[function.to_string()], arguments].concat().join(", "));
        // A function has a limited number of constants.
        if self.calls.len().is_multiple_of(1000) {
            self.program += if self.calls.is_empty() { "(function()\n" } else { "end)();\n(function()\n" };
        }
        self.program += &call;
        self.program += "\n";
        self.calls.push((call, printed(outcome)));
    }

    /// Runs all calls, and compares.
    fn run(&self) {
        let program = format!("{PRELUDE}{}end)();\n", self.program);
        let child = Command::new("lua5.1").arg("-").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = match child {
            Ok(child) => child,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                eprintln!("lua5.1 is not installed: nothing was compared");
                return;
            }
            Err(error) => panic!("lua5.1 does not start: {error}"),
        };
        // All of the program is read before any of it runs.
        child.stdin.take().expect("a pipe").write_all(program.as_bytes()).expect("the program is read");
        let output = child.wait_with_output().expect("the program ends");
        assert!(output.status.success(), "the program fails");
        let mut rest = &output.stdout[..];
        for (call, expected) in &self.calls {
            let Some(behind) = rest.strip_prefix(&expected[..]) else {
                let actual = &rest[..rest.len().min(expected.len() + 80)];
                panic!(
                    "{call}\nshould give {}\nbut gives   {}",
                    actual.escape_ascii(),
                    expected.escape_ascii()
                );
            };
            rest = behind;
        }
        assert!(rest.is_empty(), "the program printed more");
    }
}

/// What `show` prints.
fn printed(outcome: Outcome) -> Vec<u8> {
    let (sign, values) = match outcome {
        Ok(values) => (b'+', values),
        Err(error) => (b'-', vec![Value::Text(error)]),
    };
    let mut out = vec![sign];
    for value in values {
        match value {
            Value::Text(text) => {
                out.extend(format!("{}:", text.len()).bytes());
                out.extend(text);
            }
            Value::Number(number) => {
                let (spec, _) = azulejo_lua::strings::Spec::parse(b".17g", 0).expect("a right format");
                spec.put_number(number, &mut out);
            }
            Value::Nil => out.extend(b"nil"),
            Value::False => out.extend(b"false"),
        }
        out.push(b',');
    }
    out.push(b'\n');
    out
}

/// A text as a literal.
fn literal(text: &[u8]) -> String {
    let escaped: Vec<String> = text.iter().map(|byte| format!("\\{byte:03}")).collect();
    format!("\"{}\"", escaped.concat())
}

/// A number as an expression that gives exactly this number.
fn exactly(number: f64) -> String {
    let sign = if number.is_sign_negative() { "-" } else { "" };
    if !number.is_finite() {
        return format!("N(\"{sign}{}\")", if number.is_nan() { "nan" } else { "inf" });
    }
    let (exponent, mantissa) = (number.to_bits() >> 52 & 0x7ff, number.to_bits() & ((1 << 52) - 1));
    match exponent {
        0 => format!("N(\"{sign}0x{mantissa:x}p-1074\")"),
        _ => format!("N(\"{sign}0x{:x}p{}\")", mantissa | 1 << 52, exponent as i64 - 1075),
    }
}
