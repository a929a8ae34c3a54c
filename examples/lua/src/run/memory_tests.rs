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

/// No pass leaves out objects that nothing else sees. Once one does, this test is to say in which tiers.
#[test]
fn objects_that_do_not_escape_are_made_in_every_tier() {
    for tiers in ALL {
        let source = "collectgarbage('stop')
            local function sum(n)
                local sum = 0
                for i = 1, n do
                    local point = { x = i, y = 1 }
                    sum = sum + point.x * point.y
                end
                return sum
            end
            sum(5000)
            local before = collectgarbage('count')
            return sum(5000), (collectgarbage('count') - before) * 1024";
        let all = run(&mut vm(tiers), source);
        assert_eq!(all[0], Value::number(12_502_500.0), "{tiers:?}");
        // An object has two values of eight bytes.
        let bytes = all[1].as_number().expect("it is a number");
        assert!(bytes >= 5000.0 * 16.0, "{tiers:?}: {bytes} bytes");
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
