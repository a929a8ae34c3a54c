//! Tests of what the official suite does not cover: host functions, values, and errors.
#![cfg(feature = "spec")]

use azulejo_wasm::{
    Config, Error, FEATURES, Features, FuncType, Instance, Linker, Module, Store, Tier, Tiers, Trap, ValType,
    Value,
};
use std::cell::RefCell;
use std::rc::Rc;

/// Parses a module in the text format.
fn bytes(text: &str) -> Vec<u8> {
    let buffer = wast::parser::ParseBuffer::new(text).expect("it is text");
    wast::parser::parse::<wast::Wat<'_>>(&buffer).expect("it is a module").encode().expect("it has bytes")
}

fn module(text: &str) -> Module {
    Module::new(&bytes(text)).expect("it is valid")
}

/// A store for each configuration of tiers.
fn stores() -> [Store; 4] {
    let ways = [
        Tiers::Only(Tier::Interpreter),
        Tiers::Only(Tier::Baseline),
        Tiers::Only(Tier::Optimizer),
        Tiers::TierUp(2, 3),
    ];
    ways.map(|tiers| Store::new(Config { tiers, checks: true, backtraces: true, ..Config::default() }))
}

fn instance(store: &mut Store, text: &str) -> Instance {
    store.instantiate(&module(text), &Linker::new()).expect("it imports nothing")
}

#[test]
fn the_host_gets_arguments_and_memory_and_gives_results() {
    for mut store in stores() {
        let log = Rc::new(RefCell::new(Vec::new()));
        let mut linker = Linker::new();
        let seen = log.clone();
        let ty = FuncType::new([ValType::I32, ValType::F64], [ValType::F32, ValType::I64, ValType::I32]);
        linker.func("host", "swap", ty, move |caller, args, results| {
            let memory = caller.memory();
            seen.borrow_mut().push((args.to_vec(), memory.len()));
            memory[args[0] as usize] += 1;
            let number = f64::from_bits(args[1]);
            results[0] = (number as f32).to_bits().into();
            results[1] = -7i64 as u64;
            results[2] = memory[args[0] as usize].into();
            Ok(())
        });
        let text = r#"(module
            (import "host" "swap" (func $swap (param i32 f64) (result f32 i64 i32)))
            (memory 1)
            (data (i32.const 100) "\41")
            (func (export "run") (param f64) (result i32 i64 f32) (local f32 i64)
                (call $swap (i32.const 100) (local.get 0))
                (local.set 0 (f64.const 0))
                (i32.const 1) i32.add
                (local.set 0 (f64.const 1))
                (call $turn))
            (func $turn (param f32 i64 i32) (result i32 i64 f32) (local.get 2) (local.get 1) (local.get 0)))"#;
        let instance = store.instantiate(&module(text), &linker).expect("all imports are there");
        for count in 1..6 {
            let given = instance.invoke(&mut store, "run", &[Value::F64(2.5)]);
            let wanted = vec![Value::I32(0x41 + count + 1), Value::I64(-7), Value::F32(2.5)];
            assert_eq!(given, Ok(wanted));
        }
        assert_eq!(*log.borrow(), vec![(vec![100, 2.5f64.to_bits()], 65536); 5]);
    }
}

#[test]
fn the_host_fails_and_exits() {
    for mut store in stores() {
        let mut linker = Linker::new();
        linker.func("host", "fail", FuncType::new([ValType::I32], []), |_, args, _| match args[0] {
            0 => Ok(()),
            1 => Err(Trap::Host("no luck".into())),
            status => Err(Trap::Exit(status as i32)),
        });
        let text = r#"(module (import "host" "fail" (func $fail (param i32)))
            (func $inner (param i32) (call $fail (local.get 0)))
            (func (export "run") (param i32) (result i32) (call $inner (local.get 0)) (i32.const 5))
            (export "fail" (func $fail)))"#;
        let instance = store.instantiate(&module(text), &linker).expect("all imports are there");
        for name in ["run", "fail"] {
            let mut run = |status| instance.invoke(&mut store, name, &[Value::I32(status)]);
            for _ in 0..4 {
                assert!(run(0).is_ok());
                assert_eq!(run(1), Err(Error::Trap(Trap::Host("no luck".into()))));
                assert_eq!(run(-3), Err(Error::Trap(Trap::Exit(-3))));
            }
        }
    }
}

#[test]
fn a_memory_that_grows_is_seen_by_all_who_have_it() {
    for mut store in stores() {
        let owner = instance(
            &mut store,
            r#"(module (memory (export "memory") 1 5)
                (func (export "grow") (param i32) (result i32) (memory.grow (local.get 0)))
                (func (export "read") (param i32) (result i32) (i32.load8_u (local.get 0))))"#,
        );
        let mut linker = Linker::new();
        linker.instance("owner", &store, owner);
        let user = module(
            r#"(module (import "owner" "memory" (memory 1))
                (func (export "size") (result i32) (memory.size))
                (func (export "write") (param i32 i32) (i32.store8 (local.get 0) (local.get 1))))"#,
        );
        let user = store.instantiate(&user, &linker).expect("the memory is there");
        let write = |store: &mut Store| user.invoke(store, "write", &[Value::I32(70_000), Value::I32(9)]);
        assert_eq!(write(&mut store), Err(Error::Trap(Trap::MemoryOutOfBounds)));
        assert_eq!(owner.invoke(&mut store, "grow", &[Value::I32(1)]), Ok(vec![Value::I32(1)]));
        assert_eq!(write(&mut store), Ok(vec![]));
        assert_eq!(owner.invoke(&mut store, "read", &[Value::I32(70_000)]), Ok(vec![Value::I32(9)]));
        assert_eq!(owner.invoke(&mut store, "grow", &[Value::I32(4)]), Ok(vec![Value::I32(-1)]));
        assert_eq!(user.invoke(&mut store, "size", &[]), Ok(vec![Value::I32(2)]));
        let bytes = owner.memory(&mut store, "memory").expect("it is exported");
        assert_eq!((bytes.len(), bytes[70_000]), (2 << 16, 9));
    }
}

#[test]
fn what_is_on_the_stack_stays_what_it_was() {
    // Locals are written while their old values are on the stack, in straight-line code and across jumps.
    let text = r#"(module
        (func (export "line") (param i32) (result i32)
            (local.get 0) (local.set 0 (i32.const 7)) (local.get 0) (i32.mul)
            (local.get 0) (local.tee 0 (i32.add (local.get 0) (i32.const 1))) (i32.add) (i32.sub))
        (func (export "jump") (param i32) (result i32)
            (local.get 0)
            (block (br_if 0 (i32.eqz (local.get 0))) (local.set 0 (i32.const 100)))
            (i32.sub (local.get 0)))
        (func (export "loop") (param i32) (result i32) (local i32)
            (local.get 1)
            (loop (local.set 1 (i32.add (local.get 1) (local.get 0)))
                (br_if 0 (local.tee 0 (i32.sub (local.get 0) (i32.const 1)))))
            (i32.sub (local.get 1)))
        (func (export "many") (param i32) (result i32)
            (block (result i32)
                (block (result i32) (i32.const 10) (local.get 0) (br_table 0 1 1 0) )
                (i32.add (i32.const 1)))))"#;
    for mut store in stores() {
        let instance = instance(&mut store, text);
        let mut run = |name: &str, n| instance.invoke(&mut store, name, &[Value::I32(n)]);
        for n in 0..6 {
            assert_eq!(run("line", n), Ok(vec![Value::I32(n * 7 - 15)]), "line {n}");
            let wanted = if n == 0 { 0 } else { n - 100 };
            assert_eq!(run("jump", n), Ok(vec![Value::I32(wanted)]), "jump {n}");
            let steps = if n == 0 { 0 } else { n };
            if n > 0 {
                assert_eq!(run("loop", n), Ok(vec![Value::I32(-(steps * (steps + 1) / 2))]), "loop {n}");
            }
            let wanted = if n == 1 || n == 2 { 10 } else { 11 };
            assert_eq!(run("many", n), Ok(vec![Value::I32(wanted)]), "many {n}");
        }
    }
}

#[test]
fn mistakes_are_told() {
    let mut store = Store::new(Config::default());
    let text = r#"(module (func (export "f") (param i32)) (memory (export "m") 1))"#;
    let instance = instance(&mut store, text);
    assert_eq!(instance.invoke(&mut store, "g", &[]), Err(Error::NoExport("g".into())));
    assert_eq!(instance.invoke(&mut store, "m", &[]), Err(Error::NoExport("m".into())));
    for args in [&[][..], &[Value::I64(1)], &[Value::I32(1), Value::I32(2)]] {
        assert!(matches!(instance.invoke(&mut store, "f", args), Err(Error::Arguments(_))));
    }
    assert!(matches!(Module::new(b"\0asm\x01\0\0"), Err(Error::Module(_))));
    assert!(matches!(Module::new(b""), Err(Error::Module(_))));
    let needs = module(r#"(module (import "a" "b" (func)))"#);
    let error = store.instantiate(&needs, &Linker::new()).expect_err("it is not there");
    assert_eq!(error.to_string(), "unknown import `a` `b`: (func) is expected, and there is no `a`");
    let mut linker = Linker::new();
    linker.func("a", "b", FuncType::new([], [ValType::I32]), |_, _, _| Ok(()));
    let error = store.instantiate(&needs, &linker).expect_err("it is of another type");
    let wanted = "incompatible import type of `a` `b`: (func) is expected, and there is (func (result i32))";
    assert_eq!(error.to_string(), wanted);
    let block = bytes(
        "(module (type (func (result i32 i32))) (func (block (result i32 i32) unreachable) drop drop))",
    );
    assert!(matches!(Module::with_features(&block, Features::WASM1), Err(Error::Module(_))));
    assert!(Module::with_features(&block, FEATURES).is_ok());
    // Unsupported features are refused even if they are enabled.
    let vector = bytes("(module (func (result v128) (v128.const i64x2 0 0)))");
    assert!(matches!(Module::with_features(&vector, Features::all()), Err(Error::Module(_))));
}

#[test]
fn functions_that_there_are_not_get_nowhere() {
    let text = r#"(module (import "host" "make" (func $make (result funcref))) (table 1 funcref)
        (type $void (func))
        (func (export "take") (param funcref)
            (table.set (i32.const 0) (local.get 0)) (call_indirect (type $void) (i32.const 0)))
        (func (export "make") (table.set (i32.const 0) (call $make)) (call_indirect (type $void) (i32.const 0))))"#;
    for mut store in stores() {
        let mut linker = Linker::new();
        linker.func("host", "make", FuncType::new([], [ValType::FUNCREF]), |_, _, results| {
            results[0] = 1 << 40;
            Ok(())
        });
        let instance = store.instantiate(&module(text), &linker).expect("all imports are there");
        for _ in 0..4 {
            for number in [77, u32::MAX] {
                let given = instance.invoke(&mut store, "take", &[Value::FuncRef(Some(number))]);
                assert!(matches!(given, Err(Error::Arguments(_))));
            }
            let null = instance.invoke(&mut store, "take", &[Value::FuncRef(None)]);
            assert_eq!(null, Err(Error::Trap(Trap::UninitializedElement)));
            assert!(matches!(instance.invoke(&mut store, "make", &[]), Err(Error::Trap(Trap::Host(_)))));
            assert!(matches!(store.call(77, &[]), Err(Error::NoExport(_))));
        }
        let foreign = azulejo_wasm::Extern::Memory(99);
        linker.define("owner", "memory", foreign);
        let user = module(r#"(module (import "owner" "memory" (memory 1)))"#);
        assert!(matches!(store.instantiate(&user, &linker), Err(Error::Link(_))));
    }
}

#[test]
fn bodies_may_be_validated_when_they_are_called() {
    // `(module (func (export "good") (result i32) (i32.const 7)) (func (export "bad") (result i32)))`, and a caller.
    let mut bytes = bytes(
        r#"(module (func (export "good") (result i32) (i32.const 7))
            (func $bad (export "bad") (result i32) (i32.const 0x3fff))
            (func (export "calls") (result i32) (call $bad)))"#,
    );
    let constant = bytes.windows(4).position(|bytes| bytes == [0x41, 0xff, 0xff, 0]).expect("it is there");
    // An addition without operands.
    bytes[constant..constant + 4].copy_from_slice(&[0x01, 0x01, 0x01, 0x6a]);
    assert!(matches!(Module::new(&bytes), Err(Error::Module(_))));
    let module = Module::lazy(&bytes).expect("all but a body is valid");
    for mut store in stores() {
        let instance = store.instantiate(&module, &Linker::new()).expect("it imports nothing");
        for _ in 0..3 {
            assert_eq!(instance.invoke(&mut store, "good", &[]), Ok(vec![Value::I32(7)]));
            for name in ["bad", "calls"] {
                assert!(matches!(instance.invoke(&mut store, name, &[]), Err(Error::Module(_))), "{name}");
            }
        }
    }
}

#[test]
fn a_store_goes_on_after_a_trap() {
    let text = r#"(module (memory 1)
        (func $deep (export "deep") (param i64) (result i64)
            (i64.add (i64.const 1) (call $deep (i64.add (local.get 0) (i64.const 1)))))
        (func (export "div") (param i32 i32) (result i32) (i32.div_s (local.get 0) (local.get 1)))
        (func (export "nan") (param f32) (result i32) (i32.trunc_f32_s (local.get 0)))
        (func (export "stop") unreachable))"#;
    for mut store in stores() {
        let instance = instance(&mut store, text);
        let mut run = |name: &str, args: &[Value]| instance.invoke(&mut store, name, args);
        for _ in 0..4 {
            assert_eq!(run("deep", &[Value::I64(0)]), Err(Error::Trap(Trap::CallStackExhausted)));
            let div = |a, b| [Value::I32(a), Value::I32(b)];
            assert_eq!(run("div", &div(7, -2)), Ok(vec![Value::I32(-3)]));
            assert_eq!(run("div", &div(7, 0)), Err(Error::Trap(Trap::DivideByZero)));
            assert_eq!(run("div", &div(i32::MIN, -1)), Err(Error::Trap(Trap::IntegerOverflow)));
            assert_eq!(run("nan", &[Value::F32(f32::NAN)]), Err(Error::Trap(Trap::InvalidConversion)));
            assert_eq!(run("nan", &[Value::F32(3e9)]), Err(Error::Trap(Trap::IntegerOverflow)));
            assert_eq!(run("stop", &[]), Err(Error::Trap(Trap::Unreachable)));
        }
    }
}

/// A write to a local scans the stack for copies of that local, and the stack may be high.
#[test]
fn a_high_stack_takes_no_longer_than_a_low_one() {
    const HEIGHT: usize = 200_000;
    let constants = "i32.const 7 ".repeat(HEIGHT);
    let results = "i32.const 1 i32.eqz ".repeat(HEIGHT);
    let mut text = format!("(module (func (export \"run\") (param i32) (result i32) {constants} {results}");
    text.push_str(&"local.set 0 ".repeat(2 * HEIGHT - 1));
    text.push_str("local.get 0 i32.add))");
    let mut store = Store::new(Config { tiers: Tiers::Only(Tier::Interpreter), ..Config::default() });
    let instance = instance(&mut store, &text);
    assert_eq!(instance.invoke(&mut store, "run", &[Value::I32(1)]).expect("it returns"), [Value::I32(14)]);
}

#[test]
fn a_trap_tells_which_calls_led_to_it() {
    let text = r#"(module
        (import "host" "refuse" (func $refuse))
        (memory 1)
        (func $load (param i32) (result i32) (i32.load (i32.add (local.get 0) (i32.const 70000))))
        (func $middle (param i32) (result i32)
            (if (i32.eqz (local.get 0)) (then (call $refuse)))
            (i32.add (i32.const 1) (call $load (local.get 0))))
        (func (export "run") (param i32) (result i32) (call $middle (local.get 0))))"#;
    let bytes = bytes(text);
    // The offset of the only instruction with this encoding.
    let only = |opcode: &[u8]| {
        let found: Vec<usize> = bytes
            .windows(opcode.len())
            .enumerate()
            .filter(|(_, at)| *at == opcode)
            .map(|(at, _)| at)
            .collect();
        assert_eq!(found.len(), 1);
        found[0]
    };
    let calls = [0, 1, 2].map(|function| [0x10, function]);
    let (refuse, load, middle) = (only(&calls[0]), only(&calls[1]), only(&calls[2]));
    let (load_word, most) = (only(&[0x28, 2, 0]), 3);
    let mut linker = Linker::new();
    linker.func("host", "refuse", FuncType::new([], []), |_, _, _| Err(Trap::Host("no".into())));
    for mut store in stores() {
        let instance =
            store.instantiate(&Module::new(&bytes).expect("it is valid"), &linker).expect("all is there");
        for _ in 0..most {
            let frames = |store: &mut Store, a: i32| {
                instance.invoke(store, "run", &[Value::I32(a)]).expect_err("it traps");
                let (frames, left_out) = store.backtrace();
                assert_eq!(left_out, 0);
                frames.into_iter().map(|frame| (frame.function, frame.offset)).collect::<Vec<_>>()
            };
            let named = |name: &str, offset| (String::from(name), offset);
            let outer = [named("middle", Some(load)), named("run", Some(middle))];
            let expected = [vec![named("load", Some(load_word))], outer.to_vec()].concat();
            assert_eq!(frames(&mut store, 9), expected);
            let outer = [named("middle", Some(refuse)), named("run", Some(middle))];
            let expected = [vec![named("host.refuse", None)], outer.to_vec()].concat();
            assert_eq!(frames(&mut store, 0), expected);
        }
    }
}
