//! Long functions in whose slow paths everything is kept in memory: their frames do not grow with their length.

#![cfg(all(target_arch = "x86_64", any(unix, windows)))]

use azulejo::prelude::*;
use iced_x86::{Decoder, DecoderOptions, Mnemonic, Register};

const TAG: u64 = 0xfff9 << 48;

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    Add { dst: Out<u64>, a: In<u64>, b: In<u64> },
    Return { a: In<u64> },
}

template! {
    kinds u64 {
        number: f64 {
            is (ult $box &TAG)
            unbox (bitcast $box f64)
            box (bitcast (canonical_nan $value) u64)
        }
        other { is (uge $box &TAG) }
    }

    Op::Add => (as (($a number) ($b number))
        (box number (add $a $b))
        (slow one (arglist (carg $a u64) (carg $b u64)) u64))
    Op::Return => (return $a)
}

fn one(_: u64, _: u64) -> Result<u64, Trap> {
    Ok(1f64.to_bits())
}

/// How many bytes a function's frame has below its saved registers, with so many sums of seven registers.
fn room(sums: u32) -> u64 {
    let engine: Engine<Op> = Engine::new();
    let mut code: Vec<Op> = (0..sums)
        .map(|at| Op::Add {
            dst: (1 + at % 7).into(),
            a: (1 + at * 3 % 7).into(),
            b: (1 + at * 5 % 7).into(),
        })
        .collect();
    code.push(Op::Return { a: 1.into() });
    let function = engine.define("sums", code, 8).expect("it is right");
    // It has never run, so all slow paths are there.
    engine.compile(function).expect("it compiles");
    let listing = engine.disassemble(function).expect("it was compiled");
    let mut code = Decoder::with_ip(64, listing.bytes(), 0, DecoderOptions::NONE);
    let room = code.iter().find(|one| one.mnemonic() == Mnemonic::Sub && one.op0_register() == Register::RSP);
    room.expect("slow paths keep something in memory").immediate(1)
}

#[test]
fn slow_paths_keep_their_values_in_the_same_slots() {
    let rooms = [30, 120, 480].map(room);
    assert!(rooms.iter().all(|room| *room <= 10 * 8), "{rooms:?}");
}
