//! Programs that run too long are stopped: by another thread, and by the end of their fuel.
//!
//! In: programs that never end, each in its own way, and in every tier. Out: the error that says who has stopped them. No program catches it,
//! and what has stopped can be used again.

use azulejo_lua::api::{Interrupter, Lua, LuaError, LuaFunction, LuaResult, LuaThread, Tiers};
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

const TIERS: [Tiers; 5] =
    [Tiers::InterpreterInRust, Tiers::Interpreter, Tiers::Baseline, Tiers::Optimizer, Tiers::Climbing];

/// Programs without an end. `spin` is a loop, `forever` calls itself again and again.
const ENDLESS: [(&str, &str); 20] = [
    ("a loop", "spin()"),
    ("a for", "for i = 1, math.huge do n = n + i end"),
    ("a repeat", "repeat until false"),
    ("tail calls", "local function f(n) return f(n + 1) end f(0)"),
    ("calls", "forever(0)"),
    ("a call in a loop", "local function one() return 1 end while true do n = n + one() end"),
    ("pcall", "pcall(spin) n = -1"),
    ("pcall of what fails", "while true do pcall(error, 'no') end"),
    ("pcall in pcall", "pcall(function() pcall(pcall, spin) n = -1 end) n = -1"),
    ("xpcall", "xpcall(spin, function() n = -1 end) n = -1"),
    ("a handler", "xpcall(error, spin) n = -1"),
    ("a coroutine", "coroutine.resume(coroutine.create(spin)) n = -1"),
    ("a coroutine's generator", "pcall(coroutine.wrap(function() pcall(spin) n = -1 end)) n = -1"),
    (
        "a metamethod",
        "local t = setmetatable({}, { __index = spin }) pcall(function() return t.x end) n = -1",
    ),
    ("a function that the library calls", "pcall(table.sort, { 3, 2, 1 }, spin) n = -1"),
    ("a search", "pcall(string.find, ('a'):rep(50), ('a*'):rep(50) .. 'b') n = -1"),
    ("a search for short matches", "pcall(string.match, ('a'):rep(50), '^' .. ('a-'):rep(50) .. 'b') n = -1"),
    (
        "a replacement",
        "pcall(string.gsub, ('a'):rep(50) .. 'b', ('a?'):rep(50) .. ('a'):rep(50) .. 'c', '') n = -1",
    ),
    ("a reader", "load(spin) n = -1"),
    ("a finalizer", "getmetatable(newproxy(true)).__gc = spin collectgarbage() n = -1"),
];

const PRELUDE: &str = "
    n = 0
    function spin() while true do n = n + 1 end end
    function forever(n) if n < 100 then forever(n + 1) forever(n + 1) end end";

fn program(tiers: Tiers, fuel: Option<u64>) -> Lua {
    let builder = Lua::builder().tiers(tiers);
    let lua = match fuel {
        Some(fuel) => builder.fuel(fuel),
        None => builder,
    }
    .build();
    lua.load(PRELUDE).exec().expect("it is right");
    lua
}

/// The program does all that programs do.
fn is_well(lua: &Lua) -> bool {
    let text = "
        local ok, why = pcall(error, 'caught', 0)
        local co = coroutine.wrap(function(a) return coroutine.yield(a) + 1 end)
        local sum = co(1)
        for i = 1, 1000 do sum = sum + i end
        local _, handled = xpcall(error, function() return 'handled' end)
        return sum + co(1), ok, why, handled";
    let found: (f64, bool, String, String) = lua.load(text).eval().expect("it is right");
    found == (500_503.0, false, "caught".to_string(), "handled".to_string())
}

/// Interrupts a program later, unless it is dropped first.
struct Later {
    stop: std::sync::mpsc::Sender<()>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Later {
    fn interrupts(interrupter: &Interrupter, after: Duration) -> Later {
        let interrupter = interrupter.clone();
        let (stop, stopped) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            if stopped.recv_timeout(after).is_err() {
                interrupter.interrupt();
            }
        });
        Later { stop, thread: Some(thread) }
    }
}

impl Drop for Later {
    fn drop(&mut self) {
        // The thread has ended if it has interrupted.
        let _ = self.stop.send(());
        self.thread.take().expect("it is there until now").join().expect("it does not fail");
    }
}

#[test]
fn another_thread_stops_whatever_runs() {
    for tiers in TIERS {
        let lua = program(tiers, None);
        let interrupter = lua.interrupter();
        for (what, text) in ENDLESS {
            let later = Later::interrupts(&interrupter, Duration::from_millis(10));
            let ended = lua.load(text).exec();
            drop(later);
            assert!(matches!(ended, Err(LuaError::Interrupted)), "{what} in {tiers:?}: {ended:?}");
            assert!(lua.globals().get::<f64>("n").unwrap() >= 0.0, "{what} in {tiers:?}: it went on");
            assert!(is_well(&lua), "{what} in {tiers:?}");
        }
    }
}

#[test]
fn the_end_of_the_fuel_stops_whatever_runs() {
    for tiers in TIERS {
        let lua = program(tiers, Some(100));
        for (what, text) in ENDLESS {
            lua.set_fuel(30_000);
            let ended = lua.load(text).exec();
            assert!(matches!(ended, Err(LuaError::OutOfFuel)), "{what} in {tiers:?}: {ended:?}");
            // An interpreter gives back what it has not used when a search has taken all else.
            assert!(
                lua.fuel().is_some_and(|left| left <= 64),
                "{what} in {tiers:?}: {:?} is left",
                lua.fuel()
            );
            // Without any, not even a text runs that does nothing.
            lua.set_fuel(0);
            assert!(matches!(lua.load("").exec(), Err(LuaError::OutOfFuel)));
            lua.set_fuel(100_000);
            assert!(lua.globals().get::<f64>("n").unwrap() >= 0.0, "{what} in {tiers:?}: it went on");
            assert!(is_well(&lua), "{what} in {tiers:?}");
        }
    }
}

#[test]
fn fuel_is_counted_alike_in_every_tier() {
    for tiers in TIERS {
        let lua = program(tiers, Some(1_000_000));
        lua.load("for i = 1, 10000 do n = n + 1 end").exec().unwrap();
        let used = 1_000_000 - lua.fuel().unwrap();
        assert!((10_000..10_100).contains(&used), "{used} in {tiers:?}");
    }
    assert_eq!(Lua::new().fuel(), None);
}

#[test]
fn functions_of_rust_give_a_program_more_fuel_while_it_runs() {
    for tiers in TIERS {
        let lua = program(tiers, Some(50_000));
        let given = Rc::new(Cell::new(0));
        let count = given.clone();
        let refuel = lua.create_function(move |lua, ()| {
            count.set(count.get() + 1);
            lua.set_fuel(50_000);
            Ok(lua.fuel())
        });
        lua.globals().set("refuel", refuel).unwrap();
        let text = "for i = 1, 20 do for j = 1, 20000 do n = n + 1 end assert(refuel() == 50000) end";
        lua.load(text).exec().unwrap();
        assert_eq!((given.get(), lua.globals().get::<i64>("n").unwrap()), (20, 400_000), "{tiers:?}");
    }
}

#[test]
fn an_end_goes_through_functions_of_rust() {
    for tiers in TIERS {
        let lua = program(tiers, Some(50_000));
        let call = lua.create_function(|_, function: LuaFunction| function.call::<_, ()>(()));
        let swallow = lua.create_function(|_, function: LuaFunction| {
            Ok(matches!(function.call::<_, ()>(()), Err(LuaError::OutOfFuel)))
        });
        lua.globals().set("call", call).unwrap();
        lua.globals().set("swallow", swallow).unwrap();
        // A function that keeps the error to itself does not let the program go on: it has no fuel.
        for text in ["pcall(call, spin) n = -1", "pcall(call, function() pcall(spin) end) n = -1"] {
            lua.set_fuel(50_000);
            let ended = lua.load(text).exec();
            assert!(matches!(ended, Err(LuaError::OutOfFuel)), "{text} in {tiers:?}: {ended:?}");
            lua.set_fuel(100_000);
            assert!(lua.globals().get::<f64>("n").unwrap() >= 0.0 && is_well(&lua), "{text} in {tiers:?}");
        }
        lua.set_fuel(50_000);
        let ended = lua.load("assert(swallow(spin)) pcall(spin)").exec();
        assert!(matches!(ended, Err(LuaError::OutOfFuel)), "in {tiers:?}: {ended:?}");
        lua.set_fuel(100_000);
        assert!(is_well(&lua), "{tiers:?}");
    }
}

#[test]
fn a_coroutine_that_rust_code_resumes_is_stopped() {
    for tiers in TIERS {
        let lua = program(tiers, Some(50_000));
        let interrupter = lua.interrupter();
        let body: LuaFunction =
            lua.load("function() coroutine.yield(7) pcall(spin) n = -1 end").eval().unwrap();
        let start = |lua: &Lua| -> LuaThread {
            let thread = lua.create_thread(&body).unwrap();
            assert_eq!(thread.resume::<_, i64>(()).unwrap(), 7);
            thread
        };
        let thread = start(&lua);
        let ended = thread.resume::<_, ()>(());
        assert!(matches!(ended, Err(LuaError::OutOfFuel)), "{tiers:?}: {ended:?}");
        lua.set_fuel(u64::MAX);
        assert!(!thread.is_suspended() && is_well(&lua), "{tiers:?}");
        let thread = start(&lua);
        let later = Later::interrupts(&interrupter, Duration::from_millis(10));
        let ended = thread.resume::<_, ()>(());
        drop(later);
        assert!(matches!(ended, Err(LuaError::Interrupted)), "{tiers:?}: {ended:?}");
        assert!(!thread.is_suspended() && is_well(&lua), "{tiers:?}");
        assert_eq!(lua.globals().get::<i64>("n").unwrap().min(0), 0, "{tiers:?}: it went on");
    }
}

#[test]
fn a_request_that_comes_early_ends_the_next_call_and_only_that() {
    for tiers in TIERS {
        let lua = program(tiers, None);
        let interrupter = lua.interrupter();
        interrupter.interrupt();
        assert!(matches!(lua.load("n = 1").exec(), Err(LuaError::Interrupted)), "{tiers:?}");
        lua.load("n = 2").exec().unwrap();
        interrupter.interrupt();
        interrupter.withdraw();
        lua.load("n = n + 1").exec().unwrap();
        assert_eq!(lua.globals().get::<i64>("n").unwrap(), 3);
    }
}

#[test]
fn a_function_of_rust_may_interrupt_its_own_program() {
    for tiers in TIERS {
        let lua = program(tiers, None);
        let interrupter = lua.interrupter();
        let stop = lua.create_function(move |_, ()| {
            interrupter.interrupt();
            Ok(())
        });
        lua.globals().set("stop", stop).unwrap();
        let ended = lua.load("pcall(function() stop() spin() end) n = -1").exec();
        assert!(matches!(ended, Err(LuaError::Interrupted)), "{tiers:?}: {ended:?}");
        assert!(lua.globals().get::<f64>("n").unwrap() >= 0.0 && is_well(&lua), "{tiers:?}");
        // Nothing behind the function runs, though nothing there is a loop or a call of Lua.
        let ended = lua.load("n = 1 stop() n = tostring(-2)").exec();
        assert!(matches!(ended, Err(LuaError::Interrupted)), "{tiers:?}: {ended:?}");
        assert!(lua.globals().get::<f64>("n").unwrap() == 1.0 && is_well(&lua), "{tiers:?}");
    }
}

#[test]
fn functions_of_the_library_that_take_long_are_interrupted() {
    let lua = Lua::with_all_libraries();
    let interrupter = lua.interrupter();
    for code in [
        "table.insert({ 1 }, -2 ^ 31 + 10, 1)",
        "text:gsub('ab', '')",
        "for _ in text:gmatch('[^b]b') do end",
        "text:find('[^b][^a]b')",
    ] {
        lua.load("text = text or ('ab'):rep(2 ^ 25)").exec().unwrap();
        let later = Later::interrupts(&interrupter, Duration::from_millis(10));
        let ended = lua.load(code).exec();
        drop(later);
        assert!(matches!(ended, Err(LuaError::Interrupted)), "{code}: {ended:?}");
        assert_eq!(lua.load("return #text").eval::<f64>().unwrap(), 2f64.powi(26));
    }
}

#[test]
fn an_interrupted_search_leaves_no_request_behind() {
    for tiers in TIERS {
        let lua = program(tiers, None);
        let interrupter = lua.interrupter();
        let string: azulejo_lua::api::LuaTable = lua.globals().get("string").unwrap();
        let find: LuaFunction = string.get("find").unwrap();
        // No code of Lua runs here, which would notice the request.
        let later = Later::interrupts(&interrupter, Duration::from_millis(10));
        let ended = find.call::<_, Option<f64>>(("a".repeat(50), "a*".repeat(50) + "b"));
        drop(later);
        assert!(matches!(ended, Err(LuaError::Interrupted)), "{tiers:?}: {ended:?}");
        assert_eq!(find.call::<_, f64>(("abc", "b+")).unwrap(), 2.0);
        assert!(is_well(&lua), "{tiers:?}");
    }
}

#[test]
fn texts_that_are_too_long_are_refused_and_reading_them_is_interrupted() {
    let lua = program(Tiers::Interpreter, None);
    lua.load("text = ('x = { 1 } '):rep(1e6)").exec().unwrap();
    let limit = lua.set_memory_limit(24 << 20);
    let code = "local f, message = loadstring(text) assert(f == nil) return message";
    assert_eq!(lua.load(code).eval::<String>().unwrap(), "not enough memory");
    let text: String = lua.globals().get("text").unwrap();
    let refused = lua.load(&text).exec();
    assert!(
        matches!(&refused, Err(LuaError::Runtime(message)) if &**message == "not enough memory"),
        "{refused:?}"
    );
    assert!(is_well(&lua));
    lua.set_memory_limit(limit);
    let interrupter = lua.interrupter();
    let ways: [(&str, &dyn Fn() -> LuaResult<()>); 3] = [
        ("by Lua code", &|| lua.load("local f = loadstring(text) n = -1").exec()),
        ("by Rust code", &|| lua.load(&text).into_function().map(drop)),
        ("as an expression", &|| lua.load(&text).eval()),
    ];
    for (way, load) in ways {
        let later = Later::interrupts(&interrupter, Duration::from_millis(10));
        let ended = load();
        drop(later);
        assert!(matches!(ended, Err(LuaError::Interrupted)), "{way}: {ended:?}");
        assert!(is_well(&lua), "{way}");
    }
}

#[test]
fn searches_take_fuel() {
    for tiers in TIERS {
        let lua = program(tiers, Some(1_000_000));
        // Each place where the text does not match is a step back.
        lua.load("local text = ('a'):rep(100) for i = 1, 1000 do assert(not text:find('[a]-b')) end")
            .exec()
            .unwrap();
        let used = 1_000_000 - lua.fuel().unwrap();
        assert!((2000..10_000).contains(&used), "{used} in {tiers:?}");
    }
}

/// Texts that nest so deep: each with what it begins with, what is in the middle, and what it ends with.
fn nested(depth: usize) -> Vec<String> {
    let parts = [
        ("return ", "(", "1", ")"),
        ("return ", "{", "", "}"),
        ("return ", "f{-(a[", "1", "])}"),
        ("return ", "function() return ", "1", " end"),
        ("return a", "..(a", "", ")"),
        ("return a", " and (a == 1 or a", "", ")"),
        ("", "if a then f(function() ", "", " end) end"),
        ("", "local function f() ", "", " end"),
        ("", "while a do repeat ", "", " until not a end"),
        ("return ", "not ", "a", ""),
        ("return a", "^ -a", "", ""),
    ];
    let text = |(start, before, middle, behind): (&str, &str, &str, &str)| {
        [start, &before.repeat(depth), middle, &behind.repeat(depth)].concat()
    };
    parts.into_iter().map(text).collect()
}

#[test]
fn texts_that_nest_deep_are_refused_on_small_stacks() {
    let run = || {
        let lua = Lua::new();
        // What rustc has not optimized takes much.
        for text in nested(if cfg!(debug_assertions) { 2 } else { 10 }) {
            lua.load(&text[..]).into_function().unwrap_or_else(|error| panic!("{text}: {error}"));
        }
        for depth in [30, 60, 90, 120, 160, 197, 250, 50_000] {
            for text in nested(depth) {
                let refused = lua.load(&text[..]).into_function().err().map(|error| error.to_string());
                let is_said = |error: &str| {
                    error.ends_with("chunk has too many syntax levels")
                        || error.ends_with("function or expression too complex")
                };
                assert!(depth <= 197 || refused.is_some(), "{depth} of {text:.20}");
                assert!(refused.as_deref().is_none_or(is_said), "{depth} of {text:.20}: {refused:?}");
            }
        }
        // Their length is no depth.
        for part in [" and a", " or a", " == a", "+a"] {
            let text = format!("local a = 1 return a{}", part.repeat(50_000));
            lua.load(&text[..]).into_function().unwrap_or_else(|error| panic!("{part}: {error}"));
        }
        assert!(is_well(&lua));
    };
    for size in [256 << 10, 1 << 20] {
        let thread = std::thread::Builder::new().stack_size(size).spawn(run);
        thread.expect("a thread can be made").join().expect("it does not fail");
    }
}
