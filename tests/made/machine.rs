//! A machine of objects in memory that functions of Rust make.

use azulejo::prelude::*;
use core::cell::Cell;

const PAIR: u32 = 0x5ae1;

/// An object of two numbers and the address of another object. It knows where it has them.
#[derive(Fields)]
#[repr(C)]
pub(crate) struct Object {
    shape: Cell<u32>,
    size: Cell<u32>,
    own: Cell<*const Cell<u64>>,
    values: [Cell<u64>; 3],
}

#[derive(Default)]
#[repr(C)]
pub(crate) struct Vm {
    /// How many objects were made since they were looked at last.
    debt: Cell<i64>,
    pub(crate) n_turns: u32,
    pub(crate) n_seen: u32,
    kept: Option<core::ptr::NonNull<Object>>,
    #[expect(clippy::vec_box, reason = "templates have their addresses")]
    pub(crate) objects: Vec<Box<Object>>,
}

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(context = Vm)]
pub(crate) enum Op {
    New {
        dst: Out<u64>,
        a: In<i64>,
        b: In<i64>,
    },
    Get {
        dst: Out<i64>,
        object: In<u64>,
        at: Imm<u32>,
    },
    Set {
        object: In<u64>,
        at: Imm<u32>,
        value: In<i64>,
    },
    /// The same two by the address of the numbers that the object has.
    GetOwn {
        dst: Out<i64>,
        object: In<u64>,
        at: Imm<u32>,
    },
    SetOwn {
        object: In<u64>,
        at: Imm<u32>,
        value: In<i64>,
    },
    Hold {
        object: In<u64>,
        other: In<u64>,
    },
    Held {
        dst: Out<u64>,
        object: In<u64>,
    },
    /// The same where something is held.
    Inner {
        dst: Out<u64>,
        object: In<u64>,
    },
    Same {
        dst: Out<i64>,
        a: In<u64>,
        b: In<u64>,
    },
    /// A number by which an object is found: a part of its address.
    Pack {
        dst: Out<u64>,
        object: In<u64>,
    },
    Unpack {
        dst: Out<u64>,
        packed: In<u64>,
    },
    Move {
        dst: Out<u64>,
        a: In<u64>,
    },
    Number {
        dst: Out<i64>,
        value: Imm<i64>,
    },
    Add {
        dst: Out<i64>,
        a: In<i64>,
        b: In<i64>,
    },
    /// What an object has, if the number is a multiple of this one: that is rare.
    SumIfRare {
        dst: InOut<i64>,
        object: In<u64>,
        of: Imm<i64>,
    },
    /// The same on a slow path.
    SumSlowly {
        dst: InOut<i64>,
        object: In<u64>,
        of: Imm<i64>,
    },
    /// Leaves compiled code, if that is so.
    LeaveIfRare {
        a: In<i64>,
        of: Imm<i64>,
    },
    /// A function of Rust changes an object.
    Change {
        object: In<u64>,
    },
    /// A function of Rust keeps an object, if the number is a multiple of this one.
    KeepIfRare {
        a: In<i64>,
        object: In<u64>,
        of: Imm<i64>,
    },
    /// What the object has that was kept last.
    SumKept {
        dst: Out<i64>,
    },
    Sum {
        dst: InOut<i64>,
        object: In<u64>,
    },
    JumpIfLess {
        a: In<i64>,
        b: In<i64>,
        to: Label,
    },
    Count {
        n: InOut<i64>,
        to: Label,
    },
    Return {
        a: In<i64>,
    },
    ReturnSum {
        object: In<u64>,
    },
}

template! {
    regions { heads, values, machine }

    macro ^value (,object ,at) (idx (addr ,object (&offset_of Object, values)) ,at 8)
    macro ^is_rare (,a) (unlikely (zr (and ,a $of)))
    macro ^sum (,object) (call leaf (changes machine) sum (arglist (carg (tc) ptr) (carg ,object ptr)) i64)

    Op::New! => unsafe (dov
        (when (kept) (when (unlikely (gt (load machine (addr (tc) (&offset_of Vm, debt)) i64) 20))
            (callv observes take_turn (arglist (carg (tc) ptr)))))
        (letv: (($new (call leaf makes (changes machine) make (arglist (carg (tc) ptr)) ptr))) (dov
            (holds heads $new &PAIR u32)
            (holds heads (addr $new (&offset_of Object, size)) 3 u32)
            (holds heads (addr $new (&offset_of Object, own)) (^value $new 0) ptr)
            (holds values (^value $new 2) 0 u64)
            (store values (^value $new 0) $a i64)
            (store values (^value $new 1) $b i64)
            (set $dst $new))))
    Op::Get => unsafe (do
        (when (ne (load heads $object u32) &PAIR) (trap 1))
        (when (uge $at (load heads (addr $object (&offset_of Object, size)) u32)) (trap 2))
        (load values (^value $object $at) i64))
    Op::Set => unsafe (dov
        (when (ne (load heads $object u32) &PAIR) (trap 1))
        (store values (^value $object $at) $value i64))
    macro ^own_value (,object ,at) (idx (load heads (addr ,object (&offset_of Object, own)) ptr) ,at 8)
    Op::GetOwn => unsafe (load values (^own_value $object $at) i64)
    Op::SetOwn => unsafe (store values (^own_value $object $at) $value i64)
    Op::Hold => unsafe (store values (^value $object 2) $other u64)
    // Nothing is held by what was made; that is an object, too.
    Op::Held => unsafe (let: (($held (load values (^value $object 2) u64))) (if (zr $held) $object $held))
    Op::Inner => unsafe (load values (^value $object 2) u64)
    Op::Same => (flagval (eq $a $b) i64)
    Op::Pack => (shr $object 3)
    Op::Unpack => (add (mul $packed 5) (mul $packed 3))
    Op::Move => $a
    Op::Number => (copy $value)
    Op::Add => (add $a $b)
    Op::SumIfRare! => unsafe (when (^is_rare $dst) (set $dst (add $dst (^sum $object))))
    Op::SumSlowly! => unsafe (when (^is_rare $dst) (slowv (set $dst (add $dst (^sum $object)))))
    Op::Sum! => unsafe (set $dst (add $dst (^sum $object)))
    Op::Change => unsafe (callv leaf (changes values) change (arglist (carg $object ptr)))
    Op::KeepIfRare => unsafe (when (^is_rare $a)
        (callv leaf (changes machine) keep (arglist (carg (tc) ptr) (carg $object ptr))))
    Op::SumKept => unsafe (call leaf (changes machine) sum_kept (arglist (carg (tc) ptr)) i64)
    Op::LeaveIfRare => (when (^is_rare $a) (exit))
    Op::JumpIfLess => (when (lt $a $b) (branch $to))
    Op::Count! => (dov (set $n (sub $n 1)) (when (nz $n) (branch $to)))
    Op::Return => (return $a)
    Op::ReturnSum => unsafe (return (^sum $object))
}

fn make(vm: &mut Vm) -> *mut Object {
    vm.debt.set(vm.debt.get() + 1);
    // What a template does not store must not be read.
    let values = [0x5e5e, 0x5e5e, 0].map(Cell::new);
    let own = Cell::new(core::ptr::null());
    let mut new = Box::new(Object { shape: Cell::new(PAIR), size: Cell::new(3), own, values });
    new.own.set(new.values.as_ptr());
    let address = &raw mut *new;
    vm.objects.push(new);
    address
}

fn take_turn(vm: &mut Vm) {
    vm.debt.set(0);
    vm.n_turns += 1;
}

fn change(object: &Object) {
    object.values[0].set(object.values[0].get().wrapping_add(1));
}

fn keep(vm: &mut Vm, object: *mut Object) {
    vm.kept = core::ptr::NonNull::new(object);
}

fn sum_kept(vm: &mut Vm) -> i64 {
    // SAFETY: it is there as long as the machine.
    vm.kept.map_or(0, |kept| unsafe { sum(vm, kept.as_ref()) })
}

/// A number that depends on all that an object has.
fn sum(vm: &mut Vm, object: &Object) -> i64 {
    assert_eq!((object.shape.get(), object.size.get()), (PAIR, 3));
    vm.n_seen += 1;
    let [a, b, held] = [0, 1, 2].map(|at| object.values[at].get());
    let own = (a as i64).wrapping_mul(3).wrapping_add((b as i64).wrapping_mul(5));
    if held == 0 {
        return own;
    }
    // SAFETY: objects hold objects, and all are there as long as the machine.
    let other = unsafe { &*core::ptr::with_exposed_provenance::<Object>(held as usize) };
    assert_eq!(other.shape.get(), PAIR);
    own.wrapping_add((other.values[0].get() as i64).wrapping_mul(7))
}
