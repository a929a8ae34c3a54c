//! Reads graphs and tile lists that [`super::print`] or the author of a test wrote.
//!
//! In: text. Out: the graph or tile list, or the first wrong line and the reason. Numbers are kept: a number that the text
//! skips becomes a dead node or an unreachable block. The edges into a block may be left out; they are then in the order of
//! the blocks. Argument types of calls are leaked, so this is for tests and tools only.

use crate::ir::graph::{Access, BlockData, Graph, Heat, NodeData, Pred};
use crate::ir::index::{Block, InstId, List, Loop, Node, Vreg};
use crate::ir::regions::MemoryRegion;
use crate::ir::schedule::LoopData;
use crate::ir::state::{FrameState, Saved, SavedValue, StateRegister, TileState};
use crate::ir::tiles::{Constraint, Edge, FaultSite, Inst, Operand, Role, TileBlock, TileId, TileList};
use crate::target::{Reg, RegSet};
use crate::vocab::op::{Key, Yields};
use crate::vocab::{Op, Props, Sig, Type, Vocabulary};
use core::fmt;

/// The reason why a text is no graph or tile list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    /// The line, counted from 1.
    pub line: usize,
    /// The description of the fault.
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl core::error::Error for ParseError {}

pub(super) type Parsed<T> = Result<T, String>;

/// Reads a graph.
pub fn graph(vocab: Vocabulary, text: &str) -> Result<Graph, ParseError> {
    let mut parser = GraphParser { graph: Graph::new(vocab), block: Block::NONE, has_preds: Vec::new() };
    // Nodes without a value have no number in the text. They get numbers above the greatest one there.
    let numbers = lines(text).filter_map(|(_, line)| node(line.split_once('=')?.0.trim()).ok());
    if let Some(last) = numbers.max() {
        parser.graph.nodes.resize(last.at() + 1, DEAD);
    }
    for (at, line) in lines(text) {
        parser.line(line).map_err(|message| ParseError { line: at, message })?;
    }
    parser.finish().map_err(|message| ParseError { line: text.lines().count(), message })
}

/// The meaning of names in a tile list.
#[derive(Clone, Copy)]
pub struct KnownNames<'a> {
    /// The tile with a name.
    pub tile: &'a dyn Fn(&str) -> Option<TileId>,
    /// The register with a name.
    pub reg: &'a dyn Fn(&str) -> Option<Reg>,
}

impl KnownNames<'_> {
    /// Numbers instead of names.
    pub const NUMBERS: KnownNames<'static> = KnownNames {
        tile: &|name| name.strip_prefix('t')?.parse().ok().map(TileId),
        reg: &|name| match name.split_at_checked(1)? {
            ("x", number) => number.parse().ok().map(Reg::int),
            ("f", number) => number.parse().ok().map(Reg::float),
            _ => None,
        },
    };
}

impl fmt::Debug for KnownNames<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KnownNames")
    }
}

/// Reads a tile list.
pub fn tiles(text: &str, names: KnownNames<'_>) -> Result<TileList, ParseError> {
    let mut parser = TileParser { list: TileList::default(), names };
    for (at, line) in lines(text) {
        parser.line(line).map_err(|message| ParseError { line: at, message })?;
    }
    parser.find_depths();
    Ok(parser.list)
}

/// The lines that are not empty, without comments.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line.split('#').next().unwrap_or("")));
    lines.filter(|(_, line)| !line.trim().is_empty())
}

/// The greatest number in a name. Names are positions, so a greater number would only waste memory.
const MAX_NUMBER: u32 = 1 << 20;

fn number(word: &str, prefix: &str, what: &str) -> Parsed<u32> {
    let digits = word.strip_prefix(prefix).and_then(|digits| digits.parse().ok());
    match digits.ok_or_else(|| format!("expected {what}, found `{word}`"))? {
        number if number > MAX_NUMBER => Err(format!("`{word}` is a greater number than {MAX_NUMBER}")),
        number => Ok(number),
    }
}

fn node(word: &str) -> Parsed<Node> {
    number(word, "v", "a node").map(Node)
}

fn block(word: &str) -> Parsed<Block> {
    number(word, "b", "a block").map(Block)
}

fn vreg(word: &str) -> Parsed<Vreg> {
    number(word, "r", "a virtual register").map(Vreg)
}

fn ty(word: &str) -> Parsed<Type> {
    Type::from_name(word).ok_or_else(|| format!("expected a type, found `{word}`"))
}

/// The bits of a constant as `print` writes them.
pub(super) fn constant(ty: Type, word: &str) -> Parsed<u64> {
    let wrong = || format!("expected a constant of type {ty}, found `{word}`");
    if let Some(digits) = word.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).map(|bits| ty.truncate(bits)).map_err(|_| wrong());
    }
    match ty {
        Type::F32 => word.parse().map(|value: f32| value.to_bits() as u64).map_err(|_| wrong()),
        Type::F64 => word.parse().map(|value: f64| value.to_bits()).map_err(|_| wrong()),
        _ => word.parse().map(|value: i128| ty.truncate(value as u64)).map_err(|_| wrong()),
    }
}

struct GraphParser {
    graph: Graph,
    /// The block that is open.
    block: Block,
    has_preds: Vec<Block>,
}

/// An operator with its types, and the parts of a node that are in its line.
#[derive(Default)]
struct Parts {
    inputs: Vec<Node>,
    succs: Vec<Block>,
    registers: Vec<StateRegister>,
    imm: Option<u64>,
    origin: u32,
}

impl GraphParser {
    fn line(&mut self, line: &str) -> Parsed<()> {
        let line = line.trim();
        if let Some(head) = line.strip_suffix(':') {
            return self.head(head);
        }
        if !self.block.is_some() {
            return Err("a node stands before the first block".into());
        }
        let (result, rest) = match line.split_once('=') {
            Some((result, rest)) => (Some(node(result.trim())?), rest),
            None => (None, line),
        };
        let rest = rest.replace(['(', ')'], " ");
        let mut words = rest.split_whitespace().peekable();
        let head = words.next().ok_or("an operator is missing")?;
        let (op, sig) = self.operator(head)?;
        let mut parts = Parts::default();
        if self.graph.vocab.info(op).is_call() {
            self.graph.calls.push(super::call::read(&mut words, sig.ty)?);
            parts.imm = Some(self.graph.calls.len() as u64 - 1);
        }
        for word in words {
            self.part(&mut parts, op, sig, word)?;
        }
        self.add(result, op, sig, parts)
    }

    fn head(&mut self, head: &str) -> Parsed<()> {
        let (name, ways) = match head.split_once("<-") {
            Some((name, ways)) => (name, Some(ways)),
            None => (head, None),
        };
        let mut words = name.split_whitespace();
        let number = block(words.next().unwrap_or(""))?;
        self.reserve_block(number);
        match words.next() {
            Some("cold") => self.graph.blocks[number.at()].heat = Heat::Cold,
            Some(word) => return Err(format!("expected `cold` or `<-`, found `{word}`")),
            None => {}
        }
        if self.graph.block(number).end.is_some() {
            return Err(format!("{number} stands here a second time"));
        }
        for way in ways.unwrap_or("").split_whitespace() {
            let (from, succ) = way.split_once('.').unwrap_or((way, "0"));
            let pred = Pred { block: block(from)?, succ: self::number(succ, "", "a successor's number")? };
            self.graph.blocks[number.at()].preds.push(pred);
        }
        if ways.is_some() {
            self.has_preds.push(number);
        }
        self.block = number;
        Ok(())
    }

    fn reserve_block(&mut self, block: Block) {
        if self.graph.blocks.len() <= block.at() {
            self.graph.blocks.resize(block.at() + 1, BlockData::default());
        }
    }

    fn operator(&self, head: &str) -> Parsed<(Op, Sig)> {
        let mut words = head.split('.');
        let name = words.next().unwrap_or("");
        let op = self.graph.vocab.find(name).ok_or_else(|| format!("there is no operator `{name}`"))?;
        let info = self.graph.vocab.info(op);
        let fixed = match info.yields {
            Yields::Flag => Type::Flag,
            Yields::Ptr => Type::I64,
            _ => Type::Void,
        };
        let types: Vec<Type> = words.map(ty).collect::<Parsed<_>>()?;
        match (info.key, &types[..]) {
            (_, &[from, ty]) => Ok((op, Sig { from, ty })),
            (Key::None, []) => Ok((op, Sig { from: Type::Void, ty: fixed })),
            (Key::Result, &[ty]) => Ok((op, Sig { from: Type::Void, ty })),
            (Key::Operand, &[from]) => Ok((op, Sig { from, ty: fixed })),
            _ => Err(format!("`{name}` needs other types than `{head}` gives it")),
        }
    }

    fn part(&self, parts: &mut Parts, op: Op, sig: Sig, word: &str) -> Parsed<()> {
        if let Some(origin) = word.strip_prefix('@') {
            parts.origin = number(origin, "", "a bytecode's number")?;
        } else if is_inlined(word) { // The new graph has no inlined functions.
        } else if self.graph.vocab.info(op).props.contains(Props::ACCESS) && word == "pure" {
            parts.imm = Some(Access::Pure.bits());
        } else if let Some(code) = word.strip_prefix("within:") {
            parts.imm = Some(Access::Within(number(code, "", "a trap's code")?).bits());
        } else if let Some(region) = word.strip_prefix("in:") {
            let region = number(region, "", "a region's number")?;
            let known = MemoryRegion::find(region).ok_or_else(|| format!("there is no region {region}"))?;
            parts.imm = Some(parts.imm.unwrap_or(0) | known.bits());
        } else if word.starts_with('v') {
            parts.inputs.push(node(word)?);
        } else if word.starts_with("slot") && self.graph.has_state(op) {
            parts.registers.push(state_register(word)?);
        } else if word.starts_with('b') {
            parts.succs.push(block(word)?);
        } else if parts.imm.is_none() && super::print::has_constant(self.graph.vocab.info(op)) {
            let ty = if op == Op::CONST { sig.ty } else { Type::I64 };
            parts.imm = Some(constant(ty, word)?);
        } else {
            return Err(format!("did not expect `{word}`"));
        }
        Ok(())
    }

    fn add(&mut self, result: Option<Node>, op: Op, sig: Sig, parts: Parts) -> Parsed<()> {
        let info = self.graph.vocab.info(op);
        if result.is_some() == (sig.ty == Type::Void) {
            return Err(format!(
                "`{}` of this type {} a value",
                info.name,
                match result {
                    Some(_) => "has not",
                    None => "has",
                }
            ));
        }
        let at = result.unwrap_or_else(|| {
            self.graph.nodes.push(DEAD);
            Node::from(self.graph.nodes.len() - 1)
        });
        let is_fresh = self.graph.node(at).sig.ty == Type::Void && self.graph.node(at).op == Op::JUMP;
        if !is_fresh {
            return Err(format!("{at} is defined a second time"));
        }
        let inputs = List::push(&mut self.graph.links, &parts.inputs);
        let mut imm = parts.imm.unwrap_or(0);
        if self.graph.has_state(op) {
            let registers = List::push(&mut self.graph.states.registers, &parts.registers);
            self.graph.states.all.push(FrameState { to: imm, registers, frame: 0 });
            imm = self.graph.states.all.len() as u64 - 1;
        }
        self.graph.nodes[at.at()] =
            NodeData { op, sig, inputs, imm, block: Block::NONE, origin: parts.origin };
        if self.graph.floats(at) {
            return Ok(());
        }
        self.graph.nodes[at.at()].block = self.block;
        let block = &mut self.graph.blocks[self.block.at()];
        if block.end.is_some() {
            return Err("the block has ended".into());
        }
        if op == Op::PARAM {
            block.params.push(at);
        } else if info.props.contains(Props::ENDS) {
            block.end = at;
            block.succs = parts.succs;
        } else {
            block.body.push(at);
        }
        Ok(())
    }
}

/// The node for a number that the text skips.
const DEAD: NodeData = NodeData {
    op: Op::JUMP,
    sig: Sig { from: Type::Void, ty: Type::Void },
    inputs: List::EMPTY,
    imm: 0,
    block: Block::NONE,
    origin: 0,
};

impl GraphParser {
    fn finish(mut self) -> Parsed<Graph> {
        let mut ways = Vec::new();
        for at in 0..self.graph.blocks.len() {
            let source = Block::from(at);
            for (succ, &to) in self.graph.block(source).succs.iter().enumerate() {
                if !self.graph.blocks.get(to.at()).is_some_and(|block| block.end.is_some()) {
                    return Err(format!("{source} goes to {to}, which is nowhere"));
                }
                ways.push((to, Pred { block: source, succ: succ as u32 }));
            }
        }
        for (to, way) in ways {
            if !self.has_preds.contains(&to) {
                self.graph.blocks[to.at()].preds.push(way);
            }
        }
        if let Some(link) = self.graph.links.iter().find(|link| link.at() >= self.graph.nodes.len()) {
            return Err(format!("{link} is used and nowhere defined"));
        }
        Ok(self.graph)
    }
}

struct TileParser<'a> {
    list: TileList,
    names: KnownNames<'a>,
}

impl TileParser<'_> {
    fn line(&mut self, line: &str) -> Parsed<()> {
        let trimmed = line.trim();
        if let Some(head) = trimmed.strip_suffix(':') {
            return self.head(head);
        }
        let mut words = trimmed.split_whitespace();
        let mut first = words.next().unwrap_or("");
        if let Some(number) = first.strip_suffix(':') {
            // Instructions may be numbered, in order from zero.
            if number != self.list.insts.len().to_string() {
                return Err(format!("expected `{}:`, found `{first}`", self.list.insts.len()));
            }
            first = words.next().unwrap_or("");
        }
        if first == "out_args" {
            self.list.out_args = number(words.next().unwrap_or(""), "", "a size")? as u16;
            self.list.has_calls = words.next() == Some("calls");
            return Ok(());
        }
        if first.starts_with('l') && !line.starts_with(' ') {
            return self.a_loop(trimmed);
        }
        if !line.starts_with(' ') {
            if vreg(first)? != Vreg::from(self.list.vregs.len()) {
                return Err(format!("expected r{}", self.list.vregs.len()));
            }
            let ty = ty(words.next().unwrap_or(""))?;
            match words.next() {
                Some(word) => self.list.add_constant(ty, constant(ty, word)?),
                None => self.list.add_vreg(ty),
            };
            return Ok(());
        }
        let Some(open) = self.list.blocks.last_mut() else { return Err("no block is open".into()) };
        if first == "->" {
            let to = block(words.next().unwrap_or(""))?;
            let args = vregs(&mut self.list.args, words)?;
            self.list.edges.push(Edge { to, args });
            open.edges.len += 1;
            return Ok(());
        }
        open.insts.len += 1;
        self.inst(first, words)
    }

    /// A loop and the loop around it. Inner loops come before outer ones.
    fn a_loop(&mut self, line: &str) -> Parsed<()> {
        let (this, around) = line.split_once(" in ").unwrap_or((line, "-"));
        let this = Loop(number(this, "l", "a loop")?);
        if this.at() != self.list.loops.len() {
            return Err(format!("expected l{}", self.list.loops.len()));
        }
        let around = if around == "-" { Loop::NONE } else { Loop(number(around, "l", "a loop")?) };
        if around.0 <= this.0 {
            return Err(format!("{around} around {this} must stand behind it"));
        }
        self.list.loops.push(LoopData { around, depth: 1 });
        Ok(())
    }

    fn find_depths(&mut self) {
        for at in (0..self.list.loops.len()).rev() {
            let around = self.list.loops[at].around;
            self.list.loops[at].depth = self.list.depth(around) + 1;
        }
    }

    fn head(&mut self, head: &str) -> Parsed<()> {
        let (head, params) = head.split_once('(').unwrap_or((head, ""));
        let mut words = head.split_whitespace();
        let number = block(words.next().unwrap_or(""))?;
        let mut next = words.next();
        let mut inner = Loop::NONE;
        if next == Some("in") {
            inner = Loop(self::number(words.next().unwrap_or(""), "l", "a loop")?);
            if inner.at() >= self.list.loops.len() {
                return Err(format!("there is no loop {inner}"));
            }
            next = words.next();
        }
        let (cold, framed) = (next == Some("cold"), next != Some("unframed"));
        let params = vregs(&mut self.list.args, params.split_whitespace())?;
        if self.list.position.len() <= number.at() {
            self.list.position.resize(number.at() + 1, u32::MAX);
        }
        self.list.position[number.at()] = self.list.blocks.len() as u32;
        let start = |len: usize| List { start: len as u32, len: 0 };
        let (insts, edges) = (start(self.list.insts.len()), start(self.list.edges.len()));
        let (block, uses_frame) = (number, framed);
        self.list.blocks.push(TileBlock { block, insts, params, edges, inner, cold, uses_frame, framed });
        Ok(())
    }

    fn inst<'a>(&mut self, head: &str, words: impl Iterator<Item = &'a str>) -> Parsed<()> {
        let mut types = head.rsplitn(3, '.');
        let (to, from) = (ty(types.next().unwrap_or(""))?, ty(types.next().unwrap_or(""))?);
        let name = types.next().unwrap_or("");
        let tile = (self.names.tile)(name).ok_or_else(|| format!("there is no tile `{name}`"))?;
        let (mut operands, mut imms) = (Vec::new(), Vec::new());
        let (mut clobbers, mut in_clobbers, mut after) = (RegSet::EMPTY, false, Node::NONE);
        let mut origin = 0;
        let (mut state, mut saved) = (None, Vec::new());
        for word in words {
            if word == ";" {
                in_clobbers = false;
            } else if word == "clobbers" {
                in_clobbers = true;
            } else if in_clobbers {
                clobbers.insert(self.register(word)?);
            } else if let Some(to) = word.strip_prefix("to:") {
                state = Some(number_of_64_bits(to)?);
            } else if state.is_some() && word.starts_with("slot") {
                saved.push(a_saved_register(word)?);
            } else if let Some(fault) = word.strip_prefix("faults:") {
                let inst = InstId::from(self.list.insts.len());
                self.list.faults.push(a_fault(inst, fault)?);
            } else if let Some(bytecode) = word.strip_prefix('@') {
                origin = number(bytecode, "", "a bytecode's number")?;
            } else if is_inlined(word) {
                // As in graphs.
            } else if word.starts_with('v') {
                after = node(word)?;
            } else if let Ok(imm) = word.parse() {
                imms.push(imm);
            } else {
                operands.push(self.operand(word)?);
            }
        }
        if let Some(to) = state {
            let number = imms.last().and_then(|last| usize::try_from(*last).ok());
            let number =
                number.filter(|number| *number <= MAX_NUMBER as usize).ok_or("a state has no number")?;
            let saved = List::push(&mut self.list.saved, &saved);
            let n_states = self.list.states.len().max(number + 1);
            self.list.states.resize(n_states, TileState { to: 0, saved: List::EMPTY, frame: 0 });
            self.list.states[number] = TileState { to, saved, frame: 0 };
        }
        let operands = List::push(&mut self.list.operands, &operands);
        let imms = List::push(&mut self.list.imms, &imms);
        let sig = Sig { from, ty: to };
        self.list.insts.push(Inst { tile, sig, operands, imms, clobbers, node: after, origin });
        Ok(())
    }

    fn register(&self, word: &str) -> Parsed<Reg> {
        (self.names.reg)(word).ok_or_else(|| format!("there is no register `{word}`"))
    }

    fn operand(&self, word: &str) -> Parsed<Operand> {
        let (role, place) = word.split_once(':').unwrap_or(("", word));
        let role = match role {
            "" => Role::Use,
            "late" => Role::LateUse,
            "def" => Role::Def,
            "early" => Role::EarlyDef,
            "temp" => Role::Temp,
            _ => return Err(format!("expected an operand, found `{word}`")),
        };
        let end = place.find(['?', '~', '%', '/', '[']).unwrap_or(place.len());
        let (name, constraint) = place.split_at(end);
        let constraint = match constraint.split_at_checked(1) {
            None => Constraint::Reg,
            Some(("?", _)) => Constraint::Any,
            Some(("~", _)) => Constraint::Anywhere,
            Some(("%", reg)) => Constraint::Fixed(self.register(reg)?),
            Some(("/", index)) => Constraint::Tied(number(index, "", "an operand's number")? as u8),
            Some((_, unit)) => {
                let unit = number(unit.trim_end_matches(']'), "", "an argument unit")? as u16;
                Constraint::OutArg(unit.into())
            }
        };
        Ok(Operand { vreg: vreg(name)?, role, constraint })
    }
}

/// A constant of a state, or the low word of a status.
fn number_of_64_bits(word: &str) -> Parsed<u64> {
    word.parse().map_err(|_| format!("expected a number, found `{word}`"))
}

/// `slot3` or `slot3=17`.
fn a_saved_register(word: &str) -> Parsed<Saved> {
    let (to, value) = match word.split_once('=') {
        Some((to, bits)) => (to, SavedValue::Constant(number_of_64_bits(bits)?)),
        None => (word, SavedValue::Operand),
    };
    Ok(Saved { to: state_register(to)?, value })
}

/// `slot3`, or `slot3/0` if the VM register gets a box of kind 0.
fn state_register(word: &str) -> Parsed<StateRegister> {
    let (register, kind) = match word.split_once('/') {
        Some((register, kind)) => {
            (register, Some(kind.parse().map_err(|_| format!("expected a kind, found `{kind}`"))?))
        }
        None => (word, None),
    };
    Ok(StateRegister { register: number(register, "slot", "a VM register")?, kind })
}

/// Whether a word names a bytecode of an inlined function: `f3:2`.
fn is_inlined(word: &str) -> bool {
    word.strip_prefix('f').is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
}

/// `v7:17:3`: the node of the access, the trap's code, the bytecode.
fn a_fault(inst: InstId, word: &str) -> Parsed<FaultSite> {
    let parts: Vec<&str> = word.split(':').collect();
    let [access, code, origin] = parts[..] else { return Err(format!("expected a fault, found `{word}`")) };
    let code = number(code, "", "a trap's code")?;
    Ok(FaultSite { inst, node: node(access)?, code, origin: number(origin, "", "a bytecode's number")? })
}

fn vregs<'a>(pool: &mut Vec<Vreg>, words: impl Iterator<Item = &'a str>) -> Parsed<List> {
    let trimmed = words.map(|word| word.trim_matches(['(', ')'])).filter(|word| !word.is_empty());
    let vregs: Vec<Vreg> = trimmed.map(vreg).collect::<Parsed<_>>()?;
    Ok(List::push(pool, &vregs))
}
