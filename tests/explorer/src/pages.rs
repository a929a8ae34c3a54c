//! Programs of the example, and their traces.

use crate::{assembler, machine};
use std::fmt::Write;

/// The trace of all functions of one of the example's programs.
pub fn trace(name: &str) -> String {
    let file = format!("{}/../../examples/explorer/programs/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{file}: {error}"));
    trace_of(&text)
}

/// The trace of a program.
pub fn trace_of(program: &str) -> String {
    let functions = assembler::assemble(program).unwrap_or_else(|wrong| panic!("{wrong}"));
    machine::traces(functions).expect("programs compile")
}

/// The assembler's error for a program.
pub fn wrong(program: &str) -> String {
    assembler::assemble(program).map(|_| ()).expect_err("the program is wrong").to_string()
}

/// A program of one function with this many instructions: arithmetic on 24 registers, loops and forward jumps.
pub fn long(n_instructions: usize) -> String {
    const OPERATORS: [&str; 6] = ["add", "sub", "mul", "and", "or", "xor"];
    let mut seed = 1u64;
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    let mut out = String::from("function long(a, b)\n const zero, 0\n");
    for register in 0..24 {
        writeln!(out, " const x{register}, {}", register * 3 + 1).expect("text has room");
    }
    out.push_str("outer: add a, a, -1\n");
    let (mut waiting, mut labels, mut at) = (Vec::<(usize, usize)>::new(), 0, 26);
    while at < n_instructions - 26 {
        let [x, y, z] = [random(24), random(24), random(24)];
        match random(25) {
            0..3 => {
                writeln!(out, " less x{x}, x{y}, l{labels}").expect("text has room");
                waiting.push((at + 3 + random(37), labels));
                labels += 1;
            }
            3 if at + 40 < n_instructions => {
                writeln!(out, "l{labels}: add x{x}, b, 1").expect("text has room");
                for operator in OPERATORS {
                    writeln!(out, " {operator} x{}, x{y}, x{z}", random(24)).expect("text has room");
                }
                writeln!(out, " less x{x}, b, l{labels}").expect("text has room");
                labels += 1;
                at += 7;
            }
            _ => writeln!(out, " {} x{x}, x{y}, x{z}", OPERATORS[random(6)]).expect("text has room"),
        }
        at += 1;
        waiting.retain(|(due, label)| {
            if *due <= at {
                writeln!(out, "l{label}:").expect("text has room");
            }
            *due > at
        });
    }
    for (_, label) in waiting {
        writeln!(out, "l{label}:").expect("text has room");
    }
    out.push_str(" less zero, a, outer\n");
    for register in 0..24 {
        writeln!(out, " xor a, a, x{register}").expect("text has room");
    }
    out + " return a\n"
}
