//! What `--stats` says.
//!
//! In: a program that has ended, how long it took, whether the optimizer worked beside it, and how many pieces of code earlier runs have left. Out: tables of time, of the heap, and of
//! what the engine has compiled.

use crate::run::vm::Vm;
use std::fmt::Write;
use std::time::Duration;

/// The tables.
pub(super) fn statistics(vm: &Vm, all: Duration, is_beside: bool, found: usize) -> String {
    let (clocks, engine, collector) = (&vm.clocks, vm.engine.stats(), vm.heap.statistics());
    let optimizing = engine.optimizer.time + engine.optimizer_for_calls.time;
    let in_between = if is_beside { Duration::ZERO } else { optimizing };
    let parts = [
        ("reading source", clocks.reading),
        ("making bytecode", clocks.compiling),
        ("making machine code", engine.baseline.time + in_between),
        ("collecting garbage", collector.time),
    ];
    let rest = all.saturating_sub(parts.iter().map(|(_, time)| *time).sum());
    let mut text = format!("{:22}{:>10}{:>8}\n", "phase", "time", "%");
    for (name, time) in parts.into_iter().chain([("running", rest), ("all", all)]) {
        let percent = time.as_secs_f64() / all.as_secs_f64().max(1e-12) * 100.0;
        let time = format!("{time:.1?}");
        writeln!(text, "{name:22}{time:>10}{percent:>8.1}").expect("a string takes any text");
    }
    if is_beside {
        writeln!(text, "beside it, optimizing {optimizing:.1?}").expect("a string takes any text");
    }
    let functions = vm.prototypes.iter().flatten().filter(|prototype| !prototype.lines.is_empty()).count();
    write!(
        text,
        "\nheap       {} bytes, at most {} when the collector began to work\n\
         collector  {} steps, {} cycles; the longest step took {:.1?}\n\
         source     {functions} functions that are still there\n\
         saved code {found} pieces that earlier runs have made\n\n{engine}",
        collector.bytes,
        collector.most_bytes.max(collector.bytes),
        collector.steps,
        collector.collections,
        collector.longest_step,
    )
    .expect("a string takes any text");
    text
}
