//! A machine whose words are numbers, nil, or of no kind. It adds, compares and jumps, and reads items of a list.

use azulejo::prelude::*;
use core::cell::Cell;

pub(crate) const TAG: u64 = 0xfff9 << 48;
pub(crate) const NIL: u64 = TAG;

/// What programs read: a list of words, and how often a slow path has run.
pub(crate) struct Vm {
    pub(crate) items: Vec<u64>,
    start: *const u64,
    len: u32,
    pub(crate) slow: Cell<u64>,
}

impl Default for Vm {
    fn default() -> Vm {
        Vm::new(Vec::new())
    }
}

impl Vm {
    pub(crate) fn new(items: Vec<u64>) -> Vm {
        let (start, len) = (items.as_ptr(), items.len() as u32);
        Vm { items, start, len, slow: Cell::new(0) }
    }

    /// A list of the halves of the numbers below another.
    pub(crate) fn of_numbers(n: u64) -> Vm {
        Vm::new((0..n).map(|at| (at as f64 * 0.5).to_bits()).collect())
    }

    fn count(&self) {
        self.slow.set(self.slow.get() + 1);
    }
}

/// An item by a key that is no index: keys are cut off, and what is not there is -1.
fn get_slowly(vm: &mut Vm, key: u64) -> Result<u64, Trap> {
    vm.count();
    let number = f64::from_bits(key);
    let found = if key < TAG && number >= 0.0 { vm.items.get(number as usize) } else { None };
    Ok(*found.filter(|item| **item != NIL).unwrap_or(&(-1.0f64).to_bits()))
}

/// A sum that is no sum of numbers.
fn add_slowly(vm: &mut Vm, a: u64, b: u64) -> Result<u64, Trap> {
    vm.count();
    Ok(if a == NIL { b } else { a })
}

fn less_slowly(vm: &mut Vm, a: u64, _: u64) -> Result<u8, Trap> {
    vm.count();
    Ok((a == NIL) as u8)
}

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(context = Vm)]
pub(crate) enum Op {
    Number {
        dst: Out<u64>,
        value: Imm<f64>,
    },
    /// A copy of a constant that may be anything.
    Word {
        dst: Out<u64>,
        value: Imm<u64>,
    },
    Move {
        dst: Out<u64>,
        a: In<u64>,
    },
    /// The same, by the operator that copies.
    Copy {
        dst: Out<u64>,
        a: In<u64>,
    },
    Add {
        dst: Out<u64>,
        a: In<u64>,
        b: In<u64>,
    },
    AddConst {
        dst: Out<u64>,
        a: In<u64>,
        k: Imm<f64>,
    },
    Get {
        dst: Out<u64>,
        key: In<u64>,
    },
    JumpLess {
        a: In<u64>,
        b: In<u64>,
        to: Label,
    },
    JumpLessConst {
        a: In<u64>,
        k: Imm<f64>,
        to: Label,
    },
    JumpNil {
        a: In<u64>,
        to: Label,
    },
    Jump {
        to: Label,
    },
    Return {
        a: In<u64>,
    },
}

template! {
    kinds u64 {
        number: f64 { is (ult $box &TAG) unbox (bitcast $box f64) box (bitcast (canonical_nan $value) u64) }
        nil { is (eq $box &NIL) }
    }

    macro ^numbers (,a ,b ,then ,otherwise) (as ((,a number) (,b number)) ,then ,otherwise)
    macro ^add (,a ,b) (^numbers ,a ,b (box number (add ,a ,b))
        (slow add_slowly (arglist (carg (tc) ptr) (carg ,a u64) (carg ,b u64)) u64))

    Op::Number => (box number $value)
    Op::Word => (copy $value)
    Op::Move => $a
    Op::Copy => (copy $a)
    Op::Add => (^add $a $b)
    Op::AddConst => (as (($a number)) (box number (add $a $k))
        (slow add_slowly (arglist (carg (tc) ptr) (carg $a u64) (carg (bitcast $k u64) u64)) u64))
    Op::Get! => unsafe (dov
        (asv (($number number $key))
            (letv: (($at (ftos_least $number i64)))
                (ifv (all (eq (stof $at f64) $number) (ult $at (ucast (load (addr (tc) (&offset_of Vm, len)) u32) u64)))
                    (letv: (($item (load (idx (load (addr (tc) (&offset_of Vm, start)) ptr) $at 8) u64)))
                        (ifv (ne $item &NIL) (set $dst $item) (branch (label slowly))))
                    (branch (label slowly))))
            (branch (label slowly)))
        (branch (label done))
        (mark slowly)
        (slowv (set $dst (call throws get_slowly (arglist (carg (tc) ptr) (carg $key u64)) u64)))
        (mark done))
    Op::JumpLess => (when (^numbers $a $b (lt $a $b)
        (nz (slow less_slowly (arglist (carg (tc) ptr) (carg $a u64) (carg $b u64)) u8))) (branch $to))
    Op::JumpLessConst => (when (as (($a number)) (lt $a $k)
        (nz (slow less_slowly (arglist (carg (tc) ptr) (carg $a u64) (carg (bitcast $k u64) u64)) u8))) (branch $to))
    Op::JumpNil => (when (is nil $a) (branch $to))
    Op::Jump => (branch $to)
    Op::Return => (return $a)
}

pub(crate) fn number(dst: u32, value: f64) -> Op {
    Op::Number { dst: dst.into(), value: value.into() }
}

pub(crate) fn add(dst: u32, a: u32, b: u32) -> Op {
    Op::Add { dst: dst.into(), a: a.into(), b: b.into() }
}

pub(crate) fn call(engine: &Engine<Op>, function: FunctionId, vm: &mut Vm, args: [u64; 3]) -> u64 {
    engine.call(function, vm, (args[0], args[1], args[2])).expect("it returns")
}

pub(crate) fn bits(values: [f64; 3]) -> [u64; 3] {
    values.map(f64::to_bits)
}

/// The function's graph after the last rewriting.
pub(crate) fn last_graph(engine: &Engine<Op>, function: FunctionId) -> String {
    let stages = engine.stages(function).expect("it compiles");
    let (_, last) = stages.rsplit_once("== dead").expect("there is such a stage");
    last.split_once("\n== ").expect("others follow").0.to_string()
}

/// Whether the engine compiles here, so that there is something to see.
pub(crate) fn compiles() -> bool {
    azulejo::can_compile().is_ok()
}
