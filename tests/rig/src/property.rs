//! The properties that must hold, each a function that tests, `cargo xtask fuzz` and the targets in `fuzz/` call.
//!
//! In: random numbers, or text. Out: nothing, or the property's violation.

use crate::case::Case;
use crate::compare::RigOn;
use crate::graphs::plant;
use crate::minimise::ends;
use crate::mutate::mutate;
use crate::program::program;
use crate::run::Verified;
use crate::subject::Subject;
use azulejo::x64::{Code, MACHINE};
use azulejo_code::{CodeMemory, Installed};
use azulejo_core::check;
use azulejo_core::fuzzing::{self, Options};
use azulejo_core::grammar::{Grammar, build, text};
use azulejo_core::random::Random;
use azulejo_core::text::{parse, print};
use azulejo_core::vocab::Vocabulary;

/// One of this many programs has thousands of bytecodes.
const LONG_ONE_IN: usize = 4096;

/// A program does the same in every tier.
pub fn of_program<M: Subject>(rig: &mut RigOn<M>, random: &mut Random) -> Result<(), String> {
    // Mostly small ones: they are fast, and what is wrong is wrong in a few bytecodes mostly.
    let size = match random.below(LONG_ONE_IN) {
        0 => 2000 + random.below(18_001).min(random.below(18_001)),
        other if other % 16 == 1 => 150,
        _ => 6 + random.below(36),
    };
    let program = program(random, size);
    rig.check(&program, random.number())
}

/// A graph does as machine code what it means; whether it ended at all.
pub fn of_graph<M: Subject>(rig: &mut RigOn<M>, random: &mut Random) -> Result<bool, String> {
    let mut options = Options { calls: false, own_memory: true, edge: M::MAY_FAULT, ..Options::SMALL };
    if random.one_in(8) {
        options = Options { max_blocks: 20, max_nodes: 60, ..options };
    }
    let mut graph = fuzzing::graph(random, &options);
    for _ in 0..random.below(30) {
        plant(random, &mut graph);
    }
    rig.check_graph(&graph, random.number())
}

/// The fate of a mutated program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// Verification refused it.
    Refused,
    /// It may not end, so it was only compiled.
    Compiled,
    /// It does the same in every tier.
    Run,
}

/// A changed program is refused, with a reason that points into it, or as good as any other.
pub fn of_changed_program<M: Subject>(rig: &mut RigOn<M>, random: &mut Random) -> Result<Fate, String> {
    let size = 4 + random.below(24);
    let mut program = program(random, size);
    mutate(random, &mut program);
    let code = program.code();
    match azulejo::verify(&code.ops, &code.labels, program.registers) {
        Err(error) => {
            let points_into = error.at as usize <= code.ops.len();
            return if points_into { Ok(Fate::Refused) } else { Err(format!("{error}, of\n{program}")) };
        }
        Ok(shape) => {
            let violations = check::shape::shape(&code.ops, &code.labels, program.registers, &shape);
            if let Some(violation) = violations.first() {
                return Err(format!("{violation}, of\n{program}"));
            }
        }
    }
    program.settle_temporaries();
    if ends(&program) && program.registers <= 1000 {
        return rig.check(&program, random.number()).map(|()| Fate::Run);
    }
    let verified = Verified::new(&program).expect("it was accepted");
    rig.compile(&verified).map(|()| Fate::Compiled).map_err(|failure| format!("{failure}\n{program}"))
}

/// Code of any size is installed and freed in any order. No memory is lost, and installed code stays unchanged.
pub fn of_code_memory(random: &mut Random) -> Result<(), String> {
    const SIZE: usize = 1 << 12;
    let memory = match random.one_in(4) {
        true => CodeMemory::by_page(&MACHINE, SIZE),
        false => CodeMemory::new(&MACHINE, SIZE),
    };
    let memory = memory.map_err(|error| error.to_string())?;
    let mut all: Vec<(Installed, Vec<u8>)> = Vec::new();
    for _ in 0..random.below(200) {
        if !all.is_empty() && random.one_in(3) {
            all.swap_remove(random.below(all.len()));
        }
        let bytes = vec![random.below(256) as u8; 1 + random.below(SIZE / 4)];
        let code = Code { bytes, ..Code::default() };
        match memory.install(&code.finished()) {
            Ok(installed) => all.push((installed, code.bytes)),
            Err(_) if all.is_empty() => return Err("there is no room, and nothing is there".into()),
            Err(_) => drop(all.swap_remove(random.below(all.len()))),
        }
        let used: usize = all.iter().map(|(installed, _)| installed.size()).sum();
        if used != memory.used() || used > SIZE {
            return Err(format!("{used} bytes are in use, not {} of {SIZE}", memory.used()));
        }
        for (installed, bytes) in &all {
            // SAFETY: the installed code has this many bytes, and they stay mapped as long as it lives.
            let found = unsafe { std::slice::from_raw_parts(installed.address(), bytes.len()) };
            if found != bytes {
                return Err("what was installed is something else now".into());
            }
        }
    }
    all.clear();
    if memory.used() == 0 { Ok(()) } else { Err(format!("{} bytes are lost", memory.used())) }
}

/// Each parser reads any text or refuses it. A result that the judges accept is printed as text that parses to the same.
pub fn of_text(text: &str) -> Result<(), String> {
    let vocab = Vocabulary::BUILTIN;
    let same = |once: &str, again: &str| match once == again {
        true => Ok(()),
        false => Err(format!("{once}reads as\n{again}")),
    };
    if let Ok(graph) = parse::graph(vocab, text)
        && check::graph::graph(&graph).is_empty()
    {
        let once = print::graph(&graph);
        let again = parse::graph(vocab, &once).map_err(|error| format!("{error}, of\n{once}"))?;
        same(&once, &print::graph(&again))?;
    }
    if let Ok(case) = Case::parse(text) {
        let once = case.to_string();
        let again = Case::parse(&once).map_err(|error| format!("{error}, of\n{once}"))?;
        same(&once, &again.to_string())?;
    }
    if let Ok(rules) = text::rules(text) {
        // Any rules make a set of tables or a list of refusals.
        let own = rules.len();
        let _ = build(&Grammar { vocab, features: Vec::new(), own, rules, complete: false });
    }
    Ok(())
}
