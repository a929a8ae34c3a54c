//! The graphs that `build` makes from bytecode: VM registers become values, loops get parameters, exits store registers.

use azulejo_core::check;
use azulejo_core::check::evaluate::{Environment, Memory, Outcome, evaluate};
use azulejo_core::ir::bytecode::{MAX_OPERANDS, OpcodeInfo, OperandInfo, OperandKind, Raw};
use azulejo_core::ir::graph::Graph;
use azulejo_core::ir::list::{Refs, TypeList};
use azulejo_core::ir::template::{Likelihood, Resume, Step, StepImm, Template};
use azulejo_core::pass::build::{
    BuildScratch, FunctionSource, Instructions, Linkage, StartScratch, build, needed_at_start,
};
use azulejo_core::pass::{dead, rewrite};
use azulejo_core::random::Random;
use azulejo_core::text::print;
use azulejo_core::vocab::{Op, Scalar, Sig, Type, Vocabulary};

/// Bytecode as numbers: the opcode, then its operands.
struct Numbers(Vec<Vec<Raw>>);

impl Numbers {
    fn of(code: &[&[Raw]]) -> Numbers {
        Numbers(code.iter().map(|bytecode| bytecode.to_vec()).collect())
    }
}

impl Instructions for Numbers {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn address_of(&self, _: usize) -> u64 {
        unreachable!("no template makes a bytecode another one")
    }

    fn get(&self, at: usize) -> (usize, [Raw; MAX_OPERANDS]) {
        let mut operands = [0; MAX_OPERANDS];
        operands[..self.0[at].len() - 1].copy_from_slice(&self.0[at][1..]);
        (self.0[at][0] as usize, operands)
    }
}

const fn operand(kind: OperandKind, scalar: Scalar) -> OperandInfo {
    OperandInfo { name: "", kind, scalar: Some(scalar) }
}

const fn sig(from: Type, ty: Type) -> Sig {
    Sig { from, ty }
}

const fn node(op: Op, sig: Sig, inputs: &[u16]) -> Step {
    Step::Node { op, sig, inputs: Refs::of(inputs), imm: StepImm::Known(0) }
}

const fn read(operand: u8, ty: Type) -> Step {
    Step::Read { operand, ty }
}

const IN: OperandInfo = operand(OperandKind::In, Scalar::I64);
const OUT: OperandInfo = operand(OperandKind::Out, Scalar::I64);
const LABEL: OperandInfo = OperandInfo { name: "", kind: OperandKind::Label, scalar: None };
const EVEN: Likelihood = Likelihood::Even;

const fn info(name: &'static str, operands: &'static [OperandInfo]) -> OpcodeInfo {
    OpcodeInfo { name, operands }
}

const SET: Raw = 0;
const ADD: Raw = 1;
const JUMP_LESS: Raw = 2;
const RETURN: Raw = 3;
const GUARD: Raw = 4;
const ADD_I32: Raw = 5;
const PUSH: Raw = 6;
const ADD_TOP: Raw = 7;
const POP: Raw = 8;
const GOTO: Raw = 9;
const SQUARE: Raw = 10;
const SPIN_UNLESS: Raw = 11;

static OPCODES: &[OpcodeInfo] = &[
    info("set", &[OUT, operand(OperandKind::Imm, Scalar::I64)]),
    info("add", &[OUT, IN, IN]),
    info("jump_less", &[IN, IN, LABEL]),
    info("return", &[IN]),
    info("guard", &[IN]),
    info(
        "add_i32",
        &[
            operand(OperandKind::Out, Scalar::I32),
            operand(OperandKind::In, Scalar::I32),
            operand(OperandKind::In, Scalar::I32),
        ],
    ),
    info("push", &[operand(OperandKind::Push, Scalar::I64), IN]),
    info(
        "add_top",
        &[
            operand(OperandKind::Pop, Scalar::I64),
            operand(OperandKind::Pop, Scalar::I64),
            operand(OperandKind::Push, Scalar::I64),
        ],
    ),
    info("pop", &[OUT, operand(OperandKind::Pop, Scalar::I64)]),
    info("goto", &[LABEL]),
    info("square", &[operand(OperandKind::Out, Scalar::F64), operand(OperandKind::In, Scalar::F64)]),
    info("spin_unless", &[operand(OperandKind::Imm, Scalar::I64), IN]),
];

const ADD_I64: Step = node(Op::ADD, sig(Type::Void, Type::I64), &[0, 1]);

static TEMPLATES: &[&Template] = &[
    &Template::plain(
        &[Step::Constant { operand: 1, ty: Type::I64 }, Step::Write { operand: 0, value: 0 }],
        1,
    ),
    &Template::plain(
        &[read(1, Type::I64), read(2, Type::I64), ADD_I64, Step::Write { operand: 0, value: 2 }],
        1,
    ),
    &Template::plain(
        &[
            read(0, Type::I64),
            read(1, Type::I64),
            node(Op::LT, sig(Type::I64, Type::Flag), &[0, 1]),
            Step::Branch { flag: 2, then: 1, otherwise: 2, likelihood: EVEN },
            Step::Block { block: 1, params: TypeList::EMPTY, cold: false },
            Step::Goto { operand: 2 },
            Step::Block { block: 2, params: TypeList::EMPTY, cold: false },
        ],
        3,
    ),
    &Template::plain(&[read(0, Type::I64), Step::Return { value: Some(0) }], 1),
    &Template::plain(
        &[
            read(0, Type::I64),
            node(Op::NZ, sig(Type::I64, Type::Flag), &[0]),
            Step::Branch { flag: 1, then: 2, otherwise: 1, likelihood: Likelihood::Likely },
            Step::Block { block: 1, params: TypeList::EMPTY, cold: true },
            Step::Exit { to: Resume::Here },
            Step::Block { block: 2, params: TypeList::EMPTY, cold: false },
        ],
        3,
    ),
    &Template::plain(
        &[
            read(1, Type::I32),
            read(2, Type::I32),
            node(Op::ADD, sig(Type::Void, Type::I32), &[0, 1]),
            Step::Write { operand: 0, value: 2 },
        ],
        1,
    ),
    &Template::plain(&[read(1, Type::I64), Step::Write { operand: 0, value: 0 }], 1),
    &Template::plain(
        &[read(0, Type::I64), read(1, Type::I64), ADD_I64, Step::Write { operand: 2, value: 2 }],
        1,
    ),
    &Template::plain(&[read(1, Type::I64), Step::Write { operand: 0, value: 0 }], 1),
    &Template::plain(&[Step::Goto { operand: 0 }], 1),
    &Template::plain(
        &[
            read(1, Type::F64),
            node(Op::MUL, sig(Type::Void, Type::F64), &[0, 0]),
            Step::Write { operand: 0, value: 1 },
        ],
        1,
    ),
    // A loop in front of which a constant decides.
    &Template::plain(
        &[
            Step::Constant { operand: 0, ty: Type::I64 },
            node(Op::NZ, sig(Type::I64, Type::Flag), &[0]),
            Step::Branch { flag: 1, then: 3, otherwise: 1, likelihood: EVEN },
            Step::Block { block: 1, params: TypeList::EMPTY, cold: false },
            read(1, Type::I64),
            node(Op::MUL, sig(Type::Void, Type::I64), &[2, 2]),
            node(Op::NZ, sig(Type::I64, Type::Flag), &[3]),
            Step::Branch { flag: 4, then: 1, otherwise: 2, likelihood: EVEN },
            Step::Block { block: 2, params: TypeList::EMPTY, cold: false },
            Step::Jump { block: 3, args: Refs::of(&[]) },
            Step::Block { block: 3, params: TypeList::EMPTY, cold: false },
        ],
        4,
    ),
];

fn built(code: &[&[Raw]], locals: u32, slots: u32, depths: &[u32]) -> String {
    built_for(code, locals, slots, depths, 0, Linkage::default())
}

/// Builds the graph for an entry, with the words that stop a program.
fn built_for(
    code: &[&[Raw]],
    locals: u32,
    slots: u32,
    depths: &[u32],
    entry: u32,
    functions: Linkage<'_>,
) -> String {
    let code = Numbers::of(code);
    let source = FunctionSource { entry, functions, ..source_of(&code, locals, slots, depths) };
    let mut graph = Graph::new(Vocabulary::BUILTIN);
    let mut scratch = BuildScratch::default();
    build(&mut scratch, &source, &mut graph);
    let text = print::graph(&graph);
    build(&mut scratch, &source, &mut graph);
    assert_eq!(text, print::graph(&graph), "a reused scratch gives the same graph");
    text
}

fn source_of<'a>(code: &'a Numbers, locals: u32, slots: u32, depths: &'a [u32]) -> FunctionSource<'a> {
    FunctionSource {
        vocab: Vocabulary::BUILTIN,
        opcodes: OPCODES,
        templates: TEMPLATES,
        code,
        labels: &[],
        locals,
        slots,
        depths,
        entry: 0,
        arguments: None,
        functions: Linkage::default(),
        slow_paths: None,
        sites: None,
        missing: 0,
        drops_surplus: false,
        captured: &[],
        call_entry: None,
        callees: &[],
    }
}

fn count(text: &str, word: &str) -> usize {
    text.matches(word).count()
}

#[test]
fn a_straight_line_stays_in_values() {
    let text = built(&[&[SET, 0, 5], &[ADD, 1, 0, 0], &[ADD, 1, 1, 0], &[RETURN, 1]], 2, 2, &[]);
    assert_eq!((count(&text, "load"), count(&text, "store"), count(&text, "param")), (0, 0, 0), "{text}");
    assert_eq!(count(&text, "add."), 2, "{text}");
}

#[test]
fn a_loop_carries_what_it_changes_and_nothing_else() {
    // r0: limit, r1: counter, r2: sum, r3: one
    let code: &[&[Raw]] =
        &[&[SET, 3, 1], &[ADD, 2, 2, 1], &[ADD, 1, 1, 3], &[JUMP_LESS, 1, 0, 1], &[RETURN, 2]];
    let text = built(code, 4, 4, &[]);
    assert_eq!(count(&text, "= param."), 2, "only the counter and the sum: {text}");
    assert_eq!(count(&text, "= load."), 3, "the limit, and what counter and sum start with: {text}");
    assert_eq!(count(&text, "store"), 0, "{text}");
}

#[test]
fn a_loop_entered_aside_of_its_head_carries_what_it_does_not_write() {
    // Nothing in the loop from 3 to 5 writes r0, but its value on the way in through 3 differs from that through 4.
    let code: &[&[Raw]] = &[
        &[SET, 0, 5],
        &[JUMP_LESS, 1, 2, 4],
        &[SET, 0, 7],
        &[ADD, 3, 3, 0],
        &[ADD, 3, 3, 0],
        &[JUMP_LESS, 3, 2, 3],
        &[RETURN, 0],
    ];
    let text = built(code, 4, 4, &[]);
    assert!(count(&text, "= param.") >= 4, "r0 and r3, at both places: {text}");
    let code: Vec<&[Raw]> = core::iter::once(&code[0]).chain(&code[2..]).copied().collect();
    let code: Vec<Vec<Raw>> = code
        .iter()
        .map(|bytecode| match **bytecode {
            [JUMP_LESS, a, b, _] => vec![JUMP_LESS, a, b, 2],
            ref other => other.to_vec(),
        })
        .collect();
    let code: Vec<&[Raw]> = code.iter().map(Vec::as_slice).collect();
    let text = built(&code, 4, 4, &[]);
    assert_eq!(count(&text, "= param."), 1, "entered at its head alone it carries r3 alone: {text}");
}

#[test]
fn a_loop_of_a_template_that_control_does_not_reach_is_left_out() {
    let text = built(&[&[SPIN_UNLESS, 0, 0], &[RETURN, 0]], 1, 1, &[]);
    assert_eq!(count(&text, "= mul."), 1, "{text}");
    // It is not even linked and dropped again: then more blocks and values would be in front of the sum.
    let text = built(&[&[SPIN_UNLESS, 1, 0], &[ADD, 0, 0, 0], &[RETURN, 0]], 1, 1, &[]);
    assert_eq!(
        ["= mul.", "= param.", "jump", "v5 = add."].map(|what| count(&text, what)),
        [0, 0, 1, 1],
        "{text}"
    );
}

#[test]
fn nested_loops_have_no_parameter_for_what_only_the_outer_one_reads() {
    // r0 and r1: limits, r2 and r3: counters, r4: one, r5: zero
    let code: &[&[Raw]] = &[
        &[SET, 4, 1],
        &[SET, 5, 0],
        &[ADD, 3, 5, 5],
        &[ADD, 3, 3, 4],
        &[JUMP_LESS, 3, 1, 3],
        &[ADD, 2, 2, 4],
        &[JUMP_LESS, 2, 0, 2],
        &[RETURN, 3],
    ];
    let text = built(code, 6, 6, &[]);
    assert_eq!(count(&text, "= param."), 2, "a counter for each loop: {text}");
}

/// The VM registers in the frame states of exits.
fn saved(text: &str) -> Vec<&str> {
    let exits = text.lines().filter(|line| line.contains("exit_with"));
    exits.flat_map(|line| line.split_whitespace().filter(|word| word.starts_with("slot"))).collect()
}

#[test]
fn a_guard_stores_what_was_written_and_only_that() {
    let text = built(&[&[SET, 1, 7], &[GUARD, 0], &[RETURN, 1]], 3, 3, &[]);
    assert_eq!(saved(&text), ["slot1"], "register 0 was never written: {text}");
    assert_eq!(count(&text, "exit_with"), 1, "{text}");
    assert_eq!(count(&text, "cold"), 1, "{text}");
}

/// Two nested loops that read r0 (limit), r1 and r2 (counters) and r3 (one). The values of r4 to r6 are read right after
/// their writes, and never again.
const NESTED: &[&[Raw]] = &[
    &[SET, 3, 1],
    &[ADD, 4, 1, 3],
    &[ADD, 2, 4, 4],
    &[ADD, 5, 2, 3],
    &[ADD, 2, 5, 3],
    &[JUMP_LESS, 2, 0, 3],
    &[ADD, 6, 1, 3],
    &[ADD, 1, 6, 3],
    &[JUMP_LESS, 1, 0, 1],
    &[RETURN, 2],
];

#[test]
fn where_a_program_may_be_stopped_it_stores_what_is_read_afterwards() {
    // r3 is stored at both heads, and each counter where it is read afterwards: r1 and r3 at the outer head, r1, r2 and r3 at
    // the inner one.
    let stop = Linkage { stop: Some(0x1000), ..Linkage::default() };
    let text = built_for(NESTED, 7, 7, &[], 0, stop);
    assert_eq!(saved(&text), ["slot1", "slot3", "slot1", "slot2", "slot3"], "{text}");
    assert_eq!(count(&text, "= param."), 2, "{text}");
    // Fuel is taken at the function's start and at the loop heads.
    let fuel = Linkage { fuel: Some(0x1000), ..Linkage::default() };
    let text = built_for(NESTED, 7, 7, &[], 0, fuel);
    assert_eq!((count(&text, "spend"), saved(&text).len()), (3, 5), "{text}");
}

#[test]
fn where_code_for_an_inner_loop_moves_on_it_stores_what_is_read_afterwards() {
    // The code is entered at the inner loop and left at the outer loop's head, where r1 and r3 are stored.
    let text = built_for(NESTED, 7, 7, &[], 3, Linkage::default());
    assert_eq!(count(&text, "exit_with"), 1, "{text}");
    assert_eq!(saved(&text), ["slot1", "slot3"], "{text}");
}

#[test]
fn a_narrow_value_goes_from_opcode_to_opcode_without_casts() {
    let code: &[&[Raw]] = &[&[ADD, 2, 0, 0], &[ADD_I32, 1, 0, 0], &[ADD_I32, 1, 1, 0], &[RETURN, 1]];
    let text = built(code, 3, 3, &[]);
    assert_eq!(count(&text, "ucast.i64.i32"), 3, "each read of the argument is narrowed: {text}");
    assert_eq!(count(&text, "ucast.i32.i64"), 1, "only the result that is used as a word is widened: {text}");
}

#[test]
fn a_register_that_is_only_narrow_lives_as_that() {
    // In a loop too: for (;; r1 += r2), until the code is left for the interpreter, which needs r1 as a whole slot.
    let code: &[&[Raw]] = &[&[ADD_I32, 1, 1, 2], &[GUARD, 0], &[GOTO, 0]];
    let text = built(code, 3, 3, &[]);
    assert_eq!((count(&text, "load.i32"), count(&text, "= param.i32")), (2, 1), "{text}");
    assert_eq!(count(&text, "ucast.i64.i32"), 0, "nothing is narrowed: {text}");
    assert_eq!(
        (count(&text, "ucast.i32.i64"), saved(&text)),
        (0, vec!["slot1"]),
        "not even where it leaves: {text}"
    );
}

#[test]
fn a_register_that_is_only_a_float_lives_as_one() {
    let text = built(&[&[SQUARE, 1, 0], &[SQUARE, 1, 1], &[SET, 2, 0], &[RETURN, 2]], 3, 3, &[]);
    assert_eq!((count(&text, "load.f64"), count(&text, "bitcast")), (1, 0), "{text}");
}

#[test]
fn operand_stack_slots_are_values_too() {
    let code: &[&[Raw]] = &[&[PUSH, 0, 0], &[PUSH, 0, 1], &[ADD_TOP], &[POP, 0, 0], &[RETURN, 0]];
    let text = built(code, 2, 4, &[0, 1, 2, 1, 0]);
    assert_eq!((count(&text, "= load."), count(&text, "store"), count(&text, "add.")), (2, 0, 1), "{text}");
}

#[test]
fn code_that_nothing_reaches_is_no_way_into_code_that_something_reaches() {
    // Bytecode 2 jumps into the loop, but is unreachable.
    let code: &[&[Raw]] =
        &[&[SET, 1, 1], &[GOTO, 3], &[GOTO, 3], &[ADD, 0, 0, 1], &[JUMP_LESS, 0, 1, 3], &[RETURN, 0]];
    let text = built(code, 2, 2, &[]);
    assert_eq!(count(&text, "= param."), 1, "{text}");
}

#[test]
fn a_function_needs_what_it_may_read_first() {
    let needed = |code: &[&[Raw]], depths: &[u32]| -> Vec<u32> {
        let code = Numbers::of(code);
        let source = source_of(&code, 4, 6, depths);
        let needed = needed_at_start(&mut StartScratch::default(), &source);
        let registers: Vec<u32> = (0..6).filter(|register| needed.contains(*register)).collect();
        assert_eq!(needed.end(6), registers.last().map_or(0, |last| last + 1));
        registers
    };
    assert_eq!(needed(&[&[SET, 0, 5], &[ADD, 1, 0, 2], &[RETURN, 1]], &[]), [2]);
    // Written before the loop, around which it is read; and written where the loop ends only.
    let counting: &[&[Raw]] =
        &[&[SET, 3, 1], &[ADD, 2, 0, 3], &[SET, 0, 1], &[JUMP_LESS, 2, 3, 1], &[RETURN, 2]];
    assert_eq!(needed(counting, &[]), [0]);
    let one_way: &[&[Raw]] = &[&[JUMP_LESS, 0, 0, 2], &[SET, 1, 5], &[RETURN, 1]];
    assert_eq!(needed(one_way, &[]), [0, 1]);
    // What control comes to by jumps back alone, once with a register written and once without.
    let aside: &[&[Raw]] =
        &[&[GOTO, 3], &[ADD, 1, 0, 0], &[RETURN, 1], &[JUMP_LESS, 2, 2, 1], &[SET, 0, 1], &[GOTO, 1]];
    assert_eq!(needed(aside, &[]), [0, 2]);
    let behind_return: &[&[Raw]] = &[&[SET, 0, 5], &[RETURN, 0], &[RETURN, 3]];
    assert_eq!(needed(behind_return, &[]), [0; 0]);
    let on_stack: &[&[Raw]] =
        &[&[PUSH, 0, 0], &[PUSH, 0, 1], &[ADD_TOP, 0, 0, 0], &[POP, 2, 0], &[RETURN, 2]];
    assert_eq!(needed(on_stack, &[0, 1, 2, 1, 0]), [0, 1]);
}

#[test]
fn a_long_chain_of_joins_needs_no_stack() {
    let mut code: Vec<Vec<Raw>> = vec![vec![SET, 1, 1]];
    // Miri is a thousand times slower.
    let joins = if cfg!(miri) { 10 } else { 50_000 };
    for at in 0..joins {
        code.push(vec![JUMP_LESS, 0, 1, at + 2]);
    }
    code.push(vec![RETURN, 1]);
    let code: Vec<&[Raw]> = code.iter().map(Vec::as_slice).collect();
    let thread = std::thread::Builder::new().stack_size(256 << 10);
    let text = thread.spawn({
        let code: Vec<Vec<Raw>> = code.iter().map(|bytecode| bytecode.to_vec()).collect();
        move || {
            let code: Vec<&[Raw]> = code.iter().map(Vec::as_slice).collect();
            built(&code, 2, 2, &[])
        }
    });
    let text = text.expect("a thread starts").join().expect("it ends well");
    assert_eq!(count(&text, "= param."), 0, "no register is changed");
}

const N_REGISTERS: u64 = 5;
const FRAME: u64 = 0x10_0000;

fn random_program(random: &mut Random) -> Vec<Vec<Raw>> {
    let mut below = |n: u64| random.below(n as usize) as u64;
    let n_code = 4 + below(20);
    let mut code: Vec<Vec<Raw>> = (1..n_code)
        .map(|_| {
            let [a, b, c] = [(); 3].map(|()| below(N_REGISTERS));
            let to = below(n_code);
            match below(12) {
                0 | 1 => vec![SET, a, below(8).wrapping_sub(4)],
                2..=4 => vec![ADD, a, b, c],
                5..=7 => vec![JUMP_LESS, a, b, to],
                8 => vec![GUARD, a],
                9 => vec![ADD_I32, a, b, c],
                10 => vec![SQUARE, a, b],
                _ => vec![GOTO, to],
            }
        })
        .collect();
    code.push(vec![RETURN, below(N_REGISTERS)]);
    code
}

/// Runs the program from a bytecode on, in plain Rust. Returns how it ends, and leaves the registers in `frame`. `None` if it
/// does not end in time.
fn interpret(code: &[Vec<Raw>], mut at: usize, frame: &mut [u64]) -> Option<Outcome> {
    for _ in 0..500 {
        let bytecode = &code[at];
        let r = |operand: usize| bytecode[operand] as usize;
        at += 1;
        match bytecode[0] {
            SET => frame[r(1)] = bytecode[2],
            ADD => frame[r(1)] = frame[r(2)].wrapping_add(frame[r(3)]),
            ADD_I32 => frame[r(1)] = (frame[r(2)] as u32).wrapping_add(frame[r(3)] as u32) as u64,
            SQUARE => frame[r(1)] = (f64::from_bits(frame[r(2)]) * f64::from_bits(frame[r(2)])).to_bits(),
            JUMP_LESS if (frame[r(1)] as i64) < frame[r(2)] as i64 => at = r(3),
            JUMP_LESS => {}
            GOTO => at = r(1),
            GUARD if frame[r(1)] == 0 => return Some(Outcome::Exited(at as u64 - 1)),
            GUARD => {}
            RETURN => return Some(Outcome::Returned(frame[r(1)])),
            other => unreachable!("opcode {other}"),
        }
    }
    None
}

/// Resumes the program with these registers after the guard at which it was left, and after each guard that fails later.
fn resume(code: &[Vec<Raw>], mut left_at: u64, mut frame: Vec<u64>) -> Vec<Option<Outcome>> {
    let mut outcomes = Vec::new();
    for _ in 0..20 {
        let outcome = interpret(code, left_at as usize + 1, &mut frame);
        outcomes.push(outcome);
        let Some(Outcome::Exited(at)) = outcome else { break };
        left_at = at;
    }
    outcomes
}

fn assert_behaves(
    graph: &Graph,
    code: &[Vec<Raw>],
    frame: &[u64],
    expected: Outcome,
    after: &[u64],
    what: &str,
) {
    let mut callee = |_: &_, _, _: &[u64], _: &mut Memory| unreachable!("there are no calls");
    let mut memory = Memory::default();
    for (at, &slot) in frame.iter().enumerate() {
        memory.write(FRAME + at as u64 * 8, 8, slot);
    }
    let mut machine = Environment { context: 0, unit: 0, frame: FRAME, memory, callee: &mut callee };
    let outcome = evaluate(graph, &mut machine, 100_000)
        .unwrap_or_else(|violation| panic!("{violation} in\n{what}\n{}", print::graph(graph)));
    assert_eq!(outcome, expected, "{what}\n{}", print::graph(graph));
    if let Outcome::Exited(at) = outcome {
        // A value that is not stored in its slot must not be read again.
        let registers: Vec<u64> =
            (0..after.len()).map(|at| machine.memory.read(FRAME + at as u64 * 8, 8)).collect();
        let found = resume(code, at, registers);
        assert_eq!(found, resume(code, at, after.to_vec()), "{what}\n{}", print::graph(graph));
    }
}

#[test]
fn random_programs_do_what_their_opcodes_say_before_and_after_each_pass() {
    let mut random = Random::new(0x853c_49e6_748f_ea9b);
    let (mut scratch, mut starts) = (BuildScratch::default(), StartScratch::default());
    let mut rewrite_scratch = rewrite::Scratch::default();
    let mut dead_scratch = dead::Scratch::default();
    let mut graph = Graph::new(Vocabulary::BUILTIN);
    let (mut returned, mut exited) = (0, 0);
    // Miri is a thousand times slower.
    let rounds = if cfg!(miri) { 3 } else { 6000 };
    for _ in 0..rounds {
        let code = random_program(&mut random);
        // A narrow value has zeros above it in its slot.
        let is_narrow = |register| code.iter().any(|at| at[0] == ADD_I32 && at[1..].contains(&register));
        let slot = |register| (random.below(12) as u64).wrapping_sub(if is_narrow(register) { 0 } else { 4 });
        let frame: Vec<u64> = (0..N_REGISTERS).map(slot).collect();
        let mut after = frame.clone();
        let Some(expected) = interpret(&code, 0, &mut after) else { continue };
        match expected {
            Outcome::Returned(_) => returned += 1,
            _ => exited += 1,
        }
        let numbers = Numbers(code.clone());
        let source = source_of(&numbers, N_REGISTERS as u32, N_REGISTERS as u32, &[]);
        let needed = needed_at_start(&mut starts, &source);
        let or_any = |(at, value)| if needed.contains(at) { value } else { random.number() };
        let mut needed_only: Vec<u64> = (0..).zip(frame.iter().copied()).map(or_any).collect();
        assert_eq!(interpret(&code, 0, &mut needed_only), Some(expected), "{code:?} on {frame:?}");
        build(&mut scratch, &source, &mut graph);
        let judge = |graph: &Graph, stage: &str| {
            let what = format!("after {stage}: {code:?} on {frame:?}");
            let violations = check::graph::graph(graph);
            assert!(violations.is_empty(), "{violations:?} {what}\n{}", print::graph(graph));
            assert_behaves(graph, &code, &frame, expected, &after, &what);
        };
        judge(&graph, "build");

        rewrite::rewrite(&mut rewrite_scratch, &mut graph, &[]);
        judge(&graph, "rewrite");
        dead::dead(&mut dead_scratch, &mut graph);
        judge(&graph, "dead");
    }
    assert!(returned >= rounds / 12 && exited >= rounds / 30, "{returned} returned, {exited} exited");
}
