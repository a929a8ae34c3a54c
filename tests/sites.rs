//! Sites: a machine whose objects have shapes.

use azulejo::Trap;
use azulejo::prelude::*;

/// Where a field is in objects of a shape.
#[derive(Fields, Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Field {
    shape: u32,
    offset: u32,
}

#[repr(C, align(8))]
struct Object {
    shape: u32,
    fields: [u64; 4],
}

#[derive(Default)]
struct Vm {
    slow: u32,
}

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(context = Vm)]
enum Op {
    Get { dst: Out<u64>, object: In<u64>, key: Imm<u32>, cache: Site<Field, 4> },
    Return { a: In<u64> },
}

template! {
    Op::Get => unsafe (cached $cache Field (eq (load $object u32) (case shape))
        (load (add $object (ucast (case offset) u64)) u64)
        (slow get (arglist (carg (tc) ptr) (carg $object ptr) (carg $key u32) (carg $cache ptr)) u64))
    Op::Return => (return $a)
}

fn get(vm: &mut Vm, object: &Object, key: u32, cases: Cases<'_, Field>) -> Result<u64, Trap> {
    vm.slow += 1;
    let place = (key + object.shape) % 4;
    cases.add(Field { shape: object.shape, offset: 8 + 8 * place });
    Ok(object.fields[place as usize])
}

#[test]
fn one() {
    let engine = Engine::<Op>::new();
    let code = vec![
        Op::Get { dst: 0.into(), object: 0.into(), key: Imm(1), cache: Site::new() },
        Op::Return { a: 0.into() },
    ];
    let f = engine.define("get", code, 1).unwrap();
    let mut vm = Vm::default();
    let o = Object { shape: 1, fields: [1, 2, 3, 4] };
    let a = (&raw const o).expose_provenance() as u64;
    for tier in [Tier::Interpreter, Tier::Baseline, Tier::Optimizer] {
        engine.compile_in(f, tier).unwrap();
        for _ in 0..3 {
            assert_eq!(engine.call::<_, u64>(f, &mut vm, (a,)), Ok(3));
        }
        println!("{tier:?} {}", vm.slow);
        if tier != Tier::Interpreter {
        println!("{}", engine.disassemble(f).unwrap());
        }
    }
    println!("{}", engine.stages(f).unwrap());
}
