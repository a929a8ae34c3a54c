//! Random programs of the machine, and what they mean without a collector.

use crate::machine::{NIL, Op, number};
use azulejo::prelude::*;
use azulejo_core::random::Random;
use std::rc::Rc;

/// The registers that anything reads and writes; the one that counts a loop; one that is read once.
const GENERAL: u64 = 6;
const COUNT: u32 = 6;
const TEMPORARY: u32 = 7;
pub(crate) const REGISTERS: u32 = 8;
/// How many bytecodes a program may execute.
const STEPS: usize = 1500;

/// A program: functions, of which each calls those before it.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) functions: Vec<Vec<Op>>,
}

fn register(random: &mut Random) -> u32 {
    random.below(GENERAL as usize) as u32
}

fn run(random: &mut Random, least: u32) -> (u32, u32) {
    let count = least + random.below(3) as u32;
    (random.below(GENERAL as usize - count as usize + 1) as u32, count)
}

impl Program {
    pub(crate) fn random(random: &mut Random, suspends: bool) -> Program {
        let mut functions = Vec::new();
        for number in 0..1 + random.below(4) {
            functions.push(function(random, number, suspends));
        }
        Program { functions }
    }
}

fn function(random: &mut Random, number: usize, suspends: bool) -> Vec<Op> {
    let mut code = vec![Op::Number { dst: COUNT.into(), k: Imm(self::number(1 + random.below(3) as i64)) }];
    // What makes no pair on its quick way can be inlined.
    let is_quick = random.one_in(3);
    // The bytecodes at which the operand stack is empty.
    let mut starts = Vec::new();
    let mut add = |random: &mut Random, code: &mut Vec<Op>, most: usize| {
        for _ in 0..random.below(most) {
            starts.push(code.len());
            step(random, code, number, suspends, is_quick);
        }
    };
    add(random, &mut code, 5);
    let head = code.len();
    add(random, &mut code, 8);
    code.push(Op::Loop { count: COUNT.into(), to: Label(head as u32) });
    add(random, &mut code, 5);
    let last = code.len();
    if number > 0 && random.one_in(5) {
        let function = Imm(random.below(number) as u32);
        code.push(Op::Tail2 { function, a: register(random).into(), b: register(random).into() });
    } else {
        code.push(Op::Return { a: register(random).into() });
    }
    starts.push(last);
    for (at, op) in code.iter_mut().enumerate() {
        if let Op::JumpIfPair { to, .. } = op {
            let later: Vec<usize> = starts.iter().copied().filter(|start| *start > at).collect();
            *to = Label(later[random.below(later.len())] as u32);
        }
    }
    code
}

/// The bytecodes of functions that make pairs on slow paths only, by their numbers in `step`.
const QUICK: [usize; 12] = [0, 1, 7, 7, 7, 9, 10, 17, 17, 17, 20, 22];

/// Adds a bytecode, or a few that belong together.
fn step(random: &mut Random, code: &mut Vec<Op>, number: usize, suspends: bool, is_quick: bool) {
    let [dst, a, b, c] = [(); 4].map(|()| register(random));
    let callee = (number > 0).then(|| Imm(random.below(number.max(1)) as u32));
    let which = random.below(23);
    let op = match if is_quick { QUICK[which % QUICK.len()] } else { which } {
        0 => Op::Number { dst: dst.into(), k: Imm(self::number(random.below(100) as i64 - 50)) },
        1 => Op::Copy { dst: dst.into(), a: a.into() },
        2..=4 => Op::Pair { dst: dst.into(), a: a.into(), b: b.into() },
        5 => Op::Pairs { dst: dst.into(), last: c.into(), a: a.into(), b: b.into() },
        6 => Op::Wrap { a: a.into() },
        7 => Op::Sum { dst: dst.into(), a: a.into(), b: b.into() },
        8 => Op::Ensure { dst: dst.into(), a: a.into() },
        9 => Op::First { dst: dst.into(), a: a.into() },
        10 => Op::Second { dst: dst.into(), a: a.into() },
        11 => {
            code.push(Op::Push { b: Push::new(), a: a.into() });
            code.push(Op::Wrap { a: b.into() });
            Op::Pop { dst: dst.into(), b: Pop::new() }
        }
        12 => {
            code.push(Op::Push { b: Push::new(), a: a.into() });
            code.push(Op::Push { b: Push::new(), a: b.into() });
            code.push(Op::Pair { dst: c.into(), a: a.into(), b: b.into() });
            code.push(Op::PairTop { dst: Push::new(), a: Pop::new(), b: Pop::new() });
            Op::Pop { dst: dst.into(), b: Pop::new() }
        }
        13 => {
            code.push(Op::Second { dst: TEMPORARY.into(), a: a.into() });
            Op::Pair { dst: dst.into(), a: TEMPORARY.into(), b: b.into() }
        }
        14 => {
            let (first, count) = run(random, 0);
            Op::List { dst: dst.into(), all: Regs { first, count } }
        }
        15 => {
            let (first, count) = run(random, 1);
            Op::Rotate { all: RegsMut { first, count } }
        }
        16 if let Some(function) = callee => {
            let (first, count) = run(random, 0);
            Op::Call { dst: dst.into(), function, all: Regs { first, count } }
        }
        17 if let Some(function) = callee => {
            Op::Call2 { dst: dst.into(), function, a: a.into(), b: b.into() }
        }
        21 if let Some(function) = callee => {
            Op::Protected { dst: dst.into(), function, a: a.into(), b: b.into() }
        }
        18 if let Some(function) = callee => Op::Again { dst: dst.into(), function, a: a.into() },
        19 if suspends => Op::Suspend { dst: dst.into(), a: a.into() },
        20 if random.one_in(3) => Op::Leave { a: a.into() },
        20 if random.one_in(4) => Op::FailIfPair { a: a.into() },
        _ => Op::JumpIfPair { a: a.into(), to: Label(0) },
    };
    code.push(op);
}

/// A value of the machine that has no place.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// A number, or nil.
    Word(u64),
    Pair(Rc<(Value, Value)>),
}

/// How a program ends early: it fails, or it takes too long to be of use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    Failed,
    TooLong,
}

/// What a program does.
pub(crate) struct Meaning<'a> {
    program: &'a Program,
    steps: usize,
    /// Whether a fiber runs, and how many functions of Rust are in between.
    is_fiber: bool,
    between: usize,
}

fn pair(first: &Value, second: &Value) -> Value {
    Value::Pair(Rc::new((first.clone(), second.clone())))
}

impl Value {
    fn is_pair(&self) -> bool {
        matches!(self, Value::Pair(_))
    }

    fn part(&self, second: bool) -> Value {
        match self {
            Value::Pair(both) => {
                if second {
                    both.1.clone()
                } else {
                    both.0.clone()
                }
            }
            Value::Word(_) => Value::Word(1),
        }
    }

    fn word(&self) -> Option<u64> {
        match self {
            Value::Word(word) => Some(*word),
            Value::Pair(_) => None,
        }
    }

    /// The upper part of the tree as text.
    pub(crate) fn text(&self, depth: usize) -> String {
        match self {
            Value::Word(word) => format!("{word:x}"),
            Value::Pair(_) if depth == 0 => "…".into(),
            Value::Pair(both) => format!("({} {})", both.0.text(depth - 1), both.1.text(depth - 1)),
        }
    }
}

impl Meaning<'_> {
    pub(crate) fn of(program: &Program, args: [u64; 2], is_fiber: bool) -> Result<Value, End> {
        let mut meaning = Meaning { program, steps: STEPS, is_fiber, between: 0 };
        meaning.call(program.functions.len() - 1, &args.map(Value::Word))
    }

    fn call(&mut self, mut function: usize, args: &[Value]) -> Result<Value, End> {
        let mut args = args.to_vec();
        loop {
            match self.run(function, &args)? {
                Ok(value) => return Ok(value),
                Err((next, with)) => (function, args) = (next, with.to_vec()),
            }
        }
    }

    fn call_through_rust(&mut self, function: usize, arg: Value) -> Result<Value, End> {
        self.between += 1;
        let result = self.call(function, &[arg, Value::Word(number(5))]);
        self.between -= 1;
        match result {
            Err(End::Failed) => Ok(Value::Word(number(77))),
            other => other,
        }
    }

    /// Runs a function. It returns, or another one takes its place.
    #[allow(clippy::type_complexity, reason = "it is the only one")]
    fn run(&mut self, function: usize, args: &[Value]) -> Result<Result<Value, (usize, [Value; 2])>, End> {
        let code = &self.program.functions[function];
        let mut r = vec![Value::Word(NIL); REGISTERS as usize];
        r[..args.len()].clone_from_slice(args);
        let (mut stack, mut at) = (Vec::new(), 0);
        loop {
            self.steps = self.steps.checked_sub(1).ok_or(End::TooLong)?;
            let op = code[at];
            at += 1;
            macro_rules! get {
                ($operand:expr) => {
                    r[$operand.index as usize]
                };
            }
            match op {
                Op::Number { dst, k } => get!(dst) = Value::Word(k.0),
                Op::Copy { dst, a } => get!(dst) = get!(a).clone(),
                Op::Pair { dst, a, b } => get!(dst) = pair(&get!(a), &get!(b)),
                Op::Pairs { dst, last, a, b } => {
                    let first = pair(&get!(a), &pair(&get!(b), &get!(a)));
                    get!(dst) = first;
                    let second = pair(&get!(dst), &get!(b));
                    get!(last) = second;
                }
                Op::Wrap { a } => get!(a) = pair(&get!(a), &get!(a)),
                Op::Sum { dst, a, b } => {
                    let (x, y) = (get!(a).clone(), get!(b).clone());
                    get!(dst) = match (x.word(), y.word()) {
                        (Some(x), Some(y)) if x & y & 1 == 1 => Value::Word(x.wrapping_add(y) - 1),
                        _ => pair(&x, &y),
                    };
                }
                Op::Ensure { dst, a } => {
                    let value = get!(a).clone();
                    get!(dst) = value;
                    if !get!(a).is_pair() {
                        let wrapped = pair(&get!(dst), &get!(a));
                        get!(dst) = wrapped;
                    }
                }
                Op::First { dst, a } => get!(dst) = get!(a).part(false),
                Op::Second { dst, a } => get!(dst) = get!(a).part(true),
                Op::Push { a, .. } => stack.push(get!(a).clone()),
                Op::Pop { dst, .. } => get!(dst) = stack.pop().expect("it was verified"),
                Op::PairTop { .. } => {
                    let last = stack.pop().expect("it was verified");
                    let first = stack.pop().expect("it was verified");
                    stack.push(pair(&first, &last));
                }
                Op::List { dst, all } => {
                    let all = &r[all.first as usize..][..all.count as usize];
                    let list = all.iter().rev().fold(Value::Word(NIL), |list, one| pair(one, &list));
                    get!(dst) = list;
                }
                Op::Rotate { all } => r[all.first as usize..][..all.count as usize].rotate_left(1),
                Op::Call { dst, function, all } => {
                    let args = r[all.first as usize..][..all.count as usize].to_vec();
                    get!(dst) = self.call(function.0 as usize, &args)?;
                }
                Op::Call2 { dst, function, a, b } => {
                    let args = [get!(a).clone(), get!(b).clone()];
                    get!(dst) = self.call(function.0 as usize, &args)?;
                }
                Op::Protected { dst, function, a, b } => {
                    let args = [get!(a).clone(), get!(b).clone()];
                    get!(dst) = match self.call(function.0 as usize, &args) {
                        Err(End::Failed) => pair(&get!(b), &get!(a)),
                        other => other?,
                    };
                }
                Op::Tail2 { function, a, b } => {
                    return Ok(Err((function.0 as usize, [get!(a).clone(), get!(b).clone()])));
                }
                Op::Again { dst, function, a } => {
                    get!(dst) = self.call_through_rust(function.0 as usize, get!(a).clone())?;
                }
                Op::Suspend { dst, a } => {
                    if !self.is_fiber || self.between > 0 {
                        return Err(End::Failed);
                    }
                    get!(dst) = get!(a).clone();
                }
                Op::JumpIfPair { a, to } if get!(a).is_pair() => at = to.0 as usize,
                Op::Loop { count, to } => {
                    let left = get!(count).word().expect("it is a number").wrapping_sub(2);
                    get!(count) = Value::Word(left);
                    if left > 1 {
                        at = to.0 as usize;
                    }
                }
                Op::FailIfPair { a } if get!(a).is_pair() => return Err(End::Failed),
                Op::JumpIfPair { .. } | Op::FailIfPair { .. } | Op::Leave { .. } => {}
                Op::Return { a } => return Ok(Ok(get!(a).clone())),
            }
        }
    }
}
