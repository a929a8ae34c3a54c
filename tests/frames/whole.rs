//! A frame shows all bits of an argument, whatever the function reads of it, in all tiers.

use azulejo::Frames;
use azulejo::prelude::*;

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(context = Vec<Vec<(u32, u64)>>)]
enum Op {
    Look,
    Call { dst: Out<u64>, function: Imm<u32>, args: Regs },
    Add32 { dst: Out<u32>, a: In<u32>, b: In<u32> },
    Return { a: In<u64> },
}

template! {
    Op::Look   => (callv observes look (arglist (carg (tc) ptr) (carg (frames) ptr)))
    Op::Call   => (invoke observes $function (arglist $args) u64)
    Op::Add32  => (add $a $b)
    Op::Return => (return $a)
}

/// What all frames show, from the innermost on.
fn look(seen: &mut Vec<Vec<(u32, u64)>>, frames: Frames<'_>) {
    seen.extend(frames.iter().map(|frame| frame.registers().collect()));
}

#[test]
fn frames_show_all_bits_of_arguments() -> Result<(), Error> {
    const GIVEN: u64 = 0x1_0000_0002;
    const MISSING: u64 = 0x5_0000_0006;
    for tier in [Tier::Interpreter, Tier::Baseline, Tier::Optimizer] {
        for is_inlined in [false, true] {
            let builder = Engine::<Op>::builder().only(tier);
            let engine: Engine<Op> = builder.inlining(is_inlined).build();
            let code = vec![
                Op::Look,
                Op::Add32 { dst: 2.into(), a: 0.into(), b: 1.into() },
                Op::Return { a: 2.into() },
            ];
            let callee = engine.define("callee", Code::from(code).with_missing(MISSING), 3)?;
            let function = Imm(callee.number());
            let call = Op::Call { dst: 1.into(), function, args: Regs { first: 0, count: 1 } };
            let code =
                vec![call, Op::Add32 { dst: 1.into(), a: 0.into(), b: 1.into() }, Op::Return { a: 1.into() }];
            let caller = engine.define("caller", code, 2)?;
            let outer =
                Op::Call { dst: 0.into(), function: Imm(caller.number()), args: Regs { first: 0, count: 1 } };
            let outer = engine.define("outer", vec![outer, Op::Return { a: 0.into() }], 1)?;
            for run in 0..4 {
                let mut seen = Vec::new();
                let result: u64 = engine.call(outer, &mut seen, (GIVEN,))?;
                assert_eq!(result, 10, "{tier:?}, run {run}");
                assert_eq!(
                    seen[..2],
                    [vec![(0, GIVEN), (1, MISSING)], vec![(0, GIVEN)]],
                    "{tier:?}, run {run}"
                );
            }
        }
    }
    Ok(())
}
