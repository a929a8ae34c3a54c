//! Machine code of every operator on every type in every form of operand: it agrees with the reference.
//!
//! Operands are registers, memory in each addressing mode, and constants; with all features of the CPU and with none. A
//! flag is also branched on, selected by, and inverted.
#![cfg(target_arch = "x86_64")]

use azulejo::__private::core::ir::assignment::Assignment;
use azulejo::__private::core::ir::graph::Graph;
use azulejo::__private::core::ir::index::{Block, Node};
use azulejo::__private::core::ir::ranges::Ranges;
use azulejo::__private::core::ir::schedule::Schedule;
use azulejo::__private::core::ir::tiles::TileList;
use azulejo::__private::core::pass;
use azulejo::__private::core::text::print;
use azulejo::__private::core::vocab::op::{Key, Kind};
use azulejo::__private::core::vocab::{Op, OpInfo, Props, Sig, Type, Vocabulary};
use azulejo::x64::Code;
use azulejo::x64::emit::{self, Options};
use azulejo::x64::regs::REGISTERS;
use azulejo::x64::{Features, X64};
use azulejo_code::{CodeMemory, Installed};

mod values;

use values::{combinations, edges, same};

const WORD: Sig = Sig { from: Type::Void, ty: Type::I64 };

/// The value that compiled code returns.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Exit {
    status: u64,
    value: u64,
}

/// A compiler from graphs to executable code. It reuses its memory for each function.
struct Compiler {
    features: Features,
    place: pass::place::Scratch,
    tile: pass::tile::Scratch,
    live: pass::live::Scratch,
    allocate: pass::allocate::Scratch,
    emit: emit::Scratch,
    schedule: Schedule,
    tiles: TileList,
    ranges: Ranges,
    assignment: Assignment,
    code: Code,
    memory: CodeMemory,
    last: Option<Installed>,
    /// By tile: whether it was run.
    reached: Vec<bool>,
}

impl Compiler {
    fn new(features: Features) -> Compiler {
        Compiler {
            features,
            place: Default::default(),
            tile: Default::default(),
            live: Default::default(),
            allocate: Default::default(),
            emit: Default::default(),
            schedule: Default::default(),
            tiles: Default::default(),
            ranges: Default::default(),
            assignment: Default::default(),
            code: Default::default(),
            memory: CodeMemory::new(&azulejo::x64::MACHINE, 1 << 20).expect("this system runs code"),
            last: None,
            reached: vec![false; X64.tables.tiles.len()],
        }
    }

    fn compile(&mut self, graph: &Graph) {
        let graph = &mut graph.clone();
        pass::place::place(&mut self.place, graph, &mut self.schedule);
        let features = self.features.bits();
        pass::tile::tile(
            &mut self.tile,
            graph,
            &self.schedule,
            X64.tables,
            features,
            &REGISTERS,
            &mut self.tiles,
        );
        pass::live::live(&mut self.live, &self.tiles, REGISTERS.kept, &mut self.ranges);
        pass::allocate::allocate(
            &mut self.allocate,
            &self.tiles,
            &self.ranges,
            &REGISTERS,
            &mut self.assignment,
        )
        .unwrap_or_else(|why| panic!("{why:?}\n{}", print::graph(graph)));
        emit::emit(&mut self.emit, &self.tiles, &self.assignment, &X64, &Options::default(), &mut self.code)
            .expect("the frame is small");
        self.tiles.insts.iter().for_each(|inst| self.reached[inst.tile.0 as usize] = true);
        self.last = None;
        self.last = Some(self.memory.install(&self.code.finished()).expect("one function has room"));
    }

    fn run(&self, frame: &mut [u64]) -> Exit {
        let code = self.last.as_ref().expect("compiled before");
        type Entry = extern "sysv64" fn(*mut (), *mut u64, *const ()) -> Exit;
        // SAFETY: the code follows this convention and accesses only the frame.
        let entry = unsafe { core::mem::transmute::<*const u8, Entry>(code.address()) };
        entry(core::ptr::null_mut(), frame.as_mut_ptr(), core::ptr::null())
    }

    fn report(&self, graph: &Graph) -> String {
        format!("features {:?}\n{}\n{:02x?}", self.features, print::graph(graph), self.code.bytes)
    }
}

/// The form of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    /// A register, which is loaded before the barrier store.
    Reg,
    /// `[base]`, `[base + offset]`, `[base + index * 8]`, `[base + index * 8 + offset]`
    Mem(u8),
    /// The bits of an integer in one of the first two.
    Bits(u8),
    /// A constant.
    Const(u64),
}

/// The use of the result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sink {
    /// It is returned.
    Value,
    /// A flag is branched on.
    Branch,
    /// The opposite of a flag is branched on.
    BranchNot,
    /// A flag selects an integer.
    Select,
    /// A flag selects a float.
    SelectFloat,
    /// An integer is compared with zero.
    NotZero,
    /// An integer is compared with zero, for the opposite result.
    Zero,
    /// An integer of 32 bits is widened with zeros.
    Wide,
    /// A constant is added to an integer.
    Plus,
    /// A constant is added, and the sum is widened.
    WidePlus,
    /// It is stored to the memory operand's address, which may take only one instruction.
    Store,
}

/// The frame: operands in slots of 8 bytes each, then the barrier store's slot, then the index.
const OPERANDS: u64 = 4;
const BARRIER: u64 = 8;
const INDEX: u64 = 9;
const SLOTS: usize = 12;
/// The constant that [`Sink::Plus`] adds.
const ADDEND: u64 = 1000;

struct Maker {
    graph: Graph,
    block: Block,
    frame: Node,
    index: Option<Node>,
    /// The address of the memory operand.
    operand: Option<Node>,
}

impl Maker {
    fn new() -> Maker {
        let mut graph = Graph::new(Vocabulary::BUILTIN);
        let block = graph.add_block();
        let frame = graph.add(Op::LOCAL, WORD, &[], 0, 0);
        Maker { graph, block, frame, index: None, operand: None }
    }

    fn addr(&mut self, base: Node, offset: u64) -> Node {
        self.graph.add(Op::ADDR, WORD, &[base], offset, 0)
    }

    fn load(&mut self, ty: Type, address: Node) -> Node {
        self.graph.push(self.block, Op::LOAD, Sig { from: Type::Void, ty }, &[address], 0, 0)
    }

    /// The address of a slot in one of the four modes.
    fn place(&mut self, slot: u64, mode: u8) -> Node {
        let frame = self.frame;
        match mode {
            // The base is one register, with an address that is one byte into the frame.
            0 => self.graph.add(Op::ADD, WORD, &[frame, self.index.expect("loaded first")], 0, 0),
            1 => self.addr(frame, slot * 8),
            // The index register holds the number 1.
            2 => self.graph.add(Op::IDX, WORD, &[frame, self.index.expect("loaded first")], 8, 0),
            _ => {
                let element =
                    self.graph.add(Op::IDX, WORD, &[frame, self.index.expect("loaded first")], 8, 0);
                self.addr(element, (slot - 1) * 8)
            }
        }
    }
}

/// A graph that applies the operator, and the slots of its operands, which `check` fills.
fn function(
    op: Op,
    info: &OpInfo,
    sig: Sig,
    forms: &[Form],
    imm: u64,
    sink: Sink,
) -> (Graph, Vec<(u64, usize)>) {
    let mut maker = Maker::new();
    let types: Vec<Type> = operand_types(info, sig);
    // First the registers are loaded, and the index; then a store keeps later loads behind it.
    let mut slots = Vec::new();
    let needs_index = forms.iter().any(|form| matches!(form, Form::Mem(0 | 2 | 3) | Form::Bits(0)));
    if needs_index {
        let address = maker.addr(maker.frame, INDEX * 8);
        maker.index = Some(maker.load(Type::I64, address));
    }
    let mut inputs = vec![Node::NONE; forms.len()];
    for (at, form) in forms.iter().enumerate() {
        if *form == Form::Reg {
            let slot = OPERANDS + at as u64;
            let address = maker.addr(maker.frame, slot * 8);
            let ty = if types[at] == Type::Flag { Type::I64 } else { types[at] };
            inputs[at] = maker.load(ty, address);
            slots.push((slot, at));
        }
    }
    let barrier = maker.addr(maker.frame, BARRIER * 8);
    let zero = maker.graph.constant(Type::I64, 0, 0);
    let store = Sig { from: Type::I64, ty: Type::Void };
    maker.graph.push(maker.block, Op::STORE, store, &[barrier, zero], 0, 0);
    for (at, form) in forms.iter().enumerate() {
        match *form {
            Form::Reg if types[at] == Type::Flag => {
                let sig = Sig { from: Type::I64, ty: Type::Flag };
                inputs[at] = maker.graph.add(Op::NZ, sig, &[inputs[at]], 0, 0);
            }
            Form::Reg => {}
            Form::Const(bits) => inputs[at] = maker.graph.constant(types[at], bits, 0),
            Form::Mem(mode) | Form::Bits(mode) => {
                // Mode 2 has no offset, and the index is 1, so the operand is in slot 1. Mode 0 adds 1 to the frame's
                // address.
                let slot = if mode == 2 { 1 } else { OPERANDS + at as u64 };
                let address = maker.place(slot, mode);
                inputs[at] = match *form {
                    Form::Bits(_) => {
                        let from = if types[at] == Type::F32 { Type::I32 } else { Type::I64 };
                        let bits = maker.load(from, address);
                        maker.graph.add(Op::BITCAST, Sig { from, ty: types[at] }, &[bits], 0, 0)
                    }
                    _ => {
                        maker.operand = Some(address);
                        maker.load(types[at], address)
                    }
                };
                slots.push((if mode == 0 { u64::MAX } else { slot }, at));
            }
        }
    }
    let result = match info.is_guarded(sig) {
        true => maker.graph.push(maker.block, op, sig, &inputs, imm, 0),
        false => maker.graph.add(op, sig, &inputs, imm, 0),
    };
    finish(&mut maker, result, sink);
    (maker.graph, slots)
}

fn finish(maker: &mut Maker, result: Node, sink: Sink) {
    let Maker { graph, block, operand, .. } = maker;
    let block = *block;
    let give = |graph: &mut Graph, block: Block, value: Node| {
        let from = graph.node(value).ty();
        graph.end(block, Op::RETURN, from, &[value], 0, &[], 0);
    };
    let ty = graph.node(result).ty();
    match sink {
        Sink::Value if ty == Type::Flag => {
            let value = graph.add(Op::FLAGVAL, WORD, &[result], 0, 0);
            give(graph, block, value);
        }
        Sink::Value => give(graph, block, result),
        Sink::Wide | Sink::Plus | Sink::WidePlus => {
            let mut value = result;
            if sink != Sink::Wide {
                let addend = graph.constant(ty, ADDEND, 0);
                value = graph.add(Op::ADD, Sig { from: Type::Void, ty }, &[value, addend], 0, 0);
            }
            if sink != Sink::Plus {
                value = graph.add(Op::UCAST, Sig { from: ty, ty: Type::I64 }, &[value], 0, 0);
            }
            give(graph, block, value);
        }
        Sink::NotZero | Sink::Zero => {
            let op = if sink == Sink::Zero { Op::ZR } else { Op::NZ };
            let flag = graph.add(op, Sig { from: ty, ty: Type::Flag }, &[result], 0, 0);
            let value = graph.add(Op::FLAGVAL, WORD, &[flag], 0, 0);
            give(graph, block, value);
        }
        Sink::Branch | Sink::BranchNot => {
            let (so, not) = (graph.add_block(), graph.add_block());
            let (one, zero) = (graph.constant(Type::I64, 1, 0), graph.constant(Type::I64, 0, 0));
            let notf = Sig { from: Type::Void, ty: Type::Flag };
            let (flag, so, not) = match sink {
                Sink::Branch => (result, so, not),
                _ => (graph.add(Op::NOTF, notf, &[result], 0, 0), not, so),
            };
            graph.end(block, Op::BR, Type::Void, &[flag], 0, &[so, not], 0);
            let (so, not) = if sink == Sink::Branch { (so, not) } else { (not, so) };
            give(graph, so, one);
            give(graph, not, zero);
        }
        Sink::Select | Sink::SelectFloat => {
            let is_float = sink == Sink::SelectFloat;
            let (ty, one) = if is_float { (Type::F64, 1f64.to_bits()) } else { (Type::I64, 1) };
            let (a, b) = (graph.constant(ty, one, 0), graph.constant(ty, 0, 0));
            let value = graph.add(Op::SELECT, Sig { from: Type::Void, ty }, &[result, a, b], 0, 0);
            give(graph, block, value);
        }
        Sink::Store => {
            let address = operand.expect("an operand is in memory");
            let sig = Sig { from: ty, ty: Type::Void };
            graph.push(block, Op::STORE, sig, &[address, result], 0, 0);
            graph.end(block, Op::RET, Type::Void, &[], 0, &[], 0);
        }
    }
}

fn operand_types(info: &OpInfo, sig: Sig) -> Vec<Type> {
    let of = |kind: &Kind| match kind {
        Kind::Ptr | Kind::Word => Type::I64,
        Kind::Flag => Type::Flag,
        _ => match info.key {
            Key::Result => sig.ty,
            _ => sig.from,
        },
    };
    info.operands.iter().map(of).collect()
}

struct Case<'a> {
    op: Op,
    info: &'a OpInfo,
    sig: Sig,
    imm: Option<u64>,
}

impl Case<'_> {
    fn expected(&self, values: &[u64]) -> Option<u64> {
        let operands: Vec<u64> = values.iter().copied().chain(self.imm).collect();
        // A trap has no expected value: the check before the operator is not part of this graph.
        Vocabulary::BUILTIN.evaluate(self.op, self.sig, &operands)?.ok()
    }

    /// Checks a form with each use that is possible for the result.
    fn check_all(&self, compiler: &mut Compiler, forms: &[Form]) -> usize {
        let narrow: &[Sink] = match self.sig.ty {
            Type::I32 if self.op == Op::MUL => &[Sink::Wide, Sink::Plus, Sink::WidePlus],
            Type::I32 => &[Sink::Wide],
            _ => &[],
        };
        let has_mem = forms.iter().any(|form| matches!(form, Form::Mem(_)));
        let sinks: &[Sink] = match self.sig.ty {
            Type::Flag => &[Sink::Value, Sink::Branch, Sink::BranchNot, Sink::Select, Sink::SelectFloat],
            _ if has_mem && self.op == Op::AND => &[Sink::Value, Sink::Store, Sink::NotZero, Sink::Zero],
            _ if self.op == Op::AND => &[Sink::Value, Sink::NotZero, Sink::Zero],
            _ if has_mem => &[Sink::Value, Sink::Store],
            _ => &[Sink::Value],
        };
        sinks.iter().chain(narrow).map(|sink| self.check(compiler, forms, *sink)).sum()
    }

    /// Compiles one form and runs it on all combinations of values for its variable operands.
    fn check(&self, compiler: &mut Compiler, forms: &[Form], sink: Sink) -> usize {
        let types = operand_types(self.info, self.sig);
        let (graph, slots) = function(self.op, self.info, self.sig, forms, self.imm.unwrap_or(0), sink);
        compiler.compile(&graph);
        let mut n_run = 0;
        for values in combinations(&types) {
            let fits = |(form, value): (&Form, &u64)| !matches!(form, Form::Const(bits) if bits != value);
            if !forms.iter().zip(&values).all(fits) {
                continue;
            }
            let Some(expected) = self.expected(&values) else { continue };
            let expected = match sink {
                Sink::NotZero => (expected != 0) as u64,
                Sink::Zero => (expected == 0) as u64,
                Sink::Plus | Sink::WidePlus => self.sig.ty.truncate(expected.wrapping_add(ADDEND)),
                _ => expected,
            };
            let mut frame = [0xa5a5_a5a5_a5a5_a5a5; SLOTS];
            frame[INDEX as usize] = 1;
            for &(slot, at) in &slots {
                // The bits above a narrow value must not matter.
                let junk =
                    if types[at] == Type::Flag { 0 } else { 0xdead_beef_f00d_cafe & !types[at].mask() };
                let bits = values[at] | junk;
                match slot {
                    // The operand starts one byte into the frame.
                    u64::MAX => {
                        let bytes = bits.to_le_bytes();
                        frame[0] = u64::from_le_bytes([
                            0, bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6],
                        ]);
                        frame[1] = bytes[7] as u64;
                    }
                    slot => frame[slot as usize] = bits,
                }
            }
            let exit = compiler.run(&mut frame);
            let found = match sink {
                Sink::Store => {
                    let stored = |form: &Form| matches!(form, Form::Mem(_));
                    let at = forms.iter().position(stored).expect("an operand is in memory");
                    let (slot, _) = *slots.iter().find(|slot| slot.1 == at).expect("it has a slot");
                    self.sig.ty.truncate(match slot {
                        u64::MAX => frame[0] >> 8 | frame[1] << 56,
                        slot => frame[slot as usize],
                    })
                }
                Sink::SelectFloat => (exit.value == 1f64.to_bits()) as u64,
                _ => exit.value,
            };
            assert!(
                exit.status == 0 && same(self.info, self.sig.ty, found, expected),
                "{:?} {:?} {forms:x?} {sink:?} of {values:x?}: {exit:x?}, found {found:x}, expected {expected:x}\n{}",
                self.op,
                self.sig,
                compiler.report(&graph),
            );
            n_run += 1;
        }
        n_run
    }
}

/// The forms of operands: all in registers, and each of them in memory in each addressing mode.
fn forms(types: &[Type]) -> Vec<Vec<Form>> {
    let mut all = vec![vec![Form::Reg; types.len()]];
    for (at, ty) in types.iter().enumerate() {
        let bits = if ty.is_float() { 0..2 } else { 0..0 };
        for one in (0..4).map(Form::Mem).chain(bits.map(Form::Bits)) {
            let mut form = vec![Form::Reg; types.len()];
            form[at] = one;
            all.push(form);
        }
    }
    all
}

#[test]
fn every_operator_in_every_form_does_what_the_reference_says() {
    let mut n_run = 0;
    let mut reached = vec![false; X64.tables.tiles.len()];
    for features in [Features::detect(), Features::empty()] {
        let mut compiler = Compiler::new(features);
        for (op, info) in Vocabulary::BUILTIN.iter() {
            if !info.props.contains(Props::GRAPH) || info.reference.is_none() || op == Op::CONST {
                continue;
            }
            for sig in info.sigs() {
                let imm = (!info.params.is_empty() && matches!(op, Op::ADDR | Op::IDX)).then_some(8);
                let case = Case { op, info, sig, imm };
                let types = operand_types(info, sig);
                for form in forms(&types) {
                    let is_flag = |(form, ty): (&Form, &Type)| *ty == Type::Flag && *form != Form::Reg;
                    if form.iter().zip(&types).any(is_flag) {
                        continue;
                    }
                    n_run += case.check_all(&mut compiler, &form);
                }
                for (at, ty) in types.iter().enumerate().filter(|(_, ty)| **ty != Type::Flag) {
                    for bits in edges(*ty) {
                        let mut form = vec![Form::Reg; types.len()];
                        form[at] = Form::Const(bits);
                        n_run += match op {
                            _ if op == Op::AND || sig.ty == Type::I32 => case.check_all(&mut compiler, &form),
                            _ => case.check(&mut compiler, &form, Sink::Value),
                        };
                        for mode in (0..4).filter(|_| types.len() == 2) {
                            form[1 - at] = Form::Mem(mode);
                            n_run += match sig.ty {
                                Type::Flag => case.check(&mut compiler, &form, Sink::Branch),
                                _ if op == Op::AND => case.check_all(&mut compiler, &form),
                                _ => case.check(&mut compiler, &form, Sink::Store),
                            };
                        }
                    }
                }
            }
        }
        reached.iter_mut().zip(&compiler.reached).for_each(|(known, reached)| *known |= reached);
    }
    let never = X64.tables.tiles.iter().zip(&reached).filter(|(_, reached)| !**reached);
    // Calls, atomics, polls, fuel and pinned constants have tests of their own; random graphs, stencils and interpreted opcodes
    // reach the operators that do not work on values.
    let elsewhere = [
        "call",
        "invoke",
        "try_",
        "argument",
        "frame",
        "give",
        "fail",
        "hand_over",
        "tail",
        "store_",
        "atomic_",
        "poll",
        "spend",
        "tc",
        "cu",
        "stack",
        "jump",
        "switch",
        "exit_at",
        "exit_with",
        "trap",
        "addr_idx",
        "add_shifted",
        "scast_low",
        "kept_",
        "hole",
        "cached",
        "continue",
        "field",
        "record",
        "pinned",
        "dispatch",
        "leave_at",
    ];
    let is_elsewhere = |name: &str| elsewhere.iter().any(|prefix| name.starts_with(prefix));
    let never: Vec<&str> = never.map(|(tile, _)| tile.name).filter(|name| !is_elsewhere(name)).collect();
    assert_eq!(never, Vec::<&str>::new());
    assert!(n_run > 100_000, "{n_run} runs");
}
