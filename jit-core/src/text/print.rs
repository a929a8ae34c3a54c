//! Prints the results of passes.
//!
//! In: a graph, schedule, tile list or assignment. Out: its text. [`super::parse`] reads graphs and tile lists back. Dead
//! nodes are left out and all numbers are kept, so printing a parsed graph yields the same text.
//!
//! A graph is printed block by block. `b2 cold <- b0.1 b1` lists the edges into the block, each with the position among its
//! source's successors unless that is 0. A node is `v3 = add.i32 v1 v2 @7`: the types by the operator's key, the operands, the
//! constant, the successors, and the bytecode unless that is 0. In front of each value of a frame state is the slot that gets it. A
//! parameter has one operand for each edge into the block. A
//! floating node is shown in the first block that needs it, which does not determine where it will be placed.
//!
//! Instructions are numbered, and positions in live ranges refer to these numbers: `12g` is the gap before instruction 12,
//! where moves happen; `12e` its reads, `12l` its writes, and `12a` the position after it.

use crate::ir::assignment::{Assignment, Loc, Part, Source};
use crate::ir::graph::{Access, Graph, Heat};
use crate::ir::index::{Block, Node, Vreg};
use crate::ir::ranges::{Ranges, Segment};
use crate::ir::regions::MemoryRegion;
use crate::ir::schedule::Schedule;
use crate::ir::state::{Saved, SavedValue, StateRegister, TileState};
use crate::ir::tiles::{Constraint, Operand, Role, TileId, TileList};
use crate::target::Reg;
use crate::vocab::op::{Key, Param};
use crate::vocab::{Class, Op, OpInfo, Sig, Type};
use core::fmt::{self, Write};

/// The text of a graph.
pub fn graph(graph: &Graph) -> String {
    graph_with_notes(graph, &|_| None)
}

/// The text of a graph, with comments after nodes.
pub fn graph_with_notes(graph: &Graph, note: &dyn Fn(Node) -> Option<String>) -> String {
    let mut out = String::new();
    let mut is_shown = vec![false; graph.nodes.len()];
    for at in 0..graph.blocks.len() {
        let block = Block::from(at);
        if graph.block(block).end.is_some() {
            infallible(block_of_graph(&mut out, (graph, note), block, &mut is_shown));
        }
    }
    out
}

/// The text of a schedule, with every node at its place.
pub fn schedule(graph: &Graph, schedule: &Schedule) -> String {
    schedule_with_notes(graph, schedule, &|_| None)
}

/// The text of a schedule, with comments after nodes.
pub fn schedule_with_notes(
    graph: &Graph,
    schedule: &Schedule,
    note: &dyn Fn(Node) -> Option<String>,
) -> String {
    let noted = (graph, note);
    let mut out = String::new();
    for block in &schedule.blocks {
        infallible(head(&mut out, graph, block.block));
        infallible(writeln!(
            out,
            "  # depth {}{}",
            schedule.depth(block),
            if block.cold { ", cold" } else { "" }
        ));
        for &param in &graph.block(block.block).params {
            infallible(line(&mut out, noted, param));
        }
        for &node in schedule.nodes(block) {
            infallible(line(&mut out, noted, node));
        }
    }
    out
}

/// The names of tiles and registers.
#[derive(Clone, Copy)]
pub struct Names<'a> {
    /// The name of a tile.
    pub tile: &'a dyn Fn(TileId) -> String,
    /// The name of a register.
    pub reg: &'a dyn Fn(Reg) -> String,
}

impl Names<'_> {
    /// Numbers instead of names.
    pub const NUMBERS: Names<'static> =
        Names { tile: &|tile| format!("t{}", tile.0), reg: &|reg| format!("{reg:?}") };
}

impl fmt::Debug for Names<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Names")
    }
}

/// The text of live ranges, one line each: the virtual registers in it, its class, its segments, its hint, and its constant if
/// it is one.
pub fn ranges(tiles: &TileList, ranges: &Ranges, names: Names<'_>) -> String {
    let mut out = String::new();
    for (range, members) in ranges.ranges.iter().zip(members(ranges)) {
        for vreg in members {
            infallible(write!(out, "{vreg} "));
        }
        out.push_str(if range.class == Class::Int { "int:" } else { "float:" });
        infallible(segments(&mut out, &ranges.segments[range.segments.range()]));
        if let Some(hint) = range.hint {
            infallible(write!(out, " hint {}", (names.reg)(hint)));
        }
        if let Some(bits) = tiles.constant(range.vreg) {
            out.push_str(" const");
            infallible(constant(&mut out, tiles.vregs[range.vreg.at()].ty, bits));
        }
        out.push('\n');
    }
    out
}

/// The text of the parts that live ranges were split into, one line each: a virtual register of the range, where the part is
/// live, and its place.
pub fn parts<'a>(ranges: &Ranges, parts: impl Iterator<Item = Part<'a>>, names: Names<'_>) -> String {
    let mut parts: Vec<Part<'a>> = parts.collect();
    parts.sort_by_key(|part| (part.range, part.segments.first().copied()));
    let members = members(ranges);
    let mut out = String::new();
    for Part { range, segments, place } in parts {
        infallible(write!(out, "{}", members[range.at()].first().copied().unwrap_or(Vreg::NONE)));
        infallible(self::segments(&mut out, segments));
        out.push(' ');
        match place {
            Some(place) => infallible(location(&mut out, place, names)),
            None => out.push_str("again"),
        }
        out.push('\n');
    }
    out
}

/// The virtual registers of each range.
fn members(ranges: &Ranges) -> Vec<Vec<Vreg>> {
    let mut members = vec![Vec::new(); ranges.ranges.len()];
    for (at, range) in ranges.of.iter().enumerate() {
        // Not every virtual register is used.
        if let Some(members) = members.get_mut(range.at()) {
            members.push(Vreg::from(at));
        }
    }
    members
}

fn segments(out: &mut String, segments: &[Segment]) -> fmt::Result {
    for Segment { start, end } in segments {
        write!(out, " {start}..{end}")?;
    }
    Ok(())
}

/// The text of a tile list.
pub fn tiles(list: &TileList, names: Names<'_>) -> String {
    let mut out = String::new();
    infallible(tile_list(&mut out, list, names, None));
    out
}

/// The text of a tile list with the places of its operands, and the moves before each instruction.
pub fn assignment(list: &TileList, assignment: &Assignment, names: Names<'_>) -> String {
    let mut out = String::new();
    infallible(tile_list(&mut out, list, names, Some(assignment)));
    out
}

/// Discards the result of writing to a string, which cannot fail.
fn infallible(result: fmt::Result) {
    result.expect("a string takes any text");
}

/// A graph, and a function that returns the comment after a node.
type Noted<'a> = (&'a Graph, &'a dyn Fn(Node) -> Option<String>);

fn block_of_graph(out: &mut String, noted: Noted<'_>, block: Block, is_shown: &mut [bool]) -> fmt::Result {
    let (graph, _) = noted;
    head(out, graph, block)?;
    out.push('\n');
    let data = graph.block(block);
    for &param in &data.params {
        line(out, noted, param)?;
    }
    for &node in data.body.iter().chain([&data.end]) {
        floating(out, noted, graph.inputs(node), is_shown)?;
        line(out, noted, node)?;
    }
    for (succ, &to) in data.succs.iter().enumerate() {
        for (way, pred) in graph.block(to).preds.iter().enumerate() {
            if (pred.block, pred.succ as usize) != (block, succ) {
                continue;
            }
            for &param in &graph.block(to).params {
                floating(out, noted, graph.inputs(param).get(way..=way).unwrap_or(&[]), is_shown)?;
            }
        }
    }
    Ok(())
}

/// Shows the floating nodes that compute `roots`, operands first.
fn floating(out: &mut String, noted: Noted<'_>, roots: &[Node], is_shown: &mut [bool]) -> fmt::Result {
    let (graph, _) = noted;
    let mut stack: Vec<(Node, usize)> = roots.iter().rev().map(|root| (*root, 0)).collect();
    while let Some((node, next)) = stack.last_mut() {
        let node = *node;
        if graph.node(node).block.is_some()
            || (*next == 0 && core::mem::replace(&mut is_shown[node.at()], true))
        {
            stack.pop();
            continue;
        }
        let inputs = graph.inputs(node);
        match inputs.get(*next) {
            Some(&input) => {
                *next += 1;
                stack.push((input, 0));
            }
            None => {
                line(out, noted, node)?;
                stack.pop();
            }
        }
    }
    Ok(())
}

fn head(out: &mut String, graph: &Graph, block: Block) -> fmt::Result {
    let data = graph.block(block);
    write!(out, "{block}{}", if data.heat == Heat::Cold { " cold" } else { "" })?;
    if !data.preds.is_empty() {
        out.push_str(" <-");
    }
    for pred in &data.preds {
        write!(out, " {}", pred.block)?;
        if pred.succ != 0 {
            write!(out, ".{}", pred.succ)?;
        }
    }
    out.push(':');
    Ok(())
}

fn line(out: &mut String, (graph, note): Noted<'_>, node: Node) -> fmt::Result {
    out.push_str("    ");
    self::node(out, graph, node)?;
    let kind = kind(graph, node).map(str::to_string);
    for note in kind.into_iter().chain(note(node)) {
        write!(out, "  # {note}")?;
    }
    out.push('\n');
    Ok(())
}

/// The name of the kind of values that an operator is about.
fn kind(graph: &Graph, node: Node) -> Option<&'static str> {
    let data = graph.node(node);
    let is_about_one = matches!(data.op, Op::IS | Op::UNBOX | Op::BOX);
    is_about_one.then(|| graph.kinds.get(data.imm as usize).map(|kind| kind.name))?
}

/// Writes one node without a line break.
pub fn node(out: &mut String, graph: &Graph, node: Node) -> fmt::Result {
    let data = graph.node(node);
    let info = graph.vocab.info(data.op);
    if data.ty() != Type::Void {
        write!(out, "{node} = ")?;
    }
    out.push_str(info.name);
    suffix(out, info, data.sig)?;
    if let Some(data) = graph.call(node) {
        super::call::print(out, data)?;
    }
    let state = graph.state(node);
    for (at, input) in graph.inputs(node).iter().enumerate() {
        if let (Some((_, registers)), Some(value)) = (state, at.checked_sub(1)) {
            out.push(' ');
            state_register(out, registers[value])?;
        }
        write!(out, " {input}")?;
    }
    if data.op == Op::CONST {
        constant(out, data.sig.ty, data.imm)?;
    } else if let Some((state, _)) = state {
        write!(out, " {}", state.to)?;
    } else if has_constant(info) {
        write!(out, " {}", data.imm as i64)?;
    }
    match graph.access(node) {
        Access::Plain => {}
        Access::Pure => out.push_str(" pure"),
        Access::Within(code) => write!(out, " within:{code}")?,
    }
    if graph.region(node) != MemoryRegion::ANY {
        write!(out, " in:{}", graph.region(node).number())?;
    }
    if data.block.is_some() && graph.block(data.block).end == node {
        for succ in &graph.block(data.block).succs {
            write!(out, " {succ}")?;
        }
    }
    if data.origin != 0 {
        write!(out, " {}", graph.states.inlining.name(data.origin))?;
    }
    Ok(())
}

/// `slot3`, or `slot3/0` if the VM register gets a box of kind 0.
fn state_register(out: &mut String, to: StateRegister) -> fmt::Result {
    write!(out, "slot{}", to.register)?;
    match to.kind {
        Some(kind) => write!(out, "/{kind}"),
        None => Ok(()),
    }
}

/// Whether a node's `imm` is printed after its operands.
pub(super) fn has_constant(info: &OpInfo) -> bool {
    info.params.iter().any(|param| *param != Param::Type)
}

/// Writes the types that the operator's key depends on.
fn suffix(out: &mut String, info: &OpInfo, sig: Sig) -> fmt::Result {
    let is_plain = info.sigs().contains(&sig);
    match info.key {
        Key::None if is_plain || sig.ty == Type::Void => Ok(()),
        Key::Result if is_plain => write!(out, ".{}", sig.ty),
        Key::Operand if is_plain => write!(out, ".{}", sig.from),
        _ => write!(out, ".{}.{}", sig.from, sig.ty),
    }
}

/// Writes a constant so that it reads back to the same bits.
fn constant(out: &mut String, ty: Type, bits: u64) -> fmt::Result {
    match ty {
        Type::F32 if f32::from_bits(bits as u32).is_nan() => write!(out, " {bits:#x}"),
        Type::F64 if f64::from_bits(bits).is_nan() => write!(out, " {bits:#x}"),
        Type::F32 => write!(out, " {:?}", f32::from_bits(bits as u32)),
        Type::F64 => write!(out, " {:?}", f64::from_bits(bits)),
        ty if ty.is_int() => write!(out, " {}", ty.signed(bits)),
        _ => write!(out, " {bits}"),
    }
}

fn tile_list(
    out: &mut String,
    list: &TileList,
    names: Names<'_>,
    assignment: Option<&Assignment>,
) -> fmt::Result {
    let mut moves = assignment.map_or(&[][..], |assignment| &assignment.moves).iter().peekable();
    writeln!(out, "out_args {}{}", list.out_args, if list.has_calls { " calls" } else { "" })?;
    for (at, vreg) in list.vregs.iter().enumerate() {
        write!(out, "r{at} {}", vreg.ty)?;
        if let Some(bits) = list.constant(Vreg::from(at)) {
            constant(out, vreg.ty, bits)?;
        }
        out.push('\n');
    }
    for (at, inner) in list.loops.iter().enumerate() {
        writeln!(out, "l{at} in {}", inner.around)?;
    }
    for block in &list.blocks {
        write!(out, "{}", block.block)?;
        if block.inner.is_some() {
            write!(out, " in {}", block.inner)?;
        }
        out.push_str(if block.cold { " cold" } else { "" });
        out.push_str(if block.framed { "" } else { " unframed" });
        vregs(out, &list.args[block.params.range()])?;
        out.push_str(":\n");
        for at in block.insts.range() {
            while let Some(movement) = moves.next_if(|movement| movement.before.at() <= at) {
                out.push_str("    move ");
                location(out, movement.to, names)?;
                out.push_str(" <-");
                match movement.from {
                    Source::Const(bits) => constant(out, movement.ty, bits)?,
                    Source::Loc(from) => {
                        out.push(' ');
                        location(out, from, names)?;
                    }
                }
                writeln!(out, " {}", movement.ty)?;
            }
            inst(out, list, at, names, assignment)?;
        }
        for edge in list.edges(block) {
            write!(out, "    -> {}", edge.to)?;
            vregs(out, &list.args[edge.args.range()])?;
            out.push('\n');
        }
    }
    Ok(())
}

fn vregs(out: &mut String, vregs: &[crate::ir::index::Vreg]) -> fmt::Result {
    for (at, vreg) in vregs.iter().enumerate() {
        write!(out, "{}{vreg}", if at == 0 { " (" } else { " " })?;
    }
    if !vregs.is_empty() {
        out.push(')');
    }
    Ok(())
}

fn inst(
    out: &mut String,
    list: &TileList,
    at: usize,
    names: Names<'_>,
    assignment: Option<&Assignment>,
) -> fmt::Result {
    let inst = &list.insts[at];
    write!(out, "    {at}: {}.{}.{}", (names.tile)(inst.tile), inst.sig.from, inst.sig.ty)?;
    for index in inst.operands.range() {
        out.push(' ');
        operand(out, list.operands[index], names)?;
        if let Some(&loc) = assignment.and_then(|assignment| assignment.locs.get(index)) {
            out.push('=');
            location(out, loc, names)?;
        }
    }
    for imm in list.imms(at) {
        write!(out, " {imm}")?;
    }
    if let Some(&TileState { to, saved, .. }) = list.state(at) {
        write!(out, " to:{to}")?;
        for Saved { to, value } in &list.saved[saved.range()] {
            out.push(' ');
            state_register(out, *to)?;
            if let SavedValue::Constant(bits) = value {
                write!(out, "={bits}")?;
            }
        }
    }
    if !inst.clobbers.is_empty() {
        out.push_str(" clobbers");
        for reg in inst.clobbers.iter() {
            write!(out, " {}", (names.reg)(reg))?;
        }
    }
    if inst.node.is_some() {
        write!(out, " ; {}", inst.node)?;
    }
    if inst.origin != 0 {
        write!(out, " {}", list.inlining.name(inst.origin))?;
    }
    for fault in list.faults.iter().filter(|fault| fault.inst.at() == at) {
        write!(out, " faults:{}:{}:{}", fault.node, fault.code, fault.origin)?;
    }
    out.push('\n');
    Ok(())
}

/// The role: `r1` for a use, `late:r1` for a late use, `def:r1`, `early:r1`, `temp:r1`. Then the constraint: nothing for any
/// register, `?` for any place, `~` for a value of a frame state wherever it is, `%name` for that register, `/0` for the register of operand 0, `[2]` for that unit of the
/// argument area.
fn operand(out: &mut String, operand: Operand, names: Names<'_>) -> fmt::Result {
    out.push_str(match operand.role {
        Role::Use => "",
        Role::LateUse => "late:",
        Role::Def => "def:",
        Role::EarlyDef => "early:",
        Role::Temp => "temp:",
    });
    write!(out, "{}", operand.vreg)?;
    match operand.constraint {
        Constraint::Reg => Ok(()),
        Constraint::Any => write!(out, "?"),
        Constraint::Anywhere => write!(out, "~"),
        Constraint::Fixed(reg) => write!(out, "%{}", (names.reg)(reg)),
        Constraint::Tied(index) => write!(out, "/{index}"),
        Constraint::OutArg(unit) => write!(out, "[{}]", unit.number()),
    }
}

fn location(out: &mut String, loc: Loc, names: Names<'_>) -> fmt::Result {
    match loc {
        Loc::Reg(reg) => out.write_str(&(names.reg)(reg)),
        Loc::Slot(slot) => write!(out, "{slot}"),
        Loc::OutArg(unit) => write!(out, "arg{unit}"),
    }
}
