//! What is freed, and what programs get that need too much, in every tier.

use crate::object::value::Value;
use crate::run::vm::{Tiers, Vm};

const ALL: [Tiers; 5] =
    [Tiers::InterpreterInRust, Tiers::Interpreter, Tiers::Baseline, Tiers::Optimizer, Tiers::Climbing];

fn vm(tiers: Tiers) -> Vm {
    let mut vm = Vm::new(tiers);
    vm.open();
    vm
}

/// What a program returns, which does not fail.
fn run(vm: &mut Vm, source: &str) -> Vec<Value> {
    let closure = vm.load(source.as_bytes(), b"=test").expect("the source is right");
    vm.call(closure, &[]).unwrap_or_else(|error| panic!("{source}: {error:?}"))
}

#[test]
fn code_of_functions_that_nothing_refers_to_is_freed() {
    for tiers in ALL {
        let mut vm = vm(tiers);
        let before = vm.engine.stats().functions;
        let source = "local n = 0
            for i = 1, 1000 do
                local f = loadstring('local a = ' .. i .. ' return function(x) return a + x end')
                for j = 1, 3 do n = n + f()(1) end
                if i % 100 == 0 then collectgarbage() end
            end
            return n";
        assert_eq!(run(&mut vm, source), [Value::number(3.0 * (500_500.0 + 1000.0))]);
        // Those of the last hundred rounds may be there.
        let functions = vm.engine.stats().functions;
        assert!(functions < before + 250, "{tiers:?}: {functions} functions");
        // Others get their numbers.
        let numbers = vm.prototypes.len();
        assert!(numbers < before + 250, "{tiers:?}: {numbers} numbers");
    }
}

#[test]
fn code_that_runs_or_waits_is_kept() {
    for tiers in ALL {
        let source = "local function wait()
                local f = loadstring([[
                    loadstring = nil
                    collectgarbage() collectgarbage()
                    coroutine.yield(1)
                    collectgarbage()
                    return 'text of ' .. 'this', { 'constant' }
                ]])
                return (f())
            end
            local load = loadstring
            local thread = coroutine.wrap(wait)
            local first = thread()
            loadstring = load
            collectgarbage()
            for i = 1, 50 do loadstring('return ' .. i)() end
            collectgarbage()
            return first, thread()";
        let mut vm = vm(tiers);
        let all = run(&mut vm, source);
        assert_eq!(all[0], Value::number(1.0), "{tiers:?}");
        assert_eq!(all[1].as_string().expect("it is text").bytes(), b"text of this", "{tiers:?}");
    }
}

/// How many bytes a loop of 5000 iterations takes that does this, and its sum, if it has run often before.
fn bytes_of_loop(tiers: Tiers, before: &str, body: &str) -> (Value, f64) {
    let source = format!(
        "collectgarbage('stop')
        {before}
        local function run(n)
            local sum = 0
            for i = 1, n do {body} end
            return sum
        end
        for _ = 1, 10 do run(1000) end
        local before = collectgarbage('count')
        return run(5000), (collectgarbage('count') - before) * 1024"
    );
    let all = run(&mut vm(tiers), &source);
    (all[0], all[1].as_number().expect("it is a number"))
}

/// The least that an object of two values takes.
const OBJECT: f64 = 16.0;

#[test]
fn the_optimizer_leaves_out_objects_that_nobody_sees() {
    let class = "local Point = {}
        Point.__index = Point
        local function new(x, y) return setmetatable({ x = x, y = y }, Point) end
        function Point:plus(other) return new(self.x + other.x, self.y + other.y) end
        function Point:product() return self.x * self.y end
        local one = new(1, 2)";
    let bodies = [
        ("", "local point = { x = i, y = 1 } sum = sum + point.x * point.y", 12_502_500.0),
        ("", "local pair = { i, i + 1 } sum = sum + pair[2] - pair[1]", 5000.0),
        ("", "local point = {} point.x = i point.y = 2 sum = sum + point.x - point.y", 12_492_500.0),
        ("", "local a = { of = { x = i } } a.of.x = a.of.x + 1 sum = sum + a.of.x", 12_507_500.0),
        ("", "local point = { x = i } if i % 2 == 0 then point.x = 0 end sum = sum + point.x", 6_250_000.0),
        (class, "sum = sum + one:plus(one):product()", 40_000.0),
        (class, "local a = new(i, 1) local b = a:plus(one):plus(a) sum = sum + b:product()", 100_040_000.0),
    ];
    for (before, body, expected) in bodies {
        for tiers in ALL {
            let (sum, bytes) = bytes_of_loop(tiers, before, body);
            assert_eq!(sum, Value::number(expected), "{tiers:?}: {body}");
            match tiers {
                Tiers::Optimizer => assert!(bytes < 100.0 * OBJECT, "{bytes} bytes: {body}"),
                // It may be in any of them.
                Tiers::Climbing => {}
                _ => assert!(bytes >= 5000.0 * OBJECT, "{tiers:?}: {bytes} bytes: {body}"),
            }
        }
    }
}

#[test]
fn objects_that_somebody_sees_are_made_in_every_tier() {
    let bodies = [
        ("local all = {}", "all[i] = { x = i, y = 1 } sum = sum + all[i].x"),
        ("local last", "local point = { x = i, y = 1 } last = point sum = sum + last.x"),
        ("local keys = {}", "local point = { x = i, y = 1 } keys[point] = i sum = sum + keys[point]"),
    ];
    for (before, body) in bodies {
        for tiers in ALL {
            let (sum, bytes) = bytes_of_loop(tiers, before, body);
            assert_eq!(sum, Value::number(12_502_500.0), "{tiers:?}: {body}");
            assert!(bytes >= 5000.0 * OBJECT, "{tiers:?}: {bytes} bytes: {body}");
        }
    }
}

#[test]
fn programs_that_need_too_much_get_an_error() {
    let greedy = [
        "local t = {} for i = 1, 1e9 do t[i] = i end",
        "local t = {} for i = 1, 1e9 do t[i] = {} end",
        "local t = {} for i = 1, 1e9 do t['k' .. i] = i end",
        "local t = {} for i = 1, 1e9 do t = { t } end",
        "local f = nil for i = 1, 1e9 do local g = f f = function() return g end end",
        "local s = 'x' while true do s = s .. s end",
        "local t = {} while true do table.insert(t, {}) end",
        "return ('x'):rep(1e9)",
        "local t = {} for i = 1, 1e9 do t[i] = coroutine.create(function() end) end",
    ];
    for tiers in ALL {
        let mut vm = vm(tiers);
        vm.heap.set_limit(4 << 20);
        for program in greedy {
            let all = run(&mut vm, &format!("return pcall(function() {program} end)"));
            assert_eq!(all[0], Value::FALSE, "{tiers:?}: {program}");
            let message = all[1].as_string().expect("it is text");
            assert_eq!(message.bytes(), b"not enough memory", "{tiers:?}: {program}");
        }
        let modest = "local t = {} for i = 1, 1000 do t = { {}, i } end return t[2]";
        assert_eq!(run(&mut vm, modest), [Value::number(1000.0)], "{tiers:?}");
    }
}
