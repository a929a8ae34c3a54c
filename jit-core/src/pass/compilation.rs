//! A compilation: the passes in their order, and the memory that they keep from function to function.
//!
//! In: verified bytecode, a template, or a graph. Out: a tile list and an assignment, from which the machine's emitter
//! makes code. After each stage the observer sees the result, and the stage's judge checks it: always in debug builds, and
//! on request in release builds.

use super::limits::{Limits, Steps};
use super::observe::{Allocated, Observer, is_judged, judge};
use super::sink::Sunk;
use super::{
    Target, allocate, build, chaos, counters, dead, forward, hand_on, kinds, late_frame, live, number,
    offsets, peel, pinned, place, placeholders, renew, represent, rewrite, sink, tile, unwrap,
};
use crate::check;
use crate::error::Error;
use crate::ir::assignment::Assignment;
use crate::ir::graph::Graph;
use crate::ir::ranges::Ranges;
use crate::ir::schedule::Schedule;
use crate::ir::stencil::HoleValues;
use crate::ir::tiles::TileList;
use crate::text::print;
use crate::vocab::{Type, Vocabulary};

/// A function with at least this many nodes is long. Each pass over a long function frees its memory when it is done, so
/// that the next pass can reuse that memory, and a single long function does not inflate a compiler for good. Shorter
/// functions keep the memory: after a few of them, compiling another one does not allocate at all.
const LONG: usize = 1 << 14;

/// How often a function is built without memory that is needed after all. Then all is taken to be needed.
const MAX_BUILT: u32 = 3;

/// A compiler's memory: the data handed between passes and the scratch memory of each pass, kept from function to function.
#[derive(Debug)]
pub struct Compilation {
    /// The function as a graph; freed after tile selection if the function is long.
    pub graph: Graph,
    /// The order of its nodes; freed together with the graph.
    pub schedule: Schedule,
    /// Its tiles.
    pub tiles: TileList,
    /// The live ranges of its values.
    pub ranges: Ranges,
    /// The places of its values.
    pub assignment: Assignment,
    build: build::BuildScratch,
    /// Apart, because few bytecode types have kinds, and engines are made on small stacks too.
    kinds: Box<kinds::Scratch>,
    number: Box<number::Scratch>,
    represent: represent::Scratch,
    rewrite: rewrite::Scratch,
    counters: Box<counters::Scratch>,
    offsets: Box<offsets::Scratch>,
    peel: Box<peel::Scratch>,
    forward: forward::Scratch,
    sink: Box<sink::Scratch>,
    renew: Box<renew::Scratch>,
    dead: dead::Scratch,
    place: place::Scratch,
    tile: tile::Scratch,
    late_frame: late_frame::Scratch,
    live: live::Scratch,
    allocate: allocate::Scratch,
    /// Whether the current function is long.
    is_long: bool,
    /// Whether the current function's graph had kinds of values.
    had_kinds: bool,
}

/// Whose frame on the stack the code runs in.
#[derive(Clone, Copy)]
enum FrameOf {
    /// Its own: it is a function.
    Function,
    /// That of the code around it: it is a stencil, or interprets an opcode.
    Others,
}

impl Default for Compilation {
    fn default() -> Self {
        Compilation {
            graph: Graph::new(Vocabulary::BUILTIN),
            schedule: Schedule::default(),
            tiles: TileList::default(),
            ranges: Ranges::default(),
            assignment: Assignment::default(),
            build: build::BuildScratch::default(),
            kinds: Box::default(),
            number: Box::default(),
            represent: represent::Scratch::default(),
            rewrite: rewrite::Scratch::default(),
            counters: Box::default(),
            offsets: Box::default(),
            peel: Box::default(),
            forward: forward::Scratch::default(),
            sink: Box::default(),
            renew: Box::default(),
            dead: dead::Scratch::default(),
            place: place::Scratch::default(),
            tile: tile::Scratch::default(),
            late_frame: late_frame::Scratch::default(),
            live: live::Scratch::default(),
            allocate: allocate::Scratch::default(),
            is_long: false,
            had_kinds: false,
        }
    }
}

impl Compilation {
    /// Makes the random choices of this seed in all functions compiled from now on; see [`chaos`].
    pub fn set_chaos(&mut self, seed: u64) {
        self.build.chaos = chaos::Chaos::new(seed.rotate_left(16));
        self.peel.chaos = chaos::Chaos::new(seed.rotate_left(48));
        self.tile.chaos = chaos::Chaos::new(seed);
        self.allocate.chaos = chaos::Chaos::new(seed.rotate_left(32));
    }

    /// Limits the steps of the passes from now on, and resets the step counts.
    pub fn set_limits(&mut self, limits: Limits) {
        let steps = self.steps_mut();
        core::iter::zip(steps, limits.each()).for_each(|(steps, allowed)| steps.start(allowed));
    }

    /// How many steps each pass of [`Limits::PASSES`] has taken since [`set_limits`](Self::set_limits).
    pub fn steps(&mut self) -> [u64; Limits::PASSES.len()] {
        self.steps_mut().map(|steps| steps.taken())
    }

    fn steps_mut(&mut self) -> [&mut Steps; Limits::PASSES.len()] {
        let Compilation {
            renew,
            kinds,
            represent,
            rewrite,
            sink,
            counters,
            offsets,
            peel,
            forward,
            place,
            tile,
            allocate,
            ..
        } = self;
        [
            &mut renew.steps,
            &mut kinds.steps,
            &mut represent.steps,
            &mut rewrite.steps,
            &mut sink.steps,
            &mut counters.steps,
            &mut offsets.steps,
            &mut peel.steps,
            &mut forward.steps,
            &mut place.steps,
            &mut tile.steps,
            &mut allocate.steps,
        ]
    }

    /// Compiles bytecode; stops short of emission.
    pub fn bytecode(
        &mut self,
        source: &build::FunctionSource<'_>,
        target: &Target<'_>,
        observer: &mut dyn Observer,
    ) -> Result<(), Error> {
        let built = self.bytecode_as_needed(source, target, observer);
        // It is about this function only.
        *self.build.made() = build::MadeMemory::default();
        built?;
        self.select(FrameOf::Function, target, observer)
    }

    /// Compiles bytecode up to the selection, again if memory is needed that it was built without.
    fn bytecode_as_needed(
        &mut self,
        source: &build::FunctionSource<'_>,
        target: &Target<'_>,
        observer: &mut dyn Observer,
    ) -> Result<(), Error> {
        for n_built in 1.. {
            if self.bytecode_without(source, target, observer)? != Sunk::BuildAgain {
                break;
            }
            observer.again();
            if n_built == MAX_BUILT {
                let build::MadeMemory { needed, without } = self.build.made();
                needed.append(without);
            }
        }
        Ok(())
    }

    /// Compiles bytecode up to the selection, without the memory that is taken not to be needed so far. If some is, more is known of that.
    fn bytecode_without(
        &mut self,
        source: &build::FunctionSource<'_>,
        target: &Target<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Sunk, Error> {
        build::build(&mut self.build, source, &mut self.graph);
        let build::MadeMemory { needed, without } = self.build.made();
        if sink::find_needed(&mut self.sink, &self.graph, without, needed) {
            return Ok(Sunk::BuildAgain);
        }
        if self.graph.nodes.len() >= LONG {
            self.build.release();
        }
        self.judge_graph("build", target, observer)?;
        self.renew_memory(target, observer)?;
        let mut masks = kinds::kinds(&mut self.kinds, &mut self.graph);
        // What is stored in a field and loaded again is of a known kind, if nothing between may have changed it: more is known of
        // that where regions are named, and it pays for a second look only there.
        if self.graph.names_regions() {
            number::number(&mut self.number, &mut self.graph);
            if forward::forward(&mut self.forward, &mut self.graph) {
                judge(target, "forward", || check::graph::graph(&self.graph), || print::graph(&self.graph))?;
                masks = kinds::kinds(&mut self.kinds, &mut self.graph);
            }
        }
        if !self.graph.kinds.is_empty() {
            observer.kinds(&self.graph, masks);
            judge_graph("kinds", &self.graph, target, observer)?;
        }
        represent::represent(&mut self.represent, &mut self.graph, masks);
        if self.graph.nodes.len() >= LONG {
            self.kinds.release();
            *self.number = number::Scratch::default();
            self.represent.release();
        }
        self.judge_graph("represent", target, observer)?;
        self.lower_kinds(target, observer)?;
        self.optimize(target, observer)
    }

    /// Makes memory anew that loops carry, so that it is left out.
    fn renew_memory(&mut self, target: &Target<'_>, observer: &mut dyn Observer) -> Result<(), Error> {
        let build::MadeMemory { needed, .. } = self.build.made();
        let Some(heads) = renew::find(&mut self.renew, &self.graph, needed) else { return Ok(()) };
        number::number(&mut self.number, &mut self.graph);
        if peel::peel_loops(&mut self.peel, &mut self.graph, &heads) {
            self.judge_graph("peel", target, observer)?;
        }
        let build::MadeMemory { needed, .. } = self.build.made();
        if renew::renew(&mut self.renew, &mut self.graph, needed) {
            self.judge_graph("renew", target, observer)?;
        }
        if self.graph.nodes.len() >= LONG {
            self.peel.release();
            self.renew.release();
        }
        Ok(())
    }

    /// Replaces the operators on kinds of values.
    fn lower_kinds(&mut self, target: &Target<'_>, observer: &mut dyn Observer) -> Result<(), Error> {
        self.had_kinds = !self.graph.kinds.is_empty();
        if !self.had_kinds {
            return Ok(());
        }
        kinds::lower(&mut self.graph);
        judge(target, "lower", || check::kinds::kinds(&self.graph), || print::graph(&self.graph))?;
        self.judge_graph("lower", target, observer)
    }

    /// Compiles one opcode with placeholders for its operands; stops short of emission. Returns which values are in machine
    /// registers when this bytecode starts, and when the next one does.
    pub fn stencil(
        &mut self,
        request: &build::StencilRequest<'_>,
        values: &mut HoleValues,
        target: &Target<'_>,
        observer: &mut dyn Observer,
    ) -> Result<build::StencilFacts, Error> {
        let facts = build::stencil(&mut self.build, request, &mut self.graph, values);
        let mut facts = facts.ok_or(Error::Internal("stencil"))?;
        self.judge_graph("stencil", target, observer)?;
        self.lower_kinds(target, observer)?;
        // What is in a slot may be anything, so that it is loaded as an integer and checked.
        self.had_kinds = false;
        if let Some(cached) = &mut facts.cached
            && hand_on::hand_on(&mut self.graph)
        {
            cached.ty = Type::F64;
            self.judge_graph("hand_on", target, observer)?;
        }
        represent::represent(&mut self.represent, &mut self.graph, &[]);
        self.judge_graph("represent", target, observer)?;
        self.optimize(target, observer)?;
        facts.reads_pinned = pinned::insert(&mut self.graph, request.pinned);
        if facts.reads_pinned {
            self.judge_graph("pinned", target, observer)?;
        }
        placeholders::insert(&mut self.graph, request.constants);
        let may_be_held = request.constants == build::Constants::Held;
        let violations = || check::placeholders::placeholders(&self.graph, may_be_held);
        judge(target, "placeholders", violations, || print::graph(&self.graph))?;
        self.select(FrameOf::Others, target, observer)?;
        Ok(facts)
    }

    /// Compiles the code that interprets one opcode; stops short of emission. Fails with [`Error::Internal`] if the template uses an
    /// operand in a way that no code can express.
    pub fn interpreted(
        &mut self,
        request: &build::InterpretRequest<'_>,
        target: &Target<'_>,
        observer: &mut dyn Observer,
    ) -> Result<(), Error> {
        let built = build::interpreted(&mut self.build, request, &mut self.graph);
        built.ok_or(Error::Internal("interpreted"))?;
        self.judge_graph("interpreted", target, observer)?;
        self.lower_kinds(target, observer)?;
        self.had_kinds = false;
        // Most ways of arithmetic compute floats, which are stored as such.
        represent::represent(&mut self.represent, &mut self.graph, &[]);
        self.judge_graph("represent", target, observer)?;
        self.optimize(target, observer)?;
        self.select(FrameOf::Others, target, observer)
    }

    /// Compiles [`Compilation::graph`]; stops short of emission.
    pub fn graph(&mut self, target: &Target<'_>, observer: &mut dyn Observer) -> Result<(), Error> {
        self.lower_kinds(target, observer)?;
        self.optimize(target, observer)?;
        self.select(FrameOf::Function, target, observer)
    }

    /// Optimizes the graph.
    fn optimize(&mut self, target: &Target<'_>, observer: &mut dyn Observer) -> Result<Sunk, Error> {
        self.is_long = self.graph.nodes.len() >= LONG;
        let has_more = rewrite::rewrite(&mut self.rewrite, &mut self.graph, target.rules);
        self.judge_graph("rewrite", target, observer)?;
        let sunk = self.leave_out_memory(target, observer)?;
        if sunk == Sunk::BuildAgain {
            return Ok(sunk);
        }
        let has_counters = counters::counters(&mut self.counters, &mut self.graph);
        if has_counters {
            self.judge_graph("counters", target, observer)?;
        }
        let has_offsets = offsets::offsets(&mut self.offsets, &mut self.graph);
        if has_offsets {
            self.judge_graph("offsets", target, observer)?;
        }
        let is_peeled = peel::peel(&mut self.peel, &mut self.graph);
        if is_peeled {
            self.judge_graph("peel", target, observer)?;
        }
        let is_forwarded = forward::forward(&mut self.forward, &mut self.graph);
        self.judge_graph("forward", target, observer)?;
        // The second run applies the rules to values that forwarding exposed. `dead` then removes the nodes that became
        // unused.
        if has_more || has_counters || has_offsets || is_peeled || is_forwarded {
            rewrite::rewrite(&mut self.rewrite, &mut self.graph, target.rules);
        }
        observer.graph("rewrite", &self.graph);
        if self.is_long {
            self.rewrite.release();
            self.counters.release();
            self.offsets.release();
            self.peel.release();
            self.forward.release();
            self.sink.release();
        }
        if self.had_kinds {
            kinds::load_floats(&mut self.graph);
        }
        unwrap::unwrap(&mut self.graph);
        dead::dead(&mut self.dead, &mut self.graph);
        observer.renumbered(self.dead.numbers());
        self.judge_graph("dead", target, observer)?;
        Ok(sunk)
    }

    /// Leaves out the memory that the function makes and does not need.
    fn leave_out_memory(&mut self, target: &Target<'_>, observer: &mut dyn Observer) -> Result<Sunk, Error> {
        if !sink::has_any(&self.graph) {
            return Ok(Sunk::Nothing);
        }
        // It is to be known what is loaded from such memory.
        if forward::forward(&mut self.forward, &mut self.graph) {
            self.judge_graph("forward", target, observer)?;
            rewrite::rewrite(&mut self.rewrite, &mut self.graph, target.rules);
            self.judge_graph("rewrite", target, observer)?;
        }
        let build::MadeMemory { needed, without } = self.build.made();
        let sunk = sink::sink(&mut self.sink, &mut self.graph, without, needed);
        if sunk == Sunk::Some {
            self.judge_graph("sink", target, observer)?;
            rewrite::rewrite(&mut self.rewrite, &mut self.graph, target.rules);
            self.judge_graph("rewrite", target, observer)?;
        }
        Ok(sunk)
    }

    /// Selects instructions and assigns registers.
    fn select(
        &mut self,
        frame: FrameOf,
        target: &Target<'_>,
        observer: &mut dyn Observer,
    ) -> Result<(), Error> {
        let is_long = self.is_long;
        let before = is_judged(target).then(|| self.graph.clone());
        place::place(&mut self.place, &mut self.graph, &mut self.schedule);
        if is_long {
            self.dead = dead::Scratch::default();
            self.place.release();
        }
        observer.schedule(&self.graph, &self.schedule);
        let text = || print::schedule(&self.graph, &self.schedule);
        let violations = || {
            let mut found = check::schedule::schedule(&self.graph, &self.schedule);
            found.extend(
                before.iter().flat_map(|graph| check::copies::copies(graph, &self.graph, &self.schedule)),
            );
            found
        };
        judge(target, "place", violations, text)?;

        let Target { set, features, registers, .. } = *target;
        tile::tile(&mut self.tile, &self.graph, &self.schedule, set, features, registers, &mut self.tiles);
        if let FrameOf::Function = frame {
            late_frame::late_frame(&mut self.late_frame, &mut self.tiles);
        }
        observer.tiles(target, &self.tiles);
        let text = || print::tiles(&self.tiles, print::Names::NUMBERS);
        judge(target, "tile", || check::tiles::tiles(&self.graph, &self.tiles, set), text)?;
        if is_long {
            self.tile.release();
            self.schedule = Schedule::default();
            self.graph = Graph::new(self.graph.vocab);
        }

        live::live(&mut self.live, &self.tiles, registers.kept, &mut self.ranges);
        if is_long {
            self.live = live::Scratch::default();
        }
        observer.ranges(target, &self.tiles, &self.ranges);
        allocate::allocate(&mut self.allocate, &self.tiles, &self.ranges, registers, &mut self.assignment)
            .map_err(|_| Error::Internal("allocate"))?;
        let Compilation { tiles, ranges, assignment, allocate: scratch, .. } = &*self;
        observer.assignment(target, &Allocated { tiles, ranges, assignment, scratch });
        if is_long {
            self.allocate.release();
            self.ranges = Ranges::default();
        }
        let text = || print::assignment(&self.tiles, &self.assignment, print::Names::NUMBERS);
        let violations = || {
            let mut found = check::assignment::assignment(&self.tiles, &self.assignment);
            found.extend(check::frames::frames(&self.tiles, &self.assignment, registers.callee_saved));
            found
        };
        judge(target, "allocate", violations, text)
    }

    fn judge_graph(
        &self,
        pass: &'static str,
        target: &Target<'_>,
        observer: &mut dyn Observer,
    ) -> Result<(), Error> {
        judge_graph(pass, &self.graph, target, observer)
    }
}

fn judge_graph(
    pass: &'static str,
    graph: &Graph,
    target: &Target<'_>,
    observer: &mut dyn Observer,
) -> Result<(), Error> {
    observer.graph(pass, graph);
    judge(target, pass, || check::graph::graph(graph), || print::graph(graph))
}
