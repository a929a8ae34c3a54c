//! Random programs, and their text.
//!
//! In: random numbers. Out: a [`Program`] that ends. Jumps go forward, except those of counted loops; only a loop itself
//! writes its counter. Some jumps enter a loop from outside, past the initialisation of its counter, which then has any
//! small value. In some programs the last counter is set once, at the start. Jumps back that count it may go anywhere, so
//! that loops overlap and have several heads.
//!
//! The choice of opcodes follows the program's [`Theme`]. Most programs use all opcodes. In the others one bytecode's
//! effect matters to the next ones: these programs use one family of opcodes, few registers, and loops that write memory,
//! only read it, or do not access it.

use crate::choices::{CHOICES, Choices, Family, STACK_WORK, THEMES, Theme};
use crate::library::{FOR_ANYBODY, NOBODY};
use crate::machine::{self, Op};
use azulejo::{Bytecode, Code, OperandInfo, OperandKind, verify};
use azulejo_core::check::temporaries::temporaries;
use azulejo_core::fuzzing::Random;
use azulejo_core::ir::bytecode::{MAX_OPERANDS, Raw};
use azulejo_core::verify::Fault;
use azulejo_core::vocab::{Scalar, Type};
use std::collections::HashMap;
use std::fmt::{self, Write};
use std::sync::LazyLock;

/// One bytecode: its opcode's number and its operands' bits.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Instruction {
    /// The index in `Op::OPCODES`.
    pub opcode: usize,
    /// The opcode's operands, followed by zeros.
    pub operands: [Raw; MAX_OPERANDS],
}

/// A function of the rig's bytecode.
#[derive(Clone, PartialEq, Debug)]
pub struct Program {
    /// The code.
    pub code: Vec<Instruction>,
    /// The labels; a `Labels` operand is a run of them.
    pub labels: Vec<u32>,
    /// How many VM registers it has.
    pub registers: u32,
    /// The first temporary. All registers behind it are temporaries, too.
    pub temporaries: u32,
}

/// The numbers of registers that hold integers, doubles, floats, loop counters, and temporaries for the next bytecode.
const INTS: u64 = 10;
const DOUBLES: u64 = 4;
const FLOATS: u64 = 3;
const COUNTERS: u64 = 3;
const TEMPORARIES: u64 = 2;
/// Programs of at least this many bytecodes are long.
const LONG: usize = 1000;
/// The bound on all jumps back that do not belong to a loop.
pub const MOST_JUMPS_BACK: u64 = 40;
/// How many registers there are.
pub const N_REGISTERS: u32 = (INTS + DOUBLES + FLOATS + COUNTERS + TEMPORARIES) as u32;
/// The first loop counter. Only loops write counters.
pub const FIRST_COUNTER: u64 = INTS + DOUBLES + FLOATS;
/// The first temporary. A temporary is read once, by the bytecode behind the one that writes it.
pub const FIRST_TEMPORARY: u64 = FIRST_COUNTER + COUNTERS;

/// The name of immediates that are the number of a function.
const FUNCTION: &str = "f";

/// How the bytecodes of a loop access memory, if the theme is [`Theme::Cells`].
#[derive(Clone, Copy, PartialEq, Debug)]
enum Mood {
    /// They read it now and then.
    Quiet,
    /// They read it often, and each loop starts with a read.
    Loads,
    /// They read and write it.
    Writes,
}

/// The plan for a position of the code.
#[derive(Clone, Copy, PartialEq)]
enum Plan {
    Any,
    /// Sets the counter of the loop.
    Head {
        counter: u64,
    },
    /// Sets the counter of all jumps back that do not belong to a loop.
    Start {
        counter: u64,
    },
    /// Counts, and jumps back to the bytecode behind the head.
    Back {
        counter: u64,
        head: u64,
    },
    /// Counts and jumps back like `Back`, if a register is less than zero.
    BackIf {
        counter: u64,
        head: u64,
    },
    /// This opcode, in the middle of work on the operand stack, where no jump leads.
    Stack(&'static str),
    /// The first opcode of work on the operand stack.
    StackStart(&'static str),
    End,
}

/// Makes a program with about this many bytecodes.
pub fn program(random: &mut Random, size: usize) -> Program {
    let mut maker = Maker::new(random, size);
    for at in 0..maker.plan.len() {
        maker.add(at);
    }
    let Maker { code, labels, .. } = maker;
    let temporaries = FIRST_TEMPORARY as u32;
    let mut program = Program { code, labels, registers: N_REGISTERS, temporaries };
    // A bytecode that writes a temporary only on some paths may leave an old value that was read before.
    program.settle_temporaries();
    program
}

struct Maker<'a> {
    random: &'a mut Random,
    theme: Theme,
    plan: Vec<Plan>,
    /// By position: the mood of the innermost loop around it.
    moods: Vec<Mood>,
    code: Vec<Instruction>,
    labels: Vec<u32>,
    /// By position: whether another bytecode jumps there.
    is_target: Vec<bool>,
    /// The temporary that the previous bytecode wrote and that was not read yet.
    fresh: Option<u64>,
    /// How many of the registers for integers are in use.
    ints: u64,
    /// A few random opcodes that make up most of the program: of the usual ones and, for [`Theme::Cells`], of each mood.
    favorites: Vec<usize>,
    quiet: Vec<usize>,
    loads: Vec<usize>,
    writes: Vec<usize>,
}

impl<'a> Maker<'a> {
    fn new(random: &'a mut Random, size: usize) -> Self {
        let theme = match size {
            LONG.. => Theme::Long,
            _ => THEMES[random.below(THEMES.len())],
        };
        let mut maker = Maker {
            random,
            theme,
            plan: Vec::new(),
            moods: Vec::new(),
            code: Vec::new(),
            labels: Vec::new(),
            is_target: Vec::new(),
            fresh: None,
            ints: INTS,
            favorites: Vec::new(),
            quiet: Vec::new(),
            loads: Vec::new(),
            writes: Vec::new(),
        };
        let choices = &*CHOICES;
        maker.favorites = maker.some(12, &choices.usual);
        if theme == Theme::Cells {
            maker.choose_cells();
        }
        match theme {
            Theme::Any | Theme::Long | Theme::Family(Family::Swaps) => {}
            Theme::Cells => maker.ints = 2 + maker.random.below(4) as u64,
            Theme::Family(_) => maker.ints = 3 + maker.random.below(INTS as usize - 2) as u64,
        }
        // Leave space for bytecodes that initialise registers, and for those that observe them.
        maker.plan.resize(size + 14, Plan::Any);
        maker.moods.resize(size + 15, Mood::Writes);
        let overlaps = maker.random.one_in(4);
        maker.plan_loops(0, size, if overlaps { 1 } else { 0 });
        maker.plan_stack_work();
        if overlaps {
            maker.plan_jumps_back(size);
        }
        maker.plan.push(Plan::End);
        maker.is_target.resize(maker.plan.len(), false);
        for plan in &maker.plan {
            if let Plan::Back { head, .. } | Plan::BackIf { head, .. } = plan {
                maker.is_target[*head as usize + 1] = true;
            }
        }
        maker
    }

    /// Chooses the opcodes of each mood. Loaded values are summed up. Stores write memory directly, or in some programs
    /// only through a call.
    fn choose_cells(&mut self) {
        let Choices { quiet, loads, writes, cell_loads, cell_writes, .. } = &*CHOICES;
        self.quiet = ["AddTo", "AddTo", "AddTo", "XorI64"].map(opcode_named).to_vec();
        let (other, load, write) = (self.some(1, quiet), self.some(1, loads), self.some(1, writes));
        self.quiet.extend(other);
        if self.random.one_in(3) {
            self.loads = vec![opcode_named("CellLoadNotes"); 3];
            self.writes = vec![opcode_named("CellNote"); 3];
        } else {
            (self.loads, self.writes) = (self.some(3, cell_loads), self.some(3, cell_writes));
            self.writes.extend(["CellAddI64", "CellAddI32"].map(opcode_named));
            self.writes.extend(write);
        }
        self.loads.extend(load);
    }

    fn some(&mut self, count: usize, of: &[usize]) -> Vec<usize> {
        (0..count).map(|_| of[self.random.below(of.len())]).collect()
    }

    /// Plans loops, and nested loops inside them. Each depth has a counter, from the last one down.
    fn plan_loops(&mut self, from: usize, to: usize, depth: u64) {
        if depth == COUNTERS || to - from < 4 {
            return;
        }
        // Programs of these themes consist of loops almost entirely. Outer loops never write memory themselves; inner ones may.
        let is_dense = matches!(self.theme, Theme::Cells | Theme::Family(Family::Swaps));
        let (gap, longest) = if is_dense { (3, (to - from - 3).min(40)) } else { (12, 24) };
        let moods = match from {
            0 => [Mood::Quiet, Mood::Loads, Mood::Loads, Mood::Loads],
            _ => [Mood::Quiet, Mood::Loads, Mood::Writes, Mood::Writes],
        };
        // The first bytecode of a loop is never that of an inner loop.
        let mut at = if is_dense && from > 0 { from + 1 } else { from };
        while at + 4 < to {
            at += self.random.below(gap);
            let len = 3 + self.random.below(longest);
            if at + len >= to {
                if is_dense && at + 8 < to {
                    continue;
                }
                return;
            }
            let counter = FIRST_TEMPORARY - 1 - depth;
            self.plan[at] = Plan::Head { counter };
            self.plan[at + len] = Plan::Back { counter, head: at as u64 };
            self.moods[at + 1..=at + len].fill(moods[self.random.below(moods.len())]);
            self.plan_loops(at + 1, at + len, depth + 1);
            at += len + 1;
        }
    }

    /// Plans jumps back between arbitrary positions. A counter that is set at the start bounds the sum of them.
    fn plan_jumps_back(&mut self, size: usize) {
        let counter = FIRST_TEMPORARY - 1;
        let can_be = |plan: Plan| plan == Plan::Any;
        if !can_be(self.plan[0]) {
            return;
        }
        self.plan[0] = Plan::Start { counter };
        for _ in 0..1 + size.min(200) / 8 {
            let at = 2 + self.random.below(size);
            let head = at - 2 - self.random.below((at - 1).min(300));
            if can_be(self.plan[at]) && !matches!(self.plan[head + 1], Plan::Stack(_)) {
                self.plan[at] = Plan::BackIf { counter, head: head as u64 };
            }
        }
    }

    fn plan_stack_work(&mut self) {
        for _ in 0..self.plan.len() / 24 {
            let work = STACK_WORK[self.random.below(STACK_WORK.len())];
            let at = self.random.below(self.plan.len());
            let room = self.plan.get_mut(at..at + work.len());
            if let Some(room) = room.filter(|room| room.iter().all(|plan| *plan == Plan::Any)) {
                room[0] = Plan::StackStart(work[0]);
                std::iter::zip(&mut room[1..], &work[1..]).for_each(|(plan, name)| *plan = Plan::Stack(name));
            }
        }
    }

    fn add(&mut self, at: usize) {
        let mut operands = [0; MAX_OPERANDS];
        if self.is_target[at] {
            // The sources of jumps to this position did not write the temporary.
            self.fresh = None;
        }
        let opcode = match self.plan[at] {
            Plan::Head { counter } => {
                let least = if self.theme == Theme::Cells { 2 } else { 1 };
                operands[..2].copy_from_slice(&[counter, least + self.random.below(4) as u64]);
                opcode_named("ConstI32")
            }
            Plan::Start { counter } => {
                operands[..2]
                    .copy_from_slice(&[counter, 1 + self.random.below(MOST_JUMPS_BACK as usize) as u64]);
                opcode_named("ConstI32")
            }
            Plan::Back { counter, head } => {
                operands[..2].copy_from_slice(&[counter, head + 1]);
                opcode_named("Count")
            }
            Plan::BackIf { counter, head } => {
                operands[..3].copy_from_slice(&[counter, head + 1, self.register(Type::I64, true)]);
                opcode_named("CountIf")
            }
            Plan::End => {
                operands[0] = self.random.below(INTS as usize) as u64;
                opcode_named("Return")
            }
            Plan::Stack(name) | Plan::StackStart(name) => self.filled(opcode_named(name), &mut operands, at),
            Plan::Any => {
                let opcode = self.choose(at);
                self.filled(opcode, &mut operands, at)
            }
        };
        self.code.push(Instruction { opcode, operands });
    }

    fn filled(&mut self, opcode: usize, operands: &mut [Raw; MAX_OPERANDS], at: usize) -> usize {
        let mut written = None;
        for (operand, info) in std::iter::zip(operands, Op::OPCODES[opcode].operands) {
            *operand = match info.kind {
                OperandKind::In if self.fresh.is_some() && !self.random.one_in(6) => {
                    self.fresh.take().expect("it is there")
                }
                OperandKind::Out if self.random.one_in(4) => {
                    let temporary = FIRST_TEMPORARY + self.random.below(TEMPORARIES as usize) as u64;
                    *written.insert(temporary)
                }
                _ => self.operand(info, at),
            };
        }
        self.fresh = written;
        opcode
    }

    fn choose(&mut self, at: usize) -> usize {
        // The last bytecodes observe the registers; the first ones initialise them.
        if at + 8 >= self.plan.len() {
            return opcode_named(["Keep", "Effect", "StoreI64", "StoreF64"][self.random.below(4)]);
        }
        if at < 6 && self.theme == Theme::Family(Family::Tagged) {
            return opcode_named("TaggedConst");
        }
        if at < 6 && self.theme == Theme::Family(Family::Boxed) {
            return opcode_named(
                ["BoxedConst", "BoxedConst", "BoxedSmall", "ConstI64"][self.random.below(4)],
            );
        }
        if at < 6 {
            return opcode_named(["ConstI64", "ConstF64", "ConstF32", "ConstI16"][self.random.below(4)]);
        }
        match self.theme {
            Theme::Any => self.any(),
            Theme::Long if self.random.one_in(64) => self.any(),
            Theme::Long => self.one_of(&CHOICES.lasting),
            Theme::Cells => self.of_mood(at),
            Theme::Family(_) if self.random.one_in(6) => self.any(),
            Theme::Family(_) if self.random.one_in(3) => self.one_of(&CHOICES.quiet),
            Theme::Family(Family::Tagged) => self.one_of(&CHOICES.tagged),
            Theme::Family(Family::Boxed) => self.one_of(&CHOICES.boxed),
            Theme::Family(Family::Regions) => self.one_of(&CHOICES.regions),
            Theme::Family(Family::Swaps) => self.one_of(&CHOICES.swaps),
            Theme::Family(Family::Calls) => self.one_of(&CHOICES.calls),
            Theme::Family(Family::Captured) => self.one_of(&CHOICES.captured),
        }
    }

    fn one_of(&mut self, opcodes: &[usize]) -> usize {
        opcodes[self.random.below(opcodes.len())]
    }

    fn any(&mut self) -> usize {
        match self.random.below(24) {
            0 => self.one_of(&CHOICES.endings),
            1 => opcode_named(
                ["ConstI64", "ConstI32", "ConstI8", "ConstF64", "ConstF32", "Jump"][self.random.below(6)],
            ),
            2..10 => self.favorites[self.random.below(self.favorites.len())],
            _ => self.one_of(&CHOICES.usual),
        }
    }

    /// An opcode for the mood of the innermost loop. A read-only loop starts with a load.
    fn of_mood(&mut self, at: usize) -> usize {
        let kind = match (self.moods[at], self.random.below(4)) {
            (Mood::Loads, _) if at > 0 && matches!(self.plan[at - 1], Plan::Head { .. }) => &self.loads,
            (Mood::Quiet, 1..) | (Mood::Loads, 2..) | (Mood::Writes, 3) => &self.quiet,
            (Mood::Quiet | Mood::Loads, _) | (Mood::Writes, 0) => &self.loads,
            (Mood::Writes, _) => &self.writes,
        };
        kind[self.random.below(kind.len())]
    }

    fn operand(&mut self, info: &OperandInfo, at: usize) -> Raw {
        let ty = info.scalar.map_or(Type::I64, Scalar::ty);
        match info.kind {
            OperandKind::In => self.register(ty, true),
            OperandKind::Out | OperandKind::InOut => self.register(ty, false),
            // Sites have no number: each bytecode has its own.
            OperandKind::Pop | OperandKind::Push | OperandKind::Site => 0,
            OperandKind::Imm if info.name == FUNCTION => self.function(),
            OperandKind::Imm => self.constant(info.scalar.unwrap_or(Scalar::I64)),
            OperandKind::Label => self.target(at),
            OperandKind::Labels => {
                let (first, count) = (self.labels.len() as u64, 1 + self.random.below(5));
                for _ in 0..count {
                    let target = self.target(at);
                    self.labels.push(target as u32);
                }
                first | (count as u64) << 32
            }
            OperandKind::Regs | OperandKind::RegsMut => {
                let first = self.random.below(INTS as usize);
                let count = self.random.below(INTS as usize - first);
                first as u64 | (count as u64) << 32
            }
        }
    }

    /// A register for a type, which now and then holds another type. Counters are only read.
    fn register(&mut self, ty: Type, read: bool) -> Raw {
        if self.random.one_in(24) {
            return self.random.below((FIRST_COUNTER + if read { COUNTERS } else { 0 }) as usize) as u64;
        }
        let (first, count) = match ty {
            Type::F64 => (INTS, DOUBLES),
            Type::F32 => (INTS + DOUBLES, FLOATS),
            _ => (0, self.ints),
        };
        first + self.random.below(count as usize) as u64
    }

    /// A later position, mostly near.
    fn target(&mut self, at: usize) -> Raw {
        let left = self.plan.len() - at - 1;
        let mut target = at + 1 + self.random.below(left.min(16));
        while matches!(self.plan[target], Plan::Stack(_)) {
            target += 1;
        }
        self.is_target[target] = true;
        target as u64
    }

    /// The number of a library function, or now and then of none.
    fn function(&mut self) -> Raw {
        match self.random.below(64) {
            0 => NOBODY as u64 + self.random.below(99) as u64,
            other => FOR_ANYBODY[other % FOR_ANYBODY.len()] as u64,
        }
    }

    fn constant(&mut self, scalar: Scalar) -> Raw {
        const INTS: [i64; 14] = [0, 1, -1, 2, 3, 7, 13, 31, 63, 64, 77, i64::MAX, i64::MIN, 0x7fff_ffff];
        const DOUBLES: [f64; 14] = [
            0.0,
            -0.0,
            1.0,
            -1.5,
            0.5,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            f64::MIN_POSITIVE,
            5e-324,
            9.3e18,
            -2147483649.0,
            255.9,
            1e300,
        ];
        match scalar.ty() {
            Type::F64 if self.random.one_in(3) => self.random.number(),
            Type::F64 => DOUBLES[self.random.below(DOUBLES.len())].to_bits(),
            Type::F32 if self.random.one_in(3) => self.random.number() as u32 as u64,
            Type::F32 => (DOUBLES[self.random.below(DOUBLES.len())] as f32).to_bits() as u64,
            ty => {
                let bits = match self.random.below(3) {
                    0 => INTS[self.random.below(INTS.len())],
                    1 => self.random.below(256) as i64 - 128,
                    _ => (self.random.number() >> self.random.below(64)) as i64,
                };
                // The enum holds a constant extended by its sign, if it has one.
                let bits = bits << (64 - ty.bits());
                if scalar.is_signed() {
                    (bits >> (64 - ty.bits())) as u64
                } else {
                    bits as u64 >> (64 - ty.bits())
                }
            }
        }
    }
}

/// Whether a bytecode may run with any register contents, and does the same in every engine and without one.
pub fn is_for_anybody(at: &Instruction) -> bool {
    let Instruction { opcode, operands } = at;
    let info = &Op::OPCODES[*opcode];
    let is_anybodys = |number: u64| number >= NOBODY as u64 || FOR_ANYBODY.contains(&(number as u32));
    let is_function = |info: &OperandInfo| info.name == FUNCTION && info.kind == OperandKind::Imm;
    std::iter::zip(operands, info.operands).all(|(operand, info)| !is_function(info) || is_anybodys(*operand))
        && !["SumAt", "FillAt"].contains(&info.name)
}

fn opcode_named(name: &str) -> usize {
    static NUMBERS: LazyLock<HashMap<&str, usize>> =
        LazyLock::new(|| Op::OPCODES.iter().enumerate().map(|(number, info)| (info.name, number)).collect());
    *NUMBERS.get(name).unwrap_or_else(|| panic!("there is no opcode `{name}`"))
}

impl Program {
    /// The code, as an engine's `define` takes it.
    pub fn code(&self) -> Code<Op> {
        let op = |at: &Instruction| machine::from_raw(at.opcode, &at.operands);
        let ops: Vec<Op> = self.code.iter().map(op).collect();
        // SAFETY: templates expect `(cu)` to point to this static.
        let code = unsafe { Code::from(ops).with_unit(&raw const machine::UNIT) };
        Code { labels: self.labels.clone(), ..code.with_temporaries(self.temporaries) }
    }

    /// The registers that it captures, in ascending order.
    pub(crate) fn captured(&self) -> Vec<u32> {
        let captures = self.code.iter().filter(|at| Op::OPCODES[at.opcode].name == "Capture");
        let registers = |run: Raw| run as u32..(run as u32).wrapping_add((run >> 32) as u32);
        let mut all: Vec<u32> = captures.flat_map(|at| registers(at.operands[0])).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Removes the registers whose values are read again from the temporaries, and those that are captured.
    pub fn settle_temporaries(&mut self) {
        let behind_captured = self.captured().last().map_or(0, |register| register + 1);
        self.temporaries = self.temporaries.max(behind_captured);
        let code = self.code();
        let shape = verify(&code.ops, &code.labels, self.registers).expect("the program is right otherwise");
        while let Err(error) = temporaries(&code.ops, &code.labels, &shape, self.temporaries) {
            let Fault::ReadAgain { register, .. } = error.fault else { unreachable!("{error}") };
            self.temporaries = register + 1;
        }
    }

    /// Reads what `Display` writes.
    pub fn parse(text: &str) -> Result<Program, String> {
        let (registers, temporaries) = (N_REGISTERS, u32::MAX);
        let mut program = Program { code: Vec::new(), labels: Vec::new(), registers, temporaries };
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let mut words = line.split_whitespace();
            let name = words.next().expect("the line is not empty");
            let mut numbers = Vec::new();
            for word in words {
                numbers.push(word.parse::<u64>().map_err(|error| format!("`{word}`: {error}"))?);
            }
            match name {
                "labels" => program.labels = numbers.iter().map(|label| *label as u32).collect(),
                "registers" => match numbers[..] {
                    [count] => program.registers = count as u32,
                    [count, first] => (program.registers, program.temporaries) = (count as u32, first as u32),
                    _ => return Err("`registers` has one number, or that of the first temporary too".into()),
                },
                _ => {
                    let opcode = Op::OPCODES.iter().position(|info| info.name == name);
                    let opcode = opcode.ok_or_else(|| format!("there is no opcode `{name}`"))?;
                    let mut operands = [0; MAX_OPERANDS];
                    let n_operands = Op::OPCODES[opcode].operands.len();
                    if numbers.len() != n_operands {
                        return Err(format!("`{name}` has {n_operands} operands"));
                    }
                    operands[..n_operands].copy_from_slice(&numbers);
                    program.code.push(Instruction { opcode, operands });
                }
            }
        }
        Ok(program)
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.temporaries {
            u32::MAX => writeln!(f, "registers {}", self.registers)?,
            first => writeln!(f, "registers {} {first}", self.registers)?,
        }
        let mut labels = String::new();
        self.labels.iter().try_for_each(|label| write!(labels, " {label}"))?;
        writeln!(f, "labels{labels}")?;
        for Instruction { opcode, operands } in &self.code {
            let info = &Op::OPCODES[*opcode];
            write!(f, "{}", info.name)?;
            for operand in &operands[..info.operands.len()] {
                write!(f, " {operand}")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
