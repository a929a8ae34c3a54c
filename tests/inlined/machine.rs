//! A bytecode whose functions call each other, with all that may happen in the middle of one, and the ways to run it.

use azulejo::prelude::*;
use azulejo::{Backtrace, Builder, Callable, Cases};

/// What a program has at hand.
#[derive(Default)]
pub(crate) struct Vm {
    /// The arguments of the slow paths that ran.
    pub(crate) slow: Vec<i64>,
    /// How often a method was looked up.
    pub(crate) lookups: u32,
}

/// An object of the language, with what its class calls a method.
#[repr(C)]
#[derive(Fields)]
pub(crate) struct Object {
    pub(crate) class: u64,
    pub(crate) method: *const Callable,
}

/// An object with an address behind what all objects have. Only functions for a class whose objects have one read from there.
#[repr(C)]
#[derive(Fields)]
pub(crate) struct Whole {
    pub(crate) object: Object,
    pub(crate) part: *const i64,
}

/// A case of a call: the class, and the method that it has.
#[derive(Fields, Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Method {
    pub(crate) class: u64,
    pub(crate) code: *const Callable,
}

fn add_slowly(vm: &mut Vm, a: i64, b: i64) -> Result<i64, Trap> {
    vm.slow.push(a);
    if a == 1999 { Err(Trap::User(19)) } else { Ok(a.wrapping_add(b)) }
}

fn look_up(vm: &mut Vm, object: &Object, cases: Cases<'_, Method>) -> Result<*const Callable, Trap> {
    vm.lookups += 1;
    if cases.iter().all(|case| case.class != object.class) {
        cases.add(Method { class: object.class, code: object.method });
    }
    Ok(object.method)
}

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(context = Vm)]
pub(crate) enum Op {
    Const {
        dst: Out<i64>,
        k: Imm<i64>,
    },
    Add {
        dst: Out<i64>,
        a: In<i64>,
        b: In<i64>,
    },
    AddK {
        dst: Out<i64>,
        a: In<i64>,
        k: Imm<i64>,
    },
    Mul {
        dst: Out<i64>,
        a: In<i64>,
        b: In<i64>,
    },
    Divide {
        dst: Out<i64>,
        a: In<i64>,
        b: In<i64>,
    },
    /// A slow path above a thousand, which fails for one number.
    AddSmall {
        dst: Out<i64>,
        a: In<i64>,
        b: In<i64>,
    },
    /// Leaves compiled code if the number is odd, before or behind a change.
    Leave {
        a: InOut<i64>,
    },
    LeaveBehind {
        a: InOut<i64>,
    },
    Refuse {
        a: In<i64>,
    },
    Fail,
    Less {
        a: In<i64>,
        b: In<i64>,
        to: Label,
    },
    CountDown {
        n: InOut<i64>,
        to: Label,
    },
    Choose {
        a: In<i64>,
        to: Labels,
    },
    Push {
        a: In<i64>,
        top: Push<i64>,
    },
    PopAdd {
        a: Pop<i64>,
        b: Pop<i64>,
        sum: Push<i64>,
    },
    Pop {
        dst: Out<i64>,
        top: Pop<i64>,
    },
    Call {
        dst: Out<i64>,
        f: Imm<u32>,
        args: Regs,
    },
    CallTwo {
        dst: Out<i64>,
        f: Imm<u32>,
        a: In<i64>,
        b: In<i64>,
    },
    CallPushed {
        f: Imm<u32>,
        a: Pop<i64>,
        result: Push<i64>,
    },
    CallNarrow {
        dst: Out<i32>,
        f: Imm<u32>,
        a: In<i64>,
    },
    CallForNothing {
        f: Imm<u32>,
        a: In<i64>,
    },
    CallUnless {
        dst: InOut<i64>,
        f: Imm<u32>,
        a: In<i64>,
    },
    CallFloat {
        dst: Out<f64>,
        f: Imm<u32>,
        a: In<f64>,
        b: In<f64>,
    },
    /// A call whose result is not stored as it is.
    CallAndAdd {
        dst: Out<i64>,
        f: Imm<u32>,
        a: In<i64>,
    },
    Method {
        dst: Out<i64>,
        object: In<*const Object>,
        a: In<i64>,
        cache: Site<Method, 2>,
    },
    /// What is at the address that an object has. It never changes.
    Part {
        dst: Out<i64>,
        object: In<*const Whole>,
    },
    Tail {
        f: Imm<u32>,
        args: Regs,
    },
    TailTwo {
        f: Imm<u32>,
        a: In<i64>,
        b: In<i64>,
    },
    /// Goes on if the number is small.
    TailIfLarge {
        f: Imm<u32>,
        a: In<i64>,
    },
    /// Goes on if the class is new.
    TailMethod {
        object: In<*const Object>,
        a: In<i64>,
        cache: Site<Method, 2>,
    },
    MulFloat {
        dst: Out<f64>,
        a: In<f64>,
        b: In<f64>,
    },
    ReturnFloat {
        a: In<f64>,
    },
    ReturnUnit,
    Return {
        a: In<i64>,
    },
    ReturnNothing,
}

template! {
    Op::Const => $k
    Op::Add => (add $a $b)
    Op::AddK => (add $a $k)
    Op::Mul => (mul $a $b)
    Op::Divide => (div $a $b)
    Op::AddSmall => (if (gt $a 1000)
        (slow throws add_slowly (arglist (carg (tc) ptr) (carg $a i64) (carg $b i64)) i64)
        (add $a $b))
    Op::Leave! => (dov (when (nz (and $a 1)) (exit)) (set $a (add $a 1)))
    Op::LeaveBehind! => (dov (set $a (mul $a 3)) (when (nz (and $a 1)) (exit)))
    Op::Refuse => (when (eq $a 0) (trap 7))
    Op::Fail => (trap 8)
    Op::Less => (when (lt $a $b) (branch $to))
    Op::CountDown! => (dov (set $n (sub $n 1)) (when (gt $n 0) (branch $to)))
    Op::Choose => (switch (ucast $a u64) $to)
    Op::Push => $a
    Op::PopAdd => (add $a $b)
    Op::Pop => $top
    Op::Call => (invoke $f (arglist $args) i64)
    Op::CallTwo => (invoke $f (arglist $a $b) i64)
    Op::CallPushed => (invoke $f (arglist $a) i64)
    Op::CallNarrow => (invoke $f (arglist $a) i32)
    Op::CallForNothing => (invokev $f (arglist $a))
    Op::CallUnless => (if (gt $dst 100) $dst (invoke $f (arglist $a $dst) i64))
    Op::CallFloat => (invoke $f (arglist $a $b) f64)
    Op::CallAndAdd => (add (invoke $f (arglist $a) i64) 1)
    Op::Method => unsafe (let: (($class (load $object (&field Object, class))))
        (cached $cache Method (eq $class (case class))
            (invoke (case code) (arglist $object $a) i64)
            (invoke (slow look_up (arglist (carg (tc) ptr) (carg $object ptr) (carg $cache ptr)) ptr)
                (arglist $object $a) i64)))
    Op::Part => unsafe (load pure (load pure (addr $object (&offset_of Whole, part)) ptr) i64)
    Op::Tail => (tail $f (arglist $args))
    Op::TailTwo => (tail $f (arglist $a $b))
    Op::TailIfLarge => (when (gt $a 10) (tail $f (arglist $a)))
    Op::TailMethod => unsafe (let: (($class (load $object (&field Object, class))))
        (cachedv $cache Method (eq $class (case class))
            (tail (case code) (arglist $object $a))
            (slowv (discard (call throws look_up (arglist (carg (tc) ptr) (carg $object ptr) (carg $cache ptr)) ptr)))))
    Op::MulFloat => (mul $a $b)
    Op::ReturnFloat => (return $a)
    Op::ReturnUnit => (return (ucast (cu) i64))
    Op::Return => (return $a)
    Op::ReturnNothing => (return)
}

/// A register.
pub(crate) fn r<T: From<u32>>(register: u32) -> T {
    register.into()
}

/// How functions run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Way {
    /// In the Rust interpreter, which says what is right.
    Rust,
    Optimizer,
    WithoutInlining,
    TieringUp,
    Background,
}

impl Way {
    pub(crate) const ALL: [Way; 5] =
        [Way::Rust, Way::Optimizer, Way::WithoutInlining, Way::TieringUp, Way::Background];

    pub(crate) fn builder(self) -> Builder {
        let builder = Engine::<Op>::builder();
        match self {
            Way::Rust => builder.rust_interpreter(true).only(Tier::Interpreter),
            Way::Optimizer => builder.only(Tier::Optimizer),
            Way::WithoutInlining => builder.only(Tier::Optimizer).inlining(false),
            Way::TieringUp => builder.thresholds(2, 4),
            Way::Background => builder.thresholds(2, 4).background(true),
        }
    }
}

/// What came of one call: its result, the calls that led to a failure, and what slow paths ran.
pub(crate) type Outcome = (Result<i64, Error>, Backtrace, Vec<i64>);

/// Functions of an engine.
pub(crate) struct Program {
    pub(crate) engine: Engine<Op>,
    pub(crate) functions: Vec<FunctionId>,
}

impl Program {
    /// Defines functions, which call those before them, and perhaps themselves, by their numbers.
    pub(crate) fn new(builder: Builder, code: &[(Vec<Op>, u32)]) -> Program {
        let engine: Engine<Op> = builder.build();
        let define = |(code, registers): &(Vec<Op>, u32)| {
            engine.define("f", code.clone(), *registers).expect("the code is right")
        };
        let functions = code.iter().map(define).collect();
        Program { engine, functions }
    }

    /// Calls the last function.
    pub(crate) fn call(&self, args: (i64, i64)) -> Outcome {
        let mut vm = Vm::default();
        let last = *self.functions.last().expect("there are functions");
        let result = self.engine.call::<_, i64>(last, &mut vm, args);
        let backtrace = if result.is_err() { self.engine.backtrace() } else { Backtrace::default() };
        (result, backtrace, vm.slow)
    }
}

/// Whether machine code can be made here.
pub(crate) fn can_compile() -> bool {
    azulejo::can_compile().is_ok()
}
