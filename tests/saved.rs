//! Machine code that one process saves and the next one loads: it does the same, and is not made again.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use azulejo::prelude::*;
use azulejo::saved;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The path of the file, for the process that is to run.
const PATH: &str = "AZULEJO_TEST_SAVED";

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(context = Vm)]
enum Op {
    Const { dst: Out<i64>, value: Imm<i64> },
    Add { dst: Out<i64>, a: In<i64>, b: In<i64> },
    AddConst { dst: Out<i64>, a: In<i64>, b: Imm<i64> },
    Half { dst: Out<i64>, a: In<i64> },
    Mix { dst: InOut<i64> },
    Down { n: InOut<i64>, to: Label },
    Pick { a: In<u64>, labels: Labels },
    Note { dst: Out<i64>, a: In<i64> },
    Static { dst: Out<i64> },
    Call { dst: Out<i64>, f: Imm<u32>, a: In<i64> },
    Return { a: In<i64> },
}

#[derive(Default)]
struct Vm {
    sum: i64,
}

/// What moves with the program.
static PLACE: i64 = 1_000_003;

fn note(vm: &mut Vm, value: i64) -> i64 {
    vm.sum = vm.sum.wrapping_mul(31).wrapping_add(value);
    vm.sum & 0xff
}

template! {
    // A template of many steps.
    macro ^mix (,x) (xor (mul ,x 3) (shr (add ,x 5) 7))
    macro ^mix4 (,x) (let: (($a (^mix ,x)) ($b (^mix $a)) ($c (^mix $b))) (^mix $c))
    Op::Mix      => (let: (($a (^mix4 $dst)) ($b (^mix4 $a))) (^mix4 $b))
    Op::Const    => $value
    Op::Add      => (add $a $b)
    Op::AddConst => (add $a $b)
    Op::Half     => (div $a 2)
    Op::Down!    => (dov (set $n (sub $n 1)) (when (gt $n 0) (branch $to)))
    Op::Pick     => (switch $a $labels)
    Op::Note     => (call note (arglist (carg (tc) ptr) (carg $a i64)) i64)
    Op::Static   => unsafe (load (&static PLACE) i64)
    Op::Call     => (invoke $f (arglist $a) i64)
    Op::Return   => (return $a)
}

fn r<T: From<u32>>(number: u32) -> T {
    number.into()
}

/// A loop over all opcodes, and constants of all widths.
fn code() -> Code<Op> {
    let ops = vec![
        Op::Const { dst: r(1), value: Imm(0x1234_5678_9abc) },
        Op::AddConst { dst: r(2), a: r(1), b: Imm(0x7fff_ffff_1234) },
        Op::Add { dst: r(1), a: r(1), b: r(2) },
        Op::Half { dst: r(2), a: r(1) },
        Op::AddConst { dst: r(2), a: r(2), b: Imm(-7) },
        Op::Note { dst: r(3), a: r(2) },
        Op::Add { dst: r(1), a: r(1), b: r(3) },
        Op::Pick { a: r(3), labels: azulejo::Labels { first: 0, count: 3 } },
        Op::Static { dst: r(3) },
        Op::Mix { dst: r(3) },
        Op::Add { dst: r(1), a: r(1), b: r(3) },
        Op::Call { dst: r(3), f: Imm(0), a: r(0) },
        Op::Down { n: r(0), to: Label(2) },
        Op::Return { a: r(1) },
    ];
    Code { labels: vec![8, 9, 11], ..ops.into() }
}

/// Runs in a process of its own: says what it has found, made and saved, and what the code does.
#[test]
fn one_process() {
    let Some(path) = std::env::var_os(PATH).map(PathBuf::from) else { return };
    // SAFETY: nobody but this test writes the file.
    let found = unsafe { saved::load(&path) }.expect("it can be read");
    let mut results = Vec::new();
    let mut made = 0;
    for is_baseline in [true, false] {
        let tier = if is_baseline { Tier::Baseline } else { Tier::Interpreter };
        let engine: Engine<Op> = Engine::<Op>::builder().only(tier).build();
        let inner = vec![Op::Half { dst: r(0), a: r(0) }, Op::Return { a: r(0) }];
        engine.define("inner", inner, 1).expect("it is right");
        let function = engine.define("loop", code(), 4).expect("it is right");
        if is_baseline {
            engine.compile_in(function, Tier::Baseline).expect("it compiles");
        }
        let mut vm = Vm::default();
        let result: i64 = engine.call(function, &mut vm, (1000i64,)).expect("it returns");
        results.push((result, vm.sum));
        made += engine.stats().stencils;
    }
    let saved = saved::save(&path).expect("it can be written");
    println!("\nsaid: {found} {made} {saved} {results:?}");
}

/// Runs in a process of its own: says whether a function climbs that has not run for as long as it would take to make its stencils.
#[test]
fn one_climbing_process() {
    let Some(path) = std::env::var_os(PATH).map(PathBuf::from) else { return };
    // SAFETY: as above.
    unsafe { saved::load(&path) }.expect("it can be read");
    let climbing: Engine<Op> = Engine::<Op>::builder().up_to(Tier::Baseline).build();
    let short = vec![
        Op::AddConst { dst: r(1), a: r(1), b: Imm(3) },
        Op::Down { n: r(0), to: Label(0) },
        Op::Mix { dst: r(0) },
        Op::Return { a: r(1) },
    ];
    let short = climbing.define("short", short, 2).expect("it is right");
    assert_eq!(climbing.call::<_, i64>(short, &mut Vm::default(), (100i64,)), Ok(300));
    let has_climbed = climbing.tier(short) == Tier::Baseline;
    println!("\nsaid: {has_climbed}");
}

/// What a process says.
#[derive(PartialEq, Debug)]
struct Said {
    found: usize,
    made: usize,
    saved: usize,
    results: String,
}

/// What a test says that runs in a process of its own.
fn said(test: &str, path: &Path) -> String {
    let output = Command::new(std::env::current_exe().expect("it runs"))
        .args(["--exact", test, "--nocapture"])
        .env(PATH, path)
        .output()
        .expect("it starts");
    let text = String::from_utf8_lossy(&output.stdout);
    let said = text.lines().find_map(|line| line.strip_prefix("said: "));
    said.unwrap_or_else(|| panic!("{output:?}")).to_string()
}

fn run(path: &Path) -> Said {
    let said = said("one_process", path);
    let mut words = said.splitn(4, ' ');
    let mut word = || words.next().expect("it says so");
    let mut number = || word().parse().expect("it is a number");
    let (found, made, saved) = (number(), number(), number());
    Said { found, made, saved, results: word().into() }
}

/// A file that is removed in the end.
struct Removed(PathBuf);

impl Drop for Removed {
    fn drop(&mut self) {
        _ = std::fs::remove_file(&self.0);
    }
}

fn place(name: &str) -> Removed {
    Removed(std::env::temp_dir().join(format!("azulejo-test-saved-{name}-{}", std::process::id())))
}

#[test]
fn what_a_process_has_made_the_next_one_finds() {
    let place = place("found");
    let first = run(&place.0);
    assert!(first.found == 0 && first.made > 8 && first.saved > first.made, "{first:?}");
    let second = run(&place.0);
    assert_eq!((second.found, &second.results), (first.saved, &first.results));
    // An address of a static is not the same in both, so its opcode is made again; it is not saved, and nothing else is new.
    assert_eq!((second.made, second.saved), (1, 0));
    assert_eq!(run(&place.0), second);
}

#[test]
fn what_is_saved_is_worth_its_time_at_once() {
    let place = place("climbing");
    assert_eq!(said("one_climbing_process", &place.0), "false");
    run(&place.0);
    assert_eq!(said("one_climbing_process", &place.0), "true");
}

#[test]
fn files_that_are_no_good_are_written_anew() {
    let place = place("bad");
    let good = run(&place.0);
    let bytes = std::fs::read(&place.0).expect("it was written");
    for (at, len) in [(0, bytes.len()), (8, bytes.len()), (8, 20), (0, 0)] {
        let mut bad = bytes[..len].to_vec();
        bad.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1);
        std::fs::write(&place.0, bad).expect("it can be written");
        assert_eq!(run(&place.0), good, "{at} {len}");
    }
    // One piece is damaged, and is made again.
    let mut bad = bytes.clone();
    *bad.last_mut().expect("there are some") ^= 1;
    std::fs::write(&place.0, bad).expect("it can be written");
    let said = run(&place.0);
    assert_eq!((said.found, &said.results), (good.saved, &good.results));
    assert!(said.saved == good.saved, "{said:?}");
}
