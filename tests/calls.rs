//! Calls with any number and mix of arguments in both conventions: the callee gets each argument in the right place.
//!
//! Arguments are values in any order, some of them repeated, constants, and values that are live across the call. The
//! callee's address is a constant or one of the values. The callee then unwinds through its callers and panics: the
//! unwinder must restore the registers of the frame that called compiled code, and the panic must pass through.
#![cfg(target_arch = "x86_64")]

use azulejo::__private::core::fuzzing::Random;
use azulejo::__private::core::ir::assignment::Assignment;
use azulejo::__private::core::ir::graph::{CallData, CallMemory, CallTarget, Effect, Graph};
use azulejo::__private::core::ir::index::Node;
use azulejo::__private::core::ir::ranges::Ranges;
use azulejo::__private::core::ir::schedule::Schedule;
use azulejo::__private::core::ir::template::{Convention, Signature};
use azulejo::__private::core::ir::tiles::TileList;
use azulejo::__private::core::pass;
use azulejo::__private::core::text::print;
use azulejo::__private::core::vocab::{Op, Sig, Type, Vocabulary};
use azulejo::x64::Code;
use azulejo::x64::emit::{self, Options};
use azulejo::x64::regs::{REGISTERS, REGISTERS_BUT_RBP};
use azulejo::x64::{Features, X64};
use azulejo_code::CodeMemory;
use std::cell::RefCell;

mod callers;

thread_local! {
    /// The arguments that the callee got.
    static SEEN: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// The result of all callees, as an integer; a float result is converted from it.
const RESULT: i64 = 4711;

trait Bits {
    const TYPE: Type;
    fn bits(self) -> u64;
}
macro_rules! bits {
    ($($rust:ident $ty:ident $value:ident => $bits:expr),*) => {$(
        impl Bits for $rust {
            const TYPE: Type = Type::$ty;
            fn bits(self) -> u64 {
                let $value = self;
                $bits
            }
        }
    )*};
}
bits!(i64 I64 v => v as u64, i32 I32 v => v as u32 as u64, f64 F64 v => v.to_bits(), f32 F32 v => v.to_bits() as u64);

struct Callee {
    address: usize,
    signature: Signature,
}

/// A function of each convention for each list of types. It records its arguments.
macro_rules! callees {
    ($( ($($arg:ident: $ty:ident),*) -> $ret:ident; )*) => {
        vec![$(
            {
                extern "sysv64-unwind" fn callee($($arg: $ty),*) -> $ret {
                    SEEN.with_borrow_mut(|seen| { seen.clear(); $(seen.push($arg.bits());)* });
                    callers::look_and_panic();
                    RESULT as $ret
                }
                let signature =
                    Signature { convention: Convention::SysV64, args: &[$(<$ty>::TYPE),*], ret: <$ret>::TYPE };
                Callee { address: callee as *const () as usize, signature }
            },
            {
                extern "win64-unwind" fn callee($($arg: $ty),*) -> $ret {
                    SEEN.with_borrow_mut(|seen| { seen.clear(); $(seen.push($arg.bits());)* });
                    callers::look_and_panic();
                    RESULT as $ret
                }
                let signature =
                    Signature { convention: Convention::Win64, args: &[$(<$ty>::TYPE),*], ret: <$ret>::TYPE };
                Callee { address: callee as *const () as usize, signature }
            },
        )*]
    };
}

fn callees() -> Vec<Callee> {
    callees! {
        () -> i64;
        () -> f64;
        (a: i64) -> f32;
        (a: f64) -> i32;
        (a: i32, b: f32, c: i64, d: f64) -> i64;
        (a: f64, b: i64, c: f64, d: i64, e: f64, f: i64) -> f64;
        (a: i64, b: i64, c: i64, d: i64, e: i64, f: i64) -> i64;
        (a: i64, b: i64, c: i64, d: i64, e: i64, f: i64, g: i64) -> i64;
        (a: f64, b: f64, c: f64, d: f64, e: f64, f: f64, g: f64, h: f64, i: f32) -> f32;
        (a: i64, b: f32, c: i64, d: f64, e: i32, f: f64, g: i64, h: f32, i: i64, j: f64, k: i64, l: f64) -> i64;
        (a: i64, b: i64, c: i64, d: i64, e: i64, f: i64, g: i64, h: i64, i: i64, j: i64, k: i64, l: i64,
         m: i64, n: i64, o: i64, p: i64, q: i64, r: i64, s: i64, t: i64, u: i64, v: i64, w: i64, x: i64) -> i64;
        (a: f64, b: f64, c: f64, d: f64, e: f64, f: f64, g: f64, h: f64, i: f64, j: f64, k: f64, l: f64,
         m: f64, n: f64, o: f64, p: f64, q: f64, r: f64, s: f64, t: f64, u: f64, v: f64, w: f64, x: f64) -> f64;
        (a: i64, b: f64, c: i32, d: f32, e: i64, f: f64, g: i32, h: f32, i: i64, j: f64, k: i32, l: f32,
         m: i64, n: f64, o: i32, p: f32, q: i64, r: f64, s: i32, t: f32, u: i64, v: f64, w: i32) -> f64;
    }
}

const LOADED: usize = 26;
const TYPES: [Type; 4] = [Type::I64, Type::I32, Type::F64, Type::F32];

/// A graph that makes a call with random arguments, and the expected bits of each argument. All values are live across the
/// call: the sum of the integers is stored to slot 30.
fn function(callee: &Callee, random: &mut Random, frame: &mut [u64; 32]) -> (Graph, Vec<u64>) {
    let mut graph = Graph::new(Vocabulary::BUILTIN);
    let block = graph.add_block();
    let word = Sig { from: Type::Void, ty: Type::I64 };
    let base = graph.add(Op::LOCAL, word, &[], 0, 0);
    let slot = |graph: &mut Graph, at: usize| graph.add(Op::ADDR, word, &[base], at as u64 * 8, 0);
    let mut values: Vec<(Node, Type, u64)> = Vec::new();
    for (at, content) in frame.iter_mut().enumerate().take(LOADED) {
        let ty = TYPES[at % TYPES.len()];
        // The numbers are small, so that no float is NaN.
        *content = ty.truncate(random.number() >> 20);
        let address = slot(&mut graph, at);
        let value = graph.push(block, Op::LOAD, Sig { from: Type::Void, ty }, &[address], 0, 0);
        values.push((value, ty, *content));
    }
    let is_indirect = random.one_in(2);
    let mut inputs = Vec::new();
    if is_indirect {
        frame[LOADED] = callee.address as u64;
        let address = slot(&mut graph, LOADED);
        inputs.push(graph.push(block, Op::LOAD, word, &[address], 0, 0));
    }
    let mut expected = Vec::new();
    for ty in callee.signature.args {
        let fitting: Vec<_> = values.iter().filter(|value| value.1 == *ty).collect();
        let (value, bits) = match random.one_in(5) {
            true => {
                let bits = ty.truncate(random.number() >> random.below(64));
                let bits = if ty.is_float() { bits >> 4 } else { bits };
                (graph.constant(*ty, bits, 0), bits)
            }
            false => {
                let (value, _, bits) = fitting[random.below(fitting.len())];
                (*value, *bits)
            }
        };
        inputs.push(value);
        expected.push(bits);
    }
    let target = if is_indirect { CallTarget::Indirect } else { CallTarget::Direct(callee.address as u64) };
    graph.calls.push(CallData {
        target,
        signature: callee.signature,
        effect: Effect::Memory,
        memory: CallMemory::ANY,
    });
    let ret = callee.signature.ret;
    let result = graph.push(block, Op::CALL, Sig { from: Type::Void, ty: ret }, &inputs, 0, 0);
    let words: Vec<Node> = values.iter().filter(|value| value.1 == Type::I64).map(|value| value.0).collect();
    let sum = words.into_iter().reduce(|sum, value| graph.add(Op::ADD, word, &[sum, value], 0, 0));
    let place = slot(&mut graph, 30);
    let store = Sig { from: Type::I64, ty: Type::Void };
    graph.push(block, Op::STORE, store, &[place, sum.expect("there are integers")], 0, 0);
    let float = values.iter().find(|value| value.1 == Type::F64).expect("there are floats").0;
    let place = slot(&mut graph, 31);
    graph.push(block, Op::STORE, Sig { from: Type::F64, ty: Type::Void }, &[place, float], 0, 0);
    graph.end(block, Op::RETURN, ret, &[result], 0, &[], 0);
    (graph, expected)
}

/// Runs the test without address space randomisation, since the distances between code and callees differ then.
#[test]
#[cfg(target_os = "linux")]
fn callees_see_their_arguments_without_address_space_randomisation() {
    use std::process::Command;
    let without = || {
        let mut command = Command::new("setarch");
        command.arg("-R");
        command
    };
    // Containers may forbid that.
    if !without().arg("true").status().is_ok_and(|status| status.success()) {
        eprintln!("not tested: setarch -R does not work here");
        return;
    }
    let this = std::env::current_exe().expect("a test has a path");
    let mut test = without();
    let output = test.arg(this).args(["--exact", "callees_see_their_arguments"]).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

/// Narrow arguments are extended to 32 bits by the sign of their type if the convention is stated. A callee may rely on
/// that, even one with wider parameters than the template passes. Without a stated convention, the bits above an argument
/// are ignored.
#[test]
fn narrow_arguments_are_extended() {
    use azulejo::prelude::*;

    #[derive(Bytecode, Clone, Copy, Debug)]
    #[bytecode(context = ())]
    enum Narrow {
        Wide { dst: Out<i64>, callee: In<u64>, a: In<i8>, b: In<u8>, c: In<i16>, d: In<u16> },
        Own { dst: Out<i64>, a: In<i8>, b: In<u8>, c: In<i16>, d: In<u16> },
        Return { a: In<i64> },
    }
    template! {
        Narrow::Wide => unsafe
            (call "sysv64" $callee (arglist (carg $a i8) (carg $b u8) (carg $c i16) (carg $d u16)) i64)
        Narrow::Own => (call own (arglist (carg $a i8) (carg $b u8) (carg $c i16) (carg $d u16)) i64)
        Narrow::Return => (return $a)
    }
    extern "sysv64" fn wide(a: i32, b: i32, c: i32, d: i32) -> i64 {
        [a, b, c, d].into_iter().fold(0, |sum, part| sum * 0x1_0001 + part as i64)
    }
    fn own(a: i8, b: u8, c: i16, d: u16) -> i64 {
        wide(a as i32, b as i32, c as i32, d as i32)
    }
    let engine = Engine::<Narrow>::new();
    let ret = Narrow::Return { a: 5.into() };
    let (a, b, c, d) = (1.into(), 2.into(), 3.into(), 4.into());
    let code = [
        vec![Narrow::Wide { dst: 5.into(), callee: 0.into(), a, b, c, d }, ret],
        vec![Narrow::Own { dst: 5.into(), a, b, c, d }, ret],
    ];
    for code in code {
        let function = engine.define("narrow", code, 6).expect("the code is right");
        // The bits above those that are passed are not all zero.
        for [a, b, c, d] in
            [[0x1ff_u64, 0x1ff, 0x1_ffff, 0x1_ffff], [!0, !0, !0, !0], [0x7f, 0x80, 0x7fff, 0x8000]]
        {
            let args = [wide as *const () as u64, a, b, c, d];
            let expected = own(a as i8, b as u8, c as i16, d as u16);
            if azulejo::can_compile().is_ok() {
                engine.compile(function).expect("it compiles");
                assert_eq!(engine.call(function, &mut (), &args[..]), Ok(expected));
            }
            assert_eq!(engine.interpret(function, &mut (), &args[..]), Ok(expected));
        }
    }
}

#[repr(C)]
struct Exit {
    status: u64,
    value: u64,
}

#[test]
fn callees_see_their_arguments() {
    let (mut place, mut tile) = (pass::place::Scratch::default(), pass::tile::Scratch::default());
    let (mut live, mut allocate) = (pass::live::Scratch::default(), pass::allocate::Scratch::default());
    let mut scratch = emit::Scratch::default();
    let (mut schedule, mut tiles, mut ranges) = (Schedule::default(), TileList::default(), Ranges::default());
    let (mut assignment, mut code) = (Assignment::default(), Code::default());
    // Code in a region is unwound by the region's table, code with pages of its own by a table of its own. Calls have a
    // short form in memories near the program. The functions in the last memory keep the frame pointer.
    let memories = [CodeMemory::new, CodeMemory::far, CodeMemory::by_page, CodeMemory::new]
        .map(|new| new(&azulejo::x64::MACHINE, 1 << 20));
    let memories = memories.map(|memory| memory.expect("this system runs code"));
    let mut options =
        memories.each_ref().map(|memory| Options { reach: memory.reach(), ..Options::default() });
    options[3].frame_pointers = true;
    let registers = [&REGISTERS, &REGISTERS, &REGISTERS, &REGISTERS_BUT_RBP];
    let features = Features::detect().bits();
    let mut random = Random::new(1);
    for callee in callees() {
        for round in 0..40 {
            let way = round % memories.len();
            let (memory, options, registers) = (&memories[way], &options[way], registers[way]);
            let mut frame = [0; 32];
            let (mut graph, expected) = function(&callee, &mut random, &mut frame);
            pass::place::place(&mut place, &mut graph, &mut schedule);
            pass::tile::tile(&mut tile, &graph, &schedule, X64.tables, features, registers, &mut tiles);
            pass::live::live(&mut live, &tiles, REGISTERS.kept, &mut ranges);
            pass::allocate::allocate(&mut allocate, &tiles, &ranges, registers, &mut assignment)
                .unwrap_or_else(|why| panic!("{why:?}\n{}", print::graph(&graph)));
            emit::emit(&mut scratch, &tiles, &assignment, &X64, options, &mut code)
                .expect("the frame is small");
            let is_near = (way == 0 || way == 3) && cfg!(target_os = "linux");
            assert_eq!(options.reach.covers(callee.address as u64), is_near);
            let is_direct = matches!(graph.calls[0].target, CallTarget::Direct(_));
            assert!(
                !is_direct || code.addresses.iter().any(|(_, to)| *to == callee.address as u64) == is_near
            );
            let installed = memory.install(&code.finished()).expect("there is room for one");
            type Entry = extern "sysv64-unwind" fn(*mut (), *mut u64, *const ()) -> Exit;
            // SAFETY: the code follows this convention, accesses only the frame, and calls `callee` with its own signature.
            let entry = unsafe { core::mem::transmute::<*const u8, Entry>(installed.address()) };
            let before = frame;
            let exit = entry(core::ptr::null_mut(), frame.as_mut_ptr(), core::ptr::null());
            let report = || format!("{:?}\n{}", callee.signature, print::graph(&graph));
            assert_eq!(SEEN.with_borrow(Vec::clone), expected, "{}", report());
            let result = match callee.signature.ret {
                Type::F64 => (RESULT as f64).to_bits(),
                Type::F32 => (RESULT as f32).to_bits() as u64,
                _ => RESULT as u64,
            };
            assert_eq!((exit.status, exit.value), (0, result), "{}", report());
            let words = (0..LOADED).filter(|at| TYPES[at % TYPES.len()] == Type::I64);
            let sum = words.fold(0u64, |sum, at| sum.wrapping_add(before[at]));
            assert_eq!((frame[30], frame[31]), (sum, before[2]), "{}", report());
            let (context, mut frame) = (core::ptr::null_mut(), before);
            let run = callers::Run {
                entry: installed.address(),
                context,
                frame: frame.as_mut_ptr(),
                third: context,
            };
            let keeps_pointer = options.frame_pointers.then_some(installed.size());
            // SAFETY: the code is a function that accesses only the frame.
            unsafe { callers::check(run, keeps_pointer, &report) };
        }
    }
}
