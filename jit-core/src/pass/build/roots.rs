//! Which registers of a frame are alive while it is shown: those that a collector of garbage has to see.
//!
//! In: the bytecode of a function. Out: for each call that observes, the registers and operand stack entries that may be read behind
//! the call before they are written. Holds: the answer follows from the bytecode and its templates alone, so it is the same in all
//! tiers. A register that is alive at a call is alive at all calls since it was written. So whoever writes into each frame that is
//! shown to it what it finds there to have moved never finds anything that has moved before. A dead register may hold anything.
//!
//! What a template does with its operands behind each call is in [`super::onward`]. The rest is liveness, backward over the bytecode. Cost:
//! linear in the bytecode, times the depth of its loops.

use super::FunctionSource;
use super::decode::Decoded;
use super::onward::{NamedOperands, Onward, OperandUse, Way};
use crate::ir::bits::{BitSet, BitSets};
use crate::ir::frames::call_of;
use crate::ir::template::Template;
use crate::verify::Shape;
use std::sync::OnceLock;

/// The registers that are alive at each call that observes.
#[derive(Debug, Default)]
pub struct Roots {
    /// In order: the bytecode, the [number of the call](call_of), and where its registers start and end in the list.
    calls: Vec<([u32; 2], [u32; 2])>,
    registers: Vec<u32>,
}

impl Roots {
    /// The registers that are alive at a call of a bytecode, by the call's [number](call_of), in ascending order. Registers of the operand stack follow the
    /// others.
    pub fn at(&self, bytecode: u32, call: u32) -> &[u32] {
        match self.calls.binary_search_by_key(&[bytecode, call], |(place, _)| *place) {
            Ok(at) => {
                let [start, end] = self.calls[at].1;
                &self.registers[start as usize..end as usize]
            }
            Err(_) => &[],
        }
    }
}

/// What the templates of a bytecode type do with their operands, each found out once.
#[derive(Debug)]
pub struct TemplateUses(Box<[OnceLock<TemplateUse>]>);

#[derive(Debug)]
struct TemplateUse {
    operands: OperandUse,
    /// The other opcodes that bytecodes with this one may become.
    others: Vec<usize>,
}

impl TemplateUses {
    /// For a bytecode type with this many opcodes.
    pub fn new(n_opcodes: usize) -> Self {
        TemplateUses((0..n_opcodes).map(|_| OnceLock::new()).collect())
    }

    fn of(&self, source: &FunctionSource<'_>, opcode: usize) -> &TemplateUse {
        self.0[opcode].get_or_init(|| TemplateUse {
            operands: OperandUse::of(source.templates[opcode].compact()),
            others: Template::may_become(source.templates, opcode),
        })
    }
}

/// Finds the registers that are alive at each call that observes. What is known of the templates must be of the function's bytecode type.
pub fn roots(source: &FunctionSource<'_>, uses: &TemplateUses) -> Roots {
    let mut finder = Finder::new(source, uses);
    let mut sets = [(); 3].map(|()| BitSet::new(source.slots as usize));
    while finder.follow(&mut sets) {}
    finder.find_calls(&mut sets)
}

struct Finder<'a> {
    source: &'a FunctionSource<'a>,
    code: Decoded,
    uses: &'a TemplateUses,
    /// The bytecodes to which others jump, and the registers that are alive there.
    targets: Vec<u32>,
    alive_at: BitSets,
}

impl<'a> Finder<'a> {
    fn new(source: &'a FunctionSource<'a>, uses: &'a TemplateUses) -> Self {
        let mut code = Decoded::default();
        for at in 0..source.code.len() {
            let (opcode, raws) = source.code.get(at);
            code.push(source, opcode, &raws[..source.opcodes[opcode].operands.len()]);
        }
        let jumps = (0..code.len()).flat_map(|at| code.targets(source, at));
        let mut targets: Vec<u32> = jumps.map(|to| to as u32).collect();
        targets.sort_unstable();
        targets.dedup();
        let mut alive_at = BitSets::default();
        alive_at.reset(source.slots as usize);
        targets.iter().for_each(|_| _ = alive_at.add());
        Finder { source, code, uses, targets, alive_at }
    }

    /// Goes through the bytecodes from the last to the first. Returns whether more registers are known to be alive than before.
    fn follow(&mut self, [next, alive, written]: &mut [BitSet; 3]) -> bool {
        let mut has_changed = false;
        next.clear();
        for at in (0..self.code.len()).rev() {
            if self.is_reached(at) {
                let start = &self.uses.of(self.source, self.code.opcode(at)).operands.start;
                self.find_alive(at, start, (next, None), (alive, written));
                std::mem::swap(next, alive);
            } else {
                next.clear();
            }
            if let Ok(target) = self.targets.binary_search(&(at as u32)) {
                has_changed |= self.alive_at.set_mut(target).unite(next);
            }
        }
        has_changed
    }

    /// The same once more, for the calls.
    fn find_calls(self, [next, here, written]: &mut [BitSet; 3]) -> Roots {
        let mut roots = Roots::default();
        let mut alive = BitSet::new(self.source.slots as usize);
        let mut add = |place, onward, before: (&BitSet, &BitSet), written: &mut BitSet| {
            let [at, _] = place;
            self.find_alive(at as usize, onward, (before.0, Some(before.1)), (&mut alive, written));
            // Others may read them at any time.
            self.source.captured.iter().for_each(|register| _ = alive.insert(*register as usize));
            let start = roots.registers.len() as u32;
            roots.registers.extend(alive.iter().map(|register| register as u32));
            roots.calls.push((place, [start, roots.registers.len() as u32]));
        };
        next.clear();
        for at in (0..self.code.len()).rev() {
            if !self.is_reached(at) {
                next.clear();
                continue;
            }
            let TemplateUse { operands: OperandUse { start, calls, .. }, others } =
                self.uses.of(self.source, self.code.opcode(at));
            self.find_alive(at, start, (next, None), (here, written));
            for (call, onward) in calls {
                add([at as u32, *call], onward, (next, here), written);
            }
            // What it may become does the same with its operands, but makes other calls.
            let defined = self.code.opcode(at);
            for &other in others {
                for (call, onward) in &self.uses.of(self.source, other).operands.calls {
                    add([at as u32, call_of(*call, defined, other)], onward, (next, here), written);
                }
            }
            std::mem::swap(next, here);
        }
        roots.calls.sort_unstable_by_key(|(place, _)| *place);
        roots
    }

    fn is_reached(&self, at: usize) -> bool {
        self.source.depths.get(at) != Some(&Shape::UNREACHED)
    }

    /// Finds the registers that are alive in a bytecode, `onward` from some place in its template. `next` are those that are alive at the
    /// next bytecode, `here` those at its own start. Also those that are written behind that place.
    fn find_alive(
        &self,
        at: usize,
        onward: &Onward,
        (next, here): (&BitSet, Option<&BitSet>),
        (alive, written): (&mut BitSet, &mut BitSet),
    ) {
        let alive_at = |way| match way {
            Way::Next => Some(next.view()),
            Way::Here => here.map(BitSet::view),
            Way::To(to) => {
                let target = self.targets.binary_search(&to).expect("it is the target of a jump");
                Some(self.alive_at.set(target))
            }
        };
        alive.clear();
        written.clear();
        let operands = NamedOperands::of(self.source, &self.code, at);
        onward.add_alive(&operands, alive_at, (alive, written));
    }
}
