//! Compares the library with the C implementation, which decides what is right.
//!
//! In: expressions, some written by hand, most made at random. Out: nothing, if `lua5.1` and this crate give the same values or the same
//! error to each, byte for byte. `bit` is compared with `luajit`. Where these are not installed nothing is compared, and the test says so.
//! `LUA_ORACLE_SEED` is a number that makes other random expressions.

mod calls;
#[path = "../oracle/random.rs"]
mod random;

use azulejo_lua::object::value::{Type, Value};
use azulejo_lua::run::vm::{Tiers, Vm};
use azulejo_lua::strings::Spec;
use std::io::{ErrorKind, Write};
use std::process::{Command, Stdio};

/// What the other program starts with: `show` prints what an expression gave, each text with its length in front.
const PRELUDE: &str = r##"
local function show(ok, ...)
  io.write(ok and "+" or "-")
  for i = 1, select("#", ...) do
    local value = select(i, ...)
    if type(value) == "string" then io.write(#value, ":", value)
    elseif type(value) == "number" then io.write(string.format("%.17g", value))
    elseif type(value) == "boolean" then io.write(tostring(value))
    else io.write(type(value)) end
    io.write(",")
  end
  io.write("\n\1\n")
end
local output, input = io.output(), io.input()
local function run(text)
  show(pcall(assert(loadstring("return " .. text, "=test"))))
  io.output(output) io.input(input)
end
"##;

/// What this crate gives, printed as `show` does.
fn printed(vm: &mut Vm, expression: &str) -> Vec<u8> {
    let source = format!("return {expression}");
    let closure = match vm.load(source.as_bytes(), b"=test") {
        Ok(closure) => closure,
        Err(error) => panic!("{expression}: {}", String::from_utf8_lossy(&error.text(b"=test"))),
    };
    let (mut out, values) = match vm.call(closure, &[]) {
        Ok(values) => (b"+".to_vec(), values),
        Err(error) => (b"-".to_vec(), vec![error]),
    };
    for value in values {
        match value.type_of() {
            Type::String => {
                let text = value.as_string().expect("it is a string");
                out.extend(format!("{}:", text.len()).bytes());
                out.extend(text.bytes());
            }
            Type::Number => {
                let (spec, _) = Spec::parse(b".17g", 0).expect("a right format");
                spec.put_number(value.as_number().expect("it is a number"), &mut out);
            }
            Type::Boolean => out.extend(if value == Value::TRUE { &b"true"[..] } else { b"false" }),
            other => out.extend(other.name().bytes()),
        }
        out.push(b',');
    }
    out.extend(END);
    out
}

/// What is behind each outcome.
const END: &[u8] = b"\n\x01\n";

/// What another program prints for these expressions. `None` if it is not installed.
fn printed_by(program: &str, expressions: &[String]) -> Option<Vec<u8>> {
    let child = Command::new(program).arg("-").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            eprintln!("{program} is not installed: nothing was compared");
            return None;
        }
        Err(error) => panic!("{program} does not start: {error}"),
    };
    let mut text = PRELUDE.to_string();
    for (at, expression) in expressions.iter().enumerate() {
        // A function has a limited number of constants.
        if at % 1000 == 0 {
            text += if at == 0 { "(function()\n" } else { "end)();\n(function()\n" };
        }
        let escaped: String = expression.bytes().map(|byte| format!("\\{byte:03}")).collect();
        text += &format!("run(\"{escaped}\")\n");
    }
    text += "end)()\n";
    child.stdin.take().expect("a pipe").write_all(text.as_bytes()).expect("the program is read");
    let output = child.wait_with_output().expect("the program ends");
    assert!(output.status.success(), "the program fails");
    Some(output.stdout)
}

/// Runs all expressions in both, and reports all that differ.
fn compare(program: &str, expressions: &[String]) {
    if let Some(output) = printed_by(program, expressions) {
        compare_with(&output, Tiers::default(), expressions);
    }
}

/// Runs all expressions in some tiers, and reports where they do not print what another program has printed.
fn compare_with(output: &[u8], tiers: Tiers, expressions: &[String]) {
    let mut vm = Vm::new(tiers);
    vm.open();
    let (mut rest, mut faults) = (output, Vec::new());
    for expression in expressions {
        let actual = printed(&mut vm, expression);
        if let Some(behind) = rest.strip_prefix(&actual[..]) {
            rest = behind;
            continue;
        }
        let end = memchr::memmem::find(rest, END).map_or(rest.len(), |end| end + END.len());
        let expected = &rest[..end];
        faults.push(format!(
            "{expression}\n  should give {}\n  but gives   {}",
            expected.escape_ascii(),
            actual.escape_ascii()
        ));
        rest = &rest[expected.len()..];
    }
    assert!(faults.is_empty(), "{} of {} differ:\n{}", faults.len(), expressions.len(), faults.join("\n"));
    assert!(rest.is_empty(), "the other program printed more: {}", rest.escape_ascii());
}

#[test]
fn expressions_give_the_same() {
    let lines = include_str!("expressions.txt").lines();
    let expressions: Vec<String> = lines.filter(|line| !line.starts_with("--")).map(String::from).collect();
    assert!(expressions.len() > 200, "there are {} expressions", expressions.len());
    let Some(output) = printed_by("lua5.1", &expressions) else { return };
    let all = [Tiers::InterpreterInRust, Tiers::Interpreter, Tiers::Baseline, Tiers::Climbing];
    for tiers in all {
        compare_with(&output, tiers, &expressions);
    }
}
