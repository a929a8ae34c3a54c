//! A machine with a moving collector of garbage, which moves every object whenever one is made.
//!
//! Values are words: numbers end in a one, pairs in binary 010, and nothing else is zero. A pair is two words. A collection copies the
//! pairs that are reachable to another space, and fills the old one with rubbish. So whoever has missed a root, or kept a value that
//! has moved, finds rubbish there. A machine whose registers are only read moves nothing: what cannot be reached is rubbish then, and
//! new pairs are put there.

#![allow(deprecated, reason = "outputs that are also operands are read again on purpose")]

use azulejo::prelude::*;
use azulejo::{Frames, suspend};
use std::collections::VecDeque;

/// What is in memory that is not in use.
const RUBBISH: u64 = 0xdead_dead_dead_deac;
/// How many spaces there are. They are used in turn, so that an old address does not soon become a new one.
const SPACES: usize = 5;
/// How many words a space has.
const WORDS: usize = 1 << 12;
/// What a function has to fail with if there is no room.
const FULL: u16 = 9;

pub(crate) const NIL: u64 = 0;

pub(crate) fn number(value: i64) -> u64 {
    (value as u64) << 1 | 1
}

pub(crate) fn is_pair(value: u64) -> bool {
    value & 7 == 2
}

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(context = Vm)]
pub(crate) enum Op {
    Number {
        dst: Out<u64>,
        k: Imm<u64>,
    },
    Copy {
        dst: Out<u64>,
        a: In<u64>,
    },
    Pair {
        dst: Out<u64>,
        a: In<u64>,
        b: In<u64>,
    },
    /// Makes two pairs, and reads operands between and behind.
    Pairs {
        dst: Out<u64>,
        last: Out<u64>,
        a: In<u64>,
        b: In<u64>,
    },
    /// Makes a pair of what it was.
    Wrap {
        a: InOut<u64>,
    },
    /// A pair is made on the slow path, where the operand is no number.
    Sum {
        dst: Out<u64>,
        a: In<u64>,
        b: In<u64>,
    },
    /// Makes a pair if there is none, and goes on with either.
    Ensure {
        dst: Out<u64>,
        a: In<u64>,
    },
    First {
        dst: Out<u64>,
        a: In<u64>,
    },
    Second {
        dst: Out<u64>,
        a: In<u64>,
    },
    Push {
        b: Push<u64>,
        a: In<u64>,
    },
    Pop {
        dst: Out<u64>,
        b: Pop<u64>,
    },
    PairTop {
        dst: Push<u64>,
        a: Pop<u64>,
        b: Pop<u64>,
    },
    /// A list of a run.
    List {
        dst: Out<u64>,
        all: Regs,
    },
    /// Rotates a run in place, and makes a pair meanwhile.
    Rotate {
        all: RegsMut,
    },
    Call {
        dst: Out<u64>,
        function: Imm<u32>,
        all: Regs,
    },
    Call2 {
        dst: Out<u64>,
        function: Imm<u32>,
        a: In<u64>,
        b: In<u64>,
    },
    /// Has a pair if the call fails.
    Protected {
        dst: Out<u64>,
        function: Imm<u32>,
        a: In<u64>,
        b: In<u64>,
    },
    Tail2 {
        function: Imm<u32>,
        a: In<u64>,
        b: In<u64>,
    },
    /// Through a function of Rust, which has a number if the call fails.
    Again {
        dst: Out<u64>,
        function: Imm<u32>,
        a: In<u64>,
    },
    Suspend {
        dst: Out<u64>,
        a: In<u64>,
    },
    JumpIfPair {
        a: In<u64>,
        to: Label,
    },
    Loop {
        count: InOut<u64>,
        to: Label,
    },
    Leave {
        a: In<u64>,
    },
    FailIfPair {
        a: In<u64>,
    },
    Return {
        a: In<u64>,
    },
}

template! {
    macro ^pair (,p ,q) (call observes throws pair (arglist
        (carg (tc) ptr) (carg ,p u64) (carg ,q u64) (carg (frames) ptr)) u64)

    Op::Number => (copy $k)
    Op::Copy   => (copy $a)
    Op::Pair   => (^pair $a $b)
    Op::Pairs! => (do
        (set $dst (let: (($inner (^pair $b $a))) (^pair $a $inner)))
        (set $last (^pair $dst $b)))
    Op::Wrap!  => (set $a (^pair $a $a))
    Op::Sum    => (if (all (nz (and $a 1)) (nz (and $b 1)))
        (sub (add $a $b) 1)
        (slow observes pair (arglist (carg (tc) ptr) (carg $a u64) (carg $b u64) (carg (frames) ptr)) u64))
    Op::Ensure! => (dov
        (set $dst $a)
        (when (ne (and $a 7) 2) (set $dst (^pair $dst $a)))
        (callv observes look (arglist (carg (tc) ptr) (carg (frames) ptr))))
    Op::First => unsafe (if (eq (and $a 7) 2) (load (sub $a 2) u64) 1)
    Op::Second => unsafe (if (eq (and $a 7) 2) (load (add $a 6) u64) 1)
    Op::Push   => (copy $a)
    Op::Pop    => (copy $b)
    Op::PairTop => (^pair $a $b)
    Op::List => unsafe (call observes throws list (arglist
        (carg (tc) ptr) (carg (window $all) ptr) (carg (length $all) i64) (carg (frames) ptr)) u64)
    Op::Rotate => unsafe (callv observes throws rotate (arglist
        (carg (tc) ptr) (carg (window $all) ptr) (carg (length $all) i64) (carg (frames) ptr)))
    Op::Call   => (invoke observes $function (arglist $all) u64)
    Op::Call2  => (invoke observes $function (arglist $a $b) u64)
    Op::Protected => (try (invoke observes $function (arglist $a $b) u64) (^pair $b $a))
    Op::Tail2  => (tail $function (arglist $a $b))
    Op::Again  => (call observes again (arglist (carg (tc) ptr) (carg $function u32) (carg $a u64)) u64)
    Op::Suspend => (call observes throws suspend (arglist (carg $a u64)) u64)
    Op::JumpIfPair => (when (eq (and $a 7) 2) (branch $to))
    Op::Loop!  => (dov
        (set $count (sub $count 2))
        (when (gt $count 1) (branch $to)))
    Op::Leave  => (when (eq (and $a 7) 2) (exit))
    Op::FailIfPair => (when (eq (and $a 7) 2) (trap 3))
    Op::Return => (return $a)
}

/// The heap, and who runs.
#[derive(Debug)]
pub(crate) struct Vm {
    spaces: Vec<Box<[u64]>>,
    /// The space in use, and how much of it.
    space: usize,
    used: usize,
    /// How many collections there were, and how many roots they had found.
    pub(crate) collections: usize,
    pub(crate) roots: usize,
    pub(crate) engine: *const Engine<Op>,
    pub(crate) functions: Vec<FunctionId>,
    /// Whether there was too little room.
    pub(crate) is_full: bool,
    /// Whether it moves pairs.
    moves: bool,
    /// Where pairs were that nobody can reach, if it moves none.
    free: VecDeque<usize>,
}

impl Vm {
    pub(crate) fn new(engine: &Engine<Op>, moves: bool) -> Vm {
        let spaces = (0..SPACES).map(|_| vec![RUBBISH; WORDS].into_boxed_slice()).collect();
        Vm {
            spaces,
            space: 0,
            used: 0,
            collections: 0,
            roots: 0,
            engine,
            functions: Vec::new(),
            is_full: false,
            moves,
            free: VecDeque::new(),
        }
    }

    /// The words of a pair.
    pub(crate) fn words(&self, pair: u64) -> [u64; 2] {
        let at = self.index(pair).expect("it is a pair of this space");
        [self.spaces[self.space][at], self.spaces[self.space][at + 1]]
    }

    /// Where a pair of the space in use is.
    fn index(&self, pair: u64) -> Option<usize> {
        let start = self.spaces[self.space].as_ptr().addr() as u64;
        let at = (pair.wrapping_sub(2).wrapping_sub(start) / 8) as usize;
        (is_pair(pair) && at + 1 < self.used && at.is_multiple_of(2)).then_some(at)
    }

    /// Keeps all that the frames lead to, and these values.
    pub(crate) fn collect(&mut self, frames: &Frames<'_>, extra: &mut [u64]) {
        self.collections += 1;
        match self.moves {
            true => self.move_all(frames, extra),
            false => self.keep_all(frames, extra),
        }
    }

    fn keep_all(&mut self, frames: &Frames<'_>, extra: &[u64]) {
        let mut roots: Vec<u64> = frames
            .iter()
            .flat_map(|frame| frame.registers().map(|(_, value)| value).collect::<Vec<_>>())
            .collect();
        self.roots += roots.len();
        roots.extend(extra);
        let mut is_kept = vec![false; self.used];
        while let Some(value) = roots.pop() {
            if !is_pair(value) {
                assert_value(value);
                continue;
            }
            let at = self.index(value).unwrap_or_else(|| panic!("{value:#x} is no pair"));
            if !std::mem::replace(&mut is_kept[at], true) {
                roots.extend(&self.spaces[self.space][at..at + 2]);
            }
        }
        for at in (0..self.used).step_by(2).filter(|at| !is_kept[*at]) {
            let pair = &mut self.spaces[self.space][at..at + 2];
            if pair[0] != RUBBISH {
                pair.fill(RUBBISH);
                self.free.push_back(at);
            }
        }
    }

    fn move_all(&mut self, frames: &Frames<'_>, extra: &mut [u64]) {
        let next = (self.space + 1) % SPACES;
        let mut collection = Collection { old: self.space, new: next, used: 0, vm: self };
        let mut roots = 0;
        for frame in frames.iter() {
            frame.update(|value| {
                roots += 1;
                collection.moved(value)
            });
        }
        extra.iter_mut().for_each(|value| *value = collection.moved(*value));
        collection.finish();
        self.roots += roots;
    }
}

struct Collection<'a> {
    vm: &'a mut Vm,
    old: usize,
    new: usize,
    used: usize,
}

/// What stands in the first word of a pair that has moved; the second has its new place.
const MOVED: u64 = RUBBISH + 2;

impl Collection<'_> {
    /// The value, which is moved if it is a pair.
    fn moved(&mut self, value: u64) -> u64 {
        if !is_pair(value) {
            assert_value(value);
            return value;
        }
        let at = self.vm.index(value).unwrap_or_else(|| panic!("{value:#x} has moved before"));
        let [first, second] = [self.vm.spaces[self.old][at], self.vm.spaces[self.old][at + 1]];
        if first == MOVED {
            return second;
        }
        let to = self.used;
        self.used += 2;
        let space = &mut self.vm.spaces[self.new];
        [space[to], space[to + 1]] = [first, second];
        let place = space.as_ptr().wrapping_add(to).expose_provenance() as u64 + 2;
        [self.vm.spaces[self.old][at], self.vm.spaces[self.old][at + 1]] = [MOVED, place];
        place
    }

    fn finish(mut self) {
        let mut scanned = 0;
        while scanned < self.used {
            let value = self.vm.spaces[self.new][scanned];
            self.vm.spaces[self.new][scanned] = self.moved(value);
            scanned += 1;
        }
        self.vm.spaces[self.old].fill(RUBBISH);
        (self.vm.space, self.vm.used) = (self.new, self.used);
    }
}

fn assert_value(value: u64) {
    assert!(
        value & 1 == 1 || value == NIL,
        "{value:#x} is no value: a dead register, or one that was missed"
    );
}

fn pair(vm: &mut Vm, first: u64, second: u64, frames: Frames<'_>) -> Result<u64, Trap> {
    let mut both = [first, second];
    vm.collect(&frames, &mut both);
    pair_without_moving(vm, both[0], both[1])
}

/// Collects, and makes nothing.
fn look(vm: &mut Vm, frames: Frames<'_>) {
    vm.collect(&frames, &mut []);
}

fn list(vm: &mut Vm, first: *const u64, count: i64, frames: Frames<'_>) -> Result<u64, Trap> {
    let mut list = [NIL];
    for at in (0..count as usize).rev() {
        vm.collect(&frames, &mut list);
        // SAFETY: the run has this many registers. They are read after each move.
        let value = unsafe { first.add(at).read() };
        list[0] = pair_without_moving(vm, value, list[0])?;
    }
    Ok(list[0])
}

fn pair_without_moving(vm: &mut Vm, first: u64, second: u64) -> Result<u64, Trap> {
    let at = match vm.free.pop_front() {
        Some(at) => at,
        None if vm.used + 2 > WORDS => {
            vm.is_full = true;
            return Err(Trap::User(FULL));
        }
        None => {
            vm.used += 2;
            vm.used - 2
        }
    };
    let space = &mut vm.spaces[vm.space];
    [space[at], space[at + 1]] = [first, second];
    Ok(space.as_ptr().wrapping_add(at).expose_provenance() as u64 + 2)
}

fn rotate(vm: &mut Vm, first: *mut u64, count: i64, frames: Frames<'_>) -> Result<(), Trap> {
    vm.collect(&frames, &mut []);
    // SAFETY: the run has this many registers, and nobody else has a reference to them.
    unsafe { std::slice::from_raw_parts_mut(first, count as usize) }.rotate_left(1);
    vm.collect(&frames, &mut []);
    Ok(())
}

fn again(vm: *mut Vm, function: u32, value: u64) -> u64 {
    // SAFETY: the engine lives as long as its calls, and nobody uses the context meanwhile.
    let (engine, vm) = unsafe { (&*(*vm).engine, &mut *vm) };
    let function = vm.functions[function as usize];
    engine.call(function, vm, (value, number(5))).unwrap_or(number(77))
}
