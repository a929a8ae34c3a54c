//! The engines: how each compiles and runs a program.

use crate::by_hand;
use crate::clif::Cranelift;
use crate::limit::Limit;
use crate::memory::{self, Use};
use crate::op::{Op, Vm};
use crate::programs::{Kind, Program};
use azulejo::Builder;
use azulejo::prelude::*;
use azulejo_core::ir::bytecode::{Machine, NEVER, NoFunctions};
use azulejo_core::ir::slow_paths::NO_SLOW_PATHS;
use azulejo_core::pass::Blind;
use azulejo_core::pass::build::{FunctionSource, Linkage};
use azulejo_core::verify::{Shape, verify};
use azulejo_core::vocab::Vocabulary;
use azulejo_x64::{Compiled, Compiler, Features, Status, X64};
use std::cell::Cell;
use std::hint::black_box;
use std::rc::Rc;

/// An engine with a loaded program.
pub(crate) struct Subject<'a> {
    /// The engine's name.
    pub engine: &'static str,
    /// The tier or setting.
    pub tier: &'static str,
    /// Compiles the program, ready to be called.
    pub compile: Option<Box<dyn FnMut() + 'a>>,
    /// Compiles the program below the engine, if there is a difference.
    pub pipeline: Option<Box<dyn FnMut() + 'a>>,
    /// Runs the program.
    pub run: Option<Box<dyn FnMut() -> u64 + 'a>>,
    /// The size of the machine code.
    pub code_bytes: usize,
    /// The heap use of the first compilation by a new compiler, and of the next one.
    pub heap: Option<(Use, Use)>,
}

/// The size of the code memory: several times the code of the largest program.
const CODE_BYTES: usize = 64 << 20;

/// Every engine that supports the program.
pub(crate) fn all(program: &Program) -> Vec<Subject<'_>> {
    let mut subjects = vec![interpreter(program), rust_interpreter(program), by_hand(program)];
    subjects.extend(baseline(program));
    subjects.push(optimizer(program));
    subjects.push(tiering_up(program));
    if program.kind == Kind::Generated {
        subjects.push(limit(program));
    }
    subjects.push(cranelift(program, "speed", "speed", "backtracking"));
    subjects.push(cranelift(program, "none+single_pass", "none", "single_pass"));
    subjects.extend(rust(program));
    subjects
}

fn new<'a>(engine: &'static str, tier: &'static str) -> Subject<'a> {
    Subject { engine, tier, compile: None, pipeline: None, run: None, code_bytes: 0, heap: None }
}

/// The program, defined as a function of an engine.
struct Defined {
    engine: Box<Engine<Op>>,
    function: FunctionId,
}

/// Defines the program in an engine that uses one tier only.
fn define(program: &Program, tier: Tier) -> Defined {
    define_in(program, Engine::<Op>::builder().only(tier))
}

fn define_in(program: &Program, builder: Builder) -> Defined {
    let engine = Box::new(builder.code_bytes(CODE_BYTES).build::<Op>());
    let mut code = Code { labels: program.code.labels.clone(), ..program.code.ops.clone().into() };
    if program.calls_itself() {
        // The measured compilation includes the entry for the program's own calls.
        code = code.with_arguments(program.args.len() as u32);
    }
    let function = engine.define(&*program.name, code, program.code.registers).expect("the program is right");
    Defined { engine, function }
}

/// The interpreter in machine code.
fn interpreter(program: &Program) -> Subject<'_> {
    let Defined { engine, function } = define(program, Tier::Interpreter);
    let run = move || engine.call(function, &mut Vm, &*program.args).expect("it returns");
    Subject { run: Some(Box::new(run)), ..new("azulejo", "interpreter") }
}

/// The interpreter that the macros generate, called below the engine.
fn rust_interpreter(program: &Program) -> Subject<'_> {
    if program.calls_itself() {
        let builder = Engine::<Op>::builder().only(Tier::Interpreter).rust_interpreter(true);
        let Defined { engine, function } = define_in(program, builder);
        let run = move || engine.call(function, &mut Vm, &*program.args).expect("it returns");
        return Subject { run: Some(Box::new(run)), ..new("azulejo", "interpreter in Rust") };
    }
    let shape = verify(&program.code.ops, &program.code.labels, program.code.registers).expect("as above");
    let mut frame = vec![0; shape.slots as usize];
    let run = move || {
        frame[..program.args.len()].copy_from_slice(&program.args);
        let machine = Machine {
            stop: &NEVER,
            slow_paths: &NO_SLOW_PATHS,
            frame: frame.as_mut_ptr(),
            context: &mut Vm,
            unit: std::ptr::null(),
            labels: &program.code.labels,
            budget: &Cell::new(i32::MAX),
            functions: &NoFunctions,
            show: None,
        };
        // SAFETY: the code was verified, and the frame has as many slots as verification computed.
        let end =
            unsafe { Op::interpret(&raw const program.code.ops[..], &machine, 0, program.code.registers, 0) };
        let (azulejo_core::ir::bytecode::Flow::Return(value), _) = end else { panic!("{end:?}") };
        value
    };
    Subject { run: Some(Box::new(run)), ..new("azulejo", "interpreter in Rust") }
}

fn by_hand(program: &Program) -> Subject<'_> {
    let mut stack = by_hand::Stack::new();
    let run = move || stack.call(&program.code, black_box(&program.args));
    Subject { run: Some(Box::new(run)), ..new("match", "by hand") }
}

/// The baseline tier. `None` if it cannot compile the program.
fn baseline(program: &Program) -> Option<Subject<'_>> {
    let Defined { engine, function } = define(program, Tier::Baseline);
    engine.compile_in(function, Tier::Baseline).ok()?;
    let engine: Rc<Engine<Op>> = Rc::from(engine);
    let compile = {
        let engine = Rc::clone(&engine);
        move || {
            engine.discard(function).expect("it is defined");
            engine.compile_in(function, Tier::Baseline).expect("it compiles")
        }
    };
    let ((), first) = memory::counted(compile.clone());
    let ((), again) = memory::counted(compile.clone());
    let code_bytes = engine.code_len(function);
    let run = move || engine.call(function, &mut Vm, &*program.args).expect("it returns");
    let (compile, run) = (Some(Box::new(compile) as _), Some(Box::new(run) as _));
    Some(Subject { compile, run, code_bytes, heap: Some((first, again)), ..new("azulejo", "baseline") })
}

/// The engine with default settings. The warm-up runs long enough for the function to tier up.
fn tiering_up(program: &Program) -> Subject<'_> {
    let engine = Box::new(Engine::<Op>::builder().code_bytes(CODE_BYTES).build::<Op>());
    let code = Code { labels: program.code.labels.clone(), ..program.code.ops.clone().into() };
    let function = engine.define(&*program.name, code, program.code.registers).expect("the program is right");
    let run = move || engine.call(function, &mut Vm, &*program.args).expect("it returns");
    Subject { run: Some(Box::new(run)), ..new("azulejo", "climbing") }
}

/// The compiler's input below the engine.
pub(crate) fn source<'a>(program: &'a Program, shape: &'a Shape) -> FunctionSource<'a> {
    FunctionSource {
        vocab: Vocabulary { extra: Op::OPERATORS },
        opcodes: Op::OPCODES,
        templates: Op::templates(),
        code: &program.code.ops,
        labels: &program.code.labels,
        locals: program.code.registers,
        slots: shape.slots,
        depths: &shape.depths,
        entry: 0,
        arguments: None,
        functions: Linkage::default(),
        slow_paths: None,
        sites: None,
        missing: 0,
        drops_surplus: false,
        captured: &[],
        call_entry: None,
        callees: &[],
    }
}

/// A compiler without an engine.
pub(crate) fn compiler() -> Compiler {
    Compiler::new(CODE_BYTES, &X64, Features::detect().bits(), &azulejo::rules::MATCHERS)
        .expect("this machine runs code")
}

fn optimizer(program: &Program) -> Subject<'_> {
    let Defined { engine, function } = define(program, Tier::Optimizer);
    engine.compile(function).expect("it compiles");
    let shape = verify(&program.code.ops, &program.code.labels, program.code.registers).expect("as above");
    let mut pipeline = compiler();
    let mut compile_below = {
        let shape = shape.clone();
        move || pipeline.bytecode(&source(program, &shape), &mut Blind).expect("it compiles")
    };
    let (code, first) = memory::counted(&mut compile_below);
    let (_, again) = memory::counted(&mut compile_below);
    let code_bytes = code.bytes().len();
    let engine: Rc<Engine<Op>> = Rc::from(engine);
    let compile = {
        let engine = Rc::clone(&engine);
        move || {
            engine.discard(function).expect("it is defined");
            engine.compile(function).expect("it compiles")
        }
    };
    let run: Box<dyn FnMut() -> u64> = if program.calls_itself() {
        Box::new(move || engine.call(function, &mut Vm, &*program.args).expect("it returns"))
    } else {
        let mut frame = vec![0; shape.slots as usize];
        Box::new(move || enter(&code, program, &mut frame))
    };
    Subject {
        compile: Some(Box::new(compile)),
        pipeline: Some(Box::new(move || drop(black_box(compile_below())))),
        run: Some(run),
        code_bytes,
        heap: Some((first, again)),
        ..new("azulejo", "optimizer")
    }
}

fn enter(code: &Compiled, program: &Program, frame: &mut [u64]) -> u64 {
    frame[..program.args.len()].copy_from_slice(&program.args);
    // SAFETY: the frame has the slots that the function uses, and the context has the type that templates expect.
    match unsafe { code.enter(std::ptr::from_mut(&mut Vm).cast(), frame.as_mut_ptr(), std::ptr::null()) } {
        Status::Returned(value) => value,
        other => panic!("{other:?}"),
    }
}

fn limit(program: &Program) -> Subject<'_> {
    let mut limit = Limit::new(program.code.ops.len());
    let code_bytes = limit.compile();
    let compile = move || {
        black_box(limit.compile());
    };
    Subject { compile: Some(Box::new(compile)), code_bytes, ..new("limit", "copy-and-patch") }
}

#[repr(C)]
struct RawStatus {
    status: u64,
    value: u64,
}

fn cranelift<'a>(program: &'a Program, tier: &'static str, opt_level: &str, allocator: &str) -> Subject<'a> {
    type Entry = unsafe extern "sysv64" fn(*mut Vm, *mut u64, *const ()) -> RawStatus;
    type Direct = unsafe extern "sysv64" fn(u64) -> u64;
    let mut cranelift = Box::new(Cranelift::new(opt_level, allocator));
    let code = cranelift.compile(program);
    let mut vm = Vm;
    let mut frame = vec![0; program.code.registers as usize];
    let run: Box<dyn FnMut() -> u64> = if program.calls_itself() {
        // SAFETY: a function that calls itself was compiled with this signature.
        let entry: Direct = unsafe { std::mem::transmute(code.address) };
        // SAFETY: as above; the module is never freed.
        Box::new(move || unsafe { entry(program.args[0]) })
    } else {
        // SAFETY: the function was compiled with this signature.
        let entry: Entry = unsafe { std::mem::transmute(code.address) };
        Box::new(move || {
            frame[..program.args.len()].copy_from_slice(&program.args);
            // SAFETY: the frame holds the arguments, and the programs stay within their memory.
            let exit = unsafe { entry(&raw mut vm, frame.as_mut_ptr(), std::ptr::null()) };
            assert_eq!(exit.status, 0, "the programs do not trap");
            exit.value
        })
    };
    let compile = move || {
        black_box(cranelift.compile(program));
    };
    let (compile, run) = (Some(Box::new(compile) as _), Some(run));
    Subject { compile, run, code_bytes: code.bytes, ..new("cranelift", tier) }
}

fn rust(program: &Program) -> Option<Subject<'_>> {
    let twin = program.twin.as_ref()?;
    let run = move || (twin.borrow_mut())();
    Some(Subject { run: Some(Box::new(run)), ..new("rust", "-O") })
}
