//! Unbounded recursion ends with an error, in every tier and wherever the thread's stack is.

use azulejo::prelude::*;
use std::rc::Rc;

struct Vm {
    engine: Rc<Engine<Op>>,
    functions: Vec<FunctionId>,
    /// How the call at a depth is made.
    way: fn(u64) -> Way,
    depth: u64,
    error: Option<Error>,
    /// The lowest stack pointer at a call of `recurse` or `look`, approximately.
    lowest: usize,
}

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(context = Vm)]
enum Op {
    Const { dst: Out<i64>, value: Imm<i64> },
    Add { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Recurse { dst: Out<i64>, a: In<i64> },
    Invoke { dst: Out<i64>, f: Imm<u32>, a: In<i64> },
    Look { run: Regs },
    Return { a: In<i64> },
}

template! {
    Op::Const   => $value
    Op::Add     => (add $a $b)
    Op::Recurse => (call recurse (arglist (carg (tc) ptr) (carg $a i64)) i64)
    Op::Invoke  => (invoke $f (arglist $a) i64)
    Op::Look    => (callv look (arglist (carg (tc) ptr) (carg (window $run) ptr) (carg (length $run) i64)))
    Op::Return  => (return $a)
}

/// The approximate stack pointer.
fn here() -> usize {
    let here = 0u8;
    (&raw const here).addr()
}

fn look(vm: &mut Vm, _: *const u64, _: i64) {
    vm.lowest = vm.lowest.min(here());
}

fn recurse(vm: &mut Vm, a: i64) -> i64 {
    let engine = Rc::clone(&vm.engine);
    vm.depth += 1;
    vm.lowest = vm.lowest.min(here());
    let function = vm.functions[vm.depth as usize % vm.functions.len()];
    let result = match (vm.way)(vm.depth) {
        Way::Interpret => engine.interpret(function, vm, (a,)),
        Way::Call => engine.call(function, vm, (a,)),
        Way::CallBack => engine.call_back(function, vm, (a,)),
    };
    result.unwrap_or_else(|error| {
        vm.error.get_or_insert(error);
        -1
    })
}

fn r<T: From<u32>>(register: u32) -> T {
    register.into()
}

/// A recursive function with this many values live across its call.
fn recursive(values: u32) -> Vec<Op> {
    let mut code = Vec::new();
    for at in 0..values {
        code.push(Op::Const { dst: r(2 + at), value: Imm(1 << 40 | at as i64) });
        code.push(Op::Add { dst: r(2 + at), a: r(2 + at), b: r(0) });
    }
    code.push(Op::Recurse { dst: r(1), a: r(0) });
    for at in 0..values {
        code.push(Op::Add { dst: r(1), a: r(1), b: r(2 + at) });
    }
    code.push(Op::Return { a: r(1) });
    code
}

/// A way in which Rust calls a function.
#[derive(Clone, Copy)]
enum Way {
    Interpret,
    Call,
    CallBack,
}

const WAYS: [fn(u64) -> Way; 7] = [
    |_| Way::Interpret,
    |_| Way::Call,
    |_| Way::CallBack,
    |depth| if depth % 2 == 0 { Way::Interpret } else { Way::Call },
    |depth| if depth % 7 == 0 { Way::Interpret } else { Way::Call },
    |depth| if depth % 7 == 0 { Way::Interpret } else { Way::CallBack },
    |depth| if depth % 2 == 0 { Way::CallBack } else { Way::Call },
];

/// Frames with few and with many slots, both on the engine's stack and on the machine's.
const VALUES: [u32; 3] = [0, 30, 1500];

fn machine(builder: azulejo::Builder) -> Vm {
    let engine = Rc::new(builder.build::<Op>());
    let functions = VALUES.map(|values| {
        let function = engine.define("endless", recursive(values), values + 2).expect("the code is right");
        if azulejo::can_compile().is_ok() {
            engine.compile(function).expect("it compiles");
        }
        function
    });
    Vm { engine, functions: functions.to_vec(), way: WAYS[0], depth: 0, error: None, lowest: 0 }
}

/// Recurses without end in every mix of tiers; twice, because the first run must release everything.
fn exhaust(vm: &mut Vm) {
    for way in WAYS {
        for _ in 0..2 {
            (vm.way, vm.depth, vm.error) = (way, 0, None);
            recurse(vm, 1);
            assert_eq!(vm.error, Some(Error::StackOverflow));
            assert!(vm.depth >= 2, "{} calls", vm.depth);
        }
    }
}

/// Runs on a thread with a stack of `kib` KiB.
fn on_thread(kib: usize, run: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(kib << 10).spawn(run).expect("it starts");
    thread.join().expect("it ends well");
}

/// Calls `run` when this many bytes of the stack are used.
fn deeper(bytes: usize, run: &mut dyn FnMut()) {
    let start = 0u8;
    deeper_from((&raw const start).addr(), bytes, run);
}

#[inline(never)]
fn deeper_from(start: usize, bytes: usize, run: &mut dyn FnMut()) {
    let used = std::hint::black_box([0u8; 1 << 10]);
    match start - used.as_ptr().addr() < bytes {
        true => deeper_from(start, bytes, run),
        false => run(),
    }
    std::hint::black_box(&used);
}

#[test]
fn endless_recursion_is_an_error() {
    exhaust(&mut machine(Engine::<Op>::builder()));
    // The engine's own stack ends first.
    exhaust(&mut machine(Engine::<Op>::builder().stack_slots(20_000)));
    // The engine's limit of the machine's stack ends first.
    exhaust(&mut machine(Engine::<Op>::builder().native_stack(200 << 10)));
}

/// The thread's stack is smaller than the engine's limit.
#[test]
fn on_threads_with_small_stacks() {
    for kib in [256, 512, 1024, 4096] {
        on_thread(kib, || exhaust(&mut machine(Engine::<Op>::builder().native_stack(1 << 30))));
    }
}

/// Much of the stack is in use when the engine is built, or when it is called, or both.
#[test]
fn from_any_depth() {
    on_thread(2048, || {
        let deep = 1500 << 10;
        let endless = || Engine::<Op>::builder().native_stack(1 << 30);
        let mut shallow = machine(endless());
        deeper(deep, &mut || exhaust(&mut shallow));
        exhaust(&mut shallow);
        let mut vm = None;
        deeper(deep, &mut || vm = Some(machine(endless())));
        let vm = vm.as_mut().expect("it was built");
        exhaust(vm);
        deeper(deep, &mut || exhaust(vm));
        exhaust(vm);
    });
}

/// A call of a leaf function is refused if the stack has no room for it, and only then.
#[test]
fn on_a_stack_that_is_used_up() {
    #[inline(never)]
    fn deeper(vm: &mut Vm, leaf: FunctionId, depth: usize) -> usize {
        let used = std::hint::black_box([0u8; 1 << 10]);
        let engine = Rc::clone(&vm.engine);
        let called = engine.call::<_, i64>(leaf, vm, (7i64,));
        let interpreted = engine.interpret::<_, i64>(leaf, vm, (7i64,));
        let depth = match (&called, &interpreted) {
            (Ok(7), Ok(7)) => deeper(vm, leaf, depth + used.len()),
            _ => {
                // Compiled code needs slightly more stack than the interpreter.
                assert_eq!(called, Err(Error::StackOverflow));
                depth
            }
        };
        std::hint::black_box(&used);
        depth
    }
    on_thread(1024, || {
        let mut vm = machine(Engine::<Op>::builder());
        let leaf = vm.engine.define("leaf", vec![Op::Return { a: r(0) }], 1).expect("the code is right");
        if azulejo::can_compile().is_ok() {
            vm.engine.compile(leaf).expect("it compiles");
        }
        assert!(deeper(&mut vm, leaf, 0) > 200 << 10);
        exhaust(&mut vm);
    });
}

/// Threads whose stack is too small to compile or to call: each step succeeds or is refused.
#[test]
fn on_threads_with_hardly_any_stack() {
    #[inline(never)]
    fn steps(kib: usize) {
        let engine: Engine<Op> = Engine::<Op>::builder().native_stack(1 << 30).build();
        let leaf = engine.define("leaf", vec![Op::Return { a: r(0) }], 1).expect("the code is right");
        let mut vm = Vm {
            engine: Rc::new(engine),
            functions: vec![leaf],
            way: WAYS[0],
            depth: 0,
            error: None,
            lowest: 0,
        };
        let engine = Rc::clone(&vm.engine);
        let mut done = 0;
        let mut step = |result: Result<(), Error>| match result {
            Ok(()) => done += 1,
            Err(error) => assert!(matches!(error, Error::StackOverflow | Error::Unsupported(_)), "{error}"),
        };
        step(engine.interpret(leaf, &mut vm, (7i64,)));
        step(engine.compile_in(leaf, Tier::Baseline));
        step(engine.compile(leaf));
        step(engine.call(leaf, &mut vm, (7i64,)));
        step(engine.stages(leaf).map(|_| ()));
        step(engine.explore(leaf).map(|_| ()));
        step(engine.discard(leaf));
        assert!(done >= if kib < 512 { 1 } else { 6 }, "{done} with {kib} KiB");
        // A function whose compilation was refused for lack of stack can still be called.
        let tiering: Engine<Op> = Engine::<Op>::builder().thresholds(1, 1).build();
        let leaf = tiering.define("leaf", vec![Op::Return { a: r(0) }], 1).expect("the code is right");
        let call = |vm: &mut Vm| tiering.call::<_, i64>(leaf, vm, (7i64,));
        let results: Vec<Result<i64, Error>> = (0..20).map(|_| call(&mut vm)).collect();
        assert!(results.iter().all(|result| matches!(result, Ok(7) | Err(Error::StackOverflow))));
    }
    // In debug builds, making an engine takes more stack than the smallest ones have.
    let smallest = [32, 48].into_iter().filter(|_| !cfg!(debug_assertions));
    for kib in smallest.chain([64, 80, 96, 112, 128, 160, 192, 208, 224, 256, 512]) {
        on_thread(kib, move || steps(kib));
    }
}

/// The stack that may be used below the engine's limit, by the callees of the last function.
const BELOW: usize = 8 << 10;

/// Runs a function that recurses without end: the machine's stack is used up to the limit and not beyond. Each call uses
/// slightly more than `slots` slots of the stack, which is more than [`BELOW`]. The limit falls into the middle of a frame.
fn nests_up_to_the_limit(builder: azulejo::Builder, code: Vec<Op>, slots: u32, way: fn(u64) -> Way) {
    let frame = slots as usize * 8;
    let native_stack = 5 * frame + frame / 4;
    let engine = Rc::new(builder.native_stack(native_stack).build());
    let function = engine.define("endless", code, slots + 2).expect("the code is right");
    engine.compile(function).expect("it compiles");
    let mut vm = Vm { engine, functions: vec![function], way, depth: 0, error: None, lowest: usize::MAX };
    let engine = Rc::clone(&vm.engine);
    let start = here();
    let result = engine.call::<_, i64>(function, &mut vm, (1i64,));
    assert_eq!(vm.error.or(result.err()), Some(Error::StackOverflow));
    let used = start - vm.lowest;
    assert!((4 * frame..native_stack + BELOW).contains(&used), "{used} bytes are used of {native_stack}");
}

/// The engine does not enter a compiled function with a large frame if the stack has no room for it. A compiled function
/// calls the engine recursively.
#[test]
fn the_engine_looks_for_room_before_it_enters_large_frames() {
    if azulejo::can_compile().is_err() {
        return;
    }
    for way in [WAYS[1], WAYS[2]] {
        on_thread(4096, move || nests_up_to_the_limit(Engine::<Op>::builder(), recursive(7000), 7000, way));
    }
}

/// Calls between functions check for room, too. Frames are large because of many VM registers, or because many values are
/// live at once.
#[test]
fn calls_between_functions_look_for_room_before_they_enter_large_frames() {
    if azulejo::can_compile().is_err() {
        return;
    }
    const SLOTS: u32 = 4000;
    let invoke = Op::Invoke { dst: r(1), f: Imm(0), a: r(0) };
    let look = |count| Op::Look { run: Regs { first: 0, count } };
    let many_registers = vec![look(SLOTS), invoke, look(SLOTS), Op::Return { a: r(1) }];
    let mut many_values = recursive(SLOTS);
    let is_call = |op: &Op| matches!(op, Op::Recurse { .. });
    let at = many_values.iter().position(is_call).expect("there is a call");
    many_values.splice(at..=at, [look(0), invoke]);
    for tier in [Tier::Baseline, Tier::Optimizer] {
        for code in [&many_registers, &many_values] {
            let code = code.clone();
            let builder = Engine::<Op>::builder().only(tier);
            on_thread(4096, move || nests_up_to_the_limit(builder, code, SLOTS, WAYS[1]));
        }
    }
}
